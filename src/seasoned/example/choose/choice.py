"""Chooses the template and the examples that a new session is shown. Pure: equal input gives equal output.

Breadth comes before depth: one example for each tool that the session has, then a second of each, then a third. The
tool that the task is about comes first, then tools with recoveries, then those that fail most often. Measured: one call
for each of ten tools helps nearly as much as two, only relevant calls help a very small model, and everything
irrelevant costs tokens.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from seasoned.admission import admit_call
from seasoned.example.block import Block
from seasoned.example.choose.offered import Offered, matches
from seasoned.example.choose.ranking import (
    Effects,
    RankedTemplate,
    Ranking,
    Relevance,
    SessionNeeds,
    evidence_rank,
    is_proven,
    words_of,
)
from seasoned.example.example import Example, Template, digest
from seasoned.example.render import Rendered
from seasoned.text import plural

MOST_EXAMPLES = 12
MOST_FOR_SMALL = 3
# Measured: more than three calls of a tool do not help.
MOST_OF_A_TOOL = 3
# How many templates are tried, best first, before giving up.
_TRIED = 50
# Tools whose words fit the task almost equally well may both be meant.
_NEARLY = 0.95


class BlockLimits(msgspec.Struct, frozen=True):
    """How much may be shown."""

    budget: int = 1500  # tokens of the whole block, as it is rendered
    is_small: bool = False  # a very small model: show only what is relevant
    most: int = MOST_EXAMPLES


class BlockChoice(msgspec.Struct, frozen=True):
    """What to show; without a block, the reason why nothing is shown."""

    block: Block | None
    reason: str
    rendered: Rendered | None = None


# Renders a block in its final format and form: what it costs, and which examples it can show.
Render = Callable[[Block], Rendered]


def choose(
    ranking: Ranking,
    asked: SessionNeeds,
    *,
    render: Render,
    template: Template | None = None,
    limits: BlockLimits,
    seed: str = "",
    told: str = "",
) -> BlockChoice:
    """The best template that has something to show, and what to show of it; `template` fixes the template.

    `told` is added to the opening of the block, after the template's addendum.
    """
    if not ranking.entries:
        return BlockChoice(None, "The library has no templates yet. Build one with `seasoned template build`.")
    if template is not None:
        return _of_entry(ranking.entry(template), asked, render, limits, seed, told)
    among = ranking.suitable(asked)
    if not among:
        return BlockChoice(None, f"No template is {_wanted(asked)}: nothing was added.")
    first: BlockChoice | None = None
    for tried, entry in enumerate(ranking.best_first(asked, among)):
        found = _of_entry(entry, asked, render, limits, seed, told)
        if found.block is not None:
            return found
        first = first or found
        if tried + 1 == _TRIED:
            break
    return first or BlockChoice(None, _nothing([ranking.entries[at] for part in among for at in part]))


def _nothing(entries: Sequence[RankedTemplate]) -> str:
    """The reason why no template has anything to show."""
    if not any(entry.template.examples for entry in entries):
        return "No template has an example for this project: nothing was added."
    if not any(entry.examples for entry in entries):
        return (
            "Every example is suspended, retired or too old: nothing was added. `seasoned template show NAME` "
            "says why, `seasoned template retire ID --undo` shows one again."
        )
    return "No template has an example for a tool that the session has: nothing was added."


def _wanted(asked: SessionNeeds) -> str:
    kind = f"of the task type {asked.task_type!r}" if asked.task_type else ""
    tags = f"tagged {', '.join(repr(tag) for tag in sorted(asked.tags))}" if asked.tags else ""
    return " and ".join(part for part in (kind, tags) if part)


def _of_entry(
    entry: RankedTemplate, asked: SessionNeeds, render: Render, limits: BlockLimits, seed: str, told: str
) -> BlockChoice:
    template = entry.template
    fitting = [at for at, one in enumerate(entry.examples) if matches(one, asked.tools)]
    if not fitting:
        return BlockChoice(None, _none_present(template, entry, asked.tools))
    scores = entry.relevance.scores(asked.words) if asked.words else [0.0] * len(entry.examples)
    scored = [(one, scores[at]) for at in fitting if _may_be_shown(one := entry.examples[at], asked.project)]
    queue = _ordered(scored, entry.effects, asked, limits, seed)
    if not queue:
        return BlockChoice(None, f"Nothing in template {template.name!r} has to do with the task: nothing was added.")
    # A template that was made from one session on purpose has nothing else to show.
    roots = {source.root for example in template.examples for source in example.sources}
    is_alone = len(roots) < 2 and len(template.sources) < 2
    for addendum in dict.fromkeys((template.addendum, "")):
        said = "\n".join(text for text in (addendum, told) if text)
        found = _fill(Block(template.mark, (), said), queue, render, limits, is_alone=is_alone)
        if found is not None:
            block, rendered = found
            return BlockChoice(block, _said(block, asked), rendered)
    return BlockChoice(
        None, f"Nothing of template {template.name!r} fits into {limits.budget} tokens: nothing was added."
    )


def _none_present(template: Template, entry: RankedTemplate, tools: Offered | None) -> str:
    if not template.examples:
        return f"Template {template.name!r} has no examples for this project: nothing was added."
    if not entry.examples:
        return f"Every example of template {template.name!r} is suspended, retired or too old: nothing was added."
    if not tools:
        return "The session has no tools: nothing was added."
    if any(example.tool in tools for example in entry.examples):
        return f"The tools of template {template.name!r} have changed since its examples were made: nothing was added."
    return f"The session has none of the tools of template {template.name!r}: nothing was added."


def _said(block: Block, asked: SessionNeeds) -> str:
    words = "" if asked.words else ", chosen without a task"
    tools = len({example.tool for example in block.examples})
    return f"{block.template}: {plural(len(block.examples), 'example')} for {plural(tools, 'tool')}{words}."


def _ordered(
    scored: Sequence[tuple[Example, float]], effects: Effects, asked: SessionNeeds, limits: BlockLimits, seed: str
) -> list[Example]:
    """The examples in the order in which they are taken, within the limits."""

    def merit(one: Example, score: float) -> tuple[Any, ...]:
        is_late = not is_proven(one, effects)
        return is_late, one.kind != "recovery", -score, evidence_rank(one, effects), digest(seed, one.id)

    ranked = sorted(scored, key=lambda pair: merit(*pair))
    by_tool: dict[str, list[Example]] = {}
    relevance: dict[str, float] = {}
    for one, score in ranked:
        by_tool.setdefault(one.tool, []).append(one)
        relevance[one.tool] = max(score, relevance.get(one.tool, 0.0))
    if limits.is_small:
        return _relevant(by_tool, relevance, asked)

    nearest = _NEARLY * max(relevance.values(), default=0.0)

    def rank(tool: str) -> tuple[Any, ...]:
        # What the task is about comes first: if few sessions know a tool, not every tool gets an example.
        is_meant = 0 < nearest <= relevance[tool]
        return not is_meant, _fails(by_tool[tool]), -relevance[tool], tool

    order = sorted(by_tool, key=rank)
    return _breadth_first([_varied(by_tool[tool]) for tool in order])


def _relevant(
    by_tool: Mapping[str, list[Example]], relevance: Mapping[str, float], asked: SessionNeeds
) -> list[Example]:
    """For a very small model: calls of the tool that the task is about, and of others that fit it almost as well.

    Calls of other tools draw such a model to those tools: it then makes the wrong call in the right form.
    """
    tools = list(by_tool)
    about = [asked.tools[tool].description if asked.tools and tool in asked.tools else "" for tool in tools]
    told = Relevance(words_of(f"{tool} {text}") for tool, text in zip(tools, about, strict=True)).scores(asked.words)
    score = {tool: relevance[tool] + more for tool, more in zip(tools, told, strict=True)}
    fewest = max(_NEARLY * max(score.values(), default=0.0), sys.float_info.min)
    kept = sorted((tool for tool in tools if score[tool] >= fewest), key=lambda tool: (-score[tool], tool))
    return [one for tool in kept for one in by_tool[tool]]


def _fails(examples: Sequence[Example]) -> tuple[bool, bool, float]:
    """A sort key for tools that sessions get wrong: recoveries first, then known rates, unknown ones, never failing."""
    rates = [example.error_rate for example in examples if example.error_rate is not None]
    has_recovery = any(example.kind == "recovery" for example in examples)
    return not has_recovery, bool(rates) and not max(rates), -max(rates, default=0.0)


def _varied(examples: Sequence[Example]) -> list[Example]:
    """Each pattern once before any repeats; a tool that never fails needs one example."""
    if _fails(examples)[:2] == (True, True):
        return [examples[0]]
    firsts: dict[str, Example] = {}
    again = [example for example in examples if firsts.setdefault(example.pattern, example) is not example]
    return [*firsts.values(), *again]


def _breadth_first(columns: Sequence[Sequence[Example]]) -> list[Example]:
    deepest = max(map(len, columns), default=0)
    return [column[depth] for depth in range(deepest) for column in columns if depth < len(column)]


def _fill(
    empty: Block, queue: Sequence[Example], render: Render, limits: BlockLimits, *, is_alone: bool
) -> tuple[Block, Rendered] | None:
    """As much of the queue as the limits allow, in order; None if not even one fits."""
    while True:
        block = _with(empty, _take(queue, limits, lambda one: True, is_alone=is_alone))
        rendered = render(block)
        # A format may be unable to show an example: the provider would not accept the name of its tool.
        hidden = {one.id for one in block.examples}.difference(rendered.example_ids)
        if not hidden:
            break
        queue = [one for one in queue if one.id not in hidden]
    if rendered.tokens <= limits.budget:
        return None if rendered.is_empty else (block, rendered)
    price = _Price(empty, render, limits.budget)
    shown = _take(queue, limits, price.fits, is_alone=is_alone)
    while shown:
        block = _with(empty, shown)
        # What each adds is an estimate; what they cost together counts.
        rendered = render(block)
        if rendered.tokens <= limits.budget:
            return block, rendered
        shown = shown[:-1]
    return None


def _take(
    queue: Sequence[Example], limits: BlockLimits, fits: Callable[[Example], bool], *, is_alone: bool
) -> list[Example]:
    """As many as allowed: no session supplies two of them, however many tools it used, unless it is all there is."""
    most = min(limits.most, MOST_FOR_SMALL) if limits.is_small else limits.most
    waiting, shown = list(queue), list[Example]()
    tools: Counter[str] = Counter()
    sources: set[str] = set()
    while len(shown) < most:
        waiting = [one for one in waiting if tools[one.tool] < MOST_OF_A_TOOL and _source(one, is_alone) not in sources]
        if not waiting:
            break
        # Where the first call of a tool comes from a session that is shown already, the next one takes its place
        # before any other tool gets a second.
        at = 0 if limits.is_small else min(range(len(waiting)), key=lambda at: (tools[waiting[at].tool], at))
        one = waiting.pop(at)
        if fits(one):
            shown.append(one)
            tools[one.tool] += 1
            sources.update({_source(one, is_alone)} - {""})
    return shown


def _source(example: Example, is_alone: bool) -> str:
    """The lineage whose call is shown; in a template of one lineage, each pattern counts as one."""
    if not example.sources:
        return ""
    shown = example.sources[0].root
    return f"{shown} {example.tool} {example.pattern}" if is_alone else shown


@lru_cache(maxsize=4096)
def _may_be_shown(example: Example, project: str) -> bool:
    """Whether it passes the gate of today: a template may be older than a rule, or come from elsewhere."""
    return bool(admit_call(example.tool, msgspec.json.decode(example.arguments, type=dict), project=project))


class _Price:
    """Estimates what examples cost together from what each costs alone: rendering every combination is too slow."""

    def __init__(self, empty: Block, render: Render, budget: int) -> None:
        self._empty, self._render, self._budget = empty, render, budget
        self._first: Example | None = None
        self._around: int | None = None  # what a block costs besides its examples
        self._spent = 0

    def fits(self, one: Example) -> bool:
        """Add it if it fits into the budget; returns whether it was added."""
        rendered = self._render(_with(self._empty, [one]))
        if rendered.is_empty:
            return False
        alone = rendered.tokens
        if self._first is None:
            added = alone
        else:
            if self._around is None:
                together = self._render(_with(self._empty, [self._first, one])).tokens
                self._around = self._spent + alone - together
            added = alone - self._around
        if self._spent + added > self._budget:
            return False
        self._first = self._first or one
        self._spent += added
        return True


def _with(empty: Block, shown: Iterable[Example]) -> Block:
    return msgspec.structs.replace(empty, examples=tuple(shown))
