"""Passwords that people say: "das Passwort ist ...", "пароль от базы: ...", in languages other than English."""

from __future__ import annotations

from collections.abc import Iterator

from seasoned.lazy_regex import LazyRegex
from seasoned.redact.hit import Hit
from seasoned.redact.literal import is_placeholder, is_strong, is_typed
from seasoned.redact.name import vocabulary
from seasoned.redact.nearby import BEFORE

# Each is a mark: `mark.py` has looked for it.
PASSWORD_WORDS = vocabulary(
    "passwort passord kennwort woord senha sandi contrasena parola heslo haslo sifre lozinka jelszo salasana "
    "adgangskode losenord parole mdp clave contrasenya pasahitza laluan geslo nenosiri parool pasvorto fjalekalim "
    "zaporka chiave"
) | {"de passe"}
PASSWORD_WORDS_BEYOND_ASCII = (
    "contraseña", "hasło", "пароль", "密码", "密碼", "口令", "パスワード", "비밀번호", "비번", "암호",
    "şifre", "كلمة المرور", "كلمة السر", "رمز عبور", "गुप्त", "पासवर्ड", "mật khẩu", "รหัสผ่าน", "סיסמה", "lösenord",
    "jelszó", "κωδικός", "পাসওয়ার্ড", "parolă", "slaptažodis", "лозинка", "парола", "гасло", "ключ", "密钥", "密鑰",
    "金鑰", "暗証番号", "clé", "schlüssel", "salasõna", "şifrə", "գաղտնաբառ", "პაროლი", "رمز", "پاس ورڈ", "گذرواژه",
    "கடவுச்சொல்",
    "passwört", "lykilorð", "chave",
)  # fmt: skip
# Letters of the words above. Most texts beyond ASCII have only arrows, dashes and frames.
LETTER = LazyRegex("[\u00c0-\u1fff\u2e80-\uffff]")
# Short enough to be the end of another word.
ALONE = ("mdp", "clave")
_VALUE = r"\\{0,4}[\"'„“«「『`*]{0,3}([!#-&(-+\--_a-~]{5,64})"
# The word, perhaps what it is for, a joint, the value.
JOINED = LazyRegex(
    r"(?i)\w{0,12}(?:\s(?:für|fuer|pour|do|da|del|de|van|voor|untuk|от|для|para|до|till|for)\s\S{1,30}(?:\s\S{1,20})?)?"
    r"(?:\s(?:s[eé]e?[cg]r\w{2,6}|πρόσβασης|доступа|priv\w{1,4}|api|wi-?fi|wlan))?(?:(?:\s\w{2,16}){0,2}\s?[:：=]\s?|\s[—–-]\s|\s+(?:ist|lautet|est|c'est|es|é|è|e|to|is|hai|है|هي|هو|adalah|jest|är|er|on|je|este|là|היא|είναι)"
    r"\s*[:：]?\s*|\s*(?:是|为|為|は、?|は:|는|은|가|คือ)\s*|\s+)" + _VALUE
)
# A few words between them: then the value alone must look like a password.
APART = LazyRegex(r"\w{0,4}(?:\s[^\s\d:：]{1,16}){1,5}\s?[:：]?\s{1,3}" + _VALUE)
# In Chinese and Japanese nothing need stand between them.
BESIDE = LazyRegex(r"[!#-&(-+\--_a-~]{6,64}")
LONGEST = 20_000  # people write short texts; a long one is a file or an output


def find_said(text: str, low: str, marks: set[str]) -> Iterator[Hit]:
    """Passwords in sentences of languages other than English."""
    if len(text) > LONGEST or (text.isascii() and marks.isdisjoint(PASSWORD_WORDS)):
        return
    words = list(PASSWORD_WORDS & marks)
    small = low
    if not text.isascii() and LETTER.compiled.search(text) is not None:
        words += PASSWORD_WORDS_BEYOND_ASCII
        small = text.lower()
    if len(small) != len(text):
        return  # rare letters change their length, and places would no longer be equal
    for word in words:
        at = small.find(word)
        while at >= 0:
            inside = word in ALONE and at > 0 and small[at - 1].isalpha()
            at += len(word)
            if not inside:
                yield from _value_after(text, at)
                yield from _value_before(text, small, at - len(word))
            at = small.find(word, at)


def _value_before(text: str, small: str, at: int) -> Iterator[Hit]:
    """ "Nimm X als Passwort"."""
    match = BEFORE.compiled.search(small, max(0, at - 120), at)
    if match is not None and _is_said(text[match.start(1) : match.end(1)]):
        yield Hit("password", match.start(1), match.end(1))


def _value_after(text: str, at: int) -> Iterator[Hit]:
    beside = BESIDE.compiled.match(text, at) if text[at - 1] > "\u2fff" else None
    if beside is not None and is_typed(beside[0]) and not is_placeholder(beside[0]):
        yield Hit("password", beside.start(), beside.end())
        return
    for pattern, fits in ((JOINED, _is_said), (APART, is_strong)):
        match = pattern.compiled.match(text, at)
        said = match[1].rstrip(".,;:)*") if match is not None else ""
        if match is not None and fits(said):
            yield Hit("password", match.start(1), match.start(1) + len(said))
            return


def _is_said(word: str) -> bool:
    """A word of the sentence has no figures; a path, an address and a call are not passwords."""
    if len(word) < 5 or word[0] in "/.~$<{(-" or any(c in word for c in "()[]<>{}=;"):
        return False
    return is_typed(word) and not is_placeholder(word)
