"""The tools as a model sees them, in every toolset."""

from __future__ import annotations

import json
from pathlib import Path

from seasoned.runner.toolset.registry import TOOLSETS, build_toolsets, listed_tools
from seasoned.runner.toolset.scope import plain


def test_every_tool_has_a_closed_schema_whose_arguments_are_described(tmp_path: Path) -> None:
    tools = [one["function"] for one in listed_tools(build_toolsets(TOOLSETS, tmp_path, environment={}))]
    assert {"terminal", "read_file", "write_file", "patch", "search_files", "execute_code", "web_fetch"} <= {
        tool["name"] for tool in tools
    }
    wrong = []
    for tool in tools:
        schema = tool["parameters"]
        assert json.dumps(schema)
        described = all(field.get("description") for field in schema["properties"].values())
        if not described or schema["additionalProperties"] is not False or not tool["description"]:
            wrong.append(tool["name"])
        # `skill_manage` has a `scope` that the model chooses: this project or every one.
        hidden = {"ctx"} if tool["name"] == "skill_manage" else {"ctx", "scope"}
        if hidden & set(schema["properties"]):
            wrong.append(f"{tool['name']} shows an argument that is not the model's")
    assert not wrong


def test_what_would_steer_a_terminal_is_removed() -> None:
    cases = {
        "\x1b[1;31mred\x1b[0m": "red",
        "a\r\nb": "a\nb",
        "a\x00\x07b": "ab",
        "\x1b]8;;http://x\x07y": "y",
        "é\tb\n": "é\tb\n",
    }
    assert {text: plain(text) for text in cases} == cases
