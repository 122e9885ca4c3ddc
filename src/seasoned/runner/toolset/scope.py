"""What the tools of a conversation may touch, their limits, and how they answer.

A path cannot leave the working folder. Each component is opened from the folder before it, and links are followed by
hand, so a link swapped in at the last moment leads nowhere. On systems that cannot open relative to a folder, a path is
resolved first and then used: a link swapped in between would be followed.
"""

from __future__ import annotations

import contextlib
import difflib
import errno
import functools
import os
import re
import secrets
import stat
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

import msgspec

from seasoned.errors import CannotDo, NotFound, SeasonedError, UsageError

if TYPE_CHECKING:
    from seasoned.command.risk import Danger

# As in Linux: a path with more links counts as a loop.
_LINKS = 40
_COMPONENTS = 100
_COMPONENT_BYTES = 255
_PATH_BYTES = 4096
# Characters that look like a slash or a backslash.
_LOOK_ALIKES = frozenset("\u2044\u2215\u29f8\uff0f\u2571\u2f03\u3033\u2216\u29f5\u29f9\ufe68\uff3c\u2572")
_DIRECTION_MARKS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")
_CLOEXEC = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NOFOLLOW | _CLOEXEC
# O_NONBLOCK: opening a pipe that replaced a file must not wait.
_FILE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | _NOFOLLOW | _CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _CLOEXEC
# Whether the system can open files relative to an open folder; Windows cannot.
_CAREFUL = bool(_NOFOLLOW) and {os.open, os.stat, os.mkdir, os.readlink, os.rename, os.unlink} <= os.supports_dir_fd
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISLNK, "a link"),
)


class _OpenPath(msgspec.Struct, frozen=True):
    """Where a path leads: an open folder, the name in it, and all names on the way from the working folder."""

    folder: int | None
    name: str
    names: tuple[str, ...]


class ConfinedFolder:
    """A working folder. All paths are taken from it, and none leads out of it."""

    def __init__(self, path: Path, *, careful: bool = _CAREFUL) -> None:
        self.root = path.resolve()
        if not self.root.is_dir():
            raise NotFound(f"{str(path)!r} is not a folder. Name one that exists.")
        self._given = Path(os.path.abspath(path))  # noqa: PTH100  links stay as the user wrote them
        self._careful = careful
        found = self.root.stat()
        # Compared on every use: the folder may be replaced by another one, or by a link.
        self._identity = (found.st_dev, found.st_ino)

    def parts(self, path: str) -> tuple[str, ...]:
        """The components of a path from the working folder; UsageError if it may not be used."""
        _check_text(path)
        inner = path
        if path.startswith("/") or (os.name == "nt" and Path(path).is_absolute()):
            inner = self._from_root(path)
        found = tuple(part for part in inner.split("/") if part not in ("", "."))
        if ".." in found:
            raise UsageError(f"{path!r} has '..' in it: give the path from the working folder, without '..'.")
        if found[:1] == ("~",):
            raise UsageError(f"{path!r}: '~' is not the home folder here; give the path from the working folder.")
        if len(found) > _COMPONENTS:
            raise UsageError(f"{path[:80]!r}… has more than {_COMPONENTS} folders in it.")
        for part in found:
            _check_part(part)
        return found

    def _from_root(self, path: str) -> str:
        for root in (str(self.root), str(self._given)):
            if path == root or path.startswith(root.rstrip("/") + "/"):
                return path[len(root.rstrip("/")) + 1 :]
        raise UsageError(f"{path!r} is outside the working folder {str(self.root)!r}; give a path inside it.")

    def open_folder(self, path: str = ".") -> int:
        """A descriptor of a folder, which the caller closes."""
        with self._explain_errors(path), self._open_path(path) as spot:
            if not spot.names:
                return self._open_root()
            return os.open(spot.name, _FOLDER, dir_fd=spot.folder)

    def locate(self, path: str) -> str:
        """Where a path leads from the working folder when links are followed; it need not exist."""
        with self._explain_errors(path), self._open_path(path) as spot:
            return "/".join(spot.names) or "."

    def is_folder(self, path: str) -> bool:
        """Whether a path is a folder; NotFound if nothing is there."""
        with self._explain_errors(path), self._open_path(path) as spot:
            return not spot.names or stat.S_ISDIR(_stat(spot).st_mode)

    def read(self, path: str, *, most: int) -> bytes:
        """The content of an ordinary file; CannotDo if it has more than `most` bytes."""
        with self._explain_errors(path), self._open_path(path) as spot:
            before = _check_regular_file(spot, path)
            opened = os.open(spot.name, _FILE, dir_fd=spot.folder)
            with os.fdopen(opened, "rb") as file:
                after = os.fstat(opened)
                # Between the check and the opening it may have been swapped for something else.
                if not os.path.samestat(before, after) or not stat.S_ISREG(after.st_mode):
                    raise CannotDo(f"{path!r} changed while it was opened; try again.")
                data = file.read(most + 1)
                if len(data) > most:
                    raise CannotDo(
                        f"{path!r} has {after.st_size:,} bytes, and at most {most:,} are read at once; "
                        "use search_files, or a command such as `sed -n 1,200p`."
                    )
                return data

    def write(self, path: str, data: bytes) -> bool:
        """Write a file atomically, with its folders; a file that is replaced keeps its mode.

        True if the file is new. Nothing inside .git is written: its hooks and settings run commands.
        """
        with self._explain_errors(path), self._open_path(path, make=True) as spot:
            if not spot.names:
                raise UsageError(f"{path!r} is a folder; give the path of a file.")
            try:
                before = _check_regular_file(spot, path)
            except FileNotFoundError:
                before = None
            _replace(spot, data, before)
            return before is None

    @contextlib.contextmanager
    def _open_path(self, path: str, *, make: bool = False) -> Iterator[_OpenPath]:
        parts = self.parts(path)
        if not self._careful:
            yield self._resolve(path, parts, make=make)
            return
        opened = [self._open_root()]
        try:
            names = self._walk(path, parts, opened, make=make)
            yield _OpenPath(opened[-1], names[-1] if names else ".", tuple(names))
        finally:
            for each in opened:
                os.close(each)

    def _open_root(self) -> int:
        opened = os.open(self.root, _FOLDER)
        found = os.fstat(opened)
        if self._identity != (found.st_dev, found.st_ino):
            os.close(opened)
            raise CannotDo(f"The working folder {str(self.root)!r} was replaced by another; begin a new session.")
        return opened

    def _walk(self, path: str, parts: tuple[str, ...], opened: list[int], *, make: bool) -> list[str]:
        """Open each folder on the way; the names that lead to the last component, which is not opened."""
        names: list[str] = []
        ahead = list(reversed(parts))
        links = 0
        while ahead:
            part = ahead.pop()
            if part == "..":
                if not names:
                    raise _outside_error(path)
                names.pop()
                if len(opened) > len(names) + 1:
                    os.close(opened.pop())
                continue
            target = _link(part, opened[-1])
            if target is not None:
                links += 1
                if links > _LINKS:
                    raise UsageError(f"{path!r} leads through too many links.")
                if target.startswith("/"):
                    target = self._link_from_root(path, target)
                    names.clear()
                    while len(opened) > 1:
                        os.close(opened.pop())
                # The target is walked like the path itself, so that each of its parts is checked too.
                ahead += [each for each in reversed(target.split("/")) if each not in ("", ".")]
                continue
            if make and _is_git(part):
                raise UsageError(f"{path!r} is inside .git, which is never written to. Use git in the terminal.")
            names.append(part)
            if ahead:
                opened.append(_open_subfolder(part, opened[-1], make=make))
        if names and len(opened) > len(names):  # a link that ends in '..' leads to a folder that is open already
            os.close(opened.pop())
        return names

    def _link_from_root(self, path: str, target: str) -> str:
        try:
            return self._from_root(target)
        except UsageError as error:
            raise _outside_error(path) from error

    def _resolve(self, path: str, parts: tuple[str, ...], *, make: bool) -> _OpenPath:
        try:
            place = self.root.joinpath(*parts).resolve()
        except RuntimeError as error:  # what a loop of links was until Python 3.13
            raise UsageError(f"{path!r} leads through too many links.") from error
        if not place.is_relative_to(self.root):
            raise _outside_error(path)
        names = place.relative_to(self.root).parts
        if make:
            if any(map(_is_git, names)):
                raise UsageError(f"{path!r} is inside .git, which is never written to. Use git in the terminal.")
            place.parent.mkdir(parents=True, exist_ok=True)
        return _OpenPath(None, str(place), names)

    @contextlib.contextmanager
    def _explain_errors(self, path: str) -> Iterator[None]:
        """Turn errors of the system into errors that name the path and say what to do."""
        try:
            yield
        except FileNotFoundError as error:
            raise NotFound(f"There is no {path!r} in the working folder.{self._similar_names(path)}") from error
        except OSError as error:
            if error.errno in (errno.ENOTDIR, errno.ELOOP):
                raise UsageError(f"{path!r}: a part of the path is not a folder.") from error
            if error.errno == errno.ENAMETOOLONG:
                raise UsageError(f"{path[:80]!r}… is too long for this file system.") from error
            raise CannotDo(f"{path!r}: {error.strerror or error}.") from error

    def _similar_names(self, path: str) -> str:
        """Names in the same folder that resemble the path."""
        above, _, name = path.rstrip("/").rpartition("/")
        try:
            opened = self.open_folder(above or ".")
        except SeasonedError:
            return f" There is no folder {above!r} either." if above else ""
        try:
            names = [entry for entry in os.listdir(opened)[:2000] if entry.isprintable()]  # noqa: PTH208  it is open
        finally:
            os.close(opened)
        near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
        similar = ", ".join(repr(f"{above}/{each}" if above else each) for each in near)
        return f" Similar names: {similar}." if similar else ""


def _check_text(path: str) -> None:
    if not path.strip():
        raise UsageError("The path is empty; give one from the working folder, such as 'notes.md'.")
    if "\0" in path:
        raise UsageError(f"{path[:80]!r} holds a NUL character, which no path can.")
    try:
        size = len(path.encode())
    except UnicodeEncodeError as error:
        raise UsageError(f"{path[:80]!r} is not valid Unicode.") from error
    if size > _PATH_BYTES:
        raise UsageError(f"{path[:80]!r}… is longer than {_PATH_BYTES} bytes.")
    if "\\" in path:
        raise UsageError(f"{path!r} has a backslash in it: put '/' between folders.")
    strange = sorted({f"U+{ord(c):04X}" for c in path if c in _LOOK_ALIKES or c in _DIRECTION_MARKS})
    if strange:
        raise UsageError(f"{path!r} holds {', '.join(strange)}, which only looks like a part of a path; use plain '/'.")


def _check_part(part: str) -> None:
    if len(part.encode()) > _COMPONENT_BYTES:
        raise UsageError(f"{part[:80]!r}… is longer than a name can be ({_COMPONENT_BYTES} bytes).")
    # Some file systems normalise names, so the name that is used could differ from the one that was checked.
    plain = unicodedata.normalize("NFKC", part)
    if "/" in plain or "\\" in plain or plain in (".", "..") or plain.strip(" .") == "" != part.strip(" ."):
        raise UsageError(f"{part!r} turns into {plain!r} when it is normalised; use a plain name.")
    if any(ord(c) < 32 or ord(c) == 127 for c in part):
        raise UsageError(f"{part!r} holds a control character; use a plain name.")
    if os.name == "nt" and (":" in part or part.rstrip(" .") != part):
        raise UsageError(f"{part!r} means something else on this system; use a plain name.")


def _outside_error(path: str) -> UsageError:
    return UsageError(f"{path!r} leads out of the working folder through a link; give a path that stays inside.")


def _is_git(part: str) -> bool:
    """Whether a name means `.git`, also in spellings that some file systems treat as the same name."""
    plain = "".join(c for c in unicodedata.normalize("NFKC", part) if unicodedata.category(c) != "Cf")
    # Git guards against the same: HFS+ ignores invisible characters, NTFS has a short name `git~1`.
    return plain.casefold().rstrip(" .") in (".git", "git~1")


def _link(name: str, folder: int) -> str | None:
    """The target of a link; None if it is not a link."""
    try:
        return os.readlink(name, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOENT):
            return None
        raise


def _open_subfolder(name: str, folder: int, *, make: bool) -> int:
    if make:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, dir_fd=folder)
    return os.open(name, _FOLDER, dir_fd=folder)


def _stat(spot: _OpenPath) -> os.stat_result:
    return os.stat(spot.name, dir_fd=spot.folder, follow_symlinks=False)


def _check_regular_file(spot: _OpenPath, path: str) -> os.stat_result:
    """What is there, if it is an ordinary file: opening a pipe would wait, and a device may act."""
    if not spot.names:
        raise UsageError(f"{path!r} is a folder; give the path of a file.")
    found = _stat(spot)
    if not stat.S_ISREG(found.st_mode):
        kind = next((word for test, word in _KINDS if test(found.st_mode)), "no ordinary file")
        raise UsageError(f"{path!r} is {kind}, not a file.")
    return found


def _replace(spot: _OpenPath, data: bytes, before: os.stat_result | None) -> None:
    """Write a temporary file, then rename it: an existing file is never half written, nor written through a link."""
    name = f".seasoned-{secrets.token_hex(8)}.tmp"
    temporary = name if spot.folder is not None else str(Path(spot.name).with_name(name))
    # An existing file may be private: its new content is too, until the old mode is set.
    opened = os.open(temporary, _NEW, 0o666 if before is None else 0o600, dir_fd=spot.folder)
    try:
        with os.fdopen(opened, "wb") as file:
            file.write(data)
            if before is not None and hasattr(os, "fchown"):
                with contextlib.suppress(PermissionError):
                    os.fchown(opened, before.st_uid, before.st_gid)
                # Content that an agent wrote gets no setuid or setgid bit.
                os.fchmod(opened, stat.S_IMODE(before.st_mode) & 0o777)
            file.flush()
            os.fsync(opened)
        os.replace(temporary, spot.name, src_dir_fd=spot.folder, dst_dir_fd=spot.folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=spot.folder)
        raise


class ToolLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How much one call may use. What exceeds it is cut or refused, and the answer says so."""

    # For a command or a piece of code; a call may ask for less, never for more.
    time_seconds: float = 120.0
    # Between asking a process to end and killing it.
    grace_seconds: float = 2.0
    # Kept of an output, half of them from its end.
    output_characters: int = 50_000
    # A command that prints more is ended.
    flood_bytes: int = 50_000_000
    # A command that has more at one time is ended.
    processes: int = 256
    # Address space of each process of a command. None, because some runtimes reserve far more than they use.
    memory_bytes: int | None = None
    # The same for a piece of Python.
    code_memory_bytes: int | None = 4_000_000_000
    # The largest file that a command may write.
    written_bytes: int | None = 2_000_000_000
    # The largest file that is read, written or patched.
    file_bytes: int = 1_000_000
    read_lines: int = 2_000
    search_seconds: float = 20.0
    matches: int = 200
    fetch_seconds: float = 30.0
    fetch_bytes: int = 2_000_000
    redirects: int = 5

    def within(self, seconds: float | None) -> ToolLimits:
        """The same limits, with less time if a call asks for less."""
        if seconds is None:
            return self
        return msgspec.structs.replace(self, time_seconds=min(self.time_seconds, max(1.0, seconds)))


def _deny(question: str, danger: Danger) -> bool:
    """Refuse, because there is no one to ask."""
    return False


class ToolScope(msgspec.Struct, frozen=True, kw_only=True):
    """A working folder, limits, an environment, and who to ask before a dangerous call."""

    folder: ConfinedFolder
    limits: ToolLimits = ToolLimits()
    # What commands see, before names that look like secrets are taken out.
    environment: Mapping[str, str] = {}
    # Variables that commands see although they look like secrets.
    keep: frozenset[str] = frozenset()
    # Called with the command or code and why it is dangerous; True lets it run.
    ask: Callable[[str, Danger], bool] = _deny
    # Polled while a command runs; True stops it.
    stop: Callable[[], bool] | None = None
    # Web servers of this machine and its network that may be fetched, each as `host:port`.
    allow_private: frozenset[str] = frozenset()


Answer = dict[str, Any]
Arguments = ParamSpec("Arguments")
Tool = Callable[Concatenate[ToolScope, Arguments], Answer]
# Colours, cursor movements, window titles and other terminal sequences. They are bounded, so that an unfinished one
# does not swallow the rest of the output.
_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)|[PX^_][^\x1b]{0,2000}\x1b\\|[@-Z\\-_])"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def tool(**empty: Any) -> Callable[[Tool[Arguments]], Tool[Arguments]]:
    """Make a function answer with these fields and `error` when it raises an error that the model can act on."""

    def decorate(function: Tool[Arguments]) -> Tool[Arguments]:
        @functools.wraps(function)
        def answering(scope: ToolScope, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
            try:
                return function(scope, *args, **kwargs)
            except SeasonedError as error:
                return {**empty, "error": str(error)}
            except OSError as error:
                return {**empty, "error": f"The system reported an error: {error.strerror or error}. Try again later."}

        return answering

    return decorate


def plain(text: str) -> str:
    """A text without control characters and terminal sequences."""
    return _CONTROLS.sub("", _ESCAPES.sub("", text).replace("\r\n", "\n"))
