"""The table of tools: every name once, every kind legal, and what a set of calls is about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from seasoned.command.rows import TOOLS
from seasoned.command.tool import (
    Commit,
    command_of,
    commits_of,
    is_trivial,
    kind_of,
    known_tools,
    same_tool,
    shell_kind,
    task_type,
    tool_of,
)
from seasoned.config import Config
from seasoned.session import Result, ToolCall
from tests.each_case import each_case
from tests.outcome.calls import call, shell


def test_every_name_stands_once() -> None:
    names = [name for row in TOOLS.values() for name in row.split()]
    assert len(names) == len(set(names)) == len(known_tools())
    assert all(name == name.lower() for name in names)


AGENTS_TOOLS = """
Bash Read Edit MultiEdit Write Glob Grep LS NotebookEdit WebFetch WebSearch Task Agent TodoWrite TaskCreate TaskUpdate
TaskList TaskOutput TaskStop Skill ExitPlanMode AskUserQuestion BashOutput KillShell
shell exec_command write_stdin apply_patch update_plan view_image web_search exec spawn_agent
terminal process read_file write_file patch search_files execute_code memory todo clarify session_search skill_view
skill_manage skills_list delegate_task web_extract browser_navigate vision_analyze cronjob
run_shell_command replace glob search_file_content web_fetch bash view edit create report_intent
run read browse execute_bash str_replace_editor open goto search_dir find_file submit
str_replace_based_edit_tool python code_interpreter
"""


def test_the_tools_of_every_agent_are_known() -> None:
    assert [name for name in AGENTS_TOOLS.split() if name.lower() not in known_tools()] == []


def test_trivial_tools() -> None:
    trivial = "clarify memory fact_store fact_feedback session_search skill_view skills_list todo TodoWrite update_plan"
    assert all(is_trivial(name) for name in trivial.split())
    assert not any(is_trivial(name) for name in ("Bash", "skill_manage", "Task", "web_search", "mcp__x__memory_read"))


def test_own_tools_are_not_experience_under_whatever_name_an_agent_gives_them() -> None:
    own = "warm_session recall request_confirmation confirmation_status wait_confirmation redeem_confirmation"
    for name in own.split():
        spellings = (name, f"mcp__seasoned__{name}", f"mcp_seasoned_{name}", f"seasoned__{name}", f"seasoned-{name}")
        assert all(is_trivial(one) and tool_of(one).kind == "meta" for one in spellings), name
    assert is_trivial("mcp__seasoned__schedule") and not is_trivial("schedule")
    others = ("mcp__kitchen__season", "seasoned", "unseasoned_recall", "mcp__notseasoned__recall", "recall_order")
    assert not any(is_trivial(name) for name in others)


def test_every_tool_that_the_program_gives_to_agents_is_an_own_tool() -> None:
    from seasoned.mcp_server.tools import ConfirmationTools, ExperienceTools

    config = Config(home=Path("/nowhere"))
    served = [*ExperienceTools(config, lambda given: None).tools(), *ConfirmationTools(config).tools()]
    for tool in served:
        assert is_trivial(tool.__name__), tool.__name__


def test_tools_that_no_one_has_heard_of() -> None:
    assert tool_of("get_order_details").form == "api"
    assert tool_of("mcp__playwright__browser_click").kind == "research"
    assert tool_of("mcp__linear__create_issue").kind == "general"


@each_case(
    ("tool", "arguments", "command"),
    [
        ("Bash", {"command": "ls"}, "ls"),
        ("shell", {"command": ["bash", "-lc", "ls -l"]}, "ls -l"),
        ("shell", {"command": ["ls", "-l"]}, "ls -l"),
        ("local_shell", {"action": 1, "command": ["ls"]}, "ls"),
        (
            "exec",
            {"input": "const r = await tools.exec_command({cmd:'echo \"a\"; exit 4'}); text(r)"},
            'echo "a"; exit 4',
        ),
        ("exec", {"input": "const r = await tools.web__run({open:[{ref_id:'https://example.org'}]}); text(r)"}, None),
        ("exec", {"input": "const patch = '*** Begin Patch'; text(await tools.apply_patch(patch))"}, None),
        # Code that was cut inside the text: looking for its end must not take for ever.
        ("exec", {"input": "tools.exec_command({cmd:'" + r"ls\n" * 60 + " … [900 characters]"}, None),
        # Other agents call their shell `exec` too, and may well run JavaScript in it.
        ("exec", {"command": "node -e 'const r = await tools.run()'"}, "node -e 'const r = await tools.run()'"),
        ("write_stdin", {"session_id": 1, "chars": "ls\n"}, None),
        ("Read", {"command": "ls"}, None),
        ("str_replace_editor", {"command": "view", "path": "/a"}, None),
        ("Bash", {"command": None}, None),
        ("Bash", {}, None),
        ("python", {"command": "python x.py"}, "python x.py"),
    ],
)
def test_the_command_of_a_call(tool: str, arguments: dict[str, Any], command: str | None) -> None:
    assert command_of(call(tool, "", arguments)) == command


@each_case(
    ("command", "kind"),
    [
        ("python x.py", "code"),
        ("cd a && go test ./... | tail", "code"),
        ("cat a && ls", "file"),
        ("sed -i s/a/b/ f", "file"),
        ("curl -s https://x | jq .", "research"),
        ("echo hi", None),
        ("", None),
    ],
)
def test_what_a_shell_command_is_about(command: str, kind: str | None) -> None:
    assert shell_kind(command) == kind


def test_the_kind_of_a_call() -> None:
    assert kind_of(shell("pytest")) == "code"
    assert kind_of(shell("echo hi")) == "terminal"
    assert kind_of(call("Read")) == "file"


def test_task_type_needs_more_than_sixty_percent() -> None:
    code, file, web = shell("pytest"), call("Read"), call("WebFetch")
    assert task_type([code] * 7 + [file] * 3) == "code"
    assert task_type([code] * 6 + [file] * 4) == "mixed"
    assert task_type([file] * 7 + [web] * 3 + [call("TodoWrite")] * 20) == "file"
    assert task_type([web]) == "research"
    assert task_type([call("get_order")]) == "mixed"
    assert task_type([call("TodoWrite"), call("Read", synthetic=True)]) is None
    assert task_type([]) is None


def test_a_tool_of_a_server_is_the_same_under_the_name_that_each_agent_gives_it() -> None:
    names = ("mcp__docs__find_page", "docs_find_page", "mcp_docs_find_page", "docs-find_page", "mcp.docs.find_page")
    assert len({same_tool(name) for name in names}) == 1
    assert same_tool("Edit") == same_tool("patch") == "edit"


_MADE = "[main 1a2b3c4] Add tests\n 2 files changed, 3 insertions(+)"


def _commits(arguments: dict[str, Any], text: str, tool: str = "Bash", **more: Any) -> tuple[Commit, ...]:
    return commits_of(ToolCall("a", tool, arguments, Result(text), **more))


def test_commits_are_read_from_what_git_said() -> None:
    made = (Commit("1a2b3c4", "main", "Add tests"),)
    for command in ("git commit -m x", "cd a && git add . && git -C b commit -F -", "git cherry-pick abc"):
        assert _commits({"command": command}, _MADE) == made, command
    assert _commits({"command": ["bash", "-lc", "git commit -m x"]}, _MADE, "shell") == made
    root = "[x/y (root-commit) 1a2b3c4d] First\n[detached HEAD 2b3c4d5] Second"
    assert [one.branch for one in _commits({"command": "git commit; git commit"}, root)] == ["x/y", "detached HEAD"]


def test_nothing_else_is_a_commit() -> None:
    for command in ("cat log.txt", "git log", "echo git commit", "./release.sh"):
        assert _commits({"command": command}, _MADE) == (), command
    assert _commits({"command": "git commit"}, "nothing to commit, working tree clean") == ()
    assert _commits({"command": "git commit"}, _MADE, synthetic=True) == ()
    assert _commits({"path": "git commit"}, _MADE, "Read") == ()
    assert commits_of(ToolCall("a", "Bash", {"command": "git commit"})) == ()
