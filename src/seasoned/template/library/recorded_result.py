"""What the result in a template file shows about its call. That the file calls it a success counts for nothing."""

from __future__ import annotations

from json import JSONDecoder
from typing import Any, Literal

from seasoned.lazy_regex import LazyRegex
from seasoned.outcome.evidence.structure import fields_say, read_json
from seasoned.outcome.judge import judge
from seasoned.session import Result, ToolCall

# `unproven`: the result does not show whether the call worked.
Shown = Literal["worked", "failed", "unproven"]
# Hermes' own template makers cut results here, and errors often stand at the end.
_CUT_CHARS = 500
_CUT = LazyRegex(r"(?:…|\.\.\.)\s*(?:\[?\(?truncated.{0,40})?\Z|\[?\(?truncated[^\n]{0,40}\Z")
# A remark in the place of a result: `[result from successful session]`, `<output omitted>`, `...`.
_PLACEHOLDER = LazyRegex(
    r"[\[<(](?=[^\])>]*\b(?:result|output|response|content|session|placeholder|omitted|elided)s?\b)"
    r"[\w ,.:'-]{1,120}[\])>]"
    r"|\.{3}|…|N/A|n/a|None|null"
)
# Words of failing programs. They decide nothing where the judge found nothing, but such a call is not shown unseen.
_DOUBTFUL = LazyRegex(
    r"No such file or directory|command not found|[Pp]ermission denied|Traceback \(most recent call last\)"
    r"|\b[A-Z]\w*(?:Error|Exception)\b|\b(?:failed|FAILED|fatal:|not found)\b"
)
_DECODER = JSONDecoder(strict=False)
_KEY = LazyRegex(r'\s*[{,]\s*"((?:[^"\\]|\\.)*)"\s*:\s*')


def judge_result(tool: str, arguments: dict[str, Any], text: str, *, agent: str = "hermes") -> Shown:
    """Judge a call by the result that a file recorded, as if it had just been made."""
    stripped = text.strip()
    if not stripped or _PLACEHOLDER.compiled.fullmatch(stripped):
        return "unproven"
    if stripped.startswith("{") and read_json(stripped) is None:
        return _judge_beginning(stripped)
    verdict = judge(ToolCall("", tool, arguments, Result(text)), agent=agent)
    if verdict.verdict != "ok":
        return "failed" if verdict.verdict == "failed" else "unproven"
    if verdict.evidence != "none":
        return "worked"
    is_cut = len(stripped) >= _CUT_CHARS or _CUT.compiled.search(stripped) is not None
    return "unproven" if is_cut or _DOUBTFUL.compiled.search(stripped) else "worked"


def _judge_beginning(text: str) -> Shown:
    """An answer in JSON that was cut: its complete fields can only speak against it."""
    said = fields_say(_complete_fields(text), own=True)
    return "failed" if said is not None and said.verdict == "failed" else "unproven"


def _complete_fields(text: str) -> dict[str, Any]:
    """The fields before the place where an object was cut off."""
    found: dict[str, Any] = {}
    at = 0
    while (key := _KEY.compiled.match(text, at)) is not None:
        try:
            found[key[1]], at = _DECODER.raw_decode(text, key.end())
        except (ValueError, RecursionError):
            break
    return found
