"""Channels of the policy together with the secrets for sending and for checking incoming calls."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from seasoned.config import Config, secret
from seasoned.confirm.policy import Channel, ChannelKind, Policy
from seasoned.errors import UsageError

# Names of secrets, which are files in the home folder or set in the environment.
_TOKENS: dict[ChannelKind, str] = {
    "telegram": "telegram_token",
    "discord": "discord_token",
    "webhook": "webhook_secret",
}
_INCOMING: dict[ChannelKind, str] = {"telegram": "telegram_secret", "webhook": "hook_secret"}


class ConfiguredChannel(msgspec.Struct, frozen=True, kw_only=True):
    """One channel with its secrets, which its repr leaves out."""

    name: str
    kind: ChannelKind
    # The chat, the channel, or for a webhook the address.
    to: str
    # The address of the API; for a webhook the address again.
    url: str
    # The bot's token, or what a webhook is signed with.
    token: str
    # What proves an incoming call: Telegram's secret header, an incoming webhook's secret, Discord's public key.
    incoming_secret: str = ""
    # Where people reach the service; without it messages have no links.
    public_url: str = ""
    # Whether messages contain a one-time link for each person.
    has_links: bool = False
    people: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"ConfiguredChannel(name={self.name!r}, kind={self.kind!r})"


def load_channels(
    policy: Policy, config: Config, environment: Mapping[str, str] | None = None
) -> dict[str, ConfiguredChannel]:
    """Every channel of the policy with its secrets, from their files or the environment."""
    return {name: _load(name, channel, policy, config, environment) for name, channel in policy.channel.items()}


def _load(
    name: str, channel: Channel, policy: Policy, config: Config, environment: Mapping[str, str] | None
) -> ConfiguredChannel:
    usual = {
        "telegram": (config.telegram_chat, config.telegram_url),
        "discord": (config.discord_channel, config.discord_url),
        "webhook": (config.webhook_url, ""),
    }
    usual_to, usual_url = usual[channel.kind]
    to = channel.to or usual_to or ""
    token = _read(channel.token_file) or secret(_TOKENS[channel.kind], config.home, environment)
    if not to or not token:
        missing = "an address (`to`)" if not to else f"a token (`token_file`, or the secret {_TOKENS[channel.kind]!r})"
        raise UsageError(f"channel {name!r} of the policy lacks {missing}; add it, or remove the channel.")
    if channel.kind == "discord":
        # Discord signs with a key pair: what proves its calls is public, and may stand in the policy.
        incoming_secret = channel.public_key or config.discord_public_key or ""
    else:
        incoming_secret = secret(_INCOMING[channel.kind], config.home, environment) or ""
    return ConfiguredChannel(
        name=name,
        kind=channel.kind,
        to=to,
        url=to if channel.kind == "webhook" else (channel.api_url or usual_url).rstrip("/"),
        token=token,
        incoming_secret=incoming_secret,
        public_url=(policy.listen.public_url or "").rstrip("/"),
        has_links=channel.links,
        people=dict(channel.people),
    )


def _read(file: Path | None) -> str | None:
    if file is None:
        return None
    try:
        return file.read_text("utf-8").strip() or None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"the token file {str(file)!r} cannot be read ({error}); check its path and permissions."
        ) from error
