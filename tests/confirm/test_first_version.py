"""Callers of the first version: they ask and look without a token where the policy says so, and never decide."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from seasoned.app.confirm import FirstVersionOptions, ListenOptions, build_service, first_version_listen
from seasoned.config import Config, first_version_settings
from seasoned.confirm.people.credential import revoke
from seasoned.confirm.policy import FirstVersionRule, Listen, Policy, read_policy
from seasoned.errors import UsageError
from seasoned.store import open_database
from tests.confirm.keys import WORDS
from tests.confirm.serving import ASKED, Serving, serving

POLICY = Policy(first_version=FirstVersionRule(credential="agent"))
NOWHERE = ListenOptions(None, None, None, None, None, False, None)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Serving]:
    with serving(tmp_path / "home", policy=POLICY, first_version=Listen(port=0)) as found:
        # The port is not known before, so it cannot be the same address.
        assert len(found.addresses) == 2
        yield found


def _old(served: Serving) -> httpx2.Client:
    return httpx2.Client(base_url=served.addresses[-1], trust_env=False, timeout=30.0)


def test_an_old_caller_asks_and_looks_without_a_token_or_a_content_type(served: Serving) -> None:
    with _old(served) as caller:
        made = caller.post("/confirm", content=json.dumps({**ASKED, "timeout_seconds": "600"}))
        assert made.status_code == 202
        assert made.json()["timeout_seconds"] == 600
        seen = caller.get(f"/confirm/{made.json()['id']}").json()
        assert (seen["status"], seen["requester"]) == ("pending", "agent")
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        assert caller.post("/confirm", content=json.dumps(ASKED), headers=form).status_code == 202
        assert caller.get("/health").json()["pending_count"] == 2
        denied = served.decide(made.json()["id"], "deny", reason="not today").json()
        assert (denied["status"], denied["reason"]) == ("denied", "not today")
        assert caller.get(f"/confirm/{made.json()['id']}").json()["reason"] == "not today"


def test_no_decision_is_made_without_a_credential(served: Serving) -> None:
    with _old(served) as caller:
        made = caller.post("/confirm", content=json.dumps(ASKED)).json()
        for verb in ("approve", "deny", "redeem"):
            content = json.dumps({"digest": made["digest"], "approver": "anna", "reason": ""})
            assert caller.post(f"/confirm/{made['id']}/{verb}", content=content).status_code == 401
        for path in ("/confirm", "/audit", "/metrics", "/openapi.json", f"/confirm/{made['id']}/events"):
            assert caller.get(path).status_code == 401
        token = served.headers("alice")
        body = json.dumps({"passphrase": WORDS})
        assert caller.post(f"/confirm/{made['id']}/approve", headers=token, content=body).json()["status"] == "approved"


def test_the_ordinary_address_stays_strict(served: Serving) -> None:
    with served.client() as stranger, served.client("agent") as known:
        assert stranger.post("/confirm", json=ASKED).status_code == 401
        untyped = known.post("/confirm", content=json.dumps(ASKED))
        assert untyped.status_code == 400 and untyped.json()["field"] == "Content-Type"


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Referer": "https://evil.example/"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Host": "evil.example"},
        {"Authorization": "Bearer nonsense"},
    ],
)
def test_a_web_page_or_a_wrong_token_is_not_an_old_caller(served: Serving, headers: dict[str, str]) -> None:
    with _old(served) as caller:
        assert caller.post("/confirm", content=json.dumps(ASKED), headers=headers).status_code == 401


def test_without_the_setting_no_one_is_let_in(tmp_path: Path) -> None:
    with serving(tmp_path / "home", policy=Policy(), first_version=Listen(port=0)) as found, _old(found) as caller:
        assert caller.post("/confirm", content=json.dumps(ASKED)).status_code == 401


def test_only_a_present_agent_can_be_acted_as(tmp_path: Path) -> None:
    for name in ("alice", "nobody"):
        policy = Policy(first_version=FirstVersionRule(credential=name))
        home = tmp_path / name
        with serving(home, policy=policy, first_version=Listen(port=0)) as found, _old(found) as caller:
            assert caller.post("/confirm", content=json.dumps(ASKED)).status_code == 401
    with serving(tmp_path / "home", policy=POLICY, first_version=Listen(port=0)) as found, _old(found) as caller:
        database = open_database(found.config)
        revoke(database, "agent", by="root", now=1.0)
        database.close()
        assert caller.post("/confirm", content=json.dumps(ASKED)).status_code == 401


def test_audit_rows_name_action_and_status(served: Serving) -> None:
    with served.client("agent") as agent, served.client("root") as admin:
        made = agent.post("/confirm", json=ASKED).json()
        served.decide(made["id"], "deny")
        entries = admin.get("/audit").json()["entries"]
    mine = [one for one in entries if one["request_id"] == made["id"]]
    assert {(one["action"], one["status"]) for one in mine} == {("send_report", "denied")}
    assert {one["event"] for one in mine} == {"submitted", "voted", "denied"}
    assert all(one["action"] is None for one in entries if one["request_id"] is None)


def test_variables_of_the_first_version_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert first_version_settings({}).port is None
    assert first_version_settings({"CONFIRMATION_PORT": " 6001 "}).port == 6001
    with pytest.raises(UsageError, match="CONFIRMATION_RATE_LIMIT: 'many' is not a whole number"):
        first_version_settings({"CONFIRMATION_RATE_LIMIT": "many"})
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("CONFIRMATION_PORT", "6001")
    monkeypatch.setenv("CONFIRMATION_RATE_LIMIT", "3")
    plain, _ = build_service(Config(home=home), NOWHERE)
    assert first_version_listen(plain) is None and plain.policy.rate.count == 10, "off unless the policy says so"
    (home / "policy.toml").write_text('[first_version]\ncredential = "agent"\n', "utf-8")
    service, listen = build_service(Config(home=home), NOWHERE)
    old = first_version_listen(service)
    assert old is not None and (old.host, old.port, listen.port) == ("127.0.0.1", 6001, 7327)
    assert service.policy.rate.count == 3
    given, _ = build_service(Config(home=home), NOWHERE, FirstVersionOptions(None, 7))
    assert given.policy.rate.count == 7
    monkeypatch.setenv("CONFIRMATION_HOST", "0.0.0.0")
    with pytest.raises(UsageError, match="can be reached from other machines"):
        first_version_listen(service)


def test_a_database_of_the_first_version_is_never_written_to(tmp_path: Path) -> None:
    old = tmp_path / "confirmation_audit.db"
    with sqlite3.connect(old) as database:
        database.execute("CREATE TABLE confirmations (request_id TEXT)")
    before = old.read_bytes()
    home = tmp_path / "home"
    home.mkdir()
    with pytest.raises(UsageError, match=r"is not a store of Seasoned.*seasoned adopt"):
        build_service(Config(home=home), NOWHERE, FirstVersionOptions(old, None))
    assert old.read_bytes() == before
    build_service(Config(home=home), NOWHERE, FirstVersionOptions(tmp_path / "new.db", None))


def test_the_policy_takes_addresses_of_this_machine_alone() -> None:
    with pytest.raises(UsageError, match=r"line 3: first_version.host"):
        read_policy('[first_version]\ncredential = "agent"\nhost = "0.0.0.0"\n', file=Path("policy.toml"))


def test_a_rate_limit_from_the_command_line_holds(tmp_path: Path) -> None:
    with serving(tmp_path / "home", policy=POLICY, rate_limit=2) as found, found.client("agent") as agent:
        answers = [agent.post("/confirm", json=ASKED).status_code for _ in range(3)]
    assert answers == [202, 202, 429]
