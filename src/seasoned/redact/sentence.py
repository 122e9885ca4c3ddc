"""Passwords that people say: "das Passwort ist ...", "пароль от базы: ...", in languages other than English."""

from __future__ import annotations

from collections.abc import Iterator

from seasoned.lazy_regex import LazyRegex
from seasoned.redact.hit import Hit
from seasoned.redact.literal import is_placeholder, is_strong, is_typed
from seasoned.redact.name import vocabulary

# Each is a mark: `mark.py` has looked for it.
PASSWORD_WORDS = vocabulary(
    "passwort passord kennwort woord senha sandi contrasena parola heslo haslo sifre lozinka jelszo salasana "
    "adgangskode losenord mdp clave"
) | {"de passe"}
PASSWORD_WORDS_BEYOND_ASCII = (
    "password", "contraseña", "hasło", "пароль", "密码", "密碼", "口令", "パスワード", "비밀번호", "비번", "암호",
    "şifre", "كلمة المرور", "كلمة السر", "رمز عبور", "गुप्त", "पासवर्ड", "mật khẩu", "รหัสผ่าน", "סיסמה", "lösenord",
    "jelszó", "κωδικός", "পাসওয়ার্ড", "parolă",
)  # fmt: skip
# Short enough to be the end of another word.
ALONE = ("mdp", "clave")
_VALUE = r"\\{0,4}[\"'„“«「『`*]{0,3}([!#-&(-+\--_a-~]{5,64})"
# The word, perhaps what it is for, a joint, the value.
JOINED = LazyRegex(
    r"(?i)\w{0,4}(?:\s(?:für|fuer|pour|do|da|del|de|van|voor|untuk|от|для|para|до|till|for)\s\S{1,30}(?:\s\S{1,20})?)?"
    r"(?:\s?[:：=]\s?|\s[—–-]\s|\s+(?:ist|lautet|est|c'est|es|é|è|e|to|is|hai|है|هي|هو|adalah|jest|är|er|on|je|este|là|היא|είναι)"
    r"\s*[:：]?\s*|\s*(?:是|为|為|は、?|は:|는|은|가|คือ)\s*|\s+)" + _VALUE
)
# A few words between them: then the value alone must look like a password.
APART = LazyRegex(r"\w{0,4}(?:\s[^\s\d:：]{1,16}){1,5}\s?[:：]?\s{1,3}" + _VALUE)
LONGEST = 20_000  # people write short texts; a long one is a file or an output


def find_said(text: str, low: str, marks: set[str]) -> Iterator[Hit]:
    """Passwords in sentences of languages other than English."""
    if len(text) > LONGEST or (text.isascii() and marks.isdisjoint(PASSWORD_WORDS)):
        return
    words = list(PASSWORD_WORDS & marks)
    small = low
    if not text.isascii():
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
            at = small.find(word, at)


def _value_after(text: str, at: int) -> Iterator[Hit]:
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
