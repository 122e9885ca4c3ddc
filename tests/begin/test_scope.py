"""What a session is shown is of its own project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the MCP library is not installed")

from seasoned.config import load
from seasoned.example.library.storage import save
from seasoned.store import open_store
from seasoned.store.project import merge_projects
from tests.begin.entry_points import ENTRY_POINTS, EntryPoint, GatewayEntry, HookEntry, place_of
from tests.cli.run import seasoned
from tests.example.examples import example, keep_session, template

every_entry_point = pytest.mark.parametrize("entry", ENTRY_POINTS, ids=lambda one: type(one).__name__)


def _call(tool: str, value: str, *sessions: str) -> Any:
    arguments = {"size": value} if tool == "book_parcel" else {"command": value}
    return example(tool, arguments=arguments, intent="Run the tests.", sessions=sessions, pattern=f"{tool} {value}")


def _keep(entry: EntryPoint, *examples: Any, **sessions: str) -> None:
    """A template, and the sessions that it comes from with their projects."""
    with open_store(load().store_path) as store:
        for session, project in sessions.items():
            keep_session(store, f"codex:{session}", **place_of(entry, project))
        save(store, template("house", *examples))


def _two_projects(entry: EntryPoint) -> None:
    shells = [
        _call(tool, command, f"codex:{session}")
        for tool in ("terminal", "Bash")
        for command, session in (("make shop-check", "a"), ("make bank-check", "b"), ("make free-check", "c"))
    ]
    _keep(entry, *shells, a="shop", b="bank")


@every_entry_point
def test_a_session_sees_only_what_is_of_its_project(entry: EntryPoint) -> None:
    _two_projects(entry)
    for project, own in (("shop", "make shop-check"), ("bank", "make bank-check"), (None, "make free-check")):
        shown = entry.begin(f"in-{project}", project)
        assert shown is not None and own in shown
        assert shown.count("-check") == shown.count(own), "and nothing else"
    elsewhere = entry.begin("elsewhere", "garden")
    if isinstance(entry, HookEntry):
        assert elsewhere is not None, "the settings name the template: it is shown where it has nothing of the project"
    else:
        assert elsewhere is None, "a project that has nothing yet sees nothing"


def test_projects_that_are_merged_see_what_is_of_both_at_once() -> None:
    entry = GatewayEntry()
    _two_projects(entry)
    assert "bank" not in str(entry.begin("s1", "shop"))
    with open_store(load().store_path) as store:
        merge_projects(store, "app:bank", "app:shop", now=2.0)
    shown = str(entry.begin("s2", "bank"))
    assert "make bank-check" in shown and "make shop-check" in shown


def test_sessions_in_the_home_folder_see_what_others_of_their_agent_taught_there() -> None:
    hook, home = ENTRY_POINTS[2], str(Path.home())
    with open_store(load().store_path) as store:
        keep_session(store, "claude-code:a", folder=home, application="claude-code")
        keep_session(store, "hermes:b", folder=home, application="hermes")
        calls = (("make own-check", "claude-code:a"), ("make other-check", "hermes:b"))
        save(store, template("house", *[_call("Bash", command, session) for command, session in calls]))
    shown = hook.begin("at-home", "")
    assert shown is not None and "make own-check" in shown and "make other-check" not in shown


def test_a_key_that_is_an_address_has_the_project_of_its_recorded_sessions() -> None:
    entry, name = GatewayEntry(), "ann@example.com"
    assert entry.begin("s1", name) is None
    with open_store(load().store_path) as store:
        (row,) = store.connection.execute("SELECT agent || ':' || native_id AS ref, project FROM session").fetchall()
        assert row["project"] is not None and name not in row["project"]
        save(store, template("house", _call("terminal", "make check", row["ref"])))
    assert "make check" in str(entry.begin("s2", name))
    assert entry.begin("s3", "bob@example.com") is None


def test_the_command_line_shows_what_a_session_in_the_folder_would_see(monkeypatch: pytest.MonkeyPatch) -> None:
    hook = ENTRY_POINTS[2]
    _two_projects(hook)
    monkeypatch.chdir(place_of(hook, "shop")["folder"])
    here = seasoned("warm", "--format", "text", "--form", "text").stdout
    assert "make shop-check" in here and "bank" not in here and "free" not in here
    folder = str(Path.home() / "bank")
    assert "make bank-check" in seasoned("warm", "--project", folder, "--format", "text", "--form", "text").stdout
