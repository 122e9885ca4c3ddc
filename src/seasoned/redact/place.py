"""Secrets and personal data known by where they stand or how they are written.

Key blocks, addresses, manifests, encodings and recovery phrases; e-mail addresses, cards, bank accounts, telephones.
"""

from __future__ import annotations

import binascii
from bisect import bisect_right
from collections.abc import Callable, Iterator
from urllib.parse import unquote

from seasoned.lazy_regex import LazyRegex
from seasoned.redact.value import Hit, is_placeholder, is_random, reach_in, vocabulary

PLAIN_LOCAL = "abcdefghijklmnopqrstuvwxyz0123456789.+_-"
DOMAIN = LazyRegex(r"(?:[a-z0-9](?:[a-z0-9\-]{0,61}[a-z0-9])?\.){1,6}([a-z]{2,18})(?![a-z0-9\-_(]|\.[a-z0-9]|:[/~])")
# `name@1.0.tgz` and `getty@tty1.service` look like addresses: these endings are files and units.
NOT_ENDINGS = vocabulary(
    "js ts py sh rs md go rb so cc jsx tsx json yaml yml toml png jpg jpeg gif svg css html htm tgz zip gz tar "
    "whl jar service socket target timer mount slice scope conf cfg ini txt log lock map vue php java kt swift "
    "cpp hpp local localhost internal invalid test example git exe dll bin sql csv xml lua ex exs ml hs pl ps"
)
# Senders and examples that do not identify a person.
IMPERSONAL = vocabulary(
    "git noreply no-reply donotreply do-not-reply hg svn user you your.email your-email name email me foo bar"
)
# Escapes of JSON end in letters and figures that do not belong to the number.
_ESCAPED = r"(?<=\\[nrt])|(?<=\\u00\w\w)"
CARD = LazyRegex(
    rf"(?:(?<![\w.])(?<!\w-)|{_ESCAPED})"
    r"(?:\d{14,19}|\d{4}([ \-])\d{4}\1\d{4}\1\d{1,7}|3\d{3}([ \-])\d{6}\2\d{5})(?![\w\-]|\.\d)"
)
IBAN = LazyRegex(
    rf"(?:(?<![A-Za-z0-9_\-/])|{_ESCAPED})[A-Z]{{2}}\d{{2}}"
    r"(?:[A-Z0-9]{11,30}|(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,4})?)(?![A-Za-z0-9_\-])"
)
PHONE = LazyRegex(
    r"""(?:phone|mobile|cell|tel|fax|whatsapp)[a-z_ ]{0,12}["'\\]{0,6}"""
    r"""[ ]?(?:[:=]{1,2}\s{0,3}|(?<=[ ])(?=\+))["'\\]{0,6}"""
    r"(\+?\(?\d[\d ().\-/]{5,22}\d)(?![\w])"
)


def find_emails(text: str, low: str, places: list[int]) -> Iterator[Hit]:
    """E-mail addresses of people, at these signs; not ssh targets, scoped packages or no-reply senders."""
    for at in places:
        domain = DOMAIN.compiled.match(low, at + 1)
        if domain is not None and domain[1] not in NOT_ENDINGS:
            left = low[max(0, at - 64) : at]
            local = left[len(left.rstrip(PLAIN_LOCAL)) :].lstrip(".-+")
            start = at - len(local)
            # In JSON a line end is written `\n` and `<` may be `\u003c`, which would become part of the name.
            if start and text[start - 1] == "\\":
                cut = 5 if local.startswith("u00") else 1 if local[:1] in "nrt" else 0
                local, start = local[cut:], start + cut
            if text[start - 1 : start] != "$" and _is_person(local, low, start):
                yield Hit("email", start, domain.end())


def _is_person(local: str, low: str, start: int) -> bool:
    if (
        not local
        or local in IMPERSONAL
        or not local.strip("x")  # masked
        or "noreply" in local
        or "no-reply" in local
        or not any(c.isalpha() for c in local)
    ):
        return False
    before = low[max(0, start - 60) : start]
    line = before[before.rfind("\n") + 1 :]
    return not (
        line.lstrip("$ ").startswith(("ssh ", "scp ", "rsync ", "sftp ", "ssh-copy-id ")) or line.endswith("://")
    )


def find_numbers(text: str, low: str, places: list[int]) -> Iterator[Hit]:
    """Numbers of cards and accounts that begin about here, with a valid check digit."""
    reached = 0
    for at in places:
        if at < reached:
            continue
        reached = at + 4
        card = CARD.compiled.search(text, max(0, at - 1), at + 36)
        if card is not None and _is_card(card[0]):
            yield Hit("card", card.start(), card.end())
        yield from find_iban(text, at)


def _is_card(written: str) -> bool:
    digits = "".join(c for c in written if c.isdigit())
    return len(set(digits)) > 1 and _in_range(digits) and _luhn(digits)


def _in_range(digits: str) -> bool:
    # One number in ten has a valid check digit, so the ranges of the networks must fit too.
    n, two, four = len(digits), int(digits[:2]), int(digits[:4])
    if digits[0] == "4":
        return n in (16, 19)
    if n == 15:
        return two in (34, 37)
    if n == 14:
        return two in (36, 38)
    return n == 16 and (
        51 <= two <= 55 or 2221 <= four <= 2720 or four == 6011 or two in (65, 62) or 3528 <= four <= 3589
    )


def _luhn(digits: str) -> bool:
    total = 0
    for i, c in enumerate(reversed(digits)):
        n = int(c) * (2 if i % 2 else 1)
        total += n - 9 if n > 9 else n
    return total % 10 == 0


def find_iban(text: str, at: int) -> Iterator[Hit]:
    """The account number around this place, with valid check digits (IBAN, ISO 13616)."""
    match = IBAN.compiled.search(text, max(0, at - 24), at + 48)
    if match is None:
        return
    end = match.end()
    while end - match.start() >= 15:
        whole = text[match.start() : end].replace(" ", "")
        if 15 <= len(whole) <= 34 and int("".join(str(int(c, 36)) for c in whole[4:] + whole[:4])) % 97 == 1:
            yield Hit("iban", match.start(), end)
            return
        # The match may include a following upper-case word.
        cut = text.rfind(" ", match.start(), end)
        end = cut if cut > 0 else 0


def find_phones(text: str, low: str, places: list[int]) -> Iterator[Hit]:
    """The numbers behind labels for telephone numbers."""
    for at in places:
        match = PHONE.compiled.match(low, at)
        if match is not None and 7 <= sum(c.isdigit() for c in match[1]) <= 15:
            yield Hit("phone", match.start(1), match.end(1))


LONG = 20  # shorter words are neither tokens nor worth decoding
BASE64 = LazyRegex(r"[A-Za-z0-9+/_\-]{16,}={0,2}")
PERCENT = LazyRegex(r"%[0-9A-Fa-f]{2}[A-Za-z0-9%._~+!*()\-]*")
PERCENT_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~+!*()-"
SAMPLE = 24

Find = Callable[[str], list[Hit]]


def find_in_base64(text: str, start: int, end: int, find: Find) -> Hit | None:
    """The whole run of base64 if it decodes to text with a secret."""
    run = text[start:end]
    if run.islower() or run.isupper() or run.isdigit():
        return None
    packed = run.replace("-", "+").replace("_", "/").rstrip("=")
    sample = _decode(packed[:SAMPLE])
    if sample is None or not _is_text(sample):
        return None
    data = _decode(packed)
    return Hit("encoded", start, end) if data is not None and find(_read(data)) else None


def find_in_percent(text: str, find: Find) -> Iterator[Hit]:
    """Percent-encoded words that contain a secret."""
    for match in PERCENT.compiled.finditer(text):
        left = text[max(0, match.start() - 512) : match.start()]
        start = match.start() - len(left) + len(left.rstrip(PERCENT_LETTERS))
        plain = unquote(text[start : match.end()])
        if "%" in plain:
            plain = unquote(plain)
        if len(plain) > 8 and find(plain):
            yield Hit("encoded", start, match.end())


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


def find_blocks(text: str, low: str, places: list[int]) -> Iterator[Hit]:
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
        reach = reach_in(text, begin.end(), FURTHEST)
        end = END.compiled.search(text, begin.end(), reach)
        # Another begin line before the end line: this key was cut off, and the end belongs to the next.
        following = text.find("-----BEGIN ", begin.end(), end.end() if end else reach)
        if end is not None and following < 0:
            done = end.end()
        else:
            done = _body_end(text, begin.end())
            if done - begin.end() < 24:
                continue
        # A begin and an end line with hardly anything between them, or a name, are documentation.
        if done - begin.start() > 96 and "_" not in text[begin.end() : done]:
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


USERINFO = LazyRegex(
    r"""://([^\s/?#@:"'<>\\`]{0,256}):([^\s/@"'<>\\`]{1,256}(?:@[^\s/@"'<>\\`]{1,64}){0,2})@(?=[\w\[{$])"""
)
# A token without a user name: `https://TOKEN@host`.
ALONE = LazyRegex(r"""://([^\s/?#@:"'<>\\`.]{20,512})@""")


def find_in_urls(text: str, low: str, places: list[int]) -> Iterator[Hit]:
    """The password or token before the host of a URL."""
    for match in USERINFO.compiled.finditer(text):
        if not is_placeholder(match[2]):
            yield Hit("url-password", match.start(2), match.end(2))
            if len(match[1]) >= LONG and is_random(match[1]):
                yield Hit("url-password", match.start(1), match.end(1))
    for match in ALONE.compiled.finditer(text):
        if is_random(match[1]):
            yield Hit("url-password", match.start(1), match.end(1))


# `"d"` of a private key and `"k"` of a shared one (RFC 7517), near the `"kty"` that makes them keys.
JWK_PART = LazyRegex(
    r"""["']\\{0,8}(?:d|k|p|q|dp|dq|qi)\\{0,8}["']\s{0,2}:\s{0,2}\\{0,8}["']([\w\-]{16,1024})\\{0,8}["']"""
)
JWK_REACH = 4096
# The values of a Kubernetes secret, whatever they are called.
MANIFEST = LazyRegex(r"""kind["'\\]{0,6}\s{0,2}:\s{0,2}["'\\]{0,6}secret\b""")
ANY_KIND = LazyRegex(r"""kind["'\\]{0,6}\s{0,2}:""")
STRING_DATA = LazyRegex(r"""stringdata["'\\]{0,6}\s{0,2}:""")
MANIFEST_DATA = LazyRegex(r"""data(?<!metadata)["'\\]{0,6}\s{0,2}:""")
MANIFEST_REACH = 8192
MANIFEST_VALUE = LazyRegex(
    r"""(?:(?:\n|\\n)(?:[\w./\-]{1,80}[:\-]\d{1,6}[:\-]|[+\-])?|[{,]\s{0,20}|→)([ \t]*)"""
    r"""["'\\]{0,6}[\w.\-]{1,128}(?:["'\\]{0,6}[ \t]{0,2}:[ \t]{1,4}|\\{0,6}["']:)"""
    r"""["'\\]{0,6}([^\s"'\\{}|>,]{4,4096})"""
)
# Twelve words or more, shortly after a word that announces them, and no joining word among them.
PHRASE = LazyRegex(
    r"(?<![a-z])(?:(?:\d{1,2}[.):] ?)?[a-z]{3,8}[ ,\n]{1,2}){11,23}(?:\d{1,2}[.):] ?)?[a-z]{3,8}(?![a-z])"
)
PHRASE_WORD = LazyRegex(r"[a-z]+")
WORD_COUNTS = (12, 15, 18, 21, 24)
# None of these is in the list that wallets draw from (BIP 39), and hardly any sentence does without them.
JOINING = vocabulary(
    "the and for from are was were not your has had but its than them their who how our his her been being some such "
    "each per via with should would could may might does did let get got see now which those"
)


def find_key_parts(text: str, low: str, places: list[int]) -> Iterator[Hit]:
    """The private parts of JSON web keys."""
    for match in JWK_PART.compiled.finditer(text):
        if "kty" in low[max(0, match.start() - JWK_REACH) : match.end() + JWK_REACH]:
            yield Hit("private-key", match.start(1), match.end(1))


def find_in_manifests(text: str, low: str, places: list[int]) -> Iterator[Hit]:
    """The values of Kubernetes secrets."""
    reached = 0
    for start in sorted(_manifest_data(low)):
        at, indent = start, -1
        if start < reached:
            continue  # an earlier block went over it: looking again would take quadratic time
        while (match := MANIFEST_VALUE.compiled.search(text, at, at + 400)) is not None:
            depth = len(match[1])
            # The block ends where a line is less indented than its first value.
            indent = depth if indent < 0 else indent
            if depth < indent or "}" in text[at : match.start(2)]:
                break
            if not is_placeholder(match[2]) and match[2].lower() not in ("secret", "opaque"):
                yield Hit("secret", match.start(2), match.end(2))
            reached = at = match.end(2)


def _manifest_data(low: str) -> list[int]:
    """Where the data of each secret begins: beside its kind, with no other object between them."""
    found = [data.end() for data in STRING_DATA.compiled.finditer(low)] if "stringdata" in low else []
    kinds = {kind.start() for kind in MANIFEST.compiled.finditer(low)}
    if not kinds:
        return found
    others = [kind.start() for kind in ANY_KIND.compiled.finditer(low)]
    for data in MANIFEST_DATA.compiled.finditer(low):
        # The kind before it and the one after it; one of the two belongs to the same object.
        place = bisect_right(others, data.start())
        near = [at for at in others[max(0, place - 1) : place + 1] if abs(at - data.start()) < MANIFEST_REACH]
        if not kinds.isdisjoint(near):
            found.append(data.end())
    return found


def find_phrases(text: str, low: str, places: list[int]) -> Iterator[Hit]:
    """Recovery phrases of wallets."""
    done = 0
    for at in places:
        label = PHRASE_WORD.compiled.match(low, at).end()  # type: ignore[union-attr]
        match = PHRASE.compiled.search(low, max(done, label), label + 300) if label > done else None
        done = max(done, reach_in(low, label, 100))
        if match is None:
            continue
        done = match.end()
        words = PHRASE_WORD.compiled.findall(match[0])
        if len(words) in WORD_COUNTS and not JOINING.intersection(words) and len(set(words)) * 2 > len(words):
            yield Hit("seed-phrase", match.start(), match.end())
