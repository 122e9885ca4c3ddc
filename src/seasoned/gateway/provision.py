"""The block that a conversation begins with: decided at its first request, and the same in every later one."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import msgspec

from seasoned.begin.start_text import SHEET
from seasoned.begin.warm_start import NewSession, begin
from seasoned.config import Config, WarmSettings
from seasoned.errors import NotFound
from seasoned.example.library.storage import cached_library, find_block
from seasoned.example.provision import BlockRequest, provision
from seasoned.gateway.proxy.exchange import Exchange
from seasoned.gateway.proxy.upstream import Headers
from seasoned.redact.key import Secrecy
from seasoned.store import open_database, open_store
from seasoned.store.project import project_key

OPT_OUT = (b"x-seasoned-warm", b"off")
# How long a first request waits for its block. One that goes without a block stays without.
_BLOCK_SECONDS = 1.0
_MOST_CONVERSATIONS = 20_000
_log = logging.getLogger("seasoned.gateway")


class Provisioner:
    """Puts the block of a conversation into each of its requests, the same bytes every time."""

    def __init__(
        self, config: Config, settings: WarmSettings, secrecy: Secrecy, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._redactor = secrecy.redactor()
        self._settings = settings
        self._clock = clock
        self._decided: OrderedDict[tuple[str, str], bytes | None] = OrderedDict()
        self._deciding: dict[tuple[str, str], asyncio.Future[bytes | None]] = {}
        self._config = config
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="seasoned-provision")

    def start(self) -> None:
        """Load what the first conversation would otherwise wait for."""
        self._thread.submit(self._prepare)

    def _prepare(self) -> None:
        with open_store(self._config.store_path) as store:
            provision("", library=cached_library(store, now=self._clock()), asked=BlockRequest(tools=()))
        name = self._settings.experiment
        if name is not None:
            from seasoned.experiment.live.assignment import load_split

            with closing(open_database(self._config)) as database:
                try:
                    load_split(database, name)
                except NotFound as error:
                    _log.warning("Nothing is shown to new conversations: %s", error)

    async def warm(self, exchange: Exchange, body: bytes, headers: Headers) -> bytes:
        """The body with its block; unchanged if the request gets none."""
        if not may_be_warm(exchange, headers):
            return body
        assert exchange.conversation is not None
        key = (str(exchange.conversation.ref), exchange.api.format)
        if key in self._decided:
            content = self._decided[key]
        else:
            # Concurrent requests of one conversation share one decision, which outlives the first of them.
            deciding = self._deciding.get(key)
            if deciding is None:
                deciding = self._deciding[key] = asyncio.ensure_future(self._decide(key, exchange))
            content = await asyncio.shield(deciding)
        return body if content is None else exchange.api.insert_block(body, content)

    def close(self) -> None:
        self._thread.shutdown(wait=False)

    def _keep(self, key: tuple[str, str], content: bytes | None) -> None:
        self._decided[key] = content
        self._decided.move_to_end(key)
        if len(self._decided) > _MOST_CONVERSATIONS:
            self._decided.popitem(last=False)

    async def _decide(self, key: tuple[str, str], exchange: Exchange) -> bytes | None:
        assert exchange.asked is not None
        said = [
            {"role": one.role, "content": one.text}
            for one in exchange.asked.messages
            if one.role in ("user", "assistant")
        ]
        session = NewSession(
            conversation=key[0], format=exchange.api.format, messages=said, tools=list(exchange.asked.tools)
        )
        # Set when the request could not wait any longer and was sent unchanged.
        late = threading.Event()
        answering = asyncio.get_running_loop().run_in_executor(
            self._thread, self._begin, session, exchange.key_name, late
        )
        content = None
        try:
            content = await asyncio.wait_for(answering, _BLOCK_SECONDS)
        finally:
            late.set()
            # Even if it failed: a conversation stays as it began.
            self._keep(key, content)
            self._deciding.pop(key, None)
        return content

    def _begin(self, session: NewSession, key_name: str, late: threading.Event) -> bytes | None:
        if late.is_set():
            return None
        with open_store(self._config.store_path) as store:
            # A hook of the agent has shown a template already. Beside the sheet of a project there may be calls.
            shown = find_block(store, session.conversation, "text")
            if shown is not None and shown.template != SHEET:
                return None
            # Recorded sessions have the name of their key without secrets: people use e-mail addresses as names.
            project = project_key(store, None, application=self._redactor.text(key_name))
            return begin(
                store,
                self._config,
                msgspec.structs.replace(session, project=project),
                self._settings,
                now=self._clock(),
                is_late=late.is_set,
                warn=_log.warning,
            ).content


def may_be_warm(exchange: Exchange, headers: Headers) -> bool:
    """Whether a request may get a block: a turn with tools, whose history the client sends, without a block in it."""
    asked, conversation = exchange.asked, exchange.conversation
    if asked is None or conversation is None or conversation.purpose != "turn" or conversation.relation is not None:
        return False
    if asked.previous_response_id is not None or asked.conversation is not None or asked.carries_block:
        return False
    return bool(asked.tools) and not has_opted_out(headers)


def has_opted_out(headers: Headers) -> bool:
    """Whether a client wants its request to stay as it is."""
    return any(name == OPT_OUT[0] and value.strip().lower() == OPT_OUT[1] for name, value in headers)
