"""`memory` and `skill` as a user types them."""

from __future__ import annotations

from pathlib import Path

from seasoned.review import memory_file
from seasoned.review import skill_edit as edit
from tests.cli.run import answer, seasoned
from tests.review.journals import REVIEW, journal_at


def test_looking_makes_nothing(home: Path) -> None:
    assert [one["entries"] for one in answer("memory")["memories"]] == [[], []]
    assert answer("skill")["skills"] == []
    assert answer("memory", "--history")["changes"] == []
    assert "No skills yet" in seasoned("skill").stdout
    assert not (home / ".seasoned").exists()


def test_entries_are_kept_listed_replaced_removed_and_brought_back(home: Path) -> None:
    kept = answer("memory", "--add", "The database listens on port 5433.")
    assert kept == {
        "schema": "seasoned/change/1",
        "ok": True,
        "state": "kept",
        "change": 1,
        "said": "Kept. The notes file now has 1 entry, 34 of 2,200 characters.",
    }
    seasoned("memory", "--user", "--add", "Mira likes short answers.")
    seasoned("memory", "--remove", "5433")
    seasoned("memory", "--add", "The database listens on port 5434.")
    notes, user = answer("memory")["memories"]
    assert notes["entries"] == ["The database listens on port 5434."]
    assert (notes["characters"], notes["limit"], user["memory"]) == (34, 2_200, "user")
    assert notes["path"] == str(home / ".seasoned" / "memory" / "MEMORY.md")
    seasoned("memory", "--remove", "5434")
    assert "Undone." in seasoned("memory", "--undo", 5).stdout
    assert "  - The database listens on port 5434.\n" in seasoned("memory").stdout
    states = {change["id"]: change["state"] for change in answer("memory", "--history")["changes"]}
    assert states == {1: "kept", 2: "kept", 3: "kept", 4: "kept", 5: "undone"}


def test_what_is_refused_ends_with_one_and_says_why() -> None:
    done = seasoned("memory", "--add", "password: hunter2secret", expect=1)
    assert done.stdout == "" and "looks like a secret" in done.stderr and "hunter2secret" not in done.stderr
    assert answer("memory", "--remove", "x", expect=1)["state"] == "refused"
    assert "no skill 'nothing'" in seasoned("skill", "nothing", expect=1).stderr
    assert "at a time" in seasoned("memory", "--add", "x", "--history", expect=2).stderr


def test_a_person_accepts_and_rejects_what_waits(home: Path) -> None:
    with journal_at(home / ".seasoned", staged=("memory", "skill")).store as store:
        desk = journal_at(home / ".seasoned", staged=("memory", "skill"), store=store)
        memory_file.add(desk, "notes", "A fact.", by=REVIEW)
        edit.create(desk, "ship", "Ship it.", description="Ship.", by=REVIEW)
    assert "notes: A fact." in seasoned("memory", "--history").stdout
    listed = seasoned("inbox").stdout
    assert "Add the note “A fact.”" in listed and "+A fact." in listed and "create ship" in listed.lower()
    note = next(one["proposal"] for one in answer("inbox")["items"] if one["proposal"]["kind"] == "note")
    assert note["evidence"]["refs"] == ["seasoned:s1"]
    assert "Rejected." in seasoned("inbox", "--reject", note["id"]).stdout
    (waiting,) = answer("inbox")["items"]
    assert answer("inbox", "--accept", waiting["proposal"]["id"], "--yes")["state"] == "accepted"
    assert answer("skill")["skills"][0]["created_by"] == "review"
    assert "The inbox is empty." in seasoned("inbox").stdout
