"""Small templates to keep, choose from and hand on."""

from __future__ import annotations

import json
from typing import Any

from seasoned.example.example import Example, Source, Template
from seasoned.store import Store
from seasoned.store.project import settle_projects


def source(session: str, call: str = "c1", root: str | None = None, time: float | None = 1_750_000_000.0) -> Source:
    return Source(session, call, root or session, time)


def states_of(store: Store, example_id: str) -> list[str]:
    """Every state that an example had, oldest first."""
    query = "SELECT state FROM example_state WHERE example_id = ? ORDER BY id"
    return [row["state"] for row in store.connection.execute(query, (example_id,))]


def example(tool: str = "search_files", *, sessions: tuple[str, ...] = ("codex:a",), **fields: Any) -> Example:
    arguments = fields.pop("arguments", {"path": "src/x", "pattern": "def main"})
    return Example(
        tool=tool,
        arguments=json.dumps(arguments, sort_keys=True),
        result=fields.pop("result", "2 matches"),
        intent=fields.pop("intent", "Find where it starts."),
        kind=fields.pop("kind", "sequence"),
        pattern=fields.pop("pattern", f"{tool}-1"),
        support=fields.pop("support", max(1, len(sessions))),
        sources=tuple(source(session) for session in sessions),
        **fields,
    )


def template(name: str = "code-work", *examples: Example, **fields: Any) -> Template:
    shown = examples or (example(), example("read_file", arguments={"path": "src/x"}, sessions=("codex:a", "codex:b")))
    sessions = sorted({one.session for each in shown for one in each.sources})
    return Template(
        name=name,
        **{
            "description": "What works here.",
            "task_type": "code",
            "tags": ("python", "search"),
            "examples": shown,
            "sources": tuple(sessions),
            "created_at": 1_750_000_000.0,
            **fields,
        },
    )


def keep_session(store: Store, session: str, *, folder: str | None = None, application: str | None = None) -> None:
    """A session (`agent:native id`) that the store holds, in the project of this folder or application."""
    agent, _, native_id = session.partition(":")
    insert = "INSERT INTO session (agent, native_id, cwd, application) VALUES (?, ?, ?, ?)"
    store.run("session.begin_touched")
    with store.write():
        store.connection.execute(insert, (agent, native_id, folder, application))
        settle_projects(store, everything=True)
