"""Experiments of a team: what arms show, and how sessions ended, from machine to machine.

A machine that names an experiment in its settings pushes the split that it began, with the templates of its arms, and
the outcomes of its sessions. It pulls what another machine or the server began. The server counts the outcomes of all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any
from urllib.parse import quote, unquote

import msgspec

from seasoned.config import TeamSettings
from seasoned.errors import NotFound, Refused, UsageError
from seasoned.experiment.live.arm_template import KeptTemplate, delete_fetched
from seasoned.experiment.live.assignment import HOLDOUT, TEMPLATE, Split, load_split, new_split
from seasoned.experiment.live.live_session import LiveSession, SharedOutcome, load_live
from seasoned.redact.redactor import Redactor
from seasoned.store import Database, Store
from seasoned.team.record import TeamRecord, allowed_projects, impersonal, record_row, session_key, untagged
from seasoned.template.example import Example, Template, content_digest
from seasoned.template.library.storage import sessions_of

PLACE = "experiment:"  # begins the `project` of records about an experiment
# The server among the machines, once it has begun an experiment. No member can have an empty name.
SERVER = "server"
_NO_ONE = ""
_MOST_TOOLS = 500
_MOST_CALLS = 1_000_000
_encode = msgspec.json.Encoder(order="deterministic").encode


class SharedAssignment(msgspec.Struct, frozen=True, kw_only=True):
    """A session in its arm and how it ended: counts by tool, no words."""

    split: str
    arm: str
    at: float
    exposed_arm: str | None
    shown: tuple[str, ...]
    foregone: dict[str, tuple[str, ...]]
    outcome: SharedOutcome


DOCUMENTS: dict[str, type[msgspec.Struct]] = {
    "split": Split,
    "template": KeptTemplate,
    "outcome": SharedAssignment,
}


def place_of(experiment: str) -> str:
    """The `project` of records about an experiment."""
    return PLACE + quote(experiment, safe="")


def name_at(place: str) -> str:
    """The name of the experiment in such a `project`."""
    return unquote(place.removeprefix(PLACE))


# -- on a machine -----------------------------------------------------------------------------------------------------


def experiment_records(
    store: Store, settings: TeamSettings, redactor: Redactor, *, now: float, notes: list[str] | None = None
) -> Iterator[TeamRecord]:
    """The records of the experiments that the settings name; `notes` gets sentences about what cannot be shared."""
    allowed = set(allowed_projects(store, settings))
    for name in settings.experiments:
        try:
            split = load_split(store, name)
        except NotFound:
            continue
        place = place_of(name)
        if store.row("membership.experiment", {"experiment": name}) is None:
            try:
                made = begun_records(store, store, split, redactor, allowed=allowed)
            except UsageError as error:
                if notes is not None:
                    notes.append(f"The experiment {name!r} is not shared: {error}")
                continue
            yield from made
        for one in load_live(store, split, now=now, history=store):
            agent, _, native_id = one.session.partition(":")
            row = store.row("membership.project_of", {"agent": agent, "native_id": native_id})
            if row is not None and row["project"] in allowed:
                document = _encode(_assignment(split, one))
                yield TeamRecord(place, "outcome", session_key(one.session), msgspec.Raw(document), one.session)


def _assignment(split: Split, one: LiveSession) -> SharedAssignment:
    return SharedAssignment(
        split=split.digest,
        arm=one.arm,
        at=one.at,
        exposed_arm=one.exposed_arm,
        shown=one.shown,
        foregone=one.foregone,
        outcome=SharedOutcome(one.is_settled, one.tools, one.has_begun_well),
    )


def begun_records(
    database: Database, store: Store, split: Split, redactor: Redactor, *, allowed: Set[str] | None = None
) -> list[TeamRecord]:
    """The templates of a split and then the split, which is of no use without them. UsageError: they cannot be shared.

    `allowed`: the projects whose sessions may have taught a template.
    """
    place, made = place_of(split.experiment), []
    for arm in split.arms:
        if not arm.arm.startswith(TEMPLATE):
            continue
        row = None if arm.template is msgspec.UNSET else database.row("experiment.template", {"digest": arm.template})
        if row is None:
            raise UsageError(f"what the arm {arm.arm!r} shows was not kept. Run `seasoned experiment begin` again.")
        kept = msgspec.json.decode(row["document"], type=KeptTemplate)
        template = msgspec.convert(kept.template, Template)
        known = {one["session"]: one["project"] for one in store.rows("template.projects")}
        if allowed is not None and any(known.get(session) not in allowed for session in sessions_of(template)):
            raise UsageError(f"sessions of projects that are not under [team] projects taught {arm.arm!r}.")
        shared = nameless(template, kept.projects)
        text = _encode(shared).decode()
        # Cleaning it here would make it another template than the arm shows on this machine.
        if redactor.find(text) or untagged(text) != text or impersonal(text) != text:
            raise UsageError(f"{arm.arm!r} contains redacted texts or names of home folders. Build it again.")
        made.append(TeamRecord(place, "template", content_digest(template), msgspec.Raw(text.encode())))
    return [*made, TeamRecord(place, "split", split.digest, msgspec.Raw(_encode(split)))]


def nameless(template: Template, projects: Mapping[str, str]) -> KeptTemplate:
    """The template without the ids of sessions and calls, and without the calls that failed."""

    def without(example: Example) -> Example:
        sources = tuple(
            msgspec.structs.replace(one, session=session_key(one.session), call="", root=session_key(one.root))
            for one in example.sources
        )
        return msgspec.structs.replace(example, sources=sources, repaired=None)

    made = msgspec.structs.replace(
        template,
        description="",
        examples=tuple(without(one) for one in template.examples),
        sources=tuple(session_key(one) for one in template.sources),
    )
    return KeptTemplate(msgspec.to_builtins(made), {session_key(ref): project for ref, project in projects.items()})


def take_in_here(store: Store, place: str, kind: str, key: str, document: Any, *, now: float) -> None:
    """Keep what another machine began, or remove what it withdrew. Call it inside a write transaction."""
    name = name_at(place)
    if kind == "template":
        if document is None:
            delete_fetched(store, key)
            return
        kept = msgspec.convert(document, KeptTemplate)
        row = {"digest": key, "document": _encode(kept).decode(), "created_at": now}
        store.run("experiment.keep_template", row)
    elif kind == "split" and document is None:
        if store.run("membership.drop_experiment", {"experiment": name, "split": key}):
            store.run("experiment.drop_split", {"experiment": name, "digest": key})
    elif kind == "split":
        split = msgspec.convert(document, Split)
        if split.experiment == name and split.digest == key:
            _keep_split(store, split, now)
            store.run("membership.keep_experiment", {"experiment": name, "split": key})


def _keep_split(database: Database, split: Split, now: float) -> None:
    row = {"experiment": split.experiment, "digest": split.digest, "document": _encode(split).decode()}
    database.run("experiment.keep_split", {**row, "created_at": now})


def forget_joined(store: Store) -> None:
    """Remove the experiments that others began. Call it inside a write transaction."""
    for row in store.rows("membership.experiments"):
        for known in store.rows("experiment.splits", {"experiment": row["experiment"]}):
            if known["digest"] == row["split"]:
                for arm in msgspec.json.decode(known["document"], type=Split).arms:
                    if arm.template is not msgspec.UNSET:
                        delete_fetched(store, arm.template)
        store.run("experiment.drop_split", {"experiment": row["experiment"], "digest": row["split"]})
    store.run("membership.forget_experiments")


# -- on the server ----------------------------------------------------------------------------------------------------


def check_free(database: Database, name: str) -> None:
    """Refuse to begin an experiment at the server under a name that a member has taken."""
    if any(row["person"] != _NO_ONE for row in database.rows("team.split_owners", {"project": place_of(name)})):
        raise Refused(f"A member of the team has begun an experiment {name!r}. Choose another name.")


def hand_out(database: Database, store: Store, split: Split, redactor: Redactor, *, now: float) -> None:
    """Have machines pull an experiment that was begun at the server. UsageError if they could not show its arms."""
    records = begun_records(database, store, split, redactor)
    place, current = place_of(split.experiment), {(one.kind, one.key) for one in records}
    with database.write():
        database.row("team.lock", {"project": place})
        names = dict.fromkeys(("credential", "name", "source", "origin"), SERVER)
        database.run("team.add_server", {**names, "person": _NO_ONE, "now": now})
        # An earlier split of the same name, and what only that one showed.
        for row in database.rows("team.keys_of", {"credential": SERVER, "project": place}):
            if (row["kind"], row["key"]) not in current:
                gone = TeamRecord(place, row["kind"], row["key"], None)
                database.run("team.push", record_row(SERVER, gone, now))
        for one in records:
            database.run("team.push", record_row(SERVER, one, now))


def refusal(database: Database, person: str, record: TeamRecord) -> str | None:
    """Why a record of an experiment is not stored. Call it while the lock of its place is held."""
    name = name_at(record.project)
    if record.document is None:
        return None
    document = msgspec.json.decode(record.document, type=DOCUMENTS[record.kind])
    if isinstance(document, Split):
        is_valid = document.experiment == name and document.digest == record.key and _is_split(document)
        if not is_valid:
            return "it is not a valid split"
        owners = {row["person"] for row in database.rows("team.split_owners", {"project": record.project})}
        # A name belongs to the person who began it: other machines have agreed to what that person shows.
        is_free = not owners and not database.rows("experiment.splits", {"experiment": name})
        return None if person in owners or is_free else "another member, or the server, began one of this name"
    if isinstance(document, KeptTemplate):
        try:
            template = msgspec.convert(document.template, Template)
        except msgspec.ValidationError:
            return "it is not a template"
        return None if content_digest(template) == record.key else "its key is not the digest of what it shows"
    assert isinstance(document, SharedAssignment)
    return _unfit(database, name, document)


def _is_split(split: Split) -> bool:
    try:
        new_split(split.experiment, split.arms, holdout=split.holdout, salt=split.salt)
    except UsageError:
        return False
    return True


def _unfit(database: Database, experiment: str, document: SharedAssignment) -> str | None:
    splits = database.rows("experiment.splits", {"experiment": experiment})
    found = next((one["document"] for one in splits if one["digest"] == document.split), None)
    if found is None:
        return "its experiment is not known here"
    arms = {one.arm for one in msgspec.json.decode(found, type=Split).arms} | {HOLDOUT}
    tools = document.outcome.tools
    counts = [count for pair in tools.values() for count in pair]
    is_plausible = len(tools) <= _MOST_TOOLS and all(0 <= count <= _MOST_CALLS for count in counts)
    return None if document.arm in arms and is_plausible else "its arm or its counts are not possible"


def take_in(database: Database, origin: str, record: TeamRecord, *, now: float) -> None:
    """Put a stored or withdrawn record where experiments are read from. Call it inside its write transaction."""
    name = name_at(record.project)
    if record.kind == "outcome":
        _take_in_outcome(database, name, f"team:{origin}.{record.key}", record.document, now)
    elif record.document is None:
        key = {"experiment": name, "digest": record.key}
        database.run("experiment.drop_split" if record.kind == "split" else "experiment.drop_template", key)
    elif record.kind == "split":
        _keep_split(database, msgspec.json.decode(record.document, type=Split), now)
    else:
        row = {"digest": record.key, "document": bytes(record.document).decode(), "created_at": now}
        database.run("experiment.keep_template", row)


def _take_in_outcome(
    database: Database, experiment: str, session: str, document: msgspec.Raw | None, now: float
) -> None:
    for statement in ("drop_assignment", "drop_exposure", "drop_foregone", "drop_outcome"):
        database.run(f"experiment.{statement}", {"session": session})
    if document is None:
        return
    one = msgspec.json.decode(document, type=SharedAssignment)
    at = min(one.at, now)
    key = {"experiment": experiment, "session": session, "at": at}
    database.run("experiment.assign", {**key, "arm": one.arm, "split": one.split})
    if one.exposed_arm is not None:
        database.run("experiment.expose", {**key, "arm": one.exposed_arm, "example_ids": _ids(one.shown)})
    for arm, ids in one.foregone.items():
        database.run("experiment.forgo", {**key, "arm": arm, "example_ids": _ids(ids)})
    outcome = {"document": _encode(one.outcome).decode(), "is_settled": one.outcome.is_settled}
    database.run("experiment.keep_outcome", {**key, **outcome})


def _ids(ids: tuple[str, ...]) -> str:
    return _encode(ids).decode()
