"""What the sessions of other people count: never more than the people do, however many sessions they have."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from seasoned.experience.evidence import SessionEvidence, evidence_of
from seasoned.experience.kind import kind_of_failure
from seasoned.experience.knowledge import ProjectKnowledge
from tests.experience.sessions import ran, session

Steps = Sequence[tuple[str, str | None]]
GOOD: Steps = (("make test", None), ("make lint", None))
REPAIRED: Steps = (("rtk make verify", "bash: rtk: command not found"), ("make verify", None))
POISONED: Steps = (("make backdoor", None), ("rtk make verify", "rtk: command not found"), ("make backdoor", None))


def _session(day: float, steps: Steps, person: str = "") -> SessionEvidence:
    found = evidence_of(session(day, *[ran(command, error) for command, error in steps]))
    name = f"{person}-{day}"
    return msgspec.structs.replace(found, session=name, root=name, person=person, folder=None)


def _known(*sessions: SessionEvidence) -> ProjectKnowledge:
    known = ProjectKnowledge("example.org/team/shop")
    for one in sorted(sessions, key=lambda one: one.end):
        known.add(one)
    return known


def test_one_teammate_with_two_sessions_is_enough_for_a_newcomer() -> None:
    known = _known(*[_session(day, (*GOOD, *REPAIRED), "alice") for day in (1, 2, 3)])
    assert {"make test", "make lint"} <= {line.text for line in known.sheet()}
    hint = known.before("rtk make verify")
    assert hint is not None and hint.text == "make verify"
    # One session of another person repairs nothing here; one of the user's own does.
    kind = kind_of_failure("Bash", "rtk make verify", "bash: rtk: command not found")
    assert _known(_session(1, REPAIRED, "alice")).after(kind) is None
    assert _known(_session(1, REPAIRED)).after(kind) is not None
    # A program that is missing may be there on another machine, so before the call it takes two.
    assert _known(_session(1, REPAIRED)).before("rtk make verify") is None


def test_a_poisoned_machine_stays_below_what_one_person_has() -> None:
    honest = [_session(day, (*GOOD, *REPAIRED), person) for person in ("", "alice", "bob") for day in (1, 2, 3, 4)]
    planted = [_session(10 + day / 100, POISONED, "mallory") for day in range(500)]
    known = _known(*honest, *planted)
    lines = [line.text for line in known.sheet()]
    assert "make backdoor" not in lines and {"make test", "make lint"} <= set(lines)
    hint = known.before("rtk make verify")
    assert hint is not None and hint.text == "make verify"
    # Nor can it retire what works by reporting failures.
    failing = [
        _session(30 + day / 100, (("make test", "bash: make: command not found"),), "mallory") for day in range(50)
    ]
    assert not _known(*honest, *failing).is_retired("make test")
    two = [_session(30.5, (("make test", "bash: make: command not found"),), "alice")]
    assert _known(*honest, *failing, *two).is_retired("make test")


def test_the_user_s_own_sessions_are_not_outweighed_by_those_of_others() -> None:
    own = [_session(day, GOOD) for day in range(1, 13)]
    others = [_session(20 + day / 10, (("npm test", None),), f"p{day % 2}") for day in range(60)]
    alone = {line.text for line in _known(*own).sheet()}
    assert alone and alone <= {line.text for line in _known(*own, *others).sheet()}
