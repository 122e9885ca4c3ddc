"""The judge: explicit evidence outranks words, and words are read in the way the tool speaks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from seasoned.outcome.judge import judge, judge_session
from seasoned.session import Message, Session, SessionRef, ToolCall
from tests.each_case import each_case
from tests.outcome.calls import call, shell

FAILING_TESTS = "tests/a.py F.\n=== 1 failed, 1 passed in 0.10s ==="


def said(one: ToolCall, agent: str = "claude-code") -> tuple[str, str, str]:
    verdict = judge(one, agent=agent)
    assert verdict.reason
    return verdict.verdict, verdict.evidence, verdict.fault


def test_a_call_without_a_result_is_unclear() -> None:
    assert said(call(text=None)) == ("unclear", "none", "none")


def test_flags_outrank_words() -> None:
    assert said(call("Read", "Error: everything failed", failed=False)) == ("ok", "flag", "none")
    assert said(shell("pytest", FAILING_TESTS, tool="Bash", failed=False))[0] == "ok"
    assert said(call("Read", "     1\tpackage main", failed=True))[:2] == ("failed", "flag")


@each_case(
    ("command", "text"),
    [
        ("pytest | tail -3", FAILING_TESTS),
        ("pytest; echo done", f"{FAILING_TESTS}\ndone"),
        ("cd a && make 2>&1 | head", "gcc x.c\nmake: *** [all] Error 2"),
        ('cd a && grep -n "x\\(" *.go | head', "ugrep: error: error at position 3\nx(\n  empty___/"),
        ("GIT_EDITOR=true git rebase --continue 2>&1 | tail -3", "hint: x\nCould not apply 051bc95... # x"),
        ("mise run ci 2>&1 | tail", "[test] test result: ok. 3 passed; 0 failed\n[lint] ERROR task failed"),
        ("python3 a.py 2>&1 | tail -1", "FileNotFoundError: [Errno 2] No such file or directory: 'x'"),
        ("gofmt -w a.go 2>&1 | head -3; echo DONE", "a.go:12:6: expected '(', found x\nDONE"),
        (
            "for f in a b; do python3 x.py $f; done",
            'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\nValueError: a\nb is fine',
        ),
        ('bash -lc "pytest | tail"', FAILING_TESTS),
    ],
)
def test_where_the_recorded_success_is_another_program_s_the_output_decides(command: str, text: str) -> None:
    for marks in ({"failed": False}, {"failed": False, "implied": True}, {"exit_code": 0}):
        one = shell(command, text, tool="Bash", **marks)
        assert said(one)[:2] == ("failed", "wording")
    reason = judge(one, agent="codex").reason
    assert "The recorded status is that of" in reason or "printed exit code 2" in reason


@each_case(
    ("command", "text"),
    [
        ("pytest | tail -3", "=== 3 passed in 1.20s ==="),
        ("cat failures.txt | tail", FAILING_TESTS),
        ("git log --oneline | head", "1a2b3c4 fix: error: handle fatal: thing"),
        ("git log -3 && ls missing 2>&1 | head && git reflog", "a\nls: missing: No such file or directory\nb"),
        ("go vet ./... 2>&1 | head", ""),
        ("make 2>&1 | grep -i error", ""),
        ("tool --help 2>&1 | head -3", "Usage:\n  tool [flags]"),
        ("set -o pipefail; pytest | tail", FAILING_TESTS),
        ("make; rc=$?; tail log; exit $rc", "Error: an old one in the log"),
        ("./deploy.sh 2>&1 | tail -2", "uploaded 3 files\nlive at https://x"),
        ("grep -c x f || echo none", "none"),
    ],
)
def test_a_good_output_is_a_success_whoever_s_status_it_is(command: str, text: str) -> None:
    assert said(shell(command, text, tool="Bash", failed=False))[0] == "ok"


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("make test 2>&1 | grep -A 5 test_x", ""),
        ("go test -v ./... | grep '=== RUN' | head", "=== RUN   TestX"),
        ("npm run build 2>&1 | head -3", "> a\n> b\nc"),
        ("./check.sh 2>&1 | tail -30", "line\n" * 9 + "Error: x is wrong\n" + "line\n" * 20),
        ("make 2>&1 | tail", "Command running in background with ID: b1. Output is being written to: x"),
    ],
)
def test_where_the_output_does_not_tell_it_is_unclear(command: str, text: str) -> None:
    assert said(shell(command, text, tool="Bash", failed=False))[0] == "unclear"


def test_an_exit_code_outranks_words() -> None:
    assert said(shell("pytest", FAILING_TESTS, exit_code=0), "codex") == ("ok", "exit_code", "none")
    assert said(shell("make", "all is well", exit_code=2), "codex")[:2] == ("failed", "exit_code")
    assert said(shell("make", "", exit_code=2, failed=False), "hermes")[:2] == ("failed", "exit_code")


def test_declined_interrupted_and_running_are_marked() -> None:
    assert said(call(text="no", declined=True)) == ("failed", "flag", "user_declined")
    assert said(call(text="", interrupted=True)) == ("unclear", "flag", "interrupted")
    assert said(call(text="", interrupted=True, failed=True)) == ("failed", "flag", "interrupted")
    stopped = call(text='{"status": "aborted", "error": "stopped"}')
    assert said(stopped, "hermes") == ("failed", "structure", "interrupted")
    assert said(shell("npm run dev", "", running=True), "codex") == ("unclear", "none", "none")


def test_an_answer_says_itself_whether_it_is_ok() -> None:
    hinted = call("search_files", '{"_hint": "File not found: a.txt", "matches": []}')
    assert said(hinted, "hermes") == ("failed", "wording", "call")
    for word, verdict in (("true", "ok"), ("false", "failed")):
        for name in ("ok", "success"):
            text = f'{{"{name}": {word}, "id": 7}}'
            assert said(call("mcp__shop__order", text)) == (verdict, "structure", "none")


@each_case(
    ("text", "fault"),
    [
        ("The user doesn't want to proceed with this tool use. The tool use was rejected", "user_declined"),
        ("Claude requested permissions to write to /a, but you haven't granted it yet.", "user_declined"),
        ("PreToolUse:Bash hook error: no", "user_declined"),
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", "sibling_cancelled"),
        ("Cancelled: parallel tool call Bash errored", "sibling_cancelled"),
        ("[Request interrupted by user for tool use]", "interrupted"),
        ("<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>", "call"),
        ("Exit code 1\n=== 3 failed, 10 passed in 1.2s ===", "call"),
        ("Exit code 7\ncurl: (7) Failed to connect: Connection refused", "environment"),
        ("Exit code 1\nwrite error: No space left on device", "environment"),
        ("Command timed out after 2m 0.0s", "environment"),
        ("Exit code 3", "none"),
    ],
)
def test_a_failure_says_whose_fault_it_was(text: str, fault: str) -> None:
    assert said(call(text=text, failed=True)) == ("failed", "flag", fault)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("approval policy is Never; reject command — you cannot ask", "user_declined"),
        (
            "patch rejected: writing is blocked by read-only sandbox; rejected by user approval settings",
            "user_declined",
        ),
        ("apply_patch verification failed: Failed to find expected lines in /a:\nx", "call"),
        ("unsupported call: nothing", "call"),
        (
            "failed in sandbox LinuxSeccomp with execution error: sandbox denied exec error, exit code: 2, stdout: ",
            "call",
        ),
    ],
)
def test_failures_of_codex_without_a_code(text: str, fault: str) -> None:
    verdict, evidence, found = said(call("shell", text, {"command": ["bash", "-lc", "ls"]}), "codex")
    assert (verdict, evidence) == ("failed", "wording")
    assert found in (fault, "none")


@each_case(
    "command",
    [
        "grep x f",
        "cd a && rg -n x",
        "cat f | grep x",
        "git grep x",
        "diff a b",
        "git diff --exit-code",
        "test -f x",
        "[ -d x ]",
        "which node",
        "command -v node",
        "git config --get user.name",
        "pgrep node",
        "rg x && cat y",
    ],
)
def test_exit_1_of_a_question_is_an_answer(command: str) -> None:
    assert said(shell(command, "", exit_code=1), "codex") == ("ok", "exit_code", "none")


@each_case(
    ("command", "text", "code"),
    [
        ("grep x f", "grep: f: No such file or directory", 2),
        ("grep x f", "grep: f: No such file or directory", 1),
        ("grep x f; false", "", 1),
        ("python x.py", "", 1),
        ("test -f x", "", 2),
        ("git commit -m x", "nothing to commit, working tree clean", 1),
    ],
)
def test_other_codes_and_complaints_are_failures(command: str, text: str, code: int) -> None:
    assert said(shell(command, text, exit_code=code), "codex")[:2] == ("failed", "exit_code")


def test_the_source_s_own_reading_of_a_code_counts() -> None:
    assert said(shell("x", "", exit_code=1, benign="No matches found"), "hermes") == ("ok", "exit_code", "none")


READ_OK = [
    call("Read", '     1→{"error": "boom", "success": false}'),
    call("Read", '{"error": "boom", "success": false}'),
    call("Read", "ERROR: this file lists errors\nTraceback (most recent call last):"),
    call("Grep", 'a.go:3: return errors.New("failed")'),
    shell("cat log.txt", "Error: boom\nTraceback (most recent call last):\n  File x\nValueError: x"),
    shell("git show HEAD", "commit 1\n--- FAIL: TestX\nFAIL\tpkg"),
    shell("git log", "fix: error: handle fatal: thing"),
    shell("sed -n 1,9p a.py", "raise ValueError('not found')"),
    shell("curl -s http://x", '{"error": "not found"}'),
    shell("grep -rn Error .", "a.py:1: SyntaxError: x"),
    shell("jq . a.json", '{"success": false, "error": "x"}'),
]


@pytest.mark.parametrize("one", READ_OK, ids=lambda one: f"{one.tool} {one.arguments}")
def test_content_that_speaks_of_errors_was_read_successfully(one: ToolCall) -> None:
    assert judge(one, agent="claude-code").verdict == "ok"


SHELL_FAILED = [
    ("foo", "bash: line 1: foo: command not found"),
    ("cat x", "cat: x: No such file or directory"),
    ("ls a && sed -n 1p b", "total 0\nsed: can't read b: No such file or directory"),
    ("git status", "fatal: not a git repository (or any of the parent directories): .git"),
    ("git merge x", "Auto-merging a\nCONFLICT (content): Merge conflict in a\nAutomatic merge failed; fix conflicts"),
    ("python x.py", 'start\nTraceback (most recent call last):\n  File "x.py", line 1, in f\n    g()\nValueError: bad'),
    ("python x.py", "usage: x.py [-h]\nx.py: error: the following arguments are required: a"),
    ("npm install", "npm ERR! code E404\nnpm ERR! 404 Not Found"),
    ("make", "gcc x.c\nmake: *** [all] Error 2"),
    ("pytest -q", FAILING_TESTS),
    ("go test ./... 2>&1 | tail", "--- FAIL: TestX (0.00s)\nFAIL\nFAIL\ta/b\t0.1s"),
    ("./run", "Segmentation fault (core dumped)"),
    ("curl http://x", "curl: (7) Failed to connect to x port 80"),
    ("echo oops >&2; exit 3", "oops"),
    ("false", ""),
    ("gh pr view", 'no pull requests found for branch "main"'),
    ("sudo apt install y", "sudo: a terminal is required to read the password"),
    ("tool --flag", "Error: unknown flag: --flag\nSee 'tool --help'"),
    ("cd /nope && ls", "bash: line 1: cd: /nope: No such file or directory"),
    ("srv check", "timeout waiting for the server"),
    ("npm test", "> x@1 test\n> vitest\n\nsh: 1: vitest: not found"),
]


@pytest.mark.parametrize(("command", "text"), SHELL_FAILED, ids=[command for command, _ in SHELL_FAILED])
def test_what_programs_say_when_they_fail(command: str, text: str) -> None:
    assert judge(shell(command, text), agent="inspect").verdict == "failed"


SHELL_OK = [
    ("pytest", "=== 10 passed in 1.20s ==="),
    ("go test ./... -v", "Failed to fetch: as the test wants it\n--- PASS: TestX (0.00s)\nPASS\nok  \ta/b\t0.2s"),
    ("mkdir -p x", ""),
    ("grep x f", ""),
    (
        "git commit -m x && git status",
        "[main 1a2b3c4] x\n 1 file changed\nOn branch main\nnothing to commit, working tree clean",
    ),
    ("cat missing; ls", "cat: missing: No such file or directory\na\nb"),
    ("ls missing || true", "ls: cannot access 'missing': No such file or directory"),
    ('perl -e "`foo`"', "zsh:1: command not found: foo"),
    ("mypy .", "Success: no issues found in 3 source files"),
    ("python -c 'print(1)'", "error: this is only printed"),
    ("tool list", "3 errors were fixed last week"),
    ("rg 'No such file' -n", "a.py:3: x: No such file or directory"),
    ("make", "make: Nothing to be done for 'all'."),
    ("lint .", "No issues found"),
    ("tool sync", "✓ pushed\nNo stuck sessions found."),
    ("git commit -m x", "[main 5ff03a7] Cannot find x: fix\n 1 file changed"),
]


@pytest.mark.parametrize(("command", "text"), SHELL_OK, ids=[command for command, _ in SHELL_OK])
def test_what_is_no_failure(command: str, text: str) -> None:
    assert judge(shell(command, text), agent="inspect").verdict == "ok"


def test_claude_code_would_have_shown_a_code() -> None:
    assert said(shell("x", "Error: boom", tool="Bash"), "claude-code")[0] == "unclear"
    assert said(shell("pytest", FAILING_TESTS, tool="Bash"), "claude-code")[0] == "failed"
    assert said(shell("x", "Exit code 4\nboom", tool="Bash"), "claude-code")[:2] == ("failed", "exit_code")


HERMES: list[tuple[str, dict[str, Any], str, str]] = [
    ("terminal", {"output": "x", "exit_code": 0, "error": None}, "ok", "none"),
    ("terminal", {"output": "ls: cannot access", "exit_code": 3, "error": None}, "failed", "none"),
    ("terminal", {"output": "", "exit_code": 124, "error": "Command timed out"}, "failed", "environment"),
    (
        "terminal",
        {"output": "", "exit_code": -1, "error": "BLOCKED: no", "status": "blocked"},
        "failed",
        "user_declined",
    ),
    ("terminal", {"output": "", "exit_code": 1, "error": None, "exit_code_meaning": "No matches found"}, "ok", "none"),
    ("process", {"error": "BLOCKED by Seasoned: alice denied 'delete_data': not today"}, "failed", "user_declined"),
    ("process", {"processes": []}, "ok", "none"),
    ("process", {"status": "not_found", "error": "No process with ID nope"}, "failed", "none"),
    ("read_file", {"content": "1|an error", "total_lines": 1, "file_size": 9}, "ok", "none"),
    ("read_file", {"content": "", "total_lines": 0, "error": "File not found: x"}, "failed", "call"),
    ("write_file", {"bytes_written": 22, "lint": {"status": "ok"}, "files_modified": ["a"]}, "ok", "none"),
    ("write_file", {"bytes_written": 7, "lint": {"status": "error", "output": "SyntaxError"}}, "unclear", "call"),
    ("patch", {"success": True, "diff": "x"}, "ok", "none"),
    ("patch", {"success": False, "error": "Could not find a match for old_string"}, "failed", "call"),
    ("search_files", {"total_count": 0}, "ok", "none"),
    ("search_files", {"total_count": 0, "error": "Path not found: /no"}, "failed", "call"),
    ("execute_code", {"status": "success", "output": "1", "exit_code": 0}, "ok", "none"),
    ("execute_code", {"status": "error", "output": "", "error": "ZeroDivisionError"}, "failed", "call"),
    ("memory", {"success": False, "error": "would exceed the limit"}, "failed", "none"),
    ("todo", {"todos": [], "summary": {}}, "ok", "none"),
    ("clarify", {"user_response": "a"}, "ok", "none"),
    ("delegate_task", {"status": "dispatched", "mode": "background"}, "ok", "none"),
    ("web_search", {"success": True, "data": []}, "ok", "none"),
    ("web_extract", {"results": [{"url": "a", "error": "404"}, {"url": "b", "content": "x"}]}, "ok", "none"),
    ("web_extract", {"results": [{"url": "a", "error": "404"}]}, "failed", "none"),
    ("anything", {"error": "Error executing anything: boom"}, "failed", "call"),
    ("anything", {"result": json.dumps({"success": False, "error": "inner"})}, "failed", "none"),
    ("anything", {"result": json.dumps({"success": True, "error": None})}, "ok", "none"),
]


@pytest.mark.parametrize(("tool", "answer", "verdict", "fault"), HERMES, ids=[f"{t} {a}"[:60] for t, a, _, _ in HERMES])
def test_the_answers_of_hermes(tool: str, answer: dict[str, Any], verdict: str, fault: str) -> None:
    arguments = {"command": "ls /nope"} if tool == "terminal" else {}
    found = judge(call(tool, json.dumps(answer), arguments), agent="hermes")
    assert found.verdict == verdict
    assert fault in ("none", found.fault)
    warned = judge(call(tool, f"{json.dumps(answer)}\n\n[Tool loop warning: x]", arguments), agent="hermes")
    assert warned.verdict == verdict


def test_an_unknown_tool_of_hermes_answers_in_plain_words() -> None:
    assert said(call("cronjob", "Tool 'cronjob' does not exist. Available tools: clarify"), "hermes")[0] == "failed"


@each_case(
    ("text", "verdict"),
    [
        ('{"id": 1, "status": "cancelled", "items": []}', "ok"),
        ('{"error": null, "data": 1}', "ok"),
        ('{"ok": false, "error": "channel_not_found"}', "failed"),
        ('{"message": "Not Found", "documentation_url": "x", "status": "404"}', "failed"),
        ('{"errors": [{"message": "no"}], "data": null}', "failed"),
        ('{"isError": true, "content": []}', "failed"),
        ("Error: user not found", "failed"),
        ("MCP error -32602: Invalid arguments", "failed"),
        ("Argument Validation Error", "failed"),
        ("yusuf_rossi_9620", "ok"),
        ("[]", "ok"),
        ("{}", "ok"),
        ("", "unclear"),
    ],
)
def test_answers_of_an_api(text: str, verdict: str) -> None:
    assert judge(call("mcp__server__get", text), agent="openai").verdict == verdict


@each_case(
    ("tool", "text", "verdict"),
    [
        ("Read", "File does not exist.", "failed"),
        ("Edit", "String to replace not found in file.\nString: x", "failed"),
        ("Edit", "Found 2 matches of the string to replace, but replace_all is false.", "failed"),
        ("Edit", "The file /a/b.go has been updated successfully.", "ok"),
        ("Write", "File created successfully at: /a/b", "ok"),
        ("Glob", "No files found", "ok"),
        ("Grep", "Found 3 files\na\nb\nc", "ok"),
        ("apply_patch", "Success. Updated the following files:\nM a.py", "ok"),
        ("WebFetch", "Request failed with status code 404", "failed"),
        ("WebFetch", "# HTTP errors\n404 means not found", "ok"),
        ("str_replace_editor", "No replacement was performed, old_str `x` did not appear verbatim in /a.", "failed"),
        ("execute_ipython_cell", "Traceback (most recent call last):\n  File x\nNameError: x", "failed"),
        ("think", "", "ok"),
    ],
)
def test_tools_that_speak_in_words(tool: str, text: str, verdict: str) -> None:
    assert judge(call(tool, text), agent="openhands").verdict == verdict


def test_synthetic_calls_are_left_out_of_a_session() -> None:
    calls = (call(text="x", failed=False), call(text="x", failed=False, synthetic=True))
    session = Session(SessionRef("claude-code", "s"), "claude_code", "p", (Message("assistant", "", calls),))
    assert [one.synthetic for one, _ in judge_session(session)] == [False]
