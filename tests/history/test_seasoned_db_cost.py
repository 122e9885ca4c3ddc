"""What a recorded request cost."""

from __future__ import annotations

import pytest

from seasoned.history.reader.seasoned_db import cost_of

TOKENS = {"input_tokens": 1000, "output_tokens": 100}


def test_a_request_without_a_named_cost_is_priced_by_model_and_provider() -> None:
    body = {"usage": TOKENS, "model_name": "gpt-4o", "provider_url": "https://api.openai.com/v1"}
    assert cost_of(body) == pytest.approx(0.0035)


def test_a_cost_that_the_provider_names_wins() -> None:
    body = {"usage": {**TOKENS, "cost": "0.5"}, "model_name": "gpt-4o", "provider_url": "https://api.openai.com/v1"}
    assert cost_of(body) == 0.5


@pytest.mark.parametrize("address", [None, "http://127.0.0.1:8080/v1"])
def test_a_model_on_this_machine_has_no_price_whatever_its_name(address: str | None) -> None:
    assert cost_of({"usage": TOKENS, "model_name": "gpt-4o", "provider_url": address}) is None
