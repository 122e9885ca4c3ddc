"""A room imports only from the rooms before it, and the thin core nothing heavy."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from tests.structure.source_tree import PACKAGE, Import, Module, imports, module, modules

ROOMS = (
    "errors",
    "text",
    "session",
    "config",
    "redact",
    "store",
    "history",
    "outcome",
    "scan",
    "stats",
    "insight",
    "template",
    "experiment",
    "confirm",
    "agent",
    "gateway",
    "schedule",
    "doctor",
    "connect",
    "app",
)
DOORS = ("cli", "web", "mcp_server", "hermes_plugin", "hooks", "testing")
DATA = ("samples",)
THIN = (*ROOMS[: ROOMS.index("template") + 1], *DATA, "hermes_plugin", "hooks")
EVERYWHERE = {"msgspec"}
NUMBERS = {"numpy", "scipy"}
PAGES = {"jinja2", "markupsafe"}
SEARCH = {"bm25s"}
SHARED = {"psycopg"}
TERMINAL = {"click", "rich", "typer"}
KEPT_APART = {
    "stats": (frozenset(ROOMS) - {"errors", "text", "stats"}, "it is given numbers and knows nothing of sessions"),
    "schedule": (frozenset({"agent"}), "it is given the function that runs an agent"),
}


def room_of(name: str) -> str:
    """The room that a module lies in; the package itself is the room without a name."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 else ""


def problems(one: Module) -> Iterator[str]:
    """Everything that a module imports and should not, each with its place."""
    room = room_of(one.name)
    for each in imports(one):
        top = each.target.split(".")[0]
        why = _own(room, each) if top == "seasoned" else _foreign(room, top, each)
        if why is not None:
            yield f"{one.file}:{each.line}: {one.name} imports {each.target}: {why}"


def _own(room: str, each: Import) -> str | None:
    target = room_of(each.target)
    if target not in (*ROOMS, *DOORS, *DATA):
        return None  # a name of the package itself, such as its version
    if room == "":
        return None if each.is_deferred and target not in DOORS else "importing the package does nothing"
    if room == target:
        return None
    if room in DOORS:
        return "only the command line opens other doors" if target in DOORS and room != "cli" else None
    if target in DOORS:
        return "no room imports a door"
    if room in DATA:
        return "samples are data"
    apart, why = KEPT_APART.get(room, (frozenset(), ""))
    if target in apart:
        return f"{room} stays apart from {target}: {why}"
    if target in ROOMS and ROOMS.index(target) > ROOMS.index(room):
        return f"{target} comes after {room}"
    return None


def _foreign(room: str, top: str, each: Import) -> str | None:
    if top in sys.stdlib_module_names or top in EVERYWHERE:
        return None
    if top in TERMINAL:
        return None if room == "cli" else "only the command line speaks to a terminal"
    if room == "":
        return "importing the package does nothing"
    if top in NUMBERS:
        if room in THIN and room not in ("stats", "insight"):
            return "numbers are for stats and insight"
        return None if each.is_deferred else "it is heavy: import it inside the function that uses it"
    own = {"insight": PAGES, "template": SEARCH, "store": SHARED}.get(room, set())
    if top in own:
        return None if each.is_deferred else "it is heavy: import it inside the function that uses it"
    return "the thin core runs on msgspec and the standard library" if room in THIN else None


def test_every_room_has_its_place() -> None:
    found = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert found - {"__init__"} <= {*ROOMS, *DOORS, *DATA}, "name the new room in ROOMS, in its place"


@pytest.mark.parametrize("one", modules(), ids=lambda one: one.name)
def test_a_module_imports_only_what_it_may(one: Module) -> None:
    found = list(problems(one))
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("seasoned.redact.key", "from seasoned.store import Store", "store comes after redact"),
        ("seasoned.redact.key", "def f():\n    from seasoned import store", "store comes after redact"),
        ("seasoned.redact.key", "from ..store import database", "store comes after redact"),
        ("seasoned.store.keep", 'import_module(f"seasoned.history.{name}")', "history comes after store"),
        ("seasoned.scan.pool", "import seasoned.cli.output", "no room imports a door"),
        ("seasoned.web.page", "import seasoned.mcp_server", "only the command line opens other doors"),
        ("seasoned.stats.test", "from seasoned.session import Session", "knows nothing of sessions"),
        ("seasoned.history.otel", "import orjson", "the thin core"),
        ("seasoned.hooks.codex", "import httpx", "the thin core"),
        ("seasoned.store.keep", "from rich import print", "only the command line"),
        ("seasoned.stats.mean", "import numpy as np", "import it inside the function"),
        ("seasoned.outcome.rate", "def f():\n    import numpy", "numbers are for stats"),
        ("seasoned.insight.page", "import jinja2", "import it inside the function"),
        ("seasoned.store.postgres", "import psycopg", "import it inside the function"),
        ("seasoned.outcome.page", "def f():\n    import jinja2", "the thin core"),
        ("seasoned", "from seasoned.session import Session", "importing the package does nothing"),
        ("seasoned", "import msgspec.json, click", "only the command line"),
    ],
)
def test_a_wrong_import_is_found(name: str, text: str, why: str) -> None:
    (found,) = problems(module(name, text))
    assert why in found
    assert f".py:{text.count(chr(10)) + 1}: " in found


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("seasoned.stats.mean", "def f():\n    import numpy as np"),
        ("seasoned.insight.page", "def f():\n    from markupsafe import Markup"),
        ("seasoned.cli.serve", "def f():\n    import seasoned.web.app, uvicorn"),
        ("seasoned.store.find", "import sqlite3\nfrom seasoned import __version__\nfrom seasoned.store import Store"),
        ("seasoned", "def __getattr__(name):\n    from seasoned.history import read"),
    ],
)
def test_a_right_import_is_left_alone(name: str, text: str) -> None:
    assert list(problems(module(name, text))) == []
