"""A warm start: the block of a conversation, put into each of its requests by Hermes' middleware, the same every time.

Nothing is written into Hermes' own database: what is put in here is in the request alone.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from seasoned.config import Config
from seasoned.errors import SourceError, StoreError
from seasoned.experiment.live.assignment import Enrolled, enrol, log_exposure, log_foregone
from seasoned.hermes_plugin import host
from seasoned.hermes_plugin.background import BackgroundThread, log
from seasoned.hermes_plugin.retraction import Retractions
from seasoned.hermes_plugin.settings import HermesSettings
from seasoned.history.reader.hermes_db import AGENT, lineage
from seasoned.session import SessionRef
from seasoned.store import Store, open_database, open_store
from seasoned.template.block import Format
from seasoned.template.choose.offered import offered
from seasoned.template.insert import carries_block, insert
from seasoned.template.library.storage import current, find_block
from seasoned.template.library.usage import template_use
from seasoned.template.provision import BUDGET, BlockMemory, ensure_block, is_under_way, provision
from seasoned.template.render import Rendered

FORMATS: dict[str, Format] = {"chat_completions": "openai", "anthropic_messages": "anthropic"}
"""By Hermes' name of the API. In the others a block is not put: they check their items before we see them."""
SUBAGENT = "subagent"
_WAIT_SECONDS = 2.0
_MOST = 2000


class HermesRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request to a model, as far as it matters here."""

    session: str
    model: str
    base_url: str
    format: Format
    body: dict[str, Any]

    @property
    def messages(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.body["messages"]
        return found


class _Begun(msgspec.Struct, frozen=True):
    """How a conversation began: with a block or, as well, without one; and on which model."""

    rendered: Rendered | None
    tools: frozenset[str]
    model: str
    base_url: str


class Warmer:
    """Decides once for each conversation, and replays what was decided."""

    def __init__(
        self,
        config: Config,
        settings: HermesSettings,
        errands: BackgroundThread,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._config = config
        self._settings = settings
        self._errands = errands
        self._clock = clock
        self._memory = BlockMemory()
        self._retractions = Retractions()
        self._lock = threading.Lock()
        self._deciding: dict[tuple[str, str], threading.Lock] = {}
        self._begun: OrderedDict[tuple[str, str], _Begun] = OrderedDict()
        self.wish: str | None = settings.template
        """The template for conversations that begin from now on; None for the one that fits."""
        self.is_on = settings.warm

    def warm(self, request: HermesRequest, *, is_review: bool) -> list[dict[str, Any]] | None:
        """The messages with the block of their conversation; None where they stay as they are."""
        tools = offered(request.body.get("tools") or ())
        if not tools or carries_block(request.messages):
            return None
        begun = self._known(request) if is_review else self._decided(request)
        if begun is None or begun.rendered is None or not begun.tools <= tools.keys():
            return None
        if is_review and (begun.model, begun.base_url) != (request.model, request.base_url):
            # Another model has none of the prefix, and is given a digest of what was said.
            return None
        said = self._retractions.put_in(request.session, request.messages, may_begin=not is_review)
        return insert(said, begun.rendered)

    def look_back(self, store: Store) -> None:
        """Take back in living conversations what has been suspended since they began."""
        library = current(store, now=self._clock())
        with self._lock:
            begun = [(key[0], one.rendered) for key, one in self._begun.items() if one.rendered is not None]
        for session, rendered in begun:
            self._retractions.note(session, rendered.example_ids, library)

    def _known(self, request: HermesRequest) -> _Begun | None:
        with self._lock:
            return self._begun.get((request.session, request.format))

    def _decided(self, request: HermesRequest) -> _Begun:
        key = (request.session, request.format)
        with self._lock:
            deciding = self._deciding.setdefault(key, threading.Lock())
        with deciding:
            known = self._known(request)
            if known is None:
                rendered = self._decide(request)
                known = _Begun(rendered, _tools_in(rendered), request.model, request.base_url)
                with self._lock:
                    # Also where it failed: a conversation stays as it begins.
                    self._begun[key] = known
                    if len(self._begun) > _MOST:
                        self._begun.popitem(last=False)
        with self._lock:
            self._deciding.pop(key, None)
        return known

    def _decide(self, request: HermesRequest) -> Rendered | None:
        is_late = threading.Event()
        database = host.database_path(self._config.hermes_home)
        try:
            return self._errands.ask(
                "The warm start", lambda: self._answer(request, database, is_late), seconds=_WAIT_SECONDS
            )
        finally:
            is_late.set()

    def _answer(self, request: HermesRequest, database: Path, is_late: threading.Event) -> Rendered | None:
        """Looked for, or made; in the thread of the errands."""
        root = root_of(database, request.session)
        if is_late.is_set() or root is None:
            return None
        begins = not is_under_way(request.messages)
        enrolled = self._enrolled(root) if begins else None
        is_warm = self.is_on if enrolled is None else enrolled.is_warm
        if begins and not is_warm:
            if enrolled is not None and enrolled.foregone:
                self._forgo(request, root, enrolled)
            return None
        with open_store(self._config.store_path) as store:
            ensured = ensure_block(
                store,
                lambda: current(store, now=self._clock()),
                lineage_root=root,
                now=self._clock(),
                messages=request.messages,
                format=request.format,
                tools=list(request.body.get("tools") or ()),
                template=self.wish if enrolled is None else enrolled.template or None,
                budget=self._settings.budget or BUDGET,
                memory=self._memory,
            )
            if ensured.is_new and find_block(store, root, request.format) is None:
                raise StoreError("The block could not be kept: after a resume the conversation would begin otherwise.")
            if is_late.is_set() and ensured.is_new:
                # The request went without it: a block that is found later would change how it began.
                with store.write():
                    store.run("template.drop_block_in", {"lineage_root": root, "format": request.format})
                return None
            if ensured.rendered is not None and not ensured.is_new:
                library = current(store, now=self._clock())
                self._retractions.note(request.session, ensured.rendered.example_ids, library)
        if enrolled is not None and ensured.rendered is not None:
            try:
                self._note(log_exposure, root, enrolled, {enrolled.arm: ensured.rendered.example_ids})
            except StoreError as error:
                # The block is kept and stays: the arm is what counts, and that is logged.
                log.warning("What a conversation was shown could not be noted: %s", error)
        return ensured.rendered

    def _enrolled(self, root: str) -> Enrolled | None:
        if self._settings.experiment is None:
            return None
        database = open_database(self._config)
        try:
            return enrol(database, self._settings.experiment, root, now=self._clock())
        finally:
            database.close()

    def _forgo(self, request: HermesRequest, root: str, enrolled: Enrolled) -> None:
        """Note what a conversation of the control would have been shown, so that each example can be compared."""
        found = {}
        with open_store(self._config.store_path) as store:
            library = current(store, now=self._clock())
            for arm, template in enrolled.foregone.items():
                made = provision(
                    request.messages,
                    library=library,
                    tools=list(request.body.get("tools") or ()),
                    template=template or None,
                    budget=self._settings.budget or BUDGET,
                    format=request.format,
                    seed=root,
                    use=template_use(store),
                )
                if made.rendered is not None:
                    found[arm] = made.rendered.example_ids
        self._note(log_foregone, root, enrolled, found)

    def _note(
        self, write: Callable[..., None], root: str, enrolled: Enrolled, by_arm: Mapping[str, Sequence[str]]
    ) -> None:
        database = open_database(self._config)
        try:
            for arm, ids in by_arm.items():
                write(database, enrolled.experiment, root, arm=arm, example_ids=ids, now=self._clock())
        finally:
            database.close()


def request_of(body: object, *, session: str, model: str, base_url: str, api_mode: str) -> HermesRequest | None:
    """The request in our words; None for one that is left alone whatever it holds."""
    format = FORMATS.get(api_mode)
    if format is None or not session or not isinstance(body, dict):
        return None
    messages = body.get("messages")
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        return None
    return HermesRequest(session=session, model=model, base_url=base_url, format=format, body=body)


def root_of(database: Path, session: str) -> str | None:
    """What the conversation is called in our store: by the first session of its chain. None for a sub-agent's."""
    try:
        first, relation = lineage(database, session)
    except SourceError:
        # A library user may run Hermes without its database.
        first, relation = session, None
    return None if relation == SUBAGENT else str(SessionRef(AGENT, first))


def _tools_in(rendered: Rendered | None) -> frozenset[str]:
    """The tools that a block shows calls of."""
    if rendered is None:
        return frozenset()
    found = set()
    for message in msgspec.json.decode(rendered.content, type=list[dict[str, Any]]):
        found |= {call["function"]["name"] for call in message.get("tool_calls") or ()}
        content = message.get("content")
        parts = content if isinstance(content, list) else ()
        found |= {part["name"] for part in parts if isinstance(part, Mapping) and part.get("type") == "tool_use"}
    return frozenset(found)
