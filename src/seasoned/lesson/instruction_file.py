"""Whether the files in which people instruct their agents already say something."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from seasoned.command.parse import names
from seasoned.lazy_regex import LazyRegex
from seasoned.lesson.task_file import read_small, upward

_FILES = ("CLAUDE.md", "AGENTS.md", "GEMINI.md", ".claude/CLAUDE.md")
_MOST_FILES = 20
_IMPORT = LazyRegex(r"(?m)(?:^|[ \t(])@([\w.][\w./-]*\.md)\b")
_MARKS = LazyRegex(r"[`*\"“”]+")
# A sentence ends with a full stop, an item of a list or a blank line; lines that only wrap belong together.
_END = LazyRegex(r"[.!?;](?=\s|$)|\n\s*(?=[-*+#|>\n]|\d+\.)|\n\s*\n")
_WORD = LazyRegex(r"[a-z0-9_][\w./:@'’+-]*[\w'’]|[a-z0-9]")
_SMALL = names(
    "a against an and any are as at be before by can do each every everything for from have i if in into is it its make"
    " must of on or our please should so sure than that the their them then there these this to us use using we when"
    " where which will with you your always just only run"
)
_NOT = names("never not no dont don't cannot can't without avoid instead rather nor isn't doesn't shouldn't mustn't")
_WORDS_PER_MISS = 6  # one in six words may be another: in a short rule each word decides
_FEWEST = 3  # words besides the small ones; fewer say too little to be compared


def instructions_say(text: str, folder: Path) -> bool:
    """Whether an instruction file of a folder, or of one above it in the checkout, has this command or sentence."""
    wanted = _plain(text)
    if not wanted:
        return False
    # Not as a part of a longer word: `make test` is not said by `cmake tests`.
    written = re.compile(rf"(?<![\w./:-]){re.escape(wanted)}(?![\w:-]|[./]\w)")
    words, refused = _words(wanted)
    most_missing = len(words) // _WORDS_PER_MISS
    for instructions in _instructions(folder):
        if written.search(_plain(instructions)):
            return True
        for sentence in _END.compiled.split(instructions.lower()) if len(words) >= _FEWEST else ():
            there, refused_there = _words(sentence)
            # "Use npm, not pnpm" has the words of "use pnpm, not npm".
            if len(words - there) <= most_missing and refused == refused_there & words:
                return True
    return False


def _plain(text: str) -> str:
    return " ".join(_MARKS.compiled.sub("", text.lower()).split()).rstrip(".! ")


def _words(sentence: str) -> tuple[set[str], set[str]]:
    """The words of a sentence without the small ones, and those that stand behind a "not" or "never"."""
    words: set[str] = set()
    refused: set[str] = set()
    is_refused = False
    for word in _WORD.compiled.findall(_MARKS.compiled.sub("", sentence).replace("’", "'")):
        if word in _NOT:
            is_refused = True
        elif word not in _SMALL:
            one = word.rstrip("s") or word
            words.add(one)
            refused |= {one} if is_refused else set()
            is_refused = False
    return words, refused


def _instructions(folder: Path) -> Iterator[str]:
    """The text of each instruction file, and of those that they import."""
    rest = [place / name for place in upward(folder) for name in _FILES]
    seen: set[Path] = set()
    for path in rest:
        text = read_small(path) if path not in seen and len(seen) < _MOST_FILES else None
        if text is not None:
            seen.add(path)
            yield text
            rest += [path.parent / name for name in _IMPORT.compiled.findall(text)]
