"""The commits that a call made, as `git commit` reported them."""

from __future__ import annotations

import re

import msgspec

from seasoned.command.parse import parse
from seasoned.command.tool import command_of
from seasoned.lazy_regex import LazyRegex
from seasoned.session import ToolCall

# `[main 1a2b3c4] Subject`, `[main (root-commit) 1a2b3c4] Subject`, `[detached HEAD 1a2b3c4] Subject`.
_REPORT = LazyRegex(r"^\[(\S{1,200}|detached HEAD)(?: \(root-commit\))? ([0-9a-f]{7,40})\] (.{0,300})", re.MULTILINE)
# Where git makes a commit and reports it in these words.
_COMMITTING = frozenset({"commit", "cherry-pick", "revert", "merge", "am", "rebase"})
_MOST = 20


class Commit(msgspec.Struct, frozen=True):
    """One commit: its abbreviated id, the branch it is on, and its subject."""

    id: str
    branch: str
    subject: str


def commits_of(call: ToolCall) -> tuple[Commit, ...]:
    """The commits that a shell call reported, in order; none where it did not run git to make one."""
    command = command_of(call) if call.result is not None and not call.synthetic else None
    # Most commands need not be parsed.
    if call.result is None or command is None or "git" not in command:
        return ()
    # A log or a file may hold such lines too.
    if not any(step.program == "git" and step.sub in _COMMITTING for step in parse(command)):
        return ()
    found = _REPORT.compiled.findall(call.result.text)
    return tuple(Commit(sha, branch, subject.strip()) for branch, sha, subject in found[:_MOST])
