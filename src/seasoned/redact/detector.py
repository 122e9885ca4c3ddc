"""Finds secrets in a text. Fast where there are none: a few looks at the whole text come first, then expressions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property

from seasoned.lazy_regex import LazyRegex
from seasoned.redact.assignment import find_assignments
from seasoned.redact.personal import FIGURES, find_cards, find_emails, find_ibans, find_phones
from seasoned.redact.place import (
    BASE64,
    BESIDE,
    CALLS,
    LONG,
    find_blocks,
    find_hashes,
    find_in_base64,
    find_in_hex,
    find_in_percent,
    find_in_places,
    find_in_urls,
)
from seasoned.redact.program import PROGRAMS, find_arguments
from seasoned.redact.rules import RULES, Rule
from seasoned.redact.value import Hit, find_drawn, is_placeholder, is_random

# Characters before a long word that anchors may include: `SG.`, `Bearer `, `sig=`.
BEFORE = 24
# Encodings within encodings: deeper ones are rare, and a limit keeps hostile texts cheap.
DEEPEST = 3
# Words without a digit are searched only for tokens whose random part may have none.
WITHOUT_DIGITS = (
    "hf_", "AKIA", "ASIA", "sk-", "gl", "gh", "earer", "SG.", "=", "k_live_", "k_test_", "k_prod_", "npm_", "rzp_",
)  # fmt: skip
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
JOINED = CLASSES.replace(b"0", b"a")
SPACE = 32
# A lower-case word may change this often between letters and digits without being random.
PLAIN = 2
HEXADECIMAL = "0123456789abcdef-"
UPPER_HEXADECIMAL = "0123456789ABCDEF"
MYSQL_HASH = 40  # `*94BDCE...`
DIGESTS = (32, 36, 40, 64)  # lengths of MD5, UUID, SHA-1 and SHA-256
PAIRED = LazyRegex(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])")


# Words of names, lower-case.
NAMES = (
    "pass", "pwd", "secret", "token", "key", "auth", "cred", "cookie", "psk", "salt", "pepper", "_pat", "_pw", "pw=",
    "pw:", " pw ", "kennwort", "senha", "contrasen", "wachtwoord",
)  # fmt: skip
# Beyond ASCII: looked for one by one, and only in texts that have such letters.
FOREIGN_NAMES = ("contraseña", "hasło", "şifre", "lösenord", "jelszó", "пароль", "密码", "パスワード", "비밀번호")
OTHERS = ("bearer ", "phone", "mobile", "tel:", "stringdata", "kty", "phrase", "seed", "mnemonic", "define(",
    "whsec_")  # fmt: skip
# One of these, or an option, stands in every text with a mark.
FIRST = (
    *NAMES, *OTHERS, ":5432:", ":thin:", ":::", "{ssha", "{sha", "identified ", "@tcp(", " : eap ", "wifi:", *CALLS,
    "words", "echo ", "printf ", "add_user", "net user", "alias set", "sqlplus", "kinit", "radtest", "rman ", "dp ",
)  # fmt: skip
# Names of programs come first, since some contain the word of a name.
MARKS = tuple(dict.fromkeys((*PROGRAMS, *NAMES, *OTHERS, *BESIDE, *CALLS, "words")))
NAME_SET = frozenset(NAMES)
Found = list[tuple[int, int, int]]


class _Finder:
    """Finds words in bytes, in order and without overlap: number, start and end of each.

    With `ahocorasick_rs`, which is installed where wheels of it are published, this takes a tenth of the time.
    """

    def __init__(self, words: tuple[str, ...]) -> None:
        self._words = [word.encode() for word in words]

    @cached_property
    def find(self) -> Callable[[bytes], Found]:
        try:
            from ahocorasick_rs import BytesAhoCorasick, MatchKind
        except ImportError:
            return self.find_plainly
        # Leftmost-first, since that search looks at many bytes at once as long as there are few words.
        found: Callable[[bytes], Found] = BytesAhoCorasick(
            self._words, matchkind=MatchKind.LeftmostFirst
        ).find_matches_as_indexes
        return found

    def find_plainly(self, data: bytes) -> Found:
        """The same without the library."""
        words = [word for word in self._words if word in data]
        pattern = re.compile(b"|".join(map(re.escape, words)))
        return [(self._words.index(match[0]), *match.span()) for match in pattern.finditer(data)] if words else []


_first, _every = _Finder(FIRST), _Finder(MARKS)


def scan(text: str, depth: int = 0) -> list[Hit]:
    """Every hit, unordered and possibly overlapping."""
    if len(text) < 8:
        return []
    # One byte per character, so that offsets are equal in all views of the text.
    data = text.encode("ascii", "replace")
    small = data.lower()
    found = _first.find(small)
    if found or b" -" in data:
        found = _every.find(small)
    hits: list[Hit] = []
    ascii_only = text.isascii()
    if found or not ascii_only or b"$" in data or b"@" in data or b"%" in data:
        low = text.lower()
        if len(low) != len(text):
            low = small.decode("ascii")  # rare letters change their length, and places would no longer be equal
        if found or not ascii_only:
            _marked(text, low, found, ascii_only, hits)
        if "$" in low:
            hits += find_hashes(text, low)
        if "@" in low:
            hits += find_emails(text, low)
            hits += find_in_urls(text)
        if "%" in low and depth < DEEPEST:
            hits += find_in_percent(text, lambda inner: scan(inner, depth + 1))
            if "%40" in low:
                hits += find_in_urls(text)
    classes = data.translate(CLASSES)
    # No card or account has fewer figures; a hyphen is a letter in this view.
    if b"0000000000" in classes or b"0000 0000" in classes or b"0000a0000" in classes:
        _numbers(text, data, hits)
    if WORD in data.translate(JOINED):
        _words(text, classes, depth, hits)
    if b"Q~" in data:
        hits += _apply(AZURE_CLIENT, text)
    if b"0" in classes:
        hits += find_drawn(text, data)
    return hits


def _marked(text: str, low: str, found: list[tuple[int, int, int]], ascii_only: bool, hits: list[Hit]) -> None:
    """What stands beside the marks."""
    marks: dict[str, list[int]] = {}
    names: list[tuple[int, int]] = []
    reached = 0
    for number, start, end in found:
        mark = MARKS[number]
        marks.setdefault(mark, []).append(end)
        if mark in NAME_SET:
            names.append((start, end))
        elif mark in PROGRAMS and start >= reached:
            more, reached = find_arguments(text, low, mark, start)
            hits += more
            if "pass" in mark:
                names.append((at := start + mark.index("pass"), at + 4))  # `wpa_passphrase=...`
    if not ascii_only:
        for word in FOREIGN_NAMES:
            at = low.find(word)
            while at >= 0:
                names.append((at, at + len(word)))
                at = low.find(word, at + len(word))
        names.sort()
    hits += find_assignments(text, low, names)
    hits += find_in_places(text, low, marks)
    if "key" in marks or "Private-Lines" in text:
        hits += find_blocks(text)
    if "bearer " in marks:
        hits += _apply(BEARER, unescape(text))
    if "whsec_" in marks:
        hits += _apply(WEBHOOK, unescape(text))  # signs of base64 may cut it into short words
    if "phone" in marks or "mobile" in marks or "tel:" in marks:
        hits += find_phones(text, low)


def unescape(text: str) -> str:
    """The text with escaped newlines and quotes blanked, at the same offsets."""
    return ESCAPE.compiled.sub(lambda match: " " * len(match[0]), text) if "\\" in text else text


def _numbers(text: str, data: bytes, hits: list[Hit]) -> None:
    """Card and account numbers."""
    figures, plain = data.translate(FIGURES), unescape(text)
    hits += find_cards(plain, figures)
    hits += find_ibans(plain, figures)


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
            _anchored(text, joined, hits, anchors)
    if words:
        joined = unescape("\n".join(words))
        _anchored(text, joined, hits, _ANCHORS if len(joined) < FEW or _RARE.compiled.search(joined) else _COMMON)
        if len(hits) == found:
            _remember(words)


# Long words without a hit: paths and ids repeat often.
_harmless: set[str] = set()
_REMEMBERED = 20_000


def _remember(words: list[str]) -> None:
    if len(_harmless) > _REMEMBERED:
        _harmless.clear()
    _harmless.update(words)


def _anchored(text: str, joined: str, hits: list[Hit], anchors: list[tuple[str, Rule]]) -> None:
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
_RARE = LazyRegex("|".join(re.escape(anchor) for anchor, _ in _ANCHORS if len(anchor) > _SHORT))


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
