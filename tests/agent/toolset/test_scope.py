"""The tools as a model knows them."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seasoned.agent.toolset.confined_folder import ConfinedFolder
from seasoned.agent.toolset.file import patch, read_file, search_files, write_file
from seasoned.agent.toolset.scope import ToolScope, bind, plain
from seasoned.agent.toolset.terminal import execute_code, terminal
from seasoned.agent.toolset.web import web_fetch

TOOLS: list[Callable[..., dict[str, Any]]] = [
    terminal, read_file, write_file, patch, search_files, execute_code, web_fetch
]  # fmt: skip


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.__name__)
def test_every_argument_is_described_and_typed(tool: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    bound = bind(tool, ToolScope(folder=ConfinedFolder(tmp_path)))
    signature = inspect.signature(bound)
    assert "reach" not in signature.parameters
    assert bound.__name__ == tool.__name__
    described = (inspect.getdoc(bound) or "").partition("Args:\n")[2]
    for name, parameter in signature.parameters.items():
        assert f"{name}: " in described
        assert parameter.annotation is not inspect.Parameter.empty
        assert not isinstance(parameter.annotation, str), "the type itself, for those who make a schema of it"


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.__name__)
def test_a_schema_can_be_made_of_every_tool(tool: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    tools = pytest.importorskip("pydantic_ai.tools", reason="needs the extra that runs agents")
    made = tools.Tool(bind(tool, ToolScope(folder=ConfinedFolder(tmp_path))))
    schema = made.function_schema.json_schema
    assert made.name == tool.__name__
    assert schema["additionalProperties"] is False
    assert all(field.get("description") for field in schema["properties"].values())
    assert json.dumps(schema)


def test_a_bound_tool_answers_like_the_tool(tmp_path: Path) -> None:
    write = bind(write_file, ToolScope(folder=ConfinedFolder(tmp_path)))
    assert write(path="a.txt", content="x") == {"path": "a.txt", "bytes_written": 1, "created": True, "error": None}
    assert (tmp_path / "a.txt").read_text() == "x"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("a\r\nb", "a\nb"),
        ("a\x00\x07b", "ab"),
        ("\x1b]8;;http://x\x07y", "y"),
        ("é\tb\n", "é\tb\n"),
    ],
)
def test_what_would_steer_a_terminal_is_taken_out(text: str, shown: str) -> None:
    assert plain(text) == shown
