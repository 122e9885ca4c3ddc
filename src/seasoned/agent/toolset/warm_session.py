"""The tool `warm_session`, as an agent of ours has it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic_ai import RunContext

from seasoned.agent.loop.context import Context
from seasoned.begin import warm_session as implementation
from seasoned.begin.ongoing import experiment_database
from seasoned.begin.settings import begin_settings
from seasoned.store.project import project_key
from seasoned.template.provision import BUDGET


def warm_session(
    ctx: RunContext[Context],
    action: implementation.Action,
    name: str | None = None,
    description: str = "",
    min_messages: int = 30,
    max_sessions: int = 30,
    source_filter: str | None = None,
    tags: tuple[str, ...] = (),
    session_id: str | None = None,
    compare_with: str | None = None,
    task: str | None = None,
    tools: tuple[str, ...] | None = None,
    budget: int = BUDGET,
    format: Literal["openai", "anthropic", "text"] = "openai",
) -> dict[str, Any]:
    """Learn templates from earlier sessions that went well, load what worked there, and look at how sessions went.

    Args:
        action: "build" a template, "list" them, "load" or "delete" one, "profile" or "compress-check" a session,
            "compare" two.
        name: Of the template, for build, load and delete.
        description: What the template is for.
        min_messages: For build: only sessions at least so long.
        max_sessions: For build: learn from at most so many.
        source_filter: For build: only sessions from one place, such as "cli" or "telegram", or of one agent.
        tags: For build: words to find it by; for list: any of these.
        session_id: For profile, compress-check and compare.
        compare_with: For compare: the session that counts as cold.
        task: For load: what is to be done.
        tools: For load: the names of the tools that there are.
        budget: For load: tokens at most.
        format: For load.
    """
    given = {key: value for key, value in locals().items() if key != "ctx" and value is not None}
    config = ctx.deps.config
    with ctx.deps.journal() as journal:
        return implementation.warm_session(
            journal.store,
            given,
            redactor=journal.redactor,
            session=ctx.deps.root,
            settings=None if config is None else begin_settings(config, "chat"),
            database=None if config is None else lambda: experiment_database(config, journal.store),
            project=project_key(journal.store, ctx.deps.folder),
        )


WARM = (warm_session,)
