"""Memory and skills of a project in a conversation of Hermes: behind its system prompt, where its own memory stands.

As with the block, nothing is written into Hermes' files or database: the text exists in the request alone, and is the
same in every request of a conversation, also after a restart.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import msgspec

from seasoned.begin.memory import begin_with_memory, find_memory
from seasoned.begin.ongoing import experiment_database, is_held_back
from seasoned.begin.settings import BeginSettings
from seasoned.config import Config
from seasoned.experience.notice import kept_notice, start_notice
from seasoned.hermes_plugin import host
from seasoned.hermes_plugin.background import BackgroundThread
from seasoned.hermes_plugin.hint import root_of
from seasoned.hermes_plugin.warm import HermesRequest, project_of_session
from seasoned.store import open_store
from seasoned.template.provision import is_under_way

_WAIT_SECONDS = 2.0
_MOST = 2000


class _Begun(msgspec.Struct, frozen=True):
    """What a conversation is shown, on which model, and the line for its user."""

    text: str
    model: str
    base_url: str
    notice: str = ""


class MemoryInRequests:
    """Decides once for each conversation what it is shown of memory, and repeats that in every request."""

    def __init__(
        self,
        config: Config,
        settings: Callable[[], BeginSettings],
        background: BackgroundThread,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._config = config
        self._settings = settings
        self._background = background
        self._clock = clock
        self._lock = threading.Lock()
        self._known: OrderedDict[str, _Begun] = OrderedDict()

    def put_in(self, request: HermesRequest, body: dict[str, Any], *, is_review: bool) -> dict[str, Any] | None:
        """The body with the text; None if it stays as it is. `body` may hold the block of the request already."""
        with self._lock:
            begun = self._known.get(request.session)
        if begun is None:
            # A review fork repeats the beginning of its conversation, and is never given one itself.
            if is_review:
                return None
            begun = self._decided(request)
        if is_review and (begun.model, begun.base_url) != (request.model, request.base_url):
            return None
        return with_memory(body, request.format, begun.text) if begun.text else None

    def _decided(self, request: HermesRequest) -> _Begun:
        found = self._background.ask("Memory", lambda: self._begin(request), seconds=_WAIT_SECONDS)
        text, notice = found or ("", "")
        begun = _Begun(text, request.model, request.base_url, notice)
        with self._lock:
            # Also if it failed: a conversation stays as it begins.
            begun = self._known.setdefault(request.session, begun)
            if len(self._known) > _MOST:
                self._known.popitem(last=False)
        if begun.notice:
            host.tell_user(begun.notice)
        return begun

    def _begin(self, request: HermesRequest) -> tuple[str, str]:
        """Runs in the background thread."""
        database = host.database_path(self._config.hermes_home)
        root, settings = root_of(database, request.session), self._settings()
        if root is None or not self._config.store_path.exists():
            return "", ""
        with open_store(self._config.store_path) as store:
            if is_under_way(request.messages):
                known = find_memory(store, root)
                return known.text if known else "", ""
            if is_held_back(lambda: experiment_database(self._config, store), root, settings, now=self._clock()):
                return "", ""
            project = project_of_session(store, database, request.session)
            shown = begin_with_memory(store, self._config, root, settings, project=project, now=self._clock())
            blocks = store.rows("receipt.examples", {"conversation": root})
            examples = sum(len(msgspec.json.decode(row["example_ids"])) for row in blocks)
            made = None if shown is None else shown.made
            notice = start_notice(root, 0, made, examples=examples) if settings.is_visible else ""
            news = kept_notice(store, "hermes") if settings.is_visible else ""
        return shown.text if shown else "", " ".join(filter(None, (notice, news)))


def with_memory(body: dict[str, Any], format: str, text: str) -> dict[str, Any]:
    """A request with a text behind its system prompt."""
    if format == "anthropic":
        system = body.get("system")
        if isinstance(system, list):
            return {**body, "system": [*system, {"type": "text", "text": text}]}
        return {**body, "system": f"{system}\n\n{text}" if system else text}
    messages = list(body["messages"])
    if not messages or messages[0].get("role") != "system":
        return {**body, "messages": [{"role": "system", "content": text}, *messages]}
    content = messages[0].get("content")
    parts = [*content, {"type": "text", "text": text}] if isinstance(content, list) else f"{content}\n\n{text}"
    return {**body, "messages": [{**messages[0], "content": parts}, *messages[1:]]}
