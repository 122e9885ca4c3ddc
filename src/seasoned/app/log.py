"""The log of what commands met: `~/.seasoned/logs/seasoned.log`, rotated, redacted; with --verbose also shown."""

from __future__ import annotations

import logging
from logging.handlers import RotatingFileHandler

from seasoned.atomic_write import make_private_folder
from seasoned.config import Config
from seasoned.redact.key import Secrecy

_BYTES = 1_000_000
_KEPT = 3


class _Redacted(logging.Formatter):
    """Redacts the whole line: whatever a library puts into a record, no secret of it is written."""

    def __init__(self, secrecy: Secrecy) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s", "%Y-%m-%dT%H:%M:%S%z")
        self._redactor = secrecy.redactor()

    def format(self, record: logging.LogRecord) -> str:
        return self._redactor.text(super().format(record))


def open_log(config: Config, secrecy: Secrecy, *, verbose: bool) -> logging.Logger:
    """The logger of this process, writing to the user's log folder."""
    logger = logging.getLogger("seasoned")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    if not logger.handlers:
        make_private_folder(config.home)
        make_private_folder(config.log_folder)
        path = config.log_folder / "seasoned.log"
        handlers: list[logging.Handler] = [
            RotatingFileHandler(path, maxBytes=_BYTES, backupCount=_KEPT, encoding="utf-8", delay=True)
        ]
        if verbose:
            handlers.append(logging.StreamHandler())
        for handler in handlers:
            handler.setFormatter(_Redacted(secrecy))
            logger.addHandler(handler)
    return logger
