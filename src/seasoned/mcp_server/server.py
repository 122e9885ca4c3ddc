"""The MCP server with its tools, resources and prompts, over stdin and stdout."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import NoneType
from typing import Any, get_args

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import FuncMetadata
from mcp_types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import ValidationError

import seasoned
from seasoned.config import Config, load
from seasoned.mcp_server.resource import Resources
from seasoned.mcp_server.tools import ConfirmationTools, ExperienceTools

_RECALLS = (
    "When a call fails, call recall with the tool and the error: it knows which repair worked before. Before you use a"
    " tool whose arguments you are unsure of, call recall with the tool alone."
)
_ASKS = (
    "Before an action that cannot be undone or that others will notice, call request_confirmation with exactly what"
    " will be done, then wait_confirmation, and redeem_confirmation right before you do it. Never go on without it. "
)
# Tools that change nothing: clients may call them without asking the user.
_READ_ONLY = ("recall", "wait_confirmation")


class TextKept(FuncMetadata):
    """Keeps a text as it was given: the library would decode one that is a JSON object, as many errors are."""

    def pre_parse_json(self, data: dict[str, Any]) -> dict[str, Any]:
        """What the library decodes, but for arguments that can only be text."""
        decoded = super().pre_parse_json(data)
        kept = {name for name, value in decoded.items() if isinstance(value, dict | list) and self._is_text(name)}
        return {name: data[name] if name in kept else value for name, value in decoded.items()}

    def _is_text(self, name: str) -> bool:
        field = self.arg_model.model_fields.get(name)
        return field is not None and set(get_args(field.annotation)) == {str, NoneType}


class ExperienceServer(MCPServer[Any]):
    """Reports wrong arguments in one sentence."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Run a tool; an unknown argument is an error, because it was meant to do something."""
        schema = self._tool_input_schema(name)
        known = [] if schema is None else list(schema.get("properties", {}))
        # The library would drop an unknown argument in silence.
        unknown = sorted(arguments.keys() - set(known)) if schema is not None else []
        if unknown:
            raise ToolError(f"{name} has no argument {unknown[0]!r}: it takes {', '.join(known)}.")
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(_sentence(name, error.__cause__)) from error
            raise


def build_server(config: Config | None = None, *, folder: str | None = None) -> ExperienceServer:
    """The server; it opens no store and no connection until a tool is called.

    `folder` is where its client works, if that is known: what is given belongs to the project of that folder. Without
    it, only what may leave a project is given.
    """
    config = config or load()
    tools = ExperienceTools(config, folder).tools()
    instructions = _RECALLS
    # Without a service there is no person to ask, and an agent that must ask first could do nothing.
    if config.confirm_url is not None:
        tools += ConfirmationTools(config).tools()
        instructions = _ASKS + _RECALLS
    server = ExperienceServer(
        "seasoned",
        version=seasoned.__version__,
        instructions=instructions,
        tools=[_tool(one) for one in tools],
        log_level="WARNING",
    )
    Resources(config, folder).add_to(server)
    return server


def serve() -> None:
    """Serve on stdin and stdout until the client closes them."""
    # Agents start it in the folder that they work in.
    build_server(folder=str(Path.cwd())).run("stdio")


def _tool(function: Callable[..., Any]) -> Tool:
    made = Tool.from_function(function, annotations=ToolAnnotations(read_only_hint=function.__name__ in _READ_ONLY))
    return made.model_copy(update={"fn_metadata": TextKept(**dict(made.fn_metadata))})


def _sentence(tool: str, wrong: ValidationError) -> str:
    """A sentence that names each wrong argument and what is expected, without the given value."""
    parts = []
    for one in wrong.errors(include_url=False, include_context=False, include_input=False):
        # Each member of a union reports an error: the argument is named once.
        parts.append(f"{'.'.join(str(part) for part in one['loc'][:1])!r}: {one['msg']}")
    return f"Wrong arguments for {tool}: {'; '.join(dict.fromkeys(parts))}."
