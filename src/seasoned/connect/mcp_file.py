"""Puts our MCP server into the settings of an agent, which most agents have below `mcpServers`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from seasoned.config import Config
from seasoned.connect.json_text import JsonNode, add_member, read_object, remove_child, replace_value
from seasoned.connect.plan import PARTS, Part, decode_text
from seasoned.errors import CannotDo

SERVER = "seasoned"
_KEY = "mcpServers"


def can_serve() -> bool:
    """Whether the library of the server is installed; without it the server would fail at every start."""
    return find_spec("mcp") is not None


def server_steps(parts: Collection[Part]) -> tuple[str, ...]:
    """What is left to do for the server."""
    if "mcp" not in parts or can_serve():
        return ()
    return ("For the MCP server, run `pip install 'seasoned[mcp]'` and connect again.",)


def server_of(config: Config, programs: Path, **more: Any) -> dict[str, Any]:
    """The MCP server as agents write it, with what an agent wants beside the program."""
    is_elsewhere = config.origins.get("home", "default") != "default"
    variables = {"SEASONED_HOME": str(config.home.absolute())} if is_elsewhere else {}
    return {**more, "command": str(programs / "seasoned"), "args": ["mcp"], "env": variables}


def server_part(
    data: bytes | None, server: Mapping[str, Any], path: Path, parts: Collection[Part], *, comments: bool = False
) -> tuple[bytes | None, str]:
    """The file with our server if that is a part, and without it otherwise, and why it changes."""
    if "mcp" not in parts:
        return None if data is None else without_server(data, path, comments=comments), "without the MCP server"
    if not can_serve():
        return data, ""
    is_new = not (data or b"").strip()
    text = "{}" if is_new else decode_text(data or b"", path)
    made = _with_server(text, dict(server), path, comments)
    return (made + "\n" if is_new else made).encode(), PARTS["mcp"]


def without_server(data: bytes, path: Path, *, comments: bool = False) -> bytes | None:
    """The file without our server; None where nothing else is left."""
    text = decode_text(data, path)
    root = read_object(text, path, comments=comments)
    held = root.child(_KEY)
    own = held.child(SERVER) if held is not None else None
    if held is None or own is None or not _is_ours(own):
        return data
    is_only = len(held.children) == 1
    bare = (
        remove_child(text, root, root.keys.index(_KEY))
        if is_only
        else remove_child(text, held, held.keys.index(SERVER))
    )
    return None if bare.strip(" \t\r\n{}") == "" else bare.encode()


def _with_server(text: str, server: dict[str, Any], path: Path, comments: bool) -> str:
    root = read_object(text, path, comments=comments)
    held = root.child(_KEY)
    if held is None:
        return add_member(text, root, _KEY, {SERVER: server})
    if held.kind != "object":
        raise CannotDo(f"{str(path)!r}: {_KEY!r} is not an object. Fix it and try again.")
    own = held.child(SERVER)
    if own is None:
        return add_member(text, held, SERVER, server)
    # A server of that name that the user wrote stays as it is.
    return replace_value(text, own, server) if _is_ours(own) and own.value != server else text


def _is_ours(node: JsonNode) -> bool:
    value = node.value if isinstance(node.value, dict) else {}
    return Path(str(value.get("command", ""))).name == "seasoned" and value.get("args") == ["mcp"]
