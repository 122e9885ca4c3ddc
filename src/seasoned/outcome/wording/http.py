"""How web tools and HTTP clients speak about the request itself, not about the page."""

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
