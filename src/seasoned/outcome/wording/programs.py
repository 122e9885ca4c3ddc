"""How programs in a shell say that something failed or worked: compilers, test runners, shells, Python."""

from __future__ import annotations

from seasoned.outcome.wording.rule import WordingRule, WordingRules

# A rule takes two or three lines as it is laid out here, and ten if a formatter does it.
# fmt: off
# How compilers, linters, type checkers and build tools speak.
PACKAGE = WordingRules(
    # The script's own output may be long; the package manager speaks before or after it, never in between.
    WordingRule("npm and its kin", "edge", r"^(?:npm (?:ERR!|error)(?: |$)|\s?ELIFECYCLE\b|\s?\[?ERR_PNPM_|(?:error"
        r'|info) Command failed with exit code|error: script \"[^\"]*\" (?:exited with code|was terminated)|error: '
        r'\"[^\"]*\" exited with code|yarn run v[\d.]+\nerror |Usage Error: |➤ YN\d+: .*(?:Failed|failed) with '
        r'errors|error Command \"[^\"]*\" not found|(?:npm|bun|pnpm|yarn|error:? )[^\n]*(?:Missing script|Script not '
        "found)|npm WARN exec .* not found)", "The package manager reports an error.",
        needle=("npm", "ELIFECYCLE", "ERR_PNPM", "exit code", "exited with", "Usage Error", "YN0", "not found",
            "yarn run", "was terminated")),
)
HOOKS = WordingRules(
    # Hooks report in the order they run, so the one that failed may stand in the middle.
    WordingRule("hook of a commit", "line",
        r"^- exit code: [1-9]\d*$|^husky - .*(?:exited with code|failed)|^✖ lint-staged|^✖ .{1,80}(?:failed|:)$",
        "A hook of the repository refused.", needle=("- exit code", "husky", "✖")),
)
BUILD_FAILURES = WordingRules(
    *PACKAGE,
    # make stops at the first error, so its own line is among the last.
    WordingRule("make", "end", r"^(?:g?make|gmake)(?:\[\d+\])?: \*\*\* |^\S+:\d+: \*\*\* .*Stop\.$|^ninja: (?:build "
        "stopped|error)|^(?:bazel|ERROR): Build did NOT complete|^FAILED: Build did NOT complete",
        "The build stopped with an error.", needle=("***", "ninja: ", "did NOT complete")),
    WordingRule("rustc and cargo", "edge", r"^error\[E\d{4}\]: |^warning: build failed, |^error: (?:could not "
        "compile|aborting due to|no matching package|failed to (?:parse|load|run custom build|select))",
        "It did not compile.", needle=("error", "build failed")),
    # One line for each finding, and a long list of them may be cut by `head` before the summary comes.
    WordingRule("typescript", "line", r"^(?:\[[\w:.-]+\] )?[^\s:(]+[:(]\d+[,:]\d+\)?(?: -|:) error (?:TS\d+|\w+/)"
        r"|^error TS\d+: |^Found [1-9]\d* errors?(?: in|\.)", "It did not type-check.",
        needle=("error TS", " error ", "Found ")),
    WordingRule("C, Swift and Java compilers", "line", r"^[^\s:()]+(?::\d+){1,2}: (?:fatal )?error: |^\S+\.java:\d+: "
        r"error: |^e: (?:file://)?\S+\.kts?:|^[^\s:()]+(?:\(\d+(?:,\d+)?\)| ): (?:fatal )?error [A-Z]+\d+",
        "It did not compile.", needle=("error", "e: ")),
    WordingRule("linker", "end", r"^(?:\S*/)?(?:collect2: error: |ld(?:\.\w+)?: (?:symbol|cannot|library|can't|error"
        r"|undefined)|clang(?:\+\+)?: error: |Undefined symbols for architecture)", "It did not link.",
        needle=("collect2", "ld", "clang", "Undefined symbols")),
    WordingRule("golangci-lint, staticcheck, vet finding", "line", r"^(?:\[[\w:.-]+\] )?[\w./@-]+\.go:\d+(?::\d+)?: "
        r".{3,300} \((?:[a-z]{3,20}|SA\d+|S\d+|ST\d+)\)$", "The check found problems.", needle=".go:"),
    # `go:` also announces downloads, hence the list of verbs that are not complaints.
    WordingRule("go build", "edge", r"^(?:\[[\w:.-]+\] )?(?:\./)?[\w./@-]+\.go:\d+:\d+: (?!.*\bwarning\b)\S|^# "
        r"[\w./-]+(?: \[[\w./-]+\])?\n[\w./-]+\.go:\d+|^go: (?!downloading|finding|extracting|found|added|upgraded"
        r"|removed|downgraded|creating|to add|warning)\S|^(?:vet|package \S+): .{0,200}(?:is not in std|cannot find"
        r"|no required module)|^no required module provides|^build constraints exclude|^package \S+\n\timports |: "
        r"import cycle not allowed$|^pattern \S+: |^exit status [1-9]\d*$", "It did not compile.",
        needle=(".go:", "go: ", "package ", "vet: ", "no required", "build constraints", "pattern ", "import cycle",
            "exit status")),
    # A code such as F401 after the position keeps times of a log (12:30:45: INFO) apart from findings.
    WordingRule("linter finding", "line", r"^[^\s:]+:\d+:\d+: [A-Z]{1,4}\d{2,4} \S|^ *\^-+ SC\d+ \(|^[^\s:]+:\d+ "
        r"DL\d{4} |^[^\s:]+:\d+:\d+: .{3,300} \[[a-z-]+\]$|^Diff in \S+(?::\d+:?| at line \d+:)$"
        r"|^[^\s:]+:\d+(?::\d+)? MD\d{3}[/ ]", "The check found problems.",
        needle=(": ", "SC", " DL", "Diff in", " MD")),
    *HOOKS,
    WordingRule("patch and cmake", "line", r"^(?:Hunk #\d+ FAILED|\d+ out of \d+ hunks? FAILED|can't find file to "
        "patch|CMake Error(?: at |:)|-- Configuring incomplete, errors occurred)", "It did not apply.",
        needle=("FAILED", "can't find", "CMake Error", "incomplete")),
    # Linters end with a count; the same words further up are findings in a file that is shown.
    WordingRule("lint summary", "end", r"^(?:\[[\w:.-]+\] )?(?:✖ [1-9]\d* problems?(?! \(0 errors)\b|[1-9]\d* "
        r"problems? \([1-9]|[1-9]\d* issues?:\s*$|(?:[ \t]*|[\w-]+ )[Ff]ound [1-9]\d* (?:errors?|issues?|problems?"
        r"|warnings? and [1-9]\d* errors?)\b|[1-9]\d* issues? found\.?$|Your code has been rated at (?!10\.00)|Oh "
        r"no! |would reformat |[1-9]\d* files? would be reformatted|\[warn\] Code style issues|Code style issues "
        r"found|  × (?:Some errors were emitted|The following|Formatter would)|Checked \d+ files? .*Found [1-9]\d* "
        r"error|[1-9]\d* errors?, \d+ warnings?(?:,| found| potentially)|Lint(?:ing)? (?:failed|errors? found)"
        r"|[1-9]\d* errors? (?:generated|found)\b|[1-9]\d* error(?:s)? and \d+ warnings?)",
        "The check found problems.",
        needle=("problem", "issues", "issue:", "Found", "rated", "Oh no", "reformat", "Code style", "  × ", "error",
            "Lint")),
    # Gradle and Maven name the failure first and bury it under hints; others name it last.
    WordingRule("build tools", "edge", r"^(?:BUILD FAILED|FAILURE: Build failed|\[ERROR\] (?:Failed to execute"
        r"|COMPILATION ERROR|BUILD FAILURE)|\[INFO\] BUILD FAILURE|\*\* BUILD FAILED \*\*|Build FAILED\.?|Build "
        r"failed\b|Failed to compile|Your requirements could not be resolved|error during build:|✘ \[ERROR\]|\S* "
        r"?ERROR in |ERROR: failed to (?:solve|build)|failed to solve: |\[[\w:.-]+\] ERROR task failed|mise ERROR "
        "|task: Failed to run|error: Recipe `|The command '.*' returned a non-zero code|ERROR: (?:Could not|No "
        "matching|Failed building|Cannot|Command errored|Exception|Invalid)|error: (?:externally-managed"
        r"|subprocess-exited|metadata-generation|legacy-install|command '.*' failed)|> Task :\S+ FAILED|[1-9]\d* "
        r"errors? (?:generated|found|detected|emitted)\b|Module not found: |Error: Process completed with exit code"
        r"|[^\n]{1,200}\b(?:failed|exited|returned|ended|terminated)(?: with)?(?: an?)?(?: non-zero)?(?: exit)? "
        r"(?:code|status):? [1-9]\d{0,2}\b|Terraform .*failed|╷\n│ Error: )", "The build failed.",
        needle=("exited", "returned", " errors", " error ", "not found: ", "BUILD", "not be resolved", "FAIL",
            "ailed", "ERROR", "error", "non-zero", "rror: ")),
)
BUILD_SUCCESSES = WordingRules(
    # The last lines only: an early step may be clean before a later one fails.
    WordingRule("clean build or check", "end", r"^(?:BUILD SUCCESS(?:FUL)?|\[INFO\] BUILD SUCCESS|All checks passed!"
        r"|Success: no issues found|0 issues\.|✨?\s*Done in |Finished (?:`|dev|release|test)|\s+Finished |All done!"
        r"|Build succeeded|No issues found|found 0 vulnerabilities|Checked \d+ files? in .*No fixes)",
        "The build or check was clean.", verdict="ok", fault="none"),
)
_TIME = r"in [\d.]+ ?m?s"
# How test runners sum up. A failing test is a failed call, also where a pipe hid the exit code.
TEST_FAILURES = WordingRules(
    # The summary is near the end, but warnings and the output of later commands may follow it.
    WordingRule("pytest summary", "tail",
        r"(?:^|[= ])(?:[1-9]\d* (?:failed|errors?))\b(?:, \d+ \w+)*(?:,? \d+ \w+)* "
        f"{_TIME}",
        "Tests failed.", needle=(" failed", " error")),
    WordingRule("pytest passed then error", "tail",
        r"\b\d+ passed\b[^\n]*, [1-9]\d* (?:failed|errors?)\b[^\n]* "
        f"{_TIME}",
        "Tests failed.", needle="passed"),
    # Only the last lines: files and logs that are shown hold such lines too.
    WordingRule("pytest stopped", "end", r"^(?:E  +\w+|ERROR: (?:file or directory not found|not found: |usage: )|!+ "
        r"(?:Interrupted|stopping after)|FAILED \S+::\S+|ERROR \S+\.py\b|no tests ran in )", "The test run failed.",
        needle=("E  ", "ERROR", "!!!", "FAILED", "no tests ran")),
    WordingRule("unittest summary", "end", r"^FAILED \((?:failures|errors|unexpected successes|skipped)=\d+",
        "Tests failed.", needle="FAILED ("),
    # Without leading blanks: nested tests and quoted logs are indented, the runner's own verdict is not.
    WordingRule("go test", "tail", r"^(?:\[[\w:.-]+\] )?(?:--- FAIL: \w|FAIL(?:\t\S+|[ \t]*$)|FAIL: \S+\.go)",
        "Go tests failed.", needle="FAIL"),
    WordingRule("rust tests", "end", r"^test result: FAILED\.|^error: (?:\d+ targets? failed|test failed)",
        "Rust tests failed.", needle=("test result: FAILED", "error: ")),
    # The counts must not be zero: runners print "0 failing" when all went well.
    WordingRule("jest, vitest, mocha", "tail", r"^[ \t]*(?:Tests?|Test Suites|Test Files):?\s+(?:\d+ \w+[,|] "
        r"*)*?[1-9]\d* failed\b|^\s+[1-9]\d* failing[ \t]*$|^ELIFECYCLE\b.*Test failed|^ ?(?:FAIL|×|❯)  "
        r"?\S+\.(?:test|spec)\.\w+(?: [>(\[]|$)|^  [1-9]\d* failed$|^  ✘ +\d+ ", "Tests failed.",
        needle=("failed", " failing", "ELIFECYCLE", "FAIL", "×", "❯", "✘")),
    WordingRule("bun and deno tests", "end", r"^[ \t]*[1-9]\d* (?:fail|tests? failed:)\s*$|^\(fail\) |^FAILED \| \d+ "
        "passed", "Tests failed.", needle=("fail", "FAILED |")),
    # Maven, PHPUnit, RSpec, dotnet, TAP, GoogleTest and CTest all sum up in their last lines.
    WordingRule("other runners", "end", r"^(?:\[ERROR\] +Tests run: |Tests run: \d+,? +Failures: [1-9]|Tests run: "
        r"\d+, Failures: \d+, Errors: [1-9]|[ \t]*FAILURES!$|BUILD FAILED\b|\d+ (?:examples?|tests?), [1-9]\d* "
        r"failures?|Failed!  - Failed: |.{0,30}-\d+: Some tests failed|not ok \d+|# fail [1-9]|Failed: [1-9]\d*\b|\[ "
        r" FAILED  \]|.{0,40}tests? (?:did not pass|FAILED)\b|\*\* TEST FAILED \*\*|Testing failed:|\d+% tests "
        r"passed, [1-9]\d* tests? failed|[ \t]*[1-9]\d* (?:of \d+ )?(?:tests?|specs?|scenarios?) failed\b|Some tests "
        "failed)", "Tests failed.",
        needle=("ERROR", "Failures", "FAIL", "failure", "not ok", "# fail", "Failed", "failed", "did not pass")),
)
TEST_SUCCESSES = WordingRules(
    # Asked only after all failures, so a line of one suite cannot hide the failure of another.
    WordingRule("tests passed", "tail",
        r"\b[1-9]\d* passed\b[^\n]*(?: "
        f"{_TIME}"
        r"|\(\d+\))|^test result: ok\.|^OK(?: \(skipped=\d+\))?\s*\Z|^Ran \d+ tests? [^\n]*\n+OK|^PASS[ \t]*$"
        r"|^ok  \t\S+|^[ \t]*[1-9]\d* passing\b|^[ \t]*0 fail[ \t]*$|^Tests: +[1-9]\d* passed, \d+ total",
        "Tests passed.", verdict="ok", fault="none",
        needle=(" passed", "test result: ok.", "OK", "PASS", "ok  \t", " passing", " 0 fail")),
)
_SHELL = r"(?:(?:/\S*/)?(?:ba|z|da|k|c)?sh|\(eval\)|-?bash|environment|/\S+\.sh|\S+\.sh)"
# How the shell itself and the small programs of Unix speak.
SHELL_OWN = WordingRules(
    # The name is captured: a program missing in an earlier step does not decide how the command ends.
    WordingRule("command not found", "edge",
        "^(?:"
        f"{_SHELL}"
        r": ?(?:line )?\d*:? ?(?P<program>[^\s:]+): (?:command )?not found$|"
        f"{_SHELL}"
        r":\d*:? ?(?:command not found|no such file or directory): (?P<other>\S+)"
        r"|(?P<bare>[^\s:]+): command not found$"
        r"|[^\s:]+: line \d+: (?:exec: )?(?P<inner>[^\s:]+): (?:command )?not found$|"
        f"{_SHELL}"
        r": (?:line \d+: )?(?P<file>[^\s:]+): (?:No such file or directory|Permission denied|cannot execute"
        "|is a directory|Is a directory|bad interpreter))",
        "The shell did not find the program.", fault="environment",
        needle=("not found", "No such file", "no such file", "Permission denied", "cannot execute", "s a directory",
                "bad interpreter")),
    WordingRule("shell syntax", "edge",
        "^"
        f"{_SHELL}"
        r": (?:-c: )?(?:line )?\d*:? ?(?:syntax error|unexpected EOF|parse error|bad substitution"
        r"|unexpected end of file|unmatched|[^\n:]{1,80}: (?:unbound variable|bad substitution|syntax error"
        "|parameter not set|ambiguous redirect))|^"
        f"{_SHELL}"
        r":\d+: (?:parse error|bad pattern|unmatched|bad substitution|no matches found: (?P<glob>\S+)"
        "|read-only variable|no such user|not an identifier|unknown file attribute|permission denied: "
        "|operation not permitted: |number expected|bad math|event not found|can't create )|^(?:syntax error"
        "|parse error) near ",
        "The shell could not read the command.", needle=("sh:", "(eval):", "environment:", "error near ")),
    # The agent's note comes last; the same sentence elsewhere is part of a log.
    WordingRule("stopped for time", "end", r"^\[?(?:[Cc]ommand|Process|Execution) timed out after [\d.]+ ?\w*\.?\]?$",
        "It took too long and was stopped.", fault="environment", needle="timed out"),
    WordingRule("cd failed", "edge",
        "^(?:"
        f"{_SHELL}"
        r": ?(?:line )?\d*:? ?)?(?:cd|pushd|source|\.|export|exec|kill|ulimit): (?:no such file or directory: "
        r"|not a directory: |permission denied: |\S.*: (?:No such file or directory|Not a directory"
        r"|Permission denied|not a valid identifier|No such process|can't cd)|\(\d+\) - No such process)"
        r"|^\(eval\):(?:cd|source|\.):\d+: ",
        "The shell could not do it.",
        needle=("o such file", "ot a directory", "ermission denied", "identifier", "process", "can't cd")),
)
PROGRAM_OWN = WordingRules(
    # Only with a known complaint behind the name: "note: …" and "a.go:3: …" look the same at their start.
    WordingRule("a program's own complaint", "edge", r"^(?P<program>[A-Za-z_][\w.+-]*): {1,2}(?:(?:cmd\. line:\d+: "
        "|cannot|can't|could not|unable to|failed to|error(?!: couldn't create cache file)|fatal|invalid|illegal"
        r"|unrecognized|unknown|missing|no such|option|bad|unexpected|not |syntax error|stat: |ERROR|Error|\d+ "
        r"compile errors?|too many|extra operand|must|unable|unterminated|expression|-[a-z]|--\w|unsupported"
        "|refusing|regex parse error|No |usage|conflicting|a (?:terminal|password) is required|A terminal is "
        r"required|sorry)[^\n]*|[^\n]{1,500}: (?:No such file or directory|Permission denied|Is a directory|Not a "
        "directory|is a directory|File exists|Operation not permitted|Read-only file system|No space left on device"
        "|Connection refused|Device or resource busy|Input/output error|Too many open files|Invalid argument"
        "|Argument list too long|Directory not empty|Bad file descriptor|(?:no such|not such) .*|unexpected token.*"
        "|invalid .*|unknown .*|cannot .*|Not found.*|command not found|unterminated .*|extra characters .*"
        r"|undefined .*|syntax error.*)|line \d+: syntax error.*|Not Found \(HTTP \d+\)|HTTP \d+.*)",
        "The program complained.", needle=": "),
)
GIT = WordingRules(
    WordingRule("git fatal", "edge", r"^(?:fatal|error): (?P<what>\S.*)", "git refused.",
        needle=("fatal: ", "error: ")),
    # Without the word `fatal`, but with a status of 1.
    WordingRule("git says no", "edge", "^(?:The following paths are ignored by one of your |There is no tracking "
        "information for |No stash entries found|You are not currently on a branch)", "git refused."),
    # Anywhere near either end: git lists conflicts file by file and then prints hints.
    WordingRule("git conflict", "line", r"^(?:CONFLICT \(|Automatic merge failed|error: could not apply |Could not "
        r"apply [0-9a-f]{6}|hint: Resolve all conflicts|The stash entry is kept| ! \[(?:remote )?rejected\]|error: "
        "failed to push|Aborting$|Patch failed at |hint: Updates were rejected)",
        "git stopped at a conflict or a rejection.",
        needle=("CONFLICT", "merge failed", "ould not apply", "Resolve all", "stash entry is kept", "rejected",
            "failed to push", "Aborting", "Patch failed")),
    # Last, because `git commit` prints the status of the folder in front of it.
    WordingRule("nothing to commit", "end", "^(?:nothing to commit|no changes added to commit|nothing added to "
        "commit|nothing to squash)", "There was nothing to commit.", needle=("nothing", "no changes added")),
)
# How command-line programs in general speak: about a wrong call, a server that refused, a failure.
GH = WordingRules(
    # gh prints the body of the answer to stdout and its complaint to stderr, so either may come first.
    WordingRule("gh answered with a status", "tail", r"(?:^|\})gh: [\s\S]{0,3000}\(HTTP [45]\d\d\)\s*(?:\{[\s\S]*)?\Z",
        "GitHub refused the request.", needle="(HTTP "),
    WordingRule("gh names the status", "edge", r"^(?:HTTP [45]\d\d: [^\n]*\(https://|GraphQL: \S)",
        "GitHub refused the request.", needle=("HTTP ", "GraphQL: ")),
    # Only the start: titles and comments that gh shows contain the same sentences.
    WordingRule("gh says no", "start", r"(?:HTTP [45]\d\d: |GraphQL: |(?:no|No) (?:pull requests?|issues?|checks"
        r"|releases?|runs?|default remote|git remotes|commits between|open pull requests)\b[^\n]{0,60}(?:found"
        "|reported|for|between|set)|To get started with GitHub CLI|(?:release|run|pull request|repository) (?:not "
        r"found|\S+ (?:was )?not found|create failed)|pull request create failed|could not (?:find|resolve|determine"
        "|prompt|create|read|parse)|failed to |a pull request for branch|must (?:provide|specify|be) |argument "
        "|error connecting to |You are not logged)", "gh could not do it."),
)
USAGE = WordingRules(
    WordingRule("wrong usage", "edge", r"^(?:(?:[\w./-]+: )?(?:error: )?(?:unknown|unrecognized|unrecognised|invalid"
        "|illegal|unexpected|unsupported|no such|ambiguous) (?:JSON field|option|flag|command|argument|subcommand"
        r"|shorthand flag|option --|choice|parameter|option or)s?\b|(?:error: )?(?:the following arguments are "
        "required|unrecognized arguments|unexpected argument|invalid choice|argument .{1,60}: |required flag|flag "
        r"needs an argument|flag provided but not defined|accepts (?:\d+|at most|at least|between)[^\n]*arg|if any "
        "flags in the group|Missing (?:required )?(?:argument|option|parameter)|Unknown (?:JSON field|option"
        "|command|argument|flag)|Invalid (?:option|argument|command|flag)))"
        r"|^[\w./-]+(?:\.py|\.rb|\.pl)?: error: \S", "The program was called wrongly.",
        needle=("nknown", "nrecogni", "nvalid", "llegal", "nexpected", "nsupported", "o such", "mbiguous",
            "required", "flag", "accepts", "issing", "argument", ": error: ")),
    # A usage further down follows an error that another rule reads, or is part of a help text.
    WordingRule("usage first", "start", r"(?:usage|Usage|USAGE):[ \n]", "The program answered with its usage."),
)
DATABASE = WordingRules(
    # Only the start: a column of a result may hold any of these words.
    WordingRule("the database refused", "start", r"(?:psql: |ERROR: {1,2}|FATAL: {1,2}|ERROR \d{4} \(|Error: (?:in "
        "prepare|near|stepping|unable|no such)|Parse error|Runtime error)", "The database refused."),
)
POWERSHELL = WordingRules(
    # Its errors span several lines and the id comes last of them, often with more output behind it.
    WordingRule("PowerShell", "line", r"^[ \t]*\+ FullyQualifiedErrorId +: |is not recognized as (?:the name of a "
        r"cmdlet|a name of a cmdlet|an internal or external command)|^[A-Z][a-z]+-[A-Z]\w+ ?: (?:Cannot|Could not"
        "|Access|A parameter|The )|^(?:ParserError|InvalidOperation|ObjectNotFound|ResourceUnavailable"
        "|RuntimeException|InvalidArgument|OperationStopped|MethodException|UnauthorizedAccess): |^(?:At|In) "
        r'line:\d+ char:\d+|^Exception calling \"', "PowerShell reports an error.",
        needle=("FullyQualifiedErrorId", "is not recognized", ": ", " char:", "Exception calling")),
)
GENERIC = WordingRules(
    # Any program may say these, also when it succeeds: they are asked last, and behind a pipe they are unclear.
    *USAGE,
    *POWERSHELL,
    WordingRule("first or last line is an error", "edge", r"^\[(?:ERR_\w+|ERROR|FATAL|error|fatal)\] \S|^ +ERROR "
        r"{2}\S|^Error in .{1,80} : $|^Execution halted$|^\w{3,12} aborted!$|^\*\* \(\w+[\w.]*\) \S"
        r"|^(?:\[[^\]\n]{1,40}\] |[ ›»>*•|]{1,6})?(?:Error|ERROR|error|Fatal|FATAL|fatal|Failure|FATAL ERROR|fatal "
        r"error|Fatal error|Uncaught Error)(?: \[?[A-Z0-9_-]{2,20}\]?| [a-z]+ing [^\n:]{1,80})?: \S",
        "The program ended with an error.", fault="none",
        needle=("rror", "ERR", "atal", "FATAL", "ailure", "aborted!", "halted", "** (")),
    WordingRule("says it failed", "edge", r"^[ \t]*(?:❌|✗|✘|×|🚨|⛔)[ \t]*\S|^[ \t]*X (?:Failed|Could|Cannot|Error|No "
        r")|^(?:Failed|failed|FAILED)(?: to | with |: (?!\d))\S|^(?:Could not|Unable to|Cannot) (?!find "
        r"anything)[a-z]|^(?!Nothing|None)[A-Z]\w+ (?:could not|cannot|was unable to|failed to) [a-z]",
        "The program says that it failed.", fault="none",
        needle=("❌", "✗", "✘", "×", "🚨", "⛔", "ailed", "FAILED", "ould not", "nable to", "annot")),
    WordingRule("servers and databases", "edge", r"^(?:E: \S|no configuration file provided|Error response from "
        r"daemon: |Cannot connect to the Docker daemon|Error from server(?: \(\w+\))?: |The connection to the server "
        r"\S+ was refused|psql: error: |ERROR:  |ERROR \d{4} \(\w+\)|Parse error(?: near line \d+|: )|Error: (?:in "
        r"prepare|near line)|Runtime error near line|(?:\S+: )?Permission denied \(publickey|Host key verification "
        r"failed|PHP (?:Fatal|Parse) error: |.*: undefined (?:local variable or )?method .*\((?:NoMethodError"
        r"|NameError)\)|Aborted!$|command timed out after \d+)", "The server or the program refused.", fault="none"),
    # Not bound to the start of a line: programs put their own name and the address in front.
    WordingRule("network", "edge", "(?:Could not resolve host|Connection refused|Network is unreachable|Temporary "
        "failure in name resolution|Connection timed out|Name or service not known|no such host|dial tcp .*: (?:i/o "
        "timeout|connect: |lookup )|EADDRINUSE|[Aa]ddress already in use|ECONNREFUSED|ENOTFOUND|ETIMEDOUT|TLS "
        "handshake timeout|SSL certificate problem)", "The network did not let it through.", fault="environment",
        needle=("resolve host", "refused", "unreachable", "name resolution", "timed out", "not known",
            "no such host", "dial tcp", "ECONN", "EADDRINUSE", "already in use", "ENOTFOUND", "ETIMEDOUT", "TLS",
            "SSL")),
    WordingRule("out of room or time", "edge", "(?:No space left on device|Cannot allocate memory|Out of memory"
        "|Disk quota exceeded|context deadline exceeded$|API rate limit exceeded|Resource temporarily unavailable"
        r"|timed out after [\d.]+ ?(?:s|ms|sec|m))", "The machine ran out of something.", fault="environment",
        needle=("space left", "memory", "quota", "deadline exceeded", "rate limit", "temporarily", "timed out")),
)
DOUBTS = WordingRules(
    # What casts doubt on a success that no status vouches for.
    WordingRule("an error further up", "line", r"^(?:\S{1,40}: )?(?:error|Error|ERROR|fatal|FATAL|FAILED"
        r"|Failed)(?:[:!]| to | with | in )\s*\S|^Traceback \(most recent call last\)", "Something failed.",
        fault="none", needle=("rror", "ERROR", "atal", "FATAL", "ailed", "FAILED", "Traceback")),
)
_NAME = (
    r"(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Warning|Failed|NotFound|Timeout"
    "|Iteration|Group|DoesNotExist|NotExist)"
)
# How Python and other interpreters speak when a program ends with an exception.
INTERPRETER = WordingRules(
    # At most five lines may follow: a program that caught and logged the exception goes on talking.
    WordingRule("traceback at the end", "tail",
        r"Traceback \(most recent call last\):\n(?:[ \t|+].*\n|\n)*[ \t|]*"
        f"{_NAME}"
        r"(?::.*)?(?:\n.*){0,5}\Z",
        "The program ended with an exception.", needle="Traceback (most recent call last)"),
    # `| tail` leaves the end of a traceback.
    WordingRule("exception on the last line", "tail",
        "^"
        f"{_NAME}"
        r": \S[^\n]*\Z",
        "The program ended with an exception.",
        needle=("Error: ", "Exception: ", "Exit: ", "NotFound: ", "Failed: ", "Timeout: ", "Exist: ")),
    WordingRule("traceback of a notebook", "tail",
        r"Traceback \(most recent call last\)\n[\s\S]*\n"
        f"{_NAME}"
        r"(?::.*)?(?:\n.*){0,3}\Z",
        "The cell ended with an exception.", needle="Traceback (most recent call last)"),
    # A frame `in <module>` that comes first shows that nothing caught it, wherever stdout then ends up.
    WordingRule("uncaught in the main program", "line", r'^Traceback \(most recent call last\):\n(?:  File \"<frozen '
        r'runpy>\".*\n)*  File \"[^\"\n]+\", line \d+, in <module>$', "The program ended with an exception.",
        needle="Traceback (most recent call last)"),
    WordingRule("syntax error", "end", r"^[ \t]*(?:SyntaxError|IndentationError|TabError): ",
        "The program could not be parsed.", needle=("SyntaxError", "IndentationError", "TabError")),
    # The interpreter says this before it runs anything, or last when a wrapper printed first.
    WordingRule("no such module or script", "edge", r"^(?:\S*python[\d.]*: (?:can't open file|No module named|Error "
        r"while finding module)|/\S+: No module named |Error: Cannot find module|node:internal/modules|\S*ruby: No "
        "such file|Can't open perl script|Error: Could not find or load main class)",
        "The script or module does not exist.",
        needle=("ython", "No module named", "Cannot find module", "node:internal", "ruby:", "perl script",
            "main class")),
    WordingRule("uncaught in node", "end", r"^(?:Uncaught (?:\w+)|Node\.js v\d+|error: Uncaught |Bun v[\d.]+ \()",
        "The program ended with an uncaught error.", needle=("Uncaught", "Node.js v", "Bun v")),
    # Only frames up to the very end: a program that caught the error and went on says something after them.
    WordingRule("ends in a stack trace", "tail", r"(?:^[ \t]+at [^\n]+(?:\n|\Z)){2,}(?:[ \t]*\{?[^\n]{0,80}\}?\s*)?\Z"
        r"|^\S+\.rb:\d+:in [^\n]*\(\w+\)$", "The program ended with an exception.", needle=(" at ", "	at ", ".rb:")),
    # Go prints the panic first and the goroutines after it; Rust and the shell print it last.
    WordingRule("panic", "edge", r"^(?:panic: |thread '[^']*' (?:\(\d+\) )?panicked at |fatal error: (?:all "
        r'goroutines|runtime)|Exception in thread \"|Unhandled exception\b|Segmentation fault|Aborted \(core '
        r"dumped\)|Killed$|Terminated$|Bus error|Illegal instruction|zsh: (?:killed|segmentation fault|abort)"
        "|runtime error: )", "The program crashed.",
        needle=("panic", "fatal error", "xception", "fault", "Aborted", "Killed", "Terminated", "Bus error",
            "Illegal", "killed", "abort", "runtime error")),
)
