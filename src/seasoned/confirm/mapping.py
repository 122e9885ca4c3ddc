"""Which action a shell command or a tool call needs; agent, plugin and hooks all ask here.

It reads what is written. It is no sandbox: a command can hide what it does in a script, a variable or another language.
Nothing found means that nothing known was found. In the working folder and in temporary ones the agent is free.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from seasoned.command.layers import (
    DOWNLOADS,
    HEREDOC,
    INTERPRETERS,
    MOST_CHARACTERS,
    Layer,
    code_in,
    commands_in_code,
    layers,
    name_of_call,
    parse_code,
    piped_into,
    texts_given,
)
from seasoned.command.parse import Step, names, parse
from seasoned.confirm import mapping_path, mapping_sql, mapping_tool
from seasoned.confirm.mapping_finding import Finding
from seasoned.confirm.mapping_path import Place, place_of
from seasoned.confirm.mapping_row import Row
from seasoned.confirm.mapping_table import BY_PROGRAM, DATABASES, GRAVITY
from seasoned.confirm.mapping_table_right import PAYING_HOSTS
from seasoned.lazy_regex import LazyRegex

_SHOWN = 200
_MOST_ARGUMENTS = 4000
_LENGTH = Finding("delete_data", "is longer than can be looked through, so it may do the worst", "length")
"""What nobody has read is treated as what can be undone the least among everyday commands."""
_REDIRECT = LazyRegex(r"(?<![<>&=\-])(?:\d|&)?>{1,2}[|&]?[ \t]*['\"]?(?P<target>[^\s'\"<>|&;()]+)")
_KILLED = r"(?:nginx|httpd|apache2?|postgres|postmaster|mysqld?|redis-server|mongod|dockerd|sshd|seasoned)"
_TEXT_RULES = (
    (
        "DOCKER_HOST",
        LazyRegex(r"\bDOCKER_HOST=['\"]?(?:ssh|tcp)://(?!localhost|127\.)"),
        Finding("exec_remote", "talks to Docker on another machine", "DOCKER_HOST"),
    ),
    (
        "/dev/",
        LazyRegex(r"/dev/(?:tcp|udp)/"),
        Finding("exec_remote", "opens a connection to another machine", "/dev/tcp"),
    ),
    (
        "kill",
        LazyRegex(
            rf"\bkill\b[^;&\n]{{0,80}}(?:pgrep|pidof)\b[^;&\n]{{0,40}}\b{_KILLED}\b|\bkill\b[^;&"
            rf"|\n]{{0,80}}\b{_KILLED}\.pid"
            rf"|\b(?:pgrep|pidof)\b[^;&\n]{{0,40}}\b{_KILLED}\b[^;&\n]{{0,40}}\bkill\b"
        ),
        Finding("shutdown_service", "stops a service that others may be using", "kill of a service"),
    ),
)
"""A word without which the pattern finds nothing, the pattern, and what it finds."""
_FROM_FILE = LazyRegex(r"(?<![<\d])<(?![<(&])[ \t]*(?!/dev/null)[^\s<>|&;]+")
_SERVERS = names("psql mysql mariadb sqlcmd cockroach")
_MODULE_RUNNERS = names("npm pnpm yarn bun corepack")
_RUN_WORDS = names("exec dlx x")
_REQUEST = names("post put patch delete request urlopen Request")
_SQL_CALLS = names("execute executescript executemany exec_driver_sql text raw query run_sql sql read_sql")
_WRITING = names("write_text write_bytes")
_DELETING = names("rmtree removedirs remove unlink rmdir")
_WIPING_CALLS = names(
    "drop_all drop_database flushall flushdb dropDatabase delete_db_instance delete_db_cluster drop_collection"
)
_CLOUD_CALLS = names("delete_bucket terminate_instances delete_objects delete_table delete_volume delete_stack")
_CODE_PATH = LazyRegex(
    r"\b(?:rmSync|rmdirSync|rm_rf|rm_r|rmtree|unlinkSync|unlink|remove_dir_all)\s*\(?\s*['\"]([^'\"]+)['\"]"
)


class Need(msgspec.Struct, frozen=True):
    """The action that a person must decide about, in words and with exactly what would be done."""

    action: str
    description: str
    details: dict[str, Any]
    row: str
    """The row of the table, or the rule, that found it."""


def need_of_command(command: str, *, folder: object = None) -> Need | None:
    """The action that a shell command needs; None where none is known. `folder` is where it runs. It never raises."""
    found = findings_in_command(command, place_of(folder))
    details: dict[str, Any] = {"command": command}
    if folder is not None:
        details["folder"] = str(folder)
    return _need(found, command, details)


def need_of_call(tool: str, arguments: Mapping[str, Any], *, agent: str = "", folder: object = None) -> Need | None:
    """The action that a tool call needs, by the commands, code and SQL in it and by its name. It never raises."""
    given = arguments if isinstance(arguments, Mapping) else {}
    found = findings_in_call(tool, given, place_of(folder if folder is not None else mapping_tool.folder_in(given)))
    if not found:
        return None
    details: dict[str, Any] = {"tool": tool, "arguments": dict(given)}
    if agent:
        details["agent"] = agent
    return _need(found, mapping_tool.shown(tool, given), details)


def findings_in_call(tool: str, arguments: Mapping[str, Any], place: Place) -> list[Finding]:
    """Everything that a tool call needs, in the order in which it stands there."""
    found: list[Finding] = [*mapping_tool.findings(tool, arguments, place)]
    for kind, text in mapping_tool.texts(tool, arguments):
        if kind in ("command", "typed"):
            found += findings_in_command(text, place)
        if kind in ("sql", "typed"):
            found += mapping_sql.findings(text) if len(text) <= MOST_CHARACTERS else [_LENGTH]
        if kind == "code":
            found += findings_in_code(text, place)
    return found


def findings_in_command(command: str, place: Place) -> list[Finding]:
    """Everything that a shell command needs, in the order in which it stands there."""
    if len(command) > MOST_CHARACTERS:
        return [_LENGTH]
    return [found for layer in layers(command) for found in _of_layer(layer, place)]


def findings_in_code(code: str, place: Place) -> list[Finding]:
    """Everything that a piece of code needs, as far as it stands in it as text."""
    if len(code) > MOST_CHARACTERS:
        return [_LENGTH]
    inner = [found for command in commands_in_code(code) for found in findings_in_command(command, place)]
    return [*inner, *_of_code(code, place)]


def gravity(found: Finding) -> int:
    """How far from the worst it is: what can be undone the least comes first."""
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


def _of_layer(layer: Layer, place: Place) -> Iterator[Finding]:
    if layer.unread:
        yield Finding("delete_data", "holds more commands than can be looked through", "length")
    downloads = bool(layer.substitutions) and any(
        step.program in DOWNLOADS for inner in layer.substitutions for step in parse(inner)
    )
    for at, step in enumerate(layer.steps):
        before = piped_into(layer.steps, at)
        given = texts_given(layer, before)
        for each in _readings(step):
            yield from _of_rows(each)
            yield from mapping_path.findings(each, before, place)
        if step.program in DATABASES:
            yield from _of_database(step, before, given, layer.text)
        if step.program in INTERPRETERS:
            code = code_in(step)
            if any(each.program in DOWNLOADS for each in before) or (
                downloads and (code is None or "$(" in layer.text)
            ):
                yield Finding("exec_remote", "runs what it downloads from another machine", "curl | sh")
            for text in [code] if code is not None else given:
                yield from _of_code(text, place)
        if _runs_decoded(step, before, layer):
            yield Finding("delete_data", "runs what it decodes, which nobody has read", "decoded")
        place = place.gone_to(step)
    for word, text_rule, finding in _TEXT_RULES:
        if word in layer.text and text_rule.compiled.search(layer.text) and not _only_shows(layer.steps):
            yield finding
    if ">" in layer.text:
        for found in _REDIRECT.compiled.finditer(_unquoted(HEREDOC.sub("\n", layer.text))):
            yield from mapping_path.written(found["target"], place)


def _runs_decoded(step: Step, before: tuple[Step, ...], layer: Layer) -> bool:
    """Whether a shell is given what another program decodes: no reason but to hide it."""
    if step.program not in INTERPRETERS and step.program not in _EVALUATES:
        return False
    if any(_decodes(each) for each in before):
        return True
    said = zip(("", *step.words), step.words, strict=False)
    run = [word for option, word in said if step.program in _EVALUATES or re.fullmatch(r"-\w*[ce]", option)]
    is_substitution = "<(" in layer.text or any(word.lstrip().startswith(("$(", "`")) for word in run)
    return is_substitution and any(_decodes(each) for inner in layer.substitutions for each in parse(inner))


def _decodes(step: Step) -> bool:
    return (step.program in _DECODERS and bool(_DECODING.compiled.search(" ".join(step.words)))) or (
        step.program == "openssl" and step.sub in ("enc", "base64") and "-d" in step.words
    )


_EVALUATES = names("eval source .")
_DECODERS = names("base64 base32 xxd uudecode")
_DECODING = LazyRegex(r"(?:^| )(?:-\w*[dDr]\w*|--decode|--revert)(?= |$)")
_QUOTED = LazyRegex(r"'[^']*'|\"(?:\\.|[^\"\\])*\"")
_SHOWING = names("echo printf grep rg egrep cat less head tail sed awk git ag ack")


def _unquoted(text: str) -> str:
    """The text without what is quoted, but for words that may be the target of a redirection."""
    return _QUOTED.compiled.sub(lambda found: found[0][1:-1] if not re.search(r"[\s>]", found[0]) else '""', text)


def _only_shows(steps: tuple[Step, ...]) -> bool:
    return bool(steps) and all(step.program in _SHOWING for step in steps)


def _readings(step: Step) -> Iterator[Step]:
    """A step, and the program that it runs by another name: `python -m twine`, `yarn prisma`, `bash deploy.sh`."""
    program = step.program.removesuffix(".exe").removesuffix(".cmd")
    program = program if program in BY_PROGRAM else re.sub(r"(?<=\D)\d(?:\.\d+)?\Z|(?<=python3)\.\d+\Z", "", program)
    if program not in BY_PROGRAM and program.lower() in BY_PROGRAM:
        program = program.lower()
    yield step if program == step.program else msgspec.structs.replace(step, program=program)
    words = step.words
    if step.program in INTERPRETERS or program.startswith("python"):
        if "-m" in words[:-1]:
            at = words.index("-m") + 1
            yield Step(step.join, words[at], words[at + 1 :])
        elif step.sub and code_in(step) is None and "-c" not in words:
            yield _as_program(step, words.index(step.sub))
    elif program in _MODULE_RUNNERS and step.sub:
        at = words.index(step.sub)
        at += step.sub in _RUN_WORDS
        rest = [position for position in range(at, len(words)) if not words[position].startswith("-")]
        if rest:
            yield _as_program(step, rest[0])


def _as_program(step: Step, at: int) -> Step:
    return Step(step.join, step.words[at].rsplit("/", 1)[-1], step.words[at + 1 :])


def _of_rows(step: Step) -> Iterator[Finding]:
    rows = BY_PROGRAM.get(step.program)
    if not rows:
        return
    texts = [_short(step.words)]
    sub = step.sub
    if sub and step.words[0] != sub:
        at = step.words.index(sub)
        texts.append(_short(step.words[at:]))
        if "=" not in step.words[at - 1]:
            # An option whose value looks like the subcommand: the word behind it may be the real one.
            texts.append(_short(step.words[at + 1 :]))
    for row in rows:
        if _fits(row, texts):
            yield Finding(row.action, row.why, row.name)


def _short(words: tuple[str, ...]) -> str:
    # Patterns of the table may look at a text once for each of its characters, so it must not be long.
    text = " ".join(words)
    return text if len(text) <= _MOST_ARGUMENTS else f"{text[: _MOST_ARGUMENTS - 1000]} {text[-1000:]}"


def _fits(row: Row, texts: list[str]) -> bool:
    if row.unless is not None and any(map(row.unless.compiled.search, texts[:2])):
        return False
    return row.words is None or any(map(row.words.compiled.search, texts))


def _of_database(step: Step, before: tuple[Step, ...], given: tuple[str, ...], text: str) -> Iterator[Finding]:
    spoken = [word for word in step.words if " " in word or "(" in word]
    joined = " ".join(step.words)
    for each in (*spoken, *given, *(() if spoken else (joined,))):
        yield from mapping_sql.findings(each)
    unseen = before and not any(each.program in ("echo", "printf") for each in before)
    if step.program in _SERVERS and not given and (_FROM_FILE.compiled.search(text) or (unseen and not spoken)):
        yield Finding("migrate_database", "runs SQL that was not looked into", "unseen SQL")


def _of_code(code: str, place: Place) -> Iterator[Finding]:
    tree = parse_code(code)
    if tree is None:
        for path in _CODE_PATH.compiled.findall(code):
            if not place.holds(path):
                yield Finding(
                    "delete_data", f"deletes {path!r}, which is not inside of the working folder", "code: delete"
                )
        if re.search(r"\.(?:query|execute|exec|run)\s*\(", code):
            yield from mapping_sql.findings(code)
        return
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = name_of_call(node)
        texts = [each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Call):
            inner = node.func.value
            texts += [
                each.value for each in inner.args if isinstance(each, ast.Constant) and isinstance(each.value, str)
            ]
        yield from _of_code_call(name, texts, place)
        if name in _WRITING or (name == "open" and len(texts) > 1 and set("wax+") & set(texts[1])):
            yield from (found for text in texts for found in mapping_path.written(text, place))


def _of_code_call(name: str, texts: list[str], place: Place) -> Iterator[Finding]:
    if name in _WIPING_CALLS:
        yield Finding("wipe_database", "drops or empties a database", f"code: {name}")
    if name in _CLOUD_CALLS:
        yield Finding("delete_data", "deletes what lies in a cloud", f"code: {name}")
    for text in texts:
        if name in _DELETING and text.startswith(("/", "~", "..")) and not place.holds(text):
            yield Finding(
                "delete_data", f"deletes {text!r}, which is not inside of the working folder", f"code: {name}"
            )
        if name in _SQL_CALLS:
            yield from mapping_sql.findings(text)
        if name in _REQUEST and _PAYING.compiled.search(text) and not _PLAY.compiled.search(text):
            yield Finding("transfer_funds", "moves money", f"code: {name}")


_PAYING = LazyRegex(PAYING_HOSTS)
_PLAY = LazyRegex(r"sandbox|//(?:localhost|127\.0\.0\.1|\[::1\])")
