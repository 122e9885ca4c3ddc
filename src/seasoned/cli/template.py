"""`template`: build, inspect and share templates."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import click
import msgspec

from seasoned.app import template as templates
from seasoned.app.stores import make_redactor, own_store
from seasoned.app.template import Refreshed, SavedTemplate
from seasoned.cli.options import (
    PATHS_HELP,
    TASK_TYPES,
    Commands,
    agrees,
    json_option,
    paths_argument,
    words_in,
    yes_option,
)
from seasoned.cli.output import ReadingBar, answered, printable, records, say, when, write_new_file
from seasoned.cli.project import print_source
from seasoned.config import load
from seasoned.errors import NotFound, UsageError
from seasoned.example.example import Example, Template
from seasoned.example.library import storage
from seasoned.example.library.exchange import Shape, file_name, write_template
from seasoned.example.library.storage import (
    ExampleState,
    Library,
    LibraryStats,
    State,
    why_not_here,
)
from seasoned.example.library.storage import stats as count
from seasoned.example.mine.selection import MiningOptions
from seasoned.store import Store
from seasoned.text import plural

_SHAPES = click.Choice(["seasoned", "warm-v2", "session-template"])
_path = click.Path(path_type=Path, readable=False)
_tags_option = click.option("--tags", default="", metavar="TAG,TAG", help="Words to find it by.")
_project_option = click.option("--project", metavar="PROJECT", help="Only one project: its key, name or folder.")
_description_option = click.option("--description", default="", help="What it is for.")


@click.group(cls=Commands)
def template() -> None:
    """Build, inspect and share templates.

    A template holds calls that worked in good sessions, to be shown to new ones.
    """


@template.command(epilog=PATHS_HELP)
@click.argument("name", required=False)
@paths_argument
@click.option("--type", "task_type", type=TASK_TYPES, help="Learn only from sessions of one task type.")
@_tags_option
@_description_option
@click.option("--min-messages", type=click.IntRange(0), default=30, show_default=True, help="Only longer sessions.")
@click.option(
    "--max-sessions", type=click.IntRange(1), default=30, show_default=True, help="Learn from at most this many."
)
@click.option("--source", help="Learn only from one place, such as cli, telegram or cron; an agent works too.")
@click.option(
    "--max-error-rate", type=click.FloatRange(0, 1), default=0.5, show_default=True, help="Only better sessions."
)
@_project_option
@click.option("--auto", is_flag=True, help="Build or refresh one template for each task type; takes no NAME.")
@json_option
def build(
    name: str | None,
    paths: tuple[Path, ...],
    tags: str,
    description: str,
    project: str | None,
    auto: bool,
    **mining: Any,
) -> None:
    """Build a template from good sessions.

    It holds calls that worked, and calls that repaired others. The same name again makes the next version. With a PATH,
    only its sessions are used. --auto uses the whole store except what is too old, and suspends examples
    that later calls contradict.

    \b
    Example: seasoned template build code --type code
    Example: seasoned template build --auto
    """
    config = load()
    if auto:
        # Silently ignored options would be worse than an error.
        if mining["task_type"] or tags or description or project:
            raise UsageError("--auto chooses names, types and descriptions itself. Leave the other options out.")
        # Without a name, the first argument is a path.
        given = paths if name is None else (Path(name), *paths)
        with templates.filled_store(config, given, progress=ReadingBar) as read:
            print_source(read)
            print_refreshed(read.store, templates.refresh(config, read.store, MiningOptions(**mining)))
        return
    if name is None:
        raise UsageError("Name the template to build, or use --auto to build one for each task type.")
    saved = templates.build(
        name,
        paths,
        description=description,
        tags=words_in(tags),
        project=project,
        config=config,
        progress=ReadingBar,
        tell=print_source,
        # The other options of the command are the fields of MiningOptions.
        **mining,
    )
    print_saved(saved)


@template.command()
@click.argument("session")
@click.option("--name", help="The name. Default: task type, project and some digits.")
@click.option("--type", "task_type", type=TASK_TYPES, help="The task type. Default: what its calls are about.")
@_description_option
@json_option
def create(session: str, **about: Any) -> None:
    """Create a template from one session.

    It holds the most useful calls of a session in the store. The same session again makes the next version.

    \b
    Example: seasoned template create 53ea19c1 --name release
    """
    config = load()
    with own_store(config) as store:
        saved = templates.create(store, session, redactor=make_redactor(config), **about)
    print_saved(saved)


@template.command("list")
@click.option("--type", "task_type", type=TASK_TYPES, help="Only templates of one task type.")
@click.option("--tags", default="", metavar="TAG,TAG", help="Only templates with any of these tags.")
@click.option("--stats", is_flag=True, help="Count templates, examples and their use instead.")
@json_option
def list_templates(task_type: str | None, tags: str, stats: bool) -> None:
    """List templates, newest first.

    \b
    Example: seasoned template list --type code
    """
    with own_store(load()) as store:
        if stats:
            print_stats(count(*templates.library_now(store)))
            return
        found = storage.listed(store, task_type=task_type, tags=words_in(tags), library=templates.library_here(store))
    listed = [msgspec.structs.asdict(one) for one in found]
    if answered("templates", {"count": len(listed), "templates": listed}):
        return
    if not found:
        say("No templates match. `seasoned template build` makes one.")
        return
    counts = ("here / active / all", lambda one: f"{one.here_count} / {one.active_count} / {one.example_count}")
    columns = ("name version task=task_type", counts, "used=usage_count made=created_at tags description")
    records(found, *columns, nowrap=["name", "here / active / all", "made"])


@template.command()
@click.argument("name", metavar="NAME[@VERSION]")
@json_option
def show(name: str) -> None:
    """Show a template and where its examples came from.

    `seasoned warm NAME` shows what a session would see of it.

    \b
    Example: seasoned template show code
    """
    with own_store(load()) as store:
        print_template(templates.find_template(store, name))


@template.command()
@click.argument("name")
@yes_option
@json_option
def delete(name: str, yes: bool) -> None:
    """Delete a template with all its versions.

    \b
    Example: seasoned template delete code
    """
    with own_store(load()) as store:
        # Before the question, so that a wrong name is not confirmed first.
        found = storage.load(store, name)
        if not agrees(f"Delete {found.name} with {plural(len(found.examples), 'example')}?", yes=yes):
            raise click.exceptions.Exit(1)
        versions = storage.delete(store, name)
    if not answered("template", {"name": found.name, "deleted_versions": versions}):
        say(f"Deleted {found.name} ({plural(versions, 'version')}).")


@template.command()
@click.argument("name")
@click.option(
    "--as", "shape", type=_SHAPES, default="seasoned", show_default=True, help="Our format, or one of Hermes."
)
@click.option("--output", "-o", "to", type=_path, help="Write to this new file, or into this folder.")
def export(name: str, shape: str, to: Path | None) -> None:
    """Export a template as JSON.

    Its examples have the real names of their project; secrets are redacted. In our own format it is complete; in a
    format of Hermes it holds what may be shown now.

    \b
    Example: seasoned template export code -o ~/templates
    """
    with own_store(load()) as store:
        found = templates.find_template(store, name)
    made = found.template
    if shape != "seasoned":
        # Hermes knows no states, so what may not be shown must not get there.
        made = msgspec.structs.replace(made, examples=found.library.active(made))
        if not made.examples:
            raise NotFound(f"Nothing in {made.name!r} may be shown now, so nothing was written.")
    data = write_template(made, msgspec.convert(shape, Shape), usage_count=found.use.of(made.name)).decode()
    # On stderr, so that the file alone can be piped to another machine's `import`.
    say("Names, paths and ids are written as they are; secrets and personal data are redacted.", err=True)
    if to is None:
        sys.stdout.write(data)
        return
    file = to / file_name(made) if to.is_dir() else to
    write_new_file(file, [data])
    say(f"Wrote {file}.")


@template.command("import")
@click.argument("file", type=_path)
@click.option("--name", help="Save it under another name than the one in the file.")
@json_option
def import_template(file: Path, name: str | None) -> None:
    """Import a template from Seasoned or Hermes.

    Hermes keeps them in warm_sessions and session-templates. Every call is judged by its result, whatever the file
    says: failed, risky and unclean examples are left out. The rest is unverified, and chosen last, until such a call
    works here.

    \b
    Example: seasoned template import ~/.hermes/warm_sessions/code.json
    """
    saved, left_out = templates.import_file(load(), file, name=name)
    print_saved(saved, left_out=left_out)


@template.command()
@click.argument("example")
@click.option("--reason", help="Why it should no longer be shown, or may be shown again.")
@click.option("--undo", is_flag=True, help="Show a retired or suspended example again.")
@json_option
def retire(example: str, reason: str | None, undo: bool) -> None:
    """Stop showing an example, or show it again.

    EXAMPLE is an id or its beginning.

    \b
    Example: seasoned template retire 5f0c2a91 --reason "the option is gone"
    """
    if reason is None and not undo:
        raise UsageError("Say why it should no longer be shown: --reason TEXT.")
    state: State = "active" if undo else "retired"
    config = load()
    with own_store(config) as store:
        library, _ = templates.library_now(store)
        found = storage.find_example(library, example)
        why = make_redactor(config).text(reason or "restored by hand")
        changed = storage.set_state(store, found.id, state, why, {"by": "hand"}, now=time.time())
    names = [one.name for one in library.templates if any(each.id == found.id for each in one.examples)]
    if not answered("example", {**msgspec.structs.asdict(changed), "tool": found.tool, "templates": names}):
        said = "may be shown again" if undo else "is retired"
        say(f"{found.id} ({printable(found.tool)}, in {', '.join(names)}) {said}: {printable(changed.reason)}.")


# Some examples were seen in hundreds of sessions.
_SOURCES_SHOWN = 3


def print_saved(saved: SavedTemplate, *, left_out: dict[str, int] | None = None) -> None:
    """What was just saved, and what was left out of it."""
    if not answered("template", {**template_answer(saved), "left_out": left_out or {}}):
        _say_saved(saved, left_out)


def _say_saved(saved: SavedTemplate, left_out: dict[str, int] | None = None) -> None:
    template, library, metrics = saved.template, saved.library, saved.template.metrics
    recoveries = sum(example.kind == "recovery" for example in template.examples)
    parts = [plural(len(template.examples), "example")]
    parts += [plural(recoveries, "of them a recovery", "of them recoveries")] if recoveries else []
    # An imported template has the figures of the machine that built it.
    is_own = metrics.sessions_scanned and left_out is None
    learned = f" from {metrics.sessions_qualified} of {plural(metrics.sessions_scanned, 'session')}" if is_own else ""
    say(f"Saved {template.mark}: {', '.join(parts)}{learned}.")
    dropped = {"unclean": metrics.dropped_unclean} if left_out is None else left_out
    if reasons := ", ".join(f"{number} {reason}" for reason, number in dropped.items() if number):
        say(f"Left out: {reasons}.")
    elsewhere = why_not_here(library, template).get("of another project", 0) if library.whole is not None else 0
    by_name = "" if library.chosen_from(template.name) else " Here, sessions get it by its name only."
    for number, rest in (
        # A new version can hold examples that were retired earlier; their state is kept by id and still applies.
        (len(template.examples) - len(library.active(template)), "retired or suspended, and not shown."),
        (
            sum(not library.is_proven(example) for example in template.examples),
            "unverified until a session here makes such a call and it works.",
        ),
        # By name, a template is shown wherever it is asked for; what is chosen by itself depends on the project.
        (elsewhere, f"of another project than this folder, and shown unasked only there.{by_name}"),
    ):
        if number:
            say(f"{plural(number, 'example is', 'examples are')} {rest}")
    say(f"`seasoned template show {template.name}` shows it.")


def print_refreshed(store: Store, done: Refreshed) -> None:
    """What was rebuilt, and what was decided about examples."""
    made = {one.name for one in done.made}
    listed = [one for one in storage.listed(store, library=done.library) if one.name in made]
    answer = {"count": len(listed), "templates": listed, "changed": done.changed}
    if answered("templates", msgspec.to_builtins(answer)):
        return
    for template in done.made:
        _say_saved(SavedTemplate(template, done.library, done.use))
    if not done.made:
        say("No new good sessions: the templates stay as they are.")
    for one in done.changed:
        said = "May be shown again:" if one.state == "active" else one.state.capitalize()
        say(f"{said} {one.example_id} ({printable(one.tool)}): {printable(one.reason)}")


def example_count(template: Template, library: Library) -> str:
    """How many examples may be shown, and of how many, where some may not."""
    active, every = len(library.active(template)), len(template.examples)
    return plural(every, "example") if active == every else f"{active} of {plural(every, 'example')}"


def template_answer(saved: SavedTemplate) -> dict[str, Any]:
    """A template for programs: the file that `export` writes, with the ids, use and states of its examples."""
    template, library, use = saved.template, saved.library, saved.use
    answer: dict[str, Any] = msgspec.to_builtins(template)
    # The file format has no ids and states, which belong to this machine's library.
    for example, shown in zip(template.examples, answer["examples"], strict=True):
        state = library.hidden(template, example)
        shown["id"] = example.id
        shown["state"] = "active" if state is None else state.state
        shown["state_reason"] = None if state is None else state.reason
        shown["shown"] = use.examples.get(example.id, 0)
        shown["unverified"] = not library.is_proven(example)
    return {**answer, "usage_count": use.of(template.name)}


def print_template(found: SavedTemplate) -> None:
    """What is in a template, and where it came from."""
    template, library, use = found.template, found.library, found.use
    if answered("template", template_answer(found)):
        return
    used = plural(use.of(template.name), "time")
    say(f"{template.mark}  {template.task_type or 'any task'}  made {when(template.created_at)}, used {used}")
    for line in (template.description, template.addendum, template.tags and f"tags: {', '.join(template.tags)}"):
        if line:
            say(printable(line))
    for example in template.examples:
        _print_example(example, library, library.hidden(template, example), use.examples.get(example.id, 0))
    say(f"\nLearned from {plural(len(template.sources), 'session')}.")


def _print_example(example: Example, library: Library, state: ExampleState | None, times_shown: int) -> None:
    marks = [example.kind, f"support {example.support}", example.tier]
    if not library.is_proven(example):
        marks.append("unverified")
    if times_shown:
        marks.append(f"shown {plural(times_shown, 'time')}")
    say(f"\n{example.id}  {printable(example.tool)}  ({', '.join(marks)})")
    if state is not None:
        say(f"  {state.state} {when(state.changed_at)}: {printable(state.reason)}")
    for title, text in (("intent", example.intent), ("arguments", example.arguments), ("result", example.result)):
        if text:
            say(f"  {title:<10}{printable(text).replace(chr(10), chr(10) + ' ' * 12)}", indent=" " * 12)
    if example.repaired is not None:
        changed = ", ".join(example.repaired.changed)
        say(f"  {'repairs':<10}{printable(example.repaired.signature)} (changed: {printable(changed)})")
    shown = [f"{one.session} {when(one.time)}" for one in example.sources[:_SOURCES_SHOWN]]
    more = len(example.sources) - len(shown)
    if shown:
        say(f"  {'from':<10}{printable(', '.join(shown))}" + (f" and {more} more" if more > 0 else ""))


def print_stats(stats: LibraryStats) -> None:
    """The library in figures."""
    if answered("template-stats", msgspec.structs.asdict(stats)):
        return
    say(
        f"{plural(stats.total, 'template')} with {plural(stats.examples, 'example')}; "
        f"used {plural(stats.usage, 'time')}, examples shown {plural(stats.shown, 'time')}."
    )
    if stats.total:
        say("by type: " + ", ".join(f"{name} {number}" for name, number in stats.by_type.items()))
        say("examples: " + ", ".join(f"{name} {number}" for name, number in stats.states.items()))
