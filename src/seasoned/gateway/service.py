"""The gateway of one configuration: its parts put together, and their life."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from seasoned.config import Config
from seasoned.gateway.account import Budgets
from seasoned.gateway.clerk import Clerk, Lookout
from seasoned.gateway.clerk_apart import ClerkApart
from seasoned.gateway.failure import Failures
from seasoned.gateway.journal import FOLDER, Journal
from seasoned.gateway.key import Ring
from seasoned.gateway.metrics import Metrics
from seasoned.gateway.price import pricing
from seasoned.gateway.provision import Provisioner
from seasoned.gateway.proxy import Gateway
from seasoned.gateway.setting import Settings
from seasoned.gateway.talk import Talks
from seasoned.gateway.telemetry import Telemetry, find_target
from seasoned.gateway.upstream import Upstreams
from seasoned.gateway.watch import Watch
from seasoned.redact.key import Secrecy, load_key


class Service:
    """Everything that a running gateway consists of."""

    def __init__(
        self,
        config: Config,
        settings: Settings,
        *,
        environment: Mapping[str, str],
        apart: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`apart`: the clerk works in a process of its own."""
        self.secrecy = Secrecy(load_key(config.home), config.redact)
        self.failures = Failures()
        self.settings = settings
        self._upstreams = Upstreams(settings, home=config.home, environment=environment)
        target = find_target(environment)
        self._telemetry = None if target is None else Telemetry(target, self.failures)
        talks = Talks()
        ring, budgets, journal = Ring(), Budgets(), Journal(config.home / FOLDER)
        self._provisioner = Provisioner(config, settings, clock=clock) if settings.warm else None
        lookout = Lookout(ring, budgets, talks)
        self.clerk: Clerk | ClerkApart
        if apart:
            self.clerk = ClerkApart(
                config, settings, journal=journal, lookout=lookout, failures=self.failures, clock=clock
            )
        else:
            self.clerk = Clerk(
                config,
                secrecy=self.secrecy,
                journal=journal,
                failures=self.failures,
                price=pricing(settings),
                lookout=lookout,
                records=settings.record,
                watch=Watch(settings.experiment),
                clock=clock,
            )
        self.app = Gateway(
            settings,
            upstreams=self._upstreams,
            ring=ring,
            budgets=budgets,
            journal=journal,
            failures=self.failures,
            metrics=Metrics(
                self.failures.counts,
                lambda: self.clerk.waiting,
                tally=lambda: self.clerk.tally,
                over_budget=lambda: budgets.over,
            ),
            talks=talks,
            recording=self.clerk,
            warming=self._provisioner,
            telemetry=self._telemetry,
            clock=clock,
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The pool is open and the clerk works; at the end what is left is written down."""
        self.clerk.start(needs_keys=self.settings.mode == "keys")
        self._upstreams.open()
        if self._telemetry is not None:
            self._telemetry.start()
        if self._provisioner is not None:
            self._provisioner.start()
        try:
            yield
        finally:
            self._upstreams.close()
            if self._provisioner is not None:
                self._provisioner.close()
            if self._telemetry is not None:
                self._telemetry.stop()
            self.clerk.stop()
