"""The receipt of a session: what it was shown, what it used, and what was kept of it.

Only calls count as proof. Reading a note leaves no trace, so whether it was used is unknown.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from seasoned.command.written import written
from seasoned.config import Config
from seasoned.errors import UsageError
from seasoned.experiment.live.assignment import is_held_back
from seasoned.lazy_regex import LazyRegex
from seasoned.lesson.ask import LessonLookup
from seasoned.lesson.evidence import FormUse, form_uses
from seasoned.outcome.track import JudgedCall, Track, tracks
from seasoned.store import Store
from seasoned.store.search import find_session

Place = Literal["start", "prompt", "before", "after", "memory", "skill", "examples", "kept"]
Used = Literal["used", "not used", "failed", "unknown"]
# Conversations that `use_of` reads.
_NEWEST = 100
# A call is written down a moment before or after the hook that answers it.
_CLOCK_SECONDS = 2.0
_CODE = LazyRegex(r"`([^`\n]+)`")
_SKILL = LazyRegex(r"- ([a-z0-9][\w.-]*): .* \((/[^()]+/SKILL\.md)\)\Z")
_SKILL_TOOLS = ("Skill", "skill_view")


class ReceiptItem(msgspec.Struct, frozen=True):
    """One thing that a session was shown, or that was kept of it."""

    place: Place
    text: str
    at: float
    used: Used = "unknown"
    reason: str = ""  # why that is not known


class Receipt(msgspec.Struct, frozen=True):
    """What a session was shown and what became of it."""

    session: str
    project: str | None
    is_read: bool  # whether its calls are in the store; if not, nothing is known about use
    items: tuple[ReceiptItem, ...]

    def count(self, used: Used) -> int:
        return sum(item.used == used for item in self.shown)

    @property
    def shown(self) -> tuple[ReceiptItem, ...]:
        return tuple(item for item in self.items if item.place != "kept")

    @property
    def kept(self) -> tuple[ReceiptItem, ...]:
        return tuple(item for item in self.items if item.place == "kept")


class ShownUse(msgspec.Struct, frozen=True):
    """What the newest conversations were shown, and what they then used."""

    conversations: int = 0
    shown: int = 0  # lines and hints whose use can be seen
    used: int = 0
    failed: int = 0


def use_of(store: Store, *, project: str | None = None) -> ShownUse:
    """What became of what the newest conversations were shown."""
    items: list[ReceiptItem] = []
    rows = store.rows("receipt.newest", {"project": project, "limit": _NEWEST})
    for row in rows:
        items += receipt_of(store, row["conversation"]).shown
    known = [item.used for item in items if item.used != "unknown"]
    return ShownUse(len(rows), len(known), known.count("used"), known.count("failed"))


def find_conversation(store: Store, text: str | None) -> str | None:
    """The conversation that a person means by an id or its beginning; without one, the newest that was shown anything.

    None if there is none at all.
    """
    agent, _, native = (text or "").rpartition(":")
    escaped = native.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    pattern = f"{agent}:{escaped}%" if agent else f"%:{escaped}%"
    found: list[str] = [row["conversation"] for row in store.rows("receipt.conversations", {"pattern": pattern})]
    if text is None:
        return found[0] if found else None
    exact = [one for one in found if one in (text, f"{agent}:{native}") or one.partition(":")[2] == text]
    if len(exact) == 1 or len(found) == 1:
        return (exact or found)[0]
    if found:
        raise UsageError(f"{text!r} matches several sessions ({', '.join(found[:5])}). Give more of the id.")
    return None


def receipt_of(store: Store, conversation: str) -> Receipt:
    """The receipt of a conversation."""
    told = store.rows("receipt.told", {"conversation": conversation})
    project = next((row["project"] for row in told if row["project"]), None)
    agent, _, native = conversation.partition(":")
    ids = [row["id"] for row in store.rows("receipt.sessions", {"agent": agent, "native_id": native})]
    read = list(tracks(store, sessions=ids))
    project = project or next((track.project for track in read if track.project), None)
    session = _Calls(read)
    items = [item for row in told for item in _items(row["place"], row["text"], row["told_at"], session)]
    for row in store.rows("receipt.examples", {"conversation": conversation}):
        number = len(msgspec.json.decode(row["example_ids"]))
        why = "`seasoned template show` counts their use over all sessions"
        text = f"{row['template']}@{row['version']}: {number} examples" if number else ""
        items += [ReceiptItem("examples", text, row["created_at"], reason=why)] if text else []
    items += _kept(store, conversation)
    return Receipt(conversation, project, bool(read), tuple(items))


class _Calls:
    """The calls of a conversation, as far as they are in the store."""

    def __init__(self, read: Sequence[Track]) -> None:
        self.is_read = bool(read)
        self.calls: list[JudgedCall] = [call for track in read for call in track.calls]
        self.uses: list[tuple[JudgedCall, FormUse]] = [
            (call, use) for track in read for call in track.calls for use in form_uses(call, track.cwd)
        ]

    def outcome(self, form: str, tried: str, since: float | None) -> Used:
        """What became of a form after it was shown; it failed only if a call with this text in it did."""
        seen = [use for call, use in self._since(since) if use.form in (form, form.rpartition("&& ")[2])]
        if any(use.worked for use in seen):
            return "used"
        return "failed" if any(use.worked is False and tried in use.text for use in seen) else "not used"

    def names(self, path: str, since: float | None) -> bool:
        """Whether a call that worked named a path."""
        calls = [call for call in self.calls if since is None or (call.time or since) >= since - _CLOCK_SECONDS]
        return any(call.verdict == "ok" and path in call.raw_arguments for call in calls)

    def _since(self, since: float | None) -> Iterator[tuple[JudgedCall, FormUse]]:
        for call, use in self.uses:
            # A call whose time is not known may have come after it.
            if since is None or call.time is None or call.time >= since - _CLOCK_SECONDS:
                yield call, use


def _items(place: str, text: str, at: float, session: _Calls) -> Iterator[ReceiptItem]:
    if place == "kept":
        return  # the journal says more
    if place == "memory":
        yield from _of_memory(text, at, session)
        return
    lines = [line[2:] for line in text.splitlines() if line.startswith("- ")] if place == "start" else text.splitlines()
    for line in lines:
        used, why = _use(place, line, at, session)
        yield ReceiptItem(msgspec.convert(place, Place), line.removeprefix("In this project: "), at, used, why)


def _use(place: str, line: str, at: float, session: _Calls) -> tuple[Used, str]:
    if not session.is_read:
        return "unknown", "the session is not in the store yet"
    forms = list(_forms(line))
    since = None if place == "start" else at
    if forms:
        # The call that a hint answers often has the form of the hint, and failed: it did not try what the hint says.
        found = [session.outcome(form, text if place in ("before", "after") else "", since) for form, text in forms]
        order: tuple[Used, ...] = ("used", "failed", "not used")
        return next(one for one in order if one in found), ""
    quoted = _CODE.compiled.findall(line)
    if quoted:
        return ("used" if session.names(quoted[0], since) else "not used"), ""
    return "unknown", "no call shows whether it was followed"


def _forms(text: str) -> Iterator[tuple[str, str]]:
    """The forms of the commands that a line quotes, each with the text of its last command."""
    for quoted in _CODE.compiled.findall(text):
        parts = [one for one in written(quoted.removesuffix(" …")) if one.form]
        # A path alone is not a command.
        if parts and not (len(parts) == 1 and re.fullmatch(r"[\w./-]+\.\w{1,5}", quoted)):
            yield " && ".join(one.form for one in parts), parts[-1].text


def _of_memory(text: str, at: float, session: _Calls) -> Iterator[ReceiptItem]:
    for line in text.splitlines():
        skill = _SKILL.compiled.match(line)
        if skill is not None:
            name, path = skill.groups()
            used: Used = "used" if _opened(session, name, path) else "not used"
            why = "" if session.is_read else "the session is not in the store yet"
            yield ReceiptItem("skill", name, at, used if session.is_read else "unknown", why)
        elif line.startswith("- "):
            yield ReceiptItem("memory", line[2:], at, reason="a note that is read leaves no trace")


def _opened(session: _Calls, name: str, path: str) -> bool:
    by_tool = any(call.tool in _SKILL_TOOLS and name in call.raw_arguments for call in session.calls)
    return by_tool or session.names(path, None)


def _kept(store: Store, conversation: str) -> list[ReceiptItem]:
    found = []
    for row in store.rows("receipt.kept", {"session": conversation}):
        what = f"{row['kind']} {row['target']}" if row["kind"] == "memory" else f"skill {row['target']}/{row['file']}"
        waits = " (waits for you)" if row["state"] == "staged" else ""
        said = f": {' '.join(row['after'].split())[:120]}" if row["kind"] == "memory" and row["after"] else ""
        found.append(ReceiptItem("kept", f"change {row['id']}, {row['action']} {what}{said}{waits}", row["at"]))
    return found


def require_conversation(store: Store, text: str) -> str:
    """The conversation that a person means, also one that was shown nothing; NotFound names similar ids."""
    found = find_conversation(store, text)
    if found is None:
        row = find_session(store, text)
        found = f"{row['agent']}:{row['native_id']}"
    return found


def why_cold(store: Store, config: Config, found: Receipt) -> str:
    """Why a session was shown nothing; empty if it was shown something."""
    if found.shown:
        return ""
    agent, _, native = found.session.partition(":")
    warm = config.warm.at("library")
    if not config.warm.enabled or agent in warm.off:
        return "Warm starts are switched off for it, under [warm] in config.toml."
    if is_held_back(config, store, found.session, warm, now=time.time()):
        return f"The experiment {warm.experiment!r} put it into an arm that shows nothing."
    rows = store.rows("receipt.sessions", {"agent": agent, "native_id": native})
    if any(track.relation == "subagent" for track in tracks(store, sessions=[row["id"] for row in rows])):
        return "It is a sub-agent, and those begin without."
    if found.project is None:
        return "It belongs to no project."
    if not LessonLookup(store, found.project, found.session).sheet()[0]:
        return "Nothing is known about its project that may be shown: `seasoned lessons --all` says why."
    return "It began before anything was known, or its agent was not connected (`seasoned connect`)."
