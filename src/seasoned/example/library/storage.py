"""The library in the store: templates by name and version, states of examples, blocks of conversations, use."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, Literal, get_args
from weakref import WeakKeyDictionary

import msgspec

from seasoned.command.tool import TaskType
from seasoned.errors import NotFound, StoreError, UsageError
from seasoned.example.example import DAY_SECONDS, Example, Template, age_reason, ages_at, check_name, name_key
from seasoned.store import Store

# Held: it does what a person must allow first.
State = Literal["active", "suspended", "retired", "held"]
VERSIONS_KEPT = 5
_decode = msgspec.json.Decoder(Template).decode
_decode_strings = msgspec.json.Decoder(tuple[str, ...]).decode
_encode = msgspec.json.encode


class ExampleState(msgspec.Struct, frozen=True):
    """Whether an example may be shown, since when, and why."""

    example_id: str
    state: State
    reason: str
    evidence: Any
    changed_at: float


class ListedTemplate(msgspec.Struct, frozen=True):
    """One line of the list: a template without what is in it."""

    name: str
    version: int
    description: str
    task_type: TaskType | None
    tags: tuple[str, ...]
    example_count: int
    usage_count: int
    created_at: float
    active_count: int | None = None  # examples that may be shown; None if not asked for
    here_count: int | None = None  # of these, the ones that are chosen by themselves in the project of the library


class WarmBlock(msgspec.Struct, frozen=True):
    """What a conversation was shown in one format. It never changes while the conversation lives."""

    lineage_root: str
    format: str
    form: str
    template: str
    version: int
    example_ids: tuple[str, ...]
    content: bytes
    digest: str
    created_at: float


class Library(msgspec.Struct, frozen=True, eq=False, dict=True, weakref=True):
    """All templates in their newest version at one revision. Held in memory and immutable."""

    templates: tuple[Template, ...] = ()  # what is chosen from, sorted by name
    states: Mapping[str, ExampleState] = {}  # of examples that are not active
    # By example id: when a person last restored it. Its age counts from then on.
    vouched: Mapping[str, float] = {}
    proven: frozenset[str] = frozenset()  # ids of imported examples like which a call worked here
    # The present, to the day: what is too old by then is not shown. None if age does not matter.
    now: float | None = None
    revision: int = 0
    project: str = ""  # the key of the project that it was narrowed to
    allowed: frozenset[str] = frozenset()  # actions that a person allowed without being asked
    whole: Library | None = None  # what it was narrowed from: a template that is named is taken whole

    def find(self, name: str) -> Template | None:
        """The template of this name, with all its examples; capitals do not matter."""
        return (self if self.whole is None else self.whole)._by_key.get(name_key(name))

    @cached_property
    def _by_key(self) -> dict[str, Template]:
        return {name_key(template.name): template for template in self.templates}

    @cached_property
    def has_risks(self) -> bool:
        """Whether any example does what a person must allow first."""
        return any(example.needs for template in self.templates for example in template.examples)

    def named(self, name: str) -> Template | None:
        """What a session gets that asks for this template: what it has for the session's project, else all of it."""
        own = self._by_key.get(name_key(name))
        return own if own is not None and own.examples else self.find(name)

    def chosen_from(self, name: str) -> tuple[Example, ...]:
        """The examples of this template that may be chosen without being asked for."""
        template = self._by_key.get(name_key(name))
        return () if template is None else self.active(template)

    def is_proven(self, example: Example) -> bool:
        """Whether it was learned here, or a call like it worked here."""
        return example.tier != "imported" or example.id in self.proven

    def state_of(self, example_id: str) -> State:
        """The state that was set for an example; its age does not count here."""
        state = self.states.get(example_id)
        return "active" if state is None else state.state

    def hidden(self, template: Template, example: Example) -> ExampleState | None:
        """Why an example of this template may not be shown; None if it may."""
        state = self.states.get(example.id)
        if state is None and not self.allowed.issuperset(example.needs):
            needed = ", ".join(sorted({*example.needs} - self.allowed))
            return ExampleState(
                example.id, "held", f"A person must allow {needed} (`seasoned confirm allow`).", None, 0.0
            )
        ends = None if state is not None else ages_at(template, example, self.vouched.get(example.id))
        if ends is None or self.now is None or self.now <= ends:
            return state
        reason, evidence = age_reason(example, self.now)
        return ExampleState(example.id, "retired", reason, evidence, ends)

    def active(self, template: Template) -> tuple[Example, ...]:
        """The examples that may be shown."""
        return tuple(example for example in template.examples if self.hidden(template, example) is None)


def save(store: Store, template: Template, *, usage_count: int = 0) -> Template:
    """Save it as the next version of its name; returns the template as it was saved.

    `usage_count`: how often a file says that it was used.
    """
    name = check_name(template.name)
    key = name_key(name)
    if not template.examples:
        raise NotFound(f"The template {name!r} would be empty. Nothing was saved.")
    with store.write():
        spelled = store.row("template.spelling", {"key": key})
        if spelled is not None and spelled["name"] != name:
            raise UsageError(f"A template {spelled['name']!r} already exists. Use that spelling or another name.")
        version = int(_first(store, "template.next_version", {"key": key, "name": name})[0])
        kept = msgspec.structs.replace(template, name=name, version=version)
        store.run("template.save", {**_columns(kept), "key": key, "revision": _raise_revision(store)})
        store.run_many("template.add_example_source", _shown_from(kept))
        store.run_many("template.add_source", [(key, version, session) for session in sorted(sessions_of(kept))])
        store.run("template.drop_older", {"key": key, "version": version - VERSIONS_KEPT})
        if usage_count:
            store.run("template.add_uses", {"key": key, "uses": usage_count})
    return kept


def load(store: Store, name: str, version: int | None = None) -> Template:
    """The newest version of a template, or an older one that is still kept."""
    key = name_key(name)
    which = "template.newest" if version is None else "template.one"
    row = store.row(which, {"key": key, "version": version})
    if row is None:
        raise NotFound(_absent(store, name, version))
    return _decode(row["document"])


def delete(store: Store, name: str) -> int:
    """Delete a template with all its versions and usage counts; returns how many versions there were."""
    key = name_key(name)
    with store.write():
        removed = store.run("template.delete", {"key": key})
        if removed:
            store.run("template.delete_usage", {"key": key})
            _raise_revision(store)
    if not removed:
        raise NotFound(_absent(store, name, None))
    return removed


def listed(
    store: Store, *, task_type: str | None = None, tags: Sequence[str] = (), library: Library | None = None
) -> list[ListedTemplate]:
    """The templates, newest first; of one type, with any of these tags. A library tells how much may be shown."""
    wanted = {tag.casefold() for tag in tags}
    found = []
    for row in store.rows("template.list", {"task_type": task_type}):
        own = _decode_strings(row["tags"])
        if wanted and wanted.isdisjoint(tag.casefold() for tag in own):
            continue
        template = None if library is None else library.find(row["name"])
        found.append(
            ListedTemplate(
                row["name"],
                row["version"],
                row["description"],
                row["task_type"],
                own,
                row["examples"],
                row["usage_count"],
                row["created_at"],
                None if library is None or template is None else len(library.active(template)),
                None if library is None else len(library.chosen_from(row["name"])),
            )
        )
    return found


def revision(store: Store) -> int:
    """A number that grows with every change of a template or a state; reading it costs one row."""
    return int(_first(store, "template.revision")[0])


def snapshot(store: Store, known: Library | None = None, *, now: float | None = None) -> Library:
    """The library as it is now: `known` itself if nothing changed since, and it is the same day."""
    # The revision is read first, so that a change meanwhile is noticed the next time.
    number, day = revision(store), None if now is None else now // DAY_SECONDS
    if known is not None and known.revision == number:
        is_today = day is None or (known.now is not None and known.now // DAY_SECONDS == day)
        return known if is_today else msgspec.structs.replace(known, now=now)
    # Closed here even if a document cannot be read: the error may be handled in another thread.
    with closing(store.each("template.documents")) as rows:
        templates = tuple(_decode(row["document"]) for row in rows)
    newest = newest_states(store)
    return Library(
        templates=templates,
        states={one.example_id: one for one in newest if one.state != "active"},
        vouched={one.example_id: one.changed_at for one in newest if one.state == "active"},
        proven=frozenset(row["example_id"] for row in store.each("template.proven")),
        revision=number,
        now=now,
    )


def newest_states(store: Store) -> list[ExampleState]:
    """The last state that was set for each example."""
    return [_state(row) for row in {row["example_id"]: row for row in store.each("template.states")}.values()]


_held: dict[tuple[int, int], Library] = {}
_MOST_HELD = 4


def cached_library(store: Store, *, now: float) -> Library:
    """The library of a store, cached for the whole process; while nothing changes, each call reads one row."""
    if not store.path:
        return snapshot(store, now=now)
    # By its file, not its name: a restored backup is another store under the same name.
    file = Path(store.path).stat()
    key = (file.st_dev, file.st_ino)
    library = _held[key] = snapshot(store, _held.get(key), now=now)
    for oldest in list(_held)[:-_MOST_HELD]:
        _held.pop(oldest, None)
    return library


def set_state(
    store: Store, example_id: str, state: State, reason: str, evidence: Any = None, *, now: float
) -> ExampleState:
    """Set whether an example may be shown, and why. Earlier states are kept."""
    with store.write():
        store.run(
            "template.set_state",
            {
                "example_id": example_id,
                "state": state,
                "reason": reason,
                "evidence": _encode(evidence).decode(),
                "changed_at": now,
            },
        )
        _raise_revision(store)
    return ExampleState(example_id, state, reason, evidence, now)


def set_proven(store: Store, example_ids: Sequence[str]) -> None:
    """Note that calls like these imported examples worked here."""
    if example_ids:
        with store.write():
            store.run_many("template.prove", [(one,) for one in sorted(example_ids)])
            _raise_revision(store)


def count_use(store: Store, mark: str, example_ids: Iterable[str]) -> None:
    """Count that a template (`name@version`) was shown with these examples; choosing it does not count."""
    name, _, version = mark.rpartition("@")
    if not name or not version.isdecimal():
        raise UsageError(f"{mark!r} does not name a template version. Write it like 'name@1'.")
    with store.write():
        store.run("template.count_use", {"key": name_key(name), "version": int(version)})
        store.run_many("template.count_shown", [(example_id,) for example_id in sorted(set(example_ids))])


def keep_block(store: Store, block: WarmBlock) -> WarmBlock:
    """Store what a conversation is shown. The first block stays: a second caller gets that one."""
    with store.write():
        params = msgspec.structs.asdict(block) | {
            "bytes": block.content,
            "example_ids": _encode(block.example_ids).decode(),
        }
        del params["content"]
        store.run("template.keep_block", params)
    found = find_block(store, block.lineage_root, block.format)
    if found is None:
        raise StoreError("The block could not be kept, so nothing is shown: a resumed session would begin otherwise.")
    return found


def find_block(store: Store, lineage_root: str, format: str) -> WarmBlock | None:
    """What a conversation was shown in this format, byte for byte."""
    row = store.row("template.find_block", {"lineage_root": lineage_root, "format": format})
    if row is None:
        return None
    found = {name: row[name] for name in WarmBlock.__struct_fields__ if name not in ("example_ids", "content")}
    return WarmBlock(**found, example_ids=_decode_strings(row["example_ids"]), content=bytes(row["bytes"]))


def find_example(library: Library, text: str) -> Example:
    """The example with this id, or with an id that begins with it."""
    found = {
        example.id: example
        for template in library.templates
        for example in template.examples
        if text and example.id.startswith(text.lower())
    }
    if not found:
        raise NotFound(f"No example {text!r}. `seasoned template show NAME` lists the ids.")
    if len(found) > 1:
        raise UsageError(
            f"{text!r} matches {len(found)} examples ({', '.join(sorted(found)[:5])}). Give more of the id."
        )
    return next(iter(found.values()))


def sessions_of(template: Template) -> set[str]:
    """Every session that it came from."""
    return {*template.sources, *(source.session for example in template.examples for source in example.sources)}


def _shown_from(template: Template) -> list[tuple[str, str]]:
    """Whose call each example shows; an example without sources may be from any session of its template."""
    return sorted(
        {
            (session, example.id)
            for example in template.examples
            for session in ([example.sources[0].session] if example.sources else template.sources)
        }
    )


def _columns(template: Template) -> dict[str, Any]:
    return {
        "version": template.version,
        "name": template.name,
        "task_type": template.task_type,
        "tags": _encode(template.tags).decode(),
        "description": template.description,
        "examples": len(template.examples),
        "created_at": template.created_at,
        "document": _encode(template).decode(),
    }


def _first(store: Store, name: str, params: Mapping[str, Any] | Sequence[Any] = ()) -> sqlite3.Row:
    row = store.row(name, params)
    assert row is not None
    return row


def _raise_revision(store: Store) -> int:
    return int(_first(store, "template.raise_revision")[0])


def _state(row: sqlite3.Row) -> ExampleState:
    return ExampleState(
        row["example_id"], row["state"], row["reason"], msgspec.json.decode(row["evidence"]), row["changed_at"]
    )


def _absent(store: Store, name: str, version: int | None) -> str:
    kept = [str(row["version"]) for row in store.rows("template.versions", {"key": name_key(name)})]
    if version is not None and kept:
        return f"The template {name!r} has no version {version}. Kept versions: {', '.join(kept)}."
    return no_template(name, [row["name"] for row in store.rows("template.names")])


def no_template(name: str, names: Sequence[str]) -> str:
    """That there is no template of this name, and which of the others have a similar one."""
    if not names:
        return f"No template {name!r}. The library is empty; build one with `seasoned template build`."
    from difflib import get_close_matches  # here, because hooks import this module

    near = get_close_matches(name, names, n=3)
    similar = f" Similar names: {', '.join(near)}." if near else ""
    return f"No template {name!r}.{similar} `seasoned template list` shows all."


class TemplateUse(msgspec.Struct, frozen=True):
    """How often templates and examples were shown."""

    templates: Mapping[str, int] = {}  # by the key of the name
    examples: Mapping[str, int] = {}  # by id

    def of(self, name: str) -> int:
        """How often the template of this name was shown."""
        return self.templates.get(name_key(name), 0)


class LibraryStats(msgspec.Struct, frozen=True):
    """How much there is, and how much of it is used."""

    total: int
    by_type: dict[str, int]
    examples: int  # different ones: what stands in two templates counts once
    usage: int
    shown: int
    states: dict[str, int]


def use_of(store: Store) -> TemplateUse:
    """How often each template and each example was shown."""
    return TemplateUse(
        {row["key"]: row["uses"] for row in store.each("template.usage")},
        {row["example_id"]: row["shown"] for row in store.each("template.shown")},
    )


def stats(library: Library, use: TemplateUse) -> LibraryStats:
    """The library in figures. An example that any template may show is active."""
    by_type = Counter(template.task_type or "any" for template in library.templates)
    found: dict[str, State] = {}
    for template in library.templates:
        for example in template.examples:
            state = library.hidden(template, example)
            if state is None or example.id not in found:
                found[example.id] = "active" if state is None else state.state
    states = Counter(found.values())
    return LibraryStats(
        total=len(library.templates),
        by_type=dict(sorted(by_type.items())),
        examples=len(found),
        usage=sum(use.of(template.name) for template in library.templates),
        shown=sum(use.examples.get(example_id, 0) for example_id in found),
        states={state: states[state] for state in get_args(State)},
    )


# By session (`agent:native id`): the key of its project. A session that is missing has none.
Projects = Mapping[str, str]
_MOST_SCOPES = 64


def scoped(library: Library, project: str | None, projects: Projects) -> Library:
    """A library from which only what belongs to this project is chosen; None for a session without a project.

    A template with nothing left stays, without examples: a person can still name it.
    """
    kept = []
    for template in library.templates:
        examples = tuple(one for one in template.examples if _belongs(template, one, project, projects))
        is_whole = len(examples) == len(template.examples)
        kept.append(template if is_whole else msgspec.structs.replace(template, examples=examples))
    return msgspec.structs.replace(library, templates=tuple(kept), project=project or "", whole=library)


def _belongs(template: Template, example: Example, project: str | None, projects: Projects) -> bool:
    # A file can name any session as its source, so its sources do not count.
    if example.tier == "imported":
        return True
    # An example that does not say where it comes from comes from the sessions of its template.
    sessions = {source.session for source in example.sources} or set(template.sources)
    return project in {projects.get(session) for session in sessions}


def why_not_here(library: Library, template: Template) -> dict[str, int]:
    """Why examples of a template are not chosen by themselves in the project of a library: how many, by reason."""
    chosen = {example.id for example in library.chosen_from(template.name)}
    reasons: dict[str, int] = {}
    for example in template.examples:
        if example.id not in chosen:
            state = library.hidden(template, example)
            reason = "of another project" if state is None else state.state
            reasons[reason] = reasons.get(reason, 0) + 1
    return reasons


_known: WeakKeyDictionary[Library, dict[str | None, Library]] = WeakKeyDictionary()
_lock = Lock()


def library_for(store: Store, project: str | None, *, now: float, folder: str | None = None) -> Library:
    """The library of a store as a session of this project may be shown it, held as long as nothing changes.

    What a person allowed for the folder counts too.
    """
    library = cached_library(store, now=now)
    with _lock:
        made = _known.setdefault(library, {})
        if project not in made:
            # A change of a project raises the revision, so a library never has the projects of another time.
            projects = {row["session"]: row["project"] for row in store.rows("template.projects")}
            made[project] = scoped(library, project, projects)
            for oldest in list(made)[:-_MOST_SCOPES]:
                del made[oldest]
        found = made[project]
    return msgspec.structs.replace(found, allowed=_allowed(store, folder, now)) if library.has_risks else found


def _allowed(store: Store, folder: str | None, now: float) -> frozenset[str]:
    """The actions that a person allowed without being asked, by this store's audit.

    Its signatures are not checked here: being shown how a call is written lets no call through.
    """
    rows = [(row, msgspec.json.decode(row["document"])) for row in store.rows("confirm.audit_of_power", {"seq": 0})]
    ended = {document["number"] for row, document in rows if row["event"] == "allowance_ended"}
    return frozenset(
        document["action"]
        for row, document in rows
        if row["event"] == "allowed"
        and row["seq"] not in ended
        and document["host"] is None
        and (document["until"] is None or now < document["until"])
        and (document["project"] is None or f"{folder}/".startswith(f"{document['project'].rstrip('/')}/"))
    )
