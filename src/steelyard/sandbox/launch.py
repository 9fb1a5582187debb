"""How a command is started: the shell launchers, the limits they set, and what of the host is shown inside.

Arguments always travel as "$@", never as shell text. `JOIN` runs outside and enters the cgroups. `INSIDE` is the
first process inside: it says on the side channel that it started, drops that channel before any code of others runs
(so that nothing inside can take the word back and turn a failure into a fault of the sandbox), sets rlimits, starts
the command, and at its end reports how many processes were left. That last report is a diagnosis only: code inside
can reach it, and nothing is decided by it.
Source: POSIX sh (`ulimit -f` counts 512-byte blocks); setrlimit(2).
Easy to break: shells differ in the letter for processes (`-u` in bash, `-p` in dash).
"""

from __future__ import annotations

import contextlib
import math
import os
import posixpath
import re
import resource
import signal
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from steelyard.errors import InputError
from steelyard.ports import Limits
from steelyard.sandbox.workspace import WORK

JOIN = """n=$1; shift
while [ "$n" -gt 0 ]; do echo 0 > "$1" || exit 121; shift; n=$((n-1)); done
exec "$@" """

INSIDE = """echo started >&2
exec 2>/dev/null
ulimit -c 0; ulimit -n "$2"; ulimit -f "$3"; ulimit -t "$4"
[ "$5" = 0 ] || ulimit -v "$5"
[ "$6" = 0 ] || ulimit -u "$6" 2>/dev/null || ulimit -p "$6"
report=$1; shift 6
(exec 2>&1; exec "$@")
rc=$?
set -- /proc/[0-9]*
[ "$report" = 0 ] || echo "$(($# - 1))" > "/proc/self/fd/$report"
exit $rc"""

Why = Literal["exit", "signal", "timeout", "output", "oom", "pids", "disk", "infra"]
STARTED = "started"
ID_INSIDE = "10001"  # an ordinary user id that no host service has
ETC = {
    "passwd": f"user:x:{ID_INSIDE}:{ID_INSIDE}:user:/tmp/home:/bin/sh\n",
    "group": f"user:x:{ID_INSIDE}:\n",
    "hosts": "127.0.0.1 localhost\n",
}
_CPUS = os.cpu_count() or 1
_TMP_BYTES = 64 * 1024 * 1024  # /tmp and /dev/shm, each; charged to the memory cgroup
_SYSTEM_FOLDERS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_TAKEN = frozenset(
    f"/{name}" for name in (*_SYSTEM_FOLDERS, "usr", "etc", "opt", "proc", "dev", "tmp", "work", "packages")
)
_OPEN_FILES = 1024
_OWN_PROCESSES = 2  # the first process inside, and its forked shell before it becomes the command

BASE_ENV = {
    "HOME": "/tmp/home",  # noqa: S108  inside the sandbox: an empty folder on its own tmpfs
    "TMPDIR": "/tmp",  # noqa: S108
    "LANG": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHON_COLORS": "0",
    "PYTHONHASHSEED": "0",
}
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
_PYTHON = "/opt/python"  # a neutral place, so that no transcript shows where the host keeps its Python
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class View(msgspec.Struct, frozen=True):
    """What of the host is shown read-only: bwrap arguments, the environment, and the host folders behind them."""

    arguments: list[str]
    env: dict[str, str]
    shown: list[str]


def check_command(argv: Sequence[str]) -> None:
    """Refuse what no launcher can start."""
    if not argv or not argv[0] or argv[0].startswith("-"):
        raise InputError(f"a command needs a program first, got {list(argv)!r}")
    if any("\0" in part for part in argv):
        raise InputError("a command cannot hold a NUL")


def check_env(env: Mapping[str, str]) -> None:
    """Refuse environment names that are none."""
    for name, value in env.items():
        if not _ENV_NAME.fullmatch(name) or "\0" in value:
            raise InputError(f"not an environment variable: {name!r}")


def limited(
    argv: Sequence[str],
    limits: Limits,
    wall_s: float,
    *,
    report: int = 0,
    address_space: bool = False,
    processes: bool = False,
) -> list[str]:
    """The command under its rlimits; `report` is the handle for the number of processes left (0: none)."""
    numbers = (
        report,
        _OPEN_FILES,
        math.ceil(limits.file_bytes / 512),
        _cpu_s(wall_s),
        math.ceil(limits.memory_bytes / 1024) if address_space else 0,
        limits.pids + _OWN_PROCESSES if processes else 0,
    )
    return ["/bin/sh", "-c", INSIDE, "sh", *map(str, numbers), *argv]


def _cpu_s(wall_s: float) -> int:
    """A backstop for when nobody watches the wall clock."""
    return math.ceil(wall_s * _CPUS) + 1


def joined(argv: Sequence[str], entrances: Sequence[str]) -> list[str]:
    """The command after it has entered the given cgroups."""
    return ["/bin/sh", "-c", JOIN, "sh", str(len(entrances)), *entrances, *argv] if entrances else list(argv)


def left_over(report: int) -> int:
    """How many processes were alive when the command ended, as reported from inside through `report`."""
    os.set_blocking(report, False)
    try:
        text = os.read(report, 64)
    except BlockingIOError:
        return 0
    return int(text) if text.strip().isdigit() else 0


def why_of(rc: int) -> Why:
    """How a command ended that nobody stopped; the shell gives 128+n for signal n."""
    if rc == 128 + signal.SIGXFSZ:
        return "disk"
    return "signal" if rc < 0 or 128 < rc <= 192 else "exit"


def views(empty: Path) -> list[View]:
    """Ways to show the system and this Python, best first; `empty` is an empty folder that hides packages."""
    system = _system(empty)
    prefix = Path(sys.base_prefix).resolve()
    if prefix.is_relative_to("/usr") or not (prefix / "bin/python3").exists() or _holds_private(prefix):
        return [system]
    library = {"LD_LIBRARY_PATH": f"{_PYTHON}/lib"} if sysconfig.get_config_var("Py_ENABLE_SHARED") else {}
    neutral = _with_python(system, prefix, _PYTHON, library, empty)
    return [neutral, _with_python(system, prefix, str(prefix), {}, empty), system]


def _system(empty: Path) -> View:
    arguments = ["--ro-bind", "/usr", "/usr"]
    for name in _SYSTEM_FOLDERS:
        path = Path("/", name)
        if path.is_symlink():
            arguments += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            arguments += ["--ro-bind", str(path), str(path)]
    for name in ("/etc/ld.so.cache", "/etc/alternatives"):
        arguments += ["--ro-bind-try", name, name]
    for folder in _package_folders("/usr", ("lib", "lib64", "local/lib")):
        arguments += ["--ro-bind", str(empty), f"/usr/{folder}"]
    return View(arguments, {**BASE_ENV, "PATH": SYSTEM_PATH}, ["/usr"])


def _with_python(system: View, prefix: Path, place: str, env: Mapping[str, str], empty: Path) -> View:
    """The system and one more Python; its installed packages are hidden: they may hold solutions and hidden tests."""
    arguments = [*system.arguments, "--ro-bind", str(prefix), place]
    libraries = [name for name in _names(str(prefix)) if name.startswith("lib")]
    for path in _package_folders(str(prefix), libraries):
        arguments += ["--ro-bind", str(empty), f"{place}/{path}"]
    path_env = {"PATH": f"{place}/bin:{SYSTEM_PATH}"}
    return View(arguments, {**system.env, **path_env, **env}, [*system.shown, str(prefix)])


def _package_folders(prefix: str, libraries: Sequence[str]) -> list[str]:
    """Folders of installed packages below `prefix`, as `lib/python3.11/site-packages`; looked for in each session."""
    found = []
    for library in libraries:
        for python in _names(f"{prefix}/{library}"):
            if python.startswith("python3"):
                inside = _names(f"{prefix}/{library}/{python}")
                found += [f"{library}/{python}/{name}" for name in inside if name.endswith("-packages")]
    return found


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208  pathlib's way costs a tenth of a start
    except (FileNotFoundError, NotADirectoryError):
        return []


def _holds_private(prefix: Path) -> bool:
    """Whether showing `prefix` would show the user's home or the folder that is worked in."""
    private = [Path.cwd()]
    with contextlib.suppress(RuntimeError):  # a user without a home has none to show
        private.append(Path.home())
    return any(path.resolve().is_relative_to(prefix) for path in private)


def isolation(*, disable_userns: bool) -> list[str]:
    """The namespaces and privileges of every command."""
    return [
        "--unshare-all",
        "--unshare-user",
        *(["--disable-userns"] if disable_userns else []),
        "--uid",
        ID_INSIDE,
        "--gid",
        ID_INSIDE,
        "--hostname",
        "sandbox",
        "--cap-drop",
        "ALL",
        "--clearenv",
        "--die-with-parent",
        "--new-session",
        "--as-pid-1",
    ]


def kept_isolation() -> list[str]:
    """The same for a kept sandbox: uid 0 of a user namespace, whose first process gives jobs less (`zygote_inside`)."""
    return [
        "--unshare-all",
        "--unshare-user",
        *("--uid", "0", "--gid", "0", "--cap-add", "ALL"),
        *("--hostname", "sandbox", "--clearenv", "--new-session", "--as-pid-1"),
    ]


def kept_mounts() -> list[str]:
    """Where the jobs of a kept sandbox get mounts of their own (`job_tmpfs`)."""
    return [
        *("--proc", "/proc", "--dev", "/dev", "--dir", "/dev/shm", "--remount-ro", "/dev"),  # noqa: S108
        *("--dir", "/tmp", "--dir", WORK, "--remount-ro", "/"),  # noqa: S108
        *("--chdir", WORK),
    ]


def job_tmpfs(disk_bytes: int, entries: int) -> list[tuple[str, str]]:
    """Places and mount options of what a job of a kept sandbox may write to; `entries` of the work tree at most."""
    own = f"mode=0755,size={_TMP_BYTES}"
    work = f"mode=0755,size={disk_bytes},nr_inodes={entries + 1}"
    return [(WORK, work), ("/tmp", own), ("/dev/shm", own)]  # noqa: S108


def job_rlimits(limits: Limits, wall_s: float) -> list[tuple[int, int]]:
    """What `limited` sets by ulimit, as numbers for setrlimit."""
    return [
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
        (resource.RLIMIT_FSIZE, math.ceil(limits.file_bytes / 512) * 512),
        (resource.RLIMIT_CPU, _cpu_s(wall_s)),
    ]


def own_mounts(work: str) -> list[str]:
    """What a command gets for itself; everything above it is made read-only last."""
    size = str(_TMP_BYTES)
    return [
        *("--proc", "/proc", "--remount-ro", "/proc"),
        *("--dev", "/dev", "--size", size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev"),  # noqa: S108
        *("--size", size, "--tmpfs", "/tmp", "--dir", "/tmp/home"),  # noqa: S108
        *("--bind", work, WORK, "--remount-ro", "/"),
    ]


def environment(env: Mapping[str, str]) -> list[str]:
    """Arguments of bwrap that set an environment."""
    return [part for name, value in env.items() for part in ("--setenv", name, value)]


def check_mount(place: str) -> None:
    """Refuse a read-only mount that would hide the system or stand in the workspace."""
    if not place.startswith("/") or posixpath.normpath(place) != place or "\0" in place or place == "/":
        raise InputError(f"a mount needs a plain absolute path, got {place!r}")
    top = "/" + place.split("/")[1]
    if top in _TAKEN:
        raise InputError(f"{place}: cannot mount below {top}; choose a folder of its own, such as /tests")
