"""A client of `codex app-server`, as an editor is one: one turn in a new thread, and all that Codex tells its client.

`python codex_client.py CODEX FOLDER PROMPT` prints every message of the server, one JSON line each.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any


def main() -> None:
    program, folder, prompt = sys.argv[1:]
    server = subprocess.Popen(
        [program, "app-server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert server.stdin is not None and server.stdout is not None

    def send(**message: Any) -> None:
        server.stdin.write(json.dumps(message) + "\n")
        server.stdin.flush()

    send(id=1, method="initialize", params={"clientInfo": {"name": "test", "version": "1"}})
    for line in server.stdout:
        sys.stdout.write(line)
        heard = json.loads(line)
        if heard.get("id") == 1:
            send(method="initialized")
            # A person trusts hooks at the terminal; here this thread is told to.
            settings = {"cwd": folder, "approvalPolicy": "never", "sandbox": "danger-full-access"}
            send(id=2, method="thread/start", params={**settings, "config": {"bypass_hook_trust": True}})
        elif heard.get("id") == 2:
            thread = heard["result"]["thread"]["id"]
            send(id=3, method="turn/start", params={"threadId": thread, "input": [{"type": "text", "text": prompt}]})
        elif heard.get("method") == "turn/completed":
            break
    server.kill()


if __name__ == "__main__":
    main()
