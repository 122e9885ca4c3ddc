"""How large and how tidy the code is: `python tools/measure_code.py [FOLDER…]`, one column for each checkout.

Counts the Python files below src/seasoned of each folder (by default this checkout), so that two versions can be
compared side by side: lines, files, folders, class names that repeat, small files with one user, comments.
"""

from __future__ import annotations

import ast
import io
import json
import sys
import tokenize
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

SMALL_LINES = 60
LARGEST_SHOWN = 3


class Source(NamedTuple):
    """One Python file of the package."""

    path: Path
    """From the package's own folder."""
    text: str
    tree: ast.Module

    @property
    def name(self) -> str:
        parts = ["seasoned", *self.path.with_suffix("").parts]
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def sources(checkout: Path) -> list[Source]:
    package = checkout / "src/seasoned"
    if not package.is_dir():
        sys.exit(f"{checkout} has no src/seasoned: name the folder of a checkout.")
    texts = [(path, path.read_text("utf-8")) for path in sorted(package.rglob("*.py"))]
    return [Source(path.relative_to(package), text, ast.parse(text)) for path, text in texts]


def comment_lines(text: str) -> int:
    """Lines that have a comment, alone or behind code."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return len({token.start[0] for token in tokens if token.type == tokenize.COMMENT})


def repeated_classes(files: list[Source]) -> dict[str, int]:
    """Names of top-level classes that are defined in more than one file."""
    names = Counter(node.name for one in files for node in one.tree.body if isinstance(node, ast.ClassDef))
    return {name: count for name, count in names.items() if count > 1}


def users(files: list[Source]) -> dict[str, set[str]]:
    """For each module, the modules that import it."""
    known = {one.name for one in files}
    found: dict[str, set[str]] = defaultdict(set)
    for one in files:
        for node in ast.walk(one.tree):
            if isinstance(node, ast.Import):
                targets = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                targets = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            else:
                continue
            for target in targets:
                if target in known and target != one.name:
                    found[target].add(one.name)
    return found


def measure(checkout: Path) -> dict[str, object]:
    """The figures of one checkout."""
    files = sources(checkout)
    lines = {one.name: one.text.count("\n") for one in files}
    folders = Counter(one.path.parent.as_posix() for one in files)
    imported_by = users(files)
    small = [one for one in files if lines[one.name] < SMALL_LINES and one.path.name != "__init__.py"]
    comments = sum(comment_lines(one.text) for one in files)
    total = sum(lines.values())
    classes = sum(isinstance(node, ast.ClassDef) for one in files for node in one.tree.body)
    return {
        "lines": total,
        "files": len(files),
        "median lines of a file": sorted(lines.values())[len(lines) // 2],
        "largest file": max(lines.values()),
        "folders": len(folders),
        "folders with more than 20 files": sum(count > 20 for count in folders.values()),
        "files in the fullest folders": ", ".join(f"{name} {n}" for name, n in folders.most_common(LARGEST_SHOWN)),
        "classes": classes,
        "class names that repeat": len(repeated_classes(files)),
        f"files under {SMALL_LINES} lines with one user": sum(len(imported_by[one.name]) == 1 for one in small),
        "comment lines per 100": round(100 * comments / total, 1),
    }


def main() -> None:
    arguments = [argument for argument in sys.argv[1:] if argument != "--json"]
    checkouts = [Path(name) for name in arguments] or [Path(__file__).resolve().parents[1]]
    figures = [measure(checkout) for checkout in checkouts]
    if "--json" in sys.argv:
        sys.stdout.write(json.dumps(figures, indent=2) + "\n")
        return
    for key in figures[0]:
        sys.stdout.write("  ".join([f"{key:<40}", *(f"{one[key]!s:>14}" for one in figures)]) + "\n")


if __name__ == "__main__":
    main()
