"""What a piece of code does: calls that delete, send, or reach a database, and the shell commands in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from seasoned.command import guard, sql
from seasoned.command.parse import is_python, names
from seasoned.command.path import WorkingFolder, written
from seasoned.command.rows import Finding, regex, table
from seasoned.lazy_regex import LazyRegex

_REQUEST = names("post put patch delete request urlopen Request")
_SQL_CALLS = names("execute executescript executemany exec_driver_sql text raw query run_sql sql read_sql")
_WRITING = names("write_text write_bytes")
_DELETING = names("rmtree removedirs remove unlink rmdir move rename truncate remove_tree")
_DELETING_TREES = names("rmtree removedirs rimraf")
_WIPING_CALLS = names(
    "drop_all drop_database flushall flushdb dropDatabase delete_db_instance delete_db_cluster drop_collection"
)
_CLOUD_CALLS = names("delete_bucket terminate_instances delete_objects delete_table delete_volume delete_stack")
# Words by which other languages than Python delete, and texts in them that are paths elsewhere.
_DELETES = LazyRegex(
    r"(?i)\b(?:rm(?:Sync|dirSync|dir|_rf?|_r|tree)?|unlink(?:Sync|_all)?|rimraf|erase|truncate(?:Sync)?"
    r"|remove(?:All|Item|Sync|Dir\w*|_dir\w*|_tree|_file|_entry\w*)?|delete(?:-directory|-file|Directory|Dir|File|Recursively|_dir\w*)?|emptyDir\w*)\b"
)
# A pattern between slashes is not a path: `print if /rm -rf/`.
_PATTERN = LazyRegex(
    r"(?:\A|\b(?:if|unless|and|or|not|grep|split|when)\b|[=!]~|&&|\|\||[({;,])\s*m?/(?:\\.|[^/\\\n'\"])+/"
)
_NOT_FILES = LazyRegex(
    r"\b(?:app|router|server|api|client|axios|fastify|map|set|cache|params|headers|searchParams)\.(?:delete|remove)\b"
)
# Libraries of clouds, and the names under which all of them delete.
_CLOUD_LIBRARY = LazyRegex(
    r"\b(?:boto3|botocore|aiobotocore|google\.cloud|googleapiclient|azure\.|kubernetes|@aws-sdk|aws-sdk|@google-cloud|@azure"
    r"|digitalocean|openstack|hcloud|pulumi|libcloud|Aws::)"
)
_CLOUD_DELETES = LazyRegex(
    r"\.(?:(?:delete|terminate|destroy|purge|deregister)(?:_\w+|[A-Z]\w*)?|begin_delete\w*|delete)\s*\("
    r"|\b(?:Delete|Terminate)[A-Z]\w*Command\b"
)
_ELSEWHERE = LazyRegex(r"""['"`{ ]((?:/|~/|\.\./)[\w.@*~/+-]+)(?=['"`}\s]|\Z)""")
_LOOKS_PYTHON = LazyRegex(r"(?m)^\s*(?:import|from|def|with|for|class|if|try|while)\b|\bprint\(|^\s*\w+ = ")
_EVALUATES = LazyRegex(r"\b(?:exec|eval|Function|instance_eval|loadstring|load|do)\b")
_FETCHES = LazyRegex(
    r"\b(?:urlopen|urlretrieve|fetch|requests\.get|httpx\.get|https?\.get|Net::HTTP|file_get_contents|LWP|open-uri)\b"
)
_REMOTE = LazyRegex(r"https?://(?!localhost|127\.|\[::1\])")
_DOWNLOADED = Finding("exec_remote", "runs what it downloads from another machine", "code from elsewhere")
_MOST_DEPTH = 3
_ON_THIS_MACHINE = LazyRegex(r"sandbox|//(?:localhost|127\.0\.0\.1|\[::1\])")
# What code deletes, sends, or hands to a shell, in any language: enough to keep it out of examples.
_CHANGES = LazyRegex(
    r"""rmtree|\bunlink\w*\(|\.rmdir\(|\bos\.(?:remove|rmdir|removedirs|system|popen|exec|spawn|kill|truncate|chmod|chown)
    |\bsubprocess\b|\bPopen\b|\bpty\.|child_process|\b(?:exec|spawn)(?:Sync|File)?\(|\beval\(|__import__|\bctypes\b
    |\bfs\.(?:rm|unlink|rmdir|truncate)|\b(?:rm|unlink|rmdir)Sync|rimraf|Deno\.(?:remove|run|Command)|FileUtils\.rm
    |File\.delete|\.(?:post|put|patch|delete|delete_many|deleteMany|drop|drop_all|drop_table|dropDatabase|truncate)\(
    |\bmethod\s*[=:]\s*['"](?:POST|PUT|PATCH|DELETE)|\.request\(\s*['"](?:POST|PUT|PATCH|DELETE)|\bdata=.{0,40}urlopen
    |urlopen\([^)]{0,200}\bdata=|\b(?:smtplib|paramiko|fabric|telnetlib|ftplib)\b|\bsocket\.""",
    re.VERBOSE,
)
_LITERAL = LazyRegex(r"""(['"`])((?:\\.|(?!\1)[^\\\n]){3,400})\1""")
_SHELL_LINE = LazyRegex(r"(?m)^\s*(?:(?:!|%sx |%system )(.+)|%%(?:bash|sh|script)\b[^\n]*\n((?s:.+)))")
_MOST_LITERALS = 100


def shell_lines(code: str) -> Iterator[str]:
    """Lines of a notebook that go to a shell: `!make`, `%%bash`."""
    yield from (found[1] or found[2] for found in _SHELL_LINE.compiled.finditer(code))


def held_texts(code: str) -> list[str]:
    """String literals of more than one word, which may be commands."""
    return [found[2] for found in _LITERAL.compiled.finditer(code) if " " in found[2]][:_MOST_LITERALS]


def findings(code: str, place: WorkingFolder, program: str = "", depth: int = 0) -> Iterator[Finding]:
    """What the calls in a piece of code do, as far as their arguments are written out; `program` is who reads it."""
    from seasoned.command.python_tree import calls, parse_code

    # Python's own parser is not deceived by spacing and line breaks, as an expression would be.
    tree = parse_code(code) if is_python(program) else None
    # Where no one says which language it is, what merely parses as Python may be another one.
    if tree is None or (not program and not depth and not _LOOKS_PYTHON.compiled.search(code)):
        yield from _of_text(code, place)
    if tree is not None:
        for name, texts in calls(tree):
            yield from _of_call(name, texts, place)
            if name in ("exec", "eval", "compile") and depth < _MOST_DEPTH:
                yield from (found for text in texts for found in findings(text, place, depth=depth + 1))
    yield from guard.in_code(code)
    if _CLOUD_LIBRARY.compiled.search(code) and _CLOUD_DELETES.compiled.search(code):
        yield Finding("delete_data", "deletes something in a cloud", "code: cloud")
    if _EVALUATES.compiled.search(code) and _FETCHES.compiled.search(code) and _REMOTE.compiled.search(code):
        yield _DOWNLOADED
    if _CHANGES.compiled.search(code) or sql.changes_data(code):
        yield Finding("", "runs code that deletes, sends or runs commands", "code that changes", asks_locally=False)


def _of_text(code: str, place: WorkingFolder) -> Iterator[Finding]:
    """Findings in code that is not Python, by patterns only."""
    plain = _PATTERN.compiled.sub(" ", code)
    # Neither a path that is called so (`/orders/delete`) nor a route or a map deletes files.
    if _DELETES.compiled.search(_NOT_FILES.compiled.sub(" ", _ELSEWHERE.compiled.sub(" ", plain))):
        for path in _ELSEWHERE.compiled.findall(plain):
            if not place.holds(path):
                yield _deletes(path, "delete")
    if re.search(r"\.(?:query|execute|exec|run)\s*\(", code):
        yield from sql.findings(code)


def _of_call(name: str, texts: list[str], place: WorkingFolder) -> Iterator[Finding]:
    if name in _DELETING_TREES:
        yield Finding("", "deletes folders and everything in them", f"code: {name}")
    if name in _WIPING_CALLS:
        yield Finding("wipe_database", "drops or empties a database", f"code: {name}")
    if name in _CLOUD_CALLS:
        yield Finding("delete_data", "deletes something in a cloud", f"code: {name}")
    for text in texts:
        if name in _DELETING and text.startswith(("/", "~", "..")) and not place.holds(text):
            yield _deletes(text, name)
        if name in _SQL_CALLS:
            yield from sql.findings(text)
        if name == "delete" and _REMOTE.compiled.match(text):
            yield Finding("delete_data", "makes a service on another machine delete something", "code: DELETE")
        if name in _REQUEST and _is_payment(text):
            yield Finding("transfer_funds", "moves money", f"code: {name}")
    if name in _WRITING or (name == "open" and len(texts) > 1 and set("wax+") & set(texts[1])):
        yield from (found for text in texts for found in written(text, place) if found.action)


def _deletes(path: str, name: str) -> Finding:
    return Finding("delete_data", f"deletes {path!r}, which is not inside the working folder", f"code: {name}")


def _is_payment(url: str) -> bool:
    paying = regex(table().patterns["paying_hosts"])
    return paying.search(url) is not None and not _ON_THIS_MACHINE.compiled.search(url)
