"""Jobs of Hermes become jobs here: what fits is carried over, and what does not is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from seasoned.errors import SourceError, UsageError
from seasoned.schedule.hermes_jobs import HermesJobs, import_jobs
from seasoned.schedule.job import At, Cron, Every, Job
from seasoned.store import Database
from tests.schedule.made import START, at


def entry(**fields: Any) -> dict[str, Any]:
    """A job as Hermes 0.19 writes it."""
    plain = {
        "id": "009ce6dd2210", "name": "hello", "prompt": "Say hello.", "skills": [], "skill": None, "model": None,
        "provider": None, "provider_snapshot": None, "model_snapshot": None, "base_url": None, "script": None,
        "no_agent": False, "context_from": None,
        "schedule": {"kind": "interval", "minutes": 30, "display": "every 30m"}, "schedule_display": "every 30m",
        "repeat": {"times": None, "completed": 0}, "enabled": True, "state": "scheduled", "paused_at": None,
        "created_at": "2027-01-15T07:00:00+00:00", "next_run_at": "2027-01-15T08:30:00+00:00", "deliver": "local",
        "origin": None, "enabled_toolsets": None, "workdir": None,
    }  # fmt: skip
    return {**plain, **fields}


def read(any_database: Database, tmp_path: Path, *entries: object) -> HermesJobs:
    file = tmp_path / "jobs.json"
    file.write_text(json.dumps({"jobs": entries, "updated_at": "2027-01-15T08:00:00+00:00"}), "utf-8")
    return import_jobs(any_database, tmp_path, zone="Europe/Berlin", now=START)


def one(any_database: Database, tmp_path: Path, **fields: Any) -> Job:
    found = read(any_database, tmp_path, entry(**fields))
    assert found.left_out == ()
    return found.jobs[0]


def test_a_plain_job_is_carried_over_whole(any_database: Database, tmp_path: Path) -> None:
    made = one(any_database, tmp_path, model="m", provider="p", workdir="/srv", script="x.sh", enabled=False)
    assert (made.id, made.name, made.prompt, made.schedule) == ("009ce6dd2210", "hello", "Say hello.", Every(1800))
    assert (made.model, made.provider, made.folder, made.script) == ("m", "p", "/srv", "x.sh")
    assert (made.delivery, made.repeat, made.is_paused) == (("none",), None, True)


def test_every_kind_of_schedule(any_database: Database, tmp_path: Path) -> None:
    kinds = {
        "a": ({"kind": "cron", "expr": "0 9 * * 1-5"}, Cron("0 9 * * 1-5")),
        "b": ({"kind": "once", "run_at": "2030-12-24T18:00:00+00:00"}, At(at("UTC", "2030-12-24 18:00"))),
        "c": ({"kind": "once", "run_at": "2030-12-24T18:00:00"}, At(at("Europe/Berlin", "2030-12-24 18:00"))),
    }
    found = read(
        any_database, tmp_path, *[entry(id=name, name=name, schedule=given) for name, (given, _) in kinds.items()]
    )
    assert [job.schedule for job in found.jobs] == [expected for _, expected in kinds.values()]


def test_skills_deliveries_and_repeats(any_database: Database, tmp_path: Path) -> None:
    old = entry(id="b", name="old", skill="tidy", prompt=None, deliver="telegram:7, slack", repeat=2)
    del old["skills"]
    counted = entry(id="c", name="counted", skills=["a", "b"], repeat={"times": 3, "completed": 1})
    first, second = read(any_database, tmp_path, old, counted).jobs
    assert (first.skills, first.prompt) == (("tidy",), "Do what the skill 'tidy' says.")
    assert (first.delivery, first.repeat) == (("telegram:7",), 2)
    assert (second.skills, second.repeat) == (("a", "b"), 2)


def test_what_does_not_fit_is_left_out_with_its_reason(any_database: Database, tmp_path: Path) -> None:
    wrong = {
        "already run 2 times": entry(repeat={"times": 2, "completed": 2}),
        "completed": entry(state="completed"),
        "in the past": entry(schedule={"kind": "once", "run_at": "2001-01-01T00:00:00"}),
        "cron expression": entry(schedule={"kind": "cron", "expr": "* * *"}),
        "run_at": entry(schedule={"kind": "moon"}),
        "'int' object": 7,
        "job name": entry(name="a/b"),
    }
    found = read(any_database, tmp_path, *wrong.values())
    assert found.jobs == ()
    for said, (place, reason) in zip(wrong, found.left_out, strict=True):
        assert said in reason and place.startswith("job ")


def test_a_second_import_changes_nothing(any_database: Database, tmp_path: Path) -> None:
    assert len(read(any_database, tmp_path, entry()).jobs) == 1
    assert read(any_database, tmp_path, entry()).left_out == (("job 1 ('hello')", "it was imported before"),)


def test_a_file_that_is_no_list_of_jobs_is_refused(any_database: Database, tmp_path: Path) -> None:
    for text in (None, "{", "3", '{"jobs": 3}'):
        if text is not None:
            (tmp_path / "jobs.json").write_text(text)
        with pytest.raises(SourceError, match=r"Give the jobs\.json"):
            import_jobs(any_database, tmp_path, zone="UTC", now=START)
    (tmp_path / "jobs.json").write_text("[]")
    with pytest.raises(UsageError, match="time zone"):
        import_jobs(any_database, tmp_path, zone="Mars", now=START)
