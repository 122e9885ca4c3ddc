"""One turn of Hermes without a trace, run by its own Python: the prompt on stdin, the answer as a line of JSON."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from typing import Any

# What a scheduled run may use; asking, messages and schedules are not among them.
_FILES = ["file", "web", "search", "skills", "todo", "memory", "session_search"]
_TERMINAL = ["terminal", "code_execution"]


def main() -> None:
    """Answer the prompt with the model, the provider and the login that Hermes is set up with."""
    asked = json.loads(sys.argv[1])
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            found = _ask(asked, sys.stdin.read())
    except Exception as error:  # noqa: BLE001 whatever breaks in Hermes is a sentence for the caller
        found = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(found))  # noqa: T201
    sys.stdout.flush()
    os._exit(0)  # its background threads would keep the process


def _ask(asked: dict[str, Any], prompt: str) -> dict[str, Any]:
    from hermes_cli.config import load_config
    from hermes_cli.runtime_provider import resolve_runtime_provider
    from run_agent import AIAgent

    configured = load_config().get("model") or {}
    default = configured if isinstance(configured, str) else configured.get("default") or configured.get("model") or ""
    model = asked["model"] or default
    runtime = resolve_runtime_provider(requested=None, target_model=model or None)
    apart = asked["tools"] == "none"
    database = None
    if not apart:
        from hermes_state import SessionDB

        database = SessionDB()
    agent = AIAgent(
        **{name: runtime.get(name) for name in ("api_key", "base_url", "provider", "api_mode", "credential_pool")},
        model=model,
        quiet_mode=True,
        platform="cron",
        session_db=database,
        skip_context_files=apart,
        skip_memory=apart,
        ephemeral_system_prompt=asked["instructions"] or None,
        enabled_toolsets=[] if apart else _FILES + (_TERMINAL if asked["tools"] == "terminal" else []),
    )
    result = agent.run_conversation(prompt)
    agent.close()
    figures = {name: result.get(name) for name in ("input_tokens", "output_tokens", "cache_read_tokens", "model")}
    failed = result.get("failed") and (result.get("error") or result.get("final_response") or "it failed")
    return {
        **figures,
        "text": result.get("final_response"),
        "cost_usd": result.get("estimated_cost_usd"),
        "session": None if apart else result.get("session_id"),
        "error": failed,
    }


if __name__ == "__main__":
    main()
