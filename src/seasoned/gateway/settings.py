"""The settings in `gateway.toml`: upstreams, access and limits."""

from __future__ import annotations

import logging
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

import msgspec

from seasoned.config import read_settings
from seasoned.errors import UsageError

FILE = "gateway.toml"
Api = Literal["openai", "anthropic"]
Mode = Literal["pass-through", "keys"]
_Seconds = Annotated[float, msgspec.Meta(gt=0, le=86_400)]
_Name = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}\Z")]


class Upstream(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A provider that requests are passed on to."""

    name: _Name
    # With or without `/v1` at its end.
    base_url: str
    api: Api = "openai"
    # Names or prefixes of models (`gpt-*`). Without any, it gets what no other upstream takes.
    models: tuple[str, ...] = ()
    # A provider whose prices apply, such as `openai`, where the address does not say it.
    prices_of: str | None = None
    # The environment variable with its key; otherwise the key is read from `secrets/<name>_key` in the home folder.
    key_variable: str | None = None

    @property
    def origin(self) -> str:
        """The address before a path such as `/v1/models`."""
        return self.base_url.rstrip("/").removesuffix("/v1")


class GatewaySettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of the gateway, with their defaults."""

    # `keys`: accept gateway keys only. `pass-through`: clients may also use the provider's own key.
    mode: Mode = "pass-through"
    upstream: tuple[Upstream, ...] = ()
    # More host names that clients may use; loopback, addresses and the machine's own name always work.
    names: tuple[str, ...] = ()
    # More paths that gateway keys reach with the upstream's key; `*` at the end takes everything that begins so.
    key_paths: tuple[str, ...] = ()
    record: bool = True
    # Whether new conversations get a block of examples.
    warm: bool = True
    # A larger request is refused.
    body_bytes: Annotated[int, msgspec.Meta(ge=1024)] = 64 * 1024 * 1024
    connect_seconds: _Seconds = 10
    # How long an upstream may be silent. Models that think are silent for long.
    silence_seconds: _Seconds = 600
    # How long a client may take for the next piece of its request.
    client_seconds: _Seconds = 60
    connections: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = 2000


DEFAULT_UPSTREAMS = (
    Upstream(name="openai", base_url="https://api.openai.com", key_variable="OPENAI_API_KEY"),
    Upstream(name="anthropic", base_url="https://api.anthropic.com", api="anthropic", key_variable="ANTHROPIC_API_KEY"),
)


def load_settings(path: Path, *, upstream_url: str | None = None) -> GatewaySettings:
    """The settings in a file, checked; the defaults if it does not exist. A URL replaces every upstream."""
    found = read_settings(path, GatewaySettings)
    if upstream_url is not None:
        both: tuple[Api, ...] = ("openai", "anthropic")
        own = tuple(Upstream(name=f"given-{api}", base_url=upstream_url, api=api) for api in both)
        found = msgspec.structs.replace(found, upstream=own)
    elif not found.upstream:
        found = msgspec.structs.replace(found, upstream=DEFAULT_UPSTREAMS)
    names = [one.name for one in found.upstream]
    if len(set(names)) < len(names):
        raise UsageError(f"{str(path)!r}: two upstreams have the same name: {names!r}.")
    for one in found.upstream:
        _check_url(one.base_url, f"{str(path)!r}: upstream {one.name!r}" if upstream_url is None else "--upstream")
    return found


def _check_url(url: str, where: str) -> None:
    try:
        parts = urlsplit(url)
        is_right = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_right = False
    if not is_right or parts.username is not None or parts.query or parts.fragment:
        raise UsageError(
            f"{where} has the address {url!r}: "
            "write http(s)://host with a port or path if needed; its key goes into key_variable or the secrets folder."
        )


def upstream_for(upstreams: Sequence[Upstream], api: Api, model: str | None) -> Upstream:
    """The upstream for a model: by exact name, then by the longest prefix, else the first of the API."""
    fitting = [(_fit(one, model), one.api == api, not one.models) for one in upstreams]
    # The first of the best: `max` keeps the order of the file.
    return max(zip(fitting, upstreams, strict=True), key=lambda pair: pair[0])[1]


def _fit(upstream: Upstream, model: str | None) -> int:
    if not model:
        return 0
    best = 0
    for one in upstream.models:
        if one == model:
            return 10_000
        if one.endswith("*") and model.startswith(one[:-1]):
            best = max(best, len(one))
    return best


def key_for(upstream: Upstream, home: Path, environment: Mapping[str, str]) -> str | None:
    """The key of an upstream; None if clients use their own."""
    if upstream.key_variable and (text := environment.get(upstream.key_variable)):
        return text
    file = home / "secrets" / f"{upstream.name}_key"
    try:
        return file.read_text("ascii").strip() or None
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{str(file)!r} cannot be read ({error}). Check its permissions, or remove it.") from error


_log = logging.getLogger("seasoned.gateway")
_QUIET_SECONDS = 60.0


class Failures:
    """Counts failures by part. A part that keeps failing is logged once a minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.counts: Counter[str] = Counter()
        self._clock = clock
        self._told: dict[str, float] = {}

    @contextmanager
    def shield(self, part: str) -> Iterator[None]:
        """Catch and count every failure inside: the request goes on without this part."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - one request, which our own parts must not stop
            self.add(part, error)

    def add(self, part: str, error: Exception) -> None:
        """Count a failure. Its type and place are logged, not its text, which may contain parts of a conversation."""
        self.counts[part] += 1
        frames = traceback.extract_tb(error.__traceback__)
        place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "an unknown place"
        self.tell(part, f"{part} failed ({type(error).__name__} at {place}); requests go on without it")

    def tell(self, part: str, sentence: str) -> None:
        """Log what is wrong with a part, at most once a minute."""
        now = self._clock()
        if now - self._told.get(part, float("-inf")) >= _QUIET_SECONDS:
            self._told[part] = now
            _log.error("%s", sentence)
