"""Bodies and streams as others may write them: any spacing, any escapes, any chunk borders."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import msgspec
from hypothesis import strategies as st

from seasoned.example.block import Block
from seasoned.example.example import Example
from seasoned.example.render import render
from seasoned.gateway.wire.event_stream import EventStream

TEXTS = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(
    ['"', "\\", "}],", '{"messages":[]}', "[seasoned:end]", "data: x\n\n", "\u2028é𝄞", ""]
)
SEEDS = st.integers(min_value=0, max_value=1 << 32)
BORDERS = st.lists(st.integers(min_value=1, max_value=40), min_size=1, max_size=30)


def block(format: str) -> bytes:
    """A real block of two calls."""
    examples = tuple(
        Example(
            tool=tool,
            arguments='{"path":"notes.md"}',
            result="a\nb",
            intent="Read the notes",
            kind="init",
            pattern=tool,
        )
        for tool in ("read_file", "list_files")
    )
    return render(Block(template="files@1", examples=examples), format, "messages").content  # type: ignore[arg-type]


def written(value: Any, chance: Random) -> str:
    """One way to write a JSON value down."""
    if isinstance(value, str):
        escaped = json.dumps(value, ensure_ascii=chance.random() < 0.5)
        return escaped.replace("/", "\\/") if chance.random() < 0.5 else escaped
    if isinstance(value, dict):
        members = [
            f"{_space(chance)}{written(key, chance)}{_space(chance)}:{_space(chance)}{written(inner, chance)}"
            for key, inner in value.items()
        ]
        return "{" + f"{_space(chance)},".join(members) + _space(chance) + "}"
    if isinstance(value, list):
        items = [_space(chance) + written(inner, chance) + _space(chance) for inner in value]
        return "[" + ",".join(items) + "]"
    return json.dumps(value)


def written_body(fields: dict[str, Any], seed: int) -> bytes:
    """A whole request, its fields in any order."""
    chance = Random(seed)
    names = chance.sample(list(fields), len(fields))
    text = written({name: fields[name] for name in names}, chance)
    return (_space(chance) + text + _space(chance)).encode()


def _space(chance: Random) -> str:
    return "".join(chance.choices(" \t\r\n", k=chance.choice((0, 0, 0, 1, 3))))


def is_spliced(before: bytes, after: bytes, content: bytes) -> bool:
    """Whether every value is written as it was, except that one list has the block in one place."""
    old, new, block = _values(before), _values(after), _written(content)
    changed = [name for name in old if old[name] != new[name]]
    if list(old) != list(new) or len(changed) > 1:
        return False
    for name in changed:
        items, found = _written(old[name]), _written(new[name])
        return any(found == [*items[:at], *block, *items[at:]] for at in range(len(items) + 1))
    return not block


def _values(body: bytes) -> dict[str, bytes]:
    return {name: bytes(raw) for name, raw in msgspec.json.decode(body, type=dict[str, msgspec.Raw]).items()}


def _written(body: bytes) -> list[bytes]:
    return [bytes(raw) for raw in msgspec.json.decode(body, type=list[msgspec.Raw])]


def sse(*events: dict[str, Any] | str, end: str = "\n") -> bytes:
    """An event stream, in the way of each API: events that have a type are named by it."""
    lines = []
    for event in events:
        if isinstance(event, dict) and "type" in event:
            lines.append(f"event: {event['type']}{end}")
        data = event if isinstance(event, str) else json.dumps(event, ensure_ascii=False)
        lines.append(f"data: {data}{end}{end}")
    return "".join(lines).encode()


def events_like(
    turn: list[dict[str, Any]], broken: list[str], fields: list[str]
) -> st.SearchStrategy[list[dict[str, Any] | str]]:
    """Events of a stream: those of a turn, broken ones, and any JSON with the fields that such events have."""
    small = (
        st.none()
        | st.booleans()
        | st.integers()
        | st.sampled_from(["[DONE]", *(event.get("type", "x") for event in turn)])
    )
    anything = st.recursive(
        small,
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(fields), inner),
        max_leaves=6,
    )
    return st.lists(st.sampled_from(turn) | st.sampled_from(broken) | anything.map(json.dumps), max_size=8)


def cut(data: bytes, borders: list[int]) -> list[bytes]:
    """The same bytes in chunks."""
    chunks = []
    at = turn = 0
    while at < len(data):
        chunks.append(data[at : at + borders[turn % len(borders)]])
        at += borders[turn % len(borders)]
        turn += 1
    return chunks


def passed(reader: EventStream, chunks: list[bytes]) -> bytes:
    """What a client gets."""
    return b"".join([reader.feed(chunk) for chunk in chunks]) + reader.end()
