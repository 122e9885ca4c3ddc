"""What in a command belongs to one day's work: an id, a path of one machine, one file, one test, a message.

The form and the options of a command hold for other sessions too. These words do not, and a session that copies them
runs something else than it wants to.
"""

from __future__ import annotations

from collections.abc import Iterator

from seasoned.command.parse import names
from seasoned.command.written import written
from seasoned.lazy_regex import LazyRegex

ELLIPSIS = "…"
_WORD = LazyRegex(r"(?:\"[^\"]*\"|'[^']*'|\S)+")
_ONE_OFF = LazyRegex(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-"
    # A commit, or another id in hexadecimal digits.
    r"|(?<!\w)(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{7,64}(?!\w)"
    # A place on one machine; `//web:all` is a target.
    r"|(?:^|[=:\"'])(?:/(?!/)|~|\$HOME\b|[A-Za-z]:\\)"
    # A message, a program or a query: several words in quotes.
    r"|[\"'][^\"']*\s"
    # From one revision to another.
    r"|\w\.{2,3}\w"
    # One test of a file.
    r"|\w::\w"
)
_NUMBER = LazyRegex(r"#?\d+\Z")
_FILE = LazyRegex(r"[\w\])-]\.(?P<suffix>[A-Za-z]\w{0,5})(?::\d+)*[\"']?\Z")
# Behind an option most files say how something is done: `-r requirements.txt`, `-f compose.yml`. These are worked on.
_SOURCES = names(
    "py pyi js mjs cjs ts tsx jsx vue svelte go rs java kt c h cc cpp hpp cs rb php swift lua ex exs scala dart md rst"
    " html css scss sql ipynb"
)
# Options that choose single tests.
SELECTIONS = frozenset({"-k", "-run", "--grep", "--filter", "--tests", "--test-name-pattern", "--testNamePattern"})
_NAMES_TEST = SELECTIONS - {"--filter"} | {"-t"}  # `--filter` chooses a part of a monorepo as well


def names_tests(command: str) -> bool:
    """Whether a test command runs only the tests that it names: a file, a name or a part of one."""
    parts = written(command)
    words = parts[-1].words[1:] if parts else ()
    return any(_is_test(before, word) for before, word in zip(("", *words), words, strict=False))


def _is_test(before: str, word: str) -> bool:
    if "::" in word or word.partition("=")[0] in _NAMES_TEST:
        return True
    found = _FILE.compiled.search(word)
    return found is not None and found["suffix"].lower() in _SOURCES and not before.startswith("-")


def whole_form(form: str) -> str:
    """The form of a command without the mark that it ran only some tests."""
    return form.removesuffix(f" {ELLIPSIS}")


def without_one_offs(command: str) -> str:
    """The command with an ellipsis for each word that belongs to one day's work; unchanged if there is none."""
    parts = written(command)
    if not parts or not command.endswith(parts[-1].text):
        return command
    last = parts[-1]
    words = [found[0] for found in _WORD.compiled.finditer(last.text)]
    # A program that is written with its folder is not a word of the form: then only the first word is.
    at = _form_length(words, last.form) or 1
    kept = [_without_place(word) for word in words[:at]]
    for word in _lasting(words[at - 1], words[at:]):
        if not (word == ELLIPSIS == kept[-1]):
            kept.append(word)
    # As it was written, if nothing was left out.
    return command if kept == words else command[: -len(last.text)] + " ".join(kept)


def head_of(command: str, form: str) -> str:
    """A command up to the last word of its form, with the options before it: `mise exec -- go test`."""
    words = [found[0] for found in _WORD.compiled.finditer(command)]
    return " ".join(words[:at]) if (at := _form_length(words, form)) else form


def outline_of(command: str, form: str) -> str:
    """A command with the names of its options, and an ellipsis for their values and for operands."""
    head, kept = head_of(command, form), list[str]()
    for word in command[len(head) :].split():
        name, joined, _ = word.partition("=")
        shown = (f"{name}={ELLIPSIS}" if joined else word) if word.startswith("-") else ELLIPSIS
        if not (shown == ELLIPSIS and kept[-1:] == [ELLIPSIS]):
            kept.append(shown)
    return " ".join([head, *kept])


def _form_length(words: list[str], form: str) -> int:
    """How many words of a command its form takes; 0 if it is written in another way."""
    waiting = form.split()
    for at, word in enumerate(words):
        if waiting and word == waiting[0]:
            del waiting[0]
        if not waiting:
            return at + 1
    return 0


def _without_place(word: str) -> str:
    """A variable in front of a command without a place on one machine: `GOCACHE=/tmp/a`."""
    name, joined, value = word.partition("=")
    return f"{name}={ELLIPSIS}" if joined and name.isidentifier() and _ONE_OFF.compiled.search(value) else word


def _lasting(before: str, words: list[str]) -> Iterator[str]:
    for word in words:
        if not _is_one_off(before, word):
            yield word
        elif word.startswith("-") and "=" in word:
            yield f"{word.partition('=')[0]}={ELLIPSIS}"
        else:
            yield ELLIPSIS
        before = word


def _is_one_off(before: str, word: str) -> bool:
    if _ONE_OFF.compiled.search(word) or before in SELECTIONS:
        return True
    name, joined, value = word.partition("=")
    if joined and name in SELECTIONS:
        return True
    is_value = bool(joined) if word.startswith("-") else before.startswith("-") and before != "--"
    if _NUMBER.compiled.match(word):
        return not is_value
    found = _FILE.compiled.search(value if joined else word)
    # `-c eslint.config.mjs` says how, whatever language it is written in.
    is_how = is_value and found is not None and (found["suffix"].lower() not in _SOURCES or "config" in word)
    return found is not None and not is_how
