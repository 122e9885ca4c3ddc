"""What leaves a machine, read off the wire and out of the database; and what each role may call."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import psycopg
import pytest

from seasoned.app import team
from seasoned.config import secret
from tests.team.homes import SHOP, Home, invite, team_server_at
from tests.web.pages import Visitor

KEY = "sk-ant-api03-" + "Zk3q9X_" * 13
WORDS = "The unicorn acquisition closes on Friday"
CONTENT = "MOONHARVEST = 'a line of a file that an agent wrote'"
RESULT = "customer list, not for others: Heliotrope Quince"
ELSEWHERE = "/home/quillon-harrow/notes"


class Wire:
    """A proxy that keeps what the machine sends; of several servers each connection goes to the next."""

    def __init__(self, *urls: str) -> None:
        self._targets = [(parts.hostname or "", parts.port or 0) for parts in map(urlsplit, urls)]
        self.connections = [0] * len(urls)
        self.sent = bytearray()
        self._open: list[socket.socket] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def run(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            at = sum(self.connections) % len(self._targets)
            self.connections[at] += 1
            server = socket.create_connection(self._targets[at])
            self._open += [client, server]
            pumps = [
                threading.Thread(target=self._pump, args=(client, server, True)),
                threading.Thread(target=self._pump, args=(server, client, False)),
            ]
            for one in pumps:
                one.start()

    def _pump(self, source: socket.socket, target: socket.socket, keeps: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if keeps:
                    self.sent += data
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        # Wakes the thread that waits for a connection.
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for one in self._open:
            one.close()


@contextmanager
def wire_to(*urls: str) -> Iterator[Wire]:
    wire = Wire(*urls)
    thread = threading.Thread(target=wire.run)
    thread.start()
    try:
        yield wire
    finally:
        wire.close()
        thread.join(10)


def _everything_in(url: str) -> str:
    """Every row of every table, as text."""
    with psycopg.connect(url) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()").fetchall()
        found = []
        for (name,) in tables:
            found += [row[0] for row in connection.execute(f"SELECT t::text FROM {name} AS t".encode()).fetchall()]
    return "\n".join(found)


def _planted(home: Home) -> None:
    for _ in range(2):
        home.session(
            (f"curl -H 'x-api-key: {KEY}' https://api.example.org/v1", None),
            (f"cat {ELSEWHERE}/todo.txt", RESULT),
            (f"cat > notes.py <<'EOF'\n{CONTENT}\n" + "x = 1\n" * 200 + "EOF", None),
            ("make test", None),
            prompt=f"{WORDS}. My key is {KEY}.",
        )
    home.scan()


@pytest.mark.parametrize("says_words", [False, True])
def test_neither_the_wire_nor_the_database_has_secrets_or_conversations(
    tmp_path: Path, postgres_url: str, says_words: bool
) -> None:
    home = Home(tmp_path / "a", SHOP)
    settings = msgspec.structs.replace(home.config.team, conversations=says_words)
    home.config = msgspec.structs.replace(home.config, team=settings)
    _planted(home)
    with team_server_at(tmp_path, postgres_url) as server, wire_to(server.url) as wire:
        code, _ = invite(server, "mira")
        team.join(home.config, wire.url, code, ())
        home.sync()
        assert team.status(home.config).problem is None
        stored = _everything_in(postgres_url)
    # The token is in the headers, as it must be; nothing else of the machine is.
    token = secret("team_token", home.config.home)
    sent = wire.sent.decode("utf-8", "replace").replace(str(token), "")
    preview = team.preview(home.config).file.read_text()
    assert "make test" in sent and "make test" in stored and "[redacted:" in stored
    for place in (sent, stored, preview):
        never = [KEY, KEY[20:60], "quillon-harrow", str(tmp_path), home.config.home.name]
        assert [one for one in never if one in place] == []
    said = [WORDS, RESULT]
    assert all((one in sent, one in stored) == (says_words, says_words) for one in said)
    assert (CONTENT in sent, CONTENT in stored) == (says_words, says_words)


# For each call: the answer to no token, an agent that never joined, an approver, an admin, a member, one that left.
CALLS = {
    ("POST", "/team/push", '{"records": []}'): (401, 403, 403, 403, 200, 401),
    ("GET", f"/team/pull?project={SHOP}", ""): (401, 403, 403, 403, 200, 401),
    ("GET", "/team/status", ""): (401, 403, 403, 403, 200, 401),
    ("GET", "/team/export", ""): (401, 403, 403, 403, 200, 401),
    ("GET", "/team/projects", ""): (401, 403, 403, 403, 200, 401),
    ("GET", f"/team/lessons?project={SHOP}", ""): (401, 403, 403, 403, 200, 401),
    ("GET", "/team/machines", ""): (401, 403, 403, 200, 403, 401),
    ("POST", "/team/machines/nothing/remove", "{}"): (401, 403, 403, 404, 403, 401),
    ("POST", "/team/join", '{"code": "join_guessed"}'): (403, 403, 403, 403, 403, 403),
    ("GET", "/audit", ""): (401, 403, 200, 200, 403, 401),
    ("POST", "/team/leave", '{"withdraw": true}'): (401, 403, 403, 403, 200, 401),
}


def test_each_role_may_call_what_it_needs_and_sees_no_names(tmp_path: Path, postgres_url: str) -> None:
    first, second, left = (Home(tmp_path / name, SHOP) for name in "abc")
    first.learn(3)
    with team_server_at(tmp_path, postgres_url) as server:
        for home, person in ((first, "alice@acme"), (second, "bob@acme"), (left, "eve@acme")):
            home.join(server, person)
            home.sync()
        gone = secret("team_token", left.config.home)
        team.leave(left.config, withdraw=False)
        member = secret("team_token", second.config.home)
        tokens = (None, server.tokens["agent"], server.tokens["alice"], server.tokens["root"], member, gone)
        answers: dict[str, str] = {}
        with server.client() as client:
            for (method, path, body), expected in CALLS.items():
                found = []
                for token in tokens:
                    headers = {"Authorization": f"Bearer {token}"} if token else {}
                    if body:
                        headers["content-type"] = "application/json"
                    reply = client.request(method, path, content=body or None, headers=headers)
                    found.append(reply.status_code)
                    if token == member:
                        answers[path] = reply.text
                    if path == "/team/machines" and reply.status_code == 200:
                        # An admin sees machines and volumes, not projects or words.
                        assert SHOP not in reply.text and "make" not in reply.text and "alice@acme" in reply.text
                assert tuple(found) == expected, path
        # Members see lessons and numbers, and no one's name.
        assert all("make test" in answers[f"/team/{name}?project={SHOP}"] for name in ("pull", "lessons"))
        assert '"people":1' in answers["/team/projects"]
        assert not [path for path, text in answers.items() if "alice" in text or "eve@" in text]


def test_the_page_shows_numbers_and_lessons_and_machines_to_an_admin_alone(tmp_path: Path, postgres_url: str) -> None:
    home = Home(tmp_path / "a", SHOP)
    home.learn(3)
    with team_server_at(tmp_path, postgres_url) as server:
        home.join(server, "alice@acme")
        home.sync()
        for name, sees_machines in (("alice", False), ("root", True)):
            with Visitor(server.url) as visitor:
                visitor.log_in(server.tokens[name])
                overview = visitor.client.get(f"{visitor.path}/team").text
                lessons = visitor.client.get(f"{visitor.path}/team/project", params={"key": SHOP}).text
                missing = visitor.client.get(f"{visitor.path}/team/project", params={"key": "example.org/no/such"})
            assert SHOP in overview and ("alice@acme" in overview) is sees_machines
            assert "make test" in lessons and "alice@acme" not in lessons
            assert missing.status_code == 404


def test_a_member_who_wants_to_be_seen_is(tmp_path: Path, postgres_url: str) -> None:
    first, second = Home(tmp_path / "a", SHOP), Home(tmp_path / "b", SHOP)
    first.config = msgspec.structs.replace(first.config, team=msgspec.structs.replace(first.config.team, name="Alice"))
    first.learn(1)
    with team_server_at(tmp_path, postgres_url) as server:
        for home in (first, second):
            home.join(server, home.folder.name)
            home.sync()
        headers = {"Authorization": f"Bearer {secret('team_token', second.config.home)}"}
        with server.client() as client:
            found = client.get(f"/team/pull?project={SHOP}", headers=headers).json()["records"]
    assert {one["name"] for one in found} == {"Alice"}


def test_what_a_changed_machine_pushes_is_refused(tmp_path: Path, postgres_url: str) -> None:
    home = Home(tmp_path / "a", SHOP)
    home.learn(1)
    records = [
        {"project": "/home/x", "kind": "session", "key": "0" * 16, "document": {}},
        {"project": SHOP, "kind": "wishes", "key": "0" * 16, "document": {}},
        {"project": SHOP, "kind": "session", "key": "../../etc", "document": {}},
        {"project": SHOP, "kind": "session", "key": "0" * 16, "document": {"calls": "many"}},
        {"project": SHOP, "kind": "calls", "key": "0" * 16, "document": {"calls": [], "left_out": 2, "x": KEY}},
    ]
    with team_server_at(tmp_path, postgres_url) as server:
        home.join(server, "alice")
        headers = {"Authorization": f"Bearer {secret('team_token', home.config.home)}"}
        with server.client() as client:
            answer = client.post("/team/push", json={"records": records}, headers=headers).json()
            too_many = client.post("/team/push", json={"records": records[:1] * 501}, headers=headers)
        assert KEY not in _everything_in(postgres_url)
    assert answer["changed"] == 0 and sorted(answer["refused"]) == ["0", "1", "2", "3", "4"]
    assert too_many.status_code == 400
