"""Jobs of Hermes become jobs here: what fits is carried over, and what does not is said."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from seasoned.errors import SourceError, UsageError
from seasoned.schedule import job_table
from seasoned.schedule.hermes_jobs import HermesJobs, ImportedJob, import_jobs, read_jobs
from seasoned.schedule.job import At, Cron, Every
from seasoned.store import Database
from tests.conftest import ROOT
from tests.each_case import each_case
from tests.schedule.made import START, at

HERMES = ROOT / ".venv" / "hermes-0.19.0"
MAKE = """
import cron.jobs as jobs
jobs.create_job(prompt="Say hello.", schedule="every 30m", name="hello", deliver="local")
weekdays = dict(schedule="0 9 * * 1-5", name="report", deliver="telegram:123", skills=["a", "b"], repeat=3)
jobs.create_job(prompt="Report.", **weekdays)
jobs.create_job(prompt="Once.", schedule="2030-12-24T18:00:00", name="once")
"""


def entry(**fields: Any) -> dict[str, Any]:
    """A job as Hermes 0.19 writes it."""
    plain = {
        "id": "009ce6dd2210", "name": "hello", "prompt": "Say hello.", "skills": [], "skill": None, "model": None,
        "provider": None, "provider_snapshot": None, "model_snapshot": None, "base_url": None, "script": None,
        "no_agent": False, "context_from": None,
        "schedule": {"kind": "interval", "minutes": 30, "display": "every 30m"}, "schedule_display": "every 30m",
        "repeat": {"times": None, "completed": 0}, "enabled": True, "state": "scheduled", "paused_at": None,
        "paused_reason": None, "created_at": "2027-01-15T07:00:00+00:00", "next_run_at": "2027-01-15T08:30:00+00:00",
        "last_run_at": None, "last_status": None, "last_error": None, "last_delivery_error": None, "deliver": "local",
        "origin": None, "enabled_toolsets": None, "workdir": None,
    }  # fmt: skip
    return {**plain, **fields}


def read(tmp_path: Path, *entries: object, zone: str = "Europe/Berlin") -> HermesJobs:
    file = tmp_path / "jobs.json"
    file.write_text(json.dumps({"jobs": entries, "updated_at": "2027-01-15T08:00:00+00:00"}), "utf-8")
    return read_jobs(file, zone=zone, now=START)


def one(tmp_path: Path, **fields: Any) -> ImportedJob:
    found = read(tmp_path, entry(**fields))
    assert found.left_out == ()
    return found.jobs[0]


def reason(tmp_path: Path, given: object) -> str:
    found = read(tmp_path, given)
    assert found.jobs == ()
    return found.left_out[0].reason


def test_a_plain_job_is_carried_over_whole(tmp_path: Path) -> None:
    found = one(tmp_path, model="m", provider="p", workdir="/srv", enabled_toolsets=["terminal", "skills"])
    made = found.job
    assert (made.id, made.name, made.prompt, made.schedule) == ("009ce6dd2210", "hello", "Say hello.", Every(1800))
    assert (made.model, made.provider, made.folder, made.toolsets) == ("m", "p", "/srv", ("terminal", "skill"))
    assert (made.delivery, made.repeat, made.is_paused, found.notes) == (("none",), None, False, ())
    assert made.created_at == START - 3600, "its beat goes on as it was"


@each_case(
    ("schedule", "expected"),
    [
        ({"kind": "cron", "expr": "0 9 * * 1-5"}, Cron("0 9 * * 1-5")),
        ({"kind": "interval", "minutes": 1}, Every(60)),
        ({"kind": "once", "run_at": "2030-12-24T18:00:00+00:00"}, At(at("UTC", "2030-12-24 18:00"))),
        ({"kind": "once", "run_at": "2030-12-24T18:00:00"}, At(at("Europe/Berlin", "2030-12-24 18:00"))),
    ],
)
def test_every_kind_of_schedule(tmp_path: Path, schedule: dict[str, Any], expected: object) -> None:
    assert one(tmp_path, schedule=schedule).job.schedule == expected


@each_case(
    ("fields", "skills"),
    [
        ({"skills": ["a", "b"], "skill": "a"}, ("a", "b")),
        ({"skills": None, "skill": "old"}, ("old",)),
        ({"skills": "single"}, ("single",)),
        ({"skills": ["a", "", None, "a"]}, ("a",)),
    ],
)
def test_skills_and_the_single_skill_of_older_versions(
    tmp_path: Path, fields: dict[str, Any], skills: tuple[str, ...]
) -> None:
    assert one(tmp_path, **fields).job.skills == skills


def test_an_old_job_without_the_list_of_skills(tmp_path: Path) -> None:
    old = entry(skill="old")
    del old["skills"]
    assert read(tmp_path, old).jobs[0].job.skills == ("old",)


def test_a_job_of_skills_alone_gets_words(tmp_path: Path) -> None:
    assert one(tmp_path, prompt=None, skills=["tidy"]).job.prompt == "Do what the skill 'tidy' says."


def test_a_job_without_an_agent_is_its_script(tmp_path: Path) -> None:
    made = one(tmp_path, no_agent=True, script="check.sh", prompt="ignored").job
    assert (made.prompt, made.script) == ("", "check.sh")


@each_case("fields", [{"enabled": False}, {"state": "paused"}, {"paused_at": "2027-01-01T00:00:00"}])
def test_a_paused_job_stays_paused(tmp_path: Path, fields: dict[str, Any]) -> None:
    assert one(tmp_path, **fields).job.is_paused


def test_only_the_runs_that_are_left_are_left(tmp_path: Path) -> None:
    assert one(tmp_path, repeat={"times": 5, "completed": 2}).job.repeat == 3
    assert "as often as it should" in reason(tmp_path, entry(repeat={"times": 2, "completed": 2}))


@each_case(
    ("fields", "delivery", "noted"),
    [
        ({"deliver": "telegram:123"}, ("telegram:123",), False),
        ({"deliver": "telegram"}, ("telegram",), False),
        ({"deliver": "discord:9, telegram:1"}, ("discord:9", "telegram:1"), False),
        ({"deliver": "origin", "origin": {"platform": "telegram", "chat_id": 77}}, ("telegram:77",), False),
        ({"deliver": "origin"}, ("none",), True),
        ({"deliver": "matrix:#room"}, ("none",), True),
        ({"deliver": "all"}, ("none",), True),
        ({"deliver": None}, ("none",), False),
    ],
)
def test_deliveries(tmp_path: Path, fields: dict[str, Any], delivery: tuple[str, ...], noted: bool) -> None:
    found = one(tmp_path, **fields)
    assert found.job.delivery == delivery
    assert any("is not known here" in note for note in found.notes) is noted


def test_what_is_not_carried_over_is_said(tmp_path: Path) -> None:
    found = one(tmp_path, base_url="http://x", context_from="abc", enabled_toolsets=["file", "vision"])
    assert [note.split()[0] for note in found.notes] == ["its", "the", "toolsets"]
    assert found.job.toolsets == ("file",)


@each_case(
    ("given", "words"),
    [
        ("text", "an entry is an object"),
        (entry(state="completed"), "it is completed"),
        (entry(schedule=None), "its schedule cannot be read"),
        (entry(schedule={"kind": "moon"}), "kind of schedule is not supported"),
        (entry(schedule={"kind": "cron", "expr": "0 0 30 2 *"}), "never matches"),
        (entry(schedule={"kind": "cron", "expr": "0 0 0 1 1 *"}), "does not have five fields"),
        (entry(schedule={"kind": "once", "run_at": "2020-01-01T00:00:00"}), "is in the past"),
        (entry(schedule={"kind": "once", "run_at": "soon"}), "Invalid isoformat"),
        (entry(schedule={"kind": "interval", "minutes": 0}), "an interval must be between"),
        (entry(schedule={"kind": "interval", "minutes": 1e300}), "an interval must be between"),
        (entry(prompt="", skills=[]), "has nothing to do"),
    ],
)
def test_what_becomes_no_job_is_left_out_with_its_reason(tmp_path: Path, given: object, words: str) -> None:
    assert words in reason(tmp_path, given)


def test_two_jobs_of_one_name_and_names_with_odd_signs_are_told_apart(tmp_path: Path) -> None:
    found = read(tmp_path, entry(), entry(id="b2"), entry(id="c3", name="a/b\n<c>"), entry(id="../d", name=None))
    assert [each.job.name for each in found.jobs] == ["hello", "hello b2", "a b c", "Say hello"]
    assert found.jobs[3].job.id != "../d"


@each_case("text", ["{", "[]]", '{"jobs": 5}', '"x"', "\udcff"])
def test_a_file_that_is_no_list_of_jobs_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "jobs.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(SourceError, match=r"Give the jobs\.json of Hermes"):
        read_jobs(tmp_path, zone="UTC", now=START)


def test_a_file_that_is_not_there_and_a_zone_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot be read"):
        read_jobs(tmp_path / "none", zone="UTC", now=START)
    with pytest.raises(UsageError, match="unknown time zone"):
        read(tmp_path, entry(), zone="Nowhere")


def test_jobs_are_imported_once(any_database: Database, tmp_path: Path) -> None:
    (tmp_path / "cron").mkdir()
    (tmp_path / "cron" / "jobs.json").write_text(json.dumps({"jobs": [entry(), entry(id="b2", name="two")]}), "utf-8")
    first = import_jobs(any_database, tmp_path, zone="UTC", now=START)
    again = import_jobs(any_database, tmp_path, zone="UTC", now=START)
    assert (len(first.jobs), len(again.jobs)) == (2, 0)
    assert all("imported before" in left.reason for left in again.left_out)
    assert [stored.job.name for stored in job_table.jobs(any_database)] == ["hello", "two"]
    assert job_table.find(any_database, "hello").next_at == START + 1800


def test_the_file_of_a_real_hermes_is_read(tmp_path: Path) -> None:
    if not (HERMES / "done").exists():
        pytest.skip("needs the real Hermes, which tests/hermes/test_real_plugin.py installs")
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "HERMES_HOME": str(tmp_path / "hermes")}
    subprocess.run([HERMES / "bin" / "python", "-c", MAKE], env=environment, cwd=tmp_path, check=True, timeout=120)
    found = read_jobs(tmp_path / "hermes", zone="UTC", now=START)
    assert found.left_out == ()
    hello, report, once = (each.job for each in found.jobs)
    assert (hello.schedule, report.schedule) == (Every(1800), Cron("0 9 * * 1-5"))
    assert isinstance(once.schedule, At) and once.repeat == 1
    assert (report.skills, report.repeat, report.delivery) == (("a", "b"), 3, ("telegram:123",))
