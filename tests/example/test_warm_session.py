"""The agent-facing tool, over the sample histories."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from seasoned.app.stores import scan_into_store
from seasoned.begin.warm_session import warm_session
from seasoned.config import load
from seasoned.redact.redactor import Redactor
from seasoned.store import Store, open_store

REDACTOR = Redactor(b"k" * 32)


@pytest.fixture(scope="module")
def store_path(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEASONED_HOME", str(tmp_path_factory.mktemp("store")))
        scan_into_store(load(), [samples])
        return load().store_path


@pytest.fixture
def store(store_path: Path, tmp_path: Path) -> Iterator[Store]:
    import shutil

    path = tmp_path / "seasoned.db"
    shutil.copy(store_path, path)
    with open_store(path) as found:
        yield found


def ask(store: Store, **arguments: Any) -> dict[str, Any]:
    answer = warm_session(store, arguments, redactor=REDACTOR, config=load(), entry="library")
    json.dumps(answer, allow_nan=False)
    return answer


def sessions(store: Store) -> list[str]:
    rows = store.connection.execute("SELECT native_id FROM session WHERE ok + failed > 3 ORDER BY id").fetchall()
    return [row[0] for row in rows]


def test_build_list_load_and_delete_are_one_life_of_a_template(store: Store) -> None:
    built = ask(store, action="build", name="work", min_messages=4, description="daily work", tags=["daily"])
    assert built["success"] and built["name"] == "work" and built["pattern_count"] > 0
    assert set(built["metrics"]) == {"sessions_scanned", "sessions_qualified", "avg_proficiency_gain"}
    found = ask(store, action="list", tags=["daily"])
    (line,) = found["templates"]
    assert found["count"] == 1 and line["pattern_count"] == built["pattern_count"] and line["usage_count"] == 0
    loaded = ask(store, action="load", name="work", task="fix the failing test")
    assert loaded["success"] and loaded["message_count"] == len(loaded["conversation"]) > 0
    assert any("tool_calls" in message for message in loaded["conversation"])
    assert 0 < loaded["pattern_count"] <= built["pattern_count"]
    preview = loaded["conversation_preview"]
    assert isinstance(preview, list) and 0 < len(preview) <= 4
    assert [one["role"] for one in preview] == [one["role"] for one in loaded["conversation"][: len(preview)]]
    assert ask(store, action="list")["templates"][0]["usage_count"] == 1
    assert ask(store, action="delete", name="work") == {"success": True, "name": "work", "deleted_versions": 1}
    assert ask(store, action="list") == {"success": True, "templates": [], "count": 0}


def test_profile_and_compress_check_answer_for_one_session(store: Store) -> None:
    name = sessions(store)[0]
    found = ask(store, action="profile", session_id=name)
    assert found["success"] and found["session_id"] == name
    assert {"message_count", "tool_call_count", "error_rate", "proficiency_gain", "dominant_tool_type"} <= set(found)
    checked = ask(store, action="compress-check", session_id=name)
    assert checked["success"] and checked["has_compression"] in (True, False)
    assert {"pre_compression_profile", "post_compression_profile", "proficiency_preserved", "lost"} <= set(checked)


def test_compare_calls_the_first_warm_and_the_second_cold(store: Store) -> None:
    first, second = sessions(store)[:2]
    found = ask(store, action="compare", session_id=first, compare_with=second)
    assert found["success"] and (found["warm_id"], found["cold_id"]) == (first, second)
    wanted = {"test_name", "warm_errors", "cold_total", "warm_error_rate", "improvement", "interval", "p_value"}
    assert wanted | {"warm_better"} <= set(found)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"action": "fly"}, "Actions are"),
        ({}, "action"),
        ({"action": "build"}, "needs 'name'"),
        ({"action": "build", "name": "../../x"}, "name"),
        ({"action": "build", "name": "none", "min_messages": 100000}, "Nothing to learn from"),
        ({"action": "load", "name": "gone"}, "gone"),
        ({"action": "delete", "name": "gone"}, "gone"),
        ({"action": "profile"}, "needs 'session_id'"),
        ({"action": "profile", "session_id": "nowhere"}, "nowhere"),
        ({"action": "compare", "session_id": "x"}, "x"),
        ({"action": "list", "tags": "daily"}, "tags"),
        ({"action": "load", "name": "a", "format": "papyrus"}, "format"),
        ({"action": "list", "colour": "red"}, "colour"),
    ],
)
def test_what_is_wrong_is_an_answer_that_a_model_can_act_on(store: Store, arguments: dict[str, Any], says: str) -> None:
    answer = ask(store, **arguments)
    assert answer["success"] is False and says in answer["error"]
    assert set(answer) == {"success", "error"}


@pytest.mark.parametrize("field", ["min_messages", "max_sessions", "budget"])
def test_numbers_that_make_no_sense_are_refused_by_name(store: Store, field: str) -> None:
    answer = ask(store, action="list", **{field: -1})
    assert answer["success"] is False and field in answer["error"]


def test_a_store_that_fails_is_an_answer(tmp_path: Path) -> None:
    found = open_store(tmp_path / "s.db")
    found.connection.execute("DROP TABLE session")
    answer = ask(found, action="profile", session_id="x")
    assert answer == {"success": False, "error": answer["error"]} and "s.db" in answer["error"]


_THIN = """
import sys

class Without:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("numpy", "scipy", "pydantic", "jinja2"):
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Without())
from pathlib import Path
from seasoned.redact.redactor import Redactor
from seasoned.store import open_store
from seasoned.begin.warm_session import warm_session
from seasoned.config import load

store, first, second = open_store(Path(sys.argv[1])), *sys.argv[2:]
for given in (
    {"action": "build", "name": "thin", "min_messages": 4}, {"action": "list"}, {"action": "load", "name": "thin"},
    {"action": "profile", "session_id": first}, {"action": "compress-check", "session_id": first},
    {"action": "compare", "session_id": first, "compare_with": second}, {"action": "delete", "name": "thin"},
):
    answer = warm_session(store, given, redactor=Redactor(b"k" * 32), config=load(), entry="library")
    assert answer["success"], (given, answer)
print("all of it")
"""


def test_every_action_works_in_an_environment_that_has_only_the_thin_core(store: Store) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _THIN, store.path, *sessions(store)[:2]], capture_output=True, text=True, check=False
    )
    assert done.stdout == "all of it\n", done.stderr
