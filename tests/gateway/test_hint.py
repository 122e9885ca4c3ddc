"""A line behind a result in each API: no other value changes."""

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
    def follows(given: bytes, told: bytes) -> bool:
        found = api.follow_results(body % given, {"c1": LINE})
        return json.loads(found) == json.loads(body % told) and (b"1.0" in found or b"1.0" not in body)

    assert follows('"no ü"'.encode(), json.dumps(f"no ü\n\n{LINE}").encode())
    part = json.dumps({"type": kind, "text": LINE}).encode()
    assert follows(b'[{"type":"a"} ]', b'[{"type":"a"},%s]' % part)
    assert follows(b"[]", b"[%s]" % part)


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
