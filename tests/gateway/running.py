"""A real gateway on loopback for tests, in a thread, between a scripted upstream and a real client."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anthropic
import msgspec
import openai

from seasoned.config import Config
from seasoned.confirm.policy import Listen
from seasoned.example.library.storage import save
from seasoned.gateway.accounting import GroupBy, UsageTotal, make_key, totals
from seasoned.gateway.service import GatewayService, serve
from seasoned.gateway.settings import FILE, GatewaySettings, load_settings
from seasoned.store import Database, open_database, open_store
from tests.example.examples import example, template


@dataclass
class Running:
    """A gateway that answers."""

    url: str
    config: Config
    service: GatewayService
    clients: ExitStack
    """Those that it has given out; they are closed when the gateway ends."""

    def failed_open(self) -> dict[str, int]:
        return dict(self.service.failures.counts)

    def openai(self, key: str = "sk-x") -> openai.OpenAI:
        """The SDK of a client, which asks once."""
        return self.clients.enter_context(openai.OpenAI(base_url=f"{self.url}/v1", api_key=key, max_retries=0))

    def anthropic(self) -> anthropic.Anthropic:
        return self.clients.enter_context(anthropic.Anthropic(base_url=self.url, api_key="sk-x", max_retries=0))

    def connect(self) -> socket.socket:
        """A connection of which every byte is written by the test."""
        host, port = self.url.removeprefix("http://").split(":")
        return socket.create_connection((host, int(port)), timeout=60)


def settings_for(config: Config, url: str, **more: Any) -> GatewaySettings:
    """Everything to one upstream."""
    return msgspec.structs.replace(load_settings(config.home / FILE, upstream_url=url), **more)


@contextmanager
def run_gateway(config: Config, settings: GatewaySettings, **environment: str) -> Iterator[Running]:
    """Serve until the test is done; then everything is written down."""
    config.home.mkdir(parents=True, exist_ok=True)
    service = GatewayService(config, settings, environment=environment)
    addresses: list[str] = []
    is_ready, stopping = threading.Event(), threading.Event()

    def ready(address: str) -> None:
        addresses.append(address)
        is_ready.set()

    thread = threading.Thread(
        target=serve, args=(service, Listen(port=0)), kwargs={"ready": ready, "stopping": stopping}, daemon=True
    )
    thread.start()
    try:
        assert is_ready.wait(60), "the gateway did not start"
        with ExitStack() as clients:
            yield Running(addresses[0], config, service, clients)
    finally:
        stopping.set()
        thread.join(60)


def wait_until(is_so: Callable[[], bool], *, seconds: float = 20.0) -> None:
    """Wait for what another thread will do."""
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def rows(config: Config, query: str, **parameters: object) -> list[dict[str, Any]]:
    """What the store has."""
    database: Database = open_database(config)
    try:
        return [
            dict(zip(row.keys(), map(row.__getitem__, row.keys()), strict=True))
            for row in database.rows(query, parameters)
        ]
    finally:
        database.close()


def used(config: Config, by: GroupBy) -> list[UsageTotal]:
    """What the store says was used."""
    database = open_database(config)
    try:
        return totals(database, by)
    finally:
        database.close()


def config_in(folder: Path) -> Config:
    return Config(home=folder / "home")


def taught_in(folder: Path) -> Config:
    """A home with an example of `search_files`."""
    config = config_in(folder)
    with open_store(config.store_path) as store:
        save(store, template("files", example()))
    return config


def token_of(config: Config, name: str, **budget: Any) -> str:
    """The token of a new gateway key."""
    database = open_database(config)
    try:
        return make_key(database, name, now=time.time(), **budget)[1]
    finally:
        database.close()
