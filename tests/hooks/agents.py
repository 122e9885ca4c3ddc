"""The other agents that can be connected, as real programs with a scripted model: Gemini, Qwen, Copilot, OpenCode."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, ClassVar

from tests.hooks.connected import MODEL_PORT, Connected
from tests.real_clients import CLIENTS, copilot, gemini, opencode, qwen
from tests.scripted_server import Line

MODEL = f"http://127.0.0.1:{MODEL_PORT}"


class Gemini(Connected):
    agent = "gemini"
    variables: ClassVar[dict[str, str]] = {
        "GEMINI_API_KEY": "dummy",
        "GOOGLE_GEMINI_BASE_URL": MODEL,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "GEMINI_TELEMETRY_ENABLED": "false",
        # It would start itself once more, only with more memory.
        "GEMINI_CLI_NO_RELAUNCH": "true",
    }

    @staticmethod
    def prepare(home: Path) -> Path:
        settings = home / ".gemini" / "settings.json"
        settings.parent.mkdir()
        settings.write_text('{\n  // mine\n  "security": {"auth": {"selectedType": "gemini-api-key"}}\n}\n')
        return settings

    @staticmethod
    def ask(prompt: str) -> list[object]:
        return [*gemini(), "-m", "gemini-2.5-flash", "--approval-mode", "yolo", "-p", prompt]

    @staticmethod
    def shell(command: str) -> dict[str, Any]:
        return {"calls": [{"tool": "run_shell_command", "arguments": {"command": command, "description": "Report"}}]}


class Qwen(Connected):
    agent = "qwen"
    variables: ClassVar[dict[str, str]] = {
        "OPENAI_API_KEY": "dummy",
        "OPENAI_BASE_URL": f"{MODEL}/v1",
        "OPENAI_MODEL": "scripted",
        "QWEN_CODE_NO_RELAUNCH": "true",
        "NODE_COMPILE_CACHE": str(CLIENTS / "compiled"),
    }

    @staticmethod
    def prepare(home: Path) -> Path:
        settings = home / ".qwen" / "settings.json"
        settings.parent.mkdir()
        settings.write_text('{\n  // mine\n  "security": {"auth": {"selectedType": "openai"}},\n  "$version": 4\n}\n')
        return settings

    @staticmethod
    def ask(prompt: str) -> list[object]:
        return [*qwen(), "--approval-mode", "yolo", "-p", prompt]

    @staticmethod
    def tells() -> list[object]:
        return [*qwen(), "--acp"]

    @staticmethod
    def shell(command: str) -> dict[str, Any]:
        given = {"command": command, "description": "Report", "is_background": False}
        return {"calls": [{"tool": "run_shell_command", "arguments": given}]}


class Copilot(Connected):
    agent = "copilot"
    variables: ClassVar[dict[str, str]] = {
        "COPILOT_PROVIDER_BASE_URL": f"{MODEL}/v1",
        "COPILOT_PROVIDER_API_KEY": "dummy",
        "COPILOT_MODEL": "scripted",
        "COPILOT_OFFLINE": "true",
    }

    @staticmethod
    def prepare(home: Path) -> Path:
        settings = home / ".copilot" / "mcp-config.json"
        settings.parent.mkdir()
        settings.write_text('{"mcpServers": { }}')
        return settings

    @staticmethod
    def ask(prompt: str) -> list[object]:
        return [copilot(), "--allow-all-tools", "--no-color", "-p", prompt]

    @staticmethod
    def tells() -> list[object]:
        return [copilot(), "--acp"]

    @staticmethod
    def shell(command: str) -> dict[str, Any]:
        return {"calls": [{"tool": "bash", "arguments": {"command": command, "description": "Report"}}]}


class OpenCode(Connected):
    agent = "opencode"
    variables: ClassVar[dict[str, str]] = {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "npm_config_fetch_retries": "0",
    }

    @staticmethod
    def prepare(home: Path) -> Path:
        settings = home / ".config" / "opencode" / "opencode.json"
        settings.parent.mkdir(parents=True)
        options = {"baseURL": f"{MODEL}/v1", "apiKey": "dummy"}
        provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"scripted": {}}}
        # It adds the schema itself where it is missing.
        own = {
            "$schema": "https://opencode.ai/config.json",
            "model": "local/scripted",
            "small_model": "local/scripted",
            "provider": {"local": provider},
        }
        settings.write_text(json.dumps({**own, "permission": {"*": "allow"}, "autoupdate": False}))
        # It waits at its start for what it installs there, and there is no network.
        (settings.parent / "node_modules").mkdir()
        return settings

    @staticmethod
    def ask(prompt: str) -> list[object]:
        return [opencode(), "run", prompt]

    @staticmethod
    def tells() -> list[object]:
        # On a busy machine it once listed no session, so only `make torture` asks it.
        return [opencode(), "acp"] if os.environ.get("SEASONED_TORTURE") else []

    @staticmethod
    def shell(command: str) -> dict[str, Any]:
        return {"calls": [{"tool": "bash", "arguments": {"command": command, "description": "Report"}}]}


def told(line: Line) -> str:
    """A request to any of the models as one text."""
    return str(line["text"]).replace("\\n", "\n").replace('\\"', '"').replace("\\u003c", "<")


def is_title(line: Line) -> bool:
    """Whether a request only asks for the title of a conversation."""
    return "title generator" in line["text"]


def snapshot(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
