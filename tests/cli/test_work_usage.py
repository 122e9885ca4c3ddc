"""What commits, branches and pull requests cost, the forecast of a month, and budgets that say what they cannot."""

from __future__ import annotations

import json
import logging
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import time_machine

from seasoned.app.gateway import month_forecast
from seasoned.app.learn import learn
from seasoned.app.stores import own_store
from seasoned.config import load
from tests.cli.run import answer, seasoned

_NOW = datetime(2026, 11, 11, 12, tzinfo=UTC)
# Sonnet 4.5: 1,000 tokens in, 100 out.
_USD = (1000 * 3 + 100 * 15) / 1e6


@pytest.fixture(autouse=True)
def _clock() -> Any:
    with time_machine.travel(_NOW, tick=True):
        yield


def _session(home: Path, name: str, steps: list[tuple[str, str]], *, model: str, branch: str = "work") -> None:
    """A session of Claude Code in which every minute one answer runs one command."""
    folder = home / ".claude" / "projects" / "shop"
    folder.mkdir(parents=True, exist_ok=True)
    lines: list[dict[str, Any]] = []

    def add(kind: str, minute: int, content: Any, **message: Any) -> None:
        at = datetime.fromtimestamp(_NOW.timestamp() - 86_400 + 60 * minute, UTC)
        said = {"role": kind, "content": content, **message}
        line = {"type": kind, "uuid": f"{name}{len(lines)}", "sessionId": name, "cwd": "/home/ann/shop"}
        lines.append({**line, "gitBranch": branch, "timestamp": f"{at:%Y-%m-%dT%H:%M:%S.000Z}", "message": said})

    add("user", 0, "Mend it, please.")
    for minute, (command, result) in enumerate(steps, start=1):
        call = {"type": "tool_use", "id": f"{name}c{minute}", "name": "Bash", "input": {"command": command}}
        usage = {"input_tokens": 1000, "output_tokens": 100}
        add("assistant", minute, [call], id=f"{name}m{minute}", model=model, usage=usage)
        add("user", minute, [{"type": "tool_result", "tool_use_id": call["id"], "content": result, "is_error": False}])
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture
def histories(home: Path) -> Path:
    steps = [
        ("make check", "ok"),
        ("git commit -m 'Mend it'", "[fix/eta 1a2b3c4] Mend it\n 1 file changed"),
        ("git log", "[fix/eta 9999999] only shown"),
        ("git commit -am 'Test it'", "[fix/eta 2b3c4d5] Test it\n 1 file changed"),
        ("gh pr create --fill", "https://github.com/acme/shop/pull/12"),
        ("git push", "ok"),
    ]
    _session(home, "s1", steps, model="claude-sonnet-4-5", branch="fix/eta")
    _session(home, "s2", [("ls", "a"), ("ls", "b")], model="a-model-of-ours", branch="main")
    seasoned("scan")
    return home


@pytest.mark.usefixtures("histories")
def test_a_commit_costs_what_was_used_since_the_last_one() -> None:
    found = {one["name"]: one for one in answer("usage", "--by", "commit", "--all")["histories"]}
    assert found["1a2b3c4 Mend it"]["cost_usd"] == pytest.approx(2 * _USD)
    assert found["2b3c4d5 Test it"]["cost_usd"] == pytest.approx(2 * _USD)
    # What led to no commit, with a session of which no price is known: unknown, and not zero.
    assert found[None]["cost_usd"] == pytest.approx(2 * _USD) and found[None]["unpriced"] == 1
    branches = {one["name"]: one for one in answer("usage", "--by", "branch", "--all")["histories"]}
    assert branches["fix/eta"]["cost_usd"] == pytest.approx(6 * _USD) and branches["main"]["cost_usd"] is None
    pulls = {one["name"]: one for one in answer("usage", "--by", "pr,month", "--all")["histories"]}
    # Also what was done on its branch after it was opened.
    assert pulls["acme/shop#12"]["cost_usd"] == pytest.approx(6 * _USD) and pulls[None]["part"] == "2026-11"
    by_project = answer("usage", "--by", "project", "--all")["totals"]["histories"]
    for by in ("commit", "branch", "pr"):
        total = answer("usage", "--by", by, "--all")["totals"]["histories"]
        assert total["total_tokens"] == by_project["total_tokens"] == 8 * 1100
        assert total["cost_usd"] == pytest.approx(by_project["cost_usd"])
    assert "shop#12" in seasoned("usage", "--by", "pr", "--all").stdout
    assert "block" in seasoned("usage", "--by", "pr,block", expect=2).stderr


def test_a_month_is_forecast_and_a_budget_says_what_it_cannot(
    histories: Path, caplog: pytest.LogCaptureFixture
) -> None:
    spent = 6 * _USD
    with own_store(load()) as store:
        seasoned("usage", "--all")
        month = month_forecast(store)
        assert month is not None and month.spent_usd == pytest.approx(spent) and month.unpriced == 1
        left = (datetime(2026, 12, 1).astimezone().timestamp() - time.time()) / 86_400
        assert month.expected_usd == pytest.approx(spent * (1 + left / 14), rel=0.01)
        assert month_forecast(store, now=datetime(2027, 3, 1).astimezone()) is None
    (load().home / "config.toml").write_text("budget_usd_per_month = 0.04\n")
    assert answer("usage", "--all")["month"]["spent_usd"] == pytest.approx(spent)
    text = seasoned("usage", "--all").stdout
    assert "This month: $0.03 so far, about $0.06 by its end" in text and "without 1 session of unknown price" in text
    said = "Budget of this month: $0.03 of $0.04 spent. It cannot be enforced: 1 session has no known price."
    assert said in text
    assert {"name": "budget of a month", "ok": False, "finding": said} in answer("doctor", expect=1)["checks"]
    line = seasoned("statusline", stdin='{"session_id": "s1"}').stdout
    assert "about $0.0646 of $0.0400 this month" in line and "1 session of this month without a price" in line
    logging.getLogger("seasoned.learn").addHandler(caplog.handler)
    learn(load())
    logging.getLogger("seasoned.learn").removeHandler(caplog.handler)
    assert said in caplog.messages
    (histories / ".seasoned" / "config.toml").write_text("budget_usd_per_month = 0.01\n")
    assert "over the budget of this month" in seasoned("statusline", stdin="{}").stdout
