"""A home for the real Hermes in a test: its folder and ours, a template in our store, and a scripted model."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from seasoned.config import Config
from seasoned.connect.hermes import with_plugin
from seasoned.example.example import Template
from seasoned.example.library.storage import save
from seasoned.marks import BLOCK_OPENS
from seasoned.store import open_store
from tests.example.examples import example, keep_session, template
from tests.hermes.installed import hermes_with_seasoned
from tests.real_clients import run
from tests.scripted_server import ScriptedServer

PLAY = Path(__file__).parent / "play.py"
TURN = '"tools": ['
"""In every request of a conversation; titles and the like are asked for without tools."""
RAN = '{"output": "3 passed", "exit_code": 0, "error": null}'


def shown() -> Template:
    """Two calls that worked, of tools that Hermes has, and one of a tool that it has not."""
    return template(
        "house",
        example("terminal", arguments={"command": "pytest -q"}, result=RAN, intent="Run the tests."),
        example("search_files", arguments={"pattern": "def main", "path": "src/x"}),
        example("deploy_rocket", arguments={"to": "moon"}, intent="Fly."),
    )


def turn(**step: Any) -> dict[str, Any]:
    """A step of the script that only a request of a conversation takes."""
    return {"match": TURN, **step}


def terminal(command: str, call_id: str) -> dict[str, Any]:
    return {"tool": "terminal", "arguments": {"command": command}, "id": call_id}


class House:
    """One user's folders."""

    def __init__(self, folder: Path, server: ScriptedServer, *, enabled: bool = True) -> None:
        self.folder = folder
        self.server = server
        self.hermes = folder / "hermes"
        self.ours = folder / "seasoned"
        self.hermes.mkdir(parents=True)
        self.ours.mkdir(mode=0o700)
        self.config = Config(home=self.ours, hermes_home=self.hermes)
        self.python = hermes_with_seasoned()
        self.write_config(enabled=enabled)

    def write_config(self, *, enabled: bool) -> None:
        model = f"  provider: custom\n  base_url: {self.server.url}/v1\n  api_key: dummy\n  context_length: 200000\n"
        path = self.hermes / "config.yaml"
        path.write_text(f"model:\n  default: scripted\n{model}")
        if enabled:
            path.write_bytes(with_plugin(path.read_bytes(), path))

    def add_settings(self, more: str) -> None:
        with (self.hermes / "config.yaml").open("a") as file:
            file.write(more)

    def keep_template(self) -> None:
        with open_store(self.config.store_path) as store:
            save(store, shown())
            # Hermes records the folder that it is started in, and a session there sees what is of its project.
            keep_session(store, "codex:a", folder=str(Path.cwd()))

    def environment(self, **more: str) -> dict[str, str]:
        homes = {"HERMES_HOME": str(self.hermes), "SEASONED_HOME": str(self.ours), "HOME": str(self.folder)}
        return {**homes, "HERMES_YOLO_MODE": "1", **more}

    def command(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Hermes' own command line."""
        program = self.python.with_name("hermes")
        return run(program, *arguments, timeout=120, **self.environment(**environment))

    def play(self, *talks: dict[str, Any], code: str = "", **environment: str) -> list[str]:
        """Conversations in one process of Hermes; the ids of their sessions."""
        plan = json.dumps({"base_url": f"{self.server.url}/v1", "talks": talks})
        run_it = (
            f"import sys, runpy; sys.argv[1:] = [{plan!r}]\n{code}\nrunpy.run_path({str(PLAY)!r}, run_name='__main__')"
        )
        done = run(self.python, "-c", run_it, timeout=180, **self.environment(**environment))
        said = [line for line in done.stderr.splitlines() if line.startswith("sessions ")]
        assert done.returncode == 0 and said, done.stderr[-3000:]
        sys.stderr.write(done.stderr)
        return list(json.loads(said[-1].removeprefix("sessions ")))

    def requests(self, holding: str = "") -> list[dict[str, Any]]:
        """Bodies of the requests of conversations, in order."""
        found = [line["body"] for line in self.server.requests if TURN in json.dumps(line["body"])]
        return [body for body in found if holding in json.dumps(body, ensure_ascii=False)]

    def rows(self, select: str) -> list[tuple[Any, ...]]:
        """From our store."""
        with closing(sqlite3.connect(self.config.store_path)) as store:
            return store.execute(select).fetchall()

    def words_in_hermes(self) -> str:
        """Everything that Hermes' own database holds, as one text."""
        with closing(sqlite3.connect(f"file:{self.hermes}/state.db?mode=ro", uri=True)) as database:
            names = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            ours = [name for name in names if "fts" not in name]
            return "\n".join(str(row) for name in ours for row in database.execute(f'SELECT * FROM "{name}"'))


def block_of(body: dict[str, Any]) -> str:
    """The block in a request, as it was sent; empty where there is none."""
    messages = body["messages"]
    opens = [at for at, one in enumerate(messages) if str(one.get("content")).startswith(BLOCK_OPENS)]
    ends = [at for at, one in enumerate(messages) if "[seasoned:end]" in str(one.get("content"))]
    if not opens:
        return ""
    assert [*range(opens[0])] == [at for at, one in enumerate(messages) if one["role"] == "system"]
    # The system prompt may hold memory, which ends in the same way.
    end = next(at for at in ends if at >= opens[0])
    return json.dumps(messages[opens[0] : end + 1])
