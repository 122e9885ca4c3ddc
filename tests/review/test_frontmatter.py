"""The front matter of skills: read as YAML, refused in one sentence if it is not understood."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from seasoned.errors import UsageError
from seasoned.review.skill_library import compose, parse, quoted

READ = {
    "description: plain words, and more": "plain words, and more",
    "description: plain # a comment": "plain",
    "description: no#comment: here": "no#comment: here",
    "description: over\n  two lines": "over two lines",
    "description:\n  below": "below",
    "description: 'it''s quoted'": "it's quoted",
    'description: "a \\"b\\" \\u00e9 \\x41\\t\\\\"': 'a "b" é A \\',
    'description: "over\n  lines" # c': "over lines",
    "description: |\n  line one\n  line two\n": "line one line two",
    "description: >-\n  folded\n  text\n\n  more": "folded text more",
    # YAML refuses a colon here, but people write it and other agents read it.
    "description: Use when: the user asks": "Use when: the user asks",
    "# first\ndescription: x\nmetadata:\n  description: inner\ntags:\n- a\n- b": "x",
    # Values stay texts, whatever YAML would make of them.
    "description: yes": "yes",
    "description: 2026-01-01": "2026-01-01",
    "description: &anchor x\nother: *anchor": "x",
    "description: !tag x": "x",
}
REFUSED = {
    "name: n": "has no 'description'",
    "name: n\ndescription:": "'description' is empty",
    "name: n\nname: m\ndescription: x": "'name' twice",
    "name: n\ndescription: [a]": "not plain text",
    "name: n\ndescription: 'open": "not valid YAML",
    "name: n\nwhat is this\ndescription: x": "not valid YAML",
    "  name: n\ndescription: x": "not valid YAML",
    "name:n\ndescription: x": "not valid YAML",
    "- name\n- description": "not a list of `field: value` lines",
    "name: n\ndescription: x\nnested: " + "[" * 5_000: "not valid YAML",
}


def test_descriptions_are_read_as_they_are_meant() -> None:
    wrong = []
    for field, value in READ.items():
        document = parse(f"---\nname: n\n{field}\n---\nbody\n")
        if (document.name, document.description, document.body) != ("n", value, "body\n"):
            wrong.append((field, document))
    assert not wrong


def test_what_is_not_understood_is_refused_in_one_sentence() -> None:
    wrong = []
    for head, why in REFUSED.items():
        try:
            wrong.append((head, parse(f"---\n{head}\n---\nbody\n")))
        except UsageError as error:
            if why not in str(error) or "\n" in str(error):
                wrong.append((head, error))
    assert not wrong


@given(st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1).filter(lambda text: text.split()))
def test_what_is_composed_reads_back(text: str) -> None:
    wanted = " ".join(text.split())
    document = parse(compose("name", wanted, "Body."))
    assert (document.description, document.body) == (wanted, "\nBody.\n")


def test_what_another_reader_would_mistake_is_quoted() -> None:
    words = ["true", "No", "null", "1.5", "- x", "a: b", "a #b", "@x", "x:", "[a]", "{", "~", "2026-01-01"]
    assert [quoted(text) for text in words] == [f'"{text}"' for text in words]
    assert quoted("it's") == "it's"


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse("---\n" + text + "\n---\n")
    except UsageError as error:
        assert str(error)
