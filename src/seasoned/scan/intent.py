"""What was said before a call, and what the user took back: what is kept of the words around calls."""

from __future__ import annotations

from collections.abc import Iterator

from seasoned.outcome.correction import corrects
from seasoned.outcome.pattern import Pattern
from seasoned.session import Message, Session, ToolCall

INTENT_CHARS = 200
_FEWEST_CHARS = 8
"""Less than that ("Done.", "ok") says nothing about what is meant."""
_WRAPPED = ("<", "[", "Caveat:", "This session is being continued")
"""Words that an agent's program put into the user's mouth."""
_ASSENT = Pattern(
    r"(?i)\W*(?:yes|yeah|yep|yup|y|ok(?:ay)?|sure|continue|go(?: ahead| on)?|proceed|please|do it|correct|right"
    r"|confirm(?:ed)?|that(?:['’]s| is) (?:correct|right|fine|good|perfect)|sounds good|thanks?|thank you|perfect"
    r"|great|good)\b.{0,25}\Z"
)
_APPENDED = "<system-reminder>"


def intents(session: Session) -> Iterator[tuple[ToolCall, str | None]]:
    """Each call of a stretch with the words that it follows from, however far above they stand.

    The first call of a turn follows from what the user asked; later ones from what the agent said last, if it did.
    """
    asked: str | None = None
    is_first = True
    said: str | None = None
    for message in session.messages:
        if message.role == "user":
            words = users_words(message)
            if words is None:
                continue
            if said is not None and _ASSENT.compiled.match(words):
                is_first = False  # "Yes, go on" means what was proposed before it.
            else:
                asked, said, is_first = words, None, True
        elif message.role == "assistant" and not message.synthetic:
            if len(message.text) >= _FEWEST_CHARS and not message.summary:
                said = message.text
            if message.calls:
                words = asked if asked is not None and (is_first or said is None) else said
                is_first = False
                for call in message.calls:
                    yield call, words
                continue
        for call in message.calls:
            yield call, None


def corrections(session: Session) -> list[int]:
    """Indexes of the messages in which the user takes back what was just done."""
    return [
        index
        for index, message in enumerate(session.messages, start=session.first_message)
        if message.role == "user" and (words := users_words(message)) is not None and corrects(words)
    ]


def users_words(message: Message) -> str | None:
    """What a person said in a message of the user; None where it was a program."""
    if message.synthetic or message.summary:
        return None
    text = message.text.partition(_APPENDED)[0].strip()
    return None if not text or text.startswith(_WRAPPED) else text
