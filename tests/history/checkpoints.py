"""A git repository with checkpoints of Entire."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path


def git(repository: Path, *words: str, given: bytes = b"") -> str:
    """Run git in a repository."""
    command = ["git", "-C", str(repository), "-c", "user.name=mira", "-c", "user.email=mira@example.test", *words]
    return subprocess.run(command, input=given, capture_output=True, check=True).stdout.decode().strip()


def store_tree(repository: Path, files: dict[str, bytes]) -> str:
    """A tree of git with these files, made without a checkout."""
    entries: list[str] = []
    folders: dict[str, dict[str, bytes]] = {}
    for name, data in files.items():
        first, slash, rest = name.partition("/")
        if slash:
            folders.setdefault(first, {})[rest] = data
        else:
            entries.append(f"100644 blob {git(repository, 'hash-object', '-w', '--stdin', given=data)}\t{name}")
    entries += [f"040000 tree {store_tree(repository, below)}\t{name}" for name, below in folders.items()]
    return git(repository, "mktree", given="".join(f"{one}\n" for one in entries).encode())


def checkpoint(session: str, created: str, transcript: bytes, *, chunks: int = 1) -> dict[str, bytes]:
    """The files of a session in a checkpoint; a long transcript is kept in chunks."""
    about = {"session_id": session, "agent": "Claude Code", "created_at": created}
    lines = transcript.splitlines(keepends=True)
    size = -(-len(lines) // chunks)
    parts = [b"".join(lines[at : at + size]).rstrip(b"\n") for at in range(0, len(lines), size)]
    names = ["full.jsonl", *[f"full.jsonl.{number:03}" for number in range(1, len(parts))]]
    return {"metadata.json": json.dumps(about).encode(), **dict(zip(names, parts, strict=True))}


def add_checkpoint(repository: Path, ref: str, files: dict[str, bytes]) -> None:
    """Commit these files to a ref of a repository, in the place of what it held."""
    commit = git(repository, "commit-tree", "-m", "Checkpoint", store_tree(repository, files))
    git(repository, "update-ref", ref, commit)
