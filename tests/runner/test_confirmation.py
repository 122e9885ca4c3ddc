"""An agent's dangerous calls are put to a person: through the service where there is one, else at the terminal."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ToolReturnPart

from seasoned.command.risk import Danger
from seasoned.config import Config, load
from seasoned.confirm.policy import AllowRule, Policy
from seasoned.review.context import Context
from seasoned.runner.runtime import Denial, Question, deny
from seasoned.runner.start import confirming
from seasoned.runner.toolset.registry import danger_of
from seasoned.testing import ScriptedModel, call, serve_script
from tests.cli.run import seasoned
from tests.confirm.serving import Serving, serving
from tests.runner.scripted import SECRECY, conversation_at, folders, say

RISKY = "rm -rf /srv/data"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    policy = Policy(allow=(AllowRule(action="destructive_command", session="seasoned:free"),))
    with serving(tmp_path_factory.mktemp("service"), policy=policy) as found:
        yield found


@pytest.fixture
def config(service: Serving, monkeypatch: pytest.MonkeyPatch) -> Config:
    """The user's configuration, which names the service."""
    monkeypatch.setenv("SEASONED_CONFIRM_URL", service.url)
    monkeypatch.setenv("SEASONED_CONFIRM_TOKEN", service.tokens["agent"])
    return load()


class Person:
    """Decides about whatever is asked, in a thread."""

    def __init__(self, service: Serving, verb: str, **body: Any) -> None:
        self.seen: list[dict[str, Any]] = []
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, args=(service, verb, body))

    def _watch(self, service: Serving, verb: str, body: dict[str, Any]) -> None:
        with service.client("alice") as client:
            while not self._done.is_set():
                for one in client.get("/confirm", params={"status": "pending"}).json()["requests"]:
                    service.decide(one["id"], verb, **body)
                    self.seen.append(one)
                time.sleep(0.02)

    def __enter__(self) -> Person:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()


def returned(history: list[ModelMessage]) -> list[str]:
    """What the tools gave back, as text."""
    return [str(part.content) for one in history for part in one.parts if isinstance(part, ToolReturnPart)]


def ask(config: Config, question: Question, told: list[str] | None = None, otherwise: Any = deny) -> bool | Denial:
    """Put one question as a conversation would, in the session for which dangerous commands are allowed."""
    told = [] if told is None else told
    put = confirming(
        config, otherwise=otherwise, session_key="seasoned:free", folder=Path("/srv/app"), tell=told.append
    )

    async def run() -> bool | Denial:
        return await put(question)

    return asyncio.run(run())


def test_the_model_is_told_who_denied_a_call_and_why(config: Config, service: Serving, tmp_path: Path) -> None:
    folder = folders(tmp_path)[1]
    precious = tmp_path / "precious"
    precious.mkdir()
    model = ScriptedModel(call("terminal", command=f"rm -rf {precious}"), "I was refused.")
    put = confirming(config, otherwise=deny, session_key="seasoned:1", folder=folder, tell=lambda line: None)
    conversation = conversation_at(tmp_path, model, confirm=put)
    with Person(service, "deny", reason="use the archive") as person:
        (turn,) = say(conversation, "clean up")
    assert turn.text == "I was refused."
    assert precious.exists()
    (told,) = returned(conversation.history)
    assert "Denied: alice denied" in told
    assert "use the archive" in told
    (asked,) = person.seen
    assert asked["details"]["arguments"] == {"command": f"rm -rf {precious}"}
    assert asked["session_key"] == "seasoned:1"


def test_a_call_that_a_person_agreed_to_runs_once_and_its_approval_is_used_up(
    config: Config, service: Serving, tmp_path: Path
) -> None:
    folder = folders(tmp_path)[1]
    old = tmp_path / "old"
    old.mkdir()
    model = ScriptedModel(call("terminal", command=f"rm -rf {old}"), "Done.")
    put = confirming(config, otherwise=deny, session_key="seasoned:1", folder=folder, tell=lambda line: None)
    with Person(service, "approve") as person:
        say(conversation_at(tmp_path, model, confirm=put), "clean up")
    assert not old.exists()
    (asked,) = person.seen
    assert service.look(asked["id"])["redeemed_at"] is not None


def test_one_of_the_ten_needs_a_person_even_where_dangerous_commands_are_allowed(
    config: Config, service: Serving
) -> None:
    """The policy lets `destructive_command` through; what maps to a high-risk action is never called that."""
    question = Question("terminal", {"command": "git reset --hard"}, "throws away changes")
    assert ask(config, question) is True
    told: list[str] = []
    with Person(service, "deny", reason="no") as person:
        said = ask(config, Question("terminal", {"command": RISKY}, "deletes"), told)
    assert isinstance(said, Denial)
    assert [one["action"] for one in person.seen] == ["delete_data"]
    assert told == [f"Waiting for a person to confirm delete_data (request {person.seen[0]['id']})."]


def test_a_high_risk_command_is_asked_about_although_it_is_not_called_dangerous_otherwise() -> None:
    found = danger_of("terminal", {"command": "alembic upgrade head"}, Path("/srv/app"))
    assert isinstance(found, Danger)
    assert "migrate_database" in found.reason
    assert danger_of("terminal", {"command": "npm test"}, Path("/srv/app")) is None


def test_without_a_service_the_terminal_is_asked_as_before(tmp_path: Path) -> None:
    asked: list[Question] = []

    async def person(question: Question) -> bool:
        asked.append(question)
        return True

    question = Question("terminal", {"command": RISKY}, "deletes")
    assert ask(Config(home=tmp_path), question, otherwise=person) is True
    assert asked == [question]


@pytest.mark.parametrize(
    ("url", "token", "why"),
    [
        ("http://127.0.0.1:1", "ssn_agent_x", "did not answer"),
        ("http://127.0.0.1:1", None, "confirm_token is not set"),
        ("nonsense", "ssn_agent_x", "not the address of a server"),
    ],
)
def test_a_service_that_cannot_be_asked_means_no_and_never_falls_back_to_the_terminal(
    url: str, token: str | None, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def person(question: Question) -> bool:
        raise AssertionError("the terminal was asked in the place of the service")

    if token is not None:
        monkeypatch.setenv("SEASONED_CONFIRM_TOKEN", token)
    said = ask(Config(home=tmp_path, confirm_url=url), Question("terminal", {"command": RISKY}, "x"), otherwise=person)
    assert isinstance(said, Denial)
    assert why in said.reason


def test_one_turn_at_the_command_line_waits_for_the_service_and_says_so(
    config: Config, service: Serving, tmp_path: Path
) -> None:
    (tmp_path / "old").mkdir()
    steps = [call("terminal", command="rm -rf old"), "Removed."]
    with serve_script(*steps) as server, Person(service, "approve") as person:
        done = seasoned("chat", "--base-url", server.base_url, "--folder", tmp_path, "--once", "clean up")
    assert done.stdout == "Removed.\n"
    assert f"Waiting for a person to confirm destructive_command (request {person.seen[0]['id']})" in done.stderr
    assert not (tmp_path / "old").exists()
    assert person.seen[0]["session_key"].startswith("seasoned:")


def test_the_agent_can_ask_and_look_and_begin_but_has_no_tool_that_decides(
    config: Config, service: Serving, tmp_path: Path
) -> None:
    ids: list[str] = []

    def look(messages: list[ModelMessage]) -> Any:
        asked = next(part for one in messages for part in one.parts if isinstance(part, ToolReturnPart)).content
        assert isinstance(asked, dict)
        ids.append(asked["id"])
        return call("confirmation_status", id=asked["id"], wait_seconds=10, begin=True)

    def again(messages: list[ModelMessage]) -> Any:
        return call("confirmation_status", id=ids[0], begin=True)

    asking = call("request_confirmation", action="send_email", description="Send it", details={"to": "ada"})
    model = ScriptedModel(asking, look, again, "Sent.")
    home, _ = folders(tmp_path)
    context = Context(home=home, secrecy=SECRECY, memory_folder=home / "m", skill_folder=home / "s", config=config)
    conversation = conversation_at(tmp_path, model, toolsets=("confirm",), context=context)
    with Person(service, "approve") as person:
        say(conversation, "send it")
    names = {tool.name for tool in model.infos[0].function_tools}
    assert names == {"request_confirmation", "confirmation_status"}
    first, second, third = returned(conversation.history)
    assert "'status': 'pending'" in first
    assert "'may_go_on': True" in second
    assert "already redeemed" in third
    assert service.look(person.seen[0]["id"])["redeemed_at"] is not None


def test_an_approval_is_begun_only_in_the_conversation_that_asked_and_for_what_it_asked(
    service: Serving, config: Config, tmp_path: Path
) -> None:
    asking = call("request_confirmation", action="send_email", description="Send it", details={"to": "eve"})
    foreign = service.ask(action="send_email", description="Send it", details={"to": "all"})
    home, _ = folders(tmp_path)
    context = Context(home=home, secrecy=SECRECY, memory_folder=home / "m", skill_folder=home / "s", config=config)

    def begin(messages: list[ModelMessage]) -> Any:
        (found,) = context.asked
        # What the agent asked for, as it would be if it had changed since.
        context.asked[found].details["to"] = "everybody"
        return call("confirmation_status", id=found, wait_seconds=10, begin=True)

    other = call("confirmation_status", id=foreign["id"], wait_seconds=10, begin=True)
    model = ScriptedModel(asking, begin, other, "No.")
    conversation = conversation_at(tmp_path, model, toolsets=("confirm",), context=context)
    with Person(service, "approve"):
        say(conversation, "send it")
    _, second, third = returned(conversation.history)
    assert "not what was requested in this conversation" in second
    assert "was not requested in this conversation" in third
    (own,) = context.asked
    assert [service.look(each)["redeemed_at"] for each in (own, foreign["id"])] == [None, None]


def test_the_confirm_toolset_is_offered_only_where_there_is_a_service(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from seasoned.runner.model import ModelChoice
    from seasoned.runner.start import ConversationOptions, toolset_names

    wish = ConversationOptions(choice=ModelChoice("openai:x"), folder=tmp_path)
    assert "confirm" in toolset_names(config, wish)
    monkeypatch.delenv("SEASONED_CONFIRM_URL")
    assert "confirm" not in toolset_names(load(), wish)
