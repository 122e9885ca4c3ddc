"""The newest evidence wins: forms that stopped working are left out, and of forms that still do the newest calls."""

from __future__ import annotations

from seasoned.example.mine.outdated import is_against_form, still_valid
from seasoned.outcome.track import Track
from tests.each_case import each_case
from tests.example.mine.test_merge import candidates
from tests.example.sessions import bash, call, failed, session


def test_a_convention_that_changed_is_outdated() -> None:
    old = [session(name, bash("wp deploy --env staging"), day=40) for name in "ab"]
    gone = bash("wp deploy --env staging", "failed", _fault="call", _reason="unknown option --env")
    new = session("c", gone, bash("wp deploy --stage staging"), day=2)
    patterns = {candidate.pattern for candidate in still_valid(candidates(*old, new))}
    assert patterns == {"Bash wp deploy --stage"}


def test_a_convention_that_worked_again_later_is_kept() -> None:
    gone = bash("wp deploy --env staging", "failed", _fault="call", _reason="unknown option --env")
    slip = session("a", gone, bash("wp deploy --stage staging"), day=9)
    later = session("b", bash("wp deploy --env staging"), day=2)
    assert len(still_valid(candidates(slip, later))) == 2


def test_a_convention_is_outdated_for_the_shells_of_all_agents() -> None:
    old = session("a", call("terminal", command="wp deploy --env staging"), day=40)
    gone = bash("wp deploy --env staging", "failed", _fault="call", _reason="unknown option --env")
    new = session("c", gone, bash("wp deploy --stage staging"), day=2)
    assert {candidate.call.tool for candidate in still_valid(candidates(old, new))} == {"Bash"}


def kept(*tracks: Track) -> list[str]:
    """The arguments of the candidates that are left, those in doubt with a question mark."""
    found = still_valid(candidates(*tracks), tracks)
    return [f"{one.call.raw_arguments}{'?' * one.is_doubtful}" for one in found]


def week(name: str, value: str, *, day: float, works: bool = True) -> Track:
    tried = call("move", week=value) if works else failed("move", "Error: invalid week", week=value)
    return session(name, tried, call("look", at="here"), day=day)


def weeks(found: list[str]) -> list[str]:
    return [one for one in found if "week" in one]


def test_a_form_that_failed_in_two_lineages_since_it_worked_is_left_out() -> None:
    old = [week(name, "2026-W14", day=40) for name in "ab"]
    fails = [week(name, "2026-W15", day=2, works=False) for name in "cd"]
    new = week("e", "14/2026", day=1)
    assert weeks(kept(*old, *fails, new)) == ['{"week":"14/2026"}']
    assert len(weeks(kept(*old, fails[0], new))) == 3, "one lineage can be mistaken"


def test_two_sessions_of_one_lineage_are_one_voice() -> None:
    old = week("a", "2026-W14", day=40)
    fails = [session(name, failed("move", "Error", week="2026-W15"), day=2, root="one") for name in "cd"]
    assert len(weeks(kept(old, *fails))) == 1


def test_a_form_that_worked_since_is_kept() -> None:
    fails = [week(name, "2026-W15", day=20, works=False) for name in "cd"]
    assert weeks(kept(*fails, week("e", "2026-W16", day=1))) == ['{"week":"2026-W16"}']


def test_of_two_ways_that_look_alike_the_one_that_works_since_the_failures_is_taken() -> None:
    old = week("a", "high", day=40)
    changed = [
        session(name, failed("move", "Error: invalid", week="high"), call("move", week="urgent"), day=2)
        for name in "cd"
    ]
    assert weeks(kept(old, *changed)) == ['{"week":"high"}?', '{"week":"urgent"}', '{"week":"urgent"}']


@each_case(
    ("tool", "fault", "said", "is_shell", "is_against"),
    [
        ("move", "call", "Error: invalid week", False, True),
        ("move", "none", "E40", False, True),
        ("move", "environment", "connection refused", False, False),
        ("Read", "call", "File does not exist.", False, False),
        ("Edit", "call", "String to replace not found in file.", False, False),
        ("Bash", "call", "2 failed, 14 passed", True, False),
        ("Bash", "call", "FAILED tests/test_eta.py::test_late - AssertionError", True, False),
        ("Bash", "call", "error: unexpected argument '--env' found", True, True),
        ("Bash", "call", 'npm error Missing script: "test"', True, True),
        ("Bash", "call", "make: *** No rule to make target 'lint'.  Stop.", True, True),
        ("Bash", "environment", "bash: rtk: command not found", True, True),
        ("Bash", "call", "fatal: not a git repository", True, False),
    ],
)
def test_only_failures_about_how_a_call_is_written_speak_against_it(
    tool: str, fault: str, said: str, is_shell: bool, is_against: bool
) -> None:
    assert is_against_form(tool, fault, said, is_shell=is_shell) == is_against
