"""Who was at fault, read from the text of a call that is known to have failed."""

from __future__ import annotations

import re

from seasoned.outcome.envelope import open_shell
from seasoned.outcome.pattern import Pattern
from seasoned.outcome.tool import speaks
from seasoned.outcome.verdict import Fault
from seasoned.outcome.wording.harness import HARNESS
from seasoned.outcome.wording.refusal import REFUSALS
from seasoned.outcome.wording.rule import Speech, first
from seasoned.session import ToolCall

_ENVIRONMENT = Pattern(
    r"connection (?:refused|reset|timed out|aborted)|could not resolve host|network is unreachable|name resolution"
    r"|no space left|cannot allocate memory|out of memory|disk quota|rate limit|too many requests|\b429\b|\b50[0-4]\b(?=[ :])"
    r"|timed? ?out\b|etimedout|econnrefused|econnreset|enotfound|enospc|emfile|posix_spawn|command not found|no module named"
    r"|internal server error|service unavailable|bad gateway|read-only file system|operation not permitted|dial tcp"
    r"|no such host|tls handshake|executable not found|not installed|quota exceeded|overloaded",
    re.IGNORECASE,
)
_CALL = Pattern(
    r"no such file|does not exist|not found|not been read|invalid|unknown|unrecogni[sz]ed|unexpected|syntax error|parse error"
    r"|is a directory|not a directory|eisdir|enoent|missing|required|mismatch|undefined|cannot find|already exists|usage:"
    r"|no matches|must |fail|error|exceeds|conflict|fatal|denied|✖|issues:|problem",
    re.IGNORECASE,
)
_WINDOW = 1500


def fault_of(call: ToolCall, text: str) -> tuple[Fault, str]:
    """The fault and a reason in words, from the start and the end of a failure's text."""
    refused = first(REFUSALS, Speech(text[:_WINDOW]))
    if refused is not None:
        return refused.fault, refused.reason
    body = open_shell(text).text if speaks(call) == "shell" else text
    ends = body if len(body) <= 2 * _WINDOW else body[:_WINDOW] + "\n" + body[-_WINDOW:]
    line = _telling_line(ends)
    broken = first(HARNESS, Speech(text[:_WINDOW]))
    if broken is not None and broken.fault == "environment":
        return "environment", line or broken.reason
    if _ENVIRONMENT.compiled.search(ends):
        return "environment", line
    return ("call" if _CALL.compiled.search(ends) else "none"), line or "It failed and said nothing."


def _telling_line(text: str) -> str:
    """The line of a failure that says most: the last that complains, else the first."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return ""
    for line in reversed(lines[-12:]):
        if _ENVIRONMENT.compiled.search(line) or re.match(
            r"(?:\S+: )?(?:error|fatal|fail|\w*Error\b)", line, re.IGNORECASE
        ):
            return _short(line)
    return _short(lines[0])


def _short(line: str) -> str:
    line = line.removeprefix("<tool_use_error>").removesuffix("</tool_use_error>")
    return line if len(line) <= 160 else line[:157] + "..."
