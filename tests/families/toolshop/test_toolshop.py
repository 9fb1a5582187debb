"""The toolshop family: its forty jobs, their references, wrong attempts and unusual right ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from steelyard.errors import InputError
from steelyard.families.toolshop import toolshop
from steelyard.families.toolshop.shop import fixture, ids_of_tests
from steelyard.item import Item, ask
from steelyard.judging import judge
from steelyard.kit import ProbeKit
from steelyard.ports import Sandbox
from steelyard.proof import prove
from steelyard.solvers.replay import replay
from steelyard.store import Store, inline_content
from steelyard.verdict import Verdict
from steelyard.verifiers.contract import Script
from steelyard.verifiers.registry import bind, declared_misses

ITEMS = {item.id: item for item in toolshop.make("0")}
ANSWERS = "8042, shop_main, 45, 1.4.2, 0.08, 7, Lisbon, inventory.py, 5, 12, cart, 4, Apache-2.0, Rina Okafor"
BUGS = {
    "percent / 100": "percent / 10",
    "round(amount, 2)": "round(amount, 1)",
    "sum(price * quantity for": "sum(price for",
    "STOCK.get(name, 0) > 0": "STOCK.get(name, 0) >= 0",
    "+ count": "- count",
    "< threshold": "> threshold",
    "text.lower()": "text",
    "word.capitalize()": "word.upper()",
    "limit - 3": "limit - 2",
}


def of_kind(*kinds: str) -> list[Item]:
    """The items of some kinds."""
    return [item for item in ITEMS.values() if item.metadata["kind"] in kinds]


def test_there_are_forty_jobs_of_four_kinds_whatever_the_seed() -> None:
    """14 answers, 9 files, 9 bugs, 8 new behaviours; the seed changes nothing, and kinds can be picked. [O-2] [O-6]"""
    kinds = Counter(item.metadata["kind"] for item in ITEMS.values())
    assert {"answer": 14, "file": 9, "tests": 9, "hidden": 8} == kinds
    assert 40 == len({ask(item) for item in ITEMS.values()})
    assert {1} == set(Counter(item.metadata["kind"] for item in list(ITEMS.values())[:4]).values())
    assert list(ITEMS.values()) == list(toolshop.make("9"))
    assert of_kind("tests", "file") == list(toolshop.make("0", kinds=["tests", "file"]))
    assert of_kind("answer") == list(toolshop.make("0", kinds="answer"))
    with pytest.raises(InputError, match='no kind "test" of toolshop jobs; did you mean "tests"'):
        toolshop.make("0", kinds="test")
    with pytest.raises(InputError, match="no version 3 of the toolshop checks"):
        toolshop.make("0", checks=3)


def test_the_fourteen_answers_are_those_of_the_list_and_two_are_derived() -> None:
    """Two counts have to be worked out; every other answer stands in a file. [O-2] [O-9]"""
    assert ANSWERS == ", ".join(item.target for item in of_kind("answer"))
    derived = {item.id: item.target for item in ITEMS.values() if item.metadata.get("derived")}
    assert {"customer-count": "7", "test-files": "4"} == derived


def test_the_nine_bugs_are_those_of_the_list_one_a_job() -> None:
    """Each is one exact replacement, and only these jobs plant one. [O-3]"""
    assert BUGS == {item.edits[0].old: item.edits[0].new for item in of_kind("tests")}
    assert {1} == {len(item.edits) for item in of_kind("tests")}
    assert [] == [item.id for item in of_kind("answer", "file", "hidden") if item.edits]


@pytest.mark.parametrize("item", of_kind("tests", "hidden"), ids=lambda item: item.id)
def test_the_twelve_tests_must_pass_and_must_stay(item: Item) -> None:
    """A hidden test comes on top, and is never among the files. [O-4] [O-5]"""
    spec = item.verifier
    assert set(ids_of_tests()) <= set(spec["ids"])
    assert (["tests/**"], "fail") == (spec["protect"], spec["on_tamper"])
    hidden = spec.get("hidden", {})
    assert (12 + len(hidden), item.metadata["kind"] == "hidden") == (len(spec["ids"]), len(hidden) == 1)
    assert not hidden.keys() & item.files.keys()


def test_jobs_that_need_the_same_lines_share_a_group() -> None:
    """No group holds a third of the jobs, and each planted bug is its own. [O-1]"""
    sizes = Counter(item.group for item in ITEMS.values())
    assert max(sizes.values()) < 40 / 3
    assert len(sizes) >= 20
    assert {1} == {sizes[item.group] for item in of_kind("tests")}
    assert ITEMS["server-port"].group == ITEMS["raise-timeout"].group


@pytest.mark.parametrize("item", ITEMS.values(), ids=lambda item: item.id)
def test_a_job_carries_the_whole_fixture_and_never_its_key(item: Item) -> None:
    """Every job starts from a fresh copy; neither prompt nor metadata holds the answer. [O-1] [O-6]"""
    assert dict(fixture()) == {path: (inline_content(ref) or b"").decode() for path, ref in item.files.items()}
    assert not item.target or item.target not in item.prompt


@pytest.mark.parametrize("item", ITEMS.values(), ids=lambda item: item.id)
def test_the_reference_reads_before_it_writes_and_never_reads_the_target(item: Item) -> None:
    """It works from the files; with target and verifier blanked it says the same. [T-4] [O-6] [O-28]"""
    script = toolshop.solve(item)
    blank = msgspec.structs.replace(item, target="", verifier={"name": "token"})
    assert script == toolshop.solve(blank)
    names = [call.name for call in script.calls]
    assert names
    assert "write_file" not in names or {"read_file", "grep"} & set(names[: names.index("write_file")])
    assert ("write_file" in names) == (item.metadata["kind"] != "answer")


def test_an_item_of_another_family_is_refused() -> None:
    """The reference knows its own jobs only. [O-6]"""
    with pytest.raises(InputError, match='item "x" is not one that the toolshop family made'):
        toolshop.solve(msgspec.structs.replace(ITEMS["lamp-stock"], id="x"))


@pytest.fixture
def kit(store: Store) -> ProbeKit:
    """A kit without a sandbox."""
    return ProbeKit(store, None)


@pytest.fixture
def sandboxed(store: Store, bubblewrap: Sandbox) -> ProbeKit:
    """A kit over the real sandbox of this machine."""
    return ProbeKit(store, bubblewrap)


def attempts(item: Item) -> Iterator[tuple[str, str, Script]]:
    """(leg, name, script) of the wrong attempts and the unusual right ones that the family knows for a job."""
    makers = [("spoil", name, spoil.make) for name, spoil in toolshop.spoil.items()]
    makers += [("vary", name, make) for name, make in toolshop.vary.items()]
    for leg, name, make in makers:
        if (made := make(item)) is not None:
            yield leg, name, made if isinstance(made, Script) else Script(made)


def verdict(item: Item, script: Script, kit: ProbeKit) -> Verdict:
    """What an item's verifier says of a script."""
    return judge(item, bind(item), replay(item, script, kit), kit=kit).verdict


@pytest.mark.parametrize("item", of_kind("answer", "file"), ids=lambda item: item.id)
def test_wrong_attempts_fail_as_named_and_unusual_right_ones_pass(item: Item, kit: ProbeKit) -> None:
    """Answers and file edits are judged as data, without a sandbox. [O-20] [O-21]"""
    for leg, name, script in attempts(item):
        judged = verdict(item, script, kit)
        assert judged.passed is (leg == "vary"), (leg, name, judged)
        if leg == "spoil":
            misses = set(toolshop.spoil[name].misses)
            assert {miss.name for miss in judged.misses} & misses, (name, judged)
            assert misses & declared_misses(bind(item))


@pytest.mark.parametrize("kind", ["answer", "file", "tests", "hidden"])
def test_every_kind_is_tried_with_its_own_wrong_attempts(kind: str) -> None:
    """The two bad checks of the first version, and the cheats that have beaten tests as a judge. [O-4] [O-20] [O-21]"""
    wanted = {
        "answer": {"plausible-guess", "longer-number", "one-more"},
        "file": {
            *("rows-lost", "row-twice", "row-too-many", "row-changed", "row-quoted", "wrong-value", "wrong-section"),
            *("last-section", "set-back", "set-back-otherwise", "not-plain", "entry-too-many", "version-too-many"),
            *("written-elsewhere", "other-file-gone", "other-file-changed"),
        },
        "tests": {"weakened-test", "patching-test", "patching-package", "early-exit", "shadow-module"},
        "hidden": {"example-only", "feature-missing", "deleted-test", "early-exit"},
    }
    names = {name for item in of_kind(kind) for leg, name, _ in attempts(item) if leg == "spoil"}
    assert wanted[kind] == names


CUSTOMERS = [
    ["id", "name", "city", "since"],
    ["101", "Tomas Brandt", "Hamburg", "2019"],
    ["102", "Rina Okafor", "Lagos", "2020"],
    ["103", "Lea Fontaine", "Lyon", "2020"],
    ["104", "Joao Esteves", "Lisbon", "2021"],
    ["105", "Mei Tanaka", "Osaka", "2021"],
    ["106", "Arvid Holm", "Bergen", "2023"],
    ["107", "Sara Quispe", "Cusco", "2024"],
]
SERVER = {"host": "127.0.0.1", "port": "8042", "timeout_s": "45"}
SETTINGS = {
    "server": SERVER,
    "database": {"name": "shop_main", "pool_size": "6"},
    "prices": {"currency": "EUR", "tax_rate": "0.08"},
}


@pytest.mark.parametrize(
    ("job", "data"),
    [
        ("add-customer", [*CUSTOMERS, ["108", "Noor Haddad", "Porto", "2025"]]),
        ("move-customer", [*CUSTOMERS[:5], ["105", "Mei Tanaka", "Kyoto", "2021"], *CUSTOMERS[6:]]),
        ("remove-customer", [*CUSTOMERS[:6], *CUSTOMERS[7:]]),
        ("raise-timeout", {**SETTINGS, "server": {**SERVER, "timeout_s": "60"}}),
        ("set-log-level", {**SETTINGS, "server": {**SERVER, "log_level": "info"}}),
        ("change-currency", {**SETTINGS, "prices": {"currency": "CHF", "tax_rate": "0.08"}}),
        ("bump-version", {"__version__": "1.5.0"}),
        (
            "stock-benches",
            {"STOCK": {"bench": 4, "chair": 7, "desk": 3, "lamp": 12, "rug": 0, "shelf": 21}, "LOW_STOCK": 5},
        ),
    ],
)
def test_a_file_job_asks_for_what_its_prompt_says_and_for_nothing_else(job: str, data: Any) -> None:
    """The whole content of the file is written out here, and no other file may change. [O-6] [O-21]"""
    spec = ITEMS[job].verifier
    assert (data, [spec["checks"][0]["path"]]) == (spec["checks"][0]["data"], spec["allow"])


CHANGELOGS = {
    "## 1.4.2\n- First public release.\n": True,
    "## [v1.4.2](https://example.org/1.4.2) \u2013 2024-01-01 ##\n\n+ First public release\n": True,
    "# Changes\n\n## [1.4.2]\n\n### Added\n- First public release.\n\n[1.4.2]: https://example.org\n": True,
    "1.4.2\n---\n\n1. First public release.\n": True,
    "# 1.4.2\n\n- First public release.\n": False,
    "### 1.4.2\n\n- First public release.\n": False,
    "## 1.4.20\n\n- First public release.\n": False,
    "## 11.4.2\n\n- First public release.\n": False,
    "## 1x4x2\n\n- First public release.\n": False,
    "## 1.4.2\n\nFirst public release.\n": False,
    "## 1.4.2\n\n- First public release, at last.\n": False,
    "- First public release.\n\n## 1.4.2\n": False,
    "## 1.4.2\n\n- First public release.\n\n## 1.4.1\n\n- Tried.\n": False,
}


@pytest.mark.parametrize("text", CHANGELOGS)
def test_a_changelog_has_one_version_and_one_entry(text: str, kit: ProbeKit) -> None:
    """Links, dates and underlined headings are equally right; another level, number or entry is not. [O-6]"""
    judged = verdict(ITEMS["write-changelog"], Script(changes={"CHANGELOG.md": text}), kit)
    assert CHANGELOGS[text] is judged.passed


def test_the_first_checks_pass_what_the_second_refuse_and_ask_the_same(kit: ProbeKit) -> None:
    """123 for 12, and a file that was overwritten with its new row. [O-18] [O-20] [O-21]"""
    first = {item.id: item for item in toolshop.make("0", checks=1)}
    assert {i: ask(item) for i, item in ITEMS.items()} == {i: ask(item) for i, item in first.items()}
    same = [item for item in ITEMS.values() if item == first[item.id]]
    assert of_kind("tests", "hidden") == same
    for job, name in (("lamp-stock", "longer-number"), ("add-customer", "rows-lost")):
        made = toolshop.spoil[name].make(ITEMS[job])
        assert isinstance(made, Script)
        assert (True, False) == (verdict(first[job], made, kit).passed, verdict(ITEMS[job], made, kit).passed)


def proven(item: Item, kit: ProbeKit) -> None:
    """Fail unless every witness of an item is as it must be."""
    proof = prove(item, bind(item), toolshop, kit)
    assert ("proven", []) == (proof.state, proof.reasons)
    tried = {(w.leg, w.name) for w in proof.witnesses}
    assert {(leg, name) for leg, name, _ in attempts(item)} <= tried


@pytest.mark.bubblewrap
@pytest.mark.parametrize("job", ["customer-count", "add-customer", "fix-discount", "cart-pieces"])
def test_one_job_of_each_kind_is_proven_in_the_real_sandbox(job: str, sandboxed: ProbeKit) -> None:
    """Fails untouched, passes when the reference is replayed, fails for each named cheat. [O-3] [O-7] [O-10]"""
    proven(ITEMS[job], sandboxed)


@pytest.mark.slow
@pytest.mark.bubblewrap
@pytest.mark.parametrize("item", ITEMS.values(), ids=lambda item: item.id)
def test_every_job_is_proven_in_the_real_sandbox(item: Item, sandboxed: ProbeKit) -> None:
    """40 of 40, without a model. [O-2] [O-3] [O-4] [O-5] [O-7] [O-9] [O-10]"""
    proven(item, sandboxed)


@pytest.mark.bubblewrap
def test_replaying_a_reference_twice_gives_the_same_transcript(sandboxed: ProbeKit) -> None:
    """Timings and paths are taken out of tool output, so that transcripts repeat word for word. [O-19] [O-30]"""
    item = ITEMS["fix-discount"]
    script = toolshop.solve(item)
    assert isinstance(script, Script)
    first, second = (replay(item, script, sandboxed) for _ in range(2))
    assert [m.content for m in first.messages] == [m.content for m in second.messages]
    assert first.workspace == second.workspace
    assert first.workspace is not None
    assert ["shop/prices.py"] == list(first.workspace.changes)
