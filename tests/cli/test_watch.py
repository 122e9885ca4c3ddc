"""`seasoned watch` says what running sessions do, in words and in JSON."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
from pathlib import Path

from tests.cli.run import SEASONED
from tests.history.claude_lines import SESSION, ClaudeFile


def test_calls_and_streaks_are_printed_as_they_happen(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    file = ClaudeFile().user("fix the till").calls("toolu_0").result("toolu_0")
    file.write(path)
    with subprocess.Popen(
        [SEASONED, "watch", tmp_path, "--failed", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None and running.stderr is not None
        killer = threading.Timer(90, running.kill)
        killer.start()
        try:
            assert running.stderr.readline().startswith("Following 1 session active in the last 15 minutes")
            lines = []
            for number in range(1, 4):
                file.calls(f"toolu_{number}").result(f"toolu_{number}", "no such command", is_error=True)
                file.write(path)
                lines.append(json.loads(running.stdout.readline()))
            lines.append(json.loads(running.stdout.readline()))
            running.send_signal(signal.SIGINT)
            assert running.wait(60) == 0
        finally:
            killer.cancel()
            running.kill()
    assert [(line["event"], line.get("position")) for line in lines] == [
        ("call", 1),
        ("call", 2),
        ("call", 3),
        ("streak", None),
    ]
    assert lines[3]["failed_in_a_row"] == 3 and lines[3]["title"] == "fix the till" and lines[3]["project"] == "waypost"
    assert lines[0]["session_id"] == SESSION and lines[0]["schema"] == "seasoned/watch/1"
