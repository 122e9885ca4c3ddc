"""The official clients send a conversation with a block, and what arrives keeps the rules of the provider."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessagesTypeAdapter
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from seasoned.template.block import Form
from seasoned.template.provision import insert
from seasoned.template.render import render
from seasoned.template.render.script import placebo
from tests.template.blocks import SMALL
from tests.template.providers import assert_anthropic, assert_openai

ANSWERS: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Done."}}],
    },
    "/v1/responses": {
        "id": "r1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    },
    "/v1/messages": {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": "Done."}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    },
}


class _Provider(HTTPServer):
    """Answers every request, and keeps what it was sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.received: list[dict[str, Any]] = []
        self.url = f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: _Provider

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.received.append(json.loads(body))
        answer = json.dumps(ANSWERS[self.path.partition("?")[0]]).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        return


@pytest.fixture
def provider() -> Iterator[_Provider]:
    server = _Provider()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_client_of_openai_sends_chat_messages(provider: _Provider) -> None:
    from openai import OpenAI

    messages: Any = insert([{"role": "user", "content": "Go."}], render(SMALL))
    with OpenAI(api_key="none", base_url=f"{provider.url}/v1") as client:
        client.chat.completions.create(model="m", messages=messages)
    assert provider.received[0]["messages"] == messages
    assert len(assert_openai(provider.received[0]["messages"])) == 2


def test_the_client_of_openai_sends_items(provider: _Provider) -> None:
    from openai import OpenAI

    items: Any = insert([{"role": "user", "content": "Go."}], render(SMALL, "responses"))
    with OpenAI(api_key="none", base_url=f"{provider.url}/v1") as client:
        client.responses.create(model="m", input=items)
    assert provider.received[0]["input"] == items


@pytest.mark.parametrize("form", ["messages", "text"])
def test_the_client_of_anthropic_sends_messages(provider: _Provider, form: Form) -> None:
    from anthropic import Anthropic

    messages: Any = insert([{"role": "user", "content": "Go."}], render(SMALL, "anthropic", form))
    with Anthropic(api_key="none", base_url=provider.url) as client:
        client.messages.create(model="m", max_tokens=9, messages=messages)
    assert provider.received[0]["messages"] == messages


@pytest.mark.parametrize("form", ["messages", "text"])
@pytest.mark.parametrize("is_placebo", [False, True])
def test_an_agent_of_pydantic_ai_goes_on_from_a_block(provider: _Provider, form: Form, is_placebo: bool) -> None:
    block = placebo(SMALL) if is_placebo else SMALL
    history = ModelMessagesTypeAdapter.validate_json(render(block, "pydantic-ai", form).content)
    openai = OpenAIChatModel("m", provider=OpenAIProvider(base_url=f"{provider.url}/v1", api_key="none"))
    anthropic = AnthropicModel("m", provider=AnthropicProvider(base_url=provider.url, api_key="none"))

    async def ask() -> list[str]:
        agents = [Agent(model, system_prompt="Be brief.") for model in (openai, anthropic)]
        return [(await agent.run("Go.", message_history=history)).output for agent in agents]

    # Not `run_sync`: it leaves its event loop open, and the next collection of garbage would blame another test.
    assert asyncio.run(ask()) == ["Done.", "Done."]
    to_openai, to_anthropic = provider.received
    expected = 2 if form == "messages" and not is_placebo else 0
    assert len(assert_openai(to_openai["messages"])) == expected
    assert len(assert_anthropic([*to_anthropic["messages"], {"role": "assistant", "content": [_DONE]}])) == expected
    if expected:
        sent = json.loads(render(SMALL).content)
        shown = [message for message in to_openai["messages"] if message["role"] != "system"]
        assert [message.get("tool_call_id") for message in shown[:-1]] == [one.get("tool_call_id") for one in sent]


_DONE = {"type": "text", "text": "Done."}
