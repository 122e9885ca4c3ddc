"""`mine` and `query`: histories of any size as Parquet, and questions about them."""

from __future__ import annotations

from typing import Any

import click
from msgspec.structs import asdict

from seasoned.app.mine import ask, make_engine, mine_into_folder, mined_address
from seasoned.cli.options import json_option
from seasoned.cli.output import ReadingBar, print_json, say, table
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
@json_option
def mine(
    paths: tuple[str, ...], out: str | None, engine: str, workers: int | None, scheduler: str | None, as_json: bool
) -> None:
    """Mine histories of any size into Parquet.

    Judged and redacted calls and sessions, by project and day. Only what is new is read, and the result is the same on
    every engine.

    PATH: files, folders, databases, or addresses such as s3://bucket/folder. Without one, your own agents' histories
    are read.

    \b
    Example: seasoned mine s3://logs/agents --engine dask --scheduler tcp://host:8786 --out s3://logs/mined
    """
    config = load()
    address = mined_address(config, out)
    where = make_engine(config, engine, workers=workers, scheduler=scheduler)
    report = mine_into_folder(config, paths, out=address, engine=where, progress=ReadingBar)
    if as_json:
        print_json("mine", {"out": address, "mined": asdict(report)})
    else:
        say(
            f"Mined {plural(report.read, 'file')} ({report.bytes / 1e6:.1f} MB) in {report.seconds:.1f} s: "
            f"{plural(report.sessions, 'session')}, {plural(report.calls, 'call')}. "
            f"{plural(report.unchanged, 'file')} unchanged, {plural(report.no_history, 'file')} without a history."
        )
    print_passed_over(report.failures)
    if report.failures and not report.read and not report.unchanged:
        raise CannotDo("Nothing was mined. Run the same command again to continue.")


@click.command()
@click.argument("sql", metavar="SQL")
@_out_option
@click.option("--limit", type=click.IntRange(1), default=100, show_default=True, help="Print at most so many rows.")
@json_option
def query(sql: str, out: str | None, limit: int, as_json: bool) -> None:
    """Ask a question in SQL about mined histories.

    One SELECT over the tables calls, sessions and sources. DuckDB answers it, and can reach nothing but these tables.

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
        say(f"Only the first {plural(limit, 'row')}. --limit prints more.", err=True)


def _plain(value: Any) -> Any:
    """A value that JSON has."""
    return value if value is None or isinstance(value, str | int | float | bool | list | dict) else str(value)
