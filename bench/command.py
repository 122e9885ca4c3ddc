"""The hand-written parser of shell commands against tree-sitter-bash, on commands that agents really ran."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, files, version
from pathlib import Path
from typing import Any

from bench.agreement import DATA
from seasoned.command.layers import layers
from seasoned.command.parse import Step, parse, runs
from seasoned.command.risk import need_of_command
from seasoned.command.shown import why_not_shown
from seasoned.command.tool import command_of
from seasoned.errors import SeasonedError
from seasoned.history.formats import read_file
from seasoned.session import ToolCall

_SUFFIXES = {".jsonl", ".json", ".traj", ".eval", ".db"}
# What runs in a substitution is not a step of the command itself; `layers` descends into it for both.
_SUBSTITUTIONS = ("command_substitution", "process_substitution")


def figures() -> Iterator[str]:
    """Which commands parse, where the two disagree on the programs run, and what each costs."""
    try:
        versions = f"tree-sitter {version('tree-sitter')}, tree-sitter-bash {version('tree-sitter-bash')}"
    except PackageNotFoundError:
        yield "Skipped: the wheels tree-sitter and tree-sitter-bash are not installed (pip install them to compare)."
        return
    if not DATA.is_dir():
        yield f"Skipped: no sessions at {DATA}."
        return
    commands = sorted(real_commands(DATA) | real_commands(DATA.parent / "projects"))
    yield f"{len(commands)} distinct shell commands of public agent sessions; {versions}"
    theirs = grammar()
    broken = [command for command in commands if theirs.parse(command.encode()).root_node.has_error]
    yield f"tree-sitter-bash reports a syntax error in {len(broken)} of them; ours reads what it can and never fails"
    pairs = [(command, ours(command), grammar_programs(theirs, command)) for command in commands]
    differ = [pair for pair in pairs if pair[1] != pair[2]]
    yield f"the list of programs run differs in {len(differ)} ({len(differ) / len(commands):.2%})"
    inside = sum(ours_inside(one) != grammar_programs(theirs, one, inside=True) for one in commands)
    yield f"with what runs inside substitutions it differs in {inside}"
    errors = sum(theirs.parse(one.encode()).root_node.has_error for one, _, _ in differ)
    yield f"of these {len(differ)}, tree-sitter-bash reports an error in {errors}; in the others"
    for one, mine, other in differ:
        if not theirs.parse(one.encode()).root_node.has_error:
            extra, missing = Counter(mine) - Counter(other), Counter(other) - Counter(mine)
            yield f"  only ours finds {', '.join(extra) or '-'}; only tree-sitter {', '.join(missing) or '-'}"
    yield ""
    yield from _speed(commands, theirs)
    yield from _start()


def real_commands(folder: Path) -> set[str]:
    """The distinct shell commands of all sessions in a folder."""
    found: set[str] = set()
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        if path.is_file() and path.suffix in _SUFFIXES:
            try:
                calls = [call for session in read_file(path) for call in session.calls()]
            except SeasonedError:
                continue
            found |= {command for call in calls if (command := command_of(call)) and not _is_script(call, command)}
    return found


def _is_script(call: ToolCall, command: str) -> bool:
    """Codex hands JavaScript to its tool `exec`; only the commands inside it are shell."""
    return call.tool == "exec" and command in call.arguments.values()


def ours(command: str) -> list[str]:
    """The programs that our parser finds."""
    return [step.program for step in parse(command)]


def ours_inside(command: str) -> list[str]:
    """The same with the programs inside substitutions, in any order."""
    found = ours(command)
    for inner in next((layer.substitutions for layer in layers(command)), ()):
        found += ours_inside(inner)
    return sorted(found)


def grammar() -> Any:
    """A parser of tree-sitter with the grammar of bash."""
    from tree_sitter import Language, Parser
    from tree_sitter_bash import language

    return Parser(Language(language()))


def grammar_programs(parser: Any, command: str, *, inside: bool = False) -> list[str]:
    """The programs that tree-sitter's tree holds, behind the same wrappers (`sudo`, `env`) as ours."""
    text = command.encode()
    steps: list[Step] = []
    for words in _commands(parser.parse(text).root_node, text, inside=inside):
        runs(steps, ";", words)
    programs = [step.program for step in steps]
    return sorted(programs) if inside else programs


def _commands(node: Any, text: bytes, *, inside: bool) -> Iterator[list[str]]:
    if node.type in _SUBSTITUTIONS and not inside:
        return
    if node.type in ("command", "declaration_command", "unset_command", "test_command"):
        yield [
            _plain(text[child.start_byte : child.end_byte].decode(errors="replace"))
            for child in node.children
            if not child.type.endswith(("_redirect", "_assignment")) and child.type not in ("]", "]]")
        ]
    for child in node.children:
        yield from _commands(child, text, inside=inside)


def _plain(word: str) -> str:
    return word.replace("\\\n", "").replace("\\", "").replace('"', "").replace("'", "")


def _speed(commands: list[str], theirs: Any) -> Iterator[str]:
    timed: tuple[tuple[str, Callable[[str], object]], ...] = (
        ("ours, programs", lambda command: parse.__wrapped__(command)),
        ("tree-sitter, tree only", lambda command: theirs.parse(command.encode())),
        ("tree-sitter, programs", lambda command: grammar_programs(theirs, command)),
        ("which action is needed", need_of_command),
        ("may it be shown", why_not_shown),
    )
    for name, function in timed:
        for command in commands[:200]:
            function(command)
        before = time.process_time()
        for command in commands:
            function(command)
        yield f"{name:<24} {(time.process_time() - before) / len(commands) * 1e6:8.0f} µs a command"


def _start() -> Iterator[str]:
    yield ""
    for name, code in (
        ("import of ours", "import seasoned.command.parse"),
        ("import and first answer", "from seasoned.command.risk import need_of_command; need_of_command('git push')"),
        (
            "import of tree-sitter",
            "import tree_sitter as t, tree_sitter_bash; t.Parser(t.Language(tree_sitter_bash.language()))",
        ),
    ):
        timed = f"import time; s = time.process_time(); {code}; print((time.process_time() - s) * 1000)"
        runs_ms = sorted(
            float(subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, check=True).stdout)
            for _ in range(7)
        )
        yield f"{name:<24} {runs_ms[3]:8.1f} ms of processor time (median of 7)"
    for package in ("tree-sitter", "tree-sitter-bash"):
        size = sum(Path(str(one.locate())).stat().st_size for one in files(package) or () if one.locate().is_file())  # type: ignore[attr-defined]
        yield f"{package:<24} {size / 1024:8.0f} KiB installed"
