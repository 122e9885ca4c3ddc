"""How people and models say that a script failed. Data: each line has texts that it finds and texts that it must miss."""

from __future__ import annotations

import re

import msgspec

_THE = r"(?:the|your|this|that|our|my|cron|scheduled|gate|python|shell|bash)"
_SCRIPT = rf"(?<![\w'’\-])(?:{_THE} )*script(?: (?:`[^`]+`|'[^']+'|\"[^\"]+\"|\([^)]+\)|[\w./-]+\.(?:py|sh|bash)))?"
_HAS = r"(?: has| had| have)?"
_BAD = r"(?:an? )?(?:\w+ )?(?:error|exception|failure|traceback|problem)s?"


class Failure(msgspec.Struct, frozen=True):
    """One way to say it."""

    pattern: str
    finds: tuple[str, ...]
    misses: tuple[str, ...]


FAILURES: tuple[Failure, ...] = (
    Failure(
        rf"{_SCRIPT}{_HAS} failed\b",
        ("The script failed.", "There is no report, because the script has failed.", "Script check.py failed: no disk."),
        ("The film's script failed to convince.", "The script found 3 failed logins."),
    ),
    Failure(
        rf"{_SCRIPT}{_HAS} (?:exited|ended|finished|terminated|quit|returned) with (?:an? )?(?:exit |return )?"
        r"(?:code|status)(?: of)? (?!0\b)-?\d+",
        ("The script exited with code 1.", "The script ended with exit status 127."),
        ("The script exited with code 0.",),
    ),
    Failure(
        rf"{_SCRIPT}{_HAS} (?:exited|ended|finished|returned|exits)(?: with)? (?:an? )?non-?zero\b",
        ("The script returned a non-zero exit code.", "The script exited nonzero."),
        ("The script returned a non-empty list.",),
    ),
    Failure(
        rf"{_SCRIPT}{_HAS} timed out\b",
        ("The script timed out after 30 seconds.",),
        ("The script counted 4 requests that timed out.",),
    ),
    Failure(
        rf"{_SCRIPT}{_HAS} (?:crashed|aborted|died|broken? down|broke|hung)\b",
        ("The script crashed on line 12.", "The script has died."),
        ("The script lists crashed services.",),
    ),
    Failure(
        rf"{_SCRIPT}{_HAS} (?:was|were|got|been|is) (?:killed|aborted|terminated|interrupted|ended early)\b",
        ("The script was killed by signal 9.",),
        ("The script is interrupted by nothing." if False else "The script was started at nine.",),
    ),
    Failure(
        rf"{_SCRIPT} (?:could not|couldn['’]t|cannot|can['’]t) (?:be )?(?:run|executed|started|found|opened|launched|complete[d]?|"
        r"finish(?:ed)?|start)\b",
        ("The script could not be run.", "The script couldn't complete."),
        ("The script could not find anything new.",),
    ),
    Failure(
        r"\b(?:could not|couldn['’]t|cannot|can['’]t|unable to|not able to|failed to) "
        rf"(?:run|execute|start|launch|finish|complete|find|open) {_SCRIPT}\b",
        ("I was unable to run the script.", "Failed to execute the script: permission denied.", "I couldn't run the script."),
        ("I was able to run the script.",),
    ),
    Failure(
        rf"{_SCRIPT} (?:did not|didn['’]t|does not|doesn['’]t) (?:complete|finish|succeed|run|start|exit cleanly|work)\b",
        ("The script did not complete successfully.", "The script didn't run."),
        ("The script did not find new mail.",),
    ),
    Failure(
        rf"{_SCRIPT}{_HAS} (?:raised|threw|thrown|hit|encountered|ran into|run into|reported|returned|produced|ended with|"
        rf"ended in|exited with|stopped with|crashed with) {_BAD}\b",
        ("The script raised an exception.", "The script encountered an unexpected error.", "The script ended with an error."),
        ("The script reported zero errors.", "The script reported no errors."),
    ),
    Failure(
        rf"\b(?:error|exception|failure|problem)s? (?:occurred |happened |arose )?(?:while |when |in |during |on )?(?:running|"
        rf"executing|starting|the execution of|execution of) {_SCRIPT}\b",
        ("There was an error running the script.", "An error occurred while executing the script."),
        ("No time was lost running the script.",),
    ),
    Failure(
        r"(?:^|[\W_])script (?:execution |run )?(?:error|failure|failed|crash|timeout|time-out)\s*(?:[:–—.!-]|$)",
        ("Script error: no such table.", "Script execution failed.", "❌ Script failure"),
        ("PostScript error: none of ours.", "Script errors are rare here."),
    ),
    Failure(
        rf"\b(?:running|executing|execution of|the run of|starting) {_SCRIPT}{_HAS} (?:failed|was not successful|did not work)\b",
        ("Running the script failed.", "Execution of the script was not successful."),
        ("Running the script takes a minute.",),
    ),
    Failure(
        rf"{_SCRIPT} (?:is missing|does not exist|doesn['’]t exist|was not found|wasn['’]t found|is not there|"
        r"is not executable|is broken)\b",
        ("The script does not exist.", "The script was not found."),
        ("The script lists what is missing.",),
    ),
    Failure(
        rf"{_SCRIPT}['’]s? (?:run|execution|exit code|status)(?: has)? (?:failed|(?:is|was) (?!0\b)-?[1-9]\d*|"
        r"(?:is|was) non-?zero)\b",
        ("The script's execution failed.", "The script's exit code was 3."),
        ("The script's exit code was 0.",),
    ),
    Failure(
        rf"{_SCRIPT} (?:was|is|ended|finished|came back) (?:unsuccessful(?:ly)?|in error|with errors)\b",
        ("The script was unsuccessful.", "The script finished with errors."),
        ("The script was successful.",),
    ),
)
"""Where a script's own evidence is missing, these decide; the words must speak of the script itself, now."""

HEDGES = (
    r"\b(?:no|none of the|neither|nor|any|which|whose|zero) (?:\w+ )?scripts?\b",
    r"\b(?:not|never|no longer|hardly|has ?n['’]t|have ?n['’]t|did ?n['’]t|would ?n['’]t|without) "
    r"(?:once |yet |ever )?(?:fail|failed|failing|crash|crashed|time out|timed out|been killed|raise|encounter|hit)\b",
    r"(?:^|[,;(] ?)(?:if|when|whenever|unless|should|once|in case|as soon as|until) ",
    r"\b(?:if|whenever|unless|in case|in which|for which|whether|how often|the case (?:that|where|when)|what happens when) (?:[\w-]+ ){0,2}script\b",
    r"\b(?:would|might|may|could|can|will) (?:have )?(?:fail|failed|crash|time out|be killed)\b",
    r"\b(?:yesterday|last (?:night|week|month|time|year)|earlier|previously|formerly|in the past|used to|before (?:that|the fix)|"
    r"(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day|\d+ (?:hours?|days?|weeks?) ago)\b",
    r"\bscript (?:that|which|who) (?:had |has )?(?:failed|crashed|timed out|was killed)\b",
    r"\b(?:was|is|been|now) (?:fixed|mended|repaired|resolved)\b",
    r"\b(?:found|lists?|listed|counts?|counted|shows?|showed|says|said|reports|reported) (?:that )?(?:\w+ )?(?:other|another|build|deploy|backup)\b",
    r"\?\s*$",
)
"""What makes such a sentence speak of something else: a denial, a condition, another time, a question."""

_ANY = re.compile("|".join(f"(?:{one.pattern})" for one in FAILURES), re.IGNORECASE)
_HEDGE = re.compile("|".join(f"(?:{one})" for one in HEDGES), re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_QUOTED = re.compile(r"^\s*(?:>|\||```|    )")
_BLOCK = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_LOOKED_AT = 3
"""Sentences at each end of an answer; what stands in its middle is its content."""


def says_failed(text: str) -> str | None:
    """The sentence that says that the script failed; None where there is none."""
    lines = [line for line in _BLOCK.sub("\n", text).splitlines() if line.strip() and not _QUOTED.match(line)]
    sentences = [one.strip() for line in lines for one in _SENTENCE.split(line) if one.strip()]
    ends = sentences if len(sentences) <= 2 * _LOOKED_AT else [*sentences[:_LOOKED_AT], *sentences[-_LOOKED_AT:]]
    return next((one for one in ends if _ANY.search(one[:1000]) and not _HEDGE.search(one[:1000])), None)
