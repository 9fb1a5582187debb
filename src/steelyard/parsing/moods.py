"""Whether a marked answer commits: suppositions, other people's answers, denials and withdrawals.

Every test looks at one sentence, at most `BACK` characters of it, so reading a reply stays linear.
Not covered: irony, and quotation across sentences. Cue words are English, with a few German and Chinese ones.
Easy to break: `if we add them, the answer is 5` commits; `if the answer is 5, ...` does not.
"""

from __future__ import annotations

import re
from collections import deque

from steelyard.parsing.alternatives import Alternative, Alternatives
from steelyard.parsing.markers import Mark, word_starts
from steelyard.parsing.patterns import late

BACK = 200
_W, _E = r"(?<![^\W_])", r"(?![^\W_])"

_SENTENCE_START = late(r"[.!?;…][\"'”’)\]*_]{0,3}\s|[\n。！？；]")
_SENTENCE_END = late(r"[.!?…][\"'”’)\]*_`]{0,3}(?=\s|$)|[\n。！？；]|;(?=\s)")
_ABBREVIATION = late(
    r"(?:^|[\s(])(?:st|mt|ft|dr|mr|mrs|ms|prof|jr|sr|vs|no|nr|fig|eq|approx|ca|cf|e\.g|i\.e|z\.b|d\.h|u\.s|a\.m|p\.m)$",
    re.IGNORECASE,
)
_ME = late(
    rf"{_W}(?:i|we)(?:['’]d)? (?:\w{{1,12}} )?(?:think|believe|say|conclude|guess|claim|bet|would say)(?:"
    rf" that)?[ \t,:]{{0,2}}(?:(?:the|my|our|final|correct)[ \t]){{0,3}}$",
    re.IGNORECASE,
)
_SUPPOSED = late(
    rf"{_W}(?:if|suppose|supposing|assuming|assume|unless|whether|imagine|pretend|wenn|falls|如果|假设"
    rf"|假如)(?:[ \t]that)?[ \t,]{{0,2}}"
    r"(?:(?:the|my|your|our|its|this|final|correct|right|die|der)[ \t]){0,3}$",
    re.IGNORECASE,
)
_CONDITION = late(rf"{_W}(?:if|had|were|suppose|supposing|imagine|unless){_E}", re.IGNORECASE)
_SUBJUNCTIVE = late(rf"{_W}(?:were|was|had|did|instead){_E}", re.IGNORECASE)
_WOULD = late(rf"{_W}(?:would|could|might){_E}", re.IGNORECASE)
_SAYS = (
    r"(?:says?|said|thinks?|thought|claims?|claimed|argues?|argued|suggests?|suggested|believes?|believed|guess(?:es"
    r"|ed)?|wrote|writes"
    r"|insist(?:s|ed)?|assert(?:s|ed)?|told|assumes?|assumed|reckons?|answer(?:s|ed)|maintains?|object(?:s|ed)?"
    r"|expects?)"
)
_OTHERS = late(
    rf"{_W}(?:(?i:friends?|colleagues?|students?|teachers?|textbooks?|book|articles?|site|forum|someone|somebody"
    r"|anyone|some|people|others?"
    r"|another|many|most|few|one|they|he|she|user|model|assistant|classmates?|critics?|novices?|beginners?|guessers?"
    rf"|you){_E}[^.;]{{0,60}}?{_W}(?i:{_SAYS}|tempted){_E}"
    rf"|[A-Z][a-z]{{2,14}}[ \t](?:once |also |might |would |will |may )?{_SAYS}{_E})"
    rf"|{_W}(?i:his|her|their|your|friend['’]s|book['’]s|student['’]s|user['’]s|teacher['’]s|wrong|incorrect|tempting"
    r"|naive|popular|possible"
    rf"|candidate|previous|old|alternative|obvious|no)[ \t]$"
)
_TURN = late(rf"{_W}(?:but|however|although|in fact|in reality|actually|yet){_E}|;|[—–]|, (?:and|so) ", re.IGNORECASE)
_TRICKED = late(
    rf"^\s*(?:initially|at first|originally|first)[, ]{{0,2}}$|{_W}(?:(?:first|initially|originally|once|wrongly"
    rf"|mistakenly)[ \t](?:\w{{1,10}}[ \t])?(?:thought|believed|assumed|guessed|said|wrote|had|got)"
    r"|(?:thought|guessed|assumed)[ \t](?:at first|initially)|used to think|had thought|might think|mistakenly"
    rf"|wrongly){_E}",
    re.IGNORECASE,
)
_DENIED = late(
    rf"(?:{_W}(?:not|never|cannot|false|wrong|incorrect|untrue|mistaken|no way|impossible|doubt|deny|nor|denies"
    rf"|denied)|n['’]t){_E}[^,;:]{{0,40}}?"
    rf"{_W}(?:that|think|believe|say|claim|mean|conclude|doubt|deny){_E}[^,;:]{{0,15}}$",
    re.IGNORECASE,
)
_NO_DENIAL = late(
    rf"{_W}(?:no|without(?: any| a)?|not? (?:in|be)|(?:do|can) ?not|n['’]t|never)[ \t](?:\w{{1,12}}[ \t])?(?:doubt"
    r"|question|deny(?:ing)?|denied)"
    r"|no (?:dispute|denying)",
    re.IGNORECASE,
)
_NOT = late(
    rf"[*_ \t]{{0,4}}(?:definitely |certainly |clearly |surely |simply |of course )?(?:not(?! only)|never|neither"
    r"|nicht|no longer"
    rf"|(?:is|was|are|ca|wo|could|would)n['’]t(?: be)?|不是|не){_E}",
    re.IGNORECASE,
)
_BUT = late(
    r"(?:[,;:—–]\s?|\s)(?:but(?: rather)?|rather|sondern|instead|it['’]s|it is)(?![^\W_])[,:]?\s?(?:it['’]s |it is )?"
    r"|而是"
    r"|[.;—–-]\s{0,2}(?:it|that|the correct (?:one|answer))(?:['’]s| is)\s",
    re.IGNORECASE,
)
_REASON = late(
    r",?[ \t](?:because|(?<=,[ \t])(?:since|as|so|which|where|given|due to|for|but|and (?:that|this|so)))(?![^\W_])"
    r"|[ \t](?:rather than|instead of|as opposed to|and not|(?<=,[ \t])not|(?<=[—–-][ \t])not)(?![^\W_])",
    re.IGNORECASE,
)
_WORKED_OUT = late(
    r"(?:the|an?)[ \t](?:[\w$\\{}^-]{1,20}[ \t]){0,3}?of[ \t][^.;\n]{1,120}?,[ \t]which[ \t](?:is|equals|gives|makes"
    r"|comes to)[ \t](?=[*$]{0,4}-?\d|\$\\?\w|\\\(|\\boxed|\\frac)"
    r"|that[ \t][^.;\n]{1,120}?,[ \t](?:and )?so[ \t](?:(?:it|that|there|she|he|they)[ \t](?:\w{1,8}[ \t])?)?"
    r"(?=[*$]{0,4}-?\d[\d.,/]{0,20}[*$%]{0,4}(?:[ \t]\w{1,12})?$)",
    re.IGNORECASE,
)
"""`the sum of a and b, which is 7`, `that she has 3 and 6, so 9`: a description with its value behind it."""
_WITHDRAWN = Alternatives(
    [
        Alternative(r"no[,.]?[ \t]wait", (("wait",),)),
        Alternative(r"wait[,.!—–-]{0,2}[ \t](?:no|that['’]s not|that is not|i made)", (("wait",),)),
        Alternative(
            r"(?:scratch|strike|disregard|forget|ignore|cancel|undo)[ \t](?:that|this|it|the above|my (?:previous|last"
            r"|earlier|first))",
            (("scratch", "strike", "disregard", "forget", "ignore", "cancel", "undo"),),
        ),
        Alternative(r"correction(?=[ \t]?[,:—–-])", (("correction",),)),
        Alternative(r"(?:oops|whoops)", (("oops",),)),
        Alternative(
            r"i (?:must |have to |hereby )?(?:take (?:that|it|this) back|retract|withdraw)",
            (("take that back", "take it back", "take this back", "retract", "withdraw"),),
        ),
        Alternative(r"on second thoughts?", (("on second thought",),)),
        Alternative(r"i (?:was|am|were) (?:wrong|mistaken)", ((" wrong", " mistaken"), ("i was", "i am", "i were"))),
        Alternative(
            r"i(?:['’]ve| have)? (?:misread|miscalculated|miscounted|misspoke|forgot|made (?:an?|the|some)"
            r"(?: \w{1,12})? (?:mistake|error|slip)s?)",
            (("misread", "miscalculated", "miscounted", "misspoke", "forgot", "mistake", "error", "slip"),),
        ),
        Alternative(r"my (?:mistake|bad)", (("my mistake", "my bad"),)),
        Alternative(r"let me (?:correct|fix|redo|revise|change)", (("let me ",),)),
        Alternative(
            r"i(?: hereby)? (?:will )?change my (?:mind|answer)|changing my (?:mind|answer)",
            (("change my", "changing my"),),
        ),
    ],
    _E,
)
_AT_ONCE = late(
    rf"[\s.,;:!)*\"”’$}}\]—–…-]*(?:(?:no|sorry|nope)[,.!—–]{{1,2}}\s|(?:that|this|which)(?:['’]s| is| was| can['’]t be"
    r"| cannot be)[ \t]"
    rf"(?:wrong|incorrect|false|not (?:right|correct|true|it)){_E}|never ?mind{_E}|(?:or )?rather{_E}|i mean[t]?{_E}"
    rf"|make (?:that|it){_E})",
    re.IGNORECASE,
)
_INLINE = late(
    rf"[,.…—–-]\s{{0,2}}(?:or rather|i mean[t]?|sorry|make (?:that|it)|er+m?,|uh,|no,){_E}",
    re.IGNORECASE,
)
_SOFT = late(rf"{_W}(?:actually|wait|hmm+|hold on)[,.…!—–-]{{0,3}}[ \t]", re.IGNORECASE)
_IT_IS = late(
    r"[\s,;:.!…—–-]*(?:(?:no|wait|sorry|rather|actually|instead|then|so|and|but|i mean[t]?)[,:.]?\s{1,2}){0,3}"
    r"(?:(?:it|that|this|(?:the|my) (?:correct |right |final |new )?(?:one|value|answer))(?:['’]s| is| must be| should"
    r" be| should read| was| has to be|['’]d be)[ \t]"
    r"|make (?:that|it)[ \t])?(?:actually |really |in fact |instead )?",
    re.IGNORECASE,
)


def sentence_start(text: str, at: int) -> int:
    """Where the sentence around `at` starts, at most `BACK` characters back."""
    low = max(0, at - BACK)
    start = low
    for stop in _SENTENCE_START.finditer(text, low, at):
        start = stop.end()
    return start


def sentence_end(text: str, at: int, limit: int) -> int:
    """Where the sentence from `at` on ends (without its stop), at most `limit`."""
    for stop in _SENTENCE_END.finditer(text, at, limit):
        if text[stop.start()] != "." or not _ABBREVIATION.search(text, max(at - 1, stop.start() - 8), stop.start()):
            return stop.start()
    return limit


def asserts(text: str, mark: Mark) -> bool:
    """Whether the sentence before a mark lets it commit its speaker."""
    if mark.rule not in ("label", "phrase"):
        return True
    before = text[sentence_start(text, mark.start) : mark.start]
    turn = max((m.end() for m in _TURN.finditer(before)), default=0)
    before = before[turn:]
    if not before or _ME.search(before):
        return True
    if _SUPPOSED.search(before) or _OTHERS.search(before) or _TRICKED.search(before):
        return False
    if _CONDITION.search(before) and _SUBJUNCTIVE.search(before) and _WOULD.search(text, mark.start, mark.content):
        return False
    if _DENIED.search(before) and not _NO_DENIAL.search(before):
        return False
    return not _quoted(text, before, mark)


def _quoted(text: str, before: str, mark: Mark) -> bool:
    """Whether a quotation opens before the mark in its sentence; the key of a JSON object is none."""
    if before.count("“") > before.count("”"):
        return len(before.strip()) > 1
    if before.count('"') % 2 == 0:
        return text[mark.start - 2 : mark.start] == "> " and "\n" in text[mark.end :].strip()
    return not before.endswith('"') and not before.startswith('"')


def positive(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The asserted span inside [start, end): `y` of `not x but y`, `x` of `x, not y`; None when all is denied."""
    denied = _NOT.match(text, start, end)
    if denied:
        but = _BUT.search(text, denied.end(), min(len(text), start + BACK))
        if not but:
            return None
        start = but.end()
        end = sentence_end(text, start, min(len(text), start + BACK))
    worked_out = _WORKED_OUT.match(text, start, end)
    if worked_out:
        start = worked_out.end()
    reason = _REASON.search(text, start + 1, end)
    end = reason.start() if reason else end
    return start, end - 1 if reason and text[end - 1] in ",;" else end


def withdrawal(text: str, low: str, mark: Mark, end: int, below: int) -> tuple[int, int] | None:
    """Where a withdrawal of the mark starts and ends, looking up to `below`; `low` is the text in lower case."""
    inside = mark.rule in ("label", "phrase")
    cues = [
        next(word_starts(_WITHDRAWN, low, mark.content if inside else end, below), None),
        _AT_ONCE.match(text, end, below),
    ]
    if inside:
        cues.append(_INLINE.search(text, mark.content + 1, min(below, end + 1)))
    spans = [cue.span() for cue in cues if cue]
    return min(spans) if spans else None


def doubt(text: str, start: int, below: int) -> int | None:
    """Where a soft second thought (`actually, it is x`) ends; it replaces an answer only when it names one."""
    cue = _SOFT.search(text, start, min(below, start + 2 * BACK))
    return cue.end() if cue else None


def corrected(text: str, cue: int) -> tuple[int, int] | None:
    """The span of what a correction puts in the place of the withdrawn answer."""
    lead = _IT_IS.match(text, cue)
    start = lead.end() if lead else cue
    return positive(text, start, sentence_end(text, start, min(len(text), start + BACK)))


def last_withdrawal(low: str) -> int | None:
    """Where the last withdrawal in unmarked lower-case prose ends."""
    cues = deque(word_starts(_WITHDRAWN, low), maxlen=1)
    return cues[0].end() if cues else None
