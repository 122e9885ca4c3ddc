"""What the tools of one conversation may touch, their limits, and how they answer."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

import msgspec

from seasoned.agent.toolset.confined_folder import ConfinedFolder
from seasoned.errors import SeasonedError

if TYPE_CHECKING:
    from seasoned.command.risk import Danger


class ToolLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How much one call may use. What exceeds it is cut or refused, and the answer says so."""

    # For a command or a piece of code; a call may ask for less, never for more.
    time_seconds: float = 120.0
    # Between asking a process to end and killing it.
    grace_seconds: float = 2.0
    # Kept of an output, half of them from its end.
    output_characters: int = 50_000
    # A command that prints more is ended.
    flood_bytes: int = 50_000_000
    # A command that has more at one time is ended.
    processes: int = 256
    # Address space of each process of a command. None, because some runtimes reserve far more than they use.
    memory_bytes: int | None = None
    # The same for a piece of Python.
    code_memory_bytes: int | None = 4_000_000_000
    # The largest file that a command may write.
    written_bytes: int | None = 2_000_000_000
    # The largest file that is read, written or patched.
    file_bytes: int = 1_000_000
    read_lines: int = 2_000
    search_seconds: float = 20.0
    matches: int = 200
    fetch_seconds: float = 30.0
    fetch_bytes: int = 2_000_000
    redirects: int = 5

    def within(self, seconds: float | None) -> ToolLimits:
        """The same limits, with less time if a call asks for less."""
        if seconds is None:
            return self
        return msgspec.structs.replace(self, time_seconds=min(self.time_seconds, max(1.0, seconds)))


def _deny(question: str, danger: Danger) -> bool:
    """Refuse, because there is no one to ask."""
    return False


class ToolScope(msgspec.Struct, frozen=True, kw_only=True):
    """A working folder, limits, an environment, and who to ask before something is destroyed."""

    folder: ConfinedFolder
    limits: ToolLimits = ToolLimits()
    # What commands see, before names that look like secrets are taken out.
    environment: Mapping[str, str] = {}
    # Variables that commands see although they look like secrets.
    keep: frozenset[str] = frozenset()
    # Given the command or code, and why it is dangerous; True lets it run.
    ask: Callable[[str, Danger], bool] = _deny
    # Asked while a command runs; True ends it.
    stop: Callable[[], bool] | None = None
    # Web servers of this machine and its network that may be fetched, each as `host:port`.
    allow_private: frozenset[str] = frozenset()


Answer = dict[str, Any]
Arguments = ParamSpec("Arguments")
Tool = Callable[Concatenate[ToolScope, Arguments], Answer]
# Colours and cursor movements, window titles, and other strings for a terminal. They are bounded, so that
# an unfinished one does not take the rest of the output along.
_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)|[PX^_][^\x1b]{0,2000}\x1b\\|[@-Z\\-_])"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def tool(**empty: Any) -> Callable[[Tool[Arguments]], Tool[Arguments]]:
    """Make a function answer with these fields and `error` when it raises an error that the model can act on."""

    def decorate(function: Tool[Arguments]) -> Tool[Arguments]:
        @functools.wraps(function)
        def answering(reach: ToolScope, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
            try:
                return function(reach, *args, **kwargs)
            except SeasonedError as error:
                return {**empty, "error": str(error)}
            except OSError as error:
                return {**empty, "error": f"The system refused: {error.strerror or error}. Try again later."}

        return answering

    return decorate


def plain(text: str) -> str:
    """A text without control characters and terminal sequences."""
    return _CONTROLS.sub("", _ESCAPES.sub("", text).replace("\r\n", "\n"))
