"""The tools of all agents: the kind of work they do, the form of their output, and the names of their arguments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import Any, Literal

import msgspec

from seasoned.command.parse import Step, names, parse
from seasoned.command.rows import MEANINGS, TOOLS, group
from seasoned.lazy_regex import LazyRegex
from seasoned.session import ToolCall

Kind = Literal["terminal", "code", "file", "research", "meta", "general"]
OutputForm = Literal["shell", "file_read", "file_write", "search", "web", "python", "agent", "meta", "api"]
TaskType = Literal["code", "file", "research", "mixed"]


class Tool(msgspec.Struct, frozen=True):
    """What is known about a tool by its name."""

    kind: Kind
    form: OutputForm
    trivial: bool = False


@cache
def known_tools() -> dict[str, Tool]:
    """The tools of all agents by their names in lower case."""
    found: dict[str, Tool] = {}
    for known, tools in TOOLS.items():
        kind, form, *trivial = known.split()
        tool = msgspec.convert({"kind": kind, "form": form, "trivial": bool(trivial)}, Tool)
        found |= dict.fromkeys(tools.split(), tool)
    return found


_UNKNOWN = Tool("general", "api")
_OWN = Tool("meta", "meta", trivial=True)
# How agents name the tools of our MCP server.
_OWN_SERVER = LazyRegex(r"(?:mcp[_.]{1,2})?seasoned(?:__|[_./-])")
_REMOTE_RESEARCH = Tool("research", "api")
_RESEARCH_WORDS = LazyRegex(r"browser|fetch|web_?search|crawl|scrape|playwright|puppeteer|firecrawl|tavily|exa_")


# A scan asks six times for each call.
@lru_cache(maxsize=4096)
def tool_of(name: str) -> Tool:
    """What is known about a tool; an unknown one is general and answers like an API."""
    lowered = name.lower()
    known = known_tools().get(lowered)
    if known is not None:
        return known
    if "seasoned" in lowered and _OWN_SERVER.compiled.match(lowered):
        return _OWN
    if lowered.startswith(("mcp_", "mcp.")) and _RESEARCH_WORDS.compiled.search(lowered):
        return _REMOTE_RESEARCH
    return _UNKNOWN


def is_trivial(name: str) -> bool:
    """Whether calls of a tool are left out of rates and templates."""
    return tool_of(name).trivial


def output_form(call: ToolCall) -> OutputForm:
    """The form of this call's output, which may depend on its arguments."""
    found = tool_of(call.tool).form
    if found == "file_write" and call.arguments.get("command") == "view":
        return "file_read"
    command = call.arguments.get("command")
    if found != "shell" and isinstance(command, str) and command.lstrip().startswith(call.tool):
        # Agents without function calling name the action by its first word: `python fix.py`, `ls -F`.
        return "shell" if found in ("python", "api") or call.tool in ("ls", "grep", "rg") else found
    return found


_HUMP = LazyRegex(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BETWEEN = LazyRegex(r"[^a-z0-9]+")
# How agents mark the tools of MCP servers: `mcp__docs__find`, `mcp_docs_find`, `mcp.docs.find`; others have no mark.
_REMOTE = LazyRegex(r"\Amcp(?:__|[_.:])")
# Names of several tools that do the same work: a failure of one is the same mistake in the other.
_ALIKE = ("shell", "file_read", "search", "web")
_EDIT_TOOLS = names("Edit edit edit_file patch StrReplace replace replace_string_in_file")


@lru_cache(maxsize=4096)
def snake(name: str) -> str:
    """A name in lower case with `_` between its words: `commandLine` is `command_line`."""
    return _BETWEEN.compiled.sub("_", _HUMP.compiled.sub("_", name[:300]).lower()).strip("_")


@lru_cache(maxsize=1024)
def same_tool(name: str) -> str:
    """One name for a tool that several agents have, or that an MCP server offers to them."""
    if "__" not in name and tool_of(name).form in _ALIKE:
        return tool_of(name).form
    # `mcp__docs__find`, `docs_find` and `docs-find` are the same tool of the same server.
    return "edit" if name in _EDIT_TOOLS else snake(_REMOTE.compiled.sub("", name))


@cache
def argument_names(meaning: str) -> tuple[str, ...]:
    """The names under which agents pass something (`path`, `text`, `folder`), the usual ones first."""
    return tuple(MEANINGS[meaning].split())


def argument(arguments: Mapping[str, Any], meaning: str) -> Any:
    """The argument with this meaning, under any agent's name for it; None if there is none."""
    return next((value for name in argument_names(meaning) if (value := arguments.get(name)) is not None), None)


# Under which name agents pass a command; the first one present counts.
_COMMAND_KEYS = ("command", "cmd", "script", "commands", "CommandLine", "commandLine", "input", "code")
# Codex passes JavaScript as the `input` of `exec`, and reaches its shell from there: `exec_command({cmd: "…"})`.
# Possessive: stored code may be cut inside the text, and every backslash in it would double the ways to fail.
_IN_CODE = LazyRegex(
    r"""exec_command\(\s*\{[^}]*?\bcmd["']?\s*:\s*(["'`])((?:[^\\"'`]++|\\.|(?!\1).)*+)\1""", re.DOTALL
)

_ESCAPE = LazyRegex(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}


def command_of(call: ToolCall) -> str | None:
    """The text of the shell command that a call runs; None when it runs none."""
    if output_form(call) != "shell" or call.tool in ("write_stdin", "process", "BashOutput"):
        return None
    for key in _COMMAND_KEYS:
        value: Any = call.arguments.get(key)
        if isinstance(value, str) and value:
            return next(iter(commands_in_script(value)), None) if call.tool == "exec" and key == "input" else value
        if isinstance(value, (list, tuple)) and value:
            words = [word for word in value if isinstance(word, str)]
            if len(words) >= 3 and words[1] in ("-lc", "-c", "-ic", "-lic"):
                return words[2]
            # Several commands are run one after the other; a list of words is one command.
            return ("\n" if key == "commands" else " ").join(words) if words else None
        if isinstance(value, dict):
            return command_of(ToolCall(call.id, call.tool, value))
    return None


@lru_cache(maxsize=1024)
def commands_in_script(code: str) -> tuple[str, ...]:
    """All commands that JavaScript for Codex' `exec` hands to the shell."""
    found = _IN_CODE.compiled.finditer(code)
    return tuple([_ESCAPE.compiled.sub(lambda one: _ESCAPED.get(one[1], one[1]), one[2]) for one in found])


_PATH_SCRIPT = LazyRegex(r"\.(?:py|js|ts|mjs|sh|rb|pl|php)\Z")


def _step_kind(step: Step) -> str | None:
    program = step.program
    if program in group("research"):
        return "research"
    if (
        program in group("code")
        or program.startswith(("python", "node", "./"))
        or _PATH_SCRIPT.compiled.search(program)
    ):
        return "code"
    return "file" if program in group("file") else None


def shell_kind(command: str) -> Literal["code", "file", "research"] | None:
    """What a shell command is about; None when its programs say nothing (`echo`, `sleep`)."""
    steps = parse(command)
    # `cat x | python` is about python only if nothing in front of the pipe says more.
    heads = [_step_kind(step) for step in steps if step.join != "|" and step.program != "cd"]
    kinds = heads if any(heads) else [_step_kind(step) for step in steps]
    if "code" in kinds:
        return "code"
    if "research" in kinds:
        return "research"
    return "file" if "file" in kinds else None


def kind_of(call: ToolCall) -> Kind:
    """The kind of one call: its tool's, and for a shell that of its command where it tells one."""
    tool = tool_of(call.tool)
    if output_form(call) != "shell":
        return tool.kind
    command = command_of(call)
    return (shell_kind(command) if command else None) or "terminal"


def task_type(calls: Iterable[ToolCall]) -> TaskType | None:
    """What a set of calls is about: one kind in more than 60 % of what counts, else mixed; None without calls."""
    counts: dict[str, int] = {}
    for call in calls:
        tool = tool_of(call.tool)
        if call.synthetic or tool.trivial or tool.kind == "meta":
            continue
        kind = kind_of(call)
        counts[kind] = counts.get(kind, 0) + 1
    return task_type_of(counts)


def task_type_of(counts: Mapping[str, int]) -> TaskType | None:
    """The same from calls counted by kind; meta calls say nothing about a task."""
    total = sum(number for kind, number in counts.items() if kind != "meta")
    if not total:
        return None
    for task in _TASKS:
        if counts.get(task, 0) > 0.6 * total:
            return task
    return "mixed"


_TASKS: tuple[TaskType, ...] = ("code", "file", "research")


# `[main 1a2b3c4] Subject`, `[main (root-commit) 1a2b3c4] Subject`, `[detached HEAD 1a2b3c4] Subject`.
_COMMIT_REPORT = LazyRegex(
    r"^\[(\S{1,200}|detached HEAD)(?: \(root-commit\))? ([0-9a-f]{7,40})\] (.{0,300})", re.MULTILINE
)
# Where git makes a commit and reports it in these words.
_COMMITTING = frozenset({"commit", "cherry-pick", "revert", "merge", "am", "rebase"})
_MOST_COMMITS = 20


class Commit(msgspec.Struct, frozen=True):
    """One commit: its abbreviated id, the branch it is on, and its subject."""

    id: str
    branch: str
    subject: str


def commits_of(call: ToolCall) -> tuple[Commit, ...]:
    """The commits that a shell call reported, in order; none if it did not run git to make one."""
    command = command_of(call) if call.result is not None and not call.synthetic else None
    # Most commands need not be parsed.
    if call.result is None or command is None or "git" not in command:
        return ()
    # A log or a file may contain such lines too.
    if not any(step.program == "git" and step.sub in _COMMITTING for step in parse(command)):
        return ()
    found = _COMMIT_REPORT.compiled.findall(call.result.text)
    return tuple(Commit(sha, branch, subject.strip()) for branch, sha, subject in found[:_MOST_COMMITS])
