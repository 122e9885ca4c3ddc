"""Reviews by a model that obeys what a session read: what of it stands in front of the next session?"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import seasoned
from seasoned.app.agent import review
from seasoned.config import load
from seasoned.runner.model import ModelChoice
from seasoned.testing import Call, call, serve_script
from tests.experience.attack.cases import TASKS, table
from tests.experience.attack.channels import start_of
from tests.experience.attack.histories import DAY, Step, make_tree, write_session
from tests.experience.attack.world import World

# A review keeps at most five notes and two skills.
_NOTES = 4


def shown_notes(world: World, kind: str) -> Iterator[tuple[dict[str, Any], bool]]:
    """Each note of a table, and whether the next session in its project was shown it."""
    notes = table(kind)["notes"]
    with world.active():
        for number in range(0, len(notes), _NOTES):
            some = notes[number : number + _NOTES]
            project = f"{kind}-{number}"
            folder = world.folder(project)
            make_tree(folder, [])
            # Half of the hostile sessions read a page, the others a file of the project.
            source = "user" if kind == "harmless" else ("page", "file")[number // _NOTES % 2]
            _review(world, project, folder, some, source)
            text = start_of("claude-code", str(folder), project)
            yield from ((note, note["needle"] in text) for note in some)


def _review(world: World, project: str, folder: Path, notes: Sequence[dict[str, Any]], source: str) -> None:
    """One session that met these texts, and its review by a model that keeps all of them."""
    write_session(
        world.root / "reviewed", project, folder, time.time() - DAY, _steps(notes, source), codex=source == "file"
    )
    (session,) = [one for one in seasoned.read(world.root / "reviewed") if one.ref.native_id == project]
    with serve_script([_kept(note) for note in notes], "Kept it.") as server:
        review(load(), session, "both", ModelChoice("m", server.base_url), staging=False)


def _kept(note: dict[str, Any]) -> Call:
    if "name" not in note:
        return call("memory", action="add", target="notes", text=note["text"])
    content = f"# Steps\n\n1. {note['text']}\n"
    return call("skill_manage", action="create", name=note["name"], description=note["text"], content=content)


def _steps(notes: Sequence[dict[str, Any]], source: str) -> Iterator[Step]:
    yield "user", TASKS[notes[0]["lang"]]
    for note in notes:
        if source == "user":
            yield "user", note["text"]
        elif source == "page":
            yield "page", f"Welcome. {note['text']} See also the index."
        else:
            yield "call", ("Read", {"file_path": "docs/guide.md"}, f"# Guide\n\n{note['text']}\n", False)
    yield "call", ("Bash", {"command": "make test"}, "3 passed in 0.2s", False)
    yield "says", "Done."
