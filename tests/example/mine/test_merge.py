"""Patterns, support, who stands for a group, and which is shown first."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.example.call_form import pattern_of
from seasoned.example.mine.candidate import ExampleCandidate, best_first, gather, group, in_rounds
from seasoned.example.mine.selection import MiningOptions, WorkedCalls
from seasoned.outcome.track import Track
from tests.example.sessions import SMALL, bash, call, failed, session


def candidates(*tracks: Track, options: MiningOptions = SMALL) -> list[ExampleCandidate]:
    return [candidate for track in tracks for candidate in gather(WorkedCalls(track, options), options)]


@pytest.mark.parametrize(
    ("tool", "one", "other", "is_same"),
    [
        ("Read", {"file_path": "/a/b.py"}, {"file_path": "/c/d/e.go", "limit": 10}, True),
        ("Read", {"file_path": "/a/b.py"}, {"file_path": "b.py"}, False),
        ("get_order", {"order_id": "#W0052025"}, {"order_id": "#W7731846"}, True),
        ("get_order", {"order_id": "#W0052025"}, {"order_id": "0052025"}, False),
        ("Edit", {"file_path": "/a", "replace_all": False}, {"file_path": "/a"}, True),
        ("Edit", {"file_path": "/a", "replace_all": True}, {"file_path": "/a"}, False),
        ("find", {"email": "a@b.example"}, {"name": "Ann", "zip": "12345"}, False),
        ("editor", {"command": "view", "path": "/a"}, {"command": "create", "path": "/a"}, False),
        ("Grep", {"pattern": "x"}, {"pattern": "def .*handler(self)"}, True),
        ("Bash", {"command": "cd /a && pytest tests/test_a.py -q"}, {"command": "pytest tests/test_b.py"}, True),
        ("Bash", {"command": "make lint && make test"}, {"command": "make test && make lint"}, True),
        ("Bash", {"command": "mise run test 2>&1 | tail -5"}, {"command": "mise run test", "timeout": 9}, True),
        ("Bash", {"command": "git commit -m x"}, {"command": "git push"}, False),
        ("Bash", {"command": "wp deploy x --env staging"}, {"command": "wp deploy x --stage staging"}, False),
        ("Bash", {"command": "wp parcel show 417"}, {"command": "wp parcel show '#P-00417'"}, False),
    ],
)
def test_calls_made_in_the_same_manner_are_one_pattern(
    tool: str, one: dict[str, Any], other: dict[str, Any], is_same: bool
) -> None:
    assert (pattern_of(tool, one) == pattern_of(tool, other)) is is_same


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=12), _JSON, max_size=5), st.sampled_from(["Bash", "Read", "lookup"]))
def test_every_call_has_a_short_pattern(arguments: dict[str, Any], tool: str) -> None:
    found = pattern_of(tool, arguments)
    assert found.startswith(tool)
    assert len(found) <= 200
    assert found == pattern_of(tool, dict(reversed(arguments.items())))


def test_support_counts_lineages_and_not_calls() -> None:
    look = call("get", parcel_id="#P-00417")
    found = group(candidates(session("a", look, look), session("b", look), session("c", look, root="b")), SMALL)
    assert [one.support for one in found] == [2]


def test_a_step_that_recurs_is_a_sequence() -> None:
    other = call("Read", file_path="/a")
    check = bash("make check")
    tracks = [session(name, bash("make lint"), check, other) for name in "ab"]
    kinds = {one.step: one.kind for one in group(candidates(*tracks), SMALL)}
    assert kinds == {"Bash: make lint": "init", "Bash: make check": "sequence", "Read": "init"}


def test_what_one_session_alone_ran_in_its_shell_is_left_out_where_others_can_be_asked() -> None:
    other = [session(name, bash("make lint"), call("Read", file_path="/a")) for name in "bcd"]
    odd = session("a", bash("make odd"), bash("make lint"), call("Read", file_path="/a"))
    assert "Bash: make odd" not in {one.step for one in group(candidates(odd, *other), SMALL)}
    assert "Bash: make odd" in {one.step for one in group(candidates(odd), SMALL)}


def test_a_recovery_stands_for_its_group() -> None:
    plain = session("a", call("get", parcel_id="#P-00001"), day=1)
    mended = session(
        "b", failed("get", "no such parcel", parcel_id="P-00417"), call("get", parcel_id="#P-00417"), day=9
    )
    (found,) = group(candidates(plain, mended), SMALL)
    assert (found.kind, found.support, found.candidates[0].track.ref.native_id) == ("recovery", 2, "b")


def shown(*tracks: Track) -> str:
    (found,) = group(candidates(*tracks), SMALL)
    return found.candidates[0].track.ref.native_id


def test_the_call_with_clear_words_before_it_stands_for_the_others() -> None:
    vague = session("a", call("get_parcel", id="#P-1", _intent="Now the next one of them all, go."), day=1)
    clear = session("b", call("get_parcel", id="#P-2", _intent="Where is my parcel now?"), day=9)
    assert shown(vague, clear) == "b"


def test_the_shorter_call_stands_for_the_others() -> None:
    long = session("a", call("Grep", pattern="x" * 200), day=1)
    assert shown(long, session("b", call("Grep", pattern="handler"), day=9)) == "b"


def test_the_newer_of_equal_calls_stands_for_the_others() -> None:
    look = call("Grep", pattern="handler")
    assert shown(session("a", look, day=9), session("b", look, day=1)) == "b"


def test_a_call_without_blots_stands_for_the_others() -> None:
    blotted = session("a", call("find", email="[redacted:email:12345678]"), day=1)
    assert shown(blotted, session("b", call("find", email="x@y"), day=9)) == "b"


def test_calls_that_cannot_be_shown_support_but_do_not_stand() -> None:
    cut = session("a", call("Write", file_path="/a", content="abc … [900 characters]"), day=1)
    (found,) = group(candidates(cut, session("b", call("Write", file_path="/b", content="abc"), day=9)), SMALL)
    assert (found.support, found.candidates[0].track.ref.native_id) == (2, "b")
    assert group(candidates(cut), SMALL) == []


@pytest.mark.parametrize("command", ["rm -rf build", "git push --force", "cat <<E > a\nx\nE", "a\nb\nc\nd\ne"])
def test_risky_and_long_winded_commands_are_not_shown(command: str) -> None:
    assert group(candidates(session("a", bash(command))), SMALL) == []


def test_every_step_gets_one_example_before_any_gets_a_second() -> None:
    calls = [call("a", id="#P-1"), call("a", path="/x"), call("b", id="#P-1"), call("b", path="/y")]
    tracks = [session(name, *calls) for name in "xy"]
    steps = [one.step for one in in_rounds(group(candidates(*tracks), SMALL), {"b": 3})]
    assert steps == ["b", "a", "b", "a"]


def test_looking_around_in_a_shell_comes_last() -> None:
    tracks = [session(name, bash("ls -la"), bash("make check"), call("Read", file_path="/a")) for name in "abc"]
    assert [one.step for one in in_rounds(group(candidates(*tracks), SMALL), {"Bash": 9})][-1] == "Bash: ls"


def test_support_beyond_a_few_lineages_buys_no_better_place() -> None:
    wide = [session(f"w{at}", call("t", path="/x"), call("t", id="#P-1")) for at in range(5)]
    wider = [session(f"v{at}", call("t", id="#P-1")) for at in range(50)]
    ordered = in_rounds(group(candidates(*wide, *wider), SMALL), {})
    assert {one.support for one in ordered} == {5, 55}
    assert ordered[0].merit[1] == ordered[1].merit[1]


def test_of_equally_good_members_the_lineage_that_supplied_less_comes_first_and_a_better_one_always() -> None:
    look = call("Grep", pattern="handler")
    (found,) = group(candidates(session("a", look, day=1), session("b", look, day=9)), SMALL)
    assert [one.track.root for one in best_first(found.kind, found.candidates, {})] == ["a", "b"]
    assert [one.track.root for one in best_first(found.kind, found.candidates, {"a": 1})] == ["b", "a"]
    clear = session("a", call("get_parcel", id="#P-1", _intent="Where is my parcel now?"))
    vague = session("b", call("get_parcel", id="#P-2", _intent="Now the next one of them all, go."))
    (found,) = group(candidates(clear, vague), SMALL)
    assert next(best_first(found.kind, found.candidates, {"a": 1})).track.root == "a"


def test_each_project_has_its_own_examples() -> None:
    look = call("get", parcel_id="#P-00417")
    found = group(candidates(session("a", look, project="shop"), session("b", look, project="bank")), SMALL)
    assert [one.support for one in found] == [1, 1]
