"""Who may see the pages: by a token or by the link, for a while, and nobody else."""

from __future__ import annotations

from pathlib import Path

import pytest

from seasoned.confirm.people.credential import Credential
from seasoned.store import open_database
from seasoned.web.browser_session import MOST_VISITS, BrowserSessions, NotLoggedIn
from tests.confirm.keys import revoke
from tests.web.pages import Site, Visitor, site


def test_nobody_sees_anything_without_logging_in(shared: Site) -> None:
    with shared.visitor(None) as nobody:
        assert nobody.client.get("/").headers["location"] == "/overview"
        for path in ("overview", "usage?by=day", "sessions/codex:a", "confirmations/abc", "changes"):
            assert nobody.client.get(f"/{path}").headers["location"] == "/login"
            # The address of a visit that has ended leads to the same page for those who read.
            answer = nobody.client.get(f"/visit/guessed/{path}")
            assert (answer.status_code, answer.headers["location"]) == (303, f"/{path}")
        for path in ("confirmations/abc/approve", "confirmations/abc/deny", "logout"):
            assert nobody.client.post(f"/visit/guessed/{path}").status_code == 401


def test_the_cookie_is_for_this_visit_alone_and_out_of_reach_of_scripts_and_sites(shared: Site) -> None:
    with shared.visitor(None) as visitor:
        given = visitor.log_in(shared.serving.tokens["alice"])
        cookie, reading = given.headers.get_list("set-cookie")
        assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(reading.split("; ")) and "seasoned=" in reading
        assert {"HttpOnly", "SameSite=strict", f"Path={visitor.path}"} <= set(cookie.split("; "))
        assert "Secure" not in cookie, "there is no TLS here"
        assert visitor.get().status_code == 200
        # The address alone, as it stands in a browser's history, is worth nothing.
        with Visitor(shared.url) as other:
            assert other.client.get(f"{visitor.path}/confirmations").status_code == 303


def test_a_cookie_opens_no_other_visit(shared: Site) -> None:
    with shared.visitor("alice") as alice, shared.visitor("bob") as bob, Visitor(shared.url) as other:
        cookie = "; ".join([f"{one.name}={one.value}" for one in alice.client.cookies.jar])
        answer = other.client.get(f"{bob.path}/confirmations", headers={"cookie": cookie})
        assert (answer.status_code, answer.headers["location"]) == (303, "/confirmations")


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
        assert alice.client.get("/confirm").status_code == 401
        for cookie in [one.value for one in alice.client.cookies.jar]:
            assert alice.client.get("/confirm", headers={"authorization": f"Bearer {cookie}"}).status_code == 401
        given = {"cookie": f"seasoned={token}; seasoned-decides={token}"}
        for path in ("/overview", f"{alice.path}/confirmations"):
            assert other.client.get(path, headers=given).status_code == 303


def test_the_link_signs_a_browser_in_for_reading_and_it_stays_so_after_a_restart(tmp_path: Path) -> None:
    with site(tmp_path) as found, Visitor(found.url) as visitor:
        link = found.visits.link
        assert "for reading only" in visitor.client.get(f"/login/{link}").text
        assert "set-cookie" not in visitor.client.get(f"/login/{link}").headers
        assert visitor.client.post(f"/login/{link}").headers["location"] == "/overview"
        other = "x" * len(link)
        assert visitor.client.post(f"/login/{other}").status_code == 401
        assert visitor.client.get(f"/login/{other}").headers["location"] == "/login"
        kept = visitor.client.cookies
    with site(tmp_path, tokens={}) as again, Visitor(again.url) as visitor:
        assert again.visits.link == link
        visitor.client.cookies = kept
        for bookmark in ("/usage", "/sessions", "/projects", "/overview"):
            assert visitor.client.get(bookmark).status_code == 200, bookmark
        text = visitor.client.get("/confirmations").text
        assert "You are reading only" in text and 'value="confirmations"' in text
    # Without its key, each browser needs a new link.
    (tmp_path / "pages.key").unlink()
    with site(tmp_path, tokens={}) as again, Visitor(again.url) as visitor:
        visitor.client.cookies = kept
        assert visitor.client.get("/usage").headers["location"] == "/login" and again.visits.link != link


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
        assert gone.headers["location"] == "/"
        assert alice.get().headers["location"] == "/confirmations"
        alice.path = ""
        reading = alice.client.get("/usage").text
        assert "reading only" in reading
        check = reading.partition('name="check" value="')[2].partition('"')[0]
        assert alice.client.post("/logout", data={"check": check}).headers["location"] == "/login"
        assert alice.client.get("/usage").status_code == 303
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


def test_who_reads_takes_no_room_and_of_those_who_decide_the_oldest_ends_first() -> None:
    sessions = BrowserSessions(lambda: 1.0, b"k" * 32)
    ada = Credential(id="1", name="ada", role="admin", person="ada", created_at=0.0)
    first, cookie = sessions.begin(ada)
    assert {sessions.reader(sessions.reading_cookie).path for _ in range(2 * MOST_VISITS)} == {""}
    assert sessions.find(first.number, cookie) == first
    for _ in range(MOST_VISITS):
        sessions.begin(ada)
    with pytest.raises(NotLoggedIn):
        sessions.find(first.number, cookie)
