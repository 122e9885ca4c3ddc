"""PreToolUse: high-risk calls wait for a person; all others pass without output.

Without a confirmation service, agents that can ask show their own question, and refuse if no one is at the terminal.

If a hook fails or takes too long, the agent runs the call. So any problem with a high-risk call must end in a denial
that is printed in time, and no problem may stop any other call.
"""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any

import msgspec

from seasoned.command.risk import Need, need_of_call, need_of_command
from seasoned.errors import SeasonedError
from seasoned.hooks.dialect import MOST_BYTES, end_after, received, say

if TYPE_CHECKING:
    from threading import Lock

    from seasoned.hooks.event import Agent

# Less than the time that an agent gives a hook, which is 60 seconds by default: then it runs the call.
WAIT_SECONDS = 50.0
_LAST_WORD_SECONDS = 3.0
_HINT_SECONDS = 1.5
# Agents with their own question that refuse the call if no one can answer (measured). Gemini CLI would wait forever,
# and the others have no question.
_ASK_THEMSELVES = ("claude-code", "qwen", "copilot")


class _ProposedCall(msgspec.Struct):
    """The fields of the event that are read."""

    tool_name: str
    tool_input: dict[str, Any] = {}
    session_id: str = ""
    cwd: str = ""


def pre_tool_use(agent: Agent, arguments: list[str]) -> int:
    """Read the call from stdin; print a decision if it is high-risk, otherwise a hint if there is one."""
    wait_seconds = _wait_seconds(arguments)
    data = received()
    if len(data) == MOST_BYTES:
        _say("deny", "the call is too long to be checked. Do it in smaller parts.")
        return 0
    try:
        call = msgspec.json.decode(data, type=_ProposedCall)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        need = _need_of_text(data)
        if need is not None:
            _say("deny", f"the call looks like {need.action} but cannot be read ({error}), so no person can be asked.")
        return 0
    folder = project_folder(agent, call.cwd)
    given = _named_arguments(call)
    need = need_of_call(call.tool_name, given, agent=agent, folder=folder, here=call.cwd, follows_links=True)
    if need is not None:
        _ask(agent, call, need, wait_seconds)
        return 0
    if "--no-hints" not in arguments:
        _hint(agent)
    return 0


def project_folder(agent: Agent, cwd: str) -> str:
    """The folder that a session may change freely: its project's, not where its shell happens to be.

    Empty if that is unknown. Claude Code's shell moves with `cd`, so its event alone is not enough; Codex' event says
    where the user started it.
    """
    from seasoned.environment import agent_project_folder
    from seasoned.project import checkout_root

    named = cwd if agent == "codex" else agent_project_folder()
    return checkout_root(named or cwd) or named


def _hint(agent: Agent) -> None:
    """Print what works here instead of the call. If that fails, the call must not wait for it."""
    from seasoned.hooks.event import note

    call_off = end_after(_HINT_SECONDS, lambda: note(f"{agent} hint took too long"))
    try:
        # Imported here: a high-risk call never gets this far.
        from seasoned.hooks.guidance import hint

        hint(agent, [])
        call_off()
    except Exception as error:  # noqa: BLE001
        call_off()
        note(f"{agent} hint failed", error)


def _named_arguments(call: _ProposedCall) -> dict[str, Any]:
    """The arguments with names that fit: Codex passes a patch as `command`, although it is not run."""
    text = call.tool_input.get("command")
    if call.tool_name == "apply_patch" and isinstance(text, str):
        rest = {name: value for name, value in call.tool_input.items() if name != "command"}
        return {**rest, "patch": text}
    return call.tool_input


def _ask(agent: Agent, call: _ProposedCall, need: Need, wait_seconds: float) -> None:
    from threading import Lock, Timer

    # Acquired once and never released: given two answers, the agent ignores both and runs the call.
    word = Lock()
    # Even if a name lookup or the disk hangs, an answer must come before the agent stops waiting.
    last_word = Timer(wait_seconds + _LAST_WORD_SECONDS, _deny_and_end, [need.action, word])
    last_word.daemon = True
    last_word.start()
    decision, reason = "deny", f"{need.action} needs a person's approval, and asking for it failed."
    try:
        decision, reason = _ask_service(agent, call, need, wait_seconds)
    except SeasonedError as error:
        reason = f"{need.action} needs a person's approval: {error}"
    finally:
        # Also for unforeseen errors: the agent runs the call if the hook exits with one.
        last_word.cancel()
        word.acquire()
        # What an allowance covers is left to the agent's own rules.
        # Codex does not know `allow`: what is not denied runs.
        if decision == "deny" or (decision != "pass" and agent != "codex"):
            _say(decision, reason)
        os._exit(0)


def _question(need: Need, folder: str) -> str:
    """What a person reads in the agent's own question, below the call: why, and how not to be asked again."""
    place = f" --project {shlex.quote(folder)}" if folder else ""
    why = "; ".join(need.details["why"])
    return f"{need.action}: {why}. To allow it from now on, at a terminal: seasoned confirm allow {need.action}{place}"


def _ask_service(agent: Agent, call: _ProposedCall, need: Need, wait_seconds: float) -> tuple[str, str]:
    """What may be done with the call, and why; raises with what a person can do."""
    from seasoned.app.gate import decide_call
    from seasoned.config import load
    from seasoned.confirm.request.request import NewRequest

    asked = NewRequest(
        action=need.action,
        description=need.description,
        details={**need.details, "folder": call.cwd},
        label=agent,
        session_key=f"{agent}:{call.session_id}" if call.session_id else "",
    )
    folder = project_folder(agent, call.cwd)
    decision, reason = decide_call(
        load(),
        asked,
        folder=folder,
        has_question=agent in _ASK_THEMSELVES,
        wait_seconds=wait_seconds,
    )
    return decision, _question(need, folder) if decision == "ask" else reason


def _need_of_text(data: bytes) -> Need | None:
    """What an unreadable call seems to do: every line of its text is checked as if it were a command."""
    text = data.decode("utf-8", "ignore").replace("\\n", "\n").replace('\\"', " ")
    for line in (one for part in text.splitlines() for one in part.split('"')):
        found = need_of_command(line) if line.strip() else None
        if found is not None:
            return found
    return None


def _wait_seconds(arguments: list[str]) -> float:
    """How long a person may take; a typo or an absurd number gives the default."""
    try:
        seconds = float(arguments[arguments.index("--wait-seconds") + 1])
    except (ValueError, IndexError):
        return WAIT_SECONDS
    return seconds if 1.0 <= seconds <= 3600.0 else WAIT_SECONDS


def _say(decision: str, reason: str) -> None:
    say("PreToolUse", permissionDecision=decision, permissionDecisionReason=f"Seasoned: {reason}")


def _deny_and_end(action: str, word: Lock) -> None:
    word.acquire()
    code = 2
    try:
        _say("deny", f"{action} needs a person's approval, and no answer came in time.")
        code = 0
    finally:
        os._exit(code)
