r"""One spelling for every character of mathematical notation, before it is cut into tokens.

Unicode signs become LaTeX or ASCII, spacing and sizing vanish, digit groups close up, delimiters of formulas go.
Not covered: macros that a text defines itself.
Easy to break: linear time; every pattern is anchored or bounded. `\\` ends a row and is no spacing.
"""

from __future__ import annotations

import re
import unicodedata

from steelyard.parsing.latex_tree import Unreadable

LONGEST = 4000
"""Characters; a longer text is no answer."""


_CHARS = {
    "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "‒": "-", "﹣": "-", "－": "-", "×": "\\times ", "·": "\\cdot ",
    "⋅": "\\cdot ", "∙": "\\cdot ", "∗": "*", "⁎": "*", "÷": "\\div ", "∕": "/", "⁄": "/", "√": "\\sqrt ",
    "∛": "\\sqrt[3] ", "∜": "\\sqrt[4] ", "π": "\\pi ", "∞": "\\infty ", "≤": "\\le ", "⩽": "\\le ", "≥": "\\ge ",
    "⩾": "\\ge ", "≠": "\\ne ", "∈": "\\in ", "∪": "\\cup ", "⋃": "\\cup ", "∩": "\\cap ", "∖": "\\setminus ",
    "±": "\\pm ", "∓": "\\mp ", "≈": "\\approx ", "≅": "\\approx ", "≡": "=", "∅": "\\emptyset ", "ℝ": "\\R ",
    "ℤ": "\\Z ", "ℕ": "\\N ", "ℚ": "\\Q ", "ℂ": "\\C ", "°": "^\\circ ", "º": "^\\circ ", "˚": "^\\circ ",
    "…": "\\dots ", "⌊": "\\lfloor ", "⌋": "\\rfloor ", "⌈": "\\lceil ", "⌉": "\\rceil ", "⟨": "\\langle ",
    "⟩": "\\rangle ", "∣": "|", "∥": "|", "′": "'", "’": "'", "“": '"', "”": '"', "，": ", ", "、": ", ", "；": "; ",
    "：": ":", "（": "(", "）": ")",
    "［": "[", "］": "]", "｛": "{", "｝": "}", "＝": "=", "＋": "+", "＊": "*", "／": "/",
    "＜": "<", "＞": ">", "％": "%", "。": ".", "．": ".",
    "⇒": "\\Rightarrow ", "∴": "\\therefore ", "ⅇ": "e", "ℯ": "e",
    "ⅈ": "i", "€": " ", "£": " ", "¥": " ", "₹": " ", "∧": " and ", "∨": " or ", "ℓ": "\\ell ", "µ": "\\mu ",
    "﹢": "+", "∶": ":", "ð": "", "\u2061": "", "\u2062": "\\cdot ", "\u2063": ",",
}  # fmt: skip


_GREEK_CHARS = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta", "θ": "theta",
    "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "ρ": "rho", "σ": "sigma", "τ": "tau",
    "υ": "upsilon", "φ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega", "Γ": "Gamma", "Δ": "Delta", "Θ": "Theta",
    "Λ": "Lambda", "Ξ": "Xi", "Σ": "Sigma", "Φ": "Phi", "Ψ": "Psi", "Ω": "Omega",
}  # fmt: skip
_TABLE = str.maketrans({**_CHARS, **{c: f"\\{name} " for c, name in _GREEK_CHARS.items()}})


_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿˣ", "0123456789+-()nx")


_SUBSCRIPT = str.maketrans("₀₁₂₃₄₅₆₇₈₉₊₋ₙ", "0123456789+-n")


_SUPERS = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿˣ]+")


_SUBS = re.compile("[₀₁₂₃₄₅₆₇₈₉₊₋ₙ]+")


_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


_GROUP_GLUE = re.compile(
    r"(?<=\d)(?:\{,\}|,\\!|\\!,|,\{\}|\{\\,\}|\\[,;: !]|,\\[,;: ]|\{ \})(?:\\!|\s)?(?=\d{3}(?!\d))"
)


_NEXT_EQUATION = re.compile(r"\\q?quad\s{0,3}(?=[a-zA-Z]\s{0,3}=)")


_BRACKETED_BASE = re.compile(r"\((\d{1,100})\)\s{0,3}_(?=\s{0,3}\{?\d)")


_HEXADECIMAL = re.compile(r"(?<![A-Za-z0-9\\_])(?=[0-9]{0,100}[A-Fa-f])([0-9A-Fa-f]{1,100})_\{?(1[1-6])\}?(?!\d)")


_DECIMAL_COMMA = re.compile(r"(?<=\d)\{,\}(?=\d)")


_SPACES = re.compile(r"\\\\|\\[,;:!> ]|~|\\\$|\\hspace\*?\{[^{}]{0,20}\}|\\(?=\s)|\$|\\[()]|\\\[|\\\](?!\d)|&nbsp;")


_UNSEEN = re.compile(r"\\(?:(?:text)?color\s{0,3}\{[A-Za-z!0-9]{1,20}\}|[hv]?phantom\s{0,3}\{[^{}]{0,40}\})")


_GOES_ON = re.compile(r"(?<![\d.])(\d{1,20}\.\d{0,8}?)(?:(\d)\2{2,20}|(\d{2,8})\3{1,5})(?:\.\.\.|\\[lc]?dots(?![a-z]))")


_ROW_SKIP = re.compile(r"\\\\\s{0,3}\[[^\[\]]{0,12}\]")


def normal(text: str) -> str:
    """`text` with one spelling for every character, spacing gone, and outer decoration dropped."""
    if len(text) > LONGEST:
        raise Unreadable(f"longer than {LONGEST} characters")
    text = text.strip()
    text = text[:-1] if text.endswith(" \\") else text  # the space of a `\\ ` at the end went with the white space
    if _NOT_ASCII.search(text):
        text = _SUPERS.sub(lambda m: f"^{{{m.group().translate(_SUPERSCRIPT)}}}", text)
        text = _SUBS.sub(lambda m: f"_{{{m.group().translate(_SUBSCRIPT)}}}", text)
        text = _NOT_ASCII.sub(_ascii, text.translate(_TABLE))
    if "**" in text and text.startswith("**") and text.endswith("**"):
        text = text[2:-2].strip()
    if "\\" in text or "$" in text or "{" in text or "~" in text:
        text = _UNSEEN.sub("", text) if "color" in text or "phantom" in text else text
        text = _ROW_SKIP.sub(r"\\\\ ", text)
        text = _GROUP_GLUE.sub("", text)
        text = _DECIMAL_COMMA.sub(".", text)
        text = _NEXT_EQUATION.sub(", ", text)
        text = _SPACES.sub(_space, text)
    if "..." in text or "dots" in text:
        text = _GOES_ON.sub(lambda m: f"{m[1]}\\overline{{{m[2] or m[3]}}}", text)
    if "_" in text:
        text = _BRACKETED_BASE.sub(r"\1_", text)
        text = _HEXADECIMAL.sub(_hexadecimal, text)
    return _trimmed(text)


def _hexadecimal(match: re.Match[str]) -> str:
    """A number with letters for digits, and its base, in decimal."""
    try:
        return str(int(match[1], int(match[2])))
    except ValueError:
        return match.group()


def _space(match: re.Match[str]) -> str:
    return {"\\!": "", "\\\\": "\\\\"}.get(match.group(), " ")


_END = re.compile(r"[\s.,;:]+((?:\}|\s)*)$")


def _trimmed(text: str) -> str:
    """Without a full stop, comma or colon at the end, nor inside a last closing brace."""
    text = text.strip()
    if text.endswith(("...", "\\dots")):
        return text
    text = text[:-2].rstrip() if text.endswith("\\\\") else text
    tail = len(text) - len(text.rstrip("} \t\n"))
    head = text[: len(text) - tail]
    stripped = head.rstrip(" \t\n.,;:`")
    if stripped.endswith("\\") or stripped == head:
        return text.strip("`")
    return (stripped + text[len(text) - tail :]).strip("`")


def _ascii(match: re.Match[str]) -> str:
    """One character that ASCII lacks: digits and vulgar fractions get their value, invisible ones vanish."""
    char = match.group()
    if char.isspace():
        return " "
    if unicodedata.category(char) == "Nd":
        return str(unicodedata.digit(char))
    if unicodedata.category(char) == "Cf":
        return ""
    plain = unicodedata.normalize("NFKC", char)
    if "⁄" in plain:
        top, bottom = plain.split("⁄")
        return f"\\frac{{{top}}}{{{bottom}}}" if top and bottom else char
    return plain if plain.isascii() and plain.isalpha() else char
