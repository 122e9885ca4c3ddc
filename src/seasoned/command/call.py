"""Reads a tool call: what its name says it does, the files it writes to, and the commands, code and SQL in its values.

Tools that are known name the arguments that they run. For any other tool the values decide, not what they are called.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal

import msgspec

from seasoned.command import path
from seasoned.command.danger_table import rows_by_program
from seasoned.command.parse import names, parse
from seasoned.command.path import PRODUCTION, WorkingFolder
from seasoned.command.rows import NAMES, Finding, group, regex
from seasoned.command.tool import commands_in_script, known_tools, snake, tool_of
from seasoned.lazy_regex import LazyRegex

TextKind = Literal["command", "typed", "code", "sql"]
# A call with more objects than this, or objects deeper in each other, was built to hide something: a person looks.
MOST_OBJECTS = 500
_DEEPEST = 20
_CODE_KEYS = names("code python python_code python_script cell javascript js typescript ts ruby perl php lua")
# Tools that type into a running program: their text may be a command or SQL.
_TYPES = LazyRegex(r"(?:^|_)(?:write_stdin|write_bash|send_keys|send_input|process|shell_input|type_text)(?:$|_)|stdin")
# How a statement that changes something begins; a search for these words does not begin so.
_STATEMENT = LazyRegex(
    r"(?is)\A(?:\s|--[^\n]*\n|/\*.*?\*/|\()*(?:drop|delete|truncate|update|alter|grant|revoke|create|insert|begin|with"
    r"|merge|rename|call|exec|do|set|start\s+transaction)\b.*\b(?:table|database|schema|from|set|to|on|into|user|role"
    r"|index|view|begin|cascade|truncate)\b"
)
# Arguments that a person reads; and words of tools that look for what they are given.
_PROSE_KEYS = names(
    "title body description comment message summary subject content prompt note notes thought question answer reason"
    " explanation justification"
)
_ENGLISH = names("is are was were be been the that this what which he she it you we please would should not of a")
_SEARCHING = names("search query grep find lookup")
REMOTE_NAME = LazyRegex(r"__|[./:]")
# The script that Codex gives to `exec` reaches files and the shell by calling tools, and in no other way.
_CALLS_TOOLS = LazyRegex(r"\btools\.\w+\(|\bawait\s+\w+\(")
# The input of these tools is stored, searched or displayed, never run.
_RUNS_NOTHING = ("file_read", "file_write", "search", "web", "meta", "agent")
_FOLDER_KEYS = ("cwd", "workdir", "working_directory", "working_dir", "folder", "directory")
# Under these names file tools of all agents take the paths they write to, move or delete.
_PATH_KEYS = names(
    "file_path path filename target_file notebook_path file destination target paths files source src from_path"
    " old_path new_path dest to_path uri filepath absolute_path"
)
_WRITING = names("copy write edit patch create replace insert move apply update multiedit save put append str rename")
_DELETING = names("delete remove unlink rm trash erase wipe destroy")
_PATCHED = LazyRegex(
    r"^(?:\*\*\* (?P<how>Update|Add|Delete) File: |\+\+\+ (?:b/)?|\*\*\* Move to: )(?P<path>\S+)", re.MULTILINE
)
# Values that switch off the questions of an agent.
_UNCHECKED = names("bypasspermissions dontask yolo danger-full-access")
_SUBCOMMAND = LazyRegex(r"[a-z][a-z0-9]*(?:[:_-][a-z0-9]+)*\Z")


@lru_cache(maxsize=256)
def words_of(tool: str) -> tuple[str, ...]:
    """The words of a tool's own name, without the server that offers it: `mcp__db__drop_table` is (drop, table)."""
    own = REMOTE_NAME.compiled.split(tool[:300].strip("_"))[-1] or tool[:300]
    return tuple(word for word in snake(own).split("_") if word)


# -- the values of a call ---------------------------------------------------------------------------------------------


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
        value = [_decoded(value)] if decodes else []
    held = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    yield from (one for one in held if isinstance(one, Mapping | list | tuple) or (decodes and isinstance(one, str)))


def _decoded(text: str) -> Any:
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
    form = tool_of(tool).form
    if form in _RUNS_NOTHING:
        return
    words = words_of(tool)
    name = "_".join(words)
    types = _TYPES.compiled.search(name)
    for key, value in arguments.items():
        low = snake(str(key))
        if tool == "exec" and isinstance(value, str) and _CALLS_TOOLS.compiled.search(value):
            yield from (("command", text) for text in commands_in_script(value))
        elif low in _CODE_KEYS and form != "shell":
            yield from (("code", text) for text in _texts(value))
        elif types:
            yield from (("typed", text) for text in _texts(value))
        elif low in _PROSE_KEYS or (form == "shell" and low in _FOLDER_KEYS):
            continue
        elif form == "shell":
            yield from (("command", text) for text in _commands(value))
        else:
            yield from (("command", text) for text in _commands(value) if _is_run(words, text))
            is_sql = low.startswith("sql")
            yield from (
                ("sql", text) for text in _texts(value) if is_sql or (" " in text and _is_statement(words, text))
            )
    is_known = tool.lower() in known_tools()
    if not is_known and _SEARCHING.isdisjoint(words) and words[:1] not in (("get",), ("list",), ("read",)):
        yield from (("command", text) for text in _spread(arguments, name))


def _is_run(words: tuple[str, ...], text: str) -> bool:
    """Whether a tool with this name may run a text: one that searches does not, one that looks takes names."""
    if not _SEARCHING.isdisjoint(words):
        return False
    return is_command(text) and (not words or words[0] not in group("looking") or " " in text)


def is_command(text: str) -> bool:
    """Whether a text begins as a command line does: with a program that the rules know."""
    steps = parse(text)
    program = steps[0].program if steps else ""
    if steps and len(_ENGLISH.intersection(steps[0].words)) > 1:
        return False  # `rm -rf /srv is what he typed`
    known = ("shells", "clouds", "writers", "readers", "reading", "wrappers", "databases", "migrators", "code_programs")
    if program in ("export", "case", "true", "false", "read", "view", "last", "type"):  # as other texts begin too
        return False
    return (
        program in rows_by_program() or program in path.ACTS_ON_PATHS or any(program in group(each) for each in known)
    )


def _texts(value: Any) -> Iterator[str]:
    """A text, or the texts in a list or an object."""
    held = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else (value,)
    yield from (one for one in held if isinstance(one, str))


def _commands(value: Any) -> Iterator[str]:
    """The commands in a field: a text, a list of words (also as JSON), or a list of commands."""
    yield from _texts(value)
    if isinstance(value, str):
        value = _decoded(value)
    lists = [value, *value] if isinstance(value, list | tuple) else []
    for words in lists:
        if isinstance(words, list | tuple) and len(words) > 1 and all(isinstance(word, str) for word in words):
            yield shlex.join(words)


def _is_statement(words: tuple[str, ...], text: str) -> bool:
    """Whether a text is a statement, and not words to look for."""
    looks = bool(words) and words[0] in group("looking") - {"query", "select"}
    return not looks and _STATEMENT.compiled.search(text[:2000]) is not None


def _spread(arguments: Mapping[str, Any], tool: str) -> Iterator[str]:
    """Commands spread over several fields: a program and its arguments, a move, an HTTP request."""
    values = [value for value in arguments.values() if isinstance(value, str) and value]
    lists = [[one for one in value if isinstance(one, str)] for value in arguments.values() if isinstance(value, list)]
    rest = [*values, *(shlex.join(words) for words in lists if words)]
    for value in values:
        if " " not in value and is_command(value):
            yield f"{value} {' '.join(each for each in rest if each != value)}"
    # `mcp__k8s__kubectl_delete` runs kubectl.
    program = tool.replace("_", "-") if is_command(tool.replace("_", "-")) else tool.replace("_", " ")
    if is_command(program):
        yield f"{program} {' '.join(rest)}"
    if tool.startswith(("move", "rename", "mv")) and len(values) > 1:
        yield shlex.join(("mv", *values[:2]))
    address = next((value for value in values if "://" in value), "")
    method = next((value.upper() for value in values if value.upper() in ("POST", "PUT", "PATCH", "DELETE")), "")
    if address and method:
        yield f"curl -X {method}{' -d x' if len(arguments) > 2 else ''} {shlex.quote(address)}"


# -- its name, and the files it writes to -----------------------------------------------------------------------------


def findings(tool: str, inside: list[Mapping[str, Any]], place: WorkingFolder) -> Iterator[Finding]:
    """What the name of a tool implies, and what a file tool writes to; `inside` are the objects in its arguments."""
    words = words_of(tool)
    if not words:
        return
    form = tool_of(tool).form
    if any(value.lower() in _UNCHECKED for value in inside[0].values() if isinstance(value, str)):
        yield Finding("modify_permissions", "starts an agent without its checks", "agent without checks")
    if inside[0].get("command") != "view":
        yield from _file_findings(words, inside, place)
    if form not in _RUNS_NOTHING or form == "meta":
        yield from _name_findings(tool, words, inside[0])


def _name_findings(tool: str, words: tuple[str, ...], given: Mapping[str, Any]) -> Iterator[Finding]:
    # `get_users` looks, `get_and_delete_users` does not.
    if (words[0] in group("looking") and "and" not in words) or words[0] in group("asking"):
        return
    server = frozenset(snake(tool).split("_")) - frozenset(words)
    if "ssh" in server:
        yield Finding("exec_remote", "runs something on another machine", "tool name")
    # `control(action="delete", target="…")`: the value is the verb.
    said = [value.lower() for value in given.values() if isinstance(value, str) and value.isalpha()]
    in_cloud = not group("cloud_servers").isdisjoint((*server, *(word for word in said if word == "seasoned")))
    if in_cloud or any(map(PRODUCTION.compiled.search, said)):
        yield from _in_cloud((*server, *words, *said))
    else:
        acting = (words[0], words[-1], *(after for before, after in pairwise(words) if before == "and"))
        yield from _by_words(words, frozenset(acting), in_cloud=False)


def cloud_findings(program: str, words: tuple[str, ...]) -> Iterator[Finding]:
    """What a command of a cloud or a cluster does, by its own words: `aws rds delete-db-instance`."""
    text = " ".join(words)
    if any(regex(pattern).search(text) for pattern in ("{not_run}", "{development}")) or "sk_test_" in text:
        return
    plain = [word for word in words[:12] if _SUBCOMMAND.compiled.match(word)][:6]
    for found in _in_cloud((program, *(part for word in plain for part in re.split("[:_-]", word)))):
        # Without `--prod` these make a preview; a setting of the tool itself is on this machine.
        is_preview = program in ("vercel", "vc", "now", "netlify", "ntl") and found.action == "deploy_production"
        if not is_preview and plain[:1] not in (["config"], ["configure"], ["login"], ["auth"]):
            yield found


def _in_cloud(words: tuple[str, ...]) -> Iterator[Finding]:
    """What the words say up to one that only looks."""
    # `aws logs delete-log-group`: the word behind the program is a service.
    begins = 2 if words[0] in ("aws", "gcloud", "az") else 0
    looks = next((at for at, word in enumerate(words) if at >= begins and word in group("looking")), len(words))
    yield from _by_words(words, frozenset(words[:looks]), in_cloud=True)


def _by_words(words: tuple[str, ...], acting: frozenset[str], *, in_cloud: bool) -> Iterator[Finding]:
    """The first row that fits: one of the words that act is its verb, and another word its thing."""
    said = frozenset(words)
    for row in NAMES:
        does, alone = acting & row.verbs, in_cloud and acting & row.alone
        if not (does or alone) or said & row.unless:
            continue
        if alone or any(row.things & (said - {verb}) for verb in does) or not (row.things or in_cloud):
            yield Finding(row.action, row.why, "cloud" if in_cloud else "tool name")
            return


def _file_findings(words: tuple[str, ...], inside: list[Mapping[str, Any]], place: WorkingFolder) -> Iterator[Finding]:
    deletes = not _DELETING.isdisjoint(words) or not _DELETING.isdisjoint(_texts(inside[0]))
    if not deletes and _WRITING.isdisjoint(words):
        return
    targets = [(target, deletes) for target in _paths(inside)]
    for text in (each for one in inside for each in one.values() if isinstance(each, str) and "\n" in each):
        found = _PATCHED.compiled.finditer(text[:100_000])
        targets += [(each["path"], each["how"] == "Delete") for each in found]
    for target, is_deleted in targets:
        yield from path.guarded_write(target, place) or path.write_findings(target, place)
        if is_deleted and target.startswith(("/", "~", "..")) and not place.contains(target):
            yield Finding(
                "delete_data", f"deletes {target!r}, which is not inside the working folder", "delete outside"
            )


def _paths(inside: list[Mapping[str, Any]]) -> Iterator[str]:
    """The paths that a file tool is given, also in lists."""
    for arguments in inside:
        for key, value in arguments.items():
            if key in _PATH_KEYS:
                # `source` may also be code, not a path.
                fitting = (each for each in _texts(value) if len(each) < 400 and "\n" not in each)
                yield from (each.removeprefix("file://") for each in fitting)


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


# Arguments that say most about a call, the best first.
_TELLING = ("command", "cmd", "pattern", "query", "file_path", "path", "url", "description", "prompt")
_BRIEF = 200


def brief_of(arguments: str) -> str:
    """Arguments in one line, or only the one that says most."""
    found = _decoded(arguments)
    if not isinstance(found, dict):
        return arguments[:_BRIEF]
    said = next((found[name] for name in _TELLING if found.get(name)), None)
    if isinstance(said, list) and said:  # `bash -lc COMMAND`
        said = said[-1] if len(said) == 3 and said[1] in ("-lc", "-c") else " ".join(map(str, said))
    return (said if isinstance(said, str) else arguments if found else "no arguments")[:_BRIEF]
