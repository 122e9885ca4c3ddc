"""In an experiment it is logged which lines of a sheet a session was shown, or which were held back from it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from seasoned.begin.start_text import line_ids
from seasoned.begin.warm_start import NewSession, begin
from seasoned.config import Config, WarmSettings
from seasoned.example.provision import Begun
from seasoned.experiment.live.assignment import ArmShare, keep_split, new_split
from seasoned.store import Store, open_store
from seasoned.store.project import project_key
from tests.lesson.stored import command, keep_lessons

LINE = command("python -m checks")


def _begun(store: Store, folder: Path, experiment: str, cold: float) -> Begun:
    keep_split(store, new_split(experiment, [ArmShare("cold", cold), ArmShare("sheet")], salt="s"), now=1.0)
    session = NewSession(conversation=f"claude-code:{experiment}", format="text", form="text", folder=str(folder))
    return begin(store, Config(home=folder), session, WarmSettings(experiment=experiment), now=1.0)


def test_what_an_arm_shows_and_what_the_control_does_without_are_logged(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    with open_store(tmp_path / "s.db") as store:
        keep_lessons(store, project_key(store, str(folder)) or "", LINE)
        shown = _begun(store, folder, "mostly-sheet", 1e-9)
        assert shown.content is not None and b"python -m checks" in shown.content
        held_back = _begun(store, folder, "mostly-cold", 1e9)
        assert held_back.content is None and held_back.arm == "cold"
        ids = msgspec.json.encode(line_ids([LINE])).decode()
        rows = store.connection.execute("SELECT session, arm, example_ids, is_shown FROM exposure").fetchall()
    assert {tuple(one) for one in rows} == {
        ("claude-code:mostly-sheet", "sheet", ids, 1),
        ("claude-code:mostly-cold", "sheet", ids, 0),
    }
