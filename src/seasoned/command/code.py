"""What code and SQL do: calls that delete, send, or reach a database; shell commands in code; SQL statements."""

from __future__ import annotations

import re
from collections.abc import Iterator

from seasoned.command import guard
from seasoned.command.parse import is_python
from seasoned.command.path import WorkingFolder
from seasoned.command.rows import Finding, regex
from seasoned.lazy_regex import LazyRegex

# Words by which other languages than Python delete, and texts in them that are paths elsewhere.
_DELETES = LazyRegex(
    r"(?i)\b(?:rm(?:Sync|dirSync|dir|_rf?|_r|tree)?|unlink(?:Sync|_all)?|rimraf|erase|truncate(?:Sync)?"
    r"|remove(?:All|Item|Sync|Dir\w*|_dir\w*|_tree|_file|_entry\w*)?|delete(?:-directory|-file|Directory|Dir|File|Recursively|_dir\w*)?|emptyDir\w*)\b"
)
# Python deletes by calls alone; the words elsewhere in it say nothing.
_PYTHON_DELETES = LazyRegex(r"\b(?:rmtree|removedirs|remove|unlink|rmdir|move|rename|truncate|remove_tree)\b\s*[(,]")
_SENDS = LazyRegex(r"\b(?:post|put|patch|delete|request|urlopen|Request|fetch)\s*\(")
_LOCAL_DATABASE = LazyRegex(r"sqlite3?\b|localhost|127\.0\.0\.1|[_-](?:dev|test)\b")
_ON_THIS_MACHINE = LazyRegex(r"sandbox|//(?:localhost|127\.0\.0\.1|\[::1\])")
_ELSEWHERE = LazyRegex(r"""['"`{ ]((?:/|~/|\.\./)[\w.@*~/+-]+)(?=['"`}\s]|\Z)""")
_EVALUATES = LazyRegex(r"\b(?:exec|eval|Function|instance_eval|loadstring|load|do)\b")
_FETCHES = LazyRegex(
    r"\b(?:urlopen|urlretrieve|fetch|requests\.get|httpx\.get|https?\.get|Net::HTTP|file_get_contents|LWP|open-uri)\b"
)
_REMOTE = LazyRegex(r"https?://(?!localhost|127\.|\[::1\])")
_DOWNLOADED = Finding("exec_remote", "runs what it downloads from another machine", "code from elsewhere")
_SHELL_LINE = LazyRegex(r"(?m)^\s*(?:(?:!|%sx |%system )(.+)|%%(?:bash|sh|script)\b[^\n]*\n((?s:.+)))")


def shell_lines(code: str) -> Iterator[str]:
    """Lines of a notebook that go to a shell: `!make`, `%%bash`."""
    yield from (found[1] or found[2] for found in _SHELL_LINE.compiled.finditer(code))


def findings(code: str, place: WorkingFolder, program: str = "") -> Iterator[Finding]:
    """What a piece of code does, by its words and the literal paths in it; `program` is its interpreter."""
    yield from _text_findings(code, place, _PYTHON_DELETES if program and is_python(program) else _DELETES)
    if (
        _SENDS.compiled.search(code)
        and regex("{paying_hosts}").search(code)
        and not _ON_THIS_MACHINE.compiled.search(code)
    ):
        yield Finding("transfer_funds", "moves money", "code: payment")
    yield from guard.in_code(code)
    if _EVALUATES.compiled.search(code) and _FETCHES.compiled.search(code) and _REMOTE.compiled.search(code):
        yield _DOWNLOADED


def _text_findings(code: str, place: WorkingFolder, deletes: LazyRegex) -> Iterator[Finding]:
    # A path that is called so (`/orders/delete`) deletes nothing.
    if deletes.compiled.search(_ELSEWHERE.compiled.sub(" ", code)):
        for path in _ELSEWHERE.compiled.findall(code):
            if not place.contains(path):
                yield _deletes(path, "delete")
    if re.search(r"\.(?:query|execute|exec|run)\s*\(", code) and not _LOCAL_DATABASE.compiled.search(code):
        yield from sql_findings(code)


def _deletes(path: str, name: str) -> Finding:
    return Finding("delete_data", f"deletes {path!r}, which is not inside the working folder", f"code: {name}")


_SQL_COMMENT = LazyRegex(r"/\*.*?(?:\*/|\Z)|--[^\n]*(?=\n|\Z)|^\s*#[^\n]*", re.DOTALL)
# Text in quotes is data: `LIKE '%DROP TABLE%'` drops nothing.
_SQL_LITERAL = LazyRegex(r"'(?:[^']|'')*'")
# A cheap first look: most texts contain none of these words.
_HOLDS_SQL = LazyRegex(
    r"(?i)drop|truncate|delete|update|alter|grant|revoke|create|remove|terminate|shutdown|flush|rename"
)
_SQL_NAME = r"(?:only\s+)?[\w.\"`\[\]$-]+"
_SQL_WIPES = LazyRegex(
    r"(?i)\b(?:drop\s+(?:database|schema|table|keyspace|collection|tablespace|owned|materialized\s+view)\b"
    r"|truncate\s+(?:table\s+)?(?:only\s+)?[\w\"`\[]|detach\s+delete\b)|\bdropDatabase\b|\.drop\s*\("
    r"|\bdrop(?:All)?Collections?\s*\("
)
_SQL_DELETES = LazyRegex(rf"(?i)\bdelete\s+from\s+{_SQL_NAME}|\bupdate\s+{_SQL_NAME}(?:\s+(?:as\s+)?\w+)?\s+set\b")
# A condition that is always true is none.
_SQL_WHERE = LazyRegex(r"(?i)\bwhere\b(?!\s*\(?\s*(?:1\s*=\s*1|true|''\s*=\s*''|1)\s*\)?\s*(?:;|\Z))")
_MONGO_ALL = LazyRegex(r"\.(?:deleteMany|remove|delete_many|updateMany)\s*\(\s*(?:\{\s*\}\s*[,)]|\))")
_SQL_RIGHTS = LazyRegex(
    r"(?i)\b(?:grant\s+[\w, ()*]{1,200}?\s+(?:on|to)\b|revoke\s+[\w, ()*]{1,200}?\s+(?:on|from)\b|(?:create|alter"
    r"|drop)\s+(?:user|role|login)\b"
    r"|alter\s+default\s+privileges|set\s+password)|\b(?:createUser|grantRolesToUser|dropUser)\s*\("
)
_SQL_SHAPE = LazyRegex(
    r"(?i)\b(?:alter\s+(?:table|database|schema|type|column)|drop\s+(?:index|view|column|function|trigger|type"
    r"|sequence|extension|procedure)"
    r"|rename\s+table)\b|\.dropIndex(?:es)?\s*\("
)


def sql_findings(text: str) -> Iterator[Finding]:
    """What a text would do to a database if it were run there."""
    if not _HOLDS_SQL.compiled.search(text):
        return
    plain = _SQL_COMMENT.compiled.sub(" ", text)
    if not re.search(r"(?i)\bexecute\b|\bprepare\b|\$\$", plain):
        plain = _SQL_LITERAL.compiled.sub("''", plain)
    if _SQL_WIPES.compiled.search(plain):
        yield Finding("wipe_database", "drops or empties tables or a whole database", "SQL: DROP, TRUNCATE")
    for statement in plain.split(";"):
        deletes = _SQL_DELETES.compiled.search(statement)
        if deletes is not None and not _SQL_WHERE.compiled.search(statement, deletes.end()):
            yield Finding("delete_data", "deletes or overwrites every row of a table", "SQL: no WHERE")
            break
    if _MONGO_ALL.compiled.search(plain):
        yield Finding("delete_data", "deletes or overwrites every document", "Mongo: all")
    if _SQL_RIGHTS.compiled.search(plain):
        yield Finding("modify_permissions", "changes who may use a database", "SQL: GRANT, REVOKE")
    if _SQL_SHAPE.compiled.search(plain):
        yield Finding("migrate_database", "changes the schema of a database", "SQL: ALTER, DROP")
