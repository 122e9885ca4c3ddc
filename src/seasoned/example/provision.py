"""Adds a warm block to the messages of a new session. `ensure_block` does so once for each conversation."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from seasoned.command.tool import TaskType
from seasoned.errors import NotFound
from seasoned.example.block import Block, Form, Format
from seasoned.example.choose.choice import SessionNeeds, choose
from seasoned.example.choose.offered import Tools, offered
from seasoned.example.library.storage import (
    Library,
    WarmBlock,
    count_use,
    find_block,
    keep_block,
    no_template,
)
from seasoned.example.render import Rendered, render, render_told
from seasoned.marks import is_synthetic_id, opens_block
from seasoned.store import Store
from seasoned.text import count_tokens

_SYSTEM = ("system", "developer")
_PROMPT_PARTS = ("system-prompt", "user-prompt")


def insert(messages: Sequence[Mapping[str, Any]], rendered: Rendered) -> list[dict[str, Any]]:
    """The messages with the block; unchanged if they have one already."""
    given = [dict(message) for message in messages]
    if rendered.is_empty or carries_block(given):
        return given
    if rendered.format == "text":
        block = [{"role": "system", "content": rendered.content.decode().rstrip("\n")}]
    else:
        block = json.loads(rendered.content)
    if rendered.format == "pydantic-ai":
        given = _split_request(given)
    start = next((index for index, message in enumerate(given) if not _is_system(message)), len(given))
    return [*given[:start], *block, *given[start:]]


def carries_block(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the messages have a block already. Results of tools are not searched: they could say anything."""
    for message in messages:
        if any(map(is_synthetic_id, _call_ids(message))):
            return True
        if any(map(opens_block, _prompts(message))):
            return True
    return False


def _is_system(message: Mapping[str, Any]) -> bool:
    if message.get("kind") == "request":
        parts = _records(message.get("parts"))
        return bool(parts) and all(part.get("part_kind") == "system-prompt" for part in parts)
    return message.get("role") in _SYSTEM


def _split_request(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """pydantic-ai keeps the system prompt and the first question in one request: they become two."""
    for index, message in enumerate(messages):
        if _is_system(message):
            continue
        parts = _records(message.get("parts"))
        system = [part for part in parts if part.get("part_kind") == "system-prompt"]
        if message.get("kind") != "request" or not system:
            break
        # Instructions are read from the newest request, so they stay with the question.
        first = {**{key: message[key] for key in message if key != "instructions"}, "parts": system}
        rest = {**message, "parts": [part for part in parts if part.get("part_kind") != "system-prompt"]}
        return [*messages[:index], first, rest, *messages[index + 1 :]]
    return messages


def _call_ids(message: Mapping[str, Any]) -> Iterator[str]:
    """The ids of the calls that a message makes, in any format."""
    if message.get("type") == "function_call":
        yield str(message.get("call_id"))
    for call in _records(message.get("tool_calls")):
        yield str(call.get("id"))
    for block in _records(message.get("content")):
        if block.get("type") == "tool_use":
            yield str(block.get("id"))
    for part in _records(message.get("parts")):
        if part.get("part_kind") == "tool-call":
            yield str(part.get("tool_call_id"))


def _prompts(message: Mapping[str, Any], *, of_user: bool = False) -> Iterator[str]:
    """The texts of a message that are addressed to the model, in any format; `of_user`: only the user's."""
    kinds = _PROMPT_PARTS[1:] if of_user else _PROMPT_PARTS
    parts = [part for part in _records(message.get("parts")) if part.get("part_kind") in kinds]
    contents = [part.get("content") for part in parts]
    if message.get("role") in (("user",) if of_user else ("user", *_SYSTEM)):
        contents.append(message.get("content"))
    for content in contents:
        yield from _said(content)


def _records(value: object) -> list[Mapping[str, Any]]:
    return [part for part in value if isinstance(part, Mapping)] if isinstance(value, list | tuple) else []


BUDGET = 1500
# The name for a block without examples. No template can have it, because of the slash.
TOLD = "project/items"
TOLD_MARK = f"{TOLD}@1"
# Items of the Responses API that only an agent writes.
_ANSWERS = ("function_call", "reasoning", "computer_call", "local_shell_call", "web_search_call")
Messages = Sequence[Mapping[str, Any]] | str


class Provisioned(msgspec.Struct, frozen=True):
    """The messages to begin with, what was added to them, and why."""

    messages: list[dict[str, Any]]
    rendered: Rendered | None
    block: Block | None
    reason: str


class Begun(msgspec.Struct, frozen=True):
    """What a conversation is shown in one format, and the reason: the same bytes as long as it lives."""

    rendered: Rendered | None
    reason: str
    template: str | None = None  # `name@version`
    arm: str | None = None  # the session's arm in the running experiment; None if it takes no part
    is_new: bool = False  # whether the block was made by this call, rather than found

    @property
    def content(self) -> bytes | None:
        return None if self.rendered is None else self.rendered.content

    @property
    def example_ids(self) -> tuple[str, ...]:
        return () if self.rendered is None else self.rendered.example_ids


class BlockRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a session asks for besides its messages. Everything has a default."""

    conversation: str = ""  # `agent:native id` of its first session; decides between examples of equal merit
    format: Format = "openai"
    form: Form = "messages"
    tools: Tools | None = None  # in the format of any provider; None if they are unknown
    task: str | None = None  # by default the last user message
    template: str | None = None  # the name of the one to use; by default the best
    task_type: TaskType | None = None
    tags: Sequence[str] = ()
    budget: int = BUDGET
    is_small: bool = False


_ANYTHING = BlockRequest()


def provision(messages: Messages, *, library: Library, asked: BlockRequest = _ANYTHING, told: str = "") -> Provisioned:
    """Choose, render and insert. Pure: the same arguments give the same bytes in every process.

    If nothing fits, nothing is added and `reason` says why. `told` is shown in addition; it is the whole block if no
    example fits.
    """
    given = listed(messages)
    if carries_block(given):
        return Provisioned(given, None, None, "The conversation already has a block, and was left unchanged.")
    chosen = library.named(asked.template) if asked.template is not None else None
    if asked.template is not None and chosen is None:
        raise NotFound(no_template(asked.template, [one.name for one in library.templates]))
    needs = SessionNeeds(
        task=asked.task if asked.task is not None else last_request(given),
        tools=None if asked.tools is None else offered(asked.tools),
        task_type=asked.task_type,
        tags=frozenset(tag.casefold() for tag in asked.tags),
        seed=asked.conversation,
        budget=asked.budget,
        is_small=asked.is_small,
    )
    choice = choose(
        library,
        needs,
        render=lambda block: render(block, asked.format, asked.form),
        template=chosen,
        told=told,
    )
    if choice.rendered is None:
        return _told_only(given, told, asked.format) if told else Provisioned(given, None, None, choice.reason)
    return Provisioned(insert(given, choice.rendered), choice.rendered, choice.block, choice.reason)


def _told_only(given: list[dict[str, Any]], told: str, format: Format) -> Provisioned:
    """A block without examples."""
    block = Block(TOLD_MARK, (), told)
    rendered = render_told(block, format)
    return Provisioned(insert(given, rendered), rendered, block, "What the task asks for in this project.")


def listed(messages: Messages) -> list[dict[str, Any]]:
    """The messages as a new list; the Responses API accepts a bare text as the first request."""
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}]
    return [dict(message) for message in messages]


def last_request(messages: Sequence[Mapping[str, Any]]) -> str:
    """What the user said last, in the messages of any format."""
    said = (" ".join(_prompts(message, of_user=True)).strip() for message in reversed(messages))
    return next(filter(None, said), "")


def _said(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
        return
    for part in content if isinstance(content, list | tuple) else ():
        if isinstance(part, str):
            yield part
        elif isinstance(part, Mapping) and isinstance(part.get("text"), str):
            yield part["text"]


def is_under_way(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the agent has answered already: adding a block now would change what the provider has cached."""
    return any(
        message.get("role") in ("assistant", "model")
        or message.get("kind") == "response"
        or message.get("type") in _ANSWERS
        for message in messages
    )


def ensure_block(
    store: Store,
    library: Callable[[], Library],
    asked: BlockRequest,
    *,
    messages: Messages = (),
    now: float,
    told: Callable[[], str] = lambda: "",
) -> Begun:
    """The one block of a conversation in a format: found, or made at its first request and kept.

    `library` and `told` are functions, so that nothing is loaded for a conversation that has its block. Add the result
    to the messages with `insert`. Use is counted once, when the block is made. Raises StoreError if it cannot be kept:
    a resumed session would begin differently.
    """
    given = listed(messages)
    if carries_block(given):
        return Begun(None, "The conversation already has a block, and was left unchanged.")
    known = find_block(store, asked.conversation, asked.format)
    if known is not None:
        return begun_with(known, "The block that the conversation began with.")
    # This comes after the lookup: a conversation that began with a block keeps it.
    if is_under_way(given):
        return Begun(None, "The conversation began without a block. Adding one now would change its beginning.")
    made = provision(given, library=library(), asked=asked, told=told())
    if made.rendered is None or made.block is None:
        return Begun(None, made.reason)
    name, _, version = made.block.template.rpartition("@")
    shown, place = made.rendered, (asked.conversation, asked.format, asked.form)
    block = WarmBlock(*place, name, int(version), shown.example_ids, shown.content, shown.digest, now)
    with store.together():
        kept = keep_block(store, block)
        # The first one that was kept counts: another process may have been faster.
        if kept == block and name != TOLD:
            count_use(store, made.block.template, kept.example_ids)
    return begun_with(kept, made.reason, is_new=kept == block)


def begun_with(block: WarmBlock, reason: str, *, is_new: bool = False) -> Begun:
    """What a conversation begins with whose block is kept."""
    rendered = Rendered(
        block.format,  # type: ignore[arg-type]  # the table holds what a Format was
        block.form,  # type: ignore[arg-type]
        block.content,
        count_tokens(block.content.decode("utf-8", "replace")),
        block.example_ids,
        block.digest,
    )
    return Begun(rendered, reason, f"{block.template}@{block.version}", is_new=is_new)
