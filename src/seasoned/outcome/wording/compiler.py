"""How compilers, linters, type checkers and build tools speak."""

from __future__ import annotations

from seasoned.outcome.wording.rule import WordingRule, WordingRules

PACKAGE = WordingRules(
    WordingRule(
        "npm and its kin",
        # The script's own output may be long; the package manager speaks before or after it, never in between.
        "edge",
        r"^(?:npm (?:ERR!|error)(?: |$)|\s?ELIFECYCLE\b|\s?\[?ERR_PNPM_|(?:error|info) Command failed with exit code"
        r"|error: script \"[^\"]*\" (?:exited with code|was terminated)"
        r"|error: \"[^\"]*\" exited with code|yarn run v[\d.]+\nerror |Usage Error: |➤ YN\d+: .*(?:Failed"
        r"|failed) with errors|error Command \"[^\"]*\" not found"
        r"|(?:npm|bun|pnpm|yarn|error:? )[^\n]*(?:Missing script|Script not found)|npm WARN exec .* not found)",
        "The package manager reports an error.",
        (
            "npm ERR! code ELIFECYCLE",
            "\u2009ERR_PNPM_VERIFY_DEPS_BEFORE_RUN\u2009 The installed dependencies",
            "[ERR_PNPM_ABORTED_REMOVE_MODULES_DIR_NO_TTY] Aborted removal of modules directory due to no TTY",
            "npm error code E404",
            'error: script "lint" exited with code 1',
            " ELIFECYCLE  Command failed with exit code 1.",
            'npm error Missing script: "x"',
        ),
        ("npm warn deprecated x", "npm notice"),
        needle=(
            "npm",
            "ELIFECYCLE",
            "ERR_PNPM",
            "exit code",
            "exited with",
            "Usage Error",
            "YN0",
            "not found",
            "yarn run",
            "was terminated",
        ),
    ),
)

HOOKS = WordingRules(
    WordingRule(
        "hook of a commit",
        # Hooks report in the order they run, so the one that failed may stand in the middle.
        "line",
        r"^- exit code: [1-9]\d*$|^husky - .*(?:exited with code|failed)|^✖ lint-staged|^✖ .{1,80}(?:failed|:)$",
        "A hook of the repository refused.",
        ("ruff....Failed\n- hook id: ruff\n- exit code: 1", "husky - pre-commit script failed (code 1)"),
        ("- exit code: 0",),
        needle=("- exit code", "husky", "✖"),
    ),
)

BUILD_FAILURES = WordingRules(
    *PACKAGE,
    WordingRule(
        "make",
        # make stops at the first error, so its own line is among the last.
        "end",
        r"^(?:g?make|gmake)(?:\[\d+\])?: \*\*\* |^\S+:\d+: \*\*\* .*Stop\.$|^ninja: (?:build stopped|error)|^(?:bazel"
        r"|ERROR): Build did NOT complete|^FAILED: Build did NOT complete",
        "The build stopped with an error.",
        (
            "make: *** [all] Error 2",
            "make[1]: *** No rule to make target 'x'.  Stop.",
            "ninja: build stopped: subcommand failed.",
        ),
        ("make: Nothing to be done for 'all'.",),
        needle=("***", "ninja: ", "did NOT complete"),
    ),
    WordingRule(
        "rustc and cargo",
        "edge",
        r"^error\[E\d{4}\]: |^warning: build failed, |^error: (?:could not compile|aborting due to|no matching package"
        r"|failed to (?:parse|load|run custom build|select))",
        "It did not compile.",
        ("error[E0308]: mismatched types", "error: could not compile `x` (bin) due to 1 previous error"),
        ("warning: unused variable", "error: something else"),
        needle=("error", "build failed"),
    ),
    WordingRule(
        "typescript",
        # One line for each finding, and a long list of them may be cut by `head` before the summary comes.
        "line",
        r"^(?:\[[\w:.-]+\] )?[^\s:(]+[:(]\d+[,:]\d+\)?(?: -|:) error (?:TS\d+|\w+/)|^error TS\d+: "
        r"|^Found [1-9]\d* errors?(?: in|\.)",
        "It did not type-check.",
        (
            "src/a.ts(3,5): error TS2345: Argument of type",
            "src/a.ts:3:5 - error TS2304: Cannot find name",
            "Found 2 errors in 1 file (checked 3 source files)",
        ),
        ("Found 0 errors. Watching for file changes.",),
        needle=("error TS", " error ", "Found "),
    ),
    WordingRule(
        "C, Swift and Java compilers",
        "line",
        r"^[^\s:()]+(?::\d+){1,2}: (?:fatal )?error: |^\S+\.java:\d+: error: |^e: (?:file://)?\S+\.kts?:"
        r"|^[^\s:()]+(?:\(\d+(?:,\d+)?\)| ): (?:fatal )?error [A-Z]+\d+",
        "It did not compile.",
        (
            "a.c:3:5: error: expected ';'",
            "Main.java:3: error: cannot find symbol",
            "a.cpp(3): error C2065: 'x'",
            "Program.cs(3,5): error CS1002: ; expected",
            "MSBUILD : error MSB1003: Specify a project or solution file.",
        ),
        ("a.c:3:5: warning: unused",),
        needle=("error", "e: "),
    ),
    WordingRule(
        "linker",
        "end",
        r"^(?:\S*/)?(?:collect2: error: |ld(?:\.\w+)?: (?:symbol|cannot|library|can't|error|undefined)"
        r"|clang(?:\+\+)?: error: |Undefined symbols for architecture)",
        "It did not link.",
        (
            "collect2: error: ld returned 1 exit status",
            "ld: symbol(s) not found for architecture arm64",
            "/usr/bin/ld: cannot find -lfoo",
        ),
        ("ld: warning: x",),
        needle=("collect2", "ld", "clang", "Undefined symbols"),
    ),
    WordingRule(
        "golangci-lint, staticcheck, vet finding",
        "line",
        r"^(?:\[[\w:.-]+\] )?[\w./@-]+\.go:\d+(?::\d+)?: .{3,300} \((?:[a-z]{3,20}|SA\d+|S\d+|ST\d+)\)$",
        "The check found problems.",
        ("a/b.go:304:3: missing cases in switch of type x (exhaustive)",),
        ("a/b.go:3: func f() (string)x",),
        needle=".go:",
    ),
    WordingRule(
        "go build",
        # `go:` also announces downloads, hence the list of verbs that are not complaints.
        "edge",
        r"^(?:\[[\w:.-]+\] )?(?:\./)?[\w./@-]+\.go:\d+:\d+: (?!.*\bwarning\b)\S"
        r"|^# [\w./-]+(?: \[[\w./-]+\])?\n[\w./-]+\.go:\d+|^go: (?!downloading|finding|extracting|found|added"
        r"|upgraded|removed|downgraded|creating|to add|warning)\S|^(?:vet|package \S+): .{0,200}(?:is not in std"
        r"|cannot find|no required module)|^no required module provides|^build constraints exclude"
        r"|^package \S+\n\timports |: import cycle not allowed$|^pattern \S+: |^exit status [1-9]\d*$",
        "It did not compile.",
        (
            "# a/b\na/b/x.go:202:24: undefined: Foo",
            "./x.go:3:2: declared and not used: y",
            "go: cannot find main module, but found .git/config in /a",
            "no required module provides package x",
            "boom\nexit status 1",
            "package a/b\n\timports a/c from x.go\n\timports a/b from y.go: import cycle not allowed",
        ),
        ("go: downloading github.com/a/b v1.0.0", "see x.go:3"),
        needle=(
            ".go:",
            "go: ",
            "package ",
            "vet: ",
            "no required",
            "build constraints",
            "pattern ",
            "import cycle",
            "exit status",
        ),
    ),
    WordingRule(
        "linter finding",
        # A code such as F401 after the position keeps times of a log (12:30:45: INFO) apart from findings.
        "line",
        r"^[^\s:]+:\d+:\d+: [A-Z]{1,4}\d{2,4} \S|^ *\^-+ SC\d+ \(|^[^\s:]+:\d+ DL\d{4} "
        r"|^[^\s:]+:\d+:\d+: .{3,300} \[[a-z-]+\]$|^Diff in \S+(?::\d+:?| at line \d+:)$"
        r"|^[^\s:]+:\d+(?::\d+)? MD\d{3}[/ ]",
        "The check found problems.",
        (
            "./a.py:1:1: F401 'os' imported but unused",
            "echo $x\n     ^-- SC2086 (info): Double quote",
            "Dockerfile:1 DL3006 warning: Always tag",
            'a.yml:3:5: unexpected key "x" [syntax-check]',
            "Diff in /a/src/main.rs:1:",
        ),
        ("a.py:1: note: see", "12:30:45: INFO started"),
        needle=(": ", "SC", " DL", "Diff in", " MD"),
    ),
    *HOOKS,
    WordingRule(
        "patch and cmake",
        "line",
        r"^(?:Hunk #\d+ FAILED|\d+ out of \d+ hunks? FAILED|can't find file to patch|CMake Error(?: at |:)"
        r"|-- Configuring incomplete, errors occurred)",
        "It did not apply.",
        ("patching file a.py\nHunk #1 FAILED at 3.", "CMake Error at CMakeLists.txt:3 (find_package):"),
        ("Hunk #1 succeeded at 3.",),
        needle=("FAILED", "can't find", "CMake Error", "incomplete"),
    ),
    WordingRule(
        "lint summary",
        # Linters end with a count; the same words further up are findings in a file that is shown.
        "end",
        r"^(?:\[[\w:.-]+\] )?(?:✖ [1-9]\d* problems?(?! \(0 errors)\b|[1-9]\d* problems? \([1-9]|[1-9]\d* issues?:\s*$"
        r"|(?:[ \t]*|[\w-]+ )[Ff]ound [1-9]\d* (?:errors?|issues?|problems?|warnings? and [1-9]\d* errors?)\b"
        r"|[1-9]\d* issues? found\.?$|Your code has been rated at (?!10\.00)|Oh no! |would reformat "
        r"|[1-9]\d* files? would be reformatted"
        r"|\[warn\] Code style issues|Code style issues found"
        r"|  × (?:Some errors were emitted|The following|Formatter would)|Checked \d+ files? .*Found [1-9]\d* error"
        r"|[1-9]\d* errors?, \d+ warnings?(?:,| found| potentially)|Lint(?:ing)? (?:failed|errors? found)"
        r"|[1-9]\d* errors? (?:generated|found)\b|[1-9]\d* error(?:s)? and \d+ warnings?)",
        "The check found problems.",
        (
            "✖ 3 problems (2 errors, 1 warning)",
            "1 issues:\n* errcheck: 1",
            "Found 3 errors in 1 file (checked 10 source files)",
            "Found 2 errors.\n[*] 1 fixable with the `--fix` option.",
            "  × Some errors were emitted while running checks.",
            "1 file would be reformatted.",
            "1 error, 0 warnings, 0 informations",
            "Oh no! 💥 💔 💥",
        ),
        (
            "0 problems",
            "✖ 1 problem (0 errors, 1 warning)",
            "0 issues.",
            "All checks passed!",
            "Success: no issues found in 3 source files",
            "Found 0 errors.",
        ),
        needle=(
            "problem",
            "issues",
            "issue:",
            "Found",
            "rated",
            "Oh no",
            "reformat",
            "Code style",
            "  × ",
            "error",
            "Lint",
        ),
    ),
    WordingRule(
        "build tools",
        # Gradle and Maven name the failure first and bury it under hints; others name it last.
        "edge",
        r"^(?:BUILD FAILED|FAILURE: Build failed|\[ERROR\] (?:Failed to execute|COMPILATION ERROR|BUILD FAILURE)"
        r"|\[INFO\] BUILD FAILURE|\*\* BUILD FAILED \*\*|Build FAILED\.?|Build failed\b|Failed to compile"
        r"|Your requirements could not be resolved"
        r"|error during build:|✘ \[ERROR\]|\S* ?ERROR in |ERROR: failed to (?:solve|build)|failed to solve: "
        r"|\[[\w:.-]+\] ERROR task failed|mise ERROR |task: Failed to run|error: Recipe `"
        r"|The command '.*' returned a non-zero code"
        r"|ERROR: (?:Could not|No matching|Failed building|Cannot|Command errored|Exception|Invalid)"
        r"|error: (?:externally-managed|subprocess-exited|metadata-generation|legacy-install|command '.*' failed)"
        r"|> Task :\S+ FAILED|[1-9]\d* errors? (?:generated|found|detected|emitted)\b|Module not found: "
        r"|Error: Process completed with exit code|[^\n]{1,200}\b(?:failed|exited|returned|ended|terminated)"
        r"(?: with)?(?: an?)?(?: non-zero)?(?: exit)? (?:code|status):? [1-9]\d{0,2}\b|Terraform .*failed"
        r"|╷\n│ Error: )",
        "The build failed.",
        (
            "BUILD FAILED in 3s",
            "Your requirements could not be resolved to an installable set of packages.",
            "[ERROR] Failed to execute goal org.x",
            "[lint] ERROR task failed",
            "mise ERROR no task build found",
            "beforeBuildCommand `pnpm build` failed with exit code 1",
            "subprocess returned non-zero exit status 2.",
            "1 error generated.",
            "ERROR: Could not find a version that satisfies the requirement x",
            "ERROR: failed to solve: process",
            "Failed to compile.",
        ),
        ("BUILD SUCCESSFUL in 3s", "the server exited with code 0", "0 errors found"),
        needle=(
            "exited",
            "returned",
            " errors",
            " error ",
            "not found: ",
            "BUILD",
            "not be resolved",
            "FAIL",
            "ailed",
            "ERROR",
            "error",
            "non-zero",
            "rror: ",
        ),
    ),
)

BUILD_SUCCESSES = WordingRules(
    WordingRule(
        "clean build or check",
        # The last lines only: an early step may be clean before a later one fails.
        "end",
        r"^(?:BUILD SUCCESS(?:FUL)?|\[INFO\] BUILD SUCCESS|All checks passed!|Success: no issues found|0 issues\."
        r"|✨?\s*Done in |Finished (?:`|dev|release|test)|\s+Finished |All done!|Build succeeded|No issues found"
        r"|found 0 vulnerabilities|Checked \d+ files? in .*No fixes)",
        "The build or check was clean.",
        ("BUILD SUCCESSFUL in 3s", "All checks passed!", "Success: no issues found in 3 source files", "0 issues."),
        ("BUILD FAILED",),
        verdict="ok",
        fault="none",
    ),
)
