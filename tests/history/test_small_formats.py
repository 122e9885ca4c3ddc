"""The smaller formats: what each says of calls and their failures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seasoned.history.formats import ORDER, named, take_sample
from seasoned.history.read import read as read_path
from seasoned.session import Marks, Message, Result, SessionRef, ToolCall, Unreadable, Usage
from tests.each_case import each_case
from tests.history.small_formats import (
    ANTHROPIC,
    COPILOT,
    FIXTURES,
    MINI_TEXT,
    OPENHANDS,
    SHAREGPT,
    copilot_event,
    document,
    lines,
    read,
    write,
)
from tests.history.terminal_agents import PI


def test_steps_are_calls_without_a_label(tmp_path: Path) -> None:
    (session,) = read(tmp_path, "swe-agent")
    opened = Result("[File: setup.py (9 lines total)]")
    assert session.ref == SessionRef("swe-agent", "task")
    assert list(session.calls()) == [
        ToolCall("step_0", "open", {"command": "open setup.py\n"}, opened, 0, 2, place=0),
        ToolCall("step_1", "bash", {"command": "python -m pytest"}, Result("1 failed"), 1, 4, place=1),
        ToolCall("step_2", "submit", {"command": "submit"}, Result(""), 2, 6, place=2),
    ]
    assert session.messages[:2] == (Message("system", "SETTING: a shell."), Message("user", "Fix the test.", place=2))
    assert (session.cwd, session.end_reason, session.succeeded) == ("/repo", "submitted", True)
    assert (session.usage, session.cost_usd) == (Usage(input=1000, output=50), 0.5)


def test_a_history_without_steps_is_read_in_their_stead(tmp_path: Path) -> None:
    (session,) = read(tmp_path, "swe-agent history")
    found = ToolCall("call_f", "find_file", {"command": "find_file a.py"}, Result("Found 1 match"), 0, 2, place=2)
    assert list(session.calls()) == [found]
    assert session.succeeded is None


def test_commands_in_the_text_are_calls_with_their_code(tmp_path: Path) -> None:
    (session,) = read(tmp_path, "mini-swe-agent text")
    assert session.ref == SessionRef("mini-swe-agent", "a")
    outputs = [MINI_TEXT[index]["content"] for index in (3, 7, 9)]
    assert list(session.calls()) == [
        ToolCall("step_2", "bash", {"command": "ls -la"}, Result(outputs[0], Marks(exit_code=0)), 0, 2, place=2),
        ToolCall("step_6", "bash", {"command": "pytest -q"}, Result(outputs[1], Marks(exit_code=1)), 1, 6, place=6),
        ToolCall(
            "step_8", "bash", {"command": "rm -rf build"}, Result(outputs[2], Marks(declined=True)), 2, 8, place=8
        ),
    ]
    # Two blocks in one answer are refused: nothing ran, and the refusal is a word to the model.
    assert session.messages[5].role == "user"


def test_tool_calls_of_newer_versions(tmp_path: Path) -> None:
    (session,) = read(tmp_path, "mini-swe-agent tools")
    result = Result("<returncode>2</returncode>\n<output>\nno\n</output>", Marks(exit_code=2))
    assert list(session.calls()) == [ToolCall("call_1", "bash", {"command": "ls"}, result, 0, 2, place=2)]
    assert (session.end_reason, session.succeeded, session.cost_usd) == ("Submitted", True, 0.05)
    assert (session.model, session.cwd, session.usage) == ("m-1", "/testbed", Usage(input=90, output=9))


@pytest.mark.parametrize("name", ["managed", "managed wrapped"])
def test_flags_refusals_and_interruptions(name: str, tmp_path: Path) -> None:
    (session,) = read(tmp_path, name)
    assert session.ref == SessionRef("claude-managed", "events")
    assert [(c.id, c.tool, c.arguments, c.result and (c.result.text, c.result.marks)) for c in session.calls()] == [
        ("t1", "bash", {"command": "make"}, ("ok", Marks(failed=False))),
        ("t2", "bash", {"command": "rm"}, ("No.", Marks(declined=True))),
        ("t3", "bash", {"command": "sleep"}, ("", Marks(interrupted=True))),
    ]
    assert [message.text for message in session.messages] == ["Build.", "I build.", "ok", "", "No.", ""]
    assert session.usage == Usage(input=9, output=3)
    assert session.unreadable == ()


def test_a_result_after_an_interrupt_says_how_it_ended(tmp_path: Path) -> None:
    uses = [{"type": "agent.mcp_tool_use", "id": key, "name": "x", "input": {}} for key in ("a", "b")]
    ends = [
        {"type": "agent.mcp_tool_result", "mcp_tool_use_id": "a", "content": "cancelled", "is_error": True},
        {"type": "agent.mcp_tool_result", "mcp_tool_use_id": "b", "content": "fine", "is_error": False},
    ]
    (session,) = read(tmp_path, "managed", lines(*uses, {"type": "user.interrupt"}, *ends))
    assert [c.result and c.result.marks for c in session.calls()] == [
        Marks(failed=True, interrupted=True),
        Marks(failed=False),
    ]


_NO = "The user rejected this tool call."


def at(second: int) -> float:
    return 1769904000.0 + second


def test_a_call_is_asked_for_started_and_ended_once(tmp_path: Path) -> None:
    (session,) = read(tmp_path, "copilot")
    passed = Result("2 passed", Marks(failed=False), at(4))
    refused = Result(_NO, Marks(failed=True, declined=True), at(5))
    missing = Result("Path does not exist", Marks(failed=True), at(7))
    places = [message.place for message in session.messages]
    assert session.ref == SessionRef("copilot", "cop-1")
    assert list(session.calls()) == [
        ToolCall("t1", "bash", {"command": "pytest"}, passed, 0, 1, at(2), places[1]),
        ToolCall("t2", "bash", {"command": "rm"}, refused, 1, 1, at(2), places[1]),
        ToolCall("t3", "view", {"path": "/x"}, missing, 2, 4, at(6), places[4]),
    ]
    assert (session.cwd, session.started, session.ended) == ("/w", at(0), at(8))
    assert session.unreadable == ()


def test_a_file_named_like_all_others_takes_the_name_of_its_folder(tmp_path: Path) -> None:
    (session,) = read(tmp_path, "copilot", lines(*COPILOT[1:]))
    assert session.ref == SessionRef("copilot", tmp_path.name)


def test_a_call_under_way_at_an_abort_was_interrupted(tmp_path: Path) -> None:
    events = [
        copilot_event("tool.execution_start", 1, toolCallId="t1", toolName="bash", arguments={}),
        copilot_event("abort", 2, reason="user"),
    ]
    (session,) = read(tmp_path, "copilot", lines(*events))
    assert [c.result for c in session.calls()] == [Result("", Marks(interrupted=True))]


def test_calls_take_the_id_that_their_result_names(tmp_path: Path) -> None:
    first, second = read(tmp_path, "sharegpt")
    assert (first.ref, second.ref) == (SessionRef("hermes", "trajectories/0"), SessionRef("sharegpt", "trajectories/1"))
    clock = ToolCall("call_c", "clock", {"tz": "UTC"}, Result("noon"), 0, 2, place=2)
    again = ToolCall("made_1", "clock", {}, Result("plain text"), 1, 4, place=4)
    assert first.messages == (
        Message("system", "Call functions.", place=0),
        Message("user", "Time?", place=1),
        Message("assistant", "I ask.", (clock,), place=2),
        Message("tool", "noon", place=3, answers="call_c"),
        Message("assistant", "Again.", (again,), place=4),
        Message("tool", "plain text", place=5, answers="made_1"),
        Message("assistant", "Noon.", place=6),
    )
    assert (first.model, first.end_reason, first.started) == ("hermes-4", "completed", 1767225600.0)
    assert (first.unreadable, second.unreadable) == ((), ())


def test_a_call_that_is_no_json_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    value = '<tool_call>{"name": "a"</tool_call><tool_call>{"name": "b", "arguments": "{\\"n\\": 1}"}</tool_call>'
    turns = [{"from": "gpt", "value": value}, {"from": "tool", "value": '{"ok": true}'}, {"value": "who?"}]
    (session,) = read(tmp_path, "sharegpt", lines({"conversations": turns}, {"conversations": 3}))
    assert [(c.tool, c.arguments, c.result) for c in session.calls()] == [("b", {"n": 1}, Result('{"ok": true}'))]
    assert session.unreadable == (
        Unreadable("line 1, turn 0", "a tool call that is not JSON: Input data was truncated"),
        Unreadable("line 1, turn 2", "a turn without a speaker"),
        Unreadable("line 2", "a number where a conversation should be"),
    )


def test_a_result_that_is_an_object_stays_json(tmp_path: Path) -> None:
    response = '<tool_response>{"tool_call_id": "x1", "name": "clock", "content": {"exit_code": 0}}</tool_response>'
    turns = [SHAREGPT["conversations"][2], {"from": "tool", "value": response}]
    (session,) = read(tmp_path, "sharegpt", lines({"conversations": turns}))
    assert [(c.id, c.result) for c in session.calls()] == [("x1", Result('{"exit_code":0}'))]


@pytest.mark.parametrize("name", ["openhands", "openhands lines"])
def test_actions_are_calls_and_observations_results(name: str, tmp_path: Path) -> None:
    (session,) = read(tmp_path, name)
    assert [(c.id, c.tool, c.arguments, c.result and (c.result.text, c.result.marks)) for c in session.calls()] == [
        # The model's own arguments are kept where its answer is.
        ("toolu_9", "execute_bash", {"command": "pytest -q"}, ("1 failed", Marks(exit_code=1))),
        ("event_3", "edit", {"path": "a.py"}, ("No match", Marks(failed=True))),
        ("event_5", "run", {"command": "rm -rf /"}, ("Rejected", Marks(declined=True))),
    ]
    assert [m.role for m in session.messages] == ["user", "assistant", "tool", "assistant", "tool", "assistant", "tool"]
    assert (session.model, session.usage) == ("m-3", Usage(input=50, output=5))
    assert session.unreadable == ()


def test_a_record_with_its_history_is_a_session(tmp_path: Path) -> None:
    (session,) = read(tmp_path, "openhands record")
    assert session.ref == SessionRef("openhands", "output/django-1")
    assert [c.id for c in session.calls()] == ["toolu_9", "event_3"]
    assert (session.succeeded, session.cost_usd) == (False, 0.75)


def test_events_of_the_new_kind(tmp_path: Path) -> None:
    (session,) = read(tmp_path, "openhands new")
    made = ToolCall("n1", "terminal", {"command": "ls"}, Result("none", Marks(failed=True, exit_code=2)), 0, 1)
    places = [message.place for message in session.messages]
    assert session.messages[0] == Message("user", "Go.")
    assert list(session.calls()) == [ToolCall(made.id, made.tool, made.arguments, made.result, 0, 1, None, places[1])]


def test_a_command_that_still_runs_and_an_event_of_no_kind(tmp_path: Path) -> None:
    running = {**OPENHANDS[2], "extras": {"metadata": {"exit_code": -1}}}
    (session,) = read(tmp_path, "openhands lines", lines(OPENHANDS[1], running, {"id": 9}, 3))
    assert [c.result and c.result.marks for c in session.calls()] == [Marks(running=True)]
    assert session.unreadable == (
        Unreadable("line 3", "an event that is neither an action nor an observation"),
        Unreadable("line 4", "a number where an event should be"),
    )


def test_every_run_is_a_session_with_its_reward(tmp_path: Path) -> None:
    sessions = read(tmp_path, "tau-bench")
    assert [session.ref for session in sessions] == [
        SessionRef("tau-bench", "run/3.0"),
        SessionRef("tau-bench", "run/3.1"),
        SessionRef("tau-bench", "run/4.0"),
    ]
    assert [session.succeeded for session in sessions] == [True, False, False]
    assert [session.end_reason for session in sessions] == [None, None, "error"]
    assert [len(session.messages) for session in sessions] == [6, 8, 0]
    assert [result.marks for s in sessions for c in s.calls() if (result := c.result)] == [Marks()] * 4


def test_calls_are_read_out_of_react_text(tmp_path: Path) -> None:
    run = read(tmp_path, "tau-bench")[1]
    find = ToolCall("react_0", "find_user", {"n": "Ada"}, Result("Error: user not found"), 0, 2, place=2)
    think = ToolCall("react_1", "think", {"thought": "Eve"}, Result(""), 1, 6, place=6)
    assert list(run.calls()) == [find, think]
    assert run.messages[3:6] == (
        Message("tool", "Error: user not found", place=3, answers="react_0"),
        Message("assistant", 'I ask.\nAction: {"name": "respond", "arguments": {"content": "?"}}', place=4),
        Message("user", "Try Eve.", place=5),
    )


def test_an_output_answers_the_action_before_it_and_no_older_one(tmp_path: Path) -> None:
    turns = [
        {"role": "assistant", "content": 'Action: {"name": "a", "arguments": {}}'},
        {"role": "user", "content": "Stop that."},
        {"role": "assistant", "content": 'Action: {"name": "b", "arguments": {}}'},
        {"role": "user", "content": "API output: b was run"},
    ]
    (run,) = read(tmp_path, "tau-bench", document([{"task_id": 1, "reward": 0.5, "traj": turns}]))
    assert [(c.tool, c.result) for c in run.calls()] == [("a", None), ("b", Result("b was run"))]
    assert run.succeeded is False


def test_an_action_with_words_behind_it_was_never_run(tmp_path: Path) -> None:
    turns = [
        {"role": "assistant", "content": 'Action: {"name": "a", "arguments": {}}\nAnything else?'},
        {"role": "user", "content": "No."},
    ]
    (run,) = read(tmp_path, "tau-bench", document([{"task_id": 1, "reward": 1.0, "traj": turns}]))
    assert list(run.calls()) == []


_CALLED = 1768075227.5


def made(call_id: str, tool: str, index: int, text: str, marks: Marks, place: int = 1) -> ToolCall:
    result = Result(text, marks, _CALLED)
    return ToolCall(call_id, tool, {"file_path": "a.txt"}, result, index, 1, _CALLED, place)


def test_a_status_is_the_label_of_a_call(tmp_path: Path) -> None:
    (session,) = read(tmp_path, "gemini")
    assert session.ref == SessionRef("gemini", "gem-1")
    assert list(session.calls()) == [
        made("w1", "write_file", 0, "written", Marks(failed=False)),
        made("r1", "read_file", 1, "File not found", Marks(failed=True)),
        made("x1", "run", 2, "[Operation Cancelled] User did not allow tool call", Marks(declined=True)),
        made("x2", "run", 3, "[Operation Cancelled] User cancelled the operation.", Marks(interrupted=True)),
        ToolCall("x3", "run", {}, None, 4, 1, 1768075227.0, 1),
    ]
    assert session.messages[0] == Message("user", "write a.txt", time=1768075221.0)
    assert [message.role for message in session.messages] == ["user", "assistant", "tool", "tool", "tool", "tool"]
    # The prompt counts what came from the cache, and the output leaves out the thoughts.
    assert session.usage == Usage(input=60, output=15, cache_read=40, reasoning=5)
    assert (session.model, session.started, session.ended) == ("gemini-2.5-flash", 1768075200.0, 1768075260.0)
    assert session.unreadable == ()


def test_a_line_that_repeats_a_message_replaces_it(tmp_path: Path) -> None:
    (session,) = read(tmp_path, "gemini lines")
    assert session.ref == SessionRef("gemini", "gem-2")
    place = session.messages[1].place
    assert list(session.calls()) == [made("w1", "write_file", 0, "written", Marks(failed=False), place)]
    assert [message.text for message in session.messages] == ["write a.txt", "I write.", "written"]


def test_an_update_adds_to_a_message_and_nonsense_is_told(tmp_path: Path) -> None:
    data = lines(
        {"type": "session_metadata", "sessionId": "gem-3"},
        {"id": "m1", "type": "gemini", "content": "Hi.", "tokens": {"input": 1, "output": 1}},
        {"type": "message_update", "id": "m1", "tokens": {"input": 5, "output": 2}},
        {"id": "m2", "type": "dream", "content": "?"},
        {"$rewindTo": "m1"},
    )
    (session,) = read(tmp_path, "gemini lines", data)
    assert session.usage == Usage(input=5, output=2)
    assert [message.text for message in session.messages] == ["Hi."]
    assert session.unreadable == (Unreadable("line 4", "a message whose type is 'dream'"),)


def test_the_folder_stands_beside_the_chats_and_what_hooks_said_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "work" / "chats").mkdir(parents=True)
    (tmp_path / "work" / ".project_root").write_text("/home/mira/shop\n")
    block = "[seasoned:warm v1 project/sheet@1 0123456789abcdef]\n- Test: `make test`\n[seasoned:end]"
    told = "<hook_context>[seasoned] `make test` works here (2 sessions).</hook_context>"
    output = f"<untrusted_context>\nOutput: boom\nExit Code: 2\n</untrusted_context>\n\n{told}"
    answer = {"functionResponse": {"id": "c1", "name": "run_shell_command", "response": {"output": output}}}
    call = {"id": "c1", "name": "run_shell_command", "args": {"command": "make tests"}, "result": [answer]}
    data = lines(
        {"type": "session_metadata", "sessionId": "gem-4"},
        {"id": "m1", "type": "user", "content": f"<hook_context>{block}</hook_context>\n\nRun the tests.\n{told}"},
        {"id": "m2", "type": "gemini", "content": "", "toolCalls": [{**call, "status": "success"}]},
    )
    (session,) = read(tmp_path / "work" / "chats", "gemini lines", data)
    assert session.cwd == "/home/mira/shop"
    assert session.messages[0].text == "Run the tests."
    (made,) = session.calls()
    assert made.result is not None and made.result.text.endswith("Exit Code: 2\n</untrusted_context>")


@pytest.mark.parametrize("name", ["anthropic messages", "anthropic lines"])
def test_blocks_become_calls_and_results(name: str, tmp_path: Path) -> None:
    (session,) = read(tmp_path, name)
    assert session.ref == SessionRef("anthropic", "log")
    assert [(c.id, c.tool, c.arguments, c.result) for c in session.calls()] == [
        ("toolu_1", "read", {"path": "a.txt"}, Result("A")),
        ("toolu_2", "read", {"path": "b.txt"}, Result("ENOENT", Marks(failed=True))),
        ("toolu_3", "read", {"path": "c.txt"}, Result("", Marks(failed=False))),
    ]
    assert [(m.role, m.text) for m in session.messages] == [
        ("user", "Read a.txt and b.txt."),
        ("assistant", "I read."),
        ("tool", "ENOENT"),
        ("tool", "A"),
        ("tool", ""),
        ("user", "Go on."),
    ]


def test_requests_with_responses_are_one_conversation(tmp_path: Path) -> None:
    def response(message_id: str, content: list[object]) -> dict[str, object]:
        return {
            "id": message_id,
            "type": "message",
            "role": "assistant",
            "model": "c-1",
            "stop_reason": "tool_use",
            "content": content,
            "usage": {
                "input_tokens": 5,
                "output_tokens": 2,
                "cache_read_input_tokens": 7,
                "cache_creation_input_tokens": 1,
            },
        }

    blocks = ANTHROPIC[1]["content"]
    data = lines(
        {"request": {"system": "Be brief.", "messages": ANTHROPIC[:1]}, "response": response("msg_1", blocks)},
        {
            "request": {"system": "Be brief.", "messages": ANTHROPIC},
            "response": response("msg_2", [{"type": "text", "text": "Done."}]),
        },
    )
    (session,) = read(tmp_path, "anthropic lines", data)
    assert [m.role for m in session.messages] == ["system", "user", "assistant", *["tool"] * 3, "user", "assistant"]
    assert session.messages[0] == Message("system", "Be brief.")
    assert session.usage == Usage(input=10, output=4, cache_read=14, cache_write=2)
    assert next(session.calls()) == ToolCall("toolu_1", "read", {"path": "a.txt"}, Result("A"), 0, 2, place=2)


TERMINAL = '{"output": "a", "exit_code": 0, "error": null}'


@pytest.mark.parametrize("name", ["hermes", "hermes lines"])
def test_the_document_and_its_twin_are_the_same_session(name: str, tmp_path: Path) -> None:
    (session,) = read(tmp_path, name)
    assert session.ref == SessionRef("hermes", "20260101_120000_abcdef")
    assert session.model == "hermes-4"
    (made,) = session.calls()
    # What a tool said stays text: whether it failed is for the judge to read.
    assert made.result is not None
    assert (made.id, made.tool, made.arguments) == ("call_t", "terminal", {"command": "ls"})
    assert (made.result.text, made.result.marks) == (TERMINAL, Marks())
    assert [message.role for message in session.messages] == ["user", "assistant", "tool", "assistant"]


def test_an_archive_says_where_it_comes_from(tmp_path: Path) -> None:
    (session,) = read(tmp_path, "hermes archive")
    result = Result("no such file", Marks(failed=True, exit_code=2), 1767258021.0)
    made = ToolCall("c-1", "read_file", {"path": "a.py"}, result, 0, 1, 1767258020.0, 1)
    assert session.messages == (
        Message("user", "Fix.", time=1767258005.0),
        Message("assistant", "I look.", (made,), 1767258020.0, 1),
        Message("tool", "no such file", time=1767258021.0, place=2, answers="c-1"),
    )
    assert (session.parent, session.relation) == (SessionRef("hermes", "arch-0"), "resume")
    assert (session.end_reason, session.cwd, session.cost_usd) == ("user_stop", "/repo", 0.25)
    assert session.usage == Usage(input=10, output=5, cache_read=2)


@each_case("name", FIXTURES)
def test_the_first_reader_that_says_yes_is_the_right_one(name: str, tmp_path: Path) -> None:
    reader, path = write(tmp_path, name)
    sample = take_sample(path)
    assert next((other.NAME for other in map(named, ORDER) if other.recognises(sample)), None) == reader.NAME


@each_case("name", FIXTURES)
def test_reading_changes_nothing_and_gives_the_same_twice(name: str, tmp_path: Path) -> None:
    reader, path = write(tmp_path, name)
    before = path.read_bytes(), path.stat().st_mtime_ns
    first, second = list(reader.read(path)), list(reader.read(path))
    assert first == second
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert {session.format for session in first} == {reader.NAME}
    assert len({session.ref for session in first}) == len(first)


PROJECTS = Path(__file__).resolve().parents[3] / "shared" / "projects"
REAL = sorted(PROJECTS.glob("*/pi/*"))


def test_a_result_has_a_flag_and_a_command_says_its_exit_code(tmp_path: Path) -> None:
    (session,) = read(tmp_path, "pi")
    assert session.ref == SessionRef("pi", "019db81c")
    assert (session.parent, session.relation) == (SessionRef("pi", "019aaaaa"), "fork")
    assert (session.title, session.cwd, session.model) == ("The till", "/home/mira/shop", "gpt-5-mini")
    marks = [None if call.result is None else call.result.marks for call in session.calls()]
    assert marks == [
        Marks(failed=False, exit_code=0),
        Marks(failed=True, exit_code=3),
        Marks(failed=True),
        Marks(interrupted=True),
        Marks(interrupted=True),
    ]
    assert session.usage == Usage(input=100, output=10, cache_read=40, cache_write=2)
    assert session.cost_usd == 0.5
    assert len(session.compactions) == 1
    assert session.unreadable == ()


def test_the_output_of_a_command_that_the_user_ran_is_not_what_the_user_said(tmp_path: Path) -> None:
    (session,) = read(tmp_path, "pi")
    assert [message.text for message in session.messages if message.role == "user" and not message.summary] == [
        "fix the till",
        "!ls",
    ]
    assert [message.text for message in session.messages if message.role == "system"] == ["from an extension"]
    assert [message.thinking for message in session.messages if message.thinking] == ["hm"]


def test_a_file_without_its_header_takes_its_id_from_its_name(tmp_path: Path) -> None:
    path = tmp_path / "2026-04-23T02-13-15-937Z_019db81c-ea21.jsonl"
    path.write_bytes(lines(*PI[1:]))
    (session,) = read_path(path)
    assert session.ref == SessionRef("pi", "019db81c-ea21")


@pytest.mark.skipif(not REAL, reason="no real sessions of Pi beside the checkout at shared/projects")
def test_real_sessions_are_read_whole() -> None:
    """Counted once more by plain Python: calls, results and flags."""
    messages = [json.loads(line).get("message", {}) for path in REAL for line in path.read_text().splitlines()]
    results = [one for one in messages if one.get("role") == "toolResult"]
    asked = sum(
        block["type"] == "toolCall" for one in messages if one.get("role") == "assistant" for block in one["content"]
    )
    sessions = [one for path in REAL for one in read_path(path)]
    calls = [call for one in sessions for call in one.calls()]
    assert not [lost for one in sessions for lost in one.unreadable]
    assert len(calls) == asked
    assert sum(call.result is not None for call in calls) >= len(results)
    flags = [call.result.marks for call in calls if call.result is not None]
    assert sum(mark.failed is True for mark in flags) == sum(one["isError"] for one in results)


_FIRST = 1_760_000_000.0


@pytest.mark.parametrize("name", ["otel", "otel lines"])
def test_spans_of_one_conversation_are_one_session(name: str, tmp_path: Path) -> None:
    (session,) = read(tmp_path, name)
    assert session.ref == SessionRef("otel", "conv-1")
    assert [(m.role, m.text, m.time) for m in session.messages] == [
        ("user", "Weather?", _FIRST + 1),
        ("assistant", "I ask.", _FIRST + 1.5),
        ("tool", "timeout", _FIRST + 3.5),
        ("tool", "rain", _FIRST + 4),
        ("assistant", "Rain.", _FIRST + 4.5),
    ]
    assert [(c.id, c.tool, c.arguments, c.result) for c in session.calls()] == [
        ("w1", "weather", {"city": "Oslo"}, Result("rain", time=_FIRST + 4)),
        ("w2", "weather", {"city": "Rome"}, Result("timeout", Marks(failed=True), _FIRST + 3.5)),
    ]
    assert session.usage == Usage(input=20, output=4, cache_read=10)
    assert session.model == "m-4"


def test_spans_as_an_sdk_prints_them(tmp_path: Path) -> None:
    (session,) = read(tmp_path, "otel flat")
    result = Result("boom", Marks(failed=True), 1769904001.0)
    made = ToolCall("made_0", "look", {"a": 1}, result, 0, 0, 1769904000.0)
    assert session.ref == SessionRef("otel", "0xaa")
    assert session.messages[0] == Message("assistant", "", (made,), 1769904000.0)


def test_an_execution_whose_content_was_not_recorded_is_still_a_call(tmp_path: Path) -> None:
    span = {
        "traceId": "t1",
        "name": "execute_tool look",
        "startTimeUnixNano": "1760000000000000000",
        "endTimeUnixNano": "1760000001000000000",
        "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}}],
    }
    (session,) = read(tmp_path, "otel flat", lines(span, 5))
    assert [(c.tool, c.result) for c in session.calls()] == [("look", Result("", time=_FIRST + 1))]
    assert session.unreadable == (Unreadable("line 2", "a number where spans should be"),)
