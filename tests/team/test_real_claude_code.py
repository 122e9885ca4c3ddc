"""What the first member's real Claude Code learned, the second's very first session in the repository is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.hooks.connected import LEARNED, block_of, shown
from tests.hooks.test_real_claude_code import ClaudeCode, bash, said_after
from tests.team.homes import BANK, SHOP, invite, team_server_at

WRONG, RIGHT = "./wp report late --week 9", "./wp report late --week 2026-W09"
ONCE = [bash("make test"), bash(WRONG), bash(RIGHT), {"text": "Three."}]
ASKED = "How many parcels were late?"


def _member(folder: Path, project: str) -> ClaudeCode:
    folder.mkdir()
    place = ClaudeCode(folder)
    (place.work / ".git").mkdir()
    (place.work / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (place.work / ".git" / "config").write_text(f'[remote "origin"]\n\turl = git@{project.replace("/", ":", 1)}.git\n')
    place.seasoned("connect", "claude-code", "--yes")
    return place


@pytest.mark.slow
def test_a_newcomer_s_first_session_knows_what_others_learned_and_another_project_nothing(
    tmp_path: Path, postgres_url: str
) -> None:
    first, second = _member(tmp_path / "a", SHOP), _member(tmp_path / "b", SHOP)
    third = _member(tmp_path / "c", BANK)
    first.run(ONCE, first.ask(ASKED), LEARNED)
    first.record_again(ASKED, "Once more.", "And again?")
    first.seasoned("scan")
    with team_server_at(tmp_path, postgres_url) as server:
        for place, project in ((first, SHOP), (second, SHOP), (third, BANK)):
            code, _ = invite(server, place.home.name)
            place.seasoned("team", "join", server.url, code, "--project", project)
            place.seasoned("team", "push", "--yes")
        status = json.loads(second.seasoned("team", "status", "--json"))
        assert status["pulled"] == [{"project": SHOP, "sessions": 3, "people": 1}] and status["problem"] is None
    # The server is gone now: what was pulled is there.
    _, asked, _ = second.run(ONCE, second.ask(ASKED))
    sheet = block_of(asked[0])
    assert sheet is not None and "`make test`" in sheet
    assert f"[seasoned] `{RIGHT}` works here" in said_after(asked[2], WRONG), "right after the failure"
    _, asked, _ = third.run(ONCE, third.ask(ASKED))
    assert not [one for line in asked for one in shown(line)]
