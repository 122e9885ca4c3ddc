"""Render: a block in, the bytes that a session is shown out; equal bytes for equal blocks, in any process."""

from __future__ import annotations

from seasoned.example.render.rendering import Rendered, render, render_told

__all__ = ["Rendered", "render", "render_told"]
