"""What a review did, in one line: made of the changes that the store has under its own name, and of nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from seasoned.agent.provenance import Change

_MEMORY = {"add": "+", "replace": "~", "remove": "−"}
_SHOWN = 6


def line_of(changes: Iterable[Change]) -> str | None:
    """The line, or None where nothing was written. What was said in the conversation before does not come into it."""
    written = sorted(changes, key=lambda change: change.id)
    kept = _told([change for change in written if change.state == "kept"])
    staged = _told([change for change in written if change.state == "staged"])
    parts = [f"Kept: {kept}"] if kept else []
    if staged:
        kinds = " and ".join(sorted({f"`seasoned {change.kind} history`" for change in written if _waits(change)}))
        parts.append(f"Waits for you ({kinds}): {staged}")
    return ". ".join(parts) or None


def _waits(change: Change) -> bool:
    return change.state == "staged"


def _told(changes: Sequence[Change]) -> str:
    """`memory +1; skill `x` patched`."""
    parts = []
    counts = {sign: sum(_MEMORY.get(change.action) == sign for change in changes) for sign in _MEMORY.values()}
    if any(counts.values()):
        parts.append("memory " + " ".join(f"{sign}{number}" for sign, number in counts.items() if number))
    skills: dict[str, list[str]] = {}
    for change in changes:
        if change.kind == "skill":
            done = skills.setdefault(change.target, [])
            if (verb := _verb(change)) not in done:
                done.append(verb)
    parts += [f"skill `{name}` {', '.join(done)}" for name, done in list(skills.items())[:_SHOWN]]
    if len(skills) > _SHOWN:
        parts.append(f"{len(skills) - _SHOWN} more skills")
    return "; ".join(parts)


def _verb(change: Change) -> str:
    if change.action == "patch" and change.file != "SKILL.md":
        return f"patched in `{change.file}`"
    verbs = {
        "create": "created",
        "patch": "patched",
        "write_file": f"given `{change.file}`",
        "remove_file": f"freed of `{change.file}`",
        "delete": "put aside",
    }
    return verbs[change.action]
