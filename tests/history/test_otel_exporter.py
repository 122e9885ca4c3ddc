"""Spans that we export are those that OpenTelemetry's own SDK would send to a collector."""

from __future__ import annotations

import threading
from base64 import b64encode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest

from seasoned.history.read import read
from seasoned.history.writer import trace
from seasoned.outcome.judge import judge_session

_WHY = "OpenTelemetry's exporter is not installed: `make setup` does it"
sdk = pytest.importorskip("opentelemetry.sdk.trace", reason=_WHY)
exporter = pytest.importorskip("opentelemetry.exporter.otlp.proto.http.trace_exporter", reason=_WHY)
service = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2", reason=_WHY)
resources = pytest.importorskip("opentelemetry.sdk.resources", reason=_WHY)
scopes = pytest.importorskip("opentelemetry.sdk.util.instrumentation", reason=_WHY)
json_format = pytest.importorskip("google.protobuf.json_format", reason=_WHY)
api = pytest.importorskip("opentelemetry.trace", reason=_WHY)

SAMPLES = Path(__file__).parents[2] / "src" / "seasoned" / "samples"


@pytest.fixture
def collector() -> Iterator[tuple[str, list[bytes]]]:
    """The address of a receiver, and the bodies that were posted to it."""
    bodies: list[bytes] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1/traces", bodies
    server.shutdown()
    server.server_close()


def values(attributes: list[dict[str, Any]]) -> dict[str, Any]:
    """Attributes as the SDK takes them."""
    kinds = {"intValue": int, "stringValue": str, "doubleValue": float}
    return {one["key"]: kinds[kind](value) for one in attributes for kind, value in one["value"].items()}


def span_of(made: dict[str, Any], resource: Any, scope: Any) -> Any:
    """The span of the SDK that says the same."""

    def context(id: str) -> Any:
        return api.SpanContext(int(made["traceId"], 16), int(id, 16), is_remote=False)

    status = made.get("status", {})
    return sdk.ReadableSpan(
        made["name"],
        context(made["spanId"]),
        context(made["parentSpanId"]) if "parentSpanId" in made else None,
        resource,
        values(made["attributes"]),
        [sdk.Event(one["name"], values(one["attributes"]), int(one["timeUnixNano"])) for one in made.get("events", ())],
        kind=api.SpanKind.INTERNAL,
        status=api.Status(api.StatusCode(status.get("code", 0)), status.get("message")),
        start_time=int(made["startTimeUnixNano"]),
        end_time=int(made["endTimeUnixNano"]),
        instrumentation_scope=scope,
    )


@pytest.mark.parametrize("agent", ["claude_code", "codex", "hermes"])
def test_a_collector_gets_what_the_sdk_would_send(agent: str, collector: tuple[str, list[bytes]]) -> None:
    address, bodies = collector
    session = next(read(SAMPLES / agent))
    verdicts = {call.id: (found.verdict, found.reason) for call, found in judge_session(session)}
    made = msgspec.json.decode(msgspec.json.encode(trace(session, verdicts)))
    (group,) = made["resourceSpans"]
    (batch,) = group["scopeSpans"]
    resource = resources.Resource(values(group["resource"]["attributes"]), group["schemaUrl"])
    scope = scopes.InstrumentationScope(batch["scope"]["name"], schema_url=batch["schemaUrl"])
    spans = [span_of(one, resource, scope) for one in batch["spans"]]
    assert exporter.OTLPSpanExporter(endpoint=address).export(spans).name == "SUCCESS"
    request = service.ExportTraceServiceRequest.FromString(bodies[0])
    ours = json_format.Parse(msgspec.json.encode(_with_base64(made)), service.ExportTraceServiceRequest())
    for sent, own in zip(*(one.resource_spans[0].scope_spans[0].spans for one in (request, ours)), strict=True):
        # The SDK also says whether a parent is remote, and writes out that a status is not set.
        sent.ClearField("flags")
        own.status.SetInParent()
    assert len(spans) > 1 and request == ours


def _with_base64(value: Any, name: str = "") -> Any:
    """The ids as protobuf's JSON has them; OTLP writes them in hexadecimal."""
    if isinstance(value, list):
        return [_with_base64(one) for one in value]
    if isinstance(value, dict):
        return {name: _with_base64(one, name) for name, one in value.items()}
    return b64encode(bytes.fromhex(value)).decode() if name in ("traceId", "spanId", "parentSpanId") else value
