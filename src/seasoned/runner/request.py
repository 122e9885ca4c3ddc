"""What an agent is asked to do in one run, and what came of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec

from seasoned.session import Usage

# What the agent may use beside its words; asking a person, schedules and messages are always off.
Tools = Literal["none", "files", "terminal"]
# `login` and `quota`: the agent's provider refused; `missing`: it is not installed.
StoppedBy = Literal["time", "budget", "interrupted", "missing", "login", "quota", "failed"]


class RunRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One prompt for one agent. Without tools it runs apart: no hooks, no servers, no rules, and no session is left."""

    agent: str
    prompt: str
    # Where it works; without one, in an empty folder.
    folder: Path | None = None
    # Another one than the agent's own.
    model: str | None = None
    # They replace those of the agent, where it allows that.
    instructions: str = ""
    tools: Tools = "none"
    # The JSON schema of the answer.
    schema: dict[str, Any] | None = None
    seconds: float = 600.0
    budget_usd: float | None = None


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent answered, what it used, and what stopped it if something did."""

    text: str = ""
    # What the schema asked for.
    data: Any = None
    usage: Usage = Usage()
    cost_usd: float | None = None
    model: str | None = None
    # The agent's own id of the session.
    session: str | None = None
    seconds: float = 0.0
    stopped_by: StoppedBy | None = None
    # Why, in a sentence that says what to do.
    reason: str = ""
