"""Names that indicate a secret: `DB_PASSWORD`, `apiKey`, `client-secret`, but not `max_tokens` or `secretName`."""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache

from seasoned.lazy_regex import LazyRegex


def vocabulary(text: str) -> frozenset[str]:
    """The words of the text."""
    return frozenset(text.split())


class Promise(IntEnum):
    """How strongly a name indicates that its value is secret."""

    NONE = 0
    FAINT = 1  # only if the value can hardly be anything else: a word for a secret stands somewhere in the name
    WEAK = 2  # only if the value looks random: `key`, `auth`, `cookie`
    TOKEN = 3  # if the value is neither a word nor a number
    SECRET = 4  # unless the value is a placeholder
    PASSWORD = 5  # even if the value is a plain word


WORDS = LazyRegex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

PASSWORDS = ("password", "passwd", "passphrase", "passcode", "pwd", "passwort", "pswd")
SECRETS = ("secret", "apikey", "accesskey", "secretkey", "privatekey", "authkey", "accountkey", "masterkey")
KEY_OWNERS = vocabulary(
    "api access secret private encryption encrypt encrypted signing sign auth account master app application "
    "service anon admin subscription shared storage ssh deploy hmac jwt cipher crypto aes "
    "webhook client consumer integration server write ingest rest functions ecdsa rsa gpg wallet validator "
    "eth azure aws gcp openai anthropic stripe sendgrid mailgun datadog dd algolia maps google gemini cohere "
    "mistral groq together replicate twilio pusher segment amplitude mixpanel bugsnag honeybadger fcm age vault "
    "django flask rails user merchant partner developer dev"
)
PUBLIC_TOKENS = vocabulary(
    "next page continuation cancel cancellation eos bos pad unk sep cls mask special stop start end first last "
    "per by input output prompt max min total num count new current previous prev expected unexpected parse lex "
    "invalid is has no the each every any cursor sync pagination design color keyword text word sub byte"
)
# Words that merely end like `sshpass`, `storepass` and `requirepass`.
NO_PASSWORDS = vocabulary("bypass compass encompass overpass surpass trespass underpass multipass firstpass onepass")
PLURALS = {"passwords": "password", "secrets": "secret", "passphrases": "passphrase"}
NO_KEYS = vocabulary(
    "monkey hotkey turkey donkey publickey primarykey foreignkey sortkey cachekey whiskey hockey pubkey"
)
# `existingSecret: app` and `pullSecret: app` name an object that holds the secret.
REFERRED = vocabulary("existing pull external image")
AFTER = vocabulary(
    "value val prod production dev development test testing stage staging live base plain text plaintext string "
    "str b64 base64 hex raw old new current confirm confirmation main default env header repeat again enc encoded "
    "pem data pbkdf sha md hashed secret prev primary secondary backup material"
)


# `secrets.DEPLOY`, `account.key.acme.example.net`, `tokens_ci`: the word for a secret is not the last one.
FAINT_WORDS = vocabulary(
    "password passwd secret secrets token tokens key keys apikey auth credential credentials private"
)
MEASURED = vocabulary(
    "id ids name names type types path file files length len size count max min limit budget usage hash digest public "
    "version url uri ttl expiry expires ref arn index prefix format policy alg algorithm cache primary foreign sort "
    "partition object fingerprint event code press down up binding board word words map store class by at note issue"
)
SEEDS = vocabulary("seed keypair appid session sessionid sess")


@lru_cache(maxsize=4096)
def promise(name: str) -> Promise:
    """How strongly the name indicates a secret."""
    words = [w.lower() for w in WORDS.compiled.findall(name)]
    if words == ["user", "signingkey"]:
        return Promise.NONE  # the setting of git names a key
    while words and (words[-1] in AFTER or words[-1].isdigit()) and not _is_secret_word(words[-1]):
        words.pop()
    if not words:
        return Promise.NONE
    last = PLURALS.get(words[-1], words[-1])
    before = words[-2] if len(words) > 1 else ""
    if last.endswith(PASSWORDS) or (last == "word" and before == "pass") or (last == "phrase" and before == "pass"):
        return Promise.PASSWORD
    if last in ("pass", "pw", "psw"):
        return Promise.SECRET if before and before not in ("by", "test", "tests", "first", "second") else Promise.WEAK
    if last.endswith(("pass", "pw")) and last not in NO_PASSWORDS:
        return Promise.SECRET
    if last == "secret" and before in REFERRED:
        return Promise.NONE
    if last.endswith(SECRETS):
        return Promise.SECRET
    return _token_or_key(last, before, words)


def _is_secret_word(word: str) -> bool:
    return word.endswith(PASSWORDS) or word.endswith(SECRETS)


def _token_or_key(last: str, before: str, words: list[str]) -> Promise:
    if last.endswith("token"):
        if before in PUBLIC_TOKENS or last[:-5] in PUBLIC_TOKENS:
            return Promise.NONE
        return Promise.TOKEN
    if last == "id" and before == "secret":
        return Promise.TOKEN
    if last in ("pepper", "psk") or (last in ("pat", "salt") and before):
        return Promise.TOKEN
    if last == "key":
        if before in ("license", "licence"):
            return Promise.TOKEN  # what open-source users write there is a sentence
        if before in (
            "public",
            "pub",
            "primary",
            "foreign",
            "sort",
            "partition",
            "cache",
            "object",
            "socket",
            "idempotency",
        ):
            return Promise.NONE
        return Promise.SECRET if before in KEY_OWNERS else Promise.WEAK
    if last in ("authorization", "cookie") or (last.endswith("key") and last not in NO_KEYS):
        return Promise.WEAK
    if last.endswith("auth") and last != "oauth" and "type" not in words:
        return Promise.WEAK
    if last in ("credential", "credentials", "creds", "bearer", "sig", "signature") and "type" not in words:
        return Promise.WEAK
    if last in SEEDS or (FAINT_WORDS.intersection(words) and not MEASURED.intersection(words)):
        return Promise.FAINT
    return Promise.NONE


@lru_cache(maxsize=4096)
def kind_of(name: str) -> str:
    """The kind for the tag of a value with this name."""
    low = name.lower()
    for kind, marks in (
        ("authorization", ("authorization",)),
        ("cookie", ("cookie",)),
        ("password", ("pass", "pwd", "pw")),
        ("private-key", ("private",)),
        ("api-key", ("apikey", "api_key", "api-key")),
        ("token", ("token",)),
    ):
        if any(mark in low for mark in marks):
            return kind
    return "secret"
