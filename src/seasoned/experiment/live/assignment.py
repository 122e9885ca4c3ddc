"""The arm of a live session, by a keyed hash: random and yet always the same; and whether arms got their share."""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b

import msgspec

from seasoned.config import Config, WarmSettings
from seasoned.errors import NotFound, UsageError
from seasoned.example.example import content_digest
from seasoned.example.library.storage import Library, cached_library
from seasoned.session import Relation
from seasoned.stats.proportion import binomial
from seasoned.store import Database, Store, open_database

_encode = msgspec.json.Encoder(order="deterministic").encode


class ArmShare(msgspec.Struct, frozen=True):
    """An arm and its weight against the other arms."""

    arm: str
    weight: float = 1.0
    # The digest of the template that it shows: machines have it under different names or not at all. Omitted from
    # the document if there is none, so that the digests of older splits stay the same.
    template: str | msgspec.UnsetType = msgspec.UNSET


class Split(msgspec.Struct, frozen=True, kw_only=True):
    """How sessions are divided between the arms of an experiment. The first arm is the control."""

    experiment: str
    # Secret: without it, a session id cannot be chosen so that it falls into a given arm.
    salt: str
    arms: tuple[ArmShare, ...]

    @property
    def control(self) -> str:
        return self.arms[0].arm

    @property
    def digest(self) -> str:
        """Identifies the split; sessions of different splits are not compared with each other."""
        return blake2b(_encode(self), digest_size=8).hexdigest()

    @property
    def shares(self) -> dict[str, float]:
        """The share of the assigned sessions that each arm should get."""
        whole = math.fsum([one.weight for one in self.arms])
        return {one.arm: one.weight / whole for one in self.arms}


class Assignment(msgspec.Struct, frozen=True):
    """The arm of one session."""

    experiment: str
    session: str
    arm: str
    split: str


def new_split(experiment: str, arms: Sequence[ArmShare], *, salt: str | None = None) -> Split:
    """A checked split with a new salt."""
    names = [one.arm for one in arms]
    if not experiment:
        raise UsageError("An experiment needs a name.")
    if len(names) < 2 or len(set(names)) < len(names) or "" in names:
        raise UsageError(f"An experiment needs two or more arms, each named once, not {names!r}.")
    for one in arms:
        if not (one.weight > 0 and math.isfinite(one.weight)):
            raise UsageError(f"The weight of {one.arm!r} must be above 0, not {one.weight!r}. Leave the arm out.")
    return Split(experiment=experiment, salt=salt or secrets.token_hex(16), arms=tuple(arms))


def assign(split: Split, session: str, *, relation: Relation | None = None) -> Assignment | None:
    """The arm of a session, always the same for the same split; None for a background review, which is in no arm.

    `session` is the root of its lineage, so that a conversation stays in its arm when it is compressed or resumed.
    When weights change, only sessions that an arm gains or loses change their arm (rendezvous hashing); those that
    were logged keep theirs in any case.
    """
    if relation == "review":
        return None
    if not session:
        raise UsageError("A session without an id cannot be assigned. Give the root of its lineage.")
    return Assignment(split.experiment, session, _arm(split, session), split.digest)


def _arm(split: Split, session: str) -> str:
    # The highest of weighted scores: arm i wins with probability weight i / all weights (Mosko & Thaler 1998).
    scores = [(-one.weight / math.log(_uniform(split.salt, f"arm {one.arm}", session)), one.arm) for one in split.arms]
    return max(scores)[1]


def _uniform(salt: str, purpose: str, session: str) -> float:
    """A number between 0 and 1, neither of them, by a keyed hash."""
    key = blake2b(salt.encode(), digest_size=32).digest()
    text = f"{len(purpose)}:{purpose}{session}".encode("utf-8", "surrogatepass")
    drawn = int.from_bytes(blake2b(text, key=key, digest_size=8).digest())
    return ((drawn >> 11) + 0.5) / 2**53


def keep_split(store: Database, split: Split, *, now: float) -> None:
    """Store a split; the newest one of an experiment is in force."""
    with store.write():
        store.run(
            "experiment.keep_split",
            {
                "experiment": split.experiment,
                "digest": split.digest,
                "document": msgspec.json.encode(split).decode(),
                "created_at": now,
            },
        )


def load_split(store: Database, experiment: str) -> Split:
    """The newest split of an experiment."""
    rows = store.rows("experiment.splits", {"experiment": experiment})
    if not rows:
        known = [repr(str(row["experiment"])) for row in store.rows("experiment.names")]
        there = f", only {', '.join(known)}" if known else ": there are none yet"
        raise NotFound(
            f"No experiment {experiment!r} assigns sessions{there}. Start one with `seasoned experiment begin`."
        )
    return msgspec.json.decode(rows[0]["document"], type=Split)


def assign_logged(
    store: Database, split: Split, session: str, *, now: float, relation: Relation | None = None
) -> Assignment | None:
    """The arm of a session, logged before anything is shown; a session never changes its arm."""
    found = assign(split, session, relation=relation)
    if found is None:
        return None
    known = find_assignment(store, split.experiment, session)
    if known is None:
        key = {"experiment": split.experiment, "session": session}
        with store.write():
            store.run("experiment.assign", {**key, "arm": found.arm, "split": found.split, "at": now})
            known = find_assignment(store, split.experiment, session)
    assert known is not None  # written just now, by this process or another
    return known


def find_assignment(store: Database, experiment: str, session: str) -> Assignment | None:
    """The logged arm of a session; None if it has none."""
    row = store.row("experiment.assigned", {"experiment": experiment, "session": session})
    return None if row is None else Assignment(experiment, session, row["arm"], row["split"])


def log_exposure(
    store: Database, experiment: str, session: str, *, arm: str, example_ids: Sequence[str], now: float
) -> None:
    """Log what a session was actually shown, the first time only. The analysis by intention to treat ignores it."""
    _log_examples(store, "experiment.expose", experiment, session, arm, example_ids, now)


def log_foregone(
    store: Database, experiment: str, session: str, *, arm: str, example_ids: Sequence[str], now: float
) -> None:
    """Log what a session of the control would have been shown in another arm, to compare examples one by one."""
    _log_examples(store, "experiment.forgo", experiment, session, arm, example_ids, now)


def _log_examples(
    store: Database, query: str, experiment: str, session: str, arm: str, example_ids: Sequence[str], now: float
) -> None:
    ids = msgspec.json.encode(list(example_ids)).decode()
    with store.write():
        store.run(query, {"experiment": experiment, "session": session, "arm": arm, "example_ids": ids, "at": now})


TEMPLATE = "template:"  # begins the name of an arm that shows one template
_COLD = "cold"


class Enrolled(msgspec.Struct, frozen=True):
    """The arm of a session, and what it shows."""

    experiment: str
    arm: str
    template: str | None  # a template's name; empty: the one that fits; None: nothing
    # By arm: what a conversation of the control would be shown there.
    foregone: Mapping[str, str] = {}

    @property
    def is_warm(self) -> bool:
        return self.template is not None


def enrol(database: Database, experiment: str, session: str, *, now: float, begins: bool = True) -> Enrolled | None:
    """The arm of a session. One that `begins` is assigned; one under way keeps its arm, or has none.

    `session` is the root of its lineage. Never call this for a review.
    """
    split = load_split(database, experiment)
    if begins:
        found = assign_logged(database, split, session, now=now)
    else:
        # If it began before the experiment, chance did not decide what it was shown.
        found = find_assignment(database, experiment, session)
    if found is None:
        return None
    others = {one.arm: template for one in split.arms if (template := shown_by(split, one.arm)) is not None}
    is_compared = begins and found.arm == split.control
    return Enrolled(experiment, found.arm, shown_by(split, found.arm), others if is_compared else {})


@contextmanager
def assignments(config: Config, store: Store) -> Iterator[Database]:
    """The database with the assignments: PostgreSQL if several machines share it, else the store."""
    if config.database_url is None:
        yield store
        return
    database = open_database(config)
    try:
        yield database
    finally:
        database.close()


def is_held_back(config: Config, store: Store, session: str, settings: WarmSettings, *, now: float) -> bool:
    """Whether the session is in an arm that shows nothing, so that other help must be withheld as well."""
    if settings.experiment is None:
        return False
    with assignments(config, store) as database:
        enrolled = enrol(database, settings.experiment, session, now=now, begins=False)
    return enrolled is not None and not enrolled.is_warm


def shown_by(split: Split, arm: str) -> str | None:
    """What an arm shows: a template's name; empty: the one that fits; None: nothing."""
    if arm in (split.control, _COLD) or arm.startswith(f"{_COLD}-"):
        return None
    return arm.removeprefix(TEMPLATE) if arm.startswith(TEMPLATE) else ""


def enrol_here(
    database: Database, store: Store, experiment: str, session: str, *, now: float, begins: bool = True
) -> Enrolled | None:
    """The arm of a session, with the names that templates have on this machine.

    A new session is assigned only if every arm can be shown here; otherwise NotFound.
    """
    split = load_split(database, experiment)
    try:
        names = _local_names(cached_library(store, now=now), split)
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


def _local_names(library: Library, split: Split) -> dict[str, str]:
    """By arm: the name of its template on this machine. NotFound if one is not here, or was rebuilt since."""
    found = {}
    for one in split.arms:
        if one.arm.startswith(TEMPLATE):
            wanted = one.arm.removeprefix(TEMPLATE) if one.template is msgspec.UNSET else one.template
            names = [each.name for each in library.templates if wanted in (content_digest(each), each.name)]
            if not names:
                raise NotFound(
                    f"The arm {one.arm!r} shows nothing here, because its template is not on this machine or was "
                    "changed. Import it with `seasoned template import`, or run `seasoned experiment begin` again."
                )
            found[one.arm] = names[0]
    return found


# A sample ratio less likely than this is not chance: assignment, logging or counting is broken.
ALARM = 0.001
_EXACT_SESSIONS = 20_000


class SampleRatio(msgspec.Struct, frozen=True):
    """Whether the arms got as many sessions as they should."""

    counts: dict[str, int]
    expected: dict[str, float]
    p_value: float | None
    is_alarm: bool


def sample_ratio(counts: Mapping[str, int], shares: Mapping[str, float]) -> SampleRatio:
    """Do the arms have the sessions they should? Two arms are counted exactly, more by Pearson's (1900) chi-square."""
    n = sum(counts.values())
    expected = {arm: n * part for arm, part in shares.items()}
    if not n:
        return SampleRatio(dict(counts), expected, None, False)
    if len(counts) == 2 and n <= _EXACT_SESSIONS:
        first = next(iter(counts))
        p_value = binomial(counts[first], n, shares[first])
    else:
        distance = math.fsum([(counts[arm] - expected[arm]) ** 2 / expected[arm] for arm in counts])
        p_value = _chi_square_above(distance, len(counts) - 1)
    return SampleRatio(dict(counts), expected, p_value, p_value < ALARM)


def _chi_square_above(distance: float, freedom: int) -> float:
    """The upper tail, as the finite sum that whole degrees of freedom have (Abramowitz & Stegun 26.4.4 and 26.4.5)."""
    half = distance / 2
    if not half:
        return 1.0
    start = 0.5 if freedom % 2 else 0.0
    terms = [start + step for step in range(freedom // 2)]
    tail = math.fsum([math.exp(power * math.log(half) - half - math.lgamma(power + 1)) for power in terms])
    return min(1.0, tail + (math.erfc(math.sqrt(half)) if freedom % 2 else 0.0))
