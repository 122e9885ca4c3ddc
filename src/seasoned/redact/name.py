"""Names that indicate a secret: `DB_PASSWORD`, `apiKey`, but not `max_tokens` or `PWD`."""

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
