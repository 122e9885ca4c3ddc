"""Agents in terminals and editors: what marks a failed call, where a session worked, what it used."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seasoned.config import Config
from seasoned.errors import SourceError
from seasoned.history.discover import candidates, discover
from seasoned.history.formats import named, recognise
from seasoned.history.read import read as read_path
from seasoned.session import Marks, Session, Usage
from tests.each_case import each_case
from tests.history import more_agents
from tests.history.hermes_rows import HermesDb
from tests.history.more_agents import WORK
from tests.history.small_formats import read
from tests.torture import TORTURE

OK, NO = Marks(failed=False), Marks(failed=True)
REFUSED = Marks(declined=True)
RAN, SURE, FAILED = Marks(exit_code=0), Marks(failed=False, exit_code=0), Marks(exit_code=2)
Maker = Callable[[Path], Path]
DATABASES: dict[str, Maker] = {
    "goose": more_agents.goose_database,
    "cursor": more_agents.cursor_database,
}
# By fixture or database: the marks of the first session's calls in order, and what is known about it.
EXPECTED: dict[str, tuple[list[Marks | None], tuple[str, str | None, str | None, Usage | None]]] = {
    "qwen": (
        [Marks(failed=False, exit_code=0), FAILED, NO, REFUSED],
        ("qwen:q1", WORK, "qwen3", Usage(input=100, output=9)),
    ),
    "cline text": ([FAILED, REFUSED, NO], ("cline:1", WORK, None, None)),
    "cline": ([NO, OK], ("cline:s1", None, "m1", Usage(input=7, output=2))),
    "vscode": ([FAILED, NO], ("vscode:v1", None, "copilot/m1", Usage(input=40, output=4))),
    "vscode lines": ([FAILED, NO], ("vscode:v1", None, "copilot/m1", Usage(input=40, output=4))),
    "goose": ([Marks(failed=True, exit_code=2), SURE, REFUSED], ("goose:g1", WORK, "m1", Usage(input=50, output=5))),
    "cursor": ([RAN, FAILED, NO, REFUSED, None], ("cursor:k1", WORK, None, Usage(input=9, output=2))),
}


def sessions_of(folder: Path, name: str) -> list[Session]:
    if name not in DATABASES:
        return read(folder, name)
    path = DATABASES[name](folder)
    assert recognise(path) == name
    return list(read_path(path))


@each_case("name", sorted(EXPECTED))
def test_each_agent_says_in_its_own_way_what_failed_and_where_it_worked(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "1"
    folder.mkdir()
    session = sessions_of(folder, name)[0]
    marks, (ref, cwd, model, usage) = EXPECTED[name]
    assert [None if call.result is None else call.result.marks for call in session.calls()] == marks
    assert (str(session.ref), session.cwd, session.model, session.usage) == (ref, cwd, model, usage)
    assert session.unreadable == ()
    assert any(message.text.startswith(("Fix the till", "Fix it")) for message in session.messages[:1])
    if name not in ("cline text", "vscode", "vscode lines"):
        assert "hm" in {message.thinking for message in session.messages}


def test_calls_have_the_names_and_arguments_that_other_agents_know(tmp_path: Path) -> None:
    (old,) = read(tmp_path, "cline text")
    assert [(call.tool, call.arguments) for call in old.calls()] == [
        ("execute_command", {"command": "make test"}),
        ("write_to_file", {"path": "a.py", "content": "<b>hi</b>\n"}),
        ("read_file", {"path": "b.py"}),
    ]
    (new,) = read(tmp_path, "cline")
    assert [(call.tool, call.arguments) for call in new.calls()][1] == ("mcp__docs__find", {"q": "x"})


def test_compactions_are_read(tmp_path: Path) -> None:
    assert all(len(sessions_of(tmp_path, name)[0].compactions) == 1 for name in ("qwen", "goose"))


def test_roo_and_kilo_keep_tasks_like_cline_with_costs_beside_them(tmp_path: Path) -> None:
    folder = tmp_path / "rooveterinaryinc.roo-cline" / "tasks" / "t1"
    folder.mkdir(parents=True)
    read(folder, "cline text")
    spent = json.dumps({"tokensIn": 5, "tokensOut": 2, "cacheReads": 1, "cost": 0.25})
    shown = [{"ts": more_agents.AT, "type": "say", "say": "api_req_started", "text": spent}]
    (folder / "ui_messages.json").write_text(json.dumps(shown))
    (folder / "history_item.json").write_text('{"parentTaskId": "t0", "workspace": "/home/mira/other"}')
    (session,) = read_path(folder / "api_conversation_history.json")
    assert (str(session.ref), str(session.parent), session.relation) == ("roo:t1", "roo:t0", "subagent")
    assert (session.usage, session.cost_usd) == (Usage(input=5, output=2, cache_read=1), 0.25)
    assert session.cwd == "/home/mira/other"
    assert recognise(folder / "ui_messages.json") is None


def test_the_markdown_of_aider_has_what_was_said_and_edits_with_what_became_of_them(tmp_path: Path) -> None:
    path = tmp_path / ".aider.chat.history.md"
    path.write_text(more_agents.AIDER)
    assert [found.path for found in candidates([tmp_path])] == [str(path)]
    first, second = read_path(path)
    assert recognise(path) == "aider"
    assert (first.cwd, first.model, first.cost_usd) == (str(tmp_path), "m1", 0.25)
    assert [message.text for message in first.messages if message.role == "user"] == [
        "Fix the till.\nAnd the shop.",
        "Once more.",
    ]
    made = [(call.arguments["path"], call.arguments["old_string"]) for call in first.calls()]
    assert made == [("till.py", "a = 1\n"), ("till.py", "b = 1\n")]
    assert [call.result and call.result.marks for call in first.calls()] == [OK, NO]
    assert [message.text for message in second.messages] == ["Hello."]
    cut = tmp_path / "cut.md"
    for length in range(0, len(more_agents.AIDER), 97):
        cut.write_text("# aider chat started at 2026-05-01 10:00:00\n" + more_agents.AIDER[-length:])
        assert list(named("aider").read(cut))


def test_a_database_tells_which_sessions_have_changed(tmp_path: Path) -> None:
    for name, make in DATABASES.items():
        path = make(tmp_path / name)
        reader = named(name)
        before = reader.stamps(path)  # type: ignore[attr-defined]
        native = str(next(iter(read_path(path))).ref.native_id)
        assert native in before
        assert [one.ref.native_id for one in reader.read(path, {native})] == [native]  # type: ignore[call-arg]


def hermes_database(folder: Path) -> Path:
    made = HermesDb(folder / "state.db").session("s1").calls("s1", "c1").result("s1", "c1")
    made.db.close()
    return made.path


@settings(max_examples=2000 if TORTURE else 10, suppress_health_check=list(HealthCheck))
@given(
    name=st.sampled_from(["hermes_db", *DATABASES]),
    at=st.integers(100, 12_000),
    junk=st.binary(min_size=1, max_size=120),
)
def test_a_damaged_database_is_an_error_or_is_read(name: str, at: int, junk: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = hermes_database(Path(folder)) if name == "hermes_db" else DATABASES[name](Path(folder))
        data = bytearray(path.read_bytes())
        data[at : at + len(junk)] = junk
        path.write_bytes(data)
        try:
            sessions = list(named(name).read(path))
        except SourceError:
            return
        for session in sessions:
            assert all(isinstance(call.arguments, dict) for call in session.calls())
            assert all(message.text.encode() is not None for message in session.messages)


def test_homes_of_these_agents_are_found_where_they_are(tmp_path: Path) -> None:
    settings = tmp_path / "Library/Application Support/Code/User"
    places = [
        settings / "globalStorage/saoudrizwan.claude-dev/tasks",
        settings / "workspaceStorage/w1/chatSessions",
        tmp_path / ".config/Cursor/User/globalStorage",
        tmp_path / ".qwen/projects",
    ]
    for place in places:
        place.mkdir(parents=True)
    database = more_agents.cursor_database(places[2])
    nowhere = tmp_path / "nowhere"
    names = "hermes_home claude_config_dir codex_home gemini_home copilot_home opencode_home pi_home cursor_home"
    places_of = dict.fromkeys(names.split(), nowhere) | {"qwen_home": tmp_path / ".qwen", "agents_home": tmp_path}
    config = Config(home=tmp_path, **places_of)
    assert sorted(discover(config)) == sorted([places[0], places[1], database, places[3]])
