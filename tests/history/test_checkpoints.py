"""Checkpoints of Entire: sessions that a team shares in its repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from seasoned.app.stores import checkpoint_files
from seasoned.config import Config
from seasoned.errors import NotFound, SourceError
from seasoned.history.formats import named, recognise
from seasoned.history.read import read as read_path
from tests.cli.run import answer, seasoned
from tests.history.checkpoints import add_checkpoint, checkpoint, git
from tests.history.claude_lines import ClaudeFile

BRANCH = "refs/heads/entire/checkpoints/v1"


def claude(session: str, *commands: str) -> bytes:
    """A session of Claude Code on a colleague's machine."""
    lines = ClaudeFile(session).user("Fix the till.")
    for number, command in enumerate(commands):
        call_id = f"toolu_{session[:8]}AAAAAAAAAAAA{number:04}"
        lines.calls(call_id, command=command).result(call_id, "Exit code 2\nno", is_error=True)
    return b"".join(lines.lines)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    made = tmp_path / "shop"
    made.mkdir()
    git(made, "init", "--initial-branch=main")
    return made


def test_checkpoints_of_entire_are_read_from_the_branch_and_nothing_changes(repository: Path, tmp_path: Path) -> None:
    one, two = "11111111-2222-4333-8444-555555555555", "22222222-2222-4333-8444-555555555555"
    early = checkpoint(one, "2026-05-01T10:00:00Z", claude(one, "make a"))
    late = checkpoint(one, "2026-05-02T10:00:00Z", claude(one, "make a", "make b"), chunks=3)
    other = checkpoint(two, "2026-05-03T10:00:00Z", claude(two, "make c"))
    strange = {**checkpoint("s3", "2026-05-04T10:00:00Z", b"what is this"), "transcript.jsonl": b"{}"}
    named_by = {"ab/cdef012345": early, "cd/ef01234567": late}
    files = {f"{name}/0/{file}": data for name, part in named_by.items() for file, data in part.items()}
    files |= {f"cd/ef01234567/1/{file}": data for file, data in other.items()}
    files |= {f"ef/0123456789/0/{file}": data for file, data in strange.items()}
    files["cd/ef01234567/metadata.json"] = b"{}"
    add_checkpoint(repository, BRANCH, files)
    before = sorted((str(path), path.read_bytes()) for path in repository.rglob("*") if path.is_file())

    (head,) = checkpoint_files(Config(home=tmp_path / "home"), [repository])
    assert recognise(head) == "entire"
    sessions = {str(session.ref): session for session in read_path(head)}
    assert set(sessions) == {f"claude-code:{one}", f"claude-code:{two}", "entire:s3"}
    assert [call.arguments["command"] for call in sessions[f"claude-code:{one}"].calls()] == ["make a", "make b"]
    assert {session.cwd for session in sessions.values()} == {str(repository), None}
    assert [one.reason for one in sessions["entire:s3"].unreadable] == [
        "a transcript of Claude Code that is in no known format"
    ]
    assert before == sorted((str(path), path.read_bytes()) for path in repository.rglob("*") if path.is_file())

    # In a clone the branch is a remote's, and its refs are packed: the same sessions, by the same stamps.
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--no-checkout", str(repository), str(clone))
    git(clone, "pack-refs", "--all")
    (cloned,) = checkpoint_files(Config(home=tmp_path / "home"), [clone])
    assert named("entire").stamps(cloned) == named("entire").stamps(head)  # type: ignore[attr-defined]
    assert [str(s.ref) for s in named("entire").read(cloned, {two})] == [f"claude-code:{two}"]  # type: ignore[call-arg]


def test_a_ref_for_each_checkpoint_and_sub_agents_are_read_too(repository: Path) -> None:
    one = "11111111-2222-4333-8444-555555555555"
    main = checkpoint(one, "2026-05-01T10:00:00Z", claude(one, "make a"))
    side = ClaudeFile(one).calls("toolu_01SIDEAAAAAAAAAAAAAA", command="ls", message_id="m").lines
    chain = b"".join(side).replace(b'"isSidechain":false', b'"isSidechain":true,"agentId":"a1"')
    files = {f"0/{file}": data for file, data in main.items()}
    files |= {"tasks/toolu_1/agent-a1.jsonl": chain, "tasks/toolu_1/task.json": b"{}"}
    add_checkpoint(repository, "refs/entire/checkpoints/ZZ/01J0000000000000000000ZZ", files)
    (head,) = checkpoint_files(Config(home=repository.parent / "home"), [repository])
    sessions = list(read_path(head))
    assert sorted(call.arguments["command"] for session in sessions for call in session.calls()) == ["ls", "make a"]
    assert {str(session.parent) for session in sessions} == {"None", f"claude-code:{one}"}


def test_a_session_that_is_also_in_the_agents_own_files_counts_once(repository: Path, home: Path) -> None:
    one, two = "11111111-2222-4333-8444-555555555555", "22222222-2222-4333-8444-555555555555"
    own = home / ".claude" / "projects" / "shop" / f"{one}.jsonl"
    own.parent.mkdir(parents=True)
    lines = claude(one, "make a", "make b").replace(b"/home/mira/waypost", str(repository).encode())
    own.write_bytes(lines)
    files = checkpoint(one, "2026-05-01T10:00:00Z", lines.replace(b'"make a"', b'"make a"', 1))
    add_checkpoint(repository, BRANCH, {f"ab/c/0/{name}": data for name, data in files.items()})
    seasoned("scan")
    assert answer("scan")["store"]["calls"] == 2
    assert answer("scan", "--entire")["store"] == answer("scan")["store"], "found by the folder of a known session"
    more = checkpoint(two, "2026-05-02T10:00:00Z", claude(two, "make c"))
    files = {f"{at}/0/{name}": data for at, part in (("ab/c", files), ("cd/e", more)) for name, data in part.items()}
    add_checkpoint(repository, BRANCH, files)
    counts = answer("scan")["store"]
    assert (counts["sessions"], counts["calls"]) == (2, 3), "what a person chose once is kept up to date"
    projects = answer("projects")["projects"]
    assert [one["sessions"] for one in projects] == [2], "a colleague's session belongs to this checkout"


def test_repositories_without_checkpoints_and_damaged_ones_say_so(repository: Path, tmp_path: Path) -> None:
    config = Config(home=tmp_path / "home")
    with pytest.raises(NotFound, match="No checkpoints of Entire in these repositories"):
        checkpoint_files(config, [repository])
    with pytest.raises(NotFound, match="does not exist"):
        checkpoint_files(config, [tmp_path / "nowhere"])
    assert recognise(repository / ".git" / "HEAD") is None
    add_checkpoint(repository, BRANCH, {"ab/c/0/full.jsonl": b"{}", "ab/c/0/metadata.json": b"not json"})
    (head,) = checkpoint_files(config, [repository])
    (lost,) = read_path(head)
    assert (len(lost.messages), len(lost.unreadable)) == (0, 1)
    for path in (repository / ".git" / "objects").rglob("*"):
        if path.is_file():
            path.chmod(0o644)
            path.write_bytes(b"broken")
    with pytest.raises(SourceError, match="are missing"):
        list(read_path(head))
