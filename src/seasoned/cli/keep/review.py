"""`review`: keep what a session taught, and list past reviews."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from seasoned.app import review as reviewing
from seasoned.app.stores import find_source
from seasoned.cli.options import base_url_option, json_option, paths_argument
from seasoned.cli.output import print_json, printable, say, table, when
from seasoned.cli.project import histories
from seasoned.config import Config, load
from seasoned.review.due import settings_of
from seasoned.review.ledger import Review
from seasoned.runner.agent import AGENT_PROGRAMS
from seasoned.runner.run import MODEL
from seasoned.text import plural

_REVIEWS_SHOWN = 50


@click.command()
@click.argument("session", required=False)
@paths_argument
@click.option("--agent", type=click.Choice([*AGENT_PROGRAMS, MODEL]), help="Who reviews. Default: as in the settings.")
@click.option("--model", help="A model of the reviewer; without --agent, one of an API.")
@base_url_option
@click.option("--staging", is_flag=True, help="Stage what it writes until you accept it.")
@click.option("--dry-run", is_flag=True, help="Show what would be sent and written; ask no model.")
@click.option("--ledger", is_flag=True, help="List past reviews and today's usage.")
@json_option
def review(
    session: str | None,
    paths: tuple[Path, ...],
    agent: str | None,
    model: str | None,
    base_url: str | None,
    staging: bool,
    dry_run: bool,
    ledger: bool,
    as_json: bool,
) -> None:
    """Keep what a session taught.

    The agent in which it ran looks back on it, with its own login, and says what to keep: notes, skills, your rules.
    SESSION is the id of any agent's session, or its beginning; without one, the newest in the store. PATH: look for it
    there instead. Only a redacted digest is sent. What repeats a result or a page, and all that a session with pages
    taught, waits in `seasoned inbox`: no session sees it until you accept it.

    \b
    Example: seasoned review --ledger
    """
    config = load()
    if ledger:
        _print_ledger(config, session, as_json=as_json)
        return
    if base_url is not None:
        config = msgspec.structs.replace(config, base_url=base_url, review_model=None)
    # From its file and not from the store, which has the calls but not what was said.
    with histories(paths) as read:
        found = find_source(read.store, session)
    reviewer = reviewing.choose_reviewer(config, found, agent, model)
    if dry_run:
        _print_plan(reviewing.plan_review(config, found, reviewer, staging=staging), as_json=as_json)
        return
    done = reviewing.review(config, found, reviewer, staging=staging)
    # "Nothing worth keeping" is a good end of a review.
    is_bad = done.state in reviewing.BAD_STATES
    if as_json:
        print_json("review", _answer(done))
    else:
        say(printable(done.said or ""), err=is_bad)
        if done.answer and done.answer != done.said:
            say(printable(done.answer))
    if is_bad:
        # 3, as for everything that was asked for correctly and could not be done.
        raise click.exceptions.Exit(3)


def _print_plan(plan: reviewing.ReviewPreview, *, as_json: bool) -> None:
    if as_json:
        print_json("review-plan", msgspec.structs.asdict(plan))
        return
    waits = ", staged until you accept it" if plan.staging or plan.page else ""
    say(f"{plan.session}: {plural(plan.messages, 'message')}, the last {plan.whole_messages} in full")
    to = " ".join(filter(None, (plan.agent, plan.model)))
    say(f"to {to}: {plan.bytes:,} bytes, about {plan.tokens:,} tokens (--json shows them)")
    say(f"writes: memory in {plan.memory_folder}, skills in {plan.skill_folder}{waits}")
    if plan.page and not plan.staging:
        say(f"staged because the session read a page of others ({printable(plan.page)})")
    if plan.project_folder is not None:
        say(f"what is about the project {printable(plan.project or '')}: in {plan.project_folder}")
    if plan.problem:
        say(plan.problem, err=True)


def _print_ledger(config: Config, session: str | None, *, as_json: bool) -> None:
    found, spent, week = reviewing.past_reviews(config, session, _REVIEWS_SHOWN)
    settings = settings_of(config)
    if as_json:
        today = {
            "requests": spent.requests,
            "reviews": spent.reviews,
            "per_day": settings.per_day,
            "tokens": spent.tokens,
            "tokens_per_day": settings.tokens_per_day,
            # If no request has a price, the sum is unknown and not zero.
            "cost_usd": spent.cost_usd if spent.requests > spent.unpriced else None,
            "usd_per_day": settings.usd_per_day,
            "unpriced": spent.unpriced,
        }
        answers = [_answer(one) for one in found]
        print_json("review-ledger", {"today": today, "week": msgspec.to_builtins(week), "reviews": answers})
        return
    most = "no limit" if settings.tokens_per_day is None else f"at most {settings.tokens_per_day:,}"
    reviews = f"{plural(spent.reviews, 'review')} (at most {settings.per_day})"
    say(f"Today: {reviews}, {spent.tokens:,} tokens ({most}).")
    if week is not None:
        say(printable(week.sentence))
    if not found:
        say("No reviews yet.")
        return
    table(
        ["review", "when", "session", "state", "requests", "tokens", "US dollars", "what came of it"],
        [
            (
                one.id,
                when(one.started_at),
                one.session,
                one.state,
                one.requests,
                None if one.input_tokens is None else one.input_tokens + (one.output_tokens or 0),
                one.cost_usd,
                None if one.said is None else printable(one.said),
            )
            for one in found
        ],
    )


def _answer(one: Review) -> dict[str, Any]:
    # The process that runs a review is of use only while it runs, and only on this machine.
    return {name: value for name, value in msgspec.structs.asdict(one).items() if name != "pid"}
