"""Seed 000's API: load a suite, verify a response, score a model behind a client object or in this process.

`verify` is the item-aware signal; `verify_sda_answer` is the item-agnostic core (a number first, exact text else).
Rows are exactly {"id", "response", "correct", "difficulty"} in suite order; a void is None, never False.
`load_suite` keeps the seed's default split, `test`; everything of Steelyard's own defaults to `dev`.
Not covered: retries, concurrency and records: `steelyard run` does those.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from steelyard.attempt import Attempt
from steelyard.errors import FormatError, InputError, ModelError
from steelyard.item import Item, messages
from steelyard.judging import judge
from steelyard.suite import Suite, load
from steelyard.verdict import Verdict
from steelyard.verifiers.registry import Bound, bind, bind_spec

DEFAULT_REVISION = "v1.0"
DEFAULT_DIFFICULTY = "medium"


def load_suite(rev: str | Path | None = None, *, split: str = "test") -> Suite:
    """The items of one split of a suite, by path or by revision under $STEELYARD_SUITES (default suite/frozen)."""
    path = Path(rev or DEFAULT_REVISION)
    if not path.exists():
        path = Path(os.environ.get("STEELYARD_SUITES", "suite/frozen")) / path
    if not path.exists():
        raise FormatError(path, None, "no such suite; give a path, or set STEELYARD_SUITES to the folder of revisions")
    suite = load(path)
    chosen = suite.split(split) if path.is_dir() else suite
    return msgspec.structs.replace(chosen, revision=path.name if path.is_dir() else suite.revision)


def verify(item: Item, response: str) -> bool | None:
    """Whether a response is right under the item's own verifier; None when the verifier could not say."""
    return judge(item, bind(item), Attempt(answer=response)).verdict.passed


def verify_sda_answer(response: str, target: str) -> bool:
    """Whether the response's number equals the target within 1e-6, or else its text does."""
    try:
        numeric = bind_spec({"name": "numeric"}, target)
    except InputError:  # the target is no number: only its text can match
        return _passes(bind_spec({"name": "exact"}, target), response)
    return _passes(numeric, response) or _passes(bind_spec({"name": "exact"}, target), response)


def _passes(bound: Bound, response: str) -> bool:
    verdict = bound.decide(bound.read(Attempt(answer=response)))
    return isinstance(verdict, Verdict) and verdict.passed is True


def verify_correct(prompt: str, response: str, answer: str) -> bool:  # noqa: ARG001  # taken for call-site symmetry
    """Like `verify_sda_answer`, for a caller with a (prompt, response, answer) triple."""
    return verify_sda_answer(response, answer)


def score_model(
    client: Any,
    suite: Suite,
    *,
    model: str = "Qwen/Qwen3-14B-AWQ",
    temperature: float = 0.0,
    max_tokens: int = 512,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """One row an item from an OpenAI-style client object, in suite order; greedy by default."""
    if not hasattr(getattr(getattr(client, "chat", None), "completions", None), "create"):
        raise InputError(
            f"score_model takes a client such as openai.OpenAI(base_url=...), which has chat.completions.create; got "
            f"{type(client).__name__} (for an address, use: steelyard run SUITE --base-url URL --model NAME)"
        )
    rows = []
    for item in suite.items:
        reply = client.chat.completions.create(
            model=model,
            messages=[{"role": m.role, "content": m.content} for m in messages(item)],
            temperature=temperature,
            max_tokens=max_tokens,
            seed=seed,
        )
        if not reply.choices:
            raise ModelError(f'item "{item.id}": the endpoint answered without a choice')
        rows.append(_row(item, reply.choices[0].message.content or ""))
    return rows


def score_model_local(
    model: Any,
    tokenizer: Any,
    suite: Suite,
    *,
    max_new_tokens: int = 512,
    temperature: float = 0.0,
    batch_size: int = 8,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """The rows of `score_model` from a transformers model and tokenizer in this process; greedy by default.

    A batch that memory does not suffice for is halved, which a line on stderr tells; ModelError when a single item
    does not fit, InputError for an item that the chat template or the context cannot take. What is lent is given
    back as it was: padding side, pad token, generation config, train mode.
    """
    from steelyard.models.batches import Batches, Decoding

    batches = Batches(model, tokenizer, batch_size)
    decoding = Decoding(max_new_tokens=max_new_tokens, temperature=temperature)
    prompts = []
    for item in suite.items:
        try:
            prompts.append(batches.prompt(messages(item)))
        except InputError as error:
            raise InputError(f'item "{item.id}": {error}') from error
    texts = {}
    for index, reply in batches.replies(prompts, decoding, [seed] * len(prompts)):
        if isinstance(reply, ModelError):
            raise ModelError(f'item "{suite.items[index].id}": {reply}')
        texts[index] = reply.text
    return [_row(item, texts[index]) for index, item in enumerate(suite.items)]


def _row(item: Item, response: str) -> dict[str, Any]:
    return {
        "id": item.id,
        "response": response,
        "correct": verify(item, response),
        "difficulty": item.difficulty or DEFAULT_DIFFICULTY,
    }
