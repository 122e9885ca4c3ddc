"""Which calls a person should be asked about. Shown as an example, such a call would look approved.

The line: what changes one record that the call names by its id, and whose tool checks it, is a convention to learn
(`cancel_pending_order`). What destroys, moves money, changes rights, runs elsewhere or reaches everyone is not, nor
is a call that answers for the person (`confirm: true`). A call in doubt is left out: others show the convention.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any

from seasoned.command.parse import Step, names, parse
from seasoned.command.tool import command_of, tool_of
from seasoned.lazy_regex import LazyRegex
from seasoned.session import ToolCall
from seasoned.template import risk_table as table

_MOST_INNER = 60
"""A command with more commands inside of it is not looked through; it is risky."""
_SUFFIXES = 10
_SHELLS = names("sh bash zsh dash ksh fish ash busybox")
_INTERPRETERS = _SHELLS | names("python python2 python3 perl ruby node php source .")
_DOWNLOADS = names("curl wget fetch aria2c http https xh")
_WRAPPERS = names(
    "env xargs timeout gtimeout nice stdbuf nohup exec command setsid ionice watch parallel flock script chroot unshare"
    " strace time entr trap docker podman kubectl caffeinate systemd-run"
)
"""Programs that run what stands behind them; which word that is depends on their options."""
_MISREAD = LazyRegex(r"(?<![\w./-])(?:/[\w./-]*/)?(env|xargs|timeout|gtimeout|nice|stdbuf)(?=\s)")
"""Wrappers behind whose options the reader of commands may take a value for the program."""
_AS_ROOT = LazyRegex(r"(?<![\w./-])(?:sudo|doas)\s")
_SUBSTITUTED = LazyRegex(r"[$<>]\(|`")
_OVERWRITES = LazyRegex(r">\s*(?:/etc/|/usr/|/bin/|/boot/|/sys/|/proc/|/dev/(?!null|std|tty|fd))")
_WITH_ORDERS = names("git gh glab hub")
"""Programs whose first word that is no option says what they do."""
_RUNS_FOUND = names("-exec -execdir -ok -okdir -x -X --exec --exec-batch")
_RUN_TEXT = LazyRegex(r"-[a-zA-Z]*[ceES]\Z|--(?:command|eval|split-string)\Z")

_CODE = LazyRegex(
    r"""rmtree|\bunlink\w*\(|\.rmdir\(|\bos\.(?:remove|rmdir|removedirs|system|popen|exec|spawn|kill|truncate|chmod|chown)
    |\bsubprocess\b|\bPopen\b|\bpty\.|child_process|\b(?:exec|spawn)(?:Sync|File)?\(|\beval\(|__import__|\bctypes\b
    |\bfs\.(?:rm|unlink|rmdir|truncate)|\b(?:rm|unlink|rmdir)Sync|rimraf|Deno\.(?:remove|run|Command)|FileUtils\.rm
    |File\.delete|\.(?:post|put|patch|delete|delete_many|deleteMany|drop|drop_all|drop_table|dropDatabase|truncate)\(
    |\bmethod\s*[=:]\s*['"](?:POST|PUT|PATCH|DELETE)|\.request\(\s*['"](?:POST|PUT|PATCH|DELETE)|\bdata=.{0,40}urlopen
    |urlopen\([^)]{0,200}\bdata=|\b(?:smtplib|paramiko|fabric|telnetlib|ftplib)\b|\bsocket\.""",
    re.VERBOSE,
)
"""What code deletes, sends, or hands to a shell."""
_LITERAL = LazyRegex(r"""(['"`])((?:\\.|(?!\1)[^\\\n]){3,400})\1""")
_SHELL_LINE = LazyRegex(r"(?m)^\s*(?:(?:!|%sx |%system )(.+)|%%(?:bash|sh|script)\b[^\n]*\n((?s:.+)))")
_DELETES_FILE = LazyRegex(r"(?m)^\*\*\* Delete File: ")

_PART = LazyRegex(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_LOOKING = names(
    "get list read show view search find fetch describe check query lookup count status history preview plan validate"
    " calculate estimate explain is has can inspect test simulate dry draft suggest compare"
)
_ALWAYS = names(
    "delete wipe purge destroy erase nuke shred shutdown poweroff deploy publish unpublish migrate grant revoke"
    " terminate kill approve authorize authorise impersonate sudo ssh withdraw payout pay charge"
)
_THINGS = names(
    "service services server servers host hosts machine machines instance instances node nodes cluster clusters vm pod"
    " container containers database databases db system process processes production prod"
)
_DATA = names(
    "data database databases db table tables schema index column collection bucket buckets volume volumes disk drive"
    " partition repo repository branch backup backups account accounts user users file files folder directory logs all"
)
_RIGHTS = names(
    "permission permissions role roles acl policy access admin owner ownership privilege privileges iam firewall"
    " credential credentials password passwords secret secrets key keys token tokens certificate certificates mfa auth"
    " protection"
)
_MONEY = names("fund funds money cash crypto coin coins asset assets balance salary")
_PACKAGE = names("package packages version production git branch commit commits tag crate gem")
_BY_OBJECT: tuple[tuple[frozenset[str], frozenset[str]], ...] = (
    (names("drop truncate clear empty flush remove reset format overwrite restore"), _DATA),
    (names("shut power stop restart reboot start scale drain disable halt"), _THINGS | names("down off")),
    (names("modify update change set add assign edit rotate disable remove reset create regenerate renew"), _RIGHTS),
    (names("transfer wire send move"), _MONEY),
    (names("make process"), names("payment payments")),
    (names("release push upload promote rollback ship"), _PACKAGE),
    (names("push"), names("image images")),
    (names("exec execute run"), names("remote remotely")),
    (names("merge"), names("pull pr branch mr")),
    (names("create"), names("release")),
)
"""Verbs that are risky with these things only: `remove_from_cart` and `transfer_to_human_agents` are not."""
_BOUND_TO_A_RECORD = names("refund")
_ID = LazyRegex(r"(?i)(?:\A|[a-z_-])(?:id|number|no|ref|reference|key|code)\Z")
_ANSWERS = names(
    "force forced confirm confirmed confirmation yes assume_yes auto_approve auto_confirm approved skip_confirmation"
    " skip_checks no_confirm no_verify override permanent permanently hard hard_delete purge bypass privileged"
    " i_understand acknowledge_risk"
)
_NO = names("false no 0 none off n") | {""}
_PLACES = names("env environment stage target cluster deployment tier")
_COMMANDS = names("command cmd commands shell bash script shell_command command_line chars input exec argv")
_CODES = names("code source script program snippet expression python javascript js cell")
_STATEMENTS = names("sql statement statements query")
_VERBS = names("post put patch delete")


def is_risky_call(tool: str, arguments: Mapping[str, Any]) -> bool:
    """Whether a call, of whatever tool, is one that a person should be asked about."""
    given = dict(arguments)
    speech = tool_of(tool).form
    command = command_of(ToolCall("", tool, given))
    if command is not None:
        return is_risky(command)
    if speech in ("file_read", "search", "web"):
        return False
    if speech == "file_write":
        return _is_risky_name(tool, given) or any(_DELETES_FILE.compiled.search(text) for text in _texts(given))
    if speech == "python":
        return any(is_risky_code(text) for text in _texts(given))
    if any(is_risky(text) for text in _named(given, _COMMANDS)) or any(map(is_risky_code, _named(given, _CODES))):
        return True
    if any(table.SQL.compiled.search(text) for text in _named(given, _STATEMENTS)):
        return True
    return _is_risky_name(tool, given) or _answers_for_the_person(given) or _is_sent(tool, given)


def _is_risky_name(tool: str, given: Mapping[str, Any]) -> bool:
    """What the words of the tool's own name say: `mcp__crm__delete_data` deletes, `get_refund_policy` looks."""
    own = re.split(r"__|[./:]", tool.strip("_"))[-1]
    words = [word.lower() for word in _PART.compiled.findall(own)]
    if not words or (words[0] in _LOOKING and "and" not in words):
        return False
    said = set(words)
    if said & _ALWAYS or any(said & verbs and said & things for verbs, things in _BY_OBJECT):
        return True
    # Money that goes back for one thing is bound to it; without its id nothing bounds it.
    return bool(said & _BOUND_TO_A_RECORD) and not any(_ID.compiled.search(name) for name in given)


def _answers_for_the_person(given: Mapping[str, Any]) -> bool:
    """Whether the call says yes to a question that its tool would ask."""
    return any(
        _snake(name) in _ANSWERS and str(value).strip().lower() not in _NO and not isinstance(value, dict | list)
        for name, value in given.items()
    )


def _is_sent(tool: str, given: Mapping[str, Any]) -> bool:
    """Whether a call changes something by HTTP, or something that is live."""
    words = _PART.compiled.findall(tool.rsplit("__", 1)[-1])
    if str(given.get("method", "")).lower() in _VERBS:
        return True
    is_looking = bool(words) and words[0].lower() in _LOOKING
    return not is_looking and any(table.LIVE.compiled.match(text) for text in _named(given, _PLACES))


def _snake(name: str) -> str:
    return "_".join(word.lower() for word in _PART.compiled.findall(name))


def _named(given: Mapping[str, Any], wanted: frozenset[str]) -> Iterator[str]:
    for name, value in given.items():
        if _snake(name) in wanted:
            yield from [" ".join(map(str, value))] if isinstance(value, list) else _texts(value)


def _texts(value: Any, depth: int = 6) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list) and depth:
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item, depth - 1)


def is_risky_code(code: str) -> bool:
    """Whether a piece of code deletes, sends, or runs commands; also commands that it only holds as texts."""
    if _CODE.compiled.search(code) or table.SQL.compiled.search(code):
        return True
    shell = (found.group(1) or found.group(2) for found in _SHELL_LINE.compiled.finditer(code))
    held = (found.group(2) for found in _LITERAL.compiled.finditer(code) if " " in found.group(2))
    return any(is_risky(text) for text in shell) or any(is_risky(text) for text in held)


@lru_cache(maxsize=4096)
def is_risky(command: str) -> bool:
    """Whether a shell command is one that a person should be asked about, or holds one that is."""
    return _is_risky(command, set())


def _is_risky(command: str, seen: set[str]) -> bool:
    if command in seen:
        return False
    seen.add(command)
    if len(seen) > _MOST_INNER or _AS_ROOT.compiled.search(command) or _OVERWRITES.compiled.search(command):
        return True
    steps = parse(_MISREAD.compiled.sub(r"\1_", command))
    if _runs_downloads(steps) or (
        any(step.program in table.DATABASES for step in steps) and table.SQL.compiled.search(command)
    ):
        return True
    for step in steps:
        if _is_risky_step(step) or any(_is_risky(inner, seen) for inner in _inner(step)):
            return True
    return any(_is_risky(inner, seen) for inner in _substituted(command))


def _runs_downloads(steps: tuple[Step, ...]) -> bool:
    """Whether what one program fetched flows into one that runs it, or anything into a shell."""
    fetched = False
    for before, step in pairwise((Step("", "", ()), *steps)):
        fetched = step.join == "|" and (fetched or before.program in _DOWNLOADS)
        if (fetched and step.program in _INTERPRETERS) or (step.join == "|" and step.program in _SHELLS):
            return True
    return False


def _is_risky_step(step: Step) -> bool:
    program, given = step.program, list(step.words)
    if program.startswith("python") and "-m" in given[:-1]:
        at = given.index("-m")
        program, given = given[at + 1], given[at + 2 :]
    elif program in _WITH_ORDERS and step.sub in given:
        given = given[given.index(step.sub) :] + given[: given.index(step.sub)]
    words = "\n".join(word.replace("\n", " ") for word in given)
    if any(program in row.programs and _fits(row, words) for row in table.ROWS):
        return True
    if table.SCRIPTS.compiled.search(program) or (
        program in _INTERPRETERS and any(table.SCRIPTS.compiled.search(word) for word in given[:3])
    ):
        return True
    if program in table.READERS:
        return False
    plain = [word for word in given if not word.startswith("-")]
    if program in table.TASK_RUNNERS and any(table.OUTWARD.compiled.match(word) for word in plain):
        return True
    ships = not table.SHIPS.isdisjoint(plain[:3]) and any(table.LIVE.compiled.match(word) for word in given)
    return ships or not table.DESTROYS.isdisjoint(plain[:3]) or bool(table.ANYWHERE.compiled.search(words))


def _fits(row: table.Row, words: str) -> bool:
    if row.words is not None and not row.words.compiled.search(words):
        return False
    return row.unless is None or not row.unless.compiled.search(words)


def _inner(step: Step) -> Iterator[str]:
    """Commands that stand in the words of another one."""
    program, words = step.program.rstrip("_"), step.words
    if " " in program:
        yield program
    if program in _SHELLS | _WRAPPERS:
        for at in range(min(len(words), _SUFFIXES)):
            if not words[at].startswith("-") or program in _SHELLS:
                yield " ".join(words[at:])
                yield words[at]
    for at, word in enumerate(words[:-1]):
        if word in _RUNS_FOUND:
            yield " ".join(words[at + 1 :])
        elif program in _INTERPRETERS - _SHELLS and _RUN_TEXT.compiled.match(word) and is_risky_code(words[at + 1]):
            yield "eval"


def _substituted(command: str) -> Iterable[str]:
    """What stands behind every `$(`, `<(` and backtick, to its end or beyond: too much is better than too little."""
    for found in _SUBSTITUTED.compiled.finditer(command):
        rest = command[found.end() :]
        end = rest.find("`") if found.group() == "`" else _closing(rest)
        yield (rest if end < 0 else rest[:end]).strip()


def _closing(text: str) -> int:
    depth = 1
    for at, sign in enumerate(text):
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if depth == 0:
            return at
    return -1
