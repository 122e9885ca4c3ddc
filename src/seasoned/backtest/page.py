"""The figures of a backtest in words, tables and one plot, and the page that opens offline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from seasoned.backtest.replay import FREQUENT_FIVE, Backtest, Figures, Replayed, ShownHint, ShownLine
from seasoned.insight.page import charts
from seasoned.insight.page.frame import environment, frame
from seasoned.insight.page.plots import Plot
from seasoned.insight.page.rows import DASH, number, plural, rate, rate_between, visible
from seasoned.project import name_of
from seasoned.stats.interval import Estimate

_FOLDER = Path(__file__).parent
LIMIT = "A replay shows what would have been in front of the agent, not what it would have done."
ARMS = {
    "chosen": "what Seasoned shows",
    "frequent": "as many, by frequency",
    "newest": "as many, the newest",
    "random": "as many, at random",
    FREQUENT_FIVE: "always the five most frequent",
}
MEANINGS = {
    "used": "Of the lines shown at the start and at the first prompt, those whose command the session then ran with "
    "success.",
    "ahead": "Of the used ones, those before which the session failed with the same program or looked around three "
    "times: what the line could have saved.",
    "wrong": "Lines whose command failed in the session as a mistake and never worked.",
    "foreign": "Evidence from another project behind what was shown. It must be 0.",
    "known": "Mistakes of a kind that an earlier session of the project had repaired. Errors that say themselves what "
    "to do get no hint and are not among them.",
    "answered": "Of the known mistakes that the session repaired itself, those for which the same repair was shown, "
    "before the call or right after it.",
    "hinted": "Of all known mistakes, also those never repaired, those with a hint.",
    "right": "Of the hints whose failure the session repaired, those with the same repair.",
    "false hints": "Hints before calls that then worked as they were.",
    "unknown": "First sessions of a project that would have seen anything. It must be 0.",
    "at random": "The null arm: what the same number of lines without any choice would reach.",
    "tokens": "The median of a session that would have seen anything.",
}


class BacktestCell(msgspec.Struct, frozen=True):
    """One value: for programs, for people, and what it is about."""

    value: str | int | float | None
    shown: str
    project: str = ""


class SeenThing(msgspec.Struct, frozen=True):
    """A line or hint that a session would have seen, and what became of it."""

    place: str
    text: str
    shown: str  # commands stand between backticks
    outcome: str
    tone: str  # ok, failed or quiet


class SeenSession(msgspec.Struct, frozen=True):
    """Everything that one session would have seen."""

    session: str
    project: str
    name: str  # of the project
    started: float | None
    things: tuple[SeenThing, ...]


class BacktestTable(msgspec.Struct, frozen=True):
    """A table of a backtest; each column has a name, a title, and whether it holds numbers."""

    name: str
    title: str
    lead: str
    columns: tuple[tuple[str, str, bool], ...]
    rows: tuple[tuple[BacktestCell, ...], ...]


def headline(found: Figures) -> list[tuple[str, str, str]]:
    """The most important figures: name, value, and what it rests on."""
    null = found.used_by["random"]
    return [
        ("Used", rate(found.used), _basis(found.used, "line")),
        ("Used where run", rate(found.used_where_run), "in sessions that ran any command of the project"),
        ("At random", rate(null), "as many lines without any choice"),
        ("Wrong", rate(found.wrong), _basis(found.wrong, "line")),
        ("Answered", rate(found.answered), _basis(found.answered, "mistake")),
        ("Right hints", rate(found.right), _basis(found.right, "hint")),
        (
            "False hints",
            DASH if found.false_per_200_calls is None else f"{found.false_per_200_calls:.2g}",
            f"in 200 calls; {found.false_hints} in {plural(found.calls, 'call')}",
        ),
    ]


def _basis(share: Estimate, what: str) -> str:
    between = "" if share.interval is None else f"between {rate_between(share)}, "
    return f"{between}{plural(share.n, what)}"


def comparison(found: Figures) -> Plot:
    """The share of lines that were used: the choice beside simpler ones."""
    arms = [(name, found.used if arm == "chosen" else found.used_by[arm]) for arm, name in ARMS.items()]
    has_any = found.used.value is not None
    return Plot(
        "comparison",
        "Used, compared with simpler choices",
        "Of the lines shown at the start and at the first prompt, the share whose command the session then ran with "
        "success, with its 95 % interval.",
        "What the session would have done with them: no session has seen these lines.",
        charts.dots([_dot(name, share) for name, share in arms], title="used lines") if has_any else None,
        ("choice", "used", "interval", "lines"),
        tuple((name, rate(share), rate_between(share), number(share.n)) for name, share in arms),
        key=(("dot", "share of lines, with its interval"),),
        reason=None if has_any else "No session would have seen a line at its start.",
    )


def _dot(name: str, share: Estimate) -> dict[str, Any]:
    ends = (None, None) if share.interval is None else (share.interval.low, share.interval.high)
    values = zip(("value", "low", "high"), (share.value, *ends), strict=True)
    return {
        "label": name,
        **{key: None if value is None else round(100 * value, 3) for key, value in values},
        "text": f"{rate(share)} of {plural(share.n, 'line')}" if share.value is not None else DASH,
        "tip": f"{name}: {rate(share)}, interval {rate_between(share)}, {plural(share.n, 'line')}",
    }


def tables(found: Backtest) -> tuple[BacktestTable, ...]:
    """The tables of figures, in the order in which they are read."""
    # One project is the same as all.
    each = found.projects if len(found.projects) == 1 else (*found.projects, found.all)
    named = _names([one.project for one in each])
    return (
        BacktestTable(
            "start",
            "At the start and the first prompt",
            "What the sheet and the first prompt would have shown, and what became of it.",
            (
                ("project", "project", False),
                ("sessions", "sessions", True),
                ("told", "saw anything", True),
                ("lines", "lines", True),
                ("used", "used", True),
                ("used_between", "interval", True),
                ("ahead", "ahead", True),
                ("wrong", "wrong", True),
                ("foreign", "foreign", True),
            ),
            tuple(
                (
                    _project(one, named),
                    *_counts(one.conversations, one.told, one.lines),
                    *_share(one.used),
                    _share(one.ahead)[0],
                    _share(one.wrong)[0],
                    *_counts(one.foreign),
                )
                for one in each
            ),
        ),
        BacktestTable(
            "choices",
            "Used, by choice",
            "The share of lines that were used if as many had been chosen in simpler ways.",
            (("project", "project", False), *[(arm.replace(" ", "_"), name, True) for arm, name in ARMS.items()]),
            tuple(
                (_project(one, named), *[_share(one.used if arm == "chosen" else one.used_by[arm])[0] for arm in ARMS])
                for one in each
            ),
        ),
        _calls_table(each, named),
    )


def _names(projects: Iterable[str]) -> dict[str, str]:
    """What each project is called; the key where two have the same name."""
    keys = set(projects) - {""}
    times = Counter(map(name_of, keys))
    found = {key: visible(name_of(key) if times[name_of(key)] == 1 else key, 80) for key in keys}
    return found | {"": "all"}


def _calls_table(each: Sequence[Figures], named: Mapping[str, str]) -> BacktestTable:
    return BacktestTable(
        "hints",
        "At calls",
        "Mistakes of sessions, and the hints that they would have seen. Failing tests and checks are not mistakes.",
        (
            ("project", "project", False),
            ("mistakes", "mistakes", True),
            ("known", "known", True),
            ("answered", "answered", True),
            ("answered_between", "interval", True),
            ("hinted", "hinted", True),
            ("hints", "hints", True),
            ("right", "right", True),
            ("right_between", "interval", True),
            ("false_hints", "false hints", True),
            ("unknown", "unknown", True),
            ("tokens", "tokens", True),
        ),
        tuple(
            (
                _project(one, named),
                *_counts(one.mistakes, one.known_mistakes),
                *_share(one.answered),
                _share(one.hinted)[0],
                *_counts(one.hints),
                *_share(one.right),
                *_counts(one.false_hints, one.spoke_unknown, None if one.tokens is None else round(one.tokens)),
            )
            for one in each
        ),
    )


def seen(found: Backtest, recent: Sequence[Replayed]) -> tuple[SeenSession, ...]:
    """What the newest sessions would have seen, the newest first."""
    named = _names([one.project for one in found.projects] + [one.project for one in recent])
    return tuple(SeenSession(one.root, one.project, named[one.project], one.started, _things(one)) for one in recent)


def _things(one: Replayed) -> tuple[SeenThing, ...]:
    lines = [
        SeenThing(_place(line), line.text, visible(f"`{line.text}`", 300), *_outcome_of_line(line))
        for line in one.lines["chosen"]
    ]
    hints = [
        SeenThing(
            "before a call" if hint.is_before else "after a failure",
            hint.text,
            visible(hint.text, 300),
            *_outcome(hint),
        )
        for hint in one.hints
    ]
    return (*lines, *hints)


def _place(line: ShownLine) -> str:
    return "start" if line.place == "start" else "first prompt"


def _outcome_of_line(line: ShownLine) -> tuple[str, str]:
    if line.used:
        return ("used, after a detour", "ok") if line.ahead else ("used", "ok")
    return ("wrong", "failed") if line.wrong else ("not used", "quiet")


def _outcome(hint: ShownHint) -> tuple[str, str]:
    if hint.false:
        return "false: the call worked", "failed"
    if hint.right is None:
        return "not repaired", "quiet"
    return ("right", "ok") if hint.right else ("another repair", "failed")


def _project(one: Figures, named: Mapping[str, str]) -> BacktestCell:
    return BacktestCell(one.project, named[one.project], project=one.project)


def _counts(*values: int | None) -> list[BacktestCell]:
    return [BacktestCell(value, number(value)) for value in values]


def _share(share: Estimate) -> tuple[BacktestCell, BacktestCell]:
    """A share, and its interval; the reason of a missing one is in the tables of figures as JSON."""
    ends = share.interval
    between = None if ends is None else f"{100 * ends.low:.1f}–{100 * ends.high:.1f} %"
    value = None if share.value is None else rate(share)
    return BacktestCell(share.value, value or DASH), BacktestCell(between, between or DASH)


def render(found: Backtest, recent: Sequence[Replayed], *, made_at: float, title: str) -> str:
    """The whole page. The same backtest always gives the same page."""
    plot = comparison(found.all)
    return (
        environment(_FOLDER)
        .get_template("page.html")
        .render(
            title=title,
            made_at=made_at,
            found=found,
            limit=LIMIT,
            headline=headline(found.all),
            plot=plot,
            tables=tables(found),
            seen=seen(found, recent),
            meanings=MEANINGS.items(),
            **frame([plot], more_style=(_FOLDER / "page.css").read_text("utf-8")),
        )
    )
