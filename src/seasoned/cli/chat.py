"""`chat`: talk to an agent that records what it does and learns from it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from seasoned.cli.options import json_option


@click.command()
@click.option("--model", help="openai:NAME, anthropic:NAME, local, local:/path/model.gguf, or a name at --base-url.")
@click.option("--base-url", help="A server that speaks as OpenAI's does, such as http://127.0.0.1:11434/v1.")
@click.option(
    "--warm", metavar="NAME|auto", help="Begin with the examples of a template, or of the one that fits best."
)
@click.option("--resume", metavar="SESSION", help="Take up a recorded conversation again.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    default=Path(),
    help="The working folder; file tools cannot leave it. By default the present one.",
)
@click.option("--toolsets", help="Toolsets by name, with commas between them; `none` for no tools.")
@click.option(
    "--once",
    metavar="PROMPT",
    help="One turn without questions: what must be allowed is denied, or put to `confirm_url`. `-` reads it.",
)
@json_option
def chat(
    model: str | None,
    base_url: str | None,
    warm: str | None,
    resume: str | None,
    folder: Path,
    toolsets: str | None,
    once: str | None,
    as_json: bool,
) -> None:
    """Talk to an agent with tools; every conversation is recorded and judged.

    \b
    Example: seasoned chat --warm auto
    """
    from seasoned.cli.talking import Plan, talk, talk_once
    from seasoned.errors import UsageError

    if as_json and once is None:
        raise UsageError("--json is for one turn: give the prompt with --once.")
    names = None if toolsets is None else tuple(name for name in toolsets.split(",") if name and name != "none")
    plan = Plan.make(model=model, base_url=base_url, warm=warm, resume=resume, folder=folder, toolsets=names)
    if once is None:
        talk(plan)
    else:
        talk_once(plan, sys.stdin.read() if once == "-" else once, as_json=as_json)
