"""Resources and prompts: what a user of a client can attach or begin with, all of the project it works in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any
from urllib.parse import unquote

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.prompts.base import Message, UserMessage
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS
from pydantic import Field

from seasoned.app.stores import kept_secrecy, user_store
from seasoned.begin.memory import MemoryPlaces, remembered
from seasoned.config import Config
from seasoned.errors import NotFound, SeasonedError, UsageError
from seasoned.lesson.ask import LessonLookup
from seasoned.lesson.recall import recall, recall_text
from seasoned.mcp_server.tools import FILL_SECONDS, FOLDER, NO_PROJECT
from seasoned.store import Store
from seasoned.store.project import project_key

_SCHEME = "seasoned"
_TEXT = "text/plain"
Folder = Annotated[str | None, Field(description=FOLDER)]


class Resources:
    """What an agent or its user can read, attach and begin with."""

    def __init__(self, config: Config, folder: str | None) -> None:
        self._config = config
        # Everything here is of the project that the client works in, or may leave its project.
        self._folder = folder

    def add_to(self, server: MCPServer[Any]) -> None:
        """Register them."""
        about: dict[str, tuple[Callable[..., str], str]] = {
            "lessons": (self.lessons, "What worked in earlier sessions of this project."),
            "memory": (self.memory, "Notes of this project, what is known about the user, and skills."),
            "recall/{tool}": (self.recall, "How a tool was used successfully in this project."),
        }
        for path, (read, description) in about.items():
            add = server.resource(
                f"{_SCHEME}://{path}", name=path.partition("/")[0], description=description, mime_type=_TEXT
            )
            add(read)
        for prompt, title, description in (
            (self.what_worked, "What worked", "Begin with what earlier sessions of this project learned."),
            (self.repair, "Repair", "Look up what repaired an error before."),
        ):
            server.prompt(prompt.__name__, title=title, description=description)(prompt)

    def lessons(self) -> str:
        return self._read(lambda store: self._sheet(store, self._folder) or "Nothing is known about this project yet.")

    def memory(self) -> str:
        return self._read(lambda store: self._memory(store, self._folder) or "Nothing was kept yet.")

    def recall(self, tool: str) -> str:
        return self._read(lambda store: self._recalled(store, self._folder, tool=unquote(tool)))

    def what_worked(self, folder: Folder = None) -> list[Message]:
        """The sheet of the project, and memory."""

        def read(store: Store) -> str:
            where = folder or self._folder
            found = "\n\n".join(filter(None, (self._sheet(store, where), self._memory(store, where))))
            if not found:
                raise NotFound("Nothing is known about this project yet.")
            return found

        return [UserMessage(self._read(read))]

    def repair(
        self,
        error: Annotated[str, Field(description="What the tool complained of.")],
        tool: Annotated[str | None, Field(description="The tool.")] = None,
        folder: Folder = None,
    ) -> list[Message]:
        """What repaired an error before."""
        where = folder or self._folder
        return [UserMessage(self._read(lambda store: self._recalled(store, where, tool=tool, error=error)))]

    def _sheet(self, store: Store, folder: str | None) -> str:
        project = self._project(store, folder)
        return LessonLookup(store, project, "", folder).sheet()[0]

    def _memory(self, store: Store, folder: str | None) -> str:
        places = MemoryPlaces(self._config.home, self._config.memory_folder, project_key(store, folder))
        found = remembered(store, places, lambda: kept_secrecy(self._config).redactor())
        return found.text if found else ""

    def _recalled(self, store: Store, folder: str | None, *, tool: str | None, error: str | None = None) -> str:
        project = self._project(store, folder)
        found = recall(store, tool=tool, error=error, project=project, within_seconds=FILL_SECONDS)
        return recall_text(found)

    def _project(self, store: Store, folder: str | None) -> str:
        project = project_key(store, folder)
        if project is None:
            raise NotFound(NO_PROJECT)
        return project

    def _read(self, read: Callable[[Store], str]) -> str:
        try:
            with user_store(self._config) as store:
                return read(store)
        except SeasonedError as error:
            is_asked_wrongly = isinstance(error, NotFound | UsageError)
            raise MCPError(INVALID_PARAMS if is_asked_wrongly else INTERNAL_ERROR, str(error)) from error
