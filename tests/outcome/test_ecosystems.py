"""How the tools of many ecosystems speak, in examples of our own making: only the words tell how they ended."""

from __future__ import annotations

from pathlib import Path

from seasoned.outcome.judge import judge
from tests.outcome.calls import shell

HERE = Path(__file__).parent


def _cases(name: str) -> list[tuple[str, str]]:
    """Commands, each on a line behind a dollar sign, and what they printed."""
    blocks = f"\n{(HERE / name).read_text('utf-8')}".split("\n$ ")[1:]
    parts = [block.partition("\n") for block in blocks]
    return [(command.replace("\\n", "\n"), text) for command, _, text in parts]


def _judged(name: str) -> list[tuple[str, str]]:
    return [(command, judge(shell(command, text), agent="inspect").verdict) for command, text in _cases(name)]


def test_what_failed_is_judged_failed() -> None:
    assert [command for command, verdict in _judged("failed_commands.txt") if verdict != "failed"] == []


def test_what_did_not_fail_is_not_judged_failed() -> None:
    assert [command for command, verdict in _judged("fine_commands.txt") if verdict == "failed"] == []
