"""Ranks the templates of a library for a new session, by relevance to its task and by the evidence for them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from importlib.util import find_spec
from typing import Any
from weakref import WeakKeyDictionary

import msgspec

from seasoned.command.parse import names
from seasoned.command.tool import TaskType
from seasoned.example.choose.offered import Offered
from seasoned.example.example import DAY_SECONDS, Example, Template, seen_at
from seasoned.example.library.storage import Library
from seasoned.lazy_regex import LazyRegex

_K1, _B = 1.5, 0.75
# Up to this many texts, plain Python is faster than importing numpy.
_FEW = 200
# Only the first words of a task are used: they say what it is about.
_LONGEST_TASK = 64
_READ = 4000
_WORD = LazyRegex(r"[぀-ヿ㐀-鿿가-힣]|[^\W_]+")
_HUMP = LazyRegex(r"(?<=[a-z0-9])(?=[A-Z])")
_EMPTY = names(
    "a an and are as at be but by can could do does for from has have how i if in into is it its let me my no not of on"
    " or our please should so some that the their them then there these they this those to us use using was we were"
    " what when where which who will with would you your"
)
# Scores are rounded, so that the last bit of a float does not decide.
DECIMALS = 4


def words_of(text: str) -> list[str]:
    """The words of a text in order: lower case, without stop words, names split at capitals and underscores."""
    found = []
    for word in _WORD.compiled.findall(_HUMP.compiled.sub(" ", text[:_READ])):
        lowered = word.casefold()
        if lowered in _EMPTY or (len(lowered) < 2 and lowered.isascii()):
            continue
        # The plural of a word is the same word.
        found.append(lowered[:-1] if len(lowered) > 3 and lowered[-1] == "s" and lowered[-2] != "s" else lowered)
    return found


class Relevance:
    """Scores texts by the words they share with a task: BM25 in Lucene's form.

    A text scores Σ idf(w) · tf / (tf + k1 · (1 − b + b · length / mean length)) over the words w that it shares with
    the task, with idf(w) = ln(1 + (N − n + 0.5) / (n + 0.5)) for a word in n of N texts (Robertson & Zaragoza 2009;
    Kamphuis et al. 2020 for the form). bm25s (Lù 2024) scores many texts, on numpy. Importing numpy takes longer than
    scoring a few, so those are scored in plain Python, with the same figures.
    """

    def __init__(self, documents: Iterable[Sequence[str]]) -> None:
        self._documents = list(documents)

    def scores(self, words: Sequence[str]) -> list[float]:
        """One score for each text, in their order; all zero where nothing is shared."""
        asked = list(dict.fromkeys(words))[:_LONGEST_TASK]
        if not asked or not self._documents:
            return [0.0] * len(self._documents)
        if len(self._documents) <= _FEW or not _has_library():
            return self._plain(asked)
        return self._by_library(asked)

    def _plain(self, asked: list[str]) -> list[float]:
        counts, mean = self._counts, self._mean
        scores = [0.0] * len(counts)
        for word in asked:
            holding = self._holding.get(word, ())
            rarity = math.log(1 + (len(counts) - len(holding) + 0.5) / (len(holding) + 0.5))
            for at in holding:
                times = counts[at][word]
                length = len(self._documents[at]) / mean
                scores[at] += rarity * times / (times + _K1 * (1 - _B + _B * length))
        return [round(score, DECIMALS) for score in scores]

    def _by_library(self, asked: list[str]) -> list[float]:
        known = [self._numbers[word] for word in asked if word in self._numbers]
        if not known:
            return [0.0] * len(self._documents)
        found: list[float] = self._library.get_scores_from_ids(known).round(DECIMALS).tolist()
        return found

    @cached_property
    def _counts(self) -> list[Counter[str]]:
        return [Counter(words) for words in self._documents]

    @cached_property
    def _mean(self) -> float:
        return sum(map(len, self._documents)) / len(self._documents) or 1.0

    @cached_property
    def _holding(self) -> dict[str, list[int]]:
        holding: dict[str, list[int]] = {}
        for at, counts in enumerate(self._counts):
            for word in counts:
                holding.setdefault(word, []).append(at)
        return holding

    @cached_property
    def _numbers(self) -> dict[str, int]:
        # Numbered in order of appearance: bm25s would number them in the order of a set, which varies.
        numbers: dict[str, int] = {}
        for words in self._documents:
            for word in words:
                numbers.setdefault(word, len(numbers))
        return numbers

    @cached_property
    def _library(self) -> Any:
        import logging

        import bm25s  # type: ignore[import-untyped]  # it carries no types

        # Otherwise it writes into the log of every program that uses it.
        logging.getLogger("bm25s").setLevel(logging.WARNING)
        numbers = self._numbers
        index = bm25s.BM25(k1=_K1, b=_B, method="lucene", dtype="float64")
        documents = [[numbers[word] for word in words] for words in self._documents]
        index.index((documents, dict(numbers)), show_progress=False)
        return index


@cache
def _has_library() -> bool:
    return find_spec("bm25s") is not None


ANY_SCHEMA = "*"
# Relevance is compared in tenths of the best: smaller differences count less than tools and evidence.
_GRADES = 10
# A tool with the hash of a schema; None if the schema is unknown, `*` for any schema.
Key = tuple[str, str | None]
# By example id: how many calls made as it shows worked and failed.
Effects = Mapping[str, tuple[int, int]]
# An example without measurements counts as if nine of ten calls had worked.
_PRIOR_WORKED, _PRIOR_CALLS = 9, 10
# More support than this adds nothing, so that planted sessions cannot win by numbers.
_ENOUGH = 5


def is_proven(example: Example, effects: Effects) -> bool:
    """Whether it was made here, or was seen to work here."""
    return example.tier != "imported" or effects.get(example.id, (0, 0))[0] > 0


def evidence_rank(example: Example, effects: Effects) -> tuple[float, int, float]:
    """The sort key among equals: measured effect, then support, then how recently it was seen to work."""
    worked, failed = effects.get(example.id, (0, 0))
    effect = round((worked + _PRIOR_WORKED) / (worked + failed + _PRIOR_CALLS), 2)
    return -effect, -min(example.support, _ENOUGH), -(seen_at(example) or 0.0) // DAY_SECONDS


class RankedTemplate:
    """One template with what may be shown of it."""

    __slots__ = ("__dict__", "effects", "examples", "keys", "tags", "template")

    def __init__(self, template: Template, examples: tuple[Example, ...], effects: Effects) -> None:
        self.template = template
        self.examples = examples
        self.effects = effects
        self.tags = frozenset(tag.casefold() for tag in template.tags)
        keys: set[Key] = set()
        for example in examples:
            keys.update(((example.tool, example.schema_hash), (example.tool, ANY_SCHEMA)))
        self.keys: frozenset[Key] = frozenset(keys)

    @cached_property
    def words(self) -> list[str]:
        """The words of the template: its name, description and tags, its tools, and the intents of its examples."""
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
        """Its rank among equals, by the evidence for its examples; imported ones come last."""
        ranks = [evidence_rank(one, self.effects) for one in self.examples]
        if not ranks:
            return True, 0.0, 0.0, 0.0
        effect, support, _ = (sum(column) / len(ranks) for column in zip(*ranks, strict=True))
        return not any(is_proven(one, self.effects) for one in self.examples), effect, support, min(ranks)[2]

    @cached_property
    def relevance(self) -> Relevance:
        """The relevance of its examples, by their intents, tools and arguments."""
        texts = (f"{one.intent} {one.tool} {one.arguments}" for one in self.examples)
        return Relevance(words_of(text) for text in texts)


class SessionNeeds(msgspec.Struct, frozen=True):
    """What is known about a session when its template is chosen."""

    words: tuple[str, ...] = ()
    tools: Offered | None = None  # None if its tools are unknown
    task_type: TaskType | None = None
    tags: frozenset[str] = frozenset()
    project: str = ""  # its key, if it has one: only that project's own hosts are shown

    def keys(self) -> frozenset[Key] | None:
        """The tools and schemas that an example may have; None if any."""
        if self.tools is None:
            return None
        keys: set[Key] = set()
        for tool in self.tools.values():
            if tool.schema_hash is None:
                keys.add((tool.name, ANY_SCHEMA))
            else:
                keys.update(((tool.name, None), (tool.name, tool.schema_hash)))
        return frozenset(keys)


class Ranking:
    """The templates of a library, newest first, then by name."""

    def __init__(self, library: Library) -> None:
        def standing(template: Template) -> tuple[float, str]:
            return -template.created_at, template.name

        self.entries: list[RankedTemplate] = [
            RankedTemplate(one, library.active(one), library.effects) for one in sorted(library.templates, key=standing)
        ]
        self._at = {entry.template.name: at for at, entry in enumerate(self.entries)}

    def entry(self, template: Template) -> RankedTemplate:
        """What may be shown of this template."""
        return self.entries[self._at[template.name]]

    def suitable(self, asked: SessionNeeds) -> list[Sequence[int]]:
        """Entries with any of the tags: first those of the task type, then those without a clear type. Never empty."""
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
        """The entries of each part, best first: by relevance in tenths, then by tools covered, then by evidence."""
        wanted = asked.keys()
        scores = self._relevance.scores(asked.words) if asked.words and len(self.entries) > 1 else None
        for part in parts:
            for group in self._groups(wanted, part, scores):
                order = [(covered, self.entries[at].standing, at) for covered, at in group]
                yield from (self.entries[at] for _, _, at in sorted(order))

    def _groups(
        self, wanted: frozenset[Key] | None, part: Sequence[int], scores: Sequence[float] | None
    ) -> Iterator[list[tuple[int, int]]]:
        """Groups of equal relevance, most relevant first; each entry with what it covers and its position.

        The library can be large and mostly the first entry is taken, so entries are ranked only when needed.
        """
        relevant = [] if scores is None else sorted([at for at in part if scores[at]], key=lambda at: -scores[at])
        best, grade, group = 0.0, _GRADES, list[tuple[int, int]]()
        for at in relevant:
            covered = self._covered(at, wanted)
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
        yield [(-covered, at) for at in others if (covered := self._covered(at, wanted))]

    def _covered(self, at: int, wanted: frozenset[Key] | None) -> int:
        """How many of the session's tools an entry covers; if the tools are unknown, whether it has anything."""
        keys = self.entries[at].keys
        return int(bool(keys)) if wanted is None else len(wanted & keys)

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
        found = _KNOWN[library] = Ranking(library)
    return found
