"""Copilot Chat in VS Code: `chatSessions/*.json`, and since 2026 lines that say what changed in that document."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from seasoned.history.builder import SessionBuilder
from seasoned.history.coerce import (
    arguments_of,
    as_list,
    as_object,
    count,
    file_path,
    first_of,
    identity,
    integer,
    kind_of,
    known_usage,
    string,
    text_of,
    time_of,
)
from seasoned.history.formats import Sample
from seasoned.history.json_file import decode, noting_unreadable
from seasoned.history.session_reader import SessionFormat, SessionReader, note_times, objects
from seasoned.session import Marks, Session, Unreadable, Usage

NAME = "vscode"
_FORMAT = SessionFormat(NAME, "vscode")
# What a line does to the document: replace it, set a value, append to a list, or remove a value.
_WHOLE, _SET, _ADD, _REMOVE = range(4)
_MOST_ITEMS = 100_000
_Fields = dict[str, Any]


def recognises(sample: Sample) -> bool:
    """Whether it is a chat with its requests, or begins with one as a line."""
    if sample.kind not in ("document", "lines") or sample.is_list:
        return False
    return any(_is_chat(as_object(one.get("v")) if one.get("kind") == _WHOLE else one) for one in sample.records)


def _is_chat(value: _Fields) -> bool:
    named = "sessionId" in value and ("creationDate" in value or "requesterUsername" in value)
    return isinstance(value.get("requests"), list) and (named or "responderUsername" in value)


def read(path: Path) -> Iterator[Session]:
    """The session of a chat."""
    return _FORMAT.sessions(path, _parts(path))


def _parts(path: Path) -> Iterator[SessionBuilder | Unreadable]:
    chat: Any = {}
    lost: list[Unreadable] = []
    for part in objects(path, lost, "a chat"):
        if "kind" not in part.value:
            chat = part.value
        elif part.value["kind"] == _WHOLE:
            chat = part.value.get("v")
        elif not _change(chat, part.value):
            lost.append(Unreadable(part.where, "a change of something that is not there"))
    if as_object(chat):
        yield _session(path, chat)
    yield from lost


def _change(chat: Any, line: _Fields) -> bool:
    """Apply a line to the document; False if its place does not exist."""
    *way, last = as_list(line.get("k")) or [None]
    held: Any = chat
    for key in way:
        held = _within(held, key)
    if isinstance(held, list):
        if not isinstance(last, int) or not 0 <= last <= min(len(held), _MOST_ITEMS):
            return False
    elif not isinstance(held, dict) or not isinstance(last, str):
        return False
    if line.get("kind") == _ADD:
        inner = _within(held, last)
        if not isinstance(inner, list):
            return False
        # An index replaces everything from there on.
        at = integer(line.get("i"))
        inner[len(inner) if at is None or at < 0 else at :] = as_list(line.get("v"))
    elif line.get("kind") == _REMOVE:
        if isinstance(held, dict):
            held.pop(last, None)
    elif isinstance(held, list):
        held[last : last + 1] = [line.get("v")]
    else:
        held[last] = line.get("v")
    return True


def _within(held: Any, key: object) -> Any:
    if isinstance(held, list):
        return held[key] if isinstance(key, int) and 0 <= key < len(held) else None
    return held.get(key) if isinstance(held, dict) and isinstance(key, str) else None


def _session(path: Path, chat: _Fields) -> SessionBuilder:
    builder = _FORMAT.builder(path, identity(chat.get("sessionId")))
    builder.title = string(chat.get("customTitle"))
    builder.cwd = _workspace(path)
    reader = _ChatReader(builder)
    note_times(builder, "the head of the chat", chat.get("creationDate"))
    for position, request in enumerate(as_list(chat.get("requests"))):
        where = f"request {position}"
        with noting_unreadable(builder, where):
            if isinstance(request, dict):
                reader.add(request, where, position)
            else:
                builder.unreadable(where, f"{kind_of(request)} where a request should be")
    return builder


def _workspace(path: Path) -> str | None:
    """The folder of the workspace, which the editor stores next to the chats."""
    try:
        about = decode((path.parent.parent / "workspace.json").read_bytes())
    except (OSError, msgspec.DecodeError):
        return None
    return file_path(as_object(about).get("folder"))


class _ChatReader(SessionReader):
    """Reads the requests of one chat: the user's message, the rounds of calls that followed, the answer."""

    def add(self, request: _Fields, where: str, place: int) -> None:
        """Add one request with its answer."""
        time = time_of(request.get("timestamp"))
        message = request.get("message")
        self.builder.message("user", text_of(message), time=time, place=place)
        result = as_object(request.get("result"))
        metadata = as_object(result.get("metadata"))
        rounds = [as_object(one) for one in as_list(metadata.get("toolCallRounds"))]
        model = string(first_of(metadata, "resolvedModel")) or string(request.get("modelId"))
        usage = _usage(request, metadata)
        answers = as_object(metadata.get("toolCallResults"))
        shown = [as_object(one) for one in as_list(request.get("response"))]
        terminals = _terminals(shown)
        if not any(as_list(one.get("toolCalls")) for one in rounds):
            # Without rounds (before agent mode, and while a request runs) there is only what was shown.
            self.builder.message("assistant", _shown_text(shown), time=time, place=place, model=model, usage=usage)
            self.calls.turn()
            for one in shown:
                self._add_shown(one, time, where, place)
            return
        for number, one in enumerate(rounds):
            used = usage if number == 0 else None
            said = text_of(one.get("response"))
            self.builder.message("assistant", said, time=time, place=place, model=model, usage=used)
            self.calls.turn()
            if one.get("summary"):
                self.builder.compaction()
            for call in map(as_object, as_list(one.get("toolCalls"))):
                self._add_call(call, answers, terminals, time, where, place)
        if as_object(result.get("errorDetails")).get("code") == "canceled" or request.get("isCanceled") is True:
            self.calls.amend_open(Marks(interrupted=True))

    def _add_call(
        self,
        call: _Fields,
        answers: _Fields,
        terminals: list[tuple[str, int | None]],
        time: float | None,
        where: str,
        place: int,
    ) -> None:
        given, asked = identity(call.get("id")), arguments_of(call.get("arguments"))
        made = self.calls.make_named(where, given, string(call.get("name")), asked, time=time, place=place)
        if made is None or given not in answers:
            return
        text = _result_text(as_object(answers[given]).get("content"))
        code = None
        if terminals and asked.get("command") == terminals[0][0]:
            code = terminals.pop(0)[1]
        marks = Marks(exit_code=code) if code is not None else _marks(text)
        self.calls.answer(made, text, marks, time=time, place=place)

    def _add_shown(self, part: _Fields, time: float | None, where: str, place: int) -> None:
        if part.get("kind") not in ("toolInvocationSerialized", "toolInvocation"):
            return
        terminal = as_object(part.get("toolSpecificData"))
        command = string(as_object(terminal.get("commandLine")).get("original")) or string(terminal.get("command"))
        details = part.get("resultDetails")
        asked = {"command": command} if command else arguments_of(as_object(details).get("input"))
        made = self.calls.make_named(
            where, part.get("toolCallId"), string(part.get("toolId")), asked, time=time, place=place
        )
        if made is None or part.get("isComplete") is not True:
            return
        output = first_of(as_object(terminal.get("terminalCommandOutput")), "text")
        text = text_of(output if output is not None else first_of(as_object(details), "output", "text"))
        code = integer(as_object(terminal.get("terminalCommandState")).get("exitCode"))
        failed = as_object(details).get("isError")
        denied = as_object(part.get("isConfirmed")).get("type") == 0 or part.get("isConfirmed") is False
        marks = Marks(declined=True) if denied else Marks(failed=failed if isinstance(failed, bool) else None)
        self.calls.answer(made, text, Marks(exit_code=code) if code is not None else marks, time=time, place=place)


def _terminals(shown: list[_Fields]) -> list[tuple[str, int | None]]:
    """The commands of a request in order, each with its exit code: calls have other ids in the two places."""
    found = []
    for data in (as_object(part.get("toolSpecificData")) for part in shown):
        command = string(as_object(data.get("commandLine")).get("original"))
        if command is not None:
            found.append((command, integer(as_object(data.get("terminalCommandState")).get("exitCode"))))
    return found


def _shown_text(shown: list[_Fields]) -> str:
    """The text of an answer: parts without a kind, or of the kind for Markdown."""
    words = [part for part in shown if part.get("kind") in (None, "markdownContent")]
    return "".join(text_of(first_of(part, "value", "content")) for part in words)


def _result_text(content: object) -> str:
    """The text of a result; prompts are kept as trees whose leaves hold text."""
    return "\n".join(text for text in map(_leaves, as_list(content)) if text)


def _leaves(part: object) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, list):
        return "".join(map(_leaves, part))
    fields = as_object(part)
    if isinstance(fields.get("text"), str):
        return str(fields["text"]) + ("\n" if fields.get("lineBreakBefore") else "")
    return _leaves(first_of(fields, "value", "node", "children", "content"))


def _marks(text: str) -> Marks:
    head = text[:120].lower()
    if head.startswith(("error:", "error ", "error calling tool", "failed to")):
        return Marks(failed=True)
    if "user cancelled" in head or "user chose to skip" in head or "user declined" in head:
        return Marks(declined=True)
    return Marks()


def _usage(request: _Fields, metadata: _Fields) -> Usage | None:
    return known_usage(
        Usage(
            input=count(first_of(metadata, "promptTokens")) or count(request.get("promptTokens")),
            output=count(first_of(metadata, "outputTokens")) or count(request.get("completionTokens")),
        )
    )
