"""Hermes: enables our plugin in its `config.yaml`, or sets up a prefill file if the plugin is not wanted.

YAML is edited by splicing: values are found by their position, and every other byte stays as the user wrote it.
"""

from __future__ import annotations

import copy
import shutil
import subprocess
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

from seasoned.config import Config
from seasoned.connect.plan import (
    PARTS,
    ConnectPlan,
    FileChange,
    Part,
    change_of,
    common_steps,
    decode_text,
    has_own_home,
    newline_of,
    read_present,
    skill_links,
)
from seasoned.errors import CannotDo, NotFound

# The parser's tag for a name without a value (`plugins:`), which is common in hand-written settings.
_NULL = "tag:yaml.org,2002:null"


def read_yaml(text: str, where: str) -> dict[str, Any]:
    """The contents of a text, as Hermes reads it; raises CannotDo if it is not a mapping."""
    try:
        found = _yaml().safe_load(text)
    except (_yaml().YAMLError, ValueError, RecursionError) as error:
        raise CannotDo(f"{where} is not valid YAML ({_line(error)}). Fix it and try again.") from error
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise CannotDo(f"{where} is not a mapping, so it was not touched.")
    return found


def add_item(text: str, section: str, name: str, item: str, where: str) -> str:
    """The text with an item added to the list `section.name`; the list is created if it is missing."""
    newline = newline_of(text)
    root = _root(text, where)
    pair = _pair(root, section)
    lines = [f"{section}:", f"  {name}:", f"    - {item}"]
    if pair is None:
        return _append(text, root, lines)
    holder = pair[1]
    if _is_null(holder):
        indent = " " * (pair[0].start_mark.column + 2)
        return _below(text, holder, f"{newline}{indent}{name}:{newline}{indent}  - {item}")
    if type(holder).__name__ != "MappingNode":
        raise CannotDo(f"{where}: {section!r} is not a mapping, so it was not touched.")
    inner = _pair(holder, name)
    if inner is not None:
        return _add_to(text, inner[1], item, f"{where}: '{section}.{name}'")
    if holder.flow_style:
        return _put(text, holder.start_mark.index + 1, f"{name}: [{item}]" + (", " if holder.value else ""))
    column = holder.start_mark.column
    # As the first name of the section, since its end is hard to tell from comments that belong to the next one.
    start = holder.start_mark.index - column
    return _put(text, start, f"{' ' * column}{name}:{newline}{' ' * column}  - {item}{newline}")


def remove_item(text: str, section: str, name: str, item: str, where: str) -> str:
    """The text without an item of the list `section.name`; unchanged if it is not there."""
    holder = _value(_root(text, where), section)
    items = _value(holder, name)
    if type(items).__name__ != "SequenceNode":
        return text
    at = next((number for number, one in enumerate(items.value) if one.value == item), None)
    if at is None:
        return text
    one = items.value[at]
    if items.flow_style:
        start = items.value[at - 1].end_mark.index if at else one.start_mark.index
        end = one.end_mark.index if at or len(items.value) == 1 else items.value[1].start_mark.index
        return text[:start] + text[end:]
    if len(items.value) == 1:
        # A list without items is written on one line.
        return text[: items.start_mark.index] + "[]" + text[one.end_mark.index :]
    start = text.rfind("\n", 0, one.start_mark.index) + 1
    end = _end_of_line(text, one.end_mark.index)
    # Something else precedes the item on its line, and would be cut with it.
    if text[start : one.start_mark.index].strip() != "-":
        raise CannotDo(f"{where}: '{section}.{name}' cannot be changed as it is written. Remove {item!r} by hand.")
    if end == len(text):
        # The last line has no line end, so the one before it is cut too.
        start = max(0, start - len(newline_of(text)))
        return text[:start]
    return text[:start] + text[end + (2 if text[end] == "\r" else 1) :]


def set_text(text: str, name: str, value: str, where: str) -> str:
    """The text with `name: value` at its top level; raises CannotDo if the name has another value already."""
    root = _root(text, where)
    pair = _pair(root, name)
    if pair is None:
        return _append(text, root, [f"{name}: {value}"])
    node = pair[1]
    if type(node).__name__ != "ScalarNode" or (node.value not in ("", value) and not _is_null(node)):
        raise CannotDo(f"{where}: {name!r} is already set. Remove it first.")
    if node.value == value:
        return text
    space = " " if node.start_mark.index == node.end_mark.index else ""
    return text[: node.start_mark.index] + space + value + text[node.end_mark.index :]


def remove_text(text: str, name: str, value: str, where: str) -> str:
    """The text without the line `name: value` of its top level; unchanged if the name has another value."""
    pair = _pair(_root(text, where), name)
    if pair is None or pair[1].value != value:
        return text
    start = text.rfind("\n", 0, pair[0].start_mark.index) + 1
    end = _end_of_line(text, pair[1].end_mark.index)
    return text[:start] + text[end + (2 if text[end : end + 1] == "\r" else 1) :]


def _yaml() -> Any:
    try:
        # Hermes' own parser, so that both read the same; nothing else here needs it.
        import yaml
    except ImportError as error:
        raise CannotDo("Reading Hermes' settings needs PyYAML. Run: pip install 'seasoned[connect]'") from error
    return yaml


def _root(text: str, where: str) -> Any:
    """The top-level mapping with the place of every value; None if the text holds nothing but comments."""
    yaml = _yaml()
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise CannotDo(f"{where} is not valid YAML ({_line(error)}). Fix it and try again.") from error
    if root is not None and (type(root).__name__ != "MappingNode" or root.flow_style):
        raise CannotDo(f"{where} has no `name: value` lines at its top, so it was not touched.")
    return root


def _pair(node: Any, name: str) -> tuple[Any, Any] | None:
    if type(node).__name__ != "MappingNode":
        return None
    return next(((key, value) for key, value in node.value if key.value == name), None)


def _value(node: Any, name: str) -> Any:
    pair = _pair(node, name)
    return None if pair is None else pair[1]


def _is_null(node: Any) -> bool:
    return bool(node.tag == _NULL)


def _add_to(text: str, items: Any, item: str, where: str) -> str:
    if _is_null(items):
        space = " " if items.start_mark.index == items.end_mark.index else ""
        return text[: items.start_mark.index] + f"{space}[{item}]" + text[items.end_mark.index :]
    if type(items).__name__ != "SequenceNode":
        raise CannotDo(f"{where} is not a list, so it was not touched.")
    if not items.value:
        return _put(text, items.start_mark.index + 1, item)
    last = items.value[-1]
    if items.flow_style:
        return _put(text, last.end_mark.index, f", {item}")
    if type(last).__name__ != "ScalarNode" or last.start_mark.line != last.end_mark.line:
        raise CannotDo(f"{where} does not end with a name. Add {item!r} by hand.")
    place = _end_of_line(text, last.end_mark.index)
    return _put(text, place, f"{newline_of(text)}{' ' * items.start_mark.column}- {item}")


def _append(text: str, root: Any, lines: list[str]) -> str:
    """The text with lines of the top level added at its end."""
    newline = newline_of(text)
    indent = " " * (0 if root is None else root.start_mark.column)
    gap = "" if not text or text.endswith("\n") else newline
    return text + gap + "".join(f"{indent}{line}{newline}" for line in lines)


def _below(text: str, node: Any, lines: str) -> str:
    """The text with lines added below a name that has an empty value, in place of that value."""
    start, end = node.start_mark.index, node.end_mark.index
    place = _end_of_line(text, end)
    return text[:start].rstrip(" ") + text[end:place] + lines + text[place:]


def _put(text: str, place: int, more: str) -> str:
    return text[:place] + more + text[place:]


def _end_of_line(text: str, place: int) -> int:
    end = text.find("\n", place)
    if end < 0:
        return len(text)
    return end - 1 if end > place and text[end - 1] == "\r" else end


def _line(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    return f"line {mark.line + 1}: {problem}" if mark is not None else str(problem)


AGENT = "hermes"
PLUGIN = "seasoned"
PREFILL_KEY = "prefill_messages_file"
PREFILL_FILE = "seasoned-prefill.json"
# The tools that every Hermes has by default. A prefill file cannot know which tools a session really has.
PREFILL_TOOLS = ("terminal", "process", "execute_code", "read_file", "write_file", "patch", "search_files")
_LOOK_SECONDS = 20
# Runs in the Python of Hermes, which may have no Seasoned: it uses the standard library alone.
_FINDS = (
    "import importlib.metadata as m\n"
    f"print([one.value for one in m.entry_points(group='hermes_agent.plugins') if one.name == {PLUGIN!r}])"
)


def plan(config: Config, *, programs: Path, parts: Collection[Part] = PARTS, prefill: str | None = None) -> ConnectPlan:
    """What must change in Hermes' files. The plugin includes all parts."""
    path = config.hermes_home / "config.yaml"
    # Hermes creates this folder itself. If it is missing, Hermes never ran, or its home is elsewhere.
    if not config.hermes_home.is_dir():
        raise CannotDo(f"Hermes was not found at {str(config.hermes_home)!r}. Run `hermes` once, or set HERMES_HOME.")
    before = read_present(path)
    if prefill is not None:
        return _prefill_plan(config, path, before, prefill)
    after = with_plugin(before, path)
    return ConnectPlan(
        AGENT,
        change_of(path, before, after, "the plugin `seasoned` is enabled"),
        links=skill_links(config, config.hermes_home, PARTS),
        steps=(*_own_steps(config, programs), *common_steps(config)),
    )


def remove_ours(path: Path, data: bytes) -> bytes | None:
    """The settings without our part. A prefill file is ours as a whole."""
    if path.name == PREFILL_FILE:
        return None
    text = decode_text(data, path)
    present = read_yaml(text, repr(str(path)))
    without = remove_item(text, "plugins", "enabled", PLUGIN, repr(str(path)))
    without = remove_text(without, PREFILL_KEY, PREFILL_FILE, repr(str(path)))
    # The same change to the parsed settings: the spliced text must parse to exactly this.
    wanted = copy.deepcopy(present)
    plugins = wanted.get("plugins")
    if isinstance(plugins, dict) and isinstance(plugins.get("enabled"), list):
        plugins["enabled"] = [one for one in plugins["enabled"] if one != PLUGIN]
    if wanted.get(PREFILL_KEY) == PREFILL_FILE:
        del wanted[PREFILL_KEY]
    _check(without, wanted, path)
    return without.encode()


def with_plugin(data: bytes | None, path: Path) -> bytes:
    """The settings with the plugin enabled, as by `hermes plugins enable`, and nothing else changed."""
    text, where = decode_text(data or b"", path), repr(str(path))
    wanted = copy.deepcopy(read_yaml(text, where))
    plugins = wanted.get("plugins")
    plugins = plugins if isinstance(plugins, dict) else {}
    enabled, disabled = plugins.get("enabled"), plugins.get("disabled")
    if isinstance(disabled, list) and PLUGIN in disabled:
        # In Hermes the list of disabled plugins takes precedence.
        text = remove_item(text, "plugins", "disabled", PLUGIN, where)
        plugins["disabled"] = [one for one in disabled if one != PLUGIN]
    if not (isinstance(enabled, list) and PLUGIN in enabled):
        text = add_item(text, "plugins", "enabled", PLUGIN, where)
        plugins["enabled"] = [*(enabled if isinstance(enabled, list) else ()), PLUGIN]
    wanted["plugins"] = plugins
    _check(text, wanted, path)
    return text.encode()


def _prefill_plan(config: Config, path: Path, before: bytes | None, template: str) -> ConnectPlan:
    text, where = decode_text(before or b"", path), repr(str(path))
    wanted = {**read_yaml(text, where), PREFILL_KEY: PREFILL_FILE}
    after = set_text(text, PREFILL_KEY, PREFILL_FILE, where)
    _check(after, wanted, path)
    file = config.hermes_home / PREFILL_FILE
    changes: tuple[FileChange, ...] = (
        *change_of(file, read_present(file), prefill_of(config, template), f"the calls of the template {template!r}"),
        *change_of(path, before, after.encode(), "every session begins with that file"),
    )
    steps = (
        "Restart Hermes. Its terminal, gateway and scheduler read the file; TUI, `hermes -z` and API server do not.",
        "Run this again when the template has changed: the file is not updated by itself.",
    )
    return ConnectPlan(AGENT, changes, steps=steps)


def prefill_of(config: Config, template: str) -> bytes:
    """The prefill file of a template, for the tools that every Hermes has."""
    from seasoned.example.library.storage import cached_library
    from seasoned.example.provision import BlockRequest, provision
    from seasoned.example.render.rendering import prefill_file
    from seasoned.store import open_store

    if not config.store_path.exists():
        raise NotFound("There are no templates yet. Run `seasoned up` first.")
    with open_store(config.store_path) as store:
        library = cached_library(store, now=time.time())
    asked = BlockRequest(template=template, tools=PREFILL_TOOLS, task="", format="hermes")
    made = provision([], library=library, asked=asked)
    if made.rendered is None:
        raise CannotDo(f"The template {template!r} has nothing to show for Hermes: {made.reason}")
    return prefill_file(made.rendered)


def _own_steps(config: Config, programs: Path) -> tuple[str, ...]:
    steps = []
    python = _python_of_hermes()
    if python is None:
        steps.append("Install Seasoned into the environment of Hermes: run `pip install seasoned` with its Python.")
    elif not _has_plugin(python):
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


def _has_plugin(python: Path) -> bool:
    try:
        done = subprocess.run(
            [python, "-c", _FINDS], capture_output=True, text=True, timeout=_LOOK_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return "seasoned.hermes_plugin" in done.stdout


def _check(text: str, wanted: dict[str, Any], path: Path) -> None:
    """Check that the changed file says exactly what was meant; otherwise it is not touched."""
    if read_yaml(text, repr(str(path))) != wanted:
        raise CannotDo(f"{str(path)!r} cannot be edited safely. Run `hermes plugins enable {PLUGIN}` instead.")
