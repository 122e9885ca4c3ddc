"""A person at a terminal: runs a program on a pseudo-terminal, waits for texts on it, and types.

`python -m tests.hooks.terminal PLAN LOG` reads `{"command": […], "steps": [[TEXT, TYPED], …], "seconds": N}` from PLAN,
ends when the last step is done, and writes what the terminal showed to LOG, without colours and movements.
"""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from fcntl import ioctl
from pathlib import Path

_MOVES = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[\[(][0-9;?<>=]*[ -/]*[@-~]|\x1b[78=>cMDEHNZ]|[\x00-\x08\x0e-\x1f]"
)


def plain(data: bytes) -> str:
    """What a terminal shows, in the order in which it was written. Blanks go: programs move the cursor instead."""
    return re.sub(r"\s+", "", _MOVES.sub("", data.decode("utf-8", "replace")))


def attend(command: list[str], steps: list[tuple[str, str]], seconds: float) -> str:
    """Run a program and answer it; what was seen. A text that does not come in time ends the attendance."""
    child, terminal = pty.fork()
    if child == 0:
        os.execvp(command[0], command)
    ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
    seen, start, until = b"", 0, time.monotonic() + seconds
    waiting = list(steps)
    while waiting and time.monotonic() < until:
        ready, _, _ = select.select([terminal], [], [], 0.2)
        if ready:
            try:
                seen += os.read(terminal, 65536)
            except OSError:  # the program has ended
                break
        text, typed = waiting[0]
        if text.replace(" ", "") in plain(seen[start:]):
            waiting.pop(0)
            start = len(seen)
            for letter in typed:
                time.sleep(0.3)
                os.write(terminal, letter.encode())
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    missing = "".join(f"\nNEVER SEEN: {text}" for text, _ in waiting)
    return plain(seen) + missing


if __name__ == "__main__":
    plan = json.loads(Path(sys.argv[1]).read_text())
    Path(sys.argv[2]).write_text(attend(plan["command"], plan["steps"], plan["seconds"]))
