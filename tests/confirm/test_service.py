"""The service over HTTP: shapes and statuses of every answer, who sees what, and bodies that are wrong."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from seasoned.config import Config
from seasoned.confirm.people.change import first_admin, replace_policy
from seasoned.confirm.policy import ActionRule, AllowRule, Channel, Listen, Policy, RateRule
from seasoned.confirm.service import ConfirmService
from seasoned.errors import CannotDo
from seasoned.store import open_database
from tests.confirm.keys import WORDS, revoke, unlock
from tests.confirm.other_side import OtherSide
from tests.confirm.serving import ASKED, Serving, running, serving
from tests.each_case import check_each

POLICY = Policy(
    rate=RateRule(count=10_000),
    allow=(AllowRule(action="read_mail"), AllowRule(action="read_news", session="s1")),
    action={"rare": ActionRule(count=2, window_seconds=60), "two_keys": ActionRule(approvals=2)},
)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("service"), policy=POLICY) as found:
        yield found


def _fields(answer: dict[str, Any]) -> set[str]:
    return set(answer) - {"schema"}


def test_a_submission_is_taken_in_with_202_and_exactly_these_fields(service: Serving) -> None:
    with service.client("agent") as client:
        reply = client.post("/confirm", json={**ASKED, "action": "deploy_production"})
    answer = reply.json()
    assert reply.status_code == 202
    assert answer["schema"] == "seasoned/confirm-submitted/1"
    assert _fields(answer) == {
        "id", "action", "status", "timeout_seconds", "message", "approve_url", "deny_url", "digest",
    }  # fmt: skip
    assert (answer["status"], answer["timeout_seconds"]) == ("pending", 300)
    assert answer["approve_url"] == f"{service.url}/confirm/{answer['id']}/approve"
    assert answer["deny_url"] == f"{service.url}/confirm/{answer['id']}/deny"
    assert len(answer["id"]) >= 22, "128 bits"
    assert (reply.headers["cache-control"], reply.headers["x-content-type-options"]) == ("no-store", "nosniff")
    assert "server" not in reply.headers
    assert service.look(answer["id"])["details"] == ASKED["details"]


def test_an_allow_listed_action_is_answered_with_200_and_audited(service: Serving) -> None:
    with service.client("agent") as client:
        reply = client.post("/confirm", json={**ASKED, "action": "read_mail"})
    with service.client("root") as client:
        newest = client.get("/audit?limit=1").json()["entries"][0]
    assert (reply.status_code, reply.json()["status"]) == (200, "auto_approved")
    assert (newest["event"], newest["request_id"]) == ("auto_approved", reply.json()["id"])


def test_a_time_out_is_clamped_and_what_is_no_number_means_300(service: Serving) -> None:
    def check(given: object, taken: float) -> None:
        assert service.ask(timeout_seconds=given)["timeout_seconds"] == taken

    check_each(
        [(60, 60), (1, 30), (-5, 30), (99999, 3600), ("60", 300), (None, 300), (True, 300), ([], 300), (10**30, 3600)],
        check,
    )


@pytest.mark.parametrize(("verb", "status"), [("approve", "approved"), ("deny", "denied")])
def test_a_decision_is_answered_with_exactly_these_fields_and_its_reason_is_shown(
    service: Serving, verb: str, status: str
) -> None:
    made = service.ask()
    reply = service.decide(made["id"], verb, reason="As agreed.")
    answer = reply.json()
    assert reply.status_code == 200
    assert _fields(answer) == {"id", "action", "status", "reason", "resolved_by", "resolved_at", "resolved_at_iso"}
    assert (answer["status"], answer["resolved_by"]) == (status, "alice")
    shown = service.look(made["id"])
    assert shown["schema"] == "seasoned/confirm-request/1"
    assert (shown["status"], shown["reason"], shown["votes"][0]["voter"]) == (status, "As agreed.", "alice")
    assert datetime.fromisoformat(shown["created_at_iso"]).timestamp() == pytest.approx(shown["created_at"], abs=0.001)


def test_a_token_alone_decides_nothing(service: Serving) -> None:
    made = service.ask()
    with service.client("alice") as client:
        for verb in ("approve", "deny"):
            without = client.post(f"/confirm/{made['id']}/{verb}")
            assert (without.status_code, "passphrase of 'alice'" in without.json()["error"]) == (403, True)
            wrong = client.post(f"/confirm/{made['id']}/{verb}", json={"passphrase": "not the right words"})
            assert wrong.status_code == 401
    assert service.look(made["id"])["status"] == "pending"
    with service.client("root") as root:
        noted = root.get("/audit?limit=50").json()["entries"]
    assert {"refused", "passphrase_refused"} <= {entry["event"] for entry in noted}


def test_an_approval_is_redeemed_once_with_its_digest(service: Serving) -> None:
    made = service.ask()
    path = f"/confirm/{made['id']}/redeem"
    with service.client("agent") as client:
        early = client.post(path, json={"digest": made["digest"]})
        service.decide(made["id"])
        wrong = client.post(path, json={"digest": "0" * 64})
        first = client.post(path, json={"digest": made["digest"]})
        second = client.post(path, json={"digest": made["digest"]})
    assert [reply.status_code for reply in (early, wrong, first, second)] == [409, 403, 200, 409]
    assert _fields(first.json()) == {"id", "digest", "redeemed_at", "redeemed_at_iso"}
    assert service.look(made["id"])["redeemed_at"] == first.json()["redeemed_at"]


def test_the_limit_of_an_action_gives_429_with_what_remains(service: Serving) -> None:
    service.ask(action="rare"), service.ask(action="rare")
    with service.client("agent") as client:
        reply = client.post("/confirm", json={**ASKED, "action": "rare"})
    assert reply.status_code == 429
    assert _fields(reply.json()) == {"error", "remaining", "window_seconds"}
    assert (reply.json()["remaining"], reply.json()["window_seconds"]) == (0, 60)


def test_the_same_idempotency_key_gives_the_same_request_and_another_body_a_conflict(service: Serving) -> None:
    with service.client("agent", headers={**service.headers("agent"), "Idempotency-Key": "once-1"}) as client:
        first, again = (client.post("/confirm", json=ASKED) for _ in range(2))
        other = client.post("/confirm", json={**ASKED, "description": "Something else."})
    with service.client("other", headers={**service.headers("other"), "Idempotency-Key": "once-1"}) as client:
        foreign = client.post("/confirm", json=ASKED)
    assert foreign.json()["id"] != first.json()["id"], "keys belong to their credential"
    assert first.status_code == again.status_code == 202
    assert first.json()["id"] == again.json()["id"]
    assert (other.status_code, other.json()["status"]) == (409, "pending")


def _without(name: str) -> bytes:
    return json.dumps({key: value for key, value in ASKED.items() if key != name}).encode()


def _with(**more: object) -> bytes:
    return json.dumps({**ASKED, **more}).encode()


def test_a_wrong_body_is_refused_with_the_field_that_is_wrong(service: Serving) -> None:
    def check(content: bytes, field: str, headers: dict[str, str] | None = None) -> None:
        with service.client("agent") as client:
            kind = {"Content-Type": "application/json", **(headers or {})}
            reply = client.post("/confirm", content=content, headers=kind)
        assert reply.status_code == 400, reply.text
        assert reply.json()["schema"] == "seasoned/error/1"
        assert reply.json()["field"] == field
        assert reply.json()["error"]

    check_each(
        [
            (_without("action"), "action"),
            (_without("description"), "description"),
            (_with(action=""), "action"),
            (_with(action="Привет"), "action"),
            (_with(description=" "), "description"),
            (_with(description="x" * 20_000), "description"),
            (_with(details=[1]), "details"),
            (_with(requester={}), "requester"),
            (_with(session_key="s" * 1000), "session_key"),
            (b'{"action": "a", "description": "b", "details": {"n": NaN}}', "details"),
            (b'{"action": "a", "description": "b", "details": {"n": 1e999}}', "details"),
            (b'{"action": "a", "description": "\\ud800"}', "description"),
            (b'{"action": "a", "description": "\xff\xfe"}', "body"),
            (b'{"action": "a", "description": "b", "details": ' + b'{"a":' * 3000 + b"1" + b"}" * 3001, "body"),
            (b'{"action": "a", "description": "b", "details": ' + b'{"a":' * 100 + b"1" + b"}" * 101, "details"),
            (b"[]", "body"),
            (b"", "body"),
            (b"{", "body"),
            (_with(), "Content-Type", {"Content-Type": "text/plain"}),
            (_with(), "Content-Type", {"Content-Type": "application/json; charset=utf-16"}),
            (_with(), "Content-Type", {"Content-Encoding": "gzip"}),
        ],
        check,
    )
    with service.client("agent") as client:
        large = client.post("/confirm", json={**ASKED, "details": {"text": "x" * 1_000_001}})
    assert (large.status_code, large.json()["schema"]) == (413, "seasoned/error/1")


def test_a_credential_that_was_in_use_ends_at_once_when_it_is_revoked(tmp_path: Path) -> None:
    with serving(tmp_path) as service:
        made = service.ask("agent")
        with service.client("agent") as client:
            assert client.get(f"/confirm/{made['id']}").status_code == 200
            database = open_database(service.config)
            revoke(database, "agent", now=time.time())
            database.close()
            told = [
                client.get(f"/confirm/{made['id']}"),
                client.get(f"/confirm/{made['id']}?wait=5"),
                client.get("/confirm/unknown"),
                client.post("/confirm", json=ASKED),
                client.post("/confirm", json={}),
                client.post(f"/confirm/{made['id']}/redeem", json={"digest": made["digest"]}),
                client.post(f"/confirm/{made['id']}/approve"),
            ]
    assert [reply.status_code for reply in told] == [401] * 7


def test_without_a_valid_credential_there_is_a_401(service: Serving) -> None:
    def check(path: str, header: dict[str, str]) -> None:
        with service.client(headers=header) as client:
            reply = client.get(path)
        assert reply.status_code == 401
        assert _fields(reply.json()) == {"error"}
        assert reply.headers["www-authenticate"].startswith("Bearer")

    check_each(
        [
            (path, header)
            for path in ["/confirm", "/confirm/x", "/audit"]
            for header in [
                {},
                {"Authorization": "Bearer"},
                {"Authorization": "Basic YTpi"},
                {"Authorization": "Bearer ssn_agent_" + "x" * 43},
            ]
        ],
        check,
    )


def test_a_stranger_learns_nothing_about_a_body(service: Serving) -> None:
    def check(path: str, content: bytes) -> None:
        with service.client(headers={"Content-Type": "application/json"}) as client:
            assert client.post(path, content=content).status_code == 401

    paths = ("/confirm", "/confirm/phone", "/confirm/x/approve", "/confirm/x/redeem")
    check_each([(path, content) for path in paths for content in (b"{", b"{}", b"[" * 2_000_000)], check)


def test_an_agent_sees_its_own_requests_only_and_no_audit(service: Serving) -> None:
    made = service.ask("other")
    with service.client("agent") as client:
        client.post("/confirm", json=ASKED)
        foreign = client.get(f"/confirm/{made['id']}")
        assert client.post(f"/confirm/{made['id']}/approve").status_code == 404
        unknown = client.get("/confirm/AAAAAAAAAAAAAAAAAAAAAA")
        listed = client.get("/confirm?limit=500").json()["requests"]
        audit = client.get("/audit")
    assert foreign.status_code == unknown.status_code == 404
    assert {one["requester"] for one in listed} == {"agent"}
    assert audit.status_code == 403


def test_approvers_list_all_by_status_and_page_by_page(service: Serving) -> None:
    ids = [service.ask("other", description=f"Number {number}.")["id"] for number in range(3)]
    with service.client("alice") as client:
        first = client.get("/confirm?status=pending&limit=2").json()
        rest = client.get(f"/confirm?status=pending&limit=1&before={first['requests'][-1]['id']}").json()
        none = client.get("/confirm?status=unheard")
        lost = client.get("/confirm?before=nobody")
    assert [one["id"] for one in first["requests"] + rest["requests"]] == ids[::-1]
    assert first["count"] == 2
    assert (none.status_code, none.json()["field"], lost.status_code) == (400, "status", 404)


def test_the_audit_is_counted_and_newest_first(service: Serving) -> None:
    service.ask(), service.ask()
    with service.client("alice") as client:
        answer = client.get("/audit?limit=2").json()
        usual = client.get("/audit").json()
    seqs = [entry["seq"] for entry in answer["entries"]]
    assert answer["count"] == len(seqs) == 2
    assert seqs == sorted(seqs, reverse=True)
    assert usual["count"] <= 50 and all("at_iso" in entry for entry in usual["entries"])


def test_health_counts_what_is_pending_and_says_no_more_to_strangers(service: Serving) -> None:
    with service.client() as stranger, service.client("agent") as known:
        before = stranger.get("/health").json()
        made = service.ask()
        during = stranger.get("/health").json()
        service.decide(made["id"])
        after = stranger.get("/health").json()
        assert _fields(known.get("/health").json()) == _fields(before)
        wrong = stranger.get("/health", headers={"Authorization": "Bearer nonsense"})
    assert _fields(before) == {"status", "pending_count", "timestamp", "timestamp_iso"} == _fields(wrong.json())
    assert during["pending_count"] == before["pending_count"] + 1 == after["pending_count"] + 1
    said = datetime.fromisoformat(before["timestamp_iso"])
    assert before["status"] == "ok" and said.tzinfo is not None
    assert said.timestamp() == pytest.approx(before["timestamp"], abs=0.1)


def test_a_phone_is_unlocked_with_the_passphrase_alone(service: Serving) -> None:
    with service.client("alice") as alice, service.client("agent") as agent:
        assert alice.post("/confirm/phone", json={"passphrase": "not the right words"}).status_code == 401
        assert agent.post("/confirm/phone", json={"passphrase": WORDS}).status_code == 401
        done = alice.post("/confirm/phone", json={"passphrase": WORDS, "seconds": 60}).json()
    assert (done["name"], done["channels"]) == ("alice", ["telegram", "discord", "webhook"])
    assert service.service is not None
    assert service.service.phones.until("alice", now=done["expires_at"] - 1) == done["expires_at"]


def _agree(found: Serving, text: str) -> None:
    """Have a person agree to a policy, and make it the one in force."""
    assert found.service is not None
    book = found.service.open_book()
    replace_policy(book, unlock(book.database, "root"), sha256=sha256(text.encode()).hexdigest(), summary="")
    book.database.close()
    (found.home / "policy.toml").write_text(text, "utf-8")


def test_a_policy_file_is_in_force_after_a_start_and_only_if_a_person_agreed_to_it(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    agreed = '[[allow]]\naction = "tidy_up"\n'
    with serving(tmp_path) as found:
        assert found.ask(action="tidy_up")["status"] == "pending"
        _agree(found, agreed)
    file.write_text(agreed + '[[allow]]\naction = "send_money"\n', "utf-8")
    with pytest.raises(CannotDo, match="not the approved"), serving(tmp_path, tokens=found.tokens):
        pytest.fail("it started")
    file.write_text(agreed, "utf-8")
    with serving(tmp_path, tokens=found.tokens) as again:
        assert again.ask(action="tidy_up")["status"] == "auto_approved"


def test_a_policy_that_is_changed_after_it_was_read_is_not_the_one_that_was_checked(tmp_path: Path) -> None:
    file, agreed = tmp_path / "policy.toml", "redeem_seconds = 60\n"
    file.write_text("single_operator = true\n", "utf-8")
    service = ConfirmService(Config(home=tmp_path))
    file.write_text(agreed, "utf-8")
    database = open_database(service.config)
    digest = sha256(agreed.encode()).hexdigest()
    first_admin(database, "ada", "four words are enough", now=time.time(), policy_sha256=digest)
    database.close()
    with pytest.raises(CannotDo, match="not the approved"), running(service, Listen(port=0)):
        pytest.fail("it runs under what nobody agreed to")


def test_the_service_runs_on_postgres_as_well(tmp_path: Path, postgres_url: str) -> None:
    with serving(tmp_path, policy=POLICY, database_url=postgres_url) as found:
        made = found.ask()
        with found.client("agent") as client:
            assert client.get(f"/confirm/%00{made['id']}").status_code == 404
            assert client.post("/confirm", json={**ASKED, "details": {"text": "a\x00b"}}).status_code in (202, 400)
        assert found.decide(made["id"]).json()["status"] == "approved"


def test_the_service_tells_channels_and_admins_see_in_health_what_has_not_arrived(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("a secret of thirty-two characters", "utf-8")
    other = OtherSide()
    ways = {"hook": f"{other.url}/in", "gone": "http://127.0.0.1:9/nobody"}
    channels = {
        name: Channel(kind="webhook", to=url, token_file=tmp_path / "secret", people={"p1": "alice"})
        for name, url in ways.items()
    }
    with serving(tmp_path / "home", policy=Policy(channel=channels)) as found:
        made = found.ask()
        other.wait_for(lambda: len(other.heard) == 1, 60)
        with found.client("root") as admin, found.client("alice") as approver:
            ends = time.monotonic() + 60
            # An attempt is counted when it begins; its error is known when it ends.
            while not (unsent := [one for one in admin.get("/health").json()["unsent"] if one["last_error"]]):
                assert time.monotonic() < ends
                time.sleep(0.02)
            assert "unsent" not in approver.get("/health").json()
        found.decide(made["id"], "deny")
        other.wait_for(lambda: len(other.heard) == 2, 60)
    (left,) = unsent
    assert (left["request_id"], left["channel"], left["event"]) == (made["id"], "gone", "submitted")
    assert left["attempts"] == 1
    told = [heard.value for heard in other.heard]
    assert [one["type"] for one in told] == ["confirm.submitted", "confirm.decided"]
    assert {one["data"]["id"] for one in told} == {made["id"]}
    other.close()


def test_a_log_that_cannot_be_written_covers_nothing_with_tracebacks(tmp_path: Path) -> None:
    """A process that may not write a byte meets the same error as on a full disk."""
    code = f"""
import resource
from pathlib import Path
from seasoned.app.stores import open_log
from seasoned.config import Config
from seasoned.redact.key import Secrecy
log = open_log(Config(home=Path({str(tmp_path / "home")!r})), Secrecy(b"k" * 32))
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
log.warning("nowhere to write this")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stderr == b""
