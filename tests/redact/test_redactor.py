"""Tags, names, the user's own list, beginnings and ends."""

from __future__ import annotations

import json
import pickle
from random import Random

from hypothesis import example, given
from hypothesis import strategies as st

from seasoned.redact import Hit, Redactor
from seasoned.redact.redactor import TAG
from tests.each_case import each_case
from tests.redact.corpus_secret import TOKENS, pem

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
R = Redactor(b"k" * 32)


def test_equal_secrets_have_equal_tags_whatever_stands_around_them() -> None:
    (one,) = TAG.compiled.findall(R.text(f"token {TOKEN}"))
    (two,) = TAG.compiled.findall(R.text(json.dumps({"x": f"a\n{TOKEN}\n"})))
    assert one == two
    assert TAG.compiled.findall(R.text(TOKEN[:-1] + "9")) != [one]


def test_another_key_gives_another_tag() -> None:
    assert R.text(TOKEN) != Redactor(b"j" * 32).text(TOKEN)


def test_find_says_what_and_where() -> None:
    assert R.find(f"use {TOKEN}.") == [Hit("github", 4, 4 + len(TOKEN))]
    assert R.find("nothing here") == []


def test_it_goes_to_a_worker_and_gives_the_same_tags() -> None:
    own = Redactor(b"k" * 32, ["Project Nightjar"])
    again = pickle.loads(pickle.dumps(own))
    text = f"{TOKEN} for project nightjar"
    assert again.text(text) == own.text(text)


def test_own_strings_and_expressions_are_redacted() -> None:
    own = Redactor(b"k" * 32, ["Acme Nightjar", r"/PRJ-\d{4}/"])
    done = own.text("acme nightjar has PRJ-1234 and PRJ-12")
    assert "nightjar" not in done
    assert "PRJ-1234" not in done
    assert done.endswith("PRJ-12")
    assert done.count("[redacted:own:") == 2
    assert own.text(done) == done


@each_case(
    ("name", "value", "secret"),
    [
        ("password", "hunter2", True),
        ("password", "swordfish", True),
        ("password", "string", False),
        ("password", "${DB_PASSWORD}", False),
        ("password", "Must be at least 8 characters", False),
        ("api_key", "<your-api-key>", False),
        ("apiKey", "9f8e7d6c5b4a39281706", True),
        ("Authorization", "Bearer 9f8e7d6c5b4a39281706", True),
        ("Authorization", "Bearer $TOKEN", False),
        ("token_count", "123456", False),
        ("token", "Hello", False),
        ("secretName", "app-tls-9f8e7d", False),
        ("session_id", "6f1c2a34-9b1d-4e5f-8a7b-1c2d3e4f5a6b", False),
        ("phone", "+49 151 2345678", True),
        ("phone", "required", False),
    ],
)
def test_a_name_makes_its_value_secret_unless_it_only_stands_for_one(name: str, value: str, secret: bool) -> None:
    assert (R.value({name: value}) != {name: value}) is secret


@each_case(
    ("before", "is_secret"),
    [("payload=", True), ("handle: ", True), ('"value": ', True), ("s ", True), ("nonce: ", False), ("x=", False)],
)
def test_a_drawn_word_is_a_secret_unless_its_name_is_public(before: str, is_secret: bool) -> None:
    assert ("[redacted:" in R.text(f"{before}q7Zt0XbW3kVu9LmR2sYh5NcP8dGf1JaE")) == is_secret


def test_an_escape_in_front_of_a_drawn_word_stays_whole() -> None:
    redacted = R.text('{"out": "done\\nq7Zt0XbW3kVu9LmR2sYh5NcP8dGf1JaE"}')
    assert json.loads(redacted)["out"].startswith("done\n[redacted:")


def test_numbers_and_flags_in_values() -> None:
    assert "blue42Moon" not in R.text("pass='blue42Moon'")
    assert "blue42Moon" in R.text("user='blue42Moon'")
    assert R.value({"password": 12345678})["password"].startswith("[redacted:password:")
    assert R.value({"token": 12345678, "secret": True, "n": None}) == {"token": 12345678, "secret": True, "n": None}
    assert "s3cr3t" not in str(R.value(["login", "--password", "s3cr3t-x"]))


def test_a_bare_number_in_json_leaves_json_behind() -> None:
    text = '{"card": 4111111111111234, "pay": 4242424242424242}'
    done = json.loads(R.text(text))
    assert "4242424242424242" not in str(done)


LEAF = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=30)
    | st.sampled_from([TOKEN, "a@b-corp.io", "hunter2!"])
)
NAME = st.sampled_from(["password", "key", "token", "x", "authorization"]) | st.text(max_size=8)
VALUE = st.recursive(LEAF, lambda v: st.lists(v, max_size=4) | st.dictionaries(NAME, v, max_size=4), max_leaves=12)


@given(VALUE)
def test_any_json_stays_json_and_rests_after_one_pass(value: object) -> None:
    for text in (json.dumps({"v": value}), json.dumps({"v": json.dumps(value)})):
        done = R.text(text)
        json.loads(done)
        assert R.text(done) == done
        assert TOKEN not in done
    once = R.value(value)
    assert R.value(once) == once


@given(
    st.lists(
        st.sampled_from(
            ["password", "=", ": ", '"', "\\", "\n", "[redacted:", "x:12345678]", TOKEN, "a@b.io", "%3D", "'"]
        ),
        max_size=14,
    )
)
def test_any_mixture_of_signs_rests_after_one_pass(parts: list[str]) -> None:
    done = R.text("".join(parts))
    assert R.text(done) == done


@given(st.integers(0, 10**6), st.integers(0, 400), st.integers(0, 900))
@example(151, 78, 0)  # a key without a single figure
def test_no_cut_shows_a_piece_of_a_secret(seed: int, limit: int, place: int) -> None:
    r = Random(seed)
    secrets = [TOKENS[kind](r) for kind in r.sample(["github", "anthropic", "jwt", "stripe", "email", "npm"], 2)]
    block = pem(r, "RSA PRIVATE KEY")
    text = f"{'word ' * (place // 5)}{secrets[0]} and\n{block}\n{secrets[1]}{' more' * 300}"
    for done in (R.head(text, limit), R.tail(text, limit)):
        assert len(done) <= limit
        _shows_none(done, [*secrets, block])


def _shows_none(done: str, secrets: list[str]) -> None:
    for secret in secrets:
        for at in range(0, len(secret) - 12, 3):
            assert secret[at : at + 12] not in done or "PRIVATE" in secret[at : at + 16] or at < 4


@each_case("limit", range(0, 260, 7))
def test_tags_are_never_cut_in_half(limit: int) -> None:
    text = f"first {TOKEN} then password=hunter2x and maria77@acme-corp.io " * 3
    for done in (R.head(text, limit), R.tail(text, limit)):
        assert len(done) <= limit
        assert "redacted" not in TAG.compiled.sub("", done)


def test_a_private_key_is_not_entered_in_its_middle() -> None:
    block = pem(Random(1), "RSA PRIVATE KEY").replace("-----END RSA PRIVATE KEY-----", "")
    body = block * 1
    for limit in range(10, 800, 97):
        done = R.tail("x " * 3000 + body, limit)
        assert not any(line in done for line in body.split("\n")[1:-1] if line)


def test_a_short_text_comes_back_whole() -> None:
    assert R.head("all of it", 100) == R.tail("all of it", 100) == "all of it"
