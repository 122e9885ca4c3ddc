"""Whether a command can still work in a checkout, and whether the checkout itself says the same.

Only what the checkout clearly contradicts is held back: a wrong answer silences what is right. Where a task may come
from a place that is not read (an address, a plugin, a file that a build makes, another folder), nothing is said.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

from seasoned.command.parse import Step, is_assignment, names, parse
from seasoned.command.written import purpose_of
from seasoned.lazy_regex import LazyRegex
from seasoned.lesson.installed_program import TOOL_FILES, is_installed
from seasoned.lesson.task_file import (
    MOST_FILES,
    RUNNERS,
    Tasks,
    members_of,
    read_manifest,
    read_small,
    scripts_in,
    upward,
)

# Folders of what is installed or built. What is missing there comes back with the next build.
_MADE = names("node_modules .venv venv env target dist build out bin obj _build .next .tox .nox tmp vendor coverage")
# Behind these there may be programs, files and tasks that are not there now.
_PREPARES = names(
    ". source eval nvm sdk conda mamba workon module git mkdir cp mv ln tar unzip curl wget pushd touch tee"
)
# Wrappers whose program comes from elsewhere, with the word behind them.
_PROVIDES = LazyRegex(r"(?:npx|bunx|pnpx|uvx|uv|poetry|pipenv|pdm|hatch|rye|bundle)(?: |$)")
# The options that name the folder to work in, of the programs that have one.
_FOLDER = names("-C --dir --directory --prefix --cwd --cd --working-directory")
_WORKS_IN = names("make gmake npm pnpm yarn bun just task mise cargo turbo deno poetry")
_VALUES = names(
    "-j --jobs -I -l -o -O --output -W --concurrency -t --tool -E --env --shell --loglevel --reporter --env-file -c"
    " --config --target-dir --color --profile --features -p --package -F --filter --workspace"
)
_MORE_VALUES = {"npm": names("-w"), "just": names("-d"), "task": names("-d")}
# With these a program works on something else than what is looked at here.
_OTHER = names("-f --file --makefile --justfile -g --global --taskfile --manifest-path --if-present --version --help")
_SCRIPT = LazyRegex(r"[\w./~+@-]+\.(?:py|sh|bash|zsh|rb|pl|php|[cm]?[jt]sx?)\Z")
_INTERPRETERS = LazyRegex(r"(?:python|pypy)[\d.]*|node|deno|bun|ruby|perl|php|bash|sh|zsh|tsx|ts-node")
_INLINE = names("-c -e -m -p -E -s - --eval --print --run --test --check -V -v -i")
_INTERPRETER_VALUES = names("-W -X -r --require --import --loader --env-file -I -o --tsconfig --preload")
_RUNS_ELSEWHERE = LazyRegex(r"\b(?:uv|poetry|pdm|pipenv|hatch) .*(?:--directory|--project|-C|-p)\b")
_PLAIN = LazyRegex(r"[\w./~+@:-]+\Z")
# The file without which a subcommand has nothing to work on.
_NEEDS: dict[str, tuple[tuple[str, ...], frozenset[str]]] = {
    **{program: (RUNNERS[program].files, frozenset({""})) for program in ("make", "just", "task")},
    "go": (("go.mod", "go.work"), names("test build vet generate")),
    **dict.fromkeys(("poetry", "pdm"), (("pyproject.toml",), names("run install lock add build sync"))),
    "bundle": (("Gemfile",), names("exec install")),
    "mvn": (("pom.xml",), names("compile test package verify install")),
    "gradle": (
        ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"),
        names("build test check"),
    ),
    "pre-commit": ((".pre-commit-config.yaml", ".pre-commit-config.yml"), names("run install")),
    "nx": (("nx.json", "lerna.json", "package.json"), names("run test build lint affected run-many")),
    "rake": (("Rakefile", "rakefile", "Rakefile.rb", "rakefile.rb"), names("test default build spec")),
}
_LOCKS = dict(
    pair.split("=")
    for pair in names(
        "pnpm-lock.yaml=pnpm yarn.lock=yarn package-lock.json=npm npm-shrinkwrap.json=npm bun.lock=bun bun.lockb=bun"
        " uv.lock=uv poetry.lock=poetry pdm.lock=pdm Pipfile.lock=pipenv Gemfile.lock=bundle"
    )
)
_OF_NODE = names("npm pnpm yarn bun")
_FILTERS = ("--filter", "-F", "--workspace")
# Subcommands of these that are not scripts of the project.
_BUILT_IN = names(
    "access add adduser approve-builds audit bin bugs c cache cat-file ci cit clean completion config constraints"
    " create deploy deprecate dedupe dist-tag dlx docs doctor env exec explain explore fetch fund get global help i"
    " import info init install install-test it licenses link list ll ln login logout ls node npm outdated owner pack"
    " patch patch-commit pkg plugin pm ping policies prefix prune publish query rb rebuild remove repl repo rm root"
    " runtime sbom search self-update server set setup star stage store tag team un uninstall unlink unplug up update"
    " upgrade upgrade-interactive version versions view whoami why workspace workspaces x"
)
_CARGO = names("b bench build c check clean clippy d doc fix fmt metadata package publish r run rustc t test tree")
_MORE_CARGO = names(
    "add config fetch generate-lockfile help info init install locate-project login logout miri new owner pkgid remove"
    " report rm rustdoc search uninstall update vendor verify-project version yank"
)


def contradiction(command: str, folder: Path) -> str | None:
    """Why a command cannot work in this folder; None if nothing speaks against it."""
    try:
        return _contradiction(command, folder)
    except (OSError, ValueError, RuntimeError):
        return None  # such as a folder that may not be read


def _contradiction(command: str, folder: Path) -> str | None:
    place, is_prepared = folder, "PATH=" in command
    steps = parse(command)
    # `a || b` works without a; a folder entered in brackets is left behind them.
    if (
        _RUNS_ELSEWHERE.compiled.search(command)
        or any(step.join == "||" for step in steps)
        or ("(" in command and sum(step.program == "cd" for step in steps) > 1)
    ):
        return None
    for step in steps:
        if step.program == "cd":
            if len(step.words) != 1 or not _PLAIN.compiled.match(step.words[0]) or step.words[0] == "-":
                return None
            place = place / Path(step.words[0]).expanduser()
            if not place.is_dir():
                return f"there is no folder {step.words[0]!r}"
            continue
        found = _contradicted(step, place, is_prepared=is_prepared)
        if found is not None:
            return found
        purpose = purpose_of(" ".join((step.program, *step.words[:3])))
        if step.program in _PREPARES or purpose in ("install", "build"):
            return None
    return None


def agrees(command: str, folder: Path) -> bool:
    """Whether the checkout itself names this way: by a lock file, or by the task, target or script that is run."""
    place, said = folder, list[bool]()
    try:
        for step in parse(command):
            if step.program == "cd" and len(step.words) == 1:
                place = place / step.words[0]
            elif step.join != "|":
                said.append(_says_same(step, place))
    except (OSError, ValueError, RuntimeError):
        return False
    return bool(said) and all(said) and contradiction(command, folder) is None


def _says_same(step: Step, folder: Path) -> bool:
    step, _ = _inside(step)
    place = _working_folder(step, folder)
    if place is None:
        return False
    folder = place
    given = _arguments(step)
    for manager in (step.program, *(word.partition(" ")[0] for word in step.prefix)):
        if (chosen := _is_chosen(manager, folder)) is not None:
            return chosen and (
                _has_script(step, given[1], folder)
                if given[:1] == ["run"] and given[1:]
                else bool(given or step.prefix)
            )
    if step.program in ("npm", "node"):
        asked = _asked_script(step, given)
        return _has_script(step, asked, folder)
    if step.prefix == ("mise",):
        named = re.compile(rf"^\"?(?:[\w-]+:)?(?:\S+/)?{re.escape(step.program)}\"?[ =]", re.MULTILINE)
        texts = (read_small(place / name) for place in upward(folder) for name in TOOL_FILES[:3])
        return any(text is not None and named.search(text) for text in texts)
    if step.program == "cargo" and given:
        return given[0] in _aliases(folder) or (given[0] in _CARGO and _is_above(folder, ("Cargo.toml",)))
    if asked_tasks := _asked_tasks(step.program, given):
        known = _known(step.program, folder)
        return all(any(name in tasks.names for tasks in known) for name in asked_tasks)
    path = _path_of(step)
    return "/" in path and path[0] not in "/~" and not _is_made(path) and (folder / path).is_file()


def _has_script(step: Step, script: str, folder: Path) -> bool:
    """Whether the package has a script, or any package of the workspace if the command names one."""
    names_package = any(word.startswith(("-F", "-w", "-r", "--filter", "--workspace")) for word in step.words)
    places = members_of(folder) if names_package else upward(folder)
    return any(script in scripts.names for place in places if (scripts := scripts_in(place)) is not None)


def _is_chosen(manager: str, folder: Path) -> bool | None:
    """Whether the checkout chose this package manager; None if it chose none of its kind, or it is something else."""
    kind = _OF_NODE if manager in _OF_NODE else frozenset({manager})
    for place in upward(folder) if manager in _LOCKS.values() else ():
        named = (read_manifest(place) or {}).get("packageManager") if kind is _OF_NODE else None
        if isinstance(named, str) and named:
            return named.partition("@")[0] == manager
        locked = {name for file, name in _LOCKS.items() if name in kind and (place / file).exists()}
        if locked:
            return locked == {manager}
    return None


def _contradicted(step: Step, folder: Path, *, is_prepared: bool) -> str | None:
    wrapper = step.prefix[0].partition(" ")[0] if step.prefix else ""
    step, is_provided = _inside(step)
    path = _path_of(step)
    wanted = [wrapper] if is_provided else [path]
    if is_provided and " run" in "".join(step.prefix) and _SCRIPT.compiled.match(path):
        wanted.append(f"./{path}")
    for name in wanted if not is_prepared else ():
        if name and not _is_found(name, folder):
            return f"there is no file {name.removeprefix('./')!r}" if "/" in name else f"{name!r} is not on the path"
    place, given = _working_folder(step, folder), _arguments(step)
    if place is not None and not place.is_dir():
        return f"there is no folder {place.name!r}"
    if place is None or not _OTHER.isdisjoint(step.words) or any("$" in word or "…" in word for word in given[:2]):
        return None
    needed, subcommands = _NEEDS.get(step.program, ((), frozenset()))
    is_alone = any("@" in word or word.endswith(".go") for word in given)
    if "".join(given[:1]) in subcommands and not is_alone and not _is_somewhere(place, needed):
        return f"there is no {needed[0]}"
    if step.program == "cargo":
        return _missing_in_cargo(step, given, place)
    if asked := _asked_tasks(step.program, given):
        return _missing_task(step.program, asked, place)
    return _missing_script(step, given, place) or _missing_file(step, place)


def _inside(step: Step) -> tuple[Step, bool]:
    """What `mise exec` or another wrapper runs, and whether its program comes from elsewhere than the path."""
    at = step.words.index("--") if "--" in step.words else len(step.words)
    if step.program in ("mise", "rtx", "asdf", "fnm", "direnv", "pnpm", "npm") and {"exec", "x"} & set(step.words[:3]):
        inner = step.words[at + 1 :]
        if inner:
            return Step(step.join, inner[0], inner[1:], prefix=(step.program,)), True
    is_provided = any(_PROVIDES.compiled.match(word) for word in step.prefix)
    return Step(step.join, step.program, step.words[:at], step.behind, step.prefix), is_provided


def _path_of(step: Step) -> str:
    """The program as it was written, with its folder."""
    return step.prefix[-1] + step.program if step.prefix and step.prefix[-1].endswith("/") else step.program


def _arguments(step: Step) -> list[str]:
    """The arguments without options, their values, variables, numbers and toolchains."""
    values = _VALUES | _FOLDER | _MORE_VALUES.get(step.program, frozenset())
    pairs = zip(("", *step.words), step.words, strict=False)
    rest = [word for before, word in pairs if before not in values and not word.startswith(("-", "+"))]
    return [word for word in rest if not is_assignment(word) and not word.isdigit()]


def _value_of(option: str, words: tuple[str, ...]) -> str:
    following = next((after for word, after in pairwise(words) if word == option), "")
    return following or next((word[len(option) + 1 :] for word in words if word.startswith(f"{option}=")), "")


def _working_folder(step: Step, folder: Path) -> Path | None:
    """The folder that a command names to work in: `make -C docs`, `pnpm --dir web`; None for one in a variable."""
    named = _FOLDER | (_MORE_VALUES.get(step.program, frozenset()) - {"-w"})
    for option in named if step.program in _WORKS_IN else ():
        value = _value_of(option, step.words)
        if value:
            return folder / Path(value).expanduser() if _PLAIN.compiled.match(value) else None
    return folder


def _below(folder: Path) -> list[Path]:
    """The folders directly below, without those of tools and builds: a part of a monorepo may be meant."""
    try:
        found = [one for one in os.scandir(folder) if one.name[0] != "." and one.name not in _MADE and one.is_dir()]
    except OSError:
        return []
    return [Path(one.path) for one in found[:MOST_FILES]]


def _is_above(folder: Path, files: Iterable[str]) -> bool:
    return any((place / name).exists() for place in upward(folder) for name in files)


def _is_somewhere(folder: Path, files: tuple[str, ...]) -> bool:
    return _is_above(folder, files) or any((place / name).exists() for place in _below(folder) for name in files)


def _is_found(program: str, folder: Path) -> bool:
    if "/" in program:
        is_path = _PLAIN.compiled.match(program) is not None
        return not is_path or _is_made(program) or _is_file(program, folder)
    return not _PLAIN.compiled.match(program) or is_installed(program, folder)


def _is_file(path: str, folder: Path) -> bool:
    """Whether a file exists, perhaps seen from another folder of the checkout."""
    return Path(path).expanduser().exists() if path[0] in "/~" else _is_somewhere(folder, (path,))


def _is_made(path: str) -> bool:
    """Whether a path may be what a build or an installation puts into the checkout."""
    if path.startswith(("/", "~")):
        return False
    parts = Path(path).parts
    return not _MADE.isdisjoint(parts) or (
        len(parts) == 1 and "." not in parts[0] and parts[0] not in ("gradlew", "mvnw")
    )


def _missing_file(step: Step, folder: Path) -> str | None:
    """The script that an interpreter is given and that is not in the checkout."""
    if not _INTERPRETERS.compiled.fullmatch(step.program):
        return None
    skip = False
    for word in step.words:
        if word in _INLINE or "://" in word:
            return None
        if skip or word.startswith("-") or (step.program in ("bun", "deno") and word == "run"):
            skip = word in _INTERPRETER_VALUES
        elif not _SCRIPT.compiled.match(word) or _is_made(word) or _is_file(word, folder):
            return None
        else:
            return f"there is no file {word!r}"
    return None


def _asked_script(step: Step, given: list[str]) -> str:
    """The script that a package manager is asked to run; empty if it is asked for something else."""
    name = given[0] if given else ""
    if step.program == "node":
        return _value_of("--run", step.words)
    if name in ("run", "run-script"):
        return given[1] if len(given) > 1 else ""
    if step.program == "npm":
        return {"test": "test", "t": "test", "tst": "test", "start": "start"}.get(name, "")
    return "" if name in _BUILT_IN or (name in ("test", "build") and step.program == "bun") else name


def _missing_script(step: Step, given: list[str], folder: Path) -> str | None:
    filters = [value for option in _FILTERS if (value := _value_of(option, step.words))]
    filters += [_value_of("-w", step.words)] if step.program == "npm" and "-w" in step.words else []
    if step.program == "yarn" and given[:1] == ["workspace"] and len(given) > 2:
        filters, given = [given[1]], given[2:]
    script = _asked_script(step, given) if step.program in _OF_NODE or step.program == "node" else ""
    if not script or not re.fullmatch(r"[\w:.@-]+", script):
        return None
    members = members_of(folder)
    if len(members) >= MOST_FILES:
        return None
    chosen = [place for place, name in members.items() if filters and filters[0] in (name, name.partition("/")[2])]
    if filters and (not chosen or sum(word.startswith(("--filter", "-F", "-w", "--work")) for word in step.words) > 1):
        return None  # a pattern, a folder, several packages, or one that is not among those that were read
    places = chosen or [*upward(folder), *members, *_below(folder)]
    known = [scripts for place in places if (scripts := scripts_in(place)) is not None]
    if any(scripts.may_have(script) for scripts in known) or (script == "start" and (folder / "server.js").exists()):
        return None
    if not known:
        return "there is no package.json"
    # `pnpm vitest` runs a program of the dependencies; before these are installed, any word may be one.
    is_strict = step.program in ("npm", "node") or script in ("test", "start")
    is_strict = is_strict or (step.program == "pnpm" and given[0] == "run")
    if not is_strict and (not _is_above(folder, ("node_modules/.bin",)) or _is_found(script, folder)):
        return None
    return f"{filters[0] if filters else 'package.json'} has no script {script!r}"


def _aliases(folder: Path) -> set[str]:
    places = (*upward(folder), Path.home())
    texts = [read_small(place / ".cargo" / name) for place in places for name in ("config.toml", "config")]
    return {name for text in texts if text for name in re.findall(r"^\s*(?:alias\.)?([\w-]+)\s*=", text, re.MULTILINE)}


def _missing_in_cargo(step: Step, given: list[str], folder: Path) -> str | None:
    sub = given[0] if given else ""
    if sub not in _CARGO:
        is_known = not sub or sub in _MORE_CARGO or sub in _aliases(folder)
        return None if is_known or _is_found(f"cargo-{sub}", folder) else f"cargo has no subcommand {sub!r}"
    if not _is_somewhere(folder, ("Cargo.toml",)):
        return "there is no Cargo.toml"
    package = _value_of("-p", step.words) or _value_of("--package", step.words)
    text = next((text for place in upward(folder) if (text := read_small(place / "Cargo.lock")) is not None), None)
    if text is None or not re.fullmatch(r"[\w-]+", package) or f'name = "{package}"' in text:
        return None
    return f"the workspace has no package {package!r}"


def _asked_tasks(program: str, given: list[str]) -> list[str]:
    """The tasks that a task runner is asked for; empty for another program or what is not looked up."""
    match program:
        case "make" | "gmake" | "task":
            asked = given
        case "just":
            asked = given[:1]
        case "mise" | "deno" | "turbo":
            given = given[1:] if given[:1] in (["tasks"], ["task"]) and program == "mise" else given
            is_run = given[:1] and given[0] in (("task",) if program == "deno" else ("run", "r"))
            asked = given[1:] if is_run and program == "turbo" else given[1:2] if is_run else []
        case _:
            asked = []
    # `//web:build` is in another part of a monorepo, `lint:*` stands for several.
    return [name for name in asked if re.fullmatch(r"\w[\w:./@%+-]*", name) and "//" not in name]


def _known(program: str, folder: Path) -> list[Tasks]:
    """The tasks of a folder, of those above it, and of the person: what a runner may find from there."""
    places = [*upward(folder), Path.home()]
    return [tasks for place in places if (tasks := RUNNERS[program].tasks(place)) is not None]


def _missing_task(program: str, asked: list[str], folder: Path) -> str | None:
    known = _known(program, folder)
    if known and all(any(tasks.may_have(name) for tasks in known) for name in asked):
        return None
    known += [tasks for place in _below(folder) if (tasks := RUNNERS[program].tasks(place)) is not None]
    if not known:
        return f"there is no {RUNNERS[program].files[0]}"
    for name in asked:
        # `make README.md` has nothing to do and succeeds.
        if not any(tasks.may_have(name) for tasks in known) and not (program == "make" and (folder / name).exists()):
            return f"{known[0].file} has no {'target' if program == 'make' else 'task'} {name!r}"
    return None
