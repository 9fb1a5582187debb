"""The four words of a comparison. Pure.

With [lo, hi] the interval of the paired difference B - A and m the margin: better where lo > 0, worse where hi < 0,
no difference larger than m shown where -m < lo and hi < m, and else too small to tell. An effect that is significant
but smaller than the margin is still better or worse: the margin says what "no difference" may hide, not what matters.
"""

from __future__ import annotations

from steelyard.errors import InputError

BETTER = "better"
WORSE = "worse"
TOO_SMALL = "too small to tell"
MARGIN = 0.05
"""The margin where neither the user nor the suite's manifest names one."""


def no_difference(margin: float) -> str:
    """The third word, with its margin."""
    return f"no difference larger than {margin:g} shown"


def word(low: float, high: float, margin: float) -> str:
    """The word for an interval of the paired difference; InputError for a margin that is not in (0, 1]."""
    if not 0 < margin <= 1:
        raise InputError(f"the margin must lie in (0, 1], got {margin}")
    if low > 0:
        return BETTER
    if high < 0:
        return WORSE
    return no_difference(margin) if -margin < low and high < margin else TOO_SMALL


def agreed(words: list[str]) -> str:
    """The one word that all readings of the voids give; too small to tell where they differ or there is none."""
    return words[0] if words and len(set(words)) == 1 else TOO_SMALL
