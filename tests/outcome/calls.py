"""Small calls for the tests of the judge."""

from __future__ import annotations

from typing import Any

from seasoned.session import Marks, Result, ToolCall


def call(
    tool: str = "Bash",
    text: str | None = "",
    arguments: dict[str, Any] | None = None,
    *,
    synthetic: bool = False,
    **marks: Any,
) -> ToolCall:
    """A call with its result; `text=None` leaves the result out."""
    result = None if text is None else Result(text, Marks(**marks))
    return ToolCall("c1", tool, arguments or {}, result, synthetic=synthetic)


def shell(command: str, text: str = "", *, tool: str = "bash", **marks: Any) -> ToolCall:
    """A call of a shell."""
    return call(tool, text, {"command": command}, **marks)
