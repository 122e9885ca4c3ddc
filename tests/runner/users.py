"""People with a home, an agent that is logged in to a scripted model, and a project under git."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests import real_clients

SCHEMA = {
    "type": "object",
    "properties": {"notes": {"type": "array", "items": {"type": "string"}}},
    "required": ["notes"],
    "additionalProperties": False,
}
AGENTS = ("claude-code", "codex", "hermes", "opencode", "qwen", "gemini", "copilot")
# An answer that fits the schema, as each agent wants it from its model.
TOOLS_OF_ANSWERS = {"claude-code": "StructuredOutput", "qwen": "structured_output"}


def programs(folder: Path, agents: tuple[str, ...] = AGENTS) -> Path:
    """A folder with the programs of agents under the names that people have on their PATH."""
    folder.mkdir(parents=True, exist_ok=True)
    for agent in agents:
        command = _command(agent)
        if len(command) == 1:
            (folder / Path(command[0]).name.split("-")[0]).symlink_to(command[0])
        else:
            program = folder / agent
            program.write_text("#!/bin/sh\nexec " + " ".join(command) + ' "$@"\n')
            program.chmod(0o755)
    return folder


def _command(agent: str) -> list[str]:
    if agent == "hermes":
        return [str(real_clients.hermes_python().with_name("hermes"))]
    found = {
        "claude-code": real_clients.claude_code,
        "codex": real_clients.codex,
        "gemini": real_clients.gemini,
        "opencode": real_clients.opencode,
        "qwen": real_clients.qwen,
        "copilot": real_clients.copilot,
    }[agent]()
    return [str(one) for one in found] if isinstance(found, list) else [str(found)]


def login(home: Path, agent: str, url: str) -> dict[str, str]:
    """Settings and variables with which the agent asks the scripted model."""
    if agent == "claude-code":
        quiet = {"DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
        return {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "sk-ant-dummy", "CLAUDE_CODE_MAX_RETRIES": "0", **quiet}
    if agent == "codex":
        provider = f'name = "fake"\nbase_url = "{url}/v1"\nenv_key = "FAKE_KEY"\nwire_api = "responses"\n'
        top = 'model = "gpt-5.5"\nmodel_provider = "fake"\ncheck_for_update_on_startup = false\n'
        off = "[analytics]\nenabled = false\n[features]\nplugins = false\napps = false\n"
        retries = "request_max_retries = 0\nstream_max_retries = 0\n"
        _write(home / ".codex" / "config.toml", f"{top}{off}[model_providers.fake]\n{provider}{retries}")
        return {"FAKE_KEY": "dummy"}
    if agent == "hermes":
        model = f"  default: scripted\n  provider: custom\n  base_url: {url}/v1\n  api_key: dummy\n"
        _write(home / ".hermes" / "config.yaml", f"model:\n{model}  context_length: 200000\n")
        return {}
    if agent == "gemini":
        _write(home / ".gemini" / "settings.json", '{"security": {"auth": {"selectedType": "gemini-api-key"}}}')
        more = {"GEMINI_TELEMETRY_ENABLED": "false", "GEMINI_CLI_NO_RELAUNCH": "true"}
        return {"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_MODEL": "gemini-2.5-flash", **more}
    if agent == "qwen":
        _write(home / ".qwen" / "settings.json", '{"security": {"auth": {"selectedType": "openai"}}, "$version": 4}')
        cache = {"NODE_COMPILE_CACHE": str(real_clients.CLIENTS / "compiled"), "QWEN_CODE_NO_RELAUNCH": "true"}
        return {"OPENAI_API_KEY": "dummy", "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "scripted", **cache}
    if agent == "copilot":
        model = {"COPILOT_PROVIDER_BASE_URL": f"{url}/v1", "COPILOT_PROVIDER_API_KEY": "dummy"}
        return {**model, "COPILOT_MODEL": "scripted", "COPILOT_OFFLINE": "true"}
    options = {"baseURL": f"{url}/v1", "apiKey": "dummy"}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"scripted": {}}}
    own = {"$schema": "https://opencode.ai/config.json", "model": "local/scripted", "small_model": "local/scripted"}
    settings = home / ".config" / "opencode" / "opencode.json"
    _write(settings, json.dumps({**own, "provider": {"local": provider}, "autoupdate": False}))
    # It waits at its start for what it installs there, and there is no network.
    (settings.parent / "node_modules").mkdir()
    off = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD")
    return {**{f"OPENCODE_DISABLE_{name}": "1" for name in off}, "npm_config_fetch_retries": "0"}


def answer(agent: str, data: dict[str, Any], **step: Any) -> dict[str, Any]:
    """A step of the scripted model: an answer with this data."""
    tool = TOOLS_OF_ANSWERS.get(agent)
    if tool is not None:
        return {"calls": [{"tool": tool, "arguments": data}], **step}
    text = json.dumps(data)
    return {"text": text if agent == "codex" else f"Here it is:\n```json\n{text}\n```", **step}


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def project(folder: Path) -> Path:
    """A project under git."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / "AGENTS.md").write_text("The word of the project is marmalade.\n")
    return folder


def files(folder: Path, *, ending: str = "", besides: str = "") -> dict[str, bytes]:
    """The files of a folder with this ending; `besides` is left out, as processes of ours may still work there."""
    found = {}
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != besides]
        for path in [Path(place, name) for name in names if name.endswith(ending)]:
            if not path.is_symlink():
                found[str(path.relative_to(folder))] = path.read_bytes()
    return found
