"""Which part of a library a session may be shown: what sessions of the same project or application showed.

An example keeps its real names, so none is chosen for another project by itself. What a person imported is shown
everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from weakref import WeakKeyDictionary

import msgspec

from seasoned.store import Store
from seasoned.template.example import Example, Template
from seasoned.template.library.storage import Library, cached_library

# By session (`agent:native id`): the key of its project. A session that is missing has none.
Projects = Mapping[str, str]
_MOST_SCOPES = 64


def template_of(template: Template, sessions: frozenset[str]) -> Template | None:
    """A template with only the examples that sessions of a project showed; None if none is left."""
    examples = tuple(one for one in template.examples if any(source.session in sessions for source in one.sources))
    return msgspec.structs.replace(template, examples=examples) if examples else None


def library_of(library: Library, sessions: frozenset[str]) -> Library:
    """A library with only what sessions of a project showed."""
    kept = (template_of(template, sessions) for template in library.templates)
    return msgspec.structs.replace(library, templates=tuple(one for one in kept if one is not None))


def scoped(library: Library, project: str | None, projects: Projects) -> Library:
    """A library with only what a session of this project may be shown; None for a session without a project.

    A template with nothing left stays, without examples, so that its name is still known.
    """
    kept = []
    for template in library.templates:
        examples = tuple(one for one in template.examples if _may_be_shown(template, one, project, projects))
        is_whole = len(examples) == len(template.examples)
        kept.append(template if is_whole else msgspec.structs.replace(template, examples=examples))
    return msgspec.structs.replace(library, templates=tuple(kept), project=project or "")


def _may_be_shown(template: Template, example: Example, project: str | None, projects: Projects) -> bool:
    # A file can name any session as its source, so its sources do not count.
    if example.tier == "imported":
        return True
    # An example that does not say where it comes from comes from the sessions of its template.
    sessions = {source.session for source in example.sources} or set(template.sources)
    return project in {projects.get(session) for session in sessions}


_known: WeakKeyDictionary[Library, dict[str | None, Library]] = WeakKeyDictionary()
_lock = Lock()


def library_for(store: Store, project: str | None, *, now: float) -> Library:
    """The library of a store as a session of this project may be shown it, held as long as nothing changes."""
    library = cached_library(store, now=now)
    with _lock:
        made = _known.setdefault(library, {})
        if project not in made:
            # A change of a project raises the revision, so a library never has the projects of another time.
            projects = {row["session"]: row["project"] for row in store.rows("template.projects")}
            made[project] = scoped(library, project, projects)
            for oldest in list(made)[:-_MOST_SCOPES]:
                del made[oldest]
        return made[project]
