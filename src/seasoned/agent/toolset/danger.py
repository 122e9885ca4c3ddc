"""Which shell commands destroy or reach out, so that a person is asked before they run.

It reads what is written. It is no sandbox: a command can hide what it does in a script, a variable or another language.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import msgspec

from seasoned.agent.toolset.danger_table import ROWS, Row
from seasoned.command.layers import (
    DOWNLOADS,
    HEREDOC,
    INTERPRETERS,
    MOST_CHARACTERS,
    SHELLS,
    Layer,
    commands_in_code,
    is_script,
    layers,
    name_of_call,
    parse_code,
    piped_into,
    texts_given,
)
from seasoned.command.parse import Step, names, parse

_WRITERS = names("tee cp mv install ln rsync touch mkdir")
_BOMB = re.compile(r"(?<![\w:.])(?P<name>[\w:.]{1,100})\s*\(\s*\)\s*\{[^}]{0,200}(?P=name)\s*\|\s*(?P=name)")
_REDIRECT = re.compile(r"(?<![<>&=\-])(?:\d|&)?>{1,2}[|&]?[ \t]*(?P<quote>['\"]?)(?P<target>[^\s'\"<>|&;()]+)")
_QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"")
_SAFE = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/")
_TEMPORARY = ("/tmp/", "/var/tmp/")
_DELETERS = names("rmtree removedirs rimraf")


class Danger(msgspec.Struct, frozen=True):
    """Why a command should not run unasked: `reason` continues a sentence that begins with "it"."""

    reason: str
    pattern: str
    """The row of the table, or the rule, that found it."""


def danger_in(command: str, *, folder: Path | None = None) -> Danger | None:
    """What is dangerous about a shell command; None where nothing is known to be. It never raises."""
    if len(command) > MOST_CHARACTERS:
        return Danger("is too long to be looked through", "length")
    return next((found for layer in layers(command, shows_sudo=True) for found in _of_layer(layer, folder)), None)


def danger_in_code(code: str, *, folder: Path | None = None) -> Danger | None:
    """The same for a piece of Python: calls that delete trees, and commands that it hands to a shell."""
    tree = parse_code(code)
    if tree is None:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (name := name_of_call(node)) in _DELETERS:
            return Danger("deletes folders with all that is in them", f"code: {name}")
    dangers = (danger_in(command, folder=folder) for command in commands_in_code(code))
    return next((found for found in dangers if found is not None), None)


def _of_layer(layer: Layer, folder: Path | None) -> Iterator[Danger]:
    if layer.unread == "layers":
        yield Danger("hides too many commands in each other", "depth")
    if layer.unread == "steps":
        yield Danger("holds too many commands to be looked through", "length")
    if _BOMB.search(layer.text):
        yield Danger("starts processes without end", "fork bomb")
    for at, step in enumerate(layer.steps):
        yield from _of_step(step, folder)
        yield from _of_pipe(step, piped_into(layer.steps, at), layer)
    for inner in layer.substitutions:
        downloads = any(each.program in DOWNLOADS for each in parse(inner))
        if downloads and any(step.program in INTERPRETERS for step in layer.steps):
            yield Danger("runs what it downloads without a look at it", "curl | sh")
    yield from _of_redirects(HEREDOC.sub("\n", layer.text), folder)


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


def _of_pipe(step: Step, before: tuple[Step, ...], layer: Layer) -> Iterator[Danger]:
    """What a shell, an interpreter or a database is given to read."""
    program = step.program
    if program in INTERPRETERS and any(each.program in DOWNLOADS for each in before):
        yield Danger("runs what it downloads without a look at it", "curl | sh")
    given = texts_given(layer, before)
    if program in SHELLS and not is_script(step) and before and not given:
        yield Danger("runs commands that cannot be seen here", "| sh")
    for row in ROWS:
        if row.pattern in ("SQL", "redis") and program in row.programs and any(_fits(row, text) for text in given):
            yield Danger(row.reason, row.pattern)


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
