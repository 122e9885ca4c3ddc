"""The project speaks of itself alone: no address of a registry, no path of one machine, no number of a ticket."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.structure.source_tree import ROOT

# Put together from parts, so that this file does not hold what it looks for.
_REGISTRIES = "|".join(
    re.escape(".".join(parts))
    for parts in [
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("registry", "npmjs", "org"),
        ("registry", "yarnpkg", "com"),
        ("repo", "anaconda", "com"),
        ("conda", "anaconda", "org"),
        ("index", "crates", "io"),
        ("static", "crates", "io"),
        ("proxy", "golang", "org"),
        ("repo", "maven", "apache", "org"),
    ]
)
_PLACES = "/" + r"work/|\.\./" + r"shared\b"
_TICKETS = r"(?i:\bissues?|\bpull requests?|\btickets?|\bPR|\bGH)[ -]?#\d+|\bGH-\d+"
ADDRESS = re.compile(rf"(?i)\b(?:[a-z0-9-]+\.)*(?:{_REGISTRIES})\b")
PLACE = re.compile(rf"(?<![\w.~\-/>])(?:{_PLACES})")
TICKET = re.compile(_TICKETS)


def _files() -> list[Path]:
    """Everything that is in the project's history, or would be at the next commit."""
    try:
        done = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, check=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"needs a checkout that git can read: {error}")
    return [ROOT / name.decode() for name in done.stdout.split(b"\0") if name]


def _texts() -> Iterator[tuple[str, str]]:
    for path in _files():
        if path.is_file():
            yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8", "replace")


def found(pattern: re.Pattern[str], name: str, text: str) -> Iterator[str]:
    """Where a pattern stands in a text."""
    for number, line in enumerate(text.splitlines(), start=1):
        if match := pattern.search(line):
            yield f"{name}:{number}: {match[0]}"


def _may_name_a_place(name: str, text: str) -> bool:
    """A test may look for data beside the checkout if it says so and skips where there is none."""
    return name.startswith("tests/") and re.search(r"pytest\.skip\(|skipif\(", text) is not None


def test_no_file_names_a_registry() -> None:
    places = [place for name, text in _texts() for place in found(ADDRESS, name, text)]
    assert not places, "\n".join(places)


def test_no_file_names_a_place_outside_the_project() -> None:
    texts = [(name, text) for name, text in _texts() if not _may_name_a_place(name, text)]
    places = [place for name, text in texts for place in found(PLACE, name, text)]
    assert not places, "\n".join(places)


def test_no_file_names_a_ticket() -> None:
    places = [place for name, text in _texts() for place in found(TICKET, name, text)]
    assert not places, "\n".join(places)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (ADDRESS, "see https://files." + "pythonhosted" + ".org/packages"),
        (PLACE, "cd /" + "work/main"),
        (PLACE, "see .." + "/shared/data"),
        (TICKET, "as in issue" + " #12"),
        (TICKET, "PR" + "#7"),
    ],
)
def test_the_words_are_found(pattern: re.Pattern[str], text: str) -> None:
    assert list(found(pattern, "x", text))


@pytest.mark.parametrize("text", ["/home/mira/work/notes", "network/", "parcel #12", "an issue of #W0052025"])
def test_other_words_are_left_alone(text: str) -> None:
    assert [*found(ADDRESS, "x", text), *found(PLACE, "x", text), *found(TICKET, "x", text)] == []
