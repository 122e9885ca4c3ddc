"""The agent's own tool for jobs: a person allows each change, and it can reach only what was configured."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from seasoned.app.scheduler import agent_jobs
from seasoned.config import load
from seasoned.redact.key import Secrecy, load_key
from seasoned.runner.model import ModelChoice
from seasoned.runner.runtime import Question
from seasoned.runner.start import ConversationOptions, start, toolset_names
from seasoned.runner.toolset.registry import danger_of
from seasoned.schedule.job_table import jobs
from seasoned.store import open_database
from seasoned.testing import Call, call, serve_script

ADD = call("schedule", action="add", name="tea", when="in 20m", prompt="Say that tea is ready.", delivery="telegram")


def talk(*calls: Call, allow: bool = True) -> tuple[list[str], list[Question]]:
    """A conversation that makes these calls; what came of each, and what a person was asked."""
    config = load()
    secrecy = Secrecy(load_key(config.home), config.redact)
    asked: list[Question] = []

    async def confirm(question: Question) -> bool:
        asked.append(question)
        return allow

    with serve_script(*calls, "Done.") as server:
        wish = ConversationOptions(
            choice=ModelChoice("scripted", server.base_url), folder=Path.home(), toolsets=("schedule",)
        )
        conversation = start(config, secrecy, wish, confirm=confirm, jobs=agent_jobs(config, secrecy))
        asyncio.run(conversation.turn("Remind me."))
        conversation.close()
        sent = server.heard[-1].json["messages"]
    return [message["content"] for message in sent if message["role"] == "tool"], asked


def stored() -> list[Any]:
    database = open_database(load())
    try:
        return [one.job for one in jobs(database)]
    finally:
        database.close()


def test_a_job_is_added_when_a_person_allows_it() -> None:
    (result,), (question,) = talk(ADD)
    assert '"success":true' in result.replace(" ", "")
    assert "by themselves" in question.reason
    (job,) = stored()
    assert (job.name, job.delivery, job.script, job.allow_terminal) == ("tea", ("telegram",), None, False)
    assert 1100 < job.schedule.time - time.time() < 1300


def test_nothing_is_added_when_nobody_allows_it() -> None:
    talk(ADD, allow=False)
    assert stored() == []


def test_looking_and_pausing_need_no_permission_but_resuming_and_removing_do() -> None:
    results, asked = talk(
        ADD,
        call("schedule", action="list"),
        call("schedule", action="pause", name="tea"),
        call("schedule", action="history", name="tea"),
        call("schedule", action="resume", name="tea"),
        call("schedule", action="remove", name="tea"),
    )
    assert [question.arguments["action"] for question in asked] == ["add", "resume", "remove"]
    assert "Say that tea is ready." in results[1]
    assert '"paused"' in results[2]
    assert stored() == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"name": "x", "when": "soon", "prompt": "P."}, "is not a valid schedule"),
        ({"name": "x", "when": "every 1h"}, "needs `when` and `prompt`"),
        ({"when": "every 1h", "prompt": "P."}, "needs the name"),
        ({"name": "x", "when": "every 1h", "prompt": "P.", "zone": "Mars/Base"}, "unknown time zone"),
        ({"name": "x", "when": "every 1h", "prompt": "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"}, "secret"),
    ],
)
def test_what_is_wrong_is_told_to_the_agent(arguments: dict[str, str], said: str) -> None:
    (result,), _ = talk(call("schedule", action="add", **arguments))
    assert said in result
    assert stored() == []


def test_answers_go_only_where_a_person_has_configured() -> None:
    (result,), _ = talk(
        call("schedule", action="add", name="x", when="every 1h", prompt="P.", delivery="file:/home/me/.bashrc")
    )
    assert stored() == []
    assert "delivery" in result


def test_the_tool_is_offered_only_where_jobs_can_be_kept() -> None:
    config = load()
    wish = ConversationOptions(choice=ModelChoice("scripted", "http://127.0.0.1:1/v1"), folder=Path.home())
    assert "schedule" not in toolset_names(config, wish)
    journal = agent_jobs(config, Secrecy(load_key(config.home), config.redact))
    assert "schedule" in toolset_names(config, wish, None, journal)


def test_an_unknown_action_is_asked_about() -> None:
    assert danger_of("schedule", {"action": "list"}, Path()) is None
    assert danger_of("schedule", {"action": "else"}, Path()) is not None
    assert danger_of("schedule", {}, Path()) is not None
