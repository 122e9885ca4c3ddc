"""The page where people decide in a real browser: live, by keyboard, on a desk and on a phone, with hostile text."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from seasoned.confirm.people.credential import UnlockedCredential
from seasoned.confirm.policy import ActionRule, Policy, RateRule
from seasoned.store import open_database
from seasoned.web.login import COOKIE, DECIDING_COOKIE
from tests.browser.walking import SIGHTS, Walk
from tests.confirm.keys import WORDS, unlock
from tests.confirm.serving import Serving
from tests.web.pages import Site, site

if TYPE_CHECKING:
    from playwright.sync_api import Browser

DEPLOY = {
    "action": "deploy_production",
    "description": "Deploy version 4.2.0 of the shop to production, and migrate the orders table.",
    "details": {
        "service": "shop",
        "version": "4.2.0",
        "command": "kubectl -n shop set image deployment/shop shop=registry.example.org/shop:4.2.0",
        "environment": {"REPLICAS": 6, "REGION": "eu-central-1"},
        "dry_run": False,
    },
    "requester": "Claude Code",
    "session_key": "claude-code:3f2a9c",
}


def credential(found: Site, name: str) -> UnlockedCredential:
    database = open_database(found.serving.config)
    try:
        return unlock(database, name)
    finally:
        database.close()


class Seen(Walk):
    """A browser of its own that is logged in."""

    def enter_as(self, found: Site, name: str, *, is_unlocked: bool = True, host: str = "127.0.0.1") -> None:
        """Be logged in as this one, without the detour over the form; the passphrase was typed a moment ago."""
        self.url = self.url.replace("127.0.0.1", host)
        who = credential(found, name)
        visit, cookie = found.visits.begin(who)
        if is_unlocked:
            found.visits.unlock(visit, who)
        self.page.context.add_cookies(
            [
                {"name": name, "value": value, "domain": host, "path": path, "httpOnly": True}
                for name, value, path in (
                    (DECIDING_COOKIE, cookie, visit.path),
                    (COOKIE, found.visits.reading_cookie, "/"),
                )
            ]
        )
        self.page.goto(f"{self.url}{visit.path}/confirmations")

    def row(self, request_id: str) -> str:
        return f"#row-{request_id}"


Open = Callable[..., Seen]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    policy = Policy(rate=RateRule(count=1000), action={"transfer_funds": ActionRule(approvals=2)})
    with site(tmp_path_factory.mktemp("home"), policy=policy) as started:
        yield started


@pytest.fixture
def open_page(browser: Browser, found: Site) -> Iterator[Open]:
    contexts = []

    def open_it(name: str | None = "alice", *, width: int = 1280, **options: Any) -> Seen:
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, **options))
        seen = Seen(contexts[-1].new_page(), found.url)
        if name is not None:
            seen.enter_as(found, name)
        return seen

    yield open_it
    for context in contexts:
        context.close()


def wait_for_decision(serving: Serving, request_id: str) -> dict[str, Any]:
    with serving.client("agent") as agent:
        return dict(agent.get(f"/confirm/{request_id}", params={"wait": 25}).json())


def test_a_request_appears_without_reload_and_is_denied_with_a_reason_by_keyboard(found: Site, open_page: Open) -> None:
    seen = open_page()
    seen.page.evaluate("window.isTheSame = true")
    asked = found.serving.ask(**DEPLOY)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(wait_for_decision, found.serving, asked["id"])
        seen.page.wait_for_selector(seen.row(asked["id"]))
        assert seen.page.evaluate("window.isTheSame"), "it was not loaded anew"
        seen.page.keyboard.press("j")
        while seen.page.evaluate("document.activeElement.id") != f"row-{asked['id']}":
            seen.page.keyboard.press("j")
        seen.page.keyboard.press("Enter")
        seen.page.wait_for_selector("#one[data-status=pending]")
        assert '"version": "4.2.0"' in seen.page.inner_text(".arguments")
        seen.page.keyboard.press("d")
        seen.page.keyboard.type("Not on a Friday: ask again on Monday.")
        seen.page.keyboard.press("Enter")
        seen.page.wait_for_selector(".ending.denied")
        decided = waiting.result(30)
    assert (decided["status"], decided["resolved_by"]) == ("denied", "alice")
    assert decided["reason"] == "Not on a Friday: ask again on Monday."
    assert "Not on a Friday" in seen.page.inner_text(".ending")
    seen.check_calm()


@pytest.mark.parametrize("width", [1280, 390])
def test_a_locked_page_asks_for_the_passphrase_once(found: Site, open_page: Open, width: int) -> None:
    asked = found.serving.ask(**DEPLOY)
    seen = open_page(None, width=width)
    seen.enter_as(found, "alice", is_unlocked=False)
    seen.page.click(seen.row(asked["id"]))
    seen.page.wait_for_selector("#one[data-status=pending]")
    seen.page.keyboard.press("a")
    assert seen.page.evaluate("document.activeElement.id") == "passphrase-approve"
    seen.page.keyboard.type(WORDS)
    seen.page.keyboard.press("Enter")
    seen.page.wait_for_selector(".ending.approved")
    again = found.serving.ask(**DEPLOY)
    seen.page.goto(f"{seen.page.url.rpartition('/')[0]}/{again['id']}")
    seen.page.wait_for_selector("#one[data-status=pending]")
    assert seen.page.query_selector("input[type=password]") is None, "it counts for ten minutes"
    seen.check_calm()


def test_approving_by_keyboard_asks_once_more(found: Site, open_page: Open) -> None:
    asked = found.serving.ask()
    seen = open_page()
    seen.page.focus(seen.row(asked["id"]))
    seen.page.keyboard.press("a")
    seen.page.wait_for_selector("#approve[open]")
    assert found.serving.look(asked["id"])["status"] == "pending"
    seen.page.keyboard.press("Escape")
    assert seen.page.locator("#approve[open]").count() == 0
    seen.page.keyboard.press("a")
    seen.page.keyboard.press("Enter")
    seen.page.wait_for_selector(".ending.approved")
    assert found.serving.look(asked["id"])["status"] == "approved"
    seen.check_calm()


def test_who_looks_at_it_while_another_decides_is_told(found: Site, open_page: Open) -> None:
    asked = found.serving.ask()
    first, second = open_page("alice"), open_page("bob")
    for seen in (first, second):
        seen.page.click(seen.row(asked["id"]))
        seen.page.wait_for_selector("#one[data-status=pending]")
    second.page.click("#deny summary")
    second.page.fill("#why-deny", "I would rather not")
    first.page.click("#approve summary")
    first.page.click("#approve button")
    first.page.wait_for_selector(".ending.approved")
    second.page.wait_for_selector(".ending.approved")
    assert "This was approved just now." in second.page.inner_text("#news")
    assert second.page.locator("form[action$=deny]").count() == 0
    for seen in (first, second):
        seen.check_calm()


def test_a_reason_that_is_being_typed_outlives_news_of_other_requests(found: Site, open_page: Open) -> None:
    asked = found.serving.ask()
    seen = open_page()
    seen.page.click(seen.row(asked["id"]))
    seen.page.click("#deny summary")
    seen.page.fill("#why-deny", "half a sen")
    other = found.serving.ask(description="Something else.")
    seen.page.wait_for_selector(seen.row(other["id"]))
    assert seen.page.input_value("#why-deny") == "half a sen"
    assert seen.page.evaluate("document.activeElement.id") == "why-deny"


def test_a_page_on_another_port_of_this_machine_is_never_sent_the_cookie_that_decides(
    found: Site, open_page: Open
) -> None:
    heard: list[str] = []

    class Agent(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(self.headers.get("cookie", ""))
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(
                b"<link rel=icon href=data:,><script>fetch('/visit/').then(() => document.title = 1)</script>"
            )

        def log_message(self, format: str, *arguments: object) -> None:
            """Says nothing."""

    seen = open_page()
    with ThreadingHTTPServer(("127.0.0.1", 0), Agent) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            seen.page.goto(f"http://127.0.0.1:{server.server_port}/visit/confirmations")
            seen.page.wait_for_function("document.title === '1'")
        finally:
            server.shutdown()
    assert len(heard) == 2 and not any(DECIDING_COOKIE in one for one in heard)
    seen.page.goto(found.url)
    seen.page.wait_for_selector(".top nav a[aria-current=page]")


@pytest.mark.parametrize(("width", "scheme"), SIGHTS)
def test_it_fits_a_desk_and_a_phone_by_day_and_by_night(found: Site, open_page: Open, width: int, scheme: str) -> None:
    asked = found.serving.ask(**DEPLOY)
    pay = found.serving.ask(action="transfer_funds", description="Pay invoice 2044 to Example Ltd.", timeout_seconds=90)
    found.serving.decide(pay["id"], "approve", "bob", reason="The goods have arrived.")
    seen = open_page(width=width, color_scheme=scheme)
    seen.page.click(seen.row(asked["id"]))
    seen.page.wait_for_selector("#one[data-status=pending]")
    seen.page.keyboard.press("d")
    assert seen.page.locator("#why-deny").is_visible()
    background = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == {"light": "rgb(253, 253, 252)", "dark": "rgb(21, 23, 27)"}[scheme]
    small = """[...document.querySelectorAll("button, summary, .row, #why-deny")]
        .filter(each => each.offsetParent && each.getBoundingClientRect().height < 24).map(each => each.outerHTML)"""
    assert seen.page.evaluate(small) == []
    seen.check_calm()
    found.serving.decide(asked["id"], "deny", "bob")
    found.serving.decide(pay["id"], "deny", "root", reason="Paid twice already.")
