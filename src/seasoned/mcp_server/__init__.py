"""A door for agents that speak MCP: what worked before, and a person to ask. An agent can ask here, never decide."""

from seasoned.mcp_server.server import build_server, serve

__all__ = ["build_server", "serve"]
