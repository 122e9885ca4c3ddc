"""Fetching pages: from real servers on loopback, and from nowhere that is not public."""

from __future__ import annotations

import gzip
import http.server
import json
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

import pytest

from seasoned.errors import CannotDo, SeasonedError, UsageError
from seasoned.runner.toolset.html_text import reduce
from seasoned.runner.toolset.scope import ConfinedFolder, ToolLimits, ToolScope
from seasoned.runner.toolset.web import addresses, fetch, refusal, web_fetch
from tests.each_case import each_case
from tests.runner.toolset.reading import verdict

PAGE = """<!doctype html><html><head><title>Parcel &amp; Post</title><style>x{}</style></head><body>
<!-- hidden --><script>alert("no")</script><h1>Prices</h1><p>Up to   10 kg: <b>5 €</b>.</p>
<ul><li>one</li><li><a href="/two?x=1">two</a></li></ul><pre>a\n  b</pre></body></html>"""


class _Handler(http.server.BaseHTTPRequestHandler):
    hosts: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.hosts.append(self.headers["Host"])
        parts = urlsplit(self.path)
        answer = getattr(self, parts.path.strip("/").replace("-", "_") or "page")
        answer({name: values[0] for name, values in parse_qs(parts.query).items()})

    def _send(self, body: bytes, kind: str = "text/html; charset=utf-8", status: int = 200, **headers: str) -> None:
        self.send_response(status)
        if kind:
            self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def page(self, _: dict[str, str]) -> None:
        self._send(PAGE.encode())

    def data(self, _: dict[str, str]) -> None:
        self._send(b'{"status": "error", "error": "only data"}', "application/json")

    def latin(self, _: dict[str, str]) -> None:
        self._send("<p>Größe</p>".encode("latin-1"), "text/html; charset=iso-8859-1")

    def missing(self, _: dict[str, str]) -> None:
        self._send(b"<p>Not here</p>", status=404)

    def image(self, _: dict[str, str]) -> None:
        self._send(b"\x89PNG\0", "image/png")

    def unnamed(self, _: dict[str, str]) -> None:
        self._send(b"plain words", "")

    def to(self, given: dict[str, str]) -> None:
        self._send(b"", status=302, Location=given["url"])

    def large(self, _: dict[str, str]) -> None:
        self._send(b"x" * 5_000_000, "text/plain")

    def packed(self, _: dict[str, str]) -> None:
        self._send(gzip.compress(b"packed words"), "text/plain", Content_Encoding="gzip")

    def bomb(self, _: dict[str, str]) -> None:
        self._send(gzip.compress(b"0" * 50_000_000), "text/plain", Content_Encoding="gzip")

    def trap(self, _: dict[str, str]) -> None:
        self._send(b"<!--" * 200_000 + b"<p>end</p>")

    def drip(self, _: dict[str, str]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        for _each in range(200):
            self.wfile.write(b"x")
            self.wfile.flush()
            time.sleep(0.1)

    def log_message(self, *_: Any) -> None:
        """Nothing is printed: the tests are quiet."""


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """Clients that leave early are part of these tests."""


def _serve(context: ssl.SSLContext | None = None) -> Iterator[str]:
    server = _Server(("127.0.0.1", 0), _Handler)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    yield f"127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    yield from _serve()


@pytest.fixture(scope="module")
def other() -> Iterator[str]:
    yield from _serve()


@pytest.fixture
def scope(tmp_path: Path, server: str) -> ToolScope:
    limits = ToolLimits(fetch_seconds=2.0, fetch_bytes=1_000_000)
    return ToolScope(folder=ConfinedFolder(tmp_path), limits=limits, allow_private=frozenset({server}))


def test_a_page_comes_as_text_with_its_title_and_links(scope: ToolScope, server: str) -> None:
    answer = web_fetch(scope, f"http://{server}/page")
    assert (answer["status"], answer["title"], answer["error"]) == (200, "Parcel & Post", None)
    assert answer["content"] == (f"# Prices\n\nUp to 10 kg: 5 €.\n\n- one\n\n- two (http://{server}/two?x=1)\n\na\n  b")
    assert verdict("web_fetch", answer, url="x") == "ok"


def test_data_comes_as_it_is_and_is_not_taken_for_the_tools_own_word(scope: ToolScope, server: str) -> None:
    answer = web_fetch(scope, f"http://{server}/data")
    assert json.loads(answer["content"]) == {"status": "error", "error": "only data"}
    assert verdict("web_fetch", answer, url="x") == "ok"


def test_an_error_of_the_server_counts_as_failed_and_keeps_its_page(scope: ToolScope, server: str) -> None:
    answer = web_fetch(scope, f"http://{server}/missing")
    assert (answer["status"], answer["content"]) == (404, "Not here")
    assert answer["error"] == "The server answered 404 Not Found."
    assert verdict("web_fetch", answer, url="x") == "failed"


@pytest.mark.parametrize(("path", "said"), [("latin", "Größe"), ("unnamed", "plain words"), ("packed", "packed words")])
def test_text_is_read_in_its_own_way(path: str, said: str, scope: ToolScope, server: str) -> None:
    assert web_fetch(scope, f"http://{server}/{path}")["content"] == said


def test_what_is_no_text_is_refused(scope: ToolScope, server: str) -> None:
    answer = web_fetch(scope, f"http://{server}/image")
    assert "image/png, not text" in answer["error"]
    assert verdict("web_fetch", answer, url="x") == "failed"


@pytest.mark.parametrize("path", ["large", "bomb"])
def test_what_is_large_is_cut(path: str, scope: ToolScope, server: str) -> None:
    answer = web_fetch(scope, f"http://{server}/{path}")
    assert len(answer["content"]) == scope.limits.output_characters
    assert answer["truncated"] is True


def test_a_page_that_would_keep_a_parser_busy_for_hours_does_not(scope: ToolScope, server: str) -> None:
    start = time.monotonic()
    answer = web_fetch(scope, f"http://{server}/trap")
    assert time.monotonic() - start < 5
    assert answer["content"] == ""


def test_a_server_that_sends_a_byte_now_and_then_is_left(scope: ToolScope, server: str) -> None:
    start = time.monotonic()
    answer = web_fetch(scope, f"http://{server}/drip")
    assert time.monotonic() - start < 4
    assert "in time" in answer["error"]


def test_a_server_that_never_answers_is_left(scope: ToolScope) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place = f"127.0.0.1:{silent.getsockname()[1]}"
        start = time.monotonic()
        with pytest.raises(CannotDo, match="did not answer in time"):
            fetch(f"http://{place}/", limits=scope.limits, allow_private=frozenset({place}))
    assert time.monotonic() - start < 4


def test_redirects_are_followed_and_the_last_address_is_named(scope: ToolScope, server: str) -> None:
    answer = web_fetch(scope, f"http://{server}/to?url=/to%3Furl%3D/unnamed")
    assert answer["url"] == f"http://{server}/unnamed"
    assert answer["content"] == "plain words"


def test_redirects_come_to_an_end(scope: ToolScope, server: str) -> None:
    with pytest.raises(CannotDo, match="more than 5 redirects"):
        url = "/page"
        for _ in range(6):
            url = f"/to?url={url.replace('%', '%25').replace('?', '%3F').replace('=', '%3D')}"
        fetch(f"http://{server}{url}", limits=scope.limits, allow_private=scope.allow_private)


@pytest.mark.parametrize(
    "target",
    [
        "http://{other}/page",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]/",
        "file:///etc/passwd",
        "ftp://a/b",
    ],
)
def test_a_redirect_is_checked_like_the_first_address(target: str, scope: ToolScope, server: str, other: str) -> None:
    before = len(_Handler.hosts)
    answer = web_fetch(scope, f"http://{server}/to?url={target.format(other=other)}")
    assert "only public addresses" in answer["error"] or "not a web address" in answer["error"]
    assert len(_Handler.hosts) == before + 1


def test_a_name_is_resolved_once_and_its_checked_address_is_used(scope: ToolScope, server: str) -> None:
    port = int(server.rpartition(":")[2])
    asked: list[str] = []

    def resolve(host: str, port: int, **_: Any) -> list[Any]:
        asked.append(host)
        address = "127.0.0.1" if len(asked) == 1 else "169.254.169.254"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    place = f"parcel.example:{port}"
    fetched = fetch(f"http://{place}/unnamed", limits=scope.limits, allow_private=frozenset({place}), resolve=resolve)
    assert fetched.body == b"plain words"
    assert asked == ["parcel.example"]
    assert _Handler.hosts[-1] == place


def test_one_private_address_among_several_is_enough_to_refuse() -> None:
    def resolve(host: str, port: int, **_: Any) -> list[Any]:
        return [(socket.AF_INET, 1, 6, "", (address, port)) for address in ("93.184.215.14", "10.0.0.1")]

    with pytest.raises(UsageError, match=r"leads to 10\.0\.0\.1"):
        addresses("parcel.example", 80, seconds=5, resolve=resolve)


def test_a_resolver_that_does_not_answer_is_left() -> None:
    done = threading.Event()
    with pytest.raises(CannotDo, match="was not resolved within"):
        addresses("parcel.example", 80, seconds=0.2, resolve=lambda *_, **__: done.wait(20) and [])
    done.set()


REFUSED_URLS = [
        "http://127.0.0.1/", "http://localhost/", "http://127.1/", "http://0x7f000001/", "http://2130706433/",
        "http://0/", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://10.1.2.3/",
        "http://192.168.1.1/", "http://172.16.0.1/", "http://169.254.169.254/latest/meta-data/", "http://[fe80::1]/",
        "http://[fd00:ec2::254]/", "http://224.0.0.1/", "http://100.64.0.1/", "http://168.63.129.16/",
        "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/", "http://[::]/", "http://255.255.255.255/",
        "file:///etc/passwd", "ftp://example.com/", "gopher://example.com/", "http://user:pw@example.com/", "http://",
        "example.com", "", "http://exa mple.com/", "http://example.com:99999/", "http://[::1", "javascript:alert(1)",
        "http://example.com/\r\nX: y", "data:text/plain,x",
]  # fmt: skip


def test_such_an_address_is_not_fetched(tmp_path: Path) -> None:
    scope = ToolScope(folder=ConfinedFolder(tmp_path))
    answers = {url: web_fetch(scope, url) for url in REFUSED_URLS}
    # "Could not be fetched" would mean that something was sent before the address was refused.
    sent = [url for url, one in answers.items() if not one["error"] or "could not be fetched" in one["error"]]
    assert not sent
    assert not [url for url, one in answers.items() if verdict("web_fetch", one, url=url) != "failed"]


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "93.184.215.14", "2606:2800:220:1:248:1893:25c8:1946", "2002:808:808::1"]
)
def test_public_addresses_may_be_reached(address: str) -> None:
    assert refusal(address) is None


def test_a_certificate_must_fit_the_name(tmp_path: Path, scope: ToolScope) -> None:
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("needs openssl to make a certificate")
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        [
            *(program, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-days", "2", "-keyout", str(key), "-out", str(certificate), "-subj", "/CN=parcel.example"),
            *("-addext", "subjectAltName=DNS:parcel.example"),
        ],
        check=True,
        capture_output=True,
    )
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(certificate, key)
    names: list[str | None] = []
    serving.sni_callback = lambda _, name, __: names.append(name)
    trusting = ssl.create_default_context(cafile=str(certificate))
    running = _serve(serving)
    port = int(next(running).rpartition(":")[2])

    def resolve(host: str, port: int, **_: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    def ask(host: str, context: ssl.SSLContext | None) -> int:
        allowed = frozenset({f"{host}:{port}"})
        url = f"https://{host}:{port}/page"
        return fetch(url, limits=scope.limits, allow_private=allowed, resolve=resolve, context=context).status

    assert ask("parcel.example", trusting) == 200
    assert names == ["parcel.example"]
    with pytest.raises(CannotDo, match="certificate"):
        ask("other.example", trusting)
    with pytest.raises(CannotDo, match="certificate"):
        ask("parcel.example", None)
    next(running, None)


@each_case(
    ("html", "text"),
    [
        ("<p>a<p>b", "a\nb"),
        ("a<br>b", "a\nb"),
        ("<script>x", ""),
        ("<div><div><div>deep</div>", "deep"),
        ("&lt;b&gt; &amp; &#233;", "<b> & é"),
        ("<a href='javascript:x'>y</a>", "y"),
        ("<table><tr><td>1<td>2</table>", "| 1 | 2"),
        ("<img alt='a picture'>", "[a picture]"),
        ("<head><title>t</title><body>b", "b"),
        ("<svg><text>no</text></svg>yes", "yes"),
        ("<![if x]>a<![endif]>", "a"),
    ],
)
def test_html_is_reduced_to_what_one_would_read(html: str, text: str) -> None:
    assert reduce(html, "https://parcel.example/")[1] == text


def test_errors_are_of_the_kind_that_says_what_to_do() -> None:
    with pytest.raises(SeasonedError, match="check its spelling"):
        addresses("no-such-name.invalid", 80, seconds=10)
