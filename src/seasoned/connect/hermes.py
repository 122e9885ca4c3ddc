"""Hermes: enables our plugin in its `config.yaml`. Lines are added and removed; every other byte stays."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Collection
from pathlib import Path
from typing import Any

from seasoned.config import Config
from seasoned.connect.plan import (
    PARTS,
    ConnectPlan,
    Part,
    change_of,
    common_steps,
    decode_text,
    has_own_home,
    newline_of,
    read_present,
    skill_links,
)
from seasoned.errors import CannotDo

AGENT = "hermes"
PLUGIN = "seasoned"
_LIST = re.compile(r"(\s+)enabled:\s*(?:\[(?P<items>[^\]]*)\]\s*)?(?:#.*)?")
_ITEM = re.compile(r"(\s*)- (?P<name>.*)")
_LOOK_SECONDS = 20
# Runs in the Python of Hermes, which may have no Seasoned: it uses the standard library alone.
_FINDS = (
    "import importlib.metadata as m\n"
    f"print([one.value for one in m.entry_points(group='hermes_agent.plugins') if one.name == {PLUGIN!r}])"
)


def plan(config: Config, *, programs: Path, parts: Collection[Part] = PARTS) -> ConnectPlan:
    """What must change in Hermes' files. The plugin includes all parts."""
    path = config.hermes_home / "config.yaml"
    # Hermes creates this folder itself. If it is missing, Hermes never ran, or its home is elsewhere.
    if not config.hermes_home.is_dir():
        raise CannotDo(f"Hermes was not found at {str(config.hermes_home)!r}. Run `hermes` once, or set HERMES_HOME.")
    before = read_present(path)
    return ConnectPlan(
        AGENT,
        change_of(path, before, with_plugin(before, path), "the plugin `seasoned` is enabled"),
        links=skill_links(config, config.hermes_home, PARTS),
        steps=(*_own_steps(config), *common_steps(config, "hermes")),
    )


def with_plugin(data: bytes | None, path: Path) -> bytes:
    """The settings with the plugin enabled, as by `hermes plugins enable`, and nothing else changed."""
    text = decode_text(data or b"", path)
    found = read_yaml(text, path)
    plugins = found.get("plugins")
    plugins = plugins if isinstance(plugins, dict) else {}
    enabled = plugins.get("enabled") or []
    if PLUGIN in enabled:
        return text.encode()
    newline = newline_of(text)
    lines = text.split(newline)
    start, end = _section(lines)
    if start is None:
        added = ["plugins:", "  enabled:", f"    - {PLUGIN}", ""]
        lines = [*(lines if lines[-1] else lines[:-1]), *added]
    else:
        _add(lines, start, end)
    made = newline.join(lines)
    wanted = {**found, "plugins": {**plugins, "enabled": [*enabled, PLUGIN]}}
    # In Hermes the list of disabled plugins takes precedence, and only a person takes one out of it.
    is_disabled = PLUGIN in (plugins.get("disabled") or [])
    if is_disabled or (start is None and "plugins" in found) or read_yaml(made, path) != wanted:
        raise CannotDo(f"{str(path)!r} cannot be edited as it is. Run `hermes plugins enable {PLUGIN}` instead.")
    return made.encode()


def remove_ours(path: Path, data: bytes, before: bytes | None) -> bytes | None:
    """The settings without our part; a list of plugins that was there before stays, also if it is empty."""
    text = decode_text(data, path)
    had = read_yaml(decode_text(before or b"", path), path).get("plugins")
    found = read_yaml(text, path)
    newline = newline_of(text)
    lines = text.split(newline)
    start, end = _section(lines)
    if start is not None:
        _remove(lines, start, end, stays=isinstance(had, dict) and "enabled" in had)
    made = newline.join(lines)
    if _without_plugin(read_yaml(made, path)) != _without_plugin(found) or (made == text != "" and _has_plugin(found)):
        raise CannotDo(f"'plugins.enabled' is written in another way; run `hermes plugins disable {PLUGIN}`")
    return made.encode() if made.strip() else None


def read_yaml(text: str, path: Path) -> dict[str, Any]:
    """The contents of a text, as Hermes reads it; raises CannotDo if it is not a mapping."""
    try:
        # Hermes' own parser, so that both read the same; nothing else here needs it.
        import yaml
    except ImportError as error:
        raise CannotDo("Reading Hermes' settings needs PyYAML. Run: pip install seasoned") from error
    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = "" if mark is None else f"line {mark.line + 1}: "
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise CannotDo(f"{str(path)!r} is not valid YAML ({where}{problem}). Fix it and try again.") from error
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise CannotDo(f"{str(path)!r} is not a mapping, so it was not touched.")
    return found


def _section(lines: list[str]) -> tuple[int | None, int]:
    """The line with `plugins:`, and the line after the section."""
    start = next((at for at, line in enumerate(lines) if re.fullmatch(r"plugins:\s*(#.*)?", line)), None)
    if start is None:
        return None, 0
    rest = range(start + 1, len(lines))
    return start, next((at for at in rest if re.match(r"[^\s#-]", lines[at])), len(lines))


def _add(lines: list[str], start: int, end: int) -> None:
    at, found = _list(lines, start, end)
    if found is None:
        nested = next((line for line in lines[start + 1 : end] if re.match(r"\s+[^\s#]", line)), "  ")
        indent = nested[: len(nested) - len(nested.lstrip())]
        lines[start + 1 : start + 1] = [f"{indent}enabled:", f"{indent}  - {PLUGIN}"]
        return
    if found["items"] is not None:
        place = found.start("items") + len(found["items"].rstrip())
        lines[at] = f"{lines[at][:place]}{', ' if found['items'].strip() else ''}{PLUGIN}{lines[at][place:]}"
        return
    items_at = _items(lines, at, end)
    indent = _ITEM.match(lines[items_at[0]])[1] if items_at else f"{found[1]}  "  # type: ignore[index]
    lines.insert((items_at or [at])[-1] + 1, f"{indent}- {PLUGIN}")


def _remove(lines: list[str], start: int, end: int, *, stays: bool) -> None:
    at, found = _list(lines, start, end)
    if found is None:
        return
    if found["items"] is not None:
        kept = ", ".join(name for name in found["items"].split(", ") if name.strip(" '\"") != PLUGIN)
        lines[at] = lines[at][: found.start("items")] + kept + lines[at][found.end("items") :]
        return
    items_at = _items(lines, at, end)
    ours = [one for one in items_at if _ITEM.match(lines[one])["name"].split("#")[0].strip(" '\"") == PLUGIN]  # type: ignore[index]
    if len(ours) == len(items_at) and stays:
        lines[at] = f"{found[1]}enabled: []"
    # Otherwise a list or section that held nothing else was made for it.
    elif len(ours) == len(items_at) and "#" not in lines[at]:
        ours.append(at)
        others = [one for one in range(start + 1, end) if one not in ours and lines[one].strip()]
        ours += [] if others or "#" in lines[start] else [start]
    for one in sorted(ours, reverse=True):
        del lines[one]


def _list(lines: list[str], start: int, end: int) -> tuple[int, re.Match[str] | None]:
    """The line that begins the list of enabled plugins."""
    for at in range(start + 1, end):
        if found := _LIST.fullmatch(lines[at]):
            return at, found
    return start, None


def _items(lines: list[str], at: int, end: int) -> list[int]:
    """The lines of a list with an item each; comments and empty lines between them are passed over."""
    found = []
    for one in range(at + 1, end):
        if _ITEM.match(lines[one]):
            found.append(one)
        elif lines[one].strip() and not lines[one].lstrip().startswith("#"):
            break
    return found


def _has_plugin(found: dict[str, Any]) -> bool:
    plugins = found.get("plugins")
    return isinstance(plugins, dict) and PLUGIN in (plugins.get("enabled") or [])


def _without_plugin(found: dict[str, Any]) -> dict[str, Any]:
    """What settings mean without our plugin; an empty list or section means nothing."""
    plugins = found.get("plugins")
    own = dict(plugins) if isinstance(plugins, dict) else {}
    own["enabled"] = [one for one in own.get("enabled") or [] if one != PLUGIN]
    left = {**found, "plugins": {name: value for name, value in own.items() if value or name != "enabled"}}
    return {name: value for name, value in left.items() if value or name != "plugins"}


def _own_steps(config: Config) -> tuple[str, ...]:
    steps = []
    python = _python_of_hermes()
    if python is None:
        steps.append("Install Seasoned into the environment of Hermes: run `pip install seasoned` with its Python.")
    elif not _offers_plugin(python):
        steps.append(f"Install Seasoned into the environment of Hermes: `{python} -m pip install seasoned`.")
    if has_own_home(config):
        steps.append(f"Start Hermes with SEASONED_HOME={config.home}: without it the plugin uses ~/.seasoned.")
    steps.append("Restart Hermes (`hermes gateway restart` for its gateway). Running sessions stay as they are.")
    return tuple(steps)


def _python_of_hermes() -> Path | None:
    """The Python that runs the `hermes` on the path, from the first line of that program."""
    program = shutil.which("hermes")
    try:
        # Only the `#!` line is needed, and the program may be a large binary.
        first = Path(program).read_bytes()[:300].splitlines()[0] if program else b""
    except (OSError, IndexError):
        return None
    python = Path(first[2:].decode("utf-8", "replace").strip()) if first.startswith(b"#!/") else None
    return python if python is not None and python.name.startswith("python") else None


def _offers_plugin(python: Path) -> bool:
    try:
        done = subprocess.run(
            [python, "-c", _FINDS], capture_output=True, text=True, timeout=_LOOK_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return "seasoned.hermes_plugin" in done.stdout
