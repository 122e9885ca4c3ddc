"""`seasoned inbox`: the list, a proposal that is shown first, accepted, edited, rejected and undone."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.run import seasoned
from tests.web.filled import fill_project

LINE = "Run `make test` instead of `rtk make test`."


def test_a_proposal_is_listed_accepted_edited_rejected_and_undone(tmp_path: Path) -> None:
    folder, home = tmp_path / "shop", tmp_path / "home"
    (folder / ".git").mkdir(parents=True)
    (folder / "Makefile").write_text("test:\nlint:\n", "utf-8")
    home.mkdir()
    fill_project(home, folder, sessions=4)
    own = {"HOME": str(home), "SEASONED_HOME": str(home)}
    listed = seasoned("inbox", **own).stdout
    assert listed.startswith(f"1. {LINE} [shop]\n   4 sessions, 4 calls lost, ")
    assert "Would have helped in 2 of 2 later sessions that made this mistake, harmed in none." in listed
    assert f"a line for {folder}/CLAUDE.md" in listed and f"     +- {LINE}" in listed
    answer = json.loads(seasoned("inbox", "--project", folder, "--json", **own).stdout)
    assert answer["project"] == str(folder) and answer["items"][0]["proposal"]["sentence"] == LINE
    assert answer["items"][0]["check"]["helped"] == 2
    looked = seasoned("inbox", "--accept", "1", "--dry-run", **own).stdout
    assert f"+- {LINE}" in looked and looked.endswith("Nothing was changed.\n")
    seasoned("inbox", "--accept", "1", stdin="n\n", **own)
    assert not (folder / "CLAUDE.md").exists()
    accepted = json.loads(seasoned("inbox", "--accept", "1", "--yes", "--json", **own).stdout)
    assert accepted["state"] == "accepted"
    assert [one["path"] for one in accepted["changes"]] == [f"{folder}/CLAUDE.md"]
    assert f"- {LINE}\n" in (folder / "CLAUDE.md").read_text("utf-8")
    assert f"accepted: {LINE}" in seasoned("inbox", **own).stdout
    assert "Undone" in seasoned("inbox", "--undo", "--yes", **own).stdout
    assert not (folder / "CLAUDE.md").exists()
    assert "Nothing was accepted" in seasoned("inbox", "--undo", "--yes", expect=1, **own).stderr
    editor = 'sh -c \'echo "Never type \\`rtk\\`." > "$0"\''
    assert f"1. {LINE}" in seasoned("inbox", **own).stdout
    seasoned("inbox", "--edit", "1", "--yes", EDITOR=editor, **own)
    assert (folder / "CLAUDE.md").read_text("utf-8").endswith("- Never type `rtk`.\n")
    seasoned("inbox", "--undo", "--yes", **own)
    seasoned("inbox", "--reject", "1", **own)
    assert f"1. {LINE}" not in seasoned("inbox", "--project", folder, **own).stdout
    assert "seasoned inbox" in seasoned("inbox", "--accept", "77", "--yes", expect=1, **own).stderr
    assert "Add --yes" in seasoned("inbox", "--undo", "--json", expect=2, **own).stderr
