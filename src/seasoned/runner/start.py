"""Starts or resumes a conversation from the configuration: model, tools, memory, warm block, recorder."""

from __future__ import annotations

import copy
import sqlite3
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter

from seasoned.begin.ongoing import (
    CallHints,
    Retraction,
    experiment_database,
    find_retraction,
    is_held_back,
    knows_repairs,
)
from seasoned.begin.settings import begin_settings
from seasoned.begin.warm_start import NewSession, begin
from seasoned.command.risk import need_of_call
from seasoned.config import Config, command_environment
from seasoned.confirm.client import RequestView, SaidNo, configured_client, in_thread
from seasoned.errors import SeasonedError, StoreError
from seasoned.experience.ask import lookup_for
from seasoned.history.reader.seasoned_db import AGENT
from seasoned.redact.key import Secrecy
from seasoned.review.context import Context, JobScheduler
from seasoned.runner.compress import Compressor
from seasoned.runner.conversation import Conversation, TurnLimits, Warm, Warmth
from seasoned.runner.model import ModelChoice, open_model
from seasoned.runner.record import BackgroundRecorder, ConversationInfo, RecordedConversation, messages_of, new_ref
from seasoned.runner.runtime import Confirm, Denial, Explain, Question, Runtime, build_instructions, deny
from seasoned.runner.toolset.registry import SMALL_TOOLSETS, TOOLSETS, build_toolsets, danger_of, listed_tools
from seasoned.session import SessionRef, ToolCall
from seasoned.store import open_store
from seasoned.store.project import project_key
from seasoned.template.block import Format
from seasoned.template.library.storage import cached_library, find_block
from seasoned.template.library.upkeep import watch

# The action of a dangerous call that is not one of the ten high-risk actions; a policy may allow it for a session.
OTHER_ACTIONS = {"terminal": "destructive_command", "execute_code": "destructive_code"}
OTHER_ACTION = "dangerous_call"
Tell = Callable[[str], None]


def confirming(config: Config, *, otherwise: Confirm, session_key: str, folder: Path, tell: Tell) -> Confirm:
    """How to ask: through the confirmation service, or without one through `otherwise` (the terminal, or always no)."""
    if config.confirm_url is None:
        return otherwise

    async def ask(question: Question) -> bool | Denial:
        # The call runs later with the same arguments; this copy is what a person sees.
        arguments = copy.deepcopy(question.arguments)
        need = need_of_call(question.tool, arguments, agent="seasoned", folder=folder)
        action = need.action if need is not None else OTHER_ACTIONS.get(question.tool, OTHER_ACTION)
        description = need.description if need is not None else f"{question.tool}: it {question.reason}"
        details: dict[str, Any] = {"tool": question.tool, "arguments": arguments}
        details |= {**(need.details if need is not None else {}), "folder": str(folder)}

        def waiting(seen: RequestView) -> None:
            if seen.status == "pending":
                tell(f"Waiting for a person to confirm {seen.action} (request {seen.id}).")

        try:
            client = configured_client(config)
            await in_thread(
                lambda call: client.confirm(
                    action,
                    description,
                    details,
                    label="seasoned",
                    session_key=session_key,
                    call=call,
                    on_submitted=waiting,
                )
            )
        # A refusal is passed on as it is; for any other failure the model needs to know what to do next.
        except SaidNo as error:
            return Denial(str(error))
        except SeasonedError as error:
            return Denial(f"{error} Find a way without this call, or ask the user to do it.")
        # What was approved must be what will run.
        if arguments != question.arguments:
            return Denial("the arguments changed while a person was asked. Make the call again.")
        return True

    return ask


# The mark that redaction leaves. Recorded instructions that hold it are not what the model got, so they are rebuilt.
_TAG = "[redacted:"


class ConversationOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The model, folder, tools and recording of a conversation."""

    choice: ModelChoice
    folder: Path
    toolsets: tuple[str, ...] | None = None
    # The name of a template, or `auto`.
    warm: str | None = None
    platform: str = "cli"
    is_recorded: bool = True
    # The id of the recorded session, if it is not a new one.
    session_id: str | None = None
    title: str | None = None
    # What the warm block is chosen for, if the first message holds more than the task.
    words: str | None = None


def start(
    config: Config,
    secrecy: Secrecy,
    options: ConversationOptions,
    *,
    recorded: RecordedConversation | None = None,
    confirm: Confirm = deny,
    tell: Tell = lambda line: None,
    jobs: JobScheduler | None = None,
) -> Conversation:
    """A conversation that is ready for its first turn; with `recorded`, one that continues where it ended.

    Dangerous calls go to the confirmation service if one is configured, otherwise to `confirm`; `tell` gets a line
    while a person is being asked. With `jobs` the agent has the tool that schedules them.
    """
    runtime = build_runtime(config, secrecy, options, recorded=recorded, jobs=jobs)
    names = toolset_names(config, options, recorded, jobs)
    about = recorded.about if recorded is not None else _about(options, runtime, names)
    assert runtime.context is not None  # build_runtime always gives one
    runtime = replace(runtime, context=replace(runtime.context, root=about.lineage_root))
    recorder = BackgroundRecorder(config.store_path, secrecy, about, recorded=recorded) if options.is_recorded else None
    may_be_told = options.is_recorded or options.warm is not None
    window = config.context_length or runtime.model.context_window
    return Conversation(
        runtime,
        ref=about.ref,
        parent=about.parent,
        history=messages_of(recorded.bodies) if recorded is not None else (),
        limits=TurnLimits(steps=config.turn_steps, turn_seconds=config.turn_seconds, context_tokens=window),
        confirm=confirming(
            config, otherwise=confirm, session_key=about.lineage_root, folder=options.folder.resolve(), tell=tell
        ),
        recorder=recorder,
        compress=Compressor(config.store_path, secrecy),
        # A resumed conversation keeps the block that it began with, also if there was none.
        warm=_warming(config, options, runtime, about) if recorded is None and may_be_told else None,
        hint=partial(hint, config, about.lineage_root, options.folder.resolve()) if may_be_told else None,
        guard=partial(retract, config.store_path, about.lineage_root) if options.is_recorded else None,
    )


def build_runtime(
    config: Config,
    secrecy: Secrecy,
    options: ConversationOptions,
    *,
    recorded: RecordedConversation | None = None,
    jobs: JobScheduler | None = None,
) -> Runtime:
    """What the conversation runs on; a recorded one keeps its instructions, tools and prefix."""
    names = toolset_names(config, options, recorded, jobs)
    folder = options.folder.resolve()
    context = Context(
        home=config.home,
        secrecy=secrecy,
        memory_folder=config.memory_folder,
        skill_folder=config.skill_folder,
        platform=options.platform,
        folder=str(folder),
        project=_project(config, folder, is_recorded=options.is_recorded),
        config=config,
        jobs=jobs,
    )
    instructions = recorded.about.instructions if recorded is not None else ""
    if not instructions or _TAG in instructions:
        instructions = build_instructions(
            folder=folder,
            now=datetime.now().astimezone(),
            toolsets=names,
            memory_folder=context.memory_folder,
            skill_folder=context.skill_folder,
            project=context.project_folder,
            redactor=secrecy.redactor(),
            is_small=options.choice.is_small,
        )
    warmth = known_block(config.store_path, recorded.about.lineage_root) if recorded is not None else None
    return Runtime(
        model=open_model(options.choice, context_length=config.context_length),
        instructions=instructions,
        toolsets=build_toolsets(names, folder, environment=command_environment()),
        context=context,
        prefix=warmth.messages if warmth is not None else (),
        explain=_explain(folder),
    )


def _project(config: Config, folder: Path, *, is_recorded: bool) -> str | None:
    """The key of the project that a conversation works in."""
    # What is not recorded must not create a store.
    if not is_recorded and not config.store_path.exists():
        return None
    try:
        with open_store(config.store_path) as store:
            return project_key(store, str(folder))
    except StoreError:
        return None  # a conversation also starts without its store


def toolset_names(
    config: Config,
    options: ConversationOptions,
    recorded: RecordedConversation | None = None,
    jobs: JobScheduler | None = None,
) -> tuple[str, ...]:
    """The toolsets: as requested, as recorded, as configured, or what the model can be expected to handle."""
    if options.toolsets is not None:
        return options.toolsets
    if recorded is not None:
        return recorded.about.toolsets
    if config.toolsets or options.choice.is_small:
        return config.toolsets or SMALL_TOOLSETS
    # A tool that could only answer that it is not available is not offered.
    off = {"confirm": config.confirm_url is None, "schedule": jobs is None}
    return tuple(name for name in TOOLSETS if not off.get(name, False))


def _about(options: ConversationOptions, runtime: Runtime, names: tuple[str, ...]) -> ConversationInfo:
    return ConversationInfo(
        ref=new_ref() if options.session_id is None else SessionRef(AGENT, options.session_id),
        model=options.choice.name,
        base_url=options.choice.base_url,
        instructions=runtime.instructions,
        toolsets=names,
        cwd=str(options.folder.resolve()),
        platform=options.platform,
        title=options.title,
    )


def _warming(config: Config, options: ConversationOptions, runtime: Runtime, about: ConversationInfo) -> Warm:
    """A function that makes the warm block for the first message, once that is known."""

    def warm(task: str) -> Warmth:
        return warm_block(
            config,
            lineage_root=about.lineage_root,
            task=options.words or task,
            tools=listed_tools(runtime.toolsets),
            folder=options.folder.resolve(),
            template=options.warm,
            is_small=options.choice.is_small,
        )

    return warm


def _explain(folder: Path) -> Explain:
    def explain(tool: str, arguments: Mapping[str, Any]) -> str:
        found = danger_of(tool, arguments, folder)
        return "must be allowed" if found is None else found.reason

    return explain


FORMAT: Format = "pydantic-ai"
AUTO = "auto"


def warm_block(
    config: Config,
    *,
    lineage_root: str,
    task: str,
    tools: Sequence[dict[str, Any]],
    folder: Path | None = None,
    template: str | None = AUTO,
    is_small: bool = False,
    clock: Callable[[], float] = time.time,
) -> Warmth:
    """Make the block of a conversation at its first turn; `auto` takes the template that fits the task best.

    While an experiment runs, a conversation that begins with `auto` is assigned to an arm like any other session. With
    None it has no examples, only the commands that the task asks for in its project.
    """
    session = NewSession(
        id=lineage_root,
        format=FORMAT,
        task=task,
        tools=list(tools),
        forms=() if template is None else ("messages",),
        template=None if template == AUTO else template,
        is_small=is_small,
        workdir=None if folder is None else str(folder),
        may_be_assigned=template == AUTO,
    )
    settings = begin_settings(config, "chat")
    if template is not None:
        settings = settings.on_request()
    try:
        with open_store(config.store_path) as store:
            project = project_key(store, None if folder is None else str(folder))
            session = msgspec.structs.replace(session, project=project)
            begun = begin(store, lambda: experiment_database(config, store), session, settings, now=clock())
    # Without its store a conversation begins cold instead of failing.
    except StoreError as error:
        return Warmth((), str(error))
    if begun.content is None:
        return Warmth((), begun.reason)
    return Warmth(_messages(begun.content), begun.reason, begun.template)


def known_block(store_path: Path, lineage_root: str) -> Warmth | None:
    """The block that a recorded conversation began with; None if it began without."""
    with open_store(store_path) as store:
        block = find_block(store, lineage_root, FORMAT)
    if block is None:
        return None
    reason = "The block that the conversation began with."
    return Warmth(_messages(block.content), reason, f"{block.template}@{block.version}")


def hint(
    config: Config, lineage_root: str, folder: Path, call: ToolCall, *, clock: Callable[[], float] = time.time
) -> str:
    """What fixed such a failed call in this project before; empty if nothing is known."""
    settings = begin_settings(config, "chat")
    if not settings.tells("calls") or not config.store_path.exists():
        return ""
    try:
        with open_store(config.store_path) as store:
            lookup = lookup_for(store, lineage_root, str(folder))
            if lookup is None or not knows_repairs(store, lookup.project):
                return ""
            if is_held_back(lambda: experiment_database(config, store), lineage_root, settings, now=clock()):
                return ""
            return CallHints().decide(lookup, call, agent=AGENT)
    # A hint is never worth a failed turn.
    except (SeasonedError, sqlite3.Error):
        return ""


def retract(
    store_path: Path, lineage_root: str, retracted: Collection[str], *, clock: Callable[[], float] = time.time
) -> Retraction | None:
    """Run the harm guard; if it suspends what this conversation was shown, the line that retracts it."""
    try:
        with open_store(store_path) as store:
            block = find_block(store, lineage_root, FORMAT)
            shown = set(block.example_ids if block is not None else ()) - set(retracted)
            if not shown:
                return None
            watch(store, cached_library(store, now=clock()), now=clock())
            return find_retraction(cached_library(store, now=clock()), shown)
    # A safeguard must not break the conversation that it guards.
    except (SeasonedError, sqlite3.Error):
        return None


def _messages(content: bytes) -> tuple[ModelMessage, ...]:
    return tuple(ModelMessagesTypeAdapter.validate_json(content))
