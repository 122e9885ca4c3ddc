"""How often templates and examples were shown. Read when needed: use does not change a library."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from seasoned.store import Store
from seasoned.template.example import name_key
from seasoned.template.library.storage import Library


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
    notes: int
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
    by_type: dict[str, int] = {}
    found: dict[str, str] = {}
    for template in library.templates:
        by_type[template.task_type or "any"] = by_type.get(template.task_type or "any", 0) + 1
        for example in template.examples:
            state = library.hidden(template, example)
            if state is None or example.id not in found:
                found[example.id] = "active" if state is None else state.state
    states = {"active": 0, "suspended": 0, "retired": 0}
    for state_name in found.values():
        states[state_name] += 1
    return LibraryStats(
        total=len(library.templates),
        by_type=dict(sorted(by_type.items())),
        examples=len(found),
        notes=sum(len(template.notes) for template in library.templates),
        usage=sum(use.of(template.name) for template in library.templates),
        shown=sum(use.examples.get(example_id, 0) for example_id in found),
        states=states,
    )
