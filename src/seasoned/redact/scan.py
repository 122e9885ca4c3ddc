"""Finding secrets in a text, fast where there are none: cheap questions first, expressions where they can match."""

from __future__ import annotations

from collections.abc import Iterator

from seasoned.redact.assignment import find_assignments
from seasoned.redact.block import find_blocks
from seasoned.redact.command import find_in_commands
from seasoned.redact.encoded import BASE64, find_in_base64, find_in_hex, find_in_percent
from seasoned.redact.hit import Hit
from seasoned.redact.literal import is_placeholder, is_random
from seasoned.redact.pattern import Pattern
from seasoned.redact.personal import (
    CARD_MARKS,
    FIGURES,
    PHONE_MARKS,
    find_cards,
    find_emails,
    find_ibans,
    find_phones,
)
from seasoned.redact.rules import RULES, Rule
from seasoned.redact.url import find_in_urls

LONG = 20
"""The shortest word that can be a token or worth decoding."""
BEFORE = 24
"""Characters before a long word that belong to what anchors look at: `SG.`, `Bearer `, `sig=`."""
DEEPEST = 3
WITHOUT_DIGITS = ("hf_", "AKIA", "ASIA", "sk-", "gl", "gh", "earer", "SG.", "=")
UNWRITTEN = Pattern(r"[a-z][A-Z]{1,3}[a-z][A-Z]|[A-Z]{4}[a-z]{1,2}[A-Z]|=$")
REACH = 256
BASE64_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
ESCAPE = Pattern(r"\\+(?:[nrtbf]|u00[0-9a-fA-F]{2})")
BEARER = next(rule for rule in RULES if rule.kind == "bearer")
AZURE_CLIENT = next(rule for rule in RULES if rule.kind == "azure-client")

_ALNUM = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
CLASSES = bytes(
    48 if 48 <= c <= 57 else 97 if c in _ALNUM or c in b"_-%" else 43 if c in b"+/=.:~" else 32 for c in range(256)
)
WORD = b"a" * LONG
PAIRED = Pattern(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])")
MNEMONIC = Pattern(
    r"(?:mnemonic|seed|phrase)[a-z_ ]{0,24}[\"'\\]{0,6}\s{0,3}[:=]\s{0,3}[\"'\\]{0,6}"
    r"((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})"
)


def scan(text: str, depth: int = 0) -> list[Hit]:
    """Every hit, in no order, overlapping ones too."""
    if len(text) < 8:
        return []
    data = text.encode("ascii", "replace")
    low = data.lower().decode("ascii")
    # One byte for each character, so that places are the same in all three.
    classes = data.translate(CLASSES)
    hits = list(find_assignments(text, low))
    hits += find_in_commands(text, low)
    if "@" in low:
        hits += find_emails(text, low)
        hits += find_in_urls(text)
    if "%" in low and depth < DEEPEST:
        hits += find_in_percent(text, lambda inner: scan(inner, depth + 1))
        if "%40" in low:
            hits += find_in_urls(text)
    if "~" in low and "Q~" in text:
        hits += _apply(AZURE_CLIENT, text)
    if "bearer " in low:
        hits += _apply(BEARER, unescape(text))
    _numbers(text, low, data, hits)
    if "seed" in low or "mnemonic" in low:
        hits += [Hit("seed-phrase", m.start(1), m.end(1)) for m in MNEMONIC.re.finditer(low)]
    hits += find_blocks(text)
    _words(text, low, classes, depth, hits)
    return hits


def unescape(text: str) -> str:
    """The text with escaped line ends and quotes blanked, every character in its place."""
    return ESCAPE.re.sub(lambda match: " " * len(match[0]), text) if "\\" in text else text


def _numbers(text: str, low: str, data: bytes, hits: list[Hit]) -> None:
    figures = data.translate(FIGURES)
    if b"000" not in figures:
        return
    if any(mark in figures for mark in CARD_MARKS) or b"0" * 10 in figures:
        plain = unescape(text)
        hits += find_cards(plain, figures)
        hits += find_ibans(plain, figures)
    if any(mark in figures for mark in PHONE_MARKS) and ("phone" in low or "mobile" in low or "tel" in low):
        hits += find_phones(text, low)


def _words(text: str, low: str, digits: bytes, depth: int, hits: list[Hit]) -> None:
    """Long words: those that carry an issuer's mark, and those that may be an encoded text."""
    classes = digits.replace(b"0", b"a")
    at = classes.find(WORD)
    if at < 0:
        return
    words: list[str] = []
    letters: list[str] = []
    size = len(classes)
    while at >= 0:
        end = classes.find(b" ", at + LONG)
        end = size if end < 0 else end
        word = text[at:end]
        figures = b"0" in digits[max(0, at - BEFORE) : end]
        if not figures:
            letters.append(text[max(0, at - BEFORE) : end])
        if figures or (word.lower() != word and UNWRITTEN.re.search(word)):
            near = classes[max(0, at - REACH) : at]
            first = at - len(near) + len(near.rstrip(b"a+"))
            words.append(text[max(0, first - BEFORE) : end])
            if depth < DEEPEST:
                _look_inside(text, first, at, end, depth, hits)
        at = classes.find(WORD, end)
    rare = "\n".join(letters)
    if any(mark in rare for mark in WITHOUT_DIGITS):
        words.append(rare)
    if words:
        _marked(text, unescape("\n".join(words)), hits)


def _marked(text: str, joined: str, hits: list[Hit]) -> None:
    plain = ""
    for rule in RULES:
        for anchor in rule.anchors:
            if anchor in joined:
                if rule.pattern.re.search(joined):
                    plain = plain or unescape(text)
                    hits += _apply(rule, plain)
                break
    if "AKIA" in joined or "ASIA" in joined:
        hits += _beside_key_ids(text)


def _look_inside(text: str, first: int, start: int, end: int, depth: int, hits: list[Hit]) -> None:
    """Decode what stands around this word, beginning where a run of base64 may begin."""
    near = text[first:start]
    begin = start - len(near) + len(near.rstrip(BASE64_LETTERS))
    for at in {begin, start}:
        run = BASE64.re.match(text, at)
        hit = find_in_base64(text, at, run.end(), lambda inner: scan(inner, depth + 1)) if run else None
        if hit is not None:
            hits.append(hit)
    if end - start >= 32:
        hit = find_in_hex(text, start, end, lambda inner: scan(inner, depth + 1))
        if hit is not None:
            hits.append(hit)


def _apply(rule: Rule, text: str) -> Iterator[Hit]:
    for match in rule.pattern.re.finditer(text):
        word = match[rule.group]
        if not rule.check or CHECKS[rule.check](word):
            yield Hit(rule.kind, match.start(rule.group), match.end(rule.group))


def _beside_key_ids(text: str) -> Iterator[Hit]:
    """A secret access key has no mark of its own, but stands near its id."""
    for match in PAIRED.re.finditer(text):
        near = text[max(0, match.start() - 200) : match.end() + 200]
        if ("AKIA" in near or "ASIA" in near) and is_random(match[0]) and not match[0].islower():
            yield Hit("aws-secret", match.start(), match.end())


def _is_mixed(word: str) -> bool:
    return len(set(word)) > 8 and not is_placeholder(word)


def _is_cased(word: str) -> bool:
    return _is_mixed(word) and word[3:].lower() != word[3:] and "_" not in word[3:]


def _is_pair(word: str) -> bool:
    """`user:password`, packed as HTTP's basic scheme does."""
    from binascii import Error, a2b_base64

    try:
        return b":" in a2b_base64(word + "=" * (-len(word) % 4))
    except (Error, ValueError):
        return False


def _is_session(word: str) -> bool:
    """Not a UUID: agents number their own sessions with those."""
    return is_random(word.replace("%3A", "")) and not (len(word) == 36 and word.count("-") == 4)


CHECKS = {
    "mixed": _is_mixed,
    "cased": _is_cased,
    "random": lambda word: is_random(word) and not is_placeholder(word),
    "pair": _is_pair,
    "session": _is_session,
}
