"""Trajectories of OpenHands: actions and observations, in the old and the new event format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seasoned.history.builder import SessionBuilder
from seasoned.history.call_pairing import CallPairing
from seasoned.history.coerce import (
    arguments_of,
    as_list,
    as_object,
    count,
    first_of,
    identity,
    integer,
    kind_of,
    known_usage,
    number,
    openai_usage,
    remaining,
    string,
    text_of,
    time_of,
)
from seasoned.history.formats import Sample
from seasoned.history.json_file import noting_unreadable, values
from seasoned.history.session_reader import SessionFormat, SessionReader, unique_id
from seasoned.session import NO_MARKS, Marks, Role, Session, Unreadable, Usage

NAME = "openhands"
_FORMAT = SessionFormat(NAME, "openhands")
_SAID = frozenset({"message", "system"})
# Events about the state of the agent: neither text nor calls.
_SILENT_ACTIONS = frozenset(
    {"change_agent_state", "recall", "null", "pause", "resume", "stop", "start", "task_tracking"}
)
_SILENT_OBSERVATIONS = frozenset({"agent_state_changed", "recall", "null", "condense"})
# Event kinds of the new format.
_KINDS = frozenset(
    {"ActionEvent", "ObservationEvent", "MessageEvent", "SystemPromptEvent", "AgentErrorEvent", "UserRejectObservation"}
)
# The exit code of a command that had not ended when it was observed.
_STILL_RUNNING = -1


def is_event(value: object) -> bool:
    """Whether this is an event of the old format (an action or an observation) or of the new one."""
    fields = as_object(value)
    if string(fields.get("kind")) in _KINDS:
        return True
    acts = isinstance(fields.get("action"), str) and ("args" in fields or "source" in fields)
    observes = isinstance(fields.get("observation"), str) and ("extras" in fields or "cause" in fields)
    # A record with both is a step of SWE-agent; here an event has one of them.
    return (acts or observes) and not ("action" in fields and "observation" in fields)


class _OpenHandsReader(SessionReader):
    """Reads the events of one session."""

    def __init__(self, builder: SessionBuilder) -> None:
        super().__init__(builder)
        self.calls = CallPairing(builder, prefix="event")
        self._causes: dict[str, str] = {}
        self._usage: Usage | None = None
        self._cost: float | None = None

    def add(self, event: object, where: str, place: int) -> None:
        """Add one event."""
        if not isinstance(event, dict):
            self.builder.unreadable(where, f"{kind_of(event)} where an event should be")
            return
        time = time_of(event.get("timestamp"))
        if string(event.get("kind")) is not None:
            self._add_new(event, where, time, place)
        elif string(event.get("action")) is not None:
            self._add_action(event, where, time, place)
        elif isinstance(event.get("observation"), str):
            self._add_observation(event, time, place)
        else:
            self.builder.unreadable(where, "an event that is neither an action nor an observation")
        self._measure(as_object(event.get("llm_metrics")))

    def finish(self) -> None:
        """Add the totals of the session."""
        if self._usage is not None:
            self.builder.total_usage = self._usage
        if self._cost is not None:
            self.builder.cost_usd = self._cost

    def _add_action(self, event: dict[str, Any], where: str, time: float | None, place: int) -> None:
        action = event["action"]
        arguments = as_object(event.get("args"))
        if action in _SAID:
            speaker: Role = "assistant" if event.get("source") == "agent" else "user"
            text = text_of(first_of(arguments, "content") or event.get("message"))
            self.builder.message("system" if action == "system" else speaker, text, time=time, place=place)
            return
        if action == "condensation":
            self.builder.compaction()
            return
        # Actions of the user in the interface are recorded like those of the agent.
        if action in _SILENT_ACTIONS or event.get("source") in ("user", "environment"):
            return
        meta = as_object(event.get("tool_call_metadata"))
        response = as_object(meta.get("model_response"))
        self.builder.message(
            "assistant",
            text_of(arguments.get("thought")),
            time=time,
            place=place,
            # One answer of the model may hold several calls, each an action with a copy of the answer.
            key=identity(response.get("id")),
            model=string(response.get("model")),
            usage=openai_usage(response.get("usage")),
        )
        event_id = identity(event.get("id"))
        given = identity(meta.get("tool_call_id")) or (f"event_{event_id}" if event_id is not None else None)
        name = string(meta.get("function_name")) or action
        self.calls.turn()
        call_id = self.calls.make(given, name, _arguments(arguments, response, given), time=time, place=place)
        if event_id is not None:
            self._causes[event_id] = call_id

    def _add_observation(self, event: dict[str, Any], time: float | None, place: int) -> None:
        kind = event["observation"]
        cause = identity(event.get("cause"))
        call_id = self._causes.get(cause) if cause is not None else None
        call_id = call_id or identity(as_object(event.get("tool_call_metadata")).get("tool_call_id"))
        text = text_of(first_of(event, "content", "message"))
        if call_id is not None and self.calls.knows(call_id):
            self.calls.answer(call_id, text, _marks(kind, as_object(event.get("extras"))), time=time, place=place)
        elif kind == "error":
            # An error that no call caused is shown to the model as a user message.
            self.builder.message("user", text, time=time, place=place)
        # In old files 0 and -1 mean no event.
        elif kind not in _SILENT_OBSERVATIONS and event.get("source") != "user" and cause not in (None, "0", "-1"):
            self.builder.unreadable(f"at {place}", f"an observation of event {cause!r}, which is not a call")

    def _add_new(self, event: dict[str, Any], where: str, time: float | None, place: int) -> None:
        kind = event["kind"]
        given = event.get("tool_call_id")
        if kind == "SystemPromptEvent":
            self.builder.message("system", text_of(event.get("system_prompt")), time=time, place=place)
        elif kind == "MessageEvent":
            message = as_object(event.get("llm_message"))
            role = message.get("role") or ("assistant" if event.get("source") == "agent" else "user")
            text = text_of(message.get("content"))
            self.builder.message("assistant" if role == "assistant" else "user", text, time=time, place=place)
        elif kind == "ActionEvent":
            self._add_new_action(event, where, time, place)
        elif kind == "ObservationEvent":
            seen = as_object(event.get("observation"))
            text = text_of(first_of(seen, "content", "output"))
            self.calls.answer(given, text, _new_marks(seen), time=time, place=place)
        elif kind == "AgentErrorEvent":
            self.calls.answer(given, text_of(event.get("error")), Marks(failed=True), time=time, place=place)
        elif kind == "UserRejectObservation":
            reason = text_of(event.get("rejection_reason"))
            self.calls.answer(given, reason, Marks(declined=True), time=time, place=place)
        elif kind == "Condensation":
            self.builder.compaction()

    def _add_new_action(self, event: dict[str, Any], where: str, time: float | None, place: int) -> None:
        name = string(event.get("tool_name"))
        if name is None:
            self.builder.unreadable(where, "a tool call without a tool name")
            return
        thought = text_of(event.get("thought"))
        key = identity(event.get("llm_response_id"))
        self.builder.message("assistant", thought, time=time, place=place, key=key)
        written = as_object(event.get("tool_call"))
        inner = as_object(written.get("function")) or written
        action = {key: value for key, value in as_object(event.get("action")).items() if key != "kind"}
        arguments = arguments_of(first_of(inner, "arguments") or action)
        self.calls.turn()
        self.calls.make(event.get("tool_call_id"), name, arguments, time=time, place=place)

    def _measure(self, metrics: dict[str, Any]) -> None:
        """Keep the latest totals: each event repeats them as they are so far."""
        if (cost := number(metrics.get("accumulated_cost"))) is not None:
            self._cost = cost
        usage = as_object(metrics.get("accumulated_token_usage"))
        read, written = count(usage.get("cache_read_tokens")), count(usage.get("cache_write_tokens"))
        self._usage = (
            known_usage(
                Usage(
                    input=remaining(count(usage.get("prompt_tokens")), read, written),
                    output=count(usage.get("completion_tokens")),
                    cache_read=read,
                    cache_write=written,
                )
            )
            or self._usage
        )


def _arguments(args: dict[str, Any], response: dict[str, Any], call_id: str | None) -> dict[str, Any]:
    """The arguments as the model wrote them if its answer was kept, else as the agent parsed them."""
    for choice in map(as_object, as_list(response.get("choices"))):
        for call in map(as_object, as_list(as_object(choice.get("message")).get("tool_calls"))):
            if call_id is not None and call.get("id") == call_id:
                return arguments_of(as_object(call.get("function")).get("arguments"))
    return {key: value for key, value in args.items() if key != "thought"}


def _marks(kind: str, extras: dict[str, Any]) -> Marks:
    if kind == "error":
        return Marks(failed=True)
    if kind == "user_rejected":
        return Marks(declined=True)
    if kind not in ("run", "run_ipython"):
        return NO_MARKS
    code = integer(first_of(as_object(extras.get("metadata")), "exit_code"))
    code = code if code is not None else integer(extras.get("exit_code"))
    if code == _STILL_RUNNING:
        return Marks(running=True)
    return NO_MARKS if code is None else Marks(exit_code=code)


def _new_marks(seen: dict[str, Any]) -> Marks:
    code = integer(first_of(seen, "exit_code"))
    code = code if code is not None else integer(as_object(seen.get("metadata")).get("exit_code"))
    failed = first_of(seen, "is_error", "error")
    if code == _STILL_RUNNING:
        return Marks(running=True)
    return Marks(failed=failed if isinstance(failed, bool) else None, exit_code=code)


def recognises(sample: Sample) -> bool:
    """Whether the first records are events or hold a list of them."""
    return sample.kind in ("lines", "document") and any(map(_is_ours, sample.records))


def _is_ours(value: dict[str, Any]) -> bool:
    if is_event(value):
        return True
    events = [event for item in _history(value) or [] for event in (item if isinstance(item, list) else [item])]
    return any(map(is_event, events[:8]))


def _history(value: dict[str, Any]) -> list[Any] | None:
    history = first_of(value, "history", "trajectory", "events")
    return history if isinstance(history, list) else None


def read(path: Path) -> Iterator[Session]:
    """One session for each record with a history, or one of all events."""
    return _FORMAT.sessions(path, _parts(path))


def _parts(path: Path) -> Iterator[SessionBuilder | Unreadable]:
    stream: _OpenHandsReader | None = None
    seen: set[str] = set()
    for index, part in enumerate(values(path)):
        if isinstance(part, Unreadable):
            yield part
            continue
        history = _history(part.value) if isinstance(part.value, dict) and not is_event(part.value) else None
        if history is not None:
            builder = _begin(path, part.value, index, seen)
            events = _OpenHandsReader(builder)
            for position, item in enumerate(history):
                _add(events, item, f"{part.where}, event {position}", position)
            events.finish()
            yield builder
            continue
        if stream is None:
            stream = _OpenHandsReader(_FORMAT.builder(path))
            yield stream.builder
        _add(stream, part.value, part.where, part.place)
        stream.finish()


def _add(events: _OpenHandsReader, item: object, where: str, place: int) -> None:
    """Add an event, or a pair of action and observation as in old files."""
    for event in item if isinstance(item, list) else [item]:
        with noting_unreadable(events.builder, where):
            events.add(event, where, place)


def _begin(path: Path, run: dict[str, Any], index: int, seen: set[str]) -> SessionBuilder:
    own = identity(first_of(run, "instance_id", "id", "task_id"))
    native = f"{path.stem}/{own if own is not None else index}"
    builder = _FORMAT.builder(path, unique_id(native, index, seen))
    builder.succeeded = _label(run)
    builder.cost_usd = number(as_object(run.get("metrics")).get("accumulated_cost"))
    llm = as_object(as_object(run.get("metadata")).get("llm_config"))
    builder.model = string(llm.get("model")) or string(as_object(run.get("metadata")).get("model"))
    if string(run.get("error")) is not None:
        builder.end_reason = "error"
    return builder


def _label(run: dict[str, Any]) -> bool | None:
    tested = as_object(run.get("test_result"))
    for place in (run, as_object(run.get("report")), tested, as_object(tested.get("report"))):
        if isinstance(solved := place.get("resolved"), bool):
            return solved
    return None
