"""The lessons of a project for every entry point, as a person sees them: what is said where, and why others are not."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

import msgspec

from seasoned.app.stores import histories, kept_secrecy
from seasoned.config import Config, load
from seasoned.connect.plan import FileChange, read_present
from seasoned.errors import NotFound
from seasoned.lesson.ask import LessonLookup, chosen_lines, decide
from seasoned.lesson.lesson import PLACE, Lesson, hint_text, lessons_about
from seasoned.lesson.replay import Backtest, Replayed, conversations, figures, replay
from seasoned.lesson.rule import ProjectRule, decide_rule, rules_of
from seasoned.lesson.share import render, shared
from seasoned.lesson.storage import refresh
from seasoned.outcome.track import tracks
from seasoned.project import checkout_root
from seasoned.redact import Redactor
from seasoned.store import DatabaseRow, Store
from seasoned.store.project import find_project, list_projects


class LessonEntry(msgspec.Struct, frozen=True):
    """One lesson as a person sees it."""

    id: str
    kind: str  # command, repair or rule
    said: str  # the words that a session sees, or would see
    text: str
    purpose: str
    state: str  # shown, pinned, dropped or silent
    reason: str  # why it is silent
    where: tuple[str, ...]  # start, first prompt, at the call, after a failure
    lineages: int  # in which it worked
    among: int  # that did this, or made the mistake
    last: float | None
    sessions: tuple[str, ...]
    error: str = ""  # of a repair: what failed; people see it, sessions never
    form: str = ""
    calls_lost: int = 0
    is_pinned: bool = False  # also where it cannot be shown


class LessonView(msgspec.Struct, frozen=True):
    """What sessions of a project see at their start, and all its lessons."""

    project: str
    text: str
    lessons: tuple[LessonEntry, ...]

    @property
    def shown(self) -> tuple[LessonEntry, ...]:
        return tuple(one for one in self.lessons if one.state in ("shown", "pinned"))


def lesson_view(store: Store, project: str, folder: Path | None, *, refreshed: bool = True) -> LessonView:
    """The lessons of a project with their evidence.

    With `refreshed=False` it only looks up what the last scan left, which is quick.
    """
    if refreshed:
        refresh(store)
    lookup = LessonLookup(store, project, "", None if folder is None else str(folder))
    choices = {row["form"]: row for row in store.rows("lesson.choices", {"project": project})}
    chosen = chosen_lines(store, project)
    known = {line.key for line in chosen}
    lines = [*chosen, *[line for line in lessons_about(store, project, "command") if line.key not in known]]
    early = {one.failed.form for one in lessons_about(store, project, "before") if one.failed is not None}
    repairs = lessons_about(store, project, "repair")
    entries = [_command(line, lookup, choices) for line in lines]
    entries += [
        repair_entry(one, early) for one in sorted(repairs, key=lambda one: (bool(one.silent), -one.cost.calls))
    ]
    told = set(lookup.rules())
    entries += [_rule(one, told) for one in rules_of(store, project)]
    return LessonView(project, lookup.sheet()[0], tuple(entries))


def decide_lesson(
    store: Store, project: str, text: str, choice: str, *, folder: Path | None = None, redactor: Redactor
) -> str:
    """Pin, accept or drop a command or, by its id, a rule, or undo that; returns its words."""
    rules = [one for one in rules_of(store, project) if len(text) >= _FEWEST_DIGITS and one.key.startswith(text)]
    if choice == "accept" or rules:
        if len(rules) != 1:
            raise NotFound(f"No rule has the id {text!r}. `seasoned lessons --all` lists the rules with their ids.")
        return decide_rule(store, project, rules[0].key, choice, now=time.time()).text
    here = None if folder is None else str(folder)
    return decide(store, project, text, choice, folder=here, redactor=redactor)


_FEWEST_DIGITS = 4


def _rule(rule: ProjectRule, told: Collection[str]) -> LessonEntry:
    reason = "" if rule.text in told else _NOT_TOLD[rule.state]
    state = "dropped" if rule.state == "dropped" else "shown" if not reason else "silent"
    where = ("start",) if not reason else ()
    last = rule.last or None
    return LessonEntry(
        rule.key, "rule", rule.text, rule.text, "other", state, reason, where, rule.lineages, 0, last, ()
    )


_NOT_TOLD = {
    "candidate": "said once: accept it, or say it again",
    "shown": "the instruction files say it, or three others are shown",
    "accepted": "the instruction files say it, or three others are shown",
    "dropped": "you dropped it",
}


def _command(line: Lesson, lookup: LessonLookup, choices: Mapping[str, DatabaseRow]) -> LessonEntry:
    choice = choices.get(line.key)
    why = lookup.why_not_here(line)
    if choice is not None and choice["choice"] == "drop":
        state, reason = "dropped", "you dropped it"
    elif why is not None:
        state, reason = "silent", why
    else:
        state, reason = ("pinned", "") if choice is not None else ("shown", "")
    said = line.text or line.key
    where = ("start", "first prompt") if state in ("shown", "pinned") else ()
    return LessonEntry(
        line.name,
        "command",
        said,
        line.text,
        line.purpose,
        state,
        reason,
        where,
        line.lineages,
        line.among,
        line.last or None,
        line.sessions,
        form=line.key,
        is_pinned=choice is not None and choice["choice"] == "pin",
    )


def repair_entry(lesson: Lesson, early: Collection[str] = ()) -> LessonEntry:
    """What repairs a failure; `early` are the forms that are answered at the call already."""
    failed = lesson.failed
    form = failed.form if failed is not None else ""
    where = () if lesson.silent else ("at the call", "after a failure") if form in early else ("after a failure",)
    return LessonEntry(
        lesson.name,
        "repair",
        "" if lesson.silent else hint_text(lesson),
        lesson.text,
        lesson.purpose,
        "silent" if lesson.silent else "shown",
        lesson.silent,
        where,
        lesson.lineages,
        lesson.among,
        lesson.last or None,
        lesson.sessions,
        failed.words if failed is not None else "",
        form or (failed.tool if failed is not None else ""),
        lesson.cost.calls,
    )


def shared_file(config: Config, store: Store, project: str, folder: Path) -> FileChange:
    """The file with the lessons of a project in its checkout, as it would be written."""
    top = checkout_root(str(folder))
    if top is None:
        raise NotFound(f"{str(folder)!r} is not in a git checkout. Run this where the project's repository is.")
    refresh(store)
    redactor = kept_secrecy(config).redactor()
    lookup = LessonLookup(store, project, "", top)
    lessons = [*lookup.sheet()[1], *lessons_about(store, project, "repair")]
    path = Path(top) / PLACE
    return FileChange(
        path, read_present(path), render(shared(lessons, lookup.rules(), redactor.text)), "what sessions learned"
    )


# Projects with fewer conversations say nothing about themselves: hardly anything was known.
FEWEST_CONVERSATIONS = 8


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


def backtest(
    paths: Iterable[Path | str] = (),
    *,
    project: str | None = None,
    fewest: int = FEWEST_CONVERSATIONS,
    config: Config | None = None,
) -> Backtest:
    """Replay histories: what would their sessions have been shown, and was it right?

    Without paths, the sessions of the user's store. `project` is the key of one project, a unique name or a folder;
    `fewest` leaves out projects with fewer conversations.
    """
    with histories(config or load(), [Path(path) for path in paths]) as read:
        key = None if project is None else find_project(read.store, project, base=str(Path.cwd())).key
        return run_backtest(read.store, project=key, fewest=fewest if key is None else 1)[0]
