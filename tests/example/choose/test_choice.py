"""Each rule of choice in a case that it alone decides."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.example.block import Block
from seasoned.example.choose.choice import MOST_EXAMPLES
from seasoned.example.example import DAY_SECONDS, Example, Source, Template
from seasoned.example.library.storage import ExampleState, Library
from seasoned.example.provision import BlockRequest, Provisioned, provision
from tests.example.examples import example, template

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


def shown(*templates: Template, states: Any = None, **asked: Any) -> Provisioned:
    """What a session with these tools and this task is shown."""
    library = Library(templates=tuple(templates), states=states or {})
    messages = [{"role": "user", "content": asked.pop("task", "")}]
    return provision(messages, library=library, asked=BlockRequest(**asked))


def chosen(*templates: Template, **asked: Any) -> str | None:
    block = shown(*templates, **asked).block
    return None if block is None else block.template


def tools_of(found: Provisioned) -> list[str]:
    assert found.block is not None, found.reason
    return [one.tool for one in found.block.examples]


def ids_of(found: Provisioned) -> list[str]:
    assert found.block is not None, found.reason
    return [one.id for one in found.block.examples]


def one(tool: str, number: int = 0, **fields: Any) -> Example:
    """An example of its own session and pattern."""
    fields.setdefault("sessions", (f"codex:{tool}-{number}",))
    fields.setdefault("pattern", f"{tool}-{number}")
    fields.setdefault("arguments", {"path": f"src/{number}"})
    return example(tool, **fields)


def test_a_template_that_is_named_is_taken_however_irrelevant() -> None:
    right = template("other", one("read_file", intent="Something else."))
    near = template("near", one("read_file", intent="Refund the order."))
    assert chosen(right, near, task="refund the order", template="other") == "other@1"


def test_a_template_of_the_task_type_comes_first_then_a_mixed_one_and_another_type_never() -> None:
    code, mixed, research = (template(kind, one("read_file"), task_type=kind) for kind in ("code", "mixed", "research"))
    assert chosen(code, mixed, research, task_type="code") == "code@1"
    assert chosen(mixed, research, task_type="code") == "mixed@1"
    assert chosen(research, task_type="code") is None
    assert "'code'" in shown(research, task_type="code").reason


def test_any_of_the_tags_is_enough_and_none_is_not() -> None:
    first, second = (template(name, one("read_file"), tags=(name, "shared")) for name in ("Python", "rust"))
    assert chosen(first, second, tags=["python", "absent"]) == "Python@1"
    assert chosen(first, second, tags=["absent"]) is None
    assert "'absent'" in shown(first, second, tags=["absent"]).reason


def test_words_of_the_task_decide_between_equals() -> None:
    refund = template("a-refund", one("read_file", intent="Refund the order of a customer."))
    flight = template("b-flight", one("read_file", intent="Book a flight to the coast."))
    assert chosen(refund, flight, task="which flight goes to the coast?") == "b-flight@1"
    assert chosen(refund, flight, task="refund my order") == "a-refund@1"


def test_a_template_without_a_tool_of_the_session_is_passed_over() -> None:
    near = template("near", one("other_tool", intent="Refund the order."))
    far = template("far", one("read_file", intent="Something."))
    assert chosen(near, far, task="refund the order", tools=["read_file"]) == "far@1"


def test_of_equally_relevant_ones_the_one_that_covers_more_tools() -> None:
    few = template("a", one("read_file"), one("absent"))
    many = template("b", one("read_file"), one("patch"))
    assert chosen(few, many, tools=["read_file", "patch"]) == "b@1"


def test_of_equal_merit_the_better_proven() -> None:
    a = template("a", one("read_file", support=2, last_seen=9 * DAY_SECONDS))
    assert chosen(a, template("b", one("read_file", support=3, last_seen=1.0))) == "b@1"
    assert chosen(a, template("b", one("read_file", support=2, last_seen=10 * DAY_SECONDS))) == "b@1"
    assert chosen(a, template("b", one("read_file", support=2, last_seen=8 * DAY_SECONDS))) == "a@1"
    strange = one("read_file", support=9, last_seen=90 * DAY_SECONDS, tier="imported")
    assert chosen(a, template("b", strange)) == "a@1"


def test_of_equal_evidence_the_newer_and_then_the_first_by_name() -> None:
    old, new = template("a", one("read_file")), template("b", one("read_file"), created_at=1_760_000_000.0)
    assert chosen(old, new) == "b@1"
    assert chosen(old, template("b", one("read_file"))) == "a@1"


def test_an_example_that_its_schema_would_refuse_is_not_shown() -> None:
    right, wrong = one("read_file", 1), one("read_file", 2, arguments={"file": "x"})
    assert ids_of(shown(template("t", wrong, right), tools={"read_file": SCHEMA})) == [right.id]


@pytest.mark.parametrize("state", ["suspended", "retired"])
def test_what_is_suspended_or_retired_is_never_shown(state: Any) -> None:
    good, bad = one("read_file", 1), one("read_file", 2)
    states = {bad.id: ExampleState(bad.id, state, "It failed.", None, 1.0)}
    assert ids_of(shown(template("t", bad, good), states=states)) == [good.id]
    assert "suspended, retired or too old" in shown(template("t", bad), states=states, template="t").reason


def test_each_tool_gets_one_before_any_gets_a_second() -> None:
    found = shown(template("t", *(one(tool, number, error_rate=0.2) for tool in "abc" for number in range(3))))
    assert tools_of(found) == ["a", "b", "c"] * 3


def test_tools_with_a_recovery_come_first() -> None:
    found = shown(template("t", one("a", error_rate=0.9), one("b", kind="recovery", error_rate=0.1)))
    assert tools_of(found) == ["b", "a"]


def test_tools_that_fail_more_often_come_first_and_unknown_ones_before_those_that_never_fail() -> None:
    examples = [one(tool, error_rate=rate) for tool, rate in (("a", 0.0), ("b", None), ("c", 0.1), ("d", 0.4))]
    assert tools_of(shown(template("t", *examples))) == ["d", "c", "b", "a"]


def test_a_tool_that_never_fails_gets_no_second_example() -> None:
    examples = [one(tool, number, error_rate=rate) for tool, rate in (("a", 0.0), ("b", 0.1)) for number in range(2)]
    assert Counter(tools_of(shown(template("t", *examples)))) == {"a": 1, "b": 2}


def test_a_repaired_call_is_shown_before_others_of_its_tool() -> None:
    plain, repaired = one("a", 1, support=9), one("a", 2, kind="recovery")
    assert ids_of(shown(template("t", plain, repaired)))[0] == repaired.id


def test_no_more_than_twelve_are_shown_and_no_more_than_three_of_a_tool() -> None:
    many = template("t", *(one(f"tool{number}", result="ok") for number in range(20)))
    assert len(tools_of(shown(many, budget=10_000))) == MOST_EXAMPLES
    assert tools_of(shown(template("t", *(one("a", number) for number in range(9))))) == ["a"] * 3


def test_another_pattern_comes_before_the_same_one_again() -> None:
    same = [one("a", number, pattern="p", support=9) for number in (1, 2)]
    other = one("a", 3, pattern="q", support=1)
    found = shown(template("t", *same, other))
    assert found.block is not None
    assert [each.pattern for each in found.block.examples] == ["p", "q", "p"]


def test_a_small_model_gets_at_most_three_and_only_relevant_ones() -> None:
    near = [one(f"near{number}", intent="Refund the order.") for number in range(5)]
    far = [one(f"far{number}", kind="recovery", intent="Something else.") for number in range(5)]
    found = shown(template("t", *far, *near), task="refund an order", is_small=True)
    assert len(tools_of(found)) == 3
    assert all(tool.startswith("near") for tool in tools_of(found))
    nothing = shown(template("t", *far), task="refund an order", is_small=True)
    assert nothing.block is None
    assert "has to do with the task" in nothing.reason


def test_the_budget_is_kept_in_the_format_that_is_rendered() -> None:
    long = template("t", *(one(f"tool{number}", result="a line of text " * 20) for number in range(12)))
    for format in ("openai", "anthropic", "text"):
        found = shown(long, budget=700, format=format)
        assert found.rendered is not None
        assert 300 < found.rendered.tokens <= 700
        assert len(found.rendered.example_ids) < 12


def test_what_does_not_fit_is_passed_over_for_what_does() -> None:
    large, small = one("a", error_rate=0.5, result="a line of text " * 30), one("b", result="ok")
    assert tools_of(shown(template("t", large, small), budget=250)) == ["b"]


def test_nothing_fits_adds_nothing_and_says_so() -> None:
    found = shown(template("t", one("a")), budget=20)
    assert (found.block, found.rendered, found.messages) == (None, None, [{"role": "user", "content": ""}])
    assert found.reason == "Nothing of template 't' fits into 20 tokens: nothing was added."
    assert shown().reason.startswith("The library has no templates yet")
    assert shown(template("t", one("a")), tools=[]).reason.endswith("nothing was added.")
    assert shown(template("t", one("a")), tools=["b"]).reason.endswith("nothing was added.")


def test_an_addendum_is_left_out_rather_than_the_only_example() -> None:
    found = shown(template("t", one("a"), addendum="Mind the gap. " * 100), budget=300)
    assert found.block is not None
    assert found.block.addendum == ""
    kept = shown(template("t", one("a"), addendum="Mind the gap."), budget=300)
    assert kept.block is not None
    assert kept.block.addendum == "Mind the gap."


def intents(*examples: Example, proven: frozenset[str] = frozenset(), **asked: Any) -> list[str]:
    """The intents that a session is shown of a template with these examples, in order."""
    library = Library(templates=(template("t", *examples),), proven=proven)
    made = provision([], library=library, asked=BlockRequest(budget=10_000, **asked))
    return [] if made.block is None else [each.intent for each in made.block.examples]


def test_an_imported_example_comes_last_until_it_was_seen_to_work() -> None:
    own = one("a", 1, pattern="p1", intent="own", support=1, sessions=("codex:a",))
    strange = one(
        "a", 2, pattern="p2", intent="strange", support=9, tier="imported", kind="recovery", sessions=("x:b",)
    )
    assert intents(own, strange) == ["own", "strange"]
    assert intents(own, strange, proven=frozenset({strange.id})) == ["strange", "own"]


def test_a_template_with_unproven_examples_comes_behind_learned_ones_and_says_so() -> None:
    learned = template("learned", one("a", 1, intent="Something else."))
    strange = [one("a", 2, intent="Refund the order.", tier="imported"), one("b", 3, intent="Refund.", tier="imported")]
    asked: dict[str, Any] = {"task": "refund the order", "tools": ["a", "b"]}
    assert chosen(learned, template("strange", *strange), **asked) == "learned@1"
    found = shown(template("strange", *strange), **asked)
    assert found.block is not None and "imported file" in found.block.addendum and len(found.block.examples) == 2
    library = Library((template("strange", *strange),), proven=frozenset(each.id for each in strange))
    proven = provision([], library=library, asked=BlockRequest(**asked)).block
    assert proven is not None and proven.addendum == ""
    assert shown(template("strange", *strange), task="paint the house", tools=["a", "b"]).block is None


def test_a_command_is_shown_to_a_task_that_asks_for_it_and_to_one_that_is_unknown() -> None:
    check = one("terminal", intent="Now it is green.", arguments={"command": "mise run test"})
    assert intents(check, task="fix the failing tests") == intents(check) == ["Now it is green."]
    assert intents(check, task="why is it green now?") == []
    assert intents(check, task="why is it green now?", template="t") == ["Now it is green."]


def test_without_known_tools_only_what_has_to_do_with_the_task_is_shown() -> None:
    near, far = one("a", 1, intent="Refund the order."), one("b", 2, intent="Something else.")
    assert intents(near, far, task="refund an order") == ["Refund the order."]
    assert len(intents(near, far, task="refund an order", tools=["a", "b"])) == 2
    assert intents(near, far, task="paint the house") == []


def test_a_short_task_gets_two_calls_of_a_tool_and_a_long_one_three() -> None:
    some = [one("a", number, intent=f"Refund order {number}.", error_rate=0.2) for number in range(5)]
    assert len(intents(*some, task="refund an order")) == 2
    assert len(intents(*some, task="refund an order " + "with many other words that say more of it " * 5)) == 3


def test_a_template_of_one_session_may_show_all_of_it() -> None:
    alone = template("t", *(one(f"tool{number}", sessions=("codex:x",)) for number in range(5)))
    assert len(tools_of(shown(alone, budget=10_000))) == 5


def test_the_seed_decides_between_examples_of_equal_merit_and_nothing_else() -> None:
    several = template("t", *(one("a", number, pattern=f"p{number}") for number in range(8)))
    assert len({shown(several, conversation=str(seed)).block for seed in range(20)}) > 3
    assert len({shown(several, conversation="x").block for _ in range(5)}) == 1


def test_what_a_format_cannot_show_makes_room_for_what_it_can() -> None:
    odd = [one(f"odd tool {number}", kind="recovery", result="ok") for number in range(20)]
    found = shown(template("t", *odd, one("plain")), budget=10_000)
    assert found.rendered is not None
    assert tools_of(found) == ["plain"]
    assert len(found.rendered.example_ids) == 1
    assert shown(template("t", *odd)).block is None


LINEAGES = st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True)
EXAMPLES = st.lists(
    st.builds(
        lambda tool, number, roots, kind, rate: example(
            tool,
            arguments={"path": f"src/{number}"},
            kind=kind,
            error_rate=rate,
            pattern=f"p{number % 4}",
            sessions=tuple(f"codex:{root}" for root in roots),
        ),
        st.sampled_from(["t1", "t2", "t3", "t4"]),
        st.integers(0, 30),
        LINEAGES,
        st.sampled_from(["init", "recovery", "final"]),
        st.sampled_from([None, 0.0, 0.1, 0.5]),
    ),
    min_size=1,
    max_size=25,
    unique_by=lambda made: made.id,
)


@given(EXAMPLES, st.integers(0, 2500), st.booleans(), st.sampled_from(["", "find where src starts"]))
def test_every_choice_keeps_every_limit(examples: list[Example], budget: int, is_small: bool, task: str) -> None:
    found = shown(template("t", *examples), budget=budget, is_small=is_small, task=task)
    if found.block is None:
        assert found.rendered is None
        return
    check_limits(found.block, examples)
    assert found.rendered is not None
    assert 0 < found.rendered.tokens <= budget
    assert found.rendered.example_ids == tuple(each.id for each in found.block.examples)
    assert len(found.block.examples) <= (3 if is_small else MOST_EXAMPLES)


def check_limits(block: Block, examples: list[Example]) -> None:
    taken = block.examples
    assert taken
    assert len({each.id for each in taken}) == len(taken)
    pairs = Counter((each.tool, each.pattern, each.sources[0].session) for each in taken)
    assert max(pairs.values()) == 1
    roots = {source.root for each in examples for source in each.sources}
    if len(roots) > 1:
        assert max(Counter(each.sources[0].root for each in taken).values()) == 1


def test_sources_that_are_many_but_one_lineage_are_one() -> None:
    fork = [Source(f"codex:{number}", "c", "codex:first") for number in range(4)]
    forked = [msgspec.structs.replace(one(f"fork{n}", kind="recovery"), sources=(fork[n],)) for n in range(4)]
    others = [one(f"other{n}") for n in range(2)]
    tools = tools_of(shown(template("t", *forked, *others)))
    assert sum(tool.startswith("fork") for tool in tools) == 1


def test_a_very_small_model_is_shown_several_calls_of_the_tool_that_the_task_is_about() -> None:
    many = [one("weigh", intent=f"note the weight of box {n}", pattern="w", sessions=(f"codex:{n}",)) for n in range(3)]
    others = [one(f"hold{n}", intent=f"box {n} stays") for n in range(3)]
    found = shown(template("t", *many, *others), is_small=True, task="what is the weight of the box")
    assert tools_of(found) == ["weigh", "weigh", "weigh"]


def test_for_a_very_small_model_the_description_of_a_tool_tells_what_it_is_for() -> None:
    kept = template("t", one("ondal", intent="poster"), one("brix", intent="poster"))
    offered = [{"name": "ondal", "description": "Cancel a job."}, {"name": "brix", "description": "Print something."}]
    found = shown(kept, is_small=True, task="please cancel the poster", tools=offered)
    assert tools_of(found) == ["ondal"]
