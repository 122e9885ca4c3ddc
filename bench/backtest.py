"""What sessions of real projects would have been told, beside a baseline of ten lines, and whether it was right.

Each folder with sessions of one repository is one project, whoever's checkout they ran in. Constants were chosen on the
others; the three in ASIDE, with the smallest hashes of their names, were looked at once, with the constants fixed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import msgspec

from bench.scan import ROOT
from seasoned.app.lessons import FEWEST_CONVERSATIONS
from seasoned.app.stores import read_histories
from seasoned.config import load
from seasoned.errors import SeasonedError
from seasoned.lesson.replay import ARMS, Figures, LineFigures, ReplayConversation, conversations, replay
from seasoned.lesson.replay import figures as figures_of
from seasoned.outcome.track import tracks
from seasoned.stats.interval import Estimate

SHARED = ROOT.parent / "shared"
ASIDE = 3


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


def kept_aside(read: dict[str, list[ReplayConversation]]) -> list[str]:
    """The projects with enough conversations whose names have the smallest hashes."""
    known = [name for name, found in read.items() if len(found) >= FEWEST_CONVERSATIONS]
    return sorted(known, key=lambda name: sha256(name.encode()).hexdigest())[:ASIDE]


def figures() -> Iterator[str]:
    """Figures for each project and for all, the projects for tuning and those kept aside apart."""
    if not SHARED.is_dir():
        yield "no sessions of projects at hand: nothing to replay"
        return
    read = {folder.name: read_project(folder) for folder in project_folders()}
    aside = kept_aside(read)
    for title, is_aside in (("chosen on", False), ("kept aside", True)):
        some = [one for name, found in read.items() if (name in aside) == is_aside for one in found]
        begun = time.perf_counter()
        found = figures_of(replay(some), fewest=FEWEST_CONVERSATIONS)
        spent = time.perf_counter() - begun
        yield f"{title} ({found.all.conversations} conversations replayed in {spent:.1f} s)"
        for one in (*found.projects, found.all):
            yield from _rows(one)
        many = [one for one in found.projects if one.is_empty is not None]
        empty = sum(one.is_empty is True for one in many)
        yield f"projects with 20 sessions or more whose newest session sees no line: {empty} of {len(many)}"
        yield ""
    yield "right: of the lines whose purpose the session then served, those served in this form (written: same options)"
    yield "covered: of the purposes served in a known form, those for which the right line stood there"
    yield "wrong first: the same where the session first went wrong; all without what every agent tries first"
    yield "A replay shows what would have been in front of the agent, not what it would have done."


def _rows(one: Figures) -> Iterator[str]:
    yield f"{one.project or 'all'}: {one.conversations} conversations, {one.told} told, {one.tokens or 0:.0f} tokens"
    for arm in ARMS if not one.project else ARMS[:2]:
        yield f"  {arm:9} {_arm(one.arms[arm])}   with defaults {_arm(one.with_defaults[arm])}"
    yield (
        f"  mistakes {one.mistakes}, known {one.known_mistakes}, repaired {one.repaired}: "
        f"in time {_share(one.in_time)}, late {one.late}; error says enough {one.clear_errors}; hints {one.hints}, "
        f"right {_share(one.right)}, false {one.false_hints} in {one.calls} calls; foreign {one.foreign}; "
        f"worth {_share(one.worth)}"
    )


def _arm(arm: LineFigures) -> str:
    return (
        f"right {_share(arm.right)} written {_short(arm.as_written)} covered {_share(arm.covered)} "
        f"wrong first {_short(arm.covered_first_wrong)}"
    )


def _short(value: Estimate) -> str:
    return "–" if value.value is None else f"{value.value:.2f}"


def _share(value: Estimate) -> str:
    return "–" if value.value is None else f"{value.value:.2f} of {value.n}"
