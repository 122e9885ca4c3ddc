"""Joins the model lists of all upstreams of one API."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec

from seasoned.gateway.proxy.headers import Headers, request_headers
from seasoned.gateway.proxy.upstream import Upstreams, UpstreamUnreachable
from seasoned.gateway.settings import Api, Upstream

MODELS_PATH = "/v1/models"
_WAIT_SECONDS = 5.0
_MOST_BYTES = 8 * 1024 * 1024


async def join_models(
    upstreams: Upstreams, among: Sequence[Upstream], api: Api, target: bytes, headers: Headers, *, is_ours: bool
) -> bytes | None:
    """One list of models, each where it would be sent; None if no upstream gave a list.

    Only the first upstream gets the client's own headers, which were meant for one provider. The others get their key.
    """
    asked = [_ask(upstreams, one, api, target, headers, is_ours=is_ours or one is not among[0]) for one in among]
    found = await asyncio.gather(*asked)
    lists = [(one, answer) for one, answer in zip(among, found, strict=True) if answer is not None]
    if not lists:
        return None
    models: dict[str, dict[str, Any]] = {}
    for upstream, answer in lists:
        for model in answer["data"]:
            name = model.get("id") if isinstance(model, dict) else None
            # A model is listed where it would be sent.
            if isinstance(name, str) and upstreams.choose(api, name) is upstream:
                models.setdefault(name, model)
    joined = {**lists[0][1], "data": list(models.values())}
    if "first_id" in joined:
        joined |= {"first_id": next(iter(models), None), "last_id": next(reversed(models), None), "has_more": False}
    return msgspec.json.encode(joined)


async def _ask(
    upstreams: Upstreams, upstream: Upstream, api: Api, target: bytes, headers: Headers, *, is_ours: bool
) -> dict[str, Any] | None:
    """The list of one upstream; None if it gives none in time."""
    sent = request_headers(
        headers, api=upstream.api, is_ours=is_ours, key=upstreams.own_key(upstream), is_streamed=True
    )
    try:
        body = await asyncio.wait_for(_read(upstreams, upstream, target, sent), _WAIT_SECONDS)
        answer = msgspec.json.decode(body)
    except (UpstreamUnreachable, TimeoutError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    return answer if isinstance(answer, dict) and isinstance(answer.get("data"), list) else None


async def _read(upstreams: Upstreams, upstream: Upstream, target: bytes, headers: Headers) -> bytes:
    reply = await upstreams.send(upstream, "GET", target, headers, b"")
    try:
        parts: list[bytes] = []
        while reply.status == 200 and (chunk := await reply.next_chunk()) is not None:
            parts.append(chunk)
            if sum(map(len, parts)) > _MOST_BYTES:
                return b""
        return b"".join(parts)
    finally:
        reply.close()
