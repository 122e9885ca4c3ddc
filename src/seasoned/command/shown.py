"""Which command lines may be shown to another session of the same project: a small grammar of what is allowed.

What an agent is shown looks approved. So a line passes only if every word of it is known or plain: a program that
builds, tests or looks, or a path inside the project; known options; plain words. What is dangerous by the table of
commands does not pass either. In doubt the answer is no: another line shows the same way.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from seasoned.command.call import words_of
from seasoned.command.parse import after_options, first_argument, names
from seasoned.command.path import PRODUCTION, WorkingFolder
from seasoned.command.risk import assess_call, assess_command
from seasoned.command.rows import group
from seasoned.command.tool import tool_of
from seasoned.command.written import purpose_of
from seasoned.lazy_regex import LazyRegex

_MOST_CHARACTERS = 240
# Programs whose arguments are files, folders, test names and patterns.
_TOOLS = names(
    "ansible-lint autopep8 bandit basename bats biome black buf cat checkstyle clang clang-format clang-tidy cmake"
    " cmp coverage cppcheck cspell ctest cut deadcode depcruise detekt diff dirname djlint du eslint fd file find"
    " flake8 g++ gcc ghc gofmt gofumpt goimports golangci-lint govulncheck grep hadolint head hlint isort javac jest"
    " jq knip ktlint ls luacheck madge markdownlint meson mocha mypy next ninja nl nyc oxlint phpcs phpstan phpunit"
    " playwright prettier protoc psalm pwd py.test pylint pyrefly pyright pytest rg rollup rspec rubocop ruff rustc"
    " rustfmt sed shellcheck shfmt sort sqlfluff standard staticcheck stylelint svelte-check swiftc swiftformat"
    " swiftlint syft tail taplo tree tsc tsgo tsup ty typedoc uniq unittest vite vitest vue-tsc wc webpack which"
    " xmllint yamllint yq zig"
)
# Programs that run a task of the project, named by their first arguments.
_TASKS = names("make gmake just task mise rake invoke inv nox tox gradle gradlew mvn mvnw turbo nx lerna moon")
_SCRIPTS = names("npm pnpm yarn bun")
_INTERPRETERS = names("python python3 node bash sh zsh ruby php perl deno tsx ts-node bun")
_SCRIPT = (".py", ".sh", ".js", ".mjs", ".cjs", ".ts", ".mts", ".rb", ".php", ".pl")
# What a program with subcommands may do; a second word is written behind a colon.
_SUBCOMMANDS = {
    "git": names(
        "add blame branch checkout cherry-pick commit describe diff fetch grep log ls-files merge merge-base mv pull"
        " rebase remote:get-url remote:-v restore rev-parse show stash status switch tag worktree"
    ),
    "gh": names(
        "pr:view pr:list pr:checks pr:diff pr:status pr:checkout issue:view issue:list run:view run:list"
        " run:watch repo:view workflow:list workflow:view"
    ),
    "go": names(
        "build clean doc env fmt generate list mod:tidy mod:download mod:verify run test tool:cover version vet"
    ),
    "cargo": names("bench build check clean clippy doc fmt llvm-cov nextest run test tree xtask"),
    **dict.fromkeys(_SCRIPTS, names("add ci exec install ls run run-script start test workspace")),
    "uv": names("add build lock pip:install run sync tree venv"),
    "pip": names("check freeze install list show"),
    "poetry": names("add build check install lock run show"),
    "docker": names("compose:build compose:config compose:exec compose:logs compose:ps compose:run compose:up"),
    "dotnet": names("build clean format restore run test"),
    "swift": names("build run test package:resolve"),
    "bundle": names("check exec install"),
    "composer": names("check-platform-reqs dump-autoload install run run-script test validate"),
    "mix": names("compile coveralls credo deps.get dialyzer format phx.server test"),
    "flutter": names("analyze build pub:get test"),
    "dart": names("analyze compile format pub:get test"),
    "bazel": names("build query run test"),
    "pre-commit": names("run"),
    "terraform": names("fmt init plan validate"),
    **dict.fromkeys(names("nvm fnm"), names("use")),
    "helm": names("lint template"),
    "xcodebuild": names("build test"),
}
_SAME = {"pip3": "pip", "pdm": "poetry", "pipenv": "poetry", "bazelisk": "bazel"}
# Wrappers about time, and runners with the words behind which the command that they run begins.
_MANNERS = names("timeout gtimeout time nice env rtk xvfb-run corepack")
_RUNS = {
    **dict.fromkeys(names("uv poetry pdm pipenv hatch rye pixi"), names("run")),
    **dict.fromkeys(_SCRIPTS, names("exec x")),
    **dict.fromkeys(names("mise bundle fnm"), names("exec x")),
}
# Words that start a command inside another, and so say nothing about whether a sentence is written here.
_STARTING = frozenset().union(
    _TOOLS, _TASKS, _SCRIPTS, _INTERPRETERS, _MANNERS, *_RUNS.values(), *_RUNS, names("docker")
)
_WITH_VALUE = names(
    "-C -f -F -w -R -p --filter --prefix --cwd --dir --workspace --project --directory --file --repo --extra --group"
    " --package --python"
)
_FETCHING = names("npx bunx pnpx uvx")
# However often a project uses them: what they run is another command, as another user or on another machine.
_RUN_ANYTHING = names("sudo doas su ssh eval exec xargs source parallel watch")
_OPTIONS = names(
    "affected all all-extras all-features all-files all-groups all-targets allow-dirty amend args author bail base"
    " bench bin branch browser build cache cached cfg changed check ci clean color colors colour comments config"
    " config-file configuration continue continue-on-collection-errors count cov cov-branch cov-report coverage cwd"
    " debug deny-warnings detach dev dir directory disable-warnings doc document-private-items dry-run durations"
    " editable emit env-file exact example exclude exit-code experimental-strip-types ext extra fail-fast fail-under"
    " failfast features ff ff-only file files files-with-matches filter fix follow forceExit format frozen"
    " frozen-lockfile full-trace git glob graph group head headed help hidden ignore ignore-case"
    " ignore-missing-imports immutable include inspect integration jobs json keep-going last-failed legacy-peer-deps"
    " lf lib limit line-length line-number list list-files listTests locked log-failed log-level logs manifest-path"
    " markdown max-fail max-warnings maxWorkers maxfail merge-base message-format minify mode name name-only"
    " name-status no-build no-cache no-capture no-color no-cov no-coverage no-daemon no-default-features no-deps"
    " no-edit no-emit no-error-on-unmatched-pattern no-fail-fast no-frozen-lockfile no-header no-incremental no-pager"
    " no-progress no-restore no-run no-stat no-summary no-sync no-watch noEmit nocapture numprocesses oneline only"
    " open outdir outfile output-format output-on-failure package package-path parallel path paths porcelain"
    " prefer-offline prefix pretty profile project projects pyargs python quiet race raw-output rebase rebuild"
    " recursive release reporter require-hashes rerun-fails rm run runInBand runTestsByPath runxfail select"
    " self-contained session sessions set-upstream shard short show-current show-error-codes show-toplevel silent"
    " since single-branch skip-lib-check skipLibCheck solution sort source-map source-maps stacktrace staged stat"
    " strict suite summary sync tags tail target target-dir test test-dir test-threads testNamePattern testPathPattern"
    " tests threads timeout trace type typecheck unified unit update-snapshot updateSnapshot using verbose version"
    " wait watch watchAll workers working-dir workspace workspace-root workspaces"
)
# Answers to a question that a person should be asked; a task of the project may not have them either.
_FORCES = names("force yes confirm assume-yes auto-approve no-confirm privileged yolo trust_remote_code")
# Go, find and javac write long options with one hyphen.
_ONE_HYPHEN = names(
    "am bench benchmem benchtime chdir configuration count cover covermode coverpkg coverprofile cpu destination"
    " failfast fuzz fuzztime iname json list maxdepth mindepth mod msan name not path pl project race run scheme sdk"
    " short shuffle skip tags timeout trimpath type vet workspace"
)
# Short options; `-c`, `-e`, `-o`, `-p` and their like hand code or another program to most programs.
_SHORT = frozenset("abdfghiklmnqstuvwxzABCEFHLNPRSTUV")
_MORE_SHORT = {"cargo": "p", "tox": "e", "pip": "er", "tsc": "p", "mypy": "p", "git": "pc", "gradle": "p", "go": "op"}
_LESS_SHORT = {"git": "df", "make": "i", "node": "iC", "ruby": "nI", "perl": "in", "php": "ad", "sed": "iEsz"}
# Variables that change how much is said, which files are found or which mode is tried, and never what runs.
_VARIABLES = LazyRegex(
    r"(?:CI|DEBUG|VERBOSE|PORT|HOST|TZ|LANG|LC_ALL|TERM|COLUMNS|SKIP|ENV|(?:FORCE|NO)_COLOR|CARGO_TERM_COLOR"
    r"|PYTHON(?:PATH|UNBUFFERED|HASHSEED|DONTWRITEBYTECODE|IOENCODING)|(?:NODE|MIX|RAILS|RACK|APP)_ENV"
    r"|RUST_(?:LOG|BACKTRACE)|CARGO_(?:INCREMENTAL|TARGET_DIR)|CGO_ENABLED|GOOS|GOARCH|GOWORK|GO111MODULE|DATABASE_URL"
    r"|DJANGO_SETTINGS_MODULE|(?:GO|UV_|PIP_|NPM_CONFIG_)(?:MOD)?_?CACHE(?:_DIR)?|[A-Z_]*TESTS?|TEST_[A-Z_]*"
    r"|[A-Z_]*_LOG(?:_LEVEL)?)=|GIT_EDITOR=true\Z|NODE_OPTIONS=--max-old-space-size=\d+\Z"
)
_ASSIGNMENT = LazyRegex(r"[A-Za-z_]\w*=")
# Between quotes nothing that a shell would look at; what is left over is a sign of the shell.
_WORD = LazyRegex(r"""(?:"[^"\\$`!]*"|'[^']*'|[^\s"'])+""")
_QUOTED = LazyRegex(r"""(["'])(.*?)\1""")
_PLAIN = LazyRegex(
    r"[\w./:@=,+*\[\]-]+\Z"
    r"|[\w./-]*(?:HEAD|main|master)(?:[~^]\d*)+(?:\.{2,3}[\w./-]+)?\Z"  # `HEAD~1` is a place in the history
    r"|(?:not )?\w+(?: (?:and|or)(?: not)? \w+){1,4}\Z",  # `pytest -k "not slow and fast"`
    re.ASCII,
)
# Where tools install themselves outside the path of a plain shell.
_PROGRAM = LazyRegex(r"(?:/usr/local/go/bin|/opt/homebrew/bin|~/(?:\.local|\.cargo|\.bun|go)/bin)/[\w.-]+\Z", re.ASCII)
_ADDRESS = LazyRegex(r"\w[\w+.-]*:/|@[\w.-]+:|(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?/|(?:\d+\.){3}\d", re.ASCII)
_LOCAL = LazyRegex(r"https?://(?:localhost|127\.0\.0\.1)(?::\d+)?(?:/[\w./-]*)?\Z|sqlite(?:\+\w+)?:///[\w.]", re.ASCII)
_NAMES_HOST = names("-h -H --host --hostname --server --endpoint --registry --url --base-url")
_OUTSIDE = LazyRegex(r"/(?!/)|.*:/|(?:.*/)?\.\.(?:/|\Z)")
_HIDDEN = LazyRegex(r"(?:.*[/=:@])?\.(?!(?:venv|github|tox|bin|husky|storybook|config|next)\b)[A-Za-z_]", re.ASCII)
# A name has few parts; more are a sentence, written as one word or as several.
_MOST_PARTS = 5
_PART = LazyRegex(r"[A-Z]*[a-z]+|[A-Z]+")
_SUFFIX = LazyRegex(
    r"(?:\.(?:test|spec|config|e2e|d))?\.(?:[cm]?[jt]sx?|py|go|rs|rb|java|kt|cs|php|sh|md|json|ya?ml|toml|sql|vue)\Z"
)
# Words in the name of a tool that pays, publishes, destroys, or changes what others have or may do, by the action that
# a person can allow for it; for the last ones there is none.
_ACTS = {
    "delete_data": names("delete wipe purge destroy erase overwrite"),
    "shutdown_service": names("shutdown poweroff reboot restart terminate kill"),
    "deploy_production": names("deploy"),
    "publish_package": names("publish unpublish"),
    "migrate_database": names("migrate"),
    "modify_permissions": names("grant revoke approve authorize share expose"),
    "exec_remote": names("sudo ssh"),
    "transfer_funds": names("withdraw payout pay payroll charge sell"),
    "": names(
        "impersonate merge install webhook vault secret secrets credential credentials unlock disarm dismiss mute bulk"
        " everyone all tweet sms presigned"
    ),
}
_STANDARD_MODULES = names("unittest venv compileall py_compile json.tool doctest timeit")


class _Place(msgspec.Struct, frozen=True):
    """Where a command line is shown."""

    project: str
    folder: str
    named: Collection[str]


def why_not_shown(
    command: str, *, project: str = "", folder: str | None = None, named: Collection[str] = ()
) -> str | None:
    """Why a command line may not be shown to another session of its project; None if it may.

    `project` is the project's key, `folder` its path on this machine; `named` are the programs, and options of programs
    (`mypy --strict`), that it is known to use, by its own files or by several of its sessions.
    """
    text = command.strip()
    if not text or len(text) > _MOST_CHARACTERS:
        return "it is empty or too long"
    if not text.isprintable():
        return "it has more than one line"
    place = _Place(project, (folder or "").rstrip("/"), named)
    for part in text.split(" && "):
        if _WORD.compiled.sub("", part).strip():
            return "it has a sign of the shell"
        words = [_QUOTED.compiled.sub(r"\2", word) for word in _WORD.compiled.findall(part)]
        why = _why_not_words(words, place) or _why_not_run(words, place)
        if why is not None:
            return why
    # Whoever is shown it may follow it anywhere, so it is judged as if it ran on another machine.
    found = assess_command(text, WorkingFolder(host="another machine"))
    return f"it {found[0].why}" if found else None


def why_not_called(tool: str, arguments: Mapping[str, Any], *, allowed: Collection[str] = ()) -> str | None:
    """Why a call of a named tool may not be shown, whatever its values are; None if it may.

    `allowed`: the actions that a person allowed without being asked.
    """
    if tool_of(tool).form in ("python", "agent"):
        return "it runs code or tells another agent what to do"
    return next((why for action, why in acts_of_call(tool, arguments).items() if action not in allowed), None)


def acts_of_call(tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    """The actions that a call of a named tool needs a person for, and why; "" for what no one can allow."""
    found = {one.action: one.why for one in assess_call(tool, arguments, WorkingFolder())}
    words = words_of(tool)
    if not (words and words[0] in group("looking") and "and" not in words):
        for action, acts in _ACTS.items():
            if not acts.isdisjoint(words):
                found.setdefault(action, "destroys, publishes, pays or changes who may do what")
    return {action: f"it {why}" for action, why in found.items()}


def _why_not_words(words: list[str], place: _Place) -> str | None:
    """What keeps words out, whatever the program."""
    in_a_row = 0
    for at, word in enumerate(words):
        name, _, given = word.partition("=")
        host = given if name in _NAMES_HOST else word if at and words[at - 1] in _NAMES_HOST else ""
        if "." in host and not host.startswith("./"):
            return "it names an address outside the project"
        if at == 0 and _PROGRAM.compiled.match(word):
            continue
        in_a_row = in_a_row + (word not in _STARTING) if word.isalpha() else 0
        parts = (len(_PART.compiled.findall(_SUFFIX.compiled.sub("", one))) for one in re.split("[/,]", word))
        if in_a_row > _MOST_PARTS or max(parts) > _MOST_PARTS:
            return "it has a sentence"
        if not _PLAIN.compiled.match(word):
            return "it has a sentence or a sign of the shell"
        value = word.partition("=")[2] or word
        for own in filter(None, (place.folder, place.project)):
            if value == own or value.startswith(f"{own}/"):
                value = "." + value[len(own) :]
        if _LOCAL.compiled.match(value):
            continue
        if _ADDRESS.compiled.search(value):
            return "it names an address outside the project"
        if _OUTSIDE.compiled.match(value):
            return "it names a path outside the project"
        if _HIDDEN.compiled.match(value):
            return "it names a hidden file"
        if PRODUCTION.compiled.search(word) and word != "NODE_ENV=production":
            return "it points at production"
    return None


def _why_not_run(words: list[str], place: _Place) -> str | None:
    """What keeps a simple command out."""
    while words and _ASSIGNMENT.compiled.match(words[0]):
        if not _VARIABLES.compiled.match(words[0]):
            return "it sets a variable that may change what runs"
        words = words[1:]
    if not words:
        return "it runs nothing"
    first, rest = words[0].removeprefix(f"{place.folder}/"), words[1:]
    program = first.rsplit("/", 1)[-1]
    sub, at = first_argument(rest, _WITH_VALUE)
    if first == "cd":
        return None if len(rest) == 1 and not rest[0].startswith("-") else "it goes elsewhere"
    if first in _MANNERS:
        return _why_not_run(after_options(rest, _WITH_VALUE), place)
    if first in _FETCHING or (first in _SCRIPTS and sub == "dlx"):
        tool = [word for word in rest if word not in ("dlx", "--no-install", "--no")]
        if not tool or not (tool[0] in place.named or tool[0] in _TOOLS or tool[0] in _TASKS):
            return "it runs code from elsewhere"
        return _why_not_options(tool[0], tool[1:], named=place.named, free=tool[0] in _TASKS)
    if program in _SCRIPTS and (sub == "node" or sub in _TASKS):
        return _why_not_run(rest[at:], place)
    if sub in _RUNS.get(program, ()):
        # `mise x TOOL -- COMMAND`: in front of the hyphens are tools to install.
        start = rest.index("--") if program == "mise" and "--" in rest else at
        inner = after_options(rest[start + 1 :], _WITH_VALUE)
        return _why_not_options(program, rest[:at]) or _why_not_run(inner, place)
    if program in _INTERPRETERS and (program != "bun" or sub.endswith(_SCRIPT)):
        return _why_not_interpreted(program, rest, place)
    if program in _SUBCOMMANDS or program in _SAME:
        return _why_not_subcommand(_SAME.get(program, program), rest, place)
    if program in _TOOLS:
        return _why_not_options(program, rest, named=place.named)
    is_own = program in place.named and program not in _RUN_ANYTHING
    if program in _TASKS or "/" in first or is_own:
        return _why_not_options(program, rest, named=place.named, free=True)
    return "its program is not known"


def _why_not_subcommand(program: str, words: list[str], place: _Place) -> str | None:
    sub, at = first_argument(words, _WITH_VALUE)
    rest = words[at + 1 :]
    more, further = first_argument(rest, _WITH_VALUE)
    # pnpm, yarn and bun run a script of the project by its bare name.
    is_script = program in ("pnpm", "yarn", "bun") and purpose_of(f"{program} {sub}") != "other"
    if not (is_script or {sub, f"{sub}:{more}"} & _SUBCOMMANDS[program]):
        return f"{program} is not known to do this"
    installs = sub in ("install", "add", "pip") and program != "git"
    if installs and any(_is_foreign(word, place) for word in rest if word != "install"):
        return "it installs code from elsewhere"
    if sub in ("fetch", "pull") and more not in ("", "origin", "upstream"):
        return "it names another repository"
    if program == "git" and _throws_away(sub, rest):
        return "it throws away changes"
    if (sub, more) in (("compose", "exec"), ("compose", "run")):
        inner = rest[further + 1 :]
        return _why_not_run(inner[first_argument(inner, _WITH_VALUE)[1] + 1 :], place)
    is_free = program in _SCRIPTS and sub not in ("install", "add", "ci")
    return _why_not_options(program, words, named=place.named, free=is_free)


def _throws_away(sub: str, words: list[str]) -> bool:
    """Whether git forgets changes that were not committed."""
    losing = {"checkout": {"--", "."}, "stash": {"drop", "clear"}}.get(sub, set())
    return not losing.isdisjoint(words) or (sub == "restore" and "--staged" not in words)


def _why_not_interpreted(program: str, words: list[str], place: _Place) -> str | None:
    """An interpreter runs a script inside the project, or a module of it."""
    if program.startswith("python") and words[:1] == ["-m"]:
        module, rest = words[1] if words[1:] else "", words[2:]
        if module in ("pip", "uv"):
            return _why_not_subcommand(module, rest, place)
        is_own = module.partition(".")[0] not in sys.stdlib_module_names or module in _STANDARD_MODULES
        if not is_own:
            return "it runs a module of Python"
        return _why_not_options(module, rest, named=place.named, free=module not in _TOOLS)
    sub, at = first_argument(words, _WITH_VALUE)
    if {"--run", "--test", "--version"} & set(words[:1]):
        return _why_not_options(program, words)
    if not sub.endswith(_SCRIPT) and "/" not in sub:
        return "it runs code that is not in a file of the project"
    return _why_not_options(program, words[:at]) or _why_not_options("", words[at + 1 :], free=True)


def _why_not_options(program: str, words: list[str], *, named: Collection[str] = (), free: bool = False) -> str | None:
    """What keeps options out; `free` for scripts and tasks of the project, whose long options are their own."""
    short = (_SHORT - set(_LESS_SHORT.get(program, ""))) | set(_MORE_SHORT.get(program, ""))
    for word in words:
        name = word.lstrip("-").partition("=")[0]
        if program in ("git", "gh") and re.match(r"-[a-z]*m\Z|--(?:message|title|body)", word):
            return "it carries its own message"
        if word == "--":
            # What follows goes to a script of the project, or is a file.
            return None
        if name not in _FORCES and f"{program} {word.partition('=')[0]}" in named:
            continue
        if word.startswith("--") and (name in _FORCES or (not free and name not in _OPTIONS)):
            return f"--{name} is not a known option"
        is_short = name in _ONE_HYPHEN or name.isdigit() or set(name.rstrip("0123456789")) <= short
        if word.startswith("-") and not word.startswith("--") and not is_short:
            return f"-{name} is not a known option"
    return None


def _is_foreign(word: str, place: _Place) -> bool:
    """Whether an installer is given more than the project itself and its own files."""
    return not (word.startswith(("-", ".")) or "/" in word or word.endswith(".txt") or word in place.named)
