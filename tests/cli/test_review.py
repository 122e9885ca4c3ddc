"""`seasoned review`: any session of any agent, looked back on; and the ledger of reviews."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.run import answer, seasoned
from tests.review.scripted import STEPS
from tests.scripted_model import call, serve_script

CLAUDE = "40904d81"
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "SEASONED_MODEL", "SEASONED_BASE_URL")


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)


def test_a_session_of_another_agent_is_reviewed_and_its_lesson_kept(home: Path, samples: Path) -> None:
    keep = [
        call("memory", action="add", target="user", text="Mira wants tests first."),
        call("skill_manage", action="create", name="mend-tests", description="Mend failing tests.", content=STEPS),
    ]
    with serve_script(keep, "Kept two things; `mend-tests` overlaps with nothing.") as server:
        done = answer("review", CLAUDE, samples, "--model", "scripted", "--base-url", server.base_url)
    assert (done["schema"], done["state"], done["context"]) == ("seasoned/review/1", "kept", "on demand")
    assert done["session"].startswith("claude-code:40904d81") and done["form"] == "digest"
    assert done["said"] == "Kept: memory +1; skill `mend-tests` created"
    assert done["requests"] == 2 and done["input_tokens"] > 0 and "pid" not in done
    asked = server.heard[0].json
    assert [tool["function"]["name"] for tool in asked["tools"]] == [
        "memory",
        "skills_list",
        "skill_view",
        "skill_manage",
    ]
    assert "## The last 24 messages" in asked["messages"][-1]["content"]
    assert (home / ".seasoned/memory/USER.md").read_text("utf-8") == "Mira wants tests first."
    (change,) = answer("memory", "--history")["changes"]
    assert (change["actor"], change["origin"], change["platform"]) == ("review", "review", "cli")
    assert change["session"] == done["ref"] and change["parent"] == done["session"]
    assert change["tool"] == "memory" and change["call_id"] and change["task"]
    ledger = answer("review", "--ledger")
    assert ledger["reviews"] == [{name: value for name, value in done.items() if name != "schema"}]
    assert ledger["today"]["requests"] == 2
    assert ledger["today"]["tokens"] == done["input_tokens"] + done["output_tokens"]
    assert "Kept: memory +1" in seasoned("review", "--ledger").stdout.replace("\n", " ")


def test_writes_wait_where_that_is_asked(home: Path, samples: Path) -> None:
    with serve_script(call("memory", action="add", text="A fact."), "Proposed.") as server:
        done = answer("review", CLAUDE, samples, "--staging", "--model", "m", "--base-url", server.base_url)
    assert (done["kept"], done["staged"]) == (0, 1)
    assert not (home / ".seasoned/memory/MEMORY.md").exists()
    assert [one["state"] for one in answer("review", "--staged")["changes"]] == ["staged"]


def test_what_repeats_a_result_is_listed_with_its_source_and_decided(home: Path, samples: Path) -> None:
    plan = answer("review", CLAUDE, samples, "--dry-run", "--model", "m", "--base-url", "http://127.0.0.1:9")
    assert plan["page"] is None
    copied = next(line for line in plan["text"].splitlines() if line.startswith("|foreign| ") and line.count(" ") > 9)
    texts = (copied.removeprefix("|foreign| ").strip(), "Mira wants tests first.")
    keep = [call("memory", action="add", text=text) for text in texts]
    with serve_script(keep, "Proposed.") as server:
        done = answer("review", CLAUDE, samples, "--model", "m", "--base-url", server.base_url)
    assert (done["kept"], done["staged"]) == (1, 1)
    (one,) = answer("review", "--staged")["changes"]
    assert (one["reason"], one["parent"]) == ("foreign", done["session"]) and one["foreign_call"]
    shown = seasoned("review", "--staged").stdout
    assert f"session: {done['session']}" in shown and "staged because it repeats a result or a page" in shown
    assert f"call: {one['foreign_tool']} ({one['foreign_call']})" in shown and "foreign text: " in shown
    both = seasoned("review", "--accept", one["id"], "--drop", one["id"], expect=2)
    assert "choose one" in both.stderr
    (decided,) = answer("review", "--accept", one["id"])["changes"]
    assert decided["ok"] and decided["state"] == "kept"
    assert seasoned("review", "--staged").stdout == "No staged changes.\n"
    assert "is not pending" in seasoned("review", "--drop", one["id"], expect=1).stderr


def test_without_a_model_it_says_in_one_sentence_what_to_do(home: Path, samples: Path) -> None:
    said = seasoned("review", CLAUDE, samples, expect=3).stderr
    assert said.startswith("seasoned: No model is configured: ") and said.count("\n") == 1
    assert not (home / ".seasoned").exists()


def test_a_dry_run_shows_what_would_be_sent_and_writes_nothing(home: Path, samples: Path) -> None:
    plan = answer("review", CLAUDE, samples, "--dry-run", "--topic", "skills", "--staging")
    assert plan["schema"] == "seasoned/review-plan/1" and plan["model"] is None
    assert plan["problem"].startswith("No model is configured")
    assert plan["bytes"] == len(plan["text"].encode()) and 0 < plan["tokens"] < plan["bytes"]
    assert "# Review: skills" in plan["text"] and plan["whole_messages"] == 24 < plan["messages"]
    assert plan["memory_folder"] == str(home / ".seasoned/memory") and plan["staging"] is True
    assert plan["project_folder"].startswith(str(home / ".seasoned/projects/waypost-"))
    head = plan["text"].partition("## ")[0]
    assert f"| project: {plan['project']}" in head and "| folder: /" in head, "the digest says where it happened"
    assert "writes: memory in" in seasoned("review", CLAUDE, samples, "--dry-run").stdout
    assert not (home / ".seasoned").exists()


def test_a_model_that_fails_ends_with_a_reason(samples: Path) -> None:
    with serve_script(*[RuntimeError("out of order")] * 9) as server:
        done = seasoned("review", CLAUDE, samples, "--model", "m", "--base-url", server.base_url, expect=3)
    assert done.stderr.startswith("The review failed: ") and "out of order" in done.stderr
    assert [one["state"] for one in answer("review", "--ledger")["reviews"]] == ["failed"]


@pytest.mark.parametrize("session", ["codex", "hermes"])
def test_sessions_of_every_agent_can_be_meant(samples: Path, session: str) -> None:
    listed = answer("sessions", samples / session)["sessions"]
    assert listed
    plan = answer("review", listed[0]["session_id"], samples / session, "--dry-run")
    assert plan["session"].startswith(f"{session}:")
