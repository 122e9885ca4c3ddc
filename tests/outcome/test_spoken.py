"""How the tools of many agents speak when nothing is recorded beside their words; examples of our own making."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

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


@pytest.mark.parametrize("case", CASES, ids=[f"{one.agent} {one.tool}: {one.text[:30]!r}" for one in CASES])
def test_what_was_said_gets_its_verdict(case: Spoken) -> None:
    verdict = judge(ToolCall("c", case.tool, case.arguments, Result(case.text)), agent=case.agent)
    assert verdict.verdict == case.verdict, verdict.reason
