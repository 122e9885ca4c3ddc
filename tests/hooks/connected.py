"""A real agent, connected by our own command in a home of its own, with a scripted model, a person, and no network."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

from seasoned.config import Config
from seasoned.example.example import Example
from seasoned.example.library.storage import save
from seasoned.store import open_store
from tests.cli.run import seasoned
from tests.confirm.serving import credentials_for
from tests.example.examples import template
from tests.real_clients import run_alone
from tests.review.scripted import skill
from tests.scripted_server import Line, Step, read_log

MODEL_PORT, REVIEW_PORT = 8099, 8098
WEEK = "error: a week is written like 2026-W09"
PROGRAM = f"""#!/bin/sh
case "$4" in
2026-W*) echo "3 parcels were late" ;;
*) echo "{WEEK}" >&2; exit 2 ;;
esac
"""
# The same in every folder, so that only the history of a folder decides what is shown there.
MAKEFILE = "test lint verify:\n\t@echo 3 passed\n"
KEEPS = skill(
    "parcel-reports",
    "# Reports of parcels\n\nGive the week in its ISO form: 2026-W09.",
    description="How reports of parcels are made.",
    scope="everywhere",
)
WAIT = """\
n=0
while [ $n -lt 900 ]; do
  grep -q 'review of' "$HOME/.seasoned/logs/hooks.log" 2>/dev/null && break
  n=$((n+1)); sleep 0.1
done
"""
"""Until the review that was begun in the background has ended; the servers live as long as this."""
# Until the background process has learned from the session that ended: as long as a person takes to begin the next one.
LEARNED = [
    "sh",
    "-c",
    'n=0; while ls "$HOME"/.seasoned/learn/*.end >/dev/null 2>&1 && [ $n -lt 400 ]; do n=$((n+1)); sleep 0.05; done',
]


def new_folder(home: Path, name: str) -> Path:
    """A folder to work in, with a program and a Makefile."""
    made = home / name
    made.mkdir()
    (made / "wp").write_text(PROGRAM)
    (made / "wp").chmod(0o755)
    (made / "Makefile").write_text(MAKEFILE)
    return made


class Connected:
    """One user's home: an agent, its history, and Seasoned."""

    agent: str
    variables: ClassVar[dict[str, str]] = {}

    def __init__(self, folder: Path) -> None:
        self.home = folder
        self.work = self.new_folder("work")
        self.config = Config(home=folder / ".seasoned")
        self._runs = 0

    def new_folder(self, name: str) -> Path:
        return new_folder(self.home, name)

    @staticmethod
    def tells() -> list[object]:
        """The command by which the agent tells its sessions to other programs; empty where it does not."""
        return []

    def configure(self, **settings: object) -> None:
        """Write Seasoned's own settings, with a service where a person decides."""
        service = Config(home=self.home / "service")
        tokens = credentials_for(service)
        (self.home / "tokens.json").write_text(json.dumps(tokens))
        (self.config.home / "secrets").mkdir(parents=True, mode=0o700, exist_ok=True)
        (self.config.home / "secrets" / "confirm_token").write_text(tokens["agent"])
        lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
        lines.append('confirm_url = "http://127.0.0.1:7327"')
        (self.config.home / "config.toml").write_text("\n".join(lines) + "\n")

    def seasoned(self, *arguments: str) -> str:
        """A command of ours, as the user of this home runs it."""
        own = {"HOME": str(self.home), "SEASONED_HOME": str(self.config.home)}
        return seasoned(*arguments, **own, **self.variables).stdout

    def teach(self, *examples: Example) -> None:
        """Have a template in the library."""
        with open_store(self.config.store_path) as store:
            save(store, template("parcels", *examples))

    def run(
        self, script: list[Step], *commands: object, review: list[Step] | None = None, agreed: str | None = None
    ) -> tuple[subprocess.CompletedProcess[str], list[Line], list[Line]]:
        """Run the agent, once or more; what it printed, what its model was asked, and what the reviewing model was.

        With `review`, the script of that model, there is also a person who decides, and the review is waited for. With
        `agreed` there is a person too, who agrees to what holds this text.
        """
        self._runs += 1
        servers: list[list[object]] = []
        logs = []
        for port, steps in ((MODEL_PORT, script), *([] if review is None else [(REVIEW_PORT, review)])):
            file, log = self.home / f"script-{self._runs}-{port}.json", self.home / f"log-{self._runs}-{port}.jsonl"
            file.write_text(json.dumps(steps))
            logs.append(log)
            servers.append([sys.executable, "-m", "tests.scripted_server", file, log, "--port", port])
        if review is not None or agreed is not None:
            servers.append([sys.executable, "-m", "tests.hooks.person", self.home, agreed or ""])
        text = "\n".join(shlex.join(map(str, command)) for command in commands if isinstance(command, list))
        ran = run_alone(
            ["sh", "-c", text + "\n" + ("" if review is None else WAIT)],
            env={"HOME": str(self.home), **self.variables},
            cwd=self.work,
            timeout=240,
            before=servers,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return (
            ran,
            [line for line in read_log(logs[0]) if line["method"] == "POST"],
            [one for log in logs[1:] for one in read_log(log)],
        )

    def hook_log(self) -> str:
        path = self.config.home / "logs" / "hooks.log"
        return path.read_text() if path.exists() else ""


def texts(line: Line) -> list[str]:
    """Every text in a request, each once, in order."""
    found: list[str] = []

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            for each in value.values():
                walk(each)
        elif isinstance(value, list):
            for each in value:
                walk(each)
        elif isinstance(value, str):
            found.append(value)

    walk({key: value for key, value in line["body"].items() if key in ("messages", "input", "system")})
    return found


def shown(line: Line) -> list[str]:
    """All that Seasoned shows in a request: the block at its start, and each line at a prompt or call."""
    return [part for text in texts(line) for part in re.findall(r"\[seasoned[]:][^\n]*", text)]


def block_of(line: Line) -> str | None:
    """The block in a request, from its mark to its end; None where there is none. It is never there twice."""
    found = [text for text in texts(line) if "[seasoned:warm v1" in text]
    assert sum(text.count("[seasoned:warm v1") for text in found) <= 1
    if not found:
        return None
    start = found[0].index("[seasoned:warm v1")
    return found[0][start : found[0].index("[seasoned:end]", start)]
