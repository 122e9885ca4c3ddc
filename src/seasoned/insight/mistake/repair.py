"""Finds which failed calls were repaired later in their session, and what made the difference."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from seasoned.command.parse import names, parse
from seasoned.command.risk import only_looks
from seasoned.insight.mistake.call_target import (
    MANNER,
    NO_PATH,
    PATH_NAMES,
    CallTarget,
    ProgramRun,
    blamed,
    reaches,
    target_of,
)
from seasoned.insight.mistake.signature import mask
from seasoned.insight.mistake.similarity import leaves
from seasoned.insight.track import JudgedCall
from seasoned.lazy_regex import LazyRegex

# How many calls later a repair may come; later successes may have other causes.
WITHIN = 10
_NAMED = 2
_NAME_CHARS = 40
# Arguments that differ with every call and make no difference.
_ASIDE = names("timeout timeout_ms yield_time_ms max_output_tokens justification explanation run_in_background")
_PREPARES = names("mkdir sleep source")
_VARIABLE = LazyRegex(r"(?<![\w$])([A-Z][A-Z0-9_]{2,40})=")
_CALLED_WRONGLY = LazyRegex(
    r"directory not found|no such file or directory|setup failed|unknown (?:flag|option|command)|unrecogni[sz]ed"
    r"|no task|usage:",
    re.IGNORECASE,
)


class Repair(msgspec.Struct, frozen=True):
    """A failed call and the later call that achieved the same."""

    failed: int
    repaired: int
    calls: int  # how many calls it took
    how: str  # what made the difference, in words
    changed: tuple[str, ...] = ()  # names of changed, added or removed arguments
    # Steps in between that mattered: tools, or programs of a shell.
    via: tuple[str, ...] = ()


def repairs(
    calls: Sequence[JudgedCall], *, within: int = WITHIN, aims: CallTargets | None = None
) -> tuple[Repair, ...]:
    """For each failed call the first later success with the same target; None if there is none."""
    failed = [at for at, call in enumerate(calls) if call.has_failed]
    if not failed:
        return ()
    aims = aims or CallTargets(calls)
    ends: dict[int, int] = {}
    for at in reversed(failed):
        end = _end(aims, at, within, ends)
        if end is not None:
            ends[at] = end
    return tuple(_repair(aims, at, ends[at]) for at in failed if at in ends)


class CallTargets:
    """The targets of calls, computed on first use."""

    def __init__(self, calls: Sequence[JudgedCall]) -> None:
        self.calls = calls
        self._known: dict[int, CallTarget] = {}

    def __getitem__(self, at: int) -> CallTarget:
        if at not in self._known:
            self._known[at] = target_of(self.calls[at])
        return self._known[at]


def _end(aims: CallTargets, at: int, within: int, ends: dict[int, int]) -> int | None:
    """The position of the repair: directly, or after further failed attempts."""
    calls = aims.calls
    for later in range(at + 1, min(at + within, len(calls) - 1) + 1):
        call = calls[later]
        # Calls of one message were made together, so none is a reaction to another.
        if not call.is_counted or call.message <= calls[at].message or not _may(calls[at], call):
            continue
        # A call that the user corrected is not a repair, whatever the tool said.
        if later not in ends if call.has_failed else call.is_corrected:
            continue
        if reaches(aims[at], aims[later]):
            end = ends[later] if call.has_failed else later
            if end <= at + within:
                return end
    return None


def _may(failed: JudgedCall, later: JudgedCall) -> bool:
    """A cheap test before comparing targets: the same tool or kind; a shell may work on files too."""
    return failed.tool == later.tool or failed.kind == later.kind or "file" in (failed.kind, later.kind)


def _repair(aims: CallTargets, at: int, end: int) -> Repair:
    failed, repaired = aims[at], aims[end]
    changed = _changed(failed, repaired)
    met = list(_via(aims, at, end, changed))
    via = tuple(dict.fromkeys(label for label, _ in met))[-3:]
    how = _how(failed, repaired, changed, _after(met))
    return Repair(at, end, end - at, how, tuple(_quoted(name) for name in changed), via)


def _changed(failed: CallTarget, repaired: CallTarget) -> tuple[str, ...]:
    """Names of arguments that differ, in the order of the repaired call."""
    before, after = failed.arguments, repaired.arguments
    given = [*after, *[name for name in before if name not in after]]
    aside = _ASIDE | {"description"} if failed.speech == "shell" else _ASIDE
    return tuple(name for name in given if name not in aside and before.get(name) != after.get(name))


def _via(aims: CallTargets, at: int, end: int, changed: tuple[str, ...]) -> Iterator[tuple[str, bool]]:
    """Successful steps in between that mattered, each with whether it concerns the same file."""
    failed, repaired = aims[at], aims[end]
    old = set(leaves(failed.arguments))
    new = [leaf for leaf in leaves(repaired.arguments) if leaf not in old and 4 <= len(leaf) <= 200]
    new += [word for run in repaired.runs for word in run.operands if len(word) >= 4 and word not in failed.text]
    # The command is unchanged: then something that changed in between made the difference.
    needs_cause = bool(failed.runs) and (not changed or any(run.is_check for run in blamed(failed)))
    for position in range(at + 1, end):
        call = aims.calls[position]
        if call.counts_as != "ok" or call.message <= aims.calls[at].message:
            continue
        between = aims[position]
        if repaired.path is not None and _is_about(between, repaired.path):
            yield between.label, True
        elif needs_cause and (between.speech == "file_write" or _changes(between)):
            yield (between.label if between.speech == "file_write" else _changer(between)), False
        elif call.result and any(leaf in call.result for leaf in new):
            yield between.label, False


def _is_about(between: CallTarget, path: str) -> bool:
    return between.path == path or any(path in run.operands for run in between.runs)


def _changes(aim: CallTarget) -> bool:
    """Whether a command may have changed something."""
    return any(not _looks(run) for run in aim.runs) and not all(run.is_check for run in aim.runs)


def _changer(aim: CallTarget) -> str:
    return next((run.label for run in reversed(aim.runs) if not _looks(run)), aim.label)


def _looks(run: ProgramRun) -> bool:
    if only_looks(run.program, run.label.split()[-1]) or run.is_inline or run.program == "curl":
        return True
    return run.program == "sed" and "-i" not in run.options


def _how(failed: CallTarget, repaired: CallTarget, changed: tuple[str, ...], after: str) -> str:
    if failed.tool != repaired.tool:
        return f"with {_code(repaired.tool)} instead of {_code(failed.tool)}"
    if failed.runs and repaired.runs:
        difference = _difference(failed, repaired)
        is_check = any(run.is_check for run in blamed(failed))
        if is_check and difference and _CALLED_WRONGLY.compiled.search(failed.complaint):
            return difference
        return after if after and is_check else _joined(difference, after) or "same call again"
    if failed.label == "apply_patch":
        return _joined("with another patch" if changed else "", after) or "same call again"
    return _joined(_given(failed, repaired, changed), after) or "same call again"


def _after(met: list[tuple[str, bool]]) -> str:
    """Which step before it to name: reading the same file first, otherwise the last one."""
    if not met:
        return ""
    looked = [label for label, is_same in met if is_same]
    return f"after {_code(looked[0])} of the same file" if looked else f"after {_code(met[-1][0])}"


def _joined(difference: str, after: str) -> str:
    return ", ".join(part for part in (difference, after) if part)


def _given(failed: CallTarget, repaired: CallTarget, changed: tuple[str, ...]) -> str:
    """Which arguments made the difference; if the path was wrong, the path did."""
    placed = [name for name in changed if name in PATH_NAMES]
    if placed and NO_PATH.compiled.search(failed.complaint):
        return f"with {_list(placed)} changed"
    changed = tuple(name for name in changed if name not in MANNER) or changed
    added = [name for name in changed if name not in failed.arguments]
    gone = [name for name in changed if name not in repaired.arguments]
    other = [name for name in changed if name not in added and name not in gone]
    parts = []
    if added:
        parts.append(f"with {_list(added)} given")
    if gone:
        parts.append(f"without {_list(gone)}")
    if other and not (added and gone):
        parts.append(f"with {_list(other)} changed")
    return ", ".join(parts)


def _difference(failed: CallTarget, repaired: CallTarget) -> str:
    """How one command differs from another that runs the same program."""
    if failed.text == repaired.text:
        return "from another folder" if failed.arguments.get("workdir") != repaired.arguments.get("workdir") else ""
    labels = {run.label for run in blamed(failed)}
    before, after = ([run for run in aim.runs if run.label in labels] for aim in (failed, repaired))
    if [run.operands for run in before] != [run.operands for run in after]:
        return f"with other arguments to {_code(after[-1].label if after else repaired.label)}"
    had, has = ({option for run in runs for option in run.options} for runs in (before, after))
    if has - had:
        return f"with {_list(sorted(has - had))}"
    if had - has:
        return f"without {_list(sorted(had - has))}"
    return _around(failed, repaired)


def _around(failed: CallTarget, repaired: CallTarget) -> str:
    """What differs in a command besides the program that failed."""
    steps, before = parse(repaired.text), parse(failed.text)
    known = {step.program for step in before}
    labels = {run.label for run in failed.runs}
    new = [run.label for run in repaired.runs[:-1] if run.label not in labels]
    new += [
        step.program
        for step in steps[:-1]
        if step.program in ("mkdir", "sleep", "source") and step.program not in known
    ]
    if new:
        return f"with {_code(new[0])} before it"
    variables = [set(_VARIABLE.compiled.findall(aim.text[:4000])) for aim in (repaired, failed)]
    if variables[0] - variables[1]:
        return f"with {_list(sorted(variables[0] - variables[1]))} set"
    if _folder(failed) != _folder(repaired):
        return "from another folder"
    words = {step.words for step in before}
    other = [step.program for step in steps if step.program in known and step.words not in words]
    named = {run.program: run.label for run in repaired.runs}
    return f"with other arguments to {_code(named.get(other[-1], other[-1]))}" if other else ""


def _folder(aim: CallTarget) -> tuple[object, ...]:
    return (aim.arguments.get("workdir"), *[step.words for step in parse(aim.text) if step.program == "cd"])


def _list(given: Sequence[str]) -> str:
    shown = " and ".join(_code(name) for name in given[:_NAMED])
    return shown if len(given) <= _NAMED else f"{shown} and {len(given) - _NAMED} more"


def _code(name: str) -> str:
    return f"`{_quoted(name)}`"


def _quoted(name: str) -> str:
    """A name from a session, truncated and without backticks."""
    kept = "".join([c for c in name if c.isprintable() and c not in "`<>"])
    return kept[:_NAME_CHARS] or mask(name)[:_NAME_CHARS] or "?"
