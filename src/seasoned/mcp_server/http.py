"""The MCP server over streamable HTTP: for clients on this machine that have the token, not for web pages."""

from __future__ import annotations

import hmac
import ipaddress
import os
import secrets
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from seasoned.config import secret
from seasoned.errors import CannotDo, UsageError
from seasoned.mcp_server.server import build_server
from seasoned.mcp_server.tools import FolderInAddress

PATH = "/mcp"
TOKEN = "mcp_token"
_TOKEN_BYTES = 32
_GRACE_SECONDS = 5  # how long open requests may take after a signal
_BACKLOG = 1024
# Arguments of tools are short: a larger body is a mistake, or an attack on memory.
_MOST_BODY_BYTES = 1_000_000


class TokenGuard:
    """Accepts only requests that have the token, name this server as host, and come from no other site."""

    def __init__(self, app: ASGIApp, *, token: str, hosts: frozenset[str]) -> None:
        self._app = app
        self._token = token.encode()
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            refused = self._refusal(Headers(scope=scope))
            if refused is not None:
                await refused(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _refusal(self, headers: Headers) -> JSONResponse | None:
        # DNS rebinding: a web page can make its own host name lead to this machine for a moment.
        if headers.get("host", "").lower() not in self._hosts:
            return _refuse(421, "Unknown host name. Use the address that the server printed.")
        # Only browsers send it. Agents do not, so a missing origin is accepted.
        origin = headers.get("origin")
        if origin is not None and origin.lower().partition("://")[2] not in self._hosts:
            return _refuse(403, "Web pages may not call this server.")
        shown = headers.get("authorization", "")
        kind, _, token = shown.partition(" ")
        # Compared in constant time, so that the time of an answer tells nothing about the token.
        if kind.lower() != "bearer" or not hmac.compare_digest(token.strip().encode(), self._token):
            return _refuse(
                401, "Missing or wrong token. Send `Authorization: Bearer …` with the text of secrets/mcp_token."
            )
        return None


def http_app(server: MCPServer[Any], *, token: str, hosts: frozenset[str]) -> Starlette:
    """The server as an application to run or to mount; its lifespan must run too."""
    # Stateless: there are no sessions that another client could take over.
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        max_request_body_size=_MOST_BODY_BYTES,
        transport_security=TransportSecuritySettings(
            allowed_hosts=sorted(hosts), allowed_origins=[f"http://{host}" for host in sorted(hosts)]
        ),
    )
    app.add_middleware(FolderInAddress)
    app.add_middleware(TokenGuard, token=token, hosts=hosts)
    return app


def serve_http(address: str, *, home: Path, allow_open: bool = False, say: Callable[[str], None]) -> None:
    """Serve on this address until interrupted; `say` prints the address and where the token is."""
    host, port = split_address(address)
    token, where = token_of(home)
    with bind(host, port, allow_open=allow_open) as listener:
        port = listener.getsockname()[1]
        say(f"MCP on http://{_in_url(host)}:{port}{PATH}; the token is in {where}.")
        app = http_app(build_server(), token=token, hosts=names_of(host, port))
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=_GRACE_SECONDS,
            lifespan="on",
            # Not needed, and the token guard only checks HTTP.
            ws="none",
        )
        uvicorn.Server(config).run(sockets=[listener])


def split_address(address: str) -> tuple[str, int]:
    """`HOST:PORT`, or a port alone; IPv6 in brackets."""
    host, colon, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") if colon else "127.0.0.1"
    if not port.isdecimal() or int(port) > 65535:
        raise UsageError(f"{address!r} is not an address. Write HOST:PORT, such as 127.0.0.1:7331.")
    return host or "127.0.0.1", int(port)


def bind(host: str, port: int, *, allow_open: bool = False) -> socket.socket:
    """The listening socket; refused if other machines could read the token on the network."""
    try:
        # A name can have several addresses, and all of them must be on this machine.
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        raise UsageError(f"The address {host!r} cannot be resolved ({error}).") from error
    family, kind, protocol, _, where = found[0]
    if not allow_open and not all(_is_loopback(str(one[4][0])) for one in found):
        raise UsageError(
            f"{host!r} can be reached from other machines, which could read the token: "
            "listen on 127.0.0.1, or pass --insecure-listen behind a proxy with TLS."
        )
    made = socket.socket(family, kind, protocol)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(where)
        # A client that reads the printed address may connect before the server has started.
        made.listen(_BACKLOG)
    except OSError as error:
        made.close()
        raise CannotDo(f"Cannot listen on {host!r}, port {port} ({error.strerror}). Use another port.") from error
    return made


def names_of(host: str, port: int) -> frozenset[str]:
    """The host names that clients may use: the address itself, and on loopback the usual names of this machine."""
    names = {_in_url(host)}
    if host in ("localhost", "127.0.0.1", "::1"):
        names |= {"localhost", "127.0.0.1", "[::1]"}
    return frozenset(f"{name}:{port}".lower() for name in names)


def token_of(home: Path) -> tuple[str, str]:
    """The token and where it is kept; created on first use, readable only by its owner."""
    known = secret(TOKEN, home)
    file = home / "secrets" / TOKEN
    if known is not None:
        return known, str(file) if file.exists() else f"SEASONED_{TOKEN.upper()}"
    made = secrets.token_urlsafe(_TOKEN_BYTES)
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Created with its final mode: there is no moment in which others could read it.
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as out:
            out.write(made + "\n")
    except FileExistsError as error:
        # Another server created it at the same moment, or was killed before it could write it.
        known = secret(TOKEN, home)
        if known is None:
            raise CannotDo(f"{str(file)!r} is empty. Remove it and start the server again.") from error
        return known, str(file)
    except OSError as error:
        raise CannotDo(f"{str(file)!r} cannot be written ({error.strerror}). Set SEASONED_MCP_TOKEN.") from error
    return made, str(file)


def _is_loopback(address: str) -> bool:
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _refuse(status: int, why: str) -> JSONResponse:
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return JSONResponse({"schema": "seasoned/error/1", "error": why}, status_code=status, headers=headers)
