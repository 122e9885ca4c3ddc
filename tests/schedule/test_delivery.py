"""Delivery is a state of its own: every place really gets the answer, and what failed is tried again, once each."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from seasoned.config import Config
from seasoned.confirm.notify.http import is_genuine
from seasoned.schedule.delivery import TELEGRAM_CHARACTERS, AnswerSender, message_of, parts_of
from seasoned.schedule.job import DeliveryResult, Job, JobRun
from tests.schedule.made import START, job
from tests.schedule.places import config_at_home, serve_web

SECRETS = {"telegram_token": "1:hush", "discord_token": "hush", "webhook_secret": "x" * 32}


def record(**fields: Any) -> JobRun:
    values = {"job_id": "j1", "scheduled_at": START, "outcome": "ok", "output": "All is well.", "delivery": "pending"}
    return JobRun(**{**values, **fields})


def deliver(one: Job, config: Config, sent: JobRun | None = None, **options: Any) -> DeliveryResult:
    return AnswerSender(config, find=SECRETS.get, clock=lambda: START, **options)(one, sent or record())


def test_the_terminal_gets_the_text_without_what_steers_it() -> None:
    out = io.StringIO()
    assert deliver(job(), config_at_home(), record(output="\x1b[2Jwiped"), out=out) == DeliveryResult("delivered")
    assert "\x1b" not in out.getvalue()
    assert "one – 2027-01-15 08:00" in out.getvalue()


def test_a_file_grows_by_every_answer_and_is_for_its_owner(tmp_path: Path) -> None:
    file = tmp_path / "report.md"
    one = job(delivery=(f"file:{file}",))
    for text in ("First.", "Second."):
        assert deliver(one, config_at_home(), record(output=text)).state == "delivered"
    assert file.read_text().count("## one – 2027-01-15 08:00") == 2
    assert file.read_text().index("First.") < file.read_text().index("Second.")
    assert file.stat().st_mode & 0o077 == 0


def test_a_relative_file_lies_in_the_folder_of_reports() -> None:
    config = config_at_home()
    assert deliver(job(delivery=("file:daily/x.md",)), config).state == "delivered"
    assert (config.home / "reports" / "daily" / "x.md").exists()
    escaped = deliver(job(delivery=("file:../config.toml",)), config)
    assert (escaped.state, "leads out" in escaped.error) == ("failed", True)


def test_a_file_behind_a_link_or_a_pipe_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("keep")
    (tmp_path / "link").symlink_to(tmp_path / "precious")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe", "no/such/folder.md"):
        delivered = deliver(job(delivery=(f"file:{tmp_path / name}",)), config_at_home())
        assert delivered.state in ("failed", "pending"), name
        assert name.split("/")[0] in delivered.error
    assert (tmp_path / "precious").read_text() == "keep"


def test_a_webhook_is_signed_and_has_one_id_for_every_try() -> None:
    with serve_web() as web:
        config = config_at_home(webhook_url=f"{web.url}/hook")
        one = job(delivery=("webhook",))
        assert deliver(one, config).state == "delivered"
        assert deliver(one, config).state == "delivered"
        (_, headers, body), (_, again, _) = web.heard
    assert is_genuine(SECRETS["webhook_secret"], headers, body, now=START)
    assert headers["webhook-id"] == f"cron_j1_{int(START)}"
    assert again["webhook-id"] == headers["webhook-id"]
    said = msgspec.json.decode(body)
    assert (said["schema"], said["text"], said["data"]["outcome"]) == ("seasoned/schedule-run/1", "All is well.", "ok")


def test_the_secret_of_one_webhook_signs_nothing_for_another() -> None:
    with serve_web() as web:
        deliver(job(delivery=(f"webhook:{web.url}/other",)), config_at_home(webhook_url="http://127.0.0.1:1/"))
        ((path, headers, _),) = web.heard
    assert path == "/other"
    assert "webhook-signature" not in headers


def test_telegram_gets_plain_text_in_pieces_that_fit() -> None:
    with serve_web() as web:
        config = config_at_home(telegram_url=web.url, telegram_chat="42")
        text = "\n".join(f"line {number} <b>*_" for number in range(600))
        assert deliver(job(delivery=("telegram", "telegram:7")), config, record(output=text)).state == "delivered"
        bodies = web.bodies
    assert {path for path, _, _ in web.heard} == {"/bot1:hush/sendMessage"}
    assert [body["chat_id"] for body in bodies] == ["42", "42", "42", "7", "7", "7"]
    assert all(len(body["text"]) <= 4096 and "parse_mode" not in body for body in bodies)
    assert "line 599" in bodies[2]["text"]


def test_discord_calls_nobody_and_knows_a_copy() -> None:
    with serve_web() as web:
        config = config_at_home(discord_url=web.url, discord_channel="9")
        assert deliver(job(delivery=("discord",)), config, record(output="@everyone hello")).state == "delivered"
        ((path, headers, _),) = web.heard
        (body,) = web.bodies
    assert (path, headers["authorization"]) == ("/channels/9/messages", "Bot hush")
    assert body["allowed_mentions"] == {"parse": []}
    assert body["enforce_nonce"] is True
    assert len(body["nonce"]) <= 25


@pytest.mark.parametrize(
    ("status", "state"), [(500, "pending"), (429, "pending"), (404, "failed"), (401, "failed"), (302, "failed")]
)
def test_an_answer_decides_whether_it_is_tried_again(status: int, state: str) -> None:
    with serve_web() as web:
        web.statuses = [status]
        assert deliver(job(delivery=(f"webhook:{web.url}",)), config_at_home()).state == state


def test_only_places_that_have_not_got_it_are_tried_again(tmp_path: Path) -> None:
    with serve_web() as web:
        web.statuses = [503]
        one = job(delivery=(f"file:{tmp_path / 'x.md'}", f"webhook:{web.url}", "telegram"))
        config = config_at_home()
        first = deliver(one, config)
        second = deliver(one, config, record(delivery_error=first.error))
    assert (first.state, second.state) == ("pending", "failed")
    assert len(web.heard) == 2
    assert (tmp_path / "x.md").read_text().count("All is well.") == 1
    assert second.error.splitlines() == [line for line in first.error.splitlines() if "telegram" in line]


def test_nobody_at_the_other_end_is_pending_and_the_token_is_not_told() -> None:
    config = config_at_home(telegram_url="http://127.0.0.1:9", telegram_chat="1")
    delivered = deliver(job(delivery=("telegram",)), config)
    assert delivered.state == "pending"
    assert "hush" not in delivered.error


@pytest.mark.parametrize("place", ["telegram", "discord", "webhook"])
def test_what_is_not_configured_is_said_and_not_tried_again(place: str) -> None:
    delivered = AnswerSender(config_at_home(), find=lambda name: None)(job(delivery=(place,)), record())
    assert delivered.state == "failed"
    assert "Set" in delivered.error or "missing" in delivered.error


def test_a_job_that_delivers_nowhere_has_no_delivery() -> None:
    assert deliver(job(delivery=("none",)), config_at_home()) == DeliveryResult("none")


def test_a_failure_says_first_what_failed() -> None:
    failed = record(
        outcome="failed", fault="script", reason="It ended with exit code 2.", output="", script_output="no disk"
    )
    message = message_of(job(), failed)
    assert message.title == "one – failed (script) – 2027-01-15 08:00"
    assert message.text == "The run failed.\n\nIt ended with exit code 2.\n\nThe script printed:\nno disk"
    assert "without an answer" in message_of(job(), record(outcome="empty", output="")).text
    assert "It is not known" in message_of(job(), record(outcome="unknown", output="", reason="Gone.")).text


def test_the_last_of_many_pieces_says_where_the_rest_is() -> None:
    parts = list(parts_of(message_of(job(), record(output="x" * 100_000)), TELEGRAM_CHARACTERS))
    assert len(parts) == 5
    assert parts[-1].endswith("seasoned cron history")
    assert max(map(len, parts)) <= TELEGRAM_CHARACTERS
