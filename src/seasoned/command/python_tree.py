"""Python code as a tree: which functions it calls, with which texts.

Imported on use: `ast` would cost every hook more than a millisecond, and few commands contain code.
"""

from __future__ import annotations

import ast
import shlex
from collections.abc import Iterator

# A value put together from many texts would grow without end.
_MOST_TEXTS = 20


def parse_code(code: str) -> ast.Module | None:
    """The tree of a piece of Python; None if it is not valid Python."""
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def calls(tree: ast.Module) -> Iterator[tuple[str, list[str]]]:
    """The last name of each function called (`run` in `subprocess.run(…)`) and the texts it is given.

    Literal texts are followed through variables, loops, `+` and `Path(…) / …`.
    """
    known = _KnownTexts(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            texts = [text for each in node.args for text in known.of(each)]
            if isinstance(node.func, ast.Attribute):
                texts += known.of(node.func.value)  # `Path("/srv/data").unlink()`
            yield known.name(node), texts
            # `map(os.remove, …)`: a function passed as an argument is called with the arguments next to it.
            for each in node.args:
                if isinstance(each, ast.Attribute) or (isinstance(each, ast.Name) and texts):
                    yield each.attr if isinstance(each, ast.Attribute) else each.id, texts


def commands(tree: ast.Module, runners: frozenset[str]) -> Iterator[str]:
    """The literal shell commands passed to functions that run them."""
    known = _KnownTexts(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and known.name(node) in runners:
            for each in node.args[:2]:
                words = known.list_of(each)
                yield shlex.join(words) if words else " ".join(known.of(each))


class _KnownTexts:
    """The texts in the variables of a piece of code, and the original names of imports."""

    def __init__(self, tree: ast.Module) -> None:
        self._values: dict[str, list[str]] = {}
        self._lists: dict[str, list[str]] = {}
        self._original: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom | ast.Import):
                self._original |= {one.asname: one.name for one in node.names if one.asname}
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    self._keep(target, node.value)
            elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
                self._keep(node.target, node.value)
            elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
                self._keep(node.target, node.iter)
            elif isinstance(node, ast.withitem) and node.optional_vars is not None:
                self._keep(node.optional_vars, node.context_expr)

    def _keep(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._lists[target.id] = self.list_of(value)
            self._values[target.id] = [*self._values.get(target.id, []), *self.of(value)][:_MOST_TEXTS]
        elif isinstance(target, ast.Tuple | ast.List):
            for each in target.elts:  # `for root, dirs, files in os.walk("/srv")`
                self._keep(each, value)

    def name(self, node: ast.Call) -> str:
        """The last name of a called function, as it was defined."""
        if isinstance(node.func, ast.Attribute):
            return node.func.attr
        own = getattr(node.func, "id", "")
        return self._original.get(own, own)

    def list_of(self, node: ast.expr) -> list[str]:
        """The words of a list of texts."""
        if isinstance(node, ast.Name):
            return self._lists.get(node.id, [])
        if isinstance(node, ast.List | ast.Tuple):
            return [" ".join(self.of(each)) for each in node.elts]
        return []

    def of(self, node: ast.expr) -> list[str]:
        """The texts that a value may be, or be made of."""
        found: list[str] = []
        if isinstance(node, ast.Constant):
            found = [node.value] if isinstance(node.value, str) else []
        elif isinstance(node, ast.Name):
            found = self._values.get(node.id, [])
        elif isinstance(node, ast.JoinedStr):
            parts = [
                self.of(part.value) if isinstance(part, ast.FormattedValue) else self.of(part) for part in node.values
            ]
            found = ["".join(part[0] if part else "$?" for part in parts)]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Div):
            left, right = self.of(node.left), self.of(node.right)
            middle = "/" if isinstance(node.op, ast.Div) else ""
            found = [f"{one}{middle}{two}" for one in left for two in right] if left and right else left + right
        elif isinstance(node, ast.Call):
            found = self._call_findings(node)
        elif isinstance(node, ast.List | ast.Tuple | ast.Set):
            found = [text for each in node.elts for text in self.of(each)]
        elif isinstance(node, ast.Attribute | ast.Subscript | ast.Starred | ast.Await):
            found = self.of(node.value)
        return found[:_MOST_TEXTS]

    def _call_findings(self, node: ast.Call) -> list[str]:
        name = self.name(node)
        if name == "home" and not node.args:
            return ["~"]
        held = [self.of(each) for each in node.args]
        if name == "join" and len(held) > 1 and all(held):
            return ["/".join(part[0] for part in held)]
        own = self.of(node.func.value) if isinstance(node.func, ast.Attribute) else []
        return [*own, *(text for part in held for text in part)]
