"""`connect`: use Seasoned with the agents you have."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from seasoned.cli.options import agrees, dry_run_option, json_option, wants_json, words_in, yes_option
from seasoned.cli.output import answered, printable, say
from seasoned.config import Config, load
from seasoned.connect.agent import AGENTS, KnownAgent, connector
from seasoned.connect.apply import STAYS, apply_plan, chosen_parts, is_connected, own_programs, set_guard, undo_plan
from seasoned.connect.apply import undo as undo_changes
from seasoned.connect.plan import (
    PARTS,
    ConnectPlan,
    FileChange,
    LinkedFolder,
    Part,
    guard_file,
    made_links,
    missing_links,
    preview,
)
from seasoned.errors import UsageError

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@click.command()
@click.argument("agent", type=click.Choice(list(AGENTS)), required=False)
@click.option("--undo", is_flag=True, help="Undo what connecting changed.")
@dry_run_option
@click.option(
    "--parts",
    metavar="LIST",
    help=f"Connect only these, separated by commas: {', '.join(PARTS)}. Without it: all, or those chosen before.",
)
@yes_option
@json_option
def connect(agent: str | None, undo: bool, dry_run: bool, parts: str | None, yes: bool) -> None:
    """Connect an agent you already use.

    Shows every file that would change, asks, keeps a copy and then writes. --undo restores the copy. Without a name it
    lists the agents on this machine, and asks which to connect.

    \b
    Example: seasoned connect
             seasoned connect claude-code --parts warm,hints
    """
    if parts is not None and (undo or agent in (None, "hermes")):
        raise UsageError("--parts is for connecting one agent, and not for Hermes.")
    if agent is not None:
        _connect(agent, undo=undo, dry_run=dry_run, parts=parts, yes=yes)
        return
    if undo:
        raise UsageError("Name the agent to undo: `seasoned connect AGENT --undo`.")
    config = load()
    known = [_state(config, name) for name in AGENTS]
    if answered("connect", {"agents": known}):
        return
    for name in _chosen(known, yes=yes, asks=not dry_run and sys.stdin.isatty()):
        _connect(name, dry_run=dry_run, yes=yes)


def _state(config: Config, name: str) -> dict[str, Any]:
    """An agent as the list shows it."""
    agent = AGENTS[name]
    is_found, connected = agent.is_found(config), is_connected(name, home=config.home)
    parts = chosen_parts(name, home=config.home) if connected else None
    return {
        "agent": name,
        "title": agent.title,
        "found": is_found,
        "connected": connected,
        "parts": list(parts or PARTS),
        "lacks": list(agent.lacks),
    }


def _chosen(known: list[dict[str, Any]], *, yes: bool, asks: bool) -> list[str]:
    """List the agents on this machine, and ask which to connect."""
    found = [one for one in known if one["found"] or one["connected"]]
    if not found:
        say(f"No agent was found on this machine. Connect one by name: {', '.join(AGENTS)}.")
        return []
    # Once for all: most agents get the same parts.
    say("Connecting an agent brings (`--parts` chooses):")
    for part, what in PARTS.items():
        say(f"  {part:<14} {what}", indent=" " * 17)
    for one in found:
        say()
        say(f"{one['title']} ({one['agent']}): {_connection(one)}", bold=True)
        _list_sentences(one["lacks"])
    say()
    free = [one["agent"] for one in found if not one["connected"]]
    if not free:
        say("All of them are connected.")
        return []
    if yes:
        return free
    if not asks:
        say(f"Connect one with `seasoned connect AGENT`:\n  {', '.join(free)}")
        return []
    question = "Connect which? Each change is shown before it is written. Names with commas, or none"
    names: list[str] = click.prompt(question, default=",".join(free), value_proc=_names)
    return names


def _connection(one: dict[str, Any]) -> str:
    """Whether an agent is connected, and with which parts if not with all."""
    if not one["connected"]:
        return "not connected"
    return "connected" if set(one["parts"]) == set(PARTS) else f"connected, only {', '.join(one['parts'])}"


def _list_sentences(sentences: Iterable[str]) -> None:
    for sentence in sentences:
        say(f"  - {sentence}")


def _names(text: str) -> list[str]:
    """The agents that a person typed; asked again if one is not known."""
    names = [word for word in words_in(text) if word != "none"]
    for name in names:
        if name not in AGENTS:
            raise click.BadParameter(f"Unknown agent {name!r}. Agents are {', '.join(AGENTS)}.")
    return names


def _connect(agent: str, *, undo: bool = False, dry_run: bool, parts: str | None = None, yes: bool) -> None:
    """Connect one agent, or undo that."""
    config = load()
    module, known = connector(agent), AGENTS[agent]
    # Takes our part out of a file that was edited since; not every connector needs it.
    remove_ours = module.remove_ours
    if undo:
        # From the record that connecting kept, not from today's rules: it undoes what was really written.
        plan = undo_plan(agent, home=config.home, remove_ours=remove_ours)
    else:
        before = chosen_parts(agent, home=config.home) or tuple(PARTS)
        plan = module.plan(config, programs=own_programs(), parts=_parts(parts, known, before))
    answer = _answer(plan, undo=undo)
    answer["lacks"] = [] if undo else list(known.lacks)
    if not wants_json():
        show_plan(plan, undo=undo)
    # Nothing to write, so there is nothing to ask.
    if dry_run or (not undo and plan.is_empty):
        answer["state"] = "previewed" if dry_run else "unchanged"
        if not dry_run and is_connected(agent, home=config.home):
            set_guard(plan, home=config.home)
    elif not agrees("Undo these changes?" if undo else "Write these changes?", yes=yes):
        answer["state"] = "declined"
    elif undo:
        undo_changes(agent, home=config.home, remove_ours=remove_ours)
        answer["state"] = "undone"
    else:
        answer["kept"] = str(apply_plan(plan, home=config.home, remove_ours=remove_ours))
        answer["state"] = "connected"
    _end(answer)


def _parts(text: str | None, known: KnownAgent, before: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts that a list names; without one those of the last time, or all."""
    if text is None:
        return before
    named = set(words_in(text))
    unknown = sorted(named - set(PARTS))
    if unknown or not named:
        what = ", ".join(map(repr, unknown)) or "nothing"
        raise UsageError(f"--parts: {what} is not a part of {known.title}. Parts are {', '.join(PARTS)}.")
    return tuple(part for part in PARTS if part in named)


def _answer(plan: ConnectPlan, *, undo: bool) -> dict[str, Any]:
    changes = [{"path": str(one.path), "why": one.why, "diff": preview(one)} for one in plan.changes]
    links = [path for one in plan.links for path in _links(one, undo=undo)]
    about = {"agent": plan.agent, "state": "", "parts": list(plan.parts), "changes": changes}
    return {**about, "links": list(map(str, links)), "steps": list(plan.steps)}


def _links(one: LinkedFolder, *, undo: bool) -> list[Path]:
    return list(made_links(one)) if undo else [one.folder / name for name in missing_links(one)]


def show_plan(plan: ConnectPlan, *, undo: bool) -> None:
    """Print the diff of every file that a plan changes, and the links."""
    for one in plan.changes:
        say(f"{one.path}: {one.why}", bold=True)
        show_diff(one)
        say("")
    for each in plan.links:
        names = ", ".join(path.name for path in _links(each, undo=undo)) or "none yet"
        say(f"{each.folder}: {f'links to {each.source} are removed' if undo else each.why} ({names})", bold=True)
    if "confirmations" in plan.parts and not undo and plan.agent in AGENTS and plan.agent != "hermes":
        said = f"While Seasoned is missing or broken, {AGENTS[plan.agent].title} refuses all calls that may change"
        say(f"{said} something.\nTo let them run: rm {guard_file(load().home, plan.agent)}")


def show_diff(change: FileChange, *, indent: str = "", is_short: bool = False) -> None:
    """Print what a change does, line by line; only what comes and goes if it should be short."""
    # A diff of the user's own file, which can hold anything.
    for line in printable(preview(change)).splitlines()[2 if is_short else 0 :]:
        if is_short and line[:1] not in ("+", "-"):
            continue
        click.secho(indent + line, fg=None if line.startswith(("+++", "---")) else _COLOURS.get(line[:1]))


def _end(answer: dict[str, Any]) -> None:
    if answered("connect", answer):
        return
    agent = answer["agent"]
    since = ", but for what was written since" if any(STAYS in one["why"] for one in answer["changes"]) else ""
    outcome = {
        "previewed": "Nothing was changed.",
        "unchanged": f"{agent} is connected already: nothing to change.",
        "declined": "Nothing was changed.",
        "undone": f"{agent} is as it was before{since}.",
        "connected": f"{agent} is connected. `seasoned connect {agent} --undo` undoes it.",
    }[answer["state"]]
    say(outcome)
    if answer["lacks"] and answer["state"] in ("connected", "previewed"):
        say(f"What {AGENTS[agent].title} does not allow:")
        _list_sentences(answer["lacks"])
    if answer["steps"] and answer["state"] in ("connected", "unchanged", "previewed"):
        say("Left for you to do:")
        for number, step in enumerate(answer["steps"], start=1):
            # Long paths and commands stay whole, to be copied.
            say(f"  {number}. {step}")
