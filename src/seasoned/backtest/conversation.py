"""A conversation as the backtest sees it: one lineage, with everything that its sessions did in the order of time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from seasoned.command.tool import tool_of
from seasoned.command.written import written
from seasoned.experience.evidence import FormUse, SessionEvidence, evidence_of
from seasoned.experience.failure import FailedCall
from seasoned.experience.kind import is_working
from seasoned.insight.track import Track


class ReplayStep(msgspec.Struct, frozen=True):
    """One call of a conversation, as far as the figures need it."""

    time: float
    uses: tuple[FormUse, ...] = ()
    forms: tuple[str, ...] = ()  # of all working commands in it, whatever their outcome
    failure: FailedCall | None = None
    worked: bool = False
    is_inspection: bool = False


class ReplayConversation(msgspec.Struct, frozen=True):
    """One lineage."""

    root: str
    project: str
    folder: str | None
    agent: str
    started: float
    ended: float
    task: str
    steps: tuple[ReplayStep, ...]
    evidence: tuple[SessionEvidence, ...]


def conversations(tracks: Iterable[Track]) -> list[ReplayConversation]:
    """The lineages of these sessions that did something, in the order in which they began.

    A session without a time cannot be placed and is left out; so is one without a project.
    """
    by_root: dict[tuple[str, str], list[Track]] = {}
    for track in tracks:
        if track.started is not None and track.project and track.calls:
            by_root.setdefault((track.project, track.root), []).append(track)
    found = [_conversation(project, root, some) for (project, root), some in by_root.items()]
    return sorted(found, key=lambda one: (one.started, one.root))


def _conversation(project: str, root: str, tracks: Sequence[Track]) -> ReplayConversation:
    tracks = sorted(tracks, key=lambda track: track.started or 0.0)
    evidence = tuple(evidence_of(track) for track in tracks)
    steps = [step for track, one in zip(tracks, evidence, strict=True) for step in _steps(track, one)]
    steps.sort(key=lambda step: step.time)
    first = tracks[0]
    return ReplayConversation(
        root,
        project,
        first.cwd,
        first.ref.agent,
        first.started or 0.0,
        max(one.end for one in evidence),
        next((one.task for one in evidence if one.task), ""),
        tuple(steps),
        evidence,
    )


def _steps(track: Track, evidence: SessionEvidence) -> Iterable[ReplayStep]:
    uses: dict[int, list[FormUse]] = {}
    for use in evidence.uses:
        uses.setdefault(use.position, []).append(use)
    failures = {failure.position: failure for failure in evidence.failures}
    time = track.started or 0.0
    for call in track.calls:
        time = max(time, call.time or time)
        command = call.command
        parts = written(command) if command and len(command) <= 4000 else ()
        forms = tuple(one.form for one in parts if is_working(one))
        looks = not forms if command else tool_of(call.tool).form in ("file_read", "search")
        yield ReplayStep(
            time,
            tuple(uses.get(call.position, ())),
            forms,
            failures.get(call.position),
            call.verdict == "ok",
            looks,
        )
