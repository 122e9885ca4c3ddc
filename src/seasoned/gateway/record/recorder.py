"""The recorder: a thread that writes exchanges and accounting into the store, in batches, at most a second late."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from seasoned.config import Config
from seasoned.errors import StoreError
from seasoned.gateway.accounting import (
    Budgets,
    EntryCost,
    KeyCache,
    Pricing,
    UsageEntry,
    UsageJournal,
    add_entries,
)
from seasoned.gateway.proxy.exchange import Exchange, FinishedExchange
from seasoned.gateway.record.conversations import ConversationIndex
from seasoned.gateway.record.example_watch import ExampleWatch
from seasoned.gateway.record.session_writer import SessionWriter
from seasoned.gateway.settings import Failures
from seasoned.learn_queue import begin, note, waiting
from seasoned.redact.key import Secrecy
from seasoned.store import Database, open_database, open_store

# How long an exchange may wait to be written. A crash loses at most this.
WINDOW_SECONDS = 0.5
MOST_WAITING = 5000
# Of requests that wait to be written.
MOST_BYTES = 64 * 1024 * 1024
# Exchanges in one transaction. Other writers wait that long, so it must stay short.
_AT_ONCE = 32
_BATCHES = 6
_PAUSE_SECONDS = 0.001
_STOP_SECONDS = 10.0
# Agents call their model every few seconds; after this long a turn is over, or the agent has exited.
QUIET_SECONDS = 60.0
_DROPPED = (
    "more answers come than the store can take: some are only accounted for and not recorded; `seasoned doctor` counts"
    " them"
)
_log = logging.getLogger("seasoned.gateway")


@dataclass(frozen=True)
class StoreCache:
    """What the event loop needs from the store, in memory: valid keys, budgets, owners of conversations."""

    keys: KeyCache
    budgets: Budgets
    conversations: ConversationIndex

    def open(self, config: Config, failures: Failures, *, needs_keys: bool, records: bool) -> None:
        """Load everything. A store that fails is an error only if requests need keys."""
        if needs_keys:
            self._load_keys(config)
        else:
            with failures.shield("store"):
                self._load_keys(config)
        if records:
            with failures.shield("store"), open_store(config.store_path) as store:
                self.conversations.load(store)

    def refresh(self, database: Database, *, now: float) -> None:
        """Reload what other processes can change: keys and budgets."""
        self.keys.load(database)
        for told in self.budgets.load(database, self.keys.keys, now=now):
            _log.warning("%s", told)

    def _load_keys(self, config: Config) -> None:
        database = open_database(config)
        try:
            self.keys.load(database)
        finally:
            database.close()


class GatewayRecorder:
    """Writes exchanges from the event loop, and the journal, into the store."""

    def __init__(
        self,
        config: Config,
        *,
        secrecy: Secrecy,
        journal: UsageJournal,
        failures: Failures,
        price: Pricing,
        cache: StoreCache | None = None,
        records: bool = True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._config = config
        self._secrecy = secrecy
        self._journal = journal
        self._cache = cache
        self._failures = failures
        self._price = price
        self._records = records
        self._watch = ExampleWatch(config.warm.at("gateway").experiment)
        self._clock = clock
        # Conversations to learn from, and when something was added to them.
        self._heard: dict[str, float] = {}
        self._given: deque[FinishedExchange] = deque()
        # Two counters, each changed by one thread only: concurrent additions to one number would be lost.
        self._taken_bytes = self._written_bytes = 0
        self._recorded: list[str] = []
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._database: Database | None = None
        self._archive: SessionWriter | None = None

    @property
    def waiting(self) -> int:
        return len(self._given)

    def give(self, exchange: Exchange) -> None:
        """Record an exchange, unless it is only accounted for."""
        if self._records and exchange.conversation is not None and exchange.conversation.is_recorded:
            finished = exchange.finished()
            if finished is not None:
                self.take(finished)

    def take(self, finished: FinishedExchange) -> None:
        """Queue what to record. If the store is too slow for long, the newest are dropped, counted and logged."""
        if len(self._given) >= MOST_WAITING or self._taken_bytes - self._written_bytes > MOST_BYTES:
            self._failures.counts["record"] += 1
            self._failures.tell("record", _DROPPED)
            return
        self._taken_bytes += finished.size
        self._given.append(finished)

    def start(self, *, needs_keys: bool = False) -> None:
        """Load keys and conversations, then start the thread."""
        if self._cache is not None:
            self._cache.open(self._config, self._failures, needs_keys=needs_keys, records=self._records)
        with self._failures.shield("journal"):
            self._journal.open()
        with self._failures.shield("learn"):
            # From what an earlier gateway left.
            if waiting(str(self._config.home)):
                begin(str(self._config.home))
        self._thread = threading.Thread(target=self._work, name="seasoned-recorder", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Write what is left, and stop."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(_STOP_SECONDS)

    def _work(self) -> None:
        is_behind = False
        while not self._stopping.wait(0 if is_behind else WINDOW_SECONDS):
            is_behind = self._round()
        while self._round():
            pass
        # Once more for what the last round only noted.
        self._round()
        with self._failures.shield("learn"):
            # This process is about to end: the next one that learns finds the note.
            if self._heard:
                note(str(self._config.home), "store")
        with self._failures.shield("store"):
            self._close()

    def _round(self) -> bool:
        """Write one batch; returns whether more is waiting."""
        is_behind = False
        with self._failures.shield("store"):
            self._account()
        with self._failures.shield("store"):
            is_behind = self._record()
            if self._database is not None:
                self._mark_recorded(self._database)
        with self._failures.shield("guard"):
            self._guard()
        with self._failures.shield("learn"):
            self._learn()
        return is_behind

    def _learn(self) -> None:
        """Have a background process learn from conversations that went quiet. They are in the store already."""
        quiet = [session for session, at in self._heard.items() if at <= self._clock() - QUIET_SECONDS]
        for session in quiet:
            del self._heard[session]
        if quiet:
            note(str(self._config.home), "store")
            begin(str(self._config.home))

    def _account(self) -> None:
        try:
            if self._database is None:
                self._database = open_database(self._config)
            for path, entries in self._journal.take():
                try:
                    add_entries(self._database, entries, self._price_entry)
                except StoreError:
                    if path is None:
                        self._journal.put_back(entries)
                    raise
                if path is not None:
                    self._journal.done(path)
            self._mark_recorded(self._database)
            if self._cache is not None:
                self._cache.refresh(self._database, now=self._clock())
        except StoreError:
            # A connection that failed is not used again: the next batch opens another one.
            self._close()
            raise

    def _price_entry(self, entry: UsageEntry) -> EntryCost:
        """What an entry cost. If pricing fails the cost is unknown, and the entry still counts."""
        with self._failures.shield("price"):
            return self._price(entry)
        return EntryCost()

    def _mark_recorded(self, database: Database) -> None:
        if self._recorded:
            with database.write():
                self._recorded = [one for one in self._recorded if not database.run("gateway.recorded", {"id": one})]

    def _record(self) -> bool:
        if not self._given:
            return False
        try:
            if self._archive is None:
                self._archive = SessionWriter(
                    open_store(self._config.store_path), self._secrecy, watch=self._watch, clock=self._clock
                )
            for _ in range(_BATCHES):
                batch = list(islice(self._given, _AT_ONCE))
                self._write_batch(self._archive, batch)
                # Let the event loop run in between.
                time.sleep(_PAUSE_SECONDS)
                if not self._given:
                    break
        except StoreError:
            self._close_archive()
            raise
        return bool(self._given)

    def _guard(self) -> None:
        """Suspend harmful examples soon after the conversations that show the harm."""
        now = self._clock()
        if self._archive is None or self._database is None or not self._watch.is_due(now):
            return
        for told in self._archive.guard(self._database, now=now):
            _log.warning("%s", told)

    def _write_batch(self, archive: SessionWriter, batch: list[FinishedExchange]) -> None:
        """Write several exchanges in one transaction; if that fails, one by one, so that only the bad one is lost.

        A failing store is tried again later; any other failure is the fault of an exchange.
        """
        try:
            archive.write(batch)
        except StoreError:
            raise
        except Exception:  # noqa: BLE001 - one of them: it is found, and counted, when each is written by itself
            for exchange in batch:
                try:
                    archive.write([exchange])
                except StoreError:
                    raise
                except Exception as error:  # noqa: BLE001 - one exchange, which must not stop the others
                    self._failures.add("record", error)
                    self._done(exchange, is_recorded=False)
                else:
                    self._done(exchange)
            return
        for exchange in batch:
            self._done(exchange)

    def _done(self, exchange: FinishedExchange, *, is_recorded: bool = True) -> None:
        if is_recorded:
            self._heard[str(exchange.conversation.ref)] = self._clock()
        if is_recorded and exchange.conversation.purpose != "compaction":
            self._recorded.append(exchange.id)
        self._given.popleft()
        self._written_bytes += exchange.size

    def _close(self) -> None:
        if self._database is not None:
            database, self._database = self._database, None
            database.close()
        self._close_archive()

    def _close_archive(self) -> None:
        if self._archive is not None:
            archive, self._archive = self._archive, None
            archive.close()
