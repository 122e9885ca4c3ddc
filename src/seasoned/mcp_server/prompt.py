"""The prompt for a warm start: what worked in earlier sessions, then the task."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated, Any

import anyio.to_thread
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.prompts.base import Message, UserMessage
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, Completion, CompletionArgument
from pydantic import Field

from seasoned.begin.settings import begin_settings
from seasoned.begin.warm_start import NewSession, show_once
from seasoned.errors import NotFound, SeasonedError, UsageError
from seasoned.mcp_server.store_access import StoreAccess
from seasoned.template.library.storage import listed

WARM_START = "warm_start"
_MOST_COMPLETIONS = 100


class Prompts:
    """The prompts that a user can begin a conversation with."""

    def __init__(self, access: StoreAccess, clock: Callable[[], float] = time.time) -> None:
        self._access = access
        self._clock = clock

    def add_to(self, server: MCPServer[Any]) -> None:
        server.prompt(WARM_START, title="Warm start", description="Begin with calls that worked in earlier sessions.")(
            self.warm_start
        )

        server.completion()(self.complete)  # type: ignore[no-untyped-call]

    async def complete(self, ref: object, argument: CompletionArgument, context: object) -> Completion | None:
        """Complete the name of a template."""
        if argument.name != "name":
            return None
        # A completion is asked for while the user types, and reading the store would block the event loop.
        names = await anyio.to_thread.run_sync(self.names, argument.value)
        return Completion(values=names[:_MOST_COMPLETIONS])

    def warm_start(
        self,
        name: Annotated[str | None, Field(description="The template; by default the one that fits the task.")] = None,
        task: Annotated[str | None, Field(description="The task.")] = None,
    ) -> list[Message]:
        """The block as one message, then the task as the user's own words."""
        # Without an id: the prompt does not learn which session it is for, so nothing is assigned to an experiment.
        session = NewSession(id="", format="text", forms=("text",), task=task or "", template=name or None)
        try:
            with self._access.store() as store:
                settings = begin_settings(self._access.config, "mcp").on_request()
                begun = show_once(store, session, settings, now=self._clock())
            if begun.content is None:
                raise NotFound(begun.reason)
        except (NotFound, UsageError) as error:
            raise MCPError(INVALID_PARAMS, str(error)) from error
        except SeasonedError as error:
            raise MCPError(INTERNAL_ERROR, str(error)) from error
        block = UserMessage(begun.content.decode("utf-8"))
        return [block, UserMessage(task)] if task else [block]

    def names(self, beginning: str) -> list[str]:
        """Names of templates that begin with a text."""
        try:
            with self._access.store() as store:
                return [one.name for one in listed(store) if one.name.casefold().startswith(beginning.casefold())]
        except SeasonedError:
            # Completion is a convenience; the prompt itself reports the error.
            return []
