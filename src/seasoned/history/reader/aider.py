"""aider's chat history: Markdown without ids, times or results for each call, so this is best effort.

A chat begins with a heading. What the user typed is under `####`, what the program said is quoted with `>`, and the
rest is the model's answer, where blocks with SEARCH and REPLACE are edits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from seasoned.history.builder import SessionBuilder
from seasoned.history.call_pairing import CallPairing
from seasoned.history.formats import Sample
from seasoned.history.json_file import source_errors
from seasoned.history.session_reader import SessionFormat, note_times
from seasoned.session import Marks, Session

NAME = "aider"
_FORMAT = SessionFormat(NAME, "aider")
_CHAT = re.compile(r"^# aider chat started at (.{1,40})$", re.MULTILINE)
_EDIT = re.compile(
    r"^(?P<path>[^\n`]{1,300})\n```[^\n]*\n<{5,9} SEARCH\n(?P<old>.*?)^={5,9}\n(?P<new>.*?)^>{5,9} REPLACE\n```",
    re.MULTILINE | re.DOTALL,
)
_MODEL = re.compile(r"^> (?:Main )?[Mm]odel: (\S{1,80})", re.MULTILINE)
_TOKENS = re.compile(r"\$([\d.]{1,12}) message")
_APPLIED = re.compile(r"^> Applied edit to (.{1,300}?)\s*$", re.MULTILINE)
_FAILED = re.compile(r"^(?:> )?#* ?SearchReplaceNoExactMatch.*|^> The LLM did not conform.*", re.MULTILINE)


def recognises(sample: Sample) -> bool:
    """Whether it is Markdown that begins as aider's does."""
    return sample.kind == "markdown" and _CHAT.match(sample.opening) is not None


def read(path: Path) -> Iterator[Session]:
    """Every chat of the file."""
    with source_errors(path):
        text = path.read_text(encoding="utf-8", errors="replace")
    begins = [*_CHAT.finditer(text)]
    ends = [one.start() for one in begins[1:]] + [len(text)]
    # aider keeps its history in the folder that it works in.
    folder = str(path.absolute().parent) if path.name.startswith(".aider") else None
    for number, (begin, end) in enumerate(zip(begins, ends, strict=False)):
        builder = _FORMAT.builder(path, f"{path.absolute().parent.name}-{begin[1]}-{number}".replace(" ", "T"))
        builder.cwd = folder
        note_times(builder, "the heading", begin[1].strip())
        _add_turns(builder, text[begin.end() : end], begin.end())
        yield builder.take()


def _add_turns(builder: SessionBuilder, chat: str, at: int) -> None:
    calls = CallPairing(builder)
    model = _MODEL.search(chat)
    builder.model = model[1] if model else None
    costs = [float(found) for found in _TOKENS.findall(chat) if found.count(".") <= 1 and found.strip(".")]
    builder.cost_usd = sum(costs) or None
    # Lines of one speaker belong together; the place of a turn is where it begins.
    for speaker, place, lines in _turns(chat):
        text = "\n".join(lines).strip()
        if not text:
            continue
        if speaker == "user":
            builder.message("user", text, place=at + place)
        elif speaker == "assistant":
            builder.message("assistant", text, place=at + place)
            calls.turn()
            for edit in _EDIT.finditer(text + "\n"):
                given = {"path": edit["path"].strip("* "), "old_string": edit["old"], "new_string": edit["new"]}
                calls.make(None, "edit", given, place=at + place)
        else:
            _add_results(calls, text, at + place)


def _turns(chat: str) -> Iterator[tuple[str, int, list[str]]]:
    speaker, place, lines = "assistant", 0, list[str]()
    here = 0
    for line in chat.split("\n"):
        now = "user" if line.startswith("#### ") else "program" if line.startswith("> ") else "assistant"
        # Blank lines do not end the turn of the user or the program.
        if now != speaker and line.strip():
            yield speaker, place, lines
            speaker, place, lines = now, here, []
        lines.append(line.removeprefix("#### ") if now == "user" else line)
        here += len(line) + 1
    yield speaker, place, lines


def _add_results(calls: CallPairing, said: str, place: int) -> None:
    """Results of edits: applied, or the text to replace was not found."""
    for _ in _APPLIED.finditer(said):
        if calls.open:
            calls.answer(calls.open[0], "Applied edit", Marks(failed=False), place=place)
    failed = _FAILED.search(said)
    if failed:
        for call_id in calls.open:
            calls.answer(call_id, failed[0].removeprefix("> "), Marks(failed=True), place=place)
