"""`template` and `warm`: build, inspect and share templates, and show what a new session would get."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
import msgspec

from seasoned.app import template as templates
from seasoned.app.stores import make_redactor, own_store
from seasoned.cli.histories import print_source
from seasoned.cli.options import (
    PATHS_HELP,
    Commands,
    all_option,
    file_type,
    json_option,
    paths_argument,
    project_option,
    store_option,
    yes_option,
)
from seasoned.cli.output import ReadingBar, print_json
from seasoned.cli.project import project_or_none
from seasoned.cli.template import show as output
from seasoned.config import load
from seasoned.errors import NotFound, UsageError
from seasoned.store import Store
from seasoned.store.project import find_project
from seasoned.template.library import storage
from seasoned.template.library.storage import State
from seasoned.template.library.usage import stats as count
from seasoned.template.mine.build import FROM_ONE_SESSION
from seasoned.template.mine.selection import MiningOptions
from seasoned.template.provision import BUDGET, Provisioned
from seasoned.text import plural

FORMATS = click.Choice(["openai", "responses", "anthropic", "hermes", "pydantic-ai", "text", "skill"])
FORMS = click.Choice(["messages", "text", "guidance"])
TASK_TYPES = click.Choice(["code", "file", "research", "mixed"])
# Formats that are plain text; all others are JSON.
_TEXTS = ("text", "skill")


def words_in(text: str) -> list[str]:
    """The words of a list such as "a, b,": spaces and empty words are dropped."""
    return [word.strip() for word in text.split(",") if word.strip()]


@click.command()
@click.argument("name", required=False)
@click.option("--type", "task_type", type=TASK_TYPES, help="Choose among templates for this task type.")
@click.option("--tags", default="", metavar="TAG,TAG", help="Choose among templates with any of these tags.")
@click.option("--task", help="What the new session should do; by default the last user message.")
@click.option(
    "--tools", "tools_file", type=file_type, help="JSON file with the session's tools, in any provider's shape."
)
@click.option("--messages", "messages_file", type=file_type, help="JSON file with the session's first messages.")
@click.option("--format", "as_format", type=FORMATS, default="openai", show_default=True, help="The API it is for.")
@click.option("--form", type=FORMS, default="messages", show_default=True, help="Show calls, text, or short notes.")
@click.option(
    "--budget", type=click.IntRange(1), default=BUDGET, show_default=True, help="Use at most this many tokens."
)
@click.option("--small", is_flag=True, help="For a very small model: at most three examples, all relevant.")
@project_option
@all_option
@json_option
def warm(
    name: str | None,
    task_type: str | None,
    tags: str,
    task: str | None,
    tools_file: Path | None,
    messages_file: Path | None,
    as_format: str,
    form: str,
    budget: int,
    small: bool,
    project: str | None,
    everything: bool,
    as_json: bool,
) -> None:
    """Print the examples a new session would get.

    They are chosen for its task and its tools. With --messages, the messages are printed with the examples after the
    system messages, and the use is counted. NAME takes one template; by default the best is chosen. A session sees
    examples of the project of its folder, and calls of named tools that several projects make.

    \b
    Example: seasoned warm --task "fix the failing test" --tools tools.json
    """
    if messages_file is not None and as_format == "skill":
        raise UsageError("A skill is a file and cannot be put into messages. Drop --messages, or use another --format.")
    with own_store(load()) as store:
        key, unknown = project_or_none(store, project, everything=everything)
    made = templates.provision(
        [] if messages_file is None else _messages(messages_file),
        tools=None if tools_file is None else _json_list(tools_file, "a list of tools"),
        task=task,
        template=name,
        task_type=task_type,
        tags=words_in(tags),
        # A preview must not count as a use, or looking would change which examples are chosen.
        is_used=messages_file is not None,
        project=key,
        budget=budget,
        format=as_format,
        form=form,
        is_small=small,
    )
    if made.rendered is None and unknown:
        made = msgspec.structs.replace(made, reason=f"{made.reason} {unknown}")
    if as_json:
        print_json("warm", {"format": as_format, "form": form} | _answer(made, with_messages=messages_file is not None))
    else:
        _print(made, with_messages=messages_file is not None)
    # With --messages the unchanged messages are a valid result; a preview of nothing is not.
    if made.rendered is None and messages_file is None:
        raise click.exceptions.Exit(1)


def _answer(made: Provisioned, *, with_messages: bool) -> dict[str, Any]:
    rendered, block = made.rendered, made.block
    content: Any = None
    if rendered is not None:
        is_text = rendered.format in _TEXTS
        content = rendered.content.decode("utf-8") if is_text else msgspec.json.decode(rendered.content)
    return {
        "template": None if block is None else block.template,
        "reason": made.reason,
        "tokens": None if rendered is None else rendered.tokens,
        "example_ids": [] if rendered is None else list(rendered.example_ids),
        "digest": None if rendered is None else rendered.digest,
        "content": content,
        "messages": made.messages if with_messages else None,
    }


def _print(made: Provisioned, *, with_messages: bool) -> None:
    """Prints what programs read to stdout, and why it is that to stderr."""
    if with_messages:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(made.messages), indent=2).decode() + "\n")
    elif made.rendered is not None:
        content = made.rendered.content
        is_text = made.rendered.format in _TEXTS
        sys.stdout.write((content if is_text else msgspec.json.format(content, indent=2)).decode() + "\n")
    tokens = "" if made.rendered is None else f" {made.rendered.tokens} tokens."
    click.echo(f"{made.reason}{tokens}", err=True)


def _messages(path: Path) -> list[dict[str, Any]]:
    found: list[Any] = _json_list(path, "a list of messages")
    # Checked here for a message with its number; the formats themselves only say what type they expected.
    for number, one in enumerate(found, start=1):
        if not isinstance(one, dict):
            raise UsageError(f"{str(path)!r}: message {number} is not an object. Fix it and try again.")
    return found


def _json_list(path: Path, wanted: str) -> list[Any]:
    try:
        value = msgspec.json.decode(path.read_bytes())
    except OSError as error:
        raise NotFound(f"{str(path)!r} cannot be read ({error.strerror}). Give a JSON file with {wanted}.") from error
    except msgspec.DecodeError as error:
        raise UsageError(f"{str(path)!r} is not valid JSON ({error}). Give a JSON file with {wanted}.") from error
    # msgspec raises this for thousands of nested brackets.
    except RecursionError as error:
        raise UsageError(f"{str(path)!r} is nested too deeply. Give a JSON file with {wanted}.") from error
    if not isinstance(value, list):
        raise UsageError(f"{str(path)!r} does not hold a list. Give a JSON file with {wanted}.")
    return value


_SHAPES = click.Choice(["seasoned", "warm-v1", "warm-v2", "session-template"])
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
@click.option("--agent", help="Learn only from one agent's sessions, such as claude-code.")
@click.option("--source", help="Learn only from one place, such as cli, telegram or cron; an agent works too.")
@click.option(
    "--max-error-rate", type=click.FloatRange(0, 1), default=0.5, show_default=True, help="Only better sessions."
)
@click.option("--budget", type=click.IntRange(1), help="Keep only the examples that fit into this many tokens.")
@_project_option
@click.option("--auto", is_flag=True, help="Build or refresh one template for each task type; takes no NAME.")
@store_option
@json_option
def build(
    name: str | None,
    paths: tuple[Path, ...],
    tags: str,
    description: str,
    budget: int | None,
    project: str | None,
    auto: bool,
    use_store: bool,
    as_json: bool,
    **mining: Any,
) -> None:
    """Build a template from good sessions.

    It holds calls that worked, and calls that repaired others. The same name again makes the next version. With a PATH,
    only its sessions are used. --auto uses the whole store except what is too old, retires examples that no longer
    hold, and suspends examples that failures follow.

    \b
    Example: seasoned template build code --type code
    Example: seasoned template build --auto
    """
    # The options of the command are the fields of MiningOptions, so a new one needs no code here.
    options = msgspec.convert(mining, MiningOptions)
    config = load()
    if auto:
        # Silently ignored options would be worse than an error.
        if mining["task_type"] or tags or description or budget or project:
            raise UsageError("--auto chooses names, types and descriptions itself. Leave the other options out.")
        # Without a name, the first argument is a path.
        given = paths if name is None else (Path(name), *paths)
        with templates.filled_store(config, given, use_store=use_store, progress=ReadingBar) as read:
            print_source(read, as_json=as_json)
            output.print_refreshed(templates.refresh(config, read.store, options), as_json=as_json)
        return
    if name is None:
        raise UsageError("Name the template to build, or use --auto to build one for each task type.")
    saved = templates.build(
        name,
        paths,
        options=options,
        description=description,
        tags=words_in(tags),
        budget=budget,
        use_store=use_store,
        project=project,
        config=config,
        progress=ReadingBar,
        tell=lambda read: print_source(read, as_json=as_json),
    )
    output.print_saved(saved, as_json=as_json)


@template.command()
@click.argument("session")
@click.option("--name", help="The name. Default: the agent and the id of the session.")
@click.option("--type", "task_type", type=TASK_TYPES, help="The task type. Default: what its calls are about.")
@click.option(
    "--max-examples",
    type=click.IntRange(1, 100),
    default=FROM_ONE_SESSION,
    show_default=True,
    help="Keep at most this many calls.",
)
@_tags_option
@_description_option
@json_option
def create(session: str, tags: str, as_json: bool, **about: Any) -> None:
    """Create a template from one session.

    It holds the most useful calls of a session in the store. The same session again makes the next version.

    \b
    Example: seasoned template create 53ea19c1 --name release --max-examples 5
    """
    config = load()
    with own_store(config) as store:
        saved = templates.create(store, session, redactor=make_redactor(config), tags=words_in(tags), **about)
    output.print_saved(saved, as_json=as_json)


def _key_of(store: Store, project: str | None) -> str | None:
    """The key of the project that was named; None where none was."""
    return None if project is None else find_project(store, project, base=str(Path.cwd())).key


@template.command("list")
@click.option("--type", "task_type", type=TASK_TYPES, help="Only templates of one task type.")
@click.option("--tags", default="", metavar="TAG,TAG", help="Only templates with any of these tags.")
@_project_option
@json_option
def list_templates(task_type: str | None, tags: str, project: str | None, as_json: bool) -> None:
    """List templates, newest first.

    \b
    Example: seasoned template list --type code
    """
    with own_store(load()) as store:
        key = _key_of(store, project)
        found = templates.list_templates(store, task_type=task_type, tags=words_in(tags), project=key)
    output.print_list(found, as_json=as_json)


@template.command()
@click.argument("name", metavar="NAME[@VERSION]")
@click.option("--format", "as_format", type=FORMATS, help="Show the block as a session would get it.")
@click.option("--form", type=FORMS, default="messages", show_default=True, help="The form of that block.")
@_project_option
@json_option
def show(name: str, as_format: str | None, form: str, project: str | None, as_json: bool) -> None:
    """Show a template and where its examples came from.

    With --format, show what a session would see of it.

    \b
    Example: seasoned template show code --format openai
    """
    with own_store(load()) as store:
        found = templates.find_template(store, name)
        if (key := _key_of(store, project)) is not None:
            found = templates.in_project(store, found, key)
        if as_format is not None:
            output.print_rendered(store, found, as_format, form, as_json=as_json)
        else:
            output.print_template(found, as_json=as_json)


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
        click.echo(f"Deleted {found.name} ({plural(versions, 'version')}).")


@template.command()
@json_option
def stats(as_json: bool) -> None:
    """Count templates, examples and their use.

    \b
    Example: seasoned template stats
    """
    with own_store(load()) as store:
        output.print_stats(count(*templates.library_now(store)), as_json=as_json)


@template.command()
@click.argument("name")
@click.option(
    "--as", "shape", type=_SHAPES, default="seasoned", show_default=True, help="Our format, or one of Hermes."
)
@click.option("--output", "-o", "to", type=_path, help="Write to this new file, or into this folder.")
def export(name: str, shape: str, to: Path | None) -> None:
    """Export a template as JSON.

    In our own format it is complete; in a format of Hermes it holds what may be shown now.

    \b
    Example: seasoned template export code -o ~/templates
    """
    with own_store(load()) as store:
        # To stdout by default, so that it can be piped to another machine's `import`.
        output.export_template(templates.find_template(store, name), shape, to)


@template.command("import")
@click.argument("file", type=_path)
@click.option("--name", help="Save it under another name than the one in the file.")
@json_option
def import_template(file: Path, name: str | None, as_json: bool) -> None:
    """Import a template from Seasoned or Hermes.

    Hermes keeps them in warm_sessions and session-templates. Every call is judged by its result, whatever the file
    says: failed, risky and unclean examples are left out, and those whose result shows nothing are held back. The rest
    is unverified until such a call works here. `seasoned adopt` takes over everything that Hermes keeps.

    \b
    Example: seasoned template import ~/.hermes/warm_sessions/code.json
    """
    saved, left_out = templates.import_file(load(), file, name=name)
    output.print_saved(saved, as_json=as_json, left_out=left_out)


@template.command()
@click.argument("example")
@click.option("--reason", required=True, help="Why it should no longer be shown.")
@json_option
def retire(example: str, reason: str, as_json: bool) -> None:
    """Stop showing an example.

    EXAMPLE is an id or its beginning.

    \b
    Example: seasoned template retire 5f0c2a91 --reason "the option is gone"
    """
    _set_state(example, "retired", reason, as_json=as_json)


@template.command()
@click.argument("example")
@click.option("--reason", default="restored by hand", show_default=True, help="Why it may be shown again.")
@json_option
def restore(example: str, reason: str, as_json: bool) -> None:
    """Show a retired or suspended example again.

    \b
    Example: seasoned template restore 5f0c2a91
    """
    _set_state(example, "active", reason, as_json=as_json)


def _set_state(example: str, state: State, reason: str, *, as_json: bool) -> None:
    config = load()
    with own_store(config) as store:
        changed = templates.set_state(store, example, state, make_redactor(config).text(reason))
    output.print_state(*changed, as_json=as_json)
