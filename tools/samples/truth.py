"""What was planted: for every call, the verdict that a careful person would give."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from samples.story import Call

LEGEND = {
    "verdict": "ok, failed or unclear, as a careful person would say who knows what was planted",
    "fault": (
        "call: it was made wrongly; environment: tool, network or machine; user_declined; sibling_cancelled; "
        "interrupted; none: nobody's, which includes tests, linters and compilers that truly found something"
    ),
    "copy": "the call stands here again because a session was forked or continued; it counts where it first happened",
    "pattern": "the convention of the project that the call breaks (failed) or keeps (ok)",
    "repairs": "the id of the failed call that this one repaired",
}
_FATES = {
    "declined": ("failed", "user_declined"),
    "cancelled": ("failed", "sibling_cancelled"),
    "aborted": ("failed", "interrupted"),
    "lost": ("unclear", "none"),
}


@dataclass(frozen=True)
class Planted:
    """One call and what is true about it."""

    agent: str
    session: str
    call_id: str
    tool: str
    verdict: str
    fault: str
    copy: bool = False
    pattern: str | None = None
    repairs: str | None = None


class Ledger:
    """Collects what was planted in one session."""

    def __init__(self, agent: str, file: str, session: str) -> None:
        self.agent, self.file, self.session = agent, file, session
        self.parent: str | None = None
        self.relation: str | None = None
        self.planted: list[Planted] = []
        self._broken: dict[str, str] = {}

    def plant(self, call: Call, call_id: str, tool: str, *, failed: bool) -> None:
        """Note a call; the next one that keeps the same convention repairs it."""
        verdict, fault = _FATES.get(call.fate, ("failed", "call") if failed else ("ok", "none"))
        verdict, fault = call.verdict or verdict, call.fault or fault
        repairs = None
        if call.pattern and verdict == "failed" and fault == "call":
            self._broken[call.pattern] = call_id
        elif call.pattern and verdict == "ok":
            repairs = self._broken.pop(call.pattern, None)
        row = Planted(self.agent, self.session, call_id, tool, verdict, fault, pattern=call.pattern, repairs=repairs)
        self.planted.append(row)

    def belongs_to(self, other: Ledger, relation: str) -> None:
        """Where this session comes from."""
        self.parent, self.relation = other.session, relation

    def copy_from(self, other: Ledger) -> None:
        """The calls of another session stand in this one again."""
        self.planted += [replace(row, session=self.session, copy=True) for row in other.planted]


def render(ledgers: list[Ledger]) -> str:
    """The whole truth as JSON, one session or call a line so that changes can be read."""
    sessions = [
        {key: getattr(ledger, key) for key in ("agent", "session", "file", "parent", "relation")} for ledger in ledgers
    ]
    calls = [vars(row) for ledger in ledgers for row in ledger.planted]
    head: dict[str, Any] = {"schema": "seasoned/sample-truth/1", "legend": LEGEND}
    text = json.dumps(head, indent=1, ensure_ascii=False)[:-2]
    for name, rows in (("sessions", sessions), ("calls", calls)):
        lines = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in rows)
        text += f',\n "{name}": [\n{lines}\n ]'
    return text + "\n}\n"
