"""Which calls of real sessions would have waited for a person, and how the table does on probes written blind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.command.probes import KINDS, SETS, probes

from bench.agreement import SHARED
from seasoned.command.risk import Need, need_of_call
from seasoned.errors import SeasonedError
from seasoned.history.formats import read_file
from seasoned.session import Session, ToolCall

_SUFFIXES = {".jsonl", ".json", ".traj", ".eval", ".db"}


def figures() -> Iterator[str]:
    """Every held call by its action and the rule that held it, without its text; then the probes."""
    if SHARED.is_dir():
        yield from _histories([SHARED / "data", SHARED / "projects"])
    else:
        yield f"Skipped the histories: there are none at {SHARED}."
    yield ""
    yield from _probes()


def _histories(folders: list[Path]) -> Iterator[str]:
    calls = 0
    rows: Counter[tuple[str, str]] = Counter()
    lines = []
    for path, session, call in _calls(folders):
        calls += 1
        need = _need(session, call)
        if need is not None:
            rows[need.action, need.row] += 1
            lines.append(f"  {path.parent.name}/{path.stem[:8]:<9} {call.tool:<13} {need.action:<18} {need.row}")
    held = sum(rows.values())
    yield f"{calls} calls of real sessions, {held} held ({held / calls:.2%})"
    yield from (f"{count:5}  {action}: {row}" for (action, row), count in rows.most_common())
    yield "each held call: session, tool, action, rule"
    yield from lines


def _calls(folders: list[Path]) -> Iterator[tuple[Path, Session, ToolCall]]:
    for path in (path for folder in folders for path in sorted(folder.rglob("*"))):
        if not path.is_file() or path.suffix not in _SUFFIXES:
            continue
        try:
            sessions = list(read_file(path))
        except SeasonedError:
            continue  # `seasoned scan` counts and shows these
        for session in sessions:
            yield from ((path, session, call) for call in session.calls() if not call.synthetic)


def _need(session: Session, call: ToolCall) -> Need | None:
    """As the hook asks: with the folder of the session."""
    return need_of_call(call.tool, call.arguments, folder=session.cwd)


def _probes() -> Iterator[str]:
    yield "probes (tests/command/probe); no rule was written for the third set and for the half `aside`"
    for kind in KINDS:
        found = []
        for which in SETS:
            chosen = probes(kind, which)
            held = sum(one.need() is not None for one in chosen)
            found.append(f"{which} {held}/{len(chosen)} ({held / len(chosen):.3f})")
        yield f"  {kind:<12} held: {', '.join(found)}"
