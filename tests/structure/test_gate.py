"""Every way by which text reaches a model is in docs/design/gate.md, and what sessions left behind passes the gate."""

from __future__ import annotations

import ast
import re
from functools import cache

from tests.each_case import each_case
from tests.structure.model_text import places
from tests.structure.source_tree import ROOT, functions, module, modules

PAGE = ROOT / "docs/design/gate.md"
# What decides whether something may be shown.
GATE = {"admit", "admit_call", "admit_path", "admit_written", "admitted", "is_harmless", "unclean", "is_injection"}
_REFERENCE = re.compile(r"`([\w.]+:[\w.]+)`")


def rows(columns: int) -> list[list[str]]:
    """The rows of the table with so many columns, without its head."""
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in cells if len(row) == columns and _REFERENCE.search("".join(row))]


def referenced(text: str) -> list[str]:
    return _REFERENCE.findall(text)


@cache
def known() -> dict[str, ast.AST]:
    return {
        f"{one.name.removeprefix('seasoned.')}:{name}": found
        for one in modules()
        for name, found in functions(one.tree)
    }


def test_every_place_that_hands_text_to_a_model_is_in_the_tables_and_nothing_else() -> None:
    listed = {one for row in rows(5) for one in referenced(row[1])} | {
        one for row in rows(2) for one in referenced(row[0])
    }
    found = places(modules())
    assert len(found) > 60
    missing = sorted(found - listed)
    assert not missing, f"say in docs/design/gate.md whose words these hand over, and what admits them: {missing}"
    assert not sorted(listed - found), "these hand over nothing any more: remove them from docs/design/gate.md"


def test_what_sessions_left_behind_passes_the_gate_on_every_way() -> None:
    for channel, _, _, admitted_by, _ in rows(5):
        named = referenced(admitted_by)
        assert named, f"{channel}: nothing admits it"
        for one in named:
            assert one in known(), f"{channel}: there is no {one}"
            called = {
                getattr(node.func, "id", getattr(node.func, "attr", ""))
                for node in ast.walk(known()[one])
                if isinstance(node, ast.Call)
            }
            assert called & GATE, f"{channel}: {one} does not ask the gate"


def test_every_way_has_tests() -> None:
    for channel, *_, tests in rows(5):
        files = re.findall(r"`(tests/[\w/]+\.py)`", tests)
        assert files, channel
        assert [file for file in files if not (ROOT / file).is_file()] == [], channel


@each_case(
    ("package", "text"),
    [
        ("hooks", "def f(text):\n    say('Stop', additionalContext=text)"),
        ("hooks", "def f(text):\n    sys.stdout.write(text)"),
        ("hooks", "def f(text):\n    return {'systemMessage': text}"),
        ("gateway", "def f(body, api):\n    return api.insert_block(body, b'')"),
        ("hermes_plugin", "def f(text):\n    return [{'role': 'system', 'content': text}]"),
        ("begin", "def f(message, text):\n    return {**message, 'content': text}"),
        ("hermes_plugin", "class P:\n    def register(self, ctx):\n        ctx.register_hook('x', self.f)"),
        ("mcp_server", "class T:\n    def tools(self):\n        return (self.f,)"),
        ("schedule", "def f(text):\n    play(instructions=text)"),
        ("agent", "def f(text):\n    write_atomic('SKILL.md', text)"),
        ("web", "def f(conversation, text):\n    conversation.turn(text)"),
    ],
)
def test_a_new_way_is_found_by_what_it_does(package: str, text: str) -> None:
    assert len(places([module(f"seasoned.{package}.new", text)])) == 1


def test_what_hands_over_nothing_is_not_found() -> None:
    quiet = "def f(items, who):\n    items.insert(0, {'role': who.role})\n    return {'content': 1}"
    assert not places([module("seasoned.hermes_plugin.new", quiet)])
    assert not places([module("seasoned.stats.new", "def f(text):\n    return {'role': 'user', 'content': text}")])
