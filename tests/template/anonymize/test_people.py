"""People and firms are named in many ways, and none of them is shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.template.anonymize import words
from seasoned.template.anonymize.call import AnonymizedCall, anonymize
from seasoned.template.anonymize.shape import shape
from seasoned.template.anonymize.words import FAMILY, GIVEN, Vocabulary, pair_of_names
from tests.each_case import each_case


def recurring() -> Vocabulary:
    vocabulary = Vocabulary()
    for root in ("one", "two"):
        for name in ("Hannah Meyer", "mona", "alex/cabin", "Globex", "globex", "hannah"):
            vocabulary.add(root, name)
    return vocabulary


def bound(name: str, text: str, intent: str = "") -> AnonymizedCall:
    return anonymize({name: text}, "", intent, vocabulary=recurring(), seed="seed")


@each_case(
    ("name", "text"),
    [
        ("command", "psql -c \"SELECT * FROM customer WHERE name='Hannah Meyer'\""),
        ("query", "select id from firm where title like '%Globex%'"),
        ("query", "INSERT INTO customer VALUES (4, 'Hannah Meyer', 'Globex')"),
        ("command", "psql -U mona -d shop -c 'select 1'"),
        ("command", "PGUSER=mona psql shop"),
        ("command", "gh pr list --assignee mona --author=alex"),
        ("command", "git log --author='Hannah Meyer' main..alex/cabin-53-x"),
        ("command", "ssh mona@build.globex.io uptime && sudo -u mona ls"),
        ("command", "git config user.name 'Hannah Meyer'"),
        ("code", "user = User(name='Hannah Meyer', company=\"Globex\")"),
        ("content", 'owner: "Hannah Meyer"'),
        ("code", "send('Hannah Zorblax')"),
        ("customer", "Globex"),
        ("note", "Ask Hannah Meyer, Dr. Globex or the customer Globex."),
        ("note", "Globex GmbH pays late"),
        ("branch", "feature/hannah-fix"),
        ("url", "https://mona:x@db.globex.io/hannah"),
    ],
)
def test_whoever_is_named_gets_a_stand_in(name: str, text: str) -> None:
    made = str(bound(name, text).arguments[name])
    assert not any(word in made.lower() for word in ("hannah", "meyer", "mona", "alex", "globex", "zorblax"))
    assert shape(made) == shape(text)


def test_somebody_named_in_a_command_is_the_same_in_what_was_said() -> None:
    made = bound(
        "command", "psql -U mona -c \"select 1 from c where name = 'Hannah Meyer'\"", "As mona, find Hannah Meyer."
    )
    given, family = made.intent.removesuffix(".").split()[-2:]
    assert given.lower() in GIVEN and family.lower() in FAMILY
    assert f"name = '{given} {family}'" in made.arguments["command"]
    assert made.intent.startswith(f"As {made.arguments['command'].split()[2]}, find")


@each_case(
    ("name", "text"),
    [
        ("command", "pip install -U requests && git push -u origin main && sort -u x"),
        ("command", "psql -U postgres -c \"select 1 from orders where status = 'Pending'\""),
        ("note", "The Desk Lamp and the Action Camera ship to San Diego or New York"),
        ("command", "git commit -m 'Update Parser'"),
        ("code", "client = TestClient(app); user = get_user()"),
        ("command", "sudo -u root ls"),
    ],
)
def test_what_is_nobody_stays(name: str, text: str) -> None:
    assert anonymize({name: text}, "", "", vocabulary=Vocabulary(), seed="seed").arguments == {name: text}


@pytest.mark.parametrize("text", ["Call Hannah Meyer.", "for José Müller", "Mark Johnson said", "Antonio P. Rossi"])
def test_a_pair_of_names_is_seen(text: str) -> None:
    assert pair_of_names(text) is not None


@each_case(
    "text",
    [
        "Ask Mira Novak.",
        "Visual Studio",
        "San Jose",
        "Claude Code",
        "Max Tokens",
        "Alex said",
        "Pull Request",
        "Grace Period",
    ],
)
def test_a_stand_in_or_a_title_is_no_person(text: str) -> None:
    assert pair_of_names(text) is None


@given(st.from_regex(words._TITLED.compiled))
def test_every_title_is_looked_for(text: str) -> None:
    assert any(sign in text for sign in words._TITLES)


@given(st.from_regex(words._FIRM.compiled))
def test_every_form_of_a_firm_is_looked_for(text: str) -> None:
    assert any(sign in text for sign in words._FORMS)
