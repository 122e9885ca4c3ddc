"""Requests are told to a collector of OpenTelemetry where one is named, and counted for Prometheus."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from seasoned.gateway.accounting import make_key
from seasoned.gateway.telemetry import find_collector
from seasoned.store import open_store
from tests.each_case import each_case
from tests.gateway.running import config_in, run_gateway, settings_for, wait_until
from tests.gateway.upstream_server import Said, chat, chat_stream, message, serve_upstream

HELLO: Any = [{"role": "user", "content": "a word that nobody else says"}]
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Collector:
    """What a collector was sent."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.raw: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.status = 200

    @property
    def spans(self) -> list[dict[str, Any]]:
        return [
            span
            for raw in self.raw
            for resource in json.loads(raw)["resourceSpans"]
            for scope in resource["scopeSpans"]
            for span in scope["spans"]
        ]


@contextmanager
def serve_collector() -> Iterator[Collector]:
    class Taking(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path == "/v1/traces" and self.headers["Content-Type"] == "application/json":
                collector.raw.append(body)
                collector.headers.append({name.lower(): value for name, value in self.headers.items()})
            self.send_response(collector.status)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Taking)
    collector = Collector(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _facts(span: dict[str, Any]) -> dict[str, Any]:
    return {one["key"]: next(iter(one["value"].values())) for one in span["attributes"]}


def test_each_request_to_a_model_is_a_span_without_a_word_of_it(tmp_path: Path) -> None:
    config = config_in(tmp_path)
    script = (chat("secret answer"), chat_stream("secret", " answer"), message("secret answer"))
    with serve_upstream(*script) as upstream, serve_collector() as collector:
        environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_EXPORTER_OTLP_HEADERS": "x-tenant=a%20b"}
        with run_gateway(config, settings_for(config, upstream.url), **environment) as gateway:
            client = openai.OpenAI(base_url=f"{gateway.url}/v1", api_key="sk-own-key", max_retries=0)
            client.chat.completions.create(
                model="gpt-4o-mini", messages=HELLO, max_tokens=50, extra_headers={"traceparent": PARENT}
            )
            list(
                client.chat.completions.create(
                    model="gpt-4o-mini", messages=HELLO, stream=True, extra_headers={"x-session-id": "s1"}
                )
            )
            other = anthropic.Anthropic(base_url=gateway.url, api_key="sk-own-key", max_retries=0)
            other.messages.create(model="claude-sonnet-5", max_tokens=5, messages=HELLO)
        first, second, third = collector.spans
    assert (first["traceId"], first["parentSpanId"], first["kind"]) == (PARENT[3:35], PARENT[36:52], 3)
    assert first["name"] == "chat gpt-4o-mini"
    assert int(first["endTimeUnixNano"]) > int(first["startTimeUnixNano"])
    told = _facts(first)
    assert (told["gen_ai.usage.input_tokens"], told["gen_ai.usage.output_tokens"]) == ("120", "8")
    assert told["gen_ai.usage.cache_read.input_tokens"] == "100"
    assert (told["gen_ai.request.max_tokens"], told["gen_ai.response.model"]) == ("50", "gpt-4o-mini")
    assert told["gen_ai.response.finish_reasons"] == {"values": [{"stringValue": "stop"}]}
    assert told["server.address"] == "127.0.0.1"
    told = _facts(second)
    assert (told["gen_ai.conversation.id"], told["gen_ai.request.stream"]) == ("s1", True)
    assert 0 < told["gen_ai.response.time_to_first_chunk"] < 5
    assert "parentSpanId" not in second
    assert (len(second["traceId"]), len(second["spanId"])) == (32, 16)
    assert _facts(third)["gen_ai.provider.name"] == "anthropic"
    assert collector.headers[0]["x-tenant"] == "a b"
    for private in (b"nobody else says", b"secret", b"sk-own-key"):
        assert private not in b"".join(collector.raw)


def test_failures_are_told_and_what_is_not_sampled_is_not(tmp_path: Path) -> None:
    config = config_in(tmp_path)
    with serve_upstream(Said((b"{}",), status=429)) as upstream, serve_collector() as collector:
        with run_gateway(
            config, settings_for(config, upstream.url), OTEL_EXPORTER_OTLP_ENDPOINT=collector.url
        ) as gateway:
            for flags in ("01", "00"):
                httpx2.post(
                    f"{gateway.url}/v1/chat/completions",
                    json={"model": "m", "messages": HELLO},
                    headers={"traceparent": PARENT[:-2] + flags},
                )
        (span,) = collector.spans
    assert (_facts(span)["error.type"], span["status"]) == ("429", {"code": 2})


def test_a_collector_that_is_down_costs_spans_and_nothing_else(tmp_path: Path) -> None:
    config = config_in(tmp_path)
    with serve_upstream(chat()) as upstream, serve_collector() as collector:
        collector.status = 503
        with run_gateway(
            config, settings_for(config, upstream.url), OTEL_EXPORTER_OTLP_ENDPOINT=collector.url
        ) as gateway:
            client = openai.OpenAI(base_url=f"{gateway.url}/v1", api_key="x", max_retries=0)
            assert client.chat.completions.create(model="m", messages=HELLO).choices[0].message.content
        assert gateway.failed_open() == {"telemetry": 1}


@each_case(
    ("environment", "url"),
    [
        ({}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318/"}, "http://collector:4318/v1/traces"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://c.example/otlp"}, "https://c.example/otlp"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:1", "OTEL_SDK_DISABLED": "true"}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:1", "OTEL_TRACES_EXPORTER": "none"}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "file:///etc/passwd"}, None),
    ],
)
def test_the_variables_of_opentelemetry_say_where_it_goes(environment: dict[str, str], url: str | None) -> None:
    found = find_collector(environment)
    assert (None if found is None else found.url) == url


def test_prometheus_is_told_requests_tokens_cost_budgets_and_the_queue(tmp_path: Path) -> None:
    config = config_in(tmp_path)
    with open_store(config.store_path) as store:
        _, token = make_key(store, "laptop", now=1.0, tokens_per_day=100)
    answer = json.loads(chat().body)
    answer["usage"]["cost"] = 0.25
    with (
        serve_upstream(Said((json.dumps(answer).encode(),)), Said((b"{}",), status=500)) as upstream,
        run_gateway(config, settings_for(config, upstream.url)) as gateway,
    ):
        client = openai.OpenAI(base_url=f"{gateway.url}/v1", api_key=token, max_retries=0)
        client.chat.completions.create(model="gpt-4o-mini", messages=HELLO)
        with pytest.raises(openai.InternalServerError):
            client.chat.completions.create(model="gpt-4o-mini", messages=HELLO)

        def shown() -> str:
            return httpx2.get(f"{gateway.url}/gateway/metrics").text

        wait_until(lambda: "seasoned_gateway_keys_over_budget 1.0" in shown())
        text = shown()
    for line in (
        'seasoned_gateway_answers_total{status="200",upstream="given-openai"} 1.0',
        'seasoned_gateway_answers_total{status="500",upstream="given-openai"} 1.0',
        'seasoned_gateway_tokens_total{kind="input",upstream="given-openai"} 20.0',
        'seasoned_gateway_tokens_total{kind="cache_read",upstream="given-openai"} 100.0',
        "seasoned_gateway_cost_usd_total 0.25",
        "seasoned_gateway_unpriced_total 0.0",
        "seasoned_gateway_example_decisions_total 0.0",
        "seasoned_gateway_unwritten",
        "seasoned_gateway_seconds_count 2.0",
    ):
        assert line in text
    assert "laptop" not in text
