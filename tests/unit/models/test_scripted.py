"""Scripted replies: in order, by a function, from a file."""

import asyncio
from pathlib import Path

import pytest

from steelyard.attempt import Message, ModelOutput
from steelyard.errors import CallError, FormatError
from steelyard.models.scripted import Scripted, scripted_from_file
from steelyard.ports import Model, Sampling


def ask(model: Model, text: str, seed: int | None = None) -> ModelOutput:
    """One reply."""
    return asyncio.run(model.generate([Message("user", text)], Sampling(temperature=0.0), seed=seed))


def test_replies_come_in_order_and_end_in_words() -> None:
    """Texts and whole outputs may be mixed; a used-up script is a failed call [O-7]."""
    whole = ModelOutput(model="other", texts=["b"], finish_reasons=["length"])
    model = Scripted(["a", whole])
    first, second = ask(model, "x", 3), ask(model, "y")
    request = {"model": "scripted", "temperature": 0.0, "seed": 3}
    assert first == ModelOutput(model="scripted", texts=["a"], finish_reasons=["stop"], request=request)
    assert whole == second
    with pytest.raises(CallError, match="all 2 scripted replies are used up"):
        ask(model, "z")


def test_a_function_sees_the_conversation_and_the_seed() -> None:
    """Replies can depend on both [O-7]."""
    model = Scripted(lambda messages, seed: f"{messages[-1].content}/{seed}")
    assert ask(model, "x", 5).texts == ["x/5"]


def test_the_first_row_that_fits_answers(tmp_path: Path) -> None:
    """By text of the last user message and seed; a row without either fits all [O-7]."""
    path = tmp_path / "replies.jsonl"
    path.write_text(
        '{"contains": "cats", "reply": "meow", "seed": 1}\n'
        '{"contains": "cats", "reply": "purr"}\n\n'
        '{"reply": "default"}\n'
    )
    model = scripted_from_file(path)
    answers = [ask(model, "of cats", 1), ask(model, "of cats", 2), ask(model, "of dogs")]
    assert [answer.texts[0] for answer in answers] == ["meow", "purr", "default"]
    assert model.id == "replies"


def test_no_row_that_fits_is_a_failed_call(tmp_path: Path) -> None:
    """Never a made-up answer [O-7]."""
    path = tmp_path / "replies.jsonl"
    path.write_text('{"contains": "cats", "reply": "meow"}\n')
    with pytest.raises(CallError, match='no reply to "dogs"') as caught:
        ask(scripted_from_file(path), "dogs")
    assert caught.value.kind == "script"


@pytest.mark.parametrize(
    "line",
    ['{"contains": "x"}', '{"reply": 3}', '{"reply": "x", "sed": 1}', "[]", "{", "\xff"],
)
def test_a_bad_row_names_its_line(line: str, tmp_path: Path) -> None:
    """Unknown and missing fields are refused [O-7]."""
    path = tmp_path / "replies.jsonl"
    path.write_bytes(b'{"reply": "x"}\n' + line.encode("latin-1") + b"\n")
    with pytest.raises(FormatError, match=r"replies\.jsonl:2: expected"):
        scripted_from_file(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """The path is in the message [O-7]."""
    with pytest.raises(FormatError, match=r"none\.jsonl: cannot be read"):
        scripted_from_file(tmp_path / "none.jsonl")


def test_another_script_has_another_hash(tmp_path: Path) -> None:
    """What answers is part of a run's identity, whatever the file is called [S-23]."""

    def known(model: Scripted) -> object:
        return asyncio.run(model.describe()).get("weights_sha256")

    hashes = []
    for reply in ("a", "b"):
        (tmp_path / "replies.jsonl").write_text(f'{{"reply": "{reply}"}}\n')
        hashes.append(known(scripted_from_file(tmp_path / "replies.jsonl")))
    hashes += [known(Scripted(["a"])), known(Scripted(["b"]))]
    assert 4 == len({*hashes} - {None})
    assert known(Scripted(["a"])) == known(Scripted(["a"]))
    assert known(Scripted(lambda _messages, _seed: "a")) is None
