"""The API key kept out of everything that an endpoint sends back: errors, replies, listed models.

A server may repeat the key in an error, in a text or in a list of models. Where it does, `MARK` stands instead, and the
rule `key_echoed` of `run.anomalies` counts the replies that hold the mark.
Not covered: a key that the server spells in another way (reversed, in base64). Keys under `LEAST_CHARS` characters are
placeholders such as EMPTY and are left alone, since they are ordinary words.
Easy to break: masking after a text was cut; half a key is still a secret.
"""

from __future__ import annotations

from typing import Any

import msgspec

from steelyard.attempt import ModelOutput

MARK = "***API key***"
LEAST_CHARS = 8


def is_secret(key: str) -> bool:
    """Whether a key is long enough to be one."""
    return len(key) >= LEAST_CHARS


def mask_text(text: str, key: str) -> str:
    """The text with every occurrence of the key replaced."""
    return text.replace(key, MARK) if is_secret(key) else text


def mask_bytes(data: bytes, key: str) -> bytes:
    """The same for bytes, of which no character has been decoded yet."""
    return data.replace(key.encode(), MARK.encode()) if is_secret(key) else data


def mask_data(data: Any, key: str) -> Any:
    """The same for every text inside plain data, names of fields included."""
    if isinstance(data, str):
        return mask_text(data, key)
    if isinstance(data, list | tuple):
        return [mask_data(part, key) for part in data]
    if isinstance(data, dict):
        return {mask_data(name, key): mask_data(value, key) for name, value in data.items()}
    return data


def mask_output(output: ModelOutput, body: bytes, key: str) -> ModelOutput:
    """A reply without the key; its log-probabilities go too where it was said, since their tokens spell it.

    `body` is what the reply was read from. Where neither it nor a text holds the key, the reply is returned as it is.
    """
    if not is_secret(key):
        return output
    calls = [part for call in output.tool_calls for part in (call.name, call.arguments, call.id)]
    texts = (*output.texts, *output.reasoning_texts, *output.finish_reasons, *calls, output.model, output.response_id)
    if key.encode() not in body and not any(key in text for text in texts):
        return output
    whole = msgspec.to_builtins(msgspec.structs.replace(output, logprobs=[]))
    return msgspec.convert(mask_data(whole, key), ModelOutput)
