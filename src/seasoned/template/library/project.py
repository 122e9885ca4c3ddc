"""What a library holds of one project, and what of it a session of a project may be shown."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from weakref import WeakKeyDictionary

import msgspec

from seasoned.command import call_text
from seasoned.command.tool import output_form
from seasoned.session import ToolCall
from seasoned.store import Store
from seasoned.store.project import settle_due
from seasoned.template.example import Example, Template
from seasoned.template.library.real_names import named
from seasoned.template.library.storage import Library, current

# By session (`agent:native id`): the key of its project. One that is missing has none.
Projects = Mapping[str, str]
# From elsewhere a call is shown only if so many projects make it: one alone may have peculiar habits.
FEWEST_PROJECTS = 2
_MOST_SCOPES = 64


def template_of(template: Template, sessions: frozenset[str]) -> Template | None:
    """A template with only the examples that sessions of a project showed; None if none is left."""
    examples = tuple(one for one in template.examples if any(source.session in sessions for source in one.sources))
    return _with_examples(template, examples, is_whole=sessions.issuperset(template.sources)) if examples else None


def library_of(library: Library, sessions: frozenset[str]) -> Library:
    """A library with only what sessions of a project showed."""
    kept = (template_of(template, sessions) for template in library.templates)
    return msgspec.structs.replace(library, templates=tuple(one for one in kept if one is not None))


def scoped(library: Library, project: str | None, projects: Projects) -> Library:
    """A library with only what a session of this project may be shown; None for a session without a project.

    That is what sessions of the same project showed, and from elsewhere how a named tool is called. A template of which
    nothing is left stays, without examples, so that its name is still known.
    """
    kept = tuple(_scoped_template(template, project, projects) for template in library.templates)
    if all(one is other for one, other in zip(kept, library.templates, strict=True)):
        return library  # and with it its index
    return msgspec.structs.replace(library, templates=kept)


def _scoped_template(template: Template, project: str | None, projects: Projects) -> Template:
    examples = tuple(one for one in template.examples if _may_be_shown(template, one, project, projects))
    is_whole = all(projects.get(session) == project for session in template.sources)
    return _with_examples(template, examples, is_whole=is_whole)


def _with_examples(template: Template, examples: tuple[Example, ...], *, is_whole: bool) -> Template:
    # Notes and workflows do not say which sessions taught them, so they stay only where all did.
    notes, workflows = (template.notes, template.workflows) if is_whole else ((), ())
    if (len(examples), notes, workflows) == (len(template.examples), template.notes, template.workflows):
        return template
    return msgspec.structs.replace(template, examples=examples, notes=notes, workflows=workflows)


def _may_be_shown(template: Template, example: Example, project: str | None, projects: Projects) -> bool:
    # A file can name any session as its source, so what it says of them counts for nothing.
    if example.tier == "imported":
        return example.support >= FEWEST_PROJECTS and _is_convention(example)
    # An example that does not say where it comes from comes from the sessions of its template.
    sessions = {source.session for source in example.sources} or set(template.sources)
    homes = {projects.get(session) for session in sessions}
    if project in homes:
        return True
    # A session and its copies vouch once, in however many projects they lie.
    witnesses = {source.root: projects.get(source.session) for source in example.sources}
    known = set(witnesses.values() if witnesses else homes) - {None}
    return len(known) >= FEWEST_PROJECTS and _is_convention(example)


def _is_convention(example: Example) -> bool:
    """Whether it shows how a named tool is called: not a command, code, a file, a search or a page."""
    arguments = msgspec.json.decode(example.arguments, type=dict)
    if output_form(ToolCall("", example.tool, arguments)) != "api":
        return False
    # Tools under any name can run commands and code.
    return next(call_text.texts(example.tool, call_text.packed(example.tool, arguments)[0]), None) is None


def with_real_names(
    store: Store, library: Library, project: str, projects: Projects, *, short_results: bool = False
) -> Library:
    """What a session of this project may be shown, with the real names of the project where its own calls are known."""
    templates = []
    for template in library.templates:
        made = [
            named(store, one, project, projects, _is_convention, short_results=short_results)
            for one in template.examples
        ]
        examples = tuple(one for one in made if one is not None)
        is_same = all(one is other for one, other in zip(made, template.examples, strict=True))
        templates.append(template if is_same else msgspec.structs.replace(template, examples=examples))
    return msgspec.structs.replace(library, templates=tuple(templates))


class _Scopes:
    """What was made of one library: the projects of its sessions, and the library of each project that asked."""

    def __init__(self, projects: Projects) -> None:
        self.projects = projects
        # None where it is the library itself: held here, that would never be let go.
        self.made: dict[tuple[str | None, bool], Library | None] = {}


_known: WeakKeyDictionary[Library, _Scopes] = WeakKeyDictionary()
_lock = Lock()


def library_for(store: Store, project: str | None, *, now: float, short_results: bool = False) -> Library:
    """The library of a store as a session of this project may be shown it, held as long as nothing changes.

    `short_results`: examples of the project also show what named tools answered.
    """
    settle_due(store)
    library = current(store, now=now)
    with _lock:
        scopes = _known.get(library)
        if scopes is None:
            # A change of a project raises the revision, so a library never has the projects of another time.
            rows = store.rows("template.projects")
            scopes = _known[library] = _Scopes({row["session"]: row["project"] for row in rows})
        key = (project, short_results)
        if key not in scopes.made:
            found = scoped(library, project, scopes.projects)
            if project is not None:
                found = with_real_names(store, found, project, scopes.projects, short_results=short_results)
            scopes.made[key] = None if found is library else found
            for oldest in list(scopes.made)[:-_MOST_SCOPES]:
                del scopes.made[oldest]
        return scopes.made[key] or library
