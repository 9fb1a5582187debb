"""What this machine can isolate, from real probes, and facts about it that can explain a slow or a failed run.

Each backend is tried with an honest and a hostile program a guarantee; that takes some seconds. `enforced`: the honest
one worked and the hostile one was stopped; `untested`: the honest one failed too, which proves nothing.
Exit code 0 when a backend that isolates enforces all that a job requires, else 1. Lines marked [INFO] never change it.
`steelyard doctor endpoint TARGET` probes a model's endpoint instead (see its own --help).
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import msgspec

from steelyard import __version__
from steelyard.cli import doctor_endpoint
from steelyard.errors import SteelyardError
from steelyard.models.weights import WEIGHTS, cache_folder, installed
from steelyard.ports import Guarantee, Limits, SandboxSpec
from steelyard.sandbox.choose import UNSAFE, open_sandbox
from steelyard.sandbox.guarantees import Probed, probe_guarantees

ISOLATING = ("bubblewrap", "docker")
BACKENDS = (*ISOLATING, UNSAFE)
ENGINE_FLAGS = {"x86_64": ("avx", "avx2", "fma", "f16c", "bmi2")}
"""CPU flags that the wheel of the embedded engine was built for (docs/decisions/004), by machine."""

_GIB = 1024**3


class Backend(msgspec.Struct, frozen=True):
    """One backend: why it is not there, or what its probes found; `lacks` is what a job requires beyond that."""

    kind: str
    name: str = ""
    refusal: str = ""
    probed: list[Probed] = []
    lacks: list[Guarantee] = []

    @property
    def is_ready(self) -> bool:
        """Whether jobs can run in it as they are."""
        return self.kind in ISOLATING and not self.refusal and not self.lacks


class Fact(msgspec.Struct, frozen=True):
    """One line that informs."""

    about: str
    text: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `steelyard doctor` and of `steelyard doctor endpoint`."""
    parser.add_argument("--json", action="store_true", help="print JSON")
    parts = parser.add_subparsers(dest="part", metavar="endpoint TARGET")
    endpoint = parts.add_parser(
        "endpoint",
        help="probe an endpoint",
        description=doctor_endpoint.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    doctor_endpoint.add_arguments(endpoint)


def run(args: argparse.Namespace) -> int:
    """Probe every backend, then tell about the machine; 1 when no backend enforces what a job requires."""
    if args.part == "endpoint":
        return doctor_endpoint.run(args)
    backends = [examine(kind) for kind in BACKENDS]
    facts = [Fact(about, _told(tell)) for about, tell in _FACTS.items()]
    ready = [backend.name for backend in backends if backend.is_ready]
    if args.json:
        required = SandboxSpec().require
        print(
            msgspec.json.encode({"backends": backends, "required": required, "ready": ready, "facts": facts}).decode()
        )
    else:
        print("\n".join([*_table(backends), "", _conclusion(backends), "", *_lines(facts)]))
    return 0 if ready else 1


def examine(kind: str) -> Backend:
    """Open a backend by its name and try each of its guarantees; a backend that is not here says why."""
    try:
        sandbox = open_sandbox(kind, allow_unsafe=True)
        if sandbox is None:
            return Backend(kind, refusal="no sandbox")
        probed = probe_guarantees(sandbox)
    except SteelyardError as error:
        return Backend(kind, refusal=str(error))
    held = {p.guarantee for p in probed if p.state == "enforced" and p.claimed}
    return Backend(kind, sandbox.name, "", probed, [g for g in SandboxSpec().require if g not in held])


def _table(backends: list[Backend]) -> list[str]:
    """Backend by guarantee, the refusals, and every probe that found other than what its backend claims."""
    names = get_args(Guarantee)
    widths = [max(len(name), len("not enforced")) for name in names]
    first = max(len(backend.name or backend.kind) for backend in backends)
    rows = ["  ".join([" " * first, *(n.ljust(w) for n, w in zip(names, widths, strict=True))]).rstrip()]
    notes = []
    for backend in backends:
        if backend.refusal:
            rows.append(f"{backend.kind:<{first}}  {backend.refusal}")
            continue
        states = [p.state.ljust(w) for p, w in zip(backend.probed, widths, strict=True)]
        rows.append("  ".join([f"{backend.name:<{first}}", *states]).rstrip())
        notes += [f"  {backend.name}: {p.guarantee}: {_odd(p)}" for p in backend.probed if _odd(p)]
    return [*rows, *(["", *notes] if notes else [])]


def _odd(probed: Probed) -> str:
    """What is unexpected about a probe; empty when it found what the backend claims."""
    if probed.state == "untested":
        return probed.detail
    if probed.claimed and probed.state == "not enforced":
        return f"claimed, but the hostile program was not stopped ({probed.detail})"
    if not probed.claimed and probed.state == "enforced":
        return "stopped this time, but not claimed, so a job that requires it is refused"
    return ""


def _conclusion(backends: list[Backend]) -> str:
    required = ", ".join(SandboxSpec().require)
    ready = [backend.name for backend in backends if backend.is_ready]
    if ready:
        return f"ready: {', '.join(ready)} (a job requires {required})"
    found = [
        f"{b.kind} {'is not here' if b.refusal else 'lacks ' + ', '.join(b.lacks)}"
        for b in backends
        if b.kind in ISOLATING
    ]
    return f"not ready: a job requires {required}; {'; '.join(found)}"


def _lines(facts: list[Fact]) -> list[str]:
    width = max(len(fact.about) for fact in facts)
    return [f"[INFO] {fact.about:<{width}}  {fact.text}" for fact in facts]


def _told(tell: Callable[[], str]) -> str:
    try:
        return tell()
    except Exception as error:  # noqa: BLE001 - a line that informs says what it could not find out, and never fails
        return f"not known: {type(error).__name__}: {error}"


def _python() -> str:
    return f"Python {platform.python_version()} ({sys.executable}), steelyard {__version__}"


def _platform() -> str:
    user = f", user id {os.geteuid()}" if hasattr(os, "geteuid") else ""
    return f"{platform.platform()}{user}"


def _cpu() -> str:
    """Cores, and whether the flags that the embedded engine needs are there."""
    usable = f"{_usable_cpus()} of {os.cpu_count()} cores usable"
    machine = platform.machine()
    needed = ENGINE_FLAGS.get(machine)
    if needed is None:
        return f"{usable}, {machine}; nothing is known of what the embedded engine needs here"
    found = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    if found is None:
        return f"{usable}, {machine}; the flags of this CPU are not known"
    missing = [flag for flag in needed if flag not in found[1].split()]
    told = f"lacks {', '.join(missing)}, so it will not start" if missing else f"finds {', '.join(needed)}"
    return f"{usable}, {machine}; the embedded engine {told}"


def _usable_cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory() -> str:
    text = Path("/proc/meminfo").read_text()
    total, free = (int(re.findall(rf"^{name}:\s+(\d+) kB", text, re.MULTILINE)[0]) for name in _MEMORY_NAMES)
    limits = [_limit(path) for path in _MEMORY_LIMITS if path.is_file()]
    bound = min([limit for limit in limits if limit is not None and limit < total * 1024], default=None)
    cgroup = f", limited to {bound / _GIB:.1f} GiB by a cgroup" if bound is not None else ""
    return f"{free * 1024 / _GIB:.1f} GiB available of {total * 1024 / _GIB:.1f} GiB{cgroup}; a session may use " + (
        f"{Limits().memory_bytes / _GIB:.1f} GiB"
    )


_MEMORY_NAMES = ("MemTotal", "MemAvailable")
_MEMORY_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def _limit(path: Path) -> int | None:
    text = path.read_text().strip()
    return int(text) if text.isdigit() else None


def _disk() -> str:
    places = [("cache", cache_folder()), ("temporary", Path(tempfile.gettempdir()))]
    if _WORK_TREES.is_dir():
        places.append(("work trees", _WORK_TREES))
    return "; ".join(f"{name} {_free(path)}" for name, path in places)


_WORK_TREES = Path("/dev/shm")  # noqa: S108  only asked how much is free there


def _free(path: Path) -> str:
    """Free space where `path` is or will be."""
    there = next(parent for parent in (path, *path.parents) if parent.exists())
    return f"{shutil.disk_usage(there).free / _GIB:.1f} GiB free at {path}"


def _clock() -> str:
    """Resolutions only: without another clock to ask, skew cannot be measured."""
    wall, monotonic = time.get_clock_info("time"), time.get_clock_info("monotonic")
    now = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())
    return (
        f"{now} UTC; resolution {wall.resolution:g} s wall, {monotonic.resolution:g} s monotonic; "
        "skew is not measured, since nothing outside is asked"
    )


def _dials() -> str:
    """What the settings that bound concurrency come to here, when nothing is said on the command line."""
    from steelyard.run.engine import PROBES_AT_ONCE  # the engine brings asyncio, which only this line needs
    from steelyard.run.plan import Plan
    from steelyard.solvers.tools import CALLS_AT_ONCE

    calls = {field.name: field.default for field in msgspec.structs.fields(Plan)}["concurrency"]
    return (
        f"model calls in flight {calls} (--concurrency), tool calls at once {CALLS_AT_ONCE}, "
        f"probes at once {PROBES_AT_ONCE}, workers for slow decisions {_usable_cpus()}"
    )


def _weights() -> str:
    there = [f"{name} {'present' if installed(name) else 'absent'}" for name in WEIGHTS]
    return f"{', '.join(there)} (steelyard models pull NAME)"


def _extras() -> str:
    """Each extra of the distribution, with the packages that are missing for it."""
    found = importlib.metadata.distribution("steelyard")
    extras: dict[str, list[str]] = {str(name): [] for name in found.metadata.get_all("Provides-Extra") or []}
    for requirement in found.requires or []:
        name, _, marker = requirement.partition(";")
        extra = re.search(r"""extra == ['"]([^'"]+)['"]""", marker)
        package = re.split(r"[^A-Za-z0-9._-]", name.strip(), maxsplit=1)[0]
        if extra and package != "steelyard" and not _is_installed(package):
            extras[extra[1]].append(package)
    extras.pop("all", None)
    return ", ".join(f"{name} {'lacks ' + ' '.join(gone) if gone else 'installed'}" for name, gone in extras.items())


def _is_installed(package: str) -> bool:
    try:
        importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


_FACTS: dict[str, Callable[[], Any]] = {
    "python": _python,
    "platform": _platform,
    "cpu": _cpu,
    "memory": _memory,
    "disk": _disk,
    "clock": _clock,
    "concurrency": _dials,
    "weights": _weights,
    "extras": _extras,
}
