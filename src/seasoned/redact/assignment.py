"""`name = value` in every notation that tools print (env, YAML, JSON at any depth of escaping, XML, URLs, headers),
options of commands, and "the password is X".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from seasoned.lazy_regex import LazyRegex
from seasoned.redact.value import (
    FOREIGN,
    UUID,
    Hit,
    Promise,
    is_made,
    is_pair,
    is_placeholder,
    is_plain,
    is_random,
    is_secret,
    is_strong,
    kind_of,
    promise,
    reach_in,
)

LONGEST = 8192
FIRST_PAIRS = 512  # of a cookie: they decide
NAME_ONLY, LEADING, SENTENCE = 1, 2, 3  # groups of NEXT
# With more named values than this a text is a dump, or made to be slow: from there on all of it is secret.
MOST_VALUES = 5_000
TRIES = 8  # names tried inside one rejected value; more would be an attempt to slow it down
QUOTE = r"""(?:\\{0,8}["'`]|\\{1,4}u002[27]|&quot;|&\#3[49];|%22|%27)"""
# What makes a value of the text in its parentheses: `[]byte("...")`, `String::from("...")`, `Some("...")`.
_MAKES = (
    r"(?:(?:new[ ])?[\w.:\[\]<>]{0,24}?(?:bytes?|from|some|string|str|secret|secretstr|new|of|encode|decode|fromhex"
    r"|password|securestring|md5|sha1|sha256)\(\s?)"
)
_LITERAL = r"""(?=[*&]?[a-z@]{0,2}\\{0,8}["'`])"""
SEPARATOR = LazyRegex(
    rf"(?:{QUOTE}?\]?(?:\[\d{{0,3}}\]|\[{QUOTE}[\w\-]{{1,40}}{QUOTE}\])?"
    r"(?:\s{0,4}|[ \t]{5,32})"
    r"(?:[:|?+!]{0,2}={1,3}>?|[:：](?![:/])\*{0,2}|%3d|%3a)[ \t]{0,16}"
    # A call around the value.
    rf"(?:{_MAKES}{_LITERAL}|\[\s{{0,4}}{_LITERAL}|\((?:\s|\\n){{0,16}}{_LITERAL})?"
    # The content of an element that the name, or the cell beside the name, belongs to.
    rf"|{QUOTE}?(?:\s(?!value)[a-z:]{{1,20}}={QUOTE}[\w:.\-]{{0,40}}{QUOTE}){{0,3}}[ ]?>"
    r"(?:(?:\s|\\n){0,12}<(?:value|string)>)?"
    r"|</[a-z]{1,10}>(?:\s|\\n){0,12}(?:<[a-z][^<>]{0,60}>){1,2}"
    # `- name: DB_PASSWORD` and `value: ...` on the next line, with `type: ...` between them.
    rf"|{QUOTE}?(?:\s|\\[nrt]|,|-|\{{){{1,24}}"
    rf"(?:{QUOTE}?type{QUOTE}?\s{{0,4}}[:=]\s{{0,4}}{QUOTE}?\w{{1,16}}{QUOTE}?[\s,]{{1,8}})?"
    rf"{QUOTE}?(?:parameter)?(?:value|content|default){QUOTE}?\s{{0,4}}[:=][ \t]{{0,8}}"
    # The value as an argument: `setPassword("...")`, `set("api-key", "...")`, `fill("#password", "...")`.
    rf"|\([ ]?(?:{_MAKES})?{_LITERAL}"
    rf"|\]?{QUOTE}[\])]{{0,2}}[ ]?(?:,\s{{0,4}}(?:default[ ]?=[ ]?)?|[ ]"
    rf"|\.(?:fill|type|send_?keys|set_?value)\([ ]?){_LITERAL}"
    # `#define WIFI_PASS "..."`, SQL's `PASSWORD '...'`.
    r"""|[ \t]{1,16}(?:as[ ])?(?=\\{0,8}["']))"""
)
_VERB = r"is|was|to|are|as|will[ ]be|should[ ]be|used[ ]to[ ]be|es|est|c'est|ist|lautet|é|è|är|jest"
_FOR = r"for|of|on|für|vom|de|del|du|do|na|till|til|от|для"
# The rest of the name, and then a word that may lead to the value, or another word of a sentence: nothing is assigned.
NEXT = LazyRegex(
    rf"([a-z0-9_.\-]{{0,32}})(?:([ ](?:(?:{_VERB}|{_FOR}|now|will|should|used)[ ]))"
    r"|([ ][a-z']{1,24}[,.;:)?!]?(?:\s|\Z)))?"
)
# "the password for the router is X", "set the token to X", "changed the pin of ... to X".
SAID = LazyRegex(
    rf"""(?:[ ](?:{_FOR})[ ](?:the[ ])?[\w.@/\-]{{1,40}}(?:[ ](?!(?:{_VERB})[ ])[\w.@\-]{{1,20}}){{0,3}})?"""
    rf"""(?:[ ](?:{_VERB})(?:[ ](?:now|still|just|set[ ]to|currently))?:?[ ]|:[ ])"""
    r"""(\\{0,4}["'`*]{0,2})([^\s"'`*\\]{4,128})"""
)
# The same after a word of another language, whatever the verb: "mật khẩu là X", "пароль от базы: X", "口令为X". What
# has neither a figure nor a sign in it is one more word of the sentence.
SAID_ABROAD = LazyRegex(
    rf"(?:(?:[ ](?:{_FOR})(?:[ ][\w.@/\-]{{1,40}}){{1,6}}?)?(?:[ ]?(?:c')?[^\W\d_]{{1,6}})??[ :：]{{1,3}}"
    r"|[^\x00-\u2fff]{1,3})"
    r"""(\\{0,4}["'`*]{0,2})(?=[^\s"'`*\\，。、,]{0,64}[\d!@#$%^&*?~+_])([^\s"'`*\\，。、,]{4,128})"""
)
IDENTIFIER = "abcdefghijklmnopqrstuvwxyz0123456789_.-"
CLOSED = " ,;)]}\n"  # what follows a closing quote
OPEN = LazyRegex(r"""[*&]?[bfruBFRUN@]{0,2}(\\{0,8})(["'`])""")
CODED = LazyRegex(r"\\{1,4}u002[27]|&quot;|&\#3[49];|%22|%27")
BARE = LazyRegex(r"""[^\s"'`<>\\]{1,4096}(?:\\(?![nrtubf"'\\/])[^\s"'`<>\\]{1,64}){0,8}""")
STOP = LazyRegex(r"[,;&)}\]|，。；、]")
LINE_START = LazyRegex(
    r"(?:[\s+\-*>|:#→0-9.]|\\[nrt]|export |set |env |ENV |ARG |setenv |Environment=|declare -x |readonly )*"
)
SCHEME = LazyRegex(
    r"(?i)(?:basic|bearer|token|apikey|api-key|digest|negotiate|aws4-hmac-sha256|bot|key|splunk|sso-key"
    r"|oauth|genericapikey)"
    r"(?:\s|%20|\+)+"
)
CREDENTIAL = LazyRegex(r"""[^\s"'`\\,;<>)}]{6,4096}""")
TUPLE = LazyRegex(r"""\(\s?\\{0,8}["'][^"'\s]{1,128}["']\s?,\s?\\{0,8}["']([^"'\s\\]{4,256})\\{0,8}["']""")
PAIR = LazyRegex(
    r"(?<![\w.\-])(?!(?i:max-age|expires|path|domain|_g[a-z]\w*|_fb[pc]|__utm\w|_pk_\w+|_hj\w+)=)[\w.\-]+=([^;\s\"'\\]{8,4096})"
)
# What mail services hand out for programs.
APP_PASSWORD = LazyRegex(r"[a-z]{4}(?: [a-z]{4}){3}(?![ \w])")
DEFINES = ("option ", "set ", "setx ", "#define ", "export ", "setenv ")
LAST_SPACED = "\u2fff"  # scripts beyond have no spaces between words
LONG_TOKEN = 24  # a shorter word in capitals stands for a value in a manual, or is the id of a key
# Beside a user, `PWD` is not a folder, and a password not a variable: settings of connections.
USER = LazyRegex(r"(?:user(?:name|[ ]?id)?|uid)[ ]{0,16}=[ ]{0,16}[\w.@|\-]{1,40}[ ,;\n][^\n\"'()]{0,40}$")
USER_REACH = 90


class AssignedValue(NamedTuple):
    """The value after a separator."""

    start: int
    end: int
    quoted: bool


class NamedValue(NamedTuple):
    """The complete name around a keyword."""

    start: int
    name: str
    promised: Promise


def find_assignments(text: str, low: str, places: list[tuple[int, int]]) -> list[Hit]:
    """Values that are secret because of the name before them. The places are those of words in such names."""
    hits: list[Hit] = []
    reached = done = tries = cookies = values = 0
    following, separates = NEXT.compiled.match, SEPARATOR.compiled.match
    for start, end in places:
        if start < reached:
            continue
        after = following(low, end)
        rest = after.end(1)  # type: ignore[union-attr]
        option = low[rest : rest + 1] == " " and start > 0 and low[start - 1] in IDENTIFIER and _is_option(low, start)
        option = option and low[rest + 1 : rest + 2] not in ("=", ":")  # `-password = x`: a removed line
        said = after.lastindex if not option else 1  # type: ignore[union-attr]
        foreign = low[start:end] in FOREIGN
        if said == SENTENCE and not foreign:
            continue
        match = separates(low, rest) if said == NAME_ONLY and not option else None
        if match is None:
            if foreign:
                hit = _told_abroad(text, low, start, end, rest)
            else:
                hit = _spaced(text, low, start, rest, said == LEADING) if low[rest : rest + 1] in (" ", "\t") else None
            if hit is not None:
                hits.append(hit)
                reached = hit.end
            continue
        named = _name(text, low, start, rest)
        if named is None:
            continue
        values += 1
        if values > MOST_VALUES:
            return [*hits, Hit("secret", start, len(text))]
        reached = match.end()
        tries = tries + 1 if start < done else 0
        cookie = low.startswith("cookie", start)
        if tries > TRIES or (cookie and start < cookies):
            continue
        value = read_value(text, reached)
        if value is None:
            continue
        hit = _judge(text, named, text[rest:reached], value)
        if hit is not None:
            hits.append(hit)
            done, tries = hit.end, TRIES
        elif tries == 0:
            done = value.end
        if cookie:
            line = text.find("\n", start, start + FIRST_PAIRS)
            cookies = start + FIRST_PAIRS if line < 0 else line
    return hits


def _is_option(low: str, at: int) -> bool:
    """Whether the name around this place begins with a hyphen."""
    left = low[max(0, at - 24) : at]
    return left[len(left.rstrip(IDENTIFIER)) :].startswith("-")


def _name(text: str, low: str, keyword: int, end: int) -> NamedValue | None:
    left = low[max(0, keyword - 48) : keyword]
    start = keyword - (len(left) - len(left.rstrip(IDENTIFIER)))
    if start < keyword and start and text[start - 1] == "\\" and text[start] in "nrt":
        start += 1
    name = text[start:end].lstrip("-.")
    if low.startswith("api ", start - 4) and start >= 4:
        name = f"api {name}"
    if low.endswith("public ", 0, start) or (
        low[start - 1 : start] == ":" and "arn:" in low[max(0, start - 100) : start]
    ):
        return None  # `public key: ...`, `arn:aws:secretsmanager:...:secret:db-x`
    if name == "PASS" and text[end : end + 1] in (":", " "):
        return None  # from a test runner: `--- PASS: TestSomething`
    if name in ("PWD", "OLDPWD") and not _beside_user(low, start):
        return None  # the folder of a shell
    promised = promise(name)
    return None if promised is Promise.NONE else NamedValue(start, name, promised)


def _beside_user(low: str, at: int) -> bool:
    return USER.compiled.search(low, max(0, at - USER_REACH), at) is not None


def _spaced(text: str, low: str, start: int, rest: int, leading: bool) -> Hit | None:
    """A value with nothing but a space or a verb between it and its name."""
    said = SAID.compiled.match(low, rest)
    if leading and said is None:
        return None
    named = _name(text, low, start, rest)
    if named is None:
        return None
    start, name, promised = named
    if text.startswith("-", start):
        return _option(text, name, promised, rest + 1)
    if promised < Promise.TOKEN:
        return None
    if said is None:
        return _beside(text, low, named, rest)
    if promised is Promise.TOKEN or kind_of(name) == "secret":
        return _told(
            text, name, said, lambda word: len(word) >= 16 and is_random(word) and not UUID.compiled.fullmatch(word)
        )
    return _told(text, name, said, lambda word: _is_told(word) or (bool(said[1]) and is_plain(word)))


def _beside(text: str, low: str, named: NamedValue, rest: int) -> Hit | None:
    """The next word after the name of a password."""
    start, name, promised = named
    near = text[rest : rest + 8]
    value = read_value(text, rest + len(near) - len(near.lstrip(" \t")))
    if value is None or text[value.start] == "-":
        return None
    word = text[value.start : value.end].rstrip(".,;:)")
    alone = _ends_line(text, value.end)
    secret = len(word) >= 20 and is_random(word) and word[:20].isalnum()
    if promised >= Promise.SECRET and not secret:
        # `requirepass x` in a file of settings, `login a password x` in .netrc, `user a, password x1,` in a message.
        settled = alone and _at_line_start(text, start) and (is_made(word) or is_plain(word))
        told = "login " in low[max(0, start - 100) : start] and (is_made(word) or (alone and is_plain(word)))
        named_so = "/" not in word and (name.islower() or text[rest : rest + 2].isspace())
        ended = alone or text[value.end - 1] in ",.;:)"
        given = promised is Promise.PASSWORD and name != "passwd" and ended and not {":", "="}.intersection(word)
        secret = is_strong(word) or ((settled or told) and named_so) or (given and _is_told(word))
    return Hit(kind_of(name), value.start, value.start + len(word)) if secret else None


def _told(text: str, name: str, said: re.Match[str] | None, fits: Callable[[str], bool]) -> Hit | None:
    """The word that a sentence gives as the value of this name."""
    word = "" if said is None else text[said.start(2) : said.end(2)].rstrip(".,;:)?")
    if said is None or not word or word[0] in "-/~$#" or not fits(word):
        return None
    return Hit(kind_of(name), said.start(2), said.start(2) + len(word))


def _told_abroad(text: str, low: str, start: int, end: int, rest: int) -> Hit | None:
    """The same for the name of another language. Without quotes, nothing says where a word ends that has no spaces."""
    said = SAID_ABROAD.compiled.match(low, rest)
    quoted = said is not None and bool(said[1])
    return _told(text, text[start:end], said, lambda word: _is_told(word) and (quoted or word[0] <= LAST_SPACED))


def _is_told(word: str) -> bool:
    """Whether a word of a sentence about a password may be it: letters with a figure or a sign among them."""
    figures = any(c.isdigit() for c in word) and any(c.isalpha() for c in word)
    return "/" not in word and (is_made(word) or (figures and len(word) > 5 and word.isalnum()))


def _option(text: str, name: str, promised: Promise, at: int) -> Hit | None:
    """The value of `--password`."""
    value = read_value(text, at)
    if value is None:
        return None
    word = text[value.start : value.end]
    if word[0] in "-(" or word.startswith(("id=", "pass:", "env:", "file:")) or _is_next_name(text, value):
        return None
    # A word of a manual.
    helps = (word.isupper() and len(word) < LONG_TOKEN) or (word.isalpha() and not is_plain(word))
    if helps and not value.quoted:
        return None
    return Hit(kind_of(name), value.start, value.end) if is_secret(word, promised, value.quoted, True) else None


def _is_next_name(text: str, value: AssignedValue) -> bool:
    """Whether what follows in quotes is the next name of an object: `"... --ask-vault-pass", "stderr": ""`."""
    return value.quoted and text[value.end : value.end + 4].lstrip("\\\"'").startswith(":")


def _judge(text: str, named: NamedValue, separator: str, value: AssignedValue) -> Hit | None:
    start, name, promised = named
    small = name.lower()
    if "==" in separator and not (value.quoted and promised > Promise.WEAK):
        return None
    if _is_next_name(text, value):
        return None
    if small.endswith("auth") and (text[value.start] == "(" or separator.endswith("(")):
        pair = TUPLE.compiled.match(
            text, value.start if text[value.start] == "(" else text.rfind("(", start, value.start)
        )
        return Hit("password", pair.start(1), pair.end(1)) if pair and not is_placeholder(pair[1]) else None
    if small.endswith("authorization"):
        return _authorization(text, value)
    bare = separator.strip(" \t\\\"'`]")
    defined = text[max(0, start - 9) : start].lower().rstrip(" \\\"'").endswith("define(")
    if not defined and (not bare or bare == "as" or (bare[0] in "(,.)|" and "value" not in bare)):
        return _unseparated(text, named, separator, value)
    # An element of this name, or one whose attribute or neighbour has it.
    element = separator.endswith(">") and "=" not in separator
    inside = text[start - 1 : start] in ("<", ":") or separator != ">"
    if element and not (inside and text.startswith("</", value.end)):
        return None
    if small.endswith("cookie"):
        return _cookie(text, value, separator)
    if small.endswith(FOREIGN) and not name.isupper() and text[value.start : value.end].replace(" ", "").isalpha():
        return None  # labels and messages are translated too
    return _plain(text, named, separator, value)


def _unseparated(text: str, named: NamedValue, separator: str, value: AssignedValue) -> Hit | None:
    """A value that only stands beside its name, as an argument or in quotes: its look must agree."""
    start, name, promised = named
    word = text[value.start : value.end]
    bare = separator.strip()
    if is_placeholder(word) or " " in word:
        return None
    if not value.quoted and not is_strong(word):
        return None
    if promised < Promise.SECRET:
        return Hit(kind_of(name), value.start, value.end) if is_secret(word, Promise.WEAK, True, True) else None
    # `PASSWORD '...'` of SQL, `#define WIFI_PASS "..."`.
    defined = bare in ("", "as") and (
        name.isupper() or name == "password" or text[max(0, start - 8) : start].lower().endswith(DEFINES)
    )
    called = bare[:1] in ("(", ",") and name[-8:].lower() == "password"
    plain = is_plain(word) and value.quoted and (defined or called)
    fits = (is_made(word) and "/" not in word) or is_random(word) or plain
    return Hit(kind_of(name), value.start, value.end) if fits else None


def read_value(text: str, at: int) -> AssignedValue | None:
    """The value that begins here: up to its closing quote at the same escaping depth, or to the end of a bare word."""
    coded = CODED.compiled.match(text, at)
    if coded is not None:
        end = text.find(coded[0], coded.end(), reach_in(text, coded.end(), LONGEST))
        return AssignedValue(coded.end(), end, True) if end > coded.end() else None
    opened = OPEN.compiled.match(text, at)
    if opened is not None:
        return _quoted(text, opened.end(), opened[2], len(opened[1]))
    bare = BARE.compiled.match(text, at)
    return AssignedValue(bare.start(), bare.end(), False) if bare is not None else None


def _quoted(text: str, start: int, quote: str, depth: int) -> AssignedValue | None:
    limit = min(len(text), reach_in(text, start, LONGEST))
    at = text.find(quote, start, limit)
    while at >= 0:
        near = text[max(start, at - 16) : at]
        slashes = len(near) - len(near.rstrip("\\"))
        if slashes <= depth:
            break
        at = text.find(quote, at + 1, limit)
    if at < 0:
        # The closing quote is missing: the rest of the line belongs to the value.
        line = text.find("\n", start, limit)
        end = limit if line < 0 else line
        return AssignedValue(start, end, True) if end > start and text[start] not in CLOSED else None
    end = at - slashes
    # This follows a closing quote, not an opening one.
    if end <= start or text[start] in CLOSED or text.startswith(("\\n", "+ "), start):
        return None
    return AssignedValue(start, end, True)


def _cookie(text: str, value: AssignedValue, separator: str) -> Hit | None:
    end = value.end
    if not value.quoted:
        if ":" not in separator:
            return None
        end = _line_end(text, value.start)
    # A cookie is redacted as a whole.
    pairs = PAIR.compiled.findall(text, value.start, min(end, value.start + FIRST_PAIRS))
    if any(not is_placeholder(p) and any(c.isdigit() for c in p) for p in pairs):
        return Hit("cookie", value.start, end)
    return None


def _line_end(text: str, start: int) -> int:
    ends = [text.find(stop, start, start + 4096) for stop in ("\n", "\r", '"', "'", "\\n", "\\r", '\\"')]
    return min((e for e in ends if e >= 0), default=min(len(text), start + 4096))


def _authorization(text: str, value: AssignedValue) -> Hit | None:
    scheme = SCHEME.compiled.match(text, value.start)
    at = scheme.end() if scheme else value.start
    found = CREDENTIAL.compiled.match(text, at)
    if found is None or is_placeholder(found[0]):
        return None
    if scheme is not None and scheme[0][:5].lower() == "basic" and not is_pair(found[0]):
        return None
    if scheme is None and not is_secret(found[0], Promise.TOKEN, value.quoted, False):
        return None
    if not any(c.isdigit() for c in found[0]) and len(found[0]) < 16:
        return None
    return Hit("authorization", found.start(), found.end())


def _plain(text: str, named: NamedValue, separator: str, value: AssignedValue) -> Hit | None:
    start, name, promised = named
    first, end = value.start, value.end
    if value.quoted:
        secret = is_secret(text[first:end], promised, True, True) or (
            name.lower() in ("pass", "pw") and is_made(text[first:end])
        )
        return Hit(kind_of(name), first, end) if secret else None
    if text[first] == "?" and text[start - 2 : start] == "${":
        return None  # what the shell says when the variable is missing
    anchored = _at_line_start(text, start)
    env = name.isupper() and separator == "="
    if not anchored:
        stop = STOP.compiled.search(text, first, end)
        end = stop.start() if stop else end
    if not env:
        end = first + len(text[first:end].rstrip(".,;:"))
    if promised >= Promise.SECRET and (groups := APP_PASSWORD.compiled.match(text, first)) is not None:
        return Hit("password", first, groups.end())
    word = text[first:end]
    if name.lower() in ("pass", "pw") and separator.strip() in (":", "="):
        mixed = is_strong(word) or (len(word) > 5 and is_made(word) and not any(c in word for c in "/.:_#"))
        return Hit("password", first, end) if mixed else None
    if promised is Promise.PASSWORD and is_plain(word):
        connects = separator == "=" and _beside_user(text[max(0, start - USER_REACH) : start].lower(), USER_REACH)
        if connects or _is_data(text, separator, anchored, value.end):
            return Hit(kind_of(name), first, end)
    parameter = text[max(0, start - 1) : start] + separator in ("&=", "?=", "/:")  # of an address, `/password:x`
    exact = env or parameter or text.startswith("--", start) or (separator == ">" and text.startswith("</", value.end))
    return Hit(kind_of(name), first, end) if is_secret(word, promised, False, exact) else None


def _is_data(text: str, separator: str, anchored: bool, end: int) -> bool:
    """Whether name and value are a setting on its own line, rather than code."""
    return anchored and _ends_line(text, end) and separator.strip(" ") in (":", "：", "=") and separator != " = "


def _ends_line(text: str, end: int) -> bool:
    return text[end : end + 1] in ("", "\n", "\r", '"') or text[end : end + 2] in ("\\n", "\\r", " #")


def _at_line_start(text: str, start: int) -> bool:
    line = max(text.rfind("\n", max(0, start - 64), start), text.rfind("\\n", max(0, start - 64), start)) + 1
    return start - line <= 60 and LINE_START.compiled.fullmatch(text, line, start) is not None
