"""How our own judge reads the answers of our own tools."""

from __future__ import annotations

import json
from typing import Any

from seasoned.outcome.judge import judge
from seasoned.session import Result, ToolCall


def verdict(tool: str, answer: dict[str, Any], **arguments: Any) -> str:
    """What is said about a call that was answered so, as it would be read back from the store."""
    return judge(
        ToolCall("1", tool, arguments, Result(json.dumps(answer, ensure_ascii=False))), agent="seasoned"
    ).verdict


def fault(tool: str, answer: dict[str, Any], **arguments: Any) -> str:
    """Who is said to be at fault."""
    return judge(ToolCall("1", tool, arguments, Result(json.dumps(answer, ensure_ascii=False))), agent="seasoned").fault
