"""The search of the list of sessions finds what LIKE finds, in the order of the list."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from seasoned.store import Store
from seasoned.store.search import pattern_of
from seasoned.web.view.sessions import SessionFilter, params
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


def test_pages_of_a_search_hold_what_like_finds_in_any_order_and_with_any_filter(samples: Store) -> None:
    found = 0
    for sort, text, filters in product(("at", "messages", "calls", "failed", "rate", "cost"), SEARCHES, FILTERS):
        wanted = SessionFilter(q=text, **filters)
        everything = samples.rows("page.sessions", params(SessionFilter(**filters), sort, None, 10_000))
        holding = {
            row["id"]
            for row in samples.connection.execute(
                "SELECT id FROM session WHERE COALESCE(title, '') || ' ' || native_id || ' ' || COALESCE(cwd, '')"
                " || ' ' || COALESCE(model, '') LIKE ? ESCAPE '\\'",
                (pattern_of(text),),
            )
        }
        expected = [row["id"] for row in everything if row["id"] in holding]
        rows, after = [], None
        while True:
            page = samples.rows("page.sessions", params(wanted, sort, after, 40))
            rows += page[:40]
            if len(page) <= 40:
                break
            after = f"{float(page[39][sort])!r}_{page[39]['id']}"
        assert [row["id"] for row in rows] == expected, (sort, text, filters)
        found += len(rows)
    assert found > 100
