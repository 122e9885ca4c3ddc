"""Tools that work on Seasoned itself: memory, skills, templates, confirmations and scheduled jobs."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from pydantic_ai import RunContext

from seasoned.begin import warm_session as implementation
from seasoned.begin.ongoing import experiment_database
from seasoned.begin.settings import begin_settings
from seasoned.command.risk import Danger
from seasoned.confirm.client import (
    CancellableCall,
    Changed,
    ConfirmClient,
    RequestView,
    check_approved,
    configured_client,
    digest_of,
    in_thread,
)
from seasoned.confirm.request.request import NewRequest
from seasoned.errors import Refused, SeasonedError, UsageError
from seasoned.experience.memory import SKILLS as SKILL_FOLDER
from seasoned.experience.memory import MemoryName
from seasoned.review import memory_file as memories
from seasoned.review import skill_edit as edit
from seasoned.review import skill_library as skill_reading
from seasoned.review.context import Context, JobScheduler
from seasoned.review.journal import WriteReply
from seasoned.review.skill_library import MAIN
from seasoned.store.project import project_key
from seasoned.template.provision import BUDGET

Answer = dict[str, Any]
Scope = Literal["project", "everywhere"]


def memory(
    ctx: RunContext[Context],
    action: Literal["add", "replace", "remove"],
    target: MemoryName = "notes",
    text: str = "",
    old_text: str = "",
) -> Answer:
    """Keep something for later sessions, or correct what was kept. Every new session is shown it from its start.

    Keep who the user is, what they prefer and expect, and facts about this environment that will hold. Leave out what
    is over when the task is: progress, transient errors, one-off stories, claims that a tool does not work. Entries
    are short. When memory is full, replace or remove first.

    Args:
        action: "add" an entry, "replace" the one that holds old_text, or "remove" it.
        target: "notes" for facts and lessons, which are kept for the project that the session works in; "user" for
            what is known of the user, which every session sees.
        text: The new entry, for add and replace.
        old_text: A piece of the entry that is meant, for replace and remove.
    """
    by = ctx.deps.provenance(tool="memory", call_id=ctx.tool_call_id)
    with ctx.deps.journal() as journal:
        if action == "add":
            return _answer(memories.add(journal, target, text, by=by))
        if action == "replace":
            return _answer(memories.replace(journal, target, old_text, text, by=by))
        return _answer(memories.remove(journal, target, old_text, by=by))


def skills_list(ctx: RunContext[Context]) -> Answer:
    """List the skills: how to do kinds of tasks, learned or written down before."""
    found = [(scope, one) for scope, folder in _folders(ctx.deps) for one in skill_reading.skills(folder)]
    listed = [
        {
            "name": one.id,
            "description": one.description,
            "files": list(one.files),
            "problem": one.problem,
            "scope": scope,
        }
        for scope, one in found
    ]
    return {"success": True, "skills": listed, "count": len(listed)}


def skill_view(ctx: RunContext[Context], name: str, file: str | None = None) -> Answer:
    """Read a skill before doing a task of its kind, or one of its support files.

    Args:
        name: The name as skills_list gives it.
        file: A support file such as "references/api.md"; leave it out for the skill itself.
    """
    try:
        folder = _folder_of(ctx.deps, name)
        view = skill_reading.view(folder, name, file)
        with ctx.deps.journal(skill_folder=folder) as journal:
            skill_reading.count(journal, view.skill.id, "viewed")
    except SeasonedError as error:
        return {"success": False, "error": str(error)}
    return {"success": True, "name": view.skill.id, "content": view.text, "files": list(view.skill.files)}


def skill_manage(
    ctx: RunContext[Context],
    action: Literal["create", "patch", "write_file", "remove_file", "delete"],
    name: str,
    content: str = "",
    description: str = "",
    category: str | None = None,
    file: str | None = None,
    old_string: str = "",
    new_string: str = "",
    scope: Scope = "project",
) -> Answer:
    """Keep how a kind of task is done, for later sessions: create a skill, correct it, or add a support file.

    A skill is about a class of tasks, never about one ticket, one error or one day. Prefer to patch a skill that is
    there. View a skill before you patch it.

    Args:
        action: "create" a skill, "patch" a piece of its text, "write_file" or "remove_file" a support file, "delete".
        name: The skill's name: lower-case letters, digits and dashes.
        content: The text of the skill, for create; of the support file, for write_file.
        description: When the skill is to be used, in one sentence, for create.
        category: A folder that the skill belongs to, for create.
        file: A support file such as "references/api.md"; for patch, leave it out to patch the skill itself.
        old_string: The piece of text to replace, for patch. It must occur exactly once.
        new_string: The text that replaces it.
        scope: For create: "project" if it is about the project that the session works in, "everywhere" if it is about
            the user or holds in any project.
    """
    by = ctx.deps.provenance(tool="skill_manage", call_id=ctx.tool_call_id)
    folders = dict(_folders(ctx.deps))
    folder = folders.get(scope, ctx.deps.skill_folder) if action == "create" else _folder_of(ctx.deps, name)
    with ctx.deps.journal(skill_folder=folder) as journal:
        if action == "create":
            made = edit.create(journal, name, content, description=description, category=category, by=by)
            return _answer(made)
        if action == "patch":
            return _answer(edit.patch(journal, name, old_string, new_string, file=file or MAIN, by=by))
        if action == "write_file":
            return _answer(edit.write_file(journal, name, file or "", content, by=by))
        if action == "remove_file":
            return _answer(edit.remove_file(journal, name, file or "", by=by))
        return _answer(edit.delete(journal, name, by=by))


def _folders(context: Context) -> list[tuple[Scope, Path]]:
    """Where the skills are that the session has: of its project first."""
    own = context.project_folder
    everywhere: tuple[Scope, Path] = ("everywhere", context.skill_folder)
    return [everywhere] if own is None else [("project", own / SKILL_FOLDER), everywhere]


def _folder_of(context: Context, name: str) -> Path:
    """The folder that holds the skill; the general one if none does, which then reports that."""
    for _, folder in _folders(context):
        if any(name in (one, one.rpartition("/")[2]) for one in skill_reading.ids(folder)):
            return folder
    return context.skill_folder


def _answer(reply: WriteReply) -> Answer:
    if not reply.ok:
        return {"success": False, "error": reply.said}
    return {"success": True, "message": reply.said, "state": reply.state, "change": reply.change}


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


# Waiting longer would use up the turn's time; the model can call again.
_LONGEST_WAIT_SECONDS = 120.0


async def request_confirmation(
    ctx: RunContext[Context],
    action: str,
    description: str,
    details: dict[str, Any] | None = None,
    timeout_seconds: float | None = None,
) -> Answer:
    """Ask a person to agree to an action before you go on with it. Returns the id of the request at once.

    Ask before anything that cannot be undone or that others will notice, unless the tool you call asks by itself, as
    the terminal does. Say exactly what will be done: only that is agreed to. Then look with confirmation_status.

    Args:
        action: What kind of action it is, in lower case, for example "deploy_production", "delete_data", "send_email".
        description: One sentence that lets a person decide without asking back.
        details: The exact values: targets, amounts, commands.
        timeout_seconds: How long a person may take, 30 to 3600; 300 if you leave it out.
    """

    def ask(client: ConfirmClient, call: CancellableCall) -> RequestView:
        asked = NewRequest(
            action=action,
            description=description,
            details=details or {},
            label="seasoned",
            session_key=ctx.deps.session or "",
            timeout_seconds=timeout_seconds,
        )
        seen = client.submit(asked, call=call)
        # A copy, so that later changes to the model's values do not change what a person sees.
        ctx.deps.asked[seen.id] = copy.deepcopy(asked)
        return seen

    return await _call_service(ctx, ask)


async def confirmation_status(
    ctx: RunContext[Context], id: str, wait_seconds: float = 0.0, begin: bool = False
) -> Answer:
    """Get the status of a request for confirmation: pending, approved, denied, expired or auto_approved.

    Go on only when it is approved or auto_approved, and then only with exactly what was asked. When it is denied,
    `reason` says why: tell the user, and do not try the same another way.

    Args:
        id: The id that request_confirmation returned.
        wait_seconds: Wait this many seconds for a decision, at most 120.
        begin: Set it right before you do what was approved. It uses the approval up, which works once.
    """
    seconds = min(max(wait_seconds, 0.0), _LONGEST_WAIT_SECONDS)

    def look(client: ConfirmClient, call: CancellableCall) -> RequestView:
        seen = client.wait(id, seconds, call=call)
        if begin:
            check_approved(seen)
            asked = ctx.deps.asked.get(seen.id)
            if asked is None:
                raise Refused(f"{seen.id!r} was not requested in this conversation. Request what you want to do again.")
            # Computed here, not taken from the service: what was approved must be what was asked for here.
            digest = digest_of(asked, requester=seen.requester or "")
            if digest != seen.digest:
                raise Changed("What was approved is not what was requested in this conversation. Request it again.")
            client.redeem(seen.id, digest, call=call)
        return seen

    return await _call_service(ctx, look)


async def _call_service(
    ctx: RunContext[Context], work: Callable[[ConfirmClient, CancellableCall], RequestView]
) -> Answer:
    try:
        client = configured_client(ctx.deps.config)
        seen = await in_thread(lambda call: work(client, call))
    except SeasonedError as error:
        return {"success": False, "error": str(error)}
    return {
        "success": True,
        "id": seen.id,
        "action": seen.action,
        "status": seen.status,
        "may_go_on": seen.is_approved,
        "resolved_by": seen.resolved_by,
        "reason": seen.reason,
        "timeout_seconds": seen.timeout_seconds,
    }


Action = Literal["list", "add", "pause", "resume", "remove", "history"]
# These start nothing and lose nothing.
_HARMLESS = ("list", "history", "pause")


def danger_in_schedule(action: str) -> Danger | None:
    """Whether a person must allow it: actions that make an agent run by itself, or remove a job."""
    if action in _HARMLESS:
        return None
    return Danger("changes what agents do by themselves later, with no one watching", "schedule: change")


async def schedule(
    ctx: RunContext[Context],
    action: Action,
    name: str | None = None,
    when: str | None = None,
    prompt: str | None = None,
    zone: str = "UTC",
    delivery: Literal["none", "telegram", "discord", "webhook"] | None = None,
    skills: list[str] | None = None,
) -> Answer:
    """Have an agent do something later or repeatedly, and manage such jobs.

    The run begins without this conversation: the prompt must say everything that is needed. Its answer is delivered.

    Args:
        action: "list" all jobs, "add" one, "pause", "resume" or "remove" one, or show its "history" of runs.
        name: What the job is called; needed for everything but "list".
        when: For "add": "30 8 * * 1-5" (cron), "every 2h", "in 20m" or "2030-12-24 18:00".
        prompt: For "add": what is to be done, complete in itself.
        zone: The time zone of the times, for example "Europe/Berlin".
        delivery: Where answers go; "none", or left out, keeps them in the history.
        skills: Names of skills that the run should load.
    """
    scheduler = ctx.deps.jobs
    if scheduler is None:
        return {"success": False, "error": "This session cannot schedule jobs. Ask the user to do it."}

    def do() -> Answer:
        if action == "list":
            return {"jobs": scheduler.jobs()}
        if not name:
            raise UsageError(f"the action {action!r} needs the name of the job.")
        if action == "add":
            return _add(scheduler, name, when, prompt, zone, delivery, skills)
        if action == "history":
            return {"runs": scheduler.history(name)}
        if action == "remove":
            return {"job": scheduler.remove(name)}
        return {"job": scheduler.set_paused(name, is_paused=action == "pause")}

    try:
        # In a thread: the jobs are in a database, and the conversation must not wait for it.
        return {"success": True, **await asyncio.to_thread(do)}
    except SeasonedError as error:
        return {"success": False, "error": str(error)}


def _add(
    scheduler: JobScheduler,
    name: str,
    when: str | None,
    prompt: str | None,
    zone: str,
    delivery: str | None,
    skills: list[str] | None,
) -> Answer:
    if not when or not prompt:
        raise UsageError("a new job needs `when` and `prompt`.")
    return {
        "job": scheduler.add(name=name, schedule=when, prompt=prompt, zone=zone, delivery=delivery, skills=skills or ())
    }


# The tools of each toolset, by its name.
SEASONED_TOOLS: dict[str, tuple[Callable[..., Any], ...]] = {
    "memory": (memory,),
    "skill": (skills_list, skill_view, skill_manage),
    "warm_session": (warm_session,),
    "confirm": (request_confirmation, confirmation_status),
    "schedule": (schedule,),
}
