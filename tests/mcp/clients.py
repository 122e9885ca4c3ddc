"""The official client, talking to `seasoned mcp` as agents do: over stdio or HTTP, to a process of its own."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode

import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

from mcp import Client, StdioServerParameters
from seasoned.config import load
from seasoned.mcp_server import build_server

Work = Callable[[Client], Awaitable[Any]]
Mode = Literal["legacy", "auto"]
COMMAND = [sys.executable, "-m", "seasoned.cli.main", "mcp"]


def talk(work: Work, folder: str | None = None) -> Any:
    """A conversation in this process, where nothing depends on the way between the two."""

    async def run() -> Any:
        async with Client(build_server(load(), folder=folder)) as client:
            return await work(client)

    return asyncio.run(run())


def talk_over_stdio(work: Work, mode: Mode = "auto", folder: Path | None = None, **environment: str) -> Any:
    """A conversation with a process that the client starts, in the folder that it works in."""

    async def run() -> Any:
        command = StdioServerParameters(
            command=COMMAND[0], args=COMMAND[1:], env={**os.environ, **environment}, cwd=folder
        )
        async with Client(command, read_timeout_seconds=60, mode=mode) as client:
            return await work(client)

    return asyncio.run(run())


@dataclass
class HttpServer:
    """A server that listens: its address, and the token of its home."""

    url: str
    token: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def talk(self, work: Work, mode: Mode = "auto", folder: str | None = None) -> Any:
        url = self.url if folder is None else f"{self.url}?{urlencode({'folder': folder})}"

        async def run() -> Any:
            async with httpx2.AsyncClient(headers=self.headers, trust_env=False, timeout=60) as http:
                way = streamable_http_client(url, http_client=http)
                async with Client(way, read_timeout_seconds=60, mode=mode) as client:
                    return await work(client)

        return asyncio.run(run())

    def post(self, **headers: str) -> httpx2.Response:
        """One request as a client begins, with these headers in the place of the right ones."""
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        given = {**self.headers, "Accept": "application/json, text/event-stream", **headers}
        with httpx2.Client(trust_env=False, timeout=30) as client:
            return client.post(self.url, json=asked, headers={name: value for name, value in given.items() if value})


@contextmanager
def http_server(home: Path) -> Iterator[HttpServer]:
    """`seasoned mcp --http` on a free port of loopback."""
    process = subprocess.Popen(
        [*COMMAND, "--http", "127.0.0.1:0"],
        env={**os.environ, "SEASONED_HOME": str(home)},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        said = process.stderr.readline()
        found = re.search(r"http://\S+/mcp", said)
        assert found is not None, said + process.stderr.read()
        yield HttpServer(found[0], (home / "secrets" / "mcp_token").read_text("utf-8").strip())
    finally:
        process.terminate()
        process.wait(timeout=20)
        process.stderr.close()


def text(result: CallToolResult) -> str:
    (part,) = result.content
    assert isinstance(part, TextContent)
    return part.text
