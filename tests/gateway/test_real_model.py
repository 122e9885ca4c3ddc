"""A real model behind the gateway: what it says and counts is what the client gets and what is accounted for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from seasoned.config import Config
from seasoned.history.reader.seasoned_db import read
from tests.gateway.running import config_in, rows, run_gateway, settings_for
from tests.runner.test_local_model import model_file

ASK: Any = [{"role": "system", "content": "Say one word."}, {"role": "user", "content": "What colour is the sky?"}]


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return config_in(tmp_path)


@pytest.fixture
def served() -> Iterator[tuple[str, str]]:
    """The address and the key of a model that runs here."""
    path = model_file()
    from pydantic_ai.models.openai import OpenAIChatModel

    from seasoned.runner.local_model import open_local

    model = open_local(path).wrapped
    assert isinstance(model, OpenAIChatModel)
    yield str(model.client.base_url).rstrip("/"), model.client.api_key


@pytest.mark.slow
def test_a_real_model_whole_and_streamed(config: Config, served: tuple[str, str]) -> None:
    url, key = served
    settings: Any = {"model": "local", "max_tokens": 8, "temperature": 0, "seed": 1, "messages": ASK}
    with (
        run_gateway(config, settings_for(config, url)) as gateway,
        openai.OpenAI(base_url=f"{gateway.url}/v1", api_key=key, max_retries=0) as client,
        openai.OpenAI(base_url=url, api_key=key, max_retries=0) as direct,
    ):
        expected = direct.chat.completions.create(**settings).choices[0].message.content
        whole = client.chat.completions.create(**settings)
        events = list(client.chat.completions.create(**settings, stream=True))
        with pytest.raises(openai.AuthenticationError):
            client.with_options(api_key="sk-wrong").chat.completions.create(**settings)
        assert gateway.failed_open() == {}
    words = "".join(event.choices[0].delta.content or "" for event in events if event.choices)
    assert whole.choices[0].message.content == words == expected
    assert all(event.usage is None for event in events), "nobody asked for it"
    (session,) = read(config.store_path)
    told = [one.text for one in session.messages]
    assert told == [ASK[1]["content"], expected, expected], "it was asked once more, and answered once more"
    kept = rows(config, "gateway.requests_of", session=str(session.ref))
    assert whole.usage is not None
    assert [(row["output_tokens"], json.loads(row["raw"])["prompt_tokens"]) for row in kept] == [
        (whole.usage.completion_tokens, whole.usage.prompt_tokens)
    ] * 2
