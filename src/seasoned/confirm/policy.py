"""The policy file `policy.toml`: limits, approvers, channels, addresses. It can never exempt one of the ten actions."""

from __future__ import annotations

import ipaddress
import os
import re
import stat
import tomllib
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from seasoned.command.action import HIGH_RISK, check_action
from seasoned.confirm.audit.chain import RecordedState
from seasoned.confirm.request.request import finite_number
from seasoned.errors import CannotDo, UsageError
from seasoned.store import Database

FILE = "policy.toml"
_MOST_BYTES = 1_000_000
_Seconds = Annotated[float, msgspec.Meta(gt=0, le=86_400 * 366)]
LEAST_TIMEOUT_SECONDS, MOST_TIMEOUT_SECONDS = 30.0, 3600.0
_Timeout = Annotated[float, msgspec.Meta(ge=LEAST_TIMEOUT_SECONDS, le=MOST_TIMEOUT_SECONDS)]
_Count = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
_Votes = Annotated[int, msgspec.Meta(ge=1, le=50)]
_Text = Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]
_Port = Annotated[int, msgspec.Meta(ge=0, le=65_535)]
ChannelKind = Literal["telegram", "discord", "webhook"]


class AllowRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An action that is approved without asking, in one session or in all; never one of the ten."""

    action: str
    # The session key; without it the rule applies to all sessions.
    session: _Text | None = None

    def covers(self, action: str, session_key: str) -> bool:
        """Whether the rule applies to this action, in this session."""
        is_meant = action == self.action and action not in HIGH_RISK
        return is_meant and self.session in (None, session_key)


class ActionRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of one action; those left out are as for the others."""

    count: _Count | None = None
    window_seconds: _Seconds | None = None
    timeout_seconds: _Timeout | None = None
    # How many people must approve; one denial is enough to deny.
    approvals: _Votes = 1
    # Names of the credentials that may decide; empty means every approver.
    approvers: tuple[_Text, ...] = ()


class RateRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many requests may be submitted in a window, so that no agent blocks another and people can keep up."""

    # By one requester for one action. All requesters together get five times as many, one requester for all actions
    # six times; of all agents of one person six times as many wait at the same time.
    count: _Count = 10
    window_seconds: _Seconds = 3600


class RateLimit(msgspec.Struct, frozen=True):
    """One limit for a request: for its requester, for its action, or for both together."""

    of_action: bool
    of_requester: bool
    most: int
    window_seconds: float


class TimeoutRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How long a request waits for a person that does not say it."""

    default_seconds: _Timeout = 300


class Channel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A way to reach people, and which of them may decide over it."""

    kind: ChannelKind
    # The chat (Telegram), the channel (Discord) or the URL (webhook).
    to: _Text
    # The file with the bot's token or the webhook's secret; by default the configured secret. Never in the policy.
    token_file: Path | None = None
    # Discord: the key that it signs button presses with.
    public_key: str | None = None
    # Ids of people on this channel, with the names of their approver credentials. Only they decide.
    people: dict[str, _Text] = {}


class Listen(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the service listens: loopback, unless there is TLS or `allow_plain` is set."""

    host: _Text = "127.0.0.1"
    port: _Port = 7327
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    # Listen beyond loopback without TLS, for instance behind a proxy that has it.
    allow_plain: bool = False
    # Where people and chat services reach it from outside.
    public_url: str | None = None


def is_loopback(address: str) -> bool:
    """Whether an address can only be reached from this machine; False for anything that is not an address."""
    try:
        return ipaddress.ip_address(address.partition("%")[0]).is_loopback
    except ValueError:
        return False


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole policy. Use its methods: they never exempt one of the ten actions."""

    single_operator: bool = False
    # How long an approval can be redeemed.
    redeem_seconds: _Seconds = 300
    timeout: TimeoutRule = TimeoutRule()
    rate: RateRule = RateRule()
    allow: tuple[AllowRule, ...] = ()
    # Actions for which no allowance of `seasoned confirm allow` is made or counts.
    always_ask: tuple[_Text, ...] = ()
    action: dict[str, ActionRule] = {}
    channel: dict[str, Channel] = {}
    listen: Listen = Listen()

    def timeout_seconds(self, action: str, asked: object = None) -> float:
        """How long a request waits: the given number within bounds, or the action's default if it is not a number."""
        usual = self.action.get(action, ActionRule()).timeout_seconds or self.timeout.default_seconds
        given = finite_number(asked)
        return float(min(max(usual if given is None else given, LEAST_TIMEOUT_SECONDS), MOST_TIMEOUT_SECONDS))

    def rate_limits(self, action: str) -> tuple[RateLimit, ...]:
        """The rate limits of an action, narrowest first; all of them apply."""
        rule = self.action.get(action, ActionRule())
        count = rule.count or self.rate.count
        window = rule.window_seconds or self.rate.window_seconds
        return (
            RateLimit(True, True, count, window),
            RateLimit(True, False, 5 * count, window),
            # A higher limit for one action is meant to be usable.
            RateLimit(False, True, max(6 * self.rate.count, count), self.rate.window_seconds),
        )

    def quorum(self, action: str) -> int:
        """How many people must approve."""
        return self.action.get(action, ActionRule()).approvals

    def approvers(self, action: str) -> frozenset[str] | None:
        """Who may decide about an action; None means every approver."""
        return frozenset(self.action.get(action, ActionRule()).approvers) or None

    def listed_people(self) -> list[tuple[str, str]]:
        """Every place that lists people who decide, with each name there."""
        rules = [(f"action.{name}.approvers", each) for name, rule in self.action.items() for each in rule.approvers]
        return rules + [
            (f"channel.{name}.people", each) for name, one in self.channel.items() for each in one.people.values()
        ]

    def allows(self, action: str, session_key: str) -> bool:
        """Whether a rule allows an action without asking; never one of the ten."""
        return any(rule.covers(action, session_key) for rule in self.allow)

    def gives_up(self) -> str | None:
        """What the single-operator mode gives up, as text for people; None if the mode is off."""
        return GIVES_UP if self.single_operator else None


GIVES_UP = (
    "Single-operator mode: the person who runs the agent may also approve what it asks for, without a second"
    " person; anyone with that person's terminal, phone or passphrase can approve anything. The agent's own credential"
    " still approves nothing."
)
DEFAULT = Policy()


def load_policy(path: Path) -> Policy:
    """The policy in a file, or the default if there is none. Errors name the key."""
    return load_with_digest(path)[0]


def load_with_digest(path: Path) -> tuple[Policy, str]:
    """The policy and the SHA-256 of the bytes that were read: the file could change before it is hashed again."""
    data = policy_bytes(path)
    digest = sha256(data).hexdigest()
    if not data:
        return DEFAULT, digest
    try:
        return read_policy(data.decode("utf-8"), file=path), digest
    except UnicodeDecodeError as error:
        raise UsageError(f"cannot read the policy {str(path)!r}: {error}; it must be UTF-8 text.") from error


def policy_bytes(path: Path) -> bytes:
    """The bytes of a policy file; empty if there is none."""
    try:
        with path.open("rb") as handle:
            # Of the file that is read, not of one that replaces it meanwhile.
            found = os.fstat(handle.fileno())
            data = handle.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise UsageError(f"cannot read the policy {str(path)!r}: {error.strerror}; fix its permissions.") from error
    if os.name == "posix" and found.st_mode & stat.S_IWOTH:
        raise UsageError(f"{str(path)!r} can be written by every user of this machine; run `chmod 600` on it.")
    if len(data) > _MOST_BYTES:
        raise UsageError(f"{str(path)!r} is too long; a policy has at most {_MOST_BYTES} bytes.")
    return data


# msgspec ends its messages with the place of a mistake, as in: - at `$.rate.count`.
_AT = re.compile(r"(?P<said>.*?)(?: - at `\$\.?(?P<place>.*)`)?")
_T = TypeVar("_T")


def read_policy(text: str, *, file: Path) -> Policy:
    """The policy in a text; `file` is its path, for messages and for relative paths in it."""
    try:
        raw = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{str(file)!r} is not valid TOML: {error}; fix that line.") from error
    # One by one, because msgspec does not name the key of a dict in its messages.
    actions = {name: _value(file, f"action.{name}", each, ActionRule) for name, each in _tables(file, raw, "action")}
    channels = {
        # [channel.telegram] needs no kind.
        name: _value(file, f"channel.{name}", {"kind": name, **each} if isinstance(each, dict) else each, Channel)
        for name, each in _tables(file, raw, "channel")
    }
    policy = _value(file, "", raw, Policy)
    if (policy.listen.tls_certificate is None) != (policy.listen.tls_key is None):
        raise _wrong(file, "listen", "tls_certificate and tls_key belong together; give both or neither.")
    allow = tuple(_allow_rule(file, f"allow[{at}]", rule) for at, rule in enumerate(policy.allow))
    always_ask = tuple(_action_name(file, f"always_ask[{at}]", name) for at, name in enumerate(policy.always_ask))
    named = _by_name(file, actions)
    return msgspec.structs.replace(policy, allow=allow, always_ask=always_ask, action=named, channel=channels)


def _tables(file: Path, raw: dict[str, Any], name: str) -> list[tuple[str, Any]]:
    found = raw.pop(name, {})
    if not isinstance(found, dict):
        raise _wrong(file, name, f"expected tables such as [{name}.…], got {found!r}.")
    return list(found.items())


def _value(file: Path, place: str, raw: Any, kind: type[_T]) -> _T:
    def path(wanted: type, value: Any) -> Any:
        if wanted is Path and isinstance(value, str) and value:
            return file.parent / Path(value).expanduser()
        raise msgspec.ValidationError(f"Expected `a path`, got {value!r}")

    try:
        return msgspec.convert(raw, kind, dec_hook=path)
    except msgspec.ValidationError as error:
        found = _AT.fullmatch(str(error))
        said, inner = (str(error), None) if found is None else found.groups()
        whole = ".".join(part for part in (place, inner) if part)
        raise _wrong(file, whole, f"{said[:1].lower()}{said[1:].replace('`', '')}.") from error


def _allow_rule(file: Path, place: str, rule: AllowRule) -> AllowRule:
    name = _action_name(file, f"{place}.action", rule.action)
    if name in HIGH_RISK:
        said = f"{name!r} always needs a person and cannot be allowed; remove the rule."
        raise _wrong(file, f"{place}.action", said)
    return msgspec.structs.replace(rule, action=name)


def _by_name(file: Path, rules: dict[str, ActionRule]) -> dict[str, ActionRule]:
    named: dict[str, ActionRule] = {}
    for spelled, rule in rules.items():
        place = f"action.{spelled}"
        name = _action_name(file, place, spelled)
        if name in named:
            raise _wrong(file, place, f"{name!r} appears twice, in two spellings; keep one.")
        people = len(set(rule.approvers))
        if rule.approvers and (people < len(rule.approvers) or people < rule.approvals):
            raise _wrong(file, f"{place}.approvers", f"expected at least {rule.approvals} different names.")
        named[name] = rule
    return named


def _action_name(file: Path, place: str, name: str) -> str:
    try:
        return check_action(name)
    except UsageError as error:
        raise _wrong(file, place, str(error)) from error


def _wrong(file: Path, place: str, what: str) -> UsageError:
    """An error that names the file and the key."""
    return UsageError(f"{str(file)!r}: {place + ': ' if place else ''}{what}")


def check_agreed(database: Database, file: Path, digest: str) -> None:
    """Return if this policy file was approved, or none was yet; otherwise raise CannotDo."""
    approved = RecordedState(database).update().policy
    # Until the first admin exists, no policy has been approved.
    if approved is not None and approved != digest:
        raise CannotDo(
            f"{str(file)!r} is not the approved policy: apply it with "
            "`seasoned confirm policy FILE --use`, or restore the approved one."
        )
