"""The MCP server with its tools, resources and prompts, over stdin and stdout or mounted elsewhere."""

from __future__ import annotations

from typing import Any

import anyio.to_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, InputRequiredResult, Resource, ToolAnnotations
from pydantic import ValidationError

import seasoned
from seasoned.config import Config, load
from seasoned.errors import SeasonedError
from seasoned.mcp_server.confirmation import ConfirmationTools
from seasoned.mcp_server.experience import ExperienceTools
from seasoned.mcp_server.prompt import Prompts
from seasoned.mcp_server.resource import Resources
from seasoned.mcp_server.store_access import StoreAccess

_INSTRUCTIONS = (
    "Before an action that cannot be undone or that others will notice, call request_confirmation with exactly what"
    " will be done, then wait_confirmation, and redeem_confirmation right before you do it. Never go on without it."
    " When a call fails, call recall with the tool and the error: it knows which repair worked before. Before you use a"
    " tool whose arguments you are unsure of, call recall with the tool alone."
)
# Tools that change nothing: clients may call them without asking the user.
_READ_ONLY = ("recall", "wait_confirmation")


class ExperienceServer(MCPServer[Any]):
    """Reports wrong arguments in one sentence, and lists the templates that exist at the moment."""

    resources: Resources

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

    async def list_resources(self) -> list[Resource]:
        """The fixed ones, and one for each template unless the store fails."""
        fixed = await super().list_resources()
        try:
            # Opening the store can wait for a lock.
            return fixed + await anyio.to_thread.run_sync(self.resources.listed)
        except SeasonedError:
            return fixed


def build_server(config: Config | None = None) -> ExperienceServer:
    """The server; it opens no store and no connection until a tool is called."""
    config = config or load()
    access = StoreAccess(config)
    server = ExperienceServer("seasoned", version=seasoned.__version__, instructions=_INSTRUCTIONS, log_level="WARNING")
    for tool in (*ExperienceTools(access).tools(), *ConfirmationTools(config).tools()):
        server.add_tool(tool, annotations=ToolAnnotations(read_only_hint=tool.__name__ in _READ_ONLY))
    server.resources = Resources(access)
    server.resources.add_to(server)
    Prompts(access).add_to(server)
    return server


def serve() -> None:
    """Serve on stdin and stdout until the client closes them."""
    build_server().run("stdio")


def _sentence(tool: str, wrong: ValidationError) -> str:
    """Each wrong argument with what is expected; what was given is not repeated."""
    parts = []
    for one in wrong.errors(include_url=False, include_context=False, include_input=False):
        # Each member of a union reports an error: the argument is named once.
        parts.append(f"{'.'.join(str(part) for part in one['loc'][:1])!r}: {one['msg']}")
    return f"Wrong arguments for {tool}: {'; '.join(dict.fromkeys(parts))}."
