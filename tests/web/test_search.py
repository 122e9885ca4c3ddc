"""The search of the list of sessions: the same rows whether few sessions are looked at or the list is gone down."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from seasoned.store import Store
from seasoned.store.search import maybe_holding
from seasoned.web.view.sessions import SessionFilter, find, params
from tests.web.filled import fill_sessions, store_of

# Words of the samples, parts of ids and folders, hardly anything, what LIKE would take for its own, and nothing.
SEARCHES = ("fix", "RETR", "cs-2026", "/home", "e", "-0", "%", "_", "\\", '"', "nowhere", "511-0015", "zq", "漢")
FILTERS = (
    {},
    {"agent": "codex"},
    {"task": "code", "length": "long"},
    {"outcome": "failures"},
    {"tool": "Bash", "since": "2026-05-01"},
    {"until": "2026-05-20", "mistake": "1"},
)


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    home = tmp_path_factory.mktemp("home")
    fill_sessions(home)
    with store_of(home) as store:
        yield store


@pytest.mark.parametrize("sort", ["at", "messages", "calls", "failed", "rate", "cost"])
def test_few_sessions_give_the_rows_that_the_whole_list_gives(samples: Store, sort: str) -> None:
    seen = 0
    for text, filters in product(SEARCHES, FILTERS):
        wanted = SessionFilter(q=text, **filters)
        assert maybe_holding(samples, text) is not None
        after = None
        for _ in range(3):
            given = params(wanted, sort, after, 4)
            rows = [tuple(row) for row in find(samples, wanted, sort, given)]
            assert rows == [tuple(row) for row in samples.rows(f"page.by_{sort}", given)], (text, filters)
            seen += len(rows)
            if len(rows) < 5:
                break
            last = samples.rows(f"page.by_{sort}", given)[3]
            after = f"{float(last[sort])!r}_{last['id']}"
    assert seen > 100


def test_what_is_too_common_to_name_is_found_all_the_same(samples: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = SessionFilter(q="cs-2026")
    given = params(wanted, "at", None, 50)
    few = [tuple(row) for row in find(samples, wanted, "at", given)]
    monkeypatch.setattr("seasoned.store.search._RARE", 1)
    monkeypatch.setattr("seasoned.store.search._FEW", 1)
    assert maybe_holding(samples, wanted.q) is None
    assert few and few == [tuple(row) for row in find(samples, wanted, "at", given)]
