"""`chat` and `model`: talk to an agent, and download the local model."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import asdict

from seasoned.app.agent import ChatPlan, plan_chat
from seasoned.cli.options import Commands, base_url_option, json_option, model_option
from seasoned.cli.output import console, print_json, printable
from seasoned.config import load
from seasoned.errors import CannotDo, UsageError
from seasoned.runner.model import LARGE, SMALL, fetch_model
from seasoned.runner.stream_events import CallFinished, CallStarted, ContextCompressed, Event, TextEvent, Turn
from seasoned.text import plural

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

    from seasoned.review.background import Reviewer
    from seasoned.runner.conversation import Conversation
    from seasoned.runner.runtime import Question

_COLOURS = {"ok": "green", "failed": "red", "unclear": "yellow"}
_HELP = """/new    start a new conversation
/exit   leave (also Ctrl-D)
/help   show this
Ctrl-C stops the current turn."""


def talk_once(plan: ChatPlan, prompt: str, *, as_json: bool) -> None:
    """One turn. No question is asked here: what needs permission goes to the confirmation service, or is denied."""
    called: list[dict[str, Any]] = []
    screen = None if as_json else Screen(console(), console(stderr=True))
    conversation = plan.start() if screen is None else plan.start(tell=screen.note)

    # Events are collected also with --json, where nothing is drawn while the turn runs.
    def on_event(event: Event) -> None:
        if isinstance(event, CallFinished):
            verdict = event.verdict
            found = {"verdict": verdict.verdict, "fault": verdict.fault, "reason": verdict.reason}
            called.append({"call": event.call_id, "tool": event.tool, "arguments": event.arguments, **found})
        if screen is not None:
            screen.show(event)

    with asyncio.Runner() as runner, contextlib.ExitStack() as reviewing:
        try:
            with _connected(conversation, runner):
                turn = _run(conversation, prompt, on_event, runner)
        finally:
            # Also after an error: the turn so far is recorded.
            note = plan.end(conversation)
        if as_json:
            print_json("chat", _answer(plan, conversation, turn, called, note))
        elif screen is not None:
            screen.end(turn)
        reviewer = _reviewer(plan, conversation)
        reviewing.callback(reviewer.close)
        # After the answer is out: this process must live until the review has ended, but no reader waits for it.
        if reviewer.after_turn(conversation, turn):
            _await_review(reviewer)
    if turn.stopped is not None:
        # After printing: what the model managed to say is still useful.
        raise CannotDo(turn.reason or "The turn was stopped.")


def _answer(
    plan: ChatPlan, conversation: Conversation, turn: Turn, called: list[dict[str, Any]], note: str | None
) -> dict[str, Any]:
    warmth = conversation.warmth
    return {
        "session": conversation.ref.native_id,
        "model": plan.choice.name,
        "text": turn.text,
        "requests": turn.requests,
        "calls": called,
        "usage": asdict(turn.usage),
        "cost_usd": turn.cost_usd,
        "seconds": turn.seconds,
        "first_token_seconds": turn.first_token_seconds,
        "stopped": turn.stopped,
        "reason": turn.reason,
        "warm": None if warmth is None else {"template": warmth.template, "reason": warmth.reason},
        "notes": [*turn.notes, *([note] if note else [])],
    }


def talk(plan: ChatPlan) -> None:
    """Turn after turn, until the user leaves."""
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  arrows and history at the prompt

    out = console()
    screen = Screen(out, out)
    asking = _Asking(screen)
    # Importing the agent takes a second; meanwhile the user types.
    with ThreadPoolExecutor(max_workers=1) as loader, asyncio.Runner() as runner:
        # One thread, so that a second conversation never starts before the first has loaded.
        started = loader.submit(plan.start, asking, screen.note)
        _greet(plan, out)
        while True:
            try:
                # Opened with the first prompt and closed with the conversation, on the loop of this thread.
                with contextlib.ExitStack() as connection:
                    leaves = _talk(plan, screen, started, runner, connection)
            finally:
                _close(plan, started, screen)
            if leaves:
                return
            # A new conversation continues nothing, even if this one was resumed.
            started = loader.submit(replace(plan, recorded=None).start, asking, screen.note)
            out.print("New conversation.", style="dim")


def _talk(
    plan: ChatPlan,
    screen: Screen,
    started: Future[Conversation],
    runner: asyncio.Runner,
    connection: contextlib.ExitStack,
) -> bool:
    """One conversation, until the user wants a new one (False) or leaves (True)."""
    conversation: Conversation | None = None
    reviewer: Reviewer | None = None
    while True:
        if reviewer is not None:
            # Only between turns: a background review must not print into an answer.
            screen.tell(reviewer.take_lines())
        try:
            typed = input("\n> ").strip()
        except EOFError:
            screen.out.print()
            return True
        # At the prompt Ctrl-C only clears the line. Leaving by accident would lose the conversation.
        except KeyboardInterrupt:
            screen.out.print("\n/exit leaves.", style="dim")
            continue
        if typed in ("/exit", "/quit"):
            return True
        if typed == "/new":
            return False
        if typed == "/help":
            screen.out.print(_HELP)
        # A misspelt command is not sent to the model; a path in a sentence is.
        elif typed.startswith("/") and " " not in typed:
            screen.out.print(f"Unknown command {printable(typed)!r}. /help lists them.", style="yellow", markup=False)
        elif typed:
            if conversation is None:
                conversation = started.result()
                connection.enter_context(_connected(conversation, runner))
                reviewer = _reviewer(plan, conversation)
                connection.callback(reviewer.close)
            turn = _run(conversation, typed, screen.show, runner)
            screen.end(turn)
            if reviewer is not None:
                # Decides itself whether a review is due, and runs it in the background.
                reviewer.after_turn(conversation, turn)


def _reviewer(plan: ChatPlan, conversation: Conversation) -> Reviewer:
    from seasoned.review.background import start_reviewer

    return start_reviewer(plan.config, conversation, plan.choice)


def _await_review(reviewer: Reviewer) -> None:
    """Wait for a review, and say what it kept on stderr; Ctrl-C ends it."""
    sys.stdout.flush()
    with contextlib.suppress(KeyboardInterrupt):
        # In steps, because a thread that waits without a limit does not see Ctrl-C.
        while not reviewer.wait(0.2):
            pass
    Screen(console(), console(stderr=True)).tell(reviewer.take_lines())


def _close(plan: ChatPlan, started: Future[Conversation], screen: Screen) -> None:
    """End a conversation that has begun; if its start failed, there is nothing to end."""
    if started.exception() is None and (note := plan.end(started.result())) is not None:
        screen.warn(note)


def _greet(plan: ChatPlan, out: Console) -> None:
    from rich.text import Text

    warm = f" · warm: {plan.warm}" if plan.warm else ""
    out.print(Text(f"{plan.choice.name} · {plan.folder.resolve()}{warm} · /help", style="dim"))
    if plan.recorded is not None:
        about = plan.recorded.about
        text = f"Continuing {about.ref.native_id}: {plan.recorded.title or 'untitled'}"
        out.print(Text(printable(f"{text} ({plural(len(plan.recorded.bodies), 'message')})"), style="dim"))


@contextlib.contextmanager
def _connected(conversation: Conversation, runner: asyncio.Runner) -> Iterator[None]:
    """The connection to the model, open between turns."""
    # By hand, because the loop runs only during turns and `async with` cannot span them.
    runner.run(conversation.__aenter__())
    try:
        yield
    finally:
        runner.run(conversation.__aexit__(None, None, None))


def _run(conversation: Conversation, prompt: str, on_event: Callable[[Event], None], runner: asyncio.Runner) -> Turn:
    """One turn; Ctrl-C ends it, and not the program."""

    async def turn() -> Turn:
        loop = asyncio.get_running_loop()
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            # Not every loop can handle signals; there Ctrl-C cancels the turn from outside.
            loop.add_signal_handler(signal.SIGINT, conversation.stop)
        try:
            return await conversation.turn(prompt, on_event=on_event)
        finally:
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                loop.remove_signal_handler(signal.SIGINT)

    return runner.run(turn())


class _Asking:
    """Asks the person at the terminal before a call is made that destroys or reaches out."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    async def __call__(self, question: Question) -> bool:
        self._screen.pause()
        # A pipe cannot be asked, so the answer is no.
        if not sys.stdin.isatty():
            return False
        from rich.text import Text

        text = " ".join(f"{name}={value!r}" for name, value in question.arguments.items())
        out = self._screen.out
        out.print(Text(f"\n{question.tool} {printable(text)[:2000]}", style="bold"))
        # The reason is a verb phrase, such as "must be allowed".
        out.print(Text(f"It {printable(question.reason)}.", style="yellow"))
        # Ctrl-C means no here. The loop sees it too, afterwards, and ends the turn.
        former_handler = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            return input("Allow it? [y/N] ").strip().lower() in ("y", "yes")
        except (EOFError, KeyboardInterrupt):
            return False
        finally:
            signal.signal(signal.SIGINT, former_handler)


class Screen:
    """Prints a turn as it happens: text on `out`, and on `notes` one line for each call and what a turn took."""

    def __init__(self, out: Console, notes: Console) -> None:
        self.out = out
        self._notes = notes
        # Calls under way, by id: models make several at once, and they end in any order.
        self._open: dict[str, str] = {}
        self._status: Status | None = None
        self._is_in_line = False

    def show(self, event: Event) -> None:
        from rich.text import Text

        if isinstance(event, TextEvent):
            self.pause()
            self.out.print(Text(printable(event.text)), end="")
            # Whether streamed text has left the cursor inside a line, which must end before anything else is printed.
            self._is_in_line = not event.text.endswith("\n")
        elif isinstance(event, CallStarted):
            self._open[event.call_id] = f"{event.tool} {_arguments_line(event.arguments)}"
            self._wait()
        elif isinstance(event, CallFinished):
            self._open.pop(event.call_id, None)
            self.pause()
            line = Text("  ")
            line.append(f"{event.verdict.verdict:<8}", style=_COLOURS[event.verdict.verdict])
            line.append(f"{printable(event.tool)} ", style="bold")
            line.append(_arguments_line(event.arguments))
            line.append(f"  {event.seconds:.1f} s", style="dim")
            if event.verdict.verdict != "ok":
                line.append(f"  {printable(event.verdict.reason)[:120]}", style="dim")
            self._print_note(line)
            self._wait()
        elif isinstance(event, ContextCompressed):
            self.pause()
            self._print_note(Text("The context was nearly full, so the conversation continues with a summary.", "dim"))

    def end(self, turn: Turn) -> None:
        """What the turn took, and why it stopped if it did not end by itself."""
        from rich.text import Text

        self.pause()
        self._open.clear()
        parts = [plural(turn.requests, "request")]
        if turn.usage.prompt is not None:
            parts.append(f"{plural(turn.usage.prompt, 'token')} in, {plural(turn.usage.output or 0, 'token')} out")
        if turn.cost_usd is not None:
            parts.append(f"${turn.cost_usd:.4f}")
        self._print_note(Text(" · ".join([*parts, f"{turn.seconds:.1f} s"]), style="dim"))
        if turn.reason is not None:
            self.warn(turn.reason)
        for note in turn.notes:
            self.warn(note)

    def tell(self, lines: Iterable[str]) -> None:
        """What happened in the background."""
        from rich.text import Text

        for line in lines:
            self._print_note(Text(printable(line), style="dim"))

    def note(self, line: str) -> None:
        """A line about what is being waited for; may come from any thread."""
        self.pause()
        self.warn(line)

    def warn(self, text: str) -> None:
        from rich.text import Text

        self._print_note(Text(printable(text), style="yellow"))

    def pause(self) -> None:
        """Remove the line that says what is being waited for."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def _wait(self) -> None:
        # In a file or pipe a spinner would leave control characters behind.
        if self._open and self._notes.is_terminal:
            from rich.text import Text

            self.pause()
            self._end_line()
            self._status = self._notes.status(Text(next(reversed(self._open.values()))[:100]))
            self._status.start()

    def _print_note(self, line: Any) -> None:
        self._end_line()
        # One line for each: what is longer than the terminal is cut, not wrapped.
        self._notes.print(line, no_wrap=True, overflow="ellipsis", crop=True)

    def _end_line(self) -> None:
        if self._is_in_line:
            self.out.print()
            self._is_in_line = False


def _arguments_line(arguments: dict[str, Any]) -> str:
    """Arguments in one line: a single one by its value alone."""
    if len(arguments) == 1:
        text = str(next(iter(arguments.values())))
    else:
        text = " ".join(f"{name}={value!r}" for name, value in arguments.items())
    # On one line, because a call is shown as one.
    return printable(" ".join(text.split()))[:200]


@click.command()
@model_option
@base_url_option
@click.option("--warm", metavar="NAME|auto", help="Begin with the examples of a template, or of the best one.")
@click.option("--resume", metavar="SESSION", help="Continue a recorded conversation.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    default=Path(),
    help="The working folder, which file tools cannot leave. Default: the current one.",
)
@click.option("--toolsets", help="Toolset names separated by commas; `none` for no tools.")
@click.option(
    "--once",
    metavar="PROMPT",
    help="One turn without questions: what needs permission is denied, or sent to `confirm_url`. `-` reads the prompt.",
)
@json_option
def chat(
    model: str | None,
    base_url: str | None,
    warm: str | None,
    resume: str | None,
    folder: Path,
    toolsets: str | None,
    once: str | None,
    as_json: bool,
) -> None:
    """Chat with an agent that has tools.

    Every conversation is recorded and judged.

    \b
    Example: seasoned chat --warm auto
    """
    if as_json and once is None:
        raise UsageError("--json works for one turn. Give the prompt with --once.")
    # `none` gives an empty tuple: no tools. Without the option, the configuration decides.
    names = None if toolsets is None else tuple(name for name in toolsets.split(",") if name and name != "none")
    plan = plan_chat(load(), model=model, base_url=base_url, warm=warm, resume=resume, folder=folder, toolsets=names)
    if once is None:
        talk(plan)
    else:
        talk_once(plan, sys.stdin.read() if once == "-" else once, as_json=as_json)


@click.group(cls=Commands)
def model() -> None:
    """Manage models on this machine."""


@model.command()
@click.option("--large", is_flag=True, help="Download one with 1.5 billion parameters instead (1.1 GB).")
@json_option
def fetch(large: bool, as_json: bool) -> None:
    """Download the small local model (93 MB).

    It is what `chat --model local` talks to. Its digest is checked. The large one is for experiments, and used by its
    path: `chat --model local:PATH`.

    \b
    Example: seasoned model fetch
    """
    fetched = fetch_model(load().model_folder, LARGE if large else SMALL)
    if as_json:
        print_json("model", {"path": str(fetched.path), "bytes": fetched.bytes, "is_new": fetched.is_new})
    else:
        click.echo(f"{'Downloaded' if fetched.is_new else 'Already there'}: {fetched.path}")
