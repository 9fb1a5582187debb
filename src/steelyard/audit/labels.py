"""Labels that a person gives to a run's verdicts: drawn, shown one after another, appended as soon as given.

A label says whether a verdict is right. It is stored with the verdict and a hash of the attempt that it was given for,
so it outlives the judge: after `steelyard judge` has flipped a verdict, a label on the old one still tells whether the
answer was right (one that concerns a void, before or after, is asked for again). Labels of another run are refused.
Not covered: several people labelling one file; the last label of a rollout counts.
Easy to break: appending only at the end, when quitting must lose nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from steelyard.attempt import Attempt
from steelyard.audit.sample import Counted, Estimate, Rollout, Stratum, Word, draw, estimate
from steelyard.audit.terminal import cut, one_line, safe
from steelyard.canonical import digest
from steelyard.errors import FormatError, InputError, RefusedError
from steelyard.records import JudgedItem, RolloutJudgement
from steelyard.run.journal import RolloutIndex
from steelyard.run.judged import current_ruler, read_judgements
from steelyard.suite import Suite

LABELS = "audit.jsonl"
Said = Literal["right", "wrong", "skip"]
_KEYS: dict[str, Said | Literal["quit"]] = {"r": "right", "w": "wrong", "s": "skip", "q": "quit"}
_WORDS: dict[bool | None, Word] = {True: "passed", False: "failed", None: "void"}
_PROMPT_CHARS, _ANSWER_CHARS = 2000, 6000


class Label(msgspec.Struct, frozen=True):
    """One line of the labels file: what was said of the verdict on an attempt, under which ruler."""

    item: str
    rollout: int
    attempt: str
    ruler: str
    verdict: Word
    label: Said


class Verdicts(msgspec.Struct, frozen=True):
    """The judged rollouts of a run by stratum, and each one's stratum."""

    by_stratum: dict[Stratum, list[Rollout]]
    stratum_of: dict[Rollout, Stratum]


def ask_for_labels(
    folder: Path,
    suite: Suite,
    *,
    n: int,
    seed: str,
    labels: Path,
    say: Callable[[str], None],
    answer: Callable[[], str | None],
) -> Estimate:
    """Draw `n` verdicts, ask for the labels that are missing, and estimate from all that there are."""
    verdicts = _verdicts(folder, suite)
    index = RolloutIndex(folder)
    try:
        known = _usable(read_labels(labels), verdicts, index, labels)
        drawn = [rollout for rollout in draw(verdicts.by_stratum, n, seed) if rollout not in known]
        ruler = current_ruler(folder)
        wanted = {item for item, _ in drawn}
        judged = {j.id: j for j in read_judgements(folder) if j.id in wanted}
        with _LabelFile(labels) as file:
            for number, (item, rollout) in enumerate(drawn, 1):
                attempt = _attempt(index, item, rollout)
                say(_card(judged[item], rollout, attempt, f"{number} of {len(drawn)}"))
                said = _ask(say, answer)
                if said == "quit":
                    break
                word = verdicts.stratum_of[item, rollout][0]
                label = Label(item, rollout, attempt_digest(attempt), ruler, word, said)
                file.append(label)
                known[item, rollout] = said
    finally:
        index.close()
    return _estimate(verdicts, known)


def _verdicts(folder: Path, suite: Suite) -> Verdicts:
    items = {item.id: item for item in suite.items}
    found = Verdicts({}, {})
    for judged in read_judgements(folder):
        item = items.get(judged.id)
        if item is None:
            raise RefusedError(f'the run has item "{judged.id}", which {suite.path} does not have; see --suite')
        for one in judged.feedback_result.rollouts:
            stratum = (_WORDS[one.correct], item.family or str(item.verifier["name"]))
            found.by_stratum.setdefault(stratum, []).append((judged.id, one.index))
            found.stratum_of[judged.id, one.index] = stratum
    if not found.stratum_of:
        raise InputError(f"{folder} has no judged rollout to sample")
    return found


def read_labels(path: Path) -> list[tuple[int, Label]]:
    """The labels of a file with their line numbers; a missing file has none."""
    if not path.exists():
        return []
    found: list[tuple[int, Label]] = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        if line.strip():
            try:
                found.append((number, msgspec.json.decode(line, type=Label)))
            except msgspec.DecodeError as error:
                raise FormatError(path, number, f"not a label: {error}") from error
    return found


def _usable(
    labels: list[tuple[int, Label]], verdicts: Verdicts, index: RolloutIndex, path: Path
) -> dict[Rollout, Said]:
    """What each label says of today's verdict on its rollout; labels that say nothing of it are left out."""
    known: dict[Rollout, Said] = {}
    for number, label in labels:
        rollout = (label.item, label.rollout)
        if rollout not in verdicts.stratum_of or attempt_digest(_attempt(index, *rollout)) != label.attempt:
            shown = f"{label.item} [{label.rollout}]"
            raise FormatError(path, number, f"{shown} was labelled in another run; choose another --labels")
        said = _today(label, verdicts.stratum_of[rollout][0])
        known.pop(rollout, None)
        if said is not None:
            known[rollout] = said
    return known


def _today(label: Label, verdict: Word) -> Said | None:
    """A label as it applies to today's verdict: a flip turns right into wrong; a void before or after says nothing."""
    if label.verdict == verdict or label.label == "skip":
        return label.label
    if "void" in (label.verdict, verdict):
        return None
    return "wrong" if label.label == "right" else "right"


def attempt_digest(attempt: Attempt) -> str:
    """sha256 of what a person judged: the answer and the workspace changes."""
    return digest({"answer": attempt.answer, "workspace": attempt.workspace})


def _attempt(index: RolloutIndex, item: str, rollout: int) -> Attempt:
    for found in index.of(item):
        if found.rollout == rollout and found.attempt is not None:
            return found.attempt
    raise RefusedError(f"{item} [{rollout}] is judged but its attempt is not in the journal; judge the run again")


class _LabelFile:
    """Append-only lines, each in the kernel when `append` returns."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> _LabelFile:
        try:
            self._file = self._path.open("ab+", buffering=0)
        except OSError as error:
            raise InputError(f"cannot write to {self._path}: {error.strerror}") from error
        if self._file.seek(0, os.SEEK_END):
            self._file.seek(-1, os.SEEK_END)
            if self._file.read(1) != b"\n":  # a line that a person wrote without its end
                self._file.write(b"\n")
        return self

    def append(self, label: Label) -> None:
        self._file.write(msgspec.json.encode(label) + b"\n")

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _ask(say: Callable[[str], None], answer: Callable[[], str | None]) -> Said | Literal["quit"]:
    while True:
        say("is the verdict right? [r]ight, [w]rong, [s]kip, [q]uit")
        given = answer()
        if given is None:
            return "quit"
        key = given.strip().lower()
        for letter, word in _KEYS.items():
            if key in (letter, word):
                return word
        say(f'expected r, w, s or q, got "{one_line(given)}"')


def _card(judged: JudgedItem, rollout: int, attempt: Attempt, count: str) -> str:
    """What a person needs to say whether a verdict is right."""
    prompt = "\n\n".join(message.content for message in judged.preprocess_result.prompt)
    verdict = next(r for r in judged.feedback_result.rollouts if r.index == rollout)
    parts = [
        f"\n{'=' * 72}\n{count}: {safe(judged.id)} [{rollout}]",
        f"--- prompt\n{cut(prompt, _PROMPT_CHARS)}",
        f"--- answer\n{cut(attempt.answer, _ANSWER_CHARS)}",
    ]
    if attempt.workspace is not None:
        parts.append("--- changed files\n" + (safe("\n".join(sorted(attempt.workspace.changes))) or "none"))
    if judged.feedback_result.reference is not None:
        parts.append(f"--- target\n{cut(judged.feedback_result.reference, _PROMPT_CHARS)}")
    parts += [f"--- reading\n{_reading(judged, rollout)}", f"--- verdict\n{_verdict(verdict)}"]
    return "\n".join(parts)


def _reading(judged: JudgedItem, rollout: int) -> str:
    record = judged.postprocess_result
    how: Mapping[str, Any] = (record.extra or {}).get("readings", {}).get(str(rollout), {})
    if "unread" in how:
        return f"nothing read: {one_line(str(how['unread']), 300)}"
    prediction = next((r.prediction for r in record.rollouts if r.index == rollout), None)
    shown = cut(prediction if isinstance(prediction, str) else str(prediction), _PROMPT_CHARS)
    span = how.get("span")
    place = f" at {span[0]}..{span[1]}" if span else ""
    return f"{shown}\n(by {safe(str(how['rule']))}{place})" if "rule" in how else shown


def _verdict(judgement: RolloutJudgement) -> str:
    extra = judgement.extra or {}
    misses = [f"  {miss['name']}: {one_line(miss.get('detail', ''), 300)}" for miss in extra.get("misses", [])]
    note = [f"  {one_line(extra['note'], 300)}"] if extra.get("note") else []
    return "\n".join([_WORDS[judgement.correct].upper(), *misses, *note])


def _estimate(verdicts: Verdicts, known: Mapping[Rollout, Said]) -> Estimate:
    counted = []
    for (word, of), rollouts in sorted(verdicts.by_stratum.items()):
        said = [known[r] for r in rollouts if r in known]
        counted.append(Counted(word, of, len(rollouts), len(said) - said.count("skip"), said.count("wrong")))
    return estimate(counted, skipped=sum(said == "skip" for said in known.values()))
