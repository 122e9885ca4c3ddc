"""Reads the answer of a tool that speaks JSON: its own fields say whether it worked."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from seasoned.outcome.verdict import Fault, Verdict

# The standard decoder reads what msgspec refuses: control characters, and text behind the value.
_DECODER = json.JSONDecoder(strict=False)
# Values of `status` by what they say about the call.
_REFUSED = frozenset({"blocked", "denied", "rejected", "declined", "approval_required", "pending_approval"})
_FAILED = frozenset({"error", "failed", "failure", "fail", "timeout", "timed_out", "not_found", "exception"})
_INTERRUPTED = frozenset({"interrupted", "cancelled", "canceled", "aborted"})
_CODES = ("exit_code", "exitCode", "returncode", "return_code")


def read_json(text: str) -> Any:
    """The JSON value that a text begins with, whatever follows it; None when it begins with none."""
    stripped = text.lstrip()
    if not stripped.startswith(("{", "[")):
        return None
    try:
        return msgspec.json.decode(stripped)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        pass
    try:
        return _DECODER.raw_decode(stripped)[0]
    except (ValueError, RecursionError):
        return None


def unwrap(data: Any) -> Any:
    """The inner object where an answer is wrapped as `{"result": "{…}"}`."""
    if isinstance(data, dict) and isinstance(data.get("result"), str) and len(data) <= 2:
        inner = read_json(data["result"])
        if isinstance(inner, dict):
            return inner
    return data


def fields_say(data: dict[str, Any], *, own: bool) -> Verdict | None:
    """What the fields of an answer say. `own`: every field is the tool's own word, none is data it looked up."""
    status = data.get("status")
    word = status.lower() if isinstance(status, str) else None
    error = data.get("error")
    if own and word in _REFUSED:
        return _failed(error, "The call was blocked.", fault="user_declined")
    refused = _flag(data, "success") is False or _flag(data, "ok") is False or data.get("isError") is True
    if refused or data.get("is_error") is True:
        return _failed(error or data.get("message"), "The answer says that it did not succeed.")
    if own and word in _INTERRUPTED and (error or len(data) <= 3):
        return Verdict("failed", "structure", "interrupted", "The answer says that it was interrupted.")
    # A number named "error" in looked-up data is a measurement (an error rate), not a complaint.
    if error and not (_flag(data, "success") is True or (not own and isinstance(error, (int, float)))):
        return _failed(error, "The answer holds an error.")
    code = _code(data)
    if code is not None:
        meaning = data.get("exit_code_meaning")
        if code == 0 or (isinstance(meaning, str) and meaning):
            return Verdict("ok", "exit_code", "none", f"Exit code {code}{f': {meaning}' if meaning else ''}.")
        return Verdict("failed", "exit_code", "none", f"Exit code {code}.")
    # In the data of an API "failed" may be the status of an order; a small object with "error" is the answer itself.
    if word in _FAILED and (own or (word == "error" and len(data) <= 6)):
        return _failed(error or data.get("message"), f"The answer has status {word}.")
    return _http_says(data) or _parts_say(data) or _success_says(data, own=own)


def _success_says(data: dict[str, Any], *, own: bool) -> Verdict | None:
    lint = data.get("lint")
    if own and isinstance(lint, dict) and _lint_failed(lint):
        return Verdict("unclear", "structure", "call", "The file was written, but what was written does not parse.")
    if _flag(data, "success") is True or _flag(data, "ok") is True:
        return Verdict("ok", "structure", "none", "The answer says that it succeeded.")
    if data.get("isError") is False or ("error" in data and not data["error"]):
        return Verdict("ok", "structure", "none", "The answer has an error field, and it is empty.")
    return None


def _lint_failed(lint: dict[str, Any]) -> bool:
    if lint.get("status") == "error":
        return True
    return any(isinstance(part, dict) and part.get("status") == "error" for part in lint.values())


def _http_says(data: dict[str, Any]) -> Verdict | None:
    """Answers of web APIs: a status of 400 or more beside a message, or errors without data."""
    errors = data.get("errors")
    if isinstance(errors, list) and errors and not data.get("data") and len(data) <= 4:
        return _failed(errors[0], "The answer holds errors and no data.")
    for key in ("status", "statusCode", "status_code", "code"):
        value = data.get(key)
        if isinstance(value, str) and value.isdigit():
            value = int(value)
        if isinstance(value, int) and 400 <= value < 600 and ("message" in data or "detail" in data):
            return _failed(data.get("message") or data.get("detail"), f"The answer has status {value}.")
    return None


def _parts_say(data: dict[str, Any]) -> Verdict | None:
    """Answers with one entry for each thing asked for, each with its own error."""
    parts = data.get("results")
    if not isinstance(parts, list) or not parts:
        return None
    failed = [part for part in parts if isinstance(part, dict) and part.get("error")]
    if not failed:
        return None
    if len(failed) == len(parts):
        return _failed(failed[0]["error"], "Everything that was asked for failed.")
    return Verdict("ok", "structure", "none", f"{len(parts) - len(failed)} of {len(parts)} parts succeeded.")


def _failed(error: Any, reason: str, *, fault: Fault = "none") -> Verdict:
    detail = error.get("message") if isinstance(error, dict) else error
    if isinstance(detail, str) and detail.strip():
        reason = f"{reason[:-1]}: {' '.join(detail.split())[:160]}"
    return Verdict("failed", "structure", fault, reason)


def _flag(data: dict[str, Any], key: str) -> bool | None:
    value = data.get(key)
    return value if isinstance(value, bool) else None


def _code(data: dict[str, Any]) -> int | None:
    for key in _CODES:
        value = data.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None
