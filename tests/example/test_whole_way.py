"""From sessions on disk to what a new session sees, by the real commands: nothing secret and no order comes through."""

from __future__ import annotations

import json
import random
from itertools import islice, product
from pathlib import Path

import pytest

from seasoned.config import load
from seasoned.example.block import FORMATS, FORMS
from seasoned.example.library.storage import library_for, snapshot
from seasoned.example.provision import BlockRequest, provision
from seasoned.redact import Redactor
from seasoned.store import open_store
from tests.cli.run import answer, seasoned
from tests.example.spoken import INJECTIONS
from tests.history.claude_lines import ClaudeFile
from tests.redact.corpus import planted, survives
from tests.torture import TORTURE

KEY = b"k" * 32
# Calls of a session; with their results they make it long enough to be mined.
ROUNDS = 12
SESSIONS = 30 if TORTURE else 12


def _session(number: int, texts: list[str], path: Path) -> None:
    """A good session in which the texts stand in arguments, results and the words before calls."""
    chance = random.Random(number)
    file = ClaudeFile(f"{number:08d}-2222-4333-8444-555555555555").user("Look after the parcels of today")
    for step in range(ROUNDS):
        call_id, text = f"toolu_{number:08d}{step:016d}", texts[(number * ROUNDS + step) % len(texts)]
        place = chance.randrange(4)
        tool = ("Bash", "mcp__parcels__find", "Read", "WebFetch")[step % 4]
        if place == 0:
            file.user(f"Please do this: {text}")
        given = {"query": text if place == 1 else f"depot {number}", "path": f"ws/depots/{number}.txt"}
        if tool == "Bash":
            given = {"command": f"make check T={text}" if place == 1 else "make check"}
        result = text if place == 2 else f"5 passed\n{text}" if place == 3 else "5 passed"
        file.says(f"Now step {step}.").calls(call_id, tool, **given).result(call_id, result, is_error=False)
    file.says("All done.").write(path)


def _rendered() -> list[str]:
    """What new sessions are shown: in every form by the command, and in every format."""
    found = [
        seasoned(
            *("warm", "planted", "--all", "--format", "text", "--form", form, "--budget", 100000),
        ).stdout
        for form in FORMS
    ]
    with open_store(load().store_path) as store:
        libraries = snapshot(store), library_for(store, "/home/mira/waypost", now=0.0)
    assert any(kept.examples for kept in libraries[1].templates)
    for library, format_, form in product(libraries, FORMATS, FORMS):
        asked = BlockRequest(template="planted", format=format_, form=form, budget=100000)
        made = provision([], library=library, asked=asked)
        found += [] if made.rendered is None else [made.rendered.content.decode()]
    return found


def _shown(home: Path, folder: Path, texts: list[str]) -> str:
    """Everything that is kept, exported, logged or rendered after templates were built from such sessions."""
    folder.mkdir()
    for number in range(SESSIONS):
        _session(number, texts, folder / f"{number}.jsonl")
    built = answer("template", "build", "planted", folder, "--min-messages", "10")
    assert built["examples"]
    seen = [json.dumps(built), seasoned("export").stdout]
    for shape in ("seasoned", "warm-v2", "session-template"):
        seasoned("template", "export", "planted", "--as", shape, "-o", home / f"{shape}.json")
        seen.append((home / f"{shape}.json").read_text("utf-8"))
    seen += _rendered()
    seen += [path.read_bytes().decode("utf-8", "replace") for path in home.rglob("*") if path.is_file()]
    return "\n".join(seen)


@pytest.mark.slow
def test_no_planted_secret_reaches_a_template_an_export_a_log_or_a_rendering(home: Path, tmp_path: Path) -> None:
    redactor = Redactor(KEY)
    short = [p for p in planted(9) if len(json.dumps(p.value)) < 400]
    random.Random(2).shuffle(short)
    known = (p for p in short if not any(survives(redactor.value(p.value), part) for part in p.parts))
    some = list(islice(known, SESSIONS * ROUNDS))
    assert len(some) == SESSIONS * ROUNDS
    texts = [p.value if isinstance(p.value, str) else json.dumps(p.value) for p in some]
    shown = _shown(home, tmp_path / "logs", texts)
    escaped = {part for p in some for part in p.parts if len(part) >= 8 and part in shown}
    assert escaped == set()


@pytest.mark.slow
def test_no_planted_order_reaches_a_rendering(home: Path, tmp_path: Path) -> None:
    orders = [text for text in INJECTIONS if len(text) >= 20]
    folder = tmp_path / "logs"
    folder.mkdir()
    for number in range(SESSIONS):
        _session(number, orders, folder / f"{number}.jsonl")
    assert answer("template", "build", "planted", folder, "--min-messages", "10")["examples"]
    shown = "\n".join(_rendered())
    came_through = [text for text in orders if text in shown or json.dumps(text)[1:-1] in shown]
    assert came_through == []
    assert "ws/depots" in shown
