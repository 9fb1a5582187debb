"""`choice` on 1,000 MMLU-Pro replies of Llama 3.1 8B, beside the predictions that are stored with them.

Authority: the stored predictions (MMLU-Pro's own extraction) and the pattern of lm-evaluation-harness's mmlu_pro tasks.
Read from the shared folder, never copied. Named disagreements, 91 of 1,000:
- `guess`: the reply is cut off without naming any letter, and the stored prediction is G. It is a guess, and always
  the same one: no letter stands alone in these 64 replies, and five of their questions have too few options for a G.
- `last letter`: the reply is cut off in a formula or a loop; the stored prediction is the last capital that stands
  alone in it, such as the H of `1 mole of H` or of the formula of water, or the A of `the eigenvalues of A`.
- `two letters`: the last answer is `(E) and (B)`; two letters are none.
- `later answer`: `The answer is (F) and (E). The answer is (I).`; the last committed answer wins.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steelyard.attempt import Attempt
from steelyard.verdict import Reading
from steelyard.verifiers.registry import bind_spec

pytestmark = pytest.mark.shared

LM_EVAL = re.compile(r"answer is \(?([ABCDEFGHIJ])\)?")
"""The pattern of lm-evaluation-harness's mmlu_pro tasks."""
LAST_LETTER = re.compile(r"\b[A-J]\b(?!.*\b[A-J]\b)", re.DOTALL)
"""The last resort of MMLU-Pro's own extraction, before a guess."""

GUESSED = (
    140, 304, 463, 509, 580, 989, 1464, 1912, 3182, 3234, 3359, 3456, 3631, 3738, 3782, 3784, 3813, 3951, 3993,
    4034, 4277, 4456, 4521, 4540, 4567, 5174, 6242, 6361, 6385, 6544, 6547, 6557, 6610, 6849, 7763, 7810, 7881,
    7968, 7973, 8152, 8273, 8322, 8423, 8537, 8559, 8625, 8639, 8648, 8669, 8716, 8739, 8878, 8916, 9075, 9350,
    9555, 10234, 10274, 10621, 11546, 11582, 11948, 11975, 12180,
)  # fmt: skip
LAST_LETTERS = (
    231, 556, 3589, 3692, 3706, 3759, 3845, 3881, 3959, 4171, 4237, 4247, 4351, 4445, 4492, 6212, 6756, 8205, 9085,
    9160, 10862, 11421, 11543, 11558, 12019,
)  # fmt: skip
DIFFER = dict.fromkeys(GUESSED, "guess") | dict.fromkeys(LAST_LETTERS, "last letter")
DIFFER |= {6660: "two letters", 11071: "later answer"}


class Judged:
    """A row with what is read from it: by us, and by lm-eval's pattern."""

    def __init__(self, row: dict[str, Any]) -> None:
        bound = bind_spec({"name": "choice", "choices": row["options"]}, row["answer"])
        found = bound.read(Attempt(answer=row["generated_text"]))
        self.id, self.text, self.target, self.stored = (
            row[k] for k in ("question_id", "generated_text", "answer", "pred")
        )
        self.n_options = len(row["options"])
        self.letter = found.value if isinstance(found, Reading) else None
        self.reason = "" if isinstance(found, Reading) else found.reason
        cue = LM_EVAL.search(self.text)
        self.lm_eval = cue[1] if cue else None


@pytest.fixture(scope="module")
def judged(shared: Path) -> list[Judged]:
    """Every row of the file, judged; the file is read line by line."""

    def rows() -> Iterator[dict[str, Any]]:
        with (shared / "data" / "benchmarks" / "mmlu_pro_llama31_8b_1000.jsonl").open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)

    return [Judged(row) for row in rows()]


def test_every_reading_that_differs_from_the_stored_prediction_has_a_named_reason(judged: list[Judged]) -> None:
    """No other item differs, and each that does is of the class that it is listed under. [T-13]"""
    assert set(DIFFER) == {one.id for one in judged if one.letter != one.stored}
    assert {key: _why(one) for one in judged if (key := one.id) in DIFFER} == DIFFER


def _why(one: Judged) -> str:
    """The reason of a difference, from the reply alone."""
    if one.letter is None and one.reason.startswith("two letters"):
        return "two letters"
    if one.letter is not None:
        answers = LM_EVAL.findall(one.text)
        return "later answer" if answers[-1] == one.letter and answers[0] == one.stored else "unexplained"
    last = LAST_LETTER.search(one.text)
    if last is not None:
        return "last letter" if last[0] == one.stored else "unexplained"
    return "guess" if one.stored == "G" else "unexplained"


def test_a_stored_guess_is_one_fixed_letter_even_where_the_question_has_no_such_option(judged: list[Judged]) -> None:
    """So the stored prediction was not read from the reply."""
    guessed = [one for one in judged if one.id in GUESSED]
    assert ({"G"}, 5) == ({one.stored for one in guessed}, sum(one.n_options < 7 for one in guessed))


def test_the_scores_are_the_published_ones_less_lucky_guesses(judged: list[Judged]) -> None:
    """446 right of 1,000; stored 453, 7 of them by luck or by an earlier answer; lm-eval's pattern 447. [T-13]"""
    right = [sum(getattr(one, source) == one.target for one in judged) for source in ("letter", "stored", "lm_eval")]
    assert [446, 453, 447] == right
    lucky = [one.id for one in judged if one.stored == one.target != one.letter]
    assert (7, True) == (len(lucky), all(DIFFER[key] in ("guess", "last letter", "later answer") for key in lucky))


def test_fewer_replies_stay_unread_than_under_the_pattern_of_lm_eval(judged: list[Judged]) -> None:
    """90 unread of 1,000 against 93; of the 911 that were not cut off, 1 (two letters) against 4. [T-13]

    The 89 others were stopped in a loop or a formula at the limit of tokens; to read fewer is to guess.
    """
    unread = [one for one in judged if one.letter is None]
    assert (90, 93) == (len(unread), sum(one.lm_eval is None for one in judged))
    whole = [one for one in judged if one.text.endswith("\n\n")]
    assert [911, 1, 4] == [len(whole), sum(one in whole for one in unread), sum(one.lm_eval is None for one in whole)]
    assert [6660] == [one.id for one in unread if one in whole]
