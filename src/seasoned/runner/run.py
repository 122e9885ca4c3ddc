"""Runs the agent of the user, or a model, for one prompt: with its own login, within limits, leaving nothing behind."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from seasoned.atomic_write import make_private_folder
from seasoned.config import Config, command_environment
from seasoned.environment import APART
from seasoned.errors import CannotDo
from seasoned.lazy_regex import LazyRegex
from seasoned.runner.agent import AGENT_PROGRAMS, EMPTY, AgentProgram, Run, RunRequest, StoppedBy
from seasoned.runner.model import choose_model, open_model
from seasoned.runner.process import run_limited

MODEL = "model"
_REASON_CHARS = 300
# Requests to a model API: one, and as many again for answers without words.
_STEPS = 4
# Set by an agent for what it starts: with these it would take itself for a part of the other session.
_OF_ANOTHER = (
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_CODE_SESSION_ID",
    "CODEX_THREAD_ID",
)
_QUOTA = LazyRegex(r"(?i)quota|rate.?limit|usage limit|limit reached|too many requests|credit balance|\b429\b")
_LOGIN = LazyRegex(r"(?i)log(?:ged)? ?in\b|authenticat|unauthori[sz]ed|api[ _]key|credentials|\b401\b")
_IN_JSON = "Answer with one JSON object and nothing else. It must fit this JSON schema:\n"


def run(config: Config, request: RunRequest, *, stop: Callable[[], bool] = lambda: False) -> Run:
    """Run an agent by its name, or `model` for a model API; what went wrong is part of the result."""
    if request.schema is not None and (request.agent == MODEL or not AGENT_PROGRAMS[request.agent].knows_schema):
        wanted = f"{request.prompt}\n\n{_IN_JSON}{json.dumps(request.schema)}"
        request = msgspec.structs.replace(request, prompt=wanted)
    ended = _ask_model(config, request, stop) if request.agent == MODEL else _run_program(config, request, stop)
    if request.schema is None or ended.data is not None or ended.stopped_by is not None:
        return ended
    data = _json_in(ended.text)
    if data is None:
        reason = "The answer is not in the form that was asked for."
        return msgspec.structs.replace(ended, stopped_by="failed", reason=reason)
    return msgspec.structs.replace(ended, data=data)


def problem_of(config: Config, agent: str, model: str | None) -> str | None:
    """Why an agent or a model cannot be asked, as far as that can be seen without asking; None if it can."""
    if agent != MODEL:
        return None if find_program(agent) is not None else _not_installed(AGENT_PROGRAMS[agent])
    try:
        choose_model(config, model)
    except CannotDo as error:
        return str(error)
    return None


def find_program(agent: str) -> list[str] | None:
    """How to start an agent; None if it is not on the PATH."""
    found = shutil.which(AGENT_PROGRAMS[agent].program)
    if found is None or agent != "hermes":
        return None if found is None else [found]
    # Its Python stands in the first line of the program.
    with Path(found).open("rb") as file:
        first = file.readline(500).decode("utf-8", "replace")
    return [first[2:].strip(), "-P"] if first.startswith("#!") and "python" in first else None


def _run_program(config: Config, request: RunRequest, stop: Callable[[], bool]) -> Run:
    agent = AGENT_PROGRAMS[request.agent]
    program = find_program(request.agent)
    if program is None:
        return Run(stopped_by="missing", reason=_not_installed(agent))
    top = config.home / "runs"
    make_private_folder(config.home)
    make_private_folder(top)
    empty = top / EMPTY
    empty.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="run-", dir=top) as private:
        own = {name: value for name, value in command_environment().items() if name not in _OF_ANOTHER}
        apart = {APART: "1"} if request.tools == "none" else {}
        ended = run_limited(
            [*program, *agent.command(request, Path(private))],
            folder=request.folder or empty,
            environment={**own, **apart, **agent.variables(request, Path(private))},
            seconds=request.seconds,
            given=request.prompt,
            stop=stop,
        )
    answer = msgspec.structs.replace(agent.read(ended.output), seconds=ended.seconds)
    if request.tools == "none":
        for pattern in agent.leaves:
            for path in config.agents_home.expanduser().glob(pattern):
                path.unlink(missing_ok=True)
    limits: dict[str, tuple[StoppedBy, str]] = {
        "start": ("missing", f"{agent.title} cannot be started: {ended.errors}"),
        "time": ("time", f"{agent.title} did not end within {request.seconds:g} s and was stopped."),
        "output": ("failed", f"{agent.title} printed too much and was stopped."),
        "stopped": ("interrupted", f"{agent.title} was stopped."),
    }
    stopped = limits.get(ended.limit)
    if stopped is None and (answer.reason or ended.code or not (answer.text or answer.data)):
        silent = f"it ended without an answer (exit code {ended.code})"
        stopped = _why(agent, answer.reason or _last_words(ended.errors) or silent)
    by, reason = stopped or (None, "")
    return msgspec.structs.replace(answer, stopped_by=by, reason=reason)


def _not_installed(agent: AgentProgram) -> str:
    return f"{agent.title} is not installed: there is no {agent.program!r} on the PATH."


def _why(agent: AgentProgram, said: str) -> tuple[StoppedBy, str]:
    """What kind of refusal it is, in one sentence."""
    words = " ".join(said.split()).rstrip(".")[:_REASON_CHARS]
    if "max_budget" in said:
        return "budget", f"{agent.title} stopped at the budget of this run."
    if _QUOTA.compiled.search(said):
        return "quota", f"{agent.title} has no quota left for now: {words}."
    if _LOGIN.compiled.search(said):
        return "login", f"{agent.title} is not logged in ({words}): {agent.login}."
    return "failed", f"{agent.title} failed: {words}."


def _last_words(errors: str) -> str:
    """What a program said when it failed: its errors without warnings, from the first one on."""
    lines = [line for line in errors.splitlines() if line.strip() and "warning" not in line.lower()]
    try:
        return str(json.loads("\n".join(lines))["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return next((line for line in lines if re.match(r"(?i)\s*error", line)), lines[-1] if lines else "")


def _ask_model(config: Config, request: RunRequest, stop: Callable[[], bool]) -> Run:
    """A model API, which needs no program."""
    # Imported here: the agent library takes a second, and comes with an extra.
    from seasoned.runner.conversation import Runtime, ask

    try:
        choice = choose_model(config, request.model)
        model = open_model(choice, context_length=config.context_length)
    except CannotDo as error:
        return Run(stopped_by="missing", reason=str(error))
    runtime = Runtime(model=model, instructions=request.instructions, steps=_STEPS, seconds=request.seconds)
    return msgspec.structs.replace(ask(runtime, request.prompt, stop=stop), model=choice.name)


def _json_in(text: str) -> Any:
    """The JSON object in an answer, also in a fence or between sentences."""
    start, end = text.find("{"), text.rfind("}")
    try:
        found = json.loads(text[start : end + 1])
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
