"""Gateway keys and their budgets: made and revoked on the command line, shown once, stored as a hash."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable
from hashlib import sha256

import msgspec

from seasoned.errors import Conflict, NotFound, UsageError
from seasoned.gateway.account.totals import day_of
from seasoned.store import Database, DatabaseRow

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
        raise NotFound(f"key {name!r} not found: run `seasoned gateway key list` to see all keys")
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
        # By the hash: how long it takes says nothing about a token of 256 bits.
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


def spent(database: Database, key_name: str, day: str) -> KeySpending:
    """What a key used on a day; a request without a known price counts by its tokens only."""
    row = database.row("gateway.spent", {"key_name": key_name, "day": day})
    assert row is not None  # a sum is one row, even of nothing
    return KeySpending(int(row["prompt_tokens"] or 0) + int(row["output_tokens"] or 0), float(row["cost_usd"] or 0.0))


class Budgets:
    """Keys that are over their budget today, in memory; reloaded after every batch."""

    def __init__(self) -> None:
        self._day = ""
        self._over: dict[str, str] = {}

    def load(self, database: Database, keys: Iterable[GatewayKey], *, now: float) -> list[str]:
        """Reload the spending; returns a sentence for each key that has newly gone over its budget."""
        day = day_of(now)
        before = self._over if day == self._day else {}
        over = {
            key.name: why
            for key in keys
            if (key.usd_per_day is not None or key.tokens_per_day is not None)
            and (why := over_budget(key, spent(database, key.name, day))) is not None
        }
        self._day, self._over = day, over
        return [why for name, why in over.items() if name not in before]

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
