"""Trajectories of SWE-agent: steps with an action and an observation; steps have no label."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from seasoned.history.builder import SessionBuilder
from seasoned.history.call_pairing import CallPairing
from seasoned.history.coerce import as_list, as_object, count, identity, kind_of, number, string, text_of
from seasoned.history.formats import Sample
from seasoned.history.json_file import decode, documents, field, items, noting_unreadable
from seasoned.history.session_reader import JsonDocument, SessionFormat, add_messages
from seasoned.session import Session, Usage

NAME = "swe-agent"
_FORMAT = SessionFormat(NAME, "swe-agent")
# SWE-agent's own commands by purpose; any other action is run by bash.
_FILE = {"open", "goto", "scroll_down", "scroll_up", "create", "edit", "insert", "append", "str_replace_editor"}
_SEARCH = {"search_dir", "search_file", "find_file", "filemap"}
_END = {"submit", "skip", "exit_forfeit", "exit_cost", "exit_context", "exit_api", "exit_error"}
_CONNECT = {"connect_start", "connect_sendline", "connect_exec", "connect_stop"}
_DEBUG = {"debug_start", "debug_step", "debug_continue", "debug_exec", "debug_stop", "debug_add_breakpoint"}
_BINARY = {"disassemble", "decompile"}
_BROWSE = {"open_site", "close_site", "click_mouse", "type_text", "screenshot_site", "view_image"}
_COMMANDS = _FILE | _SEARCH | _END | _CONNECT | _DEBUG | _BINARY | _BROWSE


def recognises(sample: Sample) -> bool:
    """Whether a record has steps of action and observation, or a history of actions."""
    return sample.kind in ("document", "lines") and any(map(_is_ours, sample.records))


def _is_ours(value: dict[str, Any]) -> bool:
    steps = [as_object(step) for step in as_list(value.get("trajectory"))]
    if any("action" in step and "observation" in step and "role" not in step for step in steps):
        return True
    history = [as_object(turn) for turn in as_list(value.get("history"))]
    return any("role" in turn and ("message_type" in turn or "agent" in turn) for turn in history)


def read(path: Path) -> Iterator[Session]:
    """One session, from the steps, or from the history where there are no steps."""
    return _FORMAT.read_each(path, documents(path), _trajectory)


def _trajectory(path: Path, part: JsonDocument, index: int) -> SessionBuilder:
    builder = _FORMAT.builder(path, path.stem if index == 0 else f"{path.stem}#{index}")
    with noting_unreadable(builder, part.where):
        _add(builder, part.value)
    return builder


def _add(builder: SessionBuilder, run: dict[str, msgspec.Raw]) -> None:
    _describe(builder, as_object(field(run, "info")))
    steps = items(run.get("trajectory"))
    history = items(run.get("history"))
    _add_history(builder, history, only_opening=bool(steps))
    add_messages(builder, steps, partial(_add_step, builder, CallPairing(builder, prefix="step")), noun="step")
    if not steps and not history:
        builder.unreadable("the document", "neither a trajectory nor a history")


def _describe(builder: SessionBuilder, info: dict[str, Any]) -> None:
    status = string(info.get("exit_status"))
    submission = string(info.get("submission"))
    builder.end_reason = status
    if status == "submitted":
        builder.succeeded = submission is not None
    elif status is not None and submission is None:
        builder.succeeded = False
    stats = as_object(info.get("model_stats"))
    sent, received = count(stats.get("tokens_sent")), count(stats.get("tokens_received"))
    if sent or received:
        # A replay writes zeros, which means unknown.
        builder.total_usage = Usage(input=sent, output=received)
        builder.cost_usd = number(stats.get("instance_cost"))


def _add_step(builder: SessionBuilder, calls: CallPairing, step: dict[str, Any], _where: str, place: int) -> None:
    if builder.cwd is None:
        builder.cwd = _working_dir(step.get("state"))
    builder.message("assistant", text_of(step.get("thought")), place=place)
    action = text_of(step.get("action"))
    if not action.strip():
        return
    calls.turn()
    call_id = calls.make(f"step_{place}", _tool(action), {"command": action}, place=place)
    if step.get("observation") is not None:
        calls.answer(call_id, text_of(step.get("observation")), place=place)


def _working_dir(state: object) -> str | None:
    if isinstance(state, str):
        try:
            state = decode(state.encode("utf-8", "replace"))
        except msgspec.DecodeError:
            return None
    return string(as_object(state).get("working_dir"))


def _tool(action: str) -> str:
    words = action.split(maxsplit=1)
    return words[0] if words[0] in _COMMANDS else "bash"


def _add_history(builder: SessionBuilder, turns: list[msgspec.Raw], *, only_opening: bool) -> None:
    """Read the prompts before the first step, or the whole history if there are no steps."""
    calls = CallPairing(builder, prefix="step")
    for position, raw in enumerate(turns):
        where = f"turn {position}"
        with noting_unreadable(builder, where):
            try:
                turn = decode(raw)
            except msgspec.DecodeError as error:
                builder.unreadable(where, str(error))
                continue
            if not isinstance(turn, dict):
                builder.unreadable(where, f"{kind_of(turn)} where a turn should be")
                continue
            if turn.get("is_demo") is True:
                continue
            if only_opening and turn.get("role") == "assistant":
                return
            _add_turn(builder, calls, turn, where, position)


def _add_turn(builder: SessionBuilder, calls: CallPairing, turn: dict[str, Any], where: str, place: int) -> None:
    role = turn.get("role")
    text = text_of(turn.get("content"))
    if role == "assistant":
        builder.message("assistant", text_of(turn.get("thought")) or text, place=place)
        if action := text_of(turn.get("action")).strip():
            given = as_object(next(iter(as_list(turn.get("tool_calls"))), None)).get("id")
            calls.turn()
            calls.make(identity(given) or f"step_{place}", _tool(action), {"command": action}, place=place)
    elif role in ("user", "tool") and calls.open:
        calls.answer(next(iter(as_list(turn.get("tool_call_ids"))), None), text, place=place)
    elif role == "system" or role == "user":
        builder.message(role, text, place=place)
    else:
        builder.unreadable(where, f"a turn whose role is {str(role)[:40]!r}")
