"""What happens between two calls of an agent, done by the program `stage` that it calls: `stage HOME WORK WHAT`."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from seasoned.app.confirm import open_book
from seasoned.config import Config
from seasoned.confirm.people.change import allow, end_allowance
from tests.confirm.keys import unlock


def decide(config: Config, *, approve: bool) -> None:
    """A person decides about the newest request, in the store alone."""
    with open_book(config) as book:
        select = "SELECT id FROM request WHERE status = 'pending' ORDER BY created_at DESC LIMIT 1"
        (row,) = sqlite3.connect(config.store_path).execute(select)
        book.decide(unlock(book.database, "root"), row[0], approve=approve, reason="" if approve else "not today")


def main(home: Path, work: Path, what: str) -> None:
    config = Config(home=home / ".seasoned")
    python = home / "programs" / "python"
    if what in ("approve", "deny"):
        decide(config, approve=what == "approve")
    elif what == "allow":
        with open_book(config, agreed=True) as book:
            root = unlock(book.database, "root")
            allow(book, root, "publish_package", project=str(work), host=None, until=None)
    elif what == "end":
        with open_book(config) as book:
            for number in book.recorded().allowances:
                end_allowance(book, number)
    elif what == "lock":
        # The agent waits for everything that has its output.
        words, silent = [sys.executable, "-m", "tests.hooks.stage", home, work, "hold"], subprocess.DEVNULL
        subprocess.Popen(words, stdout=silent, stderr=silent, start_new_session=True)
        time.sleep(1.5)
    elif what == "hold":
        with sqlite3.connect(config.store_path, isolation_level=None) as store:
            store.execute("BEGIN EXCLUSIVE")
            until = time.monotonic() + 60
            while not (home / "unlocked").exists() and time.monotonic() < until:
                time.sleep(0.05)
            store.execute("ROLLBACK")
    elif what == "full":
        (home / "unlocked").touch()
        time.sleep(0.3)
        # A program that may not write a byte meets the same error as on a full disk.
        python.write_text(python.read_text().replace("exec", "ulimit -f 0; exec"))
    elif what == "gone":
        python.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
