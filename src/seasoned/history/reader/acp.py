"""Sessions that an agent tells over the Agent Client Protocol: `acp:opencode acp` names the command that starts it.

The agent is asked which sessions it has and to replay each. It gets no prompt, and nothing that it asks for. It is
started only where a person names it: an agent that starts may go online or write its own files.
"""

from __future__ import annotations

import os
import queue
import re
import shlex
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import msgspec

from seasoned.environment import APART, whole
from seasoned.errors import SourceError
from seasoned.history.coerce import arguments_of, as_list, as_object, first_of, identity, integer, string, text_of
from seasoned.history.discover import ACP
from seasoned.history.json_file import decode, noting_unreadable
from seasoned.history.session_reader import SessionFormat, SessionReader, note_times
from seasoned.session import Marks, Session, Unreadable

NAME = "acp"
_VERSION = 1
_ANSWER_SECONDS = 60.0  # of silence, after which an agent is given up
_END_SECONDS = 3.0
_UNKNOWN_METHOD = -32601
_Fields = dict[str, Any]
# What a tool that only has a kind is called: by names whose results are judged accordingly.
_TOOLS = {"execute": "bash", "search": "grep"}
_TOOL_NAME = re.compile(r"[\w.-]+\Z")
# Agents whose own files are read under another name.
_AGENTS = {"qwen-code": "qwen"}
_ROLES = {"user_message_chunk": "user", "agent_message_chunk": "assistant", "agent_thought_chunk": "thought"}


def read(path: Path) -> Iterator[Session]:
    """Every session that the agent lists."""
    command = str(path).removeprefix(ACP)
    with _started(command) as agent:
        format = SessionFormat(NAME, agent.begin())
        yield from format.sessions(path, (_replayed(format, path, agent, one) for one in agent.sessions()))


class _Agent:
    """An agent that was started, and answers one request after the other."""

    def __init__(self, command: str, process: subprocess.Popen[bytes]) -> None:
        self._command = command
        self._process = process
        self._count = 0
        # A thread reads, so that an agent that says nothing more can be given up.
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, args=(process.stdout,), daemon=True).start()

    def begin(self) -> str:
        """Agree on the protocol; returns the name of the agent."""
        try:
            said, _ = self.ask("initialize", {"protocolVersion": _VERSION, "clientCapabilities": {}})
        except _RefusedError as error:
            raise SourceError(f"{self._command!r} does not speak the Agent Client Protocol: {error}") from error
        able = as_object(said.get("agentCapabilities"))
        if "list" not in as_object(able.get("sessionCapabilities")) or able.get("loadSession") is not True:
            raise SourceError(f"{self._command!r} does not offer to list and load its sessions: they cannot be read.")
        name = string(as_object(said.get("agentInfo")).get("name")) or Path(self._command.split()[0]).name
        name = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or NAME
        return _AGENTS.get(name, name.removesuffix("-cli"))

    def sessions(self) -> Iterator[_Fields]:
        """What the agent says of each session, page by page."""
        params: _Fields = {}
        is_empty = True
        while True:
            page, _ = self.ask("session/list", params)
            for one in as_list(page.get("sessions")):
                is_empty = False
                yield as_object(one)
            cursor = string(page.get("nextCursor"))
            if cursor is None or cursor == params.get("cursor"):
                break
            params = {"cursor": cursor}
        if is_empty:
            raise SourceError(f"{self._command!r} lists no session. Some list only those of the folder they start in.")

    def ask(self, method: str, params: _Fields) -> tuple[_Fields, list[_Fields]]:
        """The answer to a request, and the updates that came before it; raises SourceError without an answer."""
        self._count += 1
        self._send({"id": self._count, "method": method, "params": params})
        updates = []
        while True:
            said = self._next(method)
            if said.get("method") == "session/update":
                updates.append(as_object(said.get("params")))
            elif "method" in said and "id" in said:
                # It may ask for a file or a permission: nothing is given.
                error = {"code": _UNKNOWN_METHOD, "message": "This client only reads."}
                self._send({"id": said["id"], "error": error})
            elif said.get("id") == self._count and "method" not in said:
                if "error" in said:
                    raise _RefusedError(f"{method}: {string(as_object(said['error']).get('message')) or 'an error'}")
                return as_object(said.get("result")), updates

    def _next(self, method: str) -> _Fields:
        try:
            line = self._lines.get(timeout=_ANSWER_SECONDS)
        except queue.Empty:
            raise SourceError(f"{self._command!r} said nothing for {_ANSWER_SECONDS:.0f} s at {method}.") from None
        if line is None:
            raise SourceError(f"{self._command!r} ended at {method}. Run it to see why.")
        try:
            return as_object(decode(line))
        except msgspec.DecodeError:
            return {}  # some print more than the protocol

    def _send(self, message: _Fields) -> None:
        assert self._process.stdin is not None
        # One that ended is noticed when its answer is read.
        with suppress(BrokenPipeError):
            self._process.stdin.write(msgspec.json.encode({"jsonrpc": "2.0", **message}) + b"\n")
            self._process.stdin.flush()

    def _read(self, output: IO[bytes]) -> None:
        with output:
            for line in output:
                self._lines.put(line)
        self._lines.put(None)


class _RefusedError(SourceError):
    """The agent answered with an error."""


@contextmanager
def _started(command: str) -> Iterator[_Agent]:
    try:
        words = shlex.split(command)
    except ValueError:
        words = []  # a quote is not closed
    if not words:
        raise SourceError(f"{command!r} is not a command. Give one after {ACP!r}, such as 'acp:opencode acp'.")
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            # Our own hooks have nothing to say to it.
            env={**whole(), APART: "1"},
        )
    except OSError as error:
        raise SourceError(f"{words[0]!r} cannot be started: {(error.strerror or str(error)).lower()}.") from error
    try:
        yield _Agent(command, process)
    finally:
        assert process.stdin is not None
        with suppress(BrokenPipeError):
            process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_END_SECONDS)
        # With what it started, such as servers of tools.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _replayed(format: SessionFormat, path: Path, agent: _Agent, about: _Fields) -> Any:
    """A session as the agent replays it, or why it does not."""
    id, folder = identity(about.get("sessionId")), string(about.get("cwd"))
    if id is None or folder is None:
        return Unreadable("the list of sessions", "a session without an id or a folder")
    try:
        _, updates = agent.ask("session/load", {"sessionId": id, "cwd": folder, "mcpServers": []})
    except _RefusedError as error:
        return Unreadable(f"session {id[:80]}", str(error))
    reader = _Replay(format.builder(path, id))
    builder = reader.builder
    builder.title, builder.cwd = string(about.get("title")), folder
    reader.add_all([as_object(one.get("update")) for one in updates if one.get("sessionId") == id])
    note_times(builder, "the list of sessions", about.get("updatedAt"))
    return builder


class _Replay(SessionReader):
    """Adds the updates of one session."""

    _said: tuple[str, object] = ("", None)  # whose words are being collected, and the id of their message
    _text = ""

    def add_all(self, updates: list[_Fields]) -> None:
        """Add them in order: a call where it is first told of, its result where it is last told of."""
        calls: dict[str, _Fields] = {}
        last: dict[str, int] = {}
        for at, update in enumerate(updates):
            if (id := identity(update.get("toolCallId"))) is not None:
                # Later reports hold what has changed; their title may describe the result.
                told = {key: value for key, value in update.items() if value not in (None, [])}
                calls[id] = {**calls.get(id, {}), **told, "title": calls.get(id, told).get("title")}
                last[id] = at
        for at, update in enumerate(updates):
            role, id = _ROLES.get(str(update.get("sessionUpdate"))), identity(update.get("toolCallId"))
            with noting_unreadable(self.builder, f"update {at}"):
                if role is not None:
                    self._collect((role, update.get("messageId")), text_of(update.get("content")))
                elif id is not None:
                    self._collect()
                    self.builder.call(id, _tool(calls[id]), arguments_of(calls[id].get("rawInput")), place=at)
                    if last[id] == at and calls[id].get("status") in ("completed", "failed"):
                        self.builder.result(id, _result(calls[id]), _marks(calls[id]), place=at)
        self._collect()

    def _collect(self, said: tuple[str, object] = ("", None), text: str = "") -> None:
        """Take a piece of a message; the message before it is added when another one begins."""
        if said != self._said:
            role, whole_text = self._said[0], self._text
            if role == "thought":
                self.builder.thinking(whole_text)
            elif whole_text:
                self.builder.message("user" if role == "user" else "assistant", whole_text)
            self._said, self._text = said, ""
        self._text += text


def _tool(call: _Fields) -> str:
    """The name of a tool: the protocol makes it optional, and a title is for people."""
    kind, title = string(call.get("kind")) or "other", string(call.get("title")) or ""
    named = string(call.get("name")) or string(as_object(call.get("_meta")).get("toolName"))
    # A title of one word is the name; that of a command is the command.
    return named or _TOOLS.get(kind) or (title if _TOOL_NAME.match(title) else kind)


def _result(call: _Fields) -> str:
    raw = call.get("rawOutput")
    told = first_of(raw, "message", "error") if isinstance(raw, dict) else None
    return text_of(call.get("content")) or text_of(raw if told is None else told)


def _marks(call: _Fields) -> Marks:
    raw = as_object(call.get("rawOutput"))
    code = integer(first_of({**as_object(raw.get("metadata")), **raw}, "exitCode", "exit_code", "exit"))
    if call.get("status") == "failed":
        return Marks(failed=True, exit_code=code)
    # Of a command, "completed" says that it ended.
    return Marks(exit_code=code) if code is not None or call.get("kind") == "execute" else Marks(failed=False)
