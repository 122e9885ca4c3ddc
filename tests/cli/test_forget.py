"""`forget` leaves no trace of a session in any table, nor of what it taught memory and skills."""

from __future__ import annotations

from pathlib import Path

import pytest

from seasoned.review import memory_file
from seasoned.review import skill_edit as edit
from seasoned.review.journal import Provenance, changes
from seasoned.store import Store, open_store
from tests.cli.run import answer, seasoned
from tests.review.journals import journal_at

WORD = "Zanzibar"


def traces(store: Store, *wanted: str) -> list[str]:
    """Tables in which any of these stands, in whatever column.

    That a session is forgotten must be remembered, and where files lie that are named after their sessions.
    """
    tables = [row[0] for row in store.connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return [
        table
        for table in tables
        if table not in ("forgotten", "source")
        and any(one in str(tuple(row)) for row in store.connection.execute(f"SELECT * FROM {table}") for one in wanted)
    ]


def teach(home: Path, ref: str) -> None:
    """Memory, a skill, a review and parts in experiments, all from one session."""
    agent = Provenance(actor="agent", origin="chat", session=ref, platform="cli", tool="memory", task=WORD)
    review = Provenance(actor="review", origin="review", session="seasoned:r1", parent=ref, platform="cli", task=WORD)
    desk = journal_at(home)
    memory_file.add(desk, "notes", f"{WORD} one.", by=agent)
    edit.create(desk, "build", f"{WORD}.", description=f"{WORD}.", by=review)
    memory_file.add(journal_at(home, staged=("memory", "skill")), "notes", f"{WORD} waits.", by=review)
    with desk.store.write():
        run = desk.store.connection.execute
        run(
            "INSERT INTO review (ref, session, context, form, task, pid, started_at, state, said, answer)"
            " VALUES ('seasoned:r1', ?, 'background', 'digest', ?, 1, 1.0, 'kept', ?, ?)",
            (ref, WORD, WORD, WORD),
        )
        run("INSERT INTO assignment (experiment, session, arm, split, at) VALUES ('e', ?, 'warm', 's', 1.0)", (ref,))
        run("INSERT INTO exposure VALUES ('e', ?, 'w', 1, '[]', 1.0)", (ref,))
        run("INSERT INTO run VALUES ('e', 'm', 'warm', 'b', 't', 'k', 2, 'p', ?, NULL, '')", (ref,))
        run("INSERT INTO run VALUES ('e', 'm', 'warm', 'b', 't', 'k', 1, 'p', ?, 1.0, ?)", (ref, WORD))
        run("INSERT INTO material VALUES ('t', 'd', 'm', 'good', ?, 1.0)", (f'{{"sources":["{ref}"],"x":"{WORD}"}}',))
        run(
            "INSERT INTO session (agent, native_id, parent_agent, parent_native_id, relation)"
            " VALUES ('x', 'y', ?, ?, 'fork')",
            ref.split(":", 1),
        )


@pytest.mark.parametrize("everything", [False, True])
def test_no_table_and_no_file_tells_of_a_forgotten_session(everything: bool, samples: Path, home: Path) -> None:
    seasoned("scan", samples / "codex")
    native_id = answer("sessions")["sessions"][0]["session_id"]
    teach(home / ".seasoned", f"codex:{native_id}")
    own = Provenance(actor="person", origin="person", platform="cli")
    memory_file.add(journal_at(home / ".seasoned"), "notes", "Stays.", by=own)
    with open_store(home / ".seasoned" / "seasoned.db") as store:
        assert {"learned", "review", "run", "material"} <= set(traces(store, native_id, WORD))
    found = answer("forget", *(["--all"] if everything else [native_id]), "--yes")
    assert found["left"] == []
    with open_store(home / ".seasoned" / "seasoned.db") as store:
        assert traces(store, native_id, WORD) == []
        assert [change.actor for change in changes(store)] == ([] if everything else ["person"])
    files = [file for folder in ("memory", "skills", "aside") for file in (home / ".seasoned" / folder).rglob("*")]
    assert WORD.encode() not in b"".join(file.read_bytes() for file in files if file.is_file())
    assert "Stays." in (home / ".seasoned" / "memory" / "MEMORY.md").read_text("utf-8")


def test_it_asks_first_takes_a_source_too_and_a_bare_forget_is_not_everything(samples: Path) -> None:
    seasoned("scan", samples / "codex")
    (first, *_, last) = answer("sessions")["sessions"]
    assert "Forget" in seasoned("forget", first["session_id"], expect=1).stdout
    assert "Add --yes" in seasoned("forget", "--all", "--json", expect=2).stderr
    seasoned("forget", expect=2)
    assert answer("sessions")["count"] == 6, "nothing yet"
    assert f"from {last['path']}" in seasoned("forget", last["path"], "--yes").stdout
    assert answer("sessions")["count"] == 5


def test_what_could_not_be_taken_back_is_said(samples: Path, home: Path) -> None:
    seasoned("scan", samples / "codex")
    native_id = answer("sessions")["sessions"][0]["session_id"]
    desk = journal_at(home / ".seasoned")
    memory_file.add(
        desk, "notes", f"{WORD} one.", by=Provenance(actor="agent", origin="chat", session=f"codex:{native_id}")
    )
    (home / ".seasoned" / "memory" / "MEMORY.md").write_text("Written by hand.", "utf-8")
    done = seasoned("forget", native_id, "--yes")
    assert "Still there: The entry" in done.stderr and "Forgot codex:" in done.stdout
