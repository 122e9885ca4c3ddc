"""Forgets sessions in the folders that this home mined into.

The store's list of forgotten sessions is the truth: what cannot be reached now, the next `seasoned mine` rewrites.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path

import msgspec

from seasoned.app.extras import require
from seasoned.app.stores import kept_secrecy
from seasoned.app.team.background import token_file
from seasoned.atomic_write import write_atomic
from seasoned.config import Config
from seasoned.errors import SeasonedError, UsageError
from seasoned.file_lock import locked
from seasoned.store import open_store
from seasoned.team.record import session_key
from seasoned.text import plural

_FOLDERS = "mined-folders.json"


def note_folder(config: Config, out: str) -> None:
    """Keep in mind that something is mined into a folder."""
    known = _folders(config)
    if out not in known:
        content = msgspec.json.encode(sorted({*known, out}))
        write_atomic(config.home / _FOLDERS, content, unfinished=config.home / "unfinished")


def forgotten_sessions(config: Config) -> list[tuple[str, str]]:
    """The sessions that were forgotten, by agent and id."""
    if not config.store_path.exists():
        return []
    with open_store(config.store_path) as store:
        return [(row["agent"], row["native_id"]) for row in store.rows("session.forgotten") if row["agent"] != "*"]


def find_mined(config: Config, what: str) -> str | None:
    """The session, as agent:id, that mined folders hold under an id or the beginning of one; None if none does."""
    found: set[str] = set()
    for out in _folders(config):
        require("Looking into a mined folder", "mine", "pyarrow", "fsspec")
        from seasoned.mine.folder import MinedFolder

        try:
            folder = MinedFolder(out)
            for project in {one for each in folder.sources()["projects"].to_pylist() for one in each}:
                sessions = folder.sessions(project)
                refs = zip(sessions["agent"].to_pylist(), sessions["native_id"].to_pylist(), strict=True)
                found |= {f"{agent}:{native_id}" for agent, native_id in refs if native_id.startswith(what)}
        except (SeasonedError, OSError):
            continue  # out of reach now; the session may be in another folder
    whole = {ref for ref in found if ref.partition(":")[2] == what}
    if len(whole or found) > 1:
        raise UsageError(f"{what!r} is the beginning of {plural(len(found), 'mined session')}. Give the whole id.")
    return next(iter(whole or found), None)


def forget_mined(config: Config, refs: Sequence[str], *, is_everything: bool) -> list[str]:
    """Remove sessions, named as agent:id, from mined folders; sentences about where they still are."""
    left = []
    for out in _folders(config):
        try:
            require("Forgetting in a mined folder", "mine", "pyarrow", "fsspec")
            if "://" in out and is_everything:
                left.append(f"The mined folder {out}, which others may use too. Remove it if it is yours alone.")
            else:
                _forget_in(config, out, refs, is_everything=is_everything)
        except (SeasonedError, OSError) as error:
            left.append(f"Rows in the mined folder {out}, until the next `seasoned mine --out {out}`. {error}")
    return left + [reason for out in _folders(config) for reason in _withdraw(config, out, refs, is_everything)]


def remember_mined(config: Config, refs: Sequence[tuple[str, str]]) -> None:
    """Let the next run read forgotten sessions again."""
    for out in _folders(config):
        require("Remembering in a mined folder", "mine", "pyarrow", "fsspec")
        from seasoned.mine.folder import MinedFolder
        from seasoned.mine.run import remember

        remember(MinedFolder(out), refs)


def _folders(config: Config) -> list[str]:
    """Folders that were mined into and are still there, as far as that can be seen from here."""
    file = config.home / _FOLDERS
    noted = msgspec.json.decode(file.read_bytes(), type=list[str]) if file.exists() else []
    return [out for out in sorted({*noted, str(config.home / "mined")}) if "://" in out or Path(out).is_dir()]


def _forget_in(config: Config, out: str, refs: Sequence[str], *, is_everything: bool) -> None:
    from seasoned.mine.engine import InlineEngine
    from seasoned.mine.folder import MinedFolder
    from seasoned.mine.run import mine

    with locked(Path(out) / "_lock", wait_seconds=1.0) if "://" not in out else nullcontext():
        if is_everything:
            MinedFolder(out).clear()
        else:
            named = [(agent, native_id) for agent, _, native_id in (ref.partition(":") for ref in refs)]
            mine([], out, kept_secrecy(config), InlineEngine(), forgotten=named)


def _withdraw(config: Config, out: str, refs: Sequence[str], is_everything: bool) -> list[str]:
    """Have the team's server forget what came from a mined folder."""
    if not token_file(config).exists() or find_spec("pyarrow") is None:
        return []
    from seasoned.app.mine.push import withdraw_mined

    try:
        withdraw_mined(config, out, None if is_everything else {session_key(ref) for ref in refs})
    except (SeasonedError, OSError) as error:
        return [f"Records on the team's server, until the next `seasoned mine --out {out} --into` it. {error}"]
    return []
