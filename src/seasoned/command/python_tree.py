"""Python code as a tree: which functions it calls, with which texts.

Kept apart and imported on use: `ast` would cost every hook more than a millisecond, and few commands hold code.
"""

from __future__ import annotations

import ast
import shlex
from collections.abc import Iterator


def parse_code(code: str) -> ast.Module | None:
    """The tree of a piece of Python; None if it is not valid Python."""
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def calls(tree: ast.Module) -> Iterator[tuple[str, list[str]]]:
    """The last name of each function called (`run` in `subprocess.run(…)`) and the texts it is given."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            texts = _texts(node)
            if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Call):
                texts += _texts(node.func.value)  # `Path("/srv/data").unlink()`
            yield _name(node), texts


def commands(tree: ast.Module, runners: frozenset[str]) -> Iterator[str]:
    """The shell commands handed to functions that run one, as far as they are written out."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name(node) in runners and node.args:
            yield _command(node.args[0])


def _name(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _texts(node: ast.Call) -> list[str]:
    return [each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]


def _command(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "$?" for part in node.values)
    if isinstance(node, ast.List | ast.Tuple):
        words = [each.value for each in node.elts if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        return shlex.join(words)
    return ""
