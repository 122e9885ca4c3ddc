"""The bare proxy that the gateway is measured against: it passes everything on, and does nothing else."""

import socket
import sys

import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

UPSTREAM = sys.argv[1]
CLIENT = httpx2.AsyncClient(timeout=600, limits=httpx2.Limits(max_connections=2000, max_keepalive_connections=2000))
OF_ONE_LINE = {"host", "connection", "content-length", "transfer-encoding", "accept-encoding"}


async def passing(request: Request) -> StreamingResponse:
    """One request to the upstream, and its answer as it comes."""
    headers = [(name, value) for name, value in request.headers.items() if name not in OF_ONE_LINE]
    asked = CLIENT.build_request(
        request.method, UPSTREAM + request.url.path, headers=headers, content=await request.body()
    )
    reply = await CLIENT.send(asked, stream=True)
    kept = {name: value for name, value in reply.headers.items() if name not in OF_ONE_LINE}
    return StreamingResponse(reply.aiter_raw(), reply.status_code, kept)


app = Starlette(routes=[Route("/{path:path}", passing, methods=["GET", "POST"])])
if __name__ == "__main__":
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    print(listener.getsockname()[1], flush=True)  # noqa: T201
    config = uvicorn.Config(app, http="httptools", loop="uvloop", access_log=False, log_level="warning")
    uvicorn.Server(config).run(sockets=[listener])
