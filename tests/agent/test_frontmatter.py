"""The front matter of skills: read as YAML would, refused in one sentence where it is not understood."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.agent.skill.frontmatter import compose, parse, quoted
from seasoned.errors import UsageError


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("description: plain words, and more", "plain words, and more"),
        ("description: plain # a comment", "plain"),
        ("description: no#comment: here", "no#comment: here"),
        ("description: over\n  two lines", "over two lines"),
        ("description:\n  below", "below"),
        ("description: 'it''s quoted'", "it's quoted"),
        ('description: "a \\"b\\" \\u00e9 \\x41\\t\\\\"', 'a "b" é A \\'),
        ('description: "over\n  lines" # c', "over lines"),
        ("description: |\n  line one\n  line two\n", "line one line two"),
        ("description: >-\n  folded\n  text\n\n  more", "folded text more"),
        ("description: Use when: the user asks", "Use when: the user asks"),
        ("# first\ndescription: x\nmetadata:\n  description: inner\ntags:\n- a\n- b", "x"),
    ],
)
def test_descriptions_are_read_as_they_are_meant(field: str, value: str) -> None:
    document = parse(f"---\nname: n\n{field}\n---\nbody\n")
    assert (document.name, document.description, document.body) == ("n", value, "body\n")


@pytest.mark.parametrize(
    ("head", "why"),
    [
        ("name: n", "has no 'description'"),
        ("name: n\ndescription:", "'description' is empty"),
        ("name: n\nname: m\ndescription: x", "'name' twice"),
        ("name: n\ndescription: &anchor x", "no plain text"),
        ("name: n\ndescription: !tag x", "no plain text"),
        ("name: n\ndescription: [a]", "no plain text"),
        ("name: n\ndescription: 'open", "without its end"),
        ("name: n\nwhat is this\ndescription: x", "no `field: value`"),
        ("  name: n\ndescription: x", "indented below nothing"),
        ("name:n\ndescription: x", "no `field: value`"),
    ],
)
def test_what_is_not_understood_is_refused_in_one_sentence(head: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as caught:
        parse(f"---\n{head}\n---\nbody\n")
    assert "\n" not in str(caught.value)


@given(st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1).filter(lambda text: text.split()))
def test_what_is_composed_reads_back(text: str) -> None:
    wanted = " ".join(text.split())
    document = parse(compose("name", wanted, "Body."))
    assert (document.description, document.body) == (wanted, "\nBody.\n")


@pytest.mark.parametrize(
    "text", ["true", "No", "null", "1.5", "- x", "a: b", "a #b", "@x", "it's", "x:", "[a]", "{", "~", "2026-01-01"]
)
def test_what_another_reader_would_mistake_is_quoted(text: str) -> None:
    assert quoted(text) == f'"{text}"' or text == "it's"


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse("---\n" + text + "\n---\n")
    except UsageError as error:
        assert str(error)


def test_real_skills_are_read(data: Path) -> None:
    found = [parse(path.read_text("utf-8")) for path in (data / "hermes" / "skills").rglob("SKILL.md")]
    assert {document.name for document in found} == {"demo-skill", "rev-skill"}
