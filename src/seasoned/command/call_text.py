"""Finds the commands, code and SQL in the arguments of a tool call, under the names that tools give them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal

import msgspec

from seasoned.command.parse import names
from seasoned.command.rows import group
from seasoned.command.tool import commands_in_script, snake, tool_of
from seasoned.lazy_regex import LazyRegex

TextKind = Literal["command", "typed", "code", "sql"]
# A call with more objects than this, or objects deeper in each other, was built to hide something: a person looks.
MOST_OBJECTS = 500
_DEEPEST = 20
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
_PROGRAM_KEYS = ("program", "executable", "binary", "command", "cmd")
_ARGUMENT_KEYS = ("args", "arguments", "argv", "params", "parameters", "flags", "options")
_FROM_KEYS = ("source", "src", "from", "from_path", "old_path", "source_path")
_TO_KEYS = ("destination", "dest", "to", "to_path", "new_path", "target", "destination_path")
_SHELL_WORDS = names("bash shell sh zsh terminal powershell cmd exec")
# Programs after which servers name their tools: `mcp__k8s__kubectl_delete`.
_NAMED_PROGRAMS = names(
    "kubectl helm terraform tofu pulumi docker podman aws gcloud gsutil az heroku flyctl vercel netlify wrangler git gh"
    " glab npm pnpm cargo psql mysql mongosh redis-cli systemctl ansible rm dropdb"
)
# Tools that type into a running program: their text may be a command or SQL.
_TYPES = LazyRegex(
    r"(?:^|_)(?:write_stdin|write_bash|send_keys|send_input|process|shell_input|terminal_input|type_text)(?:$|_)|stdin"
)
_RUNS_CODE = LazyRegex(
    r"(?:^|_)(?:python|ipython|jupyter|repl|notebook|interpreter|execute_code|run_code|code_execution|executecode"
    r"|eval)(?:$|_)"
)
_SPEAKS_SQL = LazyRegex(
    r"(?:^|_)(?:sql|query|postgres\w*|mysql|sqlite|database|db|bigquery|snowflake|mongo\w*|clickhouse|supabase|warehouse"
    r"|duckdb|mariadb)(?:$|_)"
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
# The input of these tools is stored, searched or displayed, never run.
_RUNS_NOTHING = ("file_read", "file_write", "search", "web", "meta", "agent")


@lru_cache(maxsize=256)
def words_of(tool: str) -> tuple[str, ...]:
    """The words of a tool's own name, without the server that offers it: `mcp__db__drop_table` is (drop, table)."""
    own = REMOTE_NAME.compiled.split(tool[:300].strip("_"))[-1] or tool[:300]
    return tuple(word for word in snake(own).split("_") if word)


def objects(value: Any, *, decodes: bool = True) -> tuple[list[Mapping[str, Any]], bool]:
    """The objects in a value, also in lists and in texts of JSON; and whether these are all."""
    found: list[Mapping[str, Any]] = []
    level, depth = [value], 0
    while level and depth <= _DEEPEST and len(found) <= MOST_OBJECTS:
        found += (one for one in level if isinstance(one, Mapping))
        level = [inner for one in level for inner in _held_in(one, decodes)]
        depth += 1
    return found[:MOST_OBJECTS], not level and len(found) <= MOST_OBJECTS


def _held_in(value: Any, decodes: bool) -> Iterator[Any]:
    if isinstance(value, str):
        value = [decoded(value)] if decodes else []
    held = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    yield from (one for one in held if isinstance(one, Mapping | list | tuple) or (decodes and isinstance(one, str)))


def decoded(text: str) -> Any:
    """The object or list in a JSON text; None if it is neither."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None


def packed(tool: str, arguments: Mapping[str, Any]) -> tuple[list[Mapping[str, Any]], bool]:
    """The arguments and the objects inside them, and whether that is all of them."""
    return objects(arguments, decodes=tool_of(tool).form not in _RUNS_NOTHING)


def texts(tool: str, arguments: Mapping[str, Any]) -> Iterator[tuple[TextKind, str]]:
    """The commands, code and SQL in one object of a call, each with how to read it."""
    name = "_".join(words_of(tool))
    for key, value in arguments.items():
        low = snake(str(key))
        if low in _COMMAND_KEYS:
            yield from (("command", text) for text in _commands(value, join=low != "commands"))
        elif low in _TYPED_KEYS and _TYPES.compiled.search(name):
            yield from (("typed", text) for text in _texts(value))
        elif low in _CODE_KEYS and (_RUNS_CODE.compiled.search(name) or low != "source"):
            yield from (("code", text) for text in _texts(value))
        elif low in _SQL_KEYS:
            speaks = low.startswith("sql") or _SPEAKS_SQL.compiled.search(snake(tool)) is not None
            yield from (("sql", text) for text in _texts(value) if speaks or _is_statement(tool, text))
    yield from (("command", text) for text in _called(arguments, name))
    if not _SHELL_WORDS.isdisjoint(snake(tool).split("_")):
        script = arguments.get("input")
        if tool == "exec" and isinstance(script, str) and _CALLS_TOOLS.compiled.search(script):
            yield from (("command", text) for text in commands_in_script(script))
            return
        for key in ("args", "input", "arguments", "line"):
            yield from (("command", text) for text in _commands(arguments.get(key), join=True))


def _texts(value: Any) -> Iterator[str]:
    """A text, or the texts in a list or an object."""
    held = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else (value,)
    yield from (one for one in held if isinstance(one, str))


def _commands(value: Any, *, join: bool) -> Iterator[str]:
    """The commands in a field: a text, a list of words (also as JSON), or a list of commands."""
    yield from _texts(value)
    if isinstance(value, str):
        value = decoded(value)
    lists = [value] if join else value if isinstance(value, list | tuple) else ()
    for words in lists:
        if isinstance(words, list | tuple) and len(words) > 1 and all(isinstance(word, str) for word in words):
            yield shlex.join(words)


def _is_statement(tool: str, text: str) -> bool:
    """Whether a tool that is not known to speak SQL is given a statement, and not words to look for."""
    words = words_of(tool)
    looks = (bool(words) and words[0] in group("looking")) or tool_of(tool).form in _RUNS_NOTHING
    return not looks and _STATEMENT.compiled.search(text[:2000]) is not None


def _called(arguments: Mapping[str, Any], tool: str) -> Iterator[str]:
    """Commands spread over several fields: a program and its arguments, a move, an HTTP request."""
    given = next((value for key in _ARGUMENT_KEYS if (value := arguments.get(key)) is not None), "")
    words = [each for each in given if isinstance(each, str)] if isinstance(given, list | tuple) else []
    rest = shlex.join(words) if words else given if isinstance(given, str) else ""
    program, sub = _first(arguments, _PROGRAM_KEYS), _first(arguments, ("subcommand",))
    more = f"{sub} {rest}".strip()
    if program and more:
        yield f"{program} {more}"
    if tool.partition("_")[0] in _NAMED_PROGRAMS or tool.replace("_", "-") in _NAMED_PROGRAMS:
        own = tool.replace("_", "-") if tool.replace("_", "-") in _NAMED_PROGRAMS else tool.replace("_", " ")
        yield f"{own} {more}"
    source, target = _first(arguments, _FROM_KEYS), _first(arguments, _TO_KEYS)
    if source and target and tool.startswith(("move", "rename", "mv")):
        yield shlex.join(("mv", source, target))
    method, address = (
        _first(arguments, ("method", "http_method", "verb")),
        _first(arguments, ("url", "uri", "endpoint")),
    )
    if address and method.isalpha():
        body = " -d x" if any(arguments.get(key) is not None for key in ("body", "data", "json", "payload")) else ""
        yield f"curl -X {method.upper()}{body} {shlex.quote(address)}"


def _first(arguments: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    return next((value for key in keys if isinstance(value := arguments.get(key), str)), "")


def read_as(name: str) -> list[str]:
    """How a value of this name may be run: as `command(s)`, `code` or `sql`; empty if it is not run."""
    key = snake(name)
    if key == "commands":
        return [key]  # each of a list, not all of it as words of one
    command = _COMMAND_KEYS | names("stdin chars input args arguments argument")
    kinds = (
        ("command", command),
        ("code", _CODE_KEYS | names("script program expression function eval")),
        ("sql", _SQL_KEYS),
    )
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
