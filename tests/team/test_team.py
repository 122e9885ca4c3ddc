"""Two homes, a third in another project, and a server on a real PostgreSQL."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from seasoned.app import forget as forgetting
from seasoned.app import team
from seasoned.errors import NotFound, Refused, SeasonedError
from seasoned.store import open_store
from tests.team.homes import BANK, FAILS, SHOP, WORKS, Home, invite, team_server_at


def test_what_one_learned_the_other_is_shown_and_a_third_in_another_project_is_not(
    tmp_path: Path, postgres_url: str
) -> None:
    first, second, third = Home(tmp_path / "a", SHOP), Home(tmp_path / "b", SHOP), Home(tmp_path / "c", BANK)
    first.learn(3)
    assert first.sheet() and first.hints()[FAILS] == WORKS
    third.learn(1, ("ls", None), project=BANK)
    with team_server_at(tmp_path, postgres_url) as server:
        for home, person in ((first, "alice"), (second, "bob"), (third, "carol")):
            home.join(server, person)
            home.sync()
        assert second.sheet() == first.sheet() and second.hints() == first.hints()
        assert third.sheet() == [] and third.sheet(BANK) == [] and third.hints(BANK) == {}
        # Everything was sent once, and pushing or pulling again changes nothing.
        again = team.push(first.config), team.pull(second.config)
        assert (again[0].sent, again[1].sessions) == (0, 0)
        told = team.status(second.config)
        assert (told.problem, told.waiting, told.pulled) == (None, 0, [{"project": SHOP, "sessions": 3, "people": 1}])
        assert {row["kind"]: row["records"] for row in team.status(first.config).stored or ()} == {
            "calls": 3,
            "evidence": 3,
            "session": 3,
        }


def test_forgetting_leaving_and_removing_reach_every_machine(tmp_path: Path, postgres_url: str) -> None:
    first, second, third = (Home(tmp_path / name, SHOP) for name in "abc")
    first.learn(3)
    third.learn(3, ("make test", None), ("make lint", None))
    with team_server_at(tmp_path, postgres_url) as server:
        for home, person in ((first, "alice"), (second, "bob"), (third, "carol")):
            home.join(server, person)
            home.sync()
        second.sync()
        assert {"make test", "make lint"} <= set(second.sheet()) and second.hints() == {FAILS: WORKS}
        # What is forgotten at one machine is withdrawn at once, and removed where it was pulled.
        with open_store(first.config.store_path) as store:
            for row in store.rows("session.all_ids")[:2]:
                target = forgetting.ForgetTarget(sessions=[row["id"]], sentence="one")
                assert forgetting.forget(first.config, store, target) == []
        assert team.pull(second.config).withdrawn == 2
        assert second.hints() == {} and "make test" in second.sheet()
        # An admin removes a machine: everything that was learned from it goes, and it can push no more.
        machine = next(one["name"] for one in team.machines(server.config) if one["person"] == "carol")
        assert team.remove(server.config, machine, by="root") == 9
        team.pull(second.config)
        assert second.sheet() == []
        with pytest.raises(SeasonedError, match="no longer accepts"):
            team.pull(third.config)
        assert "no longer accepts" in (team.status(third.config).problem or "")
        # Who leaves can withdraw, and keeps nothing that was pulled.
        file = tmp_path / "mine.jsonl"
        assert team.export(first.config, file) == 3 and len(file.read_bytes().splitlines()) == 3
        assert team.leave(first.config, withdraw=True) == 3
        with pytest.raises(NotFound, match="team join"):
            team.status(first.config)
        assert [one["records"] for one in team.machines(server.config)] == [0, 0, 0]


def test_a_code_works_once_and_nothing_is_pushed_before_the_user_agreed(tmp_path: Path, postgres_url: str) -> None:
    home = Home(tmp_path / "a", SHOP)
    home.learn(2)
    with team_server_at(tmp_path, postgres_url) as server:
        code, machine = invite(server, "alice")
        assert team.join(home.config, server.url, code, ()).machine == machine
        with pytest.raises(Refused, match="used or expired"):
            team.join(Home(tmp_path / "b").config, server.url, code, ())
        made = team.preview(home.config)
        team.sync(home.config)  # what the background process does
        assert team.status(home.config).stored == []
        team.push(home.config)
        exported = tmp_path / "exported.jsonl"
        team.export(home.config, exported)
    # What was shown is what was sent.
    shown = [msgspec.json.decode(line) for line in made.file.read_bytes().splitlines()]
    sent = [msgspec.json.decode(line) for line in exported.read_bytes().splitlines()]
    assert len(shown) == 6
    assert [{name: one[name] for name in ("project", "kind", "key", "document")} for one in sent] == shown


def test_a_project_that_is_not_allowed_is_not_pushed_and_one_no_longer_allowed_is_withdrawn(
    tmp_path: Path, postgres_url: str
) -> None:
    home = Home(tmp_path / "a")
    home.learn(2)
    home.learn(1, project=BANK)
    with team_server_at(tmp_path, postgres_url) as server:
        home.join(server, "alice")
        for projects, stored in ((), 0), ((BANK,), 3), (("*",), 9), ((SHOP,), 6), ((), 0):
            settings = msgspec.structs.replace(home.config.team, projects=projects)
            home.config = msgspec.structs.replace(home.config, team=settings)
            home.sync()
            assert sum(row["records"] for row in team.status(home.config).stored or ()) == stored
