"""Which ways of writing a call still work. The newest evidence wins: conventions change, and sessions show when.

An example is outdated when anything about how it is written (its arguments, a shape, a prefix, a unit, a flag, a scale)
failed in two lineages since a call with it last worked. Only failures that are about the form count: those of tools
with arguments, and of commands that complain about how they were called. A failing test, a missing file or a server
that is down says nothing about how a call is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from sqlite3 import Row

from seasoned.command.tool import tool_of
from seasoned.example.call_form import CallForm, call_form_of
from seasoned.example.example import Example
from seasoned.lazy_regex import LazyRegex
from seasoned.outcome.track import JudgedCall, Track
from seasoned.store import Store

# This many lineages must agree that a form no longer works.
FAILING_LINEAGES = 2
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


class FormEvidence:
    """When calls of one tool worked, and when they last failed in each lineage: as a whole, and with each trait."""

    def __init__(self) -> None:
        self._forms: dict[CallForm, _Outcomes] = {}
        self._traits: dict[str, _Outcomes] = {}
        self._worked = NEVER

    def add_failure(self, form: CallForm, root: str, moment: Moment) -> None:
        """Count a failure that is about the form."""
        for known in (self._forms.setdefault(form, _Outcomes()), *self._of_traits(form)):
            known.failed[root] = max(moment, known.failed.get(root, NEVER))

    def add_success(self, form: CallForm, moment: Moment) -> None:
        """Count a call that worked."""
        self._worked = max(moment, self._worked)
        for known in (self._forms.setdefault(form, _Outcomes()), *self._of_traits(form)):
            known.worked = max(moment, known.worked)

    def _of_traits(self, form: CallForm) -> Iterator[_Outcomes]:
        return (self._traits.setdefault(trait, _Outcomes()) for trait in form.traits)

    def first_failure(self) -> Moment | None:
        """The oldest failure that could outdate anything; None if too few lineages failed."""
        some = [min(one.failed.values()) for one in self._traits.values() if len(one.failed) >= FAILING_LINEAGES]
        return min(some, default=None)

    def against(self, form: CallForm, since: Moment = NEVER) -> list[Moment]:
        """The failures that outdate a form that is known to have worked at `since`, oldest first; empty if none do.

        Those of calls written like it, or those of calls that share a trait, if others without it work since: where
        nothing works, it is unknown what about the calls is wrong.
        """
        alike = _Outcomes()
        for other, outcomes in self._forms.items():
            if other.follows(form):
                alike.add(outcomes)
        failed = alike.failures(since)
        for trait in sorted(form.traits & self._traits.keys()):
            if len(failed) >= FAILING_LINEAGES:
                break
            failed = [moment for moment in self._traits[trait].failures(since) if moment < self._worked]
        return failed if len(failed) >= FAILING_LINEAGES else []


class _Outcomes:
    """When some calls last worked, and when they last failed in each lineage."""

    def __init__(self) -> None:
        self.worked = NEVER
        self.failed: dict[str, Moment] = {}

    def add(self, others: _Outcomes) -> None:
        self.worked = max(self.worked, others.worked)
        for root, moment in others.failed.items():
            self.failed[root] = max(moment, self.failed.get(root, NEVER))

    def failures(self, since: Moment) -> list[Moment]:
        """The failures after the last success, oldest first."""
        return sorted(moment for moment in self.failed.values() if moment > max(self.worked, since))


def evidence_of(tracks: Iterable[Track], written: Mapping[str, float]) -> dict[str, FormEvidence]:
    """What sessions say about the forms of each tool; all shells are one tool.

    `written`: when the files of sessions without times were written.
    """
    found: dict[str, FormEvidence] = {}
    calls = [(track, call, written.get(str(track.ref), 0.0)) for track in tracks for call in track.calls]
    for track, call, fallback in calls:
        said = f"{call.reason}\n{(call.result or '')[:600]}" if call.has_failed else ""
        is_shell = call.command is not None if call.has_failed else False
        if call.has_failed and is_against_form(call.tool, call.fault, said, is_shell=is_shell):
            form = call_form_of(call.tool, call.raw_arguments)
            if form is not None:
                evidence = found.setdefault(evidence_key(call), FormEvidence())
                evidence.add_failure(form, track.root, moment_of(call, track, fallback))
    for track, call, fallback in calls:
        if call.counts_as == "ok" and (key := evidence_key(call)) in found:
            form = call_form_of(call.tool, call.raw_arguments)
            if form is not None:
                found[key].add_success(form, moment_of(call, track, fallback))
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
    for row in _rows(store, "guard.failed", tool):
        form = call_form_of(tool, row["arguments"])
        said = f"{row['reason']}\n{row['result'] or ''}"
        is_shell = tool_of(tool).form == "shell"
        if form is not None and is_against_form(tool, row["fault"], said, is_shell=is_shell):
            evidence.add_failure(form, row["root"], _moment(row))
    first = evidence.first_failure()
    for row in _rows(store, "guard.worked", tool, first[0]) if first is not None else ():
        form = call_form_of(tool, row["arguments"])
        if form is not None:
            evidence.add_success(form, _moment(row))
    return evidence


def _rows(store: Store, query: str, tool: str, after: float | None = None) -> list[Row]:
    return store.rows(query, {"tool": tool, "after": after, "limit": _SESSIONS})


def _known_to_work(example: Example, vouched: Mapping[str, float]) -> Moment:
    times = [time for time in (example.last_seen, vouched.get(example.id)) if time is not None]
    return (max(times), _LAST) if times else NEVER


def _moment(row: Row) -> Moment:
    return row["moment"], row["position"]
