"""What packages promise exists, and importing them costs nothing that was not asked for."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib import import_module

from tests.each_case import each_case
from tests.structure.source_tree import Module, modules

_SCREAMING = re.compile(r"[A-Z0-9_]+\Z")


def packages() -> list[Module]:
    return [one for one in modules() if one.is_package]


def _order(name: str) -> tuple[int, list[tuple[int, str]]]:
    """Constants, then classes, then the rest, numbers by their value: the order that the linter makes."""
    rank = 0 if _SCREAMING.match(name) else 1 if name.lstrip("_")[:1].isupper() else 2
    return rank, [(int(part or 0), word) for word, part in re.findall(r"([^\d]*)(\d*)", name)]


def _imported(*arguments: str) -> set[str]:
    """The modules that a new interpreter imports on the way."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments], capture_output=True, text=True, timeout=60, check=True
    )
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


def _below(names: set[str], *packages: str) -> set[str]:
    return {name for name in names for package in packages if name == package or name.startswith(f"{package}.")}


def _exports(one: Module) -> list[str] | None:
    for node in one.tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    return None


def test_what_a_package_exports_exists_in_order_and_once() -> None:
    problems = []
    for one in packages():
        names, package = _exports(one) or [], import_module(one.name)
        problems += [f"{one.name} has no {name}" for name in names if not hasattr(package, name)]
        if names != sorted(set(names), key=_order):
            problems.append(f"{one.name}: sort __all__, each name once")
    assert not problems, "\n".join(problems)


def test_every_package_has_a_docstring() -> None:
    assert [one.name for one in packages() if not ast.get_docstring(one.tree)] == []


def test_importing_the_package_does_nothing() -> None:
    found = _imported("-c", "import seasoned")
    assert "seasoned" in found
    assert {name for name in _below(found, "seasoned") if name != "seasoned"} == set()
    assert _below(found, "msgspec", "click", "rich", "sqlite3", "json", "asyncio", "multiprocessing") == set()


def test_help_does_not_load_the_packages() -> None:
    found = _imported("-m", "seasoned.cli.main", "--help")
    core = ["history", "outcome", "redact", "scan", "store", "session", "config"]
    assert "seasoned.errors" in found
    assert _below(found, "rich", "sqlite3", "msgspec", *[f"seasoned.{name}" for name in core]) == set()


@each_case("name", ["errors", "session", "config", "redact", "store", "history", "outcome", "scan", "stats"])
def test_the_core_does_not_load_the_terminal(name: str) -> None:
    found = _imported("-c", f"import seasoned.{name}")
    assert f"seasoned.{name}" in found
    assert _below(found, "click", "rich", "numpy", "scipy", "seasoned.cli") == set()
