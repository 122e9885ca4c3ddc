"""Finds secrets in a text. Fast where there are none: cheap tests come first, then expressions."""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Iterable, Iterator, Set

from seasoned.lazy_regex import LazyRegex
from seasoned.redact.assignment import find_assignments
from seasoned.redact.below import find_codes, find_printed
from seasoned.redact.command import find_in_commands
from seasoned.redact.hit import Hit
from seasoned.redact.literal import find_drawn, is_placeholder, is_random
from seasoned.redact.mark import COMMON_MARKS, PHONE_WORDS, find_marks
from seasoned.redact.pair import PAIR_MARKS, find_pairs
from seasoned.redact.personal import (
    FIGURES,
    PHONE_MARKS,
    find_cards,
    find_emails,
    find_ibans,
    find_phones,
)
from seasoned.redact.place import find_hashes, find_in_places
from seasoned.redact.program import find_in_programs
from seasoned.redact.rules import RULES, Rule
from seasoned.redact.scorer import find_scored
from seasoned.redact.sentence import find_said
from seasoned.redact.table import find_certain, find_in_tables

BASE64 = LazyRegex(r"[A-Za-z0-9+/_\-]{16,}={0,2}")
PERCENT = LazyRegex(r"%[0-9A-Fa-f]{2}[A-Za-z0-9%._~+!*()\-]*")
PERCENT_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~+!*()-"
CODE = LazyRegex(r"%([0-9A-Fa-f]{2})")
SAMPLE = 24

Find = Callable[[str], list[Hit]]


def find_in_base64(text: str, start: int, end: int, find: Find) -> Hit | None:
    """The whole run of base64 if it decodes to text with a secret."""
    run = text[start:end]
    if run.islower() or run.isupper() or run.isdigit():
        return None
    packed = run.replace("-", "+").replace("_", "/").rstrip("=") if "-" in run or "_" in run else run.rstrip("=")
    # A stray letter before it (the n of an escaped newline) shifts the run: try every alignment.
    for skip in range(4):
        sample = _decode(packed[skip : skip + SAMPLE])
        if sample is None or not _is_text(sample):
            continue
        data = _decode(packed[skip:])
        if data is None:
            return None
        inside = _read(data)
        if inside and find(inside):
            return Hit("encoded", start + skip, end)
    return None


def find_in_hex(text: str, start: int, end: int, find: Find) -> Hit | None:
    """The whole run of hexadecimal if it decodes to text with a secret."""
    run = text[start:end]
    if len(run) % 2 or not run[:2].isalnum():
        return None
    try:
        data = bytes.fromhex(run)
    except ValueError:
        return None
    return Hit("encoded", start, end) if data.isascii() and find(data.decode("ascii")) else None


def find_in_percent(text: str, find: Find) -> Iterator[Hit]:
    """Percent-encoded words that contain a secret."""
    for match in PERCENT.compiled.finditer(text):
        left = text[max(0, match.start() - 512) : match.start()]
        start = match.start() - len(left) + len(left.rstrip(PERCENT_LETTERS))
        plain = _unquote(text[start : match.end()])
        if "%" in plain:
            plain = _unquote(plain)
        if len(plain) > 8 and find(plain):
            yield Hit("encoded", start, match.end())


def _unquote(text: str) -> str:
    return CODE.compiled.sub(lambda code: chr(int(code[1], 16)), text)


def _decode(packed: str) -> bytes | None:
    over = len(packed) % 4
    if over == 1:
        packed = packed[:-1]
    elif over:
        packed += "=" * (4 - over)
    try:
        return binascii.a2b_base64(packed)
    except (binascii.Error, ValueError):
        return None


def _is_text(data: bytes) -> bool:
    if data.isascii():
        return data.translate(None, CONTROL) == data or data[1::2].count(0) * 2 >= len(data) - 2
    return False


CONTROL = bytes(c for c in range(32) if c not in (9, 10, 13)) + b"\x7f"


def _read(data: bytes) -> str:
    if data[1::2].count(0) * 2 >= len(data) - 2:
        data = data.replace(b"\0", b"")
    return data.decode("utf-8", "replace")


# No key is longer, and without a limit a text full of begin lines would take quadratic time.
FURTHEST = 65536
BEGIN = LazyRegex(r"-----BEGIN (?:[A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1)-----")
END = LazyRegex(r"-----END (?:[A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1)-----")
BODY = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/= \t\r\n\\-:,→|>.()"
LINES = LazyRegex(r"Private-Lines: \d{1,4}")
MAC = LazyRegex(r"Private-(?:MAC|Hash): [0-9a-f]{40,64}")


def find_blocks(text: str) -> Iterator[Hit]:
    """Private keys, from first to last line; without an end line, as far as base64 continues."""
    if "PRIVATE KEY" in text or "Static key" in text:
        yield from _pem(text)
    if "Private-Lines" in text:
        done = 0
        for match in LINES.compiled.finditer(text):
            if match.start() >= done:
                mac = MAC.compiled.search(text, match.end(), match.end() + FURTHEST)
                done = mac.end() if mac else _body_end(text, match.end())
                yield Hit("private-key", match.start(), done)


def _pem(text: str) -> Iterator[Hit]:
    done = 0
    for begin in BEGIN.compiled.finditer(text):
        if begin.start() < done:
            continue
        end = END.compiled.search(text, begin.end(), begin.end() + FURTHEST)
        # Another begin line before the end line: this key was cut off, and the end belongs to the next.
        following = text.find("-----BEGIN ", begin.end(), end.end() if end else begin.end() + FURTHEST)
        if end is not None and following < 0:
            done = end.end()
        else:
            done = _body_end(text, begin.end())
            if done - begin.end() < 24:
                continue
        # A begin and an end line with hardly anything between them are documentation.
        if done - begin.start() > 96:
            yield Hit("private-key", begin.start(), done)
    for end in END.compiled.finditer(text, done):
        # The first line is missing: go back as far as base64 reaches.
        kept = text[max(done, end.start() - FURTHEST) : end.start()]
        start = end.start() - (len(kept) - len(kept.rstrip(BODY)))
        if end.start() - start >= 24:
            yield Hit("private-key", start, end.end())
        done = end.end()


def _body_end(text: str, start: int) -> int:
    stretch = text[start : start + FURTHEST]
    return start + len(stretch) - len(stretch.lstrip(BODY))


USERINFO = LazyRegex(r"""://([^\s/?#@:"'<>\\`]{0,256}):([^\s/"'<>\\`]{1,512})@""")
# A token without a user name: `https://TOKEN@host`.
ALONE = LazyRegex(r"""://([^\s/?#@:"'<>\\`.]{20,512})@""")
# The same percent-encoded once or twice, as in redirect parameters.
CODED = LazyRegex(r"""(?i)%3a(?:%2f|/){2}([^\s/?#@:"'<>\\`&]{0,256}?)%3a([^\s/@"'<>\\`&]{1,512}?)%40""")
TWICE = LazyRegex(r"""(?i)%253a(?:%252f){2}([^\s/?#@:"'<>\\`&]{0,256}?)%253a([^\s/@"'<>\\`&]{1,512}?)%2540""")


def find_in_urls(text: str) -> Iterator[Hit]:
    """The password or token before the host of a URL."""
    if "@" in text and "://" in text:
        for match in USERINFO.compiled.finditer(text):
            if not is_placeholder(match[2]):
                yield Hit("url-password", match.start(2), match.end(2))
                if len(match[1]) >= LONG and is_random(match[1]):
                    yield Hit("url-password", match.start(1), match.end(1))
        for match in ALONE.compiled.finditer(text):
            if is_random(match[1]):
                yield Hit("url-password", match.start(1), match.end(1))
    if "%40" in text or "%2540" in text:
        for pattern in (CODED, TWICE):
            for match in pattern.compiled.finditer(text):
                if not is_placeholder(match[2]):
                    yield Hit("url-password", match.start(2), match.end(2))


def any_of(words: Iterable[str]) -> LazyRegex:
    """An expression that finds any of the words: shared beginnings are tried once."""
    return LazyRegex(_branches(sorted(set(words))))


def _branches(words: list[str]) -> str:
    rests: dict[str, list[str]] = {}
    for word in words:
        rests.setdefault(word[0], []).append(word[1:])
    # A word that ends here matches; longer ones with the same beginning are not needed.
    found = [re.escape(first) + ("" if "" in rest else _branches(rest)) for first, rest in rests.items()]
    return found[0] if len(found) == 1 else f"(?:{'|'.join(found)})"


LONG = 20  # shorter words are neither tokens nor worth decoding
# Characters before a long word that anchors may include: `SG.`, `Bearer `, `sig=`.
BEFORE = 24
# Encodings within encodings: deeper ones are rare, and a limit keeps hostile texts cheap.
DEEPEST = 3
# Words without a digit are searched only for tokens whose random part may have none.
WITHOUT_DIGITS = (
    "hf_",
    "AKIA",
    "ASIA",
    "sk-",
    "gl",
    "gh",
    "earer",
    "SG.",
    "=",
    "k_live_",
    "k_test_",
    "k_prod_",
    "npm_",
    "rzp_",
)
# Changes of case that names do not have, or the padding of base64.
UNWRITTEN = LazyRegex(r"[a-z][A-Z]{1,3}[a-z][A-Z]|[A-Z]{4}[a-z]{1,2}[A-Z]|=$")
REACH = 256
# In shorter texts, searching one anchor after the other is faster than one expression for all.
FEW = 2000
BASE64_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
ESCAPE = LazyRegex(r"\\+(?:[nrtbf]|u00[0-9a-fA-F]{2})")
BEARER = next(rule for rule in RULES if rule.kind == "bearer")
WEBHOOK = next(rule for rule in RULES if rule.kind == "webhook-secret")
AZURE_CLIENT = next(rule for rule in RULES if rule.kind == "azure-client")

_ALNUM = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
# 0 is a digit, a is a letter, + is a sign within encoded text, a space is everything else.
CLASSES = bytes(
    48 if 48 <= c <= 57 else 97 if c in _ALNUM or c in b"_-%" else 43 if c in b"+/=.:~" else 32 for c in range(256)
)
WORD = b"a" * LONG
SPACE = 32
# A lower-case word may change this often between letters and digits without being random.
PLAIN = 2
HEXADECIMAL = "0123456789abcdef-"
UPPER_HEXADECIMAL = "0123456789ABCDEF"
MYSQL_HASH = 40  # `*94BDCE...`
DIGESTS = (32, 36, 40, 64)  # lengths of MD5, UUID, SHA-1 and SHA-256
PAIRED = LazyRegex(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])")


def scan(text: str, depth: int = 0) -> list[Hit]:
    """Every hit, unordered and possibly overlapping."""
    if len(text) < 8:
        return []
    data = text.encode("ascii", "replace")
    low = text.lower()
    if len(low) != len(text):
        low = data.lower().decode("ascii")  # rare letters change their length, and places would no longer be equal
    # One byte per character, so that offsets are equal in all three.
    classes = data.translate(CLASSES)
    places = find_marks(low)
    marks = places.keys()
    figures = b"0" in classes
    hits: list[Hit] = []
    if marks:
        hits += find_assignments(text, low, places)
        rare = marks - COMMON_MARKS
        if rare:
            hits += find_in_places(text, low, places)
            hits += find_certain(text, low, places)
            hits += find_in_programs(text, low, rare)
            hits += find_printed(text, low, places)
        if figures:
            hits += find_in_tables(text, low, places)
            hits += find_codes(text, low, places)
            if not marks.isdisjoint(PAIR_MARKS):
                hits += find_pairs(text, low, places)
        hits += find_in_commands(text, low, marks)
        hits += find_said(text, low, places)
    if "$" in low:
        hits += find_hashes(text, low)
    if "@" in low:
        hits += find_emails(text, low)
        hits += find_in_urls(text)
    if "%" in low and depth < DEEPEST:
        hits += find_in_percent(text, lambda inner: scan(inner, depth + 1))
        if "%40" in low:
            hits += find_in_urls(text)
    if "~" in low and "Q~" in text:
        hits += _apply(AZURE_CLIENT, text)
    if "bearer " in marks:
        hits += _apply(BEARER, unescape(text))
    if "whsec_" in marks:
        hits += _apply(WEBHOOK, unescape(text))  # signs of base64 may cut it into short words
    if figures and b"000" in classes:
        _numbers(text, low, data, marks, hits)
    if "private" in marks or "static key" in marks:
        hits += find_blocks(text)
    _words(text, classes, depth, hits)
    if figures:
        hits += find_drawn(text, data)
    if depth == 0 and (marks or not text.isascii()):
        hits += find_scored(text, low, hits)
    return hits


def unescape(text: str) -> str:
    """The text with escaped newlines and quotes blanked, at the same offsets."""
    return ESCAPE.compiled.sub(lambda match: " " * len(match[0]), text) if "\\" in text else text


def _numbers(text: str, low: str, data: bytes, marks: Set[str], hits: list[Hit]) -> None:
    """Card, account and telephone numbers, in texts with at least three digits in a row."""
    may_be_phone = not marks.isdisjoint(PHONE_WORDS)
    figures = data.translate(FIGURES)
    # No card or account has fewer; every search through a text full of figures is slow.
    if b"0" * 10 in figures or (
        b"0000-0000" in figures and (b"0000-0000-00" in figures or b"0000-000000-0" in figures)
    ):
        plain = unescape(text)
        hits += find_cards(plain, figures)
        hits += find_ibans(plain, figures)
    if may_be_phone and any(mark in figures for mark in PHONE_MARKS):
        hits += find_phones(text, low)


def _words(text: str, digits: bytes, depth: int, hits: list[Hit]) -> None:
    """Long words: known token formats, and words that may be encoded text."""
    classes = digits.replace(b"0", b"a")
    at = classes.find(WORD)
    if at < 0:
        return
    words: list[str] = []
    letters: list[str] = []
    size = len(classes)
    found = len(hits)
    while at >= 0:
        end = classes.find(b" ", at + LONG)
        if end < 0:
            end = size
        first = at
        if at and classes[at - 1] != SPACE:
            near = classes[max(0, at - REACH) : at]
            first = at - len(near) + len(near.rstrip(b"a+"))
        word = text[at:end]
        if digits.find(b"0", first, end) < 0:
            letters.append(text[max(0, at - BEFORE) : end])
            may_be_random = word.lower() != word and UNWRITTEN.compiled.search(word) is not None
        else:
            # `manual_commit_2_test`, `fix-297-of-something`: random text would change more often.
            may_be_random = not (
                word.islower() and digits.count(b"a0", at, end) + digits.count(b"0a", at, end) <= PLAIN
            )
        if may_be_random and end - at == MYSQL_HASH and text[at - 1 : at] == "*" and not word.strip(UPPER_HEXADECIMAL):
            hits.append(Hit("password-hash", at, end))
        elif may_be_random:
            seen = text[max(0, first - BEFORE) : end]
            if end - at in DIGESTS and not word.strip(HEXADECIMAL) and text[at - 1 : at] not in ("=", ".", ":", "/"):
                # A digest or UUID: not a known token, but text may be encoded in it.
                if depth < DEEPEST:
                    _look_inside_hex(text, at, end, depth, hits)
            elif seen not in _harmless:
                words.append(seen)
                if depth < DEEPEST:
                    _look_inside(text, first, at, end, depth, hits)
        at = classes.find(WORD, end)
    if letters:
        joined = unescape("\n".join(letters))
        anchors = [pair for mark, pairs in _LETTERS if mark in joined for pair in pairs]
        if anchors:
            _marked(text, joined, hits, anchors)
    if words:
        joined = unescape("\n".join(words))
        _marked(text, joined, hits, _ANCHORS if len(joined) < FEW or _RARE.compiled.search(joined) else _COMMON)
        if len(hits) == found:
            _remember(words)


# Long words without a hit: paths and ids repeat often.
_harmless: set[str] = set()
_REMEMBERED = 20_000


def _remember(words: list[str]) -> None:
    if len(_harmless) > _REMEMBERED:
        _harmless.clear()
    _harmless.update(words)


def _marked(text: str, joined: str, hits: list[Hit], anchors: list[tuple[str, Rule]]) -> None:
    plain = ""
    for rule in dict.fromkeys([rule for anchor, rule in anchors if anchor in joined]):
        if rule.pattern.compiled.search(joined):
            plain = plain or unescape(text)
            hits += _apply(rule, plain)
    if "AKIA" in joined or "ASIA" in joined:
        hits += _beside_key_ids(text)


_ANCHORS = [(anchor, rule) for rule in RULES for anchor in rule.anchors]
_SHORT = 3
# Anchors that occur in many words; all others are searched together and are rare.
_COMMON = [(anchor, rule) for anchor, rule in _ANCHORS if len(anchor) <= _SHORT]
# Anchors of tokens that may have no digit, by their common character.
_LETTERS = [(mark, [(anchor, rule) for anchor, rule in _ANCHORS if mark in anchor]) for mark in WITHOUT_DIGITS]
_RARE = any_of(anchor for anchor, _ in _ANCHORS if len(anchor) > _SHORT)


def _look_inside(text: str, first: int, start: int, end: int, depth: int, hits: list[Hit]) -> None:
    """Decode the base64 around this word."""
    near = text[first:start]
    begin = start - len(near) + len(near.rstrip(BASE64_LETTERS))
    for at in {begin, start}:
        run = BASE64.compiled.match(text, at)
        hit = find_in_base64(text, at, run.end(), lambda inner: scan(inner, depth + 1)) if run else None
        if hit is not None:
            hits.append(hit)
    _look_inside_hex(text, start, end, depth, hits)


def _look_inside_hex(text: str, start: int, end: int, depth: int, hits: list[Hit]) -> None:
    if end - start >= 32:
        hit = find_in_hex(text, start, end, lambda inner: scan(inner, depth + 1))
        if hit is not None:
            hits.append(hit)


def _apply(rule: Rule, text: str) -> Iterator[Hit]:
    for match in rule.pattern.compiled.finditer(text):
        word = match[rule.group]
        if not rule.check or CHECKS[rule.check](word):
            yield Hit(rule.kind, match.start(rule.group), match.end(rule.group))


def _beside_key_ids(text: str) -> Iterator[Hit]:
    """AWS secret access keys: no recognisable format, but near their id."""
    for match in PAIRED.compiled.finditer(text):
        near = text[max(0, match.start() - 200) : match.end() + 200]
        if ("AKIA" in near or "ASIA" in near) and is_random(match[0]) and not match[0].islower():
            yield Hit("aws-secret", match.start(), match.end())


def _is_mixed(word: str) -> bool:
    return len(set(word)) > 8 and not is_placeholder(word)


def _is_cased(word: str) -> bool:
    return _is_mixed(word) and word[3:].lower() != word[3:] and "_" not in word[3:]


def _is_pair(word: str) -> bool:
    """`user:password` as in HTTP basic authentication."""
    from binascii import Error, a2b_base64

    try:
        return b":" in a2b_base64(word + "=" * (-len(word) % 4))
    except (Error, ValueError):
        return False


def _is_session(word: str) -> bool:
    """Whether it is not a UUID: agents use those for their sessions."""
    return is_random(word.replace("%3A", "")) and not (len(word) == 36 and word.count("-") == 4)


CHECKS = {
    "mixed": _is_mixed,
    "cased": _is_cased,
    "random": lambda word: is_random(word) and not is_placeholder(word),
    "pair": _is_pair,
    "session": _is_session,
}
