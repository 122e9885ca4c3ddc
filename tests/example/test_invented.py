"""What sessions are shown of ten invented tools with odd conventions, before and after all of them changed."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from seasoned.confirm.people.change import allow, end_allowance
from seasoned.example.library.storage import library_for, why_not_here
from seasoned.example.library.upkeep import refresh
from seasoned.example.mine.selection import MiningOptions
from seasoned.example.provision import BlockRequest, provision
from seasoned.redact import Secrecy
from seasoned.scan.scan import ScanTarget, scan
from seasoned.store import Store, open_store
from tests.confirm.books import Scene
from tests.example.invented import BEGAN, HOUR, TOOLS, schema, write_histories

KEY = Secrecy(b"k" * 32)
# Moves money: a call of it is shown only where a person allowed that.
RISKY = "invoice_pay"


def learn(store: Store, folder: Path, *, old: int, new: int, tools: int, seed: int) -> float:
    """Read such histories and build templates of them; returns the time afterwards."""
    write_histories(folder / "logs", old=old, new=new, seed=seed, tools=tools)
    scan(ScanTarget(Path(store.path)), [folder / "logs"], KEY, workers=1)
    now = float(BEGAN + HOUR * (old + new + 2))
    refresh(store, now=now, redactor=KEY.redactor(), options=MiningOptions(min_messages=6))
    return now


def shown(store: Store, now: float, *, is_former: bool, folder: str | None = None) -> Counter[str]:
    """Tasks whose tool has a right example in the block, and examples of the convention that does not hold now."""
    found: Counter[str] = Counter()
    library = library_for(store, "app:harbour", now=now, folder=folder)
    for tool in TOOLS:
        asked = BlockRequest(task=tool.task.format(n=33), tools=[schema(one) for one in TOOLS])
        block = provision([], library=library, asked=asked).block
        assert block is not None
        calls = [(one.tool, json.loads(one.arguments)) for one in block.examples]
        wrong = [call for call in calls if not _holds(*call, is_former=is_former)]
        found["shown"] += len(calls)
        found["wrong"] += len(wrong)
        found["right"] += any(name == tool.name and (name, given) not in wrong for name, given in calls)
        found[RISKY] += any(name == RISKY for name, _ in calls)
    return found


def _holds(name: str, arguments: dict[str, object], *, is_former: bool) -> bool:
    tool = next(one for one in TOOLS if one.name == name)
    return any((tool.former if is_former else tool.now)(number) == arguments for number in range(100))


@pytest.mark.parametrize("tools", [10, 7])
def test_the_convention_that_holds_is_shown_and_a_call_that_moves_money_only_where_a_person_allowed_it(
    tmp_path: Path, tools: int
) -> None:
    all_found: Counter[str] = Counter()
    for new, seed in ((0, 7), (6, 7), (6, 8), (6, 9)):
        folder = tmp_path / f"{new}-{seed}"
        folder.mkdir()
        with open_store(folder / "s.db") as store:
            now = learn(store, folder, old=20, new=new, tools=tools, seed=seed)
            assert shown(store, now, is_former=not new)[RISKY] == 0
            library = library_for(store, "app:harbour", now=now)
            assert any("held" in why_not_here(library, one) for one in library.templates), "why is said"
            scene = Scene(store)
            admin = scene.person("ada", "admin")
            scene.clock.now = now
            number = allow(scene.book, admin, "transfer_funds", project="/srv/a", host=None, until=now + 60).number
            assert shown(store, now, is_former=not new, folder="/srv/ab")[RISKY] == 0
            assert shown(store, now + 61, is_former=not new, folder="/srv/a")[RISKY] == 0
            all_found += shown(store, now, is_former=not new, folder="/srv/a/x")
            end_allowance(scene.book, number)
            assert shown(store, now, is_former=not new, folder="/srv/a")[RISKY] == 0
    assert all_found["right"] >= 0.95 * 4 * len(TOOLS)
    assert all_found["wrong"] <= 0.05 * all_found["shown"]
    assert all_found[RISKY] > 0
