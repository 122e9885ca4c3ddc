"""Changes to files of other programs: planned as values, and shown before anything is written."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from pathlib import Path
from typing import Literal

import msgspec

from seasoned.config import Config
from seasoned.errors import CannotDo
from seasoned.review.due import day_of_reviews

# The parts of a connection; the user may leave some out.
Part = Literal["warm", "hints", "confirmations", "reviews", "mcp"]
PARTS: dict[Part, str] = {
    "warm": "guidance at the start and at the first prompt",
    "hints": "what works here, before or after a call that fails here",
    "confirmations": "high-risk calls wait for a person",
    "reviews": "the agent reviews its own sessions: notes and skills",
    "mcp": "the tools of the MCP server `seasoned`",
}
# Settings are small. A larger file is not what we expect.
_MOST_BYTES = 20_000_000


class FileChange(msgspec.Struct, frozen=True):
    """One file: what it holds now and what it will hold; None if it does not exist."""

    path: Path
    before: bytes | None
    after: bytes | None
    why: str


class LinkedFolder(msgspec.Struct, frozen=True):
    """Each folder in `source`, present or future, gets a symbolic link in `folder`."""

    folder: Path
    source: Path
    why: str


class ConnectPlan(msgspec.Struct, frozen=True):
    """Everything that connecting an agent would change, and what is left for the user to do."""

    agent: str
    changes: tuple[FileChange, ...] = ()  # only files that do change
    steps: tuple[str, ...] = ()  # what only the user can do, in order, each a sentence
    links: tuple[LinkedFolder, ...] = ()
    parts: tuple[Part, ...] = tuple(PARTS)

    @property
    def is_empty(self) -> bool:
        """Whether nothing has to be changed."""
        return not self.changes and not any(missing_links(one) for one in self.links)


def change_of(path: Path, before: bytes | None, after: bytes | None, why: str) -> tuple[FileChange, ...]:
    """The change of a file, or none if nothing would change."""
    return () if before == after else (FileChange(path, before, after, why),)


def read_present(path: Path) -> bytes | None:
    """The contents of a file, through links; None if it does not exist. Anything but an ordinary file is refused."""
    try:
        if not path.exists():
            path.resolve(strict=False)  # raises for a circle of links
            return None
        if not path.is_file():
            raise CannotDo(f"{str(path)!r} is not an ordinary file. Move it away and try again.")
        if path.stat().st_size > _MOST_BYTES:
            raise CannotDo(f"{str(path)!r} has more than {_MOST_BYTES:,} bytes, so it was not touched. Check it.")
        return path.read_bytes()
    except (OSError, RuntimeError) as error:
        raise CannotDo(f"{str(path)!r} cannot be read ({error}). Check its permissions.") from error


def decode_text(data: bytes, path: Path) -> str:
    """The contents of a text file; raises CannotDo if it is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CannotDo(f"{str(path)!r} is not valid UTF-8 ({error}), so it was not touched.") from error


def has_own_home(config: Config) -> bool:
    """Whether Seasoned's home is not the default one, so that other programs need to know where it is."""
    return config.origins.get("home", "default") != "default"


def newline_of(text: str) -> str:
    """How the lines of a text end."""
    return "\r\n" if "\r\n" in text else "\n"


def guard_file(home: Path, agent: str) -> Path:
    """While it exists, calls that cannot be checked are refused. A person can remove it without Seasoned."""
    return home / "connect" / agent / "guard"


def preview(change: FileChange) -> str:
    """The change as a unified diff; bytes that are not text are escaped."""
    return diff_of(change.before, change.after, change.path)


def diff_of(before: bytes | None, after: bytes | None, path: Path) -> str:
    """Two states of a file as a unified diff, with `/dev/null` for a missing file."""
    old, new = (_lines(one) for one in (before, after))
    names = (str(path) if one is not None else "/dev/null" for one in (before, after))
    found = [
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for line in difflib.unified_diff(old, new, next(names), next(names))
    ]
    return "".join(found)


def skill_links(config: Config, home: Path, parts: Collection[Part]) -> tuple[LinkedFolder, ...]:
    """The folder below an agent's own where it finds the skills that reviews write."""
    folder = LinkedFolder(home / "skills", config.skill_folder, "skills that reviews write")
    return (folder,) if "reviews" in parts else ()


def missing_links(one: LinkedFolder) -> list[str]:
    """Names in the source that the folder does not have; a name that is taken there is skipped."""
    try:
        names = sorted(path.name for path in one.source.iterdir() if path.is_dir() and not path.name.startswith("."))
    except OSError:
        return []
    # `exists` follows links, so a broken link needs the second check: its name is taken too.
    return [name for name in names if not (one.folder / name).exists() and not (one.folder / name).is_symlink()]


def made_links(one: LinkedFolder) -> list[Path]:
    """The links in the folder that lead into the source, including broken ones."""
    try:
        found = sorted(path for path in one.folder.iterdir() if path.is_symlink())
        return [path for path in found if path.readlink().parent == one.source]
    except OSError:
        return []


def make_links(one: LinkedFolder) -> list[Path]:
    """Link what is missing, and remove links to what is gone, such as a skill whose review was undone."""
    for link in made_links(one):
        if not link.exists():
            link.unlink(missing_ok=True)
    made = []
    for name in missing_links(one):
        link = one.folder / name
        try:
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(one.source / name, target_is_directory=True)
        except FileExistsError:
            continue  # another process was quicker
        except OSError as error:
            raise CannotDo(f"{str(link)!r} cannot be created ({error}). Check its folder's permissions.") from error
        made.append(link)
    return made


def _lines(data: bytes | None) -> list[str]:
    return [] if data is None else data.decode("utf-8", "backslashreplace").splitlines(keepends=True)


def common_steps(
    config: Config, agent: str, parts: Collection[Part] = PARTS, *, asks_itself: bool = False
) -> tuple[str, ...]:
    """What this configuration still lacks; `asks_itself`: the agent asks by itself and needs no service."""
    found = []
    if not config.confirm_url and "confirmations" in parts and not asks_itself:
        found.append(
            "Set up confirmations (docs/how-to/confirm.md): until `confirm_url` is set, high-risk calls are denied."
        )
    if "reviews" in parts:
        found.append(
            f'{day_of_reviews(config, agent)} To switch that off, write `review_agent = "off"` into '
            f"{config.home / 'config.toml'}."
        )
    return tuple(found)
