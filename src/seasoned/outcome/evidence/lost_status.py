"""Judges commands whose recorded status is that of another program: `pytest | tail`, `make; echo done`."""

from __future__ import annotations

import msgspec

from seasoned.command.parse import Step, names
from seasoned.command.rows import group
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
from seasoned.outcome.wording import programs
from seasoned.outcome.wording.rule import OutputText, find, first

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
        return _silence(workers, ran, command)
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


def _silence(workers: tuple[Step, ...], ran: ShellCommand, command: str) -> Verdict:
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
