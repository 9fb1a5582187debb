"""The names that mathematical notation knows: commands, functions, constants, relation signs, separators.

Source: the LaTeX commands that published answers and model outputs use.
Easy to break: a name belongs to one table only.
"""

from __future__ import annotations

FUNCTIONS = frozenset((
    "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "arccot", "arcsec", "arccsc", "asin",
    "acos", "atan", "sinh", "cosh", "tanh", "coth", "sech", "csch", "arsinh", "arcosh", "artanh", "arcsinh",
    "arccosh", "arctanh", "asinh", "acosh", "atanh", "ln", "log", "lg", "exp", "sqrt", "cbrt", "abs", "floor",
    "ceil", "gcd", "lcm", "max", "min", "det", "sgn", "sign", "factorial", "binomial",
))  # fmt: skip


GREEK = frozenset((
    "alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta", "vartheta", "iota", "kappa",
    "lambda", "mu", "nu", "xi", "rho", "varrho", "sigma", "varsigma", "tau", "upsilon", "phi", "varphi", "chi",
    "psi", "omega", "Gamma", "Delta", "Theta", "Lambda", "Xi", "Sigma", "Upsilon", "Phi", "Psi", "Omega", "ell",
    "hbar",
))  # fmt: skip


RELATIONS = {
    "le": "<=", "leq": "<=", "leqslant": "<=", "leqq": "<=", "ge": ">=", "geq": ">=", "geqslant": ">=", "geqq": ">=",
    "lt": "<", "gt": ">", "ne": "!=", "neq": "!=", "in": "in", "approx": "~", "simeq": "~", "sim": "~", "equiv": "=",
    "cong": "~", "colon": ":", "coloneqq": "=",
}  # fmt: skip


OPERATORS = {
    "times": "*", "cdot": "*", "ast": "*", "star": "*", "bullet": "*", "div": "/", "pm": "pm", "mp": "mp",
    "cup": "cup", "bigcup": "cup", "cap": "cap", "setminus": "minus", "backslash": "minus", "over": "over",
    "choose": "choose",
}  # fmt: skip


OPEN = {
    "lfloor": "floor",
    "lceil": "ceil",
    "langle": "<",
    "lbrace": "set",
    "lbrack": "[",
    "{": "set",
    "lvert": "|",
    "lVert": "|",
}


CLOSE = {
    "rfloor": "floor",
    "rceil": "ceil",
    "rangle": "<",
    "rbrace": "set",
    "rbrack": "]",
    "}": "set",
    "rvert": "|",
    "rVert": "|",
}


CONSTANTS = {
    "pi": "pi", "infty": "inf", "emptyset": "empty", "varnothing": "empty", "dots": "dots", "ldots": "dots",
    "cdots": "dots", "dotsc": "dots", "R": "R", "Z": "Z", "N": "N", "Q": "Q", "C": "C", "reals": "R", "imath": "i",
    "exponentialE": "e", "imaginaryI": "i",
}  # fmt: skip


WORD_CONSTANTS = {"pi": "pi", "Pi": "pi", "PI": "pi", "infinity": "inf", "Infinity": "inf", "inf": "inf", "oo": "inf"}


SEPARATORS = {
    "and": "and", "or": "or", "und": "and", "oder": "or", "&": "and", "or else": "or", ", and": "and", ", or": "or",
    "y": "y", "和": "and", "或": "or", "或者": "or",
}  # fmt: skip


SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12, "dozen": 12}


SILENT = frozenset((
    "left", "right", "big", "Big", "bigg", "Bigg", "bigl", "bigr", "Bigl", "Bigr", "biggl", "biggr", "Biggl",
    "Biggr", "middle", "displaystyle", "textstyle", "scriptstyle", "limits", "nolimits", "quad", "qquad", "boxed",
    "fbox", "mathop", "mathord", "mathbin", "mathrel", "nonumber", "notag", "thinspace", "medspace", "thickspace",
    "enspace", "hfill", "break", "allowbreak", "strut", "bf", "rm", "it", "mathstrut",
    "smash", "tiny", "scriptsize", "footnotesize", "small", "normalsize", "large", "Large", "LARGE", "huge", "Huge",
    "pounds", "euro", "yen", "cents", "unicode", "ensuremath",
))  # fmt: skip


TEXT = frozenset((
    "text", "mbox", "textrm", "textbf", "textit", "textsf", "texttt", "textnormal", "hbox", "emph", "underline",
    "textup",
))  # fmt: skip


UPRIGHT = frozenset((
    "mathrm", "mathbf", "mathit", "mathsf", "mathtt", "mathnormal", "operatorname", "bm", "boldsymbol", "mathcal",
    "mathscr", "mathfrak", "pmb",
))  # fmt: skip


ACCENTS = frozenset(["vec", "overrightarrow", "hat", "widehat", "tilde"])
