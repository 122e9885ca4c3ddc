"""Skills: how to do a kind of task, in the open SKILL.md format. Finding, listing and viewing them.

Existing front matter is never written again: patches change the text of the file, so every other byte stays.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from seasoned.admission import admit
from seasoned.errors import CannotDo, NotFound, UsageError
from seasoned.redact import Redactor
from seasoned.review.journal import Actor, created_by, preview
from seasoned.store import Store

if TYPE_CHECKING:
    import yaml

_FENCE = "---"
# Text that needs no quotes in any version of YAML.
_SAFE_PLAIN = re.compile(r"[A-Za-z][\w ,.;()/'+–—-]*\Z")
# YAML 1.1 reads these as booleans or as null.
_YAML_WORDS = frozenset(("true", "false", "yes", "no", "on", "off", "null", "y", "n"))
# A value on one line that begins with none of the characters that have a meaning in YAML.
_ONE_LINE = re.compile(r"^(name|description):[ \t]+(?![\"'|>&*!%@`\[{#])(.*\S)", re.MULTILINE)


class SkillDocument(msgspec.Struct, frozen=True):
    """A SKILL.md in its parts."""

    name: str
    description: str
    # The front matter to the byte, with its fences.
    head: str
    body: str


def parse(text: str) -> SkillDocument:
    """The parts of a SKILL.md; UsageError says in one sentence what is wrong."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != _FENCE:
        raise UsageError("A skill begins with front matter: a line `---`, then name and description, then `---`.")
    end = next((at for at, line in enumerate(lines) if at and line.rstrip() == _FENCE), None)
    if end is None:
        raise UsageError("The front matter has no end: close it with a line `---`.")
    fields = _fields("\n".join(lines[1:end]))
    for name in ("name", "description"):
        if name not in fields:
            raise UsageError(f"The front matter has no {name!r}: add a line `{name}: …`.")
        if not fields[name]:
            raise UsageError(f"The front matter's {name!r} is empty: fill in the line `{name}: …`.")
    head = "\n".join(lines[: end + 1])
    return SkillDocument(fields["name"], fields["description"], head, "\n".join(lines[end + 1 :]))


def compose(name: str, description: str, body: str) -> str:
    """A new SKILL.md."""
    text = body.replace("\r\n", "\n").strip("\n")
    return f"{_FENCE}\nname: {quoted(name)}\ndescription: {quoted(description)}\n{_FENCE}\n\n{text}\n"


def quoted(text: str) -> str:
    """A text as a YAML value on one line: plain if that is safe, otherwise in double quotes."""
    is_safe = _SAFE_PLAIN.match(text) and text == text.strip() and text.lower() not in _YAML_WORDS
    # A JSON string is a YAML string, except for these two characters.
    return text if is_safe else json.dumps(text, ensure_ascii=False).replace("\x7f", "\\x7f").replace("\x85", "\\N")


def _fields(head: str) -> dict[str, str]:
    """Name and description, each on one line."""
    try:
        import yaml
    except ImportError as error:
        raise CannotDo("Reading skills needs PyYAML. Run: pip install seasoned") from error
    try:
        try:
            node = _compose(head)
        except yaml.YAMLError:
            # People write `description: Use when: …`, which YAML refuses and every agent reads as plain text.
            node = _compose(_ONE_LINE.sub(lambda found: f"{found[1]}: {json.dumps(found[2])}", head))
    except (yaml.YAMLError, RecursionError) as error:
        problem = getattr(error, "problem", None) or "it is nested too deeply or holds control characters"
        mark = getattr(error, "problem_mark", None)
        at = "" if mark is None else f" (line {mark.line + 2})"
        raise UsageError(f"The front matter is not valid YAML: {problem}{at}. Check quotes and indentation.") from error
    if not isinstance(node, yaml.MappingNode):
        raise UsageError("The front matter is not a list of `field: value` lines.")
    fields: dict[str, str] = {}
    for key, value in node.value:
        if key.value in fields:
            raise UsageError(f"The front matter has {key.value!r} twice: keep one.")
        if key.value in ("name", "description"):
            if not isinstance(value, yaml.ScalarNode):
                raise UsageError(f"The front matter's {key.value!r} is not plain text: put it in double quotes.")
            fields[key.value] = " ".join(value.value.split())
        elif isinstance(key, yaml.ScalarNode):
            fields[key.value] = ""
    return fields


def _compose(head: str) -> yaml.Node | None:
    """The nodes of a document, without constructing values: nothing is converted, no alias is expanded."""
    import yaml

    node: yaml.Node | None = yaml.compose(head, Loader=yaml.BaseLoader)
    return node


MAIN = "SKILL.md"
SUPPORT = ("references", "templates", "scripts", "assets")
NAME_LENGTH = 64
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*\Z")
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*\Z")
_PART_LENGTH = 100
_DEPTH = 5
# Windows reserves these names, with any extension.
_DEVICES = frozenset(
    ("con", "prn", "aux", "nul", "clock$", *[f"{port}{digit}" for port in ("com", "lpt") for digit in range(10)])
)


def check_name(name: str) -> str:
    """The name of a skill or category, if it may be one."""
    if len(name) > NAME_LENGTH or not _NAME.match(name) or not _is_portable(name):
        raise UsageError(
            f"{name[:80]!r} cannot name a skill: use lower-case letters, digits, '.', '_' and '-', a letter or digit "
            f"first, {NAME_LENGTH} at most."
        )
    return name


def check_support(path: str) -> str:
    """The path of a support file inside its skill, if something may be written there."""
    parts = path.split("/")
    if len(parts) < 2 or parts[0] not in SUPPORT:
        raise UsageError(
            f"{path[:80]!r} is not a path for a support file: use {', '.join(f'{one}/…' for one in SUPPORT)}."
        )
    if len(parts) > _DEPTH or not all(
        len(part) <= _PART_LENGTH and _PART.match(part) and _is_portable(part) for part in parts
    ):
        raise UsageError(
            f"{path[:80]!r} cannot name a support file: use letters, digits, '.', '_' and '-' between the slashes, "
            f"{_DEPTH} parts at most."
        )
    return path


def _is_portable(part: str) -> bool:
    """Whether the name is also valid on Windows."""
    return not part.endswith(".") and part.split(".")[0].lower() not in _DEVICES


def inside(folder: Path, path: str) -> Path:
    """The path of a file below a folder; UsageError if a part of it is a link."""
    place = folder
    parts = path.split("/")
    for number, part in enumerate(parts, start=1):
        place = place / part
        try:
            mode = place.lstat().st_mode
        except FileNotFoundError:
            # What does not exist yet cannot be a link.
            continue
        except OSError as error:
            raise CannotDo(f"{str(place)!r} cannot be read: {error.strerror or error}.") from error
        expected = stat.S_ISREG(mode) if number == len(parts) else stat.S_ISDIR(mode)
        if not expected:
            raise UsageError(f"{path!r} contains {part!r}, which is a link or not a regular file: it is not followed.")
    return place


def check_spelling(folder: Path, path: str) -> None:
    """Refuse a path that some systems treat as an existing one: `A.md` and `a.md`."""
    place = folder
    for part in path.split("/"):
        if not place.is_dir():
            return
        other = next((n for one in place.iterdir() if (n := one.name) != part and n.lower() == part.lower()), None)
        if other is not None:
            raise UsageError(f"{path!r} is there in another spelling, {other!r}: use that one.")
        place = place / part


def files(skill: Path) -> Iterator[str]:
    """The support files of a skill in order, by their paths inside it; links and hidden files are left out."""
    for name in SUPPORT:
        yield from _below(skill / name, name, _DEPTH)


def _below(folder: Path, path: str, depth: int) -> Iterator[str]:
    try:
        found = sorted(os.scandir(folder), key=lambda entry: entry.name) if not folder.is_symlink() else []
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise CannotDo(f"{str(folder)!r} cannot be read: {error.strerror or error}.") from error
    for entry in found:
        if entry.name.startswith("."):
            continue
        if entry.is_file(follow_symlinks=False):
            yield f"{path}/{entry.name}"
        elif entry.is_dir(follow_symlinks=False) and depth > 1:
            yield from _below(folder / entry.name, f"{path}/{entry.name}", depth - 1)


DESCRIPTION_LIMIT = 1_024
TEXT_LIMIT = 100_000
FILE_LIMIT = 1_000_000
# The index is part of every prompt.
_INDEX_LENGTH = 200


class Skill(msgspec.Struct, frozen=True):
    """A skill in its folder. One that cannot be read has a problem instead of a description."""

    # Its name, after its category if it has one.
    id: str
    # The folder of all skills.
    folder: Path
    description: str = ""
    files: tuple[str, ...] = ()
    problem: str | None = None

    @property
    def name(self) -> str:
        return self.id.rpartition("/")[2]

    @property
    def path(self) -> Path:
        return self.folder / self.id


class SkillView(msgspec.Struct, frozen=True):
    """One file of a skill as a reader sees it."""

    skill: Skill
    file: str
    text: str


def skills(folder: Path) -> list[Skill]:
    """Every skill of a folder, in order of category and name."""
    return sorted((_read(folder, found) for found in ids(folder)), key=lambda skill: skill.id)


def find(folder: Path, name: str) -> Skill:
    """The skill with this name, with or without its category; NotFound lists similar names."""
    for part in name.split("/"):
        check_name(part)
    known = sorted(ids(folder))
    fitting = [found for found in known if name in (found, found.rpartition("/")[2])]
    if name in fitting:
        fitting = [name]
    if len(fitting) == 1:
        return _read(folder, fitting[0])
    if fitting:
        raise UsageError(f"There are several skills {name!r}: choose one of {', '.join(fitting)}.")
    if not known:
        raise NotFound(f"There is no skill {name!r}: there are none yet.")
    by_name = {found.rpartition("/")[2]: found for found in known}
    near = [by_name[one] for one in get_close_matches(name.rpartition("/")[2], by_name, n=5, cutoff=0.3)] or known[:5]
    raise NotFound(f"There is no skill {name!r}: the nearest are {', '.join(near)}.")


def view(folder: Path, name: str, file: str | None = None) -> SkillView:
    """A skill's text, or one of its support files; a damaged file is shown as far as possible."""
    skill = find(folder, name)
    if file is None or file == MAIN:
        return SkillView(skill, MAIN, read_text(inside(folder, f"{skill.id}/{MAIN}"), "replace"))
    if file not in skill.files:
        known = f": it has {', '.join(skill.files)}." if skill.files else ", or any other."
        raise NotFound(f"The skill {skill.id!r} has no file {file[:80]!r}{known}")
    return SkillView(skill, file, read_text(inside(folder, f"{skill.id}/{file}"), "replace"))


def index(folder: Path, *, redactor: Redactor | None = None) -> str:
    """Names and descriptions for a prompt, the same for the same files; descriptions that give orders are left out."""
    lines = []
    for skill in skills(folder):
        if skill.problem is None:
            is_fit = redactor is None or admit(redactor, skill.description)
            lines.append(f"- {skill.id}: {preview(skill.description, _INDEX_LENGTH) if is_fit else '(no description)'}")
    return "\n".join(lines)


def author(store: Store, skill: Skill) -> Actor:
    """Who created a skill: a person, unless the journal says otherwise."""
    return created_by(store, skill.folder, skill.id)


def ids(folder: Path) -> Iterator[str]:
    """Names of folders that hold a SKILL.md, one or two levels down."""
    for name in _folders(folder):
        if (folder / name / MAIN).exists():
            yield name
            continue
        yield from (f"{name}/{inner}" for inner in _folders(folder / name) if (folder / name / inner / MAIN).exists())


def _folders(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as found:
            return [entry.name for entry in found if entry.is_dir() and not entry.name.startswith(".")]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise CannotDo(f"The folder {str(folder)!r} cannot be read: {error.strerror or error}.") from error


def _read(folder: Path, skill_id: str) -> Skill:
    try:
        for part in skill_id.split("/"):
            check_name(part)
        document = parse(read_text(inside(folder, f"{skill_id}/{MAIN}")))
        support = tuple(files(folder / skill_id))
    except (UsageError, CannotDo, NotFound) as error:
        return Skill(skill_id, folder, problem=str(error))
    # Skills that were written elsewhere may exceed the limit; here it protects the prompt.
    return Skill(skill_id, folder, document.description[:DESCRIPTION_LIMIT], support)


def read_text(path: Path, errors: str = "strict") -> str:
    """The text of a file of a skill; CannotDo says why it cannot be read."""
    try:
        with path.open("rb") as file:
            # A character has at most four bytes; one byte more shows that the file is too long.
            data = file.read(4 * FILE_LIMIT + 1)
    except FileNotFoundError:
        raise NotFound(f"{str(path)!r} is gone: list the skills again.") from None
    except OSError as error:
        raise CannotDo(f"{str(path)!r} cannot be read: {error.strerror or error}.") from error
    if len(data) > 4 * FILE_LIMIT:
        raise CannotDo(f"{str(path)!r} is too large to be read here.")
    try:
        return data.decode("utf-8", errors)
    except UnicodeDecodeError as error:
        raise CannotDo(f"{path.name} is not UTF-8 (byte {error.start:,}).") from error
