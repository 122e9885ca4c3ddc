"""Which model is meant, and one sentence where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from seasoned.config import Config, api_key, load
from seasoned.errors import CannotDo, NotFound, UsageError
from seasoned.runner.model import DEFAULTS, LOCAL_FILE, ModelChoice, choose_model, open_model

KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY")


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in KEYS:
        monkeypatch.delenv(key, raising=False)


def test_without_a_key_and_without_a_local_model_one_sentence_says_what_to_do(home: Path) -> None:
    with pytest.raises(CannotDo, match=r"ANTHROPIC_API_KEY or OPENAI_API_KEY.*base_url.*seasoned model fetch"):
        choose_model(load())


@pytest.mark.parametrize(("key", "provider"), [("OPENAI_API_KEY", "openai"), ("ANTHROPIC_API_KEY", "anthropic")])
def test_a_key_decides_where_nothing_else_does(monkeypatch: pytest.MonkeyPatch, key: str, provider: str) -> None:
    monkeypatch.setenv(key, "k")
    choice = choose_model(load())
    assert choice == ModelChoice(DEFAULTS[provider])
    assert open_model(choice).system == provider


def test_what_is_asked_for_outranks_what_is_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("SEASONED_MODEL", "openai:one")
    assert choose_model(load()).name == "openai:one"
    assert choose_model(load(), "openai:two").name == "openai:two"


def test_a_server_takes_any_name_and_needs_no_key() -> None:
    choice = choose_model(load(), "llama3.3", "http://127.0.0.1:1/v1")
    assert choice == ModelChoice("llama3.3", "http://127.0.0.1:1/v1")
    model = open_model(choice)
    assert (model.model_name, model.system) == ("llama3.3", "compatible")
    assert choose_model(load(), None, "http://127.0.0.1:1/v1").name == "default"


def test_a_configured_server_is_used_unless_a_provider_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEASONED_BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert choose_model(load(), "mistral").base_url == "http://127.0.0.1:1/v1"
    assert choose_model(load(), "openai:gpt").base_url is None


@pytest.mark.parametrize("name", ["gpt", "openai:", "google:gemini", ":", "openai"])
def test_a_name_that_names_no_model_is_wrong_use(name: str) -> None:
    with pytest.raises(UsageError, match="is not a model"):
        choose_model(load(), name)


def test_a_provider_without_its_key_says_which_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CannotDo, match="set ANTHROPIC_API_KEY"):
        choose_model(load(), "anthropic:claude-x")


def test_a_key_is_handed_on_and_never_part_of_the_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "very-secret")
    assert api_key("openai") == "very-secret"
    assert api_key("nobody") is None
    assert "very-secret" not in repr(load())


def test_a_local_model_is_named_by_its_file(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed: pip install 'seasoned[local]'")
    with pytest.raises(CannotDo, match="seasoned model fetch"):
        choose_model(load(), "local")
    with pytest.raises(NotFound, match="is not a file"):
        choose_model(load(), f"local:{tmp_path / 'none.gguf'}")
    file = tmp_path / "any.gguf"
    file.write_bytes(b"x")
    choice = choose_model(load(), f"local:{file}")
    assert (choice.path, choice.is_small) == (file, True)
    config = Config(home=tmp_path)
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / LOCAL_FILE).write_bytes(b"x")
    assert choose_model(config).name == "local", "what is there is used where no key is"
