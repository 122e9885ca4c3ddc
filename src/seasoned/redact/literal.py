"""Values that are not secret despite their name: placeholders, references, types, counts, code."""

from __future__ import annotations

import math
from itertools import pairwise

from seasoned.lazy_regex import LazyRegex
from seasoned.redact.name import Promise, vocabulary

LABELS = vocabulary(
    "api key keys token tokens access refresh id user client secret secrets password passwd pass pwd passphrase "
    "auth authorization bearer basic db database my your the app name value admin login username confirm new old "
    "current x private public session csrf oauth jwt credentials credential cookie header service account"
)
EMPTY = vocabulary(
    "none null nil true false undefined yes no on off string str int integer number bool boolean any object text "
    "varchar bytes char unknown never void float date array list dict map optional required invalid incorrect "
    "wrong missing expired valid ok failed failure success error denied empty unset set default enabled disabled "
    "hidden masked removed changeme changeit change_me change-me replaceme replace_me dummy fake example sample "
    "placeholder redacted todo fixme tbd test testing foo bar baz foobar n/a na include omit same-origin self "
    "auto inherit prompt ask stdin env file type field input output and or not is in for the a an of to if else "
    "function func const let var return await must should can cannot will was has have been be with from your "
    "this that it required. password. token. self.fail sensitive filtered protected encrypted secure hashed plain "
    "generated provided found expected passwort kennwort contraseña contrasena senha parola wachtwoord hasło heslo "
    "пароль 密码 密碼 パスワード 비밀번호 암호 şifre lösenord jelszó salasana"
) | {"mot de passe", "mật khẩu", "kata sandi"}
# For lower-cased text: ignoring case would double the time to compile.
PLACEHOLDER = LazyRegex(
    r"""(?x)
      [*x•.\-_?#=+~0/\\ ]+ | <[^>]*> | <\w* | \[[^\]]*\] | \{.*\} | \{[a-z_.]* | \$[a-z_]\w* | \$[{(].* | \$\$\w*
    | %\(?[a-z_]*\)?[sd%]? | %[a-z_]+% | @[a-z_]+@ | \#\{.*
    | __\w+__ | (?:(?:sk|pk|ghp|hf|key|token|pat|xoxb)[-_])?(?:x{3,}|\.{3,}|\*{3,}|…)[\W_x]*\w{0,6}
    | (?:change|replace)[-_ ]?me\b.* | \((?:sensitive|known|hidden|masked|redacted|none|empty|not)\b.*
    | (?:your|insert|enter|replace|put|paste|change|use|add|set|provide|example|sample|dummy|fake)[-_ .].* | your\w+
    | (?:my|the|some|a|test|fake|dummy|mock|example|sample|new|old|secret|valid|invalid|wrong|bad|super)?
      [-_ ]?(?:super[-_ ]?)?
      (?:secret|db|api|auth|access|user|client|admin|app|service)?
      [-_ ]?(?:secret|password|passwd|pass|pwd|token|api[-_]?key|key)
    | .*[-_ ]here\W? | .*(?:placeholder|redacted|example|\.\.\.|…|\*{4,}|x{8,}).*
    | (?:os\.|process\.|env\.|environ|secrets\.|var\.|local\.|data\.|module\.|config\.|self\.|this\.|settings\.
       |options\.|args\.|req\.|request\.|props\.|params\.|ctx\.|import\.meta|opts\.|env\[|vault:|op://|ssm:|arn:|file:|keyring:|gcp:|aws:
       |!\w|\|$|>$|&\w+$|\\|env:|/run/|/etc/|/var/|/home/|/usr/|/[a-z_./\-]+$|~/|\./|\.\./|[a-z]:\\|https?://[^:@\s]*$|projects/|secretsmanager).*
    """
)
REFERENCE = LazyRegex(
    r"(?x) [A-Za-z_$][\w$]* (?: (?:\??\.|::|->) [A-Za-z_$][\w$]* )* (?: \(.* | \[.* | \{.* | <.* | \??\.\[?.* )"
    r"| [A-Za-z_$][\w$]* (?: (?:\??\.|::|->) [A-Za-z_$][\w$]* )+ [,;)\]}]*"
    r"| [A-Z][A-Za-z]*\b(?:\[.*|\s*\|.*|<.*)?"
    r"| (?:await|new|lambda|not|f|b|r|typeof|func|async|yield|if|Some|Optional|List)\b[\s\"'(\[<].*"
)
SENTENCE = LazyRegex(
    r"(?i)\b(?:the|your|is|must|a|to|please|enter|invalid|required|incorrect|wrong|and|or|not|for|at|reset|forgot|with"
    r"|of|should|this|that|be|in|use|used|set|if|when|from|has|cannot|expired|missing|failed|password|token|on|by)\b"
)
SHOWN = 200  # enough of a value to recognise a placeholder
WORDS = LazyRegex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
TIDY = LazyRegex(r"\d[\d\-/:.T Z+]*|v?\d+(?:\.\d+)+[\w.+-]*|\d[\d,._]*\s?[a-zA-Z%]{0,3}")


def is_random(text: str) -> bool:
    """Whether a word looks random: mixed characters with high entropy, or long hexadecimal."""
    n = len(text)
    if n < 8 or " " in text or "\n" in text:
        return False
    digits = sum(c.isdigit() for c in text)
    if n >= 16 and _is_hex(text):
        return digits > 2 and len(set(text)) > 5
    upper = any(c.isupper() for c in text)
    lower = any(c.islower() for c in text)
    if TIDY.compiled.fullmatch(text) or len(set(text)) < min(6, n):
        return False
    if digits == 0:
        if all(part.isalpha() and (part.istitle() or part.islower() or part.isupper()) for part in text.split("-")):
            return False  # `GPL-My-Project-Is-Open-Source`
        return upper and lower and n >= 16 and _turns(text) * 3 > n
    if n >= 16:
        return entropy(text) > 3.0 and _turns(text) * (6 if digits > 1 else 3) >= n
    return (upper or lower) and (digits >= 2 or (upper and lower))


UUID = LazyRegex(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# The key of a cache: words and a digest.
CACHE_KEY = LazyRegex(r"[A-Za-z][A-Za-z0-9_.]*(?:-[A-Za-z0-9_.]+)*-(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})")
# `sha256`, `pbkdf2`, `argon2id`, `utf-8`: letters and figures that stand where passwords do.
ALGORITHM = LazyRegex(
    r"(?i)(?:sha|md|aes|rsa|des|ed|ec|es|hs|rs|ps|pbkdf|argon|oauth|utf|base|iso|http|tls|ssl|ipv|v|utf8mb|md5crypt)"
    r"[-_]?\d{1,5}(?:[a-z]{0,6}|[-_/.][\w.\-/]{0,20})"
)
TYPED_SIGNS = "!@#$%^&*?~+"


def is_typed(word: str) -> bool:
    """Whether a word of a sentence looks like a password: figures among letters, and not just a name with a number."""
    figures = sum(c.isdigit() for c in word)
    if figures == 0 or not any(c.isalpha() for c in word) or ALGORITHM.compiled.fullmatch(word):
        return False
    return figures > 1 or not word.islower() or not word.isalnum()


def is_strong(word: str) -> bool:
    """Whether a word can hardly be anything but a password, wherever in a sentence it stands."""
    if len(word) < 8 or not is_typed(word) or is_placeholder(word) or word[0] in "/.~$<{([#@-":
        return False
    if REFERENCE.compiled.fullmatch(word) or any(c in word for c in "/\\()[]{}<>=:;|,"):
        return False
    figures = sum(c.isdigit() for c in word)
    mixed = word.lower() != word and word.upper() != word
    signs = any(c in TYPED_SIGNS for c in word)
    return signs or (mixed and figures > 1) or (figures > 3 and word[0].isalpha())


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


def is_placeholder(value: str) -> bool:
    """Whether it is a placeholder for a secret."""
    value = value[:SHOWN]
    low = value.lower()
    if low in EMPTY or PLACEHOLDER.compiled.fullmatch(low):
        return True
    words = WORDS.compiled.findall(value)
    return bool(words) and all(w.lower() in LABELS for w in words)


def is_secret(value: str, promise: Promise, quoted: bool, exact: bool) -> bool:
    """Whether a value with a suspicious name is secret. `exact`: the place holds data, not code."""
    if len(value) < 4 or is_placeholder(value):
        return False
    if not quoted and not exact and (value[0] in "([{" or REFERENCE.compiled.fullmatch(value)):
        return False
    if promise is Promise.WEAK:
        if UUID.compiled.fullmatch(value) or CACHE_KEY.compiled.fullmatch(value):
            return False
        return is_random(value) and not value.startswith(("/", "./", "http"))
    if " " in value or "\n" in value:
        return promise is not Promise.TOKEN and not SENTENCE.compiled.search(value) and value[-1] not in ".:?!,;"
    if promise is Promise.TOKEN:
        return is_random(value) or (len(value) >= 16 and any(c.isdigit() for c in value) and not value[0].isspace())
    if value.isdigit():
        return promise is Promise.PASSWORD
    if quoted or exact:
        return len(value) >= 6 or promise is Promise.PASSWORD
    return any(c.isdigit() for c in value) or not value.replace("_", "").isalpha() or is_random(value)
