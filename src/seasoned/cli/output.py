"""What commands print: JSON for programs, tables and sentences for people."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from seasoned.cli.options import wants_json
from seasoned.config import is_quiet
from seasoned.errors import CannotDo, UsageError
from seasoned.text import plural

if TYPE_CHECKING:
    from rich.console import Console

    from seasoned.mine.run import MineReport
    from seasoned.scan.scan import ScanReport


# A bar that disappears at once looks like an error.
_PROGRESS_AFTER_SECONDS = 0.7


def print_json(name: str, answer: dict[str, Any], *, lines: bool = False) -> None:
    """Print JSON for programs, with its schema; with `lines`, on one line."""
    # The schema comes first, so that a program can tell what follows; its number rises with incompatible changes.
    data = msgspec.json.encode({"schema": f"seasoned/{name}/1", **answer})
    sys.stdout.write((data if lines else msgspec.json.format(data, indent=2)).decode("utf-8", "replace") + "\n")


def answered(name: str, answer: dict[str, Any], *, lines: bool = False) -> bool:
    """Print the answer as JSON if that was asked for; whether that was all to print."""
    if wants_json():
        print_json(name, answer, lines=lines)
    return wants_json()


def as_fields(value: object) -> dict[str, Any]:
    """A value as a part of a JSON answer; paths become texts."""
    fields: dict[str, Any] = msgspec.to_builtins(value, enc_hook=str)
    return fields


def say(text: str = "", *, err: bool = False, indent: str = "", **style: Any) -> None:
    """Print prose. At a terminal, lines are wrapped between words; a file or a pipe gets them whole."""
    if (sys.stderr if err else sys.stdout).isatty():
        width = shutil.get_terminal_size().columns
        lines = [_wrapped(line, width, indent) for line in text.split("\n")]
        text = "\n".join(lines)
    # Without a style there is nothing to end: the codes would become a part of what is copied.
    click.echo(click.style(text, **style) if style else text, err=err)


def _wrapped(line: str, width: int, indent: str) -> str:
    # What continues a list entry stands below its words.
    lead = line[: len(line) - len(line.lstrip(" -"))]
    wrap = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False, drop_whitespace=True)
    wrap.initial_indent, wrap.subsequent_indent = lead, indent or " " * len(lead)
    return wrap.fill(line[len(lead) :]) if len(line) > width else line


def console(*, stderr: bool = False, width: int | None = None) -> Console:
    """A terminal for people; rich is imported when something is to be drawn."""
    from rich.console import Console

    # rich would colour every number and path, also in the text of sessions.
    made = Console(stderr=stderr, highlight=False, width=width)
    # A file or a pipe gets whole lines.
    made.soft_wrap = width is None and not made.is_terminal
    return made


# Figures with their units, alone or as a range: `1 234`, `~$0.52`, `<$0.01`, `97.8k`, `12.5 %`, `3/17`, `1.0 to 2.5`.
_FIGURES = re.compile(r"[~<]?\$?[\d.,%/()–−+ ]*\d[\d.,%/()–−+ ]*(?:to [\d.,%()−+ ]+)?[kMB]?")
# On a narrow terminal text is wrapped, but words up to this length are never broken.
_WORD_CHARS = 30


def table(
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    nowrap: Sequence[str] = (),
    title: str = "",
    gap: int = 2,
) -> None:
    """Print a table, with columns of figures aligned to the right.

    Columns in `nowrap` are never wrapped, so that they can be copied; `gap` is the space between columns. Only a
    terminal wraps text at all: a file or a pipe gets one line for each row.
    """
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    drawn = Table(title=title or None, title_justify="left", box=None, header_style="bold", pad_edge=False)
    drawn.padding = (0, gap - 1, 0, 1) if gap > 1 else (0, 1, 0, 0)
    texts = [[cell if isinstance(cell, Text) else Text(shown(cell)) for cell in row] for row in rows]
    least = full = gap * (len(columns) - 1)
    for number, column in enumerate(columns):
        cells = [row[number].plain for row in texts]
        lines = [line for cell in (column, *cells) for line in cell.split("\n")]
        longest = max(map(cell_len, lines))
        known = [cell for cell in cells if cell != "–"]
        is_figures = bool(known) and all(map(_FIGURES.fullmatch, known))
        unbroken = is_figures or column in nowrap
        full += longest
        longest_word = max(cell_len(word) for line in lines for word in line.split(" "))
        least += longest if unbroken else min(longest_word, _WORD_CHARS)
        drawn.add_column(column, justify="right" if is_figures else "left", no_wrap=unbroken, overflow="fold")
    for row in texts:
        # What comes from sessions is shown as text, never as markup.
        drawn.add_row(*row)
    out = console()
    # On too narrow a terminal, lines that run on are better than figures and ids that are cut.
    wide = console(width=max(out.width, least if out.is_terminal else full, len(title)))
    with wide.capture() as captured:
        wide.print(drawn)
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))


def records(
    found: Iterable[object], *columns: str | tuple[str, Callable[[Any], object]], nowrap: Sequence[str] = ()
) -> None:
    """Print a table with a row for each value.

    A text names columns that are attributes of it, as `state when=started_at`; a pair is a column and what it shows.
    """
    shapes: list[tuple[str, Callable[[Any], object]]] = []
    for column in columns:
        if isinstance(column, str):
            pairs = [(one.partition("=")[0], one.rpartition("=")[2]) for one in column.split()]
            shapes += [(title, partial(_attribute, name)) for title, name in pairs]
        else:
            shapes.append(column)
    table([title for title, _ in shapes], [[of(one) for _, of in shapes] for one in found], nowrap=nowrap)


def _attribute(name: str, one: object) -> object:
    value = attrgetter(name)(one)
    if name in ("at", "last") or name.endswith("_at"):
        return when(value)
    return ", ".join(value) if isinstance(value, tuple | list) else value


def shown(value: object) -> str:
    """A value as text for people: None is a dash, never a zero; control characters are replaced."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.3f}"
    # Groups of three, separated as in ISO 80000: a comma would be a decimal sign to many readers.
    if isinstance(value, int):
        return f"{value:,}".replace(",", " ")
    return printable(str(value))


def printable(text: str) -> str:
    """Text with control characters replaced, so that it cannot change the terminal."""
    # Escape sequences in a tool's output could move the cursor, hide text or rename the window.
    return "".join([c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text])


def cut(text: str, size: int) -> str:
    """A text on one line, with `…` for what does not fit."""
    line = " ".join(text.split())
    return line if len(line) <= size else line[: size - 1] + "…"


def money(usd: float | None, *, is_estimate: bool = False) -> str:
    """What something cost, to the cent, so that amounts in a column can be compared; `~` marks an estimate."""
    if usd is None:
        return "–"
    if 0 < usd < 0.005:
        return "<$0.01"
    return f"{'~' if is_estimate else ''}${usd:,.2f}"


def percent(part: int | None, whole: int | None) -> str:
    """A share for people; a dash where there is nothing to divide."""
    # Nothing of nothing is unknown; 0 % would claim that all went well.
    return "–" if not whole or part is None else f"{100 * part / whole:.1f} %"


def when(time: float | None) -> str:
    """A time for people, in their own zone."""
    return "–" if time is None else datetime.fromtimestamp(time).astimezone().strftime("%Y-%m-%d %H:%M")


def write_new_file(path: Path, lines: Iterable[str], *, replaces: bool = False) -> None:
    """Write a file, readable by its owner alone; one that exists only if it may be replaced."""
    # With O_EXCL no existing file is overwritten; with the mode at creation no one can read it before a chmod.
    flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if replaces else os.O_EXCL)
    try:
        with os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
            path.chmod(0o600)
            file.writelines(lines)
    except FileExistsError:
        raise CannotDo(f"{str(path)!r} exists already. Name a new file.") from None
    except (OSError, ValueError) as error:
        raise CannotDo(f"{str(path)!r} cannot be written: {getattr(error, 'strerror', None) or error}.") from error


def read_sentence(verb: str, report: ScanReport | MineReport) -> str:
    """What was read, as `scan` and `mine` say it."""
    return (
        f"{verb} {plural(report.read, 'file')} ({report.bytes / 1e6:.1f} MB) in {report.seconds:.2f} s: "
        f"{plural(report.sessions, 'session')}, {plural(report.calls, 'call')}. "
        f"{plural(report.unchanged, 'file')} unchanged, {plural(report.no_history, 'file')} without a history."
    )


def shows_progress() -> bool:
    """Whether a person is watching: stderr is a terminal, and this is not a build."""
    return sys.stderr.isatty() and not is_quiet()


class ReadingBar:
    """A progress bar, of bytes or of sessions or runs, that appears only when reading takes longer than a moment."""

    def __init__(self, title: str = "Reading", *, of_bytes: bool = True) -> None:
        self._title = title
        self._of_bytes = of_bytes
        self._begun = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __call__(self, done: int, total: int) -> None:
        if self._bar is None:
            if not shows_progress() or time.monotonic() - self._begun < _PROGRESS_AFTER_SECONDS:
                return
            # Only now, because importing rich takes longer than a small scan.
            from rich.progress import (
                BarColumn,
                DownloadColumn,
                MofNCompleteColumn,
                Progress,
                TextColumn,
                TimeRemainingColumn,
            )

            done_of = DownloadColumn() if self._of_bytes else MofNCompleteColumn()
            columns = (TextColumn("{task.description}"), BarColumn(), done_of, TimeRemainingColumn())
            # On stderr and transient, so that the output stays clean in pipes and on the screen.
            self._bar = Progress(*columns, console=console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self._title, total=total)
        self._bar.update(self._task, completed=done, total=total)

    def __enter__(self) -> ReadingBar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()


def write_page(html: str, path: Path) -> Path:
    """Write the page of a report; only an older report is ever overwritten."""
    mark = "<!-- seasoned:report -->"
    # The head is enough, and the file may be large.
    if path.is_file() and mark not in path.read_text("utf-8", "replace")[:1000]:
        raise UsageError(f"{str(path)!r} exists and is not a report of Seasoned. Choose another file with -o.")
    write_new_file(path, [html.replace("<!doctype html>", f"<!doctype html>\n{mark}", 1)], replaces=True)
    return path
