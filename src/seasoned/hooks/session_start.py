"""SessionStart: a new session is shown what worked in earlier ones, the same text for as long as it lives."""

from __future__ import annotations

import mmap
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from seasoned.config import Config, command_environment, load
from seasoned.hooks.arm import arm_of, log_not_shown, log_shown
from seasoned.hooks.event import Agent, HookEvent, read_event, say
from seasoned.marks import BLOCK_OPENS
from seasoned.store import Store, open_store
from seasoned.template.block import Form
from seasoned.template.library.storage import current, find_block

if TYPE_CHECKING:
    from seasoned.experiment.live.assignment import Enrolled

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


_BEGINS = ("startup", "clear")
_FORMS: tuple[Form, ...] = ("text", "guidance")
"""Calls that worked before notes about them: of the two that a hook can give, calls helped more when measured."""
_TOOLS: dict[Agent, tuple[str, ...]] = {
    "claude-code": ("Bash", "Read", "Edit", "Write", "Agent", "WebFetch", "WebSearch"),
    "codex": ("exec_command", "write_stdin", "apply_patch", "view_image", "web_search"),
}
"""What every session of the agent has; a hook is not told more, and an example of an absent tool would mislead."""


def session_start(agent: Agent, arguments: list[str]) -> int:
    """Print what the session is to be shown, or nothing."""
    event = read_event()
    config = load()
    if event.session_id and not event.agent_id and config.store_path.exists():
        text = _text(agent, event, config)
        if text:
            say("SessionStart", additionalContext=text)
    return 0


def _text(agent: Agent, event: HookEvent, config: Config) -> str | None:
    session = f"{agent}:{event.session_id}"
    if event.source in _BEGINS:
        if is_warmed_elsewhere(agent, config):
            return None
        arm = arm_of(config, session, now=time.time(), begins=True)
        with open_store(config.store_path) as store:
            if arm is not None and not arm.is_warm:
                _forgo(agent, config, store, session, arm)
                return None
            return _begin(agent, config, store, session, arm)
    if event.source not in ("resume", "compact"):
        # A fork has the history of its origin, and with it what that was shown.
        return None
    with open_store(config.store_path) as store:
        known = find_block(store, session, "text")
    if known is None or (event.source == "resume" and _holds_block(event.transcript_path)):
        return None
    return known.content.decode()


def _begin(agent: Agent, config: Config, store: Store, session: str, arm: Enrolled | None) -> str | None:
    # Only a session that begins needs it.
    from seasoned.template.provision import ensure_block

    now = time.time()
    for form in _FORMS:
        shown = ensure_block(
            store,
            lambda: current(store, now=now),
            lineage_root=session,
            now=now,
            format="text",
            form=form,
            tools=list(_TOOLS[agent]),
            template=arm.template or None if arm is not None else None,
        ).rendered
        if shown is not None:
            if arm is not None:
                log_shown(config, session, arm, shown.example_ids, now=now)
            return shown.content.decode()
    return None


def _forgo(agent: Agent, config: Config, store: Store, session: str, arm: Enrolled) -> None:
    """Note what a session of the control would have been shown."""
    from seasoned.template.library.usage import template_use
    from seasoned.template.provision import provision

    found = {}
    for name, template in arm.foregone.items():
        made = provision(
            "",
            library=current(store, now=time.time()),
            tools=list(_TOOLS[agent]),
            template=template or None,
            format="text",
            form=_FORMS[0],
            seed=session,
            use=template_use(store),
        )
        if made.rendered is not None:
            found[name] = made.rendered.example_ids
    if found:
        log_not_shown(config, session, arm, found, now=time.time())


def _holds_block(path: str | None) -> bool:
    """Whether the agent's own file has the block already: it comes back with the rest of the history."""
    try:
        with Path(path or "").open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.find(BLOCK_OPENS.encode()) >= 0
    except (OSError, ValueError):
        return False
