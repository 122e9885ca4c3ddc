"""A world with a tool that insists on a convention, a model that follows what it is shown, and clients that ask it."""

from __future__ import annotations

import http.client
import json
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest

from seasoned.config import Config
from seasoned.example.example import Example
from seasoned.example.library.storage import save
from seasoned.gateway import provision
from seasoned.gateway.record import example_watch, recorder
from seasoned.marks import BLOCK_OPENS
from seasoned.store import open_store
from tests.example.examples import example, template
from tests.gateway.running import Running, wait_until
from tests.scripted_model import Call, ScriptedServer, call, serve_script

TOOL = "get_order_details"
SCHEMA = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
OFFERED: Any = {"type": "function", "function": {"name": TOOL, "parameters": SCHEMA}}
SYSTEM = {"role": "system", "content": "You serve customers."}
OLD, NEW, WRONG = "#W0052025", "W-0052025", "0052025"
EXAMPLE: Example = example(
    TOOL, arguments={"order_id": OLD}, intent="Look up my order.", result='{"order_id": "#W0052025", "status": "sent"}'
)
_STEPS = 100_000


@dataclass
class World:
    """What the tool wants now, and how well the model does by itself."""

    convention: str = OLD
    cold: float = 0.5
    """The chance that a model that was shown nothing writes the id as the tool wants it."""
    warm: float = 1.0
    """The chance that a model that was shown a call writes the id as it was shown; else it does as if it were cold."""
    distracts: float = 0.0
    """The chance that a model that was shown a call is led astray: it writes the id as nobody wants it."""
    attempts: int = 3
    seed: int = 0
    server: ScriptedServer = field(default_factory=lambda: ScriptedServer("", None))  # type: ignore[arg-type]

    @property
    def url(self) -> str:
        return self.server.base_url.removesuffix("/v1")

    def answer(self, messages: list[dict[str, Any]]) -> Call | str:
        """The model: asks for an order, again where that failed, and then has something to say."""
        shown = [one for one in _calls(messages) if one["id"].startswith("warm_")]
        results = [one for one in messages if one["role"] == "tool" and not one["tool_call_id"].startswith("warm_")]
        if results and ("error" not in results[-1]["content"] or len(results) >= self.attempts):
            return "That is all I found."
        task = next(one["content"] for one in reversed(messages) if one["role"] == "user")
        # A session is good or bad at it, so that its calls resemble each other.
        draw = random.Random(f"{self.seed} {task}")
        if shown and draw.random() < self.distracts:
            return call(TOOL, order_id=WRONG)
        if shown and draw.random() < self.warm:
            return call(TOOL, order_id=json.loads(shown[-1]["function"]["arguments"])["order_id"])
        return call(TOOL, order_id=self.convention if draw.random() < self.cold else WRONG)

    def tool(self, arguments: dict[str, Any]) -> str:
        """The tool: terse, as such tools are."""
        if arguments["order_id"] == self.convention:
            return json.dumps({"order_id": arguments["order_id"], "status": "sent"})
        return json.dumps({"error": "invalid order_id"})


def _calls(messages: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for message in messages:
        yield from message.get("tool_calls") or ()


@contextmanager
def serve_world(**settings: Any) -> Iterator[World]:
    """A world with its model on loopback."""
    world = World(**settings)
    with serve_script(*[world.answer] * _STEPS) as served:
        world.server = served
        yield world


class Customer:
    """One conversation over HTTP, as any agent would hold it."""

    def __init__(self, url: str, session: str) -> None:
        self._address = urlsplit(url).netloc
        self.session = session
        self.messages: list[dict[str, Any]] = [SYSTEM]

    def ask(self, world: World, text: str = "") -> None:
        """Ask for an order, and run the tools that the model calls until it has something to say."""
        self.messages.append({"role": "user", "content": text or f"Where is my order? ({self.session})"})
        connection = http.client.HTTPConnection(self._address, timeout=30)
        try:
            while True:
                message = self._request(connection)
                self.messages.append(message)
                if not message.get("tool_calls"):
                    return
                for one in message["tool_calls"]:
                    result = world.tool(json.loads(one["function"]["arguments"]))
                    self.messages.append({"role": "tool", "tool_call_id": one["id"], "content": result})
        finally:
            connection.close()

    def _request(self, connection: http.client.HTTPConnection) -> dict[str, Any]:
        body = json.dumps({"model": "gpt-4o-mini", "messages": self.messages, "tools": [OFFERED]})
        headers = {"content-type": "application/json", "x-session-id": self.session, "authorization": "Bearer x"}
        connection.request("POST", "/v1/chat/completions", body, headers)
        answer = connection.getresponse()
        data = json.loads(answer.read())
        assert answer.status == 200, data
        message: dict[str, Any] = data["choices"][0]["message"]
        return {name: value for name, value in message.items() if value is not None}


def converse(gateway: Running, world: World, sessions: list[str], *, at_once: int = 8) -> None:
    """Many customers, some of them at once, until everything is written down."""
    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(lambda session: Customer(gateway.url, session).ask(world), sessions))
    wait_until(lambda: gateway.service.recorder.waiting == 0, seconds=120)


def is_warm(body: bytes) -> bool:
    return BLOCK_OPENS.encode() in body


def teach(config: Config, *examples: Example) -> None:
    """Have a template in the library."""
    with open_store(config.store_path) as store:
        save(store, template("orders", *(examples or (EXAMPLE,)), task_type=None))


def hurry(patch: pytest.MonkeyPatch) -> None:
    """The recorder writes and looks twenty times a second, and a machine that is busy changes nothing."""
    patch.setattr(provision, "_BLOCK_SECONDS", 20.0)
    patch.setattr(recorder, "WINDOW_SECONDS", 0.05)
    patch.setattr(example_watch, "_LOOK_SECONDS", 0.05)
