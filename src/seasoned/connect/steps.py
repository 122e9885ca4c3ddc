"""What is left for a person to do, whichever agent is connected."""

from __future__ import annotations

from seasoned.config import Config


def common_steps(config: Config) -> tuple[str, ...]:
    """The steps that this configuration still lacks."""
    found = []
    if not config.store_path.exists():
        found.append("Run `seasoned scan` and `seasoned template build --auto`: until then there is nothing to show.")
    if not config.confirm_url:
        found.append(
            "Set up confirmations (docs/how-to/confirm.md): until `confirm_url` is set, calls of high risk are refused."
        )
    if not (config.review_model or config.model or config.base_url):
        found.append(
            "Choose a model for reviews (`review_model` in config.toml): until then no session is reviewed, "
            "and nothing is sent anywhere."
        )
    return tuple(found)
