"""Which ways of writing a call still work. The newest evidence wins: conventions change, and sessions show when.

An example is outdated when anything about how it is written (its arguments, a shape, a prefix, a unit, a flag, a scale)
failed in two lineages since a call with it last worked. Only failures that are about the form count: those of tools
with arguments, and of commands that complain about how they were called. A failing test, a missing file or a server
that is down says nothing about how a call is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from sqlite3 import Row
from typing import NamedTuple

from seasoned.command.tool import tool_of
from seasoned.example.call_form import CallForm, call_form_of
from seasoned.example.example import Example
from seasoned.lazy_regex import LazyRegex
from seasoned.outcome.track import JudgedCall, Track
from seasoned.store import Store

# This many lineages must agree that a form no longer works.
FAILING_LINEAGES = 2
# What all of so many lineages did is a convention; so many that do otherwise since replace it without any failure.
USUAL_LINEAGES = 3
# When a call was made, and its position in the session: logs without times still have an order.
Moment = tuple[float, int]
NEVER: Moment = (float("-inf"), -1)
# After every position in a session.
_LAST = 1 << 62
_USAGE = LazyRegex(
    r"(?i)\b(?:unknown|unrecogni[sz]ed|unexpected|unsupported|illegal|invalid|no such|missing|bad)\b[^\n]{0,40}"
    r"\b(?:option|switch|argument|operand|parameter|flag|command|subcommand|script|target|task|recipe)"
    r"|command not found|no rule to make target|is not an? [^\n]{0,30}command|no longer (?:supported|valid|accepted)"
    r"|(?:has been|was) (?:removed|renamed)|^\s*usage:"
)
# Whether these tools succeed depends on files, pages and code rather than on how the call is written.
_CONTENT = ("file_read", "file_write", "search", "web", "python", "agent", "meta")


def is_against_form(tool: str, fault: str, said: str, *, is_shell: bool) -> bool:
    """Whether a failure is about how the call was written; `said` is the error."""
    if is_shell:
        return _USAGE.compiled.search(said) is not None
    return fault in ("call", "none") and tool_of(tool).form not in _CONTENT


class FormCall(NamedTuple):
    """A call as evidence: how it was written, in which lineage, when, and what it came to."""

    form: CallForm
    root: str
    moment: Moment
    has_failed: bool


class FormEvidence:
    """Calls of one tool: those that worked, and the failures that are about how a call was written."""

    def __init__(self) -> None:
        self._calls: list[FormCall] = []
        self._verdicts: dict[tuple[str, Moment], list[Moment]] = {}

    def add(self, form: CallForm, root: str, moment: Moment, *, has_failed: bool) -> None:
        """Count a call."""
        self._calls.append(FormCall(form, root, moment, has_failed))
        self._verdicts.clear()

    def against(self, form: CallForm, since: Moment = NEVER) -> list[Moment]:
        """When a form that is known to have worked at `since` was contradicted, oldest first; empty if it was not.

        Calls written like it failed in two lineages since one last worked; or calls that share a trait did, and others
        without it work since: where nothing works, it is unknown what about the calls is wrong. Or all lineages had
        the trait, and none has it any more.
        """
        failed = _failures([one for one in self._calls if one.form.follows(form)], since)
        if len(failed) >= FAILING_LINEAGES:
            return failed
        return next((found for trait in sorted(form.traits) if (found := self._against_trait(trait, since))), [])

    def _against_trait(self, trait: str, since: Moment) -> list[Moment]:
        key = trait, since
        if key not in self._verdicts:
            self._verdicts[key] = self._judged(trait, since)
        return self._verdicts[key]

    def _judged(self, trait: str, since: Moment) -> list[Moment]:
        having = [one for one in self._calls if trait in one.form.traits]
        worked = max((one.moment for one in having if not one.has_failed), default=NEVER)
        last = max(since, worked)
        failed = _failures(having, since)
        others = {one.root: one.moment for one in self._calls if not one.has_failed and one.moment > last}
        if not others:
            return []
        if len(failed) >= FAILING_LINEAGES and failed[0] < max(others.values()):
            return failed
        before = [one for one in self._calls if not one.has_failed and one.moment <= last]
        roots = {one.root for one in before}
        is_usual = all(trait in one.form.traits for one in before) and len(roots) >= USUAL_LINEAGES
        # A session that does one thing and then another shows no change.
        others = {root: moment for root, moment in others.items() if root not in roots}
        changed = others.keys() | {one.root for one in having if one.has_failed and one.moment > last}
        is_replaced = len(others) >= USUAL_LINEAGES or (bool(failed and others) and len(changed) >= FAILING_LINEAGES)
        return sorted([*failed, *others.values()]) if is_usual and is_replaced else []


def _failures(calls: Sequence[FormCall], since: Moment) -> list[Moment]:
    """When calls last failed in each lineage, after the last of them that worked; oldest first."""
    last = max((one.moment for one in calls if not one.has_failed), default=NEVER)
    found = {one.root: one.moment for one in calls if one.has_failed and one.moment > max(last, since)}
    return sorted(found.values())


def evidence_of(tracks: Iterable[Track], written: Mapping[str, float]) -> dict[str, FormEvidence]:
    """What sessions say about the forms of each tool; all shells are one tool.

    `written`: when the files of sessions without times were written.
    """
    found: dict[str, FormEvidence] = {}
    for track in tracks:
        fallback = written.get(str(track.ref), 0.0)
        for call in track.calls:
            form = call_form_of(call.tool, call.raw_arguments) if call.is_counted else None
            said = f"{call.reason}\n{(call.result or '')[:600]}" if call.has_failed else ""
            is_evidence = not call.has_failed or is_against_form(
                call.tool, call.fault, said, is_shell=call.command is not None
            )
            if form is not None and is_evidence:
                evidence = found.setdefault(evidence_key(call), FormEvidence())
                evidence.add(form, track.root, moment_of(call, track, fallback), has_failed=call.has_failed)
    return found


def evidence_key(call: JudgedCall) -> str:
    """The tool of a call: every agent's shell calls a program the same way."""
    return "" if call.command is not None else call.tool


def moment_of(call: JudgedCall, track: Track, fallback: float) -> Moment:
    """When a call was made: by its own time, else by the end of its session, else by `fallback`."""
    time = call.time if call.time is not None else track.ended
    return (fallback if time is None else time), call.position


# How many of the newest sessions in which a tool failed are read, and of those in which it has worked since.
_SESSIONS = 200


def outdated(
    store: Store, examples: Iterable[Example], vouched: Mapping[str, float]
) -> Iterator[tuple[Example, list[Moment]]]:
    """The examples whose form failed in enough lineages since it last worked or a person restored it, and when."""
    by_tool: dict[str, list[tuple[Example, CallForm]]] = {}
    for example in examples:
        form = call_form_of(example.tool, example.arguments)
        if form is not None:
            by_tool.setdefault(example.tool, []).append((example, form))
    for tool, some in by_tool.items():
        evidence = _stored_evidence(store, tool)
        for example, form in some:
            failed = evidence.against(form, _known_to_work(example, vouched))
            if failed:
                yield example, failed


def has_worked(store: Store, example: Example, *, after: float = NEVER[0]) -> bool:
    """Whether a call written like an example worked after a time."""
    form = call_form_of(example.tool, example.arguments)
    made = (
        call_form_of(example.tool, row["arguments"])
        for row in _rows(store, "guard.worked", example.tool, after)
        if row["moment"] > after
    )
    return form is not None and any(one is not None and one.follows(form) for one in made)


def _stored_evidence(store: Store, tool: str) -> FormEvidence:
    evidence = FormEvidence()
    failed = _rows(store, "guard.failed", tool)
    for row in failed:
        form = call_form_of(tool, row["arguments"])
        said = f"{row['reason']}\n{row['result'] or ''}"
        is_shell = tool_of(tool).form == "shell"
        if form is not None and is_against_form(tool, row["fault"], said, is_shell=is_shell):
            evidence.add(form, row["root"], _moment(row), has_failed=True)
    for row in _rows(store, "guard.worked", tool, NEVER[0]):
        form = call_form_of(tool, row["arguments"])
        if form is not None:
            evidence.add(form, row["root"], _moment(row), has_failed=False)
    return evidence


def _rows(store: Store, query: str, tool: str, after: float | None = None) -> list[Row]:
    return store.rows(query, {"tool": tool, "after": after, "limit": _SESSIONS})


def _known_to_work(example: Example, vouched: Mapping[str, float]) -> Moment:
    times = [time for time in (example.last_seen, vouched.get(example.id)) if time is not None]
    return (max(times), _LAST) if times else NEVER


def _moment(row: Row) -> Moment:
    return row["moment"], row["position"]
