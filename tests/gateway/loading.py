"""Clients that talk through a gateway that is killed under them, and an upstream that keeps its own count."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import threading
import time
from itertools import count
from pathlib import Path
from typing import Any

from tests.gateway.behind import SEASONED
from tests.scripted_server import Line, ScriptedServer, Step

APIS = (
    ("/v1/chat/completions", "messages", b"[DONE]"),
    ("/v1/messages", "messages", b"message_stop"),
    ("/v1/responses", "input", b"response.completed"),
)
"""Path, the field of what was said, and what stands in the last event."""
INPUT, OUTPUT = 1_000, 7
TURNS = 5


class CountingUpstream(ScriptedServer):
    """Answers `request N` with `answer N`, and says that it took 1,000 + N tokens."""

    def take(self, line: Line) -> Step:
        field = "input" if "input" in line["body"] else "messages"
        number = int(line["body"][field][-1]["content"].removeprefix("request "))
        step = {"text": f"answer {number}", "usage": {"input": INPUT + number, "output": OUTPUT}}
        with self._lock:
            line.update(number=len(self.requests), step=step, sent=False, usage=None, asked=number)
            self.requests.append(line)
        return step

    def served(self) -> set[int]:
        """The requests that it answered to the end."""
        return {line["asked"] for line in self.requests if line["sent"]}


class Gateway:
    """A gateway in a process of its own, that can be killed."""

    def __init__(self, home: Path, upstream: str) -> None:
        self._home = home
        self._upstream = upstream
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [SEASONED, "gateway", "--port", self.port, "--upstream", self._upstream]
        log = (self._home.parent / "gateway.log").open("ab")
        self.process = subprocess.Popen(
            list(map(str, command)),
            env={**os.environ, "SEASONED_HOME": str(self._home)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
        log.close()
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                assert self.process.poll() is None, "the gateway ended"
                time.sleep(0.02)
            else:
                return
        raise AssertionError("the gateway did not listen")

    def kill(self) -> None:
        """As a machine that runs out of memory does."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        assert self.process is not None
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()
            raise


class Load:
    """Conversations that go on and on, each request asked until it is answered."""

    def __init__(self, port: int, workers: int = 6) -> None:
        self._port = port
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._numbers = count(1)
        self._names = count(1)
        self.completed: dict[int, float] = {}
        """Requests whose answer came whole, with the time when it had."""
        self.said: dict[str, list[str]] = {}
        """What was said in each session, as its client knows it."""
        self._threads = [threading.Thread(target=self._work, args=(APIS[at % 3],)) for at in range(workers)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join(60)

    def _work(self, api: tuple[str, str, bytes]) -> None:
        while not self._stopping.is_set():
            with self._lock:
                session = f"s{next(self._names)}"
            said: list[dict[str, str]] = []
            self.said[session] = []
            for turn in range(TURNS):
                with self._lock:
                    number = next(self._numbers)
                said.append({"role": "user", "content": f"request {number}"})
                if not self._ask(api, session, said, number, streamed=turn % 2 == 0):
                    return
                said.append({"role": "assistant", "content": f"answer {number}"})
                self.said[session] = [one["content"] for one in said]

    def _ask(
        self, api: tuple[str, str, bytes], session: str, said: list[dict[str, str]], number: int, *, streamed: bool
    ) -> bool:
        """Ask until an answer comes whole; a client that is cut off asks again."""
        path, field, end = api
        body = json.dumps({"model": "m", "max_tokens": 50, "stream": streamed, field: said}).encode()
        headers = {"content-type": "application/json", "x-session-id": session}
        while not self._stopping.is_set():
            line = http.client.HTTPConnection("127.0.0.1", self._port, timeout=20)
            try:
                line.request("POST", path, body, headers)
                answer = line.getresponse()
                came = answer.read()
                if answer.status == 200 and (end in came if streamed else _is_whole(came)):
                    with self._lock:
                        self.completed[number] = time.monotonic()
                    return True
            except (OSError, http.client.HTTPException):
                time.sleep(0.02)
            finally:
                line.close()
        return False


def _is_whole(came: bytes) -> bool:
    try:
        return isinstance(json.loads(came), dict)
    except ValueError:
        return False


def figures(row: dict[str, Any]) -> tuple[int, int]:
    """What a row of the accounts says in the provider's own words."""
    raw = json.loads(row["raw"]) or {}
    return raw.get("prompt_tokens", raw.get("input_tokens", 0)), raw.get(
        "completion_tokens", raw.get("output_tokens", 0)
    )
