"""`seasoned advise`: the list, a step that is shown first, applied and undone, and what is said if there is none."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.run import seasoned
from tests.web.filled import fill_project


def test_advice_is_listed_applied_and_undone(tmp_path: Path) -> None:
    folder, home = tmp_path / "shop", tmp_path / "home"
    (folder / ".git").mkdir(parents=True)
    (folder / "Makefile").write_text("test:\nlint:\n", "utf-8")
    home.mkdir()
    fill_project(home, folder, sessions=4)
    (home / ".claude").mkdir()
    own = {"HOME": str(home), "SEASONED_HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / ".claude")}
    listed = seasoned("advise", **own).stdout
    assert listed.startswith("1. Connect Claude Code: its next sessions see what works in their project.\n")
    assert "2. Run `make test` instead of `rtk make test`. [shop]\n   4 sessions, 4 calls lost, " in listed
    assert f"Step: a line for {folder}/CLAUDE.md (`seasoned advise --apply 2`)" in listed
    answer = json.loads(seasoned("advise", "--project", folder, "--json", **own).stdout)
    assert answer["project"] == str(folder)
    assert [one["sentence"] for one in answer["advice"]] == ["Run `make test` instead of `rtk make test`."]
    # The list of the project was shown last, so 1 is its first.
    looked = seasoned("advise", "--apply", "1", "--dry-run", **own).stdout
    assert "+- Run `make test` instead of `rtk make test`." in looked
    assert looked.endswith("Nothing was changed.\n")
    assert not (folder / "CLAUDE.md").exists()
    seasoned("advise", "--apply", "1", stdin="n\n", **own)
    assert not (folder / "CLAUDE.md").exists()
    applied = json.loads(seasoned("advise", "--apply", "1", "--yes", "--json", **own).stdout)
    assert applied["state"] == "applied"
    assert [one["path"] for one in applied["changes"]] == [f"{folder}/CLAUDE.md"]
    assert "- Run `make test` instead of `rtk make test`.\n" in (folder / "CLAUDE.md").read_text("utf-8")
    listed = seasoned("advise", **own).stdout
    assert "Too early to tell: before in 4 of 4 sessions, since then in 0 of 0." in listed
    # The line names the command that fails, and is no instruction to run it.
    assert listed.startswith("1. Connect Claude Code") and "\n2. " not in listed
    assert "Undone" in seasoned("advise", "--undo", "--yes", **own).stdout
    assert not (folder / "CLAUDE.md").exists()
    assert "No advice was applied" in seasoned("advise", "--undo", "--yes", expect=1, **own).stderr
    assert "\n2. Run `make test` instead" in seasoned("advise", **own).stdout
    seasoned("advise", "--dismiss", "2", **own)
    assert "Nothing to advise" in seasoned("advise", "--project", folder, **own).stdout
    assert "seasoned advise" in seasoned("advise", "--apply", "77", "--yes", expect=1, **own).stderr
    assert "Add --yes" in seasoned("advise", "--undo", "--json", expect=2, **own).stderr
