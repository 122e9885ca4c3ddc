"""`mcp`: the door for agents that speak MCP."""

from __future__ import annotations

import click


@click.command()
@click.option("--http", "address", metavar="HOST:PORT", help="Listen there, over streamable HTTP; port 0 for any.")
@click.option(
    "--insecure-listen",
    "allow_open",
    is_flag=True,
    help="With --http: listen beyond this machine, behind a proxy that has TLS.",
)
def mcp(address: str | None, allow_open: bool) -> None:
    """Serve Seasoned's tools to an agent over MCP, on stdin and stdout or over HTTP.

    The agent starts it by itself: name this command in its settings. It offers warm_session, recall and tools that ask
    a person; the latter need `confirm_url` and the secret `confirm_token`. Over HTTP every request shows the token that
    is made in `secrets/mcp_token` of the home folder.

    \b
    Example: seasoned mcp --http 127.0.0.1:7331
    """
    from importlib.util import find_spec

    from seasoned.errors import CannotDo

    if find_spec("mcp") is None:
        raise CannotDo("`seasoned mcp` needs the library mcp: pip install 'seasoned[mcp]'.")
    if address is None:
        from seasoned.mcp_server import serve

        serve()
        return
    from seasoned.config import load
    from seasoned.mcp_server.http import serve_http

    serve_http(address, home=load().home, allow_open=allow_open, say=lambda text: click.echo(text, err=True))
