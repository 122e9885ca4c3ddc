"""Sentences in places where a call needs none: beside what a command runs, and in names.

No list of phrases knows every language, so this asks only how a text is built: words in a row, without the signs of
code. What a command runs is seldom written like that; what a page wants a model to read always is.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from seasoned.lazy_regex import LazyRegex

# So many words in a row are a sentence; of scripts without spaces so many characters.
_SENTENCE_WORDS = 4
_SENTENCE_CHARS = 8
# Names of branches and scripts are made of words, too, but seldom of so many.
_JOINED_WORDS = 6
# How long a name may be, and from how many words on one that is not short is a sentence.
_NAME_CHARS = {True: 64, False: 32}  # of a tool, which may begin with the name of its server, and of an argument
_NAME_WORDS = {True: 6, False: 5}
_SHORT_NAME_CHARS = {True: 32, False: 24}
_NAME = LazyRegex(r"[A-Za-z0-9_.:/$@-]{1,120}\Z")
# "And" and "without" between words, in languages in which tools are seldom named but sentences are written.
_JOINING = LazyRegex(
    r"(?i)[a-z]{4,}_(?:und|och|ja|oraz|ohne|utan|ilman|uten|uden|zonder|sans|sin|sem|senza|bez|fara|tanpa|bila|olmadan)"
    r"_[a-z]{4,}"
)
_NAME_PARTS = LazyRegex(r"[_.:/$@-]+|(?<=[a-z0-9])(?=[A-Z])")
_TOKEN = LazyRegex(
    r"\"((?:\\.|[^\"\\])*)\"|'([^']*)'|(?<![^\s;&|()])#([^\n]*)|([^\s\"'#;&|()]+|#)|[;&|()\n]+",
)
_SPACELESS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_CHARS = LazyRegex(rf"[{_SPACELESS}]")
# Letters with their marks; a comma, a full stop or an apostrophe does not end a row of words.
_ROW = LazyRegex(rf"[^\W\d_{_SPACELESS}][^\s\d_=(){{}}\[\]<>/\\|&;$*+@#%~`\"{_SPACELESS}]*(?=\s|\Z)")
_OPERATORS = frozenset(("and", "or", "not"))
_SQL = LazyRegex(r"(?i)\s*(?:select|insert|update|delete|with|create|alter|explain|show|pragma|describe|merge)\b")
_SCRIPT_OPTION = LazyRegex(r"-[a-z]*[ce]\Z|--(?:command|eval|execute)\Z")
_PRINTS = frozenset(("echo", "printf", ":"))
_JOINED = LazyRegex(r"[^\W\d_]+(?:[-_][^\W\d_]+)*\Z")


def is_named_plainly(name: str, *, is_tool: bool = False) -> bool:
    """Whether the name of a tool or an argument is one, and not a sentence whose words are joined."""
    if not _NAME.compiled.match(name) or len(name) > _NAME_CHARS[is_tool]:
        return False
    own = name.rpartition("__")[2] if is_tool else name
    if _JOINING.compiled.search(own):
        return False
    words = sum(map(bool, _NAME_PARTS.compiled.split(own)))
    # `find_user_id_by_name_zip` has as many words as a sentence, but short ones.
    return words < _NAME_WORDS[is_tool] or len(own) <= _SHORT_NAME_CHARS[is_tool]


@lru_cache(maxsize=4096)
def tells_in_command(command: str) -> bool:
    """Whether a command holds a sentence: in a comment, a quoted text, a variable, what it prints, or a name."""
    return any(map(_is_sentence, _texts(command)))


def _texts(command: str, depth: int = 3) -> Iterator[str]:
    """The parts of a command that are not its plain words; scripts in it are taken apart as well."""
    before, printed = "", False
    for found in _TOKEN.compiled.finditer(command):
        double, single, comment, bare = found.groups()
        quoted = double if double is not None else single
        if comment is not None:
            yield comment
        elif quoted is not None:
            if _SCRIPT_OPTION.compiled.search(before) and depth:
                yield from _texts(quoted, depth - 1)
            elif not _SQL.compiled.match(quoted):
                yield _parted(quoted)
        elif bare is None:
            printed = False
        elif printed:
            yield _printed(command, found.start())
            printed = False
        else:
            yield _parted(bare)
            printed = bare in _PRINTS
        before = bare or ""


def _parted(word: str) -> str:
    """A name that joins many words as these words: a branch can be named like a sentence."""
    parts = word.replace("_", "-").split("-") if _JOINED.compiled.match(word) else ()
    return " ".join(parts) if len(parts) >= _JOINED_WORDS else word


def _printed(command: str, start: int) -> str:
    """What is printed without quotes, up to the next command."""
    end = next((at for at in range(start, len(command)) if command[at] in ";&|>\n"), len(command))
    return command[start:end]


def _is_sentence(text: str) -> bool:
    if len(_CHARS.compiled.findall(text)) >= _SENTENCE_CHARS:
        return True
    row, ends = 0, -1
    for word in _ROW.compiled.finditer(text):
        if word[0].strip(",.:!?").lower() in _OPERATORS:
            row, ends = 0, -1
            continue
        is_next = ends >= 0 and not text[ends : word.start()].strip()
        row, ends = (row + 1 if is_next else 1), word.end()
        if row >= _SENTENCE_WORDS:
            return True
    return False
