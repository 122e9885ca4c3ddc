"""Who may see the pages: by a token or by the link, for a while, and nobody else."""

from __future__ import annotations

from pathlib import Path

import pytest

from seasoned.store import open_database
from tests.confirm.keys import revoke
from tests.web.pages import Site, Visitor, site


def test_nobody_sees_anything_without_logging_in(shared: Site) -> None:
    with shared.visitor(None) as nobody:
        assert nobody.client.get("/").headers["location"] == "/login"
        for path in ("confirmations", "confirmations/abc", "changes"):
            answer = nobody.client.get(f"/visit/guessed/{path}")
            assert (answer.status_code, answer.headers["location"]) == (303, "/login?over=1")
        for path in ("confirmations/abc/approve", "confirmations/abc/deny", "logout"):
            assert nobody.client.post(f"/visit/guessed/{path}").status_code == 401


def test_the_cookie_is_for_this_visit_alone_and_out_of_reach_of_scripts_and_sites(shared: Site) -> None:
    with shared.visitor(None) as visitor:
        given = visitor.log_in(shared.serving.tokens["alice"])
        cookie = given.headers["set-cookie"]
        assert {"HttpOnly", "SameSite=strict", f"Path={visitor.path}"} <= set(cookie.split("; "))
        assert "Secure" not in cookie, "there is no TLS here"
        assert visitor.get().status_code == 200
        # The address alone, as it stands in a browser's history, is worth nothing.
        with Visitor(shared.url) as other:
            assert other.client.get(f"{visitor.path}/confirmations").status_code == 303


def test_a_cookie_opens_no_other_visit(shared: Site) -> None:
    with shared.visitor("alice") as alice, shared.visitor("bob") as bob, Visitor(shared.url) as other:
        (cookie,) = [f"{one.name}={one.value}" for one in alice.client.cookies.jar]
        answer = other.client.get(f"{bob.path}/confirmations", headers={"cookie": cookie})
        assert answer.status_code == 303


@pytest.mark.parametrize(
    ("token", "status", "said"),
    [("", 401, "unknown"), ("ssn_approver_nonsense", 401, "unknown"), ("agent", 403, "agent&#39;s credential")],
)
def test_a_token_that_decides_nothing_opens_nothing(shared: Site, token: str, status: int, said: str) -> None:
    with shared.visitor(None) as visitor:
        answer = visitor.log_in(shared.serving.tokens.get(token, token))
        assert (answer.status_code, said in answer.text, "set-cookie" in answer.headers) == (status, True, False)


def test_a_token_in_the_cookie_or_a_cookie_as_a_token_counts_for_nothing(shared: Site) -> None:
    token = shared.serving.tokens["alice"]
    with shared.visitor("alice") as alice, Visitor(shared.url) as other:
        (cookie,) = [one.value for one in alice.client.cookies.jar]
        assert alice.client.get("/confirm").status_code == 401
        assert alice.client.get("/confirm", headers={"authorization": f"Bearer {cookie}"}).status_code == 401
        answer = other.client.get(f"{alice.path}/confirmations", headers={"cookie": f"seasoned={token}"})
        assert answer.status_code == 303


def test_the_link_of_the_server_lets_browsers_read_and_another_link_does_not(shared: Site) -> None:
    with Visitor(shared.url) as first, Visitor(shared.url) as second:
        assert "This link is read-only" in first.client.get(f"/login/{shared.visits.link}").text
        for one in (first, second):
            path = one.client.post(f"/login/{shared.visits.link}").headers["location"].rpartition("/")[0]
            assert one.client.get(f"{path}/sessions").status_code == 200
            assert "Log in to decide" in one.client.get(f"{path}/confirmations").text
        other = "x" * len(shared.visits.link)
        assert first.client.post(f"/login/{other}").status_code == 401
        assert first.client.get(f"/login/{other}").headers["location"] == "/login?over=1"


def test_visits_end_by_themselves(tmp_path: Path) -> None:
    now = [1_800_000_000.0]
    with site(tmp_path, clock=lambda: now[0]) as found, found.visitor("alice") as alice:
        now[0] += 600
        assert alice.get().status_code == 200
        now[0] += 12 * 3600
        assert alice.get().status_code == 303


def test_who_logs_out_or_is_revoked_is_out_at_once(tmp_path: Path) -> None:
    with site(tmp_path) as found, found.visitor("alice") as alice, found.visitor("bob") as bob:
        path = alice.path
        gone = alice.client.post(f"{path}/logout", data={"check": alice.check()})
        assert gone.headers["location"] == "/login?over=1"
        assert alice.get().status_code == 303
        database = open_database(found.serving.config)
        try:
            revoke(database, "bob", now=1.0)
        finally:
            database.close()
        assert bob.get().status_code == 303


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://127.0.0.1:1"},
        {"origin": "null"},
    ],
)
def test_a_form_of_another_site_or_port_logs_nobody_in(shared: Site, headers: dict[str, str]) -> None:
    with shared.visitor(None) as visitor:
        data = {"token": shared.serving.tokens["alice"]}
        answer = visitor.client.post("/login", data=data, headers=headers)
        assert (answer.status_code, "another site" in answer.text) == (403, True)


def test_a_name_that_somebody_let_lead_here_shows_no_page(shared: Site) -> None:
    port = shared.url.rpartition(":")[2]
    with shared.visitor("alice") as alice:
        for name in ("rebound.example", "127.0.0.1.rebound.example", "localhost.rebound.example", ""):
            headers = {"host": f"{name}:{port}"}
            for path in ("/login", f"{alice.path}/sessions", "/"):
                answer = alice.client.get(path, headers=headers)
                assert (answer.status_code, "is not known as" in answer.text) == (403, True), (name, path)
        for name in ("127.0.0.1", "localhost", "[::1]", "LOCALHOST"):
            assert alice.client.get("/login", headers={"host": f"{name}:{port}"}).status_code == 200, name
