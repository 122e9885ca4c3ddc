"""Profiles for programs and for people."""

from __future__ import annotations

import click

from seasoned.cli.output import print_json, shown, table
from seasoned.insight.json_answer import track_answer
from seasoned.insight.profile import Profile
from seasoned.insight.rate_text import points_between, share, share_between
from seasoned.insight.track import Track
from seasoned.text import plural


def print_profiles(profiles: list[tuple[Track, Profile]], *, as_json: bool, include: tuple[str, ...]) -> None:
    """One session in full, several as a list."""
    if as_json:
        answers = [{**track_answer(track, found), "include": list(include)} for track, found in profiles]
        print_json("profile", answers[0] if len(answers) == 1 else {"count": len(answers), "profiles": answers})
    elif len(profiles) == 1:
        _print_one(*profiles[0], include)
    else:
        _print_many(profiles)


def _print_one(track: Track, found: Profile, include: tuple[str, ...]) -> None:
    click.secho(str(track.ref), bold=True)
    if track.title:
        click.echo(shown(track.title))
    counts = found.counts
    left_out = counts.total - counts.counted - counts.unclear
    click.echo(
        f"{plural(found.messages or 0, 'message')} · {plural(found.calls, 'call')}: {counts.ok} ok, "
        f"{counts.failed} failed, {counts.unclear} unclear, {left_out} left out"
        + (f" · counted too: {', '.join(include)}" if include else "")
    )
    if not counts.counted:
        click.echo("No call of this session counts, so its error rate is unknown.")
        return
    click.echo(f"Error rate        {share_between(found.error_rate)}")
    click.echo(f"First fifth       {share_between(found.early)}")
    click.echo(f"Last fifth        {share_between(found.late)}")
    click.echo(f"Proficiency gain  {points_between(found.gain)}; negative is improvement")
    click.echo(f"Task {shown(found.task_type)} · mostly {shown(found.dominant_tool_type)} tools")
    tokens = [f"{name.replace('_', ' ')} {shown(getattr(found.usage, name))}" for name in found.usage.__struct_fields__]
    cost = "cost unknown" if found.cost_usd is None else f"{found.cost_usd:.4f} USD"
    click.echo(f"Tokens: {', '.join(tokens)} · {cost}\n")
    table(
        ["tool", "calls", "ok", "failed", "unclear", "left out", "success rate"],
        [
            (tool, use.calls, use.ok, use.failed, use.unclear, use.left_out, share(use.success_rate))
            for tool, use in found.tools.items()
        ],
        right=["calls", "ok", "failed", "unclear", "left out", "success rate"],
    )


def _print_many(profiles: list[tuple[Track, Profile]]) -> None:
    table(
        ["agent", "session", "messages", "calls", "failed", "error rate", "early", "late", "task"],
        [
            (
                track.ref.agent,
                track.ref.native_id,
                found.messages,
                found.calls,
                found.counts.failed,
                share(found.error_rate.value),
                share(found.early.value),
                share(found.late.value),
                found.task_type,
            )
            for track, found in profiles
        ],
        right=["messages", "calls", "failed", "error rate", "early", "late"],
        whole=["agent", "session"],
    )
