"""Whether a failed call was a mistake or a signal.

A test run, a type check, a linter or a build that reports on the user's code did its work: that is a signal. A call
that could not do its work, because of an unknown option, a missing file or the wrong folder, is a mistake.
"""

from __future__ import annotations

import re
from functools import lru_cache

from seasoned.command.parse import names
from seasoned.command.rows import only_looks
from seasoned.command.written import purpose_of
from seasoned.lazy_regex import LazyRegex
from seasoned.lesson.failure.call_target import (
    CACHE_SIZE,
    CHECK_PROGRAMS,
    INTERPRETERS,
    CallTarget,
    ProgramRun,
    target_of,
)
from seasoned.lesson.failure.cause import BY_NAME, cause_in, is_among
from seasoned.lesson.failure.signature import complains, line_of_text
from seasoned.outcome.track import JudgedCall

# Causes that report the state of the code or of a service, no matter which program reports them.
_STATE_CAUSES = names("conflict") | {"no pull request"}
# Programs that exit non-zero to answer a question: `gh pr checks`, `git diff --check`.
_QUESTION_COMMANDS = LazyRegex(
    r"(?:gh (?:pr checks|run (?:watch|view))|git (?:diff|config|grep|merge-base|rev-parse|ls-files|check-\S+))\b"
)
_REPORT_WORDS = names(
    "test tests build vet check checks lint clippy fmt format compile typecheck types tsc verify validate e2e unit ci"
    " integration coverage bench doctest nextest pytest vitest jest eslint"
)
# Words of test runners and compilers, no matter which program started them. `port 5432 failed` is none of theirs.
_FINDING = LazyRegex(
    r"\btests? (?:\d+ )?failed|(?<!port )\b\d+ (?:failed|failing)\b|--- FAIL|\berror TS\d+|\bAssertionError\b|^FAILED\b"
    r"|\bdid not compile\b",
    re.IGNORECASE,
)
# The same in the words of the judge.
_JUDGED = LazyRegex(r"\b[Tt]ests? failed\.|\bIt did not compile\.")
# What tests and checks print once they ran.
_RAN = LazyRegex(
    r"(?<!port )\b\d+ (?:passed|failed|failing|passing|tests?|problems?|errors?|skipped)\b|--- (?:FAIL|PASS)"
    r"|\berror TS\d+|^(?:FAIL|ok|PASS)\b|test result:|AssertionError",
    re.MULTILINE,
)
_ENVIRONMENT = frozenset(
    ("missing program", "unknown command", "dependencies", "module", "version", "library", "environment")
)
_READ_CHARS = 2000
_LABEL_SEPARATORS = LazyRegex(r"[^\w]+|_")
_POLLING_TOOLS = names("write_stdin BashOutput TaskOutput process")
_SHELL_PREFIX = LazyRegex(r"\A(?:\S{0,40}sh:|\(eval\):|bash:|zsh:|sh:)")


def is_signal(call: JudgedCall) -> bool:
    """Whether a failed call only reported on the user's code or on a state, as a failing test does."""
    text = call.result or ""
    if _could_not_run(text):
        return False
    # The judge saw the whole output, of which the store keeps a part.
    return _JUDGED.compiled.search(call.reason) is not None or _is_signal(target_of(call), line_of_text(text))


def _could_not_run(text: str) -> bool:
    """Whether a check never got as far as the code: no test ran, and something that it needs is missing."""
    if _RAN.compiled.search(text):
        return False
    return any(is_among(line, _ENVIRONMENT) for line in text[:_READ_CHARS].splitlines())


@lru_cache(maxsize=CACHE_SIZE)
def _is_signal(target: CallTarget, line: str) -> bool:
    cause = cause_in(line)
    if cause in _STATE_CAUSES or _FINDING.compiled.search(line):
        return True
    if not target.runs:
        # Polling a command that was started earlier: its output is not about this call.
        return cause is None and (target.tool in _POLLING_TOOLS or "write_stdin(" in target.text[:400])
    runs = target.failed_runs
    if cause is not None and (BY_NAME[cause].of_any_program or _SHELL_PREFIX.compiled.match(line)):
        return False
    if any(_reports_on_code(run) for run in runs):
        # "No such file" from a test is a finding, unless the file was an argument of the call.
        return not (cause == "missing file" and any(_is_given(run, line) for run in runs))
    if cause is None and any(run.program in INTERPRETERS for run in runs):
        # The user's own script, or a check written on the spot.
        return not line.startswith(("SyntaxError", "IndentationError"))
    if cause is None and not complains(line) and all(_is_question(run) for run in runs):
        return True
    return cause is None and any(_QUESTION_COMMANDS.compiled.match(run.label) for run in runs)


def _reports_on_code(run: ProgramRun) -> bool:
    """Whether a program checks or runs the user's code."""
    if purpose_of(run.label) == "install":
        return False
    if run.program in CHECK_PROGRAMS or run.label in ("make", "just", "go run", "cargo run"):
        return True
    return bool(_REPORT_WORDS.intersection(_LABEL_SEPARATORS.compiled.split(run.label)[1:]))


def _is_given(run: ProgramRun, line: str) -> bool:
    return any(len(word) > 2 and word in line for word in run.operands)


def _is_question(run: ProgramRun) -> bool:
    return only_looks(run.program, run.label.split()[-1]) or bool(_QUESTION_COMMANDS.compiled.match(run.label))
