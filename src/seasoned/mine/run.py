"""Mines files into a folder: reads new files in parts, then merges the projects with new rows; and imports the result.

Nothing is lost if it stops: parts that were read stay until they are merged, a file counts as mined only when all its
projects are written, and the next run continues.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from seasoned.digest import short_digest
from seasoned.experience.learner import SessionLearner
from seasoned.mine.engine import Engine, TaskOutcome
from seasoned.mine.folder import PARTS, MinedFolder, decode_part, encode_part
from seasoned.mine.merge import merge_project
from seasoned.mine.read import SourceFile, mine_files, read_rules
from seasoned.mine.table import FILES, MINED, session_rows
from seasoned.redact.key import Secrecy
from seasoned.scan.rows import NOT_A_HISTORY, Batch, SessionRows
from seasoned.scan.scan import write_batches
from seasoned.store import Store

# Large enough that a task has little overhead, small enough that a retry and its memory cost little.
_PART_BYTES = 32 << 20
_FEWEST_BYTES = 1 << 20
_FILE_BYTES = 40_000  # even an empty file costs as much as this many bytes
_PARTS_EACH = 8  # parts for each worker, so that none finishes much later than the others
Progress = Callable[[int, int], None]


class PartTask(msgspec.Struct, frozen=True):
    """Files to read in one go."""

    out: str
    files: tuple[SourceFile, ...]
    secrecy: Secrecy

    @property
    def name(self) -> str:
        return short_digest(*[repr(one) for one in self.files], *_manner(self.secrecy), size=12)


class ReadFile(msgspec.Struct, frozen=True):
    """A file that was read."""

    file: SourceFile
    is_history: bool
    unreadable: int  # records
    failure: str | None  # why it could not be read at all
    projects: tuple[str | None, ...]


class PartDone(msgspec.Struct, frozen=True):
    """A part that was read; its tables wait in the folder until they are merged."""

    name: str
    manner: tuple[str, str]
    files: tuple[ReadFile, ...]
    sessions: int
    calls: int


class MergeTask(msgspec.Struct, frozen=True):
    """A project with new rows: the parts that contain them, and the files whose earlier rows they replace."""

    out: str
    project: str | None
    parts: tuple[str, ...]
    replaced: frozenset[str]
    forgotten: frozenset[str] = frozenset()


class MineReport(msgspec.Struct, frozen=True):
    """What mining did."""

    files: int
    read: int
    unchanged: int
    no_history: int
    sessions: int
    calls: int
    unreadable: int
    projects: int  # that changed
    changed_files: int  # of the folder
    retried: int  # tasks that had to be tried again
    failures: tuple[tuple[str, str], ...]  # files that could not be read, and why
    unfinished: tuple[tuple[str, str], ...]  # projects that could not be merged, and why
    bytes: int
    seconds: float


def read_part(task: PartTask) -> PartDone:
    """Read a part and leave it in the folder, a file for each project. Runs in workers."""
    folder = MinedFolder(task.out)
    # Many objects and few cycles, all gone with the part: looking for those takes a tenth of the time.
    gc.disable()
    try:
        mined = mine_files(task.files, task.secrecy)
    finally:
        gc.enable()
    rows = mined.filter(pc.is_valid(mined["native_id"]))
    of_file: dict[str, set[str | None]] = {}
    for source, project in zip(rows["source"].to_pylist(), rows["project"].to_pylist(), strict=True):
        of_file.setdefault(source, set()).add(project)
    for project in pc.unique(rows["project"]).to_pylist():
        is_project = pc.is_null(rows["project"]) if project is None else pc.equal(rows["project"], project)
        folder.write(_part_file(task.name, project), encode_part(rows.filter(is_project)))
    facts = mined.filter(pc.is_valid(mined["file"]))["file"].combine_chunks()
    projects = [sorted(of_file.get(file.address, ()), key=_none_first) for file in task.files]
    manner = _manner(task.secrecy)
    columns = [*facts.flatten(), *[pa.repeat(one, len(facts)) for one in manner]]
    columns.append(pa.array(projects, FILES.field("projects").type))
    folder.write(_part_files(task.name), encode_part(pa.Table.from_arrays(columns, schema=FILES)))
    read = [
        ReadFile(file, one["format"] != NOT_A_HISTORY, len(one["unreadable"]), one["failure"], tuple(keys))
        for file, one, keys in zip(task.files, facts.to_pylist(), projects, strict=True)
    ]
    calls = pc.sum(pc.list_value_length(rows["calls"])).as_py() or 0
    done = PartDone(task.name, manner, tuple(read), len(rows), calls)
    # Written last: a part without it was not read to its end.
    folder.write(f"{PARTS}/{task.name}/done.json", msgspec.json.encode(done))
    return done


def _manner(secrecy: Secrecy) -> tuple[str, str]:
    """What decides how a file is read, apart from the file: the rules, and a digest of the redaction."""
    return read_rules(), short_digest(secrecy.key.hex(), *secrecy.own)


def _none_first(project: str | None) -> tuple[bool, str]:
    return project is not None, project or ""


def merge_parts(task: MergeTask) -> int:
    """Merge the parts of a project with what is known of it; returns how many files changed. Runs in workers."""
    folder = MinedFolder(task.out)
    known = folder.project(task.project)
    if task.replaced:
        replaced = pa.array(sorted(task.replaced), pa.string())
        known = known.filter(pc.invert(pc.is_in(known["source"], value_set=replaced)))
    new = [folder.read(_part_file(part, task.project)) for part in task.parts]
    tables = [known, *[decode_part(content).cast(MINED) for content in new if content is not None]]
    mined = pa.concat_tables(tables)
    if task.forgotten:
        mined = mined.filter(pa.array([one not in task.forgotten for one in _session_digests(mined)], pa.bool_()))
    return folder.write_project(task.project, merge_project(mined))


def _part_file(part: str, project: str | None) -> str:
    return f"{PARTS}/{part}/{'none' if project is None else short_digest(project, size=12)}.arrow"


def _part_files(part: str) -> str:
    return f"{PARTS}/{part}/files.arrow"


def mine(
    files: Sequence[SourceFile],
    out: str,
    secrecy: Secrecy,
    engine: Engine,
    *,
    forgotten: Collection[tuple[str, str]] = (),
    progress: Progress | None = None,
    part_bytes: int | None = None,
) -> MineReport:
    """Bring a folder up to date with the files. Files that are gone keep their rows; forgotten sessions lose theirs."""
    begun = time.perf_counter()
    folder = MinedFolder(out)
    manner = _manner(secrecy)
    sources = folder.sources()
    known = _known(sources)
    current = {file for file, how, _ in known.values() if how == manner}
    wanted = {one for one in files if one not in current}
    waiting = _waiting_parts(folder, manner, wanted, current)
    staged = {read.file for part in waiting for read in part.files}
    new = [one for one in files if one in wanted and one not in staged]
    tally = _MineTally(sum(one.size for one in new), progress)
    parts = _parts(out, new, secrecy, part_bytes or _fair_bytes(new, engine.workers))
    done = [*waiting, *_read_all(engine, parts, tally)]
    earlier = {address: projects for address, (_, _, projects) in known.items()}
    recorded = folder.forgotten()
    left_out = recorded | {session_digest(*ref) for ref in forgotten}
    held = _projects_with(folder, earlier, left_out - recorded)
    unfinished = _merge_all(engine, out, done, earlier, tally, held=held, forgotten=left_out)
    if left_out != recorded and unfinished.isdisjoint(held):
        folder.write_forgotten(left_out)
    mined = {
        read.file.address
        for part in done
        for read in part.files
        if read.failure is None and unfinished.isdisjoint((*read.projects, *earlier.get(read.file.address, ())))
    }
    if mined:
        folder.sync()
        _list_mined(folder, sources, done, mined)
    for part in done:
        if all(read.file.address in mined or read.failure is not None for read in part.files):
            folder.remove(f"{PARTS}/{part.name}")
    if not folder.names(PARTS):
        folder.remove(PARTS)
    return tally.report(len(files), len(files) - len(wanted), done, begun)


def session_digest(agent: str, native_id: str) -> str:
    """How a mined folder notes that a session was forgotten: without its name."""
    return short_digest(agent, native_id, size=12)


def _session_digests(sessions: pa.Table) -> list[str]:
    return list(map(session_digest, sessions["agent"].to_pylist(), sessions["native_id"].to_pylist()))


def _projects_with(
    folder: MinedFolder, earlier: Mapping[str, Iterable[str | None]], digests: frozenset[str]
) -> set[str | None]:
    """The projects that hold some of these sessions."""
    projects = {project for each in earlier.values() for project in each} if digests else set()
    return {one for one in projects if not digests.isdisjoint(_session_digests(folder.sessions(one)))}


def remember(folder: MinedFolder, refs: Iterable[tuple[str, str]]) -> bool:
    """Allow forgotten sessions again; the next run reads every file again. False if none of them was forgotten."""
    recorded = folder.forgotten()
    left = recorded - {session_digest(*ref) for ref in refs}
    if left == recorded:
        return False
    sources = folder.sources()
    place = sources.schema.get_field_index("rules")
    folder.write_sources(sources.set_column(place, "rules", pa.repeat("", len(sources))))
    folder.write_forgotten(left)
    return True


def _known(sources: pa.Table) -> dict[str, tuple[SourceFile, tuple[str, str], list[str | None]]]:
    """Each file that was mined, how it was read, and the projects that it has rows in."""
    names = ("address", "size", "mtime_ns", "version", "rules", "redaction", "projects")
    rows = zip(*[sources[name].to_pylist() for name in names], strict=True)
    return {row[0]: (SourceFile(*row[:4]), row[4:6], row[6]) for row in rows}


def _list_mined(folder: MinedFolder, sources: pa.Table, parts: Sequence[PartDone], mined: set[str]) -> None:
    """Add files to the list of those that were mined."""
    chosen = pa.array(sorted(mined), pa.string())
    tables = [sources.filter(pc.invert(pc.is_in(sources["address"], value_set=chosen)))]
    for part in parts:
        table = decode_part(folder.read(_part_files(part.name)) or b"")
        tables.append(table.filter(pc.is_in(table["address"], value_set=chosen)))
    folder.write_sources(pa.concat_tables(tables))


def _waiting_parts(
    folder: MinedFolder, manner: tuple[str, str], wanted: set[SourceFile], mined: set[SourceFile]
) -> list[PartDone]:
    """Parts that an earlier run read and did not merge; those that are of no use as they are, are removed."""
    found: list[PartDone] = []
    left = set(wanted)
    for part in sorted({name.split("/")[1] for name in folder.names(PARTS)}):
        done = _read_done(folder.read(f"{PARTS}/{part}/done.json"))
        files = {read.file for read in done.files} if done is not None and done.manner == manner else set()
        # A file has rows from one part only: a worker that was given up may still have written its part, and a file
        # may have changed since. One that was merged already may be merged again.
        if done is not None and not files.isdisjoint(left) and files - left <= mined:
            found.append(done)
            left -= files
        else:
            folder.remove(f"{PARTS}/{part}")
    return found


def _read_done(content: bytes | None) -> PartDone | None:
    """What a part says of itself; None if it was not read to its end, or by a version that says it in another way."""
    try:
        return None if content is None else msgspec.json.decode(content, type=PartDone)
    except msgspec.MsgspecError:
        return None


def _fair_bytes(files: Sequence[SourceFile], workers: int) -> int:
    work = sum(one.size + _FILE_BYTES for one in files)
    return max(_FEWEST_BYTES, min(_PART_BYTES, work // (workers * _PARTS_EACH)))


def _parts(out: str, files: Sequence[SourceFile], secrecy: Secrecy, part_bytes: int) -> list[PartTask]:
    """The files in parts, neighbours together: they are often of one project."""
    parts: list[list[SourceFile]] = []
    size = part_bytes
    for file in files:
        if size >= part_bytes:
            parts.append([])
            size = 0
        parts[-1].append(file)
        size += file.size + _FILE_BYTES
    tasks = [PartTask(out, tuple(part), secrecy) for part in parts]
    # Large ones first: a large file that begins last would be waited for.
    return sorted(tasks, key=lambda task: (-sum(one.size for one in task.files), task.files[0].address))


def _read_all(engine: Engine, parts: Sequence[PartTask], tally: _MineTally) -> Iterator[PartDone]:
    """Read the parts; one that fails every time is read file by file, so that it costs only the file that is broken."""
    alone: list[PartTask] = []
    for outcome in engine.run(read_part, parts):
        tally.add(outcome)
        if outcome.error is None:
            yield outcome.value
        elif len(outcome.task.files) == 1:
            tally.lost(outcome)
        else:
            alone += [msgspec.structs.replace(outcome.task, files=(file,)) for file in outcome.task.files]
    for outcome in engine.run(read_part, alone):
        tally.add(outcome)
        if outcome.error is None:
            yield outcome.value
        else:
            tally.lost(outcome)


def _merge_all(
    engine: Engine,
    out: str,
    done: Sequence[PartDone],
    earlier: dict[str, list[str | None]],
    tally: _MineTally,
    *,
    held: Iterable[str | None],
    forgotten: frozenset[str],
) -> frozenset[str | None]:
    """Merge every project that has new rows, and those that hold forgotten sessions; returns those that failed."""
    parts: dict[str | None, set[str]] = {}
    replaced: dict[str | None, set[str]] = {project: set() for project in held}
    for part in done:
        for read in part.files:
            if read.failure is not None:
                continue
            for project in read.projects:
                parts.setdefault(project, set()).add(part.name)
            # Also where only its earlier rows are; and where its new ones are, from a run that ended in between.
            for project in (*read.projects, *earlier.get(read.file.address, ())):
                replaced.setdefault(project, set()).add(read.file.address)
    tasks = [
        MergeTask(out, project, tuple(sorted(parts.get(project, ()))), frozenset(addresses), forgotten)
        for project, addresses in sorted(replaced.items(), key=lambda item: (-len(item[1]), item[0] or ""))
    ]
    failed = set()
    tally.projects = len(tasks)
    for outcome in engine.run(merge_parts, tasks):
        tally.retried += outcome.tries > 1
        if outcome.error is None:
            tally.changed_files += outcome.value
        else:
            failed.add(outcome.task.project)
            tally.unfinished.append((outcome.task.project or "", outcome.error))
    return frozenset(failed)


class _MineTally:
    """Counts what ends."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total = total
        self._done = 0
        self._progress = progress
        self.retried = self.projects = self.changed_files = 0
        self.failures: list[tuple[str, str]] = []
        self.unfinished: list[tuple[str, str]] = []

    def add(self, outcome: TaskOutcome) -> None:
        self.retried += outcome.tries > 1
        if outcome.error is None:
            self._done += sum(one.size for one in outcome.task.files)
        if self._progress is not None:
            self._progress(self._done, self._total)

    def lost(self, outcome: TaskOutcome) -> None:
        """Keep what could not be read; the next run tries it again."""
        self.failures.append((outcome.task.files[0].address, outcome.error or ""))

    def report(self, files: int, unchanged: int, parts: Sequence[PartDone], begun: float) -> MineReport:
        read = [one for part in parts for one in part.files]
        failed = [(one.file.address, one.failure) for one in read if one.failure is not None]
        return MineReport(
            files=files,
            read=sum(one.is_history and one.failure is None for one in read),
            unchanged=unchanged,
            no_history=sum(not one.is_history and one.failure is None for one in read),
            sessions=sum(part.sessions for part in parts),
            calls=sum(part.calls for part in parts),
            unreadable=sum(one.unreadable for one in read),
            projects=self.projects,
            changed_files=self.changed_files,
            retried=self.retried,
            failures=tuple(sorted([*self.failures, *failed])),
            unfinished=tuple(sorted(self.unfinished)),
            bytes=self._total,
            seconds=time.perf_counter() - begun,
        )


class TakenUp(msgspec.Struct, frozen=True):
    """What was taken up."""

    files: int
    unchanged: int
    outdated: int  # files that another version of Seasoned mined
    sessions: int


def take_up(folder: MinedFolder, store: Store, *, only: str | None = None) -> TakenUp:
    """Write the sessions of files that the store does not have in this version yet; `only`: those of one project."""
    known = {row["path"]: (row["size"], row["mtime_ns"], row["judge"]) for row in store.each("source.all")}
    sources = [row for row in folder.sources().to_pylist() if only is None or only in row["projects"]]
    new = {
        row["address"]: row
        for row in sources
        # What another version judged and learned would be mixed with what this one does.
        if row["rules"] == read_rules() and known.get(row["address"]) != (row["size"], row["mtime_ns"], row["judge"])
    }
    projects = {project for row in new.values() for project in row["projects"] if only in (None, project)}
    writer = write_batches(lambda: store, _batches(folder, new, projects), SessionLearner()) if new else None
    outdated = sum(row["rules"] != read_rules() for row in sources)
    sessions = 0 if writer is None else len(writer.settled)
    return TakenUp(len(new), len(sources) - len(new) - outdated, outdated, sessions)


def _batches(folder: MinedFolder, sources: dict[str, dict[str, Any]], projects: set[str | None]) -> Iterator[Batch]:
    """The rows of the sources, project by project; each source is complete only with its last batch."""
    for project in sorted(projects, key=lambda key: (key is not None, key or "")):
        for source, session in session_rows(folder.project(project)):
            if source in sources:
                yield _batch(sources[source], sessions=[session], done=False, is_first=False)
    for row in sources.values():
        yield _batch(
            row,
            unreadable=[tuple(one.values()) for one in row["unreadable"]],
            resume=row["resume"],
            check_digest=row["check_digest"],
            stamps=row["stamps"],
        )


def _batch(row: dict[str, Any], *, sessions: list[SessionRows] | None = None, **fields: Any) -> Batch:
    filled = {"unreadable": [], **fields}
    return Batch(row["address"], row["format"], row["size"], row["mtime_ns"], sessions=sessions or [], **filled)
