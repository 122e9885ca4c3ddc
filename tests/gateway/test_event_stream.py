"""Event streams of all three APIs pass byte for byte over any chunk borders, and so does what is not understood."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from seasoned.gateway.wire import anthropic, chat, responses
from seasoned.gateway.wire.event_stream import EventSplitter, event_data
from tests.conftest import examples
from tests.each_case import each_case
from tests.gateway import test_anthropic, test_chat, test_responses
from tests.gateway.written import BORDERS, cut, events_like, sse

STREAMS = st.lists(
    st.sampled_from(
        [b"data: a", b"data:", b"event: b", b":", b"\r", b"\n", b"\r\n", b"\n\n", b"\r\n\r\n", b"\xff", b"x"]
    )
).map(b"".join)


def _split(chunks: list[bytes]) -> list[bytes]:
    splitter = EventSplitter()
    events = [event for chunk in chunks for event in splitter.feed(chunk)]
    return [*events, splitter.end()]


@settings(max_examples=60, deadline=None)
@given(STREAMS | st.binary(), BORDERS)
def test_the_events_together_are_the_stream(data: bytes, borders: list[int]) -> None:
    assert b"".join(_split(cut(data, borders))) == data


def test_an_event_comes_as_soon_as_its_blank_line_has_come() -> None:
    splitter = EventSplitter()
    assert splitter.feed(b"data: a\n") == []
    assert splitter.feed(b"\ndata: b\r\n\r") == [b"data: a\n\n"]
    assert splitter.feed(b"\ndata: c") == [b"data: b\r\n\r\n"]
    assert splitter.end() == b"data: c"


def test_data_of_several_lines_is_joined_and_comments_are_left_out() -> None:
    raw = b"\xef\xbb\xbf: hello\r\nevent: told\r\nid: 7\r\ndata: {\r\ndata:  1}\r\n\r\n"
    assert event_data(raw) == b"{\n 1}"


def test_an_event_without_end_passes_unread_when_it_is_too_long() -> None:
    splitter = EventSplitter(limit=10)
    assert splitter.feed(b"data: 12345") == [b"data: 12345"]
    assert splitter.is_lost
    assert splitter.feed(b"\n\ndata: 1\n\n") == [b"\n\ndata: 1\n\n"]
    assert splitter.end() == b""


EVENTS = [
    (module, test.TURN, test.BROKEN, test.FIELDS)  # type: ignore[attr-defined]
    for module, test in ((chat, test_chat), (anthropic, test_anthropic), (responses, test_responses))
]


@settings(max_examples=examples(150), deadline=None)
@given(st.data(), BORDERS, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans())
def test_every_stream_passes_byte_for_byte(data: st.DataObject, borders: list[int], end: str, cut_short: bool) -> None:
    module, *kinds = data.draw(st.sampled_from(EVENTS))
    sent = b": ping" + end.encode() * 2 + sse(*data.draw(events_like(*kinds)), end=end)
    chunks = cut(sent[: len(sent) * 2 // 3] if cut_short else sent, borders)
    reader = module.open_stream()
    assert [reader.feed(one) for one in chunks] == chunks
    assert reader.end() == b""
    assert reader.answer() == reader.answer()


@each_case("module", [chat, responses, anthropic])
def test_a_request_that_is_not_understood_is_left_alone(module: Any) -> None:
    for body in (b"", b"[]", b"{", b'{"model":"m"}', b'{"model":"m","messages":7,"input":7}', b"[" * 5000):
        assert module.read_request(body) is None
        assert module.insert_block(body, b"[{}]") == body
        assert chat.ask_for_usage(body) is None
