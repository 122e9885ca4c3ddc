"""A search finds what LIKE finds, and looks at few sessions for it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from seasoned.errors import StoreError
from seasoned.store import Store, open_store, open_temporary, search
from seasoned.store.forget import forget_everything, forget_sessions
from seasoned.store.migration import MIGRATIONS
from seasoned.store.search import maybe_holding, pattern_of

RUNES = "ᚠᚢᚦᚨᚱ"
"""Letters whose bytes nothing else in a store has."""
# Few characters, so that texts meet; among them such as fold, escape, quote, and mean something to FTS5.
_alphabet = st.sampled_from("abABkK\u212aſßẞİıéÉ漢字🙂 \"'%_\\*^:()-\x00\uffff\u0345")
_text = st.text(_alphabet, max_size=8) | st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
_step = st.tuples(st.sampled_from(["save", "save", "delete"]), st.integers(1, 6), _text)


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with open_temporary() as store:
        yield store


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "seasoned.db") as store:
        yield store


def _add(store: Store, number: int, title: str) -> None:
    store.connection.execute(
        "INSERT INTO session (id, agent, native_id, title) VALUES (?, 'codex', ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET title = excluded.title",
        (number, f"n{number}", title),
    )


def _holding(store: Store, text: str) -> set[int]:
    found = store.connection.execute(
        "SELECT id FROM session_line WHERE words LIKE ? ESCAPE '\\'", (pattern_of(text),)
    ).fetchall()
    return {row["id"] for row in found}


def _missed(store: Store, text: str) -> set[int]:
    """Sessions that LIKE finds and that are not among those that are named."""
    named = maybe_holding(store, text)
    return set() if named is None else _holding(store, text) - set(named)


@given(st.lists(_text, min_size=1, max_size=6), _text, st.data())
@example(["ab\x00cd"], "ab", None)
def test_whatever_is_searched_every_session_that_like_finds_is_named(
    store: Store, titles: list[str], text: str, data: st.DataObject | None
) -> None:
    store.connection.execute("DELETE FROM session")
    for number, title in enumerate(titles, 1):
        _add(store, number, title)
    assert not _missed(store, text)
    if data is not None:
        # Parts of what is there are found more often than what is made up.
        title = data.draw(st.sampled_from(titles))
        first = data.draw(st.integers(0, len(title)))
        part = title[first : first + data.draw(st.integers(1, 8))]
        assert not _missed(store, part) and not _missed(store, part.swapcase())


@given(st.lists(_step, max_size=12))
def test_the_index_is_what_a_new_one_would_be_whatever_happens_to_sessions(
    store: Store, steps: list[tuple[str, int, str]]
) -> None:
    store.connection.execute("DELETE FROM session")
    for what, number, title in steps:
        if what == "save":
            _add(store, number, title)
        else:
            store.connection.execute("DELETE FROM session WHERE id = ?", (number,))
    index = "SELECT term, doc FROM trigram_use ORDER BY 1, 2"
    is_there = store.connection.execute(index).fetchall()
    store.connection.execute("INSERT INTO session_trigram (session_trigram) VALUES ('rebuild')")
    assert is_there == store.connection.execute(index).fetchall()


def test_rare_words_name_their_sessions_and_common_ones_name_none(kept: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_RARE", 3)
    monkeypatch.setattr(search, "_FEW", 10)
    with kept.write():
        for number in range(1, 41):
            _add(kept, number, f"{'again again' if number % 4 else 'not again'}, q{number}z")
    assert (
        maybe_holding(kept, "q7z") == [7] and maybe_holding(kept, "Q7Z") == [7] and maybe_holding(kept, "z n7") == [7]
    )
    assert maybe_holding(kept, "not again, q") == list(range(4, 41, 4)), (
        "each trigram is common, all of them together are not"
    )
    assert maybe_holding(kept, "again again again") == [], "of many that hold the trigrams, none holds the text"
    assert maybe_holding(kept, "again") is None and maybe_holding(kept, "a") is None
    assert maybe_holding(kept, "0z") == [10, 20, 30, 40] and maybe_holding(kept, "漢") == []
    assert maybe_holding(kept, "again again, q13z n13" * 9) == [13], "of a long text, the rest is looked for by LIKE"


def test_a_search_that_finds_nothing_takes_hardly_more_steps_in_a_store_ten_times_as_large(kept: Store) -> None:
    steps = []
    for sessions in (300, 3000):
        with kept.write():
            for number in range(1, sessions + 1):
                _add(kept, number, f"mend the parser {number}")
        taken = [0, 0, 0]
        for at, text in enumerate(("nowhere-to-be-found", "zq", "the the the parser")):

            def count(at: int = at, taken: list[int] = taken) -> None:
                taken[at] += 1

            kept.connection.set_progress_handler(count, 1)
            assert maybe_holding(kept, text) == []
            kept.connection.set_progress_handler(None, 1)
        steps.append(taken)
    assert all(large <= 1.2 * small for small, large in zip(*steps, strict=True)), steps


def test_nothing_of_a_forgotten_session_stays_in_the_index(kept: Store) -> None:
    path = Path(kept.path)
    for number in range(1, 200):
        _add(kept, number, f"plain {number}")
    _add(kept, 50, RUNES[:3])
    for number in range(200, 400):
        _add(kept, number, f"plain {number}")
    _add(kept, 50, RUNES)
    _add(kept, 399, RUNES[::-1])
    kept.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    parts = {rune.encode()[1:] for rune in RUNES}
    assert all(part in path.read_bytes() for part in parts)
    forget_sessions(kept, [50], now=1.0)
    assert maybe_holding(kept, RUNES) == [] and maybe_holding(kept, RUNES[::-1]) == [399]
    forget_sessions(kept, [399], now=1.0)
    raw = path.read_bytes() + Path(f"{path}-wal").read_bytes()
    assert not any(rune.encode() in raw for rune in RUNES)
    assert {39, *range(390, 399)} <= set(maybe_holding(kept, "plain 39") or ())
    forget_everything(kept)
    assert kept.connection.execute("SELECT count(*) FROM trigram_use").fetchone()[0] == 0
    assert b"lai" not in b"".join(row[0] for row in kept.connection.execute("SELECT block FROM session_trigram_data"))


def test_sessions_of_an_older_store_are_found(tmp_path: Path) -> None:
    before = next(at for at, one in enumerate(MIGRATIONS) if one.name == "m016_trigram")
    with closing(sqlite3.connect(tmp_path / "seasoned.db", isolation_level=None)) as old:
        old.execute("BEGIN")
        for one in MIGRATIONS[:before]:
            one(old)
        old.execute(f"PRAGMA user_version = {before}")
        old.execute("INSERT INTO session (id, agent, native_id, title) VALUES (7, 'codex', 'x', ?)", (RUNES,))
        old.execute("COMMIT")
    with open_store(tmp_path / "seasoned.db") as store:
        assert maybe_holding(store, RUNES[1:4]) == [7] and maybe_holding(store, RUNES[2]) == [7]


def test_an_sqlite_without_the_index_says_what_it_lacks(kept: Store) -> None:
    kept.connection.execute("PRAGMA writable_schema = ON")
    # No SQLite at hand lacks FTS5, but each lacks some module.
    kept.connection.execute("UPDATE sqlite_master SET sql = replace(sql, 'USING fts5 ', 'USING fts0 ')")
    with open_store(Path(kept.path)) as store, pytest.raises(StoreError, match="Python whose SQLite has FTS5"):
        maybe_holding(store, "anything")
