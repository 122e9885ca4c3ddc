"""Calls in the words of other agents: the same work under their names, and nothing that they cannot do."""

from __future__ import annotations

from typing import Any

from seasoned.command.tool import command_of, tool_of
from seasoned.command.translate import agent_tools, argument, own_name, same_tool, translate
from seasoned.session import ToolCall

BY_AGENT = {agent: [one for one in agent_tools() if one.agent == agent] for agent in {o.agent for o in agent_tools()}}
EDIT = {"file_path": "/shop/a.py", "old_string": "a", "new_string": "b"}
# A call of one agent, another agent, and what the call is there; None if it cannot be made there.
CASES: list[tuple[str, dict[str, Any], str, tuple[str, dict[str, Any]] | None]] = [
    ("Bash", {"command": "make test", "description": "Test"}, "hermes", ("terminal", {"command": "make test"})),
    ("Bash", {"command": "make test", "timeout": 9}, "codex", ("exec_command", {"cmd": "make test"})),
    ("shell", {"command": ["bash", "-lc", "make"]}, "cline", ("execute_command", {"command": "make"})),
    ("exec_command", {"cmd": "make", "workdir": "web"}, "opencode", ("bash", {"command": "make", "workdir": "web"})),
    ("exec_command", {"cmd": "make", "workdir": "web"}, "claude-code", None),  # its shell is always where it is
    ("Bash", {"command": "make serve", "run_in_background": True}, "hermes", None),
    ("Bash", {"command": "make test"}, "zed", None),  # which must be told a folder
    ("write_stdin", {"chars": "y"}, "claude-code", None),
    ("Read", {"file_path": "/shop/a.py"}, "opencode", ("read", {"filePath": "/shop/a.py"})),
    ("read", {"path": "a.py"}, "claude-code", None),  # which wants a path from the root
    ("Read", {"file_path": "/shop/a.py", "offset": 9}, "pi", None),  # lines are counted differently
    ("Edit", EDIT, "opencode", ("edit", {"filePath": "/shop/a.py", "oldString": "a", "newString": "b"})),
    ("Edit", EDIT, "gemini", None),  # which wants to know why
    ("Edit", {**EDIT, "replace_all": True}, "copilot", None),
    (
        "Edit",
        {**EDIT, "replace_all": False},
        "copilot",
        ("edit", {"path": "/shop/a.py", "old_str": "a", "new_str": "b"}),
    ),
    ("search_files", {"regex": "x", "path": "."}, "claude-code", ("Grep", {"pattern": "x", "path": "."})),
    ("TodoWrite", {"todos": []}, "hermes", None),
]


def test_calls_are_told_as_the_other_agent_makes_them() -> None:
    for tool, arguments, agent, expected in CASES:
        names = [one.name for one in BY_AGENT[agent]]
        assert translate(tool, arguments, names, agent=agent) == expected, (tool, agent)


def test_every_shell_can_run_the_command_of_every_other() -> None:
    for source in agent_tools():
        for target in agent_tools():
            if source.work == target.work == "shell" and target.required == {"command"}:
                made = translate(source.name, {source.arguments["command"]: "make"}, [target.name], agent=target.agent)
                assert made is not None, (source, target)
                assert command_of(ToolCall("", *made)) == "make"


def test_the_table_names_arguments_that_have_a_meaning_and_tools_that_are_known() -> None:
    for one in agent_tools():
        forms = {"shell": "shell", "read": "file_read", "write": "file_write", "edit": "file_write", "fetch": "web"}
        assert tool_of(one.name).form == forms.get(one.work, "search"), one
        sample = dict.fromkeys(one.arguments.values(), "x")
        for meaning in {"command", "old", "new", "all", "text"} & one.arguments.keys():
            assert argument(sample, meaning) == "x", (one, meaning)


def test_names_that_two_agents_share_are_translated_only_if_both_would_make_the_same_call() -> None:
    assert translate("exec_command", {"cmd": "make"}, ["Bash", "Read"]) is None, "Claude Code or Amp"
    assert translate("exec_command", {"cmd": "make"}, ["Bash", "Read", "Edit"]) == ("Bash", {"command": "make"})


def test_a_tool_of_a_server_is_the_same_under_the_name_that_each_agent_gives_it() -> None:
    names = ("mcp__docs__find_page", "docs_find_page", "mcp_docs_find_page", "docs-find_page", "mcp.docs.find_page")
    assert len({same_tool(name) for name in names}) == 1
    assert translate(names[0], {"q": "x"}, ["docs_find_page", "bash"]) == ("docs_find_page", {"q": "x"})
    assert translate(names[0], {"q": "x"}, ["docs_find_page", "docs-find_page"]) is None, "one of two"
    assert translate("find-page", {"q": "x"}, ["find_page"]) is None, "alike by chance"


def test_an_argument_has_the_name_that_the_agent_gives_it() -> None:
    assert own_name("Edit", EDIT, "all") == "replace_all"
    assert own_name("edit", {"filePath": "a", "oldString": "b", "newString": "c"}, "all") == "replaceAll"
    assert own_name("edit", {"path": "a", "old_str": "b", "new_str": "c"}, "all") is None
    assert own_name("no_such_tool", {}, "all") is None
