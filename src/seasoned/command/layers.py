"""Looks into a shell command: the programs it runs, also inside wrappers, quotes, pipes and substitutions.

It only reads text and is not a sandbox: a command can hide what it does in a script, a variable or another language.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from typing import Literal

import msgspec

from seasoned.command.danger_table import rows_by_program
from seasoned.command.parse import FIND_RUNS, HEREDOC, Step, first_argument, names, parse, without_patches
from seasoned.command.path import PRODUCTION
from seasoned.command.rows import group
from seasoned.lazy_regex import LazyRegex

MOST_CHARACTERS = 20_000
MOST_STEPS = 500
# Limits against commands that are built to exhaust the reader; beyond them a layer is marked as unread.
_MOST_LAYERS = 60
MOST_SUM = 3 * MOST_CHARACTERS
_HERE_STRING = LazyRegex(r"<<<[ \t]*((?:'[^']*'|\"(?:\\.|[^\"\\])*\"|[^\s'\";|&<>()])+)")
# Variables that the command sets itself are filled in, so that `d=/srv; rm -rf $d` is seen as what it is.
_ASSIGNED = LazyRegex(
    r"(?:^|[;&|\n(]|\b(?:export|local|readonly|declare|do|then))[ \t]*"
    r"([A-Za-z_]\w{0,60})=(?:'([^'\n]*)'|\"([^\"\n`]*)\"|(\$\(mktemp[^()]*\)|[^\s;&|'\"`()]*))"
)
_LOOPED = LazyRegex(r"\bfor[ \t]+([A-Za-z_]\w{0,60})[ \t]+in[ \t]+((?:[^;\n\\]|\\.|\\\n){1,500})")
_VARIABLE = LazyRegex(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
# `rm $(which seasoned)`
_FOUND_PROGRAM = LazyRegex(r"\$\((?:which|command -v|type -p)[ \t]+([\w-]+)\)")
_ESCAPED_QUOTE = LazyRegex(r"'(?:\\.|[^'\\])*'", re.DOTALL)
_CODE_OPTION = LazyRegex(r"-[A-Za-z]*[cerE]|--eval|--print|--command|eval")
# Longer code is cut: nothing this long is written into a command.
_MOST_CODE = 20_000
_MOST_GUESSES = 8
_RUNNING = names("run exec ssh rsh debug")
_SSH_VALUES = names("-b -B -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w")
# Calls by which code starts a program, with all that they are given.
_CODE_RUNS = LazyRegex(
    r"\b(?:system|exec|execSync|spawn|spawnSync|popen|shell_exec|passthru|execFile|execFileSync|execute|shell"
    r"|ProcessBuilder|Open3\.\w+|shell-command|call-process|proc_open|run|do shell script|check_call|check_output|Popen"
    r"|getoutput|getstatusoutput|create_subprocess_shell|execv\w*|execlp?|spawnvp?)\b\s*[({]?\s*(?P<given>[^)\n]{1,1000})"
    r"|(?:%x|qx)\s*[({/](?P<quoted>[^)}/]*)|`(?P<ticks>[^`]+)`|\b(?:exec|spawn)\s+(?P<bare>[^\"'\n]+)"
    r"|(?P<before>['\"][^'\"]+['\"])\s*(?:\.execute\(\)|\|\s*getline)|\|\s*(?P<piped>['\"][^'\"]+['\"])"
)
_LITERAL = LazyRegex(r"'((?:\\.|[^'\\])*)'|\"((?:\\.|[^\"\\])*)\"")
# Programs that do harm and are called like nothing else, so that a bare word is one of them.
_HARMFUL = names(
    "rm rmdir unlink shred dd truncate chmod chown mv sh bash zsh curl wget python python3 node perl ruby find eval ssh"
    " dropdb systemctl terraform kubectl helm aws gcloud"
)
# Variables whose value other programs run.
_RUN_VARIABLE = LazyRegex(
    r"(?<![\w$])(?:\w*(?:PAGER|EDITOR|_COMMAND|_CMD|ASKPASS|_WRAPPER)|VISUAL|BROWSER|LESSOPEN|BASH_ENV|ENV|SHELL"
    r"|GIT_EXTERNAL_DIFF|GIT_SSH)=(?:'([^']*)'|\"([^\"]*)\")"
)
_GIVEN = LazyRegex(r"-[a-zA-Z]*c|--command|/[cC]|-[cC]ommand")


class Layer(msgspec.Struct, frozen=True):
    """One command text that runs: the command itself, or one inside of it."""

    text: str
    steps: tuple[Step, ...]
    given: tuple[str, ...] = ()
    """The texts of here-documents and here-strings."""
    substitutions: tuple[str, ...] = ()
    host: str = ""
    """The other machine that it runs on; empty for this one."""
    unread: Literal["", "steps", "layers"] = ""
    """Why it was not looked through to its end: too many steps, or too many commands in each other."""


def layers(command: str) -> Iterator[Layer]:
    """A command, then those inside it, each once."""
    # Depth first, so that findings come in the order of the text.
    waiting, seen, total = [(command, "")], set[tuple[str, str]](), 0
    while waiting:
        text, host = waiting.pop()
        if (text, host) in seen or not text.strip():
            continue
        total += len(text)
        if len(seen) > _MOST_LAYERS or total > MOST_SUM:
            yield Layer(text, (), unread="layers")
            return
        seen.add((text, host))
        layer = _layer(text, host)
        yield layer
        if layer.unread:
            return
        inside = [*((each, host) for each in _inside(layer)), *_on_hosts(layer)]
        waiting.extend(reversed(inside))


def _layer(text: str, host: str) -> Layer:
    readable = _expanded(text) if "$" in text else text
    given = tuple(found["body"] for found in HEREDOC.compiled.finditer(readable)) if "<<" in readable else ()
    if "<<<" in readable:
        given += tuple(" ".join(parse(f"echo {text}")[0].words) for text in _HERE_STRING.compiled.findall(readable))
    steps = parse(readable)
    if len(steps) > MOST_STEPS:
        return Layer(readable, (), unread="steps")
    # The text of a quoted here-document is not expanded: backticks in it run nothing.
    expanded = HEREDOC.compiled.sub(lambda found: "\n" if found["quote"] else found[0], readable)
    return Layer(readable, steps, given, tuple(substitutions(without_patches(expanded))), host)


def _expanded(text: str) -> str:
    """The text with the variables that it sets itself filled in, once, and the shell's own blank as a blank."""
    values = (
        {name: one or two or bare for name, one, two, bare in _ASSIGNED.compiled.findall(text)} if "=" in text else {}
    )
    looped = ((name, listed.replace("\\\n", " ")) for name, listed in _LOOPED.compiled.findall(text))
    values |= {name: listed for name, listed in looped if "$" not in listed and "`" not in listed}
    values["IFS"] = " "

    def value(found: re.Match[str]) -> str:
        known = values.get(found[1] or found[2])
        if known is not None and known.startswith("$(mktemp"):
            return "$TMPDIR/made"
        return found[0] if known is None or "$" in known or len(known) > 500 else known

    grown = _FOUND_PROGRAM.compiled.sub(r"/usr/bin/\1", _VARIABLE.compiled.sub(value, text))
    return grown if len(grown) <= 2 * MOST_CHARACTERS else text


def piped_into(steps: tuple[Step, ...], at: int) -> tuple[Step, ...]:
    """The steps whose output this one reads."""
    first = at
    while first > 0 and steps[first].join == "|":
        first -= 1
    return steps[first:at]


def texts_given(layer: Layer, before: tuple[Step, ...]) -> tuple[str, ...]:
    """Texts written in the command that this step reads as input."""
    return (*(printed(each) for each in before if each.program in ("echo", "printf")), *layer.given)


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
    if step.program in ("awk", "gawk", "mawk", "nawk") and "-f" not in step.words:
        return step.sub or None
    # Only JavaScript takes code behind -p; perl and ruby loop with it.
    prints = step.program in ("node", "bun", "deno")
    pairs = pairwise(step.words)
    found = [code for word, code in pairs if _CODE_OPTION.compiled.fullmatch(word) or (prints and word == "-p")]
    return found[0] if found else None


def on_host(step: Step) -> tuple[str, str] | None:
    """The machine that `ssh` goes to, and the command for it; None if it goes to none."""
    host, at = first_argument(step.words, _SSH_VALUES)
    return (host, " ".join(step.words[at + 1 :])) if host else None


def _on_hosts(layer: Layer) -> Iterator[tuple[str, str]]:
    """The commands that run on other machines, each with the machine."""
    for at, step in enumerate(layer.steps):
        reached = on_host(step) if step.program == "ssh" else None
        if reached is not None:
            host, inner = reached
            yield inner, host
            if not inner or ((reading := parse(inner)) and reading[0].program in group("shells")):
                yield from ((text, host) for text in texts_given(layer, piped_into(layer.steps, at)))
        elif step.program in group("containers") and not _RUNNING.isdisjoint(step.words[:6]):
            # What runs in a container or namespace of production runs in production.
            named = next((word for word in step.words[:_MOST_GUESSES] if PRODUCTION.compiled.search(word)), "")
            behind = range(1, min(len(step.words), _MOST_GUESSES)) if named else ()
            yield from ((shlex.join(step.words[first:]), named) for first in behind)


def _inside(layer: Layer) -> Iterator[str]:
    """Commands that run because this one does."""
    for at, step in enumerate(layer.steps):
        before = piped_into(layer.steps, at)
        texts = texts_given(layer, before)
        if step.program in group("shells"):
            # Also those for a script: a here-document may have written it.
            yield from (text.replace("\\n", "\n") for text in texts)
        elif step.program in group("input_runners"):
            yield from (part for text in texts for part in re.split(r"\\n|[;:*\n\t]+", text))
        if texts and ("xargs" in step.behind or step.program == "parallel"):
            words = (step.program, *step.words) if step.program != "parallel" else step.words
            yield f"{shlex.join(word for word in words if word != '{}')} {' '.join(texts)}"
        if step.program == "eval" or step.program in group("shells"):
            inner = (one for text in layer.substitutions for one in parse(text))
            yield from (printed(one) for one in inner if one.program in ("echo", "printf"))
        yield from _commands_in_arguments(step)
        code = code_in(step)
        for each in (code,) if code is not None else layer.given if step.program in group("code_programs") else ():
            yield from commands_in_code(each)
    yield from layer.substitutions
    if "=" in layer.text:
        yield from (one or two for one, two in _RUN_VARIABLE.compiled.findall(layer.text))


def printed(step: Step) -> str:
    """What `echo` or `printf` prints."""
    return " ".join(step.words).replace("\\n", "\n").replace("\\t", "\t")


def substitutions(command: str) -> Iterator[str]:
    """The commands in `$(…)`, `<(…)` and backticks, outside of single quotes."""
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


def _commands_in_arguments(step: Step) -> Iterator[str]:
    """Commands in the arguments of another."""
    words, program = step.words, step.program
    given = [at + 1 for at, word in enumerate(words[:-1]) if _GIVEN.compiled.fullmatch(word)]
    if program in group("shells") or program in group("command_takers"):
        for at in given:
            yield words[at] if program != "cmd" else " ".join(words[at:])
            # `bash -c 'rm -rf "$1"' _ /srv`: what follows takes the place of the parameters.
            yield shlex.join(words[at + 2 :])
            if len(words) > at + 1:
                yield re.sub(r"\$\{?\d\}?", words[-1].replace("\\", ""), words[at])
    if program in ("eval", "watch", "trap", "coproc"):
        yield " ".join(words)
    elif program in ("find", "fd", "fdfind"):
        for at in [at for at, word in enumerate(words) if word in FIND_RUNS][:_MOST_GUESSES]:
            yield shlex.join(each for each in words[at + 1 :] if each not in (";", "+"))
    elif program in ("git", "alias"):  # a setting may be a command: `git -c core.pager=… log`
        given_names = (word.partition("=") for word in words)
        yield from (value.removeprefix("!") for name, _, value in given_names if "." in name or program == "alias")
    # Which word begins the inner command depends on options that differ from program to program; `command -v` asks.
    runs = program in group("wrappers") and (program not in group("containers") or not _RUNNING.isdisjoint(words[:6]))
    if runs and not (program == "command" and words[:1] in (("-v",), ("-V",))):
        first = [at for at, word in enumerate(words[:_MOST_GUESSES]) if not word.startswith("-")]
        yield from (shlex.join(words[at:]) for at in first)
    # What a shell is given is read as a whole; a part of it, cut out of its quotes, would be another command.
    is_whole = program in ("eval", "su") or (program in group("shells") and given)
    if is_whole or program in group("readers") or program in group("text_takers"):
        return
    for at, word in enumerate(words[: 4 * _MOST_GUESSES]):
        if " " in word:
            programs = {each.program for each in parse(word)}
            if not programs.isdisjoint(_HARMFUL | rows_by_program().keys()):
                yield word
        elif word in _HARMFUL and program not in group("code_programs"):
            yield shlex.join(words[at:])


def commands_in_code(code: str) -> Iterator[str]:
    """Shell commands that a piece of code runs, if they are literal."""
    for found in _CODE_RUNS.compiled.finditer(code[:_MOST_CODE]):
        given = found["given"]
        if given is not None:
            literals = [re.sub(r"\\(.)", r"\1", one or two) for one, two in _LITERAL.compiled.findall(given)]
            yield " ".join(literals)
        else:
            held = found["before"] or found["piped"] or found["quoted"] or found["ticks"] or found["bare"] or ""
            yield held.strip("\"'")
