"""The page of experiments on live sessions, over a real server."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.web.filled import fill_live, fill_sessions, fill_templates
from tests.web.pages import Site, Visitor, site

_PATIENCE_SECONDS = 60.0


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("home")
    fill_sessions(home)
    kept = fill_templates(home)
    fill_live(home, kept.examples[0].id)
    with site(home) as found:
        yield found


def look(visitor: Visitor, path: str) -> httpx2.Response:
    return visitor.client.get(f"{visitor.path}/{path}")


def done(visitor: Visitor, path: str, word: str) -> str:
    """The page as soon as what it waits for is there."""
    end = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < end:
        text = look(visitor, path).text
        if word in text and "data-working" not in text:
            return text
        time.sleep(0.05)
    raise AssertionError(f"{word!r} never came: {text[-2000:]}")


def test_those_that_run_are_listed_and_lead_to_their_page(filled: Site) -> None:
    with filled.visitor() as alice:
        text = done(alice, "experiments", "fewer errors")
        assert f'href="{alice.path}/experiments/autumn"' in text
        (row,) = look(alice, "experiments?as=json&table=live").json()["rows"]
        assert (row["experiment"], row["sessions"], row["verdict"]) == ("autumn", 120, "fewer errors")


def test_a_live_one_says_what_may_be_said_by_arm_and_example(filled: Site) -> None:
    with filled.visitor() as alice:
        text = done(alice, "experiments/autumn", "What the data supports")
        assert "What it does not support" in text and "by intention to treat" in text
        assert 'id="plot-live-effects"' in text
        arms = look(alice, "experiments/autumn?as=json&table=live-arms").json()["rows"]
        assert [row["arm"] for row in arms] == ["cold", "warm"]
        assert sum(int(row["assigned"]) for row in arms) == 120
        (example,) = look(alice, "experiments/autumn?as=json&table=examples").json()["rows"]
        assert example["tool"] == "search_files" and example["answer"] == "helps"


def test_without_any_it_says_what_to_do_and_an_unknown_one_is_not_found(tmp_path: Path) -> None:
    with site(tmp_path) as found, found.visitor() as alice:
        text = look(alice, "experiments").text
        assert "seasoned experiment begin" in text and "seasoned experiment run" in text
        assert look(alice, "experiments/none").status_code == 404
