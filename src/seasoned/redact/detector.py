"""Finds secrets in a text: one automaton finds the anchors of all rules, and a rule looks only where its own stands.

What has no anchor is a long word: known formats, card numbers, encoded text, and words that look drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from seasoned.lazy_regex import LazyRegex
from seasoned.redact.assignment import find_assignments
from seasoned.redact.place import (
    BASE64,
    find_blocks,
    find_emails,
    find_iban,
    find_in_base64,
    find_in_manifests,
    find_in_percent,
    find_in_urls,
    find_key_parts,
    find_numbers,
    find_phones,
    find_phrases,
)
from seasoned.redact.program import PROGRAMS, find_arguments
from seasoned.redact.rules import HASHES, PLACES, RULES, WORD_RULES, Rule
from seasoned.redact.value import FOREIGN, Hit, find_drawn, is_made, is_pair, is_placeholder, is_random

# Encodings within encodings: deeper ones are rare, and a limit keeps hostile texts cheap.
DEEPEST = 3
SHORTEST = 8  # no secret is known by itself in fewer characters
AHEAD = 300  # how far a rule looks that begins before its anchor
# How anchors are looked for: small letters, and a 0 for every figure. One byte a character, so that places are equal.
SMALL = bytes(48 if 48 <= c <= 57 else c + 32 if 65 <= c <= 90 else c for c in range(256))
# Words of names.
NAMES = (
    "pass", "secret", "token", "key", "auth", "cred", "cookie", "psk", "salt", "pepper", "_pat", "pw",
    *[name for name in FOREIGN if name.isascii()],
)  # fmt: skip
# Beyond ASCII: looked for only in texts that have such letters.
FOREIGN_NAMES = LazyRegex("|".join([name for name in FOREIGN if not name.isascii()]))
Found = list[tuple[int, int, int]]
Find = Callable[[str, str, list[int]], Iterable[Hit]]
# A name, a program, a rule, or what looks at all places of its signs together.
Action = None | str | Rule | Find


def _find_encoded(text: str, low: str, places: list[int]) -> Iterable[Hit]:
    return find_in_percent(text, lambda inner: scan(inner, DEEPEST))


SIGNS: tuple[tuple[Find, tuple[str, ...]], ...] = (
    (find_emails, ("@",)),
    (find_in_urls, ("@",)),
    (_find_encoded, ("%0",)),
    (find_in_manifests, ("stringdata", "secret")),
    (find_key_parts, ("kty",)),
    (find_blocks, ("private key", "static key", "private-lines")),
    (find_phrases, ("phrase", "seed", "mnemonic", "words")),
    (find_phones, ("phone", "mobile", "tel:", "whatsapp", "fax", "cell:")),
    (find_numbers, ("0000 0000 00", "0000-0000-00", "0000 000000 0", "0000-000000-0", "0" * 14)),
)


def _actions() -> dict[bytes, list[Action]]:
    """What to do at each anchor."""
    done: dict[bytes, list[Action]] = {}

    def add(anchor: str, action: Action) -> None:
        done.setdefault(anchor.encode().translate(SMALL), []).append(action)

    for name in NAMES:
        add(name, None)
    for program in PROGRAMS:
        add(program, program)
    for rule in (*RULES, *HASHES, *PLACES):
        for anchor in rule.anchors:
            add(anchor, rule)
    for find, anchors in SIGNS:
        for anchor in anchors:
            add(anchor, find)
    return done


ACTIONS = _actions()
ANCHORS = list(ACTIONS)
AT_ANCHOR = list(ACTIONS.values())


def find_plainly(data: bytes, overlapping: bool = True) -> Found:
    """Number, start and end of every anchor, ordered by their ends: what the library does in a tenth of the time."""
    found: Found = []
    for number, anchor in enumerate(ANCHORS):
        at = data.find(anchor)
        while at >= 0:
            found.append((number, at, at + len(anchor)))
            at = data.find(anchor, at + 1)
    return sorted(found, key=lambda place: place[2])


def _automaton() -> Callable[[bytes, bool], Found]:
    try:
        from ahocorasick_rs import BytesAhoCorasick, Implementation
    except ImportError:  # no wheel of it is published for this machine
        return find_plainly
    found: Callable[[bytes, bool], Found] = BytesAhoCorasick(
        ANCHORS, implementation=Implementation.DFA
    ).find_matches_as_indexes
    return found


find_anchors = _automaton()


def scan(text: str, depth: int = 0) -> list[Hit]:
    """Every hit, unordered and possibly overlapping."""
    if len(text) < SHORTEST:
        return []
    data = text.encode("ascii", "replace")
    found = find_anchors(data.translate(SMALL), True)
    joined = data.translate(JOINED)
    hits: list[Hit] = []
    if found or not text.isascii():
        _at_anchors(text, found, hits)
    if RUN in joined:
        _long_words(text, data, joined, depth, hits)
    return hits


def _at_anchors(text: str, found: Found, hits: list[Hit]) -> None:
    low = text.lower()
    if len(low) != len(text):
        low = text.encode("ascii", "replace").lower().decode()  # rare letters change their length
    names: list[tuple[int, int]] = []
    signs: dict[Find, list[int]] = {}
    reached: dict[Rule | str, int] = {}
    for number, start, end in found:
        for action in AT_ANCHOR[number]:
            if action is None:
                names.append((start, end))
            elif isinstance(action, Rule):
                _try(action, text, start, end, reached, hits)
            elif not isinstance(action, str):
                signs.setdefault(action, []).append(start)
            elif start >= reached.get("", 0):
                reached[""] = find_arguments(text, low, action, start, hits)
    if not text.isascii():
        names = sorted([*names, *[name.span() for name in FOREIGN_NAMES.compiled.finditer(low)]])
    if names:
        hits += find_assignments(text, low, names)
    for find, where in signs.items():
        hits += find(text, low, where)


def _try(rule: Rule, text: str, start: int, end: int, reached: dict[Rule | str, int], hits: list[Hit]) -> None:
    """Look whether the rule holds at this anchor."""
    if rule.back:
        # No place is looked at twice, so that many anchors take linear time.
        first = max(start - rule.back, reached.get(rule, 0))
        reached[rule] = end
        match = rule.pattern.compiled.search(text, first, end + AHEAD)
    else:
        match = rule.pattern.compiled.match(text, start)
    if match is not None and (not rule.check or CHECKS[rule.check](match[rule.group])):
        hits.append(Hit(rule.kind, *match.span(rule.group)))
        if rule.kind == "aws-key-id":
            hits += _beside_key_id(text, start)


# An AWS secret access key has no recognisable format, but stands near its id.
SECRET_KEY = LazyRegex(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])")


def _beside_key_id(text: str, at: int) -> list[Hit]:
    near = SECRET_KEY.compiled.finditer(text, max(0, at - 200), at + 260)
    return [Hit("aws-secret", *m.span()) for m in near if is_random(m[0]) and not m[0].islower()]


# Letters and figures are an a, all else is a space.
JOINED = bytes(97 if chr(c).isalnum() and c < 128 else 32 for c in range(256))
RUN = b"a" * 16
BASE64_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
REACH = 256
# Changes of case that names do not have.
UNWRITTEN = LazyRegex(r"[a-z][A-Z]{1,3}[a-z][A-Z]|[A-Z]{4}[a-z]{1,2}[A-Z]")
AT_FIRST_LETTER: dict[str, list[Rule]] = {}
for _rule in WORD_RULES:
    for _letter in _rule.anchors:
        AT_FIRST_LETTER.setdefault(_letter, []).append(_rule)


def _long_words(text: str, data: bytes, joined: bytes, depth: int, hits: list[Hit]) -> None:
    """Known formats without an anchor, numbers of cards and accounts, encoded text, and words that look drawn."""
    at = joined.find(RUN)
    decoded = 0
    while at >= 0:
        end = joined.find(b" ", at + len(RUN))
        if end < 0:
            end = len(joined)
        word = data[at:end]
        if word.isalpha():
            written = word.islower() or UNWRITTEN.compiled.search(text, at, end) is None
        else:
            written = False
            _one_word(text, at, end, hits)
        if not written and depth < DEEPEST and at >= decoded:
            decoded = _look_inside(text, at, end, word, depth, hits)
        at = joined.find(RUN, end)


def _one_word(text: str, at: int, end: int, hits: list[Hit]) -> None:
    word = text[at:end]
    if text[at - 1 : at] == "\\":
        # The letter of an escaped line end, or the code of a quote.
        at += 5 if word[0] == "u" else 1
        word = text[at:end]
    if word.isdigit():
        return
    for rule in AT_FIRST_LETTER.get(word[0], ()):
        _try(rule, text, at, end, {}, hits)
    if word.isupper():
        if text[at - 1 : at] == "*" and end - at == MYSQL_HASH and not word.strip("0123456789ABCDEF"):
            hits.append(Hit("password-hash", at, end))
        hits += find_iban(text, at)
    elif not word.islower():
        hits += find_drawn(text, at, end)


MYSQL_HASH = 40  # `*94BDCE...`


def _look_inside(text: str, start: int, end: int, word: bytes, depth: int, hits: list[Hit]) -> int:
    """Decode the text around this word. Returns where it ends."""
    if word.islower() or word.isupper() or word.isdigit():
        return end
    near = text[max(0, start - REACH) : start]
    run = BASE64.compiled.match(text, start - len(near) + len(near.rstrip(BASE64_LETTERS)))
    if run is None:
        return end
    hit = find_in_base64(text, run.start(), run.end(), lambda inner: scan(inner, depth + 1))
    if hit is not None:
        hits.append(hit)
    return run.end()


def _is_filled(word: str) -> bool:
    return not is_placeholder(word) and not word.isdigit()


def _is_mixed(word: str) -> bool:
    return len(set(word)) > 8 and not is_placeholder(word)


def _is_session(word: str) -> bool:
    """Whether it is not a UUID: agents use those for their sessions."""
    return is_random(word.replace("%3A", "")) and not (len(word) == 36 and word.count("-") == 4)


CHECKS: dict[str, Callable[[str], bool]] = {
    "filled": _is_filled,
    "made": lambda word: _is_filled(word) and (is_made(word) or is_random(word)),
    "mixed": _is_mixed,
    "random": lambda word: is_random(word) and not is_placeholder(word),
    "pair": is_pair,
    "session": _is_session,
}
