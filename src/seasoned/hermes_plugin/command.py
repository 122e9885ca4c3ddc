"""The commands inside Hermes: `/warm`, `hermes seasoned …`, and the tool `warm_session`."""

from __future__ import annotations

import subprocess
import sys
import time
from argparse import REMAINDER, ArgumentParser, Namespace
from typing import Any

import msgspec
from msgspec.structs import replace

from seasoned.begin.ongoing import experiment_database
from seasoned.begin.settings import begin_settings
from seasoned.begin.warm_session import ACTIONS, warm_session
from seasoned.begin.warm_session import DESCRIPTION as TOOL_DESCRIPTION
from seasoned.config import Config
from seasoned.errors import SeasonedError
from seasoned.hermes_plugin.settings import FILE, load_settings
from seasoned.hermes_plugin.warm import Warmer
from seasoned.redact.key import Secrecy, load_key
from seasoned.store import open_store
from seasoned.template.library.storage import current, listed
from seasoned.text import plural

TOOL = "warm_session"
DESCRIPTION = "Warm starts from earlier sessions, confirmations by a person, and whether it helped."
# Actions that mean the session they are called from, unless another one is named.
_ABOUT_THIS = ("profile", "compress-check")
_MOST_LISTED = 20
_TEXTS = {
    "name": "For build, load and delete: the template.",
    "description": "What the template is for.",
    "source_filter": 'For build: only sessions of one agent, such as "hermes".',
    "session_id": "For profile, compress-check and compare; by default this session.",
    "compare_with": "For compare: the cold session.",
    "task": "For load: what is to be done.",
}
SCHEMA: dict[str, Any] = {
    "name": TOOL,
    "description": TOOL_DESCRIPTION,
    "parameters": {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": list(ACTIONS)},
            **{name: {"type": "string", "description": text} for name, text in _TEXTS.items()},
            "min_messages": {"type": "integer", "description": "For build: the fewest messages of a session (30)."},
            "max_sessions": {"type": "integer", "description": "For build: the most sessions to learn from (30)."},
            "tags": {"type": "array", "items": {"type": "string"}, "description": "Words to find a template by."},
            "tools": {
                "type": "array",
                "items": {"type": "string"},
                "description": "For load: the tools that are available.",
            },
            "budget": {"type": "integer", "description": "For load: the most tokens (1500)."},
        },
        "required": ["action"],
    },
}


def answer(config: Config, arguments: dict[str, Any], *, session: str, root: str | None = None) -> str:
    """The answer of the tool as JSON. An error is an answer too, which a model can act on.

    `session` is Hermes' id of the session that asks, `root` the name of its conversation in the store.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    if given.get("action") in _ABOUT_THIS and session:
        given.setdefault("session_id", session)
    try:
        redactor = Secrecy(load_key(config.home), config.redact).redactor()
        with open_store(config.store_path) as store:
            found = warm_session(
                store,
                given,
                redactor=redactor,
                session=root,
                settings=begin_settings(config, "hermes", load_settings(config.home / FILE)),
                database=lambda: experiment_database(config, store),
            )
    except SeasonedError as error:
        found = {"success": False, "error": str(error)}
    except OSError as error:
        found = {"success": False, "error": f"Seasoned's folder cannot be used: {error.strerror or error}."}
    except ImportError as error:
        missing = f"{error.name or error} is not installed in the environment of Hermes"
        found = {"success": False, "error": f"{missing}. This action needs it: install seasoned[insight,template]."}
    return msgspec.json.encode(found).decode()


def set_warm(config: Config, warmer: Warmer, words: str) -> str:
    """Run `/warm`. It changes conversations that begin from now on in this process."""
    wanted = words.strip()
    try:
        with open_store(config.store_path) as store:
            if wanted == "on":
                warmer.settings = replace(warmer.settings, is_enabled=True, template=None)
            elif wanted == "off":
                warmer.settings = replace(warmer.settings, is_enabled=False)
            elif wanted:
                found = current(store, now=time.time()).find(wanted)
                if found is None:
                    return f"There is no template {wanted!r}. /warm lists them."
                warmer.settings = replace(warmer.settings, is_enabled=True, template=found.name)
            lines = [
                f"  {one.name}: {plural(one.example_count, 'example')}, {one.description}" for one in listed(store)
            ]
    except SeasonedError as error:
        return str(error)
    chosen = warmer.settings.template
    begin = f"with the template {chosen!r}" if chosen else "with the template that fits"
    state = f"New conversations begin {begin if warmer.settings.is_enabled else 'cold'}."
    if warmer.settings.is_enabled and warmer.settings.experiment is not None:
        state = f"The experiment {warmer.settings.experiment!r} decides what new conversations begin with."
    if not lines:
        return f"{state} There are no templates yet. Run `hermes seasoned up`."
    more = [f"  … and {len(lines) - _MOST_LISTED} more"] if len(lines) > _MOST_LISTED else []
    return "\n".join([state, *lines[:_MOST_LISTED], *more])


def add_arguments(parser: ArgumentParser) -> None:
    """Everything after `hermes seasoned` is for Seasoned."""
    parser.add_argument("arguments", nargs=REMAINDER, help="as after `seasoned`, such as `template list`")


def run_command(given: Namespace) -> None:
    """Run Seasoned's command line in a new process, with the Python that runs Hermes."""
    # Not the program `seasoned` on the PATH, which may belong to another installation.
    code = "from seasoned.cli.main import main; main()"
    arguments = list(given.arguments) or ["--help"]
    sys.exit(subprocess.run([sys.executable, "-c", code, *arguments], check=False).returncode)
