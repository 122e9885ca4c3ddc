"""Finds the commands, code and SQL in the arguments of a tool call, at any depth and under any name."""

from __future__ import annotations

import shlex
from collections import deque
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal

import msgspec

from seasoned.command.parse import names
from seasoned.command.rows import group
from seasoned.command.tool import commands_in_script, snake, tool_of
from seasoned.lazy_regex import LazyRegex

TextKind = Literal["command", "typed", "code", "sql", "unread"]
# A call with more objects or texts than this was built to hide something: a person looks at it.
MOST_OBJECTS = 500
_MOST_VALUES = 20_000
_MOST_TEXTS = 500
_COMMAND_KEYS = names(
    "command cmd commands script shell_command bash_command argv cmdline command_line commandline command_string"
    " command_text shell shell_script bash bash_script powershell exec run run_command entrypoint cli"
)
_TYPED_KEYS = names("chars input data text keys stdin line")
_CODE_KEYS = names(
    "code source python python_code python_script cell snippet javascript js typescript ts ruby perl php lua"
)
_SQL_KEYS = names("sql query statement statements queries sql_query sql_text")
# A program and its arguments in two fields, as process tools take them.
_PROGRAM_KEYS = ("program", "executable", "binary", "bin", "exe", "command", "cmd")
_ARGUMENT_KEYS = ("args", "arguments", "argv", "params", "parameters", "flags", "options")
_FROM_KEYS = ("source", "src", "from", "from_path", "old_path", "source_path")
_TO_KEYS = ("destination", "dest", "to", "to_path", "new_path", "target", "destination_path")
_METHOD_KEYS = ("method", "http_method", "verb")
_ADDRESS_KEYS = ("url", "uri", "endpoint", "address")
_BODY_KEYS = ("body", "data", "json", "payload")
_SHELL_WORDS = names("bash shell sh zsh terminal powershell cmd exec")
# Programs after which servers name their tools: `mcp__k8s__kubectl_delete`.
_NAMED_PROGRAMS = names(
    "kubectl helm terraform tofu terragrunt pulumi docker podman aws gcloud gsutil az heroku flyctl vercel netlify"
    " wrangler git gh glab npm pnpm cargo psql mysql mongosh redis-cli systemctl ansible nomad vault rm dropdb"
)
# Servers whose tools take commands of a program of another name: `redis_execute(command="FLUSHALL")`.
_CLIENTS = {"redis": "redis-cli", "valkey": "redis-cli", "k8s": "kubectl", "kubernetes": "kubectl"}
# Tools that type into a running program: their text may be a command or SQL.
_TYPES = LazyRegex(
    r"(?:^|_)(?:write_stdin|write_bash|send_keys|send_input|process|shell_input|terminal_input|type_text)(?:$|_)|stdin"
)
_RUNS_CODE = LazyRegex(
    r"(?:^|_)(?:python|ipython|jupyter|repl|notebook|interpreter|execute_code|run_code|code_execution|executecode"
    r"|eval)(?:$|_)"
)
_SPEAKS_SQL = LazyRegex(
    r"(?:^|_)(?:sql|query|postgres\w*|mysql|sqlite|database|db|bigquery|snowflake|mongo\w*|redis|clickhouse"
    r"|supabase|warehouse|duckdb|mariadb|oracle|redshift|databricks|trino|athena)(?:$|_)"
)
# How a statement that changes something begins; a search for these words does not begin so.
_STATEMENT = LazyRegex(
    r"(?is)\A(?:\s|--[^\n]*\n|/\*.*?\*/|\()*(?:drop|delete|truncate|update|alter|grant|revoke|create|insert|begin|with"
    r"|merge|rename|call|exec|do|set|start\s+transaction)\b.*\b(?:table|database|schema|from|set|to|on|into|user|role"
    r"|index|view|begin|cascade|truncate)\b"
)
REMOTE_NAME = LazyRegex(r"__|[./:]")
# The script that Codex gives to `exec` reaches files and the shell by calling tools, and in no other way.
_CALLS_TOOLS = LazyRegex(r"\btools\.\w+\(|\bawait\s+\w+\(")
_ANY_COMMAND_KEYS = _COMMAND_KEYS | names("chars input args arguments argument")
_ANY_CODE_KEYS = _CODE_KEYS | names("script program expression function eval notebook")
_PLAIN = frozenset((int, float, bool, type(None)))
_OPENING = frozenset("{[ \n\t\r")
_CALLED_KEYS = frozenset((*_ARGUMENT_KEYS, *_FROM_KEYS, *_METHOD_KEYS, "subcommand"))
# The input of these tools is stored, searched or displayed, never run.
_RUNS_NOTHING = ("file_read", "file_write", "search", "web", "meta", "agent")


@lru_cache(maxsize=256)
def words_of(tool: str) -> tuple[str, ...]:
    """The words of a tool's own name, without the server that offers it: `mcp__db__drop_table` is (drop, table)."""
    own = REMOTE_NAME.compiled.split(tool[:300].strip("_"))[-1] or tool[:300]
    return tuple(word for word in snake(own).split("_") if word)


def objects(value: Any, *, most: int = MOST_OBJECTS, decodes: bool = True) -> tuple[list[Mapping[str, Any]], bool]:
    """The objects in a value, the outer ones first, also in lists and in texts of JSON; and whether these are all."""
    found: list[Mapping[str, Any]] = []
    waiting, seen = deque([value]), 0
    while waiting:
        one = waiting.popleft()
        seen += 1
        if isinstance(one, Mapping):
            found.append(one)
            waiting.extend(one.values())
        elif isinstance(one, list | tuple):
            waiting.extend(one)
        elif decodes and isinstance(one, str) and (inner := decoded(one)) is not None:
            waiting.append(inner)
        if len(found) > most or seen + len(waiting) > _MOST_VALUES:
            return found[:most], False
    return found, True


def decoded(text: str) -> Any:
    """The object or list in a JSON text; None if it is neither."""
    if text[:1] not in _OPENING or text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None


def all_texts(value: Any) -> Iterator[str]:
    """Every text in a value, however deep."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, Mapping):
            waiting.extend(reversed(list(one.values())))
        elif isinstance(one, list | tuple):
            waiting.extend(reversed(one))


def packed(tool: str, arguments: Mapping[str, Any]) -> tuple[list[Mapping[str, Any]], bool]:
    """The arguments and the objects inside them, and whether that is all of them."""
    # Most calls contain a few texts and numbers, and nothing else.
    for value in arguments.values():
        if type(value) is str:
            if value[:1] in _OPENING:
                break
        elif type(value) not in _PLAIN:
            break
    else:
        return [arguments], True
    return objects(arguments, decodes=tool_of(tool).form not in _RUNS_NOTHING)


def texts(tool: str, inside: list[Mapping[str, Any]]) -> Iterator[tuple[TextKind, str]]:
    """The commands, code and SQL in the objects of a call, each with how to read it; `unread` if there are too many."""
    count = 0
    for one in inside:
        for found in _texts_in(tool, one):
            count += 1
            if count > _MOST_TEXTS:
                yield "unread", ""
                return
            yield found


def _texts_in(tool: str, arguments: Mapping[str, Any]) -> Iterator[tuple[TextKind, str]]:
    name = "_".join(words_of(tool))
    for key, value in arguments.items():
        low = snake(str(key))
        if low in _COMMAND_KEYS:
            yield from (("command", text) for text in _held(value, join=low != "commands"))
        elif low in _TYPED_KEYS and _TYPES.compiled.search(name):
            yield from (("typed", text) for text in all_texts(value))
        elif low in _CODE_KEYS and (_RUNS_CODE.compiled.search(name) or low != "source"):
            yield from (("code", text) for text in all_texts(value))
        elif low in _SQL_KEYS:
            speaks = low.startswith("sql") or _SPEAKS_SQL.compiled.search(snake(tool)) is not None
            yield from (("sql", text) for text in all_texts(value) if speaks or _is_statement(tool, text))
    yield from (("command", text) for text in called(arguments, name))
    client = next((_CLIENTS[word] for word in snake(tool).split("_") if word in _CLIENTS), "")
    given = _first(arguments, _PROGRAM_KEYS) if client else ""
    if given and not given.startswith(client):
        yield "command", f"{client} {given}"
    if is_shell(tool):
        script = arguments.get("input")
        if tool == "exec" and isinstance(script, str) and _CALLS_TOOLS.compiled.search(script):
            yield from (("command", text) for text in commands_in_script(script))
            return
        for key in ("args", "input", "arguments", "line"):
            yield from (("command", text) for text in _held(arguments.get(key), join=True))


def _is_statement(tool: str, text: str) -> bool:
    """Whether a tool that is not known to speak SQL is given a statement, and not words to look for."""
    words = words_of(tool)
    looks = (bool(words) and words[0] in group("looking")) or tool_of(tool).form in _RUNS_NOTHING
    return not looks and _STATEMENT.compiled.search(text[:2000]) is not None


def called(arguments: Mapping[str, Any], tool: str = "") -> Iterator[str]:
    """Commands spread over several fields: a program and its arguments, a move, an HTTP request."""
    own = _as_command(tool)
    if not own and _CALLED_KEYS.isdisjoint(arguments):
        return
    given = next((value for key in _ARGUMENT_KEYS if (value := arguments.get(key)) is not None), None)
    words = [each for each in given if isinstance(each, str)] if isinstance(given, list | tuple) else []
    rest = shlex.join(words) or (given if isinstance(given, str) else "")
    program = _first(arguments, _PROGRAM_KEYS)
    sub = arguments.get("subcommand")
    more = f"{sub} {rest}" if isinstance(sub, str) else rest
    if program and more:
        yield f"{program} {more}"
    if own and (more or " " in own):
        yield f"{own} {more}"
    source, target = _first(arguments, _FROM_KEYS), _first(arguments, _TO_KEYS)
    if source and target and tool.split("_")[0] in ("move", "rename", "mv"):
        yield shlex.join(("mv", source, target))
    method, address = _first(arguments, _METHOD_KEYS), _first(arguments, _ADDRESS_KEYS)
    if address and method.isalpha():
        body = next((" -d x" for key in _BODY_KEYS if arguments.get(key) is not None), "")
        yield f"curl -X {method.upper()}{body} {shlex.quote(address)}"


@lru_cache(maxsize=256)
def _as_command(tool: str) -> str:
    """The command that a tool is named after (`kubectl_delete`), or nothing."""
    if tool.replace("_", "-") in _NAMED_PROGRAMS:
        return tool.replace("_", "-")
    return tool.replace("_", " ") if tool.partition("_")[0] in _NAMED_PROGRAMS else ""


def _first(arguments: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    return next((value for key in keys if isinstance(value := arguments.get(key), str)), "")


@lru_cache(maxsize=256)
def is_shell(tool: str) -> bool:
    """Whether a tool runs commands of a shell, by its name."""
    return not _SHELL_WORDS.isdisjoint(snake(tool).split("_"))


def _held(value: object, *, join: bool) -> Iterator[str]:
    """The commands in a field: a text, a list of words, or any texts in what it packs."""
    if isinstance(value, str):
        yield value
        value = decoded(value)
    if not isinstance(value, list | tuple):
        yield from all_texts(value)
    elif join and all(isinstance(each, str) for each in value):
        yield value[0] if len(value) == 1 else shlex.join(value)
    else:
        for each in value:
            if isinstance(each, list | tuple) and all(isinstance(word, str) for word in each):
                yield shlex.join(each)
            else:
                yield from all_texts(each)


def read_as(name: str) -> list[str]:
    """How a value of this name may be run: as `command(s)`, `code` or `sql`; empty if it is not run."""
    key = snake(name)
    if key == "commands":
        return [key]  # each of a list, not all of it as words of one
    kinds = (("command", _ANY_COMMAND_KEYS | names("stdin")), ("code", _ANY_CODE_KEYS), ("sql", _SQL_KEYS))
    return [kind for kind, keys in kinds if key in keys]


# Arguments that say most about a call, the best first.
_TELLING = ("command", "cmd", "pattern", "query", "file_path", "path", "url", "description", "prompt")
_BRIEF = 200


def brief_of(arguments: str) -> str:
    """Arguments in one line, or only the one that says most."""
    # Hooks import this module, and json would cost each of them milliseconds.
    import json

    try:
        found = json.loads(arguments)
    except ValueError:
        return arguments[:_BRIEF]
    if not isinstance(found, dict) or not found:
        return "no arguments"
    told = {name: _words(found[name]) for name in _TELLING if name in found}
    said = next(filter(None, told.values()), None)
    return (said or json.dumps(found, ensure_ascii=False))[:_BRIEF]


def _words(value: object) -> str:
    """A text, or the command in a list of words: `bash -lc COMMAND`."""
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        return str(value[-1]) if len(value) == 3 and value[1] in ("-lc", "-c") else " ".join(value)
    return value if isinstance(value, str) else ""
