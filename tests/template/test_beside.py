"""Work in a child process: the same result, and none where it cannot be had."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tests.cli.run import seasoned

_BEGIN = """
import os, sys, threading
os.cpu_count = lambda: 2
from seasoned.template.beside import begin
way = sys.argv[1]
if way == "threads":
    threading.Thread(target=threading.Event().wait, daemon=True).start()
def work():
    if way == "fails":
        raise ValueError("no")
    if way == "killed":
        os.kill(os.getpid(), 9)
    return b"x" * 300_000
wait = begin(work)
done = wait()
print(None if done is None else len(done))
"""

_AUTO = """
import os, sys
from pathlib import Path
os.cpu_count = lambda: int(sys.argv[2])
from seasoned.redact import Redactor
from seasoned.store import open_store
from seasoned.template.mine.selection import MiningOptions
from seasoned.template.library.upkeep import auto
import msgspec
store = open_store(Path(sys.argv[1]))
now = max(row["last"] for row in store.rows("session.totals")) + 86400
made = auto(store, now=now, redactor=Redactor(b"k" * 32), options=MiningOptions(min_messages=10))
print(len(made), msgspec.json.encode(made).decode())
"""


def _python(code: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout.strip()


def test_what_the_child_made_comes_back_whole() -> None:
    assert _python(_BEGIN, "works") == "300000"


def test_a_child_that_fails_or_is_killed_gives_nothing() -> None:
    assert _python(_BEGIN, "fails") == "None"
    assert _python(_BEGIN, "killed") == "None"


def test_a_process_with_other_threads_is_not_forked() -> None:
    assert _python(_BEGIN, "threads") == "None"


def test_templates_are_the_same_whether_made_on_one_core_or_two(samples: Path, tmp_path: Path) -> None:
    seasoned("scan", samples, SEASONED_HOME=str(tmp_path / "1"))
    shutil.copytree(tmp_path / "1", tmp_path / "2")
    one, two = (_python(_AUTO, str(tmp_path / cores / "seasoned.db"), cores) for cores in ("1", "2"))
    assert int(one.split()[0]) >= 2
    assert one == two
