"""What a first prompt asks for: which of the project's commands belong to it."""

from __future__ import annotations

from seasoned.command.written import Purpose
from seasoned.lazy_regex import LazyRegex

MOST_ITEMS = 2
# Only words that ask for the command itself. Files like test-secrets.txt and verbs like "check" say too little.
_ASKS: tuple[tuple[Purpose, LazyRegex], ...] = (
    (
        "test",
        LazyRegex(
            r"(?<![\w./-])(?:unit |integration |e2e |failing |broken )?tests?(?![\w/-]|\.\w|ing framework)"
            r"(?! (?:data|value|file|key|account|secret))"
        ),
    ),
    ("check", LazyRegex(r"(?<![\w./-])(?:lint\w*|type[- ]?check\w*|type errors?|ci)(?![\w/-]|\.\w)")),
    ("format", LazyRegex(r"(?<![\w./-])(?:fmt|gofmt|formatting|reformat)(?![\w/-]|\.\w)")),
    ("build", LazyRegex(r"(?<![\w./-])(?:build|compile|compiler|compilation|bundle)(?:s|d|ing)?(?![\w/-]|\.\w)")),
)


def purposes_in(prompt: str) -> tuple[Purpose, ...]:
    """What a prompt asks to be done, the first mentioned first."""
    text = prompt[:4000].lower()
    found = [(pattern.compiled.search(text), purpose) for purpose, pattern in _ASKS]
    return tuple(purpose for _, purpose in sorted((match.start(), purpose) for match, purpose in found if match))
