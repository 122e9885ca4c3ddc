"""A conversation that began with a block, logged by its agent and read again: the block alone is synthetic."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seasoned.example.block import FORMS, Block, Form, Format
from seasoned.example.provision import insert
from seasoned.example.render import placebo, render
from seasoned.history.formats import read_file
from seasoned.session import Session
from tests.example.blocks import SMALL, drawn_block
from tests.history.claude_lines import ClaudeFile
from tests.history.codex_lines import CodexFile
from tests.history.hermes_rows import HermesDb

Messages = list[dict[str, Any]]

_CALL = {"id": "call_9", "type": "function", "function": {"name": "terminal", "arguments": '{"command":"ls"}'}}
CHAT: Messages = [
    {"role": "system", "content": "You are an agent."},
    {"role": "user", "content": "List the files."},
    {"role": "assistant", "content": None, "tool_calls": [_CALL]},
    {"role": "tool", "tool_call_id": "call_9", "content": "a.txt [seasoned:end]"},
    {"role": "assistant", "content": "One file: a.txt."},
]
ITEMS: Messages = [
    {"type": "message", "role": "developer", "content": "You are an agent."},
    {"type": "message", "role": "user", "content": "List the files."},
    {"type": "function_call", "call_id": "call_9", "name": "terminal", "arguments": '{"command":"ls"}'},
    {"type": "function_call_output", "call_id": "call_9", "output": "a.txt"},
    {"type": "message", "role": "assistant", "content": "One file: a.txt."},
]
BLOCKS: Messages = [
    {"role": "user", "content": "List the files."},
    {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "call_9", "name": "terminal", "input": {"command": "ls"}}],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_9", "content": "a.txt"}]},
    {"role": "assistant", "content": [{"type": "text", "text": "One file: a.txt."}]},
]


def _openai_log(messages: Messages, path: Path) -> Path:
    path.write_text(json.dumps({"messages": messages, "model": "m"}))
    return path


def _codex(items: Messages, path: Path) -> Path:
    file = CodexFile().meta()
    for item in items:
        file.item(**item)
    return file.write(path.with_name("rollout-2026-04-02T09-00-00-0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee.jsonl"))


def _claude_code(messages: Messages, path: Path) -> Path:
    file = ClaudeFile()
    for number, message in enumerate(messages):
        file._line(message["role"], message={"id": f"msg_{number}", **message})
    path = path.with_suffix(".jsonl")
    path.write_bytes(b"".join(file.lines))
    return path


def _hermes_db(messages: Messages, path: Path) -> Path:
    path = path.with_name("state.db")
    db = HermesDb(path).session("s")
    for message in messages:
        fields = {key: message[key] for key in ("tool_call_id", "tool_name") if key in message}
        if "tool_calls" in message:
            fields["tool_calls"] = json.dumps(message["tool_calls"])
        db.says("s", message["role"], message["content"] or "", **fields)
    db.db.close()
    return path


def _hermes_export(messages: Messages, path: Path) -> Path:
    document = {"session_id": "20260401_120000_abcdef", "platform": "cli", "messages": messages}
    path.write_text(json.dumps(document))
    return path


LOGS: dict[str, tuple[Format, Messages, Callable[[Messages, Path], Path]]] = {
    "openai": ("openai", CHAT, _openai_log),
    "responses": ("responses", ITEMS, _openai_log),
    "anthropic": ("anthropic", BLOCKS, _openai_log),
    "codex": ("responses", ITEMS, _codex),
    "claude-code": ("anthropic", BLOCKS, _claude_code),
    "hermes": ("hermes", CHAT, _hermes_db),
    "hermes-export": ("hermes", CHAT, _hermes_export),
}


def _read(path: Path) -> Session:
    (session,) = read_file(path)
    return session


def check_marked(name: str, form: Form, block: Block, folder: Path) -> None:
    """Reads the conversation with and without the block: what is not synthetic in one is the other."""
    format, messages, log = LOGS[name]
    folder.mkdir()
    cold = _read(log(messages, folder / "cold.json"))
    assert not any(message.synthetic for message in cold.messages)
    for old in folder.iterdir():
        old.unlink()
    rendered = render(block, format, form)
    warm = _read(log(insert(messages, rendered), folder / "warm.json"))
    assert warm.unreadable == ()
    real = [message for message in warm.messages if not message.synthetic]
    assert [(m.role, m.text) for m in real] == [(m.role, m.text) for m in cold.messages]
    assert [call.id for message in real for call in message.calls] == ["call_9"]
    assert not any(call.synthetic for message in real for call in message.calls)
    shown = [message for message in warm.messages if message.synthetic]
    assert all(call.synthetic for message in shown for call in message.calls)
    assert sum(len(message.calls) for message in shown) == (len(rendered.example_ids) if form == "messages" else 0)
    assert bool(shown) != rendered.is_empty


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", LOGS)
def test_a_block_is_recognised_in_the_log_of_every_agent(name: str, form: Form, tmp_path: Path) -> None:
    check_marked(name, form, SMALL, tmp_path / "small")
    check_marked(name, form, placebo(SMALL), tmp_path / "placebo")


@pytest.mark.parametrize("name", LOGS)
def test_hostile_texts_do_not_end_a_block_early(name: str, tmp_path: Path) -> None:
    for seed in range(8):
        check_marked(name, "messages", drawn_block(random.Random(seed)), tmp_path / str(seed))
