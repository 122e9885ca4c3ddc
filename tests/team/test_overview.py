"""What a team looks at over all machines: numbers, mistakes, search and advice, and who sees which page."""

from __future__ import annotations

from pathlib import Path

import msgspec

from seasoned.app import team
from seasoned.app.stores import shared_database
from seasoned.app.team import team_advice
from seasoned.config import Config
from seasoned.redact.key import Secrecy, new_key
from seasoned.team import overview
from tests.confirm.serving import Serving
from tests.team.homes import BANK, FAILS, SHOP, WORKS, Home, Step, team_server_at
from tests.web.pages import Visitor

STUCK: tuple[Step, ...] = (("make deploy", "make: *** [deploy] Error 1"),)
# Each page: its status for an approver and an admin, and a text that only its readers see.
PAGES = {
    "team": (200, 200, SHOP),
    f"team/project?key={SHOP}": (200, 200, FAILS),
    "team/project?key=example.org/no/such": (404, 404, ""),
    "team/sessions": (200, 200, "claude"),
    f"team/sessions?key={BANK}": (200, 200, BANK),
    "team/usage": (200, 200, "Budget of this month: $500.00"),
    "team/advice": (200, 200, WORKS),
    "team/search?q=verify+rtk": (200, 403, FAILS),
}


def _filled(folder: Path, server: Serving) -> list[Home]:
    homes = [Home(folder / name, SHOP, BANK) for name in "ab"]
    homes[1].config = _with_team(homes[1].config, name="Bea", conversations=True)
    for home, person in zip(homes, ("alice@acme", "bob@acme"), strict=True):
        home.learn(2)
        home.session(("cat /home/alice-doe/notes/plan.txt", None), *STUCK, prompt="Move the lighthouse.", project=BANK)
        home.scan()
        home.join(server, person)
        home.sync()
    return homes


def _with_team(config: Config, **settings: object) -> Config:
    return msgspec.structs.replace(config, team=msgspec.structs.replace(config.team, **settings))


def test_queries_over_all_machines_add_up_and_find_only_what_was_allowed(tmp_path: Path, postgres_url: str) -> None:
    with team_server_at(tmp_path, postgres_url) as server:
        homes = _filled(tmp_path, server)
        with shared_database(server.config) as database:
            found = overview.sessions(database, project=None, before=None, limit=50)
            assert sorted(one.project for one in found) == [BANK] * 2 + [SHOP] * 4
            assert [one.last for one in found] == sorted((one.last for one in found), reverse=True)
            assert {one.shown_as for one in found} == {None, "Bea"}
            # Page by page, nothing is left out or shown twice.
            pages, place = [], None
            while page := overview.sessions(database, project=None, before=place, limit=2):
                pages += page
                place = (page[-1].last, page[-1].seq)
            assert pages == found
            for by in ("day", "project", "model", "agent"):
                assert sum(one.sessions for one in overview.usage(database, by)) == 6
            assert {one.name: one.calls for one in overview.usage(database, "project")} == {SHOP: 16, BANK: 4}
            assert [one.calls for one in overview.tools(database, SHOP)] == [16]
            (mistake,) = overview.mistakes(database, SHOP)
            assert (mistake.form, mistake.sessions, mistake.people, mistake.repaired) == (FAILS, 4, 2, 4)
            advice = team_advice(database, Secrecy(new_key()).redactor())
            said = f"Run `{WORKS}` without `rtk`."
            assert [(one.project, one.what, one.people) for one in advice] == [(SHOP, said, 2)]
            assert advice[0].why.startswith("2 people, 4 calls lost") and advice[0].why.endswith("2 repaired it")
            # Words, in any order, as parts of paths too; of conversations only those of the member who shares them.
            hits = {
                words: [one.text for one in overview.search(database, words, project=None, limit=50)]
                for words in ("verify rtk", "plan", "lighthouse", "alice-doe", "verify nowhere", "127")
            }
            assert len(hits["verify rtk"]) == 4 and all("verify" in one for one in hits["verify rtk"])
            assert len(hits["plan"]) == 2 and len(hits["lighthouse"]) == 1
            assert hits["alice-doe"] == hits["verify nowhere"] == []
            assert overview.search(database, "verify", project=BANK, limit=50) == []
        # What is withdrawn is neither counted nor found.
        team.leave(homes[1].config, withdraw=True)
        with shared_database(server.config) as database:
            assert sum(one.sessions for one in overview.usage(database, "day")) == 3
            assert len(overview.search(database, "verify", project=None, limit=50)) == 2


def test_each_role_sees_its_pages_and_no_one_a_name_that_was_not_chosen(tmp_path: Path, postgres_url: str) -> None:
    with team_server_at(tmp_path, postgres_url) as server:
        homes = _filled(tmp_path, server)
        assert server.service is not None
        server.service.config = _with_team(server.service.config, budget_usd=500.0)
        for at, name in enumerate(("alice", "root")):
            with Visitor(server.url) as visitor:
                visitor.log_in(server.tokens[name])
                for path, expected in PAGES.items():
                    reply = visitor.client.get(f"{visitor.path}/{path}")
                    assert reply.status_code == expected[at], path
                    assert expected[at] != 200 or expected[2] in reply.text, path
                    # Machines and people are for admins alone, and only on the first page.
                    assert ("bob@acme" in reply.text) == (name == "root" and path == "team"), path
                    assert "alice-doe" not in reply.text and "lighthouse" not in reply.text
        with server.client() as client:
            assert client.get("/visit/guessed/team/search?q=verify").status_code == 303  # to the login
        # Pages that were computed before hold nothing that is withdrawn since.
        team.leave(homes[1].config, withdraw=True)
        with Visitor(server.url) as visitor:
            visitor.log_in(server.tokens["alice"])
            assert WORKS not in visitor.client.get(f"{visitor.path}/team/advice").text
