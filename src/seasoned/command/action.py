"""Names of actions, and the ten that always need a person: compiled in, so that no file or flag makes them fewer."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from seasoned.errors import UsageError

# The ten, each as it continues "may it …?", the ones that are hardest to undo first.
_WORDS = {
    "wipe_database": "wipe a database",
    "transfer_funds": "transfer funds",
    "delete_data": "delete data",
    "rotate_keys": "rotate keys",
    "modify_permissions": "change permissions",
    "deploy_production": "deploy to production",
    "migrate_database": "migrate a database",
    "shutdown_service": "shut down a service",
    "publish_package": "publish a package",
    "exec_remote": "run something on another machine",
}
GRAVITY = tuple(_WORDS)
HIGH_RISK = frozenset(_WORDS)
MOST_CHARACTERS = 64
_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BETWEEN = re.compile(r"[\s._:/-]+")
_LOOKS_LIKE = str.maketrans("01345789$@|", "oleastbgsai", "_")
# Letters that side by side look like one.
_PAIRS = (("rn", "m"), ("vv", "w"), ("cl", "d"))


def _shape(name: str) -> str:
    """The name as a hasty reader sees it: without separators, and with digits as the letters they resemble."""
    plain = name.translate(_LOOKS_LIKE)
    for two, one in _PAIRS:
        plain = plain.replace(two, one)
    return plain.replace("l", "i")


_BY_SHAPE = {_shape(name): name for name in HIGH_RISK}


def action_words(action: str) -> str:
    """An action as people read it: `exec_remote` is "run something on another machine"."""
    return _WORDS.get(action, action.replace("_", " "))


@lru_cache(maxsize=1024)
def check_action(name: str) -> str:
    """The normal spelling of a name. A name that looks like one of the ten becomes that one; others must be plain."""
    if len(name) > 4 * MOST_CHARACTERS:
        raise UsageError(
            f"an action's name has at most {MOST_CHARACTERS} characters, this one {len(name)}; shorten it."
        )
    plain = unicodedata.normalize("NFKC", name).strip()
    if not plain.isascii():
        raise UsageError(f"action {name!r} has letters that look like others; use a-z, 0-9 and '_' only.")
    spelled = _BETWEEN.sub("_", _HUMP.sub("_", plain)).lower().strip("_")
    risky = _BY_SHAPE.get(_shape(_BETWEEN.sub("_", plain).lower()))
    if risky is not None:
        return risky
    if not _NAME.fullmatch(spelled) or len(spelled) > MOST_CHARACTERS:
        raise UsageError(
            f"action {name!r} is not a valid name; write it in lower case with '_' between words, at most"
            f" {MOST_CHARACTERS} characters, such as 'send_email'."
        )
    return spelled
