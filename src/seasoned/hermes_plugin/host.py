"""The plugin's settings, and the running Hermes: its state, read from modules it has loaded, and work off its threads.

Nothing of Hermes is imported here, and no failure here reaches Hermes.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from seasoned.errors import SeasonedError

FILE = "hermes.toml"


class HermesSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the plugin works. What concerns warm starts is in config.toml."""

    confirm: bool = True  # whether high-risk calls wait for a person
    # How long a person may take. Hermes' scheduler ends a job that is silent for 600 seconds.
    wait_seconds: Annotated[float, msgspec.Meta(ge=1, le=3600)] = 240
    reviews: bool = True  # whether sessions are reviewed, by Hermes itself or what `review_agent` names


def is_review() -> bool:
    """Whether this thread works for a background review."""
    return bool(_call_if_loaded("tools.skill_provenance", "is_background_review"))


def is_interrupted() -> bool:
    """Whether the user has interrupted what this thread does."""
    return bool(_call_if_loaded("tools.interrupt", "is_interrupted"))


def database_path(otherwise: Path) -> Path:
    """The path of Hermes' database; Hermes itself knows it, because it has profiles."""
    home = _call_if_loaded("hermes_constants", "get_hermes_home")
    return Path(home if isinstance(home, str | Path) else otherwise) / "state.db"


def tell_user(line: str) -> None:
    """Show a line to the person at Hermes' terminal, if there is one."""
    # Set only by Hermes' own terminal program.
    agent = getattr(sys.modules.get("cli"), "_active_agent_ref", None)
    emit = getattr(agent, "_emit_status", None)
    if callable(emit):
        emit(f"🌱 {line}")


def _call_if_loaded(module: str, name: str) -> Any:
    function = getattr(sys.modules.get(module), name, None)
    return function() if callable(function) else None


log = logging.getLogger("seasoned.hermes_plugin")
_T = TypeVar("_T")
# A part that fails does so on every call, and would flood the log of Hermes.
_QUIET_SECONDS = 60.0


class ErrorBoundary:
    """Logs failures inside it, at most once a minute for each part, so that Hermes goes on undisturbed."""

    def __init__(self) -> None:
        self._logged: dict[str, float] = {}

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Log what fails inside instead of raising it."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - one call of Hermes, which the plugin must not stop
            self._log(name, error)

    def ask(self, name: str, work: Callable[[], _T], *, seconds: float) -> _T | None:
        """The result of some work in a separate thread; None if it failed or took longer."""
        results: list[_T] = []

        def run() -> None:
            with self.part(name):
                results.append(work())

        # A daemon, so that Hermes can exit while the work hangs.
        thread = threading.Thread(target=run, name="seasoned", daemon=True)
        thread.start()
        thread.join(seconds)
        return results[0] if results else None

    def _log(self, name: str, error: Exception) -> None:
        now = time.monotonic()
        if now - self._logged.get(name, float("-inf")) < _QUIET_SECONDS:
            return
        self._logged[name] = now
        log.warning("%s was skipped: %s", name, describe_error(error))


def describe_error(error: Exception) -> str:
    """The text of our own errors; of any other only its type and place, since its text may quote a conversation."""
    if isinstance(error, SeasonedError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "an unknown place"
    return f"{type(error).__name__} at {place}"
