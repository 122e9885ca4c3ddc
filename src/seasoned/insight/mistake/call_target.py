"""What a call was meant to do, so that a later call can be recognised as another attempt."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any

import msgspec

from seasoned.command.parse import Step, deciding, names, parse
from seasoned.command.tool import command_of, output_form
from seasoned.command.translate import argument, argument_names
from seasoned.insight.mistake.similarity import (
    CUT,
    IDS,
    alike,
    closeness,
    flat,
    identifies,
    leaves,
    letters,
    nearly,
    share,
)
from seasoned.insight.track import JudgedCall, decode_arguments
from seasoned.lazy_regex import LazyRegex
from seasoned.session import ToolCall

REMEMBERED = 2048  # calls, and pairs of calls, about which is remembered what was found out
_LONG_CHARS = 4000
_PATTERN_NAMES = ("pattern", "query", "regex", "glob", "search_term", "Query", "q")
# Arguments about how a call is made: that two calls share them means nothing.
MANNER = names(
    "timeout timeout_ms yield_time_ms max_output_tokens justification run_in_background limit offset explanation"
    " with_escalated_permissions output_mode head_limit -n -A -B -C -i"
)
PATCHED = LazyRegex(r"^\*\*\* (?:Update|Add|Delete) File: (.{1,400})$", re.MULTILINE)
# Programs that prepare or report: a later call that repeats only these is not another attempt.
SCENERY = names(
    "cd pushd popd echo printf export set unset sleep true : pwd source . test [ [[ wait mkdir which type command read"
    " return exit local declare trap date"
)
# Programs whose first argument is an operand, not a subcommand.
OPERAND_FIRST = names(
    "cat ls rg grep egrep fgrep ag ack sed awk gawk find fd cp mv rm rmdir touch head tail less more nl wc sort uniq"
    " cut tr tee diff cmp comm stat file du df tree chmod chown ln tar zip unzip gzip gunzip zcat xxd hexdump strings"
    " realpath basename dirname readlink md5 md5sum sha256sum shasum rsync jq yq column paste split bat open dd od"
    " curl wget ssh scp python python2 python3 node deno ruby perl php bash sh zsh lua sqlite3 psql mysql java"
    " kill pkill ps lsof"
)
# Their first operand is a script, which says as much as a subcommand does.
RUNS_FILES = names("python python2 python3 node bash sh zsh ruby perl php deno bun tsx ts-node lua Rscript")
# Programs that exit non-zero to report a finding; running one again on less repairs nothing.
CHECKS = names(
    "pytest py.test unittest tox nox ruff mypy pyright black isort flake8 pylint eslint biome prettier jest vitest"
    " mocha tsc golangci-lint gofmt goimports shellcheck phpunit rspec ctest gcc g++ clang javac rustc cmake ninja"
)
_CHECKING = names("test build vet check lint run clippy fmt compile typecheck install ci verify tidy generate")
# Subcommands of git that act on the whole repository, so that any repetition is another attempt.
_ALONE = names("commit push pull fetch rebase merge stash status init")
_TASKS = names("run run-script exec pr issue repo api compose release workflow worktree remote stash")
_SEARCHES = names("rg grep egrep fgrep ag ack find fd")
_REMOTE = names("gh curl wget http glab hub aws gcloud az kubectl")
FILTERS = names("grep egrep fgrep rg awk sed cut sort uniq wc jq")
# Programs whose operands are scripts and numbers rather than names.
_SCRIPTED = names("sed awk head tail cut wc tr")
_SELECTS = names("-run -k -t -m --grep --filter --testNamePattern --tests -p")
# File names that every project has: the same name in another folder is another file.
_COMMON = names(
    "README.md __init__.py __main__.py index.ts index.js index.tsx index.html main.go main.py mod.rs lib.rs main.rs"
    " package.json go.mod Makefile setup.py SKILL.md config.json settings.json types.ts"
)
NO_PATH = LazyRegex(
    r"not exist|no such|not found|enoent|eisdir|directory|cannot access|can't read|cannot open|outside", re.IGNORECASE
)

NO_PROGRAM = LazyRegex(r"command not found|: not found\b|executable file not found|not recognized as", re.IGNORECASE)
NO_COMMAND = LazyRegex(
    r"(?:unknown|unrecogni[sz]ed|invalid|no such) (?:sub-?)?command|missing script|script not found|no task "
    r"|task \S+ not found|no rule to make target|is not a \S+ command|(?:command|script) \S+ not found",
    re.IGNORECASE,
)
_IS_FOLDER = LazyRegex(r"EISDIR|is a directory", re.IGNORECASE)
_NUMBER = LazyRegex(r"\d+")
_OPTION = LazyRegex(r"(?<![\w-])-{1,2}[A-Za-z][\w-]*")
_LISTS = names("ls find tree fd Glob LS list_dir list_directory glob")


class ProgramRun(msgspec.Struct, frozen=True):
    """One program of a command."""

    label: str  # the program and its subcommand: `git commit`, `pytest`, `npm run lint`
    program: str
    operands: tuple[str, ...]
    selects: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    is_check: bool = False
    is_inline: bool = False
    decides: bool = True
    prefix: tuple[str, ...] = ()  # what is written in front of it: `rtk`, `uv run`, `.venv/bin/`, `PYTHONPATH=`
    words: tuple[str, ...] = ()  # all of its arguments

    @property
    def wrappers(self) -> tuple[str, ...]:
        """The programs that run it: `rtk`, `uv run`."""
        return tuple(word for word in self.prefix if word[-1] not in "=/")

    @property
    def wrapped(self) -> str:
        """The label behind its wrappers: `rtk bun run test`."""
        return " ".join([*self.wrappers, self.label])


# Equal only to itself: what was found out about a target, or about two, is remembered by which they are.
class CallTarget(msgspec.Struct, frozen=True, dict=True, eq=False):
    """What one call was meant to do."""

    tool: str
    speech: str
    arguments: dict[str, Any]
    path: str | None = None
    runs: tuple[ProgramRun, ...] = ()
    command: str | None = None  # the shell command that it ran; None when it ran none
    is_whole: bool = False
    complaint: str = ""

    @cached_property
    def text(self) -> str:
        """The full text of the command or request."""
        if self.command is not None:
            return self.command
        aside = (*argument_names("path"), *MANNER)
        asked = {name: value for name, value in self.arguments.items() if name not in aside}
        return " ".join(leaves(asked))

    @cached_property
    def lines(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The lines that an edit replaced and those that it wrote, to tell edits of one file apart."""
        if self.speech != "file_write":
            return (), ()
        return _edit_lines(self.arguments, self.text) if self.command is None else _patch_lines(self.text)

    @cached_property
    def blamed(self) -> tuple[ProgramRun, ...]:
        """The programs that failed: the one named in the complaint, else all that decide the outcome."""
        words = self.complaint.split(":", 2)
        said = {word.split()[-1] for word in words[:2] if word.split()}
        named = tuple(run for run in self.runs if run.program in said)
        return named or tuple(run for run in self.runs if run.decides) or self.runs

    @property
    def label(self) -> str:
        """The last program of a shell command; otherwise the tool."""
        if self.runs:
            return self.runs[-1].label
        return "apply_patch" if self.speech == "file_write" and "*** Begin Patch" in self.text else self.tool


def target_of(call: JudgedCall) -> CallTarget:
    """The target of a call; for a failed one with its complaint."""
    # Kept with the call: repairs, keys and kinds of one session all ask for it.
    known: CallTarget | None = call.__dict__.get("_target")
    if known is None:
        complaint = f"{call.reason} {(call.result or '')[:600]}" if call.has_failed else ""
        # Sessions repeat the calls of others. Long ones are not kept: they are rarely repeated and fill the memory.
        find = _target if len(call.raw_arguments) <= _LONG_CHARS else _target.__wrapped__
        known = call.__dict__["_target"] = find(call.tool, call.raw_arguments, complaint)
    return known


@lru_cache(maxsize=REMEMBERED)
def _target(tool: str, raw_arguments: str, complaint: str) -> CallTarget:
    arguments = decode_arguments(raw_arguments)
    plain = ToolCall("", tool, arguments)
    speech = str(output_form(plain))
    command = command_of(plain) if speech == "shell" else None
    if command is not None:
        patched = PATCHED.compiled.search(command[:4000]) if "*** " in command else None
        if patched is None:
            runs = runs_of(command)
            return CallTarget(tool, speech, arguments, None, runs, command, complaint=complaint)
        path = patched.group(1).strip()
        return CallTarget(tool, "file_write", arguments, path, (), command, complaint=complaint)
    path = next((arguments[name] for name in argument_names("path") if isinstance(arguments.get(name), str)), None)
    is_whole = any(name in arguments for name in argument_names("text"))
    target = CallTarget(tool, speech, arguments, path, (), None, is_whole, complaint)
    if path is None and speech.startswith("file"):
        return msgspec.structs.replace(target, path=_path_in(tool, target.text))
    return target


def _edit_lines(arguments: dict[str, Any], text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if "*** Begin Patch" in text:
        return _patch_lines(text)
    old, new = (
        "\n".join(str(arguments[name]) for name in argument_names(meaning) if name in arguments)
        for meaning in ("old", "new")
    )
    return (_plain_lines(old), _plain_lines(new)) if old or new else ((), _plain_lines(text))


def _patch_lines(patch: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    body = [line for line in patch.partition("*** Begin Patch")[2].splitlines() if not line.startswith(("***", "@@"))]
    old = "\n".join(line[1:] for line in body if line[:1] in "- ")
    return _plain_lines(old), _plain_lines("\n".join(line[1:] for line in body if line[:1] == "+"))


def _plain_lines(text: str) -> tuple[str, ...]:
    """Lines reduced to letters, since wrong whitespace is a common mistake; without a truncated last line."""
    lines = (text if "\n" in text else text.replace("\\n", "\n"))[:4000].splitlines()
    kept = lines[:-1] if len(lines) > 1 and CUT.compiled.search(text) else lines
    return tuple(plain for plain in (letters(line) for line in kept) if len(plain) >= 4)


def _path_in(tool: str, text: str) -> str | None:
    """The path inside a patch, or after the tool's name."""
    patched = PATCHED.compiled.search(text[:4000])
    if patched is not None:
        return patched.group(1).strip()
    words = text[:400].split(None, 2)
    has_path = len(words) > 1 and words[0] == tool and ("." in words[1] or "/" in words[1])
    return words[1] if has_path else None


@lru_cache(maxsize=1024)
def runs_of(command: str) -> tuple[ProgramRun, ...]:
    """The main programs of a command in order, without those that only prepare or filter."""
    steps = parse(command)
    decided = {id(step) for step in deciding(steps)}
    found: list[ProgramRun] = []
    in_pipe = is_filtered = False
    for step in reversed(steps):
        # The head of a pipe does the work and its end decides the outcome: treat them as one.
        decides = id(step) in decided or in_pipe
        if step.join == "|":
            in_pipe, is_filtered = decides, is_filtered or step.program in FILTERS
            continue
        if step.program not in SCENERY and any(c.isalnum() for c in step.program):
            run = run_of(step, decides=decides)
            # A filtered check shows only some lines: whether it passed is unknown.
            found.append(msgspec.structs.replace(run, decides=False) if is_filtered and run.is_check else run)
        in_pipe = is_filtered = False
    return tuple(reversed(found))


def run_of(step: Step, *, decides: bool = True) -> ProgramRun:
    """One program of a command: its label, options and operands."""
    step = _unwrapped(step)
    program, words, prefix = step.program, step.words, step.prefix
    if program.startswith("python") and len(words) > 1 and words[0] == "-m":
        prefix = (*prefix, f"{program} -m")
        program, words = words[1], words[2:]
    options = tuple(word.partition("=")[0] for word in words if word.startswith("-") and len(word) > 1)
    selects = tuple(words[at + 1] for at, word in enumerate(words[:-1]) if word in _SELECTS)
    is_inline = program in OPERAND_FIRST and (any(word in ("-c", "-e", "-") for word in words) or not words)
    operands = [word for word in words if not word.startswith("-") and word not in selects]
    label = program
    if (
        program not in OPERAND_FIRST
        and program not in CHECKS
        and "." not in program
        and _is_name(step.sub)
        and step.sub in operands
    ):
        operands.remove(step.sub)
        label = f"{program} {step.sub}"
        if step.sub in _TASKS and operands and _is_name(operands[0]):
            label = f"{label} {operands.pop(0)}"
    is_check = program in CHECKS or bool(_CHECKING.intersection(label.split()[1:])) or program in ("make", "just")
    return ProgramRun(label, program, tuple(operands), selects, options, is_check, is_inline, decides, prefix, words)


# Version managers that run the program behind a word: `mise exec -- golangci-lint run`, `corepack pnpm test`.
_EXECUTES = {**dict.fromkeys(("fnm", "mise", "asdf", "pnpm", "npm", "yarn"), "exec"), "volta": "run"}


def _unwrapped(step: Step) -> Step:
    """The program behind a version manager, which stays in front of it as a wrapper."""
    word = "" if step.program == "corepack" else _EXECUTES.get(step.program)
    if word is None or (word and step.words[:1] != (word,)):
        return step
    rest = step.words[1:] if word else step.words
    at = next((at for at, one in enumerate(rest) if not one.startswith("-") and not one[:1].isdigit()), None)
    if at is None or not _is_name(rest[at].rsplit("/", 1)[-1]):
        return step
    prefix = (*step.prefix, f"{step.program} {word}".rstrip())
    return _unwrapped(Step(step.join, rest[at], rest[at + 1 :], step.behind, prefix))


def _is_name(word: str) -> bool:
    return (
        1 < len(word) <= 30 and word[0].isalpha() and word.replace("-", "").replace(":", "").replace("_", "").isalnum()
    )


@lru_cache(maxsize=REMEMBERED)
def reaches(failed: CallTarget, later: CallTarget) -> bool:
    """Whether a later call is another attempt at the same thing, not just a call of the same tool."""
    if failed.runs and later.runs:
        return all(any(_repeats(failed, run, later, other) for other in later.runs) for run in failed.blamed)
    if failed.speech == "file_read" and _IS_FOLDER.compiled.search(failed.complaint) and _lists(failed.path, later):
        return True
    if failed.speech in ("file_read", "file_write") and failed.speech == later.speech:
        return _same_file(failed, later)
    if failed.tool != later.tool or failed.runs or later.runs:
        return False
    if failed.arguments == later.arguments:
        return True
    if failed.speech == "search":
        return _same_search(failed, later)
    if failed.speech == "python":
        return share(failed.text, later.text) >= 0.5
    return _mostly_alike(failed.arguments, later.arguments)


def _lists(path: str | None, later: CallTarget) -> bool:
    """Whether a call lists the folder that could not be read as a file."""
    if path is None:
        return False
    place = _plain(path)
    if later.runs:
        return any(run.program in _LISTS and place in map(_plain, run.operands) for run in later.runs)
    return later.tool in _LISTS and place in [_plain(value) for value in leaves(later.arguments)]


def _same_file(failed: CallTarget, later: CallTarget) -> bool:
    if failed.path is None or later.path is None:
        return failed.tool == later.tool and failed.path == later.path and _same_edit(failed, later)
    if not _same_path(failed, later):
        return False
    if failed.speech == "file_read" or failed.is_whole or later.is_whole:
        return True
    return _same_edit(failed, later)


def _same_edit(failed: CallTarget, later: CallTarget) -> bool:
    """Whether half of the lines of the smaller edit are also in the other one."""
    replaced = argument(failed.arguments, "old")
    if replaced and replaced == argument(later.arguments, "old"):
        return True
    if failed.arguments == later.arguments:
        return True
    for mine, theirs in zip(failed.lines, later.lines, strict=True):
        few, many = sorted((mine, theirs), key=len)
        if few and 2 * sum(any(nearly(line, other) for other in many[:60]) for line in few[:60]) >= len(few[:60]):
            return True
    return False


def _same_path(failed: CallTarget, later: CallTarget) -> bool:
    """The same file, or the same name elsewhere if the failed path was wrong."""
    one, other = _plain(failed.path or ""), _plain(later.path or "")
    if one == other or one.endswith("/" + other) or other.endswith("/" + one):
        return True
    if not NO_PATH.compiled.search(failed.complaint):
        return False
    folder, _, name = one.rpartition("/")
    place, _, near = other.rpartition("/")
    # `.golangci.yml` for `.golangci.yaml`: in the same folder a slip of the name is the same file.
    return _same_name(one, other) or (folder == place and name not in _COMMON and closeness(name, near) >= 0.85)


def _plain(path: str) -> str:
    return path.strip().strip("'\"").removeprefix("file://").removeprefix("./").rstrip("/")


def _same_name(one: str, other: str) -> bool:
    name = one.rsplit("/", 1)[-1]
    return name == other.rsplit("/", 1)[-1] and len(name) > 2 and name not in _COMMON and "*" not in name


def _same_search(failed: CallTarget, later: CallTarget) -> bool:
    for name in _PATTERN_NAMES:
        one, other = failed.arguments.get(name), later.arguments.get(name)
        if isinstance(one, str) and isinstance(other, str):
            return alike(one, other) or (len(one) > 3 and one.casefold() in other.casefold())
    return False


def _mostly_alike(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two calls share most arguments, or half of them including an identifying one."""
    named = (one.keys() | other.keys()) - MANNER
    same = [name for name in named if _is_shared(name, one, other)]
    # Two thirds shared is enough; half is enough only with an id or a name among them.
    if 3 * len(same) >= 2 * len(named):
        return bool(same)
    return 2 * len(same) >= len(named) and any(identifies(one.get(name, other.get(name))) for name in same)


def _is_shared(name: str, one: dict[str, Any], other: dict[str, Any]) -> bool:
    if name in one and name in other:
        return alike(one[name], other[name])
    # A value may have moved to another argument.
    given, elsewhere = flat(one.get(name, other.get(name))), set(leaves(other if name in one else one))
    return any(len(value) > 2 and value in elsewhere for value in given)


def _repeats(failed: CallTarget, run: ProgramRun, later: CallTarget, other: ProgramRun) -> bool:
    """Whether a program of a later command repeats one of the failed command."""
    if not other.decides:
        return False
    if _gives_what_was_missing(failed, run, other):
        return True
    if run.label != other.label:
        return same_words(run, other) or _replaces(failed, run, other)
    if run.is_inline or other.is_inline:
        return run.is_inline == other.is_inline and share(failed.text, later.text) >= 0.6
    if set(run.operands) == set(other.operands) and run.selects == other.selects:
        return bool(run.operands or run.is_check or run.options == other.options or " " in run.label)
    if run.is_check:
        return _covers(run, other)
    if run.program == "git" and run.label.split()[-1] in _ALONE:
        return True
    return any(_same_operand(run, a, b) for a in run.operands for b in other.operands)


def _gives_what_was_missing(failed: CallTarget, run: ProgramRun, other: ProgramRun) -> bool:
    """Whether it is the same call with an option that the error names: `deploy api`, then `deploy api --stage prod`."""
    # Compared word by word: the value of the new option stands among the operands, and may even change the label.
    if run.program != other.program or not set(run.words) <= set(other.words):
        return False
    named = set(_OPTION.compiled.findall(failed.complaint))
    return any(option in named for option in other.options if option not in run.options)


def same_words(run: ProgramRun, other: ProgramRun) -> bool:
    """Whether one is the other behind a wrapper that is not known as one: `myrun npm test` and `npm test`."""
    longer, shorter = sorted(((run.program, *run.words), (other.program, *other.words)), key=len, reverse=True)
    extra = len(longer) - len(shorter)
    return 0 < extra <= 4 and len(shorter) > 1 and longer[extra:] == shorter


def _replaces(failed: CallTarget, run: ProgramRun, other: ProgramRun) -> bool:
    """Whether another program or subcommand stands in for one that does not exist."""
    # The words are compared first: that is quicker than reading the complaint, and hardly any are equal.
    if run.words != other.words and run.program != other.program:
        return False
    if NO_PROGRAM.compiled.search(failed.complaint):
        return run.words == other.words and closeness(run.program, other.program) >= 0.5
    if NO_COMMAND.compiled.search(failed.complaint):
        return run.program == other.program and closeness(run.label, other.label) >= 0.7
    return False


def _covers(run: ProgramRun, other: ProgramRun) -> bool:
    """Whether a check covers what the failed one did: a narrower one that passes repairs nothing."""
    if other.selects and not _selects_all(run.selects, other.selects):
        return False
    wide = {".", "./...", "...", "./"}
    if not other.operands or wide.intersection(other.operands):
        return True
    theirs = [_plain(word).removesuffix("/...") for word in other.operands]
    return bool(run.operands) and all(
        any(_within(_plain(word).removesuffix("/..."), place) for place in theirs) for word in run.operands
    )


def _selects_all(before: tuple[str, ...], after: tuple[str, ...]) -> bool:
    mine, theirs = ([part for word in words for part in word.split("|")] for words in (before, after))
    return bool(mine) and all(any(part in whole for part in theirs) for whole in mine)


def _within(path: str, place: str) -> bool:
    return path == place or path.startswith((place + "/", place + "::")) or _same_name(path, place)


def _digits(word: str) -> str:
    """The number in an id, if it has only one; empty otherwise."""
    found = _NUMBER.compiled.findall(word)
    return found[0].lstrip("0") if len(found) == 1 and len(found[0]) > 1 else ""


def _same_operand(run: ProgramRun, one: str, other: str) -> bool:
    """Whether two operands mean the same: files by name, patterns and addresses by letters."""
    is_path = "/" in one or "." in one[1:]
    if not is_path and run.program not in OPERAND_FIRST and _digits(one) and _digits(one) == _digits(other):
        return True  # the same id, written in another way: `417` and `#P-00417`
    if len(one) < 3 or one.isdigit() or (not is_path and run.program in _SCRIPTED):
        return False
    if one == other:
        return True
    if run.program in _REMOTE:
        ids = set(IDS.compiled.findall(one))
        return is_path and bool(ids) and ids <= set(IDS.compiled.findall(other))
    if is_path and run.program not in _SEARCHES:
        return _same_name(_plain(one), _plain(other))
    return run.program in _SEARCHES and letters(one) == letters(other) and len(letters(one)) > 3


VARIES = "…"
_ARGUMENTS = 12
_UUID = LazyRegex(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\Z", re.IGNORECASE)
_DAY = LazyRegex(r"\d{4}-\d\d-\d\d(?:[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?)?\Z")
_CLASSES = LazyRegex(r"[a-z]+|[A-Z]+|\d+")


def written_program(run: ProgramRun) -> str:
    """A program with its subcommand as it was written, without variables: `uv run .venv/bin/pytest`."""
    before = [_place(word) if word[-1] == "/" else f"{word} " for word in run.prefix if word[-1] != "="]
    return "".join([*before, run.label])


def _place(folder: str) -> str:
    """The folder of a program; of a full path only its end, which is the same on other machines."""
    parts = folder.rstrip("/").split("/")
    return folder if not folder.startswith(("/", "~", "$")) or len(parts) < 4 else f"{VARIES}/{'/'.join(parts[-2:])}/"


def folder_form(path: str) -> str:
    """A folder as it was written; of a full path only the last name, which other machines have too."""
    if not path.startswith(("/", "~", "$")):
        return path
    name = path.rstrip("/").rsplit("/", 1)[-1]
    return f"{VARIES}/{name}" if name and name != path else VARIES


def value_shape(value: Any) -> str:
    """How a value is written: a number, a day, an id with its letters and digits, a path, one word or several."""
    if isinstance(value, bool):
        return "switch"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, Mapping):
        return "{" + ",".join(sorted(map(str, value))[:_ARGUMENTS]) + "}"
    if isinstance(value, list | tuple):
        return "[" + "|".join(sorted({value_shape(item) for item in value[:20]})) + "]"
    text = str(value).strip()
    if _UUID.compiled.match(text):
        return "uuid"
    if _DAY.compiled.match(text):
        return "day" if len(text) == 10 else "time"
    if "://" in text[:12]:
        return "url"
    if not text or len(text) > 60 or any(c.isspace() for c in text):
        return "words"
    first, slash, _ = text.partition("/")
    if slash:
        # Where a path begins is often the convention itself; how deep it goes is not.
        return f"{first}/path"
    shape = _CLASSES.compiled.sub(_class, text)
    # One word in any letters is a word; with digits or marks in it, it is written in some way.
    return "word" if shape.isalpha() else shape


def _class(found: re.Match[str]) -> str:
    first = found[0][0]
    return "0" if first.isdigit() else "A" if first.isupper() else "a"
