"""What a request holds counts, not what it calls itself: a command that needs one of the ten is put to a person."""

from __future__ import annotations

import json
import time
from random import Random
from string import ascii_letters, ascii_lowercase
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.confirm.notify.message import compose
from seasoned.confirm.request.row import need_in
from seasoned.store import Database
from tests.confirm.books import SECRECY, Scene
from tests.each_case import check_each

ALLOW = '[[allow]]\naction = "send_email"\n'
HIDDEN: list[tuple[dict[str, Any], str]] = [
    ({"command": "rm -rf /srv/data"}, "delete_data"),
    ({"script": "set -e\nkubectl apply -f shop.yaml"}, "deploy_production"),
    ({"tool": "Bash", "arguments": {"command": "npm publish"}}, "publish_package"),
    ({"calls": [{"tool": "x", "arguments": {}}, [{"tool_name": "sh", "tool_input": {"cmd": "reboot"}}]]}, "shutdown_"),
    ({"commands": ["ls"] * 90 + ["rm -rf /srv/data"]}, "delete_data"),
    ({"cwd": "/srv", "command": "ls; rm -rf /srv/data"}, "delete_data"),
    ({"step": {"Input": "dropdb -h db.example.com shop"}}, "wipe_database"),
    ({"javascript": "require('fs').rmSync('/srv/data', {recursive: true})"}, "delete_data"),
    ({"query": "DROP TABLE orders"}, "wipe_database"),
    ({"program": "rm", "args": ["-rf", "/srv/data", 1]}, "delete_data"),
    ({"request": '{"body": {"cmd": "rm -rf /srv/data"}}'}, "delete_data"),
    ({"command": '["rm", "-rf", "/srv/data"]'}, "delete_data"),
    ({"method": "DELETE", "url": "https://api.example.org/orders"}, "delete_data"),
    ({"rows": [{"a": 1}] * 600, "note": "more than is searched"}, "delete_data"),
]
HARMLESS: list[dict[str, Any]] = [
    {},
    {"to": "team@example.org", "text": "rm -rf /srv/data is what he typed"},
    {"command": "ls -l"},
    {"program": "git", "args": ["status", "--short"]},
    {"method": "GET", "url": "https://api.example.org/orders"},
    {"tool": "terminal", "arguments": {"command": "rm -rf build"}, "folder": "/srv/app"},
]


def test_what_needs_one_of_the_ten_is_never_approved_by_an_allow_list(any_database: Database) -> None:
    scene = Scene(any_database, ALLOW)

    def check(details: dict[str, Any], action: str) -> None:
        scene.clock.forward(3600)
        request = scene.ask("send_email", details=details)
        assert request.status == "pending"
        assert request.finding.startswith("its details would ") and f"({action}" in request.finding
        assert request.details == details, "what is shown is what was asked"
        assert scene.book.look(scene.anna, request.id).finding == request.finding
        assert scene.book.audit(1)[0].document["needs"].startswith(action)

    check_each(HIDDEN, check)


def test_what_needs_nobody_is_still_approved_by_the_allow_list(any_database: Database) -> None:
    scene = Scene(any_database, ALLOW)

    def check(details: dict[str, Any]) -> None:
        assert scene.ask("send_email", details=details).status == "auto_approved"

    check_each(HARMLESS, check)


def test_people_are_warned_in_chats(any_database: Database) -> None:
    request = Scene(any_database).ask("send_email", details={"command": "rm -rf /srv/data"})
    parts = {part.label: part.text for part in compose(request, SECRECY.redactor()).parts}
    assert "delete_data" in parts["Warning"]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@given(around=st.dictionaries(st.text(max_size=8), _JSON, max_size=4), path=st.lists(st.text(max_size=8), max_size=6))
def test_a_command_is_found_wherever_it_lies(around: dict[str, Any], path: list[str]) -> None:
    details: dict[str, Any] = {"command": "rm -rf /srv/data"}
    for name in path:
        details = {**around, name: [details]}
    need = need_in(details)
    assert need is not None


def test_a_megabyte_of_any_text_costs_the_others_a_moment(any_database: Database) -> None:
    """One agent's request held up the service for as long as it takes to redact it."""
    scene = Scene(any_database)
    random = Random(1)
    texts = {
        "random characters": "".join(random.choices(ascii_letters + "+/", k=950_000)),
        "a log": "2026-01-01 INFO key=value password: hunter22 path /a/b/c\n" * 16_000,
        "words": " ".join("".join(random.choices(ascii_lowercase, k=6)) for _ in range(130_000)),
        "headings": "token " * 160_000,
    }

    def check(text: str) -> None:
        scene.clock.forward(3600)
        begun = time.thread_time()
        request = scene.ask("send_email", details={"text": text, "to": "ada"})
        assert time.thread_time() - begun < 0.2
        assert request.details["text"] == text, "a person sees all of it"
        begun = time.thread_time()
        composed = compose(request, SECRECY.redactor())
        assert time.thread_time() - begun < 0.2
        assert "bytes, not kept" in str(composed)
        decided = scene.deny(request)
        assert decided.details == {"text": f"{len(json.dumps(text)) + 4:,} bytes, not kept", "to": "ada"}

    check_each([pytest.param(text, id=name) for name, text in texts.items()], check)
    many = scene.deny(scene.ask("send_email", details={f"field {at}": at for at in range(9_000)}))
    assert list(many.details)[-1] == "…"
    assert len(many.details) < 2_000
