"""ATIF trajectories (to version 1.8), as many agents and benchmarks write them: steps with calls and observations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seasoned.history.builder import SessionBuilder
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
    remaining,
    string,
    text_of,
    time_of,
)
from seasoned.history.formats import Sample
from seasoned.history.json_file import JsonValue, noting_unreadable
from seasoned.history.reader.hermes_db import profile_at
from seasoned.history.session_reader import SessionFormat, SessionReader, note_times, objects
from seasoned.session import Marks, Relation, Role, Session, SessionRef, Unreadable, Usage

NAME = "atif"
_FORMAT = SessionFormat(NAME, NAME)
# A name that can serve as an agent; in exports it may be replaced by other text.
_AGENT_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,60}\Z")
_RELATIONS: dict[str, Relation] = {name: name for name in ("compression", "fork", "resume", "subagent", "review")}
_SOURCES: dict[str, Role] = {"system": "system", "user": "user", "agent": "assistant"}
_MOST_DEPTH = 8


def recognises(sample: Sample) -> bool:
    """Whether the first records are trajectories."""
    return sample.kind in ("document", "lines") and any(
        (string(value.get("schema_version")) or "").startswith("ATIF") and isinstance(value.get("steps"), list)
        for value in sample.records
    )


def read(path: Path) -> Iterator[Session]:
    """One session for each trajectory, those of sub-agents after the one that holds them."""
    return _FORMAT.sessions(path, _parts(path))


def _parts(path: Path) -> Iterator[SessionBuilder | Unreadable]:
    lost: list[Unreadable] = []
    for index, part in enumerate(objects(path, lost, "a trajectory")):
        if "steps" not in part.value:
            lost.append(Unreadable(part.where, "a record that is not a trajectory"))
            continue
        native = path.stem if index == 0 else f"{path.stem}#{index}"
        yield from _trajectories(path, part, part.value, None, native)
    yield from lost


def _trajectories(
    path: Path, part: JsonValue[Any], value: dict[str, Any], parent: SessionRef | None, name: str, depth: int = 0
) -> Iterator[SessionBuilder]:
    # A session id is shared by the parts of a run: within a trajectory only the own id of each is unique.
    keys = ("session_id", "trajectory_id") if parent is None else ("trajectory_id", "session_id")
    native = identity(first_of(value, *keys)) or name
    reader = _TrajectoryReader(SessionFormat(NAME, _agent(value)).builder(path, native), path)
    builder = reader.builder
    with noting_unreadable(builder, part.where):
        reader.describe(value, parent)
        steps = value.get("steps")
        if not isinstance(steps, list):
            builder.unreadable(part.where, f"{kind_of(steps)} where the steps should be")
        for position, step in enumerate(as_list(steps)):
            where = f"{part.where}, step {position}"
            with noting_unreadable(builder, where):
                if isinstance(step, dict):
                    reader.add(step, where, position)
                else:
                    builder.unreadable(where, f"{kind_of(step)} where a step should be")
        reader.finish(as_object(value.get("final_metrics")))
    yield builder
    if depth < _MOST_DEPTH:
        for number, inner in enumerate(map(as_object, as_list(value.get("subagent_trajectories")))):
            yield from _trajectories(path, part, inner, builder.ref, f"{native}/{number}", depth + 1)


def _agent(value: dict[str, Any]) -> str:
    """The agent that wrote a trajectory, where it says so; otherwise Hermes, whose exports hide the name."""
    name = (string(as_object(value.get("agent")).get("name")) or "").lower()
    return name if _AGENT_NAME.match(name) and "hermes" not in name else "hermes"


class _TrajectoryReader(SessionReader):
    """Reads the steps of one trajectory."""

    def __init__(self, builder: SessionBuilder, path: Path) -> None:
        super().__init__(builder)
        if builder.ref.agent == "hermes":
            builder.application = profile_at(path.parent)
        self._counts = False  # whether steps say what they used

    def describe(self, value: dict[str, Any], parent: SessionRef | None) -> None:
        """Add what the trajectory says about itself; `extra` is where other programs, and we, say more."""
        builder, extra = self.builder, as_object(value.get("extra"))
        builder.model = string(as_object(value.get("agent")).get("model_name"))
        builder.title, builder.cwd = string(extra.get("title")), string(extra.get("cwd"))
        builder.branch = string(extra.get("branch"))
        builder.remote, builder.platform = string(extra.get("remote")), string(extra.get("platform"))
        builder.application = string(extra.get("application")) or builder.application
        builder.end_reason = string(extra.get("end_reason"))
        if isinstance(done := extra.get("succeeded"), bool):
            builder.succeeded = done
        agent, _, native = (string(extra.get("parent")) or "").partition(":")
        if parent is not None:
            builder.parent, builder.relation = parent, "subagent"
        elif native:
            builder.parent = SessionRef(agent, native)
            builder.relation = _RELATIONS.get(str(extra.get("relation")))
        note_times(builder, "the trajectory", extra.get("started"), extra.get("ended"))

    def add(self, step: dict[str, Any], where: str, place: int) -> None:
        """Add one step: a message, or a turn of the agent with its calls and their results."""
        made, metrics, extra = as_list(step.get("tool_calls")), step.get("metrics"), as_object(step.get("extra"))
        source = string(step.get("source")) or ""
        # Only the model makes calls and uses tokens, whatever the step names as its source.
        role: Role = "assistant" if made or metrics is not None else _SOURCES.get(source, "user")
        time, usage = time_of(step.get("timestamp")), _usage(as_object(metrics))
        self._counts = self._counts or usage is not None
        if extra.get("compaction") is True:
            self.builder.compaction()
        self.builder.thinking(step.get("reasoning_content"))
        model = string(step.get("model_name")) if role == "assistant" else None
        summary = extra.get("summary") is True
        text = text_of(step.get("message"))
        self.builder.message(role, text, time=time, place=place, model=model, usage=usage, summary=summary)
        if cost := number(as_object(metrics).get("cost_usd")):
            self.builder.cost_usd = (self.builder.cost_usd or 0.0) + cost
        self.calls.turn()
        for call in map(as_object, made):
            name, arguments = string(call.get("function_name")), arguments_of(call.get("arguments"))
            self.calls.make_named(where, call.get("tool_call_id"), name, arguments, time=time, place=place)
        for result in map(as_object, as_list(as_object(step.get("observation")).get("results"))):
            self._add_result(result, time, place)

    def _add_result(self, result: dict[str, Any], time: float | None, place: int) -> None:
        text, extra = text_of(result.get("content")), as_object(result.get("extra"))
        time = time_of(extra.get("timestamp")) or time
        if result.get("source_call_id") is None and not self.calls.open:
            # What the environment did by itself.
            self.builder.message("system", text, time=time, place=place)
            return
        self.calls.answer(result.get("source_call_id"), text, _marks(extra), time=time, place=place)

    def finish(self, metrics: dict[str, Any]) -> None:
        """Add the totals, where the steps say nothing of what they used."""
        extra = as_object(metrics.get("extra"))
        cached, written = count(metrics.get("total_cached_tokens")), count(extra.get("cache_write_tokens"))
        if not self._counts:
            self.builder.total_usage = known_usage(
                Usage(
                    input=remaining(count(metrics.get("total_prompt_tokens")), cached, written),
                    output=count(metrics.get("total_completion_tokens")),
                    cache_read=cached,
                    cache_write=written,
                    reasoning=count(extra.get("reasoning_tokens")),
                )
            )
        if (cost := number(metrics.get("total_cost_usd"))) is not None:
            self.builder.cost_usd = cost


def _marks(extra: dict[str, Any]) -> Marks:
    """What a result says of itself beside its text; the format has no field for it."""
    failed = first_of(extra, "failed", "is_error")
    return Marks(
        failed=failed if isinstance(failed, bool) else None,
        implied=extra.get("implied") is True,
        exit_code=integer(extra.get("exit_code")),
        benign=string(extra.get("benign")),
        declined=extra.get("declined") is True,
        interrupted=extra.get("interrupted") is True,
        running=extra.get("running") is True,
    )


def _usage(metrics: dict[str, Any]) -> Usage | None:
    extra = as_object(metrics.get("extra"))
    cached = count(first_of(metrics, "cached_tokens") or extra.get("cache_read_tokens"))
    return known_usage(
        Usage(
            input=remaining(count(metrics.get("prompt_tokens")), cached),
            output=count(metrics.get("completion_tokens")),
            cache_read=cached,
            reasoning=count(extra.get("reasoning_tokens")),
        )
    )
