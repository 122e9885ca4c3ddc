"""What is put into Hermes' requests to a model: warm block, retractions, memory, and hints after failed calls.

It is the same in every request of a conversation, also after a restart, so that the provider's cache stays valid.
Nothing is written into Hermes' own files or database: what is added exists in the request alone.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from seasoned.begin.memory import Remembered
from seasoned.begin.start_text import (
    begin_with_memory,
    begin_with_sheet,
    find_memory,
    hint_notice,
    kept_notice,
    start_notice,
)
from seasoned.begin.warm_start import NewSession, begin
from seasoned.command.tool import tool_of
from seasoned.config import Config, WarmSettings
from seasoned.errors import SourceError
from seasoned.example.block import Format
from seasoned.example.choose.offered import offered
from seasoned.example.library.storage import Library, cached_library, find_block
from seasoned.example.library.upkeep import retraction
from seasoned.example.provision import carries_block, insert, is_under_way
from seasoned.example.render import Rendered
from seasoned.experiment.live.assignment import is_held_back
from seasoned.hermes_plugin import host
from seasoned.hermes_plugin.hint import (
    CallHints,
    followed,
    with_lines,
)
from seasoned.hermes_plugin.host import ErrorBoundary, log
from seasoned.history.reader.hermes_db import AGENT, folder_of, lineage, profile_at
from seasoned.learn_queue import catch_up
from seasoned.lesson.ask import LessonLookup
from seasoned.marks import HINT_OPENS
from seasoned.session import Marks, Result, SessionRef, ToolCall
from seasoned.store import Store, open_store
from seasoned.store.project import project_key

SUBAGENT = "subagent"
# The next request waits this long. A result that is sent without a line stays without.
_HINT_SECONDS = 2.0


class HermesHints:
    """Decides what follows the results of failed calls, and repeats that in every request."""

    def __init__(self, config: Config, boundary: ErrorBoundary) -> None:
        self._config = config
        self._boundary = boundary
        self._hints = CallHints()
        # The name of each session's conversation in the store; None if it has no hints.
        self._roots: OrderedDict[str, str | None] = OrderedDict()
        # Now, beside what Hermes does: the first failure has no time for it.
        boundary.ask("The hint", lambda: import_module("seasoned.outcome.judge"), seconds=0)

    def heard(
        self, session: str, call_id: str, tool: str, arguments: object, result: object, settings: WarmSettings
    ) -> None:
        """Decide what the result of a call is followed by. Waits a moment, because the next request follows at once."""
        if not session or not call_id or not tool or not settings.tells("calls"):
            return
        text = result if isinstance(result, str) else msgspec.json.encode(result, enc_hook=str).decode()
        given = dict(arguments) if isinstance(arguments, dict) else {}
        call = ToolCall(call_id, tool, given, Result(text, Marks()))
        database = host.database_path(self._config.hermes_home)
        late = threading.Event()
        told = self._boundary.ask(
            "The hint", lambda: self._decide(session, call, database, settings, late), seconds=_HINT_SECONDS
        )
        late.set()
        root = self._roots.get(session)
        if told and root is not None and settings.visible:
            host.tell_user(hint_notice(root, told.removeprefix(HINT_OPENS)))

    def put_in(self, session: str, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The messages with the lines of their conversation; the same list if there are none."""
        if session not in self._roots:
            database = host.database_path(self._config.hermes_home)
            self._boundary.ask("The hint", lambda: self._load(session, database), seconds=_HINT_SECONDS)
        root = self._roots.get(session)
        lines = None if root is None else self._hints.known(root)
        return with_lines(messages, lines) if lines else messages

    def _load(self, session: str, database: Path) -> str | None:
        """Runs in a separate thread, as does what follows."""
        if session not in self._roots:
            root = root_of(database, session)
            if root is not None:
                with open_store(self._config.store_path) as store:
                    self._hints.lines(store, root)
            self._roots[session] = root
            if len(self._roots) > _MOST:
                self._roots.popitem(last=False)
        return self._roots[session]

    def _decide(
        self, session: str, call: ToolCall, database: Path, settings: WarmSettings, late: threading.Event
    ) -> str:
        """The line after the result; empty for none."""
        root = self._load(session, database)
        if root is None:
            return ""
        with open_store(self._config.store_path) as store:
            place = place_of(store, database, session)
            if place.project is None or is_held_back(self._config, store, root, settings, now=time.time()):
                return ""
            lookup = LessonLookup(store, place.project, root, place.folder)
            return self._hints.decide(lookup, call, agent=AGENT, is_late=late.is_set)


def root_of(database: Path, session: str) -> str | None:
    """The conversation's name in the store, that of the first session of its lineage. None for a sub-agent's."""
    try:
        first, relation = lineage(database, session)
    except SourceError:
        # A library user may run Hermes without its database.
        first, relation = session, None
    return None if relation == SUBAGENT else str(SessionRef(AGENT, first))


# By Hermes' name of the API. Its other APIs check their items before the plugin sees them, so no block is put there.
FORMATS: dict[str, Format] = {"chat_completions": "openai", "anthropic_messages": "anthropic"}
# The first request of a conversation waits this long. After that it is sent without a block, and stays without.
_WAIT_SECONDS = 2.0
_CATCH_UP_SECONDS = 0.8
_MOST = 2000


_Key = tuple[str, Format, bool]


class HermesRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request to a model, as far as its warm start depends on it."""

    session: str
    model: str
    base_url: str
    format: Format
    body: dict[str, Any]

    @property
    def key(self) -> _Key:
        """What its conversation is known by. A request without tools can be shown no calls."""
        return self.session, self.format, bool(self.tools)

    @property
    def tools(self) -> frozenset[str]:
        return frozenset(offered(self.body.get("tools") or ()))

    @property
    def messages(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.body["messages"]
        return found


class ConversationPlace(msgspec.Struct, frozen=True):
    """Where a conversation works, as far as Hermes has recorded it."""

    project: str | None = None
    folder: str | None = None


class _Conversation(msgspec.Struct, frozen=True):
    """How a conversation began, and on which model."""

    model: str
    base_url: str
    rendered: Rendered | None = None  # calls that worked
    tools: frozenset[str] = frozenset()  # those that `rendered` shows
    text: str = ""  # the sheet and memory, which follow the system prompt
    notice: str = ""  # the line for its user


class Warmer:
    """Decides once for each conversation what it begins with, and repeats that in every request."""

    def __init__(self, config: Config, settings: WarmSettings, boundary: ErrorBoundary) -> None:
        self._config = config
        self.settings = settings
        self._boundary = boundary
        self._retractions = Retractions()
        self._lock = threading.Lock()
        self._deciding: dict[_Key, threading.Lock] = {}
        self._begun: OrderedDict[_Key, _Conversation] = OrderedDict()

    def warm(self, request: HermesRequest, *, is_review: bool) -> dict[str, Any]:
        """The body with what its conversation begins with; the same object if it stays as it is."""
        # A review fork repeats the beginning of its conversation, and is never given one itself.
        begun = self._known(request) if is_review else self._decide_once(request)
        body = request.body
        # Another model of a review has no cached prefix to keep, and is given a digest of the conversation.
        if begun is None or (is_review and (begun.model, begun.base_url) != (request.model, request.base_url)):
            return body
        if begun.rendered is not None and begun.tools <= request.tools and not carries_block(request.messages):
            if not is_review:
                self._check(request.session, begun.rendered)
            messages = self._retractions.put_in(request.session, request.messages, may_begin=not is_review)
            body = {**body, "messages": insert(messages, begun.rendered)}
        return with_text(body, request.format, begun.text) if begun.text else body

    def _check(self, session: str, rendered: Rendered) -> None:
        """Note whether an example that a living conversation was shown has been suspended since."""

        def check() -> None:
            with open_store(self._config.store_path) as store:
                self._retractions.note(session, rendered.example_ids, cached_library(store, now=time.time()))

        self._boundary.ask("The retraction", check, seconds=_HINT_SECONDS)

    def _known(self, request: HermesRequest) -> _Conversation | None:
        with self._lock:
            return self._begun.get(request.key)

    def _decide_once(self, request: HermesRequest) -> _Conversation:
        with self._lock:
            # One lock for each conversation: a slow decision must not hold up the others.
            deciding = self._deciding.setdefault(request.key, threading.Lock())
        with deciding:
            known = self._known(request)
            if known is None:
                known = self._decide(request) or _Conversation(request.model, request.base_url)
                with self._lock:
                    # Also if it failed: a conversation stays as it begins.
                    self._begun[request.key] = known
                    if len(self._begun) > _MOST:
                        self._begun.popitem(last=False)
                if known.notice:
                    host.tell_user(known.notice)
        with self._lock:
            self._deciding.pop(request.key, None)
        return known

    def _decide(self, request: HermesRequest) -> _Conversation | None:
        late = threading.Event()
        try:
            return self._boundary.ask("The warm start", lambda: self._begin(request, late), seconds=_WAIT_SECONDS)
        finally:
            # The thread may still be working: what was not sent must not be stored as shown.
            late.set()

    def _begin(self, request: HermesRequest, late: threading.Event) -> _Conversation | None:
        # A session that ended a moment ago is still being learned from.
        catch_up(str(self._config.home), _CATCH_UP_SECONDS)
        database = host.database_path(self._config.hermes_home)
        root = root_of(database, request.session)
        if late.is_set() or root is None:
            return None
        with open_store(self._config.store_path) as store:
            place = place_of(store, database, request.session)
            # First: what the sheet shows is not repeated by what the first prompt asks for.
            sheet = self._sheet(store, request, root, place)
            rendered = self._block(store, request, root, place, late) if request.tools else None
            memory = self._remembered(store, request, root, place)
            is_new = self.settings.visible and not is_under_way(request.messages)
            notice = _notice(store, root, rendered, sheet, memory) if is_new else ""
        text = "\n\n".join(filter(None, (sheet, memory.text if memory else "")))
        return _Conversation(request.model, request.base_url, rendered, _tools_in(rendered), text, notice)

    def _sheet(self, store: Store, request: HermesRequest, root: str, place: ConversationPlace) -> str:
        """The sheet of the project; empty where a template or an experiment decides, or no command can be run."""
        if is_under_way(request.messages):
            known = find_block(store, root, "text")
            return "" if known is None else known.content.decode()
        settings = self.settings
        has_shell = any(tool_of(name).form == "shell" for name in request.tools)
        if settings.template or settings.experiment is not None or not has_shell:
            return ""
        return (begin_with_sheet(store, root, place.folder, settings, now=time.time()) or b"").decode()

    def _block(
        self, store: Store, request: HermesRequest, root: str, place: ConversationPlace, late: threading.Event
    ) -> Rendered | None:
        session = NewSession(
            conversation=root,
            format=request.format,
            messages=request.messages,
            tools=list(request.body["tools"]),
            project=place.project,
            workdir=place.folder,
        )
        begun = begin(
            store,
            self._config,
            session,
            self.settings,
            now=time.time(),
            is_late=late.is_set,
            warn=log.warning,
        )
        return begun.rendered

    def _remembered(
        self, store: Store, request: HermesRequest, root: str, place: ConversationPlace
    ) -> Remembered | None:
        if is_under_way(request.messages):
            return find_memory(store, root)
        if is_held_back(self._config, store, root, self.settings, now=time.time()):
            return None
        return begin_with_memory(store, self._config, root, self.settings, project=place.project, now=time.time())


def _notice(store: Store, root: str, rendered: Rendered | None, sheet: str, memory: Remembered | None) -> str:
    """The line for the user when a conversation begins."""
    commands = sum(line.startswith("- ") for line in sheet.splitlines())
    examples = 0 if rendered is None else len(rendered.example_ids)
    shown = start_notice(root, commands, memory, examples=examples)
    return " ".join(filter(None, (shown, kept_notice(store, AGENT))))


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

    def note(self, session: str, example_ids: Sequence[str], library: Library) -> None:
        """Note the examples of a conversation that are suspended now."""
        text = retraction(library, example_ids)
        with self._lock:
            if not text or session in self._lines:
                return
            self._lines[session] = _RetractionLine(text)
            if len(self._lines) > _MOST:
                self._lines.popitem(last=False)

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
        told = messages[line.place]
        told = {**told, "content": followed(told.get("content"), line.text)}
        return [*messages[: line.place], told, *messages[line.place + 1 :]]


def _stands(line: _RetractionLine, messages: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the message before the line is still there; a compression removes it."""
    return line.place is not None and line.place < len(messages) and _words(messages[line.place]) == line.behind


def _words(message: Mapping[str, Any]) -> str:
    """What a message says, without the marks that Hermes sets for the provider's cache."""
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"text": content}]
    said = [part.get("text") or part.get("tool_use_id") for part in parts if isinstance(part, Mapping)]
    return f"{message.get('role')} {message.get('tool_call_id')} {said}"


def request_of(body: object, *, session: str, model: str, base_url: str, api_mode: str) -> HermesRequest | None:
    """The parsed request; None if such a request never gets a block."""
    format = FORMATS.get(api_mode)
    if format is None or not session or not isinstance(body, dict):
        return None
    messages = body.get("messages")
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        return None
    return HermesRequest(session=session, model=model, base_url=base_url, format=format, body=body)


def place_of(store: Store, database: Path, session: str) -> ConversationPlace:
    """Where a conversation of Hermes works; empty if Hermes has not recorded it yet."""
    try:
        # What continues a conversation may have recorded no folder.
        folder = folder_of(database, session) or folder_of(database, lineage(database, session)[0])
    except SourceError:
        return ConversationPlace()
    return ConversationPlace(project_key(store, folder, application=profile_at(database.parent)), folder)


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


def with_text(body: dict[str, Any], format: str, text: str) -> dict[str, Any]:
    """A request with a text after its system prompt."""
    if format == "anthropic":
        return {**body, "system": followed(body.get("system"), text)}
    first, *rest = body["messages"] or [{}]
    if first.get("role") != "system":
        return {**body, "messages": [{"role": "system", "content": text}, *body["messages"]]}
    return {**body, "messages": [{**first, "content": followed(first.get("content"), text)}, *rest]}
