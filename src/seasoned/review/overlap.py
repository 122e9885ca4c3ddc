"""Finds words in a text that are not the user's or the agent's own but come from a result or a page.

Texts are compared by runs of three words, so that case, punctuation and small edits make no difference. Scripts
without spaces are compared by characters, which count as a part of a word.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec

from seasoned.lazy_regex import LazyRegex

# This many words from one place in a foreign text, in nearly the same order, are an overlap in any sentence.
_ALIGNED_WORDS = 6.0
# Fewer are an overlap if they are most of a sentence.
_FEWEST_WORDS = 4.0
_SENTENCE_SHARE = 0.6
_RUN = 3
# How far small edits may move words, and how far apart the words of a sentence may be in a foreign text.
_SHIFT = 5
_WINDOW = 60
_SHOWN_CHARS = 300
_FEWEST_CODE_WORDS = 2
# Only the first places where a text repeats the same words count: hostile texts repeat them a million times.
_MOST_PLACES = 8
_EAST_ASIAN = "\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff"
# Thai, Lao, Myanmar, Khmer.
_SOUTH_EAST_ASIAN = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_TOKEN = LazyRegex(rf"[{_EAST_ASIAN}{_SOUTH_EAST_ASIAN}]|[^\W_{_EAST_ASIAN}{_SOUTH_EAST_ASIAN}]+")
_SENTENCE_END = LazyRegex(r"(?<=[.!?;])\s+|[。！？；।؟\n]+")
_CODE = LazyRegex(
    r"```[^\n`]*\n(.{1,4000}?)```|`([^`\n]{2,1000})`|^[ \t>]*\$ ([^\n]{2,1000})$", re.MULTILINE | re.DOTALL
)
_HOST = LazyRegex(r"://([^\s/\"'`<>()]+)")
_Kind = Literal["user", "agent", "foreign"]


class ForeignSource(msgspec.Struct, frozen=True):
    """Where a foreign text came from: the call that returned it, and whether that call reads web pages."""

    call_id: str
    tool: str
    is_page: bool = False


class Overlap(msgspec.Struct, frozen=True):
    """The words of a foreign text that another text repeats."""

    source: ForeignSource
    sentence: str


class SpokenText(msgspec.Struct, frozen=True):
    """A text of a session in the order of time: of the user, of the agent, or foreign with its source."""

    kind: _Kind
    text: str
    source: ForeignSource | None = None


class _Fold(dict[int, str]):
    """Maps letters to their form without case, accents, and variants of width or shape."""

    def __missing__(self, code: int) -> str:
        plain = [one for one in unicodedata.normalize("NFKD", chr(code)) if unicodedata.category(one)[0] != "M"]
        self[code] = folded = unicodedata.normalize("NFC", "".join(plain)).casefold()
        return folded


_FOLD = _Fold()


def words_of(text: str) -> list[str]:
    """The words of a text as they are compared."""
    return _TOKEN.compiled.findall(_fold(text))


def _fold(text: str) -> str:
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text).translate(_FOLD)


def _weight(word: str) -> float:
    """How much of a word it is: scripts without spaces are compared by characters."""
    code = ord(word[0])
    if len(word) > 1 or code < 0xE00:
        return 1.0
    return 0.5 if code >= 0x3040 else 0.25


class _Sentence(msgspec.Struct):
    """A sentence to look for, and where each of its runs was found in foreign texts."""

    words: list[str]
    hits: list[tuple[int, int, int]] = []  # the position in the sentence, the foreign text, the position there

    @property
    def weight(self) -> float:
        return sum(map(_weight, self.words))


class _Names(msgspec.Struct):
    """A host or a quoted command: words that must not come from a foreign text even if they are few."""

    words: tuple[str, ...]
    is_own: bool = False
    found: tuple[int, int] | None = None


class ForeignTexts:
    """The texts of a session, by which sentences that come from results or pages are recognised."""

    def __init__(self, texts: Iterable[SpokenText], *, vouched: Iterable[str] = ()) -> None:
        """`vouched` are commands that the agent ran successfully and that may be shown: they are its own words."""
        self._texts: list[tuple[SpokenText, array[int]]] = []
        seen: set[tuple[str, str]] = set()
        for one in texts:
            # Copies of a result, by a resume or a compaction, say nothing new.
            if one.text.strip() and (one.kind, one.text) not in seen:
                seen.add((one.kind, one.text))
                self._texts.append((one, array("q", map(hash, words_of(one.text)))))
        self._vouched = [f" {' '.join(words_of(one))} " for one in vouched]

    @property
    def page(self) -> ForeignSource | None:
        """The first web page that the session read."""
        sources = (one.source for one, _ in self._texts)
        return next((source for source in sources if source is not None and source.is_page), None)

    def find(self, text: str, *, before: str = "") -> Overlap | None:
        """The foreign sentence that a text repeats; what it says already `before` an edit does not count."""
        return self.find_each([text], before=before)[0]

    def find_each(self, texts: Sequence[str], *, before: str = "") -> list[Overlap | None]:
        """The same for several texts, with one look at the session."""
        known = set(_runs(list(map(hash, words_of(before)))))
        looked_for = [self._looked_for(text) for text in texts]
        self._search([sentences for sentences, _ in looked_for], known)
        self._search_names([one for _, names in looked_for for one in names], before)
        return [self._overlap(sentences, names) for sentences, names in looked_for]

    def _looked_for(self, text: str) -> tuple[list[_Sentence], list[_Names]]:
        names = [_Names(tuple(words_of(host[1]))) for host in _HOST.compiled.finditer(text)]

        def without_own(code: re.Match[str]) -> str:
            lines = [line for line in next(filter(None, code.groups()), "").splitlines() if line.strip()]
            told = [(line, words_of(line)) for line in lines]
            foreign = [(line, words) for line, words in told if not self._is_vouched(words)]
            names.extend(_Names(tuple(words)) for _, words in foreign if len(words) >= _FEWEST_CODE_WORDS)
            return f"\n{' '.join(line for line, _ in foreign)} " if len(foreign) < len(told) else code[0]

        rest = _CODE.compiled.sub(without_own, text)
        sentences = [_Sentence(words) for part in _SENTENCE_END.compiled.split(rest) if (words := words_of(part))]
        # Short sentences are also looked for together: a text could be cut into pieces.
        if len(sentences) > 1:
            sentences.insert(0, _Sentence(words_of(rest)))
        return sentences, [one for one in names if len(one.words) >= _FEWEST_CODE_WORDS]

    def _is_vouched(self, words: list[str]) -> bool:
        told = f" {' '.join(words)} "
        return any(one.startswith(told) for one in self._vouched)

    def _search(self, texts: Sequence[Sequence[_Sentence]], known: set[tuple[int, ...]]) -> None:
        wanted: dict[tuple[int, ...], list[tuple[_Sentence, int]]] = {}
        for sentences in texts:
            counts: Counter[tuple[int, ...]] = Counter()
            for sentence in sentences:
                for at, run in enumerate(_runs(list(map(hash, sentence.words)))):
                    counts[run] += 1
                    if run not in known and counts[run] <= _MOST_PLACES:
                        wanted.setdefault(run, []).append((sentence, at))
        for spoken, words in self._texts:
            if spoken.kind == "user":
                # The user's words are the user's, even if a result says them too.
                for _, run in _matching(words, wanted):
                    wanted.pop(run, None)
        own: set[tuple[int, ...]] = set()
        for number, (spoken, words) in enumerate(self._texts):
            if spoken.kind == "user":
                continue
            for place, run in _matching(words, wanted):
                if spoken.kind == "agent":
                    # Said before the result: the result repeats it. Said after it: the agent does.
                    own.add(run)
                elif run not in own:
                    for sentence, at in wanted[run]:
                        sentence.hits.append((at, number, place))

    def _search_names(self, names: Sequence[_Names], before: str) -> None:
        told = f" {' '.join(words_of(before))} "
        for one in names:
            one.is_own = f" {' '.join(one.words)} " in told
        for is_about_user in (True, False):
            for number, (spoken, words) in enumerate(self._texts):
                if (spoken.kind == "user") is not is_about_user:
                    continue
                for one in names:
                    place = None if one.is_own or one.found is not None else _place_of(words, one.words)
                    if place is not None and spoken.kind == "foreign":
                        one.found = (number, place)
                    elif place is not None:
                        one.is_own = True

    def _overlap(self, sentences: Sequence[_Sentence], names: Sequence[_Names]) -> Overlap | None:
        for sentence in sentences:
            if (place := _find_copy(sentence)) is not None:
                return self._describe(*place)
        found = next((one for one in names if one.found is not None), None)
        if found is None or found.found is None:
            return None
        return self._describe(*found.found, len(found.words))

    def _describe(self, number: int, start: int, count: int) -> Overlap:
        spoken = self._texts[number][0]
        assert spoken.source is not None, "only foreign texts are found"
        return Overlap(spoken.source, _sentence_at(spoken.text, start, count))


def _runs(words: Sequence[int]) -> Iterator[tuple[int, ...]]:
    # A shorter sentence is one run: it can only be found together with others.
    for at in range(len(words) - _RUN + 1):
        yield tuple(words[at : at + _RUN])


def _matching(
    words: array[int], wanted: dict[tuple[int, ...], list[tuple[_Sentence, int]]]
) -> list[tuple[int, tuple[int, ...]]]:
    starts = {run[0] for run in wanted}
    places = [at for at, word in enumerate(words) if word in starts]
    return [(at, run) for at in places if (run := tuple(words[at : at + _RUN])) in wanted]


def _place_of(words: array[int], looked_for: Sequence[str]) -> int | None:
    hashes = array("q", map(hash, looked_for))
    first, size = hashes[0], len(hashes)
    at = -1
    while True:
        try:
            at = words.index(first, at + 1)
        except ValueError:
            return None
        if words[at : at + size] == hashes:
            return at


def _find_copy(sentence: _Sentence) -> tuple[int, int, int] | None:
    """Where a sentence comes from: the foreign text, the first word there and how many; None if it is not copied."""
    most_needed = max(_FEWEST_WORDS, _SENTENCE_SHARE * sentence.weight)
    aligned: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    near: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    for hit in sentence.hits:
        at, number, place = hit
        # Each hit is in two groups that overlap by half, so that no border separates neighbours.
        for half in (0, 1):
            aligned.setdefault((number, 2 * ((place - at + half * _SHIFT) // (2 * _SHIFT)) + half), []).append(hit)
            near.setdefault((number, 2 * ((place + half * _WINDOW) // (2 * _WINDOW)) + half), []).append(hit)
    for groups, needed in ((near, most_needed), (aligned, _ALIGNED_WORDS)):
        for hits in groups.values():
            covered = {at + more for at, _, _ in hits for more in range(_RUN)}
            if sum(_weight(sentence.words[at]) for at in covered) >= needed:
                places = [place for _, _, place in hits]
                return hits[0][1], min(places), max(places) + _RUN - min(places)
    return None


def _sentence_at(text: str, start: int, count: int) -> str:
    """The sentences that contain `count` words of a text from word number `start` on."""
    composed = text if text.isascii() else unicodedata.normalize("NFC", text)
    folded, origin = composed.lower(), None
    if not composed.isascii():
        parts = [_FOLD[ord(char)] for char in composed]
        folded = "".join(parts)
        # The place in the original of each folded character: some letters become two, some none.
        origin = [at for at, part in enumerate(parts) for _ in part]
    found = list(_TOKEN.compiled.finditer(folded))[start : start + count]
    first, last = found[0].start(), found[-1].end() - 1
    if origin is not None:
        first, last = origin[first], origin[last]
    ends = [0, *[end.end() for end in _SENTENCE_END.compiled.finditer(composed)], len(composed)]
    begins = max(end for end in ends if end <= first)
    closes = min((end for end in ends if end > last), default=len(composed))
    shown = " ".join(composed[begins:closes].split())
    if len(shown) > _SHOWN_CHARS:
        # A page may be one long line: then the words themselves are shown.
        shown = " ".join(composed[first : last + 1].split())[:_SHOWN_CHARS]
    return shown
