"""A model that reads too little is refused before any request leaves; an unknown window stops no job."""

from __future__ import annotations

from typing import Any

from seasoned.runner.model import ModelChoice, detect_window, provider_of
from seasoned.schedule.run import window_objection
from tests.each_case import each_case
from tests.schedule.made import job
from tests.schedule.places import config_at_home, run_job, serve_web
from tests.scripted_model import serve_script


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


def test_the_message_says_what_to_change() -> None:
    said = refused(8_192) or ""
    for part in ("'small'", "8,192", "64,000", "context_length", "--model", "schedule_min_context"):
        assert part in said


def test_a_model_below_the_limit_is_refused_before_any_request_leaves() -> None:
    with serve_script("Hello.") as server:
        record = run_job(job(), config_at_home(base_url=server.base_url, model="scripted", context_length=32_000))
        assert server.heard == []
    assert (record.outcome, record.fault, record.delivery) == ("failed", "context", "pending")
    assert "schedule_min_context" in record.reason
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
