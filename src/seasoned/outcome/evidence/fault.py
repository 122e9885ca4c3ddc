"""Who was at fault, read from the text of a call that is known to have failed."""

from __future__ import annotations

import re

from seasoned.command.tool import output_form
from seasoned.lazy_regex import LazyRegex
from seasoned.outcome.evidence.envelope import open_shell
from seasoned.outcome.verdict import Fault
from seasoned.outcome.wording.harness import HARNESS, REFUSALS
from seasoned.outcome.wording.rule import OutputText, first
from seasoned.outcome.wording.test_runner import TEST_FAILURES
from seasoned.session import ToolCall

# Compared with a text in lower case. Plain pieces of text: every failure of a scan is looked through.
_ENVIRONMENT = (
    *("connection refused", "connection reset", "connection timed out", "connection aborted", "could not resolve host"),
    *("network is unreachable", "name resolution", "no such host", "dial tcp", "tls handshake", "econnrefused"),
    *(
        "econnreset",
        "etimedout",
        "enotfound",
        "timed out",
        "timeout exceeded",
        "timeouterror",
        "i/o timeout",
        "rate limit",
        "too many requests",
        " 429 ",
    ),
    *("no space left", "enospc", "cannot allocate memory", "out of memory", "disk quota", "quota exceeded", "emfile"),
    *("internal server error", "service unavailable", "bad gateway", "overloaded", "posix_spawn", "command not found"),
    *("no module named", "executable not found", "not installed", "read-only file system", "operation not permitted"),
)
_CALL = (
    *("no such file", "does not exist", "not found", "not been read", "invalid", "unknown", "unrecogni", "unexpected"),
    *("syntax error", "parse error", "could not", "no match", "is a directory", "not a directory", "eisdir", "enoent"),
    *("missing", "required", "mismatch", "undefined", "cannot find", "already exists", "usage:", "must ", "fail"),
    *("error", "exceed", "conflict", "fatal", "denied", "✖", "issues:", "problem"),
)
# A line that begins so is worth showing as the reason.
_TELLING = LazyRegex(r"(?:\S+: )?(?:error|fatal|fail|\w*Error\b)", re.IGNORECASE)
_WORD = LazyRegex(r"[^\W\d_]{2}")
# Long outputs say what went wrong at their start or end.
_WINDOW = 1500


def fault_of(call: ToolCall, text: str) -> tuple[Fault, str]:
    """The fault and a reason in words, from the start and the end of a failure's text."""
    refused = first(REFUSALS, OutputText(text[:_WINDOW]))
    if refused is not None:
        return refused.fault, refused.reason
    body = open_shell(text).text if output_form(call) == "shell" else text
    ends = body if len(body) <= 2 * _WINDOW else body[:_WINDOW] + "\n" + body[-_WINDOW:]
    line = _telling_line(ends)
    broken = first(HARNESS, OutputText(text[:_WINDOW]))
    if broken is not None and broken.fault == "environment":
        return "environment", line or broken.reason
    if first(TEST_FAILURES, OutputText(ends)) is not None:
        # A test may speak of a network that it pretends to have lost.
        return "call", line
    return fault_in(ends), line or "It failed and said nothing."


def fault_in(text: str) -> Fault:
    """Who is at fault by the words of a failure; `none` when they do not tell."""
    lowered = text.lower()
    # The environment first: its words are specific, while "error" and "fail" stand in nearly every failure.
    if any(piece in lowered for piece in _ENVIRONMENT):
        return "environment"
    return "call" if any(piece in lowered for piece in _CALL) else "none"


def _telling_line(text: str) -> str:
    """The line of a failure that says most: the last that complains, else the first."""
    lines = [line.strip() for line in text.splitlines() if _WORD.compiled.search(line)]
    if not lines:
        return ""
    for line in reversed(lines[-12:]):
        # Tracebacks and compilers put the message last; usage texts and shells put it first.
        if _TELLING.compiled.match(line):
            return _short(line)
    return _short(lines[0])


def _short(line: str) -> str:
    line = line.removeprefix("<tool_use_error>").removesuffix("</tool_use_error>")
    return line if len(line) <= 160 else line[:157] + "..."
