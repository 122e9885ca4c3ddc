"""Keeps what a benchmark printed, with date and versions."""

from __future__ import annotations

import os
import platform
import sqlite3
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import seasoned


def write(path: Path, name: str, lines: list[str]) -> None:
    """One file per benchmark; the newest run replaces the one before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    versions = (
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, seasoned {seasoned.__version__}, Python {platform.python_version()}, "
        f"msgspec {version('msgspec')}, SQLite {sqlite3.sqlite_version}, {os.cpu_count()} cores, {platform.machine()}."
    )
    head = [
        f"# Measured: {name}",
        "",
        versions,
        f"Printed by `make bench` (`python -m bench {name}`). The machine is shared: ratios count, seconds vary.",
        "",
        "```text",
        *lines,
        "```",
        "",
    ]
    path.write_text("\n".join(head), encoding="utf-8")
