"""Repairs: a later call that reached the same aim, and never merely one with the same tool."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.command.tool import kind_of
from seasoned.lesson.evidence import evidence_of
from seasoned.lesson.failure.call_target import runs_of, target_of
from seasoned.lesson.failure.repair import Repair, repairs
from seasoned.lesson.lesson import Way
from seasoned.outcome.track import JudgedCall
from seasoned.session import ToolCall
from tests.each_case import each_case
from tests.lesson.sessions import ran, session

_NOT_READ = "File has not been read yet. Read it first before writing to it."
_MISSING = "File does not exist."


def call(tool: str, counts_as: str = "ok", reason: str = "", result: str = "", /, **arguments: object) -> JudgedCall:
    raw = msgspec.json.encode(arguments).decode()
    kind = kind_of(ToolCall("", tool, arguments))
    verdict = counts_as if counts_as in ("ok", "failed") else "unclear"
    return JudgedCall(0, 0, tool, kind, counts_as, verdict, "none", None, raw, result, reason)


def in_order(*calls: JudgedCall) -> list[JudgedCall]:
    """Each call in a message of its own."""
    return [msgspec.structs.replace(one, position=at, message=2 * at) for at, one in enumerate(calls)]


def only(*calls: JudgedCall) -> Repair:
    (found,) = repairs(in_order(*calls))
    return found


def bash(command: str, counts_as: str = "ok", reason: str = "") -> JudgedCall:
    return call("Bash", counts_as, reason, "", command=command)


def edit(old: str, new: str, counts_as: str = "ok", reason: str = "", **more: object) -> JudgedCall:
    return call("Edit", counts_as, reason, "", file_path="/p/a.go", old_string=old, new_string=new, **more)


def test_an_edit_is_repaired_by_one_of_the_same_file() -> None:
    found = only(edit("old()", "new()", "failed", _NOT_READ), call("Read", file_path="/p/a.go"), edit("old()", "new()"))
    assert (found.failed, found.repaired, found.calls, found.changed) == (0, 2, 2, ())


def test_writing_the_whole_file_repairs_an_edit_of_it() -> None:
    found = only(edit("x", "y", "failed", "not found"), call("Write", file_path="/p/a.go", content="all"))
    assert found.repaired == 1


def test_the_right_folder_repairs_a_wrong_one() -> None:
    found = only(
        call("Read", "failed", _MISSING, file_path="/p/setup_cmd.go"),
        call("Glob", "ok", "", "/p/cli/setup_cmd.go", pattern="**/setup_cmd.go"),
        call("Read", file_path="/p/cli/setup_cmd.go"),
    )
    assert found.changed == ("file_path",)


@pytest.mark.parametrize("other", ["/p/cli/other.go", "/q/README.md"])
def test_reading_another_file_repairs_nothing(other: str) -> None:
    lost = call("Read", "failed", _MISSING, file_path="/p/README.md")
    assert repairs(in_order(lost, call("Read", file_path=other))) == ()


def test_a_file_that_was_too_large_is_not_repaired_by_its_namesake() -> None:
    large = call("Read", "failed", "File content exceeds the maximum.", file_path="/p/a/data.csv")
    assert repairs(in_order(large, call("Read", file_path="/p/b/data.csv"))) == ()
    assert only(large, call("Read", file_path="/p/a/data.csv", limit=100)).changed == ("limit",)


def test_tests_that_pass_after_an_edit_are_repaired_by_it() -> None:
    found = only(bash("pytest -q", "failed", "1 failed"), edit("x", "y"), bash("pytest -q 2>&1 | tail -5"))
    assert (found.calls, [step.kind for step in found.steps]) == (2, ["edit"])


@each_case(
    "narrower",
    [
        "pytest tests/test_b.py",
        "pytest -q -k test_one",
        "pytest -q || true",
        "pytest -q; echo done",
        "ruff check .",
    ],
)
def test_a_check_of_less_or_whose_end_is_hidden_repairs_nothing(narrower: str) -> None:
    assert repairs(in_order(bash("pytest -q", "failed", "1 failed"), edit("x", "y"), bash(narrower))) == ()


@each_case(
    ("before", "reason", "after", "way"),
    [
        ("pnpm test", "no modules", "pnpm install && pnpm test", Way("before", "pnpm install")),
        ("entire status --detailed --json", "both set", "entire status --detailed", Way("option", "---json")),
        ("npm ci", "ERESOLVE", "npm ci --legacy-peer-deps", Way("option", "+--legacy-peer-deps")),
        ("pytest -q", "ModuleNotFoundError: x", "PYTHONPATH=. pytest -q", Way("variable", "PYTHONPATH")),
        ("cd a/b && go vet", "cd: no such file or directory: a/b", "go vet", Way("folder")),
        ("rtk bun run test", "error: unknown command", "bun run test", Way("form", "bun run test")),
        ('rg -n "foo.*bar" src', "rg: src: No such file", 'rg -n "foo.*bar" lib', Way("other")),
        ("git commit -m one", "hook failed", "git commit -m two", Way("other")),
        ("gh pr list", "timed out", "gh pr list", Way("again")),
    ],
)
def test_what_differs_is_the_way_of_a_repair(before: str, reason: str, after: str, way: Way) -> None:
    (failure,) = evidence_of(session(1, ran(before, reason), ran(after))).failures
    assert failure.way == way


@each_case(
    ("before", "after"),
    [
        ("cat /etc/nope.conf", "cat /etc/hosts"),
        ("git show abc1234", "git show def5678"),
        ("grep -n foo a.go", "grep -n bar b.go"),
        ("gh api repos/o/r/pulls/1170/comments", "gh api repos/o/r/pulls/1320/comments"),
        ("python -c 'import torch'", "python -c 'print(40 + 2)'"),
    ],
)
def test_an_unrelated_command_repairs_nothing(before: str, after: str) -> None:
    assert repairs(in_order(bash(before, "failed", "error"), bash(after))) == ()


def test_a_value_written_otherwise_is_a_repair_and_another_value_is_none() -> None:
    wrong = call("get_order", "failed", "order not found", order_id="#9502127")
    assert only(wrong, call("get_order", order_id="#W9502127")).changed == ("order_id",)
    assert repairs(in_order(wrong, call("get_order", order_id="#W5490111"))) == ()


def test_half_of_the_arguments_must_be_the_same_and_name_the_same_thing() -> None:
    wrong = call("cancel", "failed", "not pending", order_id="#W3916020", reason="no longer needed")
    assert repairs(in_order(wrong, call("cancel", order_id="#W8855135", reason="no longer needed"))) == ()
    assert only(wrong, call("cancel", order_id="#W3916020", reason="ordered by mistake")).changed == ("reason",)


def test_an_argument_under_another_name_is_still_the_same_attempt() -> None:
    wrong = call("fetch", "failed", "unexpected parameter", address="https://example.org/a", depth=3)
    assert only(wrong, call("fetch", url="https://example.org/a", depth=3)).changed == ("url", "address")


def test_a_failure_is_repaired_by_way_of_a_further_attempt() -> None:
    found = repairs(
        in_order(
            call("book", "failed", "bad", date="2024-05-03", seat="12A", train="ICE 1601"),
            call("book", "failed", "bad", date="2024-05-03", seat="14C", train="ICE 1602"),
            call("book", date="3 May", seat="14C", train="ICE 1602"),
        )
    )
    assert [one.repaired for one in found] == [2]


def test_a_repair_must_come_within_the_window() -> None:
    calls = in_order(bash("make", "failed", "error"), *[bash("ls")] * 9, bash("make"))
    assert [one.calls for one in repairs(calls, within=10)] == [10]
    assert repairs(calls, within=9) == ()


@each_case("counts_as", ["declined", "unclear", "cancelled", "interrupted", "trivial"])
def test_what_is_neither_ok_nor_failed_repairs_nothing_and_hides_nothing(counts_as: str) -> None:
    calls = [bash("make", "failed", "error"), bash("make", counts_as), bash("make")]
    assert [one.repaired for one in repairs(in_order(*calls))] == [2]
    assert repairs(in_order(*calls[:2])) == ()


def test_what_the_user_took_back_repairs_nothing() -> None:
    taken_back = msgspec.structs.replace(bash("make"), is_corrected=True)
    assert repairs(in_order(bash("make", "failed", "error"), taken_back)) == ()


def test_calls_of_one_message_do_not_repair_each_other() -> None:
    together = [bash("make", "failed", "error"), bash("make")]
    assert repairs(together) == ()


def test_a_command_is_known_by_its_programs_and_subcommands() -> None:
    command = "cd x && FOO=1 python -m pytest tests | tail; npm run lint && gh pr view 12 && ./run.sh now"
    assert [run.label for run in runs_of(command)] == ["pytest", "npm run lint", "gh pr view", "run.sh"]
    assert [run.decides for run in runs_of("make || true; git commit")] == [False, True]


_ARGUMENTS = st.dictionaries(
    st.sampled_from(["command", "file_path", "path", "pattern", "old_string", "content", "input"]),
    st.text(max_size=60) | st.none() | st.integers() | st.lists(st.text(max_size=9), max_size=4),
    max_size=4,
)


@given(
    st.lists(
        st.tuples(st.sampled_from(["Bash", "Edit", "Grep", "api", "shell"]), st.booleans(), _ARGUMENTS), max_size=8
    )
)
def test_any_session_has_its_repairs(drawn: list[tuple[str, bool, dict[str, object]]]) -> None:
    calls = in_order(*[call(tool, "failed" if bad else "ok", "error", "", **given) for tool, bad, given in drawn])
    for found in repairs(calls):
        assert calls[found.failed].has_failed
        assert calls[found.repaired].counts_as == "ok"
        assert 0 < found.calls == found.repaired - found.failed <= 10
    assert all(target_of(one).tool == one.tool for one in calls)


@pytest.mark.parametrize(
    ("before", "after", "error"),
    [
        ("deploy api --stage dev", "deploy api --stage test", "unknown stage: dev"),
        ("deploy --stage=dev api", "deploy --stage=test api", "invalid value for --stage"),
        ("cmake --preset debug", "cmake --preset dev-debug", "CMake Error: No such preset: debug"),
    ],
)
def test_another_value_for_the_option_that_the_error_names_is_a_repair(before: str, after: str, error: str) -> None:
    assert only(bash(before, "failed", error), bash(after)).repaired == 1
