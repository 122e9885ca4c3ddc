"""High-risk calls wait for a person, in the hook before a call, which Hermes' yolo mode does not skip.

Hermes runs a call if a hook raises, so every failure here ends in a refusal with its reason.
"""

from __future__ import annotations

import copy
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

from seasoned.app.gate import decide_call
from seasoned.command.risk import Need, need_of_call
from seasoned.config import Config, load
from seasoned.confirm.client import CancellableCall, RequestView, SaidNo
from seasoned.confirm.request.request import NewRequest
from seasoned.errors import SeasonedError, SourceError
from seasoned.hermes_plugin import host
from seasoned.history.reader.hermes_db import AGENT, folder_of
from seasoned.project import checkout_root

# How often the wait checks for an interrupt by the user.
_LOOK_SECONDS = 0.2
# Wait this much longer, because the service gives a better reason when the time is over.
_LAST_WORD_SECONDS = 3.0
_NO = "BLOCKED by Seasoned:"  # what the model reads begins with Hermes' own word for it
Refusal = dict[str, str]


class CallGate:
    """Asks a person about high-risk calls."""

    def __init__(self, *, wait_seconds: float, tell: Callable[[str], None] | None = None) -> None:
        self._wait_seconds = wait_seconds
        self._tell = tell or _tell

    def check(self, tool: str, arguments: object, session: str) -> Refusal | None:
        """None if the call may run, else the refusal with its reason."""
        try:
            # Arguments of any other type are checked too.
            given: Mapping[str, Any] = arguments if isinstance(arguments, Mapping) else {"input": arguments}
            # A person sees this copy; the call runs with the original, which must not change meanwhile.
            shown = copy.deepcopy(dict(given))
            need = need_of_call(tool, shown, agent=AGENT)
            if need is None:
                return None
            reason = self._reason(need, session)
            if reason is None and dict(given) != shown:
                reason = "the arguments changed while a person was asked. Make the call again."
            if reason is not None:
                self._tell(f"Seasoned refused {need.action}: {reason}")
        except Exception as error:  # noqa: BLE001 - a hook that raises would let the call run
            # No other function is called here: it could raise too.
            said = f"the call could not be checked ({type(error).__name__}), so it must not run."
            return {"action": "block", "message": f"{_NO} {said}"}
        return None if reason is None else {"action": "block", "message": f"{_NO} {reason}"}

    def _reason(self, need: Need, session: str) -> str | None:
        """Why the call must not run; None if a person approved exactly this."""
        call, answers = CancellableCall(), []
        ended = threading.Event()

        def ask() -> None:
            try:
                answers.append(self._ask(need, session, call))
            finally:
                ended.set()

        thread = threading.Thread(target=ask, name="seasoned-confirm", daemon=True)
        thread.start()
        left = self._wait_seconds + _LAST_WORD_SECONDS
        while not ended.wait(_LOOK_SECONDS):
            left -= _LOOK_SECONDS
            if host.is_interrupted():
                call.cancel()
                return f"{need.action} needs a person's approval, and the user interrupted the wait."
            if left <= 0:
                call.cancel()
                return f"{need.action} needs a person's approval, and no answer came in time."
        return answers[0] if answers else f"{need.action} needs a person's approval, and asking for it failed."

    def _ask(self, need: Need, session: str, call: CancellableCall) -> str | None:
        def waiting(seen: RequestView) -> None:
            if seen.status == "pending":
                self._tell(f"Seasoned: waiting for a person to confirm {seen.action} (request {seen.id}).")

        asked = NewRequest(
            action=need.action,
            description=need.description,
            details=need.details,
            label=AGENT,
            session_key=f"{AGENT}:{session}" if session else "",
        )
        try:
            config = load()
            # Hermes cannot ask by itself: without a service a person decides at a terminal.
            decide_call(
                config,
                asked,
                folder=_folder(config, session),
                has_question=False,
                wait_seconds=self._wait_seconds,
                call=call,
                on_submitted=waiting,
            )
        except SaidNo as error:
            return str(error)
        except SeasonedError as error:
            return f"{need.action} needs a person's approval: {error}"
        return None


def _folder(config: Config, session: str) -> str:
    """The top of the project that a session works in, for which an action may be allowed; empty if unknown."""
    try:
        folder = folder_of(host.database_path(config.hermes_home), session) if session else None
    except SourceError:
        return ""
    return "" if folder is None else checkout_root(folder) or folder


def _tell(text: str) -> None:
    # Never stdout: an editor that drives Hermes uses it for its protocol.
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
