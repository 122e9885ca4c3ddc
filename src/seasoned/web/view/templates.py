"""The templates page: examples, their sources, their rendering and effect, and how to retire them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from starlette.requests import Request as HTTPRequest
from starlette.responses import Response

from seasoned.app import template as templates
from seasoned.app.template import SavedTemplate
from seasoned.errors import NotFound, UsageError
from seasoned.store import Store
from seasoned.store.project import refs_in
from seasoned.template.block import FORMATS, FORMS
from seasoned.template.example import Example, Template, name_key
from seasoned.template.library.project import library_of
from seasoned.template.library.storage import (
    ExampleState,
    Library,
    State,
    TemplateUse,
    find_example,
    state_history,
    stats,
)
from seasoned.template.render import Rendered
from seasoned.web.display import project_link, session_link, template_link
from seasoned.web.history_store import histories_of
from seasoned.web.login import Here, Visitor, read_change
from seasoned.web.response import Page, page_router, redactor_of, redirect
from seasoned.web.table import Column, ProjectChoice, Table, TableCell, answer, choice_of, figure, numbers, time_cell
from seasoned.web.view.experiments import Effects, effects_of

PAGE = Page("Templates", "templates", is_rare=True)
router = page_router()
_TYPES = ("code", "file", "research", "mixed")
_COLUMNS = (
    Column("name", "template"),
    Column("version", "version", is_number=True),
    Column("task_type", "task"),
    *numbers(active_count="shown", example_count="of", usage_count="used"),
    Column("created_at", "made", no_wrap=True),
    Column("tags", "tags"),
    Column("description", "what it is for"),
)
_EXAMPLE_COLUMNS = (
    Column("id", "example"),
    Column("tool", "tool"),
    Column("kind", "kind"),
    Column("state", "state"),
    Column("support", "sessions that did so", is_number=True),
    Column("shown", "shown", is_number=True),
    Column("effect", "effect"),
    Column("intent", "what for"),
    Column("arguments", "arguments"),
    Column("result", "result"),
    Column("sources", "from"),
)
_MOST_SOURCES = 20
_MOST_LEARNED_FROM = 300
_NONE_YET = "No templates yet. `seasoned template build --auto` builds them from good sessions of at least 30 messages."


class ExampleCard(msgspec.Struct, frozen=True):
    """One example as the page shows it."""

    example: Example
    state: ExampleState | None
    shown: int
    # Link, name and time of each session that it was seen in.
    sources: tuple[tuple[str, str, float | None], ...]
    more_sources: int
    # Everything that was ever said about it, oldest first.
    said: tuple[ExampleState, ...]
    effects: Sequence[Any]


class TemplatePage(msgspec.Struct, frozen=True):
    """One template as the page shows it."""

    template: Template
    is_newest: bool
    usage: int
    lines: tuple[ExampleCard, ...]
    active: int
    rendered: Rendered | None
    text: str
    versions: tuple[int, ...]


@router.get("/templates")
async def show_list(request: HTTPRequest, here: Here, type: str = "", tag: str = "") -> Response:
    """List all templates, the newest first."""
    if type and type not in _TYPES:
        raise UsageError(f"There is no task type {type[:40]!r}. Choose one of {', '.join(_TYPES)}.")

    def ask(store: Store) -> tuple[Table, Any, ProjectChoice]:
        now, chosen = histories_of(request).now(store), choice_of(store, request)
        library, use = templates.library_now(store, now=now)
        has_any = bool(library.templates)
        tags = [tag] if tag else []
        found = templates.list_templates(store, task_type=type or None, tags=tags, project=chosen.key, now=now)
        if chosen.key is not None:
            library = library_of(library, refs_in(store, chosen.key))
        return _table([_row(one) for one in found], has_any=has_any), stats(library, use), chosen

    table, figures, chosen = await histories_of(request).read(ask)
    return answer(
        request,
        here,
        "templates.html",
        tables=(table,),
        figures=_figures(figures),
        types=_TYPES,
        type=type,
        tag=tag,
        project=chosen,
        project_page="" if chosen.key is None else project_link(chosen.key),
    )


@router.get("/templates/{name}")
async def show_one(
    request: HTTPRequest,
    here: Here,
    name: str,
    version: int | None = None,
    format: str = "openai",
    form: str = "messages",
) -> Response:
    """Show one template, and how a session would see it."""
    return await _page(request, here, name, version=version, format=format, form=form)


@router.get("/templates/example/{example_id}")
async def find_one(request: HTTPRequest, here: Here, example_id: str) -> Response:
    """Go to a template that holds this example."""

    def ask(store: Store) -> str:
        library, _ = templates.library_now(store, now=histories_of(request).now(store))
        found = find_example(library, example_id)
        return f"{template_link(templates.holding(library, found)[0])}#example-{found.id}"

    return redirect(f"{here.visit.path}/{await histories_of(request).read(ask)}")


@router.post("/templates/{name}/{verb}")
async def change_all(request: HTTPRequest, here: Here, name: str, verb: str) -> Response:
    """Retire or restore all examples of a template."""
    form = await read_change(request, here)
    state = _state(verb)
    reason = _reason(request, form, verb)

    def change(store: Store) -> None:
        now = histories_of(request).now(store)
        found = templates.find_template(store, name, now=now)
        for example in found.template.examples:
            is_active = found.library.hidden(found.template, example) is None
            # Only examples whose state changes get an entry in their history.
            if is_active == (state == "retired"):
                templates.set_state(store, example.id, state, reason, by=here.visit.name, now=now)

    await histories_of(request).read(change)
    return redirect(f"{here.visit.path}/{template_link(name)}")


@router.post("/templates/{name}/examples/{example_id}/{verb}")
async def change_one(request: HTTPRequest, here: Here, name: str, example_id: str, verb: str) -> Response:
    """Retire or restore one example."""
    form = await read_change(request, here)
    state = _state(verb)
    reason = _reason(request, form, verb)

    def change(store: Store) -> None:
        now = histories_of(request).now(store)
        templates.set_state(store, example_id, state, reason, by=here.visit.name, now=now)

    await histories_of(request).read(change)
    return redirect(f"{here.visit.path}/{template_link(name)}#example-{example_id}")


def _state(verb: str) -> State:
    if verb not in ("retire", "restore"):
        raise NotFound("There is no such action for a template.")
    return "retired" if verb == "retire" else "active"


def _reason(request: HTTPRequest, form: Mapping[str, str], verb: str) -> str:
    """The reason given by the person, redacted."""
    given = form.get("reason", "").strip()[:500]
    return redactor_of(request).text(given) if given else f"{verb}d by hand on the page"


async def _page(
    request: HTTPRequest, here: Visitor, name: str, *, version: int | None, format: str, form: str
) -> Response:
    effects = await effects_of(request)

    def ask(store: Store) -> TemplatePage:
        found = templates.find_template(store, name, version=version, now=histories_of(request).now(store))
        return _shown(store, found, format, form, effects)

    shown = await histories_of(request).read(ask)
    return answer(
        request,
        here,
        "template.html",
        tables=(_examples(shown),),
        shown=shown,
        sources=[(session_link(one), one) for one in shown.template.sources[:_MOST_LEARNED_FROM]],
        effects=effects,
        formats=FORMATS,
        forms=FORMS,
        format=format,
        form=form,
    )


def _shown(store: Store, found: SavedTemplate, format: str, form: str, effects: Effects) -> TemplatePage:
    template, library, use = found.template, found.library, found.use
    newest = library.find(template.name)
    rendered = templates.render_template(store, found, format, form)
    versions = tuple(row["version"] for row in store.rows("template.versions", {"key": name_key(template.name)}))
    lines = tuple(_line(store, template, example, library, use, effects) for example in template.examples)
    return TemplatePage(
        template,
        newest is not None and newest.version == template.version,
        use.of(template.name),
        lines,
        sum(line.state is None for line in lines),
        None if rendered.is_empty else rendered,
        "" if rendered.is_empty else templates.rendered_text(rendered),
        versions,
    )


def _line(
    store: Store, template: Template, example: Example, library: Library, use: TemplateUse, effects: Effects
) -> ExampleCard:
    sources = tuple((session_link(one.session), one.session, one.time) for one in example.sources[:_MOST_SOURCES])
    return ExampleCard(
        example,
        library.hidden(template, example),
        use.examples.get(example.id, 0),
        sources,
        max(0, len(example.sources) - _MOST_SOURCES),
        tuple(state_history(store, example.id)),
        effects.by_example.get(example.id, ()),
    )


def _table(rows: list[tuple[TableCell, ...]], *, has_any: bool) -> Table:
    empty = "No templates of this type. Choose another one." if has_any else _NONE_YET
    return Table(name="templates", title="All templates", columns=_COLUMNS, rows=rows, empty=empty)


def _row(one: Any) -> tuple[TableCell, ...]:
    link = template_link(one.name)
    return (
        TableCell(one.name, href=link),
        TableCell(one.version),
        TableCell(one.task_type, shown=one.task_type or "any"),
        TableCell(one.active_count, href=f"{link}#examples"),
        TableCell(one.example_count, href=f"{link}#examples"),
        TableCell(one.usage_count, href=f"{link}#use"),
        time_cell(one.created_at),
        TableCell(", ".join(one.tags)),
        TableCell(one.description),
    )


def _examples(shown: TemplatePage) -> Table:
    rows = [_example_row(line) for line in shown.lines]
    return Table(
        name="examples",
        title="Examples",
        columns=_EXAMPLE_COLUMNS,
        rows=rows,
        empty="It has no examples, only notes.",
    )


def _example_row(line: ExampleCard) -> tuple[TableCell, ...]:
    one = line.example
    return (
        TableCell(one.id, href=f"#example-{one.id}"),
        TableCell(one.tool),
        TableCell(one.kind),
        TableCell("active" if line.state is None else line.state.state),
        TableCell(one.support),
        TableCell(line.shown),
        TableCell("; ".join(f"{effect.answer} ({experiment})" for experiment, effect in line.effects) or None),
        TableCell(one.intent),
        TableCell(one.arguments),
        TableCell(one.result),
        TableCell(", ".join(source.session for source in one.sources)),
    )


def _figures(found: Any) -> list[dict[str, Any]]:
    states = found.states
    types = ", ".join(f"{count} {name}" for name, count in found.by_type.items())
    hidden = f"{states['suspended']} suspended, {states['retired']} retired"
    return [
        figure("Templates", found.total, types, "#table-templates"),
        figure("Examples that may be shown", states["active"], hidden, "#table-templates"),
        figure("Times used", found.usage, f"examples shown {found.shown} times"),
    ]
