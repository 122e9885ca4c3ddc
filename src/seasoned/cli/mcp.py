"""`mcp`: the door for agents that speak MCP."""

from __future__ import annotations

import click


@click.command()
def mcp() -> None:
    """Serve Seasoned's tools to an agent over MCP, on stdin and stdout.

    The agent starts it by itself: name this command in its settings. The tools that ask a person need `confirm_url`
    and the secret `confirm_token`.

    \b
    Example: seasoned mcp
    """
    from importlib.util import find_spec

    from seasoned.errors import CannotDo

    if find_spec("mcp") is None:
        raise CannotDo("`seasoned mcp` needs the library mcp: pip install 'seasoned[mcp]'.")
    from seasoned.mcp_server import serve

    serve()
