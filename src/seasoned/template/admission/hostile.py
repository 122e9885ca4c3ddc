"""Recognises text that speaks to whoever reads it: orders to a model, false calls, false roles, false approvals."""

from __future__ import annotations

import unicodedata
from binascii import Error, a2b_base64
from collections.abc import Iterator
from functools import lru_cache
from html import unescape
from typing import Any
from urllib.parse import unquote

from seasoned.lazy_regex import LazyRegex
from seasoned.template.admission.hostile_order import ORDERS
from seasoned.template.admission.hostile_rule import WORDS
from seasoned.template.admission.hostile_sign import SIGNS
from seasoned.template.admission.hostile_tongue import TONGUES

_READ = 20_000
_SHORT = 600
_DEEPEST = 2
_READABLE = 12
_WORD_CHARS = 12
"""A shorter text says too little to be an order; what all of them say is looked at in the end."""
_GAPS = r"[ .*_\-|/]"
_SPACED = LazyRegex(rf"(?<!\w)(?:\w{_GAPS}{{1,2}}){{5,}}\w(?!\w)")
_GAP = LazyRegex(rf"{_GAPS}(?=\w(?:{_GAPS}|\Z))")
_ENCODED = LazyRegex(r"[A-Za-z0-9+/]{24,}={0,2}|[A-Za-z0-9_-]{24,}={0,2}")
_ESCAPED = LazyRegex(r"\\u00[0-9a-fA-F]{2}|\\x[0-9a-fA-F]{2}|%[2-7][0-9A-Fa-f]|&#?\w{2,8};")
_UNESCAPE = LazyRegex(r"\\(?:u00|x)([0-9a-fA-F]{2})")
_LEET = LazyRegex(r"[a-z][013457@$][a-z]|(?<![a-z0-9])[013457@$][a-z]{2}")
_LEET_SIGNS = str.maketrans("013457@$", "oieastas")
_LOOKALIKES = str.maketrans(
    "аеорсухіјѕԁһӏвнкмтгпԛԝαβεηικνορτυχωγϲⅼɡıʟᴀᴇɪᴏʀꜱᴛᴜɴɢᴍᴘᴅ",
    "aeopcyxijsdhlbhkmtrnqwabenikvoptuxwyclgilaeiorstungmpd",
)
_TAGS = {0xE0000 + code: code for code in range(0x20, 0x7F)}
"""Letters that no screen shows and every model reads."""
_UNSEEN = ("Cf", "Mn", "Co", "Cn")
# Where gaps are everywhere nothing tells where words end: then the letters alone are looked at.
_CLOSE = LazyRegex(
    r"(?:ignore|disregard|forget)(?:all)?(?:the|your|any|my)?(?:previous|prior|above|earlier)(?:instruction"
    r"|prompt|message|rule)"
    r"|youarenow(?:a|in|dan)|revealyoursystemprompt|permissiongranted|user(?:has)?approved"
)


def _bare(text: str) -> str:
    return "".join([c for c in text if unicodedata.category(c) != "Mn"])


_Ways = dict[str, list[LazyRegex]]
"""Ways of speaking to the reader, by words: an expression is only asked where one of its words is there."""


def _ways(rows: tuple[tuple[str, str], ...]) -> _Ways:
    found: _Ways = {}
    for words, text in rows:
        pattern = LazyRegex(text)
        for word in words.split("|") if "|" in words else words.split():
            found.setdefault(word, []).append(pattern)
    return found


_WORDS = _ways((*WORDS, *ORDERS))
_SIGNS = _ways(SIGNS)
# Signs above and below letters are taken out of every text, and so they are out of what is looked for.
_TONGUES = _ways(tuple((_bare(words), _bare(text)) for words, text in TONGUES))


def _any(ways: _Ways, text: str) -> bool:
    asked = {pattern for word in ways if word in text for pattern in ways[word]}
    return any(pattern.compiled.search(text) for pattern in asked)


def speaks_to_reader(text: str) -> bool:
    """Whether a text looks like an order to the model, a false call, a false role or a false approval."""
    if len(text) <= _SHORT:
        return bool(text) and _speaks_shortly(text)
    return _speaks(text[:_READ], 0)


def arguments_speak(arguments: dict[str, Any]) -> bool:
    """Whether a name or a value among the arguments of a call does so; what only stands between them is no text."""
    said = [text for text in _texts(arguments) if len(text) > _WORD_CHARS]
    # One look at all of it is quicker; only what it finds is looked for in each part.
    return bool(said) and speaks_to_reader(" ;\n".join(said)) and any(map(speaks_to_reader, said))


def _texts(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting += [*one.values(), *one]
        elif isinstance(one, list | tuple):
            waiting += one


# The words before a call stand before many calls, and are asked about on the way and at the end.
@lru_cache(maxsize=4096)
def _speaks_shortly(text: str) -> bool:
    return _speaks(text, 0)


def _speaks(text: str, depth: int) -> bool:
    plain = text.lower() if text.isascii() else _without_tricks(text)
    if _orders(plain) or _any(_TONGUES, plain):
        return True
    if not plain.isascii():
        latin = _without_accents(plain.translate(_LOOKALIKES))
        if latin != plain and (_orders(latin) or _any(_TONGUES, latin)):
            return True
    return _is_disguised(text, plain, depth)


def _orders(plain: str) -> bool:
    """Whether a text in small letters orders or approves anything, or carries signs of a role or a call."""
    if _any(_SIGNS, plain):
        return True
    flat = " ".join(plain.replace("_", " ").replace("’", "'").replace("*", "").split())
    return _any(_WORDS, flat)


def _is_disguised(text: str, plain: str, depth: int) -> bool:
    """Written with gaps, with figures for letters, escaped or encoded."""
    if _SPACED.compiled.search(plain):
        joined = _SPACED.compiled.sub(lambda found: _GAP.compiled.sub("", found.group()), plain)
        if _orders(joined) or _CLOSE.compiled.search("".join([c for c in plain if c.isalnum()])):
            return True
    if _CLOSE.compiled.search(plain):
        return True
    if _LEET.compiled.search(plain) and _orders(plain.translate(_LEET_SIGNS)):
        return True
    if depth >= _DEEPEST:
        return False
    if _ESCAPED.compiled.search(text):
        opened = _UNESCAPE.compiled.sub(lambda found: chr(int(found.group(1), 16)), unquote(unescape(text)))
        if opened != text and _speaks(opened, depth + 1):
            return True
    return any(_speaks(inner, depth + 1) for found in _ENCODED.compiled.findall(text) for inner in _decoded(found))


def _decoded(word: str) -> list[str]:
    """What a word says if it is base64 or hexadecimal for a readable text."""
    body = word.rstrip("=").replace("-", "+").replace("_", "/")
    datas = []
    for decode, given in ((bytes.fromhex, word), (a2b_base64, body + "=" * (-len(body) % 4))):
        try:
            datas.append(decode(given))
        except (Error, ValueError):
            continue
    texts = [data.decode("utf-8", "ignore") for data in datas if len(data) >= _READABLE]
    return [text for text in texts if _is_readable(text)]


def _is_readable(text: str) -> bool:
    return len(text) >= _READABLE and sum(c.isprintable() for c in text) > 0.9 * len(text) and " " in text


def _without_tricks(text: str) -> str:
    """In small letters and one way of writing, without signs that nobody sees."""
    normal = unicodedata.normalize("NFKC", text.translate(_TAGS))
    return "".join([c for c in normal if c < "\x80" or unicodedata.category(c) not in _UNSEEN]).lower()


def _without_accents(text: str) -> str:
    split = unicodedata.normalize("NFD", text)
    return "".join([c for c in split if c < "\x80" or not unicodedata.combining(c)])
