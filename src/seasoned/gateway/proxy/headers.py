"""Which headers of a request and an answer are passed on."""

from __future__ import annotations

from collections.abc import Sequence

from seasoned.gateway.accounting import PREFIX
from seasoned.gateway.settings import Api

Headers = Sequence[tuple[bytes, bytes]]
# Of one connection and not of the message (RFC 9110, 7.6.1).
HOP_BY_HOP = frozenset(
    (
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    )
)
CREDENTIALS = (b"authorization", b"x-api-key")
_OUR_HEADERS = b"x-seasoned-"
_OUR_KEYS = PREFIX.encode()
_READABLE = ("gzip", "deflate", "identity")


def passed_on(headers: Headers) -> list[tuple[bytes, bytes]]:
    """The headers without those of this connection only; names in lower case, as ASGI requires."""
    lowered = [(name.lower(), value) for name, value in headers]
    named = {word.strip().lower() for name, value in lowered if name == b"connection" for word in value.split(b",")}
    return [(name, value) for name, value in lowered if name not in HOP_BY_HOP and name not in named]


def request_headers(
    headers: Headers, *, api: Api, is_ours: bool, key: str | None, is_streamed: bool
) -> list[tuple[bytes, bytes]]:
    """The headers for the upstream: unchanged, except that the answer must come in an encoding we can read.

    `is_ours`: the client used a gateway key, which no upstream may see; it is replaced by the upstream's key.
    """
    left_out = {b"host", b"content-length", b"expect", *(CREDENTIALS if is_ours else ())}
    kept = []
    for name, value in passed_on(headers):
        # A gateway key must not reach an upstream in any header, whatever its name.
        if name in left_out or name.startswith(_OUR_HEADERS) or _OUR_KEYS in value:
            continue
        if name == b"accept-encoding":
            value = b"identity" if is_streamed else _readable(value)
        kept.append((name, value))
    if is_ours and key is not None:
        kept.append(
            (b"x-api-key", key.encode()) if api == "anthropic" else (b"authorization", b"Bearer " + key.encode())
        )
    return kept


def _readable(value: bytes) -> bytes:
    """Keep only encodings that the standard library can undo: what cannot be read cannot be accounted for."""
    words = [word.strip() for word in value.decode("latin-1").split(",")]
    kept = [word for word in words if word.partition(";")[0].strip().lower() in _READABLE]
    return ", ".join(kept).encode("latin-1") or b"identity"
