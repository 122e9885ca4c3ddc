"""Whether the gateway already gives a session its beginning: nobody is shown the same twice."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from seasoned.config import Config, command_environment
from seasoned.hooks.event import Agent

_SECONDS = 0.3
_MARK = b'"seasoned/gateway-health/'


def is_warmed_elsewhere(agent: Agent, config: Config) -> bool:
    """Whether the agent's requests go through a gateway of ours."""
    url = command_environment().get("ANTHROPIC_BASE_URL") if agent == "claude-code" else _codex_url(config)
    return bool(url) and _is_gateway(url)


def _codex_url(config: Config) -> str | None:
    """Where Codex sends its requests, as its own settings say."""
    import tomllib

    try:
        with (config.codex_home / "config.toml").open("rb") as file:
            found: dict[str, Any] = tomllib.load(file)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError):
        return None
    providers = found.get("model_providers")
    own = providers.get(found.get("model_provider", "openai")) if isinstance(providers, dict) else None
    url = own.get("base_url") if isinstance(own, dict) else found.get("openai_base_url")
    return url if isinstance(url, str) else None


def _is_gateway(url: str | None) -> bool:
    from http.client import HTTPConnection, HTTPException, HTTPSConnection

    try:
        parts = urlsplit(url or "")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            return False
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        connection = kind(parts.hostname, parts.port, timeout=_SECONDS)
        try:
            connection.request("GET", "/health")
            return _MARK in connection.getresponse().read(1000)
        finally:
            connection.close()
    except (OSError, ValueError, HTTPException):
        return False
