"""Advice as every entry point shows it on this machine; applying, undoing and dismissing it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection
from pathlib import Path

import msgspec

from seasoned.admission import admit, admit_call
from seasoned.begin.receipt import ShownUse, use_of
from seasoned.config import Config
from seasoned.connect.agent import AGENTS, connector
from seasoned.connect.apply import apply_plan, is_connected, own_programs
from seasoned.connect.apply import undo as undo_changes
from seasoned.connect.apply import undo_plan as plan_undo
from seasoned.connect.instruction_file import (
    AREA,
    OWN_FILE,
    StepPlace,
    contradictions,
    plan_step,
    project_folder,
    removal_of,
    target_of,
)
from seasoned.connect.plan import ConnectPlan
from seasoned.errors import CannotDo, NotFound
from seasoned.lazy_regex import LazyRegex
from seasoned.lesson.advice import (
    Advice,
    AdviceEvidence,
    AdviceStep,
    AppliedAdvice,
    FollowUp,
    advice_of,
    advice_of_rules,
    applied_advice,
    drop_decision,
    followed,
    keep_decision,
    make_advice,
)
from seasoned.lesson.ask import decide
from seasoned.lesson.instruction_file import instructions_say
from seasoned.lesson.rule import decide_rule, rules_of
from seasoned.lesson.storage import lessons_of, refresh
from seasoned.lesson.tree import contradiction
from seasoned.project import name_of
from seasoned.redact import Redactor
from seasoned.report.report import Tell, answer_in_process
from seasoned.store import Store, open_store
from seasoned.store.project import list_projects
from seasoned.text import plural

_CODE = LazyRegex(r"`([^`]+)`")
_GRAVE = frozenset({"rm", "sudo", "dd", "mkfs", "shutdown", "kill", "chmod", "chown"})
_MENTION = LazyRegex(r"[\w.-]{1,40}(?: [a-z][\w-]{0,20})?\Z")
_MOST_CHARS = 300


class Gathered(msgspec.Struct, frozen=True):
    """All advice, the most that it would save first, and what became of advice that was applied."""

    advice: tuple[Advice, ...]
    followed: tuple[FollowUp, ...]
    sessions: int  # lineages that were looked at
    agents: dict[str, int]  # the lineages of each agent
    recurring: dict[str, int]  # how many mistakes come back, by project
    use: ShownUse


def gather(store: Store, *, project: str | None = None, tell: Tell | None = None) -> Gathered:
    """Everything that is worth doing in a project, or in all. What no scan has taken in is taken in first."""
    refresh(store)
    keys = [one.key for one in list_projects(store, project)]
    found: list[Advice] = []
    follow_ups: list[FollowUp] = []
    agents = Counter[str]()
    recurring: dict[str, int] = {}
    applied = applied_advice(store)
    for number, key in enumerate(keys):
        if tell is not None:
            tell(number, len(keys))
        known = lessons_of(store, key)
        agents.update(known.agents)
        recurring[key] = sum(one.among > 1 for one in known.repairs())
        folder = project_folder(store, key)
        among = len(known.lineages)
        wrong = [] if folder is None else list(contradictions(folder, key, known, among=among, agent=known.agent))
        found += wrong
        found += advice_of(known, key, corrected={one.subject.rpartition("\n")[2] for one in wrong})
        found += advice_of_rules(rules_of(store, key), key)
        follow_ups += followed(known, key, applied)
    ordered = tuple(sorted(found, key=lambda one: (-one.saves, one.id)))
    use = use_of(store, project=project)
    return Gathered(ordered, tuple(follow_ups), agents.total(), dict(agents), recurring, use)


def main(path: str, project: str | None = None) -> None:
    """Print progress lines, then what was gathered as MessagePack, for the pages."""

    def answer(tell: Tell) -> bytes:
        with open_store(Path(path)) as store:
            return msgspec.msgpack.encode(gather(store, project=project, tell=tell))

    answer_in_process(answer)


class ShownAdvice(msgspec.Struct, frozen=True):
    """Advice as people see it: with the name of its project, its evidence in words and what its step changes."""

    advice: Advice
    project: str  # the name; empty for all projects
    evidence: str
    step: str  # what the step does, in words
    can_apply: bool


class DecidedAdvice(msgspec.Struct, frozen=True):
    """Advice that was applied or dismissed, and how it went since."""

    advice: AppliedAdvice
    project: str
    follow_up: FollowUp | None

    @property
    def said(self) -> str:
        """How it went since, in a sentence; empty where that is not counted."""
        if self.advice.state != "applied" or self.advice.kind == "connection":
            return ""
        return "Too early to tell: no session ended since." if self.follow_up is None else self.follow_up.sentence


class AdviceView(msgspec.Struct, frozen=True):
    """What is worth doing, and what became of what was done."""

    advice: tuple[ShownAdvice, ...]
    decided: tuple[DecidedAdvice, ...]
    sessions: int


def advice_view(
    config: Config, store: Store, gathered: Gathered, redactor: Redactor, *, project: str | None = None
) -> AdviceView:
    """The advice to show now: not what was decided or is said already, and only what may be shown."""
    decided = applied_advice(store)
    settled = {one.id for one in decided}
    connected = [agent for agent in AGENTS if is_connected(agent, home=config.home)]
    found = [one for one in gathered.advice if may_be_told(redactor, one)]
    if project is None:
        found += _connections(config, gathered, found, connected)
    shown = []
    # A connection does what the rest advises, and more with every session, so it comes first among equals.
    for one in sorted(found, key=lambda one: (-one.saves, one.kind != "connection", one.id)):
        place = _place(store, one.project)
        if one.id not in settled and not _is_said(one, place.folder, connected):
            shown.append(_shown(config, one, place))
    followed = {one.id: one for one in gathered.followed}
    own = [one for one in decided if project in (None, one.project)]
    return AdviceView(
        tuple(shown),
        tuple(DecidedAdvice(one, _name(one.project), followed.get(one.id)) for one in own),
        gathered.sessions,
    )


def _place(store: Store, project: str | None) -> StepPlace:
    return StepPlace(project, None if project is None else project_folder(store, project))


def _name(project: str | None) -> str:
    return "" if project is None else name_of(project)


def _is_said(one: Advice, folder: Path | None, connected: Collection[str]) -> bool:
    """Whether sessions see it already, or it cannot work in the checkout."""
    # What sessions see at their start needs no pin.
    if one.kind == "command" and one.step.agent in connected:
        return True
    if folder is not None and one.step.kind == "accept":
        return instructions_say(one.step.text, folder)
    if folder is not None and one.kind == "script":
        return contradiction(one.step.instead, folder) is None
    if folder is None or one.step.kind != "instruction":
        return False
    pieces = one.step.text.split("`")[1:2]
    return instructions_say(one.step.text, folder) or any(contradiction(piece, folder) for piece in pieces)


def _connections(
    config: Config, gathered: Gathered, found: Collection[Advice], connected: Collection[str]
) -> list[Advice]:
    """Agents whose sessions were read and that are not connected."""
    homes = {"claude-code": config.claude_config_dir, "codex": config.codex_home, "hermes": config.hermes_home}
    return [
        _connection(agent, gathered.agents[agent], [one for one in found if one.step.agent == agent])
        for agent, home in homes.items()
        if gathered.agents.get(agent) and agent not in connected and home.is_dir()
    ]


def _connection(agent: str, sessions: int, own: Collection[Advice]) -> Advice:
    told = [one for one in own if one.kind in ("mistake", "command", "instruction")]
    evidence = AdviceEvidence(
        sessions=sessions,
        among=sessions,
        calls=sum(one.evidence.calls for one in told),
        minutes=sum(one.evidence.minutes or 0.0 for one in told) or None,
        last_seen=max((one.evidence.last_seen or 0.0 for one in told), default=0.0) or None,
        refs=tuple(dict.fromkeys(ref for one in told for ref in one.evidence.refs))[:5],
        note="none of them saw what had worked before",
    )
    said = f"Connect {AGENTS[agent].title}: its next sessions see what works in their project."
    return make_advice("connection", None, f"connect\n{agent}", said, evidence, AdviceStep("connect", agent, agent), {})


def _shown(config: Config, one: Advice, place: StepPlace) -> ShownAdvice:
    path = target_of(config, one.step, place)
    step = one.step
    match step.kind:
        case "connect":
            what = f"connect {AGENTS[step.text].title}"
        case "pin":
            what = "a line of the sheet"
        case "manual":
            what = "only you can do this"
        case "instruction":
            what = f"a line for {path}" if path is not None else f"a line for {OWN_FILE.get(step.agent, 'AGENTS.md')}"
        case "replace":
            what = f"a change of {path or step.file}"
        case "accept":
            what = "a rule that sessions see at their start"
    return ShownAdvice(
        one, _name(one.project), evidence_text(one), what, path is not None or step.kind in ("connect", "pin", "accept")
    )


def evidence_text(advice: Advice) -> str:
    """The evidence in words."""
    one = advice.evidence
    parts = [
        plural(one.sessions, "session") if one.sessions == one.among else f"{one.sessions} of {one.among} sessions"
    ]
    if one.calls:
        parts.append(f"{plural(one.calls, 'call')} lost")
    if one.minutes is not None and one.minutes >= 0.5:
        parts.append(f"about {plural(round(one.minutes), 'minute')}")
    if one.tokens:
        parts.append(f"about {_tokens(one.tokens)} tokens")
    if one.last_seen:
        parts.append(f"last seen {time.strftime('%Y-%m-%d', time.localtime(one.last_seen))}")
    return ", ".join(parts) + (f"; {one.note}" if one.note else "")


def _tokens(count: int) -> str:
    return (
        f"{count / 1e6:.1f} million" if count >= 1_000_000 else f"{round(count, -3):,}" if count >= 1000 else str(count)
    )


# -- deciding ----------------------------------------------------------------------------------------------------------


def find_advice(view: AdviceView, text: str) -> Advice:
    """The advice that a person means by its number in the list or by its id."""
    for number, one in enumerate(view.advice, start=1):
        if text in (str(number), one.advice.id):
            return one.advice
    raise NotFound(f"There is no advice {text!r}. `seasoned advise` lists what there is.")


def plan_of(config: Config, store: Store, advice: Advice) -> ConnectPlan:
    """What applying advice would change."""
    if advice.step.kind == "connect":
        return connector(advice.step.text).plan(config, programs=own_programs())
    if advice.step.kind in ("pin", "accept"):
        return ConnectPlan(advice.id, parts=())
    if advice.step.kind == "manual":
        raise CannotDo("Only you can do this. Dismiss the advice when it is done or not wanted.")
    return plan_step(config, advice.id, advice.step, _place(store, advice.project))


def apply_advice(config: Config, store: Store, advice: Advice, redactor: Redactor) -> ConnectPlan:
    """Do what advice says, and remember it; returns what was changed."""
    if not may_be_told(redactor, advice):
        raise CannotDo("No session may be shown this advice, so it is not applied.")
    plan = plan_of(config, store, advice)
    if advice.step.kind == "pin":
        decide(store, advice.project or "", advice.step.text, "pin", redactor=redactor)
    elif advice.step.kind == "accept":
        decide_rule(store, advice.project or "", advice.step.instead, "accept", now=time.time())
    elif advice.step.kind == "connect":
        remove_ours = connector(advice.step.text).remove_ours
        apply_plan(plan, home=config.home, remove_ours=remove_ours)
    else:
        if plan.is_empty:
            raise CannotDo("Already there. Nothing to change.")
        apply_plan(plan, home=config.home, remove_ours=removal_of(advice.step), area=AREA)
    keep_decision(store, advice, "applied", time.time())
    return plan


def dismiss_advice(store: Store, advice: Advice) -> None:
    """Do not give this advice again."""
    keep_decision(store, advice, "dismissed", time.time())


def find_decided(store: Store, text: str | None) -> AppliedAdvice:
    """The advice that was applied or dismissed with this id; without one, the newest."""
    decided = applied_advice(store)
    for one in decided:
        if text in (None, one.id):
            return one
    raise NotFound("No advice was applied or dismissed." if text is None else f"No advice {text!r} was applied.")


def undo_advice(config: Config, store: Store, one: AppliedAdvice) -> ConnectPlan:
    """Undo what applying advice changed; returns what was done. The advice is given again while it holds."""
    plan = ConnectPlan(one.id, parts=())
    if one.state == "applied" and one.step.kind == "connect":
        plan = undo_changes(one.step.text, home=config.home, remove_ours=connector(one.step.text).remove_ours)
    elif one.state == "applied" and one.step.kind == "pin":
        decide(store, one.project or "", one.step.text, "undo")
    elif one.state == "applied" and one.step.kind == "accept":
        decide_rule(store, one.project or "", one.step.instead, "undo", now=time.time())
    elif one.state == "applied":
        plan = undo_changes(one.id, home=config.home, remove_ours=removal_of(one.step), area=AREA)
    drop_decision(store, one.id)
    return plan


def undo_preview(config: Config, one: AppliedAdvice) -> ConnectPlan:
    """What undoing would change."""
    if one.state != "applied" or one.step.kind in ("pin", "accept"):
        return ConnectPlan(one.id, parts=())
    if one.step.kind == "connect":
        return plan_undo(one.step.text, home=config.home, remove_ours=connector(one.step.text).remove_ours)
    return plan_undo(one.id, home=config.home, remove_ours=removal_of(one.step), area=AREA)


def may_be_told(redactor: Redactor, advice: Advice) -> bool:
    """Whether the sentence and the step of advice pass the gate for everything that a model reads."""
    step, project = advice.step, advice.project or ""
    texts = [advice.sentence] if step.kind == "connect" else [advice.sentence, step.text]
    # The text of these steps is a command that sessions would run.
    is_run = step.kind in ("pin", "replace")
    return all(_is_admitted(redactor, text, project) for text in texts) and (
        not is_run or _may_be_shown(step.text, project)
    )


def _is_admitted(redactor: Redactor, text: str, project: str) -> bool:
    if len(text) > _MOST_CHARS and "\n" not in text:
        return False
    return bool(admit(redactor, text, commands=True)) and all(
        _is_mention(found[1]) or _may_be_shown(found[1], project) for found in _CODE.compiled.finditer(text)
    )


def _is_mention(piece: str) -> bool:
    """Whether it only names a program, an option or a tool, and none that a person must confirm."""
    return _MENTION.compiled.match(piece) is not None and piece.partition(" ")[0] not in _GRAVE


def _may_be_shown(command: str, project: str) -> bool:
    return bool(admit_call("Bash", {"command": command}, project=project))
