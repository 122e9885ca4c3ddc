"""Judges the output of a shell command by its words, knowing which programs could have said them."""

from __future__ import annotations

from seasoned.command.parse import Step, names
from seasoned.outcome.evidence.complaint import complaint, success
from seasoned.outcome.evidence.exit_code import answer_no
from seasoned.outcome.evidence.lost_status import judge_lost
from seasoned.outcome.evidence.shell_command import MUTED, QUIET, read_command, told_name
from seasoned.outcome.verdict import Verdict
from seasoned.outcome.wording.rule import OutputText


def judge_shell(text: str, command: str | None, *, shows_code: bool = False) -> Verdict:
    """What the output of a command says about it. `shows_code`: a non-zero code would stand in the text."""
    ran = read_command(command)
    static = _status_in_command(ran.asked)
    if static is not None:
        return static
    speech = OutputText(text)
    found = complaint(speech, ran, shows_code=shows_code) if speech.stripped else None
    if found is not None and (found.verdict == "failed" or not ran.lost):
        return found
    if ran.lost:
        return judge_lost(speech, ran, command or "")
    if not speech.stripped:
        return _silence(ran.asked, command or "")
    worked = success(speech) if ran.works else None
    if worked is not None:
        return worked.says()
    return Verdict("ok", "none", "none", "There is output, and nothing in it says that the command failed.")


def _status_in_command(deciders: tuple[Step, ...]) -> Verdict | None:
    """`false` and `exit 3` say themselves how they end."""
    if not deciders:
        return None
    last = deciders[-1]
    if last.program == "false" or (last.program in ("exit", "return") and last.words[:1] not in ((), ("0",))):
        if last.words[:1] and not last.words[0].isdigit():
            return None
        return Verdict(
            "failed", "wording", "call", f"The command itself ends with {' '.join((last.program, *last.words))}."
        )
    return None


def _silence(deciders: tuple[Step, ...], command: str) -> Verdict:
    """Nothing was said: by custom that is success, and for a search it means that nothing was found."""
    if not deciders:
        return Verdict("unclear", "none", "none", "Nothing was said, and what ran is not known.")
    last = deciders[-1]
    name = told_name(last, "The program")
    for step in (last, deciders[0]):
        no = answer_no(step)
        if no is not None:
            return Verdict("ok", "wording", "none", f"No output of {step.program}: {no}.")
    if last.program in _PRINTERS and MUTED.compiled.search(command):
        return Verdict("unclear", "none", "none", f"{name} said nothing, and its complaints were thrown away.")
    if all(step.program in QUIET for step in deciders):
        return Verdict("ok", "wording", "none", f"{name} says nothing when all went well.")
    return Verdict("unclear", "none", "none", f"{name} said nothing.")


# Programs from which silence is suspicious when errors were thrown away.
_PRINTERS = names("ls cat head tail jq curl awk find stat git python python3 node cut sort")
