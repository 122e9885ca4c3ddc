"""`template …`: builds, shows and hands on what was learned from good sessions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from seasoned.cli.options import PATHS_HELP, json_option, paths_argument, store_option, yes_option

if TYPE_CHECKING:
    from seasoned.redact.redactor import Redactor
    from seasoned.store import Store
    from seasoned.template.library.storage import State
    from seasoned.template.mine.selection import MiningOptions

_TASK_TYPES = click.Choice(["code", "file", "research", "mixed"])
_FORMATS = click.Choice(["openai", "responses", "anthropic", "hermes", "pydantic-ai", "text", "skill"])
_FORMS = click.Choice(["messages", "text", "guidance"])
_SHAPES = click.Choice(["seasoned", "warm-v1", "warm-v2", "session-template"])
_count, _share = click.IntRange, click.FloatRange(0.0, 1.0)
_tags_option = click.option("--tags", default="", metavar="TAG,TAG", help="Words to find it by.")
_description_option = click.option("--description", default="", help="What it is for.")


@click.group()
def template() -> None:
    """Build, look at and hand on templates: what worked in good sessions, to be shown to new ones."""


@template.command(epilog=PATHS_HELP)
@click.argument("name", required=False)
@paths_argument
@click.option("--type", "task_type", type=_TASK_TYPES, help="Only sessions of one task type.")
@_tags_option
@_description_option
@click.option("--min-messages", type=_count(0), default=30, show_default=True, help="Only sessions at least so long.")
@click.option("--max-sessions", type=_count(1), default=30, show_default=True, help="Learn from at most so many.")
@click.option("--source", help="Only sessions of one agent, such as claude-code.")
@click.option("--max-error-rate", type=_share, default=0.5, show_default=True, help="Leave out sessions above it.")
@click.option("--budget", type=_count(1), help="Keep only as many examples as fit into so many tokens.")
@click.option("--auto", is_flag=True, help="Build or refresh one template for each task type; no NAME needed.")
@store_option
@json_option
def build(
    name: str | None,
    paths: tuple[Path, ...],
    task_type: str | None,
    tags: str,
    description: str,
    min_messages: int,
    max_sessions: int,
    source: str | None,
    max_error_rate: float,
    budget: int | None,
    auto: bool,
    use_store: bool,
    as_json: bool,
) -> None:
    """Learn a template from the sessions that went well: calls that worked, and calls that repaired others.

    The same name again makes the next version. With a PATH only the sessions that it holds are learned from. --auto
    learns from the whole store what is not too old, retires examples that no longer hold, and suspends those that
    failures follow.

    \b
    Example: seasoned template build code --type code
    Example: seasoned template build --auto
    """
    import time

    import msgspec

    from seasoned.cli.template.show import checked_name, present, print_saved
    from seasoned.errors import UsageError
    from seasoned.template.library.storage import save
    from seasoned.template.mine.build import build as build_template
    from seasoned.template.mine.selection import MiningOptions

    if auto:
        if task_type or tags or description or budget:
            raise UsageError("--auto names, types and describes its templates itself: leave the other options out.")
        # There is no name then: what stands first is a path.
        paths, name = ((Path(name), *paths), None) if name is not None else (paths, None)
    elif name is None:
        raise UsageError("Name the template to build, or let --auto build one for each task type.")
    else:
        name = checked_name(name)
    options = msgspec.convert(
        {
            "min_messages": min_messages,
            "max_sessions": max_sessions,
            "max_error_rate": max_error_rate,
            "agent": source,
            "task_type": task_type,
        },
        MiningOptions,
    )
    with _filled(paths, use_store=use_store) as store:
        redactor = _redactor()
        if name is None:
            _keep_up(store, redactor, options, as_json=as_json)
            return
        made = build_template(
            store,
            name=name,
            now=time.time(),
            redactor=redactor,
            options=options,
            description=redactor.text(description),
            tags=[redactor.text(tag) for tag in _words(tags)],
            paths=paths,
            budget=budget,
        )
        print_saved(save(store, made), *present(store), as_json=as_json)


@template.command()
@click.argument("session")
@click.option("--name", help="How it is called; by default after the session.")
@_tags_option
@_description_option
@json_option
def create(session: str, name: str | None, tags: str, description: str, as_json: bool) -> None:
    """Make a template from one session that is in the store: its ten most useful calls.

    \b
    Example: seasoned template create 53ea19c1 --name release
    """
    import time

    from seasoned.app.stores import stored
    from seasoned.cli.template.show import present, print_saved
    from seasoned.config import load
    from seasoned.store.search import find_session
    from seasoned.template.example import check_name
    from seasoned.template.library.storage import save
    from seasoned.template.mine.build import create as create_template

    with stored(load()) as store:
        found = find_session(store, session)
        called = check_name(name or f"{found['agent']}-{found['native_id'][:8]}")
        redactor = _redactor()
        made = create_template(
            store,
            found["id"],
            name=called,
            now=time.time(),
            redactor=redactor,
            description=redactor.text(description),
            tags=[redactor.text(tag) for tag in _words(tags)],
        )
        print_saved(save(store, made), *present(store), as_json=as_json)


@template.command("list")
@click.option("--type", "task_type", type=_TASK_TYPES, help="Only those of one task type.")
@click.option("--tags", default="", metavar="TAG,TAG", help="Only those that have any of these.")
@json_option
def list_templates(task_type: str | None, tags: str, as_json: bool) -> None:
    """List the templates, newest first.

    \b
    Example: seasoned template list --type code
    """
    from seasoned.app.stores import stored
    from seasoned.cli.template.show import present, print_list
    from seasoned.config import load
    from seasoned.template.library.storage import listed

    with stored(load()) as store:
        library = present(store)[0]
        print_list(listed(store, task_type=task_type, tags=_words(tags), library=library), as_json=as_json)


@template.command()
@click.argument("name", metavar="NAME[@VERSION]")
@click.option("--format", "as_format", type=_FORMATS, help="Show the block as a session would get it.")
@click.option("--form", type=_FORMS, default="messages", show_default=True, help="The form of that block.")
@json_option
def show(name: str, as_format: str | None, form: str, as_json: bool) -> None:
    """Show what is in a template and where each example came from; with --format, what a session would see of it.

    \b
    Example: seasoned template show code --format openai
    """
    from seasoned.app.stores import stored
    from seasoned.cli.template.show import present, print_rendered, print_template
    from seasoned.config import load
    from seasoned.template.library.storage import load as load_template

    called, at, version = name.rpartition("@")
    with stored(load()) as store:
        found = load_template(store, called, int(version)) if at and version.isdecimal() else load_template(store, name)
        if as_format is not None:
            print_rendered(store, found, *present(store), as_format, form, as_json=as_json)
        else:
            print_template(found, *present(store), as_json=as_json)


@template.command()
@click.argument("name")
@yes_option
@json_option
def delete(name: str, yes: bool, as_json: bool) -> None:
    """Delete a template with all its versions.

    \b
    Example: seasoned template delete code
    """
    from seasoned.app.stores import stored
    from seasoned.cli.output import print_json
    from seasoned.config import load
    from seasoned.template.library.storage import delete as delete_template
    from seasoned.template.library.storage import load as load_template
    from seasoned.text import plural

    with stored(load()) as store:
        found = load_template(store, name)
        if not yes and not click.confirm(f"Delete {found.name} with {plural(len(found.examples), 'example')}?"):
            raise click.exceptions.Exit(1)
        versions = delete_template(store, name)
    if as_json:
        print_json("template", {"name": found.name, "deleted_versions": versions})
    else:
        click.echo(f"Deleted {found.name} ({plural(versions, 'version')}).")


@template.command()
@json_option
def stats(as_json: bool) -> None:
    """Count templates, examples, and how often they were used.

    \b
    Example: seasoned template stats
    """
    from seasoned.app.stores import stored
    from seasoned.cli.template.show import present, print_stats
    from seasoned.config import load
    from seasoned.template.library.usage import stats as count

    with stored(load()) as store:
        print_stats(count(*present(store)), as_json=as_json)


@template.command()
@click.argument("name")
@click.option("--as", "shape", type=_SHAPES, default="seasoned", show_default=True, help="Ours, or a shape of Hermes.")
@click.option(
    "--output", "-o", "to", type=click.Path(path_type=Path, readable=False), help="A new file, or a folder for it."
)
def export(name: str, shape: str, to: Path | None) -> None:
    """Write a template as JSON: complete in our own shape, or for Hermes what may be shown now.

    \b
    Example: seasoned template export code -o ~/templates
    """
    from seasoned.app.stores import stored
    from seasoned.cli.template.show import export_template, present
    from seasoned.config import load
    from seasoned.template.library.storage import load as load_template

    with stored(load()) as store:
        export_template(load_template(store, name), *present(store), shape, to)


@template.command("import")
@click.argument("file", type=click.Path(path_type=Path, readable=False))
@click.option("--name", help="Another name than the one in the file.")
@json_option
def import_template(file: Path, name: str | None, as_json: bool) -> None:
    """Take a template from a file: one of ours, or one of Hermes (warm_sessions, session-templates).

    Failed, risky and unclean examples are left out; the rest is marked as imported.

    \b
    Example: seasoned template import ~/.hermes/warm_sessions/code.json
    """
    import time

    from seasoned.app.stores import key_of
    from seasoned.cli.template.show import present, print_saved, read_file
    from seasoned.config import load
    from seasoned.errors import NotFound
    from seasoned.store import open_store
    from seasoned.template.library.exchange import read_template
    from seasoned.template.library.storage import is_empty, save

    config = load()
    data = read_file(file)
    key, keep = key_of(config)
    found = read_template(data, redactor=_redactor(key), now=time.time(), name=name, place=str(file))
    if is_empty(found.template):
        said = ", ".join(f"{number} {reason}" for reason, number in found.left_out.items()) or "there is nothing in it"
        raise NotFound(f"Nothing in {str(file)!r} can be shown, and nothing was saved ({said}).")
    keep()
    with open_store(config.store_path) as store:
        print_saved(save(store, found.template), *present(store), as_json=as_json, left_out=found.left_out)


@template.command()
@click.argument("example")
@click.option("--reason", required=True, help="Why it is shown no more.")
@json_option
def retire(example: str, reason: str, as_json: bool) -> None:
    """Show an example to no new session any more. EXAMPLE is an id, or its beginning.

    \b
    Example: seasoned template retire 5f0c2a91 --reason "the option is gone"
    """
    _change(example, "retired", reason, as_json=as_json)


@template.command()
@click.argument("example")
@click.option("--reason", default="restored by hand", show_default=True, help="Why it may be shown again.")
@json_option
def restore(example: str, reason: str, as_json: bool) -> None:
    """Let an example be shown again that was retired or suspended.

    \b
    Example: seasoned template restore 5f0c2a91
    """
    _change(example, "active", reason, as_json=as_json)


def _filled(paths: tuple[Path, ...], *, use_store: bool) -> Store:
    """The user's store, with what is new in the paths, or in the histories of the user's own agents."""
    from seasoned.app.stores import scan_into_store, stored
    from seasoned.cli.output import ReadingBar
    from seasoned.config import load
    from seasoned.errors import NotFound, SourceError

    if use_store:
        return stored(load())
    report, store = scan_into_store(load(), paths, progress=ReadingBar)
    if report.failures and not report.read and not report.unchanged:
        raise SourceError(f"Nothing could be read. {report.failures[0][1]}")
    for _, reason in report.failures:
        click.echo(f"Left out: {reason}", err=True)
    if store is None:
        raise NotFound("No sessions were found there: nothing was built.")
    return store


def _keep_up(store: Store, redactor: Redactor, options: MiningOptions, *, as_json: bool) -> None:
    import time

    from seasoned.cli.template.show import print_upkeep, too_old_sentence
    from seasoned.errors import NotFound
    from seasoned.template.library.storage import snapshot
    from seasoned.template.library.upkeep import auto, retire_stale, too_old, watch
    from seasoned.template.library.usage import use_of

    now = time.time()
    made = auto(store, now=now, redactor=redactor, options=options)
    library, old = snapshot(store, now=now), too_old(store, now=now, options=options)
    if not library.templates:
        why = f"; {too_old_sentence(old)}" if old else " (try --min-messages)."
        raise NotFound(f"No task type has sessions to learn from yet, and nothing was saved{why}")
    retired = retire_stale(store, library, now=now)
    ruled = watch(store, snapshot(store, library), now=now)
    print_upkeep(made, library, use_of(store), retired, ruled, old, as_json=as_json)


def _change(example: str, state: State, reason: str, *, as_json: bool) -> None:
    import time

    from seasoned.app.stores import stored
    from seasoned.cli.template.show import print_state
    from seasoned.config import load
    from seasoned.template.library.storage import find_example, set_state, snapshot

    with stored(load()) as store:
        library = snapshot(store)
        found = find_example(library, example)
        changed = set_state(store, found.id, state, _redactor().text(reason), {"by": "hand"}, now=time.time())
        print_state(found, changed, library, as_json=as_json)


def _redactor(key: bytes | None = None) -> Redactor:
    from seasoned.app.stores import key_of
    from seasoned.config import load
    from seasoned.redact.key import Secrecy

    config = load()
    return Secrecy(key or key_of(config)[0], config.redact).redactor()


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
