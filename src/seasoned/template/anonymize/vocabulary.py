"""What recurs over lineages: parts that belong to the tools and the work, and not to one session."""

from __future__ import annotations

from collections.abc import Iterable

from seasoned.insight.track import Track
from seasoned.lazy_regex import LazyRegex
from seasoned.template.anonymize.word_lists import ANYONE, KEPT

# A prefix that as many ids share (`credit_card_…`) says what they are ids of; a person has one id.
_TAILS = 3
_PART = LazyRegex(r"[A-Za-z0-9_.@~+-]{2,80}")
_ID = LazyRegex(r"([A-Za-z][A-Za-z]*(?:[_-][A-Za-z]+)*[_-])(\d{3,})\Z")
# Names of arguments whose values are names of people.
PERSON_NAMES = (
    r"(?:(?:first|last|full|given|family|middle|display|customer|contact|author|passenger)_?[Nn]ame|surname|author"
    r"|assignee)"
)
_NAMED = LazyRegex(rf'"{PERSON_NAMES}"\s*:\s*"([^"\\]{{2,60}})"')
_HOME = LazyRegex(r"(?:/home/|/Users/|\\\\Users\\\\)([A-Za-z][\w.-]{1,40})")
_WORD = LazyRegex(r"[^\W\d_]{2,}")


class Vocabulary:
    """Counts in how many lineages a part was seen; names of people are never a part that stays."""

    def __init__(self) -> None:
        self._parts: dict[str, set[str]] = {}
        self._named: set[str] = set()
        self._homes: set[str] = set()
        self._recurring: frozenset[str] | None = None
        self._prefixes: frozenset[str] = frozenset()

    def add(self, root: str, value: str) -> None:
        """Adds a value that a lineage used: a text, or the arguments of a call as JSON."""
        self._recurring = None
        parts = self._parts.get(root)
        if parts is None:
            parts = self._parts[root] = set()
        parts.update(_PART.compiled.findall(value))
        if "ame" in value or "author" in value or "assignee" in value:
            self._named.update(_NAMED.compiled.findall(value))
        if "/home/" in value or "Users" in value:
            self._homes.update(_HOME.compiled.findall(value))

    def recurs(self, part: str) -> bool:
        """Whether a part was seen in at least two lineages."""
        if self._recurring is None:
            self._settle()
        assert self._recurring is not None
        return part in self._recurring

    def is_prefix(self, prefix: str) -> bool:
        """Whether several ids begin with this, so that it says what they are ids of."""
        if self._recurring is None:
            self._settle()
        return prefix in self._prefixes

    def is_person(self, word: str) -> bool:
        """Whether a word was met as a name of a person."""
        if self._recurring is None:
            self._settle()
        return word.lower() in self._people

    def is_account(self, word: str) -> bool:
        """Whether a word was met as the name of a home folder."""
        return word in self._homes and word.lower() not in ANYONE

    def _settle(self) -> None:
        once: set[str] = set()
        twice: set[str] = set()
        for parts in self._parts.values():
            twice |= once & parts
            once |= parts
        self._recurring = frozenset(twice)
        tails: dict[str, set[str]] = {}
        for part in once:
            if part[-1].isdigit() and (found := _ID.compiled.match(part)):
                tails.setdefault(found.group(1), set()).add(found.group(2))
        self._prefixes = frozenset(prefix for prefix, known in tails.items() if len(known) >= _TAILS)
        words = {word.lower() for name in self._named for word in _WORD.compiled.findall(name)}
        self._people = frozenset(words - KEPT - ANYONE)

    _people: frozenset[str] = frozenset()


def vocabulary_of(tracks: Iterable[Track]) -> Vocabulary:
    """The vocabulary of sessions: their arguments, and the short answers that came back."""
    vocabulary = Vocabulary()
    for track in tracks:
        given = [call.raw_arguments for call in track.calls]
        told = [call.result for call in track.calls if call.result and "_name" in call.result]
        # One look at all of it is quicker; nothing that is looked for goes over such a line.
        vocabulary.add(track.root, "\n\\\n".join(given + told))
    return vocabulary
