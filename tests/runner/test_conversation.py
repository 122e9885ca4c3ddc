"""A conversation: history in and out, limits, interruption, questions before what destroys, and forks."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from seasoned.runner.conversation import TurnLimits
from seasoned.runner.model import ModelChoice, open_model
from seasoned.runner.runtime import Question, fork_agent
from seasoned.runner.stream_events import CallFinished, CallStarted, Event, TextEvent, Turn
from seasoned.testing import Answer, ScriptedModel, call, serve_script
from tests.runner.scripted import check_calls_are_answered, conversation_at, folders, runtime_at, say


def test_what_was_said_before_is_sent_again_with_the_next_turn(tmp_path: Path) -> None:
    model = ScriptedModel("Hello.", "Your name is Ada.")
    conversation = conversation_at(tmp_path, model)
    first, second = say(conversation, "I am Ada.", "Who am I?")
    assert (first.text, second.text) == ("Hello.", "Your name is Ada.")
    said = [part.content for message in model.requests[1] for part in message.parts]  # type: ignore[union-attr]
    assert said == ["I am Ada.", "Hello.", "Who am I?"]
    assert [message.kind for message in conversation.history] == ["request", "response"] * 2


def test_words_and_calls_are_told_as_they_happen_and_calls_are_judged(tmp_path: Path) -> None:
    events: list[Event] = []
    model = ScriptedModel([call("terminal", command="exit 3"), call("terminal", command="echo hi")], "It said hi.")
    (turn,) = say(conversation_at(tmp_path, model), "try", on_event=events.append)
    assert [type(event) for event in events[:2]] == [CallStarted, CallStarted]
    verdicts = {
        event.arguments["command"]: event.verdict.verdict for event in events if isinstance(event, CallFinished)
    }
    assert verdicts == {"exit 3": "failed", "echo hi": "ok"}
    assert "".join(event.text for event in events if isinstance(event, TextEvent)) == "It said hi."
    assert (turn.requests, turn.calls, turn.failed, turn.stopped) == (2, 2, 1, None)


def test_calls_of_one_answer_run_at_the_same_time(tmp_path: Path) -> None:
    model = ScriptedModel([call("terminal", command="sleep 1")] * 3, "done")
    (turn,) = say(conversation_at(tmp_path, model), "wait")
    assert turn.calls == 3
    assert 1.0 < turn.seconds < 2.6


def test_a_tool_that_breaks_does_not_end_the_turn(tmp_path: Path) -> None:
    _, folder = folders(tmp_path)
    conversation = conversation_at(tmp_path, ScriptedModel(call("read_file", path="a.txt"), "I cannot read it."))
    folder.rename(folder.with_name("moved"))
    folder.mkdir()
    (turn,) = say(conversation, "read")
    assert (turn.text, turn.failed, turn.stopped) == ("I cannot read it.", 1, None)


def test_wrong_arguments_are_told_to_the_model_and_count_as_failed(tmp_path: Path) -> None:
    model = ScriptedModel(call("terminal", comand="ls"), call("terminal", command="ls"), "done")
    (turn,) = say(conversation_at(tmp_path, model), "list")
    assert (turn.text, turn.calls, turn.failed) == ("done", 2, 1)


@pytest.mark.parametrize(
    ("limits", "steps", "stopped"),
    [
        (TurnLimits(steps=3), [call("terminal", command="true")] * 9, "steps"),
        (TurnLimits(turn_seconds=1.5), [call("terminal", command="sleep 60")], "time"),
        (TurnLimits(turn_seconds=1.0), [Answer("late", wait_seconds=30)], "time"),
        (TurnLimits(output_tokens=40), ["word " * 200], "tokens"),
        (TurnLimits(), [ConnectionError("the line is dead")], "error"),
    ],
)
def test_a_turn_that_goes_too_far_is_ended_and_the_next_one_works(
    tmp_path: Path, limits: TurnLimits, steps: list[object], stopped: str
) -> None:
    model = ScriptedModel(*steps)  # type: ignore[arg-type]
    conversation = conversation_at(tmp_path, model, limits=limits)
    begun = time.monotonic()

    async def talk() -> tuple[Turn, Turn]:
        first = await conversation.turn("go")
        model.script.play("fine")
        return first, await conversation.turn("and now?")

    turn, after = asyncio.run(talk())
    conversation.close()
    assert turn.stopped == stopped
    assert turn.reason is not None
    assert turn.reason.endswith((".", "dead"))
    assert time.monotonic() - begun < 20
    assert (after.text, after.stopped) == ("fine", None)
    check_calls_are_answered(conversation.history)


def test_an_interrupted_turn_ends_its_command_and_keeps_what_was_done(tmp_path: Path) -> None:
    _, folder = folders(tmp_path)
    model = ScriptedModel(
        [
            call("write_file", path="done.txt", content="yes"),
            call("terminal", command="touch begun; sleep 60; touch end"),
        ],
        "I was stopped.",
    )
    conversation = conversation_at(tmp_path, model)

    async def talk() -> None:
        turn = asyncio.create_task(conversation.turn("work"))
        while not (folder / "begun").exists() or not (folder / "done.txt").exists():
            await asyncio.sleep(0.02)
        conversation.stop()
        begun = time.monotonic()
        assert (await turn).stopped == "interrupted"
        assert time.monotonic() - begun < 5
        assert (await conversation.turn("and?")).text == "I was stopped."

    asyncio.run(talk())
    conversation.close()
    check_calls_are_answered(conversation.history)
    results = [p for message in conversation.history for p in message.parts if isinstance(p, ToolReturnPart)]
    assert [result.outcome for result in results] == ["success", "interrupted"]
    time.sleep(0.3)
    assert not _running("touch end")


def _running(words: str) -> list[str]:
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = each.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if words in line:
            found.append(line)
    return found


def test_what_destroys_is_denied_when_nobody_can_be_asked(tmp_path: Path) -> None:
    _, folder = folders(tmp_path)
    (folder / "build").mkdir()
    events: list[Event] = []
    model = ScriptedModel(call("terminal", command="rm -rf build"), "I was not allowed to.")
    (turn,) = say(conversation_at(tmp_path, model), "clean up", on_event=events.append)
    assert (folder / "build").exists()
    assert turn.text == "I was not allowed to."
    (called,) = [event for event in events if isinstance(event, CallFinished)]
    assert called.verdict.fault == "user_declined"


@pytest.mark.parametrize("allowed", [True, False])
def test_what_destroys_waits_for_a_person_who_is_told_why(tmp_path: Path, allowed: bool) -> None:
    _, folder = folders(tmp_path)
    (folder / "build").mkdir()
    asked: list[Question] = []

    async def confirm(question: Question) -> bool:
        asked.append(question)
        return allowed

    model = ScriptedModel([call("terminal", command="rm -rf build"), call("terminal", command="echo ok")], "done")
    say(conversation_at(tmp_path, model, confirm=confirm), "clean up")
    (question,) = asked
    assert question.arguments == {"command": "rm -rf build"}
    assert "deletes" in question.reason
    assert (folder / "build").exists() is not allowed


def test_tokens_are_those_that_the_provider_counted_and_an_unknown_price_stays_unknown(tmp_path: Path) -> None:
    steps = [
        Answer(calls=(call("terminal", command="true"),), input_tokens=1000, output_tokens=20),
        Answer("done", input_tokens=1100, output_tokens=5),
    ]
    with serve_script(*steps) as server:
        model = open_model(ModelChoice("some-model", server.base_url))
        (turn,) = say(conversation_at(tmp_path, model), "go")
    assert (turn.usage.input, turn.usage.output, turn.cost_usd, turn.requests) == (2100, 25, None, 2)


def test_a_price_that_is_known_becomes_the_cost_of_the_turn(tmp_path: Path) -> None:
    with serve_script(Answer("Hi.", input_tokens=1_000_000, output_tokens=0)) as server:
        model = OpenAIChatModel("gpt-4o-mini", provider=OpenAIProvider(base_url=server.base_url, api_key="k"))
        (turn,) = say(conversation_at(tmp_path, model), "hi")
    assert turn.cost_usd == pytest.approx(0.15, rel=0.5)


def test_a_call_that_was_open_when_its_process_died_is_answered_before_the_next_turn(tmp_path: Path) -> None:
    model = ScriptedModel("Where was I?")
    conversation = conversation_at(tmp_path, model)
    conversation.history = [
        ModelRequest(parts=[UserPromptPart("work")]),
        ModelResponse(parts=[ToolCallPart("terminal", {"command": "make"}, "c1")]),
    ]
    (turn,) = say(conversation, "go on")
    assert turn.text == "Where was I?"
    check_calls_are_answered(model.requests[0])


BLOCK = ModelMessagesTypeAdapter.validate_python(
    [
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "[seasoned:warm v1 a@1 0] Show me."}]},
        {
            "kind": "response",
            "parts": [{"part_kind": "tool-call", "tool_name": "terminal", "args": "{}", "tool_call_id": "warm_1"}],
        },
        {
            "kind": "request",
            "parts": [
                {"part_kind": "tool-return", "tool_name": "terminal", "content": "ok", "tool_call_id": "warm_1"},
                {"part_kind": "user-prompt", "content": "[seasoned:end]"},
            ],
        },
        {"kind": "response", "parts": [{"part_kind": "text", "content": "I see."}]},
    ]
)


def test_the_prefix_is_sent_with_every_request_in_the_same_bytes_and_is_no_part_of_the_history(tmp_path: Path) -> None:
    with serve_script(call("terminal", command="true"), "one", "two") as server:
        model = open_model(ModelChoice("some-model", server.base_url))
        conversation = conversation_at(tmp_path, model, prefix=tuple(BLOCK))
        say(conversation, "go", "again")
        first, *others = [body.partition(b'"content":"go"')[0] for body in server.bodies]
    assert b"[seasoned:warm" in first
    assert len(others) == 2
    assert all(other == first for other in others)
    assert "warm_1" not in str(conversation.history)


def test_a_fork_sends_the_same_bytes_before_its_own_words_and_changes_nothing(tmp_path: Path) -> None:
    steps = [
        call("terminal", command="true"),
        "Done.",
        call("terminal", command="touch forked"),
        "Nothing to save.",
        "Yes.",
    ]
    _, folder = folders(tmp_path)
    with serve_script(*steps) as server:
        model = open_model(ModelChoice("some-model", server.base_url))
        conversation = conversation_at(tmp_path, model, toolsets=("terminal", "memory"), prefix=tuple(BLOCK))

        async def talk() -> list[ModelMessage]:
            async with conversation:
                await conversation.turn("go")
                before = conversation.snapshot()
                agent = fork_agent(conversation.runtime, refuse=lambda tool: f"{tool} is off in a review.")
                context = conversation.runtime.context
                forked = await agent.run("What is worth keeping?", message_history=before, deps=context)
                assert forked.output == "Nothing to save."
                assert conversation.history == before
                await conversation.turn("And now?")
                return forked.all_messages()

        history = asyncio.run(talk())
        conversation.close()
    fork, refused, parent = server.heard[2].json, server.heard[3].json, server.heard[4].json
    assert fork["tools"] == parent["tools"]
    assert fork["messages"][:-1] == parent["messages"][:-1]
    shared = server.bodies[4].partition(b',{"role":"user","content":"And now?"')[0]
    assert server.bodies[2].startswith(shared.partition(b'"stream"')[0])
    assert "terminal is off in a review." in refused["messages"][-1]["content"]
    assert not (folder / "forked").exists()
    assert len(history) > len(conversation.snapshot()) - 2


def test_a_model_that_is_asked_in_vain_is_told_in_one_sentence(tmp_path: Path) -> None:
    with serve_script(RuntimeError("out of order")) as server:
        (turn,) = say(conversation_at(tmp_path, open_model(ModelChoice("m", server.base_url))), "hello?")
    assert turn.stopped == "error"
    assert "out of order" in (turn.reason or "")


def test_memory_and_skills_are_kept_with_who_wrote_them(tmp_path: Path) -> None:
    model = ScriptedModel(
        [
            call("memory", action="add", text="The tests need Python 3.11."),
            call(
                "skill_manage",
                action="create",
                name="release-work",
                content="# Releases\n\nRun the tests first.",
                description="How releases are made.",
            ),
        ],
        [call("skill_view", name="release-work"), call("skills_list")],
        "Kept.",
    )
    conversation = conversation_at(tmp_path, model, toolsets=("memory", "skill"))
    (turn,) = say(conversation, "remember this")
    home, _ = folders(tmp_path)
    assert (turn.text, turn.failed) == ("Kept.", 0)
    assert "Python 3.11" in (home / "memory" / "MEMORY.md").read_text()
    assert (home / "skills" / "release-work" / "SKILL.md").exists()
    assert conversation.runtime.context is not None
    with conversation.runtime.context.journal() as journal:
        any_of_them = dict.fromkeys(["kind", "target", "state", "session", "before"])
        rows = journal.store.rows("learned.list", {**any_of_them, "limit": 9})
    assert {(row["actor"], row["session"], row["task"]) for row in rows} == {
        ("agent", str(conversation.ref), "remember this")
    }
    made = [part.tool_call_id for part in conversation.history[1].parts if isinstance(part, ToolCallPart)]
    assert {row["call_id"] for row in rows} == set(made)


def test_two_runtimes_of_the_same_folder_offer_the_same_tools(tmp_path: Path) -> None:
    from seasoned.runner.toolset.registry import TOOLSETS, listed_tools

    one, other = (runtime_at(tmp_path, ScriptedModel(), TOOLSETS) for _ in range(2))
    assert listed_tools(one.toolsets) == listed_tools(other.toolsets)
    names = [tool["function"]["name"] for tool in listed_tools(one.toolsets)]
    assert names[:2] == ["terminal", "read_file"]
    assert {"patch", "execute_code", "web_fetch", "memory", "skill_manage"} <= set(names)
