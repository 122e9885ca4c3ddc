"""`template`: build, inspect and share templates."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from seasoned.app import template as templates
from seasoned.app.stores import make_redactor, own_store
from seasoned.app.template import Refreshed, SavedTemplate, VersionEffect
from seasoned.cli.options import (
    PATHS_HELP,
    TASK_TYPES,
    Commands,
    json_option,
    paths_argument,
    words_in,
    yes_option,
)
from seasoned.cli.output import ReadingBar, print_json, printable, say, table, when, write_new_file
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
    ListedTemplate,
    State,
    TemplateUse,
    why_not_here,
)
from seasoned.example.library.storage import stats as count
from seasoned.example.mine.miner import FROM_ONE_SESSION
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
    as_json: bool,
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
    # The options of the command are the fields of MiningOptions, so a new one needs no code here.
    options = msgspec.convert(mining, MiningOptions)
    config = load()
    if auto:
        # Silently ignored options would be worse than an error.
        if mining["task_type"] or tags or description or project:
            raise UsageError("--auto chooses names, types and descriptions itself. Leave the other options out.")
        # Without a name, the first argument is a path.
        given = paths if name is None else (Path(name), *paths)
        with templates.filled_store(config, given, progress=ReadingBar) as read:
            print_source(read, as_json=as_json)
            print_refreshed(read.store, templates.refresh(config, read.store, options), as_json=as_json)
        return
    if name is None:
        raise UsageError("Name the template to build, or use --auto to build one for each task type.")
    saved = templates.build(
        name,
        paths,
        options=options,
        description=description,
        tags=words_in(tags),
        project=project,
        config=config,
        progress=ReadingBar,
        tell=lambda read: print_source(read, as_json=as_json),
    )
    print_saved(saved, as_json=as_json)


@template.command()
@click.argument("session")
@click.option("--name", help="The name. Default: task type, project and some digits.")
@click.option("--type", "task_type", type=TASK_TYPES, help="The task type. Default: what its calls are about.")
@click.option(
    "--max-examples",
    type=click.IntRange(1, 100),
    default=FROM_ONE_SESSION,
    show_default=True,
    help="Keep at most this many calls.",
)
@_description_option
@json_option
def create(session: str, as_json: bool, **about: Any) -> None:
    """Create a template from one session.

    It holds the most useful calls of a session in the store. The same session again makes the next version.

    \b
    Example: seasoned template create 53ea19c1 --name release --max-examples 5
    """
    config = load()
    with own_store(config) as store:
        saved = templates.create(store, session, redactor=make_redactor(config), **about)
    print_saved(saved, as_json=as_json)


@template.command("list")
@click.option("--type", "task_type", type=TASK_TYPES, help="Only templates of one task type.")
@click.option("--tags", default="", metavar="TAG,TAG", help="Only templates with any of these tags.")
@click.option("--stats", is_flag=True, help="Count templates, examples and their use instead.")
@json_option
def list_templates(task_type: str | None, tags: str, stats: bool, as_json: bool) -> None:
    """List templates, newest first.

    \b
    Example: seasoned template list --type code
    """
    with own_store(load()) as store:
        if stats:
            print_stats(count(*templates.library_now(store)), as_json=as_json)
            return
        found = storage.listed(store, task_type=task_type, tags=words_in(tags), library=templates.library_here(store))
    print_list(found, as_json=as_json)


@template.command()
@click.argument("name", metavar="NAME[@VERSION]")
@json_option
def show(name: str, as_json: bool) -> None:
    """Show a template and where its examples came from.

    `seasoned warm NAME` shows what a session would see of it.

    \b
    Example: seasoned template show code
    """
    with own_store(load()) as store:
        found = templates.find_template(store, name)
        effects = templates.version_effects(store, found.template.name)
        print_template(found, effects, as_json=as_json)


@template.command()
@click.argument("name")
@yes_option
@json_option
def delete(name: str, yes: bool, as_json: bool) -> None:
    """Delete a template with all its versions.

    \b
    Example: seasoned template delete code
    """
    with own_store(load()) as store:
        # Before the question, so that a wrong name is not confirmed first.
        found = storage.load(store, name)
        if not yes and not click.confirm(f"Delete {found.name} with {plural(len(found.examples), 'example')}?"):
            raise click.exceptions.Exit(1)
        versions = storage.delete(store, name)
    if as_json:
        print_json("template", {"name": found.name, "deleted_versions": versions})
    else:
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
        # To stdout by default, so that it can be piped to another machine's `import`.
        export_template(templates.find_template(store, name), shape, to)


@template.command("import")
@click.argument("file", type=_path)
@click.option("--name", help="Save it under another name than the one in the file.")
@json_option
def import_template(file: Path, name: str | None, as_json: bool) -> None:
    """Import a template from Seasoned or Hermes.

    Hermes keeps them in warm_sessions and session-templates. Every call is judged by its result, whatever the file
    says: failed, risky and unclean examples are left out. The rest is unverified, and chosen last, until such a call
    works here.

    \b
    Example: seasoned template import ~/.hermes/warm_sessions/code.json
    """
    saved, left_out = templates.import_file(load(), file, name=name)
    print_saved(saved, as_json=as_json, left_out=left_out)


@template.command()
@click.argument("example")
@click.option("--reason", help="Why it should no longer be shown, or may be shown again.")
@click.option("--undo", is_flag=True, help="Show a retired or suspended example again.")
@json_option
def retire(example: str, reason: str | None, undo: bool, as_json: bool) -> None:
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
    print_state(found, changed, library, as_json=as_json)


# Some examples were seen in hundreds of sessions.
_SOURCES_SHOWN = 3


def print_saved(saved: SavedTemplate, *, as_json: bool, left_out: dict[str, int] | None = None) -> None:
    """What was just saved, and what was left out of it."""
    template, library, use = saved.template, saved.library, saved.use
    if as_json:
        print_json("template", {**template_answer(template, library, use), "left_out": left_out or {}})
        return
    recoveries = sum(example.kind == "recovery" for example in template.examples)
    parts = [plural(len(template.examples), "example")]
    parts += [f"{plural(recoveries, 'of them a recovery', 'of them recoveries')}"] if recoveries else []
    learned = ""
    # An imported template has the figures of the machine that built it.
    if template.metrics.sessions_scanned and left_out is None:
        learned = (
            f" from {template.metrics.sessions_qualified} of {plural(template.metrics.sessions_scanned, 'session')}"
        )
    say(f"Saved {template.mark}: {', '.join(parts)}{learned}.")
    dropped = {"unclean": template.metrics.dropped_unclean} if left_out is None else left_out
    reasons = ", ".join(f"{number} {reason}" for reason, number in dropped.items() if number)
    if reasons:
        say(f"Left out: {reasons}.")
    # A new version can hold examples that were retired earlier; their state is kept by id and still applies.
    hidden = len(template.examples) - len(library.active(template))
    if hidden:
        verb = plural(hidden, "example was", "examples were")
        say(f"{verb} retired or suspended before and will not be shown.")
    unverified = sum(_is_unverified(example, library) for example in template.examples)
    if unverified:
        verb = plural(unverified, "example is", "examples are")
        say(f"{verb} unverified until a session here makes such a call and it works.")
    # By name, a template is shown wherever it is asked for; what is chosen by itself depends on the project.
    elsewhere = why_not_here(library, template).get("of another project", 0) if library.whole is not None else 0
    if elsewhere:
        verb = plural(elsewhere, "example is", "examples are")
        by_name = "" if library.chosen_from(template.name) else " Here, sessions get it by its name only."
        say(f"{verb} of another project than this folder, and shown unasked only there.{by_name}")
    say(f"`seasoned template show {template.name}` shows it.")


def print_refreshed(store: Store, done: Refreshed, *, as_json: bool) -> None:
    """What was rebuilt, and what was decided about examples."""
    if as_json:
        changed = [msgspec.structs.asdict(one) for one in done.changed]
        made = {one.name for one in done.made}
        listed = storage.listed(store, library=done.library)
        names = [msgspec.structs.asdict(one) for one in listed if one.name in made]
        answer = {"count": len(names), "templates": names, "changed": changed}
        print_json("templates", answer)
        return
    for template in done.made:
        print_saved(SavedTemplate(template, done.library, done.use), as_json=False)
    if not done.made:
        say("No new good sessions: the templates stay as they are.")
    for one in done.changed:
        said = "May be shown again:" if one.state == "active" else one.state.capitalize()
        say(f"{said} {one.example_id} ({printable(one.tool)}): {printable(one.reason)}")


def example_count(template: Template, library: Library) -> str:
    """How many examples may be shown, and of how many, where some may not."""
    active, every = len(library.active(template)), len(template.examples)
    return plural(every, "example") if active == every else f"{active} of {plural(every, 'example')}"


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


def print_template(found: SavedTemplate, effects: Sequence[VersionEffect], *, as_json: bool) -> None:
    """What is in a template, where it came from, and what happened with each version."""
    template, library, use = found.template, found.library, found.use
    if as_json:
        answer = template_answer(template, library, use)
        print_json("template", {**answer, "versions": msgspec.to_builtins(effects)})
        return
    used = plural(use.of(template.name), "time")
    say(f"{template.mark}  {template.task_type or 'any task'}  made {when(template.created_at)}, used {used}")
    for line in (template.description, template.addendum):
        if line:
            say(printable(line))
    if template.tags:
        say("tags: " + printable(", ".join(template.tags)))
    for example in template.examples:
        _print_example(example, library, library.hidden(template, example), use.examples.get(example.id, 0))
    say(f"\nLearned from {plural(len(template.sources), 'session')}.")
    say("Sessions that were shown a version, and calls like its examples until the next one was made:")
    table(
        ["version", "made", "shown", "worked", "failed"],
        [(one.version, when(one.created_at), one.shown, one.worked, one.failed) for one in effects],
        nowrap=["made"],
    )


def _is_unverified(example: Example, library: Library) -> bool:
    """Whether it came from a file and was not seen to work here."""
    return not library.is_proven(example)


def _print_example(example: Example, library: Library, state: ExampleState | None, times_shown: int) -> None:
    marks = [example.kind, f"support {example.support}", example.tier]
    if _is_unverified(example, library):
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


def print_list(templates: list[ListedTemplate], *, as_json: bool) -> None:
    """The list, newest first."""
    if as_json:
        found = [msgspec.structs.asdict(one) for one in templates]
        print_json("templates", {"count": len(found), "templates": found})
        return
    if not templates:
        say("No templates match. `seasoned template build` makes one.")
        return
    table(
        ["name", "version", "task", "here / active / all", "used", "made", "tags", "description"],
        [
            (
                one.name,
                one.version,
                one.task_type,
                f"{one.here_count} / {one.active_count} / {one.example_count}",
                one.usage_count,
                when(one.created_at),
                ", ".join(one.tags),
                one.description,
            )
            for one in templates
        ],
        nowrap=["name", "here / active / all", "made"],
    )


def print_stats(stats: LibraryStats, *, as_json: bool) -> None:
    """The library in figures."""
    if as_json:
        print_json("template-stats", msgspec.structs.asdict(stats))
        return
    say(
        f"{plural(stats.total, 'template')} with {plural(stats.examples, 'example')}; "
        f"used {plural(stats.usage, 'time')}, examples shown {plural(stats.shown, 'time')}."
    )
    if stats.total:
        say("by type: " + ", ".join(f"{name} {number}" for name, number in stats.by_type.items()))
        say("examples: " + ", ".join(f"{name} {number}" for name, number in stats.states.items()))


def print_state(example: Example, state: ExampleState, library: Library, *, as_json: bool) -> None:
    """What became of an example, and which templates hold it."""
    names = [one.name for one in library.templates if any(each.id == example.id for each in one.examples)]
    if as_json:
        answer = {**msgspec.structs.asdict(state), "tool": example.tool, "templates": names}
        print_json("example", answer)
        return
    said = "may be shown again" if state.state == "active" else f"is {state.state}"
    say(f"{example.id} ({printable(example.tool)}, in {', '.join(names)}) {said}: {printable(state.reason)}.")


def export_template(found: SavedTemplate, shape: str, to: Path | None) -> None:
    """Write a template to standard output, or into a new file that only its owner can read."""
    template = found.template
    if shape != "seasoned":
        # Hermes knows no states, so what may not be shown must not get there.
        template = msgspec.structs.replace(template, examples=found.library.active(template))
        if not template.examples:
            raise NotFound(f"Nothing in {template.name!r} may be shown now, so nothing was written.")
    data = write_template(template, msgspec.convert(shape, Shape), usage_count=found.use.of(template.name)).decode()
    # On stderr, so that the file alone can be piped to another machine's `import`.
    say("Names, paths and ids are written as they are; secrets and personal data are redacted.", err=True)
    if to is None:
        sys.stdout.write(data)
        return
    file = to / file_name(template) if to.is_dir() else to
    write_new_file(file, [data])
    say(f"Wrote {file}.")
