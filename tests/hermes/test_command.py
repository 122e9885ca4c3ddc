"""What people and the model ask for in Hermes, and a configuration that is wrong."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import pytest

from seasoned.begin.warm_session import ACTIONS, WarmSessionArguments
from seasoned.config import Config, read_settings
from seasoned.errors import UsageError
from seasoned.hermes_plugin import register
from seasoned.hermes_plugin.host import HermesSettings
from seasoned.hermes_plugin.plugin import SCHEMA, Plugin, add_arguments, run_command
from tests.hermes.test_warm import config
from tests.history.hermes_rows import HermesDb

__all__ = ["config"]


class Taken:
    """What was handed to Hermes, as its own context takes it."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.given: dict[str, Any] = {}

    def __getattr__(self, method: str) -> Any:
        assert method.startswith("register_")

        def take(name: str, *rest: Any, **more: Any) -> None:
            self.names.append(name)
            self.given[name] = rest[0] if rest else None

        return take


def answered(config: Config, **arguments: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Plugin(config, HermesSettings()).call_tool(arguments, session_id="s1"))
    return found


def test_everything_is_registered(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEASONED_HOME", str(config.home))
    taken = Taken()
    register(taken)
    hooks = ["pre_tool_call", "seasoned", "subagent_start", "llm_request", "warm_session"]
    ends = ["on_session_end", "on_session_finalize", "on_session_reset"]
    assert taken.names == [*hooks, "post_tool_call", *ends]


@pytest.mark.parametrize("file", ["config.toml", "hermes.toml"])
def test_with_a_wrong_configuration_only_the_gate_is_left(home: Path, file: str) -> None:
    (home / ".seasoned").mkdir()
    (home / ".seasoned" / file).write_text("confirm = 'perhaps")
    taken = Taken()
    register(taken)
    assert taken.names == ["pre_tool_call", "seasoned"]


def test_a_folder_that_cannot_be_used_leaves_the_gate(home: Path) -> None:
    (home / ".seasoned").write_text("a file in its place")
    taken = Taken()
    register(taken)
    assert taken.names[0] == "pre_tool_call"


def test_a_part_that_cannot_be_imported_leaves_the_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in an environment where an upgrade stopped half-way; Hermes is told, and keeps what was registered before."""
    monkeypatch.setitem(sys.modules, "seasoned.hermes_plugin.plugin", None)
    taken = Taken()
    with pytest.raises(ImportError):
        register(taken)
    assert taken.names == ["pre_tool_call"]
    check = taken.given["pre_tool_call"]
    assert check(tool_name="terminal", args={"command": "ls"}, session_id="s1", turn_id="t") is None
    assert check(tool_name="terminal", args={"command": "rm -rf /srv/data"}, session_id="s1")["action"] == "block"


def test_settings_are_checked(tmp_path: Path) -> None:
    file = tmp_path / "hermes.toml"
    assert read_settings(file, HermesSettings) == HermesSettings()
    file.write_text("wait_seconds = 60\nconfirm = false\n")
    assert read_settings(file, HermesSettings) == HermesSettings(wait_seconds=60, confirm=False)
    file.write_text("wait_seconds = 0\n")
    with pytest.raises(UsageError, match="wait_seconds"):
        read_settings(file, HermesSettings)
    file.write_text("wram = true\n")
    with pytest.raises(UsageError, match="wram"):
        read_settings(file, HermesSettings)


def test_the_tool_is_the_one_that_every_door_has(config: Config) -> None:
    assert set(SCHEMA["parameters"]["properties"]) == set(WarmSessionArguments.__struct_fields__) - {"format"}
    assert SCHEMA["parameters"]["properties"]["action"]["enum"] == list(ACTIONS)
    assert answered(config, action="list")["templates"][0]["name"] == "house"
    assert answered(config, action="load", name="house")["message_count"] > 3
    assert answered(config, action="load", name="none")["success"] is False
    assert "Actions are" in answered(config, action="dance")["error"]


def test_the_tool_speaks_of_this_session_unless_told_otherwise(config: Config) -> None:
    plugin = Plugin(config, HermesSettings())
    database = HermesDb(config.hermes_home / "state.db").session("s1")
    database.says("s1", "user", "Run the tests.").calls("s1", "call_1").result("s1", "call_1")
    found = json.loads(plugin.call_tool({"action": "profile"}, session_id="s1"))
    assert (found["success"], found["tool_call_count"]) == (True, 1)


def test_hermes_seasoned_is_our_own_command_line(capfd: pytest.CaptureFixture[str]) -> None:
    parser = ArgumentParser()
    add_arguments(parser)
    with pytest.raises(SystemExit) as ended:
        run_command(parser.parse_args(["template", "list", "--json"]))
    assert ended.value.code == 3
    assert "There is no store" in capfd.readouterr().err
