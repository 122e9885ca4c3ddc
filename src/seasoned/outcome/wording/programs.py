"""How programs in a shell say that something failed or worked: compilers, test runners, shells, Python."""

from __future__ import annotations

from seasoned.outcome.wording.rule import WordingRule, WordingRules

# A rule takes two or three lines as it is laid out here, and ten if a formatter does it.
# fmt: off
PACKAGE = WordingRules(
    # The script's own output may be long; the package manager speaks before or after it, never in between.
    WordingRule("npm and its kin", "edge", r"^(?:npm (?:ERR!|error)(?: |$)|\s?ELIFECYCLE\b|\s?\[?ERR_PNPM_"
        r'|error: script "[^"]*" (?:exited with code|was terminated)|error Command failed with exit code'
        r"|yarn run v[\d.]+\nerror )", "The package manager reports an error."),
)
# How compilers, linters, type checkers and build tools speak.
BUILD_FAILURES = WordingRules(
    *PACKAGE,
    # make stops at the first error, so its own line is among the last.
    WordingRule("make and ninja", "end", r"^g?make(?:\[\d+\])?: \*\*\* |^\S+:\d+: \*\*\* .*Stop\.$|^ninja: (?:build "
        "stopped|error)|Build did NOT complete", "The build stopped with an error."),
    WordingRule("rustc and cargo", "edge", r"^error\[E\d{4}\]: |^warning: build failed, |^error: could not compile",
        "It did not compile."),
    # One line for each finding, and a long list of them may be cut by `head` before the summary comes.
    WordingRule("typescript", "line", r"^(?:\[[\w:.-]+\] )?[^\s:(]+[:(]\d+[,:]\d+\)?(?: -|:) error (?:TS\d+|\w+/)"
        r"|^error TS\d+: |^Found [1-9]\d* errors?(?: in|\.)", "It did not type-check.",
        needle=("error TS", " error ", "Found ")),
    WordingRule("compilers and linkers", "line", r"^[^\s:()]+(?::\d+){1,2}: (?:fatal )?error: "
        r"|^[^\s:()]+(?:\(\d+(?:,\d+)?\)| ): (?:fatal )?error [A-Z]+\d+|^collect2: error: ", "It did not compile.",
        needle="error"),
    WordingRule("go build", "edge", r"^(?:\[[\w:.-]+\] )?(?:\./)?[\w./@-]+\.go:\d+:\d+: (?!.*\bwarning\b)\S|^go: "
        r"errors "
        r"|^package \S+\n\timports |^exit status [1-9]\d*$|^no required module provides", "It did not compile."),
    # A code such as F401 after the position keeps times of a log (12:30:45: INFO) apart from findings.
    WordingRule("linter finding", "line", r"^[^\s:]+:\d+(?::\d+)?:? (?:[A-Z]{1,4}\d{2,4}[: ]\S|.{3,300} \[[a-z-]+\]$)"
        r"|^ *\^-+ SC\d+ \(|^Diff in \S+:\d+", "The check found problems.", needle=(": ", "SC", " DL", "Diff in")),
    # Linters end with a count; the same words further up are findings in a file that is shown.
    WordingRule("lint summary", "end", r"^(?:\[[\w:.-]+\] |[\w-]+ )?(?:✖ [1-9]\d* problems?(?! \(0 errors)\b|[1-9]\d* "
        r"issues?(?: found\.?|:)\s*$|[Ff]ound [1-9]\d* (?:error|issue|problem)s?\b|Your code has been rated at "
        r"(?!10\.00)|[1-9]\d* files? would be reformatted|Code style issues found|[1-9]\d* errors?,? (?:and )?\d+ "
        "warnings?|[1-9]\\d* errors? (?:generated|found))", "The check found problems."),
    # Gradle and Maven name the failure first and bury it under hints; others name it last.
    WordingRule("build tools", "edge", r"^(?:BUILD FAILED|FAILURE: Build failed|\[ERROR\] (?:Failed to execute"
        r"|COMPILATION ERROR)|\[INFO\] BUILD FAILURE|\*\* BUILD FAILED \*\*|Build (?:FAILED|failed)\b|Failed to compile"
        r"|Your requirements could not be resolved|error during build:|✘ \[ERROR\]|(?:ERROR: )?failed to "
        r"(?:solve|build)|\[[\w:.-]+\] ERROR task failed|mise ERROR |> Task :\S+ FAILED|Module not found: "
        r"|[^\n]{1,200}\b(?:failed|exited|returned) (?:with )?(?:an? )?(?:non-zero )?(?:exit )?(?:code|status):? "
        r"[1-9]\d{0,2}\b|╷\n│ Error: )", "The build failed."),
)
BUILD_SUCCESSES = WordingRules(
    # The last lines only: an early step may be clean before a later one fails.
    WordingRule("clean build or check", "end", r"^(?:BUILD SUCCESS(?:FUL)?|\[INFO\] BUILD SUCCESS|All checks passed!"
        r"|Success: no issues found|0 issues\.|✨?\s*Done in |Finished (?:`|dev|release|test)|\s+Finished |All done!"
        r"|Build succeeded|No issues found|found 0 vulnerabilities|Checked \d+ files? in .*No fixes)",
        "The build or check was clean.", verdict="ok", fault="none"),
)
# How test runners sum up. A failing test is a failed call, also where a pipe hid the exit code.
TEST_FAILURES = WordingRules(
    # The summary is near the end, but warnings and the output of later commands may follow it.
    WordingRule("pytest summary", "tail", r"(?:^|[= ])[1-9]\d* (?:failed|errors?)\b(?:, \d+ \w+)* in [\d.]+ ?m?s",
        "Tests failed.", needle=(" failed", " error")),
    # Only the last lines: files and logs that are shown hold such lines too.
    WordingRule("pytest and unittest stopped", "end", r"^(?:E  +\w+|FAILED \S+::\S+|ERROR \S+\.py\b|FAILED "
        r"\((?:failures|errors)=\d+)|\bno tests ran in ", "Tests failed.",
        needle=("E  ", "FAILED ", "ERROR ", "no tests ran")),
    # Without leading blanks: nested tests and quoted logs are indented, the runner's own verdict is not.
    WordingRule("go test", "tail", r"^(?:\[[\w:.-]+\] )?(?:--- FAIL: \w|FAIL(?:\t\S+|[ \t]*$)|FAIL: \S+\.go)",
        "Go tests failed.", needle="FAIL"),
    # The counts must not be zero: runners print "0 failing" when all went well.
    WordingRule("jest, vitest, mocha", "tail", r"^[ \t]*(?:Tests?|Test Suites|Test Files):?\s+(?:\d+ \w+[,|] "
        r"*)*?[1-9]\d* failed\b|^\s+[1-9]\d* failing[ \t]*$|^ ?(?:FAIL|×|❯)  ?\S+\.(?:test|spec)\.\w+(?: [>(\[]|$)"
        r"|^  [1-9]\d* failed$", "Tests failed.", needle=("failed", " failing", "FAIL", "×", "❯")),
    WordingRule("other runners", "end", r"^(?:test result: FAILED\.|[ \t]*[1-9]\d* (?:fail|tests? failed:)\s*$"
        r"|\[ERROR\] +Tests run: |\s*FAILURES!$|\d+ (?:examples?|tests?), [1-9]\d* failures?|Failed!  - Failed: "
        r"|.{0,30}Some tests failed|not ok \d+|# fail [1-9]|\[  FAILED  \]|Testing failed:|\*\* TEST FAILED \*\*)",
        "Tests failed."),
)
TEST_SUCCESSES = WordingRules(
    # Asked only after all failures, so a line of one suite cannot hide the failure of another.
    WordingRule("tests passed", "tail", r"\b[1-9]\d* passed\b[^\n]*(?: in [\d.]+ ?m?s|\(\d+\))|^test result: ok\."
        r"|^OK(?: \(skipped=\d+\))?\s*\Z|^PASS[ \t]*$|^ok  \t\S+|^[ \t]*[1-9]\d* passing\b|^[ \t]*0 fail[ \t]*$"
        r"|^Tests: +[1-9]\d* passed, \d+ total", "Tests passed.", verdict="ok", fault="none",
        needle=(" passed", "test result: ok.", "OK", "PASS", "ok  \t", " passing", " 0 fail")),
)
_SHELL = r"(?:(?:/\S*/)?(?:ba|z|da|k|c)?sh|\(eval\)|-bash|environment|\S+\.sh): ?(?:-c: )?(?:line )?\d*:? ?"
_NO_ACCESS = "(?:[Nn]o such file or directory|[Nn]ot a directory|[Ii]s a directory|[Pp]ermission denied)"
# How the shell itself and the small programs of Unix speak.
SHELL_OWN = WordingRules(
    # The name is captured: a program missing in an earlier step does not decide how the command ends.
    WordingRule("command not found", "edge",
        f"^(?:{_SHELL}"
        r"(?:command not found|no such file or directory): (?P<other>\S+)|"
        f"{_SHELL}"
        r"(?P<program>[^\s:]+): (?:command )?not found$|(?P<bare>[^\s:]+): command not found$"
        r"|[^\s:]+: line \d+: (?:exec: )?(?P<inner>[^\s:]+): (?:command )?not found$|"
        f"{_SHELL}(?P<file>[^\\s:]+): (?:{_NO_ACCESS}|cannot execute|bad interpreter))",
        "The shell did not find the program.", fault="environment",
        needle=("not found", "o such file", "ot a directory", "s a directory", "ermission denied", "cannot execute",
            "bad interpreter")),
    WordingRule("shell syntax", "edge",
        f"^{_SHELL}"
        r"(?:syntax error|unexpected (?:EOF|end of file)|parse error|bad (?:substitution|pattern|math)|unmatched"
        r"|no matches found: (?P<glob>\S+)|read-only variable|permission denied: |operation not permitted: "
        r"|event not found|can't create |[^\n:]{1,80}: (?:unbound variable|bad substitution|syntax error"
        "|ambiguous redirect))|^(?:syntax|parse) error near ", "The shell could not read the command."),
    # The agent's note comes last; the same sentence elsewhere is part of a log.
    WordingRule("stopped for time", "end", r"^\[?(?:[Cc]ommand|Process|Execution) timed out after [\d.]+ ?\w*\.?\]?$",
        "It took too long and was stopped.", fault="environment", needle="timed out"),
    WordingRule("cd failed", "edge",
        f"^(?:{_SHELL})?(?:cd|pushd|source|\\.|export|exec|kill): (?:{_NO_ACCESS}: "
        rf"|\S.*: (?:{_NO_ACCESS}|not a valid identifier|can't cd)|\(\d+\) - No such process)"
        r"|^\(eval\):(?:cd|source|\.):\d+: ", "The shell could not do it.",
        needle=("o such ", "ot a ", "s a directory", "ermission denied", "can't cd", "(eval)")),
)
PROGRAM_OWN = WordingRules(
    # Only with a known complaint behind the name: "note: …" and "a.go:3: …" look the same at their start.
    WordingRule("a program's own complaint", "edge", r"^(?P<program>[A-Za-z_][\w.+-]*): {1,2}(?:(?:cmd\. line:\d+: "
        "|cannot|can't|could not|unable|failed to|[Ee]rror(?!: couldn't create cache file)|ERROR|fatal|invalid|illegal"
        "|unrecognized|unknown|missing|[Nn]o |option|bad|unexpected|not |syntax error|too many|must|unterminated"
        r"|--?[a-z]|unsupported|refusing|regex parse error|usage)[^\n]*|[^\n]{1,500}: (?:"
        f"{_NO_ACCESS}"
        "|File exists|Operation not permitted|Read-only file system|No space left on device|Connection refused"
        "|Invalid argument|Directory not empty|(?:no such|unexpected token|invalid|unknown|cannot|Not found"
        r"|unterminated|undefined|syntax error).*)|line \d+: syntax error.*|Not Found \(HTTP \d+\)|HTTP \d+.*)",
        "The program complained.", needle=": "),
)
GIT = WordingRules(
    WordingRule("git fatal", "edge", r"^(?:fatal|error): (?P<what>\S.*)", "git refused.",
        needle=("fatal: ", "error: ")),
    # Without the word `fatal`, but with a status of 1.
    WordingRule("git says no", "edge", "^(?:The following paths are ignored by one of your |There is no tracking "
        "information for |No stash entries found|You are not currently on a branch)", "git refused."),
    # Anywhere near either end: git lists conflicts file by file and then prints hints.
    WordingRule("git conflict", "line", r"^(?:CONFLICT \(|Automatic merge failed|Could not apply [0-9a-f]{6}"
        r"|hint: Resolve all conflicts|The stash entry is kept| ! \[(?:remote )?rejected\]|Aborting$|Patch failed at "
        "|hint: Updates were rejected)", "git stopped at a conflict or a rejection."),
)
# How command-line programs in general speak: about a wrong call, a server that refused, a failure.
GH = WordingRules(
    # gh prints the body of the answer to stdout and its complaint to stderr, so either may come first.
    WordingRule("gh answered with a status", "tail", r"(?:^|\})gh: [\s\S]{0,3000}\(HTTP [45]\d\d\)\s*(?:\{[\s\S]*)?\Z",
        "GitHub refused the request.", needle="(HTTP "),
    WordingRule("gh names the status", "edge", r"^(?:HTTP [45]\d\d: [^\n]*\(https://|GraphQL: \S)",
        "GitHub refused the request."),
    # Only the start: titles and comments that gh shows contain the same sentences.
    WordingRule("gh says no", "start", r"[Nn]o (?:(?:open )?pull requests?|issues?|checks|releases?|runs?|default "
        r"remote|git remotes|commits between)\b[^\n]{0,60}(?:found|reported|for|between|set)|To get started with "
        r"GitHub "
        r"CLI|pull request create failed|(?:release|run|repository) (?:\S+ )?not found|could not [a-z]|failed to |a "
        r"pull "
        "request for branch|must (?:provide|specify|be) |error connecting to |You are not logged", "gh could not do "
        "it."),
)
USAGE = WordingRules(
    WordingRule("wrong usage", "edge", r"^(?:[\w./-]+: )?(?:error: )?(?:(?:[Uu]nknown|[Uu]nrecogni[sz]ed|[Ii]nvalid"
        "|illegal|unexpected|unsupported|no such|ambiguous) (?:JSON field|option|flag|command|(?:sub)?command|argument"
        r"|shorthand flag|choice|parameter)s?\b|the following arguments are required|argument .{1,60}: |required flag"
        r"|flag needs an argument|accepts (?:\d+|at most|at least|between)[^\n]*arg|if any flags in the group|Missing "
        r"(?:required )?(?:argument|option|parameter))|^[\w./-]+(?:\.py|\.rb|\.pl)?: error: \S",
        "The program was called wrongly."),
    # A usage further down follows an error that another rule reads, or is part of a help text.
    WordingRule("usage first", "start", r"(?:usage|Usage|USAGE):[ \n]", "The program answered with its usage."),
)
GENERIC = WordingRules(
    # Any program may say these, also when it succeeds: they are asked last, and behind a pipe they are unclear.
    *USAGE,
    WordingRule("first or last line is an error", "edge", r"^(?:\[[^\]\n]{1,40}\] |[ ›»>*•|]{1,6})?(?:Error|ERROR|error"
        r"|[Ff]atal|FATAL)(?: \[?[A-Z0-9_-]{2,20}\]?| [a-z]+ing [^\n:]{1,80}| error)?[:!] +\S|^\[(?:ERROR|FATAL|error"
        r"|fatal)\] \S|^ +ERROR {2}\S|^Execution halted$|^\w{3,12} aborted!$|^\*\* \(\w+[\w.]*\) \S|^E: \S",
        "The program ended with an error.", fault="none", needle=("rror", "ERR", "atal", "FATAL", "aborted!",
            "halted", "** (", "E: ")),
    WordingRule("says it failed", "edge", r"^[ \t]*(?:❌|✗|✘|×|🚨|⛔)[ \t]*\S|^[ \t]*X (?:Failed|Could|Cannot|Error|No "
        r")|^(?:Failed|failed|FAILED)(?: to | with |: (?!\d))\S|^(?:Could not|Unable to|Cannot) (?!find "
        r"anything)[a-z]|^(?!Nothing|None)[A-Z]\w+ (?:could not|cannot|was unable to|failed to) [a-z]",
        "The program says that it failed.", fault="none"),
    WordingRule("servers", "edge", r"^(?:no configuration file provided|Error (?:response )?from (?:daemon|server)"
        r"|Cannot connect to the Docker daemon|The connection to the server \S+ was refused|(?:\S+: )?Permission "
        r"denied "
        r"\(publickey|Host key verification failed|PHP (?:Fatal|Parse) error: |Aborted!$)",
        "The server or the program refused.", fault="none"),
    # Not bound to the start of a line: programs put their own name and the address in front.
    WordingRule("network, disk or memory", "edge", "(?:Could not resolve host|Connection (?:refused|timed out)|Network "
        "is unreachable|Temporary failure in name resolution|Name or service not known|no such host|address already in "
        "use|EADDRINUSE|ECONNREFUSED|ENOTFOUND|ETIMEDOUT|TLS handshake timeout|SSL certificate problem|No space left "
        "on "
        r"device|Cannot allocate memory|Out of memory|rate limit exceeded|timed out after [\d.]+ ?(?:s|ms|sec|m))",
        "The network or the machine did not let it through.", fault="environment"),
)
DOUBTS = WordingRules(
    # What casts doubt on a success that no status vouches for.
    WordingRule("an error further up", "line", r"^(?:\S{1,40}: )?(?:error|Error|ERROR|fatal|FATAL|FAILED"
        r"|Failed)(?:[:!]| to | with | in )\s*\S|^Traceback \(most recent call last\)", "Something failed.",
        fault="none", needle=("rror", "ERROR", "atal", "FATAL", "ailed", "FAILED", "Traceback")),
)
_EXCEPTION = r"(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Warning|Failed|NotFound|Timeout|Exist)"
# How Python and other interpreters speak when a program ends with an exception.
INTERPRETER = WordingRules(
    # At most five lines may follow: a program that caught and logged the exception goes on talking.
    WordingRule("traceback at the end", "tail", r"Traceback \(most recent call last\):?\n[\s\S]*?^[ \t|]*"
        f"{_EXCEPTION}"
        r"(?::.*)?(?:\n.*){0,5}\Z", "The program ended with an exception.", needle="Traceback (most recent call last)"),
    # `| tail` leaves the end of a traceback.
    WordingRule("exception on the last line", "tail", rf"^{_EXCEPTION}: \S[^\n]*\Z",
        "The program ended with an exception.", needle=": "),
    # A frame `in <module>` that comes first shows that nothing caught it, wherever stdout then ends up.
    WordingRule("uncaught in the main program", "line", r'^Traceback \(most recent call last\):\n(?:  File "<frozen '
        r'runpy>".*\n)*  File "[^"\n]+", line \d+, in <module>$', "The program ended with an exception.",
        needle="Traceback (most recent call last)"),
    WordingRule("syntax error", "end", r"^[ \t]*(?:SyntaxError|IndentationError|TabError): ",
        "The program could not be parsed."),
    # The interpreter says this before it runs anything, or last when a wrapper printed first.
    WordingRule("no such module or script", "edge", r"^(?:\S*python[\d.]*: (?:can't open file|No module named|Error "
        r"while finding module)|/\S+: No module named |Error: Cannot find module|node:internal/modules|Can't locate "
        r"\S+ "
        r"in @INC|Can't open perl script|Error: Could not find or load main class)",
        "The script or module does not exist."),
    WordingRule("uncaught in node", "end", r"^(?:Uncaught \w+|Node\.js v\d+|error: Uncaught |Bun v[\d.]+ \()",
        "The program ended with an uncaught error."),
    # Only frames up to the very end: a program that caught the error and went on says something after them.
    WordingRule("ends in a stack trace", "tail", r"(?:^[ \t]+at [^\n]+(?:\n|\Z)){2,}(?:[ \t]*\{?[^\n]{0,80}\}?\s*)?\Z"
        r"|^\S+\.rb:\d+:in [^\n]*\(\w+\)$", "The program ended with an exception.", needle=(" at ", "	at ", ".rb:")),
    # Go prints the panic first and the goroutines after it; Rust and the shell print it last.
    WordingRule("panic", "edge", r"^(?:panic: |thread '[^']*' (?:\(\d+\) )?panicked at |fatal error: |Exception in "
        r'thread "|Unhandled exception\b|Segmentation fault|Aborted \(core dumped\)|Killed$|Terminated$|Bus error)',
        "The program crashed."),
)
