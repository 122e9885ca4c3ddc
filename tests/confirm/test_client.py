"""The Python client, against a real service; and what they do when it misbehaves: nothing."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from seasoned.confirm.client import ConfirmClient, NotConfirmed, RequestView, Unreachable, configured_client, in_thread
from seasoned.confirm.policy import Listen, Policy
from seasoned.confirm.request.request import NewRequest, request_digest
from seasoned.errors import CannotDo, UsageError
from tests.confirm.other_side import Heard, Mood, OtherSide
from tests.confirm.serving import Serving, serving
from tests.each_case import check_each

DETAILS = {"path": "/srv/logs", "days": 30, "ratio": 1e-7}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """One service for the tests that leave it as it was; each asks for actions of its own, so no limit is met."""
    with serving(tmp_path_factory.mktemp("service"), policy=Policy()) as found:
        yield found


@pytest.fixture
def client(service: Serving) -> ConfirmClient:
    return ConfirmClient(service.url, service.tokens["agent"])


def deciding(service: Serving, verb: str, **body: Any) -> Callable[[RequestView], None]:
    """Somebody who decides as soon as a request is there."""

    def decide(seen: RequestView) -> None:
        assert service.decide(seen.id, verb, **body).status_code == 200

    return decide


def test_a_grant_comes_only_after_a_person_agreed_and_is_bound_to_what_was_asked(
    service: Serving, client: ConfirmClient
) -> None:
    grant = client.confirm("delete_data", "Delete old logs", DETAILS, on_submitted=deciding(service, "approve"))
    found = service.look(grant.id)
    assert (found["status"], found["resolved_by"]) == ("approved", "alice")
    assert found["redeemed_at"] == grant.redeemed_at
    asked = NewRequest(action="delete_data", description="Delete old logs", details=DETAILS)
    assert grant.digest == request_digest(asked, "agent")


def test_waiting_outlasts_a_restart_of_the_service(tmp_path: Path) -> None:
    """The request is in the store: another process on the same port goes on with it."""
    from seasoned.confirm.service import ConfirmService
    from tests.confirm.serving import running

    with serving(tmp_path, policy=Policy()) as first:
        client = ConfirmClient(first.url, first.tokens["agent"])
        asked = NewRequest(action="delete_data", description="Delete")
        seen = client.submit(asked)
        answers: list[RequestView] = []
        waiting = threading.Thread(target=lambda: answers.append(client.wait(seen.id, 20)))
        waiting.start()
    port = int(first.url.rpartition(":")[2])
    with running(ConfirmService(first.config, policy=Policy()), Listen(port=port)):
        assert first.decide(seen.id, "deny", reason="no").status_code == 200
        waiting.join(10)
    assert [(one.status, one.reason) for one in answers] == [("denied", "no")]


def test_a_cancelled_wait_ends_at_once_in_its_thread_too(service: Serving) -> None:
    client = ConfirmClient(service.url, service.tokens["agent"])

    async def give_up() -> None:
        asked = NewRequest(action="shutdown_service", description="Stop")
        seen = await in_thread(lambda call: client.submit(asked, call=call))
        async with asyncio.timeout(0.2):
            await in_thread(lambda call: client.wait(seen.id, 60, call=call))

    begun = time.monotonic()
    with pytest.raises(TimeoutError):
        asyncio.run(give_up())
    assert time.monotonic() - begun < 5, "leaving the loop waits for its threads"


class Liar(OtherSide):
    """A server that answers so, one after the other, the last for ever."""

    def __init__(self, *answers: Mood) -> None:
        self.left = list(answers)
        super().__init__()

    def take(self, heard: Heard) -> Mood:
        return self.left.pop(0) if len(self.left) > 1 else self.left[0]


def _body(**values: Any) -> bytes:
    asked = {"action": "delete_data", "description": "d"}
    digest = request_digest(NewRequest(**asked), "agent")
    seen = {"id": "r1", "status": "approved", "requester": "agent", "digest": digest}
    return json.dumps({**seen, **asked, **values}).encode()


GRANTED = json.dumps({"id": "r1", "digest": json.loads(_body())["digest"], "redeemed_at": 1.0}).encode()


def test_an_answer_that_cannot_be_relied_on_is_a_no() -> None:
    yes, hang_up = Mood(200, _body()), Mood(drops=True)

    def check(*answers: Mood) -> None:
        with Liar(*answers) as liar, pytest.raises(NotConfirmed):
            ConfirmClient(liar.url, "ssn_agent_x").confirm("delete_data", "d", wait_seconds=0.2)

    cases = {
        "a failure": [Mood(500)],
        "a busy service": [Mood(503, b'{"error": "busy"}')],
        "a redirect": [Mood(302, headers={"location": "http://127.0.0.1:9/elsewhere"})],
        "no JSON": [Mood(200, b"yes")],
        "no object": [Mood(200, b"[]")],
        "an approval of nothing": [Mood(200, b'{"status": "approved"}')],
        "a status that is none": [Mood(200, _body(status="fine"))],
        "another digest": [Mood(200, _body(digest="0" * 64))],
        "another request": [yes, Mood(200, _body(id="r2"))],
        "another requester": [yes, Mood(200, _body(requester="somebody"))],
        "an empty grant": [yes, yes, Mood(200)],
        "a grant that failed": [yes, yes, Mood(500, GRANTED)],
        "another grant": [yes, yes, Mood(200, GRANTED.replace(b"r1", b"r2"))],
        "a grant that was lost": [yes, yes, hang_up],
        "nothing at all": [hang_up],
        "a flood": [Mood(200, b" " * 5_000_000)],
    }
    check_each([pytest.param(*answers, id=name) for name, answers in cases.items()], check)
    with Liar(yes, yes, Mood(200, GRANTED)) as liar:
        assert ConfirmClient(liar.url, "ssn_agent_x").confirm("delete_data", "d").id == "r1"


def test_no_service_is_a_no_that_says_what_to_do() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        client = ConfirmClient(f"http://127.0.0.1:{unused.getsockname()[1]}", "ssn_agent_x")
        with pytest.raises(Unreachable, match="seasoned confirm serve"):
            client.confirm("delete_data", "Delete")


def test_an_address_that_would_betray_the_token_is_refused() -> None:
    def check(url: str) -> None:
        with pytest.raises(UsageError):
            ConfirmClient(url, "ssn_agent_x")

    check_each(
        ["http://example.org:7327", "ftp://127.0.0.1", "http://a:b@127.0.0.1", "unix:/x", "http://127.0.0.1:x", ""],
        check,
    )


def test_without_settings_nobody_can_be_asked(home: Path) -> None:
    with pytest.raises(CannotDo, match="confirm_url is not set"):
        configured_client()
