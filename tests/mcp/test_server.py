"""Every tool, resource and prompt, by the official client over stdio."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the MCP library is not installed")

from jsonschema import Draft202012Validator
from mcp_types import ListResourcesResult

from mcp import Client, MCPError
from seasoned.app.stores import scan_into_store
from seasoned.config import load
from seasoned.lesson.ask import decide
from seasoned.store import open_store
from seasoned.store.project import merge_projects
from tests.confirm.serving import Serving, serving
from tests.mcp.clients import Mode, talk, talk_over_stdio, text

TOOLS = {"warm_session", "recall", "request_confirmation", "wait_confirmation", "redeem_confirmation"}
FIXED = {"seasoned://lessons", "seasoned://memory"}
DEPLOY = {"tool": "Bash"}
FOLDER = "/home/mira/waypost"
HERE = {**DEPLOY, "folder": FOLDER}


@pytest.fixture(scope="module")
def learned(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose store holds the samples and a template."""
    home = tmp_path_factory.mktemp("learned")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEASONED_HOME", str(home))
        scan_into_store(load(), [samples])
        built = talk(
            lambda client: client.call_tool("warm_session", {"action": "build", "name": "wörk", "min_messages": 4})
        )
        assert not built.is_error
        (home / "work").mkdir()
        (home / "work" / "Makefile").write_text("check:\n\ttrue\n", "utf-8")
        with open_store(load().store_path) as store:
            # The folder of the samples is not on this machine; a server has to be started in one that is.
            merge_projects(store, str(home / "work"), FOLDER, now=1.0)
    return home


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("service")) as found:
        yield found


@pytest.fixture
def home(learned: Path, service: Serving, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SEASONED_HOME", str(learned))
    monkeypatch.setenv("SEASONED_CONFIRM_URL", service.url)
    monkeypatch.setenv("SEASONED_CONFIRM_TOKEN", service.tokens["agent"])
    return learned


async def use_everything(client: Client) -> dict[str, Any]:
    """Every tool with every action, every resource and prompt; what each answered."""

    async def call(tool: str, /, **arguments: Any) -> dict[str, Any]:
        result = await client.call_tool(tool, arguments)
        assert not result.is_error, text(result)
        assert result.structured_content is not None
        return result.structured_content

    async def warm(action: str, **arguments: Any) -> dict[str, Any]:
        return await call("warm_session", action=action, **arguments)

    found: dict[str, Any] = {"tools": (await client.list_tools()).tools, "version": client.protocol_version}
    found["build"] = await warm("build", name="other", min_messages=4, tags=["x"])
    found["list"] = await warm("list", tags=["x"])
    found["load"] = await warm("load", name="other", task="late parcels")
    found["delete"] = await warm("delete", name="other")
    found["profile"] = await warm("profile", session_id="40904d81")
    found["compress-check"] = await warm("compress-check", session_id="c73c43e8")
    found["compare"] = await warm("compare", session_id="40904d81", compare_with="c73c43e8")
    found["recall"] = await client.call_tool("recall", HERE)
    found["recall edits"] = text(await client.call_tool("recall", {"tool": "Edit", "folder": FOLDER}))
    found["request"] = await call("request_confirmation", action="send_report", description="Send it.")
    found["wait"] = await call("wait_confirmation", id=found["request"]["id"], wait_seconds=0)
    redeemed = await client.call_tool("redeem_confirmation", {"id": found["request"]["id"]})
    found["redeem"] = (redeemed.is_error, text(redeemed))
    listed: ListResourcesResult = await client.list_resources()
    templates = (await client.list_resource_templates()).resource_templates
    found["resource templates"] = {one.uri_template for one in templates}
    addresses = [str(one.uri) for one in listed.resources]
    found["resources"] = {}
    for address in [*addresses, "seasoned://recall/Edit"]:
        (content,) = (await client.read_resource(address)).contents
        found["resources"][address] = content.text  # type: ignore[union-attr]
    found["prompts"] = {
        one.name: [each.name for each in one.arguments or ()] for one in (await client.list_prompts()).prompts
    }
    for name, given in (("what_worked", {}), ("repair", {"tool": "Bash", "error": "wp: command not found"})):
        (said,) = (await client.get_prompt(name, given)).messages
        found[name] = said.content.text  # type: ignore[union-attr]
    return found


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_official_client_runs_every_tool_resource_and_prompt(mode: Mode, home: Path) -> None:
    found = talk_over_stdio(use_everything, mode, home / "work")
    assert (found["version"] == "2026-07-28") == (mode == "auto"), "the stateless version, and one before it"
    assert {tool.name for tool in found["tools"]} == TOOLS
    for name in ("build", "list", "load", "delete", "profile", "compress-check", "compare"):
        assert found[name]["success"] is True
    assert found["load"]["conversation"] and found["load"]["message_count"] == len(found["load"]["conversation"])
    assert found["list"]["count"] == 1
    said = text(found["recall"])
    assert "(data, not instructions)" in said and "`make check`" in said
    assert found["recall"].structured_content is None, "a client would show the model that, and not these words"
    assert "file_path" in found["recall edits"] and "make check" not in found["recall edits"]
    assert (found["wait"]["status"], found["wait"]["may_redeem"]) == ("pending", False)
    assert found["redeem"][0] is True
    assert found["resource templates"] == {"seasoned://recall/{tool}"}
    assert found["resources"].keys() == FIXED | {"seasoned://recall/Edit"} and all(found["resources"].values())
    assert "make check" in found["resources"]["seasoned://lessons"] and "make check" in found["what_worked"]
    assert found["resources"]["seasoned://recall/Edit"] == found["recall edits"]
    assert found["prompts"] == {
        "what_worked": ["folder"],
        "repair": ["error", "tool", "folder"],
    }
    assert "known" in found["repair"]


def test_every_schema_is_valid_and_says_what_each_argument_is_for(home: Path) -> None:
    tools = talk(lambda client: client.list_tools()).tools
    for tool in tools:
        Draft202012Validator.check_schema(tool.input_schema)
        if tool.output_schema is not None:
            Draft202012Validator.check_schema(tool.output_schema)
        assert tool.description
        for name, argument in tool.input_schema["properties"].items():
            assert "description" in argument or any("description" in one for one in argument["anyOf"]), (
                tool.name,
                name,
            )
    assert {tool.name for tool in tools if tool.annotations.read_only_hint} == {"recall", "wait_confirmation"}


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("warm_session", {}, "'action': Field required"),
        ("warm_session", {"action": "fly"}, "'build', 'list', 'load'"),
        ("warm_session", {"action": "build", "name": "../x"}, "cannot be the name"),
        ("warm_session", {"action": "list", "nam": "x"}, "no argument 'nam': it takes action, name"),
        ("warm_session", {"action": "load", "name": "gone"}, "No template 'gone'"),
        ("warm_session", {"action": "load", "budget": 0}, "'budget'"),
        ("warm_session", {"action": "compare", "session_id": "40904d81"}, "needs 'compare_with'"),
        ("recall", {}, "which tool or which error"),
        ("recall", {"tool": "Bash"}, "Give `folder`"),
        ("recall", {"tool": ["x"]}, "'tool'"),
        ("fly", {}, "fly"),
    ],
)
def test_wrong_arguments_give_an_error_that_a_model_can_act_on(
    home: Path, tool: str, arguments: dict[str, Any], said: str
) -> None:
    result = talk(lambda client: client.call_tool(tool, arguments))
    assert result.is_error
    assert said in text(result)
    assert "pydantic" not in text(result) and "Traceback" not in text(result)


def test_an_error_that_is_json_is_looked_up_as_the_text_it_is(home: Path) -> None:
    errors = ['{"error": {"code": 404, "message": "no such parcel"}}', '["no such parcel", 404]']

    async def work(client: Client) -> list[Any]:
        asked = [{"tool": "Bash", "error": one, "folder": FOLDER} for one in errors]
        # Where an object is expected, one that is written as text is still read as one.
        asked.append({**HERE, "arguments": '{"command": "wp deploy"}'})
        return [await client.call_tool("recall", one) for one in asked]

    for results in (talk(work), talk_over_stdio(work)):
        assert not any(result.is_error for result in results), [text(result) for result in results]
        assert "`make check`" in text(results[-1])
    wrong = talk(lambda client: client.call_tool("recall", {"error": {"code": 404}, "folder": FOLDER}))
    assert wrong.is_error and "'error'" in text(wrong)


def test_what_a_person_dropped_is_not_recalled(home: Path) -> None:
    def recalled() -> str:
        return text(talk(lambda client: client.call_tool("recall", HERE)))

    assert "`make check`" in recalled()
    with open_store(load().store_path) as store:
        decide(store, FOLDER, "make check", "drop")
        dropped = recalled()
        decide(store, FOLDER, "make check", "undo")
    assert "No known command" in dropped and "`make check`" in recalled()


def test_a_resource_or_prompt_that_is_not_there_says_which(home: Path) -> None:
    async def work(client: Client) -> None:
        with pytest.raises(MCPError, match="Give `folder`") as raised:
            await client.read_resource("seasoned://recall/gone")
        assert raised.value.code == -32602
        with pytest.raises(MCPError, match="Give `folder`"):
            await client.get_prompt("repair", {"error": "gone"})

    talk(work)


@pytest.mark.parametrize("broken", ["garbage", "folder"])
def test_with_a_broken_store_every_answer_is_an_error_and_the_server_lives_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    monkeypatch.setenv("SEASONED_HOME", str(tmp_path))
    path = load().store_path
    if broken == "folder":
        path.mkdir()
    else:
        path.write_bytes(b"this is no database" * 1000)

    async def work(client: Client) -> None:
        for tool, arguments in (("warm_session", {"action": "list"}), ("recall", {"tool": "Bash"})):
            result = await client.call_tool(tool, arguments)
            assert result.is_error
            assert str(path) in text(result)
        for address in sorted(FIXED):
            with pytest.raises(MCPError, match=r"seasoned\.db"):
                await client.read_resource(address)
        with pytest.raises(MCPError, match=r"seasoned\.db"):
            await client.get_prompt("what_worked", {})
        assert {str(one.uri) for one in (await client.list_resources()).resources} == FIXED
        # Without a confirmation service there is no person to ask.
        assert {one.name for one in (await client.list_tools()).tools} == {"warm_session", "recall"}
        assert client.instructions is not None and "request_confirmation" not in client.instructions

    talk(work)


def test_an_empty_store_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEASONED_HOME", str(tmp_path))

    async def work(client: Client) -> None:
        assert "seasoned scan" in text(await client.call_tool("recall", {"tool": "Bash", "folder": FOLDER}))
        (content,) = (await client.read_resource("seasoned://lessons")).contents
        assert content.text == "Nothing is known about this project yet."  # type: ignore[union-attr]

    talk(work, FOLDER)


def test_a_server_gives_nothing_of_another_project_nor_in_an_empty_folder(home: Path) -> None:
    async def work(client: Client) -> dict[str, str]:
        found = {"recall": text(await client.call_tool("recall", DEPLOY))}
        for address in ("seasoned://lessons", "seasoned://recall/Bash"):
            try:
                (content,) = (await client.read_resource(address)).contents
                found[address] = content.text  # type: ignore[union-attr]
            except MCPError as error:
                found[address] = str(error)
        return found

    own = talk_over_stdio(work, folder=home / "work")
    assert all("make check" in said for said in own.values()), own
    (home / "empty").mkdir(exist_ok=True)
    nowhere = talk(work)
    assert all("Give `folder`" in said for said in nowhere.values()), nowhere
    found = talk_over_stdio(work, folder=home / "empty")
    assert "No known command" in found["recall"] and found["seasoned://lessons"].startswith("Nothing is known")
