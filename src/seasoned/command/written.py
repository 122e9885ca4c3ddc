"""A command as it was written: each simple command in it with its own text, the form it has, and what it is for.

`parse` finds the programs inside wrappers. Here the wrappers are kept: `pytest`, `uv run pytest` and `rtk pytest` are
different ways, and a project has one that works.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import msgspec

from seasoned.command.parse import (
    JOINS,
    MOST_READ,
    OPTION_VALUES,
    Join,
    after_options,
    first_argument,
    is_assignment,
    names,
    segments,
    without_bodies,
)
from seasoned.command.rows import group
from seasoned.lazy_regex import LazyRegex

Purpose = Literal["test", "one test", "check", "format", "build", "run", "install", "commit", "other"]

# Wrappers about time, environment or priority: what they run has the same form with and without them.
_MANNER = names("env nohup exec command builtin nice stdbuf timeout gtimeout time caffeinate")
_MANNER_VALUES = names("-u -C -n -o -e -s -k --signal --kill-after")
# Wrappers that choose where or how a program is found. They are part of the form.
_CHOOSING = names("npx bunx pnpx uvx pipx rtk sudo corepack dotenv direnv nix-shell xvfb-run")
_MANAGERS = names("mise rtx asdf fnm volta nvm")
RUNS = {
    **dict.fromkeys(names("uv poetry pipenv pdm hatch rye pixi"), names("run")),
    **dict.fromkeys(names("npm pnpm yarn bun"), names("exec dlx x")),
    **dict.fromkeys(_MANAGERS, names("exec x")),
    "bundle": names("exec"),
    **dict.fromkeys(names("conda doppler dotenvx op"), names("run")),
}
_PACKAGE_MANAGERS = names("npm pnpm yarn bun")
_MONOREPO_TOOLS = names("turbo nx lerna moon")
_OWN_SCRIPTS = names("test start stop restart")
# Programs whose first argument is what they work on.
TAKES_OPERANDS = group("file") | names(
    "curl wget ssh scp sqlite3 psql mysql kill pkill ps lsof echo printf popd which type sleep pytest py.test mypy"
    " pyright black isort flake8 pylint eslint prettier jest mocha tsc gofmt goimports shellcheck phpunit rspec gcc g++"
    " clang javac rustc code vim nano xargs"
)
# Programs that run a script named by their first argument.
_INTERPRETERS = LazyRegex(r"(?:python|pypy)[\d.]*|node|deno|ruby|perl|php|bash|sh|zsh|lua|tsx|ts-node|Rscript|java\Z")
_SCRIPTS = (".sh", ".py", ".js", ".ts", ".mjs", ".rb", ".pl")
_INLINE = names("-c -e -p -E - --eval --print")
# Programs whose arguments are targets: all of them are part of the form.
_TARGETS = names("make gmake just task rake ninja invoke nox tox gradle gradlew mvn mvnw")
# Subcommands that name what they do in the next word.
_NAMES_MORE = names(
    "run run-script exec pip pr issue repo api compose release workflow worktree remote stash mod tool x xtask"
)
# The part of a monorepo that a command is about stays in its form.
_PART = names("--filter -F -w --workspace -p --package -e -s --session --sessions")
_NAME = LazyRegex(r"[A-Za-z][\w.:-]{0,40}\Z")
# Gradle writes the part of a build in front of a task: `:app:test`.
_TASK = LazyRegex(r":?[A-Za-z][\w.:-]{0,60}\Z")
# What these run is in the name of a session; without one, or with a version of Python, it is the tests.
_SESSIONS = LazyRegex(r"(?:^| )(?:nox|tox)(?:(?: (?:-s|-e|--sessions?))? (?P<name>\S+))?(?= |$)")
_HUMP = LazyRegex(r"(?<=[a-z])(?=[A-Z])")
_NULL = LazyRegex(r"\s*(?:\d?>&\d|&>\s*/dev/null|\d?>\s*/dev/null|<\s*/dev/null)\s*")
# What opens a loop or a condition: only what follows on it runs anything. The rest stands in front of a command.
_HEADS = names("for case select function [[ done fi esac }")
_LEADS = names("do then else elif while until if { ! time")
# Where programs are found without saying so. Any other folder of a program is part of its form.
_QUOTE = LazyRegex(r"[\"'\n]")
_ON_PATH = LazyRegex(r"/(?:usr/(?:local/)?)?s?bin/|/opt/homebrew/bin/|~/")
_PURPOSES: tuple[tuple[Purpose, LazyRegex], ...] = (
    ("format", LazyRegex(r"(?:^|[\s:_-])(?:fmt|format|prettier|black|gofmt|goimports|isort|rustfmt)(?=$|[\s:_-])")),
    (
        "test",
        LazyRegex(
            r"(?:^|[\s:_/-])(?:tests?|pytest|py\.test|unittest|jest|vitest|mocha|rspec|phpunit|ctest|tox|nox|e2e|specs?"
            r"|nextest|playwright|cypress|bench)(?=$|[\s:_./-])"
        ),
    ),
    (
        "check",
        LazyRegex(
            r"(?:^|[\s:_/-])(?:lint|check|vet|clippy|type-?check|types|tsc|mypy|pyright|ruff|eslint|biome|golangci-lint"
            r"|shellcheck|verify|validate|staticcheck|pre-commit|prek|knip|flake8|pylint|doctor|audit"
            # A package manager's `ci` installs; a task of that name checks.
            r"|(?<!npm )(?<!bun )ci(?![./]))(?=$|[\s:_./-])"
        ),
    ),
    (
        "build",
        LazyRegex(
            r"(?:^|[\s:_/-])(?:build|compile|bundle|package|cmake|ninja|webpack|rollup|generate|codegen|dist|tsup|make"
            r"|gradlew?|mvn|xcodebuild)(?=$|[\s:_./-])"
        ),
    ),
    ("install", LazyRegex(r"(?:^|\s)(?:install|sync|restore|ci|tidy|bootstrap|setup)(?=$|[\s:_-])")),
    ("run", LazyRegex(r"(?:^|[\s:_/-])(?:run|start|dev|serve|up|demo|watch)(?=$|[\s:_./-])")),
)


class WrittenCommand(msgspec.Struct, frozen=True):
    """One simple command inside a command line."""

    join: Join
    text: str  # as it was written, without redirections to nowhere
    words: tuple[str, ...]  # without assignments
    form: str  # wrappers, program and subcommand or script; empty where it has none
    program: str

    @property
    def purpose(self) -> Purpose:
        return purpose_of(self.form)


@lru_cache(maxsize=4096)
def written(command: str) -> tuple[WrittenCommand, ...]:
    """The simple commands of a command line, in order, also those inside loops and conditions."""
    text = without_bodies(command[:MOST_READ])
    found: list[WrittenCommand] = []
    join: Join = ""
    for words, start, end, following in segments(text):
        part = text[start:end]
        # Most commands redirect nothing, and looking for it is slow.
        part = _NULL.compiled.sub(" ", part) if ">" in part or "<" in part else part
        given = _written(join if found else "", part.strip(" \t\n()"), words)
        if given is not None:
            found.append(given)
        join = JOINS.get(following, join)
    return tuple(found)


def _written(join: Join, text: str, words: list[str]) -> WrittenCommand | None:
    lead = 0
    while lead < len(words) and words[lead] in _LEADS:
        lead += 1
        text = text.split(None, 1)[1] if " " in text else ""
    at = lead
    while at < len(words) and is_assignment(words[at]):
        at += 1
    rest = words[at:]
    if not rest or rest[0] in _HEADS:
        return None
    if "\n" in text:
        # A message or a script of several lines: only how the command begins is the same on another day.
        text = f"{_QUOTE.compiled.split(text, maxsplit=1)[0].rstrip()} …".lstrip()
    form, program = _form(rest)
    return WrittenCommand(join, text, tuple(rest), form, program)


def _form(words: list[str]) -> tuple[str, str]:
    """The form of a simple command, and its program."""
    kept: list[str] = []
    rest = words
    for _ in range(6):
        as_called = _program_in(rest[0])
        first = as_called.rpartition("/")[2]
        if first in _MANNER and len(rest) > 1 and rest[1] not in ("-v", "-V"):  # `command -v` only looks
            inner = after_options(rest[1:], _MANNER_VALUES)
        elif first in _CHOOSING and len(rest) > 1:
            inner = after_options(rest[1:], names("-p --package --from --with -u"))
            kept.append(as_called)
        elif first in RUNS and len(rest) > 2 and _sub([first, *rest[1:]])[0] in RUNS[first]:
            sub, at = _sub([first, *rest[1:]])
            # `mise x TOOL -- COMMAND`: what is in front of the hyphens is a tool to install.
            start = rest.index("--") if first in _MANAGERS and "--" in rest else at
            inner = after_options(rest[start + 1 :], names("--with --python -p --extra --group --project -n --package"))
            kept += [as_called, sub]
        elif first in _PACKAGE_MANAGERS and _INTERPRETERS.compiled.fullmatch(_sub(rest)[0]):
            # `pnpm node --run check` runs node.
            inner = rest[_sub(rest)[1] :]
            kept.append(first)
        elif first in _PACKAGE_MANAGERS - {"npm"} and _sub(rest)[0] in _MONOREPO_TOOLS:
            inner = rest[_sub(rest)[1] :]
            kept.append(first)
        else:
            break
        if not inner:
            break
        rest = inner
    program = _program_in(rest[0])
    return " ".join([*kept, *_named(program, rest)]), program


def is_interpreter(program: str) -> bool:
    """Whether a program runs code that it is given: without a script it says nothing about a project."""
    return _INTERPRETERS.compiled.fullmatch(program.rpartition("/")[2]) is not None


def _program_in(word: str) -> str:
    """A program as it is called: by its name where any shell finds it, else with its folder."""
    found = _ON_PATH.compiled.match(word)
    return word.rsplit("/", 1)[-1] if found is not None and word.count("/") == found[0].count("/") else word


def _sub(words: list[str]) -> tuple[str, int]:
    """The first argument of a program that is neither an option nor its value, and its position."""
    word, at = first_argument(words[1:], OPTION_VALUES.get(words[0], frozenset()))
    return word, at + 1


def _named(program: str, words: list[str]) -> list[str]:
    """The program with its subcommand, script, targets and part of a monorepo."""
    # `./gradlew` is in the checkout and takes tasks as `gradle` does, `.venv/bin/python` is a Python.
    known = program.rpartition("/")[2]
    if _INTERPRETERS.compiled.fullmatch(known):
        return [program, *_script(words[1:])]
    takes_more = known in _TARGETS or known in OPTION_VALUES or known in _PACKAGE_MANAGERS
    if known in TAKES_OPERANDS or ("/" in program and not takes_more) or program.endswith(_SCRIPTS):
        return [program]
    sub, at = _sub([known, *words[1:]])
    takes_value = OPTION_VALUES.get(known, frozenset()) & _PART
    part = [f"{word} {words[n + 1]}" for n, word in enumerate(words[:at]) if word in takes_value and n + 1 < len(words)]
    if known in _TARGETS:
        return [program, *part, *_targets(known, words[at : words.index("--")] if "--" in words else words[at:])]
    if not _NAME.compiled.match(sub) or "." in sub.lstrip("."):
        return [program, *part]
    script = next((word for word in words[at + 1 :] if not word.startswith("-")), "")
    if sub in ("run", "run-script") and (known in ("pnpm", "yarn") or (known == "npm" and script in _OWN_SCRIPTS)):
        # `pnpm run lint` is `pnpm lint`, and `npm run test` is `npm test`.
        return [program, *part, script] if _NAME.compiled.match(script) else [program, *part, sub]
    named = [program, *part, sub]
    if sub in _NAMES_MORE and at + 1 < len(words):
        more = next((word for word in words[at + 1 :] if not word.startswith("-")), "")
        if _NAME.compiled.match(more) and "." not in more:
            named.append(more)
            if more in ("vitest", "playwright", "tsc", "prisma", "biome") and at + 2 < len(words):
                named += [word for word in words[at + 2 : at + 3] if _NAME.compiled.match(word) and "." not in word]
    return named


def _targets(program: str, words: list[str]) -> list[str]:
    """The tasks that a program is given, without options and their values: `-x test` leaves the tests out."""
    values = OPTION_VALUES.get(program, frozenset())
    pairs = zip(["", *words], words, strict=False)
    return [word for before, word in pairs if before not in values and "=" not in word and _TASK.compiled.match(word)][
        :3
    ]


def _script(words: list[str]) -> list[str]:
    """What an interpreter runs: a module, a script, or code that is given with it."""
    for at, word in enumerate(words):
        if word in ("-m", "--run") and at + 1 < len(words):
            return [word, words[at + 1]]
        if word in _INLINE:
            return [word]
        if word == "--test" or word == "--check":
            return [word]
        if not word.startswith("-"):
            return [word] if len(word) < 80 and "$" not in word else []
    return []


@lru_cache(maxsize=4096)
def purpose_of(form: str) -> Purpose:
    """What a form is for, by its words."""
    if form.startswith(("git ", "gh ", "glab ", "jj ", "gt ")) or form == "cz commit":
        return "commit" if form.endswith(" commit") else "other"
    if form.endswith(" install"):
        return "install"  # `npx playwright install` runs no test
    text = _HUMP.compiled.sub("-", form).lower() if "gradle" in form else form
    session = _SESSIONS.compiled.search(text) if "nox" in text or "tox" in text else None
    if session is not None:
        text = session["name"] or "test"
        text = "test" if text.startswith("py") else text
    for purpose, pattern in _PURPOSES:
        if pattern.compiled.search(text):
            return purpose
    return "other"
