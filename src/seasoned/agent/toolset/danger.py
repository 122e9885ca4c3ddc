"""Which shell commands destroy or reach out, so that a person is asked before they run.

It reads what is written. It is no sandbox: a command can hide what it does in a script, a variable or another language.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import msgspec

from seasoned.agent.toolset.danger_table import ROWS, Row
from seasoned.outcome.command import Step, names, parse

_MOST = 20_000
_INNER = 60
_STEPS = 500
_SHELLS = names("sh bash zsh dash ksh fish ash busybox rbash")
_INTERPRETERS = _SHELLS | names("python python2 python3 perl ruby node php source . eval iex")
_DOWNLOADS = names("curl wget fetch aria2c lynx http https xh")
_WRAPPERS = names(
    "sudo doas su setsid ionice chrt taskset busybox parallel watch caffeinate unshare nsenter chroot strace ltrace gdb"
    " script flock systemd-run chronic pkexec runuser run0 gosu proot firejail bwrap entr xargs time nice env timeout"
    " docker podman kubectl ssh stdbuf nohup exec command"
)
"""Programs that run what stands behind them."""
_CONTAINERS = names("docker podman kubectl")
_WRITERS = names("tee cp mv install ln rsync touch mkdir")
_HIDDEN_BY_PARSE = re.compile(r"(?<![\w./-])(?P<path>(?:/[\w./-]*/)?)(?P<name>sudo)(?=\s)")
_FUNCTION = re.compile(r"(?:^|(?<=[;&|\n\s]))(?:function\s+)?[\w:.-]+\s*\(\s*\)\s*\{")
_BOMB = re.compile(r"(?<![\w:.])(?P<name>[\w:.]{1,100})\s*\(\s*\)\s*\{[^}]{0,200}(?P=name)\s*\|\s*(?P=name)")
_HEREDOC = re.compile(
    r"<<-?[ \t]*(['\"]?)([A-Za-z_]\w*)\1[^\n]*\n(.*?)(?:^[ \t]*\2[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
_REDIRECT = re.compile(r"(?<![<>&=\-])(?:\d|&)?>{1,2}[|&]?[ \t]*(?P<quote>['\"]?)(?P<target>[^\s'\"<>|&;()]+)")
_QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"")
_SAFE = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/")
_TEMPORARY = ("/tmp/", "/var/tmp/")
_DELETERS = names("rmtree removedirs rimraf")
_RUNNERS = names("system popen run call check_call check_output Popen getoutput getstatusoutput")


class Danger(msgspec.Struct, frozen=True):
    """Why a command should not run unasked: `reason` continues a sentence that begins with "it"."""

    reason: str
    pattern: str
    """The row of the table, or the rule, that found it."""


def danger_in(command: str, *, folder: Path | None = None) -> Danger | None:
    """What is dangerous about a shell command; None where nothing is known to be. It never raises."""
    if len(command) > _MOST:
        return Danger("is too long to be looked through", "length")
    return next(_dangers(command, folder, set()), None)


def danger_in_code(code: str, *, folder: Path | None = None) -> Danger | None:
    """The same for a piece of Python: calls that delete trees, and commands that it hands to a shell."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in _DELETERS:
            return Danger("deletes folders with all that is in them", f"code: {name}")
        if name in _RUNNERS and node.args:
            found = danger_in(_command(node.args[0]), folder=folder)
            if found is not None:
                return found
    return None


def _command(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.List | ast.Tuple):
        words = [each.value for each in node.elts if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        return shlex.join(words)
    return ""


def _dangers(command: str, folder: Path | None, seen: set[str]) -> Iterator[Danger]:
    """Everything found in a command and in those inside of it; each is looked at once."""
    if command in seen:
        return
    if len(seen) > _INNER:
        yield Danger("hides too many commands in each other", "depth")
        return
    seen.add(command)
    if _BOMB.search(command):
        yield Danger("starts processes without end", "fork bomb")
    readable = _FUNCTION.sub("{ ", _HIDDEN_BY_PARSE.sub(r"\g<path>\g<name>_", command))
    steps = tuple(_named(step) for step in parse(readable))
    if len(steps) > _STEPS:
        yield Danger("holds too many commands to be looked through", "length")
        return
    bodies = [found[3] for found in _HEREDOC.finditer(command)]
    for at, step in enumerate(steps):
        before = _piped_into(steps, at)
        yield from _of_step(step, folder)
        yield from _of_pipe(step, before, bodies, folder, seen)
        for inner in _inner_commands(step):
            yield from _dangers(inner, folder, seen)
    for inner in _substitutions(command):
        downloads = any(each.program in _DOWNLOADS for each in parse(inner))
        if downloads and any(step.program in _INTERPRETERS for step in steps):
            yield Danger("runs what it downloads without a look at it", "curl | sh")
        yield from _dangers(inner, folder, seen)
    yield from _of_redirects(_HEREDOC.sub("\n", command), folder)


def _named(step: Step) -> Step:
    return msgspec.structs.replace(step, program="sudo") if step.program == "sudo_" else step


def _of_step(step: Step, folder: Path | None) -> Iterator[Danger]:
    words = " ".join(step.words)
    if step.program == "git" and step.sub:
        words = " ".join(step.words[step.words.index(step.sub) :])
    for row in ROWS:
        if step.program in row.programs and _fits(row, words):
            yield Danger(row.reason, row.pattern)
    if step.program in _WRITERS:
        targets = [word for word in step.words if not word.startswith("-")]
        for target in targets if step.program in ("tee", "touch", "mkdir") else targets[-1:]:
            if _is_outside(target, folder):
                yield Danger("writes outside of the working folder", "write outside")


def _fits(row: Row, words: str) -> bool:
    if row.words is not None and not row.words.compiled.search(words):
        return False
    return row.unless is None or not row.unless.compiled.search(words)


def _piped_into(steps: tuple[Step, ...], at: int) -> tuple[Step, ...]:
    """The steps whose output this one reads."""
    first = at
    while first > 0 and steps[first].join == "|":
        first -= 1
    return steps[first:at]


def _of_pipe(
    step: Step, before: tuple[Step, ...], bodies: list[str], folder: Path | None, seen: set[str]
) -> Iterator[Danger]:
    """What a shell, an interpreter or a database is given to read."""
    program = step.program
    if program in _INTERPRETERS and any(each.program in _DOWNLOADS for each in before):
        yield Danger("runs what it downloads without a look at it", "curl | sh")
    given = [" ".join(each.words) for each in before if each.program in ("echo", "printf")] + bodies
    if program in _SHELLS and not _is_script(step):
        for text in given:
            yield from _dangers(text.replace("\\n", "\n"), folder, seen)
        if before and not given:
            yield Danger("runs commands that cannot be seen here", "| sh")
    for row in ROWS:
        if row.pattern in ("SQL", "redis") and program in row.programs and any(_fits(row, text) for text in given):
            yield Danger(row.reason, row.pattern)


def _is_script(step: Step) -> bool:
    return bool(step.sub) or any(word.startswith("-") and "c" in word for word in step.words)


def _inner_commands(step: Step) -> Iterator[str]:
    """Commands that stand in the arguments of another."""
    words = step.words
    if step.program in _SHELLS | {"su", "script", "ssh", "runuser", "flock", "watch"}:
        for at, word in enumerate(words[:-1]):
            if re.fullmatch(r"-[a-zA-Z]*c|--command", word):
                yield words[at + 1]
    if step.program in ("eval", "ssh", "watch", "trap"):
        yield " ".join(words)
    if step.program in _WRAPPERS and (step.program not in _CONTAINERS or step.sub in ("run", "exec")):
        # Which word begins the inner command depends on options that differ from program to program.
        yield from (shlex.join(words[at:]) for at in range(min(len(words), 8)) if not words[at].startswith("-"))
    for at, word in enumerate(words):
        if word in ("-exec", "-execdir", "-ok", "-x", "-X", "--exec") and step.program in ("find", "fd", "fdfind"):
            inner = [each for each in words[at + 1 :] if each not in (";", "+")]
            yield shlex.join(inner)


def _substitutions(command: str) -> Iterator[str]:
    """What stands in `$(…)`, `<(…)` and backticks, outside of single quotes."""
    at, quoted = 0, False
    while at < len(command):
        here = command[at]
        if here == "\\":
            at += 1
        elif here == '"':
            quoted = not quoted
        elif here == "'" and not quoted:
            at = command.find("'", at + 1)
            if at < 0:
                return
        elif here == "`":
            end = command.find("`", at + 1)
            if end < 0:
                return
            yield command[at + 1 : end]
            at = end
        elif here == "(" and at and command[at - 1] in "$<>":
            end = _closing(command, at)
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


def _of_redirects(command: str, folder: Path | None) -> Iterator[Danger]:
    # Quoted text may hold `>`; a quoted target is kept, for it stands right behind one.
    bare = _QUOTED.sub(lambda found: found[0][1:-1] if " " not in found[0] and ">" not in found[0] else '""', command)
    for found in _REDIRECT.finditer(bare):
        target = found["target"]
        if _is_outside(target, folder):
            yield Danger("writes over a file outside of the working folder", "> outside")


def _is_outside(target: str, folder: Path | None) -> bool:
    if target.startswith(_SAFE) or target.isdigit() or target == "-":
        return False
    if target.startswith(("~", "$HOME", "${HOME")):
        return True
    place = PurePosixPath(target)
    if ".." in place.parts:
        return True
    if not place.is_absolute() or target.startswith(_TEMPORARY):
        return False
    return folder is None or not place.is_relative_to(folder)
