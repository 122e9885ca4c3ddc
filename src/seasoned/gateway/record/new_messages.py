"""Finds what is new in a request that repeats its whole conversation: each message, call and result once."""

from __future__ import annotations

from difflib import SequenceMatcher
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from seasoned.gateway.wire.request import ApiRequest, ApiResponse
from seasoned.session import Message, Result

_BEGINNINGS_KEPT = 4_096
_ANSWERS_KEPT = 256
_CALL = "c"
_RESULT = "r"
_ASSISTANT = "a"
_SHORT_CHARS = 100
_DIGESTS_KEPT = 32_768
_KINDS = {"user": "u", "system": "s", "assistant": _ASSISTANT}
_SUMMARY_OPENINGS = (
    "This session is being continued from a previous conversation",
    "Another language model started to solve this problem",
    "[CONTEXT COMPACTION",
    "[CONTEXT SUMMARY",
)


class KnownConversation(msgspec.Struct, frozen=True):
    """What is known of a conversation: digests only, so that it can be stored although texts are redacted."""

    # The pieces of the conversation as the last request and its answer left it.
    view: tuple[str, ...] = ()
    # Of every list of pieces that was met so far, each beginning; the newest last.
    beginnings: tuple[str, ...] = ()
    calls: frozenset[str] = frozenset()
    results: frozenset[str] = frozenset()
    # Which beginning an answer ended, by its id.
    answers: dict[str, str] = {}
    end: str = ""
    # The last request was one for a summary: the next turn may begin with it.
    is_compacting: bool = False


class NewMessages(msgspec.Struct, frozen=True, kw_only=True):
    """What a request and its answer added to a conversation."""

    asked: tuple[Message, ...] = ()
    answered: tuple[Message, ...] = ()
    # Of the `tool` messages among them, with what was recorded beside their text.
    results: dict[str, Result] = {}
    # Pieces that the conversation had, and this request no longer carries: edited, rewound or compacted.
    dropped: int = 0
    # A summary stands for what was dropped; it is the message that is marked so.
    is_compacted: bool = False


class _ConversationPiece(NamedTuple):
    """What can be new by itself: something said, one call, one result."""

    key: str
    # The message that it is in, and the position of the call where it is one.
    place: tuple[int, int | None]


def find_new_messages(
    known: KnownConversation, asked: ApiRequest, answer: ApiResponse | None = None, *, key: bytes = b""
) -> tuple[KnownConversation, NewMessages]:
    """The conversation after one exchange, and what the exchange added. `key` makes the digests useless elsewhere."""
    pieces = _pieces(asked.messages, key)
    goes_on = asked.previous_response_id is not None or asked.conversation is not None
    chain = _extended([_start(known, asked)], pieces, key)
    same = 0 if goes_on else _common_start(known.view, pieces)
    met = set(known.beginnings)
    common = next((count for count in range(len(pieces), same, -1) if chain[count] in met), same)
    # A request that goes on from an older beginning is compared with that one alone, and not with the newest.
    before = () if goes_on or common > same else known.view[same:]
    copies, dropped = _align(before, pieces[common:])
    told = known.calls | known.results
    new = [piece for at, piece in enumerate(pieces[common:]) if at not in copies and piece.key not in told]
    said = _rebuilt(asked.messages, new)
    is_compacted = dropped > 0 and _is_summarised(known, said)
    reply = () if answer is None else _with_own_ids(answer, asked)
    replied = _pieces(reply, key)
    chain = _extended(chain, replied, key)
    view = tuple([piece.key for piece in [*pieces, *replied]])
    if is_compacted:
        # What a summary replaced does not come back: an id that is met again is another call.
        known = msgspec.structs.replace(known, calls=frozenset(), results=frozenset())
    after = KnownConversation(
        view=known.view + view if goes_on else view,
        beginnings=_newest(known.beginnings, chain[1:]),
        calls=known.calls.union([one for one in view if one.startswith(_CALL)]),
        results=known.results.union([one for one in view if one.startswith(_RESULT)]),
        answers=_noted(known.answers, asked, answer, chain[-1]),
        end=chain[-1],
    )
    news = NewMessages(
        asked=_marked(said) if is_compacted else said,
        answered=reply,
        results={one.answers: asked.results[one.answers] for one in said if one.answers in asked.results},
        dropped=dropped,
        is_compacted=is_compacted,
    )
    return after, news


def expect_summary(known: KnownConversation) -> KnownConversation:
    """Note a request for a summary. It is not a turn itself, but the next turn may begin with its answer."""
    return msgspec.structs.replace(known, is_compacting=True)


def _pieces(messages: tuple[Message, ...], key: bytes) -> list[_ConversationPiece]:
    """The texts, calls and results of messages, without those of a warm start."""
    found: list[tuple[str, str, tuple[int, int | None]]] = []
    for at, message in enumerate(messages):
        if message.synthetic:
            continue
        if message.role == "tool":
            found.append((_RESULT, message.answers or "", (at, None)))
            continue
        kind = _KINDS[message.role]
        # Clients trim what they repeat.
        if text := " ".join(message.text.split()):
            found.append((kind, text, (at, None)))
        found += [(_CALL, call.id, (at, position)) for position, call in enumerate(message.calls)]
    return [_ConversationPiece(kind + _digest(key, kind, text), place) for kind, text, place in found]


def _align(before: tuple[str, ...], rest: list[_ConversationPiece]) -> tuple[set[int], int]:
    """Which pieces are already in the conversation, and how many of its pieces are gone."""
    if not before or not rest:
        return set(), len(before)
    copies: set[int] = set()
    dropped = 0
    matcher = SequenceMatcher(None, before, [piece.key for piece in rest], autojunk=False)
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        if tag == "equal":
            copies.update(range(new_start, new_end))
            continue
        dropped += end - start
        heard = [one for one in before[start:end] if one.startswith(_ASSISTANT)]
        repeated = [at for at in range(new_start, new_end) if rest[at].key.startswith(_ASSISTANT)]
        # The model's words were heard when it said them: others in their place are the client's spelling of them.
        if heard and repeated:
            dropped -= len(heard)
            copies.update(repeated)
    return copies, dropped


def _rebuilt(messages: tuple[Message, ...], new: list[_ConversationPiece]) -> tuple[Message, ...]:
    """The messages reduced to what is new."""
    places = {piece.place for piece in new}
    found = []
    for at in sorted({at for at, _ in places}):
        message = messages[at]
        calls = tuple([call for position, call in enumerate(message.calls) if (at, position) in places])
        text = message.text if (at, None) in places else ""
        found.append(msgspec.structs.replace(message, text=text, calls=calls))
    return tuple(found)


def _with_own_ids(answer: ApiResponse, asked: ApiRequest) -> tuple[Message, ...]:
    """The answer with unique call ids: some providers restart counting in every answer."""
    taken = {call.id for message in asked.messages for call in message.calls}
    calls = []
    for call in answer.calls:
        name, count = call.id, 1
        while name in taken:
            count += 1
            name = f"{call.id}#{count}"
        taken.add(name)
        calls.append(msgspec.structs.replace(call, id=name))
    return msgspec.structs.replace(answer, calls=tuple(calls)).messages


def _is_summarised(known: KnownConversation, said: tuple[Message, ...]) -> bool:
    prompts = [message.text for message in said if message.role in ("user", "system")]
    return bool(prompts) and (known.is_compacting or any(text.startswith(_SUMMARY_OPENINGS) for text in prompts))


def _marked(said: tuple[Message, ...]) -> tuple[Message, ...]:
    """The same with the summary marked: the message that opens as one, else the first prompt."""
    prompts = [at for at, message in enumerate(said) if message.role in ("user", "system")]
    at = next((at for at in prompts if said[at].text.startswith(_SUMMARY_OPENINGS)), prompts[0])
    return (*said[:at], msgspec.structs.replace(said[at], summary=True), *said[at + 1 :])


def _start(known: KnownConversation, asked: ApiRequest) -> str:
    """The digest of the beginning that a request continues; empty for most, which carry their whole conversation."""
    if asked.previous_response_id is not None:
        return known.answers.get(asked.previous_response_id, asked.previous_response_id)
    return known.end if asked.conversation is not None else ""


def _extended(chain: list[str], pieces: list[_ConversationPiece], key: bytes) -> list[str]:
    """The digests of one beginning after the other."""
    longer = list(chain)
    for piece in pieces:
        longer.append(_digest(key, longer[-1], piece.key))
    return longer


def _noted(answers: dict[str, str], asked: ApiRequest, answer: ApiResponse | None, end: str) -> dict[str, str]:
    """The newest answers that a request can continue."""
    if answer is None or answer.id is None or asked.api != "responses":
        return answers
    return dict(list({**answers, answer.id: end}.items())[-_ANSWERS_KEPT:])


def _common_start(view: tuple[str, ...], pieces: list[_ConversationPiece]) -> int:
    for count, (known, piece) in enumerate(zip(view, pieces, strict=False)):
        if known != piece.key:
            return count
    return min(len(view), len(pieces))


def _newest(known: tuple[str, ...], more: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*reversed(more), *reversed(known)]))[:_BEGINNINGS_KEPT][::-1]


def _digest(key: bytes, *parts: str) -> str:
    return _known_digest(key, *parts) if sum(map(len, parts)) <= _SHORT_CHARS else _new_digest(key, *parts)


def _new_digest(key: bytes, *parts: str) -> str:
    told = "".join([f"{len(part)}:{part}" for part in parts])
    return blake2b(told.encode("utf-8", "surrogatepass"), key=key[:64], digest_size=12).hexdigest()


# Every request repeats the ids and beginnings of the one before.
_known_digest = lru_cache(_DIGESTS_KEPT)(_new_digest)
