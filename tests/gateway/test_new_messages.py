"""Every request repeats its whole conversation; each message, call and result of it is new once."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from seasoned.gateway.record.session_writer import KnownConversation, NewMessages, find_new_messages
from seasoned.gateway.wire import anthropic, chat, responses
from seasoned.gateway.wire.request import ApiRequest, ApiResponse
from seasoned.session import Marks, Message
from tests.gateway.written import block

Json = dict[str, Any]


def user(text: str) -> Json:
    return {"role": "user", "content": text}


def calls(*ids: str, text: str | None = None) -> Json:
    made = [{"id": id, "type": "function", "function": {"name": "bash", "arguments": f'{{"n":"{id}"}}'}} for id in ids]
    return {"role": "assistant", "content": text, "tool_calls": made}


def result(id: str, text: str = "done") -> Json:
    return {"role": "tool", "tool_call_id": id, "content": text}


def asked(*messages: Json) -> ApiRequest:
    body = {"model": "m", "messages": [{"role": "system", "content": "S"}, *messages]}
    found = chat.read_request(json.dumps(body).encode())
    assert found is not None
    return found


def answered(message: Json) -> ApiResponse:
    return chat.read_response(json.dumps({"id": "a", "model": "m", "choices": [{"message": message}]}).encode())


class Talk:
    """A conversation that goes through the fold, and all that was ever new in it."""

    def __init__(self) -> None:
        self.known = KnownConversation()
        self.told: list[Message] = []
        self.last = NewMessages()

    def say(self, given: ApiRequest, reply: Json | ApiResponse | None = None) -> NewMessages:
        answer = answered(reply) if isinstance(reply, dict) else reply
        # What is known goes through the store between two requests.
        kept = msgspec.json.decode(msgspec.json.encode(self.known), type=KnownConversation)
        self.known, self.last = find_new_messages(kept, given, answer, key=b"key")
        self.told += [*self.last.asked, *self.last.answered]
        return self.last


def words(news: NewMessages) -> list[str]:
    """What is new, in short."""
    short = []
    for message in [*news.asked, *news.answered]:
        if message.role == "tool":
            short.append(f"result {message.answers}")
            continue
        short += [f"{message.role} {message.text}"] if message.text else []
        short += [f"call {call.id}" for call in message.calls]
    return short


STEPS = st.lists(
    st.sampled_from(["Look", "Go on", "yes", "é\u2028𝄞"]).map(user)
    | st.sampled_from(["Done.", "yes"]).map(lambda text: {"role": "assistant", "content": text})
    | st.just("call")
    | st.sampled_from(["Look", "A hook"]).map(lambda text: {"role": "system", "content": text}),
    min_size=1,
    max_size=12,
)


@settings(max_examples=80, deadline=None)
@given(STEPS, st.lists(st.booleans(), min_size=12, max_size=12), st.booleans())
def test_what_is_new_over_all_requests_is_the_conversation(steps: list[Any], asks: list[bool], warm: bool) -> None:
    """However often the same is said, and wherever requests are made; a block among it is never new."""
    history = [user("Begin")]
    block_of = json.loads(block("openai")) if warm else []
    conversation = Talk()
    for number, (step, is_asked) in enumerate(zip(steps, asks, strict=False)):
        history += [calls(f"c{number}"), result(f"c{number}")] if step == "call" else [step]
        if is_asked:
            conversation.say(asked(*block_of, *history))
            conversation.say(asked(*block_of, *history))
            assert conversation.last.asked == ()
    conversation.say(asked(*block_of, *history))
    before = [words(NewMessages(asked=(message,))) for message in conversation.told]
    told = [one for group in before for one in group]
    expected = words(NewMessages(asked=asked(*history).messages))
    assert told == expected


def test_an_answer_that_the_client_rewrites_is_heard_once() -> None:
    conversation = Talk()
    conversation.say(asked(user("Look")), {"role": "assistant", "content": "<think>Hm.</think> I look."})
    rewritten = {"role": "assistant", "content": "I look."}
    assert words(conversation.say(asked(user("Look"), rewritten, user("Thanks")))) == ["user Thanks"]


def test_text_between_a_call_and_its_result_is_new_and_the_rest_is_not() -> None:
    conversation = Talk()
    hook = {"role": "system", "content": "A hook says hello."}
    conversation.say(asked(user("Look")), calls("c1"))
    assert words(conversation.say(asked(user("Look"), calls("c1"), hook, result("c1")))) == [
        "system A hook says hello.",
        "result c1",
    ]
    late = {"role": "system", "content": "Another hook."}
    news = conversation.say(asked(user("Look"), late, calls("c1"), hook, result("c1")))
    assert words(news) == ["system Another hook."]


def test_nothing_of_a_history_that_is_rewound_is_new() -> None:
    conversation = Talk()
    conversation.say(asked(user("Look")), {"role": "assistant", "content": "No."})
    news = conversation.say(asked(user("Look")), {"role": "assistant", "content": "Yes."})
    assert words(news) == ["assistant Yes."]


def test_two_conversations_under_one_id_do_not_repeat_each_other() -> None:
    conversation = Talk()
    left, right = [user("Look left")], [user("Look right")]
    for number in range(3):
        for name, side in (("left", left), ("right", right)):
            reply = {"role": "assistant", "content": f"Seen {number}"}
            assert words(conversation.say(asked(*side), reply))[-1] == f"assistant Seen {number}"
            assert len(conversation.last.asked) == 1
            side += [reply, user(f"Again {number}, {name}")]


def test_a_summary_is_marked_and_the_tail_that_it_leaves_is_not_new() -> None:
    conversation = Talk()
    history = [user("Look"), calls("c1"), result("c1"), user("Go on"), calls("c2"), result("c2")]
    conversation.say(asked(*history), {"role": "assistant", "content": "Done."})
    summary = user("This session is being continued from a previous conversation that ran out of context: …")
    news = conversation.say(
        asked(summary, calls("c2"), result("c2"), {"role": "assistant", "content": "Done."}, user("Go on"))
    )
    assert [(message.text[:12], message.summary) for message in news.asked] == [
        ("This session", True),
        ("Go on", False),
    ]


def test_ids_that_begin_anew_in_every_answer_are_told_apart() -> None:
    conversation = Talk()
    history = [user("Look")]
    for number in (1, 2, 3):
        conversation.say(asked(*history), calls("call_0"))
        history += [calls("call_0"), result("call_0", f"result {number}")]
    conversation.say(asked(*history))
    made = [call.id for message in conversation.told for call in message.calls]
    assert made == ["call_0", "call_0#2", "call_0#3"]
    assert [message.text for message in conversation.told if message.role == "tool"] == [
        "result 1",
        "result 2",
        "result 3",
    ]


def test_a_result_comes_with_what_was_recorded_beside_it() -> None:
    used = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}
    failed = {"type": "tool_result", "tool_use_id": "t1", "content": "Exit code 3", "is_error": True}
    body = {
        "model": "m",
        "messages": [user("Look"), {"role": "assistant", "content": [used]}, {"role": "user", "content": [failed]}],
    }
    given = anthropic.read_request(json.dumps(body).encode())
    assert given is not None
    _, news = find_new_messages(KnownConversation(), given)
    assert news.results["t1"].marks == Marks(failed=True)


def _chained(text: str, **fields: Any) -> ApiRequest:
    found = responses.read_request(json.dumps({"model": "m", "input": text, **fields}).encode())
    assert found is not None
    return found


def test_a_chain_of_answers_is_one_conversation_although_nothing_is_repeated() -> None:
    conversation = Talk()
    conversation.say(_chained("Hello"), ApiResponse(id="r1", text="Hi"))
    conversation.say(_chained("Go on", previous_response_id="r1"), ApiResponse(id="r2", text="Gone on"))
    assert words(
        conversation.say(_chained("Go on", previous_response_id="r2"), ApiResponse(id="r3", text="Again"))
    ) == [
        "user Go on",
        "assistant Again",
    ]
    retried = conversation.say(_chained("Go on", previous_response_id="r2"), ApiResponse(id="r4", text="Once more"))
    assert words(retried) == ["assistant Once more"]
    for _ in range(2):
        assert words(conversation.say(_chained("yes", conversation="conv"), ApiResponse(text="ok"))) == [
            "user yes",
            "assistant ok",
        ]
