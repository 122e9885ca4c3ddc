"""Out of one session the calls that are worth keeping: each with its kinds, its pattern and the words before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from seasoned.insight.aim import Aim
from seasoned.insight.likeness import IDS
from seasoned.insight.repair import Repair, repairs
from seasoned.insight.track import JudgedCall
from seasoned.outcome.command import parse
from seasoned.outcome.pattern import Pattern
from seasoned.outcome.tool import tool_of
from seasoned.template.admit import MiningOptions, Worked, is_escalated, is_risky, is_whole
from seasoned.template.example import ExampleKind
from seasoned.template.merge import Member, is_look, pattern_of, pattern_of_aim, step_of

_LOOKED_BACK = 8
"""Calls before this one in which words are sought that it follows from."""
_FEWEST_CHARS = 12
_FEWEST_WORDS = 3
_READ = 400
_MANY_WORDS = 6
_CLEAR = 1
_STEM_CHARS = 5
_WORDS = Pattern(r"[A-Z]?[a-z]{3,}|[A-Z]{4,}")
_REGRETS = Pattern(r"(?i)\b(?:sorry|apolog|cannot|can['’]t|unable|mistake|oops|wrong|remember|fail|error|broken)")
_ACTS = Pattern(r"(?is)\A\s*(?:thought\s*:?\s*)?(.*?)\s*(?:\baction\s*:.*)?\Z")
_ASSENT = Pattern(
    r"(?i)\W*(?:yes|yeah|yep|yup|ok(?:ay)?|sure(?: thing)?|correct|right|perfect|great|good|fine|absolutely|exactly"
    r"|proceed|approved?|confirm(?:ed)?|lgtm|thank(?:s| you)\b[^.!?]{0,80}|of course|definitely|please"
    r"|(?:please )?do (?:so|it)"
    r"|go (?:ahead|on|for it)|sounds? good|looks? good|i (?:agree|confirm|approve)"
    r"|(?:that|this|it|those|everything|all)(?:['’]?s| is| are| looks?| sounds?)?(?: all| absolutely| exactly| just)?"
    r" (?:right|correct|perfect|fine|good|great|the ones?|it))(?=\s*(?:[,.!;:…—-]|\Z))[\s,.!;:…—-]*"
)
"""A yes belongs to the one question that it answered; shown elsewhere it would be an approval that nobody gave."""
_DATA = Pattern(r"\A\s*[\[{<]")
_ELSEWHERE = ("after ", "same call", "with `sleep` before")
"""How a repair is described that the call itself did not make: an edit in between, another try, waiting."""
_LOOKS = ("file_read", "search", "web")


def gather(worked: Worked, options: MiningOptions, source: str) -> Iterator[Member]:
    """The members of one session, in order."""
    track, positions = worked.track, worked.positions
    mended = _lessons(worked)
    firsts = _firsts(track.calls, positions)
    lasts = _lasts(worked)
    for at in positions:
        call = track.calls[at]
        kinds: set[ExampleKind] = set()
        if at in mended:
            kinds.add("recovery")
        if at in firsts:
            kinds.add("init")
        if at in lasts:
            kinds.add("final")
        repair = mended.get(at)
        failed = None if repair is None else track.calls[repair.failed]
        aim, command = worked.aim(at), worked.command(at)
        pattern, step = pattern_of_aim(aim, command), step_of(aim, command)
        about = stems(step)
        words = words_before(track.calls, at, about)
        yield Member(
            track,
            call,
            aim,
            command,
            pattern,
            step,
            frozenset(kinds),
            words,
            vagueness(words, about, call.raw_arguments),
            source,
            is_look(aim, command),
            _can_show(call, aim, command, options),
            repair,
            failed,
            failed is not None and pattern_of(failed.tool, failed.arguments) != pattern,
        )


def _lessons(worked: Worked) -> dict[int, Repair]:
    """Repairs whose call made the difference, by the call that worked; of several failed attempts the last one."""
    found = {}
    calls, positions = worked.track.calls, set(worked.positions)
    for repair in repairs(calls):
        if repair.repaired in positions and teaches(repair, calls):
            found[repair.repaired] = repair
    return found


def teaches(repair: Repair, calls: Sequence[JudgedCall]) -> bool:
    """Whether what changed in the call repaired it, and not an edit in between, another try, or luck."""
    failed, repaired = calls[repair.failed], calls[repair.repaired]
    if failed.fault == "environment" or failed.raw_arguments == repaired.raw_arguments:
        return False
    if not repair.changed or repair.how.startswith(_ELSEWHERE):
        return False
    return _complained(failed) <= {step.program for step in parse(repaired.command or "")}


def _complained(failed: JudgedCall) -> set[str]:
    """The program that complained by its name, where the failed command ran it: a repair must run it again."""
    said = failed.reason.partition(":")[0].split()
    return {step.program for step in parse(failed.command or "") if said and step.program == said[-1]}


def _firsts(calls: Sequence[JudgedCall], positions: Sequence[int]) -> set[int]:
    """The first call of each tool that worked."""
    seen: dict[str, int] = {}
    for at in positions:
        seen.setdefault(calls[at].tool, at)
    return set(seen.values())


def _lasts(worked: Worked) -> set[int]:
    """What closed the session, or a turn of it: the last call, where it did something and did not merely look."""
    calls, positions = worked.track.calls, worked.positions
    closing = set(positions[-1:])
    for at, following in pairwise(positions):
        if _ends_turn(calls, at, following):
            closing.add(at)
    return {
        at
        for at in closing
        if tool_of(calls[at].tool).speaks not in _LOOKS and not is_look(worked.aim(at), worked.command(at))
    }


def _ends_turn(calls: Sequence[JudgedCall], at: int, following: int) -> bool:
    """Whether the user spoke before the next call: there is room for an answer and a request, and the words differ."""
    if following != at + 1 or calls[at].intent == calls[following].intent:
        return False
    together = sum(other.message == calls[at].message for other in calls[max(0, at - 20) : at + 1])
    return calls[following].message >= calls[at].message + together + 3


def _can_show(call: JudgedCall, aim: Aim, command: str | None, options: MiningOptions) -> bool:
    if len(call.raw_arguments) > options.max_argument_chars or not is_whole(call) or is_escalated(aim.arguments):
        return False
    return command is None or not ("<<" in command or command.count("\n") > 3 or is_risky(command))


def words_before(calls: Sequence[JudgedCall], at: int, about: frozenset[str]) -> str:
    """What a call follows from: the words right before it where they are clear, else those before calls above it."""
    own = spoken(calls[at].intent or "")
    given = calls[at].raw_arguments
    if vagueness(own, about, given) <= _CLEAR:
        return own
    first = own
    for position in range(at - 1, max(-1, at - _LOOKED_BACK), -1):
        words = spoken(calls[position].intent or "")
        if words and vagueness(words, about, given) == 0:
            return words
        first = first or words
    return first


def vagueness(words: str, about: frozenset[str], given: str) -> int:
    """How little words say about a call: 0 names it, 1 says much, 2 is short, regrets or is about others, 3 nothing."""
    if not words:
        return 3
    regrets, ids, said = _reading(words)
    if regrets or any(number not in given for number in ids):
        return 2
    if not about.isdisjoint(said):
        return 0
    return 1 if words.count(" ") >= _MANY_WORDS - 1 else 2


@lru_cache(maxsize=4096)
def _reading(words: str) -> tuple[bool, tuple[str, ...], frozenset[str]]:
    """Whether words regret something, which ids they name, and how their words begin."""
    return _REGRETS.compiled.search(words) is not None, tuple(IDS.compiled.findall(words)), stems(words)


@lru_cache(maxsize=1024)
def stems(text: str) -> frozenset[str]:
    """The words of a text by how they begin, so that `cancelled` and `cancel_order` meet."""
    return frozenset(word[:_STEM_CHARS].lower() for word in _WORDS.compiled.findall(text))


@lru_cache(maxsize=1024)
def spoken(text: str) -> str:
    """Words without the call that some agents spell out in them; nothing where there are no words."""
    found = _ACTS.compiled.match(text[:_READ])
    words = " ".join((found.group(1) if found else "").split())
    while assent := _ASSENT.compiled.match(words):
        words = words[assent.end() :]
    if len(words) < _FEWEST_CHARS or (words.isascii() and words.count(" ") < _FEWEST_WORDS - 1):
        return ""
    return "" if _DATA.compiled.match(words) else words
