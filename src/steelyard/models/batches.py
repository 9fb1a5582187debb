"""Generation with a transformers model in this process: conversations in batches, replies by row.

Source: the generation API of Hugging Face transformers; padding and slicing after seed 000's in-process scorer.
Prompts come from the tokenizer's chat template, are padded on the left and cut off again by length. Sampling draws
for each row from a generator of its own, so that a reply hangs on its prompt and seed and not on its neighbours.
Not covered: tools, schemas, log-probabilities, images, beams; a reasoning block stays inside the text as written.
Easy to break: what belongs to the caller (padding side, pad token, generation config, train mode) is put back after
every batch; greedy text may still turn on a near-tie when the batch around it changes, as in any server.
"""

from __future__ import annotations

import gc
import hashlib
import secrets
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec

from steelyard.attempt import Message
from steelyard.errors import InputError, ModelError
from steelyard.models.chat_format import build_body
from steelyard.ports import Sampling

_KEPT_DEFAULTS = (
    "bos_token_id",
    "eos_token_id",
    "pad_token_id",
    "cache_implementation",
    "_from_model_config",
    "transformers_version",
)
_REASONING_MARKS = ("<think>", "</think>", "[THINK]", "[/THINK]", "◁think▷", "◁/think▷")


class Decoding(msgspec.Struct, frozen=True, kw_only=True):
    """How tokens are chosen. Temperature 0 is greedy; `top_p` 1 and `top_k` 0 leave the distribution whole."""

    max_new_tokens: int = 512
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    stop: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.max_new_tokens < 1:
            raise InputError(f"max_new_tokens must be at least 1, got {self.max_new_tokens}")
        if not 0 <= self.temperature < float("inf"):
            raise InputError(f"temperature must be 0 or more and finite, got {self.temperature}")


class Prompt(msgspec.Struct, frozen=True):
    """A rendered conversation and its length in tokens."""

    text: str
    tokens: int


class Reply(msgspec.Struct, frozen=True):
    """One row's text, `stop` or `length`, and the tokens that were generated (the one that ends it counts)."""

    text: str
    finish_reason: str
    tokens: int


class Batches:
    """Generation in batches of at most `size`, which halves for good when memory does not suffice.

    `told` gets one line when that happens. Not safe to call from two threads at once.
    """

    def __init__(self, model: Any, tokenizer: Any, size: int, told: Callable[[str], None] | None = None) -> None:
        if not isinstance(size, int) or size < 1:
            raise InputError(f"batch_size must be a whole number of at least 1, got {size}")
        if tokenizer.pad_token is None and tokenizer.eos_token is None:
            raise InputError("the tokenizer has neither a pad nor an end token; set tokenizer.pad_token")
        self.size = size
        self.stopping = threading.Event()
        self._model, self._tokenizer, self._told = model, tokenizer, told or _to_stderr
        self.context_tokens: int | None = getattr(getattr(model, "config", None), "max_position_embeddings", None)

    def prompt(self, messages: Sequence[Message]) -> Prompt:
        """The conversation as the chat template writes it; InputError when it cannot, or leaves no room to answer."""
        import jinja2  # the language of chat templates, which transformers needs too

        said = build_body("", messages, Sampling())["messages"]
        try:
            text = self._tokenizer.apply_chat_template(said, tokenize=False, add_generation_prompt=True)
        except (jinja2.TemplateError, ValueError, TypeError) as error:  # no template is a ValueError
            raise InputError(f"the tokenizer's chat template does not render this conversation: {error}") from error
        tokens = len(self._tokenizer(text, add_special_tokens=False)["input_ids"])
        if self.context_tokens is not None and tokens >= self.context_tokens:
            raise InputError(f"the prompt has {tokens} tokens, the model's context is {self.context_tokens}")
        return Prompt(text, tokens)

    def replies(
        self, prompts: Sequence[Prompt], decoding: Decoding, seeds: Sequence[int | None]
    ) -> Iterator[tuple[int, Reply | ModelError]]:
        """(index, reply) of every prompt, in no order; ModelError in place of one that not even fits alone.

        The longest come first: they waste the least padding together, and meet a lack of memory early.
        """
        order = sorted(range(len(prompts)), key=lambda i: -prompts[i].tokens)
        start = 0
        while start < len(order):
            rooms = [(i, self._room(prompts[i], decoding)) for i in order[start : start + self.size]]
            room = rooms[0][1]
            batch = [i for i, own in rooms if own == room]  # the first ones: room grows as prompts get shorter
            settings = msgspec.structs.replace(decoding, max_new_tokens=room)
            replies = self._tried([prompts[i] for i in batch], settings, [seeds[i] for i in batch])
            if self.stopping.is_set():
                return  # what was cut short is no reply
            if replies is None and len(batch) > 1:
                self.size = len(batch) // 2
                self._told(f"out of memory with a batch of {len(batch)}; going on with {self.size}")
                continue
            start += len(batch)
            if replies is None:
                yield batch[0], _too_large(prompts[batch[0]], room)
            else:
                yield from zip(batch, replies, strict=True)

    def release(self) -> None:
        """Let go of the model and the tokenizer, so that their memory is free."""
        self.stopping.set()
        self._model = self._tokenizer = None
        _free_memory()

    def _room(self, prompt: Prompt, decoding: Decoding) -> int:
        """Tokens that may follow a prompt."""
        if self.context_tokens is None:
            return decoding.max_new_tokens
        return min(decoding.max_new_tokens, self.context_tokens - prompt.tokens)

    def _tried(self, prompts: Sequence[Prompt], decoding: Decoding, seeds: Sequence[int | None]) -> list[Reply] | None:
        """The replies, or None when memory did not suffice."""
        try:
            with _borrowed(self._model, self._tokenizer):
                return self._generate(prompts, decoding, seeds)
        except (RuntimeError, MemoryError) as error:
            if not _is_out_of_memory(error):
                raise
        _free_memory()  # not above: until the handler ends, the traceback keeps the batch's tensors
        return None

    def _generate(self, prompts: Sequence[Prompt], decoding: Decoding, seeds: Sequence[int | None]) -> list[Reply]:
        import torch

        tokenizer, texts = self._tokenizer, [prompt.text for prompt in prompts]
        encoded = tokenizer(texts, add_special_tokens=False, padding=True, return_tensors="pt").to(self._model.device)
        ends = _end_ids(self._model, tokenizer)
        settings = _settings(decoding, texts, seeds)
        if decoding.stop:
            settings |= {"stop_strings": list(decoding.stop), "tokenizer": tokenizer}
        with torch.no_grad():
            sequences = self._model.generate(
                input_ids=encoded["input_ids"],
                attention_mask=encoded["attention_mask"],
                max_new_tokens=decoding.max_new_tokens,
                pad_token_id=tokenizer.pad_token_id,
                eos_token_id=sorted(ends) or None,
                stopping_criteria=[self._must_stop],
                **settings,
            )
        rows = sequences[:, encoded["input_ids"].shape[1] :].tolist()
        return [self._reply(row, ends, decoding.stop) for row in rows]

    def _must_stop(self, input_ids: Any, scores: Any, **_: Any) -> Any:  # noqa: ARG002  # transformers' signature
        import torch

        return torch.full((input_ids.shape[0],), self.stopping.is_set(), device=input_ids.device, dtype=torch.bool)

    def _reply(self, row: list[int], ends: set[int], stop: Sequence[str]) -> Reply:
        """A row's own tokens: the padding behind its end belongs to its longer neighbours."""
        tokenizer = self._tokenizer
        end = next((at for at, token in enumerate(row) if token in ends), None)
        if end is not None:
            return Reply(_cut(_text(tokenizer, row[:end]), stop)[0], "stop", end + 1)
        if stop:  # a row that a stop text ended is padded without an end token
            while row and row[-1] == tokenizer.pad_token_id:
                row = row[:-1]
        text, was_cut = _cut(_text(tokenizer, row), stop)
        return Reply(text, "stop" if was_cut else "length", len(row))


def _settings(decoding: Decoding, texts: Sequence[str], seeds: Sequence[int | None]) -> dict[str, Any]:
    """Keyword arguments of `generate` that choose tokens; None takes a default away rather than leaving it."""
    if decoding.temperature == 0:
        return {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
    draws = _Draws(decoding, [_row_seed(text, seed) for text, seed in zip(texts, seeds, strict=True)])
    return {
        "do_sample": True,
        "temperature": decoding.temperature,
        "top_p": decoding.top_p,
        "top_k": decoding.top_k,
        "logits_processor": [draws],
    }


class _Draws:
    """Chooses each row's token by that row's own generator and leaves `generate` no other choice.

    Its multinomial draws a batch from one stream, so a reply would depend on who else is in the batch.
    """

    def __init__(self, decoding: Decoding, seeds: Sequence[int]) -> None:
        import torch
        from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

        self._generators = [torch.Generator().manual_seed(seed) for seed in seeds]
        self._warpers: list[Any] = [TemperatureLogitsWarper(float(decoding.temperature))]
        if decoding.top_k:
            self._warpers.append(TopKLogitsWarper(decoding.top_k))
        if decoding.top_p < 1:
            self._warpers.append(TopPLogitsWarper(decoding.top_p))

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        import torch

        kept = scores
        for warper in self._warpers:
            kept = warper(input_ids, kept)
        wide = kept.cpu() if kept.device.type == "mps" else kept  # that device has no 64-bit floats
        cumulative = torch.softmax(wide.double(), dim=-1).cumsum(dim=-1)
        uniform = torch.stack([torch.rand(1, generator=g, dtype=torch.float64) for g in self._generators])
        goal = uniform.to(cumulative.device) * cumulative[:, -1:]
        chosen = torch.searchsorted(cumulative, goal, right=True).to(scores.device)
        return torch.full_like(scores, -torch.inf).scatter(1, chosen, 0.0)


def _row_seed(text: str, seed: int | None) -> int:
    """A seed of the prompt and the call: with the call's alone, all items would share one stream of chance."""
    if seed is None:
        return secrets.randbits(63)
    return int.from_bytes(hashlib.sha256(f"{seed}\n{text}".encode()).digest()[:8]) >> 1


@contextmanager
def _borrowed(model: Any, tokenizer: Any) -> Iterator[None]:
    """Left padding with a pad token, evaluation mode, and no sampling defaults of the model; all put back."""
    side, pad_token = tokenizer.padding_side, tokenizer.pad_token
    training = [part for part in model.modules() if part.training] if hasattr(model, "modules") else []
    # In place: wrappers (adapters, compiled models) share the object, and would not see another one set on them.
    defaults = getattr(model, "generation_config", None)
    own = dict(vars(defaults)) if defaults is not None else {}
    try:
        tokenizer.padding_side = "left"
        if pad_token is None:
            tokenizer.pad_token = tokenizer.eos_token
        for part in training:
            part.training = False
        if defaults is not None:
            kept = {name: own[name] for name in _KEPT_DEFAULTS if name in own}
            _replace(defaults, vars(type(defaults)()) | kept)
        yield
    finally:
        tokenizer.padding_side = side
        if pad_token is None:
            tokenizer.pad_token = None
        for part in training:
            part.training = True
        if defaults is not None:
            _replace(defaults, own)


def _replace(thing: Any, attributes: Mapping[str, Any]) -> None:
    vars(thing).clear()
    vars(thing).update(attributes)


def _end_ids(model: Any, tokenizer: Any) -> set[int]:
    """Tokens that end a reply: the model's and the tokenizer's, since chat models often name one in each."""
    named = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    ids = named if isinstance(named, list) else [named]
    return {int(token) for token in (*ids, tokenizer.eos_token_id) if token is not None}


def _text(tokenizer: Any, ids: list[int]) -> str:
    """Tokens as text without special ones; marks of reasoning stay even where a tokenizer calls them special."""
    marks = {}
    for mark in _REASONING_MARKS:
        if mark in getattr(tokenizer, "all_special_tokens", ()):
            marks[tokenizer.convert_tokens_to_ids(mark)] = mark
    pieces, rest = [], ids
    while rest:
        at = next((at for at, token in enumerate(rest) if token in marks), len(rest))
        pieces += tokenizer.batch_decode([rest[:at]], skip_special_tokens=True, clean_up_tokenization_spaces=False)
        pieces += [marks[token] for token in rest[at : at + 1]]
        rest = rest[at + 1 :]
    return "".join(pieces)


def _cut(text: str, stop: Sequence[str]) -> tuple[str, bool]:
    """Text before the first stop text, and whether there was one."""
    at = min((found for one in stop if (found := text.find(one)) >= 0), default=-1)
    return (text, False) if at < 0 else (text[:at], True)


def _is_out_of_memory(error: BaseException) -> bool:
    """Whether an error of torch says that memory ran out; only CUDA's has a class of its own."""
    import torch

    words = str(error).lower()
    return (
        isinstance(error, torch.cuda.OutOfMemoryError | MemoryError)
        or "out of memory" in words
        or "can't allocate memory" in words
        or "not enough memory" in words
        or "alloc_failed" in words
    )


def _free_memory() -> None:
    gc.collect()
    torch: Any = sys.modules.get("torch")  # nothing of it is held when nothing has loaded it
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()


def _too_large(prompt: Prompt, room: int) -> ModelError:
    return ModelError(
        f"out of memory with a single prompt of {prompt.tokens} tokens and max_new_tokens {room}; "
        "ask for fewer tokens, load the model in a smaller dtype, or use a device with more memory"
    )


def _to_stderr(line: str) -> None:
    sys.stderr.write(f"steelyard: {line}\n")
