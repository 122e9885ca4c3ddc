"""The page of settings, over a real server: what is in force, what `doctor` finds, where things lie."""

from __future__ import annotations

import time
from pathlib import Path

import httpx2

from seasoned.config import Config
from seasoned.connect.agent import AGENTS
from seasoned.doctor import run_checks, settings
from seasoned.redact.key import Secrecy, load_key
from tests.web.filled import SECRET, fill_sessions, fill_templates, store_of
from tests.web.pages import Visitor, site

_PATIENCE_SECONDS = 30.0


def look(visitor: Visitor, query: str = "") -> httpx2.Response:
    return visitor.client.get(f"{visitor.path}/settings{query}")


def checked(visitor: Visitor) -> str:
    end = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < end:
        text = look(visitor).text
        if "Store checked" in text and "data-working" not in text:
            return text
        time.sleep(0.02)
    raise AssertionError("the store was never looked through")


def test_it_shows_what_doctor_finds_and_where_things_lie(tmp_path: Path) -> None:
    fill_sessions(tmp_path)
    with site(tmp_path) as found, found.visitor() as alice:
        text = checked(alice)
        assert "No problems found." in text and str(tmp_path / "seasoned.db") in text
        names = {row["check"]: row for row in look(alice, "?as=json&table=checks").json()["rows"]}
        assert set(names) == {check.name for check in run_checks(Config(home=tmp_path))}
        assert "sessions" in names["store"]["finding"] and names["store"]["ok"] is True
        agents = {row["agent"]: row["connected"] for row in look(alice, "?as=json&table=connected").json()["rows"]}
        assert agents == dict.fromkeys(AGENTS, False)


def test_what_is_wrong_stands_at_the_top(tmp_path: Path) -> None:
    with site(tmp_path) as found, found.visitor() as alice:
        (tmp_path / "seasoned.db").chmod(0o644)
        text = checked(alice)
        assert "1 check found something wrong." in text and "chmod 600" in text


def test_looking_again_needs_the_form_of_this_visit(tmp_path: Path) -> None:
    with site(tmp_path) as found, found.visitor() as alice:
        address = f"{alice.path}/settings/check"
        assert alice.client.post(address, data={"check": "guessed"}).status_code == 403
        assert alice.client.post(address, data={"check": alice.check()}).status_code == 303


def test_settings_hold_no_secret(tmp_path: Path) -> None:
    config = Config(
        home=tmp_path,
        database_url=f"postgresql://me:{SECRET}@db.example/seasoned",
        webhook_url=f"https://hooks.example/?token={SECRET}",
        redact=("projectname",),
    )
    shown = settings(config, Secrecy(load_key(tmp_path)).redactor())
    assert SECRET not in repr(shown) and "projectname" not in repr(shown)
    assert {one.name: one.value for one in shown}["redact"] == "1 of your own"


def test_a_whole_store_with_templates_is_not_called_damaged(tmp_path: Path) -> None:
    fill_sessions(tmp_path)
    fill_templates(tmp_path)
    (check,) = [one for one in run_checks(Config(home=tmp_path)) if one.name == "store"]
    assert check.ok, check.finding
    with store_of(tmp_path) as store:
        assert store.connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
