"""Tables with a column of secrets: CSV exports of password managers, Markdown, what database clients print."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from seasoned.lazy_regex import LazyRegex
from seasoned.redact.hit import Hit, line_start
from seasoned.redact.literal import is_made, is_placeholder, is_plain_password, is_secret
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
