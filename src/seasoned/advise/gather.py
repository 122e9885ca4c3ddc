"""Reads the newest sessions of a store once, and gathers advice, ranked by what it would save."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from seasoned.admission import admit_written
from seasoned.advise.advice import (
    Advice,
    AdviceEvidence,
    AdviceStep,
    AppliedAdvice,
    FollowUp,
    applied_advice,
    code,
    follow_up,
    make_advice,
)
from seasoned.advise.step import contradictions, project_folder
from seasoned.begin.receipt import ShownUse, use_of
from seasoned.command.parse import names
from seasoned.insight.report import Tell, answer_in_process
from seasoned.lazy_regex import LazyRegex
from seasoned.lesson.evidence import FormUse, form_uses
from seasoned.lesson.failure.action import FILE_CAUSES, MistakeFacts, main_ways, sentence
from seasoned.lesson.failure.recurrence import RecurrenceCounter
from seasoned.lesson.failure.repair import PERMISSION_ARGUMENTS
from seasoned.lesson.lesson import PURPOSES, StoredSheet, all_of
from seasoned.lesson.session_sources import SessionSources
from seasoned.lesson.storage import knowledge_of
from seasoned.outcome.track import JudgedCall, Track, tracks
from seasoned.store import Store, open_store

# A way that one session took may have been chance.
_FEWEST_REPAIRS = 2
# Causes that belong to the machine or the agent rather than to a project.
MACHINE_CAUSES = frozenset(("equals", "blocked", "here document"))
# Sentences about something that happened to work later, which a session could not do on purpose.
_NO_ADVICE = ("Change ", "Try ", "Wait ", "Look ", "Start ")


def from_mistake(facts: MistakeFacts, project: str | None, among: int) -> Iterator[Advice]:
    """The advice that a recurring mistake gives, if it gives any."""
    found = _of_rights(facts) or _of_repair(facts) or _of_cause(facts)
    if found is None:
        return
    said, step = found
    yield make_advice("mistake", project, subject_of(facts), said, evidence_of(facts, among), step, facts.roots)


def is_undone(facts: MistakeFacts, others: Iterable[MistakeFacts]) -> bool:
    """Whether what repaired a mistake is itself repaired since: an option that was added once fails now."""
    return any(
        (later.last_seen or 0.0) > (facts.last_seen or 0.0)
        and one.change.program == other.change.program
        and {one.change.kind, other.change.kind} == {"option added", "option dropped"}
        and not set(one.change.names).isdisjoint(other.change.names)
        for later in others
        for one in main_ways(facts)
        for other in main_ways(later)
    )


def subject_of(facts: MistakeFacts) -> str:
    """The key that identifies a mistake."""
    return "\n".join((facts.tool, facts.program or "", facts.key))


def evidence_of(facts: MistakeFacts, among: int) -> AdviceEvidence:
    """The evidence for advice about a mistake."""
    cost = facts.cost
    return AdviceEvidence(
        sessions=facts.sessions,
        among=among,
        calls=cost.calls,
        minutes=None if cost.seconds is None else cost.seconds / 60,
        tokens=None if cost.tokens is None else round(cost.tokens),
        last_seen=facts.last_seen or None,
        refs=facts.refs,
        note=f"{facts.repaired} repaired it" if facts.repaired else "",
    )


_Found = tuple[str, AdviceStep]


def _of_rights(facts: MistakeFacts) -> _Found | None:
    """A command that a sandbox refuses, and that worked with the permission of a person."""
    for way in main_ways(facts):
        if (
            way.change.kind == "given"
            and PERMISSION_ARGUMENTS.issuperset(way.change.names)
            and way.sessions >= _FEWEST_REPAIRS
        ):
            program = way.change.program
            if facts.agent == "codex":
                said = f"Have Codex ask at once for {code(program)}: its sandbox refuses it first"
                return f"{said}.", AdviceStep("permission", program, facts.agent)
            line = f"Ask for permission to run {code(program)} outside the sandbox at once: the sandbox refuses it."
            return line, AdviceStep("instruction", line, facts.agent)
    return None


def _of_repair(facts: MistakeFacts) -> _Found | None:
    """What repaired it in several sessions, as the report says it."""
    if facts.cause in FILE_CAUSES:
        # The tool itself says so to every agent.
        return None
    said, repaired = sentence(facts)
    # Words of an error come from a result, so no file that a model reads may hold them.
    if said is None or repaired < _FEWEST_REPAIRS or said.startswith(_NO_ADVICE) or "“" in said:
        return None
    return f"{said}.", AdviceStep("instruction", f"{said}.", facts.agent)


def _of_cause(facts: MistakeFacts) -> _Found | None:
    """A line that would prevent it, if no repair is known but the cause says enough."""
    line = _line(facts)
    if line is None:
        return None
    if facts.cause == "login":
        return line, AdviceStep("manual", line, facts.agent)
    return line, AdviceStep("instruction", line, facts.agent)


def _line(facts: MistakeFacts) -> str | None:
    what, thing = facts.what, facts.thing if _is_own(facts) else None
    match facts.cause:
        case "equals":
            return "Quote words that begin with `=` in shell commands: zsh takes them for programs."
        case "here document" if (facts.program or "").endswith("git commit"):
            return "Give `git commit` its message with `-m`, not with a here-document: the sandbox refuses that."
        case "here document":
            return f"Write commands with {what} without a here-document: the sandbox refuses that."
        case "blocked" if thing:
            return f"Do not chain {code(thing)} with other commands: the agent blocks that."
        case "unsaved":
            return f"Commit or stash your changes before {what}."
        case "unknown command" if thing and thing in (facts.program or "").split():
            return f"Do not run {what}: it does not exist here."
        case "unknown command" if thing:
            return f"Do not run {code(f'{facts.program or facts.tool} {thing}')}: it does not exist here."
        case "unknown option" if thing and thing.startswith("-"):
            return f"Do not give {code(thing)} to {what}: it has no such option."
        case "dependencies":
            return f"Install the dependencies before you run {what}."
        case "no tool" if facts.program is None:
            return f"Do not call {what}: there is no such tool here."
        # A sandbox that hides the login looks the same, and is repaired by leaving it.
        case "login" if facts.program and not any(way.change.kind == "given" for way in facts.ways):
            return f"Log in to what {what} needs before a session begins: it fails without a login."
        case "missing file" if facts.missing and facts.found and facts.missing != facts.found:
            return f"Use {code(facts.found)}: there is no {code(facts.missing)} here."
    return None


def _is_own(facts: MistakeFacts) -> bool:
    """Whether the agent itself wrote what the error names: words of a result are not repeated."""
    if facts.thing is None:
        return False
    return facts.thing in (facts.program or "") or (facts.example is not None and facts.thing in facts.example.failed)


# Files that say how a project is built and tested. A session that reads one before its first test was looking for that.
_SAYS_HOW = LazyRegex(
    r"(?:^|[\s/\"'=])(package\.json|[Mm]akefile|[Jj]ustfile|\.?mise\.toml|mise-tasks|pyproject\.toml|tox\.ini|noxfile\.py"
    r"|Taskfile\.ya?ml|build\.gradle(?:\.kts)?|pom\.xml|CONTRIBUTING\.md|\.github/workflows)(?=[\s\"'|;&)/]|$)"
)
_LISTS_TASKS = LazyRegex(
    r"^\s*(?:mise tasks|(?:npm|pnpm|yarn|bun) run|just --list|make help|task --list|poe)\s*(?:[|;&2]|$)"
)
_FILE = LazyRegex(r"\w/\S*\.\w+$|^\w[\w-]*\.(?:py|ts|tsx|js|go|rs|rb|java)$|::")
# Everyone knows these; a line about them says nothing.
_COMMON = names("git gh glab docker kubectl brew apt apt-get ssh aws gcloud az curl")
# The same in every project of their language: no session looks for them.
_OF_LANGUAGE = names("go gofmt cargo rustfmt swift dotnet")
_VERBS = {
    "test": "tested",
    "check": "checked",
    "format": "formatted",
    "build": "built",
    "install": "set up",
    "run": "run",
}
_FEWEST_RUNS = 3
_FEWEST_SESSIONS = 2
_LOOKED_SHARE = 3  # one in three


class _Command(msgspec.Struct):
    """One command of a project in all sessions that ran it."""

    purpose: str
    ran: dict[str, float]  # lineages in which it worked, each with when it last did
    looked: dict[str, tuple[int, str]]  # those that looked first: the calls, and a session
    files: Counter[str]
    texts: dict[str, set[str]]  # how it was written, each with the lineages


class ProjectHabits:
    """Collects what the sessions of one project do, one session at a time."""

    def __init__(self, project: str | None) -> None:
        self.project = project
        self.lineages: dict[str, float] = {}
        self.agents: Counter[str] = Counter()
        self._commands: dict[str, _Command] = {}

    def add(self, track: Track) -> None:
        """Add one session."""
        if not track.calls:
            return
        ended = track.ended or track.started or 0.0
        if track.root not in self.lineages:
            self.agents[track.ref.agent] += 1
        self.lineages[track.root] = max(self.lineages.get(track.root, 0.0), ended)
        looks: list[str] = []
        for call in track.calls:
            if named := _looks_at(call):
                looks.append(named)
            for use in form_uses(call, track.cwd):
                self._add_use(track, call, use, looks)

    def count(self, other: ProjectHabits) -> None:
        """Count the sessions of another project too."""
        self.agents.update(other.agents)
        self.lineages.update(other.lineages)

    def _add_use(self, track: Track, call: JudgedCall, use: FormUse, looks: list[str]) -> None:
        if not use.worked or use.purpose == "other" or use.form.rpartition("&& ")[2].split()[0] in _COMMON:
            return
        one = self._commands.setdefault(use.form, _Command(use.purpose, {}, {}, Counter(), {}))
        if use.is_whole:
            one.texts.setdefault(use.text, set()).add(track.root)
        if track.root not in one.ran and looks:
            one.looked[track.root] = (len(looks), str(track.ref))
            one.files.update(set(looks))
        one.ran[track.root] = call.time or track.ended or 0.0

    @property
    def agent(self) -> str:
        """The agent of most sessions."""
        return self.agents.most_common(1)[0][0] if self.agents else ""

    def advice(self, told: frozenset[str]) -> Iterator[Advice]:
        """What sessions look for; `told` are the forms on the sheet, which sessions of a connected agent see."""
        best: dict[str, Advice] = {}
        for form, one in self._commands.items():
            looked = len(one.looked)
            if len(one.ran) < _FEWEST_RUNS or looked < _FEWEST_SESSIONS:
                continue
            text = self._text(form, one)
            if _LOOKED_SHARE * looked < len(one.ran) or text is None or one.purpose not in _VERBS:
                continue
            if form.rpartition("&& ")[2].split()[0] in _OF_LANGUAGE:
                continue
            where = " and ".join(name for name, _ in one.files.most_common(2))
            evidence = AdviceEvidence(
                sessions=looked,
                among=len(one.ran),
                calls=sum(calls for calls, _ in one.looked.values()),
                last_seen=max(one.ran.values()),
                refs=tuple(ref for _, ref in one.looked.values())[:5],
                note=f"they read {where} before they ran it",
            )
            line = f"{PURPOSES[one.purpose]} with {code(text)}."
            said = f"Say how this project is {_VERBS[one.purpose]}: {code(text)}."
            happened = {root: one.ran[root] for root in one.looked}
            step = AdviceStep("instruction", line, self.agent, text)
            advice = make_advice("command", self.project, f"looked\n{form}", said, evidence, step, happened)
            advice = msgspec.structs.replace(advice, is_on_sheet=form in told)
            known = best.get(one.purpose)
            # One command for each purpose: the others are variants of it.
            if known is None or (advice.evidence.among, form) > (known.evidence.among, known.subject):
                best[one.purpose] = advice
        yield from best.values()

    def _text(self, form: str, one: _Command) -> str | None:
        """How most sessions write a command, if that may be shown; None if each writes it in another way."""
        text = max(one.texts, key=lambda text: (len(one.texts[text]), -len(text), text), default=None)
        if text is None or len(one.texts[text]) < max(_FEWEST_SESSIONS, len(one.ran) / 3):
            return None
        # A file that a session worked on says nothing to the next one.
        if any(_FILE.compiled.search(word) for word in text.split()[len(form.split()) :]):
            text = form
        return text if admit_written("shell", text, self.project or "") else None

    def happened(self, subject: str) -> Mapping[str, float] | None:
        """The lineages in which something happened that was advised about earlier; None if it is not a habit."""
        kind, _, form = subject.partition("\n")
        if kind != "looked":
            return None
        one = self._commands.get(form)
        return {} if one is None else {root: one.ran[root] for root in one.looked}


def _looks_at(call: JudgedCall) -> str:
    """The file that says how the project is worked on, if a call reads one; empty if not."""
    if call.verdict != "ok":
        return ""
    if call.command is not None:
        if _LISTS_TASKS.compiled.search(call.command):
            return "the list of tasks"
        found = _SAYS_HOW.compiled.search(call.command[:400])
        # A commit or an edit that names the file is not a look.
        reads = re.match(r"\s*(?:cd \S+ && )?(?:cat|sed -n|head|tail|less|bat|jq|rg|grep|nl|awk)\b", call.command)
        return found[1] if found and reads else ""
    if call.kind != "file" or any(name in call.arguments for name in ("old_string", "content", "new_string")):
        return ""
    path = call.arguments.get("file_path") or call.arguments.get("path") or ""
    found = _SAYS_HOW.compiled.search(path) if isinstance(path, str) else None
    return found[1] if found else ""


# The newest sessions say what is worth doing now; more of them would take minutes.
MOST_SESSIONS = 2000
# What has not happened in this many newer sessions of its project is over.
_OVER_AFTER = 25
_EVERY = 50
_REFS = 5
# What two sentences with the same repair may differ in: numbers, and the value of an option.
_VARYING = LazyRegex(r"\d+|(?<=[\s`])(--?[\w-]+)[ =][^\s`]+")
# Between the subjects of advice that several mistakes gave.
_AND = "\x1e"
_Number = TypeVar("_Number", int, float)


class Gathered(msgspec.Struct, frozen=True):
    """All advice, the most that it would save first, and what became of advice that was applied."""

    advice: tuple[Advice, ...]
    followed: tuple[FollowUp, ...]
    sessions: int  # that were read
    agents: dict[str, int]  # the lineages of each agent
    recurring: dict[str, int] = {}  # how many mistakes come back, by project
    use: ShownUse = ShownUse()


class ProjectSessions:
    """What is collected about one project, or about all."""

    def __init__(self, key: str | None) -> None:
        self.key = key
        self.habits = ProjectHabits(key)
        self.mistakes = RecurrenceCounter(by_cause=True)
        self._witnesses = SessionSources()

    def add(self, track: Track, *also: ProjectSessions) -> None:
        """Take in one session; its mistakes count elsewhere too."""
        self.habits.add(track)
        self.mistakes.add(track, *[one.mistakes for one in also])

    def advice(self, *, wrong: Collection[str], told: frozenset[str]) -> Iterator[Advice]:
        """What its sessions show. `wrong`: programs that are corrected elsewhere; `told`: forms on the sheet."""
        among = self.habits.lineages
        every = list(self.mistakes.facts())
        found = (
            advice
            for facts in every
            if not _is_over(facts.roots, among) and facts.program not in wrong and not is_undone(facts, every)
            for advice in from_mistake(facts, self.key, len(among))
        )
        yield from merged(found)
        yield from (advice for advice in self.habits.advice(told) if not _is_over(advice.happened, among))

    def as_source(self, track: Track) -> Track:
        """The session under the name of its source: copies of a session are one, whatever their ids."""
        task = next((call.intent for call in track.calls if call.intent), "")
        root = self._witnesses.name(track.root, task, (call.raw_arguments for call in track.calls))
        return track if root == track.root else msgspec.structs.replace(track, root=root)

    def happened(self, subject: str) -> Mapping[str, float]:
        """The lineages in which something happened that was advised about."""
        found: dict[str, float] = {}
        for one in subject.split(_AND):
            for root, at in self._happened(one).items():
                found[root] = max(at, found.get(root, at))
        return found

    def _happened(self, subject: str) -> Mapping[str, float]:
        habit = self.habits.happened(subject)
        if subject.startswith("says\n"):
            # Whether the command that an instruction named is still run and fails.
            form = subject.rpartition("\n")[2]
            failed = [one.roots for one in self.mistakes.facts(fewest_sessions=1) if one.program == form]
            return {root: at for roots in failed for root, at in roots.items()}
        if habit is not None:
            return habit
        found = (one.roots for one in self.mistakes.facts(fewest_sessions=1) if subject_of(one) == subject)
        return next(found, {})


def gather(store: Store, *, project: str | None = None, tell: Tell | None = None) -> Gathered:
    """Everything that is worth doing in a project, or in all."""
    ids = [row["id"] for row in store.rows("advise.newest", {"project": project, "limit": MOST_SESSIONS})]
    projects: dict[str | None, ProjectSessions] = {}
    # Mistakes are counted over all projects too: one of the machine may be too rare in each.
    everywhere = ProjectSessions(None)
    project_of: dict[str, str | None] = {}
    for number, track in enumerate(tracks(store, sessions=ids)):
        if tell is not None and number % _EVERY == 0:
            tell(number, len(ids))
        one = projects.setdefault(track.project, ProjectSessions(track.project))
        track = one.as_source(track)
        one.add(track, everywhere)
        project_of[track.root] = track.project
    if tell is not None:
        tell(len(ids), len(ids))
    for one in projects.values():
        everywhere.habits.count(one.habits)
    found = list(_everywhere(everywhere, project_of)) if project is None else []
    known = {one.subject for one in found}
    for one in projects.values():
        # What belongs to no project has no file to say something in.
        if one.key is not None:
            found += [
                advice for advice in _in_project(store, one.key, one) if known.isdisjoint(advice.subject.split(_AND))
            ]
    followed = [
        follow_up(one, place.habits.lineages, place.happened(one.subject))
        for one in applied_advice(store)
        if (place := everywhere if one.project is None else projects.get(one.project)) is not None and _is_meant(one)
    ]
    return Gathered(
        tuple(sorted(found, key=lambda one: (-one.saves, one.id))),
        tuple(followed),
        len(ids),
        dict(everywhere.habits.agents),
        _recurring(projects),
        use_of(store, project=project),
    )


def _recurring(projects: Mapping[str | None, ProjectSessions]) -> dict[str, int]:
    return {one.key: sum(1 for _ in one.mistakes.facts()) for one in projects.values() if one.key is not None}


def _is_meant(one: AppliedAdvice) -> bool:
    return one.state == "applied" and one.kind != "connection"


def _everywhere(every: ProjectSessions, project_of: Mapping[str, str | None]) -> Iterator[Advice]:
    """Mistakes that belong to the machine or the agent, and came up in several projects."""
    for facts in every.mistakes.facts():
        if facts.cause in MACHINE_CAUSES and len({project_of.get(root) for root in facts.roots}) > 1:
            yield from from_mistake(facts, None, every.habits.agents[facts.agent])


def _in_project(store: Store, key: str, one: ProjectSessions) -> Iterator[Advice]:
    among, folder = len(one.habits.lineages), project_folder(store, key)
    known = None if folder is None else knowledge_of(store, key)
    corrected = (
        []
        if folder is None or known is None
        else list(contradictions(folder, key, known, among=among, agent=one.habits.agent))
    )
    yield from corrected
    # What the instructions say wrongly is corrected there.
    wrong = {advice.subject.rpartition("\n")[2] for advice in corrected}
    told = frozenset(line.form for _, sheet in all_of(store, key, "sheet", StoredSheet) for line in sheet.lines)
    yield from one.advice(wrong=wrong, told=told)


def merged(advice: Iterable[Advice]) -> list[Advice]:
    """The advice with one piece for each repair: errors that differ in a value, or in the tool, give the same line."""
    found: dict[str, Advice] = {}
    for one in advice:
        form = _VARYING.compiled.sub(lambda match: match[1] or "0", one.sentence)
        known = found.get(form)
        found[form] = one if known is None else _joined(known, one)
    return list(found.values())


def _joined(first: Advice, second: Advice) -> Advice:
    one, other = first.evidence, second.evidence
    happened = dict(first.happened)
    for root, at in second.happened.items():
        happened[root] = max(at, happened.get(root, at))
    evidence = AdviceEvidence(
        sessions=len(happened),
        among=max(one.among, other.among),
        calls=one.calls + other.calls,
        minutes=_sum(one.minutes, other.minutes),
        tokens=_sum(one.tokens, other.tokens),
        last_seen=max(one.last_seen or 0.0, other.last_seen or 0.0) or None,
        refs=tuple(dict.fromkeys((*one.refs, *other.refs)))[:_REFS],
        note=one.note if one.note == other.note else "",
    )
    subject = f"{first.subject}{_AND}{second.subject}"
    return msgspec.structs.replace(first, evidence=evidence, happened=happened, subject=subject)


def _sum(one: _Number | None, other: _Number | None) -> _Number | None:
    return one if other is None else other if one is None else one + other


def _is_over(happened: Mapping[str, float], among: Mapping[str, float]) -> bool:
    last = max(happened.values(), default=0.0)
    return sum(end > last for root, end in among.items() if root not in happened) > _OVER_AFTER


def main(path: str, project: str | None = None) -> None:
    """Print progress lines, then what was gathered as MessagePack, for the pages."""

    def answer(tell: Tell) -> bytes:
        with open_store(Path(path)) as store:
            return msgspec.msgpack.encode(gather(store, project=project, tell=tell))

    answer_in_process(answer)
