"""A conversation from the configuration with its reviewer, over HTTP, taken up again in between."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from seasoned.config import Config, load
from seasoned.redact.key import Secrecy
from seasoned.review.background import start_reviewer
from seasoned.runner.model import ModelChoice
from seasoned.runner.record import load_recorded
from seasoned.runner.start import ConversationOptions, start
from seasoned.store import open_store
from seasoned.testing import call, serve_script
from tests.review.scripted import ledger_of

SECRECY = Secrecy(b"k" * 32)


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return load({"SEASONED_HOME": str(tmp_path / "home")})


def test_the_tenth_turn_is_reviewed_also_when_the_conversation_was_left_in_between(
    config: Config, tmp_path: Path
) -> None:
    keep = call("memory", action="add", target="user", text="Mira counts.")
    with serve_script(*[f"Answer {number}." for number in range(1, 11)], keep, "Kept.") as server:
        wish = ConversationOptions(choice=ModelChoice("scripted", server.base_url), folder=tmp_path)
        first = start(config, SECRECY, wish)
        reviewer = start_reviewer(config, first, wish.choice)
        for number in range(4):
            turn = asyncio.run(first.turn(f"Question {number}."))
            assert not reviewer.after_turn(first, turn)
        reviewer.close()
        assert first.close() is None
        with open_store(config.store_path) as store:
            recorded = load_recorded(store, first.ref.native_id)
        second = start(config, SECRECY, wish, recorded=recorded)
        reviewer = start_reviewer(config, second, wish.choice)
        begun = []
        for number in range(6):
            turn = asyncio.run(second.turn(f"Question {number}."))
            begun.append(reviewer.after_turn(second, turn))
        assert begun == [False] * 5 + [True]
        assert reviewer.wait(20)
        assert reviewer.take_lines() == ["Kept: memory +1"]
        reviewer.close()
        assert second.close() is None
    (review,) = ledger_of(config.home)
    assert (review.topic, review.form, review.platform, review.session) == ("memory", "fork", "cli", str(first.ref))
    assert server.heard[10].json["tools"] == server.heard[9].json["tools"]
    assert len(server.heard[10].json["messages"]) == len(server.heard[9].json["messages"]) + 2


def test_a_small_model_reviews_nothing(config: Config, tmp_path: Path) -> None:
    model = tmp_path / "small.gguf"
    model.write_bytes(b"GGUF")
    with serve_script(*["Answer."] * 12) as server:
        wish = ConversationOptions(choice=ModelChoice("scripted", server.base_url), folder=tmp_path)
        conversation = start(config, SECRECY, wish)
        reviewer = start_reviewer(config, conversation, ModelChoice("local", path=model))
        for _ in range(12):
            assert not reviewer.after_turn(conversation, asyncio.run(conversation.turn("Question.")))
        assert conversation.close() is None
    assert ledger_of(config.home) == []
