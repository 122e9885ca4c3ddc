"""Looks into a shell command: the programs that it runs, and those inside of wrappers, quotes, pipes and substitutions.

It reads what is written. It is not a sandbox: a command can hide what it does in a script, a variable or another
language.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Literal

import msgspec

from seasoned.command.parse import PATCH, Step, names, parse
from seasoned.command.rows import group
from seasoned.lazy_regex import LazyRegex

MOST_CHARACTERS = 20_000
MOST_STEPS = 500
# Limits against commands that are built to exhaust the reader; beyond them a layer is marked as unread.
_MOST_LAYERS = 60
_MOST_GUESSES = 8
_MOST_SUM = 3 * MOST_CHARACTERS
_RUNNING = names("run exec ssh rsh debug")
_SSH_VALUES = names("-b -B -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w")
HEREDOC = LazyRegex(r"<<-?[ \t]*(['\"]?)([A-Za-z_]\w*)\1[^\n]*\n(.*?)(?:^[ \t]*\2[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_LITERAL_DOCUMENT = LazyRegex(
    r"<<-?[ \t]*(['\"])([A-Za-z_]\w*)\1[^\n]*\n(.*?)(?:^[ \t]*\2[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
_HERE_STRING = LazyRegex(r"<<<[ \t]*((?:'[^']*'|\"(?:\\.|[^\"\\])*\"|[^\s'\";|&<>()])+)")
# Variables that the command sets itself are filled in, so that `d=/srv; rm -rf $d` is seen as what it is.
_ASSIGNED = LazyRegex(
    r"(?:^|[;&|\n(]|\b(?:export|local|readonly|declare|do|then))[ \t]*"
    r"([A-Za-z_]\w{0,60})=(?:'([^'\n]*)'|\"([^\"\n`]*)\"|([^\s;&|'\"`()]*))"
)
_LOOPED = LazyRegex(r"\bfor[ \t]+([A-Za-z_]\w{0,60})[ \t]+in[ \t]+((?:[^;\n\\]|\\.|\\\n){1,500})")
_MADE = LazyRegex(r"\b([A-Za-z_]\w{0,60})=\"?(?:\$\(|`)mktemp\b")
_VARIABLE = LazyRegex(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
_ESCAPED_QUOTE = LazyRegex(r"'(?:\\.|[^'\\])*'", re.DOTALL)
# The end of a pattern in `case … in a) cmd;;`: what follows is a command.
_ARM = LazyRegex(r"(?<=[\w*\"'])\)(?=\s)")
_RUNNERS = names(
    "system popen run call check_call check_output Popen getoutput getstatusoutput create_subprocess_shell"
    " execSync spawn spawnSync execFileSync shell_exec passthru"
)
# Calls by which code of other languages than Python starts a shell.
_CODE_RUNS = LazyRegex(
    r"(?:\b(?:system|exec|execSync|spawn|spawnSync|popen|shell_exec|passthru|qx"
    r"|execFileSync)\s*[({]?\s*\[?\s*|%x[({]|`)"
    r"(?:'((?:\\.|[^'\\])*)'|\"((?:\\.|[^\"\\])*)\"|([^`)}]*))"
)
# Options of find and fd behind which a command follows.
FIND_RUNS = ("-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch")
_CODE_OPTION = LazyRegex(r"-[A-Za-z]*[cerE]|--eval|--print|--command|eval")


class Layer(msgspec.Struct, frozen=True):
    """One command text that runs: the command itself, or one inside of it."""

    text: str
    steps: tuple[Step, ...]
    given: tuple[str, ...] = ()
    """What stands in here-documents and here-strings."""
    substitutions: tuple[str, ...] = ()
    unread: Literal["", "steps", "layers"] = ""
    """Why it was not looked through to its end: too many steps, or too many commands in each other."""


def layers(command: str) -> Iterator[Layer]:
    """A command, then those inside it, each once."""
    # Depth first, so that what is found comes in the order in which it stands there.
    waiting, seen, total = [command], set[str](), 0
    while waiting:
        text = waiting.pop()
        if text in seen or not text.strip():
            continue
        total += len(text)
        if len(seen) > _MOST_LAYERS or total > _MOST_SUM:
            yield Layer(text, (), unread="layers")
            return
        seen.add(text)
        layer = _layer(text)
        yield layer
        if layer.unread:
            return
        waiting.extend(reversed(list(_inside(layer))))


def _layer(text: str) -> Layer:
    readable = _expanded(text) if "$" in text else text
    given = tuple(found[3] for found in HEREDOC.compiled.finditer(readable)) if "<<" in readable else ()
    if "<<<" in readable:
        given += tuple(" ".join(parse(f"echo {text}")[0].words) for text in _HERE_STRING.compiled.findall(readable))
    steps = parse(readable)
    if len(steps) > MOST_STEPS:
        return Layer(readable, (), unread="steps")
    # The text of a quoted here-document is not expanded: backticks in it run nothing.
    expanded = _LITERAL_DOCUMENT.compiled.sub("\n", readable) if "<<" in readable else readable
    expanded = PATCH.compiled.sub("", expanded) if "*** Begin Patch" in expanded else expanded
    return Layer(readable, steps, given, tuple(substitutions(expanded)))


def _expanded(text: str) -> str:
    """The text with variables that it sets itself put in, once, and the shell's own blank as a blank."""
    values = (
        {name: one or two or bare for name, one, two, bare in _ASSIGNED.compiled.findall(text)} if "=" in text else {}
    )
    values |= dict.fromkeys(_MADE.compiled.findall(text), "/tmp/made")
    looped = ((name, listed.replace("\\\n", " ")) for name, listed in _LOOPED.compiled.findall(text))
    values |= {name: listed for name, listed in looped if "$" not in listed and "`" not in listed}
    values["IFS"] = " "

    def value(found: re.Match[str]) -> str:
        known = values.get(found[1] or found[2])
        return found[0] if known is None or "$" in known or len(known) > 500 else known

    grown = _VARIABLE.compiled.sub(value, text)
    return grown if len(grown) <= 2 * MOST_CHARACTERS else text


def piped_into(steps: tuple[Step, ...], at: int) -> tuple[Step, ...]:
    """The steps whose output this one reads."""
    first = at
    while first > 0 and steps[first].join == "|":
        first -= 1
    return steps[first:at]


def texts_given(layer: Layer, before: tuple[Step, ...]) -> tuple[str, ...]:
    """Texts written in the command that this step reads as input."""
    return (*(" ".join(each.words) for each in before if each.program in ("echo", "printf")), *layer.given)


def is_script(step: Step) -> bool:
    """Whether a shell gets its commands as an argument, and so does not read its input."""
    return bool(step.sub) or any(word.startswith("-") and "c" in word for word in step.words)


def reads_program(step: Step) -> bool:
    """Whether an interpreter runs what it reads as input: `sh`, `bash -s`, `python3 -`, but not `python3 -c …`."""
    if code_in(step) is not None or "-m" in step.words:
        return False
    if step.program in group("shells"):
        return not is_script(step) or any(re.fullmatch(r"-[a-z]*s", word) for word in step.words)
    before = step.words[: step.words.index(step.sub)] if step.sub else step.words
    return not step.sub or "-" in before


def code_in(step: Step) -> str | None:
    """The code that an interpreter is given as an argument: `python -c …`."""
    if step.program not in group("code_programs"):
        return None
    found = [step.words[at + 1] for at, word in enumerate(step.words[:-1]) if _CODE_OPTION.compiled.fullmatch(word)]
    return found[0] if found else None


def commands_in_code(code: str) -> Iterator[str]:
    """Shell commands that a piece of code runs, as far as they stand in it as text."""
    from seasoned.command import python_tree

    tree = python_tree.parse_code(code)
    if tree is None:
        for one, two, bare in _CODE_RUNS.compiled.findall(code[:MOST_CHARACTERS]):
            yield one or two or bare
    else:
        yield from python_tree.commands(tree, _RUNNERS)


def _inside(layer: Layer) -> Iterator[str]:
    """Commands that run because this one does."""
    for at, step in enumerate(layer.steps):
        if step.program in group("shells") and not is_script(step):
            before = piped_into(layer.steps, at)
            yield from (text.replace("\\n", "\n") for text in texts_given(layer, before))
        yield from _arguments(step)
        code = code_in(step)
        if code is not None:
            yield from commands_in_code(code)
        elif step.program in group("code_programs") and not step.sub:
            for text in layer.given:
                yield from commands_in_code(text)
    yield from layer.substitutions
    if "case " in layer.text and _ARM.compiled.search(layer.text):
        yield _ARM.compiled.sub(" ;", layer.text)


def _arguments(step: Step) -> Iterator[str]:
    """Commands that stand in the arguments of another."""
    words = step.words
    program = step.program
    if program in group("shells") or program in (
        "su",
        "script",
        "runuser",
        "flock",
        "watch",
        "wsl",
        "cmd",
        "powershell",
        "pwsh",
    ):
        for at, word in enumerate(words[:-1]):
            if re.fullmatch(r"-[a-zA-Z]*c|--command|/[cC]|-[cC]ommand", word):
                yield words[at + 1] if program != "cmd" else " ".join(words[at + 1 :])
    if program in ("eval", "watch", "trap", "coproc"):
        yield " ".join(words)
    elif program == "ssh":
        yield " ".join(_behind_host(words))
    elif program == "command" and words[:1] in (("-v",), ("-V",)):
        return
    elif program in group("wrappers") and (program not in group("containers") or not _RUNNING.isdisjoint(words[:6])):
        # Which word begins the inner command depends on options that differ from program to program.
        yield from (
            shlex.join(words[at:]) for at in range(min(len(words), _MOST_GUESSES)) if not words[at].startswith("-")
        )
        if "--" in words:
            yield shlex.join(words[words.index("--") + 1 :])
    if program in ("find", "fd", "fdfind"):
        starts = [at for at, word in enumerate(words) if word in FIND_RUNS]
        for at in starts[:_MOST_GUESSES]:
            yield shlex.join(each for each in words[at + 1 :] if each not in (";", "+"))


def _behind_host(words: tuple[str, ...]) -> tuple[str, ...]:
    skip = False
    for at, word in enumerate(words):
        if skip:
            skip = False
        elif word.startswith("-"):
            skip = word in _SSH_VALUES
        else:
            return words[at + 1 :]
    return ()


def substitutions(command: str) -> Iterator[str]:
    """What stands in `$(…)`, `<(…)` and backticks, outside of single quotes."""
    if "(" not in command and "`" not in command:
        return
    at, quoted = 0, False
    while at < len(command):
        here = command[at]
        if here == "\\":
            at += 1
        elif here == '"':
            quoted = not quoted
        elif here == "'" and not quoted:
            closed = _ESCAPED_QUOTE.compiled.match(command, at) if command[at - 1 : at] == "$" else None
            at = closed.end() - 1 if closed else command.find("'", at + 1)
            if at < 0:
                return
        elif here == "`":
            end = command.find("`", at + 1)
            if end < 0:
                return
            yield command[at + 1 : end]
            at = end
        elif here == "(" and at and command[at - 1] in ("$" if quoted else "$<>"):
            end = _closing(command, at)
            if command.startswith("$((", at - 1):  # arithmetic runs nothing itself
                yield from substitutions(command[at + 1 : end])
            else:
                yield command[at + 1 : end]
            at = end
        at += 1


def _closing(command: str, at: int) -> int:
    depth = 0
    for position in range(at, len(command)):
        depth += {"(": 1, ")": -1}.get(command[position], 0)
        if depth == 0:
            return position
    return len(command)
