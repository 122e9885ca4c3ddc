"""The tool `warm_session` for models: one implementation for our agent, the Hermes plugin and the MCP server.

Answers are plain objects with `success`. An error is a sentence in `error`; nothing is raised at a model.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, get_args

import msgspec

from seasoned.admission import admitted
from seasoned.begin.warm_start import NewSession, begin, show_once
from seasoned.config import Config, EntryPoint, WarmSettings
from seasoned.errors import NotFound, SeasonedError, UsageError
from seasoned.example.block import Format
from seasoned.example.example import check_name
from seasoned.example.library.storage import delete, library_for, listed, save, why_not_here
from seasoned.example.mine.miner import build
from seasoned.example.mine.selection import MiningOptions
from seasoned.example.provision import BUDGET, Begun
from seasoned.experiment.live.assignment import is_held_back
from seasoned.outcome.track import Track, tracks
from seasoned.redact.redactor import Redactor
from seasoned.report.compare import compare_sessions
from seasoned.report.compression import fill, outlines
from seasoned.report.json_answer import comparison_answer, compression_answer, track_answer
from seasoned.report.profile import profile
from seasoned.store import Store
from seasoned.store.search import find_session

Action = Literal["build", "list", "load", "delete", "profile", "compress-check", "compare"]
ACTIONS: tuple[Action, ...] = get_args(Action)
DESCRIPTION = (
    "Start warm: learn templates from earlier sessions that went well, load what worked as history for this one, and "
    "look at how reliable sessions were. Actions: build a template, list them, load one, delete one, profile a "
    "session, compress-check it, compare two."
)
# What `load` previews: the first messages, each up to this many characters.
_PREVIEWED = 4
_PREVIEW_CHARS = 300


class WarmSessionArguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of the tool."""

    action: Action
    # The template, for build and delete; load without a name takes the one that fits best.
    name: str | None = None
    description: str = ""
    # Build: the fewest messages that a session must have.
    min_messages: Annotated[int, msgspec.Meta(ge=0)] = 30
    max_sessions: Annotated[int, msgspec.Meta(ge=1)] = 30
    # Build: only sessions from one place, as the agent recorded it (cli, telegram …), or of one agent.
    source_filter: str | None = None
    tags: tuple[str, ...] = ()  # build: words to find it by; list: any of these
    session_id: str | None = None  # for profile, compress-check and compare
    compare_with: str | None = None  # the session to compare with; it counts as the cold one
    task: str | None = None  # load: what the session is about to do
    # Load: the tools that the session has, by name or with their schemas.
    tools: tuple[str | dict[str, Any], ...] | None = None
    budget: Annotated[int, msgspec.Meta(ge=1)] = BUDGET
    format: Format = "openai"


class _Context(msgspec.Struct, frozen=True):
    """What the actions work with."""

    store: Store
    redactor: Redactor
    now: float
    session: str | None
    begins: bool
    settings: WarmSettings
    config: Config
    project: str | None
    workdir: str | None = None


def warm_session(
    store: Store,
    arguments: Mapping[str, Any],
    *,
    redactor: Redactor,
    session: str | None = None,
    config: Config,
    entry: EntryPoint,
    project: str | None = None,
    workdir: str | None = None,
) -> dict[str, Any]:
    """Run one action. Wrong arguments and failures are answers, which a model can act on.

    `session` is the root of the session that asks, if it is known: `load` gives it nothing if the running experiment
    holds examples back from it. `project` is the key of its project, `workdir` the folder that it works in.
    """
    settings = config.warm.at(entry)
    # Where only this server is known, the session is not begun anywhere else, so that `load` is its beginning.
    begins = entry == "mcp"
    context = _Context(store, redactor, time.time(), session, begins, settings, config, project, workdir)
    try:
        given = msgspec.convert(dict(arguments), WarmSessionArguments)
        found = _ACTIONS[given.action](context, given)
        # A block passed the gate when it was made; the other answers hold names and errors as sessions had them.
        return {"success": True, **(found if given.action == "load" else admitted(found))}
    except msgspec.ValidationError as error:
        return {"success": False, "error": _wrong(str(error))}
    except SeasonedError as error:
        return {"success": False, "error": str(error)}
    except ImportError as error:
        return {"success": False, "error": f"This needs {error.name}. Run: pip install seasoned"}
    except (OSError, sqlite3.Error) as error:
        return {"success": False, "error": f"The store failed ({error}). Run `seasoned doctor`."}


def _wrong(said: str) -> str:
    """What is wrong with the arguments, and what would be right."""
    if "`action`" in said or "$.action" in said:
        return f"{said}. Actions are {', '.join(ACTIONS)}."
    return f"{said}. Fields are {', '.join(WarmSessionArguments.__struct_fields__)}."


def _build(context: _Context, given: WarmSessionArguments) -> dict[str, Any]:
    name = check_name(_needed(given.name, "name", given.action))
    redactor = context.redactor
    made = build(
        context.store,
        name=name,
        now=context.now,
        redactor=redactor,
        options=MiningOptions(
            min_messages=given.min_messages, max_sessions=given.max_sessions, source=given.source_filter
        ),
        description=redactor.text(given.description),
        tags=[redactor.text(tag) for tag in given.tags],
    )
    kept = save(context.store, made)
    library = library_for(context.store, context.project, now=context.now, folder=context.workdir)
    return {
        "name": kept.name,
        "pattern_count": len(kept.examples),
        # Of these, how many a session of this project is shown without asking for the template, and why not others.
        "here_count": len(library.chosen_from(kept.name)),
        "not_here": why_not_here(library, kept),
        "description": kept.description,
        "metrics": {
            "sessions_scanned": kept.metrics.sessions_scanned,
            "sessions_qualified": kept.metrics.sessions_qualified,
            "avg_proficiency_gain": kept.metrics.avg_proficiency_gain,
        },
    }


def _list(context: _Context, given: WarmSessionArguments) -> dict[str, Any]:
    library = library_for(context.store, context.project, now=context.now, folder=context.workdir)
    found = [
        {
            "name": one.name,
            "description": one.description,
            "tags": list(one.tags),
            "task_type": one.task_type,
            "pattern_count": one.example_count,
            "here_count": one.here_count,
            "created_at": one.created_at,
            "version": one.version,
            "usage_count": one.usage_count,
        }
        for one in listed(context.store, tags=given.tags, library=library)
    ]
    return {"templates": found, "count": len(found)}


def _load(context: _Context, given: WarmSessionArguments) -> dict[str, Any]:
    session = NewSession(
        conversation=context.session or "",
        format=given.format,
        task=given.task or "",
        tools=given.tools,
        template=given.name or None,
        project=context.project,
        workdir=context.workdir,
    )
    begun = _begin(context, session, msgspec.structs.replace(context.settings.on_request(), budget=given.budget))
    if begun.content is None or begun.template is None:
        raise NotFound(begun.reason)
    is_text = given.format == "text"
    text = begun.content.decode("utf-8")
    conversation: Any = text if is_text else msgspec.json.decode(text)
    return {
        "name": begun.template.rpartition("@")[0],
        "message_count": 1 if is_text else len(conversation),
        "pattern_count": len(begun.example_ids),
        "conversation": conversation,
        "conversation_preview": _preview([{"role": "user", "content": text}] if is_text else conversation),
    }


def _preview(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first messages of a conversation, with long texts cut; what else they hold stays as it is."""

    def cut(value: Any) -> Any:
        if isinstance(value, str):
            return value if len(value) <= _PREVIEW_CHARS else f"{value[:_PREVIEW_CHARS]}…"
        if isinstance(value, list):
            return [cut(one) for one in value]
        return {key: cut(one) for key, one in value.items()} if isinstance(value, dict) else value

    return [{key: cut(value) for key, value in one.items()} for one in messages[:_PREVIEWED]]


def _begin(context: _Context, session: NewSession, settings: WarmSettings) -> Begun:
    if context.session is not None and context.begins and session.template is None:
        return begin(context.store, context.config, session, settings, now=context.now)
    if context.session is not None and is_held_back(
        context.config, context.store, context.session, settings, now=context.now
    ):
        return Begun(None, f"The experiment {settings.experiment!r} holds examples back from this session.")
    # The session is under way, unknown, or wants a certain template: nothing is kept that would change its beginning.
    return show_once(context.store, session, settings, now=context.now)


def _delete(context: _Context, given: WarmSessionArguments) -> dict[str, Any]:
    name = _needed(given.name, "name", given.action)
    return {"name": name, "deleted_versions": delete(context.store, name)}


def _profile(context: _Context, given: WarmSessionArguments) -> dict[str, Any]:
    track = _track(context.store, _needed(given.session_id, "session_id", given.action))
    return track_answer(track, profile(track))


def _compress_check(context: _Context, given: WarmSessionArguments) -> dict[str, Any]:
    asked = _track(context.store, _needed(given.session_id, "session_id", given.action)).ref
    chain = next(one for one in outlines(context.store) if asked in [track.ref for track in one])
    return compression_answer(asked, fill(context.store, chain))


def _compare(context: _Context, given: WarmSessionArguments) -> dict[str, Any]:
    warm = _track(context.store, _needed(given.session_id, "session_id", given.action))
    cold = _track(context.store, _needed(given.compare_with, "compare_with", given.action))
    return comparison_answer(compare_sessions(warm, cold), as_sets=False)


def _track(store: Store, session: str) -> Track:
    return next(tracks(store, sessions=[find_session(store, session)["id"]]))


def _needed(value: str | None, name: str, action: str) -> str:
    if not value:
        raise UsageError(f"The action {action!r} needs {name!r}.")
    return value


_ACTIONS: dict[Action, Callable[[_Context, WarmSessionArguments], dict[str, Any]]] = {
    "build": _build,
    "list": _list,
    "load": _load,
    "delete": _delete,
    "profile": _profile,
    "compress-check": _compress_check,
    "compare": _compare,
}
