"""A real small model inside this process, beside the embedded server of the same weights.

Skipped with the reason where torch, the weights or the engine cannot be had; under CI that is a failure.
"""

from __future__ import annotations

import asyncio
import http.client
import importlib.util
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest

from conftest import missing
from steelyard import Item, Suite, score_model_local
from steelyard.attempt import Message, ModelOutput
from steelyard.errors import CallError, InputError, ModelError
from steelyard.models.batches import Batches, Decoding
from steelyard.models.embedded import EmbeddedServer, start_embedded
from steelyard.models.local import Local
from steelyard.models.weights import WEIGHTS, pull
from steelyard.ports import Sampling, ToolSpec

pytestmark = pytest.mark.hf
NAME = "smollm2-135m"
LOGPROB_TOLERANCE = 0.2  # 4-bit weights times 8-bit activations in the server, 32-bit floats here
NEAR_TIE = 0.01  # in logits; batches of another shape differ by less than 0.001
QUESTIONS = ("What is 2+2? Answer with one number.", "Hi", "Name a colour of the rainbow, then say why you like it.")


@pytest.fixture(scope="module")
def folder() -> Path:
    """The weights as safetensors in the user's cache."""
    if lacking := [name for name in ("torch", "transformers", "gguf") if importlib.util.find_spec(name) is None]:
        missing(f"no {', '.join(lacking)} in this environment: pip install 'steelyard[hf]'")
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    import torch

    from steelyard.models.hf import convert

    torch.set_num_threads(1)  # the machine is shared with other tests
    try:
        return convert(pull(NAME), WEIGHTS[NAME].sha256)[0]
    except ModelError as error:
        missing(str(error))
        raise


@pytest.fixture(scope="module")
def loaded(folder: Path) -> tuple[Any, Any]:
    """The model and its tokenizer."""
    from steelyard.models.hf import load

    return load(folder)


@pytest.fixture(scope="module")
def alone(loaded: tuple[Any, Any]) -> list[dict[str, Any]]:
    """Greedy rows of the questions, each in a batch of its own."""
    return score_model_local(*loaded, suite(), max_new_tokens=12, batch_size=1)


class Watched:
    """The model itself, with its calls and logits kept, and `before` called ahead of each one."""

    def __init__(self, model: Any, before: Callable[[int], None] = lambda rows: None) -> None:
        self._model, self._before = model, before
        self.calls: list[dict[str, Any]] = []
        self.logits: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def generate(self, **settings: Any) -> Any:
        """As the model's own."""
        self.calls.append(settings)
        self._before(settings["input_ids"].shape[0])
        made = self._model.generate(**settings, return_dict_in_generate=True, output_logits=True)
        self.logits.append(made.logits)
        return made.sequences

    @property
    def rows(self) -> list[int]:
        """Rows of each call."""
        return [call["input_ids"].shape[0] for call in self.calls]


def suite(questions: tuple[str, ...] = QUESTIONS) -> Suite:
    """One item a question."""
    items = [Item(id=f"i{n}", input=q, target="4", verifier={"name": "numeric"}) for n, q in enumerate(questions)]
    return Suite(items=tuple(items), revision="r")


def ask(server: EmbeddedServer, path: str, body: dict[str, Any]) -> Any:
    """A reply of the embedded server, outside of its chat endpoint too."""
    connection = http.client.HTTPConnection(urlsplit(server.base_url).netloc, timeout=120)
    try:
        headers = {"Authorization": f"Bearer {server.api_key}", "Content-Type": "application/json"}
        connection.request("POST", path, json.dumps(body), headers)
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


def test_prompts_and_first_tokens_agree_with_the_server_of_the_same_weights(loaded: tuple[Any, Any]) -> None:
    """Prompt token ids are equal, first-token log-probabilities within 0.2, in a left-padded batch [T-34]."""
    import torch

    model, tokenizer = Watched(loaded[0]), loaded[1]
    score_model_local(model, tokenizer, suite(), max_new_tokens=1)
    call, first = model.calls[0], torch.log_softmax(model.logits[0][0].double(), dim=-1)
    assert [3] == model.rows
    with start_embedded(NAME, context_tokens=512, deterministic=True) as server:
        for question in QUESTIONS:
            said = [{"role": "user", "content": question}]
            prompt = ask(server, "/apply-template", {"messages": said})["prompt"]
            theirs = ask(server, "/tokenize", {"content": prompt, "add_special": True, "parse_special": True})["tokens"]
            kept = [
                ids[mask.bool()].tolist() for ids, mask in zip(call["input_ids"], call["attention_mask"], strict=True)
            ]
            row = kept.index(theirs)
            assert 1 == call["attention_mask"][row, -1]  # left padding: the last token is the prompt's
            body = {"messages": said, "max_tokens": 1, "temperature": 0, "logprobs": True, "top_logprobs": 5}
            reply = ask(server, "/v1/chat/completions", {**body, "cache_prompt": False})
            tops = reply["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
            ours = [first[row, top["id"]].item() for top in tops]
            assert pytest.approx([top["logprob"] for top in tops], abs=LOGPROB_TOLERANCE) == ours


def test_a_batch_gives_the_rows_that_its_items_give_alone(loaded: tuple[Any, Any], alone: list[dict[str, Any]]) -> None:
    """Suite order, exactly four keys, prompts cut off, ends of short replies not padded into text [T-33] [T-34]."""
    model = Watched(loaded[0])
    rows = score_model_local(model, loaded[1], suite(), max_new_tokens=12)
    steps = [step.topk(2).values for step in model.logits[0]]
    assert min((top[:, 0] - top[:, 1]).min().item() for top in steps) > NEAR_TIE, "choose questions without near-ties"
    assert ([3], alone) == (model.rows, rows)
    assert [["id", "response", "correct", "difficulty"]] * 3 == [list(row) for row in rows]
    assert ["i0", "i1", "i2"] == [row["id"] for row in rows]
    assert ("The answer is 4.", True) == (rows[0]["response"], rows[0]["correct"])


@pytest.mark.parametrize("pad", [None, "<|im_end|>", "!"])
def test_padding_is_left_and_never_read_as_text(loaded: tuple[Any, Any], alone: list[dict[str, Any]], pad: Any) -> None:
    """No pad token, the end token as pad, and an ordinary word as pad; the tokenizer is given back as it was [T-34]."""
    model, tokenizer = Watched(loaded[0]), loaded[1]
    own = tokenizer.pad_token
    tokenizer.pad_token = pad
    try:
        assert alone[:2] == score_model_local(model, tokenizer, suite(QUESTIONS[:2]), max_new_tokens=12)
        assert (pad, "right") == (tokenizer.pad_token, tokenizer.padding_side)
    finally:
        tokenizer.pad_token = own
    assert [[1, 0], [1, 1]] == [model.calls[0]["attention_mask"][:, at].tolist() for at in (0, -1)]


def test_what_is_lent_is_put_back_when_generating_fails(loaded: tuple[Any, Any]) -> None:
    """Padding side, pad token, generation config and train mode [T-34]."""

    def fail(rows: int) -> None:
        assert ("left", "<|im_end|>", False) == (tokenizer.padding_side, tokenizer.pad_token, model.training)
        raise RuntimeError("a kernel broke")

    model, tokenizer = loaded
    own, config = tokenizer.pad_token, model.generation_config.to_dict()
    tokenizer.pad_token = None
    model.train()
    try:
        with pytest.raises(RuntimeError, match="a kernel broke"):
            score_model_local(Watched(model, fail), tokenizer, suite())
        assert ("right", None, True) == (tokenizer.padding_side, tokenizer.pad_token, model.training)
        assert all(part.training for part in model.modules())
        assert config == model.generation_config.to_dict()
    finally:
        tokenizer.pad_token = own
        model.eval()


def test_greedy_does_not_take_up_the_models_own_sampling_defaults(
    loaded: tuple[Any, Any], alone: list[dict[str, Any]]
) -> None:
    """Neither sampling nor a penalty that would change the choice; they are there again afterwards [T-34]."""
    model, config = Watched(loaded[0]), loaded[0].generation_config
    shipped = {"do_sample": True, "temperature": 5.0, "top_k": 3, "repetition_penalty": 9.0}
    config.update(**shipped)
    try:
        assert alone[:1] == score_model_local(model, loaded[1], suite(QUESTIONS[:1]), max_new_tokens=12)
        assert shipped == {name: getattr(config, name) for name in shipped}
    finally:
        config.update(do_sample=None, temperature=None, top_k=None, repetition_penalty=None)
    assert (False, None, None) == tuple(model.calls[0][name] for name in ("do_sample", "temperature", "top_k"))


def test_a_lack_of_memory_halves_the_batch_and_says_so(
    loaded: tuple[Any, Any], alone: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    """The smaller batch stays, the rows are the same; one item that does not fit is an error with words [T-34]."""
    import torch

    def two_are_too_many(rows: int) -> None:
        if rows > 1:
            torch.empty(1 << 50, dtype=torch.uint8)  # what no machine has: the allocator's own error

    def one_is_too_many(rows: int) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    model = Watched(loaded[0], two_are_too_many)
    assert alone == score_model_local(model, loaded[1], suite(), max_new_tokens=12)
    assert [3, 1, 1, 1] == model.rows
    assert "steelyard: out of memory with a batch of 3; going on with 1\n" == capsys.readouterr().err
    with pytest.raises(ModelError, match=r'item "i2": out of memory with a single prompt of \d+ tokens'):
        score_model_local(Watched(loaded[0], one_is_too_many), loaded[1], suite(), max_new_tokens=12)


def test_a_sampled_reply_hangs_on_its_prompt_and_seed_not_on_its_neighbours(loaded: tuple[Any, Any]) -> None:
    """Alone and in a batch the same; another seed gives another reply [T-34] [O-19]."""
    batches = Batches(*loaded, 8)
    prompts = [batches.prompt([Message("user", question)]) for question in ("Tell a story.", "Tell of the sea.")]
    decoding = Decoding(max_new_tokens=8, temperature=1.0, top_p=0.9, top_k=40)
    together = dict(batches.replies([*prompts, prompts[0]], decoding, [1, 1, 2]))
    assert together[0] == next(batches.replies(prompts[:1], decoding, [1]))[1]
    assert together[0] != together[2]


def test_a_prompt_beyond_the_context_and_a_missing_template_are_told(loaded: tuple[Any, Any]) -> None:
    """Before anything is generated, with the item's name [T-34]."""
    model, tokenizer = loaded
    with pytest.raises(InputError, match=r'item "i0": the prompt has \d+ tokens, the model\'s context is 8192'):
        score_model_local(model, tokenizer, suite(("sea " * 9000,)))
    template, tokenizer.chat_template = tokenizer.chat_template, None
    try:
        with pytest.raises(InputError, match='item "i0": the tokenizer\'s chat template does not render'):
            score_model_local(model, tokenizer, suite())
    finally:
        tokenizer.chat_template = template


def test_calls_that_wait_together_are_one_batch_with_usage_and_finish_reasons(loaded: tuple[Any, Any]) -> None:
    """Equal sampling shares a batch, a long prompt fails alone, stop texts cut, tools are refused [T-34]."""

    async def calls() -> list[ModelOutput | BaseException]:
        local = Local(model, loaded[1], name="hf:test", facts={})
        greedy = Sampling(temperature=0.0, max_tokens=7)
        stopped = msgspec.structs.replace(greedy, stop=["answer"])
        try:
            return await asyncio.gather(
                local.generate([Message("user", QUESTIONS[0])], greedy, seed=1),
                local.generate([Message("user", "sea " * 9000)], greedy, seed=1),
                local.generate([Message("user", QUESTIONS[2])], greedy, seed=2),
                local.generate([Message("user", QUESTIONS[0])], stopped),
                local.generate([Message("user", "x")], greedy, tools=[ToolSpec("t", "d", {})]),
                return_exceptions=True,
            )
        finally:
            await local.close()

    model = Watched(loaded[0])
    whole, beyond, cut, stopped, tools = asyncio.run(calls())
    assert [2, 1] == model.rows
    assert isinstance(whole, ModelOutput)
    assert isinstance(cut, ModelOutput)
    assert isinstance(stopped, ModelOutput)
    assert [("The answer is 4.", "stop"), ("The ", "stop")] == [
        (o.texts[0], o.finish_reasons[0]) for o in (whole, stopped)
    ]
    assert whole.usage is not None
    assert cut.usage is not None
    assert (7, "length") == (cut.usage.output_tokens, cut.finish_reasons[0])
    ids = model.calls[0]["attention_mask"].sum(dim=1).tolist()
    assert sorted(ids) == sorted([whole.usage.input_tokens, cut.usage.input_tokens])
    assert [("prompt", True), ("unsupported", True)] == [
        (error.kind, "hf:test" in str(error)) for error in (beyond, tools) if isinstance(error, CallError)
    ]


def test_closing_ends_a_generation_and_answers_its_caller(loaded: tuple[Any, Any]) -> None:
    """Within a token, not after thousands of them; later calls are refused too [T-34]."""

    async def call() -> list[str]:
        loop, started = asyncio.get_running_loop(), asyncio.Event()

        def begun(rows: int) -> None:
            loop.call_soon_threadsafe(started.set)

        local = Local(Watched(loaded[0], begun), loaded[1], name="hf:test", facts={})
        asked = asyncio.create_task(local.generate([Message("user", "Count.")], Sampling(max_tokens=4000)))
        await started.wait()
        await local.close()
        kinds = []
        for late in (asked, local.generate([Message("user", "Hi")], Sampling())):
            try:
                await late
            except CallError as error:
                kinds.append(error.kind)
        return kinds

    assert ["closed", "closed"] == asyncio.run(call())


def test_steelyard_run_takes_a_model_of_this_process(
    folder: Path, cli: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    """`--model hf:PATH` by folder: a batch of the calls in flight, weights and versions in run.json [T-34]."""
    lines = [json.dumps({"id": i.id, "input": i.input, "target": "4", "verifier": i.verifier}) for i in suite().items]
    (tmp_path / "s.jsonl").write_text("\n".join(lines) + "\n")
    settings = ("--split", "all", "--allow-unproven", "--temperature", 0, "--max-new-tokens", 8, "--out", "r")
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    cli("run", "s.jsonl", "--model", f"hf:{folder}", *settings, env=environment)
    facts = json.loads((tmp_path / "r" / "run.json").read_text())["plan"]["model_facts"]
    note = json.loads((folder / "converted.json").read_text())
    assert (note["files"]["model.safetensors"], "transformers", "float32", 8192) == tuple(
        facts[name] for name in ("weights_sha256", "engine", "dtype", "context_tokens")
    )
    rollouts = [json.loads(line) for line in (tmp_path / "r" / "rollouts.jsonl").read_text().splitlines()]
    assert ["The answer is 4."] == [r["attempt"]["answer"] for r in rollouts if r["item"] == "i0"]
    assert 3 == len(rollouts)
