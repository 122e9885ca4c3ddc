"""What is no text in a message is not left out without a word, and never shown itself."""

from __future__ import annotations

import base64
import json
from typing import Any

from pydantic_ai.messages import (
    BinaryContent,
    FilePart,
    ImageUrl,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    UserPromptPart,
)

from seasoned.history.builder import SessionBuilder
from seasoned.history.coerce import text_of
from seasoned.history.reader.seasoned_db import read_message
from seasoned.session import SessionRef
from tests.each_case import each_case

DATA = base64.b64encode(bytes(34_100)).decode()


@each_case(
    ("part", "line"),
    [
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}},
            "[image: image/png]",
        ),
        (
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}"}},
            "[image: image/png]",
        ),
        ({"type": "input_image", "image_url": f"data:image/jpeg;base64,{DATA}"}, "[image: image/jpeg]"),
        ({"inlineData": {"mimeType": "application/pdf", "data": DATA}}, "[file: application/pdf]"),
        ({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}, "[audio]"),
        ({"type": "image_url", "image_url": {"url": "https://example.com/a.png?key=1"}}, "[image]"),
        ({"type": "image", "source": {"type": "base64", "data": "(taken out)"}}, "[image]"),
        ({"type": "image", "source": {"media_type": "<b>\u202e", "data": None}}, "[image]"),
        ({"type": "search_result"}, "[search_result]"),
    ],
)
def test_kind_and_media_type_are_said_as_far_as_they_are_known(part: dict[str, Any], line: str) -> None:
    assert text_of([{"type": "text", "text": "Look"}, part]) == f"Look\n{line}"


def test_what_the_agent_library_recorded_of_pictures_is_a_line_too() -> None:
    picture = BinaryContent(bytes(68), media_type="image/png")
    prompt = UserPromptPart(content=["Look", picture, ImageUrl(url="https://example.com/a.webp")])
    said = [ModelRequest(parts=[prompt]), ModelResponse(parts=[TextPart("Here:"), FilePart(picture)])]
    builder = SessionBuilder(SessionRef("seasoned", "s"), format="seasoned", path="")
    for place, body in enumerate(json.loads(ModelMessagesTypeAdapter.dump_json(said))):
        read_message(builder, body, place=place)
    assert [one.text for one in builder.take().messages] == [
        "Look\n[image: image/png]\n[image: image/webp]",
        "Here:\n[image: image/png]",
    ]
