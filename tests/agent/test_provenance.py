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

from seasoned.agent import memory, skill_writing
from seasoned.agent.desk import Desk
from seasoned.agent.lock import locked
from seasoned.agent.provenance import Change, changes, created_by, find, mark
from seasoned.agent.skill import skills, view
from seasoned.agent.undo import accept, forget, reject, undo
from seasoned.agent.whole import digest
from seasoned.errors import CannotDo
from tests.agent.desks import AGENT, NOW, PERSON, REVIEW, desk_at, everything_below

ROOT = Path(__file__).resolve().parents[2]
WRITES = 200
KILLS = 60 if os.environ.get("SEASONED_TORTURE") else 10
BODY = "# Steps\n\n<!-- end -->\n"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return desk_at(tmp_path / "home")


def newest(desk: Desk) -> Change:
    return changes(desk.store)[0]


def notes(desk: Desk) -> list[str]:
    return list(memory.read(desk.memory_folder, "notes", limit=desk.notes_limit).entries)


def test_a_write_carries_everything_about_its_origin(desk: Desk) -> None:
    reply = skill_writing.create(desk, "build", BODY, description="Build it.", by=REVIEW)
    change = newest(desk)
    assert change.id == reply.change and change.state == "kept" and change.at == NOW
    assert {name: getattr(change, name) for name in REVIEW.__struct_fields__} == msgspec.structs.asdict(REVIEW)
    assert (change.kind, change.target, change.file, change.action) == ("skill", "build", "SKILL.md", "create")
    assert change.before_digest is None
    assert change.after_digest == digest(view(desk.skill_folder, "build").text)
    assert created_by(desk.store, desk.skill_folder, "build") == "review"


def test_what_was_there_before_is_known(desk: Desk) -> None:
    memory.add(desk, "notes", "Port is 1.", by=AGENT)
    memory.replace(desk, "notes", "Port", "Port is 2.", by=REVIEW)
    change = newest(desk)
    assert (change.before, change.after, change.actor) == ("Port is 1.", "Port is 2.", "review")
    assert [one.session for one in changes(desk.store, session="seasoned:s1")] == ["seasoned:s1"]


def test_secrets_of_a_task_or_of_an_older_text_do_not_get_into_the_store(desk: Desk) -> None:
    secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
    place = desk.skill_folder / "old" / "SKILL.md"
    place.parent.mkdir(parents=True)
    text = f"---\nname: old\ndescription: Old.\n---\ntoken={secret}\nStep one.\n"
    place.write_text(text, "utf-8")
    by = msgspec.structs.replace(AGENT, task=f"deploy with token={secret}")
    reply = skill_writing.patch(desk, "old", "Step one.", "Step two.", by=by)
    assert reply.change is not None and newest(desk).task == desk.redactor.text(f"deploy with token={secret}")
    desk.store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert secret.encode() not in (desk.home / "seasoned.db").read_bytes()
    assert undo(desk, reply.change).ok
    assert place.read_text("utf-8") == text


def test_an_undone_write_leaves_what_came_after_it(desk: Desk) -> None:
    first = memory.add(desk, "notes", "One.", by=AGENT)
    second = memory.replace(desk, "notes", "One", "One, changed.", by=AGENT)
    memory.add(desk, "notes", "Two.", by=AGENT)
    gone = memory.remove(desk, "notes", "Two", by=AGENT)
    assert first.change and second.change and gone.change
    assert undo(desk, second.change).ok and notes(desk) == ["One."]
    assert undo(desk, gone.change).ok and notes(desk) == ["One.", "Two."]
    assert undo(desk, first.change).ok and notes(desk) == ["Two."]
    assert "is undone" in undo(desk, first.change).said
    assert (find(desk.store, first.change).state, find(desk.store, first.change).decided_by) == ("undone", "person")
    assert undo(desk, 999).said.startswith("There is no change 999")


def test_an_entry_that_was_changed_since_cannot_be_taken_back(desk: Desk) -> None:
    first = memory.add(desk, "notes", "One.", by=AGENT)
    memory.replace(desk, "notes", "One", "Other.", by=PERSON)
    assert first.change and "no longer there" in undo(desk, first.change).said
    assert find(desk.store, first.change).state == "kept"


def test_changes_of_a_skill_are_undone_one_after_the_other(desk: Desk) -> None:
    made = skill_writing.create(desk, "build", BODY, description="Build it.", by=AGENT)
    start = everything_below(desk.skill_folder)
    patched = skill_writing.patch(desk, "build", "# Steps", "# The steps", by=REVIEW)
    added = skill_writing.write_file(desk, "build", "scripts/a.sh", "one\n", by=REVIEW)
    written = skill_writing.write_file(desk, "build", "scripts/a.sh", "two\n", by=REVIEW)
    assert made.change and patched.change and added.change and written.change
    assert "undo the later changes first" in undo(desk, made.change).said
    assert "undo the later changes first" in undo(desk, added.change).said
    for change in (written.change, added.change, patched.change):
        assert undo(desk, change).ok
    assert everything_below(desk.skill_folder) == start
    assert undo(desk, made.change).ok
    assert skills(desk.skill_folder) == []
    assert "build/" not in str(list(desk.skill_folder.iterdir()))


def test_staged_writes_wait_for_a_person(desk: Desk) -> None:
    memory.add(desk, "notes", "Old fact.", by=PERSON)
    skill_writing.create(desk, "build", BODY, description="Build it.", by=AGENT)
    before = everything_below(desk.skill_folder) | everything_below(desk.memory_folder)
    waiting = desk_at(desk.home, staging=True)
    staged = [
        memory.add(waiting, "notes", "New fact.", by=REVIEW),
        memory.replace(waiting, "notes", "Old", "Better fact.", by=AGENT),
        skill_writing.create(waiting, "ship", BODY, description="Ship it.", by=REVIEW),
        skill_writing.patch(waiting, "build", "# Steps", "# All steps", by=REVIEW),
        skill_writing.write_file(waiting, "build", "references/a.md", "a", by=REVIEW),
    ]
    assert [reply.state for reply in staged] == ["staged"] * 5
    assert memory.add(waiting, "notes", "New fact.", by=REVIEW).said == "The same change waits for a person already."
    assert everything_below(desk.skill_folder) | everything_below(desk.memory_folder) == before
    assert len(changes(desk.store, state="staged")) == 5
    rejected, *accepted = [reply.change for reply in staged if reply.change]
    assert reject(desk, rejected).ok
    for change in accepted:
        assert accept(desk, change).state == "kept"
    assert notes(desk) == ["Better fact."]
    assert [skill.id for skill in skills(desk.skill_folder)] == ["build", "ship"]
    assert view(desk.skill_folder, "build", "references/a.md").text == "a"
    assert "does not wait" in accept(desk, rejected).said
    change = find(desk.store, accepted[0])
    assert (change.actor, change.state, change.decided_by, change.decided_at) == ("agent", "kept", "person", NOW)
    assert undo(desk, accepted[0]).ok and notes(desk) == ["Old fact."]


def test_a_person_does_not_wait_for_themselves(desk: Desk) -> None:
    waiting = desk_at(desk.home, staging=True)
    assert memory.add(waiting, "notes", "Mine.", by=PERSON).state == "kept"


def test_what_waited_too_long_is_not_made_over_newer_work(desk: Desk) -> None:
    skill_writing.create(desk, "build", BODY, description="Build it.", by=AGENT)
    memory.add(desk, "notes", "Old.", by=AGENT)
    waiting = desk_at(desk.home, staging=True)
    patch = skill_writing.patch(waiting, "build", "# Steps", "# A", by=REVIEW).change
    gone = skill_writing.delete(waiting, "build", by=REVIEW).change
    entry = memory.remove(waiting, "notes", "Old", by=REVIEW).change
    skill_writing.patch(desk, "build", "# Steps", "# B", by=PERSON)
    memory.replace(desk, "notes", "Old", "New.", by=PERSON)
    for change in (patch, gone, entry):
        assert change and accept(desk, change).state == "refused"
        assert find(desk.store, change).state == "staged"
    assert "# B" in view(desk.skill_folder, "build").text and notes(desk) == ["New."]


def test_what_a_forgotten_session_taught_is_gone_everywhere(desk: Desk) -> None:
    other = msgspec.structs.replace(AGENT, session="seasoned:s2")
    skill_writing.create(desk, "build", BODY, description="Build it.", by=other)
    memory.add(desk, "notes", "Stays.", by=other)
    before = everything_below(desk.skill_folder)
    memory.add(desk, "notes", "Zanzibar one.", by=AGENT)
    memory.add(desk, "notes", "Zanzibar two.", by=REVIEW)
    memory.replace(desk, "notes", "two", "Changed by another.", by=other)
    skill_writing.patch(desk, "build", "# Steps", "# Zanzibar", by=AGENT)
    skill_writing.write_file(desk, "build", "references/z.md", "Zanzibar", by=REVIEW)
    skill_writing.create(desk, "zanzibar", "Zanzibar.", description="Zanzibar.", by=REVIEW)
    skill_writing.delete(desk, "zanzibar", by=REVIEW)
    failed = forget(desk, "seasoned:s1")
    assert [reply.said for reply in failed] == [
        "The entry 'Zanzibar two.' is no longer there: look at the memory again."
    ]
    assert notes(desk) == ["Stays.", "Changed by another."]
    assert everything_below(desk.skill_folder) == before
    assert b"Zanzibar" not in b"".join(everything_below(desk.home / "aside").values())
    assert {change.session for change in changes(desk.store)} == {"seasoned:s2"}
    assert "Zanzibar" not in str(changes(desk.store))


def test_a_write_that_the_system_refuses_is_said_and_noted(desk: Desk) -> None:
    memory.add(desk, "notes", "One.", by=AGENT)
    (desk.home / "unfinished").rmdir()
    (desk.home / "unfinished").write_text("in the way", "utf-8")
    with pytest.raises(CannotDo, match="cannot be written"):
        memory.add(desk, "notes", "Two.", by=AGENT)
    assert newest(desk).state == "failed" and notes(desk) == ["One."]


def test_changes_whose_process_died_are_settled_by_what_the_files_say(desk: Desk) -> None:
    for text in ("made", "not made"):
        memory.add(desk, "notes", text, by=AGENT)
    made, lost = (change.id for change in reversed(changes(desk.store)))
    (desk.memory_folder / "MEMORY.md").write_text("made", "utf-8")
    for change in (made, lost):
        mark(desk.store, change, "writing")
    memory.add(desk, "notes", "next", by=AGENT)
    assert (find(desk.store, made).state, find(desk.store, lost).state) == ("kept", "failed")


def test_a_lock_is_held_by_one_at_a_time_and_not_waited_for_without_end(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    with locked(path), pytest.raises(CannotDo, match="held by another program"), locked(path, wait_seconds=0.05):
        pass
    with locked(path, wait_seconds=0.05):
        assert path.exists()


WRITER = """
    import sys, time
    from pathlib import Path
    from seasoned.agent import memory, skill_writing
    from tests.agent.desks import REVIEW, desk_at

    home, mark, writes = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    desk = desk_at(home, notes_limit=1_000_000)
    print("ready", flush=True)
    for number in range(writes):
        for reply in (
            memory.add(desk, "notes", f"fact {mark} {number}", by=REVIEW),
            skill_writing.patch(desk, "shared", "<!-- end -->", f"step {mark} {number}\\n<!-- end -->", by=REVIEW),
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
def test_two_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    desk = desk_at(home, notes_limit=1_000_000)
    skill_writing.create(desk, "shared", BODY, description="Shared.", by=REVIEW)
    writers = [start(home, mark, WRITES) for mark in "ab"]
    for writer in writers:
        writer.communicate(timeout=240)
    assert [writer.returncode for writer in writers] == [0, 0]
    wanted = {f"{mark} {number}" for mark in "ab" for number in range(WRITES)}
    entries = notes(desk)
    steps = [line for line in view(desk.skill_folder, "shared").text.split("\n") if line.startswith("step ")]
    assert len(entries) == len(steps) == 2 * WRITES
    assert {entry.removeprefix("fact ") for entry in entries} == wanted
    assert {step.removeprefix("step ") for step in steps} == wanted
    found = changes(desk.store, limit=10_000)
    assert len(found) == 4 * WRITES + 1 and {change.state for change in found} == {"kept"}


@pytest.mark.slow
def test_a_process_killed_in_the_middle_leaves_whole_files_and_a_true_record(tmp_path: Path) -> None:
    home = tmp_path / "home"
    desk = desk_at(home, notes_limit=1_000_000)
    skill_writing.create(desk, "shared", BODY, description="Shared.", by=REVIEW)
    chance = random.Random(7)
    for round_ in range(KILLS):
        process = start(home, f"r{round_}", 100_000)
        time.sleep(chance.uniform(0.005, 0.15))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        found = memory.read(desk.memory_folder, "notes", limit=1_000_000)
        assert found.problem is None
        assert [skill.problem for skill in skills(desk.skill_folder)] == [None]
        assert view(desk.skill_folder, "shared").text.endswith("<!-- end -->\n")
    memory.add(desk, "notes", "last", by=REVIEW)
    skill_writing.patch(desk, "shared", "<!-- end -->", "last\n<!-- end -->", by=REVIEW)
    kept = [change for change in changes(desk.store, limit=1_000_000) if change.state == "kept"]
    assert {change.after for change in kept if change.kind == "memory"} == set(notes(desk))
    steps = view(desk.skill_folder, "shared").text.count("\nstep ") + 1
    assert sum(change.action == "patch" for change in kept) == steps
    assert changes(desk.store, state="writing") == []
    assert desk.store.connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    assert sorted(everything_below(desk.skill_folder)) == ["shared/SKILL.md"]
