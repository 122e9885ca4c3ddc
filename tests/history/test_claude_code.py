"""Claude Code files: messages spread over lines, side chains, compaction, usage counted once."""

from __future__ import annotations

import json
from pathlib import Path

from seasoned.history.formats import recognise
from seasoned.history.reader import claude_code
from seasoned.session import Marks, SessionRef, Usage
from tests.history.claude_lines import SESSION, ClaudeFile


def read_one(path: Path):
    sessions = list(claude_code.read(path))
    assert len(sessions) == 1
    return sessions[0]


def test_a_message_spread_over_lines_is_one_message_and_its_usage_counts_once(tmp_path: Path) -> None:
    file = ClaudeFile().user("list the files")
    file._assistant({"type": "thinking", "thinking": "Files first.", "signature": "s"}, "m1", 1)
    file.says("I will look.", "m1", tokens=1).calls("toolu_a", message_id="m1", tokens=7)
    file.calls("toolu_b", "Read", message_id="m1", tokens=7, file_path="a.py").result("toolu_b").result("toolu_a")
    session = read_one(file.write(tmp_path / "s.jsonl"))
    assert [message.role for message in session.messages] == ["user", "assistant", "tool", "tool"]
    assert [call.id for call in session.calls()] == ["toolu_a", "toolu_b"]
    assert session.usage == Usage(input=3, output=7, cache_read=100)
    assert session.model == "claude-test"
    assert session.cwd == "/home/mira/waypost"
    assert session.messages[1].thinking == "Files first."


def test_an_absent_flag_is_success_and_a_denial_is_the_users(tmp_path: Path) -> None:
    file = ClaudeFile().calls("t1").calls("t2").calls("t3").calls("t4")
    file.result("t1").result("t2", "Exit code 1", is_error=True).result("t3", "no", is_error=False)
    file.result("t4", "The user doesn't want to proceed", is_error=True, toolDenialKind="user-rejected")
    marks = {call.id: call.result.marks for call in read_one(file.write(tmp_path / "s.jsonl")).calls() if call.result}
    assert marks == {
        "t1": Marks(failed=False, implied=True),
        "t2": Marks(failed=True),
        "t3": Marks(failed=False),
        "t4": Marks(failed=True, declined=True),
    }


def test_a_result_far_away_finds_its_call_and_a_missing_one_stays_missing(tmp_path: Path) -> None:
    file = ClaudeFile().calls("far").calls("never")
    for number in range(300):
        file.says(f"thinking {number}")
    session = read_one(file.result("far", "at last").write(tmp_path / "s.jsonl"))
    far, never = session.calls()
    assert far.result is not None and far.result.text == "at last"
    assert never.result is None


def test_results_as_blocks_images_and_nothing(tmp_path: Path) -> None:
    file = ClaudeFile().calls("a").calls("b").calls("c")
    file.result("a", [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}])
    file.result("b", [{"type": "image", "source": {"data": "…"}}]).result("c", None)
    texts = [call.result.text for call in read_one(file.write(tmp_path / "s.jsonl")).calls() if call.result]
    assert texts == ["one\ntwo", "[image]", ""]


def test_side_chains_are_sessions_of_their_own(tmp_path: Path) -> None:
    file = ClaudeFile().user("start").calls("main")
    file.user("sub task", isSidechain=True, agentId="a1b2")
    file.says("working", isSidechain=True, agentId="a1b2")
    sessions = list(claude_code.read(file.write(tmp_path / "s.jsonl")))
    assert [session.ref.native_id for session in sessions] == [SESSION, f"{SESSION}/agent-a1b2"]
    assert sessions[1].parent == SessionRef("claude-code", SESSION)
    assert sessions[1].relation == "subagent"


def test_an_old_side_chain_without_an_id_follows_its_parents(tmp_path: Path) -> None:
    file = ClaudeFile().user("start")
    file.user("sub task", isSidechain=True, parentUuid=None)
    file.says("one", isSidechain=True)
    file.user("another sub task", isSidechain=True, parentUuid=None)
    sessions = list(claude_code.read(file.write(tmp_path / "s.jsonl")))
    assert [(session.ref.native_id, len(session.messages)) for session in sessions] == [
        (SESSION, 1),
        (f"{SESSION}/agent-u2", 2),
        (f"{SESSION}/agent-u4", 1),
    ]


def test_compaction_is_marked_before_its_summary(tmp_path: Path) -> None:
    file = ClaudeFile().user("one").says("two")
    file.other("system", subtype="compact_boundary").user("Summary: …", isCompactSummary=True).says("three")
    session = read_one(file.write(tmp_path / "s.jsonl"))
    assert session.compactions == (2,)
    assert [message.summary for message in session.messages] == [False, False, True, False]


def test_an_api_error_is_no_answer_of_the_model(tmp_path: Path) -> None:
    file = ClaudeFile().user("hello").says("API Error: 500", isApiErrorMessage=True)
    session = read_one(file.write(tmp_path / "s.jsonl"))
    assert [message.role for message in session.messages] == ["user", "system"]
    assert session.end_reason == "api_error"


def test_line_types_that_repeat_the_conversation_are_left_out(tmp_path: Path) -> None:
    file = ClaudeFile().user("hello")
    for kind in ("progress", "api-request", "api-request-blob", "attachment", "file-history-snapshot", "never-seen"):
        file.other(kind, message={"role": "user", "content": "a copy"}, data={"message": {"content": "copy"}})
    assert len(read_one(file.write(tmp_path / "s.jsonl")).messages) == 1


def test_a_warm_start_is_recognised_and_ends_at_its_boundary(tmp_path: Path) -> None:
    file = ClaudeFile().user("[seasoned:warm v1 code@3 abcd]\nFrom earlier sessions:")
    file.calls("warm_1_Bash").result("warm_1_Bash").says("That worked. [seasoned:end]")
    file.user("[WARM SESSION: old]").user("the real task").calls("toolu_real")
    session = read_one(file.write(tmp_path / "s.jsonl"))
    assert [message.synthetic for message in session.messages] == [True, True, True, True, True, False, False]
    assert [(call.id, call.synthetic) for call in session.calls()] == [("warm_1_Bash", True), ("toolu_real", False)]


def test_glued_and_cut_lines_are_read_as_far_as_they_go(tmp_path: Path) -> None:
    file = ClaudeFile().user("one").user("two").user("three").raw(b'{"type":"user","message":{"ro')
    file.lines[0:2] = [file.lines[0].rstrip(b"\n") + file.lines[1]]
    session = read_one(file.write(tmp_path / "s.jsonl"))
    assert [message.text for message in session.messages] == ["one", "two", "three"]
    assert [one.place for one in session.unreadable] == ["line 3"]
    assert "incomplete" in session.unreadable[0].reason


def test_a_result_without_a_call_is_counted_with_its_place(tmp_path: Path) -> None:
    session = read_one(ClaudeFile().user("x").result("toolu_lost").write(tmp_path / "s.jsonl"))
    assert "toolu_lost" in session.unreadable[0].reason


def test_it_is_recognised_by_content(tmp_path: Path) -> None:
    path = ClaudeFile().user("x").write(tmp_path / "anything.json")
    assert recognise(path) == "claude_code"
    summary = tmp_path / "summary.jsonl"
    summary.write_bytes(b'{"type":"summary","summary":"Old talk","leafUuid":"u1"}\n')
    assert recognise(summary) == "claude_code"


def test_a_sub_agent_that_only_passes_by_is_read_from_the_progress_lines(tmp_path: Path) -> None:
    main, passing = ClaudeFile().user("start").calls("toolu_task", "Task"), ClaudeFile()
    passing.user("look for x").calls("toolu_sub", "Grep").result("toolu_sub", "no such path", is_error=True)
    for line in passing.lines:
        inner = json.loads(line)
        data = {"type": "agent_progress", "agentId": "a9", "message": {**inner, "timestamp": "2026-03-01T11:00:00Z"}}
        main.other("progress", data=data)
    main.other("progress", data={"type": "bash_progress", "output": "…"})
    parent, sub = claude_code.read(main.result("toolu_task").write(tmp_path / "s.jsonl"))
    assert [call.id for call in parent.calls()] == ["toolu_task"]
    assert (sub.ref.native_id, sub.relation) == (f"{SESSION}/agent-a9", "subagent")
    assert [(call.id, call.result.marks.failed) for call in sub.calls() if call.result] == [("toolu_sub", True)]
