"""Trajectories of OpenHands: events that act and events that observe, of its old and its new kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seasoned.history.builder import Builder
from seasoned.history.documents import reading, spread, values
from seasoned.history.openhands_events import Events, is_event
from seasoned.history.sample import Sample
from seasoned.history.shape import first_of, identity, number, record, string
from seasoned.session import Session, SessionRef, Unreadable

NAME = "openhands"
_AGENT = "openhands"


def recognises(sample: Sample) -> bool:
    """Whether the first records are such events, or hold a history of them."""
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
    """A session a record with its history, or one of all events."""
    return spread(_parts(path), SessionRef(_AGENT, path.stem), format=NAME, path=path)


def _parts(path: Path) -> Iterator[Builder | Unreadable]:
    stream: Events | None = None
    seen: set[str] = set()
    for index, part in enumerate(values(path)):
        if isinstance(part, Unreadable):
            yield part
            continue
        history = _history(part.value) if isinstance(part.value, dict) and not is_event(part.value) else None
        if history is not None:
            builder = _begin(path, part.value, index, seen)
            events = Events(builder)
            for position, item in enumerate(history):
                _tell(events, item, f"{part.where}, event {position}", position)
            events.finish()
            yield builder
            continue
        if stream is None:
            stream = Events(Builder(SessionRef(_AGENT, path.stem), format=NAME, path=str(path)))
            yield stream.builder
        _tell(stream, part.value, part.where, part.place)
        stream.finish()


def _tell(events: Events, item: object, where: str, place: int) -> None:
    """An event; old files pair each action with what was observed."""
    for event in item if isinstance(item, list) else [item]:
        with reading(events.builder, where):
            events.tell(event, where, place)


def _begin(path: Path, run: dict[str, Any], index: int, seen: set[str]) -> Builder:
    own = identity(first_of(run, "instance_id", "id", "task_id"))
    native = f"{path.stem}/{own if own is not None else index}"
    if native in seen:
        native = f"{native}#{index}"
    seen.add(native)
    builder = Builder(SessionRef(_AGENT, native), format=NAME, path=str(path))
    builder.succeeded = _label(run)
    builder.cost_usd = number(record(run.get("metrics")).get("accumulated_cost"))
    llm = record(record(run.get("metadata")).get("llm_config"))
    builder.model = string(llm.get("model")) or string(record(run.get("metadata")).get("model"))
    if string(run.get("error")) is not None:
        builder.end_reason = "error"
    return builder


def _label(run: dict[str, Any]) -> bool | None:
    tested = record(run.get("test_result"))
    for place in (run, record(run.get("report")), tested, record(tested.get("report"))):
        if isinstance(solved := place.get("resolved"), bool):
            return solved
    return None
