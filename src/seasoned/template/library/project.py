"""What a library holds of one project."""

from __future__ import annotations

import msgspec

from seasoned.template.example import Template
from seasoned.template.library.storage import Library


def template_of(template: Template, sessions: frozenset[str]) -> Template | None:
    """A template with only the examples that sessions of a project showed; None if none is left."""
    examples = tuple(one for one in template.examples if any(source.session in sessions for source in one.sources))
    if not examples:
        return None
    # Notes and workflows do not say which sessions taught them, so they stay only where all did.
    if sessions.issuperset(template.sources):
        return msgspec.structs.replace(template, examples=examples)
    return msgspec.structs.replace(template, examples=examples, notes=(), workflows=())


def library_of(library: Library, sessions: frozenset[str]) -> Library:
    """A library with only what sessions of a project showed."""
    kept = (template_of(template, sessions) for template in library.templates)
    return msgspec.structs.replace(library, templates=tuple(one for one in kept if one is not None))
