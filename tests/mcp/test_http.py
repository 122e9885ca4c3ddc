"""The server over HTTP: for whoever shows the token, by its own name, and for no web page."""

from __future__ import annotations

import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="the MCP library is not installed")

from seasoned.errors import CannotDo, UsageError
from seasoned.mcp_server.http import bind, names_of, split_address, token_of
from tests.mcp.clients import HttpServer, http_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    with http_server(tmp_path_factory.mktemp("home")) as found:
        yield found


@pytest.mark.parametrize(
    ("headers", "status", "said"),
    [
        ({}, 200, "warm_session"),
        ({"Authorization": ""}, 401, "Missing or wrong token"),
        ({"Authorization": "Bearer wrong"}, 401, "Missing or wrong token"),
        ({"Host": "evil.example"}, 421, "Unknown host name"),
        ({"Host": "127.0.0.1.evil.example:80"}, 421, "Unknown host name"),
        ({"Origin": "https://evil.example"}, 403, "Web pages"),
        ({"Origin": "http://localhost:9"}, 403, "Web pages"),
    ],
)
def test_only_who_shows_the_token_and_comes_from_no_page_is_answered(
    server: HttpServer, headers: dict[str, str], status: int, said: str
) -> None:
    encoded = {name: value.encode() for name, value in headers.items()}
    reply = server.post(**encoded)
    assert (reply.status_code, said in reply.text) == (status, True)
    assert ("www-authenticate" in reply.headers) == (status == 401)


def test_a_body_of_any_size_is_not_read(server: HttpServer) -> None:
    import httpx2

    with httpx2.Client(trust_env=False, timeout=30) as client:
        headers = {**server.headers, "Content-Type": "application/json"}
        reply = client.post(server.url, content=b" " * 2_000_000, headers=headers)
    assert reply.status_code == 413


def test_the_token_is_made_once_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    token, where = token_of(tmp_path)
    assert token_of(tmp_path) == (token, where)
    assert len(token) >= 40
    assert stat.S_IMODE(Path(where).stat().st_mode) == 0o600
    assert stat.S_IMODE(Path(where).parent.stat().st_mode) == 0o700


def test_a_token_that_was_never_written_is_said_and_not_taken_for_one(tmp_path: Path) -> None:
    (tmp_path / "secrets").mkdir(mode=0o700)
    (tmp_path / "secrets" / "mcp_token").touch(mode=0o600)
    with pytest.raises(CannotDo, match="is empty"):
        token_of(tmp_path)


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_other_machines_are_kept_out_unless_that_is_asked_for(host: str) -> None:
    with pytest.raises(UsageError, match="--insecure-listen"):
        bind(host, 0)
    with bind(host, 0, allow_open=True) as listener:
        assert listener.getsockname()[1] > 0


def test_a_port_that_is_taken_is_said_in_a_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(CannotDo, match="Use another port"):
        bind("127.0.0.1", taken.getsockname()[1])


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("127.0.0.1:7331", ("127.0.0.1", 7331)),
        ("7331", ("127.0.0.1", 7331)),
        (":0", ("127.0.0.1", 0)),
        ("[::1]:80", ("::1", 80)),
        ("localhost:80", ("localhost", 80)),
    ],
)
def test_an_address_is_a_host_and_a_port(written: str, meant: tuple[str, int]) -> None:
    assert split_address(written) == meant
    assert f"{meant[0]}:{meant[1]}" in names_of(*meant) or meant[0] == "::1"


@pytest.mark.parametrize("written", ["", "localhost", "127.0.0.1:", "a:99999", "a:-1"])
def test_what_is_no_address_is_refused(written: str) -> None:
    with pytest.raises(UsageError, match="HOST:PORT"):
        split_address(written)
