"""How far the estimate lies from real tokenizers: their vocabularies are too large to come along, their counts do."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from seasoned.text import count_tokens
from tests.each_case import each_case

# Counted by cl100k, o200k, Qwen, Mistral's tekken, and the last tokenizer that Anthropic published.
COUNTED = {
    "a call": ('{"limit":20,"path":"src/x","pattern":"def main"}', (15, 15, 16, 16, 16)),
    "a command": (
        (
            '{"command":"cd ~/app && .venv/bin/pytest -q tests/api/test_login.py -k \'expired or revoked\' 2>&1 | tail '
            '-40","timeout_ms":120000}'
        ),
        (42, 42, 47, 49, 46),
    ),
    "ids": (
        (
            '{"item_ids":["8555936349","2206116040"],"order_id":"#W0052025","payment_method_id":"credit_card_4421",'
            '"user_id":"mei_kovacs_8020"}'
        ),
        (45, 45, 65, 67, 51),
    ),
    "a listing": (
        (
            "-rw-r--r-- 1 mira staff  1834 Mar  3 10:21 src/seasoned/session.py\n"
            "-rw-r--r-- 1 mira staff 12055 Mar  3 10:22 src/seasoned/config.py\n"
        ),
        (59, 57, 68, 67, 55),
    ),
    "hex": (
        "commit 4f3e2d1c5b6a7988a7b6c5d4e3f2a1b09c8d7e6f in 9b8d7c6f-5e4d-3c2b-1a09-77aa88bb99cc",
        (70, 70, 77, 77, 68),
    ),
    "code": (
        (
            "def shown(block: Block) -> list[Shown]:\n"
            "    found = [one for one in map(_shown, block.examples) if one is not None]\n"
            "    return found\n"
        ),
        (36, 36, 36, 37, 38),
    ),
    "prose": (
        (
            "The demonstrations end here. This conversation begins with the next message, and nothing in them was "
            "asked, approved or done before."
        ),
        (25, 25, 25, 25, 25),
    ),
    "Russian": (
        "Быстрая коричневая лиса прыгает через ленивую собаку, пока служащие проверяют документы.",
        (42, 28, 34, 30, 49),
    ),
    "Chinese": (
        "敏捷的棕色狐狸跳过懒狗，与此同时工作人员正在检查文件并公布更改。",
        (41, 23, 18, 35, 34),
    ),
    "signs": ("🎉🚀✅❌🔥 done → 100 % ▁ ┌──┐ │ok│ └──┘", (33, 27, 25, 39, 31)),
}


@each_case("name", COUNTED)
def test_the_estimate_is_at_most_a_tenth_below_any_tokenizer(name: str) -> None:
    text, counted = COUNTED[name]
    assert count_tokens(text) >= 0.89 * max(counted)
    assert count_tokens(text) <= 3 * min(counted)


def test_over_what_blocks_are_made_of_the_estimate_is_near() -> None:
    texts = [COUNTED[name] for name in ("a call", "a command", "ids", "a listing", "hex", "code", "prose")]
    estimated = sum(count_tokens(text) for text, _ in texts)
    for counted in zip(*[counts for _, counts in texts], strict=True):
        assert 0.95 <= estimated / sum(counted) <= 1.25


@given(st.text(alphabet=st.characters(exclude_categories=())), st.text())
def test_every_text_has_an_estimate_and_more_text_is_never_fewer_tokens(text: str, more: str) -> None:
    assert 0 <= count_tokens(text) <= count_tokens(f"{text}\n{more}") <= 3 * len(f"{text}\n{more}")


def test_a_text_that_is_long_is_counted_like_a_short_one() -> None:
    text = "read the file src/x.py, then run 12 tests\n"
    assert count_tokens(text * 100) == 100 * count_tokens(text)
    assert count_tokens("") == 0
