"""What each wording rule must find and must not: `group: rule`, its matches, its misses."""

from __future__ import annotations

_TRACE = 'Traceback (most recent call last):\n  File "x.py", line '
# fmt: off
EXAMPLES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "package: npm and its kin": (("npm error code E404", "npm ERR! code ELIFECYCLE"), ("npm notice",)),
    "build_failures: make and ninja": (("make: *** [all] Error 2",), ("make: Nothing to be done for 'all'.",)),
    "build_failures: rustc and cargo": (("error[E0308]: mismatched types",), ("error: something else",)),
    "build_failures: typescript": (
        ("src/a.ts(3,5): error TS2345: Argument of type",), ("Found 0 errors. Watching for file changes.",),
    ),
    "build_failures: compilers and linkers": (("a.cpp(3): error C2065: 'x'",), ("a.c:3:5: warning: unused",)),
    "build_failures: go build": (("boom\nexit status 1", "./x.go:3:2: declared and not used: y"), ("see x.go:3",)),
    "build_failures: linter finding": (("Diff in /a/src/main.rs:1:",), ("a.py:1: note: see",)),
    "build_failures: lint summary": (("1 issues:\n* errcheck: 1",), ("0 issues.",)),
    "build_failures: build tools": (("BUILD FAILED in 3s",), ("0 errors found",)),
    "build_successes: clean build or check": (("0 issues.", "All checks passed!"), ("BUILD FAILED",)),
    "test_failures: pytest summary": (("17 errors in 0.35s", "5 failed, 31 passed in 0.93s"), ("10 passed in 1.2s",)),
    "test_failures: pytest and unittest stopped": (
        ("Ran 3 tests in 0.001s\n\nFAILED (failures=2)",), ("OK (skipped=2)",),
    ),
    "test_failures: go test": (("ok  \ta\t0.1s\nFAIL", "[test] FAIL\tpkg\t0.1s"), ("FAILURE is an option",)),
    "test_failures: jest, vitest, mocha": (("  3 passing (1s)\n  1 failing\n",), ("  0 failing",)),
    "test_failures: other runners": (("# fail 2", "not ok 3 - adds"), ("# fail 0",)),
    "test_successes: tests passed": ((" 124 pass\n 0 fail", "10 passed in 1.20s"), ("passed away",)),
    "shell_own: command not found": (("foo: command not found",), ("grep: x: not found by me",)),
    "shell_own: shell syntax": (("zsh:1: parse error near `)'",), ("syntax error in file",)),
    "shell_own: stopped for time": (
        ("x\n[Command timed out after 2s]",), ("the command timed out after a while, he said",),
    ),
    "shell_own: cd failed": (("cd: no such file or directory: /nope",), ("cd: done",)),
    "program_own: a program's own complaint": (("gh: Not Found (HTTP 404)",), ("note: it is fine",)),
    "git: git fatal": (("error: unknown option `dry-run'",), ("errors: none",)),
    "git: git says no": (
        ("The following paths are ignored by one of your .gitignore files:\ndocs\nhint: Use -f",),
        ("The following paths were added",),
    ),
    "git: git conflict": (("CONFLICT (content): Merge conflict in a.go",), ("no CONFLICT (here)",)),
    "gh: gh answered with a status": (("gh: Not Found (HTTP 404)",), ("gh: see (HTTP 200)",)),
    "gh: gh names the status": (
        ("ok\nHTTP 401: Bad credentials (https://api.github.com/graphql)",), ("HTTP 404: said a comment",),
    ),
    "gh: gh says no": (('no pull requests found for branch "main"',), ("HTTP 200 OK",)),
    "usage: wrong usage": (("unknown flag: --foo",), ("unknown",)),
    "usage: usage first": (("usage: git gc [<options>]", "Usage: foo [options]"), ("Usage of memory: 3",)),
    "generic: first or last line is an error": (("rake aborted!", "[app] Error: boom"), ("3 errors",)),
    "generic: says it failed": (("Failed to remove 1 worktree(s):", "Could not connect to the server"), ("Failed: 0",)),
    "generic: servers": (("Error response from daemon: No such container: x",), ("INFO: fine",)),
    "generic: network, disk or memory": (
        ("ssh: connect to host x port 22: Connection refused",), ("Connection established",),
    ),
    "doubts: an error further up": (
        ("Traceback (most recent call last):\n  File x",), ("0 errors",),
    ),
    "interpreter: traceback at the end": (
        ('Traceback (most recent call last):\n  File "x.py", line 1, in <module>\nValueError: bad',), ("No errors",),
    ),
    "interpreter: exception on the last line": (
        ('    return io.open(self, mode)\nFileNotFoundError: [Errno 2] No such file or directory: "x"',),
        ("see ValueError: x",),
    ),
    "interpreter: uncaught in the main program": (
        (_TRACE + '1, in <module>\n    main()\nValueError: x\nstdout follows\n' + 9 * 'line\n',),
        (_TRACE + '3, in work\n    g()\nValueError: x\nwent on\n' + 9 * 'line\n',),
    ),
    "interpreter: syntax error": (
        ('  File "<string>", line 1\n    x =\n      ^\nSyntaxError: invalid syntax',), ("a SyntaxError happened",),
    ),
    "interpreter: no such module or script": (
        ("/usr/bin/python3: No module named pytest",), ("No module named x was used",),
    ),
    "interpreter: uncaught in node": (
        ("/a/x.js:3\n    throw new Error('x')\n\nError: x\n    at f (x.js:3)\n\nNode.js v20.1.0",), ("node v20",),
    ),
    "interpreter: ends in a stack trace": (
        ("x.rb:1:in 'f': undefined local variable (NameError)",), ("  at home (x)\nfine",),
    ),
    "interpreter: panic": (("Segmentation fault (core dumped)",), ("  panic: x",)),
    "harness: no such tool": (("No task found with ID: x",), ("Tool box inventory",)),
    "harness: wrong arguments": (("Argument Validation Error",), ("Arguments in favour",)),
    "harness: tool use error": (("<tool_use_error>File does not exist.</tool_use_error>",), ("see <tool_use_error>",)),
    "harness: failed and explained": (
        ("no\n\nThis tool's input schema was not in your prompt when you called it. The input schema is: {}",),
        ("the input schema was not in your prompt",),
    ),
    "harness: patch refused before it ran": (
        ("apply_patch verification failed: Failed to find expected lines in /a/b:\nx",), ("apply_patch worked",),
    ),
    "harness: failed in the sandbox": (("write_stdin failed: Unknown process id 3",), ("failed in production",)),
    "harness: timed out": (("EXECUTION TIMED OUT",), ("Timeouts are set in config.yaml",)),
    "refusals: user rejected": (("User rejected the edit", "The user rejected this tool call."), ("User guide",)),
    "refusals: interrupted": (("Command aborted by user", "aborted by user after 3.2s"), ("Interrupted system call",)),
    "refusals: broken off": (
        ("....\n<error>Command was aborted before completion</error>",),
        ("Command was aborted before completion of the report, says the log\nok",),
    ),
    "refusals: sibling cancelled": (
        ("<tool_use_error>Sibling tool call errored</tool_use_error>",), ("Cancelled order #12",),
    ),
    "refusals: permission not granted": (("This command requires approval",), ("Permission denied",)),
    "refusals: blocked by a hook": (
        ("PreToolUse:Bash hook error: no",), ("PostToolUse:Edit hook additional context: fine",),
    ),
    "refusals: rejected by policy": (("exec command rejected by user",), ("Commander",)),
    "file_failures: patch did not apply": (("Patch validation failed (no files were modified)",), ("Patched 3 files",)),
    "file_failures: path refused": (("No file open. Use the open command first.",), ("No files open",)),
    "file_failures: no such file": (("File src/x.py not found", "File not found: /a/b.txt"), ("Files found: 3",)),
    "file_failures: too large or binary": (("Error: This tool cannot read binary files.",), ("File content follows",)),
    "file_failures: text to replace not found": (
        ("Could not find a match for old_string in the file",), ("No files found",),
    ),
    "file_failures: not read first": (
        ("File has been modified since read, either by the user or by a linter.",), ("File has 3 lines",),
    ),
    "file_failures: edit broke the file": (
        ("Your proposed edit has introduced new syntax error(s). Please understand the fixes",),
        ("Your edits are welcome",),
    ),
    "file_failures: search pattern wrong": (
        ("Invalid regular expression pattern provided: (",), ("Invalid entries: 0",),
    ),
    "file_successes: numbered lines": (("1|def f():", "12\timport x"), ("12 monkeys",)),
    "file_successes: file was written": (("Done", "[File: /x/y.py (15 lines total)]"), ("The file was not written",)),
    "search_successes: search answered": (("Found 3 files", "No files found"), ("Foundation",)),
    "terse: a line begins with a refusal": (("can't find tests/x.py", "app: missing DATABASE_URL"), ("Missing: 0",)),
    "terse: a sentence of refusal": (("branch 'x' already exists",), ("x = is not set",)),
    "web_failures: request failed": (("HTTP 500 Internal Server Error",), ("HTTP 200 OK",)),
    "web_failures: no connection": (("Connection refused",), ("Connection pooling guide",)),
    "curl: curl or wget failed": (("curl: (7) Failed to connect to localhost port 80",), ("curl: try 'curl --help'",)),
    "api_failures: protocol error": (("Tool x execution failed: boom",), ("Tools that failed",)),
    "api_failures: took too long": (("Request timed out", "Timeout of 30s exceeded"), ("Timeouts: none",)),
    "api_failures: error heading": (("### Error\nbrowserType.launch: x",), ("### Errors in this file: 3",)),
    "api_failures: plain error": (("Error", "Error 404"), ("Errors: none",)),
    "api_failures: could not": (("Could not find user", "Failed to create issue: no team"), ("Failed tests: 0",)),
    "api_failures: an exception's own words": (
        ("(0 , import_dist.default) is not a function",), ("A guide\nto what is not a function",),
    ),
    "api_failures: argument was wrong": (("Missing field 'id'", "Invalid date format"), ("Invalid rows:\n1\n2",)),
    "api_failures: short complaint": (("Request timed out",), ("Found 3 issues\nall must be fixed",)),
}
