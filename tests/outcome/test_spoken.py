"""How the tools of many agents speak when nothing is recorded beside their words; examples of our own making."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from seasoned.outcome.judge import judge
from seasoned.session import Result, ToolCall


class Spoken(msgspec.Struct):
    """One call with its result, and the verdict it must get."""

    agent: str
    tool: str
    arguments: dict[str, Any]
    text: str
    verdict: str


LINES = (Path(__file__).parent / "spoken.jsonl").read_bytes().splitlines()
CASES = [msgspec.json.decode(line, type=Spoken) for line in LINES]


def test_what_was_said_gets_its_verdict() -> None:
    wrong = []
    for case in CASES:
        verdict = judge(ToolCall("c", case.tool, case.arguments, Result(case.text)), agent=case.agent)
        if verdict.verdict != case.verdict:
            wrong.append((case.agent, case.tool, case.text[:60], verdict))
    assert wrong == []
