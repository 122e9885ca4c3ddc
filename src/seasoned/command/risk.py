"""The questions that every part asks about a command or tool call.

- Confirmations: which of the ten actions that need a person is it? (`need_of_command`, `need_of_call`)
- The local agent: ask before running it? (`danger_in`, `danger_in_code`)
- Mining, recall and the project sheet: may it ever be shown as an example? (`may_be_example`)
- Insight: does it only look? (`only_looks`)

All answers come from one table; see `table/*.toml` and docs/design/command.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from seasoned.command import tool_call
from seasoned.command.assess import assess_call, assess_code, assess_command
from seasoned.command.path import WorkingFolder, working_folder
from seasoned.command.rows import Finding, group
from seasoned.command.tool import command_of, tool_of
from seasoned.session import ToolCall

_SHOWN = 200
# Which action is asked for where several are found: the one that is hardest to undo comes first.
GRAVITY = (
    "wipe_database",
    "transfer_funds",
    "delete_data",
    "rotate_keys",
    "modify_permissions",
    "deploy_production",
    "migrate_database",
    "shutdown_service",
    "publish_package",
    "exec_remote",
)


class Need(msgspec.Struct, frozen=True):
    """The action that a person must decide about, in words and with exactly what would be done."""

    action: str
    description: str
    details: dict[str, Any]
    row: str
    """The row of the table, or the rule, that found it."""


class Danger(msgspec.Struct, frozen=True):
    """Why a command should not run without asking: `reason` continues a sentence that begins with "it"."""

    reason: str
    pattern: str
    """The row of the table, or the rule, that found it."""


def need_of_command(command: str, *, folder: object = None) -> Need | None:
    """The action that a shell command needs; None where none is known. `folder` is where it runs. It never raises."""
    found = assess_command(command, working_folder(folder), "action")
    details: dict[str, Any] = {"command": command}
    if folder is not None:
        details["folder"] = str(folder)
    return _need(found, command, details)


def need_of_call(tool: str, arguments: Mapping[str, Any], *, agent: str = "", folder: object = None) -> Need | None:
    """The action that a tool call needs, by the commands, code and SQL in it and by its name. It never raises."""
    given = arguments if isinstance(arguments, Mapping) else {}
    place = working_folder(folder if folder is not None else tool_call.folder_in(given))
    details: dict[str, Any] = {"tool": tool, "arguments": dict(given)}
    if agent:
        details["agent"] = agent
    return _need(assess_call(tool, given, place, "action"), tool_call.shown(tool, given), details)


def findings_in_call(tool: str, arguments: Mapping[str, Any], place: WorkingFolder) -> list[Finding]:
    """What a tool call needs a person for, in the order in which it stands there."""
    return [found for found in assess_call(tool, arguments, place, "action") if found.action]


def gravity(found: Finding) -> int:
    """How far from the worst it is: what can be undone the least comes first."""
    return GRAVITY.index(found.action)


def _need(found: Iterable[Finding], shown: str, details: dict[str, Any]) -> Need | None:
    ordered = sorted(dict.fromkeys(each for each in found if each.action), key=gravity)
    if not ordered:
        return None
    worst = ordered[0]
    also = sorted({each.action for each in ordered[1:]} - {worst.action})
    if also:
        details["also"] = also
    details["why"] = list(dict.fromkeys(f"it {each.why}" for each in ordered))[:5]
    line = " ".join(shown.split())
    short = line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
    return Need(worst.action, f"{short} ({details['why'][0]})", details, worst.row)


def danger_in(command: str, *, folder: object = None) -> Danger | None:
    """Why the local agent asks before it runs a command; None where it does not."""
    return _danger(assess_command(command, working_folder(folder), "local"))


def danger_in_code(code: str, *, folder: object = None) -> Danger | None:
    """The same for a piece of code, however long: what it holds is read, and it runs in the sandbox."""
    return _danger(assess_code(code, working_folder(folder), "local", limit=len(code)))


def _danger(found: Iterable[Finding]) -> Danger | None:
    first = next((each for each in found if each.asks_locally), None)
    if first is None:
        return None
    return Danger(f"{first.why}, so it counts as {first.action}" if first.action else first.why, first.row)


def may_be_example(tool: str, arguments: Mapping[str, Any]) -> bool:
    """Whether a call may be shown to a new session: as an example, a repair, or a line of the project sheet.

    An example looks approved, so this is stricter than what an agent may run unasked. In doubt the answer is no:
    other calls show the same convention.
    """
    return why_not_example(tool, arguments) is None


def why_not_example(tool: str, arguments: Mapping[str, Any]) -> Finding | None:
    """What keeps a call out of examples; None where nothing does."""
    given = dict(arguments)
    command = command_of(ToolCall("", tool, given))
    if command is not None:
        # What else the call holds (an inner `action`, a second command) must pass as well.
        others = {name: value for name, value in given.items() if value != command}
        return _of_example_command(command) or _first(assess_call(tool, others, WorkingFolder(), "example"))
    found = _first(assess_call(tool, given, WorkingFolder(), "example"))
    form = tool_of(tool).form
    if found is not None or form in ("file_read", "search", "web"):
        return found
    if form == "python":
        return next(filter(None, map(_of_example_code, tool_call.all_texts(given))), None)
    return _first(tool_call.example_findings(tool, given)) or (
        None if form == "file_write" else _first(_of_example_texts(given))
    )


def _of_example_texts(given: Mapping[str, Any]) -> Iterable[Finding]:
    for kind, text in tool_call.example_texts(given):
        if kind == "sql":
            yield from assess_call("sql", {"sql": text}, WorkingFolder(), "example")
        else:
            found = _of_example_command(text) if kind == "command" else _of_example_code(text)
            yield from () if found is None else (found,)


@lru_cache(maxsize=4096)
def _of_example_command(command: str) -> Finding | None:
    return _first(assess_command(command, WorkingFolder(), "example"))


@lru_cache(maxsize=1024)
def _of_example_code(code: str) -> Finding | None:
    return _first(assess_code(code, WorkingFolder(), "example"))


def _first(found: Iterable[Finding]) -> Finding | None:
    return next((each for each in found if each.never_example), None)


def needs_person(tool: str, arguments: Mapping[str, Any]) -> bool:
    """Whether a call needs one of the ten actions, wherever it runs: it is never recalled as a repair."""
    return bool(findings_in_call(tool, arguments, WorkingFolder()))


def only_looks(program: str, sub: str = "") -> bool:
    """Whether a program only shows what is there; for git its subcommand decides."""
    return program in group("looks") or (program == "git" and sub in group("git_looks"))
