"""What requests use and cost: the usage journal, totals, keys and budgets.

The journal has one line for each answer, written before its end is passed on, so that a crash loses no tokens. A line
goes to the operating system at once, not to the disk: it survives a crash of the process, not a power failure.
"""

from __future__ import annotations

import os
import re
import secrets
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args
from uuid import uuid4

import msgspec

from seasoned.atomic_write import make_private_folder
from seasoned.errors import Conflict, NotFound, UsageError
from seasoned.gateway.settings import GatewaySettings
from seasoned.price import find_cost
from seasoned.session import Usage
from seasoned.store import Database, DatabaseRow

try:
    import fcntl
except ImportError:  # without it two gateways with one home may read each other's lines; each still counts once
    fcntl = None  # type: ignore[assignment]

# The answer is complete; the upstream broke off; the client disconnected.
Ended = Literal["complete", "broken", "cancelled"]
FOLDER = "gateway-journal"
_SUFFIX = ".jsonl"
# The suffix while lines are added. Such a file that no process has locked was left by one that died.
_OPEN = ".open"
# The suffix until the file is locked: an unlocked `.open` file would be taken over at once.
_NEW = ".new"


class UsageEntry(msgspec.Struct, frozen=True, kw_only=True):
    """What one request used. A later entry with the same id replaces it, so nothing is counted twice."""

    id: str
    at: float
    session: str
    purpose: str
    # Empty if the client used the provider's own key.
    key_name: str
    upstream: str
    api: str
    model: str
    status: int
    ended: Ended
    # None: the provider said nothing, which is not zero.
    usage: Usage | None = None
    raw: dict[str, Any] | None = None
    seconds: float = 0.0


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(UsageEntry).decode


class UsageJournal:
    """One file for each process. Files left by dead processes are taken over."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._file: int | None = None
        self._path: Path | None = None
        self._left: list[Path] = []
        self._unwritten: list[UsageEntry] = []

    def open(self) -> None:
        """Start, and find the files that killed processes left."""
        make_private_folder(self._folder.parent)
        make_private_folder(self._folder)
        self._left = [path for path in sorted(self._folder.glob(f"*{_OPEN}")) if not _is_in_use(path)]

    def append(self, entry: UsageEntry) -> None:
        """Write a line. If that fails, the entry is kept in memory and the error raised."""
        line = _encode(entry) + b"\n"
        with self._lock:
            try:
                if self._file is None:
                    self._begin()
                assert self._file is not None
                if os.write(self._file, line) < len(line):
                    raise OSError("the disk took only a part of the line")
            except OSError:
                self._unwritten.append(entry)
                raise

    def take(self) -> Iterator[tuple[Path | None, list[UsageEntry]]]:
        """Each complete file with its entries; call `done` when they are in the store."""
        with self._lock:
            self._end()
            unwritten, self._unwritten = self._unwritten, []
        if unwritten:
            yield None, unwritten
        for path in [*self._left, *sorted(self._folder.glob(f"*{_SUFFIX}"))]:
            yield path, self._read(path)

    def put_back(self, entries: list[UsageEntry]) -> None:
        """Keep entries that could not be written or stored."""
        with self._lock:
            self._unwritten = entries + self._unwritten

    def done(self, path: Path) -> None:
        """Delete a file whose entries are in the store."""
        path.unlink(missing_ok=True)
        self._left = [one for one in self._left if one != path]

    def close(self) -> None:
        with self._lock:
            self._end()

    def _begin(self) -> None:
        path = self._folder / f"{os.getpid()}-{uuid4().hex}{_OPEN}"
        new = path.with_suffix(_NEW)
        file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_EXCL, 0o600)
        try:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            new.rename(path)
        except OSError:
            os.close(file)
            raise
        self._file, self._path = file, path

    def _end(self) -> None:
        if self._file is not None and self._path is not None:
            file, path, self._file, self._path = self._file, self._path, None, None
            try:
                path.rename(path.with_suffix(_SUFFIX))
            finally:
                os.close(file)

    def _read(self, path: Path) -> list[UsageEntry]:
        try:
            lines = path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []  # another gateway stored it
        found = []
        for line in lines:
            if not line:
                continue
            # Only the last line of a process that was killed in the middle of it cannot be read.
            with suppress(msgspec.DecodeError, UnicodeDecodeError):
                found.append(_decode(line))
        return found


def _is_in_use(path: Path) -> bool:
    if fcntl is None:
        return False
    try:
        file = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False


GroupBy = Literal["session", "model", "day", "key"]
GROUPINGS: tuple[GroupBy, ...] = get_args(GroupBy)
N = TypeVar("N", int, float)
_MOST = 10**15
_MODEL_CHARS = 200
_FIGURES = ("input", "output", "cache_read", "cache_write", "reasoning")


class EntryCost(msgspec.Struct, frozen=True):
    """What a request cost and where the figure comes from; None if no price is known."""

    usd: float | None = None
    source: str | None = None


Pricing = Callable[[UsageEntry], EntryCost]


class UsageTotal(msgspec.Struct, frozen=True, kw_only=True):
    """What all requests of one session, model, day or key used."""

    # None: no gateway key was used, or no model was named.
    name: str | None
    requests: int
    usage: Usage
    # Of the requests with a known price; None if there are none.
    cost_usd: float | None
    # Requests without a known price; they are not in the cost.
    unpriced: int
    # Turns whose words and calls may be missing from their sessions.
    unrecorded: int
    last_at: float
    # Where the prices come from; `several` if there is more than one source.
    cost_source: str | None = None
    # The size of the last prompt, with what came from a cache; only for a session.
    last_prompt: int | None = None


def pricing(settings: GatewaySettings) -> Pricing:
    """How to price entries: by what the upstream says, or by published prices for its `prices_of` or its address."""
    upstreams = {one.name: one for one in settings.upstream}

    def price(entry: UsageEntry) -> EntryCost:
        upstream = upstreams.get(entry.upstream)
        found = find_cost(
            entry.usage,
            entry.raw,
            model=entry.model or None,
            base_url=None if upstream is None else upstream.base_url,
            provider=None if upstream is None else upstream.prices_of,
            now=datetime.fromtimestamp(entry.at, UTC),
        )
        return EntryCost() if found is None else EntryCost(float(found.usd), found.full_source)

    return price


def add_entries(database: Database, entries: Iterable[UsageEntry], price: Pricing) -> None:
    """Store entries in one transaction; one that is already there is replaced."""
    rows = [_row(entry, price(entry)) for entry in {entry.id: entry for entry in entries}.values()]
    with database.write():
        for row in rows:
            database.run("gateway.add_request", row)


def _row(entry: UsageEntry, price: EntryCost) -> dict[str, object]:
    usage = entry.usage or Usage()
    return {
        **{name: getattr(entry, name) for name in entry.__struct_fields__ if name not in ("usage", "raw")},
        **{f"{name}_tokens": _plausible(getattr(usage, name)) for name in _FIGURES},
        # A name that the database cannot store would keep the whole batch out.
        "model": "".join([c for c in entry.model[:_MODEL_CHARS] if c.isprintable()]),
        "day": day_of(entry.at),
        "cost_usd": _plausible(price.usd),
        "cost_source": price.source,
        "raw": msgspec.json.encode(entry.raw).decode(),
    }


def _plausible(figure: N | None) -> N | None:
    """The figure, or None if it is impossibly large."""
    return figure if figure is not None and 0 <= figure < _MOST else None


def day_of(at: float) -> str:
    """The UTC day of a time, which is the same for every gateway of a team."""
    return time.strftime("%Y-%m-%d", time.gmtime(at))


def totals(
    database: Database, by: GroupBy, *, since: float = 0.0, only: Collection[str] | None = None
) -> list[UsageTotal]:
    """What was used since a time: sessions and days newest first, models and keys by number of requests.

    `only`: the sessions to count. The requests of a team may be in another database than the sessions.
    """
    choice = {"has_choice": int(only is not None), "only": _encode(dict.fromkeys(only or (), 1)).decode()}
    rows = database.rows("gateway.usage", {"since": since, "by": by, **choice})
    found = {row["name"] or None: _total(row, row["name"]) for row in rows}
    if by == "session":
        for row in database.rows("gateway.last_prompts"):
            if row["session"] in found:
                tokens = int(row["tokens"])
                found[row["session"]] = msgspec.structs.replace(found[row["session"]], last_prompt=tokens)
    if by in ("model", "key"):
        return sorted(found.values(), key=lambda one: (-one.requests, one.name or ""))
    if by == "day":
        return sorted(found.values(), key=lambda one: one.name or "", reverse=True)
    return sorted(found.values(), key=lambda one: (-one.last_at, one.name or ""))


def one_source(one: str | None, other: str | None) -> str | None:
    """The source of two costs together."""
    return one or other if one == other or None in (one, other) else "several"


def _total(row: DatabaseRow, name: str) -> UsageTotal:
    return UsageTotal(
        name=name or None,
        requests=int(row["requests"]),
        usage=Usage(*[None if row[f"{name}_tokens"] is None else int(row[f"{name}_tokens"]) for name in _FIGURES]),
        cost_usd=None if row["cost_usd"] is None else float(row["cost_usd"]),
        unpriced=int(row["unpriced"]),
        unrecorded=int(row["unrecorded"]),
        last_at=float(row["last_at"]),
        cost_source=row["cost_source"],
    )


def sum_known(one: float | None, other: float | None) -> float | None:
    """The sum of what is known; None if nothing is."""
    known = [figure for figure in (one, other) if figure is not None]
    return sum(known) if known else None


PREFIX = "ssn_gateway_"
_NAME = re.compile(r"[a-z0-9][a-z0-9._@+-]{0,63}")


class GatewayKey(msgspec.Struct, frozen=True, kw_only=True):
    """A key that may send requests, with its budget per UTC day."""

    id: str
    name: str
    created_at: float
    usd_per_day: float | None = None
    tokens_per_day: int | None = None
    # Whether requests beyond the budget are refused; otherwise they are only logged.
    stops: bool = False
    revoked_at: float | None = None


def make_key(
    database: Database,
    name: str,
    *,
    now: float,
    usd_per_day: float | None = None,
    tokens_per_day: int | None = None,
    stops: bool = False,
) -> tuple[GatewayKey, str]:
    """Make a key; returns it with its token, which is shown only once."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"a key name has up to 64 characters (a-z 0-9 . _ @ + -) and begins with a letter or digit, not {name!r}"
        )
    for what, amount in (("dollars", usd_per_day), ("tokens", tokens_per_day)):
        if amount is not None and not 0 < amount < 1e15:
            raise UsageError(f"a budget is a number of {what} above 0, not {amount!r}")
    if stops and usd_per_day is None and tokens_per_day is None:
        raise UsageError("`--stop` needs a budget: give one in dollars or tokens a day")
    # The prefix tells a gateway key from a provider's, which must be passed on.
    token = PREFIX + secrets.token_urlsafe(32)
    made = GatewayKey(
        id=secrets.token_urlsafe(12),
        name=name,
        created_at=float(now),
        usd_per_day=usd_per_day,
        tokens_per_day=tokens_per_day,
        stops=stops,
    )
    values = {field: getattr(made, field) for field in made.__struct_fields__ if field != "revoked_at"}
    with database.write():
        count = database.run("gateway.add_key", {**values, "stops": int(stops), "token_hash": hash_of(token)})
    if not count:
        raise Conflict(f"the name {name!r} is taken, and names are never reused: choose another", status="taken")
    return made, token


def revoke_key(database: Database, name: str, *, now: float) -> GatewayKey:
    """Revoke a key. Revoking it twice changes nothing."""
    with database.write():
        database.run("gateway.revoke_key", {"name": name, "now": float(now)})
        row = database.row("gateway.key_named", {"name": name})
    if row is None:
        raise NotFound(f"key {name!r} not found: run `seasoned gateway key` to see all keys")
    return _from_row(row)


def list_keys(database: Database) -> list[GatewayKey]:
    """All keys, oldest first, including revoked ones."""
    return [_from_row(row) for row in database.rows("gateway.keys")]


class KeyCache:
    """Valid keys, in memory so that requests do not wait for the store; reloaded every half second."""

    def __init__(self) -> None:
        self._known: dict[str, GatewayKey] = {}

    def load(self, database: Database) -> None:
        """Load the keys from the store; if that fails, the known ones stay."""
        rows = database.rows("gateway.keys")
        self._known = {str(row["token_hash"]): _from_row(row) for row in rows if row["revoked_at"] is None}

    def find(self, token: str) -> GatewayKey | None:
        """The key of a token."""
        # Looked up by its hash: the time this takes reveals nothing about the token.
        return self._known.get(hash_of(token))

    @property
    def keys(self) -> tuple[GatewayKey, ...]:
        return tuple(self._known.values())


def hash_of(token: str) -> str:
    """The hash that is stored in place of a token."""
    # A token has 256 random bits: a slow hash would add nothing.
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _from_row(row: DatabaseRow) -> GatewayKey:
    return GatewayKey(
        id=str(row["id"]),
        name=str(row["name"]),
        created_at=float(row["created_at"]),
        usd_per_day=None if row["usd_per_day"] is None else float(row["usd_per_day"]),
        tokens_per_day=None if row["tokens_per_day"] is None else int(row["tokens_per_day"]),
        stops=bool(row["stops"]),
        revoked_at=None if row["revoked_at"] is None else float(row["revoked_at"]),
    )


class KeySpending(msgspec.Struct, frozen=True):
    """What a key has used today, as far as it is in the store."""

    tokens: int
    usd: float
    # Requests that used tokens and have no known price; they are not in `usd`.
    unpriced: int = 0


def spent(database: Database, key_name: str, day: str) -> KeySpending:
    """What a key used on a day; a request without a known price counts by its tokens only."""
    row = database.row("gateway.spent", {"key_name": key_name, "day": day})
    assert row is not None  # a sum is one row, even of nothing
    tokens = int(row["prompt_tokens"] or 0) + int(row["output_tokens"] or 0)
    return KeySpending(tokens, float(row["cost_usd"] or 0.0), int(row["unpriced"] or 0))


class Budgets:
    """Keys that are over their budget today, in memory; reloaded after every batch."""

    def __init__(self) -> None:
        self._day = ""
        self._over: dict[str, str] = {}
        self._blind: dict[str, str] = {}

    def load(self, database: Database, keys: Iterable[GatewayKey], *, now: float) -> list[str]:
        """Reload the spending; returns a sentence for each key newly over its budget, or with one that cannot hold."""
        day = day_of(now)
        before = (self._over, self._blind) if day == self._day else ({}, {})
        used = {key: spent(database, key.name, day) for key in keys if key.usd_per_day or key.tokens_per_day}
        self._over = {key.name: why for key, one in used.items() if (why := over_budget(key, one)) is not None}
        self._blind = {key.name: why for key, one in used.items() if (why := blind_budget(key, one)) is not None}
        self._day = day
        pairs = zip((self._over, self._blind), before, strict=True)
        return [why for now_told, told in pairs for name, why in now_told.items() if name not in told]

    @property
    def over(self) -> int:
        """How many keys are over their budget."""
        return len(self._over)

    def refusal(self, key: GatewayKey, *, now: float) -> str | None:
        """Why a request with this key is refused; None if it may pass."""
        return self._over.get(key.name) if key.stops and day_of(now) == self._day else None


def over_budget(key: GatewayKey, found: KeySpending) -> str | None:
    """The sentence for a key that has used up its day; None if it has not."""
    if key.tokens_per_day is not None and found.tokens >= key.tokens_per_day:
        return f"The key {key.name!r} has used {found.tokens} of its {key.tokens_per_day} tokens for today (UTC)."
    if key.usd_per_day is not None and found.usd >= key.usd_per_day:
        return f"The key {key.name!r} has used ${found.usd:.2f} of its ${key.usd_per_day:.2f} for today (UTC)."
    return None


def blind_budget(key: GatewayKey, found: KeySpending) -> str | None:
    """The sentence for a key whose budget in dollars cannot hold, because prices are unknown; None if it can."""
    if key.usd_per_day is None or not found.unpriced:
        return None
    return (
        f"The budget of the key {key.name!r} cannot be enforced: {found.unpriced} of its requests today (UTC) have no"
        " known price. Set `prices_of` for the upstream in gateway.toml, or give the key a budget in tokens."
    )


# A recording may be this late without being lost.
_LATE_SECONDS = 60.0


def problems(database: Database, *, now: float) -> list[str]:
    """What a person should know about the last day: answers that were not recorded, and budgets that cannot hold."""
    row = database.row("gateway.recent_turns", {"since": now - 86_400.0, "until": now - _LATE_SECONDS})
    found = []
    # Where nothing is recorded, recording is switched off.
    if row is not None and row["turns"] and 0 < (row["recorded"] or 0) < row["turns"]:
        lost = row["turns"] - row["recorded"]
        found.append(f"{lost} of {row['turns']} answers of the last day were not recorded; see the gateway's log")
    active = [key for key in list_keys(database) if key.revoked_at is None and key.usd_per_day is not None]
    blind = (blind_budget(key, spent(database, key.name, day_of(now))) for key in active)
    return found + [why for why in blind if why is not None]
