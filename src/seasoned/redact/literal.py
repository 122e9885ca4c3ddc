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
    | generate[-_ ].* | some[-_ ]?random\w* | enc\[.* | ref\+.*
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
LABEL_WORD = LazyRegex(
    r"\b(?:mot de passe|senha|contraseña|passwort|kennwort|wachtwoord|hasło|heslo|parola|lösenord|adgangskode)\b"
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


MODEL = LazyRegex(
    r"(?i)\d.*Z\b.*|.*(?:19|20)\d\d[-_.]?\d\d[-_.]?\d\d.*|[a-z]{1,12}[-_ ]?\d{1,4}|[a-z]+(?:[-_][a-z]+)*[-_]\d{1,9}"
)
HEXADECIMAL = LazyRegex(r"(?:0x)?[0-9a-fA-F]{6,16}|FUN_\w+")
JOINED_WORDS = LazyRegex(
    r"[A-Za-z]{4,12}(?:[_\-][a-z]{4,12}){1,3}\d{2,4}[!?#*]?|[a-z]{4,10}\d{5}|[A-Za-z@0]{4,10}[._\-]\d{3}"
)


def is_made_up(word: str) -> bool:
    """A password in a sentence that has no joint before it: strong, or words with figures at their end."""
    if HEXADECIMAL.compiled.fullmatch(word) or MODEL.compiled.fullmatch(word):
        return False
    return is_strong(word) or (len(word) > 8 and JOINED_WORDS.compiled.fullmatch(word) is not None)


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
SHORTEST_DRAWN = 12  # shorter words may look drawn by chance
DRAWN_WORD = LazyRegex(r"[A-Za-z0-9+_\-][A-Za-z0-9+/_=\-]{11,}")
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


def is_placeholder(value: str) -> bool:
    """Whether it is a placeholder for a secret."""
    value = value[:SHOWN]
    low = value.lower()
    if low in EMPTY or PLACEHOLDER.compiled.fullmatch(low):
        return True
    words = WORDS.compiled.findall(value)
    return (bool(words) and all(w.lower() in LABELS for w in words)) or _is_translated(low)


def _is_translated(low: str) -> bool:
    """A label of a form: letters beyond ASCII, or a word for passwords, and no figure."""
    if any(c.isdigit() for c in low) or not low.replace(" ", "").replace("-", "").isprintable():
        return False
    return LABEL_WORD.compiled.search(low) is not None or (
        not low.isascii() and all(c.isalpha() or not c.isascii() or c in " '’-.?!:…" for c in low)
    )


def is_secret(value: str, promise: Promise, quoted: bool, exact: bool) -> bool:
    """Whether a value with a suspicious name is secret. `exact`: the place holds data, not code."""
    if len(value) < 4 or is_placeholder(value):
        return False
    if not quoted and not exact and (value[0] in "([{" or REFERENCE.compiled.fullmatch(value)):
        return False
    if promise is Promise.FAINT:
        return is_hex_key(value) or (DRAWN_WORD.compiled.fullmatch(value) is not None and is_drawn(value))
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
