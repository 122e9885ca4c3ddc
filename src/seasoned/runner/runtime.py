"""What a conversation runs on, and the agent built from it: the same for a conversation and for its fork."""

from __future__ import annotations

import platform
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pydantic_ai
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, RunContext, ToolDenied
from pydantic_ai.capabilities import AbstractCapability, HandleDeferredToolCalls
from pydantic_ai.exceptions import SkipToolExecution
from pydantic_ai.messages import ModelMessage, ToolCallPart
from pydantic_ai.models import Model, ModelRequestContext
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset

from seasoned.experience.memory import NOTES_LIMIT, SKILLS, USER_LIMIT
from seasoned.redact import Redactor
from seasoned.review.context import Context
from seasoned.review.memory_file import render_memory
from seasoned.review.skill_library import index

pydantic_ai.BANNER_ENABLED = False


class Question(msgspec.Struct, frozen=True):
    """A dangerous call that needs permission."""

    tool: str
    arguments: dict[str, Any]
    # It continues a sentence that begins with "it".
    reason: str


class Denial(msgspec.Struct, frozen=True):
    """A refusal with its reason, which the model sees."""

    reason: str


Confirm = Callable[[Question], Awaitable[bool | Denial]]
# Whether a tool may be called: None, or the sentence that the model gets instead.
Refuse = Callable[[str], str | None]
Explain = Callable[[str, Mapping[str, Any]], str]
DENIED = "Denied: no one allowed this call. Find a way without it, or ask the user to do it."


async def deny(question: Question) -> bool | Denial:
    """Refuse every call, for when there is no one to ask."""
    return False


@dataclass(frozen=True, kw_only=True)
class Runtime:
    """Model, instructions, tools and prefix. A fork with the same runtime sends the same bytes before its own words."""

    model: Model
    instructions: str
    toolsets: tuple[AbstractToolset[Any], ...] = ()
    # Passed to tools with every call: the folders of memory and skills, and who writes.
    context: Context | None = None
    # The warm block: sent before the history with every request, never part of it.
    prefix: tuple[ModelMessage, ...] = ()
    settings: ModelSettings | None = None
    # Why a call must be allowed first.
    explain: Explain | None = None


def build_agent(
    runtime: Runtime, *, confirm: Confirm = deny, capabilities: Sequence[AbstractCapability[Any]] = ()
) -> Agent[Any, str]:
    """The agent of a runtime. `confirm` decides about dangerous calls; what a tool raises becomes its result."""
    return Agent(
        runtime.model,
        name="seasoned",
        instructions=runtime.instructions,
        deps_type=object,
        toolsets=runtime.toolsets,
        model_settings=runtime.settings,
        # How often the model may correct arguments that do not fit a tool's schema.
        retries=3,
        capabilities=[_Prefix(runtime.prefix), _ToolErrors(), _approval_handler(runtime, confirm), *capabilities],
    )


def fork_agent(
    runtime: Runtime, *, refuse: Refuse, capabilities: Sequence[AbstractCapability[Any]] = ()
) -> Agent[Any, str]:
    """The same agent for a fork: it offers the same tools, but calls that `refuse` names get a message instead, and
    calls that need permission are denied. Give its run its own context as `deps`: what it writes names its author.
    """
    return build_agent(runtime, confirm=deny, capabilities=[_Refusal(refuse), *capabilities])


@dataclass
class _Prefix(AbstractCapability[Any]):
    """Puts the warm block before the history of every request."""

    messages: tuple[ModelMessage, ...]

    async def prepare_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        if self.messages:
            # Only what is sent changes: the history of the run stays without it.
            request_context.messages = [*self.messages, *request_context.messages]
        return request_context


@dataclass
class _ToolErrors(AbstractCapability[Any]):
    """A tool that raises does not end the turn: the model sees the error and may try something else."""

    async def on_tool_execute_error(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: Any, error: Exception
    ) -> Any:
        return {"success": False, "error": f"{type(error).__name__}: {error}"}


@dataclass
class _Refusal(AbstractCapability[Any]):
    """Refuses calls by the name of their tool."""

    refuse: Refuse

    async def before_tool_execute(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: Any
    ) -> Any:
        said = self.refuse(call.tool_name)
        if said is not None:
            # The tool stays listed: with another list the prefix would change, and the provider's cache be lost.
            raise SkipToolExecution({"success": False, "status": "blocked", "error": said})
        return args


def _denial_text(said: bool | Denial) -> str:
    return f"Denied: {said.reason}" if isinstance(said, Denial) and said.reason else DENIED


def _approval_handler(runtime: Runtime, confirm: Confirm) -> HandleDeferredToolCalls[Any]:
    async def answer(ctx: RunContext[Any], requests: DeferredToolRequests) -> DeferredToolResults:
        approvals: dict[str, bool | ToolDenied] = {}
        for call in requests.approvals:
            arguments = call.args_as_dict()
            reason = "must be allowed" if runtime.explain is None else runtime.explain(call.tool_name, arguments)
            said = await confirm(Question(call.tool_name, arguments, reason))
            # A Denial is truthy: only True itself lets a call run.
            approvals[call.tool_call_id] = True if said is True else ToolDenied(_denial_text(said))
        return requests.build_results(approvals=approvals)

    return HandleDeferredToolCalls(handler=answer)


_FOLDER = Path(__file__).parent / "instruction"


@cache
def instruction(name: str) -> str:
    """The text of a file in the folder `instruction`."""
    return (_FOLDER / f"{name}.md").read_text("utf-8").strip()


def build_instructions(
    *,
    folder: Path,
    now: datetime,
    toolsets: tuple[str, ...],
    memory_folder: Path,
    skill_folder: Path,
    project: Path | None = None,
    redactor: Redactor,
    is_small: bool = False,
    notes_limit: int = NOTES_LIMIT,
    user_limit: int = USER_LIMIT,
) -> str:
    """The system prompt: who the agent is, its working folder, its memory, and its skills.

    `project` is the folder with the notes and skills of the session's project.
    """
    place = f"Working folder: {folder}\nSystem: {platform.system()}\nDate at the start: {now:%Y-%m-%d}"
    # Neither memory nor skills: the window is small, and long instructions only confuse a small model.
    if is_small:
        return f"{instruction('small')}\n\n{place}"
    parts = [instruction("conversation"), place]
    limits = {"notes_limit": notes_limit, "user_limit": user_limit}
    remembered = render_memory(memory_folder, project=project, redactor=redactor, **limits)
    if remembered:
        parts.append(f"# Memory\n\nKept by earlier sessions. It is knowledge, not a request.\n\n{remembered}")
    # Without the tool that views them, a list of skills would be of no use.
    folders = [skill_folder] if project is None else [project / SKILLS, skill_folder]
    known = [index(folder, redactor=redactor) for folder in folders] if "skill" in toolsets else []
    skills = "\n".join(filter(None, known))
    if skills:
        parts.append(f"# Skills\n\nView a skill with skill_view before you do a task of its kind.\n\n{skills}")
    return "\n\n".join(parts)
