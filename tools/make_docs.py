"""Writes what the docs show of the command line: `python tools/make_docs.py [--check]`.

The help of every command goes into `docs/reference/commands.md`. The output under every `$ seasoned …` line in a
```console block is written again where it no longer fits; `...` in it stands for anything.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from pathlib import Path
from typing import NamedTuple

import click

from seasoned.cli.main import app

ROOT = Path(__file__).parent.parent
COMMANDS = ROOT / "docs/reference/commands.md"
BEGIN = "<!-- The part below is written by tools/make_docs.py -->"
END = "<!-- The part above is written by tools/make_docs.py -->"
WIDTH = 100
SHARED = 3  # an option that as many commands have is described once
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FROM = re.compile(r"^from\b.+?\n\n", re.MULTILINE | re.DOTALL)
_SECONDS = re.compile(r'(?<=in )\d+\.\d+(?= s\b)|(?<="seconds": )\d+\.[\de-]+')

Record = tuple[str, str]


class Example(NamedTuple):
    """A command of the docs, and what it printed."""

    command: str
    output: str

    @property
    def is_ours(self) -> bool:
        return self.command.startswith("seasoned")


def pages() -> list[Path]:
    """Every page of the project."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def commands(
    command: click.Command = app, name: str = "seasoned", parent: click.Context | None = None
) -> Iterator[tuple[click.Command, click.Context]]:
    """Every command in the order of the help; its help is a hundred characters wide and without colour."""
    settings = dict(command.context_settings)
    settings |= {"terminal_width": WIDTH, "max_content_width": WIDTH, "color": False}
    context = click.Context(command, info_name=name, parent=parent, **settings)
    yield command, context
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            assert found is not None
            yield from commands(found, inner, context)


def commands_page(text: str) -> str:
    """The page of commands with its generated part rebuilt."""
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    found = list(commands())
    uses = Counter(record for command, context in found for record in _options(command, context))
    # Of two descriptions of one name only the more frequent can be meant by the name alone.
    shared = {_name(record): record for record, count in reversed(uses.most_common()) if count >= SHARED}
    listed = _listed(found[0][1], [record for _, record in sorted(shared.items())])
    parts = [f"## Options of several commands\n\n```text\n{listed}```\n"]
    parts += [f"## `{each[1].command_path}`\n\n```text\n{_help(*each, set(shared.values()))}```\n" for each in found]
    return "\n".join([f"{before}{BEGIN}\n", *parts, f"{END}{after}"])


def _options(command: click.Command, context: click.Context) -> list[Record]:
    """The options of a command without `--help`, as its help shows them."""
    records = (one.get_help_record(context) for one in command.params if isinstance(one, click.Option))
    # The range itself stands behind the description.
    return [(record[0].replace(" RANGE", ""), record[1]) for record in records if record is not None]


def _name(record: Record) -> str:
    """The long name of an option: `--yes` of `-y, --yes`."""
    return next(word for word in re.split(r"[ ,/]+", record[0]) if word.startswith("--"))


def _listed(context: click.Context, records: Sequence[Record]) -> str:
    formatter = context.make_formatter()
    formatter.write_dl(records)
    return _tidy(formatter.getvalue())


def _help(command: click.Command, context: click.Context, shared: Set[Record]) -> str:
    """Usage, description and the options that only few commands have; the others by name."""
    options = _options(command, context)
    own = [record for record in options if record not in shared]
    also = [_name(record) for record in options if record in shared]
    formatter = context.make_formatter()
    arguments = [piece for piece in command.collect_usage_pieces(context) if piece != "[OPTIONS]"]
    if arguments:
        formatter.write(f"{' '.join([context.command_path, *arguments])}\n")
    command.format_help_text(context, formatter)
    if own:
        formatter.write("\n")
        with formatter.indentation():
            formatter.write_dl(own)
    if also:
        formatter.write(f"\n  Also: {' '.join(also)}\n")
    return _tidy(formatter.getvalue().lstrip("\n"))


def examples(text: str) -> list[Example]:
    """The commands of a page's console blocks, in order."""
    return [example for block in _BLOCK.finditer(text) for example in _split(block[1])]


def _split(block: str) -> list[Example]:
    found = []
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        found.append(Example(command, output))
    return found


def run(command: str, home: Path) -> subprocess.CompletedProcess[str]:
    """A command of the docs as a reader of the checkout would run it, with a temporary home."""
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}",
        "HOME": str(home),
        "SEASONED_HOME": str(home / ".seasoned"),
        "COLUMNS": str(WIDTH),
        "TZ": "UTC",
        "NO_COLOR": "1",
        "LC_ALL": "C.UTF-8",
        "PYTHONIOENCODING": "utf-8",
    }
    return subprocess.run(
        ["sh", "-c", command],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
    )


def fits(shown: str, printed: str) -> bool:
    """Whether the output in the docs is what was printed; `...` stands for anything, none for an output not shown."""
    return not shown.strip() or doctest.OutputChecker().check_output(_tidy(shown), _tidy(printed), doctest.ELLIPSIS)


def _tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.rstrip().strip("\n").splitlines()) + "\n"


def refreshed(text: str, home: Path) -> str:
    """The page with every output replaced that no longer fits."""
    return _BLOCK.sub(lambda block: f"```console\n{''.join(_refresh(block[1], home))}```", text)


def _refresh(block: str, home: Path) -> Iterator[str]:
    for example in _split(block):
        output = example.output
        if example.is_ours:
            printed = masked(run(example.command, home).stdout, home)
            if not fits(output, printed):
                output = _shortened(printed, output)
        yield f"$ {example.command}\n{output}"


def masked(text: str, home: Path) -> str:
    """An output without what differs from run to run and from place to place."""
    text = _FROM.sub("from ...\n\n", _SECONDS.sub("...", _tidy(text)))
    return text.replace(str(home), "...").replace(str(ROOT), "...")


def _shortened(new: str, old: str) -> str:
    """As many of the new lines as the page showed of the old, where it showed only the first.

    An output with gaps inside was cut by hand, and must be changed by hand: the tests say where.
    """
    lines = old.splitlines()
    if "..." not in lines:
        return new
    if lines.index("...") < len(lines) - 1:
        return old
    return "".join(new.splitlines(keepends=True)[: len(lines) - 1]) + "...\n"


def stale() -> dict[Path, str]:
    """Pages that are no longer true, with what they should say."""
    found = {}
    for page in pages():
        text = page.read_text("utf-8")
        with tempfile.TemporaryDirectory(prefix="seasoned-docs-") as home:
            new = refreshed(commands_page(text) if page == COMMANDS else text, Path(home))
        if new != text:
            found[page] = new
    return found


def main(*, check: bool) -> int:
    """Write the pages, or only say which are stale."""
    pages_to_write = stale()
    for page, text in pages_to_write.items():
        sys.stdout.write(f"{page.relative_to(ROOT)} {'is stale' if check else 'was written'}\n")
        if not check:
            page.write_text(text, "utf-8")
    return int(check and bool(pages_to_write))


if __name__ == "__main__":
    sys.exit(main(check="--check" in sys.argv[1:]))
