"""Whether a command can still work in a checkout, and whether the checkout itself says the same.

Only what the checkout clearly contradicts is held back: a wrong answer silences what is right. Where the answer needs
more than a plain look, nothing is said.
"""

from __future__ import annotations

from pathlib import Path

from seasoned.command.parse import Step, is_assignment, names, parse
from seasoned.command.written import purpose_of
from seasoned.lazy_regex import LazyRegex
from seasoned.lesson.task_file import FILES, TaskFiles, upward

# Folders of what is installed or built. What is missing there comes back with the next build.
_MADE = names("node_modules .venv venv env target dist build out bin obj _build .next .tox .nox tmp vendor coverage")
# Behind these there may be programs, files and tasks that are not there now.
_PREPARES = names(". source eval nvm sdk conda mamba module git mkdir cp mv ln tar unzip curl wget pushd touch tee")
_PROVIDES = LazyRegex(r"(?:npx|bunx|pnpx|uvx|uv|poetry|pipenv|pdm|hatch|rye|bundle)(?: |$)")
# Options that choose another folder, file or package than the one that is looked at, or that run no task.
_ELSEWHERE = LazyRegex(
    r"-[CFfd]|-[wrg]\Z|--(?:filter|workspaces?|recursive|if-present|global|version|help|list|prefix|cwd|cd|dir"
    r"|directory|project|file|makefile|justfile|manifest-path|working-directory)(?:=|\Z)"
)
# `a || b` works without a, a folder entered in brackets is left behind them, and a wrapper can work in another folder.
_UNSURE = LazyRegex(
    r"\|\||\bPATH=|(?s:\(.*\bcd\b.*\bcd\b)|\b(?:uv|poetry|pdm|pipenv|hatch) .*(?:--directory|--project|-C|-p)\b"
)
_VALUES = names("-j --jobs -I -l -o -O -W -E --env --shell --loglevel --reporter -c --config --color --profile -p")
_SCRIPT = LazyRegex(r"[\w./~+@-]+\.(?:py|sh|bash|zsh|rb|pl|php|[cm]?[jt]sx?)\Z")
_INTERPRETERS = LazyRegex(r"(?:python|pypy)[\d.]*|node|ruby|perl|php|bash|sh|zsh|tsx|ts-node")
_PLAIN = LazyRegex(r"[\w./~+@:-]+\Z")
# The file without which a subcommand has nothing to work on.
_NEEDS: dict[str, tuple[tuple[str, ...], frozenset[str]]] = {
    "cargo": (("Cargo.toml",), names("b bench build c check clean clippy doc fix fmt r run t test tree")),
    "go": (("go.mod", "go.work"), names("test build vet generate")),
    "uv": (("pyproject.toml",), names("sync lock add remove build")),
    "poetry": (("pyproject.toml",), names("install lock add build sync")),
}
_OF_NODE = names("npm pnpm yarn bun")
_SCRIPT_FORMS = (("npm", "run"), ("npm", "test"), ("pnpm", "run"), ("pnpm", "test"), ("yarn", "test"))
_INSTALLS = names("install i ci add remove exec dlx x update")
_LOCKS = dict(
    pair.split("=")
    for pair in names(
        "pnpm-lock.yaml=pnpm yarn.lock=yarn package-lock.json=npm bun.lock=bun bun.lockb=bun uv.lock=uv"
        " poetry.lock=poetry"
    )
)


def contradiction(command: str, folder: Path) -> str | None:
    """Why a command cannot work in this folder; None if nothing speaks against it."""
    try:
        return _contradiction(command, folder, TaskFiles())
    except (OSError, ValueError, RuntimeError):
        return None  # such as a folder that may not be read


def agrees(command: str, folder: Path) -> bool:
    """Whether the checkout itself names this way: by a lock file, or by the task, target or script that is run."""
    place, said, files = folder, list[bool](), TaskFiles()
    try:
        for step in parse(command):
            if step.program == "cd" and len(step.words) == 1:
                place = place / step.words[0]
            elif step.join != "|":
                said.append(_says_same(_inside(step), place, files))
        return bool(said) and all(said) and _contradiction(command, folder, files) is None
    except (OSError, ValueError, RuntimeError):
        return False


def _contradiction(command: str, folder: Path, files: TaskFiles) -> str | None:
    for step in () if _UNSURE.compiled.search(command) else parse(command):
        if step.program == "cd":
            if len(step.words) != 1 or not _PLAIN.compiled.match(step.words[0]) or step.words[0] == "-":
                return None
            folder = folder / Path(step.words[0]).expanduser()
            if not folder.is_dir():
                return f"there is no folder {step.words[0]!r}"
            continue
        found = _missing_file(step, folder) or _missing_task(_inside(step), folder, files)
        purpose = purpose_of(" ".join((step.program, *step.words[:3])))
        if found is not None or step.program in _PREPARES or purpose in ("install", "build"):
            return found
    return None


def _says_same(step: Step, folder: Path, files: TaskFiles) -> bool:
    asked, places = _asked(step), list(upward(folder))
    if asked is None:
        return False
    known = [tasks for place in places if (tasks := files.tasks(step.program, place)) is not None]
    has_all = bool(asked) and all(any(name in tasks.names for tasks in known) for name in asked)
    for manager in (step.program, *(word.partition(" ")[0] for word in step.prefix)):
        chosen = _is_chosen(manager, places, files)
        if manager in _OF_NODE and (chosen is not None or manager != "npm"):
            is_program = any((place / "node_modules/.bin" / name).exists() for place in places for name in asked)
            return bool(chosen) and (has_all or is_program or step.sub in _INSTALLS)
        if chosen is not None:
            return chosen and bool(step.words or step.prefix)
    if step.program == "cargo":
        return step.sub in _NEEDS["cargo"][1] and "-p" not in step.words and _is_somewhere(folder, ("Cargo.toml",))
    path = _path_of(step)
    return has_all or ("/" in path and path[0] not in "/~" and not _is_made(path) and (folder / path).is_file())


def _is_chosen(manager: str, places: list[Path], files: TaskFiles) -> bool | None:
    """Whether the checkout chose this package manager; None if it chose none of its kind, or it is something else."""
    kind = _OF_NODE if manager in _OF_NODE else frozenset({manager})
    for place in places if manager in _LOCKS.values() else ():
        package = files.tasks(manager, place)
        if package is not None and package.manager:
            return package.manager == manager
        locked = {name for file, name in _LOCKS.items() if name in kind and (place / file).exists()}
        if locked:
            return locked == {manager}
    return None


def _missing_file(step: Step, folder: Path) -> str | None:
    """The program or script of the checkout that is not there. What is not installed fails, and is retired."""
    path, word = _path_of(step), step.words[0] if step.words else ""
    wrapper = next((word.split()[0] for word in step.prefix if _PROVIDES.compiled.match(word)), "")
    # Only the first word: behind an option there may be its value, or code.
    scripts = [path] if " run" in "".join(step.prefix) else []
    scripts += [word] if _INTERPRETERS.compiled.fullmatch(step.program) else []
    scripts = [one if "/" in one else f"./{one}" for one in scripts if _SCRIPT.compiled.match(one)]
    for name in (wrapper or path, *scripts):
        if "/" in name and _PLAIN.compiled.match(name) and not _is_made(name) and not _is_somewhere(folder, (name,)):
            return f"there is no file {name.removeprefix('./')!r}"
    return None


def _missing_task(step: Step, folder: Path, files: TaskFiles) -> str | None:
    """The task, target or script that is not defined, or the file without which there is none."""
    asked = _asked(step)
    needed, subcommands = _NEEDS.get(step.program, ((), names("")))
    if asked is None:
        return None
    if step.sub in subcommands and not any(word.endswith(".go") for word in step.words):
        return None if _is_somewhere(folder, needed) else f"there is no {needed[0]}"
    # `pnpm lint` and `yarn run eslint` may also be a subcommand or a program of a dependency.
    is_script = (step.program, step.sub) in _SCRIPT_FORMS
    is_bare = step.program in ("make", "just") and not step.words
    if not is_bare and not (asked and (is_script or step.program in ("make", "just", "mise"))):
        return None
    places = (*_places(folder), Path.home())
    known = [tasks for place in places if (tasks := files.tasks(step.program, place)) is not None]
    for name in asked if known else ():
        # `make README.md` has nothing to do and succeeds.
        is_known = (step.program == "make" and (folder / name).exists()) or any(one.may_have(name) for one in known)
        if not is_known:
            return f"{known[0].file} has no {'script' if is_script else 'task'} {name!r}"
    return None if known else f"there is no {FILES[step.program][0]}"


def _asked(step: Step) -> list[str] | None:
    """The tasks that a runner is asked for; None if they are those of another folder, file or package."""
    if any(_ELSEWHERE.compiled.match(word) for word in step.words) or step.sub in ("workspace", "workspaces"):
        return None
    pairs = zip(("", *step.words), step.words, strict=False)
    given = [word for before, word in pairs if before not in _VALUES and not word.startswith(("-", "+"))]
    given = [word for word in given if not is_assignment(word) and not word.isdigit()]
    asked: list[str] = given if step.program == "make" else given[:1] if step.program == "just" else []
    if step.program == "mise":
        given = given[1:] if given[:1] == ["tasks"] else given
        asked = given[1:2] if given[:1] in (["run"], ["r"]) else []
    elif step.program in _OF_NODE and (step.program, *given[:1]) != ("bun", "test"):
        asked = given[1:2] if given[:1] in (["run"], ["run-script"]) else given[:1]
    # `//web:build` is in another part of a monorepo, `lint:*` stands for several, `bin/tool` may be `$(BIN)/tool`.
    return asked if all(_PLAIN.compiled.match(name) and "/" not in name for name in asked) else None


def _inside(step: Step) -> Step:
    """What `mise exec` runs; otherwise the step without what is behind `--`."""
    at = step.words.index("--") if "--" in step.words else len(step.words)
    inner = step.words[at + 1 :]
    if inner and step.program in ("mise", "pnpm", "npm") and not {"exec", "x"}.isdisjoint(step.words[:3]):
        return Step(step.join, inner[0], inner[1:], prefix=(step.program,))
    return Step(step.join, step.program, step.words[:at], step.behind, step.prefix)


def _path_of(step: Step) -> str:
    """The program as it was written, with its folder."""
    return step.prefix[-1] + step.program if step.prefix and step.prefix[-1].endswith("/") else step.program


def _places(folder: Path) -> list[Path]:
    """The folder, those above it in the checkout and those directly below: a part of a monorepo may be meant."""
    below = (one for one in folder.iterdir() if one.name[0] != "." and one.name not in _MADE and one.is_dir())
    return [*upward(folder), *below]


def _is_somewhere(folder: Path, files: tuple[str, ...]) -> bool:
    return any((place / name).exists() for place in _places(folder) for name in files)


def _is_made(path: str) -> bool:
    """Whether a path may be what a build or an installation puts into the checkout."""
    parts = Path(path).parts
    is_built = "/" in path and len(parts) == 1 and "." not in parts[0] and parts[0] not in ("gradlew", "mvnw")
    return path[0] == "~" or (path[0] != "/" and (is_built or not _MADE.isdisjoint(parts)))
