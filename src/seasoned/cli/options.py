"""Arguments and options that several commands share, and the group that lists them in help."""

from __future__ import annotations

from pathlib import Path

import click

from seasoned.errors import UsageError

PATHS_HELP = (
    "PATH: files, folders or databases. Without one, the store is used if it has sessions, "
    "else your own agents' histories are read."
)
# For commands that read into the store.
OWN_PATHS_HELP = "PATH: files, folders or databases. Without one, your own agents' histories are read."
# readable=False: click would check before the command runs, and its message says nothing about what to do.
file_type = click.Path(path_type=Path, dir_okay=False, readable=False)
paths_argument = click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(path_type=Path, readable=False))
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
project_option = click.option(
    "--project", metavar="PROJECT", help="Only one project: its key, name or folder. Default: that of this folder."
)
all_option = click.option("--all", "everything", is_flag=True, help="All projects, even in the folder of one.")
verbose_option = click.option("--verbose", "-v", is_flag=True, help="Print the log to the terminal as well.")
yes_option = click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
FORMATS = click.Choice(["openai", "responses", "anthropic", "hermes", "pydantic-ai", "text"])
FORMS = click.Choice(["messages", "text"])
TASK_TYPES = click.Choice(["code", "file", "research", "mixed"])
tls_certificate_option = click.option(
    "--tls-cert", "tls_certificate", type=file_type, help="TLS certificate, to listen beyond this machine."
)
tls_key_option = click.option("--tls-key", type=file_type, help="The certificate's key.")
plain_option = click.option(
    "--insecure-listen", "allow_plain", is_flag=True, help="Listen beyond this machine without TLS, behind a TLS proxy."
)
dry_run_option = click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
model_option = click.option(
    "--model", help="openai:NAME, anthropic:NAME, local, local:/path/model.gguf, or a name at --base-url."
)
base_url_option = click.option("--base-url", help="An OpenAI-compatible server, such as http://127.0.0.1:11434/v1.")
include_option = click.option(
    "--include",
    multiple=True,
    type=click.Choice(["declined", "cancelled", "interrupted", "trivial"]),
    help="Count these calls too; by default they are left out.",
)


def words_in(text: str) -> list[str]:
    """The words of a list such as "a, b,": spaces and empty words are dropped."""
    return [word.strip() for word in text.split(",") if word.strip()]


def agrees(question: str, *, yes: bool, as_json: bool) -> bool:
    """Whether to go on: with --yes without asking. A program that reads JSON cannot answer a question."""
    if as_json and not yes:
        raise UsageError("--json asks no questions. Add --yes, or --dry-run to only look.")
    return yes or click.confirm(question)


class Commands(click.Group):
    """A group that lists each command with one short line, without a full stop."""

    def help_line(self, ctx: click.Context, name: str) -> str:
        """What the list says about a command."""
        command = self.get_command(ctx, name)
        assert command is not None
        # The default limit cuts lines with "…"; ours are at most 55 characters, which a test checks.
        return command.get_short_help_str(limit=200).rstrip(".")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.help_line(ctx, name)) for name in self.list_commands(ctx)])


# Groups inside a group list their commands in the same way.
Commands.group_class = Commands
