"""One-time links: looking decides nothing, the form decides once, and only for whom the link was made."""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seasoned.config import Config
from seasoned.confirm.notify.link import check_value, link_url, make_link, read_link
from seasoned.confirm.notify.message import ConfiguredChannel
from seasoned.confirm.people.credential import revoke
from seasoned.confirm.request.request import Request
from seasoned.errors import NotFound, Refused
from tests.confirm.keys import WORDS
from tests.confirm.other_side import Receiver
from tests.confirm.people import LINK_KEY, MIRA, NOOR, NOW, PEOPLE, SECRET, STRANGER, Notified
from tests.conftest import examples

URL = "https://confirm.test"
TAGS = {"html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "dl", "dt", "dd", "pre"}
TAGS |= {"form", "input", "label", "button"}


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Notified]:
    with Notified(Config(home=tmp_path / "home"), {"hook": _way()}) as scene:
        yield scene


@pytest.fixture
def client(scene: Notified) -> Iterator[httpx2.Client]:
    with scene.served() as client:
        yield client


def _way(**more: Any) -> ConfiguredChannel:
    given = {"name": "hook", "kind": "webhook", "to": URL, "url": URL, "token": "t" * 32, "people": PEOPLE}
    return ConfiguredChannel(**{**given, **more})


def _token(request: Request, person: str = MIRA, *, key: bytes = LINK_KEY, channel: str = "hook") -> str:
    return make_link(key, request_id=request.id, channel=channel, person=person, expires_at=request.expires_at)


def _form(token: str, **more: str) -> dict[str, str]:
    return {"token": token, "check": check_value(LINK_KEY, token), "decision": "approve", "passphrase": WORDS, **more}


def _post(client: httpx2.Client, token: str, form: dict[str, str], **headers: str) -> httpx2.Response:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.post(f"/confirm/link/{token}", data=form, headers=given)


class _Parts(HTMLParser):
    """The tags, attributes and form fields of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.fields: dict[str, str] = {}
        self.attributes: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
        given = dict(attrs)
        if tag == "input" and given.get("type") == "hidden":
            self.fields[str(given["name"])] = str(given["value"])


def test_getting_or_previewing_a_link_decides_nothing(scene: Notified, client: httpx2.Client) -> None:
    request = scene.submit()
    token = _token(request)
    for method in ("GET", "HEAD", "GET", "OPTIONS", "PUT", "PATCH", "DELETE"):
        params = {"decision": "approve", "check": check_value(LINK_KEY, token), "token": token}
        answer = client.request(method, f"/confirm/link/{token}", params=params)
        assert answer.status_code == (200 if method in ("GET", "HEAD") else 405)
    assert scene.look(request).status == "pending"
    assert _post(client, token, _form(token)).status_code == 200, "looking did not use it up either"


def test_the_page_shows_the_exact_request_and_its_own_form_decides(scene: Notified, client: httpx2.Client) -> None:
    request = scene.submit(details={"token": SECRET, "table": "orders"}, label="nightly")
    token = _token(request)
    page = client.get(f"/confirm/link/{token}")
    for text in ("delete_data", "Remove old rows", "orders", SECRET, "builder", "nightly", request.digest):
        assert text in page.text
    fields = _Parts(page.text).fields
    without = _post(client, token, {**fields, "decision": "deny"})
    assert (without.status_code, "passphrase is missing" in without.text) == (403, True)
    wrong = _post(client, token, {**fields, "decision": "deny", "passphrase": "not the right words"})
    assert wrong.status_code == 401
    answer = _post(client, token, {**fields, "decision": "deny", "reason": "not now", "passphrase": WORDS})
    assert answer.status_code == 200 and "Denied: delete_data." in answer.text
    decided = scene.look(request)
    assert (decided.status, decided.resolved_by, decided.reason) == ("denied", "mira", "not now")
    assert decided.votes[0].via == "link"
    after = client.get(f"/confirm/link/{token}")
    assert "<form" not in after.text and "Already decided" in after.text and SECRET not in after.text


def test_the_page_warns_of_details_that_need_another_action(scene: Notified, client: httpx2.Client) -> None:
    request = scene.submit(details={"command": "psql -c 'DROP DATABASE orders'"})
    page = client.get(f"/confirm/link/{_token(request)}")
    assert "<dt>Warning</dt>" in page.text and "wipe_database" in page.text


def test_the_page_runs_nothing_loads_nothing_and_is_kept_nowhere(scene: Notified, client: httpx2.Client) -> None:
    hostile = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&\u202e</pre></style>{title}"
    request = scene.submit(description=hostile, details={hostile: hostile}, label=hostile, session_key=hostile)
    answer = client.get(f"/confirm/link/{_token(request)}")
    parts = _Parts(answer.text)
    assert not set(parts.tags) - TAGS
    assert not [name for name in parts.attributes if name.startswith("on") or name in ("src", "href", "style")]
    assert "\u202e" not in answer.text and "\\u{202e}" in answer.text
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "script" not in policy and "unsafe" not in policy
    assert "form-action 'self'" in policy and "frame-ancestors 'none'" in policy
    assert answer.headers["cache-control"] == "no-store" and answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["content-type"].startswith("text/html")


def test_a_link_is_used_once(tmp_path: Path) -> None:
    with Notified(Config(home=tmp_path / "two"), {"hook": _way()}, approvals=2) as scene:
        request = scene.submit()
        token = _token(request)
        with scene.served() as client:
            assert "Counted: 1 of 2" in _post(client, token, _form(token)).text
            again = _post(client, token, _form(token, decision="deny"))
            assert again.status_code == 403 and "already used" in again.text
            assert "<form" not in client.get(f"/confirm/link/{token}").text
        assert scene.look(request).status == "pending" and len(scene.look(request).votes) == 1


def test_a_link_used_by_many_at_once_decides_once(scene: Notified, client: httpx2.Client) -> None:
    request = scene.submit()
    token = _token(request)
    statuses: list[int] = []
    with scene.served() as other:
        one_each = [client, other] * 4
        threads = [
            threading.Thread(target=lambda one=one: statuses.append(_post(one, token, _form(token)).status_code))
            for one in one_each
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(statuses) == [200] + [403] * 7
    assert len(scene.look(request).votes) == 1


def test_the_first_use_of_a_link_does_not_hang_on_the_warnings_of_other_threads(
    scene: Notified, client: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that leaves `catch_warnings` puts back the filters of all: what another one just set is gone."""
    token = _token(scene.submit())
    warnings.simplefilter("error")
    monkeypatch.setattr(warnings, "simplefilter", lambda *_, **__: None)
    assert _post(client, token, _form(token)).status_code == 200
    assert client.get(f"/confirm/link/{token}").status_code == 200


def test_a_form_that_is_not_the_links_own_decides_nothing(scene: Notified, client: httpx2.Client) -> None:
    request = scene.submit()
    token, other = _token(request), _token(request, NOOR)
    forms: list[tuple[dict[str, str], int]] = [
        ({}, 403),
        ({"decision": "approve"}, 403),
        (_form(token, check=""), 403),
        (_form(token, check=check_value(LINK_KEY, other)), 403),
        (_form(other), 403),
        (_form(token, decision="maybe"), 400),
        ({name: value for name, value in _form(token).items() if name != "decision"}, 400),
    ]
    for form, status in forms:
        assert _post(client, token, form).status_code == status
    assert _post(client, token, _form(token), sec_fetch_site="cross-site").status_code == 403
    twice = f"token={token}&check={check_value(LINK_KEY, token)}&decision=deny&decision=approve"
    assert client.post(f"/confirm/link/{token}", content=twice).status_code == 400
    assert client.post(f"/confirm/link/{token}", content=b"x" * 20_000).status_code == 413
    assert scene.look(request).status == "pending"
    assert _post(client, token, _form(token), sec_fetch_site="same-origin").status_code == 200


def test_a_reason_that_cannot_be_kept_does_not_use_the_link_up(scene: Notified, client: httpx2.Client) -> None:
    request = scene.submit()
    token = _token(request)
    assert _post(client, token, _form(token, reason="a\x00b")).status_code == 400
    assert scene.look(request).status == "pending"
    assert _post(client, token, _form(token)).status_code == 200


@pytest.mark.parametrize(
    ("person", "channel"), [(STRANGER, "hook"), ("mira", "hook"), (MIRA, "phone")], ids=["stranger", "name", "channel"]
)
def test_a_link_for_somebody_the_policy_does_not_name_is_worth_nothing(
    scene: Notified, client: httpx2.Client, person: str, channel: str
) -> None:
    request = scene.submit()
    token = _token(request, person, channel=channel)
    assert client.get(f"/confirm/link/{token}").status_code == 403
    assert _post(client, token, _form(token)).status_code == 403
    assert scene.look(request).status == "pending"


def test_a_link_ends_with_its_persons_credential(scene: Notified, client: httpx2.Client) -> None:
    request = scene.submit()
    token = _token(request)
    revoke(scene.book.database, "mira", by="system:terminal", now=NOW)
    answer = client.get(f"/confirm/link/{token}")
    assert answer.status_code == 403 and "orders" not in answer.text
    assert _post(client, token, _form(token)).status_code == 403
    assert scene.book.look(scene.noor, request.id).status == "pending"


def test_a_link_ends_with_its_request(scene: Notified, client: httpx2.Client) -> None:
    request = scene.submit()
    token = _token(request)
    scene.clock.now = request.expires_at
    assert client.get(f"/confirm/link/{token}").status_code == 403
    assert _post(client, token, _form(token)).status_code == 403
    assert scene.look(request).status == "expired"


def test_a_forged_link_is_not_found(scene: Notified, client: httpx2.Client) -> None:
    request = scene.submit()
    good = _token(request)
    payload, _, mac = good.partition(".")
    forged = [
        _token(request, key=b"x" * 32),
        f"{payload}.",
        payload,
        f"{payload}.{mac[:-1]}",
        f"{payload}.{mac}=",
        f"{payload}A.{mac}",
        f"{_token(request, NOOR).partition('.')[0]}.{mac}",
        "x",
        "%00",
        "a" * 5000,
    ]
    for token in forged:
        answer = client.get(f"/confirm/link/{token}")
        assert answer.status_code == 404 and "default-src 'none'" in answer.headers["content-security-policy"]
        assert client.post(f"/confirm/link/{token}", data=_form(token)).status_code == 404
    assert scene.look(request).status == "pending"


@settings(max_examples=examples(200))
@given(st.text(max_size=80), st.integers(0, 200), st.text("abcXYZ019-_.=", min_size=1, max_size=3))
def test_no_change_of_a_link_is_believed(noise: str, at: int, put: str) -> None:
    token = make_link(LINK_KEY, request_id="r", channel="c", person="p", expires_at=NOW + 1)
    assert read_link(LINK_KEY, token, now=NOW).person == "p"
    at %= len(token)
    for forged in (noise, token[:at] + put + token[at + len(put) :], token + put, token[:at]):
        if forged != token:
            with pytest.raises((NotFound, Refused)):
                read_link(LINK_KEY, forged, now=NOW)
    with pytest.raises(Refused):
        read_link(LINK_KEY, token, now=NOW + 1)


def test_links_are_sent_only_where_the_channel_is_one_for_them(tmp_path: Path) -> None:
    with Receiver(b"k" * 32) as receiver:
        given = {"to": receiver.url, "url": receiver.url, "token": receiver.secret, "public_url": URL}
        for name, has_links in (("with", True), ("without", False)):
            with Notified(Config(home=tmp_path / name), {"hook": _way(**given, has_links=has_links)}) as scene:
                request = scene.submit()
                scene.send_due("hook")
                said = receiver.heard[-1].value
                assert ("links" in said) is has_links
                if not has_links:
                    continue
                assert set(said["links"]) == set(PEOPLE)
                token = said["links"][NOOR].removeprefix(link_url(URL, ""))
                assert re.fullmatch(r"[\w-]+\.[\w-]+", token)
                with scene.served() as client:
                    assert _post(client, token, _form(token)).status_code == 200
                assert scene.look(request).resolved_by == "noor"
