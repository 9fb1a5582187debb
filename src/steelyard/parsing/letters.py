"""Which one letter of a multiple-choice question a text commits to.

`head_letter` reads a text that is all answer (`(B) because ...`), `prose_letter` any other. A letter counts when it
stands alone, in any decoration, width or case. The article `a` and the pronoun `I` do not count, nor do letters in
words, names (`vitamin C`, `B. F. Skinner`) or formulas (`C = 5`), nor letters that are called wrong or given up (`C
contradicts the passage`, `C looked right, but D is`). Two letters are none; of options that each have their verdict
(`(A) false (B) true`) the only right one counts.
Not covered: the texts of the options; letters of other alphabets that look alike.
Easy to break: linear time (at most `_MOST` letters are weighed); a list of the options commits to nothing.
"""

from __future__ import annotations

import re
from collections import deque
from itertools import islice
from typing import NamedTuple

from steelyard.parsing.markers import lowered
from steelyard.parsing.negation import asserts


class Letter(NamedTuple):
    """A letter A-Z at a position of the text."""

    letter: str
    at: int


class Clash(NamedTuple):
    """Why a text commits to no one letter although it names some."""

    reason: str


_MOST, _MOST_TRIED = 60, 600
_ROOM_ASKED = 150
_SHORT, _TAIL = 300, 20_000
_IN_WORD = r"0-9A-Za-z\u00AA-\u024F\u0370-\u03FF\u0400-\u052F"
_B, _A = rf"(?<![{_IN_WORD}])", rf"(?![{_IN_WORD}])"
_LETTER = re.compile(
    rf"(?<![{_IN_WORD}\\])(?<![{_IN_WORD}]['.\-])[A-Za-z]{_A}(?!['][A-Za-z]|\.[A-Za-z]|-[A-Za-z]|[+#]{{1,2}}(?:\s|$)|°)"
)
"""A letter that stands alone; `U.S.`, `I'm`, `B-cell`, `C++` hold none."""
_OPTION_WORDS = (
    r"option|choice|letter|alternative|statement|answer|opción|opcion|choix|lettre|letra|buchstabe|选项|選項|选择|選擇|答案|选"
    r"|選"
)
_OPTION = f"(?:{_OPTION_WORDS})"
_OPTION_ENDS = tuple(word + s for word in _OPTION_WORDS.split("|") for s in ("", "s"))
_DECORATION = (
    "([{*_`$\"'“:" + " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005"
    "\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
_OPEN = r"[\s*_`$(\[{<\"'“‘\\~#>=→⇒∴-]*"
_CLOSE = r"[\s*_`$)\]}>\"'”’.,;:!?\\~]*"
_OPEN_LINE = r"[ \t*_`$(\[{<\"'“\\~#>-]{0,12}"
_ALONE = re.compile(rf"{_OPEN}(?:{_OPTION}s?[\s:*_]*)?{_OPEN}([A-Za-z]){_CLOSE}$", re.IGNORECASE)
_LEAD = re.compile(
    rf"{_OPEN}(?:(?:(?:definitely|clearly|most likely|probably|likely|maybe|perhaps|surely|only|just|the"
    rf"|either)\s)?{_OPTION}[\s:*_]*{_OPEN})?"
    rf"([A-Za-z]){_A}(?P<next>[*_`$\"'”’}}]*(?:[)\].:>]|\s*[—–:]|\s-\s|[,;]|\s*\n|\s*$|(?=[\s/&|+])))",
    re.IGNORECASE,
)
_JOINED = re.compile(
    rf"[*_`$)\]}}\"'”’]*\s*(?:,? ?(?:and|or|as well as|und|oder|et|ou)(?![a-z])|[&/+,;|]|和|或|、"
    r"|\(or(?![a-z])|(?:through|thru|to)(?= [A-Z](?![\w']))|and/or|(?=[(\[][A-Za-z][)\]])|\{\s?(?:and|or)\s?\})\s*"
    r"(?:(?:the|option|choice|also|maybe|possibly|perhaps|even|either)\s)*"
    rf"[(\[{{*_`$\"']*([A-Za-z]){_A}(?!['.-][A-Za-z])",
    re.IGNORECASE,
)
_VERB_NEXT = re.compile(
    r"[*_`$)\]}\"'”’]*\s(?:is|was|does|do|did|has|had|can|cannot|could|would|will|looks?|seems?|fails?|fits|isn|doesn"
    r"|describes|refers|means|gives|only)(?![a-z])",
    re.IGNORECASE,
)
_ARTICLE_NEXT = re.compile(
    r"[*_`]*[ ](?!\(not |(?:rather than|instead of|over) (?-i:[B-Z])(?![\w'])"
    r"|(?:is|was|are|were|fits|looks|seems|works|and|or|because|since|has|does|did|would|must|holds|wins|it"
    r"|for|as|here|only|alone|can|cannot|could|should|remains|matches|stands|fails|gives|says|describes"
    r"|represents)(?![a-z]))[a-z0-9\"'(]",
    re.IGNORECASE,
)
_AFTER_OPTION = re.compile(rf"{_OPTION}s?[\s:*_]{{0,4}}[(\[{{*_`$\"'“]{{0,4}}$", re.IGNORECASE)
_AFTER_VERB = re.compile(
    r"(?:\b(?:is|be|pick|choose|select|with|for|say|was|to|it's|on|so|hence|thus|therefore)|[:=→>])\s{1,2}[(\[{*_`$\"'“]{0,4}$",
    re.IGNORECASE,
)
_OPENS_SENTENCE = re.compile(r"(?:^|[.!?:;\n,])\s*[*_`$\"'“(]*$")
_LETTER_LINE = re.compile(
    rf"^{_OPEN_LINE}(?:{_OPTION}[ :*_]*)?{_OPEN_LINE}([A-Za-z])[ *_`$)\]}}>\"'”.!\\~]*$", re.MULTILINE | re.IGNORECASE
)
_ENDS = re.compile(r"[*_`$)\]}\"'”’]*(?:[.,;:!?)\]]|\s*$|\s*\n|\s[—–-]\s|\s\()")
_BRACKETED = re.compile(r"(?<![\w^}])[(\[{]\s?[*_`$\"']{0,3}$")
_NAMES = re.compile(
    r"\b(?:vitamins?|hepatitis|influenza|plan|types?|class|group|grade|points?|figures?|sections?|parts?|appendix"
    r"|schedule|team|person|company|sample"
    r"|set|item|step|case|exhibit|table|model|factor|phase|country|town|city|line|angle|node|vertex|mr\.?|mrs\.?|ms\.?"
    r"|dr\.?|vitamin|list|block|good|product|firm"
    r"|subunit|chain|column|row|box|bag|protein|gene|allele|antigen|blood|particle|object|state|variable|event|events"
    r"|matrix|planet|star|car|train|questions?|problem|exercise|let)\s[(\"']{0,2}$",
    re.IGNORECASE,
)
_OF = re.compile(
    r"(?<!instead)(?<!choice)(?<!option)(?<!answer)(?<!letter)(?<!pick)(?<!selection)(?<!favor)(?<!favour) of $",
    re.IGNORECASE,
)
"""`one mole of H`, `the eigenvalues of A`: the letter names a thing that the question is about."""
_FORMULA = re.compile(
    r"\}[_^]|\s?[=-]>\s?[\w(]|\s?[=+*/^<>≤≥×·∙≈∈⊂∪∩][ ]?[\w(\\]|\(\w{1,3}\)|_\w|_\{|\^|\s-\s\d|\s?→|\s?\d"
)
_FORMULA_BEFORE = re.compile(r"°\s?$|[_^]\{?$|[=+/^<>≤≥×·∈⊂∪∩]\s?$|\d\s?$|[a-z]\s?\*\s?$")
_WRONG = re.compile(
    r"[*_`$)\]}\"'”’.:\s—–-]{0,8}(?:(?:this|that|which|it) (?:is|option is) )?(?:incorrect|wrong|false|not (?:correct"
    r"|right|true|the)|no(?![a-z])|✗|✘|❌|×|(?:是|选项)?(?:错误|错的|不对|不正确|不符|不成立|不是|错))",
    re.IGNORECASE,
)
_FAULTED = re.compile(
    r"[*_`$)\]}\"'”’]{0,4}(?:"
    r",? (?:at first|initially|originally)(?![a-z])"
    r"|,? (?:looks|looked|seems|seemed|appears|appeared) [^.;\n]{0,40}\bbut (?:option )?[(*]{0,2}"
    r"(?-i:[B-HJ-Z](?![\w'])|A (?:is|was|fits))"
    r"| (?:is|was|seems|looks|would be|appears(?: to be)?) (?:\w{1,12}ly |thus |also )?(?:the |an? )?(?:least|worst"
    r"|weakest|trap|distractor|decoy|red herring|unlikely|implausible|irrelevant)(?![a-z])"
    r"| (?:\w{1,12}ly |also |thus )?(?:contradicts|violates|conflicts with|misses|ignores|overlooks|misstates"
    r"|misrepresents|makes no sense|has nothing to do|goes against)(?![a-z])"
    r"|[^.;:!?\n]{0,50}(?:,| but| yet| though) (?:which |that |it |this )?(?:is|was) (?:\w{1,12}ly )?"
    r"(?:incorrect|wrong|false|an? (?:\w{1,12} )?(?:mistake|error|trap|distractor|decoy))(?![a-z]))",
    re.IGNORECASE,
)
"""`B is the least likely`, `C contradicts the passage`, `D looks tempting but is wrong`."""
_CHOICE_ASKED = re.compile(
    rf"{_B}[A-Za-z]{_A}[)\]*_]{{0,3}}(?:, (?:option )?[(\[*_]{{0,3}}[A-Za-z]{_A}[)\]*_]{{0,3}}){{0,8}},? or "
    rf"(?:is it |option )?[(\[*_]{{0,3}}[A-Za-z]{_A}[^.!?\n]{{0,40}}\?(?=\s+\S)"
)
"""`A or B?` before the answer to it: the letters of a question that goes on to be answered."""
_TOLD = re.compile(
    r"[.!?\n][ \t]{0,3}[*_]{0,2}(?:(?:so|thus|hence|therefore),? )?(?:final )?(?:answer|option|choice)"
    r" [(\[*_]{0,3}([A-Z])[)\]*_]{0,3}[.!]?[\s*_]{0,4}\Z",
    re.IGNORECASE,
)
"""`... Answer D.` at the very end."""
_VERDICT = re.compile(
    r"(?<![\w'])([A-Z])[)][ ]?[:—–-]?[ ]?(?:is )?(?:(?P<right>true|correct|right|yes|✓|✔|✅)"
    r"|false|incorrect|wrong|no|✗|✘|❌)(?![\w'])",
    re.IGNORECASE,
)
_INITIALS = re.compile(r"\.[ ]?[A-Z]\.(?:[ ]?[A-Z]\.){0,3}[ ]?[A-Z][a-z]")
"""`B. F. Skinner`."""
_WRONG_ROW = re.compile(
    rf"(?:[)\]*_]{{0,3}}(?:,? (?:and|or|nor) |, ?)[(\[*_]{{0,3}}[A-Z]{_A}){{1,25}}[)\]*_]{{0,3}}"
    r" (?:fail(?![a-z])|(?:are|were|is|can|could|must|do|don['’]t|cannot)(?: (?:all|both|each|then|be|thus|clearly"
    r"|also|therefore)){0,3}"
    r" (?:wrong|false|incorrect|out|eliminated|excluded|ruled out|dropped|not))(?![a-z])"
)
_RIGHT = re.compile(
    r"[*_`$)\]}\"'”’.:\s—–-]{0,8}(?:(?:is|must be|has to be|should be|remains|was)\s(?:\w{1,12}ly |indeed |thus |also "
    r"|therefore )?(?:the |our |my )?(?:only |single |best |most |one )?"
    r"(?:correct|right|true|best|valid|answer|winner|appropriate|accurate|suitable|one (?:that|which)|only one)"
    r"|as (?:the|our|my) (?:(?:correct|right|best|final|only) )?(?:answer|choice|option)(?![a-z])"
    r"|is (?:better|more [a-z]{3,14}) than (?:option )?[(*]{0,2}[A-Z](?![\w'])"
    r"|(?:correct|right|true|yes)(?![a-z])|fits|wins|holds|✓|✔|✅"
    r"|(?:是|才是)?(?:对的|正确|对))",
    re.IGNORECASE,
)
_BUT_BEFORE = re.compile(r"\b(?:but|however,?|yet|though) (?:option )?[(*]{0,2}$", re.IGNORECASE)
_BETTER = re.compile(r"[)*]{0,3} is (?:the )?(?:better|best|preferable|stronger|more [a-z]{3,14})(?![a-z])")
"""`..., but D is more precise`."""
_WRONG_LATER = re.compile(
    r"(?:[—–:;,.(-]\s*|\b(?:is|are|this is|which is|that is|it is)\s(?:\w{1,12}ly )?)(?:incorrect|wrong|false|untrue"
    r"|not (?:correct|right|true|the (?:right|correct|best)))\b|[✗✘❌]",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    r"\bbetween (?:options? )?[(*]{0,3}(?:[A-Za-z][)*]{0,3} and (?:option )?[(*]{0,3})?$", re.IGNORECASE
)
_LINE_LABEL = re.compile(
    r"^[ \t>*_\-]{0,6}[(\[]?([A-Za-z])[*_]{0,2}[)\].:][*_]{0,2}(?=\s|[*_])(?P<rest>[^\n]{0,300})", re.MULTILINE
)


def head_letter(text: str) -> Letter | Clash | None:
    """The letter with which a `plain` answer text opens; a clash when another is joined to it."""
    alone = _ALONE.match(text)
    if alone:
        return Letter(alone[1].upper(), alone.start(1))
    lead = _LEAD.match(text)
    if not lead or not _LETTER.match(text, lead.start(1)):
        return None
    at, end, letter = lead.start(1), lead.end(1), lead[1]
    if "?" in text[end : end + _ROOM_ASKED] and _CHOICE_ASKED.match(text, at):
        return None
    unclosed = not lead["next"].strip() and not _BRACKETED.search(text, 0, at)
    if unclosed and letter in "aI" and _ARTICLE_NEXT.match(text, end):
        return None
    bare = (
        lead["next"].strip() in ("", ",", ";")
        and not _AFTER_OPTION.search(text, 0, at)
        and not _BRACKETED.search(text, 0, at)
    )
    if bare and (letter.islower() or letter == "I" or (letter == "A" and _ARTICLE_NEXT.match(text, end))):
        return None
    if bare and (_FORMULA.match(text, end) or _VERB_NEXT.match(text, end)) and not _JOINED.match(text, end):
        return None
    if _WRONG_ROW.match(text, end) or _INITIALS.match(text, end) or _FAULTED.match(text, end):
        return None
    if lead["next"].strip(" *_`$") in ("", ",", ";", ")", "]", "}") and (clash := _joined(text, letter, end)):
        return clash
    if _WRONG.match(text, end) or _WRONG_LATER.search(
        text, end, text.find("\n", end) if "\n" in text[end:] else len(text)
    ):
        return None
    return Letter(letter.upper(), at)


def _joined(text: str, letter: str, end: int) -> Clash | None:
    """A clash when another letter is joined to the one that ends at `end`."""
    other = _JOINED.match(text, end)
    if not other or other[1].upper() == letter.upper() or _VERB_NEXT.match(text, other.end(1)):
        return None
    bare = text[other.start(1) - 1] not in "([{*_`$"
    if bare and (
        (other[1].islower() and letter.isupper()) or other[1] == "I" or _ARTICLE_NEXT.match(text, other.end(1))
    ):
        return None
    return Clash(f"two letters: {letter.upper()} and {other[1].upper()}")


def opening_line(text: str) -> Letter | None:
    """The letter that has the first line of a `plain` text to itself, where no other line is one letter alone."""
    first = _LETTER_LINE.match(text, len(text) - len(text.lstrip()))
    if first is None or "\n" not in text[first.end() :].rstrip():
        return None
    later = _LETTER_LINE.search(text, first.end())
    return None if later else Letter(first[1].upper(), first.start(1))


def line_letter(text: str) -> Letter | None:
    """The letter that has a line of a `plain` text to itself, or opens the first of several; None when they differ."""
    alone = list(_LETTER_LINE.finditer(text))
    if alone and len({line[1].upper() for line in alone}) == 1:
        return Letter(alone[-1][1].upper(), alone[-1].start(1))
    if not alone and not is_short(text) and text.lstrip(" \t\n(")[:1].islower():
        return None
    first, newline, _ = text.lstrip().partition("\n")
    found = head_letter(first) if newline and not alone else None
    return Letter(found.letter, found.at + len(text) - len(text.lstrip())) if isinstance(found, Letter) else None


def ends_a_list(text: str) -> bool:
    """Whether a `plain` text ends in a list of bare letters: two lines in a row, or three with blanks, that differ."""
    lines = text.rstrip()[-_SHORT:].split("\n")
    for tail, n in ((lines[-2:], 2), ([line for line in lines if line.strip()][-3:], 3)):
        alone = [line[1].upper() for line in map(_LETTER_LINE.fullmatch, tail) if line]
        if len(set(alone)) == n:
            return True
    return False


def prose_letter(text: str, n_choices: int) -> Letter | Clash | None:
    """The one letter that a `plain` text of any form commits to; letters past `n_choices` are no options."""
    low = lowered(text)
    if told := _TOLD.search(text, max(0, len(text) - _ROOM_ASKED)):
        return Letter(told[1].upper(), told.start(1))
    if verdicts := _verdicts(text):
        return verdicts
    labels = {label[1].upper(): label for label in _LINE_LABEL.finditer(text)}
    listed = {label.start(1) for label in labels.values()} if len(labels) > 1 else set()
    kept: list[Letter] = []
    right: list[Letter] = []
    bare = is_short(text)
    asked = [m.span() for m in _CHOICE_ASKED.finditer(text)] if bare and "?" in text else []
    matches = list(islice((m for m in reversed(_last_letters(text, n_choices)) if _weighs(text, m, bare=bare)), _MOST))
    for match in reversed(matches):
        letter, start, end = match[0].upper(), match.start(), match.end()
        if (
            any(a <= start < b for a, b in asked)
            or _is_faulted(text, end)
            or not asserts(low, start, end, adjacent=True)
        ):
            continue
        if _BETWEEN.search(text, max(0, start - 40), start):
            continue
        better = _BETTER.match(text, end) and _BUT_BEFORE.search(text, max(0, start - 20), start)
        if better or _RIGHT.match(text, end):
            right.append(Letter(letter, start))
        if start not in listed:
            kept.append(Letter(letter, start))
    for letters in (right, kept):
        names = sorted({letter.letter for letter in letters})
        if len(names) == 1:
            return letters[-1]
        if len(names) > 1:
            return Clash(f"{len(names)} letters: {', '.join(names)}")
    return None


def _verdicts(text: str) -> Letter | None:
    """The one option called right where each has its verdict behind it: `(A) false (B) true`."""
    found = list(islice(_VERDICT.finditer(text), _MOST)) if text.count("(") > 1 or text.count(")") > 1 else []
    right = [verdict for verdict in found if verdict["right"]]
    if len(right) != 1 or len({verdict[1].upper() for verdict in found}) != len(found) or len(found) < 2:
        return None
    return Letter(right[0][1].upper(), right[0].start(1))


def _is_faulted(text: str, end: int) -> bool:
    """Whether what follows a letter that ends at `end` calls its option wrong, or makes it no option."""
    return any(pattern.match(text, end) is not None for pattern in (_WRONG, _WRONG_ROW, _FAULTED, _INITIALS))


def _last_letters(text: str, n_choices: int) -> deque[re.Match[str]]:
    """The last `_MOST_TRIED` letters of options that stand alone; the end of a long text mostly has that many."""
    found: deque[re.Match[str]] = deque(maxlen=_MOST_TRIED)
    for start in (max(0, len(text) - _TAIL), 0):
        found.clear()
        found.extend(m for m in _LETTER.finditer(text, start) if ord(m[0].upper()) - 65 < n_choices)
        if len(found) == _MOST_TRIED or not start:
            break
    return found


def lists_options(text: str) -> bool:
    """Whether a `plain` text lists at least two options on lines of their own."""
    return len({label[1].upper() for label in _LINE_LABEL.finditer(text)}) > 1


def is_short(text: str) -> bool:
    """Whether a text is short enough for an undecorated letter in it to be an answer."""
    return len(text) <= _SHORT


def opens_option(text: str) -> bool:
    """Whether a `plain` line is one of a list of options and does not call its option right."""
    label = _LINE_LABEL.match(text)
    return label is not None and not _RIGHT.search(label["rest"])


def _weighs(text: str, match: re.Match[str], *, bare: bool) -> bool:
    """Whether a letter that stands alone names an option; `bare` ones (undecorated) do so only in short texts."""
    letter, start, end = match[0], match.start(), match.end()
    low = max(0, start - 30)
    if text[low:start].rstrip(_DECORATION).lower().endswith(_OPTION_ENDS) and _AFTER_OPTION.search(text, low, start):
        return not (letter in "aI" and _ARTICLE_NEXT.match(text, end))
    bracketed = (
        (bare or letter.isupper())
        and text[end : end + 6].lstrip("*_`$\"' ")[:1] in (")", "]", "}")
        and _BRACKETED.search(text, low, start) is not None
    )
    right = letter != "I" and _RIGHT.match(text, end) is not None
    if not (bare or bracketed or right):
        return False
    if _FORMULA.match(text, end) or _FORMULA_BEFORE.search(text, low, start) or _NAMES.search(text, low, start):
        return False
    if bracketed or letter == "I" or not bare:
        return bracketed or right
    if not right and _OF.search(text, low, start):
        return False
    if letter == "A":
        return not _ARTICLE_NEXT.match(text, end)
    if letter.isupper():
        return True
    if right and _OPENS_SENTENCE.search(text, low, start):
        return True
    return _AFTER_VERB.search(text, low, start) is not None and _ENDS.match(text, end) is not None
