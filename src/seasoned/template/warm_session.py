"""The agent-facing tool `warm_session`: one implementation behind the agent, the plugin and the MCP server.

Answers are plain objects with `success`; what went wrong is a sentence in `error`, and nothing is raised at a model.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, get_args

import msgspec

from seasoned.errors import NotFound, SeasonedError, UsageError
from seasoned.insight.compare import compare_sessions
from seasoned.insight.compression import fill, outlines
from seasoned.insight.json_answer import comparison_answer, compression_answer, track_answer
from seasoned.insight.profile import profile
from seasoned.insight.track import Track, tracks
from seasoned.redact.redactor import Redactor
from seasoned.store import Store
from seasoned.store.search import find_session
from seasoned.template.block import Format
from seasoned.template.example import check_name
from seasoned.template.library.storage import count_use, current, delete, listed, remember_block, save
from seasoned.template.library.usage import template_use
from seasoned.template.mine.build import build
from seasoned.template.mine.selection import MiningOptions
from seasoned.template.provision import BUDGET, provision

Action = Literal["build", "list", "load", "delete", "profile", "compress-check", "compare"]
ACTIONS: tuple[Action, ...] = get_args(Action)
DESCRIPTION = (
    "Start warm: learn templates from earlier sessions that went well, load what worked as history for this one, and "
    "look at how reliable sessions were. Actions: build a template, list them, load one, delete one, profile a "
    "session, compress-check it, compare two."
)
PREVIEW_CHARS = 1000


class WarmSessionArguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the tool is asked for."""

    action: Action
    name: str | None = None
    """Of the template: for build and delete; load without one takes what fits best."""
    description: str = ""
    min_messages: Annotated[int, msgspec.Meta(ge=0)] = 30
    """Build: only sessions at least so long."""
    max_sessions: Annotated[int, msgspec.Meta(ge=1)] = 30
    source_filter: str | None = None
    """Build: only sessions of one agent, such as hermes."""
    tags: tuple[str, ...] = ()
    """Build: words to find it by; list: any of these."""
    session_id: str | None = None
    """For profile, compress-check and compare."""
    compare_with: str | None = None
    """The session that the first one is compared with: that one counts as cold."""
    task: str | None = None
    """Load: what the session is about to do."""
    tools: tuple[str | dict[str, Any], ...] | None = None
    """Load: the tools that the session has, by name or with their schemas."""
    budget: Annotated[int, msgspec.Meta(ge=1)] = BUDGET
    format: Format = "openai"


def warm_session(
    store: Store, arguments: Mapping[str, Any], *, redactor: Redactor, clock: Callable[[], float] = time.time
) -> dict[str, Any]:
    """Do what is asked. Wrong arguments and failures are answers, which a model can act on."""
    try:
        wish = msgspec.convert(dict(arguments), WarmSessionArguments)
        return {"success": True, **_ANSWERS[wish.action](store, wish, redactor, clock())}
    except msgspec.ValidationError as error:
        return {"success": False, "error": _wrong(str(error))}
    except SeasonedError as error:
        return {"success": False, "error": str(error)}
    except ImportError as error:
        return {"success": False, "error": f"This needs {error.name}: pip install 'seasoned[insight]'."}
    except (OSError, sqlite3.Error) as error:
        return {"success": False, "error": f"The store failed ({error}): run `seasoned doctor`."}


def _wrong(said: str) -> str:
    """What is wrong with the arguments, and what would be right."""
    about_action = "`action`" in said or "$.action" in said
    hint = (
        f"Actions are {', '.join(ACTIONS)}."
        if about_action
        else f"Fields are {', '.join(WarmSessionArguments.__struct_fields__)}."
    )
    return f"{said}. {hint}"


def _build(store: Store, wish: WarmSessionArguments, redactor: Redactor, now: float) -> dict[str, Any]:
    name = check_name(_given(wish.name, "name", wish.action))
    made = build(
        store,
        name=name,
        now=now,
        redactor=redactor,
        options=MiningOptions(min_messages=wish.min_messages, max_sessions=wish.max_sessions, agent=wish.source_filter),
        description=redactor.text(wish.description),
        tags=[redactor.text(tag) for tag in wish.tags],
    )
    kept = save(store, made)
    return {
        "name": kept.name,
        "pattern_count": len(kept.examples),
        "description": kept.description,
        "metrics": {
            "sessions_scanned": kept.metrics.sessions_scanned,
            "sessions_qualified": kept.metrics.sessions_qualified,
            "avg_proficiency_gain": kept.metrics.avg_proficiency_gain,
        },
    }


def _list(store: Store, wish: WarmSessionArguments, redactor: Redactor, now: float) -> dict[str, Any]:
    found = [
        {
            "name": one.name,
            "description": one.description,
            "tags": list(one.tags),
            "task_type": one.task_type,
            "pattern_count": one.example_count,
            "created_at": one.created_at,
            "version": one.version,
            "usage_count": one.usage_count,
        }
        for one in listed(store, tags=wish.tags)
    ]
    return {"templates": found, "count": len(found)}


def _load(store: Store, wish: WarmSessionArguments, redactor: Redactor, now: float) -> dict[str, Any]:
    made = provision(
        [],
        library=current(store, now=now),
        template=wish.name or None,
        tools=wish.tools,
        task=wish.task or "",
        budget=wish.budget,
        format=wish.format,
        use=template_use(store),
    )
    if made.block is None or made.rendered is None:
        raise NotFound(made.reason)
    # Whoever is given it will be known by its opening line when the session is read.
    remember_block(store, made.block.digest, made.rendered.example_ids, now=now)
    count_use(store, made.block.template, made.rendered.example_ids)
    is_text = wish.format in ("text", "skill")
    text = made.rendered.content.decode("utf-8")
    conversation = text if is_text else msgspec.json.decode(text)
    return {
        "name": made.block.template.rpartition("@")[0],
        "message_count": 1 if is_text else len(conversation),
        "pattern_count": len(made.rendered.example_ids),
        "conversation": conversation,
        "conversation_preview": text if len(text) <= PREVIEW_CHARS else f"{text[:PREVIEW_CHARS]}…",
    }


def _delete(store: Store, wish: WarmSessionArguments, redactor: Redactor, now: float) -> dict[str, Any]:
    name = _given(wish.name, "name", wish.action)
    return {"name": name, "deleted_versions": delete(store, name)}


def _profile(store: Store, wish: WarmSessionArguments, redactor: Redactor, now: float) -> dict[str, Any]:
    track = _track(store, _given(wish.session_id, "session_id", wish.action))
    return track_answer(track, profile(track))


def _compress_check(store: Store, wish: WarmSessionArguments, redactor: Redactor, now: float) -> dict[str, Any]:
    asked = _track(store, _given(wish.session_id, "session_id", wish.action)).ref
    chain = next(one for one in outlines(store) if asked in [track.ref for track in one])
    return compression_answer(asked, fill(store, chain))


def _compare(store: Store, wish: WarmSessionArguments, redactor: Redactor, now: float) -> dict[str, Any]:
    warm = _track(store, _given(wish.session_id, "session_id", wish.action))
    cold = _track(store, _given(wish.compare_with, "compare_with", wish.action))
    return comparison_answer(compare_sessions(warm, cold), as_sets=False)


def _track(store: Store, session: str) -> Track:
    return next(tracks(store, sessions=[find_session(store, session)["id"]]))


def _given(value: str | None, name: str, action: str) -> str:
    if not value:
        raise UsageError(f"The action {action!r} needs {name!r}.")
    return value


_ANSWERS: dict[Action, Callable[[Store, WarmSessionArguments, Redactor, float], dict[str, Any]]] = {
    "build": _build,
    "list": _list,
    "load": _load,
    "delete": _delete,
    "profile": _profile,
    "compress-check": _compress_check,
    "compare": _compare,
}
