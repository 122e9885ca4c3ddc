"""Inside a network namespace: bring loopback up, start servers, run one program, end the servers."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SET_FLAGS, UP = 0x8914, 0x1 | 0x40
LISTENING = "0A"


def main() -> int:
    plan: dict[str, Any] = json.load(sys.stdin)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as device:
        fcntl.ioctl(device, SET_FLAGS, struct.pack("16sh14x", b"lo", UP))
    servers: list[subprocess.Popen[bytes]] = []
    try:
        for at, command in enumerate(plan["before"]):
            servers.append(_serve(command, plan, Path(plan["cwd"]) / f"server-{at}.log"))
        return _run(plan)
    finally:
        for server in reversed(servers):
            server.send_signal(signal.SIGTERM)
            try:
                server.wait(15)
            except subprocess.TimeoutExpired:
                server.kill()


def _serve(command: list[str], plan: dict[str, Any], log: Path) -> subprocess.Popen[bytes]:
    known = _listening()
    with log.open("wb") as output:
        server = subprocess.Popen(
            command, env=plan["server_env"], cwd=plan["cwd"], stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
    deadline = time.monotonic() + 30
    while _listening() <= known:
        if server.poll() is not None or time.monotonic() > deadline:
            server.kill()
            sys.exit(f"{command[0]} did not listen: {log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.02)
    return server


def _run(plan: dict[str, Any]) -> int:
    client = subprocess.Popen(
        plan["command"], env=plan["env"], cwd=plan["cwd"], stdin=subprocess.DEVNULL, start_new_session=True
    )
    try:
        return client.wait(plan["timeout"])
    except subprocess.TimeoutExpired:
        sys.stderr.write(f"{plan['command'][0]} took more than {plan['timeout']} s\n")
        os.killpg(client.pid, signal.SIGKILL)
        return 124


def _listening() -> int:
    """How many sockets wait for connections in this namespace."""
    tables = (Path("/proc/self/net/tcp"), Path("/proc/self/net/tcp6"))
    rows = [row.split() for table in tables if table.exists() for row in table.read_text().splitlines()[1:]]
    return sum(row[3] == LISTENING for row in rows)


if __name__ == "__main__":
    sys.exit(main())
