"""The warm start of a Hermes conversation: its block is put into each of its requests, the same every time.

Nothing is written into Hermes' own database: the block and any retraction exist in the request alone.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from seasoned.begin.ongoing import experiment_database, find_retraction
from seasoned.begin.settings import BeginSettings
from seasoned.begin.warm_start import NewSession, begin
from seasoned.config import Config
from seasoned.errors import SourceError
from seasoned.hermes_plugin import host
from seasoned.hermes_plugin.background import BackgroundThread, log
from seasoned.hermes_plugin.hint import root_of
from seasoned.history.reader.hermes_db import folder_of
from seasoned.learn_queue import catch_up
from seasoned.store import Store, open_store
from seasoned.store.project import project_key
from seasoned.template.block import Format
from seasoned.template.choose.offered import offered
from seasoned.template.library.storage import Library, current
from seasoned.template.provision import BlockMemory, carries_block, insert
from seasoned.template.render import Rendered

# By Hermes' name of the API. Its other APIs check their items before the plugin sees them, so no block is put there.
FORMATS: dict[str, Format] = {"chat_completions": "openai", "anthropic_messages": "anthropic"}
# The first request of a conversation waits for this. After that it goes without a block, and stays so.
_WAIT_SECONDS = 2.0
_CATCH_UP_SECONDS = 0.8
_MOST = 2000


class HermesRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request to a model, as far as its warm start depends on it."""

    session: str
    model: str
    base_url: str
    format: Format
    body: dict[str, Any]

    @property
    def messages(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.body["messages"]
        return found


class _Conversation(msgspec.Struct, frozen=True):
    """How a conversation began: with a block or without, and on which model."""

    rendered: Rendered | None
    tools: frozenset[str]
    model: str
    base_url: str


class Warmer:
    """Decides once for each conversation what it begins with, and repeats that in every request."""

    def __init__(
        self,
        config: Config,
        settings: BeginSettings,
        background: BackgroundThread,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._config = config
        # `/warm` changes them for conversations that begin afterwards.
        self.settings = settings
        self._background = background
        self._clock = clock
        self._memory = BlockMemory()
        self._retractions = Retractions()
        self._lock = threading.Lock()
        self._deciding: dict[tuple[str, str], threading.Lock] = {}
        self._begun: OrderedDict[tuple[str, str], _Conversation] = OrderedDict()

    def warm(self, request: HermesRequest, *, is_review: bool) -> list[dict[str, Any]] | None:
        """The messages with the block of their conversation; None if they stay as they are."""
        tools = offered(request.body.get("tools") or ())
        if not tools or carries_block(request.messages):
            return None
        # A review fork repeats the beginning of its conversation, and is never given one itself.
        begun = self._known(request) if is_review else self._decided(request)
        if begun is None or begun.rendered is None or not begun.tools <= tools.keys():
            return None
        if is_review and (begun.model, begun.base_url) != (request.model, request.base_url):
            # Another model has no cached prefix to keep, and is given a digest of the conversation.
            return None
        messages = self._retractions.put_in(request.session, request.messages, may_begin=not is_review)
        return insert(messages, begun.rendered)

    def retract(self, store: Store) -> None:
        """Note for living conversations what has been suspended since they began."""
        library = current(store, now=self._clock())
        with self._lock:
            begun = [(key[0], one.rendered) for key, one in self._begun.items() if one.rendered is not None]
        for session, rendered in begun:
            self._retractions.note(session, rendered.example_ids, library)

    def _known(self, request: HermesRequest) -> _Conversation | None:
        with self._lock:
            return self._begun.get((request.session, request.format))

    def _decided(self, request: HermesRequest) -> _Conversation:
        key = (request.session, request.format)
        with self._lock:
            # One lock for each conversation: a slow decision must not hold up the others.
            deciding = self._deciding.setdefault(key, threading.Lock())
        with deciding:
            known = self._known(request)
            if known is None:
                rendered = self._decide(request)
                known = _Conversation(rendered, _tools_in(rendered), request.model, request.base_url)
                with self._lock:
                    # Also if it failed: a conversation stays as it begins.
                    self._begun[key] = known
                    if len(self._begun) > _MOST:
                        self._begun.popitem(last=False)
        with self._lock:
            self._deciding.pop(key, None)
        return known

    def _decide(self, request: HermesRequest) -> Rendered | None:
        late = threading.Event()
        database = host.database_path(self._config.hermes_home)
        try:
            return self._background.ask(
                "The warm start", lambda: self._begin(request, database, late), seconds=_WAIT_SECONDS
            )
        finally:
            # The background thread may still be at it: what was not sent must not be stored as shown.
            late.set()

    def _begin(self, request: HermesRequest, database: Path, late: threading.Event) -> Rendered | None:
        """Runs in the background thread."""
        # A session that ended a moment ago is still being learned from.
        catch_up(str(self._config.home), _CATCH_UP_SECONDS)
        root = root_of(database, request.session)
        if late.is_set() or root is None:
            return None
        session = NewSession(
            id=root, format=request.format, messages=request.messages, tools=list(request.body.get("tools") or ())
        )
        with open_store(self._config.store_path) as store:
            folder = folder_of_session(database, request.session)
            begun = begin(
                store,
                lambda: experiment_database(self._config, store),
                msgspec.structs.replace(session, project=project_key(store, folder), workdir=folder),
                self.settings,
                now=self._clock(),
                memory=self._memory,
                is_late=late.is_set,
                warn=log.warning,
            )
            if begun.rendered is not None and not begun.is_new:
                library = current(store, now=self._clock())
                self._retractions.note(request.session, begun.example_ids, library)
        return begun.rendered


class _RetractionLine(msgspec.Struct, frozen=True):
    """A retraction, and the message that it follows, by place and text."""

    text: str
    place: int | None = None
    behind: str = ""


class Retractions:
    """The retractions of living conversations.

    A block never changes. The line is put behind the last message when it is first due, and stays there in every later
    request, so that what the provider has cached of the conversation stays valid.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lines: OrderedDict[str, _RetractionLine] = OrderedDict()

    def note(self, session: str, example_ids: Sequence[str], library: Library) -> bool:
        """Note the examples of a conversation that are suspended now; returns whether there are any."""
        found = find_retraction(library, example_ids)
        with self._lock:
            if found is None or session in self._lines:
                return found is not None
            self._lines[session] = _RetractionLine(found.text)
            if len(self._lines) > _MOST:
                self._lines.popitem(last=False)
        return True

    def put_in(self, session: str, messages: list[dict[str, Any]], *, may_begin: bool) -> list[dict[str, Any]]:
        """The messages with the retraction of their conversation, if it has one. `may_begin`: it may be added now."""
        with self._lock:
            line = self._lines.get(session)
            if line is None or not messages:
                return messages
            if not _stands(line, messages):
                if not may_begin:
                    return messages
                line = _RetractionLine(line.text, len(messages) - 1, _words(messages[-1]))
                self._lines[session] = line
        assert line.place is not None
        return [_with(one, line.text) if at == line.place else one for at, one in enumerate(messages)]


def _stands(line: _RetractionLine, messages: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the message before the line is still there; a compression removes it."""
    return line.place is not None and line.place < len(messages) and _words(messages[line.place]) == line.behind


def _words(message: Mapping[str, Any]) -> str:
    """What a message says, without the marks that Hermes sets for the provider's cache."""
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"text": content}]
    said = [part.get("text") or part.get("tool_use_id") for part in parts if isinstance(part, Mapping)]
    return f"{message.get('role')} {message.get('tool_call_id')} {said}"


def _with(message: dict[str, Any], text: str) -> dict[str, Any]:
    content = message.get("content")
    if isinstance(content, list):
        return {**message, "content": [*content, {"type": "text", "text": text}]}
    return {**message, "content": f"{content}\n\n{text}" if content else text}


def request_of(body: object, *, session: str, model: str, base_url: str, api_mode: str) -> HermesRequest | None:
    """The parsed request; None if such a request never gets a block."""
    format = FORMATS.get(api_mode)
    if format is None or not session or not isinstance(body, dict):
        return None
    messages = body.get("messages")
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        return None
    return HermesRequest(session=session, model=model, base_url=base_url, format=format, body=body)


def project_of_session(store: Store, database: Path, session: str) -> str | None:
    """The key of the project that a conversation of Hermes belongs to; None if Hermes does not know its folder."""
    return project_key(store, folder_of_session(database, session))


def folder_of_session(database: Path, session: str) -> str | None:
    """The folder that a conversation of Hermes works in; None if Hermes does not know it."""
    try:
        return folder_of(database, session)
    except SourceError:
        return None


def _tools_in(rendered: Rendered | None) -> frozenset[str]:
    """The tools whose calls a block shows."""
    if rendered is None:
        return frozenset()
    found = set()
    for message in msgspec.json.decode(rendered.content, type=list[dict[str, Any]]):
        found |= {call["function"]["name"] for call in message.get("tool_calls") or ()}
        content = message.get("content")
        parts = content if isinstance(content, list) else ()
        found |= {part["name"] for part in parts if isinstance(part, Mapping) and part.get("type") == "tool_use"}
    return frozenset(found)
