"""The server as a team sets it up: by the compose file, in two processes, with its own certificate, with retention."""

from __future__ import annotations

import os
import re
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest
import yaml

from seasoned.app import team
from seasoned.cli.serve import serve
from seasoned.confirm.policy import Listen
from seasoned.errors import CannotDo, UsageError
from seasoned.web.app import create_web
from tests.confirm.keys import WORDS
from tests.confirm.serving import credentials_for, serving
from tests.gateway.certificate import signed_by_ca
from tests.team.homes import SHOP, Home, team_server_at
from tests.team.test_privacy import wire_to
from tests.web.pages import Visitor

HOST = "seasoned.example.com"
COMPOSE = Path(__file__).parents[2] / "docs" / "how-to" / "team" / "compose.yaml"
PROGRAMS = Path(sys.executable).parent
_START_SECONDS = 60.0


def _services() -> dict[str, Any]:
    """The services of the compose file, with the variables that the guide has one set."""
    text = re.sub(r"\$\{SEASONED_HOST[^}]*\}", HOST, COMPOSE.read_text("utf-8"))
    text = re.sub(r"\$\{POSTGRES_PASSWORD[^}]*\}", "secret", text)
    assert "$" not in text
    found: dict[str, Any] = yaml.safe_load(text)["services"]
    return found


def _service() -> tuple[list[str], dict[str, str]]:
    """The command and the environment of the server in the compose file, without the installation."""
    found = _services()["seasoned"]
    shell, flag, script = shlex.split(found["command"])
    installs, _, command = script.partition(" exec ")
    assert (shell, flag) == ("sh", "-c") and installs.startswith("pip install -q 'seasoned[server,postgres]'")
    return shlex.split(command), dict(found["environment"])


@contextmanager
def _process(home: Path, url: str) -> Iterator[str]:
    """The server, as the compose file starts it, on a free port."""
    command, environment = _service()
    given = {"SEASONED_HOME": str(home), "SEASONED_DATABASE_URL": url}
    assert set(given) == set(environment)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [PROGRAMS / command[0], *command[1:], "--port", str(port)],
        env={**os.environ, **given},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + _START_SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert time.monotonic() < until and process.poll() is None, "the server did not start"
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(_START_SECONDS)


@pytest.mark.slow
def test_two_processes_behind_one_address_need_nothing_of_each_other(tmp_path: Path, postgres_url: str) -> None:
    first, second = Home(tmp_path / "a", SHOP), Home(tmp_path / "b", SHOP)
    first.learn(3)
    config = msgspec.structs.replace(first.config, home=tmp_path / "one", database_url=postgres_url)
    tokens = credentials_for(config)
    with (
        _process(tmp_path / "one", postgres_url) as one,
        _process(tmp_path / "two", postgres_url) as two,
        # Each connection goes to the other process.
        wire_to(one, two) as wire,
    ):
        for home, person in ((first, "alice"), (second, "bob"), (first, ""), (second, "")):
            if person:
                code, _ = team.invite(config, person, admin="root", ask=lambda _: WORDS)
                team.join(home.config, wire.url, code, ())
            home.sync()
        assert second.sheet() == first.sheet() != []
        assert (team.status(first.config).problem, team.push(first.config).sent) == (None, 0)
        with Visitor(wire.url) as visitor:
            # As the proxy sends it on: by the name that people open. Under another name no page answers.
            visitor.client.headers["connection"] = "close"
            assert "not known as" in visitor.client.get("/login", headers={"host": "evil.example.com"}).text
            visitor.client.headers["host"] = HOST
            entered = visitor.log_in(tokens["alice"])
            cookie, *limits = entered.headers["set-cookie"].split("; ")
            assert entered.status_code == 303 and "Secure" in limits
            visitor.client.headers["cookie"] = cookie  # the client keeps it for https alone
            pages = [visitor.client.get(f"{visitor.path}/team") for _ in range(4)]
            assert [SHOP in page.text for page in pages] == [True] * 4
            # Who logs out at one is logged out at the other.
            check = visitor.check()
            assert visitor.client.post(f"{visitor.path}/logout", data={"check": check}).status_code == 303
            gone = [visitor.client.get(f"{visitor.path}/team").headers.get("location", "") for _ in range(4)]
            assert all(where.startswith("/login") for where in gone)
        assert min(wire.connections) > 5


def test_the_compose_file_names_what_the_server_reads() -> None:
    services = _services()
    database, server, proxy = (services[name] for name in ("database", "seasoned", "proxy"))
    command, environment = _service()
    address = urlsplit(environment["SEASONED_DATABASE_URL"])
    made = database["environment"]
    assert (address.hostname, address.username, address.path) == ("database", made["POSTGRES_USER"], "/seasoned")
    assert (address.password, made["POSTGRES_DB"]) == (made["POSTGRES_PASSWORD"], "seasoned")
    assert f"home:{environment['SEASONED_HOME']}" in server["volumes"]
    # The proxy, the health check and the server agree on the port; people reach the proxy alone.
    port = Listen().port
    assert proxy["command"].endswith(f"--from {HOST} --to seasoned:{port}") and "ports" not in {*database, *server}
    assert f"127.0.0.1:{port}/health" in server["healthcheck"]["test"][-1] and "--port" not in command
    assert command[command.index("--public-url") + 1] == f"https://{HOST}"
    assert server["depends_on"] == {"database": {"condition": "service_healthy"}}
    known = {option for one in serve.params for option in (*one.opts, *one.secondary_opts)}
    assert {one for one in command if one.startswith("--")} <= known


def test_a_machine_joins_a_server_whose_certificate_its_own_ca_signed(tmp_path: Path, postgres_url: str) -> None:
    home = Home(tmp_path / "a", SHOP)
    home.learn(2)
    ca_file, cert_file, key_file = signed_by_ca(tmp_path)
    listen = Listen(port=0, tls_certificate=cert_file, tls_key=key_file)
    with serving(tmp_path / "server", database_url=postgres_url, listen=listen, create=create_web) as server:
        assert server.url.startswith("https://")
        code, _ = team.invite(server.config, "alice", admin="root", ask=lambda _: WORDS)
        with pytest.raises(CannotDo, match="`ca_file` under"):
            team.join(home.config, server.url, code, ())
        for file, problem in ((tmp_path / "missing.pem", "cannot be read"), (key_file, "cannot be read")):
            home.config = _trusting(home, file)
            with pytest.raises(UsageError, match=problem):
                team.join(home.config, server.url, code, ())
        home.config = _trusting(home, ca_file)
        team.join(home.config, server.url, code, ())
        home.sync()
        assert sum(row["records"] for row in team.status(home.config).stored or ()) == 6


def _trusting(home: Home, file: Path) -> Any:
    return msgspec.structs.replace(home.config, team=msgspec.structs.replace(home.config.team, ca_file=str(file)))


def test_sessions_that_ended_too_long_ago_are_withdrawn_everywhere(tmp_path: Path, postgres_url: str) -> None:
    first, second = Home(tmp_path / "a", SHOP), Home(tmp_path / "b", SHOP)
    first.learn(3)
    with team_server_at(tmp_path, postgres_url) as server:
        assert server.service is not None
        for home, person in ((first, "alice"), (second, "bob")):
            home.join(server, person)
            home.sync()
        assert second.sheet() != []
        # The sessions are of the 2nd to the 5th of March; what ended before the noon of the 3rd goes.
        settings = server.service.config.team
        days = (time.time() - 1_772_539_200) / 86_400
        server.service.config = msgspec.structs.replace(
            server.service.config, team=msgspec.structs.replace(settings, keep_days=days)
        )
        first.learn(1)
        first.sync()
        stored = {row["kind"]: row["records"] for row in team.status(first.config).stored or ()}
        assert stored == {"calls": 2, "evidence": 2, "session": 2}
        assert team.pull(second.config).withdrawn == 2
        assert team.push(first.config).sent == 0
