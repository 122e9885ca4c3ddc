"""Named queries from the files in `query/`, each under a line `-- name: …`; the same for both databases."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "query"
_TABLES = Path(__file__).parent / "table"
_MARK = "-- name: "
_TOKEN = re.compile(
    r"""
    (?P<kept> '(?:[^']|'')*' | "(?:[^"]|"")*" | --[^\n]* | /\*.*?\*/ | :: )
    | (?<!\w) : (?P<name> [A-Za-z_]\w* )
    | (?P<percent> % )
    """,
    re.VERBOSE | re.DOTALL,
)
_PARAMETER = re.compile(r":(\w+)")


@cache
def queries(subject: str) -> dict[str, str]:
    """Every statement of one file, by name."""
    found: dict[str, str] = {}
    for part in (_FOLDER / f"{subject}.sql").read_text("utf-8").split(_MARK)[1:]:
        name, _, statement = part.partition("\n")
        found[name.strip()] = statement.strip().rstrip(";")
    return found


@cache
def query(name: str) -> str:
    """The statement called `subject.name`."""
    subject, _, statement = name.partition(".")
    return queries(subject)[statement]


@cache
def positional(name: str) -> tuple[tuple[str, ...], str]:
    """The statement with `?` for its parameters, and their names in order."""
    return tuple(_PARAMETER.findall(query(name))), _PARAMETER.sub("?", query(name))


@cache
def postgres_query(name: str) -> str:
    """The statement with the parameter style of psycopg."""
    return with_percent_names(query(name))


def with_percent_names(statement: str) -> str:
    """`:name` as `%(name)s`, outside of texts, quoted names and comments; every other `%` doubled."""
    return _TOKEN.sub(_translated, statement)


def _translated(match: re.Match[str]) -> str:
    if match["name"]:
        return f"%({match['name']})s"
    # psycopg also looks for % in texts and comments.
    return match[0].replace("%", "%%")


def table_script(name: str) -> str:
    """The statements in one file of `table/`."""
    return (_TABLES / f"{name}.sql").read_text("utf-8")
