"""Trains the scorer of redaction: `python -m tools.train_redactor HISTORIES… [--sources FOLDER…] [--without SET]`.

Secrets come from the labelled writings in tests/redact; what is not secret comes from their look-alikes, from real
histories and from pieces of source files and documentation, of which every word counts as harmless. How common words
are is counted in the histories and in the sources. Needs scikit-learn and stopwordsiso, which nothing else here needs.
With `--without` some sets are left out and measured instead, and nothing is written: that is how recall on unseen texts
is estimated.
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

import msgspec
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
FILES_OF_A_KIND = 2_500
PIECES_OF_A_FILE = 3
# Tests hold passwords that are none, in places that teach the wrong thing.
NO_SOURCES = ("test", "fixture", "locale", "zoneinfo", "seasoned")
# What a sample weighs: look-alikes are few and teach most, copies in a carrier or with another secret say less.
LOOK_ALIKE, REAL, COPY, SOURCE = 8.0, 2.0, 0.7, 0.7
SMALLEST_WEIGHT = 0.1
STRENGTH = 0.3  # of scikit-learn's logistic regression: smaller means smaller weights
# Chosen with sets that were left out: lower finds more secrets, and changes more of what is harmless.
THRESHOLD = 0.0
# So many of the secrets that are found may be lost to the tests that come before all features are asked.
LOST = 0.004


class Sample(NamedTuple):
    """A candidate: which text it is from, where it stands, its features, and whether it is a secret (-1: in part)."""

    text: int
    start: int
    end: int
    own: list[str]  # features of the value
    near: list[str]
    far: list[str]
    is_secret: int

    @property
    def features(self) -> list[str]:
        """All of them."""
        return [*self.own, *self.near, *self.far]


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


def pieces(sources: Iterable[Path], r: random.Random) -> Iterator[str]:
    """Pieces of source files, settings and documentation, some of them as an agent's tool numbers the lines."""
    paths = [p for folder in sources for p in sorted(folder.rglob("*")) if _is_piece(p)]
    r.shuffle(paths)
    kinds: Counter[str] = Counter()
    for path in paths:
        kinds[path.suffix] += 1
        if kinds[path.suffix] > FILES_OF_A_KIND:
            continue
        try:
            lines = path.read_text("utf-8").split("\n")
        except (OSError, UnicodeDecodeError):
            continue
        for _ in range(PIECES_OF_A_FILE):
            size = r.choice((1, 3, 8, 20, 40))
            start = r.randrange(max(1, len(lines) - size))
            number = r.random() < 0.2
            some = [f"{i:6}→{line}" if number else line for i, line in enumerate(lines[start : start + size], start)]
            yield "\n".join(some)[:MOST_OF_A_TEXT]


def _is_piece(path: Path) -> bool:
    low = str(path).lower()
    return path.is_file() and 200 < path.stat().st_size < 400_000 and not any(word in low for word in NO_SOURCES)


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
            found.append(Sample(number, start, end, *features, label))
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

    The first two parts are histories and sources: they weigh features, and add none, since their words may be names of
    people.
    """

    def __init__(self, parts: list[tuple[list[Sample], float]]) -> None:
        parts = [([one for one in part if one.is_secret >= 0], weight) for part, weight in parts]
        counts = Counter(name for part, _ in parts[2:] for one in part for name in set(one.features))
        self.index = {name: i for i, name in enumerate(n for n, count in counts.items() if count > 2)}
        x = vstack([self.matrix(part) for part, _ in parts])
        y = np.concatenate([[one.is_secret for one in part] for part, _ in parts])
        weights = np.concatenate([np.full(len(part), weight) for part, weight in parts])
        self.fitted = LogisticRegression(max_iter=300, C=STRENGTH).fit(x, y, sample_weight=weights)
        self.secrets = [one for part, _ in parts for one in part if one.is_secret]

    def matrix(self, part: list[Sample]) -> csr_matrix:
        ends, at = [0], []
        for one in part:
            at += [self.index[name] for name in one.features if name in self.index]
            ends.append(len(at))
        return csr_matrix((np.ones(len(at)), at, ends), shape=(len(part), len(self.index)))

    def learned(self, common: dict[str, int]) -> scorer.Weights:
        """The weights, and the sums below which a word is given up early."""
        weights = {}
        for name, i in sorted(self.index.items()):
            weight = round(float(self.fitted.coef_[0][i]), 2)
            if abs(weight) >= SMALLEST_WEIGHT:
                weights[name] = weight
        bias = round(float(self.fitted.intercept_[0]), 3)
        total = lambda names: sum(weights.get(name, 0.0) for name in names)  # noqa: E731
        own, near = [], []
        for one in self.secrets:
            if bias + total(one.features) > THRESHOLD:
                own.append(bias + total(one.own))
                near.append(own[-1] + total(one.near))
        least_own, least_near = (round(float(np.quantile(sums, LOST)), 2) for sums in (own, near))
        grams = {
            name.removeprefix(scorer.GRAM): weights.pop(name) for name in [*weights] if name.startswith(scorer.GRAM)
        }
        return scorer.Weights(bias, THRESHOLD, least_own, least_near, weights, grams, common)


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


def use(learned: scorer.Weights) -> None:
    """Let the scorer use these."""
    scorer.load_weights = lambda: learned  # type: ignore[assignment]
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
    use(scorer.Weights(0.0, THRESHOLD, scorer.NEVER, scorer.NEVER, {}, {}, common))
    r = random.Random(3)
    texts = [text[:MOST_OF_A_TEXT] for one in histories for text in one if r.random() < 0.5]
    r.shuffle(texts)
    parts = [(samples((text, []) for text in texts[:TEXTS]), REAL)]
    parts.append((samples((text, []) for text in pieces(given.sources, r)), SOURCE))
    clean = [text for seed in (11, 12) for value in clean_values(seed) for text in strings(value)]
    parts.append((samples((text, []) for text in [*clean, *HARMLESS]), LOOK_ALIKE))
    sets = labelled_sets()
    without = given.without.split(",") if given.without else []
    for name, (leaks, harmless) in sets.items():
        if name in without:
            continue
        parts.append((samples(leaks), 1.0))
        parts.append((samples(copies(leaks, r)), COPY))
        alike = [(text, []) for text in harmless]
        parts.append((samples([*alike, *(carried(r, text, []) for text in harmless[::3])]), LOOK_ALIKE))
    learned = Model(parts).learned(common)
    use(learned)
    for name in without:
        measure(name, *sets[name])
    if without:
        return
    folder = Path(scorer.__file__).parent
    levels = {
        level: " ".join(sorted(word for word, its in common.items() if its == level))
        for level in sorted(set(common.values()))
    }
    written = {**msgspec.structs.asdict(learned), "common": {}}
    (folder / "weights.json").write_text(json.dumps(written, ensure_ascii=False, indent=0) + "\n", "utf-8")
    (folder / "common_words.json").write_text(json.dumps(levels, ensure_ascii=False, indent=0) + "\n", "utf-8")
    sys.stdout.write(f"{len(learned.weights)} weights, {len(common)} common words\n")


if __name__ == "__main__":
    main()
