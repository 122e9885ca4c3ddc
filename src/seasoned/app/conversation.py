"""Runs the conversations of an experiment: a model with the tools of a task."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from pydantic_ai import Tool
from pydantic_ai.messages import ModelMessagesTypeAdapter
from pydantic_ai.settings import ModelSettings
from pydantic_ai.toolsets import FunctionToolset

from seasoned.config import Config
from seasoned.errors import StoreError
from seasoned.experiment.run.runner import AgentRun, AgentRunResult, ModelUnreachable
from seasoned.experiment.task.task_file import EnvironmentTool as OfferedTool
from seasoned.history.builder import SessionBuilder
from seasoned.history.reader.seasoned_db import NAME, read_message
from seasoned.redact.key import Secrecy
from seasoned.runner.agent import Run
from seasoned.runner.conversation import Runtime, converse
from seasoned.runner.model import ModelChoice, open_model
from seasoned.runner.record import ConversationInfo, body_of, new_ref, record_conversation
from seasoned.session import SessionRef

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
        self._wait(self._model.__aenter__())

    def __call__(self, play: AgentRun, /) -> AgentRunResult:
        return self._wait(self._play(play))

    def close(self) -> None:
        """End the loop; conversations that are under way end with it."""
        self._wait(self._model.__aexit__(None, None, None))
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
            steps=play.steps,
            seconds=play.seconds,
            output_tokens=_OUTPUT_TOKENS,
        )
        turn = await converse(runtime, play.prompt)
        # An outage is raised and not stored, so the run is made again when the command is repeated.
        _refuse_outage(turn, play.model)
        about = ConversationInfo(ref=ref, model=play.model, title=play.title)
        # In the store before the run is reported: a run whose session could not be stored cannot be checked later.
        note = await asyncio.to_thread(
            record_conversation,
            self._config.store_path,
            self._secrecy,
            about,
            turn.messages,
            ended=turn.stopped_by,
        )
        if note is not None:
            raise StoreError(note)
        return _result_of(ref, turn)


def _tool(tool: OfferedTool, play: AgentRun) -> Tool[Any]:
    def called(**arguments: Any) -> dict[str, Any]:
        return play.call(tool.name, arguments)

    # Sequential, because the calls of one run share the state of the task's environment.
    return Tool.from_schema(called, tool.name, tool.description, tool.schema(), sequential=True)


def _refuse_outage(turn: Run, model: str) -> None:
    if turn.stopped_by == "failed" and not any(words in turn.reason for words in _MODELS_OWN):
        raise ModelUnreachable(f"{model!r} cannot be reached. {turn.reason}")


def _result_of(ref: SessionRef, turn: Run) -> AgentRunResult:
    # Through the reader of stored conversations, so that runs are judged exactly as scanned sessions are.
    builder = SessionBuilder(ref, format=NAME, path="")
    for place, message in enumerate(turn.messages):
        read_message(builder, body_of(message), place=place)
    return AgentRunResult(
        session=builder.take(),
        answer=turn.text,
        usage=turn.usage,
        cost_usd=turn.cost_usd,
        seconds=turn.seconds,
    )
