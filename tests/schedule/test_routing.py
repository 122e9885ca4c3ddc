"""A small table chooses the model of a job, by the job's own words alone."""

from __future__ import annotations

import pytest

from seasoned.config import Route
from seasoned.errors import UsageError
from seasoned.schedule.run import find_route
from tests.schedule.made import job
from tests.schedule.places import config_at_home, run_job, script
from tests.scripted_model import serve_script


def test_the_first_route_that_fits_is_taken() -> None:
    routes = [Route(model="a", words=("summary",)), Route(model="b", words=("mail", "summary")), Route(model="c")]
    assert [find_route(routes, words) for words in ("A Summary.", "my mail", "else")] == routes
    assert find_route(routes[:2], "summaries of mailings") is None
    assert find_route([], "summary") is None


def test_all_conditions_of_a_route_must_hold() -> None:
    route = Route(model="m", words=("code",), longer_than=10, shorter_than=30)
    assert find_route([route], "look at code, please") is route
    assert find_route([route], "code") is None
    assert find_route([route], "code " * 10) is None


def test_routing_sees_only_the_words_of_the_job() -> None:
    """Wrapper, script output and skills hold these words too, and must not count."""
    with serve_script("Hello.") as server:
        routes = [
            {"words": ["SILENT", "delivery", "provider", "deploy"], "model": "wrong"},
            {"longer_than": 100, "model": "wrong"},
            {"words": ["weather"], "model": "right", "base_url": server.base_url},
        ]
        config = config_at_home(base_url=server.base_url, routes=routes)
        record = run_job(job(prompt="The weather?", script=script("echo deploy; echo delivery")), config)
        (heard,) = server.heard
    assert (record.outcome, record.model) == ("ok", "right")
    assert heard.json["model"] == "right"
    assert "You run on the model right" in heard.body.decode()
    assert "Routed to 'right'." in record.note


def test_a_job_that_names_its_model_is_not_routed() -> None:
    with serve_script("Hello.") as server:
        config = config_at_home(base_url=server.base_url, routes=[{"model": "other"}])
        record = run_job(job(model="mine"), config)
    assert (record.model, record.note) == ("mine", "")


@pytest.mark.parametrize("route", [{"words": ["x"]}, {"model": "m", "wrods": ["x"]}, {"model": 3}])
def test_a_wrong_route_is_an_error_that_says_so(route: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="route"):
        config_at_home(routes=[route])
