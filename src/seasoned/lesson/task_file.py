"""The tasks that a folder defines for make, just, task, mise, turbo and deno, read without starting any of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import msgspec

from seasoned.lazy_regex import LazyRegex

MOST_FILES = 60  # hooks wait for this
_MOST_BYTES = 1_000_000
# Includes that cannot be followed: addresses, variables, templates.
_ELSEWHERE = LazyRegex(r"://|\$|\{\{|^(?:git|oci)::")
_MAKE_VALUE = LazyRegex(r"\$[({][^(){}$]*[)}]|\$[^({]")
_MAKE_RULE = LazyRegex(r"^ *([^\s#:=!?+][^:=#\n]*?)\s*&?::?(?![:=])", re.MULTILINE)
_MAKE_INCLUDE = LazyRegex(r"^ *[-s]?include\s+([^#\n]+)", re.MULTILINE)
# A few names too many, such as `set`, do no harm.
_JUST_RECIPE = LazyRegex(r"^@?([A-Za-z_][\w-]*)\b(?![ \t]*:=)[^\n]*?:(?!=)|^alias +([\w-]+)", re.MULTILINE)
_JUST_IMPORT = LazyRegex(r"^import\??\s+['\"]([^'\"\n]+)['\"]", re.MULTILINE)
_JUST_MODULE = LazyRegex(r"^mod\??\s+([\w-]+)", re.MULTILINE)
_YAML_KEY = LazyRegex(r"^( *)(['\"]?)([^\s#'\"-][^'\"#]*?)\2\s*:(?=\s|$)[ \t]*(.*)", re.MULTILINE)
_JSON_KEY = LazyRegex(r'"((?:[^"\\\n])+)"\s*:')
_MISE_CONFIG = LazyRegex(r"\.?(?:mise|rtx|config)(?:\.[\w.-]+)?\.toml")
_MISE_ALIAS = LazyRegex(r"^(?:#|//)\s?\[?MISE\]? .*\balias=(.*)", re.MULTILINE)


class Tasks(msgspec.Struct):
    """The tasks that a file and those it includes define."""

    file: str
    names: set[str] = msgspec.field(default_factory=set)
    # `*.o` for `%.o`, `docs:*` for a namespace, and `*` where tasks come from a place that is not read.
    patterns: set[str] = msgspec.field(default_factory=set)

    def may_have(self, name: str) -> bool:
        return name in self.names or any(fnmatchcase(name, pattern) for pattern in self.patterns)


class Runner(msgspec.Struct, frozen=True):
    """A task runner: the files it looks for in a folder, and what reads one and returns the files that it includes."""

    files: tuple[str, ...]
    read: Callable[[Path, str, Tasks], Iterable[Path]]

    def tasks(self, folder: Path) -> Tasks | None:
        """The tasks of one folder; None if there is no file there."""
        rest = [path for name in self.files if (path := folder / name).exists()]
        if not rest:
            return None
        tasks = Tasks(rest[0].name)
        seen: set[Path] = set()
        while rest:
            path = rest.pop()
            if path in seen:
                continue
            seen.add(path)
            text = "" if path.is_dir() else read_small(path)
            if text is None or len(seen) > MOST_FILES:
                tasks.patterns.add("*")
            else:
                rest += self.read(path, text, tasks)
        return tasks


def read_small(path: Path) -> str | None:
    """A file's text; None if it is missing, too long, or a pipe or device, which would never end."""
    try:
        return path.read_text("utf-8", "replace") if path.is_file() and path.stat().st_size <= _MOST_BYTES else None
    except OSError:
        return None


def toml_of(text: str) -> dict[str, Any] | None:
    """A TOML file's content; None if it is not valid."""
    import tomllib  # most commands need no TOML, and hooks are short

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _make(path: Path, text: str, tasks: Tasks) -> Iterable[Path]:
    included = [word for line in _MAKE_INCLUDE.compiled.findall(text) for word in line.split()]
    plain = text.replace("\\\n", " ")
    for _ in range(3):
        plain = _MAKE_VALUE.compiled.sub("*", plain)
    for line in _MAKE_RULE.compiled.findall(plain):
        for name in line.replace("%", "*").split():
            (tasks.patterns if "*" in name else tasks.names).add(name)
    if "$(eval" in text:
        tasks.patterns.add("*")
    return _included(included, path.parent, tasks)


def _included(words: Iterable[str], folder: Path, tasks: Tasks) -> list[Path]:
    """The files that an include names; what cannot be found may define anything."""
    found: list[Path] = []
    for word in words:
        path = Path(word).expanduser()
        here = [] if _ELSEWHERE.compiled.search(word) else [folder / path]
        if here and "*" in word and not path.is_absolute():
            here = list(folder.glob(word))
        if not here or not all(one.exists() for one in here):
            tasks.patterns.add("*")
        found += here
    return found


def _just(path: Path, text: str, tasks: Tasks) -> Iterable[Path]:
    tasks.names |= {name for found in _JUST_RECIPE.compiled.findall(text) for name in found if name}
    for module in _JUST_MODULE.compiled.findall(text):
        tasks.patterns |= {module, f"{module}::*"}
    if re.search(r"^set fallback(?! *:= *false)", text, re.MULTILINE):
        tasks.patterns.add("*")
    return _included(_JUST_IMPORT.compiled.findall(text), path.parent, tasks)


def _taskfile(path: Path, text: str, tasks: Tasks) -> Iterable[Path]:
    section, inner = "", 0
    if not re.search(r"^tasks\s*:", text, re.MULTILINE):
        tasks.patterns.add("*")
    for found in _YAML_KEY.compiled.finditer(text):
        depth, key, value = len(found[1]), found[3], found[4]
        if not depth:
            section, inner = key, 0
            continue
        inner = inner or depth
        if section == "includes":
            # An included file may be anywhere; its tasks have its name in front, unless they are flattened.
            tasks.patterns |= {key, f"{key}:*"} if depth == inner else set()
            tasks.patterns |= {"*"} if key in ("flatten", "aliases") else set()
        elif section == "tasks" and depth == inner:
            (tasks.patterns if "*" in key else tasks.names).add(key)
        elif section == "tasks" and key == "aliases":
            tasks.names |= set(re.findall(r"[\w:-]+", value))
            tasks.patterns |= set() if value else {"*"}
    return ()


def _mise(path: Path, text: str, tasks: Tasks) -> Iterable[Path]:
    if path.is_dir():
        return _mise_scripts(path, tasks)
    if path.suffix != ".toml":
        return ()
    content = toml_of(text)
    if content is None:
        tasks.patterns.add("*")
        return ()
    if not _MISE_CONFIG.compiled.fullmatch(path.name) and path.parent.name != "conf.d":
        _mise_tasks(content, tasks)
        return ()
    _mise_tasks(content.get("tasks"), tasks)
    # The folder that a configuration is for: `.config/mise/config.toml` is for the one that holds `.config`.
    top = next(place for place in path.parents if place.name not in (".config", "mise", ".mise", "conf.d"))
    config = content.get("task_config")
    includes = config.get("includes", ()) if isinstance(config, dict) else ()
    return [*path.parent.glob("*mise.*.toml"), *_included(map(str, includes), top, tasks)]


def _mise_scripts(folder: Path, tasks: Tasks) -> Iterable[Path]:
    """The names of the file tasks in a folder; gives its TOML files."""
    for file in sorted(folder.rglob("*"))[: MOST_FILES * 5]:
        if file.suffix == ".toml":
            yield file
        elif file.is_file():
            name = str(file.relative_to(folder)).replace("/", ":").removesuffix(":_default")
            alias = _MISE_ALIAS.compiled.search((read_small(file) or "")[:2000])
            tasks.names |= {name, name.removesuffix(file.suffix), *re.findall(r"[\w:-]+", alias[1] if alias else "")}


def _mise_tasks(table: Any, tasks: Tasks) -> None:
    for name, task in table.items() if isinstance(table, dict) else ():
        (tasks.patterns if "*" in name else tasks.names).add(name)
        alias = task.get("alias", ()) if isinstance(task, dict) else ()
        tasks.names |= {alias} if isinstance(alias, str) else set(map(str, alias))


def _keys(path: Path, text: str, tasks: Tasks) -> Iterable[Path]:
    """All keys of a JSON file with comments: a few too many, and none too few."""
    tasks.names |= {name.rpartition("#")[2] for name in _JSON_KEY.compiled.findall(text)}
    # A package may define tasks for itself.
    if path.name == "turbo.json" and next(path.parent.glob("*/*/turbo.json"), None) is not None:
        tasks.patterns.add("*")
    return ()


_MAKE = Runner(("Makefile", "makefile", "GNUmakefile"), _make)
_MISE = Runner(
    (
        *("mise.toml", ".mise.toml", "mise.local.toml", ".mise.local.toml", ".config/mise.toml", "mise/config.toml"),
        *(".mise/config.toml", ".config/mise/config.toml", ".config/mise/conf.d", ".rtx.toml"),
        *("mise-tasks", ".mise-tasks", ".mise/tasks", ".config/mise/tasks", "mise/tasks"),
    ),
    _mise,
)
RUNNERS = {
    "make": _MAKE,
    "gmake": _MAKE,
    "just": Runner(("justfile", "Justfile", ".justfile", "JUSTFILE"), _just),
    "task": Runner(
        tuple(
            f"{name}{kind}"
            for name in ("Taskfile", "taskfile")
            for kind in (".yml", ".yaml", ".dist.yml", ".dist.yaml")
        ),
        _taskfile,
    ),
    "mise": _MISE,
    "turbo": Runner(("turbo.json", "turbo.jsonc"), _keys),
    "deno": Runner(("deno.json", "deno.jsonc", "package.json"), _keys),
}


def upward(folder: Path) -> Iterator[Path]:
    """The folder and those above it, up to the top of the checkout."""
    for place in (folder, *folder.parents):
        yield place
        if (place / ".git").exists():
            return


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """The package.json of a folder; None if there is none, or it cannot be read."""
    text = read_small(folder / "package.json")
    try:
        found = None if text is None else msgspec.json.decode(text)
    except msgspec.DecodeError:
        return None
    return found if isinstance(found, dict) else None


def scripts_in(folder: Path) -> Tasks | None:
    """The scripts of the package.json in a folder; None if there is none."""
    manifest = read_manifest(folder)
    if manifest is None:
        return Tasks("package.json", patterns={"*"}) if (folder / "package.json").exists() else None
    scripts = manifest.get("scripts", {})
    return Tasks("package.json", set(scripts) if isinstance(scripts, dict) else set())


def members_of(folder: Path) -> dict[Path, str]:
    """The packages of the workspace around a folder: their places and names."""
    for top in upward(folder):
        listed = (read_manifest(top) or {}).get("workspaces")
        patterns = listed.get("packages") if isinstance(listed, dict) else listed
        if (text := read_small(top / "pnpm-workspace.yaml")) is not None:
            patterns = re.findall(r"""^\s*-\s*['"]?([^'"\s#!]+)""", text, re.MULTILINE)
        if isinstance(patterns, list) and patterns:
            # No `**`: it would go through every node_modules.
            given = [str(one).removeprefix("./").strip("/") for one in patterns]
            wanted = [one.replace("**", deep) for one in given for deep in (("*", "*/*") if "**" in one else ("",))]
            found = [top, *(path for one in wanted if one and one[0] != "!" for path in top.glob(one))][:MOST_FILES]
            return {
                place: str(manifest.get("name")) for place in found if (manifest := read_manifest(place)) is not None
            }
    return {}
