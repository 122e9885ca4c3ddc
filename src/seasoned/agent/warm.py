"""The warm start of a conversation of our own agent: its block as messages, and retractions of what it was shown."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import msgspec
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter

from seasoned.begin.call_hint import CallHints, knows_repairs
from seasoned.begin.ongoing import Retraction, experiment_database, find_retraction, is_held_back
from seasoned.begin.settings import begin_settings
from seasoned.begin.warm_start import NewSession, begin
from seasoned.config import Config
from seasoned.errors import SeasonedError, StoreError
from seasoned.experience.ask import asking_for
from seasoned.history.reader.seasoned_db import AGENT
from seasoned.session import ToolCall
from seasoned.store import open_store
from seasoned.store.project import project_key
from seasoned.template.block import Format
from seasoned.template.library.storage import current, find_block
from seasoned.template.library.upkeep import watch

FORMAT: Format = "pydantic-ai"
AUTO = "auto"


class Warmth(msgspec.Struct, frozen=True):
    """The messages of a warm block, and the reason if there are none."""

    messages: tuple[ModelMessage, ...]
    reason: str
    # `name@version`.
    template: str | None = None


def warm_block(
    config: Config,
    *,
    lineage_root: str,
    task: str,
    tools: Sequence[dict[str, Any]],
    folder: Path | None = None,
    template: str | None = AUTO,
    is_small: bool = False,
    clock: Callable[[], float] = time.time,
) -> Warmth:
    """The block of a conversation, made at its first turn; `auto` takes the template that fits the task best.

    While an experiment runs, a conversation that begins with `auto` is assigned to an arm like any other session. With
    None it has no examples, and is only told what the task asks for in its project.
    """
    session = NewSession(
        id=lineage_root,
        format=FORMAT,
        task=task,
        tools=list(tools),
        forms=() if template is None else ("messages",),
        template=None if template == AUTO else template,
        is_small=is_small,
        workdir=None if folder is None else str(folder),
        may_be_assigned=template == AUTO,
    )
    settings = begin_settings(config, "chat")
    if template is not None:
        settings = settings.on_request()
    try:
        with open_store(config.store_path) as store:
            project = project_key(store, None if folder is None else str(folder))
            session = msgspec.structs.replace(session, project=project)
            begun = begin(store, lambda: experiment_database(config, store), session, settings, now=clock())
    # Without its store a conversation begins cold instead of failing.
    except StoreError as error:
        return Warmth((), str(error))
    if begun.content is None:
        return Warmth((), begun.reason)
    return Warmth(_messages(begun.content), begun.reason, begun.template)


def known_block(store_path: Path, lineage_root: str) -> Warmth | None:
    """The block that a recorded conversation began with; None if it began without."""
    with open_store(store_path) as store:
        block = find_block(store, lineage_root, FORMAT)
    if block is None:
        return None
    reason = "The block that the conversation began with."
    return Warmth(_messages(block.content), reason, f"{block.template}@{block.version}")


def hint(
    config: Config, lineage_root: str, folder: Path, call: ToolCall, *, clock: Callable[[], float] = time.time
) -> str:
    """What to tell after a call that failed: what repaired such a failure in this project. Empty for nothing."""
    settings = begin_settings(config, "chat")
    if not settings.tells("calls") or not config.store_path.exists():
        return ""
    try:
        with open_store(config.store_path) as store:
            asking = asking_for(store, lineage_root, str(folder))
            if asking is None or not knows_repairs(store, asking.project):
                return ""
            if is_held_back(lambda: experiment_database(config, store), lineage_root, settings, now=clock()):
                return ""
            return CallHints().decide(asking, call, agent=AGENT)
    # A hint is never worth a failed turn.
    except (SeasonedError, sqlite3.Error):
        return ""


def retract(
    store_path: Path, lineage_root: str, retracted: Collection[str], *, clock: Callable[[], float] = time.time
) -> Retraction | None:
    """Run the harm guard; if it suspends what this conversation was shown, the line that retracts it."""
    try:
        with open_store(store_path) as store:
            block = find_block(store, lineage_root, FORMAT)
            shown = set(block.example_ids if block is not None else ()) - set(retracted)
            if not shown:
                return None
            watch(store, current(store, now=clock()), now=clock())
            return find_retraction(current(store, now=clock()), shown)
    # A safeguard must not break the conversation that it guards.
    except (SeasonedError, sqlite3.Error):
        return None


def _messages(content: bytes) -> tuple[ModelMessage, ...]:
    return tuple(ModelMessagesTypeAdapter.validate_json(content))
