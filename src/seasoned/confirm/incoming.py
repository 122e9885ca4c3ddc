"""Bodies of HTTP requests, read up to a limit."""

from __future__ import annotations

import asyncio

from starlette.requests import Request

from seasoned.errors import SeasonedError

MOST_BYTES = 1_000_000
_READ_SECONDS = 30.0


class TooLarge(SeasonedError):
    """The body is too long."""


class TooSlow(SeasonedError):
    """The body did not arrive in time."""


async def read_body(request: Request, most: int = MOST_BYTES) -> bytes:
    """The body; TooLarge or TooSlow if it does not end in time."""
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(_READ_SECONDS):
            async for part in request.stream():
                size += len(part)
                if size <= most:
                    parts.append(part)
                # Some more is read and discarded, so that the sender gets to read the answer.
                elif size > most + 8 * MOST_BYTES:
                    break
    except TimeoutError as error:
        raise TooSlow(f"The body did not arrive within {_READ_SECONDS:g} seconds: send it again.") from error
    if size > most:
        raise TooLarge(f"The body has more than {most:,} bytes: send less, or a reference to the rest.")
    return b"".join(parts)
