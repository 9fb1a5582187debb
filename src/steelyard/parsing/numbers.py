r"""Numbers as people and models write them: one literal at a place in a text, read exactly.

Read: decimals with western or Indian digit groups (comma, any space, apostrophe, underscore, LaTeX `{,}`), a decimal
comma where nothing else fits, `0.\overline{3}`, `a/b`, vulgar and mixed fractions, `\frac`, and scientific notation
in any spelling.
Values are `Fraction`s built from the decimal text, so nothing is rounded.
Not covered: number words, other bases.
Easy to break: size. A literal of more than `MOST_DIGITS` digits, exponent counted, has no value, and no integer is
ever built from it; and linear time: no pattern nests one repetition in another.
"""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction
from typing import NamedTuple

MOST_DIGITS = 4000
"""Digits of significand and exponent together beyond which a number is not read (Python refuses text over 4300)."""


class Literal(NamedTuple):
    """An unsigned number at [start, end); `kind` is `number`, `fraction`, `expression`, `huge` or `noise`."""

    start: int
    end: int
    kind: str
    value: Fraction = Fraction(0)


_DASHES = "‐‑‒–—―⁃﹘﹣－"
_SPACES = "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_FOLD = {ord(c): "-" for c in _DASHES} | {ord(c): "\u00a0" for c in _SPACES}
_FOLD |= {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F) if code != 0xFF0D}
_FOLD |= {ord(a): b for a, b in zip("’‘ʼ＇٫٬∕⁄✕✖⨯⋅∙٪﹪＄￥￡μ∶", "''''.,//×××··%%$¥£µ:", strict=True)}
_SUPERSCRIPTS = {ord(a): b for a, b in zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻₀₁₂₃₄₅₆₇₈₉", "0123456789+-0123456789", strict=True)}
_INVISIBLE = re.compile("[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")
_SUPER_FRACTION = re.compile("([⁰¹²³⁴-⁹]+)[⁄/∕]([₀-₉]+)")
_OTHER_DIGIT = re.compile(r"[^\x00-\x7f]")


def fold(text: str) -> str:
    """One spelling for digits, dashes, spaces and signs, character by character; only invisible ones are removed."""
    if text.isascii():
        return text
    text = _INVISIBLE.sub("", text)
    text = _SUPER_FRACTION.sub(lambda m: f"{m[1].translate(_SUPERSCRIPTS)}/{m[2].translate(_SUPERSCRIPTS)}", text)
    return _OTHER_DIGIT.sub(_ascii_digit, text.translate(_FOLD))


def _ascii_digit(match: re.Match[str]) -> str:
    char = match.group()
    return str(unicodedata.decimal(char)) if char.isdecimal() else char


_SHORT_GROUP = r"[ ](?=\d{1,2}(?![\d.,/]))"
_SEPARATOR = (
    r"(?:[.,'_\u00a0]|[ ](?=\d{3}(?!\d))|\{,\}|,\\!|\\[,;:! ]"
    rf"|(?<=0\.000){_SHORT_GROUP}|(?<=0\.000[ ]\d{{3}}){_SHORT_GROUP})"  # only `0.000` cannot stand alone
)
_CHUNK = re.compile(rf"\.?\d+(?:{_SEPARATOR}\d+)*")
_PIECES = re.compile(rf"({_SEPARATOR})")
_PLAIN_SPACE = re.compile(r"(?<!\\)[ ]")
_ONE_SEPARATOR = {"{,}": ",", ",\\!": ","}
_VULGAR = {c: Fraction(unicodedata.numeric(c)).limit_denominator(10) for c in "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒↉"}
_VULGARS = "".join(_VULGAR)
_SUP = "⁰¹²³⁴-⁹"
_EXPONENT = re.compile(
    r"(?:[eE]|[ ]E[ ]?)([+\-−]?\d+)(?!\d)"
    r"|\*\^([+\-−]?\d+)"
    r"|[ \u00a0]{0,9}(?:[xX×*·]|[ ]times)[ \u00a0]{0,9}10[ ]?"
    rf"(?:(?:\^|\*\*)[ ]?[{{(]?[ ]?([+\-−]?[ ]?\d+)[ ]?[}})]?|<sup>([+\-−]?\d+)</sup>|([⁺⁻]?[{_SUP}]+)"
    r"|[ ]to the (?:power (?:of )?)?(-?\d+|minus \d+)(?:st|nd|rd|th)?)"
)
_POWER_OF_TEN = re.compile(
    rf"10(?:(?:\^|\*\*)[ ]?[{{(]?[ ]?([+\-−]?[ ]?\d+)[ ]?[}})]?|<sup>([+\-−]?\d+)</sup>|([⁺⁻]?[{_SUP}]+))"
)
_LATEX_FRACTION = re.compile(
    r"\\[dtc]?frac[ ]?(?:\{[ ]?(-?)[ ]?([\d.,]{1,40})[ ]?\}|(\d))[ ]?(?:\{[ ]?(-?)[ ]?([\d.,]{1,40})[ ]?\}|(\d))"
)
_SLASH = re.compile(r"/(-)(?=\d)|[ \u00a0]?/[ \u00a0]?")
_MIXED = re.compile(
    rf"(\d{{1,9}})(?:[ \u00a0]{{0,2}}([{_VULGARS}])"
    rf"|(?:[ \u00a0]{{1,2}}|[ ](?:and|&)[ ])(\d{{1,4}})/(\d{{1,4}})(?![\d/]))"
)
_NOISE = re.compile(
    r"\d{1,9}:\d{1,9}(?::\d{1,9})?(?:[.,]\d{1,9})?(?:[ ]?[AaPp]\.?[Mm]\b\.?)?"  # clock times and ratios
    r"|\d{4}-\d{1,2}-\d{1,2}(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,12})?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
    r"|\d{1,4}/\d{1,4}/\d{1,4}|\d{1,20}(?:-\d{1,20}){2,20}"
    r"|\d{1,2}(?:\.\d\d)?[ \u00a0]?(?:[AaPp]\.?[Mm]\b\.?|o'?clock|uhr\b|heures\b)"
    r"|\d{1,20}(?:st|nd|rd|th)\b|(?:1[0-9]|20)\d0'?s\b"
    r"|\d{1,9}[年月日号時点号](?:\d{1,9}[月日号時点分]){0,4}"
)
_ORDINARY = re.compile(
    r"(\d{1,15})(?:\.(\d{1,15}))?(?=[.,;!?*)\]}\"]{0,6}(?:\n|$)|[.,;!?*)\]}\"]{0,6}[ ](?![\dxXtaApPoOuUhE]|[^A-Za-z(]))"
)  # nothing follows that could belong to the number
_VERSION = re.compile(r"\d+\.\d+\.\d+(?:\.\d+)*(?:[-+]?[a-z]{1,9}\d{0,9})?")
_EUROPEAN = re.compile(r"[1-9]\d{0,2}(?:\.\d{3}){2,9}(?:,\d+)?(?![\d.])")
_POWER = re.compile(
    rf"(?:\^(?!\[)|\*\*(?=[{{(\d-]))[ ]?(?:\{{[^{{}}\n]{{0,20}}\}}|\(?[+\-−]?[\w.]{{0,12}}\)?)"
    rf"|[⁺⁻]?[{_SUP}]+(?![{_SUP}])|!(?=[ ]?[=/*×])"
)
_REPEATING = re.compile(r"(\d{1,15})\.(\d{0,15})\\overline[ ]?\{[ ]?(\d{1,15})[ ]?\}")
_MOST_SPACES = 4  # beyond, numbers side by side are a list; looking at each again would be quadratic
NUMBER_START = re.compile(rf"\d|\.(?=\d)|\\[dtc]?frac|[{_VULGARS}]")


def literal_at(text: str, at: int) -> Literal:
    """The literal that starts at a match of `NUMBER_START` in folded text."""
    ordinary = _ORDINARY.match(text, at)
    if ordinary:
        whole, decimals = ordinary.groups("")
        value = Fraction(int(whole + decimals), 10 ** len(decimals)) if decimals else Fraction(int(whole))
        return Literal(at, ordinary.end(), "number", value)
    if text[at] == "\\":
        return _latex_fraction(text, at)
    if text[at] in _VULGAR:
        return Literal(at, at + 1, "fraction", _VULGAR[text[at]])
    noise = _NOISE.match(text, at) or (None if _EUROPEAN.match(text, at) else _VERSION.match(text, at))
    if noise:
        return Literal(at, noise.end(), "noise")
    mixed = _MIXED.match(text, at)
    if mixed:
        part = _VULGAR[mixed[2]] if mixed[2] else _quotient(mixed[3], mixed[4])
        if part is not None and part < 1:
            return Literal(at, mixed.end(), "fraction", int(mixed[1]) + part)
    ten = _POWER_OF_TEN.match(text, at)
    if ten:
        return _scaled("1", ten[1] or ten[2] or ten[3], at, ten.end())
    return _decimal(text, at)


def _decimal(text: str, at: int) -> Literal:
    """A decimal, with what may follow it: an exponent, a `/` and a denominator, a LaTeX fraction, a power."""
    plain, end = _plain_at(text, at)
    if plain is None:
        return Literal(at, end, "noise")
    if text[end : end + 2] in (".\\", "\\o") and (repeating := _REPEATING.match(text, at)):
        return _repeated(repeating, at)
    exponent = _EXPONENT.match(text, end)
    if exponent:
        return _scaled(plain, next(g for g in exponent.groups() if g), at, exponent.end())
    part = end + 1 if text.startswith(" \\", end) else end
    if text.startswith(("\\frac", "\\dfrac", "\\tfrac"), part) and "." not in plain:
        rest = _latex_fraction(text, part)
        if rest.kind == "fraction":
            return Literal(at, rest.end, "fraction", int(plain[:MOST_DIGITS]) + rest.value)
    if text[end : end + 1] in ("^", "*", "!") or text[end : end + 1] > "~":
        power = _POWER.match(text, end)
        if power and text[end : power.end()] != "¹":
            return Literal(at, power.end(), "expression")
        if power:
            return _scaled(plain, "0", at, power.end())
    slash = _SLASH.match(text, end)
    if slash and text[slash.end() : slash.end() + 1].isdigit():
        return _over(text, plain, slash, at)
    return _scaled(plain, "0", at, end)


def _repeated(match: re.Match[str], at: int) -> Literal:
    r"""`1.2\overline{3}`, exactly: a quotient by so many nines and noughts."""
    whole, decimals, period = match.groups()
    under = (10 ** len(period) - 1) * 10 ** len(decimals)
    value = Fraction(int(whole + decimals + period) - int(whole + decimals), under)
    return Literal(at, match.end(), "number", value)


def _over(text: str, top: str, slash: re.Match[str], at: int) -> Literal:
    bottom, end = _plain_at(text, slash.end())
    if bottom is None or text[end : end + 1] == "^":
        return Literal(at, end, "noise")
    value = _quotient(top, bottom)
    if value is None:
        return Literal(at, end, "huge")
    spaced = slash.group() not in ("/", "/-")
    return Literal(at, end, "quotient" if spaced else "fraction", -value if slash[1] else value)


def _plain_at(text: str, at: int) -> tuple[str | None, int]:
    """Digits with a dot at most, and the end; None for digit groups that no convention makes."""
    chunk = _CHUNK.match(text, at)
    if chunk is None:
        return None, at + 1
    body = chunk.group()
    plain = _ungroup(body)
    space = _PLAIN_SPACE.search(body) if plain is None and body.count(" ") <= _MOST_SPACES else None
    if space:
        return _ungroup(body[: space.start()]), at + space.start()
    return plain, chunk.end()


def _ungroup(body: str) -> str | None:
    if body.isdigit():
        return body
    pieces = _PIECES.split(body)
    digits, marks = pieces[::2], [_ONE_SEPARATOR.get(m, "\u00a0" if m[0] in "\\ " else m) for m in pieces[1::2]]
    if not digits[0]:
        return "." + digits[1] if len(digits) == 2 else None
    kinds = set(marks)
    if kinds == {"."} and len(marks) == 1:
        return body
    if len(kinds) == 1 and _groups(digits, marks[0]):
        return "".join(digits)
    last = marks[-1]
    if last not in ".," or marks.count(last) != 1:
        return _grouped_decimals(digits, marks)
    whole = digits[:-1]
    if len(kinds) > 2 or not (len(whole) == 1 or _groups(whole, marks[0])):
        return None
    return "".join(whole) + "." + digits[-1]


def _grouped_decimals(digits: list[str], marks: list[str]) -> str | None:
    """Decimals that are grouped too: `3.141 592`."""
    kinds = set(marks) - {"\u00a0", "_"}
    if len(kinds) != 1 or len(set(marks)) != 2 or sum(m in kinds for m in marks) != 1:
        return None
    dot = next(i for i, m in enumerate(marks) if m in kinds)
    whole, decimals = digits[: dot + 1], digits[dot + 1 :]
    if marks[dot] not in ".," or any(len(d) != 3 for d in decimals[:-1]) or len(decimals[-1]) > 3:
        return None
    return "".join(whole) + "." + "".join(decimals) if len(whole) == 1 or _groups(whole, marks[0]) else None


def _groups(digits: list[str], mark: str) -> bool:
    """Whether digit groups are western (3) or Indian (2, the last 3)."""
    if digits[0].startswith("0") or len(digits[-1]) != 3:
        return False
    western = len(digits[0]) <= 3 and all(len(d) == 3 for d in digits[1:])
    return western or (mark != "." and len(digits[0]) <= 2 and all(len(d) == 2 for d in digits[1:-1]))


def _scaled(plain: str, exponent: str, at: int, end: int) -> Literal:
    value = decimal_value(plain, exponent)
    return Literal(at, end, "huge") if value is None else Literal(at, end, "number", value)


def decimal_value(plain: str, exponent: str = "0") -> Fraction | None:
    """`digits[.digits]` times ten to `exponent`, exactly; None when it has more than MOST_DIGITS digits."""
    exponent = exponent.translate(_SUPERSCRIPTS).replace("−", "-").replace(" ", "").replace("minus", "-")
    whole, _, decimals = plain.partition(".")
    if len(exponent.lstrip("+-0")) > 5:
        return Fraction(0) if not plain.strip("0.") else None
    power = int(exponent) - len(decimals)
    digits = (whole + decimals).lstrip("0") or "0"
    if len(digits) + abs(power) > MOST_DIGITS:
        return Fraction(0) if digits == "0" else None
    return Fraction(int(digits) * 10**power) if power >= 0 else Fraction(int(digits), 10**-power)


def _quotient(top: str, bottom: str) -> Fraction | None:
    over, under = decimal_value(top), decimal_value(bottom)
    return None if over is None or not under else over / under


def _latex_fraction(text: str, at: int) -> Literal:
    match = _LATEX_FRACTION.match(text, at)
    if match is None:
        return Literal(at, text.find("frac", at) + 4, "expression")
    top, bottom = _ungroup(match[2] or match[3]), _ungroup(match[5] or match[6])
    value = _quotient(top, bottom) if top and bottom else None
    if value is None:
        return Literal(at, match.end(), "expression")
    return Literal(at, match.end(), "fraction", -value if bool(match[1]) != bool(match[4]) else value)


def number_from_text(text: str) -> Fraction | None:
    """A number that is the whole text: what a target, a JSON string or a config may hold, grouped or not."""
    folded = fold(text).strip().replace("−", "-")
    sign, body = (-1, folded[1:]) if folded.startswith("-") else (1, folded.removeprefix("+"))
    match = NUMBER_START.match(body)
    if not match:
        return None
    literal = literal_at(body, 0)
    if literal.end != len(body) or literal.kind not in ("number", "fraction", "quotient"):
        trimmed = body[literal.end :]
        if trimmed != "." or literal.kind != "number":
            return None
    return sign * literal.value


def plain_text(value: Fraction) -> str:
    """`value` as decimal text where that is exact, else as `a/b`."""
    rest, twos, fives = value.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    places = max(twos, fives)
    if rest != 1 or places > 400:
        return f"{'-' if value < 0 else ''}{_digits(abs(value.numerator))}/{_digits(value.denominator)}"
    digits = _digits(abs(value.numerator) * 10**places // value.denominator)
    if places:
        digits = digits.rjust(places + 1, "0")
        digits = f"{digits[:-places]}.{digits[-places:]}"
    return f"-{digits}" if value < 0 else digits


def _digits(number: int) -> str:
    """The decimal digits of an integer >= 0 of any size, in pieces, because Python refuses to print very long ones."""
    pieces = []
    while number.bit_length() > _MOST_PRINTED_BITS:
        number, piece = divmod(number, _PIECE)
        pieces.append(str(piece).rjust(MOST_DIGITS, "0"))
    return "".join([str(number), *reversed(pieces)])


_PIECE = 10**MOST_DIGITS
_MOST_PRINTED_BITS = 13_000  # some 3,900 digits
