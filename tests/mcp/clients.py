"""The official client, talking to `seasoned mcp` as agents do: over stdio, to a process of its own."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Literal

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


def text(result: CallToolResult) -> str:
    (part,) = result.content
    assert isinstance(part, TextContent)
    return part.text
