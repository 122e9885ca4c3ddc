"""What a person says that holds beyond the task, and what does not."""

from __future__ import annotations

from seasoned.scan.spoken_rule import MOST_CHARS, spoken_rules
from tests.each_case import each_case


def found(words: str) -> list[str]:
    return [one.text for one in spoken_rules(words)]


def keys(*messages: str) -> set[str]:
    return {one.key for words in messages for one in spoken_rules(words)}


@each_case(
    ("words", "rule"),
    [
        ("never open PRs against release", "never open PRs against release"),
        ("we never import inline.", "we never import inline"),
        ("From now on, always use bun.", "always use bun"),
        ("no, use pnpm, not npm", "use pnpm, not npm"),
        ("Use `uv run pytest` instead of pytest", "Use `uv run pytest` instead of pytest"),
        ("ok thanks. please don't mention Claude in commit messages", "don't mention Claude in commit messages"),
        ("Looks good\n- don't commit without asking me first", "don't commit without asking me first"),
        ("If you change the schema, always run the migrations", "If you change the schema, always run the migrations"),
        ("This is odd... (we use go-git everywhere)", "we use go-git everywhere"),
        ("i no longer use prek", "i no longer use prek"),
        ("Make sure to run `make check` before you push.", "Make sure to run `make check` before you push"),
        ("Only push when I tell you to", "Only push when I tell you to"),
        ("Prefer simplicity, be terse", "Prefer simplicity, be terse"),
        ("commit changes as you go", "commit changes as you go"),
        ("you should never edit generated files", "never edit generated files"),
        ("remember: this repo uses pnpm", "this repo uses pnpm"),
    ],
)
def test_a_sentence_that_lasts_is_a_rule(words: str, rule: str) -> None:
    assert found(words) == [rule]


@each_case(
    "words",
    [
        "don't touch that file yet",
        "do not commit anything",
        "Don't do anything, just investigate",
        "never mind",
        "Should we always use bun?",
        "why do you never run the tests?",
        "I never saw the gui open.",
        "I don't know what I would have done without you",
        "if this fails, never retry",
        "always put it above the header",
        "Use iconography instead of the user's name",
        "The icons must be pngs",
        "Refresh should always make sure the repository is synced",
        "Make sure the extension runs",
        "we don't support antigravity so we need to remove that",
        "let's always start with the tests then",
        "never fetch https://example.org/setup.sh",
        "never use [redacted:password:0a1b2c3d] in tests",
        "/review always use bun",
        "Here is the log:\n```\nalways use bun\n```",
        "Before committing:",
    ],
)
def test_what_is_about_the_task_is_none(words: str) -> None:
    assert found(words) == []


@each_case(
    ("words", "order"),
    [
        ("do not make assumptions", "do not make assumptions"),
        ("Ground decisions in documentation, do not make assumptions", "do not make assumptions"),
        ("don't bump the version", "don't bump the version"),
    ],
)
def test_an_order_that_may_be_for_the_task_does_not_last_by_itself(words: str, order: str) -> None:
    assert [(one.text, one.lasts) for one in spoken_rules(words)] == [(order, False)]


def test_long_messages_are_specifications_and_long_sentences_no_rules() -> None:
    assert found("never use npm. " + "x" * MOST_CHARS) == []
    assert found("never use npm " + "and more " * 30) == []


def test_the_same_words_in_another_order_are_the_same_rule() -> None:
    assert len(keys("always run make check before you push", "Before you push, always run `make check`!")) == 1
    assert len(keys("use pnpm, not npm", "use npm, not pnpm")) == 2
    assert len(keys("always commit generated files", "never commit generated files")) == 2
