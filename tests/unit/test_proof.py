"""Proof refutes verifiers that are wrong, whichever way, and never calls unchecked proven."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from steelyard.attempt import Attempt
from steelyard.family import Contrast, Family, Script, Spoil
from steelyard.item import Item
from steelyard.kit import ProbeKit
from steelyard.proof import NO_SOLVE, NO_SPOIL, Proof, prove, recheck
from steelyard.store import Store
from steelyard.verdict import Reading, Unread, Verdict, failed
from steelyard.verifiers.contract import Config, Verifier
from steelyard.verifiers.registry import Bound, bind, find, register

ITEM = Item(id="a", input="How many lamps are in stock? There are 12.", target="12", verifier={"name": "token"})


@pytest.fixture
def kit(tmp_path: Path) -> ProbeKit:
    """A kit without a sandbox."""
    return ProbeKit(Store(tmp_path), None)


def _family(**parts: Any) -> Family:
    def make(seed: str) -> Iterator[Item]:
        yield ITEM

    settings: dict[str, Any] = {
        "name": "lamps",
        "make": make,
        "solve": lambda item: "There are 12 lamps.",
        "spoil": {"inside-a-longer-number": Spoil(lambda item: "There are 123 lamps.", ("token-absent",))},
    }
    return Family(**{**settings, **parts})


def _with(verifier: Verifier, item: Item = ITEM) -> tuple[Item, Bound]:
    """The item under a faulty copy of a verifier."""
    register("copy.py:faulty", verifier, Path(__file__))
    changed = msgspec.structs.replace(item, verifier={**item.verifier, "name": "copy.py:faulty"})
    return changed, bind(changed)


def _proof(item: Item, bound: Bound, family: Family | None, kit: ProbeKit) -> Proof:
    return prove(item, bound, family, kit)


def test_an_item_whose_witnesses_all_agree_is_proven(kit: ProbeKit) -> None:
    """Null fails, reference passes, spoils fail as named, varies pass. [T-3] [T-13] [O-7]"""
    proof = _proof(ITEM, bind(ITEM), _family(), kit)
    assert ("proven", []) == (proof.state, proof.reasons)
    assert proof.counts["null"] == proof.counts["reference"] == 1
    assert proof.counts["spoil"] >= 1


def test_a_substring_check_is_refuted_by_the_target_inside_a_longer_number(kit: ProbeKit) -> None:
    """Seed 001's first bad check: "123" contains "12". [O-18] [O-20]"""

    def decide(reading: Reading, target: str, config: Config) -> Verdict:
        return Verdict(True) if target in str(reading.value) else failed("token-absent")

    faulty = msgspec.structs.replace(find("token"), decide=decide)
    proof = _proof(*_with(faulty), _family(), kit)
    assert ("refuted", ["spoil inside-a-longer-number: should fail but passed"]) == (proof.state, proof.reasons)


def test_a_substring_check_is_refuted_without_any_family_too(kit: ProbeKit) -> None:
    """The verifier's own generic spoils find it."""

    def decide(reading: Reading, target: str, config: Config) -> Verdict:
        return Verdict(True) if target in str(reading.value) else failed("token-absent")

    faulty = msgspec.structs.replace(find("token"), decide=decide)
    assert "refuted" == _proof(*_with(faulty), None, kit).state


def test_a_number_check_that_ignores_its_tolerance_is_refuted(kit: ProbeKit) -> None:
    """An answer one step outside the band must fail. [T-12]"""
    item = Item(
        id="n", input="Period?", target="92.90", verifier={"name": "number", "atol": 0.1, "rtol": 0.001, "unit": "min"}
    )

    def decide(reading: Reading, target: str, config: Config) -> Verdict:
        return Verdict(True) if abs(float(str(reading.value)) - float(target)) < 5 else failed("wrong-value")

    faulty = msgspec.structs.replace(find("number"), decide=decide)
    changed, bound = _with(faulty, item)
    assert "refuted" == _proof(changed, bound, None, kit).state
    assert "proven" == _proof(item, bind(item), None, kit).state


def test_a_verifier_that_refuses_a_right_answer_in_another_form_is_refuted(kit: ProbeKit) -> None:
    """False negatives deflate every score. [T-13]"""

    def read(attempt: Attempt, config: Config) -> Reading | Unread:
        text = attempt.answer.strip()
        return Reading(text, "whole") if text.isdigit() else Unread("not a bare number")

    faulty = msgspec.structs.replace(find("token"), read=read, spoil={})
    family = _family(
        solve=lambda item: "12",
        spoil={"longer": Spoil(lambda item: "123", ("token-absent",))},
        vary={"a sentence": lambda item: "There are 12."},
    )
    proof = _proof(*_with(faulty), family, kit)
    assert proof.state == "refuted"
    assert proof.reasons[0].startswith("vary a sentence: should pass but failed (no-answer")


def test_a_verifier_that_crashes_refutes_and_is_never_read_as_a_failure(kit: ProbeKit) -> None:
    """The null witness must fail, and a crash is not a failure."""

    def decide(reading: Reading, target: str, config: Config) -> Verdict:
        raise ZeroDivisionError

    def read(attempt: Attempt, config: Config) -> Reading | Unread:
        return Reading(attempt.answer, "whole")

    faulty = msgspec.structs.replace(find("token"), decide=decide, read=read)
    proof = _proof(*_with(faulty), _family(), kit)
    assert ("refuted", ["null: void (the verifier crashed while deciding: ZeroDivisionError: )"]) == (
        proof.state,
        proof.reasons,
    )


def test_a_verifier_that_passes_the_untouched_item_is_refuted_first(kit: ProbeKit) -> None:
    """The null witness comes before all others. [O-7]"""
    faulty = msgspec.structs.replace(
        find("token"), read=lambda attempt, config: Reading("", "x"), decide=lambda r, t, c: Verdict(True)
    )
    proof = _proof(*_with(faulty), _family(), kit)
    assert ["null: should fail but passed"] == proof.reasons
    assert 1 == len(proof.witnesses)


def test_a_spoil_that_fails_for_another_reason_than_it_names_refutes(kit: ProbeKit) -> None:
    """A wrong attempt must fail as named. [G-15]"""
    family = _family(spoil={"silent": Spoil(lambda item: "", ("token-absent",))})
    (reason,) = _proof(ITEM, bind(ITEM), family, kit).reasons
    assert reason.startswith("spoil silent: fails, but never as token-absent (raised no-answer")


def test_a_spoil_that_names_a_miss_its_verifier_never_raises_is_an_authors_error(kit: ProbeKit) -> None:
    """Undeclared misses are refused. [G-15]"""
    family = _family(spoil={"x": Spoil(lambda item: "1", ("wrong-colour",))})
    assert ['spoil "x" expects the miss "wrong-colour", which the verifier never raises'] == _proof(
        ITEM, bind(ITEM), family, kit
    ).reasons


def test_a_spoil_that_is_right_after_all_refutes(kit: ProbeKit) -> None:
    """A pair that prefers one right answer to another teaches nothing. [G-15]"""
    family = _family(spoil={"reworded": Spoil(lambda item: "12 in stock", ("token-absent",))})
    assert ["spoil reworded: should fail but passed"] == _proof(ITEM, bind(ITEM), family, kit).reasons


def test_solve_never_sees_the_target(kit: ProbeKit) -> None:
    """A reference that copies the gold proves nothing; it is called with the target blanked. [T-4]"""
    family = _family(solve=lambda item: item.target)
    (reason,) = _proof(ITEM, bind(ITEM), family, kit).reasons
    assert reason.startswith("reference: should pass but failed")


def test_a_contrast_must_pass_and_differ(kit: ProbeKit) -> None:
    """A wrong voice passes the oracle and differs in style alone. [G-14]"""
    same = _family(contrast={"wrong-voice": Contrast(lambda item: "12", lambda item, attempt: False)})
    differs = _family(contrast={"wrong-voice": Contrast(lambda item: "12", lambda item, attempt: True)})
    assert ["contrast wrong-voice: passes, but does not differ as it says"] == _proof(
        ITEM, bind(ITEM), same, kit
    ).reasons
    assert "proven" == _proof(ITEM, bind(ITEM), differs, kit).state


def test_what_could_not_be_tried_is_unchecked_with_a_reason_from_the_list(kit: ProbeKit) -> None:
    """No spoil and no reference are said, and are not proven."""
    bare = msgspec.structs.replace(find("token"), spoil={}, vary={}, render=None)
    item, bound = _with(bare)
    without_spoil = _proof(item, bound, _family(spoil={}), kit)
    without_any = _proof(item, bound, None, kit)
    assert ("unchecked", [NO_SPOIL]) == (without_spoil.state, without_spoil.reasons)
    assert ("unchecked", [NO_SOLVE, NO_SPOIL]) == (without_any.state, without_any.reasons)


def test_a_job_with_tools_whose_answer_no_tool_prints_is_refuted_unless_it_is_derived(kit: ProbeKit) -> None:
    """Some tool output must contain the answer. [O-7] [O-9] [O-12]"""
    job = msgspec.structs.replace(ITEM, tools=["read_file"])
    derived = msgspec.structs.replace(job, metadata={"derived": True})
    assert "no tool output contains the answer" in _proof(job, bind(job), _family(), kit).reasons[0]
    assert "proven" == _proof(derived, bind(derived), _family(), kit).state


def test_a_stored_proof_is_decided_again_without_the_family(kit: ProbeKit) -> None:
    """Witnesses travel with the suite; a verifier that changed for the worse is found by them."""
    proof = _proof(ITEM, bind(ITEM), _family(), kit)
    stored = msgspec.json.decode(msgspec.json.encode(proof), type=Proof)
    assert "proven" == recheck(ITEM, bind(ITEM), stored, kit).state

    def decide(reading: Reading, target: str, config: Config) -> Verdict:
        return Verdict(True) if target in str(reading.value) else failed("token-absent")

    worse = Bound(msgspec.structs.replace(find("token"), decide=decide), bind(ITEM).config, ITEM.target)
    assert "refuted" == recheck(ITEM, worse, stored, kit).state


def test_a_proof_of_another_question_is_stale(kit: ProbeKit) -> None:
    """A changed ask or key needs a new proof. [T-28]"""
    proof = _proof(ITEM, bind(ITEM), _family(), kit)
    changed = msgspec.structs.replace(ITEM, target="13")
    assert "unchecked" == recheck(changed, bind(changed), proof, kit).state


def test_a_scripted_attempt_may_be_plain_text_or_a_script(kit: ProbeKit) -> None:
    """Authors write text where text is enough."""
    family = _family(solve=lambda item: Script(answer="12"))
    assert "proven" == _proof(ITEM, bind(ITEM), family, kit).state


@pytest.mark.parametrize("left", [[], ["null"], ["null", "reference"], ["reference", "spoil"]])
def test_a_stored_proof_that_lacks_a_leg_is_not_a_proof(kit: ProbeKit, left: list[str]) -> None:
    """Deleting witnesses does not make an item proven."""
    proof = _proof(ITEM, bind(ITEM), _family(), kit)
    cut = msgspec.structs.replace(proof, witnesses=[w for w in proof.witnesses if w.leg in left])
    again = recheck(ITEM, bind(ITEM), cut, kit)
    assert "unchecked" == again.state
    assert "the stored proof has no" in again.reasons[0]


def test_what_a_leg_must_show_is_not_read_from_the_file(kit: ProbeKit) -> None:
    """A reference that was rewritten into a wrong answer refutes, and a null is always the untouched item."""
    proof = _proof(ITEM, bind(ITEM), _family(), kit)
    forged = [
        msgspec.structs.replace(w, attempt=Attempt(answer="")) if w.leg == "reference" else w for w in proof.witnesses
    ]
    assert "refuted" == recheck(ITEM, bind(ITEM), msgspec.structs.replace(proof, witnesses=forged), kit).state
    null = msgspec.structs.replace(proof.witnesses[0], attempt=Attempt(answer="12"))
    again = recheck(ITEM, bind(ITEM), msgspec.structs.replace(proof, witnesses=[null, *proof.witnesses[1:]]), kit)
    assert ("proven", Attempt()) == (again.state, again.witnesses[0].attempt)


def test_an_item_whose_family_is_not_here_is_unchecked(kit: ProbeKit) -> None:
    """The verifier's own rendering of the gold proves the verifier, not the gold. [T-4]"""
    item = msgspec.structs.replace(ITEM, family="lamps")
    proof = _proof(item, bind(item), None, kit)
    assert ("unchecked", False) == (proof.state, proof.solved)
    assert 'family "lamps" is not here; add --family' in proof.reasons[0]
    assert _proof(item, bind(item), _family(), kit).solved


@pytest.mark.parametrize("broken", ["solve", "spoil", "vary", "contrast"])
def test_an_authors_function_that_raises_refutes_with_its_place(kit: ProbeKit, broken: str) -> None:
    """A family's own mistake is one clear reason, and other items go on."""

    def wrong(item: Item) -> str:
        raise KeyError("lamps")

    parts: dict[str, Any] = {
        "solve": {"solve": wrong},
        "spoil": {"spoil": {"x": Spoil(wrong, ("token-absent",))}},
        "vary": {"vary": {"x": wrong}},
        "contrast": {"contrast": {"x": Contrast(wrong, lambda item, attempt: True)}},
    }[broken]
    proof = _proof(ITEM, bind(ITEM), _family(**parts), kit)
    assert "refuted" == proof.state
    assert proof.reasons[0].startswith(broken)
    assert "KeyError: 'lamps'" in proof.reasons[0]


@pytest.mark.parametrize(("given", "named"), [(12, "int"), (["12"], "list")])
def test_an_attempt_of_the_wrong_type_refutes(kit: ProbeKit, given: object, named: str) -> None:
    """Text, a Script or None."""
    proof = _proof(ITEM, bind(ITEM), _family(solve=lambda item: given), kit)
    assert [f"solve: expected text, a Script or None, got {named}"] == proof.reasons
