"""Lines, grown files, placeholders and facts that several readers share."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
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

from seasoned.errors import SourceError
from seasoned.history.builder import SessionBuilder
from seasoned.history.coerce import text_of
from seasoned.history.incremental import LONGEST_LINE, Resume, read_stretches
from seasoned.history.json_file import JsonLine, decode, json_lines, split_objects
from seasoned.history.read import read
from seasoned.history.reader import claude_code, codex
from seasoned.history.reader.seasoned_db import cost_of, read_message
from seasoned.history.resume import resume_command
from seasoned.session import SessionRef
from tests.each_case import each_case
from tests.history.claude_lines import ClaudeFile, story
from tests.history.codex_lines import codex_story


def test_places_are_byte_offsets_and_blank_lines_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a":"\xc3\xa9"}\n\n  \r\n{"b":2}\r\n{"c":3}')
    assert list(json_lines(path)) == [
        JsonLine(0, 1, b'{"a":"\xc3\xa9"}\n'),
        JsonLine(16, 4, b'{"b":2}\r\n'),
        JsonLine(25, 5, b'{"c":3}'),
    ]
    assert list(json_lines(path, 25)) == [JsonLine(25, 1, b'{"c":3}')]


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a":1}\n')
    assert list(json_lines(path)) == [JsonLine(3, 1, b'{"a":1}\n')]


def test_what_cannot_be_opened_is_a_source_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot be read"):
        list(json_lines(tmp_path / "missing.jsonl"))
    with pytest.raises(SourceError, match="cannot be read"):
        list(json_lines(tmp_path))


@each_case(
    ("line", "pieces"),
    [
        (b'{"a":1}\n', [b'{"a":1}']),
        (b'{"a":1}{"b":2}\n', [b'{"a":1}', b'{"b":2}']),
        (b'{"a":"}{"} {"b":2} \n', [b'{"a":"}{"}', b'{"b":2}']),
        (b'{"a":1}{"b":', [b'{"a":1}', b'{"b":']),
        (b"nonsense\n", [b"nonsense"]),
        (b"\n", []),
        # A line that was cut, and the next one written right behind it.
        (b'{"type":"a","x":[{"type":"n"},{"ty{"type":"b"}\n', [b'{"type":"a","x":[{"type":"n"},{"ty', b'{"type":"b"}']),
        (b'{"a":"\xff"}{"b":2}', [b'{"a":"\xff"}', b'{"b":2}']),
    ],
)
def test_glued_objects_come_apart(line: bytes, pieces: list[bytes]) -> None:
    assert split_objects(line) == pieces


def test_broken_characters_are_replaced_and_the_record_is_kept() -> None:
    assert decode(rb'{"a":"\ud83d\ude00 \ud800 \\ud800 \udc00"}') == {"a": "😀 � \\ud800 �"}
    assert decode(b'{"a":"\xff"}') == {"a": "�"}
    assert decode(b'{"a":NaN,"b":[-Infinity,1e999]}') == {"a": None, "b": [None, None]}
    assert decode(b'{"a":"x\x00y"}') == {"a": "x\x00y"}


@each_case("data", [b"", b'{"a":', b"[" * 100_000, b'{"a":' * 100_000, b"1" * 5000, b"\xff"])
def test_what_is_no_json_says_so(data: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode(data)


FORMATS = {"claude-code": claude_code, "codex": codex}


def collect(path: Path, cuts: list[int], module) -> dict[str, object]:
    """Read a file that grows to each of the cuts in turn, each time by another reader."""
    data = path.read_bytes()
    resume, calls, last, folders = None, {}, {}, {}
    for cut in [*cuts, len(data)]:
        path.write_bytes(data[:cut])
        for stretch in module.read_on(path, resume):
            resume = msgspec.json.decode(msgspec.json.encode(stretch.resume), type=Resume)
            for session in stretch.sessions:
                for call in [*session.calls(), *session.late]:
                    calls[session.ref, call.id] = (call.index, call.message, call.tool, call.result, call.synthetic)
                last[session.ref] = (session.message_count, session.usage, session.compactions)
                # As the store keeps it: what one stretch says, the next need not say again.
                folders[session.ref] = folders.get(session.ref) or session.cwd
    return {"calls": calls, "last": last, "folders": folders}


@pytest.mark.parametrize("name", sorted(FORMATS))
@given(data=st.data())
def test_growing_at_any_line_gives_what_one_reading_gives(name: str, data: st.DataObject, tmp_path_factory) -> None:
    module = FORMATS[name]
    lines = story() if module is claude_code else codex_story()
    ends = [sum(map(len, lines[: number + 1])) for number in range(len(lines))]
    cuts = sorted(data.draw(st.sets(st.sampled_from(ends[:-1]), max_size=6)))
    path = tmp_path_factory.mktemp("grow") / "s.jsonl"
    path.write_bytes(b"".join(lines))
    whole = collect(path, [], module)
    assert collect(path, cuts, module) == whole


@given(cut=st.integers(min_value=1, max_value=1500))
def test_a_file_cut_inside_a_line_is_completed_later(cut: int, tmp_path_factory) -> None:
    path = tmp_path_factory.mktemp("grow") / "s.jsonl"
    path.write_bytes(b"".join(story()))
    whole = collect(path, [], claude_code)
    assert collect(path, [cut], claude_code) == whole


def test_stretches_keep_memory_small_and_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"".join(story()))
    reader = claude_code._ClaudeCodeReader
    small = list(read_stretches(path, reader, stretch_bytes=500))
    assert len(small) > 5
    whole = next(iter(read_stretches(path, reader)))
    assert sum(len(s.messages) for part in small for s in part.sessions) == sum(len(s.messages) for s in whole.sessions)


def test_an_exec_session_gets_the_code_that_a_later_call_saw(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(b"".join(codex_story()))
    (session,) = codex.read(path)
    codes = {call.id: call.result.marks.exit_code for call in session.calls() if call.result}
    assert codes == {"c1": 2, "c2": 0, "c3": 2}


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


def lines(*records: dict[str, Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


CODEX = lines(
    {
        "timestamp": "2026-05-01T10:00:00Z",
        "type": "session_meta",
        "payload": {
            "id": "0199aaaa-0000-7000-8000-000000000001",
            "cwd": "/Users/ann/shop",
            "git": {"branch": "main", "repository_url": "git@github.com:acme/shop.git"},
        },
    },
    {
        "timestamp": "2026-05-01T10:00:01Z",
        "type": "response_item",
        "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]},
    },
)
COPILOT = lines(
    {
        "type": "session.start",
        "id": "1",
        "timestamp": "2026-05-01T10:00:00Z",
        "data": {
            "sessionId": "s1",
            "context": {"cwd": "/Users/ann/shop", "repository": "acme/shop", "repositoryHost": "github.com"},
        },
    },
    {"type": "user.message", "id": "2", "timestamp": "2026-05-01T10:00:01Z", "data": {"content": "hello"}},
)


@pytest.mark.parametrize(
    ("text", "remote"),
    [
        (CODEX, "git@github.com:acme/shop.git"),
        (CODEX.replace('"repository_url"', '"other"'), None),
        (CODEX.replace('{"branch": "main", "repository_url": "git@github.com:acme/shop.git"}', "null"), None),
        (COPILOT, "https://github.com/acme/shop"),
        (COPILOT.replace('"repositoryHost"', '"other"'), None),
    ],
)
def test_the_remote_that_a_history_recorded_is_kept(text: str, remote: str | None, tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text(text)
    (session,) = read(tmp_path / "one.jsonl")
    assert (session.cwd, session.remote) == ("/Users/ann/shop", remote)


def spans(service: str) -> str:
    attribute = {"key": "gen_ai.conversation.id", "value": {"stringValue": "c1"}}
    told = {"key": "gen_ai.prompt.0.content", "value": {"stringValue": "hello"}}
    span = {"traceId": "t1", "name": "chat", "attributes": [attribute, told]}
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]}
    return json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": [span]}]}]})


MESSAGES = {"messages": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]}


@pytest.mark.parametrize(
    ("text", "application"),
    [
        (spans("support-bot"), "support-bot"),
        (spans("unknown_service:python"), None),
        (json.dumps({**MESSAGES, "application": "support-bot"}), "support-bot"),
        (json.dumps(MESSAGES), None),
        (json.dumps({**MESSAGES, "session_id": "h1", "platform": "telegram"}), "hermes"),
    ],
)
def test_the_application_that_a_log_names_is_kept(text: str, application: str | None, tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text(text + "\n")
    (session,) = read(tmp_path / "one.jsonl")
    assert (session.cwd, session.application) == (None, application)


def test_the_command_of_each_agent() -> None:
    one = "0198c1de-1111-7222-8333-444455556666"
    for agent, folder, command in (
        ("claude-code", "/home/mira/my app", f"cd '/home/mira/my app' && claude --resume {one}"),
        ("codex", None, f"codex resume {one}"),
        ("hermes", "/srv", f"hermes --resume {one}"),
        ("openai-log", "/srv", None),
    ):
        assert resume_command(agent, one, folder) == command, agent


def test_what_a_terminal_would_misunderstand_is_not_offered() -> None:
    for native_id in ("x; rm -rf ~", "--dangerously", "a b c d", "$(id)xx", "1234/agent-5", "", "a\n1234"):
        assert resume_command("claude-code", native_id, None) is None, native_id
    assert resume_command("codex", "12345678", "/srv/\x1b]0;x\x07\nrm") is None
    assert resume_command("codex", "12345678", "/srv/$(id)'") == "cd '/srv/$(id)'\"'\"'' && codex resume 12345678"


def test_a_line_that_is_too_long_is_passed_over_and_said(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    said = ClaudeFile().user("Go on.").lines[0]
    path.write_bytes(said + b'{"type":"user","message":"' + b"x" * LONGEST_LINE + b'"}\n' + said)
    stretches = list(claude_code.read_on(path))
    assert [one.place for stretch in stretches for one in stretch.unreadable] == ["line 2"]
    assert sum(len(session.messages) for stretch in stretches for session in stretch.sessions) == 2
    assert stretches[-1].resume.offset == path.stat().st_size


TOKENS = {"input_tokens": 1000, "output_tokens": 100}


def test_a_request_without_a_named_cost_is_priced_by_model_and_provider() -> None:
    body = {"usage": TOKENS, "model_name": "gpt-4o", "provider_url": "https://api.openai.com/v1"}
    assert cost_of(body) == pytest.approx(0.0035)


def test_a_cost_that_the_provider_names_wins() -> None:
    body = {"usage": {**TOKENS, "cost": "0.5"}, "model_name": "gpt-4o", "provider_url": "https://api.openai.com/v1"}
    assert cost_of(body) == 0.5


@pytest.mark.parametrize("address", [None, "http://127.0.0.1:8080/v1"])
def test_a_model_on_this_machine_has_no_price_whatever_its_name(address: str | None) -> None:
    assert cost_of({"usage": TOKENS, "model_name": "gpt-4o", "provider_url": address}) is None
