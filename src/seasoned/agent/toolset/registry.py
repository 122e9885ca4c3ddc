"""The toolsets of a conversation: plain functions, registered with the agent library."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, get_type_hints

import msgspec
from pydantic_ai import RunContext
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, ApprovalRequiredToolset, FunctionToolset, WrapperToolset

from seasoned.agent.loop.context import Context
from seasoned.agent.toolset.confined_folder import ConfinedFolder
from seasoned.agent.toolset.schedule import danger_in_schedule
from seasoned.agent.toolset.scope import ToolLimits, ToolScope
from seasoned.command.risk import Danger, danger_in, danger_in_code, need_of_call
from seasoned.errors import UsageError

# `module:name`, imported only for sessions that have the toolset.
_MACHINE = {
    "terminal": ("terminal:terminal",),
    "file": ("file:read_file", "file:write_file", "file:patch", "file:search_files"),
    "code": ("terminal:execute_code",),
    "web": ("web:web_fetch",),
}
_OTHERS = {
    "memory": "memory_skill:MEMORY",
    "skill": "memory_skill:SKILLS",
    "warm_session": "warm_session:WARM",
    "confirm": "confirm:CONFIRM",
    "schedule": "schedule:SCHEDULE",
}
TOOLSETS: tuple[str, ...] = (*_MACHINE, *_OTHERS)
# A small model can be expected to handle these.
SMALL_TOOLSETS = ("terminal", "file")


def build_toolsets(
    names: Sequence[str],
    folder: Path,
    *,
    environment: Mapping[str, str],
    limits: ToolLimits | None = None,
    allow_private: frozenset[str] = frozenset(),
) -> tuple[AbstractToolset[Context], ...]:
    """The toolsets of these names, working in a folder that the file tools cannot leave."""
    unknown = [name for name in names if name not in TOOLSETS]
    if unknown:
        raise UsageError(f"There is no toolset {unknown[0]!r}: choose from {', '.join(TOOLSETS)}.")
    reach = ToolScope(
        folder=ConfinedFolder(folder),
        limits=limits or ToolLimits(),
        environment=environment,
        # The toolset asks before a call is made; a call that gets here was allowed.
        ask=_allowed,
        allow_private=allow_private,
    )
    built: list[AbstractToolset[Context]] = []
    for name in names:
        if name in _MACHINE:
            functions = [_on_machine(_load(place), reach) for place in _MACHINE[name]]
            tools = FunctionToolset(functions, id=name)
            built.append(ApprovalRequiredToolset(tools, _must_be_asked(reach.folder.root)))
            continue
        others = FunctionToolset(list(_load(_OTHERS[name])), id=name)
        # Of these only a schedule acts later, with no one watching.
        is_asked = name == "schedule"
        built.append(ApprovalRequiredToolset(others, _must_be_asked(reach.folder.root)) if is_asked else others)
    return tuple(built)


def listed_tools(toolsets: Sequence[AbstractToolset[Context]]) -> list[dict[str, Any]]:
    """The tools of a session as they are offered to a model."""
    found: list[dict[str, Any]] = []
    for toolset in toolsets:
        inner = toolset.wrapped if isinstance(toolset, WrapperToolset) else toolset
        assert isinstance(inner, FunctionToolset), "every set of a conversation is made of functions"
        for name, tool in inner.tools.items():
            schema = tool.function_schema.json_schema
            offered = {"name": name, "description": tool.description, "parameters": schema}
            found.append({"type": "function", "function": offered})
    return found


def danger_of(tool: str, arguments: Mapping[str, Any], folder: Path) -> Danger | None:
    """What is dangerous about a call; None if nothing is known to be."""
    found: Danger | None = None
    if tool == "terminal":
        found = danger_in(str(arguments.get("command", "")), folder=folder)
    elif tool == "execute_code":
        found = danger_in_code(str(arguments.get("code", "")), folder=folder)
    elif tool == "schedule":
        found = danger_in_schedule(str(arguments.get("action", "")))
    if found is None and (need := need_of_call(tool, arguments, folder=folder)) is not None:
        found = Danger(f"counts as {need.action}, which a person must confirm", f"confirm: {need.action}")
    return found


def _must_be_asked(folder: Path) -> Callable[[RunContext[Context], ToolDefinition, dict[str, Any]], bool]:
    return lambda ctx, definition, arguments: danger_of(definition.name, arguments, folder) is not None


def _allowed(question: str, danger: Danger) -> bool:
    return True


def _load(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(f"seasoned.agent.toolset.{module}"), name)


def _on_machine(function: Callable[..., dict[str, Any]], reach: ToolScope) -> Callable[..., dict[str, Any]]:
    """The function as the model sees it: without its scope, which stops with the turn that made the call."""

    @functools.wraps(function)
    def called(ctx: RunContext[Context], **arguments: Any) -> dict[str, Any]:
        return function(msgspec.structs.replace(reach, stop=ctx.deps.stopping.is_set), **arguments)

    plain = inspect.unwrap(function)
    hints = get_type_hints(plain)
    _, *rest = inspect.signature(plain).parameters.values()
    context = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=RunContext[Context])
    # The library would follow it and offer the scope to the model as an argument.
    del called.__wrapped__
    called.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [context, *[one.replace(annotation=hints[one.name]) for one in rest]], return_annotation=dict[str, Any]
    )
    called.__annotations__ = {
        "ctx": RunContext[Context],
        **{one.name: hints[one.name] for one in rest},
        "return": dict[str, Any],
    }
    return called
