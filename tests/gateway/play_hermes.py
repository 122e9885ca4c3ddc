"""Runs the real Hermes agent with what its own settings say. Started inside Hermes' own environment."""

from __future__ import annotations

import json
import sys
import threading
from typing import Any


def main() -> None:
    """Each argument is a conversation, a list of turns in JSON; prints the last words of each."""
    from hermes_cli.runtime_provider import resolve_runtime_provider
    from hermes_state import SessionDB
    from run_agent import AIAgent

    found = resolve_runtime_provider()
    for turns in map(json.loads, sys.argv[1:]):
        agent = AIAgent(
            base_url=found["base_url"],
            api_key=found["api_key"],
            provider=found["provider"],
            model="scripted-1",
            quiet_mode=True,
            session_db=SessionDB(),
            platform="cli",
            enabled_toolsets=["terminal", "skills"],
            max_iterations=6,
        )
        history: list[dict[str, Any]] = []
        words = ""
        for turn in turns:
            before = set(threading.enumerate())
            done = agent.run_conversation(turn, conversation_history=history)
            history, words = done["messages"], done["final_response"]
            for thread in set(threading.enumerate()) - before:
                # Looking back over the conversation goes on behind the answer.
                thread.join(5)
        agent.close()
        sys.stdout.write(json.dumps(words) + "\n")


if __name__ == "__main__":
    main()
