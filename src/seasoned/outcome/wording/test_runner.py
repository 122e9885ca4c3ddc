"""How test runners sum up. A failing test is a failed call, also where a pipe hid the exit code."""

from __future__ import annotations

from seasoned.outcome.wording.rule import WordingRule, WordingRules

_TIME = r"in [\d.]+ ?m?s"

TEST_FAILURES = WordingRules(
    WordingRule(
        "pytest summary",
        # The summary is near the end, but warnings and the output of later commands may follow it.
        "tail",
        rf"(?:^|[= ])(?:[1-9]\d* (?:failed|errors?))\b(?:, \d+ \w+)*(?:,? \d+ \w+)* {_TIME}",
        "Tests failed.",
        (
            "=== 3 failed, 10 passed in 1.20s ===",
            "5 failed, 31 passed in 0.93s",
            "17 errors in 0.35s",
            "= 1 failed, 2 passed, 1 warning, 1 error in 2.00s (0:00:02) =",
        ),
        ("10 passed in 1.2s", "0 failed, 3 passed in 1s"),
        needle=(" failed", " error"),
    ),
    WordingRule(
        "pytest passed then error",
        "tail",
        rf"\b\d+ passed\b[^\n]*, [1-9]\d* (?:failed|errors?)\b[^\n]* {_TIME}",
        "Tests failed.",
        ("=== 2 passed, 1 error in 0.10s ===",),
        ("=== 2 passed, 1 skipped in 0.10s ===",),
        needle="passed",
    ),
    WordingRule(
        "pytest stopped",
        # Only the last lines: files and logs that are shown hold such lines too.
        "end",
        r"^(?:E  +\w+|ERROR: (?:file or directory not found|not found: |usage: )|!+ (?:Interrupted|stopping after)"
        r"|FAILED \S+::\S+|ERROR \S+\.py\b|no tests ran in )",
        "The test run failed.",
        (
            "ERROR: file or directory not found: tests/x.py",
            "FAILED tests/test_a.py::test_b - assert 1 == 2",
            "no tests ran in 0.01s",
        ),
        ("ERROR: something else", "PASSED tests/test_a.py::test_b"),
        needle=("E  ", "ERROR", "!!!", "FAILED", "no tests ran"),
    ),
    WordingRule(
        "unittest summary",
        "end",
        r"^FAILED \((?:failures|errors|unexpected successes|skipped)=\d+",
        "Tests failed.",
        ("Ran 3 tests in 0.001s\n\nFAILED (failures=2)",),
        ("OK (skipped=2)",),
        needle="FAILED (",
    ),
    WordingRule(
        "go test",
        # Without leading blanks: nested tests and quoted logs are indented, the runner's own verdict is not.
        "tail",
        r"^(?:\[[\w:.-]+\] )?(?:--- FAIL: \w|FAIL(?:\t\S+|[ \t]*$)|FAIL: \S+\.go)",
        "Go tests failed.",
        (
            "--- FAIL: TestX (0.00s)",
            "FAIL\tgithub.com/a/b [build failed]",
            "ok  \ta\t0.1s\nFAIL",
            "[test] FAIL\tpkg\t0.1s",
        ),
        ("    --- FAIL: nested in a log line", "FAILURE is an option", "--- PASS: TestX (0.00s)"),
        needle="FAIL",
    ),
    WordingRule(
        "rust tests",
        "end",
        r"^test result: FAILED\.|^error: (?:\d+ targets? failed|test failed)",
        "Rust tests failed.",
        ("test result: FAILED. 1 passed; 1 failed; 0 ignored", "error: test failed, to rerun pass `--lib`"),
        ("test result: ok. 2 passed; 0 failed",),
        needle=("test result: FAILED", "error: "),
    ),
    WordingRule(
        "jest, vitest, mocha",
        # The counts must not be zero: runners print "0 failing" when all went well.
        "tail",
        r"^[ \t]*(?:Tests?|Test Suites|Test Files):?\s+(?:\d+ \w+[,|] *)*?[1-9]\d* failed\b|^\s+[1-9]\d* failing[ \t]*$"
        r"|^ELIFECYCLE\b.*Test failed|^ ?(?:FAIL|×|❯)  ?\S+\.(?:test|spec)\.\w+(?: [>(\[]|$)|^  [1-9]\d* failed$"
        r"|^  ✘ +\d+ ",
        "Tests failed.",
        (
            "Tests:       1 failed, 2 passed, 3 total",
            " Test Files  1 failed | 3 passed (4)",
            "  3 passing (1s)\n  1 failing\n",
            "FAIL src/report.test.ts > totals",
            "  1 failed\n    [chromium] › a.spec.ts:3:1",
            "  ✘  1 tests/a.spec.js:12:1 › x (30.0s)",
        ),
        ("Tests:       3 passed, 3 total", "  0 failing"),
        needle=("failed", " failing", "ELIFECYCLE", "FAIL", "×", "❯", "✘"),
    ),
    WordingRule(
        "bun and deno tests",
        "end",
        r"^[ \t]*[1-9]\d* (?:fail|tests? failed:)\s*$|^\(fail\) |^FAILED \| \d+ passed",
        "Tests failed.",
        (" 124 pass\n 1 fail\n 214 expect() calls", "1 tests failed:", "FAILED | 3 passed | 1 failed (12ms)"),
        (" 124 pass\n 0 fail",),
        needle=("fail", "FAILED |"),
    ),
    WordingRule(
        "other runners",
        # Maven, PHPUnit, RSpec, dotnet, TAP, GoogleTest and CTest all sum up in their last lines.
        "end",
        r"^(?:\[ERROR\] +Tests run: |Tests run: \d+,? +Failures: [1-9]|Tests run: \d+, Failures: \d+, Errors: [1-9]"
        r"|[ \t]*FAILURES!$|BUILD FAILED\b|\d+ (?:examples?|tests?), [1-9]\d* failures?"
        r"|Failed!  - Failed: |.{0,30}-\d+: Some tests failed"
        r"|not ok \d+|# fail [1-9]|Failed: [1-9]\d*\b|\[  FAILED  \]|.{0,40}tests? (?:did not pass|FAILED)\b"
        r"|\*\* TEST FAILED \*\*|Testing failed:|\d+% tests passed, [1-9]\d* tests? failed"
        r"|[ \t]*[1-9]\d* (?:of \d+ )?(?:tests?|specs?|scenarios?) failed\b|Some tests failed)",
        "Tests failed.",
        (
            "Tests run: 4, Failures: 1, Errors: 0",
            "FAILURES!\nTests: 3",
            "12 examples, 2 failures",
            "3 tests, 1 failure",
            "Failed!  - Failed:     1, Passed:     2, Total:     3",
            "00:03 +1 -1: Some tests failed.",
            "not ok 3 - adds",
            "[  FAILED  ] Suite.Case",
            "95% tests passed, 1 tests failed out of 20",
            "# fail 2",
            "** TEST FAILED **",
        ),
        ("12 examples, 0 failures", "ok 3 - adds", "Tests run: 4, Failures: 0, Errors: 0", "# fail 0"),
        needle=("ERROR", "Failures", "FAIL", "failure", "not ok", "# fail", "Failed", "failed", "did not pass"),
    ),
)

TEST_SUCCESSES = WordingRules(
    WordingRule(
        "tests passed",
        # Asked only after all failures, so a line of one suite cannot hide the failure of another.
        "tail",
        rf"\b[1-9]\d* passed\b[^\n]*(?: {_TIME}|\(\d+\))|^test result: ok\.|^OK(?: \(skipped=\d+\))?\s*\Z"
        rf"|^Ran \d+ tests? [^\n]*\n+OK|^PASS[ \t]*$|^ok  \t\S+|^[ \t]*[1-9]\d* passing\b|^[ \t]*0 fail[ \t]*$"
        rf"|^Tests: +[1-9]\d* passed, \d+ total",
        "Tests passed.",
        (
            "10 passed in 1.20s",
            "test result: ok. 2 passed; 0 failed",
            "ok  \tgithub.com/a/b\t0.2s",
            " 124 pass\n 0 fail",
            "Ran 3 tests in 0.1s\n\nOK",
        ),
        ("passed away",),
        verdict="ok",
        fault="none",
        needle=(" passed", "test result: ok.", "OK", "PASS", "ok  \t", " passing", " 0 fail"),
    ),
)
