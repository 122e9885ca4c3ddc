"""Tasks of Cline, Roo Code and Kilo Code: a folder for each, whose `api_conversation_history.json` is read.

Since its third version Cline keeps `ID.messages.json` instead, with a head. Older versions ask for calls in XML within
the text and put results into user messages; newer ones use blocks in Anthropic's form. Files next to it say what the
task cost and where it worked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from seasoned.history.builder import SessionBuilder
from seasoned.history.coerce import (
    NO_USAGE,
    arguments_of,
    as_list,
    as_object,
    first_of,
    identity,
    kind_of,
    number,
    string,
    text_of,
    time_of,
)
from seasoned.history.formats import Sample
from seasoned.history.json_file import decode, noting_unreadable, values
from seasoned.history.session_reader import SessionFormat, SessionReader, set_parent, usage_from
from seasoned.session import Marks, Session, Unreadable, Usage

NAME = "cline"
# The extension whose folder holds the task; Cline's own has several names.
_AGENTS = {"rooveterinaryinc": "roo", "roo-code": "roo", "kilocode": "kilo"}
_TOOLS = (
    "execute_command read_file write_to_file replace_in_file apply_diff apply_patch insert_content search_and_replace"
    " edit_file search_files list_files list_code_definition_names codebase_search browser_action use_mcp_tool"
    " access_mcp_resource ask_followup_question attempt_completion plan_mode_respond new_task switch_mode web_fetch"
    " web_search update_todo_list fetch_instructions run_slash_command generate_image condense new_rule"
)
_CALL = re.compile(rf"^<({'|'.join(_TOOLS.split())})>(.*?)</\1>", re.DOTALL | re.MULTILINE)
_PARAMETER = re.compile(r"<(\w{1,40})>\n?(.*?)\n?</\1>", re.DOTALL)
# Contents may hold anything, even tags: they end at the last closing tag.
_LONG = re.compile(r"<(content|diff)>\n?(.*)\n?</\1>", re.DOTALL)
_RESULT = re.compile(r"\A\[(\w{1,40})(?: for .*?)?\] Result:\s*", re.DOTALL)
_FOLDER = re.compile(r"^# Current (?:Working|Workspace) Directory \((.{1,400}?)\) Files", re.MULTILINE)
_DETAILS = re.compile(r"\s*<environment_details>.*?(?:</environment_details>|\Z)", re.DOTALL)
_ASKED = re.compile(r"\A\s*<(task|feedback|user_message|answer|user_input)\b[^>]{0,60}>\s*(.*?)\s*</\1>", re.DOTALL)
_FAILED = re.compile(r"\AThe tool execution failed with the following error|\A\[ERROR\]|\AError(?: executing)?\b")
_DECLINED = re.compile(r"\AThe user denied this operation|\AThe user rejected")
_EXIT_CODE = re.compile(r"(?:\bexit(?:ed)? (?:with )?code:? |\bExit code: )(-?\d{1,10})\b")
_STATUS = {"error": Marks(failed=True), "denied": Marks(declined=True)}
_Fields = dict[str, Any]


def recognises(sample: Sample) -> bool:
    """Messages whose first words are the task, with what the editor shows; or a document with Cline's head."""
    if sample.is_list:
        return any(_is_opening(one) for one in sample.records[:2])
    return sample.kind == "document" and any(
        {"sessionId", "agent", "origin"} <= one.keys() and isinstance(one.get("messages"), list)
        for one in sample.records
    )


def _is_opening(message: _Fields) -> bool:
    text = text_of(message.get("content"))
    return message.get("role") == "user" and (
        "<environment_details>" in text or _ASKED.match(text) is not None or _RESULT.match(text) is not None
    )


def read(path: Path) -> Iterator[Session]:
    """The session of a task."""
    agent = next((name for mark, name in _AGENTS.items() if any(mark in part.lower() for part in path.parts)), "cline")
    stem = path.stem.removesuffix(".messages")
    builder = SessionFormat(NAME, agent).builder(path, path.parent.name if stem == "api_conversation_history" else stem)
    return SessionFormat(NAME, agent).sessions(path, _parts(path, builder))


def _parts(path: Path, builder: SessionBuilder) -> Iterator[SessionBuilder | Unreadable]:
    reader = _ClineReader(builder, path.parent)
    lost: list[Unreadable] = []
    for part in values(path):
        if isinstance(part, Unreadable):
            lost.append(part)
            continue
        within = part.value.get("messages") if isinstance(part.value, dict) and "role" not in part.value else None
        for place, message in enumerate([part.value] if within is None else as_list(within), start=part.place):
            where = part.where if within is None else f"message {place}"
            if not isinstance(message, dict):
                lost.append(Unreadable(where, f"{kind_of(message)} where a message should be"))
                continue
            with noting_unreadable(reader.builder, where):
                reader.add(message, where, place)
    yield reader.finish()
    yield from lost


class _ClineReader(SessionReader):
    """Reads the messages of one task."""

    def __init__(self, builder: SessionBuilder, folder: Path) -> None:
        super().__init__(builder)
        self._folder = folder

    def add(self, message: _Fields, where: str, place: int) -> None:
        """Add one message: its text, and its calls or results."""
        time = time_of(message.get("ts"))
        content = message.get("content")
        blocks = [as_object(one) for one in content] if isinstance(content, list) else [{"text": text_of(content)}]
        if message.get("isSummary") is True:
            self.builder.compaction()
            self.builder.message("user", text_of(content), time=time, place=place, summary=True)
        elif message.get("role") == "assistant":
            self._add_answer(message, blocks, time, where, place)
        elif message.get("role") == "user":
            self._add_user(blocks, time, place)
        else:
            self.builder.unreadable(where, f"a message whose role is {str(message.get('role'))[:40]!r}")

    def finish(self) -> SessionBuilder:
        """The session, with what the files next to it say."""
        with noting_unreadable(self.builder, "the files next to the conversation"):
            self._add_history(as_object(self._beside("history_item.json")))
            self._add_session(as_object(self._beside(f"{self.builder.ref.native_id}.json")))
            self._add_costs(as_list(self._beside("ui_messages.json")))
        return self.builder

    def _add_answer(self, message: _Fields, blocks: list[_Fields], time: float | None, where: str, place: int) -> None:
        said = text_of([one for one in blocks if "tool_use" != one.get("type") != "thinking"])
        model = string(first_of(as_object(message.get("modelInfo")), "modelId", "id"))
        for block in blocks:
            self.builder.thinking(block.get("thinking"))
        words = _CALL.sub("", said).strip()
        usage = _usage(as_object(message.get("metrics")))
        self.builder.message("assistant", words, time=time, place=place, model=model, usage=usage)
        self.calls.turn()
        for block in blocks:
            if block.get("type") == "tool_use":
                tool, asked = _named(string(block.get("name")), arguments_of(block.get("input")))
                self.calls.make_named(where, block.get("id"), tool, asked, time=time, place=place)
        for found in _CALL.finditer(said):
            tool, asked = _named(found[1], _parameters(found[2]))
            self.calls.make_named(where, None, tool, asked, time=time, place=place)

    def _add_user(self, blocks: list[_Fields], time: float | None, place: int) -> None:
        said: list[str] = []
        tool, result = "", list[str]()
        for block in blocks:
            if block.get("type") == "tool_result":
                parts = as_list(block.get("content"))
                text = _DETAILS.sub("", "\n".join(map(_part_text, parts)) if parts else text_of(block.get("content")))
                flags = [as_object(part)["success"] for part in parts if "success" in as_object(part)]
                marks = _marks(text, failed=block.get("is_error") if not flags else not all(flags))
                self.calls.answer(block.get("tool_use_id"), text, marks, time=time, place=place)
                continue
            text = text_of(block)
            if self.builder.cwd is None and (found := _FOLDER.search(text)):
                self.builder.cwd = found[1]
            text = _DETAILS.sub("", text)
            if head := _RESULT.match(text):
                self._answer(tool, result, time, place)
                tool, result = head[1], [text[head.end() :]]
            elif tool:
                result.append(text)
            else:
                said.append(text)
        self._answer(tool, result, time, place)
        words = "\n".join(text for text in said if text.strip())
        if words:
            asked = _ASKED.match(words)
            self.builder.message("user", asked[2] if asked else words, time=time, place=place)

    def _answer(self, tool: str, result: list[str], time: float | None, place: int) -> None:
        if not tool:
            return
        text = "\n".join(part for part in result if part)
        # MCP tools were renamed when they were called. A task has only one open call at a time.
        known = tool if tool != "use_mcp_tool" else None
        self.calls.answer(None, text, _marks(text, failed=None, tool=tool), tool=known, time=time, place=place)

    def _beside(self, name: str) -> object:
        path = self._folder / name
        try:
            return decode(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError):
            self.builder.unreadable(name, "this file next to the conversation cannot be read")
            return None

    def _add_history(self, about: _Fields) -> None:
        self.builder.cwd = string(about.get("workspace")) or self.builder.cwd
        self.builder.title = string(about.get("task"))
        set_parent(self.builder, identity(about.get("parentTaskId")))

    def _add_session(self, about: _Fields) -> None:
        self.builder.cwd = string(about.get("cwd")) or self.builder.cwd
        self.builder.title = string(as_object(about.get("metadata")).get("title")) or self.builder.title
        set_parent(self.builder, identity(about.get("parent_session_id")))

    def _add_costs(self, shown: list[Any]) -> None:
        """What each request cost, from what the editor showed."""
        usage, cost = NO_USAGE, 0.0
        for event in map(as_object, shown):
            if (time := time_of(event.get("ts"))) is not None:
                self.builder.seen_at(time)
            if event.get("say") != "api_req_started":
                continue
            request = arguments_of(event.get("text"))
            names = {
                "input": "tokensIn",
                "output": "tokensOut",
                "cache_read": "cacheReads",
                "cache_write": "cacheWrites",
            }
            usage = usage + (usage_from(request, **names) or NO_USAGE)
            cost += number(request.get("cost")) or 0.0
        if usage.with_cache:
            self.builder.total_usage = usage
        if cost:
            self.builder.cost_usd = cost


def _part_text(part: object) -> str:
    """The text of one part of a result: each command or file of a call has its own."""
    fields = as_object(part)
    return text_of((fields.get("result") or fields.get("error")) if "success" in fields else part)


def _usage(metrics: _Fields) -> Usage | None:
    return usage_from(
        metrics,
        input="inputTokens",
        output="outputTokens",
        cache_read="cacheReadTokens",
        cache_write="cacheWriteTokens",
    )


def _named(tool: str | None, asked: _Fields) -> tuple[str | None, _Fields]:
    """A tool of an MCP server under its own name, as in other agents."""
    server, name = string(asked.get("server_name")), string(asked.get("tool_name"))
    if tool == "use_mcp_tool" and server and name:
        return f"mcp__{server}__{name}", arguments_of(asked.get("arguments"))
    return tool, asked


def _parameters(body: str) -> _Fields:
    long = _LONG.search(body)
    rest = body if long is None else body[: long.start()] + body[long.end() :]
    found: _Fields = dict(_PARAMETER.findall(rest))
    return found if long is None else {**found, long[1]: long[2]}


def _marks(text: str, *, failed: object, tool: str = "") -> Marks:
    if _DECLINED.match(text):
        return Marks(declined=True)
    if code := _EXIT_CODE.search(text[:300]):
        return Marks(exit_code=int(code[1]))
    if failed is True or _FAILED.match(text):
        return Marks(failed=True)
    if text.startswith("{") and (status := _STATUS.get(str(arguments_of(text[:2000]).get("status")))):
        return status
    if tool == "execute_command" or failed is None:
        # In many versions commands end without a code: their output decides.
        return Marks() if tool == "execute_command" else Marks(failed=False, implied=True)
    return Marks(failed=False)
