"""Files and functions stay small, and habits that hide mistakes stay out."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import PurePath

import pytest

from tests.structure.source_tree import Module, functions, module, modules

FILE_LINES = 600
FUNCTION_LINES = 80
PARAMETERS = 8
FOLDER_FILES = 20
VAGUE = re.compile(r"(?:utils?|helpers?|commons?|managers?|handlers?|bases?|misc)\Z")

# These lists only shrink: an entry that is no longer needed fails the tests until it is taken out.
LONG_FILES: dict[str, str] = {}
LONG_FUNCTIONS: dict[tuple[str, str], str] = {}
MANY_PARAMETERS: dict[tuple[str, str], str] = {
    (
        "src/seasoned/mcp_server/tools.py",
        "ExperienceTools.warm_session",
    ): "the schema of the tool is made of its signature",
}
REPEATED_CLASSES: dict[str, str] = {}
BROAD_EXCEPTS: dict[tuple[str, str], str] = {
    ("src/seasoned/hooks/confirmation.py", "_hint"): "a hint that fails must not stop the call; it is logged",
    ("src/seasoned/hooks/main.py", "run"): "a hook that ends with a traceback would let the call run",
    (
        "src/seasoned/gateway/record/recorder.py",
        "GatewayRecorder._write_batch",
    ): "one batch: each of it is written by itself, shielded",
    ("src/seasoned/gateway/settings.py", "Failures.shield"): "one request: it goes on without the part that failed",
    ("src/seasoned/hermes_plugin/confirmation.py", "CallGate.check"): "a hook that raises would let the call run",
    (
        "src/seasoned/hermes_plugin/host.py",
        "ErrorBoundary.part",
    ): "one call of Hermes: it goes on without our part",
    ("src/seasoned/mine/run.py", "mine_into"): "one file: it is reported, and the others go on",
    ("src/seasoned/runner/hermes_turn.py", "main"): "one run: whatever breaks in Hermes is a sentence for the caller",
    ("src/seasoned/schedule/scheduler.py", "_Running.start.work"): "one job: however it breaks, its line says so",
}

FOLDERS = ("src", "tests", "tools", "bench")


def long_functions(one: Module) -> list[str]:
    """Names of functions that are longer than they should be."""
    return [name for name, node in functions(one.tree) if (node.end_lineno or 0) - node.lineno >= FUNCTION_LINES]


def many_parameters(one: Module) -> list[str]:
    """Names of functions with more parameters than they should have, without `self` and `**` options."""
    return [name for name, node in functions(one.tree) if len(_parameters(node.args)) > PARAMETERS]


def _parameters(given: ast.arguments) -> list[str]:
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, *([given.vararg] if given.vararg else [])]
    return [one.arg for one in every if one.arg not in ("self", "cls")]


def broad_excepts(one: Module) -> Iterator[tuple[str, int]]:
    """Function and line of every handler that catches everything and does not pass it on."""
    if not any(isinstance(node, ast.ExceptHandler) and _is_broad(node) for node in ast.walk(one.tree)):
        return
    for name, node in [("", one.tree), *functions(one.tree)]:
        inside = {id(inner) for _, nested in functions(node) for inner in ast.walk(nested)}
        for child in ast.walk(node):
            if isinstance(child, ast.ExceptHandler) and id(child) not in inside and _is_broad(child):
                yield name, child.lineno


def _is_broad(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    if isinstance(last, ast.Raise) and last.exc is None:
        return False
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or ast.unparse(kind) in ("Exception", "BaseException") for kind in kinds)


def environment_reads(one: Module) -> Iterator[int]:
    """Lines that look into the environment."""
    if "environ" not in one.text and "getenv" not in one.text:
        return
    for node in ast.walk(one.tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node) in ("os.environ", "os.environb", "os.getenv"):
            yield node.lineno
        elif isinstance(node, ast.ImportFrom) and node.module == "os":
            yield from [node.lineno for alias in node.names if alias.name in ("environ", "environb", "getenv")]


def unfinished(one: Module) -> Iterator[int]:
    """Lines that say that something is still to be done."""
    for number, line in enumerate(one.text.splitlines(), start=1):
        if re.search(r"\b(?:TODO|FIXME|XXX)\b", line):
            yield number
    for node in ast.walk(one.tree) if "NotImplementedError" in one.text else ():
        if isinstance(node, ast.Raise) and node.exc is not None and "NotImplementedError" in ast.unparse(node.exc):
            yield node.lineno


def mocks(one: Module) -> Iterator[int]:
    """Lines that put something false in the place of a part."""
    if "mock" not in one.text:
        return
    for node in ast.walk(one.tree):
        if isinstance(node, ast.ImportFrom):
            names = {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names = {alias.name for alias in node.names}
        elif isinstance(node, ast.arg):
            names = {node.arg}
        else:
            continue
        if names & {"unittest.mock", "mock", "pytest_mock", "mocker"}:
            yield node.lineno


def asserts_nothing(one: Module) -> Iterator[str]:
    """Tests, and the checks they call, that could never fail by themselves."""
    for name, node in functions(one.tree):
        own = name.rpartition(".")[2].lstrip("_")
        if own.startswith(("test_", "check_", "assert_")) and not any(map(_asserts, ast.walk(node))):
            yield f"{one.file}:{node.lineno}: {name}"


def _asserts(node: ast.AST) -> bool:
    if isinstance(node, ast.Assert):
        return True
    if not isinstance(node, ast.Call):
        return False
    name = ast.unparse(node.func)
    return name in ("pytest.raises", "pytest.fail", "pytest.warns") or name.rpartition(".")[2].lstrip("_").startswith(
        ("assert_", "check_")
    )


def test_long_files_are_known_and_become_fewer() -> None:
    long = {one.file: lines for one in modules("src") if (lines := one.text.count("\n")) > FILE_LINES}
    new = {file: lines for file, lines in long.items() if file not in LONG_FILES}
    assert not new, f"more than {FILE_LINES} lines, find the second subject in the file: {new}"
    assert not LONG_FILES.keys() - long, f"short enough now, take it off the list: {LONG_FILES.keys() - long}"


def test_long_functions_are_known_and_become_fewer() -> None:
    long = {(one.file, name) for one in modules("src") for name in long_functions(one)}
    assert not long - LONG_FUNCTIONS.keys(), f"more than {FUNCTION_LINES} lines: {long - LONG_FUNCTIONS.keys()}"
    assert not LONG_FUNCTIONS.keys() - long, f"short enough now, take it off: {LONG_FUNCTIONS.keys() - long}"


def test_many_parameters_are_known_and_become_fewer() -> None:
    many = {(one.file, name) for one in modules("src") for name in many_parameters(one)}
    assert not many - MANY_PARAMETERS.keys(), f"more than {PARAMETERS} parameters: {many - MANY_PARAMETERS.keys()}"
    assert not MANY_PARAMETERS.keys() - many, f"few enough now, take it off: {MANY_PARAMETERS.keys() - many}"


def test_no_folder_is_crowded() -> None:
    folders = Counter(str(PurePath(one.file).parent) for one in modules("src"))
    crowded = {folder: count for folder, count in folders.items() if count > FOLDER_FILES}
    assert not crowded, f"more than {FOLDER_FILES} files, make sub-folders: {crowded}"


def test_a_class_name_means_one_thing() -> None:
    places = defaultdict(list)
    for one in modules("src"):
        for node in one.tree.body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(one.file)
    repeated = {name: files for name, files in places.items() if len(files) > 1}
    new = {name: files for name, files in repeated.items() if name not in REPEATED_CLASSES}
    assert not new, f"defined more than once, say which kind each one is: {new}"
    gone = REPEATED_CLASSES.keys() - repeated
    assert not gone, f"no longer repeated, take it off the list: {gone}"


def test_broad_excepts_are_known_and_become_fewer() -> None:
    broad = {(one.file, name): line for one in modules("src") for name, line in broad_excepts(one)}
    new = [f"{file}:{line}: {name}" for (file, name), line in broad.items() if (file, name) not in BROAD_EXCEPTS]
    assert not new, "name what is caught, or say why not:\n" + "\n".join(new)
    assert not BROAD_EXCEPTS.keys() - broad, f"no longer there, take it off: {BROAD_EXCEPTS.keys() - broad}"


@pytest.mark.parametrize("listed", [LONG_FILES, LONG_FUNCTIONS, MANY_PARAMETERS, REPEATED_CLASSES, BROAD_EXCEPTS])
def test_every_exception_says_why(listed: dict[object, str]) -> None:
    assert all(len(reason) > 20 for reason in listed.values())


def test_no_file_has_a_name_that_says_nothing() -> None:
    ours = [one for folder in FOLDERS for one in modules(folder)]
    vague = [one.file for one in ours if any(VAGUE.match(part) for part in PurePath(one.file).with_suffix("").parts)]
    assert not vague, "\n".join(vague)


def test_only_the_configuration_reads_the_environment() -> None:
    found = [f"{one.file}:{line}" for one in modules("src") for line in environment_reads(one)]
    # A hook needs some of it before it has the time to import the configuration.
    known = ("src/seasoned/config.py:", "src/seasoned/environment.py:")
    elsewhere = [place for place in found if not place.startswith(known)]
    assert not elsewhere, "\n".join(elsewhere)
    assert found, "the search itself must find the reads in config.py"


def test_nothing_is_left_unfinished() -> None:
    found = [f"{one.file}:{line}" for one in modules("src") for line in unfinished(one)]
    assert not found, "\n".join(found)


def test_no_test_uses_mocks() -> None:
    found = [f"{one.file}:{line}" for one in modules("tests") for line in mocks(one)]
    assert not found, "\n".join(found)


def test_every_test_asserts_something() -> None:
    tests = [one for one in modules("tests") if PurePath(one.file).name.startswith("test_")]
    found = [place for one in tests for place in asserts_nothing(one)]
    assert not found, "\n".join(found)


def test_the_rules_find_what_they_look_for() -> None:
    long = "def f():\n" + "    x = 1\n" * FUNCTION_LINES
    assert long_functions(module("m", long)) == ["f"]
    assert many_parameters(module("m", "def f(a, b, c, d, /, e, *f, g, h, i): ...")) == ["f"]
    assert many_parameters(module("m", "class C:\n    def f(self, a, b, c, d, e, f, *, g, h, **i): ...")) == []
    assert list(broad_excepts(module("m", "def f():\n    try:\n        g()\n    except:\n        pass\n"))) == [
        ("f", 4)
    ]
    assert list(broad_excepts(module("m", "try:\n    g()\nexcept (OSError, Exception):\n    h()\n"))) == [("", 3)]
    assert list(broad_excepts(module("m", "try:\n    g()\nexcept BaseException:\n    h()\n    raise\n"))) == []
    assert list(environment_reads(module("m", "from os import environ\nimport os\nos.getenv('A')"))) == [1, 3]
    assert list(unfinished(module("m", "x = 1  # " + "TO" + "DO later\nraise NotImplementedError('x')"))) == [1, 2]
    assert list(mocks(module("m", "from unittest import mock\ndef test_x(mocker): pass"))) == [1, 2]
    assert list(asserts_nothing(module("m", "def test_x():\n    f()\ndef test_y():\n    check_it()"))) == [
        "m.py:1: test_x"
    ]
