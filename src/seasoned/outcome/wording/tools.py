"""How the tools of agents, their harnesses and the services behind them say that something failed or worked."""

from __future__ import annotations

from seasoned.outcome.wording.rule import WordingRule, WordingRules

# A rule takes two or three lines as it is laid out here, and ten if a formatter does it.
# fmt: off
# How agents themselves say that a call could not be made, was declined, cancelled or interrupted.
HARNESS = WordingRules(
    WordingRule("no such tool", "start", r"(?:<tool_use_error>)?(?:Error: )?(?:No such tool(?: available)?\b"
        r"""|unsupported call: |[Uu]nknown tool\b|Tool ['\"`]?[\w.:-]+['\"`]? (?:does not exist|not found|is not """
        r"""available|is unknown)|Function ['\"`]?[\w.:-]+['\"`]? not found(?:\.|\s*\Z| in )|Agent type '[^'\n]{1"""
        r",80}' not found|No (?:task|shell|process|session|agent) (?:found )?with (?:ID|id)\b)",
        "There is no such tool."),
    WordingRule("wrong arguments", "start", "(?:<tool_use_error>)?(?:Error: )?(?:InputValidationError|Invalid tool "
        "(?:input|parameters|arguments)|Input validation error|failed to parse function arguments|Failed to parse "
        r"(?:tool )?arguments|Invalid arguments (?:for|to) |Missing required (?:parameter|argument|field)s?\b|params "
        r"must have required property|Tool parameter|Argument Validation Error|\d+ validation errors? for )",
        "The arguments did not fit the tool."),
    # After the two rules above, which know more about the same tag.
    WordingRule("tool use error", "start", "<tool_use_error>", "The agent reported a tool error."),
    # Claude Code adds this behind the error of the tool itself, so the fault is read from the rest.
    WordingRule("failed and explained", "tail", "^This tool's input schema was not in your prompt when you called it",
        "The agent explains why the call may have failed.", fault="none", needle="This tool's input schema was not"),
    WordingRule("patch refused before it ran", "start", "apply_patch (?:verification failed|failed|handler received)",
        "The patch did not fit the file."),
    # No fault: the sandbox passes on both a wrong command and its own limits.
    WordingRule("failed in the sandbox", "start", r"(?:failed in sandbox|Script failed\b|execution error: "
        "|(?:exec_command|write_stdin|shell|view_image|apply_patch) failed: |exec_command failed for |sandbox "
        "error: |Sandbox(?:ed)? (?:execution )?(?:error|denied)|codex sandbox error)", "The sandbox could not run it.",
        fault="none"),
    WordingRule("timed out", "start", "(?:Error: )?(?:command timed out after|Command timed out|Command (?:was "
        ")?(?:killed|terminated) (?:after|due to) |Tool (?:call|execution) timed out|EXECUTION TIMED OUT|Execution "
        "timed out|The (?:last )?command (?:timed out|was cancelled because it took))",
        "It took too long and was stopped.", fault="environment"),
)
REFUSALS = WordingRules(
    # The agent writes a refusal in the place of the result, so it stands at the very start.
    WordingRule("user rejected", "start", "(?:<tool_use_error>)?(?:Error: )?(?:The user doesn't want to (?:proceed "
        "with this tool use|take this action)|User rejected|The user (?:has )?(?:rejected|declined|denied)|User "
        r"(?:denied|declined|cancelled|canceled)|Tool use (?:was )?rejected|\[?User chose to reject)",
        "The user declined the call.", fault="user_declined"),
    WordingRule("interrupted", "start", r"(?:<tool_use_error>)?(?:Error: )?(?:\[Request interrupted by user|Request "
        r"interrupted by user|aborted by user|\[Tool execution was interrupted|Tool (?:call|execution) (?:was "
        ")?interrupted|Interrupted by user|Operation (?:was )?(?:cancelled|canceled|aborted) by (?:the )?user"
        "|Command (?:was )?aborted by user|The user interrupted)", "The user interrupted the call.",
        fault="interrupted"),
    # The one exception: what the command printed until then comes first.
    WordingRule("broken off", "end", "^(?:<error>)?Command was aborted before completion(?:</error>)?$",
        "The command was broken off before it was done.", fault="interrupted"),
    WordingRule("sibling cancelled", "start", "(?:<tool_use_error>)?(?:Error: )?(?:Sibling tool call errored"
        "|Cancelled: parallel tool call|Canceled: parallel tool call|Skipped because (?:a|another) (?:parallel"
        "|sibling)|Tool call (?:was )?skipped (?:because|due to))", "Cancelled because a call made beside it failed.",
        fault="sibling_cancelled"),
    # The words of agents only: "Permission denied" alone is what an operating system says.
    WordingRule("permission not granted", "start", "(?:<tool_use_error>)?(?:Error: )?(?:Claude requested "
        r"permissions? to |Permission to use \S+ |Permission (?:for|to) .{1,200} (?:has been |was )?denied"
        r"|[^\n]{1,300} needs approval\. |This (?:command|Bash command|operation|tool)[^\n]{0,120} requires "
        "(?:approval|permission|confirmation)|Tool (?:use|call|execution)? ?(?:was )?(?:denied|blocked|not "
        r"permitted)|\w+ operation (?:in|on) '[^\n]{1,300}' was blocked)", "Permission for the call was not given.",
        fault="user_declined"),
    WordingRule("blocked by a hook", "start", r"(?:<tool_use_error>)?(?:Error: )?(?:PreToolUse:[^\n]{0,80} (?:hook "
        r")?(?:error|blocked|\[)|Command blocked by PreToolUse hook|Execution stopped by PreToolUse hook"
        r"|[^\n]{0,80}blocked by (?:a )?hook\b|Hook PreToolUse[^\n]{0,80} denied this tool)",
        "A hook forbade the call.", fault="user_declined"),
    WordingRule("rejected by policy", "start", r"(?:approval policy is \w+; reject command|(?:patch|command"
        r"|exec_command) rejected[: ]|[^\n]{0,200}rejected by user(?: approval settings)?\b|[^\n]{0,60}failed: "
        r'CreateProcess \{ message: \"Rejected\(|[^\n]{0,300}rejected: policy forbids|BLOCKED\b[ :(]|Command (?:was '
        ")?(?:denied|blocked|rejected|not allowed) |Command not allowed|This command is (?:blocked|not allowed"
        r"|forbidden)|Action (?:was )?(?:denied|blocked)\b)", "A policy forbade the call.", fault="user_declined"),
)
_OPEN = r"(?:<tool_use_error>)?(?:(?:Error|ERROR|error):\s|Error [a-z]+ing [a-z]+: ?)?"
_DOING = (
    "[Ee]rror (?:reading|writing|opening|creating|editing|executing|parsing|loading|accessing|searching"
    r"|applying|calling|running|processing|finding|listing|deleting|moving)\b"
)
# How tools that read, write and search files speak.
FILE_FAILURES = WordingRules(
    # Nearly all look at the very start: what follows may be the file, and files are full of such sentences.
    WordingRule("patch did not apply", "start",
        f"{_OPEN}"
        "(?:apply_patch (?:verification )?failed|apply_patch handler received|Failed to (?:find expected lines"
        r"|find context|apply|read file to update)|[Ii]nvalid (?:patch|hunk)\b|Patch (?:validation|application"
        r"|failed|does not|could not)|patch (?:failed|does not apply|rejected)|Hunk #\d+ FAILED"
        "|Error applying patch)",
        "The patch did not fit the file."),
    WordingRule("path refused", "start",
        f"{_OPEN}"
        r"(?:(?:File )?[Pp]ath must be |Invalid `?path`?\b|(?:File )?[Pp]ath (?:is )?(?:outside|not in"
        r"|not within)|No file (?:is )?open\b|The `?\w+`? parameter )",
        "The tool would not take the path."),
    WordingRule("no such file", "start",
        f"{_OPEN}"
        "(?:(?:File|Path|Directory|Folder|Notebook)(?: path)? (?:does not exist|not found|doesn't exist"
        "|could not be found)|(?:No such (?:file|directory)|ENOENT|ENOTDIR|EISDIR|EACCES|EPERM|EMFILE|ENOSPC"
        r"""|EROFS)\b|(?:File|Path|Directory)[: ]['\"`]?[^\n]{1,400}?['\"`]? (?:does not exist|not found"""
        "|doesn't exist|is not a (?:file|directory))|The (?:path|file"
        r"""|directory) ['\"`]?[^\n]{1,400}?['\"`]? (?:does not exist|was not found|is not a (?:file|directory))"""
        "|Could not (?:find|open|read) (?:file|path)|Cannot (?:open|read|find|access) "
        "|Failed to (?:read (?!file to update)|open|find (?!expected|context)|access|list|stat)"
        r"|[Uu]nable to (?:locate|read|open|find|access) (?:image|file|path|directory)\b"
        r"|Folder [^\n]{1,300} not found|Ripgrep error|rg: |ripgrep (?:exited|failed))",
        "The path could not be read."),
    WordingRule("too large or binary", "start",
        f"{_OPEN}"
        r"(?:File content \([\d.,]+ ?\w*\) exceeds|File (?:is )?too large|File content exceeds"
        r"|This tool cannot read binary|Binary file\b.{0,40}cannot|Cannot display content of binary file|(?:File"
        "|Image|PDF) .{0,200}exceeds maximum)",
        "The file cannot be shown by this tool."),
    WordingRule("text to replace not found", "start",
        f"{_OPEN}"
        "(?:String to replace not found|No (?:match|changes?|replacement|edit)s? (?:was |were )?(?:found"
        r"|performed|made|to make)\b|No replacement was performed|Found \d+ matches of the string to replace"
        "|old_string (?:not found|is not unique|and new_string)|(?:Could not|Failed to|Cannot|Can't) (?:find"
        r"|edit|apply|locate|replace|match)\b|Failed to edit, (?:0 occurrences|expected)"
        r"|(?:The )?(?:specified )?(?:old_str|old_string|search string|text to replace)\b[^\n]{0,200}(?:not found"
        r"|did not appear|no match|multiple)|No changes to make|Invalid (?:context|hunk|patch)\b"
        "|Multiple occurrences)",
        "The text to replace did not fit the file."),
    WordingRule("not read first", "start",
        f"{_OPEN}"
        "(?:File has (?:not been read|been (?:modified|unexpectedly modified|changed))"
        "|File has been unexpectedly modified|File must be read first|You must (?:read|use)|Read it first"
        r"|Cannot (?:create|write|edit|overwrite)\b|Failed to write|(?:Error )?[Ww]riting (?:to )?file failed"
        r"|File already exists|The file (?:already exists|[^\n]{1,300} already exists)|Notebook cell|Cell with ID"
        "|Invalid cell)",
        "The file was not in the state that the call expected."),
    WordingRule("edit broke the file", "start", "Your (?:proposed )?edit (?:has introduced new syntax error|was not "
        "applied|command)", "The edit was refused because it broke the file."),
    WordingRule("search pattern wrong", "start",
        f"{_OPEN}"
        r"(?:Invalid (?:regular expression|regex|glob|pattern)\b|regex parse error|Error during (?:grep|glob"
        "|search)|(?:Search|Grep|Glob) (?:failed|error))",
        "The search could not be made."),
    # A log file may begin with "Error: "; a tool that failed says one line and stops.
    WordingRule("plain error alone", "whole",
        "(?:(?:Error|ERROR|error): |"
        f"{_DOING}"
        r")[^\n]*",
        "The tool answered with an error.", fault="none"),
)
WRITE_FAILURES = WordingRules(
    # A tool that writes never answers with the content of a file, so the start alone is enough here.
    *FILE_FAILURES,
    WordingRule("plain error", "start",
        "(?:Error|ERROR|error): |"
        f"{_DOING}",
        "The tool answered with an error.", fault="none"),
)
FILE_SUCCESSES = WordingRules(
    # Asked before the failures: numbered lines are a file, whatever the file says.
    WordingRule("numbered lines", "start", r"(?:<file>\s*)?\d{1,7}(?:→|\t|\||:)",
        "The answer is numbered lines of a file.", verdict="ok", fault="none"),
    WordingRule("file was written", "start", r"(?:File (?:created|written|edited|updated|saved)\b|The file "
        r"\S[^\n]{0,400} has been (?:updated|edited|created)|Success\. Updated the following files|Successfully "
        r"(?:created|overwrote|modified|wrote|edited|replaced|updated|deleted)|Wrote \d+|Applied \d+ edits?|Updated "
        r"cell|Inserted cell|Deleted cell|Done!?\s*\Z|\[File: |Created file|Modified \d+ file|Todos have been)",
        "The tool says that the file was written.", verdict="ok", fault="none"),
)
SEARCH_SUCCESSES = WordingRules(
    # Finding nothing is an answer, not a failure.
    WordingRule("search answered", "start", r"(?:Found \d+ |No (?:files|matches|results|content|entries) found|No "
        r"(?:files|matches)\b|Found no |\d+ match)", "The search was made.", verdict="ok", fault="none"),
)
_GOOD = (
    r"(?!(?:[Nn]o|[Zz]ero|0|[Ff]ound 0|[Nn]othing) (?:[\w-]+ ){0,3}?(?:errors?|issues?|problems?|warnings?"
    r"|vulnerabilit\w+|differences?|diffs?|changes?|failures?|conflicts?|leaks?|violations?|updates?"
    "|findings?|diagnostics?|duplicates?|regressions?|matches|results|references|to do|to be done|outdated"
    r"|upgrades?)\b)(?![^\n]*\b(?:[Ss]uccess(?:ful|fully)?|[Pp]assed|[Ff]ixed|[Rr]esolved|[Ii]gnoring"
    r"|[Ss]kipp(?:ed|ing)|[Dd]eprecated|[Ww]arning|WARN|(?:\d+ )?[Ww]arnings?|INFO|DEBUG|[Uu]sing)\b"
    r"|[^\n]*: 0\b)"
)
_LEAD = r"(?:\[[^\]\n]{1,40}\] |[\w./@+-]{1,60} ?: |[-*•›»>✗×Xx] |[A-Z]{2,10} {2,}){0,2}"
_OT = (
    "ot (?:found|a|an|in|authori[sz]ed|authenticated|logged|signed|allowed|permitted|supported|enough"
    "|implemented|connected|running|installed|configured|enabled|available|initiali[sz]ed|recogni[sz]ed"
    "|defined|specified|provided|set|valid|match|exist|accessible|trusted|readable|writable|up[- ]to[- ]date"
    r"|part of)\b"
)
# How programs refuse in a few words: one line or two, and nothing else.
TERSE = WordingRules(
    WordingRule("a line begins with a refusal", "short",
        r"\A\s*[\w./@+-]{1,60}: "
        f"{_GOOD}"
        r"[Nn]o (?:[\w-]+ ){1,4}found|\A\s*"
        f"{_LEAD}"
        f"{_GOOD}"
        "(?:(?:[Cc]annot|[Cc]an't|[Cc]an not|[Cc]ould not|[Cc]ouldn't|[Uu]nable to|[Ff]ailed to|[Ff]ailed with"
        r"|[Rr]efus(?:ing|ed) to|[Dd]id not|[Dd]oes not|[Mm]ust (?:be|have|specify|provide|set|run)) ?\S|[Nn]"
        f"{_OT}"
        r"""|[Nn]o such |[Nn]o (?:[\w.'\"/@-]+ ){1,5}(?:available|configured|specified|provided|defined|given"""
        r"|exists?|selected|set|installed|registered|running|found(?= (?:matching|for|with|named|in|at|on)\b"
        r"|[.:,;] ?\S))\b|(?:[Uu]nknown|[Uu]nrecogni[sz]ed|[Uu]nsupported|[Uu]nexpected|[Ii]nvalid|[Ii]llegal"
        "|[Mm]issing|[Mm]alformed|[Bb]ad|[Aa]mbiguous|[Cc]onflicting|[Ii]ncompatible|[Dd]uplicate|[Uu]ndefined"
        r"""|[Uu]nresolved|[Uu]nterminated|[Ii]nsufficient|[Uu]nauthori[sz]ed) [\"'`<\[(]?[A-Za-z-]"""
        r"|[Pp]ermission denied|[Aa]ccess (?:is )?denied|[Oo]peration not permitted|[Ff]orbidden\b"
        r"|[Cc]onnection (?:refused|reset|timed out|closed|error)|[Tt]ime(?:d )?-?out\b|[Aa]bort(?:ed|ing)\b"
        "|[Aa]uthentication (?:failed|required|error)|[Ll]ogin required|[Tt]oo (?:many|few) |[Rr]equires "
        r"|[Nn]othing (?:matched|found|was \w+)|(?:An? |The )?(?:\w+ )?(?:error|exception) (?:occurred|was|has)\b)",
        "The program refused."),
    # One sentence and perhaps a hint: a text of more lines has more to say than no.
    WordingRule("a sentence of refusal", "short",
        r"\A\s*"
        f"{_LEAD}"
        f"{_GOOD}"
        r"""(?![\w./-]+:\d+[:-])[\w`'\"@./<(][^\n{}|=;→]{0,200}?(?:\b(?:is|are|was|were|has|have|been|be|am) (?:n"""
        f"{_OT}"
        r"|disabled\b|required\b|missing\b|invalid\b|unknown\b|unsupported\b|incompatible\b|denied\b|forbidden\b"
        r"|locked\b|ignored by\b|out of date\b|too (?:old|large|long|small|short|new|many)\b|rejected\b|aborted\b"
        r"|unavailable\b|unreachable\b|refused\b|expired\b|no longer \w+|only (?:available|supported|allowed)\b)"
        r"|\b(?:does|do|did|has|have|can|could|is|was|are|were|would|should|must)(?: not|n't)\b|\bcannot\b|\b(?:n"
        f"{_OT}"
        r"|no such \w)|\bfail(?:ed|s|ure)(?: to | with |:|\.?$)|\btim(?:ed|e) ?out\b|\btimeout (?:waiting"
        r"|exceeded|of|after)|\brequires? (?:login|authentication|auth|root|sudo|admin|at least|an?|the|one"
        r"|either|exactly)\b|\bmust (?:be|have|specify|provide|set|contain|match|start|include|run|not)\b"
        r"|\balready (?:exists|running|in use|defined|taken|registered|checked out)\b|\b(?:[Pp]ermission"
        r"|[Aa]ccess) (?:is )?denied\b|\bunable to\b|\bno longer (?:exists|supported|available)\b"
        r"|\bexpected [^\n]{1,80}?(?:but |, )?(?:got|found|received)\b)[^\n]*(?:\n+[^\n]+)?\Z",
        "The program refused."),
    WordingRule("Windows says no", "edge", r"^(?:The system cannot find |Access is denied\.|The process cannot "
        "access |The filename, directory name, or |The syntax of the command is incorrect|File Not Found$|The "
        r"directory is not empty|Error code: \S+/|The network (?:path|name) )", "Windows refused.", fault="none",
        needle=("The ", "Access is denied", "File Not Found", "Error code: ")),
)
_BAD = r"(?:4\d\d|5\d\d)"
# How web tools, HTTP clients, MCP servers and other APIs speak about a request that failed.
WEB_FAILURES = WordingRules(
    # Only the start, everywhere: what follows is the page, and pages explain status codes.
    WordingRule("request failed with a status", "start",
        "(?:<tool_use_error>)?(?:[A-Za-z]*Error:? )?(?:Request failed with status(?: code)? "
        f"{_BAD}"
        "|(?:HTTP|Http)(?: [Ee]rror| status)?:? ?"
        f"{_BAD}"
        r"\b|"
        f"{_BAD}"
        " (?:Client|Server) Error|(?:Failed|Unable) to (?:fetch|load|retrieve|open|navigate)|Error (?:fetching"
        r"|during|while|loading)\b|Could not (?:fetch|load|retrieve|resolve)|[Ss]tatus(?: code)?:? "
        f"{_BAD}"
        r"\b|The server returned HTTP "
        f"{_BAD}"
        ")",
        "The request was answered with an error."),
    WordingRule("no connection", "start", "(?:<tool_use_error>)?(?:[A-Za-z ]*[Ee]rror:? )?(?:getaddrinfo |connect "
        "(?:ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH)|ECONNRE|ETIMEDOUT|ENOTFOUND|net::ERR_|(?:Connection|Network) "
        "(?:refused|error|reset|timed out|failed|aborted)|Name or service not known|Temporary failure in name "
        "resolution|unable to verify the first certificate|Max retries exceeded|Navigation (?:timeout|failed)"
        r"|maxContentLength size|Domain \S+ is not allowed|Claude Code is unable to fetch|Unable to verify if domain)",
        "The network did not let it through.", fault="environment"),
    # The environment's fault: the same call works later or with a key.
    WordingRule("limited", "start", r"(?:<tool_use_error>)?(?:[A-Za-z ]*[Ee]rror:? )?(?:Rate limit(?:ed)?\b|Too many "
        r"requests|429\b|Quota exceeded|API key (?:not|is|missing)|[^\n]{0,80}API key (?:is )?(?:not set|missing"
        r"|invalid)|Unauthorized|Forbidden\b)", "The service refused the request.", fault="environment"),
    WordingRule("plain error", "start", r"(?:Error|ERROR)\b(?:: | \d)", "The tool answered with an error.",
        fault="none"),
)
CURL = WordingRules(
    # Both streams are joined, so the progress meter and the body of the page may come before or after it.
    WordingRule("curl failed", "edge", r"^curl: \((?P<code>\d+)\) ", "curl could not make the request.",
        fault="environment", needle="curl: ("),
    WordingRule("wget failed", "edge", r"^(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d ERROR \d{3}: |wget: (?:unable|bad|server"
        "|can't|missing)|failed: (?:Connection|Name or service))", "wget could not make the request.",
        fault="environment", needle=("ERROR", "wget: ", "failed: ")),
)
API_FAILURES = WordingRules(
    # Only the start: after it comes data of the server, in which an error may be a subject.
    WordingRule("protocol error", "start", r"(?:<tool_use_error>)?(?:Error: )?(?:MCP error -?\d+|McpError\b|JSON-RPC "
        r"error|[Tt]ool (?:\S+ )?(?:call |execution )?(?:error|failed)\b|tool call failed for|MCP (?:tool|server) "
        ".{0,80}(?:error|failed|not connected|timed out)|Streamable HTTP error|Error POSTing to endpoint|Not "
        r"connected\b|SSE error)", "The server answered with an error of the protocol.", fault="none"),
    WordingRule("took too long", "start", "(?:Error: )?(?:(?:Request|Operation) timed out|Timeout (?:of|after) "
        r"[\d.]+|TimeoutError\b|[^\n]{0,60} timed out after [\d.]+ ?(?:s|ms|m|sec|second|minute)s?\b)",
        "It took too long.", fault="environment"),
    # A single heading "Error", since servers that answer in Markdown have no other flag in plain text.
    WordingRule("error heading", "start", r"#{1,4} (?:Error|Result\n+Error)\b|\*\*Error\*\*|❌|✗ |⛔",
        "The answer is headed as an error.", fault="none"),
    WordingRule("plain error", "start", r"(?:Error|ERROR|error|Exception|EXCEPTION|Failure|FAILED|Fatal|FATAL)\b(?::"
        r"| -| \d| [a-z]+ing | executing| in tool| calling|\s*\Z)", "The tool answered with an error."),
    WordingRule("named error", "start", r"(?:[A-Z][a-z]+ ){0,4}(?:[A-Z]\w*(?:Error|Exception)\b(?:: |\s*\Z)"
        r"|[A-Z][a-z]+ (?:Error|error)(?:: |\s*\Z))", "The answer names an error."),
    WordingRule("could not", "start", "(?:Failed to |Could not |Unable to |Cannot |Can't |Couldn't |There was (?:a "
        "problem|an error) )[a-z]", "The tool says that it could not do it.", fault="none"),
    # The whole of a short text: a page about JavaScript quotes these sentences as well.
    WordingRule("an exception's own words", "whole", r"[^\n]{0,120}(?:\bis not a function|\bis not defined|[Cc]annot "
        r"read propert(?:y|ies) of|\bis not iterable|Unexpected token|object has no attribute|\bis not subscriptable"
        r"|list index out of range|nil pointer dereference)\b[^\n]{0,200}", "The answer is the text of an exception.",
        fault="environment"),
    WordingRule("argument was wrong", "whole", "(?:Received|Got|Expected|Invalid|Unknown|Unsupported|Missing"
        r"|Unexpected|Malformed|Illegal)\b[^\n{]{1,300}", "The server says that an argument was wrong."),
    # These words are common in documents, so they count only when the answer is this one sentence.
    WordingRule("short complaint", "whole", r"[^\n{\[]{0,160}\b(?:is required|must be|is not (?:valid|allowed"
        "|supported|found|authorized)|not authorized|unauthorized|access denied|permission denied|does not exist"
        "|doesn't exist|was not found|could not be found|rate limit(?:ed)? exceeded|quota exceeded|timed out"
        r"|internal server error)\b[^\n]{0,160}", "The answer is one sentence that complains.", fault="none"),
)
