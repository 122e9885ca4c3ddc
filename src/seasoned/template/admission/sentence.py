"""Finds sentences where a call needs none: beside what a command runs, and in names.

No list of phrases knows every language, so the build of a text counts: words in a row without the signs of code, and
among joined words those that hold a sentence together. Commands are seldom written like that; what a page wants a
model to read always is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from urllib.parse import unquote

from seasoned.command.parse import names
from seasoned.lazy_regex import LazyRegex
from seasoned.template.admission.injection import is_injection

# This many words in a row are a sentence, or this many characters in scripts without spaces.
_SENTENCE_WORDS = 4
_SENTENCE_CHARS = 8
# Names of branches and folders are made of words, too, but seldom of so many; those of functions may be longer.
_JOINED_WORDS = 5
_IDENTIFIER_WORDS = 6
# Joined words are a sentence from so many on if so many of them hold others together; one less among more words.
_HELD_WORDS = 4
_MOST_HELD = 3
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
# Words that hold a sentence together: articles, pronouns, auxiliaries, conjunctions, negations. Every language has few
# of them, and names of things need hardly any. Prepositions do stand in names (`find_by_id`), so they count less.
_HOLDING = names(
    "the an are was were been has have had may must shall should will would cannot never always you your yours we they"
    " their this that these those because since even says said lets please anyone anything everything whatever"
    # German, Dutch, Scandinavian
    " der die das den dem des ein eine einen einem ist sind wird werden darf kann muss soll und oder nicht kein keine"
    " alle allen immer zuerst ohne bitte dass wenn wegen het een zijn mag moet niet geen altijd zonder alles"
    " och att inte alltid utan och ikke altid uden maa skal"
    # French, Spanish, Portuguese, Italian, Romanian
    " le la les des du une est sont doit peut pas sans toujours tous toutes aux avec pour el los las una es son debe"
    " puede siempre todos todas para sin sus ya um uma os ao aos pode deve sempre nao sem todos il lo gli dei della"
    " delle nel nella sono puo deve senza tutti tutte non che si este sunt poate trebuie fara toate"
    # Slavic in Latin letters, Turkish, Finnish, Hungarian, Indonesian, Swahili
    " nie jest przed bez oraz mozna wszystkie vse bez nebo neni musi veya icin olmadan her onu on ja ei aina ilman"
    " kaikki egy nem minden yang dan tidak boleh tanpa semua kwa wote bila"
)
_PREPOSITIONS = names(
    "to of in on at by for from with without into before after and or if then not no all any when while once as is be"
    " do a it its en de et y e o i w z na do po za od"
)
# Who allows something, and that they do: a name such as `ownerAcceptsUnsignedReleases` claims an approval.
_GRANTS = LazyRegex(
    r"(?i)\b(?:owner|user|lead|boss|chief|manager|management|maintainers?|reviewers?|admins?|operator|client|customer|team"
    r"|cto|ceo|legal|security)(?: has| have)? (?:accepts?|accepted|allows?|allowed|permits?|permitted|approves?|waives?"
    r"|waived|agrees?|agreed|oks?|okays?|consents?|consented|authori[sz]es?|lets|said|says|wants|confirms)\b"
)
_TOKEN = LazyRegex(
    r"\"((?:\\.|[^\"\\])*)\"|'([^']*)'|(?<![^\s;&|()])#([^\n]*)|([^\s\"'#;&|()]+|#)|[;&|()\n]+",
)
_SPACELESS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_CHARS = LazyRegex(rf"[{_SPACELESS}]")
# Letters with their marks; a comma, a full stop or an apostrophe does not end a row of words.
_ROW = LazyRegex(rf"[^\W\d_{_SPACELESS}][^\s\d_=(){{}}\[\]<>/\\|&;$*+@#%~`\"{_SPACELESS}]*(?=\s|\Z)")
_OPERATORS = frozenset(("and", "or", "not"))
_SQL = LazyRegex(r"(?i)\s*(?:select|insert|update|delete|with|create|alter|explain|show|pragma|describe|merge)\b")
_SQL_COMMENT = LazyRegex(r"--([^\n]*)|/\*(.*?)\*/")
_DIGIT_IN_WORD = LazyRegex(r"(?<=[^\W\d_])\d|\d(?=[^\W\d_]{2})")
_SCRIPT_OPTION = LazyRegex(r"-[a-z]*[ce]\Z|--(?:command|eval|execute)\Z")
# What stands behind these is written for people, so joined words are words there.
_MESSAGE_OPTION = LazyRegex(r"-[a-z]*m\Z|--(?:message|title|body|notes?|description|comment|reason|subject)\Z")
_PRINTS = frozenset(("echo", "printf", ":"))
# A here-document that is only printed; one that is written to a file or read by a program holds what it is for.
_PRINTED_BODY = LazyRegex(r"(?s)\bcat[ \t]*<<-?[ \t]*['\"]?(\w+)['\"]?[ \t]*\n(.*?)\n[ \t]*\1\b")
_JOINED = LazyRegex(r"[^\W\d_]+(?:[-_][^\W\d_]+)*\Z")
# What separates names in a word of a command: `tests/test_cart.py::test_total`, `SUITE=unit`.
_NAMES_IN = LazyRegex(r"/|::|=|,|\\|\|")
# What a name is taken for that says a sentence, whatever its words are.
_ANY_SENTENCE = "these words say something"
_BLANK = LazyRegex(r"\s")
_FILE = LazyRegex(r"[^.]+(?:\.[\w-]+)?\.[a-zA-Z][a-zA-Z0-9]{0,4}\Z")


def words_in(name: str) -> str:
    """The words of a name such as `ignore_previous_instructions` or `ignorePreviousInstructions`."""
    return " ".join(_parts(name))


def _parts(name: str) -> list[str]:
    return [part for part in _NAME_PARTS.compiled.split(name) if part]


def _grants(name: str) -> bool:
    """Whether a name claims that someone allows something."""
    return _GRANTS.compiled.search(words_in(name)) is not None


def is_named_plainly(name: str, *, is_tool: bool = False) -> bool:
    """Whether the name of a tool or an argument is a plain name, and not a sentence with its words joined."""
    if not _NAME.compiled.match(name) or len(name) > _NAME_CHARS[is_tool]:
        return False
    if _grants(name) or is_injection(words_in(name)):
        return False
    # The name of a server can be a sentence, too: `mcp__reviews_are_off__lookup`.
    *servers, own = name.split("__") if is_tool else (name,)
    if _JOINING.compiled.search(own) or any(_is_joined_sentence(_parts(part), loosely=True) for part in servers):
        return False
    words = _parts(own)
    if _is_joined_sentence(words):
        return False
    # `find_user_id_by_name_zip` has as many words as a sentence, but short ones.
    return len(words) < _NAME_WORDS[is_tool] or len(own) <= _SHORT_NAME_CHARS[is_tool]


def _is_joined_sentence(words: Sequence[str], *, loosely: bool = False, fewer: int = 0) -> bool:
    """Whether joined words are held together as those of a sentence are.

    `loosely`: prepositions count as well. `fewer`: so many words less have to hold the others.
    """
    if len(words) < _HELD_WORDS:
        return False
    held = fewer + sum(_holds(word, loosely=loosely) for word in words)
    return held >= _MOST_HELD or (held == _MOST_HELD - 1 and len(words) > _HELD_WORDS)


def _holds(word: str, *, loosely: bool = False) -> bool:
    lowered = word.lower()
    return lowered in _HOLDING or (loosely and lowered in _PREPOSITIONS)


@lru_cache(maxsize=4096)
def tells_in_command(command: str) -> bool:
    """Whether a command contains a sentence: in a comment, a quoted text, a variable, its output, or a name."""
    if "%20" in command:
        command = f"{command}\n# {unquote(command)}"
    printed = [body[2] for body in _PRINTED_BODY.compiled.finditer(command)] if "<<" in command else []
    return any(map(_is_sentence, (*printed, *_texts(command))))


def _texts(command: str, depth: int = 3) -> Iterator[str]:
    """The comments, quoted texts, names and printed texts of a command, including those of scripts in it."""
    before, printed = "", False
    for found in _TOKEN.compiled.finditer(command):
        double, single, comment, bare = found.groups()
        quoted = double if double is not None else single
        if comment is not None:
            # In Latin letters some languages write sounds as digits: `sama7`.
            yield _DIGIT_IN_WORD.compiled.sub("", comment)
        elif quoted is not None:
            if _SQL.compiled.match(quoted):
                yield from (first or second for first, second in _SQL_COMMENT.compiled.findall(quoted))
            elif _SCRIPT_OPTION.compiled.search(before) and depth:
                yield from _texts(quoted, depth - 1)
            else:
                yield _parted(quoted, is_message=_MESSAGE_OPTION.compiled.match(before) is not None)
        elif bare is None:
            printed = False
        elif printed:
            yield _printed(command, found.start())
            printed = False
        else:
            yield _parted(bare, is_message=_MESSAGE_OPTION.compiled.match(before) is not None)
            printed = bare in _PRINTS
        before = bare or ""


def _parted(word: str, *, is_message: bool) -> str:
    """A name made of many words, split into them: a branch can be named like a sentence."""
    if not is_message and not _BLANK.compiled.search(word) and any(map(_is_said, _NAMES_IN.compiled.split(word))):
        return _ANY_SENTENCE
    least = 2 if is_message else _IDENTIFIER_WORDS if "_" in word else _JOINED_WORDS
    parts = word.replace("_", "-").split("-") if _JOINED.compiled.match(word) else ()
    return " ".join(parts) if len(parts) >= least else word


def _is_said(name: str) -> bool:
    """Whether one name in a path, of a test, a variable, a target or a task says a sentence."""
    if _grants(name):
        return True
    if _FILE.compiled.match(name):
        return False
    words = [part for part in _parts(name) if part.isalpha()]
    if name.isupper():
        # Names of variables are short.
        return len(words) >= _IDENTIFIER_WORDS or _is_joined_sentence(words, fewer=1)
    if "_" in name or "-" in name:
        return len(words) >= _IDENTIFIER_WORDS and _is_joined_sentence(words, loosely=name.islower())
    # Modules and tasks are joined by full stops and colons, functions by capitals, which seldom join a sentence.
    return _is_joined_sentence(words, loosely=name.islower(), fewer=int(name.islower()))


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
