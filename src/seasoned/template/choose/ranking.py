"""The index of a library: which templates fit a new session best."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from weakref import WeakKeyDictionary

import msgspec

from seasoned.command.tool import TaskType
from seasoned.command.translate import same_tool
from seasoned.template.choose.offered import Offered
from seasoned.template.choose.relevance import Relevance, words_of
from seasoned.template.example import DAY_SECONDS, Example, Template, seen_at
from seasoned.template.library.storage import Library, earlier

ANY_SCHEMA = "*"
# Relevance is compared in tenths of the best: below that, tools and evidence say more.
_GRADES = 10
# A tool with the hash of a schema; None if the schema is unknown, `*` for any schema.
Key = tuple[str, str | None]


# By example id: how many calls made as it shows worked and failed.
Effects = Mapping[str, tuple[int, int]]
# An example of which nothing was measured counts as if nine of ten calls had worked.
_PRIOR_WORKED, _PRIOR_CALLS = 9, 10
# Support beyond this makes nothing better: planted sessions cannot win by numbers.
_ENOUGH = 5


def is_proven(example: Example, effects: Effects) -> bool:
    """Whether it comes from here, or was seen to work here."""
    return example.tier != "imported" or effects.get(example.id, (0, 0))[0] > 0


def evidence_rank(example: Example, effects: Effects) -> tuple[float, int, float]:
    """The sort key among equals: measured effect, then support, then how recently it was seen to work."""
    worked, failed = effects.get(example.id, (0, 0))
    effect = round((worked + _PRIOR_WORKED) / (worked + failed + _PRIOR_CALLS), 2)
    return -effect, -min(example.support, _ENOUGH), -(seen_at(example) or 0.0) // DAY_SECONDS


class RankedTemplate:
    """One template with what may be shown of it."""

    __slots__ = ("__dict__", "effects", "examples", "keys", "noted", "tags", "template")

    def __init__(self, template: Template, examples: tuple[Example, ...], effects: Effects) -> None:
        self.template = template
        self.examples = examples
        self.effects = effects
        self.tags = frozenset(tag.casefold() for tag in template.tags)
        keys: set[Key] = set()
        for example in examples:
            keys.update(((example.tool, example.schema_hash), (example.tool, ANY_SCHEMA)))
        self.keys: frozenset[Key] = frozenset(keys)
        self.noted: frozenset[Key] = frozenset((note.tool, ANY_SCHEMA) for note in template.notes)

    @cached_property
    def words(self) -> list[str]:
        """What the template is about: its name, description and tags, its tools, and what was said before its calls."""
        template = self.template
        tools = sorted({example.tool for example in template.examples})
        intents = [example.intent for example in self.examples]
        return [
            word
            for text in (template.name, template.description, *template.tags, *tools, *intents)
            for word in words_of(text)
        ]

    @cached_property
    def standing(self) -> tuple[bool, float, float, float]:
        """Where it stands among equals: by the evidence for its examples; what is only imported comes last."""
        ranks = [evidence_rank(one, self.effects) for one in self.examples]
        if not ranks:
            return True, 0.0, 0.0, 0.0
        effect, support, _ = (sum(column) / len(ranks) for column in zip(*ranks, strict=True))
        return not any(is_proven(one, self.effects) for one in self.examples), effect, support, min(ranks)[2]

    @cached_property
    def works(self) -> frozenset[str]:
        """Its tools by the names that they have for all agents."""
        return frozenset(same_tool(example.tool) for example in self.examples)

    @cached_property
    def relevance(self) -> Relevance:
        """Of its examples: what was said before a call, its tool, and the names and values it was given."""
        texts = (f"{one.intent} {one.tool} {one.arguments}" for one in self.examples)
        return Relevance(words_of(text) for text in texts)


def _entry(
    template: Template, examples: tuple[Example, ...], known: RankedTemplate | None, measured: Effects
) -> RankedTemplate:
    effects = {one.id: measured[one.id] for one in examples if one.id in measured} if measured else {}
    if known is not None and known.template is template and (known.examples, known.effects) == (examples, effects):
        return known
    return RankedTemplate(template, examples, effects)


def _are_same(some: Sequence[RankedTemplate], others: Sequence[RankedTemplate]) -> bool:
    return len(some) == len(others) and all(one is other for one, other in zip(some, others, strict=True))


class SessionNeeds(msgspec.Struct, frozen=True):
    """What is known of a session when its template is chosen."""

    words: tuple[str, ...] = ()
    tools: Offered | None = None  # None if its tools are unknown
    task_type: TaskType | None = None
    tags: frozenset[str] = frozenset()
    wants_notes: bool = False

    @property
    def works(self) -> frozenset[str]:
        """The session's tools by the names that they have for all agents."""
        return frozenset(same_tool(name) for name in self.tools or () if not self.wants_notes)

    def keys(self) -> frozenset[Key] | None:
        """The tools and schemas that an example may have; None if any."""
        if self.tools is None:
            return None
        keys: set[Key] = set()
        for tool in self.tools.values():
            if tool.schema_hash is None or self.wants_notes:
                keys.add((tool.name, ANY_SCHEMA))
            else:
                keys.update(((tool.name, None), (tool.name, tool.schema_hash)))
        return frozenset(keys)


class Ranking:
    """The entries of one library, newest first, then by name. What did not change since `known` is taken from it."""

    def __init__(self, library: Library, known: Ranking | None = None) -> None:
        def standing(template: Template) -> tuple[float, str]:
            return -template.created_at, template.name

        held = {} if known is None else {entry.template.name: entry for entry in known.entries}
        self.entries: list[RankedTemplate] = [
            _entry(one, library.active(one), held.get(one.name), library.effects)
            for one in sorted(library.templates, key=standing)
        ]
        self._at = {entry.template.name: at for at, entry in enumerate(self.entries)}
        if known is not None and "_relevance" in vars(known) and _are_same(self.entries, known.entries):
            self._relevance = known._relevance

    def entry(self, template: Template) -> RankedTemplate:
        """What may be shown of this template."""
        return self.entries[self._at[template.name]]

    def suitable(self, asked: SessionNeeds) -> list[Sequence[int]]:
        """Entries with any of the tags: those of the task type, then those of no certain one; no part is empty."""
        if asked.task_type is None:
            parts: list[Sequence[int]] = [range(len(self.entries))]
        else:
            parts = [self._of_type.get(asked.task_type, ())]
            if asked.task_type != "mixed":
                parts.append(sorted([*self._of_type.get("mixed", ()), *self._of_type.get(None, ())]))
            else:
                parts.append(self._of_type.get(None, ()))
        if asked.tags:
            parts = [[at for at in part if not asked.tags.isdisjoint(self.entries[at].tags)] for part in parts]
        return [part for part in parts if part]

    def best_first(self, asked: SessionNeeds, parts: Iterable[Sequence[int]]) -> Iterator[RankedTemplate]:
        """Part by part by merit: relevance in tenths of the best, then tools covered; of equals the better proven."""
        wanted = asked.keys()
        scores = self._relevance.scores(asked.words) if asked.words and len(self.entries) > 1 else None
        for part in parts:
            for group in self._groups(asked, wanted, part, scores):
                order = [(covered, self.entries[at].standing, at) for covered, at in group]
                yield from (self.entries[at] for _, _, at in sorted(order))

    def _groups(
        self, asked: SessionNeeds, wanted: frozenset[Key] | None, part: Sequence[int], scores: Sequence[float] | None
    ) -> Iterator[list[tuple[int, int]]]:
        """Entries of equal relevance, most relevant first, each as what it covers and where it stands.

        The library can be large and the first entry is mostly taken, so entries are ranked as they are asked for.
        """
        relevant = [] if scores is None else sorted([at for at in part if scores[at]], key=lambda at: -scores[at])
        best, grade, group = 0.0, _GRADES, list[tuple[int, int]]()
        for at in relevant:
            covered = self._covered(at, asked, wanted)
            if not covered:
                continue
            assert scores is not None  # there is none to be relevant without
            best = best or scores[at]
            if round(_GRADES * scores[at] / best) != grade:
                yield group
                grade, group = round(_GRADES * scores[at] / best), []
            group.append((-covered, at))
        yield group
        others = part if scores is None else (at for at in part if not scores[at])
        yield [(-covered, at) for at in others if (covered := self._covered(at, asked, wanted))]

    def _covered(self, at: int, asked: SessionNeeds, wanted: frozenset[Key] | None) -> int:
        """How many of the session's tools an entry has something for; where they are unknown, whether it has any."""
        keys = self.entries[at].noted if asked.wants_notes else self.entries[at].keys
        if wanted is None:
            return int(bool(keys))
        # Tools that other agents have under other names count only where the session has none of the entry's own.
        return len(wanted & keys) or int(not self.entries[at].works.isdisjoint(asked.works))

    @cached_property
    def _of_type(self) -> dict[TaskType | None, list[int]]:
        found: dict[TaskType | None, list[int]] = {}
        for at, entry in enumerate(self.entries):
            found.setdefault(entry.template.task_type, []).append(at)
        return found

    @cached_property
    def _relevance(self) -> Relevance:
        return Relevance(entry.words for entry in self.entries)


_KNOWN: WeakKeyDictionary[Library, Ranking] = WeakKeyDictionary()


def ranking_of(library: Library) -> Ranking:
    """The ranking of a library, made once and kept as long as the library."""
    found = _KNOWN.get(library)
    if found is None:
        before = earlier.pop(library, None)
        found = _KNOWN[library] = Ranking(library, None if before is None else _KNOWN.get(before))
    return found
