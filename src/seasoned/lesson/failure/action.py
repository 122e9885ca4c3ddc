"""A recurring mistake as one imperative sentence: what works, else what is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from seasoned.command.tool import command_of
from seasoned.lazy_regex import LazyRegex
from seasoned.lesson.failure.call_target import WITHOUT_SUBCOMMANDS, runs_of, value_shape
from seasoned.lesson.failure.repair import PERMISSION_ARGUMENTS, CallChange, RepairStep, code, code_list
from seasoned.lesson.failure.signature import NO_ERROR_TEXT, NO_OUTPUT
from seasoned.session import ToolCall
from seasoned.text import plural

_QUOTED_CHARS = 110
_WORDS = LazyRegex(r"[^\W\d_]{3,}")
_VALUE_CHARS = 40
# At least 1 in so many repairing sessions must have taken a way for it to be recommended.
_ONE_IN = 2
# Programs that accompany the main one of a command: changing the main one does not repair them.
_FILTER_PROGRAMS = ("cd", "grep", "egrep", "rg", "sed", "awk", "jq", "cut", "sort", "head", "tail", "xargs", "tee")
_LISTING_TOOLS = ("ls", "find", "fd", "tree", "Glob", "LS")


class RepairWay(msgspec.Struct, frozen=True):
    """One way in which a mistake was repaired, over all sessions that did the same."""

    change: CallChange
    roots: frozenset[str]  # the lineages that took it
    values: dict[str, Any]  # the arguments of one call that worked
    steps: tuple[tuple[RepairStep, frozenset[str]], ...] = ()  # what came before it, in which lineages
    may_show: bool = True  # False if a person must confirm such a call

    @property
    def sessions(self) -> int:
        return len(self.roots)


class MistakeExample(msgspec.Struct, frozen=True):
    """One failure and its repair: the arguments of both calls as JSON, masked for the failed one."""

    session: str
    failed: str
    repaired: str | None = None  # None if no failure was repaired


class MistakeCost(msgspec.Struct, frozen=True):
    """What a mistake cost until it was repaired; None where sessions do not tell."""

    calls: int
    seconds: float | None = None
    tokens: float | None = None


class MistakeFacts(msgspec.Struct, frozen=True):
    """All that is known about a mistake when its sentence is written."""

    tool: str
    program: str | None
    error: str
    cause: str | None
    thing: str | None  # the program, option or script that the error names
    missing: str | None  # the file that several sessions did not find
    found: str | None  # the file that they then used instead, if always the same
    failures: int
    sessions: int
    last_seen: float | None
    ways: tuple[RepairWay, ...]
    key: str = ""  # what its failures share besides tool and program: the error, or its cause
    roots: Mapping[str, float] = {}  # the lineages, each with when it last made the mistake
    agent: str = ""  # of most of them
    cost: MistakeCost = MistakeCost(0)
    refs: tuple[str, ...] = ()
    example: MistakeExample | None = None

    @property
    def what(self) -> str:
        return code(self.program or self.tool)

    @property
    def repaired(self) -> int:
        """Sessions with any repair."""
        return _sessions(self.ways)


def _sessions(ways: Iterable[RepairWay]) -> int:
    return len({root for way in ways for root in way.roots})


def action(facts: MistakeFacts) -> str | None:
    """The sentence with its evidence; None if there is nothing to say."""
    text, repaired = sentence(facts)
    if text is None:
        return None
    count = plural(facts.sessions, "session")
    how_often = f"{repaired} repaired that way" if repaired else plural(facts.failures, "failure")
    seen = "" if facts.last_seen is None else f", last seen {datetime.fromtimestamp(facts.last_seen, tz=UTC):%Y-%m-%d}"
    return f"{text} ({count}, {how_often}{seen})."


def sentence(facts: MistakeFacts) -> tuple[str | None, int]:
    """What to do, and in how many sessions that was the repair."""
    shown = main_ways(facts)
    if facts.cause in FILE_CAUSES:
        return FILE_CAUSES[facts.cause].format(what=facts.what), _by_reading(facts.ways, facts.cause)
    for way in shown:
        text = _change_sentence(facts, way)
        if text is not None:
            return text, way.sessions
    by_step = _step_sentence(facts)
    if by_step is not None:
        return by_step
    text = _cause_sentence(facts)
    if text is None and any(way.change.kind == "again" and not way.steps for way in shown):
        return f"Try {facts.what} again: the same call worked later", _sessions(shown)
    return text, 0


def main_ways(facts: MistakeFacts) -> list[RepairWay]:
    """The ways that may be shown and that at least half of the repairing sessions took."""
    return [way for way in facts.ways if way.may_show and _ONE_IN * way.sessions >= facts.repaired]


# The same for every agent and project: requirements of editing tools.
FILE_CAUSES = {
    "unread": "Read the file before you change it with {what}",
    "stale": "Read the file again before you change it with {what}: it had changed since",
    "no match": "Read the file again before {what}, and copy the text to replace exactly",
    "several matches": "Give {what} more of the lines around the text to replace, or let it replace all occurrences",
    "bad patch": "Begin each hunk of the patch for {what} with `@@`, and each line in it with a space, `+` or `-`",
    "too large": "Read large files with {what} in parts, or search them",
    "directory": "List a folder with `ls` or a search: {what} takes files only",
}
_READS_FIRST = ("unread", "stale", "no match")


def _by_reading(ways: Sequence[RepairWay], cause: str | None) -> int:
    """The number of sessions that repaired it as the sentence says."""
    if cause not in _READS_FIRST:
        return _sessions(ways)
    return len({root for way in ways for step, roots in way.steps if step.kind == "same file" for root in roots})


def _change_sentence(facts: MistakeFacts, way: RepairWay) -> str | None:
    """The sentence for a call that was written differently."""
    change = way.change
    what, program = code_list(change.names), code(change.program)
    if facts.program in _FILTER_PROGRAMS or (change.kind == "program" and facts.cause != "missing program"):
        return _folder_sentence(change) if change.kind == "folder" else None
    match change.kind:
        case "without wrapper" if change.names[0][-1] != "/":
            return f"Run {program} without {what}"
        case "without wrapper":
            return f"Run {program} instead of {code(change.names[0] + change.program)}"
        case "with wrapper":
            return f"Run {program} instead of {facts.what}"
        case "program" | "command":
            return f"Run {code(change.names[1])} instead of {code(change.names[0])}"
        case "tool":
            return f"Use {code(change.names[1])} instead of {code(change.names[0])}"
        case "variable":
            return f"Set {what} for {program}"
        case "option dropped":
            return f"Run {program} without {what}"
        case "option added":
            return f"Run {program} with {what}"
        case "before" if change.names == ("sleep",):
            return f"Wait before you run {program} again"
        case "before":
            return f"Run {what} before {facts.what}"
        case "folder":
            return _folder_sentence(change)
        case "left out":
            return f"Call {facts.what} without {what}"
        case "renamed":
            return f"Give {code(change.names[1])} to {facts.what}, not {code(change.names[0])}"
        case "given" if PERMISSION_ARGUMENTS.issuperset(change.names):
            return f"Ask for permission to run {facts.what} outside the sandbox"
        case "given":
            return f"Give {what} to {facts.what}"
        case "changed":
            return _argument_sentence(facts, way)
        case "operands" if change.written and facts.cause != "missing file":
            return _operand_sentence(facts, way)
    return None


def _folder_sentence(change: CallChange) -> str | None:
    if not change.names:
        return None
    if change.names == ("",):
        return f"Run {code(change.program)} without another `cd`: the shell stays in the folder of the last one"
    return f"Run {code(change.program)} in {code(change.names[0])}"


def _argument_sentence(facts: MistakeFacts, way: RepairWay) -> str | None:
    """An argument that had to be written in another way, with a value that worked."""
    if facts.cause == "missing file" or not way.change.written:
        return None
    name = way.change.names[0]
    value = way.values.get(name)
    if not isinstance(value, str | int) or len(str(value)) > _VALUE_CHARS:
        return None
    return f"Write {code(name)} of {facts.what} like {code(str(value))}"


def _operand_sentence(facts: MistakeFacts, way: RepairWay) -> str | None:
    """The same for an operand of a shell command."""
    command = command_of(ToolCall("", facts.tool, way.values)) or ""
    for run in runs_of(command):
        for word in run.operands if run.wrapped == way.change.program else ():
            if value_shape(word) == way.change.written and len(word) <= _VALUE_CHARS:
                return f"Write the argument of {code(way.change.program)} like {code(word)}"
    return None


def _step_sentence(facts: MistakeFacts) -> tuple[str, int] | None:
    """The command or edit that came before the same call worked, in most sessions that repaired it."""
    taken: dict[tuple[str, str], set[str]] = {}
    for way in facts.ways:
        if way.change.kind in ("again", "operands", "patch", "changed") and way.may_show:
            for step, roots in way.steps:
                taken.setdefault((step.kind, step.name), set()).update(roots)
    for (kind, name), met in sorted(taken.items(), key=lambda one: -len(one[1])):
        # A single session shows which step mattered only if there was just one; several sessions show what recurs.
        if kind in ("run", "edit") and 2 * len(met) >= facts.repaired and (len(met) > 1 or len(taken) == 1):
            doing = f"Run {code(name)}" if kind == "run" else f"Change {code(name)}"
            before = (
                "first: the dependencies are out of date" if facts.cause == "dependencies" else f"before {facts.what}"
            )
            return f"{doing} {before}", len(met)
    return None


# Sentences for causes that need nothing but the program and the error.
_CAUSE_SENTENCES = {
    "service": "{what} reaches no server: {error}",
    "no test": "Check the names and paths given to {what}: it found no test",
    "equals": "Quote words that begin with `=`: zsh takes them for programs",
    "here document": "Write commands with {what} without a here-document: the shell cannot keep its text here",
    "unsaved": "Commit or stash your changes before {what}",
    "dependencies": "Install the dependencies before you run {what}",
    "module": "{what} lacks a module here: {error}",
    "login": "Log in before you run {what}: {error}",
    "access": "{what} cannot reach the remote: {error}",
    "permission": "{what} is not permitted here: {error}",
    "time": "Give {what} more time, or run it in the background",
    "network": "{what} has no network here: {error}",
    "blocked": "Do not chain {what} with other commands: the agent blocks it",
    "argument": "{what} refuses its arguments: {error}",
    "remote": "Check the name or number before {what}: {error}",
}


def _cause_sentence(facts: MistakeFacts) -> str | None:
    """What is wrong, if no repair is known."""
    what, thing, error = facts.what, facts.thing, _quoted(facts.error)
    match facts.cause:
        case "missing file":
            return _missing_file_sentence(facts)
        case "no tool" if "tool" in error.lower() or facts.tool in error:
            return f"{what} is not offered here: {error}"
        case "missing program":
            return f"{code(thing)} is not installed here, or not on the path" if thing else f"{what} failed: {error}"
        case "unknown command":
            return f"{what} has no {code(thing)}" if thing and thing not in what else f"{what} does not exist: {error}"
        case "unknown option":
            return f"{what} does not know {code(thing)}" if thing else f"{what} refuses an option: {error}"
        case "quoting":
            if "no matches found" in facts.error:
                if (facts.program or "").split()[0] in WITHOUT_SUBCOMMANDS:
                    return f"Look in the folder before {what}: its pattern matched no file"
                return f"Quote `*`, `?` and `[` in arguments of {what}: the shell expands them"
            return f"Check the quotes in commands with {what}: {error}"
        case "folder":
            if facts.program == "cd":
                return "Use a full path with `cd`: the shell may be in another folder than expected"
            if "git repository" in facts.error:
                return f"Run {what} inside the repository: {error}"
            if thing is not None:
                return f"Run {what} in the folder that has the {thing if ' ' in thing else code(thing)}"
            return f"Run {what} from the folder that its paths belong to: {error}"
    if facts.cause in _CAUSE_SENTENCES:
        return _CAUSE_SENTENCES[facts.cause].format(what=what, error=error)
    has_words = len(_WORDS.compiled.findall(facts.error)) > 1 and facts.error not in (NO_OUTPUT, NO_ERROR_TEXT)
    return f"{what} fails: {error}" if has_words else None


def _missing_file_sentence(facts: MistakeFacts) -> str:
    often = "" if facts.missing is None else f", most often {code(facts.missing)}"
    if facts.found is not None:
        often += f" (it is called {code(facts.found)})"
    if (facts.program or facts.tool).split()[-1] in _LISTING_TOOLS:
        return f"Start {facts.what} from a folder that you have seen: the path did not exist{often}"
    return f"Look up the path before {facts.what}: the file was not there{often}"


def _quoted(error: str) -> str:
    kept = "".join([c for c in error if c.isprintable() and c not in "<>"])
    return f"“{kept if len(kept) <= _QUOTED_CHARS else kept[: _QUOTED_CHARS - 1].rstrip() + '…'}”"
