"""Tokens and cost of the Claude Code data beside ccusage and beside the lines themselves, in one run."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.scan import SEASONED, environment, find_ccusage, make_corpus

_KINDS = {
    "input": "inputTokens",
    "output": "outputTokens",
    "cache_read": "cacheReadTokens",
    "cache_write": "cacheCreationTokens",
}


def figures() -> Iterator[str]:
    """The lines that the benchmark prints."""
    with tempfile.TemporaryDirectory(prefix="seasoned-bench-") as name:
        folder = Path(name)
        corpus = make_corpus(folder / "claude" / "projects")
        home = folder / "home"
        _run([str(SEASONED), "scan", str(corpus)], home, corpus.parent)
        asked = [str(SEASONED), "usage", "--all", "--json", "--limit", "100000", "--by"]
        ours = {by: _run([*asked, by], home, corpus.parent) for by in ("agent", "model", "day", "block")}
        totals = ours["agent"]["totals"]["histories"]
        yield f"{totals['sessions']} sessions, {totals['total_tokens']:,} tokens, prices of {totals['cost_source']}"
        yield f"without a price: {', '.join(ours['model']['unpriced_models']) or 'none'}"
        same = {by: round(one["totals"]["histories"]["cost_usd"] or 0.0, 6) for by, one in ours.items()}
        agrees = "yes" if len(set(same.values())) == 1 else f"no, {same}"
        yield f"the sum by agent, model, day and five-hour block is the same: {agrees}"
        ccusage = find_ccusage()
        if ccusage is None:
            yield "ccusage: not measured, the npm package could not be had"
            return
        said = subprocess.run([str(ccusage), "--version"], capture_output=True, text=True, check=True).stdout.strip()
        theirs = _run([str(ccusage), "daily", "--offline", "--json"], home, corpus.parent)
        yield f"beside {said}, by model (tokens: input, output, cache read, cache write):"
        yield from _by_model(ours["model"]["histories"], theirs["daily"])
        yield from _by_day(ours["day"]["histories"], theirs["daily"])


def _run(command: list[str], home: Path, config: Path) -> Any:
    done = subprocess.run(
        command, env={**environment(home, config), "TZ": "UTC"}, check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout) if done.stdout.startswith("{") else None


def _by_model(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> Iterator[str]:
    found: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for day in theirs:
        for one in day["modelBreakdowns"]:
            for key in (*_KINDS.values(), "cost"):
                found[one["modelName"]][key] += one[key]
    for row in ours:
        other = found.pop(row["name"] or "", defaultdict(float))
        mine = [row[f"{kind}_tokens"] or 0 for kind in _KINDS]
        their = [int(other[key]) for key in _KINDS.values()]
        cost = "unknown" if row["cost_usd"] is None else f"${row['cost_usd']:.4f}"
        tokens = "the same tokens" if mine == their else f"tokens {mine} here, {their} there"
        yield f"  {row['name']}: {tokens}; cost {cost} here, ${other['cost']:.4f} there"
    for name in found:
        yield f"  {name}: only there"


def _by_day(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> Iterator[str]:
    mine = {row["name"]: (row["total_tokens"], row["cost_usd"]) for row in ours}
    their = {day["period"]: (day["totalTokens"], day["totalCost"]) for day in theirs}
    same = sum(mine.get(day, (None,))[0] == tokens for day, (tokens, _) in their.items())
    cost = sum(abs((mine.get(day, (0, None))[1] or 0.0) - usd) < 0.005 for day, (_, usd) in their.items())
    yield f"of {len(their)} days, {same} have the same tokens in both, {cost} the same cost to the cent"
    for day, (tokens, usd) in sorted(their.items()):
        if mine.get(day, (None,))[0] != tokens:
            known = mine.get(day, (0, None))
            yield f"  {day}: {known[0]:,} tokens here, {tokens:,} there; cost {known[1]} here, {usd} there"
    yield "where they differ: ccusage adds up every line of a message that has no request id. Claude Code writes a line"
    yield "for each block of a message, each with the usage of the whole; here a message counts once, by its own id."
    yield "A model of another provider behind Claude Code gets no price here: no one knows what that provider charged."
