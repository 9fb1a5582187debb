"""A comparison as lines for a terminal, or as Markdown that a person pastes into a pull request.

Both are made from the dictionary that --json prints and say the same; nothing is computed here.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

from steelyard.report import short

ANSWER_LINES = 12
"""Lines of each answer that a terminal shows; --json has all of it."""


def render(found: dict[str, Any], *, markdown: bool = False, width: int = 100) -> str:
    """The comparison as text; `width` is the terminal's in characters."""
    return "\n".join(_markdown(found) if markdown else _terminal(found, width))


def sentence(found: dict[str, Any]) -> str:
    """The word as a sentence about B and A."""
    return _sentence(found, "A", "B")


def _sentence(one: dict[str, Any], a: str, b: str) -> str:
    word = one["word"]
    if word in ("better", "worse"):
        return f"{b} is {word} than {a}"
    return f"{b} against {a}: {word}"


def _terminal(found: dict[str, Any], width: int) -> Iterator[str]:
    yield from _table([[f"{row['label']}", *_run_cells(row)] for row in found["runs"]])
    yield from (f"{name:<12}{text}" for name, text in _facts(found))
    if "pairs" in found:
        yield ""
        yield from _table([_RANKING, *_ranking_rows(found)])
        yield ""
        yield from _table([_MATRIX, *_matrix_rows(found)])
        return
    yield ""
    yield from _table([["", "rate", "95 % interval", "rollouts"], *_side_rows(found)], indent=0)
    yield ""
    yield from (f"{name:<12}{text}" for name, text in _results(found))
    for title in ("difficulty", "domain"):
        if found[f"by_{title}"]:
            yield ""
            yield from _table([[title, *_STRATA], *_strata_rows(found[f"by_{title}"])])
    for flip in found.get("flips", []):
        yield from _flip_lines(flip, width)


def _run_cells(row: dict[str, Any]) -> list[str]:
    rollouts = f"{row['rollouts']} rollout" + ("s" if row["rollouts"] != 1 else "")
    return [row["run"], row["model"], f"seed {row['seed']}", rollouts, f"ruler {short(row['ruler'])}"]


def _facts(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    suite = found["suite"]
    yield "suite", f"{suite['name']}  {short(suite['revision'])}"
    if any(row["n_only_here"] for row in found["runs"]):
        yield "left out", ", ".join(f"{row['n_only_here']} items only in {row['label']}" for row in found["runs"])
    for name, values in found["allowed"].items():
        labels = [row["label"] for row in found["runs"]]
        yield "unlike", f"{name}: " + ", ".join(f"{v!r} in {at}" for v, at in zip(values, labels, strict=True))
    if any(row["anomalies"] for row in found["runs"]):
        flagged = (
            f"{row['label']} " + (", ".join(f"{n} {rule}" for rule, n in row["anomalies"].items()) or "none")
            for row in found["runs"]
        )
        yield "anomalies", "; ".join(flagged)
    yield "floor", f"{found['floor']['rate']:.3f}  {found['floor']['baseline']} (a shortcut that does no work)"


def _side_rows(found: dict[str, Any]) -> Iterator[list[str]]:
    for label in ("a", "b"):
        side = found[label]
        if side is None:
            yield [label.upper(), "-", "-", "0"]
            continue
        floor = "" if side["interval"]["low"] > found["floor"]["rate"] else "  not shown to be above the floor"
        text = f"{side['n']}"
        if side.get("n_unknown"):
            low, high = side["bounds"]
            text += f" and {side['n_unknown']} unknown (void, error, unfinished): bounds [{low:.3f}, {high:.3f}]"
        yield [label.upper(), f"{side['rate']:.3f}", _interval(side["interval"]), text + floor]


def _results(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    groups = f" in {found['n_groups']} groups" if found["n_groups"] != found["n_items"] else ""
    dropped = f", {found['n_dropped']} dropped (nothing judged on one side)" if found["n_dropped"] else ""
    yield "items", f"{found['n_items']} compared{groups}{dropped}"
    if found["difference"] is not None:
        yield "B - A", f"{found['difference']:+.3f}  {_interval(found['interval'])}  {found['interval']['method']}"
        yield "p", f"{_p(found['p'])}  {found['test']}"
    if found["mcnemar"]:
        test = found["mcnemar"]
        alone = "" if found["test"] == "mcnemar_exact" else "  (as if items were independent)"
        counts = f"{test['gained']} gained, {test['lost']} lost"
        yield "McNemar", f"{counts}; exact p {_p(test['exact'])}, mid-p {_p(test['midp'])}{alone}"
    yield "word", sentence(found)
    if len(found["words"]) > 1:
        yield "", "; ".join(f"{reading}: {word}" for reading, word in found["words"].items())
    if found["mde"] is not None:
        yield (
            "detectable",
            f"about {found['mde']:.3f}: the least difference that a comparison like this finds 4 times in 5",
        )
    elif found["difference"] is not None:
        yield "detectable", "nothing: no difference that can be is found 4 times in 5 by so few items that differ"
    same = found["identical"]
    yield "identical", f"{same['n']} of {same['of']} transcripts are the same, word for word"
    alike = same["n"] or len({run["model"] for run in found["runs"]}) == 1  # two models differ everywhere anyway
    if alike and found["parted"]:
        for one in found["parted"]:
            where = one["difference"]
            yield (
                "",
                f"{one['item']} [{one['rollout']}] parts at message {where['index']}, written by the {where['author']}",
            )
    if "seed_spread" in found:
        yield "seed spread", _spread(found["seed_spread"])


def _spread(one: dict[str, Any]) -> str:
    verdicts = {True: "B beats A by more than A's spread", False: "B does not beat A by more than A's spread"}
    word = verdicts.get(one["beats"], "voids and errors decide whether B beats A's spread")
    gain = one["mean_b"] - one["mean_a"]
    seeds = ", ".join(map(str, one["seeds"]))
    return f"{word}: {gain:+.4f} against {one['spread']:.4f} (sample deviation of A over seeds {seeds})"


_STRATA = ["items", "A", "B", "B - A", "95 % interval", "p", "p (BH)", "word"]


def _strata_rows(strata: dict[str, Any]) -> Iterator[list[str]]:
    for name, one in strata.items():
        if one["difference"] is None:
            yield [name, "0", "-", "-", "-", "-", "-", "-", one["word"]]
            continue
        rates = [f"{one[side]['rate']:.3f}" for side in ("a", "b")]
        difference = [f"{one['difference']:+.3f}", _interval(one["interval"])]
        yield [name, str(one["n_items"]), *rates, *difference, _p(one["p"]), _p(one["p_bh"]), one["word"]]


_RANKING = ["rank", "run", "model", "rate", "95 % interval", "not separated from"]


def _ranking_rows(found: dict[str, Any]) -> Iterator[list[str]]:
    tied = [row["rank"] for row in found["ranking"]]
    for row in found["ranking"]:
        rank = f"{row['rank']}{'=' if tied.count(row['rank']) > 1 else ''}"
        yield [
            rank,
            row["label"],
            row["model"],
            f"{row['rate']:.3f}",
            _interval(row["interval"]),
            ", ".join(row["ties"]) or "-",
        ]


_MATRIX = ["pair", "items", "difference", "95 % interval", "p", "p (Holm)", "word"]


def _matrix_rows(found: dict[str, Any]) -> Iterator[list[str]]:
    for one in found["pairs"]:
        name = f"{one['to']} - {one['from']}"
        numbers = [f"{one['difference']:+.3f}", _interval(one["interval"]), _p(one["p"]), _p(one["p_holm"])]
        yield [name, str(one["n_items"]), *numbers, _sentence(one, one["from"], one["to"])]


def _interval(interval: dict[str, Any]) -> str:
    return f"[{interval['low']:.3f}, {interval['high']:.3f}]"


def _p(value: float) -> str:
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"


def _table(rows: Iterable[Sequence[str]], indent: int = 0) -> Iterator[str]:
    """Columns as wide as their widest cell, two spaces apart."""
    listed = [list(row) for row in rows]
    widths = [max(len(row[column]) for row in listed) for column in range(len(listed[0]))]
    for row in listed:
        yield " " * indent + "  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)).rstrip()


def _flip_lines(flip: dict[str, Any], width: int) -> Iterator[str]:
    """An item's two answers side by side."""
    half = max(20, (width - 3) // 2)
    yield ""
    yield f"{'lost' if flip['change'] < 0 else 'gained'}  {flip['item']}" + (
        f"  target {flip['target']}" if flip["target"] else ""
    )
    for lines in (_head_lines, _answer_lines):  # heads wrap in a narrow terminal; the answers still begin level
        left, right = lines("a", flip["a"], half), lines("b", flip["b"], half)
        for one, other in zip_longest(left, right, fillvalue=""):
            yield f"{one:<{half}} | {other}".rstrip()


def _head_lines(label: str, one: dict[str, Any], width: int) -> list[str]:
    head = f"{label.upper()}: {one['passed']} of {one['judged']} passed; rollout {one['rollout']}"
    misses = f", {', '.join(one['misses'])}" if one.get("misses") else ""
    return textwrap.wrap(head + misses, width)


def _answer_lines(_label: str, one: dict[str, Any], width: int) -> list[str]:
    lines = [piece for line in one["answer"].splitlines() for piece in textwrap.wrap(line, width) or [""]]
    if len(lines) > ANSWER_LINES:
        cut = len(lines) - ANSWER_LINES + 1
        half = (ANSWER_LINES - 1) // 2
        lines = [*lines[:half], f"... {cut} lines ...", *lines[half + cut :]]
    changed = [f"changed: {path}" for path in one.get("changed", [])]
    return [*lines, *changed]


def _markdown(found: dict[str, Any]) -> Iterator[str]:
    if "pairs" in found:
        yield f"### Comparison of {len(found['runs'])} runs"
    else:
        yield f"### {sentence(found)}"
    yield ""
    yield from _md_table([["", "run", "model", "seed", "rollouts", "ruler"], *_md_runs(found)])
    yield ""
    yield from (f"- {name}: {text}" for name, text in _facts(found))
    if "pairs" in found:
        for head, rows in ((_RANKING, _ranking_rows(found)), (_MATRIX, _matrix_rows(found))):
            yield ""
            yield from _md_table([head, *rows])
        return
    yield ""
    yield from _md_table([["", "rate", "95 % interval", "rollouts"], *_side_rows(found)])
    yield ""
    yield from (f"- {f'{name}: ' if name else ''}{text}" for name, text in _results(found))
    for title in ("difficulty", "domain"):
        if found[f"by_{title}"]:
            yield ""
            yield from _md_table([[title, *_STRATA], *_strata_rows(found[f"by_{title}"])])
    if found.get("flips"):
        yield from _md_flips(found["flips"])


def _md_runs(found: dict[str, Any]) -> Iterator[list[str]]:
    for row in found["runs"]:
        yield [row["label"], row["run"], row["model"], str(row["seed"]), str(row["rollouts"]), short(row["ruler"])]


def _md_table(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    for number, row in enumerate(rows):
        cells = [cell.replace("|", "\\|").replace("\n", " ") for cell in row]
        yield f"| {' | '.join(cells)} |"
        if number == 0:
            yield "|" + "---|" * len(cells)


def _md_flips(listed: Sequence[dict[str, Any]]) -> Iterator[str]:
    lost = sum(flip["change"] < 0 for flip in listed)
    yield ""
    yield f"<details><summary>{lost} items lost, {len(listed) - lost} gained</summary>"
    for flip in listed:
        yield ""
        yield f"**{'lost' if flip['change'] < 0 else 'gained'}: {flip['item']}**" + (
            f", target `{flip['target']}`" if flip["target"] else ""
        )
        for label in ("a", "b"):
            one = flip[label]
            misses = f", {', '.join(one['misses'])}" if one.get("misses") else ""
            fence = _fence(one["answer"])
            yield ""
            yield f"{label.upper()} ({one['passed']} of {one['judged']} passed{misses}):"
            yield ""
            yield f"{fence}text\n{one['answer']}\n{fence}"
            yield from (f"changed: `{path}`" for path in one.get("changed", []))
    yield ""
    yield "</details>"


def _fence(text: str) -> str:
    """A fence that the text cannot close."""
    fence = "```"
    while fence in text:
        fence += "`"
    return fence
