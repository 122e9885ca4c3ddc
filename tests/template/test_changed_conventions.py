"""A convention changes in the middle of a history: what is shown follows, from files to the block of a session."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from seasoned.config import load
from seasoned.experience.storage import refresh as learn
from seasoned.redact.key import Secrecy
from seasoned.scan.scan import ScanTarget, scan
from seasoned.store import Store, open_store
from seasoned.template.library.storage import Library, snapshot
from seasoned.template.library.upkeep import refresh
from seasoned.template.provision import BlockRequest, provision
from tests.cli.run import seasoned
from tests.template.convention_world import BY_NAME, DAY, SCHEMAS, Office, OfficeTool, tasks

KEY = Secrecy(b"k" * 32)


def read(office: Office, path: Path) -> Store:
    """The histories so far in the store, and the templates refreshed as a scan refreshes them."""
    scan(ScanTarget(path), [office.folder], KEY, workers=1)
    store = open_store(path)
    # Who makes which form of call is known then: the new one is made by few.
    learn(store)
    refresh(store, now=office.now(), redactor=KEY.redactor())
    return store


def shown(library: Library, task: str, *, is_small: bool) -> list[tuple[OfficeTool, str]]:
    """What a session with this task is shown: tools, each with what its argument was given."""
    asked = BlockRequest(task=task, tools=SCHEMAS, is_small=is_small)
    made = provision([], library=library, asked=asked)
    calls = [call for message in made.messages for call in message.get("tool_calls") or ()]
    found = []
    for call in calls:
        tool = BY_NAME[call["function"]["name"]]
        found.append((tool, json.loads(call["function"]["arguments"])[tool.argument]))
    return found


def figures(store: Store, now: float, *, is_small: bool) -> tuple[float, float, float]:
    """The shares of tasks shown their tool in the old form and in the new one; of all examples, the old share."""
    library = snapshot(store, now=now)
    given = [(tool, shown(library, task, is_small=is_small)) for tool, task in tasks(40)]
    old = sum(any(one is tool and tool.is_old(value) for one, value in seen) for tool, seen in given)
    new = sum(any(one is tool and tool.is_new(value) for one, value in seen) for tool, seen in given)
    every = [(tool, value) for _, seen in given for tool, value in seen]
    stale = sum(tool.is_old(value) and not tool.is_new(value) for tool, value in every)
    return old / len(given), new / len(given), stale / max(1, len(every))


@pytest.mark.parametrize(
    ("is_small", "has_times", "slips"), [(False, True, 1), (True, False, 1), (True, True, 2), (False, False, 2)]
)
def test_what_is_shown_follows_a_convention_that_changes(
    tmp_path: Path, is_small: bool, has_times: bool, slips: int
) -> None:
    office = Office(tmp_path / "logs", has_times=has_times, slips=slips)
    for _ in range(20):
        office.session(is_changed=False)
    path = tmp_path / "seasoned.db"
    with read(office, path) as store:
        old, _, _ = figures(store, office.now(), is_small=is_small)
    assert old >= 0.95
    for _ in range(2):
        office.session(is_changed=True, share=1.0)
    with read(office, path) as store:
        _, new, stale = figures(store, office.now(), is_small=is_small)
    assert new >= 0.95 and stale <= 0.05
    for _ in range(4):
        office.session(is_changed=True)
    with read(office, path) as store:
        _, new, stale = figures(store, office.now(), is_small=is_small)
    assert new >= 0.95 and stale <= 0.05


def test_reading_histories_is_enough_to_retire_what_they_contradict(home: Path, tmp_path: Path) -> None:
    # By the clock of the commands: what is too old is not shown.
    office = Office(tmp_path / "logs", start=time.time() - 30 * DAY)
    for _ in range(6):
        office.session(is_changed=False, share=1.0)
    seasoned("scan", office.folder)
    seasoned("template", "build", "--auto")
    with open_store(load().store_path) as store:
        before = shown(snapshot(store), "Extend the loan of the novel by 3 weeks.", is_small=True)
    assert before and all(tool.is_old(value) for tool, value in before)
    for _ in range(2):
        office.session(is_changed=True, share=1.0)
    seasoned("scan", office.folder)
    with open_store(load().store_path) as store:
        assert shown(snapshot(store), "Extend the loan of the novel by 3 weeks.", is_small=True) == []
    seasoned("template", "build", "--auto")
    with open_store(load().store_path) as store:
        after = shown(snapshot(store), "Extend the loan of the novel by 3 weeks.", is_small=True)
    assert after and all(tool.is_new(value) for tool, value in after)
