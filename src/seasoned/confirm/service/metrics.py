"""Prometheus metrics of one service, without names or contents of requests."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from seasoned.confirm.audit.export import AuditExporter
from seasoned.confirm.request.request import Request
from seasoned.confirm.service.waiting import Waiters

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class ConfirmMetrics:
    """The metrics, in a separate registry, so that two services in one process do not mix."""

    def __init__(self, waiting: Waiters, heads: AuditExporter) -> None:
        # Pages and the gateway add their own metrics to it.
        self.registry = CollectorRegistry()
        self._submitted = Counter(
            "seasoned_confirm_submitted", "Requests submitted.", ["status"], registry=self.registry
        )
        self._votes = Counter("seasoned_confirm_votes", "Votes cast.", ["vote"], registry=self.registry)
        self._redeemed = Counter("seasoned_confirm_redeemed", "Grants given out.", registry=self.registry)
        self._answers = Counter(
            "seasoned_confirm_http_answers",
            "Answers by route and status.",
            ["method", "route", "status"],
            registry=self.registry,
        )
        # Looking up a counter by its labels takes longer than counting.
        self._known: dict[tuple[str, str, int], Counter] = {}
        self._by_status: dict[str, Counter] = {}
        self._seconds = Histogram(
            "seasoned_confirm_http_seconds",
            "Time until an answer, without waiting.",
            registry=self.registry,
            buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0),
        )
        self._pending = Gauge("seasoned_confirm_pending", "Pending requests.", registry=self.registry)
        waiters = Gauge("seasoned_confirm_waiting", "Connections that wait for a decision.", registry=self.registry)
        waiters.set_function(lambda: float(waiting.count))
        row = Gauge("seasoned_confirm_exported_row", "The audit row last exported.", registry=self.registry)
        row.set_function(lambda: float(heads.exported.seq if heads.exported else 0))
        failures = Gauge("seasoned_confirm_export_failures", "Exports that failed.", registry=self.registry)
        failures.set_function(lambda: float(heads.failures))

    def submitted(self, request: Request) -> None:
        submitted = self._by_status.get(request.status)
        if submitted is None:
            submitted = self._by_status[request.status] = self._submitted.labels(request.status)
        submitted.inc()

    def voted(self, *, approve: bool) -> None:
        self._votes.labels("approve" if approve else "deny").inc()

    def redeemed(self) -> None:
        self._redeemed.inc()

    def answered(self, method: str, route: str, status: int, seconds: float | None) -> None:
        answers = self._known.get((method, route, status))
        if answers is None:
            answers = self._known[method, route, status] = self._answers.labels(method, route, str(status))
        answers.inc()
        if seconds is not None:
            self._seconds.observe(seconds)

    def text(self, pending_count: int) -> bytes:
        """All metrics as text."""
        self._pending.set(pending_count)
        return generate_latest(self.registry)
