"""The learned score: words near a cue that no rule knows."""

from __future__ import annotations

import sys

import pytest

from seasoned.redact import Redactor, scorer
from tests.each_case import each_case
from tests.redact.corpus_writings import labelled_sets


def _scored(text: str) -> list[str]:
    return [text[hit.start : hit.end] for hit in scorer.find_scored(text, text.lower())]


@each_case(
    ("text", "secret"),
    [
        ("host\tuser\tpass\n10.0.0.1\tadmin\tBrückenpfeiler\n10.0.0.2\troot\tcalamares", "calamares"),
        ("login with eva and Bumerang.3 and take a screenshot", "Bumerang.3"),
        ("<kai> whats the root pw on the new box\n<liv> flitzebogen\n<kai> thx", "flitzebogen"),
    ],
)
def test_plain_words_in_a_place_for_secrets_are_found(text: str, secret: str) -> None:
    assert secret in _scored(text)


@each_case(
    "text",
    [
        "The password is required and must not contain your user name.",
        "const token = await getToken(user);",
        "Passwort vergessen? Bitte an den Administrator wenden.",
        "| Option | Default |\n|---|---|\n| password | none |",
        "git push -u origin docs/clarify-search-prereqs",
    ],
)
def test_words_about_passwords_are_left_alone(text: str) -> None:
    assert _scored(text) == []


def test_cues_are_the_same_with_and_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [
        text.lower() for leaks, harmless in labelled_sets().values() for text in [*(t for t, _ in leaks), *harmless]
    ]
    fast = [scorer.find_cues(text) for text in texts]
    scorer._cue_finder.cache_clear()
    monkeypatch.setitem(sys.modules, "ahocorasick_rs", None)
    try:
        assert [scorer.find_cues(text) for text in texts] == fast
    finally:
        scorer._cue_finder.cache_clear()
    assert sum(map(bool, fast)) > 5000


def test_a_text_without_a_cue_is_not_scored() -> None:
    assert _scored("The quick Fischers_Fritz jumps over the lazy Rasenmäher.") == []


def test_text_beyond_the_limit_is_left_to_the_rules() -> None:
    line = "login with eva and Bumerang.3 and take a screenshot\n"
    assert _scored(line * 3) and not _scored(line * (scorer.LONGEST_TEXT // len(line) + 1))


def test_what_was_redacted_is_not_scored_again() -> None:
    redactor = Redactor(b"k" * 32)
    once = redactor.text("login with eva and Bumerang.3 and take a screenshot")
    assert "Bumerang" not in once and redactor.text(once) == once


def test_weights_and_words_are_whole() -> None:
    learned = scorer.load_weights()
    assert len(learned.weights) > 5_000 and len(learned.common) > 20_000
    assert {2, 3, 4, 5} == set(learned.common.values())


def test_a_word_that_is_found_does_not_take_the_words_behind_it_along() -> None:
    redactor = Redactor(b"k" * 32)
    done = redactor.text("TOKEN=kQ8vX2mLr5TzW1 wp deploy preview --env staging")
    assert done.startswith("TOKEN=[redacted:") and done.endswith("] wp deploy preview --env staging")
    assert redactor.text("Log in with sk-ant-api03-kQ8vX2mLr5TzW1bN6cY7").startswith("Log in with [redacted:")


def test_phrases_without_quotes_are_found() -> None:
    assert "old mill pond" in _scored("restic --password old mill pond")


def test_times_in_json_are_not_secrets() -> None:
    assert _scored('{"reason":"The agent recorded a login.","time":1772445606.0,"token":"","ended":1772445606}') == []
