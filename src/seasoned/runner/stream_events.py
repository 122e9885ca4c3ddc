"""The events of a running turn and its result, made from the agent library's events."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Literal

import msgspec
from pydantic_ai.messages import (
    AgentStreamEvent,
    FunctionToolCallEvent,
    FunctionToolResultEvent,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.run import AgentRunResultEvent

from seasoned.history.coerce import arguments_of
from seasoned.history.reader.seasoned_db import AGENT, cost_of, marks_of, total_cost, usage_of
from seasoned.outcome.judge import judge
from seasoned.outcome.verdict import Verdict
from seasoned.runner.record import body_of
from seasoned.session import Result, SessionRef, ToolCall, Usage, sum_usage

Stop = Literal["interrupted", "steps", "time", "tokens", "error"]


class TextEvent(msgspec.Struct, frozen=True, tag=True):
    """A piece of the agent's answer."""

    text: str


class ThinkingEvent(msgspec.Struct, frozen=True, tag=True):
    """A piece of the model's reasoning."""

    text: str


class CallStarted(msgspec.Struct, frozen=True, tag=True):
    """A call begins."""

    call_id: str
    tool: str
    arguments: dict[str, Any]


class CallFinished(msgspec.Struct, frozen=True, tag=True):
    """A call has ended, and was judged."""

    call_id: str
    tool: str
    arguments: dict[str, Any]
    result: str
    verdict: Verdict
    seconds: float


class ContextCompressed(msgspec.Struct, frozen=True, tag=True):
    """The context was nearly full, so the conversation continues in a child session with a summary."""

    parent: SessionRef
    child: SessionRef
    kept_messages: int


Event = TextEvent | ThinkingEvent | CallStarted | CallFinished | ContextCompressed


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one turn: the answer, what it used, and why it stopped if it was stopped."""

    text: str
    usage: Usage
    cost_usd: float | None
    requests: int
    calls: int
    failed: int
    seconds: float
    first_token_seconds: float | None = None
    stopped: Stop | None = None
    # Why it was stopped, in a sentence that says what to do.
    reason: str | None = None
    # What the user should also know, for example that nothing is being recorded.
    notes: tuple[str, ...] = ()


Listener = Callable[[Event], None]


class TurnCollector:
    """Collects the events and figures of one turn."""

    def __init__(self, listener: Listener, clock: Callable[[], float] = time.monotonic) -> None:
        self.listener = listener
        self._clock = clock
        self._begun = clock()
        self._first_token: float | None = None
        self._usages: list[Usage] = []
        self._costs: list[float | None] = []
        self._calls: dict[str, tuple[ToolCallPart, float]] = {}
        self._failed = 0
        self._text = ""
        self._stopped: tuple[Stop, str] | None = None

    @property
    def elapsed(self) -> float:
        return self._clock() - self._begun

    @property
    def requests(self) -> int:
        return len(self._usages)

    @property
    def output_tokens(self) -> int:
        return sum([usage.output or 0 for usage in self._usages])

    def collect(self, event: AgentStreamEvent | AgentRunResultEvent[str]) -> None:
        """Convert one event of the agent library to ours, and pass it to the listener."""
        if isinstance(event, PartStartEvent):
            if isinstance(event.part, TextPart):
                self._say(event.part.content)
            elif isinstance(event.part, ThinkingPart):
                self._tell(ThinkingEvent(event.part.content))
        elif isinstance(event, PartDeltaEvent):
            if isinstance(event.delta, TextPartDelta):
                self._say(event.delta.content_delta)
            elif isinstance(event.delta, ThinkingPartDelta):
                self._tell(ThinkingEvent(event.delta.content_delta or ""))
        elif isinstance(event, FunctionToolCallEvent):
            call = event.part
            # If the same call is announced again, its time still counts from the first event.
            self._calls.setdefault(call.tool_call_id, (call, self._clock()))
            self._tell(CallStarted(call.tool_call_id, call.tool_name, arguments_of(call.args)))
        elif isinstance(event, FunctionToolResultEvent) and isinstance(event.part, ToolReturnPart):
            self._result(event.part)
        elif isinstance(event, AgentRunResultEvent):
            self._text = event.result.output

    def answered(self, response: ModelResponse) -> None:
        """Count the usage and the cost of an answer."""
        body = body_of(response)
        self._usages.append(usage_of(body) or Usage())
        self._costs.append(cost_of(body))

    def stop(self, why: Stop, reason: str) -> None:
        """Record why the turn was stopped."""
        self._stopped = (why, reason)

    def turn(self, notes: Sequence[str] = ()) -> Turn:
        """The result of the turn."""
        why, reason = self._stopped or (None, None)
        return Turn(
            text=self._text,
            usage=sum_usage(self._usages),
            cost_usd=total_cost(self._costs),
            requests=self.requests,
            calls=len(self._calls),
            failed=self._failed,
            seconds=self.elapsed,
            first_token_seconds=self._first_token,
            stopped=why,
            reason=reason,
            notes=tuple(notes),
        )

    def _say(self, text: str) -> None:
        if text:
            self._tell(TextEvent(text))

    def _result(self, part: ToolReturnPart) -> None:
        call, begun = self._calls.get(part.tool_call_id, (None, self._clock()))
        arguments = arguments_of(call.args) if call is not None else {}
        result = Result(part.model_response_str(), marks_of(part.outcome))
        # Judged as the scan would judge it, so that the live view and the store agree.
        verdict = judge(ToolCall(part.tool_call_id, part.tool_name, arguments, result), agent=AGENT)
        self._failed += verdict.verdict == "failed"
        seconds = self._clock() - begun
        self._tell(CallFinished(part.tool_call_id, part.tool_name, arguments, result.text, verdict, seconds))

    def _tell(self, event: Event) -> None:
        # Any event counts: from now on the user sees that something happens.
        if self._first_token is None:
            self._first_token = self.elapsed
        self.listener(event)
