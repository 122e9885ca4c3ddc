"""Event streams are cut into events over any chunk borders, and no byte is lost or made up."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from seasoned.gateway.wire.event_stream import EventSplitter, ServerSentEvent, read_event
from tests.gateway.written import BORDERS, cut

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
    assert read_event(raw) == ServerSentEvent("told", b"{\n 1}")


def test_an_event_without_end_passes_unread_when_it_is_too_long() -> None:
    splitter = EventSplitter(limit=10)
    assert splitter.feed(b"data: 12345") == [b"data: 12345"]
    assert splitter.is_lost
    assert splitter.feed(b"\n\ndata: 1\n\n") == [b"\n\ndata: 1\n\n"]
    assert splitter.end() == b""
