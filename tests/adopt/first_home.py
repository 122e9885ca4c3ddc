"""Writes a folder as the first version left it: good and failing calls, jobs, scripts, skills, memory, an audit."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from tests.schedule.test_hermes_jobs import entry

# Results that show a failure, or nothing at all, in examples that their file calls successes.
FAILING: dict[str, tuple[str, dict[str, Any], str]] = {
    "status": ("execute_code", {"code": "import nosuchmod"}, '{"status":"error","error":"ModuleNotFoundError: x"}'),
    "wording": ("terminal", {"command": "cat /etc/nope"}, "cat: /etc/nope: No such file or directory"),
    "exit code": ("terminal", {"command": "make broken"}, '{"output": "*** Error 2", "exit_code": 2, "error": null}'),
    "cut": ("execute_code", {"code": "import cutmod"}, '{"status": "error", "output": "Traceback (most recent'),
}
PLACEHOLDER = ("crm_note", {"customer": "C-100200", "note": "called"}, "[result from successful session]")
GOOD: list[tuple[str, dict[str, Any], str]] = [
    ("terminal", {"command": "uv run pytest -q"}, '{"output": "12 passed in 0.31s", "exit_code": 0, "error": null}'),
    ("crm_lookup", {"customer": "C-100200", "scope": "open"}, '{"success": true, "open": 2}'),
    ("read_file", {"path": "src/app.py"}, '{"content": "x = 1", "total_lines": 1}'),
]
NOTES = "The staging host is called blue.\n§\nTests run with uv.\n"
SECRET = "ghp_" + "Zk3qV9xTn1Lw7RbY0sPd5HfM2uJc8GaE4iOq"
USER = "Prefers short answers."
SKILL = "---\nname: {name}\ndescription: {name} in three steps.\n---\n\n1. Look.\n2. Write.\n3. Check.\n"


def write_first_home(folder: Path) -> Path:
    """Everything of the first version, below this folder."""
    calls = [*GOOD, *FAILING.values(), PLACEHOLDER]
    _write(folder / "warm_sessions" / "code.json", json.dumps(_warm_v1("code", calls)))
    _write(folder / "warm_sessions" / "research.json", json.dumps(_warm_v2("research", calls)))
    _write(folder / "warm_sessions" / "only-failures.json", json.dumps(_warm_v1("bad", [*FAILING.values()])))
    _write(folder / "warm_sessions" / "broken.json", "{")
    _write(folder / "session-templates" / "code.json", json.dumps(_session_template("code", calls)))
    _jobs(folder)
    _write(folder / "memories" / "MEMORY.md", NOTES)
    _write(folder / "memories" / "USER.md", USER)
    _write(folder / "skills" / "release" / "SKILL.md", SKILL.format(name="release"))
    _write(folder / "skills" / "release" / "references" / "style.md", "Newest first.\n")
    _write(folder / "skills" / "ops" / "restart" / "SKILL.md", SKILL.format(name="restart"))
    _write(folder / "skills" / "bundled-one" / "SKILL.md", SKILL.format(name="bundled-one"))
    _write(folder / "skills" / ".bundled_manifest", "bundled-one:0123\n")
    _audit(folder / "confirmation_audit.db")
    return folder


def _warm_v1(name: str, calls: list[tuple[str, dict[str, Any], str]]) -> dict[str, Any]:
    fields = ("tool_name", "arguments", "result_summary")
    examples = [{**dict(zip(fields, one, strict=True)), "result_success": True, "context_hint": ""} for one in calls]
    return {
        "name": name,
        "description": "Auto-generated from 4 sessions",
        "examples": examples,
        "system_prompt_addendum": "",
        "tags": ["python"],
        "source_session_ids": ["20261001_101010_aaaaaa", "20261002_101010_bbbbbb"],
        "created_at": "2026-10-03T10:00:00",
        "version": 1,
    }


def _warm_v2(name: str, calls: list[tuple[str, dict[str, Any], str]]) -> dict[str, Any]:
    plain = _warm_v1(name, [])
    patterns = [
        {
            "tool_name": tool,
            "arguments": arguments,
            "result_summary": result,
            "preceding_context": "Please look.",
            "pattern_type": "sequence",
            "success_count": 3,
            "session_types": ["research"],
        }
        for tool, arguments, result in calls
    ]
    del plain["examples"]
    return {**plain, "patterns": patterns, "version": 2, "metrics": {"sessions_scanned": 4}}


def _session_template(name: str, calls: list[tuple[str, dict[str, Any], str]]) -> dict[str, Any]:
    examples = [
        {"tool_name": tool, "arguments": arguments, "result": result, "success": True, "turn_number": at}
        for at, (tool, arguments, result) in enumerate(calls)
    ]
    return {
        "name": name,
        "task_type": "code",
        "examples": examples,
        "description": "",
        "created_at": 1_790_000_000.0,
        "usage_count": 5,
        "source_session_id": "20261001_101010_aaaaaa",
        "tags": [],
    }


def _jobs(folder: Path) -> None:
    jobs = [
        entry(id="aaaaaaaaaaaa", name="report", script="report.sh", skills=["release", "bundled-one"]),
        entry(id="bbbbbbbbbbbb", name="check", script=str(folder / "scripts" / "sub" / "check.py"), no_agent=True),
        entry(id="cccccccccccc", name="paused", enabled=False, state="paused"),
        entry(id="dddddddddddd", name="done", state="completed"),
        entry(id="eeeeeeeeeeee", name="elsewhere", script="/opt/other.sh"),
    ]
    _write(folder / "cron" / "jobs.json", json.dumps({"jobs": jobs}))
    _write(folder / "scripts" / "report.sh", "#!/bin/sh\necho report\n")
    (folder / "scripts" / "report.sh").chmod(0o755)
    _write(folder / "scripts" / "sub" / "check.py", "print('ok')\n")


def _audit(file: Path) -> None:
    details = json.dumps({"token": SECRET})
    rows = [
        ("r1", "deploy_production", "Deploy the shop", details, "approved", 1_790_000_000.0),
        ("r2", "delete_data", "Delete old logs", "{}", "denied", 1_790_000_100.0),
    ]
    database = sqlite3.connect(file)
    with database:
        database.execute(
            "CREATE TABLE confirmations (request_id TEXT PRIMARY KEY, action TEXT, description TEXT, details TEXT,"
            " status TEXT, created_at REAL, requester TEXT, resolved_by TEXT, resolved_at REAL, reason TEXT)"
        )
        database.executemany(
            "INSERT INTO confirmations VALUES (?, ?, ?, ?, ?, ?, 'timmy', 'anna', ?6 + 5, 'as planned')", rows
        )
    database.close()


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
