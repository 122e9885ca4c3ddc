"""What `memory` and `skill` share: the desk, how replies are told, and a person's last word on changes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from seasoned.cli.options import json_option

if TYPE_CHECKING:
    from seasoned.agent.memory.journal import Change, Journal, WriteReply
    from seasoned.config import Config
    from seasoned.store import Store

folder_option = click.option(
    "--folder", type=click.Path(path_type=Path, readable=False), help="Another folder than your own."
)


def memory_folder(config: Config, folder: Path | None = None) -> Path:
    """Where memory lies: the folder given, else the user's own."""
    return folder or config.memory_folder


def skill_folder(config: Config, folder: Path | None = None) -> Path:
    """Where skills lie: the folder given, else the user's own."""
    return folder or config.skill_folder


@contextmanager
def known_store(config: Config) -> Iterator[Store]:
    """What is known of changes; looking at it makes no store."""
    from seasoned.store import open_store
    from seasoned.store.database import open_temporary

    with open_store(config.store_path) if config.store_path.exists() else open_temporary() as store:
        yield store


@contextmanager
def desk_for(*, memory: Path | None = None, skills: Path | None = None) -> Iterator[Journal]:
    """The user's desk, with the store open."""
    from seasoned.agent.memory.journal import Journal
    from seasoned.config import load
    from seasoned.redact import Redactor, load_key
    from seasoned.store import open_store

    config = load()
    with open_store(config.store_path) as store:
        yield Journal(
            store=store,
            redactor=Redactor(load_key(config.home), config.redact),
            home=config.home,
            memory_folder=memory_folder(config, memory),
            skill_folder=skill_folder(config, skills),
        )


def tell(reply: WriteReply, as_json: bool) -> None:
    """Say what became of a write; what was refused ends with exit code 1."""
    from seasoned.cli.output import print_json

    if as_json:
        print_json("change", {"ok": reply.ok, "state": reply.state, "change": reply.change, "said": reply.said})
    else:
        number = f" (change {reply.change})" if reply.state == "kept" and reply.change else ""
        click.echo(reply.said + number, err=not reply.ok)
    if not reply.ok:
        raise click.exceptions.Exit(1)


def text_of(text: str | None, file: Path | None) -> str:
    """A text given as an argument, in a file, or on standard input (`-`)."""
    import sys

    from seasoned.errors import CannotDo, UsageError

    if (text is None) == (file is None):
        raise UsageError("Give the text itself, or a file with --from (`-` is standard input).")
    if file is None:
        return text or ""
    try:
        data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        return data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CannotDo(f"{str(file)!r} cannot be read as text: {error}.") from error


def add_decisions(group: click.Group, kind: Literal["memory", "skill"]) -> None:
    """Give a group its history, and the commands by which a person decides."""

    def history(limit: int, waiting: bool, as_json: bool) -> None:
        _show_changes(kind, limit, waiting=waiting, as_json=as_json)

    history.__doc__ = f"""Show changes with who made them, the newest first.

    \b
    Example: seasoned {kind} history --waiting
    """
    history = click.option("--waiting", is_flag=True, help="Only those that wait for a person.")(json_option(history))
    history = click.option("--limit", default=50, show_default=True, help="At most so many.")(history)
    group.command("history")(history)
    _add_decision(group, kind, "undo", "Take a change back; what came after it stays.")
    _add_decision(group, kind, "accept", "Make a change that waits.")
    _add_decision(group, kind, "reject", "Drop a change that waits.")


def _add_decision(group: click.Group, kind: str, name: str, sentence: str) -> None:
    def decide(change: int, as_json: bool) -> None:
        from seasoned.agent.memory import undo

        with desk_for() as desk:
            reply = getattr(undo, name)(desk, change)
        tell(reply, as_json)

    decide.__doc__ = f"""{sentence}

    \b
    Example: seasoned {kind} {name} 12
    """
    group.command(name)(click.argument("change", type=int)(json_option(decide)))


def _show_changes(kind: Literal["memory", "skill"], limit: int, *, waiting: bool, as_json: bool) -> None:
    from seasoned.agent.memory.journal import changes
    from seasoned.cli.output import print_json, table, when
    from seasoned.config import load

    with known_store(load()) as store:
        found = changes(store, kind=kind, state="staged" if waiting else None, limit=limit)
    if as_json:
        print_json("changes", {"changes": [_answer(change) for change in found]})
        return
    if not found:
        click.echo("No changes wait." if waiting else "No changes yet.")
        return
    table(
        ["change", "when", "state", "by", "action", "what", "session"],
        [(one.id, when(one.at), one.state, one.actor, one.action, _what(one), one.session) for one in found],
        right=["change"],
    )


def _what(change: Change) -> str:
    from seasoned.agent.memory.journal import preview

    if change.kind == "memory":
        return f"{change.target}: {preview(change.after or change.before or '')}"
    return f"{change.target}/{change.file}"


def _answer(change: Change) -> dict[str, Any]:
    import msgspec

    return msgspec.structs.asdict(change)
