"""`forget`, `export`, `backup`, `restore`: what the store keeps, and for how long."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seasoned.cli.options import json_option, yes_option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from seasoned.config import Config
    from seasoned.store import Database, Store
    from seasoned.store.forget import Asked


@click.command()
@click.argument("what", required=False, metavar="[SESSION|SOURCE]")
@click.option("--all", "everything", is_flag=True, help="Everything that was ever read.")
@click.option("--undo", is_flag=True, help="Let a forgotten session be read again by the next scan.")
@yes_option
@json_option
def forget(what: str | None, everything: bool, undo: bool, yes: bool, as_json: bool) -> None:
    """Remove what was learned from a session, from a source, or from everything.

    What it taught goes too: examples, reviews, entries of memory and changes of skills. What is forgotten stays
    forgotten: later scans leave it out. The histories themselves are not touched. What a session asked a person for
    stays in the audit, redacted.

    \b
    Example: seasoned forget 53ea19c1
    """
    from seasoned.app.stores import stored
    from seasoned.cli.output import print_json
    from seasoned.config import load
    from seasoned.errors import UsageError

    if (what is None) == (not everything):
        raise UsageError("Say what to forget: a session's id, a source's path, or --all.")
    config = load()
    with stored(config) as store:
        if undo:
            answer = _undo(store, what or "")
        else:
            with shared(config, store) as database:
                answer = _forget(store, database, what, yes=yes)
    if as_json:
        print_json("forget", answer)
    else:
        click.echo(answer["said"])
        for sentence in answer.get("left", ()):
            click.echo(f"Still there: {sentence}", err=True)


def _undo(store: Store, native_id: str) -> dict[str, Any]:
    from seasoned.errors import NotFound
    from seasoned.store.backup import undo_forget

    if not undo_forget(store, native_id):
        raise NotFound(f"No session {native_id!r} was forgotten: give its whole id.")
    return {"sessions": 1, "said": f"{native_id} may be read again: run `seasoned scan`."}


def _forget(store: Store, database: Database, what: str | None, *, yes: bool) -> dict[str, Any]:
    import time

    from seasoned.scan.aggregates import update_aggregates
    from seasoned.store.backup import forget_everything, forget_sessions, forget_source
    from seasoned.store.forget import count_asked, forget_elsewhere, refs_of
    from seasoned.store.search import find_session
    from seasoned.text import plural

    source = store.row("source.find", {"path": str(Path(what).absolute())}) if what else None
    if what is None:
        sessions = [int(row["id"]) for row in store.rows("session.all_ids")]
        number = len(sessions)
        sentence = f"everything: {plural(number, 'session')}"
    elif source is not None:
        sessions = [int(row["id"]) for row in store.rows("session.of_source", {"source_id": source["id"]})]
        number = len(sessions)
        sentence = f"{plural(number, 'session')} from {source['path']}"
    else:
        found = find_session(store, what)
        sessions, number = [int(found["id"])], 1
        sentence = f"{found['agent']}:{found['native_id']} with {plural(found['calls'], 'call')}"
    if not yes and not click.confirm(f"Forget {sentence}?"):
        raise click.exceptions.Exit(1)
    left = _take_back(store, None if what is None else sessions)
    refs = refs_of(store, sessions)
    left += _said_of(count_asked(database, refs))
    if database is not store:
        # First what is elsewhere: where that fails the sessions are still here, and can be forgotten again.
        forget_elsewhere(database, refs)
    if what is None:
        forget_everything(store)
    elif source is not None:
        update_aggregates(store, forget_source(store, source["id"], now=time.time()))
    else:
        update_aggregates(store, forget_sessions(store, sessions, now=time.time()))
    return {"sessions": number, "said": f"Forgot {sentence}.", "left": left}


def _said_of(asked: Asked) -> list[str]:
    """What is not erased of what people were asked, and why."""
    from seasoned.text import plural

    if not asked.requests:
        return []
    waits = f"; {asked.pending} of them still waiting" if asked.pending else ""
    why = "what a person was asked and decided is never erased or changed, so that the audit can be verified"
    return [f"{plural(asked.requests, 'request')} for confirmation, redacted{waits}: {why}."]


@contextmanager
def shared(config: Config, store: Store) -> Iterator[Database]:
    """Where requests and scheduled runs are: the database that machines share, or the store itself."""
    from seasoned.store import open_database

    if not config.database_url:
        yield store
        return
    database = open_database(config)
    try:
        yield database
    finally:
        database.close()


def _take_back(store: Store, sessions: list[int] | None) -> list[str]:
    """Undo in memory and skills what sessions taught, all of them for None; what could not be undone, in sentences."""
    taught = {row["ref"] for row in store.rows("forget.taught")}
    if sessions is not None:
        rows = (store.row("forget.ref", {"id": one}) for one in sessions)
        taught &= {f"{row['agent']}:{row['native_id']}" for row in rows if row is not None}
    if not taught:
        return []
    # Imported here: most sessions taught neither memory nor skills.
    from seasoned.agent.memory.journal import Journal
    from seasoned.agent.memory.undo import forget as take_back
    from seasoned.app.stores import key_of
    from seasoned.cli.change import memory_folder, skill_folder
    from seasoned.config import load
    from seasoned.redact import Redactor

    config = load()
    desk = Journal(
        store=store,
        redactor=Redactor(key_of(config)[0], config.redact),
        home=config.home,
        memory_folder=memory_folder(config),
        skill_folder=skill_folder(config),
    )
    return [reply.said for reply in take_back(desk, *sorted(taught))]


@click.command()
@click.option(
    "--output", "-o", "to", type=click.Path(path_type=Path, readable=False), help="A file; without it, standard output."
)
def export(to: Path | None) -> None:
    """Write everything the store knows as JSON lines, all of it redacted.

    Sources, sessions, calls, requests for confirmation and runs of the schedule.

    \b
    Example: seasoned export -o seasoned.jsonl
    """
    import sys

    from seasoned.app.stores import stored
    from seasoned.config import load
    from seasoned.errors import CannotDo
    from seasoned.store.backup import export_lines

    config = load()
    with stored(config) as store, shared(config, store) as database:
        if to is None:
            for line in export_lines(store, database):
                sys.stdout.write(line)
            return
        try:
            with to.open("x", encoding="utf-8") as file:
                to.chmod(0o600)
                for line in export_lines(store, database):
                    file.write(line)
        except FileExistsError:
            raise CannotDo(f"{str(to)!r} exists already: name a new file.") from None
        except OSError as error:
            raise CannotDo(f"{str(to)!r} cannot be written: {error.strerror or error}.") from error
    click.echo(f"Wrote {to}.")


@click.command()
@click.argument("to", metavar="FILE", type=click.Path(path_type=Path, readable=False))
def backup(to: Path) -> None:
    """Copy the whole store into one file, also while others write to it.

    \b
    Example: seasoned backup ~/seasoned-backup.db
    """
    from seasoned.app.stores import stored
    from seasoned.config import load
    from seasoned.store.backup import back_up

    with stored(load()) as store:
        back_up(store, to)
    click.echo(f"Wrote {to}.")


@click.command()
@click.argument("backup", metavar="FILE", type=click.Path(path_type=Path, readable=False))
@yes_option
def restore(backup: Path, yes: bool) -> None:
    """Put a backup in the place of the store. The present store is kept beside it.

    \b
    Example: seasoned restore ~/seasoned-backup.db
    """
    from seasoned.atomic_write import make_private_folder
    from seasoned.config import load
    from seasoned.store.backup import restore as put_back

    config = load()
    if config.store_path.exists() and not yes and not click.confirm(f"Replace {config.store_path}?"):
        raise click.exceptions.Exit(1)
    make_private_folder(config.home)
    kept = put_back(backup, config.store_path)
    click.echo(f"Restored {config.store_path}." + (f" The store that was there is {kept}." if kept else ""))
