"""Rules for SQL and for the shell of MongoDB."""

from __future__ import annotations

import re
from collections.abc import Iterator

from seasoned.command.rows import Finding
from seasoned.lazy_regex import LazyRegex

_COMMENT = LazyRegex(r"/\*.*?(?:\*/|\Z)|--[^\n]*(?=\n|\Z)|^\s*#[^\n]*", re.DOTALL)
# Text in quotes is data: `LIKE '%DROP TABLE%'` drops nothing.
_LITERAL = LazyRegex(r"'(?:[^']|'')*'")
_LEAD = LazyRegex(r"\A-{1,2}[A-Za-z][\w-]*=|\A-[A-Za-z](?=[A-Za-z]{4})")
# A cheap first look: most texts hold none of these words.
_HOLDS_SQL = LazyRegex(
    r"(?i)drop|truncate|delete|update|alter|grant|revoke|create|remove|terminate|shutdown|flush|rename"
)
_NAME = r"(?:only\s+)?[\w.\"`\[\]$-]+"
_WIPES = LazyRegex(
    r"(?i)\b(?:drop\s+(?:database|schema|table|keyspace|collection|tablespace|owned|materialized\s+view)\b"
    r"|truncate\s+(?:table\s+)?(?:only\s+)?[\w\"`\[]|detach\s+delete\b)|\bdropDatabase\b|\.drop\s*\("
    r"|\bdrop(?:All)?Collections?\s*\("
)
_DELETES = LazyRegex(rf"(?i)\bdelete\s+from\s+{_NAME}|\bupdate\s+{_NAME}(?:\s+(?:as\s+)?\w+)?\s+set\b")
# A condition that is always true is none.
_WHERE = LazyRegex(r"(?i)\bwhere\b(?!\s*\(?\s*(?:1\s*=\s*1|true|''\s*=\s*''|1)\s*\)?\s*(?:;|\Z))")
_MONGO_ALL = LazyRegex(r"\.(?:deleteMany|remove|delete_many|updateMany)\s*\(\s*(?:\{\s*\}\s*[,)]|\))")
_RIGHTS = LazyRegex(
    r"(?i)\b(?:grant\s+[\w, ()*]{1,200}?\s+(?:on|to)\b|revoke\s+[\w, ()*]{1,200}?\s+(?:on|from)\b|(?:create|alter"
    r"|drop)\s+(?:user|role|login)\b"
    r"|alter\s+default\s+privileges|set\s+password)|\b(?:createUser|grantRolesToUser|dropUser)\s*\("
)
_SHAPE = LazyRegex(
    r"(?i)\b(?:alter\s+(?:table|database|schema|type|column)|drop\s+(?:index|view|column|function|trigger|type"
    r"|sequence|extension|procedure)"
    r"|rename\s+table)\b|\.dropIndex(?:es)?\s*\("
)
_STOPS = LazyRegex(
    r"(?i)\bpg_terminate_backend\s*\(|\bdb\.shutdownServer\s*\(|\bkill\s+(?:query|connection)\s+\d|^\s*shutdown\b"
)


# Broader than what needs a person: no statement that changes data is an example.
_CHANGES = LazyRegex(
    r"(?i)\b(?:drop\s+(?:table|database|schema|index|view|user|role|column|owned|type|function|sequence)"
    r"|truncate\s+\w|delete\s+from\b|update\s+\S+\s+set\b|alter\s+(?:table|role|user|database|schema)\b"
    r"|(?:grant|revoke)\s+[\w, ]{1,60}\b(?:on|to|from)\b|dropDatabase|deleteMany|\.drop\(|\.remove\()"
)


def changes_data(text: str) -> bool:
    """Whether a text holds a statement that changes data, also for single rows."""
    return _CHANGES.compiled.search(text) is not None


def findings(text: str) -> Iterator[Finding]:
    """What a text would do to a database if it were run there."""
    if not _HOLDS_SQL.compiled.search(text):
        return
    plain = _COMMENT.compiled.sub(" ", _LEAD.compiled.sub("", text))
    if not re.search(r"(?i)\bexecute\b|\bprepare\b|\$\$", plain):
        plain = _LITERAL.compiled.sub("''", plain)
    if _WIPES.compiled.search(plain):
        yield Finding("wipe_database", "drops or empties tables or a whole database", "SQL: DROP, TRUNCATE")
    for statement in plain.split(";"):
        deletes = _DELETES.compiled.search(statement)
        if deletes is not None and not _WHERE.compiled.search(statement, deletes.end()):
            yield Finding("delete_data", "deletes or overwrites every row of a table", "SQL: no WHERE")
            break
    if _MONGO_ALL.compiled.search(plain):
        yield Finding("delete_data", "deletes or overwrites every document", "Mongo: all")
    if _RIGHTS.compiled.search(plain):
        yield Finding("modify_permissions", "changes who may use a database", "SQL: GRANT, REVOKE")
    if _SHAPE.compiled.search(plain):
        yield Finding("migrate_database", "changes the schema of a database", "SQL: ALTER, DROP")
    if _STOPS.compiled.search(plain):
        yield Finding("shutdown_service", "ends connections or the server of a database", "SQL: stop")
