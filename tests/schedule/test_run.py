"""One run from claim to outcome, every path of it, with real scripts and a model that plays a script."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from seasoned.config import Config, Route
from seasoned.errors import UsageError
from seasoned.runner.model import ModelChoice, detect_window, provider_of
from seasoned.schedule.job import Job, JobRun
from seasoned.schedule.run import find_route, window_objection
from tests.cli.run import seasoned
from tests.each_case import each_case
from tests.schedule.made import START, job
from tests.schedule.places import Beat, config_at_home, run_job, script, serve_web
from tests.scripted_model import Answer, ScriptedServer, serve_script


def home_with(server: ScriptedServer, **settings: Any) -> Config:
    return config_at_home(**{"base_url": server.base_url, "model": "scripted", **settings})


def played(one: Job, *steps: Any, **settings: Any) -> tuple[JobRun, ScriptedServer]:
    with serve_script(*steps) as server:
        return run_job(one, home_with(server, **settings)), server


def test_an_answer_is_ok_with_all_that_is_known_of_it() -> None:
    record, server = played(job(), Answer("Hello.", input_tokens=1200, output_tokens=7))
    assert (record.outcome, record.output, record.fault, record.reason) == ("ok", "Hello.", "", "")
    assert (record.tokens_in, record.tokens_out) == (1200, 7)
    assert (record.model, record.delivery) == ("scripted", "pending")
    assert record.provider == server.base_url.removeprefix("http://").removesuffix("/v1")
    assert record.started_at is not None
    assert record.ended_at is not None
    assert record.session == f"cron_j1_{int(START)}"


@each_case(("answer", "outcome"), [("[SILENT]", "silent"), ("", "empty"), ("  \n", "empty")])
def test_silence_is_not_delivered_and_an_empty_answer_is_not_ok(answer: str, outcome: str) -> None:
    # An agent that says nothing at all is asked again by the library, and says nothing again.
    record, _ = played(job(), *[answer] * 5)
    assert record.outcome == outcome
    assert record.delivery == ("none" if outcome == "silent" else "pending")


@each_case("text", ["", "echo checked; echo '[SILENT]'", "echo w >&2"])
def test_a_script_with_nothing_to_do_ends_the_run_before_a_token_is_spent(text: str) -> None:
    record, server = played(job(script=script(text or ":")))
    assert server.heard == []
    assert (record.outcome, record.delivery, record.tokens_in) == ("silent", "none", None)
    assert record.note == "The script found nothing to do."


@each_case("answer", ["All is well.", "[SILENT]", "[SCRIPT_FAILED] no disk"])
def test_a_failed_script_is_a_failed_run_whatever_the_agent_says(answer: str) -> None:
    record, server = played(job(script=script("echo no disk >&2; exit 2")), answer)
    assert "## Script error" in server.heard[0].json["messages"][-1]["content"]
    assert (record.outcome, record.fault, record.delivery) == ("failed", "script", "pending")
    assert record.reason == "The script 'gate.sh' ended with exit code 2."
    assert record.script_output == "no disk"


def test_a_job_without_a_prompt_is_its_script() -> None:
    for text, outcome, output in (
        ("echo 3 commits", "ok", "3 commits"),
        (":", "silent", ""),
        ("echo half; exit 1", "failed", "half"),
        ("echo '[SCRIPT_FAILED] no disk'", "failed", "no disk"),
    ):
        record, server = played(job(prompt="", script=script(text)))
        assert (record.outcome, record.output, record.model) == (outcome, output, None)
        assert server.heard == []


def test_a_script_that_overruns_its_time_is_a_time_out() -> None:
    record, server = played(job(script=script("sleep 60"), timeout_seconds=1))
    assert (record.outcome, record.fault, server.heard) == ("failed", "timeout", [])


def test_an_agent_that_overruns_the_time_of_the_job_is_a_time_out() -> None:
    record, _ = played(job(timeout_seconds=1), Answer("Too late.", wait_seconds=4.0))
    assert (record.outcome, record.fault, record.delivery) == ("failed", "timeout", "pending")
    assert "did not end within 1 s" in record.reason


def test_a_model_that_refuses_is_a_failed_agent() -> None:
    record, _ = played(job(), ValueError("out of order"))
    assert (record.outcome, record.fault) == ("failed", "agent")
    assert "out of order" in record.reason


def test_a_job_starts_no_agent_once_the_budget_of_the_day_is_used_up() -> None:
    usage = {"input_tokens": 10_000, "output_tokens": 1000}
    at = datetime.now(UTC).isoformat()
    message = {"id": "m1", "role": "assistant", "model": "claude-sonnet-4-5", "content": "Done.", "usage": usage}
    spent = {"type": "assistant", "sessionId": "s1", "uuid": "u1", "cwd": "/srv", "timestamp": at, "message": message}
    file = Path(os.environ["HOME"]) / "s1.jsonl"
    file.write_text(json.dumps(spent) + "\n")
    for budget, outcome in ((0.01, "failed"), (100.0, "ok")):
        with serve_script("Hello.") as server:
            config = home_with(server, budget_usd_per_day=budget)
            seasoned("scan", file), seasoned("usage")
            record = run_job(job(), config)
            assert (record.outcome, len(server.heard)) == (outcome, outcome == "ok")
        assert ("Budget of this day: $0.0" in record.reason) == (outcome == "failed"), record.reason


def test_without_a_model_the_failure_says_what_is_missing() -> None:
    record = run_job(job(model="anthropic:x"), config_at_home())
    assert (record.outcome, record.fault, record.delivery) == ("failed", "agent", "pending")
    assert "ANTHROPIC_API_KEY" in record.reason


def test_a_run_that_is_called_off_sends_nothing_and_is_unknown() -> None:
    beat = Beat()
    beat.is_wanted = False
    with serve_script("Hello.") as server:
        record = run_job(job(), home_with(server), beat=beat)
        assert server.heard == []
    assert (record.outcome, record.delivery) == ("unknown", "pending")


def test_a_run_that_is_called_off_in_the_middle_is_broken_off() -> None:
    class UntilHeard(Beat):
        def __call__(self) -> bool:
            return not server.heard

    with serve_script(Answer("Late.", wait_seconds=3.0)) as server:
        record = run_job(job(), home_with(server), beat=UntilHeard())
        assert len(server.heard) == 1
    assert (record.outcome, record.output) == ("unknown", "")


def test_a_missing_skill_is_named_in_the_prompt_and_in_the_history() -> None:
    with serve_script("Hello.") as server:
        config = home_with(server)
        (config.skill_folder / "notes").mkdir(parents=True)
        (config.skill_folder / "notes" / "SKILL.md").write_text(
            "---\nname: notes\ndescription: N.\n---\nOne line each.\n"
        )
        record = run_job(job(skills=("notes", "charts")), config)
        sent = server.heard[0].json["messages"][-1]["content"]
    assert "## Skill: notes" in sent
    assert "One line each." in sent
    assert "## Missing skill: charts" in sent
    assert "The skill 'charts' was missing" in record.note
    assert record.outcome == "ok"


def test_a_scheduled_run_has_no_tool_to_act_schedule_ask_or_send() -> None:
    _, server = played(job(), "Hello.", confirm_url="http://127.0.0.1:1")
    names = {tool["function"]["name"] for tool in server.heard[0].json.get("tools", ())}
    assert not names & {"terminal", "execute_code", "schedule", "request_confirmation", "confirmation_status"}


def test_a_folder_that_is_gone_is_said(tmp_path: Path) -> None:
    record, _ = played(job(folder=str(tmp_path / "gone")), "Done.")
    assert (record.outcome, record.fault) == ("failed", "agent")
    assert "is gone" in record.reason


def test_secrets_are_redacted_before_they_reach_the_history() -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    record, _ = played(job(script=script(f"echo token {key}")), f"The token is {key}.")
    assert key not in record.output + record.script_output
    assert "[redacted:" in record.output
    assert "[redacted:" in record.script_output


def test_texts_of_the_history_fit_into_every_store() -> None:
    record, _ = played(job(prompt="", script=script("printf 'a\\000b\\377c'")))
    assert record.output == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}c"


def test_the_first_route_that_fits_is_taken() -> None:
    routes = [Route(model="a", words=("summary",)), Route(model="b", words=("mail", "summary")), Route(model="c")]
    assert [find_route(routes, words) for words in ("A Summary.", "my mail", "else")] == routes
    assert find_route(routes[:2], "summaries of mailings") is None
    assert find_route([], "summary") is None


def test_all_conditions_of_a_route_must_hold() -> None:
    route = Route(model="m", words=("code",), longer_than=10, shorter_than=30)
    assert find_route([route], "look at code, please") is route
    assert find_route([route], "code") is None
    assert find_route([route], "code " * 10) is None


def test_routing_sees_only_the_words_of_the_job() -> None:
    """Wrapper, script output and skills hold these words too, and must not count."""
    with serve_script("Hello.") as server:
        routes = [
            {"words": ["SILENT", "delivery", "provider", "deploy"], "model": "wrong"},
            {"longer_than": 100, "model": "wrong"},
            {"words": ["weather"], "model": "right", "base_url": server.base_url},
        ]
        config = config_at_home(base_url=server.base_url, routes=routes)
        record = run_job(job(prompt="The weather?", script=script("echo deploy; echo delivery")), config)
        (heard,) = server.heard
    assert (record.outcome, record.model) == ("ok", "right")
    assert heard.json["model"] == "right"
    assert "You run on the model right" in heard.body.decode()
    assert "Routed to 'right'." in record.note


def test_a_job_that_names_its_model_is_not_routed() -> None:
    with serve_script("Hello.") as server:
        config = config_at_home(base_url=server.base_url, routes=[{"model": "other"}])
        record = run_job(job(model="mine"), config)
    assert (record.model, record.note) == ("mine", "")


@pytest.mark.parametrize("route", [{"words": ["x"]}, {"model": "m", "wrods": ["x"]}, {"model": 3}])
def test_a_wrong_route_is_an_error_that_says_so(route: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="route"):
        config_at_home(routes=[route])


def refused(tokens: int | None, *, configured: int | None = None) -> str | None:
    return window_objection("small", configured=configured, detect=lambda: tokens, least=64_000)


def _broken() -> int | None:
    raise RuntimeError("nobody knows")


def test_the_job_comes_before_the_configuration_and_that_before_detection() -> None:
    assert refused(64_000, configured=2) is not None and refused(63_999) is not None
    assert refused(1, configured=64_000) is None
    assert refused(64_000) is None
    assert refused(None) is None
    assert window_objection("m", configured=None, detect=_broken, least=64_000) is None


def test_a_model_below_the_limit_is_refused_before_any_request_leaves() -> None:
    with serve_script("Hello.") as server:
        record = run_job(job(), config_at_home(base_url=server.base_url, model="scripted", context_length=32_000))
        assert server.heard == []
    assert (record.outcome, record.fault, record.delivery) == ("failed", "context", "pending")
    for part in ("'scripted'", "32,000", "64,000", "context_length", "--model", "schedule_min_context"):
        assert part in record.reason
    assert record.session is None


def test_a_server_that_tells_its_window_is_believed() -> None:
    listed = {"data": [{"id": "other", "max_model_len": 1}, {"id": "tiny", "meta": {"n_ctx_train": 4096}}]}
    with serve_web(lambda path: listed) as web:
        assert detect_window(ModelChoice("tiny", f"{web.url}/v1")) == 4096
        record = run_job(job(), config_at_home(base_url=f"{web.url}/v1", model="tiny"))
        assert {path for path, _, _ in web.heard} == {"/v1/models"}
    assert (record.fault, "4,096" in record.reason) == ("context", True)


@each_case("answer", [[], {"data": 3}, {"data": [{"id": "m", "context_length": True}]}, {"data": [7]}])
def test_a_server_that_tells_nothing_useful_leaves_the_window_unknown(answer: Any) -> None:
    with serve_web(lambda path: answer) as web:
        assert detect_window(ModelChoice("m", f"{web.url}/v1")) is None


def test_a_provider_is_named_without_credentials() -> None:
    assert provider_of(ModelChoice("openai:x")) == "openai"
    assert provider_of(ModelChoice("x", "https://user:hush@api.example.com/v1")) == "api.example.com"
