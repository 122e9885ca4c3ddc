"""Telling people: the courier that carries notifications, and the addresses where their answers come in."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from fastapi import APIRouter

from seasoned.config import Config
from seasoned.confirm import link
from seasoned.confirm.book import Book
from seasoned.confirm.notify import incoming
from seasoned.confirm.notify.way import Way, load_ways
from seasoned.confirm.outbox import Courier
from seasoned.confirm.policy import Policy
from seasoned.confirm.service.desk import Desk
from seasoned.errors import SeasonedError

LINK_PURPOSE = "links"
"""What the key of links is derived for."""
_T = TypeVar("_T")
_log = logging.getLogger("seasoned.confirm")


class Notices:
    """The channels of the policy in force, and the courier that serves them."""

    def __init__(
        self,
        config: Config,
        policy: Policy,
        open_book: Callable[[], Book],
        *,
        link_key: bytes,
        clock: Callable[[], float],
    ) -> None:
        self._config = config
        self._open_book = open_book
        self._link_key = link_key
        self._clock = clock
        self.ways: dict[str, Way] = load_ways(policy, config)
        self._courier: Courier | None = None

    def start(self) -> None:
        """Begin to send, where there is anybody to tell."""
        if self.ways:
            self._courier = Courier(self._open_book, self.ways, link_key=self._link_key, clock=self._clock)
            self._courier.start()

    def wake(self) -> None:
        """Something was written: look at once."""
        if self._courier is not None:
            self._courier.wake()

    async def stop(self) -> None:
        """End after what is under way; the rest is sent at the next start."""
        if self._courier is not None:
            await asyncio.to_thread(self._courier.stop)
            self._courier = None

    async def renew(self, policy: Policy) -> None:
        """Take up the channels of a changed policy; those that cannot be used leave the old ones in place."""
        try:
            ways = load_ways(policy, self._config)
        except SeasonedError as error:
            _log.error("the channels stay as they were: %s", error)
            return
        if ways != self.ways:
            await self.stop()
            self.ways = ways
            self.start()

    def routers(self, desk: Desk) -> tuple[APIRouter, APIRouter]:
        """The pages of links, and the addresses that Telegram, Discord and webhooks call."""

        def ask(do: Callable[[Book], _T], /) -> Awaitable[_T]:
            return desk.write(lambda place: do(place.book), grouped=False)

        pages = link.router(ask, self._link_key, self._clock)
        return pages, incoming.router(ask, lambda: self.ways, self._clock)
