"""Seasoned gives every new agent session the experience of the best earlier ones, and proves whether it helped."""

from __future__ import annotations

__version__ = "0.1.0"
