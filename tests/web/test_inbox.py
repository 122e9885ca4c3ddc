"""The inbox page: each change is shown, accepted as it is or edited, rejected and undone; samples change nothing."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from seasoned.web.display import project_link
from tests.web.filled import fill_learned, fill_project, fill_sessions, store_of
from tests.web.pages import Site, Visitor, site

PATIENCE_SECONDS = 60.0


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("projects") / "shop"
    (folder / ".git").mkdir(parents=True)
    (folder / "Makefile").write_text("test:\n\ttrue\nlint:\n\ttrue\n", "utf-8")
    (folder / "CLAUDE.md").write_bytes(b"# Shop\r\n\r\nBuild with care.")
    return folder


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, shop: Path) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("home")
    fill_project(home, shop, sessions=6)
    claude = tmp_path_factory.mktemp("claude")
    (claude / "settings.json").write_bytes(b'{"model": "opus"}\n')
    with site(home, settings={"claude_config_dir": claude}) as found:
        yield found


def look(visitor: Visitor, page: str, words: str = "") -> str:
    """A page, once it holds these words: proposals are gathered in the background."""
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        answer = visitor.client.get(f"{visitor.path}/{page}")
        assert answer.status_code == 200, answer.text[:500]
        if words in answer.text:
            return answer.text
        assert time.monotonic() < end, answer.text
        time.sleep(0.1)


def press(visitor: Visitor, page: str, action: str, **fields: str) -> str:
    """Press a button of a page; the address that the answer leads to."""
    check = re.search(r'name="check" value="([^"]+)"', look(visitor, page))
    assert check is not None
    answer = visitor.client.post(f"{visitor.path}/{action}", data={"check": check[1], **fields})
    assert answer.status_code == 303, answer.text
    return answer.headers["location"].removeprefix(visitor.path + "/")


def proposal_in(text: str, words: str) -> str:
    card = re.search(r'id="proposal-(\w+)">(?:(?!</li>).)*?' + re.escape(words), text, re.DOTALL)
    assert card is not None, text
    return card[1]


def test_the_overview_is_three_figures_what_went_wrong_and_at_most_three_proposals(filled: Site) -> None:
    with filled.visitor() as alice:
        text = look(alice, "overview", 'id="proposal-')
        found = [text.index(words) for words in ("Sessions</dt>", "Error rate</dt>", "Cost</dt>", "What went wrong")]
        assert found == sorted(found) and text.count("the week before") == 3
        assert "Worth doing" in text and "What sessions saw" in text and "no agent is connected" in text
        assert 1 <= text.count('<li id="proposal-') <= 3 and "6 sessions, 6 calls lost" in text
        # A failed call with its error, and one click to it.
        link = re.search(r'href="([^"]+)"><code>rtk make test</code></a><span class="error">([^<]+)<', text)
        assert link is not None and "unrecognized subcommand" in link[2]
        address, _, anchor = link[1].partition("#")
        assert f'id="{anchor}"' in alice.client.get(address).text


def test_a_proposal_is_shown_accepted_edited_rejected_and_undone(filled: Site, shop: Path) -> None:
    before = (shop / "CLAUDE.md").read_bytes()
    learned = b"\r\n\r\n## Learned from sessions\r\n\r\n- "
    with filled.visitor() as alice:
        name = proposal_in(look(alice, "overview", 'id="proposal-'), "instead of <code>rtk make test</code>")
        page, path = look(alice, f"inbox/{name}"), f"inbox/{name}"
        assert '<span class="came">+- Run `make test` instead of `rtk make test`.' in page
        assert str(shop / "CLAUDE.md") in page and "Would have helped in 4 of 4 later sessions" in page
        assert (shop / "CLAUDE.md").read_bytes() == before, "looking changes nothing"
        assert press(alice, path, f"{path}/accept") == "inbox"
        assert (shop / "CLAUDE.md").read_bytes() == before + learned + b"Run `make test` instead of `rtk make test`."
        assert f'id="proposal-{name}"' not in look(alice, "inbox", "Decided")
        press(alice, path, f"{path}/undo")
        assert (shop / "CLAUDE.md").read_bytes() == before
        press(alice, path, f"{path}/accept", text="Leave `rtk` out.")
        assert (shop / "CLAUDE.md").read_bytes() == before + learned + b"Leave `rtk` out."
        press(alice, path, f"{path}/undo")
        press(alice, path, f"{path}/reject")
        assert "rejected" in look(alice, "inbox") and (shop / "CLAUDE.md").read_bytes() == before
        press(alice, path, f"{path}/undo")
        assert alice.client.get(f"{alice.path}/inbox/nothing").status_code == 404


def test_the_page_of_a_project_holds_everything_about_it(filled: Site, shop: Path) -> None:
    with filled.visitor() as alice:
        text = look(alice, project_link(str(shop)), 'class="cards"')
        for words in ("not connected", "What to do", "Newest sessions", "Repeated mistakes", "Cost", "backtest"):
            assert words in text, words
        chosen = alice.client.get(f"{alice.path}/overview", params={"project": str(shop)})
        assert chosen.headers["location"].endswith(project_link(str(shop)))
        assert "instead of <code>rtk make test</code>" in look(alice, f"inbox?project={shop}", 'class="cards"')


def test_who_only_reads_sees_what_waits_and_changes_nothing(tmp_path: Path) -> None:
    fill_learned(tmp_path)
    with site(tmp_path) as found, found.reader() as onlooker:
        text = look(onlooker, "inbox/change-5")
        assert "log in with your passphrase" in text and "/accept" not in text
        overview = look(onlooker, "overview")
        assert "1 proposal</strong></a>" in overview
        check = text.partition('name="check" value="')[2].partition('"')[0]
        answer = onlooker.client.post("/inbox/change-5/accept", data={"check": check})
        assert (answer.status_code, "passphrase" in answer.text) == (403, True)
        assert "port 5433" in (tmp_path / "memory" / "MEMORY.md").read_text("utf-8")


def test_samples_and_an_empty_home_offer_nothing_to_change(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "samples").mkdir()
    fill_sessions(tmp_path / "samples")
    fill_project(tmp_path / "samples", "/home/mira/shop")
    with store_of(tmp_path / "samples") as store:
        path = Path(store.path or "")
    with site(tmp_path / "own", samples=path) as found, found.visitor() as alice:
        text = look(alice, "inbox", 'class="cards"')
        name = re.findall(r'id="proposal-(\w+)"', text)[0]
        assert "These are samples" in look(alice, f"inbox/{name}")
        check = re.search(r'name="check" value="([^"]+)"', text)
        assert check is not None
        answer = alice.client.post(f"{alice.path}/inbox/{name}/reject", data={"check": check[1]})
        assert answer.status_code == 400
        assert "These are samples" in answer.text
    with site(tmp_path / "own", tokens=found.serving.tokens) as empty, empty.visitor() as alice:
        assert "No sessions yet" in look(alice, "overview")
        assert "The inbox is empty" in look(alice, "inbox")
