"""Verifiers by name, aliases with presets, and binding one to an item.

A name maps to a module that is imported on first use, so loading a suite imports only what it needs.
Seed 000's eight keys are aliases. `path/to/file.py:name` needs trust (see `plugins`) and is resolved by the caller.
Easy to break: the revision. It hashes the LF source bytes of the verifier's module and of the parsing and verifier
modules it reaches, never bytecode or repr, which differ between Python versions.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from steelyard.attempt import Attempt
from steelyard.canonical import canonical, canonical_plain, digest, sha256_hex
from steelyard.errors import InputError, did_you_mean
from steelyard.item import Item, canonical_verifier
from steelyard.verdict import Evidence, Reading, Undecided, Unread, Verdict, failed
from steelyard.verifiers.contract import NO_ANSWER, Config, Verifier

MODULES = {
    "all": "compose",
    "any": "compose",
    "choice": "choice",
    "code": "code",
    "exact": "exact",
    "fields": "fields",
    "files": "files",
    "grade": "grade",
    "ifeval": "ifeval",
    "math": "math",
    "number": "number",
    "one_of": "one_of",
    "order": "order",
    "set": "set_of",
    "states": "states",
    "tests": "tests",
    "time": "time",
    "token": "token",
    "toolcalls": "toolcalls",
    "yesno": "yesno",
}
"""Verifier name -> module of this package that defines it in its `VERIFIERS` tuple."""

_KM = {"name": "number", "unit": "km", "atol": 0.05, "rtol": 0.02}
ALIASES: dict[str, dict[str, Any]] = {
    "conjunction": {
        "name": "yesno",
        "yes": ["yes", "true", "conjunct", "conjunction"],
        "no": ["no", "false", "clear"],
    },
    "miss_distance_km": _KM,
    "period_min": {"name": "number", "unit": "min", "atol": 0.1, "rtol": 0.001},
    "apogee_alt_km": _KM,
    "perigee_alt_km": _KM,
    "catalog": {"name": "exact"},
    "numeric": {"name": "number", "atol": 1e-6},
}
"""Seed 000's registry keys (bands of its equation 10.7: |x - x*| <= atol + rtol |x*|)."""

_extra: dict[str, tuple[Verifier, Path]] = {}


def names() -> list[str]:
    """Every known verifier name and alias, sorted."""
    return sorted({*MODULES, *ALIASES, *_extra})


def register(name: str, verifier: Verifier, source: Path) -> None:
    """Make a verifier from a trusted file known under `name` (the text that item lines use)."""
    _extra[name] = (verifier, source)
    _sources.cache_clear()
    code_digest.cache_clear()


def find(name: str) -> Verifier:
    """The verifier of that name; InputError with the nearest known name."""
    if name in _extra:
        return _extra[name][0]
    if name not in MODULES:
        hint = "; pass --trust to load verifiers from files" if ".py:" in name else did_you_mean(name, names())
        raise InputError(f'unknown verifier "{name}"{hint}')
    module = importlib.import_module(f"steelyard.verifiers.{MODULES[name]}")
    verifiers: tuple[Verifier, ...] = module.VERIFIERS
    return next(v for v in verifiers if v.name == name)


def expand(spec: dict[str, Any]) -> dict[str, Any]:
    """A spec with its alias replaced by the preset, the spec's own keys winning."""
    preset = ALIASES.get(spec.get("name", ""))
    return spec if preset is None else {**preset, **{k: v for k, v in spec.items() if k != "name"}}


class Bound(msgspec.Struct, frozen=True):
    """A verifier with its parsed config and target: everything that judging one item needs."""

    verifier: Verifier
    config: Config
    target: str
    name: str = ""
    """The name by which the spec found the verifier; a file's verifier is known by `path.py:name`."""

    def read(self, attempt: Attempt) -> Reading | Unread:
        """The answer in an attempt; a probing verifier has none."""
        if self.verifier.read is None:
            return Unread(f'"{self.verifier.name}" looks at the workspace, not at the answer')
        return self.verifier.read(attempt, self.config)

    def decide(self, found: Reading | Unread | Evidence) -> Verdict | Undecided:
        """The verdict on a reading or on evidence; no reading is a failure with its reason."""
        if isinstance(found, Unread):
            return failed(NO_ANSWER, found.reason)
        return self.verifier.decide(found, self.target, self.config)

    def settle(self, found: Reading | Evidence) -> Verdict:
        """The verdict on what decide left undecided; may be slow, so `judging` calls it in a worker."""
        if self.verifier.settle is None:
            raise InputError(f'verifier "{self.verifier.name}" left a case undecided and cannot settle it')
        return self.verifier.settle(found, self.target, self.config)

    @property
    def probes(self) -> bool:
        """Whether judging looks at the workspace, not at the answer alone."""
        if self.verifier.probe is None:
            return False
        return self.verifier.probes is None or self.verifier.probes(self.config)


def bind_spec(spec: dict[str, Any], target: str, choices: list[str] | None = None) -> Bound:
    """Find, configure and check a verifier; raises InputError naming the key or the nearest name."""
    bound = Bound(*configure(spec, choices), target, expand(spec)["name"])
    if bound.verifier.check is not None:
        bound.verifier.check(target, bound.config)
    return bound


def configure(spec: dict[str, Any], choices: list[str] | None = None) -> tuple[Verifier, Config]:
    """Find a verifier and parse its settings, whatever the target."""
    spec = expand(spec)
    if not isinstance(spec.get("name"), str):
        raise InputError(f'a verifier is {{"name": ..., <config>}}, got {spec!r}')
    verifier = find(spec["name"])
    settings = {k: v for k, v in spec.items() if k != "name"}
    known = _settings(verifier.config)
    for name in settings:
        if name not in known:
            raise InputError(f'verifier "{verifier.name}" has no setting "{name}"{did_you_mean(name, known)}')
    if choices is not None and "choices" in known:
        settings.setdefault("choices", choices)
    try:
        return verifier, msgspec.convert(settings, verifier.config)
    except msgspec.ValidationError as error:
        raise InputError(f'verifier "{verifier.name}": {error}') from error


@cache
def _settings(config: type[Config]) -> tuple[str, ...]:
    return tuple(field.name for field in msgspec.structs.fields(config))


def bind(item: Item) -> Bound:
    """Bind an item's verifier; errors name the item."""
    try:
        return bind_spec(item.verifier, item.target, item.choices)
    except InputError as error:
        raise InputError(f'item "{item.id}": {error}') from error


def declared_misses(bound: Bound) -> set[str]:
    """Every miss that a bound verifier may raise, those of its children and of its config included."""
    found = {NO_ANSWER}
    for verifier in _used(bound).values():
        found.update(verifier.misses)
    if bound.verifier.misses_from is not None:
        found.update(bound.verifier.misses_from(bound.config, bound.target))
    return found


def is_local(bound: Bound) -> bool:
    """Whether a bound verifier, or one of its children, comes from a file that only this process has loaded."""
    return not _extra.keys().isdisjoint(_used(bound))


def revision(item: Item, bound: Bound | None = None) -> str:
    """sha256 of {target, verifier, rules, code}: the identity of this item's judge; `bound` saves binding again."""
    before, after = _around_target(item, bound or bind(item))
    return sha256_hex(before + canonical_plain(item.target) + after)


def revisions(items: Iterable[Item], bound: Mapping[str, Bound]) -> dict[str, str]:
    """Each item's revision by its id; what items of one verifier spec and one list of choices share is made once."""
    kinds: dict[bytes, tuple[bytes, bytes]] = {}
    encode, found = msgspec.json.Encoder().encode, {}
    for item in items:
        kind = encode((item.verifier, item.choices))
        around = kinds.get(kind)
        if around is None:
            around = _around_target(item, bound[item.id])
            if len(kind) <= LONGEST_KIND:
                kinds[kind] = around
        found[item.id] = sha256_hex(around[0] + canonical_plain(item.target) + around[1])
    return found


LONGEST_KIND = 4096
"""Bytes of a spec beyond which items are not expected to share it, so that it is not kept."""


def _around_target(item: Item, bound: Bound) -> tuple[bytes, bytes]:
    """What stands before and after the target in the canonical JSON of {choices, code, rules, target, verifier}."""
    used = _used(bound)
    before = {
        "choices": item.choices,
        "code": {name: code_digest(name) for name in used},
        "rules": {name: verifier.rules for name, verifier in used.items()},
    }
    after = canonical(expand(canonical_verifier(item)))
    return canonical(before)[:-1] + b',"target":', b',"verifier":' + after + b"}"


def ruler(revisions: dict[str, str]) -> str:
    """sha256 over the sorted (item id, revision) pairs."""
    return digest(sorted(revisions.items()))


def _used(bound: Bound) -> dict[str, Verifier]:
    """The verifier and all its children, by the names that specs use."""
    found = {bound.name or bound.verifier.name: bound.verifier}
    pending = list(bound.verifier.children(bound.config)) if bound.verifier.children else []
    while pending:
        spec = expand(pending.pop())
        child = find(spec["name"])
        found[spec["name"]] = child
        if child.children:
            settings = {k: v for k, v in spec.items() if k != "name"}
            pending.extend(child.children(msgspec.convert(settings, child.config)))
    return found


@cache
def code_digest(name: str) -> str:
    """sha256 over the sources that a verifier reaches, plus name==version of the libraries it calls."""
    libraries = {library: _version(library) for library in find(name).libraries}
    return digest({"sources": _sources(name), "libraries": libraries})


def source_digest(name: str) -> str:
    """sha256 over the sources that a verifier reaches, without the versions of libraries."""
    return digest(_sources(name))


@cache
def _sources(name: str) -> dict[str, str]:
    if name in _extra:
        return {"file": sha256_hex(_lf(_extra[name][1]))}
    modules: set[str] = set()
    for start in (f"steelyard.verifiers.{MODULES[name]}", *find(name).resources):
        _reach(start, modules)
    return {module: sha256_hex(_lf(_source(module))) for module in sorted(modules)}


def _version(distribution: str) -> str:
    from importlib.metadata import PackageNotFoundError, version  # slow to load, and most verifiers call no library

    try:
        return version(distribution)
    except PackageNotFoundError as error:
        raise InputError(f"a verifier needs {distribution}: pip install 'steelyard[all]'") from error


_PURE = ("steelyard.verifiers.", "steelyard.parsing.", "steelyard.verdict", "steelyard.attempt", "steelyard.canonical")
"""Modules that can decide a verdict; nouns and ports that only carry types are left out."""


def _reach(module: str, seen: set[str]) -> None:
    if module in seen or module == __name__ or not module.startswith(_PURE):
        return
    seen.add(module)
    for name in _imported(_lf(_source(module)).decode()):
        _reach(name, seen)


def _imported(source: str) -> Iterator[str]:
    """The modules of this package that a source imports, as names of modules or out of them."""
    for match in _IMPORT.finditer(source):
        yield match[1]
        for name in _NAME.findall(_COMMENT.sub("", match[2] or "")):
            if _is_module(f"{match[1]}.{name}"):
                yield f"{match[1]}.{name}"


_IMPORT = re.compile(r"^[ \t]*(?:from|import) (steelyard[\w.]*)(?: import (\([^)]*\)|[^\n]*))?", re.MULTILINE)
"""An import of this package as the house writes it; parsing the sources would take most of a short command's time."""
_NAME, _COMMENT = re.compile(r"\w+"), re.compile(r"#[^\n]*")


def _is_module(name: str) -> bool:
    return name.startswith("steelyard.") and _source(name).exists()


_PACKAGE = Path(__file__).parent.parent


def _source(module: str) -> Path:
    path = _PACKAGE / Path(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _lf(path: Path) -> bytes:
    return path.read_bytes().replace(b"\r\n", b"\n")
