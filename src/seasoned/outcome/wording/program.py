"""How command-line programs in general speak: about a wrong call, a server that refused, a failure."""

from __future__ import annotations

from seasoned.outcome.wording.rule import WordingRule, WordingRules

GH = WordingRules(
    WordingRule(
        "gh answered with a status",
        # gh prints the body of the answer to stdout and its complaint to stderr, so either may come first.
        "tail",
        r"(?:^|\})gh: [\s\S]{0,3000}\(HTTP [45]\d\d\)\s*(?:\{[\s\S]*)?\Z",
        "GitHub refused the request.",
        ("gh: Not Found (HTTP 404)", '{"status":"422"}gh: Invalid request.\n\nNo subschema (HTTP 422)'),
        ("gh: see (HTTP 200)",),
        needle="(HTTP ",
    ),
    WordingRule(
        "gh names the status",
        "edge",
        r"^(?:HTTP [45]\d\d: [^\n]*\(https://|GraphQL: \S)",
        "GitHub refused the request.",
        (
            "ok\nHTTP 401: Bad credentials (https://api.github.com/graphql)",
            "GraphQL: Could not resolve to a Repository",
        ),
        ("HTTP 404: said a comment",),
        needle=("HTTP ", "GraphQL: "),
    ),
    WordingRule(
        "gh says no",
        # Only the start: titles and comments that gh shows contain the same sentences.
        "start",
        r"(?:HTTP [45]\d\d: |GraphQL: |(?:no|No) (?:pull requests?|issues?|checks|releases?|runs?|default remote"
        r"|git remotes|commits between|open pull requests)\b[^\n]{0,60}(?:found|reported|for|between|set)"
        r"|To get started with GitHub CLI|(?:release|run|pull request|repository) (?:not found|\S+ (?:was )?not found"
        r"|create failed)|pull request create failed|could not (?:find|resolve|determine|prompt|create|read|parse)"
        r"|failed to |a pull request for branch|must (?:provide|specify|be) |argument |error connecting to "
        r"|You are not logged)",
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

USAGE = WordingRules(
    WordingRule(
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
    WordingRule(
        "argument parser",
        "edge",
        r"^[\w./-]+(?:\.py|\.rb|\.pl)?: error: \S",
        "The program was called wrongly.",
        ("usage: x.py [-h]\nx.py: error: the following arguments are required: path",),
        ("a.c:3: error: x",),
        needle=": error: ",
    ),
    WordingRule(
        "usage first",
        # A usage further down follows an error that another rule reads, or is part of a help text.
        "start",
        r"(?:usage|Usage|USAGE):[ \n]",
        "The program answered with its usage.",
        ("usage: git gc [<options>]", "Usage: foo [options]"),
        ("Usage of memory: 3",),
    ),
)

DATABASE = WordingRules(
    WordingRule(
        "the database refused",
        # Only the start: a column of a result may hold any of these words.
        "start",
        r"(?:psql: |ERROR: {1,2}|FATAL: {1,2}|ERROR \d{4} \(|Error: (?:in prepare|near|stepping|unable|no such)"
        r"|Parse error|Runtime error)",
        "The database refused.",
        (
            'ERROR:  syntax error at or near "x"',
            "Error: in prepare, no such table: x",
            "ERROR 1064 (42000) at line 1: x",
        ),
        ("1|Error: boom", " id | error"),
    ),
)

POWERSHELL = WordingRules(
    WordingRule(
        "PowerShell",
        # Its errors span several lines and the id comes last of them, often with more output behind it.
        "line",
        r"^[ \t]*\+ FullyQualifiedErrorId +: |is not recognized as (?:the name of a cmdlet|a name of a cmdlet"
        r"|an internal or external command)|^[A-Z][a-z]+-[A-Z]\w+ ?: (?:Cannot|Could not|Access|A parameter|The )"
        r"|^(?:ParserError|InvalidOperation|ObjectNotFound|ResourceUnavailable|RuntimeException|InvalidArgument"
        r"|OperationStopped|MethodException|UnauthorizedAccess): |^(?:At|In) line:\d+ char:\d+|^Exception calling \"",
        "PowerShell reports an error.",
        (
            "    + CategoryInfo          : ObjectNotFound\n    + FullyQualifiedErrorId : PathNotFound",
            "'foo' is not recognized as an internal or external command,",
            "Get-Content: Cannot find path 'C:\\x' because it does not exist.",
            "InvalidOperation: Cannot index into a null array.",
            "Missing closing '}' in statement block.\nAt line:1 char:12",
        ),
        ("Get-Content is a cmdlet",),
        fault="call",
        needle=("FullyQualifiedErrorId", "is not recognized", ": ", " char:", "Exception calling"),
    ),
)

# Any program may say these, also when it succeeds: they are asked last, and behind a pipe they are unclear.
GENERIC = WordingRules(
    *USAGE,
    *POWERSHELL,
    WordingRule(
        "first or last line is an error",
        "edge",
        r"^\[(?:ERR_\w+|ERROR|FATAL|error|fatal)\] \S|^ +ERROR {2}\S|^Error in .{1,80} : $|^Execution halted$"
        r"|^\w{3,12} aborted!$|^\*\* \(\w+[\w.]*\) \S"
        r"|^(?:\[[^\]\n]{1,40}\] |[ ›»>*•|]{1,6})?(?:Error|ERROR|error|Fatal|FATAL|fatal|Failure|FATAL ERROR"
        r"|fatal error|Fatal error"
        r"|Uncaught Error)(?: \[?[A-Z0-9_-]{2,20}\]?| [a-z]+ing [^\n:]{1,80})?: \S",
        "The program ended with an error.",
        (
            "Error: No server is running",
            "fatal: repository not found",
            "ERROR: cannot connect",
            "[app] Error: boom",
            "Error fetching item 5: none found",
            "[ERROR] Command failed with exit code 1: pnpm install",
            '\n   ERROR  Command "x" is not defined.',
            "Error in library(x) : \n  there is no package called 'x'\nExecution halted",
            "rake aborted!",
            '** (Mix) The task "x" could not be found',
        ),
        ("no Error: here is text before it", "errors: 3", "3 errors", "Error rate: 0.3"),
        fault="none",
        needle=("rror", "ERR", "atal", "FATAL", "ailure", "aborted!", "halted", "** ("),
    ),
    WordingRule(
        "says it failed",
        "edge",
        r"^[ \t]*(?:❌|✗|✘|×|🚨|⛔)[ \t]*\S|^[ \t]*X (?:Failed|Could|Cannot|Error|No )"
        r"|^(?:Failed|failed|FAILED)(?: to | with |: (?!\d))\S|^(?:Could not|Unable to|Cannot) (?!find anything)[a-z]"
        r"|^(?!Nothing|None)[A-Z]\w+ (?:could not|cannot|was unable to|failed to) [a-z]",
        "The program says that it failed.",
        (
            "❌ Working directory has uncommitted changes:",
            "github.com\n  X Failed to log in to github.com account x",
            "Poetry could not find a pyproject.toml file",
            "Failed to remove 1 worktree(s):",
            "Could not connect to the server",
        ),
        ("Nothing failed to run", "Failed: 0"),
        fault="none",
        needle=("❌", "✗", "✘", "×", "🚨", "⛔", "ailed", "FAILED", "ould not", "nable to", "annot"),
    ),
    WordingRule(
        "servers and databases",
        "edge",
        r"^(?:E: \S|no configuration file provided|Error response from daemon: |Cannot connect to the Docker daemon"
        r"|Error from server(?: \(\w+\))?: "
        r"|The connection to the server \S+ was refused|psql: error: |ERROR:  |ERROR \d{4} \(\w+\)"
        r"|Parse error(?: near line \d+|: )|Error: (?:in prepare|near line)|Runtime error near line"
        r"|(?:\S+: )?Permission denied \(publickey|Host key verification failed|PHP (?:Fatal|Parse) error: "
        r"|.*: undefined (?:local variable or )?method .*\((?:NoMethodError|NameError)\)|Aborted!$"
        r"|command timed out after \d+)",
        "The server or the program refused.",
        (
            "Error response from daemon: No such container: x",
            "E: Unable to locate package x",
            'ERROR:  relation "x" does not exist',
            "ERROR 1064 (42000) at line 1: You have an error",
            "command timed out after 10152 milliseconds",
        ),
        ("INFO: fine",),
        fault="none",
    ),
    WordingRule(
        "network",
        # Not bound to the start of a line: programs put their own name and the address in front.
        "edge",
        r"(?:Could not resolve host|Connection refused|Network is unreachable|Temporary failure in name resolution"
        r"|Connection timed out|Name or service not known|no such host|dial tcp .*: (?:i/o timeout|connect: |lookup )"
        r"|EADDRINUSE|[Aa]ddress already in use|ECONNREFUSED|ENOTFOUND|ETIMEDOUT|TLS handshake timeout"
        r"|SSL certificate problem)",
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
            "EADDRINUSE",
            "already in use",
            "ENOTFOUND",
            "ETIMEDOUT",
            "TLS",
            "SSL",
        ),
    ),
    WordingRule(
        "out of room or time",
        "edge",
        r"(?:No space left on device|Cannot allocate memory|Out of memory|Disk quota exceeded"
        r"|context deadline exceeded$|API rate limit exceeded|Resource temporarily unavailable"
        r"|timed out after [\d.]+ ?(?:s|ms|sec|m))",
        "The machine ran out of something.",
        ("write error: No space left on device",),
        ("space left: 3G",),
        fault="environment",
        needle=("space left", "memory", "quota", "deadline exceeded", "rate limit", "temporarily", "timed out"),
    ),
)

# What casts doubt on a success that no status vouches for.
DOUBTS = WordingRules(
    WordingRule(
        "an error further up",
        "line",
        r"^(?:\S{1,40}: )?(?:error|Error|ERROR|fatal|FATAL|FAILED|Failed)(?:[:!]| to | with | in )\s*\S"
        r"|^Traceback \(most recent call last\)",
        "Something failed.",
        ("start\nerror: boom\n" + "line\n" * 30, "Traceback (most recent call last):\n  File x"),
        ("no error: here", "0 errors"),
        fault="none",
        needle=("rror", "ERROR", "atal", "FATAL", "ailed", "FAILED", "Traceback"),
    ),
)
