"""Planted secrets go through a whole scan: none of them is in the store, an export, or what a command prints."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from seasoned.app.stores import TellProgress, scan_into_store
from seasoned.config import load
from seasoned.redact import Redactor, Secrecy, load_key
from seasoned.scan.file_reader import RESULT_CHARS, FileReader
from seasoned.scan.intent import SpokenCall
from seasoned.scan.scan import ScanTarget, scan
from seasoned.session import Result, ToolCall
from seasoned.store import open_store, packed
from seasoned.store.backup import export_lines
from tests.conftest import one_in
from tests.history.claude_lines import ClaudeFile
from tests.redact.corpus import Planted, planted, survives
from tests.redact.corpus_secret import pem

KEY = b"k" * 32
TOOLS = ("Bash", "Read", "Write", "mcp__vault__get", "WebFetch")


def text_of(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def plant(secrets: list[Planted], path: Path) -> None:
    """One session whose calls carry the secrets: in arguments, in results, and across the cuts."""
    chance = random.Random(11)
    file = ClaudeFile().user("go")
    for number, secret in enumerate(secrets):
        call_id, tool, text = f"toolu_{number:024d}", TOOLS[number % len(TOOLS)], text_of(secret.value)
        filler = "word " * chance.randrange(0, RESULT_CHARS // 4)
        if number % 3 == 0:
            given = secret.value if isinstance(secret.value, dict) else {"command": text}
            file.calls(call_id, tool, **given).result(call_id, "done")
        elif number % 3 == 1:
            file.calls(call_id, tool, command="run").result(call_id, f"{filler}\n{text}\n{filler}")
        else:
            failed = f"Exit code 1\n{filler}\n{text}\n{filler}\nerror: it did not work"
            file.calls(call_id, tool, content=f"{filler}\n{text}").result(call_id, failed, is_error=True)
    file.write(path)


def test_nothing_planted_reaches_the_store_or_an_export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "WORTH_BYTES", 1 << 30)  # so that it would be seen in the file
    redactor = Redactor(KEY)
    # What the rules do not know is counted where they are measured; here it is shown that all they know is applied.
    every = list(planted(4))
    some = one_in(5, every)
    known = [p for p in some if not any(survives(redactor.value(p.value), part) for part in p.parts)]
    assert len(known) > 0.9 * len(some)
    assert {p.kind for p in known} == {p.kind for p in every}
    assert {p.carrier for p in known} == {p.carrier for p in every}
    plant(known, tmp_path / "s.jsonl")
    target = ScanTarget(tmp_path / "seasoned.db")
    assert scan(target, [tmp_path / "s.jsonl"], Secrecy(KEY), workers=1).calls >= len(known)
    target.open().close()
    with open_store(tmp_path / "seasoned.db") as store:
        exported = "".join(export_lines(store))
        store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    kept = (tmp_path / "seasoned.db").read_bytes().decode("utf-8", "replace")
    escaped = {part for p in known for part in p.parts if len(part) >= 8 and (part in kept or part in exported)}
    assert escaped == set()


def test_what_one_call_says_hides_no_secret_of_the_next() -> None:
    key = pem(random.Random(2), "PRIVATE KEY")
    tail = key[len(key) // 3 :]
    phrase = "seed phrase: abandon ability able about above absent absorb abstract absurd abuse access accident"
    for said, is_secret in (
        (["a_key begins with -----BEGIN PRIVATE KEY-----", f"$ tail k_1\n{tail}"], [False, True]),
        (["in other words", phrase], [False, True]),
        (['it has password: "swordfish', 'the tests passed, and he said "so" again'], [True, False]),
    ):
        calls = [SpokenCall(ToolCall(f"c{at}", "Bash", {}, Result(text)), None) for at, text in enumerate(said)]
        rows = FileReader(Redactor(KEY)).call_rows(calls, "codex")
        assert ["[redacted:" in str(row.result) for row in rows] == is_secret


def test_a_scan_takes_the_key_that_another_command_made_while_it_read(home: Path, tmp_path: Path) -> None:
    secret = Planted("assignment", "shell", "export API_TOKEN=kQ8vX2mLr5TzW1", ["kQ8vX2mLr5TzW1"])
    plant([secret], tmp_path / "s.jsonl")
    config = load()
    made = []

    @contextmanager
    def progress() -> Iterator[TellProgress]:
        made.append(load_key(config.home))  # as the hook of an agent would
        yield lambda done, total: None

    report, store = scan_into_store(config, [tmp_path / "s.jsonl"], progress=progress)
    assert store is not None
    with store:
        kept = "".join(export_lines(store))
    assert report.sessions == 1
    assert Redactor(made[0]).text(secret.value).partition("=")[2] in kept
