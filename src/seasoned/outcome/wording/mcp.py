"""How MCP servers and other APIs speak when they answer in plain text."""

from __future__ import annotations

from seasoned.outcome.wording.rule import WordingRule, WordingRules

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
