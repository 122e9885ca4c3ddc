"""The backtest over a store, for every entry point."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

import msgspec

from seasoned.app.stores import histories
from seasoned.config import Config, load
from seasoned.lesson.replay import Backtest, Replayed, conversations, figures, replay
from seasoned.outcome.track import tracks
from seasoned.store import Store
from seasoned.store.project import find_project, list_projects

# Projects with fewer conversations say nothing about themselves: hardly anything was known.
FEWEST_CONVERSATIONS = 8
# Conversations of which a page shows what they would have seen.
MOST_RECENT = 50


class BacktestAnswer(msgspec.Struct, frozen=True):
    """The figures, and what the newest conversations would have seen."""

    found: Backtest
    recent: tuple[Replayed, ...]
    made_at: float
    project: str | None = None


def run_backtest(store: Store, *, project: str | None, fewest: int) -> tuple[Backtest, list[Replayed]]:
    """Replay the sessions of a store, of one project or of all."""
    replayed: list[Replayed] = []
    left_out = 0
    # One after the other, so that only one is in memory: they know nothing of each other anyway.
    for one in list_projects(store, project):
        # By their ids: a query for each project over all calls would read the store as often as there are projects.
        ids = [row["id"] for row in store.rows("project.session_ids", {"key": one.key})]
        listed = list(tracks(store, sessions=ids))
        placed = conversations(listed)
        replayed += replay(placed)
        # Some lineages have no place in time.
        left_out += len({track.root for track in listed}) - len(placed)
    if project is None:
        without = store.row("project.without")
        left_out += 0 if without is None else int(without["lineages"])
    replayed.sort(key=lambda one: (one.started or 0.0, one.root))
    return figures(replayed, fewest=fewest, left_out=left_out), replayed


def answer_of(found: Backtest, replayed: Iterable[Replayed], *, project: str | None = None) -> BacktestAnswer:
    """The figures with the newest of the conversations that would have seen anything."""
    kept = {one.project for one in found.projects}
    told = [one for one in replayed if one.project in kept and (one.lines["chosen"] or one.hints)]
    return BacktestAnswer(found, tuple(reversed(told[-MOST_RECENT:])), time.time(), project)


def backtest(
    paths: Iterable[Path | str] = (),
    *,
    project: str | None = None,
    fewest: int = FEWEST_CONVERSATIONS,
    config: Config | None = None,
) -> BacktestAnswer:
    """Replay histories: what would their sessions have been shown, and was it right?

    Without paths, the sessions of the user's store. `project` is the key of one project, a unique name or a folder;
    `fewest` leaves out projects with fewer conversations.
    """
    with histories(config or load(), [Path(path) for path in paths]) as read:
        key = None if project is None else find_project(read.store, project, base=str(Path.cwd())).key
        found, replayed = run_backtest(read.store, project=key, fewest=fewest if key is None else 1)
        return answer_of(found, replayed, project=key)
