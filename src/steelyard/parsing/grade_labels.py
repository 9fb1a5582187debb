"""Labels of a grader's reply: where they stand as whole tokens, and whether the grader means them.

A label's own text (what the grader was told to write) and the name of its grade both count, in any case, with spaces,
underscores or hyphens between words; of labels that overlap the longer wins (`INCORRECT`, `NOT SUCCESS`).
An occurrence is not meant when it is asked about, supposed, quoted, or what somebody else says or asks for; when it is
denied; when it only describes a noun (`the correct answer`) or is toned down (`partly correct`). A letter is a label
only as a capital, and `A` and `I` only where they are no article and no pronoun; `yes` and `no` only at the start of a
clause; a number only where it is set apart (`4/5` after a marker, where 5 is the highest label). Where there are two
grades, a denied name is the other one.
Not covered: irony, and languages other than English.
Easy to break: linear time; every look goes a bounded way and stays in the sentence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

import msgspec

from steelyard.parsing.markers import lowered

Kind = Literal["letter", "number", "reply", "name", "mark"]


class Label(msgspec.Struct, frozen=True):
    """One text that stands for a grade; `reply` is yes, no and their kin, `mark` one with punctuation at an edge."""

    text: str
    grade: str
    kind: Kind


class Found(msgspec.Struct, frozen=True):
    """A label at [start, end) of a reply; `exact` is in the case in which the grader was told to write it."""

    label: Label
    start: int
    end: int
    exact: bool


_REPLIES = frozenset({"yes", "no", "true", "false", "y", "n"})
_REACH = 90
MOST = 200
"""Of more than twice as many labels or markers only the first and the last are looked at."""
_DECOR = r"[\s*_`\"'“”‘’(\[{<$\\]*"
_NOT = (
    r"(?:not|never|no|by no means|in no way|cannot|hardly|scarcely|neither|nor|far from|anything but|no longer"
    r"|without being"
    r"|rather than|instead of"
    r"|other than|as opposed to|(?:is|was|are|were|does|do|did|can|could|would|should|will|wo|ca|has|have)n['’]?t)"
)
_BETWEEN = (
    r"(?:be|been|being|is|are|the|a|an|at all|in any way|fully|completely|entirely|quite|really|strictly"
    r"|factually|wholly|totally"
    r"|truly|actually|technically|exactly|considered|deemed|marked|graded|judged|rated|labell?ed|classified"
    r"|count(?:ed)? as|as|to"
    r"|get|receive|deserve|merit|warrant|qualify as|give|grade|mark|call|it|this|that|seem|seems|look|looks"
    r"|answer|grade of)"
)
_NEGATED = re.compile(rf"(?<![^\W_]){_NOT}(?:[\s,]+{_BETWEEN}){{0,5}}{_DECOR}$", re.IGNORECASE)
_DOUBLE = re.compile(r"(?<![^\W_])(?:not|never|n['’]t|no)(?:\s+\w+){0,2}\s*$", re.IGNORECASE)
_SUPPOSED = re.compile(
    r"(?<![^\W_])(?:if|unless|whether|suppose|supposing|assuming|to be|to get|to earn|to deserve|stands for"
    r"|denotes|represents|had|were|would|could|might|may|when|either|between"
    r"|(?:at first|initially|originally)(?: \w+){0,3}|first (?:thought|glance)\W{0,2}(?: \w+){0,4}"
    r"|looked(?: \w+){0,3}|seemed(?: \w+){0,3}"
    r"|tempted|tempting|considered|thought about)(?![^\W_])[^.!?\n;:]{0,70}$",
    re.IGNORECASE,
)
_TURN = re.compile(
    r"(?<![^\W_])(?:but|however|therefore|thus|hence|so|then|yet|actually|instead)(?![^\W_])|[:;—–]|,\s(?:it"
    r"|this|which|the|i)\s",
    re.IGNORECASE,
)
_BUT = re.compile(r"(?<![^\W_])(?:but|however|so|therefore|thus|hence|yet)(?![^\W_])|[;—–]", re.IGNORECASE)
_OTHERS = re.compile(
    r"(?<![^\W_])(?<!the )(?<!this )(?<!that )(?<!its )(?<!an )(?<!\ba )(?<!each )(?<!every )(?:ask(?:s|ed"
    r"|ing)?|tell(?:s|ing)?|told|instruct(?:s|ed|ing|ions?)?|demand(?:s|ed|ing)?|request(?:s|ed|ing)?|want(?:s|ed)?"
    r"|beg(?:s|ged)?|urge[sd]?|order(?:s|ed)?|try|tries|tried|trying|attempt(?:s|ed|ing)? to|claim(?:s|ed"
    r"|ing)?|says?|said|insist(?:s|ed)?"
    r"|assert(?:s|ed)?|states?|stated|pretend(?:s|ed)?|contain(?:s|ed)?|include[sd]?|reads?|wrote|writes"
    r"|prompt(?:s|ed)?|ignor\w+"
    r"|inject\w+|command(?:s|ed)?|hop(?:es|ing)|persuade|convince|trick|force)(?![^\W_])[^.!?\n,;]{0,70}$",
    re.IGNORECASE,
)
_ORDERED = re.compile(
    r"(?<![^\W_])(?:you|graders?|judges?|evaluators?|assistants?|models?) (?:should|must|have to|need to"
    r"|are to|will|can)"
    r"(?:\s+\w+){0,2}\s*$",
    re.IGNORECASE,
)
_OTHER_STEMS = (
    "ask", "tell", "told", "instruct", "demand", "request", "want", "beg", "urge", "order", "try", "tries", "tried",
    "attempt", "claim", "say", "said", "insist", "assert", "state", "pretend", "contain", "include", "read", "wrote",
    "write", "prompt", "ignor", "inject", "command", "hop", "persuade", "convince", "trick", "force", "you", "grader",
    "judge", "evaluator", "assistant", "model",
)  # fmt: skip
"""One of these is in every match of `_OTHERS` and `_ORDERED`."""
MINE = re.compile(r"(?<![^\W_])(?:i|we)(?:['’](?:d|ll|m|ve))?(?:\s+\w+){0,3}\s*$", re.IGNORECASE)
_AFTER_DENIED = re.compile(
    r"[\s*_`\"'“”‘’)\]}.]{0,6}\s*(?:(?:would|could|might|should)(?:n['’]t| not)?(?![^\W_])|(?:is|was|seems?"
    r"|looks?) (?:not|wrong|incorrect|inappropriate"
    r"|too|only|reserved|for|meant|used|unwarranted|tempting|undeserved)|(?:isn|wasn|doesn"
    r"|wouldn)['’]?t(?![^\W_])|means?(?![^\W_])|stands for|requires?|needs)",
    re.IGNORECASE,
)
_DECIDED = re.compile(
    r"[*_`\"'”’)\]}]{0,4}\s(?:is|must be|should be|has to be)\s(?:the|my|our)\s(?:right|correct|proper|appropriate"
    r"|final|fair)\s(?:grade|verdict|label|score|rating|judge?ment|choice)(?![^\W_])",
    re.IGNORECASE,
)
"""`B is the right grade` decides, whatever was weighed before it in the sentence."""
_IF = re.compile(r"(?<![^\W_])(?:if|unless|when|whether|not|n['’]t|deny|doubt)(?![^\W_])", re.IGNORECASE)
_TONED = re.compile(
    r"(?:partial(?:ly)?|part(?:ly)?|mostly|half|semi|nearly|almost|somewhat|mainly|largely|more or less"
    r"|sort of|kind of|barely"
    r"|borderline|possibly|perhaps|maybe|probably)[\s-]*$",
    re.IGNORECASE,
)
_NOUN = (
    r"\s+(?:answers?|response|reply|values?|results?|one|solution|option|date|year|name|person|city|country"
    r"|number|figure|spelling"
    r"|information|target|label|grade|verdict|reference|choice|way|term|version|order|format|unit|key"
    r"|information|details?)(?![^\W_])"
)
_DESCRIBES_AFTER = re.compile(_NOUN, re.IGNORECASE)
_THE = re.compile(
    r"(?<![^\W_])(?:the|its|their|his|her|your|our|expected|only|any|every|each|what|which|of|for|with"
    r"|to)\s+(?:one\s+)?$",
    re.IGNORECASE,
)
_ARTICLE_NEXT = re.compile(r"\s+(?!(?:or|and|because|since|as|for|here|it|is|was|with|then|vs)(?![^\W_]))[a-z]")
_REFERENCE = re.compile(
    r"(?<![^\W_])(?:reference|gold(?:en)?|expected|ground[ -]truth)(?: (?:answer|target|response|label|solution))?"
    r" (?:is|was)(?: \w{1,12}ly)?\s+$",
    re.IGNORECASE,
)
"""What is said of the reference is not said of the reply."""
_CUE = re.compile(
    r"(?:grade[ds]?|grading|is|as|be|choose|chose|option|label(?:led|ed)?|verdict|judge?ment|answer|give[ns]?"
    r"|gave|assign(?:ed|s)?|rate[ds]?|rating|award(?:ed|s)?"
    r"|mark(?:ed|s)?|pick(?:ed)?|select(?:ed)?|say|category|class|letter|therefore|thus|hence|so|score[ds]?"
    r"|of|an?|[:=→>(\[/,]|or|and|->)[\s*_`\"'“‘(\[]*$",
    re.IGNORECASE,
)
_NUMBER_CUE = re.compile(
    r"(?:scores?|ratings?|grades?|marks?|label|verdict|judge?ment|(?:scored?|rated?|graded?)(?: it"
    r"| this)?)(?: (?:is|of|as|a|an|it|should be)){0,2}[\s:=*_`(\[]*$",
    re.IGNORECASE,
)
_CLAUSE_START = re.compile(
    r"(?:^|[.!?:;\n—–(]|(?<![^\W_])(?:is|so|therefore|thus|hence|answer|say|said|be|as|a"
    r"|it)(?![^\W_]),?)[\s*_`\"'“‘(\[>#-]*$",
    re.IGNORECASE,
)
_SURE_BEFORE = re.compile(
    r"(?<![^\W_])(?:(?:without|no) (?:a |any )?doubt|of course|clearly|definitely|certainly|indeed|overall|in short"
    r"|in conclusion|to conclude|in summary),\s[\s*_`\"'“‘(\[]{0,4}$",
    re.IGNORECASE,
)
_REPLY_END = re.compile(
    r"[\s*_`\"'”’)\]]*(?:[.,!;:)—–\n-]|$|because|since|as\s|\s(?:it|this|that|they)\s(?:is|does|are|do)(?![^\W_]))",
    re.IGNORECASE,
)
_NO_REPLY = re.compile(r"\s*,?\s*wait(?![^\W_])", re.IGNORECASE)
_SHARE = re.compile(r"[\s*_`(\[]{0,6}(\d{1,3})\s?/\s?(\d{1,3})(?![\d./])")
_BOTH = re.compile(r"(?<![^\W_])both\s$", re.IGNORECASE)
_NO_WORD = re.compile(r"[\W_]+")
_FIRST_PIECE = re.compile(r"[^\W_]+|[^\w\s]|_")
_FENCE = re.compile(r"\s{0,3}(```|~~~|\"\"\"|''')")


class Labels(msgspec.Struct, frozen=True):
    """Every text that stands for a grade, the longest first, with the pattern of its whole token.

    `opening` finds, in lower case, every place where one of them may start, at a tenth of the cost of the patterns.
    `ends` are their last words in lower case; a line that ends otherwise does not end with a label.
    """

    known: list[tuple[Label, re.Pattern[str]]]
    opening: re.Pattern[str]
    ends: tuple[str, ...]

    def may_end(self, line: str) -> bool:
        """Whether the last word of a line is that of a label; always where the line is not ASCII."""
        end = len(line)
        while end and not line[end - 1].isalnum():
            end -= 1
        start = end
        while start and line[start - 1].isalnum():
            start -= 1
        return not line.isascii() or line[start:end].lower().endswith(self.ends)


def labels_of(labels: Mapping[str, str]) -> Labels:
    """Every text that stands for a grade: the keys and the grades' own names."""
    found: dict[str, Label] = {}
    for text, grade in labels.items():
        found.setdefault(_plain(text), Label(text.strip(), grade, _kind(text.strip())))
    for grade in dict.fromkeys(labels.values()):
        found.setdefault(_plain(grade), Label(grade.strip(), grade, _kind(grade.strip())))
    known = [label for text, label in found.items() if text]
    known.sort(key=lambda label: -len(label.text))
    opening = re.compile("|".join(dict.fromkeys(map(_opening, known))) or r"(?!)")
    words = ([word for word in _NO_WORD.split(label.text.lower()) if word] for label in known)
    ends = tuple({word[-1] if word else "" for word in words})
    return Labels([(label, _pattern(label)) for label in known], opening, ends)


@lru_cache(maxsize=512)
def _pattern(label: Label) -> re.Pattern[str]:
    return re.compile(_token(label), re.IGNORECASE)


def _opening(label: Label) -> str:
    """What a label starts with, for lower-case text: its first word, or its first mark."""
    first = _FIRST_PIECE.match(label.text)
    piece = first[0] if first else label.text[:1]
    if not piece.isascii() and piece.lower() != piece.upper():
        return r"\S"  # letters of other alphabets have more than two cases
    end = r"(?![^\W_])" if label.kind in ("letter", "number") else ""
    return re.escape(piece.lower()) + end


def find_labels(text: str, labels: Labels, start: int = 0, end: int | None = None) -> list[Found]:
    """Whole-token occurrences of labels in [start, end), in order, meant or not; of very many the first and last."""
    end = len(text) if end is None else end
    low = lowered(text[start:end])
    found: list[Found] = []
    at = start
    while opening := labels.opening.search(low, at - start):
        at = opening.start() + start
        for label, pattern in labels.known:
            match = pattern.match(text, at, end)
            if match:
                found.append(Found(label, at, match.end(), match[0] == label.text))
                break
        at = found[-1].end if found and found[-1].start == at else at + 1
    return found if len(found) <= 2 * MOST else found[:MOST] + found[-MOST:]


def share_of_most(text: str, at: int, labels: Labels) -> tuple[int, int, str] | None:
    """The span and grade of `4/5` at `at`, where 4 is a label and 5 the highest of the labels that are numbers."""
    share = _SHARE.match(text, at)
    numbers = {label.text: label.grade for label, _ in labels.known if label.text.isdecimal()} if share else {}
    if share is None or share[1] not in numbers or int(share[2]) != max(map(int, numbers)):
        return None
    return share.start(1), share.end(), numbers[share[1]]


def named_together(text: str, left: Found, right: Found) -> bool:
    """Whether two letters of different grades stand as `both A and B`."""
    letters = left.label.kind == right.label.kind == "letter" and left.label.grade != right.label.grade
    joined = letters and text[left.end : right.start] == " and "
    return joined and _BOTH.search(text, max(0, left.start - 8), left.start) is not None


def meant(text: str, one: Found, opposite: Mapping[str, str], *, marked: bool = False) -> str | None:
    """The grade that an occurrence commits its writer to, or None; `marked` ones stand right after a verdict marker."""
    before, after = _around(text, one)
    marked = marked or (one.exact and _DECIDED.match(after) is not None and not _IF.search(before))
    if not marked and not _stands(one, before, after):
        return None
    if _AFTER_DENIED.match(after) or (one.label.kind == "name" and _TONED.search(before)):
        return None
    clause = before[max((m.end() for m in _TURN.finditer(before)), default=0) :]
    if not marked and (_SUPPOSED.search(clause) or _quoted(before, after) or _asked(text, one)):
        return None
    if not marked and (said_by_others(before) or _REFERENCE.search(before)):
        return None
    negated = _NEGATED.search(clause)
    if negated:
        if _DOUBLE.search(clause[: negated.start()]):
            return one.label.grade
        return opposite.get(one.label.grade) if one.label.kind in ("name", "reply") else None
    return one.label.grade


def holds(low: str, stems: tuple[str, ...]) -> bool:
    """Whether lower-case text holds one of `stems`: a quick look before a pattern that needs one of them."""
    for stem in stems:  # noqa: SIM110  # no generator: this runs for every cue of every reply
        if stem in low:
            return True
    return False


def said_by_others(before: str) -> bool:
    """Whether the words before a label or a marker make it what somebody else says or asks for."""
    if not holds(before.lower(), _OTHER_STEMS):
        return False
    own = before[max((m.end() for m in _BUT.finditer(before)), default=0) :]
    others = _OTHERS.search(own) or _ORDERED.search(own)
    return others is not None and not MINE.search(own[: others.start()])


_SENTENCE_START = re.compile(r"[.!?][\"'”’)\]*_]*\s+|\n")
_STOP = re.compile(r"[.!?\n]")
_OPENED = re.compile(r"(?:^|[\s(])'[^']*$")


def _around(text: str, one: Found) -> tuple[str, str]:
    """The rest of the sentence before and after an occurrence, a bounded way."""
    before = text[max(0, one.start - _REACH) : one.start]
    starts = [stop.end() for stop in _SENTENCE_START.finditer(before)]
    return before[starts[-1] if starts else 0 :], text[one.end : one.end + _REACH]


def _stands(one: Found, before: str, after: str) -> bool:
    kind = one.label.kind
    if kind == "letter":
        if not one.exact:
            return False
        word = one.label.text in ("A", "I") and _ARTICLE_NEXT.match(after)
        return not word or _CUE.search(before) is not None
    if kind == "number":
        return _NUMBER_CUE.search(before) is not None
    if kind == "reply":
        opens = _CLAUSE_START.search(before) or _SURE_BEFORE.search(before)
        return bool(opens and _REPLY_END.match(after) and not _NO_REPLY.match(after))
    if kind == "name" and not (one.exact and one.label.text.isupper()):
        return not (_DESCRIBES_AFTER.match(after) and _THE.search(before)) and not _THE_ONLY.search(before)
    return True


_THE_ONLY = re.compile(r"(?<![^\W_])(?:the|what is|what['’]s)\s+$", re.IGNORECASE)


def _quoted(before: str, after: str) -> bool:
    """Whether an occurrence stands inside quotation marks, other than directly after a cue (`graded as "B"`)."""
    opened = before.count('"') % 2 == 1 or before.count("“") > before.count("”") or "‘" in before.rsplit("’", 1)[-1]
    opened = opened or ("'" in before and "'" in after and _OPENED.search(before) is not None)
    if not opened:
        return False
    tail = re.split(r"[\"“‘']", before)[-1]
    bare = before[: len(before) - len(tail) - 1]
    return bool(tail.strip()) or not _CUE.search(bare) or bool(re.search(r"(?<![^\W_])(?:say|said|of)\s*$", bare))


def _asked(text: str, one: Found) -> bool:
    stop = _STOP.search(text, one.end, one.end + _REACH)
    return stop is not None and stop[0] == "?"


def _kind(text: str) -> Kind:
    if not text or not (text[0].isalnum() and text[-1].isalnum()):
        return "mark"
    if text.isdigit() or re.fullmatch(r"\d+\.\d+", text):
        return "number"
    if len(text) == 1:
        return "letter"
    return "reply" if text.lower() in _REPLIES else "name"


def _plain(text: str) -> str:
    return re.sub(r"[\s_-]+", " ", text).strip().casefold()


def _token(label: Label) -> str:
    words = [re.escape(word) for word in re.split(r"[\s_-]+", label.text) if word]
    body = r"[\s_-]{1,3}".join(words).replace(r":[\s_-]{1,3}", r"\s?:\s{0,3}")
    if "=" in label.text[1:-1]:
        return r"(?<![^\W_])" + r"\s?[:=]\s?".join(map(re.escape, label.text.split("=", 1))) + r"(?![^\W_])"
    if label.kind == "mark":
        return r"\s?".join(re.escape(piece) for piece in re.findall(r"\w+|[^\w\s]+", label.text))
    before = r"(?<![^\W_])(?<![^\W_][_'’.@-])(?<![nN]/)"
    after = r"(?![^\W_])(?![_'’@-][^\W_])(?![+#%])"
    if label.kind == "number":
        return rf"{before}(?<!\d[.,])(?<![/-]){body}{after}(?![.,]\d)(?!\s?/\s?\d)"
    return rf"{before}{body}{after}"


_BLOCK_MARKS = (">", "```", "~~~", '"""', "'''")


def without_blocks(text: str) -> tuple[str, str]:
    """The text with quotation blocks and fenced blocks blanked, and with all but the fenced blocks blanked."""
    if not any(mark in text for mark in _BLOCK_MARKS):
        return text, ""
    shown, fenced, mark = [], [], ""
    for line in text.splitlines(keepends=True):
        blank = " " * (len(line) - 1) + "\n"
        fence = _FENCE.match(line)
        opens = fence is not None and not mark and line.count(fence[1]) == 1
        closes = bool(mark) and line.lstrip().startswith(mark)
        content = bool(mark) and not closes
        shown.append(blank if content or opens or closes or line.lstrip().startswith(">") else line)
        fenced.append(line if content and mark in ("```", "~~~") else blank)
        mark = fence[1] if opens and fence else "" if closes else mark
    return "".join(shown), "".join(fenced)
