"""Which ways of writing a call still hold. The newest evidence wins: conventions change, and sessions show when.

A form is outdated when calls of it failed in two lineages after it last worked. Only failures that speak about the form
count: those of tools with arguments, and of commands that complain about how they were called. A failing test, a file
that is missing or a server that is down says nothing about how a call is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from seasoned.command.tool import tool_of
from seasoned.insight.track import JudgedCall, Track
from seasoned.lazy_regex import LazyRegex
from seasoned.template.library.guard import CallForm, call_form_of
from seasoned.template.mine.merge import ExampleCandidate, pattern_of

# So many lineages must agree that a form no longer works.
FAILING_LINEAGES = 2
# When a call was made, and where in its session: logs without times still have an order.
Moment = tuple[float, int]
NEVER: Moment = (float("-inf"), -1)
_USAGE = LazyRegex(
    r"(?i)\b(?:unknown|unrecogni[sz]ed|unexpected|unsupported|illegal|invalid|no such|missing|bad)\b[^\n]{0,40}"
    r"\b(?:option|switch|argument|operand|parameter|flag|command|subcommand|script|target|task|recipe)"
    r"|command not found|no rule to make target|is not an? [^\n]{0,30}command|no longer (?:supported|valid|accepted)"
    r"|(?:has been|was) (?:removed|renamed)|^\s*usage:"
)
# What these tools do is decided by files, pages and code rather than by how the call is written.
_CONTENT = ("file_read", "file_write", "search", "web", "python", "agent", "meta")


class FormEvidence:
    """When calls of one form last worked, and when they last failed in each lineage."""

    def __init__(self) -> None:
        self.worked = NEVER
        self.failed: dict[str, Moment] = {}

    def add_failure(self, root: str, moment: Moment) -> None:
        """Note a failure that is about the form."""
        self.failed[root] = max(moment, self.failed.get(root, NEVER))

    def is_outdated(self) -> bool:
        """Whether enough lineages failed since it last worked."""
        return sum(moment > self.worked for moment in self.failed.values()) >= FAILING_LINEAGES

    def doubtful_before(self) -> Moment:
        """What worked earlier than this has since failed in enough lineages, although the form as such still works."""
        latest = sorted(self.failed.values(), reverse=True)
        return latest[FAILING_LINEAGES - 1] if len(latest) >= FAILING_LINEAGES else NEVER


def is_against_form(tool: str, fault: str, said: str, *, is_shell: bool) -> bool:
    """Whether a failed call speaks against the way in which it was written; `said` is what came back."""
    if is_shell:
        return _USAGE.compiled.search(said) is not None
    return fault in ("call", "none") and tool_of(tool).form not in _CONTENT


def current(
    candidates: Sequence[ExampleCandidate], tracks: Iterable[Track] = (), written: Mapping[str, float] | None = None
) -> list[ExampleCandidate]:
    """The candidates whose form still holds; those that later failures make doubtful are marked.

    `written` says when sessions were written that do not tell their own time.
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
    """When a call was made: by its own time, else by the session's, else by when that was written."""
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
    """The pattern without the shell: a program is called in the same way through the shells of all agents."""
    return pattern.partition(" ")[2] if is_shell else pattern
