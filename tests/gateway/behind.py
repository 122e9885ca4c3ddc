"""A real client behind a real gateway, as a user runs both, with a scripted model upstream and no other network."""

from __future__ import annotations

import json
import shlex
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

from seasoned.config import Config
from seasoned.example.example import Example
from seasoned.example.library.storage import save
from seasoned.history.reader.seasoned_db import read
from seasoned.session import Session
from seasoned.store import open_store
from tests.example.examples import template
from tests.real_clients import run, run_alone
from tests.scripted_server import Line, Step, read_log

SEASONED = Path(sys.executable).parent / "seasoned"
UPSTREAM_PORT, GATEWAY_PORT = 8099, 7328
URL = f"http://127.0.0.1:{GATEWAY_PORT}"
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
"""A picture of one pixel."""


class Behind:
    """One home of Seasoned and one of the client; each run starts the gateway anew, as a machine does after a boot."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.work = folder / "work"
        self.work.mkdir()
        self.config = Config(home=folder / "seasoned")
        self.heard: list[Line] = []
        """What the upstream was asked, in all runs."""
        self._runs = 0

    def teach(self, *examples: Example) -> None:
        """Have a template in the library, and its name in the settings, so that conversations begin warm."""
        self.config.home.mkdir(parents=True, exist_ok=True)
        (self.config.home / "config.toml").write_text('[warm]\ntemplate = "taught"\n')
        with open_store(self.config.store_path) as store:
            save(store, template("taught", *examples))

    def run(
        self, script: list[Step], *commands: list[object], seconds: float = 60, **env: str
    ) -> subprocess.CompletedProcess[str]:
        """Run the client, once or more, until it ends; the gateway then ends too, and has written everything down."""
        self._runs += 1
        steps, log = self.folder / f"script-{self._runs}.json", self.folder / f"log-{self._runs}.jsonl"
        steps.write_text(json.dumps(script))
        upstream = [sys.executable, "-m", "tests.scripted_server", steps, log, "--port", UPSTREAM_PORT]
        gateway = [SEASONED, "gateway", "--port", GATEWAY_PORT, "--upstream", f"http://127.0.0.1:{UPSTREAM_PORT}"]
        ran = run_alone(
            ["sh", "-c", "\n".join(shlex.join(map(str, command)) for command in commands)],
            env={"HOME": str(self.folder), "SEASONED_HOME": str(self.config.home), **env},
            cwd=self.work,
            timeout=seconds,
            before=[upstream, gateway],
        )
        self.heard += read_log(log)
        return ran

    def scan(self, **env: str) -> None:
        """Read the client's own files, as `seasoned scan` does."""
        done = run(SEASONED, "scan", HOME=str(self.folder), SEASONED_HOME=str(self.config.home), **env)
        assert done.returncode == 0, done.stderr

    def asked(self) -> list[Line]:
        """The requests to a model among what the upstream heard."""
        return [line for line in self.heard if line["method"] == "POST"]

    def sessions(self) -> dict[str, Session]:
        """What was recorded."""
        return {str(session.ref): session for session in read(self.config.store_path)}

    def rows(self, query: str) -> list[dict[str, Any]]:
        with sqlite3.connect(self.config.store_path) as connection:
            connection.row_factory = sqlite3.Row
            found = [dict(row) for row in connection.execute(query)]
        connection.close()
        return found

    def accounted(self) -> list[dict[str, Any]]:
        """Every request that took tokens, in order."""
        return self.rows("SELECT * FROM gateway_request ORDER BY at, id")

    def verdicts(self) -> list[tuple[str, str]]:
        """Every recorded call with its verdict, in order."""
        return [(row["tool"], row["verdict"]) for row in self.rows("SELECT tool, verdict FROM call ORDER BY id")]

    def block(self) -> str:
        """The warm block of the only conversation that has one, without its brackets."""
        (row,) = self.rows("SELECT bytes FROM warm_block")
        return bytes(row["bytes"]).decode().strip()[1:-1]


def said(session: Session) -> list[tuple[str, str]]:
    """Who said what, tools aside."""
    return [(one.role, one.text) for one in session.messages if one.role != "tool" and one.text]


def check_accounts(place: Behind) -> None:
    """Each answer that the upstream gave is accounted for once, with the upstream's own figures."""
    told = [line["usage"] for line in place.asked() if line["usage"] is not None and line["sent"]]
    kept = [json.loads(row["raw"]) for row in place.accounted()]
    assert Counter(map(_figures, kept)) == Counter(map(_figures, told))
    assert all(row["ended"] == "complete" for row in place.accounted())
    assert all(row["is_recorded"] for row in place.accounted() if row["purpose"] == "turn")


def _figures(usage: dict[str, Any]) -> bytes:
    return msgspec.json.encode(usage, order="deterministic")


def check_warm(place: Behind, *, warm: list[bool], field: str, at: int) -> None:
    """The block stands in these requests, byte for byte the same, and in this place of the list."""
    block = place.block()
    count = len(json.loads(f"[{block}]"))
    found = [line["text"].count(block) for line in place.asked()]
    assert found == [int(one) for one in warm]
    for line, is_warm in zip(place.asked(), warm, strict=True):
        if is_warm:
            assert line["body"][field][at : at + count] == json.loads(f"[{block}]")


def log_of_gateway(place: Behind) -> str:
    return (place.work / "server-1.log").read_text()
