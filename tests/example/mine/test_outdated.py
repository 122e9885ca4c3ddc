"""The newest evidence wins: what stopped working is left out, whatever about a call it is."""

from __future__ import annotations

from typing import Any

from seasoned.example.mine.miner import gather
from seasoned.example.mine.outdated import is_against_form
from seasoned.outcome.track import Track
from tests.each_case import each_case
from tests.example.sessions import call, failed, session


def kept(*tracks: Track) -> list[str]:
    """The arguments of the calls of `move` that are left."""
    return [one.call.raw_arguments for one in gather(tracks, {}, {}) if one.call.tool == "move"]


def week(name: str, value: Any, *, day: float, works: bool = True, root: str = "") -> Track:
    tried = call("move", week=value) if works else failed("move", "Error: invalid week", week=value)
    return session(name, tried, call("look", at="#P-1"), day=day, root=root or name)


def test_a_form_that_failed_in_two_lineages_since_it_worked_is_left_out() -> None:
    old = [week(name, "2026-W14", day=40) for name in "ab"]
    fails = [week(name, "2026-W15", day=2, works=False) for name in "cd"]
    new = week("e", "14/2026", day=1)
    assert kept(*old, *fails, new) == ['{"week":"14/2026"}']
    assert len(kept(*old, fails[0], new)) == 3, "one lineage can be mistaken"
    assert len(kept(*old, *[week(name, "2026-W15", day=2, works=False, root="one") for name in "cd"])) == 2


def test_a_form_that_worked_since_is_kept() -> None:
    fails = [week(name, "2026-W15", day=20, works=False) for name in "cd"]
    assert kept(*fails, week("e", "2026-W16", day=1)) == ['{"week":"2026-W16"}']


@each_case(
    ("old", "new"),
    [
        ("high", "urgent"),
        (30, 30000),
        (19.99, 1999),
        ("crm.orders", "sales.orders"),
        ("5 kg", "5000 g"),
        ("/srv/a/x.csv", "/srv/b/x.csv"),
        (True, False),
    ],
)
def test_the_old_convention_goes_and_the_new_one_stays_whatever_it_is_about(old: Any, new: Any) -> None:
    before = [week(name, old, day=40) for name in "ab"]
    after = [session(name, failed("move", "Error: invalid", week=old), call("move", week=new), day=2) for name in "cd"]
    found = [one for one in gather([*before, *after], {}, {}) if one.call.tool == "move"]
    assert [one.call.arguments["week"] for one in found] == [new, new]


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
