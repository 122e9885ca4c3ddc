"""Templates from end to end: build them from histories, keep them current, import them, begin a session with one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Row
from typing import Any

import msgspec

from seasoned.app.stores import (
    Histories,
    Progress,
    check_readable,
    histories,
    kept_secrecy,
    make_redactor,
    no_progress,
    own_store,
    scan_into_store,
    uses_store,
)
from seasoned.begin.warm_start import NewSession, asked_for
from seasoned.begin.warm_start import begin as begin_session
from seasoned.command.tool import TaskType
from seasoned.config import Config, load
from seasoned.digest import short_digest
from seasoned.errors import NotFound, UsageError
from seasoned.example.block import Format
from seasoned.example.choose.offered import Tools
from seasoned.example.example import MAX_AGE_DAYS, Template, check_name, name_from
from seasoned.example.library import storage
from seasoned.example.library.exchange import MOST_BYTES, read_template
from seasoned.example.library.storage import (
    Library,
    TemplateUse,
    library_for,
    use_of,
)
from seasoned.example.library.upkeep import StateChange, prove_imported, too_old
from seasoned.example.library.upkeep import refresh as update_templates
from seasoned.example.mine.miner import build as mine_template
from seasoned.example.mine.miner import create as template_of_session
from seasoned.example.mine.selection import MiningOptions, why_nothing
from seasoned.example.provision import (
    TOLD_MARK,
    BlockRequest,
    Messages,
    Provisioned,
    insert,
    is_under_way,
    last_request,
    listed,
)
from seasoned.example.provision import provision as provision_from
from seasoned.project import name_of
from seasoned.redact.redactor import Redactor
from seasoned.store import Store, open_store
from seasoned.store.project import find_project, project_key
from seasoned.store.search import find_session
from seasoned.text import plural


class SavedTemplate(msgspec.Struct, frozen=True):
    """A stored template, with the library that says which examples may be shown, and how often they were."""

    template: Template
    library: Library
    use: TemplateUse


class Refreshed(msgspec.Struct, frozen=True):
    """The result of `refresh`: what was built, and which examples were suspended or restored."""

    made: tuple[Template, ...]
    library: Library
    use: TemplateUse
    changed: Sequence[StateChange]


def library_now(store: Store) -> tuple[Library, TemplateUse]:
    """The library as of now, and how often its templates and examples were shown."""
    return storage.cached_library(store, now=time.time()), use_of(store)


def library_here(store: Store) -> Library:
    """The library as a session in this folder sees it."""
    folder = str(Path.cwd())
    return library_for(store, project_key(store, folder), now=time.time(), folder=folder)


def find_template(store: Store, name: str) -> SavedTemplate:
    """A template by `NAME` or `NAME@VERSION`."""
    # A template's name cannot hold an @. Anything after it that is not a number is left to `load` to refuse.
    called, at, number = name.rpartition("@")
    found = storage.load(store, called, int(number)) if at and number.isdecimal() else storage.load(store, name)
    return SavedTemplate(found, *library_now(store))


@contextmanager
def filled_store(config: Config, paths: Sequence[Path], *, progress: Progress = no_progress) -> Iterator[Histories]:
    """The user's store to build from: as it is if it has sessions, else after reading the user's own histories.

    What is new in given paths is read into it first.
    """
    if uses_store(config, paths):
        with histories(config) as found:
            yield found
        return
    report, store = scan_into_store(config, paths, progress=progress)
    check_readable(report)
    if store is None:
        raise NotFound("No sessions were found, so nothing was built.")
    with store:
        yield Histories(store, report.failures)


def build(
    name: str,
    paths: Sequence[Path | str] = (),
    *,
    description: str = "",
    tags: Iterable[str] = (),
    project: str | None = None,
    config: Config | None = None,
    progress: Progress = no_progress,
    tell: Callable[[Histories], None] = lambda read: None,
    **mining: Any,
) -> SavedTemplate:
    """Learn a template from the sessions of these paths that went well, and save it as the next version of its name.

    Without paths, from what is in the store; while that is empty, from the user's own histories. `project` takes
    sessions of one project only: its key, a unique name or a folder. Further options are those of the command:
    min_messages, max_sessions, max_error_rate, source, task_type.
    """
    if unknown := mining.keys() - set(MiningOptions.__struct_fields__):
        raise UsageError(f"`build` has no option {min(unknown)!r}: {', '.join(MiningOptions.__struct_fields__)}.")
    # People forget the name and give the path first; without this the error would be about characters in names.
    if "/" in name or "\\" in name:
        raise UsageError(f"{name!r} cannot be the name of a template. Give a name before the path.")
    # Checked before the histories are read, which can take minutes.
    config, name = config or load(), check_name(name)
    given = [Path(path) for path in paths]
    redactor = make_redactor(config)
    with filled_store(config, given, progress=progress) as read:
        tell(read)
        store = read.store
        options = MiningOptions(**mining)
        if project is not None:
            found = find_project(store, project, base=str(Path.cwd()))
            options = msgspec.structs.replace(options, project=found.key)
        made = mine_template(
            store,
            name=name,
            now=time.time(),
            redactor=redactor,
            options=options,
            # Templates are shared, so what people type is redacted like what sessions say.
            description=redactor.text(description),
            tags=[redactor.text(tag) for tag in tags],
            paths=given,
        )
        return _saved(store, made)


def _saved(store: Store, made: Template) -> SavedTemplate:
    kept = storage.save(store, made)
    return SavedTemplate(kept, library_here(store), use_of(store))


def create(
    store: Store,
    session: str,
    *,
    redactor: Redactor,
    name: str | None = None,
    description: str = "",
    task_type: TaskType | None = None,
) -> SavedTemplate:
    """A template from the most useful calls of one session in the store; `name` may be left out."""
    found = find_session(store, session)
    made = template_of_session(
        store,
        found["id"],
        name=_default_name(found, task_type) if name is None else check_name(name),
        now=time.time(),
        redactor=redactor,
        description=redactor.text(description),
        task_type=task_type,
    )
    return _saved(store, made)


def _default_name(session: Row, task_type: TaskType | None) -> str:
    """`code-shop-1f9c02ab`: the task type, the project or else the agent, and a digest of the session's id."""
    about = name_of(session["project"]) if session["project"] else session["agent"]
    digits = short_digest(session["agent"], session["native_id"], size=4)
    return name_from(f"{task_type or session['task_type'] or 'mixed'}-{about}-{digits}")


def refresh(config: Config, store: Store, options: MiningOptions) -> Refreshed:
    """Build or rebuild one template for each task type, suspend what later calls contradict."""
    now = time.time()
    done = update_templates(store, now=now, redactor=make_redactor(config), options=options)
    library = storage.snapshot(store, now=now)
    if not library.templates:
        old = too_old(store, now=now, options=options)
        why = (
            f"Left out: {plural(old, 'good session')} that ended more than {MAX_AGE_DAYS:g} days ago. "
            "`seasoned template build NAME` learns from old ones too."
            if old
            else why_nothing(store, options, now)
        )
        raise NotFound(f"No task type has sessions to learn from yet, so nothing was saved. {why}")
    return Refreshed(done.made, library, use_of(store), done.changed)


def import_file(config: Config, file: Path, *, name: str | None) -> tuple[SavedTemplate, dict[str, int]]:
    """Save a template from a file of ours or of Hermes; also counts what was left out, by reason."""
    try:
        with file.open("rb") as handle:
            # One byte more than allowed, so that a file of any size is refused without being read whole.
            data = handle.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise NotFound(f"There is no file {str(file)!r}.") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{str(file)!r} cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    found = read_template(data, redactor=kept_secrecy(config).redactor(), now=time.time(), name=name, place=str(file))
    if not found.template.examples:
        reasons = ", ".join(f"{number} {reason}" for reason, number in found.left_out.items()) or "it is empty"
        raise NotFound(f"Nothing in {str(file)!r} can be shown, so nothing was saved ({reasons}).")
    with open_store(config.store_path) as store:
        now = time.time()
        kept = storage.save(store, found.template, usage_count=found.usage_count)
        # Examples that sessions here have shown to work are no longer unverified.
        prove_imported(store, storage.snapshot(store, now=now))
        return SavedTemplate(kept, *library_now(store)), found.left_out


def provision(
    messages: Messages = (),
    *,
    template: str | None = None,
    tools: Any = None,
    task: str | None = None,
    is_used: bool = True,
    project: str | None = None,
    config: Config | None = None,
    folder: str | None = None,
    **options: Any,
) -> Provisioned:
    """Put what worked into the messages of a new session: examples, and the commands of the project that it asks for.

    `tools` in the shape of any provider. Further options are those of `seasoned.example.provision.BlockRequest`:
    budget, format, form, is_small. Where nothing fits, the messages come back unchanged and `reason` says why. With
    `is_used` false, for a preview, the use of the template is not counted. `project` is the key of the project that
    the session belongs to, `folder` its checkout; without a project, examples come from all projects.
    """
    now = time.time()
    with own_store(config or load()) as store:
        asked = BlockRequest(tools=tools, task=task, template=template, **options)
        library, told = storage.cached_library(store, now=now), ""
        if project is not None:
            library = library_for(store, project, now=now, folder=folder)
            _, told = asked_for(store, project, task or last_request(listed(messages)), tools, folder)
        made = provision_from(messages, library=library, asked=asked, told=told)
        # Unchanged messages mean that nothing was shown, so nothing is counted.
        is_shown = is_used and made.messages != messages
        if is_shown and made.block is not None and made.rendered is not None and made.block.template != TOLD_MARK:
            storage.count_use(store, made.block.template, made.rendered.example_ids)
    return made


# Sessions of a program that names no agent belong to this one.
_AGENT = "library"


class BegunConversation(msgspec.Struct, frozen=True):
    """The messages that a conversation begins with, and what was put into them."""

    messages: list[dict[str, Any]]
    template: str | None  # `name@version`; None if nothing was shown
    example_ids: tuple[str, ...]
    arm: str | None  # in the running experiment; None if it takes no part
    reason: str


def begin(
    messages: Sequence[Mapping[str, Any]],
    *,
    conversation: str = "",
    tools: Tools | None = None,
    task: str | None = None,
    folder: Path | str | None = None,
    application: str | None = None,
    template: str | None = None,
    format: Format = "openai",
) -> BegunConversation:
    """Begin a conversation with what was learned: the same examples, byte for byte, each time it is asked for.

    Call it with the first messages, and again whenever the conversation is sent from its beginning. `conversation` is
    its id, as `agent:id` or alone; without one, conversations that begin with the same messages are the same. `tools`
    are in any provider's shape. It sees what was learned in the project of its `folder`, or in the `application` that
    its logs name. The settings of `[warm]` and a running experiment hold. Where nothing fits, the messages come back
    unchanged and `reason` says why.
    """
    if isinstance(messages, str):
        raise UsageError("The first argument of `begin` is the list of messages; give the id as conversation=.")
    place = str(folder or application or "")
    name = conversation or short_digest(place, msgspec.json.encode(list(_first(messages))).decode(), size=12)
    config = load()
    with own_store(config) as store:
        session = NewSession(
            conversation=name if ":" in name else f"{_AGENT}:{name}",
            format=format,
            messages=messages,
            task=task,
            tools=tools,
            template=template,
            project=project_key(store, None if folder is None else str(folder), application=application),
            workdir=None if folder is None else str(folder),
        )
        begun = begin_session(store, config, session, config.warm.at("library"), now=time.time())
    given = [dict(message) for message in messages]
    return BegunConversation(
        given if begun.rendered is None else insert(given, begun.rendered),
        begun.template,
        begun.example_ids,
        begun.arm,
        begun.reason,
    )


def _first(messages: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """What a conversation begins with: its messages before the first answer."""
    for message in messages:
        if is_under_way([message]):
            return
        yield message
