"""Every instruction kind read as its English sentence, followed and not followed: own cases."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.errors import InputError
from steelyard.parsing.instructions.table import KINDS, follows, instructions, loose_texts

WORDS_20 = " ".join(["river"] * 20)
SENTENCES = "Dr. Lee owns 3.5 acres. Is it much? No!"


def case(name: str, kwargs: dict[str, Any], follow: list[str], fail: list[str]) -> list[Any]:
    """Rows of (id, kwargs, reply, whether it follows)."""
    rows = [(reply, True) for reply in follow] + [(reply, False) for reply in fail]
    return [pytest.param(name, kwargs, reply, right, id=f"{name}-{i}") for i, (reply, right) in enumerate(rows)]


CASES = [
    *case(
        "keywords:existence",
        {"keywords": ["lamp", "night train"]},
        [
            "A LAMP on the Night Train.",
            "the **lamp** of the\nnight  train",
            "_lamp_, (night train)",
            "Lamp's light; night-train? No: night train.",
        ],
        ["Lamps on night trains.", "lamp only", "lamplight and a night train", "clamp, night train"],
    ),
    *case(
        "keywords:existence",
        {"keywords": ["don't", "C++", "猫"]},
        ["I don’t write C++ for my 我的猫很可爱."],
        ["I dont write C++, 猫", "I don't write C, 猫"],
    ),
    *case(
        "keywords:forbidden_words",
        {"forbidden_words": ["hot", "ice cream"]},
        ["A hotel with a photo; iced cream.", "nothing", "shot"],
        ["It is HOT.", "a **hot** day", "Ice  cream!", "too-hot soup", "hot\u00ad soup"],
    ),
    *case(
        "keywords:frequency",
        {"keyword": "sun", "frequency": 2, "relation": "at least"},
        ["Sun and sun.", "SUN, *sun*, sun", "sun/sun"],
        ["Sunday, sunny sun.", "", "one sun"],
    ),
    *case(
        "keywords:frequency",
        {"keyword": "sun", "frequency": 2, "relation": "less than"},
        ["Sunday and sun.", "rain"],
        ["sun sun", "Sun. Sun. Sun."],
    ),
    *case(
        "keywords:letter_frequency",
        {"letter": "z", "let_frequency": 3, "let_relation": "at least"},
        ["Zz z", "pizza Z"],
        ["pizza", "s s s"],
    ),
    *case(
        "keywords:letter_frequency",
        {"letter": "!", "let_frequency": 2, "let_relation": "less than"},
        ["Hello!", "none"],
        ["Wow!!", "a! b! c!"],
    ),
    *case(
        "keywords:letter_frequency",
        {"letter": "é", "let_frequency": 2, "let_relation": "at least"},
        ["É e\u0301"],
        ["e e é"],
    ),
    *case(
        "language:response_language",
        {"language": "de"},
        [
            "Der Hund schläft heute im Garten, weil es so warm ist.",
            "Vielen Dank!",
            "Ja, das ist gut. Wir nutzen Python und Docker.",
        ],
        [
            "The dog sleeps in the garden today.",
            "Der Hund schläft im Garten. But the cat is in the house with her kittens.",
            "12",
        ],
    ),
    *case(
        "language:response_language",
        {"language": "mr"},
        ["माझी शाळा खूप सुंदर आहे.", "आम्ही उद्या बाजारात जाणार आहोत."],
        ["मेरा स्कूल बहुत सुंदर है।", "मेरो विद्यालय धेरै सुन्दर छ।", "My school is nice."],
    ),
    *case(
        "language:response_language",
        {"language": "uk"},
        ["Це дуже гарна книга, і я її люблю."],
        ["Это очень хорошая книга, и я её люблю."],
    ),
    *case(
        "language:response_language",
        {"language": "ja"},
        ["これは私の本です。", "東京タワーへ行きました。"],
        ["这是我的书。", "이것은 제 책입니다."],
    ),
    *case(
        "language:response_language",
        {"language": "fa"},
        ["این کتاب من است و آن را دوست دارم."],
        ["هذا كتابي وأنا أحبه.", "یہ میری کتاب ہے"],
    ),
    *case("language:response_language", {"language": "th"}, ["นี่คือหนังสือของฉัน"], ["This is my book"]),
    *case(
        "language:response_language",
        {"language": "pt"},
        ["Não sei onde está o meu livro."],
        ["No sé dónde está mi libro."],
    ),
    *case(
        "length_constraints:number_words",
        {"num_words": 5, "relation": "at least"},
        ["one two three four five", "well-known e.g. don't U.S. 3.5", "one—two—three four five", "我喜欢看书"],
        ["one two three four", "well-known, don't - 3.5 *** !", "** one ** two three four **"],
    ),
    *case(
        "length_constraints:number_words", {"num_words": 20, "relation": "less than"}, [WORDS_20[6:], "a"], [WORDS_20]
    ),
    *case(
        "length_constraints:number_sentences",
        {"num_sentences": 3, "relation": "at least"},
        [SENTENCES, "One. two. three.", "Wait... What?! Go", '"Hi," he said. "Go!" Mr. Fox left at 5 p.m. on Monday.'],
        [
            "Dr. A. Lee vs. Prof. B. Moe, Jr. et al. met. They left.",
            "1. Eggs",
            "Really?! Yes",
            "It costs 3.50 e.g. at No. 5.",
        ],
    ),
    *case(
        "length_constraints:number_sentences",
        {"num_sentences": 2, "relation": "less than"},
        ["The U.S. team won 3.5 points vs. Dr. Moe.", "no stop at all", '"Really?" she asked.'],
        ["One. Two.", "Yes! No"],
    ),
    *case(
        "length_constraints:number_paragraphs",
        {"num_paragraphs": 2},
        [
            "One.\n***\nTwo.",
            "One.\n\n* * *\n\nTwo.",
            "***\nOne.\n***\nTwo.\n***",
            "A ***strong*** word.\n***\nTwo.",
            "One.\r\n***\r\nTwo.",
        ],
        ["One.\n\nTwo.", "One.\n***\nTwo.\n***\nThree.", "One.\n***\n\n***\nTwo.", "One ***Two", "One.\n---\nTwo."],
    ),
    *case(
        "length_constraints:nth_paragraph_first_word",
        {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "later"},
        ["Now.\n\nLater, we left.", "Now.\n \n\n**Later** on", 'Now.\n\n"LATER!"', "\n\nNow.\n\n\n\nLater"],
        [
            "Now.\n\nLaterally",
            "Later.\n\nNow.",
            "Now.\nLater.",
            "Now.\n\nLater.\n\nEnd.",
            "Now.\n\nLater-day saints",
            "Now.\n\nMuch later",
        ],
    ),
    *case(
        "length_constraints:nth_paragraph_first_word",
        {"num_paragraphs": 1, "nth_paragraph": 1, "first_word": "in short"},
        ["In short: yes.", "In  Short we go"],
        ["In shorts we go", "In brief"],
    ),
    *case(
        "detectable_content:number_placeholders",
        {"num_placeholders": 2},
        ["[name] of [home address]", "[a][b]", "- [x] [Your Name], [City]"],
        [
            "[name] [ ]",
            "[] []",
            "[name] and [docs](https://example.org)",
            "[name\n] [x",
            "- [x] done [name]",
            "(name) <place>",
        ],
    ),
    *case(
        "detectable_content:postscript",
        {"postscript_marker": "P.S."},
        ["Bye.\n\nP.S. Call me.", "Bye.\n**P.S.** Call", "Bye. P.S. Call", "bye\np.s. call", "P. S. Call me"],
        ["Bye.\nP.P.S. Call me.", "Bye.\nPS: call", "I wrote a P.S. yesterday.", "Bye.\nP.S.", "Bye.\nP.S.\n***"],
    ),
    *case(
        "detectable_content:postscript",
        {"postscript_marker": "P.P.S"},
        ["Bye.\nP.P.S. Call me.", "Bye.\nP.P.S call me"],
        ["Bye.\nP.S. Call me.", "Bye.\nP.P.Send it"],
    ),
    *case(
        "detectable_format:number_bullet_lists",
        {"num_bullets": 2},
        [
            "* a\n* b",
            "- a\n- b",
            "+ a\n  - b",
            "Intro:\n\n* **a**: x\n* *b*\n\n---\nEnd",
            "* a\n* b\n\n**Note** here",
            "- a\n- b\n```\n- code\n```",
        ],
        ["* a", "* a\n* b\n- c", "1. a\n2. b", "• a\n• b", "-a\n-b", "**a**\n**b**", "- a\n-\n", "---\n***"],
    ),
    *case(
        "detectable_format:number_highlighted_sections",
        {"num_highlights": 2},
        ["*a* and *b*", "**a b** and *c*", "_a_ __b__", "* item *a*\n* item **b**", "*a\nb* then *c*", "***a*** *b*"],
        [
            "*a*",
            "***a***",
            "* a\n* b *\n* c",
            "2 * 3 * 4 * 5 = x *y*",
            "`*a*` `*b*`",
            "**  ** *b*",
            "\\*a\\* \\*b\\*",
            "snake_case_name _a_",
        ],
    ),
    *case(
        "detectable_format:title",
        {},
        ["<<My day>>\nText", "# <<Ode>>", "Text first\n<< Ode >>", "<<<Ode>>>"],
        ["<My day>", "<<>>", "<< >>", "<<\nOde\n>>", "<<***>>", "Ode"],
    ),
    *case(
        "detectable_format:multiple_sections",
        {"section_spliter": "Chapter", "num_sections": 2},
        [
            "Chapter 1\nx\nChapter 2\ny",
            "**Chapter I**\nx\n\n## Chapter II: y",
            "Chapter One\nx\nCHAPTER TWO",
            "Chapter 1: a\nChapter 2: b\nChapter 3",
        ],
        [
            "Chapter 1\nx",
            "In Chapter 1 and Chapter 2 we read.",
            "Chapter\nChapter",
            "Chapters 1\nChapters 2",
            "Chapter 1\nChapter 1.1\nChapter 1.2",
            "Chapter 1\nChapter 1",
            "Chapter I think\nChapter 2nd",
        ],
    ),
    *case(
        "detectable_format:json_format",
        {},
        [
            '{"a": [1]}',
            "```json\n[1]\n```",
            "```JSON\n{}\n```",
            '"text"',
            "42",
            "null",
            "~~~\n{}\n~~~",
            '  {"a": 1e5}\n',
            '`{"a": 1}`',
        ],
        [
            "{'a': 1}",
            '{"a": 1,}',
            '{"a": NaN}',
            "Here: {}",
            "```json\n{}\n``` done",
            "{",
            "yes",
            '{"a": 1}{"b": 2}',
            "``` ```",
        ],
    ),
    *case(
        "detectable_format:constrained_response",
        {},
        ["My answer is no.", "Well. My answer is maybe. It depends.", "**My answer is yes.**"],
        ["Yes.", "My answer is perhaps.", "My answer is yes. My answer is no.", "The answer is yes."],
    ),
    *case(
        "combination:repeat_prompt",
        {"prompt_to_repeat": "Name a bird."},
        ["Name a bird.\n\nA wren.", "name a bird. A wren", "Name a  bird.\nWren"],
        ["A wren.", "Sure! Name a bird. A wren.", "Name a bird.", "Name the bird. A wren.", '"Name a bird." A wren'],
    ),
    *case(
        "combination:two_responses",
        {},
        [
            "A wren.\n******\nA crow.",
            "A wren. ****** A crow.",
            "******\nA\n******\nB",
            "Response 1: x\n******\nResponse 2: y",
        ],
        [
            "A\n***\nB",
            "A\n******\nA",
            "A\n******\n a \n",
            "A\n******\nB\n******\nC",
            "A\n******\n\n******\nB",
            "A\n******",
            "A *** *** B",
            "Response 1: x\n******\nResponse 2: x",
        ],
    ),
    *case(
        "change_case:english_capital",
        {},
        ["ALL OF IT!", "É UM DIA", "A1"],
        ["All OF IT", "iPHONE", "123", "你好"],
    ),
    *case("change_case:english_lowercase", {}, ["all of it!", "ok", "día 1"], ["All of it", "eBay", "123", "i am Ǆ"]),
    *case(
        "change_case:capital_word_frequency",
        {"capital_frequency": 2, "capital_relation": "at least"},
        ["NASA and the EU", "**STOP** it NOW", "I said A", "COVID-19 in the U.S.", "NASA's EU"],
        ["Nasa and EU", "NASA", "iPHONE McDONALD EU", "123 456"],
    ),
    *case(
        "change_case:capital_word_frequency",
        {"capital_frequency": 1, "capital_relation": "less than"},
        ["none here", "Title Case"],
        ["I am", "OK"],
    ),
    *case(
        "startend:end_checker",
        {"end_phrase": "That is all."},
        ["Bye. That is all.", "Bye. that is  ALL.", 'Bye. "That is all."', "Bye. **That is all.**", "That is all. :)"],
        ["That is all. Bye.", "That is all", "Bye.", "That is all. P.S. Hi", "That is allow."],
    ),
    *case("startend:end_checker", {"end_phrase": "ok"}, ["Fine, ok.", "OK!"], ["A book", "okay"]),
    *case(
        "startend:quotation",
        {},
        ['"All."', "“All of it.”", '"He said "hi" to us."', ' "a\n\nb" ', '"The 5" pipe fits."', "„Ja.“"],
        ['"All.', 'All."', "'All.'", '"Yes" she said "no"', '"', '""', '"A."\n\n"B."', '**"All."**'],
    ),
    *case(
        "punctuation:no_comma",
        {},
        ["No comma; none.", "'quoted' text"],
        ["One, two", "1,000", "一，二", "نعم، لا", "一、二"],
    ),
]


@pytest.mark.parametrize(("name", "kwargs", "reply", "right"), CASES)
def test_an_instruction_is_followed_as_its_sentence_says(
    name: str, kwargs: dict[str, Any], reply: str, right: bool
) -> None:
    """The fixed reading follows the English sentence of each of the 25 kinds. [S-15]"""
    [asked] = instructions(json.dumps([{"id": name, "kwargs": kwargs}]))
    wrong = follows(asked, reply, "0/0", published=False)
    assert right == (wrong is None), wrong


def test_every_kind_has_cases_both_ways() -> None:
    """No kind goes without a reply that follows it and one that does not. [S-15]"""
    seen = {(p.values[0], p.values[3]) for p in CASES}
    assert set() == {(name, right) for name in KINDS for right in (True, False)} - seen


def test_the_benchmark_has_its_twenty_five_kinds() -> None:
    """The kinds are those of the published benchmark. [S-15]"""
    assert 25 == len(KINDS)


ARGUMENTS = {p.values[0]: p.values[1] for p in CASES}


@pytest.mark.parametrize("name", sorted(KINDS))
@pytest.mark.parametrize("reply", ["", "  \n ", "\u00a0", "\u200b\u2060"])
def test_a_reply_without_visible_text_follows_nothing(name: str, reply: str) -> None:
    """An empty reply follows no instruction. [S-15]"""
    [asked] = instructions(json.dumps([{"id": name, "kwargs": ARGUMENTS[name]}]))
    assert follows(asked, reply, "0/0", published=False) is not None


@pytest.mark.parametrize("name", sorted(KINDS))
@settings(max_examples=25, deadline=None)
@given(reply=st.text(alphabet="aAbZ é.,!?*_-#<>[](){}\"'“”`~\\\n\r\t012P.S.\u200b\u0301猫है", max_size=120))
def test_no_reply_makes_a_kind_fail(name: str, reply: str) -> None:
    """Any text gives a verdict, and so do its loose variants. [S-15]"""
    [asked] = instructions(json.dumps([{"id": name, "kwargs": ARGUMENTS[name]}]))
    for text in loose_texts(reply):
        assert isinstance(follows(asked, text, "0/0", published=False), str | None)


HOSTILE = [
    "a",
    " ",
    "\n",
    "*",
    "**a",
    "_a_ ",
    "[",
    "[a",
    "<<",
    '"',
    "`",
    "```\n",
    "- a\n",
    "P.S. ",
    ". ",
    "A. ",
    "***\n",
    "{",
    "a,",
    "\n\n",
    "猫",
    "Section 1\n",
    "<<a>>",
]


@pytest.mark.parametrize("name", sorted(KINDS))
def test_a_long_hostile_reply_is_read_in_linear_time(name: str) -> None:
    """A reply of 30,000 characters of one piece ends, for every kind; a quadratic reading would not. [S-15]"""
    [asked] = instructions(json.dumps([{"id": name, "kwargs": ARGUMENTS[name]}]))
    for piece in HOSTILE:
        assert isinstance(
            follows(asked, "x" + piece * (30_000 // len(piece)) + "x", "0/0", published=False), str | None
        )


@pytest.mark.parametrize(
    ("target", "part"),
    [
        ([{"id": "keywords:existance", "kwargs": {"keywords": ["a"]}}], 'did you mean "keywords:existence"'),
        ([{"id": "made:up", "kwargs": {}}], "unknown id"),
        ([{"id": "keywords:existence", "kwargs": {}}], "keywords"),
        ([{"id": "keywords:existence", "kwargs": {"keywords": []}}], "one at least"),
        ([{"id": "keywords:existence", "kwargs": {"keywords": [" "]}}], "hold some text"),
        ([{"id": "keywords:existence", "kwargs": {"words": ["a"]}}], "words"),
        ([{"id": "keywords:frequency", "kwargs": {"keyword": "a", "frequency": 1, "relation": "around"}}], "around"),
        ([{"id": "language:response_language", "kwargs": {"language": "xx"}}], "unknown language"),
        ([{"id": "startend:end_checker", "kwargs": {"end_phrase": "..."}}], "hold some text"),
        (
            [
                {
                    "id": "length_constraints:nth_paragraph_first_word",
                    "kwargs": {"num_paragraphs": 1, "nth_paragraph": 2, "first_word": "a"},
                }
            ],
            "is not one of",
        ),
        ([], "no instruction"),
        ([{"kwargs": {}}], "an instruction is"),
        ({"instruction_id_list": ["punctuation:no_comma"], "kwargs": []}, "same length"),
    ],
)
def test_a_target_that_cannot_work_is_refused(target: Any, part: str) -> None:
    """Unknown kinds and arguments fail at load, with the place and the nearest name. [S-15]"""
    with pytest.raises(InputError) as error:
        instructions(json.dumps(target))
    assert part in str(error.value)


def test_the_data_sets_own_spelling_is_read() -> None:
    """Lists side by side, with unused arguments null, are the same instructions. [S-15]"""
    target = {
        "instruction_id_list": ["punctuation:no_comma", "startend:quotation"],
        "kwargs": [{"num_words": None}, {}],
    }
    plain = [{"id": "punctuation:no_comma", "kwargs": {}}, {"id": "startend:quotation", "kwargs": {}}]
    assert instructions(json.dumps(plain)) == instructions(json.dumps(target))


def test_the_loose_texts_drop_lines_and_asterisks() -> None:
    """The eight texts of the loose verdict, without repeats. [S-15]"""
    assert ["*a*\nb\nc", "b\nc", "*a*\nb", "b", "a\nb\nc", "a\nb"] == loose_texts("*a*\nb\nc")
