"""Arguments and options that several commands share, and the group that lists them in help."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from pathlib import Path

import click

from seasoned.errors import UsageError

PATHS_HELP = (
    "PATH: files, folders or databases. Without one, the store is used if it has sessions, "
    "else your own agents' histories are read."
)
# For commands that read into the store.
OWN_PATHS_HELP = (
    "PATH: files, folders, databases, or acp:COMMAND, which starts an agent and asks it for its sessions. Without one, "
    "your own agents' histories are read."
)
# readable=False: click would check before the command runs, and its message says nothing about what to do.
file_type = click.Path(path_type=Path, dir_okay=False, readable=False)
paths_argument = click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(path_type=Path, readable=False))

_JSON = "seasoned.json"


def wants_json() -> bool:
    """Whether the running command was asked for JSON."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_JSON))


# Functions ask `answered` or `wants_json`, so that no command has to pass it on.
json_option = click.option(
    "--json",
    is_flag=True,
    expose_value=False,
    callback=lambda context, _, is_asked: context.meta.update({_JSON: is_asked}),
    help="Print JSON for programs.",
)
project_option = click.option(
    "--project", metavar="PROJECT", help="Only one project: its key, name or folder. Default: that of this folder."
)
all_option = click.option("--all", "everything", is_flag=True, help="All projects, even in the folder of one.")
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


def agrees(question: str, *, yes: bool) -> bool:
    """Whether to go on: with --yes without asking. A program that reads JSON cannot answer a question."""
    if wants_json() and not yes:
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


# Times as people write them: `yesterday`, `monday`, `3 days ago`, `last month`, `2026-11-05`, `2026-11-05 14:30`.
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_AGO = re.compile(r"(\d{1,5}) ?(hour|h|day|d|week|w)s?(?: ago)?")
_DAY = timedelta(days=1)
_EXAMPLES = "yesterday, monday, last week, 3 days ago, 2026-11-05"


def span_of(text: str, now: datetime) -> tuple[datetime, datetime]:
    """The beginning and the end of the time that a text names, seen from now; ValueError if it names none."""
    said = " ".join(text.lower().split())
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if said in ("today", "yesterday"):
        start = today if said == "today" else today - _DAY
        return start, start + _DAY
    if said.removeprefix("last ") in _WEEKDAYS:
        back = (today.weekday() - _WEEKDAYS.index(said.removeprefix("last "))) % 7
        # On a Monday, `monday` is today, and `last monday` a week ago.
        start = today - (back or (7 if said.startswith("last ") else 0)) * _DAY
        return start, start + _DAY
    if said in ("this week", "last week"):
        start = today - (today.weekday() + (7 if said == "last week" else 0)) * _DAY
        return start, start + 7 * _DAY
    if said in ("this month", "last month"):
        start = today.replace(day=1)
        return _month(start if said == "this month" else start - _DAY)
    if (ago := _AGO.fullmatch(said)) is not None:
        count, unit = int(ago[1]), ago[2][0]
        if unit == "h":
            return now - timedelta(hours=count), now
        start = today - count * (7 if unit == "w" else 1) * _DAY
        return start, start + _DAY
    if re.fullmatch(r"\d{4}-\d\d", said):
        return _month(datetime.fromisoformat(f"{said}-01"))
    start = datetime.fromisoformat(said)
    return start, start + (_DAY if len(said) == len("2026-11-05") else timedelta())


def _month(day: datetime) -> tuple[datetime, datetime]:
    """The month of a day."""
    start = day.replace(day=1)
    return start, (start + 31 * _DAY).replace(day=1)


class Moment(click.ParamType[float]):
    """A time as seconds since 1970: when what the text names begins or, with `is_end`, when it ends."""

    name = "when"

    def __init__(self, *, is_end: bool = False) -> None:
        self._is_end = is_end

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        try:
            # Without a zone: `timestamp` takes it for a time here, also across the change to summer time.
            return span_of(str(value), datetime.now())[self._is_end].timestamp()
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is not a time. Write one like these: {_EXAMPLES}.", param, ctx)


since_option = click.option(
    "--since", type=Moment(), metavar="WHEN", help='Only since then: yesterday, "last week", "3 days ago", 2026-11-05.'
)
until_option = click.option("--until", type=Moment(is_end=True), metavar="WHEN", help="Only up to the end of then.")
