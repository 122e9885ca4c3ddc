"""What readers find out about a session's project."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from seasoned.history.read import read


def lines(*records: dict[str, Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


CODEX = lines(
    {
        "timestamp": "2026-05-01T10:00:00Z",
        "type": "session_meta",
        "payload": {
            "id": "0199aaaa-0000-7000-8000-000000000001",
            "cwd": "/Users/ann/shop",
            "git": {"branch": "main", "repository_url": "git@github.com:acme/shop.git"},
        },
    },
    {
        "timestamp": "2026-05-01T10:00:01Z",
        "type": "response_item",
        "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]},
    },
)
COPILOT = lines(
    {
        "type": "session.start",
        "id": "1",
        "timestamp": "2026-05-01T10:00:00Z",
        "data": {
            "sessionId": "s1",
            "context": {"cwd": "/Users/ann/shop", "repository": "acme/shop", "repositoryHost": "github.com"},
        },
    },
    {"type": "user.message", "id": "2", "timestamp": "2026-05-01T10:00:01Z", "data": {"content": "hello"}},
)


@pytest.mark.parametrize(
    ("text", "remote"),
    [
        (CODEX, "git@github.com:acme/shop.git"),
        (CODEX.replace('"repository_url"', '"other"'), None),
        (CODEX.replace('{"branch": "main", "repository_url": "git@github.com:acme/shop.git"}', "null"), None),
        (COPILOT, "https://github.com/acme/shop"),
        (COPILOT.replace('"repositoryHost"', '"other"'), None),
    ],
)
def test_the_remote_that_a_history_recorded_is_kept(text: str, remote: str | None, tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text(text)
    (session,) = read(tmp_path / "one.jsonl")
    assert (session.cwd, session.remote) == ("/Users/ann/shop", remote)


def spans(service: str) -> str:
    attribute = {"key": "gen_ai.conversation.id", "value": {"stringValue": "c1"}}
    told = {"key": "gen_ai.prompt.0.content", "value": {"stringValue": "hello"}}
    span = {"traceId": "t1", "name": "chat", "attributes": [attribute, told]}
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]}
    return json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": [span]}]}]})


MESSAGES = {"messages": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]}


@pytest.mark.parametrize(
    ("text", "application"),
    [
        (spans("support-bot"), "support-bot"),
        (spans("unknown_service:python"), None),
        (json.dumps({**MESSAGES, "application": "support-bot"}), "support-bot"),
        (json.dumps(MESSAGES), None),
        (json.dumps({**MESSAGES, "session_id": "h1", "platform": "telegram"}), "hermes"),
    ],
)
def test_the_application_that_a_log_names_is_kept(text: str, application: str | None, tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text(text + "\n")
    (session,) = read(tmp_path / "one.jsonl")
    assert (session.cwd, session.application) == (None, application)
