"""Secrets known by where they stand: password hashes, key files, manifests, calls that log in, sentences people say.

Each search runs only where a short mark stands in the text, since every mark costs a look at every text.
"""

from __future__ import annotations

from collections.abc import Iterator

from seasoned.lazy_regex import LazyRegex
from seasoned.redact.hit import Hit
from seasoned.redact.literal import is_placeholder, is_secret
from seasoned.redact.name import kind_of, promise, vocabulary

# What crypt(3) and its relatives write: `$6$salt$...`, `$2b$12$...`, `$argon2id$...`.
HASH = LazyRegex(
    r"\$(?:2[abxy]?\$\d\d\$[./A-Za-z0-9]{53}|(?:[156y]|7|gy|apr1|sha1|md5)\$(?:rounds=\d{1,9}\$|j[./A-Za-z0-9]{1,8}\$)?"
    r"[./A-Za-z0-9]{1,64}\$[./A-Za-z0-9]{20,128}|argon2(?:id|i|d)\$[a-z0-9=,$]{1,64}\$[A-Za-z0-9+/]{8,128}\$"
    r"[A-Za-z0-9+/]{16,256})"
)
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
MANIFEST_DATA = LazyRegex(r"""data(?<!metadata)["'\\]{0,6}\s{0,2}:""")
MANIFEST_REACH = 8192
MANIFEST_VALUE = LazyRegex(
    r"""(?:\n|\\n|[{,]\s{0,20}|→)([ \t]*)["'\\]{0,6}[\w.\-]{1,128}["'\\]{0,6}[ \t]{0,2}:[ \t]{1,4}"""
    r"""["'\\]{0,6}([^\s"'\\{}|>,]{4,4096})"""
)
GH_SECRET = LazyRegex(r"""secret set [^\n]{1,200}?(?:--body|-b)[ =]["']?([^\s"']{4,512})""")
VAULT_PUT = LazyRegex(
    r"""vault (?:kv put|write) [^\s=]{1,200}(?:\s[\w.\-]{1,64}=@\S{1,200})*\s[\w.\-]{1,64}=["']?([^\s"'@]{4,512})"""
)
ENABLE_SECRET = LazyRegex(r"enable secret (?:\d )?([^\s\"']{5,128})")  # Cisco's devices
TOTP = LazyRegex(r"""totp[a-z_]{0,12}["']?\s{0,2}[:= ]\s{0,2}["']?([a-z2-7]{16,64})(?![a-z0-9])""")
PYPI_TOKEN = LazyRegex(r"pypi-token\.[\w\-]{1,64}\s([^\s\"']{16,512})")
VARIABLE = LazyRegex(
    r"""variable\s{1,2}["']([\w\-]{1,64})["']\s{0,2}\{[^}]{0,400}?default\s{0,8}=\s{0,2}["']([^"'\n]{4,512})["']"""
)
SENSITIVE = LazyRegex(r"""sensitive["'\\]{1,6}\s{0,2}:\s{0,2}true""")
VALUE = LazyRegex(r"""["'\\]{1,6}value["'\\]{1,6}\s{0,2}:\s{0,2}(\\{0,6})["']([^"'\\\n]{4,1024})""")
RESULT = LazyRegex(r"""["'\\]{1,6}result["'\\]{1,6}\s{0,2}:\s{0,2}\\{0,6}["']([^"'\\\n]{4,1024})""")
NEAR = 400
# `sqlplus user/password@db`, `jdbc:oracle:thin:user/password@db`.
ORACLE = LazyRegex(
    r"""(?:sqlplus|sqlcl|sqlldr|rman|[ie]xpdp|impdp|:thin:)(?:\s{1,2}-[a-z]{1,12}){0,4}\s{0,2}["']?[a-z][\w$#]{0,40}/([^\s/@"'\\]{3,128})@"""
)
# `define('DB_PASSWORD', '...')`: name and value are arguments.
DEFINE = LazyRegex(r"""define\(\s{0,4}["']([\w.]{2,64})["']\s{0,4},\s{0,16}["']([^"'\n]{4,512})["']""")
# The last argument of a call that logs in.
_ARGUMENTS = (
    r"""\s?\((?:\s{0,2}[^()"'\n,]{1,80},|\s{0,2}\\{0,4}["'][^"'\n]{0,200}\\{0,4}["'],){1,3}"""
    r"""\s{0,2}\\{0,4}["']([^"'\s\\]{5,128})\\{0,4}["']"""
)
CALLS = {
    "login": LazyRegex(rf"login{_ARGUMENTS}"),
    "connect": LazyRegex(rf"connect(?:ion)?{_ARGUMENTS}"),
    "pdo": LazyRegex(rf"pdo{_ARGUMENTS}"),
}
NET_USE = LazyRegex(r"net user? (?:[^\n]{0,120}?/user:\S{1,80}|[\w.\-\\$]{1,80})\s([^\s/*\"'][^\s\"']{3,127})")
PSK = LazyRegex(r"""psk(?:\s{0,2}=\s{0,2}|\s)["']?([^\s"']{8,64})""")
# Twelve words or more and no joining word among them.
PHRASE = LazyRegex(r"(?<![a-z])(?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8}(?![a-z])")
PHRASE_LABEL = LazyRegex(r"(?:phrase|words|seed|mnemonic)\b")
# None of these is in the list that wallets draw from (BIP 39), and hardly any sentence does without them.
JOINING = vocabulary(
    "the and for from are was were not your has had but its than them their who how our his her been being some "
    "such each per via with should would could may might does did let get got see now which those"
)
PHRASE_MARKS = ("phrase", "words", "seed", "mnemo")
PHRASE_REACH = 300
WORD_COUNTS = (12, 15, 18, 21, 24)


# A mark, the kind of the secret, and where it stands beside the mark: the first group, or the second after a name.
BESIDE = (
    ("cre", "secret", GH_SECRET),
    ("cre", "secret", VAULT_PUT),
    ("cre", "secret", ENABLE_SECRET),
    ("sqlplus", "password", ORACLE),
    (":thin:", "password", ORACLE),
    ("pdp ", "password", ORACLE),
    ("totp", "secret", TOTP),
    ("ken", "token", PYPI_TOKEN),
    ("net use", "password", NET_USE),
    ("psk", "password", PSK),
)


def find_in_places(text: str, low: str, marks: set[str]) -> Iterator[Hit]:
    """Secrets that their surroundings give away. `low` is the lower-cased ASCII view with the same places."""
    for mark, kind, pattern in BESIDE:
        if mark in marks:
            yield from _group(kind, pattern, text, low)
    for mark, pattern in CALLS.items():
        if mark in marks:
            yield from _group("password", pattern, text, low, needs_mix=True)
    if "define(" in marks:
        yield from _named(DEFINE, text, low)
    if "kty" in marks:
        for match in JWK_PART.compiled.finditer(text):
            if "kty" in low[max(0, match.start() - JWK_REACH) : match.end() + JWK_REACH]:
                yield Hit("private-key", match.start(1), match.end(1))
    if "cre" in marks:
        yield from _manifest(text, low)
    if "sensitive" in marks or "pass" in marks:
        yield from _state(text, low)
        yield from _named(VARIABLE, text, low)
    if not marks.isdisjoint(PHRASE_MARKS):
        yield from _phrases(low)


def find_hashes(text: str, low: str) -> Iterator[Hit]:
    """Hashes of passwords, as systems and frameworks write them."""
    patterns = [HASH, DJANGO_HASH] if "_sha" in low or "scrypt$" in low else [HASH]
    for pattern in patterns:
        for match in pattern.compiled.finditer(text):
            yield Hit("password-hash", match.start(), match.end())


def _group(kind: str, pattern: LazyRegex, text: str, low: str, needs_mix: bool = False) -> Iterator[Hit]:
    for match in pattern.compiled.finditer(low):
        word = text[match.start(1) : match.end(1)]
        if not is_placeholder(word) and (not needs_mix or _is_mix(word)):
            yield Hit(kind, match.start(1), match.end(1))


def _named(pattern: LazyRegex, text: str, low: str) -> Iterator[Hit]:
    """The second group is secret if the first is the name of a secret."""
    for match in pattern.compiled.finditer(low):
        name, word = text[match.start(1) : match.end(1)], text[match.start(2) : match.end(2)]
        if is_secret(word, promise(name), True, True):
            yield Hit(kind_of(name), match.start(2), match.end(2))


def _is_mix(word: str) -> bool:
    """Whether a password was typed here rather than a word: a figure or a sign among letters."""
    return any(c.isdigit() for c in word) and any(c.isalpha() for c in word)


def _manifest(text: str, low: str) -> Iterator[Hit]:
    for kind in MANIFEST.compiled.finditer(low):
        first, last = max(0, kind.start() - MANIFEST_REACH), kind.end() + MANIFEST_REACH
        data = MANIFEST_DATA.compiled.search(low, first, last)
        if data is None:
            continue
        indent: int | None = None
        at = data.end()
        while (match := MANIFEST_VALUE.compiled.search(text, at, at + 400)) is not None:
            depth = len(match[1])
            # The block ends where a line is less indented than its first value.
            indent = depth if indent is None else indent
            if depth < indent or "}" in text[at : match.start(2)]:
                break
            if not is_placeholder(match[2]) and match[2].lower() not in ("secret", "opaque"):
                yield Hit("secret", match.start(2), match.end(2))
            at = match.end(2)


def _state(text: str, low: str) -> Iterator[Hit]:
    """Terraform: outputs marked sensitive, and what random_password made."""
    for mark in SENSITIVE.compiled.finditer(low):
        start, end = max(0, mark.start() - NEAR), mark.end() + NEAR
        # The value stands in the same object: no brace between them.
        for match in VALUE.compiled.finditer(text, start, end):
            between = text[min(match.end(), mark.end()) : max(match.start(), mark.start())]
            if "{" not in between and "}" not in between:
                yield Hit("secret", match.start(2), match.end(2))
    at = low.find("random_password")
    while at >= 0:
        for match in RESULT.compiled.finditer(text, at, at + 2000):
            yield Hit("password", match.start(1), match.end(1))
        at = low.find("random_password", at + 2000)


def _phrases(low: str) -> Iterator[Hit]:
    """Recovery phrases of wallets, shortly after a word that announces one."""
    done = 0
    for label in PHRASE_LABEL.compiled.finditer(low):
        match = PHRASE.compiled.search(low, max(done, label.end()), label.end() + PHRASE_REACH)
        if match is None:
            continue
        done = match.end()
        words = match[0].replace(",", " ").split()
        if len(words) in WORD_COUNTS and not JOINING.intersection(words) and len(set(words)) * 2 > len(words):
            yield Hit("seed-phrase", match.start(), match.end())


# "The password is X" where English is not spoken: a word for password, perhaps what it is for, a joint, the value.
PASSWORD_WORDS = {
    "pass": ("passwort", "mot de passe"),
    "kennwort": ("kennwort",),
    "woord": ("wachtwoord",),
    "senha": ("senha",),
    "sandi": ("kata sandi",),
    "contrasena": ("contrasena",),
}
PASSWORD_WORDS_BEYOND_ASCII = (
    "password", "passwort", "kennwort", "mot de passe", "wachtwoord", "senha", "contraseña", "hasło", "пароль", "密码",
    "密碼",
    "パスワード", "비밀번호", "암호", "şifre", "parola", "كلمة المرور", "كلمة السر", "पासवर्ड", "mật khẩu", "รหัสผ่าน",
    "סיסמה",
)  # fmt: skip
SAID = LazyRegex(
    r"(?i)\w{0,3}(?:\s(?:für|fuer|pour|do|da|del|de|van|voor|untuk|от|для|para)\s\S{1,30}(?:\s\S{1,20})?)?"
    r"(?:\s?[:：=—–-]\s?|\s+(?:ist|lautet|est|es|é|è|e|to|is|hai|है|هي|هو|adalah|jest)\s*[:：]?\s*"
    r"|\s*(?:是|为|為|は、?|は:|는|은|가)\s*|\s+)"
    r"[\"'„“«「`]?([^\s\"'“”»」`，。]{5,64})"
)
SAID_LONGEST = 20_000  # people write short texts; a long one is a file or an output


def find_said(text: str, marks: set[str]) -> Iterator[Hit]:
    """Passwords in sentences of languages other than English."""
    if len(text) > SAID_LONGEST:
        return
    words: tuple[str, ...] = PASSWORD_WORDS_BEYOND_ASCII
    if text.isascii():
        words = tuple(word for mark, found in PASSWORD_WORDS.items() if mark in marks for word in found)
    small = text.lower() if words else ""
    if len(small) != len(text):
        return  # rare letters change their length, and places would no longer be equal
    for word in words:
        at = small.find(word)
        while at >= 0:
            at += len(word)
            match = SAID.compiled.match(text, at)
            said = match[1].rstrip(".,;:)。，") if match is not None else ""
            if match is not None and _is_said(said):
                yield Hit("password", match.start(1), match.start(1) + len(said))
            at = small.find(word, at)


def _is_said(word: str) -> bool:
    """A word of the sentence has no figures; a path, an address and a call are not passwords."""
    return len(word) >= 5 and _is_mix(word) and word[0] not in "/.~$<{(" and not is_placeholder(word)
