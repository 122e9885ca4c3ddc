"""Texts of everyday work with secrets in them, and harmless ones that look like them.

Their authors had read no rule. Secrets are reversed in the file, so that no scanner takes it for a leak.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).parent / "everyday"


def leaks() -> Iterator[tuple[str, str, list[str]]]:
    """Place, text and secrets."""
    for line in (FOLDER / "leaks.jsonl").read_text(encoding="utf-8").strip().split("\n"):
        leak = json.loads(line)
        secrets = [written[::-1] for written in leak["reversed"]]
        text = leak["text"]
        for number, secret in enumerate(secrets):
            text = text.replace(f"⟦{number}⟧", secret)
        yield leak["place"], text, secrets


def look_alikes() -> list[str]:
    """The harmless texts."""
    lines = (FOLDER / "harmless.jsonl").read_text(encoding="utf-8").strip().split("\n")
    return [json.loads(line)["text"] for line in lines]


def is_left(secret: str, text: str) -> bool:
    """Whether the secret, or so much of it that it helps to guess the rest, still stands in the text."""
    width = max(6, (len(secret) + 1) // 2)
    return any(secret[i : i + width] in text for i in range(max(1, len(secret) - width + 1)))
