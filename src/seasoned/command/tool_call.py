"""Rules for tool calls: which arguments hold commands, code or SQL, and what a tool's name says that it does."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal

from seasoned.command import guard
from seasoned.command.action import HIGH_RISK, check_action
from seasoned.command.parse import names
from seasoned.command.path import WorkingFolder, guarded
from seasoned.command.rows import Finding, ToolNameRow, group, table
from seasoned.command.tool import commands_in_script, tool_of
from seasoned.errors import UsageError
from seasoned.lazy_regex import LazyRegex

TextKind = Literal["command", "typed", "code", "sql"]
_COMMAND_KEYS = names("command cmd commands script shell_command bash_command argv cmdline command_line")
_TYPED_KEYS = names("chars input data text keys stdin line")
_CODE_KEYS = names("code source python python_code cell snippet")
_SQL_KEYS = names("sql query statement statements queries")
_FOLDER_KEYS = ("cwd", "workdir", "working_directory", "working_dir", "folder", "directory")
# Under these names file tools of all agents take the path they write to.
_PATH_KEYS = ("file_path", "path", "filename", "target_file", "notebook_path", "file", "destination", "target")
# A call can pack any number of objects; so many are read.
_MOST_TEXTS = 50
_SHELL_WORDS = names("bash shell sh zsh terminal powershell cmd exec")
_WRITING = names("write edit patch create replace insert delete move apply update multiedit save put append str rename")
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
    r"|supabase)(?:$|_)"
)
_HUMP = LazyRegex(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BETWEEN = LazyRegex(r"[^a-z0-9]+")
_PATCHED = LazyRegex(
    r"^(?:\*\*\* (?:Update|Add|Delete) File: |\+\+\+ (?:b/)?|\*\*\* Move to: )(?P<path>\S+)", re.MULTILINE
)
# The script that Codex gives to `exec` reaches files and the shell by calling tools, and in no other way.
_CALLS_TOOLS = LazyRegex(r"\btools\.\w+\(|\bawait\s+\w+\(")
_REMOTE_NAME = LazyRegex(r"__|[./:]")
# The rest of this block is about examples alone.
_DELETES_FILE = LazyRegex(r"(?m)^\*\*\* Delete File: ")
_ID = LazyRegex(r"(?i)(?:\A|[a-z_-])(?:id|number|no|ref|reference|key|code)\Z")
# Arguments by which a call says yes to a question that its tool would ask a person.
_ANSWERS = names(
    "force forced confirm confirmed confirmation yes assume_yes auto_approve auto_confirm approved skip_confirmation"
    " skip_checks no_confirm no_verify override permanent permanently hard hard_delete purge bypass privileged"
    " i_understand acknowledge_risk"
)
_NO = names("false no 0 none off n") | {""}
_TARGET_KEYS = names("env environment stage target cluster deployment tier")
_LIVE = LazyRegex(r"(?i)(?:--?[\w-]+=)?(?:prod|production|live)\Z")
_ANY_COMMAND_KEYS = _COMMAND_KEYS | names(
    "shell bash chars input exec run args arguments argument entrypoint command_string shell_script powershell"
)
_ANY_CODE_KEYS = _CODE_KEYS | names(
    "script program expression javascript js typescript ts function ruby perl php lua eval notebook"
)


@lru_cache(maxsize=256)
def words_of(tool: str) -> tuple[str, ...]:
    """The words of a tool's own name, without the server that offers it: `mcp__db__drop_table` is (drop, table)."""
    own = _REMOTE_NAME.compiled.split(tool[:300].strip("_"))[-1] or tool[:300]
    return tuple(word for word in _snake(own).split("_") if word)


def _snake(name: str) -> str:
    return _BETWEEN.compiled.sub("_", _HUMP.compiled.sub("_", name).lower()).strip("_")


def findings(tool: str, arguments: Mapping[str, Any], place: WorkingFolder) -> Iterator[Finding]:
    """What the name of a tool says that it does, and what a file tool writes to."""
    words = words_of(tool)
    if not words:
        return
    yield from _of_files(words, arguments, place)
    if words[0] not in group("looking") and tool_of(tool).form not in ("file_read", "search", "web", "meta"):
        yield from (found for packed in _packed(arguments) for found in guard.in_arguments(packed, place))
    try:
        exact = check_action("_".join(words))
    except UsageError:
        exact = ""
    if exact in HIGH_RISK:
        yield Finding(exact, "is named as an action that always needs a person", "tool name")
        return
    looks = words[0] in group("looking") or words[0] in group("asking")
    if not looks:
        yield from _of_name(words, remote=bool(_REMOTE_NAME.compiled.search(tool)))
    # A tool of an SSH server runs elsewhere, whatever it is called: `mcp__ssh__exec`.
    server = frozenset(_BETWEEN.compiled.split(tool[:300].lower())) - frozenset(words)
    if "ssh" in server and not looks:
        yield Finding("exec_remote", "runs something on another machine", "tool name")


def _of_name(words: tuple[str, ...], *, remote: bool) -> Iterator[Finding]:
    for row in table().tool_names:
        if row.action and _names_it(row, words, remote=remote):
            yield Finding(row.action, row.why, "tool name")
            if not row.anywhere:
                return


def _names_it(row: ToolNameRow, words: tuple[str, ...], *, remote: bool = True) -> bool:
    word_set = frozenset(words)
    if word_set & row.unless or (not remote and word_set & row.remote_only):
        return False
    if row.anywhere:
        return bool(word_set & row.verbs) and (not row.things or bool(word_set & row.things))
    return (words[0] in row.verbs and not row.things.isdisjoint(words[1:])) or (
        len(words) > 1 and words[-1] in row.verbs and not row.things.isdisjoint(words[:-1])
    )


def _of_files(words: tuple[str, ...], arguments: Mapping[str, Any], place: WorkingFolder) -> Iterator[Finding]:
    if not frozenset(words) & _WRITING or arguments.get("command") == "view":
        return
    paths = [str(arguments[key]) for key in _PATH_KEYS if isinstance(arguments.get(key), str)]
    for key in ("patch", "input", "diff", "command"):
        text = arguments.get(key)
        if isinstance(text, str):
            paths += _PATCHED.compiled.findall(text[:100_000])
    for path in paths:
        yield from guarded(path, place)
        yield from guard.changed(path, place)
        if words[0] in ("delete", "remove") and not place.holds(path) and path.startswith(("/", "~", "..")):
            why = f"deletes {path!r}, which is not inside the working folder"
            yield Finding("delete_data", why, "delete outside")


def texts(tool: str, arguments: Mapping[str, Any]) -> Iterator[tuple[TextKind, str]]:
    """The commands, code and SQL in a call, each with how it is to be read; also in what is packed into it."""
    for packed in _packed(arguments):
        yield from _texts_in(tool, packed)


def _packed(arguments: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The arguments and the objects inside them, the outer ones first, up to a limit."""
    found = [arguments]
    for each in found:
        for value in list(each.values())[:_MOST_TEXTS]:
            inner = value[:_MOST_TEXTS] if isinstance(value, list | tuple) else [value]
            found += [one for one in inner if isinstance(one, Mapping)][: _MOST_TEXTS - len(found)]
        if len(found) >= _MOST_TEXTS:
            break
    return found


def _texts_in(tool: str, arguments: Mapping[str, Any]) -> Iterator[tuple[TextKind, str]]:
    name = "_".join(words_of(tool))
    for key, value in list(arguments.items())[:_MOST_TEXTS]:
        low = str(key).lower()
        if low in _COMMAND_KEYS:
            yield from (("command", text) for text in _texts(value, join=low != "commands"))
        elif low in _TYPED_KEYS and _TYPES.compiled.search(name):
            yield from (("typed", text) for text in _texts(value, join=False))
        elif low in _CODE_KEYS and (_RUNS_CODE.compiled.search(name) or low != "source"):
            yield from (("code", text) for text in _texts(value, join=False))
        elif low in _SQL_KEYS and (low == "sql" or _SPEAKS_SQL.compiled.search(_snake(tool))):
            yield from (("sql", text) for text in _texts(value, join=False))
    if _is_shell(tool):
        action = arguments.get("action")
        if isinstance(action, Mapping):
            yield from (("command", text) for text in _texts(action.get("command"), join=True))
        script = arguments.get("input")
        if tool == "exec" and isinstance(script, str) and _CALLS_TOOLS.compiled.search(script):
            yield from (("command", text) for text in commands_in_script(script))
            return
        for key in ("args", "input", "arguments", "line"):
            yield from (("command", text) for text in _texts(arguments.get(key), join=True))


@lru_cache(maxsize=256)
def _is_shell(tool: str) -> bool:
    return not _SHELL_WORDS.isdisjoint(_snake(tool[:300]).split("_"))


def _texts(value: object, *, join: bool) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        words = [each for each in value[:1000] if isinstance(each, str)]
        if join:
            yield shlex.join(words)
        else:
            yield from words[:_MOST_TEXTS]


def example_findings(tool: str, arguments: Mapping[str, Any]) -> Iterator[Finding]:
    """What keeps a call out of examples although no person has to confirm it.

    A call that changes one record which it names by its id is a convention to learn (`cancel_pending_order`). One that
    destroys, pays, changes rights, reaches everyone, or answers for the person (`confirm: true`) is not.
    """
    if tool_of(tool).form == "file_write" and any(
        _DELETES_FILE.compiled.search(text) for text in all_texts(dict(arguments))
    ):
        yield _not_example("deletes a file")
    words = words_of(tool)
    looks = bool(words) and words[0] in group("looking") and "and" not in words
    if words and not looks:
        yield from (_not_example(row.why) for row in table().tool_names if not row.action and _names_it(row, words))
        # Money that goes back for one thing is bound to it; without its id nothing bounds it.
        if "refund" in words and not any(_ID.compiled.search(name) for name in arguments):
            yield _not_example("refunds money for nothing that it names")
    if tool_of(tool).form == "file_write":
        return
    if str(arguments.get("method", "")).lower() in ("post", "put", "patch", "delete"):
        yield _not_example("changes something by HTTP")
    for name, value in arguments.items():
        key = _snake(name)
        is_text = not isinstance(value, dict | list)
        if is_text and answers_for_person(name) and str(value).strip().lower() not in _NO:
            yield _not_example("answers a question for the person")
        if key in _TARGET_KEYS and not looks and any(_LIVE.compiled.match(text) for text in all_texts(value)):
            yield _not_example("changes what is live")


def answers_for_person(name: str) -> bool:
    """Whether an argument of this name says yes to a question that a tool would ask a person."""
    return _snake(name) in _ANSWERS


def _not_example(why: str) -> Finding:
    return Finding("", why, "tool call", asks_locally=False)


def read_as(name: str) -> list[str]:
    """As what a value of this name may run: `command(s)`, `code` or `sql`; empty for one that runs nothing."""
    key = _snake(name)
    if key == "commands":
        return [key]  # each of a list, not all of it as words of one
    kinds = (("command", _ANY_COMMAND_KEYS | names("stdin")), ("code", _ANY_CODE_KEYS), ("sql", _SQL_KEYS))
    return [kind for kind, keys in kinds if key in keys]


def example_texts(arguments: Mapping[str, Any]) -> Iterator[tuple[TextKind, str]]:
    """Commands, code and SQL under any name that may hold them: for examples, too many is better than too few."""
    for name, value in arguments.items():
        key = _snake(name)
        kinds: tuple[tuple[TextKind, frozenset[str]], ...] = (
            ("command", _ANY_COMMAND_KEYS),
            ("code", _ANY_CODE_KEYS),
            ("sql", _SQL_KEYS),
        )
        held = [" ".join(map(str, value))] if isinstance(value, list) else list(all_texts(value))
        yield from ((kind, text) for kind, keys in kinds if key in keys for text in held)


def all_texts(value: Any, depth: int = 6) -> Iterator[str]:
    """Every text in a value, however deep up to a limit."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list) and depth:
        for item in value.values() if isinstance(value, dict) else value:
            yield from all_texts(item, depth - 1)


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
