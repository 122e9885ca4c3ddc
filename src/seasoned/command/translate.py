"""Translates a tool call for another agent: the same tool under its name there, with its arguments.

`table/tools.toml` has the tools of each agent. Arguments that the other agent's tool does not have are left out.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

import msgspec

from seasoned.command.call_text import snake
from seasoned.command.tool import command_of, tool_of
from seasoned.command.tool_table import AGENTS, MEANINGS
from seasoned.lazy_regex import LazyRegex
from seasoned.session import ToolCall

# How agents mark the tools of MCP servers: `mcp__docs__find`, `mcp_docs_find`, `mcp.docs.find`; others have no mark.
_REMOTE = LazyRegex(r"\Amcp(?:__|[_.:])")
# Names of several tools that do the same work: a failure of one is the same mistake in the other.
_ALIKE = ("shell", "file_read", "search", "web")


class AgentTool(msgspec.Struct, frozen=True):
    """One tool of an agent: its work, its name, and its arguments by their meaning."""

    agent: str
    work: str
    name: str
    arguments: dict[str, str]
    required: frozenset[str]


@cache
def agent_tools() -> tuple[AgentTool, ...]:
    """The tools of every agent in the table."""
    return tuple(_tool(agent, work, line) for agent, works in AGENTS.items() for work, line in works.items())


def _tool(agent: str, work: str, line: str) -> AgentTool:
    name, *words = line.split()
    arguments, required = {}, set()
    for word in words:
        own, _, meaning = word.removeprefix("!").partition(":")
        arguments[meaning or own] = own
        if word.startswith("!"):
            required.add(meaning or own)
    return AgentTool(agent, work, name, arguments, frozenset(required))


@cache
def argument_names(meaning: str) -> tuple[str, ...]:
    """The names under which agents pass something (`path`, `old`, `all` …), the usual ones first."""
    return tuple(MEANINGS[meaning].split())


def argument(arguments: Mapping[str, Any], meaning: str) -> Any:
    """The argument with this meaning, under any agent's name for it; None if there is none."""
    return next((value for name in argument_names(meaning) if (value := arguments.get(name)) is not None), None)


def own_name(tool: str, arguments: Mapping[str, Any], meaning: str) -> str | None:
    """What the agent that made a call names an argument of that tool; None if its tool has no such argument."""
    known = _made_by(tool, arguments)
    return None if known is None else known.arguments.get(meaning)


@lru_cache(maxsize=1024)
def same_tool(name: str) -> str:
    """One name for a tool that several agents have, or that an MCP server offers to them."""
    if "__" not in name and tool_of(name).form in _ALIKE:
        return tool_of(name).form
    if any(one.work == "edit" and one.name == name for one in agent_tools()):
        return "edit"
    # `mcp__docs__find`, `docs_find` and `docs-find` are the same tool of the same server.
    return snake(_REMOTE.compiled.sub("", name))


def translate(
    tool: str, arguments: Mapping[str, Any], names: Iterable[str], *, agent: str = ""
) -> tuple[str, dict[str, Any]] | None:
    """The call as an agent with tools of these names would make it; None if it cannot, or might not be able to.

    Without `agent` it is the one that has most tools of these names.
    """
    offered = set(names)
    if tool in offered:
        return tool, dict(arguments)
    meant = _meant(tool, arguments)
    if meant is not None:
        made = [_spelled(one, meant[1]) for one in _tools_of(offered, agent) if one.work == meant[0]]
        # Agents that have tools of the same names may call them differently: only what all would say is sure.
        return made[0] if made and all(one == made[0] for one in made) else None
    # Only tools of servers have other names elsewhere; what is named alike by chance is not the same tool.
    if not _REMOTE.compiled.match(tool) and not any(map(_REMOTE.compiled.match, offered)):
        return None
    alike = [name for name in offered if same_tool(name) == same_tool(tool)]
    return (alike[0], dict(arguments)) if len(alike) == 1 else None


def _tools_of(names: Container[str], agent: str) -> Iterator[AgentTool]:
    """The tools of this agent, or of those that have most tools of these names."""
    by_agent: dict[str, list[AgentTool]] = {}
    for one in agent_tools():
        if one.name in names and one.agent == (agent or one.agent):
            by_agent.setdefault(one.agent, []).append(one)
    most = max(map(len, by_agent.values()), default=0)
    yield from (one for tools in by_agent.values() if len(tools) == most for one in tools)


def _made_by(tool: str, arguments: Mapping[str, Any]) -> AgentTool | None:
    """The tool of the table that a call was made with; of several of one name the one that knows its arguments."""
    named = [one for one in agent_tools() if one.name == tool]
    return max(named, key=lambda one: sum(own in arguments for own in one.arguments.values()), default=None)


def _meant(tool: str, arguments: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """What a call does, and its arguments by meaning; None if part of it has no meaning for other agents."""
    if tool_of(tool).form == "shell":
        command = command_of(ToolCall("", tool, dict(arguments)))
        if command is None:
            return None
        known = {"command": command, "folder": argument(arguments, "folder")}
        told = {*argument_names("command"), *argument_names("folder")}
        return ("shell", {key: value for key, value in known.items() if value}) if _is_all(arguments, told) else None
    made = _made_by(tool, arguments)
    if made is None or not _is_all(arguments, made.arguments.values()):
        return None
    meant = {meaning: arguments[own] for meaning, own in made.arguments.items() if own in arguments}
    if "absolute" in meant:
        meant["path"] = meant.pop("absolute")
    return made.work, meant


def _is_all(arguments: Mapping[str, Any], told: Iterable[str]) -> bool:
    """Whether nothing is left of a call that would change what it does."""
    known = {*told, *argument_names("manner")}
    return all(name in known or value in (None, False, "") for name, value in arguments.items())


def _spelled(tool: AgentTool, meant: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """Arguments by meaning as this tool takes them; None if it lacks one, or needs one that is not known."""
    values = dict(meant)
    if "absolute" in tool.arguments and "path" in values:
        if not str(values["path"]).startswith("/"):
            return None
        values["absolute"] = values.pop("path")
    values = {meaning: value for meaning, value in values.items() if value not in (None, False)}
    if not values.keys() <= tool.arguments.keys() or not tool.required <= values.keys():
        return None
    return tool.name, {tool.arguments[meaning]: value for meaning, value in values.items()}
