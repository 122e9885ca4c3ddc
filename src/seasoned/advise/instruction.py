"""The files in which people instruct their agents: CLAUDE.md, AGENTS.md, GEMINI.md and the memory of Hermes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from seasoned.advise.advice import Advice, AdviceEvidence, AdviceStep, code, make_advice
from seasoned.command.written import written
from seasoned.config import Config
from seasoned.connect.plan import decode_text, newline_of, read_present
from seasoned.errors import CannotDo
from seasoned.experience.knowledge import ProjectKnowledge
from seasoned.experience.memory_file import NOTES_LIMIT, SEPARATOR
from seasoned.experience.tree import contradiction
from seasoned.lazy_regex import LazyRegex
from seasoned.project import checkout_root, is_home
from seasoned.store import Store
from seasoned.store.project import folders_of

HEADING = "## Learned from sessions"
MEMORY = "MEMORY.md"
FILES = ("CLAUDE.md", "AGENTS.md", "GEMINI.md")
# Every other agent that reads a file in the project reads AGENTS.md.
_OWN_FILE = {"claude-code": "CLAUDE.md", "gemini": "GEMINI.md"}
_IMPORTS_AGENTS = LazyRegex(r"(?m)^@(?:\./)?AGENTS\.md\s*$")
_QUOTED = LazyRegex(r"(?ms)^[ \t]*```(?:sh|bash|shell|console|zsh)?[ \t]*\n(.*?)^[ \t]*```|`([^`\n]{3,160})`")
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
        if top and Path(top).is_dir() and not is_home(top):
            return Path(top)
    return None


def file_in(config: Config, agent: str, folder: Path | None) -> Path | None:
    """The file that an agent reads in a project; None if the project is not on this machine."""
    if agent == "hermes":
        return user_file(config, agent)
    if folder is not None:
        own = folder / _OWN_FILE.get(agent, "AGENTS.md")
        # A file that only points to AGENTS.md leaves the instructions to that one, where all agents find them.
        if own.name == "CLAUDE.md" and _IMPORTS_AGENTS.compiled.search(_text(own)):
            return folder / "AGENTS.md"
        return own
    return None


def user_file(config: Config, agent: str) -> Path | None:
    """The file that an agent reads in every project; None if it is not installed here."""
    if agent == "hermes":
        return config.hermes_home / "memories" / MEMORY if config.hermes_home.is_dir() else None
    homes = {"claude-code": config.claude_config_dir, "codex": config.codex_home, "gemini": config.gemini_home}
    home = homes.get(agent)
    return home / _OWN_FILE.get(agent, "AGENTS.md") if home is not None and home.is_dir() else None


def with_line(path: Path, line: str) -> bytes:
    """The file with a line added to what was learned; raises CannotDo if it has no room for it."""
    text = decode_text(read_present(path) or b"", path)
    if path.name == MEMORY:
        # The memory of Hermes: entries with a line `§` between them, of a limited length.
        made = SEPARATOR.join([text.rstrip("\n"), line]) if text.strip() else line
        if len(made) > NOTES_LIMIT:
            raise CannotDo(f"{str(path)!r} is full ({NOTES_LIMIT:,} characters). Remove an entry and try again.")
        return made.encode()
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
    if path.name == MEMORY:
        kept = [entry for entry in text.split(SEPARATOR) if entry.strip() != line]
        return SEPARATOR.join(kept).encode() if kept else None
    newline = newline_of(text)
    lines = text.split(newline)
    if f"- {line}" not in lines:
        return data
    lines.remove(f"- {line}")
    if HEADING in lines:
        at = lines.index(HEADING)
        if not any(one.startswith("- ") for one in _section(lines, at)):
            end = at + 2 if at + 1 < len(lines) and not lines[at + 1].strip() else at + 1
            del lines[at:end]
            # The blank line that was put before the heading.
            if at and at <= len(lines) and not lines[at - 1].strip() and len(lines) > 1:
                del lines[at - 1]
    made = newline.join(lines)
    return made.encode() if made.strip() else None


def _section(lines: list[str], at: int) -> Iterator[str]:
    for one in lines[at + 1 :]:
        if one.startswith("#"):
            return
        yield one


def says(folder: Path, text: str) -> bool:
    """Whether an instruction file of the project holds a text already."""
    return any(text in _text(folder / name) for name in FILES)


def contradictions(folder: Path, project: str, known: ProjectKnowledge, *, among: int, agent: str) -> Iterator[Advice]:
    """Commands in the instruction files of a project that fail in its sessions."""
    seen: set[str] = set()
    for name in FILES:
        for text in _commands(_text(folder / name)):
            parts = written(text)
            if len(parts) != 1 or not parts[0].form or parts[0].form in seen:
                continue
            form = parts[0].form
            failed = known.failed_since(form)
            if not failed:
                continue
            seen.add(form)
            better = known.before(form)
            step = AdviceStep("manual", f"Correct {code(text)} in {name}.", agent)
            if better is not None and better.text and contradiction(better.text, folder) is None:
                step = AdviceStep("replace", better.text, agent, text, name)
            said = f"Correct {name}: it says {code(text)}, and that fails."
            if step.kind == "replace":
                said = f"Say {code(step.text)} in {name} instead of {code(text)}, which fails."
            evidence = AdviceEvidence(
                len(failed),
                among,
                len(failed),
                None,
                None,
                max(failed.values()) or None,
                (),
                "it did not work since",
            )
            subject = f"says\n{name}\n{form}"
            yield make_advice("instruction", project, subject, said, evidence, step, failed)


def _commands(text: str) -> Iterator[str]:
    for found in _QUOTED.compiled.finditer(text):
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
