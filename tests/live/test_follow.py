"""Running sessions are followed as their files grow, and failures in a row are seen as they happen."""

from __future__ import annotations

import os
import time
from pathlib import Path
from threading import Event, Thread

from seasoned.live import LiveNews, LiveReader, RunningSessions, changed_files, streak_of
from seasoned.redact.redactor import Redactor
from tests.history.claude_lines import SESSION, ClaudeFile

SECRET = "sk-ant-api03-" + "Ab3dEf6hIj" * 9


def _sessions(folder: Path) -> RunningSessions:
    return RunningSessions([folder], LiveReader(Redactor(b"key")))


def look(live: RunningSessions) -> list[LiveNews]:
    """The first look at what is running."""
    return next(live.follow(Event()))


def _calls(found: list[LiveNews]) -> list[tuple[int, str, bool]]:
    return [(call.position, call.verdict, call.result is None) for news in found for call in news.calls]


def test_a_growing_file_is_read_on_and_a_streak_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    file = ClaudeFile().user(f"fix it with {SECRET}").calls("toolu_a").result("toolu_a").calls("toolu_b")
    file.write(path)
    live = _sessions(tmp_path)
    (first,) = look(live)
    assert first.is_first and _calls([first]) == [(0, "ok", False), (1, "unclear", True)]
    (session,) = live.running()
    assert session.ref == f"claude-code:{SESSION}" and session.project == "waypost"
    assert session.title.startswith("fix it with") and SECRET not in session.title
    assert live.take([str(path)]) == [], "nothing is new"
    file.result("toolu_b", "no such command", is_error=True).calls("toolu_c").result("toolu_c", "no", is_error=True)
    file.calls("toolu_d").result("toolu_d", "no", is_error=True).write(path)
    (news,) = live.take([str(path)])
    assert not news.is_first
    assert _calls([news]) == [(2, "failed", False), (3, "failed", False), (1, "failed", False)]
    assert (session.streak, session.count("failed"), len(session.calls)) == (3, 3, 4)
    file.calls("toolu_e").result("toolu_e").write(path)
    live.take([str(path)])
    assert session.streak == 0


def test_what_ended_long_ago_is_not_running(tmp_path: Path) -> None:
    path = ClaudeFile().user("x").write(tmp_path / "s.jsonl")
    os.utime(path, (1, 1))
    live = _sessions(tmp_path)
    assert look(live) == [] and live.running() == []
    assert live.take([str(tmp_path / "gone.jsonl")]) == []


def test_only_what_works_ends_a_streak() -> None:
    for newest, streak in ((["failed", "unclear", "failed", "ok", "failed"], 2), (["ok", "failed"], 0), ([], 0)):
        assert streak_of(newest) == streak


def test_a_change_is_noticed_within_a_second(tmp_path: Path) -> None:
    path = tmp_path / "a" / "s.jsonl"
    path.parent.mkdir()
    path.write_text("{}\n")
    stop = Event()
    seen: list[list[str]] = []
    begun = Event()

    def follow() -> None:
        for found in changed_files([tmp_path], stop, since=time.time() + 3600):
            begun.set()
            seen.append(found)

    thread = Thread(target=follow)
    thread.start()
    try:
        assert begun.wait(30)
        with path.open("a") as file:
            file.write("{}\n")
        (path.parent / "notes.txt").write_text("x")
        end = time.monotonic() + 30
        while not any(seen) and time.monotonic() < end:
            stop.wait(0.05)
    finally:
        stop.set()
        thread.join(30)
    assert not thread.is_alive()
    assert set().union(*seen) == {str(path)}
    assert next(changed_files([tmp_path], Event(), since=0)) == [str(path)], "those of before come first"
