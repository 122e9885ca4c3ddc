"""The outcome of a run: the script's exit first, then markers, then wording."""

from __future__ import annotations

import re

import msgspec

from seasoned.schedule.job import Outcome, RunFault


def _any(words: str) -> str:
    """A pattern for one of several words, given with bars between them; both kinds of apostrophe match."""
    return f"(?:{words.replace(chr(39), '[' + chr(39) + '’]')})"


_THE = _any("the|your|this|our|my|because|since|as|but|and|cron|scheduled|gate")
_KIND = _any("python|shell|bash|cron|gate|scheduled|job's")
_NAME = r"(?:`[^`]+`|'[^']+'|\"[^\"]+\"|\([^)]+\)|[\w./-]+\.(?:py|sh|bash))"
# The job's own one: not the film's, not the deploy script, of which a report may speak.
_SCRIPT = rf"(?:^|(?<=[^\w\s'’`\"“-])\s*|\b{_THE} )(?:{_KIND} )?script(?: {_NAME})?"
_HAS = "(?: has| had)?"
_NOT = _any("could not|couldn't|cannot|can't|was unable to|unable to|not able to|failed to")
_DID_NOT = _any("did not|didn't|does not|doesn't")
_GONE = _any("is missing|does not exist|doesn't exist|was not found|is not executable|is broken")
_BAD = r"(?:an? )?(?:(?!no|zero|any)\w+ )?(?:error|exception|failure|traceback|problem)s?"
_CODE = r"(?:an? )?(?:exit |return )?(?:code|status)(?: of)? "


class FailureWording(msgspec.Struct, frozen=True):
    """One way in which an answer says that its script failed, with sentences that it is tested by."""

    pattern: str
    finds: tuple[str, ...]
    misses: tuple[str, ...]


# These decide where there is no exit code. The rules of `seasoned.outcome` are for what tools print: they would also
# find "Failed to reach 2 of 40 hosts", which is a good report. Here the words must be about the script itself, now.
FAILURES: tuple[FailureWording, ...] = (
    FailureWording(
        rf"{_SCRIPT}{_HAS} failed\b",
        (
            "The script failed.",
            "There is no report, because the script has failed.",
            "Script check.py failed: no disk.",
        ),
        ("The film's script failed to convince.", "The script found 3 failed logins."),
    ),
    FailureWording(
        rf"{_SCRIPT}{_HAS} {_any('exited|ended|finished|terminated|quit|returned')} with {_CODE}(?!0\b)-?\d+",
        ("The script exited with code 1.", "The script ended with exit status 127."),
        ("The script exited with code 0.",),
    ),
    FailureWording(
        rf"{_SCRIPT}{_HAS} {_any('exited|ended|finished|returned')}(?: with)? (?:an? )?non-?zero\b",
        ("The script returned a non-zero exit code.", "The script exited nonzero."),
        ("The script returned a non-empty list.",),
    ),
    FailureWording(
        rf"{_SCRIPT}{_HAS} timed out\b",
        ("The script timed out after 30 seconds.",),
        ("The script counted 4 requests that timed out.",),
    ),
    FailureWording(
        rf"{_SCRIPT}{_HAS} {_any('crashed|aborted|died|broke|broke down|hung')}\b",
        ("The script crashed on line 12.", "The script has died."),
        ("The script lists crashed services.",),
    ),
    FailureWording(
        rf"{_SCRIPT} {_any('was|got|has been|is')} {_any('killed|aborted|terminated|interrupted|ended early')}\b",
        ("The script was killed by signal 9.",),
        ("The script was started at nine.",),
    ),
    FailureWording(
        rf"{_SCRIPT} {_NOT} be {_any('run|executed|started|found|opened|launched|completed|finished')}\b",
        ("The script could not be run.", "The script couldn't be found."),
        ("The script could not be faster.",),
    ),
    FailureWording(
        rf"{_SCRIPT} {_NOT} {_any('run|complete|finish|start|execute')}\b",
        ("The script couldn't complete.", "The script was unable to start."),
        ("The script could not find anything new.",),
    ),
    FailureWording(
        rf"\b{_NOT} {_any('run|execute|start|launch|finish|complete|find|open')} {_any('the|your|this')} "
        rf"(?:{_KIND} )?script\b",
        ("I was unable to run the script.", "Failed to execute the script: permission denied."),
        ("I was able to run the script.",),
    ),
    FailureWording(
        rf"{_SCRIPT} {_DID_NOT} "
        rf"{_any('complete|finish|succeed|run|start|exit cleanly|work')}\b",
        ("The script did not complete successfully.", "The script didn't run."),
        ("The script did not find new mail.",),
    ),
    FailureWording(
        rf"{_SCRIPT}{_HAS} {_any('raised|threw|thrown|hit|encountered|ran into|run into')} {_BAD}\b",
        ("The script raised an exception.", "The script encountered an unexpected error."),
        ("The script encountered no errors.",),
    ),
    FailureWording(
        rf"{_SCRIPT}{_HAS} {_any('ended|exited|stopped|crashed|finished|came back')} {_any('with|in')} {_BAD}\b",
        ("The script ended with an error.", "The script finished with errors."),
        ("The script finished with zero errors.",),
    ),
    FailureWording(
        rf"{_SCRIPT}{_HAS} (?:reported|returned|produced|printed) an? (?:\w+ )?(?:error|exception|traceback)\b",
        ("The script reported an error.", "The script produced a Python traceback."),
        ("The script reported zero errors.", "The script reported an outage elsewhere."),
    ),
    FailureWording(
        rf"\b{_any('error|exception|failure|problem')}s? (?:occurred |happened )?(?:while |when |in |during )?"
        rf"{_any('running|executing|starting|the execution of|execution of')} {_any('the|your|this')} "
        rf"(?:{_KIND} )?script\b",
        ("There was an error running the script.", "An error occurred while executing the script."),
        ("No time was lost running the script.",),
    ),
    FailureWording(
        rf"(?:^|(?<=[^\w\s'’`\"“-])\s*)script (?:execution |run )?{_any('error|failure|failed|crash|timeout|time-out')}"
        r"\s*(?:[:–—.!*-]|$)",
        ("Script error: no such table.", "Script execution failed.", "❌ Script failure"),
        ("PostScript error: none of ours.", "Script errors are rare here."),
    ),
    FailureWording(
        rf"\b{_any('running|executing|execution of|the run of|starting')} {_any('the|your|this')} (?:{_KIND} )?script"
        rf"{_HAS} {_any('failed|was not successful|did not work')}\b",
        ("Running the script failed.", "Execution of the script was not successful."),
        ("Running the script takes a minute.",),
    ),
    FailureWording(
        rf"{_SCRIPT} {_GONE}\b",
        ("The script does not exist.", "The script was not found."),
        ("The script lists what is missing.",),
    ),
    FailureWording(
        rf"{_SCRIPT}['’]s {_any('run|execution')}{_HAS} failed\b",
        ("The script's execution failed.", "The script's run failed."),
        ("The script's execution took 3 s.",),
    ),
    FailureWording(
        rf"{_SCRIPT}['’]s (?:exit |return )?(?:code|status) (?:is|was) (?:[1-9]\d*|non-?zero)\b",
        ("The script's exit code was 3.",),
        ("The script's exit code was 0.",),
    ),
    FailureWording(
        rf"{_SCRIPT} {_any('was|is|ended')} unsuccessful(?:ly)?\b",
        ("The script was unsuccessful.",),
        ("The script was successful.",),
    ),
)

_PAST = "yesterday|last (?:night|week|month|time|year)|earlier|previously|formerly|in the past|used to|before the fix"
_DAYS = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|\d+ (?:hours?|days?|weeks?) ago"
# Words that change the meaning of such a sentence: a condition, another time, a second try, a question.
HEDGES: tuple[str, ...] = (
    r"(?:^|[,;(] ?)(?:if|when|whenever|unless|should|once|in case|as soon as|until) ",
    r"\b(?:if|whenever|unless|in case|whether|the case (?:that|where|when)|that) (?:the|your|this|a) script\b",
    rf"\b(?:{_PAST})\b",
    rf"\b(?:on )?(?:{_DAYS})\b",
    r"\b(?:was|is|been|now) (?:fixed|repaired|resolved)\b",
    r"\bbut (?:the|a) (?:second|next|retry|new)\b.*\b(?:succeeded|worked|went through|ran through)\b",
    r"\?\s*$",
)

_ANY = re.compile("|".join(f"(?:{one.pattern})" for one in FAILURES), re.IGNORECASE)
_HEDGE = re.compile("|".join(f"(?:{one})" for one in HEDGES), re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
# Quoted lines, tables and code are what the answer reports, not what it says about its script.
_QUOTED = re.compile(r"^\s*(?:>|\|)")
_BLOCK = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
# Sentences at each end of an answer; the middle is its content.
_END_SENTENCES = 3
# Bounds the work of the patterns on text without sentence ends.
_LONGEST = 1000


def says_failed(text: str) -> str | None:
    """The sentence that says that the script failed; None if there is none."""
    lines = [line for line in _BLOCK.sub("\n", text).splitlines() if line.strip() and not _QUOTED.match(line)]
    sentences = [one.strip()[:_LONGEST] for line in lines for one in _SENTENCE.split(line) if one.strip()]
    ends = (
        sentences
        if len(sentences) <= 2 * _END_SENTENCES
        else [*sentences[:_END_SENTENCES], *sentences[-_END_SENTENCES:]]
    )
    return next((one for one in ends if _ANY.search(one) and not _HEDGE.search(one)), None)


SILENT = "[SILENT]"
SCRIPT_FAILED = "[SCRIPT_FAILED]"
# What models put around a marker.
_DRESS = " \t*_`\"'"


class RunResult(msgspec.Struct, frozen=True, kw_only=True):
    """How a run ended."""

    outcome: Outcome
    fault: RunFault = ""
    reason: str = ""
    # The answer without its markers.
    text: str = ""


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
