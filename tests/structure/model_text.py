"""Finds every place in the source that hands text to a model: answers of hooks, messages, prompts, tools, files.

A place is found by what it does to one of these outputs, not by its name, so that a new one cannot be overlooked.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tests.structure.source_tree import Module, functions

_HOOKS = {"hooks"}
_AGENT = {"agent", "app", "cli", "schedule", "web"}
# Packages whose messages are sent to models. Elsewhere `role` is that of a person, or of a message that was read.
_SENDERS = {"advise", "agent", "app", "begin", "cli", "gateway", "hermes_plugin", "hooks", "mcp_server", "schedule"}
_SENDERS |= {"template", "web"}
# Packages that write files which agents read: memory, skills, instructions, settings.
_WRITERS = {"advise", "agent", "connect"}
# Fields that agents read in the answer of a hook, or show while one runs.
_HOOK_FIELDS = {"additionalContext", "systemMessage", "statusMessage", "permissionDecisionReason"}
# Functions that put text into a request, a prompt, a file or the answer of a hook, and where they are called for that.
_HAND_OVER = {
    "say": _HOOKS,
    "insert": _SENDERS,
    "insert_block": _SENDERS,
    "follow_results": _SENDERS,
    "with_lines": _SENDERS,
    "UserMessage": _SENDERS,
    "Agent": _AGENT,
    "FunctionToolset": _AGENT,
    "turn": _AGENT,
    "run_stream_events": _AGENT,
    "hint": {"agent", "app"},
    "retract": {"agent", "app"},
    "write_atomic": _WRITERS,
}
# Arguments by which our own agent is given words.
_PROMPTS = {"instructions", "system_prompt", "user_prompt"}


def places(modules: Iterable[Module]) -> set[str]:
    """Every place, as `package.module:function`."""
    return {f"{one.name.removeprefix('seasoned.')}:{name}" for one in modules for name in _in_module(one)}


def _in_module(one: Module) -> Iterator[str]:
    package = one.name.removeprefix("seasoned.").partition(".")[0]
    if not one.name.startswith("seasoned.") or package not in _SENDERS | _WRITERS:
        return
    known = dict(functions(one.tree))
    for name, function in known.items():
        inner = {id(node) for other, found in known.items() if other.startswith(f"{name}.") for node in ast.walk(found)}
        if any(_hands_over(node, package) for node in ast.walk(function) if id(node) not in inner):
            yield name
        yield from _registered(name, function, package)


def _hands_over(node: ast.AST, package: str) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and node.value in _HOOK_FIELDS
    if isinstance(node, ast.Dict) and package in _SENDERS:
        keys = {key.value for key in node.keys if isinstance(key, ast.Constant)}
        # A message, or a copy of one with other content.
        return {"role", "content"} <= keys or ("content" in keys and None in node.keys)
    if isinstance(node, ast.Attribute):
        is_stream = isinstance(node.value, ast.Name) and node.value.id == "sys" and node.attr in ("stdout", "stderr")
        return is_stream and package in _HOOKS
    if isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if package in _AGENT and any(keyword.arg in _PROMPTS for keyword in node.keywords):
            return True
        is_list = called == "insert" and isinstance(node.func, ast.Attribute)
        return package in _HAND_OVER.get(called, set()) and not is_list
    return False


def _registered(name: str, function: ast.FunctionDef | ast.AsyncFunctionDef, package: str) -> Iterator[str]:
    """What is registered with Hermes or an MCP server: each is called when a model asks, or changes what it reads."""
    if package not in ("hermes_plugin", "mcp_server") or "." not in name:
        return
    owner = name.partition(".")[0]
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            given = node.args if node.func.attr.startswith("register_") else []
        elif function.name in ("tools", "add_to"):
            given = [node] if isinstance(node, ast.expr) else []
        else:
            continue
        for one in given:
            if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name) and one.value.id == "self":
                yield f"{owner}.{one.attr}"
