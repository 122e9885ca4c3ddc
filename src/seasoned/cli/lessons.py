"""`lessons`, `inbox`, `receipt` and `backtest`: what sessions see, what should last, and whether it was right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from seasoned.app.inbox import (
    Inbox,
    accept,
    find_decided,
    find_item,
    gather,
    plan_of,
    read_inbox,
    reject,
    reworded,
    undo,
    undo_preview,
)
from seasoned.app.lessons import (
    FEWEST_CONVERSATIONS,
    LessonEntry,
    LessonView,
    decide_lesson,
    lesson_view,
    run_backtest,
    shared_file,
)
from seasoned.app.stores import make_redactor, own_store, store_or_empty
from seasoned.atomic_write import write_atomic
from seasoned.begin.receipt import Receipt, find_conversation, receipt_of, require_conversation, why_cold
from seasoned.cli.connect import show_diff, show_plan
from seasoned.cli.options import PATHS_HELP, agrees, dry_run_option, json_option, paths_argument, wants_json, yes_option
from seasoned.cli.output import ReadingBar, answered, printable, records, say, table, when
from seasoned.cli.project import histories, passed_over_answer
from seasoned.config import Config, load
from seasoned.connect.instruction_file import ShownList, read_shown, save_shown
from seasoned.connect.plan import ConnectPlan, FileChange, preview
from seasoned.errors import NotFound, UsageError
from seasoned.lesson.replay import FEWEST_KNOWN, Backtest, Figures, Replayed
from seasoned.lesson.storage import learn_again
from seasoned.project import name_of
from seasoned.redact.key import Secrecy, load_key
from seasoned.stats.interval import Estimate
from seasoned.store import Store
from seasoned.store.project import find_project, project_at
from seasoned.text import plural

project_option = click.option("--project", metavar="P", help="A project: its name, key or folder.")


@click.command()
@project_option
@click.option("--pin", metavar="COMMAND", help="Always show this command.")
@click.option("--drop", metavar="COMMAND", help="Never show this command or rule.")
@click.option("--undo", metavar="COMMAND", help="Forget what was decided about it.")
@click.option("--all", "is_whole", is_flag=True, help="List silent lessons too, with the reason.")
@click.option("--rebuild", is_flag=True, help="Learn all sessions again first.")
@click.option("--evidence", is_flag=True, help="Show the sessions behind each lesson.")
@json_option
def lessons(project: str | None, is_whole: bool, rebuild: bool, evidence: bool, **choices: str | None) -> None:
    """Show what sessions of a project learned.

    What a session sees at its start, at its first prompt, at a call and after a failure, with the sessions behind it.
    Without --project, the project of the current folder.

    \b
    Example: seasoned lessons --all
    Example: seasoned lessons --drop "npm test"
    """
    given = [(name, text) for name, text in choices.items() if text]
    if len(given) > 1:
        raise UsageError("Use one of --pin, --drop and --undo at a time.")
    config = load()
    with own_store(config) as store:
        if rebuild:
            learn_again(store)
        key, folder = _project(store, project)
        for choice, text in given:
            redactor = Secrecy(load_key(config.home), config.redact).redactor()
            what = decide_lesson(store, key, text, choice, folder=folder, redactor=redactor)
            say(f"`{printable(what)}` {_DONE[choice]} in {printable(name_of(key))}.", err=wants_json())
        view = lesson_view(store, key, folder)
    if not answered("lessons", msgspec.to_builtins(view)):
        _print_lessons(view, is_whole=is_whole, with_evidence=evidence)


def _project(store: Store, text: str | None) -> tuple[str, Path | None]:
    """The key of the project, and the folder to check its lines against if it is here."""
    here = Path.cwd()
    if text is not None:
        found = find_project(store, text, base=str(here))
        at_home = project_at(store, str(here))
        return found.key, here if at_home is not None and at_home.key == found.key else None
    current = project_at(store, str(here))
    if current is None:
        raise NotFound(
            f"No sessions of a project in {str(here)!r} yet. Give --project, or run `seasoned scan` first; "
            "`seasoned projects` lists the projects."
        )
    return current.key, here


_DONE = {
    "pin": "is always shown",
    "drop": "is never shown",
    "undo": "is chosen by its evidence again",
}


def _print_lessons(view: LessonView, *, is_whole: bool, with_evidence: bool) -> None:
    say(printable(view.project))
    say()
    if view.text:
        say("A session sees at its start:\n")
        for line in view.text.splitlines():
            say(f"  {printable(line)}", indent="    ")
    else:
        say("A session sees nothing at its start: no command is worth a line yet. --all says why.")
    for kind, (title, one_of) in _KINDS.items():
        of_kind = [one for one in view.lessons if one.kind == kind]
        shown = [one for one in of_kind if one.state != "silent"]
        silent = [one for one in of_kind if one.state == "silent"]
        if shown:
            say(f"\n{title}\n")
            for one in shown:
                _print_lesson(one, with_evidence=with_evidence)
        if silent and is_whole:
            say(f"\nSilent: {plural(len(silent), one_of)}\n")
            for one in silent:
                _print_lesson(one, with_evidence=with_evidence)
        elif silent:
            say(f"\n{plural(len(silent), f'{one_of} is', f'{one_of}s are')} silent; --all says why.")


_KINDS = {
    "command": ("Commands", "command"),
    "rule": ("Rules of yours", "rule"),
    "repair": ("After a failure, one line", "repair"),
}


def _print_lesson(one: LessonEntry, *, with_evidence: bool) -> None:
    what = one.said or f"{one.form}: {one.error}"
    stands = f"{one.lineages} of {plural(one.among, 'session')}" if one.lineages else plural(one.among, "session")
    # Several failures may have one repair.
    failed = f"after `{one.form}`" if one.kind == "repair" and one.said else ""
    notes = [f"id {one.id}" if one.kind == "rule" else "", failed, stands if one.among else ""]
    notes += ["" if one.state in ("shown", "silent") else one.state, one.reason]
    notes += [", ".join(one.where)]
    say(f"  {printable(what)}")
    say(f"      {printable('; '.join(filter(None, notes)))}", dim=True)
    if with_evidence:
        for session in one.sessions:
            say(f"      {printable(session)}")


@click.command()
@dry_run_option
@yes_option
@json_option
def share(dry_run: bool, yes: bool) -> None:
    """Write the project's lessons into its repository.

    `.seasoned/lessons.json` holds what sessions of this checkout's project see, one lesson on each line, redacted.
    Review and commit it like any change: sessions of everyone who has it see the same.

    \b
    Example: seasoned share --dry-run
    """
    config = load()
    with own_store(config) as store:
        key, _ = _project(store, None)
        change = shared_file(config, store, key, Path.cwd())
    is_changed = change.before != change.after
    answer = {"project": key, "path": str(change.path), "is_changed": is_changed, "is_written": False}
    answer["diff"] = preview(change) if is_changed else ""
    if is_changed and not wants_json():
        show_plan(ConnectPlan("share", (change,)), undo=False)
    if is_changed and not dry_run and agrees("Write this file?", yes=yes):
        change.path.parent.mkdir(exist_ok=True)
        write_atomic(change.path, change.after or b"", unfinished=change.path.parent / ".lessons.unfinished")
        answer["is_written"] = True
    if not answered("share", answer) and not is_changed:
        say("The file says the same already. Nothing to change.")


@click.command(epilog=PATHS_HELP)
@paths_argument
@project_option
@click.option("--fewest", default=FEWEST_CONVERSATIONS, show_default=True, help="Fewest sessions of a project.")
@click.option("--shown", is_flag=True, help="List what each session would have seen.")
@json_option
def backtest(paths: tuple[Path, ...], project: str | None, fewest: int, shown: bool) -> None:
    """Replay histories: was what sessions see right?

    Sessions are replayed in order of time. Each sees only what had ended before it began, which is compared with what
    it did. No model is asked: a replay shows what an agent would have seen, not what it would have done.

    \b
    Example: seasoned backtest ~/.claude/projects
    Example: seasoned backtest --project shop --shown
    """
    with histories(paths, says_store=True) as read:
        key = None if project is None else find_project(read.store, project, base=str(Path.cwd())).key
        found, replayed = run_backtest(read.store, project=key, fewest=fewest)
    if not found.all.conversations:
        raise NotFound(
            f"No project has {fewest} sessions or more with a time and a folder. Lower --fewest, or give another PATH."
        )
    answer: dict[str, Any] = {**msgspec.to_builtins(found), **passed_over_answer(read)}
    if answered("backtest", answer | ({"sessions": msgspec.to_builtins(replayed)} if shown else {})):
        return
    _print_backtest(found)
    if shown:
        for one in replayed:
            _print_told(one)


def _print_backtest(found: Backtest) -> None:
    every = (*found.projects, found.all)
    head = ["project", "sessions", "told", "lines", "right where done", "as written", "covered", "baseline", "worth"]
    table(head, [_cells(one) for one in every], nowrap=["project"], title="At the start and the first prompt")
    say()
    head = ["project", "mistakes", "known", "in time", "late", "right", "hints", "false per 500", "foreign", "tokens"]
    rows = [
        (
            _name(one),
            one.mistakes,
            one.known_mistakes,
            _share(one.in_time),
            one.late,
            _share(one.right),
            one.hints,
            one.false_per_500_calls,
            one.foreign,
            None if one.tokens is None else round(one.tokens),
        )
        for one in every
    ]
    table(head, rows, nowrap=["project"], title="At calls")
    say(_BACKTEST_WORDS)
    if found.left_out:
        say(f"Left out: {plural(found.left_out, 'session')} without a time or a project, or with too few others.")


_BACKTEST_WORDS = f"""
Lines are counted without what every agent tries first (`go test`, `npm install`), in sessions with
{FEWEST_KNOWN} or more known ones.
right where done: of the lines whose purpose the session then served, those it served in this form.
covered: of the purposes served in a known form, those for which the right line stood there.
baseline: both for the form of most of the last twenty sessions.
in time: known mistakes that the session repaired, answered so before its next try.
A replay shows what would have been in front of the agent, not what it would have done."""


def _cells(one: Figures) -> tuple[object, ...]:
    chosen, baseline = one.arms["chosen"], one.arms["baseline"]
    simple = " / ".join(_share(value, short=True) or "–" for value in (baseline.right, baseline.covered))
    return (
        _name(one),
        one.conversations,
        one.told,
        chosen.lines,
        _share(chosen.right),
        _share(chosen.as_written, short=True),
        _share(chosen.covered),
        simple,
        _share(one.worth, short=True),
    )


def _name(one: Figures) -> str:
    return name_of(one.project) if one.project else "all"


def _share(value: Estimate, *, short: bool = False) -> str | None:
    if value.value is None:
        return None
    if short or value.interval is None:
        return f"{value.value:.0%}"
    return f"{value.value:.0%} ({value.interval.low:.0%}–{value.interval.high:.0%})"


def _print_told(one: Replayed) -> None:
    lines = one.lines["chosen"]
    if not lines and not one.hints:
        return
    say(f"\n{printable(one.root)} ({printable(name_of(one.project))})")
    for line in lines:
        mark = "right" if line.right else "done otherwise" if line.done else "not done"
        say(f"  {line.place}: {printable(line.text)} [{mark}]")
    for hint in one.hints:
        mark = "false" if hint.false else {True: "right", False: "other repair", None: "not repaired"}[hint.right]
        say(f"  {'before' if hint.is_before else 'after'} a call: {printable(hint.text)} [{mark}]")


_PLACES = {
    "start": "at the start",
    "prompt": "at the prompt",
    "before": "before a call",
    "after": "after a failure",
    "memory": "memory",
    "skill": "skill",
    "examples": "examples",
}


@click.command()
@click.argument("session", required=False)
@json_option
def receipt(session: str | None) -> None:
    """Show what a session was shown and used.

    Also what was kept of it, or why it was shown nothing. SESSION is an id or its beginning; without one, the newest
    that was shown anything.

    \b
    Example: seasoned receipt 53ea19c1
    """
    config = load()
    with store_or_empty(config) as store:
        found = find_conversation(store, None) if session is None else require_conversation(store, session)
        shown = None if found is None else receipt_of(store, found)
        cold = "" if shown is None else why_cold(store, config, shown)
    if answered("receipt", {**_receipt_answer(shown), "cold": cold}):
        return
    if shown is None:
        say("No session was shown anything yet.")
    else:
        _print_receipt(shown, cold)


def _receipt_answer(found: Receipt | None) -> dict[str, object]:
    if found is None:
        return {"session": None, "project": None, "is_read": False, "items": [], "counts": None}
    counts = {"shown": len(found.shown), "kept": len(found.kept)}
    counts |= {name.replace(" ", "_"): found.count(name) for name in ("used", "not used", "failed", "unknown")}
    return {**msgspec.to_builtins(found), "counts": counts}


def _print_receipt(found: Receipt, cold: str) -> None:
    where = f", {printable(found.project)}" if found.project else ""
    say(f"{found.session}{where}", bold=True)
    if found.shown:
        states = [f"{found.count(name)} {name}" for name in ("used", "not used", "failed", "unknown")]
        say(f"{plural(len(found.shown), 'thing')} shown: {', '.join(states)}.\n")
        records(found.shown, "when=at", ("where", lambda one: _PLACES[one.place]), "what=text used")
        for reason in dict.fromkeys(one.reason for one in found.shown if one.reason):
            click.echo(f"\nUnknown: {reason}.", nl=False)
        say()
    if not found.is_read and found.shown:
        say("This session is not in the store yet. Run `seasoned scan` to see what it used.")
    if found.kept:
        say(f"\nKept of this session: {plural(len(found.kept), 'change')}.")
        for item in found.kept:
            say(f"  {printable(item.text)}")
        say("Undo one with `seasoned memory --undo N`.")
    if cold:
        say(f"It was shown nothing. {cold}")


@click.command()
@project_option
@click.option("--accept", metavar="N", help="Do what a proposal says, by its number or id.")
@click.option("--edit", metavar="N", help="Change its words in your editor, then accept it.")
@click.option("--reject", metavar="N", help="Never propose it again.")
@click.option(
    "--undo", is_flag=False, flag_value="", metavar="[ID]", help="Undo what was decided last, or about this ID."
)
@dry_run_option
@yes_option
@json_option
def inbox(project: str | None, dry_run: bool, yes: bool, **steps: str | None) -> None:
    """Accept or reject what wants to become lasting.

    Lines for CLAUDE.md and AGENTS.md, rules that you said once, notes and skills that reviews wrote: each with the
    change it makes, its evidence, and whether it would have helped later sessions. Files are shown before they change;
    --undo makes them what they were, byte for byte, and one that was edited since only loses the line. The setting
    `inbox_accepts` names kinds that are accepted without asking.

    \b
    Example: seasoned inbox --project shop
    Example: seasoned inbox --accept 1
    """
    given = [(name, text) for name, text in steps.items() if text is not None]
    if len(given) > 1 or (given and project is not None):
        raise UsageError("Use one of --accept, --edit, --reject and --undo at a time, and without --project.")
    config = load()
    with own_store(config) as store:
        if given:
            _decide(config, store, given[0], dry_run=dry_run, yes=yes)
            return
        key = None if project is None else find_project(store, project, base=str(Path.cwd())).key
        found = inbox_of(config, store, key)
        save_shown(config.home, ShownList(tuple(one.proposal.id for one in found.items), key))
        if not answered("inbox", {"project": key, **msgspec.to_builtins(found)}):
            _print_inbox(store, found)


def inbox_of(config: Config, store: Store, project: str | None) -> Inbox:
    """What waits for a person."""
    with ReadingBar("Reading projects", of_bytes=False) as bar:
        gathered = gather(store, project=project, tell=bar)
    return read_inbox(config, store, gathered, make_redactor(config), project=project)


def _print_inbox(store: Store, found: Inbox) -> None:
    if not found.items:
        say("The inbox is empty.")
    for number, one in enumerate(found.items, start=1):
        where = f" [{one.project}]" if one.project else ""
        say(f"{number}. {printable(one.proposal.sentence)}{printable(where)}", bold=True)
        say(f"   {printable(one.evidence)}.\n   {printable(one.check.sentence)}", indent="   ")
        say(
            f"   {printable(one.effect)}:" + ("" if one.can_accept else " (not on this machine: by hand)"), indent="   "
        )
        changes = plan_of(store, one.proposal).changes if one.can_accept else ()
        for change in changes or (FileChange(Path(), None, f"{one.proposal.text}\n".encode(), ""),):
            show_diff(change, indent="     ", is_short=True)
    if found.items:
        say("\nDecide with `seasoned inbox --accept N`, `--edit N` or `--reject N`; the change is shown first.")
    if found.decided:
        say("\nDecided:")
    for done in found.decided[:_MOST_DECIDED]:
        say(f"  {done.proposal.id}  {when(done.at)}  {done.state}: {printable(done.proposal.sentence)}", indent="    ")


_MOST_DECIDED = 10


def _decide(config: Config, store: Store, given: tuple[str, str], *, dry_run: bool, yes: bool) -> None:
    """Accept, reject or undo; what changes is shown before it is done."""
    step, text = given
    # The order may have changed since: a number means what the user saw.
    shown = read_shown(config.home)
    redactor = make_redactor(config)
    found = read_inbox(config, store, gather(store, project=shown.project), redactor, project=shown.project)
    if step == "undo":
        done = find_decided(found, text or None)
        one, plan = done.proposal, undo_preview(config, store, done)
    else:
        one = find_item(found, shown.id_of(text)).proposal
        if step == "edit":
            one = reworded(one, click.edit(one.text) or "")
            if not one.text:
                raise UsageError("The editor returned no text, so nothing was changed.")
        plan = ConnectPlan(one.id, parts=()) if step == "reject" else plan_of(store, one)
    if not wants_json():
        say(printable(one.sentence), bold=True)
        show_plan(plan, undo=step == "undo")
    state = "previewed" if dry_run else "declined"
    if not dry_run and (step == "reject" or agrees(_ASKS[step], yes=yes)):
        state = {"undo": "undone", "reject": "rejected"}.get(step, "accepted")
        if step == "undo":
            undo(config, store, done)
        elif step == "reject":
            reject(config, store, one)
        else:
            accept(config, store, one, redactor)
    changes = [{"path": str(one.path), "why": one.why, "diff": preview(one)} for one in plan.changes]
    if answered("decision", {"id": one.id, "state": state, "changes": changes}):
        return
    undone = "Undone: everything is as it was before."
    said = f"{state.capitalize()}. `seasoned inbox --undo {one.id}` undoes it."
    say({"previewed": "Nothing was changed.", "declined": "Nothing was changed.", "undone": undone}.get(state, said))


_ASKS = {"accept": "Accept this?", "edit": "Accept this?", "undo": "Undo these changes?"}
