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


def is_left(secret: str, original: str, redacted: str) -> bool:
    """Whether the secret, or so much of it that it helps to guess the rest, still stands in the text."""
    width = max(6, (len(secret) + 1) // 2)
    parts = {secret[i : i + width] for i in range(max(1, len(secret) - width + 1))}
    # What the text says elsewhere gives nothing away: the end of `ftp-B1tbucket` is in its `bitbucket`.
    elsewhere = original.replace(secret, "\0")
    return any(part in redacted and part not in elsewhere for part in parts)
