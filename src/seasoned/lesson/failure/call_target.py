"""What a call was meant to do, so that a later call can be recognised as another attempt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec

from seasoned.command.parse import Step, deciding, names, parse
from seasoned.command.tool import argument_names, command_of, output_form
from seasoned.command.written import TAKES_OPERANDS
from seasoned.lazy_regex import LazyRegex, lazy_property
from seasoned.lesson.failure.cause import cause_in
from seasoned.lesson.failure.similarity import (
    argument_texts,
    is_identifying,
    scalar_texts,
    similarity_ratio,
    values_match,
    word_overlap,
)
from seasoned.outcome.track import JudgedCall, decode_arguments
from seasoned.session import ToolCall

CACHE_SIZE = 2048  # entries in each cache of targets and of comparisons between two targets
_MAX_CACHED_CHARS = 4000
_PATTERN_NAMES = ("pattern", "query", "regex", "glob", "search_term", "Query", "q")
# Arguments that control how a call runs, not what it does: sharing them does not make two calls similar.
EXECUTION_ARGUMENTS = names(
    "timeout timeout_ms yield_time_ms max_output_tokens justification run_in_background limit offset explanation"
    " with_escalated_permissions output_mode head_limit -n -A -B -C -i"
)
PATCHED_FILE = LazyRegex(r"^\*\*\* (?:Update|Add|Delete) File: (.{1,400})$", re.MULTILINE)
# Programs that only prepare or print: a later call that repeats just these is not a retry.
SETUP_PROGRAMS = names(
    "cd pushd popd echo printf export set unset sleep true : pwd source . test [ [[ wait mkdir which type command read"
    " return exit local declare trap date"
)
# Programs whose first operand is a script, which identifies the call as well as a subcommand does.
INTERPRETERS = names("python python2 python3 node bash sh zsh ruby perl php deno bun tsx ts-node lua Rscript")
# Programs that exit non-zero to report findings: running one on fewer files is not a repair.
CHECK_PROGRAMS = names(
    "pytest py.test unittest tox nox ruff mypy pyright black isort flake8 pylint eslint biome prettier jest vitest"
    " mocha tsc golangci-lint gofmt goimports shellcheck phpunit rspec ctest gcc g++ clang javac rustc cmake ninja"
)
# Programs whose first argument is an operand, not a subcommand.
_WITHOUT_SUBCOMMANDS = (TAKES_OPERANDS | INTERPRETERS | {"java"}) - CHECK_PROGRAMS
_CHECK_SUBCOMMANDS = names("test build vet check lint run clippy fmt compile typecheck install ci verify tidy generate")
# Subcommands of git that act on the whole repository, so any repetition is a retry.
_REPOSITORY_WIDE = names("commit push pull fetch rebase merge stash status init")
_NESTED_SUBCOMMANDS = names("run run-script exec pr issue repo api compose release workflow worktree remote stash")
FILTER_PROGRAMS = names("grep egrep fgrep rg awk sed cut sort uniq wc jq")
_EVERYTHING = frozenset((".", "./...", "...", "./"))
_SELECTION_OPTIONS = names("-run -k -t -m --grep --filter --testNamePattern --tests -p")
# Options that show what a call would do, or how it is made: it has not done its work then.
PREVIEWS = names("--help -h --version --dry-run --dryrun --what-if")
# File names found in every project: the same name in another folder is another file.
_COMMON_FILE_NAMES = names(
    "README.md __init__.py __main__.py index.ts index.js index.tsx index.html main.go main.py mod.rs lib.rs main.rs"
    " package.json go.mod Makefile setup.py SKILL.md config.json settings.json types.ts"
)
WRONG_PATH = LazyRegex(
    r"not exist|no such|not found|enoent|eisdir|directory|cannot access|can't read|cannot open|outside", re.IGNORECASE
)

_OPTION = LazyRegex(r"(?<![\w-])-{1,2}[A-Za-z][\w-]*")


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
    prefix: tuple[str, ...] = ()  # what precedes it: `rtk`, `uv run`, `.venv/bin/`, `PYTHONPATH=`
    words: tuple[str, ...] = ()  # all of its arguments

    @property
    def wrappers(self) -> tuple[str, ...]:
        """The programs that start this one: `rtk`, `uv run`."""
        return tuple(word for word in self.prefix if word[-1] not in "=/")

    @property
    def wrapped(self) -> str:
        """The label with its wrappers: `rtk bun run test`."""
        return " ".join([*self.wrappers, self.label])


# Compared by identity (eq=False): targets are keys of the caches below, and comparing their fields would be slow.
class CallTarget(msgspec.Struct, frozen=True, dict=True, eq=False):
    """What one call was meant to do."""

    tool: str
    form: str
    arguments: dict[str, Any]
    path: str | None = None
    runs: tuple[ProgramRun, ...] = ()
    command: str | None = None  # None if the call is not a shell command
    writes_whole_file: bool = False
    error_text: str = ""

    @lazy_property
    def text(self) -> str:
        """The full text of the command or request."""
        if self.command is not None:
            return self.command
        ignored = (*argument_names("path"), *EXECUTION_ARGUMENTS)
        return " ".join(argument_texts({name: value for name, value in self.arguments.items() if name not in ignored}))

    @lazy_property
    def failed_runs(self) -> tuple[ProgramRun, ...]:
        """The programs that failed: those the error names, else all that decide the exit status."""
        words = self.error_text.split(":", 2)
        named = {word.split()[-1] for word in words[:2] if word.split()}
        named_runs = tuple(run for run in self.runs if run.program in named)
        return named_runs or tuple(run for run in self.runs if run.decides) or self.runs

    @property
    def label(self) -> str:
        """The last program of a shell command; otherwise the tool."""
        if self.runs:
            return self.runs[-1].label
        return "apply_patch" if self.form == "file_write" and "*** Begin Patch" in self.text else self.tool


def target_of(call: JudgedCall) -> CallTarget:
    """The target of a call; if it failed, with its error text."""
    # Stored on the call: repairs, keys and kinds of one session all need it.
    known: CallTarget | None = call.__dict__.get("_target")
    if known is None:
        error_text = f"{call.reason} {(call.result or '')[:600]}" if call.has_failed else ""
        # Sessions repeat each other's calls. Long calls bypass the cache: they rarely recur and take memory.
        find = _target if len(call.raw_arguments) <= _MAX_CACHED_CHARS else _target.__wrapped__
        known = call.__dict__["_target"] = find(call.tool, call.raw_arguments, error_text)
    return known


@lru_cache(maxsize=CACHE_SIZE)
def _target(tool: str, raw_arguments: str, error_text: str) -> CallTarget:
    arguments = decode_arguments(raw_arguments)
    plain = ToolCall("", tool, arguments)
    form = str(output_form(plain))
    command = command_of(plain) if form == "shell" else None
    if command is not None:
        patched = PATCHED_FILE.compiled.search(command[:4000]) if "*** " in command else None
        if patched is None:
            runs = runs_of(command)
            return CallTarget(tool, form, arguments, None, runs, command, error_text=error_text)
        path = patched.group(1).strip()
        return CallTarget(tool, "file_write", arguments, path, (), command, error_text=error_text)
    path = next((arguments[name] for name in argument_names("path") if isinstance(arguments.get(name), str)), None)
    writes_whole_file = any(name in arguments for name in argument_names("text"))
    target = CallTarget(tool, form, arguments, path, (), None, writes_whole_file, error_text)
    if path is None and form.startswith("file"):
        return msgspec.structs.replace(target, path=_path_in(tool, target.text))
    return target


def _path_in(tool: str, text: str) -> str | None:
    """The path inside a patch, or after the tool's name."""
    patched = PATCHED_FILE.compiled.search(text[:4000])
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
        # The first program of a pipe does the work and the last one sets the exit status: treat them as one.
        decides = id(step) in decided or in_pipe
        if step.join == "|":
            in_pipe, is_filtered = decides, is_filtered or step.program in FILTER_PROGRAMS
            continue
        if step.program not in SETUP_PROGRAMS and any(c.isalnum() for c in step.program):
            run = run_of(step, decides=decides)
            # The output of a filtered check is incomplete, so whether it passed is unknown.
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
    selects = tuple(words[at + 1] for at, word in enumerate(words[:-1]) if word in _SELECTION_OPTIONS)
    is_inline = program in _WITHOUT_SUBCOMMANDS and (any(word in ("-c", "-e", "-") for word in words) or not words)
    operands = [word for word in words if not word.startswith("-") and word not in selects]
    label = program
    if (
        program not in _WITHOUT_SUBCOMMANDS
        and program not in CHECK_PROGRAMS
        and "." not in program
        and _is_name(step.sub)
        and step.sub in operands
    ):
        operands.remove(step.sub)
        label = f"{program} {step.sub}"
        if step.sub in _NESTED_SUBCOMMANDS and operands and _is_name(operands[0]):
            label = f"{label} {operands.pop(0)}"
    is_check = (
        program in CHECK_PROGRAMS
        or bool(_CHECK_SUBCOMMANDS.intersection(label.split()[1:]))
        or program in ("make", "just")
    )
    return ProgramRun(label, program, tuple(operands), selects, options, is_check, is_inline, decides, prefix, words)


# Version managers and their subcommand that runs a program: `mise exec -- golangci-lint run`.
_VERSION_MANAGERS = {**dict.fromkeys(("fnm", "mise", "asdf", "pnpm", "npm", "yarn"), "exec"), "volta": "run"}


def _unwrapped(step: Step) -> Step:
    """The program that a version manager runs, with the manager as its wrapper; any other step unchanged."""
    word = "" if step.program == "corepack" else _VERSION_MANAGERS.get(step.program)
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


@lru_cache(maxsize=CACHE_SIZE)
def is_retry(failed: CallTarget, later: CallTarget) -> bool:
    """Whether a later call attempts the same thing again, not just with the same tool."""
    if failed.runs and later.runs:
        return all(
            any(_retries_program(failed, run, later, other) for other in later.runs) for run in failed.failed_runs
        )
    if failed.form in ("file_read", "file_write") and failed.form == later.form:
        return _same_file(failed, later)
    if failed.tool != later.tool or failed.runs or later.runs:
        return False
    if failed.arguments == later.arguments:
        return True
    if failed.form == "search":
        return _same_search(failed, later)
    return _arguments_match(failed.arguments, later.arguments)


def _same_file(failed: CallTarget, later: CallTarget) -> bool:
    if failed.path is None or later.path is None:
        return failed.arguments == later.arguments
    return _same_path(failed, later)


def _same_path(failed: CallTarget, later: CallTarget) -> bool:
    """The same file, or the same name elsewhere if the failed path was wrong."""
    one, other = _plain(failed.path or ""), _plain(later.path or "")
    if one == other or one.endswith("/" + other) or other.endswith("/" + one):
        return True
    if not WRONG_PATH.compiled.search(failed.error_text):
        return False
    folder, _, name = one.rpartition("/")
    place, _, near = other.rpartition("/")
    # In the same folder a misspelled name means the same file: `.golangci.yml` for `.golangci.yaml`.
    return _same_name(one, other) or (
        folder == place and name not in _COMMON_FILE_NAMES and similarity_ratio(name, near) >= 0.85
    )


def _plain(path: str) -> str:
    return path.strip().strip("'\"").removeprefix("file://").removeprefix("./").rstrip("/")


def _same_name(one: str, other: str) -> bool:
    name = one.rsplit("/", 1)[-1]
    return name == other.rsplit("/", 1)[-1] and len(name) > 2 and name not in _COMMON_FILE_NAMES and "*" not in name


def _same_search(failed: CallTarget, later: CallTarget) -> bool:
    for name in _PATTERN_NAMES:
        one, other = failed.arguments.get(name), later.arguments.get(name)
        if isinstance(one, str) and isinstance(other, str):
            return values_match(one, other) or (len(one) > 3 and one.casefold() in other.casefold())
    return False


def _arguments_match(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two calls share most arguments, or half of them including an identifying one."""
    compared = (one.keys() | other.keys()) - EXECUTION_ARGUMENTS
    same = [name for name in compared if _argument_matches(name, one, other)]
    # Two thirds shared is enough; half is enough only with an id or a name among them.
    if 3 * len(same) >= 2 * len(compared):
        return bool(same)
    return 2 * len(same) >= len(compared) and any(is_identifying(one.get(name, other.get(name))) for name in same)


def _argument_matches(name: str, one: dict[str, Any], other: dict[str, Any]) -> bool:
    if name in one and name in other:
        return values_match(one[name], other[name])
    # A value may have moved to another argument.
    given, elsewhere = scalar_texts(one.get(name, other.get(name))), set(argument_texts(other if name in one else one))
    return any(len(value) > 2 and value in elsewhere for value in given)


def _retries_program(failed: CallTarget, run: ProgramRun, later: CallTarget, other: ProgramRun) -> bool:
    """Whether a program of a later command repeats one of the failed command."""
    # `psql -h localhost` names a host.
    asks = PREVIEWS if other.words[-1:] == ("-h",) else PREVIEWS - {"-h"}
    if not other.decides or asks.intersection(other.options).difference(run.options):
        return False
    if run.program != other.program:
        is_same = run.words == other.words and similarity_ratio(run.program, other.program) >= 0.5
        return is_same or differs_by_wrapper(run, other)
    if run.is_inline or other.is_inline:
        return run.is_inline == other.is_inline and word_overlap(failed.text, later.text) >= 0.6
    if changed_option(run.words, other.words, failed.error_text) or added_options(run.words, other.words):
        return not run.is_check or _SELECTION_OPTIONS.isdisjoint(set(other.options).difference(run.options))
    if run.label != other.label:
        return similarity_ratio(run.label, other.label) >= 0.7 and cause_in(failed.error_text) == "unknown command"
    if run.is_check:
        # A narrower check that passes repairs nothing.
        return set(other.operands) <= {*run.operands, *_EVERYTHING} and set(other.selects) <= set(run.selects)
    mine, theirs = set(run.words), set(other.words)
    is_wide = run.program == "git" and run.label.split()[-1] in _REPOSITORY_WIDE
    return is_wide or 2 * len(mine & theirs) >= len(mine | theirs)


def added_options(before: Sequence[str], after: Sequence[str]) -> tuple[str, ...]:
    """The options, with or without values, that are all that a command has more than another; none if more differs."""
    rest, added, may_be_value = list(before), list[str](), False
    for word in after:
        if rest and word == rest[0]:
            del rest[0]
            may_be_value = False
        elif word.startswith("-") and word != "--":
            added.append(word.partition("=")[0])
            may_be_value = "=" not in word
        elif may_be_value:
            may_be_value = False
        else:
            return ()
    return () if rest else tuple(added)


def changed_option(before: Sequence[str], after: Sequence[str], error: str) -> str:
    """The option whose value is all that differs between the words of two calls; empty if the error names neither.

    Without the error it is unknown whether a word behind an option is its value: in `git log --oneline main` it is not.
    """
    changed = [at for at, (one, other) in enumerate(zip(before, after, strict=False)) if one != other]
    if len(changed) != 1 or len(before) != len(after):
        return ""
    at = changed[0]
    name, joined, _ = after[at].partition("=")
    if not joined:
        name = after[at - 1] if at and not before[at].startswith("-") and not after[at].startswith("-") else ""
    elif not before[at].startswith(f"{name}="):
        return ""
    value = before[at].rpartition("=")[2]
    is_named = _names_option(error, name) or (len(value) > 3 and value in error)
    return name if name.startswith("-") and is_named else ""


def _names_option(error: str, option: str) -> bool:
    """Whether an error is about an option: `--stage`, or `unknown stage: dev`."""
    if option in _OPTION.compiled.findall(error):
        return True
    name = option.lstrip("-").casefold()
    return len(name) > 2 and re.search(rf"(?<!\w){re.escape(name)}", error.casefold()) is not None


def differs_by_wrapper(run: ProgramRun, other: ProgramRun) -> bool:
    """Whether one is the other with an unknown wrapper: `myrun npm test` and `npm test`."""
    longer, shorter = sorted(((run.program, *run.words), (other.program, *other.words)), key=len, reverse=True)
    extra = len(longer) - len(shorter)
    return 0 < extra <= 4 and len(shorter) > 1 and longer[extra:] == shorter
