"""OpenCode: a plugin in its settings folder, which runs the hooks and brings the MCP server."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

from seasoned.config import Config
from seasoned.connect.agent_settings import WAIT_SECONDS, command_words, learns, server_of
from seasoned.connect.plan import (
    PARTS,
    ConnectPlan,
    Part,
    change_of,
    common_steps,
    guard_file,
    read_present,
    skill_links,
)
from seasoned.errors import CannotDo

AGENT = "opencode"
# Tools that only read or plan. If our program is missing, these still run; all others are refused.
_READING = "read|glob|grep|list|webfetch|websearch|codesearch|todowrite|todoread|skill|lsp"
_OPENS = "// Lets OpenCode begin warm, get hints and ask a person."


def plan(config: Config, *, programs: Path, parts: Collection[Part] = PARTS) -> ConnectPlan:
    """What must change in the files of OpenCode."""
    parts = [part for part in PARTS if part in parts]
    path = config.opencode_config_dir / "plugin" / "seasoned.js"
    before = read_present(path)
    why = ", ".join(PARTS[part] for part in parts)
    return ConnectPlan(
        AGENT,
        change_of(path, before, _plugin(config, programs, parts).encode(), why),
        steps=common_steps(config, "opencode", parts),
        links=skill_links(config, config.opencode_config_dir, parts),
        parts=tuple(parts),
    )


def remove_ours(path: Path, data: bytes, before: bytes | None) -> bytes | None:
    """Nothing: the whole file is ours, also when it was edited."""
    if not data.startswith(_OPENS.encode()):
        raise CannotDo("it does not begin as our plugin does")
    return None


def _plugin(config: Config, programs: Path, parts: Collection[Part]) -> str:
    server = None
    if "mcp" in parts:
        known = server_of(config, programs)
        command = [known["command"], *known["args"]]
        server = {"type": "local", "command": command, "environment": known["env"], "enabled": True}
    settings = {
        "command": command_words(config, programs, AGENT),
        "parts": {
            **{part: part in parts for part in ("warm", "hints", "confirmations", "reviews")},
            "learns": learns(parts),
        },
        "server": server,
        "reading": _READING.split("|"),
        "waitSeconds": WAIT_SECONDS,
        "guard": str(guard_file(config.home.absolute(), AGENT)),
    }
    code = Path(__file__).with_name("opencode_plugin.js").read_text("utf-8")
    return code.replace("SETTINGS", json.dumps(settings, indent=2), 1)
