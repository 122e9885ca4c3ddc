"""Chance and time that come out the same on every run: ids, small variations, clocks."""

from __future__ import annotations

import hashlib
import uuid
from datetime import UTC, datetime, timedelta

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class Dice:
    """A stream of values that depends on its key alone."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._count = 0

    def _roll(self) -> int:
        self._count += 1
        return int.from_bytes(hashlib.sha256(f"{self._key}/{self._count}".encode()).digest(), "big")

    def number(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return low + self._roll() % (high - low + 1)

    def letters(self, count: int) -> str:
        """Letters and digits, as providers use them in ids."""
        roll, found = self._roll(), []
        for _ in range(count):
            roll, digit = divmod(roll, len(_ALPHABET))
            found.append(_ALPHABET[digit])
        return "".join(found)

    def hex(self, count: int) -> str:
        """Hexadecimal digits."""
        return f"{self._roll():064x}"[:count]

    def uuid(self) -> str:
        """A random-looking UUID of version 4."""
        return str(uuid.UUID(int=self._roll() >> 128, version=4))

    def uuid7(self, when: datetime) -> str:
        """A UUID of version 7: its first digits are the time."""
        millis = int(when.timestamp() * 1000)
        tail = self._roll()
        value = (millis << 80) | (0x7 << 76) | ((tail & 0xFFF) << 64) | (0b10 << 62) | ((tail >> 12) & ((1 << 62) - 1))
        return str(uuid.UUID(int=value))


class Clock:
    """The time of a story, moved on by hand."""

    def __init__(self, start: str) -> None:
        self.now = datetime.fromisoformat(start).replace(tzinfo=UTC)

    def tick(self, seconds: float) -> datetime:
        """Move on and give the new time."""
        self.now += timedelta(seconds=seconds)
        return self.now

    @property
    def stamp(self) -> str:
        """ISO time in UTC with milliseconds."""
        return self.now.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self.now.microsecond // 1000:03d}Z"

    @property
    def millis(self) -> int:
        """Milliseconds since 1970."""
        return int(self.now.timestamp() * 1000)
