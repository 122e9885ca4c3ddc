"""`seasoned projects`, --project and the project of the folder in which a command runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.run import answer, seasoned
from tests.project.checkouts import checkout, git, needs_git

MIRA, JONAS = "/home/mira/waypost", "/home/jonas/src/waypost"


@pytest.fixture
def scanned(samples: Path) -> None:
    seasoned("scan", samples)


def codex(path: Path, native_id: str, cwd: Path, url: str | None = None) -> None:
    """A session of Codex in a folder, with one call that worked."""
    meta = {"id": native_id, "cwd": str(cwd), "git": {"repository_url": url} if url else {}}
    call = {"type": "function_call", "call_id": f"call_{native_id}", "name": "shell", "arguments": '{"command":"make"}'}
    records: list[dict[str, Any]] = [
        {"type": "session_meta", "payload": meta},
        {"type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"text": "build it"}]}},
        {"type": "response_item", "payload": call},
        {
            "type": "response_item",
            "payload": {"type": "function_call_output", "call_id": call["call_id"], "output": "Exit code: 0\nbuilt"},
        },
    ]
    lines = [json.dumps({"timestamp": "2026-05-01T10:00:00Z", **record}) for record in records]
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.usefixtures("scanned")
def test_projects_are_listed_with_their_sessions_and_agents() -> None:
    found = answer("projects")
    assert [(one["key"], one["sessions"], one["agents"]) for one in found["projects"]] == [
        (MIRA, 14, ["claude-code"]),
        ("app:hermes", 6, ["hermes"]),
        (JONAS, 5, ["codex"]),
    ]
    assert found["without_project"] == answer("sessions", "--limit", 100)["count"] - 25
    shown = seasoned("projects").stdout
    assert MIRA in shown
    assert "16 sessions without a project" in shown


def test_without_a_store_projects_say_what_to_do() -> None:
    assert "seasoned scan" in seasoned("projects", expect=3).stderr


@pytest.mark.usefixtures("scanned")
def test_a_name_that_two_projects_share_is_refused_with_both_keys() -> None:
    said = seasoned("sessions", "--project", "waypost", expect=2).stderr
    assert said.count("\n") <= 2
    assert MIRA in said
    assert JONAS in said


@pytest.mark.usefixtures("scanned")
def test_commands_speak_about_the_named_project_only() -> None:
    assert {one["project"] for one in answer("sessions", "--project", MIRA)["sessions"]} == {MIRA}
    report = answer("report", "--project", JONAS)
    assert (report["sessions"], report["project"]) == (5, JONAS)
    assert sum(row["sessions"] for row in answer("usage", "--by", "model", "--project", JONAS)["histories"]) <= 5
    assert sum(row["sessions"] for row in answer("usage", "--by", "model")["histories"]) > 5
    made = answer("template", "build", "theirs", "--min-messages", 2, "--project", JONAS)
    sources = {source["session"] for example in made["examples"] for source in example["sources"]}
    assert sources
    assert {source.partition(":")[0] for source in sources} == {"codex"}


@pytest.mark.usefixtures("scanned")
def test_merging_and_splitting_undo_each_other() -> None:
    assert answer("projects", JONAS, "--merge-into", MIRA)["sessions"] == 19
    assert answer("projects", JONAS)["merged"] == [JONAS]
    assert [one["key"] for one in answer("projects")["projects"]] == [MIRA, "app:hermes"]
    found = answer("projects", MIRA, "--split", JONAS)
    assert (found["project"]["sessions"], found["split"]["sessions"]) == (14, 5)


@needs_git
def test_in_the_folder_of_a_known_project_its_sessions_are_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = checkout(tmp_path.resolve() / "shop", origin="git@github.com:acme/shop.git")
    git(shop, "worktree", "add", "-q", str(tmp_path.resolve() / "feature"))
    other = tmp_path.resolve() / "other"
    other.mkdir()
    logs = tmp_path / "logs"
    logs.mkdir()
    codex(logs / "a.jsonl", "0199aaaa-0000-7000-8000-00000000000a", shop)
    codex(
        logs / "b.jsonl", "0199aaaa-0000-7000-8000-00000000000b", Path("/Users/ann/x"), "https://github.com/acme/shop"
    )
    codex(logs / "c.jsonl", "0199aaaa-0000-7000-8000-00000000000c", other)
    seasoned("scan", logs)
    for folder, expected in ((shop, 2), (tmp_path / "feature", 2), (other, 1), (logs, 3)):
        monkeypatch.chdir(folder)
        done = seasoned("sessions", "--json")
        assert json.loads(done.stdout)["count"] == expected
        # One line says so, and only where sessions are left out.
        assert ("--all" in done.stderr) is (expected != 3)
    monkeypatch.chdir(shop)
    assert answer("sessions", "--all")["count"] == 3
    assert answer("sessions", logs / "c.jsonl")["count"] == 1
    assert answer("report")["sessions"] == 2
    assert answer("sessions", "--project", other)["count"] == 1
    assert answer("projects", ".")["key"] == "github.com/acme/shop"
