"""Names that indicate a secret (`DB_PASSWORD`, `apiKey`, but not `max_tokens`), and the words for secrets in the
languages that people write: one vocabulary for sentences, labels, prompts and columns.
"""

from __future__ import annotations

from enum import Enum, IntEnum
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
REFERRED = vocabulary("existing pull external image password key token tls auth credentials")
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
SEEDS = vocabulary("seed keypair appid session sessionid sess license licence serial csrf xsrf")


# Words for a password in names, in other languages.
FOREIGN = vocabulary(
    "kennwort senha contrasena wachtwoord haslo heslo sifre parola jelszo salasana losenord lozinka "
    "passord motdepasse passe "
    "authtok"
)
FOREIGN_ENDINGS = ("contraseña", "hasło", "şifre", "пароль", "jelszó", "lösenord", "mot de passe", "密码", "パスワード")


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
    if not FOREIGN.isdisjoint(words) or name.lower().rstrip("\"'").endswith(FOREIGN_ENDINGS):
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


# `publicKeyToken`, `recaptcha_site_key`, `Sec-WebSocket-Key`: made to be seen.
SHOWN = vocabulary("public publishable site websocket")


def _is_secret_word(word: str) -> bool:
    return word.endswith(PASSWORDS) or word.endswith(SECRETS)


def _token_or_key(last: str, before: str, words: list[str]) -> Promise:
    if not SHOWN.isdisjoint(words):
        return Promise.NONE
    if last.endswith("token"):
        if before in PUBLIC_TOKENS or last[:-5] in PUBLIC_TOKENS:
            return Promise.NONE
        return Promise.TOKEN
    if last == "id" and before == "secret":
        return Promise.TOKEN
    if last == "psk":
        return Promise.SECRET
    if last == "pepper" or (last in ("pat", "salt") and before):
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


class Noun(Enum):
    """What a word says that its value is."""

    PASSWORD = "password"  # whatever people make up
    KEY = "key"  # drawn: letters and figures without order
    CODE = "code"  # figures
    ACCOUNT = "account"  # a name and a password, somewhere on the line


def _words(noun: Noun, text: str) -> dict[str, Noun]:
    return {" ".join(word.split()): noun for word in text.split(",")}


NOUNS: dict[str, Noun] = {
    **_words(
        Noun.PASSWORD,
        """
        password, passwrod, contrasenia, parola d'ordine, salasana, pasword, passwrot,
        pass wort, ww, contra, пасс, lösen, пароль, пароля, pass phrase,
        passphrase, passcode, passwd, pwd, pswd, pass, pw, passwort, passwörter, passord, kennwort,
        losungswort, mot de passe, mots de passe, mdp, palavra-passe, palavra passe, senha, contrasena,
        contraseña, contrasenya, clave, wachtwoord, woord, parola, parole, parolă, heslo, hesla, haslo, hasło,
        hasła, sifre, şifre, şifrə, parol, lozink, zaporka, geslo, jelszo, jelszó, salasana, salasõna, parool,
        adgangskode, losenord, lösenord, lykilorð, slaptažod, pasahitza, kata sandi, sandi, laluan, nenosiri,
        pasvorto, fjalekalim, fjalëkalim, mật khẩu, пароль, пароля, паролем, пароли, паролі, парола, гасло,
        лозинка, κωδικ, συνθηματικ, գաղտնաբառ, პაროლი, סיסמה, סיסמא, كلمة المرور, كلمة السر, كلمة سر, رمز
        عبور, گذرواژه, پاس ورڈ, رمز, पासवर्ड, पासवड, গোপন, পাসওয়ার্ড, கடவுச்சொல், รหัสผ่าน, 密码, 密碼, 口令,
        パスワード, パスフレーズ, 비밀번호, 비번, 암호, schlüsselinhalt
        """,
    ),
    **_words(
        Noun.KEY,
        """
        totp seed, totp secret, 2fa secret, security key,
        token, secret, api key, api-key, apikey, access key, secret key, signing key, encryption key, master
        key, license key, licence key, product key, root key, account key, deploy key, setup key, service key,
        private key, secret_key, private_key, access_key, api_key, master.key, secret-key, signing_key, unseal
        key, private keys, api-schlüssel, schlüssel, clé api, clé d'api, clé secrète, clé, chave, clave de
        api, llave, chiave, sleutel, klucz, anahtar, jeton, ключ, токен, κλειδί, מפתח, مفتاح, कुंजी, khóa, 密钥,
        密鑰, 金鑰, 令牌, キー, トークン, 토큰, api 키
        """,
    ),
    **_words(
        Noun.ACCOUNT, "login, creds, credentials, credential, zugangsdaten, identifiants, credenciales, credenziali"
    ),
    **_words(
        Noun.CODE,
        """
        pin, puk, otp is always, otp, código de verificación, usa el código, code de confirmation, code de vérification,
        codice di verifica, bestätigungscode, verification code, einmalcode,
        einmalpasswort, mtan, koden til, code d'accès, security code, door code, duress code,
        暗証番号, 認証コード, 验证码, 驗證碼, 인증번호, пин-код, пин, код
        """,
    ),
}
# Parts of other words, so that neither a letter nor a sign of names may stand before or behind them.
WHOLE = vocabulary(
    "pass pw pwd mdp clave sandi parole parol pin puk otp رمز код пин token secret llave chave login ww contra"
)
# Words that may end a longer one: `DBPassword`, `Rootpasswort`, `wifi-wachtwoord`.
COMPOUND = vocabulary(
    "password passwort passwörter passphrase passwd kennwort wachtwoord woord passord lösenord losenord schlüssel "
    "sleutel adgangskode salasana token pasword passwrot"
)
# Of these no ending but the plural is known.
ENGLISH = vocabulary(
    "password passphrase passcode passwd pwd pswd pass pw token secret pin puk otp login creds credentials credential"
)
# Written without spaces: the value may follow at once, and begins where ASCII does.
UNSPACED = "\u2e80"
