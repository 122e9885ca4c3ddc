"""Answers that stay on this machine: on the terminal, or at the end of a file."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import TextIO

from seasoned.errors import CannotDo, Refused
from seasoned.schedule.delivery.message import Message

FOLDER = "reports"
"""Where relative paths begin, in the home folder."""


def print_message(message: Message, out: TextIO) -> None:
    """Write it to the terminal, without what would steer one."""
    text = f"── {message.title}\n{message.text}\n"
    shown = "".join([c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text])
    try:
        out.write(shown.encode(out.encoding or "utf-8", "replace").decode(out.encoding or "utf-8"))
        out.flush()
    except (OSError, ValueError) as error:
        raise CannotDo(f"the terminal does not take it ({error}).") from error


def append_message(message: Message, address: str, *, home: Path) -> None:
    """Put it at the end of a file, whole; a link is not followed, and a new file is for its owner alone."""
    path = home / FOLDER / Path(address).expanduser()
    if not Path(address).expanduser().is_absolute():
        if not path.resolve().is_relative_to((home / FOLDER).resolve()):
            raise Refused(f"{address!r} leads out of {str(home / FOLDER)!r}: give a whole path, or one inside it.")
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    text = f"## {message.title}\n\n{message.text}\n\n"
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        opened = os.open(path, flags, 0o600)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Refused(f"{str(path)!r} is a link: give the file itself.") from error
        raise CannotDo(f"{str(path)!r} cannot be written: {error.strerror or error}.") from error
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise Refused(f"{str(path)!r} is no file: give one.")
        data = text.encode("utf-8", "replace")
        while data:
            data = data[os.write(opened, data) :]
    except OSError as error:
        raise CannotDo(f"{str(path)!r} cannot be written: {error.strerror or error}.") from error
    finally:
        os.close(opened)
