"""What `template …` prints: templates with where they come from, lists, figures, files."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from seasoned.cli.output import print_json, printable, table, when
from seasoned.errors import CannotDo, NotFound, UsageError
from seasoned.store import Store
from seasoned.template.block import Block, Form, Format
from seasoned.template.example import MAX_AGE_DAYS, Example, Template, check_name
from seasoned.template.library.exchange import MOST_BYTES, Shape, file_name, write_template
from seasoned.template.library.guard import GuardRuling
from seasoned.template.library.storage import ExampleState, Library, ListedTemplate, current, remember_block
from seasoned.template.library.upkeep import Retirement
from seasoned.template.library.usage import LibraryStats, TemplateUse, use_of
from seasoned.text import plural

_SOURCES_SHOWN = 3
_STATES = {"suspend": "suspended", "restore": "active"}


def present(store: Store) -> tuple[Library, TemplateUse]:
    """The library as it is now, and how often what of it was shown."""
    return current(store, now=time.time()), use_of(store)


def checked_name(name: str) -> str:
    """The name of a template; whoever gave a path alone is told so."""
    if "/" in name or "\\" in name:
        raise UsageError(f"{name!r} cannot be the name of a template: give a name before the path.")
    return check_name(name)


def print_saved(
    template: Template, library: Library, use: TemplateUse, *, as_json: bool, left_out: dict[str, int] | None = None
) -> None:
    """What was just saved, and what of it was left out."""
    if as_json:
        print_json("template", {**template_answer(template, library, use), "left_out": left_out or {}})
        return
    recoveries = sum(example.kind == "recovery" for example in template.examples)
    parts = [plural(len(template.examples), "example")]
    parts += [f"{plural(recoveries, 'of them a recovery', 'of them recoveries')}"] if recoveries else []
    parts += [plural(len(template.notes), "note")] if template.notes else []
    parts += [plural(len(template.workflows), "workflow")] if template.workflows else []
    learned = ""
    if template.metrics.sessions_scanned and left_out is None:
        learned = (
            f" from {template.metrics.sessions_qualified} of {plural(template.metrics.sessions_scanned, 'session')}"
        )
    click.echo(f"Saved {template.mark}: {', '.join(parts)}{learned}.")
    dropped = {"unclean": template.metrics.dropped_unclean} if left_out is None else left_out
    said = ", ".join(f"{number} {reason}" for reason, number in dropped.items() if number)
    if said:
        click.echo(f"Left out: {said}.")
    hidden = len(template.examples) - len(library.active(template))
    if hidden:
        click.echo(f"{plural(hidden, 'example')} of it had been retired or suspended before, and will not be shown.")
    click.echo(f"`seasoned template show {template.name}` shows it.")


def print_upkeep(
    made: Sequence[Template],
    library: Library,
    use: TemplateUse,
    retired: Sequence[Retirement],
    ruled: Sequence[GuardRuling],
    old: int,
    *,
    as_json: bool,
) -> None:
    """What upkeep built, and what it decided about examples."""
    if as_json:
        changed = [{"example_id": one.example_id, "state": "retired", "reason": one.reason} for one in retired]
        changed += [
            {"example_id": one.example_id, "state": _STATES[one.decision], "reason": one.reason} for one in ruled
        ]
        names = [_listed(one, library) for one in made]
        print_json("templates", {"count": len(names), "templates": names, "changed": changed, "too_old": old})
        return
    for template in made:
        print_saved(template, library, use, as_json=False)
    if not made:
        click.echo("No new good sessions: the templates stay as they are.")
    print_too_old(old)
    print_retired(retired)
    for ruling in ruled:
        state = _STATES[ruling.decision]
        said = "May be shown again:" if state == "active" else state.capitalize()
        click.echo(f"{said} {ruling.example_id} ({printable(ruling.tool)}): {printable(ruling.reason)}")


def print_retired(retired: Sequence[Retirement]) -> None:
    """What is shown no more, and why."""
    for one in retired:
        click.echo(f"Retired {one.example_id} ({printable(one.tool)}): {printable(one.reason)}")


def too_old_sentence(old: int) -> str:
    """What `auto` did not learn from, and what to do about it."""
    return (
        f"{plural(old, 'good session')} ended more than {MAX_AGE_DAYS:g} days ago, too long to be learned from unasked:"
        " `seasoned template build NAME --store` learns from old ones too."
    )


def print_too_old(old: int) -> None:
    """The same, where there is anything to say."""
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
    for example, shown in zip(template.examples, answer["examples"], strict=True):
        state = library.hidden(template, example)
        shown["id"] = example.id
        shown["state"] = "active" if state is None else state.state
        shown["state_reason"] = None if state is None else state.reason
        shown["shown"] = use.examples.get(example.id, 0)
    return {**answer, "usage_count": use.of(template.name)}


def print_template(template: Template, library: Library, use: TemplateUse, *, as_json: bool) -> None:
    """What is in a template and where it comes from."""
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
        _print_example(example, library.hidden(template, example), use.examples.get(example.id, 0))
    for title, lines in (
        ("Notes", [f"{note.text}" for note in template.notes]),
        ("Workflows", [f"{' → '.join(one.steps)}; {one.support} lineages" for one in template.workflows]),
    ):
        if lines:
            click.echo(f"\n{title}")
        for line in lines:
            click.echo(f"  {printable(line)}")
    click.echo(f"\nLearned from {plural(len(template.sources), 'session')}.")


def _print_example(example: Example, state: ExampleState | None, times_shown: int) -> None:
    marks = [example.kind, f"support {example.support}", example.tier]
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


def print_rendered(
    store: Store, template: Template, library: Library, use: TemplateUse, format: str, form: str, *, as_json: bool
) -> None:
    """The block of a template with everything that may be shown of it."""
    from seasoned.template.render import render

    block = Block(template.mark, library.active(template), template.notes, template.addendum)
    rendered = render(block, msgspec.convert(format, Format), msgspec.convert(form, Form))
    # Whoever is given it will be known by its opening line when the session is read.
    remember_block(store, block.digest, rendered.example_ids, now=library.now or template.created_at)
    text = rendered.content.decode("utf-8", "replace")
    if as_json:
        shown = {**msgspec.structs.asdict(rendered), "content": text}
        print_json("template", {**template_answer(template, library, use), "rendered": shown})
        return
    if rendered.is_empty:
        raise NotFound(
            f"Nothing of {template.mark} may be shown now: `seasoned template show {template.name}` says why."
        )
    if rendered.format not in ("text", "skill"):
        text = msgspec.json.format(rendered.content, indent=2).decode("utf-8", "replace")
    click.echo(printable(text))
    click.echo(f"{rendered.tokens} tokens; a session gets what fits into its budget.", err=True)


def print_list(templates: list[ListedTemplate], *, as_json: bool) -> None:
    """The list, newest first."""
    if as_json:
        found = [msgspec.structs.asdict(one) for one in templates]
        print_json("templates", {"count": len(found), "templates": found})
        return
    if not templates:
        click.echo("No templates match: `seasoned template build` makes one.")
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


def print_state(example: Example, state: ExampleState, library: Library, *, as_json: bool) -> None:
    """What was just said about an example."""
    names = [one.name for one in library.templates if any(each.id == example.id for each in one.examples)]
    if as_json:
        print_json("example", {**msgspec.structs.asdict(state), "tool": example.tool, "templates": names})
        return
    said = "may be shown again" if state.state == "active" else f"is {state.state}"
    click.echo(f"{example.id} ({printable(example.tool)}, in {', '.join(names)}) {said}: {printable(state.reason)}.")


def export_template(template: Template, library: Library, use: TemplateUse, shape: str, to: Path | None) -> None:
    """Write a template to standard output, or into a new file that only its owner can read."""
    if shape != "seasoned":
        # Their readers know no states: what may not be shown must not get there.
        template = msgspec.structs.replace(template, examples=library.active(template))
        if not template.examples:
            raise NotFound(f"Nothing of {template.name!r} may be shown now: nothing was written.")
    data = write_template(template, msgspec.convert(shape, Shape), usage_count=use.of(template.name))
    if to is None:
        sys.stdout.write(data.decode())
        return
    file = to / file_name(template) if to.is_dir() else to
    try:
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as handle:
            handle.write(data)
    except FileExistsError:
        raise CannotDo(f"{str(file)!r} exists already: name a new file.") from None
    except (OSError, ValueError) as error:
        raise CannotDo(f"{str(file)!r} cannot be written: {getattr(error, 'strerror', None) or error}.") from error
    click.echo(f"Wrote {file}.")


def read_file(file: Path) -> bytes:
    """The bytes of a file, no more than a template can have."""
    try:
        with file.open("rb") as handle:
            data = handle.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise NotFound(f"There is no file {str(file)!r}.") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{str(file)!r} cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    return data
