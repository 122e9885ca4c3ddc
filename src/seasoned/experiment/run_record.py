"""What one finished run is: one task, tried once under one arm, with its calls and what came of it. No I/O."""

from __future__ import annotations

from typing import Literal

import msgspec

from seasoned.outcome.error_rate import count_name
from seasoned.outcome.judge import judge_session
from seasoned.session import Session, Usage

Check = Literal["passed", "failed", "broken"]
"""What the task's own check said. Broken: the check could not be made, so that nothing is known of the run."""


class RunCall(msgspec.Struct, frozen=True):
    """One call of a run with its verdict."""

    tool: str
    counts_as: str
    """The count of the error rate that it falls into: ok, failed, unclear, declined, trivial, …"""
    turn: int
    """The answer of the model that made it, from 1."""
    is_valid: bool | None = None
    """Whether it named a tool that was offered, with arguments that the tool's schema takes; None: nobody looked."""


class RunRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One finished run. Everything that is measured or compared comes from here."""

    experiment: str
    model: str
    arm: str
    task: str
    repeat: int
    bank: str = ""
    """Which fixed choice and order of examples was shown."""
    seed: int = 0
    check: Check
    reason: str = ""
    """Why the check failed or is broken, for a person."""
    calls: tuple[RunCall, ...] = ()
    usage: Usage = Usage()
    cost_usd: float | None = None
    latency_seconds: float | None = None
    example_ids: tuple[str, ...] = ()
    """Examples that were shown."""
    task_set: str = ""
    part: str = ""
    session: str | None = None
    """`agent:native id` of the recording."""
    ended_at: float | None = None

    @property
    def key(self) -> tuple[str, str, str, str, str, str, int]:
        """What makes it this run and no other: a run that is made again has the same key and counts once."""
        return self.experiment, self.model, self.arm, self.bank, self.task_set, self.task, self.repeat


def calls_of(session: Session) -> tuple[RunCall, ...]:
    """The calls of a recorded session as a run keeps them; what a warm start put there is none of them."""
    turns: dict[int, int] = {}
    for number, message in enumerate(session.messages, start=session.first_message):
        if message.role == "assistant" and not message.synthetic:
            turns[number] = len(turns) + 1
    return tuple(
        RunCall(call.tool, count_name(call, verdict), turns.get(call.message, len(turns) + 1))
        for call, verdict in judge_session(session)
    )
