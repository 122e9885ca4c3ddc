"""The stand-ins of one example as they are given out: one for each word, figure and address, the same everywhere."""

from __future__ import annotations

from collections.abc import Callable

from seasoned.template.anonymize.people import is_name
from seasoned.template.anonymize.shape import SeededDraw, like_case, like_figures
from seasoned.template.anonymize.span import FIGURES, LETTERS, LONG_FROM, POOLS, SHORTEST_FIGURES
from seasoned.template.anonymize.vocabulary import Vocabulary
from seasoned.template.anonymize.word_lists import ANYONE, KEPT, MAIL_HOSTS, MAILBOXES


class Substitutes:
    """Gives every value its stand-in, and remembers it."""

    def __init__(self, vocabulary: Vocabulary, seed: str) -> None:
        self.vocabulary = vocabulary
        self.seed = seed
        self.words: dict[str, str] = {}
        self.ids: dict[str, str] = {}
        self.padded: set[str] = set()
        """Numbers that were met with zeros in front."""
        self._used: set[str] = set()
        self._mail: dict[str, str] = {}

    def word(self, text: str, kind: str = "") -> str:
        """The stand-in of a word, in its case; another word has another one."""
        low = text.lower()
        known = self.words.get(low)
        if known is None:
            pool = POOLS[kind or ("long" if len(text) >= LONG_FROM else "short")]
            at = SeededDraw(self.seed, low).below(len(pool))
            # Two words never share a stand-in while the pool lasts, and none stands for itself.
            for step in range(len(pool)):
                known = pool[(at + step) % len(pool)]
                if known not in self._used and known != low:
                    break
            assert known is not None
            self.words[low] = known
            self._used.add(known)
        return like_case(known, text)

    def person(self, value: str, first: str = "given") -> str:
        """A name of one or several words: the first is a given name unless only the family's was asked for."""
        kinds = iter([first])
        return LETTERS.compiled.sub(lambda found: self.word(found.group(), next(kinds, "family")), self.numbered(value))

    def account(self, value: str) -> str:
        """Somebody's login; one that is nobody's stays."""
        low = value.lower()
        return value if low in ANYONE or low in KEPT else self.person(value)

    def numbered(self, value: str) -> str:
        """The value with other figures; one or two of them say nothing, and stand everywhere."""
        return FIGURES.compiled.sub(
            lambda found: self.figures(found.group()) if len(found.group()) >= SHORTEST_FIGURES else found.group(),
            value,
        )

    def figures(self, text: str) -> str:
        """As many other figures. A number is the same with and without zeros in front: parcel 8 is `GX-000008`."""
        bare = text.lstrip("0")
        if not bare:
            return text
        if bare != text:
            self.padded.add(bare)
        return text[: -len(bare)] + self.id(bare, like_figures)

    def id(self, text: str, like: Callable[[str, SeededDraw], str]) -> str:
        """The stand-in of an id."""
        known = self.ids.get(text)
        if known is None:
            known = self.ids[text] = like(text, SeededDraw(self.seed, text))
        return known

    def address(self, tag: str) -> str:
        """An e-mail address that reaches nobody, in the place of one that was redacted."""
        known = self._mail.get(tag)
        if known is None:
            at = SeededDraw(self.seed, tag).below(len(MAILBOXES) * len(MAIL_HOSTS)) + len(self._mail)
            box, host = MAILBOXES[at % len(MAILBOXES)], MAIL_HOSTS[at // len(MAILBOXES) % len(MAIL_HOSTS)]
            known = self._mail[tag] = f"{box}@{host}"
        return known

    def is_person(self, low: str) -> bool:
        """Whether a word in small letters names a person: said so in a session, or a common name."""
        return (is_name(low) or self.vocabulary.is_person(low)) and low not in KEPT
