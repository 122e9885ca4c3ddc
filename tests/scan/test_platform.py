"""Where sessions took place is kept, as Hermes recorded it, and sessions can be chosen by it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seasoned.begin.warm_session import warm_session
from seasoned.config import load
from seasoned.redact import Redactor
from seasoned.store import open_store
from tests.cli.run import answer, seasoned
from tests.history.hermes_rows import HermesDb

PLACES = {"talk1": "telegram", "talk2": "telegram", "desk": "cli", "night": "cron"}


@pytest.fixture
def history(home: Path) -> Path:
    (home / ".hermes").mkdir()
    db = HermesDb(home / ".hermes" / "state.db")
    for name, place in PLACES.items():
        db.session(name, source=place).says(name, "user", f"Look at {place}.")
        for number in range(3):
            call_id = f"{name}_{number}"
            order = {"name": "book_depot", "arguments": json.dumps({"order": f"#W005204{number}", "weight": "12kg"})}
            db.says(
                name, "assistant", "", tool_calls=json.dumps([{"id": call_id, "type": "function", "function": order}])
            )
            db.result(name, call_id, '{"success": true}')
    return db.path


def _places(*options: object) -> dict[str, str | None]:
    found = answer("sessions", *options)["sessions"]
    return {one["session_id"]: one["platform"] for one in found}


def test_sessions_are_listed_and_mined_by_where_they_took_place(history: Path) -> None:
    seasoned("scan", history)
    assert _places() == PLACES
    assert _places("--source", "telegram").keys() == {"talk1", "talk2"}
    assert _places("--source", "hermes") == PLACES and _places("--source", "codex") == {}
    built = answer("template", "build", "talks", "--min-messages", 2, "--source", "telegram")
    assert set(built["sources"]) == {"hermes:talk1", "hermes:talk2"} and built["metrics"]["sessions_scanned"] == 2


def test_source_filter_of_the_tool_means_the_platform(history: Path) -> None:
    seasoned("scan", history)
    asked = {"action": "build", "name": "nights", "min_messages": 2}
    with open_store(load().store_path) as store:
        made = warm_session(
            store, {**asked, "source_filter": "cron"}, redactor=Redactor(b"k" * 32), config=load(), entry="library"
        )
        assert made["success"] and made["metrics"]["sessions_qualified"] == 1
        assert not warm_session(
            store, {**asked, "source_filter": "discord"}, redactor=Redactor(b"k" * 32), config=load(), entry="library"
        )["success"]
