"""How the tools of agents, their harnesses and the services behind them say that something failed or worked."""

from __future__ import annotations

from seasoned.outcome.wording.rule import WordingRule, WordingRules

# A rule takes two or three lines as it is laid out here, and ten if a formatter does it.
# fmt: off
_OPEN = r"(?:<tool_use_error>)?(?:(?:Error|ERROR|error):\s|Error [a-z]+ing [a-z]+: ?)?"
# How agents themselves say that a call could not be made, was declined, cancelled or interrupted.
HARNESS = WordingRules(
    WordingRule("no such tool", "start",
        f"{_OPEN}"
        r"(?:No such tool(?: available)?\b|unsupported call: |[Uu]nknown tool\b|(?:Tool|Function) "
        r"['\"`]?[\w.:-]+['\"`]?"
        r" (?:does not exist|not found(?!!)|is not available|is unknown)|Agent type '[^'\n]{1,80}' not found"
        r"|No (?:task|shell|process|session|agent) (?:found )?with (?:ID|id)\b)", "There is no such tool."),
    WordingRule("wrong arguments", "start",
        f"{_OPEN}"
        "(?:InputValidationError|Invalid tool (?:input|parameters|arguments)|Input validation error|[Ff]ailed to parse "
        "(?:tool |function )?arguments|Invalid arguments (?:for|to) |Missing required (?:parameter|argument|field)"
        r"|params must have required property|Argument Validation Error|\d+ validation errors? for )",
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
        r"|(?:exec_command|write_stdin|shell|view_image) failed(?:: | for )|[Ss]andbox(?:ed)? (?:execution )?"
        "(?:error|denied))", "The sandbox could not run it.", fault="none"),
    WordingRule("timed out", "start", r"(?:Error: )?(?:[Tt]he (?:last )?)?(?:[Cc]ommand|Tool (?:call|execution)"
        "|EXECUTION|Execution) (?:was )?(?:timed out|TIMED OUT|(?:killed|terminated) (?:after|due to) |cancelled "
        "because "
        "it took)", "It took too long and was stopped.", fault="environment"),
)
REFUSALS = WordingRules(
    # The agent writes a refusal in the place of the result, so it stands at the very start.
    WordingRule("user rejected", "start",
        f"{_OPEN}"
        r"(?:The user doesn't want to |(?:The )?[Uu]ser (?:has )?(?:rejected|declined|denied|cancell?ed)"
        r"|Tool use (?:was )?rejected|\[?User chose to reject)",
        "The user declined the call.", fault="user_declined"),
    WordingRule("interrupted", "start",
        f"{_OPEN}"
        r"(?:\[?Request interrupted by user|\[?Tool (?:call |execution )?(?:was )?interrupted|Interrupted by user"
        "|The user interrupted|(?:Operation |Command )?(?:was )?(?:cancelled|canceled|aborted) by (?:the )?user)",
        "The user interrupted the call.", fault="interrupted"),
    # The one exception: what the command printed until then comes first.
    WordingRule("broken off", "end", "^(?:<error>)?Command was aborted before completion(?:</error>)?$",
        "The command was broken off before it was done.", fault="interrupted", needle="aborted before completion"),
    WordingRule("sibling cancelled", "start",
        f"{_OPEN}"
        "(?:Sibling tool call errored|Cancell?ed: parallel tool call|Skipped because (?:a|another) (?:parallel"
        "|sibling))",
        "Cancelled because a call made beside it failed.", fault="sibling_cancelled"),
    # The words of agents only: "Permission denied" alone is what an operating system says.
    WordingRule("permission not granted", "start",
        f"{_OPEN}"
        r"(?:Claude requested permissions? to |Permission to use \S+ |Permission (?:for|to) .{1,200} (?:has been |was "
        r")?"
        r"denied|[^\n]{1,300} needs approval\. |This (?:command|Bash command|operation|tool)[^\n]{0,120} requires "
        r"(?:approval|permission|confirmation)|\w+ operation (?:in|on) '[^\n]{1,300}' was blocked)",
        "Permission for the call was not given.", fault="user_declined"),
    WordingRule("blocked by a hook", "start",
        f"{_OPEN}"
        r"(?:PreToolUse:[^\n]{0,80} (?:hook )?(?:error|blocked|\[)|(?:Command blocked|Execution stopped) by PreToolUse "
        r"hook|[^\n]{0,80}blocked by (?:a )?hook\b|Hook PreToolUse[^\n]{0,80} denied this tool)",
        "A hook forbade the call.", fault="user_declined"),
    WordingRule("rejected by policy", "start", r"(?:approval policy is \w+; reject command|(?:exec[_ ]|patch|command)"
        r"[^\n]{0,60} ?rejected[: ]|[^\n]{0,60}failed: CreateProcess \{ message: \"Rejected\(|[^\n]{0,300}rejected: "
        r"policy forbids|BLOCKED\b[ :(]|(?:Tool(?: use| call)?|This command|Command|Action) (?:is |was )?(?:denied"
        r"|blocked|rejected|forbidden|not (?:allowed|permitted))\b)", "A policy forbade the call.",
        fault="user_declined"),
)
# How tools that read, write and search files speak.
FILE_FAILURES = WordingRules(
    # Nearly all look at the very start: what follows may be the file, and files are full of such sentences.
    WordingRule("patch did not apply", "start",
        f"{_OPEN}"
        r"(?:Failed to (?:find expected lines|find context|apply|read file to update)|[Ii]nvalid (?:patch|hunk)\b"
        "|[Pp]atch (?:validation|application|failed|does not|could not|rejected))", "The patch did not fit the file."),
    WordingRule("path refused", "start",
        f"{_OPEN}"
        r"(?:(?:File )?[Pp]ath (?:must be|(?:is )?(?:outside|not (?:with)?in)) |Invalid `?path`?\b|No file (?:is "
        r")?open\b)",
        "The tool would not take the path."),
    WordingRule("no such file", "start",
        f"{_OPEN}"
        r"(?:(?:The )?(?:[Ff]ile|[Pp]ath|[Dd]irectory|Folder|Notebook)(?: path)?(?:[: ]['\"`]?[^\n]{1,400}?['\"`]?)? "
        r"(?:does not exist|doesn't exist|(?:was )?not found|is not a (?:file|directory))|(?:File|Path) not found"
        r"|(?:No such (?:file|directory)|E(?:NOENT|NOTDIR|ISDIR|ACCES|PERM))\b|Cannot (?:open|read|find|access) "
        r"|(?:Could not|Failed to|[Uu]nable to) (?:locate|read|open|access|list|find (?:file|path)) |Ripgrep error"
        r"|rg: )",
        "The path could not be read."),
    WordingRule("too large or binary", "start",
        f"{_OPEN}"
        r"(?:File content (?:\([\d.,]+ ?\w*\) )?exceeds|File (?:is )?too large|This tool cannot read binary"
        "|(?:File|Image|PDF) .{0,200}exceeds maximum)", "The file cannot be shown by this tool."),
    WordingRule("text to replace not found", "start",
        f"{_OPEN}"
        r"(?:String to replace not found|No (?:match|changes?|replacement|edit)s? (?:was |were )?(?:found|performed"
        r"|made"
        r"|to make)\b|Found \d+ matches of the string to replace|(?:Could not|Failed to|Cannot) (?:find|edit|apply"
        r"|replace|match)\b|(?:The )?(?:old_str(?:ing)?|search string|text to replace)\b[^\n]{0,200}(?:not found"
        "|not unique|did not appear|no match|multiple)|Multiple occurrences)",
        "The text to replace did not fit the file."),
    WordingRule("not read first", "start",
        f"{_OPEN}"
        r"(?:File has (?:not been read|been (?:unexpectedly )?(?:modified|changed))|You must read|Read it first"
        r"|Cannot (?:create|write|overwrite)\b|Failed to write|(?:The file|File) (?:[^\n]{1,300} )?already exists"
        "|Cell with ID|Invalid cell)", "The file was not in the state that the call expected."),
    WordingRule("edit broke the file", "start", "Your (?:proposed )?edit (?:has introduced new syntax error|was not "
        "applied)", "The edit was refused because it broke the file."),
    WordingRule("search pattern wrong", "start",
        f"{_OPEN}"
        r"(?:Invalid (?:regular expression|regex|glob|pattern)\b|regex parse error|Error during (?:grep|glob|search))",
        "The search could not be made."),
)
FILE_SUCCESSES = WordingRules(
    # Asked before the failures: numbered lines are a file, whatever the file says.
    WordingRule("numbered lines", "start", r"(?:<file>\s*)?\d{1,7}(?:→|\t|\||:)",
        "The answer is numbered lines of a file.", verdict="ok", fault="none"),
    WordingRule("file was written", "start", r"(?:File (?:\S+ )?(?:created|written|edited|updated|saved)\b|The file "
        r"\S[^\n]{0,400} has been (?:updated|edited|created)|Success\. Updated the following files|Successfully "
        r"(?:created|overwrote|modified|wrote|edited|replaced|updated|deleted)|Wrote \d+|Applied \d+ edits?|(?:Updated"
        r"|Inserted|Deleted) cell|Done!?\s*\Z|\[File: |Created file|Modified \d+ file|Todos have been)",
        "The tool says that the file was written.", verdict="ok", fault="none"),
)
SEARCH_SUCCESSES = WordingRules(
    # Finding nothing is an answer, not a failure.
    WordingRule("search answered", "start", r"(?:Found (?:\d+|no) |No (?:files|matches|results|content|entries)\b)",
        "The search was made.", verdict="ok", fault="none"),
)
# "No errors" and "2 warnings, all fixed" are no complaints.
_GOOD = (
    r"(?!(?:[Nn]o|[Zz]ero|0|[Nn]othing) (?:[\w-]+ ){0,3}?(?:errors?|issues?|problems?|warnings?|vulnerabilit\w+"
    r"|differences?|diffs?|changes?|failures?|conflicts?|leaks?|violations?|updates?|findings?|matches|results|outdated"
    r"|to do|to be done)\b)(?![^\n]*\b(?:[Ss]uccess\w*|[Pp]assed|[Ff]ixed|[Rr]esolved|[Ii]gnoring|[Ss]kipp(?:ed|ing)"
    r"|[Dd]eprecated|[Ww]arnings?|WARN|INFO|DEBUG|[Uu]sing)\b|[^\n]*: 0\b)"
)
_LEAD = r"\A\s*(?:\[[^\]\n]{1,40}\] |[\w./@+-]{1,60} ?: |[-*•›»>✗×Xx] |[A-Z]{2,10} {2,}){0,2}"
_NOT = (
    "[Nn]ot (?:found|a|an|in|authori[sz]ed|authenticated|logged|allowed|permitted|supported|enough|connected|running"
    r"|installed|configured|enabled|available|defined|set|valid|exist|accessible|up[- ]to[- ]date)\b"
)
# How programs refuse in a few words: one line or two, and nothing else.
TERSE = WordingRules(
    WordingRule("a line begins with a refusal", "short",
        r"\A\s*[\w./@+-]{1,60}: "
        f"{_GOOD}"
        r"[Nn]o (?:[\w-]+ ){1,4}found|"
        f"{_LEAD}{_GOOD}"
        "(?:(?:[Cc]annot|[Cc]an't|[Cc]ould not|[Cc]ouldn't|[Uu]nable to|[Ff]ailed to|[Dd]id not|[Dd]oes not|[Mm]ust"
        rf"|[Rr]efus(?:ing|ed) to) ?\S|{_NOT}|[Nn]o such |[Nn]o (?:[\w.'\"/@-]+ ){{1,5}}(?:available|configured"
        rf"|specified"
        r"|provided|installed|running|set|found(?= (?:matching|for|with|named|in|at|on)\b|[.:,;] ?\S))"
        r"|(?:[Uu]nknown|[Uu]nrecogni[sz]ed|[Uu]nsupported|[Uu]nexpected|[Ii]nvalid|[Ii]llegal|[Mm]issing|[Bb]ad"
        r"|[Aa]mbiguous|[Uu]ndefined) [\"'`<\[(]?[A-Za-z-]|[Pp]ermission denied|[Aa]ccess (?:is )?denied"
        r"|[Cc]onnection (?:refused|reset|timed out)|[Aa]uthentication (?:failed|required)|[Ll]ogin required"
        r"|[Tt]ime(?:d )?-?out\b)",
        "The program refused."),
    # One sentence and perhaps a hint: a text of more lines has more to say than no.
    WordingRule("a sentence of refusal", "short",
        f"{_LEAD}{_GOOD}"
        r"(?![\w./-]+:\d+[:-])[\w`'\"@./<(][^\n{}|=;→]{0,200}?(?:\bis (?:disabled|required|missing|invalid|unknown"
        r"|unsupported|locked|out of date|no longer \w+)\b|\b(?:does|do|did|has|have|can|could|is|was|are|were"
        r"|must)(?: "
        rf"not|n't)\b|\bcannot\b|\b{_NOT}|\bno such \w|\bfail(?:ed|s|ure)(?: to | with |:|\.?$)|\btim(?:ed|e) ?out\b"
        r"|\brequires? (?:login|authentication|root|sudo|admin)\b|\bmust (?:be|have|specify|provide|set)\b|\balready "
        r"(?:exists|running|in use)\b|\bdenied\b|\bunable to\b)[^\n]*(?:\n+[^\n]+)?\Z", "The program refused."),
)
# How web tools, HTTP clients, MCP servers and other APIs speak about a request that failed.
WEB_FAILURES = WordingRules(
    # Only the start, everywhere: what follows is the page, and pages explain status codes.
    WordingRule("request failed", "start",
        f"{_OPEN}"
        r"(?:(?:[A-Za-z]*Error:? )?(?:Request failed with status(?: code)? |(?:HTTP|Http)(?: [Ee]rror| status)?:? ?"
        r"|[Ss]tatus"
        r"(?: code)?:? )?[45]\d\d\b|(?:Failed|Unable|Could not) (?:to )?(?:fetch|load|retrieve|open|navigate|verify if "
        r"domain)|(?:Error|ERROR)\b(?:: | \d| (?:fetching|during|while|loading)))", "The request was answered with an "
        "error."),
    # The environment's fault: the same call works later or with a key.
    WordingRule("no connection", "start",
        f"{_OPEN}"
        r"(?:getaddrinfo |connect E|E(?:CONNRE|TIMEDOUT|NOTFOUND)|net::ERR_|(?:Connection|Network) (?:refused|error"
        r"|reset"
        "|timed out|failed|aborted)|Name or service not known|Temporary failure in name resolution|Max retries exceeded"
        r"|Rate limit(?:ed)?\b|Too many requests|Quota exceeded|[^\n]{0,80}API key (?:is )?(?:not set|missing|invalid)"
        r"|Unauthorized|Forbidden\b)", "The network or the service did not let it through.", fault="environment"),
)
CURL = WordingRules(
    # Both streams are joined, so the progress meter and the body of the page may come before or after it.
    WordingRule("curl or wget failed", "edge", r"^(?:curl: \(\d+\) |wget: (?:unable|bad|server|can't|missing)"
        r"|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d ERROR \d{3}: )", "The request could not be made.", fault="environment"),
)
API_FAILURES = WordingRules(
    # Only the start: after it comes data of the server, in which an error may be a subject.
    WordingRule("protocol error", "start", r"(?:<tool_use_error>)?(?:Error: )?(?:MCP error -?\d+|JSON-RPC error"
        r"|[Tt]ool "
        r"(?:\S+ )?(?:call |execution )?(?:error|failed)\b|MCP (?:tool|server) .{0,80}(?:error|failed|not connected)"
        r"|Error POSTing to endpoint)", "The server answered with an error of the protocol.", fault="none"),
    WordingRule("took too long", "start", r"(?:Error: )?(?:(?:Request|Operation) timed out|Timeout (?:of|after) [\d.]+"
        r"|[^\n]{0,60} timed out after [\d.]+ ?\w)", "It took too long.", fault="environment"),
    # A single heading "Error", since servers that answer in Markdown have no other flag in plain text.
    WordingRule("error heading", "start", r"#{1,4} (?:Error|Result\n+Error)\b|\*\*Error\*\*|❌|✗ |⛔",
        "The answer is headed as an error.", fault="none"),
    WordingRule("plain error", "start", r"(?:Error|ERROR|error|Exception|EXCEPTION|Failure|FAILED|Fatal|FATAL)\b(?::"
        r"| -| \d| [a-z]+ing | in tool|\s*\Z)|(?:[A-Z][a-z]+ ){0,4}[A-Z]\w*(?:Error|Exception| error)(?:: |\s*\Z)",
        "The tool answered with an error."),
    WordingRule("could not", "start", "(?:Failed to |Could not |Unable to |Cannot |Can't |Couldn't |There was (?:a "
        "problem|an error) )[a-z]", "The tool says that it could not do it.", fault="none"),
    # The whole of a short text: a page about JavaScript quotes these sentences as well.
    WordingRule("an exception's own words", "whole", r"[^\n]{0,120}(?:\bis not a function|\bis not defined|[Cc]annot "
        r"read propert(?:y|ies) of|\bis not iterable|object has no attribute|list index out of range)\b[^\n]{0,200}",
        "The answer is the text of an exception.", fault="environment",
        needle=("is not ", "ropert", "no attribute", "out of range")),
    WordingRule("argument was wrong", "whole", "(?:Received|Got|Expected|Invalid|Unknown|Unsupported|Missing"
        r"|Unexpected)\b[^\n{]{1,300}", "The server says that an argument was wrong."),
    # These words are common in documents, so they count only when the answer is this one sentence.
    WordingRule("short complaint", "whole", r"[^\n{\[]{0,160}\b(?:is required|must be|is not (?:valid|allowed"
        "|supported|found)|not authorized|unauthorized|(?:access|permission) denied|does not exist|doesn't exist|was "
        "not "
        r"found|limit exceeded|timed out|internal server error)\b[^\n]{0,160}",
        "The answer is one sentence that complains.", fault="none"),
)
