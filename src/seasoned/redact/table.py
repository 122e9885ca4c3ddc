"""Tables with a column of secrets: CSV exports of password managers, Markdown, what database clients print.

Also places that leave no doubt: formats of files, calls and dialogs in which one part is a secret by definition. Each
has a mark, and an expression that is tried where the mark stands. Its group is the secret, however plain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from seasoned.lazy_regex import LazyRegex
from seasoned.redact.hit import Hit, line_start
from seasoned.redact.literal import SENTENCE, is_made, is_placeholder, is_plain_password, is_said_of, is_secret
from seasoned.redact.name import FOREIGN, Promise, promise

# By their marks: the head of a column, between two delimiters or the ends of its line. One expression for each, since
# one that begins with a choice is slow.
_END = r"""["*]{0,3}[ ]{0,20}(?=[,;|\t\r\n]|\\[trn])"""
HEADS = {name: LazyRegex(name + _END) for name in ("password", "secret", "passwd", "passwort", "pwd")}
HEADS |= {
    name: LazyRegex(name + _END) for name in ("api_key", "api key", "access key", "access_key", "_token", "secret_key")
}
SHORT_HEADS = ("pass", "pin", "clave", "mdp", "pw")
HEADS |= {name: LazyRegex(name + _END) for name in FOREIGN if name != "authtok"}
HEADS |= {name: LazyRegex(r"(?<![a-z])" + name + r"[\" *]{0,20}(?=[|\t\r\n]|\\[trn])") for name in SHORT_HEADS}
HEADS["psk"] = LazyRegex("psk" + _END)
ASKED = ("has_", "has ", "is_", "is ")  # whether there is one
HEADS["_pass"] = LazyRegex("_pass" + _END)
HEADS["token"] = LazyRegex(r"token[*]{0,2}[ ]{0,20}(?=[|\t\r\n]|\\t)")  # code writes `token,`
CELL = LazyRegex(r"[\w .\-*]{0,40}")
RULE = LazyRegex(r"[\-+|:= →\d]*")
QUOTE = LazyRegex(r'(?<!\\)"')  # the end of a string in JSON
INSERT = LazyRegex(r"insert\s+into\s+[\w.`\"\[\]]{1,80}\s*\(([^()]{1,800})\)\s*values\s*")
ROW = LazyRegex(r"\s*,?\s*\(((?:[^()'\"]|'[^'\n]{0,400}'|\"[^\"\n]{0,400}\"){1,2000})\)")
ROW_CELL = LazyRegex(r"\s*\\{0,4}[\"']?([^\"',\\]*)\\{0,4}[\"']?\s*(?:,|$)")
SPACED_HEADS = {
    name: LazyRegex(name + r"(?:[ ]{2,}|[ ]*(?=\n|\\n))")
    for name in ("password", "token", "secret", "api key", "passwd")
}
SPACED_MARKS = frozenset(SPACED_HEADS)
SPACED_CELL = LazyRegex(r"[^\s\"'\\]{6,512}")
HOLDER_MARKS = ("passwords", "tokens", "secrets", "keys", "credentials", "oauth", "passwd")
HELD = LazyRegex(r"\\{0,8}[\"']?[ ]?[:=]>?[ ]?(\[|\{|\(|\|?[ ]*(?:\r?\n|\\n)|(?<=s=)(?=[^\s,]{16,512},))")
CLOSED = {"[": "]", "{": "}", "(": ")"}
# The lines below that are further in, whatever numbers or signs stand before them.
INDENTED = LazyRegex(
    r"(?:(?:[\w./\-]{1,80}:\d{1,6}:|[ ]*\d{1,6}→|\+)?[ \t]+[^\n\\]{1,600}(?:\n|\\n|$|(?=\"))){1,40}|[^\s]{16,2000}"
)
ITEM = LazyRegex(r"""["']([^"'\s\\]{6,512})\\{0,4}["'](?!\s?:)|(?:-\s|:\s?|,|^)([^\s"',:{}\[\]]{6,512})""")
WIDEST = 400
LONGEST_ROW = 4096
MOST_ROWS = 2000


def find_in_tables(text: str, low: str, marks: Mapping[str, list[int]]) -> Iterator[Hit]:
    """The cells below a head that names a secret."""
    for mark in HEADS.keys() & marks.keys():
        yield from _below(HEADS[mark], text, low, marks[mark])
    if "insert into" in marks:
        yield from _inserted(text, low)
    for mark in SPACED_MARKS & marks.keys():
        for at in marks[mark]:
            head = SPACED_HEADS[mark].compiled.match(low, at) if not text[at].islower() else None
            if head is not None:
                yield from _spaced_column(text, low, at, head[0])
    for mark in HOLDER_MARKS:
        if mark in marks:
            yield from _held(text, low, mark, marks[mark])


def _inserted(text: str, low: str) -> Iterator[Hit]:
    """`INSERT INTO users (name, password) VALUES ('anna', 'X')`."""
    for match in INSERT.compiled.finditer(low):
        names = [name.strip(" `\"'[]") for name in match[1].split(",")]
        columns = [i for i, name in enumerate(names) if promise(name) >= Promise.TOKEN]
        row = ROW.compiled.match(low, match.end()) if columns else None
        while row is not None:
            cells = list(ROW_CELL.compiled.finditer(text, row.start(1), row.end(1)))
            for column in columns:
                start, end = cells[column].span(1) if column < len(cells) else (-1, -1)
                if start >= 0 and is_secret(text[start:end], promise(names[column]), True, True):
                    yield Hit("password", start, end)
            row = ROW.compiled.match(low, row.end())


def _spaced_column(text: str, low: str, at: int, head: str) -> Iterator[Hit]:
    """Columns that begin at the same place of each line, as programs print them; the head is in capitals or titled."""
    first = line_start(low, at, WIDEST)
    end = "\n" if low.find("\n", at, at + WIDEST) >= 0 else "\\n"
    last = low.find(end, at, at + WIDEST)
    if last < 0 or "  " not in low[first:last] or text[at].islower():
        return
    column, at = at - first, last + len(end)
    for _ in range(MOST_ROWS):
        last = low.find(end, at, at + LONGEST_ROW)
        row = text[at : last if last >= 0 else at + LONGEST_ROW]
        cell = SPACED_CELL.compiled.match(row, column)
        if cell is None or (column and not row[column - 1 : column].isspace()):
            break
        if is_cell(cell[0], promise(head.strip())) and is_secret(cell[0], promise(head.strip()), True, True):
            yield Hit("secret", at + column, at + cell.end())
        if last < 0:
            break
        at = last + len(end)


def _held(text: str, low: str, name: str, places: list[int]) -> Iterator[Hit]:
    """Secrets in a list or an object with a name: `tokens: [...]`, `passwords:` and the indented lines below."""
    for found in places:
        holder = HELD.compiled.match(low, found + len(name))
        if holder is None:
            continue
        at, opened = holder.end(), holder[1]
        if opened in CLOSED:
            last = low.find(CLOSED[opened], at, at + LONGEST_ROW)
            stretch = (at, last if last >= 0 else at + LONGEST_ROW)
        else:
            lines = INDENTED.compiled.match(low, at)
            stretch = lines.span() if lines is not None else (at, at)
        promised = promise(name)
        if "kty" in low[stretch[0] : stretch[0] + 80]:
            continue  # public keys
        for item in ITEM.compiled.finditer(text, *stretch):
            start, end = item.span(item.lastindex or 0)
            word = text[start:end]
            made = (
                is_cell(word, promised) if promised is Promise.PASSWORD else is_secret(word, Promise.FAINT, True, True)
            )
            if made and len(word) > 5 and not is_placeholder(word) and "/" not in word[:1]:
                yield Hit("secret", start, end)


def _below(pattern: LazyRegex, text: str, low: str, places: list[int]) -> Iterator[Hit]:
    # In a text inside JSON the lines end with an escape.
    end = "\n" if "\n" in text else "\\n"
    done = 0
    for at in places:
        head = pattern.compiled.match(low, at) if at >= done else None
        if head is None:
            continue
        before = low.rfind(end, max(0, head.start() - WIDEST), head.start())
        first = before + len(end) if before >= 0 else max(0, head.start() - WIDEST)
        last = low.find(end, head.end(), head.end() + WIDEST)
        if last < 0:
            continue
        for delimiter in ("|", ",", ";", "\t", "\\t"):
            cells = [cell.strip('" \r\\') for cell in text[first:last].split(delimiter)]
            # What stands before the first column may be the number of the line or the name of the file.
            if sum(map(bool, cells)) > 1 and all(CELL.compiled.fullmatch(cell) for cell in cells[1:]):
                column = text.count(delimiter, first, head.start())
                promised = promise(cells[column])
                if cells[column].lower() in SHORT_HEADS:
                    promised = Promise.PASSWORD
                if promised < Promise.TOKEN or cells[column].lower().startswith(ASKED):
                    break
                hits, done = _column(text, last + len(end), (end, delimiter), (column, len(cells)), promised)
                yield from hits
                break


def is_cell(word: str, promised: Promise) -> bool:
    """Whether a cell below a head that names a secret looks like one, rather than like a word about it."""
    if len(word.split()) != 1:
        return False
    # Passwords stand beside users and hosts; a word about passwords does not.
    return is_made(word) or (promised >= Promise.SECRET and (is_plain_password(word) or word.isdigit()))


def _column(
    text: str, at: int, ends: tuple[str, str], place: tuple[int, int], promised: Promise
) -> tuple[list[Hit], int]:
    """The secrets in one column of the rows from here, and where the table ends."""
    (end, delimiter), (column, width) = ends, place
    hits: list[Hit] = []
    for _ in range(MOST_ROWS):
        last = text.find(end, at, at + LONGEST_ROW)
        row = text[at : last if last >= 0 else at + LONGEST_ROW]
        if end == "\\n":
            row = row[: QUOTE.compiled.search(row + ' "').start()]  # type: ignore[union-attr]
        if not RULE.compiled.fullmatch(row):
            cells = row.split(delimiter)
            if len(cells) != width:
                break
            word = cells[column].strip('" \r`\\*}')
            start = at + sum(len(cell) + len(delimiter) for cell in cells[:column]) + cells[column].find(word)
            if is_cell(word, promised) and is_secret(word, promised, True, True):
                hits.append(Hit("password" if promised is Promise.PASSWORD else "secret", start, start + len(word)))
        if last < 0:
            break
        at = last + len(end)
    return hits, at


_Q = r"""\\{0,4}["']"""
_TEXT = r"""([^"'\n\\]{4,80})"""
_EOL = r"(?:\r?\n|\\r\\n|\\n)"
_SECRET_NAME = r"[\w\-]{0,30}(?:password|passwd|pwd|passphrase)[\w\-]{0,10}"
_ASKED_FOR = r"[^\"'\n]{0,40}(?:kennwort|passwor[dt]|passcode|pin|code|mot de passe|contrase)[^\"'\n]{0,20}"
REACH = 800
MOST = 40


def is_any(word: str) -> bool:
    """Whatever stands there, but a placeholder."""
    return not is_placeholder(word) and not any(c in word for c in "{}<>$")


def is_word(word: str) -> bool:
    """One word that a person made up or took."""
    return is_any(word) and (is_made(word) or is_plain_password(word))


def is_words(word: str) -> bool:
    """One word or several; what is said of passwords is none."""
    if " " not in word:
        return is_word(word)
    return is_any(word) and not SENTENCE.compiled.search(word) and not any(map(is_said_of, word.split()))


def is_answer(word: str) -> bool:
    """What was typed at a prompt: a message of the program has capitals, figures or signs."""
    return word.replace(" ", "").isalpha() and word.islower() and is_words(word)


class Certain(NamedTuple):
    """One kind of place. `back`: how far before its mark the expression begins; `many`: rows that follow the mark."""

    kind: str
    pattern: LazyRegex
    fits: Callable[[str], bool] = is_any
    back: int = 0
    many: bool = False


PROMPTS = ("enter passphrase", "verify passphrase", "enter new password")
CRACKED = LazyRegex(r"(?:\n|\\n)([0-9a-f]{32,128}:[^\n\\]{3,80})(?=\n|\\n|$)")
SHOWN = LazyRegex(r"(?:\n|\\n)[\w.\-]{1,40}:([^:\n\\]{3,60}):\d{1,6}:\d{1,6}:")
# By the mark.
PLACES: dict[str, Certain] = {
    # Settings and key files.
    "securestring": Certain("secret", LazyRegex(
        r"""securestring\\{0,4}",\s{0,20}\\{0,4}"value\\{0,4}":\s?\\{0,4}"([^"\\\n]{4,4096})""")),
    ": psk ": Certain("password", LazyRegex(rf""": psk {_Q}([^"\n\\]{{6,128}}){_Q}""")),
    ": rsa ": Certain("password", LazyRegex(rf""": rsa [\w./\-]{{1,80}} {_Q}{_TEXT}{_Q}""")),
    "psk=": Certain("password", LazyRegex(rf"""psk={_Q}([^"\n\\]{{8,63}}){_Q}""")),
    "<auth-user-pass>": Certain("password", LazyRegex(rf"<auth-user-pass>{_EOL}\S{{1,80}}{_EOL}([^\s<\\]{{3,80}})")),
    "loginmodule required": Certain(
        "password", LazyRegex(rf"""\buser_\w{{1,40}}\s?=\s?{_Q}{_TEXT}{_Q}"""), many=True),
    "ap-secrets": Certain("password", LazyRegex(
        r"""(?:^|\n|\\n|:\d{1,4}:)[+\- ]?\\{0,4}"?[\w.@/\-]{2,60}\\{0,4}"?[ \t]{1,20}(?:\*|l2tpd|pptpd)[ \t]{1,20}"""
        r"""\\{0,4}"?([^\s"#\\]{4,80})\\{0,4}"?(?=[ \t]{0,20}(?:[*\d\-]|$|\n|\\n))"""), many=True),
    "user=": Certain("password", LazyRegex(r"(?:^|\n|\\n)user=(?!\w+:\d)[\w.\-]{1,40}:([^\s:\\\"']{4,80})(?=\s|\\n|$)"),
                     is_word, back=2),
    "login=": Certain("password", LazyRegex(r"login=[\w.\-@]{1,60}:([^\s:\"'&\\]{4,80})(?=\s|\\n|$)"), is_word),
    "basic_auth=": Certain("password", LazyRegex(r"basic_auth=[\"']?[\w.\-]{1,40}:([^\s\"'\\]{4,80})"), is_word),
    "set :": Certain("password", LazyRegex(rf"""set :{_SECRET_NAME}, {_Q}{_TEXT}{_Q}""")),
    # Code.
    "tochararray()": Certain("password", LazyRegex(
        r"""(?:load|keystore|pass|\.p12|\.jks|\.pfx|pbe)[^\n]{0,60}["']([^"'\s]{4,60})["']\.tochararray"""),
        is_word, back=140),
    "open(": Certain("password", LazyRegex(rf"""open\((?:{_Q}[^"'\n]{{1,80}}{_Q},\s?){{2}}{_Q}{_TEXT}{_Q},\s?{_Q}"""),
                     is_word),
    "credentials(": Certain("password", LazyRegex(
        rf"""credentials\((?:{_Q}[^"'\n]{{1,80}}{_Q},\s?){{3}}{_Q}{_TEXT}{_Q}\)"""), is_word),
    "mqtt.client(": Certain("password", LazyRegex(
        rf"""mqtt\.client\({_Q}[^"'\n]{{1,80}}{_Q},\s?\d{{1,5}},\s?{_Q}[^"'\n]{{1,80}}{_Q},\s?{_Q}{_TEXT}{_Q}"""),
        is_word),
    "mapnetworkdrive": Certain("password", LazyRegex(
        rf"""mapnetworkdrive[ (](?:[^,\n]{{1,120}},\s?){{4}}{_Q}{_TEXT}{_Q}"""), is_word),
    "derivebytes(": Certain("password", LazyRegex(rf"""derivebytes\({_Q}{_TEXT}{_Q}""")),
    "scryptsync(": Certain("password", LazyRegex(rf"""scryptsync\({_Q}{_TEXT}{_Q}""")),
    "pgp_sym_": Certain("password", LazyRegex(rf"""pgp_sym_(?:de|en)crypt\([^,\n]{{1,120}},\s?{_Q}{_TEXT}{_Q}""")),
    "pragma key": Certain("password", LazyRegex(rf"""pragma key\s?=\s?{_Q}{_TEXT}{_Q}""")),
    "sessid": Certain("cookie", LazyRegex(rf"""sessid{_Q},\s?{_Q}([\w%.\-]{{16,200}}){_Q}""")),
    "set_cookie(node()": Certain("cookie", LazyRegex(r"""set_cookie\(node\(\),\s?["']?(\w{8,80})"""), is_made),
    "inputbox(": Certain("password", LazyRegex(
        rf"""inputbox\(\s?{_Q}{_ASKED_FOR}{_Q}[^)\n]{{0,40}}\)\s?(?:<>|!=|={{1,3}})\s?{_Q}{_TEXT}{_Q}""")),
    "prompt(": Certain("password", LazyRegex(
        rf"""prompt\(\s?{_Q}{_ASKED_FOR}{_Q}\)\s?(?:!=|=){{1,2}}=?\s?{_Q}{_TEXT}{_Q}""")),
    'protect "': Certain("password", LazyRegex(r"""protect "([^"\n\\]{4,60})"(?=\s|,|$|\\)"""), is_word),
    " pic x(": Certain("password", LazyRegex(
        rf"""{_SECRET_NAME}\s{{1,20}}pic x\(\d{{1,3}}\)\s{{1,8}}value\s{{1,8}}{_Q}{_TEXT}{_Q}"""), back=50),
    "move '": Certain("password", LazyRegex(rf"""move '([^'\n]{{4,40}})'\s{{1,8}}to\s{{1,8}}{_SECRET_NAME}""")),
    "{tab}": Certain("password", LazyRegex(r"\{tab\}([^{}\s]{4,60})\{enter\}")),
    # Requests.
    "form-data; name=": Certain("password", LazyRegex(
        rf"""form-data; name=\\{{0,4}}"(?:pass\w{{0,12}}|pwd|pw|secret|token)\\{{0,4}}"{_EOL}{{2}}"""
        r"""([^\r\n\\]{4,200})""")),
    # Commands and dialogs.
    "impacket-": Certain("password", LazyRegex(
        r"""impacket-\w{2,30} (?:-\S{1,40} ){0,4}["']?[\w.\-]{1,40}/[\w.\-$]{1,40}:([^\s"']{4,80})@""")),
    " smb://": Certain("password", LazyRegex(r""" smb://[\w.\-]{1,40}/[\w.\-]{1,40}:([^\s/"'@]{3,80})@\w""")),
    "-pin ": Certain("code", LazyRegex(r"""-pin ["']?(\d{4,16}|[a-z][\w\-]{4,40}(?=[^\n]{0,80}-pin ))""")),
    "at+cpin=": Certain("code", LazyRegex(r"""at\+cpin=\\{0,4}"?(\d{4,8})""")),
    "[sudo] password for ": Certain("password", LazyRegex(
        r"\[sudo\] password for [\w.\-]{1,40}: ([a-z ]{6,60})(?=[\r\n\\]|$)"), is_answer),
    **dict.fromkeys(PROMPTS, Certain("password", LazyRegex(
        r"(?:enter|verify) (?:new )?pass(?:phrase|word)(?: for [^\n:]{1,60})?: "
        r"([a-z ]{6,60})(?=[\r\n\\]|$)"), is_answer)),
    # What was dumped or cracked.
    **dict.fromkeys(("* ntlm", "* sha1"), Certain("password-hash", LazyRegex(
        r"\* (?:ntlm|sha1)\s{0,8}:\s([0-9a-f]{32,40})(?![0-9a-f])"))),
    ":[u ": Certain("password-hash", LazyRegex(r":([0-9a-f]{32}):\[u "), back=34),
    "ntlmv2-ssp hash": Certain("password-hash", LazyRegex(r"ntlmv2-ssp hash\s{0,8}:\s(\S{60,2000})")),
    "hashcat ": Certain("password-hash", CRACKED, many=True),
    "john --show": Certain("password", SHOWN, many=True),
}  # fmt: skip
CERTAIN_MARKS = tuple(PLACES)
# `CREATE USER scott IDENTIFIED BY word`, not a sentence.
IDENTIFIED = LazyRegex(r"identified (?:with \w{1,40} )?by ([a-z][\w#$!\-]{3,60})(?=[;\s]|\\n|$)")
STATEMENT = LazyRegex(r"\b(?:create|alter)\s{1,4}(?:user|role)\b|\bgrant\b")


def find_certain(text: str, low: str, marks: Mapping[str, list[int]]) -> Iterator[Hit]:
    """Secrets in places that hold nothing else."""
    for mark in marks.keys() & PLACES.keys():
        place = PLACES[mark]
        done = 0
        for at in marks[mark]:
            if at < done:
                continue  # an earlier look went over it
            for start, end in _spans(place, low, at):
                done = end if place.many else done
                if place.fits(text[start:end]) and not text.startswith("[redacted:", start):
                    yield Hit(place.kind, start, end)
            if place.many:
                done = max(done, at + REACH)
    for at in marks.get("identified ", ()):
        match = IDENTIFIED.compiled.match(low, at)
        if match is not None and STATEMENT.compiled.search(low, line_start(low, at, 200), at):
            word = text[match.start(1) : match.end(1)]
            if is_any(word):
                yield Hit("password", match.start(1), match.end(1))


def _spans(place: Certain, low: str, at: int) -> Iterator[tuple[int, int]]:
    if place.many:
        for number, match in enumerate(place.pattern.compiled.finditer(low, at, at + REACH)):
            if number < MOST:
                yield match.span(1)
    elif place.back:
        found = place.pattern.compiled.search(low, max(0, at - place.back), at + 200)
        if found is not None and found.end() > at:
            yield found.span(1)
    elif (here := place.pattern.compiled.match(low, at)) is not None:
        yield here.span(1)
