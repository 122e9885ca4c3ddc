"""How the shell itself and the small programs of Unix speak."""

from __future__ import annotations

from seasoned.outcome.wording.rule import WordingRule, WordingRules

# Under which names shells complain: bash by its path, zsh as `(eval)` in a tool, a script by its file.
_SHELL = r"(?:(?:/\S*/)?(?:ba|z|da|k|c)?sh|\(eval\)|-?bash|environment|/\S+\.sh|\S+\.sh)"

SHELL_OWN = WordingRules(
    WordingRule(
        "command not found",
        # The name is captured: a program missing in an earlier step does not decide how the command ends.
        "edge",
        rf"^(?:{_SHELL}: ?(?:line )?\d*:? ?(?P<program>[^\s:]+): (?:command )?not found$"
        rf"|{_SHELL}:\d*:? ?(?:command not found|no such file or directory): (?P<other>\S+)"
        rf"|(?P<bare>[^\s:]+): command not found$"
        rf"|[^\s:]+: line \d+: (?:exec: )?(?P<inner>[^\s:]+): (?:command )?not found$"
        rf"|{_SHELL}: (?:line \d+: )?(?P<file>[^\s:]+): (?:No such file or directory|Permission denied|cannot execute"
        rf"|is a directory|Is a directory|bad interpreter))",
        "The shell did not find the program.",
        (
            "bash: line 1: foo: command not found",
            "/bin/sh: 1: foo: not found",
            "(eval):1: command not found: golangci-lint",
            "zsh:1: command not found: foo",
            "foo: command not found",
            "bash: ./x.sh: Permission denied",
            "/a/node_modules/.bin/oxfmt: line 20: exec: node: not found",
            "/usr/bin/bash: line 3: /proc/x: No such file or directory",
        ),
        ("the command not found handler", "grep: x: not found by me"),
        fault="environment",
        needle=(
            "not found",
            "No such file",
            "no such file",
            "Permission denied",
            "cannot execute",
            "s a directory",
            "bad interpreter",
        ),
    ),
    WordingRule(
        "shell syntax",
        "edge",
        rf"^{_SHELL}: (?:-c: )?(?:line )?\d*:? ?(?:syntax error|unexpected EOF|parse error|bad substitution"
        rf"|unexpected end of file|unmatched|[^\n:]{{1,80}}: (?:unbound variable|bad substitution|syntax error"
        rf"|parameter not set|ambiguous redirect))"
        rf"|^{_SHELL}:\d+: (?:parse error|bad pattern|unmatched|bad substitution|no matches found: (?P<glob>\S+)"
        rf"|read-only variable|no such user|not an identifier|unknown file attribute|permission denied: "
        rf"|operation not permitted: |number expected|bad math|event not found|can't create )"
        r"|^(?:syntax error|parse error) near ",
        "The shell could not read the command.",
        (
            "bash: -c: line 1: unexpected EOF while looking for matching `\"'",
            "bash: -c: line 2: syntax error: unexpected end of file",
            "(eval):1: no matches found: /a/*git*",
            "(eval):1: operation not permitted: guarded.txt",
            "zsh:1: can't create temp file for here document: operation not permitted",
            "zsh:1: parse error near `)'",
            "bash: line 1: X: unbound variable",
        ),
        ("syntax error in file", "  (eval):1: indented"),
        needle=("sh:", "(eval):", "environment:", "error near "),
    ),
    WordingRule(
        "stopped for time",
        # The agent's note comes last; the same sentence elsewhere is part of a log.
        "end",
        r"^\[?(?:[Cc]ommand|Process|Execution) timed out after [\d.]+ ?\w*\.?\]?$",
        "It took too long and was stopped.",
        ("x\n[Command timed out after 2s]", "command timed out after 10152 milliseconds"),
        ("the command timed out after a while, he said",),
        fault="environment",
        needle="timed out",
    ),
    WordingRule(
        "cd failed",
        "edge",
        rf"^(?:{_SHELL}: ?(?:line )?\d*:? ?)?(?:cd|pushd|source|\.|export|exec|kill"
        rf"|ulimit): (?:no such file or directory: |not a directory: |permission denied: "
        rf"|\S.*: (?:No such file or directory|Not a directory|Permission denied|not a valid identifier"
        rf"|No such process|can't cd)|\(\d+\) - No such process)"
        r"|^\(eval\):(?:cd|source|\.):\d+: ",
        "The shell could not do it.",
        (
            "bash: line 1: cd: /nope: No such file or directory",
            "cd: no such file or directory: /nope",
            "(eval):cd:1: x: No such file or directory",
        ),
        ("cd: done",),
        needle=("o such file", "ot a directory", "ermission denied", "identifier", "process", "can't cd"),
    ),
)
PROGRAM_OWN = WordingRules(
    WordingRule(
        "a program's own complaint",
        # Only with a known complaint behind the name: "note: …" and "a.go:3: …" look the same at their start.
        "edge",
        r"^(?P<program>[A-Za-z_][\w.+-]*): {1,2}(?:(?:cmd\. line:\d+: |cannot|can't|could not|unable to|failed to"
        r"|error(?!: couldn't create cache file)|fatal|invalid"
        r"|illegal|unrecognized|unknown|missing|no such|option|bad|unexpected|not |syntax error|stat: "
        r"|ERROR|Error|\d+ compile errors?|too many|extra operand|must|unable|unterminated|expression|-[a-z]|--\w"
        r"|unsupported|refusing|regex parse error|No |usage|conflicting|a (?:terminal|password) is required"
        r"|A terminal is required|sorry)[^\n]*"
        r"|[^\n]{1,500}: (?:No such file or directory|Permission denied|Is a directory|Not a directory|is a directory"
        r"|File exists|Operation not permitted|Read-only file system|No space left on device|Connection refused"
        r"|Device or resource busy|Input/output error|Too many open files|Invalid argument|Argument list too long"
        r"|Directory not empty|Bad file descriptor|(?:no such|not such) .*|unexpected token.*|invalid .*|unknown .*"
        r"|cannot .*|Not found.*|command not found|unterminated .*|extra characters .*|undefined .*|syntax error.*)"
        r"|line \d+: syntax error.*|Not Found \(HTTP \d+\)|HTTP \d+.*)",
        "The program complained.",
        (
            "cat: x: No such file or directory",
            "ls: cannot access '/nope': No such file or directory",
            "ls: /a/b: No such file or directory",
            "sed: can't read a/x.py: No such file or directory",
            "touch: cannot touch 'denied.txt': Read-only file system",
            "jq: error: syntax error, unexpected //",
            'sed: 1: "x": invalid command code k',
            "gh: Not Found (HTTP 404)",
            "diff: missing operand after 'a'",
            "rm: cannot remove 'x': No such file or directory",
            "unzip:  cannot find or open a.zip, a.zip.zip or a.zip.ZIP.",
            "awk: cmd. line:1: {print $1",
        ),
        (
            "note: it is fine",
            "a.go:3: error here",
            "  cat: x: No such file or directory",
            "find: warning: you have specified the global option -maxdepth after the argument -name",
            "python3: error: couldn't create cache file '/tmp/xcrun_db-y941Bu8J' (errno=Operation not permitted)",
        ),
        needle=": ",
    ),
)

GIT = WordingRules(
    WordingRule(
        "git fatal",
        "edge",
        r"^(?:fatal|error): (?P<what>\S.*)",
        "git refused.",
        (
            "fatal: not a git repository (or any of the parent directories): .git",
            "error: pathspec 'x' did not match any file(s) known to git",
            "error: unknown option `dry-run'",
        ),
        ("errors: none",),
        needle=("fatal: ", "error: "),
    ),
    WordingRule(
        "git says no",
        # Without the word `fatal`, but with a status of 1.
        "edge",
        r"^(?:The following paths are ignored by one of your |There is no tracking information for "
        r"|No stash entries found|You are not currently on a branch)",
        "git refused.",
        (
            "The following paths are ignored by one of your .gitignore files:\ndocs\nhint: Use -f",
            "No stash entries found.",
        ),
        ("The following paths were added",),
    ),
    WordingRule(
        "git conflict",
        # Anywhere near either end: git lists conflicts file by file and then prints hints.
        "line",
        r"^(?:CONFLICT \(|Automatic merge failed|error: could not apply |Could not apply [0-9a-f]{6}"
        r"|hint: Resolve all conflicts|The stash entry is kept| ! \[(?:remote )?rejected\]|error: failed to push"
        r"|Aborting$|Patch failed at |hint: Updates were rejected)",
        "git stopped at a conflict or a rejection.",
        (
            "CONFLICT (content): Merge conflict in a.go",
            " ! [rejected]        main -> main (fetch first)",
            "Automatic merge failed; fix conflicts and then commit the result.",
        ),
        ("no CONFLICT (here)",),
        needle=(
            "CONFLICT",
            "merge failed",
            "ould not apply",
            "Resolve all",
            "stash entry is kept",
            "rejected",
            "failed to push",
            "Aborting",
            "Patch failed",
        ),
    ),
    WordingRule(
        "nothing to commit",
        # Last, because `git commit` prints the status of the folder in front of it.
        "end",
        r"^(?:nothing to commit|no changes added to commit|nothing added to commit|nothing to squash)",
        "There was nothing to commit.",
        ("On branch main\nnothing to commit, working tree clean",),
        ("committed nothing",),
        needle=("nothing", "no changes added"),
    ),
)
