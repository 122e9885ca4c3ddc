"""Run every command in a process in which some libraries cannot be imported; prints what crashed.

Usage: python without_extras.py SAMPLES, for the libraries of extras, or python without_extras.py SAMPLES alone, for all
but what hooks need: what is there when the package is installed without its dependencies, beside another program.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import sys
import traceback
from collections.abc import Iterator
from importlib.machinery import ModuleSpec

import click

SAMPLES, *MODE = sys.argv[1:] if __name__ == "__main__" else [""]
EXTRAS = "pydantic_ai xllamacpp psycopg pyarrow fsspec distributed dask duckdb openai anthropic"
DEPENDENCIES = """
    numpy scipy jinja2 yaml pydantic fastapi starlette genai_prices uvicorn httptools uvloop httpx2 httpx argon2
    cryptography cronsim mcp rfc8785
"""
BLOCKED = {*EXTRAS.split(), *(DEPENDENCIES.split() if MODE else ())}
# They would run until they are interrupted.
SERVERS = ("serve", "gateway", "confirm serve", "mcp", "watch")
# The simplest run of a command that does more than complain without an argument, or would not end.
RUNS = {
    "up": ["--no-serve", SAMPLES],
    "connect": ["claude-code", "--dry-run"],
    "scan": [SAMPLES],
    "show": ["1e038fbf"],
    "search": ["test"],
    # It would download a model.
    "model fetch": ["--help"],
    "confirm phone": ["--help"],
    "profile": ["1e038fbf"],
    "compare": [SAMPLES, SAMPLES],
    "compress-check": ["1e038fbf"],
    "recall": ["Bash"],
    # Without an agent on the PATH it fails as it should, whatever is installed.
    "review": ["--ledger"],
    "experiment run": ["plain"],
    "experiment show": ["none"],
    "backup": ["backup.db"],
    "restore": ["/nowhere"],
    "forget": ["1e038fbf", "--yes"],
}


class Blocker:
    """Says of every blocked library that it is not installed."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def find_spec(name: str, package: str | None = None) -> ModuleSpec | None:
    """As that of Python, which answers None for what is not installed."""
    return None if name.partition(".")[0] in BLOCKED else _find_spec(name, package)


_find_spec = importlib.util.find_spec


def commands(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every command by its words. One that cannot be imported says so when it is run."""
    if not isinstance(command, click.Group):
        yield path
        return
    if command.invoke_without_command:
        yield path
    context = click.Context(command)
    for name in command.list_commands(context):
        try:
            yield from commands(command.get_command(context, name), (*path, name))  # type: ignore[arg-type]
        except ModuleNotFoundError:
            yield (*path, name)


def run(arguments: list[str]) -> str:
    """What went wrong, in a line; empty if the command worked or said in one sentence what it needs."""
    from seasoned.cli.main import main

    said, errors = io.TextIOWrapper(io.BytesIO()), io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(errors):
            main(arguments)
    except SystemExit as end:
        text = "".join(line for line in errors.getvalue().splitlines(keepends=True) if "From the store" not in line)
        if end.code == 3 and "pip install 'seasoned" not in text and "pip install seasoned" not in text:
            return f"exit 3: {text}"
        return f"{len(text.splitlines())} lines: {text}" if end.code == 3 and text.count("\n") > 1 else ""
    except Exception:  # noqa: BLE001 - any other error is the crash that is looked for
        return traceback.format_exc().strip().splitlines()[-1]
    return ""


if __name__ == "__main__":
    sys.meta_path.insert(0, Blocker())  # type: ignore[arg-type]
    importlib.util.find_spec = find_spec
    from seasoned.cli.main import app

    sys.stdin = io.TextIOWrapper(io.BytesIO())
    for words in commands(app):
        name = " ".join(words)
        for more in (["--help"], *([] if name in SERVERS else [RUNS.get(name, [])])):
            if wrong := run([*words, *more]):
                sys.stdout.write(f"{name} {' '.join(more)}: {wrong}\n")
