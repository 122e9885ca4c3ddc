"""Provisioning is pure, and a conversation has one block for as long as it lives."""

from __future__ import annotations

import os
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.errors import NotFound
from seasoned.example.block import FORMATS
from seasoned.example.library.storage import Library, find_block, save, snapshot, use_of
from seasoned.example.provision import (
    Begun,
    BlockRequest,
    ensure_block,
    is_under_way,
    last_request,
    provision,
)
from seasoned.store import Store, open_store
from tests.example.examples import example, template

SYSTEM = {"role": "system", "content": "You help."}
ASK = {"role": "user", "content": "Find where it starts."}
LIBRARY = Library(
    templates=(
        template("files", example(), example("read_file", sessions=("codex:b",))),
        template("orders", example("get_order", arguments={"id": "#W0052025"}, intent="Look up my order.")),
    )
)


def test_the_callers_list_is_left_as_it_is() -> None:
    messages = [deepcopy(SYSTEM), deepcopy(ASK)]
    before = deepcopy(messages)
    found = provision(messages, library=LIBRARY)
    assert messages == before
    assert found.messages[0] == SYSTEM
    assert found.messages[-1] == ASK
    assert len(found.messages) > 2
    found.messages[0]["content"] = "changed"
    assert messages == before


def test_an_unknown_name_says_where_to_look() -> None:
    with pytest.raises(NotFound, match="template list"):
        provision([ASK], library=LIBRARY, asked=BlockRequest(template="absent"))


@pytest.mark.parametrize(
    "messages",
    [
        [SYSTEM, {"role": "user", "content": "Look up my order."}],
        [{"role": "user", "content": [{"type": "text", "text": "Look up my order."}]}],
        [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look up my order."}]}],
        [{"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Look up my order."}]}],
        [
            {"role": "user", "content": "Look up my order."},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "x", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "find where"}]},
        ],
        "Look up my order.",
    ],
    ids=["openai", "anthropic", "responses", "pydantic-ai", "after a result", "a bare text"],
)
def test_the_task_is_what_the_user_said_last(messages: Any) -> None:
    found = provision(messages, library=LIBRARY)
    assert found.block is not None
    assert found.block.template == "orders@1"
    if not isinstance(messages, str):
        assert last_request(messages) == "Look up my order."


def test_a_task_that_is_given_counts_instead() -> None:
    order = [{"role": "user", "content": "Look up my order."}]
    found = provision(order, library=LIBRARY, asked=BlockRequest(task="find where it starts"))
    assert found.block is not None
    assert found.block.template == "files@1"


TASK = st.text(max_size=40)
TOOLS = st.none() | st.lists(st.sampled_from(["search_files", "read_file", "get_order", "other"]), max_size=4)


@given(TASK, TOOLS, st.integers(0, 3000), st.sampled_from(FORMATS), st.booleans(), st.text(max_size=5))
def test_the_same_question_has_the_same_answer(
    task: str, tools: Any, budget: int, format: Any, is_small: bool, conversation: str
) -> None:
    asked = BlockRequest(
        tools=tools, task=task, budget=budget, format=format, is_small=is_small, conversation=conversation
    )
    again = msgspec.json.decode(msgspec.json.encode(LIBRARY.templates), type=tuple[type(LIBRARY.templates[0]), ...])
    first = provision([SYSTEM, ASK], library=LIBRARY, asked=asked)
    second = provision([SYSTEM, ASK], library=Library(templates=again), asked=asked)
    assert first == second
    assert first.rendered is None or first.rendered.tokens <= budget


_ANSWERS = """
import json, sys
from seasoned.example.library.storage import Library
from seasoned.example.provision import BlockRequest, provision
from tests.example.examples import example, template

library = Library(templates=tuple(
    template(
        f"t{number}",
        *(
            example(f"tool_{k % 7}", arguments={"path": f"a/{number}/{k}", "kind": k},
                    intent=f"Do thing{k} to part{number}.", kind=("init", "recovery", "final")[k % 3],
                    pattern=f"p{k % 5}", error_rate=(None, 0.0, 0.2)[k % 3],
                    sessions=(f"codex:{number}-{k % 4}", f"codex:{k}"))
            for k in range(number % 9 + 1)
        ),
        tags=(f"tag{number % 5}",), task_type=("code", "file", "mixed", None)[number % 4],
    )
    for number in range(300)
))
for number in range(40):
    made = provision(
        [{"role": "user", "content": f"Do thing{number % 9} to part{number}"}], library=library,
        asked=BlockRequest(
            conversation=str(number), tools=[f"tool_{k}" for k in range(number % 7 + 1)],
            format=("openai", "anthropic", "text")[number % 3],
            tags=("tag1", "tag2") if number % 2 else (), budget=300 + 40 * number,
        ),
    )
    print(made.reason, "" if made.rendered is None else made.rendered.content.hex())
"""


def test_two_processes_with_other_hash_seeds_give_the_same_bytes() -> None:
    root = Path(__file__).parents[2]
    answers = []
    for seed in ("1", "2718"):
        around = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)}
        done = subprocess.run([sys.executable, "-c", _ANSWERS], env=around, capture_output=True, check=True, cwd=root)
        answers.append(done.stdout)
    assert answers[0] == answers[1]
    assert answers[0].count(b"\n") == 40
    assert b"examples for" in answers[0]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = open_store(tmp_path / "seasoned.db")
    for one in LIBRARY.templates:
        save(store, one)
    return store


def ensured(store: Store, root: str = "codex:new", **more: Any) -> Begun:
    messages = more.pop("messages", [SYSTEM, ASK])
    library = more.pop("library", None) or (lambda: snapshot(store))
    return ensure_block(store, library, BlockRequest(conversation=root, **more), now=1.0, messages=messages)


def test_a_block_is_made_once_and_never_changes(store: Store) -> None:
    first = ensured(store)
    assert first.is_new
    assert first.rendered is not None
    save(store, template("files", example(intent="Find where it starts: something else.")))
    later = ensured(store, messages=[SYSTEM, ASK, {"role": "assistant", "content": "Here."}, ASK], budget=10)
    assert not later.is_new
    assert later.rendered is not None
    assert later.rendered.content == first.rendered.content
    assert later.template == first.template == "files@1"
    other = ensured(store, "codex:other")
    assert other.template == "files@2"


def test_use_is_counted_once_and_by_making_alone(store: Store) -> None:
    provision([SYSTEM, ASK], library=snapshot(store))
    assert use_of(store).templates == {}
    found = ensured(store)
    ensured(store)
    assert use_of(store).templates == {"files": 1}
    assert found.rendered is not None
    assert use_of(store).examples == dict.fromkeys(found.rendered.example_ids, 1)


def test_the_library_is_not_asked_for_a_block_that_exists(store: Store) -> None:
    ensured(store)

    def absent() -> Library:
        raise AssertionError

    assert ensured(store, library=absent).rendered is not None


def test_a_conversation_under_way_gets_no_block(store: Store) -> None:
    for answer in (
        {"role": "assistant", "content": "Here."},
        {"type": "function_call", "call_id": "1", "name": "x", "arguments": "{}"},
        {"kind": "response", "parts": []},
    ):
        assert is_under_way([ASK, answer])
        found = ensured(store, messages=[SYSTEM, ASK, answer, ASK])
        assert found.rendered is None
        assert "beginning" in found.reason
    assert find_block(store, "codex:new", "openai") is None


def test_of_two_that_begin_at_once_the_first_writer_s_block_is_seen_and_counted(store: Store) -> None:
    """Each has another library: while the second one reads its own, the first one has begun."""
    first: list[Begun] = []

    def slow() -> Library:
        first.append(ensured(store))
        return Library(templates=(template("files", example(intent="Find where it starts: something else.")),))

    second = ensured(store, library=slow)
    assert (first[0].is_new, second.is_new) == (True, False)
    assert second.rendered is not None and first[0].rendered is not None
    assert second.rendered.content == first[0].rendered.content
    assert use_of(store).templates == {"files": 1}
