"""What one session shows about its project: which commands it ran in which form, and which mistakes it repaired."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from seasoned.command.translate import argument
from seasoned.command.written import Purpose, WrittenCommand
from seasoned.experience.failure import FailedCall, failures_of
from seasoned.experience.kind import inside, is_working, placed_form, with_places
from seasoned.insight.mistake.repair import CallTargets, Repair, repairs
from seasoned.insight.track import JudgedCall, Track

_TEXT_CHARS = 160


class FormUse(msgspec.Struct, frozen=True):
    """One simple command that a session ran."""

    form: str
    purpose: Purpose
    text: str
    position: int
    worked: bool | None  # None if its outcome is not known
    is_whole: bool = True  # False if the text was cut: it cannot be shown


class SessionEvidence(msgspec.Struct, frozen=True):
    """What one session contributes to the experience of its project."""

    session: str
    root: str  # the lineage: forks and subagents of one session are one source
    agent: str
    folder: str | None
    started: float | None
    ended: float | None
    task: str = ""  # the words of its first prompt
    uses: tuple[FormUse, ...] = ()
    failures: tuple[FailedCall, ...] = ()
    files: tuple[str, ...] = ()  # read or changed with success, relative to its folder
    person: str = ""  # who else it is from, by a name that only tells people apart; empty for the user's own

    @property
    def end(self) -> float:
        return self.ended or self.started or 0.0


def evidence_of(
    track: Track, targets: CallTargets | None = None, repaired_by: Mapping[int, Repair] | None = None
) -> SessionEvidence:
    """What a judged session shows; targets and repairs where they are known already."""
    targets = targets or CallTargets(track.calls)
    if repaired_by is None:
        repaired_by = {one.failed: one for one in repairs(track.calls, aims=targets)}
    folder = track.cwd
    task = next((call.intent for call in track.calls if call.intent), "")
    return SessionEvidence(
        session=str(track.ref),
        root=track.root,
        agent=track.ref.agent,
        folder=folder,
        started=track.started,
        ended=track.ended,
        task=task[:2000],
        uses=tuple(use for call in track.calls for use in form_uses(call, folder)),
        failures=failures_of(track.calls, folder, targets, repaired_by),
        files=_files(track.calls, folder),
    )


def form_uses(call: JudgedCall, folder: str | None) -> Iterator[FormUse]:
    """The simple commands of a shell call that do work, each with its outcome as far as the call's verdict tells."""
    command = call.command
    if not command or len(command) > 4000:
        return
    workdir = argument(call.arguments, "folder")
    found = with_places(command, folder, workdir if isinstance(workdir, str) else None)
    working = [(one, place) for one, place in found if is_working(one)]
    for at, (one, place) in enumerate(working):
        # What runs elsewhere shows nothing about this project.
        if place is not None:
            # Quoted where it must be: a folder can be named like a sentence.
            text = f"cd {shlex.quote(place)} && {one.text}" if place else one.text
            worked = _worked(call, [part for part, _ in working], at)
            yield FormUse(
                placed_form(one, place),
                one.purpose,
                text[:_TEXT_CHARS],
                call.position,
                worked,
                len(text) <= _TEXT_CHARS,
            )


def _worked(call: JudgedCall, working: Sequence[WrittenCommand], at: int) -> bool | None:
    if call.verdict == "ok" and not call.is_corrected:
        # In `a; b` only b is known to have worked; in `a && b` both.
        return True if all(one.join in ("&&", "") for one in working[at + 1 :]) else None
    if call.verdict == "failed" and call.fault not in ("user_declined", "sibling_cancelled", "interrupted"):
        return False if len(working) == 1 else None
    return None


def _files(calls: Sequence[JudgedCall], folder: str | None) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for call in calls:
        if call.verdict != "ok" or call.kind != "file":
            continue
        path = argument(call.arguments, "path")
        if isinstance(path, str) and (relative := inside(path, folder)) and "." in relative:
            found[relative] = None
    return tuple(found)[:200]
