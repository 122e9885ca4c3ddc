"""Finds the sentences in which a person says how to work here, beyond the task: "never open PRs against release".

Most orders are for the task at hand: in other people's histories one message in 200 holds a rule, and of 98 sentences
with "never", "always", "don't" and the like seven were rules. So a sentence must say by its words that it lasts, and
point at nothing that only its conversation knows; any other order waits until a second session hears it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from seasoned.command.parse import names
from seasoned.command.rows import group
from seasoned.digest import short_digest
from seasoned.lazy_regex import LazyRegex

# Longer messages are specifications, plans and pasted texts: what must always hold there is the product.
MOST_CHARS = 800
_SENTENCE_CHARS = 200
_FEWEST_CHARS = 12
# Every rule has one of these: looking for them takes a tenth of the time of the expressions below.
# fmt: off
_MARKS = (
    "always", "never", "n't", "n’t", "dont", "do not", "make no", ", not", "only", "prefer", "avoid",
    "now on", "longer", "every", "each", "instead", "rather than", "we use", "as you go", "as we go",
    "along the way", "remember", "before", "after", "this repo", "this project", "this codebase",
)
# fmt: on
_FENCED = LazyRegex(r"```.*?(?:```|\Z)", re.DOTALL)
_ENDS = LazyRegex(r"(?<=[.!?])\s+|\n+|\.\.+|;\s+")
# What a sentence begins with and a rule does without. "From now on, always" would also read like an injected order.
_LEAD = LazyRegex(
    r"""(?ix)\A(?:[\s\d.)(*•#-]+ | (?:from\ now\ on|by\ the\ way
    | you\ (?:must|should|need\ to|have\ to)(?!\ (?:not|n['’]t))
    | ok(?:ay)?|no|nope|yes|yeah|hm+|also|and|but|so|please|actually|hey|btw|wait
    | (?:note|important|remember|reminder)(?=[:,!]))\b[\s,:!.…-]*)+"""
)
_NOT = r"(?:do\ not|don['’]?t|never)"
# On a text in lower case: ignoring case would take twice as long.
_LASTS = LazyRegex(
    rf"""(?x)\A(?:always|never|prefer|avoid|we\ (?:only|use|no\ longer\ \w+))\b
    | \Awe\ do(?:\ not|n['’]?t)\ (?:use|do|commit|push|merge|write|add|support|import|mock)\b
    | \bfrom\ now\ on\b | ,\ (?:please\ )?(?:always|never)\b | \b(?:as\ (?:you|we)\ go|along\ the\ way)\b
    | \b(?:we|(?:you|we)\ (?:should|must|need\ to|have\ to|can|do))\ (?:always|never)\b
    | \bi\ (?:(?:always|never)\ want|want\ you\ to\ (?:always|never)|no\ longer\ use)\b
    | \bmake\ sure\ (?:always|never)\b | \bremember\ (?:to|that\ (?:you|we)|we)\b
    | \bdo(?:\ not|n['’]?t)\ ever\b | \bask\ (?:me\ )?(?:first\ )?before\b
    | \bthis\ (?:repo(?:sitory)?|project|codebase)\ (?:only\ )?uses\b
    | \b{_NOT}\ (?:\S+\ ){{1,9}}?(?:without|unless|until\ (?:i|you)
        | (?:in|to)\ (?:the\ |your\ |our\ )?(?:commits?|commit\ messages?|prs?|pull\ requests?))\b
    | \bonly\ (?:\S+\ ){{1,8}}?(?:when|if|after)\ i\b
    | \b(?:before|after|for|with)\ (?:each|every|any)\ (?:change|commit|step|task|feature|edit|pr|push|merge|fix)\b
    | \b(?:before|after)\ (?:you\ )?(?:committing|commit|pushing|push|merging|opening|creating|editing|changing)\b"""
)
# An order that may be for the task alone: it becomes a rule once another session hears it too.
_ORDER = LazyRegex(
    r"(?i)(?:\A|, )((?:do not|don['’]?t|make no) (?!have|know|want|need|see|care|remember|\w+ anything)[^,]{8,})\Z"
)
_USE = LazyRegex(r"(?i)\A(?:we )?use (`[^`]+`|\S+)(?: \S+)?,? (?:not|never|instead(?: of)?|rather than|over)\b")
# A question, an offer or a heading; and what points into the conversation or at this hour.
_NO_RULE = LazyRegex(
    r"""(?ix)[?:]\W*\Z | :// | \[redacted:
    | \A(?:if\ (?!you|we)|can|could|should|would|do\ (?:you|we)|does|is|are|why|what|how|did)\b
    | \A(?:maybe|sounds|let['’]?s)\b | \Ai(?:['’]m)?\ (?!want|always|never|no\ longer) | \bnever\ mind\b
    | \b(?:yet|for\ now|right\ now|now(?!\ on\b)|these|those|it|its|above|below|currently|today|then|again)\b
    | \b(?:still|back|anymore|he|she|they|them)\b | \bthis\b(?!\ (?:repo|repository|project|codebase)\b)
    | \bthat\Z | \bthat\ (?:one|is|was)\b
    | \b(?:do|did|like|with|of|to|use|want|for|about|on|from|in|after|before|than|is|and|remove)\ that\b"""
)
_WORD = LazyRegex(r"[a-z0-9][a-z0-9_./'’+-]*")
_NEGATIONS = names("not no never avoid stop without instead than over don't dont")
_EMPTY = names(
    "a an the to of in on at for with by and or is are be do does it this that you your we our i me my always please"
    " make sure remember must should need have want will can us also just use using any all ever"
)


class SpokenRule(msgspec.Struct, frozen=True, array_like=True):
    """A rule as a person said it; sentences with the same content words have the same key."""

    key: str
    text: str
    said_at: float | None = None
    lasts: bool = True  # by its own words; other orders are rules only if they are repeated


def spoken_rules(words: str, said_at: float | None = None) -> Iterator[SpokenRule]:
    """The rules in a person's message, which holds no secrets any more."""
    if len(words) > MOST_CHARS or words.startswith("/") or not _is_marked(words):
        return
    plain = _FENCED.compiled.sub("\n", words) if "```" in words else words
    for part in _ENDS.compiled.split(plain):
        if len(part) < _FEWEST_CHARS or not _is_marked(part):
            continue
        sentence = " ".join(part.split())
        lead = _LEAD.compiled.match(sentence)
        text = sentence[lead.end() if lead else 0 :].rstrip(" .!)")
        if not _FEWEST_CHARS <= len(text) <= _SENTENCE_CHARS:
            continue
        lower = text.lower()
        lasts = (
            _LASTS.compiled.search(lower)
            or (lead and _LASTS.compiled.search(lead[0].lower()))
            or _prefers_program(text)
        )
        order = None if lasts else _ORDER.compiled.search(text)
        text = order[1] if order else text
        if (lasts or order) and not _NO_RULE.compiled.search(sentence) and (key := _key(text)):
            yield SpokenRule(key, text, said_at, bool(lasts))


def _is_marked(text: str) -> bool:
    lower = text.lower()
    return any(mark in lower for mark in _MARKS)


def _prefers_program(text: str) -> bool:
    """Whether it says to use one program and not another: "use uv, not pip"; icons and titles are the task."""
    found = _USE.compiled.match(text)
    programs = ("task_runners", "text_takers", "readers")
    return found is not None and (found[1][0] == "`" or any(found[1].strip(",") in group(one) for one in programs))


def same_rule(text: str, quote: str) -> SpokenRule | None:
    """The rule that a person's sentence holds, worded like `text` if that says nothing else; None if it holds none."""
    found = next(spoken_rules(quote), None)
    worded = " ".join(text.split()).rstrip(" .!)")
    if found is None or not worded or len(worded) > _SENTENCE_CHARS or not _content(worded) <= _content(found.text):
        return found
    return msgspec.structs.replace(found, text=worded)


def _key(text: str) -> str | None:
    """The digest of what it says, whatever the order."""
    found = _content(text)
    return short_digest(*sorted(found)) if found else None


def _content(text: str) -> set[str]:
    """Its words without empty ones; what follows a "not" counts as the opposite."""
    found, sign = set(), ""
    for word in _WORD.compiled.findall(text.lower().replace("’", "'")):
        if word in _NEGATIONS:
            sign = "!"
        elif word not in _EMPTY:
            found.add(sign + word.rstrip(".s"))
    return found
