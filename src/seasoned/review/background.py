"""The reviewer of a conversation: counts its turns, and reviews it in a background thread when a review is due.

It works on copies and returns lines for the user. The conversation never waits for it.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
from pydantic_ai import CancellationToken
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import Model

from seasoned.config import Config
from seasoned.errors import SeasonedError
from seasoned.review.context import Context
from seasoned.review.due import ReviewCount, ReviewSettings, Topic, load_count, save_count, settings_of, topic_due
from seasoned.review.ledger import Review
from seasoned.review.overlap import ForeignTexts
from seasoned.review.prompt import budget_for, digest_of, foreign_texts, own_instructions, review_prompt
from seasoned.review.run import Fork, ReviewPlan, carry_out, digest_fork, session_of, task_of, whole_fork
from seasoned.runner.conversation import Conversation
from seasoned.runner.model import ModelChoice, choose_model, open_model
from seasoned.runner.runtime import Runtime
from seasoned.runner.stream_events import Turn
from seasoned.session import Session, SessionRef
from seasoned.store import open_store

GRACE_SECONDS = 2.0
# For an interrupted review, to close its row in the ledger.
_LAST_SECONDS = 0.5
_REASON_CHARS = 300
_log = logging.getLogger("seasoned.review")
# Without a handler Python would print warnings into the middle of a conversation.
_log.addHandler(logging.NullHandler())


@dataclass(frozen=True, kw_only=True)
class _ReviewedConversation:
    """What the reviewer takes from a conversation: copies, and values that never change."""

    session: SessionRef
    topic: Topic
    runtime: Runtime
    context: Context
    history: tuple[ModelMessage, ...]
    window: int | None


class Reviewer:
    """Reviews one conversation. `after_turn` returns at once; `take_lines` returns what to show the user."""

    def __init__(
        self,
        settings: ReviewSettings,
        *,
        store_path: Path,
        lineage_root: str,
        open_model: Callable[[], Model] | None = None,
        open_other: Callable[[], Model] | None = None,
        own_instructions: Path | None = None,
        on_review: Callable[[Review], None] = lambda review: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`open_model` opens the conversation's model once more, since a connection belongs to one event loop;
        `open_other` the cheaper one, if reviews have one. `on_review` is called after every review, in its thread.
        """
        self._settings = settings
        self._store_path = store_path
        self._lineage_root = lineage_root
        self._open_model = open_model
        self._open_other = open_other
        self._own_instructions = own_instructions
        self._on_review = on_review
        self._clock = clock
        self._lock = threading.Lock()
        self._save_lock = threading.Lock()
        self._lines: list[str] = []
        self._reported_kinds: set[str] = set()
        self._thread: threading.Thread | None = None
        self._saving: list[threading.Thread] = []
        self._token = CancellationToken()
        self._count = self._load()

    @property
    def _is_on(self) -> bool:
        return bool(self._settings.memory_turns or self._settings.skill_calls)

    @property
    def is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def after_turn(self, conversation: Conversation, turn: Turn) -> bool:
        """Count a turn, and start a review if one is due and the turn was answered; returns whether one was started."""
        if not self._is_on or self._token.cancelled:
            return False
        self._count = self._count.after(calls=turn.calls)
        topic = topic_due(self._count, self._settings)
        context = conversation.runtime.context
        # Nothing can be learned yet from a turn that was stopped; the count goes on.
        is_time = topic is not None and context is not None and turn.stopped is None and bool(turn.text.strip())
        if is_time and not self.is_running:
            assert topic is not None and context is not None
            # Reset at the start, so that a review that fails is not repeated after every turn.
            self._count = self._count.without(topic)
            self._begin(
                _ReviewedConversation(
                    session=conversation.ref,
                    topic=topic,
                    runtime=conversation.runtime,
                    context=context,
                    history=tuple(conversation.snapshot()),
                    window=conversation.limits.context_tokens,
                )
            )
        else:
            is_time = False
        self._save()
        return is_time

    def take_lines(self) -> list[str]:
        """The results of reviews since the last time, one line each; a failure is reported once."""
        with self._lock:
            lines, self._lines = self._lines, []
        return lines

    def wait(self, seconds: float) -> bool:
        """Wait for the running review; whether it has ended."""
        if self._thread is not None:
            self._thread.join(seconds)
        return not self.is_running

    def close(self, *, grace_seconds: float = GRACE_SECONDS) -> None:
        """Give a running review a moment to end, then interrupt it, then abandon it: the process never hangs on it."""
        until = time.monotonic() + grace_seconds
        for thread in self._saving:
            thread.join(max(0.0, until - time.monotonic()))
        if not self.wait(max(0.0, until - time.monotonic())):
            self._token.cancel()
            self.wait(_LAST_SECONDS)
        self._token.cancel()

    def _begin(self, seen: _ReviewedConversation) -> None:
        # A daemon, like the threads that it starts: none of them keeps the process alive.
        self._thread = threading.Thread(target=self._work, args=(seen,), name="seasoned-review", daemon=True)
        self._thread.start()

    def _work(self, seen: _ReviewedConversation) -> None:
        asyncio.run(self._guarded(seen))

    async def _guarded(self, seen: _ReviewedConversation) -> None:
        """The error boundary of a review and its callback."""
        reviewing = asyncio.create_task(self._review(seen))
        # Waited for, not awaited: what it raises is reported below instead of ending the thread.
        await asyncio.wait({reviewing})
        if (error := reviewing.exception()) is not None:
            redactor = seen.context.secrecy.redactor()
            self._tell_once(redactor.head(f"The review failed: {type(error).__name__}: {error}", _REASON_CHARS))
            return
        review = reviewing.result()
        if review.kept or review.staged:
            self._tell(review.said or "")
        elif review.state in ("failed", "budget"):
            self._tell_once(review.said or "")
        telling = asyncio.create_task(self._call_back(review))
        await asyncio.wait({telling})
        if (error := telling.exception()) is not None:
            _log.warning("the callback for reviews failed: %r", error)

    async def _review(self, seen: _ReviewedConversation) -> Review:
        session = session_of(seen.session, seen.history, folder=seen.context.folder)
        foreign = foreign_texts(session, project=seen.context.project)
        plan = ReviewPlan(
            session=seen.session,
            occasion="background",
            topic=seen.topic,
            fork=self._fork(seen, session, foreign),
            context=seen.context,
            foreign=foreign,
            task=task_of(seen.history),
            settings=self._settings,
        )
        return await carry_out(plan, token=self._token, clock=self._clock)

    def _fork(self, seen: _ReviewedConversation, session: Session, foreign: ForeignTexts) -> Fork:
        prompt = review_prompt(seen.topic, seen.context, self._own_instructions)
        if self._open_other is None:
            model = None if self._open_model is None else self._open_model()
            fork = whole_fork(seen.runtime, seen.history, prompt, model=model)
            # The whole history costs little while the provider caches it; one that no longer fits becomes a digest.
            if seen.window is None or fork.size < seen.window:
                return fork
            other = fork.runtime.model
            owns = fork.owns_model
        else:
            other, owns = self._open_other(), True
        budget = budget_for(seen.window if self._open_other is None else other.context_window, prompt)
        redactor, project = seen.context.secrecy.redactor(), seen.context.project
        digest = digest_of(session, redactor, project=project, foreign=foreign, budget=budget)
        return digest_fork(other, digest, prompt, owns_model=owns)

    async def _call_back(self, review: Review) -> None:
        self._on_review(review)

    def _tell(self, line: str) -> None:
        with self._lock:
            self._lines.append(" ".join(line.split()))

    def _tell_once(self, line: str) -> None:
        with self._lock:
            # The same failure with other details is not reported again.
            kind = line.partition(":")[0]
            is_new = kind not in self._reported_kinds
            self._reported_kinds.add(kind)
        if is_new:
            _log.warning("%s", line)
            self._tell(line)

    def _load(self) -> ReviewCount:
        if not self._is_on:
            return ReviewCount()
        try:
            with open_store(self._store_path) as store:
                return load_count(store, self._lineage_root)
        except (SeasonedError, sqlite3.Error) as error:
            _log.warning("the count of turns cannot be read: %s", error)
            return ReviewCount()

    def _save(self) -> None:
        """Save the count in a thread: a locked store must not delay a turn."""
        self._saving = [thread for thread in self._saving if thread.is_alive()]
        saving = threading.Thread(target=self._save_now, name="seasoned-review-count", daemon=True)
        self._saving.append(saving)
        saving.start()

    def _save_now(self) -> None:
        try:
            # Several saves may wait here; each writes the latest count.
            with self._save_lock, open_store(self._store_path) as store:
                save_count(store, self._lineage_root, self._count, now=self._clock())
        except (SeasonedError, sqlite3.Error) as error:
            _log.warning("the count of turns cannot be kept: %s", error)


def start_reviewer(
    config: Config,
    conversation: Conversation,
    choice: ModelChoice,
    *,
    on_review: Callable[[Review], None] = lambda review: None,
) -> Reviewer:
    """The reviewer of a conversation. A small model reviews nothing unless another model is set for reviews."""
    settings = settings_of(config)
    other = None if settings.model is None else choose_model(config, settings.model)
    if other is None and choice.is_small:
        settings = msgspec.structs.replace(settings, memory_turns=0, skill_calls=0)
    root = str(conversation.ref) if conversation.recorder is None else conversation.recorder.about.lineage_root
    return Reviewer(
        settings,
        store_path=config.store_path,
        lineage_root=root,
        open_model=lambda: open_model(choice, context_length=config.context_length),
        open_other=None if other is None else lambda: open_model(other, context_length=config.context_length),
        own_instructions=own_instructions(config),
        on_review=on_review,
    )
