"""Judges what a tool said in words, in the way that tool speaks."""

from __future__ import annotations

from typing import Any

from seasoned.command.parse import Step, names
from seasoned.command.tool import OutputForm, command_of
from seasoned.outcome.evidence.complaint import complaint, success
from seasoned.outcome.evidence.lost_status import judge_lost
from seasoned.outcome.evidence.shell_command import MUTED, QUIET, answer_no, read_command, told_name
from seasoned.outcome.verdict import Verdict
from seasoned.outcome.wording import programs, tools
from seasoned.outcome.wording.rule import OutputText, WordingRules, first
from seasoned.session import ToolCall


def judge_shell(text: str, command: str | None, *, shows_code: bool = False) -> Verdict:
    """What the output of a command says about it. `shows_code`: a non-zero code would stand in the text."""
    ran = read_command(command)
    static = _status_in_command(ran.asked)
    if static is not None:
        return static
    speech = OutputText(text)
    found = complaint(speech, ran, shows_code=shows_code) if speech.start else None
    if found is not None and (found.verdict == "failed" or not ran.lost):
        return found
    if ran.lost:
        return judge_lost(speech, ran, command or "")
    if not speech.start:
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


_NONE = WordingRules()
_FAILURES: dict[OutputForm, WordingRules] = {
    "file_read": tools.FILE_FAILURES,
    "file_write": tools.WRITE_FAILURES,
    "search": tools.FILE_FAILURES,
    "web": tools.WEB_FAILURES,
    "python": programs.INTERPRETER,
    "agent": tools.API_FAILURES,
    "meta": tools.API_FAILURES,
    "api": tools.API_FAILURES,
}
_SUCCESSES: dict[OutputForm, WordingRules] = {
    "file_read": tools.FILE_SUCCESSES,
    "file_write": tools.FILE_SUCCESSES,
    "search": tools.SEARCH_SUCCESSES,
}


# What comes beside an error to help with the next attempt; a success has more to say than this.
_NOTES = names(
    "hint note suggestion suggestions warning traceback details current_entries usage file_preview available_skills"
    " available available_tools available_actions did_you_mean similar valid_actions"
)


def judge_words(form: OutputForm, text: str) -> Verdict:
    """The verdict of wording on a text."""
    output_text = OutputText(text)
    if not output_text.start:
        if form == "meta":
            return Verdict("ok", "none", "none", "The result is empty, as is usual for such a tool.")
        return Verdict("unclear", "none", "none", "The result is empty.")
    # Successes first: their rules are exact (numbered lines), and content behind them must not be read as a complaint.
    worked = first(_SUCCESSES.get(form, _NONE), output_text)
    if worked is not None:
        return worked.says()
    failed = first(_FAILURES.get(form, _NONE), output_text)
    if failed is not None:
        return failed.says()
    if form == "api" and output_text.start.startswith(("{", "[")):
        return Verdict("ok", "structure", "none", "The answer is data, and names no error.")
    return Verdict("ok", "none", "none", "There is an answer, and nothing in it says that the call failed.")


def judge_fields(form: OutputForm, call: ToolCall, fields: dict[str, Any]) -> Verdict:
    """An answer in JSON without any field that says how it went: what it brought tells."""
    output = fields.get("output")
    if isinstance(output, str) and form == "shell":
        return judge_shell(output, command_of(call))
    if isinstance(output, str) and form == "python":
        return judge_words("python", output) if output else Verdict("unclear", "none", "none", "No output.")
    if fields.get("content") == "" and fields.get("file_size"):
        return Verdict("failed", "structure", "call", "The file has content, and none of it could be shown.")
    if fields.get("content") == "" and fields.get("total_lines") == 0:
        return Verdict("unclear", "structure", "none", "Nothing was read: the file is empty, or it is not there.")
    if fields.get("bytes_written") == 0 and call.arguments.get("content"):
        return Verdict("failed", "structure", "none", "Nothing was written.")
    hint = fields.get("_hint") or fields.get("hint")
    if isinstance(hint, str) and "not found" in hint:
        return Verdict("failed", "wording", "call", "The hint says that something was not found.")
    for key in ("message", "analysis", "result"):
        field_text = fields.get(key)
        if isinstance(field_text, str) and (failed := first(tools.API_FAILURES, OutputText(field_text))):
            return failed.says()
    if all(key.startswith("_") or key in _NOTES for key in fields):
        # The tools that answer in JSON bring something when they succeed: a diff, entries, a message.
        return Verdict("failed", "structure", "none", "The answer brings nothing but notes.")
    return Verdict("ok", "structure", "none", "The answer brings something and names no error.")
