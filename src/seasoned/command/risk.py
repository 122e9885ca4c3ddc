"""Which of the ten actions that need a person a command or tool call is (`need_of_command`, `need_of_call`).

It only reads text and is not a sandbox: a command can hide what it does in a script, a variable or another program.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import msgspec

from seasoned.command import call, path
from seasoned.command.action import GRAVITY
from seasoned.command.danger_table import rows_by_program
from seasoned.command.layers import (
    MOST_CHARACTERS,
    MOST_SUM,
    Layer,
    code_in,
    commands_in_code,
    is_script,
    layers,
    on_host,
    piped_into,
    reads_program,
    texts_given,
)
from seasoned.command.parse import HEREDOC, Step, is_python, names, parse, without_bodies
from seasoned.command.path import (
    Target,
    WorkingFolder,
    assignments,
    guarded_in_code,
    in_production,
    target_of,
    working_folder,
)
from seasoned.command.rows import CommandRow, Finding, group, regex
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
_CODE_EVALUATES = LazyRegex(r"\b(?:exec|eval|Function|instance_eval|loadstring|load|do)\b")
_FETCHES = LazyRegex(
    r"\b(?:urlopen|urlretrieve|fetch|requests\.get|httpx\.get|https?\.get|Net::HTTP|file_get_contents|LWP|open-uri)\b"
)
_REMOTE_URL = LazyRegex(r"https?://(?!localhost|127\.|\[::1\])")
# Lines of a notebook that go to a shell.
_SHELL_LINE = LazyRegex(r"(?m)^\s*(?:(?:!|%sx |%system )(.+)|%%(?:bash|sh|script)\b[^\n]*\n((?s:.+)))")


def code_findings(code: str, place: WorkingFolder, program: str = "") -> Iterator[Finding]:
    """What a piece of code does, by its words and the literal paths in it; `program` is its interpreter."""
    deletes = _PYTHON_DELETES if program and is_python(program) else _DELETES
    # A path that is called so (`/orders/delete`) deletes nothing.
    if deletes.compiled.search(_ELSEWHERE.compiled.sub(" ", code)):
        for each in (each for each in _ELSEWHERE.compiled.findall(code) if not place.contains(each)):
            yield Finding("delete_data", f"deletes {each!r}, which is not inside the working folder", "code: delete")
    if re.search(r"\.(?:query|execute|exec|run)\s*\(", code) and not _LOCAL_DATABASE.compiled.search(code):
        yield from sql_findings(code)
    pays = _SENDS.compiled.search(code) and regex("{paying_hosts}").search(code)
    if pays and not _ON_THIS_MACHINE.compiled.search(code):
        yield Finding("transfer_funds", "moves money", "code: payment")
    yield from guarded_in_code(code)
    if _CODE_EVALUATES.compiled.search(code) and _FETCHES.compiled.search(code) and _REMOTE_URL.compiled.search(code):
        yield _DOWNLOADED


_SQL_COMMENT = LazyRegex(r"/\*.*?(?:\*/|\Z)|--[^\n]*(?=\n|\Z)|^\s*#[^\n]*", re.DOTALL)
# Text in quotes is data: `LIKE '%DROP TABLE%'` drops nothing.
_SQL_LITERAL = LazyRegex(r"'(?:[^']|'')*'")
# A cheap first look: most texts contain none of these words.
_HOLDS_SQL = LazyRegex(
    r"(?i)drop|truncate|delete|update|alter|grant|revoke|create|remove|terminate|shutdown|flush|rename"
)
_SQL_NAME = r"(?:only\s+)?[\w.\"`\[\]$-]+"
_SQL_DELETES = LazyRegex(rf"(?i)\bdelete\s+from\s+{_SQL_NAME}|\bupdate\s+{_SQL_NAME}(?:\s+(?:as\s+)?\w+)?\s+set\b")
# A condition that is always true is none.
_SQL_WHERE = LazyRegex(r"(?i)\bwhere\b(?!\s*\(?\s*(?:1\s*=\s*1|true|''\s*=\s*''|1)\s*\)?\s*(?:;|\Z))")
_SQL_RULES = (
    (
        Finding("wipe_database", "drops or empties tables or a whole database", "SQL: DROP, TRUNCATE"),
        LazyRegex(
            r"(?i)\b(?:drop\s+(?:database|schema|table|keyspace|collection|tablespace|owned|materialized\s+view)\b"
            r"|truncate\s+(?:table\s+)?(?:only\s+)?[\w\"`\[]|detach\s+delete\b)|\bdropDatabase\b|\.drop\s*\("
            r"|\bdrop(?:All)?Collections?\s*\("
        ),
    ),
    (
        Finding("delete_data", "deletes or overwrites every document", "Mongo: all"),
        LazyRegex(r"\.(?:deleteMany|remove|delete_many|updateMany)\s*\(\s*(?:\{\s*\}\s*[,)]|\))"),
    ),
    (
        Finding("modify_permissions", "changes who may use a database", "SQL: GRANT, REVOKE"),
        LazyRegex(
            r"(?i)\b(?:(?:grant|revoke)\s+[\w, ()*]{1,200}?\s+(?:on|to|from)\b|(?:create|alter|drop)\s+(?:user|role"
            r"|login)\b|alter\s+default\s+privileges|set\s+password)|\b(?:createUser|grantRolesToUser|dropUser)\s*\("
        ),
    ),
    (
        Finding("migrate_database", "changes the schema of a database", "SQL: ALTER, DROP"),
        LazyRegex(
            r"(?i)\b(?:alter\s+(?:table|database|schema|type|column)|drop\s+(?:index|view|column|function|trigger|type"
            r"|sequence|extension|procedure)|rename\s+table)\b|\.dropIndex(?:es)?\s*\("
        ),
    ),
)


def sql_findings(text: str) -> Iterator[Finding]:
    """What a text would do to a database if it were run there."""
    if not _HOLDS_SQL.compiled.search(text):
        return
    plain = _SQL_COMMENT.compiled.sub(" ", text)
    if not re.search(r"(?i)\bexecute\b|\bprepare\b|\$\$", plain):
        plain = _SQL_LITERAL.compiled.sub("''", plain)
    yield from (found for found, rule in _SQL_RULES if rule.compiled.search(plain))
    for statement in plain.split(";"):
        deletes = _SQL_DELETES.compiled.search(statement)
        if deletes is not None and not _SQL_WHERE.compiled.search(statement, deletes.end()):
            yield Finding("delete_data", "deletes or overwrites every row of a table", "SQL: no WHERE")
            return


# Unread text is treated like the common command that is hardest to undo.
_TOO_LONG = Finding("delete_data", "is too long to be read, so it may do anything", "length")
_TOO_MANY = Finding("delete_data", "contains more commands than can be read", "length")
_DOWNLOADED = Finding("exec_remote", "runs what it downloads from another machine", "curl | sh")
_DECODED = Finding("delete_data", "runs what it decodes, which cannot be read here", "decoded")
_UNSEEN = Finding("delete_data", "runs commands that cannot be seen here", "| sh")
_UNSEEN_THERE = Finding("exec_remote", "runs something on another machine that cannot be seen here", "ssh")
_UNSEEN_SQL = Finding("migrate_database", "runs SQL that was not read", "unseen SQL")
# Longer arguments are matched by their beginning and end.
_MOST_ARGUMENTS = 2000
_REDIRECT = LazyRegex(r"(?<![<>&=\-])(?:\d|&)?>{1,2}[|&]?[ \t]*['\"]?(?P<target>[^\s'\"<>|&;()]+)")
_AS_SERVICE = LazyRegex(
    r"\b(?:su\s+(?:-l?\s+)?|(?:sudo|doas|runuser|setpriv)\b[^;&|\n]{0,80}(?:\s-\w*u|--user|--reuid)[ =]?\s*)"
    r"_?seasoned(?=\s|\Z)"
)
_SERVICE = Finding("modify_permissions", "acts as the user who keeps what people decided", "as the service")
_FROM_FILE = LazyRegex(r"(?<![<\d])<(?![<(&])[ \t]*(?!/dev/null)[^\s<>|&;]+")
# Databases that others share: SQL from a file or a pipe that was not read may change their schema.
_SQL_SERVERS = names("psql mysql mariadb sqlcmd cockroach")
_VERSION = LazyRegex(r"(?<=.)@.*|(?<=\D)\d(?:\.\d+)?\Z|(?<=python3)\.\d+\Z|\.(?:exe|cmd)\Z")
# `yarn prisma migrate` runs prisma.
_MODULE_RUNNERS = names("npm pnpm yarn bun corepack")
_RUN_WORDS = names("exec dlx x")
_SPEAKING = names("echo printf tee")
_DELETERS = names("rm unlink shred rmdir")
_EVALUATES = names("eval source .")
_SENDERS = names("curl wget nc ncat netcat socat ssh http")
_PRIVATE = LazyRegex(r"/\.(?:ssh|aws|gnupg|kube|docker|netrc|config/gcloud)(?=/|\Z)|id_(?:rsa|ed25519)|(?:\A|/)\.env\Z")
_SENT = Finding("exec_remote", "sends private files to another machine", "private file sent")
_DECODERS = names("base64 base32 xxd uudecode openssl rev tr")
# How a substitution begins in a word: as the parser leaves it, and within double quotes.
_SUBSTITUTED = ("$()", "$(", "`", "<(")
_QUOTED = LazyRegex(r"'[^']*'|\"(?:\\.|[^\"\\])*\"")


def assess_command(command: str, place: WorkingFolder) -> list[Finding]:
    """Everything found in a shell command, in the order of the text."""
    if len(command) > MOST_CHARACTERS:
        return [_TOO_LONG]
    return [found for layer in layers(command) for found in _layer_findings(layer, place)]


def assess_call(tool: str, arguments: Mapping[str, Any], place: WorkingFolder) -> list[Finding]:
    """Everything found in a tool call: what its name says, and the commands, code and SQL in it."""
    inside, complete = call.packed(tool, arguments)
    found: list[Finding] = [*call.findings(tool, inside, place)]
    if not complete:
        found.append(_TOO_MANY)
    left = MOST_SUM
    for kind, text in (each for one in inside for each in call.texts(tool, one)):
        left -= len(text)
        if kind != "command" and len(text) > MOST_CHARACTERS:
            found.append(_TOO_LONG)
            continue
        if left < 0:
            return [*found, _TOO_MANY]
        if kind in ("command", "typed"):
            found += assess_command(text, place)
        if kind in ("sql", "typed"):
            found += sql_findings(text)
        if kind == "code":
            lines = (line[1] or line[2] for line in _SHELL_LINE.compiled.finditer(text))
            found += [each for line in (*commands_in_code(text), *lines) for each in assess_command(line, place)]
            found += code_findings(text, place)
    return found


def _layer_findings(layer: Layer, place: WorkingFolder) -> Iterator[Finding]:
    if layer.unread:
        yield _TOO_MANY
    if layer.host:
        place = WorkingFolder(host=layer.host)
    assigned = assignments(layer.text)
    is_here = any(_ON_THIS_MACHINE.compiled.search(value) for value in assigned.values())
    for at, step in enumerate(layer.steps):
        before = piped_into(layer.steps, at)
        found: list[Finding] = []
        for each in _readings(step):
            target = target_of(each, place, assigned)
            if not is_here:
                found += _row_findings(each, target)
            found += path.path_findings(each, before, place)
            found += path.guard_findings(each, place)
            if each.program in group("clouds") or (each.program in group("databases") and target != "here"):
                found += _database_findings(each, before, texts_given(layer, before), layer.text)
        # The last reading names what runs: `python manage.py …` is `manage.py …`.
        yield from found or in_production(each, target)
        if step.program == "kill":
            # `kill $(pgrep nginx)`, `kill $(cat /run/nginx.pid)`, `pgrep nginx | xargs kill`
            inner = (*before, *(each for text in layer.substitutions for each in parse(text)))
            named = tuple(part for each in inner for word in each.words for part in re.split(r"[/.\s]", word))
            yield from _row_findings(Step("", "pkill", named), "here")
        yield from _input_findings(step, before, layer, place)
        # A `cd` changes where the paths of the following steps lie.
        place = place.after(step)
    if "seasoned" in layer.text and _AS_SERVICE.compiled.search(without_bodies(layer.text)):
        yield _SERVICE
    if ">" in layer.text:
        for redirected in _REDIRECT.compiled.finditer(_without_quotes(HEREDOC.compiled.sub("\n", layer.text))):
            yield from path.write_findings(redirected["target"], place)
            yield from path.guarded_write(redirected["target"], place)


def _input_findings(step: Step, before: tuple[Step, ...], layer: Layer, place: WorkingFolder) -> Iterator[Finding]:
    """What a shell, another interpreter or another machine is given to read."""
    if step.program in group("interpreters") or step.program in group("code_programs"):
        inline = code_in(step)
        run = _output_run(step, inline, before, layer)
        if any(each.program in group("downloads") for each in run):
            yield _DOWNLOADED
        if any(each.program in _DECODERS for each in run):
            yield _DECODED
        for text in [inline] if inline is not None else texts_given(layer, before):
            yield from code_findings(text, place, step.program)
    reached = on_host(step) if step.program == "ssh" else None
    inner = parse(reached[1]) if reached else ()
    reads = not inner or inner[0].program in group("shells")
    if reached and reads and _FROM_FILE.compiled.search(layer.text):
        yield _UNSEEN_THERE
    if step.program in _SENDERS and any(_PRIVATE.compiled.search(word) for each in before for word in each.words):
        yield _SENT
    if step.program in ("powershell", "pwsh") and any(re.match(r"-e(?:nc|c\Z)", word.lower()) for word in step.words):
        yield _DECODED
    # `cat setup.sh | sh` runs a file, as `sh setup.sh` does, and a download has its own rule.
    seen = (*_SPEAKING, "cat", *group("downloads"))
    is_fed = any(each.program not in seen for each in before)
    if step.program in group("shells") and not is_script(step) and is_fed:
        yield _UNSEEN
    # `cat list | xargs rm`: the list was not seen.
    is_listed = _FROM_FILE.compiled.search(layer.text) or (before and before[0].program == "cat")
    if "xargs" in step.behind and step.program in _DELETERS and is_listed:
        yield _UNSEEN


def _output_run(step: Step, inline: str | None, before: tuple[Step, ...], layer: Layer) -> list[Step]:
    """The programs whose output a shell or an interpreter runs: `curl … | sh`, `eval "$(…)"`, `bash <(…)`."""
    # `python3 -c …` takes its input as data.
    found = list(before) if inline is None and reads_program(step) else []
    options = (word for option, word in pairwise(step.words) if option.endswith("c"))
    words = step.words if step.program in _EVALUATES else (step.sub, inline or "", *options)
    if any(word.lstrip(' "').startswith(_SUBSTITUTED) for word in words):
        found += [one for text in layer.substitutions for one in parse(text)]
    return found


def _without_quotes(text: str) -> str:
    """The text without what is quoted, except for words that may be the target of a redirection."""
    return _QUOTED.compiled.sub(lambda found: found[0][1:-1] if not re.search(r"[\s>]", found[0]) else '""', text)


def _readings(step: Step) -> Iterator[Step]:
    """A step, and the program that it runs by another name: `python -m twine`, `yarn prisma`, `bash deploy.sh`."""
    words, program = step.words, step.program
    if program not in rows_by_program():  # `npx rimraf@5`, `pip3`, `python3.12`, `psql.exe`
        program = _VERSION.compiled.sub("", program)
    yield step if program == step.program else msgspec.structs.replace(step, program=program)
    at = words.index(step.sub) if step.sub else len(words)
    if step.program in group("interpreters") or program.startswith("python"):
        if "-m" in words[:-1]:
            at = words.index("-m") + 1
            own = "seasoned" if words[at].startswith("seasoned.") else words[at]
            yield Step(step.join, own, words[at + 1 :])
            return
        if code_in(step) is not None or "-c" in words:
            return
    elif program in _MODULE_RUNNERS:
        at += step.sub in _RUN_WORDS
        at = next((place for place in range(at, len(words)) if not words[place].startswith("-")), len(words))
    else:
        return
    if at < len(words):
        yield Step(step.join, words[at].rsplit("/", 1)[-1], words[at + 1 :])


def _row_findings(step: Step, target: Target) -> Iterator[Finding]:
    rows = [row for row in rows_by_program().get(step.program, ()) if target != "here" or not row.only_elsewhere]
    # What runs a task or a script passes its options on.
    if "--help" in step.words and step.program not in group("task_runners") | group("interpreters"):
        return
    if step.program in group("clouds"):
        yield from call.cloud_findings(step.program, step.words)
    if rows:
        texts = [_joined(step.words)]
        if step.sub and step.words[0] != step.sub:
            texts.append(_joined(step.words[step.words.index(step.sub) :]))
        yield from (Finding(row.action, row.why, row.name) for row in rows if _matches(row, texts))


def _joined(words: tuple[str, ...]) -> str:
    # A blank inside a word does not separate words (`git commit -m "no --force"`); `\s` still finds it.
    # Patterns may look at a text once for each of its characters, so it must not be long.
    text = " ".join([word.replace(" ", "\x1f") for word in words])
    return text if len(text) <= _MOST_ARGUMENTS else f"{text[: _MOST_ARGUMENTS - 1000]} {text[-1000:]}"


def _matches(row: CommandRow, texts: list[str]) -> bool:
    # In this order: hardly any row matches, and what excuses it need not be compiled then.
    if row.words and not any(map(regex(row.words).search, texts)):
        return False
    return not (row.unless and any(map(regex(row.unless).search, texts)))


def _database_findings(step: Step, before: tuple[Step, ...], given: tuple[str, ...], text: str) -> Iterator[Finding]:
    statements = [word for word in step.words if " " in word or "(" in word]
    for each in (*statements, *given, *(() if statements else (" ".join(step.words),))):
        yield from sql_findings(each)
    unseen = before and not any(each.program in ("echo", "printf") for each in before)
    if step.program in _SQL_SERVERS and not given and (_FROM_FILE.compiled.search(text) or (unseen and not statements)):
        yield _UNSEEN_SQL


_SHOWN = 200


class Need(msgspec.Struct, frozen=True):
    """The action that a person must decide about, in words and with exactly what would be done."""

    action: str
    description: str
    details: dict[str, Any]
    row: str
    """The row of the table, or the rule, that found it."""


def need_of_command(command: str, *, folder: object = None) -> Need | None:
    """The action that a shell command needs; None where none is known. `folder` is where it runs. It never raises."""
    return _need(assess_command(command, working_folder(folder)), command, {"command": command})


def need_of_call(
    tool: str,
    arguments: Mapping[str, Any],
    *,
    agent: str = "",
    folder: object = None,
    here: object = None,
    follows_links: bool = False,
) -> Need | None:
    """The action that a tool call needs, by the commands, code and SQL in it and by its name. It never raises.

    `folder` is the project, and `here` where its shell is now, if that is elsewhere; `follows_links`: on this machine.
    """
    given = arguments if isinstance(arguments, Mapping) else {}
    own = call.folder_in(given)
    place = working_folder(own if folder is None else folder, own or here, follows_links=follows_links)
    details: dict[str, Any] = {"tool": tool, "arguments": dict(given)}
    if agent:
        details["agent"] = agent
    return _need(assess_call(tool, given, place), call.shown(tool, given), details)


def gravity(found: Finding) -> int:
    """The rank of a finding: the actions that are hardest to undo come first."""
    return GRAVITY.index(found.action)


def _need(found: Iterable[Finding], shown: str, details: dict[str, Any]) -> Need | None:
    ordered = sorted(dict.fromkeys(found), key=gravity)
    if not ordered:
        return None
    worst = ordered[0]
    also = sorted({each.action for each in ordered[1:]} - {worst.action})
    if also:
        details["also"] = also
    details["why"] = list(dict.fromkeys(f"it {each.why}" for each in ordered))[:5]
    line = " ".join(shown.split())
    short = line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
    return Need(worst.action, f"{short} ({details['why'][0]})", details, worst.row)
