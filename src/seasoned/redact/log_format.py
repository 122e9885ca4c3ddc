"""Log lines without secrets."""

from __future__ import annotations

import logging

from seasoned.redact.key import Secrecy


class RedactingFormatter(logging.Formatter):
    """Redacts whole log lines, whatever a library puts into them."""

    def __init__(self, secrecy: Secrecy) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s", "%Y-%m-%dT%H:%M:%S%z")
        self._redactor = secrecy.redactor()

    def format(self, record: logging.LogRecord) -> str:
        return self._redactor.text(super().format(record))
