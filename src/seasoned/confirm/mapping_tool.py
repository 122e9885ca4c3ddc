"""Rules for tool calls: which arguments hold commands, code or SQL, and what a tool's name says that it does."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal

from seasoned.command.action import HIGH_RISK, check_action
from seasoned.command.parse import names
from seasoned.confirm.mapping_finding import Finding
from seasoned.confirm.mapping_path import Place, written
from seasoned.errors import UsageError

Kind = Literal["command", "typed", "code", "sql"]
_COMMAND_KEYS = (
    "command",
    "cmd",
    "commands",
    "script",
    "shell_command",
    "bash_command",
    "argv",
    "cmdline",
    "command_line",
)
_TYPED_KEYS = ("chars", "input", "data", "text", "keys", "stdin", "line")
_CODE_KEYS = ("code", "source", "python", "python_code", "cell", "snippet")
_SQL_KEYS = ("sql", "query", "statement", "statements", "queries")
READ_KEYS = frozenset((*_COMMAND_KEYS, *_CODE_KEYS, *_SQL_KEYS))
"""Names of values that are read as commands, code or SQL."""
_FOLDER_KEYS = ("cwd", "workdir", "working_directory", "working_dir", "folder", "directory")
_PATH_KEYS = ("file_path", "path", "filename", "target_file", "notebook_path", "file", "destination", "target")
_MOST_TEXTS = 50
_SHELLS = names("bash shell sh zsh terminal powershell cmd exec")
_READING = names(
    "get list read search fetch describe find show view count check export download retrieve explain lookup"
    " watch tail ls"
    " grep glob cat inspect browse preview validate lint test plan diff status whoami history query select"
    " estimate suggest"
    " request ask wait open summarize analyze"
)
_WRITING = names("write edit patch create replace insert delete move apply update multiedit save put append str rename")
_TYPES = re.compile(
    r"(?:^|_)(?:write_stdin|write_bash|send_keys|send_input|process|shell_input|terminal_input|type_text)(?:$|_)|stdin"
)
_RUNS_CODE = re.compile(
    r"(?:^|_)(?:python|ipython|jupyter|repl|notebook|interpreter|execute_code|run_code|code_execution|executecode"
    r"|eval)(?:$|_)"
)
_SPEAKS_SQL = re.compile(
    r"(?:^|_)(?:sql|query|postgres\w*|mysql|sqlite|database|db|bigquery|snowflake|mongo\w*|redis|clickhouse"
    r"|supabase)(?:$|_)"
)
_ELSEWHERE = names("staging stage dev development preview test testing sandbox local draft dry")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BETWEEN = re.compile(r"[^a-z0-9]+")
_PATCHED = re.compile(
    r"^(?:\*\*\* (?:Update|Add|Delete) File: |\+\+\+ (?:b/)?|\*\*\* Move to: )(?P<path>\S+)", re.MULTILINE
)

_BY_NAME: tuple[tuple[str, str, str, str], ...] = (
    (
        "wipe_database",
        "drop wipe truncate flush destroy purge reset erase empty clear",
        "database db table tables schema collection collections keyspace redis databases flushall",
        "empties or drops a database",
    ),
    (
        "migrate_database",
        "migrate migration migrations rollback apply run alter",
        "database db schema migration migrations table",
        "changes the shape of a database",
    ),
    (
        "transfer_funds",
        ("transfer send pay wire withdraw payout refund charge create issue move submit capture confirm place execute"),
        (
            "funds money payment payout payouts refund transfer charge invoice usd eur btc eth crypto wire withdrawal"
            " payments order_payment balance"
        ),
        "moves money",
    ),
    (
        "rotate_keys",
        "rotate regenerate revoke reset renew delete replace update create set put",
        (
            "key keys secret secrets credential credentials token tokens certificate certificates cert password apikey"
            " passphrase"
        ),
        "replaces or deletes a key or secret",
    ),
    (
        "modify_permissions",
        ("grant revoke modify change update set add remove assign attach detach edit invite make promote"),
        (
            "permission permissions role roles acl policy access privilege privileges collaborator collaborators admin"
            " iam visibility owner rights"
        ),
        "changes who may do what",
    ),
    (
        "delete_data",
        "delete remove destroy purge erase wipe empty bulkdelete truncate",
        (
            "data user users account accounts customer customers record records row rows bucket buckets object objects"
            " repo repository project"
            " volume volumes backup backups snapshot snapshots disk page pages document documents index folder"
            " directory dataset table blob blobs"
            " archive namespace everything all workspace database contact contacts email emails message messages event"
            " events site"
        ),
        "deletes what others may need",
    ),
    (
        "shutdown_service",
        "shutdown stop terminate kill restart reboot disable suspend scale_down halt drain",
        (
            "service services server servers instance instances cluster vm vms container containers pod pods deployment"
            " machine node host system"
            " app application website dyno"
        ),
        "stops something that others may be using",
    ),
    (
        "exec_remote",
        "exec execute run ssh invoke send",
        "remote ssh pod host hosts server instance node ssm fleet on_host remotely",
        "runs something on another machine",
    ),
)
_NAMED = tuple((action, names(verbs), names(nouns), why) for action, verbs, nouns, why in _BY_NAME)
_SECRET_READS = names("create set put update")
_DEPLOYS = names("deploy rollout redeploy ship promote")
_PUBLISHES = names("publish unpublish release")
_PACKAGES = names("package packages release npm crate gem image version pypi docker artifact app extension library")


@lru_cache(maxsize=256)
def words_of(tool: str) -> tuple[str, ...]:
    """The words of a tool's own name, without the server that offers it: `mcp__db__drop_table` is (drop, table)."""
    own = re.split(r"__|[./:]", tool[:300])[-1] or tool[:300]
    return tuple(word for word in _BETWEEN.split(_HUMP.sub("_", own).lower()) if word)


def findings(tool: str, arguments: Mapping[str, Any], place: Place) -> Iterator[Finding]:
    """What the name of a tool says that it does, and what a file tool writes to."""
    words = words_of(tool)
    if not words:
        return
    yield from _of_files(words, arguments, place)
    try:
        exact = check_action("_".join(words))
    except UsageError:
        exact = ""
    if exact in HIGH_RISK:
        yield Finding(exact, "is named as an action that always needs a person", "tool name")
        return
    yield from _of_name(words, remote=bool(re.search(r"__|[./:]", tool)))
    server = frozenset(_BETWEEN.split(tool[:300].lower())) - frozenset(words)
    if "ssh" in server and words[0] not in _READING:
        yield Finding("exec_remote", "runs something on another machine", "tool name")


def _of_name(words: tuple[str, ...], *, remote: bool) -> Iterator[Finding]:
    verb, rest = words[0], frozenset(words[1:])
    if verb in _READING:
        return
    whole = frozenset(words)
    if whole & _DEPLOYS and not whole & _ELSEWHERE:
        yield Finding("deploy_production", "changes what runs for users", "tool name")
    elif verb in _PUBLISHES and (rest & _PACKAGES):
        yield Finding("publish_package", "publishes to everyone", "tool name")
    for action, verbs, nouns, why in _NAMED:
        if (verb in verbs and rest & nouns) or (
            len(words) > 1 and words[-1] in verbs and frozenset(words[:-1]) & nouns
        ):
            if (
                action == "delete_data"
                and not remote
                and whole & {"folder", "directory", "message", "messages", "event"}
            ):
                continue
            yield Finding(action, why, "tool name")
            return
    if words == ("ssh",) or (whole & {"ssh", "flushall", "flushdb"} and verb not in _READING):
        action = "exec_remote" if "ssh" in whole else "wipe_database"
        yield Finding(
            action, "runs something on another machine" if "ssh" in whole else "empties a database", "tool name"
        )


def _of_files(words: tuple[str, ...], arguments: Mapping[str, Any], place: Place) -> Iterator[Finding]:
    if not frozenset(words) & _WRITING or arguments.get("command") == "view":
        return
    paths = [str(arguments[key]) for key in _PATH_KEYS if isinstance(arguments.get(key), str)]
    for key in ("patch", "input", "diff"):
        text = arguments.get(key)
        if isinstance(text, str):
            paths += _PATCHED.findall(text[:100_000])
    for path in paths:
        yield from written(path, place)
        if words[0] in ("delete", "remove") and not place.holds(path) and path.startswith(("/", "~", "..")):
            yield Finding(
                "delete_data", f"deletes {path!r}, which is not inside of the working folder", "delete outside"
            )


def texts(tool: str, arguments: Mapping[str, Any]) -> Iterator[tuple[Kind, str]]:
    """The commands, code and SQL in a call, each with how it is to be read; also in what is packed into it."""
    for packed in _packed(arguments):
        yield from _texts_in(tool, packed)


def _packed(arguments: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The arguments, and every object inside of them, the outer ones first and not without end."""
    found = [arguments]
    for each in found:
        for value in list(each.values())[:_MOST_TEXTS]:
            inner = value[:_MOST_TEXTS] if isinstance(value, list | tuple) else [value]
            found += [one for one in inner if isinstance(one, Mapping)][: _MOST_TEXTS - len(found)]
        if len(found) >= _MOST_TEXTS:
            break
    return found


def _texts_in(tool: str, arguments: Mapping[str, Any]) -> Iterator[tuple[Kind, str]]:
    name = "_".join(words_of(tool))
    for key, value in list(arguments.items())[:_MOST_TEXTS]:
        low = str(key).lower()
        if low in _COMMAND_KEYS:
            yield from (("command", text) for text in _texts(value, join=low not in ("commands",)))
        elif low in _TYPED_KEYS and _TYPES.search(name):
            yield from (("typed", text) for text in _texts(value, join=False))
        elif low in _CODE_KEYS and (_RUNS_CODE.search(name) or low != "source"):
            yield from (("code", text) for text in _texts(value, join=False))
        elif low in _SQL_KEYS and (low == "sql" or _SPEAKS_SQL.search("_".join(_BETWEEN.split(tool.lower())))):
            yield from (("sql", text) for text in _texts(value, join=False))
    if _is_shell(tool):
        action = arguments.get("action")
        if isinstance(action, Mapping):
            yield from (("command", text) for text in _texts(action.get("command"), join=True))
        for key in ("args", "input", "arguments", "line"):
            yield from (("command", text) for text in _texts(arguments.get(key), join=True))


@lru_cache(maxsize=256)
def _is_shell(tool: str) -> bool:
    return bool(_SHELLS & frozenset(_BETWEEN.split(_HUMP.sub("_", tool[:300]).lower())))


def _texts(value: object, *, join: bool) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        words = [each for each in value[:1000] if isinstance(each, str)]
        if join:
            yield shlex.join(words)
        else:
            yield from words[:_MOST_TEXTS]


def folder_in(arguments: Mapping[str, Any]) -> str | None:
    """The working folder that a call names itself."""
    return next((value for key in _FOLDER_KEYS if isinstance(value := arguments.get(key), str)), None)


def shown(tool: str, arguments: Mapping[str, Any]) -> str:
    """A call in one line, for a person."""
    parts = [
        f"{key}={value!r}" if not isinstance(value, str) else f"{key}={value[:100]!r}"
        for key, value in list(arguments.items())[:8]
        if isinstance(value, str | int | float | bool)
    ]
    return f"{tool[:100]}({', '.join(parts)})"
