"""The replay on histories that are known in every detail."""

from __future__ import annotations

from seasoned.lesson.replay import conversations, essential, figures, replay
from tests.lesson.sessions import made, ran, session

UNKNOWN = "error: unrecognized subcommand 'run'"


def test_only_what_had_ended_before_is_known() -> None:
    found = replay(conversations([session(day, ran("mise run test")) for day in range(5)]))
    assert [one.known for one in found] == [0, 1, 2, 3, 4]
    # The first sessions are told nothing; later ones what two and more have shown.
    assert [len(one.lines["chosen"]) for one in found] == [0, 0, 1, 1, 1]
    line = found[-1].lines["chosen"][0]
    assert (line.text, line.done, line.right, line.as_written) == ("mise run test", True, True, True)


def test_sessions_at_the_same_time_know_nothing_of_each_other() -> None:
    some = [session(1 + day / 1000, ran("mise run test")) for day in range(5)]
    assert [one.known for one in replay(conversations(some))] == [0] * 5


def test_a_line_counts_only_where_the_session_served_its_purpose() -> None:
    some = [session(day, ran("mise run test")) for day in range(8)]
    reading = session(8, made("Read", {"file_path": "/home/mira/shop/a.md"}))
    other = session(9, ran("go test ./..."))
    found = figures(replay(conversations([*some, reading, other]))).all.arms["chosen"]
    assert (found.lines, found.right.value) == (1, 0.0), "the session that only read says nothing"


def test_covered_counts_the_purposes_that_an_earlier_session_had_served_so() -> None:
    some = [session(day, ran("mise run test")) for day in range(8)]
    both = session(8, ran("mise run test"), ran("mise run lint"))
    found = figures(replay(conversations([*some, both]))).all
    assert (found.arms["chosen"].covered.value, found.arms["chosen"].covered.n) == (1.0, 1)
    assert found.arms["baseline"].covered.value == 1.0
    assert found.arms["random"].covered.value == 1.0


def test_what_every_agent_tries_first_is_counted_apart() -> None:
    some = [session(day, ran("go test ./...")) for day in range(10)]
    found = figures(replay(conversations(some))).all
    assert found.arms["baseline"].lines == 0 and found.with_defaults["baseline"].lines == 2
    assert found.with_defaults["chosen"].lines == 0, "it is not said"


def test_a_session_that_first_went_wrong_is_counted_apart() -> None:
    some = [session(day, ran("mise run test")) for day in range(8)]
    wrong = session(8, ran("npm test", "npm error Missing script: test"), ran("mise run test"))
    found = figures(replay(conversations([*some, wrong]))).all.arms["chosen"]
    assert (found.covered_first_wrong.value, found.covered_first_wrong.n) == (1.0, 1)


def test_known_mistakes_are_answered_at_the_start_and_at_the_call() -> None:
    some = [session(day, ran("rtk bun run e2e", UNKNOWN), ran("bun run e2e")) for day in range(4)]
    found = figures(replay(conversations(some))).all
    assert (found.mistakes, found.known_mistakes, found.repaired) == (4, 3, 3)
    assert (found.in_time.value, found.late, found.right.value, found.false_hints) == (1.0, 0, 1.0, 0)


def test_an_answer_that_no_event_delivers_is_late() -> None:
    refused = "<tool_use_error>missing required parameter: region</tool_use_error>"
    wrong, right = {"parcel": "p0052025"}, {"parcel": "p0052025", "region": "north"}
    some = [session(day, made("track", wrong, refused), made("track", right)) for day in range(3)]
    found = figures(replay(conversations(some))).all
    assert (found.in_time.value, found.late, found.hints) == (0.0, 2, 0)


def test_a_hint_at_a_call_that_worked_is_false() -> None:
    fails = [session(day, ran("rtk bun run e2e", UNKNOWN), ran("bun run e2e")) for day in range(3)]
    found = figures(replay(conversations([*fails, session(5, ran("rtk bun run e2e"))]))).all
    assert found.false_hints == 1


def test_nothing_of_another_project_is_shown() -> None:
    theirs = [session(day, ran("mise run test"), project="example.org/team/other") for day in range(5)]
    mine = [session(10 + day, ran("mise run lint")) for day in range(3)]
    found = replay(conversations([*theirs, *mine]))
    assert all(one.foreign == 0 for one in found)
    assert not any("test" in line.text for one in found[5:] for line in one.lines["chosen"])


def test_the_same_histories_give_the_same_figures_in_any_order() -> None:
    some = [session(day, ran("mise run test"), ran(f"make part{day}")) for day in range(9)]
    assert figures(replay(conversations(some))) == figures(replay(conversations(list(reversed(some)))))


def test_a_command_is_the_same_without_what_only_changes_its_output() -> None:
    assert essential("uv run pytest tests -q --tb=short") == essential("uv run pytest tests/unit -v")
    assert essential("cargo test --workspace") != essential("cargo test")
