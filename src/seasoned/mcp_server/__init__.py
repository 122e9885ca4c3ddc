"""The MCP server: tools that recall what worked before, and that ask a person. An agent can ask, never decide."""

from seasoned.mcp_server.server import build_server, serve

__all__ = ["build_server", "serve"]
