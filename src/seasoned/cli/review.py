"""`review`: look back on a session of any agent and keep what it taught; the ledger of all reviews."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Literal

import click
import msgspec

from seasoned.agent.loop.context import Context
from seasoned.agent.loop.model import ModelChoice, choose_model
from seasoned.agent.review.due import ReviewSettings, settings_of
from seasoned.agent.review.ledger import Review, over_budget, reviews, spent_today
from seasoned.agent.review.prompt import ReviewRequest, make_ready
from seasoned.app.stores import own_store, read_histories, redaction_key, store_or_empty
from seasoned.cli.options import json_option, paths_argument
from seasoned.cli.output import ReadingBar, print_json, printable, table, when
from seasoned.config import Config, load
from seasoned.errors import CannotDo, NotFound, UsageError
from seasoned.history.formats import read_file
from seasoned.redact.key import Secrecy
from seasoned.session import Session
from seasoned.store.search import find_session

_BAD = ("failed", "budget", "time", "interrupted")


@click.command()
@click.argument("session", required=False)
@paths_argument
@click.option("--topic", type=click.Choice(["memory", "skills", "both"]), default="both", show_default=True)
@click.option("--model", help="openai:NAME, anthropic:NAME, local, local:/path/model.gguf, or a name at --base-url.")
@click.option("--base-url", help="A server that speaks as OpenAI's does, such as http://127.0.0.1:11434/v1.")
@click.option("--staging", is_flag=True, help="What it writes waits until you accept it.")
@click.option("--dry-run", is_flag=True, help="Show what would be sent and where it would write; ask no model.")
@click.option("--ledger", is_flag=True, help="Show past reviews, and what today's have taken.")
@click.option("--limit", default=20, show_default=True, help="At most so many reviews of the ledger.")
@json_option
def review(
    session: str | None,
    paths: tuple[Path, ...],
    topic: Literal["memory", "skills", "both"],
    model: str | None,
    base_url: str | None,
    staging: bool,
    dry_run: bool,
    ledger: bool,
    limit: int,
    as_json: bool,
) -> None:
    """Let a model look back on a session and keep what it taught, in memory and skills.

    SESSION is the id of a session of any agent, or the beginning of one; without it, the newest in the store.
    PATH: where to look for it, instead of the store. Only a redacted digest of the session is sent.

    \b
    Example: seasoned review --ledger
    """
    config = load()
    settings = settings_of(config)
    if ledger:
        _show_ledger(config, settings, session, limit, as_json=as_json)
        return
    found = _read_session(config, session, paths)
    if dry_run:
        _show_plan(config, settings, found, topic, model, base_url, staging=staging, as_json=as_json)
        return
    choice = _choose(config, settings, model, base_url)
    done = _review(config, settings, found, topic, choice, staging=staging)
    _tell(done, as_json=as_json)


def _read_session(config: Config, text: str | None, paths: tuple[Path, ...]) -> Session:
    """The session that is meant, as its source has it."""
    if text is None and paths:
        raise UsageError("Say which session of these files is meant, by its id.")
    with (
        read_histories(config, paths, progress=ReadingBar)[1]
        if paths or not config.store_path.exists()
        else own_store(config) as store
    ):
        if text is None:
            newest = store.row("review.newest_session")
            if newest is None:
                raise NotFound("There are no sessions yet: run `seasoned scan` first, or give a path.")
            text = f"{newest['agent']}:{newest['native_id']}"
        row = find_session(store, text)
    ref = f"{row['agent']}:{row['native_id']}"
    if not row["path"] or not Path(row["path"]).exists():
        raise NotFound(f"{ref!r} cannot be reviewed: the file that it came from is gone.")
    for session in read_file(Path(row["path"])):
        if str(session.ref) == ref:
            return session
    raise NotFound(f"{ref!r} cannot be reviewed: the file that it came from no longer holds it.")


def _choose(config: Config, settings: ReviewSettings, model: str | None, base_url: str | None) -> ModelChoice:
    return choose_model(config, model or (None if base_url else settings.model), base_url)


def _context(config: Config, *, staging: bool, will_write: bool = True) -> Context:
    key, keep = redaction_key(config)
    if will_write:
        keep()
    return Context(
        home=config.home,
        secrecy=Secrecy(key, config.redact),
        memory_folder=config.memory_folder,
        skill_folder=config.skill_folder,
        staging=staging,
    )


def _errand(context: Context, config: Config, session: Session, topic: Any, window: int | None) -> ReviewRequest:
    return make_ready(session, context, topic=topic, own=config.home / "review", window=window)


def _review(
    config: Config, settings: ReviewSettings, session: Session, topic: Any, choice: ModelChoice, *, staging: bool
) -> Review:
    """Ask the model, with the library that takes a second to import."""
    from seasoned.agent.review.run import review_session

    return review_session(config, settings, _context(config, staging=staging), session, topic, choice)


def _tell(done: Review, *, as_json: bool) -> None:
    if as_json:
        print_json("review", _answer(done))
    else:
        click.echo(printable(done.said or ""), err=done.state in _BAD)
        if done.answer and done.answer != done.said:
            click.echo(printable(done.answer))
    if done.state in _BAD:
        raise click.exceptions.Exit(3)


def _show_plan(
    config: Config,
    settings: ReviewSettings,
    session: Session,
    topic: Any,
    model: str | None,
    base_url: str | None,
    *,
    staging: bool,
    as_json: bool,
) -> None:
    try:
        name, missing = _choose(config, settings, model, base_url).name, None
    except CannotDo as error:
        name, missing = None, str(error)
    errand = _errand(_context(config, staging=staging, will_write=False), config, session, topic, config.context_length)
    with store_or_empty(config) as store:
        spent = spent_today(store, now=time.time())
    answer = {
        "session": str(session.ref),
        "topic": topic,
        "model": name,
        "problem": missing or over_budget(settings, spent, expected=errand.tokens),
        "messages": errand.digest.messages,
        "whole_messages": errand.digest.whole,
        "bytes": len(errand.text.encode("utf-8", "replace")),
        "tokens": errand.tokens,
        "memory_folder": str(config.memory_folder),
        "skill_folder": str(config.skill_folder),
        "staging": staging or settings.staging,
        "text": errand.text,
    }
    if as_json:
        print_json("review-plan", answer)
        return
    waits = ", where it waits until you accept it" if answer["staging"] else ""
    click.echo(f"{session.ref}: {errand.digest.messages} messages, the last {errand.digest.whole} whole")
    click.echo(
        f"to {name or 'no model'}: {answer['bytes']:,} bytes, about {errand.tokens:,} tokens (--json shows them)"
    )
    click.echo(f"writes: memory in {config.memory_folder}, skills in {config.skill_folder}{waits}")
    if answer["problem"]:
        click.echo(str(answer["problem"]), err=True)


def _show_ledger(config: Config, settings: ReviewSettings, session: str | None, limit: int, *, as_json: bool) -> None:
    now = time.time()
    with store_or_empty(config) as store:
        if session is not None:
            row = find_session(store, session)
            session = f"{row['agent']}:{row['native_id']}"
        found = reviews(store, session=session, limit=limit, now=now)
        spent = spent_today(store, now=now)
    if as_json:
        today = {
            "requests": spent.requests,
            "tokens": spent.tokens,
            "tokens_per_day": settings.tokens_per_day,
            "cost_usd": spent.cost_usd if spent.requests > spent.unpriced else None,
            "usd_per_day": settings.usd_per_day,
            "unpriced": spent.unpriced,
        }
        print_json("review-ledger", {"today": today, "reviews": [_answer(one) for one in found]})
        return
    most = "no limit" if settings.tokens_per_day is None else f"{settings.tokens_per_day:,}"
    click.echo(f"Today: {spent.requests} requests, {spent.tokens:,} tokens (at most {most}).")
    if not found:
        click.echo("No reviews yet.")
        return
    table(
        ["review", "when", "session", "topic", "state", "requests", "tokens", "US dollars", "what came of it"],
        [
            (
                one.id,
                when(one.started_at),
                one.session,
                one.topic,
                one.state,
                one.requests,
                None if one.input_tokens is None else one.input_tokens + (one.output_tokens or 0),
                one.cost_usd,
                None if one.said is None else printable(one.said),
            )
            for one in found
        ],
        right=["review", "requests", "tokens", "US dollars"],
    )


def _answer(one: Review) -> dict[str, Any]:
    return {name: value for name, value in msgspec.structs.asdict(one).items() if name != "pid"}
