"""Chooses the template and the examples that a new session is shown. Pure: equal input gives equal output.

Breadth comes before depth: one example for each tool that the session has, then a second of each, then a third. The
tool that the task is about comes first, then tools with recoveries, then those that fail most often. Measured: one call
for each of ten tools helps nearly as much as two, only relevant calls help a very small model, and everything
irrelevant costs tokens.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from seasoned.admission import admit_call
from seasoned.command.parse import names
from seasoned.command.tool import TaskType, command_of
from seasoned.command.written import written
from seasoned.digest import short_digest
from seasoned.example.block import Block
from seasoned.example.choose.offered import Offered, matches
from seasoned.example.example import DAY_SECONDS, Example, Template, seen_at
from seasoned.example.library.storage import Library
from seasoned.example.render import Rendered
from seasoned.lazy_regex import LazyRegex
from seasoned.lesson.ask import purposes_in
from seasoned.session import ToolCall
from seasoned.text import plural

MOST_EXAMPLES = 12
MOST_FOR_SMALL = 3
# Measured: more than three calls of a tool do not help. A task of few words needs no more than two.
MOST_OF_A_TOOL = 3
_SHORT_TASK = 20
# How many templates are tried, best first, before giving up.
_TRIED = 50
# Tools whose words fit the task almost equally well may both be meant.
_NEARLY = 0.95
# Relevance is compared in tenths of the best: smaller differences count less than tools and evidence.
_GRADES = 10
# Whatever a file claims about its examples, no session here has made such calls.
_UNPROVEN = "Some of these calls come from an imported file and were not made here yet: go by what they return."
# More support than this adds nothing, so that planted sessions cannot win by numbers.
_ENOUGH = 5


class SessionNeeds(msgspec.Struct, frozen=True):
    """What is known about a session when its template is chosen, and how much it may be shown."""

    task: str = ""
    tools: Offered | None = None  # None if its tools are unknown
    task_type: TaskType | None = None
    tags: frozenset[str] = frozenset()
    seed: str = ""  # decides between examples of equal merit
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
    library: Library,
    asked: SessionNeeds,
    *,
    render: Render,
    template: Template | None = None,
    told: str = "",
) -> BlockChoice:
    """The best template that has something to show, and what to show of it; `template` fixes the template.

    `told` is added to the opening of the block, after the template's addendum.
    """
    if not library.templates:
        return BlockChoice(None, "The library has no templates yet. Build one with `seasoned template build`.")
    if template is not None:
        return _Choice(library, asked, render, told).of(template, is_named=True)
    among = _suitable(library, asked)
    if not among:
        return BlockChoice(None, f"No template is {_wanted(asked)}: nothing was added.")
    ranked = _best_first(library, asked, among)
    found = (_Choice(library, asked, render, told).of(one) for one in ranked[:_TRIED])
    first: BlockChoice | None = None
    for one in found:
        if one.block is not None:
            return one
        first = first or one
    return first or BlockChoice(None, _nothing(library, among))


def _suitable(library: Library, asked: SessionNeeds) -> list[Template]:
    """Templates with any of the tags, of the task type or without a clear type."""
    types = (asked.task_type, "mixed", None)
    return [
        one
        for one in library.templates
        if (asked.task_type is None or one.task_type in types)
        and (not asked.tags or not asked.tags.isdisjoint(tag.casefold() for tag in one.tags))
    ]


def _wanted(asked: SessionNeeds) -> str:
    kind = f"of the task type {asked.task_type!r}" if asked.task_type else ""
    tags = f"tagged {', '.join(repr(tag) for tag in sorted(asked.tags))}" if asked.tags else ""
    return " and ".join(part for part in (kind, tags) if part)


def _best_first(library: Library, asked: SessionNeeds, among: Sequence[Template]) -> list[Template]:
    """Those with a tool of the session: by type, proof, relevance, tools covered, evidence; the newest of equals."""
    texts = [_about(one) for one in among]
    scores = relevance(asked.task, texts) if len(among) > 1 else [0.0] * len(among)
    best = max(scores) or 1.0
    ranked = []
    for template, score in zip(among, scores, strict=True):
        examples = [one for one in library.active(template) if matches(one, asked.tools)]
        if examples:
            covered = 1 if asked.tools is None else len({one.tool for one in examples})
            ranks = [_evidence(one) for one in examples]
            rank = (
                asked.task_type is not None and template.task_type != asked.task_type,
                not all(map(library.is_proven, examples)),
                -round(_GRADES * score / best),
                -covered,
                sum(support for support, _ in ranks) / len(ranks),
                min(day for _, day in ranks),
                -template.created_at,
                template.name,
            )
            ranked.append((rank, template))
    return [template for _, template in sorted(ranked, key=lambda pair: pair[0])]


@lru_cache(maxsize=256)
def _about(template: Template) -> str:
    """The words of a template: its name, description and tags, its tools, and the intents of its examples."""
    tools = sorted({example.tool for example in template.examples})
    intents = [example.intent for example in template.examples]
    return " ".join((template.name, template.description, *template.tags, *tools, *intents))


def _evidence(example: Example) -> tuple[int, float]:
    """The sort key among equals: support, then how recently it was seen to work."""
    return -min(example.support, _ENOUGH), -((seen_at(example) or 0.0) // DAY_SECONDS)


def _nothing(library: Library, among: Sequence[Template]) -> str:
    """The reason why no template has anything to show."""
    if not any(one.examples for one in among):
        return "No template has an example for this project: nothing was added."
    if not any(map(library.active, among)):
        return (
            "Every example is suspended, retired or too old: nothing was added. `seasoned template show NAME` "
            "says why, `seasoned template retire ID --undo` shows one again."
        )
    return "No template has an example for a tool that the session has: nothing was added."


class _Choice:
    """Chooses among the examples of one template."""

    def __init__(self, library: Library, asked: SessionNeeds, render: Render, told: str) -> None:
        self._library = library
        self._asked = asked
        self._render = render
        self._told = told

    def of(self, template: Template, *, is_named: bool = False) -> BlockChoice:
        """What to show of a template. One that was asked for by name is shown however little it fits the task."""
        active = self._library.active(template)
        fitting = [one for one in active if matches(one, self._asked.tools)]
        if not fitting:
            return BlockChoice(None, _none_present(template, active, self._asked.tools))
        queue = self._ordered([one for one in fitting if self._may_be_shown(one)], is_named=is_named)
        if not queue:
            return BlockChoice(
                None, f"Nothing in template {template.name!r} has to do with the task: nothing was added."
            )
        # A template that was made from one session on purpose has nothing else to show.
        roots = {source.root for example in template.examples for source in example.sources}
        is_alone = len(roots) < 2 and len(template.sources) < 2
        for addendum in dict.fromkeys((template.addendum, "")):
            for note in ("", _UNPROVEN):
                said = "\n".join(text for text in (addendum, self._told, note) if text)
                block, rendered = self._fill(Block(template.mark, (), said), queue, is_alone=is_alone)
                if rendered is not None and (note or all(map(self._library.is_proven, block.examples))):
                    return BlockChoice(block, self._said(block), rendered)
        return BlockChoice(
            None, f"Nothing of template {template.name!r} fits into {self._asked.budget} tokens: nothing was added."
        )

    def _may_be_shown(self, example: Example) -> bool:
        """Whether it passes the gate of today: a template may be older than a rule, or come from elsewhere."""
        return _passes(example, self._library.project, self._library.allowed)

    def _said(self, block: Block) -> str:
        words = "" if self._asked.task.strip() else ", chosen without a task"
        tools = len({example.tool for example in block.examples})
        return f"{block.template}: {plural(len(block.examples), 'example')} for {plural(tools, 'tool')}{words}."

    def _ordered(self, examples: Sequence[Example], *, is_named: bool) -> list[Example]:
        """The examples in the order in which they are taken: by merit within a tool, one tool after another."""
        task = self._asked.task
        texts = [f"{one.intent} {one.tool} {one.arguments}" for one in examples]
        scored = list(zip(examples, relevance(task, texts), strict=True))
        if task.strip() and not is_named:
            scored = [(one, score) for one, score in scored if self._reaches_floor(one, score)]
        by_tool: dict[str, list[Example]] = {}
        nearness: dict[str, float] = {}
        for one, score in sorted(scored, key=lambda pair: self._merit(*pair)):
            by_tool.setdefault(one.tool, []).append(one)
            nearness[one.tool] = max(score, nearness.get(one.tool, 0.0))
        if self._asked.is_small:
            return self._of_one_tool(by_tool, nearness)
        nearest = _NEARLY * max(nearness.values(), default=0.0)

        def rank(tool: str) -> tuple[Any, ...]:
            # What the task is about comes first: if few sessions know a tool, not every tool gets an example.
            is_meant = 0 < nearest <= nearness[tool]
            return not is_meant, _fails(by_tool[tool]), -nearness[tool], tool

        columns = [_varied(by_tool[tool]) for tool in sorted(by_tool, key=rank)]
        deepest = max(map(len, columns), default=0)
        return [column[depth] for depth in range(deepest) for column in columns if depth < len(column)]

    def _reaches_floor(self, one: Example, score: float) -> bool:
        """Whether it is worth its tokens: a command that the task asks for, or a call of a tool of the session."""
        command = command_of(ToolCall("", one.tool, _arguments(one)))
        if command is not None and command in self._told:
            return False  # it is said in words already
        if command is not None:
            serves = {part.purpose.removeprefix("one ") for part in written(command)} - {"other"}
            if serves:
                return not serves.isdisjoint(purposes_in(self._asked.task))
            return score > 0
        return score > 0 or (self._asked.tools is not None and self._library.is_proven(one))

    def _merit(self, one: Example, score: float) -> tuple[Any, ...]:
        is_late = not self._library.is_proven(one)
        return is_late, one.kind != "recovery", -score, _evidence(one), short_digest(self._asked.seed, one.id)

    def _of_one_tool(self, by_tool: dict[str, list[Example]], nearness: dict[str, float]) -> list[Example]:
        """For a very small model: calls of the tool that the task is about, and of others that fit it almost as well.

        Calls of other tools draw such a model to those tools: it then makes the wrong call in the right form.
        """
        tools, offered = list(by_tool), self._asked.tools or {}
        about = [f"{tool} {offered[tool].description if tool in offered else ''}" for tool in tools]
        told = relevance(self._asked.task, about)
        score = {tool: nearness[tool] + more for tool, more in zip(tools, told, strict=True)}
        best = max(score.values(), default=0.0)
        kept = [tool for tool in tools if score[tool] and score[tool] >= _NEARLY * best]
        return [one for tool in sorted(kept, key=lambda tool: (-score[tool], tool)) for one in by_tool[tool]]

    def _fill(self, empty: Block, queue: Sequence[Example], *, is_alone: bool) -> tuple[Block, Rendered | None]:
        """As much of the queue as the limits allow, in order; no rendering if not even one fits.

        No session supplies two of them, however many tools it used, unless it is all there is.
        """
        asked = self._asked
        is_short = 0 < len(words_of(self._asked.task)) <= _SHORT_TASK
        of_a_tool = MOST_OF_A_TOOL - (is_short and not asked.is_small)
        most = min(asked.most, MOST_FOR_SMALL) if asked.is_small else asked.most
        block, rendered = empty, None
        waiting = list(queue)
        tools: Counter[str] = Counter()
        sources: set[str] = set()
        while len(block.examples) < most:
            waiting = [one for one in waiting if tools[one.tool] < of_a_tool and _source(one, is_alone) not in sources]
            if not waiting:
                break
            # Where the first call of a tool comes from a session that is shown already, the next one takes its place
            # before any other tool gets a second.
            left = Counter(one.tool for one in waiting)
            places = range(1 if asked.is_small or not block.examples else len(waiting))
            # The tool that the task is about first; then those with few calls left, whose session another could take.
            at = min(places, key=lambda at: (tools[waiting[at].tool], left[waiting[at].tool], at))
            one = waiting.pop(at)
            larger = msgspec.structs.replace(block, examples=(*block.examples, one))
            made = self._render(larger)
            # A format may be unable to show an example: the provider would not accept the name of its tool.
            if made.tokens <= asked.budget and one.id in made.example_ids:
                block, rendered = larger, made
                tools[one.tool] += 1
                sources.update({_source(one, is_alone)} - {""})
        return block, rendered


def _none_present(template: Template, active: Sequence[Example], tools: Offered | None) -> str:
    if not template.examples:
        return f"Template {template.name!r} has no examples for this project: nothing was added."
    if not active:
        return f"Every example of template {template.name!r} is suspended, retired or too old: nothing was added."
    if not tools:
        return "The session has no tools: nothing was added."
    if any(example.tool in tools for example in active):
        return f"The tools of template {template.name!r} have changed since its examples were made: nothing was added."
    return f"The session has none of the tools of template {template.name!r}: nothing was added."


def _fails(examples: Iterable[Example]) -> tuple[bool, bool, float]:
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


def _source(example: Example, is_alone: bool) -> str:
    """The lineage whose call is shown; in a template of one lineage, each pattern counts as one."""
    if not example.sources:
        return ""
    shown = example.sources[0].root
    return f"{shown} {example.tool} {example.pattern}" if is_alone else shown


@lru_cache(maxsize=4096)
def _passes(example: Example, project: str, allowed: frozenset[str]) -> bool:
    return bool(admit_call(example.tool, _arguments(example), project=project, allowed=allowed))


def _arguments(example: Example) -> dict[str, Any]:
    return msgspec.json.decode(example.arguments, type=dict[str, Any])


_K1, _B = 1.5, 0.75
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
_STEM = 6
# Scores are rounded, so that the last bit of a float does not decide.
_DECIMALS = 4


@lru_cache(maxsize=8192)
def words_of(text: str) -> tuple[str, ...]:
    """The stems of the words of a text in order, without stop words; names are split at capitals and underscores."""
    found = []
    for word in _WORD.compiled.findall(_HUMP.compiled.sub(" ", text[:_READ])):
        lowered = word.casefold()
        if lowered in _EMPTY or (len(lowered) < 2 and lowered.isascii()):
            continue
        # The plural of a word is the same word, and `departs` is about `departures`.
        found.append(
            (lowered[:-1] if len(lowered) > 3 and lowered[-1] == "s" and lowered[-2] != "s" else lowered)[:_STEM]
        )
    return tuple(found)


def relevance(task: str, texts: Sequence[str]) -> list[float]:
    """A score for each text, in their order; 0 where it shares no word with the task.

    BM25 in Lucene's form: Σ idf(w) · tf / (tf + k1 · (1 − b + b · length / mean length)) over the shared words w, with
    idf(w) = ln(1 + (N − n + 0.5) / (n + 0.5)) for a word in n of N texts (Robertson & Zaragoza 2009).
    """
    counts = [Counter(words_of(text)) for text in texts]
    lengths = [one.total() for one in counts]
    mean = sum(lengths) / len(lengths) if any(lengths) else 1.0
    scores = [0.0] * len(texts)
    for word in list(dict.fromkeys(words_of(task)))[:_LONGEST_TASK]:
        holding = [at for at, one in enumerate(counts) if word in one]
        rarity = math.log(1 + (len(counts) - len(holding) + 0.5) / (len(holding) + 0.5))
        for at in holding:
            times = counts[at][word]
            scores[at] += rarity * times / (times + _K1 * (1 - _B + _B * lengths[at] / mean))
    return [round(score, _DECIMALS) for score in scores]
