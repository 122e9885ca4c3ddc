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
    json_output,
    project_option,
    words_in,
)
from seasoned.cli.output import answered, printable
from seasoned.cli.project import project_or_none
from seasoned.config import load
from seasoned.errors import NotFound, UsageError
from seasoned.example.provision import BUDGET, Provisioned
from seasoned.lesson.recall import recall as look_up
from seasoned.lesson.recall import recall_text


@click.command()
@click.argument("name", required=False)
@click.option("--type", "task_type", type=TASK_TYPES, help="Choose among templates for this task type.")
@click.option("--tags", default="", metavar="TAG,TAG", help="Choose among templates with any of these tags.")
@click.option("--task", help="What the new session should do; by default the last user message.")
@click.option(
    "--tools", "tools_file", type=file_type, help="JSON file with the session's tools, in any provider's shape."
)
@click.option("--messages", "messages_file", type=file_type, help="JSON file with the session's first messages.")
@click.option("--format", type=FORMATS, default="openai", show_default=True, help="The API it is for.")
@click.option("--form", type=FORMS, default="messages", show_default=True, help="Show calls as messages or as text.")
@click.option(
    "--budget", type=click.IntRange(1), default=BUDGET, show_default=True, help="Use at most this many tokens."
)
@project_option
@all_option
@json_output
def warm(
    name: str | None,
    tags: str,
    tools_file: Path | None,
    messages_file: Path | None,
    project: str | None,
    everything: bool,
    **asked: Any,
) -> None:
    """Print the examples a new session would get.

    They are chosen for its task and its tools. With --messages, the messages are printed with the examples after the
    system messages, and the use is counted. NAME takes one template; by default the best is chosen. A session sees
    examples of the project of its folder, and those that you imported.

    \b
    Example: seasoned warm --task "fix the failing test" --tools tools.json
    """
    # Imported here: `recall` is asked by agents, and needs none of it.
    from seasoned.app import template as templates

    with own_store(load()) as store:
        key, unknown = project_or_none(store, project, everything=everything)
    made = templates.provision(
        [] if messages_file is None else _messages(messages_file),
        tools=None if tools_file is None else _json_list(tools_file, "a list of tools"),
        template=name,
        tags=words_in(tags),
        # A preview must not count as a use, or looking would change which examples are chosen.
        is_used=messages_file is not None,
        project=key,
        folder=str(Path.cwd()) if key is not None and project is None else None,
        # The other options are the fields of BlockRequest.
        **asked,
    )
    if made.rendered is None and unknown:
        made = msgspec.structs.replace(made, reason=f"{made.reason} {unknown}")
    answer = {
        "format": asked["format"],
        "form": asked["form"],
        **_answer(made, with_messages=messages_file is not None),
    }
    if not answered("warm", answer):
        _print(made, with_messages=messages_file is not None)
    # With --messages the unchanged messages are a valid result; a preview of nothing is not.
    if made.rendered is None and messages_file is None:
        raise click.exceptions.Exit(1)


def _answer(made: Provisioned, *, with_messages: bool) -> dict[str, Any]:
    rendered, block = made.rendered, made.block
    content: Any = None
    if rendered is not None:
        is_text = rendered.format == "text"
        content = rendered.content.decode("utf-8") if is_text else msgspec.json.decode(rendered.content)
    return {
        "template": None if block is None else block.template,
        "reason": made.reason,
        "tokens": None if rendered is None else rendered.tokens,
        "example_ids": [] if rendered is None else list(rendered.example_ids),
        "digest": None if rendered is None else rendered.digest,
        "content": content,
        "messages": made.messages if with_messages else None,
    }


def _print(made: Provisioned, *, with_messages: bool) -> None:
    """Prints what programs read to stdout, and why it is that to stderr."""
    if with_messages:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(made.messages), indent=2).decode() + "\n")
    elif made.rendered is not None:
        content = made.rendered.content
        is_text = made.rendered.format == "text"
        sys.stdout.write((content if is_text else msgspec.json.format(content, indent=2)).decode() + "\n")
    tokens = "" if made.rendered is None else f" {made.rendered.tokens} tokens."
    click.echo(f"{made.reason}{tokens}", err=True)


def _messages(path: Path) -> list[dict[str, Any]]:
    found: list[Any] = _json_list(path, "a list of messages")
    # Checked here for a message with its number; the formats themselves only say what type they expected.
    for number, one in enumerate(found, start=1):
        if not isinstance(one, dict):
            raise UsageError(f"{str(path)!r}: message {number} is not an object. Fix it and try again.")
    return found


def _json_list(path: Path, wanted: str) -> list[Any]:
    try:
        value = msgspec.json.decode(path.read_bytes())
    except OSError as error:
        raise NotFound(f"{str(path)!r} cannot be read ({error.strerror}). Give a JSON file with {wanted}.") from error
    except msgspec.DecodeError as error:
        raise UsageError(f"{str(path)!r} is not valid JSON ({error}). Give a JSON file with {wanted}.") from error
    # msgspec raises this for thousands of nested brackets.
    except RecursionError as error:
        raise UsageError(f"{str(path)!r} is nested too deeply. Give a JSON file with {wanted}.") from error
    if not isinstance(value, list):
        raise UsageError(f"{str(path)!r} does not hold a list. Give a JSON file with {wanted}.")
    return value


@click.command()
@click.option("--tool", help="The tool's name, as the agent calls it.")
@click.option("--error", help="The error message; `-` reads it from standard input.")
@project_option
@all_option
@json_output
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
