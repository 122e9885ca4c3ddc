"""`seasoned review`: any session of any agent, looked back on; and the ledger of reviews."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.run import answer, seasoned
from tests.review.scripted import answer as proposed
from tests.review.scripted import note, skill
from tests.scripted_model import Step, serve_script

CLAUDE = "40904d81"
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "SEASONED_MODEL", "SEASONED_BASE_URL")


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)


def reviewed(home: Path, samples: Path, *steps: Step, more: str = "", expect: int = 0) -> Any:
    """A review by a model that plays a script, and the server that heard it."""
    (home / ".seasoned").mkdir(exist_ok=True)
    with serve_script(*steps) as server:
        (home / ".seasoned/config.toml").write_text(f'model = "scripted"\nbase_url = "{server.base_url}"\n{more}')
        if expect:
            return seasoned("review", CLAUDE, samples, expect=expect), server
        return answer("review", CLAUDE, samples), server


def test_a_session_of_another_agent_is_reviewed_and_its_lesson_kept(home: Path, samples: Path) -> None:
    keep = proposed(
        note("Mira wants tests first.", "user"),
        skill("mend-tests", scope="everywhere"),
        said="Kept two things; `mend-tests` overlaps with nothing.",
    )
    done, server = reviewed(home, samples, keep)
    assert (done["schema"], done["state"], done["context"]) == ("seasoned/review/1", "kept", "on demand")
    assert done["session"].startswith("claude-code:40904d81") and done["form"] == "digest"
    assert done["said"] == "Kept: memory +1; skill `mend-tests` created"
    assert done["requests"] == 1 and done["input_tokens"] > 0 and "pid" not in done
    asked = server.heard[0].json
    assert "tools" not in asked
    assert "## The last 24 messages" in asked["messages"][-1]["content"]
    assert (home / ".seasoned/memory/USER.md").read_text("utf-8") == "Mira wants tests first."
    (change,) = [one for one in answer("memory", "--history")["changes"] if one["kind"] == "memory"]
    assert (change["actor"], change["origin"], change["platform"]) == ("review", "review", "cli")
    assert change["session"] == done["ref"] and change["parent"] == done["session"]
    assert change["tool"] == "memory" and change["call_id"] and change["task"]
    ledger = answer("review", "--ledger")
    assert ledger["reviews"] == [{name: value for name, value in done.items() if name != "schema"}]
    assert (ledger["today"]["reviews"], ledger["today"]["per_day"]) == (1, 5)
    assert ledger["today"]["tokens"] == done["input_tokens"] + done["output_tokens"]
    shown = " ".join(seasoned("review", "--ledger").stdout.split())
    assert "1 review in the last seven days (" in shown and "kept memory +1; skill `mend-tests` created." in shown
    assert "Since then 0 sessions saw some of it, and 0 read a skill." in shown and "Kept: memory +1" in shown


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (None, "Claude Code is not installed: there is no 'claude' on the PATH."),
        (
            """echo '{"type": "result", "is_error": true, "result": "Invalid API key"}'; exit 1""",
            "Claude Code is not logged in (Invalid API key): run `claude` and /login.",
        ),
        (
            """echo '{"type": "result", "is_error": true, "result": "Usage limit reached"}'; exit 1""",
            "Claude Code has no quota left for now: Usage limit reached.",
        ),
        # A version that knows other options.
        ("echo \"error: unknown option '--json-schema'\" >&2; exit 1", "Claude Code failed: error: unknown option"),
        ("echo '{}'", "Claude Code failed: "),
    ],
)
def test_an_agent_that_cannot_review_is_one_sentence_also_in_doctor(
    home: Path, samples: Path, program: str | None, said: str
) -> None:
    if program is not None:
        (home / "claude").write_text(f"#!/bin/sh\n{program}\n")
        (home / "claude").chmod(0o755)
    done = seasoned("review", CLAUDE, samples, PATH=f"{home}:/usr/bin:/bin", expect=3)
    assert done.stderr.startswith(f"The review failed: {said}") and done.stderr.count("\n") == 1
    assert [one["state"] for one in answer("review", "--ledger")["reviews"]] == ["failed"]
    checks = answer("doctor", expect=1)["checks"]
    assert [one["finding"] for one in checks if one["name"] == "reviews"] == [done.stderr.strip()]
    assert not (home / ".seasoned" / "memory").exists()


def test_reviews_that_are_off_name_what_to_do(home: Path, samples: Path) -> None:
    (home / ".seasoned").mkdir()
    (home / ".seasoned/config.toml").write_text('review_agent = "off"\n')
    assert "Name an agent with --agent" in seasoned("review", CLAUDE, samples, expect=3).stderr


def test_a_dry_run_shows_what_would_be_sent_and_writes_nothing(home: Path, samples: Path) -> None:
    plan = answer("review", CLAUDE, samples, "--dry-run", "--agent", "model")
    assert plan["schema"] == "seasoned/review-plan/1" and plan["model"] is None
    assert plan["problem"].startswith("No model is configured")
    assert plan["bytes"] == len(plan["text"].encode()) and 0 < plan["tokens"] < plan["bytes"]
    assert "# Looking back on a session" in plan["text"] and plan["whole_messages"] == 24 < plan["messages"]
    assert plan["memory_folder"] == str(home / ".seasoned/memory") and plan["staging"] is False
    assert plan["project_folder"].startswith(str(home / ".seasoned/projects/waypost-"))
    head = plan["text"].partition("# The session\n")[2].partition("## ")[0]
    assert f"| project: {plan['project']}" in head and "| folder: /" in head, "the digest says where it happened"
    assert "writes: memory in" in seasoned("review", CLAUDE, samples, "--dry-run").stdout
    assert not (home / ".seasoned").exists()
