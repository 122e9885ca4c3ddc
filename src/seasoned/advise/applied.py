"""What became of advice: applied or dismissed, when, and what its happening is recognised by."""

from __future__ import annotations

from typing import Literal

import msgspec

from seasoned.advise.advice import Advice, AdviceKind, AdviceStep
from seasoned.store import Store

AdviceState = Literal["applied", "dismissed"]


class AppliedAdvice(msgspec.Struct, frozen=True):
    """Advice that a person decided about."""

    id: str
    kind: AdviceKind
    project: str | None
    sentence: str
    subject: str
    step: AdviceStep
    state: AdviceState
    at: float


def applied_advice(store: Store) -> list[AppliedAdvice]:
    """All advice that a person decided about, the newest first."""
    return [
        AppliedAdvice(
            row["id"],
            row["kind"],
            row["project"],
            row["sentence"],
            row["subject"],
            msgspec.json.decode(row["step"], type=AdviceStep),
            row["state"],
            row["at"],
        )
        for row in store.rows("advise.decided")
    ]


def keep_decision(store: Store, advice: Advice, state: AdviceState, at: float) -> None:
    """Write down what was decided about advice."""
    with store.write():
        store.run(
            "advise.decide",
            {
                "id": advice.id,
                "kind": advice.kind,
                "project": advice.project,
                "sentence": advice.sentence,
                "subject": advice.subject,
                "step": msgspec.json.encode(advice.step).decode(),
                "state": state,
                "at": at,
            },
        )


def drop_decision(store: Store, name: str) -> None:
    """Forget what was decided, so that the advice is given again while it holds."""
    with store.write():
        store.run("advise.undecide", {"id": name})
