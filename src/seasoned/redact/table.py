"""Tables with a column of secrets: CSV exports of password managers, Markdown, what database clients print."""

from __future__ import annotations

from collections.abc import Iterator

from seasoned.lazy_regex import LazyRegex
from seasoned.redact.hit import Hit
from seasoned.redact.literal import is_secret, is_typed
from seasoned.redact.name import Promise

MARKS = ("pass", "cre", "ken", "key")
# The head of a column, between two delimiters or the ends of its line.
HEAD = LazyRegex(
    r"(?:pass(?:word|wd|wort)|pwd|login_password|secret|secret (?:access )?key|token|api[ _]?key)"
    r'["*]{0,3}[ ]{0,20}(?=[,;|\t\r\n]|\\[trn]|$)'
)
CELL = LazyRegex(r"[\w .\-*]{0,40}")
RULE = LazyRegex(r"[\-+|:= →\d]*")
STRING = LazyRegex(r'(?:[^"\\]|\\.?)*')  # up to the end of a string in JSON
WIDEST = 400
MOST_ROWS = 2000


def find_in_tables(text: str, low: str) -> Iterator[Hit]:
    """The cells below a head that names a secret."""
    done = 0
    for head in HEAD.compiled.finditer(low):
        if head.start() < done:
            continue
        # In a text inside JSON the lines end with an escape.
        end = "\\n" if "\n" not in text and "\\n" in text else "\n"
        first = max(low.rfind(end, max(0, head.start() - WIDEST), head.start()) + len(end), 0)
        if first == len(end) - 1:
            first = max(0, head.start() - WIDEST)
        last = low.find(end, head.end(), head.end() + WIDEST)
        if last < 0:
            continue
        for delimiter in ("|", ",", ";", "\t", "\\t"):
            columns = text[first:last].split(delimiter)
            cells = [c.strip('" \r\\') for c in columns]
            # What stands before the first column may be the number of the line or the name of the file.
            if sum(map(bool, cells)) > 1 and all(CELL.compiled.fullmatch(c) for c in cells[1:]):
                column = text.count(delimiter, first, head.start())
                done = yield from _column(text, last + len(end), end, delimiter, column, len(columns))
                break


def _column(text: str, at: int, end: str, delimiter: str, column: int, width: int) -> Iterator[Hit]:
    """The secrets in one column of the rows from here; returns where the table ends."""
    for _ in range(MOST_ROWS):
        last = text.find(end, at, at + 4096)
        row = text[at : last if last >= 0 else at + 4096]
        if end == "\\n":
            row = STRING.compiled.match(row)[0]  # type: ignore[index]
        cells = row.split(delimiter)
        if not RULE.compiled.fullmatch(row):
            if len(cells) != width:
                return at
            cell = cells[column]
            word = cell.strip('" \r`\\*}')
            start = at + sum(len(c) + len(delimiter) for c in cells[:column]) + cell.find(word)
            if is_typed(word) and len(word.split()) == 1 and is_secret(word, Promise.PASSWORD, True, True):
                yield Hit("password", start, start + len(word))
        if last < 0:
            return at
        at = last + len(end)
    return at
