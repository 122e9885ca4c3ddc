"""The gateway inside `seasoned serve`, at the same address as the pages."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import httpx2
import openai
import pytest

from tests.cli.run import SEASONED, answer
from tests.gateway.running import wait_until
from tests.gateway.upstream_server import chat, chat_stream, serve_upstream


def _serve(*options: str) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(
        [str(SEASONED), "serve", "--port", "0", "--no-schedule", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, process.stdout.readline().split()[-1]


def _stop(process: subprocess.Popen[str]) -> str:
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 0, errors
    return errors


@pytest.mark.usefixtures("home")
def test_agents_and_people_come_to_one_address() -> None:
    folder = Path(os.environ["SEASONED_HOME"])
    folder.mkdir(parents=True, exist_ok=True)
    with serve_upstream(chat("Hello there."), chat_stream("Hello", " there.")) as upstream:
        (folder / "gateway.toml").write_text(f'[[upstream]]\nname = "here"\nbase_url = "{upstream.url}"\n')
        process, url = _serve()
        try:
            client = openai.OpenAI(base_url=f"{url}/v1", api_key="sk-x", max_retries=0)
            said = client.chat.completions.create(
                model="gpt-4o-mini",
                messages=[{"role": "user", "content": "Hi"}],
                extra_headers={"x-session-id": "s1"},
            )
            assert said.choices[0].message.content == "Hello there."
            events = client.chat.completions.create(
                model="gpt-4o-mini", messages=[{"role": "user", "content": "Hi"}], stream=True
            )
            assert "".join(event.choices[0].delta.content or "" for event in events) == "Hello there."
            assert httpx2.get(f"{url}/login").status_code == 200
            assert httpx2.get(f"{url}/health").json()["schema"] != "seasoned/gateway-health/1"
            assert httpx2.get(f"{url}/gateway/health").json()["failed_open"] == {}

            def is_written() -> bool:
                return bool(httpx2.get(f"{url}/gateway/health").json()["unwritten"] == 0)

            wait_until(is_written)
        finally:
            _stop(process)
    sessions = {row["name"]: row for row in answer("usage", "--by", "session")["rows"]}
    assert sessions["gateway:s1"]["output_tokens"] == 8
    assert list((folder / "gateway-journal").iterdir()) == []
