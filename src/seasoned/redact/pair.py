"""A name and its password side by side, whatever joins them: `anna / X`, `(root, X)`, `stats auth admin:X`, `AUTH X`.

Also what is handed to a program through `echo`, PINs and licence keys: short texts of people, dialogs with servers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from seasoned.lazy_regex import LazyRegex
from seasoned.redact.hit import Hit, line_start
from seasoned.redact.literal import (
    MODEL,
    UUID,
    is_drawn,
    is_made,
    is_made_up,
    is_placeholder,
    is_plain_password,
    is_public,
    is_random,
    is_reference,
    is_typed,
)

LONGEST = 20_000  # longer texts are files and logs
WIDEST = 160
MOST_LINES = 8
# Words that a line with a name and its password has. All but the last row are marks.
ACCOUNT_MARKS = (
    "login", "log in", "cred", "auth", "account", "access", "wifi", "wi-fi", "wlan", "ssh", "admin",
    # Not the folder of all users, which stands in every path.
    "user ", "user:", "user=", "user,", "user/", 'user"', "user'", "user)", "user`", "user-", "username", "users:",
    " root/", '"root/', "root,", "root:", "root /", "(root",
    "zugang", "anmeld", "identifiant", "connexion", "acces", "konto", "compte", "cuenta", "utente", "inlog",
    "gebruiker",
    "kullan", "pengguna", "akun", "vpn", "ftp", "smtp", "pppoe", "proxy", "portal", "router", "server", "dashboard",
    "panel", "allow ", "btoa(", "pserver", "database", "db:",
)  # fmt: skip
ACCOUNT_WORDS_BEYOND_ASCII = (
    "доступ", "логин", "аккаунт", "учётн", "учетн", "账号", "帐号", "帳號", "账户", "登录", "アカウント", "ログイン",
    "계정", "로그인", "tài khoản", "acesso", "حساب", "खाता",
)  # fmt: skip
# Every password here has figures beside letters, and most lines have none.
FIGURED = LazyRegex(r"[a-z@][!#*._\-]?\d|\d[!#*._\-]?[a-z]")
_NAME = r"[a-z][\w.@+\-]{1,60}"
_SECRET = r"([^\s\"'`“”,;()\[\]<>{}|#][^\s\"'`“”,;()\[\]<>{}|]{5,127})"
PAIRED = LazyRegex(
    rf"(?<![\w/.\-])(?:{_NAME}(?: ?/ | \| |, | - |\"? (?:\* )?\"| with | und | et | y | e | and )|(?:root|admin|user"
    rf"|guest|sa|administrator|pi|ubuntu|postgres|deploy|test|demo)/|{_NAME}:)[\"'`]?{_SECRET}"
)
NETWORK_BEFORE = ("connect ", "ssid ", "essid ")  # what follows is the name of a network
KNOWN_USER = LazyRegex(
    r"(?:root|admin|administrator|sa|postgres|ubuntu|pi|qa|ops|deploy) ?/ $|(?:root|admin)(?: und| et"
    r"| y(?: pon)?| e| and| en| og| och| with) $"
)
# What a client says to a server: `AUTH default X`, `PASS X`, `a1 LOGIN anna X`.
SAID = {
    "AUTH ": LazyRegex(r"(?:PLAIN |LOGIN |[a-z][\w\-]{1,30} )?\"?([^\s\"'\\]{6,512})"),
    "PASS ": LazyRegex(r"([^\s\"'\\]{6,128})(?=\s|\\|\"|$)"),
    "LOGIN ": LazyRegex(r"\S{1,80} \"?([^\s\"'\\]{6,128})"),
    "IDENTIFY ": LazyRegex(r"(?:\w{1,20} )?([^\s\"'\\]{6,128})"),
}
SET_USER = LazyRegex(r"setuser \S{1,40} [^\n]{0,40}?>(\S{5,128})")
ECHOED = LazyRegex(r"(?:echo|printf)(?: -n| '%s')? [\"']?([^\s\"')\\$|]{5,512})")
ASKED = LazyRegex(r"(?:pass|key|secret|token|auth|pw)[\w\-]{0,20}[ =]{1,2}\\{0,4}[\"']?(?:<\(|\$\()?[\"']?$")
# A file, an address; an id.
DOTTED = LazyRegex(r"\.[A-Za-z]{1,6}$|^0x|\d\.\d")
PREFIXED = LazyRegex(r"[a-z]{2,5}_(?=\w*[A-Z])\w+")
PIN = LazyRegex(
    r"pins?(?: code| number|[- ]?nummer)?[\"']?"
    r"(?: (?:for|of|to|on|für|pour|para|del?) (?:the |my |our |das |die )?[\w\-]{1,20})?"
    r"(?:\s?[:=]\s?|,? (?:is|was|ist|est|es|é|è|är|er|to|enter|set to|lautet|:|=) ?)[\"'`]?(\d{4,10})(?![\w.]\w)"
)
GROUPS = LazyRegex(r"[A-Z0-9]{4,8}(?:-[A-Z0-9]{4,8}){3,7}(?![\w\-])|[A-Z0-9]{2}(?:-[A-Z0-9]{4}){5}(?![\w\-])")
LICENCE_MARKS = frozenset(("licen", "serial", "product key", "activation", "lizenz"))
PAIR_MARKS = frozenset(
    (
        *ACCOUNT_MARKS,
        *ACCOUNT_WORDS_BEYOND_ASCII,
        *LICENCE_MARKS,
        "pin",
        "echo ",
        "printf ",
        "setuser ",
        "auth ",
        "pass ",
        "login ",
        "identify ",
    )
)


def find_pairs(text: str, low: str, marks: Mapping[str, list[int]]) -> Iterator[Hit]:
    """Passwords beside a name, and what is said where a password is asked for."""
    if len(text) > LONGEST:
        return
    yield from _beside_accounts(text, low, marks)
    for word, pattern in SAID.items():
        if word.lower() in marks and word in text:
            for match in _after(word, pattern, text):
                yield from _made(
                    text,
                    match.start(1),
                    match.end(1),
                    sure=word != "AUTH ",
                    known=word == "PASS " or text[match.start() - 6 : match.start() - 5] in (">", '"'),
                )
    if "setuser " in marks:
        for match in SET_USER.compiled.finditer(low):
            yield Hit("password", match.start(1), match.end(1))
    for word in ("echo ", "printf "):
        for at in marks.get(word, ()):
            given = ECHOED.compiled.match(low, at) if ASKED.compiled.search(low, max(0, at - 40), at) else None
            if given is not None and (is_typed(given[1]) or is_random(text[given.start(1) : given.end(1)])):
                yield Hit("password", given.start(1), given.end(1))
    if "pin" in marks:
        for at in marks["pin"]:
            pin = PIN.compiled.match(low, at)
            if pin is not None and (at == 0 or not low[at - 1].isalpha()):
                yield Hit("code", pin.start(1), pin.end(1))
    for mark in marks.keys() & LICENCE_MARKS:
        for line in _lines(low, marks[mark]):
            for match in GROUPS.compiled.finditer(text, *line):
                if any(c.isdigit() for c in match[0]) and not match[0].replace("-", "").isdigit():
                    yield Hit("licence", match.start(), match.end())


def _after(word: str, pattern: LazyRegex, text: str) -> Iterator[re.Match[str]]:
    at = text.find(word)
    while at >= 0:
        match = pattern.compiled.match(text, at + len(word))
        if match is not None and not text[at - 1 : at].isalnum():
            yield match
        at = text.find(word, at + len(word))


def _lines(low: str, places: list[int]) -> Iterator[tuple[int, int]]:
    """The lines with a word at these places, as far as it may speak of what stands there; none of them twice."""
    done = -1
    for at in places:
        if at < done:
            continue
        first = line_start(low, at, WIDEST)
        ends = [low.find(end, at, at + WIDEST) for end in ("\n", "\\n")]
        last = min((end for end in ends if end >= 0), default=min(len(low), at + WIDEST))
        done = last
        yield first, last


def _beside_accounts(text: str, low: str, marks: Mapping[str, list[int]]) -> Iterator[Hit]:
    words = [mark for mark in ACCOUNT_MARKS if mark in marks]
    small = low
    words += [word for word in ACCOUNT_WORDS_BEYOND_ASCII if word in marks]
    seen: set[int] = set()
    looked = 0
    for word in words:
        for first, last in _lines(small, marks[word]):
            looked += 1
            if looked > MOST_LINES:
                return  # a file or a listing
            if last in seen or FIGURED.compiled.search(small, first, last) is None:
                continue
            seen.add(last)
            for match in PAIRED.compiled.finditer(small, first, last):
                if small[match.start(1) - 1] == ":" and is_public(small[max(0, match.start(1) - 60) : match.start(1)]):
                    continue
                joint = small[match.start() : match.start(1)].rstrip("\"'`")
                if joint in NETWORK_BEFORE:
                    continue
                known = KNOWN_USER.compiled.match(joint) is not None and text[match.start()].islower()
                sure = known or joint.endswith((" / ", "/ ", " | "))
                yield from _made(text, match.start(1), match.end(1), sure, known)


def _made(text: str, start: int, end: int, sure: bool = False, known: bool = False) -> Iterator[Hit]:
    """The word, if it is a password: made up by a person or drawn."""
    word = text[start:end].rstrip(".:?!" if text[end - 1] in ".:" else "?")
    if "@" in word and "." in word.partition("@")[2]:
        word = word.partition("@")[0]  # what follows is the host
    if len(word) < 6 or any(c in word for c in "/\\=:+") or UUID.compiled.fullmatch(word) or is_placeholder(word):
        return
    if (not word.isascii() and not sure) or DOTTED.compiled.search(word) or PREFIXED.compiled.fullmatch(word):
        return
    if is_reference(word) or word[0] == "-":
        return
    if (
        is_made_up(word)
        or is_drawn(word)
        or (sure and is_made(word) and not MODEL.compiled.fullmatch(word))
        or (known and is_plain_password(word))
    ):
        yield Hit("password", start, start + len(word))
