"""Homes with something of everything in them, for pages to show."""

from __future__ import annotations

import json
import random
import time
from dataclasses import replace
from pathlib import Path

from seasoned.config import Config
from seasoned.gateway.accounting import EntryCost, UsageEntry, add_entries
from seasoned.lesson.storage import refresh
from seasoned.redact.key import Secrecy, load_key
from seasoned.review import memory_file
from seasoned.review import skill_edit as edit
from seasoned.review.journal import ChangeJournal, Provenance
from seasoned.review.ledger import ReviewEnd, begin, end
from seasoned.scan.scan import ScanTarget, scan
from seasoned.session import Usage
from seasoned.store import Store, open_database, open_store
from tests.history.claude_lines import ClaudeFile

SAMPLES = Path(__file__).resolve().parents[2] / "src" / "seasoned" / "samples"
HOSTILE = '<img src=x onerror=alert(1)> \u202egnp.exe\u202c <script>alert("hi")</script>'
SECRET = "sk-ant-api03-" + "Ab3dEf6hIj" * 9


def store_of(home: Path) -> Store:
    return open_store(Config(home=home).store_path)


def fill_sessions(home: Path) -> None:
    """The sample histories."""
    scan(ScanTarget(Config(home=home).store_path), [SAMPLES], Secrecy(load_key(home)), workers=1)


# A folder whose name says something in every language that a page speaks.
HOSTILE_FOLDER = "/home/mira/<b>shop</b> & 'co'?a=1#x%2F"


def fill_project(home: Path, folder: Path | str, *, sessions: int = 10) -> None:
    """A project in which `make test` and `make lint` work, and `rtk make test` fails until `rtk` is left out."""
    histories = home / f"histories-{len(list(home.iterdir()))}"
    histories.mkdir()
    for at in range(sessions):
        name = f"{at:08d}-2222-4333-8444-{abs(hash(str(folder))) % 10**12:012d}"
        # Other words in each: sessions with the same prompt and the same calls are copies of one.
        own = "".join(chr(97 + int(digit)) for digit in f"{at}{name[-12:]}")
        file = ClaudeFile(name).user(f"Fix parcel {own}. {HOSTILE}")
        wrong, right, more = f"toolu_{at}a", f"toolu_{at}b", f"toolu_{at}c"
        error = "Exit code 2\nerror: unrecognized subcommand 'make'"
        file.calls(wrong, "Bash", command="rtk make test").result(wrong, error, is_error=True)
        file.calls(right, "Bash", command="make test").result(right, "3 passed", is_error=False)
        file.calls(more, "Bash", command="make lint").result(more, "done", is_error=False)
        place = json.dumps(str(folder))[1:-1].encode()
        lines = [line.replace(b"2026-03-01", f"2026-03-{at + 1:02d}".encode()) for line in file.lines]
        file.lines = [line.replace(b"/home/mira/waypost", place) for line in lines]
        file.write(histories / f"{at}.jsonl")
    scan(ScanTarget(Config(home=home).store_path), [histories], Secrecy(load_key(home)), workers=1)
    with store_of(home) as store:
        refresh(store)


def first_session(home: Path) -> str:
    with store_of(home) as store:
        row = store.rows("session.native_ids", {"limit": 1})[0]
    return f"{row['agent']}:{row['native_id']}"


def fill_learned(home: Path, *, session: str = "codex:a") -> None:
    """Memory, a skill with a change, a review, and a change that waits."""
    by = Provenance(
        actor="review",
        origin="review",
        session="seasoned:review-1",
        parent=session,
        platform="cli",
        tool="memory",
        call_id="call_1",
        task="Mend the nightly export",
    )
    with store_of(home) as store:
        desk = ChangeJournal(
            store=store,
            redactor=Secrecy(load_key(home)).redactor(),
            home=home,
            memory_folder=home / "memory",
            skill_folder=home / "skills",
        )
        assert memory_file.add(desk, "notes", "The staging database listens on <b>port 5433</b>.", by=by).ok
        assert memory_file.add(desk, "user", "Prefers short answers and metric units.", by=by).ok
        text = "# Release notes\n\n1. Read the log since the last tag.\n2. Newest first.\n"
        assert edit.create(desk, "release-notes", text, description="Write release notes.", by=by).ok
        assert edit.patch(desk, "release-notes", "Newest first.", "Breaking changes first.", by=by).ok
        waiting = replace(desk, staged=("memory", "skill"))
        assert memory_file.add(waiting, "notes", "Run the linter before the tests.", by=by).ok
        about = {"model": "openai:gpt-5", "platform": "cli", "task": None}
        number = begin(store, ref="seasoned:review-1", session=session, **about, now=time.time() - 60)
        with store.write():
            store.connection.execute("UPDATE review SET requests = 3, input_tokens = 4000 WHERE id = ?", [number])
        end(store, number, ReviewEnd(state="kept", calls=3, kept=2, staged=1, said="Kept 2 notes; 1 waits."), now=1.0)


def fill_gateway(home: Path, *, requests: int = 300, database_url: str | None = None) -> None:
    """Requests of forty days; nobody knows the price of a third of them."""
    generator, now = random.Random(1), time.time()
    entries = [
        UsageEntry(
            id=f"r{number}",
            at=now - generator.random() * 40 * 86_400,
            session=f"gateway:s{number % 50}",
            purpose="chat",
            key_name=("team", "ci", "")[number % 3],
            upstream="openai",
            api="chat",
            model=("gpt-5", "claude-opus", "mystery")[number % 3],
            status=200,
            ended="complete",
            usage=Usage(generator.randrange(200, 9000), generator.randrange(20, 900)),
            raw={},
            seconds=1.0,
        )
        for number in range(requests)
    ]
    database = open_database(Config(home=home, database_url=database_url))
    try:
        add_entries(database, entries, _price)
    finally:
        database.close()


def _price(entry: UsageEntry) -> EntryCost:
    tokens = 0 if entry.usage is None else entry.usage.input or 0
    return EntryCost(None if entry.model == "mystery" else 0.00001 * tokens, "table")


def fill_all(home: Path) -> None:
    """Something of everything."""
    fill_sessions(home)
    fill_project(home, HOSTILE_FOLDER)
    fill_learned(home, session=first_session(home))
    fill_gateway(home)
