"""A stand-in must not break a call: codes, units and fixed words stay, even those that also name people."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.template.anonymize.call import anonymize
from seasoned.template.anonymize.words import Vocabulary

# Countries, currencies, months, airports, tickers and units; each is also a first name or an everyday word.
CODES = (
    *("KEN", "MAY", "JORDAN", "CHAD", "GEORGIA", "EUR", "CAN", "GUY", "MALI", "IAN", "PAT", "DON", "SID", "AMY", "MAX"),
    *(
        "ROSE",
        "JAN",
        "JUN",
        "APRIL",
        "JUNE",
        "AUGUST",
        "Jordan",
        "Chad",
        "Georgia",
        "Israel",
        "Kenya",
        "kg",
        "lb",
        "oz",
    ),
    *("Virginia", "Carolina", "SAM", "TOM", "LEE", "PENDING", "economy", "ken", "will", "mark", "grace"),
)
PLACES = (
    *("country", "country_code", "countryCode", "currency", "shipping_country", "nationality", "state", "region"),
    *("unit", "status", "type", "month", "origin", "destination", "airport_code", "ticker", "priority", "code"),
)
GIVEN = ("Ken", "Jordan", "Chad", "Georgia", "May", "Anna", "Hannah", "Peter", "Maria", "Tom")
FAMILY = ("Miller", "Smith", "Meyer", "Garcia", "Johnson")
PEOPLE = ("first_name", "firstName", "author", "assignee", "customer_name", "display_name", "surname")


@given(st.sampled_from(CODES), st.sampled_from(PLACES), st.sampled_from(GIVEN), st.text("abc", max_size=3))
def test_a_code_in_its_place_stays_and_a_person_beside_it_does_not(code: str, place: str, name: str, seed: str) -> None:
    given_arguments = {place: code, "first_name": name, "items": [{place: code}]}
    result = json.dumps({place: code, "first_name": name})
    made = anonymize(given_arguments, result, f"Please send it to {code}.", vocabulary=Vocabulary(), seed=seed)
    assert made.arguments[place] == code
    assert made.arguments["items"] == [{place: code}]
    assert made.arguments["first_name"] != name
    answered = json.loads(made.result)
    assert answered[place] == code and answered["first_name"] != name
    if code.isupper():
        assert made.intent == f"Please send it to {code}."


@given(st.sampled_from(GIVEN), st.sampled_from(FAMILY), st.sampled_from(PEOPLE), st.text("abc", max_size=3))
def test_a_person_in_the_place_of_a_person_is_replaced(given_name: str, family: str, place: str, seed: str) -> None:
    for value in (given_name, f"{given_name} {family}", given_name.upper()):
        made = anonymize({place: value}, "", "", vocabulary=Vocabulary(), seed=seed)
        assert not set(made.arguments[place].lower().split()) & set(value.lower().split())


@given(st.sampled_from([code for code in CODES if code.isupper() and len(code) <= 3]), st.text("abc", max_size=3))
def test_three_capitals_are_a_code_wherever_they_stand(code: str, seed: str) -> None:
    given_arguments = {"route": code, "query": f"SELECT 1 FROM t WHERE c = '{code}'"}
    made = anonymize(given_arguments, "", "", vocabulary=Vocabulary(), seed=seed)
    assert made.arguments == given_arguments


def test_longer_capitals_that_recur_are_a_code_and_others_may_be_a_name() -> None:
    vocabulary = Vocabulary()
    assert anonymize({"hub": "MARTIN"}, "", "", vocabulary=vocabulary, seed="s").arguments["hub"] != "MARTIN"
    for root in ("one", "two"):
        vocabulary.add(root, '{"hub": "MARTIN"}')
    assert anonymize({"hub": "MARTIN"}, "", "", vocabulary=vocabulary, seed="s").arguments["hub"] == "MARTIN"


@pytest.mark.parametrize("value", ["Hannah Meyer", "Ken Miller"])
def test_two_names_in_the_place_of_a_code_are_still_a_person(value: str) -> None:
    made = anonymize({"category": value}, "", "", vocabulary=Vocabulary(), seed="s")
    assert not set(made.arguments["category"].split()) & set(value.split())


def test_a_person_whose_name_is_also_a_code_in_the_call_is_replaced_in_what_was_said() -> None:
    made = anonymize({"country": "KEN"}, "", "Ship it to KEN for Ken Miller.", vocabulary=Vocabulary(), seed="s")
    assert made.arguments == {"country": "KEN"}
    assert "to KEN for" in made.intent and "Ken Miller" not in made.intent
