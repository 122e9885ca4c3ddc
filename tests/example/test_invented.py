"""What sessions are shown of ten invented tools with odd conventions, before and after all of them changed."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from seasoned.example.library.storage import library_for
from seasoned.example.library.upkeep import refresh
from seasoned.example.mine.selection import MiningOptions
from seasoned.example.provision import BlockRequest, provision
from seasoned.redact import Secrecy
from seasoned.scan.scan import ScanTarget, scan
from seasoned.store import open_store
from tests.example.invented import BEGAN, HOUR, TOOLS, schema, write_histories

KEY = Secrecy(b"k" * 32)
# Moves money: a call of it is never shown.
RISKY = "toll_charge"


def shown(folder: Path, *, old: int, new: int) -> Counter[str]:
    """Tasks whose tool has a right example in the block, and examples of the convention that does not hold now."""
    write_histories(folder / "logs", old=old, new=new, seed=7)
    scan(ScanTarget(folder / "s.db"), [folder / "logs"], KEY, workers=1)
    found: Counter[str] = Counter()
    with open_store(folder / "s.db") as store:
        now = BEGAN + HOUR * (old + new + 2)
        refresh(store, now=now, redactor=KEY.redactor(), options=MiningOptions(min_messages=6))
        library = library_for(store, "app:harbour", now=now)
        for tool in TOOLS:
            asked = BlockRequest(task=tool.task.format(n=33), tools=[schema(one) for one in TOOLS])
            block = provision([], library=library, asked=asked).block
            assert block is not None
            calls = [(one.tool, json.loads(one.arguments)) for one in block.examples]
            wrong = [call for call in calls if not _holds(*call, is_former=not new)]
            found["wrong"] += len(wrong)
            found["right"] += any(name == tool.name and (name, given) not in wrong for name, given in calls)
            found[RISKY] += any(name == RISKY for name, _ in calls)
    return found


def _holds(name: str, arguments: dict[str, object], *, is_former: bool) -> bool:
    tool = next(one for one in TOOLS if one.name == name)
    return any((tool.former if is_former else tool.now)(number) == arguments for number in range(100))


@pytest.mark.parametrize("new", [0, 6])
def test_every_tool_gets_an_example_of_the_convention_that_holds_and_the_one_that_moves_money_none(
    tmp_path: Path, new: int
) -> None:
    found = shown(tmp_path, old=20, new=new)
    assert (found["right"], found["wrong"], found[RISKY]) == (len(TOOLS) - 1, 0, 0)
