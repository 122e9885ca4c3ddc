"""Notes and workflows: how a tool wants its arguments written, and which steps recur in calls that worked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Any

import msgspec

from seasoned.command.parse import names
from seasoned.command.risk import needs_person
from seasoned.command.tool_call import answers_for_person
from seasoned.insight.mistake.call_target import ProgramRun, runs_of
from seasoned.lazy_regex import LazyRegex
from seasoned.template.call_form import FREE, letter_shape
from seasoned.template.example import Note, Workflow
from seasoned.template.mine.candidate import ExampleCandidate
from seasoned.template.mine.selection import MiningOptions
from seasoned.text import plural

# A notation counts as the tool's if at least this share of the calls that worked use it.
_AGREED = 0.8
# Only this many of the latest lineages count: conventions change.
_LATEST = 6
_TOOL = LazyRegex(r"[A-Za-z][\w.:/-]{0,63}\Z")
_NAME = LazyRegex(r"-{0,2}[A-Za-z][\w.-]{0,39}\Z")
_LABEL = LazyRegex(r"[A-Za-z][\w. :-]{0,39}\Z")
_OPTION = LazyRegex(r"--?[A-Za-z][\w-]{0,30}\Z")
_VALUE = LazyRegex(r"[A-Za-z][A-Za-z _-]{0,29}\Z")
_FULL = LazyRegex(r"/")
_PATH = LazyRegex(r"(?:\.{0,2}/|~/)?(?:[\w.@-]+/)+[\w.@*-]*\Z")
_DATES = (
    (LazyRegex(r"\d{4}-\d\d-\d\d\Z"), "2026-01-31"),
    (LazyRegex(r"\d{4}-W\d\d\Z"), "2026-W05"),
    (LazyRegex(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?Z?\Z"), "2026-01-31T09:30:00"),
    (LazyRegex(r"\d\d:\d\d\Z"), "09:30"),
)
_FREE = FREE | names("command cmd")
_MONEY = names("amount price fee total cost charge refund payment sum balance tip budget")
_FEWEST_VALUES = 3
_MOST_CHOICES = 5
_MOST_CHARS = 40


class _ArgumentField(msgspec.Struct):
    """What was seen of one argument of a tool, or of the arguments of one program in a shell."""

    tool: str
    name: str
    is_program: bool
    values: list[tuple[ExampleCandidate, Any]] = msgspec.field(default_factory=list)
    repairs: int = 0  # repairs that wrote it in another notation
    changes: int = 0  # repairs that gave another value
    # Options of a program, or the argument itself, that repairs put in.
    added: Counter[str] = msgspec.field(default_factory=Counter)
    hundredfold: int = 0  # repairs that gave a hundred times the number


def notes(
    candidates: Sequence[ExampleCandidate], options: MiningOptions, is_clean: Callable[[str], bool]
) -> tuple[Note, ...]:
    """A few notes for each tool: first about what repairs changed, then about notations that are hard to guess.

    A tool whose calls a person must confirm has no examples, so only notes say how its arguments are written.
    """
    fields = _fields(candidates)
    calls: dict[str, list[ExampleCandidate]] = {}
    for candidate in candidates:
        calls.setdefault(candidate.call.tool, []).append(candidate)
    found: list[tuple[tuple[Any, ...], Note]] = []
    for (tool, name, _), field in sorted(fields.items()):
        said = _say(field, calls[tool], options)
        # A note about a command is nearly the command itself, so there is none about one that a person must confirm.
        if said is None or (field.is_program and any(_is_guarded(candidate) for candidate, _ in field.values)):
            continue
        text, support = said
        note = Note(tool, f"`{tool}`: {text}; {plural(support, 'session')}", support)
        if is_clean(note.text):
            found.append(((tool, -field.repairs, -support, name), note))
    found.sort(key=lambda one: one[0])
    kept = [
        note
        for _, of_tool in groupby(found, key=lambda one: one[0][0])
        for _, note in list(of_tool)[: options.notes_per_tool]
    ]
    return tuple(kept)


def _fields(candidates: Sequence[ExampleCandidate]) -> dict[tuple[str, str, bool], _ArgumentField]:
    fields: dict[tuple[str, str, bool], _ArgumentField] = {}

    for candidate in candidates:
        tool = candidate.call.tool
        if not _TOOL.compiled.match(tool):
            continue
        if candidate.command is not None:
            _see_command(candidate, partial(_field, fields, tool, True))
            continue
        arguments = candidate.target.arguments
        for name, value in arguments.items():
            if _can_be_told(name):
                _field(fields, tool, False, name).values.append((candidate, value))
        if candidate.repair is not None and candidate.failed is not None and candidate.failed.tool == tool:
            before = candidate.failed.arguments
            for name in candidate.repair.changed:
                if name in arguments and _can_be_told(name):
                    known = _field(fields, tool, False, name)
                    known.changes += 1
                    known.hundredfold += _is_hundredfold(before.get(name), arguments[name])
                    known.repairs += name not in before or _is_rewritten(before[name], arguments[name])
                    known.added[name] += name not in before
    return fields


def _can_be_told(name: str) -> bool:
    """Whether a note may name an argument: no note may tell a session to answer for a person."""
    return name not in _FREE and _NAME.compiled.match(name) is not None and not answers_for_person(name)


def _is_hundredfold(before: Any, after: Any) -> bool:
    try:
        return _is_whole_number(after) and after != 0 and abs(100 * float(before) - after) < 1e-6
    except (TypeError, ValueError, OverflowError):
        return False


def _is_whole_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_rewritten(before: Any, after: Any) -> bool:
    """Whether two values differ in how they are written, and not just in what they name."""
    if isinstance(before, list) and isinstance(after, list):
        return bool(before and after) and _is_rewritten(before[0], after[0])
    if not isinstance(before, str) or not isinstance(after, str):
        # A fraction for a whole number is another value; a whole number for a fraction may be another unit.
        return type(before) is not type(after) and (type(before), type(after)) != (int, float)
    if _PATH.compiled.match(after):
        return before.partition("/")[0] != after.partition("/")[0]
    return letter_shape(before) != letter_shape(after)


def _field(
    fields: dict[tuple[str, str, bool], _ArgumentField], tool: str, is_program: bool, name: str
) -> _ArgumentField:
    key = (tool, name, is_program)
    return fields.setdefault(key, _ArgumentField(*key))


def _see_command(candidate: ExampleCandidate, field: Callable[[str], _ArgumentField]) -> None:
    runs = {run.label: run for run in candidate.target.runs if _LABEL.compiled.match(run.label) and not run.is_inline}
    for label, run in runs.items():
        field(label).values.append((candidate, run))
    if candidate.repair is None or candidate.failed is None:
        return
    failed = candidate.failed.command
    for other in runs_of(failed) if failed else ():
        same = runs.get(other.label)
        if same is not None and (same.operands, same.options) != (other.operands, other.options):
            known = field(same.label)
            known.repairs += 1
            known.added.update(set(same.options) - set(other.options))


def _say(field: _ArgumentField, calls: Sequence[ExampleCandidate], options: MiningOptions) -> tuple[str, int] | None:
    """The note and its support; None if sessions do not agree, or the notation is obvious."""
    if field.is_program:
        return _say_program(field, options)
    latest = _latest([candidate for candidate, _ in field.values])
    recent = [(candidate, value) for candidate, value in field.values if candidate.track.root in latest]
    if field.added[field.name]:
        # The failed calls lacked it: the lesson is to give it, and how to write it.
        given = {candidate.track.root for candidate in calls if field.name in candidate.target.arguments}
        like = _notation([(candidate, value) for candidate, value in recent], options)
        if len(given) >= options.fewest_lineages and 5 * len(field.values) >= 4 * len(calls):
            shown = f", {like.words}" if like else ""
            return f"give `{field.name}`{shown}", len(given)
    like = _counted(field, recent, options) or _notation(recent, options)
    if like is None:
        return None
    is_worth_it = like.is_odd or field.repairs or (like.is_choice and field.changes)
    # Without an example only a note can show it, even if every call got it right.
    if not is_worth_it and (like.is_choice or not _is_guarded(recent[-1][0])):
        return None
    support = len({candidate.track.root for candidate, value in field.values if like.keeps(value)})
    verb = "choose" if like.is_choice else "give" if like.words.startswith("as ") else "write"
    return (f"{verb} `{field.name}` {like.words}", support) if support >= options.fewest_lineages else None


def _is_guarded(candidate: ExampleCandidate) -> bool:
    """Whether a person must confirm such a call, so that it is never shown."""
    return needs_person(candidate.target.tool, candidate.target.arguments)


def _latest(candidates: Iterable[ExampleCandidate]) -> set[str]:
    """The lineages that were active last."""
    last: dict[str, float] = {}
    for candidate in candidates:
        last[candidate.track.root] = max(last.get(candidate.track.root, 0.0), candidate.time or 0.0)
    return set(sorted(last, key=lambda root: (-last[root], root))[: max(_LATEST, len(last) // 2)])


class _Notation(msgspec.Struct, frozen=True):
    """One way of writing a value."""

    words: str
    keeps: Callable[[Any], bool]  # whether a value is written so
    is_odd: bool = False  # whether it is hard to guess
    is_choice: bool = False


def _counted(
    field: _ArgumentField, values: Sequence[tuple[ExampleCandidate, Any]], options: MiningOptions
) -> _Notation | None:
    """Whole numbers; cents if repairs multiplied by a hundred, or the words before the calls said so."""
    whole = [(candidate, value) for candidate, value in values if _is_whole_number(value)]
    roots = {candidate.track.root for candidate, _ in whole}
    if len(roots) < options.fewest_lineages or not _is_most(len(whole), len(values)):
        return None
    spoken = {candidate.track.root for candidate, value in whole if _says_hundredth(candidate.call.intent or "", value)}
    if not field.hundredfold and len(spoken) < options.fewest_lineages:
        return _Notation("as a whole number", _is_whole_number)
    is_money = not _MONEY.isdisjoint(field.name.lower().replace("-", "_").split("_"))
    return _Notation(
        f"as a whole number of {'cents' if is_money else 'hundredths'}, `1250` for 12.50", _is_whole_number, is_odd=True
    )


def _says_hundredth(words: str, value: int) -> bool:
    """Whether words before a call name a hundredth of its number: `12.50` for 1250."""
    euros, cents = divmod(abs(value), 100)
    return cents > 0 and (f"{euros}.{cents:02}" in words or f"{euros},{cents:02}" in words)


def _matching(pattern: LazyRegex) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and pattern.compiled.match(value) is not None


def _notation(values: Sequence[tuple[ExampleCandidate, Any]], options: MiningOptions) -> _Notation | None:
    """How nearly all of these values are written."""
    if len({candidate.track.root for candidate, _ in values}) < options.fewest_lineages:
        return None
    lists = [value for _, value in values if isinstance(value, list)]
    if _is_most(len(lists), len(values)):
        return _Notation("as a list", lambda value: isinstance(value, list))
    texts = [(candidate.track.root, value) for candidate, value in values if isinstance(value, str) and value]
    if not _is_most(len(texts), len(values)):
        return None
    return _dated(texts) or _placed(texts) or _lettered(texts, options) or _chosen(texts, options)


def _is_most(part: int, whole: int) -> bool:
    return part > 0 and part >= _AGREED * whole


def _dated(texts: Sequence[tuple[str, str]]) -> _Notation | None:
    for pattern, shown in _DATES:
        if _is_most(sum(bool(pattern.compiled.match(text)) for _, text in texts), len(texts)):
            return _Notation(f"like `{shown}`", _matching(pattern), "W" in shown)
    return None


def _placed(texts: Sequence[tuple[str, str]]) -> _Notation | None:
    """Paths that begin alike; what they begin with must be shared by several lineages."""
    paths = [(root, text) for root, text in texts if _PATH.compiled.match(text)]
    if not _is_most(len(paths), len(texts)):
        return None
    if _is_most(sum(text.startswith("/") for _, text in paths), len(texts)):
        return _Notation("in full, from `/`", _matching(_FULL))
    heads = Counter(text.partition("/")[0] for _, text in paths)
    head, count = min(heads.items(), key=lambda one: (-one[1], one[0]))
    if not head or not _is_most(count, len(texts)) or len({root for root, text in paths if _under(head, text)}) < 2:
        return None
    return _Notation(f"like `{head}/x`", lambda value: isinstance(value, str) and _under(head, value))


def _under(head: str, text: str) -> bool:
    return text.startswith(head + "/")


def _lettered(texts: Sequence[tuple[str, str]], options: MiningOptions) -> _Notation | None:
    """Ids with the same characters in the same places; what all share stays, the rest is invented."""
    shapes = Counter(letter_shape(text) for _, text in texts if "9" in letter_shape(text) and len(text) <= _MOST_CHARS)
    if not shapes:
        return None
    shape, count = min(shapes.items(), key=lambda one: (-one[1], one[0]))
    alike = sorted({text for _, text in texts if letter_shape(text) == shape})
    if not _is_most(count, len(texts)) or len(alike) < _FEWEST_VALUES or not shape.isprintable() or "`" in shape:
        return None
    if "redacted" in alike[0] or "@" in shape or any(c.isspace() for c in shape) or shape == "9":
        return None
    made_up = _made_up(alike)
    if made_up is None:
        return None
    is_odd = not shape[0].isalnum() or any(c in "#:$%" for c in shape)
    return _Notation(f"like `{made_up}`", lambda value: isinstance(value, str) and letter_shape(value) == shape, is_odd)


def _made_up(alike: Sequence[str]) -> str | None:
    """A value of the same shape: what all share stays, the rest is invented; None if words vary."""
    runs = [list(_runs(text)) for text in alike]
    made = []
    for column in zip(*runs, strict=False):
        first = column[0]
        if len(set(column)) == 1:
            made.append(first)
        elif any(c.islower() for c in first) or (first.isalpha() and len({len(run) for run in column}) > 1):
            return None
        else:
            length = Counter(len(run) for run in column).most_common(1)[0][0]
            filler = "1234567890" if first[0].isdigit() else "XYZ"
            made.append((filler * (length // len(filler) + 1))[:length])
    return "".join(made)


def _runs(text: str) -> Iterator[str]:
    """The runs of a text: letters of one case, digits, and other characters."""

    def sort(c: str) -> str:
        return "9" if c.isdigit() else "A" if c.isupper() else "a" if c.isalpha() else c

    return ("".join(run) for _, run in groupby(text, key=sort))


def _chosen(texts: Sequence[tuple[str, str]], options: MiningOptions) -> _Notation | None:
    """A few values that recur in session after session."""
    roots: dict[str, set[str]] = {}
    for root, text in texts:
        roots.setdefault(text, set()).add(root)
    known = sorted(text for text, seen in roots.items() if len(seen) >= options.fewest_lineages)
    if not 2 <= len(known) <= _MOST_CHOICES or not all(_VALUE.compiled.match(text) for text in known):
        return None
    if not _is_most(sum(text in known for _, text in texts), len(texts)):
        return None
    shown = ", ".join(f"`{text}`" for text in known[:-1])
    return _Notation(f"from {shown} and `{known[-1]}`", lambda value: value in known, is_choice=True)


def _say_program(field: _ArgumentField, options: MiningOptions) -> tuple[str, int] | None:
    """How a program is called in a shell: with an option that repairs added, or with values written in one way."""
    if not field.repairs:
        return None
    latest = _latest([candidate for candidate, _ in field.values])
    seen: list[tuple[ExampleCandidate, ProgramRun]] = field.values
    recent = [(candidate, run) for candidate, run in seen if candidate.track.root in latest]
    for option in sorted(field.added, key=lambda option: (-field.added[option], option)):
        having = sum(option in run.options for _, run in recent)
        support = len({candidate.track.root for candidate, run in seen if option in run.options})
        if _OPTION.compiled.match(option) and _is_most(having, len(recent)) and support >= options.fewest_lineages:
            return f"run `{field.name}` with `{option}`", support
    firsts = [(candidate, run.operands[-1]) for candidate, run in recent if run.operands]
    like = _notation(firsts, options) if _is_most(len(firsts), len(recent)) else None
    if like is None or not like.is_odd:
        return None
    keeps = like.keeps
    support = len({candidate.track.root for candidate, run in seen if run.operands and keeps(run.operands[-1])})
    return f"write what `{field.name}` is given {like.words}", support


SHORTEST_WORKFLOW, LONGEST_WORKFLOW = 3, 6
# Alternating between two steps is not a workflow.
_DISTINCT = 3


def workflows(
    walks: Iterable[tuple[str, Sequence[str]]],
    *,
    fewest_lineages: int,
    limit: int,
    is_harmless: Callable[[str], bool] = lambda step: True,
) -> tuple[Workflow, ...]:
    """Sequences of steps that recur over lineages, best supported and longest first.

    `is_harmless` is called late, because few of all sequences are kept.
    """
    roots: dict[tuple[str, ...], set[str]] = {}
    for root, steps in walks:
        for found in _stretches(_without_repeats(steps)):
            roots.setdefault(found, set()).add(root)
    support = {steps: len(seen) for steps, seen in roots.items() if len(seen) >= fewest_lineages}
    closed = _closed(support)
    ordered = sorted(closed, key=lambda steps: (-support[steps] * (len(set(steps)) - 1), -len(steps), steps))
    kept: list[tuple[str, ...]] = []
    for steps in ordered:
        if len(kept) == limit:
            break
        if not any(_is_much_like(steps, other) for other in kept) and all(map(is_harmless, steps)):
            kept.append(steps)
    return tuple(Workflow(steps, support[steps]) for steps in kept)


def _without_repeats(steps: Sequence[str]) -> list[str]:
    """The same step several times in a row is one step."""
    return [step for at, step in enumerate(steps) if at == 0 or steps[at - 1] != step]


def _stretches(steps: Sequence[str]) -> set[tuple[str, ...]]:
    return {
        tuple(steps[at : at + length])
        for length in range(SHORTEST_WORKFLOW, LONGEST_WORKFLOW + 1)
        for at in range(len(steps) - length + 1)
        if len(set(steps[at : at + length])) >= max(_DISTINCT, length - 1)
    }


def _closed(support: dict[tuple[str, ...], int]) -> list[tuple[str, ...]]:
    """Those that are not part of a longer one with the same support."""
    swallowed = set()
    for steps, count in support.items():
        for part in (steps[1:], steps[:-1]):
            if support.get(part) == count:
                swallowed.add(part)
    return [steps for steps in support if steps not in swallowed]


def _is_much_like(steps: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether one contains the other, or both hold the same steps in another order."""
    short, long = sorted((steps, other), key=len)
    inside = any(long[at : at + len(short)] == short for at in range(len(long) - len(short) + 1))
    return inside or set(steps) == set(other)
