"""Tokens and cost of all real histories at hand beside a count in plain Python and beside ccusage, in one run."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.scan import counted_by_hand

from bench.scan import HOMES, SEASONED, find_ccusage, make_home, plain

_BY_HAND = {"claude-code": counted_by_hand.claude_code, "codex": counted_by_hand.codex}
_KINDS = ("input", "output", "cache_read", "cache_write")
_THEIRS = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheCreationTokens")


def figures() -> Iterator[str]:
    """The lines that the benchmark prints."""
    with tempfile.TemporaryDirectory(prefix="seasoned-bench-") as name:
        home = make_home(Path(name) / "user")
        variables = {"HOME": str(home), "SEASONED_HOME": f"{name}/store", "CI": "1", "TZ": "UTC"}
        _run([str(SEASONED), "scan"], variables)
        asked = [str(SEASONED), "usage", "--all", "--json", "--limit", "100000", "--by"]
        ours = {by: _run([*asked, by], variables) for by in ("agent", "model", "day", "block")}
        totals = ours["agent"]["totals"]["histories"]
        yield f"{totals['sessions']} sessions, {totals['total_tokens']:,} tokens, prices of {totals['cost_source']}"
        yield f"without a price: {', '.join(ours['model']['unpriced_models']) or 'none'}"
        same = {by: round(one["totals"]["histories"]["cost_usd"] or 0.0, 6) for by, one in ours.items()}
        agrees = "yes" if len(set(same.values())) == 1 else f"no, {same}"
        yield f"the sum by agent, model, day and five-hour block is the same: {agrees}"
        yield "tokens: input, output, cache read, cache write"
        ccusage = find_ccusage()
        for row in ours["agent"]["histories"]:
            if (agent := row["name"]) not in _BY_HAND:
                continue
            yield f"{agent}: {_shown(row[f'{kind}_tokens'] for kind in _KINDS)}, ${row['cost_usd']:.2f}"
            files = sorted((home / HOMES[agent]).rglob("*.jsonl"))
            yield f"  counted in plain Python: {_shown(_BY_HAND[agent](files))}"
            if ccusage is None:
                yield "  ccusage: not measured, the npm package could not be had"
                continue
            words = ["codex", "daily"] if agent == "codex" else ["claude", "daily"]
            theirs = _run([str(ccusage), *words, "--offline", "--json"], variables)["totals"]
            cost = theirs.get("totalCost", theirs.get("costUSD"))
            yield f"  ccusage: {_shown(theirs.get(key) for key in _THEIRS)}, ${cost:.2f}"
        yield "Tokens: ccusage adds up every line of a message without a request id, and not the first of a fork."
        yield "Cost: it takes models of Codex without a price for gpt-5 and gpt-5.4, and has none of claude-opus-5-5."


def _shown(figures: Any) -> str:
    return " / ".join(f"{figure or 0:,}" for figure in figures)


def _run(command: list[str], variables: dict[str, str]) -> Any:
    done = subprocess.run(command, env=plain(variables), check=True, capture_output=True, text=True)
    return json.loads(done.stdout) if done.stdout.startswith("{") else None
