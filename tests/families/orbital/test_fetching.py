"""Snapshots and fetching them, against a real server on this machine."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from steelyard.canonical import sha256_hex
from steelyard.errors import FormatError, InputError, RefusedError
from steelyard.families.orbital import fetching, objects, sky, snapshots
from steelyard.families.orbital.catalogue import catalogue_text, load_catalogue
from steelyard.families.orbital.fetching import FetchError, fetch, keep_file

pytest.importorskip("sgp4", reason="needs the extra orbital")

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
BODY = catalogue_text(sky.catalogue("fetching", 5), ".json").encode()
NEWER = catalogue_text(sky.catalogue("newer", 5), ".json").encode()


class Endpoint(ThreadingHTTPServer):
    """A provider: answers with `status` and `body`, 304 to a known ETag, and keeps what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.status, self.body, self.headers, self.silence_s = 200, BODY, {}, 0.0
        self.asked: list[tuple[str, dict[str, str]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/gp.php?GROUP={{group}}&FORMAT={{format}}"


class _Answer(BaseHTTPRequestHandler):
    server: Endpoint

    def do_GET(self) -> None:
        """Answer one request."""
        self.server.asked.append((self.path, dict(self.headers)))
        time.sleep(self.server.silence_s)
        etag = f'"{sha256_hex(self.server.body)[:8]}"'
        same = self.headers.get("If-None-Match") == etag and self.server.status == 200
        self.send_response(304 if same else self.server.status)
        body = b"" if same else self.server.body
        for name, value in {"ETag": etag, "Content-Length": str(len(body)), **self.server.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Keep the test's output clean."""


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """A provider on this machine."""
    server = Endpoint()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def at(hours: float) -> Callable[[], datetime]:
    """A clock that stands some hours after noon."""
    return lambda: NOON + timedelta(hours=hours)


def test_a_snapshot_is_named_by_its_hash_with_its_source_beside_it(endpoint: Endpoint, tmp_path: Path) -> None:
    """The bytes are kept as they came, read-only, with tier, source, terms, address and time. [T-39]"""
    found = fetch(endpoint.url, tmp_path, group="last-30-days", now=at(0))
    assert ("new", f"{sha256_hex(BODY)}.json") == (found.status, found.path.name)
    assert BODY == found.path.read_bytes()
    assert 0o444 == found.path.stat().st_mode & 0o777
    kept = snapshots.load(found.path)
    assert ("live", "127.0.0.1", snapshots.UNKNOWN_TERMS) == (kept.tier, kept.source, kept.terms)
    assert (len(BODY), NOON) == (kept.size, kept.fetched)
    assert 5 == len(load_catalogue(found.path).objects)
    path, headers = endpoint.asked[0]
    assert "/gp.php?GROUP=last-30-days&FORMAT=json" == path
    assert headers["User-Agent"].startswith("steelyard/")


def test_nothing_is_asked_twice_within_the_interval(endpoint: Endpoint, tmp_path: Path) -> None:
    """The snapshot at hand is named; after the interval the provider is asked once more. [T-39]"""
    first = fetch(endpoint.url, tmp_path, now=at(0))
    again = fetch(endpoint.url, tmp_path, now=at(0.99))
    assert ("kept", first.path, 1) == (again.status, again.path, len(endpoint.asked))
    assert NOON + timedelta(hours=1) == again.next_from
    fetch(endpoint.url, tmp_path, now=at(1.01))
    assert 2 == len(endpoint.asked)


def test_what_has_not_changed_is_not_sent_again(endpoint: Endpoint, tmp_path: Path) -> None:
    """The second request is conditional, its 304 confirms the snapshot, and new data makes a second file. [T-39]"""
    first = fetch(endpoint.url, tmp_path, now=at(0))
    second = fetch(endpoint.url, tmp_path, now=at(2))
    assert ("unchanged", first.path) == (second.status, second.path)
    assert "If-None-Match" in endpoint.asked[1][1]
    endpoint.body = NEWER
    third = fetch(endpoint.url, tmp_path, now=at(4))
    assert ("new", f"{sha256_hex(NEWER)}.json") == (third.status, third.path.name)
    assert BODY == first.path.read_bytes()


def test_an_answer_of_another_status_counts_as_asked(endpoint: Endpoint, tmp_path: Path) -> None:
    """403 is told in the provider's words, is not tried again before the interval, and loses no snapshot. [T-39]"""
    first = fetch(endpoint.url, tmp_path, now=at(0))
    endpoint.status, endpoint.body = 403, b"GP data has not updated"
    with pytest.raises(FetchError, match=r"answered 403: GP data has not updated; it may be asked again from .*14:00"):
        fetch(endpoint.url, tmp_path, now=at(1))
    with pytest.raises(FetchError, match=f"the last good snapshot is {first.path.name}"):
        fetch(endpoint.url, tmp_path, now=at(1.5))
    assert 2 == len(endpoint.asked)
    endpoint.status, endpoint.body = 200, BODY
    assert "unchanged" == fetch(endpoint.url, tmp_path, now=at(2.5)).status


@pytest.mark.parametrize("value", ["10800", "Wed, 01 Jul 2026 15:00:00 GMT"])
def test_retry_after_is_kept_to(endpoint: Endpoint, tmp_path: Path, value: str) -> None:
    """Seconds or a date: nothing is asked before it. [T-39]"""
    endpoint.status, endpoint.headers = 429, {"Retry-After": value}
    for hours in (0, 2.9):
        with pytest.raises(FetchError, match=r"answered 429.*asked again from 2026-07-01T15:00:00Z"):
            fetch(endpoint.url, tmp_path, now=at(hours))
    assert 1 == len(endpoint.asked)


def test_an_answer_that_is_no_catalogue_is_not_kept(endpoint: Endpoint, tmp_path: Path) -> None:
    """An error page with status 200 is told, and only the state is written. [T-39]"""
    endpoint.body = b"Invalid query: GROUP not found"
    with pytest.raises(FetchError, match=r"the answer is no catalogue .*Invalid query: GROUP not found"):
        fetch(endpoint.url, tmp_path, now=at(0))
    assert [fetching.STATE] == sorted(p.name for p in tmp_path.iterdir() if not p.name.startswith("."))


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_an_answer_that_breaks_off_is_not_kept_and_counts_as_asked(
    endpoint: Endpoint, tmp_path: Path, packed: bool
) -> None:
    """Half a catalogue would load as a smaller one; the provider has answered, so its interval holds. [T-39]"""
    lines = catalogue_text(sky.catalogue("broken", 50), ".tle").encode()
    if packed:
        endpoint.body, endpoint.headers = gzip.compress(lines)[:-600], {"Content-Encoding": "gzip"}
    else:
        endpoint.body, endpoint.headers = lines[:4000], {"Content-Length": str(len(lines))}
    for hours in (0, 0.5):
        with pytest.raises(FetchError, match=r"answered 200, and its body cannot be read: .* asked again from .*13:00"):
            fetch(endpoint.url, tmp_path, form="tle", now=at(hours))
    assert 1 == len(endpoint.asked)
    assert not list(tmp_path.glob("*.tle"))


def test_compressed_answers_are_unpacked(endpoint: Endpoint, tmp_path: Path) -> None:
    """The snapshot is the unpacked file. [T-39]"""
    endpoint.body, endpoint.headers = gzip.compress(BODY), {"Content-Encoding": "gzip"}
    assert BODY == fetch(endpoint.url, tmp_path, now=at(0)).path.read_bytes()


def test_silence_is_an_error_after_the_time_limit_and_may_be_tried_at_once(endpoint: Endpoint, tmp_path: Path) -> None:
    """No answer is no request that counts. [T-39]"""
    endpoint.silence_s = 1.0
    with pytest.raises(FetchError, match=r"gave no answer: .*; it may be tried again at once"):
        fetch(endpoint.url, tmp_path, timeout_s=0.2, now=at(0))
    endpoint.silence_s = 0.0
    assert "new" == fetch(endpoint.url, tmp_path, now=at(0.1)).status


def test_nobody_listening_is_one_line(tmp_path: Path) -> None:
    """A refused connection names the address. [T-39]"""
    with pytest.raises(FetchError, match=r"http://127\.0\.0\.1:9/ gave no answer"):
        fetch("http://127.0.0.1:9/", tmp_path, now=at(0))


def test_a_snapshot_that_was_changed_is_told(endpoint: Endpoint, tmp_path: Path) -> None:
    """Write-once: bytes that do not fit the sidecar are an error, not data. [T-39]"""
    found = fetch(endpoint.url, tmp_path, now=at(0))
    found.path.chmod(0o644)
    found.path.write_bytes(NEWER)
    with pytest.raises(FormatError, match="not those that its sidecar describes"):
        fetch(endpoint.url, tmp_path, now=at(0.5))


@pytest.mark.parametrize(
    ("source", "options", "error", "words"),
    [
        ("space-track", {}, RefusedError, "only after a login"),
        ("celestrack", {}, InputError, 'did you mean "celestrak"'),
        ("ftp://127.0.0.1/x", {}, InputError, "expected an http or https address"),
        ("celestrak", {"form": "jsn"}, InputError, 'did you mean "json"'),
        ("celestrak", {"interval_hours": 0.5}, RefusedError, "left alone for 2 h"),
        ("https://celestrak.org/gp.php?GROUP=x", {"interval_hours": 1.5}, RefusedError, "left alone for 2 h"),
        ("http://127.0.0.1:9/", {"interval_hours": 0.0}, RefusedError, "left alone for 1 h"),
        ("http://127.0.0.1:9/", {"interval_hours": float("nan")}, InputError, "number of hours of at most"),
        ("http://127.0.0.1:9/", {"interval_hours": float("inf")}, InputError, "number of hours of at most"),
        ("https://www.space-track.org/x", {"tier": "raw"}, RefusedError, "may not be passed on"),
    ],
)
def test_what_must_not_be_asked_is_refused_before_asking(tmp_path: Path, source, options, error, words) -> None:
    """Logins, unknown names, other schemes, a shorter interval and a tier that ships. [T-39]"""
    with pytest.raises(error, match=words):
        fetch(source, tmp_path, **options)


def test_a_file_at_hand_becomes_a_snapshot_with_its_terms(tmp_path: Path) -> None:
    """`keep` copies it under its hash; twice is once. [T-39]"""
    path = tmp_path / "mine.json"
    path.write_bytes(BODY)
    kept = keep_file(path, tmp_path / "kept", source="space-track")
    assert kept == keep_file(path, tmp_path / "kept", source="space-track")
    assert ("live", "space-track") == (snapshots.load(kept).tier, snapshots.load(kept).source)


def test_items_of_provider_elements_have_no_licence(tmp_path: Path, cli) -> None:
    """A provider's file and one of unknown origin give none; the generator and its files are CC0-1.0. [T-39]"""
    cli("orbital", "synthesise", "--objects", 5, "--out", tmp_path / "sky.json")
    made_up, unknown = tmp_path / "sky.json", tmp_path / "unknown.json"
    unknown.write_bytes(BODY)
    provider = snapshots.keep(tmp_path, BODY, ".json", source="celestrak", tier="raw")
    sources = (None, made_up, provider, unknown)
    assert ["CC0-1.0", "CC0-1.0", "", ""] == [snapshots.licence_of(source) for source in sources]
    assert [("CC0-1.0", False), ("", True)] == [
        (made.license, made.real) for made in (objects.source(made_up), objects.source(provider))
    ]
    made_up.write_bytes(BODY)
    assert "" == snapshots.licence_of(made_up)


def test_the_command_tells_what_is_at_hand(endpoint: Endpoint, tmp_path: Path, cli) -> None:
    """New, then kept without a second request; a failure exits 2 in one line. [T-39]"""
    arguments = ("orbital", "fetch", "--source", endpoint.url, "--out", tmp_path / "kept")
    assert cli(*arguments).stdout.startswith("new: ")
    assert cli(*arguments).stdout.startswith("kept: ")
    assert 1 == len(endpoint.asked)
    endpoint.status = 503
    assert "answered 503" in cli(*arguments, "--group", "other", code=2).stderr
