"""Codex rollouts: four shapes of a result, events beside them, old flat files, forks and sub-agents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seasoned.history.formats import recognise
from seasoned.history.reader import codex
from seasoned.session import Marks, Session, SessionRef, Usage
from tests.each_case import each_case
from tests.history.codex_lines import SESSION, CodexFile


def read_one(file: CodexFile, path: Path) -> Session:
    (session,) = codex.read(file.write(path / "rollout.jsonl"))
    return session


@each_case(
    ("output", "marks"),
    [
        ("Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code 3\nOutput:\noops", Marks(exit_code=3)),
        (json.dumps({"output": "hi", "metadata": {"exit_code": 1, "duration_seconds": 0.1}}), Marks(exit_code=1)),
        ("Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:", Marks(exit_code=0)),
        ("Plan updated", Marks()),
        ("Process running with session ID 12\nOutput:\n", Marks(running=True)),
        ("a log that says\nfar below the header" + "." * 500 + "\nProcess exited with code 9", Marks()),
    ],
)
def test_the_exit_code_is_read_from_each_shape_of_a_result(output: str, marks: Marks, tmp_path: Path) -> None:
    session = read_one(CodexFile().meta().call("c1").output("c1", output), tmp_path)
    (call,) = session.calls()
    assert call.result is not None
    assert (call.result.text, call.result.marks) == (output, marks)


def test_code_mode_tells_its_code_inside_a_list_of_parts(tmp_path: Path) -> None:
    parts = [
        {"type": "input_text", "text": "Script completed\nOutput:\n"},
        {"type": "input_text", "text": json.dumps({"chunk_id": "x", "exit_code": 4, "output": "no"})},
    ]
    file = CodexFile().meta().item(type="custom_tool_call", name="exec", input="await tools.x()", call_id="c1")
    session = read_one(file.item(type="custom_tool_call_output", call_id="c1", output=parts), tmp_path)
    (call,) = session.calls()
    assert call.arguments == {"input": "await tools.x()"}
    assert call.result is not None and call.result.marks == Marks(exit_code=4)


@pytest.mark.parametrize("before", [True, False])
def test_events_say_what_the_text_does_not(before: bool, tmp_path: Path) -> None:
    file = CodexFile().meta().call("p1", "apply_patch").call("m1", "recall").call("x1")
    events = [
        {"type": "patch_apply_end", "call_id": "p1", "success": False},
        {"type": "mcp_tool_call_end", "call_id": "m1", "result": {"Ok": {"content": [], "isError": True}}},
        {
            "type": "item_completed",
            "item": {"type": "CommandExecution", "id": "x1", "status": "failed", "exit_code": 7},
        },
    ]
    for event in events if before else ():
        file.event(**event)
    for call_id in ("p1", "m1", "x1"):
        file.output(call_id, "some text")
    for event in () if before else events:
        file.event(**event)
    marks = [call.result.marks for call in read_one(file, tmp_path).calls() if call.result]
    assert marks == [Marks(failed=True), Marks(failed=True), Marks(exit_code=7)]


def test_usage_is_the_running_total_without_what_came_from_the_cache(tmp_path: Path) -> None:
    session = read_one(CodexFile().meta().user("x").tokens(10).tokens(25), tmp_path)
    assert session.usage == Usage(input=21, output=1, cache_read=4, reasoning=0)


def test_forks_and_sub_agents_name_their_parent(tmp_path: Path) -> None:
    fork = read_one(CodexFile().meta(forked_from_id="older").user("x"), tmp_path)
    assert (fork.parent, fork.relation) == (SessionRef("codex", "older"), "fork")
    sub = read_one(CodexFile().meta(parent_thread_id="main").user("x"), tmp_path)
    assert (sub.parent, sub.relation) == (SessionRef("codex", "main"), "subagent")
    # As Codex 0.125 wrote it.
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "main", "depth": 1, "agent_nickname": "Hypatia"}}}
    older = read_one(CodexFile().meta(source=source).user("x"), tmp_path)
    assert (older.parent, older.relation) == (SessionRef("codex", "main"), "subagent")
    assert read_one(CodexFile().meta(source="vscode").user("x"), tmp_path).relation is None


def test_compaction_and_the_harness_texts(tmp_path: Path) -> None:
    file = CodexFile().meta().user("<environment_context>…").user("the task").says("done")
    session = read_one(file.line("compacted", {"message": "what was said"}).says("more"), tmp_path)
    assert [message.role for message in session.messages] == ["system", "user", "assistant", "user", "assistant"]
    assert session.compactions == (3,)
    assert session.messages[3].summary


def test_calls_after_a_result_belong_to_a_new_message(tmp_path: Path) -> None:
    file = (
        CodexFile().meta().user("go").call("a").call("b").output("a", "x").output("b", "y").call("c").output("c", "z")
    )
    session = read_one(file, tmp_path)
    assert [(message.role, len(message.calls)) for message in session.messages] == [
        ("user", 0),
        ("assistant", 2),
        ("tool", 0),
        ("tool", 0),
        ("assistant", 1),
        ("tool", 0),
    ]


def test_an_old_flat_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rollout-2025-05-01.jsonl"
    lines = [
        {"id": SESSION, "timestamp": "2025-05-01T10:00:00Z", "instructions": None},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "function_call", "name": "shell", "arguments": '{"command":["ls"]}', "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1", "output": '{"output":"a","metadata":{"exit_code":0}}'},
    ]
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")
    assert recognise(path) == "codex"
    (session,) = codex.read(path)
    assert session.ref.native_id == SESSION
    assert [(call.tool, call.arguments, call.result.marks.exit_code) for call in session.calls() if call.result] == [
        ("shell", {"command": ["ls"]}, 0)
    ]


def test_an_aborted_turn_and_an_error_are_told(tmp_path: Path) -> None:
    assert read_one(CodexFile().meta().user("x").event(type="turn_aborted"), tmp_path).end_reason == "interrupted"
    failed = CodexFile().meta().user("x").event(type="task_complete", error={"message": "401"})
    assert read_one(failed, tmp_path).end_reason == "error"


def test_what_a_model_thought_is_kept_with_what_it_did_next(tmp_path: Path) -> None:
    def thinks(file: CodexFile, text: str) -> CodexFile:
        return file.item(type="reasoning", summary=[{"type": "summary_text", "text": text}], encrypted_content="x")

    file = thinks(thinks(CodexFile().meta().user("go"), "Look first.").says("I look."), "Then list.").call("c1")
    session = read_one(thinks(file.output("c1", "a"), "Again.").call("c2"), tmp_path)
    thoughts = [(one.text, one.thinking) for one in session.messages if one.role == "assistant"]
    assert thoughts == [("I look.", "Look first.\n\nThen list."), ("", "Again.")]
