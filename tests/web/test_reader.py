"""Who only reads: sees the pages by the link that `up` prints, and decides nothing without a passphrase."""

from __future__ import annotations

from pathlib import Path

from fastapi.routing import APIRoute

from seasoned.web.app import PAGES
from tests.confirm.keys import WORDS
from tests.web.pages import Site, Visitor, site

PATHS = [page.path for page, _ in PAGES]


def form_value(visitor: Visitor) -> str:
    return visitor.client.get(f"{visitor.path}/sessions").text.partition('name="check" value="')[2].partition('"')[0]


def test_the_link_lets_several_browsers_read_every_page_as_long_as_the_server_runs(filled: Site) -> None:
    for _ in range(2):
        with filled.reader() as visitor:
            for path in PATHS:
                answer = visitor.client.get(f"{visitor.path}/{path}")
                assert (path, answer.status_code) == (path, 200)
                assert "default-src 'none'" in answer.headers["content-security-policy"]
                assert "unsafe" not in answer.headers["content-security-policy"]
                assert answer.headers["cache-control"] == "no-store"


def test_an_onlooker_sees_no_request_and_decides_none(filled: Site, reader: Visitor) -> None:
    asked = filled.serving.ask(description="Only for those who decide.")
    for path in ("", f"/{asked['id']}"):
        text = reader.get(path).text
        assert "Only for those who decide" not in text and "Passphrase" in text
    for verb in ("approve", "deny"):
        path = f"{reader.path}/confirmations/{asked['id']}/{verb}"
        assert reader.client.post(path, data={"check": form_value(reader)}).status_code == 403
    assert filled.serving.look(asked["id"])["status"] == "pending"


def test_a_passphrase_makes_an_onlooker_one_who_decides_in_a_visit_of_its_own(filled: Site, reader: Visitor) -> None:
    asked = filled.serving.ask()
    check = form_value(reader)
    form = {"check": check, "name": "root", "page": "confirmations"}
    wrong = reader.client.post(f"{reader.path}/decide", data={**form, "passphrase": "wrong horse battery staple"})
    assert wrong.status_code == 401 and "wrong passphrase" in wrong.text
    assert reader.client.post(f"{reader.path}/decide", data={**form, "check": "guessed"}).status_code == 403
    entered = reader.client.post(f"{reader.path}/decide", data={**form, "passphrase": WORDS})
    assert entered.status_code == 303 and entered.headers["location"].endswith("/confirmations")
    reader.path = entered.headers["location"].rpartition("/")[0]
    assert reader.path.startswith("/visit/") and reader.client.get("/sessions").status_code == 200
    assert reader.decide(asked["id"], "deny", reason="No.").status_code == 303
    assert filled.serving.look(asked["id"])["resolved_by"] == "root"


def test_without_a_visit_nothing_is_readable_at_any_address(filled: Site) -> None:
    routes = [route for _, router in PAGES for route in router.routes if isinstance(route, APIRoute)]
    assert len(routes) > 15
    with Visitor(filled.url) as nobody:
        for route in routes:
            path = route.path.replace(":path", "").format_map(_Anything())
            for method in route.methods or ():
                for start, back in (("", "/login"), ("/visit/7", path)):
                    answer = nobody.client.request(method, start + path)
                    over = method == "GET" and answer.headers.get("location") == back
                    assert over or answer.status_code == 401, (method, path, answer.status_code)


class _Anything(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return "7"


def test_no_change_is_taken_from_another_site_or_without_what_the_page_holds(filled: Site, reader: Visitor) -> None:
    routes = [route for _, router in PAGES for route in router.routes if isinstance(route, APIRoute)]
    changing = [route.path for route in routes if "POST" in (route.methods or ())]
    assert len(changing) > 4
    with filled.visitor("root") as root:
        check = root.check()
        for path in changing:
            address = path.format_map(_Anything())
            for headers in ({"origin": "http://127.0.0.1:1"}, {"sec-fetch-site": "cross-site"}, {"origin": "null"}):
                answer = root.client.post(f"{root.path}{address}", data={"check": check}, headers=headers)
                assert answer.status_code == 403, (address, headers, answer.status_code)
            assert root.client.post(f"{root.path}{address}").status_code == 403, address
            # Who only reads changes nothing, even with what the page holds.
            answer = reader.client.post(address, data={"check": form_value(reader)})
            assert (answer.status_code, "reading only" in answer.text) == (403, True), address


def test_a_page_that_is_told_to_others_asks_the_server_each_time_and_scripts_are_kept(filled: Site) -> None:
    with Visitor(filled.url) as nobody:
        text = nobody.client.get("/login").text
        address = text.partition('src="')[2].partition('"')[0]
        assert "immutable" in nobody.client.get(address).headers["cache-control"]
        assert nobody.client.get("/static/web.js?v=old").headers["cache-control"] == "no-cache"
        assert nobody.client.get("/static/../app.py").status_code == 404


def test_an_empty_home_says_on_every_page_what_to_do(tmp_path: Path) -> None:
    with site(tmp_path) as found, found.reader() as visitor:
        for path in PATHS:
            answer = visitor.client.get(f"{visitor.path}/{path}")
            assert answer.status_code == 200, path
            assert "seasoned " in answer.text, f"{path} says what to do"
