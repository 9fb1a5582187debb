"""Reading mathematical notation into trees: what is one answer, what is none, and where limits hold."""

from __future__ import annotations

from fractions import Fraction

import pytest

from steelyard.parsing.latex import plain_words, read_math
from steelyard.parsing.latex_spelling import LONGEST, normal
from steelyard.parsing.latex_tokens import tokens
from steelyard.parsing.latex_tree import Node, Unreadable, const, depth, num, put, sym, symbols


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,234", 1234),
        ("1{,}234", 1234),
        ("1\\,234", 1234),
        ("2\\frac{1}{3}", Fraction(7, 3)),
        ("2\\frac13", Fraction(7, 3)),
        ("2 1/3", Fraction(7, 3)),
        ("0.1\\overline{6}", Fraction(1, 6)),
        ("1.5e2", 150),
        ("201_3", 19),
        ("(201)_3", 19),
        ("1A_{16}", 26),
        ("\\$1{,}234.50", Fraction(2469, 2)),
        ("\\text{8}", 8),
        ("٣", 3),
    ],
)
def test_a_number_is_one_leaf_with_its_exact_value(text: str, value: int | Fraction) -> None:
    """Thousands separators, mixed numbers, repeating decimals and bases belong to the number. [T-13]"""
    assert num(value) == read_math(text)


@pytest.mark.parametrize(
    ("text", "op"),
    [
        ("1, 2", "list"),
        ("(1, 2)", "tuple"),
        ("[1, 2)", "interval"),
        ("\\{1, 2\\}", "set"),
        ("{1, 2}", "set"),
        ("x=1", "rel"),
        ("x \\in [1,2]", "rel"),
        ("1:2", "ratio"),
        ("(1,2)\\cup(3,4)", "union"),
        ("\\begin{bmatrix}1&2\\end{bmatrix}", "matrix"),
        ("\\text{yes}", "words"),
        ("5\\text{ cm}", "unit"),
        ("3\\pm1", "add"),
        ("\\{x \\mid x>1\\}", "builder"),
        ("\\begin{cases}x=1\\\\y=2\\end{cases}", "list"),
    ],
)
def test_the_kind_of_a_statement_is_told_by_its_shape(text: str, op: str) -> None:
    """Brackets, separators and signs decide. [T-13]"""
    assert op == read_math(text).op


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "$$", "3 4", "3+", "*3", "(3", "3)", "\\frac{1}", "\\sqrt", "x^", "x^2^3^", "{}", "()", "3 % 2"),
        *("\\text{5", "\\foo 3", "because 5", "5 because", "x is 5", "\\begin{pmatrix}1&2\\\\3\\end{pmatrix}"),
        *("1,,2", ",1", "(1;2]3", "\\int x", "12_2", "@", "5 or", "5!!", "1:="),
    ],
)
def test_a_text_that_is_not_mathematics_to_its_end_is_refused(text: str) -> None:
    """No prefix of it is read instead. [T-13]"""
    with pytest.raises(Unreadable):
        read_math(text)


def test_implied_products_and_powers_bind_as_they_are_written() -> None:
    """2x^2y is 2 times x squared times y; a function takes the product after it. [T-13]"""
    assert Node("mul", (num(2), Node("pow", (sym("x"), num(2))), sym("y"))) == read_math("2x^2y")
    assert Node("fn", (Node("mul", (num(2), sym("x"))),), "sin") == read_math("\\sin 2x")
    assert Node("neg", (Node("pow", (sym("x"), num(2))),)) == read_math("-x^2")


def test_names_keep_their_letters_and_subscripts() -> None:
    """e, pi and i are constants, other letters are variables. [T-13]"""
    assert {"a_1", "B", "theta"} == symbols(read_math("a_1 + B\\theta"))
    assert const("pi") == read_math("π")
    assert set() == symbols(read_math("e^{i\\pi}"))


def test_words_are_folded_and_only_words_count() -> None:
    """Case and style vanish; a text with digits or signs is not words. [T-13]"""
    assert "no solution" == plain_words("\\text{No  solution}.")
    assert "" == plain_words("x = 5")
    assert "" == plain_words("x")


def test_spelling_is_made_one_before_tokens_are_cut() -> None:
    """Unicode signs, invisible characters and sizing commands become plain notation. [T-13]"""
    assert "-\\frac{1}{2}" == normal("−½")
    assert [t.text for t in tokens("(3,4)")] == [t.text for t in tokens("\\left( 3 ,\\; 4 \\right)")]
    assert read_math("3\u200b5") == read_math("35")


@pytest.mark.parametrize(
    "unit", ["(", "{", "\\sqrt{", "2^{", "\\frac{1}{", "|", "\\text{", "\\begin{pmatrix}", "-(", "\\sin(", "[", "\\{"]
)
def test_nesting_beyond_the_limit_is_refused_and_not_followed(unit: str) -> None:
    """Hostile nesting never reaches the interpreter's stack. [T-13]"""
    with pytest.raises(Unreadable):
        read_math(unit * 250)


@pytest.mark.parametrize("text", ["1/" * 900 + "1", "(1)!" * 400, "a\\cup " * 300 + "a", "1+" * 900 + "1"])
def test_long_chains_are_read_or_refused(text: str) -> None:
    """Left-nested trees have the same limit. [T-13]"""
    try:
        node = read_math(text)
    except Unreadable:
        return
    assert depth(node) <= 100


def test_a_text_beyond_the_longest_is_refused() -> None:
    """An answer is short. [T-13]"""
    with pytest.raises(Unreadable, match="longer than"):
        read_math("1" * (LONGEST + 1))


def test_a_variable_can_be_put_to_a_value() -> None:
    """Every occurrence is replaced. [T-13]"""
    assert read_math("3+3^2") == put(read_math("x+x^2"), "x", num(3))
