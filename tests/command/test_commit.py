"""A commit is what git reported for a call that ran git, and nothing else that looks like it."""

from __future__ import annotations

from typing import Any

from seasoned.command.tool import Commit, commits_of
from seasoned.session import Result, ToolCall

_MADE = "[main 1a2b3c4] Add tests\n 2 files changed, 3 insertions(+)"


def _commits(arguments: dict[str, Any], text: str, tool: str = "Bash", **more: Any) -> tuple[Commit, ...]:
    return commits_of(ToolCall("a", tool, arguments, Result(text), **more))


def test_commits_are_read_from_what_git_said() -> None:
    made = (Commit("1a2b3c4", "main", "Add tests"),)
    for command in ("git commit -m x", "cd a && git add . && git -C b commit -F -", "git cherry-pick abc"):
        assert _commits({"command": command}, _MADE) == made, command
    assert _commits({"command": ["bash", "-lc", "git commit -m x"]}, _MADE, "shell") == made
    root = "[x/y (root-commit) 1a2b3c4d] First\n[detached HEAD 2b3c4d5] Second"
    assert [one.branch for one in _commits({"command": "git commit; git commit"}, root)] == ["x/y", "detached HEAD"]


def test_nothing_else_is_a_commit() -> None:
    for command in ("cat log.txt", "git log", "echo git commit", "./release.sh"):
        assert _commits({"command": command}, _MADE) == (), command
    assert _commits({"command": "git commit"}, "nothing to commit, working tree clean") == ()
    assert _commits({"command": "git commit"}, _MADE, synthetic=True) == ()
    assert _commits({"path": "git commit"}, _MADE, "Read") == ()
    assert commits_of(ToolCall("a", "Bash", {"command": "git commit"})) == ()
