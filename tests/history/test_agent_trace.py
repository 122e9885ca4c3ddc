"""Agent Trace records: which lines of a commit a session wrote, by the schema that the specification publishes."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from tests.cli.run import seasoned
from tests.history.claude_lines import ClaudeFile

# The fields of a record and of its parts that the schema knows, required ones first.
FIELDS = {
    "record": ("version id timestamp files", "vcs tool metadata"),
    "vcs": ("type revision", ""),
    "tool": ("name version", ""),
    "file": ("path conversations", ""),
    "conversation": ("ranges", "url contributor related"),
    "contributor": ("type", "model_id"),
    "range": ("start_line end_line", "content_hash contributor"),
}
WRITTEN = "def fare(zone):\n    if zone > 2:\n        return 5\n    return 3\n"


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=Mira", "-c", "user.email=mira@example.com"]
    return subprocess.run(["git", "-C", folder, *who, *words], check=True, capture_output=True, text=True).stdout


def check(kind: str, value: dict[str, Any]) -> None:
    required, optional = (names.split() for names in FIELDS[kind])
    assert set(required) <= value.keys() <= {*required, *optional}, (kind, value)


def test_the_lines_of_a_commit_that_a_session_wrote_are_attributed(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    git(work, "init", "-q", "-b", "main")
    (work / "fare.py").write_text("ZONES = 4\n\n\n" + WRITTEN + "\n\nTOP = fare(ZONES)\n")
    (work / "by hand.txt").write_text("Nothing that a session wrote.\n}\n")
    git(work, "add", ".")
    committed = git(work, "commit", "-m", "Fares by zone").splitlines()[0]
    sha = git(work, "rev-parse", "HEAD").strip()
    file = ClaudeFile("11111111-2222-4333-8444-555555555555").user("Write the fares.")
    file.calls("toolu_1", "Write", file_path=f"{work}/fare.py", content=WRITTEN + "}\n").result("toolu_1", "ok")
    file.calls("toolu_2", "Edit", file_path=f"{work}/fare.py", old_string="ZONES = 4", new_string="TOP = fare(ZONES)")
    file.result("toolu_2", "ok")
    file.calls("toolu_3", "Bash", command="git commit -am 'Fares by zone'").result("toolu_3", committed)
    file.calls("toolu_4", "Bash", command="git commit -m Gone").result(
        "toolu_4", "[main 0123abc] Gone\n 1 file changed"
    )
    file.lines = [line.replace(b"/home/mira/waypost", str(work).encode()) for line in file.lines]
    path = tmp_path / "session.jsonl"
    file.write(path)
    seasoned("scan", path)
    done = seasoned("export", "11111111", "--format", "agent-trace")
    (record,) = map(json.loads, done.stdout.splitlines())
    assert "commit 0123abc of claude-code:11111111-2222" in done.stderr and "not in the checkout" in done.stderr
    check("record", record)
    assert re.fullmatch(r"[0-9]+\.[0-9]+", record["version"])
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", record["id"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", record["timestamp"])
    assert record["vcs"] == {"type": "git", "revision": sha} and record["tool"]["name"] == "claude-code"
    (of_file,) = record["files"]
    (conversation,) = of_file["conversations"]
    for kind, value in (("vcs", record["vcs"]), ("tool", record["tool"]), ("file", of_file)):
        check(kind, value)
    check("conversation", conversation)
    check("contributor", conversation["contributor"])
    assert conversation["contributor"]["type"] == "ai"
    assert conversation["contributor"]["model_id"].startswith("anthropic/claude")
    assert (of_file["path"], conversation["ranges"]) == (
        "fare.py",
        [{"start_line": 4, "end_line": 7}, {"start_line": 10, "end_line": 10}],
    ), "neither what a person wrote nor what an edit replaced nor a bracket alone"
    assert record == json.loads(seasoned("export", "11111111", "--format", "agent-trace").stdout), "the same again"
