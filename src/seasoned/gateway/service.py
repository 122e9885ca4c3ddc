"""The gateway of one configuration: its parts put together, and their life."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from seasoned.config import Config
from seasoned.gateway.account import Budgets, Price
from seasoned.gateway.clerk import Clerk
from seasoned.gateway.failure import Failures
from seasoned.gateway.journal import Entry, Journal
from seasoned.gateway.key import Ring
from seasoned.gateway.metrics import Metrics
from seasoned.gateway.provision import Provisioner
from seasoned.gateway.proxy import Gateway
from seasoned.gateway.setting import Settings
from seasoned.gateway.talk import Talks
from seasoned.gateway.upstream import Upstreams
from seasoned.gateway.usage import find_cost
from seasoned.redact.key import Secrecy, load_key

JOURNAL = "gateway-journal"


class Service:
    """Everything that a running gateway consists of."""

    def __init__(
        self,
        config: Config,
        settings: Settings,
        *,
        environment: Mapping[str, str],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.secrecy = Secrecy(load_key(config.home), config.redact)
        self.failures = Failures()
        self._settings = settings
        self._upstreams = Upstreams(settings, home=config.home, environment=environment)
        talks = Talks()
        ring, budgets, journal = Ring(), Budgets(), Journal(config.home / JOURNAL)
        self._provisioner = Provisioner(config, settings, clock=clock) if settings.warm else None
        self.clerk = Clerk(
            config,
            secrecy=self.secrecy,
            journal=journal,
            ring=ring,
            budgets=budgets,
            talks=talks,
            failures=self.failures,
            price=pricing(settings),
            records=settings.record,
            clock=clock,
        )
        self.app = Gateway(
            settings,
            upstreams=self._upstreams,
            ring=ring,
            budgets=budgets,
            journal=journal,
            failures=self.failures,
            metrics=Metrics(self.failures.counts, lambda: self.clerk.waiting),
            talks=talks,
            recording=self.clerk,
            warming=self._provisioner,
            clock=clock,
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The pool is open and the clerk works; at the end what is left is written down."""
        self.clerk.start(needs_keys=self._settings.mode == "keys")
        self._upstreams.open()
        try:
            yield
        finally:
            await self._upstreams.close()
            if self._provisioner is not None:
                self._provisioner.close()
            self.clerk.stop()


def pricing(settings: Settings) -> Callable[[Entry], Price]:
    """What entries cost, by the word of their upstream or by the prices that its address is known for."""
    addresses = {one.name: one.base_url for one in settings.upstream}

    def price(entry: Entry) -> Price:
        found = find_cost(
            entry.usage,
            entry.raw,
            model=entry.model or None,
            base_url=addresses.get(entry.upstream),
            now=datetime.fromtimestamp(entry.at, UTC),
        )
        if found is None:
            return Price()
        return Price(float(found.usd), " ".join([found.source, *([found.version] if found.version else [])]))

    return price
