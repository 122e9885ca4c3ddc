"""A mined folder pushed to the team: what a scan and a push would have sent, once, and only what is allowed."""

# ruff: noqa: E402 - what comes with an extra is looked for before anything that imports it
from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

for _name in ("pyarrow", "fsspec"):
    pytest.importorskip(_name, reason=f"{_name} is not installed: it comes with the extra `mine`")

from seasoned.app import team
from seasoned.app.mine import mine_into_folder, push_into
from seasoned.errors import CannotDo, UsageError
from seasoned.store import open_store
from seasoned.team.client import TeamClient
from seasoned.team.record import records_of
from tests.team.homes import BANK, SHOP, Home, team_server_at


def mined(home: Home) -> str:
    out = str(home.folder / "mined")
    mine_into_folder(home.config, [str(home.folder / "history")], out=out, engine="inline", slow_seconds=900.0)
    return out


def records_in(file: Path) -> list[dict[str, Any]]:
    found = [msgspec.json.decode(line) for line in file.read_bytes().splitlines()]
    return sorted(
        ({name: one[name] for name in ("project", "kind", "key", "document")} for one in found),
        key=lambda one: (one["project"], one["kind"], one["key"]),
    )


def test_a_mined_folder_is_pushed_once_and_others_learn_from_it(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = Home(tmp_path / "a", SHOP), Home(tmp_path / "b", SHOP)
    for project in (SHOP, SHOP, SHOP, BANK):
        first.session(project=project)
    out = mined(first)
    with team_server_at(tmp_path, postgres_url) as server:
        for home, person in ((first, "alice"), (second, "bob")):
            home.join(server, person)
        shown = tmp_path / "shown.jsonl"
        with pytest.raises(CannotDo, match="before you have agreed"):
            push_into(first.config, out, server.url)
        with pytest.raises(UsageError, match="in the team at"):
            push_into(first.config, out, "https://example.org")
        assert push_into(first.config, out, server.url, preview=shown).sent == 9
        assert team.status(first.config).stored == []
        team.push(first.config)
        # The connection breaks after the server has the records, and before that is noted.
        real_push = TeamClient.push

        def broken(self: TeamClient, *given: Any, **more: Any) -> set[int]:
            real_push(self, *given, **more)
            raise CannotDo("the connection broke")

        monkeypatch.setattr(TeamClient, "push", broken)
        with pytest.raises(CannotDo, match="broke"):
            push_into(first.config, out, server.url)
        monkeypatch.undo()
        done = push_into(first.config, out, server.url)
        assert (done.projects, done.sent, done.not_shared, done.refused) == (1, 9, 1, 0)
        again = push_into(first.config, out, server.url)
        assert (again.projects, again.unchanged, again.sent) == (0, 1, 0)
        # The machine's own push leaves these records alone, although its store has no such session.
        assert team.push(first.config).withdrawn == 0
        exported = tmp_path / "exported.jsonl"
        assert team.export(first.config, exported) == 9
        second.sync()
        # The same as if they had been scanned, to the byte.
        first.scan()
        with open_store(first.config.store_path) as store:
            scanned = tmp_path / "scanned.jsonl"
            redactor = team.kept_secrecy(first.config).redactor()
            scanned.write_bytes(b"".join(map(team.record_line, records_of(store, first.config.team, redactor))))
        assert records_in(shown) == records_in(exported) == records_in(scanned)
        assert first.sheet() == second.sheet() != [] and first.hints() == second.hints() != {}
        # One more session: only its records are sent. Then the project is no longer shared.
        first.session()
        assert push_into(first.config, mined(first), server.url).sent == 3
        settings = msgspec.structs.replace(first.config.team, projects=())
        config = msgspec.structs.replace(first.config, team=settings)
        assert push_into(config, out, server.url).withdrawn == 12
        assert push_into(config, out, server.url).withdrawn == 0
