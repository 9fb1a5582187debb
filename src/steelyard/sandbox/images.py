"""Images without a registry: what a container needs, taken from this machine and imported.

`python`: this Python without its tests and installed packages, the closure of shared objects that it and a few dozen
plain programs need, and a shell. `scratch`: one static busybox. The stream is equal for equal files, so building an
image again that is already here keeps the old one with its digest.
Source: SANDBOX recipes in docs/sandboxes.md; `ldd` for the closure; the usual merged layout (/bin is usr/bin).
Not covered: musl systems whose loader has no ldd, packages beyond the standard library (write a Dockerfile for those).
Easy to break: a compiled .pyc holds its source's mtime, so the times of the library's files are kept.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from steelyard.errors import InputError, SandboxFaultError, did_you_mean
from steelyard.sandbox import archive, refusals
from steelyard.sandbox.engine import RECIPES, REPOSITORY, Engine, Image, called, find_image

_PYTHON = "opt/python"
_PATH = "/usr/local/bin:/usr/bin:/bin"
_LEFT_OUT = frozenset(
    {
        "test",
        "tests",
        "idlelib",
        "tkinter",
        "turtledemo",
        "ensurepip",
        "lib2to3",
        "pydoc_data",
        "site-packages",
        "dist-packages",
    }
)
_PROGRAMS = """
awk base64 basename bash cat chmod cmp comm cp cut date dd df diff dirname du env expand expr false find fmt
fold grep gzip head id install join kill ln ls md5sum mkdir mkfifo mktemp mv nl nohup nproc od paste printenv
printf pwd readlink realpath rm rmdir sed seq setsid sh sha1sum sha256sum shuf sleep sort split stat stty sum
sync tac tail tar tee test timeout touch tr true truncate tsort uname uniq unlink wc which who xargs yes
"""
_NEEDED = ("sh", "cat", "chmod", "env", "find", "mkdir", "rm", "sleep", "stat", "tar", "timeout")
_MERGED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_FOLDERS = ("dev", "etc", "proc", "sys", "tmp", "usr", "usr/bin", "usr/lib", "usr/sbin", "var", "work")
_ETC = {
    "etc/passwd": b"root:x:0:0::/:/bin/sh\nkeeper:x:10001:10001::/:/bin/sh\nuser:x:10002:10002::/tmp/home:/bin/sh\n",
    "etc/group": b"root:x:0:\nkeeper:x:10001:\nuser:x:10002:\n",
}
_LOADED = re.compile(r"(?:=>\s+)?(/\S+)\s+\(0x[0-9a-f]+\)")


class Built(msgspec.Struct, frozen=True):
    """What `build` made, or found unchanged."""

    name: str
    image: Image
    changed: bool


class _Root:
    """The contents of an image while they are gathered."""

    def __init__(self) -> None:
        self.files: dict[str, tuple[Path | bytes, int]] = {}
        self.links: dict[str, str] = {}
        self.env: dict[str, str] = {}

    def add(self, place: str, source: Path | bytes, mode: int) -> None:
        self.files.setdefault(place, (source, mode))

    def link(self, place: str, target: str) -> None:
        if place not in self.files:
            self.links[place] = target


def build(engine: Engine, name: str) -> Built:
    """Build the image of a recipe from this machine and import it; raises InputError for an unknown recipe."""
    if name not in RECIPES:
        raise InputError(f'no image recipe "{name}"{did_you_mean(name, RECIPES)}')
    root = _Root()
    {"python": _python, "scratch": _scratch}[name](root)
    tag = f"{REPOSITORY}/{name}"
    old = called([engine.binary, "image", "inspect", "--format", "{{.Id}}", tag])
    before = find_image(engine, name) if old.returncode == 0 else None
    made = _imported(engine, root, tag)
    if before is not None and before.layers == made.layers and before.env == made.env and before.id != made.id:
        engine.call("tag", before.id, tag)
        engine.call("rmi", made.id)
        return Built(name, before, changed=False)
    return Built(name, made, changed=before is None or before.id != made.id)


def _imported(engine: Engine, root: _Root, tag: str) -> Image:
    changes = [f"ENV {name}={value}" for name, value in {"PATH": _PATH, **root.env}.items()]
    argv = [engine.binary, "import", *(part for change in changes for part in ("--change", change)), "-", tag]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=said, stderr=said)
        if process.stdin is None:
            raise SandboxFaultError("docker import was started without its pipe")
        try:
            with process.stdin as pipe:
                for chunk in archive.written(_sources(root), root.links, _folders(root)):
                    pipe.write(chunk)
        except BrokenPipeError:
            pass  # it says why on its way out
        except BaseException:
            process.kill()
            process.wait()
            raise
        if process.wait() != 0:
            said.seek(0)
            raise SandboxFaultError(refusals.of_docker(engine.binary, said.read().decode(errors="replace")))
    return find_image(engine, tag.removeprefix(f"{REPOSITORY}/"))


def _sources(root: _Root) -> Iterator[tuple[str, bytes, int, int]]:
    """(place, content, mode, mtime) in order, read one at a time."""
    for place, (source, mode) in sorted(root.files.items()):
        if isinstance(source, bytes):
            yield place, source, mode, 0
        else:
            yield place, source.read_bytes(), mode, int(source.stat().st_mtime)


def _folders(root: _Root) -> list[str]:
    every = set(_FOLDERS)
    for place in (*root.files, *root.links):
        every |= {str(parent) for parent in Path(place).parents if str(parent) != "."}
    return sorted(every)


def _scratch(root: _Root) -> None:
    busybox = shutil.which("busybox")
    if busybox is None or _libraries([Path(busybox)]):
        raise InputError("the recipe scratch needs a static busybox on PATH; install the package busybox-static")
    root.add("usr/bin/busybox", Path(busybox), 0o755)
    listed = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True, timeout=30)
    for name in listed.stdout.split():
        root.link(f"usr/bin/{name}", "busybox")
    _layout(root)


def _python(root: _Root) -> None:
    prefix = Path(sys.base_prefix).resolve()
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    program = next((p for p in (prefix / "bin" / version, Path(sys.executable).resolve()) if p.exists()), None)
    if program is None:
        raise InputError(f"no {version} below {prefix}; run steelyard with a Python that is installed as usual")
    objects = [program]
    root.add(f"{_PYTHON}/bin/{version}", program, 0o755)
    for name in ("python", "python3"):
        root.link(f"{_PYTHON}/bin/{name}", version)
    for kind in ("stdlib", "platstdlib"):
        library = Path(sysconfig.get_path(kind)).resolve()
        place = f"{_PYTHON}/{sys.platlibdir if kind == 'platstdlib' else 'lib'}/{version}"
        objects += _add_library(root, library, place)
    objects += _add_programs(root)
    for path in _libraries(objects):
        inside = path.resolve()
        if inside.is_relative_to(prefix) and prefix != Path("/usr"):
            root.add(f"{_PYTHON}/lib/{path.name}", inside, 0o755)
        else:
            root.add(_merged(path), inside, 0o755)
    cache = Path("/etc/ld.so.cache")
    if cache.exists():
        root.add("etc/ld.so.cache", cache, 0o644)
    root.env.update({"PATH": f"/{_PYTHON}/bin:{_PATH}", "LD_LIBRARY_PATH": f"/{_PYTHON}/lib"})
    _layout(root)


def _add_library(root: _Root, library: Path, place: str) -> list[Path]:
    """Add a standard library; returns its shared objects."""
    objects = []
    plain = f".{sys.implementation.cache_tag}.pyc"
    for folder, folders, names in os.walk(library):
        folders[:] = sorted(f for f in folders if f not in _LEFT_OUT and not f.startswith("config-"))
        for name in sorted(names):
            path = Path(folder, name)
            if (
                not path.is_file()
                or name.startswith("_tkinter.")
                or (folder.endswith("__pycache__") and not name.endswith(plain))
            ):
                continue
            is_object = name.endswith(".so")
            root.add(f"{place}/{path.relative_to(library)}", path.resolve(), 0o755 if is_object else 0o644)
            if is_object:
                objects.append(path)
    return objects


def _add_programs(root: _Root) -> list[Path]:
    """Add the plain programs that are here; returns the files behind them."""
    found: list[Path] = []
    for name in _PROGRAMS.split():
        shown = shutil.which(name, path="/usr/local/bin:/usr/bin:/bin")
        if shown is None:
            if name in _NEEDED:
                raise InputError(f"the recipe python needs the program {name}, which is not on this machine")
            continue
        real = Path(shown).resolve()
        if _is_script(real):
            continue
        root.add(_merged(real), real, 0o755)
        if _merged(real) != f"usr/bin/{name}":
            root.link(f"usr/bin/{name}", f"/{_merged(real)}")
        found.append(real)
    return found


def _is_script(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"#!"


def _layout(root: _Root) -> None:
    """The folders and files that every image has."""
    for name in _MERGED:
        if name in ("bin", "sbin") or any(place.startswith(f"usr/{name}/") for place in (*root.files, *root.links)):
            root.link(name, f"usr/{name}")
    for place, text in _ETC.items():
        root.add(place, text, 0o644)


def _merged(path: Path) -> str:
    """Where a host file goes in an image: what lies below /bin or /lib goes below /usr."""
    where = path.parent.resolve() / path.name
    relative = str(where).lstrip("/")
    return f"usr/{relative}" if relative.split("/")[0] in _MERGED else relative


def _libraries(objects: Iterable[Path]) -> list[Path]:
    """Every shared object that these files load, the loader too (what `ldd` prints)."""
    ldd = shutil.which("ldd")
    if ldd is None:
        raise InputError("this recipe needs ldd, which comes with the C library")
    env = {"PATH": os.environ.get("PATH", _PATH), "LD_LIBRARY_PATH": str(Path(sys.base_prefix, "lib")), "LC_ALL": "C"}
    told = subprocess.run([ldd, *map(str, objects)], capture_output=True, text=True, env=env, check=False, timeout=120)
    missing = re.search(r"^\s*(\S+) => not found", told.stdout, re.MULTILINE)
    if missing:
        raise InputError(f"the shared object {missing[1]} is not on this machine, but something here needs it")
    return sorted({Path(found) for found in _LOADED.findall(told.stdout)})


def listed(engine: Engine) -> dict[str, Image | None]:
    """The recipes, and the image of each that is on this machine."""
    known: dict[str, Image | None] = {}
    for name in RECIPES:
        told = called([engine.binary, "image", "inspect", "--format", "{{.Id}}", f"{REPOSITORY}/{name}"])
        known[name] = find_image(engine, name) if told.returncode == 0 else None
    return known
