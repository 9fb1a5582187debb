"""Units of measure: reading the unit that stands at a place in a text, and exact conversion inside one dimension.

Source: SI brochure (9th edition) and the international yard and pound; all factors are exact fractions, so 92.9 min
is 1.5483... h with nothing lost (pi is the one rounded factor, at 50 decimals).
A dimension is text such as `length`, `length/time` or `length^2`; units of one dimension convert, others never do.
Not covered: products of units (`N m`), SI prefixes beyond the listed spellings, exchange rates.
Easy to break: spellings that are also words ("in", "a", "us"); they count only when they are glued to the digits.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from steelyard.errors import InputError, did_you_mean

_PI = Fraction("3.14159265358979323846264338327950288419716939937510")


class Unit(NamedTuple):
    """A unit of one dimension: base = (x + offset) * factor."""

    name: str
    dimension: str
    factor: Fraction
    offset: Fraction = Fraction(0)


class Found(NamedTuple):
    """A unit at a place in a text, and where it ends."""

    unit: Unit
    end: int


# Spellings of one unit a line; case counts for symbols of one or two letters, never for words.
_TABLE: dict[str, dict[str, str | Fraction]] = {
    "length": {
        "km kilometer kilometers kilometre kilometres kms": "1000",
        "m meter meters metre metres mtr": "1",
        "dm decimeter decimeters decimetre decimetres": "1/10",
        "cm centimeter centimeters centimetre centimetres": "1/100",
        "mm millimeter millimeters millimetre millimetres": "1/1000",
        "µm um micrometer micrometers micrometre micrometres micron microns": "1e-6",
        "nm nanometer nanometers nanometre nanometres": "1e-9",
        "mi mile miles": "1609.344",
        "nmi": "1852",
        "yd yds yard yards": "0.9144",
        "ft foot feet": "0.3048",
        "in inch inches": "0.0254",
        "au": "149597870700",
        "ly lightyear lightyears": "9460730472580800",
    },
    "time": {
        "s sec secs second seconds": "1",
        "ms msec millisecond milliseconds": "1/1000",
        "µs us microsecond microseconds": "1e-6",
        "ns nanosecond nanoseconds": "1e-9",
        "min mins minute minutes": "60",
        "h hr hrs hour hours": "3600",
        "d day days": "86400",
        "wk week weeks": "604800",
    },
    "month": {"month months": "1", "yr yrs year years": "12", "decade decades": "120", "century centuries": "1200"},
    "angle": {
        "deg degs degree degrees °": "1",
        "rad rads radian radians": Fraction(180) / _PI,
        "mrad mrads milliradian milliradians": Fraction(180) / _PI / 1000,
        "arcmin arcmins arcminute arcminutes": "1/60",
        "arcsec arcsecs arcsecond arcseconds": "1/3600",
        "rev revs revolution revolutions turn turns orbit orbits": "360",
    },
    "mass": {
        "kg kgs kilo kilos kilogram kilograms": "1",
        "g gram grams gm gms": "1/1000",
        "mg milligram milligrams": "1e-6",
        "µg ug microgram micrograms": "1e-9",
        "t tonne tonnes": "1000",
        "lb lbs pound pounds": "0.45359237",
        "oz ounce ounces": "0.028349523125",
    },
    "temperature": {"K kelvin kelvins": "1"},
    "frequency": {
        "Hz hertz": "1",
        "kHz kilohertz": "1000",
        "MHz megahertz": "1e6",
        "GHz gigahertz": "1e9",
    },
    "share": {"% percent pct percentage": "1/100", "‰ permille": "1/1000"},
    "volume": {
        "l L liter liters litre litres": "1",
        "ml mL milliliter milliliters millilitre millilitres": "1/1000",
        "cl centiliter centiliters": "1/100",
        "gal gallon gallons": "3.785411784",
    },
    "data": {
        "bit bits": "1/8",
        "B byte bytes": "1",
        "kB KB kilobyte kilobytes": "1000",
        "MB megabyte megabytes": "1e6",
        "GB gigabyte gigabytes": "1e9",
        "TB terabyte terabytes": "1e12",
        "KiB kibibyte kibibytes": "1024",
        "MiB mebibyte mebibytes": str(1024**2),
        "GiB gibibyte gibibytes": str(1024**3),
    },
    "energy": {
        "J joule joules": "1",
        "kJ kilojoule kilojoules": "1000",
        "MJ megajoule megajoules": "1e6",
        "eV electronvolt electronvolts": "1.602176634e-19",
        "cal calorie calories": "4.184",
        "kcal kilocalorie kilocalories": "4184",
        "Wh": "3600",
        "kWh": "3600000",
    },
    "power": {"W watt watts": "1", "mW milliwatt milliwatts": "1/1000", "kW kilowatt kilowatts": "1000", "MW": "1e6"},
    "pressure": {
        "Pa pascal pascals": "1",
        "hPa hectopascal hectopascals": "100",
        "kPa kilopascal kilopascals": "1000",
        "MPa megapascal megapascals": "1e6",
        "bar bars": "100000",
        "mbar millibar millibars": "100",
        "atm": "101325",
    },
    "force": {"N newton newtons": "1", "kN kilonewton kilonewtons": "1000"},
    "voltage": {"V volt volts": "1", "mV millivolt millivolts": "1/1000", "kV kilovolt kilovolts": "1000"},
    "current": {"A amp amps ampere amperes": "1", "mA milliamp milliamps": "1/1000"},
    "resistance": {"Ω ohm ohms": "1", "kΩ kiloohm kiloohms": "1000"},
    "amount": {"mol mole moles": "1", "mmol": "1/1000"},
    "dollar": {"$ US$ USD dollar dollars buck bucks": "1", "¢ cent cents": "1/100"},
    "euro": {"€ EUR euro euros": "1"},
    "sterling": {"£ GBP quid": "1", "pence": "1/100"},
    "yen": {"¥ JPY yen 円": "1"},
    "yuan": {"CNY RMB yuan 元 块": "1"},
    "rupee": {"₹ INR Rs rupee rupees": "1", "paise": "1/100"},
    "won": {"₩ KRW won 원": "1"},
    "ruble": {"₽ RUB ruble rubles rouble roubles руб": "1"},
    "franc": {"CHF franc francs": "1"},
    "currency": {"₺ ₫ ₴ ₪ ₿ AUD CAD NZD SEK NOK DKK PLN BRL MXN TRY ZAR C$ A$ R$": "1"},
}
_ALSO = {
    "mph": ("mi", "h"),
    "kph": ("km", "h"),
    "kmh": ("km", "h"),
    "kmph": ("km", "h"),
    "kn": ("nmi", "h"),
    "kt": ("nmi", "h"),
    "kts": ("nmi", "h"),
    "knot": ("nmi", "h"),
    "knots": ("nmi", "h"),
    "rpm": ("rev", "min"),
    "bps": ("bit", "s"),
}
_CJK = {
    "公里": "km", "千米": "km", "米": "m", "厘米": "cm", "秒": "s", "分钟": "min", "分": "min",
    "小时": "h", "時間": "h",
    "天": "d", "度": "deg", "公斤": "kg", "千克": "kg", "克": "g",
}  # fmt: skip
_GLUED_ONLY = frozenset({"in", "us", "t", "l", "d", "A", "B", "au", "won", "turn", "turns", "Rs", "TRY"})
_NEVER_GLUED = frozenset({"A", "B", "K", "TRY"})
CURRENCIES = "$€£¥₹₩₽₺₫₴₪₿¢"


def _spellings() -> dict[str, Unit]:
    units: dict[str, Unit] = {}
    for dimension, rows in _TABLE.items():
        for names, factor in rows.items():
            first = names.split(maxsplit=1)[0]
            for name in names.split():
                units[name] = Unit(first, dimension, Fraction(factor))
    for name, (over, under) in _ALSO.items():
        units[name] = _quotient(units[over], units[under])
    for name, same in _CJK.items():
        units[name] = units[same]
    celsius = Unit("°C", "temperature", Fraction(1), Fraction("273.15"))
    fahrenheit = Unit("°F", "temperature", Fraction(5, 9), Fraction("459.67"))
    units |= {"°C": celsius, "celsius": celsius, "°F": fahrenheit, "fahrenheit": fahrenheit}
    return units


def _quotient(over: Unit, under: Unit) -> Unit:
    return Unit(f"{over.name}/{under.name}", f"{over.dimension}/{under.dimension}", over.factor / under.factor)


def _power(unit: Unit, exponent: int) -> Unit:
    if exponent == 1:
        return unit
    return Unit(f"{unit.name}^{exponent}", f"{unit.dimension}^{exponent}", unit.factor**exponent)


_UNITS = _spellings()
_WORDS = {name.casefold(): unit for name, unit in _UNITS.items() if len(name) > 2}
_WORDS |= {"km": _UNITS["km"], "°c": _UNITS["°C"], "°f": _UNITS["°F"]}
_END = r"(?![A-Za-zµμ\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f])"
_NAME = re.compile(
    rf"[°º˚][ ]?[CF]{_END}|(?:US|C|A|R)\$|[%‰°º˚℃℉{CURRENCIES}]"
    rf"|(?i:degrees? (?:celsius|fahrenheit){_END})|degrees? [CF]{_END}"
    rf"|(?i:per ?cent{_END}|(?:nautical|light)[ -](?:miles?|years?){_END})"
    r"|公里|千米|厘米|分钟|小时|時間|公斤|千克|[米秒分天度克元円块원]"
    rf"|[A-Za-zµμΩΩа-яА-Я]{{1,20}}{_END}"
)
_EXPONENT = re.compile(r"[ ]?(?:\^[ ]?\{?|\*\*)([123])\}?(?!\d)|<sup>([23])</sup>|([²³])|([23])(?![\d.,])")
_PER = re.compile(r"[ ]?[/∕⁄][ ]?|[ ]per[ ]|[ ]an?[ ](?=(?:second|hour|minute|day)\b)")
_INVERSE = re.compile(r"(?:[ ]|[·⋅.])?(?P<name>[A-Za-zµμ]{1,4})(?:\^[ ]?[{(]?[-−–](?P<a>[12])[})]?|⁻(?P<b>[¹²]))(?!\d)")
_SQUARE = re.compile(r"(?:(?P<sq>square|sq\.?)|(?P<cu>cubic|cu\.?))[ ]", re.IGNORECASE)
_SUPERSCRIPT = {"²": 2, "³": 3, "¹": 1}


def _lookup(name: str) -> Unit | None:
    name = name.replace("μ", "µ").replace("º", "°").replace("˚", "°").replace("Ω", "Ω")
    if name in _UNITS:
        return _UNITS[name]
    folded = name.casefold()
    if folded.startswith("degree") and " " in folded:
        return _UNITS["°C"] if folded.split()[1].startswith("c") else _UNITS["°F"]
    if folded.replace(" ", "") == "percent":
        return _UNITS["%"]
    if folded.startswith(("nautical", "light")):
        return _UNITS["nmi" if folded.startswith("n") else "ly"]
    if name in "℃℉":
        return _UNITS["°C" if name == "℃" else "°F"]
    if name.startswith("°"):
        return _UNITS["°C" if name[-1] == "C" else "°F"]
    return _WORDS.get(folded)


def find_unit(text: str, at: int, *, glued: bool) -> Found | None:
    """The unit that starts at `at`; `glued` says that no space stands before it."""
    square = _SQUARE.match(text, at)
    start = square.end() if square else at
    name = _NAME.match(text, start)
    if name is None:
        return None
    word, end = name.group(), name.end()
    unit = _lookup(word)
    if unit is None or (glued and word in _NEVER_GLUED):
        return None
    if not glued and word in _GLUED_ONLY and re.match(r"[ ]?[^\W\d_]|[ ]\d", text[end : end + 2]):
        return None
    if square:
        unit = _power(unit, 2 if square["sq"] else 3)
    return _compose(text, unit, end)


def _exponent(match: re.Match[str]) -> int:
    digit = next(group for group in match.groups() if group)
    return _SUPERSCRIPT.get(digit) or int(digit)


def _compose(text: str, unit: Unit, end: int) -> Found:
    """Exponent and denominator after a unit's first name."""
    if unit.dimension not in ("share", "temperature", "angle") and (exponent := _EXPONENT.match(text, end)):
        unit = _power(unit, _exponent(exponent))
        end = exponent.end()
    per = _PER.match(text, end)
    if per and (name := _NAME.match(text, per.end())) and (under := _lookup(name.group())):
        end = name.end()
        if under.dimension == "time" and (exponent := _EXPONENT.match(text, end)):
            under = _power(under, _exponent(exponent))
            end = exponent.end()
        return Found(_quotient(unit, under), end)
    inverse = _INVERSE.match(text, end)
    if inverse and (under := _lookup(inverse["name"])):
        exponent_text = inverse["a"] or inverse["b"]
        return Found(_quotient(unit, _power(under, 1 if exponent_text in ("1", "¹") else 2)), inverse.end())
    return Found(unit, end)


@lru_cache(maxsize=256)
def parse_unit(name: str) -> Unit:
    """The unit that a config names, such as `km`, `%` or `km/s`; InputError with the nearest known spelling."""
    found = find_unit(name, 0, glued=False) or find_unit(name, 0, glued=True)
    if found is None or found.end != len(name):
        raise InputError(f'unknown unit "{name}"{did_you_mean(name, [n for n in _UNITS if n.isascii()])}')
    return found.unit


def convert(value: Fraction, source: Unit, to: Unit) -> Fraction:
    """`value` of `source` in units of `to`, exactly; both must have one dimension."""
    if source.dimension != to.dimension:
        raise InputError(f"cannot convert {source.name} ({source.dimension}) to {to.name} ({to.dimension})")
    return (value + source.offset) * source.factor / to.factor - to.offset


@lru_cache(maxsize=256)
def siblings(unit: Unit) -> tuple[Unit, ...]:
    """Other units of the same dimension, one a factor, sorted by factor."""
    over, _, under = unit.dimension.partition("/")
    if under and "^" not in unit.dimension:
        pairs = {
            _quotient(a, b)
            for a in _UNITS.values()
            for b in _UNITS.values()
            if (a.dimension, b.dimension) == (over, under)
        }
    else:
        base, _, exponent = over.partition("^")
        pairs = {_power(u, int(exponent or 1)) for u in _UNITS.values() if u.dimension == base and not under}
    seen = {(unit.factor, unit.offset)}
    result: list[Unit] = []
    for other in sorted(pairs, key=lambda u: (u.factor, u.offset, u.name)):
        if (other.factor, other.offset) not in seen:
            seen.add((other.factor, other.offset))
            result.append(other)
    return tuple(result)
