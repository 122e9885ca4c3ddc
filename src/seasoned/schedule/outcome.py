"""What came of a run, from evidence first: the script's own end, then markers, then wording."""

from __future__ import annotations

import re

import msgspec

from seasoned.schedule.job import Outcome, RunFault
from seasoned.schedule.wording import says_failed

SILENT = "[SILENT]"
SCRIPT_FAILED = "[SCRIPT_FAILED]"
_DRESS = " \t*_`\"'"
"""What models put around a marker."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """How a run ended."""

    outcome: Outcome
    fault: RunFault = ""
    reason: str = ""
    text: str = ""
    """The answer without its markers."""


def has_marker(text: str, marker: str) -> bool:
    """Whether a marker leads the text, or is the whole of its first or last line; elsewhere it is only mentioned."""
    lines = text.strip().splitlines()
    if not lines:
        return False
    if lines[0].lstrip(_DRESS).startswith(marker):
        return True
    return marker in (lines[0].strip(_DRESS), lines[-1].strip(_DRESS))


def without_markers(text: str) -> str:
    """The text without the markers that count."""
    left = text.strip()
    for marker in (SILENT, SCRIPT_FAILED):
        lines = left.splitlines()
        if lines and lines[-1].strip(_DRESS) == marker:
            lines.pop()
        if lines and lines[0].strip(_DRESS) == marker:
            lines.pop(0)
        elif lines and lines[0].lstrip(_DRESS).startswith(marker):
            lines[0] = re.sub(rf"^[{re.escape(_DRESS)}]*{re.escape(marker)}[*_`\"']*[ \t:–—-]*", "", lines[0])
        left = "\n".join(lines).strip()
    return left


def judge_answer(answer: str, *, script_problem: str | None = None) -> Result:
    """What an agent's answer means. A script that failed is a failed run, whatever the agent says."""
    text = without_markers(answer)
    if script_problem is not None:
        return Result(outcome="failed", fault="script", reason=script_problem, text=text)
    if has_marker(answer, SCRIPT_FAILED):
        return Result(outcome="failed", fault="script", reason="The agent says that a script failed.", text=text)
    if has_marker(answer, SILENT):
        return Result(outcome="silent", text=text)
    if not text:
        return Result(outcome="empty", reason="The agent ended without an answer.")
    if (sentence := says_failed(text)) is not None:
        reason = f"The answer says that a script failed, without the marker: {sentence[:200]!r}."
        return Result(outcome="failed", fault="script", reason=reason, text=text)
    return Result(outcome="ok", text=text)


def judge_output(output: str) -> Result:
    """What the output of a script means that is a job of its own, without an agent, and ended well."""
    if has_marker(output, SCRIPT_FAILED):
        reason = "The script says that it failed."
        return Result(outcome="failed", fault="script", reason=reason, text=without_markers(output))
    return Result(outcome="ok", text=without_markers(output))
