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
from seasoned.scan.intent import asks_leave
from seasoned.template.admit import MiningOptions, Worked, is_escalated, is_whole
from seasoned.template.example import ExampleKind
from seasoned.template.merge import Member, is_look, pattern_of, pattern_of_aim, step_of
from seasoned.template.risk import is_risky_call

_FEWEST_CHARS = 12
_FEWEST_WORDS = 3
_READ = 400
_MANY_WORDS = 6
_STEM_CHARS = 5
_WORDS = Pattern(r"[A-Z]?[a-z]{3,}|[A-Z]{4,}")
_REGRETS = Pattern(
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
"""A failure that is told, or an excuse: shown before a call that worked, it would teach the failure."""
_FAILS = Pattern(
    r"(?i)\b(?:(?:fail(?:s|ed|ing|ures?)?|crash(?:es|ed|ing)?|broken|(?:an?|the|this|that|same|got|hit|with|of) errors?"
    r"|errors? (?:is|was|says?|said|occurred|came))\b|error:)"
)
"""A failure that is named. Whoever asks for it to be mended asks for just that."""
_MENDS = Pattern(
    r"(?i)\W*(?:(?:please|now|then|also|next|and|hey|hi|can you|could you|would you|help me|i want you to"
    r"|i(?:['’]d| would) like you to)\b[\s,]*)*(?:fix|repair|mend|resolve|debug|correct|address|solve|handle|make)\b"
)
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
        words = words_before(call)
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
    if command is not None and ("<<" in command or command.count("\n") > 3):
        return False
    return not is_risky_call(aim.tool, aim.arguments)


def words_before(call: JudgedCall) -> str:
    """What a call follows from, as far as it can be shown: short words of its own, or none, never those of another.

    The scan saw the turns and chose among the words of this one; from here a border between turns cannot be told.
    """
    words = spoken(call.intent or "")
    return "" if regrets(words) or asks_leave(words) else words


@lru_cache(maxsize=4096)
def regrets(words: str) -> bool:
    """Whether words tell of a failure or excuse one; a request to mend what fails does not."""
    if _REGRETS.compiled.search(words):
        return True
    return _FAILS.compiled.search(words) is not None and not _MENDS.compiled.match(words)


def vagueness(words: str, about: frozenset[str], given: str) -> int:
    """How little words say about a call: 0 names it, 1 says much, 2 is short or is about others, 3 nothing."""
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
    """Which ids words name, and how they begin."""
    return tuple(IDS.compiled.findall(words)), stems(words)


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
