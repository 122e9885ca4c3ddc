"""Reads one file into rows: judged, truncated and redacted. Runs in the worker processes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from seasoned.command.tool import kind_of, tool_of
from seasoned.errors import SourceError
from seasoned.history.formats import named, recognise
from seasoned.history.incremental import Resume, Stretch, digest_before
from seasoned.history.json_file import source_errors
from seasoned.history.read import is_unique_id
from seasoned.outcome.error_rate import corrects, count_name
from seasoned.outcome.judge import judge
from seasoned.outcome.recorded_label import label
from seasoned.outcome.verdict import JUDGE, Verdict
from seasoned.project import checkout_of, normal_remote
from seasoned.redact.redactor import CUT_MARGIN, Redactor, gives_away
from seasoned.scan.intent import INTENT_CHARS, SpokenCall, intents, users_words
from seasoned.scan.rows import NOT_A_HISTORY, Batch, CallRow, FileJob, Learner, SessionRows, UsageRow, call_totals
from seasoned.scan.spoken_rule import SpokenRule, spoken_rules
from seasoned.session import Session, ToolCall, Unreadable, Usage, UsageEvent
from seasoned.store.packed import unpack

RESULT_CHARS = 500
# What is kept of a message, for search.
SAID_CHARS = 8000
# Content that a tool only passes on (files, matches, pages) or writes is not kept beyond this.
_CONTENT_CHARS = 160
# A failure says what it did at its start and why it failed at its end; together they fit into a result.
_HEAD_CHARS = 300
_TAIL_CHARS = 180
_VALUE_CHARS = 400
_TIGHT_CHARS = 120
_ARGUMENTS_CHARS = 8000
_ITEMS = 50
_DEPTH = 8
# So many texts are looked through as one, with what is part of no secret between them.
_LOOKED_THROUGH = 16
_APART = "\n\0\n"
_PASSED_ON = ("file_read", "search", "web", "file_write")
_encode_short = msgspec.json.Encoder().encode


class CutCall(NamedTuple):
    """The texts of a call as they are stored if none of them holds a secret."""

    arguments: str
    result: str | None
    reason: str
    # What is looked through, with a margin beyond each cut; None if a name promises a secret or too much is left.
    seen: str | None


def cut_call(call: ToolCall, verdict: str, reason: str) -> CutCall:
    """Truncate a call; the names of all arguments are kept."""
    # Texts seen while truncating, and texts that many calls share.
    texts: list[str] = []
    common: list[str] = []
    speaks = tool_of(call.tool).form
    longest = _CONTENT_CHARS if speaks == "file_write" else _VALUE_CHARS

    def keep(text: str) -> str:
        if len(text) <= longest:
            texts.append(text)
            return text
        texts.append(text[: longest + CUT_MARGIN])
        return f"{text[:longest]} … [{len(text)} characters]"

    arguments = _encode_short(_cut_pairs(call.arguments, keep, common, _DEPTH)).decode("utf-8", "replace")
    result = _told(call, verdict)
    short = None if result is None else _cut_result(result, verdict, texts)
    (common if verdict == "ok" else texts).append(reason)
    is_plain = len(arguments) <= _ARGUMENTS_CHARS and not any(map(gives_away, common))
    return CutCall(arguments, short, reason, _APART.join(texts + common) if is_plain else None)


def redact_call(call: ToolCall, verdict: str, reason: str, redactor: Redactor) -> CutCall:
    """The same where something may be secret: each part is redacted separately, also by the names of its values."""
    longest = _CONTENT_CHARS if tool_of(call.tool).form == "file_write" else _VALUE_CHARS
    result = _told(call, verdict)
    return CutCall(
        _redacted_arguments(call.arguments, longest, redactor),
        None if result is None else _redacted_result(result, verdict, redactor),
        redactor.text(reason),
        None,
    )


def _told(call: ToolCall, verdict: str) -> str | None:
    """The result of a call, without content that its tool only passes on."""
    result, speaks = None if call.result is None else call.result.text, tool_of(call.tool).form
    if result is None or verdict != "ok" or len(result) <= _CONTENT_CHARS or speaks not in _PASSED_ON:
        return result
    # The tool shows the written file: only the sentence that says so matters.
    first = result[:_CONTENT_CHARS].partition("\n")[0] if speaks == "file_write" else ""
    return f"{first} [{result.count(chr(10)) + 1} lines, {len(result)} characters]".lstrip()


def _cut_result(text: str, verdict: str, texts: list[str]) -> str:
    """The beginning of a result; for a failed call also the end, where the reason often is."""
    if len(text) <= RESULT_CHARS:
        texts.append(text)
        return text
    if verdict == "failed":
        texts += [text[: _HEAD_CHARS + CUT_MARGIN], text[-_TAIL_CHARS - CUT_MARGIN :]]
        return f"{text[:_HEAD_CHARS]} … {text[-_TAIL_CHARS:]}"
    texts.append(text[: RESULT_CHARS + CUT_MARGIN])
    return f"{text[: RESULT_CHARS - 2]} …"


def _cut_pairs(value: dict[Any, Any], keep: Callable[[str], str], names: list[str], depth: int) -> dict[str, Any]:
    cut = {}
    for key, item in value.items() if len(value) <= _ITEMS else list(value.items())[:_ITEMS]:
        name = str(key)
        names.append(name)
        cut[name] = keep(item) if isinstance(item, str) else _cut(item, keep, names, depth - 1)
    return cut


def _cut(value: Any, keep: Callable[[str], str], names: list[str], depth: int) -> Any:
    if isinstance(value, str):
        return keep(value)
    if isinstance(value, dict):
        return "…" if depth == 0 else _cut_pairs(value, keep, names, depth)
    if isinstance(value, list | tuple):
        # In a list of words a flag names the next word: ["--password", "…"].
        names += [item[2:] for item in value[:_ITEMS] if isinstance(item, str) and item.startswith("--")]
        return "…" if depth == 0 else [_cut(item, keep, names, depth - 1) for item in value[:_ITEMS]]
    return value


def _redacted_arguments(arguments: dict[str, Any], longest: int, redactor: Redactor) -> str:
    for limit in (longest, _TIGHT_CHARS):
        keep = partial(_redacted_head, limit, redactor)
        value = redactor.value(_cut_pairs(arguments, keep, [], _DEPTH))
        text = _encode_short(value).decode("utf-8", "replace")
        if len(text) <= _ARGUMENTS_CHARS:
            return text
    names = [redactor.text(str(name))[:_TIGHT_CHARS] for name in list(arguments)[:_ITEMS]]
    return _encode_short(dict.fromkeys(names, "…")).decode("utf-8", "replace")


def _redacted_result(text: str, verdict: str, redactor: Redactor) -> str:
    if len(text) <= RESULT_CHARS:
        return redactor.text(text)
    if verdict == "failed":
        return f"{redactor.head(text, _HEAD_CHARS)} … {redactor.tail(text, _TAIL_CHARS)}"
    return f"{redactor.head(text, RESULT_CHARS - 2)} …"


def _redacted_head(limit: int, redactor: Redactor, text: str) -> str:
    return text if len(text) <= limit else f"{redactor.head(text, limit)} … [{len(text)} characters]"


_encode = msgspec.json.Encoder().encode


class FileReader:
    """Reads files with one redactor."""

    def __init__(self, redactor: Redactor, learner: Learner | None = None) -> None:
        self.redactor = redactor
        self._learner = learner
        self._words: str | None = None
        # Texts of this session that were looked through for what they say, and hold no secret.
        self._clean: set[str] = set()
        self._redacted = ""

    def read_all(self, jobs: Iterable[FileJob]) -> Iterator[Batch]:
        """All files in batches, in their order."""
        for job in jobs:
            yield from self.read(job)

    def read(self, job: FileJob) -> Iterator[Batch]:
        """The file in batches, so that memory does not grow with its size."""
        path = Path(job.path)
        try:
            module = job.format or recognise(path)
            if module is None:
                yield self._batch(job, NOT_A_HISTORY)
            elif hasattr(named(module), "read_on"):
                yield from self._read_growing(job, module, path)
            elif hasattr(named(module), "stamps"):
                yield from self._read_stamped(job, module, path)
            else:
                yield from self._read_whole(job, module, named(module).read(path))
        except SourceError as error:
            yield self._batch(job, job.format or NOT_A_HISTORY, failure=str(error))

    def _read_growing(self, job: FileJob, module: str, path: Path) -> Iterator[Batch]:
        resume = _resume(job, path)
        source: Any = named(module)
        read_on: Callable[[Path, Resume | None], Iterator[Any]] = source.read_on
        is_first, begun = resume is None, resume.offset if resume else 0
        cut_at = None if resume is None else f"line {resume.lines + 1}"
        for stretch in read_on(path, resume):
            # A file that is longer than a stretch has parts of sessions, of which the store must be asked.
            read = self._learned if is_first and stretch.is_last else self.rows
            sessions = [read(session) for session in stretch.sessions]
            yield self._of_stretch(job, module, stretch, sessions, is_first=is_first, was_cut_at=cut_at, begun=begun)
            is_first, cut_at, begun = False, None, stretch.resume.offset

    def _of_stretch(
        self,
        job: FileJob,
        module: str,
        stretch: Stretch,
        sessions: list[SessionRows],
        *,
        is_first: bool = True,
        was_cut_at: str | None = None,
        begun: int = 0,
    ) -> Batch:
        return self._batch(
            job,
            module,
            sessions=sessions,
            unreadable=_places(stretch.unreadable, stretch.sessions),
            resume=_encode(stretch.resume).decode(),
            check_digest=stretch.check_digest,
            is_first=is_first,
            was_cut_at=was_cut_at,
            done=stretch.is_last,
            bytes_read=stretch.resume.offset - begun,
        )

    def _read_stamped(self, job: FileJob, module: str, path: Path) -> Iterator[Batch]:
        """Read the sessions of a database whose stamps have changed."""
        source: Any = named(module)
        stamps: dict[str, str] = source.stamps(path)
        known: dict[str, str] = msgspec.json.decode(job.stamps) if job.stamps else {}
        changed = {native_id for native_id, stamp in stamps.items() if known.get(native_id) != stamp}
        sessions = source.read(path, changed if known else None)
        yield from self._read_whole(job, module, sessions, stamps=_encode(stamps).decode())

    def _read_whole(
        self, job: FileJob, module: str, sessions: Iterator[Session], stamps: str | None = None
    ) -> Iterator[Batch]:
        is_first = True
        for session in sessions:
            yield self._batch(
                job,
                module,
                sessions=[self._learned(session)],
                unreadable=_places((), (session,)),
                is_first=is_first,
                done=False,
            )
            is_first = False
        yield self._batch(job, module, stamps=stamps, is_first=is_first, bytes_read=job.size)

    def _batch(self, job: FileJob, module: str, **fields: Any) -> Batch:
        filled = {"sessions": [], "unreadable": [], **fields}
        return Batch(job.path, module, job.size, job.mtime_ns, named=job.named, **filled)

    def _learned(self, session: Session) -> SessionRows:
        """The rows of a whole session, with what the learner finds in them."""
        return self._with_learned(self.rows(session))

    def _with_learned(self, rows: SessionRows) -> SessionRows:
        found = None if self._learner is None else self._learner.learn(rows)
        return rows if found is None else msgspec.structs.replace(rows, learned=found)

    def rows(self, session: Session) -> SessionRows:
        """The rows of a session or a stretch of it: judged, truncated and redacted."""
        usage = session.usage or Usage()
        redact = self.redactor.text
        spoken = _spoken(session)
        said = self._said(spoken)
        agent = session.ref.agent
        cwd = None if session.cwd is None else redact(session.cwd)
        led = [*intents(session), *[SpokenCall(call, None) for call in session.late]]
        calls = self.call_rows([one for one in led if not one.call.synthetic], agent)
        return SessionRows(
            agent=agent,
            native_id=session.ref.native_id,
            title=None if session.title is None else redact(session.title)[:200],
            cwd=cwd,
            remote=self._remote(session, cwd),
            branch=None if session.branch is None else redact(session.branch)[:200],
            application=None if session.application is None else redact(session.application),
            # Free text in Hermes: plugins bring platforms of any name.
            platform=None if session.platform is None else redact(session.platform)[:64],
            model=session.model,
            started=session.started,
            ended=session.ended,
            parent_agent=session.parent.agent if session.parent else None,
            parent_native_id=session.parent.native_id if session.parent else None,
            relation=session.relation,
            end_reason=session.end_reason,
            succeeded=session.succeeded,
            messages=session.message_count,
            compactions=_encode(session.compactions).decode(),
            input_tokens=usage.input,
            output_tokens=usage.output,
            cache_read_tokens=usage.cache_read,
            cache_write_tokens=usage.cache_write,
            reasoning_tokens=usage.reasoning,
            cost_usd=session.cost_usd,
            last_prompt_tokens=session.last_prompt,
            calls=calls,
            usage_events=[_usage_row(event) for event in session.usage_events],
            corrections=[index for index, is_person, words in spoken if is_person and corrects(words)],
            first_message=session.first_message,
            said=_encode(said).decode("utf-8", "replace") if said else None,
            rules=_rules(session, said),
            **call_totals(Counter([(row.counts_as, row.kind) for row in calls])),
        )

    def _said(self, spoken: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
        """The same, truncated and redacted."""
        clean = self._clean_among([words[: SAID_CHARS + CUT_MARGIN] for *_, words in spoken])
        self._clean = {spoken[at][2] for at in clean}
        return [
            (index, is_person, words[:SAID_CHARS] if at in clean else self.redactor.head(words, SAID_CHARS))
            for at, (index, is_person, words) in enumerate(spoken)
        ]

    def _remote(self, session: Session, cwd: str | None) -> str | None:
        """The recorded remote in its normal form."""
        address = normal_remote(session.remote) if session.remote else None
        if address is None and session.cwd is not None and cwd != session.cwd:
            # The stored path leads nowhere any more, so the checkout is asked now.
            found = checkout_of(session.cwd)
            address = found.key if found is not None and found.is_remote else None
        return None if address is None else self.redactor.text(address)

    def _intent(self, words: str | None) -> str | None:
        """The intent, truncated and redacted. The calls of one message share it."""
        if words is None:
            return None
        if words is not self._words:
            self._words = words
            head = words.strip()
            # Most were looked through already, further than an intent reaches.
            head = head[:INTENT_CHARS] if words in self._clean else self.redactor.head(head, INTENT_CHARS)
            self._redacted = " ".join(head.split())
        return self._redacted

    def call_row(self, call: ToolCall, agent: str) -> CallRow:
        """The row of one call, without the words that led to it."""
        return self.call_rows([SpokenCall(call, None)], agent)[0]

    def call_rows(self, calls: list[SpokenCall], agent: str) -> list[CallRow]:
        """The rows of calls: judged, truncated and redacted.

        One step for all calls and then the next: what a step needs stays in the processor's cache, which takes a fifth
        less time than all steps for one call after the other.
        """
        judged = [(one.call, judge(one.call, agent=agent)) for one in calls]
        cuts = [cut_call(call, verdict.verdict, verdict.reason) for call, verdict in judged]
        clean = self._clean_among([cut.seen for cut in cuts])
        shorts = [
            cut if at in clean else redact_call(call, verdict.verdict, verdict.reason, self.redactor)
            for at, (cut, (call, verdict)) in enumerate(zip(cuts, judged, strict=True))
        ]
        said = [self._intent(one.words) for one in calls]
        return [
            self._call_row(one, verdict, short, words, agent)
            for one, (_, verdict), short, words in zip(calls, judged, shorts, said, strict=True)
        ]

    def _clean_among(self, texts: list[str | None]) -> set[int]:
        """Which of the texts hold no secret. Most do not, so several are looked through as one."""
        clean: set[int] = set()
        # A text with other letters takes longer.
        for is_ascii in (True, False):
            places = [at for at, text in enumerate(texts) if text is not None and text.isascii() is is_ascii]
            for start in range(0, len(places), _LOOKED_THROUGH):
                block = {at: texts[at] or "" for at in places[start : start + _LOOKED_THROUGH]}
                is_clean = not self.redactor.find(_APART.join(block.values()))
                clean.update(at for at, text in block.items() if is_clean or not self.redactor.find(text))
        return clean

    def _call_row(self, one: SpokenCall, verdict: Verdict, short: CutCall, words: str | None, agent: str) -> CallRow:
        call = one.call
        flag = label(call, agent=agent, verdict=verdict)
        return CallRow(
            call_id=call.id,
            position=call.index,
            message=call.message,
            tool=call.tool,
            kind=kind_of(call),
            counts_as=count_name(call, verdict),
            arguments=short.arguments,
            result=short.result,
            time=call.time,
            place=call.place,
            verdict=verdict.verdict,
            evidence=verdict.evidence,
            fault=verdict.fault,
            reason=short.reason,
            judge=JUDGE,
            flag=None if flag is None else int(flag),
            unique_id=int(is_unique_id(call.id)),
            intent=words,
            is_foreign=int(one.is_foreign),
        )


def _spoken(session: Session) -> list[tuple[int, int, str]]:
    """What people and agents said: the index of the message, 1 for a person, and the words."""
    spoken = []
    for index, message in enumerate(session.messages, start=session.first_message):
        if message.role == "user":
            words = users_words(message)
        else:
            is_spoken = message.role == "assistant" and not message.synthetic and not message.summary
            words = message.text if is_spoken else None
        if words:
            spoken.append((index, int(message.role == "user"), words))
    return spoken


def _rules(session: Session, said: list[tuple[int, int, str]]) -> list[SpokenRule]:
    """What a person said that holds beyond the task; the prompt of a sub-agent is an agent's."""
    if session.relation in ("subagent", "review"):
        return []
    return [
        rule
        for index, is_person, words in said
        if is_person
        for rule in spoken_rules(words, session.messages[index - session.first_message].time)
    ]


def _usage_row(event: UsageEvent) -> UsageRow:
    used = event.usage
    figures = (used.input, used.output, used.cache_read, used.cache_write, used.reasoning)
    return UsageRow(event.key, event.time, event.model, *figures, event.cache_write_1h)


def _places(unreadable: tuple[Unreadable, ...], sessions: tuple[Session, ...]) -> list[tuple[str, str]]:
    found = [*unreadable, *[one for session in sessions for one in session.unreadable]]
    return [(one.place, one.reason) for one in found]


def _resume(job: FileJob, path: Path) -> Resume | None:
    """Where to continue; None if the file was rewritten since the last scan."""
    if job.resume is None:
        return None
    try:
        resume = msgspec.json.decode(unpack(job.resume), type=Resume)
    except msgspec.DecodeError:
        return None
    if resume.offset > job.size:
        return None
    with source_errors(path), path.open("rb") as file:
        return resume if digest_before(file, resume.offset) == job.check_digest else None
