"""What in a session is foreign: results of tools, and pages of others, which the words to keep must not come from."""

from __future__ import annotations

from collections.abc import Iterator

from seasoned.agent.memory.overlap import ForeignSource, ForeignTexts, SpokenText
from seasoned.command.parse import Step, parse
from seasoned.command.rows import group
from seasoned.command.tool import command_of, output_form, tool_of
from seasoned.outcome.judge import judge
from seasoned.scan.intent import users_words
from seasoned.session import Message, Session, ToolCall
from seasoned.template.admission.call import admit_call, names_foreign_host, texts_in

# Their results are the user's answers, or what was kept before.
_OWN_RESULTS = ("skill", "skill_manage")
_MCP_RESOURCES = ("readmcpresourcetool", "read_mcp_resource")
# What Codex puts in front of the tools that are built into it.
_OWN_NAMESPACES = ("functions", "multi_agent")
# Commands of forges that print what other people wrote.
_FORGES = ("gh", "glab")
_FORGE_WORDS = frozenset(("issue", "pr", "mr", "api", "search", "gist", "discussion", "release", "snippet"))
_FORGE_WRITES = frozenset(
    ("create", "edit", "close", "reopen", "merge", "ready", "checkout", "checks", "delete", "lock")
)
_SUMMARY = "summary"
_PROGRAM = "message of a program"


def foreign_texts(session: Session, *, project: str | None = None) -> ForeignTexts:
    """The texts of a session by which foreign sentences are recognised. `project` is the key of its project."""
    vouched = [one for call in session.calls() for one in _vouched(call, session.ref.agent, project or "")]
    return ForeignTexts(_spoken(session, project or ""), vouched=vouched)


def reads_page(call: ToolCall, *, project: str = "") -> bool:
    """Whether the result of a call was written by others: web and browser tools, fetched addresses, MCP servers."""
    tool, name = tool_of(call.tool), call.tool.lower()
    if tool.trivial:
        return False
    if tool.kind == "research" or name in _MCP_RESOURCES:
        return True
    if output_form(call) == "shell":
        command = command_of(call)
        return command is not None and any(_fetches(step, project) for step in parse(command))
    # Tools of MCP servers have the name of the server in front; the agents' own have a row in the table.
    server, joint, _ = name.strip("_").partition("__")
    return tool.kind == "general" and (
        name.startswith(("mcp_", "mcp.")) or (bool(joint) and not server.startswith(_OWN_NAMESPACES))
    )


def _fetches(step: Step, project: str) -> bool:
    if step.program in _FORGES:
        words = frozenset(word for word in step.words if not word.startswith("-"))
        return bool(words & _FORGE_WORDS) and not words & _FORGE_WRITES
    if step.program not in group("research"):
        return False
    command = " ".join((step.program, *step.words))
    return names_foreign_host("Bash", {"command": command}, project=project)


def is_by_program(message: Message) -> bool:
    """Whether a message in the user's name is a summary, or holds outputs and files that the agent's program put in."""
    return message.summary or (users_words(message) is None and message.text.lstrip().startswith("<"))


def _spoken(session: Session, project: str) -> Iterator[SpokenText]:
    has_results = False
    for message in session.messages:
        if message.synthetic or message.role == "system":
            continue
        if message.summary:
            # Where a session goes on after a compression, the summary may repeat pages that it no longer holds.
            if not has_results:
                yield SpokenText("foreign", message.text, ForeignSource("", _SUMMARY))
        elif message.role == "user":
            yield from _from_user(message)
        elif message.role == "assistant":
            yield SpokenText("agent", message.text)
        for call in message.calls:
            if call.synthetic:
                continue
            yield SpokenText("agent", "\n".join(texts_in(call.arguments)))
            if call.result is not None and not _is_own(call):
                has_results = True
                source = ForeignSource(call.id, call.tool, reads_page(call, project=project))
                yield SpokenText("foreign", call.result.text, source)


def _from_user(message: Message) -> Iterator[SpokenText]:
    words = users_words(message)
    if words is not None:
        yield SpokenText("user", words)
    elif is_by_program(message):
        yield SpokenText("foreign", message.text, ForeignSource("", _PROGRAM))


def _is_own(call: ToolCall) -> bool:
    return tool_of(call.tool).trivial or call.tool.lower() in _OWN_RESULTS


def _vouched(call: ToolCall, agent: str, project: str) -> Iterator[str]:
    """The programs of a command that worked and that other sessions may be shown."""
    if call.synthetic or (command := command_of(call)) is None:
        return
    if judge(call, agent=agent).verdict == "ok" and admit_call(call.tool, call.arguments, project=project):
        for step in parse(command):
            yield " ".join((*step.prefix, step.program, *step.words))
