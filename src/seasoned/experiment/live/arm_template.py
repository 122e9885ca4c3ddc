"""The templates that arms show, by digest: stored with the assignments and fetched by machines that lack them.

Several machines may share an experiment. An arm that named its template by name alone would show something else on each
of them, or nothing. A machine that cannot get the template of some arm assigns no session to any arm: otherwise its
sessions would be missing in that arm only.
"""

from __future__ import annotations

from typing import Any

import msgspec

from seasoned.errors import CannotDo, NotFound
from seasoned.experiment.live.assignment import TEMPLATE, ArmShare, Enrolled, Split, enrol, load_split
from seasoned.redact.key import Secrecy, new_key
from seasoned.store import Database, Store
from seasoned.template.example import Example, Template, content_digest
from seasoned.template.library.exchange import read_template, write_template
from seasoned.template.library.storage import delete, load, save, sessions_of

_SHOWN_CHARS = 8  # of a digest, in the name of a template that was fetched


class KeptTemplate(msgspec.Struct, frozen=True):
    """A template, and the projects of the sessions that taught it, which only their own machine knows."""

    template: Any
    projects: dict[str, str] = {}


def keep_template(database: Database, store: Store, name: str, *, now: float) -> str:
    """Keep a template for the machines that share this database; returns its digest."""
    template = load(store, name)
    known = {row["session"]: row["project"] for row in store.rows("template.projects")}
    projects = {session: known[session] for session in sorted(sessions_of(template)) if session in known}
    digest = content_digest(template)
    document = msgspec.json.encode(KeptTemplate(template, projects)).decode()
    with database.write():
        row = {"digest": digest, "document": document, "created_at": now}
        database.run("experiment.keep_template", row)
    return digest


def enrol_here(
    database: Database, store: Store, experiment: str, session: str, *, now: float, begins: bool = True
) -> Enrolled | None:
    """The arm of a session, with the names that templates have on this machine.

    A new session is assigned only if every arm can be shown here; otherwise NotFound.
    """
    split = load_split(database, experiment)
    try:
        names = local_names(database, store, split, now=now)
    except NotFound:
        # A session under way keeps its arm, and its block is stored with it.
        if begins:
            raise
        names = {}
    found = enrol(database, experiment, session, now=now, begins=begins)
    if found is None:
        return None
    foregone = {arm: names.get(arm, template) for arm, template in found.foregone.items()}
    template = names.get(found.arm, found.template) if found.template is not None else None
    return msgspec.structs.replace(found, template=template, foregone=foregone)


def local_names(database: Database, store: Store, split: Split, *, now: float) -> dict[str, str]:
    """By arm: the name of its template on this machine, where it is fetched if need be. NotFound if it cannot be."""
    return {one.arm: _local_name(database, store, one, now=now) for one in split.arms if one.arm.startswith(TEMPLATE)}


def _local_name(database: Database, store: Store, arm: ArmShare, *, now: float) -> str:
    name = arm.arm.removeprefix(TEMPLATE)
    if arm.template is msgspec.UNSET:
        # The experiment was started by an older version.
        if _digest(store, name) is None:
            raise NotFound(f"The arm {arm.arm!r} shows nothing here, because there is no template {name!r}.")
        return name
    # The arm keeps showing the template of its start, even if that was rebuilt since.
    fetched = f"{name}-{arm.template[:_SHOWN_CHARS]}"
    for one in (name, fetched):
        if _digest(store, one) == arm.template:
            return one
    row = database.row("experiment.template", {"digest": arm.template})
    if row is None:
        raise NotFound(
            f"The arm {arm.arm!r} shows nothing here, because its template is not on this machine and cannot "
            "be fetched. Run `seasoned experiment begin` again on a machine that has it."
        )
    kept = msgspec.json.decode(row["document"], type=KeptTemplate)
    template = checked(msgspec.convert(kept.template, Template), fetched, kept.projects, now=now)
    if content_digest(template) != arm.template:
        raise NotFound(f"The arm {arm.arm!r} shows nothing here: not all of its template may be shown.")
    with store.together():
        save(store, template)
        store.run_many(
            "template.know_project", [{"session": ref, "project": key} for ref, key in kept.projects.items()]
        )
    return fetched


def delete_fetched(store: Store, digest: str) -> None:
    """Remove a template that was fetched, and what was kept to fetch it. Call it inside a write transaction."""
    store.run("experiment.drop_template", {"digest": digest})
    for row in store.rows("template.names"):
        if row["name"].endswith(f"-{digest[:_SHOWN_CHARS]}") and _digest(store, row["name"]) == digest:
            delete(store, row["name"])


def _digest(store: Store, name: str) -> str | None:
    try:
        return content_digest(load(store, name))
    except NotFound:
        return None


def checked(template: Template, name: str, projects: dict[str, str], *, now: float) -> Template:
    """A template of another machine after the checks of an import; what known projects taught is trusted."""
    # The key makes the tags of what is redacted. Here nothing is: what would have to be is left out.
    redactor = Secrecy(new_key()).redactor()
    try:
        read = read_template(write_template(template), redactor=redactor, now=now, name=name).template
    except CannotDo as error:
        raise NotFound(f"The template {template.name!r} cannot be used here: {error}") from error
    tiers = {one.id: one.tier for one in template.examples}

    def trusted(example: Example) -> Example:
        is_known = any(source.session in projects for source in example.sources)
        return msgspec.structs.replace(example, tier=tiers.get(example.id, "imported")) if is_known else example

    return msgspec.structs.replace(read, examples=tuple(trusted(one) for one in read.examples))
