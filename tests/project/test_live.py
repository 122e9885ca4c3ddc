"""A session has the same project while it runs, as its entry point finds it, and when its history is read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from seasoned.hermes_plugin.request import place_of
from seasoned.history.read import read
from seasoned.project import project_of
from seasoned.store import Store, open_store
from seasoned.store.project import project_of_conversation
from tests.each_case import each_case
from tests.history.hermes_rows import HermesDb


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.db") as opened:
        yield opened


@pytest.mark.parametrize(("home", "application"), [("hermes", "hermes"), ("hermes/profiles/work", "hermes/work")])
def test_hermes_has_one_project_for_each_profile_and_those_of_its_folders(
    store: Store, tmp_path: Path, home: str, application: str
) -> None:
    (tmp_path / home).mkdir(parents=True)
    made = HermesDb(tmp_path / home / "state.db")
    made.session("telegram-1", source="telegram").says("telegram-1", "user", "hello")
    made.session("cron-1", source="cron", cwd="/").says("cron-1", "user", "hello")
    made.session("home-1", cwd="/home/mira").says("home-1", "user", "hello")
    made.session("shop-1", cwd="/srv/shop").says("shop-1", "user", "hello")
    expected = dict.fromkeys(["telegram-1", "cron-1", "home-1"], f"app:{application}") | {"shop-1": "/srv/shop"}
    found = {}
    for session in read(made.path):
        project = project_of(session.cwd, remote=session.remote, application=session.application)
        found[session.ref.native_id] = project and project.key
    assert found == expected
    assert {name: place_of(store, made.path, name).project for name in expected} == expected
    # Until Hermes has recorded a session, its folder is not known.
    assert place_of(store, made.path, "unheard-of").project is None


def test_what_continues_a_conversation_of_hermes_stays_in_its_project(store: Store, tmp_path: Path) -> None:
    made = HermesDb(tmp_path / "state.db")
    made.session("first", cwd="/srv/shop", end_reason="compression").session("second", parent_session_id="first")
    assert place_of(store, made.path, "second").project == "/srv/shop"


@each_case(
    ("folder", "key"),
    [
        ("/Users/ann", "app:claude-code"),
        ("/tmp", "app:claude-code"),
        ("C:\\Users\\ann\\Desktop", "app:claude-code"),
        ("/Users/ann/shop", "/Users/ann/shop"),
        ("/c/code/shop", "C:/code/shop"),
    ],
)
def test_claude_code_in_a_home_folder_has_a_project_of_its_own(folder: str, key: str) -> None:
    line = {"type": "user", "uuid": "u1", "sessionId": "s1", "cwd": folder, "timestamp": "2026-05-01T10:00:00Z"}
    with TemporaryDirectory() as place, open_store(Path(place) / "store.db") as store:
        file = Path(place) / "s1.jsonl"
        file.write_text(json.dumps({**line, "message": {"role": "user", "content": "hello"}}) + "\n")
        (session,) = read(file)
        project = project_of(session.cwd, remote=session.remote, application=session.application)
        assert (project and project.key) == key
        assert project_of_conversation(store, "claude-code:s1", folder) == key
