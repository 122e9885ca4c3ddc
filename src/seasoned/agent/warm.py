"""A warm start: the block of examples that a conversation begins with, the same bytes for as long as it lives."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import msgspec
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter

from seasoned.errors import SeasonedError, StoreError
from seasoned.store import open_store
from seasoned.template.block import Format
from seasoned.template.library.guard import retraction
from seasoned.template.library.storage import current, find_block, find_example
from seasoned.template.library.upkeep import watch
from seasoned.template.provision import BUDGET, ensure_block

FORMAT: Format = "pydantic-ai"
AUTO = "auto"


class Retraction(msgspec.Struct, frozen=True):
    """A line for the model, and the examples that it takes back."""

    text: str
    example_ids: tuple[str, ...]


class Warmth(msgspec.Struct, frozen=True):
    """The messages of a block, where there is one, and why there is that or none."""

    messages: tuple[ModelMessage, ...]
    reason: str
    template: str | None = None
    """`name@version`."""


def warm_block(
    store_path: Path,
    *,
    lineage_root: str,
    task: str,
    tools: Sequence[dict[str, Any]],
    template: str = AUTO,
    budget: int = BUDGET,
    is_small: bool = False,
    clock: Callable[[], float] = time.time,
) -> Warmth:
    """The block of a conversation, made at its first turn; `auto` takes the template that fits the task best."""
    try:
        store = open_store(store_path)
    except StoreError as error:
        return Warmth((), str(error))
    with store:
        ensured = ensure_block(
            store,
            lambda: current(store, now=clock()),
            lineage_root=lineage_root,
            now=clock(),
            format=FORMAT,
            tools=list(tools),
            task=task,
            template=None if template == AUTO else template,
            budget=budget,
            is_small=is_small,
        )
    if ensured.rendered is None:
        return Warmth((), ensured.reason)
    return Warmth(_messages(ensured.rendered.content), ensured.reason, ensured.template)


def known_block(store_path: Path, lineage_root: str) -> Warmth | None:
    """The block that a recorded conversation began with; None where it began cold."""
    with open_store(store_path) as store:
        block = find_block(store, lineage_root, FORMAT)
    if block is None:
        return None
    return Warmth(
        _messages(block.content), "The block that the conversation began with.", f"{block.template}@{block.version}"
    )


def take_back(
    store_path: Path, lineage_root: str, retracted: Collection[str], *, clock: Callable[[], float] = time.time
) -> Retraction | None:
    """Run the harm guard; where it suspends what this conversation was shown, the line that takes it back."""
    try:
        with open_store(store_path) as store:
            block = find_block(store, lineage_root, FORMAT)
            library = current(store, now=clock())
            shown = set(block.example_ids if block is not None else ()) - set(retracted)
            if not shown:
                return None
            watch(store, library, now=clock())
            library = current(store, now=clock())
            found = [find_example(library, one) for one in sorted(shown) if library.state_of(one) == "suspended"]
    except (SeasonedError, sqlite3.Error):
        return None
    return Retraction(retraction(found), tuple(example.id for example in found)) if found else None


def _messages(content: bytes) -> tuple[ModelMessage, ...]:
    return tuple(ModelMessagesTypeAdapter.validate_json(content))
