"""Values as people read them in lists."""

from __future__ import annotations

from datetime import UTC, datetime


def short(text: str) -> str:
    """A title in one line."""
    words = " ".join(text.split(None, 40)[:40])
    return words if len(words) <= 90 else words[:89] + "…"


def day_and_time(seconds: float | None) -> str:
    """A moment in UTC; a dash where it is unknown."""
    if seconds is None:
        return "–"
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")
    except (OverflowError, ValueError, OSError):
        return "–"


def percent(part: int, whole: int) -> str:
    """`12.5 %`; a dash of nothing."""
    return f"{100 * part / whole:.1f} %" if whole else "–"


def dollars(cost: float | None) -> str:
    """`$1.23`, with more digits where it is little; a dash where nobody said."""
    if cost is None:
        return "–"
    return f"${cost:,.2f}" if cost >= 0.1 or not cost else f"${cost:.4f}"
