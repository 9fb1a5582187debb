"""Orbit Mean-Elements Messages: the fields of one object, read and written, whatever file they stand in.

Source: CCSDS 502.0-B for the fields. Catalogue numbers have up to nine digits.
A message that states another theory than SGP4, another frame than TEME, another centre or another time scale than UTC
is refused: these elements would be propagated wrongly.
Epochs have a month and a day or the day of the year, and up to 18 decimals: the seventh and on are rounded off.
Not covered: state vectors and covariance of a message; user-defined fields.
Easy to break: `float()` alone accepts "nan" and "1_0".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from steelyard.errors import InputError
from steelyard.families.orbital.elements import Elements, other_theory, out_of_range

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_COUNT = re.compile(r"\d{1,9}", re.ASCII)
_EPOCH = re.compile(r"(\d{4}-(?:\d\d-\d\d|\d{3})T\d\d:\d\d:\d\d)(?:\.(\d{1,18}))?Z?", re.ASCII)
_DESIGNATOR = re.compile(r"\d\d(\d\d)-(\d{3}[A-Z]{0,3})", re.ASCII)
_FLOATS = {
    "MEAN_MOTION": "mean_motion_rev_per_day",
    "ECCENTRICITY": "eccentricity",
    "INCLINATION": "inclination_deg",
    "RA_OF_ASC_NODE": "raan_deg",
    "ARG_OF_PERICENTER": "arg_perigee_deg",
    "MEAN_ANOMALY": "mean_anomaly_deg",
    "BSTAR": "bstar",
}
_OPTIONAL_FLOATS = {"MEAN_MOTION_DOT": "mean_motion_dot", "MEAN_MOTION_DDOT": "mean_motion_ddot"}
_OPTIONAL_COUNTS = {"ELEMENT_SET_NO": "element_set", "REV_AT_EPOCH": "revolution"}
_TEXTS = {"OBJECT_NAME": "name", "CLASSIFICATION_TYPE": "classification"}
_MEANT = {
    "CENTER_NAME": ("EARTH",),
    "REF_FRAME": ("TEME",),
    "TIME_SYSTEM": ("UTC",),
    "MEAN_ELEMENT_THEORY": ("SGP4", "SGP/SGP4", "SGP4/SDP4"),
}
UNKNOWN = "UNKNOWN"  # CCSDS 502.0-B's word for an object without a designator; readers stumble over an empty field
REQUIRED = ("NORAD_CAT_ID", "EPOCH", *_FLOATS)
METADATA = ("OBJECT_NAME", "OBJECT_ID", *_MEANT)
MEAN_ELEMENTS = ("EPOCH", *[name for name in _FLOATS if name != "BSTAR"])
TLE_PARAMETERS = (
    "EPHEMERIS_TYPE",
    "CLASSIFICATION_TYPE",
    "NORAD_CAT_ID",
    "ELEMENT_SET_NO",
    "REV_AT_EPOCH",
    "BSTAR",
    "MEAN_MOTION_DOT",
    "MEAN_MOTION_DDOT",
)


class FieldError(InputError):
    """A message that cannot be read; `field` is the name of the field, or empty."""

    def __init__(self, field: str, message: str) -> None:
        self.field = field
        super().__init__(message)


def elements_from_fields(fields: Mapping[str, str]) -> Elements:
    """The elements of one message, its values as text; FieldError with the field that is missing or wrong."""
    for name in REQUIRED:
        if name not in fields:
            raise FieldError(name, f'no field "{name}"; expected {", ".join(REQUIRED)}')
    for name, meant in _MEANT.items():
        if fields.get(name) and fields[name].upper() not in meant:
            raise FieldError(name, f"{name}: expected {' or '.join(meant)}, got {fields[name]!r}")
    if foreign := other_theory(fields.get("EPHEMERIS_TYPE", "")):
        raise FieldError("EPHEMERIS_TYPE", foreign)
    values: dict[str, object] = {"norad_id": _count(fields, "NORAD_CAT_ID"), "epoch": _epoch(fields["EPOCH"])}
    values |= {field: _number(fields, name) for name, field in _FLOATS.items()}
    values |= {field: _number(fields, name) for name, field in _OPTIONAL_FLOATS.items() if fields.get(name)}
    values |= {field: _count(fields, name) for name, field in _OPTIONAL_COUNTS.items() if fields.get(name)}
    values |= {field: fields[name] for name, field in _TEXTS.items() if fields.get(name)}
    launched = _DESIGNATOR.fullmatch(fields.get("OBJECT_ID", ""))
    values["designator"] = launched[1] + launched[2] if launched else ""
    elements = Elements(**values)  # type: ignore[arg-type]  # each value was made for its field above
    wrong = out_of_range(elements)
    if wrong:
        raise FieldError("", wrong)
    return elements


def fields_of(elements: Elements) -> dict[str, str]:
    """The fields of a message as text; `elements_from_fields` gives the same elements back."""
    named = {name: getattr(elements, field) for name, field in (_FLOATS | _OPTIONAL_FLOATS).items()}
    designator = elements.designator
    year = f"{'19' if designator[:2] >= '57' else '20'}{designator[:2]}" if designator else ""
    fields = {
        "OBJECT_NAME": elements.name or f"OBJECT {elements.norad_id}",
        "OBJECT_ID": f"{year}-{designator[2:]}" if designator else UNKNOWN,
        "CENTER_NAME": "EARTH",
        "REF_FRAME": "TEME",
        "TIME_SYSTEM": "UTC",
        "MEAN_ELEMENT_THEORY": "SGP4",
        "EPOCH": f"{elements.epoch:%Y-%m-%dT%H:%M:%S.%f}",
        "EPHEMERIS_TYPE": "0",
        "CLASSIFICATION_TYPE": elements.classification,
        "NORAD_CAT_ID": str(elements.norad_id),
        "ELEMENT_SET_NO": str(elements.element_set),
        "REV_AT_EPOCH": str(elements.revolution),
    }
    return fields | {name: repr(float(value)) for name, value in named.items()}


def _number(fields: Mapping[str, str], name: str) -> float:
    if not _NUMBER.fullmatch(fields[name]):
        raise FieldError(name, f"{name}: expected a decimal number, got {fields[name]!r}")
    return float(fields[name])


def _count(fields: Mapping[str, str], name: str) -> int:
    if not _COUNT.fullmatch(fields[name]):
        raise FieldError(name, f"{name}: expected up to nine digits, got {fields[name]!r}")
    return int(fields[name])


def _epoch(text: str) -> datetime:
    expected = f"EPOCH: expected YYYY-MM-DDTHH:MM:SS.ffffff or YYYY-DDDTHH:MM:SS.ffffff, got {text!r}"
    found = _EPOCH.fullmatch(text)
    if not found:
        raise FieldError("EPOCH", expected)
    decimals = found[2] or "0"
    fraction = timedelta(microseconds=round(int(decimals) * 10**6 / 10 ** len(decimals)))
    try:
        return _whole_seconds(found[1]) + fraction
    except (ValueError, OverflowError) as error:
        raise FieldError("EPOCH", f"{expected}: {error}") from error


def _whole_seconds(text: str) -> datetime:
    """The instant of YYYY-MM-DDTHH:MM:SS, or with the day of the year; ValueError where there is no such day."""
    if text[8] != "T":
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    found = datetime.strptime(text, "%Y-%jT%H:%M:%S").replace(tzinfo=UTC)
    if found.year != int(text[:4]):
        raise ValueError(f"{text[:4]} has no day {text[5:8]}")
    return found
