"""What differs between a failed call and the one that worked, compared as they were written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal

import msgspec

from seasoned.command.parse import names, parse
from seasoned.command.translate import argument, argument_names
from seasoned.insight.mistake.call_target import (
    MANNER,
    NO_PATH,
    REMEMBERED,
    CallTarget,
    ProgramRun,
    folder_form,
    same_words,
    value_shape,
    written_program,
)
from seasoned.insight.mistake.signature import mask
from seasoned.insight.mistake.similarity import closeness
from seasoned.lazy_regex import LazyRegex

ChangeKind = Literal[
    "again",  # nothing differs
    "without wrapper",
    "with wrapper",
    "program",
    "command",
    "variable",
    "option added",
    "option dropped",
    "before",
    "folder",
    "operands",
    "given",
    "renamed",
    "left out",
    "changed",
    "patch",
    "tool",
]
_NAMED = 2
_NAME_CHARS = 40
# Arguments that differ with every call and make no difference.
_ASIDE = names(
    "timeout timeout_ms yield_time_ms max_output_tokens justification explanation run_in_background prefix_rule tty"
)
# Arguments of a shell that are not its command, and decide whether it may do something.
RIGHTS = names("sandbox_permissions with_escalated_permissions dangerouslyDisableSandbox")

_REFUSED = LazyRegex(r"not permitted|permission|denied|EPERM|EACCES|network|resolve host|connect|log in", re.IGNORECASE)


class CallChange(msgspec.Struct, frozen=True):
    """The difference that made a call work."""

    kind: ChangeKind
    names: tuple[str, ...] = ()  # wrappers, options, variables or arguments, depending on the kind
    program: str = ""  # the program of a shell call that worked, with its wrappers; otherwise the tool
    written: str = ""  # the shape of a changed argument that worked, if it differs from the one that failed

    @property
    def words(self) -> str:
        """The difference in words; empty if nothing differs."""
        what = named(self.names)
        match self.kind:
            case "again":
                return ""
            case "without wrapper" | "option dropped" | "left out":
                return f"without {what}"
            case "with wrapper" | "option added":
                return f"with {what}"
            case "program" | "command" | "tool":
                return f"with {code(self.names[1])} instead of {code(self.names[0])}"
            case "variable":
                return f"with {what} set"
            case "before":
                return f"with {what} before it"
            case "folder":
                return "from another folder"
            case "operands":
                return f"with other arguments to {code(self.program)}"
            case "given":
                return f"with {what} given"
            case "renamed":
                return f"with {code(self.names[1])} given, without {code(self.names[0])}"
            case "changed":
                return f"with {what} changed"
            case "patch":
                return "with another patch"


@lru_cache(maxsize=REMEMBERED)
def change_between(failed: CallTarget, worked: CallTarget) -> CallChange:
    """The difference that explains best why the second call worked and the first did not."""
    if failed.tool != worked.tool:
        return CallChange("tool", (failed.tool, worked.tool), worked.tool)
    if failed.runs and worked.runs:
        return next(_of_commands(failed, worked), CallChange("again", (), worked.label))
    if failed.label == "apply_patch":
        return CallChange("patch" if failed.text != worked.text else "again", (), worked.label)
    return _of_arguments(failed, worked)


@lru_cache(maxsize=REMEMBERED)
def changed_arguments(failed: CallTarget, worked: CallTarget) -> tuple[str, ...]:
    """Names of arguments that differ, in the order of the call that worked."""
    before, after = failed.arguments, worked.arguments
    given = [*after, *[name for name in before if name not in after]]
    aside = _ASIDE | {"description"} if failed.speech == "shell" else _ASIDE
    return tuple(name for name in given if name not in aside and before.get(name) != after.get(name))


def _of_commands(failed: CallTarget, worked: CallTarget) -> Iterator[CallChange]:
    """The differences of two commands, the most telling first."""
    old, new = _pair(failed, worked)
    rights = [name for name in changed_arguments(failed, worked) if name in RIGHTS and worked.arguments.get(name)]
    if rights and _REFUSED.compiled.search(failed.complaint):
        yield CallChange("given", tuple(rights), new.wrapped)
    if failed.text != worked.text:
        if (
            NO_PATH.compiled.search(failed.complaint)
            and old.label == new.label
            and set(old.operands) != set(new.operands)
        ):
            # The path was wrong; what else was written differently came along.
            yield CallChange("operands", (), new.wrapped)
        yield from _of_wrappers(old, new)
        if old.program != new.program:
            yield CallChange("program", (old.program, new.program), new.wrapped)
        if old.label != new.label:
            yield CallChange("command", (old.wrapped, new.wrapped), new.wrapped)
        variables = [word[:-1] for word in new.prefix if word[-1] == "=" and word not in old.prefix]
        if variables:
            yield CallChange("variable", tuple(sorted(variables)), new.wrapped)
    if rights:
        yield CallChange("given", tuple(rights), new.wrapped)
    if failed.text != worked.text:
        yield from _of_words(failed, worked, old, new)
    elif argument(failed.arguments, "folder") != argument(worked.arguments, "folder"):
        yield _to_folder(worked, new)


def _pair(failed: CallTarget, worked: CallTarget) -> tuple[ProgramRun, ProgramRun]:
    """The program that failed, and the one that did its work later."""
    for old in reversed(failed.blamed):
        for new in reversed(worked.runs):
            if old.label == new.label or same_words(old, new):
                return old, new
    old = failed.blamed[-1]
    near = max(worked.runs, key=lambda run: (run.program == old.program, closeness(run.label, old.label)))
    return old, near


def _of_wrappers(old: ProgramRun, new: ProgramRun) -> Iterator[CallChange]:
    before, after = ([word for word in run.prefix if word[-1] != "="] for run in (old, new))
    gone = tuple(word for word in before if word not in after)
    more = tuple(word for word in after if word not in before)
    if not gone and not more and old.label != new.label and same_words(old, new):
        mine, theirs = (old.program, *old.words), (new.program, *new.words)
        extra = len(mine) - len(theirs)
        gone = (" ".join(mine[:extra]),) if extra > 0 else ()
        more = (" ".join(theirs[:-extra]),) if extra < 0 else ()
    if more and not _TIMES.issuperset(more):
        yield CallChange("with wrapper", more, written_program(new))
    elif gone:
        yield CallChange("without wrapper", gone, written_program(new))


# Wrappers that limit or measure: adding one is seldom what made a call work.
_TIMES = names("time timeout gtimeout nohup nice stdbuf")


def _of_words(failed: CallTarget, worked: CallTarget, old: ProgramRun, new: ProgramRun) -> Iterator[CallChange]:
    # An option that the error names is what it is about, whatever else was changed with it.
    asked = tuple(sorted({one for one in new.options if one not in old.options and one in failed.complaint}))
    refused = tuple(sorted({one for one in old.options if one not in new.options and one in failed.complaint}))
    if asked or refused:
        yield CallChange("option added" if asked else "option dropped", asked or refused, new.wrapped)
    if set(old.operands) != set(new.operands) or old.selects != new.selects:
        if not NO_PATH.compiled.search(failed.complaint):
            yield from _of_options(old, new)
        yield CallChange("operands", (), new.wrapped, _shape_that_worked(old, new))
    yield from _of_options(old, new)
    yield from _around(failed, worked, new)


def _shape_that_worked(old: ProgramRun, new: ProgramRun) -> str:
    """How the one operand that was changed is written now; empty if more than its form changed."""
    pairs = [(a, b) for a, b in zip(old.operands, new.operands, strict=False) if a != b]
    if len(pairs) != 1 or len(old.operands) != len(new.operands):
        return ""
    before, after = map(value_shape, pairs[0])
    return after if before != after and after != "words" and not after.endswith("/path") else ""


def _of_options(old: ProgramRun, new: ProgramRun) -> Iterator[CallChange]:
    had, has = set(old.options), set(new.options)
    added, dropped = sorted(has - had), sorted(had - has)
    # With the operands changed too, an option that came along says little unless it is the only one.
    if added and set(old.operands) == set(new.operands):
        yield CallChange("option added", tuple(added), new.wrapped)
    if dropped and not added:
        yield CallChange("option dropped", tuple(dropped), new.wrapped)


def _around(failed: CallTarget, worked: CallTarget, new: ProgramRun) -> Iterator[CallChange]:
    """What differs in a command besides the program that failed."""
    steps, before = parse(worked.text), parse(failed.text)
    known = {step.program for step in before}
    labels = {run.label for run in failed.runs}
    added = [run.label for run in worked.runs[:-1] if run.label not in labels]
    added += [step.program for step in steps[:-1] if step.program in _PREPARES and step.program not in known]
    if added:
        yield CallChange("before", (added[0],), new.wrapped)
    if _folders(failed) != _folders(worked):
        yield _to_folder(worked, new)
    words = {step.words for step in before}
    other = [step.program for step in steps if step.program in known and step.words not in words]
    if other:
        by_program = {run.program: run.wrapped for run in worked.runs}
        yield CallChange("operands", (), by_program.get(other[-1], other[-1]))


_PREPARES = names("mkdir sleep source export")


def _folders(target: CallTarget) -> tuple[object, ...]:
    return (argument(target.arguments, "folder"), *[step.words for step in parse(target.text) if step.program == "cd"])


def _to_folder(worked: CallTarget, new: ProgramRun) -> CallChange:
    """The folder in which a command worked: where it went, else where it was started; empty if it just stayed."""
    went = [step.words[0] for step in parse(worked.text) if step.program == "cd" and step.words]
    place = went[-1] if went else str(argument(worked.arguments, "folder") or "")
    return CallChange("folder", (folder_form(place) if place else "",), new.wrapped)


def _of_arguments(failed: CallTarget, worked: CallTarget) -> CallChange:
    """Which arguments made the difference; if the path was wrong, the path did."""
    changed = changed_arguments(failed, worked)
    placed = [name for name in changed if name in argument_names("path")]
    if placed and NO_PATH.compiled.search(failed.complaint):
        return CallChange("changed", tuple(placed), worked.tool)
    changed = tuple(name for name in changed if name not in MANNER) or changed
    added = tuple(name for name in changed if name not in failed.arguments)
    gone = tuple(name for name in changed if name not in worked.arguments)
    other = tuple(name for name in changed if name not in added and name not in gone)
    if len(added) == len(gone) == 1:
        return CallChange("renamed", (*gone, *added), worked.tool)
    if added:
        return CallChange("given", added, worked.tool)
    if gone:
        return CallChange("left out", gone, worked.tool)
    if not other:
        return CallChange("again", (), worked.tool)
    shapes = [value_shape(arguments.get(other[0])) for arguments in (failed.arguments, worked.arguments)]
    return CallChange("changed", other, worked.tool, shapes[1] if shapes[0] != shapes[1] and len(other) == 1 else "")


def named(given: Sequence[str]) -> str:
    """Names from a session as a list of code."""
    shown = " and ".join(code(name) for name in given[:_NAMED])
    return shown if len(given) <= _NAMED else f"{shown} and {len(given) - _NAMED} more"


def code(name: str) -> str:
    """A name from a session as code."""
    return f"`{plain_name(name)}`"


@lru_cache(maxsize=1024)
def plain_name(name: str) -> str:
    """A name from a session, truncated and without backticks."""
    kept = "".join([c for c in name if c.isprintable() and c not in "`<>"])
    return kept[:_NAME_CHARS] or mask(name)[:_NAME_CHARS] or "?"
