"""The MCP server as an agent meets it: the official client, over stdio, against a real service."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the MCP library is not installed")

from mcp import Client
from tests.confirm.serving import Serving, serving
from tests.mcp.clients import talk, talk_over_stdio, text

ASKED = {"action": "delete_data", "description": "Delete old logs", "details": {"path": "/srv/logs"}}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("service")) as found:
        yield found


@pytest.fixture
def known(service: Serving, monkeypatch: pytest.MonkeyPatch) -> Serving:
    """The service, named in the environment as an agent's settings do."""
    monkeypatch.setenv("SEASONED_CONFIRM_URL", service.url)
    monkeypatch.setenv("SEASONED_CONFIRM_TOKEN", service.tokens["agent"])
    return service


def test_an_agent_asks_over_stdio_is_denied_is_told_why_and_cannot_redeem(known: Serving) -> None:
    async def work(client: Client) -> tuple[Any, ...]:
        tools = (await client.list_tools()).tools
        asked = (await client.call_tool("request_confirmation", ASKED)).structured_content
        assert asked is not None
        denied = await asyncio.to_thread(known.decide, asked["id"], "deny", reason="wrong folder")
        assert denied.status_code == 200
        waited = await client.call_tool("wait_confirmation", {"id": asked["id"], "wait_seconds": 10})
        tried = await client.call_tool("redeem_confirmation", {"id": asked["id"], "details": ASKED["details"]})
        return tools, asked, waited.structured_content, tried

    tools, asked, waited, tried = talk_over_stdio(work)
    assert {"request_confirmation", "wait_confirmation", "redeem_confirmation"} <= {tool.name for tool in tools}
    assert not {tool.name for tool in tools} & {"approve", "deny", "decide", "approve_confirmation"}
    assert asked["status"] == "pending"
    assert (waited["status"], waited["reason"], waited["may_redeem"]) == ("denied", "wrong folder", False)
    assert tried.is_error
    assert "denied 'delete_data': wrong folder" in text(tried)


def test_an_approval_is_redeemed_once_and_only_for_the_details_that_were_approved(known: Serving) -> None:
    async def work(client: Client) -> tuple[Any, ...]:
        asked = (await client.call_tool("request_confirmation", ASKED)).structured_content
        assert asked is not None
        approved = await asyncio.to_thread(known.decide, asked["id"])
        assert approved.status_code == 200
        waited = (await client.call_tool("wait_confirmation", {"id": asked["id"]})).structured_content
        other = await client.call_tool("redeem_confirmation", {"id": asked["id"], "details": {"path": "/"}})
        right = {"id": asked["id"], "details": ASKED["details"]}
        first = await client.call_tool("redeem_confirmation", right)
        second = await client.call_tool("redeem_confirmation", right)
        return waited, other, first, second

    waited, other, first, second = talk(work)
    assert waited["may_redeem"]
    assert (other.is_error, "digest differs" in text(other)) == (True, True)
    assert first.structured_content["granted"]
    assert (second.is_error, "already redeemed" in text(second)) == (True, True)


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("request_confirmation", {**ASKED, "details": "all of it"}, "details"),
        ("request_confirmation", {**ASKED, "action": "lösche alles"}, "a-z"),
        ("wait_confirmation", {"id": "nothing-like-it"}, "unknown request"),
        ("wait_confirmation", {"id": "x", "wait_seconds": 1e9}, "wait_seconds"),
    ],
)
def test_wrong_arguments_give_an_error_that_a_model_can_act_on(
    known: Serving, tool: str, arguments: dict[str, Any], said: str
) -> None:
    result = talk(lambda client: client.call_tool(tool, arguments))
    assert result.is_error
    assert said in text(result)
    assert "Traceback" not in text(result)
