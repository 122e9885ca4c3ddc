"""How the shell itself and the small programs of Unix speak."""

from __future__ import annotations

from seasoned.outcome.wording.rule import Rule, Rules

_SHELL = r"(?:(?:/\S*/)?(?:ba|z|da|k|c)?sh|\(eval\)|-?bash|environment|/\S+\.sh|\S+\.sh)"

SHELL_OWN = Rules(
    Rule(
        "command not found",
        "edge",
        rf"^(?:{_SHELL}: ?(?:line )?\d*:? ?(?P<program>[^\s:]+): (?:command )?not found$"
        rf"|{_SHELL}:\d*:? ?(?:command not found|no such file or directory): (?P<other>\S+)"
        rf"|(?P<bare>[^\s:]+): command not found$"
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
    Rule(
        "shell syntax",
        "edge",
        rf"^{_SHELL}: (?:-c: )?(?:line )?\d*:? ?(?:syntax error|unexpected EOF|parse error|bad substitution"
        rf"|unexpected end of file|unmatched|[^\n:]{{1,80}}: (?:unbound variable|bad substitution|syntax error"
        rf"|parameter not set|ambiguous redirect))"
        rf"|^{_SHELL}:\d+: (?:parse error|bad pattern|unmatched|bad substitution|no matches found: (?P<glob>\S+)"
        rf"|read-only variable|no such user|not an identifier|unknown file attribute|permission denied: "
        rf"|operation not permitted: |number expected|bad math|event not found)|^(?:syntax error|parse error) near ",
        "The shell could not read the command.",
        (
            "bash: -c: line 1: unexpected EOF while looking for matching `\"'",
            "bash: -c: line 2: syntax error: unexpected end of file",
            "(eval):1: no matches found: /a/*git*",
            "(eval):1: operation not permitted: guarded.txt",
            "zsh:1: parse error near `)'",
            "bash: line 1: X: unbound variable",
        ),
        ("syntax error in file", "  (eval):1: indented"),
        needle=(
            "error",
            "EOF",
            "no matches",
            "substitution",
            "unmatched",
            "unbound",
            "end of file",
            "denied",
            "redirect",
            "not set",
            "bad ",
            "expected",
            "event",
            "read-only",
            "identifier",
            "attribute",
            "user",
            "not permitted",
        ),
    ),
    Rule(
        "cd failed",
        "edge",
        rf"^(?:{_SHELL}: ?(?:line )?\d*:? ?)?(?:cd|pushd|source|\.|export|exec|kill"
        rf"|ulimit): (?:no such file or directory: |not a directory: |permission denied: "
        rf"|\S.*: (?:No such file or directory|Not a directory|Permission denied|not a valid identifier"
        rf"|No such process|can't cd))"
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
PROGRAM_OWN = Rules(
    Rule(
        "a program's own complaint",
        "edge",
        r"^(?P<program>[A-Za-z_][\w.+-]*): (?:(?:cannot|can't|could not|unable to|failed to|error|fatal|invalid"
        r"|illegal|unrecognized|unknown|missing|no such|option|bad|unexpected|not |syntax error|warning: |stat: "
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
            "sed: can't read opk/x.py: No such file or directory",
            "touch: cannot touch 'denied.txt': Read-only file system",
            "jq: error: syntax error, unexpected //",
            'sed: 1: "x": invalid command code k',
            "gh: Not Found (HTTP 404)",
            "diff: missing operand after 'a'",
            "rm: cannot remove 'x': No such file or directory",
        ),
        ("note: it is fine", "a.go:3: error here", "  cat: x: No such file or directory"),
        needle=": ",
    ),
)

GIT = Rules(
    Rule(
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
    Rule(
        "git conflict",
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
    Rule(
        "nothing to commit",
        "end",
        r"^(?:nothing to commit|no changes added to commit|nothing added to commit|nothing to squash)",
        "There was nothing to commit.",
        ("On branch main\nnothing to commit, working tree clean",),
        ("committed nothing",),
        needle=("nothing", "no changes added"),
    ),
)

GH = Rules(
    Rule(
        "gh answered with a status",
        "tail",
        r"(?:^|\})gh: [\s\S]{0,3000}\(HTTP [45]\d\d\)\s*(?:\{[\s\S]*)?\Z",
        "GitHub refused the request.",
        ("gh: Not Found (HTTP 404)", '{"status":"422"}gh: Invalid request.\n\nNo subschema (HTTP 422)'),
        ("gh: see (HTTP 200)",),
        needle="(HTTP ",
    ),
    Rule(
        "gh says no",
        "start",
        r"(?:HTTP [45]\d\d: |GraphQL: |(?:no|No) (?:pull requests?|issues?|checks|releases?|runs?|default remote"
        r"|git remotes|commits between|open pull requests)\b[^\n]{0,60}(?:found|reported|for|between|set)"
        r"|To get started with GitHub CLI|(?:release|run|pull request|repository) (?:not found|\S+ (?:was )?not found"
        r"|create failed)|pull request create failed|could not (?:find|resolve|determine|prompt|create|read|parse)"
        r"|failed to |a pull request for branch|argument |error connecting to |You are not logged)",
        "gh could not do it.",
        (
            "HTTP 401: Bad credentials (https://api.github.com/graphql)",
            "GraphQL: Could not resolve to a PullRequest (repository.pullRequest)",
            'no pull requests found for branch "main"',
            "failed to parse jq expression (line 1, column 76)",
            'a pull request for branch "x" into branch "main" already exists:',
        ),
        ("title:\tNo issues", "HTTP 200 OK"),
    ),
)

USAGE = Rules(
    Rule(
        "wrong usage",
        "edge",
        r"^(?:(?:[\w./-]+: )?(?:error: )?(?:unknown|unrecognized|unrecognised|invalid|illegal|unexpected|unsupported"
        r"|no such|ambiguous) (?:JSON field|option|flag|command|argument|subcommand|shorthand flag|option --|choice"
        r"|parameter|option or)s?\b"
        r"|(?:error: )?(?:the following arguments are required|unrecognized arguments|unexpected argument"
        r"|invalid choice|argument .{1,60}: |required flag|flag needs an argument|flag provided but not defined"
        r"|accepts (?:\d+|at most|at least|between)[^\n]*arg|if any flags in the group"
        r"|Missing (?:required )?(?:argument|option|parameter)|Unknown (?:JSON field|option|command|argument|flag)"
        r"|Invalid (?:option|argument|command|flag)))",
        "The program was called wrongly.",
        (
            'Unknown JSON field: "actor"',
            "error: unrecognized arguments: --x",
            "unknown flag: --foo",
            "invalid option -- 'z'",
            "accepts 1 arg(s), received 2",
            "if any flags in the group [detailed json] are set none of the others can be",
        ),
        ("an unknown optional thing", "unknown"),
        needle=(
            "nknown",
            "nrecogni",
            "nvalid",
            "llegal",
            "nexpected",
            "nsupported",
            "o such",
            "mbiguous",
            "required",
            "flag",
            "accepts",
            "issing",
            "argument",
        ),
    ),
    Rule(
        "argument parser",
        "edge",
        r"^[\w./-]+(?:\.py|\.rb|\.pl)?: error: \S",
        "The program was called wrongly.",
        ("usage: x.py [-h]\nx.py: error: the following arguments are required: path",),
        ("a.c:3: error: x",),
        needle=": error: ",
    ),
    Rule(
        "usage first",
        "start",
        r"(?:usage|Usage|USAGE):[ \n]",
        "The program answered with its usage.",
        ("usage: git gc [<options>]", "Usage: foo [options]"),
        ("Usage of memory: 3",),
    ),
)

GENERIC = Rules(
    *USAGE,
    Rule(
        "first or last line is an error",
        "edge",
        r"^(?:\[[^\]\n]{1,40}\] )?(?:Error|ERROR|error|Fatal|FATAL|fatal|Failure|FATAL ERROR|fatal error|Fatal error"
        r"|Uncaught Error)(?: \[?[\w-]{2,20}\]?| [a-z]+ing [^\n:]{1,80})?: \S",
        "The program ended with an error.",
        (
            "Error: No agent running in worktree 'x'",
            "fatal: repository not found",
            "ERROR: cannot connect",
            "[app] Error: boom",
            "Error fetching a.5: no issue found",
        ),
        ("no Error: here is text before it", "errors: 3", "3 errors"),
        fault="none",
        needle=("rror", "ERROR", "atal", "FATAL", "ailure"),
    ),
    Rule(
        "says it failed",
        "edge",
        r"^(?:❌|✗|✘|×|🚨|⛔)\s*\S|^(?:Failed|failed|FAILED)(?: to | with |: (?!\d))\S|^(?:Could not|Unable to"
        r"|Cannot) (?!find anything)[a-z]",
        "The program says that it failed.",
        (
            "❌ Working directory has uncommitted changes:",
            "Failed to remove 1 worktree(s):",
            "Could not connect to the server",
        ),
        ("Nothing failed to run", "Failed: 0"),
        fault="none",
        needle=("❌", "✗", "✘", "×", "🚨", "⛔", "ailed", "FAILED", "Could not", "Unable to", "Cannot"),
    ),
    Rule(
        "servers and databases",
        "edge",
        r"^(?:Error response from daemon: |Cannot connect to the Docker daemon|Error from server(?: \(\w+\))?: "
        r"|The connection to the server \S+ was refused|psql: error: |ERROR:  |ERROR \d{4} \(\w+\)"
        r"|Parse error(?: near line \d+|: )|Error: (?:in prepare|near line)|Runtime error near line"
        r"|Permission denied \(publickey|Host key verification failed|PHP (?:Fatal|Parse) error: "
        r"|.*: undefined (?:local variable or )?method .*\((?:NoMethodError|NameError)\)|Aborted!$"
        r"|command timed out after \d+)",
        "The server or the program refused.",
        (
            "Error response from daemon: No such container: x",
            'ERROR:  relation "x" does not exist',
            "ERROR 1064 (42000) at line 1: You have an error",
            "command timed out after 10152 milliseconds",
        ),
        ("INFO: fine",),
        fault="none",
    ),
    Rule(
        "PowerShell",
        "line",
        r"^[ \t]*\+ FullyQualifiedErrorId +: |is not recognized as (?:the name of a cmdlet|a name of a cmdlet"
        r"|an internal or external command)|^ParserError: |^[A-Z][a-z]+-[A-Z]\w+ ?: (?:Cannot|Could not|Access"
        r"|A parameter|The )",
        "PowerShell reports an error.",
        (
            "    + CategoryInfo          : ObjectNotFound\n    + FullyQualifiedErrorId : PathNotFound",
            "'foo' is not recognized as an internal or external command,",
            "Get-Content: Cannot find path 'C:\\x' because it does not exist.",
        ),
        ("Get-Content is a cmdlet",),
        fault="call",
        needle=("FullyQualifiedErrorId", "is not recognized", "ParserError", ": C", ": A", ": The "),
    ),
    Rule(
        "network",
        "edge",
        r"(?:Could not resolve host|Connection refused|Network is unreachable|Temporary failure in name resolution"
        r"|Connection timed out|Name or service not known|no such host|dial tcp .*: (?:i/o timeout|connect: |lookup )"
        r"|ECONNREFUSED|ENOTFOUND|ETIMEDOUT|TLS handshake timeout|SSL certificate problem)",
        "The network did not let it through.",
        ("ssh: connect to host x port 22: Connection refused", "dial tcp: lookup api.x: no such host"),
        ("Connection established",),
        fault="environment",
        needle=(
            "resolve host",
            "refused",
            "unreachable",
            "name resolution",
            "timed out",
            "not known",
            "no such host",
            "dial tcp",
            "ECONN",
            "ENOTFOUND",
            "ETIMEDOUT",
            "TLS",
            "SSL",
        ),
    ),
    Rule(
        "out of room or time",
        "edge",
        r"(?:No space left on device|Cannot allocate memory|Out of memory|Disk quota exceeded"
        r"|context deadline exceeded$|API rate limit exceeded|Resource temporarily unavailable)",
        "The machine ran out of something.",
        ("write error: No space left on device",),
        ("space left: 3G",),
        fault="environment",
        needle=("space left", "memory", "quota", "deadline exceeded", "rate limit", "temporarily unavailable"),
    ),
)
