"""What the parts of an adoption work with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from seasoned.adopt.first_version import FirstVersion
from seasoned.adopt.record import AdoptRecord
from seasoned.agent.memory.journal import ChangeJournal
from seasoned.redact.redactor import Redactor
from seasoned.store import Database, Store


@dataclass(frozen=True, kw_only=True)
class AdoptContext:
    """The files of the first version, and where they go."""

    found: FirstVersion
    record: AdoptRecord
    home: Path
    store: Store
    database: Database  # of the jobs
    journal: ChangeJournal
    redactor: Redactor
    zone: str  # what the cron expressions of Hermes mean
    now: float
