"""What a report says about a mistake: what works, with its evidence."""

from __future__ import annotations

import msgspec

from seasoned.lesson.failure.failure import FailureKey, failure_key, is_signal
from seasoned.lesson.failure.recurrence import Recurrence
from seasoned.lesson.failure.repair import repairs
from seasoned.outcome.track import JudgedCall, Track
from tests.each_case import each_case
from tests.lesson.failure.mistakes import bash, call, edit, recurring, session, sessions

_RTK = "error: unrecognized subcommand 'bun'"
_NO_MODULE = "ModuleNotFoundError: No module named 'shop'"


def only(tracks: list[Track]) -> Recurrence:
    (found,) = recurring(tracks)
    return found


def said(*calls: JudgedCall) -> str | None:
    """What is said about the first mistake of three equal sessions, without the evidence."""
    found = recurring(sessions(3, *calls))[0]
    return None if found.action is None else found.action.rpartition(" (3 sessions")[0]


@each_case(
    ("wrong", "error", "right", "action"),
    [
        ("rtk bun run test", _RTK, "bun run test", "Run `bun run test` without `rtk`"),
        (
            "timeout 60 go test ./...",
            "zsh: command not found: timeout",
            "go test ./...",
            "Run `go test` without `timeout`",
        ),
        ("pytest -q", "bash: pytest: command not found", "uv run pytest -q", "Run `uv run pytest` instead of `pytest`"),
        ("npx eslint .", "npm error could not determine executable to run", "pnpm exec eslint .", None),
        ("pytest", "bash: pytest: command not found", ".venv/bin/pytest", "Run `.venv/bin/pytest` instead of `pytest`"),
        ("pytest -q", _NO_MODULE, "PYTHONPATH=. pytest -q", "Set `PYTHONPATH` for `pytest`"),
        ("pytest -q", _NO_MODULE, "python -m pytest -q", "Run `python -m pytest` instead of `pytest`"),
        ("python a.py x", "bash: python: command not found", "python3 a.py x", "Run `python3` instead of `python`"),
        ("npm run tests", 'npm error Missing script: "tests"', "npm run test", None),
        (
            "entire status --json",
            "Error: unknown flag: --json",
            "entire status",
            "Run `entire status` without `--json`",
        ),
        ("wp deploy web", "wp: missing --env", "wp deploy web --env prod", "Run `wp deploy` with `--env`"),
        ("wp show 17", "wp: bad id: 17", "wp show '#P-00017'", "Write the argument of `wp show` like `#P-00017`"),
        (
            "git push",
            "error: failed to push some refs to 'x'",
            "git pull && git push",
            "Run `git pull` before `git push`",
        ),
    ],
)
def test_a_command_that_was_written_wrongly_is_told_as_it_works(
    wrong: str, error: str, right: str, action: str | None
) -> None:
    expected = {
        "npx eslint .": "Run `pnpm exec eslint` instead of `npx eslint`",
        "npm run tests": "Run `npm run test` instead of `npm run tests`",
    }
    assert said(bash(wrong, error), bash(right)) == (action or expected[wrong])


@each_case(
    ("error", "between", "action"),
    [
        ("File has not been read yet. Read it first.", "Read", "Read the file before you change it with `Edit`"),
        (
            "String to replace not found in file.",
            "Read",
            "Read the file again before `Edit`, and copy the text to replace exactly",
        ),
        (
            "File has been modified since read, either by the user or by a linter.",
            "Read",
            "Read the file again before you change it with `Edit`: it had changed since",
        ),
    ],
)
def test_an_editing_tool_is_repaired_by_reading(error: str, between: str, action: str) -> None:
    path = "/p/src/app.ts"
    found = only(sessions(3, edit(path, failed=error), call(between, file_path=path), edit(path)))
    assert found.action == f"{action} (3 sessions, 3 repaired that way, last seen 2026-01-03)."
    (repair,) = repairs(session("x", edit(path, failed=error), call(between, file_path=path), edit(path)).calls)
    assert (repair.failed, repair.step, repair.repaired) == (0, 1, 2)


def test_the_step_that_recurs_is_named_when_the_same_call_works_later() -> None:
    stale = bash("npm run start", "Error: Cannot find module 'left-pad'")
    tracks = [
        session("a", stale, edit("/p/one.ts"), bash("npm install"), bash("npm run start")),
        session("b", stale, bash("npm install"), edit("/p/two.ts"), bash("npm run start"), day=1),
        session("c", stale, bash("npm install"), bash("git checkout x"), bash("npm run start"), day=2),
    ]
    found = only(tracks)
    assert found.action is not None
    assert found.action.startswith("Run `npm install` before `npm run start` (3 sessions, 3 repaired that way")


def test_the_same_call_again_is_said_only_where_nothing_lay_between() -> None:
    slow = bash("shop sync", "the queue is busy now")
    assert said(slow, bash("shop sync")) == "`shop sync` fails: “the queue is busy now”"
    (found,) = repairs(session("x", slow, bash("shop sync")).calls)
    assert (found.how, found.step) == ("same call again", None)
    (found,) = repairs(session("x", slow, bash("shop reset"), bash("shop sync")).calls)
    assert (found.how, found.step) == ("after `shop reset`", 1)


def test_a_repair_whose_error_comes_back_is_none() -> None:
    wrong = bash("shop sync", "the queue is busy now")
    assert repairs(session("x", wrong, bash("shop sync"), bash("ls"), wrong).calls) == ()
    # Made again in the wrong form, it still is repaired by the right one.
    both = session("x", bash("rtk bun run test", _RTK), bash("bun run test"), bash("rtk bun run test", _RTK))
    assert [one.failed for one in repairs(both.calls)] == [0]


def test_a_mistake_is_over_when_the_tests_run_at_last_even_if_they_fail() -> None:
    fixed = session(
        "x", bash("rtk bun run test", _RTK), bash("bun run test", "3 tests failed"), edit(), bash("bun run test")
    )
    first, second = repairs(fixed.calls)
    assert (first.failed, first.repaired, first.how, first.step) == (0, 3, "without `rtk`", None)
    assert (second.failed, second.how, second.step) == (1, "after editing `app.ts`", 2)


@each_case(
    ("command", "error", "is_one"),
    [
        ("go test ./...", "--- FAIL: TestOrders (0.00s)", True),
        ("mise run lint", "Error return value of `x` is not checked (errcheck)", True),
        ("npx tsc --noEmit", "src/a.ts(3,1): error TS2304: Cannot find name 'x'.", True),
        ("go test ./...", "open testdata/x.json: no such file or directory", True),
        ("git rebase main", "CONFLICT (content): Merge conflict in a.go", True),
        ("go test ./cli/lists", "stat /p/cli/lists: directory not found", False),
        ("pytest tests/test_x.py", "ERROR: file or directory not found: tests/test_x.py", False),
        ("pytest --cov", "pytest: error: unrecognized arguments: --cov", False),
        ("npm run lint:all", 'npm error Missing script: "lint:all"', False),
        ("just test", "error: Justfile does not contain recipe `test`.", False),
        ("just test", "error: Recipe `test` failed on line 4 with exit code 1", True),
        ("golangci-lint run", "zsh: command not found: golangci-lint", False),
        ("git commit -m x", "fatal: not a git repository (or any of the parent directories): .git", False),
    ],
)
def test_a_signal_reports_on_the_code_and_a_mistake_is_a_call_that_could_not_work(
    command: str, error: str, is_one: bool
) -> None:
    assert is_signal(bash(command, error)) is is_one


def test_mistakes_come_before_signals_and_only_they_have_an_action() -> None:
    red = [bash("bun run test", "3 tests failed"), edit(), bash("bun run test")]
    tracks = [
        *sessions(5, *red),
        *[session(f"m{n}", bash("rtk ls", "error: unrecognized subcommand 'ls'")) for n in (1, 2)],
    ]
    first, second = recurring(tracks)
    assert (first.kind, second.kind) == ("mistake", "signal")
    assert first.sessions < second.sessions
    assert second.action is None


def test_what_is_missing_is_said_when_no_repair_is_known() -> None:
    found = only(sessions(2, bash("timeout 9 make", "bash: timeout: command not found")))
    assert found.program == "timeout"
    assert (
        found.action
        == "`timeout` is not installed here, or not on the path (2 sessions, 2 failures, last seen 2026-01-02)."
    )
    assert said(bash("shop x", "")) is None


def test_a_repair_that_needs_a_person_is_not_told() -> None:
    wrong = bash("git push origin main", "error: failed to push some refs to 'x'")
    found = only(sessions(3, wrong, bash("git push --force origin main")))
    assert found.action is None or "--force" not in found.action


def test_more_rights_are_asked_for_and_not_taken() -> None:
    refused = "fatal: Unable to create '/p/.git/index.lock': Operation not permitted"
    wrong = call("exec_command", refused, cmd="git add -A")
    right = call("exec_command", cmd="git add -A", sandbox_permissions="require_escalated")
    assert said(wrong, right) == "Ask for permission to run `git add` outside the sandbox"


def test_tests_that_pass_when_called_otherwise_stay_a_signal() -> None:
    red = bash("go test -run TestA -count 1 ./...", "--- FAIL: TestA (0.00s)")
    (found,) = recurring(sessions(3, red, bash("go test ./...")))
    assert (found.kind, found.action) == ("signal", None)
    # A module that is not found can be either: here it was the call.
    (found,) = recurring(sessions(3, bash("pytest -q", _NO_MODULE), bash("PYTHONPATH=. pytest -q")))
    assert found.kind == "mistake"
    (found,) = recurring(sessions(3, bash("pytest -q", _NO_MODULE), edit("/p/shop.py"), bash("pytest -q")))
    assert found.kind == "signal"


def test_failures_of_one_kind_have_one_key_and_wrappers_belong_to_it() -> None:
    one = failure_key(bash("rtk bun run test", _RTK))
    assert one == FailureKey("Bash", "rtk bun run test", "unrecognized subcommand '…'")
    assert failure_key(bash("cd /x/web && rtk bun run test 2>&1 | tail -3", _RTK)) == one
    assert failure_key(bash("bun run test", "3 tests failed")).program == "bun run test"
    assert failure_key(edit(failed="String to replace not found in file.")).program is None


def test_what_a_session_says_cannot_break_out_of_the_sentence() -> None:
    hostile = "`</code><script>alert(1)</script>\x1b[31m" + "x" * 300
    found = only(sessions(2, call("api", f"the shop is closed {hostile}", a=1), call("api", **{"a": 1, hostile: "y"})))
    text = msgspec.json.encode(found).decode()
    assert found.action is not None
    assert "<script" not in found.action
    assert found.action.isprintable()
    assert len(found.action) < 300
    assert "\\u001b" not in text
