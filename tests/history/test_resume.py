"""The command that continues a session can be pasted into a terminal, whatever its history says."""

from __future__ import annotations

from seasoned.history.resume import resume_command


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
