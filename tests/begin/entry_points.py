"""The four ways in which a session begins, each through its real entry point and told apart by nothing but its name."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from mcp import Client
from seasoned.config import Config, load
from seasoned.gateway.accounting import make_key
from seasoned.hermes_plugin.plugin import Plugin, open_plugin
from seasoned.marks import BLOCK_ENDS, BLOCK_OPENS
from seasoned.store import open_store
from tests.gateway.running import run_gateway, settings_for
from tests.gateway.upstream_server import Said, chat, serve_upstream
from tests.history.hermes_rows import HermesDb
from tests.mcp.clients import talk

TOOL = {"name": "terminal", "parameters": {"type": "object", "properties": {"command": {"type": "string"}}}}
API_TOOL = {"name": "book_parcel", "parameters": {"type": "object", "properties": {"size": {"type": "string"}}}}
TOOLS: list[dict[str, Any]] = [{"type": "function", "function": one} for one in (TOOL, API_TOOL)]
ASK: list[dict[str, Any]] = [{"role": "system", "content": "You help."}, {"role": "user", "content": "Run the tests."}]
LATER = [*ASK, {"role": "assistant", "content": "They pass."}, {"role": "user", "content": "Again."}]
RETRACTS = "[seasoned:retract]"
HOOK = Path(sys.executable).parent / "seasoned-hook"


class EntryPoint(Protocol):
    """One way for a session to begin. What comes back is all that the model is shown before the conversation itself."""

    agent: str
    retracts: bool  # whether a resumed conversation is told that an example is suspended

    def begin(self, session: str, project: str | None = None) -> str | None:
        """The first request of a new session: the block in it, None for nothing. `project` is the name of its own."""

    def resume(self, session: str) -> str | None:
        """A later request of the same session, to another process."""

    def carrying(self, session: str, block: str) -> int:
        """How many blocks a request has in the end that came with one."""


def place_of(entry: EntryPoint, project: str) -> dict[str, str]:
    """What is recorded of the sessions of a project, from which its key follows."""
    return {"application": project} if entry.agent == "gateway" else {"folder": str(_folder(project))}


def _folder(project: str) -> Path:
    """Where a session works."""
    folder = Path.home() / project
    folder.mkdir(exist_ok=True)
    return folder


def block_in(text: str) -> str | None:
    """The block in a text, from its mark to its end."""
    if BLOCK_OPENS not in text:
        return None
    assert text.count(BLOCK_OPENS) == 1, "never two of them"
    found = text[text.index(BLOCK_OPENS) :]
    return found[: found.index(BLOCK_ENDS)] + found[found.index(BLOCK_ENDS) + len(BLOCK_ENDS) :].partition(RETRACTS)[1]


def ask_gateway(
    project: str | None,
    session: str | None,
    messages: list[dict[str, Any]],
    answer: Said | None = None,
    *,
    header: str = "x-session-id",
) -> list[dict[str, Any]]:
    """The messages that the provider is sent, through a gateway that is started for this request alone."""
    import httpx2

    config, headers = load(), {} if session is None else {header: session}
    if project is not None:
        token = Path.home() / f"{project}.token"
        with open_store(config.store_path) as store:
            token.exists() or token.write_text(make_key(store, project, now=1.0)[1])
        headers["authorization"] = f"Bearer {token.read_text()}"
    with (
        serve_upstream(answer or chat()) as upstream,
        run_gateway(config, settings_for(config, upstream.url)) as gateway,
    ):
        body = {"model": "m", "messages": messages, "tools": TOOLS}
        with httpx2.Client(trust_env=False, timeout=30) as client:
            client.post(f"{gateway.url}/v1/chat/completions", json=body, headers=headers)
        return list(upstream.heard[-1].json["messages"])


class GatewayEntry:
    agent, retracts = "gateway", False

    def begin(self, session: str, project: str | None = None) -> str | None:
        return block_in(json.dumps(ask_gateway(project, session, ASK)))

    def resume(self, session: str) -> str | None:
        return block_in(json.dumps(ask_gateway(None, session, LATER)))

    def carrying(self, session: str, block: str) -> int:
        return json.dumps(ask_gateway(None, session, _with_block(block))).count(BLOCK_OPENS)


def _with_block(block: str) -> list[dict[str, Any]]:
    return [ASK[0], {"role": "user", "content": block}, ASK[1]]


def ask_hermes(plugin: Plugin, session: str, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages that Hermes sends for a session, with what the plugin makes of them."""
    body = {"model": "m", "messages": copy.deepcopy(messages), "tools": TOOLS}
    given = {"platform": "cli", "model": "m", "base_url": "http://x", "api_mode": "chat_completions"}
    answer = plugin.before_request(request=body, session_id=session, **given)
    return list((body if answer is None else answer["request"])["messages"])


class HermesEntry:
    agent, retracts = "hermes", True

    def __init__(self) -> None:
        self._databases: dict[Path, HermesDb] = {}

    def keep_session(self, session: str, project: str) -> None:
        """Write a session into the database of Hermes: its folder is known from there."""
        path = load().hermes_home / "state.db"
        if path not in self._databases:
            path.parent.mkdir(exist_ok=True)
            self._databases[path] = HermesDb(path)
        database = self._databases[path]
        if not database.db.execute("SELECT 1 FROM sessions WHERE id = ?", (session,)).fetchone():
            database.session(session, cwd=str(_folder(project)))

    def begin(self, session: str, project: str | None = None) -> str | None:
        if project is not None:
            self.keep_session(session, project)
        return block_in(json.dumps(ask_hermes(open_plugin(), session, ASK)))

    def resume(self, session: str) -> str | None:
        return block_in(json.dumps(ask_hermes(open_plugin(), session, LATER)))

    def carrying(self, session: str, block: str) -> int:
        return json.dumps(ask_hermes(open_plugin(), session, _with_block(block))).count(BLOCK_OPENS)


class HookEntry:
    """Coding agents are shown the sheet of their project; examples only from a template that is named."""

    agent, retracts = "claude-code", False

    def begin(self, session: str, project: str | None = None) -> str | None:
        settings = load().home / "config.toml"
        text = settings.read_text() if settings.exists() else "[warm]\n"
        if "experiment" not in text and "template" not in text:
            settings.write_text(f'{text}template = "house"\n')
        # Without a folder it has no project; in the home folder it would have that of its agent.
        return block_in(self._said(session, "startup", cwd="" if project is None else str(_folder(project))))

    def resume(self, session: str) -> str | None:
        return block_in(self._said(session, "compact"))

    def carrying(self, session: str, block: str) -> int:
        """What was shown is part of the transcript when Claude Code resumes a session."""
        transcript = Path.home() / "transcript.jsonl"
        transcript.write_text(json.dumps({"content": block}) + "\n")
        return 1 + self._said(session, "resume", transcript_path=str(transcript)).count(BLOCK_OPENS)

    def _said(self, session: str, source: str, **more: str) -> str:
        event = {"session_id": session, "source": source, "hook_event_name": "SessionStart", "cwd": "/", **more}
        command = [HOOK, self.agent, "session-start"]
        done = subprocess.run(command, input=json.dumps(event), capture_output=True, text=True, check=True)
        return str(json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]) if done.stdout else ""


class McpEntry:
    agent, retracts = "cursor", False

    def begin(self, session: str, project: str | None = None) -> str | None:
        async def work(client: Client) -> Any:
            asked = {"action": "load", "session_id": f"{self.agent}:{session}", "tools": ["terminal", "book_parcel"]}
            if project is not None:
                asked["folder"] = str(_folder(project))
            return await client.call_tool("warm_session", asked)

        found = talk(work).structured_content
        return block_in(json.dumps(found["conversation"])) if found["success"] else None

    resume = begin

    def carrying(self, session: str, block: str) -> int:
        raise NotImplementedError("the tool is told nothing of the conversation")


ENTRY_POINTS: tuple[EntryPoint, ...] = (GatewayEntry(), HermesEntry(), HookEntry(), McpEntry())


@contextmanager
def locked(config: Config, seconds: float) -> Iterator[None]:
    """Another program writes for so long."""
    is_locked = threading.Event()

    def write() -> None:
        with open_store(config.store_path) as store, store.write():
            is_locked.set()
            time.sleep(seconds)

    thread = threading.Thread(target=write)
    thread.start()
    assert is_locked.wait(10)
    yield
    thread.join()
