"""Command group `orbital`: check golds, screen a catalogue, synthesise one, fetch or keep a snapshot."""

from __future__ import annotations

import argparse
import statistics
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from steelyard.errors import InputError

if TYPE_CHECKING:  # the heavy parts load only when a command runs
    from steelyard.families.orbital.catalogue import Catalogue
    from steelyard.families.orbital.screening import Event, Screening

_STALE_DAYS = 14.0
_COLUMNS = "       A        B  TCA (UTC)                  range km   km/s    age A    age B (days)"


def add_commands(parser: argparse.ArgumentParser) -> None:
    """Add this group's commands to its parser; each sets `run`, a function from the arguments to an exit code."""
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_check(commands)
    _add_screen(commands)
    _add_synthesise(commands)
    _add_fetch(commands)
    _add_keep(commands)


def _add_check(commands: Any) -> None:
    check = commands.add_parser(
        "check",
        help="derive every gold of a suite again from the elements that its items print",
        description="Derive every gold of a suite again from the elements that its items print. "
        "Exit code 1 when a gold does not follow or stands on refused elements.",
    )
    check.add_argument("file", metavar="FILE", help="a .jsonl file of items, or a suite's folder")
    check.add_argument("--json", action="store_true", help="print one JSON array instead of lines")
    check.set_defaults(run=_check)


def _add_screen(commands: Any) -> None:
    screen = commands.add_parser(
        "screen",
        help="find every close approach of every two objects of a catalogue",
        description="Find every close approach of every two objects of a catalogue in a window, as SGP4 (WGS 72, "
        "improved mode) has it: no covariance, no probability. Progress goes to standard error.",
    )
    screen.add_argument("file", metavar="FILE", type=Path, help="a catalogue: TLE, 3LE, or OMM as CSV, JSON or XML")
    screen.add_argument("--start", required=True, metavar="ISO", help="start of the window, UTC: 2024-11-01T00:00:00Z")
    screen.add_argument("--hours", type=float, default=24.0, help="length of the window (default 24)")
    screen.add_argument("--threshold-km", type=float, default=5.0, help="greatest distance of an event (default 5)")
    screen.add_argument(
        "--sieve",
        choices=("astroz", "grid"),
        help='what proposes pairs to sgp4: "astroz" is quick, "grid" needs no further package '
        "(default: astroz where it is installed)",
    )
    screen.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    screen.set_defaults(run=_screen)


def _add_synthesise(commands: Any) -> None:
    synthesise = commands.add_parser(
        "synthesise",
        help="write a made-up catalogue: seeded, CC0, numbers from 100000",
        description="Write a made-up catalogue that fills the sky as the real one does: seeded, CC0-1.0, numbers from "
        "100000 on, with a description beside it that says so. The first objects of a seed never change.",
    )
    synthesise.add_argument("--seed", default="0", help="seed text (default 0)")
    synthesise.add_argument("--objects", type=int, default=10_000, help="how many (default 10000)")
    synthesise.add_argument("--out", type=Path, required=True, help="a new file: .json, .csv, .xml, .tle or .3le")
    synthesise.set_defaults(run=_synthesise)


def _add_fetch(commands: Any) -> None:
    fetch = commands.add_parser(
        "fetch",
        help="download a snapshot of a catalogue, never twice within the provider's interval",
        description="Download a snapshot of a catalogue from a provider's public endpoint. Within the provider's "
        "interval the snapshot at hand is named instead and nothing is asked.",
    )
    fetch.add_argument("--source", default="celestrak", help='"celestrak", or an http(s) address')
    fetch.add_argument("--group", default="active", help="the provider's name of a group (default active)")
    fetch.add_argument("--format", default="json", help="json, csv, xml, tle or 3le (default json)")
    fetch.add_argument("--out", type=Path, required=True, help="folder of snapshots")
    fetch.add_argument("--interval-hours", type=float, help="leave the provider alone for longer than it asks")
    fetch.add_argument("--timeout-s", type=float, default=60.0, help="longest silence to wait for (default 60)")
    fetch.add_argument("--tier", choices=("live", "raw"), default="live", help='"raw" may be shipped (default live)')
    fetch.add_argument("--json", action="store_true", help="print one JSON object")
    fetch.set_defaults(run=_fetch)


def _add_keep(commands: Any) -> None:
    keep = commands.add_parser(
        "keep",
        help="make a snapshot of a catalogue file that you have",
        description="Copy a catalogue file to FOLDER, named by its hash, with its source and terms beside it.",
    )
    keep.add_argument("file", metavar="FILE", type=Path, help="a catalogue: TLE, 3LE, or OMM as CSV, JSON or XML")
    keep.add_argument("--source", required=True, help="who gave it: celestrak, space-track, or another name")
    keep.add_argument("--out", type=Path, required=True, help="folder of snapshots")
    keep.set_defaults(run=_keep)


def _check(arguments: argparse.Namespace) -> int:
    from steelyard.families.orbital.check import check_file  # heavy parts only when the command runs

    checks = check_file(arguments.file)
    bad = sum(check.bad for check in checks)
    if arguments.json:
        _print_json(checks)
        return 1 if bad else 0
    for check in checks:
        derived = f", derived {check.derived!r}" if check.derived else ""
        reason = f": {check.reason}" if check.reason else ""
        sys.stdout.write(f"{check.status:13s} {check.id} (gold {check.expected!r}{derived}){reason}\n")
    sys.stdout.write(f"{len(checks)} golds, {bad} bad\n")
    return 1 if bad else 0


def _screen(arguments: argparse.Namespace) -> int:
    from steelyard.families.orbital.catalogue import load_catalogue  # as above
    from steelyard.families.orbital.screening import screen  # as above

    start = _instant(arguments.start)
    loaded = load_catalogue(arguments.file)
    _tell_refused(loaded, arguments.file)
    _tell_stale(loaded, start)
    done = [0.0]

    def progress(minutes: float, of: float, events: int) -> None:
        done[0] = minutes
        sys.stderr.write(f"screened {minutes / 60:.1f} of {of / 60:.1f} h, {events} approaches so far\n")

    try:
        found = screen(
            loaded.objects,
            start,
            arguments.hours,
            arguments.threshold_km,
            sieve=arguments.sieve,
            progress=progress,
        )
    except KeyboardInterrupt:
        sys.stderr.write(
            f"the screening was stopped after {done[0] / 60:.1f} of {arguments.hours:.1f} h; nothing is printed, "
            "since a part would look like the whole; take fewer --hours\n"
        )
        raise
    if arguments.json:
        _print_json(found)
    else:
        _print_screening(found)
    return 0


def _instant(text: str) -> datetime:
    try:
        when = datetime.fromisoformat(text)
        return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InputError(f"--start: expected an instant such as 2024-11-01T00:00:00Z, got {text!r}") from error


def _tell_refused(loaded: Catalogue, path: Path) -> None:
    if loaded.refused:
        first = loaded.refused[0]
        sys.stderr.write(
            f"{path}: {len(loaded.refused)} records refused, {len(loaded.objects)} loaded; "
            f"the first is line {first.line}: {first.reason}\n"
        )


def _tell_stale(loaded: Catalogue, start: datetime) -> None:
    """A warning where most epochs are far from the window: SGP4 gives states all the same, and they mean little."""
    days = statistics.median((start - e.epoch) / timedelta(days=1) for e in loaded.objects)
    if abs(days) > _STALE_DAYS:
        when = "older than" if days > 0 else "later than"
        sys.stderr.write(
            f"the element sets are {abs(days):.0f} days {when} the window in the median; SGP4 is off by a kilometre or "
            "more for every day, so these approaches mean little\n"
        )


def _print_screening(found: Screening) -> None:
    out = sys.stdout
    out.write(
        f"{found.objects} objects, {found.start} and {found.hours:g} h, threshold {found.threshold_km:g} km, "
        f"SGP4 with WGS 72, sieve {found.sieve}\n{len(found.events)} close approaches\n"
    )
    if found.events:
        out.write(_COLUMNS + "\n")
    for event in found.events:
        out.write(_line(event) + "\n")
    if found.together:
        out.write(f"{len(found.together)} pairs named apart, each where it is nearest\n")
    for pair in found.together:
        out.write(f"{_line(pair.nearest)}  {pair.kind}\n")
    if found.failed:
        out.write(f"{len(found.failed)} objects without a state in the window or a part of it\n")
    for failed in found.failed:
        out.write(
            f"{failed.norad_id:8d}  from {failed.after_min:.0f} min on: error code {failed.code}, {failed.reason}\n"
        )


def _line(event: Event) -> str:
    return (
        f"{event.a:8d} {event.b:8d}  {event.tca}  {event.distance_km:9.3f} {event.speed_km_s:6.3f} "
        f"{event.age_a_days:8.2f} {event.age_b_days:8.2f}"
    )


def _print_json(value: Any) -> None:
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")


def _synthesise(arguments: argparse.Namespace) -> int:
    from steelyard.families.orbital import sky, snapshots  # as above
    from steelyard.families.orbital.catalogue import catalogue_text  # as above
    from steelyard.store import write_atomic  # as above

    path: Path = arguments.out
    if path.exists():
        raise InputError(f"{path} is there already; choose a new name")
    objects = sky.catalogue(arguments.seed, arguments.objects)
    write_atomic(path, catalogue_text(objects, path.suffix))
    snapshots.describe(path, source=snapshots.SYNTHETIC, tier="raw")
    sys.stdout.write(f"{len(objects)} objects, {sky.PROVENANCE}, {sky.LICENSE}: {path}\n")
    return 0


def _fetch(arguments: argparse.Namespace) -> int:
    from steelyard.families.orbital.fetching import fetch  # as above

    found = fetch(
        arguments.source,
        arguments.out,
        group=arguments.group,
        form=arguments.format,
        tier=arguments.tier,
        interval_hours=arguments.interval_hours,
        timeout_s=arguments.timeout_s,
    )
    if arguments.json:
        sys.stdout.write(msgspec.json.encode(found, enc_hook=str).decode() + "\n")
    else:
        sys.stdout.write(f"{found.status}: {found.path} (ask again from {found.next_from:%Y-%m-%dT%H:%M:%SZ})\n")
    return 0


def _keep(arguments: argparse.Namespace) -> int:
    from steelyard.families.orbital.fetching import keep_file  # as above

    sys.stdout.write(f"{keep_file(arguments.file, arguments.out, source=arguments.source)}\n")
    return 0
