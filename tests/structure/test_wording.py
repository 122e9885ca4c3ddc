"""Messages, help, pages, docs and docstrings sound like the tools our users know: no word from the list below.

The list is short and exact. Each entry is a wording that a reader stumbles over, with what to write instead.
"""

from __future__ import annotations

import re

import pytest

from tests.structure.source_tree import PACKAGE, ROOT

INSTEAD = {
    r"\banew\b": "restart, reload, rebuild, again",
    r"\bmend(?:s|ed|ing)?\b": "fix",
    r"\b(?:whoever|thereby)\b": "the plain noun, or leave it out",
    r"\b(?:some|no|every)body\b": "the plain noun: a person, another process, no one is needed",
    r"\bof its own\b": "its own, separate, or leave it out",
    r"\b(?:is|are|was|were) told\b": "sees, gets, is shown",
    r"\btaken back\b": "undone",
    r"(?<!\bthere )(?<!\bThere )\bis no (?!longer\b|more\b|less\b|one\b|different\b|\()": "is not a valid …, is not …",
    r"\b(?:clerk|desk|errand|courier)s?\b": "the name of the part",
    r"\bin (?:this|the|a|each|every|another) (?:room|house)\b|\b(?:rooms|doors)\b": "package, entry point",
    r"\blooked at in\b|\bwith news\b": "Scanned 29 files, 27 changed",
    r"\bNothing waits\b": "No pending requests",
}
FOUND = {re.compile(pattern): better for pattern, better in INSTEAD.items()}
# Word lists by which texts of other people are recognised are data, not our wording.
DATA = ("samples/",)
SUFFIXES = {".py", ".html", ".md", ".sql", ".js", ".toml", ".txt"}


def _is_data(name: str) -> bool:
    return any(part in name for part in DATA) and not name.endswith(".py")


def problems(name: str, text: str) -> list[str]:
    """Each wording of the list that stands in a text, with its line and what to write instead."""
    return [
        f"{name}:{number}: {match[0]!r}: write {better}"
        for number, line in enumerate(text.splitlines(), start=1)
        for pattern, better in FOUND.items()
        if (match := pattern.search(line))
    ]


def test_texts_use_plain_english() -> None:
    ours = [*PACKAGE.rglob("*"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md"), ROOT / "Makefile"]
    found = []
    for path in ours:
        name = path.relative_to(ROOT).as_posix()
        if path.is_file() and (path.suffix in SUFFIXES or path.name == "Makefile") and not _is_data(name):
            found += problems(name, path.read_text("utf-8"))
    assert not found, f"{len(found)} wordings:\n" + "\n".join(sorted(found))


@pytest.mark.parametrize(
    "text",
    ["start the gateway anew", "'x' is no JSON: mend it", "whoever asks", "Nobody waits", "The model is told why"],
)
def test_a_wording_of_the_list_is_found(text: str) -> None:
    assert problems("x.py", text) or problems("x.py", text.lower())


def test_plain_sentences_pass() -> None:
    assert (
        problems("x.py", "x is not valid JSON. Fix it and try again. There is no gateway; it is no longer here.") == []
    )
