"""Who gets a request, with which headers, and what is laid down about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from seasoned.errors import UsageError
from seasoned.gateway.proxy.upstream import passed_on, request_headers
from seasoned.gateway.settings import Upstream, key_for, load_settings, upstream_for
from tests.each_case import each_case

OPENAI = Upstream(name="openai", base_url="https://one.example/v1", key_variable="ONE_KEY")
ANTHROPIC = Upstream(name="anthropic", base_url="https://two.example", api="anthropic")
LOCAL = Upstream(name="local", base_url="http://127.0.0.1:9/v1/", models=("qwen-*", "claude-mine"))
NEWER = Upstream(name="newer", base_url="http://127.0.0.1:9", models=("qwen-3*",))
ALL = (OPENAI, ANTHROPIC, LOCAL, NEWER)


@each_case(
    ("api", "model", "name"),
    [
        ("openai", "gpt-4o", "openai"),
        ("openai", None, "openai"),
        ("anthropic", "claude-sonnet-5", "anthropic"),
        ("anthropic", None, "anthropic"),
        ("anthropic", "claude-mine", "local"),
        ("openai", "qwen-2", "local"),
        ("openai", "qwen-3-32b", "newer"),
        ("anthropic", "qwen-", "local"),
    ],
)
def test_a_model_goes_to_whoever_names_it_best(api: str, model: str | None, name: str) -> None:
    assert upstream_for(ALL, api, model).name == name  # type: ignore[arg-type]


def test_a_key_comes_from_the_environment_or_a_file(tmp_path: Path) -> None:
    assert key_for(OPENAI, tmp_path, {"ONE_KEY": "sk-1"}) == "sk-1"
    assert key_for(OPENAI, tmp_path, {}) is None
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets/openai_key").write_text("sk-2\n")
    assert key_for(OPENAI, tmp_path, {}) == "sk-2"


@each_case(
    "text",
    [
        "mode = 'open'",
        "unknown = 1",
        "[[upstream]]\nname = 'x'",
        "[[upstream]]\nname = 'x'\nbase_url = 'ftp://a'",
        "[[upstream]]\nname = 'x'\nbase_url = 'https://user:secret@a'",
        "[[upstream]]\nname = 'x'\nbase_url = 'https://a'\n[[upstream]]\nname = 'x'\nbase_url = 'https://b'",
        "[[upstream]]\nname = 'X/../y'\nbase_url = 'https://a'",
        "body_bytes = 0",
        "\x00",
    ],
)
def test_settings_that_are_wrong_are_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "gateway.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match=r"gateway\.toml"):
        load_settings(file)


def test_an_address_of_the_command_line_is_not_blamed_on_the_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^--upstream has the address 'foo': write http"):
        load_settings(tmp_path / "gateway.toml", upstream_url="foo")


def test_the_example_of_the_docs_is_taken(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs/how-to/gateway.md").read_text("utf-8")
    (tmp_path / "gateway.toml").write_text("mode " + page.partition("```\nmode ")[2].partition("```")[0])
    settings = load_settings(tmp_path / "gateway.toml")
    assert settings.mode == "keys"
    assert [one.name for one in settings.upstream] == ["openai", "here"]


def test_headers_of_one_connection_stay_there() -> None:
    given_headers = [
        (b"Connection", b"keep-alive, X-Mine"),
        (b"x-mine", b"1"),
        (b"transfer-encoding", b"chunked"),
        (b"anthropic-beta", b"a"),
        (b"anthropic-beta", b"b"),
    ]
    assert passed_on(given_headers) == [(b"anthropic-beta", b"a"), (b"anthropic-beta", b"b")]


def test_a_key_of_the_gateway_is_never_passed_on() -> None:
    came = [(b"authorization", b"Bearer ssn_gateway_x"), (b"x-api-key", b"ssn_gateway_x"), (b"x-seasoned-warm", b"off")]
    for api, sent in (("openai", (b"authorization", b"Bearer sk")), ("anthropic", (b"x-api-key", b"sk"))):
        assert request_headers(came, api=api, is_ours=True, key="sk", is_read=False) == [sent]  # type: ignore[arg-type]
    assert request_headers(came, api="openai", is_ours=True, key=None, is_read=False) == []


def test_an_answer_that_is_read_must_not_be_compressed() -> None:
    came = [(b"accept-encoding", b"br;q=1, gzip;q=0.5, zstd")]
    read = request_headers(came, api="openai", is_ours=False, key="sk", is_read=True)
    assert read == [(b"accept-encoding", b"identity")]
    assert request_headers(came, api="openai", is_ours=False, key="sk", is_read=False) == came
