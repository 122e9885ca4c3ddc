"""Conversations with the agent: what was asked for, checked before anything heavy is imported."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from seasoned.agent.loop.model import ModelChoice, choose_model
from seasoned.agent.loop.record import RecordedConversation, load_recorded
from seasoned.app.scheduler import agent_jobs, close_and_learn
from seasoned.app.stores import kept_secrecy, own_store
from seasoned.begin.settings import takes_part
from seasoned.config import Config
from seasoned.learn_queue import catch_up
from seasoned.redact.key import Secrecy
from seasoned.template.library.storage import load as load_template

if TYPE_CHECKING:
    from seasoned.agent.loop.conversation import Conversation
    from seasoned.agent.loop.runtime import Confirm


_CATCH_UP_SECONDS = 1.0


@dataclass(frozen=True)
class ChatPlan:
    """A conversation that can start: its model, its folder and tools, and what it continues."""

    config: Config
    secrecy: Secrecy
    choice: ModelChoice
    folder: Path
    toolsets: tuple[str, ...] | None
    warm: str | None
    recorded: RecordedConversation | None

    def start(self, confirm: Confirm | None = None, tell: Callable[[str], None] = lambda line: None) -> Conversation:
        """The conversation; without `confirm`, what needs permission is denied."""
        # Imported here: the agent library takes a second, and comes with an extra.
        from seasoned.agent.loop.runtime import deny
        from seasoned.agent.loop.start import ConversationOptions, start

        # What an agent was taught a moment ago is still being learned.
        with suppress(OSError):
            catch_up(str(self.config.home), _CATCH_UP_SECONDS)
        options = ConversationOptions(choice=self.choice, folder=self.folder, toolsets=self.toolsets, warm=self.warm)
        return start(
            self.config,
            self.secrecy,
            options,
            recorded=self.recorded,
            confirm=confirm or deny,
            tell=tell,
            jobs=agent_jobs(self.config, self.secrecy),
        )

    def end(self, conversation: Conversation) -> str | None:
        """End a conversation and have it learned from; a sentence if it could not be recorded."""
        return close_and_learn(self.config, conversation)


def plan_chat(
    config: Config,
    *,
    model: str | None,
    base_url: str | None,
    warm: str | None,
    resume: str | None,
    folder: Path,
    toolsets: tuple[str, ...] | None,
) -> ChatPlan:
    """Check what was asked for; raises with the reason where it cannot be done."""
    recorded = None
    if resume is not None:
        with own_store(config) as store:
            recorded = load_recorded(store, resume)
        # A resumed conversation keeps its model unless another is asked for; its server belongs to that model.
        if model is None:
            model, base_url = recorded.about.model, base_url or recorded.about.base_url
    # Everything that can be wrong is checked here, before the user types the first prompt.
    choice = choose_model(config, model, base_url)
    if warm is not None and warm != "auto":
        with own_store(config) as store:
            # Only to see that it exists: the examples are chosen when the conversation begins.
            load_template(store, warm)
    if warm is None and takes_part(config, "chat"):
        # Warm by default only where the settings include chat; an explicit --warm always wins.
        warm = "auto"
    return ChatPlan(config, kept_secrecy(config), choice, folder, toolsets, warm, recorded)
