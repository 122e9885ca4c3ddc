"""Secrets known by where they stand: key blocks, addresses, hashes, manifests, encodings, and a few settings."""

from __future__ import annotations

import binascii
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping

from seasoned.lazy_regex import LazyRegex
from seasoned.redact.name import kind_of, promise, vocabulary
from seasoned.redact.value import Hit, is_made, is_placeholder, is_random, is_secret

LONG = 20  # shorter words are neither tokens nor worth decoding
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


USERINFO = LazyRegex(
    r"""://([^\s/?#@:"'<>\\`]{0,256}):([^\s/@"'<>\\`]{1,256}(?:@[^\s/@"'<>\\`]{1,64}){0,2})@(?=[\w\[{$])"""
)
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


# What crypt(3) and its relatives write: `$6$salt$...`, `$2b$12$...`, `$argon2id$...`.
HASH = LazyRegex(
    # Docker Compose doubles the dollar.
    r"\$(?:2[abxy]?\${1,2}\d\d\${1,2}[./A-Za-z0-9]{53}|(?:[156y]|7|gy|apr1|sha1|md5)\$(?:rounds=\d{1,9}\$"
    r"|j[./A-Za-z0-9]{1,8}\$)?"
    r"[./A-Za-z0-9]{1,64}\$[./A-Za-z0-9]{20,128}|argon2(?:id|i|d)\$[a-z0-9=,$]{1,64}\$[A-Za-z0-9+/]{8,128}\$"
    r"[A-Za-z0-9+/]{16,256}"
    # phpass and Drupal; salt and digest of Werkzeug; SCRAM of PostgreSQL.
    r"|[PH]\$[./A-Za-z0-9]{31}(?![./A-Za-z0-9])|S\$[./A-Za-z0-9]{52}|[A-Za-z0-9]{6,32}\$[0-9a-f]{40,128}(?![0-9a-f])"
    r"|krb5(?:tgs|asrep|pa)\$[^\s\"']{40,4000}"
    r"|\d{4,6}:[A-Za-z0-9+/]{16,64}={0,2}\$[A-Za-z0-9+/]{27,88}={0,2}:[A-Za-z0-9+/]{27,88}={0,2})"
)
LDAP_HASH = LazyRegex(r"\{(?:s?sha(?:256|384|512)?|s?md5|crypt|pbkdf2[\w\-]{0,12})\}([a-z0-9+/$.=]{20,256})")
NT_HASHES = LazyRegex(r":([0-9a-f]{32}:[0-9a-f]{32}):::")  # what Windows keeps, as tools dump it
DJANGO_HASH = LazyRegex(
    r"(?:pbkdf2_sha(?:1|256|512)|bcrypt_sha256|scrypt)\$[0-9a-z$]{1,24}\$?[\w./+$]{6,64}\$[\w./+=$]{27,128}"
)
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
FROM_LITERAL = LazyRegex(r"""--from-literal[= ]["']?[\w.\-]{1,64}=["']?([^\s"',]{5,512})""")
IDENTIFIED = LazyRegex(r"""identified (?:with [\w"'`]{1,40} )?by\s{1,4}\\{0,8}["']([^"'\n\\]{4,128})""")
CHPASSWD = LazyRegex(r"""[a-z_][a-z0-9_\-]{0,31}:([^\s"'\\$]{4,128})["']?\s*\|\s*(?:sudo\s+)?chpasswd""")
PASS_WORD = LazyRegex(r""" pass:([^\s"'\\,;]{4,256})""")
# `echo SECRET | sudo -S ...`: a secret for the program that reads it.
PIPED = LazyRegex(
    r"""(?:echo|printf)\s{1,3}(?:-[ne]{1,2}\s{1,3})?(?:\\{0,4}["']?%s(?:\\{1,4}n)?\\{0,4}["']?\s)?\\{0,4}["']?"""
    r"""([^\s"'|\\$]{4,512})(?:\\{1,4}n)?\\{0,4}["']?\s{0,3}\|\s{0,3}[^|\n]{0,120}?"""
    r"""(?:password-stdin|sudo -s|passwd|cryptsetup|secrets? (?:create|set|put|add)|passphrase-fd|kinit)"""
)
SECRET_SET = LazyRegex(
    r"""secrets?[ :](?:set|add|create|put|update) [^\n]{1,120}?(?:--body|--data|--value|-b)[ =]["']?([^\s"']{6,512})"""
)
SECRET_ASSIGNED = LazyRegex(r"""secrets?[ :](?:set|add|create|put|import) [^\n]{0,100}?\w=["']?([^\s"']{6,512})""")
VAULT_PUT = LazyRegex(
    r"""vault (?:kv put|write) [^\s=]{1,200}(?:\s[\w.\-]{1,64}=@\S{1,200}){0,4}\s[\w.\-]{1,64}=["']?([^\s"'@]{4,512})"""
)
GO_DSN = LazyRegex(r"[\w.\-]{1,64}:([^\s:/@\"'`]{3,128})@(?:tcp|udp|unix)\(")
COMMUNITY = LazyRegex(r"community ([^\s\"']{4,64}) (?:r[ow](?![a-z])|authorization read)")
EAP = LazyRegex(r""" : (?:eap|xauth|psk|ntlm) \\{0,4}"([^\s"\\]{4,128})""")
WIFI_CODE = LazyRegex(r"wifi:[^\n]{0,120}?;p:([^;\n]{4,64});")
NT_HASHES = LazyRegex(r":([0-9a-f]{32}:[0-9a-f]{32}):::")  # what Windows keeps, as tools dump it
PGPASS = LazyRegex(
    r"(?m)^[ \t+\-0-9→|]{0,24}[\w.*\-]{1,100}:(?:\d{2,5}|\*):[\w*\-]{1,64}:[\w*\-.@]{1,64}:([^\s:\"']{4,256})$"
)
ORACLE = LazyRegex(r""":thin:[a-z][\w$#]{0,40}/\\{0,4}["']?([^\s/@"'\\]{3,128})\\{0,4}["']?@""")
SECURE_STRING = LazyRegex(r"""securestring(?:\s-string)?\s{1,3}\\{0,4}["']([^"'\n\\]{4,200})""")
DEFINE = LazyRegex(r"""define\(\s{0,4}["']([\w.]{2,64})["']\s{0,4},\s{0,16}["']([^"'\n]{4,512})["']""")
# The password among the arguments of a call that connects or logs in, behind its parenthesis.
ARGUMENTS = LazyRegex(
    r"""(?:\s{0,2}[^()"'\n,]{1,80},|\s{0,2}\\{0,4}["'][^"'\n]{0,200}\\{0,4}["'],){1,3}"""
    r"""\s{0,2}\\{0,4}["']([^"'\s\\]{5,128})\\{0,4}["']"""
)
CALLS = ("login(", "connect(", "connection(", "pdo(", "mysqli(", "begin(")
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
# By a mark without which the expression cannot match: the kind, the expression, whether the value must look made up.
BESIDE: dict[str, tuple[tuple[str, LazyRegex, bool], ...]] = {
    "secret": (("secret", SECRET_SET, True), ("secret", SECRET_ASSIGNED, True)),
    "identified ": (("password", IDENTIFIED, False),),
    "vault ": (("secret", VAULT_PUT, True),),
    "@tcp(": (("password", GO_DSN, False),),
    "community ": (("secret", COMMUNITY, False),),
    " : eap ": (("password", EAP, False),),
    "wifi:": (("password", WIFI_CODE, False),),
    ":5432:": (("password", PGPASS, False),),
    ":thin:": (("password", ORACLE, False),),
    "asplaintext": (("password", SECURE_STRING, False),),
    ":::": (("password-hash", NT_HASHES, False),),
    "{ssha": (("password-hash", LDAP_HASH, False),),
    "{sha": (("password-hash", LDAP_HASH, False),),
    "from-literal": (("secret", FROM_LITERAL, True),),
}
# The same for words that contain one of a name, so that they are no marks.
WITH_PASS = {" pass:": PASS_WORD, "chpasswd": CHPASSWD}
PIPE_ENDS = ("password-stdin", "sudo -s", "passwd", "cryptsetup", "passphrase-fd", "kinit", "secret")


def find_in_places(text: str, low: str, marks: Mapping[str, list[int]]) -> Iterator[Hit]:
    """Secrets that their surroundings give away. The marks are those of the text, and where each of them ends."""
    patterns = {row for mark in marks.keys() & BESIDE.keys() for row in BESIDE[mark]}
    if "pass" in marks:
        patterns |= {("password", pattern, False) for word, pattern in WITH_PASS.items() if word in low}
    if ("echo " in low or "printf " in low) and any(end in low for end in PIPE_ENDS):
        patterns.add(("password", PIPED, False))
    for kind, pattern, must_look in patterns:
        for match in pattern.compiled.finditer(low):
            word = text[match.start(1) : match.end(1)]
            if is_placeholder(word) or word.isdigit() or (must_look and not (is_made(word) or is_random(word))):
                continue
            yield Hit(kind, match.start(1), match.end(1))
    for mark in CALLS:
        for end in marks.get(mark, ()):
            call = ARGUMENTS.compiled.match(text, end)
            if call is not None and (is_made(call[1]) or is_random(call[1])):
                yield Hit("password", call.start(1), call.end(1))
    if "define(" in marks:
        for match in DEFINE.compiled.finditer(low):
            name, word = text[slice(*match.span(1))], text[slice(*match.span(2))]
            if is_secret(word, promise(name), True, True):
                yield Hit(kind_of(name), *match.span(2))
    if "kty" in marks:
        for match in JWK_PART.compiled.finditer(text):
            if "kty" in low[max(0, match.start() - JWK_REACH) : match.end() + JWK_REACH]:
                yield Hit("private-key", match.start(1), match.end(1))
    if "secret" in marks or "stringdata" in marks:
        yield from _manifest(text, low)
    yield from _phrases(low, [end for mark in ("phrase", "seed", "mnemonic", "words") for end in marks.get(mark, ())])


def find_hashes(text: str, low: str) -> Iterator[Hit]:
    """Hashes of passwords, as systems and frameworks write them."""
    patterns = [HASH, DJANGO_HASH] if "_sha" in low or "scrypt$" in low else [HASH]
    for pattern in patterns:
        for match in pattern.compiled.finditer(text):
            yield Hit("password-hash", match.start(), match.end())


def _manifest(text: str, low: str) -> Iterator[Hit]:
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


def _phrases(low: str, labels: list[int]) -> Iterator[Hit]:
    """Recovery phrases of wallets."""
    done = 0
    for label in sorted(labels):
        match = PHRASE.compiled.search(low, max(done, label), label + 300) if label > done else None
        done = max(done, label + 100)
        if match is None:
            continue
        done = match.end()
        words = PHRASE_WORD.compiled.findall(match[0])
        if len(words) in WORD_COUNTS and not JOINING.intersection(words) and len(set(words)) * 2 > len(words):
            yield Hit("seed-phrase", match.start(), match.end())
