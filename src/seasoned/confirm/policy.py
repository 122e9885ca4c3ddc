"""What a person has laid down about confirmations in `policy.toml`. It can add to the ten actions, never take away."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from seasoned.command.action import HIGH_RISK, check_action
from seasoned.confirm.request.request import finite_number
from seasoned.errors import CannotDo, UsageError
from seasoned.store import Database

_SAFE_ADDRESS = re.compile(r"https://[^/]|http://(?:127\.0\.0\.1|localhost|\[::1\])[:/]")


class AuditRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the head of the audit is sent, so that nobody can write all of it anew without being found out."""

    export: Annotated[str, msgspec.Meta(min_length=1, max_length=1000)] | None = None
    """A file, or an address that takes signed webhooks."""
    every_seconds: Annotated[float, msgspec.Meta(gt=0, le=86_400 * 366)] = 3600


def check_export(to: str) -> str | None:
    """Why heads cannot be sent there; elsewhere than on this machine somebody on the way could hold one back."""
    if "://" not in to or _SAFE_ADDRESS.match(to):
        return None
    return "expected a file, or an address that begins with https://."


FILE = "policy.toml"
_MOST_BYTES = 1_000_000
_Seconds = Annotated[float, msgspec.Meta(gt=0, le=86_400 * 366)]
_Timeout = Annotated[float, msgspec.Meta(ge=30, le=3600)]
_Count = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
_Votes = Annotated[int, msgspec.Meta(ge=1, le=50)]
_Text = Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]
_Port = Annotated[int, msgspec.Meta(ge=0, le=65_535)]
ChannelKind = Literal["telegram", "discord", "webhook"]


class AllowRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An action that needs no person, in one session or in all; never one of the ten."""

    action: str
    session: _Text | None = None
    """The session's key; without one the rule holds for all."""
    expires: datetime | None = None
    """When it ends. Without a time it holds until it is taken out."""

    def covers(self, action: str, session_key: str, now: float) -> bool:
        """Whether the rule speaks about this action, in this session, at this time."""
        if action in HIGH_RISK or action != self.action:
            return False
        in_time = self.expires is None or now < self.expires.timestamp()
        return in_time and (self.session is None or self.session == session_key)


class ActionRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What differs for one action; what is left out is as for the others."""

    count: _Count | None = None
    total: _Count | None = None
    window_seconds: _Seconds | None = None
    timeout_seconds: _Timeout | None = None
    approvals: _Votes = 1
    """How many people must agree; any denial wins."""
    approvers: tuple[_Text, ...] = ()
    """Names of the credentials that may decide; without any, every approver may."""


class RateRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many requests may come in a stretch of time: no agent uses up another's, and people are not flooded."""

    count: _Count = 10
    """Of one requester for one action."""
    total: _Count | None = None
    """Of all requesters for one action; five times the count where nothing is said."""
    requester_total: _Count | None = None
    """Of one requester for all actions; six times the count where nothing is said."""
    window_seconds: _Seconds = 3600


class RateLimit(msgspec.Struct, frozen=True):
    """One limit that a request is under: of this requester, of this action, or of both together."""

    of_action: bool
    of_requester: bool
    most: int
    window_seconds: float


class TimeoutRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How long a request waits for a person."""

    default_seconds: _Timeout = 300
    min_seconds: _Timeout = 30
    max_seconds: _Timeout = 3600


class Channel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A way to reach people, and who of them may decide by it."""

    kind: ChannelKind
    to: str = ""
    """The chat (Telegram), the channel (Discord) or the address (webhook); else that of the configuration."""
    token_file: Path | None = None
    """The file with the bot's token or the webhook's secret, else one of the secrets; a policy never holds it."""
    api_url: str | None = None
    """Another address of the service, for a server of one's own."""
    public_key: str | None = None
    """Discord: the key with which it signs what people press."""
    people: dict[str, _Text] = {}
    """The id of a person on this channel -> the name of the approver's credential; nobody else decides."""
    links: bool = False
    """Whether its messages carry a one-time link for each of these people; only where nobody else reads them."""


class Listen(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the service listens: loopback, unless TLS or `allow_plain` says otherwise."""

    host: _Text = "127.0.0.1"
    port: _Port = 7327
    socket: Path | None = None
    """A Unix socket as well, which tells who is on the other side."""
    peers: dict[str, _Text] = {}
    """User ids at the other end of the Unix socket -> the name of the credential that they act as without a token."""
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    allow_plain: bool = False
    """Listen beyond loopback without TLS, for instance behind a proxy that has it."""
    public_url: str | None = None
    """The address that links in notifications begin with."""


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that is laid down. Questions are asked of its functions, which know the ten."""

    single_operator: bool = False
    redeem_seconds: _Seconds = 300
    """How long an approval may be used, once."""
    timeout: TimeoutRule = TimeoutRule()
    rate: RateRule = RateRule()
    audit: AuditRule = AuditRule()
    allow: tuple[AllowRule, ...] = ()
    action: dict[str, ActionRule] = {}
    channel: dict[str, Channel] = {}
    listen: Listen = Listen()

    @property
    def default_timeout(self) -> float:
        return self.timeout.default_seconds

    @property
    def min_timeout(self) -> float:
        return self.timeout.min_seconds

    @property
    def max_timeout(self) -> float:
        return self.timeout.max_seconds

    @property
    def channels(self) -> tuple[str, ...]:
        """The names of the channels, in the file's order."""
        return tuple(self.channel)

    def timeout_seconds(self, action: str, asked: object = None) -> float:
        """How long a request waits: what was asked for, within bounds; what is no number gives the action's default."""
        rule = self.action.get(action)
        usual = rule.timeout_seconds if rule is not None and rule.timeout_seconds is not None else self.default_timeout
        given = finite_number(asked)
        return float(min(max(usual if given is None else given, self.min_timeout), self.max_timeout))

    def rate_limits(self, action: str) -> tuple[RateLimit, ...]:
        """How many requests may come within how many seconds, the narrowest first; every one of them holds."""
        rule = self.action.get(action, ActionRule())
        count = rule.count or self.rate.count
        window = rule.window_seconds or self.rate.window_seconds
        total = rule.total or (5 * count if rule.count else self.rate.total or 5 * count)
        # Whoever grants one action more often than that means it.
        of_requester = self.rate.requester_total or max(6 * self.rate.count, count)
        return (
            RateLimit(True, True, count, window),
            RateLimit(True, False, total, window),
            RateLimit(False, True, of_requester, self.rate.window_seconds),
        )

    def quorum(self, action: str) -> int:
        """How many people must agree."""
        return self.action.get(action, ActionRule()).approvals

    def approvers(self, action: str) -> frozenset[str] | None:
        """Who may decide about an action; None where every approver may."""
        return frozenset(self.action.get(action, ActionRule()).approvers) or None

    def allows(self, action: str, session_key: str, now: float) -> AllowRule | None:
        """The rule by which an action needs no person; never one for the ten, whatever the rules say."""
        try:
            name = check_action(action)
        except UsageError:
            return None
        if name in HIGH_RISK:
            return None
        return next((rule for rule in self.allow if rule.covers(name, session_key, now)), None)

    def gives_up(self) -> str | None:
        """What the single-operator mode gives up, as a sentence for people; None where the mode is off."""
        return GIVES_UP if self.single_operator else None


GIVES_UP = (
    "Single-operator mode: the person who runs the agent may also approve what it asks for, so nobody else looks at"
    " it; whoever holds that person's terminal, phone or passphrase can approve anything. The agent's own credential"
    " still approves nothing."
)
DEFAULT = Policy()


def load_policy(path: Path) -> Policy:
    """The policy in a file, or the default where there is none. What cannot be understood is refused with its place."""
    return load_with_digest(path)[0]


def load_with_digest(path: Path) -> tuple[Policy, str]:
    """The same with the SHA-256 of the very bytes that were read: a file can be another one at the next look."""
    data = policy_bytes(path)
    digest = sha256(data).hexdigest()
    if not data:
        return DEFAULT, digest
    try:
        return read_policy(data.decode("utf-8"), file=path), digest
    except UnicodeDecodeError as error:
        raise UsageError(f"cannot read the policy {str(path)!r}: {error}; it must be a text in UTF-8.") from error


def policy_bytes(path: Path) -> bytes:
    """What a policy file holds; nothing where there is none."""
    try:
        with path.open("rb") as handle:
            found = os.fstat(handle.fileno())
            data = handle.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise UsageError(f"cannot read the policy {str(path)!r}: {error.strerror}; mend its rights.") from error
    if os.name == "posix" and found.st_mode & stat.S_IWOTH:
        raise UsageError(f"{str(path)!r} can be written by every user of the machine; run chmod 600 on it.")
    if len(data) > _MOST_BYTES:
        raise UsageError(f"{str(path)!r} is too long; a policy has at most {_MOST_BYTES} bytes.")
    return data


def read_policy(text: str, *, file: Path) -> Policy:
    """The policy that a text lays down; `file` is where it lies, for messages and for paths in it."""
    try:
        raw = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{str(file)!r} is no TOML: {error}; mend that line.") from error
    return _Reading(file, text).policy(raw)


_HEADER = re.compile(r"\s*\[\[?\s*(?P<path>[^\[\]#]+?)\s*\]")
_KEY = re.compile(r"\s*(?P<path>(?:[\w-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[\w-]+|\"[^\"]*\"|'[^']*'))*)\s*=")
_PART = re.compile(r"[\w-]+|\"[^\"]*\"|'[^']*'")
_AT = re.compile(r" - at `\$(?P<path>.*)`\Z")
_STEP = re.compile(r"(?<=\.)\w+|(?<=\[)\d+(?=\])")
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>.*)`")
_T = TypeVar("_T")
_Keys = tuple[str | int, ...]


def _lines(text: str) -> dict[_Keys, int]:
    """Where each table and key stands, for messages: a rough reading that never fails."""
    found: dict[_Keys, int] = {}
    table: _Keys = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = tuple(part.strip("\"'") for part in _PART.findall(header["path"]))
            if line.lstrip().startswith("[["):
                table = (*table, sum(1 for keys in found if keys[:-1] == table and isinstance(keys[-1], int)))
            found.setdefault(table, number)
        elif key := _KEY.match(line):
            found.setdefault((*table, *(part.strip("\"'") for part in _PART.findall(key["path"]))), number)
    return found


class _Reading:
    """One file on its way to a policy: it knows where everything stands."""

    def __init__(self, file: Path, text: str) -> None:
        self.file = file
        self.text = text

    def wrong(self, keys: _Keys, what: str) -> UsageError:
        """An error that names the file, the line where one is known, and the key."""
        lines = _lines(self.text)
        line = next((lines[keys[:end]] for end in range(len(keys), 0, -1) if keys[:end] in lines), None)
        place = f", line {line}" if line is not None else ""
        name = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys).lstrip(".")
        return UsageError(f"{str(self.file)!r}{place}: {name + ': ' if name else ''}{what}")

    def policy(self, raw: dict[str, Any]) -> Policy:
        """The whole, each part first by its type and then by what types cannot say."""
        raw = dict(raw)
        actions = {name: self.value(("action", name), each, ActionRule) for name, each in self.tables(raw, "action")}
        channels = {name: self.channel(name, each) for name, each in self.tables(raw, "channel")}
        policy = self.value((), raw, Policy)
        policy = msgspec.structs.replace(
            policy,
            allow=tuple(self.allow(at, rule) for at, rule in enumerate(policy.allow)),
            action=self.actions(actions),
            channel=channels,
            audit=self.audit(policy.audit),
        )
        limits = policy.timeout
        if not limits.min_seconds <= limits.default_seconds <= limits.max_seconds:
            raise self.wrong(("timeout",), "expected min_seconds <= default_seconds <= max_seconds.")
        if (policy.listen.tls_certificate is None) != (policy.listen.tls_key is None):
            raise self.wrong(("listen",), "tls_certificate and tls_key belong together; give both or neither.")
        return policy

    def tables(self, raw: dict[str, Any], name: str) -> list[tuple[str, Any]]:
        found = raw.pop(name, {})
        if not isinstance(found, dict):
            raise self.wrong((name,), f"expected tables such as [{name}.…], got {found!r}.")
        return list(found.items())

    def value(self, keys: _Keys, raw: Any, kind: type[_T]) -> _T:
        try:
            return msgspec.convert(raw, kind, dec_hook=self.path)
        except msgspec.ValidationError as error:
            said = str(error)
            if place := _AT.search(said):
                steps = _STEP.findall(place["path"])
                keys = (*keys, *(int(step) if step.isdigit() else step for step in steps))
                said = said[: place.start()]
            if unknown := _UNKNOWN.fullmatch(said):
                known = ", ".join(sorted(_fields(kind, keys)))
                keys = (*keys, unknown["name"])
                raise self.wrong(keys, f"unknown key {unknown['name']!r}; known are {known}.") from error
            raise self.wrong(keys, f"{said[:1].lower()}{said[1:].replace('`', '')}.") from error

    def path(self, kind: type, value: Any) -> Any:
        if kind is Path and isinstance(value, str) and value:
            return self.file.parent / Path(value).expanduser()
        raise msgspec.ValidationError(f"Expected `a path`, got {value!r}")

    def name(self, keys: _Keys, name: str) -> str:
        try:
            return check_action(name)
        except UsageError as error:
            raise self.wrong(keys, str(error)) from error

    def allow(self, at: int, rule: AllowRule) -> AllowRule:
        name = self.name(("allow", at, "action"), rule.action)
        if name in HIGH_RISK:
            raise self.wrong(
                ("allow", at, "action"), f"{name!r} always needs a person and cannot be allowed; take the rule out."
            )
        if rule.expires is not None and rule.expires.tzinfo is None:
            raise self.wrong(("allow", at, "expires"), "expected a time with its zone, such as 2030-01-31T18:00:00Z.")
        return msgspec.structs.replace(rule, action=name)

    def audit(self, wish: AuditRule) -> AuditRule:
        if wish.export is None:
            return wish
        if (wrong := check_export(wish.export)) is not None:
            raise self.wrong(("audit", "export"), wrong)
        if "://" in wish.export:
            return wish
        return msgspec.structs.replace(wish, export=str(self.file.parent / Path(wish.export).expanduser()))

    def actions(self, rules: dict[str, ActionRule]) -> dict[str, ActionRule]:
        named: dict[str, ActionRule] = {}
        for spelled, rule in rules.items():
            keys: _Keys = ("action", spelled)
            name = self.name(keys, spelled)
            if name in named:
                raise self.wrong(keys, f"{name!r} is there twice, in two spellings; keep one.")
            people = len(set(rule.approvers))
            if rule.approvers and (people < len(rule.approvers) or people < rule.approvals):
                raise self.wrong((*keys, "approvers"), f"expected at least {rule.approvals} different names.")
            named[name] = rule
        return named

    def channel(self, name: str, raw: Any) -> Channel:
        keys: _Keys = ("channel", name)
        if isinstance(raw, dict) and "kind" not in raw:
            raw = {"kind": name, **raw}
        channel = self.value(keys, raw, Channel)
        if channel.links and channel.kind != "webhook" and len(set(channel.people.values())) > 1:
            # Everybody in the chat would hold everybody's link, and one of them could vote for all.
            raise self.wrong((*keys, "links"), "a chat with links has one person; give each a channel of their own.")
        return channel


def _fields(kind: type, keys: _Keys) -> tuple[str, ...]:
    """The keys that a table knows, found by the way that leads to it."""
    nested: dict[str | int, type] = {
        "allow": AllowRule,
        "timeout": TimeoutRule,
        "rate": RateRule,
        "audit": AuditRule,
        "listen": Listen,
    }
    if kind is Policy and keys:
        kind = nested.get(keys[0], kind)
    return tuple(getattr(kind, "__struct_fields__", ()))


def check_agreed(database: Database, file: Path, digest: str) -> None:
    """Nothing, if a policy of this digest was agreed to, or none was yet; CannotDo otherwise."""
    row = database.row("service.agreed_policy")
    if row is None:
        return
    if msgspec.json.decode(row["document"])["sha256"] != digest:
        raise CannotDo(
            f"{str(file)!r} is not the policy that was agreed to: put it into force with "
            "`seasoned confirm policy use`, or bring the agreed one back."
        )
