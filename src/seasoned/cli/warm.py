"""`warm` and `recall`: what a new session would get, and what worked before."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
import msgspec

from seasoned.app.stores import own_store
from seasoned.cli.options import (
    FORMATS,
    FORMS,
    TASK_TYPES,
    all_option,
    file_type,
    json_option,
    project_option,
    words_in,
)
from seasoned.cli.output import answered, printable
from seasoned.cli.project import project_or_none
from seasoned.config import load
from seasoned.errors import NotFound, UsageError
from seasoned.example.provision import BUDGET
from seasoned.lesson.recall import recall as look_up
from seasoned.lesson.recall import recall_text


@click.command()
@click.argument("name", required=False)
@click.option("--type", "task_type", type=TASK_TYPES, help="Choose among templates for this task type.")
@click.option("--tags", default="", metavar="TAG,TAG", help="Choose among templates with any of these tags.")
@click.option("--task", help="What the new session should do.")
@click.option(
    "--tools", "tools_file", type=file_type, help="JSON file with the session's tools, in any provider's shape."
)
@click.option("--format", type=FORMATS, default="openai", show_default=True, help="The API it is for.")
@click.option("--form", type=FORMS, default="messages", show_default=True, help="Show calls as messages or as text.")
@click.option(
    "--budget", type=click.IntRange(1), default=BUDGET, show_default=True, help="Use at most this many tokens."
)
@project_option
@all_option
@json_option
def warm(
    name: str | None, tags: str, tools_file: Path | None, project: str | None, everything: bool, **asked: Any
) -> None:
    """Print the examples a new session would get.

    They are chosen for its task and its tools. NAME takes one template; by default the best is chosen. A session sees
    examples of the project of its folder, and those that you imported.

    \b
    Example: seasoned warm --task "fix the failing test" --tools tools.json
    """
    # Imported here: `recall` is asked by agents, and needs none of it.
    from seasoned.app import template as templates

    with own_store(load()) as store:
        key, unknown = project_or_none(store, project, everything=everything)
    made = templates.provision(
        tools=None if tools_file is None else _tools(tools_file),
        template=name,
        tags=words_in(tags),
        # A preview must not count as a use, or looking would change which examples are chosen.
        is_used=False,
        project=key,
        folder=str(Path.cwd()) if key is not None and project is None else None,
        # The other options are the fields of BlockRequest.
        **asked,
    )
    rendered, reason = made.rendered, made.reason
    if rendered is None and unknown:
        reason = f"{reason} {unknown}"
    content: Any = None
    if rendered is not None:
        is_text = rendered.format == "text"
        content = rendered.content.decode("utf-8") if is_text else msgspec.json.decode(rendered.content)
    answer = {
        "format": asked["format"],
        "form": asked["form"],
        "template": None if made.block is None else made.block.template,
        "reason": reason,
        "tokens": None if rendered is None else rendered.tokens,
        "example_ids": [] if rendered is None else list(rendered.example_ids),
        "digest": None if rendered is None else rendered.digest,
        "content": content,
    }
    if not answered("warm", answer):
        if rendered is not None:
            shown = content if is_text else msgspec.json.format(rendered.content, indent=2).decode()
            sys.stdout.write(shown + "\n")
        # Programs read what is on stdout, so why it is that goes to stderr.
        click.echo(reason if rendered is None else f"{reason} {rendered.tokens} tokens.", err=True)
    if rendered is None:
        raise click.exceptions.Exit(1)


def _tools(path: Path) -> list[Any]:
    try:
        value = msgspec.json.decode(path.read_bytes())
    except OSError as error:
        raise NotFound(
            f"{str(path)!r} cannot be read ({error.strerror}). Give a JSON file with a list of tools."
        ) from error
    # msgspec raises the second for thousands of nested brackets.
    except (msgspec.DecodeError, RecursionError) as error:
        raise UsageError(
            f"{str(path)!r} is not valid JSON ({error}). Give a JSON file with a list of tools."
        ) from error
    if not isinstance(value, list):
        raise UsageError(f"{str(path)!r} does not hold a list. Give a JSON file with a list of tools.")
    return value


@click.command()
@click.option("--tool", help="The tool's name, as the agent calls it.")
@click.option("--error", help="The error message; `-` reads it from standard input.")
@project_option
@all_option
@json_option
def recall(tool: str | None, error: str | None, project: str | None, everything: bool) -> None:
    """Look up what worked for a tool or an error.

    Shows how a tool was used successfully, or which repair worked for an error. Searches the project of this folder; a
    folder without sessions needs --project or --all. Exits with 1 when nothing is found.

    \b
    Example: seasoned recall --tool Bash --error "No module named pytest"
    """
    with own_store(load()) as store:
        key, unknown = project_or_none(store, project, everything=everything)
        found = look_up(store, tool=tool, error=sys.stdin.read() if error == "-" else error, project=key)
    if found.is_empty and unknown:
        found = msgspec.structs.replace(found, reason=unknown)
    if not answered("recall", msgspec.to_builtins(found)):
        click.echo(printable(recall_text(found)))
    if found.is_empty:
        raise click.exceptions.Exit(1)
