"""Stores experiments: designs, learned templates and runs. Each run counts once."""

from __future__ import annotations

from typing import get_args

import msgspec

from seasoned.errors import CannotDo, NotFound, UsageError
from seasoned.example.example import Template
from seasoned.experiment.analysis.analyse import Analysis, analyse
from seasoned.experiment.analysis.task_run import Check, TaskRun
from seasoned.experiment.run.design import Design
from seasoned.session import SessionRef
from seasoned.store import Store

_encode = msgspec.json.Encoder(order="deterministic").encode
_record = msgspec.json.Decoder(TaskRun).decode
_design = msgspec.json.Decoder(Design).decode
_template = msgspec.json.Decoder(Template).decode


class RunCount(msgspec.Struct, frozen=True):
    """The progress of an experiment with one model on one part."""

    model: str
    part: str
    runs: int
    tasks: int
    arms: int
    ended_at: float


def keep_design(store: Store, design: Design, tasks_digest: str, *, now: float) -> None:
    """Store a design once. It cannot be changed afterwards, since that would allow choosing a result."""
    text = _encode(design).decode()
    with store.write():
        store.run(
            "run.keep_design",
            {"experiment": design.name, "tasks_digest": tasks_digest, "document": text, "created_at": now},
        )
    # Compared with what is stored: another process may have stored its design first.
    row = store.row("run.design", {"experiment": design.name})
    assert row is not None
    begun = _design(row["document"])
    if begun != design:
        changed = [name for name in Design.__struct_fields__ if getattr(begun, name) != getattr(design, name)]
        raise UsageError(
            f"The experiment {design.name!r} was started with another design ({', '.join(changed)}), "
            "which cannot be changed. Give another --name."
        )
    if row["tasks_digest"] != tasks_digest:
        raise UsageError(
            f"The tasks of the experiment {design.name!r} have changed since it was started. Give another --name."
        )


def load_design(store: Store, name: str) -> Design:
    """The design of an experiment."""
    row = store.row("run.design", {"experiment": name})
    if row is None:
        known = [str(one["experiment"]) for one in store.rows("run.designs")]
        there = f"there are {', '.join(known)}" if known else "there are none yet"
        raise NotFound(f"No experiment {name!r}: {there} (`seasoned experiment run` makes one on tasks).")
    return _design(row["document"])


def designs(store: Store) -> list[tuple[Design, float]]:
    """All experiments and when they were started, oldest first."""
    return [(_design(row["document"]), row["created_at"]) for row in store.rows("run.designs")]


def begin(store: Store, session: SessionRef, record: TaskRun) -> None:
    """Log which run a session belongs to before it starts, so that aborted ones are known too."""
    with store.write():
        store.run("run.begin", {**_key(record), "part": record.part, "session": str(session)})


def save(store: Store, record: TaskRun) -> bool:
    """Store a finished run; False if it was stored already."""
    assert record.ended_at is not None
    with store.write():
        changed = store.run(
            "run.save",
            {
                **_key(record),
                "part": record.part,
                "session": record.session,
                "ended_at": record.ended_at,
                "document": _encode(record).decode(),
            },
        )
    return changed > 0


class _CheckedRun(msgspec.Struct, frozen=True):
    """What every version stored of a run."""

    model: str
    task: str
    check: str
    task_set: str = ""

    @property
    def place(self) -> tuple[str, str, str]:
        return self.model, self.task_set, self.task


_checked = msgspec.json.Decoder(_CheckedRun).decode


def load_records(store: Store, experiment: str) -> list[TaskRun]:
    """The finished runs of an experiment.

    Earlier versions also stored runs whose check broke: their tasks are left out in every arm.
    """
    documents = [row["document"] for row in store.rows("run.of_experiment", {"experiment": experiment})]
    checked = [_checked(one) for one in documents]
    broken = {one.place for one in checked if one.check not in get_args(Check)}
    return [_record(text) for text, one in zip(documents, checked, strict=True) if one.place not in broken]


def analyses(store: Store, name: str, *, model: str | None = None) -> list[Analysis]:
    """What an experiment found, one analysis for each model that ran it."""
    design = load_design(store, name)
    records = [one for one in load_records(store, name) if model is None or one.model == model]
    if not records:
        raise CannotDo(f"The experiment {name!r} has no finished runs{f' with {model!r}' if model else ''} yet.")
    models = dict.fromkeys(one.model for one in records)
    return [analyse([one for one in records if one.model == each], design.plan) for each in models]


def counts(store: Store, experiment: str) -> list[RunCount]:
    """The progress of an experiment, by model and part."""
    names = RunCount.__struct_fields__
    return [
        RunCount(**{name: row[name] for name in names}) for row in store.rows("run.counts", {"experiment": experiment})
    ]


def broken_off(store: Store, experiment: str) -> int:
    """The number of sessions that never became a finished run."""
    row = store.row("run.broken_off", {"experiment": experiment})
    return 0 if row is None else int(row["sessions"])


def keep_learned(store: Store, template: Template, *, task_set: str, tasks_digest: str, model: str, now: float) -> None:
    """Store what was learned on the train part. It stays out of the library, which is for real sessions."""
    with store.write():
        store.run(
            "run.keep_learned",
            {
                "task_set": task_set,
                "tasks_digest": tasks_digest,
                "model": model,
                "document": _encode(template).decode(),
                "created_at": now,
            },
        )


def load_learned(store: Store, *, task_set: str, tasks_digest: str, model: str) -> Template | None:
    """What was learned on the train part of these tasks with this model."""
    row = store.row("run.learned", {"task_set": task_set, "tasks_digest": tasks_digest, "model": model})
    return None if row is None else _template(row["document"])


def _key(record: TaskRun) -> dict[str, object]:
    names = ("experiment", "model", "arm", "task_set", "task", "repeat")
    return dict(zip(names, record.key, strict=True))
