"""The form of a call: how it was written, with what varies from call to call masked.

Two calls of one form differ only in their operands. Wrappers, subcommands and options belong to the form, because each
of them may be what was wrong with a call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from seasoned.command.parse import Step, names, parse
from seasoned.command.risk import only_looks
from seasoned.command.tool import command_of, output_form, tool_of
from seasoned.insight.mistake.call_target import (
    FILTERS,
    MANNER,
    OPERAND_FIRST,
    PATCHED,
    RUNS_FILES,
    SCENERY,
    ProgramRun,
    run_of,
)
from seasoned.insight.track import JudgedCall
from seasoned.lazy_regex import LazyRegex
from seasoned.session import ToolCall

VARIES = "…"
LONGEST = 200
_STEPS = 6
_OPTIONS = 6
_ARGUMENTS = 12
# Options that change what is printed and nothing else.
_COSMETIC = names(
    "-v -vv -vvv -q -qq -s -x -n --verbose --quiet --silent --color --no-color --colors --no-progress --progress"
    " --tb --maxfail --no-header --oneline --stat --reporter --"
)
_WIDE = names(". ./... ... ./")
_TASK_WORDS = names("check format run lint ci test fmt build watch")
_SCRIPT = LazyRegex(r"[\w.@~/-]+\.\w{1,5}\Z")
_NUMBERED = LazyRegex(r"-+\d+\Z|-[a-zA-Z]\d+\Z")
_NAME = LazyRegex(r"-{1,2}[A-Za-z][\w-]{0,40}\Z")
_UUID = LazyRegex(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\Z", re.IGNORECASE)
_DAY = LazyRegex(r"\d{4}-\d\d-\d\d(?:[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?)?\Z")
_CLASSES = LazyRegex(r"[a-z]+|[A-Z]+|\d+")


def form_of(call: JudgedCall) -> str | None:
    """The form of a call as it was written; None if a shell was given nothing to run."""
    return form_of_call(call.tool, call.arguments)


def form_of_call(tool: str, arguments: Mapping[str, Any]) -> str | None:
    """The form of a call that is not judged yet, from its tool and arguments."""
    plain = ToolCall("", tool, dict(arguments))
    if output_form(plain) != "shell":
        return argument_form(tool, arguments)
    command = command_of(plain)
    return None if command is None else command_form(command)


@lru_cache(maxsize=2048)
def command_form(command: str) -> str | None:
    """The form of a shell command: every step that works, with its wrappers, subcommand and options."""
    if "*** " in command and PATCHED.compiled.search(command[:4000]):
        return "apply_patch"
    steps = parse(command)
    kept = list(_working(steps)) or [step for step in steps if step.program != "cd"][-1:] or list(steps[-1:])
    parts = dict.fromkeys(step_form(step) for step in kept[:_STEPS])
    text = " && ".join(part for part in parts if part)
    return text[:LONGEST] or None


def _working(steps: tuple[Step, ...]) -> Iterator[Step]:
    """The steps that do the work, with the folder they run in; without those that print, filter or look around."""
    acting = [step for step in steps if not _is_aside(step)]
    some = [step for step in acting if not only_looks(step.program, step.sub)] or acting
    chosen = {id(step) for step in some}
    folder: Step | None = None
    for step in steps:
        if step.program == "cd":
            folder = step
        elif id(step) in chosen:
            if folder is not None:
                yield folder
                folder = None
            yield step


def _is_aside(step: Step) -> bool:
    if step.join == "|" and (step.program in FILTERS or only_looks(step.program)):
        return True
    return step.program in SCENERY or not any(c.isalnum() for c in step.program)


def step_form(step: Step) -> str:
    """One program as it was written: what stands in front of it, its subcommand and options, its operands masked."""
    if step.program == "cd":
        return f"cd {folder_form(step.words[0])}" if step.words else "cd"
    run = run_of(step)
    kept = set(run.label.split()[1:]) or {word for word in run.operands[:1] if word in _TASK_WORDS}
    before: list[str] = []
    options: list[str] = []
    others: list[str] = []
    for word in run.words:
        if word.startswith("-") and len(word) > 1:
            name = word.partition("=")[0]
            if _is_significant(run.program, name):
                # In front of the subcommand an option belongs to the program: `git -C … commit`.
                (options if not kept else before).append(name if "=" not in word else f"{name}={VARIES}")
        elif word in kept:
            before.append(word)
            kept.discard(word)
        elif kept and before:
            before.append(VARIES)
        elif run.program in RUNS_FILES and not others and not before and _SCRIPT.compiled.match(word):
            before.append(folder_form(word))
        else:
            others.append(word if word in _WIDE else VARIES)
    tail = [*dict.fromkeys(sorted(options)[:_OPTIONS]), *dict.fromkeys(others)]
    return "".join([*map(_in_front, run.prefix), " ".join([run.program, *before, *tail])])[:LONGEST]


def written_program(run: ProgramRun) -> str:
    """A program with its subcommand as it was written, without variables: `uv run .venv/bin/pytest`."""
    return "".join([*[_in_front(word) for word in run.prefix if word[-1] != "="], run.label])


def _in_front(word: str) -> str:
    if word[-1] == "/":
        return _place(word)
    return f"{word}{VARIES} " if word[-1] == "=" else f"{word} "


def _is_significant(program: str, option: str) -> bool:
    if option in _COSMETIC or _NUMBERED.compiled.match(option) or not _NAME.compiled.match(option):
        return False
    # `ls -la`, `grep -rn`: short options of programs that show files differ with every call.
    if program in OPERAND_FIRST and not option.startswith("--"):
        return option in ("-c", "-e", "-i", "-m", "-X", "-p")
    return True


def _place(folder: str) -> str:
    """The folder of a program; of a full path only its end, which is the same on other machines."""
    parts = folder.rstrip("/").split("/")
    return folder if not folder.startswith(("/", "~", "$")) or len(parts) < 4 else f"{VARIES}/{'/'.join(parts[-2:])}/"


def folder_form(path: str) -> str:
    """A folder as it was written; of a full path only the last name, which other machines have too."""
    if not path.startswith(("/", "~", "$")):
        return path
    name = path.rstrip("/").rsplit("/", 1)[-1]
    return f"{VARIES}/{name}" if name and name != path else VARIES


def argument_form(tool: str, arguments: Mapping[str, Any]) -> str:
    """The form of a call of another tool: its name and what was given, as shapes where the tool is not a known one."""
    given = [(name, value) for name, value in sorted(arguments.items()) if name not in MANNER and value not in _ABSENT]
    is_known = tool_of(tool) is not tool_of("")
    shown = [str(name) if is_known else f"{name}:{value_shape(value)}" for name, value in given[:_ARGUMENTS]]
    return f"{tool}({', '.join(shown)})"[: 2 * LONGEST]


_ABSENT = (None, False, "")


def value_shape(value: Any) -> str:
    """How a value is written: a number, a day, an id with its letters and digits, a path, one word or several."""
    if isinstance(value, bool):
        return "switch"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, Mapping):
        return "{" + ",".join(sorted(map(str, value))[:_ARGUMENTS]) + "}"
    if isinstance(value, list | tuple):
        return "[" + "|".join(sorted({value_shape(item) for item in value[:20]})) + "]"
    text = str(value).strip()
    if _UUID.compiled.match(text):
        return "uuid"
    if _DAY.compiled.match(text):
        return "day" if len(text) == 10 else "time"
    if "://" in text[:12]:
        return "url"
    if not text or len(text) > 60 or any(c.isspace() for c in text):
        return "words"
    first, slash, _ = text.partition("/")
    if slash:
        # Where a path begins is often the convention itself; how deep it goes is not.
        return f"{first}/path"
    shape = _CLASSES.compiled.sub(_class, text)
    # One word in any letters is a word; with digits or marks in it, it is written in some way.
    return "word" if shape.isalpha() else shape


def _class(found: re.Match[str]) -> str:
    first = found[0][0]
    return "0" if first.isdigit() else "A" if first.isupper() else "a"
