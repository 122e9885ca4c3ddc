"""What the sessions of a project have shown so far, and what the next one should see.

Sessions are added one by one in the order in which they ended, so that a replay knows at each point exactly what was
known then. Nothing here reads a clock, a store or a disk: the same sessions give the same answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from random import Random

import msgspec

from seasoned.admission import admit_path, admit_written
from seasoned.command.written import Purpose
from seasoned.lazy_regex import LazyRegex
from seasoned.lesson.evidence import FailedCall, FormUse, SessionEvidence
from seasoned.lesson.failure.call_target import MISSING_PROGRAM
from seasoned.lesson.lesson import MOST_COMMANDS, MOST_CORRECTIONS, REPLACE_ALL, Hint, Line, Way, kind_mark
from seasoned.lesson.one_off import ELLIPSIS, head_of, without_one_offs
from seasoned.lesson.session_sources import SessionSources

# Chosen by backtest on two thirds of the projects, see docs/measurements/backtest.md.
FLOOR = 0.7  # a line is shown if it is estimated that at least this share of sessions uses it
HALF_LIFE = 8.0  # a lineage counts half after this many newer ones
SAME_FOLDER = 5.0  # how much more a lineage of the same checkout counts
ITEM_FLOOR = 0.4  # the same for a command that the first prompt asks for
# A form is retired once it failed in this many lineages since it last worked.
RETIRED_BY = 2
FEWEST_LINEAGES = 2
# A copy of a session has its times; a job that runs every night has the same calls and other times.
_ANOTHER_RUN = 12 * 3600.0
# Of the repairs of one mistake, the share that must have gone the same way.
AGREEMENT = 0.6
_MOST_TEXTS = 40
# What none of so many newest lineages did is not shown.
_HEARD = 100
_FIGURES = LazyRegex(r"\d+")
# These ways can be shown without a call that worked.
_WITHOUT_TEXT = frozenset({Way("read"), Way("exact"), REPLACE_ALL})
# Programs that are used the same way in every project: a line about them says nothing.
_COMMON = frozenset({"git", "gh", "glab", "docker", "kubectl", "brew", "apt", "apt-get", "ssh", "scp", "aws", "gcloud"})


# By lineage: when a repair worked, the call as it was written, and its session.
_Cases = dict[str, tuple[float, str, str]]


class _Outcome(msgspec.Struct):
    """How one form ended in one lineage."""

    worked_at: float | None = None
    failed_at: float | None = None
    reported: bool = False  # it ran and found fault with the code, so it is the right command
    text: str = ""
    session: str = ""


class _Lineage(msgspec.Struct):
    root: str
    end: float
    folders: set[str]
    is_active: bool = False


class _Repairs(msgspec.Struct):
    """The ways in which one kind of failure was repaired, each once for a lineage."""

    ways: dict[Way, _Cases]
    unrepaired: int = 0
    lacks_program: bool = False  # which programs are installed is a matter of the machine, not of the project


class ProjectKnowledge:
    """The experience of one project."""

    def __init__(self, project: str = "") -> None:
        self._project = project  # its key: only its own hosts are shown
        self._witnesses = SessionSources()
        self._sources: dict[str, str] = {}  # by lineage
        self._lineages: dict[str, _Lineage] = {}
        self._forms: dict[str, dict[str, _Outcome]] = {}
        # The same for each option, value and variable that calls of a form were given.
        self._manners: dict[tuple[str, str], dict[str, _Outcome]] = {}
        self._purposes: dict[str, Purpose] = {}
        self._repairs: dict[tuple[str, str, str], _Repairs] = {}
        self._files: dict[str, Counter[str]] = {}

    def __len__(self) -> int:
        return sum(one.is_active for one in self._lineages.values())

    def add(self, evidence: SessionEvidence) -> None:
        """Add a session that has ended."""
        # Copies of a session are one source, even if their ids differ. What fails in both still failed twice.
        self._sources[evidence.root] = self._witnesses.name(evidence.root, evidence.task, _told_by(evidence))
        lineage = self._lineages.setdefault(evidence.root, _Lineage(evidence.root, evidence.end, set()))
        lineage.end = max(lineage.end, evidence.end)
        lineage.is_active = lineage.is_active or bool(evidence.uses or evidence.files)
        if evidence.folder:
            lineage.folders.add(evidence.folder)
        signals = {one.position for one in evidence.failures if one.is_signal}
        for use in evidence.uses:
            self._add_use(evidence, use, is_signal=use.position in signals)
        for failure in evidence.failures:
            self._add_failure(evidence, failure)
        for path in evidence.files:
            self._files.setdefault(path.rsplit("/", 1)[-1], Counter())[path] += 1

    def _add_use(self, evidence: SessionEvidence, use: FormUse, *, is_signal: bool) -> None:
        if use.worked is None:
            return
        self._purposes[use.form] = use.purpose
        for manner in _manners(use.text):
            how = self._manners.setdefault((_bare(use.form), manner), {}).setdefault(evidence.root, _Outcome())
            if use.worked:
                how.worked_at = evidence.end
            elif not is_signal:
                how.failed_at = evidence.end
        outcome = self._forms.setdefault(use.form, {}).setdefault(evidence.root, _Outcome())
        if use.worked:
            outcome.worked_at = evidence.end
            outcome.session = evidence.session
            # The shortest text of a lineage says most about the form and least about the day's work.
            if use.is_whole and (not outcome.text or len(use.text) < len(outcome.text)):
                outcome.text = use.text
        elif is_signal:
            outcome.reported = True
        else:
            outcome.failed_at = evidence.end

    def _add_failure(self, evidence: SessionEvidence, failure: FailedCall) -> None:
        known = self._repairs.setdefault(kind_mark(failure.kind), _Repairs({}))
        known.lacks_program = known.lacks_program or MISSING_PROGRAM.compiled.search(failure.signature) is not None
        if failure.way is None:
            known.unrepaired += 1
            return
        known.ways.setdefault(failure.way, {})[evidence.root] = (evidence.end, failure.text, evidence.session)

    # -- the sheet ----------------------------------------------------------------------------------------------------

    def sheet(self, folder: str | None = None, *, floor: float = FLOOR) -> tuple[Line, ...]:
        """The lines for a session that begins in this folder, the surest first."""
        corrected = self._corrected_forms()
        shares = self._shares(folder)
        lines = [
            line
            for form, share in shares.items()
            if (share >= floor or form in corrected)
            and (line := self._line(form, share, is_correction=form in corrected)) is not None
        ]
        lines.sort(key=lambda line: (-line.share, line.form))
        by_root = self._worked_by_root()
        recent = set[str]().union(*(by_root.get(one.root, ()) for one in self._newest()[:_HEARD]))
        commands: list[Line] = []
        more: list[Line] = []
        # Sure ones first, so that a correction never takes their place.
        for line in sorted(lines, key=lambda line: line.share < floor):
            is_sure = line.share >= floor and len(commands) < MOST_COMMANDS
            has_room = is_sure or (line.is_correction and len(more) < MOST_CORRECTIONS)
            # What only old sessions did is not shown.
            if has_room and line.form in recent:
                (commands if is_sure else more).append(line)
        return (*commands, *more)

    def command_for(self, purpose: Purpose, folder: str | None = None) -> Line | None:
        """The command that most sessions use for a purpose, if enough of them do."""
        found = [
            line
            for form, share in self._shares(folder).items()
            if share >= ITEM_FLOOR and self._purposes[form] == purpose
            if (line := self._line(form, share, is_correction=False)) is not None
        ]
        return max(found, key=lambda line: (line.share, line.form), default=None)

    def folders(self) -> list[str]:
        """The checkouts in which sessions have worked, the newest first."""
        return list(dict.fromkeys(folder for one in self._newest() for folder in sorted(one.folders)))

    def mistakes(self) -> Iterator[tuple[tuple[str, str, str], Hint]]:
        """Every kind of failure that has an answer, with the answer."""
        for kind in self._repairs:
            hint = self.after(kind)
            if hint is not None and hint.way.kind != "path":
                yield kind, hint

    def failing_forms(self) -> Iterator[tuple[str, Hint]]:
        """Every form that fails here, with what works instead."""
        for form in sorted({form for tool, form, _ in self._repairs if tool == "shell" and form}):
            hint = self.before(form)
            if hint is not None:
                yield form, hint

    def known_files(self) -> Iterator[tuple[str, str]]:
        """The names that only one file of the project has, each with its path."""
        for name, paths in self._files.items():
            if len(paths) == 1 and admit_path(path := next(iter(paths))):
                yield name, path

    def _shares(self, folder: str | None) -> dict[str, float]:
        """For each form the estimated share of sessions that use it; newer and nearer lineages count more."""
        by_root = self._worked_by_root()
        by_source: dict[str, list[_Lineage]] = {}
        for lineage in self._newest():
            by_source.setdefault(self._sources[lineage.root], []).append(lineage)
        # As if one more session had used nothing: two of two are not certain.
        total = 1.0
        used = Counter[str]()
        for age, copies in enumerate(by_source.values()):
            weight = 0.5 ** (age / HALF_LIFE)
            if folder is not None and any(folder in one.folders for one in copies):
                weight *= SAME_FOLDER
            total += weight
            for form in set[str]().union(*(by_root.get(one.root, ()) for one in copies)):
                used[form] += weight
        return {form: weight / total for form, weight in used.items()}

    def _newest(self) -> list[_Lineage]:
        """The lineages that did something, the newest first; the order in which they were read never decides."""
        active = (one for one in self._lineages.values() if one.is_active)
        return sorted(active, key=lambda one: (-one.end, one.root))

    def _worked_by_root(self) -> dict[str, set[str]]:
        """The forms that worked in each lineage; a retired form counts for the one that replaced it."""
        found: dict[str, set[str]] = {}
        for form, outcomes in self._forms.items():
            now = self._successor(form) if self.is_retired(form) else form
            for root, outcome in outcomes.items():
                if outcome.worked_at is not None and now is not None:
                    found.setdefault(root, set()).add(now)
        return found

    def _successor(self, form: str) -> str | None:
        """What sessions run for the same purpose since a form stopped working."""
        outcomes = self._forms[form].values()
        last = max((one.worked_at for one in outcomes if one.worked_at is not None), default=0.0)
        since = {
            other: sum(one.worked_at is not None and one.worked_at > last for one in found.values())
            for other, found in self._forms.items()
            if other != form and self._purposes[other] == self._purposes[form] != "other"
        }
        best = max(since.items(), key=lambda item: (item[1], item[0]), default=("", 0))
        return best[0] if best[1] >= RETIRED_BY and not self.is_retired(best[0]) else None

    def _line(self, form: str, share: float, *, is_correction: bool) -> Line | None:
        purpose = self._purposes[form]
        worked = {root: one for root, one in self._forms[form].items() if one.worked_at is not None}
        if self._runs(worked) < FEWEST_LINEAGES or self.is_retired(form):
            return None
        if not is_correction and (purpose == "other" or form.rpartition("&& ")[2].split()[0] in _COMMON):
            return None
        newest = sorted(worked.values(), key=lambda one: (-(one.worked_at or 0.0), one.session))
        text = _text(form, newest, self._project)
        if text is None:
            return None
        return Line(
            form,
            text,
            purpose,
            share,
            len(worked),
            newest[0].worked_at or 0.0,
            is_correction,
            tuple(one.session for one in newest[:5]),
        )

    def is_retired(self, form: str) -> bool:
        """Whether a form failed in two lineages since it last worked."""
        return self._no_longer_works(self._forms.get(form, {}))

    def failed_since(self, form: str) -> dict[str, float]:
        """When a form failed in each lineage since it last worked; empty if that is not enough to retire it."""
        outcomes = self._forms.get(form, {})
        if not self._no_longer_works(outcomes):
            return {}
        return {root: one.failed_at for root, one in outcomes.items() if one.failed_at is not None}

    def _corrected_forms(self) -> set[str]:
        """Forms that repaired a mistake in at least two lineages, if what failed does not work here otherwise."""
        found: dict[str, set[str]] = {}
        for (_, failed, _), known in self._repairs.items():
            for way, cases in known.ways.items():
                if way.kind == "form" and (self.is_retired(failed) or not self._runs_here(failed)):
                    found.setdefault(way.value, set()).update(cases)
        return {form for form, roots in found.items() if self._count(roots) >= FEWEST_LINEAGES and form in self._forms}

    def _no_longer_works(self, outcomes: Mapping[str, _Outcome]) -> bool:
        """Whether two lineages failed since one last worked."""
        last = max((one.worked_at for one in outcomes.values() if one.worked_at is not None), default=0.0)
        return sum(one.failed_at is not None and one.failed_at > last for one in outcomes.values()) >= RETIRED_BY

    def _count(self, roots: Iterable[str]) -> int:
        """How many different sources these lineages have."""
        return len({self._sources[root] for root in roots})

    def _runs(self, roots: Iterable[str]) -> int:
        """How often independent sessions ran something: a copy counts once, the same job on another day again."""
        runs = 0
        last: dict[str, float] = {}
        for one in sorted((self._lineages[root] for root in roots), key=lambda one: one.end):
            source = self._sources[one.root]
            if one.end - last.get(source, -_ANOTHER_RUN) >= _ANOTHER_RUN:
                runs += 1
                last[source] = one.end
        return runs

    def simple_choices(self, random: Random) -> dict[str, list[str]]:
        """The forms that worked, ranked in simpler ways, to compare the sheet with."""
        worked = {
            form: [one.worked_at for one in outcomes.values() if one.worked_at is not None]
            for form, outcomes in self._forms.items()
        }
        forms = sorted(form for form, times in worked.items() if times)
        shuffled = list(forms)
        random.shuffle(shuffled)
        return {
            "frequent": sorted(forms, key=lambda form: (-len(worked[form]), form)),
            "newest": sorted(forms, key=lambda form: (-max(worked[form]), form)),
            "random": shuffled,
        }

    # -- hints --------------------------------------------------------------------------------------------------------

    def was_repaired(self, kind: tuple[str, str, str]) -> bool:
        """Whether a failure of this kind was repaired before, in any way."""
        known = self._repairs.get(kind_mark(kind))
        return known is not None and bool(known.ways)

    def after(self, kind: tuple[str, str, str], path: str = "") -> Hint | None:
        """What to tell after a failure of this kind, about this file."""
        known = self._repairs.get(kind_mark(kind))
        if known is None or not known.ways:
            return None
        if any(way.kind == "path" for way in known.ways):
            return self._known_path(path)
        ways = self._current(kind[1], known.ways)
        if not ways:
            return None
        total = sum(self._count(cases) for cases in ways.values())
        way, cases = max(
            ways.items(), key=lambda item: (self._count(item[1]), max(case[0] for case in item[1].values()))
        )
        if way.is_empty or self._count(cases) < AGREEMENT * total:
            return None
        return self._hint(kind[0], way, cases)

    def before(self, form: str) -> Hint | None:
        """What to tell before a call in a form that fails here: the form that works instead."""
        if self._runs_here(form):
            return None
        ways: dict[Way, _Cases] = {}
        lacks_program = False
        for (tool, failed, _), known in self._repairs.items():
            if tool == "shell" and failed == form:
                lacks_program = lacks_program or known.lacks_program
                for way, cases in known.ways.items():
                    ways.setdefault(way, {}).update(cases)
        ways = self._current(form, ways)
        if not ways:
            return None
        way, cases = max(ways.items(), key=lambda item: self._count(item[1]))
        total = sum(self._count(one) for one in ways.values())
        if way.kind != "form" or self._count(cases) < AGREEMENT * total:
            return None
        if lacks_program and self._count(cases) < FEWEST_LINEAGES:
            return None
        return self._hint("shell", way, cases)

    def _runs_here(self, form: str) -> bool:
        """Whether calls of this form worked or found fault with the code, wherever in the project."""
        return any(
            one.worked_at is not None or one.reported
            for known, outcomes in self._forms.items()
            if known == form or known.endswith(f"&& {form}")
            for one in outcomes.values()
        )

    def _current(self, form: str, ways: dict[Way, _Cases]) -> dict[Way, _Cases]:
        """The ways that still work: if a convention changed, only the newer repairs count."""
        return {way: cases for way, cases in ways.items() if not self._is_outdated(form, way, cases)}

    def _is_outdated(self, form: str, way: Way, cases: _Cases) -> bool:
        if way.kind == "form":
            return self.is_retired(way.value)
        if way.kind not in ("option", "value", "variable"):
            return False
        given = _manners(max(cases.values())[1])
        names = [name.removeprefix("+") for name in way.value.split() if not (way.kind == "option" and name[0] == "-")]
        # For a changed value only calls with that value count; for an added option, those with any value.
        added = [one for one in given if one.partition("=")[0] in names and ("=" in one) == (way.kind == "value")]
        return any(self._no_longer_works(self._manners.get((_bare(form), one), {})) for one in added)

    def _hint(self, tool: str, way: Way, cases: _Cases) -> Hint | None:
        newest = sorted(cases.values(), reverse=True)
        purpose = self._purposes.get(way.value, "other")
        text = newest[0][1]
        told = _lesson(way, text) if tool == "shell" else text
        if told is None or not (admit_written(tool, told, self._project) if told else way in _WITHOUT_TEXT):
            return None
        return Hint(way, told, len(cases), newest[0][0], purpose, tuple(case[2] for case in newest[:5]))

    def _known_path(self, path: str) -> Hint | None:
        """Where a file of this name is, if sessions have found only one."""
        name = path.rsplit("/", 1)[-1]
        known = {one: times for one, times in self._files.get(name, Counter()).items() if one != path}
        if len(known) != 1 or not name:
            return None
        found, times = next(iter(known.items()))
        if not admit_path(found):
            return None
        return Hint(Way("path", found), found, times, 0.0)


def _told_by(evidence: SessionEvidence) -> Iterator[str]:
    """What a session did, to compare it with others."""
    yield from (use.text for use in evidence.uses)
    yield from ("\n".join(failure.kind) for failure in evidence.failures)
    yield from evidence.files


def _bare(form: str) -> str:
    """A form without the folder that it runs in."""
    return form.rpartition("&& ")[2]


def _manners(text: str) -> set[str]:
    """How a command was called: each option and variable by name, and with its value; all numbers are alike."""
    found = set()
    words = text.split()
    # A text that was too long to be kept has no words.
    for word, following in zip(words, [*words[1:], ""][: len(words)], strict=True):
        name, joined, value = word.partition("=")
        if word.startswith("-"):
            value = value if joined else "" if following.startswith("-") else following
        elif not (joined and name.isidentifier() and name.isupper()):
            continue
        found |= {name, f"{name}={_FIGURES.compiled.sub('9', value)}"}
    return found


def _lesson(way: Way, text: str) -> str | None:
    """The command that worked without the operands of that day; None if they were all that it taught."""
    kept = without_one_offs(text)
    if kept == text:
        return text
    if way.kind == "value":
        # The changed value is the lesson.
        return kept if _value_of(way.value, text) == _value_of(way.value, kept) else None
    return None if way.kind == "before" else kept


def _value_of(option: str, text: str) -> str:
    """What a command gives to an option; empty if that was left out."""
    for word, following in pairwise([*text.split(), ""]):
        name, joined, value = word.partition("=")
        if name == option:
            return value if joined else following
    return ""


def _text(form: str, outcomes: Iterable[_Outcome], project: str) -> str | None:
    """How most lineages write the form; the form itself if they differ. None if it may not be shown."""
    texts = Counter(
        one.text for one in list(outcomes)[:_MOST_TEXTS] if one.text and admit_written("shell", one.text, project)
    )
    if not texts:
        return None
    text, times = texts.most_common(1)[0]
    # Sessions on the same test do not make it the project's test command, however many there are.
    if text == form or (times >= FEWEST_LINEAGES and without_one_offs(text) == text):
        return text
    heads = Counter[str]()
    for one, times in texts.items():
        heads[head_of(one, form)] += times
    head = heads.most_common(1)[0][0]
    return f"{head} {ELLIPSIS}" if any(len(one) > len(head_of(one, form)) for one in texts) else head
