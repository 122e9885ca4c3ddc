"""Similar calls become one example: patterns, support, the call that represents them, and the share of each source."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

import msgspec

from seasoned.command.parse import names, parse
from seasoned.command.risk import may_be_example, only_looks
from seasoned.command.tool import command_of
from seasoned.command.translate import argument_names
from seasoned.insight.mistake.call_target import MANNER, CallTarget, ProgramRun, runs_of
from seasoned.insight.mistake.repair import Repair
from seasoned.insight.track import JudgedCall, Track
from seasoned.lazy_regex import LazyRegex
from seasoned.session import ToolCall
from seasoned.template.example import ExampleKind, digest
from seasoned.template.mine.intent import stems, vagueness, words_before
from seasoned.template.mine.selection import MiningOptions, is_escalated, is_whole
from seasoned.template.witness import BlockShare, Vouched

KIND_RANK: dict[ExampleKind, int] = {"recovery": 0, "init": 1, "final": 2, "sequence": 3}
_PATTERN_CHARS = 160
# Every lineage may supply so many examples, however small the template is.
FEWEST = 2
# Where so many sources make the same call, they are compared: a repair stands for the others if at least this share of
# them needed it.
_FEWEST_COMPARED = 10
_REPAIRED_SHARE = 0.1
# A word is common among sources if at least this share of them uses it.
_COMMON = 0.2
# How an outcome is known if only words speak for it.
_WEAK = frozenset({"wording", "none"})
# Support beyond this adds nothing to the merit of an example: planted sessions cannot win by numbers.
_ENOUGH = 5
_ASIDE = MANNER | names("description timeout explanation justification workdir cwd is_background isBackground")
# Arguments with free text: only that they are given belongs to the pattern.
FREE = MANNER | names(
    "description pattern query regex glob search_term q input content contents file_text text old_string new_string"
    " old_str new_str old_text new_text code thought prompt message body diff patch title summary note comment"
    " expression url urls"
)
_CHOICES = names("action command operation mode output_mode method op verb kind")
_CHOICE = LazyRegex(r"[A-Za-z][A-Za-z_-]{0,23}\Z")
_WORD = LazyRegex(r"[^\W\d_]+\Z")
_PATHLIKE = LazyRegex(r"(?:[\w.@~$-]*[/\\])+[\w.@*{},-]*\Z|[\w-]+(?:\.[\w-]+)*\.[A-Za-z]\w{0,7}\Z")
_OTHER_LETTER = re.compile(r"[^\W\d_A-Za-z]")
_RUNS = ((re.compile(r"[A-Z]+"), "A"), (re.compile(r"[a-z]+"), "a"), (re.compile(r"\d+"), "9"))
# Beside programs that only look: which options these are given is taste.
_ANYBODY_CAN = names("awk pwd which env date whoami echo printf cd test sleep chmod touch mkdir rmdir")
_LABEL_CHARS = 40
_LETTERS = LazyRegex(r"[^\W\d_]{3,}")
# An operand of a command that shows how ids are written.
_ID = LazyRegex(r"(?=\D{0,23}\d)[\w#:@-]{1,24}\Z")


class ExampleCandidate(msgspec.Struct, frozen=True, dict=True):
    """A call that worked, in its session, with what mining found about it; costly properties are computed late."""

    track: Track
    call: JudgedCall
    target: CallTarget
    pattern: str
    # The tool, or for a shell also the program. Each step gets one example before any gets a second.
    step: str
    kinds: frozenset[ExampleKind]
    source: str
    max_argument_chars: int
    is_plain: bool = False  # whether it only looks around in a shell, which needs no example
    repair: Repair | None = None
    failed: JudgedCall | None = None
    # Whether the repaired call is written in another form than the failed one, and not just about another thing.
    is_rewritten: bool = False
    is_doubtful: bool = False  # whether calls of its form have failed since in several lineages
    written: float = 0.0  # when its session was written, for sessions that do not tell their time

    @property
    def time(self) -> float | None:
        return self.call.time if self.call.time is not None else self.track.ended

    @property
    def moment(self) -> tuple[float, int]:
        """When it was made, and where in its session; always known, so that candidates have an order."""
        return (self.written if self.time is None else self.time), self.call.position

    @property
    def scope(self) -> str:
        """Whose habit it is: that of a project, or of a folder of histories."""
        return self.track.project or self.source

    @property
    def command(self) -> str | None:
        """The shell command that it ran; None when it ran none."""
        return self.target.command

    @cached_property
    def intent(self) -> str:
        """The words before the call, as far as they can be shown."""
        return words_before(self.call)

    @cached_property
    def vagueness(self) -> int:
        """How little its intent says about it: 0 names it, 3 says nothing."""
        return vagueness(self.intent, stems(self.step), self.call.raw_arguments)

    @cached_property
    def words(self) -> frozenset[str]:
        """What it says: the words before it, and those that it was given."""
        return frozenset(_LETTERS.compiled.findall(f"{self.intent} {self.call.raw_arguments}".casefold()))

    @cached_property
    def can_show(self) -> bool:
        """Whether it may represent the others: complete, short, and not a call that a person must confirm."""
        given = self.target.arguments
        if len(self.call.raw_arguments) > self.max_argument_chars or not is_whole(self.call) or is_escalated(given):
            return False
        if self.command is not None and ("<<" in self.command or self.command.count("\n") > 3):
            return False
        return may_be_example(self.target.tool, given)


class CandidateGroup(msgspec.Struct, frozen=True):
    """All calls of one pattern."""

    pattern: str
    step: str
    tool: str
    kind: ExampleKind
    support: int
    candidates: tuple[ExampleCandidate, ...]  # the best at the head, the others in any order
    common: frozenset[str] | None = None  # the words that many of its sources use; None if there are few to compare

    @property
    def merit(self) -> tuple[int, int, int, str]:
        """The sort key among groups: the smaller, the better."""
        plain = self.candidates[0].is_plain
        return (
            int(self.kind != "recovery") + 2 * plain,
            -min(self.support, _ENOUGH),
            KIND_RANK[self.kind],
            self.pattern,
        )


def pattern_of(tool: str, arguments: Mapping[str, Any]) -> str:
    """The tool and the shape of what it was given: calls with one pattern show the same thing."""
    given = dict(arguments)
    command = command_of(ToolCall("", tool, given))
    return pattern_of_target(CallTarget(tool, "", given, runs=runs_of(command) if command else (), command=command))


def pattern_of_target(target: CallTarget) -> str:
    """The pattern of a call whose target is known."""
    if target.command is not None:
        shape = " + ".join(sorted({_run_shape(run) for run in target.runs})) or _scenery(target.command)
    else:
        given = [(name, value) for name, value in sorted(target.arguments.items()) if name not in _ASIDE]
        shape = " ".join(f"{name}={_shape(name, value)}" for name, value in given if value not in (None, False, ""))
    text = f"{target.tool} {shape}".rstrip()
    return text if len(text) <= _PATTERN_CHARS else f"{text[: _PATTERN_CHARS - 17]} {digest(text)}"


def step_of(target: CallTarget) -> str:
    """The name of a step: `Read`, or for a shell `Bash: pytest`."""
    if target.command is None:
        return target.tool
    return f"{target.tool}: {_label(target.runs[-1]) if target.runs else _scenery(target.command)}"


def is_look(target: CallTarget) -> bool:
    """Whether a shell command only looks around, or does nothing that could go wrong."""
    return target.command is not None and all(_looks(run) for run in target.runs)


def _looks(run: ProgramRun) -> bool:
    return only_looks(run.program, run.label.split()[-1]) or run.program in _ANYBODY_CAN


def _scenery(command: str) -> str:
    steps = parse(command)
    return steps[-1].program[:_LABEL_CHARS] if steps else "shell"


def _label(run: ProgramRun) -> str:
    # With its wrappers: where `rtk bun run test` fails and `bun run test` works, they must not be one.
    return run.wrapped if run.wrapped.isprintable() and len(run.wrapped) <= _LABEL_CHARS else run.program[:_LABEL_CHARS]


@lru_cache(maxsize=1024)
def _run_shape(run: ProgramRun) -> str:
    if run.is_inline:
        return f"{run.program} inline"
    if run.is_check or _looks(run):
        return _label(run)
    options = sorted({option for option in run.options if option.startswith("--")} - {"--"})
    ids = (
        sorted({letter_shape(word) for word in run.operands if _ID.compiled.match(word)})
        if run.program != "git"
        else []
    )
    return " ".join([_label(run), *options[:4], *ids[:2]])


def _shape(name: str, value: Any, depth: int = 3) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return _text_shape(name, value)
    if isinstance(value, dict):
        return "{" + ",".join(sorted(str(key) for key in value)[:12]) + "}" if depth else "{}"
    if isinstance(value, list | tuple):
        return "[" + "|".join(sorted({_shape(name, item, depth - 1) for item in value[:12]})) + "]" if depth else "[]"
    return "null"


def _text_shape(name: str, value: str) -> str:
    if name in _CHOICES and _CHOICE.compiled.match(value):
        return value
    if name in FREE or value[:1].isspace():
        return "text"
    if "[redacted:" in value or "@" in value:
        return "id"
    if name in argument_names("path") or _PATHLIKE.compiled.match(value):
        return _place(value)
    if any(c.isspace() for c in value) or len(value) > 40:
        return "text"
    if _WORD.compiled.match(value):
        return "word"
    return letter_shape(value)


def _place(value: str) -> str:
    if "://" in value[:12]:
        return "address"
    return "absolute" if value.startswith(("/", "~", "\\")) or value[1:2] == ":" else "path"


def letter_shape(value: str) -> str:
    """Each run of letters or digits as one sign, everything else unchanged: `#W0052025` is `#A9`."""
    if not value.isascii():
        value = _OTHER_LETTER.sub("a", value)
    for run, sign in _RUNS:
        value = run.sub(sign, value)
    return value


def group(candidates: Iterable[ExampleCandidate], options: MiningOptions) -> list[CandidateGroup]:
    """One group for each pattern that is worth keeping and has a call that can be shown."""
    by_pattern: dict[str, list[ExampleCandidate]] = {}
    lineages = set()
    for candidate in candidates:
        by_pattern.setdefault(candidate.pattern, []).append(candidate)
        lineages.add(candidate.track.root)
    is_small = len(lineages) < 2 * options.fewest_lineages
    groups = []
    for pattern, alike in sorted(by_pattern.items()):
        support = len({candidate.track.root for candidate in alike})
        kind = _kind(alike, support, options, is_small=is_small)
        if kind is None or not any(candidate.can_show for candidate in alike):
            continue
        common = _common_words(alike, support)
        best = next(candidate for candidate in _best_first(kind, alike, Counter(), common) if candidate.can_show)
        candidates = (best, *[candidate for candidate in alike if candidate is not best])
        groups.append(CandidateGroup(pattern, best.step, best.call.tool, kind, support, candidates, common))
    return groups


def _kind(
    candidates: Sequence[ExampleCandidate], support: int, options: MiningOptions, *, is_small: bool
) -> ExampleKind | None:
    kinds: set[ExampleKind] = set()
    for candidate in candidates:
        if not candidate.kinds <= kinds and candidate.can_show:
            kinds |= candidate.kinds
    if support >= options.fewest_lineages:
        kinds.add("sequence")
    elif candidates[0].command is not None and not is_small and "recovery" not in kinds:
        # A command that only one of several lineages ran belongs to that session, not to the work.
        return None
    return min(kinds, key=KIND_RANK.__getitem__, default=None)


def _best_first(
    kind: ExampleKind,
    candidates: Sequence[ExampleCandidate],
    supplied: Mapping[str, int],
    common: frozenset[str] | None = None,
) -> Iterator[ExampleCandidate]:
    """The candidates, the best witness first; of equally good ones those whose lineage has supplied less.

    Where many sessions make the same call, one whose words are `common` speaks for all. Costly properties are computed
    only for candidates that cheap ones did not rank lower. Whether a call can be shown costs most, and is left to the
    caller.
    """

    prefers_kind = kind != "sequence" and not (kind == "recovery" and common is not None and _are_few(candidates))

    def first(candidate: ExampleCandidate) -> tuple[bool, ...]:
        return (
            candidate.is_doubtful,
            prefers_kind and kind not in candidate.kinds,
            prefers_kind and not candidate.is_rewritten,
            "[redacted:" in candidate.call.raw_arguments,
            candidate.call.evidence in _WEAK,
        )

    def then(candidate: ExampleCandidate) -> tuple[Any, ...]:
        return (
            candidate.vagueness,
            not (candidate.call.result or "").strip(),
            0 if common is None else len(candidate.words - common),
            len(candidate.call.raw_arguments) // 80,
            supplied.get(candidate.track.root, 0),
            -candidate.moment[0],
            str(candidate.track.ref),
            candidate.call.position,
        )

    equal: dict[tuple[bool, ...], list[ExampleCandidate]] = {}
    for candidate in candidates:
        equal.setdefault(first(candidate), []).append(candidate)
    for _, some in sorted(equal.items()):
        yield from sorted(some, key=then)


def _are_few(candidates: Sequence[ExampleCandidate]) -> bool:
    """Whether few of the sources repaired a mistake with their call, and most made it at once."""
    roots = {candidate.track.root for candidate in candidates}
    repaired = {candidate.track.root for candidate in candidates if "recovery" in candidate.kinds}
    return len(repaired) < _REPAIRED_SHARE * len(roots)


def _common_words(candidates: Sequence[ExampleCandidate], support: int) -> frozenset[str] | None:
    """The words that many of the sources use in calls of a group; None if there are few to compare."""
    if support < _FEWEST_COMPARED:
        return None
    by_root: dict[str, set[str]] = {}
    for candidate in candidates:
        by_root.setdefault(candidate.track.root, set()).update(candidate.words)
    used = Counter(word for words in by_root.values() for word in words)
    return frozenset(word for word, times in used.items() if times >= _COMMON * len(by_root))


class ShareLimits:
    """How many examples each lineage and each folder of histories has supplied, and how many it may supply."""

    def __init__(
        self,
        options: MiningOptions,
        sources: int,
        of_lineage: int | None = None,
        *,
        steps: Mapping[tuple[str, str], Vouched] | None = None,
        kept: Mapping[str, int] | None = None,
        others: Mapping[str, float] | None = None,
        circles: Mapping[str, str] | None = None,
        replaced: Collection[tuple[str, str]] = (),
    ) -> None:
        """`steps`: who knows each step of a scope; of the examples of that scope that are `kept`, they get a share.

        `circles`: patterns that few sources make, with a name of those, who get the share of one lineage together.
        `replaced`: scopes and steps of which no usual way works any more, so that one of a circle takes its place.
        """
        most = max(FEWEST, int(options.max_share * options.max_examples))
        self.of_lineage = most if of_lineage is None else of_lineage
        # A single folder may supply everything.
        share = options.max_source_share if sources > 1 else 1.0
        self.of_source = max(1, int(share * options.max_examples))
        self._lineages: Counter[str] = Counter()
        self._sources: Counter[str] = Counter()
        self._circles = circles or {}
        self._of_circle: Counter[str] = Counter()
        self._replaced = set(replaced)
        self._steps = steps or {}
        self._shares = {
            scope: _share(
                [one for key, one in self._steps.items() if key[0] == scope], number, (others or {}).get(scope)
            )
            for scope, number in (kept or {}).items()
        }
        self.by_scope: Counter[str] = Counter()

    @property
    def most(self) -> int:
        """How many examples the largest supplier among lineages and circles has supplied."""
        return max(*self._lineages.values(), *self._of_circle.values(), 0, 0)

    def has_room(self, candidate: ExampleCandidate, exempt: str | None = None) -> bool:
        """Whether its folder and its lineage may supply one more; the lineage `exempt` may in any case."""
        if self._sources[candidate.source] >= self.of_source:
            return False
        share = self._shares.get(candidate.scope)
        if share is not None and not share.allows(self._steps[candidate.scope, candidate.step]):
            return False
        circle = self._circles.get(candidate.pattern, "")
        if self._of_circle[circle] >= self.of_lineage and (candidate.scope, candidate.step) not in self._replaced:
            return False
        root = candidate.track.root
        return root == exempt or self._lineages[root] < self.of_lineage

    def least_supplied(self, one: CandidateGroup) -> str | None:
        """Of a group that several lineages support, the one that supplied least, if all have their share by now.

        Right after a convention changed few lineages know the new one, and no tool shall go without it.
        """
        roots = {candidate.track.root for candidate in one.candidates if not candidate.is_doubtful}
        if len(roots) < 2 or any(self._lineages[root] < self.of_lineage for root in roots):
            return None
        return min(roots, key=lambda root: (self._lineages[root], root))

    def take(self, candidate: ExampleCandidate) -> None:
        self._lineages[candidate.track.root] += 1
        self._sources[candidate.source] += 1
        self.by_scope[candidate.scope] += 1
        circle = self._circles.get(candidate.pattern)
        if circle is not None and (candidate.scope, candidate.step) in self._replaced:
            self._replaced.remove((candidate.scope, candidate.step))
        elif circle is not None:
            self._of_circle[circle] += 1
        if (share := self._shares.get(candidate.scope)) is not None:
            share.take(self._steps[candidate.scope, candidate.step])

    def ordered(self, one: CandidateGroup) -> Iterator[ExampleCandidate]:
        """The candidates of a group, the best first."""
        return _best_first(one.kind, one.candidates, self._lineages, one.common)


def _share(steps: Sequence[Vouched], kept: int, times: float | None) -> BlockShare:
    """The shares in one scope, which has so many times as many lineages as those that know these steps."""
    lineages = len(frozenset[str]().union(*(one.sources for one in steps)))
    return BlockShare(steps, kept, total=round(lineages * (times or 1.0)))


def vouched_steps(candidates: Iterable[ExampleCandidate]) -> dict[tuple[str, str], Vouched]:
    """By scope and step the lineages that know it."""
    roots: dict[tuple[str, str], set[str]] = {}
    for candidate in candidates:
        roots.setdefault((candidate.scope, candidate.step), set()).add(candidate.track.root)
    return {key: Vouched(key[1], frozenset(known)) for key, known in roots.items()}


def fair_share(options: MiningOptions, lineages: int, kept: int) -> int:
    """How many of the kept examples one lineage may supply; of few lineages each may supply an equal part."""
    share = max(options.max_share, 1 / max(1, lineages))
    return max(FEWEST, int(share * kept + 1e-9))


def in_turn(groups: Sequence[CandidateGroup], failures: Mapping[str, int]) -> list[CandidateGroup]:
    """The best of every step first, then the second of each; steps that were repaired or fail most at the front."""
    steps: dict[str, list[CandidateGroup]] = {}
    for one in sorted(groups, key=lambda one: one.merit):
        steps.setdefault(one.step, []).append(one)

    def rank(step: str) -> tuple[Any, ...]:
        best = steps[step][0]
        return (best.merit[0], -failures.get(best.tool, 0), -max(one.support for one in steps[step]), step)

    ordered = sorted(steps, key=rank)
    longest = max((len(one) for one in steps.values()), default=0)
    return [steps[step][turn] for turn in range(longest) for step in ordered if turn < len(steps[step])]
