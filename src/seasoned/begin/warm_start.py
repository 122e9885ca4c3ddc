"""How a session begins: its arm, its block or none, and what is stored about that. Every entry point calls `begin`.

What a conversation begins with stays: one block for each format, the same bytes as long as the conversation lives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from seasoned.begin.ongoing import OpenDatabase
from seasoned.begin.settings import BeginSettings
from seasoned.command.tool import tool_of
from seasoned.errors import NotFound, StoreError
from seasoned.example.block import Form, Format
from seasoned.example.choose.offered import Tools, offered
from seasoned.example.library.storage import Library, count_use, find_block, remember_block
from seasoned.example.provision import (
    BUDGET,
    TOLD_MARK,
    BlockMemory,
    BlockRequest,
    Ensured,
    Provisioned,
    carries_block,
    ensure_block,
    is_under_way,
    last_request,
    provision,
)
from seasoned.example.render import Rendered
from seasoned.store import Store
from seasoned.text import count_tokens

if TYPE_CHECKING:
    from seasoned.experiment.live.assignment import Enrolled
    from seasoned.lesson.ask import LessonLookup

Warn = Callable[[str], None]
_MEMORY = BlockMemory()
NO_EXAMPLES = Library()


def _log_warning(text: str) -> None:
    # Imported here: a hook never needs it, and has no time for it.
    import logging

    logging.getLogger("seasoned.begin").warning("%s", text)


class NewSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session that begins: the parts of its first request that matter for the decision."""

    # `agent:native id` of the first session of its lineage: a resumed or forked session keeps its block and arm.
    id: str
    format: Format
    # The forms in which examples may be shown; the first with something to show is used. Without a form, only what the
    # first prompt asks for is shown.
    forms: tuple[Form, ...] = ("messages",)
    messages: Sequence[Mapping[str, Any]] = ()
    task: str | None = None  # what the session is about; by default what the user said last
    tools: Tools | None = None
    # A template that was asked for; None for the one of the settings, or else the one that fits.
    template: str | None = None
    is_small: bool = False  # whether the model is a very small one
    # The key of its project, if it has one. From other projects, it sees only how named tools are called.
    project: str | None = None
    # Its folder, for agents that see the sheet of their project instead of examples.
    folder: str | None = None
    # Its folder, for agents that are reached by messages: commands that cannot work there are not shown.
    workdir: str | None = None
    # False if the session was begun for a certain template: it was not chosen at random, so it is in no experiment.
    may_be_assigned: bool = True


class Begun(msgspec.Struct, frozen=True):
    """What a session begins with, and the reason."""

    rendered: Rendered | None
    reason: str
    template: str | None = None  # `name@version`
    arm: str | None = None  # the session's arm in the running experiment; None if it takes no part
    is_new: bool = False  # whether the block was made by this call, rather than found

    @property
    def content(self) -> bytes | None:
        return None if self.rendered is None else self.rendered.content

    @property
    def example_ids(self) -> tuple[str, ...]:
        return () if self.rendered is None else self.rendered.example_ids


def begin(
    store: Store,
    database: OpenDatabase,
    session: NewSession,
    settings: BeginSettings,
    *,
    now: float,
    memory: BlockMemory = _MEMORY,
    is_late: Callable[[], bool] = lambda: False,
    warn: Warn = _log_warning,
) -> Begun:
    """Decide what a session begins with; one that is under way keeps what it began with.

    `database` is opened only if an experiment runs. `is_late` tells whether the request could not wait and was sent
    without a block. Raises StoreError if the block cannot be stored: a resumed session would begin differently.
    """
    if carries_block(session.messages):
        return Begun(None, "The conversation carries a block already.")
    begins = not is_under_way(session.messages)
    if begins and not settings.is_enabled:
        return Begun(None, "Warm starts are switched off.")
    enrolled = None
    if settings.experiment is not None and settings.is_enabled:
        # Experiments are loaded only if one runs: a hook has no time for them.
        try:
            enrolled = _enrol(store, database, session, settings.experiment, begins=begins, now=now)
        except NotFound as error:
            warn(f"Nothing is shown to new sessions: {error}")
            return Begun(None, str(error))
    if enrolled is not None and not enrolled.is_warm:
        if not is_late():
            _note_foregone(store, database, session, settings, enrolled, now, warn)
        reason = f"The arm {enrolled.arm!r} of the experiment {enrolled.experiment!r} shows nothing."
        return Begun(None, reason, arm=enrolled.arm)
    try:
        ensured = _ensure(store, session, settings, enrolled, now, memory)
    except NotFound as error:
        if enrolled is None:
            raise
        warn(f"The arm {enrolled.arm!r} of the experiment {enrolled.experiment!r} shows nothing: {error}")
        return Begun(None, str(error), arm=enrolled.arm)
    if ensured.is_new and find_block(store, session.id, session.format) is None:
        raise StoreError("The block could not be kept, so nothing is shown: a resumed session would begin otherwise.")
    arm = None if enrolled is None else enrolled.arm
    if ensured.is_new and is_late():
        # The request went without it. A block that is found later would change how the conversation began.
        with store.write():
            store.run("template.drop_block_in", {"lineage_root": session.id, "format": session.format})
        return Begun(None, "The block came too late for the first request.", arm=arm)
    if enrolled is not None and ensured.rendered is not None:
        _note_exposure(database, session, enrolled, ensured.rendered.example_ids, now, warn)
    return Begun(ensured.rendered, ensured.reason, ensured.template, arm, ensured.is_new)


def _enrol(
    store: Store, database: OpenDatabase, session: NewSession, experiment: str, *, begins: bool, now: float
) -> Enrolled | None:
    from seasoned.experiment.live.assignment import enrol_here

    with database() as opened:
        begins = begins and session.may_be_assigned
        return enrol_here(opened, store, experiment, session.id, now=now, begins=begins)


def _ensure(
    store: Store,
    session: NewSession,
    settings: BeginSettings,
    enrolled: Enrolled | None,
    now: float,
    memory: BlockMemory,
) -> Ensured:
    template = session.template or settings.template if enrolled is None else enrolled.template
    if session.folder is not None and not template:
        # Imported here: only agents that work in a project have a sheet.
        from seasoned.begin.start_text import ensure_sheet

        if not settings.tells("start"):
            return Ensured(None, "Sessions see nothing at their start.")
        block, is_new = ensure_sheet(store, session.id, session.folder, now=now)
        if block is None:
            return Ensured(None, "Nothing is known about this project yet.")
        tokens = count_tokens(block.content.decode("utf-8", "replace"))
        shown = Rendered("text", "text", block.content, tokens, block.example_ids, block.digest)
        return Ensured(shown, "The project sheet.", f"{block.template}@{block.version}", is_new)
    ensured = Ensured(None, "Nothing fits.")
    for form in session.forms or ("messages",):
        ensured = ensure_block(
            store,
            lambda: _library(store, session, now) if session.forms else NO_EXAMPLES,
            _asked(session, settings, form, template),
            messages=session.messages,
            now=now,
            memory=memory,
            told=lambda: _told(store, session, settings, is_kept=True),
        )
        if ensured.rendered is not None:
            break
    return ensured


def _asked(session: NewSession, settings: BeginSettings, form: Form, template: str | None) -> BlockRequest:
    return BlockRequest(
        conversation=session.id,
        format=session.format,
        form=form,
        tools=session.tools,
        task=session.task,
        template=template or None,
        budget=settings.budget or BUDGET,
        is_small=session.is_small,
    )


def _told(store: Store, session: NewSession, settings: BeginSettings, *, is_kept: bool) -> str:
    """What the first prompt asks for in the session's project; empty for nothing. Once a conversation."""
    if session.folder is not None or not settings.tells("prompt"):
        return ""
    prompt = session.task if session.task is not None else last_request(session.messages)
    lookup, text = asked_for(store, session.project, prompt, session.tools, session.workdir, conversation=session.id)
    return text if lookup is not None and text and (not is_kept or lookup.tell_once("prompt", "")) else ""


def asked_for(
    store: Store, project: str | None, prompt: str, tools: Tools | None, folder: str | None, *, conversation: str = ""
) -> tuple[LessonLookup | None, str]:
    """The commands of a project that a first prompt asks for, and where they were looked up."""
    # A session without a shell cannot run them.
    if project is None or (tools is not None and not any(tool_of(name).form == "shell" for name in offered(tools))):
        return None, ""
    # Imported here: a hook tells the first prompt by itself.
    from seasoned.lesson.ask import LessonLookup

    lookup = LessonLookup(store, project, conversation, folder)
    return lookup, lookup.first_prompt(prompt)


def _library(store: Store, session: NewSession, now: float) -> Library:
    """The library that the session may be shown: nothing of other projects."""
    # Imported here: a hook shows the sheet, and seldom gets here.
    from seasoned.example.library.storage import library_for
    from seasoned.store.project import project_of_conversation

    folder = session.folder
    project = session.project if folder is None else project_of_conversation(store, session.id, folder)
    return library_for(store, project, now=now, folder=session.workdir or folder)


def _note_exposure(
    database: OpenDatabase, session: NewSession, enrolled: Enrolled, ids: Sequence[str], now: float, warn: Warn
) -> None:
    from seasoned.experiment.live.assignment import log_exposure

    try:
        with database() as opened:
            log_exposure(opened, enrolled.experiment, session.id, arm=enrolled.arm, example_ids=ids, now=now)
    except StoreError as error:
        # The block stays. Results are by arm, which is logged; only the share of exposed sessions suffers.
        warn(f"What a session was shown could not be logged: {error}")


def _note_foregone(
    store: Store,
    database: OpenDatabase,
    session: NewSession,
    settings: BeginSettings,
    enrolled: Enrolled,
    now: float,
    warn: Warn,
) -> None:
    """Log what a session of the control would have been shown, so that each example can be compared."""
    from seasoned.experiment.live.assignment import log_foregone

    for arm, template in enrolled.foregone.items():
        try:
            ids = _would_show(store, session, settings, template, now)
            if ids is not None:
                with database() as opened:
                    log_foregone(opened, enrolled.experiment, session.id, arm=arm, example_ids=ids, now=now)
        except (NotFound, StoreError) as error:
            warn(f"What a session would have been shown in the arm {arm!r} could not be logged: {error}")


def _would_show(
    store: Store, session: NewSession, settings: BeginSettings, template: str, now: float
) -> tuple[str, ...] | None:
    """What a session would be shown in an arm; None for nothing."""
    if session.folder is not None and not template:
        from seasoned.begin.start_text import sheet_ids

        return (sheet_ids(store, session.id, session.folder) if settings.tells("start") else ()) or None
    shown = _make(store, session, settings, template, now).rendered
    return None if shown is None else shown.example_ids


def show_once(store: Store, session: NewSession, settings: BeginSettings, *, now: float) -> Begun:
    """A block for a caller that inserts it itself; only its mark and use are stored."""
    told = _told(store, session, settings, is_kept=False)
    made = _make(store, session, settings, session.template or settings.template, now, told)
    if made.block is None or made.rendered is None:
        return Begun(None, made.reason)
    # The session is recognised by the opening line of the block when its history is read.
    remember_block(store, made.block.digest, made.rendered.example_ids, now=now)
    if made.block.template != TOLD_MARK:
        count_use(store, made.block.template, made.rendered.example_ids)
    return Begun(made.rendered, made.reason, made.block.template, is_new=True)


def _make(
    store: Store, session: NewSession, settings: BeginSettings, template: str | None, now: float, told: str = ""
) -> Provisioned:
    """The block that the session would be shown, in the first form with something to show; nothing is stored."""
    made = Provisioned([], None, None, "No form was given.")
    for form in session.forms:
        asked = _asked(session, settings, form, template)
        made = provision(session.messages, library=_library(store, session, now), asked=asked, told=told)
        if made.rendered is not None:
            break
    return made
