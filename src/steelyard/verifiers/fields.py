"""`fields`: a JSON object, each field judged by its own rule; seed 004's oracle is one config of it.

Source: seed 004 (a structured answer, judged field by field; REQUIREMENTS G-7, G-8), grader cases `json-fields`.
JSON is read once and strictly. A field without a verifier is compared with its target value by type and value; a
field with one gives a JSON string to that verifier's `read` and any other value to its `decide` as it stands. Every
miss of every field is reported under the field's miss, in the order of the rules.
Not covered: nested rules (give a nested object its own `fields` rule), repair of broken JSON.
Easy to break: `not-an-answer` stands alone, and comes before any field is judged; missing is not null.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.parsing.final import final_part, without_reasoning
from steelyard.parsing.json_prose import JsonFound, json_in, json_type, storable, strict_json, typed_equal
from steelyard.verdict import Miss, Reading, Undecided, Unread, Verdict, all_of, failed
from steelyard.verifiers.contract import Config, Script, Spoil, Verifier, as_text
from steelyard.verifiers.registry import Bound, bind_spec

NOT_AN_ANSWER = "not-an-answer"
_DETAIL_CHARS = 200
_MISS_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


class FieldRule(Config, frozen=True):
    """How one field is judged; without a verifier its value must equal the target's.

    `type` is part of the shape: `text`, or `texts` for a list of text. `miss` defaults to `wrong-<field>`.
    """

    verifier: dict[str, Any] | None = None
    miss: str = ""
    optional: bool = False
    type: Literal["text", "texts"] | None = None


class FieldsConfig(Config, frozen=True):
    """Rules by field name; `strict` reads the text as it stands, `exactly` allows no other field."""

    fields: dict[str, FieldRule] = msgspec.field(default_factory=dict)
    parse: Literal["strict", "tolerant"] = "tolerant"
    exactly: bool = False


def _read(attempt: Attempt, config: FieldsConfig) -> Reading | Unread:
    found = _locate(attempt.answer, config.parse == "tolerant")
    if isinstance(found, str):
        return Reading(None, found)
    raw = attempt.answer[found.span[0] : found.span[1]]
    kept = isinstance(found.value, dict | list) and storable(found.value)
    return Reading(found.value if kept else raw, found.rule, found.span)


def _locate(answer: str, tolerant: bool) -> JsonFound | str:
    """JSON that stands alone wins, then what is left without reasoning, then fences and prose that still count."""
    plain = without_reasoning(answer)
    for text, offset in ((answer, 0), (plain.text, plain.offset))[: 1 if plain.text == answer else 2]:
        found = json_in(text, tolerant=False)
        if isinstance(found, JsonFound):
            return JsonFound(found.value, (found.span[0] + offset, found.span[1] + offset), found.rule)
    if not tolerant or plain.reason:
        return plain.reason or str(found)
    found = json_in(final_part(answer).text)
    if isinstance(found, str):
        return found
    # Withdrawn text is blanked; the value itself is read from the text as it was written.
    start, end = found.span
    return JsonFound(strict_json(plain.text[start:end]), (start + plain.offset, end + plain.offset), found.rule)


def _decide(found: Reading, target: str, config: FieldsConfig) -> Verdict | Undecided:
    judged = _judged(found, target, config, settle=False)
    undecided = next((one for one in judged if isinstance(one, Undecided)), None)
    return undecided or all_of([one for one in judged if isinstance(one, Verdict)])


def _settle(found: Reading, target: str, config: FieldsConfig) -> Verdict:
    return all_of([one for one in _judged(found, target, config, settle=True) if isinstance(one, Verdict)])


def _judged(found: Reading, target: str, config: FieldsConfig, settle: bool) -> list[Verdict | Undecided]:
    """The verdict on the shape if that is wrong, else one a field; none is undecided with `settle`."""
    if found.value is None:
        return [failed(NOT_AN_ANSWER, "not JSON" if config.exactly else f"not JSON: {found.rule}")]
    value = strict_json(found.value) if isinstance(found.value, str) else found.value
    wanted = _targets(target)
    rules = _rules(wanted, config)
    shape = _shape_error(value, rules, config.exactly)
    if shape:
        return [failed(NOT_AN_ANSWER, shape)]
    return [_field(value, name, rule, wanted[name], settle) for name, rule in rules.items()]


def _rules(wanted: dict[str, Any], config: FieldsConfig) -> dict[str, FieldRule]:
    """The rule of every field, those of the config first and in its order."""
    return {**config.fields, **{name: FieldRule() for name in wanted if name not in config.fields}}


def _shape_error(value: Any, rules: dict[str, FieldRule], exactly: bool) -> str:
    if not isinstance(value, dict) or (exactly and not _names_fit(value, rules)):
        if exactly:
            return f"fields must be exactly {', '.join(rules)}"
        return f"a JSON object is needed, got {json_type(value)}"
    given = {name: value[name] for name in rules if name in value}
    texts = [name for name in given if rules[name].type == "text"]
    if not all(isinstance(given[name], str) for name in texts):
        return f"{_listed(texts)} {'is' if len(texts) == 1 else 'are'} text"
    lists = [name for name in given if rules[name].type == "texts"]
    if not all(isinstance(given[n], list) and all(isinstance(one, str) for one in given[n]) for n in lists):
        return f"{_listed(lists)} {'is a list' if len(lists) == 1 else 'are lists'} of text"
    return ""


def _names_fit(value: dict[str, Any], rules: dict[str, FieldRule]) -> bool:
    return value.keys() <= rules.keys() and all(name in value for name, rule in rules.items() if not rule.optional)


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _field(value: dict[str, Any], name: str, rule: FieldRule, target: Any, settle: bool) -> Verdict | Undecided:
    miss = rule.miss or f"wrong-{name}"
    if name not in value:
        return Verdict(True) if rule.optional else failed(miss, "missing")
    given = value[name]
    if rule.verifier is None:
        return Verdict(True) if typed_equal(given, target) else failed(miss, _shown(given))
    child = bind_spec(rule.verifier, as_text(target))
    found = child.read(Attempt(answer=given)) if isinstance(given, str) else Reading(given, "json")
    verdict = child.decide(found)
    if isinstance(verdict, Undecided):
        if not settle or isinstance(found, Unread):
            return verdict
        verdict = child.settle(found)
    misses = [Miss(miss, f"{one.name}: {one.detail}" if one.detail else one.name) for one in verdict.misses]
    return msgspec.structs.replace(verdict, misses=misses)


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _DETAIL_CHARS else text[:_DETAIL_CHARS] + "..."


def _targets(target: str) -> dict[str, Any]:
    try:
        wanted = strict_json(target)
    except InputError as error:
        raise InputError(f'verifier "fields" needs a JSON object as target: {error}') from error
    if not isinstance(wanted, dict):
        raise InputError(f'verifier "fields" needs a JSON object as target, got {json_type(wanted)}')
    return wanted


def _check(target: str, config: FieldsConfig) -> None:
    wanted = _targets(target)
    if not wanted:
        raise InputError('verifier "fields" has a target without fields: nothing would be checked')
    for name, rule in config.fields.items():
        if name not in wanted:
            raise InputError(f'verifier "fields": the target lacks the ruled field "{name}"; it has {sorted(wanted)}')
        if rule.miss and not _MISS_NAME.fullmatch(rule.miss):
            raise InputError(f'verifier "fields": field "{name}": a miss is a kebab-case name, got "{rule.miss}"')
        child = _child(name, rule, wanted[name])
        if child is not None and child.probes:
            raise InputError(
                f'verifier "fields": field "{name}": "{child.verifier.name}" probes and cannot read a field'
            )


def _child(name: str, rule: FieldRule, target: Any) -> Bound | None:
    if rule.verifier is None:
        return None
    try:
        return bind_spec(rule.verifier, as_text(target))
    except InputError as error:
        raise InputError(f'verifier "fields": field "{name}": {error}') from error


def _children(config: FieldsConfig) -> list[dict[str, Any]]:
    return [rule.verifier for rule in config.fields.values() if rule.verifier is not None]


def _misses_from(config: FieldsConfig, target: str) -> list[str]:
    return [rule.miss or f"wrong-{name}" for name, rule in _rules(_targets(target), config).items()]


def _plain(target: str, config: FieldsConfig) -> dict[str, Any] | None:
    """The plainest right object; None where a field's verifier renders nothing for its target."""
    answer: dict[str, Any] = {}
    wanted = _targets(target)
    for name, rule in _rules(wanted, config).items():
        child = _child(name, rule, wanted[name])
        answer[name] = wanted[name]
        if child is None or rule.type == "texts" or child.verifier.render is None:
            continue
        text = child.verifier.render(child.target, child.config)
        if text is None:
            return None
        answer[name] = text
    return answer


def _render(target: str, config: FieldsConfig) -> str | None:
    answer = _plain(target, config)
    return None if answer is None else _dump(answer)


def _dump(answer: Any, indent: int | None = None) -> str:
    return json.dumps(answer, ensure_ascii=False, indent=indent, default=str)


def _altered(answer: dict[str, Any], kind: str) -> dict[str, Any] | None:
    """The answer with its first field of that JSON type made wrong."""
    for name, value in answer.items():
        if json_type(value) == kind:
            return {**answer, name: _other(value)}
    return None


def _other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return f"{value} altered"
    if isinstance(value, list):
        return [*value, "one more"]
    return 0 if value is None else value + 1


def _alter_free(kind: str) -> Any:
    """A spoil that alters a field which is compared by value: what a verifier accepts is the verifier's to spoil."""

    def make(target: str, config: FieldsConfig, _prompt: str) -> str | None:
        answer = _plain(target, config)
        free = {n: v for n, v in (answer or {}).items() if n not in config.fields or not config.fields[n].verifier}
        altered = _altered(free, kind)
        return None if answer is None or altered is None else _dump({**answer, **altered})

    return make


def _misses_of(made: str, target: str, config: FieldsConfig) -> tuple[str, ...]:
    """The misses of the fields that a wrong attempt changed, and that of the shape where the config rules it."""
    answer, value = _plain(target, config) or {}, json.loads(made)
    rules = _rules(_targets(target), config)
    changed = [name for name in answer if name not in value or not typed_equal(value[name], answer[name])]
    shape = (NOT_AN_ANSWER,) if config.exactly or any(rules[name].type for name in changed) else ()
    return tuple(dict.fromkeys(rules[name].miss or f"wrong-{name}" for name in changed)) + shape


def _spoil_ruled(target: str, config: FieldsConfig, prompt: str) -> str | None:
    return next(_ruled_spoils(target, config, prompt), None)


def _ruled_spoils(target: str, config: FieldsConfig, prompt: str) -> Iterator[str]:
    answer, wanted = _plain(target, config), _targets(target)
    for name, rule in config.fields.items():
        child = _child(name, rule, wanted[name])
        if answer is None or child is None or rule.type == "texts":
            continue
        for spoil in child.verifier.spoil.values():
            made = spoil.make(child.target, child.config, prompt)
            if isinstance(made, Script):
                made = made.answer
            if made is not None:
                yield _dump({**answer, name: made})


def _spoil_number_as_text(target: str, config: FieldsConfig, _prompt: str) -> str | None:
    answer = _plain(target, config) or {}
    for name, value in answer.items():
        ruled = name in config.fields and config.fields[name].verifier
        if json_type(value) == "number" and not ruled:
            return _dump({**answer, name: str(value)})
    return None


def _spoil_missing(target: str, config: FieldsConfig, _prompt: str) -> str | None:
    answer = _plain(target, config)
    needed = [name for name in answer or {} if not (name in config.fields and config.fields[name].optional)]
    if answer is None or not needed:
        return None
    return _dump({name: value for name, value in answer.items() if name != needed[-1]})


def _spoil_extra(target: str, config: FieldsConfig, _prompt: str) -> str | None:
    answer = _plain(target, config)
    return _dump({**answer, "one-more-field": 1}) if answer is not None and config.exactly else None


def _spoil_broken(target: str, config: FieldsConfig, _prompt: str) -> str | None:
    text = _render(target, config)
    return None if text is None else text[:-1] + ",}"


def _spoil_duplicate(target: str, config: FieldsConfig, _prompt: str) -> str | None:
    answer = _plain(target, config)
    if answer is None:
        return None
    name, value = next(iter(answer.items()))
    return "{" + f"{_dump(name)}: {_dump(value)}, " + _dump(answer)[1:]


def _spoil_listed(target: str, config: FieldsConfig, _prompt: str) -> str | None:
    answer = _plain(target, config)
    return None if answer is None else _dump([answer])


def _vary_reordered(target: str, config: FieldsConfig, _prompt: str) -> str | None:
    answer = _plain(target, config)
    return _dump(dict(reversed(answer.items()))) if answer is not None and len(answer) > 1 else None


def _vary_spaced(target: str, config: FieldsConfig, _prompt: str) -> str | None:
    answer = _plain(target, config)
    return None if answer is None else f"\n{_dump(answer, indent=2)}\n"


def _vary_fenced(target: str, config: FieldsConfig, _prompt: str) -> str | None:
    text = _render(target, config)
    return f"```json\n{text}\n```" if text is not None and config.parse == "tolerant" else None


def _vary_in_prose(target: str, config: FieldsConfig, _prompt: str) -> str | None:
    text = _render(target, config)
    return f"Here it is: {text}" if text is not None and config.parse == "tolerant" else None


VERIFIERS: tuple[Verifier, ...] = (
    Verifier(
        name="fields",
        config=FieldsConfig,
        misses=(NOT_AN_ANSWER,),
        read=_read,
        decide=_decide,
        settle=_settle,
        check=_check,
        render=_render,
        children=_children,
        misses_from=_misses_from,
        spoil={
            "text-altered": Spoil(_alter_free("string"), (), _misses_of),
            "number-shifted": Spoil(_alter_free("number"), (), _misses_of),
            "boolean-flipped": Spoil(_alter_free("boolean"), (), _misses_of),
            "list-extended": Spoil(_alter_free("array"), (), _misses_of),
            "number-as-text": Spoil(_spoil_number_as_text, (), _misses_of),
            "field-spoiled": Spoil(_spoil_ruled, (), _misses_of),
            "field-missing": Spoil(_spoil_missing, (), _misses_of),
            "field-added": Spoil(_spoil_extra, (NOT_AN_ANSWER,)),
            "not-json": Spoil(_spoil_broken, (NOT_AN_ANSWER,)),
            "duplicate-key": Spoil(_spoil_duplicate, (NOT_AN_ANSWER,)),
            "in-a-list": Spoil(_spoil_listed, (NOT_AN_ANSWER,)),
        },
        vary={
            "reordered": _vary_reordered,
            "spaced": _vary_spaced,
            "fenced": _vary_fenced,
            "in-prose": _vary_in_prose,
        },
    ),
)
