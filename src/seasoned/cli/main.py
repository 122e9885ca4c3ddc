"""The entry point: `seasoned`. A command's file is imported when it is called, so that help answers at once."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import click

from seasoned import __version__
from seasoned.errors import SeasonedError

COMMANDS = {
    "up": "up:up",
    "scan": "session:scan",
    "sessions": "session:sessions",
    "show": "session:show",
    "judge": "judge:judge",
    "agreement": "judge:agreement",
    "profile": "insight:profile",
    "report": "insight:report",
    "compare": "compare:compare",
    "compress-check": "compare:compress_check",
    "template": "template.command:template",
    "warm": "template.warm:warm",
    "recall": "template.warm:recall",
    "experiment": "experiment.command:experiment",
    "chat": "chat:chat",
    "review": "review:review",
    "memory": "memory:memory",
    "skill": "skill:skill",
    "confirm": "confirm.command:confirm",
    "cron": "cron.command:cron",
    "gateway": "gateway:gateway",
    "usage": "gateway:usage",
    "serve": "serve:serve",
    "connect": "connect:connect",
    "mcp": "serve:mcp",
    "model": "model:model",
    "redact": "doctor:redact",
    "forget": "store:forget",
    "export": "store:export",
    "backup": "store:backup",
    "restore": "store:restore",
    "doctor": "doctor:doctor",
    "config": "doctor:config",
}
"""Every command and where it lives, in the order in which help shows them."""


class _Commands(click.Group):
    """Imports a command when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(f"seasoned.cli.{module}"), name)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] not in COMMANDS:
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else " `seasoned --help` lists the commands."
            raise click.UsageError(f"No such command {args[0]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="seasoned")
def app() -> None:
    """Gives every new agent session the experience of the best earlier ones, and proves whether it helped.

    Start with `seasoned up`: it reads the histories your agents already keep and shows what they say.
    """


def main() -> None:
    """Run the command line. Errors are one sentence on stderr, without a traceback."""
    arguments = sys.argv[1:]
    if "--blind" in arguments[:-1] and arguments[arguments.index("--blind") + 1] == "strict":
        # `--blind strict` reads as a value, but a flag cannot take one: say it with two flags.
        arguments[arguments.index("--blind") + 1] = "--strict"
    try:
        app(arguments, prog_name="seasoned")
    except SeasonedError as error:
        sys.stderr.write(f"seasoned: {error}\n")
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
