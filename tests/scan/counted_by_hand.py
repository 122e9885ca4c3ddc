"""What the files of Claude Code and Codex say was used, counted in plain Python and without any code of the project."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

_CLAUDE = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_CODEX = ("input_tokens", "cached_input_tokens", "output_tokens")


def claude_code(files: Iterable[Path]) -> tuple[int, ...]:
    """Prompt, answer, from a cache, into a cache: of each message the largest figures, wherever it stands."""
    found: dict[str, list[int]] = {}
    for record in _records(files):
        data = record.get("data") if record.get("type") == "progress" else None
        line = data.get("message") if isinstance(data, dict) and data.get("type") == "agent_progress" else record
        message = line.get("message") if isinstance(line, dict) and line.get("type") == "assistant" else None
        if isinstance(message, dict) and message.get("usage") and message.get("model") != "<synthetic>":
            figures = [message["usage"].get(name) or 0 for name in _CLAUDE]
            key = message.get("id") or line["uuid"]
            found[key] = [max(pair) for pair in zip(figures, found.get(key, figures), strict=True)]
    return tuple(sum(column) for column in zip(*found.values(), strict=True))


def codex(files: Iterable[Path]) -> tuple[int, ...]:
    """Prompt, answer, from a cache: what each thread's sum grew by, each sum of a thread once."""
    found: dict[tuple[object, ...], list[int]] = {}
    for file in files:
        known: list[int] | None = None
        thread = None
        for record in _records([file]):
            payload = record.get("payload")
            if record.get("type") == "session_meta" and isinstance(payload, dict):
                thread = payload.get("id")
            info = payload.get("info") if isinstance(payload, dict) and payload.get("type") == "token_count" else None
            if not info:
                continue
            total = [info["total_token_usage"].get(name) or 0 for name in _CODEX]
            last = [(info.get("last_token_usage") or info["total_token_usage"]).get(name) or 0 for name in _CODEX]
            grown = [new - old for new, old in zip(total, known, strict=True)] if known else last
            known = total
            found.setdefault((thread, *total, *last), last if min(grown) < 0 else grown)
    given, cached, output = (sum(column) for column in zip(*found.values(), strict=True))
    return given - cached, output, cached


def _records(files: Iterable[Path]) -> Iterator[dict[str, Any]]:
    for file in files:
        for line in file.read_bytes().splitlines():
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict):
                yield record
