"""A session as one line of chat messages in OpenAI's form, as training and evaluation programs read them."""

from __future__ import annotations

from typing import Any

import msgspec

from seasoned.history.writer.atif import Verdicts, known
from seasoned.session import Message, Session


def conversation(session: Session, verdicts: Verdicts) -> dict[str, Any]:
    """The session as a record with `messages`, without what a warm start inserted; `outcomes` judges its calls."""
    about = {"session_id": session.ref.native_id, "agent": session.ref.agent, "model": session.model}
    own = [_message(message) for message in session.messages if not message.synthetic]
    outcomes = {call_id: verdict for call_id, (verdict, _) in verdicts.items()}
    return known({**about, "title": session.title, "cwd": session.cwd, "messages": own, "outcomes": outcomes})


def _message(message: Message) -> dict[str, Any]:
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.tool, "arguments": msgspec.json.encode(call.arguments).decode()},
        }
        for call in message.calls
        if not call.synthetic
    ]
    return known(
        {
            "role": message.role,
            "content": message.text,
            "tool_calls": calls,
            "tool_call_id": message.answers,
            "timestamp": message.time,
        }
    )
