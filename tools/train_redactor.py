"""Trains the scorer of redaction: `python -m tools.train_redactor HISTORIES… [--sources FOLDER…] [--without SET]`.

Secrets come from the labelled writings in tests/redact; what is not secret comes from their look-alikes and from real
histories, of which every word counts as harmless. How common words are is counted in the histories and in source files.
Needs scikit-learn and stopwordsiso, which nothing else here needs. With `--without` a set is left out and measured
instead, and nothing is written: that is how recall on unseen texts is estimated.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, vstack
from sklearn.linear_model import LogisticRegression
from stopwordsiso import langs, stopwords
from tests.redact.corpus import clean_values
from tests.redact.corpus_writings import is_left, labelled_sets
from tests.redact.test_places import HARMLESS

from seasoned.redact import scorer
from seasoned.redact.redactor import Redactor

WORD = re.compile(r"[^\W\d_]{3,18}")
TAG = re.compile(r"\[redacted:[^\]]*\]")
SOURCES = (".py", ".md", ".js", ".ts", ".yml", ".yaml", ".rst", ".html", ".sh", ".toml")
MOST_OF_A_FILE = 4_000_000
MOST_OF_A_TEXT = 1_500
TEXTS = 200_000
# What a sample weighs: look-alikes are few and teach most, copies in a carrier or with another secret say less.
LOOK_ALIKE, REAL, COPY = 8.0, 2.0, 0.7
SMALLEST_WEIGHT = 0.1


class Sample(NamedTuple):
    """A candidate: which text it is from, where it stands, its features, and whether it is a secret (-1: in part)."""

    text: int
    start: int
    end: int
    features: list[str]
    is_secret: int


def strings(value: Any) -> Iterator[str]:
    """All texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def read_histories(folders: Iterable[Path]) -> Iterator[list[str]]:
    """The texts of each history file."""
    for path in sorted(p for folder in folders for p in folder.rglob("*") if p.suffix in (".jsonl", ".json")):
        found: list[str] = []
        size = 0
        text = path.read_text("utf-8", errors="replace")
        for line in text.split("\n") if path.suffix == ".jsonl" else [text]:
            try:
                found += [one for one in strings(json.loads(line)) if len(one) > 2]
            except ValueError:
                continue
            size += len(line)
            if size > MOST_OF_A_FILE:
                break
        yield found


def count_words(histories: list[list[str]], sources: Iterable[Path]) -> dict[str, int]:
    """How common words are: 2 in a few files, 4 in many, 5 for stop words of any language."""
    files: Counter[str] = Counter()
    for texts in histories:
        files.update({word for text in texts for word in WORD.findall(text[:4000].lower())})
    written: Counter[str] = Counter()
    for folder in sources:
        paths = [
            p for p in sorted(folder.rglob("*")) if p.suffix in SOURCES and p.is_file() and p.stat().st_size < 150_000
        ]
        for path in random.Random(1).sample(paths, min(len(paths), 6000)):
            written.update(set(WORD.findall(path.read_text("utf-8", errors="replace")[:30_000].lower())))
    common = {}
    for word, times in written.items():
        count = files[word] + times // 4
        # Words of the histories alone may be names of people, and are kept out.
        if count >= 4 and times > 2:
            common[word] = 2 if count < 8 else 3 if count < 25 else 4
    common.update((word.lower(), 5) for lang in langs() for word in stopwords(lang) if word.isalpha() and len(word) > 2)
    return common


def samples(texts: Iterable[tuple[str, list[str]]]) -> list[Sample]:
    """Every candidate of texts with known secrets."""
    found = []
    for number, (text, secrets) in enumerate(texts):
        places = [(m.start(), m.end()) for secret in set(secrets) for m in re.finditer(re.escape(secret), text)]
        for start, end, features in scorer.candidates(text):
            label = 0
            for a, b in places:
                shared = min(end, b) - max(start, a)
                if shared > 0:
                    label = -1
                if shared >= 0.7 * (b - a) and end - start <= b - a + 6:
                    label = 1
                    break
            found.append(Sample(number, start, end, features, label))
    return found


def carried(r: random.Random, text: str, secrets: list[str]) -> tuple[str, list[str]]:
    """The text as a result in JSON, a numbered file, a diff or a search shows it."""
    form = r.randrange(4)
    if form == 0:
        escape = lambda one: json.dumps(one, ensure_ascii=False)[1:-1]  # noqa: E731
        return f'{{"stdout": "{escape(text)}", "stderr": ""}}', [escape(secret) for secret in secrets]
    lines = text.split("\n")
    begin = (lambda i: f"{i:6}→", lambda i: "+", lambda i: f"src/a.txt:{i}:")[form - 1]
    return "\n".join(begin(i) + line for i, line in enumerate(lines, 9)), secrets


def exchanged(r: random.Random, text: str, secrets: list[str], pool: list[str]) -> tuple[str, list[str]] | None:
    """The text with other secrets in the same places, so that the place is learned and not the word."""
    put = []
    for secret in sorted(set(secrets), key=len, reverse=True):
        others = [o for o in r.sample(pool, min(20, len(pool))) if (" " in o) == (" " in secret)]
        if len(secret) > 60 or "\n" in secret or not others:
            return None
        text = text.replace(secret, others[0])
        put.append(others[0])
    return text, put


def copies(leaks: list[tuple[str, list[str]]], r: random.Random) -> Iterator[tuple[str, list[str]]]:
    """More of the same: in carriers, and with secrets exchanged."""
    pool = [s for _, secrets in leaks for s in secrets if len(s) <= 30 and not set(s) & set("\n\"'\\`")]
    plain = [s for s in pool if not any(map(str.isdigit, s))] or pool
    for text, secrets in leaks:
        if r.random() < 0.4:
            yield carried(r, text, secrets)
        yield from filter(None, (exchanged(r, text, secrets, some) for some in (plain, pool)))


class Model:
    """The features that occur more than twice in labelled texts, and their weights.

    The first part is real histories: they weigh features, and add none, since their words may be names of people.
    """

    def __init__(self, parts: list[tuple[list[Sample], float]]) -> None:
        parts = [([one for one in part if one.is_secret >= 0], weight) for part, weight in parts]
        counts = Counter(name for part, _ in parts[1:] for one in part for name in set(one.features))
        self.index = {name: i for i, name in enumerate(n for n, count in counts.items() if count > 2)}
        x = vstack([self.matrix(part) for part, _ in parts])
        y = np.concatenate([[one.is_secret for one in part] for part, _ in parts])
        weights = np.concatenate([np.full(len(part), weight) for part, weight in parts])
        self.fitted = LogisticRegression(max_iter=200).fit(x, y, sample_weight=weights)

    def matrix(self, part: list[Sample]) -> csr_matrix:
        ends, at = [0], []
        for one in part:
            at += [self.index[name] for name in one.features if name in self.index]
            ends.append(len(at))
        return csr_matrix((np.ones(len(at)), at, ends), shape=(len(part), len(self.index)))

    def weights(self) -> dict[str, float]:
        """Weights by feature; the bias has an empty name."""
        found = {"": round(float(self.fitted.intercept_[0]), 3)}
        for name, i in sorted(self.index.items()):
            weight = round(float(self.fitted.coef_[0][i]), 2)
            if abs(weight) >= SMALLEST_WEIGHT:
                found[name] = weight
        return found


def measure(name: str, leaks: list[tuple[str, list[str]]], harmless: list[str]) -> None:
    """Recall and harm of the whole redactor with the weights that are set."""
    redactor = Redactor(b"k" * 32)
    done = [(TAG.sub("\0", redactor.text(text)), secrets) for text, secrets in leaks]
    total = sum(len(secrets) for _, secrets in done)
    found = sum(not is_left(secret, text) for text, secrets in done for secret in secrets)
    changed = sum(redactor.text(text) != text for text in harmless)
    sys.stdout.write(
        f"{name}: recall {found / total:.3f} of {total}, {changed} of {len(harmless)} look-alikes changed\n"
    )


def use(weights: dict[str, float], common: dict[str, int]) -> None:
    """Let the scorer use these."""
    made = scorer.Weights(weights.get("", 0.0), weights, common)
    scorer.load_weights = lambda: made  # type: ignore[assignment]
    for cached in (scorer.value_score, scorer.value_features):
        cached.cache_clear()


def main() -> None:
    """Train, and write or measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("histories", nargs="+", type=Path)
    parser.add_argument("--sources", nargs="*", type=Path, default=[])
    parser.add_argument("--without")
    given = parser.parse_args()
    histories = list(read_histories(given.histories))
    common = count_words(histories, given.sources)
    use({}, common)
    r = random.Random(3)
    texts = [text[:MOST_OF_A_TEXT] for one in histories for text in one if r.random() < 0.5]
    r.shuffle(texts)
    parts = [(samples((text, []) for text in texts[:TEXTS]), REAL)]
    clean = [text for seed in (11, 12) for value in clean_values(seed) for text in strings(value)]
    parts.append((samples((text, []) for text in [*clean, *HARMLESS]), LOOK_ALIKE))
    sets = labelled_sets()
    for name, (leaks, harmless) in sets.items():
        if name == given.without:
            continue
        parts.append((samples(leaks), 1.0))
        parts.append((samples(copies(leaks, r)), COPY))
        alike = [(text, []) for text in harmless]
        parts.append((samples([*alike, *(carried(r, text, []) for text in harmless[::3])]), LOOK_ALIKE))
    weights = Model([(part, weight) for part, weight in parts if part]).weights()
    use(weights, common)
    if given.without:
        measure(given.without, *sets[given.without])
        return
    folder = Path(scorer.__file__).parent
    levels = {
        level: " ".join(sorted(word for word, its in common.items() if its == level))
        for level in sorted(set(common.values()))
    }
    (folder / "weights.json").write_text(json.dumps(weights, ensure_ascii=False, indent=0) + "\n", "utf-8")
    (folder / "common_words.json").write_text(json.dumps(levels, ensure_ascii=False, indent=0) + "\n", "utf-8")
    sys.stdout.write(f"{len(weights)} weights, {len(common)} common words\n")


if __name__ == "__main__":
    main()
