"""The page where people decide, over a real server: what it shows, what its forms do, and whom it believes."""

from __future__ import annotations

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from seasoned.confirm.policy import Policy, RateRule
from tests.confirm.keys import WORDS
from tests.web.pages import Site, site

SCRIPT = "</pre></script><script>alert(1)</script><img src=x onerror=alert(2)>"
HIDDEN = "pay \u202egnp.exe\u200b to\u00a0bob\u3164"


def test_an_empty_page_says_what_to_do(tmp_path: Path) -> None:
    with site(tmp_path) as found, found.visitor() as alice:
        text = alice.get().text
        assert "No pending requests" in text
        assert "seasoned confirm submit" in text and "seasoned confirm token make NAME --role agent" in text


def test_one_request_is_shown_to_the_letter(shared: Site) -> None:
    asked = shared.serving.ask(
        action="delete_data",
        description="Delete last year's logs.",
        details={"path": "/srv/logs/2025", "force": True, "keep": [1, 2]},
        requester="claude",
        session_key="claude-code:3f2a",
    )
    with shared.visitor() as alice:
        text = alice.get(f"/{asked['id']}").text
    written = text.replace("&#34;", '"').replace("&#39;", "'")
    assert '"path": "/srv/logs/2025"' in written and '"force": true' in written
    for part in (asked["digest"], asked["id"], "claude-code:3f2a", "claude", "high risk", " left", "Exact arguments"):
        assert part in written


def test_hostile_text_is_text_and_hidden_characters_are_seen(shared: Site) -> None:
    asked = shared.serving.ask(
        description=SCRIPT + HIDDEN, details={SCRIPT: HIDDEN}, requester=SCRIPT, session_key=SCRIPT
    )
    shared.serving.decide(asked["id"], "deny", "bob", reason=SCRIPT + HIDDEN)
    pending = shared.serving.ask(description=SCRIPT + HIDDEN, details={SCRIPT: HIDDEN})
    with shared.visitor() as alice:
        for path in ("", f"/{asked['id']}", f"/{pending['id']}"):
            text = alice.get(path).text
            assert "<script>alert" not in text and "<img" not in text and "</pre></script>" not in text
            assert not set(text) & set("\u202e\u200b\u00a0\u3164")
            assert '<mark title="right-to-left override">U+202E</mark>' in text
            assert '<mark title="zero width space">U+200B</mark>' in text


def test_the_page_warns_of_a_command_that_needs_another_action(shared: Site) -> None:
    plain = shared.serving.ask()
    hidden = shared.serving.ask(details={"command": f"rm -rf /srv/{HIDDEN}"})
    with shared.visitor() as alice:
        assert "Warning:" not in alice.get(f"/{plain['id']}").text
        text = alice.get(f"/{hidden['id']}").text
        assert "Warning: its details would delete data (delete_data)" in text
        assert not set(text) & set("\u202e\u200b")


def test_a_denial_by_the_page_reaches_the_one_who_waits_with_its_reason(shared: Site) -> None:
    asked = shared.serving.ask()
    with shared.visitor() as alice, ThreadPoolExecutor(1) as pool:
        with shared.serving.client("agent") as agent:
            waiting = pool.submit(agent.get, f"/confirm/{asked['id']}", params={"wait": 20})
            done = alice.decide(asked["id"], "deny", reason="Wrong team.")
            assert done.status_code == 303
            answer = waiting.result(20).json()
        assert (answer["status"], answer["reason"], answer["resolved_by"]) == ("denied", "Wrong team.", "alice")
        assert [vote["via"] for vote in answer["votes"]] == ["page"]
        text = alice.client.get(done.headers["location"]).text
        assert "Denied by alice" in text and "Wrong team." in text


def test_an_approval_says_whether_it_was_used(shared: Site) -> None:
    asked = shared.serving.ask()
    with shared.visitor() as alice:
        alice.decide(asked["id"], "approve")
        assert "Not used yet" in alice.get(f"/{asked['id']}").text
        with shared.serving.client("agent") as agent:
            agent.post(f"/confirm/{asked['id']}/redeem", json={"digest": asked["digest"]}).raise_for_status()
        text = alice.get(f"/{asked['id']}").text
        assert "Used once" in text and "Approved by alice" in text and "Arguments, redacted" in text


def test_of_two_browsers_one_decides_and_the_other_is_told(shared: Site) -> None:
    asked = shared.serving.ask()
    with shared.visitor("alice") as alice, shared.visitor("bob") as bob:
        start = threading.Barrier(2)
        checks = {"alice": alice.check(), "bob": bob.check()}

        def decide(name: str, verb: str) -> tuple[int, str]:
            visitor = {"alice": alice, "bob": bob}[name]
            start.wait(10)
            path = f"{visitor.path}/confirmations/{asked['id']}/{verb}"
            answer = visitor.client.post(path, data={"check": checks[name], "passphrase": WORDS})
            return answer.status_code, answer.text

        with ThreadPoolExecutor(2) as pool:
            both = list(pool.map(decide, ("alice", "bob"), ("approve", "deny")))
    (late,) = [text for status, text in both if status == 409]
    assert sorted(status for status, _ in both) == [303, 409]
    status = shared.serving.look(asked["id"])["status"]
    assert f"Too late: it was {status} before you decided" in late


def test_where_two_must_agree_the_page_counts_and_asks_nobody_twice(shared: Site) -> None:
    asked = shared.serving.ask(action="transfer_funds", description="Pay the rent.")
    with shared.visitor("alice") as alice, shared.visitor("bob") as bob:
        alice.decide(asked["id"], "approve", reason="It is due.")
        seen = alice.get(f"/{asked['id']}").text
        assert "1 of 2" in seen and "It is waiting for another person" in seen and "Yes, approve" not in seen
        assert "It is due." in bob.get(f"/{asked['id']}").text
        again = alice.decide(asked["id"], "approve")
        assert (again.status_code, "already voted" in again.text) == (403, True)
        bob.decide(asked["id"], "approve")
        assert shared.serving.look(asked["id"])["status"] == "approved"


@pytest.mark.parametrize("check", [None, "", "guessed", "of another visit"])
def test_a_form_without_what_this_page_holds_changes_nothing(shared: Site, check: str | None) -> None:
    asked = shared.serving.ask()
    with shared.visitor("alice") as alice, shared.visitor("bob") as bob:
        data = {} if check is None else {"check": bob.check() if check == "of another visit" else check}
        path = f"{alice.path}/confirmations/{asked['id']}"
        for address in (f"{path}/approve", f"{path}/deny", f"{alice.path}/logout"):
            answer = alice.client.post(address, data=data)
            assert (answer.status_code, "form is out of date" in answer.text) == (403, True)
        assert alice.get().status_code == 200
    assert shared.serving.look(asked["id"])["status"] == "pending"


def test_looking_decides_nothing(shared: Site) -> None:
    asked = shared.serving.ask()
    with shared.visitor("alice") as alice:
        for verb in ("approve", "deny"):
            assert alice.get(f"/{asked['id']}/{verb}").status_code == 405
    assert shared.serving.look(asked["id"])["status"] == "pending"


def test_what_is_not_there_is_a_page_that_says_so(shared: Site) -> None:
    with shared.visitor("alice") as alice:
        for path in ("/nothing-of-this-id", "/../../etc/passwd", "/%00"):
            answer = alice.get(path)
            assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
        for path in ("/nothing", "/static/web.py", "/static/..%2fapp.py"):
            assert alice.client.get(path).status_code == 404
        assert alice.client.get("/nothing", headers={"accept": "application/json"}).json()["schema"]
        assert alice.get("?before=nothing").status_code == 404


def test_every_page_brings_all_it_needs_and_lets_in_nothing_else(shared: Site) -> None:
    asked = shared.serving.ask()
    with shared.visitor("alice") as alice:
        answers = [alice.get(), alice.get(f"/{asked['id']}"), alice.client.get("/login"), alice.get("/nothing")]
        for answer in answers:
            policy = answer.headers["content-security-policy"]
            assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'")
            assert "unsafe" not in policy and "frame-ancestors 'none'" in policy
            assert answer.headers["cache-control"] == "no-store"
            assert not re.search(r"<script(?! src=)|<style|<[^>]*\s(?:style|on\w+)=|https?://", answer.text)
        for name in set(re.findall(r"/static/[\w.]+", answers[0].text)):
            found = alice.client.get(name)
            assert found.status_code == 200
            assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", found.text), name


def test_older_ones_are_on_the_next_page(tmp_path: Path) -> None:
    policy = Policy(rate=RateRule(count=1000))
    with site(tmp_path, policy=policy) as found, found.visitor() as alice:
        ids = [found.serving.ask(description=f"Number {number}.")["id"] for number in range(45)]
        for each in ids:
            found.serving.decide(each, "deny")
        first = alice.get().text
        (older,) = re.findall(r'href="[^"]+(\?before=[\w-]+)"', first)
        second = alice.get(older).text
        shown = [set(re.findall(r"row-([\w-]+)", text)) for text in (first, second)]
        assert shown[0] | shown[1] == set(ids) and not shown[0] & shown[1]


def test_the_stream_says_that_something_changed_and_ends_with_the_visit(shared: Site) -> None:
    with shared.visitor("alice") as alice, alice.client.stream("GET", f"{alice.path}/changes") as stream:
        events = (line for line in stream.iter_lines() if line.startswith("event:"))
        assert next(events) == "event: change", "what changed before the stream began is made up for"
        shared.serving.ask()
        assert next(events) == "event: change"
        with shared.visitor("bob") as bob:
            bob.client.post(f"{bob.path}/logout", data={"check": bob.check()})
        check = alice.check()
        alice.client.post(f"{alice.path}/logout", data={"check": check})
        shared.serving.ask()
        assert next(events) == "event: over"
