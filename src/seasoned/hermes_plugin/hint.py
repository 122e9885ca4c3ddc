"""Hints at calls of Hermes: a line behind the result of a call that failed, in the request alone.

Hermes' own database keeps the result as the tool gave it. The line stands in every later request, also after a resume.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from seasoned.begin.call_hint import CallHints, knows_repairs, with_lines
from seasoned.begin.ongoing import experiment_database, is_held_back
from seasoned.begin.settings import BeginSettings
from seasoned.config import Config
from seasoned.errors import SourceError
from seasoned.experience.ask import Asking, asking_for
from seasoned.experience.notice import hint_notice
from seasoned.hermes_plugin import host
from seasoned.hermes_plugin.background import BackgroundThread
from seasoned.history.reader.hermes_db import AGENT, folder_of, lineage
from seasoned.marks import HINT_OPENS
from seasoned.session import Marks, Result, SessionRef, ToolCall
from seasoned.store import Store, open_store

SUBAGENT = "subagent"
# The next request waits for this. A result that goes without a line stays without.
_WAIT_SECONDS = 0.5
_MOST = 2000


class HermesHints:
    """Decides what stands behind the results of failed calls, and repeats that in every request."""

    def __init__(self, config: Config, background: BackgroundThread, *, clock: Callable[[], float] = time.time) -> None:
        self._config = config
        self._background = background
        self._clock = clock
        self._hints = CallHints()
        # The name of each session's conversation in the store; None if it has no hints.
        self._roots: OrderedDict[str, str | None] = OrderedDict()

    def heard(
        self, session: str, call_id: str, tool: str, arguments: object, result: object, settings: BeginSettings
    ) -> None:
        """Decide what the result of a call is followed by. Waits a moment, because the next request follows at once."""
        if not session or not call_id or not tool or not settings.tells("calls"):
            return
        text = result if isinstance(result, str) else msgspec.json.encode(result, enc_hook=str).decode()
        given = dict(arguments) if isinstance(arguments, dict) else {}
        call = ToolCall(call_id, tool, given, Result(text, Marks()))
        database, late = host.database_path(self._config.hermes_home), threading.Event()
        told: str | None = ""
        try:
            told = self._background.ask(
                "The hint", lambda: self._decide(session, call, database, late, settings), seconds=_WAIT_SECONDS
            )
        finally:
            late.set()
        root = self._roots.get(session)
        if told and root is not None and settings.is_visible:
            host.tell_user(hint_notice(root, told.removeprefix(HINT_OPENS)))

    def put_in(self, session: str, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The messages with the lines of their conversation; the same list if there are none."""
        if session not in self._roots:
            database = host.database_path(self._config.hermes_home)
            self._background.ask("The hint", lambda: self._load(session, database), seconds=_WAIT_SECONDS)
        root = self._roots.get(session)
        lines = None if root is None else self._hints.known(root)
        return with_lines(messages, lines) if lines else messages

    def _load(self, session: str, database: Path) -> str | None:
        """Runs in the background thread, as does what follows."""
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
        self, session: str, call: ToolCall, database: Path, late: threading.Event, settings: BeginSettings
    ) -> str:
        """The line behind the result; empty for none."""
        root = self._load(session, database)
        if root is None:
            return ""
        with open_store(self._config.store_path) as store:
            asking = self._asking(store, root, session, database, settings)
            if late.is_set():
                self._hints.pass_over(root, call.id)
            elif asking is not None:
                return self._hints.decide(asking, call, agent=AGENT)
        return ""

    def _asking(self, store: Store, root: str, session: str, database: Path, settings: BeginSettings) -> Asking | None:
        try:
            asking = asking_for(store, root, folder_of(database, session))
        except SourceError:
            return None
        if asking is None or not knows_repairs(store, asking.project):
            return None
        opened = lambda: experiment_database(self._config, store)  # noqa: E731 - opened only if an experiment runs
        return None if is_held_back(opened, root, settings, now=self._clock()) else asking


def root_of(database: Path, session: str) -> str | None:
    """The conversation's name in the store, that of the first session of its lineage. None for a sub-agent's."""
    try:
        first, relation = lineage(database, session)
    except SourceError:
        # A library user may run Hermes without its database.
        first, relation = session, None
    return None if relation == SUBAGENT else str(SessionRef(AGENT, first))
