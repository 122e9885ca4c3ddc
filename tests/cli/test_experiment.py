"""The commands of experiments, through the real agent and a model that answers over HTTP."""

from __future__ import annotations

import json
import math
import statistics
import time
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from seasoned.store import open_store
from tests.cli.run import seasoned
from tests.experiment.scripted import TASKS, write_tasks
from tests.scripted_model import Call, call, serve_script


def _answer(messages: list[dict[str, Any]]) -> str | Call:
    """Knows how a parcel is written when anything it was given says so, and answers when a call was made."""
    if messages[-1]["role"] == "tool":
        return "Done."
    asked, given = str(messages[-1]["content"]), json.dumps(messages)
    if "parcel" in asked:
        number = "1" if "one" in asked else "2"
        return call("parcel_find", parcel=f"GX-{number}" if "GX-" in given or "QT-" in given else number)
    return call("weigh", weight="20g" if "20g" in asked else "30g")


def _seasoned(tmp_path: Path, *words: str, expect: int = 0) -> CompletedProcess[str]:
    return seasoned(*words, expect=expect, SEASONED_HOME=str(tmp_path / "home"))


def _run(tmp_path: Path, *words: str, url: str, expect: int = 0) -> CompletedProcess[str]:
    return _seasoned(
        tmp_path, "experiment", "run", *words, "--base-url", url, "--model", "scripted", "--yes", expect=expect
    )


def test_an_experiment_learns_runs_and_says_what_it_found(tmp_path: Path) -> None:
    file = write_tasks(tmp_path)
    with serve_script(*[_answer] * 200) as server:
        words = (str(file), "--arms", "cold,warm,placebo,rule", "--json")
        done = _run(tmp_path, *words, url=server.base_url)
        heard = len(server.heard)
        again = _run(tmp_path, *words, url=server.base_url)
        assert len(server.heard) == heard, "what is there is not run again"
    assert "Learning on the train part" in done.stderr
    assert "at most" in done.stderr
    answer = json.loads(done.stdout)
    assert answer["schema"] == "seasoned/experiment/1"
    by_arm = {arm["arm"]: arm["measures"]["success"]["value"] for arm in answer["arms"]}
    assert by_arm["cold"] < by_arm["rule"]
    assert by_arm["cold"] < by_arm["warm"], "what was learned on the train part is shown, and helps"
    assert json.loads(again.stdout)["runs"] == answer["runs"]
    listed = json.loads(_seasoned(tmp_path, "experiment", "show", "--json").stdout)
    assert [one["name"] for one in listed["experiments"]] == ["depot-confirmation"]
    assert "May be said" in _seasoned(tmp_path, "experiment", "show", "depot-confirmation").stdout
    sessions = json.loads(_seasoned(tmp_path, "sessions", "--json").stdout)
    assert sessions["sessions"], "every run is a recorded session"


def test_who_asks_for_one_that_is_not_there_is_told_both_ways_to_make_one(tmp_path: Path) -> None:
    ways = "`seasoned experiment run` makes one on tasks, `seasoned experiment begin` one on live sessions."
    first = _seasoned(tmp_path, "experiment", "show", "nope", expect=1).stderr
    assert f"No experiment 'nope'. {ways}" in first
    assert ways in _seasoned(tmp_path, "experiment", "show").stdout
    _seasoned(tmp_path, "experiment", "begin", "autumn")
    assert f"No experiment 'nope'. Known: 'autumn'. {ways}" in _seasoned(
        tmp_path, "experiment", "show", "nope", expect=1
    ).stderr.replace("\n", " ")


def test_one_is_told_how_many_sessions_it_takes_before_one_begins(tmp_path: Path) -> None:
    assert "cannot be told from your history" in _seasoned(tmp_path, "experiment", "begin", "none").stdout
    with open_store(tmp_path / "home" / "seasoned.db") as store:
        store.connection.executemany(
            "INSERT INTO session (agent, native_id, ended, ok, failed) VALUES ('codex', ?, ?, 8, ?)",
            [(f"s{number}", time.time() - 60, number % 5) for number in range(40)],
        )
        store.connection.commit()
    said = " ".join(_seasoned(tmp_path, "experiment", "begin", "autumn").stdout.split())
    # The mean of 0/8, 1/9, 2/10, 3/11 and 4/12; sessions of one kind show less than so many calls would.
    assert "You have about 5 sessions a week, with 18.3 % failed calls." in said
    power = json.loads(_seasoned(tmp_path, "experiment", "begin", "autumn", "--json").stdout)["power"]
    falls = [power["falls"][each] for each in ("50", "200", "1000")]
    assert falls == sorted(falls, reverse=True) and 0.05 < falls[0] < 0.08
    # Two means whose standard deviation is known: (1.96 + 0.84) · s · √(2 / n).
    spread = statistics.pstdev([failed / (8 + failed) for failed in range(5)])
    assert falls[2] == pytest.approx(2.8 * spread * math.sqrt(2 / 1000), rel=0.05)


def test_a_model_that_is_unreachable_stops_with_what_was_saved(tmp_path: Path) -> None:
    file = write_tasks(tmp_path)
    done = _run(tmp_path, str(file), "--arms", "cold,rule", url="http://127.0.0.1:9/v1", expect=3)
    assert "'scripted' cannot be reached" in done.stderr
    assert "0 of 3 runs are saved: run the same command again to go on" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nowhere.yaml"], 1, "neither a file nor a task set"),
        (["{file}", "--arms", "cold,template:gone"], 1, "names no template"),
        (["{file}", "--arms", "cold,warmish"], 2, "There is no arm 'warmish'"),
        (["{file}", "--arms", "cold"], 2, "at least two arms"),
        (["{broken}"], 2, "Invalid enum value"),
    ],
)
def test_bad_input_is_answered_with_a_sentence(tmp_path: Path, words: list[str], code: int, said: str) -> None:
    names = {
        "file": str(write_tasks(tmp_path)),
        "broken": str(write_tasks(tmp_path, TASKS.replace("part: development", "part: once"), "broken.yaml")),
    }
    done = _run(tmp_path, *[word.format(**names) for word in words], url="http://127.0.0.1:9/v1", expect=code)
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_tasks_are_counted(tmp_path: Path) -> None:
    done = _seasoned(tmp_path, "experiment", "run", "conventions", "--check", "--json")
    found = json.loads(done.stdout)
    assert sum(sum(one["parts"].values()) for one in found["environments"]) >= 60
