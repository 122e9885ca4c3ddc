"""The user's data and setup: `forget`, `export`, `backup`, `restore`, `redact`, `doctor`, `config`, `mine`, `query`."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click
from msgspec.structs import asdict

from seasoned.app import forget as forgetting
from seasoned.app.doctor import run_checks, settings
from seasoned.app.mine import ask, make_engine, mine_into_folder, mined_address
from seasoned.app.stores import make_redactor, own_store, shared_database
from seasoned.cli.options import agrees, json_option, yes_option
from seasoned.cli.output import ReadingBar, answered, as_fields, read_sentence, records, say, table, write_new_file
from seasoned.cli.project import print_passed_over
from seasoned.config import load
from seasoned.errors import CannotDo, NotFound, SourceError, UsageError
from seasoned.store.backup import back_up, export_lines
from seasoned.text import plural

_path = click.Path(path_type=Path, readable=False)


@click.command()
@click.argument("what", required=False, metavar="[SESSION|SOURCE]")
@click.option("--all", "everything", is_flag=True, help="Forget everything that was ever read.")
@click.option("--undo", is_flag=True, help="Let the next scan read a forgotten session again.")
@yes_option
@json_option
def forget(what: str | None, everything: bool, undo: bool, yes: bool) -> None:
    """Forget a session, a source or everything.

    What was learned from it goes too: examples, reviews, memory entries and skill changes. Later scans and
    mining leave it out; folders that you mined into keep their rows until you delete them. The histories themselves
    are not touched. Confirmation requests stay in the audit, redacted.

    \b
    Example: seasoned forget 53ea19c1
    """
    # Exactly one of the two: a bare `forget` must never mean everything.
    if (what is None) == (not everything):
        raise UsageError("Say what to forget: a session id, a source path, or --all.")
    config = load()
    with own_store(config) as store:
        if undo:
            forgetting.remember(store, what or "")
            left, count, said = [], 1, f"{what} may be read again. Run `seasoned scan`."
        else:
            target = forgetting.find_target(store, what)
            # Asks with the number of sessions, which shows a wrong path before it is too late.
            if not agrees(f"Forget {target.sentence}?", yes=yes):
                raise click.exceptions.Exit(1)
            left = forgetting.forget(config, store, target)
            count, said = len(target.sessions), f"Forgot {target.sentence}."
    if answered("forget", {"sessions": count, "said": said, "left": left}):
        return
    say(said)
    # What stays is said, never hidden: the user asked for all of it to go.
    for sentence in left:
        say(f"Still there: {sentence}", err=True)


@click.command()
@click.argument("sessions", nargs=-1, metavar="[SESSION|PATH]...")
@click.option(
    "--format",
    "format",
    type=click.Choice(("atif", "otel", "jsonl", "agent-trace")),
    help="Export sessions, in this form.",
)
@click.option("--output", "-o", "to", type=_path, help="Write to this new file instead of standard output.")
def export(sessions: tuple[str, ...], format: str | None, to: Path | None) -> None:
    """Export the store or sessions, redacted, as JSON lines.

    Without --format: every row of the store. With it, a line for each SESSION, each under PATH, or all of the store:
    atif (trajectories, version 1.8), otel (spans for an OpenTelemetry collector) or jsonl (chat messages). One
    session is one document. agent-trace writes a line for each commit that a session made: which lines it wrote.

    \b
    Example: seasoned export 53ea19c1 --format atif -o session.json
    """
    config = load()
    if format is not None:
        # Imported here: exporting the store needs no reader.
        from seasoned.app.messages import export_sessions

        missing: list[str] = []
        _write(export_sessions(config, sessions, format, left_out=lambda ref, why: missing.append(f"{ref}: {why}")), to)
        for sentence in missing:
            say(f"Left out {sentence}", err=True)
        return
    if sessions:
        raise UsageError("Say in which form to export sessions: --format atif, otel, jsonl or agent-trace.")
    with (
        own_store(config) as store,
        # Requests and runs are in the shared database if there is one, else in the store itself.
        shared_database(config) if config.database_url else nullcontext(store) as database,
    ):
        _write(export_lines(store, database), to)


def _write(lines: Iterable[str], to: Path | None) -> None:
    if to is None:
        # Line by line, so that a store of any size fits through a pipe.
        sys.stdout.writelines(lines)
        return
    write_new_file(to, lines)
    say(f"Wrote {to}.")


@click.command()
@click.argument("to", metavar="FILE", type=_path)
def backup(to: Path) -> None:
    """Back up the store.

    Copies it into one file, also while other commands write to it.

    \b
    Example: seasoned backup ~/seasoned-backup.db
    """
    with own_store(load()) as store:
        back_up(store, to)
    say(f"Wrote {to}.")


@click.command()
@click.argument("backup", metavar="FILE", type=_path)
@yes_option
def restore(backup: Path, yes: bool) -> None:
    """Restore the store from a backup.

    The present store is kept next to it. Confirmations stay as they are now, so that no approval is used twice. Asks
    for an admin's passphrase if there is one, and refuses while a service runs.

    \b
    Example: seasoned restore ~/seasoned-backup.db
    """
    config = load()
    # Of a backup that does not exist the restore says so by itself: there is nothing to ask.
    asks = backup.exists() and config.store_path.exists()
    if asks and not agrees(f"Replace {config.store_path}?", yes=yes):
        raise click.exceptions.Exit(1)
    from seasoned.app.confirm import restore_backup
    from seasoned.cli.confirm_people import ask_passphrase

    previous = restore_backup(config, backup, ask=ask_passphrase, clock=time.time)
    say(f"Restored {config.store_path}." + (f" The previous store is {previous}." if previous else ""))


@click.command()
@click.argument("file", required=False, type=_path)
def redact(file: Path | None) -> None:
    """Remove secrets and personal data from text.

    They are replaced by tags. Without FILE, standard input is read.

    \b
    Example: seasoned redact session.jsonl > shareable.jsonl
    """
    # With the user's own key, so that a secret has the same tag here as in the store.
    redactor = make_redactor(load())
    try:
        data = sys.stdin.buffer.read() if file is None else file.read_bytes()
    except FileNotFoundError:
        raise NotFound(f"{str(file)!r} does not exist. Check the path.") from None
    except OSError as error:
        raise SourceError(f"{str(file)!r} cannot be read: {error.strerror or error}.") from error
    # Bytes that are not UTF-8 pass through unchanged.
    sys.stdout.buffer.write(redactor.text(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape"))
    sys.stdout.buffer.flush()


@click.command()
@json_option
def doctor() -> None:
    """Check the store, the histories and the setup.

    Exits with 1 when a check fails.

    \b
    Example: seasoned doctor
    """
    checks = run_checks(load())
    is_sound = all(check.ok for check in checks)
    if not answered("doctor", {"ok": is_sound, "checks": [as_fields(check) for check in checks]}):
        from rich.text import Text

        marks = [Text("ok", "green") if one.ok else Text("!!", "bold red") for one in checks]
        rows = [(mark, one.name, one.finding) for mark, one in zip(marks, checks, strict=True)]
        table(["", "check", "finding"], rows, nowrap=["check"])
    # After printing, so that a script and a person both get what they need.
    if not is_sound:
        raise click.exceptions.Exit(1)


@click.command("config")
@json_option
def show_config() -> None:
    """Show every setting and where it came from.

    \b
    Example: seasoned config --json
    """
    config = load()
    # Reads a key but writes none: showing settings leaves no file behind.
    found = settings(config, make_redactor(config))
    values = {one.name: as_fields({"value": one.value, "from": one.origin}) for one in found}
    if not answered("config", {"settings": values}):
        records(found, "setting=name value from=origin")


_out_option = click.option(
    "--out", metavar="FOLDER|URL", help="The mined folder, or an address that fsspec knows. Default: ~/.seasoned/mined."
)


@click.command()
@click.argument("paths", metavar="[PATH|URL]...", nargs=-1)
@_out_option
@click.option(
    "--engine",
    type=click.Choice(["inline", "pool", "dask"]),
    default="pool",
    show_default=True,
    help="Where the work is done: in this process, in several, or on a Dask cluster.",
)
@click.option("--scheduler", metavar="ADDRESS", help="The Dask scheduler, such as tcp://host:8786.")
@json_option
def mine(paths: tuple[str, ...], out: str | None, engine: str, scheduler: str | None) -> None:
    """Mine histories of any size into Parquet.

    Judged and redacted calls and sessions, by project and day. Only what is new is read, and the result is the same on
    every engine.

    PATH: files, folders, databases, or addresses such as s3://bucket/folder. Without one, your own agents' histories
    are read.

    \b
    Example: seasoned mine s3://logs/agents --engine dask --scheduler tcp://host:8786 --out s3://logs/mined
    """
    config = load()
    address = mined_address(config, out)
    where = make_engine(config, engine, scheduler=scheduler)
    report = mine_into_folder(config, paths, out=address, engine=where, progress=ReadingBar)
    if not answered("mine", {"out": address, "mined": asdict(report)}):
        say(read_sentence("Mined", report))
    print_passed_over(report.failures)
    if report.failures and not report.read and not report.unchanged:
        raise CannotDo("Nothing was mined. Run the same command again to continue.")


@click.command()
@click.argument("sql", metavar="SQL")
@_out_option
@click.option("--limit", type=click.IntRange(1), default=100, show_default=True, help="Print at most so many rows.")
@json_option
def query(sql: str, out: str | None, limit: int) -> None:
    """Ask a question in SQL about mined histories.

    One SELECT over the tables calls, sessions and sources. DuckDB answers it, and can reach nothing but these tables.

    \b
    Example: seasoned query "SELECT tool, count(*) FROM calls WHERE verdict = 'failed' GROUP BY 1 ORDER BY 2 DESC"
    """
    answer = ask(mined_address(load(), out), sql, limit=limit)
    # Lists rather than objects: two columns may have the same name.
    rows = [list(map(_plain, row)) for row in answer.rows]
    if answered("query", {"columns": answer.columns, "rows": rows, "is_cut": answer.is_cut}):
        return
    table(answer.columns, answer.rows)
    if answer.is_cut:
        say(f"Only the first {plural(limit, 'row')}. --limit prints more.", err=True)


def _plain(value: Any) -> Any:
    """A value that JSON has."""
    return value if value is None or isinstance(value, str | int | float | bool | list | dict) else str(value)
