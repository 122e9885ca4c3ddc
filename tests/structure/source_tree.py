"""The project's own files, each parsed when a test of its structure first asks for its tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src/seasoned"
SAMPLES = PACKAGE / "samples"


class Module:
    """One Python file: its path from the root, its dotted name, its text and its tree."""

    def __init__(self, file: str, name: str, text: str, *, is_package: bool) -> None:
        self.file = file
        self.name = name
        self.text = text
        self.is_package = is_package

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)


class Import(NamedTuple):
    """One module that is imported: its dotted name, the line, and how deep in the code it stands."""

    target: str
    line: int
    is_deferred: bool
    """Inside a function, or only for the type checker: importing the module does not run it."""


def module(name: str, text: str, file: str | None = None, *, is_package: bool = False) -> Module:
    """A module from its text, so that a rule can also be shown code that breaks it."""
    return Module(file or f"{name.replace('.', '/')}.py", name, text, is_package=is_package)


@cache
def modules(folder: str = "src") -> tuple[Module, ...]:
    """Every Python file below a folder of the project; `conftest.py` lets go of them after the last of these tests."""
    return tuple(_load(path, folder) for path in sorted((ROOT / folder).rglob("*.py")))


def _load(path: Path, folder: str) -> Module:
    parts = list(path.relative_to(ROOT / folder).with_suffix("").parts)
    is_package = parts[-1] == "__init__"
    name = ".".join(parts[:-1] if is_package else parts)
    return module(name, path.read_text("utf-8"), path.relative_to(ROOT).as_posix(), is_package=is_package)


def functions(tree: ast.AST) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Every function with its qualified name."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node
            yield from ((f"{node.name}.{inner}", found) for inner, found in functions(node))
        elif isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{inner}", found) for inner, found in functions(node))
        else:
            yield from functions(node)


def imports(one: Module) -> Iterator[Import]:
    """Every import of a module, wherever it stands: statements and `import_module("…")` alike."""
    yield from _imports(one, one.tree, is_deferred=False)


def _imports(one: Module, node: ast.AST, *, is_deferred: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (Import(alias.name, child.lineno, is_deferred) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            source = _source(one, child)
            yield from (Import(f"{source}.{alias.name}", child.lineno, is_deferred) for alias in child.names)
        elif isinstance(child, ast.Call) and (target := _named_in_call(child)) is not None:
            yield Import(target, child.lineno, is_deferred)
        is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from _imports(one, child, is_deferred=is_deferred or is_function or _is_for_types(child))


def _source(one: Module, node: ast.ImportFrom) -> str:
    if node.level == 0:
        return node.module or ""
    base = one.name.split(".")
    base = base[: len(base) - node.level + one.is_package]
    return ".".join([*base, *([node.module] if node.module else [])])


def _named_in_call(call: ast.Call) -> str | None:
    """The module that `import_module` is given, as far as it stands in the code."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name not in ("import_module", "__import__") or not call.args:
        return None
    given = call.args[0]
    if isinstance(given, ast.JoinedStr) and given.values:
        given = given.values[0]
    return given.value.rstrip(".") if isinstance(given, ast.Constant) and isinstance(given.value, str) else None


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and any(
        "TYPE_CHECKING" in (getattr(part, "id", ""), getattr(part, "attr", "")) for part in ast.walk(node.test)
    )
