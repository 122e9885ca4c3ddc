"""`seasoned adopt` on a home of the first version: everything is taken over once, and undone to the byte."""

from __future__ import annotations

import json
import sqlite3
import stat
from pathlib import Path
from typing import Any

import pytest

from seasoned.config import load
from seasoned.store import open_store
from seasoned.template.block import FORMATS
from seasoned.template.library.storage import count_use, save
from tests.adopt.first_home import FAILING, NOTES, SECRET, USER, write_first_home
from tests.cli.run import answer, seasoned
from tests.template.examples import example, template

# Kept by the journal and by SQLite whatever was undone: copies of what was removed, locks, counters.
_OWN = ("aside", "locks", "unfinished", "seasoned.db", "redact.key", "logs")
_TABLES = ("template", "template_name", "template_source", "template_usage", "example_source", "example_state")
_TABLES += ("example_usage", "job", "job_run", "warm_block")


@pytest.fixture
def first(home: Path) -> Path:
    return write_first_home(home / ".hermes")


@pytest.fixture
def ours(home: Path) -> Path:
    """A user of this version, with memory, a skill, a script and a template of the same names."""
    folder = home / ".seasoned"
    (folder / "memory").mkdir(parents=True)
    (folder / "memory" / "MEMORY.md").write_bytes("Ours.  \r\n§\r\nTests run with uv.\r\n".encode())
    (folder / "scripts").mkdir()
    (folder / "scripts" / "report.sh").write_text("echo ours\n", "utf-8")
    with open_store(folder / "seasoned.db") as store:
        save(store, template("code", example("crm_lookup", arguments={"customer": "C-1"})))
    return folder


def _tree(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(folder)): (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".lock" and not path.relative_to(folder).parts[0].startswith(_OWN)
    }


def _rows(folder: Path) -> dict[str, list[Any]]:
    with sqlite3.connect(folder / "seasoned.db") as database:
        return {name: sorted(database.execute(f"SELECT * FROM {name}").fetchall(), key=repr) for name in _TABLES}


def _by_kind(found: dict[str, Any], state: str) -> dict[str, list[str]]:
    kinds: dict[str, list[str]] = {}
    for one in found["items"]:
        if one["state"] == state:
            kinds.setdefault(one["kind"], []).append(one["name"])
    return kinds


def test_everything_is_taken_over_and_what_is_not_is_said(first: Path) -> None:
    before = _tree(first)
    found = answer("adopt", "--yes")
    assert found["state"] == "adopted" and found["folder"] == str(first)
    assert _by_kind(found, "new") == {
        "template": ["code", "research", "code-hermes"],
        "script": ["report.sh", "sub/check.py"],
        "skill": ["bundled-one", "ops/restart", "release"],
        "job": ["report", "check", "paused", "elsewhere"],
        "memory": ["MEMORY.md", "USER.md"],
        "audit": ["confirmation_audit.db"],
    }
    assert _by_kind(found, "left out") == {"template": ["broken", "bad"], "job": ["job 4 ('done')"]}
    assert _tree(first) == before, "the folder of the first version is only read"
    config = load()
    assert (config.memory_folder / "MEMORY.md").read_text("utf-8").split("\n§\n") == NOTES.strip().split("\n§\n")
    assert (config.memory_folder / "USER.md").read_text("utf-8") == USER
    assert (config.skill_folder / "release" / "references" / "style.md").read_text("utf-8") == "Newest first.\n"
    assert stat.S_IMODE((config.home / "scripts" / "report.sh").stat().st_mode) == 0o700
    jobs = {one["name"]: one for one in answer("cron", "list")["jobs"]}
    assert {one["state"] for one in jobs.values()} == {"paused"}
    assert answer("cron", "show", "check")["script"] == "sub/check.py"


def test_no_failed_call_is_ever_shown(first: Path, tmp_path: Path) -> None:
    seasoned("adopt", "--yes")
    listed = answer("template", "list")["templates"]
    assert {(one["name"], one["task_type"]) for one in listed} == {
        ("code", "mixed"),
        ("research", "research"),
        ("code-hermes", "code"),
    }
    assert {one["name"]: one["usage_count"] for one in listed}["code-hermes"] == 5
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps(["terminal", "execute_code", "crm_lookup", "crm_note", "read_file"]), "utf-8")
    seen = []
    for one in listed:
        for format in FORMATS:
            seen.append(seasoned("warm", one["name"], "--tools", tools, "--format", format, "--all").stdout)
            seen.append(seasoned("template", "show", one["name"], "--format", format).stdout)
    text = "\n".join(seen)
    for _, arguments, _ in FAILING.values():
        assert next(iter(arguments.values())) not in text
    assert "crm_note" not in text, "a placeholder shows nothing about its call"
    assert "pytest -q" in text and "crm_lookup" in text
    shown = seasoned("template", "show", "code").stdout
    assert "unverified" in shown and "suspended" in shown
    for one in answer("template", "show", "code")["examples"]:
        assert one["unverified"] and (one["state"] == "suspended") == (one["tool"] == "crm_note")
    exported = seasoned("template", "export", "code", "--as", "warm-v1").stdout
    assert "crm_note" not in exported and "nosuchmod" not in exported


def test_a_second_run_changes_nothing(first: Path) -> None:
    seasoned("adopt", "--yes")
    home = load().home
    tree, rows = _tree(home), _rows(home)
    again = answer("adopt", "--yes")
    assert again["state"] == "unchanged" and _by_kind(again, "new") == _by_kind(again, "changed") == {}
    assert (_tree(home), _rows(home)) == (tree, rows)
    assert "Nothing new to take over" in seasoned("adopt", "--yes").stdout


def test_undoing_brings_everything_back_to_the_byte(first: Path, ours: Path) -> None:
    tree, rows = _tree(ours), _rows(ours)
    found = answer("adopt", "--yes")
    assert set(_by_kind(found, "new")["template"]) == {"code-hermes", "research", "code-hermes-2"}, "ours is not hidden"
    assert "hermes-report.sh" in _by_kind(found, "new")["script"]
    assert answer("cron", "show", "report")["script"] == "hermes-report.sh"
    assert (ours / "scripts" / "report.sh").read_text("utf-8") == "echo ours\n"
    assert _tree(ours) != tree and _rows(ours) != rows
    undone = answer("adopt", "--undo", "--yes")
    assert (undone["state"], undone["stays"]) == ("undone", [])
    assert _tree(ours) == tree
    assert _rows(ours) == rows
    assert "nothing to undo" in seasoned("adopt", "--undo", "--yes", expect=1).stderr
    assert answer("adopt", "--yes")["state"] == "adopted", "and it can be taken over again"


def test_an_empty_home_is_empty_again(first: Path) -> None:
    seasoned("adopt", "--yes")
    seasoned("adopt", "--undo", "--yes")
    home = load().home
    assert _tree(home) == {}
    assert all(not rows for rows in _rows(home).values())
    assert not [one for one in ("memory", "skills", "scripts", "confirm-archive", "adopt") if (home / one).exists()]


def test_what_was_changed_since_is_respected(first: Path) -> None:
    seasoned("adopt", "--yes")
    config = load()
    (config.skill_folder / "release" / "SKILL.md").write_text("mine now", "utf-8")
    (config.home / "scripts" / "report.sh").write_text("echo mine\n", "utf-8")
    seasoned("memory", "add", "Added later.")
    with open_store(config.store_path) as store:
        save(store, template("research", example()))
        count_use(store, "research@2", [])
    undone = answer("adopt", "--undo", "--yes")
    assert sorted(one["name"] for one in undone["stays"]) == ["release", "report.sh"]
    assert (config.memory_folder / "MEMORY.md").read_text("utf-8") == "Added later."
    assert answer("template", "list")["templates"][0]["version"] == 2
    assert (config.home / "scripts" / "report.sh").read_text("utf-8") == "echo mine\n"


def test_a_changed_template_becomes_the_next_version(first: Path) -> None:
    seasoned("adopt", "--yes")
    file = first / "session-templates" / "code.json"
    content = json.loads(file.read_text("utf-8"))
    content["examples"] = content["examples"][:2]
    file.write_text(json.dumps(content), "utf-8")
    assert _by_kind(answer("adopt", "--yes"), "changed") == {"template": ["code-hermes"]}
    versions = {one["name"]: one["version"] for one in answer("template", "list")["templates"]}
    assert versions == {"code": 1, "research": 1, "code-hermes": 2}
    answer("adopt", "--undo", "--yes")
    assert answer("template", "list")["count"] == 0


def test_looking_writes_nothing(first: Path) -> None:
    home = load().home
    shown = seasoned("adopt", "--dry-run").stdout
    assert "Templates" in shown and "new      code" in shown and "Nothing was changed" in shown
    assert not home.exists()
    assert "--json asks no questions" in seasoned("adopt", "--json", expect=2).stderr
    assert "Nothing was changed" in seasoned("adopt", stdin="n\n").stdout
    assert not home.exists()


def test_a_folder_without_anything_is_named(tmp_path: Path) -> None:
    assert "Nothing to take over" in seasoned("adopt", tmp_path, expect=1).stderr


def test_the_audit_is_an_archive_that_can_only_be_read(first: Path) -> None:
    seasoned("adopt", "--yes")
    found = answer("confirm", "audit", "--archive")
    assert [(one["action"], one["status"]) for one in found["requests"]] == [
        ("delete_data", "denied"),
        ("deploy_production", "approved"),
    ]
    first_one = found["requests"][1]
    assert (first_one["requester"], first_one["resolved_by"], first_one["reason"]) == ("timmy", "anna", "as planned")
    assert first_one["resolved_at"] == 1_790_000_005.0
    (file,) = (load().home / "confirm-archive").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o400
    assert SECRET.encode() not in file.read_bytes(), "secrets do not come along"
    assert "deploy_production" in seasoned("confirm", "audit", "--archive").stdout
    seasoned("adopt", "--undo", "--yes")
    assert "There is no archive" in seasoned("confirm", "audit", "--archive", expect=1).stderr
