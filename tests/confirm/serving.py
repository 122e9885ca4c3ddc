"""A real service for tests: uvicorn on a free port of loopback, in a thread or in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from fastapi import FastAPI

from seasoned.config import Config
from seasoned.confirm.people.credential import Role, credentials
from seasoned.confirm.policy import Listen, Policy, load_policy
from seasoned.confirm.service import ConfirmService, create_app, serve
from seasoned.store import open_database
from tests.confirm.keys import WORDS, make_person, unlock

PEOPLE: dict[str, Role] = {"agent": "agent", "other": "agent", "alice": "approver", "bob": "approver", "root": "admin"}
"""Names of the credentials that a service for tests begins with."""
ASKED = {"action": "send_report", "description": "Send the weekly report.", "details": {"to": "team@example.org"}}
_START_SECONDS = 120
_ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Serving:
    """A service that runs: where it is found, and the tokens by name."""

    url: str
    home: Path
    config: Config
    tokens: dict[str, str]
    service: ConfirmService | None = None
    """The service itself, where it runs in a thread of this process."""
    process: subprocess.Popen[str] | None = None

    def headers(self, name: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.tokens[name]}"}

    def client(self, name: str | None = None, **options: Any) -> httpx2.Client:
        """A client that shows the token of this name."""
        given = {"timeout": 30.0, "headers": self.headers(name) if name else {}, "trust_env": False, "verify": False}
        return httpx2.Client(base_url=self.url, **{**given, **options})

    def ask(self, name: str = "agent", **body: Any) -> dict[str, Any]:
        """Submit a request; what the service answered."""
        with self.client(name) as client:
            reply = client.post("/confirm", json={**ASKED, **body})
        assert reply.status_code in (200, 202), reply.text
        return dict(reply.json())

    def look(self, request_id: str, name: str = "root") -> dict[str, Any]:
        with self.client(name) as client:
            return dict(client.get(f"/confirm/{request_id}").json())

    def decide(self, request_id: str, verb: str = "approve", name: str = "alice", **body: Any) -> httpx2.Response:
        with self.client(name) as client:
            return client.post(f"/confirm/{request_id}/{verb}", json={"passphrase": WORDS, **body})


def credentials_for(config: Config) -> dict[str, str]:
    """A token for each of PEOPLE."""
    database = open_database(config)
    try:
        admin = next((one.name for one in credentials(database) if one.role == "admin"), None)
        by = None if admin is None else unlock(database, admin)
        return {name: make_person(database, name, role, now=time.time(), by=by)[1] for name, role in PEOPLE.items()}
    finally:
        database.close()


@contextmanager
def serving(
    home: Path,
    *,
    policy: Policy | None = None,
    clock: Callable[[], float] = time.time,
    database_url: str | None = None,
    listen: Listen | None = None,
    in_process: bool = False,
    tokens: dict[str, str] | None = None,
    create: Callable[[ConfirmService], FastAPI] = create_app,
    settings: dict[str, Any] | None = None,
) -> Iterator[Serving]:
    """The service with this home, until the block ends. Without a policy it reads the file in the home folder.

    With `tokens` it is a home that had a service before, and has its credentials already.
    """
    config = Config(home=home, database_url=database_url, **(settings or {}))
    tokens = credentials_for(config) if tokens is None else tokens
    if in_process:
        with _in_process(config, tokens) as found:
            yield found
        return
    listen = listen or Listen(port=0)
    service = ConfirmService(config, policy=policy, clock=clock)
    with running(service, listen, create=create) as url:
        yield Serving(url, home, config, tokens, service)


@contextmanager
def running(
    service: ConfirmService, listen: Listen, *, create: Callable[[ConfirmService], FastAPI] = create_app
) -> Iterator[str]:
    """A service in a thread; its address."""
    addresses: list[str] = []
    problems: list[BaseException] = []
    started, stopping = threading.Event(), threading.Event()

    def ready(found: str) -> None:
        addresses.append(found)
        started.set()

    def run() -> None:
        try:
            serve(create(service), service, listen, ready=ready, stopping=stopping)
        except Exception as error:  # noqa: BLE001
            problems.append(error)
            started.set()

    thread = threading.Thread(target=run, name="serving")
    thread.start()
    assert started.wait(_START_SECONDS), "the service did not start"
    try:
        if not problems:
            yield addresses[0]
    finally:
        stopping.set()
        thread.join(_START_SECONDS)
        if problems:
            raise problems[0]
    assert not thread.is_alive(), "the service did not stop"


def start_process(config: Config) -> subprocess.Popen[str]:
    """The service in a process of its own, which prints its address."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.confirm.serving", str(config.home), config.database_url or ""],
        stdout=subprocess.PIPE,
        text=True,
        cwd=_ROOT,
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
    )


@contextmanager
def _in_process(config: Config, tokens: dict[str, str]) -> Iterator[Serving]:
    process = start_process(config)
    assert process.stdout is not None
    try:
        url = process.stdout.readline().strip()
        yield Serving(url, config.home, config, tokens, process=process)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait(_START_SECONDS)
        process.stdout.close()


def main(home: str, database_url: str = "") -> None:
    """The service in a process of its own: it prints its address and runs until it is told to stop."""
    config = Config(home=Path(home), database_url=database_url or None)
    policy = load_policy(config.home / "policy.toml")
    service = ConfirmService(config, policy=policy)
    serve(create_app(service), service, Listen(port=0), ready=_announce)


def _announce(found: str) -> None:
    print(found, flush=True)  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
