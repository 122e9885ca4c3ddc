"""`warm`: what a new session would be shown, or its messages with that put in."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import click

from seasoned.cli.options import json_option

_FORMATS = click.Choice(["openai", "responses", "anthropic", "hermes", "pydantic-ai", "text", "skill"])
_FORMS = click.Choice(["messages", "text", "guidance"])
_TEXTS = ("text", "skill")
_file = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.argument("name", required=False)
@click.option("--task", help="What the new session is to do; by default what the last user message says.")
@click.option("--tools", "tools_file", type=_file, help="JSON file with the tools that the session has, in any shape.")
@click.option("--messages", "messages_file", type=_file, help="JSON file with the messages that it begins with.")
@click.option("--format", "format_", type=_FORMATS, default="openai", show_default=True, help="Who will read it.")
@click.option("--form", type=_FORMS, default="messages", show_default=True, help="As calls, as text, or as notes.")
@click.option("--budget", type=click.IntRange(min=1), default=1500, show_default=True, help="Tokens at most.")
@click.option("--small", is_flag=True, help="For a very small model: only what is relevant, three examples at most.")
@json_option
def warm(
    name: str | None,
    task: str | None,
    tools_file: Path | None,
    messages_file: Path | None,
    format_: Any,
    form: Any,
    budget: int,
    small: bool,
    as_json: bool,
) -> None:
    """Print the warm start of a new session: examples of what worked, chosen for its task and its tools.

    With --messages the messages come back with the block put in after the system messages, and the use is counted;
    without, the block alone is shown and nothing is counted. NAME takes one template; by default the best is chosen.

    \b
    Example: seasoned warm --task "fix the failing test" --tools tools.json
    """
    from seasoned.app.stores import stored
    from seasoned.cli.output import print_json
    from seasoned.config import load
    from seasoned.errors import UsageError
    from seasoned.template.library.storage import count_use, current, remember_block
    from seasoned.template.library.usage import template_use
    from seasoned.template.provision import provision

    if messages_file is not None and format_ == "skill":
        raise UsageError("A skill is a file and goes into no messages: leave --messages out, or take another --format.")
    messages = [] if messages_file is None else _messages(messages_file)
    now = time.time()
    with stored(load()) as store:
        made = provision(
            messages,
            library=current(store, now=now),
            tools=None if tools_file is None else _json(tools_file, "a list of tools"),
            task=task,
            template=name,
            budget=budget,
            format=format_,
            form=form,
            is_small=small,
            use=template_use(store),
        )
        if made.block is not None and made.rendered is not None:
            # Whoever is given it will be known by its opening line when the session is read.
            remember_block(store, made.block.digest, made.rendered.example_ids, now=now)
            if messages_file is not None and made.messages != messages:
                count_use(store, made.block.template, made.rendered.example_ids)
    if as_json:
        rendered, block = made.rendered, made.block
        print_json(
            "warm",
            {
                "template": None if block is None else block.template,
                "reason": made.reason,
                "format": format_,
                "form": form,
                "tokens": None if rendered is None else rendered.tokens,
                "example_ids": [] if rendered is None else list(rendered.example_ids),
                "digest": None if rendered is None else rendered.digest,
                "content": None if rendered is None else _content(rendered.content, format_),
                "messages": made.messages if messages_file is not None else None,
            },
        )
    else:
        _print(made, with_messages=messages_file is not None)
    if made.rendered is None and messages_file is None:
        raise click.exceptions.Exit(1)


def _print(made: Any, *, with_messages: bool) -> None:
    """What a program will read on stdout, what a person wants to know on stderr."""
    import msgspec

    if with_messages:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(made.messages), indent=2).decode() + "\n")
    elif made.rendered is not None:
        content = made.rendered.content
        is_text = made.rendered.format in _TEXTS
        sys.stdout.write((content if is_text else msgspec.json.format(content, indent=2)).decode() + "\n")
    tokens = "" if made.rendered is None else f" {made.rendered.tokens} tokens."
    click.echo(f"{made.reason}{tokens}", err=True)


def _content(content: bytes, format_: str) -> Any:
    import msgspec

    return content.decode("utf-8") if format_ in _TEXTS else msgspec.json.decode(content)


def _messages(path: Path) -> list[dict[str, Any]]:
    """The messages in a JSON file, or one sentence."""
    from seasoned.errors import UsageError

    found: list[Any] = _json(path, "a list of messages")
    for place, one in enumerate(found, start=1):
        if not isinstance(one, dict):
            raise UsageError(f"{str(path)!r} holds something else than a message at place {place}: each is an object.")
    return found


def _json(path: Path, wanted: str) -> Any:
    """The list in a JSON file, or one sentence."""
    import msgspec

    from seasoned.errors import NotFound, UsageError

    try:
        value = msgspec.json.decode(path.read_bytes())
    except OSError as error:
        raise NotFound(f"{str(path)!r} cannot be read ({error.strerror}): give a JSON file with {wanted}.") from error
    except msgspec.DecodeError as error:
        raise UsageError(f"{str(path)!r} is no JSON ({error}): give a JSON file with {wanted}.") from error
    except RecursionError as error:
        raise UsageError(f"{str(path)!r} is nested too deeply: give a JSON file with {wanted}.") from error
    if not isinstance(value, list):
        raise UsageError(f"{str(path)!r} holds no list: give a JSON file with {wanted}.")
    return value


_FILL_SECONDS = 10.0


@click.command()
@click.option("--tool", help="The tool, by the name that the agent gives it.")
@click.option("--error", help="What it complained of; - reads it from stdin.")
@click.option(
    "--command", help="For a shell: the command that failed, which tells one program's errors from another's."
)
@click.option("--limit", type=click.IntRange(1, 20), default=3, show_default=True, help="Ways to show at most.")
@click.option("--any-age", is_flag=True, help="Also what was last seen to work more than 180 days ago.")
@json_option
def recall(tool: str | None, error: str | None, command: str | None, limit: int, any_age: bool, as_json: bool) -> None:
    """Look up what worked: how a tool was used successfully, or which repair worked for an error.

    Only calls that worked are shown, the newest of each manner; what is old, retired, contradicted by later failures or
    hostile is left out and counted. Where nothing is found, that is said, with exit code 1.

    \b
    Example: seasoned recall --tool Bash --error "wp: missing --env"
    """
    import msgspec

    from seasoned.app.stores import stored
    from seasoned.cli.output import print_json, printable
    from seasoned.config import load
    from seasoned.template.recall.index import fill
    from seasoned.template.recall.lookup import recall as look_up
    from seasoned.template.recall.lookup import recall_text

    if error == "-":
        error = sys.stdin.read()
    with stored(load()) as store:
        fill(store, within_seconds=_FILL_SECONDS)
        arguments = None if command is None else {"command": command}
        found = look_up(store, tool=tool, error=error, arguments=arguments, limit=limit, any_age=any_age)
    if as_json:
        print_json("recall", msgspec.to_builtins(found))
    else:
        click.echo(printable(recall_text(found)))
    if found.is_empty:
        raise click.exceptions.Exit(1)
