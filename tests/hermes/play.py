"""Runs the real Hermes agent in its own environment: `python play.py PLAN`, a JSON list of conversations.

A conversation: `turns` (what the user says), `session` (the id of one to take up again, as after a restart),
`toolsets`, `platform` (`cli`), `before` (code that is run first). Prints the ids of the sessions as JSON.
"""

from __future__ import annotations

import json
import sys
import threading
from typing import Any


def play(one: dict[str, Any], base_url: str, database: Any) -> str:
    from run_agent import AIAgent

    exec(one.get("before", ""), {})
    history = database.get_messages_as_conversation(one["session"]) if one.get("session") else None
    agent = AIAgent(
        base_url=base_url,
        api_key="dummy",
        model="scripted",
        quiet_mode=True,
        session_db=database,
        session_id=one.get("session"),
        platform=one.get("platform", "cli"),
        enabled_toolsets=one.get("toolsets"),
        max_iterations=8,
    )
    for said in one["turns"]:
        history = agent.run_conversation(said, conversation_history=history)["messages"]
        for thread in threading.enumerate():
            if thread.name == "bg-review":
                thread.join(60)
    session = str(agent.session_id)
    agent.close()
    return session


def main() -> None:
    plan = json.loads(sys.argv[1])
    from hermes_state import SessionDB

    database = SessionDB()
    sys.stderr.write("sessions " + json.dumps([play(one, plan["base_url"], database) for one in plan["talks"]]) + "\n")


if __name__ == "__main__":
    main()
