"""Whether a command can still work in a checkout: its script, target or file exists, and its program is found.

Only what the checkout contradicts is held back. If nothing can be looked up, the evidence of the sessions counts.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import msgspec

from seasoned.command.parse import names
from seasoned.command.written import WrittenCommand, written
from seasoned.lazy_regex import LazyRegex

_MOST_BYTES = 1_000_000
# Folders with programs that a login shell finds and a hook may not.
_MORE_PATHS = (
    *("~/.local/bin", "~/.cargo/bin", "~/.bun/bin", "~/go/bin", "~/.local/share/mise/shims", "~/.asdf/shims"),
    *("~/.volta/bin", "~/.pyenv/shims", "~/.rbenv/shims", "~/.deno/bin", "/opt/homebrew/bin", "/usr/local/bin"),
    *("/usr/local/go/bin", "/home/linuxbrew/.linuxbrew/bin", "/snap/bin"),
)
_IN_TREE = ("node_modules/.bin", ".venv/bin", "venv/bin", "bin")
_MANAGERS = frozenset({"npm", "pnpm", "yarn", "bun"})
# Subcommands of package managers that are not scripts of the project.
_BUILT_IN = names(
    "install i ci add remove exec dlx x create init publish pack link audit outdated why list ls info view update up"
    " upgrade dedupe store rebuild prune version config login whoami cache node bin root"
)
_TARGET = LazyRegex(r"^([A-Za-z0-9_./-]+(?:\s+[A-Za-z0-9_./-]+)*)\s*::?(?!=)", re.MULTILINE)
_RECIPE = LazyRegex(r"^@?([A-Za-z_][\w-]*)(?:[ \t][^:\n]*)?:(?!=)", re.MULTILINE)
_MISE_TASK = LazyRegex(r"^\[tasks\.(?:\"([^\"]+)\"|([\w:-]+))\]|^\"?([\w:-]+)\"?\s*=", re.MULTILINE)
# The file without which a program has nothing to work on.
_NEEDS = {
    "cargo": ("Cargo.toml",),
    "go": ("go.mod", "go.work"),
    "poetry": ("pyproject.toml",),
    "pdm": ("pyproject.toml",),
    "hatch": ("pyproject.toml",),
    "tox": ("tox.ini", "pyproject.toml", "setup.cfg"),
    "nox": ("noxfile.py",),
    "bundle": ("Gemfile",),
    "mvn": ("pom.xml",),
    "pre-commit": (".pre-commit-config.yaml", ".pre-commit-config.yml"),
    "docker-compose": ("compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"),
}


def contradiction(command: str, folder: Path) -> str | None:
    """Why a command can no longer work in this folder; None if nothing speaks against it."""
    place = folder
    for one in written(command):
        if one.program == "cd" and len(one.words) == 2:
            place = place / one.words[1]
            if not place.is_dir():
                return f"there is no folder {one.words[1]!r}"
            continue
        found = _contradicted(one, _working_folder(one, place))
        if found is not None:
            return found
    return None


def _working_folder(one: WrittenCommand, folder: Path) -> Path:
    """The folder that a command names to work in: `make -C docs`, `pnpm --dir web`."""
    for name, value in zip(one.words, one.words[1:], strict=False):
        if name in ("-C", "--dir", "--prefix", "--cwd", "--directory"):
            return folder / value
    return folder


def _contradicted(one: WrittenCommand, folder: Path) -> str | None:
    words = one.form.split()
    program = next((word for word in words if word in _NEEDS or word in _MANAGERS or word in _TASK_FILES), words[0])
    if words[0] and not _is_found(words[0], folder):
        return f"{words[0]!r} is not on the path"
    needed = _NEEDS.get(program)
    if needed is not None and not _somewhere_above(folder, needed):
        return f"there is no {needed[0]}"
    after = words[words.index(program) + 1 :] if program in words else []
    if program in _MANAGERS:
        return _missing_script(program, after, folder)
    if program in _TASK_FILES:
        return _missing_task(program, after, folder)
    script = next((word for word in words[1:] if "/" in word or word.endswith((".py", ".sh", ".js", ".ts"))), None)
    if script is not None and not script.startswith(("-", "~", "/", "@")) and "=" not in script:
        exists = (folder / script).exists()
        return None if exists or not _is_script(words) else f"there is no file {script!r}"
    return None


def _is_script(words: list[str]) -> bool:
    return words[0].startswith(("python", "node", "bash", "sh", "ruby", "tsx", "deno", "./", "uv", "bun", "zsh"))


def _is_found(program: str, folder: Path) -> bool:
    if "/" in program:
        return program.startswith("~") or (folder / program).exists()
    places = [*os.get_exec_path(), *(str(folder / part) for part in _IN_TREE), *map(os.path.expanduser, _MORE_PATHS)]
    # Not shutil.which: importing it takes longer than all of this.
    return any(os.access(found := Path(place, program), os.X_OK) and found.is_file() for place in places)


def _somewhere_above(folder: Path, files: tuple[str, ...]) -> bool:
    """Whether one of the files is in the folder, above it in the checkout, or in a folder directly below it."""
    for place in (folder, *folder.parents):
        if any((place / name).exists() for name in files):
            return True
        if (place / ".git").exists():
            break
    return any(next(folder.glob(f"*/{name}"), None) is not None for name in files)


def _missing_script(program: str, after: list[str], folder: Path) -> str | None:
    rest = list(after)
    while len(rest) > 1 and rest[0].startswith("-"):
        # `--filter web`: the script is in a part of the monorepo that is not looked for.
        return None
    if rest and rest[0] in ("run", "run-script"):
        rest = rest[1:]
    elif not rest or rest[0] in _BUILT_IN or (rest[0] == "test" and program == "bun"):
        return None
    if not rest:
        return None
    scripts = _scripts(str(folder / "package.json"))
    if scripts is None:
        return None if _somewhere_above(folder, ("package.json",)) else "there is no package.json"
    # A package manager also runs programs of the dependencies: `pnpm vitest`.
    if rest[0] in scripts or "*" in rest[0] or (folder / "node_modules/.bin" / rest[0]).exists():
        return None
    return f"package.json has no script {rest[0]!r}"


def _scripts(path: str) -> frozenset[str] | None:
    text = _read(path)
    if text is None:
        return None
    try:
        found = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return None
    scripts = found.get("scripts") if isinstance(found, dict) else None
    return frozenset(scripts) if isinstance(scripts, dict) else frozenset()


def _missing_task(program: str, after: list[str], folder: Path) -> str | None:
    files, pattern = _TASK_FILES[program]
    targets = [word for word in after if word not in ("run", "r", "task") and not word.startswith("-")]
    if not targets:
        return None if _somewhere_above(folder, files) else f"there is no {files[0]}"
    texts = [text for name in files if (text := _read(str(folder / name))) is not None]
    if program == "mise":
        if _has_mise_file(targets[0], folder):
            return None
        texts = texts or [""] if (folder / "mise-tasks").is_dir() or (folder / ".mise").is_dir() else texts
    if not texts:
        return None if _somewhere_above(folder, files) else f"there is no {files[0]}"
    matches = [found for text in texts for found in pattern.compiled.finditer(text)]
    known = {word for found in matches for word in " ".join(_groups(found)).split()}
    # Files that include others, or make targets by pattern, know more than can be read here.
    if any(re.search(r"^-?include\b|^import\b|%\s*:", text, re.MULTILINE) for text in texts):
        return None
    missing = next((word for word in targets if word not in known), None)
    return None if missing is None else f"{files[0]} has no target {missing!r}"


def _groups(found: re.Match[str]) -> list[str]:
    return [group for group in found.groups() if group]


def _has_mise_file(task: str, folder: Path) -> bool:
    parts = task.replace(":", "/")
    places = ("mise-tasks", ".mise-tasks", "mise/tasks", ".mise/tasks", ".config/mise/tasks")
    return any((folder / place / parts).exists() or next((folder / place).glob(f"{parts}.*"), None) for place in places)


def _read(path: str) -> str | None:
    try:
        file = Path(path)
        # A pipe or a device would never end.
        if not file.is_file() or file.stat().st_size > _MOST_BYTES:
            return None
        return file.read_text("utf-8", "replace")
    except OSError:
        return None


_TASK_FILES: dict[str, tuple[tuple[str, ...], LazyRegex]] = {
    "make": (("Makefile", "makefile", "GNUmakefile"), _TARGET),
    "gmake": (("Makefile", "makefile", "GNUmakefile"), _TARGET),
    "just": (("justfile", "Justfile", ".justfile"), _RECIPE),
    "task": (("Taskfile.yml", "Taskfile.yaml"), LazyRegex(r"^  ([\w:-]+):", re.MULTILINE)),
    "rake": (("Rakefile",), LazyRegex(r"task[ (]:?['\"]?(\w+)")),
    "mise": (("mise.toml", ".mise.toml", "mise.local.toml", ".config/mise.toml"), _MISE_TASK),
}
