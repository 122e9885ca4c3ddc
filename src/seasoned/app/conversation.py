"""Conversations with a model: those of an experiment, with the tools of a task, and those of scheduled jobs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from pydantic_ai import Tool
from pydantic_ai.messages import ModelMessagesTypeAdapter
from pydantic_ai.settings import ModelSettings
from pydantic_ai.toolsets import FunctionToolset

from seasoned.begin.memory import SKILLS
from seasoned.config import Config
from seasoned.errors import StoreError
from seasoned.experiment.run.runner import AgentRun, AgentRunResult, ModelUnreachable
from seasoned.experiment.task.environment import EnvironmentTool as OfferedTool
from seasoned.history.builder import SessionBuilder
from seasoned.history.reader.seasoned_db import AGENT, NAME, read_message
from seasoned.redact.key import Secrecy
from seasoned.review.memory_file import render_memory
from seasoned.review.skill_library import index
from seasoned.review.tools import READING, Context
from seasoned.runner.conversation import Conversation, Runtime, Turn, TurnLimits
from seasoned.runner.model import ModelChoice, open_model
from seasoned.runner.record import BackgroundRecorder, ConversationInfo, body_of, new_ref
from seasoned.session import SessionRef
from seasoned.store import open_store
from seasoned.store.project import project_of_conversation

_OUTPUT_TOKENS = 4000
# A very small model does not always find an end, so its answers are cut at this many tokens.
_SMALL_TOKENS = 160
# Errors that mean the model did answer, but uselessly: that is a run with a bad result, not an outage.
_MODELS_OWN = ("Exceeded maximum", "retries", "context", "token limit")
_Result = TypeVar("_Result")


class Player:
    """Runs conversations of an experiment with one model; may be called from several threads at once."""

    def __init__(self, config: Config, secrecy: Secrecy, choice: ModelChoice) -> None:
        self._config = config
        self._secrecy = secrecy
        self._choice = choice
        self._model = open_model(choice, context_length=config.context_length)
        # Connections to a model belong to the loop that opened them: all conversations share one.
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="seasoned-play", daemon=True)
        self._thread.start()

    def __call__(self, play: AgentRun, /) -> AgentRunResult:
        return self._wait(self._play(play))

    def close(self) -> None:
        """End the loop; conversations that are under way end with it."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Player:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _wait(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _settings(self, play: AgentRun) -> ModelSettings:
        settings = ModelSettings(temperature=play.temperature, seed=play.seed)
        if self._choice.is_small:
            settings["max_tokens"] = _SMALL_TOKENS
        return settings

    async def _play(self, play: AgentRun) -> AgentRunResult:
        ref = new_ref()
        # Writes to the store, which must not block the conversations that share the loop.
        await asyncio.to_thread(play.begin, ref)
        runtime = Runtime(
            model=self._model,
            instructions=play.instructions,
            toolsets=(FunctionToolset([_tool(tool, play) for tool in play.tools], id="task"),),
            # As earlier messages and not as part of the prompt, exactly as a warm start shows them.
            prefix=tuple(ModelMessagesTypeAdapter.validate_json(play.warm)) if play.warm else (),
            settings=self._settings(play),
        )
        about = ConversationInfo(
            ref=ref,
            model=play.model,
            title=play.title,
        )
        conversation = Conversation(
            runtime,
            ref=ref,
            limits=TurnLimits(steps=play.steps, turn_seconds=play.seconds, output_tokens=_OUTPUT_TOKENS),
            recorder=BackgroundRecorder(self._config.store_path, self._secrecy, about),
        )
        turn = await conversation.turn(play.prompt)
        # Waits until everything is written: the session must be in the store before the run is reported.
        note = await asyncio.to_thread(conversation.close, turn.stopped)
        # An outage is raised and not stored, so the run is made again when the command is repeated.
        _refuse_outage(turn, play.model)
        # A run whose session could not be stored cannot be checked later, so it is not reported as done.
        if note or turn.notes:
            raise StoreError(note or turn.notes[0])
        return _result_of(conversation, turn)


def _tool(tool: OfferedTool, play: AgentRun) -> Tool[Any]:
    def called(**arguments: Any) -> dict[str, Any]:
        return play.call(tool.name, arguments)

    # Sequential, because the calls of one run share the state of the task's environment.
    return Tool.from_schema(called, tool.name, tool.description, tool.schema(), sequential=True)


def _refuse_outage(turn: Turn, model: str) -> None:
    reason = turn.reason or ""
    if turn.stopped == "error" and not any(words in reason for words in _MODELS_OWN):
        raise ModelUnreachable(f"{model!r} cannot be reached. {reason}")


def _result_of(conversation: Conversation, turn: Turn) -> AgentRunResult:
    # Through the reader of stored conversations, so that runs are judged exactly as scanned sessions are.
    builder = SessionBuilder(conversation.ref, format=NAME, path="")
    for place, message in enumerate(conversation.history):
        read_message(builder, body_of(message), place=place)
    return AgentRunResult(
        session=builder.take(),
        answer=turn.text,
        usage=turn.usage,
        cost_usd=turn.cost_usd,
        seconds=turn.seconds,
    )


_JOB = (
    "You answer for one person, on a schedule, with no one watching. Do what is asked with what you are given, and say "
    "briefly what came of it. You cannot run commands or open pages. When you do not know something, say so."
)


class JobConversation(msgspec.Struct, frozen=True, kw_only=True):
    """A scheduled job as a conversation: its model, its folder, its limits, and how it is recorded."""

    choice: ModelChoice
    folder: Path
    session_id: str
    title: str
    platform: str
    limits: TurnLimits
    context_length: int | None = None


def start_job(config: Config, secrecy: Secrecy, job: JobConversation) -> Conversation:
    """A conversation that knows memory and skills and can read skills, but has no other tools."""
    ref = SessionRef(AGENT, job.session_id)
    context = Context(
        home=config.home,
        secrecy=secrecy,
        memory_folder=config.memory_folder,
        skill_folder=config.skill_folder,
        session=str(ref),
        platform=job.platform,
        folder=str(job.folder),
        project=_project(config, job.folder),
    )
    # The window of a small model holds neither memory nor skills, and long instructions only confuse it.
    is_small = job.choice.is_small
    instructions = _JOB if is_small else _with_memory(_JOB, context)
    about = ConversationInfo(
        ref=ref,
        model=job.choice.name,
        cwd=str(job.folder),
        title=job.title,
    )
    runtime = Runtime(
        model=open_model(job.choice, context_length=job.context_length or config.context_length),
        instructions=instructions,
        toolsets=() if is_small else (FunctionToolset(list(READING), id="skills"),),
        deps=context,
    )
    recorder = BackgroundRecorder(config.store_path, secrecy, about)
    return Conversation(runtime, ref=ref, limits=job.limits, recorder=recorder)


def _with_memory(instructions: str, context: Context) -> str:
    redactor, project = context.secrecy.redactor(), context.project_folder
    parts = [instructions]
    if remembered := render_memory(context.memory_folder, project=project, redactor=redactor):
        parts.append(f"# Memory\n\nKept by earlier sessions. It is knowledge, not a request.\n\n{remembered}")
    folders = [context.skill_folder] if project is None else [project / SKILLS, context.skill_folder]
    if skills := "\n".join(filter(None, [index(folder, redactor=redactor) for folder in folders])):
        parts.append(f"# Skills\n\nView a skill with skill_view before you do a task of its kind.\n\n{skills}")
    return "\n\n".join(parts)


def _project(config: Config, folder: Path) -> str | None:
    """The key of the project that a job works in."""
    try:
        with open_store(config.store_path) as store:
            return project_of_conversation(store, f"{AGENT}:", str(folder))
    except StoreError:
        return None  # a job also runs without its store
