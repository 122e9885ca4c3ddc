"""Small rules for writing figures in sentences, shared by messages, pages and docs."""

from __future__ import annotations


def plural(count: int, singular: str, plural: str | None = None, *, separator: str = " ") -> str:
    """`1 example`, `36 examples`, `2 entries`, `12 480 calls`; pages pass a no-break space as `separator`."""
    noun = singular if count == 1 else plural or f"{singular}s"
    # Only the commas of the number: a noun may contain one too.
    return f"{count:,} {noun}".replace(",", separator, f"{count:,}".count(","))


def dollars(cost: float | None, *, unknown: str = "–") -> str:
    """`$1.23`, with more digits for small amounts."""
    if cost is None:
        return unknown
    return f"${cost:,.2f}" if cost >= 0.1 or not cost else f"${cost:.4f}"
