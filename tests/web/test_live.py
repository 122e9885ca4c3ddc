"""A page follows a running session: the stream says that something happened, and the page then shows it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.history.claude_lines import SESSION, ClaudeFile
from tests.web.pages import Site, Visitor, site

REF = f"claude-code:{SESSION}"


@pytest.fixture
def running(tmp_path: Path) -> Iterator[tuple[Site, Callable[[ClaudeFile], Path]]]:
    folder = tmp_path / "claude" / "projects" / "-home-mira-waypost"
    folder.mkdir(parents=True)
    with site(tmp_path / "home", settings={"claude_config_dir": tmp_path / "claude"}) as found:
        yield found, lambda file: file.write(folder / "s.jsonl")


def once(is_so: Callable[[], bool]) -> None:
    """Wait until something is so; only what never comes fails, on however busy a machine."""
    end = time.monotonic() + 300
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.05)


def page_with(visitor: Visitor, path: str, words: str) -> str:
    """The page as soon as it has these words."""
    texts: list[str] = []

    def has_them() -> bool:
        texts.append(visitor.client.get(f"{visitor.path}/{path}").text)
        return words in texts[-1]

    once(has_them)
    return texts[-1]


def test_a_running_session_is_listed_opened_and_followed(
    running: tuple[Site, Callable[[ClaudeFile], Path]],
) -> None:
    found, write = running
    file = ClaudeFile().user("fix the till").says("I **look**.")
    for number in range(3):
        file.calls(f"toolu_{number}").result(f"toolu_{number}", "no such command", is_error=True)
    write(file)
    with found.visitor() as alice:
        listed = page_with(alice, "live", "fix the till")
        assert "3 calls failed in a row." in listed and "waypost" in listed
        # No scan has read it: it is read when it is opened.
        page = alice.client.get(f"{alice.path}/sessions/{REF}?at=end").text
        assert "<strong>look</strong>" in page and 'data-live="' in page and "3 calls failed in a row." in page
        events: list[str] = []

        def listen() -> None:
            with found.visitor() as bob, bob.client.stream("GET", f"{bob.path}/live/changes?session={REF}") as stream:
                events.extend(line for line in stream.iter_lines() if line.startswith("event:"))

        threading.Thread(target=listen, daemon=True).start()
        # The page asks once at the start.
        once(lambda: len(events) > 0)
        write(file.calls("toolu_late").result("toolu_late", "done").calls("toolu_open"))
        once(lambda: len(events) > 1)
        page = page_with(alice, f"sessions/{REF}?at=end", 'id="call-3"')
        # What happened since the last scan is judged, and counted.
        assert "calls failed in a row" not in page
        assert "3 of 4 that count" in page or "75.0 % of 4 that count" in page
        page_with(alice, "live", '<span class="badge running">running</span>')


def test_a_page_that_could_not_be_served_says_so_and_goes_on_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("seasoned.web.view.live._AGAIN_SECONDS", 0.1)
    folder = tmp_path / "claude" / "projects" / "w"
    settings = {"claude_config_dir": tmp_path / "claude"}
    with site(tmp_path / "home", settings=settings) as found, found.visitor() as alice, found.visitor() as bob:
        page_with(alice, "live", "No histories found")
        with alice.client.stream("GET", f"{alice.path}/live/changes") as stream:
            lines = stream.iter_lines()
            assert any(line.startswith("event:") for line in lines)
            folder.mkdir(parents=True)
            ClaudeFile().user("fix the till").write(folder / "s.jsonl")
            # Nothing but an event makes the page ask. One may come before the file was found.
            events = (line for line in lines if line.startswith("event:"))
            assert any("fix the till" in bob.client.get(f"{bob.path}/live").text for _ in events)
