"""One list of models for several upstreams, and nobody's key goes to anybody else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2
import openai

from seasoned.gateway.settings import GatewaySettings, Upstream
from tests.gateway.running import config_in, run_gateway
from tests.gateway.upstream_server import Said, serve_upstream, whole


def _listed(*names: str, **more: Any) -> Said:
    return whole({"object": "list", "data": [{"id": name, "object": "model"} for name in names]}, **more)


def _ids(url: str, key: str = "sk-client") -> list[str]:
    with openai.OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0) as client:
        return [model.id for model in client.models.list()]


def test_the_models_of_all_upstreams_are_one_list_and_each_is_where_it_is_sent(tmp_path: Path) -> None:
    config = config_in(tmp_path)
    with serve_upstream(_listed("gpt-5", "qwen-3")) as one, serve_upstream(_listed("qwen-3", "gpt-5")) as two:
        first = Upstream(name="one", base_url=one.url)
        second = Upstream(name="two", base_url=two.url, models=("qwen-*",), key_variable="TWO_KEY")
        other = Upstream(name="other", base_url="http://127.0.0.1:1", api="anthropic")
        with run_gateway(config, GatewaySettings(upstream=(first, second, other)), TWO_KEY="sk-two") as gateway:
            assert _ids(gateway.url) == ["gpt-5", "qwen-3"]
            one.script[:] = [whole({"error": {"message": "no"}}, status=401)]
            assert _ids(gateway.url) == ["qwen-3"], "whoever gives no list has none"
            two.script[:] = [whole({"error": {"message": "nor here"}}, status=500)]
            refused = httpx2.get(f"{gateway.url}/v1/models", headers={"authorization": "Bearer sk-client"})
            assert (refused.status_code, refused.json()) == (401, {"error": {"message": "no"}})
            assert gateway.failed_open() == {}
    assert {heard.headers["authorization"] for heard in one.heard} == {"Bearer sk-client"}
    assert {heard.headers["authorization"] for heard in two.heard} == {"Bearer sk-two"}
