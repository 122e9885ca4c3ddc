"""The replay on histories that are known in every detail."""

from __future__ import annotations

from seasoned.lesson.replay import conversations, figures, replay
from tests.lesson.sessions import made, ran, session

UNKNOWN = "error: unrecognized subcommand 'run'"


def test_only_what_had_ended_before_is_known() -> None:
    some = [session(day, ran("make test")) for day in range(5)]
    found = replay(conversations(some))
    assert [one.known for one in found] == [0, 1, 2, 3, 4]
    # The first sessions are told nothing; later ones what two and more have shown.
    assert [len(one.lines["chosen"]) for one in found][:2] == [0, 0]
    assert found[-1].lines["chosen"][0].text == "make test"
    assert found[-1].lines["chosen"][0].used


def test_sessions_at_the_same_time_know_nothing_of_each_other() -> None:
    some = [session(1 + day / 1000, ran("make test")) for day in range(5)]
    assert [one.known for one in replay(conversations(some))] == [0] * 5


def test_a_line_that_the_session_does_not_run_is_not_used() -> None:
    some = [session(day, ran("make test")) for day in range(6)]
    last = session(6, ran("ls"), ran("make docs"))
    shown = replay(conversations([*some, last]))[-1].lines["chosen"]
    assert [(line.text, line.used) for line in shown] == [("make test", False)]


def test_lines_in_conversations_that_ran_no_command_are_told_apart() -> None:
    some = [session(day, ran("make test")) for day in range(6)]
    reading = session(6, made("Read", {"file_path": "/home/mira/shop/a.md"}))
    other = session(7, ran("make docs"))
    found = figures(replay(conversations([*some, reading, other]))).all
    used = found.used.n - 2
    assert found.used.value == used / (used + 2)
    assert found.used_where_run.value == used / (used + 1)


def test_ahead_counts_what_a_line_would_have_saved() -> None:
    some = [session(day, ran("make test")) for day in range(6)]
    looks = [made("Read", {"file_path": f"/home/mira/shop/{n}.md"}) for n in range(3)]
    searching = session(6, *looks, ran("make test"))
    straight = session(7, ran("make test"))
    found = replay(conversations([*some, searching, straight]))
    assert [one.lines["chosen"][0].ahead for one in found[-2:]] == [True, False]


def test_known_mistakes_are_answered_before_and_after_the_call() -> None:
    some = [session(day, ran("rtk bun run test", UNKNOWN), ran("bun run test")) for day in range(4)]
    found = figures(replay(conversations(some))).all
    assert (found.mistakes, found.known_mistakes, found.repaired) == (4, 3, 3)
    assert found.answered.value == 1.0
    assert found.right.value == 1.0
    assert found.false_hints == 0


def test_a_hint_at_a_call_that_works_is_counted_as_false() -> None:
    some = [session(day, ran("rtk bun run test", UNKNOWN), ran("bun run test")) for day in range(3)]
    found = figures(replay(conversations([*some, session(3, ran("rtk bun run test"))]))).all
    assert found.false_hints == 1


def test_a_hint_at_a_check_that_found_fault_with_the_code_is_false_too() -> None:
    some = [session(day, ran("rtk ruff check", UNKNOWN), ran("ruff check")) for day in range(3)]
    red = session(3, ran("rtk ruff check", "a.py:1:1: F401 `os` imported but unused\nFound 1 error."))
    assert figures(replay(conversations([*some, red]))).all.false_hints == 1


def test_a_failing_test_is_asked_about_as_a_hook_does() -> None:
    failed = "ModuleNotFoundError: No module named 'shop'\nERROR tests/test_till.py"
    some = [session(day, ran("pytest -q", failed), ran("PYTHONPATH=. pytest -q")) for day in range(2)]
    shown = replay(conversations(some))[-1].hints
    assert [hint.text.partition(" (")[0] for hint in shown] == ["`PYTHONPATH=. pytest -q` works here"]


def test_projects_know_nothing_of_each_other() -> None:
    ours = [session(day, ran("make test")) for day in range(6)]
    theirs = session(6.5, ran("pnpm test"), project="example.org/other/site", cwd="/home/mira/site")
    found = replay(conversations([*ours, theirs]))[-1]
    assert found.known == 0
    assert not found.lines["chosen"]
    result = figures(replay(conversations([*ours, theirs])))
    assert result.all.spoke_unknown == 0
    assert result.all.foreign == 0
    assert [one.project for one in result.projects] == ["example.org/team/shop", "example.org/other/site"]


def test_simpler_choices_are_compared_with_the_same_number_of_lines() -> None:
    some = [session(day, ran("make test"), ran(f"make part{day}"), ran("git commit -m x")) for day in range(8)]
    for one in replay(conversations(some)):
        for arm in ("frequent", "newest", "random"):
            assert len(one.lines[arm]) == len(one.lines["chosen"])


def test_the_first_prompt_gets_the_command_it_asks_for() -> None:
    some = [session(day, ran("make test" if day % 2 else "make docs")) for day in range(9)]
    asks = session(9, ran("make test"), task="Please fix the failing unit tests")
    shown = replay(conversations([*some, asks]))[-1].lines["chosen"]
    assert [(line.text, line.place, line.used) for line in shown] == [("make test", "prompt", True)]
