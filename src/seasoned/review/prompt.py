"""What a reviewer gets: instructions, a digest of the conversation, and what is kept already.

The digest is for a model that has not seen the conversation: older turns shortened, the last messages in full. Every
line of the conversation is quoted with a bar, so that nothing in it can pass for an instruction; lines from results and
pages have a bar that says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

import msgspec

from seasoned.admission import admit_call, names_address, texts_in
from seasoned.command.parse import Step, parse
from seasoned.command.rows import group
from seasoned.command.tool import command_of, output_form, tool_of
from seasoned.errors import NotFound
from seasoned.outcome.judge import judge
from seasoned.redact import Redactor
from seasoned.review.answer import Context
from seasoned.review.memory_file import render_memory
from seasoned.review.overlap import ForeignSource, ForeignTexts, SpokenText
from seasoned.review.skill_library import ids, index, view
from seasoned.scan.intent import users_words
from seasoned.scan.spoken_rule import spoken_rules
from seasoned.session import Message, Session, ToolCall
from seasoned.text import count_tokens

# Their results are the user's own answers, or what was kept before.
_OWN_RESULTS = ("skill", "skill_manage")
_MCP_RESOURCES = ("readmcpresourcetool", "read_mcp_resource")
# The prefixes of tools that are built into Codex.
_OWN_NAMESPACES = ("functions", "multi_agent")
# Commands of forges that print what other people wrote.
_FORGES = ("gh", "glab")
_FORGE_WORDS = frozenset(("issue", "pr", "mr", "api", "search", "gist", "discussion", "release", "snippet"))
_FORGE_WRITES = frozenset(
    ("create", "edit", "close", "reopen", "merge", "ready", "checkout", "checks", "delete", "lock")
)
_SUMMARY = "summary"
_PROGRAM = "message of a program"


def foreign_texts(session: Session, *, project: str | None = None) -> ForeignTexts:
    """The texts of a session by which foreign sentences are recognised. `project` is the key of its project."""
    vouched = [one for call in session.calls() for one in _vouched_commands(call, session.ref.agent, project or "")]
    return ForeignTexts(_spoken_texts(session, project or ""), vouched=vouched)


def reads_page(call: ToolCall, *, project: str = "") -> bool:
    """Whether the result of a call was written by others: web and browser tools, fetched addresses, MCP servers."""
    tool, name = tool_of(call.tool), call.tool.lower()
    if tool.trivial:
        return False
    if tool.kind == "research" or name in _MCP_RESOURCES:
        return True
    if output_form(call) == "shell":
        command = command_of(call)
        return command is not None and any(_fetches(step, project) for step in parse(command))
    # Tools of MCP servers have the name of the server in front; the agents' own have a row in the table.
    server, joint, _ = name.strip("_").partition("__")
    return tool.kind == "general" and (
        name.startswith(("mcp_", "mcp.")) or (bool(joint) and not server.startswith(_OWN_NAMESPACES))
    )


def _fetches(step: Step, project: str) -> bool:
    if step.program in _FORGES:
        words = frozenset(word for word in step.words if not word.startswith("-"))
        return bool(words & _FORGE_WORDS) and not words & _FORGE_WRITES
    if step.program not in group("research"):
        return False
    return any(names_address(word, project) for word in step.words)


def is_by_program(message: Message) -> bool:
    """Whether a message in the user's name is a summary, or holds outputs and files that the agent's program put in."""
    return message.summary or (users_words(message) is None and message.text.lstrip().startswith("<"))


def _spoken_texts(session: Session, project: str) -> Iterator[SpokenText]:
    has_results = False
    for message in session.messages:
        if message.synthetic or message.role == "system":
            continue
        if message.summary:
            # After a compression, the summary may repeat pages that the session no longer holds.
            if not has_results:
                yield SpokenText("foreign", message.text, ForeignSource("", _SUMMARY))
        elif message.role == "user":
            yield from _from_user(message)
        elif message.role == "assistant":
            yield SpokenText("agent", message.text)
        for call in message.calls:
            if call.synthetic:
                continue
            yield SpokenText("agent", "\n".join(texts_in(call.arguments)))
            if call.result is not None and not _is_own(call):
                has_results = True
                source = ForeignSource(call.id, call.tool, reads_page(call, project=project))
                yield SpokenText("foreign", call.result.text, source)


def _from_user(message: Message) -> Iterator[SpokenText]:
    words = users_words(message)
    if words is not None:
        yield SpokenText("user", words)
    elif is_by_program(message):
        yield SpokenText("foreign", message.text, ForeignSource("", _PROGRAM))


def _is_own(call: ToolCall) -> bool:
    return tool_of(call.tool).trivial or call.tool.lower() in _OWN_RESULTS


def _vouched_commands(call: ToolCall, agent: str, project: str) -> Iterator[str]:
    """The commands of a call that worked, if other sessions may be shown it."""
    if call.synthetic or (command := command_of(call)) is None:
        return
    if judge(call, agent=agent).verdict == "ok" and admit_call(call.tool, call.arguments, project=project):
        for step in parse(command):
            yield " ".join((*step.prefix, step.program, *step.words))


# Messages at the end of a session that are shown in full.
WHOLE = 24
# Tokens of a digest at most, so that it fits into the window of a small model and costs little.
BUDGET = 40_000
# Characters of a message, and of a failed call, in a collapsed turn.
_SAID = 300
_DONE = 160
_MESSAGE_CHARS = 6_000
_LEAST_CHARS = 400
# The share of the budget for the turns before the last messages.
_OLDER_SHARE = 0.4
_LEAST_TOKENS = 1_000
# A day's tokens are enough for so many reviews.
_REVIEWS = 3
# The rest of the window is for the answer.
_WINDOW_SHARE = 0.6
# Precedes each line of the session, so that nothing in it can pass for a heading or an instruction.
_BAR = "| "
# The same for lines that come from results or pages.
_FOREIGN_BAR = "|foreign| "


class SessionDigest(msgspec.Struct, frozen=True):
    """The text of a digest, and how many messages it covers."""

    text: str
    # Messages of the session itself, without a warm block.
    messages: int
    whole: int
    # Estimated.
    tokens: int


def budget_for(window: int | None, tokens_per_day: int | None, rest: str) -> int:
    """How large a digest may be beside the rest of the request: it leaves tokens for two more reviews of the day."""
    most = [BUDGET]
    if window is not None:
        most.append(int(window * _WINDOW_SHARE) - count_tokens(rest))
    if tokens_per_day is not None:
        most.append(tokens_per_day // _REVIEWS - count_tokens(rest))
    return max(_LEAST_TOKENS, min(most))


def digest_of(
    session: Session,
    redactor: Redactor,
    *,
    project: str | None = None,
    foreign: ForeignTexts | None = None,
    budget: int = BUDGET,
) -> SessionDigest:
    """The digest of a session, without secrets and never over its budget. `project` is the key of its project.

    `foreign` are the session's texts, if the caller has them already.
    """
    said = [message for message in session.messages if not message.synthetic]
    cut = max(0, len(said) - WHOLE)
    head = _render_head(session, redactor, len(said), project)
    marks = _LineMarks(foreign or foreign_texts(session, project=project))
    marks.look_at(line for one in said[cut:] if one.role == "assistant" for line in one.text.splitlines())
    chars = _MESSAGE_CHARS
    # All of the last messages are shortened alike; dropping some would hide what happened.
    while True:
        last = "\n".join(_render_message(message, session.ref.agent, redactor, chars, marks) for message in said[cut:])
        if count_tokens(last) <= budget * (1 - _OLDER_SHARE) or chars <= _LEAST_CHARS:
            break
        chars //= 2
    left = budget - count_tokens(head) - count_tokens(last)
    older = _render_older(said[:cut], session.ref.agent, redactor, max(0, left), marks) if cut else ""
    parts = [head, *([f"## Before that, collapsed ({cut} messages)\n\n{older}"] if cut else [])]
    parts.append(f"## The last {len(said) - cut} messages\n\n{last}")
    text = "\n\n".join(parts)
    return SessionDigest(text, len(said), len(said) - cut, count_tokens(text))


def _render_head(session: Session, redactor: Redactor, messages: int, project: str | None) -> str:
    lines = ["# The session", f"agent: {session.ref.agent}; messages: {messages}"]
    # Quoted like everything from a session: anyone can choose the name of a folder.
    if project:
        lines.append(_bars(f"project: {redactor.head(project, _SAID)}"))
    if session.cwd:
        lines.append(_bars(f"folder: {redactor.head(session.cwd, _SAID)}"))
    if session.title:
        lines.append(_bars(f"title: {redactor.head(session.title, _SAID)}"))
    if loaded := _loaded_skills(session):
        lines.append(_bars(f"skills that were loaded: {redactor.head(', '.join(loaded), _SAID)}"))
    return "\n".join(lines)


def _render_older(messages: Sequence[Message], agent: str, redactor: Redactor, budget: int, marks: _LineMarks) -> str:
    """A few lines for each turn; if there are too many, the first and the last of them."""
    groups = [*_turns(messages)]
    marks.look_at(_answer(turn, redactor) for turn in groups)
    turns = [_collapse_turn(turn, agent, redactor, marks) for turn in groups]
    sizes = [count_tokens(turn) + 1 for turn in turns]
    first, last, used = 0, len(turns), 0
    while first < last:
        # The task is at the beginning, so the first turns count as much as the latest.
        at = first if first <= len(turns) - last else last - 1
        if used + sizes[at] > budget:
            break
        used += sizes[at]
        first, last = (first + 1, last) if at == first else (first, last - 1)
    gap = [f"({last - first} turns left out)"] if first < last else []
    return "\n".join([*turns[:first], *gap, *turns[last:]])


def _turns(messages: Sequence[Message]) -> Iterator[list[Message]]:
    """Messages in groups that begin with a message of the user."""
    numbers: list[int] = []
    for message in messages:
        number = numbers[-1] if numbers else 0
        numbers.append(number + 1 if message.role == "user" else number)
    for _, turn in groupby(zip(numbers, messages, strict=True), key=lambda pair: pair[0]):
        yield [message for _, message in turn]


def _answer(turn: Sequence[Message], redactor: Redactor) -> str:
    """The last words of the agent in a turn, on one line."""
    said = next((one.text for one in reversed(turn) if one.role == "assistant" and one.text.strip()), "")
    return f"  answer: {_one_line(said, redactor, _SAID)}" if said else ""


def _collapse_turn(turn: Sequence[Message], agent: str, redactor: Redactor, marks: _LineMarks) -> str:
    lines = [
        _bars(f"{one.role}: {_one_line(one.text, redactor, _SAID)}", _bar_of(one)) for one in turn if one.role == "user"
    ]
    calls = [call for message in turn for call in message.calls if not call.synthetic]
    tally: dict[str, list[int]] = {}
    for call in calls:
        counted = tally.setdefault(call.tool, [0, 0])
        counted[0] += 1
        failed = judge(call, agent=agent).verdict == "failed"
        counted[1] += failed
        if failed:
            lines.append(_bars(f"  failed: {call.tool} {_one_line(_call_text(call, redactor), redactor, _DONE)}"))
    if tally:
        counted_calls = [
            f"{tool} {number}" + (f" ({bad} failed)" if bad else "") for tool, (number, bad) in tally.items()
        ]
        lines.append(_bars(f"  calls: {', '.join(counted_calls)}"))
    if answer := _answer(turn, redactor):
        lines.append(marks.bars(answer))
    return "\n".join(lines)


def _render_message(message: Message, agent: str, redactor: Redactor, chars: int, marks: _LineMarks) -> str:
    lines = []
    if message.text.strip() and message.role != "tool":
        text = _cut_middle(redactor.text(message.text), chars)
        # An agent repeats what it has read.
        barred = marks.bars(text) if message.role == "assistant" else _bars(text, _bar_of(message))
        lines.append(f"[{message.role}]\n{barred}")
    for call in message.calls:
        if call.synthetic:
            continue
        verdict = judge(call, agent=agent).verdict
        arguments = msgspec.json.encode(redactor.value(call.arguments)).decode("utf-8", "replace")
        lines.append(f"[call, {verdict}]\n{_bars(f'{call.tool} {_cut_middle(arguments, chars)}')}")
        if call.result is not None:
            lines.append(f"[its result]\n{_bars(_cut_middle(redactor.text(call.result.text), chars), _FOREIGN_BAR)}")
    return "\n".join(lines)


def _call_text(call: ToolCall, redactor: Redactor) -> str:
    return command_of(call) or msgspec.json.encode(redactor.value(call.arguments)).decode("utf-8", "replace")


def _one_line(text: str, redactor: Redactor, chars: int) -> str:
    return " ".join(redactor.head(text, chars).split())


def _cut_middle(text: str, chars: int) -> str:
    """The beginning and the end of a long text."""
    if len(text) <= chars:
        return text
    half = chars // 2
    return f"{text[:half]}\n({len(text) - 2 * half:,} characters left out)\n{text[-half:]}"


def _bars(text: str, bar: str = _BAR) -> str:
    return "\n".join(bar + line for line in text.splitlines() or [""])


def _bar_of(message: Message) -> str:
    return _FOREIGN_BAR if message.role == "user" and is_by_program(message) else _BAR


class _LineMarks:
    """Which lines of an agent repeat a result or a page."""

    def __init__(self, foreign: ForeignTexts) -> None:
        self._foreign = foreign
        self._known: dict[str, bool] = {}

    def look_at(self, lines: Iterable[str]) -> None:
        """Look up many lines at once, which takes as long as one."""
        new = [line for line in dict.fromkeys(lines) if line not in self._known]
        self._known |= {line: found is not None for line, found in zip(new, self._foreign.find_each(new), strict=True)}

    def bars(self, text: str) -> str:
        """The lines of a text, each with the bar that it needs."""
        lines = text.splitlines() or [""]
        # Redaction and cuts produce lines that were not looked up yet.
        self.look_at(lines)
        return "\n".join((_FOREIGN_BAR if self._known[line] else _BAR) + line for line in lines)


_FILE = Path(__file__).parent / "instructions" / "review.md"
# Tokens of the texts of skills that can be patched, and of rules that the user may have said.
_SKILL_TOKENS = 2_000
_MOST_RULES = 10


def instructions() -> str:
    """The instructions of a review."""
    return _FILE.read_text("utf-8").strip()


def _loaded_skills(session: Session) -> list[str]:
    viewed = [str(call.arguments.get("name")) for call in session.calls() if call.tool in ("skill_view", "Skill")]
    return list(dict.fromkeys(viewed))


def _kept_now(session: Session, context: Context) -> str:
    """Memory, skills and possible rules: the session itself shows only what was kept at its start."""
    redactor = context.secrecy.redactor()
    kept = render_memory(context.memory_folder, project=context.project_folder, redactor=redactor) or "(empty)"
    parts = [f"## What is kept now\n\nMemory:\n\n{kept}"]
    loaded, left = _loaded_skills(session), _SKILL_TOKENS
    for scope, folder in context.skill_folders.items():
        parts.append(f"Skills ({scope}):\n{index(folder, redactor=redactor) or '(none yet)'}")
        # A skill that was loaded comes first: it is the one to patch.
        for name in sorted(ids(folder), key=lambda name: (name.rpartition("/")[2] not in loaded, name)):
            text = redactor.text(view(folder, name).text)
            if count_tokens(text) <= left:
                left -= count_tokens(text)
                parts.append(f"The text of {name}:\n{_bars(text)}")
    said = [words for one in session.messages if one.role == "user" and (words := users_words(one))]
    rules = [rule.text for words in said for rule in spoken_rules(redactor.text(words))]
    listed = "\n".join(f"- {rule}" for rule in list(dict.fromkeys(rules))[:_MOST_RULES])
    return "\n\n".join([*parts, f"Sentences of the user that may be rules:\n{listed or '(none found)'}"])


class ReviewRequest(msgspec.Struct, frozen=True):
    """What a review of a session sends."""

    session: Session
    digest: SessionDigest
    instructions: str
    kept: str
    foreign: ForeignTexts

    @property
    def prompt(self) -> str:
        return f"{self.digest.text}\n\n{self.kept}"

    @property
    def text(self) -> str:
        """Everything that is sent."""
        return f"{self.instructions}\n\n{self.prompt}"

    @property
    def tokens(self) -> int:
        return count_tokens(self.text)

    @property
    def task(self) -> str | None:
        """What the user asked for last."""
        said = [one.text for one in self.session.messages if one.role == "user" and not one.synthetic]
        return next((text for text in reversed(said) if text.strip()), None)


def make_ready(
    session: Session,
    context: Context,
    *,
    window: int | None = None,
    tokens_per_day: int | None = None,
) -> ReviewRequest:
    """Make the review request of a session; NotFound if it has no messages."""
    told, kept = instructions(), _kept_now(session, context)
    budget = budget_for(window, tokens_per_day, told + kept)
    foreign = foreign_texts(session, project=context.project)
    digest = digest_of(session, context.secrecy.redactor(), project=context.project, foreign=foreign, budget=budget)
    if not digest.messages:
        raise NotFound(f"{str(session.ref)!r} holds no messages that could be reviewed.")
    return ReviewRequest(session, digest, told, kept, foreign)
