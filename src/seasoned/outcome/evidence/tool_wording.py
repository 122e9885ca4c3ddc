"""Judges what a tool said in words, in the way that tool speaks; also where the status is another program's."""

from __future__ import annotations

from typing import Any

import msgspec

from seasoned.command.parse import Step, names
from seasoned.command.rows import group
from seasoned.command.tool import OutputForm, command_of
from seasoned.lazy_regex import LazyRegex
from seasoned.outcome.evidence.complaint import complaint, success
from seasoned.outcome.evidence.shell_command import (
    LEADS,
    MUTED,
    QUIET,
    ShellCommand,
    answer_no,
    is_inline,
    is_show,
    read_command,
    told_name,
)
from seasoned.outcome.verdict import STATUS_OF, Outcome, Verdict
from seasoned.outcome.wording import programs, tools
from seasoned.outcome.wording.rule import OutputText, WordingRules, find, first
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
    "file_write": tools.FILE_FAILURES,
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


_JOINS = ("|", ";", "&", "\n")
# Words that a filter looks for when it looks for complaints.
_COMPLAINTS = ("error", "fail", "panic", "warn")
# A complaint about a pattern quotes it and points at the place.
_COMPLAINT_LINES = 4
_MANY_LINES = 12
_NUMBER = LazyRegex(r"\d+")
_HEAD_LINES = 10


def may_lose_status(command: str) -> bool:
    """Whether programs are joined: only then the status of one can be lost."""
    return any(sign in command for sign in _JOINS)


def judge_recorded(text: str, command: str) -> Verdict | None:
    """The verdict of the output where a recorded success is another program's; None where it is the command's own."""
    ran = read_command(command)
    return judge_lost(OutputText(text), ran, command) if ran.lost else None


def judge_lost(speech: OutputText, ran: ShellCommand, command: str) -> Verdict:
    """Programs ran whose status is not the command's: only what they said tells how they ended."""
    workers = tuple([step for step in ran.lost if not is_show(step)])
    if not speech.start:
        return _lost_silence(workers, ran, command)
    found = _failure(speech, ran, workers)
    if found is not None:
        return msgspec.structs.replace(found, reason=f"{found.reason}{_whose(ran)}")
    if not workers:
        return _says("ok", "Nothing that was shown is a complaint", ran)
    worked = success(speech)
    if worked is not None:
        return _says("ok", worked.reason[:-1], ran)
    if not ran.shows_content and not ran.inline and (weak := first(programs.DOUBTS, speech)) is not None:
        return _says("unclear", f"{weak.reason[:-1]}, it seems", ran)
    cut = next((step for step in workers if _ends_with_a_summary(step) and _is_cut(step, ran, speech)), None)
    if cut is not None:
        return _says("unclear", f"What {told_name(cut, 'the program')} said last is not shown", ran)
    return _says("ok", "The output holds no complaint", ran)


def _says(verdict: Outcome, reason: str, ran: ShellCommand) -> Verdict:
    return Verdict(verdict, "wording", "none", f"{reason}.{_whose(ran)}")


def _whose(ran: ShellCommand) -> str:
    return f"{STATUS_OF}{told_name(ran.steps[-1])}."


def _failure(speech: OutputText, ran: ShellCommand, workers: tuple[Step, ...]) -> Verdict | None:
    found = None
    if workers:
        asked = ShellCommand(workers, workers, own=False)
        found = complaint(speech, asked, shows_code=False, weak=not ran.shows_content)
    elif _is_all(speech, ran):
        found = complaint(speech, ShellCommand(ran.lost, ran.lost, own=False), shows_code=False)
    return found if found is not None and found.verdict == "failed" else None


def _is_all(speech: OutputText, ran: ShellCommand) -> bool:
    """Whether nothing was shown: a complaint and little more, or complaints alone. Else something was found."""
    lines = [line for line in speech.start.split("\n", _MANY_LINES) if line.strip()]
    looked = [step for step in ran.steps if step.join != "|" and step.program not in LEADS]
    if len(looked) == 1:
        return len(lines) <= _COMPLAINT_LINES
    # `find` complains about every folder that it may not read, and finds nothing in the others.
    if not len(looked) <= len(lines) < _MANY_LINES or any(step.program == "find" for step in looked):
        return False
    return all(find(programs.PROGRAM_OWN.rules[0], OutputText(line)) is not None for line in lines)


def _lost_silence(workers: tuple[Step, ...], ran: ShellCommand, command: str) -> Verdict:
    if not workers:
        return _says("ok", "Nothing was said, and no complaint", ran)
    filtered = [step for step in ran.steps if step.join == "|" and answer_no(step)]
    if filtered and any(word in " ".join(step.words).lower() for step in filtered for word in _COMPLAINTS):
        return _says("ok", "Complaints were looked for, and none was found", ran)
    if not filtered and all(step.program in QUIET for step in workers) and not MUTED.compiled.search(command):
        return _says("ok", "Nothing was said, and no complaint", ran)
    return _says("unclear", f"{told_name(workers[0], 'The program')} said nothing", ran)


def _ends_with_a_summary(step: Step) -> bool:
    """Whether a program builds, checks or tests: it says at its end whether that failed."""
    if step.program in _WITH_SUB:
        return step.sub in _SUBS
    return step.program in group("code") and not is_inline(step)


# Programs of which only some subcommands build, check or test.
_WITH_SUB = names(
    "git gh hg svn docker docker-compose podman kubectl helm terraform mise npm pnpm yarn bun uv poetry conda pip pip3"
    " cargo go dotnet swift mix bundle composer flutter dart hatch just task rake deno"
)
_SUBS = names("run test build check lint exec install ci vet clippy compile deploy publish up generate apply")


def _is_cut(step: Step, ran: ShellCommand, speech: OutputText) -> bool:
    """Whether the end of what a program said is missing: cut by `head`, or passed over by `grep`."""
    # By identity: the same program may run twice.
    at = next(at for at, one in enumerate(ran.steps) if one is step)
    for later in ran.steps[at + 1 :]:
        if later.join != "|":
            return False
        if later.program == "head":
            found = _NUMBER.compiled.search(" ".join(later.words))
            return speech.text.count("\n") + 1 >= (int(found.group()) if found else _HEAD_LINES)
        if answer_no(later):
            return not any(word in " ".join(later.words).lower() for word in _COMPLAINTS)
    return False
