"""Fetches a snapshot of a catalogue from a provider's public endpoint, politely.

Polite means: a User-Agent that says who asks; nothing is asked twice within the provider's interval, whatever it
answered (state beside the snapshots, under a lock); conditional requests, so that unchanged data is not sent again;
compression; a time limit; `Retry-After` is kept to. What comes must load as a catalogue, or it is not kept.
Source: CelesTrak's usage policy (data change every two hours; ask once per change).
Not covered: endpoints behind a login (Space-Track): download those with your account and `keep_file` the file.
Easy to break: an answer of any status counts as asked, and so does one that breaks off; only a request that got no
answer may be repeated at once.
"""

from __future__ import annotations

import http.client
import importlib.metadata
import math
import tempfile
import urllib.error
import urllib.parse
import urllib.request
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, Literal

import msgspec
from filelock import FileLock

from steelyard.canonical import sha256_hex
from steelyard.errors import FormatError, InputError, RefusedError, SteelyardError, did_you_mean
from steelyard.families.orbital import snapshots
from steelyard.store import write_json

STATE = "fetched.json"
MOST_BYTES = 256 * 1024 * 1024
FORMATS = {"json": ".json", "csv": ".csv", "xml": ".xml", "tle": ".tle", "3le": ".3le"}


class Provider(msgspec.Struct, frozen=True):
    """A public endpoint: its address with {group} and {format}, and how long it asks to be left alone, in hours."""

    url: str
    interval_hours: float


PROVIDERS = {
    "celestrak": Provider("https://celestrak.org/NORAD/elements/gp.php?GROUP={group}&FORMAT={format}", 2.0),
}
URL_INTERVAL_HOURS = 1.0
_LONGEST_HOURS = 24 * 366
_BROKEN = (OSError, ValueError, zlib.error, http.client.HTTPException)


class FetchError(SteelyardError):
    """A provider did not give a catalogue; the message says what it answered and when it may be asked again."""


class Fetched(msgspec.Struct, frozen=True):
    """A snapshot at hand: `new` came now, `unchanged` was confirmed by the provider, `kept` was not asked for again."""

    path: Path
    status: Literal["new", "unchanged", "kept"]
    asked: datetime
    next_from: datetime


class _Entry(msgspec.Struct, frozen=True):
    """What is known of one address; `until` is when it may be asked again."""

    asked: datetime
    until: datetime
    file: str = ""
    etag: str = ""
    modified: str = ""
    trouble: str = ""


def fetch(
    source: str,
    folder: Path | str,
    *,
    group: str = "active",
    form: str = "json",
    tier: snapshots.Tier = "live",
    interval_hours: float | None = None,
    timeout_s: float = 60.0,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Fetched:
    """The newest snapshot that may be had: from `folder` within the provider's interval, else from the provider.

    `tier` other than "live" is refused for a source that does not let its data be passed on.

    `source` is a provider's name ("celestrak") or an http(s) address, in which {group} and {format} are filled in.
    `interval_hours` may lengthen a provider's interval, never shorten it. FetchError when nothing is at hand and the
    provider gives nothing; InputError and RefusedError for a source that cannot be asked.
    """
    url, least_hours, suffix = _address(source, group, form)
    snapshots.check_tier(tier, snapshots.source_named(url))
    hours = least_hours if interval_hours is None else interval_hours
    if not math.isfinite(hours) or hours > _LONGEST_HOURS:
        raise InputError(f"an interval is a number of hours of at most {_LONGEST_HOURS}, got {hours}")
    if hours < least_hours:
        raise RefusedError(
            f"{snapshots.source_named(url)} is left alone for {least_hours:g} h after a request, got {hours:g} h"
        )
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / f".{STATE}.lock"):
        state = _state(folder)
        known, at = state.get(url), now()
        if known is not None and at < known.until:
            return _at_hand(folder, known, url)
        request = _request(url, known if known and (folder / known.file).is_file() else None)
        try:
            status, headers, body = _asked(request, timeout_s)
        except _BROKEN as error:
            raise FetchError(f"{url} gave no answer: {_why(error)}; it may be tried again at once") from error
        until = max(at + timedelta(hours=hours), _retry_after(headers, at))
        entry, fresh = _entry(folder, url, suffix, (status, headers, body), known, (at, until), tier)
        write_json(folder / STATE, state | {url: entry})
    if entry.trouble:
        raise FetchError(_told(url, entry))
    return Fetched(folder / entry.file, "new" if fresh else "unchanged", at, until)


def keep_file(path: Path | str, folder: Path | str, *, source: str) -> Path:
    """Make a snapshot of a file that the user has; FormatError when it is no catalogue."""
    from steelyard.families.orbital.catalogue import load_catalogue  # needs the extra "orbital"

    path = Path(path)
    load_catalogue(path)
    name = snapshots.source_named(source)
    return snapshots.keep(folder, path.read_bytes(), path.suffix or ".txt", source=name)


def _address(source: str, group: str, form: str) -> tuple[str, float, str]:
    if form not in FORMATS:
        raise InputError(f'no format "{form}"{did_you_mean(form, FORMATS)}')
    provider = PROVIDERS.get(source)
    if provider is None and "://" not in source:
        if snapshots.source_named(source) == "space-track":
            raise RefusedError(
                "Space-Track answers only after a login, which this command does not take; download the file with your "
                "account, then: steelyard orbital keep FILE --source space-track --out FOLDER"
            )
        raise InputError(f'no provider "{source}"{did_you_mean(source, PROVIDERS)}; or give an http(s) address')
    known = PROVIDERS.get(snapshots.source_named(source))  # whoever writes the address out waits as long
    provider = provider or Provider(source, known.interval_hours if known else URL_INTERVAL_HOURS)
    if urllib.parse.urlsplit(provider.url).scheme not in ("http", "https"):
        raise InputError(f"expected an http or https address, got {source!r}")
    fields = {"group": urllib.parse.quote(group, safe=""), "format": form}
    url = provider.url
    for name, value in fields.items():
        url = url.replace("{" + name + "}", value)
    return url, provider.interval_hours, FORMATS[form]


def _state(folder: Path) -> dict[str, _Entry]:
    path = folder / STATE
    if not path.exists():
        return {}
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, _Entry])
    except msgspec.DecodeError as error:
        raise FormatError(
            path, None, f"not the state of earlier fetches: {error}; move it away to start anew"
        ) from error


def _at_hand(folder: Path, known: _Entry, url: str) -> Fetched:
    if known.trouble or not (folder / known.file).is_file():
        raise FetchError(_told(url, known))
    snapshots.load(folder / known.file)
    return Fetched(folder / known.file, "kept", known.asked, known.until)


def _told(url: str, entry: _Entry) -> str:
    last = f"; the last good snapshot is {entry.file}" if entry.file and entry.trouble else ""
    return (
        f"{url}, asked at {entry.asked:%Y-%m-%dT%H:%M:%SZ}: {entry.trouble or 'its snapshot is gone'}; "
        f"it may be asked again from {entry.until:%Y-%m-%dT%H:%M:%SZ}{last}"
    )


def _request(url: str, known: _Entry | None) -> urllib.request.Request:
    version = importlib.metadata.version("steelyard")
    headers = {"User-Agent": f"steelyard/{version} (orbital fetch)", "Accept-Encoding": "gzip"}
    if known is not None and known.etag:
        headers["If-None-Match"] = known.etag
    if known is not None and known.modified:
        headers["If-Modified-Since"] = known.modified
    return urllib.request.Request(url, headers=headers)  # noqa: S310 - `_address` lets only http and https through


def _asked(request: urllib.request.Request, timeout_s: float) -> tuple[int, Any, bytes | str]:
    """Status, headers and body of the answer, whatever its status; words in place of a body that breaks off."""
    try:
        answer = urllib.request.urlopen(request, timeout=timeout_s)  # noqa: S310 - as in `_request`
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        try:
            return answer.status, answer.headers, _body(answer) if answer.status == 200 else answer.read(2000)
        except _BROKEN as error:
            return answer.status, answer.headers, f"its body cannot be read: {_why(error)}"


def _why(error: Exception) -> str:
    return " ".join(str(getattr(error, "reason", error)).split()) or type(error).__name__


def _body(answer: Any) -> bytes:
    """The unpacked body; ValueError where it is too long, or shorter than it was to be."""
    data: bytes = answer.read(MOST_BYTES + 1)
    if answer.length and len(data) <= MOST_BYTES:  # `read` with a size says nothing of a body that breaks off
        raise ValueError(f"the answer broke off {answer.length} bytes before its end")
    if answer.headers.get("Content-Encoding") == "gzip":
        unpacker = zlib.decompressobj(wbits=31)
        data = unpacker.decompress(data, MOST_BYTES + 1)
        if not unpacker.eof and len(data) <= MOST_BYTES:
            raise ValueError("the packed answer breaks off before its end")
    if len(data) > MOST_BYTES:
        raise ValueError(f"more than {MOST_BYTES} bytes, which is no catalogue")
    return data


def _retry_after(headers: Any, at: datetime) -> datetime:
    text = (headers.get("Retry-After") or "").strip()
    if text.isdecimal():
        return at + timedelta(seconds=min(int(text), 7 * 86400))
    try:
        when = parsedate_to_datetime(text)
    except ValueError:
        return at
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def _entry(
    folder: Path,
    url: str,
    suffix: str,
    answer: tuple[int, Any, bytes | str],
    known: _Entry | None,
    times: tuple[datetime, datetime],
    tier: snapshots.Tier,
) -> tuple[_Entry, bool]:
    """What to remember of an answer, and whether it brought new data."""
    status, headers, body = answer
    at, until = times
    if status == 304 and known is not None:
        return msgspec.structs.replace(known, asked=at, until=until, trouble=""), False
    if isinstance(body, str):
        trouble = f"answered {status}, and {body}"
    else:
        trouble = f"answered {status}: {_words(body)}" if status != 200 else _not_a_catalogue(body, suffix)
    if trouble or isinstance(body, str):
        return msgspec.structs.replace(known or _Entry(at, until), asked=at, until=until, trouble=trouble), False
    source = snapshots.source_named(url)
    kept = snapshots.keep(folder, body, suffix, source=source, tier=tier, url=url, fetched=at)
    made = _Entry(at, until, kept.name, headers.get("ETag") or "", headers.get("Last-Modified") or "")
    return made, not (known and known.file == kept.name)


def _not_a_catalogue(body: bytes, suffix: str) -> str:
    """Why a body is no catalogue, or nothing."""
    from steelyard.families.orbital.catalogue import load_catalogue  # needs the extra "orbital"

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{sha256_hex(body)[:12]}{suffix}"
        path.write_bytes(body)
        try:
            load_catalogue(path)
        except FormatError as error:
            return f"the answer is no catalogue ({error.detail}): {_words(body)}"
    return ""


def _words(body: bytes) -> str:
    return " ".join(body[:200].decode("utf-8", "replace").split()) or "nothing"
