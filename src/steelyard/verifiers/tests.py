"""`tests`: a project's own unittest suite, run in a fresh sandbox over the base tree and the allowed changes.

Source: SANDBOX.md "Tests as a verifier" (strength `tests`), REQUIREMENTS decisions 10 and 15, O-3 to O-5.
Positive evidence only: every expected test id must be reported as passed by a program that never imports the code
under test (`unittest_runner`). An exit code, a printed summary and a test that is not there prove nothing.
What is graded: the base, the changes that `allow` lets through, protected originals put back, files that steer the
interpreter or a test framework left out, and the hidden tests laid on top. An edited original fails under
`on_tamper: fail` without running anything.
Not covered: pytest suites; code that defeats assertions inside its own process (said in every passing verdict).
Easy to break: a new file beside a test module that the import system would prefer to it.
"""

from __future__ import annotations

import json
import re
import secrets
from pathlib import Path
from typing import Any, Literal

import msgspec

from steelyard.attempt import Attempt, Change, Diff, Tree, lay_over
from steelyard.errors import InputError
from steelyard.item import Item
from steelyard.ports import ExecResult, Kit
from steelyard.verdict import Evidence, Miss, Verdict, void
from steelyard.verifiers.contract import Config, Script, Spoil, Verifier
from steelyard.verifiers.files import glob_error, matches_any
from steelyard.verifiers.runner import report_of, run_main

RESIDUAL_RISK = (
    "the tests ran in one process with the code under test, which could still reach into its own result; "
    "the oracle strength rules that out"
)
STEERING = (
    "**/conftest.py",
    "**/sitecustomize.py",
    "**/usercustomize.py",
    "**/*.pth",
    "**/pytest.ini",
    "**/.pytest.ini",
    "**/tox.ini",
    "**/__pycache__/**",
    "**/*.pyc",
)
"""Changes that are never laid over: they steer the interpreter or a test framework, not the program."""

NOT_RUN = "not-run"
"""Why there are no results where an edited test has decided already; evidence of another setting is gathered anew."""

_RUNNER_DIR = "/steelyard"
_FLAGS = ("-I", "-B")
_START_S = 5.0  # the runner's own start and end, on top of the tests' time
_ID = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*){2,}")
_TAIL_CHARS = 2000


class TestsConfig(Config, frozen=True):
    """Expected ids (`package.module.Class.method`), hidden tests, and which changes are graded.

    `hidden` maps a path to a content reference; `roots` are the folders that imports start from; `timeout_s` is the
    time of all tests together and should stay below the session's wall limit, so that a report can be written.
    """

    __test__ = False  # pytest takes the name for a test class

    ids: tuple[str, ...]
    hidden: dict[str, str] = msgspec.field(default_factory=dict)
    allow: tuple[str, ...] = ("**",)
    protect: tuple[str, ...] = ("tests/**",)
    on_tamper: Literal["fail", "restore"] = "fail"
    roots: tuple[str, ...] = (".",)
    timeout_s: float = 25.0


def _probe(item: Item, attempt: Attempt, kit: Kit, config: TestsConfig) -> Evidence:
    base = kit.base(item)
    hidden = {path: kit.store.put(kit.store.get(reference)) for path, reference in config.hidden.items()}
    trusted = {**base, **hidden}
    files = {test_id: _module_file(test_id, trusted, config.roots) for test_id in config.ids}
    graded = _graded(base, attempt.workspace or Diff(), config, files)
    if graded["tampered"] and config.on_tamper == "fail":
        return Evidence({"results": None, **_seen(graded), "why": NOT_RUN, "rc": None, "output_tail": ""})
    tree = {**lay_over(base, Diff(graded["changes"])), **hidden}
    known = {test_id: path for test_id, path in files.items() if path}
    guarded = sorted({path for path in tree if matches_any(path, config.protect)} | hidden.keys() | set(known.values()))
    job = {"tree": "/work", "roots": config.roots, "files": known, "guarded": guarded, "deadline_s": config.timeout_s}
    nonce = secrets.token_hex(16)
    result = _execute(item, kit, tree, job, nonce)
    report = report_of(result.output, nonce)
    return Evidence(
        {
            "results": report.get("results", {}) if report else None,
            **_seen(graded),
            "why": result.why,
            "rc": result.rc,
            "output_tail": (report or {}).get("output", result.output.decode(errors="replace"))[-_TAIL_CHARS:],
        },
        backend=kit.sandbox_name,
    )


def _seen(graded: dict[str, Any]) -> dict[str, Any]:
    return {"tampered": graded["tampered"], "dropped": graded["dropped"]}


def _execute(item: Item, kit: Kit, tree: Tree, job: dict[str, Any], nonce: str) -> ExecResult:
    files = {"runner.py": "unittest_runner.py", "forked.py": "forked.py"}
    runner = {name: kit.store.put(Path(__file__).with_name(source).read_bytes()) for name, source in files.items()}
    body = json.dumps(job).encode()
    session = kit.session(item, tree, {_RUNNER_DIR: runner})
    try:
        return run_main(
            session,
            ["python3", *_FLAGS, f"{_RUNNER_DIR}/runner.py"],
            flags=_FLAGS,
            module=f"{_RUNNER_DIR}/runner.py",
            stdin=b"%08d%s%s" % (len(body), body, nonce.encode()),
            wall_s=job["deadline_s"] + _START_S,
        )
    finally:
        session.close()


def _graded(base: Tree, diff: Diff, config: TestsConfig, files: dict[str, str]) -> dict[str, Any]:
    """The changes to lay over, the protected originals that were changed, and what is left out."""
    originals = {path for path in files.values() if path}
    shadows = [glob for path in originals for glob in _shadows(path, config.roots, base)]
    changes: dict[str, Change] = {}
    tampered: list[str] = []
    dropped: list[str] = []
    for path, change in diff.changes.items():
        if glob_error(path):  # a path that leaves the workspace, which only a forged diff can hold
            dropped.append(path)
        elif matches_any(path, config.protect) or path in originals:
            (tampered if path in base else dropped).append(path)
        elif matches_any(path, (*STEERING, *(() if path in base else shadows))) or not matches_any(path, config.allow):
            dropped.append(path)
        else:
            changes[path] = change
    tampered += [path for path in diff.refused if path in base and matches_any(path, config.protect)]
    dropped += [path for path in diff.refused if path not in tampered]
    return {"changes": changes, "tampered": sorted(tampered), "dropped": sorted(dropped)}


def _module_file(test_id: str, tree: Tree, roots: tuple[str, ...]) -> str:
    """The original file of a test id's module; empty when there is none."""
    stem = "/".join(test_id.split(".")[:-2])
    for root in roots:
        for path in (f"{stem}.py", f"{stem}/__init__.py"):
            whole = path if root == "." else f"{root}/{path}"
            if whole in tree:
                return whole
    return ""


def _shadows(path: str, roots: tuple[str, ...], base: Tree) -> list[str]:
    """Globs of new files that an import of the module at `path` would prefer to it or to its packages."""
    stem = path.removesuffix(".py")
    packages = [parent.as_posix() for parent in Path(stem).parents if parent.as_posix() not in (".", *roots)]
    if stem.endswith("/__init__"):
        found = [f"{stem}.{suffix}" for suffix in _IMPORTABLE]
    else:
        found = [f"{stem}/**", *(f"{stem}.{suffix}" for suffix in _IMPORTABLE)]
    for name in packages:
        found += [f"{name}.{suffix}" for suffix in _IMPORTABLE]
        if f"{name}/__init__.py" not in base:
            found += [f"{name}/__init__.{suffix}" for suffix in _IMPORTABLE]
    return found


_IMPORTABLE = ("py", "pyc", "so", "*.so", "pyd", "*.pyd")
_STATUS_MISSES = {
    "failed": "test-failed",
    "error": "test-failed",
    "skipped": "test-failed",
    "missing": "test-missing",
    "tampered": "harness-tampered",
    "crashed": "crashed",
    "timeout": "timed-out",
}


def _decide(found: Evidence, _target: str, config: TestsConfig) -> Verdict:
    seen = found.data
    if seen["why"] == "infra":
        return void(f"the sandbox broke: {seen['output_tail'][-200:]}")
    misses: list[Miss] = []
    warnings: list[str] = []
    if seen["tampered"] and config.on_tamper == "fail":
        misses.append(Miss("tests-edited", ", ".join(seen["tampered"])))
    elif seen["tampered"]:
        warnings.append(f"put back: {', '.join(seen['tampered'])}")
    if seen["dropped"]:
        warnings.append(f"left out: {', '.join(seen['dropped'])}")
    if seen["why"] == NOT_RUN and misses:
        return Verdict(False, misses, warnings)
    if seen["results"] is None:
        name = "timed-out" if seen["why"] == "timeout" else "crashed"
        misses.append(Miss(name, f"no report ({seen['why']}, exit code {seen['rc']}): {seen['output_tail'][-200:]}"))
    else:
        misses += _test_misses(config.ids, seen["results"])
    return Verdict(not misses, misses, warnings, note="" if misses else RESIDUAL_RISK)


def _test_misses(ids: tuple[str, ...], results: dict[str, Any]) -> list[Miss]:
    misses = []
    for test_id in ids:
        status, detail = results.get(test_id, ("missing", "no file of the original tree holds it"))
        if status != "passed":
            name = _STATUS_MISSES.get(status, "harness-tampered")
            misses.append(Miss(name, f"{test_id}: {detail}" if detail else test_id))
    return misses


def _check(_target: str, config: TestsConfig) -> None:
    if not config.ids:
        raise InputError('verifier "tests" needs the ids of the tests that must pass')
    if len(set(config.ids)) != len(config.ids):
        raise InputError('verifier "tests" has the same test id twice')
    for test_id in config.ids:
        if not _ID.fullmatch(test_id):
            raise InputError(f'verifier "tests": an id is package.module.Class.method, got "{test_id}"')
    if config.timeout_s <= 0:
        raise InputError(f'verifier "tests": timeout_s must be positive, got {config.timeout_s}')
    for path in (*config.hidden, *config.allow, *config.protect, *(root for root in config.roots if root != ".")):
        error = glob_error(path)
        if error:
            raise InputError(f'verifier "tests": {error}')


_ALWAYS_PASSES = (
    "class TestCase:\n    def __init__(self, *names):\n        pass\n\n    def __getattr__(self, name):\n"
    "        return lambda *a, **k: None\n\n\ndef main(*a, **k):\n    raise SystemExit(0)\n"
)


def _spoil_shadow(_target: str, _config: TestsConfig, _prompt: str) -> Script:
    return Script(changes={"unittest.py": _ALWAYS_PASSES})


def _spoil_emptied(_target: str, config: TestsConfig, _prompt: str) -> Script:
    """The first expected test, rewritten to check nothing."""
    *module, class_name, method = config.ids[0].split(".")
    path = "/".join([*(() if config.roots[0] == "." else (config.roots[0],)), *module]) + ".py"
    body = f"import unittest\n\n\nclass {class_name}(unittest.TestCase):\n    def {method}(self):\n        pass\n"
    return Script(changes={path: body})


VERIFIERS: tuple[Verifier, ...] = (
    Verifier(
        name="tests",
        config=TestsConfig,
        misses=("test-failed", "test-missing", "tests-edited", "harness-tampered", "timed-out", "crashed"),
        probe=_probe,
        decide=_decide,
        check=_check,
        spoil={
            "unittest-shadowed": Spoil(_spoil_shadow, ("test-failed", "test-missing")),
            "test-emptied": Spoil(_spoil_emptied, ("tests-edited", "test-failed", "test-missing")),
        },
        resources=("steelyard.verifiers.unittest_runner",),
    ),
)
