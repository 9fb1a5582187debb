r"""Where a reply marks its answer: boxes, answer labels in many languages, `####` lines, answer tags.

A mark is (start of the marker, start of the content, end of the content, rule). Whether a mark commits (or is
withdrawn, supposed, quoted) is decided in `prose`.
Source: forms seen in the outputs of public models and in reports about public graders.
Not covered: `\boxed` whose braces never close (a cut-off reply commits to nothing).
Easy to break: linear time; the tail of a label is matched at the label only and every repetition is bounded.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from steelyard.parsing.alternatives import Alternative, Alternatives, words
from steelyard.parsing.patterns import late


class Mark(NamedTuple):
    """One marked answer; `rule` is `box`, `tag`, `hashes`, `label` (`Answer: x`) or `phrase` (the answer is x)."""

    start: int
    content: int
    end: int
    rule: str


_BRACE = late(r"\\(?:boxed|fbox)[ \t\n]{0,8}\{|\\[{}]|[{}]")
_BARE_BOX = late(r"\\boxed[ \t]{1,8}([^\s{}$\\.,;]{1,40})")


def boxes(text: str) -> list[tuple[int, int, int]]:
    """Outermost closed boxes as (start, start of content, end of content), in order; one pass with a stack."""
    if "\\boxed" not in text and "\\fbox" not in text:
        return []
    stack: list[tuple[int, int] | None] = []
    found: list[tuple[int, int, int]] = []
    for brace in _BRACE.finditer(text):
        mark = brace.group()
        if mark.startswith(("\\boxed", "\\fbox")):
            stack.append((brace.start(), brace.end()))
        elif mark == "{":
            stack.append(None)
        elif mark == "}" and stack:
            opened = stack.pop()
            if opened is not None:
                found.append((*opened, brace.start()))
    found += [(m.start(), m.start(1), m.end(1)) for m in _BARE_BOX.finditer(text)]
    outer: list[tuple[int, int, int]] = []
    for box in sorted(found):
        if not outer or box[0] > outer[-1][2]:
            outer.append(box)
    return outer


_WORD_END = r"(?![^\W_])"
_RESULT = " result| value| solution| response"
_LABEL = Alternatives(
    [
        Alternative(word + _WORD_END, ((stem,),))
        for word, stem in (
            ("answers?", "answer"), ("ans", "ans"), ("antwort(?:en)?", "antwort"), ("lösung", "lösung"),
            ("ergebnis", "ergebnis"), ("réponses?", "réponse"), ("respuestas?", "respuesta"), ("risposta", "risposta"),
            ("resposta", "resposta"), ("antwoord", "antwoord"), ("svar", "svar"), ("vastaus", "vastaus"),
            ("odpowiedź", "odpowiedź"), ("odpověď", "odpověď"), ("odgovor", "odgovor"), ("válasz", "válasz"),
            ("răspuns(?:ul)?", "răspuns"), ("cevap", "cevap"), ("yanıt", "yanıt"), ("jawaban", "jawaban"),
            ("đáp án", "đáp án"), ("trả lời", "trả lời"), ("ответ", "ответ"), ("відповідь", "відповідь"),
            ("отговор", "отговор"), ("απάντηση", "απάντηση"), ("תשובה", "תשובה"), ("الإجابة", "الإجابة"),
            ("الجواب", "الجواب"), ("جواب", "جواب"), ("उत्तर", "उत्तर"), ("คำตอบ", "คำตอบ"),
        )
    ]
    + [
        Alternative(f"{kind}(?:{_RESULT}){_WORD_END}", (tuple(kind + noun for noun in _RESULT.split("|")),))
        for kind in ("final", "correct")
    ]
    + words("正确答案", "最终答案", "答案", "解答", "答え", "正解", "答", "정답", "답변", "답")
)  # fmt: skip
_FILLER = late(
    r"[\s*_`'\"”’)\]]*(?:\([^()]*\)|\[[^\]]*\]"
    r"|(?:letter|choice|option|key|number|no|finale?|corre[ck]t\w{0,2}|korrekt\w{0,2}|richtig\w{0,2}|right|best|here"
    r"|therefore"
    r"|thus|then|choix|opción|lettre|letra|lettera|buchstabe|选项|選項|번|правильный|to|for|of|in|from|that|which|i|we|you"
    r"|could|can|must|has|have|looks?|seems?|appears?|comes?|turns|zur|auf|à|a|la|final"
    r"|\d{1,3})(?![^\W_])[^.,;:：!?\n]*)?"
    r"[\s*_`'\"”’)\]]*",
    re.IGNORECASE,
)
_HEDGE = (
    r"(?:(?:most |very )?(?:likely|probably|possibly|therefore|thus|clearly|simply|definitely|indeed|just|still|now"
    r"|actually"
    r"|certainly|surely|obviously|finally|hence|also)[ \t]{1,3})"
)
_CONNECT = late(
    rf"(?P<colon>[:：=→⇒]|-{{1,2}}>)"
    rf"|(?P<cjk>应该是|應該是|应为|應為|就是|是|为|為|は|은|는)[:：]?"
    rf"|(?<![^\W_])(?P<copula>{_HEDGE}?(?:is|are|was|equals?|(?:would|should|must|will|could|may|might|has to|have to"
    rf"|needs to|ought to|can only)(?:[ \t](?:very well|well|only))?[ \t]{_HEDGE}?be(?![ \t]to)"
    r"|(?:looks?|seems?|appears?)(?:[ \t]to[ \t]be|[ \t]like)|comes?(?:[ \t]out)?[ \t](?:to|as|at)|comes down to|turns"
    r" out to be"
    r"|lautet|ist|wäre|est|serait|es|sería|è|é|sarebbe|seria|jest|adalah|là|là|является|это))(?![^\W_])"
    r"|(?P<denied>(?<![^\W_])(?:is|was|are|ca|could|would)n['’]t(?![^\W_]))|(?P<short>['’]s)(?![^\W_])"
    r"|(?<=[ \t])(?P<dash>[—–-])(?=[ \t])|(?P<line>\n)",
    re.IGNORECASE,
)
_AFTER = late(rf"[ \t]{{0,3}}[:：]?[ \t]{{0,3}}{_HEDGE}?(?:(?:option|choice|letter)[ \t]{{1,3}})?", re.IGNORECASE)
_LINE_START = late(
    r"[ \t>*_#`~\-\[(\"'“<|$\\{•]*(?:(?:so|thus|hence|therefore)[,: ]{1,2})?"
    r"(?:(?:the|my|our|die|la|le|el|il|a|o|short|final|correct|finale?|best|right)[ \t]){0,4}[*_`]*",
    re.IGNORECASE,
)
_HASHES = late(r"^[ \t]{0,3}####(?!#)[ \t]{0,4}(?P<x>\S[^\n]*)", re.MULTILINE)
_TITLE = late(
    r"[*_ ]{0,4}(?:\d+[.)][ \t])?(?:steps?|part|case|section|phase|method|approach|solution|explanation|conclusion"
    r"|example"
    r"|note|summary|final|answer|verification|check|analysis|reasoning|question|problem|option|choice|why|how|what)\b",
    re.IGNORECASE,
)
_TAG = late(r"<(answer|final_answer|finalanswer|ans)>(?P<x>[^<]{0,4000})</\1>", re.IGNORECASE)
_SHORT = late(r"^[ \t*_#>]{0,6}A\d{0,3}[*_]{0,2}[ \t]?[:：][*_]{0,2}[ \t]?(?=\S)", re.MULTILINE)
_SHORT_QUESTION = late(r"(?:^|\n)[ \t*_#>]{0,6}Q\d{0,3}[*_]{0,2}[ \t]?[:：.]")
_NEXT_LINE = late(r"(?:[ \t*_]*\n|[ \t]*```\w{0,20}[ \t]*\n)*[ \t]*")
_WINDOW = 100
_LONGEST = 4000
_PHRASED = ("copula", "short", "denied")
MOST = 40
"""How many of the last marks are looked at; a reply with more is a loop."""
_MOST_TRIED = 400
_FIRST_CJK = "\u2e80"


_GROWS = "\u0130"


def lowered(text: str) -> str:
    """`text` in lower case, of equal length: the one letter that grows in lower case stays as it is."""
    return _GROWS.join(piece.lower() for piece in text.split(_GROWS)) if _GROWS in text else text.lower()


def word_starts(
    pattern: re.Pattern[str] | Alternatives, low: str, start: int = 0, end: int | None = None
) -> Iterator[re.Match[str]]:
    """Matches of a pattern in lower-case text that start a word; faster than a look-behind in the pattern."""
    for match in pattern.finditer(low, start, len(low) if end is None else end):
        at = match.start()
        if at == 0 or low[at - 1] == "_" or not low[at - 1].isalnum() or low[at] >= _FIRST_CJK:
            yield match


def marks_from_last(text: str, low: str, phrases: Alternatives | None = None) -> Iterator[Mark]:
    """The last `MOST` marked answers in `text`, the last one first; `low` is the text in lower case.

    `phrases` (over lower-case text) adds marks where it matches. Before the last other mark they are looked for only
    when that one is passed over, because looking for them costs more than all the rest.
    """
    known = _marks(text, low)
    later: list[Mark] = []
    before = len(text)
    if phrases and known:
        before = known[-1].start
        later = sorted([known.pop(), *_phrased(text, low, phrases, before)])[-MOST:]
        yield from reversed(later)
    known += [mark for mark in _phrased(text, low, phrases, 0) if mark.start < before] if phrases else []
    yield from sorted(known, reverse=True)[: MOST - len(later)]


def _phrased(text: str, low: str, phrases: Alternatives, start: int) -> list[Mark]:
    """The marks that `phrases` make from `start` on."""
    matches = deque(word_starts(phrases, low, start), maxlen=MOST)
    found = [_to_line_end(text, m.start(), m.end(), "phrase") for m in matches]
    return [mark for mark in found if text[mark.content : mark.end].strip()]


def _marks(text: str, low: str) -> list[Mark]:
    found = [Mark(start, content, end, "box") for start, content, end in boxes(text)[-MOST:]]
    if "<" in text:
        found += _last(Mark(m.start(), *m.span("x"), "tag") for m in _TAG.finditer(text))
    found += _last(_hashes(text))
    labels = deque(word_starts(_LABEL, low), maxlen=_MOST_TRIED)
    found += islice((mark for label in reversed(labels) if (mark := _label(text, label))), MOST)
    question = _SHORT_QUESTION.search(text) if "Q" in text else None
    if question:
        found += _last(_to_line_end(text, m.start(), m.end(), "label") for m in _SHORT.finditer(text, question.end()))
    return sorted(mark for mark in found if text[mark.content : mark.end].strip())[-MOST:]


def _last(found: Iterable[Mark]) -> deque[Mark]:
    return deque(found, maxlen=MOST)


def _hashes(text: str) -> Iterator[Mark]:
    if "####" in text:
        yield from (Mark(m.start(), *m.span("x"), "hashes") for m in _HASHES.finditer(text) if not _TITLE.match(m["x"]))


def first_mark(text: str) -> int:
    """Where the first marked answer starts, else past the end of the text."""
    starts = [start for start, _, _ in boxes(text)[:1]]
    tag = _TAG.search(text) if "<" in text else None
    starts += [tag.start()] if tag else []
    starts += [mark.start for mark in islice(_hashes(text), 1)]
    labels = islice(word_starts(_LABEL, lowered(text)), _MOST_TRIED)
    starts += islice((mark.start for label in labels if (mark := _label(text, label))), 1)
    return min(starts, default=len(text) + 1)


def _label(text: str, label: re.Match[str]) -> Mark | None:
    """The mark that an answer label makes, if something that commits follows it."""
    start, end = label.span()
    connect = _CONNECT.search(text, end, end + _WINDOW)
    if not connect or not _FILLER.fullmatch(text, end, connect.start()):
        return None
    if connect["line"]:
        line = text.rfind("\n", max(0, start - _WINDOW), start) + 1
        if not _LINE_START.fullmatch(text, line, start):
            return None
    after = _AFTER.match(text, connect.end())
    content = connect.start() if connect["denied"] else after.end() if after else connect.end()
    return _to_line_end(text, start, content, "phrase" if connect.lastgroup in _PHRASED else "label")


def _to_line_end(text: str, start: int, content: int, rule: str) -> Mark:
    """A mark whose content is the rest of the line, or the next line with text when the rest is empty."""
    skipped = _NEXT_LINE.match(text, content)
    content = skipped.end() if skipped else content
    end = text.find("\n", content, content + _LONGEST)
    return Mark(start, content, min(len(text), content + _LONGEST) if end < 0 else end, rule)
