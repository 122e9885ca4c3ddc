"""Judges tool calls: explicit evidence first, then fields, and only then what the words say."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from seasoned.command.tool import OutputForm, command_of, output_form
from seasoned.lazy_regex import LazyRegex
from seasoned.outcome.evidence.envelope import HEADERS, open_shell, without_notes
from seasoned.outcome.evidence.shell_command import MAY_BE_AN_ANSWER, benign
from seasoned.outcome.evidence.structure import fields_say, read_json, unwrap
from seasoned.outcome.evidence.tool_wording import (
    judge_fields,
    judge_recorded,
    judge_shell,
    judge_words,
    may_lose_status,
)
from seasoned.outcome.verdict import Fault, Verdict
from seasoned.outcome.wording import programs, tools
from seasoned.outcome.wording.rule import OutputText, first
from seasoned.session import Marks, Result, Session, ToolCall

_OK_FLAG = Verdict("ok", "flag", "none", "The agent recorded it as a success.")
_OK_CODE = Verdict("ok", "exit_code", "none", "Exit code 0.")
_NO_RESULT = Verdict("unclear", "none", "none", "No result was ever recorded.")
_RUNNING = Verdict("unclear", "none", "none", "It was still running, and its end was never seen.")
_DECLINED = Verdict("failed", "flag", "user_declined", "A person, a policy or a permission said no.")
# Agents that put a non-zero exit code into the text, so that its absence speaks as well.
_SHOWS_CODE = frozenset({"claude-code"})
# Agents that record a success when the shell ran, whatever its command did: the code is in the text alone.
RECORDS_SHELL_ONLY = frozenset({"copilot", "gemini"})
# Agents whose tools all answer in JSON: every field is the tool's own word.
_JSON_AGENTS = frozenset({"hermes", "seasoned"})


def judge_session(session: Session) -> Iterator[tuple[ToolCall, Verdict]]:
    """Every call of a session with its verdict, without those that a warm start put there."""
    agent = session.ref.agent
    for call in session.calls():
        if not call.synthetic:
            yield call, judge(call, agent=agent)


def judge(call: ToolCall, *, agent: str) -> Verdict:
    """Whether a call worked, how that is known, and who was at fault where it did not."""
    if call.result is None:
        return _NO_RESULT
    marks = call.result.marks
    # What the source recorded outranks everything else, the strongest mark first.
    if marks.declined:
        return _DECLINED
    if marks.interrupted:
        return _interrupted(marks)
    if marks.failed:
        return _by_flag(call)
    if marks.exit_code:
        return _by_code(call, marks.exit_code, marks.benign)
    if marks.failed is False:
        if agent in RECORDS_SHELL_ONLY and output_form(call) == "shell" and open_shell(call.result.text).exit_code:
            return _by_shell(call, call.result.text, agent)
        return _recorded_success(call, _OK_FLAG, call.result.text)
    if marks.exit_code == 0:
        return _recorded_success(call, _OK_CODE, call.result.text)
    if marks.running:
        return _RUNNING
    return _by_text(call, agent)


def _recorded_success(call: ToolCall, recorded: Verdict, text: str) -> Verdict:
    """`pytest | tail` succeeds whatever the tests do: what is recorded there belongs to `tail`."""
    if output_form(call) != "shell":
        return recorded
    command = command_of(call)
    # Most commands are one program, whose status is their own: their output need not be opened.
    if not command or not may_lose_status(command):
        return recorded
    body = open_shell(text)
    found = judge_recorded(body.text, command)
    return recorded if found is None else _RUNNING if body.running else found


def _interrupted(marks: Marks) -> Verdict:
    if marks.failed or marks.exit_code:
        return Verdict("failed", "flag", "interrupted", "It was interrupted.")
    return Verdict("unclear", "flag", "interrupted", "It was interrupted; how far it came is not known.")


def _by_flag(call: ToolCall) -> Verdict:
    assert call.result is not None
    fault, reason = fault_of(call, call.result.text)
    return Verdict("failed", "flag", fault, reason)


def _by_code(call: ToolCall, code: int, meaning: str | None, *, all_failed: bool = False) -> Verdict:
    assert call.result is not None
    if meaning:
        return Verdict("ok", "exit_code", "none", f"Exit code {code}: {meaning[:160]}.")
    command = command_of(call)
    if command and code in MAY_BE_AN_ANSWER and not all_failed:
        text = open_shell(call.result.text).text
        no = benign(command, code, silent=not text.strip())
        # Exit 1 counts as the answer "no" only if nothing in the output complains.
        found = None if no is None else judge_shell(text, command)
        if found is not None and found.verdict == "unclear":
            return found
        if found is not None and found.verdict == "ok":
            return Verdict("ok", "exit_code", "none", f"Exit code {code}: {no}.")
    fault, reason = fault_of(call, call.result.text)
    return Verdict("failed", "exit_code", fault, f"Exit code {code}. {reason}" if reason else f"Exit code {code}.")


def _by_text(call: ToolCall, agent: str) -> Verdict:
    """Nothing was recorded beside the text: read the text."""
    assert call.result is not None
    text = call.result.text
    speech = OutputText(text)
    found = first(tools.REFUSALS, speech) or first(tools.HARNESS, speech)
    if found is not None:
        if found.fault == "none":
            fault, reason = fault_of(call, text)
            return msgspec.structs.replace(found.says(), fault=fault, reason=reason)
        return found.says()
    # Some agents wrap the results of all their tools like those of a shell.
    form = output_form(call)
    if form != "shell" and text.startswith(HEADERS):
        body = open_shell(text)
        if body.exit_code is not None:
            return _by_code(call, body.exit_code, None) if body.exit_code else _OK_CODE
        text = body.text
    # A file, and what a program prints, may be JSON about the errors of others.
    if agent in _JSON_AGENTS or form not in ("file_read", "python"):
        structured = _by_structure(call, text, form, agent)
        if structured is not None:
            if structured.verdict == "failed" and structured.fault == "none":
                return msgspec.structs.replace(structured, fault=fault_in(structured.reason))
            return structured
    if form == "shell":
        return _by_shell(call, text, agent)
    return judge_words(form, without_notes(text))


def _by_shell(call: ToolCall, text: str, agent: str) -> Verdict:
    body = open_shell(text)
    if body.exit_code:
        # An agent that puts only failing codes into the text has already left out the harmless ones.
        return _by_code(call, body.exit_code, None, all_failed=agent in _SHOWS_CODE)
    if body.exit_code == 0:
        return _recorded_success(call, _OK_CODE, body.text)
    if body.running:
        return _RUNNING
    return judge_shell(body.text, command_of(call), shows_code=agent in _SHOWS_CODE)


def _by_structure(call: ToolCall, text: str, form: OutputForm, agent: str) -> Verdict | None:
    """The fields of an answer in JSON, where the tool itself speaks JSON and does not merely show some."""
    data = unwrap(read_json(text))
    if not isinstance(data, dict):
        return None
    if agent in _JSON_AGENTS:
        return _by_own_fields(call, data, form)
    if form == "shell":
        # A shell prints the JSON of others. Only an envelope with a code and an output is the agent's own.
        if ("output" in data or "stdout" in data) and any(
            key in data for key in ("exit_code", "exitCode", "returncode")
        ):
            return _by_shell_fields(call, data, fields_say(data, own=True))
        return None
    if form in ("file_write", "search", "meta", "agent"):
        return fields_say(data, own=True)
    return fields_say(data, own=False)


def _by_own_fields(call: ToolCall, data: dict[str, object], form: OutputForm) -> Verdict | None:
    found = fields_say(data, own=True)
    if found is not None:
        if found.verdict == "failed" and found.evidence == "exit_code":
            code = data.get("exit_code")
            return _by_code(_opened(call, data), code if isinstance(code, int) else 1, None)
        error = data.get("error")
        if found.verdict == "failed" and found.fault == "none" and isinstance(error, str):
            # A plugin or a policy that says no leaves nothing but these words.
            refused = first(tools.REFUSALS, OutputText(error))
            return found if refused is None else msgspec.structs.replace(found, fault=refused.fault)
        return _by_shell_fields(call, data, found) if form == "shell" else found
    return judge_fields(form, call, data)


def _by_shell_fields(call: ToolCall, data: dict[str, object], found: Verdict | None) -> Verdict | None:
    """A code 0 in the fields of a shell may be another program's, like one beside the text."""
    if found is None or found.verdict != "ok" or found.evidence != "exit_code":
        return found
    opened = _opened(call, data).result
    return found if opened is None else _recorded_success(call, found, opened.text)


def _opened(call: ToolCall, data: dict[str, object]) -> ToolCall:
    """The call with what its tool printed in the place of the fields around it."""
    texts = [data.get(field) for field in ("error", "output", "stdout", "stderr")]
    return msgspec.structs.replace(
        call, result=Result("\n".join([one for one in texts if one and isinstance(one, str)]))
    )


# Compared with a text in lower case. Plain pieces of text: every failure of a scan is looked through.
_ENVIRONMENT = (
    *("connection refused", "connection reset", "connection timed out", "connection aborted", "could not resolve host"),
    *("network is unreachable", "name resolution", "no such host", "dial tcp", "tls handshake", "econnrefused"),
    *("econnreset", "etimedout", "enotfound", "timed out", "timeout exceeded", "timeouterror", "i/o timeout"),
    *("rate limit", "too many requests", " 429 "),
    *("no space left", "enospc", "cannot allocate memory", "out of memory", "disk quota", "quota exceeded", "emfile"),
    *("internal server error", "service unavailable", "bad gateway", "overloaded", "posix_spawn", "command not found"),
    *("no module named", "executable not found", "not installed", "read-only file system", "operation not permitted"),
)
_CALL = (
    *("no such file", "does not exist", "not found", "not been read", "invalid", "unknown", "unrecogni", "unexpected"),
    *("syntax error", "parse error", "could not", "no match", "is a directory", "not a directory", "eisdir", "enoent"),
    *("missing", "required", "mismatch", "undefined", "cannot find", "already exists", "usage:", "must ", "fail"),
    *("error", "exceed", "conflict", "fatal", "denied", "✖", "issues:", "problem"),
)
# A line that begins so is worth showing as the reason.
_TELLING = LazyRegex(r"(?:\S+: )?(?:error|fatal|fail|\w*Error\b)", re.IGNORECASE)
_WORD = LazyRegex(r"[^\W\d_]{2}")
# Long outputs say what went wrong at their start or end.
_WINDOW = 1500


def fault_of(call: ToolCall, text: str) -> tuple[Fault, str]:
    """The fault and a reason in words, from the start and the end of a failure's text."""
    refused = first(tools.REFUSALS, OutputText(text[:_WINDOW]))
    if refused is not None:
        return refused.fault, refused.reason
    body = open_shell(text).text if output_form(call) == "shell" else text
    ends = body if len(body) <= 2 * _WINDOW else body[:_WINDOW] + "\n" + body[-_WINDOW:]
    line = _telling_line(ends)
    broken = first(tools.HARNESS, OutputText(text[:_WINDOW]))
    if broken is not None and broken.fault == "environment":
        return "environment", line or broken.reason
    if first(programs.TEST_FAILURES, OutputText(ends)) is not None:
        # A test may speak of a network that it pretends to have lost.
        return "call", line
    return fault_in(ends), line or "It failed and said nothing."


def fault_in(text: str) -> Fault:
    """Who is at fault by the words of a failure; `none` when they do not tell."""
    lowered = text.lower()
    # The environment first: its words are specific, while "error" and "fail" stand in nearly every failure.
    if any(piece in lowered for piece in _ENVIRONMENT):
        return "environment"
    return "call" if any(piece in lowered for piece in _CALL) else "none"


def _telling_line(text: str) -> str:
    """The line of a failure that says most: the last that complains, else the first."""
    lines = [line.strip() for line in text.splitlines() if _WORD.compiled.search(line)]
    if not lines:
        return ""
    for line in reversed(lines[-12:]):
        # Tracebacks and compilers put the message last; usage texts and shells put it first.
        if _TELLING.compiled.match(line):
            return _short(line)
    return _short(lines[0])


def _short(line: str) -> str:
    line = line.removeprefix("<tool_use_error>").removesuffix("</tool_use_error>")
    return line if len(line) <= 160 else line[:157] + "..."
