"""Candidates for examples: the calls of a session that are worth keeping, and groups of similar ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import msgspec

from seasoned.admission import admit_call, without_remarks
from seasoned.command.parse import parse
from seasoned.command.tool import tool_of
from seasoned.example.call_form import is_look, pattern_of, pattern_of_target, step_of
from seasoned.example.example import ExampleKind
from seasoned.example.mine.selection import MiningOptions, WorkedCalls, is_escalated, is_whole
from seasoned.lazy_regex import LazyRegex
from seasoned.lesson.failure.call_target import CallTarget
from seasoned.lesson.failure.repair import Repair, repairs
from seasoned.lesson.failure.signal import is_signal
from seasoned.lesson.failure.similarity import NUMERIC_IDS
from seasoned.outcome.track import JudgedCall, Track
from seasoned.scan.intent import asks_leave

_FEWEST_CHARS = 12
_FEWEST_WORDS = 3
_READ = 400
_MANY_WORDS = 6
_STEM_CHARS = 5
_WORDS = LazyRegex(r"[A-Z]?[a-z]{3,}|[A-Z]{4,}")
# Reports of failures, and excuses: shown before a call that worked, they would teach the failure.
_FAILURE_REPORTS = LazyRegex(
    r"""(?ix)\b(?:sorry|apolog|oops|whoops|mistake|my\ bad|unable|remember|went\ wrong
      |can(?:no|['’])?t\b|could\ ?n(?:['’]?t|ot)\b
      |(?:did|does|do|was)(?:n['’]t|\ not)\ (?:work|exist|accept|like|support|match|apply|compile|take|know|find)
      |no\ longer\ (?:works?|exists?|accept)|not\ (?:a\ )?(?:valid|recogni[sz]ed|supported|allowed)
      |(?:is|are|was|were)\ (?:gone|wrong|missing|not\ found)
      |(?:was|were|got|been|is)\ (?:denied|refused|rejected|blocked)
      |wrong\ (?:path|flag|command|argument|option|tool|format|folder|directory|branch|name|file|place|way)
      |unknown\ (?:option|flag|argument|command|parameter)|errored|timed\ out|traceback|complain(?:s|ed|ing)
      |tripp(?:ed|ing)|stumbl|chok(?:ed|es)|hiccup|snag\b|blew\ up|broke\b
      |retrying|let\ me\ (?:re)?try\b|try(?:ing)?\ (?:it\ |that\ |this\ )?again
      |(?:second|another|new)\ (?:attempt|try)\b
      |(?:it|that|this|which|what|command|call|attempt|edit|push|one|ci)\ (?:has\ |have\ )?failed
      |entschuldig|fehlgeschlagen|désolé|échoué|lo\ siento|falló)|失败|失敗"""
)
# Mentions of failures. A request to fix one (below) is a request like any other.
_FAILS = LazyRegex(
    r"(?i)\b(?:(?:fail(?:s|ed|ing|ures?)?|crash(?:es|ed|ing)?|broken|(?:an?|the|this|that|same|got|hit|with|of) errors?"
    r"|errors? (?:is|was|says?|said|occurred|came))\b|error:)"
)
_ASKS_FIX = LazyRegex(
    r"(?i)\W*(?:(?:please|now|then|also|next|and|hey|hi|can you|could you|would you|help me|i want you to"
    r"|i(?:['’]d| would) like you to)\b[\s,]*)*(?:fix|repair|resolve|debug|correct|address|solve|handle|make)\b"
)
_ACTS = LazyRegex(r"(?is)\A\s*(?:thought\s*:?\s*)?(.*?)\s*(?:\baction\s*:.*)?\Z")
# A yes belongs to the question it answered; shown elsewhere it would be an approval that no one gave.
_ASSENT = LazyRegex(
    r"(?i)\W*(?:yes|yeah|yep|yup|ok(?:ay)?|sure(?: thing)?|correct|right|perfect|great|good|fine|absolutely|exactly"
    r"|proceed|approved?|confirm(?:ed)?|lgtm|thank(?:s| you)\b[^.!?]{0,80}|of course|definitely|please"
    r"|(?:please )?do (?:so|it)"
    r"|go (?:ahead|on|for it)|sounds? good|looks? good|i (?:agree|confirm|approve)"
    r"|(?:that|this|it|those|everything|all)(?:['’]?s| is| are| looks?| sounds?)?(?: all| absolutely| exactly| just)?"
    r" (?:right|correct|perfect|fine|good|great|the ones?|it))(?=\s*(?:[,.!;:…—-]|\Z))[\s,.!;:…—-]*"
)
_DATA = LazyRegex(r"\A\s*[\[{<]")


def words_before(call: JudgedCall) -> str:
    """The words that led to a call, if they can be shown: those of the same turn, or none.

    The scan chose among the words of the turn; the borders between turns are no longer known here.
    """
    words = spoken(call.intent or "")
    return "" if reports_failure(words) or asks_leave(words) else words


@lru_cache(maxsize=4096)
def reports_failure(words: str) -> bool:
    """Whether words report or excuse a failure; a request to fix one does neither."""
    if _FAILURE_REPORTS.compiled.search(words):
        return True
    return _FAILS.compiled.search(words) is not None and not _ASKS_FIX.compiled.match(words)


def vagueness(words: str, about: frozenset[str], given: str) -> int:
    """How little the words say about a call: 0 they name it, 1 much, 2 little or about something else, 3 nothing."""
    if not words:
        return 3
    ids, said = _reading(words)
    if any(number not in given for number in ids):
        return 2
    if not about.isdisjoint(said):
        return 0
    return 1 if words.count(" ") >= _MANY_WORDS - 1 else 2


@lru_cache(maxsize=4096)
def _reading(words: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """The ids in a text, and the stems of its words."""
    return tuple(NUMERIC_IDS.compiled.findall(words)), stems(words)


@lru_cache(maxsize=1024)
def stems(text: str) -> frozenset[str]:
    """The beginnings of the words of a text, so that `cancelled` matches `cancel_order`."""
    return frozenset(word[:_STEM_CHARS].lower() for word in _WORDS.compiled.findall(text))


@lru_cache(maxsize=1024)
def spoken(text: str) -> str:
    """The words without the call that some agents write into them; empty if nothing is left."""
    found = _ACTS.compiled.match(text[:_READ])
    words = " ".join((found.group(1) if found else "").split())
    while assent := _ASSENT.compiled.match(words):
        words = words[assent.end() :]
    if len(words) < _FEWEST_CHARS or (words.isascii() and words.count(" ") < _FEWEST_WORDS - 1):
        return ""
    return "" if _DATA.compiled.match(words) else words


KIND_RANK: dict[ExampleKind, int] = {"recovery": 0, "init": 1, "final": 2, "sequence": 3}
# If at least this many sources make the same call, they are compared: a repair represents them if at least this share
# of them needed it.
_FEWEST_COMPARED = 10
_REPAIRED_SHARE = 0.1
# A word is common if at least this share of the sources uses it.
_COMMON = 0.2
# Kinds of evidence that rest on words alone.
_WEAK = frozenset({"wording", "none"})
# More support than this adds no merit, so that planted sessions cannot win by numbers.
_ENOUGH = 5
_LETTERS = LazyRegex(r"[^\W\d_]{3,}")


class ExampleCandidate(msgspec.Struct, frozen=True, dict=True):
    """A call that worked, with what mining found about it; costly properties are computed when first used."""

    track: Track
    call: JudgedCall
    target: CallTarget
    pattern: str
    # The tool, for a shell with the program. Each step gets one example before any gets a second.
    step: str
    kinds: frozenset[ExampleKind]
    max_argument_chars: int
    is_plain: bool = False  # a shell command that only looks around, which needs no example
    repair: Repair | None = None
    failed: JudgedCall | None = None
    # Whether the repair changed how the call is written, and not just what it is about.
    is_rewritten: bool = False
    is_doubtful: bool = False  # calls of its form have failed since, in several lineages
    written: float = 0.0  # when the file of its session was written, for sessions without times

    @property
    def time(self) -> float | None:
        return self.call.time if self.call.time is not None else self.track.ended

    @property
    def moment(self) -> tuple[float, int]:
        """When it was made, and its position in the session; always known, so that candidates have an order."""
        return (self.written if self.time is None else self.time), self.call.position

    @property
    def project(self) -> str:
        """The project whose habit it is; empty for a session of none."""
        return self.track.project or ""

    @property
    def command(self) -> str | None:
        """The shell command that it ran; None when it ran none."""
        return self.target.command

    @cached_property
    def intent(self) -> str:
        """The words before the call, if they can be shown."""
        return words_before(self.call)

    @cached_property
    def vagueness(self) -> int:
        """How little its intent says about it: 0 names it, 3 says nothing."""
        return vagueness(self.intent, stems(self.step), self.call.raw_arguments)

    @cached_property
    def words(self) -> frozenset[str]:
        """The words before it and in its arguments."""
        return frozenset(_LETTERS.compiled.findall(f"{self.intent} {self.call.raw_arguments}".casefold()))

    @cached_property
    def can_show(self) -> bool:
        """Whether it may represent the others: complete, short, and a call that may be shown."""
        given = self.target.arguments
        if len(self.call.raw_arguments) > self.max_argument_chars or not is_whole(self.call) or is_escalated(given):
            return False
        if self.command is not None and ("<<" in self.command or self.command.count("\n") > 3):
            return False
        return bool(admit_call(self.target.tool, without_remarks(self.target.tool, given), project=self.project))


class CandidateGroup(msgspec.Struct, frozen=True):
    """All calls of one pattern in one project: an example keeps its real names, so it is that project's alone."""

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


def group(candidates: Iterable[ExampleCandidate], options: MiningOptions) -> list[CandidateGroup]:
    """A group for each pattern of a project that is worth keeping and has a call that can be shown."""
    by_pattern: dict[tuple[str, str], list[ExampleCandidate]] = {}
    lineages: dict[str, set[str]] = {}
    for candidate in candidates:
        by_pattern.setdefault((candidate.project, candidate.pattern), []).append(candidate)
        lineages.setdefault(candidate.project, set()).add(candidate.track.root)
    groups = []
    for (project, pattern), alike in sorted(by_pattern.items()):
        is_small = len(lineages[project]) < 2 * options.fewest_lineages
        support = len({candidate.track.root for candidate in alike})
        kind = _kind(alike, support, options, is_small=is_small)
        if kind is None or not any(candidate.can_show for candidate in alike):
            continue
        common = _common_words(alike, support)
        best = next(candidate for candidate in best_first(kind, alike, Counter(), common) if candidate.can_show)
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


def best_first(
    kind: ExampleKind,
    candidates: Sequence[ExampleCandidate],
    supplied: Mapping[str, int],
    common: frozenset[str] | None = None,
) -> Iterator[ExampleCandidate]:
    """The candidates, best first; of equals, those whose lineage has supplied less come first.

    If many sessions make the same call, one with `common` words represents them. Costly properties are computed only
    for candidates that cheap ones did not rank lower. Whether a call can be shown costs most and is left to the caller.
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
    """Whether only few of the sources repaired a mistake with this call, and most made it at once."""
    roots = {candidate.track.root for candidate in candidates}
    repaired = {candidate.track.root for candidate in candidates if "recovery" in candidate.kinds}
    return len(repaired) < _REPAIRED_SHARE * len(roots)


def _common_words(candidates: Sequence[ExampleCandidate], support: int) -> frozenset[str] | None:
    """The words that many of the sources use in calls of a group; None if there are too few to compare."""
    if support < _FEWEST_COMPARED:
        return None
    by_root: dict[str, set[str]] = {}
    for candidate in candidates:
        by_root.setdefault(candidate.track.root, set()).update(candidate.words)
    used = Counter(word for words in by_root.values() for word in words)
    return frozenset(word for word, times in used.items() if times >= _COMMON * len(by_root))


def in_rounds(groups: Sequence[CandidateGroup], failures: Mapping[str, int]) -> list[CandidateGroup]:
    """The best group of every step, then the second of each; steps with repairs or most failures come first."""
    steps: dict[tuple[str, str], list[CandidateGroup]] = {}
    for one in sorted(groups, key=lambda one: one.merit):
        steps.setdefault((one.candidates[0].project, one.step), []).append(one)

    def rank(step: tuple[str, str]) -> tuple[Any, ...]:
        best = steps[step][0]
        return (best.merit[0], -failures.get(best.tool, 0), -max(one.support for one in steps[step]), step)

    ordered = sorted(steps, key=rank)
    longest = max((len(one) for one in steps.values()), default=0)
    return [steps[step][turn] for turn in range(longest) for step in ordered if turn < len(steps[step])]


_LOOKS = ("file_read", "search", "web")


def gather(worked: WorkedCalls, options: MiningOptions, written: float = 0.0) -> Iterator[ExampleCandidate]:
    """The candidates of one session, in the order of its calls."""
    track, positions = worked.track, worked.positions
    lessons = _lessons(worked)
    firsts = _firsts(track.calls, positions)
    lasts = _lasts(worked)
    for at in positions:
        call, target = track.calls[at], worked.targets[at]
        kinds: set[ExampleKind] = set()
        if at in lessons:
            kinds.add("recovery")
        if at in firsts:
            kinds.add("init")
        if at in lasts:
            kinds.add("final")
        repair = lessons.get(at)
        failed = None if repair is None else track.calls[repair.failed]
        pattern = pattern_of_target(target)
        yield ExampleCandidate(
            track,
            call,
            target,
            pattern,
            step_of(target),
            frozenset(kinds),
            options.max_argument_chars,
            is_look(target),
            repair,
            failed,
            failed is not None and pattern_of(failed.tool, failed.arguments) != pattern,
            written=written,
        )


def _lessons(worked: WorkedCalls) -> dict[int, Repair]:
    """Repairs that changed the call, by the call that worked; of several failed attempts, the last."""
    found = {}
    calls, positions = worked.track.calls, set(worked.positions)
    for repair in repairs(calls, targets=worked.targets):
        if repair.repaired in positions and teaches(repair, calls):
            found[repair.repaired] = repair
    return found


def teaches(repair: Repair, calls: Sequence[JudgedCall]) -> bool:
    """Whether the change of the call repaired it, and not an edit in between, another try, or luck."""
    failed, repaired = calls[repair.failed], calls[repair.repaired]
    # A failure of the environment, or the same call again, teaches nothing about writing it.
    if failed.fault == "environment" or failed.raw_arguments == repaired.raw_arguments:
        return False
    # Something done in between made a failing check pass, or what differs is not in the call.
    was_fixed = is_signal(failed) and any(step.kind in ("edit", "run") for step in repair.steps)
    if not repair.changed or was_fixed:
        return False
    return _complained(failed) <= {step.program for step in parse(repaired.command or "")}


def _complained(failed: JudgedCall) -> set[str]:
    """The program that the error names, if the failed command ran it: a repair must run it again."""
    said = failed.reason.partition(":")[0].split()
    return {step.program for step in parse(failed.command or "") if said and step.program == said[-1]}


def _firsts(calls: Sequence[JudgedCall], positions: Sequence[int]) -> set[int]:
    """The first call of each tool that worked."""
    seen: dict[str, int] = {}
    for at in positions:
        seen.setdefault(calls[at].tool, at)
    return set(seen.values())


def _lasts(worked: WorkedCalls) -> set[int]:
    """The last call of the session and of each turn, unless it only looked around."""
    calls, positions = worked.track.calls, worked.positions
    closing = set(positions[-1:])
    for at, following in pairwise(positions):
        if _ends_turn(calls, at, following):
            closing.add(at)
    return {at for at in closing if tool_of(calls[at].tool).form not in _LOOKS and not is_look(worked.targets[at])}


def _ends_turn(calls: Sequence[JudgedCall], at: int, following: int) -> bool:
    """Whether the user spoke before the next call: there are enough messages in between, and the words differ."""
    if following != at + 1 or calls[at].intent == calls[following].intent:
        return False
    # Turns are not stored: an answer and a request in between take at least three messages.
    together = sum(other.message == calls[at].message for other in calls[max(0, at - 20) : at + 1])
    return calls[following].message >= calls[at].message + together + 3
