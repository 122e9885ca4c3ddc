"""How a session begins: its arm, its block or none, and what is stored about that. Every entry point calls `begin`.

What a conversation begins with stays: one block for each format, the same bytes as long as the conversation lives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from seasoned.command.tool import tool_of
from seasoned.config import Config, WarmSettings
from seasoned.errors import NotFound, StoreError
from seasoned.example.choose.offered import Tools, offered
from seasoned.example.library.storage import Library, count_use
from seasoned.example.provision import (
    BUDGET,
    TOLD_MARK,
    Begun,
    BlockRequest,
    Provisioned,
    begun_with,
    carries_block,
    ensure_block,
    is_under_way,
    last_request,
    provision,
)
from seasoned.store import Store

if TYPE_CHECKING:
    from seasoned.experiment.live.assignment import Enrolled
    from seasoned.lesson.ask import LessonLookup

Warn = Callable[[str], None]


def _log_warning(text: str) -> None:
    # Imported here: a hook never needs it, and has no time for it.
    import logging

    logging.getLogger("seasoned.begin").warning("%s", text)


class NewSession(BlockRequest, frozen=True, kw_only=True):
    """A session that begins: the parts of its first request that matter for the decision.

    `conversation` is the first session of its lineage: a resumed or forked session keeps its block and arm.
    """

    messages: Sequence[Mapping[str, Any]] = ()
    # The key of its project, if it has one. From other projects, it sees only how named tools are called.
    project: str | None = None
    # Its folder, for agents that see the sheet of their project instead of examples.
    folder: str | None = None
    # Its folder, for agents that are reached by messages: commands that cannot work there are not shown.
    workdir: str | None = None


def begin(
    store: Store,
    config: Config,
    session: NewSession,
    settings: WarmSettings,
    *,
    now: float,
    is_late: Callable[[], bool] = lambda: False,
    warn: Warn = _log_warning,
) -> Begun:
    """Decide what a session begins with; one that is under way keeps what it began with.

    `is_late` tells whether the request could not wait and was sent without a block. Raises StoreError if the block
    cannot be stored: a resumed session would begin differently.
    """
    if carries_block(session.messages):
        return Begun(None, "The conversation carries a block already.")
    begins = not is_under_way(session.messages)
    if begins and not settings.enabled:
        return Begun(None, "Warm starts are switched off.")
    enrolled = None
    if settings.experiment is not None and settings.enabled:
        # Experiments are loaded only if one runs: a hook has no time for them.
        from seasoned.experiment.live.assignment import assignments, enrol_here

        try:
            with assignments(config, store) as opened:
                enrolled = enrol_here(opened, store, settings.experiment, session.conversation, now=now, begins=begins)
        except NotFound as error:
            warn(f"Nothing is shown to new sessions: {error}")
            return Begun(None, str(error))
    if enrolled is not None and not enrolled.is_warm:
        if not is_late():
            _note_foregone(store, config, session, settings, enrolled, now, warn)
        reason = f"The arm {enrolled.arm!r} of the experiment {enrolled.experiment!r} shows nothing."
        return Begun(None, reason, arm=enrolled.arm)
    try:
        begun = _ensure(store, session, settings, enrolled, now)
    except NotFound as error:
        if enrolled is None:
            raise
        warn(f"The arm {enrolled.arm!r} of the experiment {enrolled.experiment!r} shows nothing: {error}")
        return Begun(None, str(error), arm=enrolled.arm)
    if begun.is_new and is_late():
        # The request went without it. A block that is found later would change how the conversation began.
        with store.write():
            store.run("template.drop_block_in", {"lineage_root": session.conversation, "format": session.format})
        begun = Begun(None, "The block came too late for the first request.")
    if enrolled is not None and begun.rendered is not None:
        _note_exposure(store, config, session, enrolled, begun.example_ids, now, warn)
    return begun if enrolled is None else msgspec.structs.replace(begun, arm=enrolled.arm)


def _ensure(store: Store, session: NewSession, settings: WarmSettings, enrolled: Enrolled | None, now: float) -> Begun:
    template = session.template or settings.template if enrolled is None else enrolled.template
    if session.folder is not None and not template:
        # Imported here: only agents that work in a project have a sheet.
        from seasoned.begin.start_text import ensure_sheet

        if not settings.tells("start"):
            return Begun(None, "Sessions see nothing at their start.")
        block, is_new = ensure_sheet(store, session.conversation, session.folder, now=now)
        if block is None:
            return Begun(None, "Nothing is known about this project yet.")
        return begun_with(block, "The project sheet.", is_new=is_new)
    return ensure_block(
        store,
        lambda: _library(store, session, now),
        _asked(session, settings, template),
        messages=session.messages,
        now=now,
        told=lambda: _told(store, session, settings, is_kept=True),
    )


def _asked(session: NewSession, settings: WarmSettings, template: str | None) -> BlockRequest:
    return msgspec.structs.replace(session, template=template or None, budget=settings.budget or BUDGET)


def _told(store: Store, session: NewSession, settings: WarmSettings, *, is_kept: bool) -> str:
    """What the first prompt asks for in the session's project; empty for nothing. Once a conversation."""
    if session.folder is not None or not settings.tells("prompt"):
        return ""
    prompt = session.task if session.task is not None else last_request(session.messages)
    name = session.conversation
    lookup, text = asked_for(store, session.project, prompt, session.tools, session.workdir, conversation=name)
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
    project = session.project if folder is None else project_of_conversation(store, session.conversation, folder)
    return library_for(store, project, now=now, folder=session.workdir or folder)


def _note_exposure(
    store: Store,
    config: Config,
    session: NewSession,
    enrolled: Enrolled,
    ids: Sequence[str],
    now: float,
    warn: Warn,
) -> None:
    from seasoned.experiment.live.assignment import assignments, log_exposure

    try:
        with assignments(config, store) as opened:
            log_exposure(opened, enrolled.experiment, session.conversation, arm=enrolled.arm, example_ids=ids, now=now)
    except StoreError as error:
        # The block stays. Results are by arm, which is logged; only the share of exposed sessions suffers.
        warn(f"What a session was shown could not be logged: {error}")


def _note_foregone(
    store: Store,
    config: Config,
    session: NewSession,
    settings: WarmSettings,
    enrolled: Enrolled,
    now: float,
    warn: Warn,
) -> None:
    """Log what a session of the control would have been shown, so that each example can be compared."""
    from seasoned.experiment.live.assignment import assignments, log_foregone

    name = session.conversation
    for arm, template in enrolled.foregone.items():
        try:
            ids = _would_show(store, session, settings, template, now)
            if ids is not None:
                with assignments(config, store) as opened:
                    log_foregone(opened, enrolled.experiment, name, arm=arm, example_ids=ids, now=now)
        except (NotFound, StoreError) as error:
            warn(f"What a session would have been shown in the arm {arm!r} could not be logged: {error}")


def _would_show(
    store: Store, session: NewSession, settings: WarmSettings, template: str, now: float
) -> tuple[str, ...] | None:
    """What a session would be shown in an arm; None for nothing."""
    if session.folder is not None and not template:
        from seasoned.begin.start_text import sheet_ids

        return (sheet_ids(store, session.conversation, session.folder) if settings.tells("start") else ()) or None
    shown = _make(store, session, settings, template, now).rendered
    return None if shown is None else shown.example_ids


def show_once(store: Store, session: NewSession, settings: WarmSettings, *, now: float) -> Begun:
    """A block for a caller that inserts it itself; only its use is counted."""
    told = _told(store, session, settings, is_kept=False)
    made = _make(store, session, settings, session.template or settings.template, now, told)
    if made.block is None or made.rendered is None:
        return Begun(None, made.reason)
    if made.block.template != TOLD_MARK:
        count_use(store, made.block.template, made.rendered.example_ids)
    return Begun(made.rendered, made.reason, made.block.template, is_new=True)


def _make(
    store: Store, session: NewSession, settings: WarmSettings, template: str | None, now: float, told: str = ""
) -> Provisioned:
    """The block that the session would be shown; nothing is stored."""
    asked = _asked(session, settings, template)
    return provision(session.messages, library=_library(store, session, now), asked=asked, told=told)
