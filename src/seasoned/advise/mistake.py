"""Advice from mistakes that come back: what repaired them, or what a line would prevent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from seasoned.advise.advice import Advice, AdviceEvidence, AdviceKind, AdviceStep, code, make_advice
from seasoned.command.parse import names
from seasoned.insight.mistake.action import FILE_CAUSES, MistakeFacts, main_ways, sentence
from seasoned.insight.mistake.difference import RIGHTS

# A way that one session took may have been chance.
_FEWEST_REPAIRS = 2
# Causes that belong to the machine or the agent rather than to a project.
EVERYWHERE = frozenset(("equals", "missing program", "blocked", "here document"))
_WAITS = names("sleep wait watch")
# Sentences about what happened to work later: nothing that a session could do.
_NO_ADVICE = ("Change ", "Try ", "Wait ", "Look ", "Start ")


def from_mistake(facts: MistakeFacts, project: str | None, among: int) -> Iterator[Advice]:
    """The advice that a recurring mistake gives, if it gives any."""
    found = _of_rights(facts) or _of_repair(facts) or _of_cause(facts)
    if found is None:
        return
    said, kind, step = found
    yield make_advice(kind, project, subject_of(facts), said, evidence_of(facts, among), step, facts.roots)


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
    """What a mistake is recognised by."""
    return "\n".join((facts.tool, facts.program or "", facts.key))


def evidence_of(facts: MistakeFacts, among: int) -> AdviceEvidence:
    """What the advice about a mistake rests on."""
    cost = facts.cost
    return AdviceEvidence(
        facts.sessions,
        among,
        cost.calls,
        None if cost.seconds is None else cost.seconds / 60,
        None if cost.tokens is None else round(cost.tokens),
        facts.last_seen or None,
        facts.refs,
        f"{facts.repaired} repaired it" if facts.repaired else "",
    )


_Found = tuple[str, AdviceKind, AdviceStep]


def _of_rights(facts: MistakeFacts) -> _Found | None:
    """A command that a sandbox refuses, and that worked with the permission of a person."""
    for way in main_ways(facts):
        if way.change.kind == "given" and RIGHTS.issuperset(way.change.names) and way.sessions >= _FEWEST_REPAIRS:
            program = way.change.program
            if facts.agent == "codex":
                said = f"Have Codex ask at once for {code(program)}: its sandbox refuses it first"
                return f"{said}.", "mistake", AdviceStep("permission", program, facts.agent)
            line = f"Ask for permission to run {code(program)} outside the sandbox at once: the sandbox refuses it."
            return line, "mistake", AdviceStep("instruction", line, facts.agent)
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
    return f"{said}.", "mistake", AdviceStep("instruction", f"{said}.", facts.agent)


def _of_cause(facts: MistakeFacts) -> _Found | None:
    """What a line would prevent where no repair is known: the cause says enough."""
    line = _line(facts)
    if line is None:
        return None
    if facts.cause == "login":
        return line, "mistake", AdviceStep("manual", line, facts.agent)
    said = line
    if facts.cause == "missing program":
        said = f"Install {code(facts.thing or '')}, or tell sessions that it is not here."
    kind: AdviceKind = "tool" if facts.cause == "no tool" else "slow" if facts.cause == "time" else "mistake"
    return said, kind, AdviceStep("instruction", line, facts.agent)


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
        case "missing program" if thing:
            return f"{code(thing)} is not installed here: use something else."
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
        case "time" if not _WAITS.intersection((facts.program or "sleep").split()):
            return f"Run {what} in the background, or give it more time: it is slow here."
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
