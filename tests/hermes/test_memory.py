"""Memory and skills in Hermes: where they stand in a request, and the line that its user sees."""

from __future__ import annotations

import os
import select
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from seasoned.begin.memory import project_folder
from seasoned.hermes_plugin.request import with_text
from seasoned.store import open_store
from seasoned.store.project import project_key
from tests.hermes.house import House, turn
from tests.scripted_server import serve_script


def keep_memory(house: House) -> None:
    """A note and a skill of the project that Hermes is started in, a note of another one, and a line about the user."""
    with open_store(house.config.store_path) as store:
        here = project_key(store, str(Path.cwd()))
    assert here is not None
    for key, note in ((here, "The depot listens on 5433."), ("github.com/mira/other", "Elsewhere it is 9999.")):
        folder = project_folder(house.ours, key)
        folder.mkdir(parents=True)
        (folder / "MEMORY.md").write_text(note)
    (house.ours / "memory").mkdir()
    (house.ours / "memory" / "USER.md").write_text("Mira likes short answers.")


@pytest.mark.parametrize(
    ("format", "body", "expected"),
    [
        ("openai", {"messages": [{"role": "system", "content": "S"}]}, {"role": "system", "content": "S\n\nM"}),
        ("openai", {"messages": [{"role": "user", "content": "U"}]}, {"role": "system", "content": "M"}),
        (
            "openai",
            {"messages": [{"role": "system", "content": [{"type": "text", "text": "S"}]}]},
            {"role": "system", "content": [{"type": "text", "text": "S"}, {"type": "text", "text": "M"}]},
        ),
    ],
)
def test_the_text_follows_the_system_prompt(format: str, body: dict[str, Any], expected: dict[str, Any]) -> None:
    before = str(body)
    assert with_text(body, format, "M")["messages"][0] == expected
    assert str(body) == before, "what Hermes holds is left alone"


def test_in_anthropics_format_too() -> None:
    blocks = [{"type": "text", "text": "S", "cache_control": {"type": "ephemeral"}}]
    assert with_text({"messages": [], "system": blocks}, "anthropic", "M")["system"] == [
        *blocks,
        {"type": "text", "text": "M"},
    ]
    assert with_text({"messages": [], "system": "S"}, "anthropic", "M")["system"] == "S\n\nM"


@pytest.mark.slow
def test_the_user_sees_the_line_at_the_terminal_of_hermes(tmp_path: Path) -> None:
    pty = pytest.importorskip("pty", reason="there are no terminals to play on this system")
    with serve_script(turn(match="WALNUT", text="One.")) as server:
        house = House(tmp_path, server)
        keep_memory(house)
        program = str(house.python.with_name("hermes"))
        pid, terminal = pty.fork()
        if pid == 0:
            size = {"TERM": "xterm-256color", "COLUMNS": "200", "LINES": "50", "PATH": os.environ["PATH"]}
            os.execve(program, [program, "chat", "-t", "terminal,seasoned"], {**size, **house.environment()})
        try:
            assert _says(terminal, "❯")
            os.write(terminal, b"Be WALNUT.\r")
            assert _says(terminal, "Seasoned showed this session 1 note and what is known about you. Details: hermes")
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            os.close(terminal)


def _says(terminal: int, text: str, seconds: float = 180.0) -> bool:
    """Whether a terminal shows a text in time."""
    seen = b""
    ends = time.monotonic() + seconds
    while text.encode() not in seen and time.monotonic() < ends:
        if select.select([terminal], [], [], 0.2)[0]:
            read = os.read(terminal, 65_536)
            seen += read
            # A terminal answers where its cursor is; Hermes asks that first.
            if b"\x1b[6n" in read:
                os.write(terminal, b"\x1b[1;1R")
    return text.encode() in seen
