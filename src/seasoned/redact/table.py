"""Tables with a column of secrets: CSV exports of password managers, Markdown, what database clients print."""

from __future__ import annotations

from collections.abc import Iterator

from seasoned.lazy_regex import LazyRegex
from seasoned.redact.hit import Hit
from seasoned.redact.literal import is_secret, is_typed
from seasoned.redact.name import Promise, promise

# By their marks: the head of a column, between two delimiters or the ends of its line. One expression for each, since
# one that begins with a choice is slow.
_END = r"""["*]{0,3}[ ]{0,20}(?=[,;|\t\r\n]|\\[trn])"""
HEADS = {name: LazyRegex(name + _END) for name in ("password", "secret", "passwd", "passwort", "pwd")}
HEADS |= {
    name: LazyRegex(name + _END) for name in ("api_key", "api key", "access key", "access_key", "_token", "secret_key")
}
HEADS["token"] = LazyRegex(r"token[*]{0,2}[ ]{0,20}(?=[|\t\r\n]|\\t)")  # code writes `token,`
CELL = LazyRegex(r"[\w .\-*]{0,40}")
RULE = LazyRegex(r"[\-+|:= →\d]*")
QUOTE = LazyRegex(r'(?<!\\)"')  # the end of a string in JSON
WIDEST = 400
LONGEST_ROW = 4096
MOST_ROWS = 2000


def find_in_tables(text: str, low: str, marks: set[str]) -> Iterator[Hit]:
    """The cells below a head that names a secret."""
    for mark, pattern in HEADS.items():
        if mark in marks:
            yield from _below(pattern, text, low)


def _below(pattern: LazyRegex, text: str, low: str) -> Iterator[Hit]:
    # In a text inside JSON the lines end with an escape.
    end = "\n" if "\n" in text else "\\n"
    done = 0
    for head in pattern.compiled.finditer(low):
        if head.start() < done:
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
                if promised < Promise.TOKEN:
                    break
                hits, done = _column(text, last + len(end), (end, delimiter), (column, len(cells)), promised)
                yield from hits
                break


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
            row = row[: QUOTE.compiled.search(row + '"').start()]  # type: ignore[union-attr]
        if not RULE.compiled.fullmatch(row):
            cells = row.split(delimiter)
            if len(cells) != width:
                break
            word = cells[column].strip('" \r`\\*}')
            start = at + sum(len(cell) + len(delimiter) for cell in cells[:column]) + cells[column].find(word)
            if is_typed(word) and len(word.split()) == 1 and is_secret(word, promised, True, True):
                hits.append(Hit("password" if promised is Promise.PASSWORD else "secret", start, start + len(word)))
        if last < 0:
            break
        at = last + len(end)
    return hits, at
