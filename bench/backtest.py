"""What sessions of real projects would have been told, and whether it was right.

Each folder with sessions of one repository is one project, whoever's checkout they ran in. Constants were chosen on the
projects in TUNED; the others were looked at once, with the constants fixed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from bench.scan import ROOT
from seasoned.app.backtest import FEWEST_CONVERSATIONS
from seasoned.app.stores import read_histories
from seasoned.config import load
from seasoned.errors import SeasonedError
from seasoned.lesson.replay import Backtest, Figures, ReplayConversation, conversations, replay
from seasoned.lesson.replay import figures as figures_of
from seasoned.outcome.track import tracks
from seasoned.stats.interval import Estimate

SHARED = ROOT.parent / "shared"
TUNED = (
    *("chikachow-cyspbot", "dougnukem-orpheus", "eitatech-gatomia-vscode", "entireio-auth-go", "entireio-skills"),
    *("entireio-cli", "EntityProcess-agentv", "Monotoba-OpenPrintKit", "chiphuyen-sniffly"),
)


def project_folders() -> list[Path]:
    """The folders that hold the sessions of one repository each."""
    found = [*(SHARED / "projects").glob("*"), *(SHARED / "data").glob("claude-code/*")]
    found += [*(SHARED / "data").glob("codex/*"), *(SHARED / "data").glob("hermes/*")]
    return sorted(path for path in found if path.is_dir())


def read_project(folder: Path) -> list[ReplayConversation]:
    """The conversations of a folder, as those of one project."""
    try:
        read = read_histories(load(), [folder])[1]
    except SeasonedError:
        # Beside sessions there are folders with other files.
        return []
    with read as store:
        found = [msgspec.structs.replace(track, project=folder.name) for track in tracks(store)]
    return conversations(found)


def figures() -> Iterator[str]:
    """Figures for each project and for all, the projects for tuning and those kept aside apart."""
    if not SHARED.is_dir():
        yield "no sessions of projects at hand: nothing to replay"
        return
    read = {folder.name: read_project(folder) for folder in project_folders()}
    for name, wanted in (("tuned on", True), ("kept aside", False)):
        some = [one for project, found in read.items() if (project in TUNED) == wanted for one in found]
        begun = time.perf_counter()
        found = figures_of(replay(some), fewest=FEWEST_CONVERSATIONS)
        spent = time.perf_counter() - begun
        yield f"{name} ({found.all.conversations} conversations replayed in {spent:.1f} s)"
        yield from _table(found)
        yield f"used in conversations that ran any command of the project: {_share(found.all.used_where_run)}"
        yield ""
    yield "used: of the lines shown at start and first prompt, those whose command the session then ran with success"
    yield "frequent, newest, random: the same number of lines chosen so; five: the five most frequent, always"
    yield "ahead: of the used ones, those before which the session failed or looked around three times"
    yield "answered: of mistakes repaired in the project before and repaired again, those shown the same repair"
    yield "A replay shows what would have been in front of the agent, not what it would have done."


def _table(found: Backtest) -> Iterator[str]:
    yield (
        f"{'project':26}{'conv':>5}{'told':>5}{'lines':>6}{'used':>18}{'frequent':>9}{'newest':>7}{'random':>7}"
        f"{'five':>6}{'ahead':>6}{'wrong':>6}{'foreign':>8}{'known':>6}{'answered':>18}{'right':>6}{'false/200':>10}"
        f"{'unknown':>8}{'tokens':>7}"
    )
    for one in (*found.projects, found.all):
        yield _row(one)


def _row(one: Figures) -> str:
    simple = [_short(one.used_by[arm]) for arm in ("frequent", "newest", "random", "frequent five")]
    false = "–" if one.false_per_200_calls is None else f"{one.false_per_200_calls:.2f}"
    tokens = "–" if one.tokens is None else f"{one.tokens:.0f}"
    return (
        f"{(one.project or 'all')[:25]:26}{one.conversations:>5}{one.told:>5}{one.lines:>6}{_share(one.used):>18}"
        f"{simple[0]:>9}{simple[1]:>7}{simple[2]:>7}{simple[3]:>6}{_short(one.ahead):>6}{_short(one.wrong):>6}"
        f"{one.foreign:>8}{one.known_mistakes:>6}{_share(one.answered):>18}{_short(one.right):>6}{false:>10}"
        f"{one.spoke_unknown:>8}{tokens:>7}"
    )


def _short(value: Estimate) -> str:
    return "–" if value.value is None else f"{value.value:.2f}"


def _share(value: Estimate) -> str:
    if value.value is None or value.interval is None:
        return _short(value)
    return f"{value.value:.2f} ({value.interval.low:.2f}–{value.interval.high:.2f})"
