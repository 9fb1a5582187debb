"""Reading prose: what counts, and what a reply commits to, best first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.parsing.alternatives import Alternative, Alternatives
from steelyard.parsing.markers import lowered, marks_from_last, word_starts
from steelyard.parsing.prose import committed, final_part, is_refusal, undecorated, without_reasoning


def best(reply: str) -> tuple[str, str] | None:
    """The rule and text of the first candidate."""
    candidates = committed(final_part(reply))
    return (candidates[0].rule, candidates[0].text) if candidates else None


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("Rome", "Rome"),
        ("<think>Paris</think>Rome", "Rome"),
        ("<THINKING>\nParis\n</THINKING>\nRome", "\nRome"),
        ("<reasoning>a</reasoning><think>b</think>Rome", "Rome"),
        ("Paris</think>Rome", "Rome"),
        ("<think>a</think>b</think>Rome", "Rome"),
        ("[THINK]Paris[/THINK]Rome", "Rome"),
        ("◁think▷Paris◁/think▷Rome", "Rome"),
        ("<|channel|>analysis<|message|>Paris<|channel|>final<|message|>Rome", "Rome"),
        ("The tag `<think>` opens it", "The tag `<think>` opens it"),
        ("a < b and b > c", "a < b and b > c"),
    ],
)
def test_reasoning_does_not_count(reply, text):
    """Blocks, everything before a lone closing tag, in any case; a tag in backticks is a mention [T-13]."""
    assert text == final_part(reply).text


def test_reasoning_that_never_ends_leaves_no_answer():
    """A spent budget is told from an empty reply by its reason [T-13]."""
    part = final_part("Rome <think>but wait")
    assert ("", "the reasoning block is never closed") == (part.text, part.reason)


def test_text_before_a_block_counts_and_keeps_its_place():
    """A block in the middle is blanked, so offsets stay true [T-13]."""
    part = final_part("Rome<think>x</think>!")
    assert "Rome" + " " * 16 + "!" == part.text
    assert 0 == part.offset


def test_without_tags_nothing_changes():
    """Byte for byte, for comparisons that fold nothing [G-8]."""
    assert "~~a~~\n\nQuestion: b" == without_reasoning("~~a~~\n\nQuestion: b").text


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("7\n\nQuestion: next?\nAnswer: 8", "7\n\n"),
        ("Answer: 7\nQ: next?\nA: 8", "Answer: 7\n"),
        ("7\n\nPassage: In 1900 ...", "7\n\n"),
        ("7\n\n### Question 2:\n8", "7\n\n"),
        ("7\n\n**Problem:** 8", "7\n\n"),
        ("Answer: 7\n\nExample: 8", "Answer: 7\n\n"),
        ("7\n\nFrage: acht?", "7\n\n"),
        ("答案：7\n\n问题：八？", "答案：7\n\n"),
        ("Question: 2+2?\nAnswer: 4", "Question: 2+2?\nAnswer: 4"),
        ("Let me restate.\nQuestion: 2+2?\nAnswer: 4", "Let me restate.\nQuestion: 2+2?\nAnswer: 4"),
        ("To answer, take an\nExample: 5\nSo 6.", "To answer, take an\nExample: 5\nSo 6."),
        ("The question: is it 4? Yes.", "The question: is it 4? Yes."),
    ],
)
def test_a_run_on_is_cut_once_an_answer_was_given(reply, text):
    """A new example's heading at a line start, and not a restated question [T-13]."""
    assert text == final_part(reply).text


@pytest.mark.parametrize(
    ("reply", "rule", "text"),
    [
        ("\\boxed{3} then \\boxed{\\frac{1}{2}}", "box", "\\frac{1}{2}"),
        ("\\boxed{3}. No, the answer is 4.", "phrase", "4"),
        ("So \\fbox{x^{2}}", "box", "x^{2}"),
        ("\\boxed{3} and \\boxed{4", "box", "3"),
        ("\\boxed{\\boxed{5}}", "box", "\\boxed{5}"),
        ("#### 18", "hashes", "18"),
        ("#### Step 1: add\nAnswer: 5", "label", "5"),
        ("<answer> 5 </answer>", "tag", "5"),
        ("Answer: 5", "label", "5"),
        ("**Answer:** 5", "label", "5"),
        ("**Answer**: 5 km", "label", "5 km"),
        ("## Final Answer\n\n5", "label", "5"),
        ("Answer:\n```\n5\n```", "label", "5"),
        ("Antwort: 5", "label", "5"),
        ("Die Antwort ist 5.", "phrase", "5"),
        ("答案：5", "label", "5"),
        ("Réponse : 5", "label", "5"),
        ("La respuesta es 5.", "phrase", "5"),
        ("Ответ: 5", "label", "5"),
        ("Ответ — 5", "label", "5"),
        ("정답: 5", "label", "5"),
        ('{"answer": "5"}', "label", '"5"}'),
        ("The answer is 5.", "phrase", "5"),
        ("The final answer is: 5", "phrase", "5"),
        ("The answer to the question is 5.", "phrase", "5"),
        ("The correct answer would be 5 because 2+3=5", "phrase", "5"),
        ("The answer is 5, not 6.", "phrase", "5"),
        ("The answer is not 6 but 5.", "phrase", "5"),
        ("The answer isn't 6; it's 5.", "phrase", "5"),
        ("The answer is 5 rather than 6.", "phrase", "5"),
        ("The answer is St. Ives. It is small.", "phrase", "St. Ives"),
        ("Answer: Let's see. It is 4 and 1.\nSo the answer is 5.", "phrase", "5"),
        ("The answer is 6. No wait, it's 5.", "correction", "5"),
        ("The answer is 6. Scratch that. 5.", "correction", "5"),
        ("The answer is 6, sorry, 5.", "correction", "5"),
        ("6. Correction: 5.", "correction", "5"),
        ("The answer is 6. Actually, it is 5.", "correction", "5"),
        ("Some say the answer is 6. The answer is 5. If the answer is 7, we fail.", "phrase", "5"),
        ("The answer is 5. If x were 3, the answer would be 7.", "phrase", "5"),
        ("If we add them, the answer is 5.", "phrase", "5"),
        ("I first thought the answer was 6. The answer is 5.", "phrase", "5"),
        ("Is it false that the answer is 6?\nAnswer: 5", "label", "5"),
        ('He wrote "the answer is 6" but the answer is 5.', "phrase", "5"),
        ("We add.\n\n**5 km**\n", "bold", "5 km"),
        ("We add.\nSo it is 5.\n\nConfidence: 90%", "last-line", "So it is 5."),
        ("5", "last-line", "5"),
        ("Q: 1+1?\nA: 2", "label", "2"),
    ],
)
def test_the_last_answer_that_stands_comes_first(reply, rule, text):
    """Boxes, labels, phrases, corrections; then the fall-backs [T-13]."""
    assert (rule, text) == best(reply)


@pytest.mark.parametrize("reply", ["", "  \n", "<think>5", "*****"])
def test_nothing_said_commits_to_nothing(reply):
    """No candidate at all [T-13]."""
    assert best(reply) is None


@pytest.mark.parametrize(
    "text",
    ["I don't know.", "**Unknown**", "None of the above", "cannot be determined", "N/A", "not enough information"],
)
def test_a_refusal_is_told_from_an_answer(text):
    """A verifier stops at a refusal [T-13]."""
    assert is_refusal(text)


@pytest.mark.parametrize("text", ["5", "Nonesuch", "B", "no", "North"])
def test_an_answer_is_no_refusal(text):
    """Words that only begin like one [T-13]."""
    assert not is_refusal(text)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("**a**", "a"),
        ("`a`", "a"),
        ("$\\boxed{\\text{a}}$", "a"),
        ('"a"', "a"),
        ("**a** and **b**", "**a** and **b**"),
        ("*", "*"),
        ("a*", "a*"),
    ],
)
def test_paired_decoration_is_taken_off(text, plain):
    """Only marks that pair around the whole text [T-13]."""
    assert plain == undecorated(text)


@given(st.text(alphabet="ab5.,:;!?*_`$\\{}[]()<>/\n \"'#~-", max_size=80) | st.text(max_size=60))
def test_spans_point_into_the_reply(reply):
    """Whatever the reply, a candidate's span holds its text, blanks apart [T-13]."""
    part = final_part(reply)
    for candidate in committed(part):
        start, end = candidate.span
        assert candidate.text == part.text[start - part.offset : end - part.offset]
        assert len(candidate.text) == end - start


HOSTILE = [
    "\\boxed{",
    "answer ",
    "answer is not ",
    "<think>",
    "</think>",
    "x\nQuestion: ",
    "~~a",
    "**",
    "no wait ",
    "#### x\n",
    "If ",
    " ",
    "\n",
    '"',
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_repetitions_are_read_in_a_bounded_number_of_marks(unit):
    """However long the reply, the candidates stay few [T-13]."""
    few, many = (committed(final_part(unit * n)) for n in (2_000, 8_000))
    assert len(many) <= max(len(few), 2 * 40 + 4)


PHRASES = Alternatives([Alternative("i pick", (("i pick",),)), Alternative("so it is", (("so it is",),))])


@given(
    st.lists(
        st.sampled_from(
            [
                "I pick a",
                "So it is b",
                "The answer is c",
                "Answer: d",
                "\\boxed{e}",
                "#### f",
                "If the answer is g",
                "x.",
                "\n",
            ]
        ),
        max_size=9,
    )
)
def test_phrases_are_marks_like_any_other_wherever_they_stand(pieces: list[str]) -> None:
    """Looking for phrases only when they are needed gives the marks of looking for all at once, last first."""
    text = ". ".join(pieces)
    low = lowered(text)
    found = list(marks_from_last(text, low, PHRASES))
    plain = list(marks_from_last(text, low))
    starts = [m.start() for m in word_starts(PHRASES, low) if text[m.end() :].strip()]
    assert (sorted([*(mark.start for mark in plain), *starts], reverse=True), True) == (
        [mark.start for mark in found],
        set(plain) <= set(found),
    )
