"""How much a model reads at once, as far as that is known without asking it; and whether it is elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from seasoned.agent.model import Choice, open_model
from seasoned.config import api_key
from seasoned.confirm.notify.http import NotSent, call, open_client

SECONDS = 3.0
_FIELDS = ("max_model_len", "context_length", "max_context_length", "context_window", "n_ctx", "n_ctx_train")
"""What servers call it: vLLM, OpenRouter, LM Studio, others, llama.cpp."""


def detect_window(choice: Choice) -> int | None:
    """The window in tokens; None where nobody says. A server is asked for its list of models, never for an answer."""
    if choice.path is not None:
        # The length that a local model is loaded with; importing it brings the agent library along.
        from seasoned.agent.local import CONTEXT_LENGTH

        return CONTEXT_LENGTH
    if choice.base_url is not None:
        return _told_by_server(choice.base_url, choice.name)
    return open_model(choice).context_window


def is_cloud(choice: Choice) -> bool:
    """Whether what is said leaves this machine and its own network."""
    if choice.path is not None:
        return False
    host = urlsplit(choice.base_url).hostname if choice.base_url is not None else None
    if host is None:
        return True
    try:
        found = ip_address(host)
    except ValueError:
        return "." in host and not host.endswith((".localhost", ".local", ".internal", ".lan"))
    return not (found.is_loopback or found.is_private or found.is_link_local)


def provider_of(choice: Choice) -> str:
    """Who runs the model: `local`, the name of a provider, or a server's host."""
    if choice.path is not None:
        return "local"
    if choice.base_url is not None:
        return urlsplit(choice.base_url).netloc.rpartition("@")[2] or choice.base_url
    return choice.name.partition(":")[0]


def _told_by_server(base_url: str, name: str) -> int | None:
    key = api_key("openai")
    headers = {"authorization": f"Bearer {key}"} if key else {}
    try:
        with open_client(connect_seconds=SECONDS, answer_seconds=SECONDS) as client:
            reply = call(client, "GET", f"{base_url.rstrip('/')}/models", body=b"", headers=headers, hide=key or "")
    except NotSent:
        return None
    listed = reply.value() if reply.status == 200 else {}
    models = listed.get("data")
    found = [one for one in models if isinstance(one, dict)] if isinstance(models, list) else []
    named = [one for one in found if one.get("id") == name]
    return next(_figures(named), None)


def _figures(models: Iterable[dict[str, Any]]) -> Iterator[int]:
    for model in models:
        meta = model.get("meta")
        for place in (model, meta if isinstance(meta, dict) else {}):
            for field in _FIELDS:
                value = place.get(field)
                if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                    yield value
