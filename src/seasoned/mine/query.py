"""SQL queries and the report over a mined folder, with DuckDB, which can read these tables and nothing else."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.dataset as ds

from seasoned.command.tool import task_type_of
from seasoned.errors import NotFound, UsageError
from seasoned.insight.cohort import LENGTHS
from seasoned.insight.report import Report, parts_of, report
from seasoned.insight.track import Track, make_track
from seasoned.mine.folder import MinedFolder
from seasoned.mine.merge import EXAMPLES, MISTAKES
from seasoned.mine.table import CALLS, FILES, SESSIONS
from seasoned.outcome.error_rate import NOTHING_MORE, Include
from seasoned.project import name_of

_PARTITIONS = {
    "calls": ("project", "day"),
    "sessions": ("project",),
    "mistakes": ("project",),
    "examples": ("project",),
}
_SCHEMAS = {"calls": CALLS, "sessions": SESSIONS, "mistakes": MISTAKES, "examples": EXAMPLES, "sources": FILES}
# Columns for a store, not for people: what was said and learned in a session, and how to resume reading a file.
_LEFT_OUT = {"sessions": ("said", "learned"), "sources": ("resume", "check_digest", "stamps")}
# Only the tables: no files, addresses, extensions or variables of this process; and the settings are locked.
_LOCKS = (
    "SET enable_external_access = false",
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET python_enable_replacements = false",
    "SET lock_configuration = true",
)


class QueryAnswer(NamedTuple):
    """The columns of an answer, and its rows."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    is_cut: bool  # there are more rows


@contextmanager
def mined_tables(folder: MinedFolder) -> Iterator[Any]:
    """A DuckDB connection with the tables of a folder as read-only views."""
    import duckdb

    if not folder.names("sources"):
        raise NotFound(f"{folder.address!r} has not been mined into. Run `seasoned mine` first.")
    connection = duckdb.connect(":memory:")
    try:
        for name, schema in _SCHEMAS.items():
            connection.register(f"mined_{name}", _dataset(folder, name, schema))
            left_out = _LEFT_OUT.get(name)
            columns = "*" if left_out is None else f"* EXCLUDE ({', '.join(left_out)})"
            connection.execute(f"CREATE VIEW {name} AS SELECT {columns} FROM mined_{name}")
        yield connection
    finally:
        connection.close()


def query(folder: MinedFolder, sql: str, *, limit: int | None = None) -> QueryAnswer:
    """The answer to one SELECT over the tables `calls`, `sessions`, `mistakes`, `examples` and `sources`."""
    import duckdb

    with mined_tables(folder) as connection:
        try:
            for lock in _LOCKS:
                connection.execute(lock)
            statements = connection.extract_statements(sql)
            allowed = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
            if len(statements) != 1 or statements[0].type not in allowed:
                raise UsageError("Only a single SELECT is allowed. The tables are read-only.")
            answer = connection.execute(statements[0])
            rows = answer.fetchall() if limit is None else answer.fetchmany(limit + 1)
            names = tuple(column[0] for column in answer.description or ())
            return QueryAnswer(names, rows[:limit], limit is not None and len(rows) > limit)
        except duckdb.Error as error:
            raise UsageError(f"The query failed. {str(error).strip()}") from error


def _dataset(folder: MinedFolder, name: str, schema: pa.Schema) -> Any:
    """The files of a table, with the values that their folders name."""
    partitions = pa.schema([schema.field(one) for one in _PARTITIONS.get(name, ())])
    paths = [f"{folder.root}/{one}" for one in folder.names(name)]
    if not paths:
        return schema.empty_table()
    return ds.dataset(
        paths,
        schema=schema,
        format="parquet",
        filesystem=folder.system,
        partitioning=ds.partitioning(partitions, flavor="hive") if len(partitions) else None,
        partition_base_dir=f"{folder.root}/{name}",
    )


_MEMORY = "1GB"  # of DuckDB; the rest of a sort goes to disk
_BATCH = 4_096
_Ref = tuple[str, str]
# The rules are those of `session.save`, in the order in which a scan reads files, folder by folder, so that even the
# last digits of sums are the same.
_SESSIONS = """
CREATE TEMP TABLE file AS
SELECT address AS source, row_number() OVER (ORDER BY string_split(address, '/')) AS turn FROM sources;
CREATE TEMP TABLE track AS
WITH ordered AS (
    SELECT *, row_number() OVER (ORDER BY turn, "row") AS place FROM sessions JOIN file USING (source)
), told AS (
    SELECT *, messages >= COALESCE(max(messages) OVER (
        PARTITION BY agent, native_id ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS is_whole
    FROM ordered
)
SELECT min(place) AS id, agent, native_id, max(messages) AS messages, min(started) AS started, max(ended) AS ended,
    arg_max(title, place) FILTER (title IS NOT NULL) AS title,
    arg_max(model, place) FILTER (model IS NOT NULL) AS model,
    arg_max(platform, place) FILTER (platform IS NOT NULL) AS platform,
    arg_max(parent_agent, place) FILTER (parent_agent IS NOT NULL) AS parent_agent,
    arg_max(parent_native_id, place) FILTER (parent_native_id IS NOT NULL) AS parent_native_id,
    arg_max(relation, place) FILTER (relation IS NOT NULL) AS relation,
    arg_min(cwd, place) FILTER (cwd IS NOT NULL) AS cwd,
    arg_min(project, place) FILTER (project IS NOT NULL) AS project,
    arg_max(compactions, place) FILTER (is_whole) AS compactions,
    arg_max(input_tokens, place) FILTER (is_whole AND input_tokens IS NOT NULL) AS input_tokens,
    arg_max(output_tokens, place) FILTER (is_whole AND output_tokens IS NOT NULL) AS output_tokens,
    arg_max(cache_read_tokens, place) FILTER (is_whole AND cache_read_tokens IS NOT NULL) AS cache_read_tokens,
    arg_max(cache_write_tokens, place) FILTER (is_whole AND cache_write_tokens IS NOT NULL) AS cache_write_tokens,
    arg_max(reasoning_tokens, place) FILTER (is_whole AND reasoning_tokens IS NOT NULL) AS reasoning_tokens,
    arg_max(cost_usd, place) FILTER (is_whole AND cost_usd IS NOT NULL) AS cost_usd
FROM told GROUP BY agent, native_id;
"""
# Of the rows of one call the last one that has a result, as `call.save` keeps it; then `call.with_call_id`.
_CALLS = """
CREATE TEMP TABLE known_call AS
SELECT track.id, one.* EXCLUDE (is_open) FROM (
    SELECT agent, native_id, call_id, source, "row", number, position, message, unique_id = 1 AS is_unique,
        result IS NULL AS is_open
    FROM calls JOIN file USING (source)
    QUALIFY row_number() OVER (
        PARTITION BY agent, native_id, call_id ORDER BY is_open, turn DESC, "row" DESC, number DESC) = 1
) AS one JOIN track USING (agent, native_id);
CREATE TEMP TABLE copied AS
SELECT id, call_id, owner FROM (
    SELECT known_call.id, call_id, first_value(track.id) OVER by_age AS owner, row_number() OVER by_age AS rank
    FROM known_call JOIN track ON track.id = known_call.id WHERE is_unique
    WINDOW by_age AS (PARTITION BY call_id
        ORDER BY track.started IS NULL, track.started, track.messages, track.native_id, track.id)
) WHERE rank > 1;
UPDATE track SET parent_agent = owner.agent, parent_native_id = owner.native_id, relation = 'fork'
FROM (SELECT id, arg_min(owner, call_id) AS owner FROM copied GROUP BY id) AS fork
JOIN track AS owner ON owner.id = fork.owner
WHERE track.id = fork.id AND track.parent_agent IS NULL;
"""
# `call.weak_in_lineage`: ids that are unique only within a lineage.
_LINEAGES = """
INSERT INTO copied
SELECT id, call_id, NULL FROM (
    SELECT known_call.id, call_id, row_number() OVER (PARTITION BY root.root, call_id
        ORDER BY track.started IS NULL, track.started, track.id, known_call.position) AS rank
    FROM known_call JOIN track ON track.id = known_call.id JOIN root ON root.id = track.id WHERE NOT is_unique
) WHERE rank > 1;
CREATE TEMP TABLE corrected AS
SELECT DISTINCT id, call_id FROM (
    SELECT known_call.id, call_id, row_number() OVER (
        PARTITION BY known_call.id, said.message ORDER BY known_call.position DESC) AS rank
    FROM (SELECT DISTINCT agent, native_id, unnest(corrections) AS message FROM sessions) AS said
    JOIN known_call ON known_call.agent = said.agent AND known_call.native_id = said.native_id
        AND known_call.message < said.message
) WHERE rank <= 3;
"""
_CHOSEN = "($agent IS NULL OR track.agent = $agent) AND ($project IS NULL OR track.project = $project)"
_AGENTS = f"""
SELECT track.agent FROM track LEFT JOIN known_call AS one ON one.id = track.id AND NOT EXISTS (
    SELECT 1 FROM copied WHERE copied.id = one.id AND copied.call_id = one.call_id)
WHERE {_CHOSEN} GROUP BY track.agent ORDER BY count(one.call_id) DESC, track.agent;
"""
_TRACKS = f"""
CREATE TABLE chosen AS
SELECT track.*, COALESCE(root.root, track.agent || ':' || track.native_id) AS root,
    COALESCE(copies.copies, 0) AS copies,
    (compactions <> '[]' OR relation IS NOT DISTINCT FROM 'compression' OR EXISTS (
        SELECT 1 FROM track AS child WHERE child.parent_agent = track.agent
            AND child.parent_native_id = track.native_id AND child.relation = 'compression')) AS is_compressed
FROM track LEFT JOIN root ON root.id = track.id
LEFT JOIN (SELECT id, count(*) AS copies FROM copied GROUP BY id) AS copies ON copies.id = track.id
WHERE {_CHOSEN};
"""
# The columns of `call.of_tracks`, in its order.
_OWN_CALLS = f"""
SELECT one.id, calls.message, calls.tool, calls.kind, calls.counts_as, calls.verdict, calls.fault, calls.time,
    calls.arguments, calls.result, calls.reason, calls.intent, corrected.id IS NOT NULL, calls.is_foreign,
    calls.call_id, calls.evidence
FROM known_call AS one JOIN track ON track.id = one.id
JOIN calls ON calls.source = one.source AND calls."row" = one."row" AND calls.number = one.number
LEFT JOIN corrected ON corrected.id = one.id AND corrected.call_id = one.call_id
WHERE {_CHOSEN} AND NOT EXISTS (SELECT 1 FROM copied WHERE copied.id = one.id AND copied.call_id = one.call_id)
ORDER BY one.id, one.position;
"""


def report_on_mined(
    folder: MinedFolder,
    *,
    made_at: float,
    agent: str | None = None,
    project: str | None = None,
    lengths: Sequence[int] = LENGTHS,
    include: Include = NOTHING_MORE,
) -> Report:
    """The report on a mined folder, with the same figures as a store that imported it.

    A store decides while it is written which rows belong to one session, which calls are copies and what a session
    continues. Here the same rules are applied to the whole folder, also across projects.
    """
    with mined_tables(folder) as connection, tempfile.TemporaryDirectory(prefix="seasoned-report-") as spill:
        connection.execute(f"SET temp_directory = '{Path(spill).as_posix()}'")
        connection.execute(f"SET memory_limit = '{_MEMORY}'")
        connection.execute(_SESSIONS)
        project = _project_key(connection, project)
        connection.execute(_CALLS)
        _register_roots(connection)
        connection.execute(_LINEAGES)
        agents = _agents(connection, agent, project)
        compressed: list[Track] = []
        whose = ", ".join([agent] if agent else agents)
        return report(
            parts_of(_tracks(connection, {"agent": agent, "project": project}, include, compressed)),
            # Filled while the tracks are read, and looked at afterwards.
            compressed=compressed,
            made_at=made_at,
            title=f"Sessions of {whose}" if project is None else f"Sessions of {whose} in {name_of(project)}",
            sources=[folder.address],
            include=include,
            lengths=lengths,
        )


def _project_key(connection: Any, given: str | None) -> str | None:
    """The project that a key or a name means."""
    if given is None:
        return None
    rows = connection.execute("SELECT DISTINCT project FROM track WHERE project IS NOT NULL").fetchall()
    keys = sorted(row[0] for row in rows)
    found = [given] if given in keys else [key for key in keys if name_of(key) == given]
    if not found:
        raise NotFound(f"The mined folder has no sessions of a project {given!r}. `seasoned query` lists projects.")
    if len(found) > 1:
        raise UsageError(f"{given!r} is the name of several projects: {', '.join(found)}. Give one of these.")
    return found[0]


def _agents(connection: Any, agent: str | None, project: str | None) -> list[str]:
    """The agents with sessions, named as in the report on a store; an error if there are none."""
    found = connection.execute(_AGENTS, {"agent": None, "project": project}).fetchall()
    agents = [str(row[0]) for row in found]
    if not agents:
        raise NotFound("No sessions to report on: the mined folder has none.")
    if agent is not None and agent not in agents:
        raise NotFound(f"No sessions of {agent!r}. Agents with sessions: {', '.join(agents)}.")
    return agents


def _register_roots(connection: Any) -> None:
    """Register the first session of each chain of continued sessions; a circular chain ends where it began."""
    linked = connection.execute(
        "SELECT id, agent, native_id, parent_agent, parent_native_id FROM track WHERE parent_agent IS NOT NULL"
    ).fetchall()
    above: dict[_Ref, _Ref] = {(row[1], row[2]): (row[3], row[4]) for row in linked}
    known: dict[_Ref, int] = {(row[1], row[2]): row[0] for row in linked}
    parents = pa.table({"agent": [one[0] for one in above.values()], "native_id": [one[1] for one in above.values()]})
    connection.register("parent", parents)
    found = connection.execute("SELECT DISTINCT id, agent, native_id FROM track JOIN parent USING (agent, native_id)")
    known |= {(row[1], row[2]): row[0] for row in found.fetchall()}
    roots: dict[int, str] = {}
    for ref in above:
        top, seen = ref, {ref}
        while top in above and above[top] in known and above[top] not in seen:
            top = above[top]
            seen.add(top)
        roots[known[ref]] = roots[known[top]] = f"{top[0]}:{top[1]}"
    columns = {"id": pa.array(roots, pa.int64()), "root": pa.array(roots.values(), pa.string())}
    connection.register("root", pa.table(columns))


def _tracks(
    connection: Any, chosen: dict[str, str | None], include: Include, compressed: list[Track]
) -> Iterator[Track]:
    """Each session with its own calls, in the order of ids; those with a compressed context are also kept."""
    # A table of the database, not just of this connection, so that two results can be read at the same time.
    connection.execute(_TRACKS, chosen)
    sessions = connection.cursor().execute("SELECT * FROM chosen ORDER BY id")
    names = [column[0] for column in sessions.description]
    by_session = groupby(_rows(connection.execute(_OWN_CALLS, chosen)), key=itemgetter(0))
    following = next(by_session, None)
    for values in _rows(sessions):
        row = {**dict(zip(names, values, strict=True)), "project_part": None, "has_ended": False}
        calls: list[tuple[Any, ...]] = []
        if following is not None and following[0] == row["id"]:
            calls = [call[1:] for call in following[1]]
            following = next(by_session, None)
        kinds: dict[str, int] = {}
        for _, _, kind, counts_as, *_ in calls:
            if counts_as != "trivial":
                kinds[kind] = kinds.get(kind, 0) + 1
        track = make_track({**row, "task_type": task_type_of(kinds)}, calls, include)
        if row["is_compressed"]:
            compressed.append(track)
        yield track


def _rows(answer: Any) -> Iterator[tuple[Any, ...]]:
    while batch := answer.fetchmany(_BATCH):
        yield from batch
