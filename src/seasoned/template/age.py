"""How old examples may get: what `auto` learned is shown for so long after it was last seen to work.

A person who builds a template by hand, creates it from a session or imports it asked for just that: it does not age.
"""

from __future__ import annotations

from typing import Any

from seasoned.template.example import Example, Template

MAX_AGE_DAYS = 180.0
DAY_SECONDS = 86400.0
AUTO = "auto-"
"""What the names of templates begin with that nobody built by hand."""


def is_auto(template: Template) -> bool:
    """Whether it was built without being asked for."""
    return template.name.startswith(AUTO)


def seen_at(example: Example) -> float | None:
    """When it was last seen to work; None where nobody knows."""
    return example.last_seen if example.last_seen is not None else example.first_seen


def ages_at(template: Template, example: Example, vouched: float | None = None) -> float | None:
    """From when on it is too old; None where it never is. Whoever vouched for it made it young again."""
    seen = seen_at(example) if is_auto(template) else None
    return None if seen is None else max(seen, vouched or seen) + MAX_AGE_DAYS * DAY_SECONDS


def age_reason(example: Example, now: float) -> tuple[str, dict[str, Any]]:
    """Why it is too old, in words and figures."""
    seen = seen_at(example) or 0.0
    days = (now - seen) / DAY_SECONDS
    reason = f"It was last seen to work {days:.0f} days ago (limit: {MAX_AGE_DAYS:g})."
    return reason, {"last_seen": seen, "days": round(days, 1)}
