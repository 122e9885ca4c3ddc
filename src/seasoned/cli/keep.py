"""`forget`, `export`, `backup`, `restore`: what the store keeps, and for how long."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from seasoned.cli.history import AsJson


def forget(
    what: Annotated[str | None, typer.Argument(help="A session's id, or the path of a source.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Everything that was ever read.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove what was learned from a session, from a source, or from everything. The histories stay as they are.

    Example: seasoned forget 53ea19c1
    """
    from seasoned.cli.output import plural, print_json
    from seasoned.cli.place import stored
    from seasoned.config import load
    from seasoned.errors import UsageError
    from seasoned.scan.settle import settle
    from seasoned.store.find import find_session
    from seasoned.store.keep import forget_sessions, forget_source

    if (what is None) == (not everything):
        raise UsageError("Say what to forget: a session's id, a source's path, or --all.")
    with stored(load()) as store:
        source = store.row("source.find", {"path": str(Path(what).absolute())}) if what else None
        if everything:
            chosen = [int(row["id"]) for row in store.rows("session.all_ids")]
            sentence = f"everything: {plural(len(chosen), 'session')}"
        elif source is not None:
            chosen = [int(row["id"]) for row in store.rows("session.of_source", {"source_id": source["id"]})]
            sentence = f"{plural(len(chosen), 'session')} from {source['path']}"
        else:
            found = find_session(store, what or "")
            chosen = [int(found["id"])]
            sentence = f"{found['agent']}:{found['native_id']} with {plural(found['calls'], 'call')}"
        if not yes and not typer.confirm(f"Forget {sentence}?"):
            raise typer.Exit(1)
        if source is not None:
            _, others = forget_source(store, source["id"])
        else:
            others = forget_sessions(store, chosen)
        if everything:
            for row in store.rows("source.all"):
                forget_source(store, row["id"])
        settle(store, others)
    if as_json:
        print_json("forget", {"sessions": len(chosen)})
    else:
        typer.echo(f"Forgot {sentence}.")


def export(
    to: Annotated[Path | None, typer.Option("--output", "-o", help="A file; without it, standard output.")] = None,
) -> None:
    """Write everything the store knows as JSON lines: sources, sessions, calls. All of it is redacted.

    Example: seasoned export -o seasoned.jsonl
    """
    import sys

    from seasoned.cli.place import stored
    from seasoned.config import load
    from seasoned.errors import CannotDo
    from seasoned.store.export import export_lines

    with stored(load()) as store:
        if to is None:
            for line in export_lines(store):
                sys.stdout.write(line)
            return
        try:
            with to.open("x", encoding="utf-8") as file:
                to.chmod(0o600)
                for line in export_lines(store):
                    file.write(line)
        except FileExistsError:
            raise CannotDo(f"{str(to)!r} exists already: name a new file.") from None
        except OSError as error:
            raise CannotDo(f"{str(to)!r} cannot be written: {error.strerror or error}.") from error
    typer.echo(f"Wrote {to}.")


def backup(to: Annotated[Path, typer.Argument(help="A new file for the copy.")]) -> None:
    """Copy the whole store into one file, also while others write to it.

    Example: seasoned backup ~/seasoned-backup.db
    """
    from seasoned.cli.place import stored
    from seasoned.config import load
    from seasoned.store.keep import back_up

    with stored(load()) as store:
        back_up(store, to)
    typer.echo(f"Wrote {to}.")


def restore(
    backup: Annotated[Path, typer.Argument(help="A file that `seasoned backup` wrote.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Put a backup in the place of the store. The present store is kept beside it.

    Example: seasoned restore ~/seasoned-backup.db
    """
    from seasoned.config import load
    from seasoned.store.database import make_private_folder
    from seasoned.store.keep import restore as put_back

    config = load()
    if config.store_path.exists() and not yes and not typer.confirm(f"Replace {config.store_path}?"):
        raise typer.Exit(1)
    make_private_folder(config.home)
    kept = put_back(backup, config.store_path)
    typer.echo(f"Restored {config.store_path}." + (f" The store that was there is {kept}." if kept else ""))
