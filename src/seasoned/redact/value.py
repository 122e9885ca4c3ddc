"""Whether a value is a secret: what its name promises, and what it looks like."""

from __future__ import annotations

import math
from binascii import Error, a2b_base64
from collections.abc import Iterator
from enum import IntEnum
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from seasoned.lazy_regex import LazyRegex


def vocabulary(text: str) -> frozenset[str]:
    """The words of the text."""
    return frozenset(text.split())


class Promise(IntEnum):
    """How strongly a name indicates that its value is secret."""

    NONE = 0
    WEAK = 1  # only if the value looks random: `key`, `auth`, `cookie`
    TOKEN = 2  # if the value is neither a word nor a number
    SECRET = 3  # unless the value is a placeholder or a plain word
    PASSWORD = 4  # even if the value is a plain word


WORDS = LazyRegex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# The words for a password in the languages that labels and settings are most often written in.
FOREIGN = (
    "passwort", "kennwort", "senha", "contrasena", "contraseña", "clave", "mdp", "mot de passe", "wachtwoord", "haslo",
    "hasło", "heslo", "sifre", "şifre", "parola", "jelszo", "jelszó", "salasana", "losenord", "lösenord", "passord",
    "kata sandi", "mật khẩu", "пароль", "密码", "密碼", "口令", "パスワード", "비밀번호", "암호", "पासवर्ड", "كلمة السر",
    "كلمة المرور",
)  # fmt: skip
NO_FOREIGN = ("enclave", "autoclave")
PASSWORDS = ("password", "passwd", "passphrase", "passcode", "pwd", "pswd")
SECRETS = ("secret", "apikey", "accesskey", "secretkey", "privatekey", "authkey", "accountkey", "masterkey")
KEY_OWNERS = vocabulary(
    "api access secret private encryption encrypt signing sign auth account master app application service anon admin "
    "subscription ssh deploy hmac jwt cipher crypto aes webhook client consumer integration server "
    "write ingest rest wallet azure aws gcp openai anthropic stripe sendgrid mailgun datadog algolia maps google "
    "gemini cohere mistral groq twilio vault django flask rails user merchant partner developer"
)
PUBLIC_TOKENS = vocabulary(
    "next page continuation cancel cancellation eos bos pad unk sep cls mask special stop start end first last per by "
    "input output prompt max min total num count new current previous prev expected unexpected parse lex invalid is "
    "has no the each every any cursor sync pagination design color keyword text word sub byte"
)
# Words that merely end like `sshpass`, `storepass` and `requirepass`.
NO_PASSWORDS = vocabulary("bypass compass encompass overpass surpass trespass underpass multipass firstpass onepass")
NO_KEYS = vocabulary("monkey hotkey turkey donkey publickey primarykey foreignkey sortkey cachekey hockey pubkey")
PUBLIC_KEYS = vocabulary("public pub primary foreign sort partition cache object socket idempotency")
PLURALS = {"passwords": "password", "secrets": "secret", "passphrases": "passphrase"}
# `existingSecret: app` and `pullSecret: app` name an object that holds the secret.
REFERRED = vocabulary("existing pull external image password key token tls auth credentials")
# What may follow the word that counts: `DB_PASSWORD_PROD`, `api_key_2`.
AFTER = vocabulary(
    "value val prod production dev development test testing stage staging live base plain text plaintext string str "
    "b64 base64 hex raw old new current confirm confirmation main default env repeat again enc encoded pem data "
    "hashed secret prev primary secondary backup material"
)
# `publicKeyToken`, `recaptcha_site_key`, `Sec-WebSocket-Key`: made to be seen.
SHOWN = vocabulary("public publishable site websocket")


@lru_cache(maxsize=4096)
def promise(name: str) -> Promise:
    """How strongly the name indicates a secret."""
    low = name.lower()
    if low.rstrip("\"'").endswith(FOREIGN) and not low.endswith(NO_FOREIGN):
        return Promise.PASSWORD
    words = [w.lower() for w in WORDS.compiled.findall(name)]
    while words and (words[-1] in AFTER or words[-1].isdigit()) and not words[-1].endswith(PASSWORDS + SECRETS):
        words.pop()
    if not words or words == ["user", "signingkey"]:  # the setting of git that names a key
        return Promise.NONE
    last = PLURALS.get(words[-1], words[-1])
    before = words[-2] if len(words) > 1 else ""
    if last.endswith(PASSWORDS) or (last in ("word", "phrase") and before == "pass"):
        return Promise.PASSWORD
    if last in ("pass", "psw"):
        return Promise.PASSWORD if before and before not in ("by", "test", "tests", "first", "second") else Promise.WEAK
    if last.endswith(("pass", "pw", "psk")) and last not in NO_PASSWORDS:
        return Promise.PASSWORD
    if last == "secret" and before in REFERRED:
        return Promise.NONE
    if last.endswith(SECRETS):
        return Promise.SECRET
    return _token_or_key(last, before, words)


def _token_or_key(last: str, before: str, words: list[str]) -> Promise:
    if not SHOWN.isdisjoint(words):
        return Promise.NONE
    if last.endswith("token"):
        return Promise.NONE if before in PUBLIC_TOKENS or last[:-5] in PUBLIC_TOKENS else Promise.TOKEN
    if last == "pepper" or (last in ("pat", "salt") and before) or (last == "id" and before == "secret"):
        return Promise.TOKEN
    if last == "key":
        if before in ("license", "licence"):
            return Promise.TOKEN  # what open-source users write there is a sentence
        if before in PUBLIC_KEYS:
            return Promise.NONE
        return Promise.SECRET if before in KEY_OWNERS else Promise.WEAK
    if last in ("authorization", "cookie") or (last.endswith("key") and last not in NO_KEYS):
        return Promise.WEAK
    if last.endswith("auth") or last in ("credential", "credentials", "creds", "bearer", "sig", "signature"):
        return Promise.WEAK
    return Promise.NONE


@lru_cache(maxsize=4096)
def kind_of(name: str) -> str:
    """The kind for the tag of a value with this name."""
    low = name.lower()
    for kind, marks in (
        ("authorization", ("authorization",)),
        ("cookie", ("cookie",)),
        ("password", ("pass", "pwd", "pw", *FOREIGN)),
        ("private-key", ("private",)),
        ("api-key", ("apikey", "api_key", "api-key")),
        ("token", ("token",)),
    ):
        if any(mark in low for mark in marks):
            return kind
    return "secret"


class Hit(NamedTuple):
    """The kind of a secret, and where it begins and ends."""

    kind: str
    start: int
    end: int


LABELS = vocabulary(
    "api key keys token tokens access refresh id user client secret secrets password passwd pass pwd passphrase auth "
    "authorization bearer basic db database my your the app name value admin login username confirm new old current x "
    "private public session csrf oauth jwt credentials credential cookie header service account"
)
EMPTY = vocabulary(
    "none null nil true false undefined string str text varchar char int integer number bool boolean bytes float any "
    "object optional array list dict unknown void required invalid incorrect wrong missing expired valid failed denied "
    "empty unset default enabled disabled hidden masked removed changeme changeit replaceme dummy fake sample todo "
    "test testing foo bar baz foobar include same-origin inherit prompt stdin env file input output function const "
    "return await generated hashed encrypted sensitive protected provided found expected n/a na "
    "system.security.securestring"
)
# For lower-cased text. Five shapes: `<...>`, `${...}`, `***`, `xxx` and `your-...`.
PLACEHOLDER = LazyRegex(
    r"""(?x)
      <[^>]*>? .* | \[[^\]]*\]? | \([^()\d]*\)?
    | [$%\#@&!]? [{(] .* | \$\$?[a-z_]\w*\W? | %[a-z_]*[%sd]? | @[a-z_.]+@ | __\w+__ | `.*`
    | .*(?:\$\{|\{\{|\*{3,}|\.{3}|…).* | [*•.\-_?\#=+~0/\\ ]+
    | (?:\w{1,8}[-_]){0,4}x{3,} | .*x{8,}.* | .*(?:placeholder|redacted|example).* | .*[-_ ]here\W?
    | (?:your|some|change|replace|insert|enter|put|paste|use|add|provide|dummy|fake|mock|generate)
      (?:[-_ .].*|\w*(?:password|secret|token|key|me))
    | (?:my|the|a|test|new|old|valid|wrong|bad|super)[-_ ]?[\w\-]*(?:password|passwd|secret|token|key|pass|pwd)
    """
)
# Where a value is kept: a variable, a file, a store of secrets.
KEPT = LazyRegex(
    r"(?i)(?:os\.|process\.|env[.\[:]|environ|secrets\.|var\.|local\.|data\.|module\.|config\.|self\.|this\.|import\.meta"
    r"|vault:|op://|ssm:|arn:|file:|keyring:|enc\[|ref\+|!\w|[|>&]\w*$|\\|/[a-z_./\-]+$|~/|\.{1,2}/|[a-z]:[\\/]"
    r"|https?://[^:@\s]*$|projects/|pk_(?:live|test)_).*"
)
REFERENCE = LazyRegex(
    r"(?x) [A-Za-z_$][\w$]* (?: (?:\??\.|::|->) [A-Za-z_$][\w$]* )* (?: \(.* | \[.* | \{.* | <.* | \??\.(?!\d).* )"
    r"| [A-Za-z_$][\w$]* (?: (?:\??\.|::|->) [A-Za-z_$][\w$]* )+ [,;)\]}]*"
    r"| [A-Z][A-Za-z]*\b(?:\[.*|\s*\|.*|<.*)?"
    r"| (?:await|new|lambda|not|f|b|r|typeof|func|async|yield|if|Some|Optional|List)\b[\s\"'(\[<].*"
)
SENTENCE = LazyRegex(
    r"(?i)\b(?:the|your|is|must|a|to|please|enter|invalid|required|incorrect|wrong|and|or|not|for|at|reset|forgot|with"
    r"|of|should|this|that|be|in|use|used|set|if|when|from|has|cannot|expired|missing|failed|password|token|on|by)\b"
)
VARIABLE_NAME = LazyRegex(
    r"[A-Z]+(?:_[A-Z]+)+|(?:[A-Z0-9]+_)+(?:PASS|PASSWORD|PWD?|SECRET|TOKEN|KEY)|[A-Z]+(?:PASSWORD|PASSWD)"
)
SHOWN_LETTERS = 200  # enough of a value to recognise a placeholder
TIDY = LazyRegex(r"\d[\d\-/:.T Z+]*|v?\d+(?:\.\d+)+[\w.+-]*|\d[\d,._]*\s?[a-zA-Z%]{0,3}")
UUID = LazyRegex(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TOKEN = LazyRegex(r"[A-Za-z0-9+/_\-]{16,4096}={0,2}")
TYPED_SIGNS = "!@#$%^&*?~+"


def is_made(word: str) -> bool:
    """Whether a person made up the word: figures among letters, or a sign within, and not just a name with a number."""
    if len(word) < 5 or is_placeholder(word) or any(c in word for c in "()[]{}<>;|\"'`"):
        return False
    figures = sum(c.isdigit() for c in word)
    letters = any(c.isalpha() for c in word)
    if not letters or ("@" in word and "." in word.partition("@")[2]):
        return False
    if figures == 0:
        return len(word) > 5 and word[0].isalnum() and any(c in TYPED_SIGNS for c in word.rstrip("!?*~+"))
    return figures > 1 or not word.islower() or not word.isalnum()


def is_strong(word: str) -> bool:
    """Whether a word can hardly be anything but a password, even where a name or a number could stand."""
    if len(word) < 8 or word[0] in "/.~$<{([#@-" or any(c in word for c in "/\\()[]{}<>=:;|,") or not is_made(word):
        return False
    figures = sum(c.isdigit() for c in word)
    if HEXADECIMAL.compiled.fullmatch(word) or UUID.compiled.fullmatch(word) or figures == 0:
        return False
    mixed = word.lower() != word and word.upper() != word
    return any(c in TYPED_SIGNS for c in word) or (mixed and figures > 1)


HEXADECIMAL = LazyRegex(r"(?:0x)?[0-9a-fA-F]{6,64}")
DOTTED = LazyRegex(r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+")


def is_reference(word: str) -> bool:
    """Whether a bare word is code that yields the value, rather than the value."""
    if not REFERENCE.compiled.fullmatch(word):
        return False
    if DOTTED.compiled.fullmatch(word) is None:
        return True
    # A password may have a dot in it, but hardly without a figure; a module may have a short name: `T.unpack`.
    return not any(c.isdigit() for c in word) or word[1] == "."


# What is said of passwords in a sentence or a label: they are required, wrong, hashed. No word of these is one.
SAID_OF = LazyRegex(r"[a-z\-]*(?:ed|ing|able|ible|ly|less|ful|ous|ive|ent|tion|ory|ary|s)")
CAMEL = LazyRegex(r"[a-zA-Z]*[a-z][A-Z][a-zA-Z]*$")
JOINTS = str.maketrans("", "", "-._'")


@lru_cache(maxsize=4096)
def is_plain(word: str) -> bool:
    """Whether a plain word may be a password where the place leaves no doubt: no label, type or predicate."""
    bare = word.rstrip("!?*#")
    if len(bare) < 4 or not bare.translate(JOINTS).isalnum() or bare.isdigit():
        return False
    parts = {part.lower() for part in WORDS.compiled.findall(bare)}
    if not LABELS.isdisjoint(parts) or is_placeholder(bare) or bare.isupper():
        return False
    return not CAMEL.compiled.match(bare) and not SAID_OF.compiled.fullmatch(bare.lower())


def is_random(text: str) -> bool:
    """Whether a word looks random: mixed characters with high entropy, or long hexadecimal."""
    n = len(text)
    if n < 8 or " " in text or "\n" in text or not text.isascii():
        return False
    digits = sum(c.isdigit() for c in text)
    if n >= 16 and _is_hex(text):
        return digits > 2 and len(set(text)) > 5
    upper = any(c.isupper() for c in text)
    lower = any(c.islower() for c in text)
    if TIDY.compiled.fullmatch(text) or len(set(text)) < min(6, n):
        return False
    if digits == 0:
        return upper and lower and n >= 16 and _turns(text) * 3 > n
    if n >= 16:
        return entropy(text) > 3.0 and _turns(text) * (6 if digits > 1 else 3) >= n
    return (upper or lower) and (digits >= 2 or (upper and lower))


# How rare a pair of letters is in words of English and code, 0 to 9, from "aa" to "zz".
_RARITY = (
    "33236536374232737221455557354646774573664675464877482645256348335626735246785835442556277455357444466768"
    "24223345476231434112544257465543682894763794554888695666265448746556944556887736663776487666378564678968"
    "44234437676231247322748484698859987878996799786999895767377757857677865678697926541576287366258643467947"
    "25752677387546339745578948253224263755543576324467675433654657533133923334357726562665497376347343576949"
    "78899989898888987778398999254415462954442593324558484635165328545533662137574825340462186445247223455636"
    "44454558498342649333788798367837874997676797778789774776578638967557945787679956465597578667758764888558"
    "6656567859865564864477666669874988599879789988897776"
)
RARITY = {chr(97 + i // 26) + chr(97 + i % 26): int(c) for i, c in enumerate(_RARITY)}
LEAST_RARITY = 3.6  # the mean of a word: in words 2.8, in random letters 5.5
NAMED_RARITY = 4.5
LONGEST_RUN = 5
# Runs that names are made of: syllables, abbreviations, years.
RUNS = LazyRegex(r"[A-Z]?[a-z]{3,}|[A-Z]{5,}|[0-9]{5,}")


def rarity(word: str) -> float:
    """How rare the pairs of letters in a word are, on average."""
    small = word.lower()
    pairs = [RARITY[pair] for pair in map("".join, pairwise(small)) if pair in RARITY]
    return sum(pairs) / len(pairs) if pairs else 5.0


def is_drawn(word: str) -> bool:
    """Whether a word was drawn from letters of both cases and figures, rather than made of syllables."""
    if word.lower() == word or word.upper() == word or not any(c.isdigit() for c in word):
        return False
    runs = [run for run in RUNS.compiled.findall(word) if rarity(run) < NAMED_RARITY]
    if sum(map(len, runs)) * 2 > len(word) or any(len(run) > LONGEST_RUN and run.isalpha() for run in runs):
        return False
    return rarity(word) >= LEAST_RARITY


def is_hex_key(word: str) -> bool:
    """A key in hexadecimal, as long as those of ciphers are; a commit has another length."""
    word = word.removeprefix("0x")
    return len(word) in (32, 48, 64, 96, 128) and _is_hex(word) and len(set(word)) > 7


def _is_hex(text: str) -> bool:
    return all(c in "0123456789abcdefABCDEF" for c in text)


def _turns(text: str) -> int:
    """How often the kind of character changes; rare in words."""
    kinds = ["d" if c.isdigit() else "u" if c.isupper() else "l" if c.islower() else "s" for c in text]
    return sum(a != b for a, b in pairwise(kinds))


def entropy(text: str) -> float:
    """The Shannon entropy of the text in bits per character."""
    n = len(text)
    return -sum(k / n * math.log2(k / n) for k in (text.count(c) for c in set(text)))


def reach_in(text: str, start: int, most: int) -> int:
    """How far to look from here: a scan looks through several texts as one, with a NUL between them."""
    end = text.find("\0", start, start + most)
    return end if end >= 0 else start + most


def is_pair(word: str) -> bool:
    """`user:password` as in HTTP basic authentication."""
    try:
        return b":" in a2b_base64(word + "=" * (-len(word) % 4))
    except (Error, ValueError):
        return False


def is_placeholder(value: str) -> bool:
    """Whether it stands for a secret, or says where it is kept."""
    return _is_placeholder(value[:SHOWN_LETTERS])


@lru_cache(maxsize=8192)
def _is_placeholder(value: str) -> bool:
    low = value.lower()
    if low.rstrip("!?") in EMPTY or PLACEHOLDER.compiled.fullmatch(low) or KEPT.compiled.fullmatch(low):
        return True
    words = WORDS.compiled.findall(value)
    return VARIABLE_NAME.compiled.fullmatch(value) is not None or (
        bool(words) and all(w.lower() in LABELS for w in words)
    )


def is_secret(value: str, promise: Promise, quoted: bool, exact: bool) -> bool:
    """Whether a value with a suspicious name is secret. `exact`: the place holds data, not code."""
    if len(value) < 4 or is_placeholder(value):
        return False
    if not quoted and not exact and (value[0] in "([{&" or is_reference(value) or CAMEL.compiled.fullmatch(value)):
        return False
    if promise is Promise.WEAK:
        return is_hex_key(value) or (TOKEN.compiled.fullmatch(value) is not None and is_drawn(value))
    if " " in value or "\n" in value:
        return promise is not Promise.TOKEN and not SENTENCE.compiled.search(value) and value[-1] not in ".:?!,;"
    if promise is Promise.TOKEN:
        return is_random(value) or (len(value) >= 16 and sum(c.isdigit() for c in value) > 1)
    if value.isdigit():
        return promise is Promise.PASSWORD
    if quoted or exact:
        return promise is Promise.PASSWORD or (len(value) >= 6 and not (value.isalpha() and value.islower()))
    letters = value.rstrip("?").replace("_", "")
    return any(c.isdigit() for c in value) or not letters.isalpha() or is_random(value)


# Words that are secret by their look alone. In 117 MB of real histories and 222 MB of source and documentation hardly
# any other word looks like that: names are made of syllables, digests and ids have one case or a prefix.
LONGEST_WORD = 200  # longer ones are data
BLOCK = 8192  # a key or a certificate
ENCODED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-="
# Addresses of cryptocurrencies, and public keys.
ADDRESS = LazyRegex(r"[13][1-9A-HJ-NP-Za-km-z]{25,34}|(?:bc1|0x|Qm|xpub)\w+|AAAA.*|AQICAH.*")
# `toolu_01...`, `sha512-...`, `cus_...`: an id or a token that `rules.py` knows.
PREFIXED = LazyRegex(r"[A-Za-z0-9]{2,12}[_\-][A-Za-z0-9+/_=\-]+")
# The name before a word that says what it is: `"node_id": "`, `integrity: sha512-`, `h1:`, `ETag: W/"`, `--accessor `.
LABEL = LazyRegex(
    r"(?:(?:\\[nrt])?([\w.\-]{1,40})\\{0,8}[\"']{0,2}\s{0,4}[:=]>?\s{0,2}(?:W/)?"
    r"|([\w\-]{2,40})[ ]{1,30})\\{0,8}[\"'`]{0,2}$"
)
BESIDE_IDS = ("/", ".", "%", "@", "#", ",", "?", "&", "~", "]")
PUBLIC_LABELS = vocabulary(
    "id ids uid uuid guid kid sub hash hashes digest integrity sum checksum etag nonce fingerprint thumbprint cursor "
    "commit rev revision ref address addr pubkey public instance node video sheet doc document file filename path url "
    "uri href src image img data base64 b64 d content body blob challenge h sha md crc "
    "signature identifier voice secure enc encrypted ciphertext sealed x thread message trace span "
    "request version build name class page next prev "
    "continuation offset boundary accessor accept bh sid peer iv tag rowid stdout output text result"
)


SHOWN_TO_ALL = vocabulary("public publishable site sha")


def find_drawn(text: str, start: int, end: int) -> Iterator[Hit]:
    """The whole word around this part if it looks drawn, unless what is around it names an id or data."""
    if end - start > LONGEST_WORD or not is_drawn(text[start:end]):
        return
    near = text[max(0, start - LONGEST_WORD) : start]
    first = start - (len(near) - len(near.rstrip(ENCODED)))
    near = text[end : end + LONGEST_WORD]
    last = end + len(near) - len(near.lstrip(ENCODED))
    if first and text[first - 1] == "\\" and text[first] in "nrt":
        first += 1
    # `name=` belongs to the word only as padding.
    cut = text.rfind("=", first, start)
    first = cut + 1 if cut >= 0 else first
    word = text[first:last].rstrip("=")
    if PREFIXED.compiled.fullmatch(word) or ADDRESS.compiled.fullmatch(word):
        return
    before = text[max(0, first - 60) : first]
    if not word or is_placeholder(word) or before[-1:] in BESIDE_IDS or "/" in word[:2]:
        return
    if len(word) > LONGEST_WORD or is_public(before):
        return
    if "-----BEGIN " in text[max(0, first - BLOCK) : first]:
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
    if not words or not SHOWN_TO_ALL.isdisjoint(words):
        return bool(words)
    # Parts of public keys and the variables of packed code have names of one letter.
    return words[-1] in PUBLIC_LABELS or (len(words[-1]) == 1 and label[1] is not None)
