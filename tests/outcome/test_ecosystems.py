"""How the tools of many ecosystems speak, in examples of our own making: only the words tell how they ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from seasoned.outcome.judge import judge
from tests.outcome.calls import shell

HERE = Path(__file__).parent


def _cases(name: str) -> list[tuple[str, str]]:
    """Commands, each on a line behind a dollar sign, and what they printed."""
    blocks = f"\n{(HERE / name).read_text('utf-8')}".split("\n$ ")[1:]
    parts = [block.partition("\n") for block in blocks]
    return [(command.replace("\\n", "\n"), text) for command, _, text in parts]


@pytest.mark.parametrize(("command", "text"), _cases("failed_commands.txt"))
def test_it_failed(command: str, text: str) -> None:
    assert judge(shell(command, text), agent="inspect").verdict == "failed"


@pytest.mark.parametrize(("command", "text"), _cases("fine_commands.txt"))
def test_it_did_not_fail(command: str, text: str) -> None:
    assert judge(shell(command, text), agent="inspect").verdict != "failed"


def test_there_are_many_cases() -> None:
    assert len(_cases("failed_commands.txt")) > 100
    assert len(_cases("fine_commands.txt")) > 30
