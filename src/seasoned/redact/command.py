"""Finds secrets on command lines and in files like .netrc, where no separator stands between name and value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from seasoned.lazy_regex import LazyRegex
from seasoned.redact.assignment import read_value
from seasoned.redact.hit import Hit, line_start
from seasoned.redact.literal import (
    is_made,
    is_made_up,
    is_placeholder,
    is_plain_password,
    is_random,
    is_secret,
    is_strong,
    is_typed,
)
from seasoned.redact.name import Promise, kind_of, promise
from seasoned.redact.program import programs

_NAMED = r"(?<![a-z0-9_\-]-)-(?!-)[a-z0-9\-_.]{0,30}?(?:pass|token|key|secret|pwd|cred|auth)[a-z0-9\-_]{0,24}+"
DASH = LazyRegex(
    rf"""-(?:(?P<flag>{_NAMED})(?:\\{{0,8}}["'],\s{{0,8}}(?=\\{{0,8}}["'])|[ \t]{{1,2}}(?![ \t\-|]))"""
    # Java's and Windows' tools write their long options with one hyphen.
    r"""|(?P<secure>asplaintext)|(?<=[\s"'\\n]-)"""
    r"""(?:(?P<one>[a-z]{0,12}pass(?:word|phrase|wd)?|pw|token|secret|apikey)[ ](?=[^\s\-])"""
    r"""|-(?:proxy-)?user[ =]|-cookie[ =]|u(?:[ ]|(?=["']))|[awnk][ ]|s?b[ ]|p[ ]?)[ ]?(?=\S))"""
)
SECURE = LazyRegex(
    r"""securestring(?:\s-string|\s-asplaintext|\s-force){0,2}\s{1,3}\\{0,4}(["'])([^"'\n\\]{4,200})\\{0,4}\1"""
)
# `-u user -p password`, whatever the program is.
USER_FLAG = LazyRegex(r"\s-u[ ]?[\w@\\][\w@\-\\]{0,40}\s")
# Without it, what looks made up by a person, if the command speaks of an account.
ACCOUNT = LazyRegex(r"(?<![\w/.])(?:root|admin|user|account|login|passwd|auth|join|enroll|register)(?![\w/])|\w@\w")
# `-b` of curl takes cookies; the value of the first one decides.
COOKIES = LazyRegex(r"""[\w.\-]{1,64}=([^;\s"']{12,4096})""")
# `echo SECRET | sudo -S ...`: a secret for the program that reads it.
PIPED = LazyRegex(
    r"""(?:echo|printf)\s{1,3}(?:-[ne]{1,2}\s{1,3})?(?:\\{0,8}["']?%s(?:\\{1,4}n)?\\{0,8}["']?\s)?\\{0,8}["']?"""
    r"""([^\s"'|\\$]{4,512})(?:\\{1,4}n([^\s"'|\\]{4,512}))?(?:\\{1,4}n)?\\{0,8}["']?\s{0,3}\|\s{0,3}"""
    r"""[^|\n]{0,200}?(?:password-stdin|sudo -s|passwd|cryptsetup|secrets? (?:create|set|put|add)|passphrase-fd"""
    r"""|kinit|create secret|zfs load-key)"""
)
# Several words, handed to programs that read nothing but a password.
_READS = r"(?:sudo )?(?:cryptsetup|sudo -s|gpg|kinit|zfs load-key|passwd|ssh-add)(?![\w\-])"
PHRASED = (
    LazyRegex(rf"""(?:echo|printf)(?: -n| '%s')? ["']([^"'\n|$\\]{{6,80}})["']\s?\|\s?{_READS}"""),
    LazyRegex(rf"""{_READS}[^\n|]{{0,120}}?<<< ?["']([^"'\n$\\]{{6,80}})["']"""),
)
PIPE_MARKS = ("zfs load-key", "password-stdin", "passwd", "passphrase-fd", "secret", "sudo -s", "cryptsetup", "kinit")
# `expect "password:"; send "SECRET\r"`
SENT = LazyRegex(
    r"""assword[^\n]{0,60}?(?:\n[^\n]{0,40}?)?send(?:line)?[ (]{1,2}(?:-- )?\\{0,4}["']([^\s"'\\]{4,128})"""
)
REGISTRY = LazyRegex(r"""/v\s{1,2}\S{0,30}pass\S{0,20}\s[^\n]{0,60}?/d\s{1,2}["']?([^\s"']{4,128})""")
# By their marks: programs that set the password of a user in two words.
_USER_AND_PASSWORD = r"""(?:-\S{1,20}\s)?[\w.@\-]{1,64}\s["']?([^\s"'\-()][^\s"'()]{3,127})"""
USER_ADDED = {mark: LazyRegex(mark + _USER_AND_PASSWORD) for mark in ("add_user ", "_password ")}
SPACED = LazyRegex(r"pass(?:(?:word|phrase|code|wd)(?:'s)?\s|\s(?:is|was|for)[\s:]|'s\s)")
NETRC = LazyRegex(r"pass(?:word|wd|phrase)[ \t]{1,4}(?=\S)")
# A plain word is followed by nothing, or by the next word of such a file; another one goes on with a sentence.
NETRC_ENDS = LazyRegex(
    r"""["'`\\]|(?![a-z_]{1,40}=)(?:(?=\S{0,200}[\d!#$%&*+@^~])"""
    r"""|\S{1,200}[ \t]{0,8}(?:$|[\r\n"'\\]|account|machine|macdef|login|port|ifname|#))"""
)
SQL = LazyRegex(r"""password\s{1,4}(?:as\s)?(\\{0,8})(?=["'])""")
IDENTIFIED = LazyRegex(r"""identified (?:with [\w"'`]{1,40} )?by\s{1,4}(?:as\s)?(?=\\{0,8}["'])""")
PASS_WORD = LazyRegex(r""" pass:([^\s"'\\,;]{4,256})""")
CHPASSWD = LazyRegex(r"""[a-z_][a-z0-9_\-]{0,31}:([^\s"'\\]{4,128})["']?\s*\|\s*(?:sudo\s+)?chpasswd""")
# With `-n` the hash is printed, and no file stands before the user.
HTPASSWD = LazyRegex(
    r"""htpasswd[ ]+(?:-[a-z]*n[a-z]*(?<=[a-z])[ ]+|-[a-z]*b[a-z]*[ ]+(?!-)\S{1,200}[ ]+)"""
    r"""\S{1,100}[ ]+["']?([^\s"']{4,128})"""
)
WPA = LazyRegex(r"""wpa_passphrase \S{1,40} ["']?([^\s"']{8,64})""")
WINDOWS = LazyRegex(r"""/pass(?:word[a-z]?)?(?::|(?<= /pass) |(?<= /password) )["']?([^\s"']{4,128})""")
# What the shell hands in, and arguments as a list: `["-u", "anna:X"]`.
HANDED_IN = LazyRegex(r"""<<< ?\\{0,4}["']?([^\s"'\\$]{6,512})""")
LISTED = LazyRegex(
    r"""-{1,2}(?:p|w|a|u|pw|user)\\{0,4}["'],\s{0,4}\\{0,4}["'](?:[\w.@\-]{1,60}:)?([^"'\s\\:]{5,128})\\{0,4}["']"""
)
LISTED_MARKS = tuple(f"{option}{quote}," for option in ("-p", "-w", "-a", "-u", "-pw", "-user") for quote in "\"'")
# `login with admin / X`, `creds: deploy / X`. Two expressions, since one that begins with a choice is slow.
_SLASHED = r"(?:\s(?:with|as|are|is)|:)\s{1,2}[\w.@\-]{2,40} ?/ ?([^\s/\"'`,;)]{5,64})(?![\w/])"
SLASHED = {"login": LazyRegex(rf"login{_SLASHED}"), "cred": LazyRegex(rf"cred(?:s|entials)?{_SLASHED}")}
LOGGED_IN = LazyRegex(r"log in (?:with|as) [^\s\"']{2,64} (?:and|with|using|/) \\{0,4}[\"'`]?([^\s\"'`\\]{5,64})")
# By their marks.
GROUPED: dict[str, tuple[LazyRegex, ...]] = {
    **dict.fromkeys(('send "', 'send \\"', "send '", "send --", "sendline("), (SENT,)),
    " /d ": (REGISTRY,),
    " pass:": (PASS_WORD,),
    "passwd": (CHPASSWD, HTPASSWD),
    "wpa_passphrase ": (WPA,),
    "/pass:": (WINDOWS,),
    "/pass ": (WINDOWS,),
    "/password": (WINDOWS,),
}
# Programs that read a password, rather than a text, from what the shell hands in.
ASKING = LazyRegex(r" -u |user|passw|vpn|login|(?:^|\W)(?:su|sudo|cryptsetup|kinit|gpg|openssl|ssh-add)\b")
CHECKED = LazyRegex(r"\b(?:sha\d{1,3}|md5|b2|ck)sum\b")  # a digest and a file
MADE_BESIDE = {**dict.fromkeys(LISTED_MARKS, LISTED), "<<<": HANDED_IN}
TYPED_BESIDE = {**SLASHED, **USER_ADDED, "log in": LOGGED_IN}
PGPASS = LazyRegex(
    r"(?m)^[ \t+\-0-9→|]{0,24}[\w.*\-]{1,100}:(?:\d{2,5}|\*):[\w*\-]{1,64}:[\w*\-.@]{1,64}:([^\s:\"']{4,256})$"
)


OPTION_BEGINS = LazyRegex(r"-(?:-[a-z]|(?<=[\s\"'\\n]-)[a-z])")
# Options with a name need one of these; those of one letter need a program, or are these two.
SHORT_OPTIONS = ("-p", "-u")
OPTION_MARKS = frozenset(
    (*SHORT_OPTIONS, "pass", "ken", "key", "cret", "cred", "pw", "auth", "kie", "asplaintext", *programs())
)


def find_in_commands(text: str, low: str, marks: Set[str]) -> list[Hit]:
    """Values of flags, of clients with short flags, and of files such as .netrc."""
    hits: list[Hit] = []
    if not marks.isdisjoint(OPTION_MARKS) and OPTION_BEGINS.compiled.search(low) is not None:
        for match in DASH.compiled.finditer(low):
            if match.lastgroup == "flag":
                hit = _flag(text, match)
            elif match.lastgroup == "one":
                hit = _one_hyphen(text, match)
            elif match.lastgroup == "secure":
                hit = _secure_string(text, low, match.start())
            else:
                hit = _short(text, low, match)
            if hit is not None:
                hits.append(hit)
    if not marks:
        return hits
    if "pass" in marks:
        for match in SPACED.compiled.finditer(low):
            hits += _spaced(text, low, match.start())
    for mark in marks:
        for pattern in GROUPED.get(mark, ()):
            hits += _grouped(text, low, pattern)
        if mark in TYPED_BESIDE:
            for match in TYPED_BESIDE[mark].compiled.finditer(low):
                if is_typed(text[match.start(1) : match.end(1)]):
                    hits.append(Hit("password", match.start(1), match.end(1)))
        if mark in MADE_BESIDE:
            for match in MADE_BESIDE[mark].compiled.finditer(low):
                word = text[match.start(1) : match.end(1)]
                line = low[line_start(low, match.start(), 120) : match.start()]
                name = text[match.end() : match.end() + 4].lstrip("\\\"'").startswith(":")
                name = name or (mark == "<<<" and CHECKED.compiled.search(line) is not None)
                if (not name and is_made(word)) or (
                    not name and ASKING.compiled.search(line) is not None and is_plain_password(word)
                ):
                    hits.append(Hit("password", match.start(1), match.end(1)))
    if not marks.isdisjoint(PIPE_MARKS) and ("echo " in low or "printf " in low):
        hits += _grouped(text, low, PIPED)
        hits += _grouped(text, low, PHRASED[0])
    if "<<<" in marks:
        hits += _grouped(text, low, PHRASED[1])
    if "identified " in marks:
        for match in IDENTIFIED.compiled.finditer(low):
            hits += _told(text, match.end())
    if ":5432:" in marks:
        for match in PGPASS.compiled.finditer(text):
            if not is_placeholder(match[1]):
                hits.append(Hit("password", match.start(1), match.end(1)))
    return hits


LONG_TOKEN = 24  # a shorter word in capitals stands for a value in a manual, or is an id of a key


def _flag(text: str, match: re.Match[str]) -> Hit | None:
    name = text[match.start() + 2 : match.end("flag")]
    promised = promise(name)
    value = read_value(text, match.end()) if promised is not Promise.NONE else None
    if value is None:
        return None
    word = text[value.start : value.end]
    # A call of PowerShell, a word of a manual.
    helps = (
        word[0] == "("
        or (word.isupper() and len(word) < LONG_TOKEN)
        or (word.isalpha() and text[value.end : value.end + 2] == "  ")
    )
    helps = helps or (word.isalpha() and not is_plain_password(word))
    helps = (helps and not value.quoted) or word.startswith("id=")
    # `"... --ask-vault-pass", "stderr": ""`: what follows is the next name.
    helps = helps or (value.quoted and text[value.end : value.end + 4].lstrip("\\\"'").startswith(":"))
    secret = not helps and is_secret(word, promised, value.quoted, True)
    return Hit(kind_of(name), value.start, value.end) if secret else None


def _short(text: str, low: str, match: re.Match[str]) -> Hit | None:
    """Short flags that mean a secret, where the line speaks of a user."""
    near = low[max(0, match.start() - 400) : match.start()]
    line = near[near.rfind("\n") + 1 :]
    flag = match[0].rstrip()
    if flag in ("-b", "-sb", "--cookie", "--cookie="):
        return _curl_cookie(text, line, flag, match.end())
    if len(flag) == 2:
        # `unzip -p` prints to a pipe and `unzip -P` takes a password.
        flag = text[match.start() : match.start() + 2]
    if flag in ("-u", "-U", "--user", "--proxy-user"):
        return _user(text, line, flag, match.end())
    # Options of known programs are read in `program.py`, unless they are items of a list.
    if flag == "-p" and len(match[0]) == 2:
        listed = text[match.start() - 1 : match.start()] in ('"', "'") and ("mysql" in line or "mariadb" in line)
        return _password_at(text, match.end()) if listed else None
    guess = flag in ("-p", "-P")
    account = guess and USER_FLAG.compiled.search(line) is None
    guess = guess and (not account or ACCOUNT.compiled.search(line) is not None)
    value = read_value(text, match.end()) if guess else None
    if value is None:
        return None
    word = text[value.start : value.end]
    if account and not is_made_up(word):
        return None
    if not is_made(word) or any(c in word for c in "/:,") or "python" in line:
        return None
    if word.startswith("-") or is_placeholder(word) or len(word) < 3:
        return None
    return Hit("password", value.start, value.end)


def _curl_cookie(text: str, line: str, flag: str, at: int) -> Hit | None:
    if "curl" not in line and "wget" not in line:
        return _password_at(text, at) if flag == "-b" and "oathtool" in line else None
    value = read_value(text, at)
    pair = COOKIES.compiled.match(text, value.start, value.end) if value is not None else None
    if value is None or pair is None or is_placeholder(pair[1]) or not is_random(pair[1]):
        return None
    return Hit("cookie", value.start, value.end)


def _one_hyphen(text: str, match: re.Match[str]) -> Hit | None:
    # `openssl -passin pass:x` is read by its own expression.
    return None if text.startswith(("pass:", "env:", "file:"), match.end()) else _password_at(text, match.end())


def _secure_string(text: str, low: str, at: int) -> Hit | None:
    near = SECURE.compiled.search(low, max(0, at - 300), at + 240)
    if near is None or is_placeholder(text[near.start(2) : near.end(2)]):
        return None
    return Hit("password", near.start(2), near.end(2))


def _password_at(text: str, at: int) -> Hit | None:
    value = read_value(text, at)
    word = text[value.start : value.end] if value is not None else ""
    if value is None or len(word) < 4 or word[0] in "-(" or not is_secret(word, Promise.PASSWORD, value.quoted, True):
        return None
    return Hit("password", value.start, value.end)


def _user(text: str, line: str, flag: str, at: int) -> Hit | None:
    value = read_value(text, at)
    if value is None:
        return None
    mark = "%" if "smb" in line or "rpcclient" in line else "," if "lftp" in line else ":"
    name, found, word = text[value.start : value.end].partition(mark)
    if not found or "/" in name or len(word) < 3 or is_placeholder(word) or word.isdigit():
        return None
    if len(flag) == 2 and "curl" not in line and "http" not in line and mark == ":" and not is_random(word):
        return None
    return Hit("password", value.start + len(name) + 1, value.end)


def _spaced(text: str, low: str, at: int) -> Iterator[Hit]:
    """`PASSWORD 'x'` in SQL, `login a password x` in .netrc."""
    sql = SQL.compiled.match(low, at)
    if sql is not None:
        value = read_value(text, sql.end(1) - len(sql[1]))
        if value is not None and is_secret(text[value.start : value.end], Promise.PASSWORD, True, True):
            yield Hit("password", value.start, value.end)
    netrc = NETRC.compiled.match(low, at)
    if netrc is not None:
        value = read_value(text, netrc.end())
        word = text[value.start : value.end].rstrip(".,;:)") if value is not None else ""
        if value is not None and is_strong(word):
            yield Hit("password", value.start, value.start + len(word))
    told = netrc is not None and any(word in low[max(0, at - 200) : at] for word in ("login", "nmcli", "machine "))
    if netrc is not None and told and NETRC_ENDS.compiled.match(text, netrc.end()) is not None:
        yield from _told(text, netrc.end())


def _grouped(text: str, low: str, pattern: LazyRegex) -> Iterator[Hit]:
    for match in pattern.compiled.finditer(low):
        for start, end in match.regs[1:]:
            word = text[start:end]
            if start >= 0 and not is_placeholder(word) and not word.isdigit():
                yield Hit("password", start, end)


def _told(text: str, at: int) -> Iterator[Hit]:
    value = read_value(text, at)
    if value is None:
        return
    word = text[value.start : value.end]
    if not value.quoted:
        word = word.rstrip(".,;:)?")
    plain = word.isalpha() and not is_plain_password(word)
    if is_secret(word, Promise.PASSWORD, value.quoted, True) and len(word) >= 5 and not plain:
        yield Hit("password", value.start, value.start + len(word))
