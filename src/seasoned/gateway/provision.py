"""Provisioning: the arm and the block of a conversation, decided at its first request and the same ever after."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import msgspec

from seasoned.config import Config
from seasoned.experiment.assign import HOLDOUT, assign_logged, load_split, log_exposure
from seasoned.gateway.exchange import Exchange
from seasoned.gateway.setting import Settings
from seasoned.gateway.upstream import Headers
from seasoned.gateway.wire.value import Asked
from seasoned.store import Store, open_database, open_store
from seasoned.template.library import current
from seasoned.template.provision import BUDGET, Ensured, Memory, ensure_block

OPT_OUT = (b"x-seasoned-warm", b"off")
_WAIT_SECONDS = 1.0
_MOST = 20_000
_TEMPLATE = "template:"


class _Question(msgspec.Struct, frozen=True):
    """A conversation that begins now."""

    session: str
    asked: Asked
    format: str
    is_late: threading.Event
    """Set when the request could not wait any longer: what is decided now is for nobody."""


class Provisioner:
    """Puts the block of a conversation into each of its requests, the same bytes every time."""

    def __init__(self, config: Config, settings: Settings, *, clock: Callable[[], float] = time.time) -> None:
        self._config = config
        self._settings = settings
        self._clock = clock
        self._decided: OrderedDict[tuple[str, str], bytes | None] = OrderedDict()
        self._deciding: dict[tuple[str, str], asyncio.Future[bytes | None]] = {}
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="seasoned-provision")
        self._memory = Memory()

    async def warm(self, exchange: Exchange, body: bytes, headers: Headers) -> bytes:
        """The body with its block; unchanged where none belongs."""
        if not may_be_warm(exchange, headers):
            return body
        assert exchange.talk is not None
        key = (str(exchange.talk.ref), exchange.api.format)
        if key in self._decided:
            content = self._decided[key]
        else:
            # Requests of one conversation that come at once wait for one decision; it outlives whoever asked first.
            deciding = self._deciding.get(key)
            if deciding is None:
                deciding = self._deciding[key] = asyncio.ensure_future(self._decide(key, exchange))
            content = await asyncio.shield(deciding)
        return body if content is None else exchange.api.insert_block(body, content)

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _keep(self, key: tuple[str, str], content: bytes | None) -> None:
        self._decided[key] = content
        self._decided.move_to_end(key)
        if len(self._decided) > _MOST:
            self._decided.popitem(last=False)

    async def _decide(self, key: tuple[str, str], exchange: Exchange) -> bytes | None:
        assert exchange.asked is not None
        question = _Question(key[0], exchange.asked, key[1], threading.Event())
        answering = asyncio.get_running_loop().run_in_executor(self._thread, self._answer, question)
        content = None
        try:
            content = await asyncio.wait_for(answering, _WAIT_SECONDS)
        finally:
            question.is_late.set()
            # Also when it failed: a conversation stays as it begins.
            self._keep(key, content)
            self._deciding.pop(key, None)
        return content

    def _answer(self, question: _Question) -> bytes | None:
        if question.is_late.is_set():
            return None
        arm, template = self._assigned(question)
        if arm is not None and template is None:
            return None
        with open_store(self._config.store_path) as store:
            ensured = self._ensured(store, question, template or None)
            if ensured.rendered is None:
                return None
            if question.is_late.is_set() and ensured.is_new:
                # The request went without it: a block that is found later would change how it began.
                with store.write():
                    store.run("template.drop_block_in", {"lineage_root": question.session, "format": question.format})
                return None
        if arm is not None:
            self._expose(question.session, arm, ensured)
        return ensured.rendered.content

    def _assigned(self, question: _Question) -> tuple[str | None, str | None]:
        """The arm, and what it shows: a template's name, an empty text for the one that fits, None for nothing."""
        name = self._settings.experiment
        if name is None:
            return None, ""
        database = open_database(self._config)
        try:
            split = load_split(database, name)
            found = assign_logged(database, split, question.session, now=self._clock())
        finally:
            database.close()
        if found is None or found.arm in (HOLDOUT, split.control):
            return HOLDOUT if found is None else found.arm, None
        return found.arm, found.arm.removeprefix(_TEMPLATE) if found.arm.startswith(_TEMPLATE) else ""

    def _ensured(self, store: Store, question: _Question, template: str | None) -> Ensured:
        asked = question.asked
        said = [{"role": one.role, "content": one.text} for one in asked.messages if one.role in ("user", "assistant")]
        return ensure_block(
            store,
            lambda: current(store, now=self._clock()),
            lineage_root=question.session,
            now=self._clock(),
            messages=said,
            format=question.format,  # type: ignore[arg-type]  # the API's own, which is one
            tools=list(asked.tools),
            template=template,
            budget=self._settings.budget or BUDGET,
            memory=self._memory,
        )

    def _expose(self, session: str, arm: str, ensured: Ensured) -> None:
        assert self._settings.experiment is not None
        assert ensured.rendered is not None
        database = open_database(self._config)
        try:
            shown = ensured.rendered.example_ids
            log_exposure(database, self._settings.experiment, session, arm=arm, example_ids=shown, now=self._clock())
        finally:
            database.close()


def may_be_warm(exchange: Exchange, headers: Headers) -> bool:
    """Turns with tools alone; never where the provider holds the conversation, or a block is there already."""
    asked, talk = exchange.asked, exchange.talk
    if asked is None or talk is None or talk.purpose != "turn" or talk.relation is not None:
        return False
    if asked.previous_response_id is not None or asked.conversation is not None or asked.carries_block:
        return False
    opted_out = any(name == OPT_OUT[0] and value.strip().lower() == OPT_OUT[1] for name, value in headers)
    return bool(asked.tools) and not opted_out
