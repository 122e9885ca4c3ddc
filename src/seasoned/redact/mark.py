"""One look at a text for the marks that any search needs: most texts have none, and then nothing more is done.

A search for each mark would cost more than all searches that follow. With `ahocorasick_rs` installed (the extra
`fast`) the look is five times as fast; what it finds is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

# Lower-case.
MARKS = (
    "pass", "pw", "cre", "auth", "key", "ken", "kie", "identified ", ":5432:", "bearer ", "private", "kty",
    "sensitive", "sqlplus", ":thin:", "pdp ", "login", "connect", "pdo", "define(", "psk", "phrase", "words", "seed",
    "mnemo", "net use", "kennwort", "senha", "woord", "sandi", "contrasena", "totp",
    "_pat", "salt", "community", " : eap ", "@tcp(", "@unix(", "]:587", "]:465", "::add-mask::", "::set-", "codes",
    "jwt", "hotp", "hmac", "fernet", "authenticator", "wallet", "\ttrue\t", "\\ttrue\\t", "\tfalse\t",
    "\\tfalse\\t", "add_user", "log in", "cryptsetup", "sudo -s", "kinit", "parola", "heslo", "haslo", "sifre",
    "lozinka", "jelszo", "salasana", "adgangskode", "losenord", "mdp", "clave", "whsec_", "stringdata", "userid=",
)  # fmt: skip


_finder: Callable[[str], Iterable[str]] | None = None


def find_marks(low: str) -> set[str]:
    """The marks that stand in a lower-cased text."""
    global _finder
    if _finder is None:
        _finder = _fast_finder() or find_marks_plainly
    return set(_finder(low))


def find_marks_plainly(low: str) -> list[str]:
    """The same without the library. One expression for all would be slower: most letters begin one of them."""
    return [mark for mark in MARKS if mark in low]


def _fast_finder() -> Callable[[str], Iterable[str]] | None:
    try:
        from ahocorasick_rs import AhoCorasick
    except ImportError:
        return None
    automaton = AhoCorasick(MARKS)
    return lambda low: automaton.find_matches_as_strings(low, overlapping=True)
