"""The toolsets of a conversation: plain functions, registered with the agent library."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_type_hints

import msgspec
from pydantic_ai import RunContext
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, ApprovalRequiredToolset, FunctionToolset, WrapperToolset

from seasoned.command.risk import Danger, danger_in, danger_in_code, need_of_call
from seasoned.errors import UsageError
from seasoned.review.context import Context
from seasoned.review.tools import SEASONED_TOOLS, danger_in_schedule
from seasoned.runner.toolset.file import patch, read_file, search_files, write_file
from seasoned.runner.toolset.scope import ConfinedFolder, ToolLimits, ToolScope
from seasoned.runner.toolset.terminal import execute_code, terminal
from seasoned.runner.toolset.web import web_fetch

# Tools that act on the working folder and the network; each takes a ToolScope, which the model does not see.
_MACHINE: dict[str, tuple[Callable[..., dict[str, Any]], ...]] = {
    "terminal": (terminal,),
    "file": (read_file, write_file, patch, search_files),
    "code": (execute_code,),
    "web": (web_fetch,),
}
TOOLSETS: tuple[str, ...] = (*_MACHINE, *SEASONED_TOOLS)
# The ones a small model can handle.
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
        raise UsageError(f"Unknown toolset {unknown[0]!r}. Choose from {', '.join(TOOLSETS)}.")
    scope = ToolScope(
        folder=ConfinedFolder(folder),
        limits=limits or ToolLimits(),
        environment=environment,
        # The toolset asks before it makes a call, so a call that gets here was approved.
        ask=lambda command, danger: True,
        allow_private=allow_private,
    )
    needs_approval = _needs_approval(scope.folder.root)
    built: list[AbstractToolset[Context]] = []
    for name in names:
        functions = [_with_scope(one, scope) for one in _MACHINE[name]] if name in _MACHINE else SEASONED_TOOLS[name]
        tools: FunctionToolset[Context] = FunctionToolset(list(functions), id=name)
        # Of Seasoned's own tools only a schedule can do harm: its jobs run later, with no one watching.
        is_guarded = name in _MACHINE or name == "schedule"
        built.append(ApprovalRequiredToolset(tools, needs_approval) if is_guarded else tools)
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
    match tool:
        case "terminal":
            found = danger_in(str(arguments.get("command", "")), folder=folder)
        case "execute_code":
            found = danger_in_code(str(arguments.get("code", "")), folder=folder)
        case "schedule":
            found = danger_in_schedule(str(arguments.get("action", "")))
    if found is None and (need := need_of_call(tool, arguments, folder=folder)) is not None:
        found = Danger(f"counts as {need.action}, which a person must confirm", f"confirm: {need.action}")
    return found


def _needs_approval(folder: Path) -> Callable[[RunContext[Context], ToolDefinition, dict[str, Any]], bool]:
    return lambda ctx, definition, arguments: danger_of(definition.name, arguments, folder) is not None


def _with_scope(function: Callable[..., dict[str, Any]], scope: ToolScope) -> Callable[..., dict[str, Any]]:
    """The function as the model sees it, without its scope; it stops when the turn that made the call ends."""

    @functools.wraps(function)
    def called(ctx: RunContext[Context], **arguments: Any) -> dict[str, Any]:
        return function(msgspec.structs.replace(scope, stop=ctx.deps.stopping.is_set), **arguments)

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
