"""The files in which people instruct their agents: CLAUDE.md, AGENTS.md and GEMINI.md."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import msgspec

from seasoned.atomic_write import make_private_folder, write_atomic
from seasoned.command.written import written
from seasoned.connect.apply import RemoveOurs
from seasoned.connect.plan import ConnectPlan, change_of, decode_text, newline_of, read_present
from seasoned.errors import CannotDo
from seasoned.lazy_regex import LazyRegex
from seasoned.lesson.project_lessons import ProjectLessons
from seasoned.lesson.proposal import Proposal, ProposalEvidence, code, name_of_proposal
from seasoned.lesson.tree import contradiction
from seasoned.project import checkout_root, is_shared_folder, normal_path
from seasoned.store import Store
from seasoned.store.project import folders_of

HEADING = "## Learned from sessions"
FILES = ("CLAUDE.md", "AGENTS.md", "GEMINI.md")
# Every other agent reads AGENTS.md.
OWN_FILE = {"claude-code": "CLAUDE.md", "gemini": "GEMINI.md"}
_IMPORTS_AGENTS = LazyRegex(r"(?m)^@(?:\./)?AGENTS\.md\s*$")
_QUOTED = LazyRegex(r"(?ms)^[ \t]*```(?:sh|bash|shell|console|zsh)?[ \t]*\n(.*?)^[ \t]*```|`([^`\n]{3,160})`")
# "Run `make test` instead of `rtk make test`": what we write ourselves must not be found fault with.
_ADVISED_AGAINST = LazyRegex(r"(?i)\b(?:instead of|rather than|not|never|avoid|without|don['’]t)(?: \w+){0,2}:? \Z")
_MOST_CHARS = 200_000
_FOLDERS = 12


def project_folder(store: Store, key: str) -> Path | None:
    """The top of a project's checkout on this machine; None if it is not here."""
    for row in folders_of(store, key)[:_FOLDERS]:
        folder = Path(row.folder)
        if not folder.is_absolute() or not folder.is_dir():
            continue
        top = checkout_root(row.folder) or row.folder.removesuffix(row.part).rstrip("/")
        # Instructions in a home folder would be read in every project below it.
        if top and Path(top).is_dir() and not is_shared_folder(normal_path(top)):
            return Path(top)
    return None


def file_in(agent: str, folder: Path | None) -> Path | None:
    """The file that an agent reads in a project; None if the project is not on this machine."""
    if folder is not None:
        own = folder / OWN_FILE.get(agent, "AGENTS.md")
        # A file that only points to AGENTS.md leaves the instructions to that one, where all agents find them.
        if own.name == "CLAUDE.md" and _IMPORTS_AGENTS.compiled.search(_text(own)):
            return folder / "AGENTS.md"
        return own
    return None


def with_line(path: Path, line: str) -> bytes:
    """The file with a line added to what was learned."""
    text = decode_text(read_present(path) or b"", path)
    newline = newline_of(text)
    lines = text.split(newline)
    if HEADING in lines:
        place = lines.index(HEADING) + 1
        while place < len(lines) and (lines[place].startswith("- ") or not lines[place].strip()):
            place += 1
        # Behind the last entry, before the blank lines that follow it.
        while not lines[place - 1].strip():
            place -= 1
        lines.insert(place, f"- {line}")
        return newline.join(lines).encode()
    added = [HEADING, "", f"- {line}"]
    if not text:
        return newline.join([*added, ""]).encode()
    # A file whose last line does not end stays one, so that removing the lines restores every byte.
    return newline.join([*lines, *added, ""] if text.endswith("\n") else [*lines, "", *added]).encode()


def without_line(path: Path, data: bytes, line: str) -> bytes | None:
    """The file without a line that was added, and without the heading if it was the last; None if nothing is left."""
    text = decode_text(data, path)
    newline = newline_of(text)
    lines = text.split(newline)
    if f"- {line}" not in lines:
        return data
    lines.remove(f"- {line}")
    if HEADING in lines:
        at = lines.index(HEADING)
        section = takewhile(lambda one: not one.startswith("#"), lines[at + 1 :])
        if not any(one.startswith("- ") for one in section):
            end = at + 2 if at + 1 < len(lines) and not lines[at + 1].strip() else at + 1
            del lines[at:end]
            # The blank line that was put before the heading.
            if at and at <= len(lines) and not lines[at - 1].strip() and len(lines) > 1:
                del lines[at - 1]
    made = newline.join(lines)
    return made.encode() if made.strip() else None


def corrections(folder: Path, project: str, known: ProjectLessons) -> Iterator[Proposal]:
    """Commands in the instruction files of a project that fail in its sessions, where others work instead."""
    seen: set[str] = set()
    for name in FILES:
        for text in _commands(_text(folder / name)):
            parts = written(text)
            if len(parts) != 1 or not parts[0].form or parts[0].form in seen:
                continue
            form = parts[0].form
            seen.add(form)
            failed, better = known.failed_since(form), known.before(form)
            if not failed or better is None or not better.text or contradiction(better.text, folder) is not None:
                continue
            said = f"Say {code(better.text)} in {name} instead of {code(text)}, which fails."
            evidence = ProposalEvidence(
                len(failed),
                len(known.lineages),
                len(failed),
                last_seen=max(failed.values()) or None,
                note="it did not work since",
            )
            id = name_of_proposal("correction", project, f"{name}\n{form}")
            yield Proposal(
                id, "correction", project, said, evidence, better.text, form, known.agent, instead=text, file=name
            )


def _commands(text: str) -> Iterator[str]:
    """The commands that a file tells agents to run."""
    for found in _QUOTED.compiled.finditer(text):
        if _ADVISED_AGAINST.compiled.search(text, max(0, found.start() - 60), found.start()):
            continue
        lines = found[1].splitlines() if found[1] is not None else [found[2]]
        for line in lines:
            command = line.strip().removeprefix("$ ").partition(" #")[0].strip()
            if command and not command.startswith("#"):
                yield command


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")[:_MOST_CHARS] if path.is_file() else ""
    except OSError:
        return ""


# The folder of the records, beside that of connected agents.
AREA = "inbox"


def plan_line(proposal: Proposal, folder: Path | None) -> ConnectPlan:
    """What a line or a correction changes in the project's checkout; raises CannotDo if that is not here."""
    path = target_of(proposal, folder)
    if path is None or folder is None:
        raise CannotDo(f"The project is not on this machine. Add this where its sessions find it: {proposal.text}")
    # A repository could lead us into any file of the user's.
    if folder.resolve() not in path.resolve().parents:
        raise CannotDo(f"{str(path)!r} leads out of the project. Add this yourself: {proposal.text}")
    before = read_present(path)
    after = with_line(path, proposal.text) if proposal.kind == "line" else _replaced(path, before, proposal)
    return ConnectPlan(proposal.id, change_of(path, before, after, "what sessions learned"), parts=())


def removal_of(proposal: Proposal) -> RemoveOurs | None:
    """How a file that was edited since loses our part; None where a merge by lines does that."""
    if proposal.kind != "line":
        return None

    def remove(path: Path, data: bytes, before: bytes | None) -> bytes | None:
        return without_line(path, data, proposal.text)

    return remove


def target_of(proposal: Proposal, folder: Path | None) -> Path | None:
    """The file that a line or a correction changes; None if the project is not on this machine."""
    if proposal.kind == "line":
        return file_in(proposal.agent, folder)
    return None if folder is None else folder / proposal.file


def _replaced(path: Path, before: bytes | None, proposal: Proposal) -> bytes:
    """The file with one command instead of another."""
    text = decode_text(before or b"", path)
    # Only where it stands as a command: the words may be part of a sentence, or of a longer command.
    made = text.replace(code(proposal.instead), code(proposal.text))
    lines = [
        line.replace(proposal.instead, proposal.text) if line.strip().removeprefix("$ ") == proposal.instead else line
        for line in made.splitlines(keepends=True)
    ]
    if "".join(lines) == text:
        raise CannotDo(f"{str(path)!r} no longer says {proposal.instead!r}.")
    return "".join(lines).encode()


class ShownList(msgspec.Struct, frozen=True):
    """The ids in the order in which they were printed, and the project that the list was about."""

    ids: tuple[str, ...] = ()
    project: str | None = None

    def id_of(self, text: str) -> str:
        """The id that a number stands for; any other text is an id already."""
        number = int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else 0
        return self.ids[number - 1] if 0 < number <= len(self.ids) else text


def save_shown(home: Path, shown: ShownList) -> None:
    """Remember the list."""
    folder = home / AREA
    make_private_folder(folder)
    write_atomic(folder / "shown.json", msgspec.json.encode(shown), unfinished=folder / ".unfinished")


def read_shown(home: Path) -> ShownList:
    """The list that was printed last; empty if none was."""
    try:
        return msgspec.json.decode((home / AREA / "shown.json").read_bytes(), type=ShownList)
    except (OSError, msgspec.DecodeError):
        return ShownList()
