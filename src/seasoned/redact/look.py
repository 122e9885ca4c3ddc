"""Words that are secret by their look alone: drawn at random from letters of both cases and figures.

In 117 MB of real histories and 222 MB of source and documentation hardly any other word looks like that: names are made
of syllables, digests and ids have one case or a prefix, and what encodes a text can be decoded.
"""

from __future__ import annotations

from binascii import Error, a2b_base64
from collections.abc import Iterator

from seasoned.lazy_regex import LazyRegex
from seasoned.redact.hit import Hit
from seasoned.redact.literal import SHORTEST_DRAWN, is_drawn, is_placeholder
from seasoned.redact.name import WORDS, vocabulary

JOINED_CLASSES = bytes(97 if 48 <= c <= 57 or (chr(c).isalpha() and c < 128) else 32 for c in range(256))
WORD = b"a" * SHORTEST_DRAWN
LONGEST_WORD = 200  # longer ones are data
BLOCK = 8192  # a key or a certificate
CONTROL = bytes(c for c in range(32) if c not in (9, 10, 13)) + b"\x7f"
ENCODED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-="
# What a drawing's path is written with, and an address of a cryptocurrency.
DRAWING = LazyRegex(r"(?:[mhvlzcsqtaMHVLZCSQTA]?[0-9]+|[zZ][a-zA-Z]?)+")
ADDRESS = LazyRegex(r"[13][1-9A-HJ-NP-Za-km-z]{25,34}|(?:bc1|0x|Qm)\w+|AAAA.*")
# `toolu_01...`, `sha512-...`, `cus_...`: an id or a token that `rules.py` knows.
PREFIXED = LazyRegex(r"[A-Za-z0-9]{2,12}[_\-][A-Za-z0-9+/_=\-]+")
# The name before a word that says what it is: `"node_id": "`, `integrity: sha512-`, `h1:`, `ETag: W/"`, `--accessor `.
LABEL = LazyRegex(
    r"(?:(?:\\[nrt])?([\w.\-]{1,40})\\{0,8}[\"']{0,2}\s{0,4}[:=]>?\s{0,2}(?:W/)?"
    r"|([\w\-]{2,40})[ ]{1,30})\\{0,8}[\"'`]{0,2}$"
)
LINE_START = LazyRegex(r"(?:^|\n|\\n)(?:[\w./\-]{1,80}:\d{1,6}:|[ \t]*\d{1,6}→|[+\-])?[ \t]*[\"'`]?$")
# An address that grants access to those who know it.
GRANTING = LazyRegex(r"(?i)hook|login|sign-?in|reset|invit|magic|token|verif|confirm|activat|secret|auth|private|join")
ADDRESSED = LazyRegex(r"://[^\s\"'<>?#]*/$")
REACH = 200
LONG_ENOUGH = 20
PUBLIC_LABELS = vocabulary(
    "id ids uid uuid guid kid sub hash hashes digest integrity sum checksum etag nonce fingerprint thumbprint cursor "
    "commit rev revision ref address addr pubkey public instance node video sheet doc document file filename path url "
    "uri href src image img data base64 b64 d content body blob challenge h sha md crc "
    "signature identifier voice thread message trace span request version build name class page next prev "
    "continuation offset boundary accessor peer iv tag rowid stdout output text result"
)


def find_drawn(text: str, data: bytes) -> Iterator[Hit]:
    """Words that look drawn, outside of paths, addresses and what names an id. `data` has one byte a character."""
    joined = data.translate(JOINED_CLASSES)
    at = joined.find(WORD)
    while at >= 0:
        end = joined.find(b" ", at + SHORTEST_DRAWN)
        if end < 0:
            end = len(joined)
        # Most long words have no figure.
        if not data[at:end].isalpha() and end - at <= LONGEST_WORD and is_drawn(text[at:end]):
            yield from _around(text, at, end)
        at = joined.find(WORD, end)


def _around(text: str, start: int, end: int) -> Iterator[Hit]:
    """The whole word around a part that looks drawn, unless what is around it names an id or data."""
    near = text[max(0, start - LONGEST_WORD) : start]
    first = start - (len(near) - len(near.rstrip(ENCODED)))
    near = text[end : end + LONGEST_WORD]
    last = end + len(near) - len(near.lstrip(ENCODED))
    if first and text[first - 1] == "\\" and text[first] in "nrt":
        first += 1
    if text[first] in "+-" and (first == 0 or text[first - 1] == "\n"):
        first += 1  # the sign of a diff
    # `name=` belongs to the word only as padding.
    cut = text.rfind("=", first, start)
    first = cut + 1 if cut >= 0 else first
    slash = text.rfind("/", first, start)
    address = ADDRESSED.compiled.search(text, max(0, slash - REACH), slash + 1) if slash >= 0 else None
    first = slash + 1 if address is not None else first
    word = text[first:last].rstrip("=")
    if PREFIXED.compiled.fullmatch(word) or DRAWING.compiled.fullmatch(word) or ADDRESS.compiled.fullmatch(word):
        return
    before, after = text[max(0, first - 60) : first], text[last : last + 2]
    if address is not None:
        if len(word) >= LONG_ENOUGH and GRANTING.compiled.search(address[0]) is not None and "/" not in word:
            yield Hit("url-key", first, last)
        return
    if (
        not word
        or is_placeholder(word)
        or before[-1:] in ("/", ".", "%", "@", "#", ",", "?", "&", "~", "]")
        or "/" in word[:2]
    ):
        return
    if after[:1] in ("/", ".", "(", "[") and after[1:].isalnum():
        return
    if len(word) > LONGEST_WORD or is_public(before) or decodes_to_text(word):
        return
    # A word that fills its line is an id or a line of encoded data; `nearby.py` knows what is printed below a name.
    alone = LINE_START.compiled.search(before) is not None and after[:1] in ("", "\n", "\r", "\\")
    if alone or "-----BEGIN " in text[max(0, first - BLOCK) : first]:
        return
    yield Hit("random", first, last)


def is_public(before: str) -> bool:
    """Whether the name before a word says that it may be seen by all."""
    label = LABEL.compiled.search(before)
    if label is None:
        return False
    words = [word.lower() for word in WORDS.compiled.findall(label[1] or label[2]) if not word.isdigit()]
    if before[: label.start()].endswith(("?", "&")):
        return True  # a parameter of an address: its name is known, or it is none
    if before[: label.start()].lower().endswith("public "):
        return True
    if not words or "public" in words or "sha" in words:
        return bool(words)
    # Parts of public keys and the variables of packed code have names of one letter.
    return words[-1] in PUBLIC_LABELS or (len(words[-1]) == 1 and label[1] is not None)


def decodes_to_text(word: str) -> bool:
    """Whether the word is a text in base64: what is secret in it is found there."""
    packed = word.replace("-", "+").replace("_", "/")
    # The n of an escaped newline may stand before it.
    for skip in (0, 1):
        try:
            data = a2b_base64(packed[skip : skip + (len(packed) - skip) // 4 * 4])
        except (Error, ValueError):
            continue
        if data.isascii() and data.translate(None, CONTROL) == data:
            return True
    return False
