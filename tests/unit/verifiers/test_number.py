"""The number verifier: bands, units, and what an answer commits to."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judged import own_answers_are_made_and_judged, reading_of
from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.verdict import Reading, Unread, Verdict
from steelyard.verifiers.registry import Bound, bind_spec


def _bind(target: str, **config: Any) -> Bound:
    return bind_spec({"name": "number", **config}, target)


def _verdict(answer: str, target: str, **config: Any) -> Verdict:
    bound = _bind(target, **config)
    return bound.decide(bound.read(Attempt(answer=answer)))


# Each row: an answer, the target, whether it is right. One list a kind of trap.
DIGITS = [
    ("That leaves 318 tickets", "18", False),
    ("180 or thereabouts", "18", False),
    ("I count -12 in the end", "12", False),
    ("I count -12 in the end", "-12", True),
    ("the loss comes to -0.75", "-0.75", True),
    ("roughly 21.72", "1.72", False),
    ("0.50", "1/2", True),
    ("00042", "42", True),
    ("+3.5", "3.5", True),
    ("-0.0", "0", True),
    ("9.9999999", "10", False),
    ("2e4", "20000", True),
    ("20000", "2e4", True),
    (".125", "1/8", True),
]
PUNCTUATION = [
    ("It must be 96!", "96", True),
    ("96?", "96", True),
    ("Is it 96?!", "96", True),
    ("Total (96).", "96", True),
    ("<96>", "96", True),
    ('"96"', "96", True),
    ("‘96’", "96", True),
    ("The result: 96;", "96", True),
    ("96…", "96", True),
    ("_96_", "96", True),
    ("***96***", "96", True),
    ("> **96**", "96", True),
    ("```\n96\n```", "96", True),
    ("$$96$$", "96", True),
    ("\\(96\\)", "96", True),
    ("\\[ x = 96 \\]", "96", True),
    ("$\\mathbf{96}$", "96", True),
    ("\\boxed{\\text{96}}", "96", True),
    ("\\boxed{96 \\text{ apples}}", "96", True),
    ("| total | 96 |", "96", True),
]
GROUPS = [
    ("2,450,000 people", "2450000", True),
    ("2,450,000 people", "450000", False),
    ("12,000", "12", False),
    ("24,50,000 rupees", "2450000", True),
    ("2 450 000", "2450000", True),
    ("2\u00a0450\u00a0000", "2450000", True),
    ("2\u202f450\u202f000", "2450000", True),
    ("2\u2009450\u2009000", "2450000", True),
    ("2'450'000", "2450000", True),
    ("2’450’000", "2450000", True),
    ("2_450_000", "2450000", True),
    ("2{,}450{,}000", "2450000", True),
    ("$2\\,450\\,000$", "2450000", True),
    ("2.450.000", "2450000", True),
    ("2.450.000,75", "2450000.75", True),
    ("2,450,000.75", "2450000.75", True),
    ("2 450,75", "2450.75", True),
    ("1.250", "1.25", True),
    ("1,250", "1250", True),
    ("1,25", "1.25", True),
    ("0,125", "0.125", True),
    ("1,2,3", "3", False),
    ("12,3456", "12.3456", True),
    ("1,00,00", "10000", False),
    ("2,450, 000", "2450000", False),
]
UNICODE = [
    ("result: −14", "-14", True),
    ("result: –14", "-14", True),
    ("result: —14", "-14", True),
    ("result: －14", "-14", True),
    ("result: ‑14", "-14", True),
    ("result: −14", "14", False),
    ("it is ２７", "27", True),
    ("٢٧", "27", True),
    ("२७", "27", True),
    ("５，０００", "5000", True),
    ("⅔", "2/3", True),
    ("7¾", "7.75", True),
    ("-7¾", "-7.75", True),
    ("7 ¾", "7.75", True),
    ("⁵⁄₈", "0.625", True),
    ("5⁄8", "0.625", True),
    ("1\u200b8", "18", True),
    ("1\u200b8", "8", False),
    ("\ufeff18", "18", True),
    ("答案是18。", "18", True),
    ("答案是18个", "18", True),
]
SCIENTIFIC = [
    ("6.02e2", "602", True),
    ("6.02E+02", "602", True),
    ("6.02 E2", "602", True),
    ("6.02 * 10^2", "602", True),
    ("6.02*10**2", "602", True),
    ("6.02 · 10²", "602", True),
    ("6.02×10²", "602", True),
    ("6.02×10⁻²", "0.0602", True),
    ("6.02 x 10^(-2)", "0.0602", True),
    ("$6.02 \\cdot 10^{-2}$", "0.0602", True),
    ("$-6.02 \\times 10^2$", "-602", True),
    ("6.02×10<sup>2</sup>", "602", True),
    ("6.02 times 10^2", "602", True),
    ("6.02 times 10 to the power of 2", "602", True),
    ("10^4", "10000", True),
    ("6.02 × 10^2", "2", False),
    ("6.02 × 10^2", "10", False),
    ("6.02e-2", "602", False),
    ("1,5e3", "1500", True),
]
FRACTIONS = [
    ("5/8", "0.625", True),
    ("-5/8", "-0.625", True),
    ("5 / 8", "0.625", True),
    ("\\dfrac{5}{8}", "0.625", True),
    ("\\frac58", "0.625", True),
    ("-\\frac{5}{8}", "-0.625", True),
    ("3\\frac{1}{4}", "3.25", True),
    ("3 1/4 cups", "3.25", True),
    ("3 and 1/4 cups", "3.25", True),
    ("-3 1/4", "-3.25", True),
    ("5/8", "8", False),
    ("5/8", "5", False),
    ("6/0", "6", False),
    ("1/3", "0.333", False),
]
LATER_NUMBERS = [
    ("The answer is 64 (in 3 steps)", "64", True),
    ("The answer is 64 (in 3 steps)", "3", False),
    ("The answer is 64 (2019 figure).", "64", True),
    ("It is 64 [3].", "64", True),
    ("It is 64 [3][4].", "64", True),
    ("It is 64[3].", "64", True),
    ("It is 64 [2, 5].", "64", True),
    ("It is 64.¹", "64", True),
    ("It is 64【4†source】", "64", True),
    ("It is 64 [^2]", "64", True),
    ("It is 64 (Smith, 2020).", "64", True),
    ("The answer is 64, based on 2021 data.", "64", True),
    ("So it is 64.\nConfidence: 90%", "64", True),
    ("So it is 64.\n\nConfidence: 0.9", "64", True),
    ("So it is 64.\nConfidence (0-100): 90", "64", True),
    ("It is 64. I am 90% sure.", "64", True),
    ("It is 64 (90% confident).", "64", True),
    ("I'm 90% certain that it is 64", "64", True),
    ("64\nCertainty: 9/10", "64", True),
    ("Confidence: 90%", "90", False),
    ("The total is 64.\n\nNote: I used 2 formulas.", "64", True),
    ("64\n\nThat took 3 steps.", "64", True),
    ("In 1987 there were 64.", "64", True),
    ("There were 64 in 1987.", "64", True),
    ("There were 64 in 1987.", "1987", False),
    ("The war ended in 1945.", "1945", True),
    ("Checked on 2024-03-05: 64", "64", True),
    ("It is 64, as of 5 March 2024.", "64", True),
    ("It is 64 as of March 5, 2024", "64", True),
    ("On 03/05/2024 it was 64", "64", True),
    ("It is 64, not 65.", "64", True),
    ("It is 64, not 65.", "65", False),
    ("64 rather than 65", "64", True),
    ("It is not 65.", "65", False),
    ("See https://example.org/a/77", "77", False),
    ("It is 64, see https://example.org/a/77", "64", True),
]
UNCOMMITTED = [
    ("somewhere between 30 and 40", "40", False),
    ("30-40", "40", False),
    ("30–40", "30", False),
    ("30 to 40", "30", False),
    ("from 30 to 40", "40", False),
    ("30 ~ 40", "40", False),
    ("30...40", "40", False),
    ("30 or 40", "40", False),
    ("either 30 or 40", "30", False),
    ("30 (or 40)", "30", False),
    ("30 or maybe 40", "40", False),
    ("It's 30 apples or 40 apples", "40", False),
    ("The answer is 30 or 40", "30", False),
    ("The answer is 30 and 40", "30", False),
    ("30, 40", "40", False),
    ("[30, 40]", "40", False),
    ("(30, 40)", "30", False),
    ("10 - 4", "-4", False),
    ("10-4", "-4", False),
    ("10 + 4", "14", False),
    ("10 + 4", "4", False),
    ("2 * 7", "7", False),
    ("2 × 7", "14", False),
    ("x = 10 + 4", "4", False),
    ("10 + 4 = 14", "14", True),
    ("14 = 10 + 4", "14", True),
    ("x = 14", "14", True),
    ("2 * 7 = 14 apples", "14", True),
    ("10 - 14 = -4", "-4", True),
    ("10 - 14 = -4", "4", False),
    ("$10 + $4 = $14", "14", True),
    ("20% of 50", "50", False),
    ("20% of 50 = 10", "10", True),
    ("2^5", "2", False),
    ("2^5", "5", False),
    ("2^5 = 32", "32", True),
    ("0.5 or 1/2", "0.5", True),
    ("±6", "6", False),
    ("> 6", "6", False),
    ("6 ± 0.5", "6", True),
]
NO_NUMBERS = [
    ("COVID-19", "19", False),
    ("It was an F-16", "16", False),
    ("H2O", "2", False),
    ("item x7", "7", False),
    ("7b", "7", False),
    ("5x", "5", False),
    ("4th", "4", False),
    ("the 1990s", "1990", False),
    ("v3", "3", False),
    ("release 3.11", "3.11", False),
    ("Python 3.11.4", "4", False),
    ("10.0.0.1", "1", False),
    ("07:45", "45", False),
    ("7:45 pm", "7", False),
    ("at 7 pm", "7", False),
    ("7 o'clock", "7", False),
    ("2024-03-05", "5", False),
    ("03/05/2024", "2024", False),
    ("5 March 2024", "5", False),
    ("March 5", "5", False),
    ("Call 555-0199", "555", False),
    ("+44 20 7946 0958", "958", False),
    ("See Table 4", "4", False),
    ("Figure 12 shows it", "12", False),
    ("Apollo 11", "11", False),
    ("Room 101", "101", False),
    ("f(3)", "3", False),
    ("log2(8)", "8", False),
    ("x_1", "1", False),
    ("x^2", "2", False),
    ("2x + 3", "3", False),
    ("√16", "16", False),
    ("2π", "2", False),
    ("a ratio of 3:2", "2", False),
    ("file_12.txt", "12", False),
    ("me@host12.org", "12", False),
    ("nan", "0", False),
    ("-inf", "0", False),
    ("no idea", "1", False),
    ("   ", "0", False),
]
HOSTILE = [
    ("1e9999999999", "1", False),
    ("1e-9999999999", "0", False),
    ("0e9999999999", "0", True),
    ("8" * 30_000, "8", False),
    ("8" * 5_000, "8", False),
    ("0." + "0" * 30_000 + "1", "0", False),
    ("1/" + "0" * 50, "1", False),
    ("-" * 10_000 + "5", "6", False),
]
UNITS_DROPPED = [
    ("$1,250.00", "1250", True),
    ("-$12", "-12", True),
    ("$-12", "-12", True),
    ("−€12", "-12", True),
    ("€12", "12", True),
    ("12€", "12", True),
    ("12 EUR", "12", True),
    ("USD 12", "12", True),
    ("US$12", "12", True),
    ("₹12,34,567", "1234567", True),
    ("12 km", "12", True),
    ("12km", "12", True),
    ("12km", "12000", False),
    ("12 km/h", "12", True),
    ("12 m/s^2", "12", True),
    ("12°", "12", True),
    ("12 °C", "12", True),
    ("-12°C", "-12", True),
    ("12kg", "12", True),
    ("5s", "5", True),
    ("$12$ km", "12", True),
    ("50 cents", "50", True),
    ("25%", "0.25", True),
    ("25 percent", "0.25", True),
    ("25\\%", "1/4", True),
    ("2.5 million", "2500000", True),
    ("$3 billion", "3000000000", True),
]
MARKS = [
    ("First I got 7. Final answer: 9", "9", True),
    ("Answer: 9\n\nQuestion: how many are 4 and 4?\nAnswer: 8", "9", True),
    ("<think>maybe 5</think>9", "9", True),
    ("<think>maybe 5, or 9", "9", False),
    ("5</think>\n9", "9", True),
    ("\\boxed{5} no wait, \\boxed{9}", "9", True),
    ("~~5~~ 9", "9", True),
    ("#### 9", "9", True),
    ("#### -9", "9", False),
    ("#### $9", "9", True),
    ("#### 9 apples", "9", True),
    ("The answer is 9 since 3 of the 12 are gone.", "9", True),
    ("The answer is 9 in 3 steps.", "9", True),
    ("**Answer:** 9", "9", True),
    ("Answer: x = 9", "9", True),
    ("Answer: approximately 9", "9", True),
    ('{"answer": 9}', "9", True),
    ('```json\n{"answer": "9", "confidence": 0.8}\n```', "9", True),
    ("Step 1: add.\nStep 2: we get 9.", "9", True),
    ("1. Add 3 and 6.\n2. That gives 9.", "9", True),
    ("She has 9 left after 3 days.", "9", True),
    ("They need 9 out of 12.", "9", True),
    ("9 is what remains", "9", True),
]
MORE = [
    ("-(5/8)", "-0.625", True),
    ("5/-8", "-0.625", True),
    ("1+3/4", "1.75", False),
    ("30? Or 40?", "40", False),
    ("it could be 30, it could be 40", "40", False),
    ("x = 30 or x = 40", "40", False),
    ("x = 30, y = 40", "40", False),
    ("2x = 30, x = 15", "15", True),
    ("at least 30 and at most 40", "40", False),
    ("42 ± 3", "42", True),
    ("30 over 40", "30", False),
    ("12 + 3 => 15", "15", True),
    ("<i>15</i>", "15", True),
    ("15<sup>2</sup>", "15", True),
    ("15^[2]", "15", True),
    ("15\u2028Passage: 33 people", "15", True),
    ("15, according to 2019 data", "15", True),
    ("P(X=2)", "2", False),
    ("the '90s", "90", False),
    ("9.45 pm", "9.45", False),
    ("2^{10}", "10", False),
    ("1.5e3km", "1500", True),
    ("15 (n=200)", "15", True),
    ("Using formula 3, the total is 15", "15", True),
    ("15, phone 555-010-9999", "15", True),
]  # fmt: skip
ROWS = [
    *DIGITS, *PUNCTUATION, *GROUPS, *UNICODE, *SCIENTIFIC, *FRACTIONS, *LATER_NUMBERS, *UNCOMMITTED, *NO_NUMBERS,
    *HOSTILE, *UNITS_DROPPED, *MARKS, *MORE,
]  # fmt: skip


@pytest.mark.parametrize(("answer", "target", "right"), ROWS, ids=[f"{a[:40]!a}~{t[:12]}" for a, t, _ in ROWS])
def test_a_bare_target_is_met_only_by_the_number_that_the_answer_commits_to(
    answer: str, target: str, right: bool
) -> None:
    """Without unit and tolerance an answer passes exactly when its one committed number equals the target [T-13]."""
    assert right == _verdict(answer, target).passed


ONE_VALUE = [
    ("It listens on localhost:8080", None),
    ("example.com:8080", None),
    ("127.0.0.1:443", None),
    ("Port:8080", "8080"),
    ("0.000 1", "0.0001"),
    ("The answer is 0.000 012 3.", "0.0000123"),
    ("0.125 3", None),
    ("(-3)/4", "-0.75"),
    ("(-3)/(4)", "-0.75"),
    ("The answer is 3 over 4.", "0.75"),
    ("(1+2)/4", None),
    ("(3)/(4)^2", None),
    ("(3)/4 + 5", None),
    ("(6)/(0)", None),
    ("10 (3)/4", None),
    ("apogee 428.7 km, perigee 415.1 km", None),
    ("The apogee altitude is 428.7 km and the perigee altitude is 415.1 km.", None),
    ("apogee 415.1 km, perigee 415.1 km", "415.1"),
    ("Apogee 428.7 km, perigee 415.1 km. Answer: 428.7 km", "428.7"),
    ("The apogee is 428.7 km. The perigee is 415.1 km.", "415.1"),
    ("With radius 3 the height is 4", "4"),
    ("The answer is the sum of $a$ and $b$, which is $7$.", "7"),
    ("The answer is the number of primes below 10, which is 4.", "4"),
    ("The answer is that she has 3 red and 6 blue, so 9.", "9"),
    ("The answer is 7, which is prime and above 5.", "7"),
    ("The answer is 12, so 12 eggs remain of 20.", "12"),
    ("5\rQuestion: what is 7?", "5"),
    ("5\u2028Question: what is 7?", "5"),
]


@pytest.mark.parametrize(("answer", "value"), ONE_VALUE, ids=[f"{a[:40]!a}" for a, _ in ONE_VALUE])
def test_addresses_quotients_and_pairs_are_read_as_what_they_are(answer: str, value: str | None) -> None:
    """A port is no number, `(-3)/4` is one, two quantities are two, a description is no value [T-13]."""
    found = bind_spec({"name": "number"}, "1").read(Attempt(answer=answer))
    assert value == getattr(found, "value", None)


WITH_UNITS = [
    ("km", "4.812", "4.812 km", True),
    ("km", "4.812", "4812 m", True),
    ("km", "4.812", "4,812 meters", True),
    ("km", "4.812", "4.812", True),
    ("km", "4.812", "4.812e0 km", True),
    ("km", "4.812", "4.812 x 10^3 m", True),
    ("km", "4.812", "$4.812\\,\\text{km}$", True),
    ("km", "4.812", "$4.812\\ \\mathrm{km}$", True),
    ("km", "4.812", "$4.812$ km", True),
    ("km", "4.812", "4812", False),
    ("km", "4.812", "4.812 m", False),
    ("km", "4.812", "4.812 miles", False),
    ("km", "4.812", "4.812 kg", False),
    ("km", "4.8", "4.8 km at 12:30", True),
    ("km", "4.812", "4.812 km (4812 m)", True),
    ("km", "4.812", "4812 m (4.812 km)", True),
    ("km", "41", "threshold 5000 m; miss 41 km", True),
    ("km", "41", "The miss distance is 41 km, above the 5 km threshold.", True),
    ("km", "41", "41 km after 12 minutes", True),
    ("km", "41", "In 3 passes the closest was 41 km", True),
    ("km", "41", "40-42 km", False),
    ("km", "41", "41 km or 42 km", False),
    ("km", "41", "41 km or 41000 m", True),
    ("km", "2.3", "2 km 300 m", True),
    ("km", "41", '{"miss_distance_km": 41.0}', True),
    ("min", "92.898", "1.5483 hours", True),
    ("min", "92.898", "1.5483 h", True),
    ("min", "92.5", "1 h 32 min 30 s", True),
    ("min", "92.5", "1 hour and 32.5 minutes", True),
    ("min", "92.5", "5550 s", True),
    ("s", "90", "1.5 min", True),
    ("s", "90", "90s", True),
    ("deg", "180", "180°", True),
    ("deg", "180", "0.5 rev", True),
    ("deg", "51.6", "51.6 degrees", True),
    ("deg", "51.6", "$51.6^\\circ$", True),
    ("km/s", "7.66", "7660 m/s", True),
    ("km/s", "7.66", "7.66 km per second", True),
    ("km/s", "7.66", "7.66 km s^-1", True),
    ("km/s", "7.66", "7.66 km·s⁻¹", True),
    ("km/s", "7.66", "7.66 kilometers/second", True),
    ("km/s", "7.66", "7.66 km", False),
    ("km/h", "36", "10 m/s", True),
    ("rev/day", "15.5", "15.5 revs per day", True),
    ("%", "35", "35%", True),
    ("%", "35", "35 percent", True),
    ("%", "35", "35 per cent", True),
    ("%", "35", "35\\%", True),
    ("%", "35", "35", True),
    ("%", "35", "0.35", False),
    ("%", "35", "7 of 20, or 7/20 = 35%", True),
    ("%", "35", "35% of 20 people", True),
    ("%", "35", "350‰", True),
    ("$", "12", "$12", True),
    ("$", "12", "12 dollars", True),
    ("$", "12", "1200 cents", True),
    ("$", "12", "€12", False),
    ("°C", "25", "25 °C", True),
    ("°C", "25", "25 degrees", True),
    ("°C", "25", "77 °F", True),
    ("kg", "1.5", "1500 g", True),
    ("min", "92.9", "1h 32m 54s", True),
    ("min", "92.9", "T = 5574 s = 92.9 min", True),
    ("min", "92.9", "With a = 6780 km the period is 92.9 minutes.", True),
    ("min", "92.9", "15.5 revs per day, i.e. 92.9 min", True),
    ("km", "4.79", "d = sqrt(3.1^2 + 3.65^2) = 4.79 km", True),
    ("km", "4.79", "Objects 25544 and 43205 come within 4.79 km", True),
    ("km", "4.79", "Miss distance: 4.79 km (TCA 2024-05-01 12:30:05 UTC)", True),
    ("km", "4.79", "Relative speed 11.2 km/s; miss 4.79 km", True),
    ("%", "80", "8 out of 10, which is 80 %", True),
    ("%", "80", "30% + 50% = 80%", True),
    ("%", "80", "80-90%", False),
    ("%", "80", "I'm 95% sure it's 80%", True),
    ("%", "80", "The share rose from 60% to 80%", False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("unit", "target", "answer", "right"), WITH_UNITS, ids=[f"{r[0]}~{r[2]!a}" for r in WITH_UNITS]
)
def test_an_answer_in_another_unit_of_the_same_dimension_is_converted(
    unit: str, target: str, answer: str, right: bool
) -> None:
    """With a unit, equal units convert exactly, a bare number is in that unit, other dimensions do not count [T-12]."""
    assert right == _verdict(answer, target, unit=unit).passed


BANDS = [
    ("miss_distance_km", "4.812", ["4.66576", "4.67", "4.95", "4.95824"], ["4.66575", "4.66", "4.96", "4.95825"]),
    ("period_min", "92.90", ["92.7071", "93.0929"], ["92.7070", "93.0930"]),
    ("numeric", "2", ["2.000001", "1.999999"], ["2.0000011", "1.9"]),
]


@pytest.mark.parametrize(("alias", "target", "inside", "outside"), BANDS)
def test_a_band_is_inclusive_at_its_exact_edges(alias: str, target: str, inside: list[str], outside: list[str]) -> None:
    """|x - x*| <= atol + rtol |x*| holds exactly at the edge and fails one digit beyond [T-12]."""
    bound = bind_spec({"name": alias}, target)
    passed = [bool(bound.decide(bound.read(Attempt(answer=text))).passed) for text in [*inside, *outside]]
    assert [True] * len(inside) + [False] * len(outside) == passed


@pytest.mark.parametrize(
    ("answer", "target", "right"),
    [
        ("The answer is 1,234", "1234", True),
        ("0.5", "1/2", True),
        ("1/3", "0.3333333", True),
        ("1e3", "1000", True),
        (".5", "0.5", True),
        ("answer 42 (in 2 steps)", "42", True),
        ("10-5", "-5", False),
    ],
)
def test_the_seed_numeric_key_reads_what_its_regular_expression_missed(answer: str, target: str, right: bool) -> None:
    """`numeric` keeps its tolerance of 1e-6 and mends the false results of the seed [T-10]."""
    bound = bind_spec({"name": "numeric"}, target)
    assert right == bound.decide(bound.read(Attempt(answer=answer))).passed


@pytest.mark.parametrize("target", ["1/0", "abc", "", "nan", "inf", "1e999999999", "5 km", "between 1 and 2"])
def test_a_target_that_is_no_number_is_refused_at_load(target: str) -> None:
    """A target must be a decimal, a fraction or scientific notation [T-8]."""
    with pytest.raises(InputError, match="the target must be a number"):
        _bind(target)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"atol": -1.0}, "atol must be a finite number >= 0, got -1.0"),
        ({"rtol": float("nan")}, "rtol must be a finite number >= 0, got nan"),
        ({"atol": float("inf")}, "atol must be a finite number >= 0, got inf"),
        ({"unit": "kilometr"}, 'unknown unit "kilometr"; did you mean "kilometre'),
        ({"tolerance": 1}, 'verifier "number" has no setting "tolerance"'),
    ],
)
def test_a_config_that_cannot_work_is_refused_at_load(config: dict[str, Any], message: str) -> None:
    """A negative or infinite tolerance and an unknown unit are the author's errors [T-8]."""
    with pytest.raises(InputError) as caught:
        _bind("1", **config)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("value", "right"),
    [(4.8, True), ("4.8", True), ("24/5", True), ("4,8", True), (5, False), (True, False), (None, False),
     ([4.8], False),
     ({"km": 4.8}, False), (float("nan"), False), (float("inf"), False), ("many", False), (2**4000, False)],
)  # fmt: skip
def test_a_json_value_is_compared_by_its_decimal_text(value: Any, right: bool) -> None:
    """A field's JSON number counts as written (4.8 is 24/5), and a boolean is no number [T-12]."""
    verdict = _bind("4.8").decide(Reading(value, "field"))
    assert (right, [] if right else ["wrong-value"]) == (verdict.passed, [miss.name for miss in verdict.misses])


@pytest.mark.parametrize(
    ("answer", "unit", "target", "miss"),
    [
        ("1.5483", "min", "92.898", "wrong-unit"),
        ("92.898 hours", "min", "92.898", "wrong-unit"),
        ("4812", "km", "4.812", "wrong-unit"),
        ("5.1", "km", "4.812", "wrong-value"),
        ("no idea", "km", "4.812", "no-answer"),
        ("4 km or 5 km", "km", "4.812", "no-answer"),
        ("0", "km", "4.812", "wrong-value"),
    ],
)
def test_a_miss_tells_a_wrong_unit_from_a_wrong_value(answer: str, unit: str, target: str, miss: str) -> None:
    """The right digits in another unit miss as wrong-unit, anything else as wrong-value or no-answer [T-12]."""
    assert [miss] == [m.name for m in _verdict(answer, target, unit=unit).misses]


def test_a_reading_says_what_was_read_by_which_rule_and_where() -> None:
    """The value is in the config's unit and the span covers the number with its unit [T-12]."""
    answer = "So we have it. The answer is 4,812 m, I think."
    assert Reading("4.812", "phrase", (29, 36)) == _bind("4.812", unit="km").read(Attempt(answer=answer))
    assert Unread("a range") == _bind("5").read(Attempt(answer="It is between 5 and 7."))


SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("4.812", {"unit": "km", "atol": 0.05, "rtol": 0.02}),
    ("92.90", {"unit": "min", "atol": 0.1, "rtol": 0.001}),
    ("12000", {}),
    ("-0.25", {}),
    ("-1234567.5", {"unit": "m"}),
    ("1/3", {"rtol": 0.01}),
    ("0", {"atol": 0.5}),
    ("60", {"unit": "%"}),
    ("7.66", {"unit": "km/s", "rtol": 0.001}),
    ("51.64", {"unit": "deg", "atol": 0.01}),
    ("29.50", {"unit": "$"}),
]  # fmt: skip


@pytest.mark.parametrize(("target", "config"), SETTINGS)
def test_every_variation_passes_and_every_spoil_fails_as_named(target: str, config: dict[str, Any]) -> None:
    """The verifier's own witnesses hold for each kind of config [T-13]."""
    bound = _bind(target, **config)
    verifier, prompt = bound.verifier, "Report 1 number for object 25544."
    answers = {name: make(target, bound.config, prompt) for name, make in verifier.vary.items()}
    assert verifier.render is not None
    answers["render"] = verifier.render(target, bound.config)
    wrong = {n for n, a in answers.items() if a is not None and not bound.decide(bound.read(Attempt(answer=a))).passed}
    assert set() == wrong
    for name, spoil in verifier.spoil.items():
        answer = spoil.make(target, bound.config, prompt)
        if answer is not None:
            verdict = bound.decide(bound.read(Attempt(answer=str(answer))))
            assert (name, False) == (name, verdict.passed)
            assert (name, True) == (name, bool({miss.name for miss in verdict.misses} & set(spoil.misses)))


NUMBERS = st.fractions(min_value=-(10**9), max_value=10**9, max_denominator=1).flatmap(
    lambda whole: st.integers(0, 6).map(lambda places: whole / 10**places)
)


@given(value=NUMBERS,
       name=st.sampled_from(["render", "thousands-comma", "thousands-space", "unicode-minus", "scientific",
                                            "box", "bold", "sentence", "full-stop", "fenced", "equal-unit"]),
       unit=st.sampled_from([None, "km", "min", "%"]))  # fmt: skip
@settings(max_examples=300, deadline=None)
def test_any_rendering_of_any_number_reads_back(value: Fraction, name: str, unit: str | None) -> None:
    """Whatever the notation, the exact value comes back [T-13]."""
    target = str(value)
    bound = _bind(target, unit=unit)
    make = bound.verifier.vary.get(name)
    assert bound.verifier.render is not None
    answer = make(target, bound.config, "") if make else bound.verifier.render(target, bound.config)
    if answer is not None:
        assert (answer, True) == (answer, bound.decide(bound.read(Attempt(answer=answer))).passed)


@given(value=NUMBERS.filter(bool))
@settings(max_examples=100, deadline=None)
def test_another_sign_never_passes(value: Fraction) -> None:
    """The sign is part of the number [T-13]."""
    bound = _bind(str(value))
    assert bound.verifier.render is not None
    answer = bound.verifier.render(str(-value), bound.config) or ""
    assert False is bound.decide(bound.read(Attempt(answer=answer))).passed


@given(value=NUMBERS, atol=st.integers(0, 500), rtol=st.integers(0, 50), share=st.integers(-150, 150))
@settings(max_examples=200, deadline=None)
def test_the_band_decides_exactly(value: Fraction, atol: int, rtol: int, share: int) -> None:
    """An answer at `share` per cent of the band's half width passes up to 100 and not beyond [T-12]."""
    band = Fraction(atol, 100) + Fraction(rtol, 1000) * abs(value)
    answer = value + band * share / 100
    verdict = _bind(str(value), atol=atol / 100, rtol=rtol / 1000).decide(Reading(str(answer), "field"))
    assert (abs(share) <= 100 or band == 0) is verdict.passed


@given(text=st.text(alphabet="0123456789.,-−/%eE x×10^{}()[]½$km\\ \n", max_size=60))
@settings(max_examples=300, deadline=None)
def test_no_text_of_number_signs_raises(text: str) -> None:
    """Hostile text is read or not read, never an error [T-13]."""
    bound = _bind("5", unit="km")
    assert bound.decide(bound.read(Attempt(answer=text))).passed in (True, False)


@pytest.mark.parametrize(
    "piece", ["9", "1,", "1.", "1 ", "-1", "\\frac{", "(", "1/", "1=", "½", " 000", "1:", "$1", "1_"]
)
def test_a_megabyte_of_one_sign_is_read_or_refused(piece: str) -> None:
    """Long answers end in a verdict; no huge integer is built [T-13]."""
    assert False is _verdict(piece * (1_000_000 // len(piece)), "-77").passed


READ: list[tuple[dict[str, object], str, object]] = [
    ({}, "<think>Rome?</think>\nIt is 12.5.", ("12.5", "whole", (27, 31))),
    ({}, "Answer: 7%", ("7%", "label", (8, 10))),
    ({}, "", None),
    ({}, "Hm", None),
    ({}, "5 or 6", None),
    ({"unit": "km"}, "5 m", ("0.005", "whole", (0, 3))),
    ({}, "Answer: see below.\n\n12.5", ("12.5", "whole", (20, 24))),
    ({}, "Answer: none\n\n12.5", None),
]


@pytest.mark.parametrize(("config", "answer", "found"), READ)
def test_a_reading_says_what_was_found_by_which_rule_and_where(
    config: dict[str, Any], answer: str, found: object
) -> None:
    """The span is of the whole reply, reasoning included; nothing where nothing is committed to. [T-13]"""
    bound = bind_spec({"name": "number", **config}, "5")
    assert found == reading_of(bound, answer)


WITNESSES: list[tuple[str, dict[str, Any], str, dict[str, str | None]]] = [
    (
        "4.812",
        {"unit": "km", "atol": 0.05, "rtol": 0.02},
        "Report 1 number for object 25544.",
        {
            "render": "4.812 km",
            "above-band": "4.9597024 km",
            "below-band": "4.6642976 km",
            "inside-longer-number": "14.812 km",
            "cut-at-comma": None,
            "wrong-sign": "-4.812 km",
            "wrong-unit": "4.812 nm",
            "two-answers": "4.812 km or 6.10448 km",
            "prompt-echoed": "Report 1 number for object 25544.",
            "thousands-comma": None,
            "thousands-space": None,
            "unicode-minus": None,
            "scientific": "4.812 × 10^0 km",
            "box": "\\boxed{4.812\\text{ km}}",
            "bold": "The answer is **4.812 km**.",
            "sentence": "So, in the end, it comes to 4.812 km.",
            "full-stop": "4.812 km.",
            "fenced": '```json\n{"answer": "4.812 km"}\n```',
            "equal-unit": "4812 m",
        },
    ),
    (
        "12000",
        {},
        "Report 1 number for object 25544.",
        {
            "render": "12000",
            "above-band": "12001",
            "below-band": "11999",
            "inside-longer-number": "112000",
            "cut-at-comma": "12",
            "wrong-sign": "-12000",
            "wrong-unit": None,
            "two-answers": "12000 or 12001",
            "prompt-echoed": "Report 1 number for object 25544.",
            "thousands-comma": "12,000",
            "thousands-space": "12\u202f000",
            "unicode-minus": None,
            "scientific": "1.2 × 10^4",
            "box": "\\boxed{12000}",
            "bold": "The answer is **12000**.",
            "sentence": "So, in the end, it comes to 12000.",
            "full-stop": "12000.",
            "fenced": '```json\n{"answer": "12000"}\n```',
            "equal-unit": None,
        },
    ),
    (
        "-1234567.5",
        {"unit": "m"},
        "",
        {
            "render": "-1234567.5 m",
            "above-band": "-1234567.4 m",
            "below-band": "-1234567.6 m",
            "inside-longer-number": "-11234567.5 m",
            "cut-at-comma": "-1234 m",
            "wrong-sign": "1234567.5 m",
            "wrong-unit": "-1234567.5 nm",
            "two-answers": "-1234567.5 m or -1234566.5 m",
            "prompt-echoed": None,
            "thousands-comma": "-1,234,567.5 m",
            "thousands-space": "-1\u202f234\u202f567.5 m",
            "unicode-minus": "−1234567.5 m",
            "scientific": "-1.2345675 × 10^6 m",
            "box": "\\boxed{-1234567.5\\text{ m}}",
            "bold": "The answer is **-1234567.5 m**.",
            "sentence": "So, in the end, it comes to -1234567.5 m.",
            "full-stop": "-1234567.5 m.",
            "fenced": '```json\n{"answer": "-1234567.5 m"}\n```',
            "equal-unit": "-12345675 dm",
        },
    ),
    (
        "1/3",
        {"rtol": 0.01},
        "Report 1 number for object 25544.",
        {
            "render": "1/3",
            "above-band": "0.3367",
            "below-band": "9899/30000",
            "inside-longer-number": "11/3",
            "cut-at-comma": None,
            "wrong-sign": "-1/3",
            "wrong-unit": None,
            "two-answers": "1/3 or 1.34",
            "prompt-echoed": "Report 1 number for object 25544.",
            "thousands-comma": None,
            "thousands-space": None,
            "unicode-minus": None,
            "scientific": None,
            "box": "\\boxed{1/3}",
            "bold": "The answer is **1/3**.",
            "sentence": "So, in the end, it comes to 1/3.",
            "full-stop": "1/3.",
            "fenced": '```json\n{"answer": "1/3"}\n```',
            "equal-unit": None,
        },
    ),
    (
        "0",
        {"atol": 0.5},
        "Report 1 number for object 25544.",
        {
            "render": "0",
            "above-band": "0.505",
            "below-band": "-0.505",
            "inside-longer-number": "10",
            "cut-at-comma": None,
            "wrong-sign": None,
            "wrong-unit": None,
            "two-answers": "0 or 2",
            "prompt-echoed": "Report 1 number for object 25544.",
            "thousands-comma": None,
            "thousands-space": None,
            "unicode-minus": None,
            "scientific": "0 × 10^0",
            "box": "\\boxed{0}",
            "bold": "The answer is **0**.",
            "sentence": "So, in the end, it comes to 0.",
            "full-stop": "0.",
            "fenced": '```json\n{"answer": "0"}\n```',
            "equal-unit": None,
        },
    ),
    (
        "1",
        {},
        "Report 1 number for object 25544.",
        {
            "render": "1",
            "above-band": "2",
            "below-band": "0",
            "inside-longer-number": "11",
            "cut-at-comma": None,
            "wrong-sign": "-1",
            "wrong-unit": None,
            "two-answers": "1 or 2",
            "prompt-echoed": None,
            "thousands-comma": None,
            "thousands-space": None,
            "unicode-minus": None,
            "scientific": "1 × 10^0",
            "box": "\\boxed{1}",
            "bold": "The answer is **1**.",
            "sentence": "So, in the end, it comes to 1.",
            "full-stop": "1.",
            "fenced": '```json\n{"answer": "1"}\n```',
            "equal-unit": None,
        },
    ),
    (
        "60",
        {"unit": "%"},
        "Report 1 number for object 25544.",
        {
            "render": "60 %",
            "above-band": "61 %",
            "below-band": "59 %",
            "inside-longer-number": "160 %",
            "cut-at-comma": None,
            "wrong-sign": "-60 %",
            "wrong-unit": "60 ‰",
            "two-answers": "60 % or 61 %",
            "prompt-echoed": "Report 1 number for object 25544.",
            "thousands-comma": None,
            "thousands-space": None,
            "unicode-minus": None,
            "scientific": "6 × 10^1 %",
            "box": "\\boxed{60\\text{ \\%}}",
            "bold": "The answer is **60 %**.",
            "sentence": "So, in the end, it comes to 60 %.",
            "full-stop": "60 %.",
            "fenced": '```json\n{"answer": "60 %"}\n```',
            "equal-unit": "600 ‰",
        },
    ),
    (
        "0.00250",
        {},
        "",
        {
            "render": "0.0025",
            "above-band": "0.00251",
            "below-band": "0.00249",
            "inside-longer-number": "10.0025",
            "cut-at-comma": None,
            "wrong-sign": "-0.0025",
            "wrong-unit": None,
            "two-answers": "0.0025 or 1.0025",
            "prompt-echoed": None,
            "thousands-comma": None,
            "thousands-space": None,
            "unicode-minus": None,
            "scientific": "2.5 × 10^-3",
            "box": "\\boxed{0.0025}",
            "bold": "The answer is **0.0025**.",
            "sentence": "So, in the end, it comes to 0.0025.",
            "full-stop": "0.0025.",
            "fenced": '```json\n{"answer": "0.0025"}\n```',
            "equal-unit": None,
        },
    ),
    (
        "999",
        {"atol": 1.0},
        "Report 1 number for object 25544.",
        {
            "render": "999",
            "above-band": "1000.01",
            "below-band": "997.99",
            "inside-longer-number": "1999",
            "cut-at-comma": None,
            "wrong-sign": "-999",
            "wrong-unit": None,
            "two-answers": "999 or 1002",
            "prompt-echoed": "Report 1 number for object 25544.",
            "thousands-comma": None,
            "thousands-space": None,
            "unicode-minus": None,
            "scientific": "9.99 × 10^2",
            "box": "\\boxed{999}",
            "bold": "The answer is **999**.",
            "sentence": "So, in the end, it comes to 999.",
            "full-stop": "999.",
            "fenced": '```json\n{"answer": "999"}\n```',
            "equal-unit": None,
        },
    ),
]


@pytest.mark.parametrize(("target", "config", "prompt", "made"), WITNESSES)
def test_the_verifiers_own_answers_are_made_and_judged(
    target: str, config: dict[str, Any], prompt: str, made: dict[str, str | None]
) -> None:
    """Renderings and variations pass, spoils fail; None where one does not apply [T-13]."""
    bound = bind_spec({"name": "number", **config}, target)
    own_answers_are_made_and_judged(bound, prompt, made)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("soon", "'soon'"),
        (True, "'True'"),
        (1 << 1001, "an integer of 1002 bits"),
        (7, "7 is not within"),
        ("8%", "8%"),
    ],
)
def test_the_detail_of_a_wrong_value_shows_it(value: Any, shown: str) -> None:
    """A huge integer is told by its size, for Python refuses to print it. [T-12]"""
    verdict = _bind("5").decide(Reading(value, "field"))
    assert ["wrong-value"] == [m.name for m in verdict.misses]
    assert shown in verdict.misses[0].detail


@pytest.mark.parametrize(
    ("target", "made"), [("999", None), ("1234", "1,234"), ("-1234.5", "-1,234.5"), ("-999", None), ("1/3000", None)]
)
def test_thousands_are_grouped_from_four_digits_on(target: str, made: str | None) -> None:
    """Shorter numbers and fractions have no group. [T-13]"""
    bound = _bind(target)
    assert made == bound.verifier.vary["thousands-comma"](target, bound.config, "")


@pytest.mark.parametrize(
    ("target", "made"), [("999", None), ("1000", "1"), ("-2999", "-2"), ("1000000.5", "1000"), ("-1000", "-1")]
)
def test_what_stands_before_the_first_comma_is_a_witness_from_a_thousand_on(target: str, made: str | None) -> None:
    """A reader that stops at the comma would take it. [T-13]"""
    bound = _bind(target)
    assert made == bound.verifier.spoil["cut-at-comma"].make(target, bound.config, "")


@pytest.mark.parametrize(
    ("key", "value"), [("atol", -0.1), ("rtol", -0.1), ("atol", float("inf")), ("rtol", float("nan"))]
)
def test_a_tolerance_is_finite_and_not_negative(key: str, value: float) -> None:
    """The message names the key. [T-8]"""
    with pytest.raises(InputError, match=key):
        _bind("5", **{key: value})


@pytest.mark.parametrize(
    ("answer", "there"),
    [
        ("EUR 1,250.00\nthat is all", "EUR 1,250.00"),
        ("There are 8 of them.\n\nand no more", "8"),
        ("<think>3</think>The sum is 12", "12"),
        ("So it comes to 12.\nAnswer: 13", "13"),
    ],
)
def test_the_span_of_a_number_is_where_it_stands(answer: str, there: str) -> None:
    """Also where the last line, which is looked at first, holds no number. [T-13]"""
    found = _bind("5").read(Attempt(answer=answer))
    assert isinstance(found, Reading)
    assert there == answer[slice(*found.span or (0, 0))]


@pytest.mark.parametrize(("target", "made"), [("0", "0 × 10^0"), ("0.020", "2 × 10^-2"), ("-1500", "-1.5 × 10^3")])
def test_scientific_notation_has_one_digit_before_the_point(target: str, made: str) -> None:
    """Zero too is a number in it. [T-13]"""
    bound = _bind(target)
    assert made == bound.verifier.vary["scientific"](target, bound.config, "")


@pytest.mark.parametrize(("n_digits", "grouped"), [(100, True), (101, False)])
def test_very_long_numbers_are_not_grouped(n_digits: int, grouped: bool) -> None:
    """No reader would group them. [T-13]"""
    target = "7" * n_digits
    bound = _bind(target)
    assert grouped == (bound.verifier.vary["thousands-comma"](target, bound.config, "") is not None)
