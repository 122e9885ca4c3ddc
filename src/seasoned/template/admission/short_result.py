"""What a call answered, shortened: an option of blocks, for sessions of the same project only.

By default a block says that a call worked and nothing of what it answered, because the words of a result come from
anywhere. Whether a small model does better when it sees an answer is for an experiment to say (the arm `results`).
"""

from __future__ import annotations

from seasoned.command.tool import output_form
from seasoned.insight.track import JudgedCall
from seasoned.redact.redactor import Redactor
from seasoned.session import ToolCall
from seasoned.template.admission.admit import admit
from seasoned.template.admission.neutral import neutral_result
from seasoned.template.anonymize.call import names_people
from seasoned.template.example import RESULT_CHARS


def short_result(call: JudgedCall, redactor: Redactor) -> str:
    """The answer of a named tool in at most 500 characters, if it may be shown; otherwise its neutral summary."""
    # What was read, found or printed teaches nothing about the tool, and may hold anyone's words.
    if output_form(ToolCall("", call.tool, call.arguments)) != "api":
        return neutral_result(call)
    text = " ".join((call.result or "").split(" "))
    shown = "".join(c if c.isprintable() or c == "\n" else " " for c in text).strip()
    if len(shown) > RESULT_CHARS:
        shown = shown[: RESULT_CHARS - 1].rstrip() + "…"
    is_fit = bool(shown) and "[redacted:" not in shown and admit(redactor, shown, commands=True)
    return shown if is_fit and not names_people(call.arguments, shown, "") else neutral_result(call)
