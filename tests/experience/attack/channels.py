"""Every way by which a new session is shown something, asked as agents ask; what comes back is what Seasoned adds."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import httpx2

import seasoned
from mcp import Client
from seasoned.config import load
from seasoned.gateway.accounting import make_key
from seasoned.hermes_plugin.plugin import open_plugin
from seasoned.hooks import dialect, event, guidance, session_start
from seasoned.mcp_server import build_server
from seasoned.store import open_store
from seasoned.store.project import project_key
from tests.experience.attack.cases import TASKS, Case
from tests.gateway.running import run_gateway, settings_for
from tests.gateway.upstream_server import chat, serve_upstream
from tests.history.hermes_rows import HermesDb

# A case, the folder of the project in which a new session asks, and its id.
Asked = tuple[Case, str, str]
Shown = tuple[Case, str, str]  # the case, the channel, the text
# What first prompts ask for.
PROMPTS = ("Run the tests.", "Run the linter.", "Format the code.", "Build it.")
_SHELLS = {"Bash": ("command", "description"), "exec_command": ("cmd", "workdir"), "terminal": ("command",)}
_MCP_LIMIT = 20


def hooks(asked: Iterable[Asked]) -> Iterator[Shown]:
    """What Claude Code and Codex are shown at the start, at the first prompt, before a call and after its failure."""
    try:
        begun: set[str] = set()
        for number, (case, folder, id) in enumerate(asked):
            # Both agents ask the same functions, so each case meets one of them.
            agent = ("claude-code", "codex")[number % 2]
            # At the start it is the folder that counts and not the case.
            if folder not in begun:
                begun.add(folder)
                yield case, "start hook", _hook(session_start.session_start, agent, folder, id, source="startup")
                for at, prompt in enumerate((*PROMPTS, TASKS[case.lang])):
                    text = _hook(guidance.user_prompt_submit, agent, folder, f"{id}-{at}", prompt=prompt)
                    yield case, "prompt hook", text
            for command in dict.fromkeys(filter(None, (case.fails, case.command))):
                call = {"tool_name": "Bash", "tool_input": {"command": command}}
                yield case, "pre-call hook", _hook(guidance.hint, agent, folder, f"{id}-{len(command)}", **call)
            if case.fails:
                call = {"tool_name": "Bash", "tool_input": {"command": case.fails}}
                yield case, "failure hook", _hook(_failed(agent), agent, folder, id, **call, **_error(agent, case))
    finally:
        _end_hooks()


def start_of(agent: str, folder: str, id: str) -> str:
    """What one session is shown at its start, memory and skills included."""
    try:
        return _hook(session_start.session_start, agent, folder, id, source="startup")
    finally:
        _end_hooks()


def _end_hooks() -> None:
    """A hook is a process: what it opened and took over must not stay in this one."""
    for store in event._OPENED:
        store.close()
    event._OPENED.clear()
    dialect._received = None
    guidance.say = session_start.say = dialect.say


def _failed(agent: str) -> Callable[..., int]:
    return guidance.post_tool_use_failure if agent == "claude-code" else guidance.post_tool_use


def _error(agent: str, case: Case) -> dict[str, str]:
    if agent == "claude-code":
        return {"error": f"Exit code 1\n{case.error}"}
    return {"tool_response": f"Process exited with code 1\nOutput:\n{case.error}"}


def _hook(answer: Callable[..., int], agent: str, folder: str, id: str, **fields: Any) -> str:
    """One event, in this process: what the program `seasoned-hook` does once it is imported."""
    said: list[str] = []
    dialect._received = json.dumps({"session_id": f"{agent}-{id}", "cwd": folder, **fields}).encode()
    guidance.say = session_start.say = lambda _, **texts: said.extend(texts.values())
    answer(agent, [])
    return "\n".join(said)


def blocks(asked: Iterable[Asked]) -> Iterator[Shown]:
    """The block that a program with messages begins with, by `seasoned.begin`."""
    for case, folder, id in asked:
        begun = seasoned.begin(f"library:{id}", _messages(case), tools=_tools(case), folder=folder)
        yield case, "block", "\n".join(_added(_messages(case), begun.messages))


def hermes(asked: Iterable[Asked]) -> Iterator[Shown]:
    """The block, the memory and the line behind a failed call that Hermes sends to its model."""
    config = load()
    config.hermes_home.mkdir(exist_ok=True)
    path = config.hermes_home / "state.db"
    path.unlink(missing_ok=True)
    database, plugin = HermesDb(path), open_plugin()
    given = {"platform": "cli", "model": "m", "base_url": "http://x", "api_mode": "chat_completions"}
    for case, folder, id in asked:
        database.session(id, cwd=folder)
        messages = _messages(case, failed=True)
        result = messages[-1]["content"]
        if case.fails:
            plugin.after_call("terminal", {"command": case.fails}, result, id, "call_1")
        body = {"model": "m", "messages": messages, "tools": _tools(case)}
        answer = plugin.before_request(request=body, session_id=id, **given)
        sent = (body if answer is None else answer["request"])["messages"]
        yield case, "Hermes", "\n".join(_added(_messages(case, failed=True), sent))


def gateway(asked: Iterable[Asked]) -> Iterator[Shown]:
    """What the gateway adds to the requests of an application, whose project is that of the folder."""
    config, asked = load(), list(asked)
    with open_store(config.store_path) as store:
        names = {folder: Path(folder).name for _, folder, _ in asked}
        tokens = {folder: make_key(store, name, now=1.0)[1] for folder, name in names.items()}
        keys = {name: project_key(store, folder) for folder, name in names.items()}
        assert all(keys.values())
        with store.write():
            # As `merge_projects` does, without going over all sessions for each of them: none is of an application yet.
            for name, key in keys.items():
                store.run("project.choose", {"kind": "merge", "key": f"app:{name}", "target": key, "at": 2.0})
    with (
        serve_upstream(chat()) as upstream,
        run_gateway(config, settings_for(config, upstream.url)) as running,
        httpx2.Client(trust_env=False, timeout=30) as client,
    ):
        for case, folder, id in asked:
            headers = {"x-session-id": id, "authorization": f"Bearer {tokens[folder]}"}
            for messages in (_messages(case), _messages(case, failed=True)):
                body = {"model": "m", "messages": messages, "tools": _tools(case)}
                client.post(f"{running.url}/v1/chat/completions", json=body, headers=headers)
                yield case, "gateway", "\n".join(_added(messages, upstream.heard[-1].json["messages"]))


def mcp(asked: Iterable[Asked], begins: Iterable[Asked]) -> list[Shown]:
    """What `recall` and `warm_session` of the MCP server answer."""

    async def work() -> list[Shown]:
        found: list[Shown] = []
        async with Client(build_server(load())) as client:

            async def ask(case: Case, name: str, /, **given: Any) -> None:
                answer = await client.call_tool(name, given)
                # Also "nothing fits" is an answer; a question that is not understood has none.
                assert answer.structured_content is not None, answer
                found.append((case, name, _texts([answer.structured_content, *(part.text for part in answer.content)])))

            for case, folder, _ in asked:
                if case.fails:
                    failed = {"tool": "Bash", "error": case.asked_error, "arguments": {"command": case.fails}}
                    await ask(case, "recall", **failed, folder=folder)
            for case, folder, id in begins:
                own = {"task": TASKS[case.lang], "session_id": f"cursor:{id}", "tools": _tools(case)}
                await ask(case, "warm_session", action="load", folder=folder, **own)
                await ask(case, "recall", tool=case.tool, limit=_MCP_LIMIT, folder=folder)
        return found

    return asyncio.run(work())


def resources(folder: str, sessions: Iterable[str]) -> list[str]:
    """What the resources of an MCP server in this folder hold: templates, and how sessions of its project went."""

    async def work() -> list[str]:
        async with Client(build_server(load(), folder=folder)) as client:
            listed = await client.list_resources()
            addresses = [str(one.uri) for one in listed.resources if "report" not in str(one.uri)]
            addresses += [f"{one}/json" for one in addresses if "/template/" in one]
            addresses += [f"seasoned://session/{session}" for session in sessions]
            answers = [await client.read_resource(address) for address in addresses]
            return ["\n".join(_texts(getattr(one, "text", "")) for one in answer.contents) for answer in answers]

    return asyncio.run(work())


def _messages(case: Case, *, failed: bool = False) -> list[dict[str, Any]]:
    asked = [{"role": "system", "content": "You help."}, {"role": "user", "content": TASKS[case.lang]}]
    if not failed:
        return asked
    arguments = json.dumps({"command": case.fails or "make tests"})
    made = {"id": "call_1", "type": "function", "function": {"name": "terminal", "arguments": arguments}}
    result = json.dumps({"output": case.error or "make: *** Error 2", "exit_code": 2, "error": None})
    return [
        *asked,
        {"role": "assistant", "content": None, "tool_calls": [made]},
        {"role": "tool", "tool_call_id": "call_1", "content": result},
    ]


def _tools(case: Case) -> list[dict[str, Any]]:
    """The tools of a new session: shells, and the tool of the case with its own arguments."""
    taken = {**_SHELLS, case.tool: (*_SHELLS.get(case.tool, ()), *case.given)}
    return [
        {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": properties}}}
        for name, properties in ((name, {key: {} for key in keys}) for name, keys in taken.items())
    ]


def _added(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> Iterator[str]:
    """The texts of messages without those that were there before; of a changed message what was added to it."""
    known = [text for message in before for text in _strings(message)]
    for message in after:
        for text in _strings(message):
            for old in sorted(known, key=len, reverse=True):
                if len(old) > 12 or text == old:
                    text = text.replace(old, "")
            yield plain(text)


def _texts(value: Any) -> str:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return plain(value)
    return "\n".join(plain(text) for text in _strings(value))


def _strings(value: Any) -> Iterator[str]:
    """Every text in a value, also names of fields and tools."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, str):
        yield value
    elif value is not None:
        yield str(value)


def plain(text: str) -> str:
    """A text followed by itself without the escapes of JSON, so that quoted arguments are found."""
    if "\\" not in text:
        return text
    read = re.sub(r"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), text)
    unquoted = re.sub(r"\\(.)", r"\1", read)
    return f"{text}\n{read}\n{unquoted}"
