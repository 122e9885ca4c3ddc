"""The real agents, asked by us with a scripted model in place of their login, where there is no network."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.hermes.installed import hermes_with_seasoned
from tests.real_clients import run_alone
from tests.runner import chain
from tests.runner.users import programs
from tests.torture import TORTURE

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
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Found]:
    """What each agent did, in its own home."""
    folder = tmp_path_factory.mktemp("users")
    return run_in_there("tests.runner.drive", folder, *request.param)


def run_in_there(module: str, folder: Path, *agents: str) -> dict[str, Found]:
    """What a program prints where there is no network, with our libraries and without anything of this user."""
    programs(folder / "bin", tuple(agent for agent in agents if agent in AGENTS))
    environment = {"HOME": str(folder), "PYTHONPATH": str(ROOT)}
    ran = run_alone([sys.executable, "-m", module, folder, *agents], env=environment, cwd=folder, timeout=900)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found: dict[str, Found] = json.loads(ran.stdout)
    return found


def test_an_agent_answers_in_the_form_that_was_asked_for_without_tools_and_leaves_no_session(
    played: dict[str, Found],
) -> None:
    for agent, found in played.items():
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
    played: dict[str, Found],
) -> None:
    for agent, found in played.items():
        for job, (outcome, text) in zip(found.get("jobs", ()), OUTCOMES, strict=False):
            run = job["run"]
            assert (run["outcome"], run["output"], run["provider"]) == (outcome, text, TITLES[agent]), run
            assert run["session"].startswith(f"{agent}:") and run["tokens_in"] == 100
            said = job["asked"][0]["text"]
            assert "marmalade" in said, f"{agent}: it knows its project"
            assert "What changed?" in said and TITLES[agent] in said
            assert not any(tool in job["asked"][0]["offered"] for tool in ("Bash", "exec_command", "CronCreate"))


def test_a_login_that_is_refused_is_one_sentence(played: dict[str, Found]) -> None:
    for agent, found in played.items():
        if "refused" not in found:
            continue
        done = found["refused"]["run"]
        assert (done["stopped_by"], done["data"]) == ("login", None), agent
        assert " is not logged in (" in done["reason"] and done["reason"].count("\n") == 0, agent


@pytest.mark.parametrize("agent", AGENTS if TORTURE else ("claude-code", "codex"))
def test_what_a_review_by_the_same_agent_kept_is_told_to_the_next_session_of_the_project_and_no_other(
    agent: str, tmp_path: Path
) -> None:
    if agent == "hermes":
        hermes_with_seasoned()
    found = run_in_there("tests.runner.chain", tmp_path, agent)[agent]
    reviews = [(one["state"], one["said"], one["requests"], one["input_tokens"]) for one in reversed(found["reviews"])]
    assert reviews[:2] == [
        ("kept", f"Kept: memory +1; skill `{chain.SKILL}` created; 1 rule", 1, 100),
        ("kept", f"Kept: skill `{chain.SKILL}` patched", 1, 100),
    ]
    assert [(state, requests) for state, _, requests, _ in reviews[2:]] == [("budget", 0)] * 2
    kept = f"memory +1; skill `{chain.SKILL}` created, patched; 1 rule"
    week = {"reviews": 2, "tokens": 220, "kept": kept, "shown": 2, "read": 0}
    assert {**found["week"], "cost_usd": 0} == {**week, "cost_usd": 0}
    reviewed = [found[name]["reviewed"] for name in chain.ASKS]
    assert [len(one) for one in reviewed] == [1, 1, 0, 0], "one request for each review"
    assert all(len(text) < 25_000 for one in reviewed for text in one)
    taught = (chain.NOTE, chain.RULE, chain.OLD, chain.NEW)
    told = {name: [words in "".join(found[name]["asked"]) for words in taught] for name in chain.ASKS}
    assert told == {
        "first": [False, False, False, False],
        "second": [True, True, True, False],
        "third": [True, True, False, True],
        "elsewhere": [False, False, False, False],
    }
    assert (found["changed"], found["status"]) == ([], ""), "settings of the agent and files of the project"
    assert len(found["sessions"]) == 4, "none of them is a review"


def test_a_review_that_is_killed_at_any_step_leaves_nothing_half_nothing_twice_and_no_process(tmp_path: Path) -> None:
    kills, agents = (20, ("claude-code", "codex")) if TORTURE else (3, ("codex",))
    for agent, found in run_in_there("tests.runner.killed", tmp_path, str(kills), *agents).items():
        assert found["left"] == [[]] * kills, agent
        assert found["problems"] == [[]] * kills, agent
        assert (found["notes"], found["skills"]) == ([chain.NOTE], [chain.SKILL]), found
        assert found["states"].count("kept") == 2 and "writing" not in found["states"], found["states"]
