"""Whether two numbers side by side are two named quantities, so that neither is the one answer.

`apogee 428.7 km, perigee 415.1 km` answers two questions; whichever was asked, taking the last is a guess.
Not covered: quantities that are not listed, and two sentences (the last one counts there).
Easy to break: `radius 3, so the height is 4` works one out from the other and commits to the last.
"""

from __future__ import annotations

import re

_NAMED = re.compile(
    r"\b(apogee|perigee|apoapsis|periapsis|aphelion|perihelion|minimum|maximum|min|max|lowest|highest|lower|upper|length"
    r"|width|height|depth|radius|diameter)\b(?:[ ](?:altitude|height|radius|distance|bound|limit|value))?[ ]?"
    r"(?:[:=]|is|of|at|was)?[ ]{0,2}$",
    re.IGNORECASE,
)
_BESIDE = re.compile(
    r"(?:[ ]?[,;/][ ]{0,2}(?:(?:and|while)[ ])?|[ ](?:and|while)[ ])(?:(?:the|its|an?)[ ])?", re.IGNORECASE
)
_BACK = 40


def two_names(text: str, left_start: int, left_end: int, right_start: int) -> tuple[str, str] | None:
    """The different names before two numbers that stand side by side; None where they do not."""
    left = _NAMED.search(text, max(0, left_start - _BACK), left_start)
    right = _NAMED.search(text, max(left_end, right_start - _BACK), right_start)
    if left is None or right is None or not _BESIDE.fullmatch(text, left_end, right.start()):
        return None
    names = left[1].lower(), right[1].lower()
    return names if names[0] != names[1] else None
