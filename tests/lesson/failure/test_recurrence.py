"""Errors that come back over sessions, counted once for each lineage."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec

from seasoned.history.read import read
from seasoned.lesson.failure.failure import program_of
from seasoned.lesson.failure.recurrence import Recurrence, RecurrenceCounter
from seasoned.lesson.failure.signature import signature
from seasoned.outcome.track import JudgedCall, Track, track_of
from seasoned.session import SessionRef
from tests.lesson.failure.mistakes import recurring

_MISSING = "File does not exist."


def call(
    at: int, tool: str, counts_as: str = "ok", reason: str = "", when: float | None = None, /, **arguments: object
) -> JudgedCall:
    raw = msgspec.json.encode(arguments).decode()
    return JudgedCall(at, at, tool, "file", counts_as, counts_as, "call", when, raw, "", reason)


def lost(at: int, path: str, when: float | None = None) -> JudgedCall:
    return call(at, "Read", "failed", _MISSING, when, file_path=path)


def track(name: str, *calls: JudgedCall, root: str | None = None, **facts: float) -> Track:
    ref = SessionRef("claude-code", name)
    return Track(ref, len(calls), calls, root or str(ref), started=facts.get("started"), ended=facts.get("ended"))


def test_an_error_of_two_sessions_comes_back_and_one_of_one_session_does_not() -> None:
    tracks = [
        track("a", lost(0, "/p/one.py"), call(1, "Grep", "failed", "Path does not exist: /x", pattern="y")),
        track("b", lost(0, "/q/two.py"), lost(1, "/q/three.py")),
    ]
    (found,) = recurring(tracks)
    assert (found.tool, found.program, found.signature) == ("Read", None, "File does not exist")
    assert (found.failures, found.sessions, found.repaired) == (3, 2, 0)
    assert (found.calls_until_repaired, found.repair, found.repair_count) == (None, None, 0)
    assert found.refs == ("claude-code:a", "claude-code:b")
    assert len(recurring(tracks, fewest_sessions=1)) == 2
    assert recurring(tracks, fewest_sessions=3) == ()


def test_a_fork_is_no_second_session() -> None:
    tracks = [track("a", lost(0, "/p/x.py")), track("b", lost(0, "/p/x.py"), root="claude-code:a")]
    assert recurring(tracks) == ()
    (found,) = recurring(tracks, fewest_sessions=1)
    assert (found.failures, found.sessions, found.refs) == (2, 1, ("claude-code:a",))


def test_what_repaired_it_most_often_is_told_with_an_example() -> None:
    def mended(name: str, between: bool) -> Track:
        look = [call(1, "Grep", pattern="x", path="/p/cli/tool.py")] if between else []
        return track(name, lost(0, "/p/tool.py"), *look, call(2, "Read", file_path="/p/cli/tool.py"))

    (found,) = recurring([mended("a", False), mended("b", True), mended("c", False), track("d", lost(0, "/x/y.py"))])
    assert (found.failures, found.sessions, found.repaired, found.calls_until_repaired) == (4, 4, 3, 1.0)
    assert (found.repair, found.repair_count) == ("with `file_path` changed", 2)
    assert found.example is not None
    assert (found.example.session, found.example.failed) == ("claude-code:a", '{"file_path":"…"}')
    assert found.example.repaired == '{"file_path":"/p/cli/tool.py"}'


def test_a_shell_is_told_apart_by_its_program() -> None:
    def run(command: str) -> JudgedCall:
        return call(0, "Bash", "failed", "Tests failed.", command=command)

    found = recurring(
        track(f"{at}", run(command)) for at, command in enumerate(["pytest a", "pytest b", "npm test"] * 2)
    )
    assert [(one.program, one.failures) for one in found] == [("pytest", 4), ("npm test", 2)]
    assert program_of(run("cd x && git -C y commit -m z")) == "git commit"
    assert program_of(lost(0, "/p/x.py")) is None


def test_what_is_kept_of_a_group_does_not_grow_with_its_calls() -> None:
    recurrer = RecurrenceCounter()
    for at in range(40):
        given = {f"name{at}": 1, "query": "the same long question each time"}
        wrong = call(0, "ask", "failed", "It broke.", query="the same long question each time")
        recurrer.add(track(f"{at}", wrong, call(1, "ask", **given)))
    (found,) = recurrer.recurring()
    assert (found.repaired, found.repair_count, len(found.refs)) == (40, 1, 5)
    (group,) = recurrer._groups.values()
    assert len(group.ways) == 16


def _of(tracks: list[Track], tool: str, name: str) -> Recurrence:
    return next(one for one in recurring(tracks) if (one.tool, one.signature) == (tool, name))


def test_real_sessions_make_groups_that_can_be_read(data: Path) -> None:
    tracks = [track_of(session) for session in read(data / "claude-code")]
    failed = [one for each in tracks for one in each.calls if one.has_failed]
    started = time.process_time()
    groups = recurring(tracks, fewest_sessions=1)
    assert time.process_time() - started < 5
    assert sum(group.failures for group in groups) == len(failed)
    assert len(groups) < 0.6 * len(failed)
    assert max(group.failures for group in groups) < 0.2 * len(failed)
    assert all(signature(one) for one in failed)
    unread = _of(tracks, "Edit", "File has not been read yet")
    assert unread.sessions >= 5
    assert unread.repair == "after `Read` of the same file"
