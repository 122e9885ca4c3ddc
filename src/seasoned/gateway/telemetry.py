"""Sends a span for each request to a model, by OpenTelemetry's conventions for generative AI, over HTTP.

Off unless the usual variables name a collector. Only figures and model names are sent, never texts or keys. The form is
OTLP in JSON, which every collector accepts and which needs no library.
"""

from __future__ import annotations

import re
import secrets
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

import seasoned
from seasoned.gateway.failures import Failures
from seasoned.gateway.proxy.exchange import Exchange
from seasoned.gateway.proxy.upstream import Headers
from seasoned.gateway.settings import Upstream

_EVERY_SECONDS = 1.0
_SEND_SECONDS = 10.0
# While the collector cannot be reached, the oldest spans are dropped beyond this.
_MOST_WAITING = 4096
_AT_ONCE = 512
# SPAN_KIND_CLIENT and STATUS_CODE_ERROR of the protocol.
_CLIENT, _ERROR = 3, 2
# W3C Trace Context, version 00: trace id, span id, flags.
_TRACE_PARENT = re.compile(rb"00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})\Z")
# Purposes that call no model: counting tokens.
_NOT_ASKED = ("count",)
_PROVIDERS = (
    ("api.openai.com", "openai"),
    ("api.anthropic.com", "anthropic"),
    (".openai.azure.com", "azure.ai.openai"),
    ("api.mistral.ai", "mistral_ai"),
    ("api.groq.com", "groq"),
    ("api.deepseek.com", "deepseek"),
    ("api.x.ai", "x_ai"),
    ("api.cohere.com", "cohere"),
    (".amazonaws.com", "aws.bedrock"),
    ("generativelanguage.googleapis.com", "gcp.gemini"),
)
_encode = msgspec.json.Encoder().encode
Value = str | bool | int | float | Sequence[str]


class OtelCollector(msgspec.Struct, frozen=True, kw_only=True):
    """The collector to send to, and what to call this service."""

    url: str
    headers: dict[str, str] = {}
    service: str = "seasoned-gateway"


def find_collector(environment: Mapping[str, str]) -> OtelCollector | None:
    """The collector in OpenTelemetry's variables; None if they name none or switch it off."""
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return None
    if environment.get("OTEL_TRACES_EXPORTER", "otlp").strip().lower() not in ("otlp", ""):
        return None
    # By the specification, the variable for traces is the full address and the general one only its beginning.
    whole = environment.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "").strip()
    base = environment.get("OTEL_EXPORTER_OTLP_ENDPOINT", "").strip()
    url = whole or (base.rstrip("/") + "/v1/traces" if base else "")
    if urlsplit(url).scheme not in ("http", "https"):
        return None
    given = environment.get("OTEL_EXPORTER_OTLP_TRACES_HEADERS") or environment.get("OTEL_EXPORTER_OTLP_HEADERS", "")
    pairs = [pair.partition("=") for pair in given.split(",") if "=" in pair]
    headers = {name.strip().lower(): unquote(value.strip()) for name, _, value in pairs}
    return OtelCollector(url=url, headers=headers, service=environment.get("OTEL_SERVICE_NAME") or "seasoned-gateway")


class Telemetry:
    """Collects spans and sends them from a thread. If the collector cannot be reached, only spans are lost."""

    def __init__(self, target: OtelCollector, failures: Failures) -> None:
        self._target = target
        self._failures = failures
        self._waiting: deque[dict[str, Any]] = deque(maxlen=_MOST_WAITING)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="seasoned-telemetry", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Send what is left."""
        self._stopping.set()
        self._thread.join(_SEND_SECONDS)

    def tell(self, exchange: Exchange, upstream: Upstream, headers: Headers, *, status: int, seconds: float) -> None:
        """Queue the span of a finished request."""
        if (span := span_of(exchange, upstream, headers, status=status, seconds=seconds)) is not None:
            self._waiting.append(span)

    def _work(self) -> None:
        while not self._stopping.wait(_EVERY_SECONDS):
            with self._failures.shield("telemetry"):
                self._send()
        with self._failures.shield("telemetry"):
            self._send()

    def _send(self) -> None:
        if not self._waiting:
            return
        import httpx2

        with httpx2.Client(timeout=_SEND_SECONDS) as client:
            while self._waiting:
                spans = [self._waiting.popleft() for _ in range(min(_AT_ONCE, len(self._waiting)))]
                headers = {**self._target.headers, "content-type": "application/json"}
                answer = client.post(self._target.url, content=_encode(self._document(spans)), headers=headers)
                answer.raise_for_status()

    def _document(self, spans: list[dict[str, Any]]) -> dict[str, Any]:
        scope = {"name": "seasoned.gateway", "version": seasoned.__version__}
        resource = {"attributes": _attributes({"service.name": self._target.service})}
        return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": scope, "spans": spans}]}]}


def span_of(
    exchange: Exchange, upstream: Upstream, headers: Headers, *, status: int, seconds: float
) -> dict[str, Any] | None:
    """The span in OTLP; None if no model was asked, or the caller does not sample the trace."""
    trace, parent = secrets.token_hex(16), None
    for name, value in headers:
        if name == b"traceparent" and (found := _TRACE_PARENT.match(value)):
            # The lowest flag says whether the caller samples this trace.
            if not int(found[3], 16) & 1:
                return None
            trace, parent = found[1].decode(), found[2].decode()
    if exchange.conversation is not None and exchange.conversation.purpose in _NOT_ASKED:
        return None
    facts = facts_of(exchange, upstream, status=status)
    begun = int(exchange.at * 1e9)
    operation, model = facts["gen_ai.operation.name"], facts.get("gen_ai.request.model", "")
    return {
        "traceId": trace,
        "spanId": secrets.token_hex(8),
        **({} if parent is None else {"parentSpanId": parent}),
        "name": f"{operation} {model}".strip(),
        "kind": _CLIENT,
        "startTimeUnixNano": str(begun),
        "endTimeUnixNano": str(begun + int(seconds * 1e9)),
        "attributes": _attributes(facts),
        "status": {"code": _ERROR} if "error.type" in facts else {},
    }


def facts_of(exchange: Exchange, upstream: Upstream, *, status: int) -> dict[str, Value]:
    """The attributes of an exchange, named by the OpenTelemetry conventions."""
    asked, answer, entry = exchange.asked, exchange.answer, exchange.entry
    usage = None if entry is None else entry.usage
    parts = urlsplit(upstream.base_url)
    facts: dict[str, Value | None] = {
        "gen_ai.operation.name": "embeddings" if exchange.is_embedding else "chat",
        "gen_ai.provider.name": _provider(parts.hostname or "", upstream),
        "server.address": parts.hostname,
        "server.port": parts.port or (443 if parts.scheme == "https" else 80),
        "error.type": _error_type(exchange, status),
    }
    if asked is not None:
        facts |= {
            "gen_ai.request.model": asked.model,
            "gen_ai.request.max_tokens": asked.max_tokens,
            "gen_ai.request.stream": asked.is_stream or None,
            "gen_ai.request.previous_response.id": asked.previous_response_id,
        }
    if exchange.conversation is not None:
        facts["gen_ai.conversation.id"] = exchange.conversation.ref.native_id
    if answer is not None:
        facts |= {
            "gen_ai.response.id": answer.id,
            "gen_ai.response.model": answer.model,
            "gen_ai.response.finish_reasons": None if answer.finish is None else [answer.finish],
        }
    if exchange.way == "stream" and exchange.first_seconds is not None:
        facts["gen_ai.response.time_to_first_chunk"] = exchange.first_seconds
    if usage is not None:
        facts |= {
            "gen_ai.usage.input_tokens": usage.prompt,
            "gen_ai.usage.output_tokens": usage.output,
            "gen_ai.usage.cache_read.input_tokens": usage.cache_read,
            "gen_ai.usage.cache_write.input_tokens": usage.cache_write,
            "gen_ai.usage.reasoning.output_tokens": usage.reasoning,
        }
    return {name: value for name, value in facts.items() if value is not None}


def _error_type(exchange: Exchange, status: int) -> str | None:
    if status >= 400:
        return str(status)
    ended = None if exchange.entry is None else exchange.entry.ended
    return None if ended in (None, "complete") else ended


def _provider(host: str, upstream: Upstream) -> str:
    return next((name for end, name in _PROVIDERS if host.endswith(end)), upstream.api)


def _attributes(facts: Mapping[str, Value]) -> list[dict[str, Any]]:
    return [{"key": name, "value": _value(value)} for name, value in facts.items()]


def _value(value: Value) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        # As a string: JSON numbers are not exact beyond 2^53.
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, str):
        return {"stringValue": value}
    return {"arrayValue": {"values": [_value(one) for one in value]}}
