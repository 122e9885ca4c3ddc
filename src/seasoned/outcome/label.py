"""What the source itself says about a call: the label that wording is scored against."""

from __future__ import annotations

from seasoned.outcome.judge import judge
from seasoned.outcome.structure import read_json, unwrap
from seasoned.session import ToolCall

_HERMES_FIELDS = ("exit_code", "success", "error", "status")

CIRCULAR = frozenset({"tau-bench"})
"""Sources whose label is itself wording: shown, marked, and left out of a pooled score."""


def label(call: ToolCall, *, agent: str) -> bool | None:
    """True when the explicit record says failed, False when it says it worked, None where there is no record."""
    result = call.result
    if result is None:
        return None
    marks = result.marks
    if agent in CIRCULAR:
        return result.text.lstrip().startswith("Error")
    if marks.failed:
        return True
    if marks.exit_code:
        # Whether a code is harmless (nothing matched, the condition is false) the judge knows.
        return judge(call, agent=agent).verdict == "failed"
    if marks.implied:
        # No flag at all: by custom a success, unless the text plainly says otherwise.
        return None if judge(call, agent=agent).verdict == "failed" else False
    if marks.failed is False or marks.exit_code == 0:
        return False
    return _in_fields(call) if agent == "hermes" and not marks.interrupted else None


def _in_fields(call: ToolCall) -> bool | None:
    """Hermes keeps nothing beside the text: its label is in the fields of the answer."""
    assert call.result is not None
    data = unwrap(read_json(call.result.text))
    if not isinstance(data, dict) or not any(field in data for field in _HERMES_FIELDS):
        return None
    return judge(call, agent="hermes").verdict == "failed"
