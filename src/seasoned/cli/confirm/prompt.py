"""Asks for a passphrase on the terminal itself: never from an argument, the environment, or a pipe."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from seasoned.config import load
from seasoned.confirm.client import ConfirmClient, configured_client
from seasoned.errors import CannotDo, UsageError

_NO_TERMINAL = (
    "The passphrase must be typed at a terminal, and there is none here. Run this at one, or decide from elsewhere with"
    " --url and an approver's token."
)
# The longest line that a terminal passes on.
_MOST_BYTES = 4096
_MOST_TOKEN = 4096


def ask_passphrase(prompt: str) -> str:
    """What a person types at the terminal, without echo."""
    if os.name == "nt":
        # It reads the console, not stdin.
        from getpass import getpass

        return getpass(prompt)
    # The terminal and not stdin, so that a passphrase cannot come from a pipe or a file.
    with _terminal() as terminal:
        os.write(terminal, prompt.encode())
        return _read_line(terminal)


def ask_new_passphrase(name: str) -> str:
    """A new passphrase, typed twice."""
    first = ask_passphrase(f"New passphrase for {name}: ")
    # Typed blind, so a slip would lock its owner out.
    if first != ask_passphrase("Repeat it: "):
        raise UsageError("The passphrases differ, so nothing was changed. Try again.")
    return first


@contextmanager
def _terminal() -> Iterator[int]:
    """The terminal of this process, with echo switched off."""
    import termios

    try:
        # O_NOCTTY: without it, a daemon that opens a terminal would make it its own.
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    except OSError as error:
        raise CannotDo(_NO_TERMINAL) from error
    try:
        before = termios.tcgetattr(terminal)
        silent = [*before]
        # Index 3 holds the local modes.
        silent[3] &= ~termios.ECHO
        try:
            # Flush what was typed before the prompt: it was not meant for it.
            termios.tcsetattr(terminal, termios.TCSAFLUSH, silent)
            yield terminal
        finally:
            # Also after Ctrl-C, or the shell would be left without echo.
            termios.tcsetattr(terminal, termios.TCSAFLUSH, before)
            os.write(terminal, b"\n")
    except termios.error as error:
        raise CannotDo(_NO_TERMINAL) from error
    finally:
        os.close(terminal)


def _read_line(terminal: int) -> str:
    typed = b""
    while not typed.endswith(b"\n"):
        part = os.read(terminal, _MOST_BYTES)
        typed += part
        # Nothing read: the terminal was closed.
        if not part or len(typed) > _MOST_BYTES:
            break
    try:
        return typed.rstrip(b"\r\n").decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError("What you typed is not valid UTF-8. Try again.") from error


def service_client(url: str | None, token_file: Path | None) -> ConfirmClient:
    """A client of the service at this address, or of the configured one."""
    if url is None and token_file is None:
        return configured_client()
    address = url or load().confirm_url
    if address is None:
        raise UsageError("Say where the service is: --url http://127.0.0.1:7327, or set `confirm_url`.")
    return ConfirmClient(address, read_token(token_file))


def read_token(file: Path | None) -> str:
    """The token in a file, or as typed. Never from an argument, which every process can read."""
    if file is None:
        return ask_passphrase("Token: ").strip()
    try:
        with file.open("rb") as handle:
            # A wrong file, such as a log, is not read whole.
            return handle.read(_MOST_TOKEN).decode("ascii").strip()
    except OSError as error:
        raise CannotDo(f"The token in {str(file)!r} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{str(file)!r} does not hold a token, which is a line that begins with ssn_.") from error
