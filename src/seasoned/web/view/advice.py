"""The advice page: what is worth doing, the change it would make, and the results of applied advice."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec
from starlette.requests import Request as HTTPRequest
from starlette.responses import Response

from seasoned.app.advice import (
    AdviceView,
    Gathered,
    advice_view,
    apply_advice,
    dismiss_advice,
    find_advice,
    find_decided,
    plan_of,
    undo_advice,
    undo_preview,
)
from seasoned.confirm.service.service import service_of
from seasoned.connect.plan import ConnectPlan, preview
from seasoned.errors import CannotDo, UsageError
from seasoned.report.report import revision
from seasoned.store import Store
from seasoned.web.cache import CacheLookup, TellProgress, look_up_project, run_in_process
from seasoned.web.display import project_link, session_link, short
from seasoned.web.history_store import HistoryStore, histories_of
from seasoned.web.login import Deciding, Here, read_change
from seasoned.web.response import Page, page_router, redactor_of, redirect
from seasoned.web.table import answer, choice_of, session_cell

PAGE = Page("Advice", "advice")
router = page_router()
_TITLE = "Looking for what is worth doing"
_T = TypeVar("_T")


class FoundAdvice(msgspec.Struct, frozen=True):
    """The advice for a page; `view` is None until it was gathered."""

    view: AdviceView | None
    gathered: Gathered | None
    lookup: CacheLookup[Gathered]
    names: dict[str, str] = {}  # what sessions are called that the advice rests on


class FileDiff(msgspec.Struct, frozen=True):
    """The change of one file, line by line."""

    path: str
    why: str
    lines: list[tuple[str, str]]  # went, came or stayed; and the line


async def advice_for(request: HTTPRequest, project: str | None = None) -> FoundAdvice:
    """Advice for a project, or for all, gathered in the background, with the decisions made so far."""
    histories, config, redactor = histories_of(request), service_of(request).config, redactor_of(request)
    now = await histories.read(revision)
    if not now.sessions:
        return FoundAdvice(None, None, CacheLookup(None))
    found: CacheLookup[Gathered] = await look_up_project(request, "advice", _TITLE, now, project, _gathered)
    gathered = found.value
    if gathered is None:
        return FoundAdvice(None, None, found)

    def look(store: Store) -> FoundAdvice:
        view = advice_view(config, store, gathered, redactor, project=project)
        refs = {ref for one in view.advice for ref in one.advice.evidence.refs}
        names = {ref: short(str(cell.shown or cell.value)) for ref in refs if (cell := session_cell(ref, store))}
        return FoundAdvice(view, gathered, found, names)

    return await histories.read(look)


def _gathered(histories: HistoryStore, tell: TellProgress, project: str | None) -> Gathered:
    data = run_in_process("seasoned.app.advice", histories, tell, project, what="Advice")
    return msgspec.msgpack.decode(data, type=Gathered)


@router.get("/advice")
async def show(request: HTTPRequest, here: Here) -> Response:
    """Show all advice, and the results of applied advice."""
    chosen = await histories_of(request).read(lambda store: choice_of(store, request))
    found = await advice_for(request, chosen.key)
    return answer(
        request,
        here,
        "advice.html",
        found=found,
        project=chosen,
        project_link=project_link,
        session_link=session_link,
    )


@router.get("/advice/{name}")
async def show_one(request: HTTPRequest, here: Here, name: str) -> Response:
    """Show one piece of advice with the change that it would make, or that it made."""
    config = service_of(request).config
    chosen = await _ask(request, lambda store: choice_of(store, request))
    found = await _found(request, chosen.key)
    view = found.view
    assert view is not None
    decided = next((one for one in view.decided if one.advice.id == name), None)
    if decided is not None:
        plan, problem = await _plan(request, lambda _: undo_preview(config, decided.advice))
        one = None
    else:
        advice = find_advice(view, name)
        one = next(one for one in view.advice if one.advice.id == advice.id)
        plan, problem = await _plan(request, lambda store: plan_of(config, store, advice))
    return answer(
        request,
        here,
        "advice_one.html",
        decided=decided,
        one=one,
        changes=[] if plan is None else _diffs(plan, redactor_of(request).text),
        steps=() if plan is None else plan.steps,
        problem=problem,
        project=chosen,
        names=found.names,
        is_sample=histories_of(request).is_sample,
        project_link=project_link,
        session_link=session_link,
    )


@router.post("/advice/{name}/{verb}")
async def change(request: HTTPRequest, here: Deciding, name: str, verb: str) -> Response:
    """Apply, dismiss or undo advice."""
    await read_change(request, here)
    if histories_of(request).is_sample:
        raise UsageError(
            "These are samples: there is nothing to change. Run `seasoned scan` to read your own histories."
        )
    config, redactor = service_of(request).config, redactor_of(request)
    chosen = await _ask(request, lambda store: choice_of(store, request))
    back = f"{here.visit.path}/{PAGE.path}"
    if verb == "undo":
        await _ask(request, lambda store: undo_advice(config, store, find_decided(store, name)))
        return redirect(f"{back}/{name}{chosen.query}")
    view = (await _found(request, chosen.key)).view
    assert view is not None
    advice = find_advice(view, name)
    if verb == "apply":
        await _ask(request, lambda store: apply_advice(config, store, advice, redactor))
        return redirect(f"{back}/{name}{chosen.query}")
    if verb == "dismiss":
        await _ask(request, lambda store: dismiss_advice(store, advice))
        return redirect(f"{back}{chosen.query}")
    raise UsageError(f"Advice is applied, dismissed or undone, not {verb[:40]!r}.")


async def _ask(request: HTTPRequest, ask: Callable[[Store], _T]) -> _T:
    try:
        return await histories_of(request).read(ask)
    except CannotDo as error:
        # About the user's own files, not the server, so the page shows the message.
        raise UsageError(str(error)) from error


async def _found(request: HTTPRequest, project: str | None) -> FoundAdvice:
    """The advice; raises UsageError until it was gathered."""
    found = await advice_for(request, project)
    if found.view is None:
        raise UsageError("The sessions are still being read. Try again in a moment.")
    return found


async def _plan(request: HTTPRequest, make: Callable[[Store], ConnectPlan]) -> tuple[ConnectPlan | None, str]:
    """What would change; or why nothing can be changed here."""
    try:
        return await histories_of(request).read(make), ""
    except CannotDo as error:
        return None, str(error)


def _diffs(plan: ConnectPlan, redact: Callable[[str], str]) -> list[FileDiff]:
    kinds = {"+": "came", "-": "went"}
    found = []
    for one in plan.changes:
        # The user's own files may hold secrets.
        lines = redact(preview(one)).splitlines()[2:]
        found.append(FileDiff(str(one.path), one.why, [(kinds.get(line[:1], "stayed"), line) for line in lines]))
    return found
