"""The settings for warm starts: `[warm]` in config.toml, for one entry point."""

from __future__ import annotations

import msgspec

from seasoned.config import Config, EntryPoint, TellingPlace


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


def begin_settings(config: Config, entry: EntryPoint) -> BeginSettings:
    """The settings for one entry point."""
    warm = config.warm
    return BeginSettings(
        is_enabled=warm.enabled and entry not in warm.off,
        template=warm.template,
        budget=warm.budget,
        experiment=warm.experiment or None,
        silent=warm.silent,
        memory_budget=warm.memory_budget,
        is_visible=warm.visible,
    )
