"""The third and fourth set of leaks: half looked at, half only measured, and look-alikes."""

from __future__ import annotations

from collections import Counter

from seasoned.redact import Redactor
from tests.conftest import one_in
from tests.each_case import each_case
from tests.redact.corpus_writings import is_left, later_leaks, later_look_alikes, look_alikes, written_leaks


@each_case(
    ("leaks", "look_alike", "least"),
    [("leaks.txt", "harmless.txt", 0.96), ("leaks_fourth.txt", "harmless_fourth.txt", 0.95)],
)
def test_secrets_are_gone_in_both_halves_and_look_alikes_stay(leaks: str, look_alike: str, least: float) -> None:
    redactor = Redactor(b"k" * 32)
    secrets: Counter[bool] = Counter()
    left: dict[bool, Counter[str]] = {False: Counter(), True: Counter()}
    for leak in written_leaks(leaks):
        done = redactor.text(leak.text)
        secrets[leak.is_measured_only] += len(leak.secrets)
        left[leak.is_measured_only][leak.place] += sum(is_left(secret, done) for secret in leak.secrets)
    assert secrets.total() > 600
    looked_at, measured_only = (1 - left[half].total() / secrets[half] for half in (False, True))
    assert looked_at >= 0.96, left[False]
    assert measured_only >= least, left[True]
    texts = list(look_alikes(look_alike))
    harmed = [text for text in texts if redactor.text(text) != text]
    assert len(harmed) * 1000 <= len(texts), harmed


LATER_SETS = [
    ("sixth", 1230, 0.955, 4),
    ("seventh", 970, 0.95, 0),
    ("eighth", 790, 0.96, 0),
    ("ninth", 740, 0.915, 1),
    ("tenth", 750, 0.93, 6),
    ("eleventh", 560, 0.955, 2),
    ("twelfth", 910, 0.94, 4),
    ("thirteenth", 510, 0.935, 1),
    ("fourteenth", 530, 0.915, 4),
    ("fifteenth", 480, 0.945, 0),
    ("sixteenth", 890, 0.97, 4),
    ("seventeenth", 900, 0.925, 16),
    ("eighteenth", 710, 0.64, 0),
    ("nineteenth", 800, 0.95, 4),
    ("twentieth", 840, 0.92, 3),
    ("twenty_first", 650, 0.92, 9),
    ("twenty_second", 650, 0.91, 9),
]


@each_case(("which", "secrets", "least", "most_harmed"), one_in(2, LATER_SETS))
def test_most_secrets_of_later_sets_are_gone(which: str, secrets: int, least: float, most_harmed: int) -> None:
    """Written by people who had seen neither rules nor sets. What they show is in docs/design/redact.md."""
    redactor = Redactor(b"k" * 32)
    left: Counter[str] = Counter()
    count = 0
    for place, text, planted in later_leaks(which):
        done = redactor.text(text)
        count += len(planted)
        left[place] += sum(is_left(secret, done) for secret in planted)
    assert count > secrets and 1 - left.total() / count >= least, left
    harmed = [text for text in later_look_alikes(which) if redactor.text(text) != text]
    assert len(harmed) <= most_harmed, harmed
