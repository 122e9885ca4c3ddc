"""Prometheus metrics of one gateway, without names of people or parts of conversations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from seasoned.gateway.accounting import RecordedCounts
from seasoned.session import Usage

CONTENT_TYPE = b"text/plain; version=0.0.4; charset=utf-8"
_PREFIX = "seasoned_gateway_"
# Answers of models take from a fraction of a second to minutes.
_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)


class GatewayMetrics(Collector):
    """Counters in a separate registry, so that two gateways in one process do not mix."""

    def __init__(
        self,
        failures: Mapping[str, int],
        waiting: Callable[[], int],
        counts: Callable[[], RecordedCounts],
        over_budget: Callable[[], int],
    ) -> None:
        self._failures = failures
        self._waiting = waiting
        self._counts = counts
        self._over_budget = over_budget
        self._registry = CollectorRegistry()
        self._answers = self._counter("answers", "Answers by upstream and status.", "upstream", "status")
        self._tokens = self._counter("tokens", "Tokens as providers count them.", "upstream", "kind")
        self._turned = self._counter("turned_away", "Requests that were refused.", "status")
        self._broken = self._counter("broken_off", "Answers that an upstream broke off.")
        self._ended = self._counter("ended", "How accounted answers ended.", "how")
        self._unknown = self._counter("usage_unknown", "Accounted answers without token counts.")
        self._seconds = Histogram(
            f"{_PREFIX}seconds", "Time until the end of an answer.", registry=self._registry, buckets=_BUCKETS
        )
        self.open = Gauge(f"{_PREFIX}open", "Requests under way.", registry=self._registry)
        self._registry.register(self)

    def _counter(self, name: str, about: str, *labels: str) -> Counter:
        return Counter(f"{_PREFIX}{name}", about, labels, registry=self._registry)

    def collect(self) -> Iterator[Metric]:
        """What other parts count, read when Prometheus asks."""
        yield GaugeMetricFamily(f"{_PREFIX}unwritten", "Exchanges not recorded yet.", self._waiting())
        yield GaugeMetricFamily(f"{_PREFIX}keys_over_budget", "Keys over their budget for today.", self._over_budget())
        now = self._counts()
        yield CounterMetricFamily(f"{_PREFIX}cost_usd", "Dollars of requests whose price is known.", now.cost_usd)
        yield CounterMetricFamily(f"{_PREFIX}unpriced", "Accounted requests without a known price.", now.unpriced)
        about = "Examples suspended, restored or retired."
        yield CounterMetricFamily(f"{_PREFIX}example_decisions", about, now.decisions)
        failed = CounterMetricFamily(f"{_PREFIX}failed_open", "Failures of our own parts.", labels=["part"])
        for part, count in sorted(self._failures.items()):
            failed.add_metric([part], count)
        yield failed

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
