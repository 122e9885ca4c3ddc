"""What the source itself says about a call: the label that wording is scored against."""

from __future__ import annotations

import json
import re

import msgspec

from seasoned.lazy_regex import LazyRegex
from seasoned.outcome.evidence.envelope import CODEX_HEADER, TRAILER
from seasoned.outcome.evidence.structure import read_json, unwrap
from seasoned.outcome.judge import RECORDS_SHELL_ONLY, judge
from seasoned.outcome.verdict import Verdict
from seasoned.session import NO_MARKS, Result, ToolCall

_HERMES_FIELDS = ("exit_code", "success", "error", "status")

# Sources whose label is itself wording: shown, marked, and left out of a pooled score.
CIRCULAR = frozenset({"tau-bench"})


def label(call: ToolCall, *, agent: str, verdict: Verdict | None = None) -> bool | None:
    """True when the explicit record says failed, False when it says it worked, None where there is no record.

    `verdict` is what `judge` says about this call, where that is known already.
    """
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
        return (verdict or judge(call, agent=agent)).verdict == "failed"
    if marks.implied:
        # No flag at all: by custom a success, unless the text plainly says otherwise.
        return None if (verdict or judge(call, agent=agent)).verdict == "failed" else False
    if marks.failed is False or marks.exit_code == 0:
        # The code of a command outranks the flag of some agents, and is part of the record.
        is_code = agent in RECORDS_SHELL_ONLY and (verdict or judge(call, agent=agent)).evidence == "exit_code"
        return is_code and (verdict or judge(call, agent=agent)).verdict == "failed"
    return _in_fields(call) if agent == "hermes" and not marks.interrupted else None


def _in_fields(call: ToolCall) -> bool | None:
    """Hermes keeps nothing beside the text: its label is in the fields of the answer."""
    assert call.result is not None
    data = unwrap(read_json(call.result.text))
    if not isinstance(data, dict) or not any(field in data for field in _HERMES_FIELDS):
        return None
    found = judge(call, agent="hermes")
    return found.verdict == "failed" and not is_foreign(False, found.evidence)


def is_foreign(failed: bool, evidence: str) -> bool:
    """Whether a recorded success is that of another program, as in `pytest | tail`: then the output was judged."""
    return not failed and evidence in ("wording", "none")


# Fields that the label of Hermes is read from.
_HERMES_KEYS = frozenset({"exit_code", "success", "error", "status", "exit_code_meaning"})
_CODEX_LINE = LazyRegex(r"^(?:Process exited with code -?\d+|Exit code: -?\d+)\n?", re.MULTILINE)
_CODE_FIELD = LazyRegex(r'"exit_code":\s*-?\d+,?\s*')
_RETURN_CODE = LazyRegex(r"\A\s*<returncode>-?\d+</returncode>\n?")
_GEMINI_LINE = LazyRegex(r"^Exit Code: -?\d+\n?", re.MULTILINE)
_PI_LAST = LazyRegex(r"\n\nCommand exited with code -?\d+\s*\Z")
# Agents whose label for a command is a line of its output.
_SAY_CODES = frozenset({"gemini", "qwen", "cline", "roo", "kilo", "goose", "cursor"})
_CODE_LINE = LazyRegex(
    r"^[^\S\n]*\[?(?:Command )?exit(?:ed)?(?: with)?(?: exit)? (?:code|status):? -?\d+\.?\]?[^\S\n]*\n?",
    re.MULTILINE | re.IGNORECASE,
)
# Marks that Claude Code leaves in the text itself; `strict` takes them away as well.
_STRICT_LINE = LazyRegex(r"\A(?:Error: )?Exit code:? -?\d+[^\n]*\n?")
_STRICT_TAG = LazyRegex(r"</?tool_use_error>")


def blind(call: ToolCall, *, agent: str, strict: bool = False) -> ToolCall:
    """The call without what its label is read from; `strict` also without the marks an agent leaves in the text."""
    if call.result is None:
        return call
    text = call.result.text
    if agent == "codex":
        text = _codex(text)
    elif agent == "hermes":
        text = _hermes(text)
    elif agent in ("openhands", "mini-swe-agent", "copilot"):
        text = TRAILER.compiled.sub("", _RETURN_CODE.compiled.sub("", text))
    elif agent == "gemini":
        text = _GEMINI_LINE.compiled.sub("", text)
    elif agent == "pi":
        text = _PI_LAST.compiled.sub("", text)
    elif agent in _SAY_CODES:
        text = _CODE_LINE.compiled.sub("", text)
    if strict:
        text = _STRICT_TAG.compiled.sub("", TRAILER.compiled.sub("", _STRICT_LINE.compiled.sub("", text)))
    return msgspec.structs.replace(call, result=Result(text, NO_MARKS, call.result.time))


def _codex(text: str) -> str:
    if text.startswith("Script "):
        return _CODE_FIELD.compiled.sub("", text)
    header = CODEX_HEADER.compiled.match(text)
    if header is not None:
        return _CODEX_LINE.compiled.sub("", header.group()) + text[header.end() :]
    if text.startswith("{"):
        data = read_json(text)
        if isinstance(data, dict) and "output" in data and isinstance(data.get("metadata"), dict):
            metadata = {key: value for key, value in data["metadata"].items() if key != "exit_code"}
            return json.dumps({**data, "metadata": metadata}, ensure_ascii=False)
    return text


def _hermes(text: str) -> str:
    data = read_json(text)
    if not isinstance(data, dict):
        return text
    kept = {key: value for key, value in data.items() if key not in _HERMES_KEYS}
    if isinstance(kept.get("result"), str):
        kept["result"] = _hermes(kept["result"])
    return json.dumps(kept, ensure_ascii=False)
