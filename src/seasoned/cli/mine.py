"""`mine` and `query`: histories of any size as Parquet, and questions about them."""

from __future__ import annotations

from typing import Any

import click
from msgspec.structs import asdict

from seasoned.app.mine import ask, mine_into_folder, mined_address, take_up_into
from seasoned.cli.options import json_option
from seasoned.cli.output import ReadingBar, print_json, table
from seasoned.cli.project import print_passed_over
from seasoned.config import load
from seasoned.errors import CannotDo
from seasoned.text import plural

_out_option = click.option(
    "--out", metavar="FOLDER|URL", help="The mined folder, or an address that fsspec knows. Default: ~/.seasoned/mined."
)


@click.command()
@click.argument("paths", metavar="[PATH|URL]...", nargs=-1)
@_out_option
@click.option(
    "--engine",
    type=click.Choice(["inline", "pool", "dask"]),
    default="pool",
    show_default=True,
    help="Where the work is done: in this process, in several, or on a Dask cluster.",
)
@click.option("--workers", type=click.IntRange(1, 1024), help="Processes on this machine. Default: one for each core.")
@click.option("--scheduler", metavar="ADDRESS", help="The Dask scheduler, such as tcp://host:8786.")
@click.option(
    "--slow-seconds",
    type=click.FloatRange(min=1),
    default=900.0,
    show_default=True,
    help="Try a part again elsewhere if it takes longer.",
)
@click.option("--into", metavar="STORE", help="Load the mined folder into this store.")
@json_option
def mine(
    paths: tuple[str, ...],
    out: str | None,
    engine: str,
    workers: int | None,
    scheduler: str | None,
    slow_seconds: float,
    into: str | None,
    as_json: bool,
) -> None:
    """Mine histories of any size into Parquet.

    Judged and redacted calls, sessions, mistakes and examples, by project and day. Only what is new is read, and the
    result is the same on every engine. With --into and no PATH, nothing is read: what was mined before is loaded.

    PATH: files, folders, databases, or addresses such as s3://bucket/folder. Without one, your own agents' histories
    are read.

    \b
    Example: seasoned mine s3://logs/agents --engine dask --scheduler tcp://host:8786 --out s3://logs/mined
    Example: seasoned mine --out s3://logs/mined --into ~/.seasoned/seasoned.db
    """
    config = load()
    address = mined_address(config, out)
    answer: dict[str, Any] = {"out": address}
    report = taken = None
    if paths or into is None:
        report = mine_into_folder(
            config,
            paths,
            out=address,
            engine=engine,
            workers=workers,
            scheduler=scheduler,
            slow_seconds=slow_seconds,
            progress=ReadingBar,
        )
        answer["mined"] = asdict(report)
    if into is not None:
        taken = take_up_into(address, into)
        answer["taken_up"] = asdict(taken)
    if as_json:
        print_json("mine", answer)
    else:
        if report is not None:
            click.echo(
                f"Mined {plural(report.read, 'file')} ({report.bytes / 1e6:.1f} MB) in {report.seconds:.1f} s: "
                f"{plural(report.sessions, 'session')}, {plural(report.calls, 'call')}. "
                f"{plural(report.unchanged, 'file')} unchanged, {plural(report.no_history, 'file')} without a history. "
                f"{plural(report.projects, 'project')} changed in {address}."
            )
        if taken is not None:
            click.echo(
                f"Took up {plural(taken.files, 'file')} with {plural(taken.sessions, 'session')} into {into}, "
                f"{plural(taken.unchanged, 'file')} unchanged."
            )
            if taken.outdated:
                files = plural(taken.outdated, "file")
                click.echo(f"Left out: {files} mined by another version of Seasoned. Mine again.", err=True)
    if report is not None:
        print_passed_over(report.failures)
        for project, reason in report.unfinished:
            click.echo(f"Not merged: {project or 'sessions without a project'}: {reason}", err=True)
        if report.unfinished or (report.failures and not report.read and not report.unchanged):
            # Nothing is lost: what was read waits in the folder.
            raise CannotDo("Not everything was mined. Run the same command again to continue.")


@click.command()
@click.argument("sql", metavar="SQL")
@_out_option
@click.option("--limit", type=click.IntRange(1), default=100, show_default=True, help="Print at most so many rows.")
@json_option
def query(sql: str, out: str | None, limit: int, as_json: bool) -> None:
    """Ask a question in SQL about mined histories.

    One SELECT over the tables calls, sessions, mistakes, examples and sources. DuckDB answers it, and can reach nothing
    but these tables.

    \b
    Example: seasoned query "SELECT tool, count(*) FROM calls WHERE verdict = 'failed' GROUP BY 1 ORDER BY 2 DESC"
    """
    answer = ask(mined_address(load(), out), sql, limit=limit)
    if as_json:
        # Lists rather than objects: two columns may have the same name.
        rows = [list(map(_plain, row)) for row in answer.rows]
        print_json("query", {"columns": answer.columns, "rows": rows, "is_cut": answer.is_cut})
        return
    table(answer.columns, answer.rows)
    if answer.is_cut:
        click.echo(f"Only the first {plural(limit, 'row')}. --limit prints more.", err=True)


def _plain(value: Any) -> Any:
    """A value that JSON has; of bytes only their number, since they are for programs of our own."""
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    return value if value is None or isinstance(value, str | int | float | bool | list | dict) else str(value)
