"""Schemathesis over the OpenAPI document: no 5xx, nothing undocumented, nothing that ignores authentication."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    ignored_auth,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from seasoned.confirm.policy import Policy, RateRule
from seasoned.confirm.service import routes
from tests.confirm.serving import Serving, serving
from tests.each_case import check_each
from tests.torture import TORTURE


def _describe() -> dict[str, Any]:
    """The OpenAPI document, without a service."""
    app = FastAPI()
    for router in (routes.router, routes.public):
        app.include_router(router)
    return app.openapi()


DOCUMENT = _describe()
OPERATIONS = [
    f"{method.upper()} {path}" for path, methods in DOCUMENT["paths"].items() for method in methods if method != "head"
]
EXAMPLES = 400 if TORTURE else 6
CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    ignored_auth,
    unsupported_method,
)
schema = schemathesis.openapi.from_dict(DOCUMENT)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("schemathesis"), policy=Policy(rate=RateRule(count=1_000_000))) as found:
        yield found


@pytest.fixture(scope="module")
def resolved(service: Serving) -> str:
    """A request that exists, so that more than 404 is seen; a resolved one, since nobody waits for it."""
    made = service.ask()
    service.decide(made["id"])
    return str(made["id"])


lenient = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=not TORTURE,
    suppress_health_check=list(HealthCheck),
)


@schema.parametrize()
@lenient
def test_only_what_is_documented_comes_back(case: Any, service: Serving, resolved: str) -> None:
    """By turns as an agent and as an approver, about requests that exist and that do not."""
    given = len(repr((case.path_parameters, case.query, case.body)))
    if "request_id" in case.path_parameters and given % 4 < 2:
        case.path_parameters["request_id"] = resolved
    headers = service.headers("agent" if given % 2 else "alice")
    reply = case.call_and_validate(base_url=service.url, headers=headers, checks=CHECKS)
    assert reply.status_code < 500


def test_every_operation_but_health_asks_for_a_credential(service: Serving, resolved: str) -> None:
    def check(operation: str) -> None:
        method, path = operation.split(" ")
        with service.client() as client:
            reply = client.request(method, path.replace("{request_id}", resolved), json={})
        documented = DOCUMENT["paths"][path][method.lower()]
        if path == "/health":
            assert reply.status_code == 200
            assert "security" not in documented
        else:
            assert reply.status_code == 401
            assert documented["security"] == [{"token": []}]
            assert "4XX" in documented["responses"]

    check_each(OPERATIONS, check)


def test_the_document_that_is_served_is_this_one(service: Serving) -> None:
    with service.client("agent") as client:
        served = client.get("/openapi.json").json()
    assert (served["paths"], served["components"]) == (DOCUMENT["paths"], DOCUMENT["components"])


def test_no_422_is_documented() -> None:
    assert not [
        path for path, methods in DOCUMENT["paths"].items() for one in methods.values() if "422" in one["responses"]
    ]
