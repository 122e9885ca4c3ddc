"""Sessions are found by what was said and done in them, at the place where it stands, and forgotten without a trace."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.errors import StoreError, UsageError
from seasoned.redact import Secrecy
from seasoned.scan.scan import ScanTarget, scan
from seasoned.store import Store, open_store, open_temporary, packed
from seasoned.store.forget import forget_sessions
from seasoned.store.packed import unpack
from seasoned.store.search import SearchFilter, _by_groups, fill, search

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
KEY = b"k" * 32


def _line(kind: str, content: object, at: int, session: str = "s1", cwd: str = "/home/mira/atlas") -> str:
    message = {"role": kind, "id": f"m{session}{at}", "model": "large-5", "content": content}
    record = {"type": kind, "sessionId": session, "cwd": cwd, "uuid": f"{session}-{at}", "message": message}
    return json.dumps({**record, "timestamp": f"2026-05-0{1 + int(session[1:])}T10:00:{at:02d}Z"}) + "\n"


def _call(number: int, command: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number:024d}", "name": "Bash", "input": {"command": command}}


def _result(number: int, text: str, *, failed: bool = False) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": f"toolu_{number:024d}", "content": text, "is_error": failed}]


FIRST = (
    _line("user", f"Please look after the zebra migration, my token is {SECRET}", 0)
    + _line(
        "assistant", [{"type": "text", "text": "I deployed the café config."}, _call(1, "make -C src/parser all")], 1
    )
    + _line("user", _result(1, "Exit code 2\nmake: no rule for quokka", failed=True), 2)
    + _line("assistant", [{"type": "text", "text": "数据库连接失败，请检查配置文件"}, _call(2, "ls docs")], 3)
    + _line("user", _result(2, "the word narwhal stands in a listing"), 4)
)
SECOND = _line("user", "Deploying again, this time with a zebra", 0, "s2", "/home/mira/boats") + _line(
    "assistant", "Nothing to do.", 1, "s2", "/home/mira/boats"
)


@pytest.fixture
def histories(tmp_path: Path) -> Path:
    folder = tmp_path / "histories"
    folder.mkdir()
    (folder / "s1.jsonl").write_text(FIRST)
    (folder / "s2.jsonl").write_text(SECOND)
    return folder


def _read(histories: Path) -> Store:
    path = histories.parent / "seasoned.db"
    scan(ScanTarget(path), [histories], Secrecy(KEY), workers=1)
    store = open_store(path)
    assert fill(store) == 0
    return store


def _places(store: Store, words: str, **wanted: Any) -> list[tuple[str, int, str, int | None]]:
    found = search(store, words, SearchFilter(**wanted))
    return [(hit.session["native_id"], hit.place.message, hit.place.by, hit.place.position) for hit in found.hits]


def test_words_are_found_at_their_place_with_every_filter(histories: Path) -> None:
    with _read(histories) as store:
        projects = {row["native_id"]: row["project"] for row in store.rows("session.tracks", _ALL)}
        first_call, both = ("s1", 1, "call", 0), [("s2", 0, "person", None), ("s1", 0, "person", None)]
        for words, wanted, expected in (
            ("zebra", {}, both),
            ("ZEBRA migration", {}, both[1:]),
            ("zebra quokka", {}, both[1:]),
            # English endings, accents, the beginning of a word, and words that stand together.
            ("deploy", {}, [("s2", 0, "person", None), ("s1", 1, "agent", None)]),
            ("cafe", {}, [("s1", 1, "agent", None)]),
            ("migr*", {}, both[1:]),
            ("migrat", {}, both[1:]),
            ('"look after"', {}, both[1:]),
            ('"after look"', {}, []),
            # A command, a path, an error; results that only pass something on are not kept.
            ("src/parser", {}, [first_call]),
            ("quokka", {}, [first_call]),
            ("narwhal", {}, []),
            # Any part of a text without spaces, also two characters.
            ("配置", {}, [("s1", 3, "agent", None)]),
            ("数据库连接", {}, [("s1", 3, "agent", None)]),
            ("库数", {}, []),
            ("zebra", {"project": projects["s2"]}, both[:1]),
            ("zebra", {"agent": "codex"}, []),
            ("make", {"tool": "bash", "verdict": "failed"}, [first_call]),
            ("make", {"verdict": "ok"}, []),
            ("zebra", {"tool": "Bash"}, []),
            ("zebra", {"since": 1777680000.0 + 86_400}, both[:1]),
            ("zebra", {"until": 1777680000.0 + 86_400}, both[1:]),
        ):
            assert _places(store, words, **wanted) == expected, (words, wanted)
        hit = search(store, "zebra quokka").hits[0]
        assert hit.pieces[1::2] == ("zebra",) and hit.lines == 2
        assert SECRET not in hit.snippet and "redacted" in hit.snippet


_ALL = {"agent": None, "project": None}


def test_pages_of_hits_follow_each_other(histories: Path) -> None:
    with _read(histories) as store:
        first = search(store, "zebra", limit=1)
        assert [hit.session["native_id"] for hit in first.hits] == ["s2"]
        rest = search(store, "zebra", limit=1, after=1)
        assert [hit.session["native_id"] for hit in rest.hits] == ["s1"] and first.has_more and not rest.has_more


def test_names_are_found_by_their_parts_and_words_in_other_forms_those_that_stand_together_first(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "histories"
    folder.mkdir()
    said = (
        "Cancelled it: openSessionStore in src/store/session_cache.py leaks a handle",
        f"The handle is here {'and there ' * 30} and it leaks a lot",
        "A leaking handle",
        "Nothing of this kind",
    )
    for number, text in enumerate(said, start=1):
        (folder / f"s{number}.jsonl").write_text(_line("user", text, 0, f"s{number}"))
    with _read(folder) as store:
        for words, expected in (
            ("SessionStore", ["s1"]),
            ("SessionCache", ["s1"]),
            ("store", ["s1"]),
            ("openSessionStore in src/store", ["s1"]),
            ("opensessionstore", ["s1"]),
            ("session_cache.py", ["s1"]),
            ("cache", ["s1"]),
            ("cancels", ["s1"]),
            ("cancellation leak", ["s1"]),
            # As it is typed, then close together in another form, then anywhere.
            ("leaks a handle", ["s1", "s3", "s2"]),
            ('"a handle"', ["s1"]),
            # No session has all words: the rare ones decide.
            ("cancelled the handle of unicorns", ["s1"]),
        ):
            assert [hit.session["native_id"] for hit in search(store, words).hits] == expected, words
        assert search(store, "store").hits[0].pieces[1::2] == ("openSessionStore", "store")
        assert search(store, "cache").hits[0].snippet == said[0]


def test_a_session_that_goes_on_is_found_by_its_new_words_and_once(histories: Path) -> None:
    _read(histories).close()
    with (histories / "s2.jsonl").open("a") as file:
        file.write(_line("user", "Now paint the walrus", 7, "s2", "/home/mira/boats"))
    scan(ScanTarget(histories.parent / "seasoned.db"), [histories], Secrecy(KEY), workers=1)
    with open_store(histories.parent / "seasoned.db") as store:
        assert search(store, "walrus").waiting == 1
        assert fill(store) == 0
        assert _places(store, "walrus") == [("s2", 2, "person", None)]
        assert len(_places(store, "zebra")) == 2
        assert search(store, "walrus zebra").hits[0].lines == 2


def test_what_is_forgotten_is_not_in_the_file_any_more(histories: Path) -> None:
    with _read(histories) as store:
        row = store.row("session.find_ref", {"agent": "claude-code", "native_id": "s1"})
        assert row is not None
        forget_sessions(store, [row["id"]], now=1.0)
        assert _places(store, "quokka") == [] and len(_places(store, "zebra")) == 1
        store.connection.execute("INSERT INTO search_index (search_index) VALUES ('integrity-check')")
    data = (histories.parent / "seasoned.db").read_bytes()
    assert b"quokka" not in data and "数".encode() not in data and b"zebra" in data


def test_long_texts_are_packed_and_those_of_an_earlier_version_are_read_as_they_are(histories: Path) -> None:
    with (histories / "s2.jsonl").open("a") as file:
        file.write(_line("user", f"Now paint the walrus {'and the gull ' * 40}", 7, "s2", "/home/mira/boats"))
    with _read(histories) as store:
        found = _places(store, "walrus")
        assert found == [("s2", 2, "person", None)]
        stored = {row["messages"] for row in store.connection.execute("SELECT messages FROM said")}
        texts = {one: unpack(one) for one in stored}
        assert sorted(len(one) < len(text) for one, text in texts.items()) == [False, True], "one is short"
        kinds = store.connection.execute("SELECT DISTINCT typeof(text), typeof(places) FROM search_document")
        assert [tuple(row) for row in kinds] == [("blob", "blob")]
        store.connection.executemany(
            "UPDATE said SET messages = ? WHERE messages = ?",
            [(bytes(text).decode(), one) for one, text in texts.items()],
        )
        store.connection.execute("UPDATE search_document SET text = unpacked(text)")
        assert _places(store, "walrus") == found
        store.connection.execute("DELETE FROM search_document")
        store.connection.execute("INSERT INTO search_index (search_index) VALUES ('integrity-check')")
        store.connection.execute("INSERT INTO waiting (work, session_id) SELECT 'search', id FROM session")
        assert fill(store) == 0 and _places(store, "walrus") == found


def test_the_newest_come_first_and_neighbours_in_the_order_of_their_ids() -> None:
    for sessions in (0, 1, 25, 26, 900):
        newest = [(number, 1) for number in range(sessions, 0, -1)]
        order = _by_groups(newest)
        assert sorted(order) == sorted(newest)
        assert set(order[:25]) == set(newest[:25]), "a short time is spent on the newest"
        steps = sum(after < before for before, after in pairwise(order))
        assert steps <= 6, "each step back leaves pages half empty"


def test_secrets_are_in_no_table(histories: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "WORTH_BYTES", 1 << 30)  # so that they would be seen
    with _read(histories) as store:
        store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert SECRET.encode() not in (histories.parent / "seasoned.db").read_bytes()


_EMPTY = open_temporary()


@given(st.text(max_size=30) | st.text(st.sampled_from("ab\"'*()^:-+ANDORNOTNEAR{}\0漢 "), max_size=20))
def test_no_text_is_an_error_but_one_without_words(words: str) -> None:
    try:
        assert search(_EMPTY, words).hits == ()
    except UsageError as error:
        assert "letter or a digit" in str(error)
        assert not any(char.isascii() and char.isalnum() for char in words)


def test_an_sqlite_without_the_index_says_what_it_lacks(histories: Path) -> None:
    with _read(histories) as store:
        store.connection.execute("PRAGMA writable_schema = ON")
        # No SQLite at hand lacks FTS5, but each lacks some module.
        store.connection.execute("UPDATE sqlite_master SET sql = replace(sql, 'USING fts5 ', 'USING fts0 ')")
        with open_store(Path(store.path)) as lacking, pytest.raises(StoreError, match="Python whose SQLite has FTS5"):
            search(lacking, "anything")
