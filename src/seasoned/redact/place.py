"""Secrets known by where they stand: password hashes, key files, manifests, calls that log in.

Each search runs only where a short mark stands in the text, since every mark costs a look at every text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping

from seasoned.lazy_regex import LazyRegex
from seasoned.redact.assignment import APP_PASSWORD
from seasoned.redact.hit import Hit
from seasoned.redact.literal import (
    SHORTEST_DRAWN,
    is_drawn,
    is_hex_key,
    is_made,
    is_made_up,
    is_placeholder,
    is_plain_password,
    is_random,
    is_secret,
    is_typed,
)
from seasoned.redact.name import Promise, kind_of, promise, vocabulary

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
LDAP_MARKS = ("{ssha", "{sha", "{smd5}", "{md5}", "{crypt}")
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
JAR_MARKS = ("\ttrue\t", "\\ttrue\\t", "\tfalse\t", "\\tfalse\\t")
MANIFEST_DATA = LazyRegex(r"""data(?<!metadata)["'\\]{0,6}\s{0,2}:""")
MANIFEST_REACH = 8192
MANIFEST_VALUE = LazyRegex(
    r"""(?:(?:\n|\\n)(?:[\w./\-]{1,80}[:\-]\d{1,6}[:\-]|[+\-])?|[{,]\s{0,20}|→)([ \t]*)"""
    r"""["'\\]{0,6}[\w.\-]{1,128}(?:["'\\]{0,6}[ \t]{0,2}:[ \t]{1,4}|\\{0,6}["']:)"""
    r"""["'\\]{0,6}([^\s"'\\{}|>,]{4,4096})"""
)
SECRET_SET = LazyRegex(
    r"""secrets?[ :](?:set|add|create|put|update) [^\n]{1,200}?(?:--body|--data|--value|-b)[ =]["']?([^\s"']{4,512})"""
)
VAULT_PUT = LazyRegex(
    r"""vault (?:kv put|write) [^\s=]{1,200}(?:\s[\w.\-]{1,64}=@\S{1,200})*\s[\w.\-]{1,64}=["']?([^\s"'@]{4,512})"""
)
SECRET_ASSIGNED = LazyRegex(r"""secrets?[ :](?:set|add|create|put|import) [^\n]{0,100}?\w=["']?([^\s"']{6,512})""")
# `auth sha X priv aes 128 X` of network devices.
ALGORITHM_KEY = LazyRegex(r"(?:auth|priv) (?:sha|md5|des|aes|3des)(?:[ \-]?\d{1,3})? ([^\s\"']{6,128})")
# A key as a list of bytes, and what announces it.
BYTE_KEY = LazyRegex(r"\[\s?(?:\d{1,3},\s?){31,63}\d{1,3}\s?\]")
FROM_LITERAL = LazyRegex(r"""--from-literal[= ]["']?[\w.\-]{1,64}=["']?([^\s"',]{5,512})""")
ENABLE_SECRET = LazyRegex(r"enable secret ([^\s\"'\d][^\s\"']{4,127})")  # network devices
# By the mark, so that the expression begins with it.
LEVEL_SECRETS = {
    mark: LazyRegex(mark + r"([^\s\"']{5,128})(?=\s|\\|\"|$)")
    for mark in ("secret 0 ", "secret 5 ", "secret 8 ", "secret 9 ", "password 0 ", "password 7 ")
}
COMMUNITY = LazyRegex(r"community ([^\s\"']{4,64}) (?:r[ow](?![a-z])|authorization read)")
EAP = LazyRegex(r""" : (?:eap|xauth|ntlm) \\{0,4}["]([^\s"\\]{4,128})""")
# The options `-D...login=` of scanners take tokens; a name is shorter.
LOGIN_TOKEN = LazyRegex(r"login(?:[ =]|\s{0,2}:\s{0,2})[\"']?([a-z0-9_\-]{20,128})(?![\w/.@])")
GO_DSN = LazyRegex(r"[\w.\-]{1,64}:([^\s:/@\"'`]{3,128})@(?:tcp|udp|unix)\(")
SASL = LazyRegex(r"\]:\d{2,5}[ \t]{1,16}[^\s:]{1,100}:([^\s\"'\\]{4,128})")
# Cookies in the format of Netscape's browser, which curl and wget still write.
COOKIE_JAR = LazyRegex(
    r"(?:\t|\\t)(?:true|false)(?:\t|\\t)\d{1,12}(?:\t|\\t)[\w.\-]{1,64}(?:\t|\\t)([^\s\"'\\]{16,4096})"
)
WORKFLOW = LazyRegex(r"::add-mask::([^\s\"'\\:]{6,4096})")
WORKFLOW_OUTPUT = LazyRegex(r"::(?:set-output|set-env|save-state) name=([\w\-]{1,64})::([^\s\"'\\]{6,4096})")
BACKUP_MARKS = ("backup code", "recovery code", "scratch code")
BACKUP_CODES = LazyRegex(r"code(?:(?<=backup code)|(?<=recovery code)|(?<=scratch code))s?[^\n\\]{0,160}(?:\n|\\n|$)")
SAME_LINE_CODE = LazyRegex(
    r"(?<![\w\-])(?:\d{4,6}[- ]?\d{4,6}|(?=[a-z\-]{0,7}\d)[a-z0-9]{4,6}-[a-z0-9]{4,6})(?![\w\-])"
)
BACKUP_CODE = LazyRegex(
    r"(?:[ \t\d?+\-*.:|#]|src[\w./]{0,80}:\d{1,6}:){0,24}?([a-z0-9]{4,8}(?:[- ][a-z0-9]{4,8}){0,3})(?:\n|\\n|\"|$)"
)
TOTP = LazyRegex(r"""totp[a-z_]{0,12}["']?\s{0,2}[:= ]\s{0,2}["']?([a-z2-7]{16,64})(?![a-z0-9])""")
BRAINTREE = LazyRegex(r"access_token\$(?:production|sandbox)\$([a-z0-9]{16}\$[a-f0-9]{32})")
PYPI_TOKEN = LazyRegex(r"pypi-token\.[\w\-]{1,64}\s([^\s\"']{16,512})")
VARIABLE = LazyRegex(
    r"""variable\s{1,2}["']([\w\-]{1,64})["']\s{0,2}\{[^}]{0,400}?default\s{0,8}=\s{0,2}["']([^"'\n]{4,512})["']"""
)
# In state and output (JSON) and in configuration (HCL).
SENSITIVE = LazyRegex(r"""sensitive(?:["'\\]{1,6}\s{0,2}:|\s{1,8}=)\s{0,2}true""")
VALUE = LazyRegex(r"""(?:["'\\]{1,6}value["'\\]{1,6}\s{0,2}:|value\s{0,12}=)\s{0,2}(\\{0,6})["']([^"'\\\n]{4,1024})""")
RESULT = LazyRegex(r"""["'\\]{1,6}result["'\\]{1,6}\s{0,2}:\s{0,2}\\{0,6}["']([^"'\\\n]{4,1024})""")
NEAR = 400
# `sqlplus user/password@db`, `jdbc:oracle:thin:user/password@db`.
ORACLE = LazyRegex(
    r"""(?:connect |sqlplus|sqlcl|sqlldr|rman|[ie]xpdp|impdp|:thin:|userid=)(?:\s{1,2}-[a-z]{1,12}){0,4}\s{0,2}["']?"""
    r"""[a-z][\w$#]{0,40}/\\{0,4}["']?([^\s/@"'\\]{3,128})\\{0,4}["']?(?:@| as sys)"""
)
# `define('DB_PASSWORD', '...')`: name and value are arguments.
DEFINE = LazyRegex(r"""define\(\s{0,4}["']([\w.]{2,64})["']\s{0,4},\s{0,16}["']([^"'\n]{4,512})["']""")
# The last argument of a call that logs in.
_ARGUMENTS = (
    r"""(?:\s?\(|[ ](?=["']))(?:\s{0,2}[^()"'\n,]{1,80},|\s{0,2}\\{0,4}["'][^"'\n]{0,200}\\{0,4}["'],){1,3}"""
    r"""\s{0,2}\\{0,4}["']([^"'\s\\]{5,128})\\{0,4}["']"""
)
_BEFORE_IT = r"""(?:\s{0,2}[^()"'\n,]{1,80},|\s{0,2}\\{0,4}["'][^"'\n]{0,200}\\{0,4}["'],)"""
# Calls that take a password at a known place, whatever it looks like.
TAKING = {
    mark: LazyRegex(
        rf"""{mark}\s?\(\s{{0,4}}{_BEFORE_IT}{{{number}}}\s{{0,4}}\\{{0,4}}["']([^"'\n\\]{{4,80}})\\{{0,4}}["']"""
    )
    for mark, number in {
        "pdo": 2, "getconnection": 2, "networkcredential": 1, "mysqli_connect": 2, "sequelize": 2, "basicauth": 1,
        "basic_auth": 1, "basicauthcredentials": 1, "wifi.begin": 1, "plainauth": 2, "mysqli": 2,
        "usernamepasswordtoken": 1,
        "usernamepasswordcredentials": 1, "usernamepasswordauthenticationtoken": 1, "pscredential": 1, "credentials": 1,
        "imap_open": 2, "ftp_login": 2, "oci_connect": 1, "pg8000.connect": 1, "withbasicauth": 1, "setbasicauth": 1,
        "x509certificate2": 1, "passwordauthentication": 1, "ldap_bind": 2, "signinwithemailandpassword": 1,
        "createuserwithemailandpassword": 1, "username_pw_set": 1, "ftp.login": 1, "srv.login": 1, "smtp.login": 1,
    }.items()
}  # fmt: skip
TAKING_MARKS = tuple(TAKING)
CALLS = {
    **{name: LazyRegex(rf"{name}{_ARGUMENTS}") for name in ("basicauth", "basic_auth", "plainauth")},
    "credential": LazyRegex(rf"credentials?{_ARGUMENTS}"),
    "login": LazyRegex(rf"login{_ARGUMENTS}"),
    "connect": LazyRegex(rf"connect(?:ion)?{_ARGUMENTS}"),
    "pdo": LazyRegex(rf"pdo{_ARGUMENTS}"),
    "database(": LazyRegex(rf"database(?=\(){_ARGUMENTS}"),
    ".auth(": LazyRegex(rf"\.auth(?=\(){_ARGUMENTS}"),
    **{
        name: LazyRegex(re.escape(name) + _ARGUMENTS)
        for name in ("wifi.begin", "sequelize", "authenticate", "sign_in", "signin", "logon")
    },
    "userpwd": LazyRegex(r"""userpwd["']?\s?,\s?\\{0,4}["'][\w.@\-]{1,64}:([^"'\s\\]{4,128})"""),
}
# Calls whose name speaks of a secret: any argument that looks like one is one, wherever it stands.
CALL_MARKS = (
    "login", "connect", "auth", "pass", "credential", "crypt", "cipher", "wallet", "aes.", "hmac", "superuser", "btoa(",
    "jwt.",
    "keystore", "secret(", "signer", "create_user", "createuser", "sign_in", "signin", "logon", "token(", "key(",
    "pwd(",
)  # fmt: skip
CALL_NAME = LazyRegex(r"[\w.:<>]{0,32}\((?!\))")
ARGUMENT = LazyRegex(r"""[=,(\s]b?\\{0,4}["'`]([^"'`\s\\]{6,256})\\{0,4}["'`]""")
CALL_REACH = 240
# Calls that sign, encrypt or make one-time passwords, with the key as a literal. By their marks.
_KEY = r"""\(?(?:[^()"'\n]{1,80},\s?|["'][^"'\n]{1,40}["'],\s?)?b?\\{0,4}["']([\w+/=\-]{16,256})\\{0,4}["']"""
SIGNING = {
    **{mark: LazyRegex(re.escape(mark) + r"\w{3,12}" + _KEY) for mark in ("jwt.", "authenticator.")},
    **{
        mark: LazyRegex(re.escape(mark) + _KEY)
        for mark in ("hmac256(", "hmac512(", "totp(", "hotp(", "hmac(", "hmac.new(", "fernet(")
    },
}
NET_USE = LazyRegex(
    r"net user? (?:[^\n]{0,120}?/user:\S{1,80}|(?:[a-z]:\s)?[\w.\-\\$]{1,80})[ \t]([^\s/*\"'\\][^\s\"']{3,127})"
)
PSK = LazyRegex(r"""psk(?:["']?\s{0,2}[:=]\s{0,2}|[ \t])\\{0,4}["']?([^\s"'\\]{8,64})""")
WIFI_CODE = LazyRegex(r"wifi:[^\n]{0,120}?;p:([^;\n]{4,64});")
WALLET_KEY = LazyRegex(r"(?:accounts|wallet)\W{1,8}0x([0-9a-f]{64})(?![0-9a-f])")
# Twelve words or more and no joining word among them.
PHRASE = LazyRegex(r"(?<![a-z])(?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8}(?![a-z])")
PHRASE_LABEL = LazyRegex(r"(?:phrase|words|seed|mnemonic|wallet)\b")
# None of these is in the list that wallets draw from (BIP 39), and hardly any sentence does without them.
JOINING = vocabulary(
    "the and for from are was were not your has had but its than them their who how our his her been being some "
    "such each per via with should would could may might does did let get got see now which those"
)
PHRASE_MARKS = ("phrase", "words", "seed", "mnemo", "wallet")
PHRASE_REACH = 300
NUMBERED = LazyRegex(r"1[.):][ ]?[a-z]{3,8}(?:(?:\s|,|\\n|[\d→+]){1,14}?\d{1,2}[.):][ ]?[a-z]{3,8}){11,23}(?![a-z])")
WORD_COUNTS = (12, 15, 18, 21, 24)


# Of these a key in hexadecimal is an argument too.
CIPHERS = ("crypt", "cipher", "wallet", "aes.", "hmac", "signer", "key(", "secret(", "jwt.")
BYTE_KEY_MARKS = ("secret", "wallet", "seed", "solana", "keypair", "private")
KEYED = {**SIGNING, "login": LOGIN_TOKEN}
# By the mark: the kind of the secret, and where it stands beside the mark.
# What an agent types into a field: `{"element": "Password field", "text": "X"}`.
TYPED_IN = LazyRegex(
    r"""password[^"\\]{0,20}\\{0,4}"(?:,\s?\\{0,4}"\w{1,12}\\{0,4}":\s?\\{0,4}"?[\w\-]{0,20}\\{0,4}"?){0,3}"""
    r""",\s?\\{0,4}"(?:text|value)\\{0,4}":\s?\\{0,4}"([^"\\]{4,80})"""
)
BESIDE: dict[str, tuple[tuple[str, LazyRegex], ...]] = {
    "password": (("password", TYPED_IN),),
    "secret": (("secret", SECRET_SET), ("secret", ENABLE_SECRET)),
    **{mark: (("secret", pattern),) for mark, pattern in LEVEL_SECRETS.items()},
    "vault ": (("secret", VAULT_PUT),),
    **dict.fromkeys(LDAP_MARKS, (("password-hash", LDAP_HASH),)),
    ":::": (("password-hash", NT_HASHES),),
    "community": (("secret", COMMUNITY),),
    " : eap ": (("password", EAP),),
    "@tcp(": (("password", GO_DSN),),
    "@unix(": (("password", GO_DSN),),
    "]:587": (("password", SASL),),
    "]:465": (("password", SASL),),
    "::add-mask::": (("secret", WORKFLOW),),
    "sqlplus": (("password", ORACLE),),
    " as sys": (("password", ORACLE),),
    ":thin:": (("password", ORACLE),),
    "pdp ": (("password", ORACLE),),
    "userid=": (("password", ORACLE),),
    "totp": (("secret", TOTP),),
    "pypi-token": (("token", PYPI_TOKEN),),
    "access_token$": (("token", BRAINTREE),),
    "net use": (("password", NET_USE),),
    "psk": (("password", PSK),),
    "wifi:": (("password", WIFI_CODE),),
    "accounts": (("private-key", WALLET_KEY),),
    "wallet": (("private-key", WALLET_KEY),),
}


READ = frozenset((*BESIDE, *CALLS, *KEYED, *TAKING))


def find_in_places(text: str, low: str, marks: Mapping[str, list[int]]) -> Iterator[Hit]:
    """Secrets that their surroundings give away. `low` is the lower-cased ASCII view with the same places."""
    for mark in READ & marks.keys():
        for kind, pattern in BESIDE.get(mark, ()):
            yield from _group(kind, pattern, text, low)
        if mark in TAKING:
            yield from _taken(TAKING[mark], text, low)
        if mark in CALLS:
            yield from _group("password", CALLS[mark], text, low, needs_mix=True)
        if mark in KEYED:
            yield from _random_group(KEYED[mark], text, low)
    yield from _arguments(text, low, marks)
    if "from-literal" in marks:
        yield from _literals(FROM_LITERAL, text, low)
    if "secret" in marks:
        yield from _literals(SECRET_ASSIGNED, text, low)
    if " priv " in marks:
        yield from _literals(ALGORITHM_KEY, text, low)
    if not marks.keys().isdisjoint(BYTE_KEY_MARKS):
        for match in BYTE_KEY.compiled.finditer(low):
            if match[0].count(",") in (31, 63):
                yield Hit("private-key", match.start(), match.end())
    if "define(" in marks:
        yield from _named(DEFINE, text, low)
    if "::set-" in marks:
        yield from _named(WORKFLOW_OUTPUT, text, low)
    if not marks.keys().isdisjoint(JAR_MARKS):
        yield from _random_group(COOKIE_JAR, text, low)
    if not marks.keys().isdisjoint(BACKUP_MARKS):
        yield from _backup_codes(low)
    if "kty" in marks:
        for match in JWK_PART.compiled.finditer(text):
            if "kty" in low[max(0, match.start() - JWK_REACH) : match.end() + JWK_REACH]:
                yield Hit("private-key", match.start(1), match.end(1))
    if "secret" in marks or "stringdata" in marks:
        yield from _manifest(text, low)
    if "sensitive" in marks or "random_password" in marks:
        yield from _state(text, low)
    if "variable " in marks:
        yield from _named(VARIABLE, text, low)
    if "12. " in marks or "12) " in marks:
        for match in NUMBERED.compiled.finditer(low):
            words = re.findall(r"[a-z]{3,8}", match[0])
            if len(words) in WORD_COUNTS and not JOINING.intersection(words):
                yield Hit("seed-phrase", match.start(), match.end())
    if not marks.keys().isdisjoint(PHRASE_MARKS):
        yield from _phrases(low)


def find_hashes(text: str, low: str) -> Iterator[Hit]:
    """Hashes of passwords, as systems and frameworks write them."""
    patterns = [HASH, DJANGO_HASH] if "_sha" in low or "scrypt$" in low else [HASH]
    for pattern in patterns:
        for match in pattern.compiled.finditer(text):
            yield Hit("password-hash", match.start(), match.end())


def _literals(pattern: LazyRegex, text: str, low: str) -> Iterator[Hit]:
    """What a command that stores secrets is given: hosts and names of users stay."""
    for match in pattern.compiled.finditer(low):
        word = text[match.start(1) : match.end(1)]
        named = promise(low[match.start() : match.start(1)].rstrip("=\"'").rpartition("=")[2]) >= Promise.WEAK
        plain = named and (is_made(word) or is_plain_password(word))
        if not is_placeholder(word) and (plain or is_made_up(word) or is_random(word)):
            yield Hit("secret", match.start(1), match.end(1))


def _group(kind: str, pattern: LazyRegex, text: str, low: str, needs_mix: bool = False) -> Iterator[Hit]:
    for match in pattern.compiled.finditer(low):
        word = text[match.start(1) : match.end(1)]
        if not is_placeholder(word) and (not needs_mix or _is_mix(word)):
            yield Hit(kind, match.start(1), match.end(1))


def _arguments(text: str, low: str, marks: Mapping[str, list[int]]) -> Iterator[Hit]:
    for mark in marks.keys() & CALL_MARKS:
        for at in marks[mark]:
            call = CALL_NAME.compiled.match(low, at)
            if call is not None:
                end = call.end()
                line = low.find("\n", end, end + CALL_REACH)
                for match in ARGUMENT.compiled.finditer(text, end - 1, line if line >= 0 else end + CALL_REACH):
                    word = match[1].rpartition(":")[2]
                    typed = is_made_up(word) and sum(c.isdigit() for c in word) > 1
                    if typed or (len(word) >= SHORTEST_DRAWN and is_drawn(word)) or (mark in CIPHERS and _is_key(word)):
                        yield Hit("password", match.end(1) - len(word), match.end(1))


def _is_key(word: str) -> bool:
    return is_hex_key(word) or (len(word) > 15 and word.isalnum() and is_typed(word))


def _taken(pattern: LazyRegex, text: str, low: str) -> Iterator[Hit]:
    for match in pattern.compiled.finditer(low):
        word = text[match.start(1) : match.end(1)]
        if is_made(word) or is_plain_password(word) or APP_PASSWORD.compiled.fullmatch(word) is not None:
            yield Hit("password", match.start(1), match.end(1))


def _random_group(pattern: LazyRegex, text: str, low: str) -> Iterator[Hit]:
    for match in pattern.compiled.finditer(low):
        word = text[match.start(1) : match.end(1)]
        if is_random(word) or (pattern is not LOGIN_TOKEN and pattern is not COOKIE_JAR and is_plain_password(word)):
            yield Hit("secret", match.start(1), match.end(1))


def _backup_codes(low: str) -> Iterator[Hit]:
    """The lines below "backup codes:", as long as each is a code."""
    for label in BACKUP_CODES.compiled.finditer(low):
        for beside in SAME_LINE_CODE.compiled.finditer(low, label.start(), label.end()):
            yield Hit("secret", beside.start(), beside.end())
        at = label.end()
        for _ in range(24):
            code = BACKUP_CODE.compiled.match(low, at)
            if code is None or not any(c.isdigit() for c in code[1]):
                break
            yield Hit("secret", code.start(1), code.end(1))
            at = code.end()


def _named(pattern: LazyRegex, text: str, low: str) -> Iterator[Hit]:
    """The second group is secret if the first is the name of a secret."""
    for match in pattern.compiled.finditer(low):
        name, word = text[match.start(1) : match.end(1)], text[match.start(2) : match.end(2)]
        if is_secret(word, promise(name), True, True):
            yield Hit(kind_of(name), match.start(2), match.end(2))


def _is_mix(word: str) -> bool:
    """Whether a password was typed here rather than a word: a figure or a sign among letters."""
    return (any(c.isdigit() for c in word) and any(c.isalpha() for c in word)) or is_made(word)


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
