"""Asks before dangerous calls: the confirmation service if one is configured, otherwise the terminal."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

from seasoned.agent.loop.runtime import Confirm, Denial, Question
from seasoned.command.risk import need_of_call
from seasoned.config import Config
from seasoned.confirm.client.http import in_thread
from seasoned.confirm.client.sync import RequestView, SaidNo, configured_client
from seasoned.errors import SeasonedError

# What a dangerous call is called that is none of the ten: a policy may allow these for a session.
OTHER_ACTIONS = {"terminal": "destructive_command", "execute_code": "destructive_code"}
OTHER_ACTION = "dangerous_call"
Tell = Callable[[str], None]


def confirming(config: Config, *, otherwise: Confirm, session_key: str, folder: Path, tell: Tell) -> Confirm:
    """How to ask: through the service, or without one through `otherwise` (the terminal, or always no)."""
    if config.confirm_url is None:
        return otherwise

    async def ask(question: Question) -> bool | Denial:
        # The call runs later with the same arguments; this copy is what a person sees.
        arguments = copy.deepcopy(question.arguments)
        need = need_of_call(question.tool, arguments, agent="seasoned", folder=folder)
        action = need.action if need is not None else OTHER_ACTIONS.get(question.tool, OTHER_ACTION)
        description = need.description if need is not None else f"{question.tool}: it {question.reason}"
        details: dict[str, Any] = {"tool": question.tool, "arguments": arguments}
        details |= {**(need.details if need is not None else {}), "folder": str(folder)}

        def waiting(seen: RequestView) -> None:
            if seen.status == "pending":
                tell(f"Waiting for a person to confirm {seen.action} (request {seen.id}).")

        try:
            client = configured_client(config)
            await in_thread(
                lambda call: client.confirm(
                    action,
                    description,
                    details,
                    label="seasoned",
                    session_key=session_key,
                    call=call,
                    on_submitted=waiting,
                )
            )
        # A refusal is passed on as it is; for any other failure the model needs to know what to do next.
        except SaidNo as error:
            return Denial(str(error))
        except SeasonedError as error:
            return Denial(f"{error} Find a way without this call, or ask the user to do it.")
        # What was approved must be what will run.
        if arguments != question.arguments:
            return Denial("the arguments changed while a person was asked. Make the call again.")
        return True

    return ask
