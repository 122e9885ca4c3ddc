"""A package imports only from the packages before it, and the thin core nothing heavy."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from tests.each_case import each_case
from tests.structure.source_tree import PACKAGE, Import, Module, imports, module, modules

PACKAGES = (
    "errors",
    "lazy_property",
    "lazy_regex",
    "text",
    "digest",
    "project",
    "session",
    "marks",
    "environment",
    "config",
    "atomic_write",
    "database_file",
    "file_lock",
    "background",
    "learn_queue",
    "price",
    "command",
    "redact",
    "admission",
    "store",
    "history",
    "outcome",
    "scan",
    "stats",
    "lesson",
    "report",
    "example",
    "mine",
    "experiment",
    "begin",
    "confirm",
    "runner",
    "review",
    "gateway",
    "schedule",
    "doctor",
    "connect",
    "live",
    "app",
)
ENTRY_POINTS = ("cli", "web", "mcp_server", "hermes_plugin", "hooks")
DATA = ("samples",)
THIN = (*PACKAGES[: PACKAGES.index("example") + 1], "begin", *DATA, "hermes_plugin", "hooks")
EVERYWHERE = {"msgspec"}
NUMBERS = {"numpy", "scipy"}
PAGES = {"jinja2", "markupsafe"}
SHARED = {"psycopg"}
AUTOMATON = {"ahocorasick_rs"}
PRICES = {"genai_prices"}
TERMINAL = {"click", "rich", "typer"}
KEPT_APART = {
    "stats": (frozenset(PACKAGES) - {"errors", "stats"}, "it is given numbers and knows nothing of sessions"),
    "schedule": (frozenset({"runner", "review"}), "it is given the function that runs an agent"),
}


def package_of(name: str) -> str:
    """The package that a module lies in; the package itself is the package without a name."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 else ""


def problems(one: Module) -> Iterator[str]:
    """Everything that a module imports and should not, each with its place."""
    package = package_of(one.name)
    for each in imports(one):
        top = each.target.split(".")[0]
        why = _own(package, each) if top == "seasoned" else _foreign(package, top, each)
        if why is not None:
            yield f"{one.file}:{each.line}: {one.name} imports {each.target}: {why}"


def _own(package: str, each: Import) -> str | None:
    target = package_of(each.target)
    if target not in (*PACKAGES, *ENTRY_POINTS, *DATA):
        return None  # a name of the package itself, such as its version
    if package == "":
        return None if each.is_deferred and target not in ENTRY_POINTS else "importing the package does nothing"
    if package == target:
        return None
    if package in ENTRY_POINTS:
        return (
            "only the command line starts other entry points" if target in ENTRY_POINTS and package != "cli" else None
        )
    if target in ENTRY_POINTS:
        return "no package imports an entry point"
    if package in DATA:
        return "samples are data"
    apart, why = KEPT_APART.get(package, (frozenset(), ""))
    if target in apart:
        return f"{package} stays apart from {target}: {why}"
    if target in PACKAGES and PACKAGES.index(target) > PACKAGES.index(package):
        return f"{target} comes after {package}"
    return None


def _foreign(package: str, top: str, each: Import) -> str | None:
    if top in sys.stdlib_module_names or top in EVERYWHERE:
        return None
    if top in TERMINAL:
        return None if package == "cli" else "only the command line speaks to a terminal"
    if package == "":
        return "importing the package does nothing"
    if top in NUMBERS:
        if package in THIN and package not in ("stats", "report"):
            return "numbers are for stats and report"
        return None if each.is_deferred else "it is heavy: import it inside the function that uses it"
    own = {"report": PAGES, "store": SHARED, "price": PRICES, "redact": AUTOMATON}.get(package, set())
    if top in own:
        return None if each.is_deferred else "it is heavy: import it inside the function that uses it"
    return "the thin core runs on msgspec and the standard library" if package in THIN else None


def test_every_package_has_its_place() -> None:
    found = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert found - {"__init__"} <= {*PACKAGES, *ENTRY_POINTS, *DATA}, "name the new package in PACKAGES, in its place"


def test_every_module_imports_only_what_it_may() -> None:
    found = [problem for one in modules() for problem in problems(one)]
    assert not found, "\n".join(found)


@each_case(
    ("name", "text", "why"),
    [
        ("seasoned.redact.key", "from seasoned.store import Store", "store comes after redact"),
        ("seasoned.redact.key", "def f():\n    from seasoned import store", "store comes after redact"),
        ("seasoned.redact.key", "from ..store import database", "store comes after redact"),
        ("seasoned.store.backup", 'import_module(f"seasoned.history.{name}")', "history comes after store"),
        ("seasoned.scan.worker_pool", "import seasoned.cli.output", "no package imports an entry point"),
        ("seasoned.web.page", "import seasoned.mcp_server", "only the command line starts other entry points"),
        ("seasoned.stats.test", "from seasoned.session import Session", "knows nothing of sessions"),
        ("seasoned.history.reader.log.otel", "import orjson", "the thin core"),
        ("seasoned.hooks.codex", "import httpx", "the thin core"),
        ("seasoned.store.backup", "from rich import print", "only the command line"),
        ("seasoned.stats.mean", "import numpy as np", "import it inside the function"),
        ("seasoned.outcome.error_rate", "def f():\n    import numpy", "numbers are for stats"),
        ("seasoned.report.page", "import jinja2", "import it inside the function"),
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
        ("seasoned.report.page", "def f():\n    from markupsafe import Markup"),
        ("seasoned.cli.serve", "def f():\n    import seasoned.web.app, uvicorn"),
        ("seasoned.store.search", "import sqlite3\nfrom seasoned import __version__\nfrom seasoned.store import Store"),
        ("seasoned", "def __getattr__(name):\n    from seasoned.history import read"),
    ],
)
def test_a_right_import_is_left_alone(name: str, text: str) -> None:
    assert list(problems(module(name, text))) == []
