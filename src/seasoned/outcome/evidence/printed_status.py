"""Reads the exit status that a command prints itself: `make 2>&1 | tail; echo "exit ${PIPESTATUS[0]}"`."""

from __future__ import annotations

import re

from seasoned.command.parse import Step
from seasoned.lazy_regex import LazyRegex
from seasoned.outcome.evidence.exit_code import answer_no
from seasoned.outcome.evidence.shell_command import ShellCommand, is_show, told_name
from seasoned.outcome.verdict import Verdict
from seasoned.outcome.wording.rule import OutputText

# The last status, or that of the first program of a pipe (bash counts from 0, zsh from 1).
_STATUS = LazyRegex(r"\$(?P<last>\?)|\$\{(?:PIPESTATUS\[0\]|pipestatus\[1\])\}")
_PLACEHOLDER = LazyRegex(r"%[sd]")
# So much of the text in front of a status finds its line again.
_LEAD = 40


def printed_status(speech: OutputText, ran: ShellCommand) -> Verdict | None:
    """The verdict of a status that the command prints about a program whose own status is lost."""
    for at, step in enumerate(ran.steps):
        if at == 0 or step.program not in ("echo", "printf"):
            continue
        found = _STATUS.compiled.search(" ".join(step.words))
        if found is None:
            continue
        of = _program_of(ran.steps[:at], first_of_pipe=found["last"] is None)
        code = None if of is None or is_show(of) or answer_no(of) else _code(speech, step, found)
        if code:
            assert of is not None
            return Verdict(
                "failed", "wording", "call", f"The command printed exit code {code} of {told_name(of, 'a program')}."
            )
    return None


def _program_of(before: tuple[Step, ...], *, first_of_pipe: bool) -> Step | None:
    """The program that a status belongs to; None where that is the end of a pipe."""
    at = len(before) - 1
    if not first_of_pipe:
        return None if before[at].join == "|" else before[at]
    while at > 0 and before[at].join == "|":
        at -= 1
    return before[at]


def _code(speech: OutputText, step: Step, found: re.Match[str]) -> int | None:
    if step.program == "printf":
        lead, _, _ = _PLACEHOLDER.compiled.sub("\0", step.words[0]).partition("\0")
    else:
        lead = found.string[: found.start()]
    # Variables in front of it have unknown values.
    lead = lead.rsplit("$", 1)[-1].split(" ", 1)[-1] if "$" in lead else lead
    lead = lead.replace("\\n", "\n").rsplit("\n", 1)[-1][-_LEAD:]
    pattern = rf"{re.escape(lead)}(\d{{1,3}})\b" if lead.strip() else r"^(\d{1,3})$"
    codes = re.findall(pattern, speech.near, re.MULTILINE)
    return max((int(code) for code in codes), default=None)
