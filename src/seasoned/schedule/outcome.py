"""The outcome of a run: the script's exit first, then markers, then a few plain wordings of failure."""

from __future__ import annotations

import re

import msgspec

from seasoned.schedule.job import Outcome, RunFault

SILENT = "[SILENT]"
SCRIPT_FAILED = "[SCRIPT_FAILED]"
# What models put around a marker.
_DRESS = " \t*_`\"'"

# The job's own script: not the film's, not the deploy script, of which a report may speak.
_SCRIPT = (
    r"(?:^|\b(?:because|since|as|but|and) )(?:(?:the|your|this|my) )?(?:(?:python|shell|bash|cron|gate|scheduled) )?"
    r"script(?: [`'\"(]?[\w./-]+\.\w+[`'\")]?)?(?: has| had)?"
)
_FAILURE = re.compile(
    rf"{_SCRIPT} (?:failed|crashed|timed out|died|aborted|was (?:killed|aborted|not found)|does not exist"
    r"|(?:could|did) not (?:be )?(?:run|executed?|started?|found|finish(?:ed)?|completed?)"
    r"|(?:exited|ended|finished|returned) with (?:an? )?"
    r"(?:error|exception|non-?zero|(?:exit |return )?(?:code|status)(?: of)? -?[1-9])"
    r"|(?:raised|threw|hit|encountered) an? (?:\w+ )?(?:error|exception))"
    r"|^script (?:execution )?(?:failed|failure|error)\b"
    r"|^(?:i )?(?:(?:was )?unable to|failed to|could not) (?:run|execute|start) the script"
    r"|^(?:there was )?an? error (?:occurred )?(?:while )?(?:running|executing) the script",
    re.IGNORECASE,
)
# About another time, or a second try.
_ELSEWHEN = re.compile(
    r"(?i)\b(?:yesterday|earlier|previously|ago|last \w+|if|when|fixed)\b|but the (?:second|next|retry)|\?$"
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
# Quoted lines, tables and code are what the answer reports, not what it says about its script.
_QUOTED = re.compile(r"^\s*[>|].*$|```.*?(?:```|\Z)", re.MULTILINE | re.DOTALL)
# Sentences at each end of an answer; the middle is its content.
_END_SENTENCES = 3


class RunResult(msgspec.Struct, frozen=True, kw_only=True):
    """How a run ended."""

    outcome: Outcome
    fault: RunFault = ""
    reason: str = ""
    # The answer without its markers.
    text: str = ""


def says_failed(text: str) -> str | None:
    """The sentence that says that the script failed; None if there is none."""
    sentences = [one.strip(" \t*_❌-") for one in _SENTENCE.split(_QUOTED.sub("\n", text)) if one.strip()]
    ends = dict.fromkeys([*sentences[:_END_SENTENCES], *sentences[-_END_SENTENCES:]])
    return next((one for one in ends if _FAILURE.search(one) and not _ELSEWHEN.search(one)), None)


def has_marker(text: str, marker: str) -> bool:
    """Whether a marker leads the text, or is the whole of its last line; elsewhere it is only mentioned."""
    lines = text.strip().splitlines()
    return bool(lines) and (lines[0].lstrip(_DRESS).startswith(marker) or lines[-1].strip(_DRESS) == marker)


def without_markers(text: str) -> str:
    """The text without the markers that count."""
    left = text.strip()
    for marker in (SILENT, SCRIPT_FAILED):
        lines = left.splitlines()
        if lines and lines[-1].strip(_DRESS) == marker:
            lines.pop()
        if lines and lines[0].lstrip(_DRESS).startswith(marker):
            lines[0] = re.sub(rf"^[{re.escape(_DRESS)}]*{re.escape(marker)}[*_`\"']*[ \t:–—-]*", "", lines[0])
        left = "\n".join(lines).strip()
    return left


def judge_answer(answer: str, *, script_problem: str | None = None) -> RunResult:
    """What an agent's answer means. If the script failed, the run failed, no matter what the agent says."""
    text = without_markers(answer)
    if script_problem is not None:
        return RunResult(outcome="failed", fault="script", reason=script_problem, text=text)
    if has_marker(answer, SCRIPT_FAILED):
        return RunResult(outcome="failed", fault="script", reason="The agent says that a script failed.", text=text)
    if has_marker(answer, SILENT):
        return RunResult(outcome="silent", text=text)
    if not text:
        return RunResult(outcome="empty", reason="The agent ended without an answer.")
    if (sentence := says_failed(text)) is not None:
        reason = f"The answer says that a script failed, without the marker: {sentence[:200]!r}."
        return RunResult(outcome="failed", fault="script", reason=reason, text=text)
    return RunResult(outcome="ok", text=text)


def judge_output(output: str) -> RunResult:
    """Judge the output of a script that ran without an agent and ended well."""
    if has_marker(output, SCRIPT_FAILED):
        reason = "The script says that it failed."
        return RunResult(outcome="failed", fault="script", reason=reason, text=without_markers(output))
    return RunResult(outcome="ok", text=without_markers(output))
