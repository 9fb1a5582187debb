"""A stored run as a data frame: one row a rollout, for polars, pandas or Arrow.

The columns are in COLUMNS and in docs/data-frames.md. Rows stand in the order of the judgement (the suite's), then of
the journal, and within an item by rollout; of several lines of one rollout the last counts, as everywhere.
Only what a row needs is decoded: conversations, requests and log-probabilities are skipped in the bytes.
Not covered: transcripts (read rollouts.jsonl, or `run.journal`), evidence, comparing runs (`steelyard compare`).
Easy to break: a void read as wrong. `correct` is null for a void, an error and a rollout that was not judged.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec

from steelyard.attempt import Usage
from steelyard.errors import FormatError, InputError, did_you_mean
from steelyard.run.journal import ROLLOUTS, RolloutError, whole_lines
from steelyard.run.judged import FOLDER, current_ruler
from steelyard.run.plan import Header, read_header
from steelyard.run.stored import decode, folder_errors
from steelyard.store import Store

Form = Literal["polars", "pandas", "arrow"]
Kind = Literal["text", "integer", "number", "boolean", "texts"]
_FORMS = ("polars", "pandas", "arrow")

COLUMNS: dict[str, tuple[Kind, str]] = {
    "item": ("text", "the item's id"),
    "rollout": ("integer", "the rollout's index, from 0"),
    "seed": ("integer", "the seed that was sent"),
    "ask": ("text", "sha256 of what the model met: equal in two runs that asked the same"),
    "model": ("text", "the name that the run's model answers to"),
    "group": ("text", "the item's group; its id where it has none"),
    "family": ("text", "the item's family, from the suite as it stands now; null where there is none"),
    "domain": ("text", "the item's domain, likewise"),
    "difficulty": ("text", "the item's difficulty, likewise"),
    "answer": ("text", "the answer as the model gave it; null for an error"),
    "stop": ("text", "why the solver ended: answer, turns, length, ...; null where it did not say"),
    "error": ("text", "kind of the error that prevented an attempt; null for an attempt"),
    "error_message": ("text", "its words"),
    "correct": ("boolean", "the verdict; null for a void, an error, and a rollout that was not judged"),
    "score": ("number", "the verifier's score in [0, 1], where it gives one"),
    "void": ("text", "why there is no verdict; null where there is one, or where nothing was judged"),
    "extracted": ("boolean", "whether an answer could be read; null where nothing was judged"),
    "prediction": ("text", "the answer that was read: text as it stands, anything else as JSON"),
    "rule": ("text", "the rule that read it"),
    "misses": ("texts", "names of the reasons for failing; empty for a pass, null where nothing was judged"),
    "input_tokens": ("integer", "tokens of all requests, as the endpoint counted them"),
    "output_tokens": ("integer", "tokens of all replies, likewise"),
    "seconds": ("number", "how long the rollout took"),
    "started": ("number", "when it began, Unix seconds"),
}
"""Each column's kind and meaning, in order."""


def read_run(
    path: Path | str, as_: Form = "polars", ruler: str | None = None, *, suite: Path | str | None = None
) -> Any:
    """A stored run as a data frame of `as_`, one row a rollout, with the verdicts of `ruler` (default: the newest).

    A `ruler` may be shortened while it names one judgement. Labels come from `suite`, by default from where the run
    says; without it they are null. InputError for a library that is not installed and a ruler that is not there.
    """
    if as_ not in _FORMS:
        raise InputError(f'no data frames of "{as_}"{did_you_mean(as_, _FORMS)}')
    build = _BUILDERS[as_]()  # before the reading, so that a missing library is told at once
    folder = Path(path)
    header = read_header(folder)
    with folder_errors(folder):
        judged = _judged(folder, ruler)
        labels = _labels(header, Path(suite) if suite is not None else None)
        return build(_columns(folder, header, judged, labels))


class _Attempt(msgspec.Struct, gc=False):
    answer: str = ""
    stop: str = ""
    usage: Usage | None = None


class _Line(msgspec.Struct, gc=False):
    item: str
    rollout: int
    seed: int
    ask: str
    started: float
    seconds: float
    attempt: _Attempt | None = None
    attempt_file: str = ""
    error: RolloutError | None = None


class _Read(msgspec.Struct, gc=False):
    index: int
    extracted: bool
    prediction: Any = None


class _Miss(msgspec.Struct, gc=False):
    name: str = ""


class _Extra(msgspec.Struct, gc=False):
    misses: list[_Miss] = []
    note: str = ""


class _Word(msgspec.Struct, gc=False):
    index: int
    correct: bool | None = None
    score: float | None = None
    extra: _Extra | None = None


class _How(msgspec.Struct, gc=False):
    rule: str | None = None


class _Readings(msgspec.Struct, gc=False):
    readings: dict[str, _How] = {}


class _Predictions(msgspec.Struct, gc=False):
    rollouts: list[_Read]
    extra: _Readings | None = None


class _Words(msgspec.Struct, gc=False):
    rollouts: list[_Word]


class _Judged(msgspec.Struct, gc=False):
    id: str
    postprocess_result: _Predictions
    feedback_result: _Words


class _Label(msgspec.Struct, gc=False):
    id: str
    group: str = ""
    family: str | None = None
    domain: str | None = None
    difficulty: str | None = None


Verdict = tuple[bool | None, float | None, str | None, bool | None, str | None, str | None, list[str] | None]
"""correct, score, void, extracted, prediction, rule, misses."""
_UNJUDGED: Verdict = (None, None, None, None, None, None, None)


def _judged(folder: Path, ruler: str | None) -> dict[str, dict[int, Verdict]]:
    """The verdicts of each item's rollouts, in the order of the judgement; none for a run that was not judged."""
    name = _ruler(folder, ruler)
    if not name:
        return {}
    path, decoder = folder / FOLDER / f"{name}.jsonl", msgspec.json.Decoder(_Judged)
    found: dict[str, dict[int, Verdict]] = {}
    for number, _, line in whole_lines(path):
        judged = decode(decoder, line, path, number, "a judgement")
        extra = judged.postprocess_result.extra
        hows = extra.readings if extra is not None else {}
        reads = {one.index: one for one in judged.postprocess_result.rollouts}
        found[judged.id] = {
            word.index: _verdict(word, reads.get(word.index), hows.get(str(word.index)))
            for word in judged.feedback_result.rollouts
        }
    return found


def _ruler(folder: Path, ruler: str | None) -> str:
    if ruler is None:
        return current_ruler(folder)
    known = sorted(path.stem for path in (folder / FOLDER).glob("*.jsonl"))
    matching = [name for name in known if ruler and name.startswith(ruler)]
    if len(matching) != 1:
        what = f"{len(matching)} rulers begin with" if matching else "no judgement under"
        raise InputError(f'{folder}: {what} "{ruler}"; this run has: {", ".join(known) or "none"}')
    return matching[0]


def _verdict(word: _Word, read: _Read | None, how: _How | None) -> Verdict:
    extra = word.extra
    return (
        word.correct,
        word.score,
        (extra.note if extra is not None else "") if word.correct is None else None,
        read.extracted if read is not None else None,
        _text(read.prediction) if read is not None else None,
        how.rule if how is not None else None,
        [miss.name for miss in extra.misses] if extra is not None else [],
    )


def _text(value: Any) -> str | None:
    """A stored prediction as text: a string as it stands, anything else as its JSON."""
    return value if value is None or isinstance(value, str) else msgspec.json.encode(value).decode()


def _labels(header: Header, suite: Path | None) -> dict[str, _Label]:
    """The items' labels; a suite that has moved is no error, one that was asked for is."""
    path = suite if suite is not None else Path(header.plan.suite_path)
    sources = [path / f"{split}.jsonl" for split in ("dev", "test")] if path.is_dir() else [path]
    sources = [source for source in sources if source.exists()]
    if suite is not None and not sources:
        raise FormatError(suite, None, "no suite here: neither a JSONL file nor a folder with dev.jsonl or test.jsonl")
    decoder = msgspec.json.Decoder(_Label)
    found: dict[str, _Label] = {}
    for source in sources:
        for number, _, line in whole_lines(source):
            label = decode(decoder, line, source, number, "an item")
            found[label.id] = label
    return found


def _columns(
    folder: Path, header: Header, judged: dict[str, dict[int, Verdict]], labels: dict[str, _Label]
) -> dict[str, list[Any]]:
    """The columns, each a list with an entry a row."""
    lines = _lines(folder)
    order = {item: place for place, item in enumerate(judged)}
    for line in lines:
        order.setdefault(line.item, len(order))
    lines.sort(key=lambda line: (order[line.item], line.rollout))
    nobody = _Label("")
    rows = []
    for line in lines:
        label, attempt, error = labels.get(line.item, nobody), line.attempt or _Attempt(), line.error
        usage = attempt.usage or _NO_USAGE
        verdict = judged.get(line.item, {}).get(line.rollout, _UNJUDGED) if error is None else _UNJUDGED
        correct, score, void, extracted, prediction, rule, misses = verdict
        rows.append(
            (
                line.item, line.rollout, line.seed, line.ask, header.plan.model_id,
                label.group or label.id or None, label.family or None, label.domain or None, label.difficulty or None,
                attempt.answer if error is None else None, attempt.stop or None,
                error.kind if error else None, error.message if error else None,
                correct, score, void, extracted, prediction, rule, misses,
                usage.input_tokens, usage.output_tokens, line.seconds, line.started,
            )
        )  # fmt: skip
    columns: Iterable[Iterable[Any]] = zip(*rows, strict=True) if rows else ([] for _ in COLUMNS)
    return {name: list(column) for name, column in zip(COLUMNS, columns, strict=True)}


_NO_USAGE = Usage()


def _lines(folder: Path) -> list[_Line]:
    """The last line of each rollout, its attempt loaded where it lies aside."""
    path, decoder, store = folder / ROLLOUTS, msgspec.json.Decoder(_Line), Store(folder / "files")
    aside = msgspec.json.Decoder(_Attempt)
    found: dict[tuple[str, int], _Line] = {}
    for number, _, data in whole_lines(path):
        line = decode(decoder, data, path, number, "a rollout")
        if line.attempt_file:
            place = store.root / line.attempt_file[:2] / line.attempt_file
            line.attempt = decode(aside, store.get(line.attempt_file), place, None, "an attempt")
        found[line.item, line.rollout] = line
    return list(found.values())


def _polars() -> Callable[[dict[str, list[Any]]], Any]:
    polars = _library("polars", "'steelyard[frames]'")
    types = {
        "text": polars.String,
        "integer": polars.Int64,
        "number": polars.Float64,
        "boolean": polars.Boolean,
        "texts": polars.List(polars.String),
    }

    def series(name: str, values: list[Any]) -> Any:
        kind = types[COLUMNS[name][0]]
        if COLUMNS[name][0] != "texts":
            return polars.Series(name, values, dtype=kind)
        # polars makes a list column one list after another, so each that differs is made once
        known: dict[tuple[str, ...] | None, int] = {}
        places = [known.setdefault(None if value is None else tuple(value), len(known)) for value in values]
        return polars.Series(name, list(known), dtype=kind).gather(places)

    return lambda columns: polars.DataFrame([series(name, values) for name, values in columns.items()])


def _pandas() -> Callable[[dict[str, list[Any]]], Any]:
    pandas = _library("pandas", "pandas")
    types = {"text": "string", "integer": "Int64", "number": "Float64", "boolean": "boolean", "texts": "object"}
    return lambda columns: pandas.DataFrame(
        {name: pandas.Series(column, dtype=types[COLUMNS[name][0]]) for name, column in columns.items()}
    )


def _arrow() -> Callable[[dict[str, list[Any]]], Any]:
    arrow = _library("pyarrow", "pyarrow")
    types = {
        "text": arrow.string(),
        "integer": arrow.int64(),
        "number": arrow.float64(),
        "boolean": arrow.bool_(),
        "texts": arrow.list_(arrow.string()),
    }
    schema = arrow.schema([(name, types[kind]) for name, (kind, _) in COLUMNS.items()])
    return lambda columns: arrow.table(columns, schema=schema)


_BUILDERS: dict[str, Callable[[], Callable[[dict[str, list[Any]]], Any]]] = {
    "polars": _polars,
    "pandas": _pandas,
    "arrow": _arrow,
}


def _library(name: str, package: str) -> Any:
    """A data frame library, loaded only for who asks for its frames."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise InputError(f"{name} is not installed here ({error}); do: pip install {package}") from error
