"""Whether the tests would notice: changes one thing in the source at a time, and runs the tests of its package.

`python tools/mutate.py [--count N] [--seed S] [PACKAGE…]`. The sample depends on the seed alone. The checkout must have
no changes that are not committed: each mutant is written into it, and taken back.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Tests beside those of the package itself that are about it.
TESTS = {
    "lesson": ["tests/lesson", "tests/begin", "tests/scan", "tests/cli"],
    "outcome": ["tests/outcome", "tests/history", "tests/lesson"],
    "command": ["tests/command", "tests/lesson", "tests/outcome", "tests/confirm"],
    "redact": ["tests/redact", "tests/scan"],
    "confirm": ["tests/confirm"],
}
SECONDS = 600
_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


def changes(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Every place that can be changed, with what would be changed there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARED:
            yield node, f"{type(node.ops[0]).__name__} becomes {_COMPARED[type(node.ops[0])].__name__}"
        elif isinstance(node, ast.BoolOp):
            yield node, "and becomes or" if isinstance(node.op, ast.And) else "or becomes and"
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield node, f"{node.value} becomes {not node.value}"
        elif isinstance(node, ast.Constant) and isinstance(node.value, int):
            yield node, f"{node.value} becomes {node.value + 1}"
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield node, "not goes"
        elif isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
            yield node, "returns None"


def mutant(path: Path, at: int) -> tuple[str, str]:
    """The source of a file with its change number `at`, and a line that says what it is."""
    source = path.read_text("utf-8")
    tree = ast.parse(source)
    node, what = list(changes(tree))[at]
    match node:
        case ast.Compare():
            node.ops[0] = _COMPARED[type(node.ops[0])]()
        case ast.BoolOp():
            node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        case ast.Constant():
            value = node.value
            node.value = not value if isinstance(value, bool) else value + 1  # type: ignore[operator]
        case ast.UnaryOp():
            # `not not x` is x, as far as a condition goes.
            node.operand = ast.UnaryOp(ast.Not(), node.operand)
        case ast.Return():
            node.value = ast.Constant(None)
    line = node.lineno  # type: ignore[attr-defined]
    said = f"{path.relative_to(ROOT)}:{line}: {what}: {source.splitlines()[line - 1].strip()[:90]}"
    return ast.unparse(ast.fix_missing_locations(tree)), said


def is_noticed(package: str, path: Path) -> bool:
    """Whether the tests of a package fail: first those that name the changed file, which is where most end."""
    files = sorted((ROOT / TESTS[package][0]).rglob("test_*.py"))
    near = [str(one) for one in files if re.search(rf"\b{path.stem}\b", one.read_text("utf-8"))]
    for tests in ([near] if near else []) + [[one] for one in TESTS[package]]:
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header", *tests]
        try:
            ran = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return True
        if ran.returncode:
            return True
    return False


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*", default=list(TESTS))
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", default="1")
    asked = parser.parse_args()
    if subprocess.run(["git", "diff", "--quiet", "HEAD"], cwd=ROOT).returncode:
        sys.exit("There are changes that are not committed. Commit them first: mutants are written into the checkout.")
    survivors, made = [], 0
    for package in asked.packages:
        files = sorted((ROOT / "src/seasoned" / package).rglob("*.py"))
        places = [(path, at) for path in files for at, _ in enumerate(changes(ast.parse(path.read_text("utf-8"))))]
        chosen = random.Random(f"{asked.seed}:{package}").sample(places, asked.count // len(asked.packages))
        for path, at in chosen:
            source, said = mutant(path, at)
            before, began = path.read_bytes(), time.monotonic()
            try:
                path.write_text(source, "utf-8")
                noticed = is_noticed(package, path)
            finally:
                path.write_bytes(before)
            made += 1
            survivors += [] if noticed else [said]
            say(f"{'noticed ' if noticed else 'SURVIVES'} {time.monotonic() - began:4.0f} s  {said}")
    say(f"{made - len(survivors)} of {made} mutants noticed")


if __name__ == "__main__":
    main()
