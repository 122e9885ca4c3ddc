"""The inbox: all that wants to become lasting in one list, each with its change, its evidence and a check; deciding it.

The check looks at sessions that came after the evidence had sufficed: in how many it would have helped, in how many it
would have done harm. Nothing is asked of a model.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from seasoned.admission import admit, admit_call
from seasoned.app.stores import make_redactor, memory_and_skills_in
from seasoned.atomic_write import digest
from seasoned.begin.receipt import ShownUse, use_of
from seasoned.command.written import Purpose, written
from seasoned.config import Config
from seasoned.connect.agent import AGENTS
from seasoned.connect.apply import apply_plan, is_connected
from seasoned.connect.apply import undo as undo_changes
from seasoned.connect.apply import undo_plan as plan_undo
from seasoned.connect.instruction_file import AREA, corrections, plan_line, project_folder, removal_of, target_of
from seasoned.connect.plan import ConnectPlan, FileChange
from seasoned.errors import CannotDo, NotFound, SeasonedError
from seasoned.lazy_regex import LazyRegex
from seasoned.lesson.evidence import SessionEvidence
from seasoned.lesson.instruction_file import instructions_say
from seasoned.lesson.lesson import Lesson
from seasoned.lesson.project_lessons import FEWEST
from seasoned.lesson.proposal import (
    DecidedProposal,
    Proposal,
    ProposalEvidence,
    ProposalState,
    decided_proposals,
    drop_decision,
    keep_decision,
    proposals_of,
    proposals_of_rules,
)
from seasoned.lesson.replay import ReplayStep, is_same, served
from seasoned.lesson.rule import decide_rule, rules_of
from seasoned.lesson.storage import evidence_of_project, lessons_of, refresh
from seasoned.lesson.tree import contradiction
from seasoned.project import name_of
from seasoned.redact import Redactor
from seasoned.report.report import Tell, answer_in_process
from seasoned.review import undo as journal_undo
from seasoned.review.journal import Change, changes, preview
from seasoned.review.journal import find as find_change
from seasoned.review.memory_file import kept_for_projects
from seasoned.store import Store, open_store
from seasoned.store.project import list_projects
from seasoned.text import plural

_CODE = LazyRegex(r"`([^`]+)`")
_GRAVE = frozenset({"rm", "sudo", "dd", "mkfs", "shutdown", "kill", "chmod", "chown"})
_MENTION = LazyRegex(r"[\w.-]{1,40}(?: [a-z][\w-]{0,20})?\Z")
_MOST_CHARS = 300
_MOST_CHANGES = 50
NOT_COMPARED = "No later session can be compared with it."
_log = logging.getLogger("seasoned.inbox")


class LaterCheck(msgspec.Struct, frozen=True):
    """How a proposal would have done in sessions that began after its evidence sufficed."""

    sentence: str = NOT_COMPARED
    later: int = 0
    helped: int = 0
    harmed: int | None = None  # None where that cannot be seen


class Gathered(msgspec.Struct, frozen=True):
    """What the lessons of all projects propose, with the check of each."""

    proposals: tuple[Proposal, ...] = ()
    checks: dict[str, LaterCheck] = {}
    sessions: int = 0  # lineages that were looked at
    recurring: dict[str, int] = {}  # how many mistakes come back, by project
    use: ShownUse = ShownUse()


def gather(store: Store, *, project: str | None = None, tell: Tell | None = None) -> Gathered:
    """The proposals of a project, or of all. What no scan has taken in is taken in first."""
    refresh(store)
    keys = [one.key for one in list_projects(store, project)]
    found: list[Proposal] = []
    checks: dict[str, LaterCheck] = {}
    recurring: dict[str, int] = {}
    sessions = 0
    for number, key in enumerate(keys):
        if tell is not None:
            tell(number, len(keys))
        known = lessons_of(store, key)
        sessions += len(known.lineages)
        repairs = {one.key: one for one in known.repairs()}
        recurring[key] = sum(one.among > 1 for one in repairs.values())
        folder = project_folder(store, key)
        wrong = [] if folder is None else list(corrections(folder, key, known))
        some = [*wrong, *proposals_of(known, key, corrected={one.subject for one in wrong})]
        some += proposals_of_rules(rules_of(store, key), key)
        if some:
            later = LaterSessions(evidence_of_project(store, key))
            said = store.rows("rule.of_project", {"project": key})
            checks |= {one.id: later.check(one, repairs, [dict(row) for row in said]) for one in some}
        found += some
    # The own words of the user come before lines that are right and that no later session needed.
    ordered = tuple(sorted(found, key=lambda one: (-checks[one.id].helped, one.kind != "rule", -one.saves, one.id)))
    return Gathered(ordered, checks, sessions, recurring, use_of(store, project=project))


def main(path: str, project: str | None = None) -> None:
    """Print progress lines, then what was gathered as MessagePack, for the pages."""

    def answer(tell: Tell) -> bytes:
        with open_store(Path(path)) as store:
            return msgspec.msgpack.encode(gather(store, project=project, tell=tell))

    answer_in_process(answer)


# -- the check on later sessions ---------------------------------------------------------------------------------------


class _Lineage(msgspec.Struct):
    """What one lineage did, in order."""

    root: str
    started: float
    ended: float
    steps: list[ReplayStep]


class LaterSessions:
    """The lineages of a project in the order of time, to compare a proposal with those that came later."""

    def __init__(self, evidence: Iterable[SessionEvidence]) -> None:
        found: dict[str, _Lineage] = {}
        for one in sorted(evidence, key=lambda one: one.started or one.end):
            lineage = found.setdefault(one.root, _Lineage(one.root, one.started or one.end, one.end, []))
            lineage.ended = max(lineage.ended, one.end)
            lineage.steps += _steps(one)
        self._all = list(found.values())

    def check(self, one: Proposal, repairs: dict[str, Lesson], said: Sequence[dict[str, Any]]) -> LaterCheck:
        """The check of a proposal from lessons."""
        if one.kind == "rule":
            return self._check_rule([row for row in said if row["key"] == one.subject])
        if (lesson := repairs.get(one.subject)) is not None:
            return self._check_repair(lesson)
        command = _CODE.compiled.findall(one.text)[0] if one.kind == "line" else one.text
        return self.check_command(command)

    def check_command(self, command: str, *, since: float | None = None) -> LaterCheck:
        """Whether sessions that did the same later would have been helped by this command."""
        parts = [one for one in written(command.removesuffix(" …")) if one.form]
        if len(parts) != 1:
            return LaterCheck()
        purpose: Purpose | str = "one test" if command.endswith(" …") else parts[0].purpose
        form = f"{parts[0].form} …" if command.endswith(" …") else parts[0].form
        did = {one.root: served(one.steps) for one in self._all}

        def worked(one: _Lineage) -> bool:
            return purpose in did[one.root] and form in did[one.root][purpose].forms

        later = [
            one
            for one in self._after(since, worked)
            if any(use.purpose == purpose for step in one.steps for use in step.uses)
        ]
        helped = sum(worked(one) and did[one.root][purpose].first_wrong for one in later)
        harmed = sum(not worked(one) and _fails_in(one, form) for one in later)
        return _checked(later, helped, harmed, "did this", unaided=sum(map(worked, later)) - helped)

    def _check_repair(self, lesson: Lesson) -> LaterCheck:
        """Whether sessions that made the same mistake later repaired it in the same way."""

        def mistakes(one: _Lineage) -> list[bool]:
            failures = [step.failure for step in one.steps if step.failure is not None]
            return [is_same(lesson, failure) for failure in failures if failure.kind.key == lesson.key]

        later = [one for one in self._after(None, lambda one: any(mistakes(one))) if mistakes(one)]
        helped = sum(any(mistakes(one)) for one in later)
        form = next((one.form for one in written(lesson.text) if one.form), "")
        harmed = sum(not any(mistakes(one)) and _fails_in(one, form) for one in later)
        return _checked(later, helped, harmed, "made this mistake")

    def _check_rule(self, said: Sequence[dict[str, Any]]) -> LaterCheck:
        """In how many later sessions the user had to say it again; what would have gone wrong cannot be seen."""
        first = min(row["at"] for row in said)
        later = sum(one.started > first for one in self._all)
        again = len({row["root"] for row in said if row["at"] > first})
        if not later:
            return LaterCheck()
        words = f"You said it again in {again or 'none'} of {plural(later, 'later session')}; harm cannot be counted."
        return LaterCheck(words, later, again)

    def _after(self, since: float | None, worked: Callable[[_Lineage], bool]) -> list[_Lineage]:
        """The lineages that began when enough others had shown it."""
        if since is None:
            ends = sorted(one.ended for one in self._all if worked(one))
            if len(ends) < FEWEST:
                return []
            since = ends[FEWEST - 1]
        return [one for one in self._all if one.started > since]


def _steps(evidence: SessionEvidence) -> list[ReplayStep]:
    failures = {one.position: one for one in evidence.failures}
    places = sorted({*failures, *(use.position for use in evidence.uses)})
    return [
        ReplayStep(0.0, tuple(use for use in evidence.uses if use.position == at), failure=failures.get(at))
        for at in places
    ]


def _fails_in(one: _Lineage, form: str) -> bool:
    """Whether a form was wrong in a lineage; a check that found fault with the code was not."""
    return any(
        use.form == form and use.worked is False and (step.failure is None or not step.failure.is_signal)
        for step in one.steps
        for use in step.uses
    )


def _checked(later: Collection[_Lineage], helped: int, harmed: int, did: str, *, unaided: int = 0) -> LaterCheck:
    if not later:
        return LaterCheck()
    said = f"Would have helped in {helped or 'none'} of {plural(len(later), 'later session')} that {did}"
    said += f" ({unaided} did it so unaided)" if unaided else ""
    return LaterCheck(f"{said}, harmed in {harmed or 'none'}.", len(later), helped, harmed)


# -- the list ----------------------------------------------------------------------------------------------------------


class InboxItem(msgspec.Struct, frozen=True):
    """A proposal as people see it."""

    proposal: Proposal
    project: str  # the name; empty for all projects
    evidence: str
    check: LaterCheck
    effect: str  # what accepting it changes, in words
    can_accept: bool


class DecidedItem(msgspec.Struct, frozen=True):
    """A proposal that was decided."""

    proposal: Proposal
    project: str
    state: ProposalState
    at: float


class Inbox(msgspec.Struct, frozen=True):
    """What waits for a person, and what they decided."""

    items: tuple[InboxItem, ...]
    decided: tuple[DecidedItem, ...]
    sessions: int

    def first(self, most: int) -> list[tuple[int, InboxItem]]:
        """The first proposals with their numbers; where several checkouts taught the same, one of them."""
        found: dict[str, tuple[int, InboxItem]] = {}
        for number, one in enumerate(self.items, start=1):
            found.setdefault(one.proposal.sentence, (number, one))
        return list(found.values())[:most]


def read_inbox(
    config: Config, store: Store, gathered: Gathered, redactor: Redactor, *, project: str | None = None
) -> Inbox:
    """The inbox now: without what was decided or is said already, and only what may be shown."""
    decided = decided_proposals(store)
    settled = {one.proposal.id for one in decided}
    connected = {agent for agent in AGENTS if is_connected(agent, home=config.home)}
    items = [_item_of_change(store, one, key) for one, key in _with_projects(config, store, "staged")]
    for one in gathered.proposals:
        folder = _folder(store, one)
        if one.id not in settled and may_be_shown(redactor, one) and not _is_said(one, folder, connected):
            path = target_of(one, folder)
            effect = _EFFECTS[one.kind].format(path or one.file or "its instruction file")
            can_accept = one.kind == "rule" or path is not None
            check = gathered.checks.get(one.id, LaterCheck())
            items.append(InboxItem(one, _name(one.project), evidence_text(one.evidence), check, effect, can_accept))
    decided += _decided_changes(config, store)
    return Inbox(
        tuple(one for one in items if project in (None, one.proposal.project)),
        tuple(
            DecidedItem(one.proposal, _name(one.proposal.project), one.state, one.at)
            for one in sorted(decided, key=lambda one: -one.at)
            if project in (None, one.proposal.project)
        ),
        gathered.sessions,
    )


_EFFECTS = {
    "line": "a line for {}",
    "correction": "a change of {}",
    "rule": "a rule that sessions of the project see at their start",
}


def _folder(store: Store, one: Proposal) -> Path | None:
    return None if one.project is None else project_folder(store, one.project)


def _name(project: str | None) -> str:
    return "" if project is None else name_of(project)


def _is_said(one: Proposal, folder: Path | None, connected: Collection[str]) -> bool:
    """Whether sessions see it already, or it cannot work in the checkout."""
    if one.kind == "line" and one.text == one.sentence and one.agent in connected and not one.evidence.calls:
        return True  # on the sheet of every session
    if folder is None or one.kind == "correction":
        return False
    command = "" if one.kind == "rule" else _CODE.compiled.findall(one.text)[0]
    said = instructions_say(one.text, folder) or (bool(command) and instructions_say(command, folder))
    return said or bool(command and contradiction(command.removesuffix(" …"), folder))


def _with_projects(config: Config, store: Store, state: str) -> list[tuple[Change, str | None]]:
    """Changes of memory and skills in a state, each with the project it is for."""
    found = changes(store, state=state, limit=_MOST_CHANGES)  # type: ignore[arg-type]
    kept = kept_for_projects(store, config.home, found)
    return [(one, next((each.key for each in kept if each.holds(one.folder)), None)) for one in found]


def _decided_changes(config: Config, store: Store) -> list[DecidedProposal]:
    states: tuple[tuple[str, ProposalState], ...] = (("kept", "accepted"), ("rejected", "rejected"))
    return [
        DecidedProposal(_item_of_change(store, one, key).proposal, state, one.decided_at)
        for name, state in states
        for one, key in _with_projects(config, store, name)
        if one.decided_at is not None and one.decided_by is not None
    ]


_REASONS = {
    "setting": "everything that reviews write waits for you",
    "foreign": "it repeats a result or a page",
    "page": "the session read pages of others",
}


def _item_of_change(store: Store, change: Change, project: str | None) -> InboxItem:
    """A change of memory or of a skill that waits."""
    kind = "note" if change.kind == "memory" else "skill"
    what = f"{change.target}/{change.file}" if kind == "skill" else preview(change.after or change.before or "")
    verb = change.action.replace("_", " ").capitalize()
    by = {"review": "a review", "agent": "an agent", "person": "a person"}[change.actor]
    evidence = f"Written by {by}; it waits because {_REASONS.get(change.reason or '', 'a person must decide it')}"
    if change.foreign_tool:
        evidence += f". From `{change.foreign_tool}`" + (f": “{change.foreign_text}”" if change.foreign_text else "")
    session = change.parent or change.session
    proposal = Proposal(
        f"change-{change.id}",
        kind,  # type: ignore[arg-type]
        project,
        f"{verb} the {kind} “{what}”" if kind == "note" else f"{verb} {what}",
        ProposalEvidence(1, 1, last_seen=change.at, refs=(session,) if session else ()),
        change.after or "",
        change=change.id,
    )
    commands = _CODE.compiled.findall(proposal.text) if kind == "note" and project is not None else []
    check = LaterCheck()
    if commands and project is not None:
        check = LaterSessions(evidence_of_project(store, project)).check_command(commands[0], since=change.at)
    where = "the notes" if change.target == "notes" else "what is known of you" if kind == "note" else "a skill"
    return InboxItem(proposal, _name(project), evidence, check, f"{where} that new sessions see", True)


def evidence_text(one: ProposalEvidence) -> str:
    """The evidence in words."""
    parts = [
        plural(one.sessions, "session") if one.sessions == one.among else f"{one.sessions} of {one.among} sessions"
    ]
    if one.calls:
        parts.append(f"{plural(one.calls, 'call')} lost")
    if one.minutes is not None and one.minutes >= 0.5:
        parts.append(f"about {plural(round(one.minutes), 'minute')}")
    if one.tokens:
        parts.append(f"about {one.tokens / 1e6:.1f} million tokens" if one.tokens >= 1e6 else f"{one.tokens:,} tokens")
    if one.last_seen:
        parts.append(f"last seen {time.strftime('%Y-%m-%d', time.localtime(one.last_seen))}")
    return ", ".join(parts) + (f"; {one.note}" if one.note else "")


# -- deciding ----------------------------------------------------------------------------------------------------------


def find_item(inbox: Inbox, text: str) -> InboxItem:
    """The proposal that a person means by its number in the list or by its id."""
    for number, one in enumerate(inbox.items, start=1):
        if text in (str(number), one.proposal.id):
            return one
    raise NotFound(f"There is no proposal {text!r}. `seasoned inbox` lists them.")


def find_decided(inbox: Inbox, text: str | None) -> DecidedItem:
    """The proposal that was decided with this id; without one, the last."""
    for one in inbox.decided:
        if text in (None, one.proposal.id):
            return one
    raise NotFound("Nothing was accepted or rejected." if text is None else f"No proposal {text!r} was decided.")


def plan_of(store: Store, one: Proposal) -> ConnectPlan:
    """What accepting a proposal would change, to be shown."""
    if one.change is not None:
        edit = find_change(store, one.change).edit
        after = one.text.encode() if edit.after is not None else None
        return ConnectPlan(one.id, (FileChange(edit.path, edit.before, after, "what a review wrote"),), parts=())
    if one.kind == "rule":
        sheet = Path(f"what sessions of {_name(one.project)} see at their start")
        return ConnectPlan(one.id, (FileChange(sheet, None, f"{one.text}\n".encode(), "a rule of yours"),), parts=())
    return plan_line(one, _folder(store, one))


def reworded(one: Proposal, text: str) -> Proposal:
    """A proposal in a person's own words."""
    lasts = one.kind in ("note", "skill") and "\n" in one.text
    return msgspec.structs.replace(one, text=text if lasts else " ".join(text.split()))


def accept(config: Config, store: Store, one: Proposal, redactor: Redactor, *, by: str = "person") -> ConnectPlan:
    """Do what a proposal says, and remember it; returns what was changed."""
    plan = plan_of(store, one)
    if one.change is not None:
        journal = memory_and_skills_in(config, store, redactor=redactor)
        change = find_change(store, one.change)
        if change.after is not None and one.text != change.after:
            with store.write():
                store.run("learned.reword", {"id": change.id, "after": one.text, "digest": digest(one.text)})
        reply = journal_undo.accept(journal, change.id, decided_by=by)
        if not reply.ok:
            raise CannotDo(reply.said)
        return plan
    if not may_be_shown(redactor, one):
        raise CannotDo("No session may be shown this, so it is not accepted.")
    if one.kind == "rule":
        decide_rule(store, one.project or "", one.subject, "accept", now=time.time(), text=one.text)
    else:
        if plan.is_empty:
            raise CannotDo("Already there. Nothing to change.")
        apply_plan(plan, home=config.home, remove_ours=removal_of(one), area=AREA)
    keep_decision(store, one, "accepted", time.time())
    return plan


def reject(config: Config, store: Store, one: Proposal, *, by: str = "person") -> None:
    """Do not propose this again."""
    if one.change is not None:
        reply = journal_undo.reject(memory_and_skills_in(config, store), one.change, decided_by=by)
        if not reply.ok:
            raise CannotDo(reply.said)
    else:
        keep_decision(store, one, "rejected", time.time())


def undo_preview(config: Config, store: Store, one: DecidedItem) -> ConnectPlan:
    """What undoing would change."""
    name = one.proposal.id
    if one.state == "rejected":
        return ConnectPlan(name, parts=())
    if one.proposal.change is not None or one.proposal.kind == "rule":
        backwards = (
            msgspec.structs.replace(change, before=change.after, after=change.before)
            for change in plan_of(store, one.proposal).changes
        )
        return ConnectPlan(name, tuple(backwards), parts=())
    return plan_undo(name, home=config.home, remove_ours=removal_of(one.proposal), area=AREA)


def undo(config: Config, store: Store, one: DecidedItem, *, by: str = "person") -> ConnectPlan:
    """Undo what was decided; returns what was done. An undone note or skill stays undone, all else waits again."""
    plan = undo_preview(config, store, one)
    proposal = one.proposal
    if proposal.change is not None:
        journal = memory_and_skills_in(config, store)
        if one.state == "rejected":
            journal.mark(proposal.change, "staged")
        elif not (reply := journal_undo.undo(journal, proposal.change, decided_by=by)).ok:
            raise CannotDo(reply.said)
        return plan
    if one.state == "accepted" and proposal.kind == "rule":
        decide_rule(store, proposal.project or "", proposal.subject, "undo", now=time.time())
    elif one.state == "accepted":
        plan = undo_changes(proposal.id, home=config.home, remove_ours=removal_of(proposal), area=AREA)
    drop_decision(store, proposal.id)
    return plan


def accept_by_setting(config: Config, store: Store) -> int:
    """Accept what the user's setting allows, unless a later session shows harm; returns how many.

    Notes and skills that wait are not among them: the setting decided about those when they were written.
    """
    redactor = make_redactor(config)
    done = Counter[str]()
    for one in read_inbox(config, store, gather(store), redactor).items:
        chosen = one.proposal.kind in config.inbox_accepts and one.proposal.change is None
        if chosen and one.can_accept and not one.check.harmed:
            try:
                accept(config, store, one.proposal, redactor, by="setting inbox_accepts")
                done[one.proposal.kind] += 1
            except SeasonedError as error:
                _log.warning("%s was not accepted: %s", one.proposal.id, error)
    return done.total()


def may_be_shown(redactor: Redactor, one: Proposal) -> bool:
    """Whether the words of a proposal pass the gate for everything that a model reads."""
    project = one.project or ""
    # A correction's text is a command that sessions would run.
    return all(_is_admitted(redactor, text, project) for text in (one.sentence, one.text)) and (
        one.kind != "correction" or _may_be_run(one.text, project)
    )


def _is_admitted(redactor: Redactor, text: str, project: str) -> bool:
    if len(text) > _MOST_CHARS:
        return False
    return bool(admit(redactor, text, commands=True)) and all(
        _is_mention(found[1]) or _may_be_run(found[1], project) for found in _CODE.compiled.finditer(text)
    )


def _is_mention(piece: str) -> bool:
    """Whether it only names a program, an option or a tool, and none that a person must confirm."""
    return _MENTION.compiled.match(piece) is not None and piece.partition(" ")[0] not in _GRAVE


def _may_be_run(command: str, project: str) -> bool:
    return bool(admit_call("Bash", {"command": command}, project=project))
