"""What Hermes calls, inside error boundaries: hooks, middleware, `hermes seasoned …`, tool `warm_session`."""

from __future__ import annotations

import atexit
import subprocess
import sys
from argparse import REMAINDER, ArgumentParser, Namespace
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import msgspec

from seasoned.begin.warm_session import ACTIONS, warm_session
from seasoned.begin.warm_session import DESCRIPTION as TOOL_DESCRIPTION
from seasoned.config import Config, load, read_settings
from seasoned.environment import is_apart
from seasoned.errors import SeasonedError
from seasoned.hermes_plugin import host
from seasoned.hermes_plugin.confirmation import CallGate
from seasoned.hermes_plugin.host import FILE, ErrorBoundary, HermesSettings, log
from seasoned.hermes_plugin.request import SUBAGENT, HermesHints, Warmer, place_of, request_of, root_of
from seasoned.history.reader.hermes_db import AGENT
from seasoned.learn_queue import begin as begin_learning
from seasoned.learn_queue import note, wait_until_learned
from seasoned.redact.key import Secrecy, load_key
from seasoned.store import open_store

if TYPE_CHECKING:
    from seasoned.learn_queue import Kind

TOOL = "warm_session"
DESCRIPTION = "Warm starts from earlier sessions, confirmations by a person, and whether it helped."
# Actions that work on what Hermes has recorded up to now.
_READS = ("build", "profile", "compress-check", "compare")
# Actions that mean the session they are called from, unless another one is named.
_ABOUT_THIS = ("profile", "compress-check")
_FIELDS = {
    "name": ("string", "For build, load and delete: the template."),
    "description": ("string", "What the template is for."),
    "min_messages": ("integer", "For build: the fewest messages of a session (30)."),
    "max_sessions": ("integer", "For build: the most sessions to learn from (30)."),
    "source_filter": ("string", 'For build: only sessions from one place, such as "cli", "telegram" or "cron".'),
    "tags": ("array", "Words to find a template by."),
    "session_id": ("string", "For profile, compress-check and compare; by default this session."),
    "compare_with": ("string", "For compare: the cold session."),
    "task": ("string", "For load: what is to be done."),
    "tools": ("array", "For load: the tools that are available."),
    "budget": ("integer", "For load: the most tokens (1500)."),
}
SCHEMA: dict[str, Any] = {
    "name": TOOL,
    "description": TOOL_DESCRIPTION,
    "parameters": {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": list(ACTIONS)},
            **{
                name: {"type": kind, "description": text} | ({"items": {"type": "string"}} if kind == "array" else {})
                for name, (kind, text) in _FIELDS.items()
            },
        },
        "required": ["action"],
    },
}


def answer(config: Config, arguments: dict[str, Any], *, session: str, root: str | None = None) -> str:
    """The answer of the tool as JSON. An error is an answer too, which a model can act on.

    `session` is Hermes' id of the session that asks, `root` the name of its conversation in the store.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    if given.get("action") in _ABOUT_THIS and session:
        given.setdefault("session_id", session)
    try:
        redactor = Secrecy(load_key(config.home), config.redact).redactor()
        with open_store(config.store_path) as store:
            found = warm_session(
                store,
                given,
                redactor=redactor,
                session=root,
                config=config,
                entry="hermes",
                project=place_of(store, host.database_path(config.hermes_home), session).project,
            )
    except SeasonedError as error:
        found = {"success": False, "error": str(error)}
    except OSError as error:
        found = {"success": False, "error": f"Seasoned's folder cannot be used: {error.strerror or error}."}
    return msgspec.json.encode(found).decode()


def add_arguments(parser: ArgumentParser) -> None:
    """Everything after `hermes seasoned` is for Seasoned."""
    parser.add_argument("arguments", nargs=REMAINDER, help="as after `seasoned`, such as `template list`")


def run_command(given: Namespace) -> None:
    """Run Seasoned's command line in a new process, with the Python that runs Hermes."""
    # Not the program `seasoned` on the PATH, which may belong to another installation.
    code = "from seasoned.cli.main import main; main()"
    arguments = list(given.arguments) or ["--help"]
    sys.exit(subprocess.run([sys.executable, "-c", code, *arguments], check=False).returncode)


# A gateway of Hermes runs for months, so what is remembered is bounded.
_MOST = 2000
# How long an action waits until Hermes' database was read. The first time everything in it is new.
_READ_SECONDS = 30.0


def open_plugin() -> Plugin:
    """The plugin as configured. If the configuration is wrong, it only guards high-risk calls."""
    try:
        config = load()
        return Plugin(config, read_settings(config.home / FILE, HermesSettings))
    except (SeasonedError, OSError) as error:
        log.warning("Seasoned only guards high-risk calls until this is fixed: %s", error)
        return Plugin(None, HermesSettings())


class Plugin:
    """The parts of the plugin, and the methods that Hermes calls."""

    def __init__(self, config: Config | None, settings: HermesSettings) -> None:
        self._config = config
        self._settings = settings
        self._boundary = ErrorBoundary()
        self._gate = CallGate(wait_seconds=settings.wait_seconds)
        self._warmer = self._hints = None
        if config is not None:
            self._warmer = Warmer(config, config.warm.at("hermes"), self._boundary)
            self._hints = HermesHints(config, self._boundary)
        # Turns of background reviews: their calls come in threads that do not say what they work for.
        self._reviews: OrderedDict[str, None] = OrderedDict()
        # Sessions that had a turn in this process and were not closed since.
        self._open: OrderedDict[str, None] = OrderedDict()
        # Sub-agents, and the session that started each.
        self._parents: OrderedDict[str, str] = OrderedDict()

    def register(self, ctx: Any) -> None:
        """Register everything with Hermes; first what must not be missing."""
        if self._settings.confirm:
            ctx.register_hook("pre_tool_call", self.before_call)
        ctx.register_cli_command("seasoned", "Seasoned's own commands", add_arguments, run_command, DESCRIPTION)
        # In a review of ours nothing is added, and nothing is learned from.
        if self._warmer is None or self._config is None or is_apart():
            return
        ctx.register_hook("subagent_start", self.subagent_started)
        ctx.register_middleware("llm_request", self.before_request)
        ctx.register_tool(TOOL, "seasoned", SCHEMA, self.call_tool, description=DESCRIPTION, emoji="🌱")
        ctx.register_hook("post_tool_call", self.after_call)
        ctx.register_hook("on_session_end", self.turn_ended)
        ctx.register_hook("on_session_finalize", self.session_ended)
        ctx.register_hook("on_session_reset", self.session_ended)
        atexit.register(self.process_ended)
        # What was recorded while the plugin was not there, or ended without notice.
        with self._boundary.part("Learning"):
            self._learn("files")

    def before_call(self, tool_name: str = "", args: Any = None, session_id: str = "", **_: Any) -> Any:
        """None if the call may run, else a refusal. It never raises."""
        return self._gate.check(tool_name, args, session_id)

    def before_request(
        self,
        request: Any = None,
        session_id: str = "",
        platform: str = "",
        model: str = "",
        base_url: str = "",
        api_mode: str = "",
        turn_id: str = "",
        **_: Any,
    ) -> Any:
        """The request with what its conversation is shown; None if it stays as it is."""
        with self._boundary.part("The warm start"):
            is_review = host.is_review()
            if is_review:
                _remember(self._reviews, turn_id, None)
            is_child = platform == SUBAGENT or session_id in self._parents
            asked = request_of(
                request, session=session_id, model=str(model or ""), base_url=str(base_url or ""), api_mode=api_mode
            )
            if asked is None or is_child or self._warmer is None or self._hints is None:
                return None
            body = self._warmer.warm(asked, is_review=is_review)
            messages = self._hints.put_in(session_id, body["messages"])
            if messages is not body["messages"]:
                body = {**body, "messages": messages}
            if body is not asked.body:
                return {"request": body, "source": "seasoned", "reason": "warm start"}
        return None

    def after_call(
        self,
        tool_name: str = "",
        args: Any = None,
        result: Any = None,
        session_id: str = "",
        tool_call_id: str = "",
        turn_id: str = "",
        **_: Any,
    ) -> None:
        """Decide whether a line follows the result of a call."""
        with self._boundary.part("The hint"):
            is_review = turn_id in self._reviews or host.is_review()
            if self._hints is None or self._warmer is None or is_review or session_id in self._parents:
                return
            self._hints.heard(session_id, tool_call_id, tool_name, args, result, self._warmer.settings)

    def turn_ended(self, session_id: str = "", **_: Any) -> None:
        """Hermes calls it at the end of every turn."""
        with self._boundary.part("Learning"):
            if not host.is_review() and session_id not in self._parents:
                _remember(self._open, session_id, None)
                self._learn("turn", session=session_id)

    def session_ended(self, session_id: str = "", **_: Any) -> None:
        """Hermes calls it when a session is closed, or another one takes its place."""
        with self._boundary.part("Learning"):
            self._open.pop(session_id, None)
            self._learn("session", session=session_id)

    def process_ended(self) -> None:
        """Python calls it when Hermes exits. `hermes chat -q` tells no other end."""
        for session in list(self._open):
            self.session_ended(session)

    def _learn(self, kind: Kind, **fields: str) -> None:
        """Have Hermes' database read and learned from, by a process that Hermes does not wait for."""
        assert self._config is not None
        path = host.database_path(self._config.hermes_home)
        if path.exists():
            home = str(self._config.home)
            if not self._settings.reviews:
                fields["reviews"] = "no"
            note(home, kind, agent=AGENT, path=str(path), **{name: text for name, text in fields.items() if text})
            begin_learning(home)

    def subagent_started(self, parent_session_id: Any = None, child_session_id: Any = None, **_: Any) -> None:
        """Remember a sub-agent: it begins without a block, and gets no hints."""
        if child_session_id and parent_session_id:
            _remember(self._parents, str(child_session_id), str(parent_session_id))

    def call_tool(self, args: Any = None, session_id: str = "", **_: Any) -> str:
        """`warm_session`, as Hermes calls a tool."""
        assert self._config is not None
        given = args if isinstance(args, dict) else {}
        if given.get("action") in _READS:
            with self._boundary.part("Learning"):
                self._learn("files")
                wait_until_learned(str(self._config.home), _READ_SECONDS)
        root = root_of(host.database_path(self._config.hermes_home), session_id) if session_id else None
        return answer(self._config, given, session=session_id, root=root)


def _remember(known: OrderedDict[str, Any], key: str, value: Any) -> None:
    if key:
        known[key] = value
        if len(known) > _MOST:
            known.popitem(last=False)
