"""What else a store holds after years: projects, what was said, use by hour, templates, requests of the gateway."""

from __future__ import annotations

import itertools
import json
import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from seasoned.config import Config
from seasoned.example.example import Example, Source, Template
from seasoned.example.library.storage import save
from seasoned.experiment.live.assignment import ArmShare, assign, keep_split, new_split
from seasoned.gateway.history_usage import fill_prices
from seasoned.redact.key import Secrecy, load_key
from seasoned.review import memory_file
from seasoned.review.journal import ChangeJournal, Provenance
from seasoned.store import Store, open_store
from seasoned.store.search import fill

TEMPLATES, EXAMPLES = 20, 40
REQUESTS = 2
"""Of the gateway, for each session."""
_DAY = 86_400.0
_WORDS = 4_000
_MESSAGES, _LENGTH = 8, 25
"""What was said in a session, and the words of a message."""
_PARTS = """
INSERT INTO usage_part
SELECT session.id, CAST(started / 3600 AS INTEGER) + hour.value, COALESCE(model, ''), 0, input_tokens / 2,
    output_tokens / 2,
    input_tokens * 10, input_tokens, NULL, 0, cost_usd / 2
FROM session, json_each('[0, 1]') AS hour
"""
_REQUEST = (
    "INSERT INTO gateway_request (id, at, day, session, purpose, key_name, upstream, api, model, status, ended,"
    " input_tokens, output_tokens, cost_usd, raw, seconds)"
    " VALUES (?, ?, ?, ?, 'chat', ?, 'u', 'chat', ?, 200, 'complete', ?, ?, ?, '{}', 1.0)"
)


def fill_more(home: Path) -> None:
    """Put it into the store, once."""
    rng, now = random.Random(12), time.time()
    with open_store(Config(home=home).store_path) as store:
        if store.rows("template.names"):
            return
        store.connection.execute("PRAGMA synchronous = OFF")
        _fill_history(store, rng)
        rows = store.connection.execute("SELECT agent, native_id, started FROM session").fetchall()
        sessions = [(f"{row['agent']}:{row['native_id']}", float(row["started"])) for row in rows]
        for number in range(TEMPLATES):
            save(store, _template(rng, number, [name for name, _ in sessions], now))
        _remember(store, home, sessions[0][0])
        split = new_split("autumn", [ArmShare("cold"), ArmShare("warm")], salt="s")
        keep_split(store, split, now=sessions[0][1])
        with store.write():
            store.connection.executemany(_REQUEST, _requests(rng, [name for name, _ in sessions], now))
            for name, at in sessions[: len(sessions) // 10]:
                found = assign(split, name)
                assert found is not None
                params = {"experiment": "autumn", "session": name, "arm": found.arm, "split": found.split, "at": at}
                store.run("experiment.assign", params)


def _fill_history(store: Store, rng: random.Random) -> None:
    """The projects of the sessions, what was said in them, and what they used; indexed and priced as a server does."""
    ids = [row["id"] for row in store.connection.execute("SELECT id FROM session")]
    # A few words are in most messages, most words in few.
    words = ["".join(rng.choices("aeioubdfklmnprst", k=rng.randint(4, 9))) for _ in range(_WORDS)]
    weights = list(itertools.accumulate(1 / (rank + 10) for rank in range(_WORDS)))
    with store.write():
        # A trigger notes that all of them wait for the index.
        store.connection.execute("UPDATE session SET project = cwd")
        store.run_many("search.save_said", ((number, 0, _said(rng, words, weights)) for number in ids))
        store.connection.execute(_PARTS)
    fill(store)
    fill_prices(store)
    store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _said(rng: random.Random, words: list[str], weights: list[float]) -> str:
    texts = (" ".join(rng.choices(words, cum_weights=weights, k=_LENGTH)) for _ in range(_MESSAGES))
    return json.dumps([(12 * number, int(number % 2 == 0), text) for number, text in enumerate(texts)])


def _template(rng: random.Random, number: int, sessions: list[str], now: float) -> Template:
    examples = [
        Example(
            tool=f"tool_{place}",
            arguments=f'{{"path": "src/{number}/{place}"}}',
            result="2 matches",
            intent="Find where it starts.",
            kind="sequence",
            pattern=f"p{place}",
            support=5,
            sources=tuple(Source(name, "c1", name, now) for name in rng.sample(sessions, 5)),
        )
        for place in range(EXAMPLES)
    ]
    sources = tuple(sorted({one.session for example in examples for one in example.sources}))
    return Template(name=f"work-{number}", examples=tuple(examples), sources=sources, created_at=now)


def _remember(store: Store, home: Path, session: str) -> None:
    by = Provenance(actor="review", origin="review", session="seasoned:review", parent=session)
    # Beside the home, which is emptied of files when the store is made anew.
    beside = home.with_name(f"{home.name}-learned")
    # What is there already is not learned again, and a new store would know of no change.
    shutil.rmtree(beside, ignore_errors=True)
    desk = ChangeJournal(
        store=store,
        redactor=Secrecy(load_key(home)).redactor(),
        home=beside,
        memory_folder=beside / "memory",
        skill_folder=beside / "skills",
    )
    for number in range(20):
        memory_file.add(desk, "notes", f"Service {number} listens on port {5000 + number}.", by=by)


def _requests(rng: random.Random, sessions: list[str], now: float) -> Iterator[tuple[object, ...]]:
    for number in range(REQUESTS * len(sessions)):
        at = now - rng.random() * 400 * _DAY
        yield (
            f"r{number}",
            at,
            time.strftime("%Y-%m-%d", time.gmtime(at)),
            rng.choice(sessions),
            rng.choice(("team", "ci", "")),
            rng.choice(("gpt-5", "small-3", "unknown-1")),
            rng.randrange(9000),
            rng.randrange(900),
            rng.random() / 10 if number % 3 else None,
        )
