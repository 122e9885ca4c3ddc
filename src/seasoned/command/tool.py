"""One table for the tools of all agents: what kind of work they do, and in which way they speak."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from seasoned.command.parse import Step, names, parse
from seasoned.lazy_regex import LazyRegex
from seasoned.session import ToolCall

Kind = Literal["terminal", "code", "file", "research", "meta", "general"]
OutputForm = Literal["shell", "file_read", "file_write", "search", "web", "python", "agent", "meta", "api"]
TaskType = Literal["code", "file", "research", "mixed"]


class Tool(msgspec.Struct, frozen=True):
    """What is known about a tool by its name."""

    kind: Kind
    form: OutputForm
    trivial: bool = False


# Names are compared without regard to case: agents call the same tool `Bash` and `bash`.
_TABLE: tuple[tuple[Tool, str], ...] = (
    (
        Tool("terminal", "shell"),
        (
            "bash shell terminal exec_command local_shell local_shell_call container.exec run_shell_command "
            "execute_bash"
            " run execute_command run_command run_in_terminal run_terminal_cmd run_terminal_command terminal_command"
            " shell_command powershell cmd command bash_command mswea_bash_command execute_shell developer__shell"
            " exec unified_exec write_stdin process bashoutput killshell killbash read_bash write_bash stop_bash "
            "list_bash"
            " shell_exec shell_view shell_wait cmdrun cmdrunaction monitor"
        ),
    ),
    (
        Tool("code", "python"),
        (
            "execute_code python code_interpreter execute_ipython_cell run_ipython ipython python_exec code_execution"
            " run_python jupyter execute_python python_interpreter repl js_repl code_execution_tool"
        ),
    ),
    (
        Tool("code", "api"),
        "getdiagnostics mcp__ide__getdiagnostics lsp get_errors get_diagnostics codebase_investigator",
    ),
    (Tool("code", "python"), "mcp__ide__executecode"),
    (
        Tool("file", "file_read"),
        (
            "read read_file view open cat_file notebookread read_many_files view_file view_image read_media_file"
            " open_file scroll_up scroll_down goto set_cursors read_notebook read_text_file get_file_contents"
        ),
    ),
    (
        Tool("file", "file_write"),
        (
            "edit multiedit write notebookedit edit_notebook apply_patch patch write_file replace create create_file"
            " str_replace_editor str_replace_based_edit_tool str_replace str_replace_edit edit_file insert"
            " replace_in_file write_to_file apply_diff delete_file move_file rename_file insert_edit_into_file"
            " search_replace edit_anthropic file_editor undo_edit smart_edit replace_string_in_file"
        ),
    ),
    (
        Tool("file", "search"),
        (
            "glob grep ls search_files search_file_content grep_search file_search list_directory list_dir ls_dir"
            " search_dir search_file find_file find_files list_files codebase_search semantic_search search_code"
            " find_by_name rg filemap"
        ),
    ),
    (
        Tool("research", "web"),
        (
            "webfetch websearch web_search web_extract web_fetch web_search_call google_web_search fetch browse"
            " browse_interactive fetch_webpage fetch_url web_crawl x_search mcp__fetch__fetch read_url_content"
        ),
    ),
    (
        Tool("research", "api"),
        (
            "browser browser_navigate browser_click browser_type browser_snapshot browser_scroll browser_back"
            " browser_press browser_close browser_get_images browser_vision browser_console web_browser_go"
            " web_browser_click web_browser_type web_browser_scroll web_browser_back web_browser_forward"
            " web_browser_refresh web_browser_type_submit vision_analyze video_analyze computer computer_use"
        ),
    ),
    (
        Tool("meta", "agent"),
        (
            "task agent delegate_task spawn_agent send_input wait_agent wait close_agent resume_agent send_message"
            " sendmessage delegate taskoutput taskstop taskget list_agents read_agent explore"
        ),
    ),
    (Tool("meta", "meta"), "skill skill_manage exitplanmode enterplanmode exit_plan_mode think finish submit"),
    (Tool("meta", "meta"), "toolsearch tool_search slashcommand cronjob croncreate crondelete cronlist schedulewakeup"),
    (Tool("meta", "meta"), "enterworktree exitworktree switch_mode project_create project_list project_switch"),
    (Tool("meta", "meta"), "text_to_speech image_generate send_file_to_user pushnotification request_permissions"),
    (Tool("meta", "meta"), "listmcpresourcestool readmcpresourcetool list_mcp_resources read_mcp_resource sleep"),
    (
        Tool("meta", "meta", trivial=True),
        (
            "clarify memory fact_store fact_feedback session_search skill_view skills_list todo todowrite todoread"
            " update_plan taskcreate taskupdate tasklist write_todos manage_todo_list update_todo todo_write todo_read"
            " report_intent save_memory ask_user askuserquestion request_user_input ask_followup_question task_tracker"
            " update_todo_list store_memory set_plan"
        ),
    ),
)
TOOLS: dict[str, Tool] = {name: tool for tool, names in _TABLE for name in names.split()}
_UNKNOWN = Tool("general", "api")
_REMOTE_RESEARCH = Tool("research", "api")
_RESEARCH_WORDS = LazyRegex(r"browser|fetch|web_?search|crawl|scrape|playwright|puppeteer|firecrawl|tavily|exa_")


def tool_of(name: str) -> Tool:
    """What is known about a tool; a tool that no one has heard of is general and speaks like an API."""
    lowered = name.lower()
    known = TOOLS.get(lowered)
    if known is not None:
        return known
    if lowered.startswith(("mcp_", "mcp.")) and _RESEARCH_WORDS.compiled.search(lowered):
        return _REMOTE_RESEARCH
    return _UNKNOWN


def is_trivial(name: str) -> bool:
    """Whether calls of a tool are left out of rates and templates."""
    return tool_of(name).trivial


def output_form(call: ToolCall) -> OutputForm:
    """The way in which the result of this very call speaks."""
    found = tool_of(call.tool).form
    if found == "file_write" and call.arguments.get("command") == "view":
        return "file_read"
    command = call.arguments.get("command")
    if found != "shell" and isinstance(command, str) and command.lstrip().startswith(call.tool):
        # Agents without function calling name the action by its first word: `python fix.py`, `ls -F`.
        return "shell" if found in ("python", "api") or call.tool in ("ls", "grep", "rg") else found
    return found


_COMMAND_KEYS = ("command", "cmd", "script", "commands", "CommandLine", "commandLine", "input", "code")
_IN_CODE = LazyRegex(r"""exec_command\(\s*\{[^}]*?\bcmd["']?\s*:\s*(["'`])((?:\\.|(?!\1).)*)\1""", re.DOTALL)


def command_of(call: ToolCall) -> str | None:
    """The text of the shell command that a call runs; None when it runs none."""
    if output_form(call) != "shell" or call.tool in ("write_stdin", "process", "BashOutput"):
        return None
    for key in _COMMAND_KEYS:
        value: Any = call.arguments.get(key)
        if isinstance(value, str) and value:
            return _command_in_code(value) if call.tool == "exec" else value
        if isinstance(value, (list, tuple)) and value:
            words = [word for word in value if isinstance(word, str)]
            if len(words) >= 3 and words[1] in ("-lc", "-c", "-ic", "-lic"):
                return words[2]
            return " ".join(words) if words else None
        if isinstance(value, dict):
            return command_of(ToolCall(call.id, call.tool, value))
    return None


def _command_in_code(code: str) -> str:
    """The command inside a JavaScript call, where the shell is reached through code."""
    inner = _IN_CODE.compiled.search(code)
    return inner.group(2).replace("\\n", "\n").replace('\\"', '"').replace("\\'", "'") if inner else code


_CODE = names(
    "python python2 python3 pypy node deno bun ruby perl php java javac kotlinc scala go cargo rustc gcc g++ clang"
    " clang++ cc c++ ld make cmake ninja meson bazel gradle gradlew mvn mvnw ant sbt dotnet swift swiftc xcodebuild npm"
    " pnpm yarn npx bunx tsc tsx ts-node eslint biome prettier jest vitest mocha playwright cypress pytest py.test"
    " unittest tox nox ruff mypy pyright black isort flake8 pylint pip pip3 uv poetry conda git gh hg svn docker"
    " docker-compose podman kubectl helm terraform golangci-lint gofmt goimports shellcheck mise just task pre-commit"
    " sqlite3 psql mysql bash sh zsh source . gdb lldb valgrind strace R Rscript julia elixir mix rebar3 ghc cabal"
    " stack zig nim lua luajit composer phpunit rspec bundle rake flutter dart phpstan hatch"
)
_FILE = names(
    "cat ls rg grep egrep fgrep ag ack sed awk gawk find fd cp mv rm rmdir mkdir touch head tail less more nl wc sort"
    " uniq cut tr tee diff cmp comm stat file du df tree chmod chown ln tar zip unzip gzip gunzip zcat xxd hexdump"
    " strings basename dirname realpath readlink md5 md5sum sha256sum shasum rsync jq yq column paste split truncate"
    " bat open dd od cd pushd test [ [[ pwd xmllint apply_patch"
)
_RESEARCH = names("curl wget http https httpie lynx w3m links elinks web xh aria2c yt-dlp websearch")
_PATH_SCRIPT = LazyRegex(r"\.(?:py|js|ts|mjs|sh|rb|pl|php)\Z")


def _step_kind(step: Step) -> str | None:
    program = step.program
    if program in _RESEARCH:
        return "research"
    if program in _CODE or program.startswith(("python", "node", "./")) or _PATH_SCRIPT.compiled.search(program):
        return "code"
    return "file" if program in _FILE else None


def shell_kind(command: str) -> Literal["code", "file", "research"] | None:
    """What a shell command is about; None when its programs say nothing (`echo`, `sleep`)."""
    steps = parse(command)
    heads = [_step_kind(step) for step in steps if step.join != "|" and step.program != "cd"]
    kinds = heads if any(heads) else [_step_kind(step) for step in steps]
    if "code" in kinds:
        return "code"
    if "research" in kinds:
        return "research"
    return "file" if "file" in kinds else None


def kind_of(call: ToolCall) -> Kind:
    """The kind of one call: its tool's, and for a shell that of its command where it tells one."""
    tool = tool_of(call.tool)
    if output_form(call) != "shell":
        return tool.kind
    command = command_of(call)
    return (shell_kind(command) if command else None) or "terminal"


def task_type(calls: Iterable[ToolCall]) -> TaskType | None:
    """What a set of calls is about: one kind in more than 60 % of what counts, else mixed; None without calls."""
    counts: dict[str, int] = {}
    for call in calls:
        tool = tool_of(call.tool)
        if call.synthetic or tool.trivial or tool.kind == "meta":
            continue
        kind = kind_of(call)
        counts[kind] = counts.get(kind, 0) + 1
    return task_type_of(counts)


def task_type_of(counts: Mapping[str, int]) -> TaskType | None:
    """The same from calls counted by kind; meta calls say nothing about a task."""
    total = sum(number for kind, number in counts.items() if kind != "meta")
    if not total:
        return None
    for task in _TASKS:
        if counts.get(task, 0) > 0.6 * total:
            return task
    return "mixed"


_TASKS: tuple[TaskType, ...] = ("code", "file", "research")
