"""Whole conversations: the library's questions about those in memory, and their export, judged and without secrets."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from seasoned.app.stores import exists, make_redactor, own_store, read_source
from seasoned.command.tool import commits_of
from seasoned.config import Config
from seasoned.environment import for_git
from seasoned.errors import SeasonedError, UsageError
from seasoned.history.read import read
from seasoned.history.writer import (
    AddedLines,
    Verdicts,
    attribution,
    conversation,
    trace,
    trajectory,
    written_lines,
)
from seasoned.outcome.judge import judge_session
from seasoned.outcome.track import Track, track_of
from seasoned.price import PROVIDER_OF_AGENT
from seasoned.redact.redactor import Redactor
from seasoned.report.compare import Comparison, compare_sessions, compare_sets
from seasoned.report.compression import CompressionCheck, check
from seasoned.report.profile import Profile
from seasoned.report.profile import profile as profile_of
from seasoned.session import Message, Session, SessionRef, ToolCall
from seasoned.store.search import find_session

Conversation = Session | Sequence[Mapping[str, Any]]


def profile(conversation: Conversation) -> Profile:
    """How much was done, what failed, by which tools, early and late."""
    return profile_of(_track(conversation))


def compare(warm: Conversation | Sequence[Conversation], cold: Conversation | Sequence[Conversation]) -> Comparison:
    """Whether one conversation, or a set of them, failed less often than another, with interval and test."""
    first, second = _tracks(warm, "warm"), _tracks(cold, "cold")
    if len(first) == len(second) == 1:
        return compare_sessions(first[0], second[0])
    return compare_sets(first, second)


def compress_check(*conversations: Conversation) -> CompressionCheck:
    """Whether a conversation lost what it knew when its context was compressed; several if it went on in new ones."""
    return check([_track(one, f"part-{at}") for at, one in enumerate(conversations)])


def _tracks(given: Any, name: str) -> list[Track]:
    """The tracks of a conversation or of several."""
    is_one = isinstance(given, Session) or not given or isinstance(given[0], Mapping)
    return [_track(one, f"{name}-{at}") for at, one in enumerate([given] if is_one else given)]


def _track(conversation: Conversation, name: str = "messages") -> Track:
    return track_of(conversation if isinstance(conversation, Session) else _session(conversation, name))


def _session(messages: Sequence[Mapping[str, Any]], name: str) -> Session:
    """The session that these messages are, read like a log of them."""
    with TemporaryDirectory(prefix="seasoned-") as folder:
        path = Path(folder) / f"{name}.json"
        path.write_bytes(msgspec.json.encode({"messages": [dict(one) for one in messages]}))
        found = [one for one in read(path) if isinstance(one, Session)]
    if len(found) != 1 or not messages:
        raise UsageError(
            "These are not the messages of one conversation. Give a list of messages as an API takes them."
        )
    return msgspec.structs.replace(found[0], ref=SessionRef(found[0].ref.agent, name), path="")


# How each format writes one session.
FORMATS: Mapping[str, Callable[[Session, Verdicts], dict[str, Any]]] = {
    "atif": trajectory,
    "otel": trace,
    "jsonl": conversation,
}


def export_sessions(
    config: Config, named: Sequence[str], format: str, *, left_out: Callable[[str, str], None]
) -> Iterator[str]:
    """A line of JSON for each session: those with these ids or under these paths, else all of the store.

    `left_out` is called with each session of the store whose file is gone, and why.
    """
    redactor = make_redactor(config)
    if format == AGENT_TRACE:
        for session in _sessions(config, named, left_out):
            for record in _attributions(session, redactor, left_out):
                yield msgspec.json.encode(record).decode() + "\n"
        return
    write = FORMATS[format]
    for session in _sessions(config, named, left_out):
        verdicts = {call.id: (found.verdict, redactor.text(found.reason)) for call, found in judge_session(session)}
        yield msgspec.json.encode(write(redacted(session, redactor), verdicts)).decode("utf-8", "replace") + "\n"


AGENT_TRACE = "agent-trace"
_GIT_SECONDS = 30


def _attributions(
    session: Session, redactor: Redactor, left_out: Callable[[str, str], None]
) -> Iterator[dict[str, Any]]:
    """What the session wrote of each commit that it made; a commit that is not in the checkout any more is left out."""
    written: set[str] = set()
    about = redacted(msgspec.structs.replace(session, messages=()), redactor)
    for call in session.calls():
        written |= set() if call.synthetic else written_lines(call)
        for made in commits_of(call):
            commit = _committed(session.cwd or "", made.id, redactor)
            if commit is None:
                left_out(f"commit {made.id} of {session.ref}", "It is not in the checkout of the session here.")
                continue
            if record := attribution(about, commit, written, provider=PROVIDER_OF_AGENT.get(session.ref.agent)):
                yield record


_HUNK = re.compile(r"@@ -\S+ \+(\d+)")


def _committed(folder: str, commit: str, redactor: Redactor) -> AddedLines | None:
    """A commit with the lines that it adds; None where git does not have it."""
    plain = ["--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--src-prefix=a/", "--dst-prefix=b/"]
    command = ["git", "-c", "core.quotePath=false", "-C", folder, "show", *plain, "--unified=0", "--format=%H %ct"]
    try:
        done = subprocess.run([*command, commit], env=for_git(), capture_output=True, timeout=_GIT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    head, _, rest = done.stdout.decode("utf-8", "replace").partition("\n")
    if done.returncode or not folder:
        return None
    added: dict[str, dict[int, str]] = {}
    path, number = "", 0
    for line in rest.split("\n"):
        if line.startswith("+++ "):
            path = redactor.text(line[4:].removeprefix("b/"))
        elif found := _HUNK.match(line):
            number = int(found[1])
        elif line.startswith("+"):
            added.setdefault(path, {})[number] = line[1:]
            number += 1
    name, _, seconds = head.partition(" ")
    return AddedLines(name, float(seconds), added)


def _sessions(config: Config, named: Sequence[str], left_out: Callable[[str, str], None]) -> Iterator[Session]:
    for text in named:
        if exists(text):
            yield from read(text)
            continue
        with own_store(config) as store:
            row = find_session(store, text)
        yield read_source(row)
    if named:
        return
    with own_store(config) as store:
        # The store, and not the folders of the agents: what was forgotten stays forgotten.
        rows = store.rows("session.by_native_id", {"agent": None, "native_id": "%"})
    for row in rows:
        try:
            yield read_source(row)
        except SeasonedError as error:
            left_out(f"{row['agent']}:{row['native_id']}", str(error))


def redacted(session: Session, redactor: Redactor) -> Session:
    """The session without secrets, in every text of it."""

    def clean(text: str | None) -> str | None:
        return None if text is None else redactor.text(text)

    def clean_call(call: ToolCall) -> ToolCall:
        result = call.result
        if result is not None:
            result = msgspec.structs.replace(result, text=redactor.text(result.text))
        arguments = redactor.value(call.arguments)
        return msgspec.structs.replace(call, tool=redactor.text(call.tool), arguments=arguments, result=result)

    def clean_message(message: Message) -> Message:
        return msgspec.structs.replace(
            message,
            text=redactor.text(message.text),
            thinking=redactor.text(message.thinking),
            calls=tuple([clean_call(call) for call in message.calls]),
        )

    names = ("title", "cwd", "remote", "branch", "application", "platform")
    about = {name: clean(getattr(session, name)) for name in names}
    messages = tuple([clean_message(message) for message in session.messages])
    return msgspec.structs.replace(session, messages=messages, **about)
