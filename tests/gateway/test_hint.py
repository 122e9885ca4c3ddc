"""A line behind a result, in the raw bytes of each API: nothing else changes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from seasoned.gateway.wire import anthropic, chat, responses

LINE = '[seasoned] `make "x"` works here.'
CHAT = (
    b'{ "model":"m", "messages":[ {"role":"user","content":"a"},'
    b' {"tool_call_id": "c1" ,"role":"tool","content":%s} ],"n":1.0}'
)
ANTHROPIC = (
    b'{"messages":[{"role":"user","content":[{"type":"tool_result","content":%s,"tool_use_id":"c1"},'
    b'{"type":"text","text":"c1"}]}],"model":"m"}'
)
RESPONSES = (
    b'{"input":[{"type":"function_call","call_id":"c1","name":"x","arguments":"{}"},'
    b'{"type":"function_call_output","call_id":"c1","output":%s}],"model":"m"}'
)
APIS = [(chat, CHAT, "text"), (anthropic, ANTHROPIC, "text"), (responses, RESPONSES, "input_text")]


@pytest.mark.parametrize(("api", "body", "kind"), APIS, ids=["chat", "anthropic", "responses"])
def test_only_the_content_of_the_result_changes(api: Any, body: bytes, kind: str) -> None:
    followed = json.dumps(f"no ü\n\n{LINE}", ensure_ascii=False).encode()
    assert api.follow_results(body % '"no ü"'.encode(), {"c1": LINE}) == body % followed
    part = json.dumps({"type": kind, "text": LINE}, separators=(",", ":")).encode()
    assert api.follow_results(body % b'[{"type":"a"} ]', {"c1": LINE}) == body % b'[{"type":"a"},%s ]' % part
    assert api.follow_results(body % b"[]", {"c1": LINE}) == body % b"[%s]" % part


@pytest.mark.parametrize(("api", "body", "kind"), APIS, ids=["chat", "anthropic", "responses"])
def test_what_cannot_be_followed_stays(api: Any, body: bytes, kind: str) -> None:
    for given in (
        body % b"null",
        body % b"7",
        b"[]",
        b"{",
        b'{"messages":7,"input":{}}',
        body.replace(b"c1", b"c2") % b'""',
    ):
        assert api.follow_results(given, {"c1": LINE}) == given
    assert api.follow_results(body % b'"x"', {}) == body % b'"x"'
