"""Which ways of writing a call still work. The newest evidence wins: conventions change, and sessions show when.

A form is outdated when calls of it failed in two lineages after it last worked. Only failures that are about the form
count: those of tools with arguments, and of commands that complain about how they were called. A failing test, a
missing file or a server that is down says nothing about how a call is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from sqlite3 import Row
from typing import Any

import msgspec

from seasoned.command.tool import tool_of
from seasoned.example.call_form import CallForm, call_form_of, pattern_of
from seasoned.example.example import Example
from seasoned.example.mine.candidate import ExampleCandidate
from seasoned.lazy_regex import LazyRegex
from seasoned.outcome.track import JudgedCall, Track
from seasoned.store import Store
from seasoned.text import plural

# This many lineages must agree that a form no longer works.
FAILING_LINEAGES = 2
# When a call was made, and its position in the session: logs without times still have an order.
Moment = tuple[float, int]
NEVER: Moment = (float("-inf"), -1)
_USAGE = LazyRegex(
    r"(?i)\b(?:unknown|unrecogni[sz]ed|unexpected|unsupported|illegal|invalid|no such|missing|bad)\b[^\n]{0,40}"
    r"\b(?:option|switch|argument|operand|parameter|flag|command|subcommand|script|target|task|recipe)"
    r"|command not found|no rule to make target|is not an? [^\n]{0,30}command|no longer (?:supported|valid|accepted)"
    r"|(?:has been|was) (?:removed|renamed)|^\s*usage:"
)
# Whether these tools succeed depends on files, pages and code rather than on how the call is written.
_CONTENT = ("file_read", "file_write", "search", "web", "python", "agent", "meta")


class FormEvidence:
    """When calls of one form last worked, and when they last failed in each lineage."""

    def __init__(self) -> None:
        self.worked = NEVER
        self.failed: dict[str, Moment] = {}

    def add_failure(self, root: str, moment: Moment) -> None:
        """Count a failure that is about the form."""
        self.failed[root] = max(moment, self.failed.get(root, NEVER))

    def is_outdated(self) -> bool:
        """Whether enough lineages failed since it last worked."""
        return sum(moment > self.worked for moment in self.failed.values()) >= FAILING_LINEAGES

    def doubtful_before(self) -> Moment:
        """Calls that worked before this moment are in doubt: enough lineages failed since, although the form works."""
        latest = sorted(self.failed.values(), reverse=True)
        return latest[FAILING_LINEAGES - 1] if len(latest) >= FAILING_LINEAGES else NEVER


def is_against_form(tool: str, fault: str, said: str, *, is_shell: bool) -> bool:
    """Whether a failure is about how the call was written; `said` is the error."""
    if is_shell:
        return _USAGE.compiled.search(said) is not None
    return fault in ("call", "none") and tool_of(tool).form not in _CONTENT


def still_valid(
    candidates: Sequence[ExampleCandidate], tracks: Iterable[Track] = (), written: Mapping[str, float] | None = None
) -> list[ExampleCandidate]:
    """The candidates whose form still works; those that later failures make doubtful are marked.

    `written`: when the files of sessions without times were written.
    """
    evidence = _failures(tracks, written or {})
    tools = {key[0] for key in evidence}
    keys: list[tuple[str, str] | None] = []
    for candidate in candidates:
        key = _key_of(candidate) if _tool_key(candidate) in tools else None
        keys.append(key)
        if key in evidence:
            evidence[key].worked = max(evidence[key].worked, candidate.moment)
    kept = []
    rewritten = _rewritten(candidates)
    for candidate, key in zip(candidates, keys, strict=True):
        if rewritten and _convention(candidate.pattern, candidate.command is not None) in rewritten:
            continue
        known = evidence.get(key) if key is not None else None
        if known is None:
            kept.append(candidate)
        elif not known.is_outdated():
            is_doubtful = candidate.moment < known.doubtful_before()
            kept.append(msgspec.structs.replace(candidate, is_doubtful=True) if is_doubtful else candidate)
    return kept


def _failures(tracks: Iterable[Track], written: Mapping[str, float]) -> dict[tuple[str, str], FormEvidence]:
    """The forms that failed in enough lineages to matter."""
    found: dict[tuple[str, str], FormEvidence] = {}
    for track in tracks:
        fallback = written.get(str(track.ref), 0.0)
        for call in track.calls:
            if call.has_failed and (key := _failed_key(call)) is not None:
                found.setdefault(key, FormEvidence()).add_failure(track.root, moment_of(call, track, fallback))
    return {key: evidence for key, evidence in found.items() if len(evidence.failed) >= FAILING_LINEAGES}


def moment_of(call: JudgedCall, track: Track, fallback: float) -> Moment:
    """When a call was made: by its own time, else by the end of its session, else by `fallback`."""
    time = call.time if call.time is not None else track.ended
    return (fallback if time is None else time), call.position


def _failed_key(call: JudgedCall) -> tuple[str, str] | None:
    command = call.command
    said = f"{call.reason}\n{(call.result or '')[:600]}"
    if not is_against_form(call.tool, call.fault, said, is_shell=command is not None):
        return None
    if command is not None:
        return "", _convention(pattern_of(call.tool, call.arguments), is_shell=True)
    return _form_key(call_form_of(call.tool, call.raw_arguments))


def _tool_key(candidate: ExampleCandidate) -> str:
    return candidate.call.tool if candidate.command is None else ""


def _key_of(candidate: ExampleCandidate) -> tuple[str, str] | None:
    if candidate.command is not None:
        return "", _convention(candidate.pattern, is_shell=True)
    return _form_key(call_form_of(candidate.call.tool, candidate.call.raw_arguments))


def _form_key(form: CallForm | None) -> tuple[str, str] | None:
    return None if form is None else (form.tool, repr(sorted(form.shapes.items())))


def _rewritten(candidates: Iterable[ExampleCandidate]) -> set[str]:
    """Patterns that a later repair rewrote and that never worked again."""
    worked: dict[str, float] = {}
    rewritten: dict[str, float] = {}
    for candidate in candidates:
        if candidate.time is None:
            continue
        is_shell = candidate.command is not None
        key = _convention(candidate.pattern, is_shell)
        worked[key] = max(worked.get(key, 0.0), candidate.time)
        if candidate.failed is not None and candidate.is_rewritten:
            key = _convention(pattern_of(candidate.failed.tool, candidate.failed.arguments), is_shell)
            rewritten[key] = max(rewritten.get(key, 0.0), candidate.time)
    return {key for key, time in rewritten.items() if key in worked and time > worked[key]}


def _convention(pattern: str, is_shell: bool) -> str:
    """The pattern without the name of the shell: every agent's shell calls a program the same way."""
    return pattern.partition(" ")[2] if is_shell else pattern


# How many of the newest sessions in which a tool failed are read, and of those in which it has worked since.
_SESSIONS = 200
# After every position in a session.
LAST = 1 << 62


class OutdatedExample(msgspec.Struct, frozen=True):
    """An example whose form no longer works, with what shows it."""

    example: Example
    lineages: int
    first_failure: float
    newest_failure: float

    @property
    def reason(self) -> str:
        return (
            f"Later sessions contradict it: calls made as it shows failed in {plural(self.lineages, 'session')} "
            "since one last worked."
        )

    @property
    def evidence(self) -> dict[str, Any]:
        """What is stored with the state; what works after `newest_failure` restores it."""
        return {
            "lineages": self.lineages,
            "first_failure": self.first_failure,
            "newest_failure": self.newest_failure,
        }


def outdated(store: Store, examples: Iterable[Example], vouched: Mapping[str, float]) -> Iterator[OutdatedExample]:
    """The examples whose form failed in enough lineages since it last worked or a person restored it."""
    for tool, some in _by_tool(examples).items():
        failed = [(form, row) for row in _rows(store, "guard.failed", tool) if (form := _failed_form(row)) is not None]
        for example, form in some if failed else ():
            evidence = FormEvidence()
            evidence.worked = _known_to_work(example, vouched)
            for other, row in failed:
                if other.follows(form):
                    evidence.add_failure(row["root"], _moment(row))
            if evidence.is_outdated() and not has_worked(store, form, after=evidence.doubtful_before()):
                since = [moment for moment in evidence.failed.values() if moment > evidence.worked]
                yield OutdatedExample(example, len(since), min(since)[0], max(since)[0])


def has_worked(store: Store, form: CallForm, *, after: Moment) -> bool:
    """Whether a call of this form worked after a moment."""
    for row in _rows(store, "guard.worked", form.tool, after=after[0]):
        if _moment(row) > after:
            made = call_form_of(form.tool, row["arguments"])
            if made is not None and made.follows(form):
                return True
    return False


def _by_tool(examples: Iterable[Example]) -> dict[str, list[tuple[Example, CallForm]]]:
    found: dict[str, list[tuple[Example, CallForm]]] = {}
    for example in examples:
        form = call_form_of(example.tool, example.arguments)
        if form is not None:
            found.setdefault(example.tool, []).append((example, form))
    return found


def _rows(store: Store, query: str, tool: str, after: float | None = None) -> list[Row]:
    return store.rows(query, {"tool": tool, "after": after, "limit": _SESSIONS})


def _failed_form(row: Row) -> CallForm | None:
    """The form of a failed call, if the failure is about it."""
    form = call_form_of(row["tool"], row["arguments"])
    if form is None:
        return None
    said = f"{row['reason']}\n{row['result'] or ''}"
    return form if is_against_form(row["tool"], row["fault"], said, is_shell=form.pattern is not None) else None


def _known_to_work(example: Example, vouched: Mapping[str, float]) -> Moment:
    times = [time for time in (example.last_seen, vouched.get(example.id)) if time is not None]
    return (max(times), LAST) if times else NEVER


def _moment(row: Row) -> Moment:
    return row["moment"], row["position"]
