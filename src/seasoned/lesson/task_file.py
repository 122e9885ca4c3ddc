"""The tasks that a checkout defines for make, just, mise and package managers, read without starting any of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path

import msgspec

from seasoned.lazy_regex import LazyRegex

_MOST_BYTES = 1_000_000
_MOST_SCRIPTS = 300  # hooks wait for this
FILES = {
    "make": ("Makefile", "makefile", "GNUmakefile"),
    "just": ("justfile", "Justfile", ".justfile", "JUSTFILE"),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), ("package.json",)),
    "mise": (
        *("mise.toml", ".mise.toml", ".config/mise.toml", "mise/config.toml", ".mise/config.toml"),
        *(".config/mise/config.toml", ".config/mise/conf.d", ".rtx.toml"),
        *("mise-tasks", ".mise-tasks", ".mise/tasks", ".config/mise/tasks", "mise/tasks"),
    ),
}
_MAKE_RULE = LazyRegex(r"^ *([^\s#:=!?+][^:=#\n]*?)\s*&?::?(?![:=])", re.MULTILINE)
_MAKE_MORE = LazyRegex(r"^ *[-s]?include\s|\$[({]eval\b", re.MULTILINE)
_MAKE_FILE = LazyRegex(r"\$[({]\w+[)}]/[\w./-]+")  # in a folder, so no name that is asked for
# A few names too many, such as `set`, do no harm.
_JUST_RECIPE = LazyRegex(r"^@?([A-Za-z_][\w-]*)\b(?![ \t]*:=)[^\n]*?:(?!=)|^alias +([\w-]+)", re.MULTILINE)
_JUST_MORE = LazyRegex(r"^(?:import|mod)\b|^set fallback", re.MULTILINE)


class Tasks(msgspec.Struct):
    """The tasks, targets or scripts that the files of a folder define."""

    file: str
    names: set[str] = msgspec.field(default_factory=set)
    # Others may come from a place that is not read: an include, a pattern, another package of a workspace.
    is_open: bool = False
    manager: str = ""  # that package.json chooses

    def may_have(self, name: str) -> bool:
        return self.is_open or name in self.names


class TaskFiles:
    """The task files of a checkout. Each is read once for a command line, and again for the next one."""

    def __init__(self) -> None:
        self.text = cache(read_small)
        self.tasks = cache(self._tasks)

    def _tasks(self, runner: str, folder: Path) -> Tasks | None:
        """What one folder defines for a runner; None if there is no file for it."""
        paths = [path for name in FILES.get(runner, ()) if (path := folder / name).exists()]
        paths += folder.glob("*mise.*.toml") if runner == "mise" else ()
        if not paths:
            return None
        tasks, add = Tasks(paths[0].name), {"just": _add_recipes, "make": _add_targets}.get(runner, _add_scripts)
        for path in paths:
            tasks.is_open |= self.text(path) is None and not path.is_dir()
            tasks.is_open |= path.name == "package.json" and (folder / "pnpm-workspace.yaml").exists()
            try:
                if runner == "mise":
                    self._add_mise(path, folder, tasks)
                else:
                    add(self.text(path) or "", tasks)
            except (ValueError, TypeError, AttributeError):
                tasks.is_open = True  # not valid, or not what is expected there
        return tasks

    def _add_mise(self, path: Path, folder: Path, tasks: Tasks, *, is_included: bool = False) -> None:
        """Add what a configuration of mise and its includes define, or a folder with a script for each task."""
        if path.is_dir():
            found = list(islice(path.rglob("*"), _MOST_SCRIPTS))
            tasks.is_open |= len(found) == _MOST_SCRIPTS
            for file in found:
                name = str(file.relative_to(path)).replace("/", ":").removesuffix(":_default")
                tasks.names |= {name, name.removesuffix(file.suffix)} if file.is_file() else set()
                tasks.is_open |= file.suffix == ".toml" or "alias" in (self.text(file) or "")[:2000]
            return
        import tomllib  # most commands need no TOML, and hooks are short

        # Anything but a file is an address, a pattern or a template.
        content = tomllib.loads(self.text(path) or "?")
        for name, task in (content if is_included else content.get("tasks", {})).items():
            alias = task.get("alias", ()) if isinstance(task, dict) else ()
            tasks.names |= {name, alias} if isinstance(alias, str) else {name, *alias}
        for word in () if is_included else content.get("task_config", {}).get("includes", ()):
            self._add_mise(folder / word, folder, tasks, is_included=True)


def _add_scripts(text: str, tasks: Tasks) -> None:
    manifest = msgspec.json.decode(text)
    tasks.names |= set(manifest.get("scripts", {}))
    tasks.manager = manifest.get("packageManager", "").partition("@")[0]
    tasks.is_open |= "workspaces" in manifest


def _add_recipes(text: str, tasks: Tasks) -> None:
    tasks.names |= {name for found in _JUST_RECIPE.compiled.findall(text) for name in found if name}
    tasks.is_open |= _JUST_MORE.compiled.search(text) is not None


def _add_targets(text: str, tasks: Tasks) -> None:
    rules = _MAKE_FILE.compiled.sub("", " ".join(_MAKE_RULE.compiled.findall(text.replace("\\\n", " "))))
    tasks.names |= set(rules.split())
    tasks.is_open |= "%" in rules or "$" in rules or _MAKE_MORE.compiled.search(text) is not None


def upward(folder: Path) -> Iterator[Path]:
    """The folder and those above it, up to the top of the checkout."""
    for place in (folder, *folder.parents):
        yield place
        if os.access(place / ".git", os.F_OK):  # `Path.exists` raises in a folder that may not be read
            return


def read_small(path: Path) -> str | None:
    """A file's text; None if it is missing, too long, or a pipe or device, which would never end."""
    try:
        return path.read_text("utf-8", "replace") if path.is_file() and path.stat().st_size <= _MOST_BYTES else None
    except (OSError, ValueError):
        return None
