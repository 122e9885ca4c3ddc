"""Finds histories: the files under a path, or the folders where agents keep theirs."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from seasoned.config import Config
from seasoned.errors import NotFound, SeasonedError, SourceError

# How a command is named that starts an agent and asks it for its sessions, in place of a path.
ACP = "acp:"
DATABASES = (".db", ".sqlite", ".sqlite3", ".vscdb")
SUFFIXES = (".jsonl", ".json", ".ndjson", *DATABASES, ".eval", ".traj", ".aider.chat.history.md")
# Folders with many JSON files that are never histories.
_SKIPPED_FOLDERS = {"node_modules", ".git", "__pycache__", ".venv", "venv", "site-packages"}


class Candidate(msgspec.Struct, frozen=True):
    """A file that may hold a history."""

    path: str
    size: int
    mtime_ns: int
    named: bool  # the user gave this path: an error if it is not a history


def homes(config: Config) -> list[tuple[str, Path]]:
    """Where each agent keeps its histories on this machine, whether or not the path exists."""
    return [
        ("hermes", config.hermes_home / "state.db"),
        ("claude-code", config.claude_config_dir / "projects"),
        ("codex", config.codex_home / "sessions"),
        ("gemini", config.gemini_home / "tmp"),
        ("copilot", config.copilot_home / "session-state"),
        ("opencode", config.opencode_home),
        ("pi", config.pi_home / "sessions"),
        ("qwen", config.qwen_home / "projects"),
        # Where older versions kept theirs, as Gemini CLI does.
        ("qwen", config.qwen_home / "tmp"),
        *_other_homes(config.agents_home.expanduser()),
        *[("configured", Path(source).expanduser()) for source in config.sources],
    ]


# Where agents without a setting keep theirs, under the home folder.
_OTHERS = {
    "cline": (".cline/data/sessions", ".cline/data/tasks"),
    "goose": (".local/share/goose/sessions", "Library/Application Support/Block/goose/sessions"),
    "kilo": (".local/share/kilo", ".kilocode/cli/global/tasks"),
}
# Where the editors that share VS Code's structure keep what their extensions write: on Linux, macOS and Windows.
_SETTINGS = (".config", "Library/Application Support", "AppData/Roaming", ".vscode-server/data")
_EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf", "")
_IN_EDITORS = {
    "cline": "globalStorage/saoudrizwan.claude-dev/tasks",
    "roo": "globalStorage/rooveterinaryinc.roo-cline/tasks",
    "kilo": "globalStorage/kilocode.kilo-code/tasks",
    "cursor": "globalStorage/state.vscdb",
    "vscode": "globalStorage/emptyWindowChatSessions",
}


def _other_homes(home: Path) -> Iterator[tuple[str, Path]]:
    """Places of agents without a setting of their own: those that exist, of the rest the first."""
    for agent, places in _OTHERS.items():
        found = [home / place for place in places]
        yield from ((agent, path) for path in [path for path in found if path.exists()] or found[:1])
    for user in [home / settings / editor / "User" for settings in _SETTINGS for editor in _EDITORS]:
        if not user.is_dir():
            continue
        yield from ((agent, user / place) for agent, place in _IN_EDITORS.items() if (user / place).exists())
        yield from (("vscode", path) for path in sorted(user.glob("workspaceStorage/*/chatSessions")))


def discover(config: Config) -> list[Path]:
    """The homes that exist."""
    return [path for _, path in homes(config) if path.exists()]


def candidates(
    paths: Iterable[Path], *, named: bool = True, pass_over: Callable[[str, SeasonedError], None] | None = None
) -> Iterator[Candidate]:
    """Every file under the paths that could be a history, each once. `named`: the user gave these paths.

    `pass_over` is given each file or folder that cannot be used; without it, the first one raises.
    """
    seen: set[str] = set()
    for path in paths:
        for candidate in _under(path, named=named, pass_over=pass_over or _raise):
            if candidate.path not in seen:
                seen.add(candidate.path)
                yield candidate


def may_be_history(path: str) -> bool:
    """Whether a file could be a history by its path alone, for files that are not on this machine."""
    folder, _, name = path.rpartition("/")
    return name.endswith(SUFFIXES) and _SKIPPED_FOLDERS.isdisjoint(folder.split("/"))


def absolute_path(path: str | Path) -> str:
    """A path that does not depend on the present folder; the command of an agent stays as it is."""
    # Not Path.resolve, which would follow links and rename what the user named.
    return str(path) if str(path).startswith(ACP) else os.path.abspath(path)  # noqa: PTH100


def _raise(path: str, error: SeasonedError) -> None:
    raise error


def _under(path: Path, *, named: bool, pass_over: Callable[[str, SeasonedError], None]) -> Iterator[Candidate]:
    absolute = absolute_path(path)
    if absolute.startswith(ACP):
        # What it would say now is unknown before it is asked.
        yield Candidate(absolute, 0, time.time_ns(), named=named)
        return
    try:
        status = os.stat(absolute)  # noqa: PTH116 (thousands of files: os.stat is measurably quicker)
    except FileNotFoundError:
        # Never passed over: a path that does not exist is a mistake in the command.
        raise NotFound(f"{str(path)!r} does not exist: check the path.") from None
    except OSError as error:
        pass_over(absolute, SourceError(f"{str(path)!r} cannot be opened: {error.strerror or error}."))
        return
    if not stat.S_ISDIR(status.st_mode):
        if not stat.S_ISREG(status.st_mode):
            pass_over(absolute, _not_a_file(str(path)))
            return
        if named and not os.access(absolute, os.R_OK):
            pass_over(absolute, SourceError(f"{str(path)!r} cannot be read: permission denied."))
            return
        yield Candidate(absolute, status.st_size, _changed_ns(absolute, status), named=named)
        return
    is_empty = True
    for entry in _walk(absolute):
        is_empty = False
        if isinstance(entry, Candidate):
            yield entry
        else:
            pass_over(*entry)
    if named and is_empty:
        suffixes = ", ".join(SUFFIXES)
        pass_over(absolute, NotFound(f"{str(path)!r} holds no histories: no file in it ends in {suffixes}."))


def _not_a_file(path: str) -> SourceError:
    """A named pipe would never end and a device may never answer."""
    return SourceError(f"{path!r} is not a file but a pipe, socket or device: it is passed over.")


def _walk(folder: str) -> Iterator[Candidate | tuple[str, SourceError]]:
    """The files that could be histories, and the folders that cannot be opened."""
    try:
        # Sorted, so that of two copies the same one comes first on every run.
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        yield folder, SourceError(f"{folder!r} cannot be opened: {error.strerror or error}.")
        return
    for entry in entries:
        # Links to folders are not followed: they may form a loop.
        if entry.is_dir(follow_symlinks=False):
            if entry.name not in _SKIPPED_FOLDERS:
                yield from _walk(entry.path)
        elif entry.name.endswith(SUFFIXES):
            try:
                status = entry.stat()
            except OSError:
                continue  # a dangling link, or gone since the folder was listed
            if not stat.S_ISREG(status.st_mode):
                yield entry.path, _not_a_file(entry.path)
                continue
            yield Candidate(entry.path, status.st_size, _changed_ns(entry.path, status), named=False)


def _changed_ns(path: str, status: os.stat_result) -> int:
    """When a file last changed. What a program adds to a database stays in a log beside it while the program runs."""
    if not path.endswith(DATABASES):
        return status.st_mtime_ns
    try:
        return max(status.st_mtime_ns, os.stat(f"{path}-wal").st_mtime_ns)  # noqa: PTH116
    except OSError:
        return status.st_mtime_ns
