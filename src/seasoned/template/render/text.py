"""Plain text: a form as it is, for whatever takes text."""

from __future__ import annotations


def write_text(text: str) -> str:
    """The text with the newline that ends a file."""
    return f"{text}\n"
