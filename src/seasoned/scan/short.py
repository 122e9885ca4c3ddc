"""Shortens a call to what is kept in the store, redacted on the way."""

from __future__ import annotations

from typing import Any

import msgspec

from seasoned.command.tool import tool_of
from seasoned.redact.clean import CUT_MARGIN, is_clean
from seasoned.redact.redactor import Redactor
from seasoned.session import ToolCall

RESULT_CHARS = 500
_CONTENT_CHARS = 160
"""What a tool only passes on (files, matches, pages), or writes to a file, is not kept beyond this."""
_HEAD_CHARS = 300
_TAIL_CHARS = 180
_VALUE_CHARS = 400
_TIGHT_CHARS = 120
_ARGUMENTS_CHARS = 8000
_ITEMS = 50
_DEPTH = 8
_PASSED_ON = ("file_read", "search", "web", "file_write")
_encode = msgspec.json.Encoder().encode


class Short(msgspec.Struct, frozen=True):
    """What is kept of a call."""

    arguments: str
    result: str | None
    reason: str


def shorten(call: ToolCall, verdict: str, reason: str, redactor: Redactor) -> Short:
    """The call with every argument's name kept, long texts cut and secrets out."""
    # What is met while cutting: the texts with a margin beyond each cut, and what comes again in many a call.
    texts: list[str] = []
    common: list[str] = []
    speaks = tool_of(call.tool).form
    longest = _CONTENT_CHARS if speaks == "file_write" else _VALUE_CHARS
    arguments = _encode(_cut_pairs(call.arguments, longest, texts, common, _DEPTH)).decode("utf-8", "replace")
    result = None if call.result is None else call.result.text
    if result is not None and verdict == "ok" and len(result) > _CONTENT_CHARS and speaks in _PASSED_ON:
        # A file that was written is shown back: what matters is the sentence that says so.
        first = result[:_CONTENT_CHARS].partition("\n")[0] if speaks == "file_write" else ""
        result = f"{first} [{result.count(chr(10)) + 1} lines, {len(result)} characters]".lstrip()
    short = None if result is None else _cut_result(result, verdict, texts)
    (common if verdict == "ok" else texts).append(reason)
    if len(arguments) <= _ARGUMENTS_CHARS and is_clean(redactor, texts, common):
        return Short(arguments, short, reason)
    # Rare: something may be secret, so every part is redacted for itself, by the names of its values too.
    return Short(
        _redacted_arguments(call.arguments, longest, redactor),
        None if result is None else _redacted_result(result, verdict, redactor),
        redactor.text(reason),
    )


def _cut_result(text: str, verdict: str, texts: list[str]) -> str:
    """The beginning of a result; of a failed one the end too, where the reason often stands."""
    if len(text) <= RESULT_CHARS:
        texts.append(text)
        return text
    if verdict == "failed":
        texts += [text[: _HEAD_CHARS + CUT_MARGIN], text[-_TAIL_CHARS - CUT_MARGIN :]]
        return f"{text[:_HEAD_CHARS]} … {text[-_TAIL_CHARS:]}"
    texts.append(text[: RESULT_CHARS + CUT_MARGIN])
    return f"{text[: RESULT_CHARS - 2]} …"


def _cut_pairs(value: dict[Any, Any], limit: int, texts: list[str], names: list[str], depth: int) -> dict[str, Any]:
    cut = {}
    for key, item in value.items() if len(value) <= _ITEMS else list(value.items())[:_ITEMS]:
        name = str(key)
        names.append(name)
        if isinstance(item, str) and len(item) <= limit:
            texts.append(item)
            cut[name] = item
        else:
            cut[name] = _cut(item, limit, texts, names, depth - 1)
    return cut


def _cut(value: Any, limit: int, texts: list[str], names: list[str], depth: int) -> Any:
    if isinstance(value, str):
        if len(value) <= limit:
            texts.append(value)
            return value
        texts.append(value[: limit + CUT_MARGIN])
        return f"{value[:limit]} … [{len(value)} characters]"
    if isinstance(value, dict):
        return "…" if depth == 0 else _cut_pairs(value, limit, texts, names, depth)
    if isinstance(value, list | tuple):
        # In a list of words a flag names the word after it: ["--password", "…"].
        names += [item[2:] for item in value[:_ITEMS] if isinstance(item, str) and item.startswith("--")]
        return "…" if depth == 0 else [_cut(item, limit, texts, names, depth - 1) for item in value[:_ITEMS]]
    return value


def _redacted_arguments(arguments: dict[str, Any], longest: int, redactor: Redactor) -> str:
    for limit in (longest, _TIGHT_CHARS):
        value = redactor.value(_redacted(arguments, limit, redactor, _DEPTH))
        text = _encode(value).decode("utf-8", "replace")
        if len(text) <= _ARGUMENTS_CHARS:
            return text
    names = [redactor.text(str(name))[:_TIGHT_CHARS] for name in list(arguments)[:_ITEMS]]
    return _encode(dict.fromkeys(names, "…")).decode("utf-8", "replace")


def _redacted_result(text: str, verdict: str, redactor: Redactor) -> str:
    if len(text) <= RESULT_CHARS:
        return redactor.text(text)
    if verdict == "failed":
        return f"{redactor.head(text, _HEAD_CHARS)} … {redactor.tail(text, _TAIL_CHARS)}"
    return f"{redactor.head(text, RESULT_CHARS - 2)} …"


def _redacted(value: Any, limit: int, redactor: Redactor, depth: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= limit else f"{redactor.head(value, limit)} … [{len(value)} characters]"
    if isinstance(value, dict):
        pairs = list(value.items())[:_ITEMS]
        return "…" if depth == 0 else {str(k): _redacted(v, limit, redactor, depth - 1) for k, v in pairs}
    if isinstance(value, list | tuple):
        return "…" if depth == 0 else [_redacted(item, limit, redactor, depth - 1) for item in value[:_ITEMS]]
    return value
