"""What people and the model can ask for in Hermes: `/warm`, `hermes seasoned …`, and the tool `warm_session`."""

from __future__ import annotations

import subprocess
import sys
import time
from argparse import REMAINDER, ArgumentParser, Namespace
from typing import Any

import msgspec

from seasoned.config import Config
from seasoned.errors import SeasonedError
from seasoned.hermes_plugin.warm import Warmer
from seasoned.redact.key import Secrecy, load_key
from seasoned.store import open_store
from seasoned.template.library.storage import current, listed
from seasoned.template.warm_session import ACTIONS, warm_session
from seasoned.template.warm_session import DESCRIPTION as TOOL_DESCRIPTION

TOOL = "warm_session"
DESCRIPTION = "Warm starts from earlier sessions, confirmations by a person, and whether it helped."
_ABOUT_THIS = ("profile", "compress-check")
_MOST_LISTED = 20
_TEXTS = {
    "name": "Of the template, for build, load and delete.",
    "description": "What the template is for.",
    "source_filter": 'For build: only sessions of one agent, such as "hermes".',
    "session_id": "For profile, compress-check and compare; this session where it is left out.",
    "compare_with": "For compare: the session that counts as cold.",
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
            "min_messages": {"type": "integer", "description": "For build: only sessions at least so long (30)."},
            "max_sessions": {"type": "integer", "description": "For build: learn from at most so many (30)."},
            "tags": {"type": "array", "items": {"type": "string"}, "description": "Words to find a template by."},
            "tools": {"type": "array", "items": {"type": "string"}, "description": "For load: tools that there are."},
            "budget": {"type": "integer", "description": "For load: tokens at most (1500)."},
        },
        "required": ["action"],
    },
}


def answer(config: Config, arguments: dict[str, Any], *, session: str) -> str:
    """The answer of the tool as JSON. What went wrong is an answer too, which a model can act on."""
    given = {name: value for name, value in arguments.items() if value is not None}
    if given.get("action") in _ABOUT_THIS and session:
        given.setdefault("session_id", session)
    try:
        redactor = Secrecy(load_key(config.home), config.redact).redactor()
        with open_store(config.store_path) as store:
            found = warm_session(store, given, redactor=redactor)
    except SeasonedError as error:
        found = {"success": False, "error": str(error)}
    except OSError as error:
        found = {"success": False, "error": f"Seasoned's folder cannot be used ({error.strerror or error})."}
    except ImportError as error:
        missing = f"{error.name or error} is not installed beside Hermes"
        found = {"success": False, "error": f"{missing}: install seasoned[insight,template] there for this action."}
    return msgspec.json.encode(found).decode()


def set_warm(config: Config, warmer: Warmer, words: str) -> str:
    """What `/warm` says and does; it holds for conversations that begin from now on in this process."""
    wanted = words.strip()
    try:
        with open_store(config.store_path) as store:
            if wanted in ("on", "off"):
                warmer.is_on = wanted == "on"
                warmer.wish = None if wanted == "on" else warmer.wish
            elif wanted:
                found = current(store, now=time.time()).find(wanted)
                if found is None:
                    return f"There is no template {wanted!r}: /warm shows all."
                warmer.is_on, warmer.wish = True, found.name
            lines = [f"  {one.name}: {one.example_count} examples, {one.description}" for one in listed(store)]
    except SeasonedError as error:
        return str(error)
    begin = f"with the template {warmer.wish!r}" if warmer.wish else "with the template that fits"
    state = f"New conversations begin {begin if warmer.is_on else 'cold'}."
    if not lines:
        return f"{state} There are no templates yet: run `hermes seasoned up`."
    more = [f"  … and {len(lines) - _MOST_LISTED} more"] if len(lines) > _MOST_LISTED else []
    return "\n".join([state, *lines[:_MOST_LISTED], *more])


def add_arguments(parser: ArgumentParser) -> None:
    """Everything after `hermes seasoned` is for Seasoned."""
    parser.add_argument("arguments", nargs=REMAINDER, help="as after `seasoned`, such as `template list`")


def run_command(given: Namespace) -> None:
    """Run Seasoned's own command line in a process of its own, with the Python that runs Hermes."""
    code = "from seasoned.cli.main import main; main()"
    arguments = list(given.arguments) or ["--help"]
    sys.exit(subprocess.run([sys.executable, "-c", code, *arguments], check=False).returncode)
