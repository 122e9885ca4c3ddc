"""Compression: when the context is nearly full, a child session continues with a summary and the last messages."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model
from pydantic_ai.usage import RequestUsage

from seasoned.history.builder import SessionBuilder
from seasoned.history.reader.seasoned_db import NAME, read_message
from seasoned.insight.compression import lost_knowledge
from seasoned.insight.mistake.repair import repairs
from seasoned.insight.track import JudgedCall, track_of
from seasoned.redact.key import Secrecy
from seasoned.runner.conversation import Conversation, estimate_tokens
from seasoned.runner.record import BackgroundRecorder, body_of, new_ref, without_usage
from seasoned.runner.runtime import instruction
from seasoned.runner.stream_events import ContextCompressed
from seasoned.session import SessionRef
from seasoned.template.render.tokens import count_tokens

# Of each kind, those that were used most.
_MOST_FACTS = 20
_SHOWN_CHARS = 200


class LearnedFact(msgspec.Struct, frozen=True):
    """Something the conversation learned: a line for the summary, and the words by which it is recognised there."""

    line: str
    words: tuple[str, ...]

    def is_in(self, text: str) -> bool:
        return all(word in text for word in self.words)


def learned_facts(bodies: Sequence[dict[str, Any]], ref: SessionRef) -> list[LearnedFact]:
    """Commands, paths and argument shapes that worked more than once, and mistakes that were corrected."""
    builder = SessionBuilder(ref, format=NAME, path="")
    for place, body in enumerate(bodies):
        read_message(builder, body, place=place)
    calls = track_of(builder.take()).calls
    knowledge = lost_knowledge(calls, ())
    found = [LearnedFact(_command(one.what, calls), (one.what,)) for one in knowledge.commands.lost[:_MOST_FACTS]]
    found += [LearnedFact(f"path: {one.what}", (one.what,)) for one in knowledge.paths.lost[:_MOST_FACTS]]
    found += [
        LearnedFact(f"arguments: {one.what}", (one.what.partition("(")[0],))
        for one in knowledge.shapes.lost[:_MOST_FACTS]
    ]
    # Of the corrections the latest: they are about what is being worked on now.
    for repair in repairs(calls)[-_MOST_FACTS:]:
        wrong, right = _short(calls[repair.failed]), _short(calls[repair.repaired])
        if wrong != right:
            found.append(LearnedFact(f"mistake: `{wrong}` failed; `{right}` worked ({repair.how})", (right,)))
    return list({one.line: one for one in found}.values())


def _command(label: str, calls: Sequence[JudgedCall]) -> str:
    """A line about a command: its program, and the last form that worked."""
    program = label.split()[0]
    for call in reversed(calls):
        if call.verdict == "ok" and call.command is not None and program in call.command:
            return f"command: {label}, last as `{call.command[:_SHOWN_CHARS]}`"
    return f"command: {label}"


def _short(call: JudgedCall) -> str:
    text = call.command or f"{call.tool} {call.raw_arguments}"
    return " ".join(text.split())[:_SHOWN_CHARS]


OPENS = "[Summary: the conversation had become too long to be sent again. What was said before, in short:]"
_KEPT = "## Known before, kept as it was"
_MOST_CHARS = 2000
# Read at least this much for a summary, even if the window is tiny or unknown.
_LEAST_TOKENS = 1000
# The share of the window that may be spent on reading what is to be summarised.
_SHARE = 0.5


class Compressor:
    """Continues a conversation in a child session. Whatever fails, the conversation continues."""

    def __init__(self, store_path: Path, secrecy: Secrecy) -> None:
        self._store_path = store_path
        self._secrecy = secrecy

    async def __call__(self, conversation: Conversation) -> ContextCompressed:
        limits = conversation.limits
        window = limits.context_tokens or 0
        history = conversation.history
        cut = tail_start(history, int(window * limits.tail))
        known = learned_facts([body_of(message) for message in history], conversation.ref)
        budget = max(_LEAST_TOKENS, int(window * _SHARE))
        said, response = await summarise(conversation.runtime.model, history[:cut], known, budget=budget)
        # Facts that the remaining messages still show need not be repeated in the summary.
        still_there = "\n".join(line for message in history[cut:] for line in _lines(message))
        lost = [one for one in known if not one.is_in(still_there)]
        first = ModelRequest(parts=[UserPromptPart(f"{OPENS}\n\n{with_known(said, lost)}")])
        tail = [_without_usage(message) for message in history[cut:]]
        parent, child = conversation.ref, new_ref()
        recorder = await asyncio.to_thread(self._continue_record, conversation, response, [first, *tail], child)
        conversation.continue_as(child, [first, *tail], recorder)
        return ContextCompressed(parent, child, len(tail))

    def _continue_record(
        self,
        conversation: Conversation,
        response: ModelResponse | None,
        history: Sequence[ModelMessage],
        child: SessionRef,
    ) -> BackgroundRecorder | None:
        old = conversation.recorder
        if old is None:
            return None
        about = msgspec.structs.replace(
            old.about,
            ref=child,
            parent=conversation.ref,
            relation="compression",
            # The lineage keeps its first session: the warm block and the arm belong to it.
            root=old.about.root or conversation.ref,
            title=old.title,
        )
        old.close("compression")
        recorder = BackgroundRecorder(self._store_path, self._secrecy, about)
        # The parent has accounted for these messages; their usage must not count twice.
        recorder.write(0, [without_usage(body_of(message)) for message in history], summary=True)
        return recorder


def tail_start(history: Sequence[ModelMessage], budget: int) -> int:
    """The index of the first message that is kept word for word: never between a call and its result."""
    size, start = 0, len(history)
    for at in reversed(range(1, len(history))):
        size += estimate_tokens(history[at])
        # At least one message stays, even if it alone is larger than the budget.
        if size > budget and start < len(history):
            break
        if not any(isinstance(part, ToolReturnPart) for part in history[at].parts):
            start = at
    return start if start < len(history) else max(0, len(history) - 1)


async def summarise(
    model: Model, history: Sequence[ModelMessage], known: Sequence[LearnedFact], *, budget: int
) -> tuple[str, ModelResponse | None]:
    """A summary by the model and its response; if the model fails, what the user said."""
    listed = "\n".join(f"- {one.line}" for one in known)
    keep = f"These are known to work or to be wrong; keep what is still needed:\n{listed}\n\n" if listed else ""
    asked = f"{keep}<conversation>\n{transcript(history, budget)}\n</conversation>"
    request = ModelRequest(parts=[SystemPromptPart(instruction("summary")), UserPromptPart(asked)])
    try:
        response = await model_request(model, [request])
    # A conversation must be able to continue even if its model cannot summarise it.
    except (AgentRunError, OSError):
        return _list_prompts(history), None
    text = "\n".join(part.content for part in response.parts if isinstance(part, TextPart)).strip()
    return text or _list_prompts(history), response


def with_known(summary: str, known: Sequence[LearnedFact]) -> str:
    """The summary, followed by the known facts that it lost."""
    lost = [f"- {one.line}" for one in known if not one.is_in(summary)]
    return "\n".join([summary, "", _KEPT, *lost]) if lost else summary


def transcript(history: Sequence[ModelMessage], budget: int) -> str:
    """The messages as text; if they are too long, the middle is left out."""
    lines = [line for message in history for line in _lines(message)]
    sizes = [count_tokens(line) + 1 for line in lines]
    head, tail, left = 0, len(lines), budget
    while head < tail:
        # The beginning says what was wanted, the end what the state is: both matter more than the middle.
        take_head = head < (len(lines) - tail) / 2
        at = head if take_head else tail - 1
        if sizes[at] > left:
            break
        left -= sizes[at]
        head, tail = (head + 1, tail) if take_head else (head, tail - 1)
    gap = [f"[{tail - head} lines left out]"] if head < tail else []
    return "\n".join([*lines[:head], *gap, *lines[tail:]])


def _lines(message: ModelMessage) -> list[str]:
    found = []
    for part in message.parts:
        if isinstance(part, UserPromptPart):
            found.append(f"User: {_cut(part.content if isinstance(part.content, str) else str(part.content))}")
        elif isinstance(part, TextPart) and part.content:
            found.append(f"Agent: {_cut(part.content)}")
        elif isinstance(part, ToolCallPart):
            found.append(f"Call: {part.tool_name} {_cut(part.args_as_json_str())}")
        elif isinstance(part, ToolReturnPart):
            found.append(f"Result: {_cut(part.model_response_str())}")
    return found


def _cut(text: str) -> str:
    if len(text) <= _MOST_CHARS:
        return text
    half = _MOST_CHARS // 2
    return f"{text[:half]} … {text[-half:]}"


def _list_prompts(history: Sequence[ModelMessage]) -> str:
    wishes = [line for message in history for line in _lines(message) if line.startswith("User: ")]
    return "\n".join(["## What the user wants", *wishes])


def _without_usage(message: ModelMessage) -> ModelMessage:
    """The message without its usage, which was counted already and says nothing about the new context."""
    return replace(message, usage=RequestUsage()) if isinstance(message, ModelResponse) else message
