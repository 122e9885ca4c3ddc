"""How web tools, HTTP clients, MCP servers and other APIs speak about a request that failed."""

from __future__ import annotations

from seasoned.outcome.wording.rule import WordingRule, WordingRules

_BAD = r"(?:4\d\d|5\d\d)"

# Only the start, everywhere: what follows is the page, and pages explain status codes.
WEB_FAILURES = WordingRules(
    WordingRule(
        "request failed with a status",
        "start",
        rf"(?:<tool_use_error>)?(?:[A-Za-z]*Error:? )?(?:Request failed with status(?: code)? {_BAD}|(?:HTTP"
        rf"|Http)(?: [Ee]rror| status)?:? ?{_BAD}\b"
        rf"|{_BAD} (?:Client|Server) Error|(?:Failed|Unable) to (?:fetch|load|retrieve|open|navigate)"
        rf"|Error (?:fetching|during|while|loading)\b"
        rf"|Could not (?:fetch|load|retrieve|resolve)|[Ss]tatus(?: code)?:? {_BAD}\b|The server returned HTTP {_BAD})",
        "The request was answered with an error.",
        (
            "Request failed with status code 404",
            "Error: Request failed with status code 403",
            "HTTP 500 Internal Server Error",
            "Failed to fetch https://a.b: 404",
            "404 Client Error: Not Found for url",
            "Error during web search for query",
        ),
        ("HTTP 200 OK", "HTTP status codes explained: 404", "Failed states"),
    ),
    WordingRule(
        "no connection",
        "start",
        r"(?:<tool_use_error>)?(?:[A-Za-z ]*[Ee]rror:? )?(?:getaddrinfo |connect (?:ECONNREFUSED|ETIMEDOUT"
        r"|EHOSTUNREACH)|ECONNRE|ETIMEDOUT|ENOTFOUND|net::ERR_"
        r"|(?:Connection|Network) (?:refused|error|reset|timed out|failed|aborted)|Name or service not known"
        r"|Temporary failure in name resolution"
        r"|unable to verify the first certificate|Max retries exceeded|Navigation (?:timeout|failed)"
        r"|maxContentLength size|Domain \S+ is not allowed"
        r"|Claude Code is unable to fetch|Unable to verify if domain)",
        "The network did not let it through.",
        (
            "getaddrinfo ENOTFOUND api.example.com",
            "Connection refused",
            "Error: net::ERR_NAME_NOT_RESOLVED at https://x",
        ),
        ("Connection pooling guide",),
        fault="environment",
    ),
    WordingRule(
        "limited",
        # The environment's fault: the same call works later or with a key.
        "start",
        r"(?:<tool_use_error>)?(?:[A-Za-z ]*[Ee]rror:? )?(?:Rate limit(?:ed)?\b|Too many requests|429\b"
        r"|Quota exceeded|API key (?:not|is|missing)|[^\n]{0,80}API key (?:is )?(?:not set|missing|invalid)"
        r"|Unauthorized|Forbidden\b)",
        "The service refused the request.",
        ("Rate limit exceeded", "Error: Too many requests", "TAVILY API key not set"),
        ("Rate of growth",),
        fault="environment",
    ),
    WordingRule(
        "plain error",
        "start",
        r"(?:Error|ERROR)\b(?:: | \d)",
        "The tool answered with an error.",
        ("Error: something", "Error 403"),
        ("Errors in Go", "Error handling"),
        fault="none",
    ),
)

CURL = WordingRules(
    WordingRule(
        "curl failed",
        # Both streams are joined, so the progress meter and the body of the page may come before or after it.
        "edge",
        r"^curl: \((?P<code>\d+)\) ",
        "curl could not make the request.",
        (
            "curl: (7) Failed to connect to localhost port 80",
            "  % Total\ncurl: (22) The requested URL returned error: 404",
        ),
        ("curl: try 'curl --help'",),
        fault="environment",
        needle="curl: (",
    ),
    WordingRule(
        "wget failed",
        "edge",
        r"^(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d ERROR \d{3}: |wget: (?:unable|bad|server|can't|missing)"
        r"|failed: (?:Connection|Name or service))",
        "wget could not make the request.",
        ("2024-01-01 10:00:00 ERROR 404: Not Found.", "wget: unable to resolve host address 'x'"),
        ("2024-01-01 10:00:00 (1 MB/s) - saved",),
        fault="environment",
        needle=("ERROR", "wget: ", "failed: "),
    ),
)


API_FAILURES = WordingRules(
    WordingRule(
        "protocol error",
        # Only the start: after it comes data of the server, in which an error may be a subject.
        "start",
        r"(?:<tool_use_error>)?(?:Error: )?(?:MCP error -?\d+|McpError\b|JSON-RPC error|[Tt]ool (?:\S+ )?(?:call "
        r"|execution )?(?:error|failed)\b"
        r"|tool call failed for|MCP (?:tool|server) .{0,80}(?:error|failed|not connected|timed out)"
        r"|Streamable HTTP error|Error POSTing to endpoint|Not connected\b|SSE error)",
        "The server answered with an error of the protocol.",
        (
            "MCP error -32602: Invalid arguments",
            "Tool x execution failed: boom",
            "tool call error: tool call failed for `x`",
            "Error POSTing to endpoint (HTTP 500)",
        ),
        ("MCP errors are documented", "Tools that failed"),
        fault="none",
    ),
    WordingRule(
        "took too long",
        "start",
        r"(?:Error: )?(?:(?:Request|Operation) timed out|Timeout (?:of|after) [\d.]+|TimeoutError\b"
        r"|[^\n]{0,60} timed out after [\d.]+ ?(?:s|ms|m|sec|second|minute)s?\b)",
        "It took too long.",
        ("Request timed out", "browser_click timed out after 5000ms", "Timeout of 30s exceeded"),
        ("Timeouts: none",),
        fault="environment",
    ),
    WordingRule(
        "error heading",
        # A single heading "Error", since servers that answer in Markdown have no other flag in plain text.
        "start",
        r"#{1,4} (?:Error|Result\n+Error)\b|\*\*Error\*\*|❌|✗ |⛔",
        "The answer is headed as an error.",
        ("### Error\nbrowserType.launch: x", "❌ Failed to publish"),
        ("### Errors in this file: 3",),
        fault="none",
    ),
    WordingRule(
        "plain error",
        "start",
        r"(?:Error|ERROR|error|Exception|EXCEPTION|Failure|FAILED|Fatal|FATAL)\b(?::| -| \d| [a-z]+ing | executing"
        r"| in tool| calling|\s*\Z)",
        "The tool answered with an error.",
        ("Error: user not found", "Error executing tool x: boom", "Error", "FAILED: no such order", "Error 404"),
        ("Errors: none", "Error handling", "error_count 3"),
        fault="call",
    ),
    WordingRule(
        "named error",
        "start",
        r"(?:[A-Z][a-z]+ ){0,4}(?:[A-Z]\w*(?:Error|Exception)\b(?:: |\s*\Z)|[A-Z][a-z]+ (?:Error|error)(?:: |\s*\Z))",
        "The answer names an error.",
        ("ValueError: x must be positive", "Argument Validation Error", "Validation error: id", "GraphQLError: no"),
        ("TypeErrors explained in depth: a guide", "Some Error happened yesterday"),
    ),
    WordingRule(
        "could not",
        "start",
        r"(?:Failed to |Could not |Unable to |Cannot |Can't |Couldn't |There was (?:a problem|an error) )[a-z]",
        "The tool says that it could not do it.",
        ("Failed to create issue: no team", "Could not find user", "Cannot modify a delivered order"),
        ("Failed tests: 0",),
        fault="none",
    ),
    WordingRule(
        "an exception's own words",
        # The whole of a short text: a page about JavaScript quotes these sentences as well.
        "whole",
        r"[^\n]{0,120}(?:\bis not a function|\bis not defined|[Cc]annot read propert(?:y|ies) of|\bis not iterable"
        r"|Unexpected token|object has no attribute|\bis not subscriptable|list index out of range"
        r"|nil pointer dereference)\b[^\n]{0,200}",
        "The answer is the text of an exception.",
        ("(0 , import_dist.default) is not a function", "Cannot read properties of undefined (reading 'x')"),
        ("A guide\nto what is not a function",),
        fault="environment",
    ),
    WordingRule(
        "argument was wrong",
        "whole",
        r"(?:Received|Got|Expected|Invalid|Unknown|Unsupported|Missing|Unexpected|Malformed|Illegal)\b[^\n{]{1,300}",
        "The server says that an argument was wrong.",
        (
            "Received a malformed id: expected a UUID.",
            "Invalid date format",
            "Missing field 'id'",
        ),
        ("Invalid rows:\n1\n2",),
    ),
    WordingRule(
        "short complaint",
        # These words are common in documents, so they count only when the answer is this one sentence.
        "whole",
        r"[^\n{\[]{0,160}\b(?:is required|must be|is not (?:valid|allowed|supported|found|authorized)|not authorized"
        r"|unauthorized|access denied|permission denied"
        r"|does not exist|doesn't exist|was not found|could not be found|rate limit(?:ed)? exceeded|quota exceeded"
        r"|timed out|internal server error)\b[^\n]{0,160}",
        "The answer is one sentence that complains.",
        (
            "Entity not found: the issue does not exist",
            "teamId is required",
            "Request timed out",
            "You are unauthorized",
        ),
        ("Found 3 issues\nall must be fixed",),
        fault="none",
    ),
)
