"""The words before a call: what of them can be shown, and how much they say about it."""

from __future__ import annotations

from functools import lru_cache

from seasoned.insight.mistake.similarity import IDS
from seasoned.insight.track import JudgedCall
from seasoned.lazy_regex import LazyRegex
from seasoned.scan.intent import asks_leave

_FEWEST_CHARS = 12
_FEWEST_WORDS = 3
_READ = 400
_MANY_WORDS = 6
_STEM_CHARS = 5
_WORDS = LazyRegex(r"[A-Z]?[a-z]{3,}|[A-Z]{4,}")
# Reports of failures and excuses: shown before a call that worked, they would teach the failure.
_REGRETS = LazyRegex(
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
# A yes belongs to the one question that it answered; shown elsewhere it would be an approval that was not given.
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
    """The words that led to a call, as far as they can be shown: those of the same turn, or none.

    The scan saw the turns and chose among the words of this one; from here a border between turns cannot be told.
    """
    words = spoken(call.intent or "")
    return "" if regrets(words) or asks_leave(words) else words


@lru_cache(maxsize=4096)
def regrets(words: str) -> bool:
    """Whether words report or excuse a failure; a request to fix one does not."""
    if _REGRETS.compiled.search(words):
        return True
    return _FAILS.compiled.search(words) is not None and not _ASKS_FIX.compiled.match(words)


def vagueness(words: str, about: frozenset[str], given: str) -> int:
    """How little words say about a call: 0 names it, 1 says much, 2 is short or about something else, 3 nothing."""
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
    return tuple(IDS.compiled.findall(words)), stems(words)


@lru_cache(maxsize=1024)
def stems(text: str) -> frozenset[str]:
    """The beginnings of the words of a text, so that `cancelled` matches `cancel_order`."""
    return frozenset(word[:_STEM_CHARS].lower() for word in _WORDS.compiled.findall(text))


@lru_cache(maxsize=1024)
def spoken(text: str) -> str:
    """The words without the call that some agents write in them; empty if no words are left."""
    found = _ACTS.compiled.match(text[:_READ])
    words = " ".join((found.group(1) if found else "").split())
    while assent := _ASSENT.compiled.match(words):
        words = words[assent.end() :]
    if len(words) < _FEWEST_CHARS or (words.isascii() and words.count(" ") < _FEWEST_WORDS - 1):
        return ""
    return "" if _DATA.compiled.match(words) else words
