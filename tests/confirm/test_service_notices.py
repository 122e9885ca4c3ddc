"""The service tells people and hears them: notifications go out beside it, and what comes in wakes those who wait."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from seasoned.confirm.notify.link import PATH, check_value, make_link
from seasoned.confirm.policy import Channel, Policy
from seasoned.confirm.service import describe
from seasoned.confirm.service.service import LINK_PURPOSE
from tests.confirm.keys import WORDS
from tests.confirm.other_side import OtherSide
from tests.confirm.serving import serving

DOCS = Path(__file__).resolve().parents[2] / "docs" / "reference" / "http.md"


def _policy(folder: Path, url: str) -> Policy:
    (folder / "secret").write_text("a secret of thirty-two characters", "utf-8")
    hook = Channel(kind="webhook", to=url, token_file=folder / "secret", people={"p1": "alice"})
    return Policy(channel={"hook": hook})


def _wait_for(other: OtherSide, count: int) -> None:
    ends = time.monotonic() + 60
    while len(other.heard) < count:
        assert time.monotonic() < ends, f"{len(other.heard)} of {count} were heard"
        time.sleep(0.02)


def test_a_submission_and_its_decision_are_told_by_webhook(tmp_path: Path) -> None:
    other = OtherSide()
    with serving(tmp_path / "home", policy=_policy(tmp_path, f"{other.url}/in")) as found:
        made = found.ask()
        _wait_for(other, 1)
        found.decide(made["id"], "deny")
        _wait_for(other, 2)
    told = [heard.value for heard in other.heard]
    assert [one["type"] for one in told] == ["confirm.submitted", "confirm.decided"]
    assert {one["data"]["id"] for one in told} == {made["id"]}
    other.close()


def test_admins_see_in_health_what_has_not_arrived(tmp_path: Path) -> None:
    with serving(tmp_path / "home", policy=_policy(tmp_path, "http://127.0.0.1:9/nobody")) as found:
        made = found.ask()
        with found.client("root") as admin, found.client("alice") as approver:
            ends = time.monotonic() + 60
            # An attempt is counted when it begins; its error is known when it ends.
            while not (unsent := admin.get("/health").json()["unsent"])[0]["last_error"]:
                assert time.monotonic() < ends
                time.sleep(0.02)
            assert "unsent" not in approver.get("/health").json()
    (left,) = unsent
    assert (left["request_id"], left["channel"], left["event"]) == (made["id"], "hook", "submitted")
    assert left["attempts"] == 1


def test_the_form_of_a_link_decides_and_wakes_those_who_wait(tmp_path: Path) -> None:
    policy = _policy(tmp_path, "http://127.0.0.1:9/nobody")
    with serving(tmp_path / "home", policy=policy) as found, ThreadPoolExecutor(1) as pool:
        assert found.service is not None
        made = found.ask()
        key = found.service.seal.derive(LINK_PURPOSE)
        ends = time.time() + 60
        token = make_link(key, request_id=made["id"], channel="hook", person="p1", expires_at=ends)
        with found.client("agent") as agent, found.client() as anybody:
            waiting = pool.submit(agent.get, f"/confirm/{made['id']}?wait=20")
            while not found.service.waiting.count:
                time.sleep(0.01)
            form = {"token": token, "check": check_value(key, token), "decision": "approve", "reason": "By phone."}
            assert "Passphrase of alice" in anybody.get(f"{PATH}/{token}").text
            assert anybody.post(f"{PATH}/{token}", data=form).status_code == 403, "a link alone decides nothing"
            wrong = anybody.post(f"{PATH}/{token}", data={**form, "passphrase": "not the right words"})
            assert wrong.status_code == 401
            form["passphrase"] = WORDS
            assert anybody.post(f"{PATH}/{token}", data=form).status_code == 200
            decided = time.monotonic()
            answer = waiting.result().json()
        assert time.monotonic() - decided < 1
        assert (answer["status"], answer["resolved_by"], answer["reason"]) == ("approved", "alice", "By phone.")
        assert answer["votes"][0]["via"] == "link"


def test_every_address_status_and_field_is_described() -> None:
    text = DOCS.read_text("utf-8")
    document = describe()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            row = next((line for line in text.splitlines() if f"`{method.upper()} {_written(path)}`" in line), "")
            assert row, f"{method} {path}"
            if path != "/health":
                expected = sorted(set(operation["responses"]) - {"503"})
                assert [status for status in expected if status not in row] == [], f"{method} {path}"
    for name, schema in document["components"]["schemas"].items():
        fields = [field for field in schema["properties"] if field != "schema"]
        missing = [field for field in fields if f"`{field.removesuffix('_iso')}`" not in text]
        assert missing == [], name
        if "schema" in schema["properties"]:
            (named,) = schema["properties"]["schema"]["enum"]
            assert f"### `{named}`" in text


def _written(path: str) -> str:
    return path.replace("{request_id}", "{id}")
