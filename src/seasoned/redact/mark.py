"""One look at a text for the marks that any search needs: most texts have none, and then nothing more is done.

A search for each mark would cost more than all searches that follow. With `ahocorasick_rs`, which is installed where
wheels of it are published, the look is several times as fast; what it finds is the same.
"""

from __future__ import annotations

from collections.abc import Callable

from seasoned.redact.assignment import SESSION_MARKS
from seasoned.redact.below import CODE_MARKS, OWNED_MARKS, PRINTS
from seasoned.redact.command import LISTED_MARKS, SHORT_OPTIONS
from seasoned.redact.name import FOREIGN, NOUNS
from seasoned.redact.pair import PAIR_MARKS
from seasoned.redact.place import CALL_MARKS, TAKING_MARKS
from seasoned.redact.program import programs
from seasoned.redact.table import CERTAIN_MARKS, HOLDER_MARKS

# Lower-case.
# Words of names stand in every other text, the other marks in few.
NAME_MARKS = (
    "pass",
    "pw",
    "cret",
    "cred",
    "auth",
    "key",
    "ken",
    "kie",
    "_pat",
    "salt",
    "pepper",
    "appid",
    *SESSION_MARKS,
)
# Heads of columns, words for a key, and words before a code.
WORD_MARKS = (
    "pwd", "_pass", *FOREIGN, "api_key", "api key", "access key", "access_key", "_token", "secret_key", "token", "cred",
    "api-key",
    "apikey", "ess key", "ess_key", "ate key", "ret key", "ing key", "new key", "ense key",
    "secret_key", "master.key", "setup key", "master key", "private_key", "private.key", "accesskey", *OWNED_MARKS,
)  # fmt: skip
_RARE_MARKS = (
    # Files, manifests and outputs.
    "{ssha", "{sha", "{smd5}", "{md5}", "{crypt}", ":::",
    "password", ":5432:", "private", "kty", "sensitive", "random_password", "variable ", "secret", "stringdata",
    "psk", "phrase", "words", "seed", "mnemo", "wallet", "]:587", "]:465", " : eap ", "\ttrue\t", "\\ttrue\\t",
    "\tfalse\t", "\\tfalse\\t", "::add-mask::", "::set-", "backup code", "recovery code", "scratch code", "community",
    "secret 0 ", "secret 5 ", "secret 8 ", "secret 9 ", "password 0 ", "password 7 ",
    # Commands and addresses.
    "bearer ", "identified ", "sqlplus", " as sys", "from-literal", " priv ", "solana", "keypair",
    "<<<",
    ":thin:", "pdp ", "userid=", "net use", " pass:", "passwd", "wpa_passphrase ",
    "/pass:", "/pass ", *LISTED_MARKS,
    "/password", " /d ", 'send "', 'send \\"', "send '", "send --", "sendline(", "asplaintext",
    "add_user ", "_password ",
    "vault ", "pypi-token", "password-stdin", "passphrase-fd", "cryptsetup", "sudo -s", "kinit",
    "zfs load-key", "@tcp(", "@unix(",
    "access_token$", "whsec_",
    # Calls.
    "login", "connect", "wifi.begin", "sequelize", "database(", ".auth(", "authenticate", "sign_in", "signin", "logon",
    "userpwd", "credential", "basicauth", "basic_auth", "plainauth", "pdo", "define(",
    "totp", "totp(", "hotp(", "hmac256(", "hmac512(", "jwt.", "hmac(", "hmac.new(", "fernet(", "authenticator.",
    *CERTAIN_MARKS, *CALL_MARKS, *TAKING_MARKS, *HOLDER_MARKS, "insert into",
    # What people say.
    *PRINTS, *CODE_MARKS,
    "log in", "wifi:", "accounts", "12. ", "12) ", "static key",
)  # fmt: skip

PHONE_WORDS = ("tel", "phone", "mobile")
COMMON_MARKS = frozenset(
    (*PHONE_WORDS, *SHORT_OPTIONS, *NAME_MARKS, *WORD_MARKS, *{*PAIR_MARKS, *NOUNS}.difference(_RARE_MARKS))
)
MARKS = tuple(
    dict.fromkeys((*PHONE_WORDS, *SHORT_OPTIONS, *NAME_MARKS, *WORD_MARKS, *NOUNS, *PAIR_MARKS, *_RARE_MARKS))
)

# The programs whose arguments are read; their own tuple, since without the library they are looked for by their words.
PROGRAM_MARKS = tuple(programs())
# Where each mark of a text begins.
Marks = dict[str, list[int]]
_finder: Callable[[str], Marks] | None = None


def find_marks(low: str) -> Marks:
    """The marks that stand in a lower-cased text, and where."""
    global _finder
    if _finder is None:
        _finder = _fast_finder() or find_marks_plainly
    return _finder(low)


def find_marks_plainly(low: str) -> Marks:
    """The same without the library. One expression for all would be slower: most letters begin one of them."""
    found = [mark for mark in MARKS if mark in low]
    for end in {mark[-3:] for mark in PROGRAM_MARKS}:
        if end in low:
            found += [mark for mark in PROGRAM_MARKS if mark.endswith(end) and mark in low]
    return {mark: _starts(low, mark) for mark in found}


def _starts(low: str, mark: str) -> list[int]:
    starts, at = [], low.find(mark)
    while at >= 0:
        starts.append(at)
        at = low.find(mark, at + 1)
    return starts


def _fast_finder() -> Callable[[str], Marks] | None:
    try:
        from ahocorasick_rs import AhoCorasick, Implementation
    except ImportError:
        return None
    every = tuple(dict.fromkeys((*MARKS, *PROGRAM_MARKS)))
    # Of its own accord it takes a form a third as fast for more than a hundred marks.
    automaton = AhoCorasick(every, implementation=Implementation.DFA)

    def find(low: str) -> Marks:
        found: Marks = {}
        for number, start, _ in automaton.find_matches_as_indexes(low, overlapping=True):
            mark = every[number]
            if mark in found:
                found[mark].append(start)
            else:
                found[mark] = [start]
        return found

    return find
