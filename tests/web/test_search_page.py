"""The box on every page finds sessions by what was said in them, and opens them at that place."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from seasoned.store.search import fill
from tests.cli.run import answer
from tests.web.filled import HOSTILE, fill_sessions, store_of
from tests.web.pages import site


def test_a_word_someone_said_leads_to_the_message(home: Path) -> None:
    fill_sessions(home)
    with store_of(home) as store:
        row = store.row("session.find_ref", {"agent": "claude-code", "native_id": FIRST})
        assert row is not None
        with store.write():
            store.run("search.save_said", (row["id"], 900, msgspec.json.encode([(900, 0, HOSTILE)]).decode()))
        assert fill(store) == 0
    with site(home) as found, found.reader() as visitor:
        page = visitor.client.get(f"{visitor.path}/overview").text
        assert f'action="{visitor.path}/search"' in page
        page = visitor.client.get(f"{visitor.path}/search", params={"q": "carriers"})
        assert page.status_code == 200
        links = re.findall(r'href="([^"]*/sessions/[^"]+\?at=\d+#(message|call)-(\d+))"', page.text)
        assert links and '<mark class="hit">' in page.text
        address, kind, number = links[0]
        opened = visitor.client.get(address.partition("#")[0]).text
        assert f'id="{kind}-{number}"' in opened and "carriers" in opened
        # A filter; a text that is no search, and one that would be markup.
        none = visitor.client.get(f"{visitor.path}/search", params={"q": "carriers", "agent": "aider"}).text
        assert "No session has these words" in none
        assert "letter or a digit" in visitor.client.get(f"{visitor.path}/search", params={"q": "=>"}).text
        hostile = visitor.client.get(f"{visitor.path}/search", params={"q": "onerror"}).text
        assert "<img" not in hostile and "&lt;img" in hostile and "U+202E" in hostile


FIRST = "40904d81-3cc3-479a-add2-41b5627b4125"


def test_the_command_finds_the_same(home: Path, samples: Path) -> None:
    answer("scan", samples)
    with store_of(home / ".seasoned") as store:
        assert fill(store) == 0, "searching itself fills the index for a short time only"
    found = answer("search", "carriers", "--all", "--limit", 1)
    assert found["has_more"] and found["waiting"] == 0 and found["count"] == 1
    hit = found["hits"][0]
    assert "carriers" in hit["snippet"].lower() and hit["matches"]
    failed = answer("search", "error", "--all", "--tool", "Bash", "--verdict", "failed")["hits"]
    assert failed and {(one["tool"], one["verdict"], one["by"]) for one in failed} == {("Bash", "failed", "call")}
