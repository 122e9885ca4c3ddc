"""Names of people and firms in a text: by how they are written, by what stands before them, and by common names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from seasoned.lazy_regex import LazyRegex
from seasoned.template.anonymize.word_lists import (
    ANYONE,
    FAMILY,
    FAMILY_NAMES,
    FAMILY_ONLY,
    GIVEN,
    GIVEN_NAMES,
    KEPT,
    NOT_NAMES,
    PAIRED_GIVEN_NAMES,
)

_STAND_INS = frozenset((*GIVEN, *FAMILY))
_SURE = GIVEN_NAMES | FAMILY_ONLY
# A capital and small letters, with an optional second half: `Anna`, `Meyer-Lund`.
_NAME = r"[A-ZÀ-ÖØ-Þ][^\W\d_A-Z]+(?:[-'’][A-ZÀ-ÖØ-Þ][^\W\d_]+)?"
_PAIR = LazyRegex(rf"(?<![\w/.-])({_NAME})(?: [A-Z]\.)? ({_NAME})(?![\w/])")
_TITLED = LazyRegex(rf"\b(?:Mr|Mrs|Ms|Dr|Prof|Herr|Frau|Mme|Monsieur|Señora?)\.? ({_NAME})(?: ({_NAME}))?")
_FIRM = LazyRegex(
    rf"(?<![\w/.-])({_NAME})(?: ({_NAME}))?,? (?:Inc|GmbH|Ltd|LLC|Corp|Corporation|Limited|Pty|S\.A|B\.V|Oy|AB|AG|KG)\b"
    rf"|\b(?:[Cc]ustomer|[Cc]lient|[Cc]ompany|[Tt]enant|[Vv]endor|[Ss]upplier|[Ee]mployer)s? ({_NAME})\b"
)
_WHO = (
    r"(?:user(?:name|_name)?|login|author|committer|assignee|reviewer|owner|customer|client|company|tenant|vendor|supplier"
    r"|organi[sz]ation|contact|(?:first|last|full|given|family|customer|company|client|display)_?name|surname|name)"
)
# Up to three words, quoted or not; the closing quote must be the opening one.
_VALUE = r"(?P<quote>['\"]|\\\"|)(?P<who>[^\W\d_][\w.'’-]*(?: [^\W\d_][\w'’-]+){0,2})(?P=quote)"
_OPTION = LazyRegex(
    r"(?:(?<=\s)|\A)(?:--(?:user(?:name)?|author|committer|assignee|reviewer|owner|login|customer|client|tenant"
    rf"|add-assignee|add-reviewer|mention)[= ]|(?:[A-Z]+_?)?USER(?:NAME)?=|user\.name[= ])(?:{_VALUE})(?![\w(/:@.])"
)
_FLAG = LazyRegex(
    r"\b(?:(?:psql|pg_\w+|createdb|dropdb|sqlcmd)\b[^|;&\n]{0,200}?\s-U ?"
    r"|(?:mysql\w*|mariadb|sudo)\b[^|;&\n]{0,80}?\s-u ?"
    rf"|ssh\b[^|;&\n]{{0,80}}?\s-l ?|\b(?:su -|passwd|chown) ?){_VALUE}(?![\w(/.])"
)
_HELD = LazyRegex(
    rf"(?<![A-Za-z0-9-]){_WHO}\\?[\"']?\s*(?:=|:|==|<>|!=|\bi?like\b)\s*(?P<quote>['\"]|\\\")%?"
    r"(?P<who>[^\W\d_][\w.'’-]*(?: [^\W\d_][\w'’-]+){0,2})%?(?P=quote)",
    re.IGNORECASE,
)
# In SQL a quoted word is a value, so that even a single one may be a name.
_SQL = LazyRegex(
    r"\bselect\b.{1,400}\bfrom\b|\binsert\s+into\b|\bupdate\b.{1,80}\bset\b|\bdelete\s+from\b",
    re.IGNORECASE | re.DOTALL,
)
_LITERAL = LazyRegex(rf"(?<![\w'])'%?({_NAME}(?: {_NAME}){{0,2}})%?'(?!\w)")
_QUOTED = LazyRegex(rf"(?P<quote>['\"])({_NAME}(?: {_NAME}))(?P=quote)")
# A text without one of these words is not searched any further.
_TITLES = ("Mr", "Ms", "Dr", "Prof", "Herr", "Frau", "Mme", "Monsieur", "Señor")
_FORMS = (
    *("Inc", "GmbH", "Ltd", "LLC", "Corp", "Limited", "Pty", "S.A", "B.V", "Oy", "AB", "AG", "KG"),
    *("ustomer", "lient", "ompany", "enant", "endor", "upplier", "mployer"),
)
_ACCOUNTS = (
    *("user", "assignee", "reviewer", "--author", "--committer", "--owner", "--login", "--c", "--tenant", "--mention"),
)
_PROGRAMS = (
    *("psql", "pg_", "createdb", "dropdb", "sqlcmd", "mysql", "mariadb", "sudo", "ssh", "su -", "passwd", "chown"),
)
_HOLDERS = (
    *("name", "user", "login", "author", "committer", "assignee", "reviewer", "owner", "customer", "client", "company"),
    *("tenant", "vendor", "supplier", "organi", "contact"),
)
_LETTERS = LazyRegex(r"[^\W\d_]{2,}")


def is_name(low: str) -> bool:
    """Whether a word in lower case is a name of people and hardly ever anything else."""
    return low in _SURE


def pair_of_names(text: str) -> str | None:
    """A pair of names in a text that looks like a person and is not a placeholder."""
    for first, last in _pairs(text):
        if not {first.lower(), last.lower()} <= _STAND_INS:
            return f"{first} {last}"
    return None


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while (found := _PAIR.compiled.search(text, at)) is not None:
        first, last = found.groups()
        given, family = first.lower(), last.lower()
        is_given = given in PAIRED_GIVEN_NAMES or given in _STAND_INS
        if (is_given and _could_be(family)) or (family in FAMILY_NAMES and _could_be(given)):
            yield first, last
            at = found.end()
        else:
            # The second word may be the first one of the next pair.
            at = found.end(1)


def _could_be(low: str) -> bool:
    return low not in KEPT and low not in ANYONE and low not in NOT_NAMES


def people_in(text: str, *, is_code: bool = False, is_command: bool = False) -> Iterator[tuple[str, str]]:
    """Words of a text that name people or firms, each with the kind of placeholder that it needs."""
    for first, last in _pairs(text):
        yield first, "given"
        yield last, "family"
    for pattern, signs in ((_TITLED, _TITLES), (_FIRM, _FORMS)):
        if not any(sign in text for sign in signs):
            continue
        for found in pattern.compiled.finditer(text):
            for word in found.groups():
                if word and _could_be(word.lower()):
                    yield word, "family" if pattern is _TITLED else ""
    if is_code or is_command:
        yield from _held_in_code(text, is_command)


def _held_in_code(text: str, is_command: bool) -> Iterator[tuple[str, str]]:
    low = text.lower()
    if any(word in low for word in _ACCOUNTS):
        for found in _OPTION.compiled.finditer(text):
            yield from _words(found.group("who"), any_case=True)
    if any(word in low for word in _PROGRAMS):
        for found in _FLAG.compiled.finditer(text):
            yield from _words(found.group("who"), any_case=True)
    if "'" not in text and '"' not in text:
        return
    if any(word in low for word in _HOLDERS):
        for found in _HELD.compiled.finditer(text):
            yield from _words(found.group("who"), any_case=False)
    if ("select" in low or "insert" in low or "update" in low or "delete" in low) and _SQL.compiled.search(text):
        for found in _LITERAL.compiled.finditer(text):
            yield from _words(found.group(1), any_case=False)
    # In a command such a pair is a message or a title more often than a value.
    for found in () if is_command else _QUOTED.compiled.finditer(text):
        if all(_could_be(word.lower()) for word in found.group(2).split()):
            yield from _words(found.group(2), any_case=False)


def _words(value: str, *, any_case: bool) -> Iterator[tuple[str, str]]:
    found = [word for word in _LETTERS.compiled.findall(value) if word.istitle() or any_case or is_name(word.lower())]
    is_person = any_case or any(is_name(word.lower()) for word in found)
    for at, word in enumerate(found):
        if _could_be(word.lower()):
            yield word, ("family" if at else "given") if is_person else ""
