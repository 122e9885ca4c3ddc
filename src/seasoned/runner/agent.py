"""What an agent is asked in one run, what came of it, and how each agent that people have is started and read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from seasoned.session import Usage

# What the agent may use beside its words; asking a person, schedules and messages are always off.
Tools = Literal["none", "files", "terminal"]
# `login` and `quota`: the agent's provider refused; `missing`: it is not installed; `budget`: also of steps and tokens.
StoppedBy = Literal["time", "budget", "interrupted", "missing", "login", "quota", "failed"]


class RunRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One prompt for one agent. Without tools it runs apart: no hooks, no servers, no rules, and no session is left."""

    agent: str
    prompt: str
    # Where it works; without one, in an empty folder.
    folder: Path | None = None
    # Another one than the agent's own.
    model: str | None = None
    # They replace those of the agent, where it allows that.
    instructions: str = ""
    tools: Tools = "none"
    # The JSON schema of the answer.
    schema: dict[str, Any] | None = None
    seconds: float = 600.0
    budget_usd: float | None = None


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent answered, what it used, and what stopped it if something did."""

    text: str = ""
    # What the schema asked for.
    data: Any = None
    usage: Usage = Usage()
    cost_usd: float | None = None
    model: str | None = None
    # The agent's own id of the session.
    session: str | None = None
    seconds: float = 0.0
    stopped_by: StoppedBy | None = None
    # Why, in a sentence that says what to do.
    reason: str = ""
    # What was said, by a model API: messages of the agent library.
    messages: tuple[Any, ...] = ()


# Tools that ask a person, wake the agent later, or write to someone.
_CLAUDE_NEVER = "AskUserQuestion,ScheduleWakeup,CronCreate,CronDelete,CronList,SendMessage,RemoteTrigger"
_CLAUDE_TERMINAL = "Bash,PowerShell,Monitor,Workflow"
_CODEX_FEATURES = "hooks apps plugins multi_agent view_image shell_snapshot code_mode_host goals"
# The folder in which agents run apart: some keep an entry for each folder that they were started in.
EMPTY = "seasoned-runs"
_HERMES = Path(__file__).parent / "hermes_turn.py"


class AgentProgram(msgspec.Struct, frozen=True):
    """One agent. `command` and `variables` are given the request and a private folder for files of the run."""

    title: str
    program: str
    command: Callable[[RunRequest, Path], list[str]]
    # Of what it printed; `reason` is set if it failed.
    read: Callable[[str], Run]
    # How a person logs in.
    login: str
    variables: Callable[[RunRequest, Path], dict[str, str]] = lambda request, folder: {}
    # A cheap one of its provider, whichever is the newest.
    small_model: str | None = None
    # Whether it can be given the schema; others are asked for JSON in words.
    knows_schema: bool = False
    # What a run without tools leaves in the home folder, since the agent cannot be told not to.
    leaves: tuple[str, ...] = ()


def _claude_code(request: RunRequest, folder: Path) -> list[str]:
    words = ["-p", "--output-format", "json"]
    words += _option("--model", request.model)
    words += _option("--max-budget-usd", request.budget_usd)
    words += _option("--json-schema", request.schema and json.dumps(request.schema))
    if request.tools == "none":
        words += ["--tools", "", "--strict-mcp-config", "--no-session-persistence", "--disable-slash-commands"]
        return [*words, "--settings", '{"disableAllHooks": true}', "--system-prompt", request.instructions]
    never = _CLAUDE_NEVER if request.tools == "terminal" else f"{_CLAUDE_NEVER},{_CLAUDE_TERMINAL}"
    allowed = ["--allowedTools", "Bash"] if request.tools == "terminal" else []
    words += ["--permission-mode", "acceptEdits", "--permission-prompts", "none"]
    return [*words, "--disallowedTools", never, *allowed]


def _codex(request: RunRequest, folder: Path) -> list[str]:
    words = ["exec", "--json", "--skip-git-repo-check", *_option("-m", request.model)]
    if request.schema is not None:
        (folder / "schema.json").write_text(json.dumps(request.schema))
        words += ["--output-schema", str(folder / "schema.json")]
    no_terminal = _each("--disable", "shell_tool", "unified_exec")
    if request.tools != "none":
        return [*words, "-s", "workspace-write", *(no_terminal if request.tools == "files" else []), "-"]
    (folder / "instructions.md").write_text(request.instructions)
    settings = [f"model_instructions_file={json.dumps(str(folder / 'instructions.md'))}", "mcp_servers={}", "notify=[]"]
    settings += ["project_doc_max_bytes=0", 'web_search="disabled"', "include_environment_context=false"]
    settings += ["include_permissions_instructions=false", 'history.persistence="none"', 'model_reasoning_effort="low"']
    words += ["--ephemeral", "-s", "read-only", "--ignore-rules", *no_terminal]
    return [*words, *_each("--disable", *_CODEX_FEATURES.split()), *_each("-c", *settings), "-"]


def _gemini(request: RunRequest, folder: Path) -> list[str]:
    mode = {"none": "default", "files": "auto_edit", "terminal": "yolo"}[request.tools]
    words = ["--approval-mode", mode, "--skip-trust", "-o", "json", "-p", "", *_option("-m", request.model)]
    return [*words, "-e", "none"] if request.tools == "none" else words


def _gemini_variables(request: RunRequest, folder: Path) -> dict[str, str]:
    if request.tools != "none":
        return {}
    settings = {"hooksConfig": {"enabled": False}, "tools": {"core": ["none"]}, "mcp": {"allowed": ["none"]}}
    (folder / "settings.json").write_text(json.dumps({**settings, "skills": {"enabled": False}}))
    (folder / "system.md").write_text(request.instructions)
    return {
        "GEMINI_CLI_SYSTEM_SETTINGS_PATH": str(folder / "settings.json"),
        "GEMINI_SYSTEM_MD": str(folder / "system.md"),
    }


def _qwen(request: RunRequest, folder: Path) -> list[str]:
    mode = {"none": "default", "files": "auto-edit", "terminal": "yolo"}[request.tools]
    words = ["--approval-mode", mode, "-o", "json", "-p", "", *_option("-m", request.model)]
    words += _option("--json-schema", request.schema and json.dumps(request.schema))
    if request.tools != "none":
        return words
    never = "read_file,edit,notebook_edit,run_shell_command,get_goal,update_goal"
    words += ["--bare", "--chat-recording=false", "--system-prompt", request.instructions]
    return [*words, "--exclude-tools", never, "--max-session-turns", "2"]


def _qwen_variables(request: RunRequest, folder: Path) -> dict[str, str]:
    if request.tools != "none":
        return {}
    (folder / "settings.json").write_text('{"disableAllHooks": true}')
    return {"QWEN_CODE_SYSTEM_SETTINGS_PATH": str(folder / "settings.json")}


def _copilot(request: RunRequest, folder: Path) -> list[str]:
    words = ["--output-format", "json", "--no-color", "--no-ask-user", *_option("--model", request.model)]
    if request.tools == "none":
        return [*words, "--available-tools", "none", "--no-custom-instructions", "--disable-builtin-mcps"]
    return [*words, "--allow-all-tools", *(["--deny-tool", "shell"] if request.tools == "files" else [])]


def _copilot_variables(request: RunRequest, folder: Path) -> dict[str, str]:
    # It keeps each session where its settings are.
    return {"COPILOT_HOME": str(folder)} if request.tools == "none" else {}


def _opencode(request: RunRequest, folder: Path) -> list[str]:
    words = ["run", "--format", "json", *_option("-m", request.model)]
    # It would ask for a title with a second request.
    return [*words, "--pure", "--agent", "seasoned", "--title", "Seasoned"] if request.tools == "none" else words


def _opencode_variables(request: RunRequest, folder: Path) -> dict[str, str]:
    if request.tools != "none":
        never = {"question": "deny", **({"bash": "deny"} if request.tools == "files" else {})}
        return {"OPENCODE_CONFIG_CONTENT": json.dumps({"permission": {"*": "allow", **never}})}
    apart = {"mode": "primary", "prompt": request.instructions, "permission": {"*": "deny"}, "tools": {"*": False}}
    return {"OPENCODE_CONFIG_CONTENT": json.dumps({"agent": {"seasoned": apart}}), "OPENCODE_DB": ":memory:"}


def _hermes(request: RunRequest, folder: Path) -> list[str]:
    """Its own Python runs the turn: its command line keeps every session."""
    fields = {"model": request.model, "instructions": request.instructions, "tools": request.tools}
    return [str(_HERMES), json.dumps(fields)]


def _option(name: str, value: object) -> list[str]:
    return [] if value is None else [name, str(value)]


def _each(name: str, *values: str) -> list[str]:
    return [word for value in values for word in (name, value)]


def _events(printed: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in what was printed: one, a list of them, or one on each line."""
    try:
        whole = json.loads(printed)
    except ValueError:
        for line in printed.splitlines():
            if line.startswith("{"):
                try:
                    yield json.loads(line)
                except ValueError:
                    continue  # cut off, or not an event
        return
    yield from (one for one in (whole if isinstance(whole, list) else [whole]) if isinstance(one, dict))


def _usage(figures: dict[str, Any], *names: str) -> Usage:
    """Figures by their names for input, output, cache read and cache write."""
    return Usage(*[figures.get(name) if name else None for name in (*names, "", "")[:4]])


def _read_claude(printed: str) -> Run:
    """Also of Qwen Code, which has the same last event."""
    last: dict[str, Any] = next((one for one in reversed([*_events(printed)]) if one.get("type") == "result"), {})
    names = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    error = last.get("error")
    said = str(error.get("message") if isinstance(error, dict) else last.get("result") or last.get("subtype") or "")
    return Run(
        text=str(last.get("result") or ""),
        data=last.get("structured_output", last.get("structured_result")),
        usage=_usage(last.get("usage") or {}, *names),
        cost_usd=last.get("total_cost_usd"),
        model=next(iter(last.get("modelUsage") or (last.get("stats") or {}).get("models") or ()), None),
        session=last.get("session_id"),
        reason=(said or "it failed") if last.get("is_error") else "",
    )


def _read_codex(printed: str) -> Run:
    text, session, usage, reason = "", None, Usage(), ""
    for event in _events(printed):
        item, figures = event.get("item") or {}, event.get("usage") or {}
        session = event.get("thread_id", session)
        if item.get("type") == "agent_message":
            text = str(item.get("text", ""))
        elif event.get("type") == "turn.completed":
            cached = figures.get("cached_input_tokens") or 0
            usage = Usage((figures.get("input_tokens") or 0) - cached, figures.get("output_tokens"), cached)
        elif event.get("type") in ("turn.failed", "error"):
            reason = str((event.get("error") or event).get("message", "it failed"))
    return Run(text=text, session=session, usage=usage, reason=reason)


def _read_gemini(printed: str) -> Run:
    found = next(_events(printed[printed.find("{") :]), {})
    models = (found.get("stats") or {}).get("models") or {}
    tokens = [one.get("tokens") or {} for one in models.values()]
    counted = [
        Usage(one.get("prompt", 0) - one.get("cached", 0), one.get("candidates"), one.get("cached")) for one in tokens
    ]
    return Run(
        text=str(found.get("response") or ""),
        usage=counted[0] if len(counted) == 1 else Usage(),
        model=next(iter(models), None),
        session=found.get("session_id"),
        reason=str((found.get("error") or {}).get("message", "")),
    )


def _read_copilot(printed: str) -> Run:
    text, session, model, reason = "", None, None, ""
    for event in _events(printed):
        data = event.get("data") or {}
        if event.get("type") == "assistant.message" and data.get("content"):
            text, model = str(data["content"]), data.get("model")
        elif str(event.get("type")).endswith("error"):
            reason = str(data.get("message") or "it failed")
        session = event.get("sessionId", session)
    return Run(text=text, session=session, model=model, reason="" if text else reason)


def _read_opencode(printed: str) -> Run:
    texts, session, cost, reason = [], None, None, ""
    usage = Usage()
    for event in _events(printed):
        part = event.get("part") or {}
        session = event.get("sessionID", session)
        if event.get("type") == "text":
            texts.append(str(part.get("text", "")))
        elif event.get("type") == "step_finish":
            tokens = part.get("tokens") or {}
            cache = tokens.get("cache") or {}
            usage = Usage(tokens.get("input"), tokens.get("output"), cache.get("read"), cache.get("write"))
            # It says 0 where it does not know the price.
            cost = part.get("cost") or None
        elif event.get("type") == "error":
            error = event.get("error") or {}
            reason = str((error.get("data") or error).get("message") or error.get("name") or "it failed")
    return Run(text="\n".join(texts), session=session, usage=usage, cost_usd=cost, reason=reason)


def _read_hermes(printed: str) -> Run:
    found: dict[str, Any] = next(reversed([*_events(printed)]), {})
    names = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    return Run(
        text=str(found.get("text") or ""),
        usage=_usage(found, *names),
        # It says 0 where it does not know the price.
        cost_usd=found.get("cost_usd") or None,
        model=found.get("model"),
        session=found.get("session"),
        reason=str(found.get("error") or ""),
    )


AGENT_PROGRAMS = {
    "claude-code": AgentProgram(
        "Claude Code",
        "claude",
        _claude_code,
        _read_claude,
        "run `claude` and /login",
        small_model="haiku",
        knows_schema=True,
    ),
    "codex": AgentProgram("Codex", "codex", _codex, _read_codex, "run `codex login`", knows_schema=True),
    "hermes": AgentProgram("Hermes", "hermes", _hermes, _read_hermes, "run `hermes setup`"),
    "gemini": AgentProgram(
        "Gemini CLI",
        "gemini",
        _gemini,
        _read_gemini,
        "run `gemini` and log in",
        _gemini_variables,
        small_model="flash-lite",
        leaves=(f".gemini/tmp/{EMPTY}*/chats/*.jsonl",),
    ),
    "opencode": AgentProgram(
        "OpenCode", "opencode", _opencode, _read_opencode, "run `opencode auth login`", _opencode_variables
    ),
    "qwen": AgentProgram(
        "Qwen Code", "qwen", _qwen, _read_claude, "run `qwen` and log in", _qwen_variables, knows_schema=True
    ),
    "copilot": AgentProgram(
        "Copilot CLI", "copilot", _copilot, _read_copilot, "run `copilot login`", _copilot_variables
    ),
}
