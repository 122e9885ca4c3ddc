"""The settings for warm starts: `[warm]` in config.toml, and the keys of gateway.toml and hermes.toml from before."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from seasoned.config import Config, EntryPoint, TellingPlace, read_settings
from seasoned.errors import UsageError

_GATEWAY = "gateway.toml"
_HERMES = "hermes.toml"


class FormerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The keys about warm starts that gateway.toml and hermes.toml may hold. Their other keys are not read here."""

    warm: bool = True
    template: str | None = None
    budget: Annotated[int, msgspec.Meta(ge=1, le=100_000)] | None = None
    experiment: str | None = None


class BeginSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What holds for the sessions of one entry point."""

    is_enabled: bool = True
    # The template to show if no experiment runs; None for the one that fits best.
    template: str | None = None
    budget: int | None = None  # the most tokens that a block may have; None for the default
    experiment: str | None = None  # the experiment whose arms decide what a session is shown
    silent: tuple[TellingPlace, ...] = ()
    memory_budget: int = 300  # tokens of memory and skills
    is_visible: bool = True  # whether the user sees a line when something was shown

    def tells(self, place: TellingPlace) -> bool:
        """Whether a session sees anything at this place."""
        return self.is_enabled and place not in self.silent

    def on_request(self) -> BeginSettings:
        """The settings for a block that a user or model asked for.

        It is shown although warm starts are switched off; but then the session takes part in no experiment.
        """
        experiment = self.experiment if self.is_enabled else None
        return msgspec.structs.replace(self, is_enabled=True, experiment=experiment)


def begin_settings(config: Config, entry: EntryPoint, own: FormerSettings | None = None) -> BeginSettings:
    """The settings for one entry point: `[warm]` first, then `own`, those of its file."""
    warm, own = config.warm, own or FormerSettings()
    experiment = own.experiment if warm.experiment is None else warm.experiment
    if experiment is None:
        # One experiment at a time: what gateway.toml names has always been for the hooks and for Hermes too.
        experiment = _former(config.home / _GATEWAY).experiment
    is_enabled = own.warm if warm.enabled is None else warm.enabled
    return BeginSettings(
        is_enabled=is_enabled and entry not in warm.off,
        template=warm.template or own.template,
        budget=warm.budget or own.budget,
        experiment=experiment or None,
        silent=warm.silent,
        memory_budget=warm.memory_budget,
        is_visible=warm.visible,
    )


def takes_part(config: Config, entry: EntryPoint) -> bool:
    """Whether new sessions of this entry point take part in a running experiment."""
    settings = begin_settings(config, entry)
    return settings.is_enabled and settings.experiment is not None


def moved_settings(config: Config) -> list[str]:
    """A hint for each key that is still set in gateway.toml or hermes.toml."""
    found = []
    for file in (_GATEWAY, _HERMES):
        try:
            former = _former(config.home / file)
        except UsageError:
            continue  # the part that the file belongs to says what is wrong with it
        for key in FormerSettings.__struct_fields__:
            value = getattr(former, key)
            if value != getattr(FormerSettings(), key):
                line = f'off = ["{file.removesuffix(".toml")}"]' if key == "warm" else f"{key} = {_toml(value)}"
                found.append(f"`{key}` in {file} is deprecated. Write `{line}` under [warm] in config.toml instead.")
    return found


def _former(path: Path) -> FormerSettings:
    # Most homes have no such file, and hooks should not spend time on it.
    return read_settings(path, FormerSettings) if path.exists() else FormerSettings()


def _toml(value: object) -> str:
    return msgspec.json.encode(value).decode()
