"""Hermes: our plugin among those that its `config.yaml` enables, or a prefill file where the plugin is not wanted."""

from __future__ import annotations

import copy
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

from seasoned.config import Config
from seasoned.connect.plan import ConnectPlan, FileChange, change_of, common_steps, decode_text, read_present
from seasoned.connect.yaml_text import add_item, read_yaml, remove_item, remove_text, set_text
from seasoned.errors import CannotDo, NotFound

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


def plan(config: Config, *, programs: Path, prefill: str | None = None) -> ConnectPlan:
    """What must change in the files of Hermes."""
    path = config.hermes_home / "config.yaml"
    # Hermes makes this folder itself: where it is missing, Hermes never ran, or its home is elsewhere.
    if not config.hermes_home.is_dir():
        raise CannotDo(f"Hermes was not found at {str(config.hermes_home)!r}. Run `hermes` once, or set HERMES_HOME.")
    before = read_present(path)
    if prefill is not None:
        return _prefill_plan(config, path, before, prefill)
    after = with_plugin(before, path)
    return ConnectPlan(
        AGENT,
        change_of(path, before, after, "the plugin `seasoned` is enabled"),
        steps=(*_own_steps(config, programs), *common_steps(config)),
    )


def left(path: Path, data: bytes) -> bytes | None:
    """The settings without our part. A prefill file is ours as a whole."""
    if path.name == PREFILL_FILE:
        return None
    text = decode_text(data, path)
    present = read_yaml(text, repr(str(path)))
    without = remove_item(text, "plugins", "enabled", PLUGIN, repr(str(path)))
    without = remove_text(without, PREFILL_KEY, PREFILL_FILE, repr(str(path)))
    # The same change made to the parsed settings: the spliced text must parse to exactly this.
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
    from seasoned.store import open_store
    from seasoned.template.library.storage import current
    from seasoned.template.provision import provision
    from seasoned.template.render.rendering import prefill_file

    if not config.store_path.exists():
        raise NotFound("There are no templates yet. Run `seasoned up` first.")
    with open_store(config.store_path) as store:
        library = current(store, now=time.time())
    made = provision([], library=library, template=template, tools=PREFILL_TOOLS, task="", format="hermes")
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
    if config.origins.get("home", "default") != "default":
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
