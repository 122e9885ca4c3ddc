"""The entry point: `seasoned`. Commands import what they need when they run, so that help answers at once."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from seasoned import __version__
from seasoned.cli import history, keep, outcome, state, up
from seasoned.errors import SeasonedError

app = typer.Typer(
    name="seasoned",
    help="Gives every new agent session the experience of the best earlier ones, and proves whether it helped.",
    epilog="Start with `seasoned up`: it reads the histories your agents already keep and shows what they say.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"seasoned {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    pass


app.command("up")(up.up)
app.command("scan")(history.scan)
app.command("sessions")(history.sessions)
app.command("show")(history.show)
app.command("judge")(outcome.judge)
app.command("agreement")(outcome.agreement)
app.command("redact")(state.redact)
app.command("forget")(keep.forget)
app.command("export")(keep.export)
app.command("backup")(keep.backup)
app.command("restore")(keep.restore)
app.command("doctor")(state.doctor)
config_app = typer.Typer(help="The configuration in force.", no_args_is_help=True, rich_markup_mode=None)
config_app.command("show")(state.config_show)
app.add_typer(config_app, name="config")


def main() -> None:
    """Run the command line. Errors are one sentence on stderr, without a traceback."""
    arguments = sys.argv[1:]
    if "--blind" in arguments[:-1] and arguments[arguments.index("--blind") + 1] == "strict":
        # `--blind strict` reads as a value, but a flag cannot take one: say it with two flags.
        arguments[arguments.index("--blind") + 1] = "--strict"
    try:
        app(arguments)
    except SeasonedError as error:
        sys.stderr.write(f"seasoned: {error}\n")
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader of our output (head, less) has left: that is no error.
        sys.stderr.close()
        sys.exit(0)


if __name__ == "__main__":
    main()
