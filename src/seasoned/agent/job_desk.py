"""What a conversation needs to schedule jobs; whoever starts it hands it in, since schedules come after agents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol


class JobDesk(Protocol):
    """Jobs as an agent sees them. Every method answers with plain values, or raises a SeasonedError."""

    def jobs(self) -> list[dict[str, Any]]:
        """Every job, with its next time."""
        ...

    def add(
        self, *, name: str, schedule: str, prompt: str, zone: str, delivery: str | None, skills: Sequence[str]
    ) -> dict[str, Any]:
        """A new job, with its next times."""
        ...

    def set_paused(self, name: str, *, is_paused: bool) -> dict[str, Any]: ...

    def remove(self, name: str) -> dict[str, Any]: ...

    def history(self, name: str) -> list[dict[str, Any]]:
        """Its last runs, the newest first."""
        ...
