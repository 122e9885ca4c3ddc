"""The entry point `seasoned`: finds the command, and prints errors in one sentence."""

from __future__ import annotations

import atexit
import gc
import sys
from importlib import import_module
from typing import Any

import click

from seasoned import __version__
from seasoned.cli.options import Commands
from seasoned.errors import CannotDo, SeasonedError, missing_sentence

# Every command, by the headings of `seasoned --help`: where it lives, and its help line. The line stands here, and
# not only in the command, so that `seasoned --help` imports none of them; a test compares the two.
GROUPS = {
    "Start": {
        "up": ("up:up", "Read your histories and show what they say"),
        "connect": ("connect:connect", "Connect an agent you already use"),
        "doctor": ("store:doctor", "Check the store, the histories and the setup"),
    },
    "Look": {
        "scan": ("look.session:scan", "Read histories into the store"),
        "sessions": ("look.session:sessions", "List sessions"),
        "show": ("look.session:show", "Show a session with a verdict on every call"),
        "search": ("look.session:search", "Find sessions by what was said and done"),
        "resume": ("look.session:resume", "Go back into a session, in its agent"),
        "usage": ("look.usage:usage", "Show tokens and cost"),
        "watch": ("look.watch:watch", "Follow running sessions, call by call"),
        "report": ("look.insight:report", "Report: do sessions improve with experience?"),
        "compare": ("look.insight:compare", "Compare two sessions, or two sets of them"),
        "profile": ("look.insight:profile", "Show how a session went"),
        "compress-check": ("look.insight:compress_check", "Check what a context compression cost"),
        "projects": ("project:projects", "List projects and merge them"),
        "judge": ("look.judge:judge", "Judge every call, one JSON line each"),
        "agreement": ("look.judge:agreement", "Score the judge against explicit flags"),
    },
    "Lessons": {
        "lessons": ("lessons:lessons", "Show what sessions of a project learned"),
        "recall": ("warm:recall", "Look up what worked for a tool or an error"),
        "inbox": ("lessons:inbox", "Accept or reject what wants to become lasting"),
        "receipt": ("lessons:receipt", "Show what a session was shown and used"),
        "share": ("lessons:share", "Write the project's lessons into its repository"),
        "backtest": ("lessons:backtest", "Replay histories: was what sessions see right?"),
    },
    "Examples": {
        "template": ("template:template", "Build, inspect and share templates"),
        "warm": ("warm:warm", "Print the examples a new session would get"),
        "experiment": ("experiment:experiment", "Measure whether a warm start helps"),
    },
    "Keep": {
        "review": ("keep:review", "Keep what a session taught"),
        "memory": ("keep:memory", "Show and change the notes every new session sees"),
        "skill": ("keep:skill", "Show skills in the SKILL.md format"),
        "forget": ("store:forget", "Forget a session, a source or everything"),
        "export": ("store:export", "Export the store or sessions, redacted, as JSON lines"),
        "backup": ("store:backup", "Back up the store"),
        "restore": ("store:restore", "Restore the store from a backup"),
        "redact": ("store:redact", "Remove secrets and personal data from text"),
        "config": ("store:show_config", "Show every setting and where it came from"),
    },
    "Serve": {
        "serve": ("serve:serve", "Serve the pages, gateway and schedule"),
        "gateway": ("serve:gateway", "Run the gateway, a proxy for model APIs"),
        "confirm": ("confirm:confirm", "Ask a person before risky actions"),
        "cron": ("cron:cron", "Run agents on a schedule"),
        "mcp": ("serve:mcp", "Serve tools to an agent over MCP"),
        "statusline": ("look.watch:statusline", "Print a status line for Claude Code"),
        "mine": ("store:mine", "Mine histories of any size into Parquet"),
        "query": ("store:query", "Ask a question in SQL about mined histories"),
        "model": ("keep:model", "Manage models on this machine"),
    },
}
COMMANDS = {name: place for group in GROUPS.values() for name, place in group.items()}


class LazyCommands(Commands):
    """Imports a command only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        # Most commands need rich, numpy or the agent library; importing all would cost a second at every start.
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(f"seasoned.cli.{module}"), name)
        return command

    def help_line(self, ctx: click.Context, name: str) -> str:
        return COMMANDS[name][1]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))  # one column for all groups
        for title, group in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), line) for name, (_, line) in group.items()])

    # click's own message says neither what is similar nor where to look.
    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] not in COMMANDS:
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else " `seasoned --help` lists the commands."
            raise click.UsageError(f"No such command {args[0]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)


def _print_version(ctx: click.Context, _option: click.Parameter, is_asked: bool) -> None:
    if is_asked:
        from seasoned.store.schema import VERSION

        click.echo(f"seasoned {__version__}, store version {VERSION}")
        ctx.exit()


@click.group(cls=LazyCommands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Show the version."
)
def app() -> None:
    """Give new agent sessions the experience of earlier ones, and measure whether it helps.

    Start with `seasoned up`: it reads the histories your agents already keep and shows what they say.
    """


_COLLECT_AFTER = 50_000


def _complain(sentence: str) -> None:
    from seasoned.cli.output import say

    say(f"seasoned: {sentence}", err=True, fg="red")


def _skip_last_collections() -> None:
    """At its end Python would look through all objects twice more, which takes a tenth of a short command."""
    # DuckDB counts its objects at the end, and would print those that were not collected.
    if "duckdb" not in sys.modules:
        gc.freeze()


def main(arguments: list[str] | None = None) -> None:
    """Run the command line. Errors are one sentence on stderr, without a traceback."""
    arguments = sys.argv[1:] if arguments is None else arguments
    # Commands make many objects and few cycles: looking for those so often takes a twentieth of a scan.
    gc.set_threshold(_COLLECT_AFTER)
    atexit.register(_skip_last_collections)
    try:
        app(arguments, prog_name="seasoned")
    except SeasonedError as error:
        # Only our own errors: any other exception is a bug, and its traceback helps to fix it.
        _complain(str(error))
        sys.exit(error.exit_code)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("seasoned"):
            raise
        _complain(missing_sentence(error.name))
        sys.exit(CannotDo.exit_code)


if __name__ == "__main__":
    main()
