"""No path leaves the working folder: made-up paths, links and names, and links that are swapped at the worst moment."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import socket
import stat
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seasoned.errors import CannotDo, NotFound, SeasonedError, UsageError
from seasoned.runner.toolset.scope import ConfinedFolder

SECRET = b"the secret of the outside"
NAMES = [
    "a", "b", "notes.md", "sub", ".hidden", ".git", "config", "hooks", "out", "up", "chain", "loop", "dangling", "pipe",
    "etc", "outside", "secret", "new", "é", "e\u0301", "名前", "‮txt", "a b", "-rf", "x" * 255, "x" * 256, "con", "nul",
]  # fmt: skip
TRICKS = [
    "..",
    ".",
    "",
    "~",
    "...",
    ".. ",
    "\u2025",
    "\uff0e\uff0e",
    "\u2024\u2024",
    "..\u200b",
    "%2e%2e",
    "℀",
    "a\0b",
    "\ud800",
]
SEPARATORS = ["/", "//", "/./", "/../", "\\", "\u2215", "\u2044", "\uff0f", "\uff3c"]


def _digest(folder: Path) -> str:
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        kind = path.lstat()
        found.update(f"{path.relative_to(folder)} {kind.st_mode} {kind.st_ino} {kind.st_mtime_ns}\n".encode())
        if path.is_file():
            found.update(path.read_bytes())
    return found.hexdigest()


class Ground:
    """A working folder and a tree outside of it, with links from the one to the other."""

    def __init__(self, place: Path) -> None:
        self.outside = place / "outside"
        self.root = place / "work"
        (self.outside / "sub").mkdir(parents=True)
        for name in ("secret", "notes.md", "a", "sub/a", "config"):
            (self.outside / name).write_bytes(SECRET)
        (self.root / "sub" / ".git" / "hooks").mkdir(parents=True)
        (self.root / "notes.md").write_bytes(b"inside")
        (self.root / "sub" / "a").write_bytes(b"inside")
        (self.root / "out").symlink_to(self.outside)
        (self.root / "up").symlink_to("..")
        (self.root / "sub" / "up").symlink_to("../../outside")
        (self.root / "chain").symlink_to("sub/up")
        (self.root / "loop").symlink_to("loop")
        (self.root / "dangling").symlink_to(self.outside / "new")
        (self.root / "etc").symlink_to("/etc")
        (self.root / "b").symlink_to("sub/a")
        os.mkfifo(self.root / "pipe")
        self.digest = _digest(place / "outside")

    def check_outside(self) -> None:
        assert _digest(self.outside) == self.digest
        assert {path.name for path in self.root.parent.iterdir()} == {"outside", "work"}


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path)


def _paths(ground: str) -> st.SearchStrategy[str]:
    part = st.sampled_from(NAMES) | st.sampled_from(TRICKS) | st.text(min_size=1, max_size=8)
    between = st.sampled_from(SEPARATORS[:2] * 6 + SEPARATORS)
    inner = st.lists(st.tuples(part, between).map("".join), min_size=1, max_size=5).map("".join)
    starts = [
        "",
        "",
        "",
        "/",
        "./",
        "../",
        "~/",
        f"{ground}/work/",
        f"{ground}/work/../",
        f"{ground}/outside/",
        "/proc/self/cwd/",
    ]
    return st.tuples(st.sampled_from(starts), inner).map("".join)


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder).resolve()


@pytest.mark.parametrize("careful", [True, False])
def test_a_thousand_paths_and_links_never_leave_the_folder(careful: bool, place: Path) -> None:
    wanted = _paths(str(place))

    @settings(
        max_examples=1000 if careful else 300, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(path=wanted, links=st.lists(st.tuples(st.sampled_from(["a", "sub/new", "new", "é"]), wanted), max_size=3))
    def check_one(path: str, links: list[tuple[str, str]]) -> None:
        for name, target in links:
            try:
                (ground.root / name).unlink(missing_ok=True)
                (ground.root / name).symlink_to(target)
            except (OSError, ValueError):
                continue
        try:
            assert folder.read(path, most=1000) != SECRET
            reached.append("read")
        except SeasonedError:
            reached.append("refused")
        try:
            folder.write(path, b"written")
            reached.append("written")
        except SeasonedError:
            reached.append("refused")
        try:
            opened = folder.open_folder(path)
        except SeasonedError:
            pass
        else:
            assert Path(f"/proc/self/fd/{opened}").readlink().is_relative_to(ground.root)
            os.close(opened)
        ground.check_outside()

    shutil.rmtree(place / "work", ignore_errors=True)
    shutil.rmtree(place / "outside", ignore_errors=True)
    ground = Ground(place)
    folder = ConfinedFolder(ground.root, careful=careful)
    reached: list[str] = []
    before = len(list(Path("/proc/self/fd").iterdir()))
    check_one()
    # What others left open may be closed meanwhile; nothing may be left open by this.
    assert len(list(Path("/proc/self/fd").iterdir())) <= before
    assert len(reached) >= (2000 if careful else 600)
    assert min(reached.count("written"), reached.count("read")) >= 5, "the paths must also be ones that work"


REFUSED_PATHS = [
        "../outside/secret", "a/../../outside/secret", "out/secret", "up/outside/secret", "chain/a", "sub/up/secret",
        "etc/passwd", "/etc/passwd", "/", "~/x", "~", "", "  ", "a\0", "loop", "a\\b", "sub\u2215a",
        "\u2025/outside/secret",         "\uff0e\uff0e/outside/secret", "℀", "x" * 300, "a/" * 200 + "a",
        "x/" * 3000, "\ud800", "a\u202egpj.exe", "a\nb", "pipe",
        "/proc/self/root/etc/passwd", "sub", ".",
]  # fmt: skip


@pytest.mark.parametrize("careful", [True, False])
def test_such_a_path_is_neither_read_nor_written(careful: bool, ground: Ground) -> None:
    folder = ConfinedFolder(ground.root, careful=careful)
    reached = []
    for path in REFUSED_PATHS:
        with suppress(SeasonedError):
            reached.append((path, folder.read(path, most=1000)))
        with suppress(SeasonedError):
            reached.append((path, folder.write(path, b"x")))
        ground.check_outside()
    assert not reached


@pytest.mark.parametrize("careful", [True, False])
def test_paths_inside_are_read_and_written(careful: bool, ground: Ground) -> None:
    folder = ConfinedFolder(ground.root, careful=careful)
    assert folder.read("notes.md", most=100) == b"inside"
    assert folder.read("./sub//a", most=100) == b"inside"
    assert folder.read(str(ground.root / "notes.md"), most=100) == b"inside"
    assert folder.read("b", most=100) == b"inside"
    assert folder.write("new/deep/.env", b"1") is True
    assert folder.write("new/deep/.env", b"22") is False
    assert (ground.root / "new/deep/.env").read_bytes() == b"22"
    assert folder.write("b", b"through a link that stays inside") is False
    assert (ground.root / "b").is_symlink()
    assert (ground.root / "sub/a").read_bytes() == b"through a link that stays inside"
    assert folder.locate("b") == "sub/a"
    assert folder.is_folder("sub") and not folder.is_folder("b")


@pytest.mark.parametrize("careful", [True, False])
def test_links_inside_may_point_upwards_as_long_as_they_stay(careful: bool, ground: Ground) -> None:
    (ground.root / "sub" / "back").symlink_to("../notes.md")
    (ground.root / "sub" / "top").symlink_to("..")
    (ground.root / "sub" / "whole").symlink_to(ground.root / "sub")
    folder = ConfinedFolder(ground.root, careful=careful)
    assert folder.read("sub/back", most=100) == b"inside"
    assert folder.read("sub/top/sub/whole/back", most=100) == b"inside"
    assert folder.locate("sub/top/notes.md") == "notes.md"
    assert folder.is_folder("sub/top")
    os.close(folder.open_folder("sub/top"))


def test_a_folder_reached_by_a_link_can_be_named_by_it(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "named").symlink_to("real")
    folder = ConfinedFolder(tmp_path / "named")
    folder.write(str(tmp_path / "named" / "x"), b"1")
    assert (tmp_path / "real" / "x").read_bytes() == b"1"


GIT_PATHS = (".git", ".git/config", "sub/.git/hooks/post-commit", ".GIT/config", ".g\u200dit/config", "sub/hook/x")


@pytest.mark.parametrize("careful", [True, False])
def test_what_runs_commands_for_git_is_not_written_but_may_be_read(careful: bool, ground: Ground) -> None:
    (ground.root / "sub" / "hook").symlink_to(".git/hooks")
    (ground.root / "sub" / ".git" / "config").write_bytes(b"[core]")
    folder = ConfinedFolder(ground.root, careful=careful)
    for path in GIT_PATHS:
        with pytest.raises(UsageError, match=r"inside \.git"):
            folder.write(path, b"x")
    assert folder.read("sub/.git/config", most=100) == b"[core]"
    assert folder.write(".gitignore", b"x") is True


def test_the_rights_of_a_replaced_file_are_kept_and_new_ones_follow_the_mask(ground: Ground) -> None:
    folder = ConfinedFolder(ground.root)
    script = ground.root / "sub" / "a"
    script.chmod(0o750)
    folder.write("sub/a", b"new")
    assert stat.S_IMODE(script.stat().st_mode) == 0o750
    mask = os.umask(0o027)
    try:
        folder.write("fresh", b"")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((ground.root / "fresh").stat().st_mode) == 0o640


def test_a_file_that_shares_its_content_with_one_outside_is_replaced_not_written_through(ground: Ground) -> None:
    (ground.root / "twin").hardlink_to(ground.outside / "secret")
    digest = _digest(ground.outside)
    ConfinedFolder(ground.root).write("twin", b"new")
    assert _digest(ground.outside) == digest
    assert (ground.root / "twin").read_bytes() == b"new"


def test_pipes_sockets_and_devices_are_named_as_such(ground: Ground) -> None:
    folder = ConfinedFolder(ground.root)
    with socket.socket(socket.AF_UNIX) as bound:
        here = Path.cwd()
        os.chdir(ground.root)
        try:
            bound.bind("socket")
        finally:
            os.chdir(here)
        for name, kind in (("pipe", "a pipe"), ("socket", "a socket"), ("sub", "a folder")):
            with pytest.raises(UsageError, match=kind):
                folder.read(name, most=10)
            with pytest.raises(UsageError, match=kind):
                folder.write(name, b"x")


def test_what_is_not_there_is_said_with_what_is_near(ground: Ground) -> None:
    folder = ConfinedFolder(ground.root)
    with pytest.raises(NotFound, match=r"Similar names: 'notes\.md'"):
        folder.read("note.md", most=10)
    with pytest.raises(NotFound, match="There is no folder 'nowhere' either"):
        folder.read("nowhere/x", most=10)


def test_a_file_that_is_too_large_is_not_read(ground: Ground) -> None:
    with pytest.raises(CannotDo, match="has 6 bytes"):
        ConfinedFolder(ground.root).read("notes.md", most=5)


def test_a_working_folder_that_was_replaced_is_noticed(ground: Ground) -> None:
    folder = ConfinedFolder(ground.root)
    ground.root.rename(ground.root.with_name("moved"))
    shutil.copytree(ground.outside, ground.root)
    with pytest.raises(CannotDo, match="was replaced"):
        folder.read("secret", most=100)


def test_no_unfinished_file_stays_when_a_write_fails(ground: Ground) -> None:
    folder = ConfinedFolder(ground.root)
    with pytest.raises(SeasonedError):
        folder.write("sub", b"x")
    assert not list(ground.root.rglob(".seasoned-*"))


def test_a_link_that_is_swapped_in_at_any_moment_does_not_help(ground: Ground) -> None:
    folder = ConfinedFolder(ground.root)
    (ground.root / "door").mkdir()
    (ground.root / "door" / "secret").write_bytes(b"inside")
    (ground.root / "way").symlink_to(ground.outside)
    done = threading.Event()
    exchange = getattr(ctypes.CDLL(None), "renameat2", None)
    if exchange is None:
        pytest.skip("needs a system that can exchange two names in one step")
    door, way = os.fsencode(ground.root / "door"), os.fsencode(ground.root / "way")

    def swap() -> None:
        while not done.is_set():
            exchange(-100, door, -100, way, 2)

    swapper = threading.Thread(target=swap)
    swapper.start()
    seen: dict[str, int] = {}
    # On a busy machine the swapping thread may get most of the time: go on until both have happened.
    until = time.monotonic() + 60
    try:
        while time.monotonic() < until and (seen.get("worked", 0) <= 20 or len(seen) < 2):
            try:
                assert folder.read("door/secret", most=100) == b"inside"
                folder.write("door/other", b"x")
                seen["worked"] = seen.get("worked", 0) + 1
            except SeasonedError as error:
                seen[type(error).__name__] = seen.get(type(error).__name__, 0) + 1
    finally:
        done.set()
        swapper.join()
    ground.check_outside()
    assert seen.get("worked", 0) > 20
    assert len(seen) > 1, "the link must have been met as well"
