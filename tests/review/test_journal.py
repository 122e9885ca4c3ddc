"""Every write says who made it and where it came from; it can wait, be undone, and survive a killed process."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import msgspec
import pytest

from seasoned.atomic_write import digest
from seasoned.begin.memory import LIMITS
from seasoned.errors import CannotDo
from seasoned.file_lock import locked
from seasoned.review import memory_file
from seasoned.review import skill_edit as edit
from seasoned.review.journal import Change, ChangeJournal, changes, created_by, find
from seasoned.review.skill_library import skills, view
from seasoned.review.undo import accept, forget, reject, undo
from tests.review.journals import AGENT, NOW, PERSON, REVIEW, everything_below, journal_at
from tests.torture import TORTURE

ROOT = Path(__file__).resolve().parents[2]
WRITES = 200 if TORTURE else 50
KILLS = 60 if TORTURE else 4
BODY = "# Steps\n\n<!-- end -->\n"


@pytest.fixture
def journal(tmp_path: Path) -> ChangeJournal:
    return journal_at(tmp_path / "home")


def newest(journal: ChangeJournal) -> Change:
    return changes(journal.store)[0]


def notes(journal: ChangeJournal) -> list[str]:
    return list(memory_file.read(journal.memory_folder, "notes").entries)


def test_a_write_carries_everything_about_its_origin(journal: ChangeJournal) -> None:
    reply = edit.create(journal, "build", BODY, description="Build it.", by=REVIEW)
    change = newest(journal)
    assert change.id == reply.change and change.state == "kept" and change.at == NOW
    assert {name: getattr(change, name) for name in REVIEW.__struct_fields__} == msgspec.structs.asdict(REVIEW)
    assert (change.kind, change.target, change.file, change.action) == ("skill", "build", "SKILL.md", "create")
    assert change.before_digest is None
    assert change.after_digest == digest(view(journal.skill_folder, "build").text)
    assert created_by(journal.store, journal.skill_folder, "build") == "review"


def test_what_was_there_before_is_known(journal: ChangeJournal) -> None:
    memory_file.add(journal, "notes", "Port is 1.", by=AGENT)
    memory_file.replace(journal, "notes", "Port", "Port is 2.", by=REVIEW)
    change = newest(journal)
    assert (change.before, change.after, change.actor) == ("Port is 1.", "Port is 2.", "review")
    assert [one.session for one in changes(journal.store, session="seasoned:s1")] == ["seasoned:s1"]


def test_secrets_of_a_task_or_of_an_older_text_do_not_get_into_the_store(journal: ChangeJournal) -> None:
    secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
    place = journal.skill_folder / "old" / "SKILL.md"
    place.parent.mkdir(parents=True)
    text = f"---\nname: old\ndescription: Old.\n---\ntoken={secret}\nStep one.\n"
    place.write_text(text, "utf-8")
    by = msgspec.structs.replace(AGENT, task=f"deploy with token={secret}")
    reply = edit.patch(journal, "old", "Step one.", "Step two.", by=by)
    assert reply.change is not None and newest(journal).task == journal.redactor.text(f"deploy with token={secret}")
    journal.store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert secret.encode() not in (journal.home / "seasoned.db").read_bytes()
    assert undo(journal, reply.change).ok
    assert place.read_text("utf-8") == text


def test_an_undone_write_leaves_what_came_after_it(journal: ChangeJournal) -> None:
    first = memory_file.add(journal, "notes", "One.", by=AGENT)
    second = memory_file.replace(journal, "notes", "One", "One, changed.", by=AGENT)
    memory_file.add(journal, "notes", "Two.", by=AGENT)
    gone = memory_file.remove(journal, "notes", "Two", by=AGENT)
    assert first.change and second.change and gone.change
    assert undo(journal, second.change).ok and notes(journal) == ["One."]
    assert undo(journal, gone.change).ok and notes(journal) == ["One.", "Two."]
    assert undo(journal, first.change).ok and notes(journal) == ["Two."]
    assert "is undone" in undo(journal, first.change).said
    undone = find(journal.store, first.change)
    assert (undone.state, undone.decided_by) == ("undone", "person")
    assert undo(journal, 999).said.startswith("There is no change 999")


def test_an_entry_that_was_changed_since_cannot_be_taken_back(journal: ChangeJournal) -> None:
    first = memory_file.add(journal, "notes", "One.", by=AGENT)
    memory_file.replace(journal, "notes", "One", "Other.", by=PERSON)
    assert first.change and "no longer there" in undo(journal, first.change).said
    assert find(journal.store, first.change).state == "kept"


def test_changes_of_a_skill_are_undone_one_after_the_other(journal: ChangeJournal) -> None:
    made = edit.create(journal, "build", BODY, description="Build it.", by=AGENT)
    start = everything_below(journal.skill_folder)
    patched = edit.patch(journal, "build", "# Steps", "# The steps", by=REVIEW)
    added = edit.write_file(journal, "build", "scripts/a.sh", "one\n", by=REVIEW)
    written = edit.write_file(journal, "build", "scripts/a.sh", "two\n", by=REVIEW)
    assert made.change and patched.change and added.change and written.change
    assert "undo the later changes first" in undo(journal, made.change).said
    assert "undo the later changes first" in undo(journal, added.change).said
    for change in (written.change, added.change, patched.change):
        assert undo(journal, change).ok
    assert everything_below(journal.skill_folder) == start
    assert undo(journal, made.change).ok
    assert skills(journal.skill_folder) == []
    assert "build/" not in str(list(journal.skill_folder.iterdir()))


def test_staged_writes_wait_for_a_person(journal: ChangeJournal) -> None:
    memory_file.add(journal, "notes", "Old fact.", by=PERSON)
    edit.create(journal, "build", BODY, description="Build it.", by=AGENT)
    before = everything_below(journal.skill_folder) | everything_below(journal.memory_folder)
    waiting = journal_at(journal.home, staged=("memory", "skill"))
    staged = [
        memory_file.add(waiting, "notes", "New fact.", by=REVIEW),
        memory_file.replace(waiting, "notes", "Old", "Better fact.", by=AGENT),
        edit.create(waiting, "ship", BODY, description="Ship it.", by=REVIEW),
        edit.patch(waiting, "build", "# Steps", "# All steps", by=REVIEW),
        edit.write_file(waiting, "build", "references/a.md", "a", by=REVIEW),
    ]
    assert [reply.state for reply in staged] == ["staged"] * 5
    repeated = memory_file.add(waiting, "notes", "New fact.", by=REVIEW)
    assert repeated.said == "The same change is already waiting for a person."
    assert everything_below(journal.skill_folder) | everything_below(journal.memory_folder) == before
    assert len(changes(journal.store, state="staged")) == 5
    rejected, *accepted = [reply.change for reply in staged if reply.change]
    assert reject(journal, rejected).ok
    for change in accepted:
        assert accept(journal, change).state == "kept"
    assert notes(journal) == ["Better fact."]
    assert [skill.id for skill in skills(journal.skill_folder)] == ["build", "ship"]
    assert view(journal.skill_folder, "build", "references/a.md").text == "a"
    assert "is not pending" in accept(journal, rejected).said
    change = find(journal.store, accepted[0])
    assert (change.actor, change.state, change.decided_by, change.decided_at) == ("agent", "kept", "person", NOW)
    assert undo(journal, accepted[0]).ok and notes(journal) == ["Old fact."]


def test_a_person_does_not_wait_for_themselves(journal: ChangeJournal) -> None:
    waiting = journal_at(journal.home, staged=("memory", "skill"))
    assert memory_file.add(waiting, "notes", "Mine.", by=PERSON).state == "kept"


def test_what_waited_too_long_is_not_made_over_newer_work(journal: ChangeJournal) -> None:
    edit.create(journal, "build", BODY, description="Build it.", by=AGENT)
    memory_file.add(journal, "notes", "Old.", by=AGENT)
    waiting = journal_at(journal.home, staged=("memory", "skill"))
    patch = edit.patch(waiting, "build", "# Steps", "# A", by=REVIEW).change
    entry = memory_file.remove(waiting, "notes", "Old", by=REVIEW).change
    edit.patch(journal, "build", "# Steps", "# B", by=PERSON)
    memory_file.replace(journal, "notes", "Old", "New.", by=PERSON)
    for change in (patch, entry):
        assert change and accept(journal, change).state == "refused"
        assert find(journal.store, change).state == "staged"
    assert "# B" in view(journal.skill_folder, "build").text and notes(journal) == ["New."]


def test_what_a_forgotten_session_taught_is_gone_everywhere(journal: ChangeJournal) -> None:
    other = msgspec.structs.replace(AGENT, session="seasoned:s2")
    edit.create(journal, "build", BODY, description="Build it.", by=other)
    memory_file.add(journal, "notes", "Stays.", by=other)
    before = everything_below(journal.skill_folder)
    memory_file.add(journal, "notes", "Zanzibar one.", by=AGENT)
    memory_file.add(journal, "notes", "Zanzibar two.", by=REVIEW)
    memory_file.replace(journal, "notes", "two", "Changed by another.", by=other)
    edit.patch(journal, "build", "# Steps", "# Zanzibar", by=AGENT)
    edit.write_file(journal, "build", "references/z.md", "Zanzibar", by=REVIEW)
    edit.create(journal, "zanzibar", "Zanzibar.", description="Zanzibar.", by=REVIEW)
    failed = forget(journal, "seasoned:s1")
    assert [reply.said for reply in failed] == ["The entry 'Zanzibar two.' is no longer there: read the memory again."]
    assert notes(journal) == ["Stays.", "Changed by another."]
    assert everything_below(journal.skill_folder) == before
    assert b"Zanzibar" not in b"".join(everything_below(journal.home / "aside").values())
    assert {change.session for change in changes(journal.store)} == {"seasoned:s2"}
    assert "Zanzibar" not in str(changes(journal.store))


def test_a_write_that_the_system_refuses_is_said_and_noted(journal: ChangeJournal) -> None:
    memory_file.add(journal, "notes", "One.", by=AGENT)
    (journal.home / "unfinished").rmdir()
    (journal.home / "unfinished").write_text("in the way", "utf-8")
    with pytest.raises(CannotDo, match="cannot be written"):
        memory_file.add(journal, "notes", "Two.", by=AGENT)
    assert newest(journal).state == "failed" and notes(journal) == ["One."]


def test_changes_whose_process_died_are_settled_by_what_the_files_say(journal: ChangeJournal) -> None:
    for text in ("made", "not made"):
        memory_file.add(journal, "notes", text, by=AGENT)
    made, lost = (change.id for change in reversed(changes(journal.store)))
    (journal.memory_folder / "MEMORY.md").write_text("made", "utf-8")
    for change in (made, lost):
        journal.mark(change, "writing")
    memory_file.add(journal, "notes", "next", by=AGENT)
    assert (find(journal.store, made).state, find(journal.store, lost).state) == ("kept", "failed")


def test_a_lock_is_held_by_one_at_a_time_and_not_waited_for_without_end(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    with locked(path), pytest.raises(CannotDo, match="held by another program"), locked(path, wait_seconds=0.05):
        pass
    with locked(path, wait_seconds=0.05):
        assert path.exists()


WRITER = """
    import sys, time
    from pathlib import Path
    import msgspec
    from seasoned.begin.memory import LIMITS
    from seasoned.review import memory_file
    from seasoned.review import skill_edit as edit
    from tests.review.journals import REVIEW, journal_at

    home, mark, writes = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    LIMITS["notes"] = 1_000_000
    journal = journal_at(home)
    print("ready", flush=True)
    for number in range(writes):
        # A review writes only a few entries: each time another one.
        by = msgspec.structs.replace(REVIEW, session=f"seasoned:{mark}-{number}")
        for reply in (
            memory_file.add(journal, "notes", f"fact {mark} {number}", by=by),
            edit.patch(journal, "shared", "<!-- end -->", f"step {mark} {number}\\n<!-- end -->", by=by),
        ):
            assert reply.state == "kept", reply
"""


def start(home: Path, mark: str, writes: int) -> subprocess.Popen[str]:
    """A process of its own that writes memory and a skill in turn."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(WRITER), str(home), mark, str(writes)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.slow
def test_two_processes_that_write_at_once_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    monkeypatch.setitem(LIMITS, "notes", 1_000_000)
    journal = journal_at(home)
    edit.create(journal, "shared", BODY, description="Shared.", by=REVIEW)
    writers = [start(home, mark, WRITES) for mark in "ab"]
    for writer in writers:
        writer.communicate(timeout=240)
    assert [writer.returncode for writer in writers] == [0, 0]
    wanted = {f"{mark} {number}" for mark in "ab" for number in range(WRITES)}
    entries = notes(journal)
    steps = [line for line in view(journal.skill_folder, "shared").text.split("\n") if line.startswith("step ")]
    assert len(entries) == len(steps) == 2 * WRITES
    assert {entry.removeprefix("fact ") for entry in entries} == wanted
    assert {step.removeprefix("step ") for step in steps} == wanted
    found = changes(journal.store, limit=10_000)
    assert len(found) == 4 * WRITES + 1 and {change.state for change in found} == {"kept"}


@pytest.mark.slow
def test_a_process_killed_in_the_middle_leaves_whole_files_and_a_true_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setitem(LIMITS, "notes", 1_000_000)
    journal = journal_at(home)
    edit.create(journal, "shared", BODY, description="Shared.", by=REVIEW)
    chance = random.Random(7)
    for round_ in range(KILLS):
        process = start(home, f"r{round_}", 100_000)
        time.sleep(chance.uniform(0.005, 0.15))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        found = memory_file.read(journal.memory_folder, "notes")
        assert found.problem is None
        assert [skill.problem for skill in skills(journal.skill_folder)] == [None]
        assert view(journal.skill_folder, "shared").text.endswith("<!-- end -->\n")
    memory_file.add(journal, "notes", "last", by=REVIEW)
    edit.patch(journal, "shared", "<!-- end -->", "last\n<!-- end -->", by=REVIEW)
    kept = [change for change in changes(journal.store, limit=1_000_000) if change.state == "kept"]
    assert {change.after for change in kept if change.kind == "memory"} == set(notes(journal))
    steps = view(journal.skill_folder, "shared").text.count("\nstep ") + 1
    assert sum(change.action == "patch" for change in kept) == steps
    assert changes(journal.store, state="writing") == []
    assert journal.store.connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    assert sorted(everything_below(journal.skill_folder)) == ["shared/SKILL.md"]
