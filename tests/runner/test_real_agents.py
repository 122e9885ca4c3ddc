"""The real agents, asked by us with a scripted model in place of their login, where there is no network."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from seasoned.lesson.rule import rules_of
from seasoned.store import open_store
from tests.conftest import ROOT
from tests.real_clients import run_alone
from tests.runner.drive import KEPT, PROJECT, RULE
from tests.runner.users import programs

AGENTS = ("claude-code", "codex", "opencode", "qwen", "hermes")
# What agents write beside sessions and settings: logs, caches, and databases of their state.
STATE = {
    "claude-code": (".claude.json", ".claude/backups/", ".claude/plugins/"),
    "codex": (".codex/logs", ".codex/tmp/", ".codex/goals", ".codex/memories_", ".codex/queue", ".codex/state_"),
    "opencode": (".local/share/opencode/log/", ".local/state/", ".local/share/opencode/snapshot/", ".npm/", ".cache/"),
    "qwen": (".qwen/usage_record.jsonl", ".qwen/.openai-logs"),
    "hermes": (".hermes/logs/", ".hermes/sessions/request_dump"),
}
TITLES = {"claude-code": "Claude Code", "codex": "Codex"}
OUTCOMES = (("ok", "Three files changed."), ("silent", ""), ("failed", "No network."))
Found = dict[str, Any]


@pytest.fixture(scope="module", params=[AGENTS[:4], AGENTS[4:]], ids=["four", "hermes"])
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Found]]:
    """What each agent did, in its own home."""
    folder = tmp_path_factory.mktemp("users")
    programs(folder / "bin", request.param)
    # With our libraries, but without anything of this user.
    ran = run_alone(
        [sys.executable, "-m", "tests.runner.drive", folder, *request.param],
        env={"HOME": str(folder), "PYTHONPATH": str(ROOT)},
        cwd=folder,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return folder, json.loads(ran.stdout)


def test_an_agent_answers_in_the_form_that_was_asked_for_without_tools_and_leaves_no_session(
    played: tuple[Path, dict[str, Found]],
) -> None:
    for agent, found in played[1].items():
        done, (asked, *others) = found["asked"]["run"], found["asked"]["asked"]
        assert (done["data"], done["stopped_by"]) == ({"notes": ["second"]}, None), agent
        assert done["usage"]["input"] == 100 and done["usage"]["output"] == 10, agent
        assert others == [] and asked["bytes"] < 10_000, f"{agent}: one request without the agent's own instructions"
        # Of Claude Code and Qwen the form is a tool; Codex has two that it cannot be told to leave out.
        assert asked["tools"] <= 2, agent
        assert "marmalade" not in asked["text"], f"{agent}: nothing of the project is sent"
        left = [name for name in found["asked"]["changed"] if not name.startswith(STATE[agent])]
        assert left == [], agent
        assert not any(name.startswith("work/") for name in found["asked"]["changed"]), agent


def test_a_job_runs_with_the_agents_own_tools_but_the_terminal_and_its_outcome_is_judged(
    played: tuple[Path, dict[str, Found]],
) -> None:
    for agent, found in played[1].items():
        for job, (outcome, text) in zip(found.get("jobs", ()), OUTCOMES, strict=False):
            run = job["run"]
            assert (run["outcome"], run["output"], run["provider"]) == (outcome, text, TITLES[agent]), run
            assert run["session"].startswith(f"{agent}:") and run["tokens_in"] == 100
            said = job["asked"][0]["text"]
            assert "marmalade" in said, f"{agent}: it knows its project"
            assert "What changed?" in said and TITLES[agent] in said
            assert not any(tool in job["asked"][0]["offered"] for tool in ("Bash", "exec_command", "CronCreate"))


def test_a_login_that_is_refused_is_one_sentence(played: tuple[Path, dict[str, Found]]) -> None:
    for agent, found in played[1].items():
        if "refused" not in found:
            continue
        done = found["refused"]["run"]
        assert (done["stopped_by"], done["data"]) == ("login", None), agent
        assert " is not logged in (" in done["reason"] and done["reason"].count("\n") == 0, agent


def test_a_review_by_the_same_agent_keeps_a_note_a_skill_and_a_rule_in_the_project_alone(
    played: tuple[Path, dict[str, Found]],
) -> None:
    folder, all_found = played
    for agent, found in all_found.items():
        learned = found["learned"]
        review, (asked,) = learned["review"], learned["asked"]
        assert review["said"] == f"Kept: memory +1; skill `{KEPT[1]}` created; 1 rule", agent
        assert (review["state"], review["requests"], review["input_tokens"]) == ("kept", 1, 100), agent
        assert "## The last 2 messages" in asked["text"] and asked["bytes"] < 25_000, agent
        kept = {name for name, text in learned["kept"].items() if KEPT[0] in text or KEPT[1] in text}
        assert len(kept) == 2 and all(name.startswith("projects/depot-") for name in kept), agent
        with open_store(folder / agent / ".seasoned" / "seasoned.db") as store:
            assert [(one.text, one.state) for one in rules_of(store, PROJECT)] == [(RULE, "shown")]
            assert rules_of(store, "github.com/mira/other") == ()
