"""Prometheus metrics of one gateway, without names of people or parts of conversations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from seasoned.gateway.accounting import RecordedCounts
from seasoned.session import Usage

CONTENT_TYPE = b"text/plain; version=0.0.4; charset=utf-8"
# Answers of models take from a fraction of a second to minutes.
_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)


class GatewayMetrics:
    """Counters in a separate registry, so that two gateways in one process do not mix."""

    def __init__(
        self,
        failures: Mapping[str, int],
        waiting: Callable[[], int],
        *,
        counts: Callable[[], RecordedCounts] = RecordedCounts,
        over_budget: Callable[[], int] = int,
    ) -> None:
        self._registry = CollectorRegistry()
        self._answers = Counter(
            "seasoned_gateway_answers",
            "Answers by upstream and status.",
            ["upstream", "status"],
            registry=self._registry,
        )
        self._tokens = Counter(
            "seasoned_gateway_tokens", "Tokens as providers count them.", ["upstream", "kind"], registry=self._registry
        )
        self._turned = Counter(
            "seasoned_gateway_turned_away", "Requests that were refused.", ["status"], registry=self._registry
        )
        self._broken = Counter(
            "seasoned_gateway_broken_off", "Answers that an upstream broke off.", registry=self._registry
        )
        self._ended = Counter(
            "seasoned_gateway_ended", "How accounted answers ended.", ["how"], registry=self._registry
        )
        self._seconds = Histogram(
            "seasoned_gateway_seconds", "Time until the end of an answer.", registry=self._registry, buckets=_BUCKETS
        )
        self._unknown = Counter(
            "seasoned_gateway_usage_unknown", "Accounted answers without token counts.", registry=self._registry
        )
        self.open = Gauge("seasoned_gateway_open", "Requests under way.", registry=self._registry)
        unwritten = Gauge("seasoned_gateway_unwritten", "Exchanges not recorded yet.", registry=self._registry)
        # Gauges with a function are read when Prometheus asks, so nothing has to keep them up to date.
        unwritten.set_function(lambda: float(waiting()))
        over = Gauge("seasoned_gateway_keys_over_budget", "Keys over their budget for today.", registry=self._registry)
        over.set_function(lambda: float(over_budget()))
        self._registry.register(_FailureCollector(failures))
        self._registry.register(_TallyCollector(counts))

    def answered(self, upstream: str, status: int, seconds: float) -> None:
        self._answers.labels(upstream, str(status)).inc()
        self._seconds.observe(seconds)

    def turned(self, status: int) -> None:
        self._turned.labels(str(status)).inc()

    def broke_off(self) -> None:
        self._broken.inc()

    def accounted(self, upstream: str, how: str, usage: Usage | None) -> None:
        self._ended.labels(how).inc()
        if usage is None:
            self._unknown.inc()
            return
        for kind in Usage.__struct_fields__:
            tokens = getattr(usage, kind)
            # A counter raises for negative numbers, which a broken provider may report.
            if tokens is not None and tokens >= 0:
                self._tokens.labels(upstream, kind).inc(tokens)

    def text(self) -> bytes:
        """All metrics in the text format of Prometheus."""
        return generate_latest(self._registry)


class _TallyCollector(Collector):
    """What the recorder counts: cost, and decisions about examples."""

    def __init__(self, counts: Callable[[], RecordedCounts]) -> None:
        self._counts = counts

    def collect(self) -> Iterator[CounterMetricFamily]:
        now = self._counts()
        for name, about, value in (
            ("cost_usd", "Dollars of requests whose price is known.", now.cost_usd),
            ("unpriced", "Accounted requests without a known price.", now.unpriced),
            ("example_decisions", "Examples suspended, restored or retired.", now.decisions),
        ):
            yield CounterMetricFamily(f"seasoned_gateway_{name}", about, value=value)


class _FailureCollector(Collector):
    """Failures of our own parts, which let the request pass unchanged."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        self._counts = counts

    def collect(self) -> Iterator[CounterMetricFamily]:
        family = CounterMetricFamily("seasoned_gateway_failed_open", "Failures of our own parts.", labels=["part"])
        for part, count in sorted(self._counts.items()):
            family.add_metric([part], count)
        yield family
