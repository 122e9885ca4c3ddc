"""Sessions of Gemini CLI: a document, or lines that write a message again."""

from __future__ import annotations

from pathlib import Path

from seasoned.session import Marks, Message, Result, SessionRef, ToolCall, Unreadable, Usage
from tests.history.small_formats import lines, read

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
