"""`seasoned cron …` as a user calls it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from seasoned.cli.main import app
from seasoned.errors import SeasonedError
from tests.cli.run import SEASONED, answer, seasoned
from tests.each_case import each_case
from tests.schedule.places import script


def ask(*arguments: str) -> Any:
    """What a command answers to a program, in this process."""
    done = CliRunner().invoke(app, ["cron", *arguments, "--json"], catch_exceptions=False)
    return json.loads(done.stdout)


def test_a_new_job_shows_its_next_five_times() -> None:
    done = seasoned("cron", "add", "morning", "30 8 * * 1-5", "What is new?", "--zone", "Europe/Berlin")
    times = re.findall(r"(Mon|Tue|Wed|Thu|Fri) \d{4}-\d\d-\d\d 08:30:00 \+0[12]00", done.stdout)
    assert len(times) == 5
    assert "Run `seasoned serve`" in done.stderr
    assert len(answer("cron", "list", "morning")["next_times"]) == 5


def test_a_job_goes_through_its_life() -> None:
    made = ask("add", "one", "every 1h", "Say hello.", "--repeat", "2", "--to", "none", "--timeout", "2h")
    assert (made["when"], made["state"], made["timeout_seconds"]) == ("every 1h", "active", 7200.0)
    assert len(made["next_times"]) == 2
    assert ask("pause", "one")["state"] == "paused"
    assert ask("list", "one")["next_times"] == []
    assert ask("pause", made["id"], "--undo")["state"] == "active"
    (listed,) = ask("list")["jobs"]
    assert (listed["name"], listed["last"]) == ("one", None)
    assert "every 1h" in CliRunner().invoke(app, ["cron", "list"]).stdout
    assert ask("remove", "one", "--yes")["state"] == "removed"
    assert ask("list")["jobs"] == []
    assert "No jobs yet" in CliRunner().invoke(app, ["cron", "list"]).stdout


@each_case(
    ("arguments", "said"),
    [
        (["x", "30 2 30 2 *", "Do it."], "Bad day-of-month"),
        (["x", "61 * * * *", "Do it."], "not a valid cron expression"),
        (["x", "2001-01-01 10:00", "Do it."], "is in the past"),
        (["x", "every 1h", "Do it.", "--zone", "Mars/Base"], "unknown time zone"),
        (["x", "every 1h"], "nothing to do"),
        (["x", "every 1h", "Do it.", "--to", "pigeon"], "is not a valid delivery"),
        (["x", "every 1h", "--script", "gone.sh"], "Put it"),
        (["x", "every 1h", "--script", "/etc/hostname"], "is outside"),
        (["x", "every 1h", "Do it.", "--folder", "/no/such"], "not found"),
        (["x", "every 1h", "Use ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"], "looks like a secret"),
        (["x", "every 1h", "Do it.", "--timeout", "soon"], "--timeout: 'soon' is not a valid duration"),
    ],
)
def test_what_is_wrong_with_a_job_is_said_when_it_is_added(arguments: list[str], said: str) -> None:
    script("echo", "there.sh")
    done = CliRunner().invoke(app, ["cron", "add", *arguments])
    assert isinstance(done.exception, SeasonedError)
    assert said in str(done.exception)
    assert "\n" not in str(done.exception)


def test_a_run_by_hand_is_delivered_and_kept() -> None:
    script("echo 3 commits")
    ask("add", "one", "every 1h", "--script", "gate.sh", "--to", "stdout", "--to", "file:x.md")
    assert "3 commits" in seasoned("cron", "run", "one").stdout
    ran = ask("run", "one")
    assert (ran["outcome"], ran["delivery"], ran["output"]) == ("ok", "delivered", "3 commits")
    first, second = ask("history", "one")["runs"]
    assert (first["outcome"], second["note"]) == ("ok", "Started by hand.")
    assert "delivered" in CliRunner().invoke(app, ["cron", "history"]).stdout
    assert "3 commits" in CliRunner().invoke(app, ["cron", "history", "--output"]).stdout


def test_a_run_can_be_left_to_the_scheduler_of_a_server() -> None:
    script("echo 3 commits")
    ask("add", "one", "every 1h", "--script", "gate.sh", "--to", "file:x.md")
    serving = subprocess.Popen([SEASONED, "serve", "--port", "0", "--no-gateway"], stdout=subprocess.PIPE, text=True)
    try:
        assert serving.stdout is not None and "Listening" in serving.stdout.readline()
        until = time.monotonic() + 30
        while not ask("list")["is_kept"]:
            assert time.monotonic() < until, "it takes the lease a moment after it says that it runs"
            time.sleep(0.1)
        ran = ask("run", "one")
        assert (ran["outcome"], ran["note"]) == ("ok", "Started by hand.")
        report = Path(os.environ["SEASONED_HOME"]) / "reports" / "x.md"
        while not report.exists() or "3 commits" not in report.read_text():
            assert time.monotonic() < until
            time.sleep(0.1)
    finally:
        serving.send_signal(signal.SIGTERM)
        serving.communicate(timeout=30)
    assert serving.returncode == 0


def test_doctor_notices_that_nobody_keeps_the_schedule() -> None:
    ask("add", "one", "every 1h", "Say hello.")
    done = CliRunner().invoke(app, ["doctor", "--json"])
    (check,) = [one for one in json.loads(done.stdout)["checks"] if one["name"] == "schedule"]
    assert check["ok"] is False
    assert "seasoned serve" in check["finding"]


def test_what_is_not_there_is_said() -> None:
    for command in ("list", "history", "pause", "run"):
        done = CliRunner().invoke(app, ["cron", command, "x"])
        assert "job 'x' not found" in str(done.exception)
    assert "Nothing has run yet" in CliRunner().invoke(app, ["cron", "history"]).stdout
