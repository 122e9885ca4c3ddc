"""Sessions that Entire keeps in a git repository: on the branch `entire/checkpoints/v1`, or one ref for each.

A checkpoint is a folder with `0/`, `1/` … for its sessions, each with `metadata.json` and the agent's own transcript in
`full.jsonl`, and `tasks/` for sub-agents. Every checkpoint holds the session so far, so the newest one is read. Objects
are read with git itself; nothing is checked out, fetched or changed.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

import msgspec

from seasoned.environment import for_git
from seasoned.errors import SourceError
from seasoned.history.builder import SessionBuilder
from seasoned.history.coerce import as_object, string, time_of
from seasoned.history.discover import CHECKPOINT_BRANCH, CHECKPOINT_REFS, checkpoints_changed_ns
from seasoned.history.formats import Sample, named, recognise
from seasoned.history.json_file import decode
from seasoned.session import Session, SessionRef

NAME = "entire"
_AGENT = "entire"
_REF = re.compile(rf"refs/(?:heads|remotes/[^/]+)/{CHECKPOINT_BRANCH}|{CHECKPOINT_REFS}.+")
# A transcript that is too long for one object is cut at the end of a line: `full.jsonl`, `full.jsonl.001`, …
_TRANSCRIPT = re.compile(r"full\.(?:jsonl|log)(?:\.\d{3})?")
_SUB_AGENT = re.compile(r"agent-[\w.-]{1,80}\.jsonl")
_SAFE_NAME = re.compile(r"[\w.-]{1,120}")
_MAX_DEPTH = 6
_MAX_BYTES = 512 << 20  # of one transcript
_TO_DO = "Check that git is installed and that `git fsck` finds the repository intact."


def recognises(sample: Sample) -> bool:
    """Whether a file represents a repository with checkpoints of Entire."""
    return sample.kind == "git" and checkpoints_changed_ns(sample.path.parent) is not None


class _Checkpoint(NamedTuple):
    """The transcript of one session in one checkpoint."""

    session: str
    agent: str
    # The later checkpoint of a session counts: by time, for a sub-agent by length.
    order: float
    parts: tuple[str, ...]  # objects of git, in order


def stamps(path: Path) -> dict[str, str]:
    """A stamp for each session that changes with it: the objects that hold its newest transcript."""
    with _GitObjects.open(path.parent) as objects:
        return {one.session: " ".join(one.parts) for one in _newest(objects)}


def read(path: Path, only: Collection[str] | None = None) -> Iterator[Session]:
    """Every session of the repository, oldest first; `only` selects by the ids of `stamps`."""
    with _GitObjects.open(path.parent) as objects:
        for checkpoint in _newest(objects):
            if only is None or checkpoint.session in only:
                yield from _sessions(path, objects, checkpoint)


def _newest(objects: _GitObjects) -> list[_Checkpoint]:
    """Of each session the newest checkpoint, oldest session first."""
    found: dict[str, _Checkpoint] = {}
    for tree in objects.tips():
        for one in _checkpoints(objects, tree, "", 0):
            known = found.get(one.session)
            if known is None or (one.order, one.parts) > (known.order, known.parts):
                found[one.session] = one
    return sorted(found.values(), key=lambda one: (one.order, one.session))


def _checkpoints(objects: _GitObjects, tree: str, name: str, depth: int) -> Iterator[_Checkpoint]:
    """The transcripts in a folder and those below it."""
    entries = objects.tree(tree)
    parts = sorted(one for one in entries if _TRANSCRIPT.fullmatch(one))
    if parts and name.isdigit():
        about = as_object(_json(objects.blob(entries["metadata.json"][1]))) if "metadata.json" in entries else {}
        # Without metadata, the transcript itself names its session.
        session = string(about.get("session_id")) or f"checkpoint-{tree}"
        ids = tuple(entries[part][1] for part in parts)
        agent = string(about.get("agent")) or "an unknown agent"
        yield _Checkpoint(session, agent, time_of(about.get("created_at")) or 0.0, ids)
    for entry, (is_folder, oid) in entries.items():
        if is_folder and depth < _MAX_DEPTH:
            yield from _checkpoints(objects, oid, entry, depth + 1)
        elif not is_folder and _SUB_AGENT.fullmatch(entry):
            yield _Checkpoint(entry.removesuffix(".jsonl"), "a sub-agent", len(objects.blob(oid)), (oid,))


def _json(data: bytes) -> object:
    try:
        return decode(data)
    except msgspec.DecodeError:
        return None


def _sessions(path: Path, objects: _GitObjects, checkpoint: _Checkpoint) -> Iterator[Session]:
    """What the agent's own reader finds in a transcript, as sessions of this repository."""
    name = checkpoint.session if _SAFE_NAME.fullmatch(checkpoint.session) else "transcript"
    with tempfile.TemporaryDirectory(prefix="seasoned-") as folder:
        # Named like the agent's own file: some readers take the session id from it.
        copy = Path(folder) / f"{name}.jsonl"
        copy.write_bytes(b"\n".join([objects.blob(part).rstrip(b"\n") for part in checkpoint.parts]) + b"\n")
        module = recognise(copy)
        if module is None:
            builder = SessionBuilder(SessionRef(_AGENT, checkpoint.session), format=NAME, path=str(path))
            builder.unreadable(f"session {name}", f"a transcript of {checkpoint.agent[:40]} that is in no known format")
            yield builder.take()
            return
        for session in named(module).read(copy):
            # The folder of a colleague does not exist here: the session belongs to this checkout.
            here = session.cwd if session.cwd and Path(session.cwd).is_dir() else str(_checkout(path.parent))
            yield msgspec.structs.replace(session, path=str(path), format=NAME, cwd=here)


def _checkout(git: Path) -> Path:
    return git.parent if git.name == ".git" else git


class _GitObjects:
    """The objects of a repository, read through one `git cat-file --batch`."""

    def __init__(self, git: Path, process: subprocess.Popen[bytes]) -> None:
        self._git = git
        self._process = process
        self._trees: dict[str, dict[str, tuple[bool, str]]] = {}

    @staticmethod
    @contextmanager
    def open(git: Path) -> Iterator[_GitObjects]:
        """Start git for the repository, and end it."""
        with _start(git, "cat-file", "--batch", stdin=subprocess.PIPE) as process:
            try:
                yield _GitObjects(git, process)
            finally:
                process.kill()

    def tips(self) -> list[str]:
        """The commits that the checkpoints are on, each once."""
        with _start(self._git, "for-each-ref", "--format=%(objectname) %(refname)") as process:
            lines, _ = process.communicate()
        if process.returncode:
            raise SourceError(f"The refs of {str(self._git)!r} cannot be read. {_TO_DO}")
        refs = [line.split(" ", 1) for line in lines.decode("utf-8", "replace").splitlines()]
        return list(dict.fromkeys([oid for oid, name in refs if _REF.fullmatch(name)]))

    def tree(self, oid: str) -> dict[str, tuple[bool, str]]:
        """The entries of a folder, or of the folder of a commit: whether each is a folder, and its object."""
        if oid not in self._trees:
            kind, data = self._get(oid)
            if kind == "commit":
                return self.tree(data[5 : data.index(b"\n")].decode())
            self._trees[oid] = dict(_entries(data, len(oid) // 2)) if kind == "tree" else {}
        return self._trees[oid]

    def blob(self, oid: str) -> bytes:
        """The bytes of a file."""
        return self._get(oid)[1]

    def _get(self, oid: str) -> tuple[str, bytes]:
        asked, answers = self._process.stdin, self._process.stdout
        assert asked is not None and answers is not None
        try:
            asked.write(f"{oid}\n".encode())
            asked.flush()
            head = answers.readline().decode("utf-8", "replace").split()
        except OSError:
            head = []
        if head[1:] == ["missing"]:
            raise SourceError(
                f"Objects of {str(self._git)!r} are missing. In a partial clone, run `git fetch --refetch`."
            )
        if len(head) != 3 or not head[2].isdigit():
            raise SourceError(f"The objects of {str(self._git)!r} cannot be read. {_TO_DO}")
        return head[1], _take(answers, int(head[2]))


def _take(answers: IO[bytes], size: int) -> bytes:
    if size > _MAX_BYTES:
        raise SourceError(f"A transcript of {size} bytes is too long to be read.")
    return answers.read(size + 1)[:-1]


def _entries(data: bytes, width: int) -> Iterator[tuple[str, tuple[bool, str]]]:
    """The entries of a tree: `MODE NAME`, a zero, and the object in `width` bytes."""
    at = 0
    while (zero := data.find(b"\0", at)) >= 0:
        mode, _, name = data[at:zero].partition(b" ")
        at = zero + 1 + width
        yield name.decode("utf-8", "replace"), (mode == b"40000", data[zero + 1 : at].hex())


def _start(git: Path, *words: str, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            ["git", f"--git-dir={git}", *words],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=for_git(),
        )
    except OSError as error:
        raise SourceError(
            f"git cannot be started: {error.strerror or error}. Install git to read {str(git)!r}."
        ) from error
