"""The page of usage and cost, over a real server: by day, model and key, and unknown where it is unknown."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.cli.run import answer
from tests.web.filled import fill_gateway, fill_sessions
from tests.web.pages import Site, Visitor, site


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("home")
    fill_sessions(home)
    fill_gateway(home)
    with site(home) as found:
        yield found


def look(visitor: Visitor, query: str = "") -> httpx2.Response:
    return visitor.client.get(f"{visitor.path}/usage{query}")


def rows(visitor: Visitor, table: str, query: str = "") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = look(visitor, f"?as=json&table={table}{query}").json()["rows"]
    return found


def test_every_way_of_summing_up_gives_the_same_whole(filled: Site) -> None:
    with filled.visitor() as alice:
        by = {each: rows(alice, "gateway", f"&by={each}&days=all") for each in ("day", "model", "key")}
        assert {each: sum(row["requests"] for row in found) for each, found in by.items()} == dict.fromkeys(by, 300)
        costs = [math.fsum(row["cost_usd"] or 0 for row in found) for found in by.values()]
        assert all(math.isclose(cost, costs[0]) for cost in costs) and costs[0] > 1


def test_what_nobody_knows_the_price_of_is_unknown_and_counted_apart(filled: Site) -> None:
    with filled.visitor() as alice:
        found = {row["model"]: row for row in rows(alice, "gateway", "&by=model&days=all")}
        assert found["mystery"]["cost_usd"] is None and found["mystery"]["unpriced"] == 100
        assert found["gpt-5"]["cost_usd"] > 0 and found["gpt-5"]["unpriced"] == 0
        text = look(alice, "?by=model&days=all").text
        assert "unknown" in text and "without a price" in text


def test_the_page_and_the_command_sum_up_the_same_days(filled: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEASONED_HOME", str(filled.serving.config.home))
    with filled.visitor() as alice:
        for days in (7, 30):
            shown = {row["day"]: row["requests"] for row in rows(alice, "gateway", f"&days={days}")}
            said = answer("usage", "--by", "day", "--since", f"{days - 1} days ago")["rows"]
            assert shown == {row["name"]: row["requests"] for row in said}
            assert len(shown) <= days


def test_what_agents_recorded_is_there_by_day_project_and_agent(filled: Site) -> None:
    with filled.visitor() as alice:
        by_agent = rows(alice, "recorded", "&by=key&days=all")
        by_day = rows(alice, "recorded", "&by=day&days=all")
        # A session of two days counts in both.
        assert 10 < sum(row["sessions"] for row in by_agent) <= sum(row["sessions"] for row in by_day)
        tokens = sum(row["input_tokens"] or 0 for row in by_agent)
        for rows_by in (by_day, rows(alice, "recorded", "&by=project&days=all")):
            assert tokens == sum(row["input_tokens"] or 0 for row in rows_by) > 0
        blocks = rows(alice, "recorded", "&by=block&days=all")
        assert len(blocks) >= len(by_day) and sum(row["input_tokens"] or 0 for row in blocks) == tokens
        assert f'href="{alice.path}/sessions?agent={by_agent[0]["agent"]}"' in look(alice, "?by=key&days=all").text


def test_with_shared_tables_in_postgres_the_gateway_is_read_there(tmp_path: Path, postgres_url: str) -> None:
    fill_sessions(tmp_path)
    fill_gateway(tmp_path, requests=30, database_url=postgres_url)
    with site(tmp_path, database_url=postgres_url) as found, found.visitor() as alice:
        assert sum(row["requests"] for row in rows(alice, "gateway", "&days=all&by=key")) == 30
        assert rows(alice, "recorded", "&days=all")
