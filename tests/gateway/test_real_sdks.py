"""The real SDKs and pydantic-ai through the gateway: each API with tools, streams, pictures, errors and leaving."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import anthropic
import msgspec
import openai
import pytest
from pydantic_ai import Agent, BinaryContent
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from seasoned.config import Config, WarmSettings
from seasoned.example.library.storage import save
from seasoned.history.reader.seasoned_db import read
from seasoned.store import open_store
from tests.example.examples import example, template
from tests.gateway.behind import PNG
from tests.gateway.running import Running, config_in, rows, run_gateway, settings_for, wait_until
from tests.scripted_server import ScriptedServer, serve_script

PICTURE = base64.b64decode(PNG)
STEPS: list[dict[str, Any]] = [
    {
        "text": "I look.",
        "calls": [
            {"tool": "terminal", "arguments": {"command": "ls"}},
            {"tool": "terminal", "arguments": {"command": "ls /nowhere"}},
        ],
        "usage": {"input": 500, "output": 20, "cache_read": 300},
    },
    {"text": "One of them is there.", "usage": {"input": 600, "output": 9, "cache_read": 500}},
]


@pytest.fixture
def upstream() -> Iterator[ScriptedServer]:
    with serve_script() as served:
        yield served


@pytest.fixture
def config(tmp_path: Path) -> Config:
    # Named, so that it is shown whatever fits.
    made = msgspec.structs.replace(config_in(tmp_path), warm=WarmSettings(template="looks"))
    with open_store(made.store_path) as store:
        save(store, template("looks", example("terminal", arguments={"command": "pwd"})))
    return made


@pytest.fixture
def gateway(config: Config, upstream: ScriptedServer) -> Iterator[Running]:
    with run_gateway(config, settings_for(config, upstream.url)) as running:
        yield running


@asynccontextmanager
async def _chat(url: str) -> AsyncIterator[Model]:
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="sk-x", max_retries=0) as client:
        yield OpenAIChatModel("gpt-4o-mini", provider=OpenAIProvider(openai_client=client))


@asynccontextmanager
async def _responses(url: str) -> AsyncIterator[Model]:
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="sk-x", max_retries=0) as client:
        yield OpenAIResponsesModel("gpt-4o-mini", provider=OpenAIProvider(openai_client=client))


@asynccontextmanager
async def _anthropic(url: str) -> AsyncIterator[Model]:
    async with anthropic.AsyncAnthropic(base_url=url, api_key="sk-x", max_retries=0) as client:
        yield AnthropicModel("claude-sonnet-5", provider=AnthropicProvider(anthropic_client=client))


Make = Callable[[str], AbstractAsyncContextManager[Model]]
MODELS: list[Make] = [_chat, _responses, _anthropic]


def terminal(command: str) -> str:
    return "a.txt" if command == "ls" else "ls: cannot access '/nowhere': No such file or directory"


async def _talk(make: Make, url: str, prompt: Any, *, streamed: bool) -> tuple[str, int, int]:
    """What pydantic-ai says at the end, and how many tokens it counted."""

    async def listen(_: object, events: AsyncIterator[object]) -> None:
        async for _event in events:
            pass

    async with make(url) as model:
        agent = Agent(model, instructions="You help.", tools=[terminal])
        done = await agent.run(prompt, event_stream_handler=listen if streamed else None)
    return done.output, done.usage.input_tokens, done.usage.output_tokens


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("make", MODELS, ids=["chat", "responses", "anthropic"])
def test_pydantic_ai_with_tools_and_a_picture(
    gateway: Running, upstream: ScriptedServer, make: Make, streamed: bool
) -> None:
    upstream.script = [dict(step) for step in STEPS]
    prompt = ["Is it there?", BinaryContent(PICTURE, media_type="image/png")]
    said, taken, given = asyncio.run(_talk(make, gateway.url, prompt, streamed=streamed))
    assert said == "One of them is there."
    assert (taken, given) == (1100, 29), "the client counts what the provider said"
    asked = upstream.requests
    assert PNG in asked[0]["text"]
    with open_store(gateway.config.store_path) as store:
        block = bytes(store.connection.execute("SELECT bytes FROM warm_block").fetchone()[0]).decode()[1:-1]
    assert [line["text"].count(block) for line in asked] == [1, 1]
    wait_until(lambda: any(m.text == said for one in read(gateway.config.store_path) for m in one.messages))
    (session,) = read(gateway.config.store_path)
    assert [one.text for one in session.messages if one.role == "assistant"] == ["I look.", "One of them is there."]
    wait_until(lambda: len(_verdicts(gateway.config)) == 2)
    assert _verdicts(gateway.config) == ["ok", "failed"], "each call once, and judged"
    wait_until(lambda: len(rows(gateway.config, "gateway.requests_of", session=str(session.ref))) == len(asked))
    kept = rows(gateway.config, "gateway.requests_of", session=str(session.ref))
    assert [json.loads(row["raw"]) for row in kept] == [line["usage"] for line in asked]
    assert gateway.failed_open() == {}


def _verdicts(config: Config) -> list[str]:
    with open_store(config.store_path) as store:
        return [row[0] for row in store.connection.execute("SELECT verdict FROM call ORDER BY id")]
