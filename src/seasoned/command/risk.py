"""The questions that every part asks about a command or tool call.

- Which of the ten actions that need a person is it? (`need_of_command`, `need_of_call`)
- Does it only look? (`only_looks`)

What may be shown to another session is another question: see `shown.py`. The answers come from one table; see
`danger_table.py` and docs/design/command.md. They only read text and are not a
sandbox: a command can hide what it does in a script, a variable or another program.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import msgspec

from seasoned.command import call, code, guard, path
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
from seasoned.command.parse import HEREDOC, Step, names, parse, without_bodies
from seasoned.command.path import WorkingFolder, working_folder
from seasoned.command.rows import CommandRow, Finding, group, regex, rows_by_program
from seasoned.command.target import Target, assignments, in_production, target_of
from seasoned.lazy_regex import LazyRegex

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
# `yarn prisma migrate` runs prisma.
_MODULE_RUNNERS = names("npm pnpm yarn bun corepack")
_RUN_WORDS = names("exec dlx x")
_SPEAKING = names("echo printf tee")
_DELETERS = names("rm unlink shred rmdir")
# With these `ssh` runs no command, or git's.
_NO_SHELL = names("-N -fN -Nf -V -G -Q -O")
_EVALUATES = names("eval source .")
_DECODERS = names("base64 base32 xxd uudecode")
_DECODING = LazyRegex(r"(?:^| )(?:-\w*[dDr]\w*|--decode|--revert)(?= |$)")
# How a substitution begins in a word: as the parser leaves it, and within double quotes.
_SUBSTITUTED = ("$()", "$(", "`", "<(")
_QUOTED = LazyRegex(r"'[^']*'|\"(?:\\.|[^\"\\])*\"")


def assess_command(command: str, place: WorkingFolder) -> list[Finding]:
    """Everything found in a shell command, in the order of the text."""
    if len(command) > MOST_CHARACTERS:
        return [_TOO_LONG]
    return [found for layer in layers(command) for found in _layer_findings(layer, place)]


def assess_code(text: str, place: WorkingFolder) -> list[Finding]:
    """Everything found in a piece of code, and in the commands that it hands to a shell."""
    if len(text) > MOST_CHARACTERS:
        return [_TOO_LONG]
    commands = [*commands_in_code(text), *code.shell_lines(text)]
    found = [each for command in commands for each in assess_command(command, place)]
    return [*found, *code.findings(text, place)]


def assess_call(tool: str, arguments: Mapping[str, Any], place: WorkingFolder) -> list[Finding]:
    """Everything found in a tool call: what its name says, and the commands, code and SQL in it."""
    inside, complete = call.packed(tool, arguments)
    found: list[Finding] = [*call.findings(tool, inside, place)]
    if not complete:
        found.append(_TOO_MANY)
    left = MOST_SUM
    for kind, text in (each for one in inside for each in call.texts(tool, one)):
        left -= len(text)
        if left < 0:
            return [*found, _TOO_MANY]
        if kind in ("command", "typed"):
            found += assess_command(text, place)
        if kind in ("sql", "typed"):
            found += code.sql_findings(text) if len(text) <= MOST_CHARACTERS else [_TOO_LONG]
        if kind == "code":
            found += assess_code(text, place)
    return found


def _layer_findings(layer: Layer, place: WorkingFolder) -> Iterator[Finding]:
    if layer.unread:
        yield _TOO_MANY
    if layer.host:
        place = WorkingFolder(host=layer.host)
    assigned = assignments(layer.text)
    for at, step in enumerate(layer.steps):
        before = piped_into(layer.steps, at)
        found: list[Finding] = []
        for each in _readings(step):
            target = target_of(each, place, assigned)
            found += _row_findings(each, target)
            found += path.findings(each, before, place)
            found += guard.findings(each, place)
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
    if any(step.program in group("downloads") for step in layer.steps) and _runs_download(layer.steps):
        yield _DOWNLOADED
    if "seasoned" in layer.text and _AS_SERVICE.compiled.search(without_bodies(layer.text)):
        yield _SERVICE
    if ">" in layer.text:
        for redirected in _REDIRECT.compiled.finditer(_without_quotes(HEREDOC.compiled.sub("\n", layer.text))):
            yield from path.written(redirected["target"], place)
            yield from guard.changed(redirected["target"], place)


def _input_findings(step: Step, before: tuple[Step, ...], layer: Layer, place: WorkingFolder) -> Iterator[Finding]:
    """What a shell, another interpreter or another machine is given to read."""
    if step.program in group("interpreters") or step.program in group("code_programs"):
        inline = code_in(step)
        run = _output_run(step, inline, before, layer)
        if any(each.program in group("downloads") for each in run):
            yield _DOWNLOADED
        if any(map(_decodes, run)):
            yield _DECODED
        for text in [inline] if inline is not None else texts_given(layer, before):
            yield from code.findings(text, place, step.program)
    # `cat setup.sh | sh` runs a file, as `sh setup.sh` does, and a download has its own rule.
    seen = (*_SPEAKING, "cat", *group("downloads"))
    is_fed = any(each.program not in seen for each in before)
    if step.program in group("shells") and not is_script(step) and is_fed:
        yield _UNSEEN
    if (
        "xargs" in step.behind
        and step.program in _DELETERS
        and (_FROM_FILE.compiled.search(layer.text) or _is_file(before))
    ):
        yield _UNSEEN
    if step.program == "ssh" and _is_unseen_there(step, before, layer):
        yield _UNSEEN_THERE


def _output_run(step: Step, inline: str | None, before: tuple[Step, ...], layer: Layer) -> list[Step]:
    """The programs whose output a shell or an interpreter runs: `curl … | sh`, `eval "$(…)"`, `bash <(…)`."""
    # `python3 -c …` takes its input as data.
    found = list(before) if inline is None and reads_program(step) else []
    options = (word for option, word in pairwise(step.words) if option.endswith("c"))
    words = step.words if step.program in _EVALUATES else (step.sub, inline or "", *options)
    if any(word.lstrip(' "').startswith(_SUBSTITUTED) for word in words):
        found += [one for text in layer.substitutions for one in parse(text)]
    return found


def _is_file(before: tuple[Step, ...]) -> bool:
    """Whether what is piped is a file that was not seen: `cat list | xargs rm`."""
    return bool(before) and before[0].program == "cat"


def _is_unseen_there(step: Step, before: tuple[Step, ...], layer: Layer) -> bool:
    """Whether `ssh` opens a shell that is typed into, or that reads something which is not written here."""
    reached = on_host(step)
    if reached is None or reached[0].startswith("git@") or not _NO_SHELL.isdisjoint(step.words):
        return False
    inner = parse(reached[1])
    reads = not inner or (inner[0].program in group("shells") and not is_script(inner[0]))
    return reads and not texts_given(layer, before)


def _runs_download(steps: tuple[Step, ...]) -> bool:
    """Whether a file is downloaded and then run: `curl -o i.sh URL && sh i.sh`."""
    fetched = {word.rsplit("/", 1)[-1] for step in steps if step.program in group("downloads") for word in step.words}
    fetched |= {"./" + name for name in fetched}
    return any(
        (step.sub.rsplit("/", 1)[-1] in fetched and step.program in group("interpreters"))
        or (step.program in fetched and bool(step.prefix) and step.prefix[-1].endswith("/"))
        for step in steps
    )


def _decodes(step: Step) -> bool:
    return (step.program in _DECODERS and bool(_DECODING.compiled.search(" ".join(step.words)))) or (
        step.program == "openssl" and step.sub in ("enc", "base64") and "-d" in step.words
    )


def _without_quotes(text: str) -> str:
    """The text without what is quoted, except for words that may be the target of a redirection."""
    return _QUOTED.compiled.sub(lambda found: found[0][1:-1] if not re.search(r"[\s>]", found[0]) else '""', text)


def _readings(step: Step) -> Iterator[Step]:
    """A step, and the program that it runs by another name: `python -m twine`, `yarn prisma`, `bash deploy.sh`."""
    known = rows_by_program()
    program = step.program.removesuffix(".exe").removesuffix(".cmd")
    program = program if program in known else re.sub(r"(?<=\D)\d(?:\.\d+)?\Z|(?<=python3)\.\d+\Z", "", program)
    if program not in known and program.lower() in known:
        program = program.lower()
    yield step if program == step.program else msgspec.structs.replace(step, program=program)
    words = step.words
    if "@" in program[1:]:  # `npx rimraf@5`
        yield msgspec.structs.replace(step, program=program[: program.index("@", 1)])
    if step.program in group("interpreters") or program.startswith("python"):
        if "-m" in words[:-1]:
            at = words.index("-m") + 1
            own = "seasoned" if words[at].startswith("seasoned.") else words[at]
            yield Step(step.join, own, words[at + 1 :])
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


def _row_findings(step: Step, target: Target) -> Iterator[Finding]:
    rows = [row for row in rows_by_program().get(step.program, ()) if target != "here" or not row.only_elsewhere]
    # What runs a task or a script passes its options on.
    if "--help" in step.words and step.program not in group("task_runners") | group("interpreters"):
        return
    if step.program in group("clouds"):
        yield from call.cloud_findings(step.program, step.words)
    if rows:
        texts = [_joined(step.words)]
        sub = step.sub
        if sub and step.words[0] != sub:
            at = step.words.index(sub)
            texts.append(_joined(step.words[at:]))
            if "=" not in step.words[at - 1]:
                # An option whose value looks like the subcommand: the word behind it may be the real one.
                texts.append(_joined(step.words[at + 1 :]))
        yield from (_found(row) for row in rows if _matches(row, texts))


def _joined(words: tuple[str, ...]) -> str:
    # A blank inside a word does not separate words (`git commit -m "no --force"`); `\s` still finds it.
    # Patterns may look at a text once for each of its characters, so it must not be long.
    text = " ".join([word.replace(" ", "\x1f") for word in words])
    return text if len(text) <= _MOST_ARGUMENTS else f"{text[: _MOST_ARGUMENTS - 1000]} {text[-1000:]}"


def _matches(row: CommandRow, texts: list[str]) -> bool:
    # In this order: hardly any row matches, and what excuses it need not be compiled then.
    if row.words and not any(map(regex(row.words).search, texts)):
        return False
    return not (row.unless and any(map(regex(row.unless).search, texts[:2])))


def _found(row: CommandRow) -> Finding:
    return Finding(row.action, row.why, row.name)


def _database_findings(step: Step, before: tuple[Step, ...], given: tuple[str, ...], text: str) -> Iterator[Finding]:
    statements = [word for word in step.words if " " in word or "(" in word]
    for each in (*statements, *given, *(() if statements else (" ".join(step.words),))):
        yield from code.sql_findings(each)
    unseen = before and not any(each.program in ("echo", "printf") for each in before)
    if step.program in _SQL_SERVERS and not given and (_FROM_FILE.compiled.search(text) or (unseen and not statements)):
        yield _UNSEEN_SQL


_SHOWN = 200
# Which action is asked for where several are found: the one that is hardest to undo comes first.
GRAVITY = (
    "wipe_database",
    "transfer_funds",
    "delete_data",
    "rotate_keys",
    "modify_permissions",
    "deploy_production",
    "migrate_database",
    "shutdown_service",
    "publish_package",
    "exec_remote",
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
    found = assess_command(command, working_folder(folder))
    details: dict[str, Any] = {"command": command}
    if folder is not None:
        details["folder"] = str(folder)
    return _need(found, command, details)


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
