"""Advice for a team: what `seasoned advise` finds in a store, found in what all machines pushed, counted by person."""

from __future__ import annotations

import msgspec

from seasoned.advise.advice import Advice
from seasoned.advise.gather import ProjectSessions
from seasoned.advise.view import evidence_text, may_be_told
from seasoned.redact.redactor import Redactor
from seasoned.store import Database
from seasoned.team.overview import tracks
from seasoned.team.server import projects

_FEWEST_PEOPLE = 2  # that something must happen to before the team is advised
_PEOPLE = ("person", "people")


class TeamAdvice(msgspec.Struct, frozen=True):
    """What is worth doing in a project, and what it rests on."""

    project: str
    what: str
    line: str  # for the instructions of the project; empty if the step is another one
    why: str
    people: int
    calls: int


def team_advice(database: Database, redactor: Redactor) -> list[TeamAdvice]:
    """What is worth doing in the projects of a team, the most that it would save first."""
    found: list[Advice] = []
    for known in projects(database):
        if known.people >= _FEWEST_PEOPLE:
            found += _in_project(database, known.project)
    return [
        TeamAdvice(
            one.project or "",
            one.sentence,
            one.step.text if one.step.kind == "instruction" and one.step.text != one.sentence else "",
            evidence_text(one, _PEOPLE),
            one.evidence.sessions,
            one.evidence.calls,
        )
        for one in sorted(found, key=lambda one: (-one.saves, one.id))
        if one.evidence.sessions >= _FEWEST_PEOPLE and _is_for_all(one) and may_be_told(redactor, one)
    ]


def _in_project(database: Database, project: str) -> list[Advice]:
    one = ProjectSessions(project)
    ended: dict[str, float] = {}
    for track in tracks(database, project):
        # Every person is one lineage: what a rule asks of several sessions, it asks of several people.
        one.add(track)
        ended[str(track.ref)] = track.ended or track.started or 0.0
    return list(one.advice(ended=ended))


def _is_for_all(advice: Advice) -> bool:
    """Whether it names nothing of one machine: home folders were replaced before they were pushed."""
    return "~" not in advice.sentence + advice.step.text
