"""`name = value` in every notation that tools print: env, YAML, JSON at any depth of escaping, XML, URLs, headers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from seasoned.lazy_regex import LazyRegex
from seasoned.redact.hit import Hit, line_start
from seasoned.redact.literal import (
    LABELS,
    SENTENCE,
    UUID,
    is_hex_key,
    is_made,
    is_placeholder,
    is_plain_password,
    is_random,
    is_reference,
    is_said_of,
    is_secret,
    is_strong,
    is_typed,
)
from seasoned.redact.name import FOREIGN, WORDS, Promise, kind_of, promise, vocabulary

LONGEST = 8192
TRIES = 8  # names tried inside one rejected value; more would be an attempt to slow it down
QUOTE = r"""(?:\\{0,8}["'`]|\\{1,4}u002[27]|&quot;|&\#3[49];|%22|%27)"""
# What makes a value of the text in its parentheses: `[]byte("...")`, `String::from("...")`, `Some("...")`.
_MAKES = (
    r"(?:(?:new[ ])?[\w.:\[\]<>]{0,24}?(?:bytes?|bytearray|from|some|just|string|str|secret|secretstr|new|of|encode"
    r"|decode|fromhex|unhexlify|password|securestring|make|md5|sha1|sha256|bcrypt|crypt|hex!)\(\s?)"
)
_LITERAL = r"""(?=[*&]?[a-z@]{0,2}\\{0,8}["'`])"""
SEPARATOR = LazyRegex(
    r"[a-z0-9_.\-]{0,32}+()(?:"
    # A declaration with a type: `const KEY: &str = "..."`.
    rf"[ ]?:[ ]?[&*\w\[\];<>.?|][&*\w\[\];<>.?| ]{{0,31}}=[ ]{{0,2}}{_MAKES}?{_LITERAL}"
    rf"|\$?{QUOTE}?\]?(?:\[\d{{0,3}}\]|\[{QUOTE}[\w\-]{{1,40}}{QUOTE}\])?"
    r"(?:[ ]\d{1,2}(?=:)|(?<=cret)[ ]id(?=[ :=])|[ ](?:key|value|string|hash)(?=[ :=])"
    r"|[ ]\([^()\n]{1,40}\)(?=:))?\s{0,4}"
    r"(?:[:|?+!]{0,2}={1,3}>?|:-(?=[\w!@#%^*+.~\-]{4,128}\})|:(?![:/])\*{0,2}|%3d|%3a)[ \t]{0,16}"
    # An anchor of YAML, or a call around the value.
    rf"(?:&[a-z][\w\-]{{0,31}}[ \t]{{1,4}}|{_MAKES}{_LITERAL}|\[\s{{0,4}}{_LITERAL}"
    rf"|\((?:\s|\\n){{0,16}}{_LITERAL}|\{{\{{\s{{0,2}}{_LITERAL}|(?:\s|\\n){{0,12}}string\(\d{{1,4}}\)[ ]{_LITERAL})?"
    # The content of an element that the name, or the cell beside the name, belongs to.
    rf"|{QUOTE}?(?:\s[a-z:]{{1,20}}={QUOTE}[\w:.\-]{{0,40}}{QUOTE}){{0,3}}[ ]?>"
    r"(?:(?:\s|\\n){0,12}<(?:value|string)>)?"
    r"|</[a-z]{1,10}>(?:\s|\\n){0,12}(?:<[a-z][^<>]{0,60}>){1,2}"
    # A cell of a table, a dotted pair, a dash; a declaration with the type behind the name.
    r"|,[ ]?<<(?=[\"'])"
    # What stands in for a variable that is not set: `process.env.DB_PASS || "..."`.
    rf"|{QUOTE}?[\])]{{0,2}}[ ]?(?:\|\||\?\?|\?:|(?<=[\])])[ ]or)[ ]?{_LITERAL}"
    rf"|[`*]{{0,3}}[ ]{{0,30}}\|[ ]{{0,4}}[`*]{{0,2}}|[ ]\.[ ]{_LITERAL}"
    rf"|\*{{0,2}}[ ][–—][ ]|[ ](?:secure)?(?:string|str|text)[ ]=[ ]{_LITERAL}"
    r"|(?:[ \t]{1,2}|[ ](?:is|was|set)[ ])(?=[a-z0-9/+_\-]{16})"
    rf"|{QUOTE}?(?:\s|\\[nrt]|,|-){{1,24}}{QUOTE}?"
    rf"(?:parameter)?(?:value|content|default){QUOTE}?\s{{0,4}}[:=][ \t]{{0,8}}"
    # The value as an argument: `setPassword("...")`, `set("api-key", "...")`, `fill("#password", "...")`.
    rf"|\([ ]?(?:{_MAKES})?{_LITERAL}"
    rf"|\]?{QUOTE}[\])]{{0,2}}[ ]?(?:,\s{{0,4}}(?:default[ ]?=[ ]?)?|[ ]"
    rf"|\.(?:fill|type|sendkeys|send_keys|setvalue|set_value|presssequentially)\([ ]?){_LITERAL}"
    # `#define WIFI_PASS "..."`, and `requirepass ...` on a separate line.
    r"""|[ \t]{1,16}(?=\\{0,8}["'])|[ \t]{1,16}(?:reg_sz[ \t]{1,8})?(?=[^\s"'`\\]{4,128}(?:[\r\n]|\\[nr]|"|$)))"""
)
# What mostly follows a name in code, so that the expression above need not be tried.
NO_SEPARATOR = LazyRegex(
    r"[a-z0-9_.\-]{0,32}+(?:,(?![ ]?<<)|\)(?!\)?[ ]?[|?o ])|[;}{/@#]|[ ](?:in|and|is[ ]not|not|to|of|for|if)[ ])"
)
# Agents speak of sessions all the time; only one that a value follows is looked at.
SESSION_MARKS = ("session=", "session:", 'session"', "session'", "session]", "sessionid=", "session_id=", "session-id=")
# Words that make a name suspicious, and the marks without which they cannot stand in a text. An expression that begins
# with a literal is ten times as fast as one that begins with a choice.
NAMES = (
    (LazyRegex("k(?:ey|en|ie)"), ("key", "ken", "kie")),  # key, token and cookie
    (LazyRegex("pass"), ("pass",)),
    (LazyRegex("pw(?:d|(?![a-z]))"), ("pw",)),
    (LazyRegex("cre[td]"), ("cret", "cred")),
    (LazyRegex("auth"), ("auth",)),
    (LazyRegex("_pat(?![a-z])"), ("_pat",)),
    (LazyRegex("salt"), ("salt",)),
    (LazyRegex("pepper"), ("pepper",)),
    (LazyRegex("seed"), ("seed",)),
    (LazyRegex("session"), SESSION_MARKS),
    (LazyRegex("appid"), ("appid",)),
    (LazyRegex("|".join(sorted(FOREIGN))), tuple(sorted(FOREIGN))),
)
IDENTIFIER = "abcdefghijklmnopqrstuvwxyz0123456789_.-"
CLOSED = " ,;)]}\n"  # what follows a closing quote
OPEN = LazyRegex(r"""[*&]?[bfruBFRUN@]{0,2}(\\{0,8})(["'`])""")
CODED = LazyRegex(r"\\{1,4}u002[27]|&quot;|&\#3[49];|%22|%27")
BARE = LazyRegex(r"""[^\s"'`<>\\]{1,4096}(?:\\(?![nrtubf"'\\/])[^\s"'`<>\\]{1,64}){0,8}""")
# A YAML block: `|` or `>`, the end of the line, and the first line below, whatever numbers a listing puts before it.
BLOCK = LazyRegex(
    r"[|>][+\-]?\d?[ \t]*(?:\r?\n|\\n)(?:[ \t\d→|+\-]"
    r"|\\t)*([^\s\"'\\]{4,512}(?:[ ][^\s\"'\\]{1,20}){0,6})[ \t]*(?:\r?\n|\\n|\"|$)"
)
STOP = LazyRegex(r"[,;&)}\]|]")
CODED_STOP = LazyRegex(r"(?i)%(?:26|22|27|0a|0d|20|2c|7d|3b)|[,;&)}\]|]")
LINE_START = LazyRegex(
    r"(?:[\s+\-*>|:#→0-9.]|\\[nrt]|export |set |env |ENV |ARG |setenv |Environment=|declare -x |readonly )*"
)
SCHEME = LazyRegex(
    r"(?i)(?:basic|bearer|token|apikey|api-key|digest|negotiate|aws4-hmac-sha256|bot|key|splunk|sso-key"
    r"|oauth|genericapikey)"
    r"(?:\s|%20|\+)+"
)
OWN_SCHEME = LazyRegex(r"[A-Z][A-Za-z]{2,20} ([A-Za-z0-9+/=_.\-]{20,512})")  # `GenieKey ...`
DIGEST = LazyRegex(r"""response=\\{0,4}"?([0-9a-f]{32,64})""")
CREDENTIAL = LazyRegex(r"""[^\s"'`\\,;<>)}]{6,4096}""")
TUPLE = LazyRegex(r"""\(\s?\\{0,8}["'][^"'\s]{1,128}["']\s?,\s?\\{0,8}["']([^"'\s\\]{4,256})\\{0,8}["']""")
PAIR = LazyRegex(
    r"(?<![\w.\-])(?!(?i:max-age|expires|path|domain|_g[a-z]\w*|_fb[pc]|__utm\w|_pk_\w+|_hj\w+)=)[\w.\-]+=([^;\s\"'\\]{8,4096})"
)
# Calls that ask for a secret or look at one: their text is a label.
ASKING = vocabulary(
    "get find has is check validate verify parse test expect use on handle reset forgot query by t describe it error "
    "invalid assert require input prompt ask read"
)
MORE_WORDS = LazyRegex(r"(?: [a-z]{3,12}){2,23}(?=[\r\n\"'\\]|$)")
# What mail services hand out for programs.
APP_PASSWORD = LazyRegex(r"[a-z]{4}(?: [a-z]{4}){3}(?![ \w])")
# What is typed into a field for a password is one.
TYPING = LazyRegex(r"(?i)\.(?:fill|type|send_?keys|set_?value|pressSequentially)\(")
COMMAND_NAME = LazyRegex(r"(?:Read|Get|New|ConvertTo|Import|Invoke)-[A-Z][A-Za-z]+\s")  # of PowerShell
DRAWN = LazyRegex(r"[A-Za-z0-9/+_\-]{16}")
NAMED_OBJECT = LazyRegex(r"[a-z]+(?:-[a-z]+)*-[a-z0-9]{5}")  # `kubectl describe secret default-token-x7k2p`
BYTES = LazyRegex(r"\[?(?:\d{1,3},\s?){15,}\d{1,3}\]?")
# The same in C, and letter by letter.
BRACED = LazyRegex(
    r"\{\s{0,8}(?:(?:0x[0-9A-Fa-f]{1,2}|\d{1,3}),\s{0,12}){15,255}(?:0x[0-9A-Fa-f]{1,2}|\d{1,3}),?\s{0,8}\}"
    r"|\{\s{0,4}(?:'[^'\\\n]',\s{0,4}){3,63}'[^'\\\n]'\s{0,4}\}"
)
DEFINES = ("option ", "set ", "setx ", "#define ", "export ", "setenv ")


SQL_VARIABLE = LazyRegex(r"[a-z][a-z_]*")  # `PASSWORD :'name'` of psql


class AssignedValue(NamedTuple):
    """The value after a separator."""

    start: int
    end: int
    quoted: bool


def find_assignments(text: str, low: str, marks: Mapping[str, list[int]]) -> list[Hit]:
    """Find values that are secret because of their name."""
    hits: list[Hit] = []
    for pattern, needed in NAMES:
        places = [place for mark in needed if mark in marks for place in marks[mark]]
        if places:
            _named_by(pattern, text, low, sorted(places) if len(needed) > 1 else places, hits)
    return hits


def _named_by(names: LazyRegex, text: str, low: str, places: list[int], hits: list[Hit]) -> None:
    # A separate expression for the separator: five copies of it would be slow to compile.
    reached = done = tries = 0
    for start in places:
        keyword = names.compiled.match(low, start) if start >= reached else None
        if keyword is None or NO_SEPARATOR.compiled.match(low, keyword.end()) is not None:
            continue
        match = SEPARATOR.compiled.match(low, keyword.end())
        if match is None:
            continue
        reached = match.end()
        if start < done:
            tries += 1
            if tries > TRIES:
                continue
        else:
            tries = 0
        named = _name(text, low, start, match.start(1))
        if named is None:
            continue
        value = read_block(text, reached) if text[reached : reached + 1] in ("|", ">") else read_value(text, reached)
        if value is None:
            continue
        hit = _judge(text, named, text[match.start(1) : reached], value)
        if hit is not None:
            hits.append(hit)
            done, tries = hit.end, TRIES
        elif tries == 0:
            done = value.end


class NamedValue(NamedTuple):
    """The complete name around a keyword."""

    start: int
    name: str
    promised: Promise


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
    promised = promise(name)
    if name == "PASS" and text[end : end + 1] in (":", " "):
        return None  # from a test runner: `--- PASS: TestSomething`
    return None if promised is Promise.NONE else NamedValue(start, name, promised)


def _judge(text: str, named: NamedValue, separator: str, value: AssignedValue) -> Hit | None:
    start, name, promised = named
    if "==" in separator and not (value.quoted and promised > Promise.WEAK):
        word = text[value.start : value.end]
        compared = value.quoted and name == "pass" and "]" in separator and (is_made(word) or is_plain_password(word))
        return Hit("password", value.start, value.end) if compared else None
    if name[-4:].lower() == "auth" and (text[value.start] == "(" or separator.endswith("(")):
        pair = TUPLE.compiled.match(
            text, value.start if text[value.start] == "(" else text.rfind("(", start, value.start)
        )
        return Hit("password", pair.start(1), pair.end(1)) if pair and not is_placeholder(pair[1]) else None
    if separator == " :" and value.quoted and SQL_VARIABLE.compiled.fullmatch(text, value.start, value.end):
        return None
    if name[-13:].lower() == "authorization" and value.quoted and separator.strip(" \t\\\"'`],") == "":
        return _authorization(text, value)
    bare = separator.strip(" \t\\\"'`]")
    if not bare or (bare[0] in "(,.)|–—" and "value" not in bare) or bare.startswith(("*", "??")):
        return _unseparated(text, named, separator, value)
    if separator.endswith(">") and "=" not in separator:
        # An element of this name, or one whose attribute or neighbour has it.
        if not text.startswith("</", value.end) or (separator == ">" and text[start - 1 : start] not in ("<", ":")):
            return None
        word = text[value.start : value.end]
        plain = promised is Promise.PASSWORD and not separator.endswith(("<td>", "<th>")) and is_plain_password(word)
        if len(separator) > 1 and not _is_password(word) and not plain:
            return None
    if name[-6:].lower() == "cookie":
        return _cookie(text, value, separator)
    if name[-13:].lower() == "authorization":
        return _authorization(text, value)
    return _plain(text, start, name, promised, separator, value)


def _unseparated(text: str, named: NamedValue, separator: str, value: AssignedValue) -> Hit | None:
    """A value that only stands beside its name: as an argument, or as the next word. Its look must agree."""
    start, name, promised = named
    word = text[value.start : value.end]
    if is_placeholder(word) or " " in word:
        return None
    bare = separator.strip()
    if bare[:1] in ("–", "—") and not any(c.isdigit() for c in word):
        return None
    if bare.endswith("|") and (promised < Promise.SECRET or "{{" in text[max(0, start - 60) : start]):
        return None
    if bare.startswith("("):
        words = [w.lower() for w in WORDS.compiled.findall(name.rpartition(".")[2])]
        if words and words[0] in ASKING and len(words) > 1:
            return None
    elif not bare:
        if not value.quoted:
            return _next_word(text, named, value)
        if name == "key" and "option encryption" in text and (is_made(word) or is_plain_password(word)):
            return Hit("password", value.start, value.end)
        if not (name.isupper() or text[max(0, start - 8) : start].lower().endswith(DEFINES)):
            return Hit(kind_of(name), value.start, value.end) if _is_setting(text, start, name, word) else None
    if TYPING.compiled.search(bare) is not None and promised >= Promise.SECRET:
        fits = is_secret(word, promised, True, True)
    else:
        fits = (
            _is_password(word) or (is_plain_password(word) and _is_argument(text, name, bare, value))
            if promised >= Promise.SECRET
            else is_secret(word, min(promised, Promise.WEAK), True, True)
        )
    return Hit(kind_of(name), value.start, value.end) if fits else None


def _is_argument(text: str, name: str, bare: str, value: AssignedValue) -> bool:
    """Whether a plain word in quotes can be nothing but the value: `ssh.Password("X")`, `#define WIFI_PASS "X"`."""
    if not value.quoted:
        return False
    if bare.startswith("("):
        return name[-8:].lower() == "password"
    if not bare:
        return name.isupper() and "_" in name
    if "default" in bare:
        return name[-8:].lower() == "password"
    return (
        bare.lstrip("\"'] ").startswith(",")
        and ("_" in name or "." in name)
        and text[value.end + 1 : value.end + 2] in (")", ">")
    )


def _is_setting(text: str, start: int, name: str, word: str) -> bool:
    """`Pass "..."`, `secret "...";`: a setting with its value in quotes."""
    own_line = name.lower() in ("pass", "password", "secret", "passphrase", "pwd") or name.lower().endswith("pass")
    return own_line and (is_strong(word) or is_random(word) or (is_typed(word) and _at_line_start(text, start)))


def _next_word(text: str, named: NamedValue, value: AssignedValue) -> Hit | None:
    start, name, promised = named
    word = text[value.start : value.end]
    if promised is Promise.WEAK and len(word) >= 48 and is_hex_key(word):
        return Hit(kind_of(name), value.start, value.end)
    # `aws configure set aws_secret_access_key ...`: only the look of the value decides.
    if NAMED_OBJECT.compiled.fullmatch(word) or word[0] == "-":
        return None
    drawn = promised >= Promise.TOKEN and DRAWN.compiled.match(word) is not None and is_random(word)
    line = text[value.end : value.end + 2]
    alone = line[:1] in ("", "\n", "\r", '"') or line in ("\\n", "\\r")
    if not drawn and alone and promised >= Promise.SECRET and _is_password(word):
        compound = name.islower() and ("-" in name or "_" in name) and word[0].isalnum()
        drawn = compound or _at_line_start(text, start)
    if not drawn and alone and promised >= Promise.SECRET and (is_made(word) or is_plain_password(word)):
        drawn = _is_directive(text, start, name, value.start)
    return Hit(kind_of(name), value.start, value.end) if drawn else None


DIRECTIVE = LazyRegex(
    r"(?:^|\n|\\n)[\s\d→+]{0,12}(?:setenv|SetEnv|set|user|neighbor|machine|enable|ppp|line|snmp\S*|d-i)?"
    r"(?:[ \t]+[\w.:@/\-]{1,40}){0,5}[ \t]*$"
)
NEIGHBOUR = LazyRegex(
    r"(?:^|\n|\\n)[ \t]*(?:user(?:name)?|login|account|host|machine|line|setenv|SetEnv|bind|smtp\w*|server)\b"
)


def _is_directive(text: str, start: int, name: str, at: int) -> bool:
    """Whether the line is a setting without a sign between name and value: `SetEnv DB_PASS X`, `password X`."""
    if name.isupper() and "_" in name:
        return text[max(0, start - 7) : start].lower().endswith(("setenv ", "set "))
    if not name.islower() and "\t" not in text[start:at] and "  " not in text[start:at]:
        return False
    line = text[max(0, start - 120) : start]
    if DIRECTIVE.compiled.search(line) is None:
        return False
    if "  " in text[start:at] or "\t" in text[start:at]:
        return True
    return NEIGHBOUR.compiled.search(text, max(0, start - 300), at + 200) is not None


def _is_password(word: str) -> bool:
    return is_strong(word) or (is_made(word) and "/" not in word)


def read_value(text: str, at: int) -> AssignedValue | None:
    """The value that begins here: up to its closing quote at the same escaping depth, or to the end of a bare word."""
    coded = CODED.compiled.match(text, at)
    if coded is not None:
        end = text.find(coded[0], coded.end(), coded.end() + LONGEST)
        return AssignedValue(coded.end(), end, True) if end > coded.end() else None
    opened = OPEN.compiled.match(text, at)
    if opened is not None:
        return _quoted(text, opened.end(), opened[2], len(opened[1]))
    bare = BARE.compiled.match(text, at)
    return AssignedValue(bare.start(), bare.end(), False) if bare is not None else None


def read_block(text: str, at: int) -> AssignedValue | None:
    """The indented value below `password: |`."""
    block = BLOCK.compiled.match(text, at)
    return AssignedValue(block.start(1), block.end(1), True) if block is not None else None


def _quoted(text: str, start: int, quote: str, depth: int) -> AssignedValue | None:
    limit = min(len(text), start + LONGEST)
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
    # The first pairs decide; a cookie is redacted as a whole.
    pairs = PAIR.compiled.findall(text, value.start, min(end, value.start + 512))
    if any(not is_placeholder(p) and any(c.isdigit() for c in p) for p in pairs):
        return Hit("cookie", value.start, end)
    return None


def _line_end(text: str, start: int) -> int:
    ends = [text.find(stop, start, start + 4096) for stop in ("\n", "\r", '"', "'", "\\n", "\\r", '\\"')]
    return min((e for e in ends if e >= 0), default=min(len(text), start + 4096))


def _authorization(text: str, value: AssignedValue) -> Hit | None:
    scheme = SCHEME.compiled.match(text, value.start)
    at = scheme.end() if scheme else value.start
    if scheme is not None and scheme[0][:6].lower() == "digest":
        answer = DIGEST.compiled.search(text, at, at + 1024)
        return Hit("authorization", answer.start(1), answer.end(1)) if answer is not None else None
    found = CREDENTIAL.compiled.match(text, at)
    if found is None or is_placeholder(found[0]):
        return None
    if scheme is None and (own := OWN_SCHEME.compiled.match(text, at)) is not None:
        if is_random(own[1]) or UUID.compiled.fullmatch(own[1]):
            return Hit("authorization", own.start(1), own.end(1))
        return None
    if scheme is None and not is_secret(found[0], Promise.TOKEN, value.quoted, False):
        return None
    if scheme is not None and scheme[0][:6].lower() in ("aws4-h", "oauth "):
        return Hit("authorization", at, value.end if value.quoted else _line_end(text, at))
    if not any(c.isdigit() for c in found[0]) and len(found[0]) < 16:
        return None
    return Hit("authorization", found.start(), found.end())


def _plain(text: str, start: int, name: str, promised: Promise, separator: str, value: AssignedValue) -> Hit | None:
    first, end = value.start, value.end
    if value.quoted:
        short = separator.strip(" \t\"'") == "=" and name.lower() in ("pass", "pw")
        ends = text[end : end + 3].strip("\"';")[:1] in ("", "\n", "\r", "\\", " ") and text[end : end + 1] != "`"
        short = short and (is_typed(text[first:end]) or (ends and is_plain_password(text[first:end])))
        secret = short or is_secret(text[first:end], promised, True, True)
        return Hit(kind_of(name), first, end) if secret else None
    if separator[:1].isspace() and separator.strip() in ("is", "was", "set"):
        drawn = promised >= Promise.TOKEN and is_random(text[first:end])
        return Hit(kind_of(name), first, end) if drawn else None
    if name[-3:].lower() == "pwd" and text[first] in "/~":
        return None
    if text[first] == "?" and text[start - 2 : start] == "${":
        return None  # what the shell says when the variable is missing
    listed = BYTES.compiled.match(text, first) if text[first] == "[" else None
    if text[first] == "{" and promised >= Promise.WEAK:
        listed = BRACED.compiled.match(text, first)
    if listed is not None:
        return Hit(kind_of(name), listed.start(), listed.end())
    if COMMAND_NAME.compiled.match(text, first) or "encrypteddata" in text[max(0, start - 400) : start].lower():
        return None
    anchored = _at_line_start(text, start)
    env = name.isupper() and separator == "="
    if separator[:1] == "%" or not (anchored or env):
        stop = (CODED_STOP if separator[:1] == "%" else STOP).compiled.search(text, first, end)
        end = stop.start() if stop else end
    elif not env:
        end = first + len(text[first:end].rstrip(",;:"))
    else:
        stop = STOP.compiled.search(text, first, end) if not anchored else None
        end = stop.start() if stop else end
    groups = APP_PASSWORD.compiled.match(text, first) if promised >= Promise.SECRET else None
    if groups is not None:
        return Hit("password", first, groups.end())
    word = text[first:end]
    several = SETTING_WORDS.compiled.match(text, first) if name == "password" and separator == ": " else None
    if several is not None and _is_among_settings(text, start, several[0]):
        return Hit("password", first, several.end())
    if name[-6:].lower() == "phrase" and (words := MORE_WORDS.compiled.match(text, end)) is not None:
        return Hit("password", first, words.end())
    if promised is Promise.WEAK and _is_short_name(text, start, name, word, separator):
        return Hit("password", first, end)
    if env and name.endswith("_KEY") and UUID.compiled.fullmatch(word):
        return Hit(kind_of(name), first, end)
    paired = word.isalpha() and separator == "=" and text[end : end + 1] in ("&", ";") and not is_placeholder(word)
    certain = _is_for_password(name, promised) and (paired or is_plain_password(word))
    if certain and (_is_pair(text, start, separator, end) or _is_setting_line(text, anchored, separator, value.end)):
        return Hit(kind_of(name), first, end)
    exact = env or text.startswith("--", start) or _is_data(text, word, promised, separator, anchored, value.end)
    return Hit(kind_of(name), first, end) if is_secret(word, promised, False, exact) else None


def _is_for_password(name: str, promised: Promise) -> bool:
    """Whether people make up what the name stands for; keys are drawn, or name something."""
    return promised is Promise.PASSWORD or (
        promised is Promise.SECRET and (kind_of(name) == "password" or name.lower() in ("secret", "psk"))
    )


# `host=db user=app password=X sslmode=on`, `?user=a&pwd=X`, `Uid=a;Pwd=X;`: settings in one line.
SIBLING_BEFORE = LazyRegex(r"[\w.]+=[^\s=;&,()]{1,80}[;& ,]{1,2}$|[?&;]$|[;& ,][\w.]+=[^\s=;&,()]{1,80}$|://\S*[?&;:]$")
SIBLING_AFTER = LazyRegex(r"[;&]|[ ,][\w.]+=[^\s=,()]")
CODE_LINE = LazyRegex(
    r"\b(?:def|import|function|const|let|var|return|class|public|private|func|fn|await|if|new)\b|[;{}]\s*$|=>|\("
)


def _is_pair(text: str, start: int, separator: str, end: int) -> bool:
    """Whether name and value are one of several pairs on a line, as in addresses of databases."""
    if separator.strip("%3dD") not in ("=", "") or " " in separator:
        return False
    if text[start - 1 : start] in ("'", '"') and text[end : end + 1] == text[start - 1 : start]:
        return True
    line = text[line_start(text, start, 200) : start]
    if "(" in line.rpartition('"')[2].rpartition("'")[2]:
        return False  # arguments of a call
    return SIBLING_BEFORE.compiled.search(line) is not None or SIBLING_AFTER.compiled.match(text, end) is not None


def _is_setting_line(text: str, anchored: bool, separator: str, end: int) -> bool:
    """Whether the line holds nothing but the name and the value, in a file of settings rather than of code."""
    if not anchored or text[end - 1 : end] in (",", ";", "{", "("):
        return False
    rest = text[end : end + 2]
    if (
        rest[:1] not in ("", "\n", "\r", '"', "'")
        and rest not in ("\\n", "\\r")
        and text[end : end + 3].strip()[:1] != "#"
    ):
        return False
    if separator.strip() == ":" or separator == "=":
        return True
    near = text[max(0, end - 400) : end + 200]
    return separator.strip() == "=" and CODE_LINE.compiled.search(near) is None


def _is_short_name(text: str, start: int, name: str, word: str, separator: str) -> bool:
    """`pass=X1` and `pw: X1`: programs also say that a test passes, so the value must be typed."""
    if name.lower() not in ("pass", "pw") or separator.strip() not in (":", "="):
        return False
    if name.isupper() and separator == "=" and _at_line_start(text, start):
        return is_plain_password(word) or is_made(word)
    if name == "PASS":
        return False
    mixed = any(c.isdigit() for c in word) and any(c.isalpha() for c in word)
    return len(word) > 5 and mixed and not any(c in word for c in "/.:_([{#") and not is_placeholder(word)


def _at_line_start(text: str, start: int) -> bool:
    line = max(text.rfind("\n", max(0, start - 64), start), text.rfind("\\n", max(0, start - 64), start)) + 1
    if start - line > 60:
        return False
    return LINE_START.compiled.fullmatch(text, line, start) is not None


# `password: two words`, further in and below a user or a host: YAML, in which words need no quotes.
SETTING_WORDS = LazyRegex(r"[^\W\d_]{3,20}(?:[ ][^\W\d_]{2,20}){1,4}(?=[\r\n\"]|\\n|$)")
SETTING_ABOVE = LazyRegex(
    r"(?:\n|\\n)[ ]{2,12}(?:user|username|host|database|adapter|broker|port|server): \S[^\n]{0,60}\n[ ]{2,12}$"
)


def _is_among_settings(text: str, start: int, words: str) -> bool:
    if any(is_said_of(word) or is_placeholder(word) for word in words.split()) or SENTENCE.compiled.search(words):
        return False
    return SETTING_ABOVE.compiled.search(text, max(0, start - 120), start) is not None


FURTHER = LazyRegex(r"[ ]{1,4}[^\W\d_]")  # a sentence goes on


def _is_data(text: str, word: str, promised: Promise, separator: str, anchored: bool, end: int) -> bool:
    """Whether the line belongs to a settings file rather than to code."""
    if separator == ">":
        return text.startswith("</", end)
    if not anchored or promised is not Promise.PASSWORD or text[end - 1 : end] in (",", ";", "{", "("):
        return False
    rest = text[end : end + 2]
    if rest[:1] not in ("", "\n", "\r", " ") and rest not in ("\\n", "\\r"):
        return False
    section = separator.strip() == "=" and ("\n[" in text or text.startswith("["))
    if ":" in separator or separator == "=" or section:
        names = {part.lower() for part in WORDS.compiled.findall(word)}
        if is_reference(word) or not LABELS.isdisjoint(names) or is_said_of(word):
            return False
        if rest[:1] == " " and FURTHER.compiled.match(text, end) is not None and not is_made(word):
            return False
        return (word.islower() and word.count("_") != 1) or is_made(word)
    return False
