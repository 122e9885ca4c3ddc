"""What `template …` prints: templates with where they come from, lists, figures, files."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from seasoned.app.template import Refreshed, SavedTemplate, render_template, rendered_text, too_old_sentence
from seasoned.cli.output import print_json, printable, table, when, write_new_file
from seasoned.errors import NotFound
from seasoned.store import Store
from seasoned.template.choose.ranking import is_proven
from seasoned.template.example import Example, Template
from seasoned.template.library.exchange import Shape, file_name, write_template
from seasoned.template.library.storage import ExampleState, Library, ListedTemplate, is_held_back
from seasoned.template.library.upkeep import Retirement
from seasoned.template.library.usage import LibraryStats, TemplateUse
from seasoned.text import plural

# Some examples were seen in hundreds of sessions.
_SOURCES_SHOWN = 3
# What the guard decides, and the state that follows from it.
_STATES = {"suspend": "suspended", "restore": "active"}


def print_saved(saved: SavedTemplate, *, as_json: bool, left_out: dict[str, int] | None = None) -> None:
    """What was just saved, and what was left out of it."""
    template, library, use = saved.template, saved.library, saved.use
    if as_json:
        print_json("template", {**template_answer(template, library, use), "left_out": left_out or {}})
        return
    recoveries = sum(example.kind == "recovery" for example in template.examples)
    parts = [plural(len(template.examples), "example")]
    parts += [f"{plural(recoveries, 'of them a recovery', 'of them recoveries')}"] if recoveries else []
    parts += [plural(len(template.notes), "note")] if template.notes else []
    parts += [plural(len(template.workflows), "workflow")] if template.workflows else []
    learned = ""
    # An imported template has the figures of the machine that built it.
    if template.metrics.sessions_scanned and left_out is None:
        learned = (
            f" from {template.metrics.sessions_qualified} of {plural(template.metrics.sessions_scanned, 'session')}"
        )
    click.echo(f"Saved {template.mark}: {', '.join(parts)}{learned}.")
    dropped = {"unclean": template.metrics.dropped_unclean} if left_out is None else left_out
    reasons = ", ".join(f"{number} {reason}" for reason, number in dropped.items() if number)
    if reasons:
        click.echo(f"Left out: {reasons}.")
    # A new version can hold examples that were retired earlier; their state is kept by id and still applies.
    hidden = len(template.examples) - len(library.active(template))
    held = sum(is_held_back(library.states.get(example.id)) for example in template.examples)
    if held:
        click.echo(f"{plural(held, 'example is', 'examples are')} held back: the file does not show that they worked.")
    if hidden > held:
        verb = plural(hidden - held, "example was", "examples were")
        click.echo(f"{verb} retired or suspended before and will not be shown.")
    unverified = sum(_is_unverified(example, library) for example in template.examples)
    if unverified:
        verb = plural(unverified, "example is", "examples are")
        click.echo(f"{verb} unverified until a session here makes such a call and it works.")
    click.echo(f"`seasoned template show {template.name}` shows it.")


def print_refreshed(done: Refreshed, *, as_json: bool) -> None:
    """What was rebuilt, and what was decided about examples."""
    if as_json:
        changed = [{"example_id": one.example_id, "state": "retired", "reason": one.reason} for one in done.retired]
        changed += [
            {"example_id": one.example_id, "state": _STATES[one.decision], "reason": one.reason} for one in done.ruled
        ]
        names = [_listed(one, done.library) for one in done.made]
        answer = {"count": len(names), "templates": names, "changed": changed, "too_old": done.too_old}
        print_json("templates", answer)
        return
    for template in done.made:
        print_saved(SavedTemplate(template, done.library, done.use), as_json=False)
    if not done.made:
        click.echo("No new good sessions: the templates stay as they are.")
    print_too_old(done.too_old)
    print_retired(done.retired)
    for ruling in done.ruled:
        state = _STATES[ruling.decision]
        said = "May be shown again:" if state == "active" else state.capitalize()
        click.echo(f"{said} {ruling.example_id} ({printable(ruling.tool)}): {printable(ruling.reason)}")


def print_retired(retired: Sequence[Retirement]) -> None:
    """Which examples are no longer shown, and why."""
    for one in retired:
        click.echo(f"Retired {one.example_id} ({printable(one.tool)}): {printable(one.reason)}")


def print_too_old(old: int) -> None:
    """Which sessions were too old to learn from, if any."""
    if old:
        click.echo(too_old_sentence(old))


def example_count(template: Template, library: Library) -> str:
    """How many examples may be shown, and of how many, where some may not."""
    active, every = len(library.active(template)), len(template.examples)
    return plural(every, "example") if active == every else f"{active} of {plural(every, 'example')}"


def _listed(template: Template, library: Library) -> dict[str, Any]:
    return msgspec.structs.asdict(
        ListedTemplate(
            template.name,
            template.version,
            template.description,
            template.task_type,
            template.tags,
            len(template.examples),
            0,
            template.created_at,
            len(library.active(template)),
        )
    )


def template_answer(template: Template, library: Library, use: TemplateUse) -> dict[str, Any]:
    """A template for programs: the file that `export` writes, with the ids, use and states of its examples."""
    answer: dict[str, Any] = msgspec.to_builtins(template)
    # The file format has no ids and states, which belong to this machine's library.
    for example, shown in zip(template.examples, answer["examples"], strict=True):
        state = library.hidden(template, example)
        shown["id"] = example.id
        shown["state"] = "active" if state is None else state.state
        shown["state_reason"] = None if state is None else state.reason
        shown["shown"] = use.examples.get(example.id, 0)
        shown["unverified"] = _is_unverified(example, library)
    return {**answer, "usage_count": use.of(template.name)}


def print_template(found: SavedTemplate, *, as_json: bool) -> None:
    """What is in a template and where it came from."""
    template, library, use = found.template, found.library, found.use
    if as_json:
        print_json("template", template_answer(template, library, use))
        return
    used = plural(use.of(template.name), "time")
    click.echo(f"{template.mark}  {template.task_type or 'any task'}  made {when(template.created_at)}, used {used}")
    for line in (template.description, template.addendum):
        if line:
            click.echo(printable(line))
    if template.tags:
        click.echo("tags: " + printable(", ".join(template.tags)))
    for example in template.examples:
        _print_example(example, library, library.hidden(template, example), use.examples.get(example.id, 0))
    for title, lines in (
        ("Notes", [f"{note.text}" for note in template.notes]),
        ("Workflows", [f"{' → '.join(one.steps)}; {one.support} lineages" for one in template.workflows]),
    ):
        if lines:
            click.echo(f"\n{title}")
        for line in lines:
            click.echo(f"  {printable(line)}")
    click.echo(f"\nLearned from {plural(len(template.sources), 'session')}.")


def _is_unverified(example: Example, library: Library) -> bool:
    """Whether it came from a file and was not seen to work here."""
    return not is_proven(example, library.effects)


def _print_example(example: Example, library: Library, state: ExampleState | None, times_shown: int) -> None:
    marks = [example.kind, f"support {example.support}", example.tier]
    if _is_unverified(example, library):
        marks.append("unverified")
    if times_shown:
        marks.append(f"shown {plural(times_shown, 'time')}")
    click.echo(f"\n{example.id}  {printable(example.tool)}  ({', '.join(marks)})")
    if state is not None:
        click.echo(f"  {state.state} {when(state.changed_at)}: {printable(state.reason)}")
    for title, text in (("intent", example.intent), ("arguments", example.arguments), ("result", example.result)):
        if text:
            click.echo(f"  {title:<10}{printable(text).replace(chr(10), chr(10) + ' ' * 12)}")
    if example.repaired is not None:
        changed = ", ".join(example.repaired.changed) or example.repaired.how
        click.echo(f"  {'repairs':<10}{printable(example.repaired.signature)} (changed: {printable(changed)})")
    shown = [f"{one.session} {when(one.time)}" for one in example.sources[:_SOURCES_SHOWN]]
    more = len(example.sources) - len(shown)
    if shown:
        click.echo(f"  {'from':<10}{printable(', '.join(shown))}" + (f" and {more} more" if more > 0 else ""))


def print_rendered(store: Store, found: SavedTemplate, format: str, form: str, *, as_json: bool) -> None:
    """The block of a template with everything that may be shown of it."""
    template = found.template
    rendered = render_template(store, found, format, form)
    if as_json:
        shown = {**msgspec.structs.asdict(rendered), "content": rendered.content.decode("utf-8", "replace")}
        print_json("template", {**template_answer(template, found.library, found.use), "rendered": shown})
        return
    if rendered.is_empty:
        raise NotFound(
            f"Nothing in {template.mark} may be shown now. `seasoned template show {template.name}` says why."
        )
    click.echo(printable(rendered_text(rendered)))
    # On stderr, so that the block alone can be redirected.
    click.echo(f"{rendered.tokens} tokens. A session gets what fits into its budget.", err=True)


def print_list(templates: list[ListedTemplate], *, as_json: bool) -> None:
    """The list, newest first."""
    if as_json:
        found = [msgspec.structs.asdict(one) for one in templates]
        print_json("templates", {"count": len(found), "templates": found})
        return
    if not templates:
        click.echo("No templates match. `seasoned template build` makes one.")
        return
    table(
        ["name", "version", "task", "active / all", "used", "made", "tags", "description"],
        [
            (
                one.name,
                one.version,
                one.task_type,
                f"{one.active_count} / {one.example_count}",
                one.usage_count,
                when(one.created_at),
                ", ".join(one.tags),
                one.description,
            )
            for one in templates
        ],
        right=["version", "active / all", "used"],
        whole=["name", "active / all", "made"],
    )


def print_stats(stats: LibraryStats, *, as_json: bool) -> None:
    """The library in figures."""
    if as_json:
        print_json("template-stats", msgspec.structs.asdict(stats))
        return
    click.echo(
        f"{plural(stats.total, 'template')} with {plural(stats.examples, 'example')}, {plural(stats.notes, 'note')}; "
        f"used {plural(stats.usage, 'time')}, examples shown {plural(stats.shown, 'time')}."
    )
    if stats.total:
        click.echo("by type: " + ", ".join(f"{name} {number}" for name, number in stats.by_type.items()))
        click.echo("examples: " + ", ".join(f"{name} {number}" for name, number in stats.states.items()))


def print_state(example: Example, state: ExampleState, names: Sequence[str], *, as_json: bool) -> None:
    """What became of an example, and which templates hold it."""
    if as_json:
        answer = {**msgspec.structs.asdict(state), "tool": example.tool, "templates": list(names)}
        print_json("example", answer)
        return
    said = "may be shown again" if state.state == "active" else f"is {state.state}"
    click.echo(f"{example.id} ({printable(example.tool)}, in {', '.join(names)}) {said}: {printable(state.reason)}.")


def export_template(found: SavedTemplate, shape: str, to: Path | None) -> None:
    """Write a template to standard output, or into a new file that only its owner can read."""
    template = found.template
    if shape != "seasoned":
        # Hermes knows no states, so what may not be shown must not get there.
        template = msgspec.structs.replace(template, examples=found.library.active(template))
        if not template.examples:
            raise NotFound(f"Nothing in {template.name!r} may be shown now, so nothing was written.")
    data = write_template(template, msgspec.convert(shape, Shape), usage_count=found.use.of(template.name)).decode()
    if to is None:
        sys.stdout.write(data)
        return
    file = to / file_name(template) if to.is_dir() else to
    write_new_file(file, [data])
    click.echo(f"Wrote {file}.")
