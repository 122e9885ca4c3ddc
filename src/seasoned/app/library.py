"""Functions of `import seasoned` that open stores: a backtest of histories, and the beginning of a conversation."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from seasoned.app.backtest import FEWEST_CONVERSATIONS, BacktestAnswer, answer_of, run_backtest
from seasoned.app.stores import histories, own_store, shared_database
from seasoned.begin.settings import begin_settings
from seasoned.begin.warm_start import NewSession
from seasoned.begin.warm_start import begin as begin_session
from seasoned.config import Config, load
from seasoned.store.project import find_project, project_key
from seasoned.template.block import Format
from seasoned.template.choose.offered import Tools
from seasoned.template.provision import insert

# Sessions of a program that names no agent belong to this one.
_AGENT = "library"


class BegunConversation(msgspec.Struct, frozen=True):
    """The messages that a conversation begins with, and what was put into them."""

    messages: list[dict[str, Any]]
    template: str | None  # `name@version`; None if nothing was shown
    example_ids: tuple[str, ...]
    arm: str | None  # in the running experiment; None if it takes no part
    reason: str


def backtest(
    paths: Iterable[Path | str] = (),
    *,
    project: str | None = None,
    fewest: int = FEWEST_CONVERSATIONS,
    config: Config | None = None,
) -> BacktestAnswer:
    """Replay histories: what would their sessions have been shown, and was it right?

    Without paths, the sessions of the user's store. `project` is the key of one project, a unique name or a folder;
    `fewest` leaves out projects with fewer conversations.
    """
    with histories(config or load(), [Path(path) for path in paths]) as read:
        key = None if project is None else find_project(read.store, project, base=str(Path.cwd())).key
        found, replayed = run_backtest(read.store, project=key, fewest=fewest if key is None else 1)
        return answer_of(found, replayed, project=key)


def begin(
    conversation: str,
    messages: Sequence[Mapping[str, Any]],
    *,
    tools: Tools | None = None,
    task: str | None = None,
    folder: Path | str | None = None,
    template: str | None = None,
    format: Format = "openai",
    config: Config | None = None,
) -> BegunConversation:
    """Begin a conversation with what was learned: the same examples, byte for byte, each time it is asked for.

    Call it with the first messages, and again whenever the conversation is sent from its beginning. `conversation` is
    its id, as `agent:id` or alone; `tools` are in any provider's shape; `folder` is where it works, so that it sees
    experience of its project. The settings of `[warm]` and a running experiment hold. Where nothing fits, the messages
    come back unchanged and `reason` says why.
    """
    config = config or load()
    with own_store(config) as store:
        session = NewSession(
            id=conversation if ":" in conversation else f"{_AGENT}:{conversation}",
            format=format,
            messages=messages,
            task=task,
            tools=tools,
            template=template,
            project=None if folder is None else project_key(store, str(folder)),
        )
        begun = begin_session(
            store, lambda: shared_database(config), session, begin_settings(config, "library"), now=time.time()
        )
    given = [dict(message) for message in messages]
    return BegunConversation(
        given if begun.rendered is None else insert(given, begun.rendered),
        begun.template,
        begun.example_ids,
        begun.arm,
        begun.reason,
    )
